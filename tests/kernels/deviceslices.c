static const char help[] = "Device kernels of sliced rows against their host twins: every array that is built, and the product in its forms.\n\n";

#include "devicetest.h"
#include "kernels/slices.h"

/* One array here and on the device, where it starts as NaN or as 0xffffffff */
typedef struct {
  size_t bytes;
  void  *host, *device, *back;
} Both;

static PetscErrorCode BothCreate(size_t bytes, Both *b)
{
  PetscFunctionBeginUser;
  b->bytes = bytes;
  PetscCall(PetscMalloc1(bytes + 1, (char **)&b->host));
  PetscCall(PetscMalloc1(bytes + 1, (char **)&b->back));
  memset(b->host, 0xff, bytes);
  PetscCall(PolderDeviceMalloc(bytes, &b->device));
  PetscCall(PolderDeviceFromHost(b->device, b->host, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BothUpload(Both *b)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFromHost(b->device, b->host, b->bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BothDownload(Both *b)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceToHost(b->back, b->device, b->bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BothDestroy(Both *b)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(b->host));
  PetscCall(PetscFree(b->back));
  PetscCall(PolderDeviceFree(&b->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt cases, wrong;
} Count;

/* The device must hold what the twin wrote, bit for bit */
static PetscErrorCode Same(Count *c, const char *what, PetscInt m, Both *b)
{
  PetscFunctionBeginUser;
  PetscCall(BothDownload(b));
  ++c->cases;
  if (b->bytes && memcmp(b->host, b->back, b->bytes)) {
    ++c->wrong;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s differs, %" PetscInt_FMT " rows\n", what, m));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row lengths: short ones, some empty, few of them long; spread: how far columns lie apart */
static PetscErrorCode Matrix(PetscInt m, PetscInt n, PetscInt longest, PetscInt spread, Both *ai, Both *aj, Both *aa)
{
  PetscInt *i, nz = 0;

  PetscFunctionBeginUser;
  PetscCall(BothCreate(sizeof(PetscInt) * (m + 1), ai));
  i    = (PetscInt *)ai->host;
  i[0] = 0;
  for (PetscInt r = 0; r < m; ++r) {
    PetscInt len = Next(10);

    if (Next(50) == 0) len = Next(longest + 1);
    i[r + 1] = i[r] + PetscMin(len, n);
  }
  nz = i[m];
  PetscCall(BothCreate(sizeof(PetscInt) * nz, aj));
  PetscCall(BothCreate(sizeof(PetscScalar) * nz, aa));
  for (PetscInt r = 0; r < m; ++r) {
    for (PetscInt k = i[r]; k < i[r + 1]; ++k) {
      ((PetscInt *)aj->host)[k]    = spread ? (r + Next(PetscMin(spread, n))) % n : Next(n);
      ((PetscScalar *)aa->host)[k] = Next(2000) / 1000.0 - 1.0;
    }
  }
  PetscCall(BothUpload(ai));
  PetscCall(BothUpload(aj));
  PetscCall(BothUpload(aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scan(Count *c, PetscInt n, Both *a, PolderStream stream, int *sum)
{
  const size_t bytes = PolderWorkSize(PolderScanWork_CUDA(n));
  void        *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderScan_CUDA(n, (int *)a->device, work, bytes, stream));
  PolderScan_Host(n, (int *)a->host);
  PetscCall(Same(c, "scan", n, a));
  *sum = ((int *)a->host)[n];
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product in its forms with the arrays of H and D */
static PetscErrorCode Mult(Count *c, PetscInt n, const PolderSlices *H, const PolderSlices *D, void *work, PolderStream stream)
{
  const PetscInt m = H->m;
  Both           x, y, z, dot;

  PetscFunctionBeginUser;
  PetscCall(BothCreate(sizeof(PetscScalar) * n, &x));
  PetscCall(BothCreate(sizeof(PetscScalar) * m, &y));
  for (PetscInt i = 0; i < n; ++i) ((PetscScalar *)x.host)[i] = Next(2000) / 1000.0 - 1.0;
  for (PetscInt i = 0; i < m; ++i) ((PetscScalar *)y.host)[i] = Next(2000) / 1000.0 - 1.0;
  PetscCall(BothUpload(&x));
  PetscCall(BothUpload(&y));
  for (int form = 0; form < 6; ++form) { /* y absent, y another, y in place; each with and without the inner product, which is for square matrices */
    const PetscScalar alpha = form % 2 ? -0.7 : 1.0;
    const PetscBool   with = (PetscBool)(form >= 3 && n == m), in_place = (PetscBool)(form % 3 == 2);
    PetscScalar       before = 0.0, tol = 1e-13 * 4000, *zh, *zb;

    PetscCall(BothCreate(sizeof(PetscScalar) * m, &z));
    PetscCall(BothCreate(sizeof(PetscScalar), &dot));
    if (in_place) {
      if (m) memcpy(z.host, y.host, z.bytes);
      PetscCall(BothUpload(&z));
    }
    PolderSlicesMult_Host(H, alpha, (PetscScalar *)x.host, form % 3 == 0 ? NULL : (PetscScalar *)(in_place ? z.host : y.host), (PetscScalar *)z.host,
                          with ? (PetscScalar *)dot.host : NULL);
    for (int again = 0; again < 2; ++again) { /* the second run must find counters as the first did, and give the same bits */
      if (again && in_place) break;
      PolderLaunch(PolderSlicesMult_CUDA(D, alpha, (PetscScalar *)x.device, form % 3 == 0 ? NULL : (PetscScalar *)(in_place ? z.device : y.device),
                                         (PetscScalar *)z.device, with ? (PetscScalar *)dot.device : NULL, work, stream));
      PetscCall(BothDownload(&z));
      ++c->cases;
      zh = (PetscScalar *)z.host;
      zb = (PetscScalar *)z.back;
      for (PetscInt i = 0; i < m; ++i) {
        if (PetscAbsScalar(zh[i] - zb[i]) <= tol) continue;
        ++c->wrong;
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "  product differs, form %d, %" PetscInt_FMT " rows\n", form, m));
        break;
      }
      if (!with) continue;
      PetscCall(BothDownload(&dot));
      ++c->cases;
      if (!(PetscAbsScalar(*(PetscScalar *)dot.host - *(PetscScalar *)dot.back) <= 1e-12 * (m + 4000)) || (again && before != *(PetscScalar *)dot.back)) {
        ++c->wrong;
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "  inner product differs, %" PetscInt_FMT " rows\n", m));
      }
      before = *(PetscScalar *)dot.back;
    }
    PetscCall(BothDestroy(&z));
    PetscCall(BothDestroy(&dot));
  }
  PetscCall(BothDestroy(&x));
  PetscCall(BothDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOST(b)   ((int *)(b).host)
#define DEVICE(b) ((int *)(b).device)

/* One matrix, here and on the device */
typedef struct {
  PolderRows host, device;
} BothRows;

/* Long rows: H and D get their arrays, which the caller destroys */
static PetscErrorCode Long(Count *c, int cap, const BothRows *A, PolderSlices *H, PolderSlices *D, Both part[8], PolderStream stream)
{
  const PetscInt      m = H->m;
  Both                entry, segment, lrow;
  PolderLongRowCounts host, device;
  int                 entries;
  Both *row = &part[0], *first = &part[1], *owner = &part[2], *start = &part[3], *col = &part[4], *val = &part[5], *sum = &part[6], *counter = &part[7];

  PetscFunctionBeginUser;
  PetscCall(BothCreate(sizeof(int) * (m + 1), &entry));
  PetscCall(BothCreate(sizeof(int) * (m + 1), &segment));
  PetscCall(BothCreate(sizeof(int) * (m + 1), &lrow));
  host   = (PolderLongRowCounts){HOST(entry), HOST(segment), HOST(lrow)};
  device = (PolderLongRowCounts){DEVICE(entry), DEVICE(segment), DEVICE(lrow)};
  PolderLongRowsCount_Host(m, cap, A->host.i, host);
  PolderLaunch(PolderLongRowsCount_CUDA(m, cap, A->device.i, device, stream));
  PetscCall(Scan(c, m, &entry, stream, &entries));
  PetscCall(Scan(c, m, &segment, stream, &H->nseg));
  PetscCall(Scan(c, m, &lrow, stream, &H->nlong));
  PetscCall(BothCreate(sizeof(int) * H->nlong, row));
  PetscCall(BothCreate(sizeof(int) * (H->nlong + 1), first));
  PetscCall(BothCreate(sizeof(int) * H->nseg, owner));
  PetscCall(BothCreate(sizeof(int) * (H->nseg + 1), start));
  PetscCall(BothCreate(sizeof(int) * entries, col));
  PetscCall(BothCreate(sizeof(PetscScalar) * entries, val));
  PetscCall(BothCreate(sizeof(PetscScalar) * H->nseg, sum));
  PetscCall(BothCreate(sizeof(int) * H->nlong, counter));
  PetscCall(PolderDeviceZero(counter->device, counter->bytes));
  if (m) PolderLongRowsMake_Host(m, host, HOST(*row), HOST(*first), HOST(*owner), HOST(*start));
  PolderLaunch(PolderLongRowsMake_CUDA(m, device, DEVICE(*row), DEVICE(*first), DEVICE(*owner), DEVICE(*start), stream));
  PetscCall(Same(c, "long row", m, row));
  PetscCall(Same(c, "first segment", m, first));
  PetscCall(Same(c, "owner", m, owner));
  PetscCall(Same(c, "start", m, start));
  D->nseg    = H->nseg;
  D->nlong   = H->nlong;
  H->lrow    = HOST(*row);
  D->lrow    = DEVICE(*row);
  H->first   = HOST(*first);
  D->first   = DEVICE(*first);
  H->owner   = HOST(*owner);
  D->owner   = DEVICE(*owner);
  H->start   = HOST(*start);
  D->start   = DEVICE(*start);
  H->lcol    = HOST(*col);
  D->lcol    = DEVICE(*col);
  H->lval    = (PetscScalar *)val->host;
  D->lval    = (PetscScalar *)val->device;
  D->part    = (PetscScalar *)sum->device;
  D->counter = (unsigned int *)counter->device;
  for (int values = 0; values < 2; ++values) {
    PolderLongRowsFill_Host(H, A->host, values ? NULL : HOST(*col), (PetscScalar *)val->host);
    PolderLaunch(PolderLongRowsFill_CUDA(D, A->device, values ? NULL : DEVICE(*col), (PetscScalar *)val->device, stream));
    PetscCall(Same(c, "long columns", m, col));
    PetscCall(Same(c, "long values", m, val));
  }
  PetscCall(BothDestroy(&entry));
  PetscCall(BothDestroy(&segment));
  PetscCall(BothDestroy(&lrow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Histogram(Count *c, PetscInt m, Both *ai, PolderStream stream)
{
  Both count;

  PetscFunctionBeginUser;
  PetscCall(BothCreate(sizeof(int) * 64, &count));
  memset(count.host, 0, count.bytes);
  PetscCall(BothUpload(&count));
  PolderRowHistogram_Host(m, (PetscInt *)ai->host, 64, HOST(count));
  PolderLaunch(PolderRowHistogram_CUDA(m, (PetscInt *)ai->device, 64, DEVICE(count), stream));
  PetscCall(Same(c, "histogram", m, &count));
  PetscCall(BothDestroy(&count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the slices on the host, H, and on the device, D */
static void SetArrays(PolderSlices *H, PolderSlices *D, const Both *ptr, const Both *unit, const Both *base, const Both *col, const Both *val)
{
  H->ptr  = HOST(*ptr);
  D->ptr  = DEVICE(*ptr);
  H->unit = HOST(*unit);
  D->unit = DEVICE(*unit);
  H->base = HOST(*base);
  D->base = DEVICE(*base);
  H->col  = (unsigned short *)col->host;
  D->col  = (unsigned short *)col->device;
  H->val  = (PetscScalar *)val->host;
  D->val  = (PetscScalar *)val->device;
}

/* One matrix; cap < 0: rows in their order and none apart */
static PetscErrorCode Test(Count *c, PetscInt m, PetscInt n, PetscInt longest, PetscInt spread, int cap, void *work, PolderStream stream)
{
  Both         ai, aj, aa, row, ptr, unit, base, col, val, part[8];
  BothRows     A;
  PolderSlices H, D;
  int          steps, units;

  PetscFunctionBeginUser;
  memset(&H, 0, sizeof(H));
  H.m      = m;
  H.nslice = (int)((m + 31) / 32);
  D        = H;
  PetscCall(Matrix(m, n, longest, spread, &ai, &aj, &aa));
  A.host   = (PolderRows){.n = m, .i = (PetscInt *)ai.host, .j = (PetscInt *)aj.host, .a = (PetscScalar *)aa.host};
  A.device = (PolderRows){.n = m, .i = (PetscInt *)ai.device, .j = (PetscInt *)aj.device, .a = (PetscScalar *)aa.device};
  PetscCall(Histogram(c, m, &ai, stream));
  PetscCall(BothCreate(sizeof(int) * (cap < 0 ? 0 : m), &row));
  PetscCall(BothCreate(sizeof(int) * (H.nslice + 1), &ptr));
  PetscCall(BothCreate(sizeof(int) * (H.nslice + 1), &unit));
  if (cap >= 0) {
    PolderSlicesSort_Host(m, cap, (PetscInt *)ai.host, HOST(row));
    PolderLaunch(PolderSlicesSort_CUDA(m, cap, (PetscInt *)ai.device, DEVICE(row), stream));
    PetscCall(Same(c, "order", m, &row));
    H.row = HOST(row);
    D.row = DEVICE(row);
    PetscCall(Long(c, cap, &A, &H, &D, part, stream));
  }
  PolderSlicesSize_Host(&H, A.host, HOST(ptr), HOST(unit));
  PolderLaunch(PolderSlicesSize_CUDA(&D, A.device, DEVICE(ptr), DEVICE(unit), stream));
  PetscCall(Scan(c, H.nslice, &ptr, stream, &steps));
  PetscCall(Scan(c, H.nslice, &unit, stream, &units));
  PetscCall(BothCreate(sizeof(int) * steps, &base));
  PetscCall(BothCreate(64 * (size_t)units, &col));
  PetscCall(BothCreate(32 * sizeof(PetscScalar) * steps, &val));
  SetArrays(&H, &D, &ptr, &unit, &base, &col, &val);
  for (int values = 0; values < 2; ++values) {
    PolderSlicesFill_Host(&H, A.host, HOST(base), values ? NULL : (unsigned short *)col.host, (PetscScalar *)val.host);
    PolderLaunch(PolderSlicesFill_CUDA(&D, A.device, DEVICE(base), values ? NULL : (unsigned short *)col.device, (PetscScalar *)val.device, stream));
    PetscCall(Same(c, "bases", m, &base));
    PetscCall(Same(c, "columns", m, &col));
    PetscCall(Same(c, "values", m, &val));
  }
  PetscCall(Mult(c, n, &H, &D, work, stream));
  for (int k = 0; k < 8 && cap >= 0; ++k) PetscCall(BothDestroy(&part[k]));
  PetscCall(BothDestroy(&row));
  PetscCall(BothDestroy(&ptr));
  PetscCall(BothDestroy(&unit));
  PetscCall(BothDestroy(&base));
  PetscCall(BothDestroy(&col));
  PetscCall(BothDestroy(&val));
  PetscCall(BothDestroy(&ai));
  PetscCall(BothDestroy(&aj));
  PetscCall(BothDestroy(&aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSizes(void *work, PolderStream stream)
{
  const PetscInt sizes[] = {0, 1, 2, 31, 32, 33, 255, 1023, 1024, 1025, 4097, 100003};
  PetscInt       largest = PETSC_MAX_INT;
  Count          c       = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-largest", &largest, NULL));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    const PetscInt m = sizes[s];

    if (m > largest) continue;
    PetscCall(Test(&c, m, PetscMax(m, 1), 9, 50, -1, work, stream));             /* as they are, 16 bits */
    PetscCall(Test(&c, m, PetscMax(m, 1), 60, 0, 40, work, stream));             /* by length, some apart */
    PetscCall(Test(&c, m, m / 2 + 1, 9, 0, 8, work, stream));                    /* fewer columns than rows */
    PetscCall(Test(&c, m, 200000, m < 5000 ? 20000 : 3000, 0, 0, work, stream)); /* every row apart, some in many segments; 32 bits */
    PetscCall(Test(&c, m, 200000, m < 5000 ? 20000 : 3000, 0, 9, work, stream));
    if (m == 100003) PetscCall(Test(&c, m, m, 60000, 0, 20, work, stream));
  }
  PetscCall(Report("sliced rows", c.wrong));
  PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " cases\n", c.cases));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestSizes}};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck
    requires: cuda
    timeoutfactor: 3

TEST*/
