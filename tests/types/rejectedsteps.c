static char
  help[] = "Time steps that are too large for the preconditioner are rejected, and smaller ones go on: u_t = (Laplacian + growth) u by implicit Euler.\n\n";

#include <polder.h>
#include <petscts.h>

#define NX 24
#define NY 18

/* L, positive where the growth is faster than the diffusion: 1/dt - L is definite for small dt only */
static PetscErrorCode CreateOperator(PetscReal growth, Mat *L)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, L));
  PetscCall(MatSetSizes(*L, PETSC_DECIDE, PETSC_DECIDE, NX * NY, NX * NY));
  PetscCall(MatSetType(*L, MATAIJ));
  PetscCall(MatSetFromOptions(*L));
  PetscCall(MatSeqAIJSetPreallocation(*L, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*L, 5, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(*L, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt x = i % NX, y = i / NX, next[] = {x ? i - 1 : -1, x < NX - 1 ? i + 1 : -1, y ? i - NX : -1, y < NY - 1 ? i + NX : -1};

    for (int k = 0; k < 4; ++k) {
      if (next[k] >= 0) PetscCall(MatSetValue(*L, i, next[k], 1, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*L, i, i, i == NX * NY - 3 ? growth - 4 : -4, INSERT_VALUES)); /* growth at one node, of the last process */
  }
  PetscCall(MatAssemblyBegin(*L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*L, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Function(TS ts, PetscReal t, Vec u, Vec du, Vec f, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ts, (void)t;
  PetscCall(MatMult((Mat)ctx, u, f));
  PetscCall(VecAYPX(f, -1, du));
  PetscFunctionReturn(0);
}

static PetscErrorCode Jacobian(TS ts, PetscReal t, Vec u, Vec du, PetscReal shift, Mat J, Mat P, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ts, (void)t, (void)u, (void)du, (void)J;
  PetscCall(MatCopy((Mat)ctx, P, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(P, -1));
  PetscCall(MatShift(P, shift));
  PetscFunctionReturn(0);
}

/* From u = 1 to t = 0.0625 with steps of dt at first; *last: of what size they became */
static PetscErrorCode March(const char prefix[], Mat L, PetscReal dt, Vec u, PetscReal *last, PetscInt *failures)
{
  Mat               J;
  TS                ts;
  TSConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(L, MAT_COPY_VALUES, &J));
  PetscCall(VecSet(u, 1));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetOptionsPrefix(ts, prefix));
  PetscCall(TSSetType(ts, TSBEULER));
  PetscCall(TSSetIFunction(ts, NULL, Function, L));
  PetscCall(TSSetIJacobian(ts, J, J, Jacobian, L));
  PetscCall(TSSetTimeStep(ts, dt));
  PetscCall(TSSetMaxTime(ts, 0.0625));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetMaxSNESFailures(ts, 100));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(TSGetConvergedReason(ts, &reason));
  PetscCheck(reason == TS_CONVERGED_TIME, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The steps end with %s", TSConvergedReasons[reason]);
  PetscCall(TSGetSNESFailures(ts, failures));
  PetscCall(TSGetTimeStep(ts, last));
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       L;
  Vec       u, v;
  PetscReal last[2], error, norm;
  PetscInt  failures[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PETSC_STDERR = PETSC_STDOUT;
  PetscCall(CreateOperator(60, &L));
  PetscCall(MatCreateVecs(L, &u, NULL));
  PetscCall(VecSetFromOptions(u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(March("", L, 0.25, u, &last[0], &failures[0]));
  PetscCall(March("direct_", L, last[0], v, &last[1], &failures[1])); /* with the step that it was left with, and a solver that never fails */
  PetscCall(VecAXPY(v, -1, u));
  PetscCall(VecNorm(v, NORM_2, &error));
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCheck(error <= 1e-7 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The steps that were not rejected are wrong by %g", (double)(error / norm));
  PetscCheck(!failures[1] && last[0] == last[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The direct solver has failed %" PetscInt_FMT " times", failures[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " steps rejected, then of %g\n", failures[0], (double)last[0]));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&L));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    args: -ksp_rtol 1e-12 -snes_rtol 1e-11 -ts_adapt_type none -direct_ts_adapt_type none -direct_pc_type redundant
    filter: grep -e rejected -e "WARNING: " -e "^\["
    test:
      suffix: tns
      args: -pc_type tns -ksp_type {{cg dcg}} -deflation_space none
    test:
      suffix: rrb
      args: -pc_type rrb -ksp_type {{cg rrbcg}} -deflation_space none
    test:
      suffix: pamg
      args: -pc_type pamg -ksp_type {{cg dcg}} -deflation_space none
    test:
      suffix: levelset
      args: -pc_type levelset -deflation_space rank -ksp_type {{cg dcg}}

TEST*/
