/* What the user is told of conjugate gradients: how the last solve ended, the converged reason, Ritz values. */
#include "cg.h"
#include "core/refusal.h"
#include <petscblaslapack.h>

static PetscErrorCode PolderCGViewFloor_Private(PolderCG *cg, PetscViewer viewer)
{
  const PetscReal scale = cg->bnorm > 0 ? cg->bnorm : 1;
  const char     *of    = cg->bnorm > 0 ? " of b" : " (b is zero)";

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  stopped at the floor of double precision: true residual %.2e%s, rounding x alone leaves up to eps |A||x| = %.2e%s\n",
                                   (double)(cg->residual / scale), of, (double)(cg->bound / scale), of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this before its own line of -ksp_converged_reason, wanted or not */
PetscErrorCode PolderCGConvergedReasonView(KSP ksp, void *ctx)
{
  PolderCG         *cg = NULL;
  PetscBool         wanted;
  PetscViewer       viewer;
  PetscViewerFormat format;

  PetscFunctionBegin;
  (void)ctx;
  PetscTryMethod(ksp, POLDER_KSP_GET_CG, (KSP, PolderCG **), (ksp, &cg));
  if (!cg || (ksp->reason > 0 && !cg->floor)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsCreateViewer(PetscObjectComm((PetscObject)ksp), ((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, "-ksp_converged_reason",
                                     &viewer, &format, &wanted));
  if (wanted && viewer) {
    PetscBool ascii;

    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    if (ascii && ksp->reason > 0) PetscCall(PolderCGViewFloor_Private(cg, viewer));
    if (ascii && ksp->reason < 0) {
      PetscCall(PolderRefusalView((PetscObject)ksp, viewer));
      PetscCall(PolderRefusalView((PetscObject)ksp->pc, viewer));
    }
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGView(KSP ksp, PetscViewer viewer)
{
  PolderCG       *cg    = (PolderCG *)ksp->data;
  const PetscReal scale = cg->bnorm > 0 ? cg->bnorm : 1;

  PetscFunctionBegin;
  if (cg->residual >= 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: true residual %.2e%s, %" PetscInt_FMT " restarts from the true residual\n",
                                     (double)(cg->residual / scale), cg->bnorm > 0 ? " of b" : " (b is zero)", cg->restarts));
  if (cg->floor) PetscCall(PolderCGViewFloor_Private(cg, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  One step of the Lanczos matrix of M^-1 PA (Golub, Van Loan, Matrix Computations, 10.2.6): diagonal 1/alpha + beta/alpha_old, off-diagonal
  sqrt(beta)/alpha_old. A restart begins a new block.
*/
PetscErrorCode PolderCGAddRitz(KSP ksp, PetscBool first, PetscReal alpha, PetscReal beta, PetscReal alphaold)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  if (cg->nritz == cg->maxritz) {
    PetscReal *d, *e;

    cg->maxritz = 2 * cg->maxritz + 256;
    PetscCall(PetscMalloc2(cg->maxritz, &d, cg->maxritz, &e));
    PetscCall(PetscArraycpy(d, cg->d, cg->nritz));
    PetscCall(PetscArraycpy(e, cg->e, cg->nritz));
    PetscCall(PetscFree2(cg->d, cg->e));
    cg->d = d;
    cg->e = e;
  }
  cg->d[cg->nritz] = 1 / alpha + (first ? 0 : beta / alphaold);
  if (cg->nritz) cg->e[cg->nritz - 1] = first ? 0 : PetscSqrtReal(PetscMax(beta, 0)) / alphaold;
  cg->e[cg->nritz++] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r[0 .. nritz) <- Ritz values in ascending order */
static PetscErrorCode PolderCGRitz_Private(PolderCG *cg, PetscReal r[])
{
  PetscReal   *e;
  PetscBLASInt n, one = 1, info;

  PetscFunctionBegin;
  if (!cg->nritz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscBLASIntCast(cg->nritz, &n));
  PetscCall(PetscMalloc1(n, &e));
  PetscCall(PetscArraycpy(r, cg->d, n));
  PetscCall(PetscArraycpy(e, cg->e, n));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCallBLAS("LAPACKsteqr", LAPACKsteqr_("N", &n, r, e, NULL, &one, NULL, &info));
  PetscCall(PetscFPTrapPop());
  PetscCall(PetscFree(e));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK could not compute the Ritz values (steqr returned %d)", (int)info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGComputeEigenvalues(KSP ksp, PetscInt nmax, PetscReal *r, PetscReal *c, PetscInt *neig)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PetscCheck(nmax >= cg->nritz, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " Ritz values, room for %" PetscInt_FMT,
             cg->nritz, nmax);
  *neig = cg->nritz;
  PetscCall(PolderCGRitz_Private(cg, r));
  PetscCall(PetscArrayzero(c, cg->nritz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGComputeExtremeSingularValues(KSP ksp, PetscReal *emax, PetscReal *emin)
{
  PolderCG  *cg = (PolderCG *)ksp->data;
  PetscReal *r;

  PetscFunctionBegin;
  *emax = *emin = 1;
  if (!cg->nritz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(cg->nritz, &r));
  PetscCall(PolderCGRitz_Private(cg, r));
  *emin = r[0];
  *emax = r[cg->nritz - 1];
  PetscCall(PetscFree(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
