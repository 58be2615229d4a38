static char help[] = "Pairwise-aggregation multigrid where rows are eliminated, and where flat elements make blocks: iterations, complexity, exactness.\n\n";

#include "flat.h"
#include "parts.h"
#include "pamgchecks.h"
#include "deflation/deflationspace.h"
#include <polder.h>

typedef enum {
  TREE,    /* no loops, weights over six decades */
  GRID,    /* a tree with a few loops, weights over six decades: a power grid */
  CHAIN,   /* in order, weights over ten decades */
  SHUFFLE, /* a chain in a random numbering */
  STARS,   /* hubs in a path, 100 leaves each */
  LOOSE,   /* half of the rows are coupled to nothing */
  NCORES
} Core;

static const char *const cores[] = {"tree", "power grid", "chain", "shuffled chain", "stars", "loose rows"};

static PetscErrorCode CreateCore(Core core, PetscInt n, unsigned long long seed, Mat *A)
{
  unsigned long long state = seed;
  PetscInt          *at;
  PetscMPIInt        rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(CreateEmpty(PETSC_DECIDE, n, A));
  PetscCall(PetscMalloc1(n, &at));
  for (PetscInt i = 0; i < n; ++i) at[i] = i;
  for (PetscInt i = n - 1; core == SHUFFLE && i > 0; --i) {
    const PetscInt k = (PetscInt)(Next(&state) * (i + 1)), t = at[i];

    at[i] = at[k];
    at[k] = t;
  }
  for (PetscInt i = 1; i < n; ++i) {
    const PetscReal w = Weight(core == CHAIN || core == SHUFFLE ? 10 : 6, &state);

    if (core == LOOSE && i % 2) continue;
    if (core == CHAIN || core == SHUFFLE) PetscCall(Edge(*A, at[i], at[i - 1], w));
    else if (core == STARS) PetscCall(Edge(*A, i, i % 100 ? i / 100 * 100 : i - 100, w));
    else PetscCall(Edge(*A, i, i - 1 - PetscMin(i - 1, (PetscInt)(-50 * PetscLogReal(1 - Next(&state)))), w));
    if (core == GRID && Next(&state) < 0.12) PetscCall(Edge(*A, i, PetscMax(0, i - (PetscInt)(200 * Next(&state))), Weight(6, &state)));
  }
  for (PetscInt i = 0; i < n && !rank; ++i) {
    if (i % 100 == 0 || (core == LOOSE && i % 2)) PetscCall(MatSetValue(*A, i, i, 1, ADD_VALUES));
  }
  PetscCall(PetscFree(at));
  PetscCall(Assemble(*A));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are rows eliminated, and how many entries have all levels in units of those of the matrix? */
static PetscErrorCode Look(KSP ksp, PetscBool *eliminates, PetscInt *blocks, PetscReal *complexity)
{
  PC             pc;
  const PC_PAMG *pamg;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  pamg        = (const PC_PAMG *)pc->data;
  *eliminates = pamg->level->eliminates;
  *blocks     = pamg->level->blocks.n;
  *complexity = OperatorComplexity(pamg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Graphs: the iterations of each, at most; on one process elimination solves what has no loops */
static PetscErrorCode TestCores(PetscMPIInt size)
{
  static const char *const options[]       = {"-ksp_type cg -pc_type pamg", "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k",
                                              "-ksp_type cg -pc_type pamg -pc_pamg_smoother chebyshev -pc_pamg_precision single"};
  static const PetscInt    most[NCORES][2] = {
       {2,  25},
       {20, 25},
       {2,  8 },
       {2,  0 },
       {1,  6 },
       {2,  25}
  };

  PetscFunctionBeginUser;
  for (int core = 0; core < NCORES; ++core) {
    Mat A;

    if (core == SHUFFLE && size > 1) continue; // most rows have neighbours on other processes
    PetscCall(CreateCore((Core)core, 20000, (unsigned long long)core, &A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); ++k) {
      KSP       ksp;
      PetscInt  its, blocks, limit = most[core][size > 1] + (k == 2 ? 6 : 0);
      PetscReal residual, complexity;
      PetscBool eliminates;

      PetscCall(ProblemSolve(A, options[k], &ksp, &its, &residual));
      PetscCall(Look(ksp, &eliminates, &blocks, &complexity));
      PetscCall(PetscInfo(NULL, "%s, %s: %" PetscInt_FMT " iterations, complexity %g\n", cores[core], options[k], its, (double)complexity));
      PetscCheck(eliminates && !blocks, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: no rows are eliminated", cores[core]);
      PetscCheck(its <= limit, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " expected", cores[core],
                 options[k], its, limit);
      PetscCheck(residual < (core == CHAIN || core == SHUFFLE ? 1e-4 : 1.1e-6), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: true residual %g", cores[core],
                 options[k], (double)residual);
      PetscCheck(complexity < 1.5 || size > 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: operator complexity %g", cores[core], (double)complexity);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "eliminated: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the same pattern give the preconditioner of a new set-up */
static PetscErrorCode TestRefresh(Mat A)
{
  Mat       B;
  PC        pc, fresh;
  Vec       x, y, z;
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(CreatePC(A, "", &pc));
  PetscCall(CreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(FillRandom(x, 5));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(A, 4)); // the aggregates of other values could differ
  PetscCall(MatScale(B, 4));
  PetscCall(PCSetUp(pc));
  PetscCheck(((PC_PAMG *)pc->data)->nrefresh == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The levels were made again");
  PetscCall(CreatePC(B, "", &fresh));
  PetscCall(PCApply(pc, x, y));
  PetscCall(PCApply(fresh, x, z));
  PetscCall(VecNorm(z, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_2, &error));
  PetscCheck(error <= 1e-8 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "New values: another preconditioner, error %g", (double)(error / norm));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&fresh));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the entries jump nearly everywhere the automatic deflation space has no vectors, and names what helps */
static PetscErrorCode TestDeflation(void)
{
  Mat                  A;
  KSP                  ksp;
  PC                   pc;
  PolderDeflationSpace space;
  PetscBool            none;
  char                *named;

  PetscFunctionBeginUser;
  PetscCall(CreateCore(GRID, 20000, 3, &A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPDCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTNS));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  PetscCall(PetscStrcmp(space->chosen, "none", &none));
  PetscCall(PetscStrstr(space->reason, "-pc_type pamg", &named));
  PetscCheck(none && named, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The deflation space of a power grid: %s, %s", space->chosen, space->reason);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no vectors: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *A <- the same matrix in a random numbering of all rows, so that flat elements lie on several processes */
static PetscErrorCode Shuffle(Mat *A)
{
  unsigned long long state = 3;
  PetscInt           N, start, end, *at;
  IS                 rows;
  Mat                B;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(*A, &N, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  PetscCall(PetscMalloc1(N, &at));
  for (PetscInt i = 0; i < N; ++i) at[i] = i;
  for (PetscInt i = N - 1; i > 0; --i) {
    const PetscInt k = (PetscInt)(Next(&state) * (i + 1)), t = at[i];

    at[i] = at[k];
    at[k] = t;
  }
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, end - start, at + start, PETSC_COPY_VALUES, &rows));
  PetscCall(MatCreateSubMatrix(*A, rows, rows, MAT_INITIAL_MATRIX, &B));
  PetscCall(ISDestroy(&rows));
  PetscCall(PetscFree(at));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Flat elements that lie on several processes: no sweep may add to the error, so that cg can go on. Few pairs are left in such a numbering */
static PetscErrorCode TestFlatRanks(PetscMPIInt size)
{
  static const char *const options[] = {"-ksp_type cg -pc_type pamg",
                                        "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k",
                                        "-ksp_type cg -pc_type pamg -pc_pamg_precision single",
                                        "-ksp_type cg -pc_type pamg -pc_pamg_pre 2 -pc_pamg_post 2",
                                        "-ksp_type cg -pc_type pamg -pc_pamg_smoother sgs",
                                        "-ksp_type cg -pc_type pamg -pc_pamg_smoother sgs -pc_pamg_precision single"};
  const PetscInt           n         = 12;

  PetscFunctionBeginUser;
  for (int shuffled = 0; shuffled < 2; ++shuffled) {
    Mat A;

    PetscCall(TetrahedraAssemble(PETSC_COMM_WORLD, n, 1e3, &A));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(AddFlat(A, n, 60));
    if (shuffled) PetscCall(Shuffle(&A));
    PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); ++k) {
      KSP       ksp;
      PetscInt  its;
      PetscReal residual;

      if (shuffled && k == 1) continue; // what is hardly preconditioned makes a K-cycle slow
      PetscCall(ProblemSolve(A, options[k], &ksp, &its, &residual));
      PetscCall(PetscInfo(NULL, "flat elements on processes, %d, %s: %" PetscInt_FMT " iterations, %g\n", shuffled, options[k], its, (double)residual));
      PetscCheck(its <= (shuffled ? 200 : 40), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Flat elements on %d processes, %s: %" PetscInt_FMT " iterations", size,
                 options[k], its);
      PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Flat elements on %d processes, %s: true residual %g", size, options[k],
                 (double)residual);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "flat elements: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tetrahedra take as many iterations in a random numbering, give or take two, at a complexity of at most two */
static PetscErrorCode TestNumbering(void)
{
  PetscInt  its[2], blocks;
  PetscReal residual, complexity;
  PetscBool eliminates;
  KSP       ksp;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(TetrahedraAssemble(PETSC_COMM_WORLD, 32, 1e3, &A));
  for (int shuffled = 0; shuffled < 2; ++shuffled) {
    if (shuffled) PetscCall(Shuffle(&A));
    PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
    PetscCall(ProblemSolve(A, "-ksp_type cg -pc_type pamg", &ksp, &its[shuffled], &residual));
    PetscCall(Look(ksp, &eliminates, &blocks, &complexity));
    PetscCall(PetscInfo(NULL, "numbering %d: %" PetscInt_FMT " iterations, complexity %g\n", shuffled, its[shuffled], (double)complexity));
    PetscCheck(complexity < 2 && residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Tetrahedra: complexity %g, true residual %g", (double)complexity,
               (double)residual);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCheck(PetscAbsInt(its[0] - its[1]) <= 2 && PetscMax(its[0], its[1]) <= 16, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "Tetrahedra: %" PetscInt_FMT " iterations, in a random numbering %" PetscInt_FMT, its[0], its[1]);
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "numbering: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFlat(void)
{
  static const char *const options[] = {"-ksp_type cg -pc_type pamg", "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k",
                                        "-ksp_type cg -pc_type pamg -pc_pamg_precision single", "-ksp_type cg -pc_type pamg -pc_pamg_pre 2 -pc_pamg_post 2"};
  const PetscInt           n         = 24;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(TetrahedraAssemble(PETSC_COMM_WORLD, n, 1e3, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(AddFlat(A, n, 300));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); ++k) {
    KSP       ksp;
    PetscInt  its, blocks;
    PetscReal residual, complexity;
    PetscBool eliminates;

    PetscCall(ProblemSolve(A, options[k], &ksp, &its, &residual));
    PetscCall(Look(ksp, &eliminates, &blocks, &complexity));
    PetscCall(PetscInfo(NULL, "flat elements, %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " blocks\n", options[k], its, blocks));
    PetscCheck(!eliminates && blocks > 100, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Flat elements make %" PetscInt_FMT " blocks", blocks);
    PetscCheck(its <= 25, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Flat elements, %s: %" PetscInt_FMT " iterations", options[k], its);
    PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Flat elements, %s: true residual %g", options[k], (double)residual);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "flat elements: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;
  PetscBool   flat;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(LookForParts());
  PetscCall(PetscOptionsHasName(NULL, NULL, "-flat", &flat));
  if (flat) {
    PetscCall(TetrahedraAssemble(PETSC_COMM_WORLD, 12, 1e3, &A));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(AddFlat(A, 12, 60));
  } else {
    PetscCall(TestCores(size));
    PetscCall(CreateCore(GRID, 3000, 3, &A));
  }
  PetscCall(TestRefresh(A));
  if (!flat) PetscCall(TestDeflation());
  if (size == 1) PetscCall(TestFlat());
  else PetscCall(TestFlatRanks(size));
  if (size == 1 && !flat) PetscCall(TestNumbering());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:

  test:
    suffix: ranks
    nsize: {{2 3}}

  # flat elements, with the levels on the device where there is one
  test:
    suffix: flat
    nsize: {{1 2 3}}
    args: -flat -mat_type {{aij aijicrs}} -polder_min_rows_per_gpu 0

TEST*/
