/* Diagonals and compressed rows on the host and on the device. */
#include "diagonals.h"

/* The last nd - first diagonals are stored; half: the first ones lead into them */
PetscErrorCode DiagonalsCreate(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], PetscBool half, Diagonals *D)
{
  const PetscInt ld = m + GUARD, first = half ? nd / 2 : 0;

  PetscFunctionBeginUser;
  D->m  = m;
  D->n  = n;
  D->nd = nd;
  PetscCall(PetscMalloc2(ld * nd, &D->all, ld * nd, &D->alls));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (ld * nd), &D->alld));
  PetscCall(PolderDeviceMalloc(sizeof(float) * (ld * nd), &D->allsd));
  for (PetscInt k = 0; k < ld * nd; ++k) D->all[k] = NAN;
  for (PetscInt d = 0; d < nd; ++d) D->off[d] = off[d];
  for (PetscInt d = nd - 1; d >= 0; --d) {
    const PetscInt shift = d < first ? ld * (nd - 1 - d) + off[d] : ld * d;

    D->val[d]   = D->all + shift;
    D->vald[d]  = D->alld + shift;
    D->vals[d]  = D->alls + shift;
    D->valsd[d] = D->allsd + shift;
    for (PetscInt i = 0; i < m && d >= first; ++i) {
      if (i + off[d] >= 0 && i + off[d] < n) D->val[d][i] = (float)(off[d] ? Number() : 2.0 + Number());
    }
  }
  for (PetscInt k = 0; k < ld * nd; ++k) D->alls[k] = (float)D->all[k];
  PetscCall(PolderDeviceFromHost(D->alld, D->all, sizeof(PetscScalar) * (ld * nd)));
  PetscCall(PolderDeviceFromHost(D->allsd, D->alls, sizeof(float) * (ld * nd)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiagonalsDestroy(Diagonals *D)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(D->all, D->alls));
  PetscCall(PolderDeviceFree(&D->alld));
  PetscCall(PolderDeviceFree(&D->allsd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An output on the device between two guards; content NULL: NaN */
PetscErrorCode OutputCreate(PetscInt n, const PetscScalar content[], PetscScalar **z)
{
  PetscScalar *all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n + 2 * GUARD, &all));
  for (PetscInt i = 0; i < n + 2 * GUARD; ++i) all[i] = NAN;
  for (PetscInt i = 0; content && i < n; ++i) all[GUARD + i] = content[i];
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (n + 2 * GUARD), z));
  PetscCall(PolderDeviceFromHost(*z, all, sizeof(PetscScalar) * (n + 2 * GUARD)));
  *z += GUARD;
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds what differs from want and what was written outside */
PetscErrorCode OutputCheck(PetscInt n, PetscScalar **z, const PetscScalar want[], PetscReal tol, PetscInt *wrong)
{
  PetscScalar *all;

  PetscFunctionBeginUser;
  *z -= GUARD;
  PetscCall(PetscMalloc1(n + 2 * GUARD, &all));
  PetscCall(PolderDeviceToHost(all, *z, sizeof(PetscScalar) * (n + 2 * GUARD)));
  for (PetscInt i = 0; i < GUARD; ++i) *wrong += !PetscIsNanScalar(all[i]) + !PetscIsNanScalar(all[GUARD + n + i]);
  *wrong += Wrong(n, all + GUARD, want, tol);
  PetscCall(PolderDeviceFree(z));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says which case is wrong; before: the count of wrong values up to it */
PetscErrorCode Tell(const char *what, const Diagonals *D, int form, PetscInt before, PetscInt wrong)
{
  PetscFunctionBeginUser;
  if (wrong > before)
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "%s, form %d: %" PetscInt_FMT " values wrong with %" PetscInt_FMT " rows, %" PetscInt_FMT " columns, %" PetscInt_FMT " diagonals\n",
                          what, form, wrong - before, D->m, D->n, D->nd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Offsets of the stencil of a grid; near = 0: 5 points */
PetscInt Stencil(PetscInt near, PetscInt far, PetscInt off[])
{
  PetscInt nd = 0;

  off[nd++] = -far;
  if (near) off[nd++] = -near;
  off[nd++] = -1;
  off[nd++] = 0;
  off[nd++] = 1;
  if (near) off[nd++] = near;
  off[nd++] = far;
  return nd;
}

/* Random ascending offsets, want at most */
PetscInt RandomOffsets(PetscInt m, PetscInt n, PetscInt want, PetscInt off[])
{
  PetscInt nd = 0;

  for (PetscInt d = 0, o = -m; d < want && o < n; ++d) {
    o += 1 + Next(1 + 2 * (m + n) / (want + 1));
    if (o < n && o > -m) off[nd++] = o;
  }
  return nd;
}

PetscErrorCode RowsCreate(const Diagonals *D, Rows *R)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(D->m + 1, &R->ai, D->m * D->nd, &R->aj, D->m * D->nd, &R->aa));
  for (PetscInt i = 0; i < D->m; ++i) {
    R->ai[i] = nz;
    for (PetscInt d = 0; d < D->nd; ++d) {
      const PetscInt j = i + D->off[d];

      if (j < 0 || j >= D->n || ((PetscMin(i, j) + PetscAbsInt(D->off[d])) % 3 == 1 && D->off[d])) continue;
      R->aj[nz]   = j;
      R->aa[nz++] = D->val[d][i];
    }
  }
  R->ai[D->m] = nz;
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (D->m + 1), &R->aid));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * nz, &R->ajd));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * nz, &R->aad));
  PetscCall(PolderDeviceFromHost(R->aid, R->ai, sizeof(PetscInt) * (D->m + 1)));
  PetscCall(PolderDeviceFromHost(R->ajd, R->aj, sizeof(PetscInt) * nz));
  PetscCall(PolderDeviceFromHost(R->aad, R->aa, sizeof(PetscScalar) * nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowsDestroy(Rows *R)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFree(&R->aid));
  PetscCall(PolderDeviceFree(&R->ajd));
  PetscCall(PolderDeviceFree(&R->aad));
  PetscCall(PetscFree3(R->ai, R->aj, R->aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}
