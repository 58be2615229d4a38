/* Factors whose small entries are dropped: the numeric factorisation makes them zero, and what is left is packed into arrays of its own. */
#include "nrasimpl.h"

static void NRASPointToKept(NRASAt *at)
{
  at->kept = at->ilu;
  PCNRASPointToSlices(&at->keptslices, &at->kept);
  at->kept.col    = at->keptcol;
  at->kept.source = NULL;
}

PetscErrorCode PCNRASFreeKept(const PolderPlace *place, NRASAt *at)
{
  PetscFunctionBegin;
  PetscCall((*place->free)(&at->keptslices.start));
  PetscCall((*place->free)(&at->keptslices.apart));
  PetscCall((*place->free)(&at->keptcol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASPack(PC_NRAS *nras, const PolderPlace *place, const PetscScalar val[], PetscScalar **packed)
{
  NRASAt   *at = &nras->at[place->device];
  PetscInt *entries;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(place, 2 * (size_t)at->ilu.nrow, &entries));
  PolderRun(place, PolderIluCount, &at->ilu, val, entries);
  PetscCall(PCNRASFreeKept(place, at));
  PetscCall(PCNRASCutSlices(nras, place, at->ilu.nrow, entries, NULL, NULL, &at->keptslices));
  PetscCall((*place->free)(&entries));
  PetscCall(PolderPlaceMalloc(place, at->keptslices.nz, &at->keptcol));
  NRASPointToKept(at);
  PetscCall(PolderPlaceMalloc(place, at->kept.nz + at->ilu.nrow, packed));
  PolderRun(place, PolderIluPack, &at->ilu, val, &at->kept, at->keptcol, *packed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n integers at another place */
static PetscErrorCode NRASCopyInts_Private(const PolderPlace *from, const PolderPlace *to, PetscInt n, const PetscInt source[], PetscInt **target)
{
  PetscInt *here;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &here));
  PetscCall(PolderPlaceTake(from, n, source, here));
  PetscCall(PolderPlaceUpload(to, sizeof(PetscInt) * (size_t)n, here, target));
  PetscCall(PetscFree(here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASCopyKept(PC_NRAS *nras, const PolderPlace *from, const PolderPlace *to)
{
  const NRASAt     *source = &nras->at[from->device];
  NRASAt           *target = &nras->at[to->device];
  const NRASSlices *slices = &source->keptslices;

  PetscFunctionBegin;
  PetscCall(PCNRASFreeKept(to, target));
  target->keptslices = *slices;
  PetscCall(NRASCopyInts_Private(from, to, slices->nstart, slices->start, &target->keptslices.start));
  PetscCall(NRASCopyInts_Private(from, to, slices->napart, slices->apart, &target->keptslices.apart));
  PetscCall(NRASCopyInts_Private(from, to, slices->nz, source->keptcol, &target->keptcol));
  NRASPointToKept(target);
  PetscFunctionReturn(PETSC_SUCCESS);
}
