static char help[] = "New values in each step for the repeated red-black preconditioner, made where the vectors are: each solve must be that of a fresh "
                     "solver, and with vectors on\n"
                     "the device nothing as long as a vector may be copied to or from it.\n\n";

#include <polder.h>
#include <petscksp.h>
#include <petsc/private/petscimpl.h>
#include "core/compat.h"
#include "copies.h"
#include "rrbproblems.h"

enum {
  STEPS = 4
};

/* The entries of all rows: rows and columns (NULL: not wanted), values (NULL: not wanted) */
static PetscInt Entries(const Problem *p, PetscInt row[], PetscInt col[], PetscScalar val[])
{
  PetscInt    n = 0, j[9];
  PetscScalar v[9];

  for (PetscInt i = 0; i < p->nx * p->ny; ++i) {
    const PetscInt count = Row(p, i, j, v);

    for (PetscInt k = 0; k < count; ++k, ++n) {
      if (row) row[n] = i;
      if (col) col[n] = j[k];
      if (val) val[n] = v[k];
    }
  }
  return n;
}

/* Values of a step, by a product with 1 where the vector wants them */
static PetscErrorCode ValuesCreate(const Problem *p, PetscInt nz, Vec *values)
{
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, values));
  PetscCall(VecSetSizes(*values, nz, PETSC_DETERMINE));
  PetscCall(VecSetFromOptions(*values));
  PetscCall(VecGetArrayWrite(*values, &v));
  (void)Entries(p, NULL, NULL, v);
  PetscCall(VecRestoreArrayWrite(*values, &v));
  PetscCall(VecScale(*values, 1.0 + 1e-3 * p->seed));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverCreate(Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCRRB));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Iterations and solution of a solver that has seen nothing else */
static PetscErrorCode CheckFresh(Mat A, Vec b, Vec x, PetscInt step, PetscInt its)
{
  KSP       ksp;
  Vec       y;
  PetscInt  fresh;
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(SolverCreate(A, &ksp));
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(KSPGetIterationNumber(ksp, &fresh));
  PetscCheck(its == fresh, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT ": %" PetscInt_FMT " iterations, a fresh solver takes %" PetscInt_FMT, step,
             its, fresh);
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_2, &difference));
  PetscCheck(difference == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT ": the solution differs by %g from that of a fresh solver", step,
             (double)(difference / norm));
  PetscCall(VecDestroy(&y));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(Problem p, Mat A, PetscInt nz)
{
  KSP                ksp;
  Vec                x, b, r, exact, values[STEPS];
  PetscInt           its;
  PetscReal          rnorm, bnorm;
  PetscLogDouble     before;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  for (p.seed = 0; p.seed < STEPS; ++p.seed) PetscCall(ValuesCreate(&p, nz, &values[p.seed]));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, PETSC_DECIDE, p.nx * p.ny));
  PetscCall(VecSetFromOptions(x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecDuplicate(x, &exact));
  for (PetscInt i = 0; i < p.nx * p.ny; ++i) PetscCall(VecSetValue(exact, i, Hash(17, i, 2 * i) - 0.5, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(exact));
  PetscCall(VecAssemblyEnd(exact));
  PetscCall(SetValues(A, values[0]));
  PetscCall(MatMult(A, exact, b));
  PetscCall(SolverCreate(A, &ksp));
  for (PetscInt k = 0; k < STEPS; ++k) {
    before = Copied();
    PetscCall(SetValues(A, values[k]));
    PetscCall(MatMult(A, exact, b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCheck(!k || Copied() - before < (PetscLogDouble)sizeof(PetscInt) * p.nx * p.ny / 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Step %" PetscInt_FMT " copies %g bytes between host and device", k, Copied() - before);
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT " does not converge (%s)", k, KSPConvergedReasons[reason]);
    PetscCheck(its < 35, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT " takes %" PetscInt_FMT " iterations", k, its);
    PetscCall(VecNorm(b, NORM_2, &bnorm));
    PetscCall(CheckFresh(A, b, x, k, its));
    PetscCall(MatResidual(A, b, x, r));
    PetscCall(VecNorm(r, NORM_2, &rnorm));
    PetscCheck(rnorm <= 1.01e-8 * bnorm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT ": residual %g", k, (double)(rnorm / bnorm));
  }
  PetscCall(KSPDestroy(&ksp));
  for (PetscInt k = 0; k < STEPS; ++k) PetscCall(VecDestroy(&values[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&exact));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat      A;
  PetscInt nz, *row, *col;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  for (int nine = 0; nine < 2; ++nine) {
    const Problem p = {nine ? RANDOM9 : RANDOM5, 331, 200, 0};

    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, p.nx * p.ny, p.nx * p.ny));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSetUp(A));
    nz = Entries(&p, NULL, NULL, NULL);
    PetscCall(PetscMalloc2(nz, &row, nz, &col));
    (void)Entries(&p, row, col, NULL);
    PetscCall(MatSetPreallocationCOO(A, nz, row, col));
    PetscCall(PetscFree2(row, col));
    PetscCall(Run(p, A, nz));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d steps of a %d-point stencil agree with fresh solvers\n", (int)STEPS, nine ? 9 : 5));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  testset:
    output_file: output/rrbsteps.out
    test:
      suffix: host
      requires: !gpu
      args: -ksp_type dcg -deflation_space none -pc_rrb_levels 8 -mat_type {{aij aijdia}}

  testset:
    requires: gpu
    output_file: output/rrbsteps.out
    test:
      suffix: device
      args: -ksp_type dcg -deflation_space none -pc_rrb_levels 8 -mat_type {{aijdia aijicrs}} -pc_rrb_precision {{double single}}

TEST*/
