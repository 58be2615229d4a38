/* Sliced rows on the device, with long rows stored separately. aijicrs and aijhec share this form: after sorting by length, slices have hardly any of the
   padding that an ELL part of constant width would have. */
#include "slices.h"
#include "kernels/slices.h"

/* Row lengths that the sort distinguishes, and the ratio of padding from which sorting pays off */
#define POLDER_LENGTHS   1024
#define POLDER_SORT_FILL 1.05
/* With at most this many rows, shorter rows than usual are treated as long rows and shared by a warp: slices alone would leave most of the device idle */
#define POLDER_FEW_ROWS 32768

typedef struct {
  PolderSlices s;
  int          steps, units, entries; /* totals: columns of the slices, 64-byte units of their column indices, entries of the long rows */
  /* writable pointers to the arrays of s */
  int            *row, *ptr, *unit, *base, *lrow, *first, *owner, *start, *lcol;
  unsigned short *col;
  PetscScalar    *val, *lval;
} Slices;

PetscErrorCode PolderSlicesDestroy(void **data)
{
  Slices *S = (Slices *)*data;

  PetscFunctionBegin;
  if (!S) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceFree(&S->row));
  PetscCall(PolderDeviceFree(&S->ptr));
  PetscCall(PolderDeviceFree(&S->unit));
  PetscCall(PolderDeviceFree(&S->base));
  PetscCall(PolderDeviceFree(&S->col));
  PetscCall(PolderDeviceFree(&S->val));
  PetscCall(PolderDeviceFree(&S->lrow));
  PetscCall(PolderDeviceFree(&S->first));
  PetscCall(PolderDeviceFree(&S->owner));
  PetscCall(PolderDeviceFree(&S->start));
  PetscCall(PolderDeviceFree(&S->lcol));
  PetscCall(PolderDeviceFree(&S->lval));
  PetscCall(PolderDeviceFree(&S->s.part));
  PetscCall(PolderDeviceFree(&S->s.counter));
  PetscCall(PetscFree(*data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns the counts a[1 .. n] into offsets and returns their sum */
static PetscErrorCode SlicesScan_Private(PetscInt n, int a[], int *sum, PolderStream stream)
{
  const size_t bytes = PolderWorkSize(PolderScanWork_CUDA(n));
  void        *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderScan_CUDA(n, a, work, bytes, stream));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PolderDeviceToHost(sum, a + n, sizeof(*sum)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *cap: the length up to which rows go into slices. A longer row would keep one thread busy after the others are done. Also counts the longer rows */
static PetscErrorCode SlicesCap_Private(PetscInt m, PetscInt nz, const PetscInt ai[], int *cap, PetscInt *nlong, PolderStream stream)
{
  const PetscInt mean = nz / PetscMax(m, 1), want = m <= POLDER_FEW_ROWS ? PetscMax(8, mean) : PetscMax(32, 3 * mean);
  int           *count, host[POLDER_LENGTHS];

  PetscFunctionBegin;
  *cap = (int)PetscMin(want, POLDER_LENGTHS - 2);
  PetscCall(PolderDeviceMalloc(sizeof(host), &count));
  PetscCall(PolderDeviceZero(count, sizeof(host)));
  PolderLaunch(PolderRowHistogram_CUDA(m, ai, POLDER_LENGTHS, count, stream));
  PetscCall(PolderDeviceToHost(host, count, sizeof(host)));
  PetscCall(PolderDeviceFree(&count));
  *nlong = 0;
  for (int l = *cap + 1; l < POLDER_LENGTHS; ++l) *nlong += host[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicesLongRows_Private(Slices *S, int cap, const PetscInt ai[], PolderStream stream)
{
  const PetscInt      m = S->s.m;
  PolderLongRowCounts count;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(int) * (m + 1), &count.entry));
  PetscCall(PolderDeviceMalloc(sizeof(int) * (m + 1), &count.segment));
  PetscCall(PolderDeviceMalloc(sizeof(int) * (m + 1), &count.row));
  PolderLaunch(PolderLongRowsCount_CUDA(m, cap, ai, count, stream));
  PetscCall(SlicesScan_Private(m, count.entry, &S->entries, stream));
  PetscCall(SlicesScan_Private(m, count.segment, &S->s.nseg, stream));
  PetscCall(SlicesScan_Private(m, count.row, &S->s.nlong, stream));
  PetscCall(PolderDeviceMalloc(sizeof(int) * S->s.nlong, &S->lrow));
  PetscCall(PolderDeviceMalloc(sizeof(int) * (S->s.nlong + 1), &S->first));
  PetscCall(PolderDeviceMalloc(sizeof(int) * S->s.nseg, &S->owner));
  PetscCall(PolderDeviceMalloc(sizeof(int) * (S->s.nseg + 1), &S->start));
  PetscCall(PolderDeviceMalloc(sizeof(int) * S->entries, &S->lcol));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * S->entries, &S->lval));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * S->s.nseg, &S->s.part));
  PetscCall(PolderDeviceMalloc(sizeof(unsigned int) * S->s.nlong, &S->s.counter));
  PetscCall(PolderDeviceZero(S->s.counter, sizeof(unsigned int) * S->s.nlong));
  PolderLaunch(PolderLongRowsMake_CUDA(m, count, S->lrow, S->first, S->owner, S->start, stream));
  PetscCall(PolderDeviceFree(&count.entry));
  PetscCall(PolderDeviceFree(&count.segment));
  PetscCall(PolderDeviceFree(&count.row));
  S->s.lrow  = S->lrow;
  S->s.first = S->first;
  S->s.owner = S->owner;
  S->s.start = S->start;
  S->s.lcol  = S->lcol;
  S->s.lval  = S->lval;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicesSize_Private(Slices *S, const PolderCSR *csr, PolderStream stream)
{
  PetscFunctionBegin;
  PolderLaunch(PolderSlicesSize_CUDA(&S->s, PolderOwnRows(csr), S->ptr, S->unit, stream));
  PetscCall(SlicesScan_Private(S->s.nslice, S->ptr, &S->steps, stream));
  PetscCall(SlicesScan_Private(S->s.nslice, S->unit, &S->units, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the values, and the columns if there are none yet */
static PetscErrorCode SlicesFill_Private(Slices *S, const PolderCSR *csr, PetscBool columns, PolderStream stream)
{
  PetscFunctionBegin;
  PolderLaunch(PolderSlicesFill_CUDA(&S->s, PolderOwnRows(csr), S->base, columns ? S->col : NULL, S->val, stream));
  PolderLaunch(PolderLongRowsFill_CUDA(&S->s, PolderOwnRows(csr), columns ? S->lcol : NULL, S->lval, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSlicesBuild(Mat A, PolderAIJ aij, const PolderCSR *csr, void **data, size_t len, char why[])
{
  Slices        *S;
  PolderStream   stream;
  PetscInt       m, n, nlong = 0;
  const PetscInt nz  = csr->nz;
  int            cap = 0;

  PetscFunctionBegin;
  (void)aij;
  *data = NULL;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(PolderDeviceGetStream(&stream));
  if (PetscMax(PetscMax(m, n), nz) > 1000000000) {
    PetscCall(PetscSNPrintf(why, len, "slices count in 32 bits on the device, too few for %" PetscInt_FMT " nonzeros", nz));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&S));
  *data       = S;
  S->s.m      = m;
  S->s.nslice = (int)((m + 31) / 32);
  PetscCall(SlicesCap_Private(m, nz, csr->ai, &cap, &nlong, stream));
  PetscCall(PolderDeviceMalloc(sizeof(int) * (S->s.nslice + 1), &S->ptr));
  PetscCall(PolderDeviceMalloc(sizeof(int) * (S->s.nslice + 1), &S->unit));
  if (!nlong) PetscCall(SlicesSize_Private(S, csr, stream));
  if (nlong || 32.0 * S->steps > POLDER_SORT_FILL * (nz + 32.0)) {
    PetscCall(PolderDeviceMalloc(sizeof(int) * m, &S->row));
    PolderLaunch(PolderSlicesSort_CUDA(m, cap, csr->ai, S->row, stream));
    S->s.row = S->row;
    PetscCall(SlicesSize_Private(S, csr, stream));
  }
  if (nlong) PetscCall(SlicesLongRows_Private(S, cap, csr->ai, stream));
  PetscCall(PolderDeviceMalloc(sizeof(int) * S->steps, &S->base));
  PetscCall(PolderDeviceMalloc(64 * (size_t)S->units, &S->col));
  PetscCall(PolderDeviceMalloc(32 * sizeof(PetscScalar) * S->steps, &S->val));
  S->s.ptr  = S->ptr;
  S->s.unit = S->unit;
  S->s.base = S->base;
  S->s.col  = S->col;
  S->s.val  = S->val;
  PetscCall(SlicesFill_Private(S, csr, PETSC_TRUE, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSlicesRefresh(Mat A, PolderAIJ aij, const PolderCSR *csr, void *data, PetscBool *done)
{
  PolderStream stream;

  PetscFunctionBegin;
  (void)A;
  (void)aij;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(SlicesFill_Private((Slices *)data, csr, PETSC_FALSE, stream));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSlicesMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  const Slices *S = (const Slices *)data;
  PolderStream  stream;
  void         *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderSlicesMult_CUDA(&S->s, alpha, x, y, z, dot, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSlicesDescribe(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored)
{
  const Slices *S      = (const Slices *)data;
  const int     narrow = S->steps ? (int)(100.0 * (2.0 - (double)S->units / S->steps)) : 100;

  PetscFunctionBegin;
  if (S->s.nlong)
    PetscCall(PetscSNPrintf(text, len, "%d slices of 32 rows by length, %d %% of the columns in 16 bits, %d longer rows", S->s.nslice, narrow, S->s.nlong));
  else PetscCall(PetscSNPrintf(text, len, "%d slices of 32 rows%s, %d %% of the columns in 16 bits", S->s.nslice, S->row ? " by length" : "", narrow));
  *stored = 32.0 * S->steps + S->entries;
  *bytes  = *stored * sizeof(PetscScalar) + 64.0 * S->units +
           sizeof(int) * (S->entries + (PetscLogDouble)S->steps + 2.0 * S->s.nslice + 2.0 * S->s.nseg + 2.0 * S->s.nlong + (S->row ? S->s.m : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
