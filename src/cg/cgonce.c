/* The steps of conjugate gradients with one reduction a step, on the host: the product is that of z, and all sums are made after it. */
#include "cg.h"
#include "core/peers.h"

/*
  Several processes make the choice: each sum waits for all of them. But the two vectors more, v and A p, are read and written in each step. From these numbers
  of rows a process on that takes longer than the sums that are saved: on the host the vectors of a step then leave the cache. Devices that store into each
  other's memory make their sums in kernels that are there in any case, and two of them in less time than these vectors take.
*/
#define POLDER_CG_ONCE_HOST   20000
#define POLDER_CG_ONCE_DEVICE 1000000

/* With fewer rows a process one reduction is faster */
static PetscErrorCode PolderCGOnceRows_Private(MPI_Comm comm, PetscBool device, PetscInt *rows)
{
  PolderPeers peers = NULL;

  PetscFunctionBegin;
  if (device) PetscCall(PolderPeersGet(comm, &peers));
  *rows = device ? POLDER_CG_ONCE_DEVICE : POLDER_CG_ONCE_HOST;
  if (PolderPeersGetView(peers)) *rows = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGWantsOnce_Private(KSP ksp, Vec r, PetscBool device, PetscBool *once)
{
  PolderCG   *cg = (PolderCG *)ksp->data;
  PetscMPIInt size;
  PetscInt    N, rows = 0;
  PetscBool   known;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)cg->b), &size));
  if (size > 1) PetscCall(PolderCGOnceRows_Private(PetscObjectComm((PetscObject)cg->b), device, &rows));
  PetscCall(VecGetSize(r, &N));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)r, &known, VECSEQ, VECMPI, "")); // vectors of other packages have no fused step
  *once = (PetscBool)(cg->reductions ? cg->reductions == 1 : N / size < rows);
  if (!device && !known) *once = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGChooseOnce(KSP ksp, Vec r, PetscBool device)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(PolderCGWantsOnce_Private(ksp, r, device, &cg->once));
  cg->told = PETSC_FALSE;
  if (!cg->once) PetscFunctionReturn(PETSC_SUCCESS);
  if (!cg->v) PetscCall(PolderVecDuplicate(r, &cg->v));
  if (!device) {
    PolderCGKernel kernel;

    PetscCall(PolderCGGetKernel(ksp, &kernel));
    PetscCall(PetscMemzero(&cg->state, sizeof(cg->state)));
    PetscCall(VecGetSize(r, &cg->state.N));
    cg->state.nullspace = kernel == CG_CONSTANT;
    cg->state.flexible  = cg->flexible;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGOnceGet_Private(KSP ksp, Vec r, Vec z, Vec p, Vec w, PolderCGOnce *a)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(a, sizeof(*a)));
  PetscCall(VecGetLocalSize(r, &a->n));
  PetscCall(VecGetArrayRead(cg->v, &a->v));
  PetscCall(VecGetArray(z, &a->z));
  PetscCall(VecGetArray(r, &a->r));
  if (w) PetscCall(VecGetArray(w, &a->w));
  if (p) PetscCall(VecGetArray(p, &a->p));
  if (p) PetscCall(VecGetArray(cg->sol, &a->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGOnceRestore_Private(KSP ksp, Vec r, Vec z, Vec p, Vec w, PolderCGOnce *a)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  if (p) PetscCall(VecRestoreArray(cg->sol, &a->x));
  if (p) PetscCall(VecRestoreArray(p, &a->p));
  if (w) PetscCall(VecRestoreArray(w, &a->w));
  PetscCall(VecRestoreArray(r, &a->r));
  PetscCall(VecRestoreArray(z, &a->z));
  PetscCall(VecRestoreArrayRead(cg->v, &a->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v <- P A z and all sums, in one message */
static PetscErrorCode PolderCGOnceSums_Private(KSP ksp, Vec r, Vec z, Vec w)
{
  PolderCG                *cg     = (PolderCG *)ksp->data;
  PolderCGState           *s      = &cg->state;
  const PolderCoarseRiders riders = {POLDER_ONCE_SUMS, s->sum, &s->energy};
  Vec                      last   = cg->flexible && !cg->first ? w : NULL;
  PolderCGOnce             a;

  PetscFunctionBegin;
  PetscCall(KSP_MatMult(ksp, cg->A, z, cg->v));
  PetscCall(PolderLogBegin(POLDER_CGDot, r));
  PetscCall(PolderCGOnceGet_Private(ksp, r, z, NULL, last, &a));
  PolderCGOnceSums_Host(&a, s->sum);
  PetscCall(PolderCGOnceRestore_Private(ksp, r, z, NULL, last, &a));
  if (!cg->space->d) PetscCallAllreduce(MPI_IN_PLACE, s->sum, POLDER_ONCE_SUMS, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)cg->b));
  PetscCall(PetscLogFlops((last ? 12.0 : 10.0) * a.n));
  PetscCall(PolderLogEnd(POLDER_CGDot, r));
  if (cg->space->d) PetscCall(PolderDeflationSpaceApplyPSum(cg->space, cg->v, PETSC_FALSE, &riders));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of the last step, which the sums have brought */
static PetscErrorCode PolderCGOnceReport_Private(KSP ksp)
{
  PolderCG          *cg    = (PolderCG *)ksp->data;
  const PetscScalar *sum   = cg->state.sum;
  const PetscScalar  mean  = cg->state.nullspace ? sum[POLDER_ONCE_Z] / cg->state.N : 0;
  const PetscReal    rnorm = PetscSqrtReal(sum[POLDER_ONCE_RR]);
  PetscReal          norm  = 0;

  PetscFunctionBegin;
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) norm = rnorm;
  else if (ksp->normtype == KSP_NORM_PRECONDITIONED) norm = PetscSqrtReal(PetscMax(sum[POLDER_ONCE_ZZ] - mean * sum[POLDER_ONCE_Z], 0));
  else if (ksp->normtype == KSP_NORM_NATURAL) norm = PetscSqrtReal(PetscAbsReal(sum[POLDER_ONCE_RZ] - mean * sum[POLDER_ONCE_R]));
  ++ksp->its;
  KSPCheckNorm(ksp, norm);
  PetscCall(PolderCGReport(ksp, rnorm, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- M^-1 r, v <- P A z, the norm of the last step, rho, beta, (p, A p) */
static PetscErrorCode PolderCGPrecondition_OnceOnHost(KSP ksp, Vec r, Vec z, Vec w)
{
  PolderCG       *cg     = (PolderCG *)ksp->data;
  PolderCGState  *s      = &cg->state;
  const PetscBool report = (PetscBool)(!cg->first && !cg->told);

  PetscFunctionBegin;
  if (!s->nullspace) PetscCall(PolderCGPCApply(ksp, r, z));
  else if (ksp->transpose_solve) PetscCall(PCApplyTranspose(cg->pc, r, z));
  else PetscCall(PCApply(cg->pc, r, z));
  PetscCall(PolderCGOnceSums_Private(ksp, r, z, w));
  cg->told = PETSC_FALSE;
  if (report) PetscCall(PolderCGOnceReport_Private(ksp));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  cg->alphaold = cg->alpha;
  PolderCGOnceScalars(s, cg->first);
  cg->rho   = s->rho;
  cg->beta  = s->beta;
  cg->pw    = s->pw;
  cg->alpha = s->alpha;
  PetscCall(PolderCGCheckRho(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w follows with the step; (p, w) is known */
static PetscErrorCode PolderCGProduct_OnceOnHost(KSP ksp, Vec p, Vec w)
{
  PetscFunctionBegin;
  (void)p, (void)w;
  PetscCall(PolderCGCheckCurvature(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p <- z + beta p, w <- v + beta w, x <- x + alpha p, r <- r - alpha w */
static PetscErrorCode PolderCGStep_OnceOnHost(KSP ksp, PetscBool project, Vec p, Vec w, Vec r)
{
  PolderCG    *cg = (PolderCG *)ksp->data;
  Vec          z  = ksp->work[1];
  PolderCGOnce a;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_CGUpdate, r));
  PetscCall(PolderCGOnceGet_Private(ksp, r, z, p, w, &a));
  PolderCGOnceStep_Host(&a, cg->first, &cg->state);
  PetscCall(PolderCGOnceRestore_Private(ksp, r, z, p, w, &a));
  PetscCall(PetscLogFlops((cg->first ? 5.0 : 9.0) * a.n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, r));
  if (ksp->calc_sings) PetscCall(PolderCGAddRitz(ksp, cg->first, PetscRealPart(cg->alpha), PetscRealPart(cg->beta), PetscRealPart(cg->alphaold)));
  if (project && cg->state.nullspace) PetscCall(PolderDeflationSpaceApplyP(cg->space, r)); // the mean is gone
  else if (project) PetscCall(PolderCGProject(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scalars are those of the last step; z and v are made again */
static PetscErrorCode PolderCGResume_OnceOnHost(KSP ksp, Vec r)
{
  PetscFunctionBegin;
  (void)r;
  ((PolderCG *)ksp->data)->told = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCGSteps PolderCGOnceOnHost = {
  .resume       = PolderCGResume_OnceOnHost,
  .precondition = PolderCGPrecondition_OnceOnHost,
  .direction    = PolderCGNothing3, // step() updates p in its pass
  .product      = PolderCGProduct_OnceOnHost,
  .step         = PolderCGStep_OnceOnHost,
  .check        = PolderCGNothing2, // the norm comes with the next sums
  .catchup      = PolderCGNothing,
  .finish       = PolderCGNothing,
};
