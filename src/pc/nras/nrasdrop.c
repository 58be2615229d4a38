/* Factors whose small entries are dropped: the numeric factorisation makes them zero, and what is left is packed into arrays of its own. */
#include "nrasimpl.h"

static PetscInt NRASSlices(const PolderIlu *ilu)
{
  return (ilu->nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE;
}

/* Room for the pattern of kept factors: at->kept receives the arrays */
static PetscErrorCode NRASAllocateKept_Private(NRASAt *at, const PolderPlace *place, const PetscInt start[], PetscInt nz)
{
  const PetscInt n = NRASSlices(&at->ilu) + 1;

  PetscFunctionBegin;
  if (!at->keptstart) PetscCall(PolderPlaceMalloc(place, 2 * n, &at->keptstart));
  PetscCall(PolderPlacePut(place, 2 * n, start, at->keptstart));
  PetscCall((*place->free)(&at->keptcol));
  PetscCall(PolderPlaceMalloc(place, nz, &at->keptcol));
  at->kept          = at->ilu;
  at->kept.nz       = nz;
  at->kept.start[0] = at->keptstart;
  at->kept.start[1] = at->keptstart + n;
  at->kept.col      = at->keptcol;
  at->kept.source   = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASPack(PC_NRAS *nras, const PolderPlace *place, const PetscScalar val[], PetscScalar **packed)
{
  NRASAt        *at     = &nras->at[place->device];
  const PetscInt slices = NRASSlices(&at->ilu);
  PetscInt      *width, *start, *there, nz = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(2 * slices, &width, 2 * (slices + 1), &start));
  PetscCall(PolderPlaceMalloc(place, 2 * slices, &there));
  PetscCall((*place->zero)(there, sizeof(PetscInt) * (size_t)(2 * slices)));
  PolderRun(place, PolderIluWidths, &at->ilu, val, there);
  PetscCall(PolderPlaceTake(place, 2 * slices, there, width));
  PetscCall((*place->free)(&there));
  for (int t = 0; t < 2; ++t) {
    for (PetscInt s = 0; s <= slices; ++s) {
      start[t * (slices + 1) + s] = nz;
      if (s < slices) nz += POLDER_ILU_SLICE * width[t * slices + s];
    }
  }
  PetscCall(NRASAllocateKept_Private(at, place, start, nz));
  PetscCall(PetscFree2(width, start));
  PetscCall(PolderPlaceMalloc(place, nz + at->ilu.nrow, packed));
  PolderRun(place, PolderIluPack, &at->ilu, val, &at->kept, at->keptcol, *packed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASCopyKept(PC_NRAS *nras, const PolderPlace *from, const PolderPlace *to)
{
  const NRASAt  *source = &nras->at[from->device];
  NRASAt        *target = &nras->at[to->device];
  const PetscInt nstart = 2 * (NRASSlices(&source->ilu) + 1), nz = source->kept.nz;
  PetscInt      *start, *col;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nstart, &start, nz, &col));
  PetscCall(PolderPlaceTake(from, nstart, source->keptstart, start));
  PetscCall(PolderPlaceTake(from, nz, source->keptcol, col));
  PetscCall(NRASAllocateKept_Private(target, to, start, nz));
  PetscCall(PolderPlacePut(to, nz, col, target->keptcol));
  PetscCall(PetscFree2(start, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}
