/* Device part of the matrix types aijdia, aijicrs and aijhec: products, diagonals and access to the rows. */
#include "aijderived.h"
#include "dia.h"
#include "core/peers.h"
#include "kernels/csr.h"
#include "kernels/dia.h"
#include <petsc/private/matimpl.h>

static PetscErrorCode RowsBuild_Private(Mat A, PolderAIJ aij, const PolderCSR *csr, void **data, size_t len, char why[])
{
  PetscFunctionBegin;
  (void)A;
  (void)csr;
  (void)len;
  (void)why;
  *data = aij->rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsRefresh_Private(Mat A, PolderAIJ aij, const PolderCSR *csr, void *data, PetscBool *done)
{
  PetscFunctionBegin;
  (void)A;
  (void)csr;
  *done = (PetscBool)(data == aij->rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsMult_Private(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  PetscFunctionBegin;
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

const PolderFormat PolderFormatRows = {
  .label = "compressed rows",
  .at[PETSC_TRUE] =
    {.build = RowsBuild_Private, .refresh = RowsRefresh_Private, .mult = RowsMult_Private, .destroy = RowsDestroy_Private, .describe = RowsDescribe_Private}
};

static PetscErrorCode PolderAIJAvailableDevice_Private(Mat A, PetscBool *available)
{
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PolderDeviceInUse(available));
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) *available = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the rows up to date */
static PetscErrorCode PolderAIJStampDevice_Private(Mat A, PolderAIJ aij, PolderStamp *stamp)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (!aij->rows || aij->rows->nonzerostate != A->nonzerostate || (aij->rows->state != state && !aij->rows->newest)) {
    PetscCall(PolderLogBegin(POLDER_MatConvert, A));
    PetscCall(PolderMirrorUpdate(&aij->rows, A, PETSC_FALSE));
    PetscCall(PolderLogEnd(POLDER_MatConvert, A));
    if (!aij->rows->newest) PetscCall(PolderMatSetOffload(A, PETSC_OFFLOAD_BOTH));
  }
  *stamp = (PolderStamp){.pattern = aij->rows->pattern, .values = aij->rows->version};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJGetRowsDevice_Private(Mat A, PolderAIJ aij, PolderCSR *csr)
{
  const PolderMirror r = aij->rows;

  PetscFunctionBegin;
  *csr = (PolderCSR){.m = r->m, .M = r->m, .ai = r->ai, .aj = r->aj, .aa = r->aa, .diag = A, .nz = r->nz, .device = PETSC_TRUE};
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

/* z = A x with the dot product and the sums over runs */
static PetscErrorCode PolderAIJProductRuns_Private(const PolderAIJOperands *v, const PolderProductDot *dot)
{
  PolderStream stream;
  void        *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderDiaMultRuns_CUDA(dot->dia, v->x, v->z, dot->value, dot->runs, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = y + alpha A x or z = y + A^T x with the arrays of a block */
static PetscErrorCode PolderAIJBlockProduct_Private(PolderAIJ aij, PetscBool transpose, PetscScalar alpha, const PolderAIJOperands *v,
                                                    const PolderProductDot *dot)
{
  const PolderAIJArrays   *arrays = &aij->at[PETSC_TRUE];
  const PolderFormatSteps *steps  = &arrays->format->at[PETSC_TRUE];

  PetscFunctionBegin;
  if (dot && dot->dia) PetscCall(PolderAIJProductRuns_Private(v, dot));
  else if (!transpose) PetscCall((*steps->mult)(arrays->data, alpha, v->x, v->y, v->z, dot ? dot->value : NULL));
  else if (steps->multtranspose) PetscCall((*steps->multtranspose)(arrays->data, v->x, v->y, v->z));
  else PetscCall(PolderMirrorMultTranspose(aij->rows, v->x, v->y, v->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z += alpha B ghost with the block B of off-process columns; the exchange of x must have begun */
static PetscErrorCode PolderAIJAddGhosts_Private(PolderHalo halo, PolderMirror off, PetscScalar alpha, PetscScalar *ghost, const PolderAIJOperands *v,
                                                 PolderProductDot *dot)
{
  PolderGhostRows rows  = {.n = off->nrow, .nz = off->nz, .row = off->row, .ai = off->ai, .aj = off->aj, .aa = off->aa, .alpha = alpha};
  PetscScalar    *value = dot ? dot->value : NULL;
  PetscBool       done;

  PetscFunctionBegin;
  if (dot) rows.count = dot->sent;
  if (dot && dot->dia) rows.added = dot->runs->sum + dot->runs->n;
  PetscCall(PolderHaloEndMultAdd(halo, &rows, v->x, v->z, value, dot ? dot->whole : PETSC_FALSE, &done));
  if (done && dot) dot->reduced = dot->whole;
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloEndDevice(halo, MPIU_SCALAR, v->x, ghost));
  PetscCall(PolderMirrorMultAddRows(off, alpha, ghost, v->z, v->x, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = A x and (x, z) in one kernel, where a large stencil is cut into slabs of whole planes or lines */
static PetscErrorCode PolderAIJProductGhosts_Private(Mat A, PolderHalo halo, PolderMirror off, const PolderAIJOperands *v, PolderProductDot *dot,
                                                     PetscBool *done)
{
  const PetscInt   high   = off->nrow - off->low;
  PolderDiaGhosts  ghosts = {.low = off->low, .high = high, .aa = off->aa, .count = dot->sent};
  const PolderDia *dia;
  PetscInt         far, chunk;
  PolderPeers      peers;
  PolderStream     stream;
  void            *work;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (dot->runs || off->low < 0 || !PolderHaloAddsRows(halo)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceDiaClassed(A, &dia));
  if (!dia || !PolderKernelCan(PolderDiaRuns_CUDA(dia, &far, &chunk))) PetscFunctionReturn(PETSC_SUCCESS);
  if (dia->m % far || (off->low && off->low != far) || (high && high != far)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetExchange(halo, &ghosts.exchange));
  if (!ghosts.exchange || !ghosts.exchange->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPeersGet(PetscObjectComm((PetscObject)A), &peers));
  if (dot->whole) ghosts.peers = PolderPeersGetView(peers);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderDiaMultGhosts_CUDA(dia, v->x, v->z, dot->value, &ghosts, work, stream));
  dot->reduced = dot->whole;
  *done        = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJApplyDevice_Private(Mat A, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z, PolderProductDot *dot)
{
  PolderAIJ           aij, baij;
  PolderAIJArrays    *arrays;
  PolderAIJOperands   v;
  const PolderFormat *format;
  PolderLayout        layout;
  PolderMirror        off = NULL;
  PolderHalo          halo;
  Mat                 block = A;
  PetscBool           done  = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(PolderAIJContext(A, &aij));
  if (layout == POLDER_MPI) {
    PetscCall(PolderAIJBlock(A, &block));
    PetscCall(PolderAIJGetGhostRows(A, &off));
    PetscCall(PolderMatGetHalo(A, &halo));
  }
  PetscCall(PolderAIJUpdate(block, &PolderAIJStepsOnDevice, &baij, &arrays));
  PetscCall(PolderAIJGetOperands(&PolderOnDevice, x, y, z, &v));
  PetscCall(PetscLogGpuTimeBegin());
  if (off && transpose) PetscCall(PolderMirrorMultTranspose(off, v.x, NULL, aij->ghost));
  if (off && !transpose && !(dot && dot->sent)) PetscCall(PolderHaloBeginDevice(halo, MPIU_SCALAR, v.x, aij->ghost));
  if (off && dot) PetscCall(PolderAIJProductGhosts_Private(A, halo, off, &v, dot, &done));
  if (!done) PetscCall(PolderAIJBlockProduct_Private(baij, transpose, alpha, &v, dot));
  if (!done && off && !transpose) PetscCall(PolderAIJAddGhosts_Private(halo, off, alpha, aij->ghost, &v, dot));
  if (off && transpose) PetscCall(PolderHaloReduceDevice(halo, aij->ghost, v.z));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderAIJRestoreOperands(&PolderOnDevice, x, y, z, &v));
  PetscCall(PetscLogGpuFlops(PetscMax(2.0 * (arrays->nz + (off ? off->nz : 0)) - (y ? 0 : A->rmap->n) + (dot ? 2.0 * A->rmap->n : 0.0), 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJGetDiagonalDevice_Private(Mat A, Vec d)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PolderMirror        r;
  PolderStream        stream;
  const PolderDia    *dia;
  Mat                 block = A;
  PetscScalar        *dd;

  PetscFunctionBegin;
  if (A->rmap->n != A->cmap->n) {
    PetscCall((*PolderAIJStepsOnHost.getdiagonal)(A, d));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderVecGetDeviceWrite(d, &dd));
  PetscCall(PolderMatGetDeviceDia(A, &dia));
  if (dia && dia->exact && dia->main >= 0) {
    PetscCall(PolderDeviceToDevice(dd, dia->val[dia->main], sizeof(*dd) * (size_t)dia->m));
    PetscCall(PolderVecRestoreDeviceWrite(d, &dd));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (layout == POLDER_MPI) PetscCall(PolderAIJBlock(A, &block));
  PetscCall(PolderAIJGetRows(block, &r));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderCsrDiagonal_CUDA(r->m, r->ai, r->aj, r->aa, dd, stream));
  PetscCall(PolderVecRestoreDeviceWrite(d, &dd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderAIJSteps PolderAIJStepsOnDevice = {
  .place       = &PolderOnDevice,
  .where       = " on the GPU",
  .available   = PolderAIJAvailableDevice_Private,
  .stamp       = PolderAIJStampDevice_Private,
  .getrows     = PolderAIJGetRowsDevice_Private,
  .apply       = PolderAIJApplyDevice_Private,
  .getdiagonal = PolderAIJGetDiagonalDevice_Private,
};

PetscErrorCode PolderMatGetOuterRows(Mat A, PetscInt *n, const PetscInt **row)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PolderMirror        off;
  PolderHalo          halo;

  PetscFunctionBegin;
  *n   = 0;
  *row = NULL;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format && layout == POLDER_MPI) {
    PetscCall(PolderAIJGetGhostRows(A, &off));
    PetscCall(PolderMatGetHalo(A, &halo));
    *n   = PolderHaloAddsRows(halo) ? off->nrow : -1;
    *row = off->row;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can the product on the device make the sums over these runs? Then dot->dia are its diagonals */
static PetscErrorCode PolderMatFindRuns_Private(Mat A, PolderProductDot *dot)
{
  const PolderRuns *runs = dot->runs;
  const PolderDia  *dia;
  PetscInt          far, chunk, outer;
  const PetscInt   *row;

  PetscFunctionBegin;
  dot->dia = NULL;
  if (!runs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceDiaClassed(A, &dia));
  if (!dia || !PolderKernelCan(PolderDiaRuns_CUDA(dia, &far, &chunk))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetOuterRows(A, &outer, &row));
  if (far == runs->far && chunk == runs->chunk && dia->m == runs->m && outer == runs->outer) dot->dia = dia;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetSends(Mat A, Vec x, PolderSends *sends)
{
  const PolderAIJSteps *steps;
  const PolderFormat   *format;
  PolderLayout          layout;
  PolderHalo            halo;

  PetscFunctionBegin;
  sends->n = 0;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (!format || layout != POLDER_MPI || A->rmap->n != A->cmap->n || !A->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderAIJChoose(A, x, NULL, NULL, &steps));
  if (!steps->place->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderHaloGetSends(halo, sends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatMultDot(Mat A, Vec x, Vec y, PolderProductDot *dot, PetscBool *done)
{
  const PolderAIJSteps *steps = &PolderAIJStepsOnHost;
  const PolderFormat   *format;
  PolderLayout          layout;

  PetscFunctionBegin;
  *done = dot->summed = dot->reduced = PETSC_FALSE;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format && A->rmap->n == A->cmap->n) PetscCall(PolderAIJChoose(A, x, y, NULL, &steps));
  *done = steps->place->device; // there is no such product on the host
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatFindRuns_Private(A, dot));
  PetscCall(PetscLogEventBegin(MAT_Mult, A, x, y, 0));
  PetscCall((*steps->apply)(A, PETSC_FALSE, 1.0, x, NULL, y, dot));
  PetscCall(PetscLogEventEnd(MAT_Mult, A, x, y, 0));
  PetscCall(PetscObjectStateIncrease((PetscObject)y));
  dot->summed = (PetscBool)(dot->dia != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compressed rows of one block of aijcusparse; PETSc keeps them on the device unless the block is empty */
static PetscErrorCode PolderCusparseRows_Private(Mat block, const PetscInt **ai, const PetscInt **aj, const PetscScalar **aa, PetscInt *nz, PetscBool *done)
{
  PetscBool bound;
  MatInfo   info;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)block, POLDER_MATSEQAIJ_DEVICE, done));
  PetscCall(MatBoundToCPU(block, &bound));
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  *nz = (PetscInt)info.nz_used;
  if (bound || !*nz) *done = PETSC_FALSE;
  if (*done) PetscCall(PolderImageGetRows(block, ai, aj, aa, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetDeviceCSR(Mat A, PolderCSR *csr, PetscBool *done)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PolderMirror        r;
  MatInfo             info;
  PetscInt            nz;
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
    csr->nz = r->nz;
    if (parallel) {
      PetscCall(PolderAIJGetGhostRows(A, &r));
      csr->bi = r->ai;
      csr->bj = r->aj;
      csr->ba = r->aa;
    }
    *done = PETSC_TRUE;
  } else {
    PetscCall(PolderCusparseRows_Private(csr->diag, &csr->ai, &csr->aj, &csr->aa, &csr->nz, done));
    if (*done && parallel) {
      PetscCall(MatGetInfo(csr->offdiag, MAT_LOCAL, &info));
      if (info.nz_used > 0.0) PetscCall(PolderCusparseRows_Private(csr->offdiag, &csr->bi, &csr->bj, &csr->ba, &nz, done)); /* otherwise bi stays NULL */
    }
  }
  if (!*done) {
    PetscCall(PetscMemzero(csr, sizeof(*csr)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  csr->device = PETSC_TRUE;
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
