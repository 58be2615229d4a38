/*
  Truncated Neumann series on several devices: two sweeps over a triangle in one kernel. What other processes need of the sweeps leaves before that kernel, in
  one message, and a second, short kernel corrects the rows that depend on ghost values (kernels/triouter.h). So the exchange takes place during the sweeps.
*/
#include "tnsimpl.h"
#include "kernels/deflation.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PCTNSOuterFree(PC_TNS *tns)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; ++t) {
    PetscCall(PolderDeviceFree(&tns->outer[t].row));
    tns->outer[t] = (TNSOuter){0};
  }
  tns->half = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The triangle for the kernels */
static PolderTriOuter TNSOuterOf(const PC_TNS *tns, const TNSSweep *sweep)
{
  const PolderTriangle *T = &sweep->T;
  PolderTriOuter        O = {.single = T->single, .upper = T->upper, .rank = tns->rank, .m = T->m, .nlow = tns->nlow, .dinv = T->dinv, .ghosts = sweep->ghosts};

  O.nd = T->m ? T->nd : 0;
  for (PetscInt d = 0; d < O.nd; ++d) {
    O.off[d] = T->off[d];
    O.val[d] = T->val[d];
  }
  return O;
}

/* Lists the rows of a triangle that depend on ghost values; *sent is set when other processes need a row with entries in its ghost columns */
static PetscErrorCode PCTNSOuterRows_Private(PC_TNS *tns, const PolderExchange *e, const TNSSweep *sweep, int *sent)
{
  TNSOuter            *outer = &tns->outer[sweep->T.upper];
  const PetscInt       m     = sweep->T.m;
  const size_t         bytes = PolderWorkSize(PolderRowsScanWork_CUDA(m));
  const PolderTriOuter O     = TNSOuterOf(tns, sweep);
  PetscInt            *depends;
  PetscInt64          *scan, last = 0;
  void                *work;

  PetscFunctionBegin;
  PolderLaunch(PolderTriOuterCheck_CUDA(e, &O, sent, sweep->stream));
  PetscCall(PolderDeviceMalloc(sizeof(*depends) * (size_t)m, &depends));
  PetscCall(PolderDeviceMalloc(sizeof(*scan) * (size_t)m, &scan));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderTriOuterReach_CUDA(&O, depends, sweep->stream));
  PolderLaunch(PolderRowsScan_CUDA(m, depends, scan, bytes, work, sweep->stream));
  if (m) PetscCall(PolderDeviceToHost(&last, scan + m - 1, sizeof(last)));
  outer->nrow = (PetscInt)(last >> 32);
  PetscCall(PolderDeviceMalloc(sizeof(*outer->row) * (size_t)outer->nrow, &outer->row));
  PolderLaunch(PolderTriOuterRows_CUDA(m, depends, scan, outer->row, sweep->stream));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PolderDeviceFree(&scan));
  PetscCall(PolderDeviceFree(&depends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSOuterSetUp(PC pc, const PolderDia *dia, const TNSSweep *lower, const TNSSweep *upper)
{
  PC_TNS               *tns      = (PC_TNS *)pc->data;
  MPI_Comm              comm     = PetscObjectComm((PetscObject)pc);
  const TNSSweep *const sweep[2] = {lower, upper};
  const PolderExchange *e        = NULL;
  PetscMPIInt           good[3]; /* lower, upper, half */
  int                  *sent, found[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &tns->rank));
  PetscCall(PolderPeersGet(comm, &tns->peers));
  if (!PolderPeersGetView(tns->peers) || tns->degree < 2) PetscFunctionReturn(PETSC_SUCCESS);
  for (int t = 0; t < 2; ++t)
    good[t] = !tns->m || (dia && dia->main >= 0 && sweep[t]->T.nd <= POLDER_TRI_DIAGONALS && PolderTriPairFits(sweep[t]->T.nd, sweep[t]->T.off));
  good[2] = !tns->m || (dia && dia->half);
  PetscCallAllreduce(MPI_IN_PLACE, good, 3, MPI_INT, MPI_MIN, comm);
  tns->half = (PetscBool)good[2];
  if (!good[0] && !good[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetPairs(tns->halo, PETSC_TRUE, &e));
  PetscCall(PolderDeviceMalloc(sizeof(found), &sent));
  PetscCall(PolderDeviceZero(sent, sizeof(found)));
  for (int t = 0; t < 2 && e; ++t) {
    if (good[t]) PetscCall(PCTNSOuterRows_Private(tns, e, sweep[t], sent + t));
  }
  PetscCall(PolderDeviceToHost(found, sent, sizeof(found)));
  PetscCall(PolderDeviceFree(&sent));
  PetscCallAllreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_MAX, comm);
  for (int t = 0; t < 2; ++t) {
    tns->outer[t].paired = (PetscBool)(good[t] && e);
    tns->outer[t].again  = (PetscBool)found[t];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSOuterSend(PC_TNS *tns, const TNSSweep *sweep, const PetscScalar in[])
{
  const PolderTriOuter  O = TNSOuterOf(tns, sweep);
  const PolderExchange *e;

  PetscFunctionBegin;
  PetscCall(PolderPeersCheck(tns->peers));
  PetscCall(PolderHaloGetPairs(tns->halo, PETSC_FALSE, &e));
  PolderLaunch(PolderTriOuterSend_CUDA(e, &O, in, sweep->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSOuterAdd(PC_TNS *tns, const TNSSweep *sweep, PolderTriKind kind, const PolderCGRho *rho, const PetscScalar in[], PetscScalar z[])
{
  const TNSOuter       *outer = &tns->outer[sweep->T.upper];
  const PolderTriOuter  O     = TNSOuterOf(tns, sweep);
  const PolderRowList   rows  = {outer->nrow, outer->row};
  PolderTriEnd          end   = {.kind = kind, .peers = PolderPeersGetView(tns->peers)};
  const PolderExchange *e;
  void                 *work;

  PetscFunctionBegin;
  if (rho) {
    end.state = rho->state;
    end.first = rho->first;
  }
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderHaloGetPairs(tns->halo, PETSC_FALSE, &e));
  if (outer->again) PolderLaunch(PolderTriOuterResend_CUDA(e, &O, in, sweep->stream));
  PolderLaunch(PolderTriOuterAdd_CUDA(e, &O, rows, &end, z, work, sweep->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
