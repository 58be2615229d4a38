static char help[] = "Pairwise-aggregation multigrid on random graphs whose weights range over 24 decades.\n\n";

#include <polder.h>
#include <petscksp.h>
#include "core/compat.h"
#include "message.h"
#include "graphs.h"
#include "pamgproblems.h"
#include "parts.h"

typedef enum {
  TREE,
  PATH,
  STAR,
  RING,
  SPARSE, /* a tree and as many edges again */
  GRID,
  NGRAPHS
} Graph;

typedef enum {
  SHIFT,     /* something small on a few rows */
  LARGE,     /* something large */
  DIRICHLET, /* couplings to rows that are not there */
  FLOATING,  /* nothing: singular */
  ATTACHED,  /* with the kernel attached */
  NPINS,
  NEGATIVE = NPINS /* half of each diagonal entry: indefinite */
} Pin;

static const char *const graphs[] = {"tree", "path", "star", "ring", "sparse", "grid"};
static const char *const pins[]   = {"shift", "large shift", "Dirichlet", "floating", "kernel attached", "indefinite"};

/* The Laplacian of a graph, and what keeps it from being singular; the same on any number of processes, but for the rounding of diagonals */
static PetscErrorCode CreateGraph(Graph graph, Pin pin, PetscInt seed, Mat *A)
{
  unsigned long long state   = (unsigned long long)seed * 1000 + (unsigned long long)graph * 10 + (unsigned long long)pin;
  const PetscInt     n       = (PetscInt)(2 * PetscPowReal(300, Next(&state)));
  const PetscReal    decades = Next(&state) < 0.5 ? 24 : 24 * Next(&state);
  const PetscInt     width   = PetscMax(1, (PetscInt)PetscSqrtReal((PetscReal)n));
  PetscMPIInt        rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(CreateEmpty(PETSC_DECIDE, n, A));
  for (PetscInt i = 0; i < n && !rank; ++i) {
    if (i) {
      const PetscReal w = Weight(decades, &state);

      PetscCall(Edge(*A, i,
                     graph == STAR                      ? 0
                     : graph == TREE || graph == SPARSE ? (PetscInt)(Next(&state) * i)
                     : graph == GRID && i % width == 0  ? i - width
                                                        : i - 1,
                     w));
    }
    if (graph == GRID && i >= width && i % width) PetscCall(Edge(*A, i, i - width, Weight(decades, &state)));
    if (graph == RING && i == n - 1) PetscCall(Edge(*A, i, 0, Weight(decades, &state)));
    if (graph == SPARSE) PetscCall(Edge(*A, i, (PetscInt)(Next(&state) * n), Weight(decades, &state)));
  }
  for (PetscInt k = 0; k < 1 + n / 50 && !rank && pin < FLOATING; ++k) {
    const PetscReal w = pin == SHIFT ? 1e-3 * Weight(12, &state) : pin == LARGE ? 1e6 * Weight(12, &state) : Weight(decades, &state);
    const PetscInt  i = (PetscInt)(Next(&state) * n);

    PetscCall(MatSetValue(*A, i, i, w, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What became of the systems of one kind */
typedef struct {
  PetscInt refused, unsolved, most;
} Outcome;

/* Does x solve the system to 1e-8, or to what rounding in the product with it leaves? */
static PetscErrorCode IsSolved(Mat A, Vec b, Vec x, PetscBool *solved)
{
  Vec       r;
  PetscReal rnorm, bnorm, xnorm, anorm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecNorm(x, NORM_2, &xnorm));
  PetscCall(MatNorm(A, NORM_INFINITY, &anorm));
  PetscCall(VecDestroy(&r));
  PetscCall(PetscInfo(NULL, "true residual %g of %g, |A| %g, |x| %g\n", (double)(rnorm / bnorm), (double)bnorm, (double)anorm, (double)xnorm));
  *solved = (PetscBool)(rnorm <= 1.1e-8 * bnorm + 100 * PETSC_MACHINE_EPSILON * anorm * xnorm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, and refines once if the residual that gmres updates has lost the true one to rounding */
static PetscErrorCode SolveRefined(KSP ksp, Vec b, Vec x, PetscInt *its, PetscBool *solved)
{
  Mat      A;
  PetscInt more;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(IsSolved(A, b, x, solved));
  if (*solved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &more));
  PetscCall(IsSolved(A, b, x, solved));
  *its += more;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Try(Graph graph, Pin pin, PetscInt seed, PetscBool solve, Outcome *outcome)
{
  Mat            A;
  KSP            ksp;
  PC             pc;
  Vec            x, b;
  PetscErrorCode ierr;
  PetscBool      solved = PETSC_TRUE;
  PetscInt       its    = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateGraph(graph, pin, seed, &A));
  if (pin == ATTACHED) PetscCall(AttachConstant(A));
  PetscCall(MatCreateVecs(A, &x, &b));
  if (pin == NEGATIVE) {
    PetscCall(MatGetDiagonal(A, x));
    PetscCall(VecScale(x, 0.5));
    PetscCall(MatDiagonalSet(A, x, INSERT_VALUES));
  }
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES)); // rounding makes the matrix indefinite where it couples by less than that
  PetscCall(KSPGMRESSetRestart(ksp, 100));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCPAMG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE)); // what the set-up refuses
  message[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = KSPSetUp(ksp);
  PetscCall(PetscPopErrorHandler());
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_FALSE));
  if (!ierr && solve) PetscCall(SolveRefined(ksp, b, x, &its, &solved));
  if (ierr || !solved)
    PetscCall(
      PetscInfo(NULL, "%s, %s, seed %" PetscInt_FMT ": %s after %" PetscInt_FMT "\n", graphs[graph], pins[pin], seed, ierr ? message : "not solved", its));
  outcome->refused += ierr ? 1 : 0;
  outcome->unsolved += solved ? 0 : 1;
  outcome->most = PetscMax(outcome->most, its);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  PetscInt  count = 20;
  PetscBool solve;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(LookForParts());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-count", &count, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-solve", &solve));
  for (int pin = 0; pin < (solve ? NPINS : NEGATIVE + 1); ++pin) {
    Outcome outcome = {0, 0, 0};

    for (int graph = 0; graph < NGRAPHS; ++graph) {
      for (PetscInt seed = 0; seed < count; ++seed) PetscCall(Try((Graph)graph, (Pin)pin, seed, solve, &outcome));
    }
    if (pin == NEGATIVE) PetscCheck(outcome.refused > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No indefinite matrix was refused");
    else {
      PetscCheck(!outcome.refused && !outcome.unsolved, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %" PetscInt_FMT " refused, %" PetscInt_FMT " not solved (see -info)", pins[pin], outcome.refused, outcome.unsolved);
      PetscCheck(outcome.most <= 100, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations", pins[pin], outcome.most);
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", pins[pin], pin == NEGATIVE ? "refused" : solve ? "all are solved" : "none is refused"));
    PetscCall(PetscInfo(NULL, "%s: %" PetscInt_FMT " refused, at most %" PetscInt_FMT " iterations\n", pins[pin], outcome.refused, outcome.most));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    suffix: setup
    nsize: {{1 3}}
    args: -pc_pamg_coarse_limit 10 -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: solve
    args: -solve -pc_pamg_passes 1 -pc_pamg_coarse_limit {{1 1000}}

TEST*/
