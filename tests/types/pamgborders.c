static char help[] = "Pairwise-aggregation multigrid on grids of which each process has whole planes: its cycles are those of one process.\n\n";

#include "pamggrids.h"
#include "pc/pamg/pamgimpl.h"
#include "runner.h"
#include <petsc/private/pcimpl.h>
#include <polder.h>

#define CHEBYSHEV "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "

/* Planes of the last direction for each process: an even number, but for the last process; with `empty` none for the first */
static PetscErrorCode OwnRows(const Grid *g, PetscBool empty, PetscInt *n)
{
  const PetscInt last = g->n[2] > 1 ? 2 : 1, planes = g->n[last], plane = g->n[0] * (last > 1 ? g->n[1] : 1);
  PetscMPIInt    size, rank;
  PetscInt       each, first;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  first = empty && size > 1;
  each  = planes / (2 * (size - first)) * 2;
  *n    = plane * (rank < first ? 0 : rank < size - 1 ? each : planes - each * (size - 1 - first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix in these parts, or on this process alone */
static PetscErrorCode Create(const Grid *g, MPI_Comm comm, PetscInt n, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, n, n, g->n[0] * g->n[1] * g->n[2], g->n[0] * g->n[1] * g->n[2]));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 6, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values; with `lone` some rows, at borders as well, have diagonals far above their other entries */
static PetscErrorCode Fill(const Grid *g, PetscBool lone, Mat A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(GridAssemble(g, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end && lone; ++i) {
    if (i % 97 == 3) PetscCall(MatSetValue(A, i, i, 1e7, INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M^-1 r for the same r on any number of processes */
static PetscErrorCode Apply(PC pc, Mat A, Vec *z)
{
  MatNullSpace nullspace;
  PetscInt     start, end;
  PetscScalar *v;
  Vec          r;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &r, z));
  PetscCall(VecGetOwnershipRange(r, &start, &end));
  PetscCall(VecGetArrayWrite(r, &v));
  for (PetscInt i = start; i < end; ++i) v[i - start] = PetscSinReal((PetscReal)(i % 1009) * i);
  PetscCall(VecRestoreArrayWrite(r, &v));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, r));
  PetscCall(PCApply(pc, r, *z));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, *z));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The distance of the cycle of all processes from that of this process alone */
static PetscErrorCode Distance(const PC pc[2], const Mat A[2], PetscReal *away)
{
  const PetscScalar *v[2];
  PetscReal          most[2] = {0, 0};
  PetscInt           start, end;
  Vec                z[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    PetscCall(Apply(pc[k], A[k], &z[k]));
    PetscCall(VecGetArrayRead(z[k], &v[k]));
  }
  PetscCall(MatGetOwnershipRange(A[0], &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    most[0] = PetscMax(most[0], PetscAbsScalar(v[0][i - start] - v[1][i]));
    most[1] = PetscMax(most[1], PetscAbsScalar(v[1][i]));
  }
  PetscCallAllreduce(MPI_IN_PLACE, most, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  *away = most[0] / most[1];
  for (int k = 0; k < 2; ++k) {
    PetscCall(VecRestoreArrayRead(z[k], &v[k]));
    PetscCall(VecDestroy(&z[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of several processes are grids where those of one process are, and their interpolation crosses the borders; at least `least` levels are distributed */
static PetscErrorCode CheckLevels(const PC_PAMG *pamg, const PC_PAMG *one, PetscInt least, const char options[])
{
  PetscInt crossing = 0;

  PetscFunctionBeginUser;
  PetscCheck(pamg->nlevel == one->nlevel, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " levels, not %" PetscInt_FMT, options, pamg->nlevel,
             one->nlevel);
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    const PamgLevel *L = &pamg->level[l];

    PetscCheck(L->N == one->level[l].N && L->isgrid == one->level[l].isgrid, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: level %" PetscInt_FMT " has %" PetscInt_FMT " rows, not %" PetscInt_FMT "; boxes %d, not %d", options, l, L->N, one->level[l].N, L->isgrid,
               one->level[l].isgrid);
    if (!L->isgrid || !L->halo) continue;
    PetscCheck(L->border.B.dir, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: interpolation on level %" PetscInt_FMT " stays within a process", options, l);
    ++crossing;
  }
  PetscCheck(!pamg->level->halo || crossing >= least, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: interpolation crosses borders on %" PetscInt_FMT " levels only",
             options, crossing);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckCycles(Grid g, PetscBool lone, PetscBool empty, const char options[], PetscReal tol, PetscInt levels)
{
  PetscInt  n = 0;
  PetscReal away;
  PC        pc[2];
  Mat       A[2];
  Vec       v;

  PetscFunctionBeginUser;
  if (lone) g.walls = GRID_HALF;
  PetscCall(OwnRows(&g, empty, &n));
  PetscCall(Create(&g, PETSC_COMM_WORLD, n, &A[0]));
  PetscCall(Create(&g, PETSC_COMM_SELF, PETSC_DETERMINE, &A[1]));
  for (int k = 0; k < 2; ++k) {
    PetscCall(Fill(&g, lone, A[k]));
    PetscCall(MatCreateVecs(A[k], &v, NULL)); // a program has vectors before it sets up a preconditioner
    PetscCall(VecDestroy(&v));
    PetscCall(CreatePC(A[k], options, &pc[k]));
  }
  PetscCall(CheckLevels((PC_PAMG *)pc[0]->data, (PC_PAMG *)pc[1]->data, levels, options));
  for (int again = 0; again < 4; ++again) { // the first cycles after a set-up are not like the others
    if (again == 2) {
      for (int d = 0; d < 3; ++d) g.along[d] = 1 + 0.2 * d;
      for (int k = 0; k < 2; ++k) {
        PetscCall(Fill(&g, lone, A[k]));
        PetscCall(PCSetUp(pc[k]));
        PetscCheck(((PC_PAMG *)pc[k]->data)->nrefresh == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: no refresh", options);
      }
    }
    PetscCall(Distance(pc, A, &away));
    PetscCheck(away <= tol, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", cycle %d: %g from that of one process", options, g.n[0], g.n[1], g.n[2],
               again, (double)away);
  }
  for (int k = 0; k < 2; ++k) {
    PetscCall(PCDestroy(&pc[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCycles(void)
{
  static const struct {
    const char *options;
    PetscReal   tol;
    PetscInt    levels;
  } cases[] = {
    {CHEBYSHEV,                                                                      1e-10, 1},
    {CHEBYSHEV "-pc_pamg_gather 0 -pc_pamg_levels 3",                                1e-10, 2},
    {"-pc_pamg_smoother jacobi -pc_pamg_pre 1 -pc_pamg_post 1 -pc_pamg_gather 150",  1e-10, 2},
    {"-pc_pamg_smoother jacobi -pc_pamg_pre 0 -pc_pamg_cycle w -pc_pamg_gather 150", 1e-10, 2},
    {CHEBYSHEV "-pc_pamg_cycle k -pc_pamg_kcycle_threshold 0 -pc_pamg_gather 150",   1e-8,  2},
    {CHEBYSHEV "-pc_pamg_precision single -pc_pamg_gather 150",                      1e-4,  2},
    {CHEBYSHEV "-pc_pamg_precision half -pc_pamg_gather 150",                        2e-3,  2},
    {"-pc_pamg_smoother l1jacobi -pc_pamg_precision single -pc_pamg_pre 3",          1e-4,  1}
  };
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); ++c) {
    for (int empty = 0; empty < (size > 2 && c % 3 < 2 ? 2 : 1); ++empty) {
      const PetscInt planes = 8 * (size - empty);
      // clang-format off
      const Grid grids[] = {
        {{16, 11, planes},     GRID_ONE,       1,   GRID_WHOLE,   {0}},
        {{12, 13, planes + 3}, GRID_LOGNORMAL, 0.2, GRID_NEUMANN, {0}},
        {{40, planes, 1},      GRID_LOGNORMAL, 0.2, GRID_HALF,    {0}},
        {{37, planes + 1, 1},  GRID_LOGNORMAL, 0.1, GRID_NEUMANN, {0}}
      };
      // clang-format on
      char text[256];

      PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_pamg_precision double -pc_pamg_coarse_limit 30 %s", cases[c].options));
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); ++k) {
        PetscCall(CheckCycles(grids[k], PETSC_FALSE, (PetscBool)empty, text, cases[c].tol, cases[c].levels));
        if (c % 3 == 0) PetscCall(CheckCycles(grids[k], PETSC_TRUE, (PetscBool)empty, text, cases[c].tol, cases[c].levels));
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cycles are those of one process\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parts that are whole planes, gathered early or late: as many iterations as on one process */
static PetscErrorCode TestIterations(void)
{
  static const char *const options[] = {"-pc_pamg_gather 40000", "", "-pc_pamg_gather 600", "-pc_pamg_gather 40000 -pc_pamg_precision single",
                                        "-pc_pamg_precision auto"};
  // clang-format off
  static const Grid grids[] = {
    {{64, 64, 64}, GRID_ONE,     1,   GRID_HALF,    {0}},
    {{64, 64, 64}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}},
    {{64, 64, 64}, GRID_BUBBLES, 1e6, GRID_NEUMANN, {0}},
    {{256, 256, 1}, GRID_BUBBLES, 1e3, GRID_NEUMANN, {0}}
  };
  static const PetscInt most[] = {11, 14, 14, 10};
  // clang-format on

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); ++k) {
    Mat A = NULL;

    PetscCall(GridAssemble(&grids[k], &A));
    for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
      const PetscInt more = o == 4 && grids[k].jump > 1e3 ? 2 : o == 3;
      PetscInt       its;
      char           text[256];

      PetscCall(PetscSNPrintf(text, sizeof(text), "-ksp_type cg -pc_type pamg -pc_pamg_precision double " CHEBYSHEV "%s", options[o]));
      PetscCall(GridSolve(&grids[k], A, text, NULL, &its));
      PetscCheck(its <= most[k] + more, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Grid %d, %s: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, (int)k, options[o],
                 its, most[k]);
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no more iterations than on one process\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-cycles",     TestCycles    },
    {"-iterations", TestIterations}
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: cycles
    nsize: {{1 2 3 4}}
    args: -polder_min_rows_per_gpu 0 -cycles -mat_type {{aijdia aijicrs}}

  test:
    suffix: iterations
    nsize: {{1 2 4}}
    args: -polder_min_rows_per_gpu 0 -iterations -mat_type aijdia

TEST*/
