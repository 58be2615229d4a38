/* The shadow space, and the inner products of idrs in two variants: one at a time, or those of a step together. */
#include "idrsimpl.h"
#include "core/device.h"
#include "core/place.h"

/* The norm that follows from inner products is computed anew when rounding may have touched this part of its square */
#define IDRS_NORM_ERROR 1e-7

static PetscErrorCode KSPIDRSFillShadow_Private(KSP_IDRS *idrs)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < idrs->n; ++k) {
    PetscCall(PolderVecFill(idrs->Q[k], idrs->seed, k));
    for (int twice = 0; twice < 2 && k; ++twice) {
      PetscCall(VecMDot(idrs->Q[k], k, idrs->Q, idrs->alpha));
      for (PetscInt i = 0; i < k; ++i) idrs->alpha[i] = -idrs->alpha[i];
      PetscCall(VecMAXPY(idrs->Q[k], k, idrs->alpha, idrs->Q));
    }
    PetscCall(VecNormalize(idrs->Q[k], NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPIDRSMakeSpaces(KSP ksp, Vec like, PetscInt seed)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;
  PetscInt  N, n;

  PetscFunctionBegin;
  PetscCall(VecGetSize(like, &N));
  n = PetscMax(PetscMin(idrs->s, N), 1);
  if (idrs->n == n && idrs->seed == seed) PetscFunctionReturn(PETSC_SUCCESS);
  if (idrs->n != n) {
    PetscCall(KSPIDRSFreeSpaces(idrs));
    PetscCall(PolderVecDuplicateVecs(like, n, &idrs->Q));
    PetscCall(PolderVecDuplicateVecs(like, n, &idrs->G));
    PetscCall(PolderVecDuplicateVecs(like, n, &idrs->U));
    PetscCall(PetscMalloc2(n * n, &idrs->M, n * n, &idrs->gram));
    PetscCall(PetscMalloc7(n, &idrs->phi, n, &idrs->psi, n, &idrs->gamma, n, &idrs->alpha, n, &idrs->c, 2 * n + 2, &idrs->dots, 2 * n + 2, &idrs->list));
    idrs->n = n;
  }
  idrs->seed = seed;
  PetscCall(KSPIDRSFillShadow_Private(idrs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPIDRSFreeSpaces(KSP_IDRS *idrs)
{
  PetscFunctionBegin;
  if (!idrs->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroyVecs(idrs->n, &idrs->Q));
  PetscCall(VecDestroyVecs(idrs->n, &idrs->G));
  PetscCall(VecDestroyVecs(idrs->n, &idrs->U));
  PetscCall(PetscFree2(idrs->M, idrs->gram));
  PetscCall(PetscFree7(idrs->phi, idrs->psi, idrs->gamma, idrs->alpha, idrs->c, idrs->dots, idrs->list));
  PetscCall(VecDestroy(&idrs->x));
  idrs->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPIDRSProject_BiOrtho(KSP ksp, PetscBool start, Vec r)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;

  PetscFunctionBegin;
  (void)start;
  PetscCall(VecMDot(r, idrs->n, idrs->Q, idrs->phi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* k inner products, one after the other, and those that are left together */
static PetscErrorCode KSPIDRSBiOrthogonalise_BiOrtho(KSP ksp, PetscInt k, Vec r)
{
  KSP_IDRS      *idrs = (KSP_IDRS *)ksp->data;
  const PetscInt n    = idrs->n;
  Vec            g = idrs->G[k], u = idrs->U[k];
  PetscScalar    alpha;

  PetscFunctionBegin;
  (void)r;
  for (PetscInt i = 0; i < k; ++i) {
    PetscCall(VecDot(g, idrs->Q[i], &alpha));
    alpha /= IDRSEntry(idrs, M, i, i);
    PetscCall(VecAXPY(g, -alpha, idrs->G[i]));
    PetscCall(VecAXPY(u, -alpha, idrs->U[i]));
  }
  for (PetscInt i = k; i < n; ++i) idrs->list[i - k] = idrs->Q[i];
  idrs->list[n - k] = g;
  PetscCall(VecMDot(g, n - k + 1, idrs->list, idrs->dots));
  for (PetscInt i = k; i < n; ++i) IDRSEntry(idrs, M, i, k) = idrs->dots[i - k];
  idrs->gg = PetscRealPart(idrs->dots[n - k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where nobody tests it the norm is needed for omega only */
static PetscErrorCode KSPIDRSNorm_BiOrtho(KSP ksp, PetscInt k, PetscScalar beta, Vec r)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;
  PetscReal norm;

  PetscFunctionBegin;
  (void)k, (void)beta;
  if (ksp->normtype == KSP_NORM_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(r, NORM_2, &norm));
  idrs->rr = PetscSqr(norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPIDRSOmegaDots_BiOrtho(KSP ksp, Vec t, Vec r, PetscScalar *tt, PetscScalar *tr)
{
  KSP_IDRS   *idrs = (KSP_IDRS *)ksp->data;
  PetscReal   norm;
  PetscScalar dots[2];
  Vec         list[2];

  PetscFunctionBegin;
  list[0] = t;
  list[1] = r;
  PetscCall(VecMDot(t, 2, list, dots));
  *tt = dots[0];
  *tr = dots[1];
  PetscCall(PetscArrayzero(idrs->psi, idrs->n)); // phi comes anew
  if (ksp->normtype != KSP_NORM_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(r, NORM_2, &norm));
  idrs->rr = PetscSqr(norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* phi = Q^T r and the norm as they are, with another reduction */
static PetscErrorCode KSPIDRSRefresh_Private(KSP_IDRS *idrs, Vec r)
{
  const PetscInt n = idrs->n;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) idrs->list[i] = idrs->Q[i];
  idrs->list[n] = r;
  PetscCall(VecMDot(r, n + 1, idrs->list, idrs->dots));
  PetscCall(PetscArraycpy(idrs->phi, idrs->dots, n));
  idrs->rr    = PetscRealPart(idrs->dots[n]);
  idrs->error = PETSC_MACHINE_EPSILON * idrs->rr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The step of omega has made phi of the next cycle */
static PetscErrorCode KSPIDRSProject_MinSync(KSP ksp, PetscBool start, Vec r)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;

  PetscFunctionBegin;
  if (start) PetscCall(KSPIDRSRefresh_Private(idrs, r));
  idrs->peak = idrs->rr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  (r, g) and (g, g) of g = g^ - sum alpha_i g_i from products with g^, which stand in dots as those with q_1 ... q_n, g_1 ... g_k-1, r and g^ itself; and row k
  of the Gram matrix
*/
static void KSPIDRSCombine_Private(KSP_IDRS *idrs, PetscInt k)
{
  const PetscScalar *a = idrs->alpha, *gg = idrs->dots + idrs->n;

  idrs->rg     = PetscRealPart(gg[k]);
  idrs->gg     = PetscRealPart(gg[k + 1]);
  idrs->rgsize = PetscAbsReal(idrs->rg);
  idrs->ggsize = idrs->gg;
  for (PetscInt i = 0; i < k; ++i) {
    PetscScalar row = gg[i]; // (g, g_i)

    for (PetscInt j = 0; j < k; ++j) row -= a[j] * IDRSEntry(idrs, gram, j, i);
    idrs->rg -= a[i] * idrs->c[i];
    idrs->gg -= a[i] * (gg[i] + row); // (g^, g^) - sum alpha_i (g^, g_i) - sum alpha_i (g, g_i)
    idrs->rgsize += PetscAbsReal(a[i] * idrs->c[i]);
    idrs->ggsize += PetscAbsReal(a[i] * gg[i]) + PetscSqr(a[i]) * IDRSEntry(idrs, gram, i, i);
    IDRSEntry(idrs, gram, k, i) = IDRSEntry(idrs, gram, i, k) = row;
  }
  idrs->gg                    = PetscMax(idrs->gg, 0);
  IDRSEntry(idrs, gram, k, k) = idrs->gg;
}

/* All inner products of the step in one reduction */
static PetscErrorCode KSPIDRSBiOrthogonalise_MinSync(KSP ksp, PetscInt k, Vec r)
{
  KSP_IDRS      *idrs = (KSP_IDRS *)ksp->data;
  const PetscInt n    = idrs->n;
  PetscScalar   *psi = idrs->dots, *alpha = idrs->alpha;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) idrs->list[i] = idrs->Q[i];
  for (PetscInt i = 0; i < k; ++i) idrs->list[n + i] = idrs->G[i];
  idrs->list[n + k]     = r;
  idrs->list[n + k + 1] = idrs->G[k];
  PetscCall(VecMDot(idrs->G[k], n + k + 2, idrs->list, idrs->dots));
  for (PetscInt i = 0; i < k; ++i) { // M_t alpha = psi_1 ... psi_k-1
    alpha[i] = psi[i];
    for (PetscInt j = 0; j < i; ++j) alpha[i] -= IDRSEntry(idrs, M, i, j) * alpha[j];
    alpha[i] /= IDRSEntry(idrs, M, i, i);
  }
  for (PetscInt i = k; i < n; ++i) { // mu_ik = psi_i - sum alpha_j mu_ij
    IDRSEntry(idrs, M, i, k) = psi[i];
    for (PetscInt j = 0; j < k; ++j) IDRSEntry(idrs, M, i, k) -= alpha[j] * IDRSEntry(idrs, M, i, j);
  }
  KSPIDRSCombine_Private(idrs, k);
  for (PetscInt i = 0; i < k; ++i) alpha[i] = -alpha[i];
  if (k) PetscCall(VecMAXPY(idrs->G[k], k, alpha, idrs->G));
  if (k) PetscCall(VecMAXPY(idrs->U[k], k, alpha, idrs->U));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without a reduction, as long as rounding allows. Then phi is computed as well: what rounding leaves of r along Q would stay there */
static PetscErrorCode KSPIDRSNorm_MinSync(KSP ksp, PetscInt k, PetscScalar beta, Vec r)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;

  PetscFunctionBegin;
  idrs->peak = PetscMax(idrs->peak, idrs->rr + 2 * PetscAbsReal(beta) * idrs->rgsize + PetscSqr(beta) * idrs->ggsize);
  idrs->rr += beta * (beta * idrs->gg - 2 * idrs->rg);
  for (PetscInt i = 0; i < k; ++i) idrs->c[i] -= beta * IDRSEntry(idrs, gram, k, i);
  if (k >= 0) idrs->c[k] = idrs->rg - beta * idrs->gg;
  idrs->error += PETSC_MACHINE_EPSILON * idrs->peak;
  if (!(idrs->error <= IDRS_NORM_ERROR * idrs->rr)) PetscCall(KSPIDRSRefresh_Private(idrs, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once more one reduction; the step of omega reaches the norm as the others do, with t in the place of g */
static PetscErrorCode KSPIDRSOmegaDots_MinSync(KSP ksp, Vec t, Vec r, PetscScalar *tt, PetscScalar *tr)
{
  KSP_IDRS      *idrs = (KSP_IDRS *)ksp->data;
  const PetscInt n    = idrs->n;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) idrs->list[i] = idrs->Q[i];
  idrs->list[n]     = r;
  idrs->list[n + 1] = t;
  PetscCall(VecMDot(t, n + 2, idrs->list, idrs->dots));
  *tr = idrs->dots[n];
  *tt = idrs->dots[n + 1];
  PetscCall(PetscArraycpy(idrs->psi, idrs->dots, n));
  idrs->rg     = PetscRealPart(*tr);
  idrs->gg     = PetscRealPart(*tt);
  idrs->rgsize = PetscAbsReal(idrs->rg);
  idrs->ggsize = idrs->gg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const KSPIDRSSteps KSPIDRSBiOrtho = {KSPIDRSProject_BiOrtho, KSPIDRSBiOrthogonalise_BiOrtho, KSPIDRSNorm_BiOrtho, KSPIDRSOmegaDots_BiOrtho};
const KSPIDRSSteps KSPIDRSMinSync = {KSPIDRSProject_MinSync, KSPIDRSBiOrthogonalise_MinSync, KSPIDRSNorm_MinSync, KSPIDRSOmegaDots_MinSync};
