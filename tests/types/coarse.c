static char help[] = "The coarse solver by itself: solutions, columns left out, condition estimate, on matrices whose answers are known.\n\n";

#include "coarse/coarse.h"

typedef enum {
  E_CHAIN,      /* tridiag(-1, 2, -1): with unit diagonal its condition in the 1-norm is (d + 1)^2 / 2 for odd d */
  E_NEUMANN,    /* the same with the constant as kernel */
  E_CONTRAST,   /* a chain of links 1 and 1e-9 in turn */
  E_DUPLICATES, /* columns that repeat, and a zero one */
  E_NAN
} Kind;
static const char *const Kinds[] = {"chain", "neumann", "contrast", "duplicates", "nan", "Kind", "E_", NULL};

static PetscReal Link(Kind kind, PetscInt i)
{
  return kind == E_CONTRAST && i % 2 ? 1e-9 : 1;
}

/* Entry (i, j) of E */
static PetscReal Entry(Kind kind, PetscInt d, PetscInt i, PetscInt j)
{
  if (kind == E_DUPLICATES) return i == 0 || j == 0 ? 0 : (i / 3 == j / 3 ? 2 : 0); // rank (d + 2) / 3, and column 0 is zero
  if (kind == E_NAN && i == d - 1 && j == d - 1) return NAN;
  if (i == j) return (i > 0 || kind != E_NEUMANN ? Link(kind, i - 1 + d % 2) : 0) + (i < d - 1 || kind != E_NEUMANN ? Link(kind, i + d % 2) : 0);
  if (PetscAbsInt(i - j) == 1) return -Link(kind, PetscMin(i, j) + d % 2);
  return 0;
}

/* Process r adds its share of each entry; the shares sum to 1 */
static PetscErrorCode SetUp(PolderCoarse coarse, Kind kind, PetscInt d, PetscReal factor)
{
  PetscMPIInt  rank, size;
  PetscInt    *gl, *ptr, *col, nz = 0;
  PetscScalar *val;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc4(d, &gl, d + 1, &ptr, d * d, &col, d * d, &val));
  ptr[0] = 0;
  for (PetscInt i = 0; i < d; ++i) {
    gl[i] = d - 1 - i; // the local numbering is not the global one
    for (PetscInt j = 0; j < d; ++j) {
      const PetscReal e = Entry(kind, d, gl[i], d - 1 - j);

      if (e == 0) continue;
      col[nz]   = j;
      val[nz++] = factor * e * 2 * (rank + 1) / (size * (size + 1));
    }
    ptr[i + 1] = nz;
  }
  PetscCall(PolderCoarseSetUp(coarse, d, d, gl, ptr, col, val, (PetscBool)(kind == E_NEUMANN)));
  PetscCall(PetscFree4(gl, ptr, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E x = b on all columns for a right-hand side in the range of E, to the given relative residual */
static PetscErrorCode Check(PolderCoarse coarse, Kind kind, PetscInt d, PetscReal factor, PetscReal tol)
{
  PetscScalar *b, *share, *x;
  PetscReal    norm = 0, error = 0, sum;
  PetscInt     zero = 0, rank;
  PetscMPIInt  size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscCalloc3(d, &b, d, &share, d, &x));
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt j = 0; j < d; ++j) b[i] += factor * Entry(kind, d, i, j) * ((j * 5) % 7 - 3);
    share[d - 1 - i] = b[i] / size;
  }
  PetscCall(PolderCoarseSolve(coarse, share, x));
  for (PetscInt i = 0; i < d; ++i) {
    sum = -b[i];
    for (PetscInt j = 0; j < d; ++j) sum += factor * Entry(kind, d, i, j) * x[d - 1 - j];
    error += sum * sum;
    norm += b[i] * b[i];
    zero += x[i] == 0.0;
  }
  PetscCall(PolderCoarseGetRank(coarse, &rank));
  PetscCheck(error <= tol * tol * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Relative residual %g", (double)PetscSqrtReal(error / norm));
  PetscCheck(zero >= d - rank, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " of %" PetscInt_FMT " columns are left out, but only %" PetscInt_FMT " entries of the solution are zero", d - rank, d, zero);
  PetscCall(PetscFree3(b, share, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PolderCoarse coarse;
  Kind         kind = E_CHAIN;
  PetscInt     d    = 21;
  PetscReal    tol  = 1e-12;
  PetscBool    changed;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-kind", Kinds, (PetscEnum *)&kind, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-d", &d, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &tol, NULL));
  PetscCall(PolderCoarseCreate(PETSC_COMM_WORLD, &coarse));
  PetscCall(PolderCoarseSetFromOptions(coarse, &changed));
  PetscCall(SetUp(coarse, kind, d, 1));
  PetscCall(Check(coarse, kind, d, 1, tol));
  PetscCall(SetUp(coarse, kind, d + 1, 3)); // another size and other values
  PetscCall(Check(coarse, kind, d + 1, 3, tol));
  PetscCall(SetUp(coarse, kind, d, 3));
  PetscCall(Check(coarse, kind, d, 3, tol));
  PetscCall(PolderCoarseView(coarse, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PolderCoarseDestroy(&coarse));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  testset:
    load: no
    nsize: {{1 3}}
    filter: sed -e "s|, relative residual.*$||"
    test:
      suites: valgrind(+1+neumann)
      suffix: cholesky
      args: -kind {{chain neumann duplicates}separate output}
    test:
      suffix: inverse
      args: -deflation_coarse inverse -kind {{chain neumann duplicates}separate output}
    test:
      suffix: inverse_inaccurate
      args: -deflation_coarse inverse -kind contrast -tolerance 1e-5
    test:
      suites: valgrind(+1+neumann)
      suffix: ksp
      args: -deflation_coarse ksp -kind {{chain neumann}separate output} -tolerance 1e-9
      filter: grep -v -e relative -e "^ "

  testset:
    load: no
    nsize: {{1 3}}
    test:
      suffix: nan
      args: -kind nan -deflation_coarse {{cholesky inverse}}
      fails: has an entry that is infinite or not a number

TEST*/
