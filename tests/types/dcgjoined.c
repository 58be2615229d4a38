static char
  help[] = "dcg whose updates of vectors are joined with the halves of tns, on diagonals, beside the same steps apart, on compressed rows: histories,\n\
solutions that a monitor sees, Ritz values.\n\
  -n <n>     : cells in each direction\n\
  -kernel    : no walls; the constant is in the kernel\n\
  -dim <dim> : 2 or 3\n\n";

#include <petscksp.h>

#define MOST 400

typedef struct {
  Mat       A;
  Vec       b;
  PetscInt  n;
  PetscReal norm[MOST], gap, smax, smin; /* gap: largest difference of the norm and that of b - A x */
  PetscInt  apart;                       /* calls of VecAYPX(), with which p is updated apart */
} Run;

/* Coefficient of a cell: a ball of 1e3 */
static PetscReal Coefficient(PetscInt n, const PetscInt x[3])
{
  PetscReal d = 0;

  for (int k = 0; k < 3; ++k) d += PetscSqr((x[k] + 0.5) / n - 0.4);
  return d < 0.06 ? 1e3 : 1;
}

/* Cells with harmonic means between them, x fastest; walls: half a cell away */
static PetscErrorCode MakeMatrix(PetscInt dim, PetscInt n, PetscBool walls, Mat *A)
{
  const PetscInt N = dim == 2 ? n * n : n * n * n, step[3] = {1, n, n * n};

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, N, N, 7, NULL, A));
  for (PetscInt i = 0; i < N; ++i) {
    const PetscInt  x[3] = {i % n, i / n % n, dim == 2 ? (PetscInt)(0.4 * n) : i / (n * n)};
    const PetscReal c    = Coefficient(n, x);
    PetscScalar     sum  = 0;

    for (PetscInt k = 0; k < dim; ++k) {
      for (PetscInt s = -1; s <= 1; s += 2) {
        PetscInt y[3] = {x[0], x[1], x[2]};

        y[k] += s;
        if (y[k] >= 0 && y[k] < n) {
          const PetscReal d = Coefficient(n, y), v = 2 * c * d / (c + d);

          PetscCall(MatSetValue(*A, i, i + s * step[k], -v, INSERT_VALUES));
          sum += v;
        } else if (walls) sum += 2 * c;
      }
    }
    PetscCall(MatSetValue(*A, i, i, sum, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Without deflation vectors the solution of the step belongs to its norm */
static PetscErrorCode Watch(KSP ksp, PetscInt its, PetscReal norm, void *ctx)
{
  Run      *run = (Run *)ctx;
  Vec       x, r;
  PetscReal rnorm;

  PetscFunctionBeginUser;
  (void)its;
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(MatMult(run->A, x, r));
  PetscCall(VecAYPX(r, -1, run->b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  run->gap = PetscMax(run->gap, PetscAbsReal(rnorm - norm));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Mat A, MatType type, PetscBool kernel, PetscBool watch, Run *run)
{
  KSP                ksp;
  PC                 pc;
  Vec                x;
  MatNullSpace       constant;
  PetscLogEvent      event;
  PetscEventPerfInfo before, after;
  const PetscReal   *history;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &run->A));
  if (kernel) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &constant));
    PetscCall(MatSetNullSpace(run->A, constant));
    PetscCall(MatNullSpaceDestroy(&constant));
  }
  PetscCall(MatCreateVecs(run->A, &x, NULL));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, run->A, run->A));
  PetscCall(KSPSetType(ksp, "dcg"));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, "tns"));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, MOST));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSetResidualHistory(ksp, NULL, MOST, PETSC_TRUE));
  if (watch) PetscCall(KSPMonitorSet(ksp, Watch, run, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscLogEventGetId("VecAYPX", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &before));
  PetscCall(KSPSolve(ksp, run->b, x));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &after));
  run->apart = after.count - before.count;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", type, KSPConvergedReasons[reason]);
  PetscCall(KSPGetResidualHistory(ksp, &history, &run->n));
  PetscCall(PetscArraycpy(run->norm, history, PetscMin(run->n, MOST)));
  PetscCall(KSPComputeExtremeSingularValues(ksp, &run->smax, &run->smin));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&run->A));
  PetscFunctionReturn(0);
}

/* Both take the same steps but for rounding, which later steps magnify */
static PetscErrorCode Compare(const Run *joined, const Run *apart)
{
  PetscFunctionBeginUser;
  PetscCheck(joined->apart <= 3 && apart->apart > joined->n / 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecAYPX %" PetscInt_FMT " and %" PetscInt_FMT " times",
             joined->apart, apart->apart);
  PetscCheck(PetscAbs(joined->n - apart->n) <= 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " norms, apart %" PetscInt_FMT, joined->n, apart->n);
  for (PetscInt k = 0; k < PetscMin(joined->n, 12); ++k)
    PetscCheck(PetscAbsReal(joined->norm[k] - apart->norm[k]) <= 1e-9 * apart->norm[k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Step %" PetscInt_FMT ": norm %.12g, apart %.12g", k, (double)joined->norm[k], (double)apart->norm[k]);
  PetscCheck(PetscAbsReal(joined->smax - apart->smax) <= 1e-6 * apart->smax, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Largest Ritz value %g, apart %g",
             (double)joined->smax, (double)apart->smax);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  n = 14, dim = 3;
  PetscBool kernel = PETSC_FALSE;
  Run       joined = {0}, apart = {0}, seen = {0};
  PetscReal bnorm;
  Mat       A;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-kernel", &kernel, NULL));
  PetscCall(MakeMatrix(dim, n, (PetscBool)!kernel, &A));
  PetscCall(MatCreateVecs(A, &x, &joined.b));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, joined.b)); // in the range
  PetscCall(VecNorm(joined.b, NORM_2, &bnorm));
  apart.b = seen.b = joined.b;
  PetscCall(Solve(A, "aijdia", kernel, PETSC_FALSE, &joined));
  PetscCall(Solve(A, "aijicrs", kernel, PETSC_FALSE, &apart));
  PetscCall(Compare(&joined, &apart));
  PetscCall(Solve(A, "aijdia", kernel, PETSC_TRUE, &seen));
  PetscCheck(seen.n == joined.n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " norms, with a monitor %" PetscInt_FMT, joined.n, seen.n);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "joined steps are those apart%s\n", seen.gap < 1e-10 * bnorm ? ", and a monitor sees their solutions" : ""));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&joined.b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: log !emulated !gpu
    output_file: output/dcgjoined_1.out

    test:
      suffix: 1
      args: -deflation_space none -pc_tns_degree {{0 1 2 3}}
    test:
      suffix: forms
      suites: valgrind(+2)
      args: -deflation_space none -dim {{2 3}} -n 13 -pc_tns_precision {{double single}}
    test:
      suffix: kernel
      args: -deflation_space none -kernel

  testset:
    requires: log !emulated !gpu
    output_file: output/dcgjoined_vectors.out

    test:
      suffix: vectors
      args: -deflation_space subdomain -deflation_grid 14,14,14 -deflation_boxes 3,3,3 -kernel {{0 1}}

TEST*/
