static char help[] = "Time steps with a level set that moves and new values of the matrix, both made where the vectors are: each solve must take the "
                     "iterations of a fresh solver,\n"
                     "and with vectors on the device nothing as long as a vector may be copied to or from it.\n\n";

#include <polder.h>
#include <petscksp.h>
#include "copies.h"

typedef struct {
  PetscInt n, N, start, end, steps;
} Problem;

/* Positive in eight bubbles that move along x through the unit box */
static PetscReal LevelSet(const Problem *p, PetscInt step, PetscInt cell)
{
  PetscReal r2 = 0;

  for (int d = 0; d < 3; ++d, cell /= p->n) {
    PetscReal x = (cell % p->n + 0.5) / p->n - (d ? 0 : 0.04 * step);

    x -= PetscFloorReal(x);
    r2 += PetscSqr(x - (x < 0.5 ? 0.25 : 0.75));
  }
  return 0.13 - PetscSqrtReal(r2);
}

static PetscReal Coefficient(const Problem *p, PetscInt step, PetscInt cell)
{
  return LevelSet(p, step, cell) > 0 ? 1e3 : 1;
}

/* The local entries of the 7-point matrix: rows and columns (NULL: not wanted), values of a step (NULL: not wanted) */
static PetscInt Entries(const Problem *p, PetscInt step, PetscInt row[], PetscInt col[], PetscScalar val[])
{
  PetscInt n = 0;

  for (PetscInt i = p->start; i < p->end; ++i) {
    PetscReal diagonal = 0;

    for (PetscInt d = 0, stride = 1; d < 3; ++d, stride *= p->n) {
      for (PetscInt side = -1; side <= 1; side += 2) {
        const PetscInt at = i / stride % p->n + side, j = i + side * stride;
        PetscReal      face;

        if (at < 0 || at >= p->n) continue;
        face = 2 / (1 / Coefficient(p, step, i) + 1 / Coefficient(p, step, j));
        diagonal += face;
        if (row) row[n] = i;
        if (col) col[n] = j;
        if (val) val[n] = -face;
        ++n;
      }
    }
    if (row) row[n] = i;
    if (col) col[n] = i;
    if (val) val[n] = diagonal;
    ++n;
  }
  return n;
}

/* A vector of m local entries of the type of the command line, its values where the vector wants them */
static PetscErrorCode VectorCreate(PetscInt m, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, m, PETSC_DETERMINE));
  PetscCall(VecSetFromOptions(*v));
  PetscFunctionReturn(0);
}

/* Values and level set of one step; a product with 1 moves them to the device */
static PetscErrorCode StepCreate(const Problem *p, PetscInt step, PetscInt nz, Vec *values, Vec *phi)
{
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(VectorCreate(nz, values));
  PetscCall(VecGetArrayWrite(*values, &v));
  (void)Entries(p, step, NULL, NULL, v);
  PetscCall(VecRestoreArrayWrite(*values, &v));
  PetscCall(VecScale(*values, 1 + 0.25 * step));
  PetscCall(VectorCreate(p->end - p->start, phi));
  PetscCall(VecGetArrayWrite(*phi, &v));
  for (PetscInt i = p->start; i < p->end; ++i) v[i - p->start] = LevelSet(p, step, i);
  PetscCall(VecRestoreArrayWrite(*phi, &v));
  PetscCall(VecScale(*phi, 2));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverCreate(Mat A, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, 1e-7, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Iterations and solution of a solver that has seen nothing else */
static PetscErrorCode CheckFresh(Mat A, Vec b, Vec x, PetscInt step, PetscInt its)
{
  KSP                  ksp;
  Vec                  y;
  PetscInt             fresh, d;
  PetscReal            norm, difference;
  PolderDeflationSpace space;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(SolverCreate(A, &ksp));
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(KSPGetIterationNumber(ksp, &fresh));
  PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  PetscCall(PolderDeflationSpaceGetSize(space, &d));
  PetscCheck(d > 8, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Only %" PetscInt_FMT " deflation vectors", d);
  PetscCheck(its == fresh, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT ": %" PetscInt_FMT " iterations, a fresh solver takes %" PetscInt_FMT, step,
             its, fresh);
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_2, &difference));
  PetscCheck(difference <= 1e-10 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT ": the solution differs by %g from that of a fresh solver",
             step, (double)(difference / norm));
  PetscCall(VecDestroy(&y));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(const Problem *p, Mat A, PetscInt nz)
{
  KSP                ksp;
  Vec                x, b, r, phi, exact, *phis, *values;
  PetscInt           its;
  PetscReal          rnorm, bnorm;
  PetscLogDouble     before;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(p->steps, &phis, p->steps, &values));
  for (PetscInt k = 0; k < p->steps; ++k) PetscCall(StepCreate(p, k, nz, &values[k], &phis[k]));
  PetscCall(VecDuplicate(phis[0], &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecDuplicate(x, &phi));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(VecCopy(phis[0], exact));
  PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  PetscCall(SetValues(A, values[0]));
  PetscCall(SolverCreate(A, &ksp));
  for (PetscInt k = 0; k < p->steps; ++k) {
    before = Copied();
    PetscCall(VecCopy(phis[k], phi));
    PetscCall(SetValues(A, values[k]));
    PetscCall(MatMult(A, exact, b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCheck(!k || Copied() - before < (PetscLogDouble)sizeof(PetscInt) * p->N / 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Step %" PetscInt_FMT " copies %g bytes between host and device", k, Copied() - before);
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT " does not converge (%s)", k, KSPConvergedReasons[reason]);
    PetscCall(VecNorm(b, NORM_2, &bnorm));
    PetscCall(CheckFresh(A, b, x, k, its));
    PetscCall(MatResidual(A, b, x, r));
    PetscCall(VecNorm(r, NORM_2, &rnorm));
    PetscCheck(rnorm <= 1.01e-7 * bnorm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Step %" PetscInt_FMT ": residual %g", k, (double)(rnorm / bnorm));
  }
  PetscCall(KSPDestroy(&ksp));
  for (PetscInt k = 0; k < p->steps; ++k) {
    PetscCall(VecDestroy(&phis[k]));
    PetscCall(VecDestroy(&values[k]));
  }
  PetscCall(PetscFree2(phis, values));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&phi));
  PetscCall(VecDestroy(&exact));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem  p = {.n = 24, .steps = 4};
  Mat      A;
  PetscInt nz, *row, *col;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p.n, NULL));
  p.N = p.n * p.n * p.n;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, p.N, p.N));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &p.start, &p.end));
  nz = Entries(&p, 0, NULL, NULL, NULL);
  PetscCall(PetscMalloc2(nz, &row, nz, &col));
  (void)Entries(&p, 0, row, col, NULL);
  PetscCall(MatSetPreallocationCOO(A, nz, row, col));
  PetscCall(PetscFree2(row, col));
  PetscCall(Run(&p, A, nz));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " steps agree with fresh solvers\n", p.steps));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -ksp_type dcg -n 16 -deflation_count 27
    output_file: output/timestep.out
    test:
      suffix: host
      requires: !gpu
      nsize: {{1 3}}
      args: -mat_type {{aij aijdia}} -pc_type tns -deflation_space {{auto levelset_subdomain}}

  # PETSc looks for zeros on the diagonal on the host, unless it is told that there are none
  testset:
    requires: cuda
    args: -ksp_type dcg -vec_type cuda -use_gpu_aware_mpi 0
    output_file: output/timestep.out
    test:
      suffix: device
      args: -mat_type {{aijdia aijicrs aijhec}} -pc_type jacobi -pc_jacobi_fixdiagonal 0 -deflation_space {{auto levelset_subdomain}} -deflation_grid 24,24,24
    test:
      suffix: device_shown
      args: -mat_type aijdia -pc_type tns -deflation_space auto
    test:
      suffix: device_pamg
      args: -mat_type {{aijdia aijicrs}} -pc_type pamg -pc_pamg_reuse 0 -deflation_space levelset_subdomain -deflation_grid 24,24,24
    test:
      suffix: device_regions
      args: -mat_type aijdia -pc_type tns -deflation_space auto -deflation_levelset auto

TEST*/
