/* The rows of a process on the device as one matrix, for kernels that know one block of columns. */
#include "joinedrows.h"
#include "kernels/blocks.h"

PetscErrorCode PolderJoinedCreate(Mat A, const PolderCSR *csr, PolderJoined *joined)
{
  PetscMPIInt  size;
  PetscInt     nz[2] = {0, 0};
  PolderStream stream;

  PetscFunctionBegin;
  *joined = (PolderJoined){.m = csr->m, .ai = csr->ai, .aj = csr->aj, .aa = csr->aa};
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetHalo(A, &joined->halo));
  joined->nghost = csr->nghost;
  if (!csr->bi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceToHost(&nz[0], csr->ai + csr->m, sizeof(*nz)));
  PetscCall(PolderDeviceToHost(&nz[1], csr->bi + csr->m, sizeof(*nz)));
  PetscCheck((PetscInt64)nz[0] + nz[1] <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The rows of a process have %" PetscInt_FMT " and %" PetscInt_FMT " entries, too many for deflation on the device: use more processes", nz[0],
             nz[1]);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderPlaceMalloc(&PolderOnDevice, csr->m + 1, &joined->ptr));
  PetscCall(PolderPlaceMalloc(&PolderOnDevice, nz[0] + nz[1], &joined->col));
  PetscCall(PolderPlaceMalloc(&PolderOnDevice, nz[0] + nz[1], &joined->val));
  PolderLaunch(PolderBlocksJoin_CUDA(PolderOwnRows(csr), PolderGhostColumns(csr), joined->ptr, joined->col, joined->val, stream));
  joined->ai = joined->ptr;
  joined->aj = joined->col;
  joined->aa = joined->val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderJoinedDestroy(PolderJoined *joined)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&joined->ptr));
  PetscCall(PolderDeviceFree(&joined->col));
  PetscCall(PolderDeviceFree(&joined->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderJoinedExchange(const PolderJoined *joined, PetscInt all[])
{
  PetscFunctionBegin;
  if (joined->halo) PetscCall(PolderHaloExchangeDevice(joined->halo, MPIU_INT, all, all + joined->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderJoinedValues(const PolderJoined *joined, PetscInt own[], PetscInt **all)
{
  PetscFunctionBegin;
  *all = own;
  if (!joined->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceMalloc(&PolderOnDevice, joined->m + joined->nghost, all));
  PetscCall(PolderDeviceToDevice(*all, own, sizeof(*own) * (size_t)joined->m));
  PetscCall(PolderJoinedExchange(joined, *all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderJoinedRestoreValues(const PolderJoined *joined, PetscInt **all)
{
  PetscFunctionBegin;
  if (joined->halo) PetscCall(PolderDeviceFree(all));
  *all = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
