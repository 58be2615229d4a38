static char help[] = "Pairwise-aggregation multigrid with levels that are grids: iterations, the formulas of a level, and its cycles.\n\n";

#include "pamgchecks.h"
#include "pamggrids.h"
#include "kernels/levelgridrow.h"
#include "runner.h"
#include <polder.h>

#define VCYCLE    "-ksp_type cg -pc_type pamg "
#define TWICE     "-pc_pamg_twice 2 " // as on a host with many rows: the same on a device
#define KCYCLE    "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k "
#define WCYCLE    VCYCLE "-pc_pamg_cycle w "
#define SGS       "-pc_pamg_smoother sgs -pc_pamg_pre 1 -pc_pamg_post 1 "
#define CHEBYSHEV "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "
#define DEGREE3   "-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 3 "
#define ALONG(x, y, z) \
  { \
    x, y, z \
  }

static const char *const fields[] = {"constant", "bubbles", "balls", "log-normal", "waves", "turning"}, *const walls[] = {"half", "whole", "Neumann"};

/* The number of levels that have boxes */
static PetscInt GridLevels(const PC_PAMG *pamg)
{
  PetscInt n = 0;

  for (PetscInt l = 0; l < pamg->nlevel; ++l) n += pamg->level[l].isgrid;
  return n;
}

/* sgs, chebyshev: iterations with these smoothers on one process, to be met within one, on several within a third or at most 12; boxes: are there levels
   with boxes, on one process? */
typedef struct {
  Grid      grid;
  PetscInt  sgs, chebyshev;
  PetscBool boxes;
} Case;

/* V-cycles with either smoother, and in single precision as many */
static PetscErrorCode CheckCase(const Case *c, PetscBool measure)
{
  static const char *const options[] = {VCYCLE TWICE SGS, VCYCLE TWICE CHEBYSHEV, VCYCLE TWICE CHEBYSHEV "-pc_pamg_precision single"};
  const Grid              *g         = &c->grid;
  PetscMPIInt              size;
  Mat                      A = NULL;
  PetscInt                 its[3];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(GridAssemble(g, &A));
  for (int o = 0; o < 3; ++o) {
    const PetscInt want = o ? c->chebyshev : c->sgs;
    PetscInt       away = size > 1 ? PetscMax(12 - want, 1 + want / 3) : 1;
    KSP            ksp;
    PC             pc;

    PetscCall(GridSolve(g, A, options[o], &ksp, &its[o]));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCheck(size > 1 || !GridLevels((PC_PAMG *)pc->data) == !c->boxes, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: %" PetscInt_FMT " levels with boxes",
               fields[g->field], walls[g->walls], GridLevels((PC_PAMG *)pc->data));
    if (((PC_PAMG *)pc->data)->place->device && !o) away += 3; // Gauss-Seidel by colours
    PetscCheck(measure || (its[o] <= want + away && (size > 1 || its[o] >= want - away)), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s %g, %s, %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", %s: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, fields[g->field],
               (double)g->jump, walls[g->walls], g->n[0], g->n[1], g->n[2], options[o], its[o], want);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCheck(measure || PetscAbsInt(its[2] - its[1]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " iterations, in single precision %" PetscInt_FMT, fields[g->field], its[1], its[2]);
  if (measure) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT " iterations: ", its[0], its[1], its[2]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %g, %s, %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT, fields[g->field], (double)g->jump,
                        walls[g->walls], g->n[0], g->n[1], g->n[2]));
  if (g->along[0] > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", along %g %g %g", (double)g->along[0], (double)g->along[1], (double)g->along[2]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", c->boxes ? "" : ": pairs"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckCases(size_t n, const Case cases[])
{
  PetscBool measure;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-measure", &measure)); // to print the counts
  for (size_t k = 0; k < n; ++k) PetscCall(CheckCase(&cases[k], measure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestIterations(void)
{
  // clang-format off
  static const Case cases[] = {
    {{{64, 64, 64}, GRID_ONE, 1, GRID_WHOLE, {0}},                      9, 8, PETSC_TRUE },
    {{{64, 64, 64}, GRID_ONE, 1, GRID_HALF, {0}},                       10, 9, PETSC_TRUE },
    {{{48, 48, 48}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}},              12, 11, PETSC_TRUE },
    {{{48, 48, 48}, GRID_BUBBLES, 1e6, GRID_NEUMANN, {0}},              12, 11, PETSC_TRUE },
    {{{48, 48, 48}, GRID_BUBBLES, 1e-3, GRID_NEUMANN, {0}},             11, 9, PETSC_TRUE },
    {{{47, 47, 47}, GRID_BUBBLES, 1e6, GRID_NEUMANN, {0}},              13, 11, PETSC_TRUE },
    {{{32, 32, 32}, GRID_BALLS, 1e6, GRID_NEUMANN, {0}},                15, 13, PETSC_FALSE},
    {{{32, 32, 32}, GRID_LOGNORMAL, 1, GRID_HALF, {0}},                 11, 10, PETSC_TRUE },
    {{{32, 32, 32}, GRID_LOGNORMAL, 3, GRID_HALF, {0}},                 18, 15, PETSC_FALSE},
    {{{32, 32, 32}, GRID_TURNING, 0.01, GRID_HALF, {0}},                10, 10, PETSC_FALSE},
    {{{32, 32, 32}, GRID_ONE, 1, GRID_HALF, ALONG(1e-3, 1, 1)},         8, 7, PETSC_TRUE },
    {{{32, 32, 32}, GRID_ONE, 1, GRID_HALF, ALONG(1, 1e-3, 1)},         8, 7, PETSC_TRUE },
    {{{32, 32, 32}, GRID_ONE, 1, GRID_HALF, ALONG(1, 1, 1e-3)},         8, 7, PETSC_TRUE },
    {{{32, 32, 32}, GRID_ONE, 1, GRID_HALF, ALONG(1e-2, 1, 1)},         9, 8, PETSC_TRUE },
    {{{32, 32, 32}, GRID_ONE, 1, GRID_WHOLE, ALONG(1, 1e-2, 1)},        8, 7, PETSC_TRUE },
    {{{32, 32, 32}, GRID_ONE, 1, GRID_WHOLE, ALONG(1, 1, 1e-2)},        8, 7, PETSC_TRUE },
    {{{32, 32, 32}, GRID_ONE, 1, GRID_HALF, ALONG(1, 0.03, 1e-3)},      8, 7, PETSC_TRUE },
    {{{255, 255, 1}, GRID_ONE, 1, GRID_HALF, ALONG(1, 1e-2, 1)},        9, 8, PETSC_TRUE },
    {{{255, 255, 1}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}},             12, 10, PETSC_TRUE },
  };
  // clang-format on
  PetscFunctionBeginUser;
  PetscCall(CheckCases(PETSC_STATIC_ARRAY_LENGTH(cases), cases));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes that are odd, small or one; parts of processes that begin within a line or a plane */
static PetscErrorCode TestSizes(void)
{
  // clang-format off
  static const Case cases[] = {
    {{{37, 37, 37}, GRID_ONE, 1, GRID_HALF, {0}},          9, 8, PETSC_TRUE},
    {{{37, 37, 37}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}}, 12, 10, PETSC_TRUE},
    {{{63, 63, 1}, GRID_BUBBLES, 1e-6, GRID_NEUMANN, {0}}, 11, 9, PETSC_TRUE},
    {{{127, 1, 5}, GRID_ONE, 1, GRID_WHOLE, {0}},          6, 5, PETSC_TRUE},
    {{{5, 127, 3}, GRID_ONE, 1, GRID_NEUMANN, {0}},        6, 5, PETSC_TRUE},
    {{{3, 3, 201}, GRID_ONE, 1, GRID_WHOLE, {0}},          5, 5, PETSC_TRUE},
    {{{2, 2, 301}, GRID_ONE, 1, GRID_NEUMANN, {0}},        6, 5, PETSC_TRUE},
    {{{4001, 1, 1}, GRID_ONE, 1, GRID_HALF, {0}},          10, 9, PETSC_TRUE},
    {{{1, 1, 1500}, GRID_ONE, 1, GRID_NEUMANN, {0}},       5, 5, PETSC_TRUE},
  };
  // clang-format on
  PetscFunctionBeginUser;
  PetscCall(CheckCases(PETSC_STATIC_ARRAY_LENGTH(cases), cases));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* W- and K-cycle and more steps take no more iterations than the V-cycle; distributed levels, a last level of any kind */
static PetscErrorCode TestCycles(void)
{
  static const char *const options[] = {VCYCLE CHEBYSHEV,
                                        WCYCLE CHEBYSHEV,
                                        KCYCLE CHEBYSHEV,
                                        VCYCLE DEGREE3,
                                        WCYCLE SGS,
                                        KCYCLE SGS "-pc_pamg_precision single",
                                        VCYCLE CHEBYSHEV "-pc_pamg_precision double -pc_pamg_coarse_limit 30 -pc_pamg_coarse inverse",
                                        KCYCLE DEGREE3 "-pc_pamg_kcycle_levels 1 -pc_pamg_precision single",
                                        KCYCLE "-pc_pamg_smoother jacobi -pc_pamg_pre 3 -pc_pamg_post 2",
                                        KCYCLE "-pc_pamg_smoother l1jacobi -pc_pamg_pre 3 -pc_pamg_post 3",
                                        KCYCLE "-pc_pamg_pre 0 -pc_pamg_post 3"};
  // clang-format off
  static const Grid        g[]       = {
    {{33, 33, 33}, GRID_ONE,     1,   GRID_WHOLE,   {0}},
    {{32, 32, 32}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}}
  };
  // clang-format on

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    Mat      A = NULL;
    PetscInt its, first = 0;

    PetscCall(GridAssemble(&g[k], &A));
    for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
      PetscCall(GridSolve(&g[k], A, options[o], NULL, &its));
      if (!o) first = its;
      PetscCheck(its <= first + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, more than %" PetscInt_FMT, options[o], its, first);
    }
    PetscCall(GridSolve(&g[k], A, VCYCLE CHEBYSHEV "-pc_pamg_coarse_limit 30 -pc_pamg_coarse inverse", NULL, &its)); // in half precision
    PetscCheck(its <= first + 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A small last level: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, its, first);
    PetscCall(GridSolve(&g[k], A, VCYCLE CHEBYSHEV "-pc_pamg_gather 100 -pc_pamg_coarse_limit 30", NULL, &its));
    PetscCheck(its <= first + first / 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations with levels that stay on all processes", its);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no cycle needs more than the V-cycle\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSymmetry(void)
{
  static const char *const options[] = {SGS, CHEBYSHEV, DEGREE3 "-pc_pamg_cycle w", SGS "-pc_pamg_cycle w -pc_pamg_gather 0", "-pc_pamg_smoother jacobi"};
  // clang-format off
  static const Grid        grids[]   = {
    {{37, 41, 1},  GRID_ONE,       1,   GRID_WHOLE, {0}                },
    {{13, 9, 11},  GRID_BUBBLES,   1e3, GRID_HALF,  {0}                },
    {{12, 12, 12}, GRID_LOGNORMAL, 0.5, GRID_HALF,  ALONG(1, 1e-2, 1)}
  };
  // clang-format on

  PetscFunctionBeginUser;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    for (int k = 0; k < 3; ++k) {
      Mat  A = NULL;
      PC   pc;
      char text[256], problem[16];

      PetscCall(GridAssemble(&grids[k], &A));
      PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_pamg_precision double -pc_pamg_coarse_limit 20 %s", options[o]));
      PetscCall(PetscSNPrintf(problem, sizeof(problem), "problem %d", k));
      PetscCall(CreatePC(A, text, &pc));
      PetscCheck(GridLevels((PC_PAMG *)pc->data), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No level has boxes");
      PetscCall(CheckSymmetric(pc, PETSC_FALSE, options[o], problem));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cycles are symmetric\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the old pattern redo the numbers; a positive coupling among them, for which there are no boxes, redoes the levels */
static PetscErrorCode TestRefresh(void)
{
  static const char *const options[] = {"",
                                        CHEBYSHEV,
                                        CHEBYSHEV "-pc_pamg_precision single",
                                        CHEBYSHEV "-pc_pamg_precision half",
                                        "-pc_pamg_gather 0",
                                        "-pc_pamg_gather 150 -pc_pamg_smoother sgs"};
  PetscMPIInt              size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    MatNullSpace nullspace;
    Grid         g = {
              {14,  15, 13},
              GRID_LOGNORMAL, 0.2, GRID_NEUMANN, {0}
    };
    Mat       A   = NULL;
    PetscReal tol = 1e-10, away;
    PetscInt  start;
    PC_PAMG  *pamg;
    PC        pc;
    Vec       r;
    char      text[256];

    PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_pamg_coarse_limit 20 %s", options[o]));
    PetscCall(GridAssemble(&g, &A));
    PetscCall(CreateVecs(A, &r, NULL));
    PetscCall(FillRandom(r, 3));
    PetscCall(MatGetNullSpace(A, &nullspace));
    PetscCall(MatNullSpaceRemove(nullspace, r));
    PetscCall(CreatePC(A, text, &pc));
    pamg = (PC_PAMG *)pc->data;
    for (int k = 0; k < 2; ++k) {
      if (size == 1) g.jump = k ? 0.1 : 0.3; // on several processes a level may have pairs, which depend on these
      for (int d = 0; d < 3; ++d) g.along[d] = k ? 2 : 4;
      PetscCall(GridAssemble(&g, &A));
      PetscCall(PCSetUp(pc));
      PetscCheck(pamg->nsetup == 1 && pamg->nrefresh == 1 + k, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " set-ups and %" PetscInt_FMT " refreshes",
                 pamg->nsetup, pamg->nrefresh);
      PetscCall(AwayFromFresh(pc, text, r, &away));
      PetscCheck(away <= tol, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a refresh differs from a fresh set-up by %g", options[o], (double)away);
    }
    PetscCall(MatGetOwnershipRange(A, &start, NULL));
    PetscCall(MatSetValue(A, start, start + 1, 0.1, INSERT_VALUES));
    PetscCall(MatSetValue(A, start + 1, start, 0.1, INSERT_VALUES));
    PetscCall(Assemble(A));
    PetscCall(PCSetUp(pc));
    PetscCheck(pamg->nsetup == 2 && !GridLevels(pamg), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Boxes in spite of a positive coupling");
    PetscCall(AwayFromFresh(pc, text, r, &away));
    PetscCheck(away <= tol, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a set-up of other levels differs from a fresh one by %g", options[o], (double)away);
    PetscCall(VecDestroy(&r));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a refresh is a set-up with the old boxes\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices whose levels are no grids, for one reason each: they have pairs and are solved */
static PetscErrorCode TestOthers(void)
{
  static const char *const names[] = {"positive coupling", "negative row sum", "not symmetric", "not wanted"};

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; ++k) {
    const Grid g = {
      {24, 23, 1},
      GRID_ONE, 1, GRID_HALF, {0}
    };
    Mat      A = NULL;
    PC       pc;
    KSP      ksp;
    PetscInt its, start, end;

    PetscCall(GridAssemble(&g, &A));
    PetscCall(MatGetOwnershipRange(A, &start, &end));
    for (PetscInt i = start; i < end; ++i) {
      if (i == 100 && k == 0) PetscCall(MatSetValue(A, i, i + 1, 0.5, INSERT_VALUES));
      if (i == 101 && k == 0) PetscCall(MatSetValue(A, i, i - 1, 0.5, INSERT_VALUES));
      if (i == 100 && k == 1) PetscCall(MatSetValue(A, i, i, 3.9, INSERT_VALUES));
      if (i % 24 < 23 && k == 2) PetscCall(MatSetValue(A, i, i + 1, -1.001, INSERT_VALUES));
    }
    PetscCall(Assemble(A));
    PetscCall(GridSolve(&g, A, k == 3 ? "-ksp_type gmres -pc_type pamg -pc_pamg_grid 0" : "-ksp_type gmres -pc_type pamg", &ksp, &its));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCheck(!GridLevels((PC_PAMG *)pc->data) && ((PC_PAMG *)pc->data)->nlevel > 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: levels with boxes", names[k]);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: pairs\n", names[k]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coupling of two neighbours, from the matrix */
static PetscReal Coupling(Mat A, PetscInt i, PetscInt j)
{
  PetscScalar v = 0;

  PetscCallAbort(PETSC_COMM_SELF, MatGetValues(A, 1, &i, 1, &j, &v));
  return -PetscRealPart(v);
}

/* Is this the number of a cell that is alone in its box, the last of n? */
static PetscBool Alone(PetscInt at, PetscInt n)
{
  return (PetscBool)(n % 2 && at == n - 1);
}

/* The weights of cell i, at at[], by their formula */
static void Weights(const PolderLevelGrid *G, Mat A, PetscInt i, const PetscInt at[3], PetscReal w[3])
{
  PetscReal most = 0, sum;

  for (PetscInt j = 0; j < G->n; ++j) most = PetscMax(most, j == i ? 0 : Coupling(A, i, j));
  for (PetscInt d = 0, stride = 1; d < 3; stride *= G->size[d++]) {
    const PetscInt side = at[d] % 2 ? 1 : -1, n = G->size[d], to = at[d] + side, j = i + side * stride;
    PetscReal      face, g;

    w[d] = 0;
    if (!G->join[d] || to < 0 || to >= n || Alone(at[d], n)) continue;
    face = Coupling(A, i, j);
    g    = 1 / (1 / face + (Alone(to, n) ? 0 : 1 / (2 * Coupling(A, j, j + side * stride))));
    w[d] = PetscMin(g / (2 * Coupling(A, i, i - side * stride) + g), face / most);
  }
  sum = PetscMax(1, w[0] + w[1] + w[2]);
  for (int d = 0; d < 3; ++d) w[d] /= sum;
}

/* Adds what cell i, at at[], contributes to the matrix of the next level */
static void Contribute(const PolderLevelGrid *G, Mat A, const PetscInt agg[], PetscInt i, const PetscInt at[3], PetscReal C[])
{
  PetscReal *row = C + agg[i] * G->nc;

  for (PetscInt j = 0; j < G->n; ++j) row[agg[i]] -= Coupling(A, i, j);
  for (PetscInt d = 0, stride = 1; d < 3; stride *= G->size[d++]) {
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt to = at[d] + side, j = i + side * stride;
      PetscReal      a;

      if (to < 0 || to >= G->size[d] || agg[i] == agg[j]) continue;
      a = Coupling(A, i, j);
      if (G->join[d]) a /= Alone(at[d], G->size[d]) || Alone(to, G->size[d]) ? 1.5 : 2;
      row[agg[j]] -= a;
      row[agg[i]] += a;
    }
  }
}

/* P and P^T are adjoint, and P keeps a constant */
static PetscErrorCode CheckTransfers(const PolderLevelGrid *G)
{
  PetscReal *r, *bc, *xc, *x, one = 0, other = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc4(G->n, &r, G->nc + 1, &bc, G->nc + 1, &xc, G->n, &x));
  for (PetscInt i = 0; i < G->n; ++i) r[i] = PetscSinReal(1 + 3.0 * i);
  for (PetscInt c = 0; c < G->nc; ++c) xc[c] = PetscCosReal(2.0 * c);
  PolderLevelGridRestrict_Host(G, r, bc);
  PolderLevelGridProlong_Host(G, xc, x);
  for (PetscInt i = 0; i < G->n; ++i) one += r[i] * x[i];
  for (PetscInt c = 0; c < G->nc; ++c) other += bc[c] * xc[c];
  PetscCheck(PetscAbsReal(one - other) <= 1e-12 * G->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "(r, P x) = %g is not (P^T r, x) = %g", (double)one, (double)other);
  for (PetscInt c = 0; c < G->nc; ++c) xc[c] = 1;
  for (PetscInt i = 0; i < G->n; ++i) x[i] = 0;
  PolderLevelGridProlong_Host(G, xc, x);
  for (PetscInt i = 0; i < G->n; ++i) PetscCheck(x[i] == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A constant becomes %g in cell %" PetscInt_FMT, (double)x[i], i);
  PetscCall(PetscFree4(r, bc, xc, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first two levels against their formulas, written out for all pairs of cells */
static PetscErrorCode CheckFormula(const PC_PAMG *pamg, Mat A)
{
  const PamgLevel       *L    = pamg->level;
  const PolderLevelGrid *G    = &L->grid;
  const PetscReal        most = 1.5 / POLDER_LEVELGRID_UNIT + 1e-6; // the largest weight may take the rounding errors of the others
  PetscReal             *C;
  PetscScalar            got;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(L->nc * L->nc, &C));
  for (PetscInt i = 0; i < L->n; ++i) {
    const PetscInt at[3] = {i % G->size[0], i / G->size[0] % G->size[1], i / (G->size[0] * G->size[1])};
    PetscReal      w[3];

    Weights(G, A, i, at, w);
    Contribute(G, A, L->agg, i, at, C);
    for (int d = 0; d < 3; ++d)
      PetscCheck(PetscAbsReal(PolderLevelGridUnpack(G->w[i], d) - (G->join[d] ? w[d] : 0)) <= most, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Cell %" PetscInt_FMT ", direction %d: weight %g is not %g", i, d, (double)PolderLevelGridUnpack(G->w[i], d), (double)w[d]);
  }
  for (PetscInt i = 0; i < L->nc; ++i) {
    for (PetscInt j = 0; j < L->nc; ++j) {
      PetscCall(MatGetValues(L[1].A, 1, &i, 1, &j, &got));
      PetscCheck(PetscAbsScalar(got - C[i * L->nc + j]) <= 1e-12 * PetscAbsReal(C[i * L->nc + i]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Entry %" PetscInt_FMT ", %" PetscInt_FMT " of the next level is %g, not %g", i, j, (double)PetscRealPart(got), (double)C[i * L->nc + j]);
    }
  }
  PetscCall(PetscFree(C));
  PetscCall(CheckTransfers(G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFormula(void)
{
  // clang-format off
  static const Grid grids[] = {
    {{7, 6, 5},  GRID_LOGNORMAL, 0.5, GRID_HALF,    {0}              },
    {{8, 9, 1},  GRID_LOGNORMAL, 0.7, GRID_WHOLE,   {0}              },
    {{31, 1, 1}, GRID_LOGNORMAL, 1,   GRID_HALF,    {0}              },
    {{6, 5, 4},  GRID_LOGNORMAL, 0.3, GRID_NEUMANN, ALONG(1, 1e-3, 1)},
    {{3, 5, 6},  GRID_ONE,       1,   GRID_HALF,    ALONG(1, 0.5, 0.4)}
  };
  // clang-format on

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); ++k) {
    Mat A = NULL;
    PC  pc;

    PetscCall(GridAssemble(&grids[k], &A));
    PetscCall(CreatePC(A, "-pc_pamg_precision double -pc_pamg_coarse_limit 10", &pc));
    PetscCheck(((PC_PAMG *)pc->data)->level->isgrid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Grid %d has no boxes", (int)k);
    PetscCall(CheckFormula((PC_PAMG *)pc->data, A));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a level is what the formula says\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  const Grid g = {
    {40, 20, 10},
    GRID_ONE, 1, GRID_HALF, ALONG(1, 1, 1e-3)
  };
  Mat A = NULL;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(GridAssemble(&g, &A));
  PetscCall(CreatePC(A, "-pc_pamg_smoother sgs -pc_pamg_pre 1 -pc_pamg_post 1", &pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-iterations", TestIterations},
    {"-sizes",      TestSizes     },
    {"-cycles",     TestCycles    },
    {"-symmetry",   TestSymmetry  },
    {"-refresh",    TestRefresh   },
    {"-others",     TestOthers    },
    {"-formula",    TestFormula   },
    {"-view",       TestView      },
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: iterations
    args: -iterations -mat_type aijdia

  test:
    suffix: sizes
    nsize: {{1 2 3 4}}
    args: -sizes -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: cycles
    nsize: {{1 2 4}}
    args: -cycles -mat_type aijdia -polder_min_rows_per_gpu 0

  test:
    suffix: symmetry
    nsize: {{1 3}}
    args: -symmetry -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suites: valgrind(+2+aij)
    suffix: refresh
    nsize: {{1 2 3}}
    args: -refresh -mat_type {{aij aijdia aijicrs}} -polder_min_rows_per_gpu 0

  test:
    suites: valgrind
    suffix: formula
    requires: !gpu !emulated
    args: -formula -mat_type aij

  test:
    suffix: others
    nsize: {{1 2}}
    args: -others

  test:
    suffix: view
    requires: !64bit_indices !gpu
    args: -view -mat_type aijdia
    filter: grep -E "pamg|cycle|pairs|level|^ +[0-9]+ +[0-9]+ |complexity"

TEST*/
