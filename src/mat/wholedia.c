/*
  The diagonals of all rows of a parallel matrix on the GPU of each process. What gathers them depends on the pattern alone and is kept with the matrix, so that
  a second solver for it, or one for new values, only gathers values.
*/
#include "wholedia.h"
#include "aijderived.h"
#include "core/keep.h"
#include "core/peers.h"
#include "dia.h"
#include "kernels/cg.h"
#include "kernels/dia.h"
#include "whole.h"

struct _n_PolderWholeDia {
  PetscInt           refct;
  PolderReplica      replica;
  PolderDia          dia;
  PetscInt           off[POLDER_CGSMALL_DIAGONALS];
  const PetscScalar *val[POLDER_CGSMALL_DIAGONALS];
  PetscScalar       *values; /* on the device: [nd N] */
  PetscInt          *garray; /* on the device */
  PolderWholeStamp   stamp;
};

static const char PolderWholeDiaKey[] = "__Polder_whole_dia";

PetscErrorCode PolderWholeDiaDestroy(PolderWholeDia *whole)
{
  PolderWholeDia old = *whole;

  PetscFunctionBegin;
  *whole = NULL;
  if (!old || --old->refct) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderReplicaDestroy(&old->replica));
  PetscCall(PolderDeviceFree(&old->values));
  PetscCall(PolderDeviceFree(&old->garray));
  PetscCall(PetscFree(old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderDia *PolderWholeDiaOf(PolderWholeDia whole)
{
  return &whole->dia;
}

PolderReplica PolderWholeDiaReplica(PolderWholeDia whole)
{
  return whole->replica;
}

/* Adds an offset to n ascending ones; n = POLDER_CGSMALL_DIAGONALS + 1: too many */
static void WholeDiaAddOffset(PetscInt d, PetscInt *n, PetscInt off[])
{
  PetscInt at = 0;

  if (*n > POLDER_CGSMALL_DIAGONALS) return;
  while (at < *n && off[at] < d) ++at;
  if (at < *n && off[at] == d) return;
  for (PetscInt k = (*n)++; k > at; --k) off[k] = off[k - 1];
  off[at] = d;
}

/* The offsets of all rows */
static PetscErrorCode PolderWholeDiaOffsets_Private(MPI_Comm comm, const PolderDia *dia, const PolderCSR *csr, PetscInt *n, PetscInt off[])
{
  enum {
    MOST = POLDER_CGSMALL_DIAGONALS + 1
  };
  PetscInt        mine[MOST + 1], all[POLDER_PEERS_MOST * (MOST + 1)], m, last = 0;
  const PetscInt *bi, *bj;
  PetscMPIInt     size;
  PetscBool       done;

  PetscFunctionBegin;
  *n = 0;
  for (PetscInt d = 0; dia && d < dia->nd; ++d) WholeDiaAddOffset(dia->off[d], n, off);
  if (csr->offdiag && csr->nghost) {
    PetscCall(MatGetRowIJ(csr->offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done)); // the pattern is on the host, too
    if (!done) m = 0;
    for (PetscInt i = PolderCSRNextRow(m, bi, 0); i < m; i = PolderCSRNextRow(m, bi, i + 1)) {
      for (PetscInt k = bi[i]; k < bi[i + 1]; ++k) {
        const PetscInt d = csr->garray[bj[k]] - csr->rstart - i;

        if (d != last) WholeDiaAddOffset(d, n, off); // most rows have that of the row before; 0 is in no such block
        last = d;
      }
    }
    PetscCall(MatRestoreRowIJ(csr->offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done));
  }
  mine[0] = *n;
  for (PetscInt d = 0; d < *n; ++d) mine[d + 1] = off[d];
  for (PetscInt d = *n; d < MOST; ++d) mine[d + 1] = 0;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Allgather(mine, MOST + 1, MPIU_INT, all, MOST + 1, MPIU_INT, comm));
  for (PetscMPIInt r = 0; r < size; ++r) {
    for (PetscInt d = 0; d < all[r * (MOST + 1)]; ++d) WholeDiaAddOffset(all[r * (MOST + 1) + 1 + d], n, off);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without values yet */
static PetscErrorCode PolderWholeDiaNew_Private(MPI_Comm comm, const PolderDia *dia, const PolderCSR *csr, PolderWholeDia *whole)
{
  PetscInt nd, N, off[POLDER_CGSMALL_DIAGONALS + 1];
  PolderWholeDia new;

  PetscFunctionBegin;
  *whole = NULL;
  PetscCall(PolderWholeDiaOffsets_Private(comm, dia, csr, &nd, off));
  if (nd > POLDER_CGSMALL_DIAGONALS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&new));
  new->refct = 1;
  PetscCall(PolderReplicaCreate(comm, csr->m, nd * csr->m, NULL, &new->replica));
  if (!new->replica) {
    PetscCall(PolderWholeDiaDestroy(&new));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  N = PolderReplicaSize(new->replica);
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)nd * (size_t)N, &new->values));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)csr->nghost, csr->garray, &new->garray));
  new->dia = (PolderDia){.m = N, .n = N, .nd = nd, .off = new->off, .val = new->val, .main = -1};
  for (PetscInt d = 0; d < nd; ++d) {
    new->off[d] = off[d];
    new->val[d] = new->values + (size_t)d *(size_t)N;
    if (!off[d]) new->dia.main = d;
  }
  *whole = new;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderWholeDiaValues_Private(PolderWholeDia whole, const PolderCSR *csr)
{
  PetscScalar *own, *val[POLDER_CGSMALL_DIAGONALS];
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*own) * (size_t)csr->m * (size_t)whole->dia.nd, &own));
  for (PetscInt d = 0; d < whole->dia.nd; ++d) val[d] = own + (size_t)d * (size_t)csr->m;
  PolderLaunch(PolderDiaOwnRows_CUDA(&whole->dia, val, PolderOwnRows(csr), PolderGhostColumns(csr), whole->garray, csr->rstart, stream));
  PetscCall(PolderReplicaGatherColumns(whole->replica, whole->dia.nd, own, whole->values));
  PetscCall(PolderDeviceFree(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderWholeDiaFree_Private(PolderCtxArg(ctx))
{
  PolderWholeDia whole = (PolderWholeDia)PolderCtx(ctx);

  PetscFunctionBegin;
  PetscCall(PolderWholeDiaDestroy(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those that are kept with A, or NULL */
static PetscErrorCode PolderWholeDiaKept_Private(Mat A, PolderWholeDia *whole)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  *whole = NULL;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format && layout == POLDER_MPI) PetscCall(PolderKept((PetscObject)A, PolderWholeDiaKey, whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetWholeDia(Mat A, PetscBool here, PolderWholeDia *whole)
{
  const PolderDia *dia;
  PolderCSR        csr;
  int              changed[3] = {0, 0, !here};

  PetscFunctionBegin;
  PetscCall(PolderWholeDiaKept_Private(A, whole));
  PetscCall(PolderWholeChanged(A, *whole ? &(*whole)->stamp : NULL, changed));
  if (changed[2]) *whole = NULL;
  else if (changed[0] || changed[1]) {
    PetscCall(PolderMatGetCSRAlike(A, PETSC_TRUE, &csr));
    if (changed[0] || !csr.device) *whole = NULL;
    if (changed[0] && csr.device) {
      PetscCall(PetscObjectCompose((PetscObject)A, PolderWholeDiaKey, NULL));
      PetscCall(PolderMatGetDeviceDia(A, &dia));
      PetscCall(PolderWholeDiaNew_Private(PetscObjectComm((PetscObject)A), dia, &csr, whole));
      if (*whole) PetscCall(PolderKeep((PetscObject)A, PolderWholeDiaKey, *whole, PolderWholeDiaFree_Private));
    }
    if (*whole) PetscCall(PolderWholeDiaValues_Private(*whole, &csr));
    PetscCall(PolderMatRestoreCSRAt(A, &csr));
    if (*whole) PetscCall(PolderWholeNow(A, &(*whole)->stamp));
  }
  if (*whole) ++(*whole)->refct;
  PetscFunctionReturn(PETSC_SUCCESS);
}
