static char help[] = "More half levels of the repeated red-black preconditioner than its smallest grids are swept over on a device: as on the host, vectors "
                     "and iterations.\n\n";

#include <polder.h>
#include <petscksp.h>
#include <petsc/private/pcimpl.h>
#include "pc/rrb/rrbimpl.h"
#include "bubbles.h"
#include "rrbproblems.h"

static const Problem Problems[] = {
  {POISSON, 127, 127, 0},
  {RANDOM5, 63,  130, 1},
  {RANDOM9, 90,  90,  2},
  {NINE,    91,  45,  0},
  {RANDOM5, 45,  45,  3},
  {RANDOM9, 31,  31,  4},
  {RANDOM5, 33,  20,  5},
  {RANDOM9, 3,   300, 6},
  {RANDOM5, 300, 6,   7},
  {DRY,     61,  77,  8},
  {NEUMANN, 64,  50,  1},
  {NEUMANN, 31,  29,  2},
  {LAKES,   70,  60,  1}
};
static const PetscInt Levels[] = {1, 2, 4, 5, 7, 99};

/* Rests of more than a few hundred unknowns have nothing to show here */
static PetscBool IsLarge(const Problem *p, PetscInt levels)
{
  PetscReal n, band;

  return (PetscBool)(PCRRBRestSize(p->nx, p->ny, levels, &n, &band) && n > 512);
}

/* The same matrix and a vector on the host */
static PetscErrorCode CreateHost(Mat A, Vec x, Mat *B, Vec *y)
{
  const PetscScalar *a;
  PetscScalar       *b;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, B));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, y));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayWrite(*y, &b));
  PetscCall(PetscArraycpy(b, a, n));
  PetscCall(VecRestoreArrayWrite(*y, &b));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* max |x - y| / max |y| */
static PetscErrorCode Deviation(Vec x, Vec y, PetscReal *deviation)
{
  const PetscScalar *a, *b;
  PetscInt           n;
  PetscReal          norm;

  PetscFunctionBeginUser;
  *deviation = 0;
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(y, &b));
  for (PetscInt i = 0; i < n; ++i) *deviation = PetscMax(*deviation, PetscAbsScalar(a[i] - b[i]) / norm);
  PetscCall(VecRestoreArrayRead(y, &b));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the preconditioner on the device, with a matrix for some of its half levels? */
static PetscBool HasTail(PC pc)
{
  const RRBDevice *d = &((const PC_RRB *)pc->data)->device;

  return (PetscBool)(d->valid && d->tail < d->nfactor && d->n <= POLDER_RRB_TAIL);
}

/* z = M^-1 r, of first and of new values */
static PetscErrorCode TestApply(void)
{
  PetscInt tails = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Problems); ++k) {
    PetscReal worst  = 0, deviation;
    Problem   p      = Problems[k];
    PetscBool single = PETSC_FALSE;
    char      what[64];

    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(Levels); ++l) {
      Mat A, B;
      PC  pc, host;
      Vec r, z, s, y;

      if (IsLarge(&p, Levels[l])) continue;
      p.seed = Problems[k].seed;
      PetscCall(CreateMatrix(&p, &A));
      PetscCall(CreateVecs(A, &z, &r));
      PetscCall(CreatePC(A, p.nx, p.ny, Levels[l], k % 2 ? 1 : 0.9, &pc));
      PetscCall(PCSetUp(pc));
      for (int step = 0; step < 2; ++step) {
        if (step && p.kind >= RANDOM5 && p.kind <= NEUMANN) {
          p.seed += 20;
          PetscCall(Fill(&p, A));
        }
        PetscCall(FillRandom(r, 5));
        PetscCall(PCApply(pc, r, z));
        tails += HasTail(pc);
        single = ((PC_RRB *)pc->data)->single;
        PetscCall(CreateHost(A, r, &B, &s));
        PetscCall(VecDuplicate(s, &y));
        PetscCall(CreatePC(B, p.nx, p.ny, Levels[l], k % 2 ? 1 : 0.9, &host));
        PetscCall(PCApply(host, s, y));
        PetscCall(Deviation(z, y, &deviation));
        worst = PetscMax(worst, deviation);
        PetscCall(PCDestroy(&host));
        PetscCall(MatDestroy(&B));
        PetscCall(VecDestroy(&s));
        PetscCall(VecDestroy(&y));
      }
      PetscCall(PCDestroy(&pc));
      PetscCall(VecDestroy(&r));
      PetscCall(VecDestroy(&z));
      PetscCall(MatDestroy(&A));
    }
    PetscCall(PetscSNPrintf(what, sizeof(what), "problem %d, %" PetscInt_FMT " x %" PetscInt_FMT ", as on the host", (int)p.kind, p.nx, p.ny));
    PetscCall(Report(what, (PetscBool)(worst < (single ? 1e-6 : 1e-11)), worst));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " with a matrix in place of sweeps\n", tails));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Iterations(const Problem *p, Mat A, KSPType type, PetscInt levels, Vec b, Vec x, PetscInt *its, PetscBool *tail)
{
  KSP          ksp;
  PC           pc;
  MatNullSpace null = NULL;

  PetscFunctionBeginUser;
  if (p->kind == NEUMANN) PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &null));
  PetscCall(MatSetNullSpace(A, null));
  PetscCall(MatNullSpaceDestroy(&null));
  PetscCall(MatMult(A, b, x));
  PetscCall(VecCopy(x, b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCRRB));
  PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p->nx, p->ny));
  PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, levels));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecSet(x, 0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  *tail = HasTail(pc);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps of a solver, and its solution */
static PetscErrorCode TestSolve(void)
{
  PetscInt tails    = 0;
  char     type[64] = KSPCG;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solver", type, sizeof(type), NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Problems); ++k) {
    const Problem  *p     = &Problems[k];
    const PetscBool nine  = (PetscBool)(p->kind == NINE || p->kind == BILINEAR || p->kind == RANDOM9);
    PetscReal       worst = 0, deviation;
    PetscBool       same  = PETSC_TRUE, tail;
    PetscInt        its[2];
    char            what[64];

    if (p->kind == LAKES || (nine && !strcmp(type, KSPRRBCG))) continue;
    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(Levels); ++l) {
      Mat A, B;
      Vec b, x, c, y;

      if (IsLarge(p, Levels[l])) continue;
      PetscCall(CreateMatrix(p, &A));
      PetscCall(CreateVecs(A, &x, &b));
      PetscCall(FillRandom(b, 7));
      PetscCall(CreateHost(A, b, &B, &c));
      PetscCall(VecDuplicate(c, &y));
      PetscCall(Iterations(p, A, type, Levels[l], b, x, &its[0], &tail));
      tails += tail;
      PetscCall(Iterations(p, B, type, Levels[l], c, y, &its[1], &tail));
      same = (PetscBool)(same && its[0] == its[1]);
      PetscCall(Deviation(x, y, &deviation));
      worst = PetscMax(worst, deviation);
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&c));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
    PetscCall(PetscSNPrintf(what, sizeof(what), "problem %d, %" PetscInt_FMT " x %" PetscInt_FMT ", steps of the host", (int)p->kind, p->nx, p->ny));
    PetscCall(Report(what, (PetscBool)(same && worst < 1e-6), worst));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " with a matrix in place of sweeps\n", tails));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the half levels are */
static PetscErrorCode TestView(void)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < 6; ++k) {
    Mat A;
    PC  pc;

    PetscCall(CreateMatrix(&Problems[k], &A));
    PetscCall(CreatePC(A, Problems[k].nx, Problems[k].ny, 99, 1, &pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-apply", TestApply},
    {"-solve", TestSolve},
    {"-view",  TestView }
  };
  Vec first; /* the device is in use from here on */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(VecCreate(PETSC_COMM_WORLD, &first));
  PetscCall(VecSetSizes(first, PETSC_DECIDE, 100));
  PetscCall(VecSetFromOptions(first));
  PetscCall(VecSet(first, 1.0));
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(VecDestroy(&first));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   testset:
     requires: gpu
     test:
       suffix: apply
       args: -apply -mat_type {{aijdia aijhec}}
     test:
       suffix: apply_single
       args: -apply -mat_type aijdia -pc_rrb_precision single
       output_file: output/rrbtail_apply.out
     test:
       suffix: solve
       args: -solve -solver cg -options_left no -mat_type aijdia -pc_rrb_precision {{double single}}
     test:
       suffix: solve_dcg
       args: -solve -solver dcg -deflation_space none -mat_type aijdia
       output_file: output/rrbtail_solve.out
     test:
       suffix: reduced
       args: -solve -solver rrbcg -mat_type aijdia -pc_rrb_precision {{double single}}
     test:
       suffix: view
       args: -view -mat_type aijdia
       filter: grep -E "type: rrb|grid|levels|rest|on the device"

TEST*/
