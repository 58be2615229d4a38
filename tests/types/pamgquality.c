static char
  help[] = "Pairwise-aggregation multigrid: the two-grid condition number of each aggregate, from a dense eigenvalue problem, against -pc_pamg_quality.\n\n";

#include "flat.h"
#include "pamggrids.h"
#include "parts.h"
#include "pc/pamg/pamgimpl.h"
#include "kernels/pairs.h"
#include "kernels/quality.h"
#include <petsc/private/pcimpl.h>
#include <petscblaslapack.h>
#include <polder.h>

typedef enum {
  TREE,     /* with a few loops, weights over six decades */
  POWERLAW, /* edges to early rows, and as many to any, weights over six decades */
  SPARSE,   /* a path with small weights and as many edges between any rows, weights over ten decades */
  STARS,    /* hubs in a path, 100 leaves each */
  CHAIN,    /* weights over ten decades */
  MESH,     /* edges to three of the sixty rows before */
  ALONG,    /* triangles, one direction of the conductivity a hundredth; couplings of both signs, as in what follows */
  ACROSS,
  TETRAHEDRA, /* jumps of 1e3 */
  FLAT,       /* the same with stiff elements */
  POISSON2,
  POISSON3,
  BUBBLES,
  LOGNORMAL,
  NPROBLEMS
} Problem;

static const char *const problems[] = {"tree with loops", "power law",  "sparse",        "stars",       "chain",       "mesh",    "along edges",
                                       "across edges",    "tetrahedra", "flat elements", "Poisson 2-D", "Poisson 3-D", "bubbles", "log-normal"};

/* The rows of this process of a level: its own columns, and the sums of the entries in others */
typedef struct {
  PetscInt     n, *i, *j;
  PetscScalar *a;
  PetscReal   *outside;
} Rows;

/* One row in a hundred is coupled to something outside */
static PetscErrorCode CreateGraph(Problem problem, PetscInt n, Mat *A)
{
  unsigned long long state = (unsigned long long)problem;
  PetscMPIInt        rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(CreateEmpty(PETSC_DECIDE, n, A));
  if (problem >= ALONG) PetscCall(AddRotated(*A, n, 40, problem == ALONG ? 1 : -1));
  for (PetscInt i = 1; i < n && problem < ALONG; ++i) {
    if (problem == TREE) {
      PetscCall(Edge(*A, i, i - 1 - PetscMin(i - 1, (PetscInt)(-50 * PetscLogReal(1 - Next(&state)))), Weight(6, &state)));
      if (Next(&state) < 0.12) PetscCall(Edge(*A, i, PetscMax(0, i - (PetscInt)(200 * Next(&state))), Weight(6, &state)));
    } else if (problem == POWERLAW) {
      PetscCall(Edge(*A, i, (PetscInt)(PetscPowReal(Next(&state), 3) * i), Weight(6, &state)));
      PetscCall(Edge(*A, i, (PetscInt)(Next(&state) * n), Weight(6, &state)));
    } else if (problem == SPARSE) {
      PetscCall(Edge(*A, i, i - 1, 1e-3));
      PetscCall(Edge(*A, (PetscInt)(Next(&state) * n), (PetscInt)(Next(&state) * n), Weight(10, &state)));
    } else if (problem == STARS) {
      PetscCall(Edge(*A, i, i % 100 ? i / 100 * 100 : i - 100, Weight(6, &state)));
    } else if (problem == CHAIN) {
      PetscCall(Edge(*A, i, i - 1, Weight(10, &state)));
    } else {
      for (int k = 0; k < 3; ++k) PetscCall(Edge(*A, i, PetscMax(0, i - 1 - (PetscInt)(60 * Next(&state))), 1));
    }
  }
  for (PetscInt i = 0; i < n && !rank; i += 100) PetscCall(MatSetValue(*A, i, i, 1, ADD_VALUES));
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateProblem(Problem problem, Mat *A)
{
  static const Grid grids[] = {
    {{50, 50, 1},  GRID_ONE,       1,   GRID_WHOLE,   {0}},
    {{14, 14, 14}, GRID_ONE,       1,   GRID_HALF,    {0}},
    {{14, 14, 14}, GRID_BUBBLES,   1e3, GRID_NEUMANN, {0}},
    {{14, 14, 14}, GRID_LOGNORMAL, 3,   GRID_WHOLE,   {0}}
  };

  PetscFunctionBeginUser;
  *A = NULL;
  if (problem < TETRAHEDRA) PetscCall(CreateGraph(problem, 2400, A));
  else if (problem < POISSON2) PetscCall(TetrahedraAssemble(PETSC_COMM_WORLD, 13, 1e3, A));
  else PetscCall(GridAssemble(&grids[problem - POISSON2], A));
  if (problem == FLAT) {
    PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(AddFlat(*A, 13, 60));
  }
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *R)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(R->i));
  PetscCall(PetscFree(R->j));
  PetscCall(PetscFree(R->a));
  PetscCall(PetscFree(R->outside));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsOfMatrix(Mat A, Rows *R)
{
  PetscInt start, end, nz = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = 0; i < end - start; ++i) {
    const PetscScalar *val;
    const PetscInt    *col;
    PetscInt           count;

    PetscCall(MatGetRow(A, start + i, &count, &col, &val));
    R->outside[i] = 0;
    for (PetscInt k = 0; k < count; ++k) {
      if (col[k] < start || col[k] >= end) R->outside[i] += PetscRealPart(val[k]);
      else {
        R->j[nz]   = col[k] - start;
        R->a[nz++] = val[k];
      }
    }
    R->i[i + 1] = nz;
    PetscCall(MatRestoreRow(A, start + i, &count, &col, &val));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of level l, on the host */
static PetscErrorCode RowsCreate(Mat A, const PC_PAMG *pamg, PetscInt l, Rows *R)
{
  const PamgLevel *L = &pamg->level[l];

  PetscFunctionBeginUser;
  R->n = L->n;
  PetscCall(PetscCalloc1(L->n + 1, &R->i));
  PetscCall(PetscMalloc1(L->nz, &R->j));
  PetscCall(PetscMalloc1(L->nz, &R->a));
  PetscCall(PetscCalloc1(L->n, &R->outside));
  if (!l) {
    PetscCall(RowsOfMatrix(A, R));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderPlaceTake(pamg->place, L->n + 1, L->csr.ai, R->i));
  PetscCall(PolderPlaceTake(pamg->place, L->nz, L->csr.aj, R->j));
  PetscCall(PolderPlaceTake(pamg->place, L->nz, L->csr.aa, R->a));
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  if (pamg->place->device) {
    const PolderSparseRows *B = &L->outer.rows;

    for (PetscInt r = 0; r < B->n; ++r) {
      for (PetscInt k = B->ptr[r]; k < B->ptr[r + 1]; ++k) R->outside[B->row[r]] += PetscRealPart(B->val[k]);
    }
  } else {
    for (PetscInt i = 0; i < L->n; ++i) {
      for (PetscInt k = L->csr.bi[i]; k < L->csr.bi[i + 1]; ++k) R->outside[i] += PetscRealPart(L->csr.ba[k]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  G[m * m], with the smoother D = diag(d): *mu <- the largest 2 v^T D (I - 1 1^T D / 1^T D 1) v / v^T G v. The denominator is the least for all v +
  constant, so that 1/mu is half of the smallest eigenvalue of D^-1/2 G D^-1/2 but that of the constant
*/
static PetscErrorCode ConditionNumber(PetscInt m, PetscReal G[], const PetscReal d[], PetscReal *mu)
{
  PetscBLASInt n = (PetscBLASInt)m, lwork = 3 * n, info;
  PetscReal   *w, *work, *s, all = 0, total = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(m, &w, lwork, &work, m, &s));
  for (PetscInt i = 0; i < m; ++i) {
    s[i] = 0;
    for (PetscInt j = 0; j < m; ++j) s[i] += G[i + j * m];
    total += s[i];
    all += d[i];
  }
  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt j = 0; j < m; ++j) {
      if (total > 1e-13 * all) G[i + j * m] -= s[i] * (s[j] / total);
      G[i + j * m] = (G[i + j * m] / PetscSqrtReal(d[i])) / PetscSqrtReal(d[j]) + 4 * PetscSqrtReal(d[i] / all) * PetscSqrtReal(d[j] / all);
    }
  }
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("N", "L", &n, G, &n, w, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKsyev %d", (int)info);
  *mu = w[0] > 0 ? 2 / w[0] : PETSC_MAX_REAL;
  PetscCall(PetscFree3(w, work, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Of an aggregate of m rows row[]: mu[0] with the couplings of the rows alone, both in the smoother and in the matrix, as -pc_pamg_quality has it; mu[1] as
  Napov and Notay have it, with the whole diagonal as smoother and positive row sums in the matrix
*/
static PetscErrorCode Judge(const Rows *R, PetscInt m, const PetscInt row[], PetscReal mu[2])
{
  PetscReal *G, *d;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(m * m, &G, m, &d));
  for (int sums = 0; sums < 2; ++sums) {
    PetscCall(PetscArrayzero(G, m * m));
    for (PetscInt r = 0; r < m; ++r) {
      PetscReal total = R->outside[row[r]], size = PetscAbsReal(total);

      for (PetscInt k = R->i[row[r]]; k < R->i[row[r] + 1]; ++k) {
        const PetscReal a = PetscRealPart(R->a[k]);
        PetscInt        at;

        total += a;
        size += PetscAbsReal(a);
        if (R->j[k] == row[r]) d[r] = a;
        PetscCall(PetscFindInt(R->j[k], m, row, &at));
        if (at < 0 || at == r) continue;
        G[r + at * m] = a;
        G[r + r * m] -= a;
      }
      if (total < 1e-13 * size) total = 0;
      if (sums) G[r + r * m] += total;
      else d[r] -= total;
    }
    PetscCall(ConditionNumber(m, G, d, &mu[sums]));
  }
  PetscCall(PetscFree2(G, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  worst[0] <- the largest part of the bound that an aggregate of up to POLDER_QUALITY_ROWS rows needs, worst[1] that of larger ones, whose rows meet it one
  by one, worst[2] with positive row sums. On boxes and where rows are eliminated there are no aggregates
*/
static PetscErrorCode Measure(Mat A, PC pc, PetscReal quality, PetscReal worst[3])
{
  const PC_PAMG *pamg = (const PC_PAMG *)pc->data;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; ++k) worst[k] = 0;
  for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) {
    const PamgLevel *L     = &pamg->level[l];
    const PetscReal  dense = (PetscReal)(L->nz + (L->halo ? L->nzouter : 0)) / (PetscReal)PetscMax(L->n, 1);
    const PetscReal  bound = PetscMax(quality * (PamgEliminatedAbove(pamg, l) ? 0.5 : 1), 1.25 * dense);
    PetscInt        *agg, *ptr, *row;
    PolderAggregates P;
    Rows             R;

    if (L->isgrid || L->eliminates) continue;
    PetscCall(RowsCreate(A, pamg, l, &R));
    PetscCall(PetscMalloc3(L->n, &agg, L->nc + 2, &ptr, L->n, &row));
    PetscCall(PolderPlaceTake(pamg->place, L->n, L->agg, agg));
    P = (PolderAggregates){L->n, L->nc, agg, ptr, row, NULL};
    PolderMembers_Host(&P);
    for (PetscInt a = 0; a < L->nc; ++a) {
      const PetscInt m = ptr[a + 1] - ptr[a];
      PetscReal      mu[2];

      if (m < 2) continue;
      PetscCall(Judge(&R, m, row + ptr[a], mu));
      worst[m > POLDER_QUALITY_ROWS] = PetscMax(worst[m > POLDER_QUALITY_ROWS], mu[0] / bound);
      worst[2]                       = PetscMax(worst[2], mu[1] / bound);
    }
    PetscCall(PetscFree3(agg, ptr, row));
    PetscCall(RowsDestroy(&R));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 3, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Every aggregate meets the bound. Those of more rows than are looked at stay near it, since each row that joins one meets it. With row sums the diagonal is
  at most five times its part that couples the row to others, since rows beyond that are in no aggregate
*/
static PetscErrorCode Check(Problem problem, Mat A, const char options[], PetscReal quality)
{
  PC        pc;
  PetscReal worst[3];

  PetscFunctionBeginUser;
  PetscCall(CreatePC(A, options, &pc));
  PetscCall(Measure(A, pc, quality, worst));
  PetscCall(PetscInfo(NULL, "%s, %s, %s: %g of the bound, larger aggregates %g, with row sums %g\n", problems[problem], options,
                      ((PC_PAMG *)pc->data)->place->device ? "device" : "host", (double)worst[0], (double)worst[1], (double)worst[2]));
  PetscCheck(worst[0] <= 1 + 1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: an aggregate has %g times the bound", problems[problem], options,
             (double)worst[0]);
  PetscCheck(worst[1] <= 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: a large aggregate has %g times the bound", problems[problem], options, (double)worst[1]);
  PetscCheck(worst[2] <= 5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: an aggregate has %g times the bound with positive row sums", problems[problem], options,
             (double)worst[2]);
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const methods[] = {"-pc_pamg_grid 0", "-pc_pamg_grid 0 -pc_pamg_eliminate 0", "-pc_pamg_passes 3 -pc_pamg_eliminate 0",
                                        "-pc_pamg_matching greedy -pc_pamg_eliminate 0"};
  PetscReal                quality   = 16;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(LookForParts());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-quality", &quality, NULL));
  for (int problem = 0; problem < NPROBLEMS; ++problem) {
    Mat A;

    PetscCall(CreateProblem((Problem)problem, &A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(methods); ++k) {
      char options[256];

      PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_pamg_coarse_limit 40 -pc_pamg_quality %g", methods[k], (double)quality));
      PetscCall(Check((Problem)problem, A, options, quality));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "quality ok\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    nsize: {{1 2 3}}
    args: -quality {{4 8 16 20}} -mat_type {{aij aijicrs}} -polder_min_rows_per_gpu 0

TEST*/
