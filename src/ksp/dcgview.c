/* What dcg tells its user: view, converged reason, Ritz values, rounding bound. */
#include "dcg.h"
#include "../refusal.h"
#include "../kernels/kernels.h"
#include <petscblaslapack.h>

/* y: in length || |A| |x| ||, from the norm of A by a few steps of the power method */
static PetscErrorCode PolderMatNormTimes_Private(Mat A, Vec x, Vec y)
{
  Vec       v;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &v));
  PetscCall(VecSetRandom(v, NULL));
  for (PetscInt k = 0; k < 8; ++k) {
    PetscCall(VecNormalize(v, NULL));
    PetscCall(MatMult(A, v, y));
    PetscCall(VecCopy(y, v));
  }
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecScale(y, norm));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = |A| |x| for an AIJ matrix */
static PetscErrorCode PolderMatMagnitude_Private(Mat A, Vec x, Vec y)
{
  const PetscScalar *xa;
  PetscScalar       *ya, *ghost;
  PolderHalo         halo;
  PolderCSR          csr;

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderMatGetCSR(A, &csr));
  PetscCall(PetscMalloc1(csr.nghost, &ghost));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(PolderHaloExchange(halo, MPIU_SCALAR, xa, ghost));
  PetscCall(VecGetArrayWrite(y, &ya));
  PolderCsrMagnitude_Host(csr.m, csr.ai, csr.aj, csr.aa, xa, PETSC_FALSE, ya);
  if (csr.bi) PolderCsrMagnitude_Host(csr.m, csr.bi, csr.bj, csr.ba, ghost, PETSC_TRUE, ya);
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(PetscFree(ghost));
  PetscCall(PolderMatRestoreCSR(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on the device, where A and x are there */
static PetscErrorCode PolderMatMagnitudeDevice_Private(Mat A, Vec x, Vec y, PetscBool *done)
{
  const PetscScalar *xa;
  PetscScalar       *ya, *ghost = NULL;
  PolderHalo         halo;
  PolderCSR          csr;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(x, done));
  if (*done) PetscCall(PolderMatGetDeviceCSR(A, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*ghost) * (size_t)csr.nghost, &ghost));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PolderVecGetDeviceWrite(y, &ya));
  PetscCall(PolderHaloBeginDevice(halo, MPIU_SCALAR, xa, ghost));
  PolderLaunch(PolderCsrMagnitude_CUDA(csr.m, csr.ai, csr.aj, csr.aa, xa, PETSC_FALSE, ya, stream));
  PetscCall(PolderHaloEndDevice(halo, MPIU_SCALAR, xa, ghost));
  if (csr.bi) PolderLaunch(PolderCsrMagnitude_CUDA(csr.m, csr.bi, csr.bj, csr.ba, ghost, PETSC_TRUE, ya, stream));
  PetscCall(PolderVecRestoreDeviceWrite(y, &ya));
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscCall(PolderDeviceFree(&ghost));
  PetscCall(PolderMatRestoreDeviceCSR(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ||eps |A| |x| || with the unit roundoff eps; for matrices whose entries cannot be read, of diag(A) twice, its size for diagonally dominant ones, or else of ||A|| */
PetscErrorCode PolderMatRoundingBound(Mat A, Vec x, PetscReal *bound)
{
  Vec       y;
  PetscBool aij, diagonal, device;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(MatHasOperation(A, MATOP_GET_DIAGONAL, &diagonal));
  PetscCall(PolderMatIsAIJ(A, &aij));
  if (aij) {
    PetscCall(PolderMatMagnitudeDevice_Private(A, x, y, &device));
    if (!device) PetscCall(PolderMatMagnitude_Private(A, x, y));
  } else if (!diagonal) PetscCall(PolderMatNormTimes_Private(A, x, y));
  else {
    PetscCall(MatGetDiagonal(A, y));
    PetscCall(VecPointwiseMult(y, y, x));
    PetscCall(VecScale(y, 2.0));
  }
  PetscCall(VecNorm(y, NORM_2, bound));
  *bound *= PETSC_MACHINE_EPSILON / 2;
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDCGViewFloor_Private(KSP_DCG *dcg, PetscViewer viewer)
{
  const PetscReal scale = dcg->bnorm > 0 ? dcg->bnorm : 1;
  const char     *of    = dcg->bnorm > 0 ? " of b" : " (b is zero)";

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  stopped at the floor of double precision: true residual %.2e%s, rounding x alone leaves up to eps |A||x| = %.2e%s\n", (double)(dcg->residual / scale), of, (double)(dcg->bound / scale), of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this before its own line of -ksp_converged_reason, wanted or not */
PetscErrorCode KSPDCGConvergedReasonView_Private(KSP ksp, void *ctx)
{
  PetscBool         ours, wanted;
  PetscViewer       viewer;
  PetscViewerFormat format;

  PetscFunctionBegin;
  (void)ctx;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &ours, KSPDCG, KSPRRBCG, ""));
  if (!ours || (ksp->reason > 0 && !((KSP_DCG *)ksp->data)->floor)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsCreateViewer(PetscObjectComm((PetscObject)ksp), ((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, "-ksp_converged_reason", &viewer, &format, &wanted));
  if (wanted && viewer) {
    PetscBool ascii;

    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    if (ascii && ksp->reason > 0) PetscCall(KSPDCGViewFloor_Private((KSP_DCG *)ksp->data, viewer));
    if (ascii && ksp->reason < 0) {
      PetscCall(PolderRefusalView((PetscObject)ksp, viewer));
      PetscCall(PolderRefusalView((PetscObject)ksp->pc, viewer));
    }
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGViewLast_Private(KSP ksp, PetscViewer viewer)
{
  KSP_DCG        *dcg   = (KSP_DCG *)ksp->data;
  const PetscReal scale = dcg->bnorm > 0 ? dcg->bnorm : 1;

  PetscFunctionBegin;
  if (dcg->residual >= 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: true residual %.2e%s, %" PetscInt_FMT " restarts from the true residual\n", (double)(dcg->residual / scale), dcg->bnorm > 0 ? " of b" : " (b is zero)", dcg->restarts));
  if (dcg->floor) PetscCall(KSPDCGViewFloor_Private(dcg, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_DCG(KSP ksp, PetscViewer viewer)
{
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (dcg->flexible) PetscCall(PetscViewerASCIIPrintf(viewer, "  flexible\n"));
  if (dcg->device) PetscCall(KSPDCGDeviceView_Private(ksp, viewer));
  PetscCall(PolderRefusalView((PetscObject)ksp, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PolderDeflationSpaceView(dcg->space, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscCall(KSPDCGViewLast_Private(ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  One step of the Lanczos matrix of M^-1 PA (Golub, Van Loan, Matrix Computations, 10.2.6): diagonal 1/alpha + beta/alpha_old, off-diagonal
  sqrt(beta)/alpha_old. A restart begins a new block.
*/
PetscErrorCode KSPDCGAddRitz_Private(KSP ksp, PetscBool first, PetscReal alpha, PetscReal beta, PetscReal alphaold)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  if (dcg->nritz == dcg->maxritz) {
    PetscReal *d, *e;

    dcg->maxritz = 2 * dcg->maxritz + 256;
    PetscCall(PetscMalloc2(dcg->maxritz, &d, dcg->maxritz, &e));
    PetscCall(PetscArraycpy(d, dcg->d, dcg->nritz));
    PetscCall(PetscArraycpy(e, dcg->e, dcg->nritz));
    PetscCall(PetscFree2(dcg->d, dcg->e));
    dcg->d = d;
    dcg->e = e;
  }
  dcg->d[dcg->nritz] = 1 / alpha + (first ? 0 : beta / alphaold);
  if (dcg->nritz) dcg->e[dcg->nritz - 1] = first ? 0 : PetscSqrtReal(PetscMax(beta, 0)) / alphaold;
  dcg->e[dcg->nritz++] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r[0 .. nritz) <- Ritz values in ascending order */
static PetscErrorCode KSPDCGRitz_Private(KSP_DCG *dcg, PetscReal r[])
{
  PetscReal   *e;
  PetscBLASInt n, one = 1, info;

  PetscFunctionBegin;
  if (!dcg->nritz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscBLASIntCast(dcg->nritz, &n));
  PetscCall(PetscMalloc1(n, &e));
  PetscCall(PetscArraycpy(r, dcg->d, n));
  PetscCall(PetscArraycpy(e, dcg->e, n));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCallBLAS("LAPACKsteqr", LAPACKsteqr_("N", &n, r, e, NULL, &one, NULL, &info));
  PetscCall(PetscFPTrapPop());
  PetscCall(PetscFree(e));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK could not compute the Ritz values (steqr returned %d)", (int)info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeEigenvalues_DCG(KSP ksp, PetscInt nmax, PetscReal *r, PetscReal *c, PetscInt *neig)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  PetscCheck(nmax >= dcg->nritz, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " Ritz values, room for %" PetscInt_FMT, dcg->nritz, nmax);
  *neig = dcg->nritz;
  PetscCall(KSPDCGRitz_Private(dcg, r));
  PetscCall(PetscArrayzero(c, dcg->nritz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeExtremeSingularValues_DCG(KSP ksp, PetscReal *emax, PetscReal *emin)
{
  KSP_DCG   *dcg = (KSP_DCG *)ksp->data;
  PetscReal *r;

  PetscFunctionBegin;
  *emax = *emin = 1;
  if (!dcg->nritz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(dcg->nritz, &r));
  PetscCall(KSPDCGRitz_Private(dcg, r));
  *emin = r[0];
  *emax = r[dcg->nritz - 1];
  PetscCall(PetscFree(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
