/* Patterns of incomplete factors at both places, for the programs that compare them. */
#pragma once

#include "devicetest.h"
#include "pc/nras/nrasimpl.h"

/* Blocks of runs of rows, or of rows from all over the matrix */
static inline PetscErrorCode CreateBlocks(PetscInt n, PetscInt nblock, PetscBool mixed, NRASBlocks *blocks)
{
  PetscFunctionBeginUser;
  blocks->n   = PetscMin(nblock, n);
  blocks->row = NULL;
  PetscCall(PetscMalloc1(n, &blocks->part));
  PetscCall(PetscCalloc1(blocks->n + 1, &blocks->ptr));
  for (PetscInt i = 0; i < n; ++i) {
    blocks->part[i] = mixed ? i * 7 % blocks->n : (PetscInt)((PetscInt64)i * blocks->n / n);
    blocks->ptr[blocks->part[i] + 1]++;
  }
  for (PetscInt b = 0; b < blocks->n; ++b) blocks->ptr[b + 1] += blocks->ptr[b];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a matrix on the device as well */
static inline PetscErrorCode CopyRows(const PolderCSR *here, PolderCSR *there)
{
  PetscInt *ai, *aj;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(here->m + 1), here->ai, &ai));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)here->nz, here->aj, &aj));
  *there    = *here;
  there->ai = ai;
  there->aj = aj;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FreeRows(PolderCSR *there)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFree((void *)&there->ai));
  PetscCall(PolderDeviceFree((void *)&there->aj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern made at both places, here: what was counted on the host; wrong[0] in the arrays, wrong[1] in sizes and counts */
static inline PetscErrorCode ComparePatterns(const PC_NRAS *nras, const NRASCounts *here, const NRASBlocks blocks[2], PetscInt wrong[])
{
  const PolderIlu *ilu[2] = {&nras->at[0].ilu, &nras->at[1].ilu};

  PetscFunctionBeginUser;
  for (int k = 0; k < NRAS_FROM; ++k) PetscCall(SameIndices("pattern", nras->length[k], nras->at[0].array[k], nras->at[1].array[k], &wrong[0]));
  PetscCall(SameIndices("pattern", blocks[0].ptr[blocks[0].n], blocks[0].row, blocks[1].row, &wrong[0]));
  wrong[1] += ilu[0]->nz != ilu[1]->nz || ilu[0]->largest != ilu[1]->largest || ilu[0]->widest != ilu[1]->widest;
  wrong[1] += ilu[0]->deepest != ilu[1]->deepest || here->entries != nras->counts.entries || here->filled != nras->counts.filled;
  PetscFunctionReturn(PETSC_SUCCESS);
}
