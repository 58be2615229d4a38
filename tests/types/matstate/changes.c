/* Operations of PETSc that change the values of an AIJ matrix. */
#include "matstate.h"
#include "vecs.h"

static PetscErrorCode Vectors(Case *c)
{
  PetscInt     rstart, rend;
  PetscScalar *l, *r;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(c->A, &c->r, &c->l));
  PetscCall(MatGetOwnershipRange(c->A, &rstart, &rend));
  PetscCall(VecGetArrayWrite(c->l, &l));
  PetscCall(VecGetArrayWrite(c->r, &r));
  for (PetscInt i = rstart; i < rend; ++i) {
    l[i - rstart] = 1.0 + (i % 3) * 0.25;
    r[i - rstart] = 2.0 + (i % 5) * 0.125;
  }
  PetscCall(VecRestoreArrayWrite(c->l, &l));
  PetscCall(VecRestoreArrayWrite(c->r, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Twin(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &c->aux));
  PetscCall(MatScale(c->aux, 1.75));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TwinPlain(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Twin(c));
  PetscCall(MatConvert(c->aux, MATAIJ, MAT_INPLACE_MATRIX, &c->aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of this process with the values times scale, set by MatSetValues() */
static PetscErrorCode SetRows(Mat from, Mat to, PetscScalar scale)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(from, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    PetscInt           n, cols[256];
    const PetscInt    *j;
    const PetscScalar *v;
    PetscScalar        vals[256];

    PetscCall(MatGetRow(from, i, &n, &j, &v));
    for (PetscInt k = 0; k < n; ++k) {
      cols[k] = j[k];
      vals[k] = scale * v[k];
    }
    PetscCall(MatRestoreRow(from, i, NULL, &j, &v));
    PetscCall(MatSetValues(to, 1, &i, n, cols, vals, INSERT_VALUES));
  }
  PetscCall(Assemble(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes of the matrix itself */
static PetscErrorCode Store(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(c->A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE)); /* PETSc asks for it */
  PetscCall(MatStoreValues(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Retrieve(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatRetrieveValues(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scale(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(c->A, 3.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalScale(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatDiagonalScale(c->A, c->l, c->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalScaleBoth(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatDiagonalScale(c->A, c->l, c->l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Shift(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatShift(c->A, 3.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalAdd(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatDiagonalSet(c->A, c->l, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalInsert(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(VecScale(c->l, 8.0));
  PetscCall(MatDiagonalSet(c->A, c->l, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AXPYSame(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(c->A, 0.5, c->aux, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AXPYSubset(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(c->A, 0.5, c->aux, SUBSET_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AXPYDifferent(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(c->A, 0.5, c->aux, DIFFERENT_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AYPX(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatAYPX(c->A, 0.5, c->aux, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopySame(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatCopy(c->aux, c->A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyDifferent(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatCopy(c->aux, c->A, DIFFERENT_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Replace(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatHeaderReplace(c->A, &c->aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroAndSet(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(c->A));
  PetscCall(SetRows(c->aux, c->A, 2.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that was preallocated and set row by row */
PetscErrorCode Preallocated(Case *c)
{
  MatType type;
  Mat     A;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(c->A, &type));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, GRID * GRID, GRID * GRID));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 5, NULL));
  PetscCall(SetRows(c->A, A, 1.0));
  PetscCall(MatDestroy(&c->A));
  c->A   = A;
  c->own = PETSC_TRUE;
  PetscCall(Twin(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ResetAndSet(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatResetPreallocation(c->A));
  PetscCall(SetRows(c->aux, c->A, 2.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRows(Case *c)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(c->A, &rstart, &rend));
  rend = (rstart + rend) / 2;
  PetscCall(MatZeroRows(c->A, 1, &rend, 2.0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRowsColumns(Case *c)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(c->A, &rstart, &rend));
  PetscCall(MatZeroRowsColumns(c->A, 1, &rstart, 2.0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One entry on the diagonal of each process */
static PetscErrorCode SetOne(Case *c)
{
  PetscInt rstart;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(c->A, &rstart, NULL));
  PetscCall(MatSetValue(c->A, rstart, rstart, 3.0, ADD_VALUES));
  PetscCall(Assemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of the next process */
static PetscErrorCode SetOther(Case *c)
{
  PetscInt rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(c->A, NULL, &rend));
  rend %= GRID * GRID;
  PetscCall(MatSetValue(c->A, rend, rend, 3.0, ADD_VALUES));
  PetscCall(Assemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that the pattern does not have: symmetric, and in parallel in columns that no process had asked for */
static PetscErrorCode SetNew(Case *c)
{
  const PetscInt last = GRID * GRID - 1;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MatSetOption(c->A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(c->A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (!rank) {
    PetscCall(MatSetValue(c->A, 1, last - 1, -0.5, INSERT_VALUES));
    PetscCall(MatSetValue(c->A, last - 1, 1, -0.5, INSERT_VALUES));
  }
  PetscCall(Assemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Mapping(Case *c)
{
  ISLocalToGlobalMapping map;
  IS                     is;
  PetscInt               rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(c->A, &rstart, &rend));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, rend - rstart, rstart, 1, &is));
  PetscCall(ISLocalToGlobalMappingCreateIS(is, &map));
  PetscCall(MatSetLocalToGlobalMapping(c->A, map, map));
  PetscCall(ISLocalToGlobalMappingDestroy(&map));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetLocal(Case *c)
{
  const PetscInt    i[] = {2, 3};
  const PetscScalar v[] = {1.0, 0.25, 0.25, 1.0};

  PetscFunctionBeginUser;
  PetscCall(MatSetValuesLocal(c->A, 2, i, 2, i, v, ADD_VALUES));
  PetscCall(Assemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without an assembly */
static PetscErrorCode SetLocalFast(Case *c)
{
  const PetscInt    i = 3;
  const PetscScalar v = 1.0;

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJSetValuesLocalFast(c->A, 1, &i, 1, &i, &v, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRowsLocal(Case *c)
{
  const PetscInt i = 2;

  PetscFunctionBeginUser;
  PetscCall(MatZeroRowsColumnsLocal(c->A, 1, &i, 2.0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Random(Case *c)
{
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(MatSetRandom(c->A, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Real(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(c->A, 2.0));
  PetscCall(MatRealPart(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Imaginary(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatImaginaryPart(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransposeInPlace(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatDiagonalScale(c->A, c->l, NULL));
  PetscCall(MatTranspose(c->A, MAT_INPLACE_MATRIX, &c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks by way of their arrays: read and written, only written */
static PetscErrorCode Blocks(Mat A, Mat block[2])
{
  PetscBool parallel;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  block[0] = A;
  block[1] = NULL;
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrays(Case *c)
{
  Mat block[2];

  PetscFunctionBeginUser;
  PetscCall(Blocks(c->A, block));
  for (int b = 0; b < 2 && block[b]; ++b) {
    PetscScalar *a;
    MatInfo      info;

    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArray(block[b], &a));
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; ++k) a[k] *= 1.5;
    PetscCall(MatSeqAIJRestoreArray(block[b], &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysWrite(Case *c)
{
  Mat block[2];

  PetscFunctionBeginUser;
  PetscCall(Blocks(c->A, block));
  for (int b = 0; b < 2 && block[b]; ++b) {
    PetscScalar *a;
    MatInfo      info;

    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArrayWrite(block[b], &a));
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; ++k) a[k] = 1.0 + k % 7;
    PetscCall(MatSeqAIJRestoreArrayWrite(block[b], &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode File(Case *c)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(Twin(c));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "matstate.dat", FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(c->aux, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(Case *c)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "matstate.dat", FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(c->A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* f(x) = A (x, x), whose Jacobian has the pattern of A */
static PetscErrorCode Function(void *ctx, Vec x, Vec y, void *copy)
{
  Vec xx;

  PetscFunctionBeginUser;
  (void)ctx;
  PetscCall(VecDuplicate(x, &xx));
  PetscCall(VecPointwiseMult(xx, x, x));
  PetscCall(MatMult((Mat)copy, xx, y));
  PetscCall(VecDestroy(&xx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ColoringMake(Case *c)
{
  MatColoring coloring;
  ISColoring  is;

  PetscFunctionBeginUser;
  PetscCall(Vectors(c));
  PetscCall(MatConvert(c->A, MATAIJ, MAT_INITIAL_MATRIX, &c->aux));
  PetscCall(MatColoringCreate(c->aux, &coloring));
  PetscCall(MatColoringSetType(coloring, MATCOLORINGSL));
  PetscCall(MatColoringApply(coloring, &is));
  PetscCall(MatColoringDestroy(&coloring));
  PetscCall(MatFDColoringCreate(c->A, is, &c->coloring));
  PetscCall(MatFDColoringSetFunction(c->coloring, (void *)Function, c->aux));
  PetscCall(MatFDColoringSetType(c->coloring, MATMFFD_DS));
  PetscCall(MatFDColoringSetParameters(c->coloring, 1.0 / 1024, 1.0 / 1024)); /* differences without rounding */
  PetscCall(MatFDColoringSetUp(c->A, is, c->coloring));
  PetscCall(ISColoringDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColoringApply(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatFDColoringApply(c->A, c->coloring, c->r, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with the arrays of the program: sequential ones are its own, parallel ones are copied */
static PetscErrorCode WithArrays(Case *c)
{
  MatType     type;
  PetscInt    m, n, rstart, rend, M, k = 0;
  PetscMPIInt size;
  char        keep[64];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetType(c->A, &type));
  PetscCall(PetscStrncpy(keep, type, sizeof(keep)));
  PetscCall(MatGetLocalSize(c->A, &m, &n));
  PetscCall(MatGetSize(c->A, &M, NULL));
  PetscCall(MatGetOwnershipRange(c->A, &rstart, &rend));
  PetscCall(PetscMalloc3(5 * m, &c->values, m + 1, &c->rows, 5 * m, &c->cols));
  c->own     = PETSC_TRUE;
  c->rows[0] = 0;
  for (PetscInt i = rstart; i < rend; ++i) {
    PetscInt           nz;
    const PetscInt    *j;
    const PetscScalar *v;

    PetscCall(MatGetRow(c->A, i, &nz, &j, &v));
    for (PetscInt e = 0; e < nz; ++e, ++k) {
      c->cols[k]   = j[e];
      c->values[k] = v[e];
    }
    c->rows[i - rstart + 1] = k;
    PetscCall(MatRestoreRow(c->A, i, &nz, &j, &v));
  }
  PetscCall(MatDestroy(&c->A));
  if (size == 1) PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, n, c->rows, c->cols, c->values, &c->A));
  else PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, m, n, M, M, c->rows, c->cols, c->values, &c->A));
  PetscCall(MatConvert(c->A, keep, MAT_INPLACE_MATRIX, &c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewArrays(Case *c)
{
  PetscInt    m, n, M;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetLocalSize(c->A, &m, &n));
  PetscCall(MatGetSize(c->A, &M, NULL));
  for (PetscInt k = 0; k < c->rows[m]; ++k) c->values[k] *= 1.25;
  if (size == 1) PetscCall(Assemble(c->A));
  else PetscCall(MatUpdateMPIAIJWithArrays(c->A, m, n, M, M, c->rows, c->cols, c->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PreallocationCSR(Case *c)
{
  PetscInt m;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(c->A, &m, NULL));
  for (PetscInt k = 0; k < c->rows[m]; ++k) c->values[k] *= 1.25;
  PetscCall(MatSeqAIJSetPreallocationCSR(c->A, c->rows, c->cols, c->values));
  PetscCall(MatMPIAIJSetPreallocationCSR(c->A, c->rows, c->cols, c->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* clang-format off */
const Operation Changes[NCHANGES] = {
  {"MatRetrieveValues", Store, Retrieve, 1, ANY, ALL, PETSC_TRUE},
  {"MatScale", NULL, Scale, 1, ANY, ALL, PETSC_TRUE},
  {"MatDiagonalScale", Vectors, DiagonalScale, 1, ANY, NONE, PETSC_TRUE},
  {"MatDiagonalScale, symmetric", Vectors, DiagonalScaleBoth, 1, ANY, ALL, PETSC_TRUE},
  {"MatShift", NULL, Shift, 1, ANY, ALL, PETSC_TRUE},
  {"MatDiagonalSet, added", Vectors, DiagonalAdd, 1, ANY, ALL, PETSC_TRUE},
  {"MatDiagonalSet", Vectors, DiagonalInsert, 1, ANY, ALL, PETSC_TRUE},
  {"MatAXPY, same pattern", Twin, AXPYSame, 1, ANY, ALL, PETSC_FALSE},
  {"MatAXPY, same pattern, plain", TwinPlain, AXPYSame, 1, ANY, ALL, PETSC_FALSE},
  {"MatAXPY, subset", Twin, AXPYSubset, 1, ANY, ALL, PETSC_TRUE},
  {"MatAXPY, different", Twin, AXPYDifferent, 1, ANY, ALL, PETSC_TRUE},
  {"MatAYPX", Twin, AYPX, 1, ANY, ALL, PETSC_TRUE},
  {"MatCopy, same pattern", Twin, CopySame, 1, ANY, ALL, PETSC_TRUE},
  {"MatCopy, different", Twin, CopyDifferent, 1, ANY, ALL, PETSC_TRUE},
  {"MatHeaderReplace", Twin, Replace, 1, ANY, ALL, PETSC_TRUE},
  {"MatZeroEntries", NULL, Zero, 1, ANY, NONE, PETSC_TRUE},
  {"MatZeroEntries, MatSetValues", Twin, ZeroAndSet, 1, ANY, ALL, PETSC_TRUE},
  {"MatResetPreallocation", Preallocated, ResetAndSet, 1, ANY, ALL, PETSC_TRUE},
  {"MatZeroRows", NULL, ZeroRows, 1, ANY, NONE, PETSC_TRUE},
  {"MatZeroRowsColumns", NULL, ZeroRowsColumns, 1, ANY, ALL, PETSC_TRUE},
  {"MatSetValue", NULL, SetOne, 1, ANY, ALL, PETSC_TRUE},
  {"MatSetValue, of another process", NULL, SetOther, 1, ANY, ALL, PETSC_TRUE},
  {"MatSetValue, new entries", Preallocated, SetNew, 1, ANY, GENERAL, PETSC_TRUE},
  {"MatSetValuesLocal", Mapping, SetLocal, 1, ANY, ALL, PETSC_TRUE},
  {"MatSeqAIJSetValuesLocalFast", Mapping, SetLocalFast, 1, 1, ALL, PETSC_TRUE},
  {"MatZeroRowsColumnsLocal", Mapping, ZeroRowsLocal, 1, ANY, ALL, PETSC_TRUE},
  {"MatSetRandom", NULL, Random, 1, ANY, NONE, PETSC_TRUE},
  {"MatRealPart", NULL, Real, 1, ANY, ALL, PETSC_FALSE},
  {"MatImaginaryPart", NULL, Imaginary, 1, ANY, NONE, PETSC_FALSE},
  {"MatTranspose, in place", Vectors, TransposeInPlace, 1, ANY, NONE, PETSC_TRUE},
  {"MatSeqAIJGetArray", NULL, Arrays, 1, ANY, NONE, PETSC_FALSE},
  {"MatSeqAIJGetArrayWrite", NULL, ArraysWrite, 1, ANY, NONE, PETSC_FALSE},
  {"MatLoad", File, Load, 1, ANY, ALL, PETSC_TRUE},
  {"MatFDColoringApply", ColoringMake, ColoringApply, 1, ANY, NONE, PETSC_TRUE},
  {"MatUpdateMPIAIJWithArrays", WithArrays, NewArrays, 1, ANY, ALL, PETSC_TRUE},
  {"MatMPIAIJSetPreallocationCSR", WithArrays, PreallocationCSR, 1, ANY, ALL, PETSC_TRUE},
};
/* clang-format on */
