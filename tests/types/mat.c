static char help[] = "Matrices of Polder against plain AIJ: products, changes of values and pattern, conversions.\n\
  -type <type>: the type under test\n\n";

#include "mat/mat.h"
#include <petscdmda.h>
#include <petsc/private/petscimpl.h>
#include "vecs.h"

typedef struct {
  MatType     type;
  PetscInt    compared, wrong;
  PetscRandom random;
} Test;

static PetscErrorCode Differ(Test *t, const char *what, Vec u, Vec v)
{
  PetscReal diff, norm;
  Vec       w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &w));
  PetscCall(VecWAXPY(w, -1.0, u, v));
  PetscCall(VecNorm(w, NORM_INFINITY, &diff));
  PetscCall(VecNorm(u, NORM_INFINITY, &norm));
  ++t->compared;
  if (!(diff <= 1e-13 * (1.0 + norm))) {
    ++t->wrong;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: differs by %g of %g\n", what, (double)diff, (double)norm));
  }
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(0);
}

/* Every product of B must be that of A */
static PetscErrorCode Compare(Test *t, const char *what, Mat A, Mat B)
{
  Vec         x, y, z, za, zb;
  PetscScalar before = NAN; /* in what the result is written to */
  PetscBool   petsc;
  char        text[256];

  PetscFunctionBeginUser;
#define Both(op, call, ...) \
  do { \
    PetscCall(VecSet(za, before)); \
    PetscCall(VecSet(zb, before)); \
    PetscCall(call(A, __VA_ARGS__, za)); \
    PetscCall(call(B, __VA_ARGS__, zb)); \
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, %s", what, op)); \
    PetscCall(Differ(t, text, za, zb)); \
  } while (0)
  PetscCall(CreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, t->random));
  PetscCall(VecSetRandom(y, t->random));
  PetscCall(VecDuplicate(y, &za));
  PetscCall(VecDuplicate(y, &zb));
  Both("mult", MatMult, x);
  Both("multadd", MatMultAdd, x, y);
  Both("residual", MatResidual, y, x);
  PetscCall(VecCopy(y, za));
  PetscCall(VecCopy(y, zb));
  PetscCall(MatMultAdd(A, x, za, za));
  PetscCall(MatMultAdd(B, x, zb, zb));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s, multadd in place", what));
  PetscCall(Differ(t, text, za, zb));
  PetscCall(VecDestroy(&za));
  PetscCall(VecDestroy(&zb));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(z, t->random));
  PetscCall(VecDuplicate(x, &za));
  PetscCall(VecDuplicate(x, &zb));
  Both("multtranspose", MatMultTranspose, y);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &petsc, "seqaijcusparse", "mpiaijcusparse", ""));
  if (petsc) before = 0.0; /* products of our matrices on a GPU have PETSc's type, which adds to what is there (3.24) */
  Both("multtransposeadd", MatMultTransposeAdd, y, z);
  PetscCall(VecCopy(z, za));
  PetscCall(VecCopy(z, zb));
  PetscCall(MatMultTransposeAdd(A, y, za, za));
  PetscCall(MatMultTransposeAdd(B, y, zb, zb));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s, multtransposeadd in place", what));
  PetscCall(Differ(t, text, za, zb));
  PetscCall(VecDestroy(&za));
  PetscCall(VecDestroy(&zb));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetOne(Mat A, PetscInt i, PetscInt j, PetscScalar v)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  if (i >= rstart && i < rend) PetscCall(MatSetValue(A, i, j, v, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The diagonal block of each process, used by itself, must not lag behind the matrix */
static PetscErrorCode CompareBlocks(Test *t, const char *what, Mat A, Mat B)
{
  Mat       a, b;
  Vec       x, ya, yb;
  PetscReal diff, norm, sum[2];

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(A, &a));
  PetscCall(MatGetDiagonalBlock(B, &b));
  PetscCall(CreateVecs(a, &x, &ya));
  PetscCall(VecDuplicate(ya, &yb));
  PetscCall(VecSet(x, 0.7));
  PetscCall(MatMult(a, x, ya));
  PetscCall(MatMult(b, x, yb));
  PetscCall(VecNorm(ya, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(yb, -1.0, ya));
  PetscCall(VecNorm(yb, NORM_INFINITY, &diff));
  sum[0] = diff;
  sum[1] = norm;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  ++t->compared;
  if (!(sum[0] <= 1e-13 * (1.0 + sum[1]))) {
    ++t->wrong;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s, block: differs by %g of %g\n", what, (double)sum[0], (double)sum[1]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&ya));
  PetscCall(VecDestroy(&yb));
  PetscFunctionReturn(0);
}

/* The same change on both matrices, then all products again */
static PetscErrorCode Changes(Test *t, Kind kind, Mat A, Mat B)
{
  Mat       pair[] = {A, B}, copy[2];
  PetscInt  M, N, zero[] = {1};
  PetscBool full; /* every row has a diagonal entry */
  Vec       l, r;

  PetscFunctionBeginUser;
#define OnBoth(what, call) \
  do { \
    for (int b = 0; b < 2; ++b) { \
      Mat X = pair[b]; \
      PetscCall(call); \
    } \
    if (M == N) PetscCall(CompareBlocks(t, what, A, B)); \
    PetscCall(Compare(t, what, A, B)); \
  } while (0)
  PetscCall(MatGetSize(A, &M, &N));
  full = (PetscBool)(M == N && kind != EMPTY && kind != EMPTYROWS && kind != NODIAGONAL && kind != RANDOM && kind != IRREGULAR);
  PetscCall(CreateVecs(A, &r, &l));
  PetscCall(VecSetRandom(l, t->random));
  PetscCall(VecSetRandom(r, t->random));
  OnBoth("scaled", MatScale(X, 1.5));
  OnBoth("scaled from the left and right", MatDiagonalScale(X, l, r));
  OnBoth("scaled from the right", MatDiagonalScale(X, NULL, r));
  for (int b = 0; b < 2; ++b) PetscCall(MatDuplicate(pair[b], MAT_COPY_VALUES, &copy[b]));
  OnBoth("axpy with the same pattern", MatAXPY(X, 0.3, copy[b], SAME_NONZERO_PATTERN));
  if (kind != EMPTY) OnBoth("one value set", SetOne(X, 0, kind == NODIAGONAL ? 1 : 0, 0.7));
  OnBoth("rows zeroed", MatZeroRows(X, 1, zero, kind == EMPTYROWS || kind == NODIAGONAL || kind == EMPTY || kind == RANDOM ? 0.0 : 2.0, NULL, NULL));
  OnBoth("copied from another", MatCopy(copy[b], X, DIFFERENT_NONZERO_PATTERN));
  if (full) OnBoth("shifted", MatShift(X, 4.0));
  if (full) OnBoth("rows and columns zeroed", MatZeroRowsColumns(X, 1, zero, 3.0, NULL, NULL));
  OnBoth("a new entry", SetOne(X, M - 1, kind == TINY ? 0 : 2, -0.6));
  OnBoth("axpy with a smaller pattern", MatAXPY(X, -0.2, copy[b], SUBSET_NONZERO_PATTERN));
  OnBoth("zeroed", MatZeroEntries(X));
  OnBoth("axpy on zeros", MatAXPY(X, 1.0, copy[b], DIFFERENT_NONZERO_PATTERN));
  for (int b = 0; b < 2; ++b) {
    PetscCall(MatSeqAIJSetPreallocation(pair[b], 4, NULL));
    PetscCall(MatMPIAIJSetPreallocation(pair[b], 4, NULL, 4, NULL));
  }
  OnBoth("preallocated anew", SetOne(X, M / 2, N / 3, 1.0));
  PetscCall(Compare(t, "duplicate", copy[0], copy[1]));
  for (int b = 0; b < 2; ++b) PetscCall(MatDestroy(&copy[b]));
  PetscCall(VecDestroy(&l));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode IsType(Mat A, const char *prefix, const char *type)
{
  char      name[64];
  PetscBool same;
  MatType   is;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &is));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", prefix, type));
  PetscCall(PetscStrcmp(is, name, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "type is %s and should be %s", is, name);
  PetscFunctionReturn(0);
}

/* Conversions in both directions and every reuse */
static PetscErrorCode Conversions(Test *t, Mat A)
{
  Mat         B, C;
  PetscMPIInt size;
  const char *prefix;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  prefix = size == 1 ? "seq" : "mpi";
  PetscCall(MatConvert(A, t->type, MAT_INITIAL_MATRIX, &B));
  PetscCall(IsType(B, prefix, t->type));
  PetscCall(Compare(t, "converted", A, B));
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(IsType(C, prefix, MATAIJ));
  PetscCall(Compare(t, "converted back", A, C));
  PetscCall(MatScale(B, 2.0));
  PetscCall(MatConvert(B, MATAIJ, MAT_REUSE_MATRIX, &C));
  PetscCall(Compare(t, "converted back into the same matrix", B, C));
  PetscCall(MatScale(C, 3.0));
  PetscCall(MatConvert(C, t->type, MAT_REUSE_MATRIX, &B));
  PetscCall(Compare(t, "converted into the same matrix", C, B));
  PetscCall(MatConvert(C, t->type, MAT_INPLACE_MATRIX, &C));
  PetscCall(IsType(C, prefix, t->type));
  PetscCall(Compare(t, "converted in place", B, C));
  PetscCall(MatConvert(C, MATAIJICRS, MAT_INPLACE_MATRIX, &C));
  PetscCall(IsType(C, prefix, MATAIJICRS));
  PetscCall(Compare(t, "converted to another of ours", B, C));
  PetscCall(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
  PetscCall(IsType(C, prefix, MATAIJ));
  PetscCall(Compare(t, "converted back in place", B, C));
  PetscCall(MatSetType(C, t->type));
  PetscCall(IsType(C, prefix, t->type));
  PetscCall(Compare(t, "type set", B, C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* The first half of the rows of every process */
static PetscErrorCode Submatrices(Test *t, Kind kind, Mat A, Mat B)
{
  Mat      C, D;
  IS       is;
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (rend - rstart) / 2, rstart, 1, &is));
  PetscCall(MatCreateSubMatrix(A, is, kind == WIDE || kind == TALL ? NULL : is, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatCreateSubMatrix(B, is, kind == WIDE || kind == TALL ? NULL : is, MAT_INITIAL_MATRIX, &D));
  PetscCall(Compare(t, "submatrix", C, D));
  PetscCall(ISDestroy(&is));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(0);
}

/* B through a file */
static PetscErrorCode Files(Test *t, Mat A, Mat B)
{
  Mat         C;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "matrix.dat", FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "matrix.dat", FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &C));
  PetscCall(MatSetType(C, t->type));
  PetscCall(MatLoad(C, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(Compare(t, "loaded", A, C));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(0);
}

/* Transposes, products of matrices, submatrices, files */
static PetscErrorCode Derived(Test *t, Kind kind, Mat A)
{
  Mat         B, C, D, E, F;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatConvert(A, t->type, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &D));
  PetscCall(Compare(t, "transposed", C, D));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(B, 2.0));
  PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &C));
  PetscCall(MatTranspose(B, MAT_REUSE_MATRIX, &D));
  PetscCall(Compare(t, "transposed again", C, D));
  PetscCall(MatMatMult(A, C, MAT_INITIAL_MATRIX, 2.0, &E));
  PetscCall(MatMatMult(B, D, MAT_INITIAL_MATRIX, 2.0, &F));
  PetscCall(Compare(t, "A A^T", E, F));
  PetscCall(MatMatMult(A, C, MAT_REUSE_MATRIX, 2.0, &E));
  PetscCall(MatMatMult(B, D, MAT_REUSE_MATRIX, 2.0, &F));
  PetscCall(Compare(t, "A A^T again", E, F));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&F));
  PetscCall(MatMatMult(A, C, MAT_INITIAL_MATRIX, 2.0, &E));
  PetscCall(MatPtAP(E, A, MAT_INITIAL_MATRIX, 2.0, &F));
  PetscCall(MatDestroy(&C));
  PetscCall(MatPtAP(E, B, MAT_INITIAL_MATRIX, 2.0, &C));
  PetscCall(Compare(t, "P^T A P", F, C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&F));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatConvert(B, t->type, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatTranspose(C, MAT_INPLACE_MATRIX, &C));
  PetscCall(MatTranspose(D, MAT_INPLACE_MATRIX, &D));
  PetscCall(IsType(D, size == 1 ? "seq" : "mpi", t->type));
  PetscCall(Compare(t, "transposed in place", C, D));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));

  PetscCall(Submatrices(t, kind, A, B));
  PetscCall(Files(t, A, B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Values in coordinates: no assembly call announces them */
static PetscErrorCode Coordinates(Test *t)
{
  Mat         A, B;
  PetscLayout map;
  PetscInt    i[60], j[60], n = 0, rstart, rend;
  PetscScalar v[60];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 20, 20));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetSizes(B, PETSC_DECIDE, PETSC_DECIDE, 20, 20));
  PetscCall(MatSetType(B, t->type));
  PetscCall(MatGetLayouts(A, &map, NULL));
  PetscCall(PetscLayoutSetUp(map));
  PetscCall(PetscLayoutGetRange(map, &rstart, &rend));
  for (PetscInt r = rstart; r < rend; ++r) {
    for (PetscInt c = PetscMax(r - 1, 0); c <= PetscMin(r + 1, 19); ++c) {
      i[n]   = r;
      j[n]   = c;
      v[n++] = Hash(r, c);
    }
  }
  for (int b = 0; b < 2; ++b) {
    PetscInt ii[60], jj[60];

    PetscCall(PetscArraycpy(ii, i, n));
    PetscCall(PetscArraycpy(jj, j, n));
    PetscCall(MatSetPreallocationCOO(b ? B : A, n, ii, jj));
    PetscCall(MatSetValuesCOO(b ? B : A, v, INSERT_VALUES));
  }
  PetscCall(Compare(t, "coordinates", A, B));
  for (PetscInt k = 0; k < n; ++k) v[k] *= -2.0 - k;
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(MatSetValuesCOO(B, v, INSERT_VALUES));
  PetscCall(Compare(t, "new values in coordinates", A, B));
  PetscCall(MatSetValuesCOO(A, v, ADD_VALUES));
  PetscCall(MatSetValuesCOO(B, v, ADD_VALUES));
  PetscCall(Compare(t, "values added in coordinates", A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* A change of a block's values that only the parallel matrix announces, as some operations of mpiaij make */
static PetscErrorCode BlockWritten(Test *t)
{
  Mat                A[2];
  const PetscScalar *a;
  PetscObjectState   state;
  PetscInt           m;

  PetscFunctionBeginUser;
  for (int b = 0; b < 2; ++b) PetscCall(Create(STENCIL, b ? t->type : MATAIJ, PETSC_TRUE, &A[b]));
  PetscCall(Compare(t, "before the change", A[0], A[1])); /* builds the arrays */
  for (int b = 0; b < 2; ++b) {
    Mat block;

    PetscCall(MatGetDiagonalBlock(A[b], &block));
    PetscCall(MatGetLocalSize(A[b], &m, NULL));
    PetscCall(MatSeqAIJGetArrayRead(block, &a));
    if (m) ((PetscScalar *)a)[0] = -20.0;
    PetscCall(MatSeqAIJRestoreArrayRead(block, &a));
    PetscCall(PetscObjectStateGet((PetscObject)A[b], &state));
    PetscCall(PetscObjectStateSet((PetscObject)A[b], state + 1));
  }
  PetscCall(Compare(t, "block written", A[0], A[1]));
  for (int b = 0; b < 2; ++b) PetscCall(MatDestroy(&A[b]));
  PetscFunctionReturn(0);
}

/* A grid object makes matrices of the type asked for, and fills them by its stencil */
static PetscErrorCode Grid(Test *t)
{
  DM          da;
  Mat         A[2];
  PetscMPIInt size;

  PetscFunctionBeginUser;
  for (int b = 0; b < 2; ++b) {
    DMDALocalInfo info;
    MatStencil    row = {0}, col[5] = {{0}};

    PetscCall(
      DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, 9, 8, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
    PetscCall(PetscOptionsSetValue(NULL, "-dm_mat_type", b ? t->type : MATAIJ));
    PetscCall(DMSetFromOptions(da));
    PetscCall(DMSetUp(da));
    PetscCall(DMCreateMatrix(da, &A[b]));
    PetscCall(DMDAGetLocalInfo(da, &info));
    for (row.j = info.ys; row.j < info.ys + info.ym; ++row.j) {
      for (row.i = info.xs; row.i < info.xs + info.xm; ++row.i) {
        const PetscScalar v[] = {-1.0, -2.0, 7.0, -3.0, -1.5};
        PetscInt          n   = 0;
        PetscScalar       vals[5];

        for (int k = 0; k < 5; ++k) {
          col[n]   = row;
          vals[n]  = v[k];
          col[n].i = row.i + (k == 1 ? -1 : (k == 3 ? 1 : 0));
          col[n].j = row.j + (k == 0 ? -1 : (k == 4 ? 1 : 0));
          if (col[n].i >= 0 && col[n].i < 9) ++n;
        }
        PetscCall(MatSetValuesStencil(A[b], 1, &row, n, col, vals, INSERT_VALUES));
      }
    }
    PetscCall(MatAssemblyBegin(A[b], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A[b], MAT_FINAL_ASSEMBLY));
    PetscCall(DMDestroy(&da));
  }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(IsType(A[1], size == 1 ? "seq" : "mpi", t->type));
  PetscCall(Compare(t, "grid", A[0], A[1]));
  PetscCall(MatDestroy(&A[0]));
  PetscCall(MatDestroy(&A[1]));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Test t = {0};
  Mat  A, B;
  char type[64] = "aijdia";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  t.type = type;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &t.random));
  for (Kind kind = STENCIL; kind <= LONG; ++kind) {
    t.compared = t.wrong = 0;
    PetscCall(Create(kind, MATAIJ, PETSC_FALSE, &A));
    PetscCall(Create(kind, type, PETSC_TRUE, &B));
    PetscCall(Compare(&t, "assembled", A, B));
    PetscCall(Changes(&t, kind, A, B));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(Create(kind, MATAIJ, PETSC_FALSE, &A));
    PetscCall(Conversions(&t, A));
    PetscCall(Derived(&t, kind, A));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " products compared, %" PetscInt_FMT " wrong\n", Kinds[kind], t.compared, t.wrong));
  }
  t.compared = t.wrong = 0;
  PetscCall(Coordinates(&t));
  PetscCall(BlockWritten(&t));
  PetscCall(Grid(&t));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "coordinates, blocks and grids: %" PetscInt_FMT " products compared, %" PetscInt_FMT " wrong\n", t.compared, t.wrong));
  PetscCall(PetscRandomDestroy(&t.random));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
     args: -type {{aijdia aijicrs aijhec}}
     nsize: {{1 2 3 4}}
     output_file: output/mat_products.out
     test:
       suites: valgrind(+2+aijdia) memcheck(+1+aijdia) memcheck(+1+aijicrs) memcheck(+1+aijhec)
       suffix: products

   testset:
     nsize: {{2 4}}
     requires: emulated
     args: -type {{aijdia aijicrs aijhec}} -polder_transport nccl -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so
     output_file: output/mat_products.out
     test:
       suffix: nccl

   testset:
     nsize: {{1 3}}
     output_file: output/mat_products.out
     test:
       suffix: full
       args: -mat_aijdia_symmetric 0
     test:
       suites: memcheck(+1)
       suffix: fallback
       args: -mat_aijdia_max_fill 0

TEST*/
