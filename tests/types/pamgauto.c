static char help[] = "The precision that pairwise-aggregation multigrid chooses: where it is half, and that this costs no more than two iterations.\n\n";

#include "pamgchecks.h"
#include "pamggrids.h"
#include "pc/pamg/pamgimpl.h"
#include "runner.h"
#include <petsc/private/pcimpl.h>
#include <polder.h>

#define SGS       "-ksp_type cg -pc_type pamg -pc_pamg_smoother sgs -pc_pamg_pre 1 -pc_pamg_post 1 "
#define CHEBYSHEV "-ksp_type cg -pc_type pamg -pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "
#define KCYCLE    "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k -pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "

static PamgPrecision PrecisionOf(PC pc)
{
  return ((PC_PAMG *)pc->data)->precision;
}

/* half: what each of the methods is expected to choose; more: the iterations that it may take beyond those of double precision */
typedef struct {
  Grid      grid;
  PetscBool half[3];
  PetscInt  more;
} Case;

static PetscErrorCode CheckGrid(const Case *c)
{
  static const char *const methods[] = {SGS, CHEBYSHEV, KCYCLE};
  Mat                      A         = NULL;

  PetscFunctionBeginUser;
  PetscCall(GridAssemble(&c->grid, &A));
  for (int m = 0; m < 3; ++m) {
    PetscInt its[2];
    KSP      ksp;
    PC       pc;
    char     text[256];

    PetscCall(PetscSNPrintf(text, sizeof(text), "%s-pc_pamg_precision double", methods[m]));
    PetscCall(GridSolve(&c->grid, A, text, NULL, &its[0]));
    PetscCall(GridSolve(&c->grid, A, methods[m], &ksp, &its[1]));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PetscInfo(NULL, "%s: %" PetscInt_FMT " and %" PetscInt_FMT " iterations\n", methods[m], its[0], its[1]));
    PetscCheck((PrecisionOf(pc) == PAMG_HALF) == c->half[m], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Contrast %g, %s: in %s precision", (double)c->grid.jump,
               methods[m], c->half[m] ? "double" : "half");
    PetscCheck(its[1] <= its[0] + (c->half[m] ? c->more : 0), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Contrast %g, %s: %" PetscInt_FMT " iterations, in double precision %" PetscInt_FMT, (double)c->grid.jump, methods[m], its[1], its[0]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGrids(void)
{
  // clang-format off
  static const Case cases[] = {
    {{{32, 32, 32}, GRID_ONE, 1, GRID_WHOLE, {0}},                {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},    0},
    {{{32, 32, 32}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}},        {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},    0},
    {{{32, 32, 32}, GRID_BUBBLES, 1e5, GRID_NEUMANN, {0}},        {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},    1},
    {{{32, 32, 32}, GRID_BUBBLES, 1e6, GRID_NEUMANN, {0}},        {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},  2},
    {{{32, 32, 32}, GRID_BUBBLES, 1e7, GRID_HALF, {0}},           {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},  2},
    {{{32, 32, 32}, GRID_BUBBLES, 1e-8, GRID_HALF, {0}},          {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, 0},
    {{{32, 32, 32}, GRID_ONE, 1, GRID_HALF, {1, 1, 1e6}},         {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},    1},
    {{{32, 32, 32}, GRID_LOGNORMAL, 1, GRID_HALF, {0}},           {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},    0},
    {{{32, 32, 32}, GRID_LOGNORMAL, 3, GRID_HALF, {0}},           {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, 0},
    {{{32, 32, 32}, GRID_WAVES, 3, GRID_HALF, {0}},               {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},    1},
    {{{32, 32, 32}, GRID_WAVES, 4, GRID_NEUMANN, {0}},            {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},    1},
    {{{32, 32, 32}, GRID_WAVES, 8, GRID_HALF, {0}},               {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, 0},
    {{{32, 32, 32}, GRID_BALLS, 1e3, GRID_NEUMANN, {0}},          {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, 0},
    {{{127, 127, 1}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}},       {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},    0},
    {{{127, 127, 1}, GRID_BUBBLES, 1e6, GRID_NEUMANN, {0}},       {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},  2},
    {{{15, 15, 1}, GRID_ONE, 1, GRID_HALF, {0}},                  {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, 0},
  };
  // clang-format on

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) PetscCall(CheckGrid(&cases[k]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "half precision on grids whose coefficients allow it\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Meshes, and entries that single precision does not have */
static PetscErrorCode TestOthers(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("tetrahedra", 3, 12, 1, &A));
  PetscCall(CreatePC(A, "", &pc));
  PetscCheck(PrecisionOf(pc) == PAMG_DOUBLE, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Tetrahedra in half precision");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  for (int k = 0; k < 2; ++k) {
    PetscCall(ProblemCreate("poisson", 3, 12, 1, &A));
    PetscCall(MatScale(A, k ? 1e45 : 1e-45));
    PetscCall(CreatePC(A, "", &pc));
    PetscCheck(PrecisionOf(pc) == PAMG_DOUBLE, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Entries of 1e%d in half precision", k ? 45 : -45);
    PetscCall(MatScale(A, k ? 1e-45 : 1e45)); // new values in the old pattern keep the precision
    PetscCall(PCSetUp(pc));
    PetscCheck(((PC_PAMG *)pc->data)->nrefresh == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The levels were made again");
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "double precision elsewhere\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of which only coarse levels are too large for half precision are refused, and those after them are not */
static PetscErrorCode TestTooLarge(void)
{
  static const char *const options = "-pc_pamg_precision half -pc_pamg_coarse_limit 40";

  PCFailedReason reason;
  PetscReal      away;
  Mat            A;
  PC             pc;
  Vec            r;

  PetscFunctionBeginUser;
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 3, 16, 1, &A));
  PetscCall(CreateVecs(A, &r, NULL));
  PetscCall(FillRandom(r, 3));
  PetscCall(CreatePC(A, options, &pc));
  PetscCall(PCSetErrorIfFailure(pc, PETSC_FALSE));
  PetscCall(MatScale(A, 2.5e37));
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  PetscCheck(reason == PC_FACTOR_OTHER, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Entries of 6e38 in half precision");
  PetscCall(MatScale(A, 1 / 2.5e37));
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  PetscCall(AwayFromFresh(pc, options, r, &away));
  PetscCheck(!reason && away <= 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "After a refusal: reason %d, %g away from a fresh set-up", (int)reason, (double)away);
  PetscCall(VecDestroy(&r));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values that need double precision get it, by a new set-up */
static PetscErrorCode TestValues(void)
{
  const Grid g[2] = {
    {{16, 16, 16}, GRID_BUBBLES, 10,   GRID_HALF, {0}},
    {{16, 16, 16}, GRID_BUBBLES, 1e10, GRID_HALF, {0}}
  };
  Mat A = NULL;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(GridAssemble(&g[0], &A));
  PetscCall(CreatePC(A, "", &pc));
  PetscCheck(PrecisionOf(pc) == PAMG_HALF, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Contrast 10 in double precision");
  PetscCall(MatScale(A, 2));
  PetscCall(PCSetUp(pc));
  PetscCheck(PrecisionOf(pc) == PAMG_HALF && ((PC_PAMG *)pc->data)->nrefresh == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The same in another unit: not refreshed");
  PetscCall(GridAssemble(&g[1], &A));
  PetscCall(PCSetUp(pc));
  PetscCheck(PrecisionOf(pc) == PAMG_DOUBLE, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Contrast 1e10 in half precision");
  PetscCall(PCDestroy(&pc));
  PetscCall(CreatePC(A, "-pc_pamg_precision half", &pc));
  PetscCheck(PrecisionOf(pc) == PAMG_HALF, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "An option is not heeded");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(TestTooLarge());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The true residual to 1e-9, unpreconditioned: solvers that take the preconditioner as linear get it in double precision */
static PetscErrorCode TestSolvers(void)
{
  static const char *const solvers[] = {"cg", "fcg", "dcg", "fgmres", "gcr", "richardson", "idrs", "gmres", "bcgs", "minres"};
  Mat                      A;
  Vec                      x, b;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("poisson", 2, 63, 1, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(b, 7));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solvers); ++k) {
    KSP                ksp;
    PC                 pc;
    KSPConvergedReason reason;
    PetscReal          residual;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, solvers[k]));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCPAMG));
    PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, 60));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(TrueResidual(A, b, x, &residual));
    PetscCall(PetscInfo(NULL, "%s: true residual %g\n", solvers[k], (double)residual));
    PetscCheck(reason > 0 && residual < 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s, true residual %g", solvers[k], KSPConvergedReasons[reason],
               (double)residual);
    PetscCheck((PrecisionOf(pc) == PAMG_HALF) == (k < 7), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s in %s precision", solvers[k], k < 7 ? "double" : "half");
    PetscCall(KSPSolve(ksp, b, x)); // again, without another set-up
    PetscCheck(((PC_PAMG *)pc->data)->nsetup == (k < 7 ? 1 : 2), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " set-ups", solvers[k],
               ((PC_PAMG *)pc->data)->nsetup);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "true residuals of all solvers\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A singular system to a tolerance at which the mean that rounding leaves in the residual counts: as in double precision */
static PetscErrorCode TestSingular(void)
{
  static const char *const options[2] = {SGS, SGS "-pc_pamg_precision double"};
  const Grid               g          = {
                           {127, 127, 1},
                           GRID_BUBBLES, 1e3, GRID_NEUMANN, {0 }
  };
  PetscInt its[2];
  Mat      A = NULL;
  Vec      x, b;

  PetscFunctionBeginUser;
  PetscCall(GridAssemble(&g, &A));
  PetscCall(GridRHS(&g, A, &b));
  PetscCall(VecDuplicate(b, &x));
  for (int k = 0; k < 2; ++k) {
    PetscOptions       own;
    KSP                ksp;
    PC                 pc;
    KSPConvergedReason reason;

    PetscCall(PetscOptionsCreate(&own));
    PetscCall(PetscOptionsInsertString(own, options[k]));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(PetscObjectSetOptions((PetscObject)ksp, own));
    PetscCall(KSPSetOperators(ksp, A, A));
    // rounding leaves a mean of 6e-13 to 1.7e-10, by the processes and the compiler; in half precision residuals stay near 1e-10
    PetscCall(KSPSetTolerances(ksp, 3e-10, PETSC_DEFAULT, PETSC_DEFAULT, 60));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCheck((PrecisionOf(pc) == PAMG_HALF) == !k, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "In %s precision", k ? "half" : "double");
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", options[k], KSPConvergedReasons[reason]);
    PetscCall(PetscObjectSetOptions((PetscObject)ksp, NULL));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(PetscOptionsDestroy(&own));
  }
  PetscCheck(its[0] <= its[1] + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations, in double precision %" PetscInt_FMT, its[0], its[1]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a singular system to 1e-10: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-grids",    TestGrids   },
    {"-singular", TestSingular},
    {"-others",   TestOthers  },
    {"-values",   TestValues  },
    {"-solvers",  TestSolvers },
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: grids
    args: -polder_min_rows_per_gpu 0 -grids -mat_type {{aij aijdia}}

  test:
    suffix: grids_device
    requires: gpu
    nsize: {{1 2}}
    args: -polder_min_rows_per_gpu 0 -grids -mat_type {{aijdia aijicrs}}
    output_file: output/pamgauto_grids.out

  test:
    suffix: others
    nsize: {{1 3}}
    args: -polder_min_rows_per_gpu 0 -others -values -mat_type {{aij aijdia}}

  test:
    suffix: solvers
    nsize: {{1 3}}
    args: -polder_min_rows_per_gpu 0 -solvers -mat_type {{aij aijdia}}

  test:
    suffix: singular
    nsize: {{1 3}}
    args: -polder_min_rows_per_gpu 0 -singular -mat_type {{aij aijdia}}

  test:
    suffix: singular_device
    requires: gpu
    args: -polder_min_rows_per_gpu 0 -singular -mat_type aijdia
    output_file: output/pamgauto_singular.out

TEST*/
