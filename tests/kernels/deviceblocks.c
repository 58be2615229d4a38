static char help[] = "Blocks of strongly coupled rows on the device against the host twin: pairs, rows of blocks, steps by colours in either precision.\n\n";

#include "devicetest.h"
#include "kernels/levelblocks.h"

#define ROWS  2003
#define REACH 40
#define THETA 0.15

typedef struct {
  PetscInt     nz, i[ROWS + 1], *j;
  PetscScalar *a, d[ROWS];
} Matrix;

/* Far couplings are weak, near ones within groups of some rows strong, of both signs; the diagonal dominates */
static PetscErrorCode MatrixCreate(PetscInt group, Matrix *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(ROWS * 12, &A->j));
  PetscCall(PetscMalloc1(ROWS * 12, &A->a));
  A->nz = 0;
  for (PetscInt i = 0; i < ROWS; ++i) {
    A->i[i] = A->nz;
    for (PetscInt j = PetscMax(0, i - REACH); j <= PetscMin(ROWS - 1, i + REACH); ++j) {
      const PetscInt far = PetscAbsInt(i - j), h = (PetscMin(i, j) * 7919 + PetscMax(i, j) * 104729) & 0xffff;

      if (i != j && far != REACH && (far > 4 || i / group != j / group || i / group % 3 == 1)) continue;
      A->j[A->nz]   = j;
      A->a[A->nz++] = i == j ? 1 : far == REACH ? -0.01 : (h % 2 ? 1 : -1) * (0.1 + 0.02 * (h % 7));
    }
    A->d[i] = 1;
  }
  A->i[ROWS] = A->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pairs, their order included */
static PetscErrorCode TestPairs(const PolderRows *h, const PolderRows *d, const PetscReal diagonal[], PetscInt *count, PetscInt **pair, PetscReal **strength,
                                PolderStream stream, PetscInt *wrong)
{
  PetscInt   ptr[ROWS + 1], *dptr, positive = 0, *there, *dpair, *gotpair;
  PetscReal *dd, *dstrength, *got;

  PetscFunctionBeginUser;
  *wrong += !PolderBlockPairs_Host(h, diagonal, THETA, count, NULL, NULL);
  PetscCall(PetscMalloc1(2 * *count, pair));
  PetscCall(PetscMalloc1(*count, strength));
  (void)PolderBlockPairs_Host(h, diagonal, THETA, count, *pair, *strength);
  PetscCall(PolderDeviceUpload(sizeof(*dd) * ROWS, diagonal, &dd));
  PetscCall(PolderDeviceMalloc(sizeof(ptr), &dptr));
  PetscCall(PolderDeviceUpload(sizeof(positive), &positive, &there));
  PolderLaunch(PolderBlockCount_CUDA(d, dd, THETA, dptr, there, stream));
  PetscCall(PolderDeviceToHost(ptr, dptr, sizeof(ptr)));
  PetscCall(PolderDeviceToHost(&positive, there, sizeof(positive)));
  ptr[0] = 0;
  for (PetscInt i = 0; i < ROWS; ++i) ptr[i + 1] += ptr[i];
  *wrong += (positive != 1) + (ptr[ROWS] != *count);
  PetscCall(PolderDeviceFromHost(dptr, ptr, sizeof(ptr)));
  PetscCall(PolderDeviceMalloc(2 * sizeof(*dpair) * (size_t)*count, &dpair));
  PetscCall(PolderDeviceMalloc(sizeof(*dstrength) * (size_t)*count, &dstrength));
  PolderLaunch(PolderBlockFill_CUDA(d, dd, THETA, dptr, dpair, dstrength, stream));
  PetscCall(PetscMalloc2(2 * *count, &gotpair, *count, &got));
  PetscCall(PolderDeviceToHost(gotpair, dpair, 2 * sizeof(*dpair) * (size_t)*count));
  PetscCall(PolderDeviceToHost(got, dstrength, sizeof(*got) * (size_t)*count));
  for (PetscInt k = 0; k < 2 * *count; ++k) *wrong += gotpair[k] != (*pair)[k];
  for (PetscInt k = 0; k < *count; ++k) *wrong += !(PetscAbsReal(got[k] - (*strength)[k]) <= 1e-15);
  PetscCall(PetscFree2(gotpair, got));
  PetscCall(PolderDeviceFree(&dd));
  PetscCall(PolderDeviceFree(&dptr));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&dpair));
  PetscCall(PolderDeviceFree(&dstrength));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is left of pairs without those that are not connected to positive ones */
typedef struct {
  PetscInt   number[ROWS + 1], row[ROWS], rows, *keep, *kept;
  PetscReal *strength;
} Reach;

/* On the host; the blocks are those of all pairs */
static PetscErrorCode ReachHost(PetscInt count, const PetscInt pair[], const PetscReal strength[], Reach *R, PetscInt *wrong)
{
  PolderLevelBlocks all = {0}, some = {0};
  PetscInt          more = 1, *order, work[3 * ROWS];

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(R->number, ROWS + 1));
  PetscCall(PetscCalloc3(count + 1, &R->keep, 2 * count, &R->kept, count, &R->strength));
  PolderBlockSeed_Host(count, pair, R->number + 1);
  while (more) {
    more = 0;
    PolderBlockSpread_Host(count, pair, R->number + 1, &more);
  }
  PolderBlockKeep_Host(count, pair, R->number + 1, R->keep);
  for (PetscInt i = 0; i < ROWS; ++i) R->number[i + 1] += R->number[i];
  for (PetscInt k = 0; k < count; ++k) R->keep[k + 1] += R->keep[k];
  R->rows = R->number[ROWS];
  PolderBlockTake_Host(count, pair, strength, R->number, R->keep, R->kept, R->strength);
  PolderBlockMarked_Host(ROWS, R->number, R->row);
  PetscCall(
    PetscMalloc7(count, &order, count + 1, &all.ptr, 2 * count, &all.row, count + 1, &all.at, count + 1, &some.ptr, 2 * count, &some.row, count + 1, &some.at));
  for (PetscInt k = 0; k < count; ++k) order[k] = k;
  PolderBlockJoin_Host(ROWS, count, order, pair, work, &all);
  PolderBlockJoin_Host(R->rows, R->keep[count], order, R->kept, work, &some);
  *wrong += some.n != all.n || !all.n;
  for (PetscInt k = 0; k <= all.n; ++k) *wrong += some.ptr[k] != all.ptr[k];
  for (PetscInt r = 0; r < all.ptr[all.n] && !*wrong; ++r) *wrong += R->row[some.row[r]] != all.row[r];
  PetscCall(PetscFree7(order, all.ptr, all.row, all.at, some.ptr, some.row, some.at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on the device */
static PetscErrorCode TestReach(PetscInt count, const PetscInt pair[], const PetscReal strength[], PolderStream stream, PetscInt *wrong)
{
  Reach      R;
  PetscInt  *number, *dpair, *keep, *kept, *row, *there, more = 1;
  PetscReal *dstrength, *left;

  PetscFunctionBeginUser;
  PetscCall(ReachHost(count, pair, strength, &R, wrong));
  PetscCall(PolderDeviceUpload(2 * sizeof(*pair) * (size_t)count, pair, &dpair));
  PetscCall(PolderDeviceUpload(sizeof(*strength) * (size_t)count, strength, &dstrength));
  PetscCall(PolderDeviceMalloc(sizeof(R.number), &number));
  PetscCall(PolderDeviceZero(number, sizeof(R.number)));
  PetscCall(PolderDeviceMalloc(sizeof(more), &there));
  PolderLaunch(PolderBlockSeed_CUDA(count, dpair, number + 1, stream));
  while (more) {
    PetscCall(PolderDeviceZero(there, sizeof(more)));
    PolderLaunch(PolderBlockSpread_CUDA(count, dpair, number + 1, there, stream));
    PetscCall(PolderDeviceToHost(&more, there, sizeof(more)));
  }
  PetscCall(PolderDeviceMalloc(sizeof(*keep) * (size_t)(count + 1), &keep));
  PolderLaunch(PolderBlockKeep_CUDA(count, dpair, number + 1, keep, stream));
  for (PetscInt k = count; k > 0; --k) R.keep[k] -= R.keep[k - 1]; // the sums follow
  PetscCall(SameIndices("kept", count, R.keep + 1, keep + 1, wrong));
  for (PetscInt k = 0; k < count; ++k) R.keep[k + 1] += R.keep[k];
  PetscCall(PolderDeviceFromHost(number, R.number, sizeof(R.number)));
  PetscCall(PolderDeviceFromHost(keep, R.keep, sizeof(*keep) * (size_t)(count + 1)));
  PetscCall(PolderDeviceMalloc(2 * sizeof(*kept) * (size_t)count, &kept));
  PetscCall(PolderDeviceMalloc(sizeof(*left) * (size_t)count, &left));
  PetscCall(PolderDeviceMalloc(sizeof(R.row), &row));
  PolderLaunch(PolderBlockTake_CUDA(count, dpair, dstrength, number, keep, kept, left, stream));
  PolderLaunch(PolderBlockMarked_CUDA(ROWS, number, row, stream));
  PetscCall(SameIndices("pairs", 2 * R.keep[count], R.kept, kept, wrong));
  PetscCall(SameIndices("rows", R.rows, R.row, row, wrong));
  PetscCall(SameScalars("strengths", R.keep[count], R.strength, left, 0, wrong));
  void *const array[] = {&number, &dpair, &keep, &kept, &row, &there, &dstrength, &left};

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(array); ++k) PetscCall(PolderDeviceFree(array[k]));
  PetscCall(PetscFree3(R.keep, R.kept, R.strength));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies of the n rows row[] at both places */
static PetscErrorCode TestRows(const PolderRows *h, const PolderRows *d, PetscInt n, PetscInt row[], PolderSparseRows *H, PolderSparseRows *D,
                               PolderStream stream, PetscInt *wrong)
{
  PetscInt    *got;
  PetscScalar *val;

  PetscFunctionBeginUser;
  H->n = D->n = n;
  H->row      = row;
  PetscCall(PetscMalloc1(n + 1, &H->ptr));
  PolderRowsLength_Host(h, H);
  PetscCall(PolderDeviceUpload(sizeof(*row) * (size_t)n, row, &D->row));
  PetscCall(PolderDeviceMalloc(sizeof(*D->ptr) * (size_t)(n + 1), &D->ptr));
  PolderLaunch(PolderRowsLength_CUDA(d, D, stream));
  PetscCall(PetscMalloc1(n + 1, &got));
  PetscCall(PolderDeviceToHost(got, D->ptr, sizeof(*got) * (size_t)(n + 1)));
  for (PetscInt k = 1; k <= n; ++k) *wrong += got[k] != H->ptr[k];
  H->ptr[0] = 0;
  for (PetscInt k = 0; k < n; ++k) H->ptr[k + 1] += H->ptr[k];
  H->nz = D->nz = H->ptr[n];
  PetscCall(PetscFree(got));
  PetscCall(PolderDeviceFromHost(D->ptr, H->ptr, sizeof(*H->ptr) * (size_t)(n + 1)));
  PetscCall(PetscMalloc2(H->nz, &H->col, H->nz, &H->val));
  PetscCall(PetscMalloc2(H->nz, &got, H->nz, &val));
  PetscCall(PolderDeviceMalloc(sizeof(*D->col) * (size_t)D->nz, &D->col));
  PetscCall(PolderDeviceMalloc(sizeof(*D->val) * (size_t)D->nz, &D->val));
  PolderRowsTake_Host(h, H);
  PolderLaunch(PolderRowsTake_CUDA(d, D, stream));
  PetscCall(PolderDeviceToHost(got, D->col, sizeof(*got) * (size_t)D->nz));
  PetscCall(PolderDeviceToHost(val, D->val, sizeof(*val) * (size_t)D->nz));
  for (PetscInt e = 0; e < H->nz; ++e) *wrong += got[e] != H->col[e] || val[e] != H->val[e];
  PetscCall(PetscFree2(got, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each colour of a step, forward, on the whole matrix at the host and on its copies at the device; no block is coupled to another of its colour */
static PetscErrorCode TestSteps(const PolderRows *h, const PolderSparseRows *own, const PolderLevelBlocks *B, const PolderLevelBlocks *D, PolderStream stream,
                                PetscInt *wrong)
{
  const PolderRows A = PolderRowsOf(own);
  PetscScalar     *b, *x, *db, *dx, got[ROWS];
  float            bs[ROWS], xs[ROWS], gots[ROWS], *dbs, *dxs;

  PetscFunctionBeginUser;
  PetscCall(Random(ROWS, &b, &db));
  PetscCall(Random(ROWS, &x, &dx));
  for (PetscInt i = 0; i < ROWS; ++i) {
    bs[i] = (float)b[i];
    xs[i] = (float)x[i];
  }
  PetscCall(PolderDeviceUpload(sizeof(bs), bs, &dbs));
  PetscCall(PolderDeviceUpload(sizeof(xs), xs, &dxs));
  for (PetscInt c = 0; c < B->ncolour; ++c) {
    PolderBlockCorrect_Host(h, B, c, b, x);
    PolderBlockCorrectSingle_Host(h, B, c, bs, xs);
    PolderLaunch(PolderBlockCorrect_CUDA(PETSC_FALSE, &A, D, c, db, dx, stream));
    PolderLaunch(PolderBlockCorrect_CUDA(PETSC_TRUE, &A, D, c, dbs, dxs, stream));
    PetscCall(PolderDeviceToHost(got, dx, sizeof(got)));
    PetscCall(PolderDeviceToHost(gots, dxs, sizeof(gots)));
    *wrong += Wrong(ROWS, got, x, 1e-11);
    for (PetscInt i = 0; i < ROWS; ++i) *wrong += !(PetscAbsReal(gots[i] - xs[i]) <= 1e-4);
  }
  PetscCall(PetscFree(b));
  PetscCall(PetscFree(x));
  PetscCall(PolderDeviceFree(&db));
  PetscCall(PolderDeviceFree(&dx));
  PetscCall(PolderDeviceFree(&dbs));
  PetscCall(PolderDeviceFree(&dxs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of two blocks of one colour are not coupled */
static PetscInt Coupled(const PolderRows *A, const PolderLevelBlocks *B)
{
  PetscInt wrong = 0, of[ROWS];

  for (PetscInt c = 0; c < B->ncolour; ++c) {
    for (PetscInt i = 0; i < ROWS; ++i) of[i] = -1;
    for (PetscInt k = B->colour[c]; k < B->colour[c + 1]; ++k) {
      for (PetscInt r = B->ptr[B->order[k]]; r < B->ptr[B->order[k] + 1]; ++r) of[B->row[r]] = B->order[k];
    }
    for (PetscInt i = 0; i < ROWS; ++i) {
      for (PetscInt e = A->i[i]; e < A->i[i + 1] && of[i] >= 0; ++e) wrong += of[A->j[e]] >= 0 && of[A->j[e]] != of[i];
    }
  }
  return wrong;
}

static PetscErrorCode TestGroup(PetscInt group, PolderStream stream, PetscInt *wrong)
{
  Matrix            A;
  PolderRows        h, d = {.n = ROWS};
  PolderLevelBlocks B = {0}, D;
  PolderSparseRows  H, own;
  PetscInt          count, *pair, *order, *work, *di, *dj;
  PetscReal        *strength, shift[ROWS];
  PetscScalar      *da;

  PetscFunctionBeginUser;
  PetscCall(MatrixCreate(group, &A));
  h = (PolderRows){.n = ROWS, .i = A.i, .j = A.j, .a = A.a};
  PetscCall(PolderDeviceUpload(sizeof(A.i), A.i, &di));
  PetscCall(PolderDeviceUpload(sizeof(*A.j) * (size_t)A.nz, A.j, &dj));
  PetscCall(PolderDeviceUpload(sizeof(*A.a) * (size_t)A.nz, A.a, &da));
  d.i = di;
  d.j = dj;
  d.a = da;
  PetscCall(TestPairs(&h, &d, A.d, &count, &pair, &strength, stream, wrong));
  PetscCall(TestReach(count, pair, strength, stream, wrong));
  PetscCall(PetscMalloc5(count + 1, &B.ptr, 2 * count, &B.row, count + 1, &B.at, count, &order, 4 * ROWS, &work));
  for (PetscInt k = 0; k < count; ++k) order[k] = k;
  PolderBlockJoin_Host(ROWS, count, order, pair, work, &B);
  PetscCall(PetscMalloc3(B.n, &B.order, POLDER_BLOCK_COLOURS + 1, &B.colour, B.at[B.n], &B.factor));
  PolderBlockColour_Host(ROWS, &h, work, &B);
  for (PetscInt i = 0; i < ROWS; ++i) shift[i] = 0.01 * (i % 7);
  B.shift = shift;
  PolderBlockFactor_Host(&h, &B);
  *wrong += Coupled(&h, &B) + (B.n < 10) + (B.colour[B.ncolour] != B.n);
  PetscCall(TestRows(&h, &d, B.ptr[B.n], B.row, &H, &own, stream, wrong));
  D     = B;
  D.own = PETSC_TRUE;
  D.row = own.row;
  PetscCall(PolderDeviceUpload(sizeof(*B.ptr) * (size_t)(B.n + 1), B.ptr, &D.ptr));
  PetscCall(PolderDeviceUpload(sizeof(*B.at) * (size_t)(B.n + 1), B.at, &D.at));
  PetscCall(PolderDeviceUpload(sizeof(*B.order) * (size_t)B.n, B.order, &D.order));
  PetscCall(PolderDeviceUpload(sizeof(*B.factor) * (size_t)B.at[B.n], B.factor, &D.factor));
  PetscCall(PolderDeviceUpload(sizeof(shift), shift, &D.shift));
  PetscCall(TestSteps(&h, &own, &B, &D, stream, wrong));
  PetscCall(PolderDeviceFree(&D.ptr));
  PetscCall(PolderDeviceFree(&D.at));
  PetscCall(PolderDeviceFree(&D.order));
  PetscCall(PolderDeviceFree(&D.factor));
  PetscCall(PolderDeviceFree((void *)&D.shift));
  PetscCall(PolderDeviceFree(&own.row));
  PetscCall(PolderDeviceFree(&own.ptr));
  PetscCall(PolderDeviceFree(&own.col));
  PetscCall(PolderDeviceFree(&own.val));
  PetscCall(PetscFree(H.ptr));
  PetscCall(PetscFree2(H.col, H.val));
  PetscCall(PetscFree3(B.order, B.colour, B.factor));
  PetscCall(PetscFree5(B.ptr, B.row, B.at, order, work));
  PetscCall(PetscFree(pair));
  PetscCall(PetscFree(strength));
  PetscCall(PolderDeviceFree(&di));
  PetscCall(PolderDeviceFree(&dj));
  PetscCall(PolderDeviceFree(&da));
  PetscCall(PetscFree(A.j));
  PetscCall(PetscFree(A.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBlocks(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt groups[] = {2, 5, 17, 40};

  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(groups); ++g) {
    PetscInt wrong = 0;
    char     name[32];

    PetscCall(TestGroup(groups[g], stream, &wrong));
    PetscCall(PetscSNPrintf(name, sizeof(name), "groups of %d rows", (int)groups[g]));
    PetscCall(Report(name, wrong));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestBlocks}};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
