/* What a KSP must do: its norms, changes between solves, singular systems, the limits of precision. */
#include "rrbcg.h"
#include "../rrbproblems.h"

/* What a monitor has seen */
typedef struct {
  Vec       b;
  Mat       A;
  PetscInt  calls;
  PetscReal norm[400], worst; /* worst: deviation of the norm from that of the solution built at that moment */
} Seen;

static PetscErrorCode Watch(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  Seen     *seen = (Seen *)ctx;
  Vec       x;
  PetscReal residual, nb;

  PetscFunctionBeginUser;
  PetscCheck(it == seen->calls && it < 400, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Monitor called with %" PetscInt_FMT " after %" PetscInt_FMT " calls", it,
             seen->calls);
  seen->norm[seen->calls++] = norm;
  if (!seen->A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(TrueResidual(seen->A, seen->b, x, &residual));
  PetscCall(VecNorm(seen->b, NORM_2, &nb));
  Worsen(PetscAbsReal(residual * nb / norm - 1), &seen->worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- zero, or the black values that make the residual vanish there when the red ones are zero */
static PetscErrorCode StartBlack(const Problem *p, Mat A, Vec b, Vec x)
{
  Vec          d;
  PetscScalar *xx;
  PetscInt     start, end;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &d));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecPointwiseDivide(x, b, d));
  PetscCall(VecGetOwnershipRange(x, &start, &end));
  PetscCall(VecGetArray(x, &xx));
  for (PetscInt i = start; i < end; ++i) {
    if ((i % p->nx + i / p->nx) % 2 == 0) xx[i - start] = 0;
  }
  PetscCall(VecRestoreArray(x, &xx));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cg and rrbcg on one problem with one norm */
static PetscErrorCode CompareCG(const Problem *p, KSPNormType type)
{
  Mat                A;
  Vec                x[2], b;
  Seen               seen[2] = {0};
  PetscInt           its[2], length, total;
  PetscReal          worst = 0, difference;
  const PetscReal   *history;
  KSPConvergedReason reason[2];

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, &A));
  PetscCall(CreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(FillRandom(b, 4));
  for (int s = 0; s < 2; ++s) {
    KSP ksp;

    PetscCall(CreateSolver(A, s ? KSPRRBCG : KSPCG, 6, &ksp));
    PetscCall(KSPSetNormType(ksp, type));
    PetscCall(KSPSetTolerances(ksp, 1e-9, 0, 1e30, 300));
    PetscCall(KSPSetResidualHistory(ksp, NULL, 400, PETSC_TRUE));
    PetscCall(KSPMonitorSet(ksp, Watch, &seen[s], NULL));
    if (s) {
      seen[s].A = type == KSP_NORM_NATURAL ? NULL : A;
      seen[s].b = b;
    } else {
      PetscCall(StartBlack(p, A, b, x[s]));
      PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    }
    PetscCall(KSPSolve(ksp, b, x[s]));
    PetscCall(KSPGetIterationNumber(ksp, &its[s]));
    PetscCall(KSPGetTotalIterations(ksp, &total));
    PetscCall(KSPGetConvergedReason(ksp, &reason[s]));
    PetscCall(KSPGetResidualHistory(ksp, &history, &length));
    PetscCall(KSPGetResidualNorm(ksp, &difference));
    if (s) PetscCall(Report("history and count as monitored", (PetscBool)(length == its[s] + 1 && seen[s].calls == length && total == its[s]), length));
    for (PetscInt i = 0; i < length; ++i) Worsen(PetscAbsReal(history[i] - seen[s].norm[i]), &worst);
    if (s) PetscCall(Report("last norm", (PetscBool)(worst == 0 && PetscAbsReal(difference / history[length - 1] - 1) < 1e-5), difference));
    PetscCall(KSPDestroy(&ksp));
  }
  worst = 0;
  for (PetscInt i = 0; i < PetscMin(seen[0].calls, seen[1].calls); ++i) Worsen(PetscAbsReal(seen[0].norm[i] / seen[1].norm[i] - 1), &worst);
  PetscCall(Report("norms of cg", (PetscBool)(worst < 1e-6 && its[0] == its[1] && reason[0] == reason[1]), worst));
  if (type == KSP_NORM_UNPRECONDITIONED)
    PetscCall(Report("norms of the solutions on the way", (PetscBool)(seen[1].worst < 1e-5 && seen[1].worst > 0), seen[1].worst));
  PetscCall(Deviation(x[1], x[0], &difference));
  PetscCall(Report("solution of cg", (PetscBool)(difference < 1e-8), difference));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norms of cg on the whole system, from black values that fit, and those of rrbcg */
PetscErrorCode TestCG(void)
{
  static const Problem problems[] = {
    {RANDOM5, 61, 40, 1},
    {DRY,     50, 50, 2}
  };
  static const KSPNormType norms[] = {KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    for (int m = 0; m < 2; ++m) PetscCall(CompareCG(&problems[k], norms[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, and tells the iterations and whether the claim is true */
static PetscErrorCode SolveAndCheck(const char what[], KSP ksp, Vec b, Vec x, PetscInt most, PetscReal rtol)
{
  Mat                A;
  PetscInt           its;
  PetscReal          residual, norm;
  KSPConvergedReason reason;
  char               line[160];

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0) PetscCall(TrueResidual(A, b, x, &residual));
  else PetscCall(VecNorm(x, NORM_2, &residual));
  PetscCall(PetscSNPrintf(line, sizeof(line), "%s: %s, at most %" PetscInt_FMT " iterations, true residual", what, KSPConvergedReasons[reason], most));
  PetscCall(Report(line, (PetscBool)(residual <= rtol && its <= most), its > most ? (PetscReal)its : residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver takes the matrix of another grid */
static PetscErrorCode SolveOther(KSP ksp)
{
  const Problem other = {RANDOM5, 33, 21, 1};
  Mat           B;
  Vec           x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&other, &B));
  PetscCall(CreateVecs(B, &x, &b));
  PetscCall(FillRandom(b, 4));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-50, 1e30, 300));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(SetStop(ksp, KSP_RRBCG_STOP_PAPER));
  PetscCall(SetStop(ksp, KSP_RRBCG_STOP_PETSC)); // which brings PETSc's test back
  PetscCall(SolveAndCheck("another grid", ksp, b, x, 12, 1e-8));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each grid on its own, when the preconditioner is told its size */
static PetscErrorCode SolveGrids(void)
{
  PetscFunctionBeginUser;
  for (size_t g = 0; g < NGRID; ++g) {
    const Problem p = {RANDOM5, Grids[g][0], Grids[g][1], 5};
    Mat           A;
    KSP           ksp;
    PC            pc;
    Vec           x, b;
    char          what[64];

    PetscCall(CreateMatrix(&p, &A));
    PetscCall(CreateVecs(A, &x, &b));
    PetscCall(FillRandom(b, 4));
    PetscCall(CreateSolver(A, KSPRRBCG, PETSC_DECIDE, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p.nx, p.ny));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT " x %" PetscInt_FMT, p.nx, p.ny));
    PetscCall(SolveAndCheck(what, ksp, b, x, 8, 1e-6));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts, new values, another grid, the transpose */
PetscErrorCode TestChanges(void)
{
  const Problem first = {RANDOM5, 64, 50, 1}, second = {RANDOM5, 64, 50, 2};
  Mat           A;
  KSP           ksp;
  PC            pc;
  Vec           x, b;
  PetscInt      its;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&first, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(b, 4));
  PetscCall(CreateSolver(A, KSPRRBCG, 6, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-50, 1e30, 300));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SolveAndCheck("zero start", ksp, b, x, 13, 1e-8));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(SolveAndCheck("from the solution", ksp, b, x, 0, 1e-8));
  PetscCall(FillRandom(x, 6));
  PetscCall(SolveAndCheck("from a random vector", ksp, b, x, 16, 1e-8));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  PetscCall(CreatePC(A, 0, 0, 5, 1, &pc));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(SolveAndCheck("another preconditioner", ksp, b, x, 13, 1e-8));
  PetscCall(Fill(&second, A));
  PetscCall(SolveAndCheck("new values", ksp, b, x, 13, 1e-8));
  PetscCall(KSPSolveTranspose(ksp, b, x));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(SolveAndCheck("from the solution of the transposed system", ksp, b, x, 0, 1e-8));
  PetscCall(VecSet(b, 0));
  PetscCall(SolveAndCheck("zero right-hand side", ksp, b, x, 13, 1e-6));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  PetscCall(SolveAndCheck("zero right-hand side, zero start", ksp, b, x, 0, 0));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-50, 1e30, 7));
  PetscCall(FillRandom(b, 4));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(Report("seven steps without norm", (PetscBool)(its == 7), its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(SolveOther(ksp));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SolveGrids());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel of the lakes: one vector each; nodes that couple belong to the lake of a neighbour */
static PetscErrorCode LakesKernel(const Problem *p, Mat A, MatNullSpace *null)
{
  const PetscInt N = p->nx * p->ny;
  PetscInt      *lake, col[9], count = 0;
  PetscScalar    val[9];
  Vec           *v;
  PetscBool      again = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(N, &lake));
  for (PetscInt i = 0; i < N; ++i) lake[i] = i;
  while (again) {
    again = PETSC_FALSE;
    for (PetscInt i = 0; i < N; ++i) {
      const PetscInt n = Row(p, i, col, val);

      for (PetscInt k = 1; k < n; ++k) {
        if (lake[col[k]] >= lake[i]) continue;
        lake[i] = lake[col[k]];
        again   = PETSC_TRUE;
      }
    }
  }
  for (PetscInt i = 0; i < N; ++i) count += lake[i] == i && Row(p, i, col, val) > 1;
  PetscCall(PetscMalloc1(count, &v));
  count = 0;
  for (PetscInt i = 0; i < N; ++i) {
    if (lake[i] != i || Row(p, i, col, val) == 1) continue;
    PetscCall(CreateVecs(A, &v[count], NULL));
    for (PetscInt j = i; j < N; ++j) {
      if (lake[j] == i) PetscCall(VecSetValue(v[count], j, 1, INSERT_VALUES));
    }
    PetscCall(VecAssemblyBegin(v[count]));
    PetscCall(VecAssemblyEnd(v[count]));
    PetscCall(VecNormalize(v[count], NULL));
    ++count;
  }
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, count, v, null));
  for (PetscInt k = 0; k < count; ++k) PetscCall(VecDestroy(&v[k]));
  PetscCall(PetscFree(v));
  PetscCall(PetscFree(lake));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Singular systems: with the kernel attached a right-hand side that is not in the range, without it one that is */
PetscErrorCode TestSingular(void)
{
  static const Problem problems[] = {
    {NEUMANN, 65,  40, 1},
    {NEUMANN, 255, 3,  1},
    {NEUMANN, 64,  1,  1},
    {LAKES,   90,  70, 1},
    {LAKES,   64,  64, 2}
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    for (int attached = 0; attached < 2; ++attached) {
      const Problem *p = &problems[k];
      Mat            A;
      KSP            ksp;
      PC             pc;
      Vec            x, b;
      MatNullSpace   null = NULL;
      PetscReal      worst, norm;
      char           what[128];

      PetscCall(CreateMatrix(p, &A));
      PetscCall(CreateVecs(A, &x, &b));
      PetscCall(FillRandom(x, 2));
      PetscCall(MatMult(A, x, b));
      if (attached && p->kind == LAKES) PetscCall(LakesKernel(p, A, &null));
      else if (attached) PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &null));
      if (attached) {
        PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
        PetscCall(MatSetNullSpace(A, null));
      }
      PetscCall(CreateSolver(A, KSPRRBCG, 4, &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p->nx, p->ny));
      PetscCall(KSPSetTolerances(ksp, 1e-9, 0, 1e30, 300));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s %" PetscInt_FMT " x %" PetscInt_FMT "%s", p->kind == LAKES ? "lakes" : "Neumann", p->nx, p->ny,
                              attached ? ", kernel attached" : ""));
      PetscCall(SolveAndCheck(what, ksp, b, x, 21, 1e-9));
      if (attached) { // what is left of x when the kernel is taken from it
        Vec y;

        PetscCall(VecDuplicate(x, &y));
        PetscCall(VecCopy(x, y));
        PetscCall(MatNullSpaceRemove(null, y));
        PetscCall(Deviation(y, x, &worst));
        PetscCall(VecNorm(x, NORM_2, &norm));
        PetscCall(Report("no kernel in the solution", (PetscBool)(worst < 1e-12 && norm > 1), worst));
        PetscCall(VecDestroy(&y));
        PetscCall(MatNullSpaceDestroy(&null));
      }
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where double precision ends: heavy bubbles, tolerances that cannot be met */
PetscErrorCode TestFloor(void)
{
  static const struct {
    PetscReal contrast, rtol, residual;
  } cases[] = {
    {1e3, 1e-6,  1e-6},
    {1e3, 1e-12, 2e-9},
    {1e6, 1e-6,  2e-6}
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    const Bubbles bubbles = {.dim = 2, .n = 128, .k = 4, .radius = 0.3 / 4, .inside = cases[k].contrast, .scale = 1};
    Mat           A;
    KSP           ksp;
    Vec           x, b;
    char          what[64];

    PetscCall(BubblesNeumann(&bubbles, PETSC_COMM_WORLD, &A, &b));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(VecDuplicate(b, &x));
    PetscCall(CreateSolver(A, KSPRRBCG, 8, &ksp));
    PetscCall(KSPSetTolerances(ksp, cases[k].rtol, 0, 1e30, 300));
    PetscCall(PetscSNPrintf(what, sizeof(what), "bubbles, contrast %g, to %g", (double)cases[k].contrast, (double)cases[k].rtol));
    PetscCall(SolveAndCheck(what, ksp, b, x, 80, cases[k].residual));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
