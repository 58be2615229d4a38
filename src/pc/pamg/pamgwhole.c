/*
  Pairwise-aggregation multigrid: small matrices on several GPUs. Each process has all rows on its GPU, and a PC of its own for them. A solver that gathers its
  vectors asks for that PC; for others each apply gathers r.
*/
#include "pamgimpl.h"
#include "deflation/deflationlabels.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* Up to so many where the order of the rows has nothing to do with the graph: each product then exchanges as much as a gather, and the hosts would move rows */
#define PAMG_WHOLE_SCATTERED 20000000

PetscErrorCode PCPAMGWholeFree(PC_PAMG *pamg)
{
  PamgWhole *whole = &pamg->whole;

  PetscFunctionBegin;
  PetscCall(PolderWholeDestroy(&whole->matrix));
  PetscCall(PCPAMGFreeInner(&whole->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *done = PETSC_FALSE: on some process the matrix is refused, which the set-up in parts tells better, or its levels would be on the host */
static PetscErrorCode PamgSetUpWhole(PC pc, PetscBool *done)
{
  PamgWhole  *whole = &((PC_PAMG *)pc->data)->whole;
  PetscBool   failed;
  PetscMPIInt host;

  PetscFunctionBegin;
  PetscCall(PCPAMGSetUpInner(pc, PolderWholeMat(whole->matrix), NULL, PETSC_FALSE, &whole->inner.pc, &failed));
  host = !((const PC_PAMG *)PamgWithLevels(whole->inner.pc)->data)->place->device;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &host, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  whole->unsuited = (PetscBool)(!failed && host);
  *done           = (PetscBool)(!failed && !host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgWantsWhole(PC pc, PetscBool *wants)
{
  const PC_PAMG *pamg = (const PC_PAMG *)pc->data;
  PetscReal      outside;

  PetscFunctionBegin;
  *wants = PETSC_FALSE;
  if (pamg->matching == PAMG_GREEDY || pamg->whole.unsuited) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatWantsWhole(pc->pmat, PAMG_WHOLE, wants));
  if (*wants || !pamg->wantrepartition) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatWantsWhole(pc->pmat, PAMG_WHOLE_SCATTERED, wants));
  if (!*wants) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatShareOutside(pc->pmat, &outside));
  *wants = (PetscBool)(outside > POLDER_SCATTERED);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGWholeSetUp(PC pc, PetscBool *done)
{
  PC_PAMG   *pamg  = (PC_PAMG *)pc->data;
  PamgWhole *whole = &pamg->whole;
  PetscBool  wants;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PamgWantsWhole(pc, &wants));
  PetscCall(PolderWholeDestroy(&whole->matrix));
  if (wants) PetscCall(PolderMatGetWhole(pc->pmat, &whole->matrix));
  if (whole->matrix) PetscCall(PamgSetUpWhole(pc, done));
  if (!*done) PetscCall(PCPAMGWholeFree(pamg));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGFree(pamg)); // the levels of a set-up in parts
  PetscCall(PCPAMGInnerKeys(pc));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &whole->state));
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
  if (!whole->inner.pc || state == whole->state) PetscFunctionReturn(PETSC_SUCCESS);
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
  if (!whole->inner.r) {
    PetscCall(MatCreateVecs(PolderWholeMat(whole->matrix), &whole->inner.r, NULL));
    PetscCall(PolderVecDuplicate(whole->inner.r, &whole->inner.z));
  }
  PetscCall(PolderPlaceVecGetRead(&PolderOnDevice, r, &standin, &from));
  PetscCall(PolderVecGetDeviceWrite(whole->inner.r, &to));
  PetscCall(PolderReplicaGather(replica, from, to));
  PetscCall(PolderVecRestoreDeviceWrite(whole->inner.r, &to));
  PetscCall(PolderPlaceVecRestoreRead(&PolderOnDevice, r, standin, &from));
  PetscCall(PolderDeviceFree(&standin));
  PetscCall(PCApply(whole->inner.pc, whole->inner.r, whole->inner.z));
  PetscCall(PolderVecGetDeviceRead(whole->inner.z, &from));
  PetscCall(PolderPlaceVecGet(&PolderOnDevice, z, &standin, &to));
  PetscCall(PolderReplicaTake(replica, from, to));
  PetscCall(PolderPlaceVecRestore(&PolderOnDevice, z, standin, &to));
  PetscCall(PolderVecRestoreDeviceRead(whole->inner.z, &from));
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
  if (!rank) PetscCall((*whole->inner.pc->ops->view)(whole->inner.pc, own));
  PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &own));
  PetscFunctionReturn(PETSC_SUCCESS);
}
