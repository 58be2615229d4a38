static char help[] = "Repeated red-black preconditioner against its definition, a plain implementation and published numbers.\n\n";

#include <petscdmda.h>
#include "rrb/rrb.h"
#include "rrbproblems.h"
#include <polder.h>

/* Coefficients of M in the middle of Poisson's grid are F_(l+1)/2^l: edge, times 4: pivot */
static PetscErrorCode TestPivots(void)
{
  const Problem p             = {POISSON, 255, 255, 0};
  PetscReal     fibonacci[20] = {0, 1}, scale = 1, worst = 0;
  Mat           A;
  PC            pc;
  PC_RRB       *rrb;

  PetscFunctionBeginUser;
  for (int i = 2; i < 20; ++i) fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(CreatePC(A, 0, 0, 12, 1, &pc));
  PetscCall(PCSetUp(pc));
  rrb = (PC_RRB *)pc->data;
  for (PetscInt k = 0; k < 6; ++k, scale /= 4) {
    const PolderRRBGrid *g     = &rrb->grid[k].g;
    const PetscScalar   *c     = rrb->grid[k].coef + g->origin + (size_t)(g->hy / 2) * (size_t)g->pitch + (size_t)(g->hx / 2);
    const PetscReal      black = 1 / PetscRealPart(c[RRB_B1D * g->size]), r1 = 1 / PetscRealPart(c[RRB_R1D * g->size]);

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "grid %" PetscInt_FMT ": pivots %.10g and %.10g, edges %.10g and %.10g\n", k, (double)black, (double)r1,
                          (double)(-c[RRB_B1N * g->size] * black), (double)(-c[RRB_R1SW * g->size] * r1)));
    worst = PetscMax(worst, PetscAbsReal(black / (4 * fibonacci[2 * k + 1] * scale) - 1));
    worst = PetscMax(worst, PetscAbsReal(r1 / (2 * fibonacci[2 * k + 2] * scale) - 1));
    worst = PetscMax(worst, PetscAbsReal(c[RRB_B1N * g->size] * black / (fibonacci[2 * k + 1] * scale) + 1));
    worst = PetscMax(worst, PetscAbsReal(c[RRB_R1SW * g->size] * r1 / (fibonacci[2 * k + 2] * scale / 2) + 1));
  }
  PetscCall(Report("all digits", (PetscBool)(worst < 4e-15), worst));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  CG in the norm of M^-1. reduced: starts with the black values that make the residual zero there, so that the steps are those of CG on the first Schur
  complement; b = A u for the exact u, or random
*/
static PetscErrorCode Solve(const Problem *p, PetscInt levels, PetscBool reduced, PetscBool random, PetscReal rtol, PetscInt *its, PetscReal *kappa)
{
  Mat       A;
  KSP       ksp;
  Vec       x, b, d;
  PetscReal low, high;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillExact(p, x));
  PetscCall(MatMult(A, x, b));
  if (random) PetscCall(FillRandom(b, 1));
  PetscCall(VecSet(x, 0));
  if (reduced) {
    PetscScalar *xx;

    PetscCall(VecDuplicate(b, &d));
    PetscCall(MatGetDiagonal(A, d));
    PetscCall(VecPointwiseDivide(x, b, d));
    PetscCall(VecGetArray(x, &xx));
    for (PetscInt i = 0; i < p->nx * p->ny; ++i) {
      if ((i % p->nx + i / p->nx) % 2 == 0) xx[i] = 0;
    }
    PetscCall(VecRestoreArray(x, &xx));
    PetscCall(VecDestroy(&d));
  }
  PetscCall(CreateSolver(A, KSPCG, levels, &ksp));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetInitialGuessNonzero(ksp, reduced));
  PetscCall(KSPConvergedDefaultSetUIRNorm(ksp));
  PetscCall(KSPSetTolerances(ksp, rtol, 0, 1e30, 300));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPComputeExtremeSingularValues(ksp, &high, &low));
  *kappa = high / low;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of the ETNA paper (5-point, 12 half levels) and of the reference for 9-point matrices (to one node) */
static PetscErrorCode TestIterations(void)
{
  static const PetscInt expected[][3] =
    {
      {13, 0,  0 },
      {16, 17, 17},
      {19, 20, 21},
      {20, 24, 26},
      {20, 0,  0 },
      {19, 0,  0 }
  },
                        small[] = {11, 12};
  PetscInt  most                = 511, its;
  PetscReal kappa;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  for (PetscInt n = 63, k = 0; n <= most; n = 2 * n + 1, ++k) {
    const Problem p = {POISSON, n, n, 0};

    PetscCall(Solve(&p, 12, PETSC_TRUE, PETSC_FALSE, 1e-6, &its, &kappa));
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "Poisson %" PetscInt_FMT ": %" PetscInt_FMT " iterations, the paper has %" PetscInt_FMT "\n", n, its, expected[k][0]));
  }
  for (PetscInt n = 31, k = -1; n <= PetscMin(511, most); n = 2 * n + 1, ++k) {
    for (int m = 0; m < 2; ++m) {
      const Problem p = {m ? BILINEAR : NINE, n, n, 0};

      if (n == 63) continue;
      PetscCall(Solve(&p, 1000, PETSC_FALSE, PETSC_FALSE, 1e-6, &its, &kappa));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "9-point %s %" PetscInt_FMT ": %" PetscInt_FMT " iterations, expected %" PetscInt_FMT "\n",
                            m ? "bilinear" : "Mehrstellen", n, its, k < 0 ? small[m] : expected[k][m + 1]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Water waves need 5 to 7 iterations to 1e-5, on any grid */
static PetscErrorCode TestWaves(void)
{
  static const char *const names[] = {"30 m deep", "10 m deep", "10 to 30 m deep", "river"};
  PetscInt                 its;
  PetscReal                kappa;

  PetscFunctionBeginUser;
  for (PetscInt seed = 0; seed < 4; ++seed) {
    const Problem p = {WAVES, 400, 250, seed};

    PetscCall(Solve(&p, 1000, PETSC_TRUE, PETSC_FALSE, 1e-5, &its, &kappa));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "waves, %s: %" PetscInt_FMT " iterations, condition number %.2f\n", names[seed], its, (double)kappa));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The condition number is near 2^l / F_(l+2), whatever the size; values of the reference implementation */
static PetscErrorCode TestCondition(void)
{
  static const PetscReal expected[2][15] = {
    {0, 0, 1.995, 1.995, 1.998, 2.456, 3.033, 3.727, 4.562, 5.507, 6.574, 6.574, 6.574, 0,     0    },
    {0, 0, 0,     0,     1.998, 2.458, 3.040, 3.746, 4.620, 5.679, 6.950, 8.388, 10.01, 10.01, 10.01}
  };
  PetscInt  its;
  PetscReal kappa;
  char      what[128];

  PetscFunctionBeginUser;
  for (int s = 0; s < 2; ++s) {
    for (PetscInt l = 2; l <= 14; ++l) {
      const Problem p = {POISSON, s ? 255 : 127, s ? 255 : 127, 0};

      if (expected[s][l] == 0) continue;
      PetscCall(Solve(&p, l, PETSC_TRUE, PETSC_TRUE, 1e-14, &its, &kappa));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT ", %" PetscInt_FMT " half levels: condition number %.2f within 1 %%", p.nx, l,
                              (double)expected[s][l]));
      PetscCall(Report(what, (PetscBool)(PetscAbsReal(kappa / expected[s][l] - 1) < 0.01), kappa));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bubbles of the literature: iterations by contrast and size, 8 by 8 unknowns in the exact rest */
static PetscErrorCode TestBubbles(void)
{
  static const PetscReal contrast[]    = {1e3, 1e6, 1e-3};
  static const PetscInt  expected[][3] = {
     {21, 26, 33},
     {21, 27, 38},
     {39, 51, 60}
  };
  PetscInt most = 256;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  for (int c = 0; c < 3; ++c) {
    for (PetscInt n = 128, k = 0; n <= most; n *= 2, ++k) {
      const Bubbles      b = {.dim = 2, .n = n, .k = 4, .radius = 0.3 / 4, .inside = contrast[c], .scale = 1};
      Mat                A;
      KSP                ksp;
      Vec                x, f;
      PetscInt           its;
      PetscReal          residual;
      KSPConvergedReason reason;
      char               what[128];

      PetscCall(BubblesNeumann(&b, PETSC_COMM_WORLD, &A, &f));
      PetscCall(VecDuplicate(f, &x));
      PetscCall(CreateSolver(A, KSPCG, 8 + 2 * k, &ksp));
      PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSolve(ksp, f, x));
      PetscCall(KSPGetIterationNumber(ksp, &its));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(TrueResidual(A, f, x, &residual));
      PetscCall(PetscSNPrintf(what, sizeof(what), "bubbles %" PetscInt_FMT ", contrast %g: %" PetscInt_FMT " iterations, to %d", n, (double)contrast[c],
                              expected[c][k], c ? 3 : 1));
      PetscCall(Report(what, (PetscBool)(reason > 0 && PetscAbsInt(its - expected[c][k]) <= (c ? 3 : 1) && residual < (contrast[c] > 1e4 ? 2e-5 : 2e-6)), its));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&f));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M^-1 of a fixed vector */
static PetscErrorCode ApplyTo(PC pc, Vec z)
{
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(z, &r));
  PetscCall(FillRandom(r, 3));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ||a - b|| / ||b||, both freed */
static PetscErrorCode Difference(Vec *a, Vec *b, PetscReal *difference)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecAXPY(*a, -1, *b));
  PetscCall(VecNorm(*a, NORM_INFINITY, difference));
  PetscCall(VecNorm(*b, NORM_INFINITY, &norm));
  *difference /= norm;
  PetscCall(VecDestroy(a));
  PetscCall(VecDestroy(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the factor begins */
static const void *Arrays(PC pc)
{
  const PC_RRB *rrb = (const PC_RRB *)pc->data;

  return rrb->device.valid ? rrb->device.step[0].c : (const void *)rrb->grid[0].z;
}

/* What M^-1 makes of a vector against a fresh preconditioner of A */
static PetscErrorCode ReportFresh(const char what[], PC pc, Mat A, PC fresh)
{
  Vec       y, z;
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &z, &y));
  PetscCall(ApplyTo(pc, z));
  PetscCall(ApplyTo(fresh, y));
  PetscCall(Difference(&z, &y, &difference));
  PetscCall(Report(what, (PetscBool)(difference == 0), difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (r, M^-1 s) = (M^-T r, s) */
static PetscErrorCode ReportSymmetry(PC pc, Mat A)
{
  Vec         z, y, r, s;
  PetscScalar dot[2];

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &z, &y));
  PetscCall(ApplyTo(pc, z));
  PetscCall(VecDuplicate(z, &r));
  PetscCall(VecDuplicate(z, &s));
  PetscCall(FillRandom(r, 11));
  PetscCall(PCApplyTranspose(pc, r, s));
  PetscCall(VecDot(r, z, &dot[0]));
  PetscCall(FillRandom(r, 3));
  PetscCall(VecDot(r, s, &dot[1]));
  PetscCall(Report("symmetric", (PetscBool)(PetscAbsScalar(dot[0] - dot[1]) < 1e-12 * PetscAbsScalar(dot[0])), PetscAbsScalar(dot[0] - dot[1])));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner that has seen other values, and then another grid, is a fresh one, on the arrays that it has while the pattern stays */
static PetscErrorCode TestRefresh(void)
{
  const Problem first = {RANDOM9, 64, 50, 1}, second = {RANDOM9, 64, 50, 2}, other = {RANDOM5, 33, 20, 1};
  Mat           A, B;
  PC            pc, fresh;
  const void   *before;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&first, &A));
  PetscCall(CreatePC(A, 0, 0, 5, 1, &pc));
  PetscCall(PCSetUp(pc));
  before = Arrays(pc);
  PetscCall(Fill(&second, A));
  PetscCall(PCSetUp(pc));
  PetscCall(CreatePC(A, 0, 0, 5, 1, &fresh));
  PetscCall(ReportFresh("new values, as a fresh one", pc, A, fresh));
  PetscCall(Report("on the same arrays", (PetscBool)(before == Arrays(pc)), 0));
  PetscCall(PCDestroy(&fresh));

  PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, 4));
  PetscTryMethod(pc, "PCRRBSetOmega_C", (PC, PetscReal), (pc, 0.9));
  PetscCall(ReportSymmetry(pc, A));
  PetscCall(CreatePC(A, 0, 0, 4, 0.9, &fresh));
  PetscCall(ReportFresh("other levels and omega, as a fresh one", pc, A, fresh));
  PetscCall(PCDestroy(&fresh));

  PetscCall(CreateMatrix(&other, &B));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(CreatePC(B, 33, 20, 4, 0.9, &fresh));
  PetscCall(ReportFresh("another grid, as a fresh one", pc, B, fresh));
  PetscCall(PCDestroy(&fresh));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Singular systems with a consistent right-hand side, in one part and in many */
static PetscErrorCode TestSingular(void)
{
  static const Problem problems[] = {
    {NEUMANN, 65,  40, 1},
    {NEUMANN, 255, 3,  1},
    {NEUMANN, 300, 12, 1},
    {LAKES,   90,  70, 1},
    {LAKES,   64,  64, 2}
  };
  static const PetscInt levels[] = {PETSC_DECIDE, 3, 4, 99};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(levels); ++l) {
      Mat       A;
      KSP       ksp;
      PC        pc;
      Vec       x, b;
      PetscInt  its;
      PetscReal residual;
      char      what[128];

      PetscCall(CreateMatrix(&problems[k], &A));
      PetscCall(CreateVecs(A, &x, &b));
      PetscCall(FillRandom(x, 2));
      PetscCall(MatMult(A, x, b));
      PetscCall(CreateSolver(A, KSPCG, levels[l], &ksp));
      PetscCall(KSPSetTolerances(ksp, 1e-10, 0, 1e30, 100));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, problems[k].nx, problems[k].ny));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its));
      PetscCall(TrueResidual(A, b, x, &residual));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " half levels: solved in fewer than 50 steps",
                              problems[k].kind == LAKES ? "lakes" : "Neumann", problems[k].nx, problems[k].ny, ((PC_RRB *)pc->data)->levels));
      PetscCall(Report(what, (PetscBool)(its < 50 && residual < 1e-8), residual));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the grid comes from */
static PetscErrorCode TestView(void)
{
  const Problem p = {RANDOM9, 40, 30, 1};
  Mat           A;
  PC            pc;
  DM            dm;

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; ++k) {
    PetscCall(CreateMatrix(&p, &A));
    PetscCall(CreatePC(A, k == 1 ? 40 : 0, 30, PETSC_DECIDE, 1, &pc));
    if (k > 1) {
      PetscCall(
        DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 40, 30, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &dm));
      PetscCall(DMSetUp(dm));
      if (k == 2) PetscCall(PCSetDM(pc, dm));
      else PetscCall(MatSetDM(A, dm));
      PetscCall(DMDestroy(&dm));
    }
    PetscCall(PCSetUp(pc));
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateFirst(Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, PETSC_DECIDE, 100));
  PetscCall(VecSetFromOptions(*v));
  PetscCall(VecSet(*v, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-formula",    TestFormula   },
    {"-plain",      TestPlain     },
    {"-pivots",     TestPivots    },
    {"-iterations", TestIterations},
    {"-condition",  TestCondition },
    {"-bubbles",    TestBubbles   },
    {"-waves",      TestWaves     },
    {"-refresh",    TestRefresh   },
    {"-singular",   TestSingular  },
    {"-view",       TestView      }
  };
  Vec first; /* with -vec_type cuda the device is in use from here on */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(CreateFirst(&first));
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(VecDestroy(&first));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     suffix: formula
     args: -formula -mat_type {{aij aijdia}}

   test:
     suffix: plain
     args: -plain

   test:
     suffix: pivots
     args: -pivots

   test:
     suffix: iterations
     args: -iterations -pc_rrb_precision {{double single}} -mat_type {{aij aijdia}}

   test:
     suffix: condition
     args: -condition

   test:
     suffix: bubbles
     args: -bubbles -pc_rrb_precision {{double single}} -mat_type {{aij aijdia}}

   test:
     suffix: waves
     args: -waves -mat_type {{aij aijdia}}

   test:
     suites: valgrind(+aij+single)
     suffix: refresh
     args: -refresh -mat_type {{aij aijdia}} -pc_rrb_precision {{double single}}

   test:
     suites: valgrind
     suffix: singular
     args: -singular

   test:
     suffix: singular_device
     requires: gpu
     args: -singular -mat_type {{aijdia aijhec}}

   test:
     suffix: view
     args: -view
     filter: grep -E "type: rrb|grid|levels|rest|bytes"

   test:
     suffix: view_device
     requires: gpu
     args: -view -mat_type aijdia
     filter: grep -E "type: rrb|grid|levels|rest|on the device"

TEST*/
