/* COO assembly when the coordinates are sorted by row and column: no sorting and no searching. */
#include "aijcoo.h"
#include "kernels/csr.h"

PetscErrorCode PolderStretchesFree(PolderStretches *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->first));
  PetscCall(PetscFree(s->skip));
  s->n = s->nz = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts stretch s->n at this entry; *room: length of the arrays */
static PetscErrorCode PolderStretchesAdd_Private(PolderStretches *s, PetscInt *room, PetscInt entry, PetscInt skip)
{
  PetscFunctionBegin;
  if (s->n + 1 >= *room) {
    *room = 2 * *room + 16;
    PetscCall(PetscRealloc(sizeof(PetscInt) * *room, &s->first));
    PetscCall(PetscRealloc(sizeof(PetscInt) * *room, &s->skip));
  }
  s->first[s->n] = entry;
  s->skip[s->n]  = skip;
  ++s->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scans the coordinates once, up to the first one that is unsorted or out of range; rownz: entries of each row, zero on entry */
static PetscErrorCode PolderStretchesFind_Private(PetscInt M, PetscInt N, PetscInt n, const PetscInt i[], const PetscInt j[], PetscInt rownz[],
                                                  PolderStretches *s, PetscBool *ordered)
{
  PetscInt row = 0, col = -1, begin = 0, e = 0, skip = -1, room = 0;

  PetscFunctionBegin;
  *ordered = PETSC_FALSE;
  if (!M) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < n; ++k) {
    if (i[k] < 0 || j[k] < 0) continue;
    if (i[k] != row) {
      if (i[k] < row || i[k] >= M) PetscFunctionReturn(PETSC_SUCCESS);
      rownz[row] = e - begin;
      begin      = e;
      row        = i[k];
      col        = -1;
    }
    if (j[k] <= col || j[k] >= N) PetscFunctionReturn(PETSC_SUCCESS);
    col = j[k];
    if (k - e != skip) {
      skip = k - e;
      PetscCall(PolderStretchesAdd_Private(s, &room, e, skip));
    }
    ++e;
  }
  if (e) {
    rownz[row]     = e - begin;
    s->first[s->n] = e;
  }
  s->nz    = e;
  *ordered = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCOOOrdered(Mat A, PetscInt n, const PetscInt i[], PetscInt j[], PolderStretches *s, PetscBool *ordered)
{
  PetscInt M, N, *rownz;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(PetscCalloc1(M, &rownz));
  PetscCall(PolderStretchesFind_Private(M, N, n, i, j, rownz, s, ordered));
  if (*ordered) {
    for (PetscInt t = 0; t < s->n; ++t) PetscCall(PetscArraymove(j + s->first[t], j + s->first[t] + s->skip[t], s->first[t + 1] - s->first[t]));
    PetscCall(MatSeqAIJSetPreallocation(A, 0, rownz));
    PetscCall(MatSeqAIJSetColumnIndices(A, j));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE)); /* as in PETSc's MatSetPreallocationCOO() */
    PetscCall(PolderAIJZero(A));
    PetscCall(PetscInfo(A, "Coordinates are in order: %" PetscInt_FMT " entries in %" PetscInt_FMT " stretches without ignored ones\n", s->nz, s->n));
  } else PetscCall(PolderStretchesFree(s));
  PetscCall(PetscFree(rownz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCOOSetOrdered(Mat A, const PolderStretches *s, const PetscScalar v[], InsertMode mode)
{
  PetscScalar *aa;
  MatInfo      info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCheck(info.nz_used == s->nz, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The nonzero pattern has changed since MatSetPreallocationCOO(): call it again");
  if (mode == INSERT_VALUES) PetscCall(MatSeqAIJGetArrayWrite(A, &aa));
  else PetscCall(MatSeqAIJGetArray(A, &aa));
  PolderCooTake_Host(s->nz, s->n, s->first, s->skip, v, mode == INSERT_VALUES ? PETSC_TRUE : PETSC_FALSE, aa);
  if (mode == INSERT_VALUES) PetscCall(MatSeqAIJRestoreArrayWrite(A, &aa));
  else PetscCall(MatSeqAIJRestoreArray(A, &aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCOOToBase(Mat A, PetscInt n, const PolderStretches *s)
{
  const PetscInt *ai, *aj;
  PetscInt        m, *i, *j;
  PetscScalar    *aa, *copy;
  PetscBool       done, assembled;
  MatInfo         info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  if (info.nz_used != s->nz) PetscFunctionReturn(PETSC_SUCCESS); /* the coordinates belong to an earlier pattern */
  PetscCall(PetscMalloc3(n, &i, n, &j, s->nz, &copy));
  for (PetscInt k = 0; k < n; ++k) i[k] = j[k] = -1;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &ai, &aj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A sequential AIJ matrix does not give out its rows");
  for (PetscInt r = 0, t = 0; r < m; ++r) {
    for (PetscInt e = ai[r]; e < ai[r + 1]; ++e) {
      if (e == s->first[t + 1]) ++t;
      i[e + s->skip[t]] = r;
      j[e + s->skip[t]] = aj[e];
    }
  }
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &ai, &aj, &done));
  PetscCall(MatSeqAIJGetArray(A, &aa));
  PetscCall(PetscArraycpy(copy, aa, s->nz));
  PetscCall(MatSeqAIJRestoreArray(A, &aa));
  PetscCall(MatAssembled(A, &assembled));
  PetscCall((*PolderAIJBase(POLDER_SEQ)->preallocationcoo)(A, n, i, j));
  PetscCall(MatSeqAIJGetArray(A, &aa));
  PetscCall(PetscArraycpy(aa, copy, s->nz));
  PetscCall(MatSeqAIJRestoreArray(A, &aa));
  if (assembled) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscFree3(i, j, copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
