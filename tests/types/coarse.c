static char help[] = "The coarse solver by itself: solutions, columns left out, condition estimate, on matrices whose answers are known.\n\n";

#include "coarse/coarse.h"
#include "core/device.h"

typedef enum {
  E_CHAIN,      /* tridiag(-1, 2, -1): with unit diagonal its condition in the 1-norm is (d + 1)^2 / 2 for odd d */
  E_NEUMANN,    /* the same with the constant as kernel */
  E_CONTRAST,   /* a chain of links 1 and 1e-9 in turn */
  E_DUPLICATES, /* columns that repeat, and a zero one */
  E_NAN,
  /* not symmetric */
  E_ROTATION, /* the diagonal is zero */
  E_VORTEX,   /* rows of different size that sum to zero */
  E_UNUSED,   /* a chain with wind, without one of its columns */
} Kind;
static const char *const Kinds[] = {"chain", "neumann", "contrast", "duplicates", "nan", "rotation", "vortex", "unused", "Kind", "E_", NULL};

/* E is not symmetric; solves with its transpose are announced; vectors are on the device, and so are the entries of E; the kernel is announced */
static PetscBool general, transposes, device, entries, nullspace;

static PetscReal Link(Kind kind, PetscInt i)
{
  return kind == E_CONTRAST && i % 2 ? 1e-9 : 1;
}

/* Entry (i, j) of E */
static PetscReal Entry(Kind kind, PetscInt d, PetscInt i, PetscInt j)
{
  if (kind == E_DUPLICATES) return i == 0 || j == 0 ? 0 : (i / 3 == j / 3 ? 2 : 0); // rank (d + 2) / 3, and column 0 is zero
  if (kind == E_ROTATION) return (j == (i + 1) % d) - 0.5 * (i == (j + 1) % d);
  if (kind == E_VORTEX) return (1 + i % 3) * (1.5 * (i == j) - (j == (i + 1) % d) - 0.5 * (i == (j + 1) % d));
  if (kind == E_UNUSED) return i == d / 2 || j == d / 2 ? 0 : 2 * (i == j) - 1.7 * (i == j + 1) - 0.3 * (j == i + 1);
  if (kind == E_NAN && i == d - 1 && j == d - 1) return NAN;
  if (i == j) return (i > 0 || kind != E_NEUMANN ? Link(kind, i - 1 + d % 2) : 0) + (i < d - 1 || kind != E_NEUMANN ? Link(kind, i + d % 2) : 0);
  if (PetscAbsInt(i - j) == 1) return -Link(kind, PetscMin(i, j) + d % 2);
  return 0;
}

/* The share of this process in each entry; the shares sum to 1 */
static PetscErrorCode Share(PetscReal *share)
{
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  *share = 2. * (rank + 1) / (size * (size + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From entries on the device, in the global numbering */
static PetscErrorCode SetUpThere(PolderCoarse coarse, Kind kind, PetscInt d, PetscReal factor)
{
  PetscInt     n = 0, *dn;
  PetscInt64  *key, *dkey;
  PetscScalar *val, *dval;
  PetscReal    share;

  PetscFunctionBegin;
  PetscCall(Share(&share));
  PetscCall(PetscMalloc2(d * d, &key, d * d, &val));
  for (PetscInt k = 0; k < d * d; ++k) {
    const PetscReal e = Entry(kind, d, k / d, k % d);

    if (e == 0) continue;
    key[n]   = k;
    val[n++] = factor * e * share;
  }
  PetscCall(PolderDeviceUpload(sizeof(n), &n, &dn));
  PetscCall(PolderDeviceUpload(sizeof(*key) * n, key, &dkey));
  PetscCall(PolderDeviceUpload(sizeof(*val) * n, val, &dval));
  PetscCall(PolderCoarseSetUpDevice(coarse, d, dn, dkey, dval, nullspace));
  PetscCall(PolderDeviceFree(&dn));
  PetscCall(PolderDeviceFree(&dkey));
  PetscCall(PolderDeviceFree(&dval));
  PetscCall(PetscFree2(key, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(PolderCoarse coarse, Kind kind, PetscInt d, PetscReal factor)
{
  PetscInt    *gl, *ptr, *col, nz = 0;
  PetscScalar *val;
  PetscReal    share;

  PetscFunctionBegin;
  if (entries) {
    PetscCall(SetUpThere(coarse, kind, d, factor));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Share(&share));
  PetscCall(PetscMalloc4(d, &gl, d + 1, &ptr, d * d, &col, d * d, &val));
  ptr[0] = 0;
  for (PetscInt i = 0; i < d; ++i) {
    gl[i] = d - 1 - i; // the local numbering is not the global one
    for (PetscInt j = 0; j < d; ++j) {
      const PetscReal e = Entry(kind, d, gl[i], d - 1 - j);

      if (e == 0) continue;
      col[nz]   = j;
      val[nz++] = factor * e * share;
    }
    ptr[i + 1] = nz;
  }
  PetscCall(PolderCoarseSetUp(coarse, d, d, gl, ptr, col, val, nullspace));
  PetscCall(PetscFree4(gl, ptr, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve for arrays on the device, which only launches kernels where the solver is the dense one */
static PetscErrorCode SolveThere(PolderCoarse coarse, PetscInt d, const PetscScalar share[], PetscScalar x[])
{
  PetscScalar *a1, *a2;
  PetscMPIInt  size;
  PetscBool    only;

  PetscFunctionBegin;
  PetscCall(PolderDeviceUpload(sizeof(*a1) * d, share, &a1));
  PetscCall(PolderDeviceUpload(sizeof(*a2) * d, x, &a2));
  PetscCall(PolderCoarseSolveDevice(coarse, a1, a2, PETSC_FALSE));
  PetscCall(PolderDeviceToHost(x, a2, sizeof(*x) * d));
  PetscCall(PolderDeviceFree(&a1));
  PetscCall(PolderDeviceFree(&a2));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PolderCoarseOnlyLaunches(coarse, &only));
  PetscCheck(only == (PetscBool)(size == 1 && !transposes), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solve has %s launches", only ? "only" : "more than");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E x = b on all columns for a right-hand side in the range of E, to the given relative residual */
static PetscErrorCode Check(PolderCoarse coarse, Kind kind, PetscInt d, PetscReal factor, PetscReal tol)
{
  PetscScalar *b, *share, *x;
  PetscReal    norm = 0, error = 0, sum;
  PetscInt     zero = 0, rank;
  PetscMPIInt  size;
  PetscBool    finite;

  PetscFunctionBegin;
  PetscCall(PolderCoarseIsFinite(coarse, &finite));
  PetscCheck(finite == (PetscBool)(kind != E_NAN), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "E %s finite", finite ? "is" : "is not");
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscCalloc3(d, &b, d, &share, d, &x));
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt j = 0; j < d; ++j) b[i] += factor * Entry(kind, d, i, j) * ((j * 5) % 7 - 3);
    share[device ? i : d - 1 - i] = b[i] / size;
  }
  if (device) PetscCall(SolveThere(coarse, d, share, x));
  else PetscCall(PolderCoarseSolve(coarse, share, x));
  for (PetscInt i = 0; i < d; ++i) {
    sum = -b[i];
    for (PetscInt j = 0; j < d; ++j) sum += factor * Entry(kind, d, i, j) * x[device ? j : d - 1 - j];
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
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-general", &general, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-transposes", &transposes, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &device, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-entries", &entries, NULL));
  nullspace = (PetscBool)(kind == E_NEUMANN);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nullspace", &nullspace, NULL));
  PetscCall(PolderCoarseCreate(PETSC_COMM_WORLD, &coarse));
  PetscCall(PolderCoarseSetGeneral(coarse, general, transposes));
  PetscCall(PolderCoarseSetDevice(coarse, device));
  PetscCall(PolderCoarseSetFromOptions(coarse, &changed));
  PetscCall(SetUp(coarse, kind, d, 1));
  PetscCall(Check(coarse, kind, d, 1, tol));
  PetscCall(SetUp(coarse, kind, d + 1, 3)); // another size and other values
  PetscCall(Check(coarse, kind, d + 1, 3, tol));
  PetscCall(SetUp(coarse, kind, d, 3));
  PetscCall(Check(coarse, kind, d, 3, tol));
  PetscCall(PolderCoarseView(coarse, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PolderCoarseDestroy(&coarse));
  PetscCall(PolderDeviceFinalize());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  testset:
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
    nsize: {{1 3}}
    test:
      suffix: nan
      args: -kind nan -deflation_coarse {{cholesky inverse}}
      fails: has an entry that is infinite or not a number
    test:
      requires: gpu
      suffix: nan_general
      args: -kind nan -general -device -entries {{0 1}}
      fails: has an entry that is infinite or not a number

  testset:
    requires: gpu
    nsize: {{1 3}}
    args: -general -device -entries {{0 1}}
    filter: sed -e "s|, relative residual.*$||"
    test:
      suites: memcheck
      suffix: general
      args: -kind {{rotation vortex unused duplicates}separate output} -d 50
    test:
      suffix: general_nullspace
      args: -kind vortex -nullspace -d 300
    test:
      suffix: general_refined
      args: -kind contrast -tolerance 1e-5
    test:
      suffix: general_small
      args: -kind {{rotation vortex}separate output} -d 1
    test:
      suffix: transposes
      args: -kind vortex -nullspace -transposes -tolerance 1e-8
      filter: grep "^coarse solve"

TEST*/
