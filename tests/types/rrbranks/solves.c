/* Solves on several processes against those on one. */
#include "rrbranks.h"

/* Steps of the solver, their residuals, and at last the true one, relative; b depends on the node only */
static PetscErrorCode Solve(Mat A, const Problem *p, KSPType type, PetscInt levels, PetscReal latency, PetscReal history[], PetscInt *its, PetscReal *residual)
{
  KSP       ksp;
  PC        pc;
  Vec       x, b;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillNodes(A, 4, x));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecScale(x, 0.5));
  PetscCall(CreateSolver(A, type, levels, &ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 0, 1e30, 100));
  PetscCall(KSPSetResidualHistory(ksp, history, 101, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p->nx, p->ny));
  PetscTryMethod(pc, "PCRRBSetLatency_C", (PC, PetscReal), (pc, latency));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecScale(b, -1));
  PetscCall(MatMultAdd(A, x, b, b));
  PetscCall(VecNorm(b, NORM_2, residual));
  *residual /= norm;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many steps as on one process, with its residuals */
static PetscErrorCode SolveEach(PetscInt n, const Problem problems[], const PetscInt levels[], KSPType type)
{
  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < n; ++c) {
    const Problem *p = &problems[c];
    Mat            A;
    Ranks          ranks;
    PetscReal      alone[101] = {0}, history[101] = {0}, worst = 0, residual, largest;
    PetscInt       steps, its;
    PetscBool      same = PETSC_TRUE;
    char           what[128];

    PetscCall(CreateAlone(p, &A));
    PetscCall(Solve(A, p, type, levels[c], 0, alone, &steps, &largest));
    PetscCall(MatDestroy(&A));
    for (PetscInt which = 0; NextRanks(p, &which, &ranks);) {
      PetscCall(CreateRanks(p, &ranks, &A));
      PetscCall(Solve(A, p, type, levels[c], which % 2 ? 0 : 4000, history, &its, &residual));
      if (its != steps) same = PETSC_FALSE;
      for (PetscInt k = 0; k <= PetscMin(its, steps); ++k) worst = PetscMax(worst, PetscAbsReal(history[k] - alone[k]) / (alone[k] + 1e-8 * alone[0]));
      largest = PetscMax(largest, residual);
      PetscCall(MatDestroy(&A));
    }
    PetscCall(PetscSNPrintf(what, sizeof(what), "%d, %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " half levels: %" PetscInt_FMT " steps",
                            (int)p->kind, p->nx, p->ny, levels[c], steps));
    PetscCall(Report(what, same, (PetscReal)its));
    PetscCall(Report("  with the residuals of one process", (PetscBool)(worst < 1e-6), worst));
    PetscCall(Report("  to a true residual below 1e-7", (PetscBool)(largest < 1e-7), largest));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestSolve(void)
{
  static const Problem problems[] = {
    {POISSON, 127, 127, 0},
    {NINE,    90,  111, 0},
    {WAVES,   200, 125, 3},
    {DRY,     80,  60,  2}
  };
  static const PetscInt levels[] = {PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE};

  PetscFunctionBeginUser;
  PetscCall(SolveEach(PETSC_STATIC_ARRAY_LENGTH(problems), problems, levels, KSPCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without black nodes */
PetscErrorCode TestReduced(void)
{
  static const Problem problems[] = {
    {POISSON, 95, 95, 0},
    {RANDOM5, 64, 50, 1},
    {RANDOM5, 33, 90, 2},
    {WAVES,   80, 61, 3},
    {DRY,     50, 37, 4},
    {RANDOM5, 31, 18, 5},
    {RANDOM5, 1,  60, 6},
    {RANDOM5, 61, 1,  7},
    {RANDOM5, 2,  63, 8},
    {RANDOM5, 7,  6,  9}
  };
  static const PetscInt levels[] = {PETSC_DECIDE, 6, 5, PETSC_DECIDE, 4, 1, 1, 1, 2, 3};

  PetscFunctionBeginUser;
  PetscCall(SolveEach(PETSC_STATIC_ARRAY_LENGTH(problems), problems, levels, KSPRRBCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One rrbcg, whose red nodes move to other processes with the settings of the preconditioner */
PetscErrorCode TestMove(void)
{
  const Problem p = {RANDOM5, 90, 61, 1};
  Ranks         ranks;
  Mat           A;
  KSP           ksp;
  PC            pc;
  Vec           x, b, z;
  PetscReal     difference = 0, norm;
  PetscInt      its[4];

  PetscFunctionBeginUser;
  for (PetscInt which = 0; NextRanks(&p, &which, &ranks);) {
    PetscCall(CreateRanks(&p, &ranks, &A));
    PetscCall(CreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &z));
    PetscCall(FillNodes(A, 5, z));
    PetscCall(MatMult(A, z, b));
    PetscCall(CreateSolver(A, KSPRRBCG, PETSC_DECIDE, &ksp));
    PetscCall(KSPSetTolerances(ksp, 1e-10, 0, 1e30, 100));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p.nx, p.ny));
    for (int k = 0; k < 4; ++k) {
      PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, k < 3 ? 8 : 3));
      PetscTryMethod(pc, "PCRRBSetLatency_C", (PC, PetscReal), (pc, k == 1 ? 1e9 : 10));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its[k]));
      PetscCall(VecAXPY(x, -1, z));
      PetscCall(VecNorm(x, NORM_INFINITY, &norm));
      difference = PetscMax(k ? difference : 0, norm);
    }
    if (difference > 1e-7 || its[0] != 13 || its[1] != 13 || its[2] != 13 || its[3] != 13) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "order %d, %" PetscInt_FMT " by %" PetscInt_FMT ": %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT
                            " steps, error %g\n",
                            (int)ranks.order, ranks.np[0], ranks.np[1], its[0], its[1], its[2], its[3], (double)difference));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "red nodes that move: done\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
