/* Device part of the matrix types aijdia, aijicrs and aijhec. */
#include "aijderived.h"
#include "dia.h"
#include "kernels/csr.h"
#include <petsc/private/matimpl.h>

/* What takes a matrix that suits none of the formats: its rows as they are. data is the mirror itself */
static PetscErrorCode RowsMult_Private(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, PolderStream stream)
{
  PetscFunctionBegin;
  (void)stream; /* of which there is one */
  PetscCall(PolderMirrorMult((PolderMirror)data, alpha, x, y, z, dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy_Private(void **data)
{
  PetscFunctionBegin;
  *data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDescribe_Private(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored)
{
  const PolderMirror r = (PolderMirror)data;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, len, "%" PetscInt_FMT " rows", r->m));
  *stored = r->nz;
  *bytes  = *stored * (sizeof(PetscScalar) + sizeof(PetscInt)) + (r->m + 1.0) * sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PolderFormat PolderFormatRows = {.label = "compressed rows", .mult_device = RowsMult_Private, .destroy_device = RowsDestroy_Private, .describe_device = RowsDescribe_Private};

PetscErrorCode PolderAIJOnDevice(Mat A, Vec x, Vec y, Vec z, PetscBool *on)
{
  const Vec v[] = {x, y, z};
  PetscBool bound;

  PetscFunctionBegin;
  *on = PETSC_FALSE;
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3; ++k) {
    if (!v[k]) continue;
    PetscCall(PolderVecOnDevice(v[k], on));
    if (!*on) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJResetDevice(PolderAIJ aij)
{
  PetscFunctionBegin;
  if (aij->ddata) PetscCall((*aij->dused->destroy_device)(&aij->ddata));
  aij->dused   = NULL;
  aij->dwhy[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New arrays from the rows on the device, in the first format that has device code and takes the matrix */
static PetscErrorCode PolderAIJBuildDevice_Private(Mat A, PolderAIJ aij, const PolderCSR *csr)
{
  const PolderFormat *const tries[] = {aij->format, &PolderFormatICRS, &PolderFormatHEC};
  char                      why[sizeof(aij->dwhy)];

  PetscFunctionBegin;
  PetscCall(PolderAIJResetDevice(aij));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(tries) && !aij->ddata; ++f) {
    if (!tries[f]->build_device) continue;
    why[0]     = 0;
    aij->dused = tries[f]; /* if it fails half-way, its destructor frees what there is */
    PetscCall((*tries[f]->build_device)(A, aij, csr, &aij->ddata, sizeof(why), why));
    if (f == 0) PetscCall(PetscStrncpy(aij->dwhy, why, sizeof(aij->dwhy)));
    if (!aij->ddata) PetscCall(PetscInfo(A, "%s: not %s on the device: %s\n", ((PetscObject)A)->type_name, tries[f]->label, why));
  }
  if (aij->ddata) PetscFunctionReturn(PETSC_SUCCESS);
  aij->dused = &PolderFormatRows;
  aij->ddata = aij->rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a sequential matrix on the device as the formats' functions take them */
static void PolderAIJDeviceRows_Private(Mat A, PolderMirror r, PolderCSR *csr)
{
  *csr = (PolderCSR){.m = r->m, .M = r->m, .ai = r->ai, .aj = r->aj, .aa = r->aa, .diag = A};
}

/* Brings the device arrays of a sequential matrix of ours up to date */
static PetscErrorCode PolderAIJUpdateDevice_Private(Mat A, PolderAIJ *ctx)
{
  PolderAIJ        aij;
  PolderCSR        csr;
  PetscObjectState state;
  PetscBool        done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  *ctx = aij;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (!aij->rows || aij->rows->nonzerostate != A->nonzerostate || (aij->rows->state != state && !aij->rows->newest)) {
    PetscCall(PolderLogBegin(POLDER_MatConvert, A));
    PetscCall(PolderMirrorUpdate(&aij->rows, A, PETSC_FALSE));
    PetscCall(PolderLogEnd(POLDER_MatConvert, A));
    if (!aij->rows->newest) PetscCall(PolderMatSetOffload(A, PETSC_OFFLOAD_BOTH));
  }
  if (aij->ddata && aij->dpattern == aij->rows->pattern && aij->dversion == aij->rows->version) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_MatConvert, A));
  PolderAIJDeviceRows_Private(A, aij->rows, &csr);
  if (aij->ddata && aij->dpattern == aij->rows->pattern) {
    if (aij->dused->refresh_device) PetscCall((*aij->dused->refresh_device)(A, aij, &csr, aij->ddata, &done));
    else done = PETSC_TRUE; /* the rows themselves */
  }
  aij->dpattern = -1;
  if (!done) PetscCall(PolderAIJBuildDevice_Private(A, aij, &csr));
  aij->dpattern = aij->rows->pattern;
  aij->dversion = aij->rows->version;
  PetscCall(PolderLogEnd(POLDER_MatConvert, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJGetDevice(Mat A, PolderAIJ *aij)
{
  const PolderFormat *format;
  PolderLayout        layout;
  Mat                 block = A;
  PetscBool           use, bound;

  PetscFunctionBegin;
  *aij = NULL;
  PetscCall(PolderDeviceInUse(&use));
  PetscCall(MatBoundToCPU(A, &bound));
  if (!use || bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (layout == POLDER_MPI) PetscCall(PolderAIJBlock(A, &block));
  PetscCall(PolderAIJUpdateDevice_Private(block, aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJGetRows(Mat A, PolderMirror *rows)
{
  PolderAIJ aij;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(PolderMirrorUpdate(&aij->rows, A, PETSC_FALSE));
  *rows = aij->rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJGetGhostRows(Mat A, PolderMirror *rows)
{
  PolderAIJ aij;
  Mat       diag, offdiag;

  PetscFunctionBegin;
  PetscCall(PolderAIJBlock(A, &diag));
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &offdiag, NULL));
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(PolderMirrorUpdate(&aij->rows, offdiag, PETSC_TRUE));
  *rows = aij->rows;
  if (aij->nghost < aij->rows->n) {
    PetscCall(PolderDeviceFree(&aij->ghost));
    aij->nghost = 0;
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * aij->rows->n, &aij->ghost));
    aij->nghost = aij->rows->n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = y + alpha A x or z = y + A^T x with the arrays of a block */
static PetscErrorCode PolderAIJBlockProduct_Private(PolderAIJ aij, PetscBool transpose, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (!transpose) PetscCall((*aij->dused->mult_device)(aij->ddata, alpha, x, y, z, dot, stream));
  else if (aij->dused->multtranspose_device) PetscCall((*aij->dused->multtranspose_device)(aij->ddata, x, y, z, stream));
  else PetscCall(PolderMirrorMultTranspose(aij->rows, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJApplyDevice(Mat A, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z, PetscScalar *dot)
{
  PolderAIJ           aij, baij;
  const PolderFormat *format;
  PolderLayout        layout;
  PolderMirror        off = NULL;
  PolderHalo          halo;
  Mat                 block = A;
  const PetscScalar  *xx, *yy = NULL;
  PetscScalar        *zz;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(PolderAIJContext(A, &aij));
  if (layout == POLDER_MPI) {
    PetscCall(PolderAIJBlock(A, &block));
    PetscCall(PolderAIJGetGhostRows(A, &off));
    PetscCall(PolderMatGetHalo(A, &halo));
  }
  PetscCall(PolderAIJUpdateDevice_Private(block, &baij));
  PetscCall(PolderVecGetDeviceRead(x, &xx));
  if (y && y != z) PetscCall(PolderVecGetDeviceRead(y, &yy));
  if (y == z) PetscCall(PolderVecGetDeviceArray(z, &zz));
  else PetscCall(PolderVecGetDeviceWrite(z, &zz));
  if (y == z) yy = zz;
  PetscCall(PetscLogGpuTimeBegin());
  if (off && transpose) PetscCall(PolderMirrorMultTranspose(off, xx, NULL, aij->ghost));
  if (off && !transpose) PetscCall(PolderHaloBeginDevice(halo, MPIU_SCALAR, xx, aij->ghost));
  PetscCall(PolderAIJBlockProduct_Private(baij, transpose, alpha, xx, yy, zz, dot));
  if (off && !transpose) {
    PetscCall(PolderHaloEndDevice(halo, MPIU_SCALAR, xx, aij->ghost));
    PetscCall(PolderMirrorMultAddRows(off, alpha, aij->ghost, zz, xx, dot));
  }
  if (off && transpose) PetscCall(PolderHaloReduceDevice(halo, aij->ghost, zz));
  PetscCall(PetscLogGpuTimeEnd());
  if (y && y != z) PetscCall(PolderVecRestoreDeviceRead(y, &yy));
  if (y == z) PetscCall(PolderVecRestoreDeviceArray(z, &zz));
  else PetscCall(PolderVecRestoreDeviceWrite(z, &zz));
  PetscCall(PolderVecRestoreDeviceRead(x, &xx));
  PetscCall(PetscLogGpuFlops(PetscMax(2.0 * (baij->rows->nz + (off ? off->nz : 0)) - (y ? 0 : A->rmap->n) + (dot ? 2.0 * A->rmap->n : 0.0), 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A x with both kinds of sums */
static PetscErrorCode PolderDiaMultRuns_Private(const PolderDia *dia, Vec x, Vec y, PetscScalar *dot, const PolderRuns *runs)
{
  const PetscScalar *xx;
  PetscScalar       *yy;
  PolderStream       stream;
  void              *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderVecGetDeviceRead(x, &xx));
  PetscCall(PolderVecGetDeviceWrite(y, &yy));
  PetscCall(PetscLogGpuTimeBegin());
  PolderLaunch(PolderDiaMultRuns_CUDA(dia->m, dia->nd, dia->off, dia->val, xx, yy, dot, runs, work, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceWrite(y, &yy));
  PetscCall(PolderVecRestoreDeviceRead(x, &xx));
  PetscCall(PetscLogGpuFlops((2.0 * dia->nd + 2) * dia->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatMultDot(Mat A, Vec x, Vec y, PetscScalar *dot, const PolderRuns *runs, PetscBool *summed, PetscBool *done)
{
  const PolderFormat *format;
  PolderLayout        layout;
  const PolderDia    *dia = NULL;
  PetscInt            far, chunk;

  PetscFunctionBegin;
  *done = *summed = PETSC_FALSE;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format && A->rmap->n == A->cmap->n) PetscCall(PolderAIJOnDevice(A, x, y, NULL, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (runs && layout == POLDER_SEQ) PetscCall(PolderMatGetDeviceDia(A, &dia));
  if (dia) *summed = (PetscBool)(PolderKernelCan(PolderDiaRuns_CUDA(dia->m, dia->n, dia->nd, dia->off, dia->val, &far, &chunk)) && far == runs->far && chunk == runs->chunk && dia->m == runs->m);
  PetscCall(PetscLogEventBegin(MAT_Mult, A, x, y, 0));
  if (*summed) PetscCall(PolderDiaMultRuns_Private(dia, x, y, dot, runs));
  else PetscCall(PolderAIJApplyDevice(A, PETSC_FALSE, 1.0, x, NULL, y, dot));
  PetscCall(PetscLogEventEnd(MAT_Mult, A, x, y, 0));
  PetscCall(PetscObjectStateIncrease((PetscObject)y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJGetDiagonalDevice(Mat A, Vec d)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PolderMirror        r;
  PolderStream        stream;
  Mat                 block = A;
  PetscScalar        *dd;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (layout == POLDER_MPI) PetscCall(PolderAIJBlock(A, &block));
  PetscCall(PolderAIJGetRows(block, &r));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderVecGetDeviceWrite(d, &dd));
  PolderLaunch(PolderCsrDiagonal_CUDA(r->m, r->ai, r->aj, r->aa, dd, stream));
  PetscCall(PolderVecRestoreDeviceWrite(d, &dd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compressed rows of one block of aijcusparse; PETSc keeps them on the device, unless there are none */
static PetscErrorCode PolderCusparseRows_Private(Mat block, const PetscInt **ai, const PetscInt **aj, const PetscScalar **aa, PetscBool *done)
{
  PetscBool bound;
  MatInfo   info;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)block, POLDER_MATSEQAIJ_DEVICE, done));
  PetscCall(MatBoundToCPU(block, &bound));
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  if (bound || info.nz_used == 0.0) *done = PETSC_FALSE;
  if (*done) PetscCall(PolderImageGetRows(block, ai, aj, aa, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetDeviceCSR(Mat A, PolderCSR *csr, PetscBool *done)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PolderMirror        r;
  MatInfo             info;
  PetscBool           is, parallel, use, bound;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  PetscCall(PolderDeviceInUse(&use));
  PetscCall(PolderMatIsAIJ(A, &is));
  PetscCall(MatBoundToCPU(A, &bound));
  if (!use || !is || !A->assembled || bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  csr->diag = A;
  if (format && parallel) PetscCall(PolderAIJBlock(A, &csr->diag));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &csr->diag, &csr->offdiag, &csr->garray));
  if (format) {
    PetscCall(PolderAIJGetRows(csr->diag, &r));
    csr->ai = r->ai;
    csr->aj = r->aj;
    csr->aa = r->aa;
    if (parallel) {
      PetscCall(PolderAIJGetGhostRows(A, &r));
      csr->bi = r->ai;
      csr->bj = r->aj;
      csr->ba = r->aa;
    }
    *done = PETSC_TRUE;
  } else {
    PetscCall(PolderCusparseRows_Private(csr->diag, &csr->ai, &csr->aj, &csr->aa, done));
    if (*done && parallel) {
      PetscCall(MatGetInfo(csr->offdiag, MAT_LOCAL, &info));
      if (info.nz_used > 0.0) PetscCall(PolderCusparseRows_Private(csr->offdiag, &csr->bi, &csr->bj, &csr->ba, done)); /* otherwise bi stays NULL */
    }
  }
  if (!*done) {
    PetscCall(PetscMemzero(csr, sizeof(*csr)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetLocalSize(A, &csr->m, NULL));
  PetscCall(MatGetSize(A, &csr->M, NULL));
  PetscCall(MatGetOwnershipRange(A, &csr->rstart, NULL));
  if (csr->offdiag) PetscCall(MatGetSize(csr->offdiag, NULL, &csr->nghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatRestoreDeviceCSR(Mat A, PolderCSR *csr)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
