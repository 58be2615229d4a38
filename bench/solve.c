static char
  help[] = "Times solvers on one problem in one run: a warm-up, then fresh solvers on the same matrix; any number of processes.\n"
           "  -dim 2|3, -n <cells in each direction>, -nxy <nx,ny> : the grid of the unit square or cube\n"
           "  -bubbles <k> : spheres of radius 0.3/k on a lattice of k in each direction, Neumann; 0: none, Dirichlet (default)\n"
           "  -centre <bool> : one more bubble in the middle; "
           "-contrast <coefficient inside over outside>; -lognormal <sigma> : coefficients instead,\n"
           "     -correlation <1> : of so many cells; -shift <s> : s is added to the diagonal\n"
           "  -nz <n> : cells in the last direction, if others; -walls half|whole : Dirichlet values half a cell or a whole one away\n"
           "  -points <k> : k random points of the unit cube instead of a grid, coupled to some 12 near ones each; one process\n"
           "  -weights <x,y,z> : of the couplings in each direction of a grid; -stretch <x,y,z> : length of a cell in the middle over one at the walls\n"
           "  -graph power|tetrahedra|cubes|fourth : a power grid of -n rows; linear elements on -n nodes in each direction that -jitter <0.3> moves;\n"
           "     trilinear ones on as many, that -weights stretch; differences of fourth order on the grid;\n"
           "     -shuffle : in a random numbering\n"
           "  -rhs smooth|ones|random|image : a product of cosines (default), ones, uniform numbers around zero, or A times ones\n"
           "  -peclet <p> : convection along the diagonal of the grid, v L / D = p in each direction, by central differences\n"
           "  -circles : in closed circles instead; -upwind : by upwind differences; -divided : rows over the coefficients of their cells\n"
           "  -wind <x,y,z> : factors of -peclet in each direction of a grid; -reaction <r> : -laplace u + v . grad u - r u, on n^dim cells\n"
           "  -solvers <file> : a line a solver, 'name | options', or 'name | bytes a row an iteration | options'\n"
           "  -products <k> : no solves, but k products with the matrix; the time of the first one counts as set-up\n"
           "  -repeats <3>, -warm <true> : a warm-up that is not counted, -coo : values by MatSetValuesCOO() with the memory of a vector, so that "
           "they are on the device, "
           "new ones before each set-up;\n"
           "     the last column is then a set-up with new values and a changed level set\n"
           "  -counts : the products with the matrix and the reductions of the last solve, in place of bytes and bandwidth\n"
           "  -first : no warm-up, but the first solve of the program, that of a second matrix and that of new values, all assembled on the host\n\n";

#include "graphs.h"
#include <petscksp.h>
#include <petscdevice.h>

static PetscErrorCode CreateMatrix(Problem *p, Rows *rows, Mat *A)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(ProblemRows(p, rows));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, p->rows, p->rows, p->N, p->N, rows->ai, rows->aj, rows->aa, A));
  else {
    Mat view; /* A owns its arrays */

    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_WORLD, p->N, p->N, rows->ai, rows->aj, rows->aa, &view));
    PetscCall(MatDuplicate(view, MAT_COPY_VALUES, A));
    PetscCall(MatDestroy(&view));
  }
  PetscFunctionReturn(0);
}

/* Another right-hand side than the smooth one, if the options name it */
static PetscErrorCode SetRightHandSide(Mat A, Vec b)
{
  const char *const names[] = {"smooth", "ones", "random", "image", "RightHandSides", "", NULL};
  PetscEnum         kind    = (PetscEnum)0;
  PetscInt          start, end;
  Vec               ones;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-rhs", names, &kind, NULL));
  if ((int)kind == 1) PetscCall(VecSet(b, 1));
  if ((int)kind == 2) {
    PetscScalar *f;

    PetscCall(VecGetOwnershipRange(b, &start, &end));
    PetscCall(VecGetArrayWrite(b, &f));
    for (PetscInt i = start; i < end; ++i) f[i - start] = DrawAt((unsigned long long)i) - 0.5;
    PetscCall(VecRestoreArrayWrite(b, &f));
  }
  if ((int)kind == 3) {
    PetscCall(VecDuplicate(b, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatMult(A, ones, b));
    PetscCall(VecDestroy(&ones));
  }
  PetscFunctionReturn(0);
}

/* The level set, and the right-hand side, by default a smooth one in the range of A; move: to the memory of the solver, before any timing */
static PetscErrorCode CreateVectors(const Problem *p, Mat A, PetscBool move, Vec *b, Vec *levelset)
{
  PetscScalar *f, *phi;
  PetscReal    norm;
  PetscInt     at[3];

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, b));
  PetscCall(VecSetSizes(*b, p->rows, p->N));
  PetscCall(VecSetFromOptions(*b));
  PetscCall(VecDuplicate(*b, levelset));
  PetscCall(VecGetArrayWrite(*b, &f));
  PetscCall(VecGetArrayWrite(*levelset, &phi));
  for (PetscInt i = 0; i < p->rows; ++i) {
    Cell(p, p->first + i, at);
    f[i]   = RightHandSide(p, p->first + i);
    phi[i] = LevelSet(p, at);
  }
  PetscCall(VecRestoreArrayWrite(*levelset, &phi));
  PetscCall(VecRestoreArrayWrite(*b, &f));
  PetscCall(SetRightHandSide(A, *b));
  if (move) PetscCall(VecNorm(*b, NORM_2, &norm));
  if (move) PetscCall(VecNorm(*levelset, NORM_2, &norm));
  PetscFunctionReturn(0);
}

/* A matrix without values in the type that the options name */
static PetscErrorCode CreateEmpty(const Problem *p, Mat *B)
{
  char type[64] = MATAIJ;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, B));
  PetscCall(MatSetSizes(*B, p->rows, p->rows, p->N, p->N));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSetFromOptions(*B));
  PetscFunctionReturn(0);
}

/* The matrix in the type that the options name; with -coo its values come from the vector `values` of this process at each call of MatSetValuesCOO() */
static PetscErrorCode CreateTyped(Mat A, const Rows *given, const Problem *p, PetscBool coo, Vec like, Mat *B, Vec *values)
{
  const PetscInt nz = given->ai[p->rows];
  PetscInt      *rows, *cols;
  PetscBool      cuda, host;
  PetscScalar   *v;

  PetscFunctionBeginUser;
  *values = NULL;
  if (!coo) {
    char type[64] = MATAIJ;

    PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
    PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, B));
    PetscFunctionReturn(0);
  }
  PetscCall(CreateEmpty(p, B));
  PetscCall(PetscMalloc2(nz, &rows, nz, &cols));
  for (PetscInt i = 0; i < p->rows; ++i) {
    for (PetscInt k = given->ai[i]; k < given->ai[i + 1]; ++k) {
      rows[k] = p->first + i;
      cols[k] = given->aj[k];
    }
  }
  PetscCall(MatSetPreallocationCOO(*B, nz, rows, cols));
  PetscCall(PetscFree2(rows, cols));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)like, &cuda, VECSEQCUDA, VECMPICUDA, VECCUDA, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)*B, &host, MATSEQAIJ, MATMPIAIJ, ""));
  if (host) cuda = PETSC_FALSE;                  /* PETSc reads them on the host */
  PetscCall(VecCreate(PETSC_COMM_SELF, values)); /* all processes can have more values than a PetscInt counts */
  PetscCall(VecSetSizes(*values, nz, nz));
  PetscCall(VecSetType(*values, cuda ? VECSEQCUDA : VECSEQ));
  PetscCall(VecGetArrayWrite(*values, &v));
  PetscCall(PetscArraycpy(v, given->aa, nz));
  PetscCall(VecRestoreArrayWrite(*values, &v));
  if (cuda) { /* copies to the device */
    PetscCall(VecScale(*values, 1.0));
    PetscCall(VecShift(*values, 0.0));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SetValues(Mat A, Vec values)
{
  const PetscScalar *v;
  PetscMemType       memtype;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayReadAndMemType(values, &v, &memtype));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(VecRestoreArrayReadAndMemType(values, &v));
  PetscFunctionReturn(0);
}

/* Seconds, of the slowest process; waits for the device first when v is there */
static PetscErrorCode Now(Vec v, PetscLogDouble *t)
{
  PetscDeviceContext context;
  PetscBool          cuda;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &cuda, VECSEQCUDA, VECMPICUDA, VECCUDA, ""));
  if (cuda) {
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(t));
  PetscFunctionReturn(0);
}

/* Bytes a second of a copy, read and written, of this process */
static PetscErrorCode MeasureCopy(Vec like, PetscReal *bandwidth)
{
  const PetscInt n = 1 << 26;
  Vec            x, y;
  VecType        type;
  PetscLogDouble t[2] = {0, 0}, best = PETSC_MAX_REAL;

  PetscFunctionBeginUser;
  PetscCall(VecGetType(like, &type));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, n, PETSC_DETERMINE));
  PetscCall(VecSetType(x, type));
  PetscCall(VecSet(x, 1));
  PetscCall(VecDuplicate(x, &y));
  for (int k = 0; k < 12; ++k) {
    PetscCall(Now(x, &t[0]));
    PetscCall(VecCopy(x, y));
    PetscCall(Now(x, &t[1]));
    if (k > 1) best = PetscMin(best, t[1] - t[0]);
  }
  *bandwidth = 16.0 * n / best;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode Median(PetscInt n, PetscReal t[], PetscReal *median)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSortReal(n, t));
  *median = n % 2 ? t[n / 2] : 0.5 * (t[n / 2 - 1] + t[n / 2]);
  PetscFunctionReturn(0);
}

static PetscErrorCode Residual(Mat A, Vec b, Vec x, PetscReal *residual)
{
  Vec       r;
  PetscReal nb;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &nb));
  *residual /= nb;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* Seconds of a set-up with new values and a changed level set, as in a time step: the best of several */
static PetscErrorCode Rebuild(KSP ksp, Mat B, Vec b, Vec values, Vec levelset, PetscReal *best)
{
  PetscLogDouble t[2] = {0, 0};
  PetscScalar   *phi;
  PetscMemType   memtype;

  PetscFunctionBeginUser;
  *best = PETSC_MAX_REAL;
  for (int k = 0; k < 4; ++k) {
    PetscCall(VecGetArrayAndMemType(levelset, &phi, &memtype)); // marks the level set as changed
    PetscCall(VecRestoreArrayAndMemType(levelset, &phi));
    PetscCall(Now(b, &t[0]));
    PetscCall(SetValues(B, values));
    PetscCall(KSPSetOperators(ksp, B, B));
    PetscCall(KSPSetUp(ksp));
    PetscCall(Now(b, &t[1]));
    *best = PetscMin(*best, t[1] - t[0]);
  }
  PetscFunctionReturn(0);
}

/* What a program would tell of a matrix without convection, whose rows are not divided: that it is symmetric and definite, its level set and its null space */
static PetscErrorCode SetProperties(const Problem *p, Vec levelset, Mat B)
{
  MatNullSpace constant;

  PetscFunctionBeginUser;
  if (p->peclet != 0 || p->divided) PetscFunctionReturn(0);
  PetscCall(MatSetOption(B, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(B, MAT_SPD, PETSC_TRUE));
  PetscCall(MatSetOption(B, MAT_SPD_ETERNAL, PETSC_TRUE));
  if (p->bubbles) {
    PetscCall(PetscObjectCompose((PetscObject)B, "levelset", (PetscObject)levelset));
    if (p->shift == 0) {
      PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
      PetscCall(MatSetNullSpace(B, constant));
      PetscCall(MatNullSpaceDestroy(&constant));
    }
  }
  PetscFunctionReturn(0);
}

/* Conjugate gradients unless the options say otherwise */
static PetscErrorCode CreateSolver(Mat B, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 50000));
  PetscCall(KSPSetOperators(*ksp, B, B));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* What the rows of a table have in common, and the matrix of the last one, which the next one takes if its options for matrices are the same */
typedef struct {
  const Problem *p;
  const Rows    *rows;
  Mat            A;
  Vec            b, levelset;
  PetscReal      bandwidth;
  char           options[256];
  Mat            B;
  Vec            values;
} Table;

/* The options -mat... and their values; read: they count as read, since the matrix has been made with them */
static PetscErrorCode MatrixOptions(PetscBool read, size_t len, char options[])
{
  char     *all, *at;
  PetscBool is;

  PetscFunctionBeginUser;
  options[0] = 0;
  PetscCall(PetscOptionsGetAll(NULL, &all));
  for (at = strtok(all, " "); at; at = strtok(NULL, " ")) {
    if (strncmp(at, "-mat", 4)) continue;
    if (read) PetscCall(PetscOptionsHasName(NULL, NULL, at, &is));
    PetscCall(PetscStrlcat(options, at, len));
    if (!(at = strtok(NULL, " "))) break;
    PetscCall(PetscStrlcat(options, at, len));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyTyped(Table *table)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&table->B));
  PetscCall(VecDestroy(&table->values));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetTyped(Table *table)
{
  PetscBool coo = PETSC_FALSE, same;
  char      options[sizeof(table->options)];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-coo", &coo, NULL));
  PetscCall(MatrixOptions(PETSC_FALSE, sizeof(options), options));
  PetscCall(PetscStrcmp(options, table->options, &same));
  if (same && table->B) {
    PetscCall(MatrixOptions(PETSC_TRUE, sizeof(options), options));
    PetscFunctionReturn(0);
  }
  PetscCall(DestroyTyped(table));
  PetscCall(CreateTyped(table->A, table->rows, table->p, coo, table->b, &table->B, &table->values));
  PetscCall(SetProperties(table->p, table->levelset, table->B));
  PetscCall(PetscStrncpy(table->options, options, sizeof(table->options)));
  PetscFunctionReturn(0);
}

/* A row with the time of products; they are compared with those of PETSc's type */
static PetscErrorCode Products(Table *table, const char name[], PetscInt k)
{
  Vec            x, y, z;
  PetscReal      norm, difference;
  PetscLogDouble t[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(GetTyped(table));
  if (table->values) PetscCall(SetValues(table->B, table->values));
  x = table->b;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(Now(x, &t[0]));
  PetscCall(MatMult(table->B, x, y));
  PetscCall(Now(x, &t[1]));
  for (PetscInt i = 0; i < k; ++i) PetscCall(MatMult(table->B, x, y));
  PetscCall(Now(x, &t[2]));
  PetscCall(MatMult(table->A, x, z));
  PetscCall(VecNorm(z, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_2, &difference));
  PetscCheck(difference <= 1e-12 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the product is off by %g", name, (double)(difference / norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s | %" PetscInt_FMT " | %.1e | %.3f | %.3f | %.3f | %.1f | | | |\n", name, k, (double)(difference / norm),
                        1e3 * (double)(t[1] - t[0]), 1e3 * (double)(t[2] - t[1]), 1e3 * (double)(t[2] - t[0]),
                        1e6 * (double)(t[2] - t[1]) / (double)PetscMax(k, 1)));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

/* The calls of MatMult() so far, of a program that logs them */
static PetscErrorCode CountProducts(PetscInt *products)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("MatMult", &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *products = (PetscInt)info.count;
  PetscFunctionReturn(0);
}

#define MAXREPEATS 64
/* One row of the table */
static PetscErrorCode Solve(Table *table, const char name[], PetscReal bytes)
{
  const Problem     *p = table->p;
  Vec                b = table->b, x, values;
  KSP                ksp;
  Mat                B;
  PetscReal          setup[MAXREPEATS], solve[MAXREPEATS], rebuild = -1, residual, medians[2] = {0, 0};
  PetscInt           its, repeats = 3, products[2] = {0, 0};
  PetscLogDouble     t[3] = {0, 0, 0}, reductions[2] = {0, 0};
  PetscBool          warm = PETSC_TRUE, counts = PETSC_FALSE;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-warm", &warm, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-counts", &counts, NULL));
  repeats = PetscClipInterval(repeats, 1, MAXREPEATS);
  PetscCall(GetTyped(table));
  B      = table->B;
  values = table->values;
  PetscCall(MatCreateVecs(B, &x, NULL));
  for (PetscInt k = warm ? -1 : 0; k < repeats; ++k) {
    PetscCall(CreateSolver(B, &ksp));
    PetscCall(VecSet(x, 0));
    PetscCall(Now(b, &t[0]));
    if (values) PetscCall(SetValues(B, values));
    PetscCall(KSPSetUp(ksp));
    if (counts) PetscCall(CountProducts(&products[0]));
    PetscCall(Now(b, &t[1]));
    reductions[0] = petsc_allreduce_ct;
    PetscCall(KSPSolve(ksp, b, x));
    reductions[1] = petsc_allreduce_ct;
    PetscCall(Now(b, &t[2]));
    if (counts) PetscCall(CountProducts(&products[1]));
    if (k >= 0) {
      setup[k] = t[1] - t[0];
      solve[k] = t[2] - t[1];
    }
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (values && k == repeats - 1) PetscCall(Rebuild(ksp, B, b, values, table->levelset, &rebuild));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(Residual(table->A, b, x, &residual));
  PetscCall(Median(repeats, setup, &medians[0]));
  PetscCall(Median(repeats, solve, &medians[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s | %" PetscInt_FMT "%s%s%s | %.1e | %.3f (%.3f) | %.3f (%.3f) | %.3f | %.1f | ", name, its,
                        reason == KSP_CONVERGED_RTOL ? "" : " (", reason == KSP_CONVERGED_RTOL ? "" : KSPConvergedReasons[reason],
                        reason == KSP_CONVERGED_RTOL ? "" : ")", (double)residual, 1e3 * (double)setup[0], 1e3 * (double)medians[0], 1e3 * (double)solve[0],
                        1e3 * (double)medians[1], 1e3 * (double)(setup[0] + solve[0]), 1e6 * (double)solve[0] / (double)PetscMax(its, 1)));
  if (counts) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " | %.0f | ", products[1] - products[0], (double)(reductions[1] - reductions[0])));
  else if (bytes > 0)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "%.0f | %.2f | ", (double)bytes, (double)(bytes * (PetscReal)p->rows * (PetscReal)its / solve[0] / table->bandwidth)));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| | "));
  if (rebuild >= 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.3f |\n", 1e3 * (double)rebuild));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "|\n"));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

static PetscErrorCode TableRow(Table *table, const char name[], PetscReal bytes)
{
  PetscInt products = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-products", &products, NULL));
  if (products > 0) PetscCall(Products(table, name, products));
  else PetscCall(Solve(table, name, bytes));
  PetscFunctionReturn(0);
}

/* Bytes that have crossed to the device so far */
static PetscLogDouble Crossed(void)
{
#if defined(PETSC_HAVE_DEVICE)
  return petsc_ctog_sz;
#else
  return 0;
#endif
}

/* The matrix in the type that the options name, its values set row by row as most programs do */
static PetscErrorCode AssembleTyped(const Rows *given, const Problem *p, Mat *B)
{
  PetscInt *own, *other;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(p, B));
  PetscCall(PetscCalloc2(p->rows, &own, p->rows, &other));
  for (PetscInt i = 0; i < p->rows; ++i) {
    for (PetscInt k = given->ai[i]; k < given->ai[i + 1]; ++k) ++(given->aj[k] >= p->first && given->aj[k] < p->first + p->rows ? own : other)[i];
  }
  PetscCall(MatXAIJSetPreallocation(*B, 1, own, other, NULL, NULL));
  PetscCall(PetscFree2(own, other));
  for (PetscInt i = 0; i < p->rows; ++i) {
    const PetscInt row = p->first + i, k = given->ai[i];

    PetscCall(MatSetValues(*B, 1, &row, given->ai[i + 1] - k, given->aj + k, given->aa + k, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The set-up and solve of a program that begins; b is on the host */
static PetscErrorCode First(const Problem *p, const Rows *rows, Mat A, Vec b, Vec levelset)
{
  static const char *const what[] = {"first matrix", "second matrix", "new values"};
  KSP                      ksp    = NULL;
  Mat                      B      = NULL;
  Vec                     *x;
  PetscLogDouble           t[3] = {0, 0, 0}, bytes;
  PetscInt                 its;
  PetscReal                residual;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicateVecs(b, 3, &x));
  PetscCall(PetscTime(&t[0]));
  PetscCall(Now(b, &t[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the device after %.1f ms\n", 1e3 * (double)(t[1] - t[0])));
  for (int k = 0; k < 3; ++k) {
    if (k < 2) {
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&B));
      PetscCall(AssembleTyped(rows, p, &B));
      PetscCall(SetProperties(p, levelset, B));
      PetscCall(CreateSolver(B, &ksp));
    } else {
      PetscCall(MatScale(A, 2.0));
      PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
      PetscCall(KSPSetOperators(ksp, B, B));
    }
    PetscCall(Now(b, &t[0]));
    bytes = Crossed();
    PetscCall(KSPSetUp(ksp));
    PetscCall(Now(b, &t[1]));
    bytes = Crossed() - bytes;
    PetscCall(KSPSolve(ksp, b, x[k]));
    PetscCall(Now(b, &t[2]));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(Residual(A, b, x[k], &residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s | %" PetscInt_FMT " | %.1e | %.2f | %.2f | %.2f | %.1f | %.1f |\n", what[k], its, (double)residual,
                          1e3 * (double)(t[1] - t[0]), 1e3 * (double)(t[2] - t[1]), 1e3 * (double)(t[2] - t[0]), (double)bytes / (double)p->rows,
                          1e-9 * (double)(bytes / (t[1] - t[0]))));
  }
  PetscCall(VecDestroyVecs(3, &x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* A line 'name | options' or 'name | bytes | options'; the options apply to this solver only */
static PetscErrorCode SolveLine(Table *table, char line[])
{
  PetscOptions saved;
  char        *field[3] = {line, NULL, NULL}, *at;
  int          n        = 1;

  PetscFunctionBeginUser;
  while (n < 3 && (at = strchr(field[n - 1], '|'))) {
    *at        = 0;
    field[n++] = at + 1;
  }
  PetscCheck(n > 1, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "A line of -solvers is 'name | options', not: %s", line);
  for (at = field[0] + strlen(field[0]); at > field[0] && at[-1] == ' '; --at) at[-1] = 0;
  PetscCall(PetscOptionsGetAll(NULL, &at));
  PetscCall(PetscOptionsCreate(&saved));
  PetscCall(PetscOptionsInsertString(saved, at));
  PetscCall(PetscFree(at));
  PetscCall(PetscOptionsInsertString(saved, field[n - 1]));
  PetscCall(PetscOptionsPush(saved));
  PetscCall(TableRow(table, field[0], n == 3 ? strtod(field[1], NULL) : 0));
  PetscCall(PetscOptionsPop());
  PetscCall(RequireOptionsRead(saved));
  PetscCall(PetscOptionsDestroy(&saved));
  PetscFunctionReturn(0);
}

/* The lines of a file, but for empty ones and those that begin with # */
static PetscErrorCode SolveLines(Table *table, const char file[])
{
  FILE *in = fopen(file, "r");
  char  line[1024];

  PetscFunctionBeginUser;
  PetscCheck(in, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", file);
  while (fgets(line, sizeof(line), in)) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] && line[0] != '#') PetscCall(SolveLine(table, line));
  }
  fclose(in);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   p                        = {0};
  Rows      rows                     = {NULL, NULL, NULL};
  Table     table                    = {.p = &p, .rows = &rows};
  char      file[PETSC_MAX_PATH_LEN] = "";
  PetscBool first = PETSC_FALSE, counts = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-counts", &counts, NULL));
  if (counts) PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-first", &first, NULL));
  PetscCall(GetProblem(&p));
  PetscCall(CreateMatrix(&p, &rows, &table.A));
  PetscCall(CreateVectors(&p, table.A, (PetscBool)!first, &table.b, &table.levelset));
  if (!first) PetscCall(MeasureCopy(table.b, &table.bandwidth));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solvers", file, sizeof(file), NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "copy bandwidth %.3f TB/s\n", (double)table.bandwidth / 1e12));
  if (file[0] && !first) PetscCall(SolveLines(&table, file));
  else {
    PetscCall(first ? First(&p, &rows, table.A, table.b, table.levelset) : TableRow(&table, "options", 0));
    PetscCall(RequireOptionsRead(NULL));
  }
  PetscCall(DestroyTyped(&table));
  PetscCall(VecDestroy(&table.b));
  PetscCall(VecDestroy(&table.levelset));
  PetscCall(MatDestroy(&table.A));
  PetscCall(RowsFree(&p, &rows));
  PetscCall(PetscFinalize());
  return 0;
}
