static char help[] = "Time of one product, our matrix types against PETSc's in the same run: aij on the CPU, aijcusparse on a GPU (-vec_type cuda).\n\
  -matrices <list> : of 7point, 5point, geometric, tetrahedra, powerlaw, hubs (default: 7point on the CPU, all on a GPU)\n\
  -n <n>           : grid points in each direction, or points, for the matrices of the list\n\
  -only <words>    : formats whose names begin so\n\
  -repeats <r>     : number of alternating measurements\n\
  -inner <k>       : products in each\n\n";

#include <petscksp.h>
#include <petscdevice.h>
#include <petsctime.h>
#include "matrices.h"

typedef struct {
  const char *label, *type, *options;
  PetscBool   stencils; /* only for stencils */
} Format;

typedef struct {
  const char *name, *what;
  PetscInt    cpu, gpu; /* default size */
} Kind;

typedef struct {
  PetscBool gpu;
  PetscInt  repeats, inner;
  PetscReal copy; /* copy bandwidth in bytes a second, reads and writes counted */
  char      only[64];
} Bench;

static int CompareReal(const void *a, const void *b)
{
  const PetscReal x = *(const PetscReal *)a, y = *(const PetscReal *)b;

  return (x > y) - (x < y);
}

/* Median; sorts t[] */
static PetscReal Median(PetscInt n, PetscReal t[])
{
  qsort(t, n, sizeof(*t), CompareReal);
  return t[n / 2];
}

/* Synchronises with the device, if there is one */
static PetscErrorCode Wait(const Bench *bench)
{
  PetscFunctionBeginUser;
  if (bench->gpu) {
#if defined(PETSC_HAVE_CUDA)
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
#endif
  }
  PetscFunctionReturn(0);
}

/* Seconds of one product, from one measurement */
static PetscErrorCode Time(const Bench *bench, Mat A, Vec x, Vec y, PetscInt inner, PetscReal *t)
{
  PetscLogDouble t0, t1;

  PetscFunctionBeginUser;
  PetscCall(Wait(bench));
  PetscCall(PetscTime(&t0));
  for (PetscInt k = 0; k < inner; ++k) PetscCall(MatMult(A, x, y));
  PetscCall(Wait(bench));
  PetscCall(PetscTime(&t1));
  *t = (t1 - t0) / inner;
  PetscFunctionReturn(0);
}

/* Bandwidth in bytes a second, the best of several measurements: of a copy on the GPU, of z = x + 3 y on the CPU */
static PetscErrorCode Bandwidth(Bench *bench)
{
  const PetscInt     n = bench->gpu ? 1 << 27 : 1 << 24, inner = bench->gpu ? 10 : 1;
  PetscLogDouble     t0, t1;
  PetscReal          best = PETSC_MAX_REAL;
  Vec                x, y, z;
  const PetscScalar *xx, *yy;
  PetscScalar       *zz;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, n, n));
  PetscCall(VecSetFromOptions(x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSet(x, 1.0));
  PetscCall(VecSet(y, 2.0));
  PetscCall(VecSet(z, 3.0));
  for (int r = 0; r < 7; ++r) {
    if (bench->gpu) {
      PetscCall(Wait(bench));
      PetscCall(PetscTime(&t0));
      for (PetscInt k = 0; k < inner; ++k) PetscCall(VecCopy(x, y));
      PetscCall(Wait(bench));
      PetscCall(PetscTime(&t1));
    } else {
      PetscCall(VecGetArrayRead(x, &xx));
      PetscCall(VecGetArrayRead(y, &yy));
      PetscCall(VecGetArray(z, &zz));
      PetscCall(PetscTime(&t0));
      for (PetscInt i = 0; i < n; ++i) zz[i] = xx[i] + 3.0 * yy[i];
      PetscCall(PetscTime(&t1));
      PetscCall(VecRestoreArrayRead(x, &xx));
      PetscCall(VecRestoreArrayRead(y, &yy));
      PetscCall(VecRestoreArray(z, &zz));
    }
    best = PetscMin(best, (t1 - t0) / inner);
  }
  bench->copy = (bench->gpu ? 16.0 : 24.0) * n / best;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

/* Bytes of a matrix that a product reads for each row, from its view; 0 when the view does not print them */
static PetscErrorCode BytesARow(Mat A, double *bytes)
{
  FILE       *file = tmpfile();
  PetscViewer viewer;
  char        line[512], *at;
  PetscBool   classes = PETSC_FALSE;

  PetscFunctionBeginUser;
  *bytes = 0.0;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  while (fgets(line, sizeof(line), file)) {
    at = strstr(line, "bytes a row: ");
    if (at) *bytes = atof(at + 13);
    if (strstr(line, "read by classes of equal rows")) classes = PETSC_TRUE;
  }
  if (classes) *bytes = 1.0;
  fclose(file);
  PetscFunctionReturn(0);
}

static PetscErrorCode Build(const char name[], PetscInt n, Rows *R)
{
  PetscBool is;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(name, "7point", &is));
  if (is) PetscCall(RowsStencil(3, n, R));
  if (is) PetscFunctionReturn(0);
  PetscCall(PetscStrcmp(name, "5point", &is));
  if (is) PetscCall(RowsStencil(2, n, R));
  if (is) PetscFunctionReturn(0);
  PetscCall(PetscStrcmp(name, "geometric", &is));
  if (is) PetscCall(RowsGeometric(n, 20.0, R));
  if (is) PetscFunctionReturn(0);
  PetscCall(PetscStrcmp(name, "tetrahedra", &is));
  if (is) PetscCall(RowsTetrahedra(n, R));
  if (is) PetscFunctionReturn(0);
  PetscCall(PetscStrcmp(name, "hubs", &is));
  PetscCall(RowsPowerLaw(n, is, R));
  PetscFunctionReturn(0);
}

/* x, and A x by plain loops */
static PetscErrorCode Reference(const Rows *R, Vec x, Vec want)
{
  unsigned long long state = 5;
  PetscScalar       *xx, *ww;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(x, &xx));
  PetscCall(VecGetArrayWrite(want, &ww));
  for (PetscInt i = 0; i < R->n; ++i) xx[i] = Draw(&state) - 0.5;
  for (PetscInt i = 0; i < R->n; ++i) {
    PetscScalar sum = 0.0;

    for (PetscInt k = R->ai[i]; k < R->ai[i + 1]; ++k) sum += R->aa[k] * xx[R->aj[k]];
    ww[i] = sum;
  }
  PetscCall(VecRestoreArrayWrite(x, &xx));
  PetscCall(VecRestoreArrayWrite(want, &ww));
  PetscFunctionReturn(0);
}

/* One line: B against the peer A */
static PetscErrorCode Line(const Bench *bench, const char label[], Mat A, Mat B, Vec x, Vec want, const Rows *R)
{
  PetscReal    ta[99], tb[99], norm, diff, build = 0.0, refresh = 0.0, ours, peer;
  PetscScalar *values;
  double       row;
  Vec          y;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(want, &y));
  PetscCall(VecSet(y, NAN));
  PetscCall(Time(bench, B, x, y, 1, &build));
  PetscCall(VecAXPY(y, -1.0, want));
  PetscCall(VecNorm(y, NORM_INFINITY, &diff));
  PetscCall(VecNorm(want, NORM_INFINITY, &norm));
  PetscCheck(diff <= 1e-12 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the product is off by %g", label, (double)diff);
  PetscCall(MatSeqAIJGetArray(B, &values));
  PetscCall(MatSeqAIJRestoreArray(B, &values));
  PetscCall(Time(bench, B, x, y, 1, &refresh));
  PetscCall(Time(bench, A, x, y, bench->inner, &peer)); /* warm-up */
  PetscCall(Time(bench, B, x, y, bench->inner, &ours));
  for (PetscInt r = 0; r < bench->repeats; ++r) {
    PetscCall(Time(bench, A, x, y, bench->inner, &ta[r]));
    PetscCall(Time(bench, B, x, y, bench->inner, &tb[r]));
  }
  peer = Median(bench->repeats, ta);
  ours = Median(bench->repeats, tb);
  PetscCall(BytesARow(B, &row));
  if (row == 0.0) row = sizeof(PetscInt) + (sizeof(PetscScalar) + sizeof(PetscInt)) * (double)R->ai[R->n] / R->n;
  row += 2 * sizeof(PetscScalar);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-24s %9.4f %9.4f %9.4f %7.2f %10.1f %8.2f %8.1f %8.1f\n", label, (double)(1e3 * tb[0]), (double)(1e3 * ours),
                        (double)(1e3 * peer), (double)(peer / ours), row, (double)(row * R->n / ours / bench->copy), (double)(build / ours - 1),
                        (double)(refresh / ours - 1)));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode Matrix(const Bench *bench, const Kind *kind, PetscInt n)
{
  const Format formats[] = {
    {"aijdia, all diagonals",  "aijdia",  "-mat_aijdia_symmetric 0 -mat_aijdia_classes 0", PETSC_TRUE },
    {"aijdia, symmetric half", "aijdia",  "-mat_aijdia_symmetric 1 -mat_aijdia_classes 0", PETSC_TRUE },
    {"aijdia, classes",        "aijdia",  "-mat_aijdia_symmetric 1 -mat_aijdia_classes 1", PETSC_TRUE },
    {"aijicrs",                "aijicrs", "",                                              PETSC_FALSE},
    {"aijhec",                 "aijhec",  "",                                              PETSC_FALSE}
  };
  const char *peer = bench->gpu ? "aijcusparse" : "aij";
  Rows        R;
  Mat         A, B;
  Vec         x, want;
  PetscInt    least = PETSC_MAX_INT, most = 0;
  PetscBool   wanted, stencil;

  PetscFunctionBeginUser;
  PetscCall(PetscStrendswith(kind->name, "point", &stencil));
  PetscCall(Build(kind->name, n, &R));
  for (PetscInt i = 0; i < R.n; ++i) {
    least = PetscMin(least, R.ai[i + 1] - R.ai[i]);
    most  = PetscMax(most, R.ai[i + 1] - R.ai[i]);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "\n%s (-matrices %s -n %" PetscInt_FMT "): %" PetscInt_FMT " rows of %" PetscInt_FMT " to %" PetscInt_FMT " entries, %.1f on average\n",
                        kind->what, kind->name, n, R.n, least, most, (double)R.ai[R.n] / R.n));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-24s %9s %9s %9s %7s %10s %8s %8s %8s\n", "format", "best ms", "median", bench->gpu ? "cusparse" : "aij", "faster",
                        "bytes/row", bench->gpu ? "of copy" : "of triad", "build", "refresh"));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, R.n, R.n, R.ai, R.aj, R.aa, &A));
  if (bench->gpu) PetscCall(MatConvert(A, peer, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSetFromOptions(x));
  PetscCall(VecDuplicate(x, &want));
  PetscCall(Reference(&R, x, want));
  PetscCall(Line(bench, peer, A, A, x, want, &R));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(formats); ++f) {
    if (formats[f].stencils && !stencil) continue;
    wanted = PETSC_TRUE;
    if (bench->only[0]) PetscCall(PetscStrbeginswith(formats[f].label, bench->only, &wanted)); // PETSc 3.18 never returns from the empty word
    if (!wanted) continue;
    PetscCall(PetscOptionsInsertString(NULL, formats[f].options));
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, R.n, R.n, R.ai, R.aj, R.aa, &B));
    PetscCall(MatConvert(B, formats[f].type, MAT_INPLACE_MATRIX, &B));
    PetscCall(Line(bench, formats[f].label, A, B, x, want, &R));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&want));
  PetscCall(RowsDestroy(&R));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const Kind kinds[] = {
    {"7point",     "7-point stencil",                               160,    256    },
    {"5point",     "5-point stencil",                               2000,   4096   },
    {"geometric",  "random geometric graph, 20 neighbours",         500000, 2000000},
    {"tetrahedra", "quadratic elements on tetrahedra",              35,     60     },
    {"powerlaw",   "rows of power law, columns near the diagonal",  500000, 1000000},
    {"hubs",       "rows of power law with hubs, columns anywhere", 500000, 1000000},
  };
  Bench     bench = {PETSC_FALSE, 9, 0, 0.0, ""};
  char     *list[16], type[32] = "";
  PetscInt  count = 16, n;
  PetscBool some, given, is = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vec_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, "cuda", &bench.gpu));
  bench.inner = bench.gpu ? 20 : 5;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &bench.repeats, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-inner", &bench.inner, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", bench.only, sizeof(bench.only), NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-matrices", list, &count, &some));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, &given));
  bench.repeats = PetscMin(bench.repeats, 99);
  PetscCall(Bandwidth(&bench));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); ++k) {
    for (PetscInt l = 0; some && l < count; ++l) {
      PetscCall(PetscStrcmp(list[l], kinds[k].name, &is));
      if (is) break;
    }
    if (some ? is : (bench.gpu || k == 0)) PetscCall(Matrix(&bench, &kinds[k], given ? n : (bench.gpu ? kinds[k].gpu : kinds[k].cpu)));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "\n%s: %.1f GB/s; median: of %" PetscInt_FMT "; bytes/row: matrix, one read of x, one write of y; build, refresh: in products\n",
                        bench.gpu ? "copy" : "triad", (double)(bench.copy / 1e9), bench.repeats));
  for (PetscInt l = 0; some && l < count; ++l) PetscCall(PetscFree(list[l]));
  PetscCall(PetscFinalize());
  return 0;
}
