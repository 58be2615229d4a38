static char help[] = "Labels of the deflation spaces against a flood fill of the grid, for several matrices, numberings and sources of the level set.\n\n";

#include "labels/reference.h"
#include <petscdmda.h>
#include <petscviewer.h>
#include <unistd.h>
#include "vecs.h"

/* label[cell] on every process from the d vectors of the space; every entry must be 0 or 1 and no row in two vectors */
static PetscErrorCode Found(const Problem *p, PolderDeflationSpace space, Mat A, IS cells, PetscInt d, PetscInt label[])
{
  const PetscInt    *cell;
  const PetscScalar *v;
  Vec                z;
  PetscInt           m;
  PetscMPIInt        N;

  PetscFunctionBegin;
  PetscCall(CreateVecs(A, &z, NULL));
  PetscCall(VecGetLocalSize(z, &m));
  PetscCall(ISGetIndices(cells, &cell));
  PetscCall(PetscArrayzero(label, p->N));
  for (PetscInt k = 0; k < d; ++k) {
    PetscCall(PolderDeflationSpaceGetVector(space, k, z));
    PetscCall(VecGetArrayRead(z, &v));
    for (PetscInt i = 0; i < m; ++i) {
      PetscCheck(v[i] == 0.0 || (v[i] == 1.0 && !label[cell[i]]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Row of cell %" PetscInt_FMT " has the entry %g in vector %" PetscInt_FMT, cell[i], (double)PetscRealPart(v[i]), k);
      if (v[i] == 1.0) label[cell[i]] = k + 1;
    }
    PetscCall(VecRestoreArrayRead(z, &v));
  }
  PetscCall(ISRestoreIndices(cells, &cell));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscMPIIntCast(p->N, &N));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, label, N, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < p->N; ++i) label[i]--;
  PetscFunctionReturn(0);
}

/* The same sets; in the same order too when the rows are numbered naturally */
static PetscErrorCode Compare(const Problem *p, PetscInt d, const PetscInt expected[], const PetscInt label[])
{
  PetscInt *to, *from;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(d + 1, &to, d + 1, &from));
  for (PetscInt k = 0; k <= d; ++k) to[k] = from[k] = -2;
  for (PetscInt i = 0; i < p->N; ++i) {
    const PetscInt a = expected[i] + 1, b = label[i] + 1;

    if (to[a] == -2 && from[b] == -2) {
      to[a]   = b;
      from[b] = a;
    }
    PetscCheck(to[a] == b && from[b] == a && (p->rows != ROWS_NATURAL || a == b) && !a == !b, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Cell %" PetscInt_FMT " has label %" PetscInt_FMT ", not %" PetscInt_FMT, i, label[i], expected[i]);
  }
  PetscCall(PetscFree2(to, from));
  PetscFunctionReturn(0);
}

/* Parts of any shape: their number, sizes near the mean, and few cut edges */
static PetscErrorCode CheckParts(const Problem *p, PetscInt d, const PetscInt label[])
{
  PetscInt *size, cut = 0, edges = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(d, &size));
  for (PetscInt i = 0; i < p->N; ++i) {
    PetscCheck(label[i] >= 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Cell %" PetscInt_FMT " is in no part", i);
    size[label[i]]++;
    for (PetscInt k = 0, stride = 1; k < p->dim; ++k, stride *= p->n) {
      if (i / stride % p->n == p->n - 1) continue;
      edges++;
      cut += label[i] != label[i + stride];
    }
  }
  for (PetscInt k = 0; k < d; ++k)
    PetscCheck(size[k] * d >= p->N / 3 && size[k] * d <= p->N * 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Part %" PetscInt_FMT " has %" PetscInt_FMT " of %" PetscInt_FMT " rows", k, size[k], p->N);
  PetscCheck(cut * 100 < edges * 45, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " of %" PetscInt_FMT " edges are cut", cut, edges);
  PetscCall(PetscFree(size));
  PetscFunctionReturn(0);
}

/* Every label matters, but not the process that holds it */
static PetscErrorCode PrintHash(const Problem *p, const PetscInt label[])
{
  unsigned long long hash = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < p->N; ++i) hash = hash * 0x9E3779B97F4A7C15ull + (unsigned long long)(label[i] + 2);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "hash of the labels %llx\n", hash));
  PetscFunctionReturn(0);
}

/* Two unknowns a point: the boxes of the first and of the second are different vectors */
static PetscErrorCode CheckTwoUnknowns(Problem *p, PolderDeflationSpace space)
{
  Mat                A, M, A2;
  IS                 cells;
  Vec                z;
  const PetscScalar *v;
  PetscInt           boxes[3] = {2, 3, 2}, start, end, d = 2 * boxes[0] * boxes[1] * boxes[2];

  PetscFunctionBegin;
  PetscCall(AssembleProblem(p, &A, &cells));
  PetscCall(MatCreateMAIJ(A, 2, &M));
  PetscCall(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, &A2));
  PetscCall(PolderDeflationSpaceSetType(space, POLDERDEFLATIONSUBDOMAIN));
  PetscCall(PolderDeflationSpaceSetBoxes(space, 3, boxes));
  PetscCall(PolderDeflationSpaceSetUp(space, A2));
  PetscCall(CreateVecs(A2, &z, NULL));
  PetscCall(VecGetOwnershipRange(z, &start, &end));
  for (PetscInt k = 0; k < d; ++k) {
    PetscCall(PolderDeflationSpaceGetVector(space, k, z));
    PetscCall(VecGetArrayRead(z, &v));
    for (PetscInt row = start; row < end; ++row) {
      const PetscBool in = (PetscBool)(k == 2 * PartOfCell(p, "subdomain", 0, boxes, row / 2) + row % 2);

      PetscCheck(v[row - start] == (in ? 1.0 : 0.0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " of vector %" PetscInt_FMT " has the entry %g", row,
                 k, (double)PetscRealPart(v[row - start]));
    }
    PetscCall(VecRestoreArrayRead(z, &v));
  }
  PetscCall(VecDestroy(&z));
  PetscCall(ISDestroy(&cells));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&A2));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeLevelSet(const Problem *p, IS cells, const char bad[], Vec *phi)
{
  const PetscInt *cell;
  PetscInt        m;
  PetscMPIInt     rank, size;
  PetscScalar    *v;
  PetscBool       longer = (PetscBool)!strcmp(bad, "length");

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(ISGetLocalSize(cells, &m));
  PetscCall(ISGetIndices(cells, &cell));
  PetscCall(VecCreate(PETSC_COMM_WORLD, phi));
  PetscCall(VecSetSizes(*phi, m + (longer && rank == size - 1), PETSC_DETERMINE));
  PetscCall(VecSetFromOptions(*phi));
  PetscCall(VecGetArrayWrite(*phi, &v));
  for (PetscInt i = 0; i < m; ++i) v[i] = LevelSet(p, cell[i]);
  if (!strcmp(bad, "nan") && rank == size - 1) v[m - 1] = NAN;
  PetscCall(VecRestoreArrayWrite(*phi, &v));
  PetscCall(ISRestoreIndices(cells, &cell));
  PetscFunctionReturn(0);
}

/* By the setter, composed on the operator, or through a file in natural numbering */
static PetscErrorCode GiveLevelSet(const Problem *p, PolderDeflationSpace space, Mat A, IS cells)
{
  char        how[16] = "composed", bad[16] = "";
  Vec         phi;
  PetscViewer viewer;
  DM          da;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-give", how, sizeof(how), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bad", bad, sizeof(bad), NULL));
  PetscCall(MakeLevelSet(p, cells, bad, &phi));
  if (!strcmp(how, "set")) PetscCall(PolderDeflationSpaceSetLevelSet(space, phi));
  else if (!strcmp(how, "composed")) PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  else if (!strcmp(how, "file")) {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "phi.dat", FILE_MODE_WRITE, &viewer));
    PetscCall(MatGetDM(A, &da));
    if (!strcmp(bad, "matrix")) PetscCall(MatView(A, viewer));
    else if (da) {
      Vec global;

      PetscCall(DMCreateGlobalVector(da, &global));
      PetscCall(VecCopy(phi, global));
      PetscCall(VecView(global, viewer));
      PetscCall(VecDestroy(&global));
    } else PetscCall(VecView(phi, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    if (!strcmp(bad, "cut")) {
      PetscMPIInt rank;

      PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
      if (rank == 0)
        PetscCheck(!truncate("phi.dat", 2 * (off_t)sizeof(PetscInt) + (off_t)sizeof(PetscScalar) * p->N - 1), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
                   "Cannot cut the file");
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    }
  }
  PetscCall(VecDestroy(&phi));
  PetscFunctionReturn(0);
}

/* Labels of the user's own: cell / 7, or a bad set */
static PetscErrorCode GiveLabels(PolderDeflationSpace space, IS cells)
{
  char            bad[16] = "";
  const PetscInt *cell;
  PetscInt        m, *l;
  IS              labels;
  PetscMPIInt     rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bad", bad, sizeof(bad), NULL));
  PetscCall(ISGetLocalSize(cells, &m));
  PetscCall(ISGetIndices(cells, &cell));
  PetscCall(PetscMalloc1(m, &l));
  for (PetscInt i = 0; i < m; ++i) l[i] = cell[i] / 100;
  if (!strcmp(bad, "negative") && rank == size - 1) l[m - 1] = -2;
  if (!strcmp(bad, "length") && rank == size - 1) m--;
  PetscCall(ISRestoreIndices(cells, &cell));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, m, l, PETSC_OWN_POINTER, &labels));
  PetscCall(PolderDeflationSpaceSetLabels(space, labels));
  PetscCall(ISDestroy(&labels));
  PetscFunctionReturn(0);
}

/* New values in the same pattern: the same vectors */
static PetscErrorCode CheckAgain(const Problem *p, PolderDeflationSpace space, Mat A, IS cells, PetscInt used, PetscInt d, const PetscInt label[])
{
  PetscInt now, *again;

  PetscFunctionBegin;
  PetscCall(MatScale(A, 7));
  PetscCall(PolderDeflationSpaceSetUp(space, A));
  PetscCall(PolderDeflationSpaceGetSize(space, &now));
  PetscCheck(now == used, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors after new values, %" PetscInt_FMT " before", now, used);
  PetscCall(PetscMalloc1(p->N, &again));
  PetscCall(Found(p, space, A, cells, d, again));
  for (PetscInt i = 0; i < p->N && d; ++i)
    PetscCheck(again[i] == label[i], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Cell %" PetscInt_FMT " has label %" PetscInt_FMT " after new values, %" PetscInt_FMT " before", i, again[i], label[i]);
  PetscCall(PetscFree(again));
  PetscFunctionReturn(0);
}

/* One space for the problem of the options, against the reference */
static PetscErrorCode CheckSpace(Problem *p, PolderDeflationSpace space)
{
  PolderDeflationSpaceType type;
  Mat                      A;
  IS                       cells;
  PetscInt                 expected = -1, d = 0, used, *label, *reference;
  PetscBool                labels = PETSC_FALSE, parts = PETSC_FALSE, hash = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-expected", &expected, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-labels", &labels, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-parts", &parts, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-hash", &hash, NULL));
  PetscCall(AssembleProblem(p, &A, &cells));
  if (labels) PetscCall(GiveLabels(space, cells));
  else PetscCall(GiveLevelSet(p, space, A, cells));
  PetscCall(PolderDeflationSpaceSetUp(space, A));
  PetscCall(PolderDeflationSpaceGetSize(space, &used));
  PetscCall(PolderDeflationSpaceGetType(space, &type));
  PetscCheck(used == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors, expected %" PetscInt_FMT, used, expected);
  PetscCall(PetscMalloc2(p->N, &label, p->N, &reference));
  if (parts || hash) {
    d = used + 1; // Neumann everywhere: one vector is left out
    PetscCall(Found(p, space, A, cells, d, label));
    if (parts) PetscCall(CheckParts(p, d, label));
    else PetscCall(PrintHash(p, label));
  } else if (used) {
    PetscCall(Reference(p, type, reference, &d));
    PetscCall(Found(p, space, A, cells, d, label));
    PetscCall(Compare(p, d, reference, label));
  }
  PetscCall(CheckAgain(p, space, A, cells, used, d, label));
  PetscCall(PetscFree2(label, reference));
  PetscCall(ISDestroy(&cells));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem              p;
  PolderDeflationSpace space;
  PetscBool            two = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ProblemFromOptions(&p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-two_unknowns", &two, NULL));
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_WORLD, &space));
  PetscCall(PolderDeflationSpaceSetFromOptions(space));
  if (two) PetscCall(CheckTwoUnknowns(&p, space));
  else PetscCall(CheckSpace(&p, space));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "labels agree\n"));
  PetscCall(PolderDeflationSpaceDestroy(&space));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 3 4}}
    output_file: output/labels.out
    test:
      suites: valgrind(+2) memcheck(+1)
      suffix: eight_bubbles
      args: -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 15
    test:
      suffix: nine_bubbles
      args: -centre -give set -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 23
    test:
      suffix: nine_bubbles_64
      args: -centre -rows dmda -deflation_space levelset_subdomain -deflation_boxes 4,4,4 -expected 135
    test:
      suffix: levelset
      args: -centre -deflation_space levelset -expected 9

  testset:
    nsize: {{1 3}}
    output_file: output/labels.out
    test:
      suffix: empty_process
      args: -rows empty -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,3,2 -expected 19
    test:
      suffix: empty_process_again
      args: -rows empty -dim 2 -give none -deflation_grid 16,16 -deflation_count 5 -deflation_space {{stripe plane}} -expected 4
    test:
      suffix: empty_process_parts
      args: -rows empty -dim 2 -n 24 -field constant -give none -deflation_space partition -deflation_count 12 -parts -expected 11
    test:
      suffix: empty_process_levelset
      args: -rows empty -centre -deflation_space levelset -expected 9
    test:
      suffix: layers
      args: -field layers -inside 1e-6 -give none -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,1,1 -expected 9
    test:
      suffix: stripe
      args: -dim 2 -deflation_grid 16,16 -deflation_space stripe -expected 31
    test:
      suffix: plane
      args: -deflation_grid 16,16,16 -deflation_space plane -deflation_count 7 -expected 6
    test:
      suffix: nine_bubbles_512
      args: -centre -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 8,8,8 -expected 583
    test:
      suffix: file
      args: -centre -give file -deflation_levelset phi.dat -rows {{natural dmda}} -deflation_space levelset -expected 9
    test:
      suffix: thesis
      args: -centre -deflation_space levelset -deflation_levelset_vectors thesis -expected 8
    test:
      suffix: thesis_regions
      args: -n 20 -radius 0.15 -centre -give none -deflation_space levelset -deflation_levelset_vectors thesis -expected 8
    test:
      suffix: regions
      args: -n 20 -radius 0.15 -centre -give none -deflation_space levelset -inside {{1e2 1e3 1e6 1e-2 1e-3 1e-6}} -expected 9
    test:
      suffix: regions_2d
      args: -dim 2 -n 40 -centre -deflation_levelset auto -rows {{natural shuffled}} -deflation_space levelset -inside {{1e2 1e-2}} -expected 5
    test:
      suffix: regions_anisotropic
      args: -n 20 -radius 0.15 -aniso {{1e-3 1e3}} -give none -deflation_space levelset -inside 1e3 -expected 8
    test:
      suffix: anisotropic
      args: -field constant -aniso {{1e-4 1e4}} -give none -deflation_space levelset -expected 0
    test:
      suffix: shown
      args: -centre -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 23
    test:
      suffix: shown_boxes
      args: -deflation_space subdomain -deflation_boxes 2,3,2 -expected 11
    test:
      suffix: shown_runs
      args: -dim 2 -deflation_count 5 -deflation_space {{stripe plane}} -expected 4
    test:
      suffix: partition
      args: -dim 2 -n 24 -field constant -give none -deflation_space partition -deflation_count 12 -parts -expected 11
    test:
      suffix: auto_boxes
      args: -dim 2 -n 24 -field constant -give none -deflation_space auto -deflation_count 12 -parts -expected 8

  test:
    suffix: tail
    nsize: 4
    args: -rows tail -dim 2 -n 26 -field constant -give none -deflation_space auto -deflation_count 12 -parts -expected 11
    output_file: output/labels.out

  test:
    suffix: noise
    nsize: {{1 2 3 4}}
    args: -field noise -give none -deflation_grid 16,16,16 -hash -expected 46

  test:
    suffix: two_unknowns
    nsize: {{1 3}}
    args: -n 7 -deflation_grid 7,7,7 -two_unknowns
    output_file: output/labels.out

  test:
    suffix: partition_large
    args: -dim 2 -n 40 -field constant -give none -deflation_space partition -parts -deflation_count 12 -expected 11
    output_file: output/labels.out

  test:
    suffix: partition_nested
    args: -dim 2 -n 40 -field constant -give none -deflation_space partition -parts -deflation_count 80 -expected 79
    output_file: output/labels.out

  test:
    suffix: partition_shuffled
    args: -dim 2 -n 24 -rows shuffled -field constant -give none -deflation_space {{partition auto}} -deflation_count 12 -parts -expected 11
    output_file: output/labels.out

  test:
    suffix: user
    nsize: {{1 2 3 4}}
    args: -n 10 -labels -deflation_space user -rows {{natural empty}} -expected 9
    output_file: output/labels.out

  # labels made on the device
  testset:
    requires: cuda
    args: -mat_type {{aijdia aijhec}} -vec_type cuda -use_gpu_aware_mpi 0
    output_file: output/labels.out
    test:
      suffix: device_nine_bubbles
      args: -centre -give {{set composed}} -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 23
    test:
      suffix: device_levelset
      args: -centre -deflation_space levelset -expected 9
    test:
      suffix: device_thesis
      args: -n 20 -radius 0.15 -centre -give {{set none}} -deflation_space levelset -deflation_levelset_vectors thesis -expected 8
    test:
      suffix: device_regions
      args: -n 20 -radius 0.15 -centre -give none -deflation_space levelset -inside {{1e3 1e-3}} -expected 9
    test:
      suffix: device_shown
      args: -deflation_space subdomain -deflation_boxes 2,3,2 -expected 11
    test:
      suffix: device_stripe
      args: -dim 2 -deflation_grid 16,16 -deflation_space stripe -expected 31
    test:
      suffix: device_plane
      args: -deflation_grid 16,16,16 -deflation_space plane -deflation_count 7 -expected 6
    test:
      suffix: device_partition
      args: -dim 2 -n 24 -field constant -give none -deflation_space partition -deflation_count 12 -parts -expected 11
    test:
      suffix: device_auto_boxes
      args: -dim 2 -n 24 -field constant -give none -deflation_space auto -deflation_count 12 -parts -expected 8
    test:
      suffix: device_user
      args: -n 10 -labels -deflation_space user -expected 9

  # and those of several devices
  testset:
    requires: gpu
    nsize: {{2 4}}
    args: -mat_type aijdia
    output_file: output/labels.out
    test:
      suffix: devices_nine_bubbles
      args: -centre -rows {{natural dmda}} -deflation_space levelset_subdomain -deflation_boxes 4,4,4 -expected 135
    test:
      suffix: devices_levelset
      args: -centre -give {{set file}} -deflation_levelset phi.dat -deflation_space levelset -expected 9
    test:
      suffix: devices_thesis
      args: -n 20 -radius 0.15 -centre -give none -deflation_space levelset -deflation_levelset_vectors thesis -expected 8
    test:
      suffix: devices_regions
      args: -dim 2 -n 40 -centre -deflation_levelset auto -rows {{natural shuffled}} -deflation_space levelset -inside {{1e2 1e-2}} -expected 5
    test:
      suffix: devices_anisotropic
      args: -n 20 -radius 0.15 -aniso 1e3 -give none -deflation_space levelset -inside 1e3 -expected 8
    test:
      suffix: devices_shown
      args: -deflation_space subdomain -deflation_boxes 2,3,2 -expected 11
    test:
      suffix: devices_runs
      args: -dim 2 -deflation_count 5 -deflation_space {{stripe plane}} -expected 4
    test:
      suffix: devices_tail
      args: -rows tail -dim 2 -n 26 -field constant -give none -deflation_space auto -deflation_count 12 -parts -expected 11
    test:
      suffix: devices_user
      args: -n 10 -labels -deflation_space user -rows {{natural empty}} -expected 9

  test:
    suffix: devices_noise
    requires: gpu
    nsize: {{2 3}}
    args: -mat_type aijdia -field noise -give none -deflation_grid 16,16,16 -hash -expected 46
    output_file: output/labels_noise.out

  test:
    suffix: device_noise
    requires: cuda
    args: -mat_type aijdia -vec_type cuda -use_gpu_aware_mpi 0 -field noise -give none -deflation_grid 16,16,16 -hash -expected 46
    output_file: output/labels_noise.out

  testset:
    requires: cuda
    args: -mat_type aijdia -vec_type cuda -use_gpu_aware_mpi 0
    test:
      suffix: device_bad_levelset_nan
      args: -deflation_space levelset -bad nan
      fails: The level set has values that are not a number
    test:
      suffix: device_bad_labels_negative
      args: -n 10 -labels -deflation_space user -bad negative
      fails: A deflation label is below -1

  # bad input, where it is bad on one process only; no process may be left waiting
  testset:
    nsize: 3
    test:
      suffix: bad_labels_length
      args: -n 10 -labels -deflation_space user -bad length
      fails: one entry for each local row
    test:
      suffix: bad_labels_negative
      args: -n 10 -labels -deflation_space user -bad negative
      fails: A deflation label is below -1
    test:
      suffix: bad_levelset_nan
      args: -deflation_space levelset -bad nan
      fails: The level set has values that are not a number
    test:
      suffix: bad_levelset_length
      args: -deflation_space levelset -bad length
      fails: The level set must have the layout of the matrix
    test:
      suffix: bad_file_missing
      args: -deflation_space levelset -deflation_levelset nowhere.dat -give none
      fails: there is no file nowhere.dat
    test:
      suffix: bad_file_kind
      args: -deflation_space levelset -deflation_levelset phi.dat -give file -bad matrix
      fails: phi.dat is not a PETSc binary file with a vector
    test:
      suffix: bad_file_cut
      args: -deflation_space levelset -deflation_levelset phi.dat -give file -bad cut
      fails: phi.dat is cut short
    test:
      suffix: bad_file_length
      args: -deflation_space levelset -deflation_levelset phi.dat -give file -bad length
      fails: The level set in phi.dat has 4097 values, the matrix has 4096 rows
    test:
      suffix: bad_count
      args: -n 10 -deflation_space partition -deflation_count 1001
      fails: asks for more vectors than the matrix has rows (1000)
    test:
      suffix: bad_stripes
      args: -n 10 -deflation_grid 10,10,10 -deflation_space stripe -deflation_count 1001
      fails: is more than the 1000 points of the grid
    test:
      suffix: bad_boxes_fit
      args: -n 10 -deflation_grid 10,10,10 -deflation_space subdomain -deflation_boxes 2,11,2
      fails: 11 boxes do not fit the 10 grid points of direction 1
    test:
      suffix: bad_boxes_dimension
      args: -n 10 -deflation_grid 10,10,10 -deflation_space subdomain -deflation_boxes 2,2
      fails: -deflation_boxes has 2 values but the grid has 3 dimensions
    test:
      suffix: bad_boxes_grid
      args: -n 10 -rows shuffled -deflation_space {{subdomain levelset_subdomain auto}} -deflation_boxes 2,2,2
      fails: a structured grid, and the matrix shows none: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space partition
    test:
      suffix: bad_grid
      args: -n 10 -deflation_grid 10,10,11 -deflation_space plane
      fails: 1100 points, which do not divide the 1000 rows

TEST*/
