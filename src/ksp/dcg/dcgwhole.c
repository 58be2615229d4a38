/*
  Small problems on several GPUs: where one GPU takes less time than several need for their exchanges, each process gathers the matrix and the vectors, solves
  all of it, and takes its own rows of the solution. The bits are those of one process. The matrix and the preconditioner of all rows are those of dcgsmall.c,
  or those that the preconditioner of the KSP offers.
*/
#include "dcgimpl.h"
#include "core/methods.h"
#include "core/peers.h"

/* Vectors that the solver keeps for a system of another size */
static PetscErrorCode KSPDCGWholeForget_Private(KSP ksp)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&cg->correction));
  PetscCall(VecDestroy(&cg->built));
  PetscCall(VecDestroy(&cg->v));
  PetscCall(PolderCGDeviceDestroy(&cg->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGWholeFree(KSP ksp)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;

  PetscFunctionBegin;
  if (whole->on) PetscCall(KSPDCGWholeForget_Private(ksp));
  whole->on      = PETSC_FALSE;
  whole->replica = NULL;
  PetscCall(PolderWholeDestroy(&whole->matrix));
  PetscCall(MatDestroy(&whole->A));
  PetscCall(PCDestroy(&whole->pc));
  PetscCall(VecDestroy(&whole->b));
  PetscCall(VecDestroy(&whole->x));
  PetscCall(VecDestroy(&whole->residual));
  PetscCall(VecDestroyVecs(whole->nwork, &whole->work));
  whole->nwork = 0;
  PetscCall(KSPDCGSmallFree(whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGWholeCreateVecs(KSPDCGWhole *whole)
{
  const PetscInt N = PolderReplicaSize(whole->replica);
  PetscLayout    layout;

  PetscFunctionBegin;
  PetscCall(PetscLayoutCreateFromSizes(PETSC_COMM_SELF, N, N, 1, &layout));
  PetscCall(PolderVecCreate(PETSC_COMM_SELF, layout, POLDER_VEC_DEVICE, &whole->b));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PolderVecDuplicate(whole->b, &whole->x));
  PetscCall(PolderVecDuplicate(whole->b, &whole->residual));
  PetscCall(PolderVecDuplicateVecs(whole->b, POLDER_CG_WORKVECS, &whole->work));
  whole->nwork = POLDER_CG_WORKVECS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGWholeHere(KSP ksp, Mat A, PetscBool *here)
{
  const Vec v[] = {ksp->vec_rhs, ksp->vec_sol};

  PetscFunctionBegin;
  PetscCall(PolderMatIsAIJ(A, here));
  for (int k = 0; k < 2 && *here; ++k) {
    if (v[k]) PetscCall(PolderVecOnDevice(v[k], here));
    else PetscCall(PolderMatVecsOnDevice(A, here));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where each process has all of the preconditioner, it gets all of the matrix, too */
static PetscErrorCode KSPDCGWholeSetUpAlone_Private(KSP ksp, Mat A, PetscBool *done)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;
  PolderWhole  now   = NULL;
  PC           alone = NULL;
  PetscBool    here  = PETSC_FALSE;
  PetscMPIInt  all   = 0;

  PetscFunctionBegin;
  PetscCall(PCSetErrorIfFailure(ksp->pc, ksp->errorifnotconverged)); // as KSPSetUp() does
  PetscTryMethod(ksp->pc, POLDER_PC_GET_ALONE, (PC, PC *), (ksp->pc, &alone));
  if (alone) {
    PetscCall(KSPDCGWholeHere(ksp, A, &here));
    all = here;
    PetscCallAllreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)ksp));
  }
  if (all) PetscCall(PolderMatGetWhole(A, &now));
  if (!now || whole->A != PolderWholeMat(now)) PetscCall(KSPDCGWholeFree(ksp));
  *done = (PetscBool)(now != NULL);
  if (!now) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderWholeDestroy(&whole->matrix));
  whole->matrix  = now;
  whole->replica = PolderWholeReplica(now);
  if (!whole->b) PetscCall(KSPDCGWholeCreateVecs(whole));
  PetscCall(PetscObjectReference((PetscObject)PolderWholeMat(now)));
  PetscCall(MatDestroy(&whole->A));
  whole->A = PolderWholeMat(now);
  PetscCall(PetscObjectReference((PetscObject)alone));
  PetscCall(PCDestroy(&whole->pc));
  whole->pc = alone;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGWholeSetUp(KSP ksp, Mat A, PetscBool *done)
{
  KSP_DCG    *dcg  = (KSP_DCG *)ksp->data;
  MPI_Comm    comm = PetscObjectComm((PetscObject)ksp);
  PetscBool   diagonal;
  PetscMPIInt size;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1 || size > POLDER_PEERS_MOST || dcg->cg.reductions == 1 || dcg->cg.space->d || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPeersGetLeastRows(comm, &dcg->whole.least));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, &diagonal, PCNONE, PCJACOBI, ""));
  if (diagonal) PetscCall(KSPDCGSmallSetUp(ksp, A, done));
  else PetscCall(KSPDCGWholeSetUpAlone_Private(ksp, A, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGWholeGather(KSPDCGWhole *whole, Vec own, Vec all)
{
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  PetscCall(PolderVecGetDeviceRead(own, &from));
  PetscCall(PolderVecGetDeviceWrite(all, &to));
  PetscCall(PolderReplicaGather(whole->replica, from, to));
  PetscCall(PolderVecRestoreDeviceWrite(all, &to));
  PetscCall(PolderVecRestoreDeviceRead(own, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDCGWholeTake_Private(KSPDCGWhole *whole, Vec all, Vec own)
{
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  PetscCall(PolderVecGetDeviceRead(all, &from));
  PetscCall(PolderVecGetDeviceWrite(own, &to));
  PetscCall(PolderReplicaTake(whole->replica, from, to));
  PetscCall(PolderVecRestoreDeviceWrite(own, &to));
  PetscCall(PolderVecRestoreDeviceRead(all, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* See PolderCG.trueresidual: of all rows, with the solution of the KSP brought up to date */
static PetscErrorCode KSPDCGWholeResidual_Private(KSP ksp, Vec x, Vec r, PetscReal *norm)
{
  KSP_DCG     *dcg   = (KSP_DCG *)ksp->data;
  KSPDCGWhole *whole = &dcg->whole;

  PetscFunctionBegin;
  if (x) {
    PetscCall(KSPDCGWholeTake_Private(whole, x, ksp->vec_sol));
    PetscCall(PetscObjectStateGet((PetscObject)x, &whole->taken));
    PetscCall(PolderCGMatResidual(ksp, whole->A, whole->b, x, whole->residual));
    PetscCall(PolderVecNorm(whole->residual, norm));
  }
  if (r) PetscCall(VecCopy(whole->residual, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void KSPDCGWholeSwap_Private(KSP ksp)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;
  Vec         *work  = ksp->work;
  PetscInt     nwork = ksp->nwork;

  ksp->work    = whole->work;
  ksp->nwork   = whole->nwork;
  whole->work  = work;
  whole->nwork = nwork;
}

PetscErrorCode KSPDCGWholeBegin(KSP ksp)
{
  KSP_DCG     *dcg   = (KSP_DCG *)ksp->data;
  PolderCG    *cg    = &dcg->cg;
  KSPDCGWhole *whole = &dcg->whole;
  PetscBool    on;

  PetscFunctionBegin;
  PetscCall(KSPDCGWholeSetUp(ksp, cg->A, &on));
  if (on != whole->on) PetscCall(KSPDCGWholeForget_Private(ksp));
  whole->on        = on;
  whole->taken     = 0;
  cg->trueresidual = on ? KSPDCGWholeResidual_Private : NULL;
  if (!on) {
    if (!ksp->work) PetscCall(PolderKSPSetWorkVecs(ksp, POLDER_CG_WORKVECS, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!whole->matrix) PetscCall(KSPDCGSmallBegin(ksp, cg->A));
  PetscCall(KSPDCGWholeGather(whole, ksp->vec_rhs, whole->b));
  if (ksp->guess_zero) PetscCall(VecZeroEntries(whole->x));
  else PetscCall(KSPDCGWholeGather(whole, ksp->vec_sol, whole->x));
  cg->A  = whole->A;
  cg->pc = whole->pc;
  cg->b  = whole->b;
  cg->x  = whole->x;
  KSPDCGWholeSwap_Private(ksp);
  PetscCall(PetscInfo(ksp, "%" PetscInt_FMT " rows in all: each process solves the whole problem on its GPU\n", PolderReplicaSize(whole->replica)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGWholeEnd(KSP ksp)
{
  KSPDCGWhole     *whole = &((KSP_DCG *)ksp->data)->whole;
  PetscObjectState state;

  PetscFunctionBegin;
  if (!whole->on) PetscFunctionReturn(PETSC_SUCCESS);
  KSPDCGWholeSwap_Private(ksp);
  PetscCall(PetscObjectStateGet((PetscObject)whole->x, &state));
  if (state != whole->taken) PetscCall(KSPDCGWholeTake_Private(whole, whole->x, ksp->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGWholeView(KSP ksp, PetscViewer viewer)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;
  char         why[64];

  PetscFunctionBegin;
  if (!whole->on) PetscFunctionReturn(PETSC_SUCCESS);
  if (whole->least < 0)
    PetscCall(
      PetscSNPrintf(why, sizeof(why), "%" PetscInt_FMT " rows are few enough for one %s", PolderReplicaSize(whole->replica), whole->matrix ? "GPU" : "kernel"));
  else PetscCall(PetscSNPrintf(why, sizeof(why), "fewer than %" PetscInt_FMT " rows a GPU", whole->least));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  the whole problem on the GPU of each process: %s; values between processes: %s\n", why,
                                   PolderReplicaTransport(whole->replica)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGWholeBuildSolution(KSP ksp, Vec v, Vec *V)
{
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  PolderCG *cg  = &dcg->cg;
  Vec       x   = cg->x;

  PetscFunctionBegin;
  PetscCall((*cg->steps->finish)(ksp));
  if (cg->sol != cg->x) {
    if (!cg->built) PetscCall(VecDuplicate(cg->x, &cg->built));
    x = cg->built;
    PetscCall(VecWAXPY(x, 1.0, cg->sol, cg->x));
  }
  if (!v) v = ksp->vec_sol;
  dcg->whole.taken = 0;
  PetscCall(KSPDCGWholeTake_Private(&dcg->whole, x, v));
  if (V) *V = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}
