static char help[] = "Pairwise-aggregation multigrid on families of graphs that are no grids: iterations and operator complexity with default options.\n  "
                     "-eliminate : rows of few neighbours go on devices, too\n\n";

#include "graphs.h"
#include "pamgchecks.h"
#include "parts.h"
#include <polder.h>

typedef enum {
  TREE,      /* each row hangs on one close before it; a few loops */
  RECURSIVE, /* each row hangs on any row before it, equal weights */
  POWERLAW,  /* the same with preference for early rows, and as many edges again */
  SPARSE,    /* a path with small weights and as many edges between any rows */
  STARS,     /* hubs in a path, 100 leaves each */
  LOGNORMAL, /* 7-point stencil with log-normal coefficients in a random numbering */
  DENSE,     /* 27-point stencil in a random numbering */
  ALONG,     /* linear triangles, conductivity 1 in the direction of 30 degrees, in which they have edges nearly, and 1/100 across */
  ACROSS,    /* the same in the direction of -30 degrees: positive couplings along the edges */
  NFAMILIES
} Family;

static const char *const families[] = {"tree with loops", "recursive tree", "power law",   "sparse",      "stars",
                                       "log-normal",      "27 points",      "along edges", "across edges"};

static PetscErrorCode AddGraph(Mat A, Family family, PetscInt n, unsigned long long *state)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 1; i < n; ++i) {
    switch (family) {
    case TREE:
      PetscCall(Edge(A, i, i - 1 - PetscMin(i - 1, (PetscInt)(-50 * PetscLogReal(1 - Next(state)))), Weight(6, state)));
      if (Next(state) < 0.12) PetscCall(Edge(A, i, PetscMax(0, i - (PetscInt)(200 * Next(state))), Weight(6, state)));
      break;
    case RECURSIVE:
      PetscCall(Edge(A, i, (PetscInt)(Next(state) * i), 1));
      break;
    case POWERLAW:
      PetscCall(Edge(A, i, (PetscInt)(PetscPowReal(Next(state), 3) * i), Weight(6, state)));
      PetscCall(Edge(A, i, (PetscInt)(Next(state) * n), Weight(6, state)));
      break;
    case SPARSE:
      PetscCall(Edge(A, i, i - 1, 1e-3));
      PetscCall(Edge(A, (PetscInt)(Next(state) * n), (PetscInt)(Next(state) * n), Weight(10, state)));
      break;
    default: // STARS
      PetscCall(Edge(A, i, i % 100 ? i / 100 * 100 : i - 100, Weight(6, state)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cube of m^3 points in the order of a random permutation; reach: the number of coordinates in which neighbours may differ */
static PetscErrorCode AddCube(Mat A, PetscInt m, PetscInt reach, unsigned long long *state)
{
  const PetscInt n = m * m * m;
  PetscInt      *at;
  PetscReal     *c;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &at, n, &c));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal radius = PetscSqrtReal(-2 * PetscLogReal(1 - Next(state)));

    c[i]  = reach == 1 ? PetscExpReal(3 * radius * PetscCosReal(2 * PETSC_PI * Next(state))) : 1;
    at[i] = i;
  }
  for (PetscInt i = n - 1; i > 0; --i) {
    const PetscInt k = (PetscInt)(Next(state) * (i + 1)), t = at[i];

    at[i] = at[k];
    at[k] = t;
  }
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt q = 14; q < 27; ++q) { // half of the neighbours
      const PetscInt d[3] = {q % 3 - 1, q / 3 % 3 - 1, q / 9 - 1}, p[3] = {i % m + d[0], i / m % m + d[1], i / (m * m) + d[2]};
      const PetscInt j = p[0] + m * (p[1] + m * p[2]);

      if (PetscAbsInt(d[0]) + PetscAbsInt(d[1]) + PetscAbsInt(d[2]) > reach || PetscMin(p[0], PetscMin(p[1], p[2])) < 0 ||
          PetscMax(p[0], PetscMax(p[1], p[2])) >= m)
        continue;
      PetscCall(Edge(A, at[i], at[j], 2 / (1 / c[i] + 1 / c[j])));
    }
  }
  PetscCall(PetscFree2(at, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same matrix on any number of processes. One percent of the rows is coupled to something outside */
static PetscErrorCode CreateFamily(Family family, Mat *A)
{
  const PetscInt     m = 20, n = m * m * m;
  unsigned long long state = (unsigned long long)family;
  PetscMPIInt        rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(CreateEmpty(PETSC_DECIDE, n, A));
  if (family >= ALONG) PetscCall(AddRotated(*A, n, 80, family == ALONG ? 1 : -1));
  else if (family >= LOGNORMAL) PetscCall(AddCube(*A, m, family == DENSE ? 3 : 1, &state));
  else PetscCall(AddGraph(*A, family, n, &state));
  for (PetscInt i = 0; i < n && !rank; i += 100) PetscCall(MatSetValue(*A, i, i, 1, ADD_VALUES));
  PetscCall(Assemble(*A));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which of the numbers of iterations counts */
static int Place(PetscMPIInt size, const PC_PAMG *pamg)
{
  return pamg->place->device ? 2 : size > 1;
}

static PetscErrorCode CheckComplexity(const PC_PAMG *pamg, Family family)
{
  const PetscReal complexity = OperatorComplexity(pamg);

  PetscFunctionBeginUser;
  PetscCall(PetscInfo(NULL, "%s: operator complexity %g\n", families[family], (double)complexity));
  PetscCheck(complexity <= (family == SPARSE ? 2.2 : 2), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: operator complexity %g", families[family], (double)complexity);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const options[3]            = {"-ksp_type cg -pc_type pamg -pc_pamg_smoother sgs",
                                                    "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k -pc_pamg_smoother sgs",
                                                    "-ksp_type cg -pc_type pamg -pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2"};
  static const PetscInt    most[3][NFAMILIES][3] = {
       {{13, 13, 12}, {2, 2, 2},    {18, 16, 15}, {21, 15, 17}, {2, 2, 2}, {16, 16, 14}, {11, 8, 10},  {32, 27, 30}, {50, 42, 47}},
       {{17, 14, 14}, {26, 24, 22}, {23, 20, 18}, {24, 23, 20}, {6, 6, 8}, {19, 17, 15}, {11, 10, 11}, {33, 27, 30}, {52, 42, 47}},
       {{19, 15, 18},
        {26, 24, 22},
        {23, 20, 18},
        {24, 23, 20},
        {6, 6, 8},
        {19, 17, 15},
        {11, 10, 11},
        {33, 27, 30},
        {52, 42, 47}                                                                                                             }
  }; // on one process, on several, and on devices, where no row is eliminated unless the options say so
  PetscMPIInt size;
  PetscBool   eliminate = PETSC_FALSE; /* on devices, too */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(LookForParts());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-eliminate", &eliminate, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int family = 0; family < NFAMILIES; ++family) {
    Mat A;

    PetscCall(CreateFamily((Family)family, &A));
    for (int k = 0; k < 3; ++k) {
      KSP       ksp;
      PC        pc;
      PetscInt  its, bound;
      PetscReal residual;
      char      all[256];

      PetscCall(PetscSNPrintf(all, sizeof(all), "%s%s", options[k], eliminate ? " -pc_pamg_eliminate 3" : ""));
      PetscCall(ProblemSolve(A, all, &ksp, &its, &residual));
      PetscCall(KSPGetPC(ksp, &pc));
      if (size == 1) PetscCall(CheckComplexity((const PC_PAMG *)pc->data, (Family)family));
      bound = most[Place(size, (const PC_PAMG *)pc->data)][family][k];
      PetscCall(PetscInfo(NULL, "%s, %s: %" PetscInt_FMT " iterations\n", families[family], options[k], its));
      PetscCheck(its <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " expected", families[family],
                 options[k], its, bound);
      PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: true residual %g", families[family], options[k], (double)residual);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "families ok\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    nsize: {{1 2 4}}
    args: -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: eliminated
    nsize: {{1 2 4}}
    output_file: output/pamgfamilies_1.out
    args: -mat_type aijdia -eliminate -polder_min_rows_per_gpu 0

TEST*/
