static char help[] = "Pairwise-aggregation multigrid with entries in bfloat16: iterations beside those in single and in double precision.\n\n";

#include "pamgproblems.h"
#include "runner.h"

#define CHEBYSHEV "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "

static const char *const precisions[] = {"double", "single", "half"};

/*
  Iterations in the precisions: as many in half as in single and in double precision, more at most after both. The levels of light bubbles on three processes
  have 434 to 437 rows before the last one: with a limit of 400 there is one level more, and half precision takes an iteration more by chance
*/
static PetscErrorCode Compare(const char what[], Mat A, const char options[], PetscInt more)
{
  PetscInt its[3];

  PetscFunctionBeginUser;
  for (int p = 0; p < 3; ++p) {
    char      text[200];
    PetscReal residual;

    PetscCall(PetscSNPrintf(text, sizeof(text), "%s-pc_type pamg -pc_pamg_coarse_limit 500 -pc_pamg_precision %s", options, precisions[p]));
    PetscCall(ProblemSolve(A, text, NULL, &its[p], &residual));
    PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: true residual %g", what, text, (double)residual);
  }
  PetscCall(PetscInfo(NULL, "%s, %s: %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT " iterations\n", what, options, its[0], its[1], its[2]));
  PetscCheck(its[2] <= PetscMin(its[0], its[1]) + more, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s, %s: %" PetscInt_FMT " iterations in half precision, %" PetscInt_FMT " in single, %" PetscInt_FMT " in double", what, options, its[2], its[1],
             its[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* V- and K-cycles on grids, on aggregates of grids and on tetrahedra: the iterations of double precision, and at most two more at 1e6 */
static PetscErrorCode TestIterations(void)
{
  static const struct {
    const char *kind;
    PetscInt    dim, n;
    PetscReal   jump;
  } problems[] = {
    {"poisson",    2, 127, 1   },
    {"poisson",    3, 32,  1   },
    {"poisson",    2, 127, 1e3 },
    {"bubbles",    2, 128, 1e3 },
    {"bubbles",    2, 128, 1e6 },
    {"bubbles",    3, 32,  1e3 },
    {"bubbles",    3, 32,  1e-3},
    {"bubbles",    3, 32,  1e6 },
    {"tetrahedra", 3, 16,  1   },
    {"tetrahedra", 3, 16,  1e3 },
    {"tetrahedra", 3, 16,  1e6 }
  };
  static const char *const methods[] = {"-ksp_type cg ", "-ksp_type cg " CHEBYSHEV, "-ksp_type cg -pc_pamg_grid 0 " CHEBYSHEV,
                                        "-ksp_type fcg -pc_pamg_cycle k " CHEBYSHEV, "-ksp_type fcg -pc_pamg_cycle k -pc_pamg_grid 0 " CHEBYSHEV};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    Mat  A;
    char what[40];

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s %" PetscInt_FMT "-D %g", problems[k].kind, problems[k].dim, (double)problems[k].jump));
    PetscCall(ProblemCreate(problems[k].kind, problems[k].dim, problems[k].n, problems[k].jump, &A));
    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(methods); ++m) PetscCall(Compare(what, A, methods[m], problems[k].jump > 1e3 ? 2 : 0));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "half precision takes the iterations of single and double precision\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner is symmetric and definite, and its applications are those in double precision up to a percent, also after a refresh with values that
   round otherwise */
static PetscErrorCode TestOperator(void)
{
  static const char *const options[] = {"-pc_pamg_smoother sgs ", CHEBYSHEV, "-pc_pamg_grid 0 " CHEBYSHEV,
                                        "-pc_pamg_smoother l1jacobi -pc_pamg_grid 0 -pc_pamg_gather 0 "};

  PetscFunctionBeginUser;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    for (int k = 0; k < 2; ++k) {
      Mat         A;
      Vec         x[2], z[2][2];
      PC          pc[2];
      char        text[200];
      PetscScalar dot[4];
      PetscReal   away, norm;

      PetscCall(ProblemCreate(k ? "tetrahedra" : "poisson", 3, k ? 12 : 20, k ? 1e3 : 0.37, &A));
      for (int i = 0; i < 2; ++i) {
        PetscCall(CreateVecs(A, &x[i], NULL));
        PetscCall(FillRandom(x[i], 3 + i));
        for (int p = 0; p < 2; ++p) PetscCall(VecDuplicate(x[i], &z[p][i]));
      }
      for (int scaled = 0; scaled < 2; ++scaled) {
        for (int p = 0; p < 2; ++p) {
          PetscCall(PetscSNPrintf(text, sizeof(text), "%s-pc_pamg_precision %s", options[o], precisions[2 * p]));
          if (scaled) PetscCall(PCSetUp(pc[p]));
          else PetscCall(CreatePC(A, text, &pc[p]));
          for (int i = 0; i < 2; ++i) PetscCall(PCApply(pc[p], x[i], z[p][i]));
        }
        PetscCall(VecDot(x[0], z[1][1], &dot[0]));
        PetscCall(VecDot(x[1], z[1][0], &dot[1]));
        PetscCall(VecDot(x[0], z[1][0], &dot[2]));
        PetscCall(VecDot(x[1], z[1][1], &dot[3]));
        PetscCheck(PetscAbsScalar(dot[0] - dot[1]) <= 1e-5 * PetscSqrtReal(PetscRealPart(dot[2] * dot[3])), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s: the products with an application are %g and %g", text, (double)PetscRealPart(dot[0]), (double)PetscRealPart(dot[1]));
        PetscCheck(PetscRealPart(dot[2]) > 0 && PetscRealPart(dot[3]) > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s is not definite", text);
        PetscCall(VecNorm(z[0][0], NORM_2, &norm));
        PetscCall(VecAXPY(z[1][0], -1, z[0][0]));
        PetscCall(VecNorm(z[1][0], NORM_2, &away));
        PetscCall(PetscInfo(NULL, "%s, problem %d: half precision is away by %g\n", text, k, (double)(away / norm)));
        PetscCheck(away > 1e-6 * norm && away < 0.01 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, problem %d: half precision is away by %g", text, k,
                   (double)(away / norm));
        PetscCall(MatScale(A, 1.37));
      }
      for (int i = 0; i < 2; ++i) {
        PetscCall(PCDestroy(&pc[i]));
        PetscCall(VecDestroy(&x[i]));
        for (int p = 0; p < 2; ++p) PetscCall(VecDestroy(&z[p][i]));
      }
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "half precision gives the same operator to a percent, symmetric and definite\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations to 1e-8 from a right-hand side of a magnitude that single precision does not have; the true residual */
static PetscErrorCode SolveUnits(Mat A, const char options[], PetscReal magnitude, PetscInt *its, PetscReal *residual)
{
  PetscOptions own;
  KSP          ksp;
  Vec          x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(b, 7));
  PetscCall(VecScale(b, magnitude));
  PetscCall(PetscOptionsCreate(&own));
  PetscCall(PetscOptionsInsertString(own, options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(PetscObjectSetOptions((PetscObject)ksp, own));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 0, PETSC_DEFAULT, 60));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(TrueResidual(A, b, x, residual));
  PetscCall(PetscObjectSetOptions((PetscObject)ksp, NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsDestroy(&own));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestUnits(void)
{
  static const char *const options[] = {"-ksp_type cg -pc_type pamg ", "-ksp_type cg -pc_type pamg " CHEBYSHEV, "-ksp_type dcg -pc_type pamg " CHEBYSHEV};
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("poisson", 3, 16, 1, &A));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    PetscInt its[3];

    for (int k = 0; k < 3; ++k) {
      char      text[200];
      PetscReal residual;

      PetscCall(PetscSNPrintf(text, sizeof(text), "%s-pc_pamg_precision half", options[o]));
      PetscCall(SolveUnits(A, text, k ? PetscPowReal(2, k > 1 ? 200 : -200) : 1, &its[k], &residual));
      PetscCheck(residual < 1.1e-8, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, right-hand side %d: true residual %g", text, k, (double)residual);
      PetscCheck(its[k] == its[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, right-hand side %d: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, text, k,
                 its[k], its[0]);
    }
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "right-hand sides of 2^200 and 2^-200 take the iterations of one\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-iterations", TestIterations},
    {"-operator",   TestOperator  },
    {"-units",      TestUnits     },
  };

  return RunProgram(argc, args, help, NULL, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  test:
    suffix: iterations
    nsize: {{1 3}}
    args: -iterations -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: iterations_device
    requires: gpu
    nsize: {{1 2}}
    args: -iterations -mat_type {{aijdia aijicrs}} -polder_min_rows_per_gpu 0
    output_file: output/pamghalf_iterations.out

  test:
    suffix: operator
    nsize: {{1 3}}
    args: -operator -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: operator_device
    requires: gpu
    nsize: {{1 3}}
    args: -operator -mat_type {{aijdia aijicrs}} -polder_min_rows_per_gpu 0
    output_file: output/pamghalf_operator.out

  test:
    suffix: units
    nsize: {{1 3}}
    args: -units -mat_type {{aij aijdia}}

  test:
    suffix: units_device
    requires: gpu
    nsize: {{1 2}}
    args: -units -mat_type {{aijdia aijicrs}}
    output_file: output/pamghalf_units.out

TEST*/
