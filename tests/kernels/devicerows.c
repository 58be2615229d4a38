static const char help
  [] = "Device kernels of compressed rows, of values in coordinates, of rows in two parts and of lists against the host: awkward sizes, poisoned output.\n\n";

#include "banded.h"
#include "devicetest.h"
#include "kernels/csr.h"
#include "kernels/dia.h"
#include "kernels/splitrows.h"

static const PetscInt Sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1025, 4097, 100003, 1 << 21};

/* A CSR matrix of n rows with about `mean` entries in n columns, some rows empty */
static PetscErrorCode Rows(PetscInt n, PetscInt mean, PetscInt **ai, PetscInt **aj)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n + 1, ai));
  (*ai)[0] = 0;
  for (PetscInt i = 0; i < n; ++i) (*ai)[i + 1] = (*ai)[i] + Next(2 * mean + 1);
  PetscCall(PetscMalloc1((*ai)[n] + 1, aj));
  for (PetscInt k = 0; k < (*ai)[n]; ++k) (*aj)[k] = Next(n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rows and every third one, with and without y and the dot */
static PetscErrorCode TestRowsMult(void *work, PolderStream stream)
{
  static const PetscInt means[] = {1, 5, 20, 60};
  PetscInt              wrong   = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes) - 1; ++s) {
    const PetscInt n = Sizes[s], mean = means[s % 4];
    PetscInt      *ai, *aj, *row, *aid, *ajd, *rowd, nrow = 0;
    PetscScalar   *a, *ad, *x, *xd, *y, *yd, *z, *zd, *out, *dotd;

    PetscCall(Rows(n, mean, &ai, &aj));
    PetscCall(PetscMalloc2(n, &row, n, &out));
    for (PetscInt i = 0; i < n; i += 3) row[nrow++] = i;
    PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (n + 1), ai, &aid));
    PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (ai[n]), aj, &ajd));
    PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (nrow), row, &rowd));
    PetscCall(Random(ai[n], &a, &ad));
    PetscCall(Random(n, &x, &xd));
    PetscCall(Random(n, &y, &yd));
    PetscCall(PolderDeviceMalloc(sizeof(*dotd), &dotd));
    for (int variant = 0; variant < 8; ++variant) {
      const PetscBool some = (PetscBool)(variant % 2), add = (PetscBool)(variant / 2 % 2), dots = (PetscBool)(variant / 4);
      PetscScalar     dot = 0.5, expected = 0.5;

      PetscCall(Random(n, &z, &zd)); /* rows that are not asked for must stay */
      PetscCall(PolderDeviceFromHost(dotd, &dot, sizeof(dot)));
      PolderLaunch(PolderCsrMult_CUDA((PolderRows){n, aid, ajd, ad, ai[n]}, (PolderRowList){some ? nrow : n, some ? rowd : NULL}, -0.5, xd, add ? yd : NULL, zd,
                                      (PolderRowsDot){xd, dots ? dotd : NULL, work}, stream));
      PolderCsrMult_Host((PolderRows){n, ai, aj, a, ai[n]}, (PolderRowList){some ? nrow : n, some ? row : NULL}, -0.5, x, add ? y : NULL, z,
                         (PolderRowsDot){x, dots ? &expected : NULL, NULL});
      PetscCall(PolderDeviceToHost(out, zd, sizeof(PetscScalar) * n));
      PetscCall(PolderDeviceToHost(&dot, dotd, sizeof(dot)));
      wrong += Wrong(n, out, z, 1e-13 * (mean + 1)) + Wrong(1, &dot, &expected, 1e-13 * (n * mean + 1));
      PetscCall(PetscFree(z));
      PetscCall(PolderDeviceFree(&zd));
    }
    PetscCall(PolderDeviceFree(&dotd));
    PetscCall(PolderDeviceFree(&aid));
    PetscCall(PolderDeviceFree(&ajd));
    PetscCall(PolderDeviceFree(&rowd));
    PetscCall(PolderDeviceFree(&ad));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(PolderDeviceFree(&yd));
    PetscCall(PetscFree(a));
    PetscCall(PetscFree(x));
    PetscCall(PetscFree(y));
    PetscCall(PetscFree(ai));
    PetscCall(PetscFree(aj));
    PetscCall(PetscFree2(row, out));
  }
  PetscCall(Report("product of compressed rows", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal; entry i of z as the sum of the values of x that row i names; values gathered by the columns */
static PetscErrorCode TestRowsValues(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt diagonal = 0, magnitude = 0, coo = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes) - 1; ++s) {
    const PetscInt n = Sizes[s];
    PetscInt      *ai, *aj, *aid, *ajd;
    PetscScalar   *a, *ad, *x, *xd, *z, *zd, *out;

    PetscCall(Rows(n, 4, &ai, &aj));
    PetscCall(PetscMalloc1(n + ai[n], &out));
    PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (n + 1), ai, &aid));
    PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (ai[n]), aj, &ajd));
    PetscCall(Random(ai[n], &a, &ad));
    PetscCall(Random(n, &x, &xd));
    PetscCall(Random(n, &z, &zd));
    PolderLaunch(PolderCsrDiagonal_CUDA(n, aid, ajd, ad, zd, stream));
    PolderCsrDiagonal_Host(n, ai, aj, a, z);
    PetscCall(PolderDeviceToHost(out, zd, sizeof(PetscScalar) * n));
    diagonal += Wrong(n, out, z, 0.0);
    for (int add = 0; add < 2; ++add) {
      PolderLaunch(PolderCsrMagnitude_CUDA(n, aid, ajd, ad, xd, add ? PETSC_TRUE : PETSC_FALSE, zd, stream));
      PolderCsrMagnitude_Host(n, ai, aj, a, x, add ? PETSC_TRUE : PETSC_FALSE, z);
      PetscCall(PolderDeviceToHost(out, zd, sizeof(PetscScalar) * n));
      magnitude += Wrong(n, out, z, 1e-13);
    }
    for (int insert = 0; insert < 2; ++insert) {
      PolderLaunch(PolderCooSum_CUDA(n, aid, ajd, xd, insert ? PETSC_TRUE : PETSC_FALSE, zd, stream));
      PolderCooSum_Host(n, ai, aj, x, insert ? PETSC_TRUE : PETSC_FALSE, z);
      PetscCall(PolderDeviceToHost(out, zd, sizeof(PetscScalar) * n));
      coo += Wrong(n, out, z, 0.0);
      PolderLaunch(PolderCooSum_CUDA(n, NULL, NULL, xd, insert ? PETSC_TRUE : PETSC_FALSE, zd, stream));
      PolderCooSum_Host(n, NULL, NULL, x, insert ? PETSC_TRUE : PETSC_FALSE, z);
      PetscCall(PolderDeviceToHost(out, zd, sizeof(PetscScalar) * n));
      coo += Wrong(n, out, z, 0.0);
    }
    PolderLaunch(PolderGather_CUDA(ai[n], ajd, xd, ad, stream));
    PetscCall(PolderDeviceToHost(out, ad, sizeof(PetscScalar) * ai[n]));
    for (PetscInt k = 0; k < ai[n]; ++k) coo += out[k] != x[aj[k]];
    PetscCall(PolderDeviceFree(&aid));
    PetscCall(PolderDeviceFree(&ajd));
    PetscCall(PolderDeviceFree(&ad));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(PolderDeviceFree(&zd));
    PetscCall(PetscFree(a));
    PetscCall(PetscFree(x));
    PetscCall(PetscFree(z));
    PetscCall(PetscFree(ai));
    PetscCall(PetscFree(aj));
    PetscCall(PetscFree(out));
  }
  PetscCall(Report("diagonal of compressed rows", diagonal));
  PetscCall(Report("magnitude of compressed rows", magnitude));
  PetscCall(Report("values in coordinates", coo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n entries in stretches of 1 to 700, of up to `most` from the middle on, 1 to 5 values left out before each but perhaps the first */
static PetscErrorCode CountStretches(PetscInt n, PetscInt most, PolderStream stream, PetscInt *wrong)
{
  PetscInt     count = 0, *first, *skip, *firstd, *skipd;
  PetscScalar *v, *vd, *z, *zd, *out;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n + 1, &first, n, &skip, n, &out));
  for (PetscInt e = 0; e < n; e += Next(e < n / 2 ? 700 : most) + 1, ++count) {
    first[count] = e;
    skip[count]  = count ? skip[count - 1] + 1 + Next(5) : Next(2);
  }
  first[count] = n;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (count + 1), first, &firstd));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * count, skip, &skipd));
  PetscCall(Random(n + (count ? skip[count - 1] : 0), &v, &vd));
  PetscCall(Random(n, &z, &zd));
  for (int insert = 0; insert < 2; ++insert) {
    PolderLaunch(PolderCooTake_CUDA(n, count, firstd, skipd, vd, insert ? PETSC_TRUE : PETSC_FALSE, zd, stream));
    PolderCooTake_Host(n, count, first, skip, v, insert ? PETSC_TRUE : PETSC_FALSE, z);
    PetscCall(PolderDeviceToHost(out, zd, sizeof(PetscScalar) * n));
    *wrong += Wrong(n, out, z, 0.0);
  }
  PetscCall(PolderDeviceFree(&firstd));
  PetscCall(PolderDeviceFree(&skipd));
  PetscCall(PolderDeviceFree(&vd));
  PetscCall(PolderDeviceFree(&zd));
  PetscCall(PetscFree(v));
  PetscCall(PetscFree(z));
  PetscCall(PetscFree3(first, skip, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last size takes the kernel of several entries a thread */
static PetscErrorCode TestStretches(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) PetscCall(CountStretches(Sizes[s], 700, stream, &wrong));
  PetscCall(CountStretches(2300001, 50000, stream, &wrong));
  PetscCall(Report("values in coordinates in order", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of one array, and of two of which the second one may be empty */
static PetscErrorCode TestGather(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 1; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    const PetscInt n = Sizes[s];
    PetscInt      *index, *indexd;
    PetscScalar   *x, *y, *xd, *yd;

    PetscCall(PetscMalloc3(n, &index, n, &x, n, &y));
    for (PetscInt k = 0; k < n; ++k) {
      index[k] = Next(n);
      x[k]     = Number();
    }
    PetscCall(PolderDeviceUpload(sizeof(*index) * (size_t)n, index, &indexd));
    PetscCall(PolderDeviceUpload(sizeof(*x) * (size_t)n, x, &xd));
    PetscCall(PolderDeviceMalloc(sizeof(*y) * (size_t)n, &yd));
    for (int parts = 0; parts < 3; ++parts) { // of one array: the second one is half of it, or empty
      const PetscInt m = parts < 2 ? n / 2 : n;

      PetscCall(PolderDeviceZero(yd, sizeof(*y) * (size_t)n));
      if (parts) PolderLaunch(PolderGatherJoined_CUDA(n, indexd, m, xd, xd + m, yd, stream));
      else PolderLaunch(PolderGather_CUDA(n, indexd, xd, yd, stream));
      if (parts) PolderGatherJoined_Host(n, index, m, x, x + m, y);
      else PolderGather_Host(n, index, x, y);
      for (PetscInt k = 0; k < n; ++k) wrong += y[k] != x[index[k]];
      PetscCall(SameScalars("values", n, y, yd, 0, &wrong));
    }
    PetscCall(PolderDeviceFree(&indexd));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(PolderDeviceFree(&yd));
    PetscCall(PetscFree3(index, x, y));
  }
  PetscCall(Report("values at a list of places", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of a process in two parts, of which the second is empty for some, on the host and on the device, and where they begin among those of all */
typedef struct {
  PolderSplitRows at[2];
  PetscInt       *ai, *aj, *row, *ptr, *col, *start[2], ghost[20];
  PetscScalar    *a, *b;
} Split;

static PetscErrorCode SplitToDevice(Split *S)
{
  const PolderSplitRows *A = &S->at[0];
  PolderSplitRows       *D = &S->at[1];
  const size_t           n = (size_t)A->n, rows = (size_t)A->outer.n, nz = (size_t)A->outer.nz, own = (size_t)S->ai[n];

  PetscFunctionBeginUser;
  *D = *A;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (n + 1), S->ai, (void *)&D->own.i));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * own, S->aj, (void *)&D->own.j));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * own, S->a, (void *)&D->own.a));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * rows, S->row, &D->outer.row));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (rows + 1), S->ptr, &D->outer.ptr));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * nz, S->col, &D->outer.col));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * nz, S->b, &D->outer.val));
  PetscCall(PolderDeviceUpload(sizeof(S->ghost), S->ghost, (void *)&D->ghost));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (n + 1), S->start[0], &S->start[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SplitCreate(PetscInt n, Split *S)
{
  const PetscInt first = 7, ghosts = PETSC_STATIC_ARRAY_LENGTH(S->ghost);
  PetscInt       rows = 0, nz = 0;

  PetscFunctionBeginUser;
  for (PetscInt g = 0; g < ghosts; ++g) S->ghost[g] = g < first ? g : n + g;
  PetscCall(Rows(n, 5, &S->ai, &S->aj));
  PetscCall(PetscMalloc4(n, &S->row, n + 1, &S->ptr, 3 * n, &S->col, n + 1, &S->start[0]));
  S->ptr[0] = S->start[0][0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt more = Next(3) ? 0 : 1 + Next(3);

    S->start[0][i + 1] = S->start[0][i] + S->ai[i + 1] - S->ai[i] + more;
    if (!more) continue;
    for (PetscInt k = 0; k < more; ++k) S->col[nz++] = Next(ghosts);
    S->row[rows]   = i;
    S->ptr[++rows] = nz;
  }
  PetscCall(PetscMalloc2(S->ai[n] + 1, &S->a, nz + 1, &S->b));
  for (PetscInt k = 0; k < S->ai[n]; ++k) S->a[k] = Number();
  for (PetscInt k = 0; k < nz; ++k) S->b[k] = Number();
  S->at[0] = (PolderSplitRows){
    .n     = n,
    .first = first,
    .own   = {.n = n,         .i = S->ai,    .j = S->aj,    .a = S->a  },
    .outer = { .n = rows, .nz = nz, .row = S->row, .ptr = S->ptr, .col = S->col, .val = S->b},
    .ghost = S->ghost
  };
  PetscCall(SplitToDevice(S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SplitDestroy(Split *S)
{
  PolderSplitRows *D       = &S->at[1];
  void *const      there[] = {(void *)&D->own.i, (void *)&D->own.j, (void *)&D->own.a, &D->outer.row, &D->outer.ptr,
                              &D->outer.col,     &D->outer.val,     (void *)&D->ghost, &S->start[1]};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(there); ++k) PetscCall(PolderDeviceFree(there[k]));
  PetscCall(PetscFree2(S->a, S->b));
  PetscCall(PetscFree4(S->row, S->ptr, S->col, S->start[0]));
  PetscCall(PetscFree(S->ai));
  PetscCall(PetscFree(S->aj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lengths of the rows, their entries without and with columns, and these as indices: of both, and each row has its own entries after those of ghosts before */
static PetscErrorCode SplitCompare(const Split *S, PolderStream stream, PetscInt *wrong)
{
  const PetscInt n = S->at[0].n, *start = S->start[0], nz = start[n];
  PetscReal     *length[2], *c[2];
  PetscScalar   *val[2];
  PetscInt      *index[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(n, &length[0], nz, &c[0], nz, &val[0], nz, &index[0]));
  PetscCall(PolderDeviceMalloc(sizeof(PetscReal) * (size_t)n, &length[1]));
  PetscCall(PolderDeviceMalloc(sizeof(PetscReal) * (size_t)nz, &c[1]));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)nz, &val[1]));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)nz, &index[1]));
  PolderSplitRowsLength_Host(&S->at[0], length[0]);
  PolderSplitRowsMerge_Host(&S->at[0], start, c[0], val[0]);
  PolderIndexOfReals_Host(nz, c[0], index[0]);
  PolderLaunch(PolderSplitRowsLength_CUDA(&S->at[1], length[1], stream));
  PetscCall(SameScalars("lengths", n, length[0], length[1], 0, wrong));
  for (int columns = 0; columns < 2; ++columns) {
    PolderLaunch(PolderSplitRowsMerge_CUDA(&S->at[1], S->start[1], columns ? c[1] : NULL, val[1], stream));
    PetscCall(SameScalars("entries", nz, val[0], val[1], 0, wrong));
  }
  PetscCall(SameScalars("columns", nz, c[0], c[1], 0, wrong));
  PolderLaunch(PolderIndexOfReals_CUDA(nz, c[1], index[1], stream));
  PetscCall(SameIndices("indices", nz, index[0], index[1], wrong));
  for (PetscInt k = 0; k < nz; ++k) *wrong += (PetscReal)index[0][k] != c[0][k];
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt at = start[i];

    *wrong += (PetscInt)length[0][i] != start[i + 1] - start[i];
    while (at < start[i + 1] && index[0][at] < S->at[0].first) ++at;
    for (PetscInt a = S->ai[i]; a < S->ai[i + 1]; ++a, ++at) *wrong += index[0][at] != S->at[0].first + S->aj[a] || val[0][at] != S->a[a];
  }
  PetscCall(PetscFree4(length[0], c[0], val[0], index[0]));
  PetscCall(PolderDeviceFree(&length[1]));
  PetscCall(PolderDeviceFree(&c[1]));
  PetscCall(PolderDeviceFree(&val[1]));
  PetscCall(PolderDeviceFree(&index[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSplit(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 1; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    Split S;

    PetscCall(SplitCreate(Sizes[s], &S));
    PetscCall(SplitCompare(&S, stream, &wrong));
    PetscCall(SplitDestroy(&S));
  }
  PetscCall(Report("rows in two parts", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMarks(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    const PetscInt n = Sizes[s];
    PetscInt      *list, *listd, number = 0, at = 1;
    char          *mark, *markd;

    PetscCall(PetscMalloc1(n, &mark));
    for (PetscInt i = 0; i < n; ++i) number += mark[i] = Next(100) == 0;
    PetscCall(PolderDeviceMalloc(n, &markd));
    PetscCall(PolderDeviceFromHost(markd, mark, n));
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (number + 1), &listd));
    for (PetscInt most = number; most >= 0; most -= PetscMax(1, number)) { /* room for all, and for none */
      PetscCall(PolderDeviceZero(listd, sizeof(PetscInt)));
      PolderLaunch(PolderMarkedList_CUDA(n, markd, most, listd + 1, listd, stream));
      PetscCall(PetscMalloc1(number + 1, &list));
      PetscCall(PolderDeviceToHost(list, listd, sizeof(PetscInt) * (number + 1)));
      wrong += list[0] != number;
      PetscCall(PetscSortInt(number, list + 1));
      at = 1;
      for (PetscInt i = 0; i < n && at <= number; ++i) {
        if (mark[i]) wrong += list[at++] != i;
      }
      PetscCall(PetscFree(list));
    }
    PetscCall(PolderDeviceFree(&listd));
    PetscCall(PolderDeviceFree(&markd));
    PetscCall(PetscFree(mark));
  }
  PetscCall(Report("list of marks", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPacked(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt diagonals[] = {1, 5, 7, 9, 31};
  PetscInt              wrong       = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < 2 * (PETSC_STATIC_ARRAY_LENGTH(Sizes) - 1); ++s) {
    const PetscInt m = Sizes[s / 2], nd = diagonals[s % PETSC_STATIC_ARRAY_LENGTH(diagonals)];
    PetscInt      *ai, *aid, *ajd, *out;
    PetscScalar   *aad, *values;
    void          *packed;
    Banded         B;

    PetscCall(BandedCreate(m, nd, (PetscBool)(s % 2), 320, &B));
    wrong += !BandedPack(&B, PETSC_TRUE);
    PetscCall(PetscMalloc2(m + 1, &ai, m * nd + 1, &out));
    PetscCall(PolderDeviceUpload(PolderPackedBytes(&B.P) * (size_t)m, B.packed, &packed));
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (m + 1), &aid));
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * B.ai[m], &ajd));
    PetscCall(Random(B.ai[m], &values, &aad));
    PolderUnpackCounts_Host(&B.P, B.packed, ai);
    PolderLaunch(PolderUnpackCounts_CUDA(&B.P, packed, aid, stream));
    PetscCall(PolderDeviceToHost(out, aid, sizeof(PetscInt) * (m + 1)));
    for (PetscInt i = 0; i <= m; ++i) wrong += out[i] != ai[i];
    PetscCall(PolderDeviceFromHost(aid, B.ai, sizeof(PetscInt) * (m + 1)));
    PolderLaunch(PolderUnpackRows_CUDA(&B.P, packed, aid, ajd, NULL, stream));
    PetscCall(PolderDeviceToHost(out, ajd, sizeof(PetscInt) * B.ai[m]));
    for (PetscInt k = 0; k < B.ai[m]; ++k) wrong += out[k] != B.aj[k];
    PolderLaunch(PolderUnpackRows_CUDA(&B.P, packed, aid, NULL, aad, stream));
    PetscCall(PolderDeviceToHost(values, aad, sizeof(PetscScalar) * B.ai[m]));
    wrong += Wrong(B.ai[m], values, B.aa, 0.0);
    PetscCall(PolderDeviceFree(&packed));
    PetscCall(PolderDeviceFree(&aid));
    PetscCall(PolderDeviceFree(&ajd));
    PetscCall(PolderDeviceFree(&aad));
    PetscCall(PetscFree2(ai, out));
    PetscCall(PetscFree(values));
    PetscCall(BandedDestroy(&B));
  }
  PetscCall(Report("packed rows", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestRowsMult, TestRowsValues, TestStretches, TestGather, TestSplit, TestMarks, TestPacked}
};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
