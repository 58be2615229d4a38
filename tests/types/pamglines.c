static char help[] = "Pairwise-aggregation multigrid where strong couplings lie in lines: iterations, the formulas of a level, symmetry, and new values.\n\n";

#include "graphs.h"
#include "pamgchecks.h"
#include "runner.h"
#include <polder.h>

#define SGS       "-pc_pamg_smoother sgs -pc_pamg_pre 1 -pc_pamg_post 1 "
#define CHEBYSHEV "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "
#define VCYCLE    "-ksp_type cg -pc_type pamg "
#define KCYCLE    "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k "

typedef enum {
  STRETCHED, /* cells that grow away from a wall, the last 8000 times as long as the first */
  POLAR,     /* polar coordinates around the origin */
  PATCHES,   /* one direction a thousandth of the other; which one changes every 16 cells */
  LAYER,     /* three directions, cells that grow away from two walls */
  RING,      /* a ring with few shortcuts */
  FIELD,     /* log-normal coefficients: no lines */
  NPROBLEMS
} Problem;

static const char *const problems[] = {"stretched", "polar", "patches", "layer", "ring", "log-normal"};

/* The lengths of n cells from the wall on, whose ratio of the last to the first is `ratio` */
static PetscReal Length(PetscInt i, PetscInt n, PetscReal ratio)
{
  return PetscPowReal(ratio, (PetscReal)i / (n - 1));
}

/* The cell-centred coupling of cells of these lengths with faces of that area */
static PetscReal Coupling(PetscReal area, PetscReal one, PetscReal other)
{
  return 2 * area / (one + other);
}

/* A factor near one that differs from row to row */
static PetscReal Wave(PetscReal size, PetscInt i)
{
  return 1 + size * PetscSinReal((PetscReal)i);
}

static PetscErrorCode AddPlane(Mat A, Problem problem, PetscInt m, PetscReal wave)
{
  unsigned long long state = 5;
  PetscReal         *k;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(m * m, &k));
  for (PetscInt i = 0; i < m * m; ++i) k[i] = PetscExpReal(6 * (Next(&state) - 0.5));
  for (PetscInt j = 0; j < m; ++j) {
    for (PetscInt i = 0; i < m; ++i) {
      const PetscInt  at = j * m + i;
      const PetscReal y = Length(j, m, 8000), yy = Length(j + 1, m, 8000), patch = (i / 16 + j / 16) % 2 ? 1e-3 : 1, next = (i + 1) / 16 != i / 16 ? 1 : patch;
      PetscReal       x = 1, up = 1;

      if (problem == STRETCHED) {
        x  = Coupling(y, 50, 50);
        up = Coupling(50, y, yy);
      } else if (problem == POLAR) {
        x  = m / (2 * PETSC_PI * (j + 0.5));
        up = 2 * PETSC_PI * (j + 1) / m;
      } else if (problem == PATCHES) {
        x  = next;
        up = (j + 1) / 16 != j / 16 ? 1 : 1e-3 / patch;
      } else {
        x  = 2 / (1 / k[at] + 1 / k[j * m + (i + 1) % m]);
        up = 2 / (1 / k[at] + 1 / k[(j + 1) % m * m + i]);
      }
      if (i + 1 < m || problem == POLAR) PetscCall(Edge(A, at, j * m + (i + 1) % m, Wave(wave, at) * x));
      if (j + 1 < m) PetscCall(Edge(A, at, at + m, Wave(wave, at) * up));
    }
  }
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The Laplacian of a problem with its couplings changed by so much, and one row in a hundred coupled to something outside */
static PetscErrorCode Add(Mat A, Problem problem, PetscInt N, PetscReal wave)
{
  const PetscInt m = problem == LAYER ? 20 : 80;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (problem == LAYER) {
    for (PetscInt i = 0; i < N; ++i) {
      const PetscInt  at[3]   = {i % m, i / m % m, i / (m * m)};
      const PetscReal size[3] = {20, Length(at[1], m, 300), Length(at[2], m, 300)};

      for (int d = 0, stride = 1; d < 3; ++d, stride *= (int)m) {
        const PetscReal next = d ? Length(at[d] + 1, m, 300) : 20;

        if (at[d] + 1 < m) PetscCall(Edge(A, i, i + stride, Wave(wave, i) * Coupling(size[0] * size[1] * size[2] / size[d], size[d], next)));
      }
    }
  } else if (problem == RING) {
    unsigned long long state = 3;

    for (PetscInt i = 0; i < N; ++i) {
      PetscCall(Edge(A, i, (i + 1) % N, Wave(wave, i)));
      PetscCall(Edge(A, i, (i + 2) % N, Wave(wave, i)));
      if (Next(&state) < 0.01) PetscCall(Edge(A, i, (PetscInt)(Next(&state) * (PetscReal)N), Wave(wave, i)));
    }
  } else PetscCall(AddPlane(A, problem, m, wave));
  for (PetscInt i = 0; i < N && !rank; i += 100) PetscCall(MatSetValue(A, i, i, 1, ADD_VALUES));
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Problem problem, Mat *A)
{
  const PetscInt N = problem == LAYER ? 8000 : 6400;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(PETSC_DECIDE, N, A));
  PetscCall(Add(*A, problem, N, 0));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Lines(const PC_PAMG *pamg)
{
  PetscInt n = 0;

  for (PetscInt l = 0; l < pamg->nlevel; ++l) n += pamg->level[l].islines;
  return n;
}

/* Pairs line up, so that couplings fill in little */
static PetscErrorCode CheckComplexity(const PC_PAMG *pamg, int problem)
{
  const PetscReal complexity = OperatorComplexity(pamg);

  PetscFunctionBeginUser;
  PetscCheck(complexity <= 2.2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: operator complexity %g", problems[problem], (double)complexity);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At most so many iterations on one process, on several, and on devices */
static PetscErrorCode TestIterations(void)
{
  static const char *const options[]             = {VCYCLE SGS, VCYCLE CHEBYSHEV, VCYCLE CHEBYSHEV "-pc_pamg_precision single", KCYCLE SGS};
  static const PetscInt    most[NPROBLEMS][4][3] = {
       {{7, 9, 10},   {7, 8, 8},    {7, 8, 8},    {8, 8, 8}   },
       {{7, 8, 9},    {7, 7, 8},    {7, 7, 8},    {7, 8, 9}   },
       {{17, 19, 19}, {14, 17, 17}, {14, 17, 17}, {10, 11, 12}},
       {{7, 9, 9},    {7, 8, 8},    {7, 8, 8},    {7, 9, 9}   },
       {{16, 16, 18}, {14, 14, 14}, {14, 14, 14}, {13, 13, 16}},
       {{16, 16, 18}, {13, 14, 14}, {13, 14, 14}, {14, 13, 17}}
  };
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int problem = 0; problem < NPROBLEMS; ++problem) {
    Mat A;

    PetscCall(Create((Problem)problem, &A));
    for (int o = 0; o < 4; ++o) {
      const PC_PAMG *pamg;
      KSP            ksp;
      PC             pc;
      PetscInt       its, bound;
      PetscReal      residual;

      PetscCall(ProblemSolve(A, options[o], &ksp, &its, &residual));
      PetscCall(KSPGetPC(ksp, &pc));
      pamg  = (PC_PAMG *)pc->data;
      bound = most[problem][o][pamg->place->device ? 2 : size > 1];
      PetscCall(PetscInfo(NULL, "%s, %s: %" PetscInt_FMT " iterations\n", problems[problem], options[o], its));
      PetscCheck(!Lines(pamg) == (problem == FIELD), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " levels with lines", problems[problem],
                 Lines(pamg));
      if (size == 1) PetscCall(CheckComplexity(pamg, problem));
      PetscCheck(its <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: %" PetscInt_FMT " iterations, more than %" PetscInt_FMT, problems[problem],
                 options[o], its, bound);
      PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: true residual %g", problems[problem], options[o], (double)residual);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "few iterations with lines\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSymmetry(void)
{
  static const char *const options[] = {SGS, CHEBYSHEV, SGS "-pc_pamg_cycle w -pc_pamg_gather 0", "-pc_pamg_smoother jacobi -pc_pamg_lines yes"};

  PetscFunctionBeginUser;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    for (int problem = 0; problem < NPROBLEMS; ++problem) {
      Mat  A;
      PC   pc;
      char text[256];

      PetscCall(Create((Problem)problem, &A));
      PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_pamg_precision double -pc_pamg_coarse_limit 30 %s", options[o]));
      PetscCall(CreatePC(A, text, &pc));
      PetscCall(CheckSymmetric(pc, PETSC_FALSE, options[o], problems[problem]));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cycles are symmetric\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the old pattern keep the aggregates and redo the numbers; a positive coupling among them, for which there are no lines, redoes the levels */
static PetscErrorCode TestRefresh(void)
{
  PetscFunctionBeginUser;
  for (int problem = 0; problem < FIELD; ++problem) {
    const PC_PAMG *pamg;
    Mat            A;
    PC             pc;
    Vec            r;
    PetscInt       start, N;
    PetscReal      away;
    PetscBool      first;

    PetscCall(Create((Problem)problem, &A));
    PetscCall(MatGetSize(A, &N, NULL));
    PetscCall(MatZeroEntries(A));
    PetscCall(Add(A, (Problem)problem, N, 0.01)); // so that nothing is decided between equal numbers
    PetscCall(CreateVecs(A, &r, NULL));
    PetscCall(FillRandom(r, 3));
    PetscCall(CreatePC(A, "", &pc));
    pamg  = (PC_PAMG *)pc->data;
    first = pamg->level->islines; // the ring has its lines on the second level, where the coupling below is a part of a sum
    PetscCall(MatZeroEntries(A));
    PetscCall(Add(A, (Problem)problem, N, 0.010001));
    PetscCall(PCSetUp(pc));
    PetscCheck(pamg->nsetup == 1 && pamg->nrefresh == 1 && Lines(pamg), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " set-ups and %" PetscInt_FMT " refreshes", problems[problem], pamg->nsetup, pamg->nrefresh);
    PetscCall(AwayFromFresh(pc, "", r, &away));
    PetscCheck(away <= 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a refresh differs from a fresh set-up by %g", problems[problem], (double)away);
    PetscCall(MatGetOwnershipRange(A, &start, NULL));
    PetscCall(MatSetValue(A, start, start + 1, 0.1, INSERT_VALUES));
    PetscCall(MatSetValue(A, start + 1, start, 0.1, INSERT_VALUES));
    PetscCall(Assemble(A));
    PetscCall(PCSetUp(pc));
    PetscCheck(!first || (pamg->nsetup == 2 && !pamg->level->islines), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: lines in spite of a positive coupling",
               problems[problem]);
    PetscCall(VecDestroy(&r));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a refresh is a set-up with the old aggregates\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A chain of 64 equal couplings and one of 1 and 9 by turns: the formulas of the first level. In the first each pair of ends has s = 1/2 and w = 1/4. In the
  second pairs have the couplings of 9, so s = 1 / (1/18 + 1 + 1/18) = 9/10, and w is the smaller of g / (g + 18) with 1/g = 1 + 1/18, 1/20, and s / 18, which
  is the same
*/
static PetscErrorCode TestFormulas(void)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    const PetscInt   n = 64;
    const PetscReal  s = k ? 0.9 : 0.5, w = k ? 0.05 : 0.25;
    const PamgLevel *L;
    Mat              A;
    PC               pc;

    PetscCall(CreateEmpty(PETSC_DECIDE, n, &A));
    for (PetscInt i = 0; i + 1 < n; ++i) PetscCall(Edge(A, i, i + 1, k && i % 2 == 0 ? 9 : 1));
    PetscCall(MatSetValue(A, 0, 0, 1, ADD_VALUES));
    PetscCall(Assemble(A));
    PetscCall(CreatePC(A, "-pc_pamg_lines yes -pc_pamg_grid 0 -pc_pamg_eliminate 0 -pc_pamg_coarse_limit 5 -pc_pamg_matching greedy", &pc));
    L = ((PC_PAMG *)pc->data)->level;
    PetscCheck(L->islines && L->nc == n / 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " pairs", L->nc);
    for (PetscInt i = 0; i < n; ++i) {
      const PetscInt beside = i % 2 ? i / 2 + 1 : i / 2 - 1, to = beside < 0 || beside >= L->nc ? L->nc : beside;

      PetscCheck(L->agg[i] == i / 2 && L->lines.beside[i] == to && PetscAbsReal(L->lines.weight[i] - (to < L->nc ? w : 0)) < 1e-7, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "row %" PetscInt_FMT " has the weight %g for aggregate %" PetscInt_FMT, i, (double)L->lines.weight[i], L->lines.beside[i]);
    }
    for (PetscInt a = 0; a < L->nc; ++a) {
      for (PetscInt c = L[1].ai[a]; c < L[1].ai[a + 1]; ++c) {
        const PetscReal want = L[1].aj[c] == a ? (a && a + 1 < L->nc ? 2 * s : a ? s : s + 1) : -s;

        PetscCheck(PetscAbsScalar(L[1].aa[c] - want) < 1e-14, PETSC_COMM_SELF, PETSC_ERR_PLIB, "entry %" PetscInt_FMT ", %" PetscInt_FMT " is %g, not %g", a,
                   L[1].aj[c], (double)PetscRealPart(L[1].aa[c]), (double)want);
      }
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "weights and entries follow the formulas\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-iterations", TestIterations},
    {"-symmetry",   TestSymmetry  },
    {"-refresh",    TestRefresh   },
    {"-formulas",   TestFormulas  }
  };

  return RunProgram(argc, argv, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: iterations
    nsize: {{1 2 4}}
    args: -iterations -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suites: valgrind(+3)
    suffix: symmetry
    nsize: {{1 3}}
    args: -symmetry -polder_min_rows_per_gpu 0

  test:
    suites: valgrind(+2+aij)
    suffix: refresh
    nsize: {{1 2}}
    args: -refresh -mat_type {{aij aijicrs}} -polder_min_rows_per_gpu 0

  test:
    suffix: formulas
    requires: !gpu
    args: -formulas

TEST*/
