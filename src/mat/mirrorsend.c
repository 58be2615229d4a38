/*
  How the rows of a mirror cross to the device. Large matrices with few diagonals cross packed by diagonals, without columns, and are unpacked there: symmetric
  ones with half of their values, when a look at all values finds them symmetric. All others cross as they are.
*/
#include "mirror.h"
#include "kernels/labels.h"
#include "kernels/packed.h"

typedef struct {
  const PolderPacked *packing;
  const PetscInt     *ai, *aj;
  const PetscScalar  *aa;
} PolderHostRows;

/* A piece of packed rows, a PolderDeviceFill */
static PetscBool PolderFillPacked_Private(const void *ctx, size_t at, size_t n, void *there)
{
  const PolderHostRows *rows  = (const PolderHostRows *)ctx;
  const size_t          bytes = PolderPackedBytes(rows->packing);

  return PolderPackRows(rows->packing, (PetscInt)(at / bytes), (PetscInt)(n / bytes), rows->ai, rows->aj, rows->aa, there);
}

/* Do the offsets ascend to the main diagonal as they descend from it? */
static PetscBool PolderPackedSymmetric_Private(const PolderPacked *P)
{
  for (PetscInt d = 0; d < P->nd; ++d) {
    if (P->off[d] != -P->off[P->nd - 1 - d]) return PETSC_FALSE;
  }
  return (PetscBool)(P->nd % 2);
}

static PetscErrorCode PolderMirrorUnpack_Private(PolderMirror r, const PolderPacked *P, const void *packed, PetscBool pattern, PetscScalar aa[])
{
  PolderStream stream;
  size_t       bytes;
  void        *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (pattern) {
    bytes = PolderWorkSize(PolderKeysScanWork_CUDA(r->m + 1));
    PetscCall(PolderDeviceMalloc(bytes, &work));
    PolderLaunch(PolderUnpackCounts_CUDA(P, packed, r->ai, stream));
    PolderLaunch(PolderKeysScan_CUDA(r->m + 1, r->ai, work, bytes, stream));
    PetscCall(PolderDeviceFree(&work));
  }
  PolderLaunch(PolderUnpackRows_CUDA(P, packed, r->ai, pattern ? r->aj : NULL, aa, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the rows packed; *done = PETSC_FALSE: they cannot be packed so. plain: the bytes of rows that are not packed */
static PetscErrorCode PolderMirrorSendPacked_Private(PolderMirror r, PolderPacked *P, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                                                     PetscBool pattern, size_t plain, PetscBool *done)
{
  const PolderHostRows rows = {.packing = P, .ai = ai, .aj = aj, .aa = aa};
  const size_t         row  = PolderPackedBytes(P);
  void                *packed;

  PetscFunctionBegin;
  P->rows = (PetscInt)(PolderDeviceLimits.piece / row / 64 * 64);
  *done   = (PetscBool)(P->rows > 0 && row * (size_t)r->m < plain);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceMalloc(row * (size_t)r->m, &packed));
  PetscCall(PolderDeviceStream(row * (size_t)r->m, row * (size_t)P->rows, PolderFillPacked_Private, &rows, packed, done));
  if (*done) PetscCall(PolderMirrorUnpack_Private(r, P, packed, pattern, aa ? r->aa : NULL));
  PetscCall(PolderDeviceFree(&packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMirrorSend(PolderMirror r, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool pattern)
{
  const size_t index = pattern ? sizeof(PetscInt) * ((size_t)r->m + 1 + (size_t)r->nz) : 0, value = aa ? sizeof(PetscScalar) * (size_t)r->nz : 0;
  PolderPacked P    = {.m = r->m};
  PetscBool    done = PETSC_FALSE;

  PetscFunctionBegin;
  if (pattern) r->packing = POLDER_PACKED_HALF;
  if (index + value >= PolderDeviceLimits.least && r->packing < POLDER_PACKED_NOT && PolderPackOffsets(r->m, ai, aj, &P.nd, P.off) && P.nd) {
    if (aa && r->packing == POLDER_PACKED_HALF) {
      P.first = P.nd / 2;
      if (r->m == r->n && PolderPackedSymmetric_Private(&P)) PetscCall(PolderMirrorSendPacked_Private(r, &P, ai, aj, aa, pattern, index + value, &done));
      if (!done) r->packing = POLDER_PACKED_WHOLE;
    }
    if (!done) P.first = aa ? 0 : P.nd;
    if (!done) PetscCall(PolderMirrorSendPacked_Private(r, &P, ai, aj, aa, pattern, index + value, &done));
    if (!done) r->packing = POLDER_PACKED_NOT;
  }
  if (done) {
    PetscCall(PetscInfo(r->matrix,
                        "%" PetscInt_FMT " rows go to the GPU packed by %" PetscInt_FMT " diagonals, of which %" PetscInt_FMT " have values, %zu bytes a row\n",
                        r->m, P.nd, P.nd - P.first, PolderPackedBytes(&P)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pattern) PetscCall(PolderDeviceFromHost(r->ai, ai, sizeof(PetscInt) * ((size_t)r->m + 1)));
  if (pattern) PetscCall(PolderDeviceFromHost(r->aj, aj, sizeof(PetscInt) * (size_t)r->nz));
  if (aa) PetscCall(PolderDeviceFromHost(r->aa, aa, sizeof(PetscScalar) * (size_t)r->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}
