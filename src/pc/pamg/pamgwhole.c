/*
  Pairwise-aggregation multigrid: small matrices on several GPUs. Each process has all rows on its GPU, and a PC of its own for them. A solver that gathers its
  vectors asks for that PC; for others each apply gathers r.
*/
#include "pamgimpl.h"
#include "core/refusal.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/*
  Up to so many rows of all processes. On two H200 that store into each other's memory set-up and solve of Poisson's equation take 2.7 ms with all rows on each
  and 3.3 ms in parts at 64^3, 4.1 and 4.6 ms at 112^3 (1.4 million rows), 6.0 and 4.7 ms at 128^3 (2.1 million), on four 4.5 and 4.6, 4.9 and 4.5 ms for
  the last two: the coarse levels do nothing but exchange, but the whole matrix has to be gathered
*/
#define PAMG_WHOLE 1800000

PetscErrorCode PCPAMGWholeFree(PC_PAMG *pamg)
{
  PamgWhole *whole = &pamg->whole;

  PetscFunctionBegin;
  PetscCall(PolderWholeDestroy(&whole->matrix));
  PetscCall(PCDestroy(&whole->alone));
  PetscCall(VecDestroy(&whole->r));
  PetscCall(VecDestroy(&whole->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The PC of this process, with the options of the parallel one, which tells the user what there is to tell */
static PetscErrorCode PamgCreateAlone(PC pc)
{
  PC_PAMG    *pamg  = (PC_PAMG *)pc->data, *own;
  PamgWhole  *whole = &pamg->whole;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, &whole->alone));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)whole->alone, (PetscObject)pc, 0));
  PetscCall(PCSetType(whole->alone, PCPAMG));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(whole->alone, prefix));
  PetscCall(PolderRefuseQuietly((PetscObject)whole->alone));
  own = (PC_PAMG *)whole->alone->data;
  PetscCall(PetscMemcpy(own, pamg, offsetof(PC_PAMG, place)));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(own->warned); ++k) own->warned[k] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *done = PETSC_FALSE: on some process the matrix is refused, which the set-up in parts tells better, or its levels would be on the host */
static PetscErrorCode PamgSetUpAlone(PC pc, PetscBool *done)
{
  PC_PAMG       *pamg  = (PC_PAMG *)pc->data, *own;
  PamgWhole     *whole = &pamg->whole;
  const Mat      A     = PolderWholeMat(whole->matrix);
  PetscMPIInt    why[2];
  PCFailedReason reason;

  PetscFunctionBegin;
  if (!whole->alone) PetscCall(PamgCreateAlone(pc));
  own        = (PC_PAMG *)whole->alone->data;
  own->reuse = pamg->reuse;
  PetscCall(PCSetReusePreconditioner(whole->alone, PETSC_FALSE));
  PetscCall(PCSetOperators(whole->alone, A, A));
  PetscCall(PCSetUp(whole->alone));
  PetscCall(PCSetReusePreconditioner(whole->alone, PETSC_TRUE)); // the parallel PC decides when there is another set-up
  PetscCall(PCGetFailedReason(whole->alone, &reason));
  why[0] = reason != PC_NOERROR;
  why[1] = !reason && !own->place->device;
  PetscCallAllreduce(MPI_IN_PLACE, why, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)); // the solver of the last level may fail on one process only
  whole->unsuited = (PetscBool)(!why[0] && why[1]);
  pamg->symmetric = own->symmetric;
  *done           = (PetscBool)(!why[0] && !why[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PamgFollow() compares */
static PetscErrorCode PamgWholeKeys(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;
  MatType  type;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &pamg->keys.mat));
  PetscCall(MatGetNonzeroState(pc->pmat, &pamg->keys.nonzerostate));
  PetscCall(MatGetType(pc->pmat, &type));
  PetscCall(PetscStrncpy(pamg->keys.type, type, sizeof(pamg->keys.type)));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &pamg->whole.state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGWholeSetUp(PC pc, PetscBool *done)
{
  PC_PAMG   *pamg  = (PC_PAMG *)pc->data;
  PamgWhole *whole = &pamg->whole;
  PetscBool  wants = PETSC_FALSE;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (pamg->matching != PAMG_GREEDY && !whole->unsuited) PetscCall(PolderMatWantsWhole(pc->pmat, PAMG_WHOLE, &wants));
  PetscCall(PolderWholeDestroy(&whole->matrix));
  if (wants) PetscCall(PolderMatGetWhole(pc->pmat, &whole->matrix));
  if (whole->matrix) PetscCall(PamgSetUpAlone(pc, done));
  if (!*done) PetscCall(PCPAMGWholeFree(pamg));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGFree(pamg)); // the levels of a set-up in parts
  PetscCall(PamgWholeKeys(pc));
  PetscCall(PetscInfo(pc, "%" PetscInt_FMT " rows in all: each process has the whole matrix on its GPU\n", pc->pmat->rmap->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGWholeFollow(PC pc, PetscBool *holds)
{
  PamgWhole       *whole = &((PC_PAMG *)pc->data)->whole;
  PolderWhole      now;
  PetscObjectState state;

  PetscFunctionBegin;
  *holds = PETSC_TRUE;
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  if (!whole->alone || state == whole->state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetWhole(pc->pmat, &now));
  *holds       = (PetscBool)(now == whole->matrix);
  whole->state = state;
  PetscCall(PolderWholeDestroy(&now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGWholeApply(PC pc, Vec r, Vec z)
{
  PamgWhole          *whole   = &((PC_PAMG *)pc->data)->whole;
  const PolderReplica replica = PolderWholeReplica(whole->matrix);
  PetscScalar        *standin = NULL, *to;
  const PetscScalar  *from;

  PetscFunctionBegin;
  if (!whole->r) {
    PetscCall(MatCreateVecs(PolderWholeMat(whole->matrix), &whole->r, NULL));
    PetscCall(PolderVecDuplicate(whole->r, &whole->z));
  }
  PetscCall(PolderPlaceVecGetRead(&PolderOnDevice, r, &standin, &from));
  PetscCall(PolderVecGetDeviceWrite(whole->r, &to));
  PetscCall(PolderReplicaGather(replica, from, to));
  PetscCall(PolderVecRestoreDeviceWrite(whole->r, &to));
  PetscCall(PolderPlaceVecRestoreRead(&PolderOnDevice, r, standin, &from));
  PetscCall(PolderDeviceFree(&standin));
  PetscCall(PCApply(whole->alone, whole->r, whole->z));
  PetscCall(PolderVecGetDeviceRead(whole->z, &from));
  PetscCall(PolderPlaceVecGet(&PolderOnDevice, z, &standin, &to));
  PetscCall(PolderReplicaTake(replica, from, to));
  PetscCall(PolderPlaceVecRestore(&PolderOnDevice, z, standin, &to));
  PetscCall(PolderVecRestoreDeviceRead(whole->z, &from));
  PetscCall(PolderDeviceFree(&standin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGWholeView(PC pc, PetscViewer viewer)
{
  PamgWhole  *whole = &((PC_PAMG *)pc->data)->whole;
  PetscViewer own;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  the whole matrix on the GPU of each process; values between processes: %s\n",
                                   PolderReplicaTransport(PolderWholeReplica(whole->matrix))));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &own));
  if (!rank) PetscCall((*whole->alone->ops->view)(whole->alone, own));
  PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &own));
  PetscFunctionReturn(PETSC_SUCCESS);
}
