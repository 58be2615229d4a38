static char
  help[] = "The automatic deflation vectors and the iterations with them on the first process, the first two, ..., all: the same on any number.\n"
           "  -rows natural|cut|empty|dmda|columns : whole rows or lines; cut anywhere; on the even processes; of a DMDA; of one that is cut in one direction\n"
           "  -device <most> : the labels are made on the device on up to so many processes, and on the host on more\n"
           "  -levelset : the regions are those of a level set, not of the matrix\n"
           "  -noise <rows> : one in so many cells has another coefficient, which makes tiny regions\n\n";

#include "bubbles.h"
#include <petscdmda.h>
#include <petscksp.h>

typedef enum {
  ROWS_NATURAL,
  ROWS_CUT,
  ROWS_EMPTY,
  ROWS_DMDA,
  ROWS_COLUMNS
} Rows;
static const char *const RowsNames[] = {"natural", "cut", "empty", "dmda", "columns", "Rows", "ROWS_", NULL};

typedef struct {
  Bubbles   bubbles;
  Rows      rows;
  PetscInt  noise;
  PetscBool levelset;
} Problem;

/* What must not depend on the number of processes; hash: of the sets of rows, whatever their numbers */
typedef struct {
  char               view[2][512]; /* what the vectors are, and how they are stored */
  PetscInt           d, its;
  unsigned long long hash;
} Outcome;

/* Local rows of a process, by shares of 1 : 3 : 0 : 2, or all on the even processes */
static PetscInt LocalRows(const Problem *p, PetscInt N, PetscMPIInt rank, PetscMPIInt size)
{
  const PetscInt cut[] = {1, 3, 0, 2}, empty[] = {1, 0, 1, 0}, *share = p->rows == ROWS_CUT ? cut : empty;
  PetscInt       before = 0, all = 0;

  for (PetscMPIInt r = 0; r < size; ++r) all += share[r % 4];
  for (PetscMPIInt r = 0; r < rank; ++r) before += share[r % 4];
  return (PetscInt)((PetscInt64)N * (before + share[rank % 4]) / all - (PetscInt64)N * before / all);
}

static PetscErrorCode CreateGrid(const Problem *p, MPI_Comm comm, DM *da)
{
  const PetscInt n = p->bubbles.n;
  PetscMPIInt    size;
  PetscInt       along;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  along = p->rows == ROWS_COLUMNS ? size : PETSC_DECIDE;
  if (p->bubbles.dim == 2)
    PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, along, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  else
    PetscCall(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, along, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                           NULL, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

/* cell[m]: the natural number of each local row */
static PetscErrorCode CellsOfRows(const Problem *p, MPI_Comm comm, PetscInt N, DM *da, PetscInt *m, PetscInt **cell)
{
  PetscMPIInt rank, size;
  PetscInt    start, mx, my, mz;
  AO          ao;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  *da = NULL;
  if (p->rows >= ROWS_DMDA) {
    PetscCall(CreateGrid(p, comm, da));
    PetscCall(DMDAGetCorners(*da, NULL, NULL, NULL, &mx, &my, &mz));
    *m = mx * my * mz;
  } else if (p->rows == ROWS_NATURAL) {
    *m = PETSC_DECIDE;
    PetscCall(PetscSplitOwnership(comm, m, &N));
  } else *m = LocalRows(p, N, rank, size);
  PetscCallMPI(MPI_Scan(m, &start, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(PetscMalloc1(*m, cell));
  for (PetscInt i = 0; i < *m; ++i) (*cell)[i] = start - *m + i;
  if (*da) {
    PetscCall(DMDAGetAO(*da, &ao));
    PetscCall(AOPetscToApplication(ao, *m, *cell));
  }
  PetscFunctionReturn(0);
}

/* Multiplies the couplings of one cell in so many by 1e4, which keeps the matrix symmetric and its row sums */
static PetscErrorCode AddNoise(const Problem *p, Mat A, PetscInt N)
{
  const Bubbles *b = &p->bubbles;

  PetscFunctionBeginUser;
  for (PetscInt i = p->noise / 2; i < N; i += p->noise) {
    for (PetscInt d = 0, stride = 1; d < b->dim; ++d, stride *= b->n) {
      const PetscInt    ij[2] = {i, i + stride};
      const PetscScalar v[4]  = {1e4, -1e4, -1e4, 1e4};

      if (i / stride % b->n < b->n - 1) PetscCall(MatSetValues(A, 2, ij, 2, ij, v, ADD_VALUES));
    }
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(0);
}

/* The matrix, its right-hand side for a solution that depends on the cells alone, and its level set if one is asked for */
static PetscErrorCode MakeProblem(const Problem *p, MPI_Comm comm, Mat *A, Vec *b, PetscInt *m, PetscInt **cell)
{
  PetscInt     N = p->bubbles.dim == 2 ? PetscSqr(p->bubbles.n) : p->bubbles.n * PetscSqr(p->bubbles.n);
  PetscScalar *v;
  PetscMPIInt  rank;
  Mat          natural = NULL, sub;
  MatType      type;
  IS           is;
  Vec          x, phi;
  DM           da;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(BubblesAssemble(&p->bubbles, comm, &natural, NULL));
  if (p->noise) PetscCall(AddNoise(p, natural, rank ? 0 : N));
  PetscCall(CellsOfRows(p, comm, N, &da, m, cell));
  PetscCall(ISCreateGeneral(comm, *m, *cell, PETSC_USE_POINTER, &is));
  PetscCall(MatCreateSubMatrix(natural, is, is, MAT_INITIAL_MATRIX, &sub));
  PetscCall(MatGetType(natural, &type));
  PetscCall(MatConvert(sub, type, MAT_INITIAL_MATRIX, A));
  if (da) PetscCall(MatSetDM(*A, da));
  PetscCall(CreateVecs(*A, &x, b));
  PetscCall(VecDuplicate(x, &phi));
  PetscCall(VecGetArrayWrite(x, &v));
  for (PetscInt i = 0; i < *m; ++i) v[i] = PetscCosReal((PetscReal)(*cell)[i]);
  PetscCall(VecRestoreArrayWrite(x, &v));
  PetscCall(VecGetArrayWrite(phi, &v));
  for (PetscInt i = 0; i < *m; ++i) v[i] = BubblesLevelSet(&p->bubbles, (*cell)[i]);
  PetscCall(VecRestoreArrayWrite(phi, &v));
  if (p->levelset) PetscCall(PetscObjectCompose((PetscObject)*A, "levelset", (PetscObject)phi));
  PetscCall(MatMult(*A, x, *b));
  PetscCall(VecDestroy(&phi));
  PetscCall(VecDestroy(&x));
  PetscCall(ISDestroy(&is));
  PetscCall(MatDestroy(&sub));
  PetscCall(MatDestroy(&natural));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* Each set of rows is known by its smallest cell */
static PetscErrorCode HashOfVectors(PolderDeflationSpace space, PetscInt d, Vec z, PetscInt m, const PetscInt cell[], unsigned long long *hash)
{
  const PetscScalar *v;
  MPI_Comm           comm = PetscObjectComm((PetscObject)z);
  PetscInt           here, least;

  PetscFunctionBeginUser;
  *hash = 0;
  for (PetscInt k = 0; k < d; ++k) {
    PetscCall(PolderDeflationSpaceGetVector(space, k, z));
    PetscCall(VecGetArrayRead(z, &v));
    here = PETSC_MAX_INT;
    for (PetscInt i = 0; i < m; ++i) here = v[i] != 0.0 ? PetscMin(here, cell[i]) : here;
    PetscCallMPI(MPI_Allreduce(&here, &least, 1, MPIU_INT, MPI_MIN, comm));
    for (PetscInt i = 0; i < m; ++i) {
      if (v[i] != 0.0) *hash += ((unsigned long long)cell[i] * 0x9E3779B97F4A7C15ull ^ (unsigned long long)least) * 0xD1B54A32D192ED03ull;
    }
    PetscCall(VecRestoreArrayRead(z, &v));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, hash, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm));
  PetscFunctionReturn(0);
}

/* The lines of the view that name the kind, the regions and the boxes, and where the labels are */
static PetscErrorCode FirstLines(PolderDeflationSpace space, MPI_Comm comm, char line[2][512])
{
  PetscMPIInt rank;
  PetscViewer viewer;
  FILE       *file;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscViewerASCIIOpen(comm, "view.txt", &viewer));
  PetscCall(PolderDeflationSpaceView(space, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  if (rank) PetscFunctionReturn(0);
  file = fopen("view.txt", "r");
  PetscCheck(file && fgets(line[0], sizeof(line[0]), file) && fgets(line[1], sizeof(line[1]), file), PETSC_COMM_SELF, PETSC_ERR_FILE_READ,
             "Cannot read the view");
  fclose(file);
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(const Problem *p, MPI_Comm comm, Outcome *out)
{
  PolderDeflationSpace space;
  Mat                  A;
  Vec                  b, x;
  KSP                  ksp;
  PC                   pc;
  PetscInt             m, *cell;

  PetscFunctionBeginUser;
  PetscCall(MakeProblem(p, comm, &A, &b, &m, &cell));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPDCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTNS));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_CURRENT, PETSC_CURRENT, 1000));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &out->its));
  PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  PetscCall(PolderDeflationSpaceGetSize(space, &out->d));
  PetscCall(FirstLines(space, comm, out->view));
  PetscCall(HashOfVectors(space, out->d + (p->bubbles.dirichlet ? 0 : 1), x, m, cell, &out->hash)); // Neumann everywhere: one vector is left out
  PetscCall(PetscInfo(ksp, "%" PetscInt_FMT " vectors, %" PetscInt_FMT " iterations, hash %llx, %s\n", out->d, out->its, out->hash, out->view[0]));
  PetscCall(PetscFree(cell));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Compare(const Outcome *one, const Outcome *more, PetscMPIInt size)
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(one->view[0], more->view[0], &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d processes: %sone process: %s", size, more->view[0], one->view[0]);
  PetscCheck(more->d == one->d, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors on %d processes, %" PetscInt_FMT " on one", more->d, size, one->d);
  PetscCheck(more->hash == one->hash, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The vectors of %d processes are sets of other rows than those of one", size);
  PetscCheck(PetscAbsInt(more->its - one->its) <= 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations on %d processes, %" PetscInt_FMT " on one",
             more->its, size, one->its);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem     p = {.rows = ROWS_NATURAL};
  Outcome     one, more;
  PetscMPIInt rank, size;
  PetscInt    expected = -1, range[2] = {0, 1000}, two = 2, device = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&p.bubbles));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-rows", RowsNames, (PetscEnum *)&p.rows, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-noise", &p.noise, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-levelset", &p.levelset, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-expected", &expected, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-iterations", range, &two, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-device", &device, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscMPIInt k = 1; k <= size; ++k) {
    MPI_Comm comm;

    PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, rank < k ? 0 : MPI_UNDEFINED, rank, &comm));
    if (comm == MPI_COMM_NULL) continue;
    PetscCall(Solve(&p, comm, k == 1 ? &one : &more));
    if (rank == 0 && k > 1) PetscCall(Compare(&one, &more, k));
    if (rank == 0 && device)
      PetscCheck((strstr(k == 1 ? one.view[1] : more.view[1], "labels on the device") != NULL) == (k <= device), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%d processes: %s", k, k == 1 ? one.view[1] : more.view[1]);
    PetscCallMPI(MPI_Comm_free(&comm));
  }
  if (rank == 0) {
    PetscCheck(expected < 0 || one.d == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors, not %" PetscInt_FMT, one.d, expected);
    PetscCheck(one.its >= range[0] && one.its <= range[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations", one.its);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the same vectors on 1 to %d processes\n", size));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: 4
    output_file: output/deflationranks.out
    test:
      suffix: boxes
      args: -n 48 -k 0 -deflation_coarse inverse -rows {{natural cut dmda}} -expected 511 -iterations 11,13
      requires: !gpu
    test:
      suffix: boxes_dirichlet
      args: -n 48 -k 0 -dirichlet -deflation_coarse inverse -rows {{empty columns}} -expected 512 -iterations 10,12
      requires: !gpu
    test:
      suffix: regions
      args: -n 48 -deflation_coarse inverse -rows {{cut dmda}} -expected 359 -iterations 15,17
      requires: !gpu
    test:
      suffix: regions_2d
      args: -dim 2 -n 72 -deflation_coarse inverse -rows {{natural cut empty dmda columns}} -expected 77 -iterations 19,21
    test:
      suffix: boxes_2d
      args: -dim 2 -n 200 -k 0 -dirichlet -rows {{natural dmda}} -expected 625 -iterations 16,18
      requires: !gpu
    test:
      suffix: levelset
      args: -dim 2 -n 200 -levelset -rows {{cut columns}} -expected 579 -iterations 19,21
      requires: !gpu
    test:
      suffix: tiny
      args: -dim 2 -n 60 -noise 31 -rows {{cut columns}} -expected 54 -iterations 160,175

  # a process without rows sends all to the host
  testset:
    requires: gpu
    nsize: 4
    args: -mat_type aijdia
    output_file: output/deflationranks.out
    test:
      suffix: device
      args: -n 30 -rows {{natural dmda columns}} -device 4 -expected 127 -iterations 14,16
    test:
      suffix: device_cut
      args: -n 30 -rows cut -device 2 -expected 127 -iterations 14,16
    test:
      suffix: device_empty
      args: -n 30 -rows empty -device 1 -expected 127 -iterations 14,16
    test:
      suffix: device_2d
      args: -dim 2 -n 72 -dirichlet -levelset -rows {{natural columns}} -device 4 -expected 78 -iterations 19,21
    test:
      suffix: device_tiny
      args: -dim 2 -n 60 -noise 31 -rows {{natural columns}} -device 4 -expected 54 -iterations 160,175
    test:
      suffix: device_sorted
      args: -n 42 -rows {{natural dmda}} -device 4 -expected 200 -iterations 15,17

TEST*/
