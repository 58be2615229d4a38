/* Compressed rows of a sequential AIJ matrix in device memory. */
#include "mirror.h"
#include "csr.h"
#include "kernels/csr.h"
#include <petsc/private/petscimpl.h>

static PetscErrorCode PolderMirrorResetTranspose_Private(PolderMirror r)
{
  PetscFunctionBegin;
  r->tpattern = r->tversion = -1;
  PetscCall(PolderDeviceFree(&r->ti));
  PetscCall(PolderDeviceFree(&r->tj));
  PetscCall(PolderDeviceFree(&r->tperm));
  PetscCall(PolderDeviceFree(&r->ta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderMirrorReset_Private(PolderMirror r)
{
  PetscFunctionBegin;
  r->state = r->nonzerostate = -1;
  r->newest = r->zero = PETSC_FALSE;
  r->nrow             = -1;
  PetscCall(PolderDeviceFree(&r->ai));
  PetscCall(PolderDeviceFree(&r->aj));
  PetscCall(PolderDeviceFree(&r->aa));
  PetscCall(PolderDeviceFree(&r->row));
  PetscCall(PolderMirrorResetTranspose_Private(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorDestroy(PolderMirror *r)
{
  PetscFunctionBegin;
  if (!*r) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMirrorReset_Private(*r));
  PetscCall(PetscFree(*r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern in host memory, where PETSc always keeps it */
static PetscErrorCode PolderMirrorGetPattern_Private(Mat A, PetscInt *m, const PetscInt *ai[], const PetscInt *aj[])
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, m, ai, aj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix type %s does not give out its rows", ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderMirrorRestorePattern_Private(Mat A, PetscInt *m, const PetscInt *ai[], const PetscInt *aj[])
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, m, ai, aj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the arrays for a new pattern */
static PetscErrorCode PolderMirrorAllocate_Private(PolderMirror r, Mat A, PetscInt m, const PetscInt ai[])
{
  PetscFunctionBegin;
  PetscCall(PolderMirrorReset_Private(r));
  ++r->pattern;
  r->m  = m;
  r->nz = ai[m];
  PetscCall(MatGetLocalSize(A, NULL, &r->n));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (m + 1), &r->ai));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * r->nz, &r->aj));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * r->nz, &r->aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* See the field low */
static PetscInt PolderMirrorLow_Private(const PolderSparseRows *list, PetscInt m, const PetscInt aj[])
{
  const PetscInt n   = list->n;
  PetscInt       low = 0;

  if (list->nz != n) return -1;
  while (low < n && list->row[low] == low) ++low;
  for (PetscInt k = 0; k < n; ++k) {
    if (aj[k] != k || (k >= low && list->row[k] != m - n + k)) return -1;
  }
  return low;
}

/* Lists the nonempty rows */
static PetscErrorCode PolderMirrorSetRows_Private(PolderMirror r, const PetscInt ai[], const PetscInt aj[])
{
  PolderSparseRows list;

  PetscFunctionBegin;
  PetscCall(PolderCSRListRows(r->m, ai, &list));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)list.n, list.row, &r->row));
  r->nrow = list.n;
  r->low  = PolderMirrorLow_Private(&list, r->m, aj);
  PetscCall(PetscFree(list.row));
  PetscCall(PetscFree(list.ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderMirrorCreate_Private(PolderMirror *mirror)
{
  PetscFunctionBegin;
  if (*mirror) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(mirror));
  PetscCall(PolderMirrorReset_Private(*mirror));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorZero(PolderMirror *mirror, Mat A)
{
  PetscInt        m;
  const PetscInt *ai, *aj;

  PetscFunctionBegin;
  PetscCall(PolderMirrorCreate_Private(mirror));
  PetscCall(PolderMirrorReset_Private(*mirror));
  PetscCall(PolderMirrorGetPattern_Private(A, &m, &ai, &aj));
  (*mirror)->nz   = ai[m];
  (*mirror)->zero = PETSC_TRUE;
  PetscCall(PolderMirrorRestorePattern_Private(A, &m, &ai, &aj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern, and the values if asked for and if those on the device are older */
static PetscErrorCode PolderMirrorBring_Private(PolderMirror *mirror, Mat A, PetscBool withrows, PetscBool values)
{
  PolderMirror       r;
  PetscObjectState   state, nonzerostate;
  PetscObjectId      id;
  PetscInt           m;
  PetscBool          pattern, fresh;
  const PetscInt    *ai, *aj;
  const PetscScalar *aa = NULL;

  PetscFunctionBegin;
  PetscCall(PolderMirrorCreate_Private(mirror));
  r = *mirror;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(MatGetNonzeroState(A, &nonzerostate));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  r->matrix = A;
  pattern   = (PetscBool)(r->nonzerostate != nonzerostate || r->id != id);
  if (!pattern && (!values || r->newest || r->state == state) && (!withrows || r->nrow >= 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMirrorGetPattern_Private(A, &m, &ai, &aj));
  if (pattern) { /* values held here belong to the old pattern */
    const PetscBool zero = r->zero;

    PetscCall(PolderMirrorAllocate_Private(r, A, m, ai));
    if (zero) {
      PetscCall(PolderDeviceZero(r->aa, sizeof(PetscScalar) * r->nz));
      r->newest = PETSC_TRUE;
      ++r->version;
    }
  }
  fresh = (PetscBool)(values && !r->newest && r->state != state);
  if (fresh) PetscCall(MatSeqAIJGetArrayRead(A, &aa));
  if (pattern || fresh) PetscCall(PolderMirrorSend(r, ai, aj, aa, pattern));
  r->nonzerostate = nonzerostate;
  r->id           = id;
  if (fresh) {
    PetscCall(MatSeqAIJRestoreArrayRead(A, &aa));
    ++r->version;
    r->state = state;
  }
  if (withrows && r->nrow < 0) PetscCall(PolderMirrorSetRows_Private(r, ai, aj));
  PetscCall(PolderMirrorRestorePattern_Private(A, &m, &ai, &aj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorUpdatePattern(PolderMirror *mirror, Mat A, PetscBool withrows)
{
  PetscFunctionBegin;
  PetscCall(PolderMirrorBring_Private(mirror, A, withrows, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorUpdate(PolderMirror *mirror, Mat A, PetscBool withrows)
{
  PetscFunctionBegin;
  PetscCall(PolderMirrorBring_Private(mirror, A, withrows, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorKeep(PolderMirror r, Mat A)
{
  PetscObjectState nonzerostate;
  PetscObjectId    id;

  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(A, &nonzerostate));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  if (r->id == id && r->nonzerostate == nonzerostate) PetscCall(PetscObjectStateGet((PetscObject)A, &r->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorMult(PolderMirror r, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  const PolderRows    A   = {r->m, r->ai, r->aj, r->aa, r->nz};
  const PolderRowList all = {r->m, NULL};
  PolderStream        stream;
  void               *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderCsrMult_CUDA(A, all, alpha, x, y, z, (PolderRowsDot){x, dot, work}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorMultAddRows(PolderMirror r, PetscScalar alpha, const PetscScalar x[], PetscScalar z[], const PetscScalar p[], PetscScalar *dot)
{
  const PolderRows    A    = {r->m, r->ai, r->aj, r->aa, r->nz};
  const PolderRowList some = {r->nrow, r->row};
  PolderStream        stream;
  void               *work;

  PetscFunctionBegin;
  if (!r->nrow) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderCsrMult_CUDA(A, some, alpha, x, z, z, (PolderRowsDot){p, dot, work}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transposes the pattern on the host, once; the values are permuted on the device */
static PetscErrorCode PolderMirrorTranspose_Private(PolderMirror r)
{
  PetscInt        m, *ti, *tj, *tperm;
  const PetscInt *ai, *aj;

  PetscFunctionBegin;
  PetscCall(PolderMirrorResetTranspose_Private(r));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (r->n + 1), &r->ti));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * r->nz, &r->tj));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * r->nz, &r->tperm));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * r->nz, &r->ta));
  PetscCall(PolderMirrorGetPattern_Private(r->matrix, &m, &ai, &aj));
  PetscCall(PetscCalloc1(r->n + 2, &ti));
  PetscCall(PetscMalloc2(r->nz, &tj, r->nz, &tperm));
  for (PetscInt k = 0; k < r->nz; ++k) ++ti[aj[k] + 2];
  for (PetscInt j = 0; j < r->n; ++j) ti[j + 2] += ti[j + 1];
  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      const PetscInt t = ti[aj[k] + 1]++;

      tj[t]    = i;
      tperm[t] = k;
    }
  }
  PetscCall(PolderDeviceFromHost(r->ti, ti, sizeof(PetscInt) * (r->n + 1)));
  PetscCall(PolderDeviceFromHost(r->tj, tj, sizeof(PetscInt) * r->nz));
  PetscCall(PolderDeviceFromHost(r->tperm, tperm, sizeof(PetscInt) * r->nz));
  PetscCall(PetscFree(ti));
  PetscCall(PetscFree2(tj, tperm));
  PetscCall(PolderMirrorRestorePattern_Private(r->matrix, &m, &ai, &aj));
  r->tpattern = r->pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorMultTranspose(PolderMirror r, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  const PolderRowList all = {r->n, NULL};
  PolderRows          T;
  PolderStream        stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (r->tpattern != r->pattern) PetscCall(PolderMirrorTranspose_Private(r));
  if (r->tversion != r->version) PolderLaunch(PolderGather_CUDA(r->nz, r->tperm, r->aa, r->ta, stream));
  r->tversion = r->version;
  T           = (PolderRows){r->n, r->ti, r->tj, r->ta, r->nz};
  PolderLaunch(PolderCsrMult_CUDA(T, all, 1.0, x, y, z, (PolderRowsDot){0}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
