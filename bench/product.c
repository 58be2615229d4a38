static char help[] = "Time of one product with the matrix of a 7-point stencil, our types against PETSc's aij in the same run.\n\
  -n <n>       : grid points in each direction\n\
  -repeats <r> : number of alternating measurements, of which the median counts\n\
  -inner <k>   : products in each\n\n";

#include <petscksp.h>
#include <petsctime.h>

typedef struct {
  const char *label, *type, *options;
} Format;

static int CompareReal(const void *a, const void *b)
{
  const PetscReal x = *(const PetscReal *)a, y = *(const PetscReal *)b;

  return (x > y) - (x < y);
}

static PetscReal Median(PetscInt n, PetscReal t[])
{
  qsort(t, n, sizeof(*t), CompareReal);
  return t[n / 2];
}

static PetscErrorCode Stencil(PetscInt n, PetscInt **ai, PetscInt **aj, PetscScalar **aa)
{
  const PetscInt N      = n * n * n;
  PetscInt       k      = 0;
  const PetscInt step[] = {-n * n, -n, -1, 0, 1, n, n * n};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(N + 1, ai, 7 * (size_t)N, aj, 7 * (size_t)N, aa));
  (*ai)[0] = 0;
  for (PetscInt i = 0; i < N; ++i) {
    const PetscInt  x = i % n, y = i / n % n, z = i / n / n;
    const PetscBool in[] = {(PetscBool)(z > 0), (PetscBool)(y > 0), (PetscBool)(x > 0), PETSC_TRUE, (PetscBool)(x < n - 1), (PetscBool)(y < n - 1), (PetscBool)(z < n - 1)};

    for (int s = 0; s < 7; ++s) {
      if (!in[s]) continue;
      (*aj)[k]   = i + step[s];
      (*aa)[k++] = s == 3 ? 6.0 : -1.0;
    }
    (*ai)[i + 1] = k;
  }
  PetscFunctionReturn(0);
}

/* Seconds of one product, one measurement */
static PetscErrorCode Time(Mat A, Vec x, Vec y, PetscInt inner, PetscReal *t)
{
  PetscLogDouble t0, t1;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&t0));
  for (PetscInt k = 0; k < inner; ++k) PetscCall(MatMult(A, x, y));
  PetscCall(PetscTime(&t1));
  *t = (t1 - t0) / inner;
  PetscFunctionReturn(0);
}

/* Seconds of z = x + 3 y */
static PetscErrorCode Triad(Vec x, Vec y, Vec z, PetscReal *t)
{
  PetscLogDouble     t0, t1;
  PetscInt           n;
  const PetscScalar *xx, *yy;
  PetscScalar       *zz;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &xx));
  PetscCall(VecGetArrayRead(y, &yy));
  PetscCall(VecGetArray(z, &zz));
  PetscCall(PetscTime(&t0));
  for (PetscInt i = 0; i < n; ++i) zz[i] = xx[i] + 3.0 * yy[i];
  PetscCall(PetscTime(&t1));
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(VecRestoreArray(z, &zz));
  *t = t1 - t0;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const Format formats[] = {
    {"aijdia, all diagonals",  "aijdia",  "-mat_aijdia_symmetric 0"},
    {"aijdia, symmetric half", "aijdia",  "-mat_aijdia_symmetric 1"},
    {"aijicrs",                "aijicrs", ""                       },
    {"aijhec",                 "aijhec",  ""                       }
  };
  /* of the matrix: values of the stored diagonals, or values and indices, and the slices' places */
  const double perrow[] = {7 * 8, 4 * 8, 7 * 12 + 0.5, 7 * 12};
  PetscInt     n = 160, repeats = 9, inner = 5, N, *ai, *aj;
  PetscScalar *aa, *values;
  PetscReal    ta[99], tb[99], tt[99], norm, diff, aij, ours, triad = 0.0, build = 0.0, refresh = 0.0;
  Vec          x, y, z;
  Mat          A, B;
  PetscBool    skip;
  char         only[64] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-inner", &inner, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof(only), NULL));
  repeats = PetscMin(repeats, 99);
  N       = n * n * n;
  PetscCall(Stencil(n, &ai, &aj, &aa));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, N, N, ai, aj, aa, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSet(y, 1.0));
  PetscCall(VecSet(z, 1.0));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "7-point stencil, %" PetscInt_FMT "^3 points, one process; medians of %" PetscInt_FMT "\n", n, repeats));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-24s %8s %8s %8s %10s %9s %8s %8s\n", "format", "ms", "aij: ms", "faster", "bytes/row", "of triad", "build", "refresh"));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(formats); ++f) {
    if (only[0]) {
      PetscCall(PetscStrbeginswith(formats[f].label, only, &skip));
      if (!skip) continue;
    }
    PetscCall(PetscOptionsInsertString(NULL, formats[f].options));
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, N, N, ai, aj, aa, &B));
    PetscCall(MatConvert(B, formats[f].type, MAT_INPLACE_MATRIX, &B));
    PetscCall(Time(B, x, y, 1, &build));
    PetscCall(MatSeqAIJGetArray(B, &values));
    PetscCall(MatSeqAIJRestoreArray(B, &values));
    PetscCall(Time(B, x, y, 1, &refresh));
    PetscCall(MatMult(A, x, z));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &diff));
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCheck(diff <= 1e-14 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The products differ by %g", (double)diff);
    for (PetscInt r = 0; r < repeats; ++r) {
      PetscCall(Time(A, x, y, inner, &ta[r]));
      PetscCall(Time(B, x, y, inner, &tb[r]));
      PetscCall(Triad(x, y, z, &tt[r]));
    }
    aij   = Median(repeats, ta);
    ours  = Median(repeats, tb);
    triad = 24.0 * N / Median(repeats, tt);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-24s %8.2f %8.2f %8.2f %10.1f %9.2f %8.1f %8.1f\n", formats[f].label, (double)(1e3 * ours), (double)(1e3 * aij), (double)(aij / ours), perrow[f] + 16, (double)((perrow[f] + 16) * N / ours / triad), (double)(build / ours - 1), (double)(refresh / ours - 1)));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "triad: %.1f GB/s; bytes/row: matrix, one read of x, one write of y (aij: %.1f); build, refresh: in products\n", (double)(triad / 1e9), 7 * 12 + 4 + 16.0));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscFree3(ai, aj, aa));
  PetscCall(PetscFinalize());
  return 0;
}
