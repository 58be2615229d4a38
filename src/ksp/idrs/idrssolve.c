/*
  Induced dimension reduction, IDR(s), with bi-orthogonal vectors. For a shadow space Q of s vectors the residuals lie in shrinking spaces

      G_j+1 = (I - omega_j+1 A B^-1) (G_j intersected with the complement of Q)

  and a cycle of s + 1 products leads from G_j into G_j+1: s of them for vectors g_k = A u_k in G_j, g_k orthogonal to q_1 ... q_k-1, along which r becomes
  orthogonal to q_1 ... q_k, and one for omega. r = b - A x holds throughout up to rounding; before the solver claims anything, it computes b - A x.
*/
#include "idrsimpl.h"
#include "core/device.h"
#include "core/refusal.h"
#include "mat/rounding.h"

/* The smallest cosine of the angle between r and t that omega is made for */
#define IDRS_ANGLE 0.7
/* The smallest cosine of the angle between g_k and q_k that M is solved with: rounding errors are 500 times smaller. Beyond it residuals grow without bound */
#define IDRS_PIVOT (500 * PETSC_MACHINE_EPSILON)
/* After so many runs in a row that did not halve the true residual the solver gives up: the last one has claimed to, or broken down. Where convection dominates
   a breakdown comes while the residual is at its largest, and what has been found by then is not lost */
#define IDRS_IDLE_CLAIMED 3
#define IDRS_IDLE_BROKEN  10

/* With a preconditioner on the left the system is B^-1 A x = B^-1 b */
static PetscErrorCode KSPIDRSResidual_Private(KSP ksp, Vec x, Vec r, Vec work)
{
  Vec to = ksp->pc_side == PC_LEFT ? work : r;
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (!x) PetscCall(VecCopy(ksp->vec_rhs, to));
  else {
    PetscCall(KSP_MatMult(ksp, A, x, to));
    PetscCall(VecAYPX(to, -1.0, ksp->vec_rhs));
  }
  if (to != r) PetscCall(KSP_PCApply(ksp, to, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *z is work with B^-1 v, or v for a preconditioner on the left */
static PetscErrorCode KSPIDRSPrecondition_Private(KSP ksp, Vec v, Vec work, Vec *z)
{
  PetscFunctionBegin;
  *z = v;
  if (ksp->pc_side == PC_LEFT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSP_PCApply(ksp, v, work));
  *z = work;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* g <- A u, or B^-1 A u for a preconditioner on the left, with work for A u */
static PetscErrorCode KSPIDRSProduct_Private(KSP ksp, Vec u, Vec g, Vec work)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSP_MatMult(ksp, A, u, ksp->pc_side == PC_LEFT ? work : g));
  if (ksp->pc_side == PC_LEFT) PetscCall(KSP_PCApply(ksp, work, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One more iteration: history, monitors, and the convergence test. Below the rounding errors of the largest residual so far r says nothing of b - A x */
static PetscErrorCode KSPIDRSReport_Private(KSP ksp, PetscBool *spent)
{
  KSP_IDRS       *idrs = (KSP_IDRS *)ksp->data;
  const PetscReal norm = PetscSqrtReal(idrs->rr);

  PetscFunctionBegin;
  ++ksp->its;
  *spent = PETSC_FALSE;
  KSPCheckNorm(ksp, norm);
  ksp->rnorm = ksp->normtype == KSP_NORM_NONE ? 0 : norm;
  idrs->top  = PetscMax(idrs->top, norm);
  *spent     = (PetscBool)(norm <= 0.1 * PETSC_MACHINE_EPSILON * idrs->top);
  PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
  PetscCall(KSPMonitor(ksp, ksp->its, ksp->rnorm));
  PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
  if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u_k <- omega B^-1 v + sum gamma_i u_i,  v <- r - sum gamma_i g_i orthogonal to Q,  i = k ... n */
static PetscErrorCode KSPIDRSDirection_Private(KSP ksp, PetscInt k, Vec r, Vec v, Vec work)
{
  KSP_IDRS      *idrs  = (KSP_IDRS *)ksp->data;
  const PetscInt n     = idrs->n;
  PetscScalar   *gamma = idrs->gamma, *a = idrs->dots; // the products of the last step are no longer needed
  Vec            z;

  PetscFunctionBegin;
  if (idrs->fresh) { // all g_i and u_i are zero
    PetscCall(KSPIDRSPrecondition_Private(ksp, r, idrs->U[k], &z));
    if (z != idrs->U[k]) PetscCall(VecCopy(z, idrs->U[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = k; i < n; ++i) { // M gamma = phi
    gamma[i] = idrs->phi[i];
    for (PetscInt j = k; j < i; ++j) gamma[i] -= IDRSEntry(idrs, M, i, j) * gamma[j];
    gamma[i] /= IDRSEntry(idrs, M, i, i);
  }
  a[0]          = 1;
  idrs->list[0] = r;
  for (PetscInt i = k; i < n; ++i) {
    a[1 + i - k]          = -gamma[i];
    idrs->list[1 + i - k] = idrs->G[i];
  }
  PetscCall(PolderVecCombine(v, 0, n - k + 1, a, idrs->list));
  PetscCall(KSPIDRSPrecondition_Private(ksp, v, work, &z));
  a[0]          = idrs->omega;
  idrs->list[0] = z;
  for (PetscInt i = k + 1; i < n; ++i) {
    a[i - k]          = gamma[i];
    idrs->list[i - k] = idrs->U[i];
  }
  PetscCall(PolderVecCombine(idrs->U[k], gamma[k], n - k, a, idrs->list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- r - beta g_k and x <- x + beta u_k, after which r is orthogonal to q_1 ... q_k as well; phi = Q^T r follows */
static PetscErrorCode KSPIDRSUpdate_Private(KSP ksp, PetscInt k, Vec r)
{
  KSP_IDRS         *idrs = (KSP_IDRS *)ksp->data;
  const PetscScalar mu   = IDRSEntry(idrs, M, k, k);
  PetscScalar       beta;

  PetscFunctionBegin;
  KSPCheckDot(ksp, mu + idrs->gg);
  if (PetscAbsScalar(mu) <= IDRS_PIVOT * PetscSqrtReal(idrs->gg)) {
    idrs->broken = "a vector of the space G is orthogonal to the shadow space";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  beta = idrs->phi[k] / mu;
  KSPCheckDot(ksp, beta);
  PetscCall(VecAXPY(r, -beta, idrs->G[k]));
  PetscCall(VecAXPY(ksp->vec_sol, beta, idrs->U[k]));
  idrs->phi[k] = 0;
  for (PetscInt i = k + 1; i < idrs->n; ++i) idrs->phi[i] -= beta * IDRSEntry(idrs, M, i, k);
  PetscCall((*idrs->steps->norm)(ksp, k, beta, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  r <- r - omega t and x <- x + omega z, t = A z, z = B^-1 r. omega makes r smallest, or larger where r and t are nearly orthogonal: a small one would spoil the
  spaces that follow (Sleijpen and van der Vorst 1995)
*/
static PetscErrorCode KSPIDRSReduce_Private(KSP ksp, Vec r, Vec t, Vec work)
{
  KSP_IDRS   *idrs = (KSP_IDRS *)ksp->data;
  PetscScalar tt, tr;
  PetscReal   cosine;
  Vec         z;

  PetscFunctionBegin;
  PetscCall(KSPIDRSPrecondition_Private(ksp, r, work, &z));
  PetscCall(KSPIDRSProduct_Private(ksp, z, t, work));
  PetscCall((*idrs->steps->omegadots)(ksp, t, r, &tt, &tr));
  KSPCheckDot(ksp, tt + tr);
  if (tt == 0.0) {
    idrs->broken = "the preconditioned residual is in the kernel of the matrix";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  cosine      = PetscAbsScalar(tr) / PetscSqrtReal(tt * idrs->rr);
  idrs->omega = cosine >= IDRS_ANGLE ? tr / tt : (tr < 0 ? -1 : 1) * IDRS_ANGLE * PetscSqrtReal(idrs->rr / tt);
  KSPCheckDot(ksp, idrs->omega);
  PetscCall(VecAXPY(ksp->vec_sol, idrs->omega, z));
  PetscCall(VecAXPY(r, -idrs->omega, t));
  for (PetscInt i = 0; i < idrs->n; ++i) idrs->phi[i] -= idrs->omega * idrs->psi[i];
  PetscCall((*idrs->steps->norm)(ksp, -1, idrs->omega, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates from the residual r until the convergence test sets ksp->reason, a breakdown idrs->broken, or r has no digits left */
static PetscErrorCode KSPIDRSRun_Private(KSP ksp, Vec r, Vec v, Vec work)
{
  KSP_IDRS *idrs  = (KSP_IDRS *)ksp->data;
  PetscBool spent = PETSC_FALSE;

  PetscFunctionBegin;
  idrs->omega  = 1;
  idrs->broken = NULL;
  idrs->top    = PetscSqrtReal(idrs->rr);
  for (idrs->fresh = PETSC_TRUE;; idrs->fresh = PETSC_FALSE) {
    PetscCall((*idrs->steps->project)(ksp, idrs->fresh, r)); // phi <- Q^T r
    for (PetscInt k = 0; k < idrs->n; ++k) {
      PetscCall(KSPIDRSDirection_Private(ksp, k, r, v, work));              // u_k <- omega B^-1 v + sum gamma_i u_i,  v <- r - sum gamma_i g_i
      PetscCall(KSPIDRSProduct_Private(ksp, idrs->U[k], idrs->G[k], work)); // g_k <- A u_k
      PetscCall((*idrs->steps->biorthogonalise)(ksp, k, r));                // g_k <- g_k - sum alpha_i g_i,  u_k <- u_k - sum alpha_i u_i
      PetscCall(KSPIDRSUpdate_Private(ksp, k, r));                          // r <- r - beta g_k,  x <- x + beta u_k
      if (!ksp->reason && !idrs->broken) PetscCall(KSPIDRSReport_Private(ksp, &spent));
      if (ksp->reason || idrs->broken || spent) PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(KSPIDRSReduce_Private(ksp, r, v, work)); // r <- r - omega t,  x <- x + omega z,  t <- A z,  z <- B^-1 r
    if (!ksp->reason && !idrs->broken) PetscCall(KSPIDRSReport_Private(ksp, &spent));
    if (ksp->reason || idrs->broken || spent) PetscFunctionReturn(PETSC_SUCCESS);
  }
}

/* Nothing more can be done: the best solution that was met, for the given reason, or as good as rounding allows */
static PetscErrorCode KSPIDRSStop_Private(KSP ksp, const char why[], KSPConvergedReason reason)
{
  KSP_IDRS       *idrs = (KSP_IDRS *)ksp->data;
  const PetscReal norm = PetscSqrtReal(idrs->rr);

  PetscFunctionBegin;
  if (idrs->best < norm) {
    PetscCall(VecCopy(idrs->x, ksp->vec_sol));
    if (ksp->normtype != KSP_NORM_NONE) ksp->rnorm = idrs->best;
  }
  ksp->reason = reason;
  PetscCall(PetscInfo(ksp, "%s: stopped at the true residual %g after %" PetscInt_FMT " iterations and %" PetscInt_FMT " restarts\n", why,
                      (double)PetscMin(idrs->best, norm), ksp->its, idrs->restarts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Is the residual of the best solution what rounding of it leaves? Known for b - A x only. A solution that has grown so large that this is a good part of b is
  none: the system may have none
*/
static PetscErrorCode KSPIDRSAtFloor_Private(KSP ksp, PetscBool *floor)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;
  Mat       A;
  PetscReal bound, bnorm;

  PetscFunctionBegin;
  *floor = PETSC_FALSE;
  if (ksp->pc_side == PC_LEFT || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PolderMatRoundingBound(A, idrs->x, &bound));
  PetscCall(PolderVecNormKept(ksp->vec_rhs, &bnorm));
  *floor = (PetscBool)(idrs->best <= 10 * bound && idrs->best <= 1e-3 * PetscMax(bnorm, idrs->first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A run has ended without what the test asks for, at the true residual of that norm */
static PetscErrorCode KSPIDRSDecide_Private(KSP ksp, const char why[], PetscReal norm)
{
  KSP_IDRS       *idrs   = (KSP_IDRS *)ksp->data;
  const PetscBool halved = (PetscBool)(norm < 0.5 * idrs->last);
  PetscBool       floor;

  PetscFunctionBegin;
  if (norm < idrs->best) {
    if (!idrs->x) PetscCall(PolderVecDuplicate(ksp->vec_sol, &idrs->x));
    PetscCall(VecCopy(ksp->vec_sol, idrs->x));
    idrs->best = norm;
  }
  idrs->idle = halved ? 0 : idrs->idle + 1;
  idrs->last = PetscMin(idrs->last, norm);
  if (!halved) {
    PetscCall(KSPIDRSAtFloor_Private(ksp, &floor));
    if (floor) PetscCall(KSPIDRSStop_Private(ksp, "x is as good as rounding allows", KSP_CONVERGED_HAPPY_BREAKDOWN));
    else if (idrs->idle >= (idrs->broken ? IDRS_IDLE_BROKEN : IDRS_IDLE_CLAIMED)) PetscCall(KSPIDRSStop_Private(ksp, why, KSP_DIVERGED_BREAKDOWN));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  }
  ++idrs->restarts;
  PetscCall(PetscInfo(ksp, "%s: going on from the true residual %g after %" PetscInt_FMT " iterations\n", why, (double)norm, ksp->its));
  if (idrs->broken) PetscCall(KSPIDRSMakeSpaces(ksp, ksp->vec_sol, idrs->seed + 1)); // the same shadow space would do the same
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A run has ended: r <- b - A x, and ksp->reason is set if that confirms what the run claims, or no other run is to begin from it */
static PetscErrorCode KSPIDRSVerify_Private(KSP ksp, Vec r, Vec work)
{
  KSP_IDRS                *idrs   = (KSP_IDRS *)ksp->data;
  const KSPConvergedReason reason = ksp->reason;
  const PetscBool          none   = (PetscBool)(ksp->normtype == KSP_NORM_NONE);
  const char              *why    = idrs->broken;
  PetscReal                norm;

  PetscFunctionBegin;
  if (reason == KSP_CONVERGED_ITS || reason == KSP_DIVERGED_NANORINF || reason == KSP_DIVERGED_PC_FAILED) PetscFunctionReturn(PETSC_SUCCESS);
  if (reason < 0) {
    PetscCall(KSPIDRSStop_Private(ksp, "Not converged", reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!why) why = reason > 0 ? "The recursive residual is smaller than the true one" : "The recursive residual is lost in rounding errors";
  PetscCall(KSPIDRSResidual_Private(ksp, ksp->vec_sol, r, work));
  PetscCall(VecNorm(r, NORM_2, &norm));
  KSPCheckNorm(ksp, norm);
  idrs->rr    = PetscSqr(norm);
  ksp->rnorm  = none ? 0 : norm;
  ksp->reason = KSP_CONVERGED_ITERATING;
  PetscCall((*ksp->converged)(ksp, PetscMax(ksp->its, 1), ksp->rnorm, &ksp->reason, ksp->cnvP));
  if (none && !ksp->reason && norm <= ksp->abstol) ksp->reason = KSP_CONVERGED_ATOL; // nothing left to divide by
  if (!ksp->reason && ksp->its >= ksp->max_it) PetscCall(KSPIDRSStop_Private(ksp, "Not converged", KSP_DIVERGED_ITS));
  if (!ksp->reason) PetscCall(KSPIDRSDecide_Private(ksp, why, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r and its norm, and the test of the guess */
static PetscErrorCode KSPIDRSStart_Private(KSP ksp, Vec r, Vec work)
{
  KSP_IDRS       *idrs   = (KSP_IDRS *)ksp->data;
  const PetscBool failed = (PetscBool)(ksp->reason == KSP_DIVERGED_PC_FAILED);
  PetscReal       norm;

  PetscFunctionBegin;
  ksp->its       = 0;
  ksp->reason    = KSP_CONVERGED_ITERATING;
  idrs->restarts = idrs->idle = 0;
  idrs->best                  = PETSC_INFINITY;
  PetscCall(KSPIDRSResidual_Private(ksp, ksp->guess_zero ? NULL : ksp->vec_sol, r, work));
  PetscCall(PolderVecFlag(r, failed)); // the norm tells all processes
  PetscCall(VecNorm(r, NORM_2, &norm));
  KSPCheckNorm(ksp, norm);
  idrs->rr    = PetscSqr(norm);
  idrs->first = idrs->last = norm;
  ksp->rnorm               = ksp->normtype == KSP_NORM_NONE ? 0 : norm;
  PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
  PetscCall(KSPMonitor(ksp, 0, ksp->rnorm));
  PetscCall((*ksp->converged)(ksp, 0, ksp->rnorm, &ksp->reason, ksp->cnvP));
  if (!ksp->reason && norm == 0) ksp->reason = KSP_CONVERGED_ATOL; // whatever the test asks for
  if (!ksp->reason && ksp->max_it <= 0) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_IDRS(KSP ksp)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;
  Vec       r = ksp->work[0], v = ksp->work[1], work = ksp->work[2];
  PetscBool diagonalscale;

  PetscFunctionBegin;
  PetscCall(PolderPCGetDiagonalScale(ksp->pc, &diagonalscale));
  PetscCheck(!diagonalscale, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "idrs does not work with the diagonal scaling of PCSetDiagonalScale(): leave it out");
  idrs->steps = idrs->variant == KSP_IDRS_MINSYNC ? &KSPIDRSMinSync : &KSPIDRSBiOrtho;
  PetscCall(KSPIDRSMakeSpaces(ksp, r, 0)); // anew when s has changed, or the last solve has broken down
  PetscCall(KSPIDRSStart_Private(ksp, r, work));
  while (!ksp->reason) {
    PetscCall(KSPIDRSRun_Private(ksp, r, v, work));
    PetscCall(KSPIDRSVerify_Private(ksp, r, work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
