/* Rows of a sparse matrix in host or device memory. */
#include "deflationsteps.h"

PetscErrorCode PolderSparseRowsCreate(const PolderPlace *place, PetscInt n, PetscInt nz, PetscBool listed, PolderSparseRows *rows)
{
  PetscFunctionBegin;
  *rows = (PolderSparseRows){.n = n, .nz = nz};
  if (listed) PetscCall(PolderPlaceMalloc(place, n, &rows->row));
  PetscCall(PolderPlaceMalloc(place, n + 1, &rows->ptr));
  PetscCall(PolderPlaceMalloc(place, nz, &rows->col));
  PetscCall(PolderPlaceMalloc(place, nz, &rows->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSparseRowsDestroy(const PolderPlace *place, PolderSparseRows *rows)
{
  PetscFunctionBegin;
  PetscCall((*place->free)(&rows->row));
  PetscCall((*place->free)(&rows->ptr));
  PetscCall((*place->free)(&rows->col));
  PetscCall((*place->free)(&rows->val));
  *rows = (PolderSparseRows){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSparseRowsFromCounts(PetscInt m, const PetscInt count[], PolderSparseRows *rows)
{
  PetscInt n = 0, nz = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; ++i) {
    n += count[i] > 0;
    nz += count[i];
  }
  PetscCall(PolderSparseRowsCreate(&PolderOnHost, n, nz, PETSC_TRUE, rows));
  n            = 0;
  rows->ptr[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    if (!count[i]) continue;
    rows->row[n]     = i;
    rows->ptr[n + 1] = rows->ptr[n] + count[i];
    ++n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSparseRowsUpload(const PolderSparseRows *rows, const PetscInt global[], PolderSparseRows *there)
{
  PetscInt *col;

  PetscFunctionBegin;
  PetscCall(PolderSparseRowsCreate(&PolderOnDevice, rows->n, rows->nz, (PetscBool)(rows->row != NULL), there));
  PetscCall(PetscMalloc1(rows->nz, &col));
  for (PetscInt k = 0; k < rows->nz; ++k) col[k] = global[rows->col[k]];
  if (rows->row) PetscCall(PolderPlacePut(&PolderOnDevice, rows->n, rows->row, there->row));
  PetscCall(PolderPlacePut(&PolderOnDevice, rows->n + 1, rows->ptr, there->ptr));
  PetscCall(PolderPlacePut(&PolderOnDevice, rows->nz, col, there->col));
  PetscCall(PolderPlacePut(&PolderOnDevice, rows->nz, rows->val, there->val));
  PetscCall(PetscFree(col));
  PetscFunctionReturn(PETSC_SUCCESS);
}
