static char help[] = "Pairwise-aggregation multigrid for stencils that reach further than to next points: elements, schemes of fourth order.\n\n";

#include "graphs.h"
#include "kernels/star.h"
#include "pamgchecks.h"
#include "runner.h"
#include <polder.h>

typedef enum {
  SQUARES, /* bilinear elements, squares whose coefficients jump by 1e3 from block to block */
  CUBES,   /* trilinear elements with random coefficients over three decades in blocks */
  LAYER,   /* bilinear elements, cells at one wall a thousandth as wide as at the other */
  FLAT,    /* trilinear elements of 1 x 1 x 0.05 */
  FOURTH,  /* differences of fourth order in the plane */
  FIFTH,   /* the same in three directions, and a term without derivatives */
  NPROBLEMS,
  CLOSED = NPROBLEMS, /* elements as SQUARES in a box that nothing leaves */
  BOX,                /* the same as CUBES */
  ROTATED,            /* squares, a tensor whose axes are those of the grid turned by 30 degrees */
  MASS,               /* squares, a mass matrix with little diffusion */
  NKINDS
} Problem;

static const char *const problems[] = {"squares", "cubes", "layer", "flat cubes", "fourth order", "fourth order in a cube", "closed", "box", "rotated", "mass"};

typedef struct {
  PetscInt  n[3]; /* points */
  PetscReal decades;
  PetscInt  block; /* cells with one coefficient in each direction */
  PetscBool walls; /* Dirichlet values on the next points beyond */
} Domain;

static const Domain domains[NKINDS] = {
  {{70, 61, 1},  3, 9, PETSC_TRUE },
  {{18, 17, 16}, 3, 4, PETSC_TRUE },
  {{61, 70, 1},  0, 9, PETSC_TRUE },
  {{18, 17, 16}, 0, 9, PETSC_TRUE },
  {{70, 61, 1},  0, 9, PETSC_TRUE },
  {{18, 17, 16}, 0, 9, PETSC_TRUE },
  {{70, 61, 1},  3, 9, PETSC_FALSE},
  {{18, 17, 16}, 3, 4, PETSC_FALSE},
  {{70, 61, 1},  0, 9, PETSC_TRUE },
  {{70, 61, 1},  0, 9, PETSC_TRUE }
};

/* The entry of an element between corners a and b, whose bits are their x, y and z; turn: twice the off-diagonal entry of the tensor; m: times the mass */
static PetscReal Element(const PetscReal h[3], int dim, PetscReal turn, PetscReal m, int a, int b)
{
  PetscReal stiff[3], mass[3], all = 1, sum = 0;

  for (int d = 0; d < dim; ++d) {
    const PetscBool same = (PetscBool)(!((a ^ b) >> d & 1));

    stiff[d] = (same ? 1 : -1) / h[d];
    mass[d]  = h[d] / (same ? 3 : 6);
    all *= mass[d];
  }
  for (int d = 0; d < dim; ++d) sum += (turn != 0 ? (d ? 0.2575 : 0.7525) : 1) * all / mass[d] * stiff[d];
  if (turn != 0) sum += turn * (((a & 1) == 0) == ((b & 2) == 0) ? 0.25 : -0.25) + turn * (((a & 2) == 0) == ((b & 1) == 0) ? 0.25 : -0.25);
  return sum + m * all;
}

/* Adds the element of a cell, whose first corner is point at[] */
static PetscErrorCode AddElement(Mat A, Problem problem, const PetscInt at[3], const PetscReal h[3])
{
  const Domain      *D   = &domains[problem];
  const int          dim = D->n[2] > 1 ? 3 : 2;
  PetscInt           row[8];
  PetscScalar        val[8][8];
  unsigned long long seed = (unsigned long long)((at[0] + 1) / D->block + 7919 * ((at[1] + 1) / D->block + 7919 * ((at[2] + 1) / D->block)));
  const PetscReal    k    = Weight(2 * D->decades, &seed);

  PetscFunctionBeginUser;
  for (int a = 0; a < 1 << dim; ++a) {
    row[a] = 0;
    for (int d = 2; d >= 0; --d) {
      const PetscInt c = at[d] + (a >> d & 1);

      row[a] = row[a] < 0 || c < 0 || c >= D->n[d] ? -1 : row[a] * D->n[d] + c;
    }
    for (int b = 0; b < 1 << dim; ++b) val[a][b] = k * Element(h, dim, problem == ROTATED ? 0.4287 : 0, problem == MASS ? 1e2 / (h[0] * h[1]) : 0, a, b);
  }
  for (int a = 0; a < 1 << dim; ++a) {
    for (int b = 0; b < 1 << dim; ++b) {
      if (row[a] >= 0 && row[b] >= 0) PetscCall(MatSetValue(A, row[a], row[b], val[a][b], ADD_VALUES));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* [1 -16 30 -16 1] / 12 in each direction */
static PetscErrorCode AddFourth(Mat A, Problem problem, PetscInt i)
{
  static const PetscReal weight[3] = {30, -16, 1};
  const Domain          *D         = &domains[problem];
  const PetscInt         stride[3] = {1, D->n[0], D->n[0] * D->n[1]};

  PetscFunctionBeginUser;
  for (int d = 0; d < 3 && D->n[d] > 1; ++d) {
    for (int s = -2; s <= 2; ++s) {
      const PetscInt c = i / stride[d] % D->n[d] + s;

      if (c >= 0 && c < D->n[d]) PetscCall(MatSetValue(A, i, i + s * stride[d], weight[PetscAbsInt(s)] / 12, ADD_VALUES));
    }
  }
  if (problem == FIFTH) PetscCall(MatSetValue(A, i, i, 0.01, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(Mat A, Problem problem)
{
  const Domain  *D     = &domains[problem];
  const PetscInt first = D->walls ? -1 : 0, last[3] = {D->n[0] - 2 - first, D->n[1] - 2 - first, D->n[2] > 1 ? D->n[2] - 2 - first : 0};
  PetscInt       start, end, at[3];

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end && (problem == FOURTH || problem == FIFTH); ++i) PetscCall(AddFourth(A, problem, i));
  for (at[2] = D->n[2] > 1 ? first : 0; at[2] <= last[2] && problem != FOURTH && problem != FIFTH; ++at[2]) {
    for (at[1] = first; at[1] <= last[1]; ++at[1]) {
      for (at[0] = first; at[0] <= last[0]; ++at[0]) {
        const PetscInt  row  = PetscMax(0, at[0]) + D->n[0] * (PetscMax(0, at[1]) + D->n[1] * PetscMax(0, at[2]));
        const PetscReal h[3] = {1, problem == LAYER ? PetscPowReal(1e-3, (PetscReal)(at[1] + 1) / D->n[1]) : 1, problem == FLAT ? 0.05 : 1};

        if (row >= start && row < end) PetscCall(AddElement(A, problem, at, h));
      }
    }
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -planes each process has whole planes, or lines where there is one plane */
static PetscErrorCode Create(Problem problem, Mat *A)
{
  const Domain  *D     = &domains[problem];
  const PetscInt plane = D->n[2] > 1 ? D->n[0] * D->n[1] : D->n[0], rows = D->n[0] * D->n[1] * D->n[2];
  PetscInt       own = PETSC_DECIDE, all = rows / plane;
  PetscBool      planes;
  MatNullSpace   kernel;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-planes", &planes));
  if (planes) PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &own, &all));
  PetscCall(CreateEmpty(planes ? own * plane : PETSC_DECIDE, rows, A));
  PetscCall(Fill(*A, problem));
  if (!D->walls) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &kernel));
    PetscCall(MatSetNullSpace(*A, kernel));
    PetscCall(MatNullSpaceDestroy(&kernel));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small problems on several GPUs are whole on each of them */
static const PamgStar *StarAnywhere(PC pc)
{
  const PC whole = ((PC_PAMG *)pc->data)->whole.inner.pc;

  return &((PC_PAMG *)(whole ? whole : pc)->data)->star;
}

static const PC_PAMG *StarOf(PC pc)
{
  const PC inner = StarAnywhere(pc)->inner.pc;

  return inner ? (PC_PAMG *)inner->data : NULL;
}

/* The iterations with levels of the star, and those with pairs */
static PetscErrorCode TestIterations(void)
{
  static const PetscInt most[BOX + 1][2] = {
    {16, 13},
    {17, 8 },
    {15, 24},
    {25, 32},
    {9,  16},
    {9,  10},
    {17, 14},
    {20, 10}
  };

  PetscFunctionBeginUser;
  for (int problem = 0; problem <= BOX; ++problem) {
    Mat A;

    PetscCall(Create((Problem)problem, &A));
    for (int pairs = 0; pairs < 2; ++pairs) {
      char      options[64];
      PetscInt  its;
      PetscReal residual;
      KSP       ksp;
      PC        pc;

      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type cg -pc_type pamg %s", pairs ? "-pc_pamg_star no" : ""));
      PetscCall(ProblemSolve(A, options, &ksp, &its, &residual));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCheck((StarOf(pc) != NULL) == !pairs && its <= most[problem][pairs] && 2 * its >= most[problem][pairs] && residual <= 1.001e-6, PETSC_COMM_WORLD,
                 PETSC_ERR_PLIB, "%s%s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " are known, residual %g", problems[problem],
                 pairs ? ", pairs" : "", its, most[problem][pairs], (double)residual);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations as they are known\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *T <- the star as a matrix, which the caller destroys */
static PetscErrorCode GetStar(PC pc, Mat *T)
{
  const PamgStar     *star = &((PC_PAMG *)pc->data)->star;
  const PolderCSR    *rows = &star->given.csr;
  const PolderPlanes *at   = &star->given.at;
  PetscInt           *ptr, *col;
  PetscScalar        *val, *outer;

  PetscFunctionBeginUser;
  *T = star->matrix;
  PetscCall(PetscObjectReference((PetscObject)*T));
  if (*T) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc4(rows->m + 1, &ptr, star->nz, &col, star->nz, &val, rows->nghost, &outer));
  PetscCall(PolderPlaceTake(star->place, rows->m + 1, star->ptr, ptr));
  PetscCall(PolderPlaceTake(star->place, star->nz, star->col, col));
  PetscCall(PolderPlaceTake(star->place, star->nz, star->val, val));
  if (rows->nghost) PetscCall(PolderPlaceTake(star->place, rows->nghost, star->outer, outer));
  PetscCall(CreateEmpty(rows->m, rows->M, T));
  for (PetscInt i = 0; i < rows->m; ++i) {
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; ++k) PetscCall(MatSetValue(*T, rows->rstart + i, rows->rstart + col[k], val[k], INSERT_VALUES));
  }
  for (PetscInt k = 0; k < rows->nghost; ++k)
    PetscCall(MatSetValue(*T, rows->rstart + (k < at->below ? k : rows->m - rows->nghost + k), rows->garray[k], outer[k], INSERT_VALUES));
  PetscCall(Assemble(*T));
  PetscCall(PetscFree4(ptr, col, val, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (x, T x) = (x, A x) for the coordinates of the points of a box, T 1 = A 1, and T is a star with the same entries on any number of processes */
static PetscErrorCode TestEnergy(void)
{
  PetscFunctionBeginUser;
  for (int problem = CLOSED; problem <= BOX; ++problem) {
    const Domain *D = &domains[problem];
    Mat           A, T;
    Vec           x, y;
    PC            pc;
    PetscInt      start, end;
    PetscScalar   of[2];
    PetscReal     sum[2], norm;
    PetscBool     symmetric;

    PetscCall(Create((Problem)problem, &A));
    PetscCall(CreatePC(A, "", &pc));
    PetscCall(GetStar(pc, &T));
    PetscCall(CreateVecs(A, &x, &y));
    PetscCall(VecGetOwnershipRange(x, &start, &end));
    for (int d = 0; d < 3; ++d) {
      for (PetscInt i = start; i < end; ++i) {
        const PetscInt at[3] = {i % D->n[0], i / D->n[0] % D->n[1], i / D->n[0] / D->n[1]};

        PetscCall(VecSetValue(x, i, at[d], INSERT_VALUES));
      }
      PetscCall(VecAssemblyBegin(x));
      PetscCall(VecAssemblyEnd(x));
      for (int k = 0; k < 2; ++k) {
        PetscCall(MatMult(k ? T : A, x, y));
        PetscCall(VecDot(x, y, &of[k]));
      }
      PetscCheck(PetscAbsScalar(of[0] - of[1]) <= 1e-12 * PetscAbsScalar(of[0]), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, direction %d: %g and %g",
                 problems[problem], d, (double)PetscRealPart(of[0]), (double)PetscRealPart(of[1]));
    }
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(T, x, y));
    PetscCall(VecNorm(y, NORM_INFINITY, &sum[0]));
    PetscCall(MatNorm(T, NORM_FROBENIUS, &norm));
    PetscCall(MatIsSymmetric(T, 0, &symmetric));
    PetscCheck(symmetric && sum[0] <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: sums of rows up to %g, symmetric %d", problems[problem],
               (double)sum[0], symmetric);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: energies agree, norm of the star %.10g\n", problems[problem], (double)norm));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&T));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values are a refresh of the star; a tensor that is turned has none, which the values after it have again after a reset */
static PetscErrorCode TestNewValues(void)
{
  Mat            A;
  Vec            r;
  PC             pc;
  const PC_PAMG *pamg;
  PetscReal      away;

  PetscFunctionBeginUser;
  PetscCall(Create(SQUARES, &A));
  PetscCall(CreateVecs(A, &r, NULL));
  PetscCall(FillRandom(r, 1));
  PetscCall(CreatePC(A, "", &pc));
  pamg = (PC_PAMG *)pc->data;
  PetscCheck(StarOf(pc) != NULL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No star");
  PetscCall(MatScale(A, 4));
  PetscCall(PCSetUp(pc));
  PetscCall(AwayFromFresh(pc, "", r, &away));
  PetscCheck(StarOf(pc)->nrefresh == 1 && away <= 1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "New values: %" PetscInt_FMT " refreshes, %g away",
             StarOf(pc)->nrefresh, (double)away);
  PetscCall(Fill(A, ROTATED));
  PetscCall(PCSetUp(pc));
  PetscCall(AwayFromFresh(pc, "", r, &away));
  PetscCheck(!StarOf(pc) && pamg->nlevel && away <= 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A tensor that is turned has a star, or is %g away", (double)away);
  PetscCall(Fill(A, SQUARES));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCheck(StarOf(pc) && !pamg->nlevel, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No star after a reset");
  PetscCall(VecDestroy(&r));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values follow\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What has no star: rows that are refused, other tensors, masses, an entry that leads elsewhere, five unknowns a point; and what options say */
static PetscErrorCode TestRefused(void)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 9; ++k) {
    Mat A;
    PC  pc;

    PetscCall(Create(k == 0 || k == 6 ? ROTATED : k == 1 ? MASS : SQUARES, &A));
    if (k == 2) {
      PetscCall(MatSetValue(A, 3, 1000, -1e-3, INSERT_VALUES));
      PetscCall(MatSetValue(A, 1000, 3, -1e-3, INSERT_VALUES));
      PetscCall(Assemble(A));
    }
    if (k > 6) {
      PetscCall(MatSetValue(A, 1000, 1000, k == 7 ? -1 : NAN, INSERT_VALUES));
      PetscCall(Assemble(A));
    }
    if (k == 3) PetscCall(MatSetBlockSize(A, 5));
    PetscCall(CreatePC(A, k == 4 ? "-pc_pamg_star no" : k == 5 ? "-pc_pamg_grid 0" : k == 6 ? "-pc_pamg_star yes" : "", &pc));
    PetscCheck((StarOf(pc) != NULL) == (k == 6) && (pc->failedreason != PC_NOERROR) == (k > 6), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Case %d: %s", k,
               StarOf(pc) ? "a star" : "no star");
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "what has no star has none\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several devices a star needs whole lines or planes: rows that end within a line are served as they are */
static PetscErrorCode TestRagged(void)
{
  Mat       A;
  KSP       ksp;
  PC        pc;
  PetscInt  its;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(Create(SQUARES, &A));
  PetscCall(ProblemSolve(A, "-ksp_type cg -pc_type pamg", &ksp, &its, &residual));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCheck(!StarOf(pc) && its <= 14 && residual <= 1.001e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %" PetscInt_FMT " iterations, residual %g",
             StarOf(pc) ? "A star" : "No star", its, (double)residual);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "parts of lines have no star\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grids from offsets */
static PetscErrorCode TestGrids(void)
{
  static const struct {
    PetscInt n, off[13], N, grid[3];
  } cases[] = {
    {4,  {1, 19, 20, 21},                                  400,  {20, 20, 1}}, /* nine points */
    {4,  {1, 2, 20, 40},                                   400,  {20, 20, 1}}, /* fourth order */
    {2,  {19, 21},                                         400,  {20, 20, 1}}, /* corners alone */
    {13, {1, 7, 8, 9, 55, 56, 57, 63, 64, 65, 71, 72, 73}, 1024, {8, 8, 16} }, /* 27 points */
    {10, {7, 9, 55, 57, 63, 65, 71, 73, 56, 72},           1024, {0, 0, 0}  }, /* not ascending: no grid */
    {6,  {1, 2, 8, 16, 64, 128},                           1024, {8, 8, 16} },
    {2,  {1, 20},                                          400,  {0, 0, 0}  }, /* five points: a star already */
    {3,  {1, 8, 64},                                       1024, {0, 0, 0}  },
    {4,  {1, 19, 20, 21},                                  410,  {0, 0, 0}  }, /* no whole lines */
    {4,  {1, 4, 5, 6},                                     100,  {0, 0, 0}  }, /* lines too short to tell */
    {5,  {1, 19, 20, 21, 137},                             400,  {0, 0, 0}  },
    {2,  {1, 2},                                           400,  {0, 0, 0}  }
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    PolderStarGrid G = {
      {0, 0, 0}
    };
    const PetscBool found = PolderStarGridFind_Host(cases[k].n, cases[k].off, cases[k].N, &G);

    for (int d = 0; d < 3; ++d)
      PetscCheck(found == (cases[k].grid[0] > 0) && (!found || G.n[d] == cases[k].grid[d]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Offsets %d: %s, %" PetscInt_FMT " points in direction %d", (int)k, found ? "a grid" : "no grid", G.n[d], d);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "grids as they should be\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-iterations", TestIterations},
    {"-energy",     TestEnergy    },
    {"-values",     TestNewValues },
    {"-refused",    TestRefused   },
    {"-ragged",     TestRagged    },
    {"-grids",      TestGrids     }
  };

  return RunProgram(argc, argv, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: iterations
    requires: !gpu
    nsize: {{1 2 4}}
    args: -iterations -mat_type {{aij aijdia}}

  test:
    suffix: iterations_device
    requires: gpu
    nsize: {{1 2}}
    args: -iterations -mat_type {{aijdia aijicrs}}
    output_file: output/pamgstar_iterations.out

  test:
    suites: valgrind(+2)
    suffix: energy
    nsize: {{1 2 3 8}}
    args: -energy

  test:
    suites: memcheck
    suffix: energy_device
    requires: gpu
    args: -energy -mat_type {{aijdia aijhec}}
    output_file: output/pamgstar_energy.out

  test:
    suffix: energy_parts
    requires: gpu
    nsize: {{2 3}}
    args: -energy -planes -mat_type {{aijdia aijicrs}} -polder_min_rows_per_gpu 0
    output_file: output/pamgstar_energy.out

  test:
    suffix: iterations_parts
    requires: gpu
    nsize: {{2 4}}
    args: -iterations -planes -mat_type {{aijdia aijicrs}} -polder_min_rows_per_gpu 0
    output_file: output/pamgstar_iterations.out

  test:
    suffix: values
    nsize: {{1 3}}
    args: -values

  test:
    suffix: values_device
    requires: gpu
    args: -values -mat_type {{aijdia aijicrs}}
    output_file: output/pamgstar_values.out

  test:
    suffix: values_parts
    requires: gpu
    nsize: {{1 2}}
    args: -values -planes -mat_type aijdia -polder_min_rows_per_gpu 0
    output_file: output/pamgstar_values.out

  test:
    suffix: refused
    nsize: {{1 2}}
    args: -refused

  test:
    suffix: ragged
    requires: gpu
    nsize: 2
    args: -ragged -mat_type aijdia -polder_min_rows_per_gpu 0

  test:
    suffix: grids
    args: -grids

TEST*/
