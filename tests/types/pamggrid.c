static char help[] = "Pairwise-aggregation multigrid on grids: iterations with levels that are grids.\n\n";

#include "pamggrids.h"
#include "pc/pamg/pamgimpl.h"
#include "runner.h"
#include <petsc/private/pcimpl.h>

#define VCYCLE "-ksp_type cg -pc_type pamg "
#define CHEBY  "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "

/* Iterations of one case from the command line with a list of options */
static PetscErrorCode TestMeasure(void)
{
  static const char *const lists[] = {VCYCLE " -pc_pamg_grid 0", VCYCLE, VCYCLE CHEBY " -pc_pamg_grid 0", VCYCLE CHEBY,
                                      VCYCLE "-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 3", VCYCLE CHEBY "-pc_pamg_precision single", VCYCLE CHEBY "-pc_pamg_cycle w"};
  static const char *const names[] = {"gs.aggr", "gs", "ch2.aggr", "ch2", "ch3", "ch2.single", "ch2.w"};
  static const Grid cases[] = {
    {{0, 0, 0}, GRID_ONE, 1, GRID_WHOLE, {0}}, {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {0}}, {{0, 0, 0}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}}, {{0, 0, 0}, GRID_BUBBLES, 1e6, GRID_NEUMANN, {0}},
    {{0, 0, 0}, GRID_BUBBLES, 1e-3, GRID_NEUMANN, {0}}, {{0, 0, 0}, GRID_LOGNORMAL, 3, GRID_NEUMANN, {0}}, {{0, 0, 0}, GRID_LOGNORMAL, 3, GRID_HALF, {0}}, {{0, 0, 0}, GRID_LOGNORMAL, 1, GRID_HALF, {0}},
    {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {1e-3, 1, 1}}, {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {1, 1e-3, 1}}, {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {1, 1, 1e-3}},
    {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {1e-2, 1, 1}}, {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {1, 1e-1, 1}}, {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {1, 1, 0.3}}, {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {1, 0.03, 1e-3}}, {{0, 0, 0}, GRID_ONE, 1, GRID_HALF, {1, 0.2, 0.2}},
    {{0, 0, 0}, GRID_TURNING, 1e-2, GRID_HALF, {0}}, {{0, 0, 0}, GRID_TURNING, 0.1, GRID_HALF, {0}}, {{0, 0, 0}, GRID_TURNING, 1e2, GRID_HALF, {0}}, {{0, 0, 0}, GRID_TURNING, 1e4, GRID_NEUMANN, {0}},{{0, 0, 0}, GRID_BALLS, 1e3, GRID_NEUMANN, {0}},{{0, 0, 0}, GRID_BALLS, 1e6, GRID_NEUMANN, {0}},{{0, 0, 0}, GRID_BALLS, 1e-3, GRID_NEUMANN, {0}}};
  static const char *const fields[] = {"one", "bubbles", "balls", "lognormal", "turning"}, *const walls[] = {"half", "whole", "neumann"};
  PetscInt n[3] = {32, 32, 32}, three = 3, only[32], nonly = 32;
  PetscBool some;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", n, &three, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-only", only, &nonly, &some));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    Grid g = cases[k];
    Mat  A = NULL;
    PetscBool is = (PetscBool)!some;
    for (PetscInt s = 0; some && s < nonly; ++s) if (only[s] == (PetscInt)k) is = PETSC_TRUE;
    if (!is) continue;

    PetscCall(PetscArraycpy(g.n, n, 3));
    PetscCall(GridAssemble(&g, &A));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%2d %dx%dx%d %-9s %7g %-7s %5g %5g %5g:", (int)k, (int)n[0], (int)n[1], (int)n[2], fields[g.field], (double)g.jump, walls[g.walls], (double)g.along[0], (double)g.along[1], (double)g.along[2]));
    for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(lists); ++o) {
      PetscInt its;

      PetscCall(GridSolve(&g, A, lists[o], NULL, &its));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s %" PetscInt_FMT, names[o], its));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-measure", TestMeasure},
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

TEST*/
