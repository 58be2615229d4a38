/* The same rows as a matrix of some type, made in some way, and as a plain aij matrix */
#include "fuzz.h"
#include <petscdmda.h>

static const char *const Types[] = {MATAIJDIA, MATAIJICRS, MATAIJHEC, MATAIJDIA};

const char *FuzzType(Fuzz *f)
{
  const char *type = FuzzPick(f, Types);

  return f->always[0] ? f->always : type;
}

/* Rows of each process: as PETSc deals them out, any, all on one, some processes without */
static void Layout(Fuzz *f)
{
  const PetscInt how = FuzzInt(f, 5), n = f->rows.n, only = FuzzInt(f, f->size);
  PetscInt       left = n;

  f->m = n / f->size + (f->rank < n % f->size);
  for (PetscInt p = 0; p < f->size; ++p) {
    PetscInt mine;

    if (how <= 1) break;
    if (how == 2) mine = p == only ? n : 0;
    else {
      const PetscReal part = FuzzReal(f, 0, 2) / (PetscReal)f->size;
      const PetscBool none = (PetscBool)(how == 4 && FuzzChance(f, 50));

      mine = p == f->size - 1 ? left : none ? 0 : PetscMin(left, (PetscInt)(part * (PetscReal)n));
    }
    left -= mine;
    if (p == f->rank) f->m = mine;
  }
  FuzzLog(f, " layout %" PetscInt_FMT, how);
}

/* Before the matrix is set up */
static PetscErrorCode Range(Mat A, PetscInt *start, PetscInt *end)
{
  PetscLayout rows, cols;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(A, &rows, &cols));
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(PetscLayoutSetUp(cols));
  PetscCall(PetscLayoutGetRange(rows, start, end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preallocate(Fuzz *f, Mat A)
{
  const FuzzRows *rows = &f->rows;
  PetscInt        start, end, *d, *o;

  PetscFunctionBegin;
  PetscCall(Range(A, &start, &end));
  PetscCall(PetscCalloc2(end - start, &d, end - start, &o));
  for (PetscInt i = start; i < end; ++i)
    for (PetscInt k = rows->ptr[i]; k < rows->ptr[i + 1]; ++k) ++*(rows->col[k] >= start && rows->col[k] < end ? &d[i - start] : &o[i - start]);
  PetscCall(MatSeqAIJSetPreallocation(A, 0, d));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, d, 0, o));
  PetscCall(PetscFree2(d, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InsertRows(Fuzz *f, Mat A)
{
  const FuzzRows *rows = &f->rows;
  PetscInt        start, end;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i)
    PetscCall(MatSetValues(A, 1, &i, rows->ptr[i + 1] - rows->ptr[i], rows->col + rows->ptr[i], rows->val + rows->ptr[i], INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each entry in two halves, each from any process */
static PetscErrorCode AddScattered(Fuzz *f, Mat A)
{
  const FuzzRows *rows = &f->rows;
  const uint64_t  seed = FuzzNext(f);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < rows->n; ++i) {
    for (PetscInt k = rows->ptr[i]; k < rows->ptr[i + 1]; ++k) {
      for (uint64_t half = 0; half < 2; ++half)
        if ((int)(FuzzHash(seed, (uint64_t)k, half) % (uint64_t)f->size) == f->rank) PetscCall(MatSetValue(A, i, rows->col[k], 0.5 * rows->val[k], ADD_VALUES));
    }
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In coordinates: the own rows in order, or halves of entries in any order from any process, with negative ones between */
static PetscErrorCode Coordinates(Fuzz *f, Mat A, PetscBool inorder)
{
  const FuzzRows *rows = &f->rows;
  const uint64_t  seed = FuzzNext(f);
  PetscInt       *i, *j, start, end, n = 0;
  PetscScalar    *v;

  PetscFunctionBegin;
  PetscCall(Range(A, &start, &end));
  PetscCall(PetscMalloc3(3 * rows->nz, &i, 3 * rows->nz, &j, 3 * rows->nz, &v));
  for (PetscInt r = 0; r < rows->n; ++r) {
    for (PetscInt k = rows->ptr[r]; k < rows->ptr[r + 1]; ++k) {
      const PetscInt times = inorder ? 1 : 2;

      for (PetscInt t = 0; t < times; ++t) {
        if (inorder ? r < start || r >= end : (int)(FuzzHash(seed, (uint64_t)k, (uint64_t)t) % (uint64_t)f->size) != f->rank) continue;
        i[n]   = r;
        j[n]   = rows->col[k];
        v[n++] = rows->val[k] / (PetscReal)times;
      }
      if (!inorder && FuzzHash(seed, (uint64_t)k, 5) % 10 == 0) {
        i[n]   = FuzzHash(seed, (uint64_t)k, 6) % 2 ? -1 : r;
        j[n]   = -1;
        v[n++] = 77;
      }
    }
  }
  for (PetscInt k = n - 1; k > 0 && !inorder; --k) {
    const PetscInt    other = (PetscInt)(FuzzHash(seed, (uint64_t)k, 7) % (uint64_t)(k + 1)), a = i[k], b = j[k];
    const PetscScalar c = v[k];

    i[k]     = i[other];
    j[k]     = j[other];
    v[k]     = v[other];
    i[other] = a;
    j[other] = b;
    v[other] = c;
  }
  PetscCall(MatSetPreallocationCOO(A, n, i, j));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Rows(Fuzz *f, Mat A)
{
  const FuzzRows *rows = &f->rows;
  PetscInt        start, end, *ptr;

  PetscFunctionBegin;
  PetscCall(Range(A, &start, &end));
  PetscCall(PetscMalloc1(end - start + 1, &ptr));
  for (PetscInt i = start; i <= end; ++i) ptr[i - start] = rows->ptr[i] - rows->ptr[start];
  PetscCall(MatSeqAIJSetPreallocationCSR(A, ptr, rows->col + rows->ptr[start], rows->val + rows->ptr[start]));
  PetscCall(MatMPIAIJSetPreallocationCSR(A, ptr, rows->col + rows->ptr[start], rows->val + rows->ptr[start]));
  PetscCall(PetscFree(ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plain(Fuzz *f, const char *type, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(f->comm, A));
  PetscCall(MatSetSizes(*A, f->m, f->m, f->rows.n, f->rows.n));
  PetscCall(MatSetType(*A, type));
  PetscCall(Preallocate(f, *A));
  PetscCall(InsertRows(f, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the grid of a DMDA, whose order the rows get; false: its processes cannot have it */
static PetscErrorCode FromDM(Fuzz *f, PetscBool *done)
{
  FuzzRows             *rows    = &f->rows;
  const DMBoundaryType  none    = DM_BOUNDARY_NONE;
  const DMDAStencilType stencil = rows->box || FuzzChance(f, 20) ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;
  const PetscInt       *g       = rows->grid;
  AO                    ao;
  PetscInt             *to;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (g[0] * g[1] * g[2] < f->size || (f->size > 1 && PetscMax(g[0], PetscMax(g[1], g[2])) < f->size)) PetscFunctionReturn(PETSC_SUCCESS);
  if (rows->dim == 1) PetscCall(DMDACreate1d(f->comm, none, g[0], 1, 1, NULL, &f->dm));
  else if (rows->dim == 2) PetscCall(DMDACreate2d(f->comm, none, none, stencil, g[0], g[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &f->dm));
  else PetscCall(DMDACreate3d(f->comm, none, none, none, stencil, g[0], g[1], g[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &f->dm));
  PetscCall(DMSetMatType(f->dm, f->type));
  PetscCall(DMSetUp(f->dm));
  PetscCall(DMDAGetAO(f->dm, &ao));
  PetscCall(PetscMalloc1(rows->n, &to));
  for (PetscInt i = 0; i < rows->n; ++i) to[i] = i;
  PetscCall(AOApplicationToPetsc(ao, rows->n, to));
  PetscCall(FuzzRowsPermute(rows, to));
  PetscCall(PetscFree(to));
  PetscCall(FuzzRowsValues(f));
  PetscCall(DMCreateMatrix(f->dm, &f->A));
  PetscCall(MatGetLocalSize(f->A, &f->m, NULL));
  PetscCall(InsertRows(f, f->A));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Made(Fuzz *f)
{
  const PetscInt how = FuzzInt(f, 8);
  Mat            B;

  PetscFunctionBegin;
  FuzzLog(f, " made %" PetscInt_FMT, how);
  if (how == 4) {
    PetscCall(Plain(f, FuzzType(f), &B));
    PetscCall(MatConvert(B, f->type, MAT_INITIAL_MATRIX, &f->A));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (how == 5) {
    PetscCall(Plain(f, FuzzType(f), &f->A));
    PetscCall(MatConvert(f->A, f->type, MAT_INPLACE_MATRIX, &f->A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreate(f->comm, &f->A));
  PetscCall(MatSetSizes(f->A, f->m, f->m, f->rows.n, f->rows.n));
  PetscCall(MatSetType(f->A, f->type));
  if (FuzzChance(f, 50)) PetscCall(MatSetFromOptions(f->A));
  if (how == 2 || how == 3) {
    f->coo   = (PetscBool)(how == 2);
    f->fixed = (PetscBool)(f->size > 1);
    PetscCall(Coordinates(f, f->A, f->coo));
  } else if (how == 6) PetscCall(Rows(f, f->A));
  else {
    PetscCall(Preallocate(f, f->A));
    if (how == 1) PetscCall(AddScattered(f, f->A));
    else PetscCall(InsertRows(f, f->A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* f->A of type f->type and f->T of type aij with the same rows */
PetscErrorCode FuzzMatrix(Fuzz *f)
{
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  f->type = FuzzType(f);
  FuzzLog(f, " %s", f->type);
  if (f->rows.dim && FuzzChance(f, 40)) PetscCall(FromDM(f, &done));
  if (done) FuzzLog(f, " dm");
  else {
    PetscCall(FuzzRowsValues(f));
    Layout(f);
    PetscCall(Made(f));
  }
  PetscCall(Plain(f, MATAIJ, &f->T));
  if (f->rows.symmetric && FuzzChance(f, 25)) {
    FuzzLog(f, " declared");
    f->declared = PETSC_TRUE;
    PetscCall(MatSetOption(f->A, FuzzChance(f, 50) && f->rows.definite ? MAT_SPD : MAT_SYMMETRIC, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other values in the same pattern */
PetscErrorCode FuzzMatrixNewValues(Fuzz *f)
{
  PetscFunctionBegin;
  FuzzLog(f, "\n new values:");
  PetscCall(FuzzRowsValues(f));
  if (f->moved) {
    Mat both[2] = {f->A, f->T};

    PetscCall(FuzzDropKept(f));
    for (int k = 0; k < 2; ++k) {
      PetscCall(MatZeroEntries(both[k]));
      PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
    }
  }
  PetscCall(InsertRows(f, f->T));
  if (f->coo && FuzzChance(f, 60)) {
    const FuzzRows *rows = &f->rows;
    PetscInt        start, end;

    PetscCall(MatGetOwnershipRange(f->A, &start, &end));
    PetscCall(MatSetValuesCOO(f->A, rows->val + rows->ptr[start], INSERT_VALUES));
  } else if (FuzzChance(f, 30)) {
    PetscCall(MatZeroEntries(f->A));
    PetscCall(AddScattered(f, f->A));
  } else PetscCall(InsertRows(f, f->A));
  PetscCall(FuzzMatrixNullSpace(f, FuzzChance(f, 70)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another graph of the same size: new objects, in which the old ones' place is taken */
PetscErrorCode FuzzMatrixNewPattern(Fuzz *f)
{
  FuzzRows *rows = &f->rows;
  PetscInt  n = rows->n, ne = n ? FuzzBetween(f, 0, 3 * n) : 0, *i, *j;

  PetscFunctionBegin;
  FuzzLog(f, "\n new pattern:");
  PetscCall(PetscMalloc2(ne, &i, ne, &j));
  for (PetscInt k = 0; k < ne; ++k) {
    i[k] = FuzzInt(f, n);
    j[k] = k % 2 ? FuzzInt(f, n) : (i[k] + 1) % n;
    if (i[k] == j[k]) j[k] = (i[k] + 1) % n;
    if (i[k] == j[k]) ne = 0; /* n = 1 */
  }
  PetscCall(FuzzRowsDestroy(rows));
  rows->dim = 0;
  PetscCall(FuzzRowsPattern(rows, n, ne, i, j, FuzzNext(f), 0, 0));
  PetscCall(PetscFree2(i, j));
  PetscCall(FuzzRowsValues(f));
  PetscCall(MatDestroy(&f->T));
  PetscCall(Plain(f, MATAIJ, &f->T));
  f->coo = f->moved = f->fixed = PETSC_FALSE;
  PetscCall(MatDestroy(&f->A));
  PetscCall(Plain(f, f->type, &f->A));
  PetscCall(FuzzMatrixNullSpace(f, FuzzChance(f, 70)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzMatrixNullSpace(Fuzz *f, PetscBool attach)
{
  const FuzzRows *rows = &f->rows;
  MatNullSpace    space;
  PetscInt        start, end, n = rows->nkernel;
  Vec            *v;
  PetscBool       constant = PETSC_TRUE;

  PetscFunctionBegin;
  if (!attach || n <= 0 || n > 20) {
    PetscCall(MatSetNullSpace(f->A, NULL));
    PetscCall(MatSetTransposeNullSpace(f->A, NULL)); /* which it was given while the matrix was known to be symmetric */
    PetscCall(MatSetNullSpace(f->T, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < rows->n; ++i)
    if (rows->part[i] != 0 || rows->kernel[i] != 1) constant = PETSC_FALSE;
  PetscCall(MatGetOwnershipRange(f->T, &start, &end));
  if (constant) PetscCall(MatNullSpaceCreate(f->comm, PETSC_TRUE, 0, NULL, &space));
  else {
    PetscCall(PetscMalloc1(n, &v));
    for (PetscInt k = 0; k < n; ++k) {
      PetscCall(MatCreateVecs(f->T, &v[k], NULL));
      for (PetscInt i = start; i < end; ++i)
        if (rows->part[i] == k) PetscCall(VecSetValue(v[k], i, rows->kernel[i], INSERT_VALUES));
      PetscCall(VecAssemblyBegin(v[k]));
      PetscCall(VecAssemblyEnd(v[k]));
      PetscCall(VecNormalize(v[k], NULL));
    }
    PetscCall(MatNullSpaceCreate(f->comm, PETSC_FALSE, n, v, &space));
    for (PetscInt k = 0; k < n; ++k) PetscCall(VecDestroy(&v[k]));
    PetscCall(PetscFree(v));
  }
  f->attached = PETSC_TRUE;
  FuzzLog(f, " null space %s", constant ? "constant" : "of vectors");
  PetscCall(MatSetTransposeNullSpace(f->A, NULL));
  PetscCall(MatSetNullSpace(f->A, space));
  PetscCall(MatSetNullSpace(f->T, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscFunctionReturn(PETSC_SUCCESS);
}
