/*
  Small problems on several GPUs, with a diagonal preconditioner: one kernel makes many steps of the whole problem in less time than two GPUs need to exchange
  the values and sums of one step. The matrix that it reads is gathered by diagonals.
*/
#include "dcgimpl.h"
#include "kernels/dia.h"
#include "kernels/vec.h"
#include "mat/dia.h"

PetscErrorCode KSPDCGSmallFree(KSPDCGWhole *whole)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&whole->dinv));
  PetscCall(PolderWholeDiaDestroy(&whole->diagonals));
  whole->dia    = NULL;
  whole->jacobi = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the settings and sizes, which all processes have alike, allow one kernel for all rows? */
static PetscErrorCode KSPDCGSmallFits_Private(KSP ksp, Mat A, PetscBool *fits)
{
  KSP_DCG     *dcg = (KSP_DCG *)ksp->data;
  MatNullSpace attached;
  PetscBool    constant = PETSC_TRUE;
  PetscInt     N, nvec = 0;
  PetscMPIInt  size;

  PetscFunctionBegin;
  *fits = PETSC_FALSE;
  if (dcg->cg.flexible || (ksp->normtype != KSP_NORM_UNPRECONDITIONED && ksp->normtype != KSP_NORM_NONE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNullSpace(A, &attached));
  if (attached) PetscCall(MatNullSpaceGetVecs(attached, &constant, &nvec, NULL));
  if (!constant || nvec) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(MatGetSize(A, &N, NULL));
  *fits = (PetscBool)(dcg->whole.least < 0 || N / size < dcg->whole.least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are the rows and vectors of this process on the device? A process without rows has no part in that */
static PetscErrorCode KSPDCGSmallHere_Private(KSP ksp, Mat A, PetscBool *here)
{
  const PolderDia *dia = NULL;
  PetscInt         m, N;

  PetscFunctionBegin;
  PetscCall(KSPDCGWholeHere(ksp, A, here));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  if (ksp->reason == KSP_DIVERGED_PC_FAILED || N > (PetscInt)PolderWorkSize(PolderCGSmallMost_CUDA())) *here = PETSC_FALSE;
  if (!*here) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceDia(A, &dia));
  *here = (PetscBool)(!m || (dia && dia->nd <= POLDER_CGSMALL_DIAGONALS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_DCGSmall(Mat A, Vec x, Vec y)
{
  KSP                ksp;
  const PetscScalar *xa;
  PetscScalar       *ya;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &ksp));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PolderVecGetDeviceWrite(y, &ya));
  PolderLaunch(PolderDiaMult_CUDA(((KSP_DCG *)ksp->data)->whole.dia, 1.0, xa, NULL, ya, NULL, NULL, stream));
  PetscCall(PolderVecRestoreDeviceWrite(y, &ya));
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatResidual_DCGSmall(Mat A, Vec b, Vec x, Vec r)
{
  KSP                ksp;
  const PetscScalar *xa, *ba;
  PetscScalar       *ra;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &ksp));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PolderVecGetDeviceRead(b, &ba));
  PetscCall(PolderVecGetDeviceWrite(r, &ra));
  PolderLaunch(PolderDiaMult_CUDA(((KSP_DCG *)ksp->data)->whole.dia, -1.0, xa, ba, ra, NULL, NULL, stream));
  PetscCall(PolderVecRestoreDeviceWrite(r, &ra));
  PetscCall(PolderVecRestoreDeviceRead(b, &ba));
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_DCGSmall(PC pc, Vec r, Vec z)
{
  KSP          ksp;
  KSPDCGWhole *whole;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &ksp));
  whole = &((KSP_DCG *)ksp->data)->whole;
  if (whole->jacobi) PetscCall(VecPointwiseMult(z, whole->dinv, r));
  else PetscCall(VecCopy(r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* See PolderPCFused; v = x, r, z, p, w, of which z and w are not used */
static PetscErrorCode PCSteps_DCGSmall(PC pc, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done)
{
  KSP                ksp;
  KSPDCGWhole       *whole;
  PolderCGVectors    at = {0};
  PolderCGReduction  to = {.state = state};
  const PetscScalar *da = NULL;
  PolderStream       stream;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  if (!count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCShellGetContext(pc, &ksp));
  whole = &((KSP_DCG *)ksp->data)->whole;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&to.work));
  if (whole->jacobi) PetscCall(PolderVecGetDeviceRead(whole->dinv, &da));
  PetscCall(PolderVecGetDeviceArray(v[0], &at.x));
  PetscCall(PolderVecGetDeviceArray(v[1], &at.r));
  PetscCall(PolderVecGetDeviceArray(v[3], &at.p));
  if (prepare) PolderLaunch(PolderCGRho_CUDA(whole->dia->n, at.r, at.r, da, first, &to, stream));
  PolderLaunch(PolderCGSmall_CUDA(whole->dia, da, first, count, &at, state, to.work, stream));
  PetscCall(PolderVecRestoreDeviceArray(v[3], &at.p));
  PetscCall(PolderVecRestoreDeviceArray(v[1], &at.r));
  PetscCall(PolderVecRestoreDeviceArray(v[0], &at.x));
  if (whole->jacobi) PetscCall(PolderVecRestoreDeviceRead(whole->dinv, &da));
  PetscCall(PetscLogGpuFlops((15.0 + 2.0 * whole->dia->nd) * count * whole->dia->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGetFused_DCGSmall(PC pc, const PolderPCFused **fused)
{
  static const PolderPCFused offer = {.brief = PETSC_TRUE, .steps = PCSteps_DCGSmall};

  PetscFunctionBegin;
  (void)pc;
  *fused = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrix, preconditioner and vectors of all rows */
static PetscErrorCode KSPDCGSmallCreate_Private(KSP ksp)
{
  KSPDCGWhole   *whole = &((KSP_DCG *)ksp->data)->whole;
  const PetscInt N     = PolderReplicaSize(whole->replica);

  PetscFunctionBegin;
  PetscCall(KSPDCGWholeCreateVecs(whole));
  PetscCall(PolderVecDuplicate(whole->b, &whole->dinv));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, N, N, N, N, ksp, &whole->A));
  PetscCall(MatShellSetOperation(whole->A, MATOP_MULT, (void (*)(void))MatMult_DCGSmall));
  PetscCall(MatShellSetOperation(whole->A, MATOP_RESIDUAL, (void (*)(void))MatResidual_DCGSmall));
  PetscCall(PCCreate(PETSC_COMM_SELF, &whole->pc));
  PetscCall(PCSetOperators(whole->pc, whole->A, whole->A));
  PetscCall(PCSetType(whole->pc, PCSHELL));
  PetscCall(PCShellSetContext(whole->pc, ksp));
  PetscCall(PCShellSetApply(whole->pc, PCApply_DCGSmall));
  PetscCall(PetscObjectComposeFunction((PetscObject)whole->pc, POLDER_PC_GET_FUSED, PCGetFused_DCGSmall));
  PetscCall(PCSetUp(whole->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGSmallSetUp(KSP ksp, Mat A, PetscBool *done)
{
  KSPDCGWhole   *whole = &((KSP_DCG *)ksp->data)->whole;
  PolderWholeDia now;
  PetscBool      here;

  PetscFunctionBegin;
  PetscCall(KSPDCGSmallFits_Private(ksp, A, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (whole->matrix) PetscCall(KSPDCGWholeFree(ksp)); // of another preconditioner
  PetscCall(KSPDCGSmallHere_Private(ksp, A, &here));
  PetscCall(PolderMatGetWholeDia(A, here, &now));
  *done = (PetscBool)(now != NULL);
  if (now && now == whole->diagonals) {
    PetscCall(PolderWholeDiaDestroy(&now));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPDCGWholeFree(ksp));
  if (now) {
    whole->diagonals = now;
    whole->replica   = PolderWholeDiaReplica(now);
    whole->dia       = PolderWholeDiaOf(now);
    PetscCall(KSPDCGSmallCreate_Private(ksp)); // while the values are gathered
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whole->dinv <- what jacobi multiplies by. Where that is the inverse diagonal of the matrix, each process has it without an exchange */
static PetscErrorCode KSPDCGSmallDinv_Private(KSP ksp, Mat A)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;
  Mat          pmat;
  PCJacobiType type;
  PetscBool    abs, fix;
  PolderStream stream;
  PetscScalar *dinv;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, NULL, &pmat));
  PetscCall(PCJacobiGetType(ksp->pc, &type));
  PetscCall(PCJacobiGetUseAbs(ksp->pc, &abs));
  PetscCall(PCJacobiGetFixDiagonal(ksp->pc, &fix));
  if (pmat == A && type == PC_JACOBI_DIAGONAL && !abs && whole->dia->main >= 0) {
    PetscCall(PolderDeviceGetStream(&stream));
    PetscCall(PolderVecGetDeviceWrite(whole->dinv, &dinv));
    PolderLaunch(PolderReciprocal_CUDA(whole->dia->m, fix ? 1 : 0, whole->dia->val[whole->dia->main], dinv, stream));
    PetscCall(PolderVecRestoreDeviceWrite(whole->dinv, &dinv));
  } else {
    if (!ksp->work) PetscCall(PolderKSPSetWorkVecs(ksp, POLDER_CG_WORKVECS, NULL));
    PetscCall(VecSet(ksp->work[1], 1.0));
    PetscCall(PCApply(ksp->pc, ksp->work[1], ksp->work[2]));
    PetscCall(KSPDCGWholeGather(whole, ksp->work[2], whole->dinv));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGSmallBegin(KSP ksp, Mat A)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;
  MatNullSpace attached, constant;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &whole->jacobi));
  if (whole->jacobi) PetscCall(KSPDCGSmallDinv_Private(ksp, A));
  PetscCall(MatGetNullSpace(A, &attached));
  PetscCall(MatSetNullSpace(whole->A, NULL));
  if (!attached) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &constant));
  PetscCall(MatSetNullSpace(whole->A, constant));
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}
