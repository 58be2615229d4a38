/*
  E on the device. The inverse is computed by a symmetric sweep, or by LU factors where E is not symmetric. Both find dependent columns. If E is so
  ill-conditioned that the product with its inverse loses digits, one step of refinement recovers them. It takes two more products, still far cheaper than
  triangular solves.
*/
#include "coarsedevice.h"
#include "core/device.h"
#include "kernels/coarse.h"

/* At most this number of LU factors for one threshold: without the columns that the first ones leave out, others may depend on each other */
#define POLDER_COARSE_ROUNDS 4

struct _n_PolderCoarseDevice {
  PetscInt     d, ld;
  size_t       room; /* allocated number of columns */
  PetscBool    general, refined, cholesky;
  PetscScalar *E, *X;      /* [ld * ld]; X: the inverse, or the Cholesky factor of D E D */
  PetscScalar *scale;      /* [ld] diagonal of D, or of R in R E C, zero in the columns left out */
  PetscScalar *cols;       /* [ld] diagonal of C; a symmetric E: scale */
  PetscScalar *b, *x, *r;  /* [ld] work */
  PetscScalar *norms, *xy; /* [2 ld] work */
  PetscScalar *info;       /* [POLDER_COARSE_INFO] */
  void        *work, *multwork;
};

static PetscErrorCode PolderCoarseDeviceFree_Private(PolderCoarseDevice c)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&c->E));
  PetscCall(PolderDeviceFree(&c->X));
  PetscCall(PolderDeviceFree(&c->scale));
  PetscCall(PolderDeviceFree(&c->work));
  PetscCall(PolderDeviceFree(&c->multwork));
  c->room = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseDeviceDestroy(PolderCoarseDevice *coarse)
{
  PetscFunctionBegin;
  if (!*coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderCoarseDeviceFree_Private(*coarse));
  PetscCall(PetscFree(*coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseDeviceAllocate_Private(PolderCoarseDevice c, PetscInt d, PetscBool general)
{
  size_t ld;

  PetscFunctionBegin;
  c->d  = d;
  c->ld = (d + POLDER_SWEEP - 1) / POLDER_SWEEP * POLDER_SWEEP;
  ld    = (size_t)c->ld;
  if (ld != c->room || general != c->general) {
    PetscCall(PolderCoarseDeviceFree_Private(c));
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * ld * ld, &c->E));
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * ld * ld, &c->X));
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (9 * ld + POLDER_COARSE_INFO), &c->scale));
    if (!general) PetscCall(PolderDeviceMalloc(PolderWorkSize(PolderCoarseInvertWork_CUDA(c->ld)), &c->work));
    if (!general && d >= POLDER_SYMMETRIC_LEAST) {
      const size_t bytes = PolderWorkSize(PolderSymmetricMultWork_CUDA(c->ld));

      PetscCall(PolderDeviceMalloc(bytes, &c->multwork));
      PetscCall(PolderDeviceZero(c->multwork, bytes));
    }
    c->b     = c->scale + ld;
    c->x     = c->b + ld;
    c->r     = c->x + ld;
    c->norms = c->r + ld;
    c->xy    = c->norms + 2 * ld;
    c->cols  = general ? c->xy + 2 * ld : c->scale;
    c->info  = c->xy + 3 * ld;
    c->room  = ld;
  }
  c->general = general;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E or X */
static PolderDense PolderCoarseDeviceDense_Private(PolderCoarseDevice c, PetscScalar a[])
{
  return (PolderDense){.n = c->d, .ld = c->ld, .a = a};
}

/* z = y + alpha A x, A one of E and X */
static PetscErrorCode PolderCoarseDeviceMult_Private(PolderCoarseDevice c, PetscScalar alpha, PetscScalar a[], const PetscScalar x[], const PetscScalar y[],
                                                     PetscScalar z[], PetscBool early)
{
  const PolderDense A = PolderCoarseDeviceDense_Private(c, a);
  PolderStream      stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (c->multwork) PolderLaunch(PolderSymmetricMult_CUDA(A, alpha, x, y, z, c->multwork, early, stream));
  else PolderLaunch(PolderDenseMult_CUDA(A, alpha, x, y, z, early, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseDeviceSolve(PolderCoarseDevice c, const PetscScalar a1[], PetscScalar a2[], PetscBool early)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (c->cholesky) {
    PolderLaunch(PolderPointwiseMult_CUDA(c->d, c->scale, a1, a2, stream));
    PolderLaunch(PolderCholeskySolve_CUDA(PolderCoarseDeviceDense_Private(c, c->X), a2, stream));
    PolderLaunch(PolderPointwiseMult_CUDA(c->d, c->scale, a2, a2, stream));
  } else if (c->refined) { // a2 <- x + X (a1 - E x), x = X a1
    PetscCall(PolderCoarseDeviceMult_Private(c, 1, c->X, a1, NULL, c->x, early));
    PetscCall(PolderCoarseDeviceMult_Private(c, -1, c->E, c->x, a1, c->r, early));
    PetscCall(PolderCoarseDeviceMult_Private(c, 1, c->X, c->r, c->x, a2, early));
  } else PetscCall(PolderCoarseDeviceMult_Private(c, 1, c->X, a1, NULL, a2, early));
  PetscCall(PetscLogGpuFlops((c->refined ? 6.0 : 2.0) * c->d * c->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Estimates the condition number and the residual of a solve, and copies the report to the host */
static PetscErrorCode PolderCoarseDeviceAssess_Private(PolderCoarseDevice c, PetscBool norms, PolderCoarseReport *report)
{
  PolderStream stream;
  PetscScalar  info[POLDER_COARSE_INFO], *x = c->xy, *y = c->xy + c->ld;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (norms) PolderLaunch(PolderCoarseNorms_CUDA(PolderCoarseDeviceDense_Private(c, c->E), c->X, c->scale, c->cols, c->b, c->norms, stream));
  PetscCall(PolderCoarseDeviceSolve(c, c->b, x, PETSC_FALSE));
  PetscCall(PolderCoarseDeviceMult_Private(c, 1, c->E, x, NULL, y, PETSC_FALSE));
  PolderLaunch(PolderCoarseAssess_CUDA(c->d, c->scale, c->norms, c->b, y, c->info, stream));
  PetscCall(PolderDeviceToHost(info, c->info, sizeof(info)));
  report->nzero   = (PetscInt)info[POLDER_COARSE_NZERO];
  report->nnull   = (PetscInt)info[POLDER_COARSE_NNULL];
  report->ndep    = (PetscInt)info[POLDER_COARSE_NDEP];
  report->bad     = (PetscBool)(info[POLDER_COARSE_BAD] != 0);
  report->cond    = PetscRealPart(info[POLDER_COARSE_COND]);
  report->resid   = PetscRealPart(info[POLDER_COARSE_RESID]);
  report->refined = c->refined;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the inverse by the Cholesky factor of D E D */
static PetscErrorCode PolderCoarseDeviceFactor_Private(PolderCoarseDevice c)
{
  PolderStream stream;
  const size_t bytes = PolderWorkSize(PolderCholeskyFactorWork_CUDA(c->d, c->ld));
  void        *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderCoarseIdentity_CUDA(PolderCoarseDeviceDense_Private(c, c->E), c->scale, c->cols, c->X, stream));
  PolderLaunch(PolderCholeskyFactor_CUDA(PolderCoarseDeviceDense_Private(c, c->X), bytes, work, stream));
  PetscCall(PolderDeviceFree(&work));
  c->cholesky = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X <- the inverse of a symmetric E, which leaves out columns whose pivot is at most tol */
static PetscErrorCode PolderCoarseDeviceSweep_Private(PolderCoarseDevice c, PetscReal zero, PetscBool nullspace, PetscReal tol)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderCoarseScale_CUDA(PolderCoarseDeviceDense_Private(c, c->E), zero, nullspace, c->scale, c->X, c->info, stream));
  PolderLaunch(PolderCoarseInvert_CUDA(PolderCoarseDeviceDense_Private(c, c->X), tol, c->scale, c->info, c->work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same by LU factors for an E that is not symmetric: again without the columns left out, until there are no more of them */
static PetscErrorCode PolderCoarseDeviceLU_Private(PolderCoarseDevice c, PetscReal zero, PetscBool nullspace, PetscReal tol)
{
  const PolderDense E = PolderCoarseDeviceDense_Private(c, c->E);
  PolderDense       A = E;
  PetscScalar       before, left = 0;
  PolderStream      stream;
  void             *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)c->ld * (size_t)c->ld, &A.a));
  PetscCall(PolderDeviceMalloc(PolderWorkSize(PolderLUInverseWork_CUDA(c->d, c->ld)), &work));
  PolderLaunch(PolderCoarseEquilibrate_CUDA(E, zero, nullspace, c->scale, c->cols, c->info, stream));
  for (int round = 0; round < POLDER_COARSE_ROUNDS; ++round) {
    before = left;
    PolderLaunch(PolderCoarseIdentity_CUDA(E, c->scale, c->cols, A.a, stream));
    PolderLaunch(PolderLUInverse_CUDA(A, tol, c->scale, c->cols, c->X, c->info, work, stream));
    PetscCall(PolderDeviceToHost(&left, c->info + POLDER_COARSE_NDEP, sizeof(left)));
    if (left == before) break;
  }
  PetscCall(PolderDeviceFree(&A.a));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseDeviceSetUp(PolderCoarseDevice *coarse, const PolderCoarseEntries *entries, const PolderCoarseDemands *demands,
                                       PolderCoarseReport *report)
{
  const PetscInt     d     = entries->d;
  const PetscReal    least = 10 * d * PETSC_MACHINE_EPSILON;
  PolderCoarseDevice c;
  PolderStream       stream;

  PetscFunctionBegin;
  if (!*coarse) PetscCall(PetscNew(coarse));
  c = *coarse;
  PetscCall(PetscMemzero(report, sizeof(*report)));
  PetscCall(PolderCoarseDeviceAllocate_Private(c, d, demands->general));
  c->refined = c->cholesky = PETSC_FALSE;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceZero(c->E, sizeof(PetscScalar) * (size_t)c->ld * (size_t)c->ld));
  PolderLaunch(PolderCoarseDense_CUDA(entries->n, entries->key, entries->val, PolderCoarseDeviceDense_Private(c, c->E), stream));
  /*
    Rounding of E may hide dependent columns, and the inverse is then meaningless: raise the threshold for zero pivots. With pivoting a small one is no proof,
    so a general E loses only pivots of zero at first
  */
  for (PetscReal tol = c->general ? 0 : least; tol < 1e-6; tol = PetscMax(100 * tol, least)) {
    PetscCall((c->general ? PolderCoarseDeviceLU_Private : PolderCoarseDeviceSweep_Private)(c, demands->zero, entries->nullspace, tol));
    PetscCall(PolderCoarseDeviceAssess_Private(c, PETSC_TRUE, report));
    if (report->bad || report->cond * PETSC_MACHINE_EPSILON < demands->singular) break;
  }
  if (report->bad) PetscFunctionReturn(PETSC_SUCCESS);
  c->refined = (PetscBool)(!demands->cholesky && report->resid > demands->loss);
  if (demands->cholesky) PetscCall(PolderCoarseDeviceFactor_Private(c));
  if (c->refined || demands->cholesky) PetscCall(PolderCoarseDeviceAssess_Private(c, PETSC_FALSE, report));
  PetscCall(PetscLogGpuFlops((c->general ? 8. / 3 : 1.0) * d * d * d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseDeviceGetBytes(PolderCoarseDevice c, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  *bytes = (PetscLogDouble)sizeof(PetscScalar) * 2 * c->ld * c->ld;
  PetscFunctionReturn(PETSC_SUCCESS);
}
