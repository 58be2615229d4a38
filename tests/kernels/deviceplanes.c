static const char help[] = "Off-process entries between planes: their lists against a sort of the rows, and the device kernels against their host twins.\n\n";

#include "devicetest.h"
#include "kernels/levelgridrow.h"
#include "kernels/outer.h"
#include "kernels/planes.h"

/* A grid of which processes have planes, and the sizes of its boxes; the process has others before and after it where that is 1 */
typedef struct {
  PetscInt size[3], join[3];
  int      dir, before, after;
} Case;

static const Case cases[] = {
  {{4, 3, 6},     {1, 1, 1}, 2, 1, 1},
  {{5, 7, 4},     {1, 1, 1}, 2, 1, 1},
  {{5, 7, 5},     {1, 1, 1}, 2, 1, 0},
  {{6, 5, 8},     {1, 0, 1}, 2, 0, 1},
  {{3, 8, 4},     {0, 1, 1}, 2, 1, 1},
  {{9, 8, 1},     {1, 1, 0}, 1, 1, 1},
  {{1, 6, 1},     {0, 1, 0}, 1, 1, 1},
  {{4, 4, 4},     {1, 1, 1}, 2, 0, 0},
  {{211, 190, 6}, {1, 1, 1}, 2, 1, 1}
};

/* What the kernels write, in one memory */
typedef struct {
  PolderSparseRows O;
  PolderAggregates P;
  PetscInt        *target, *lone;
  PetscScalar     *sums;
} Lists;

static PetscErrorCode ListsCreate(const PolderPlanesLevels *L, PetscErrorCode (*make)(size_t, void *), Lists *to)
{
  const PetscInt n = L->fine.below + L->fine.above, nc = L->coarse.below + L->coarse.above;

  PetscFunctionBeginUser;
  *to = (Lists){
    .O = {.n = n, .nz = n},
      .P = {.m = n, .n = nc}
  };
  PetscCall(make(sizeof(PetscInt) * (size_t)n, &to->O.row));
  PetscCall(make(sizeof(PetscInt) * (size_t)(n + 1), &to->O.ptr));
  PetscCall(make(sizeof(PetscInt) * (size_t)n, &to->O.col));
  PetscCall(make(sizeof(PetscInt) * (size_t)nc, &to->target));
  PetscCall(make(sizeof(PetscInt) * (size_t)(nc + 2), &to->P.ptr));
  PetscCall(make(sizeof(PetscInt) * (size_t)n, &to->P.row));
  PetscCall(make(sizeof(PetscScalar) * (size_t)nc, &to->sums));
  PetscCall(make(sizeof(PetscInt), &to->lone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnHost(size_t bytes, void *to)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(bytes, (void **)to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnDevice(size_t bytes, void *to)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(bytes, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListsFree(PetscBool device, Lists *lists)
{
  void *all[] = {lists->O.row, lists->O.ptr, lists->O.col, lists->target, lists->P.ptr, lists->P.row, lists->sums, lists->lone};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(all); ++k) {
    if (device) PetscCall(PolderDeviceFree(&all[k]));
    else PetscCall(PetscFree(all[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The boxes of the rows by a sort of their numbers */
static PetscErrorCode TestSorted(const PolderPlanesLevels *L, const PetscInt agg[], const Lists *lists, PetscInt *wrong)
{
  const PetscInt n = lists->O.n;
  PetscInt      *key, *order, *work, t = -1;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n, &key, n, &order, 3 * n, &work));
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt row = lists->O.row[k];

    *wrong += lists->O.ptr[k] != k || lists->O.col[k] != k || (k && row <= lists->O.row[k - 1]) || (row >= L->fine.below && row < L->fine.n - L->fine.above);
    key[k] = agg[row];
  }
  *wrong += lists->O.ptr[n] != n;
  PolderIndexSort_Host(n, key, order, work);
  for (PetscInt k = 0; k < n; ++k) {
    if (!k || key[k] > key[k - 1]) {
      ++t;
      *wrong += lists->target[t] != key[k] || lists->P.ptr[t] != k;
    }
    *wrong += lists->P.row[k] != order[k];
  }
  *wrong += t + 1 != lists->P.n || lists->P.ptr[t + 1] != n || lists->P.ptr[t + 2] != n;
  PetscCall(PetscFree3(key, order, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of random numbers, and rows in no aggregate */
static PetscErrorCode TestValues(const PolderPlanesLevels *L, PetscInt agg[], const Lists lists[2], PolderStream stream, PetscInt *wrong)
{
  const PetscInt n    = L->fine.below + L->fine.above;
  PetscScalar   *from = NULL, *there = NULL, *got;
  PetscInt      *aggd = NULL;

  PetscFunctionBeginUser;
  PetscCall(Random(n, &from, &there));
  PolderPlanesSums_Host(&lists[0].P, from, lists[0].sums);
  PolderLaunch(PolderPlanesSums_CUDA(&lists[1].P, there, lists[1].sums, stream));
  PetscCall(PetscMalloc1(lists[0].P.n, &got));
  PetscCall(PolderDeviceToHost(got, lists[1].sums, sizeof(*got) * (size_t)lists[0].P.n));
  *wrong += Wrong(lists[0].P.n, got, lists[0].sums, 1e-14);
  for (int lone = 0; lone < 2 && n; ++lone) {
    if (lone) agg[L->fine.below ? L->fine.below - 1 : L->fine.n - 1] = L->coarse.n;
    *lists[0].lone = 0;
    PetscCall(PolderDeviceZero(lists[1].lone, sizeof(PetscInt)));
    PetscCall(PolderDeviceUpload(sizeof(*agg) * (size_t)L->fine.n, agg, &aggd));
    PolderPlanesLone_Host(&L->fine, agg, L->coarse.n, lists[0].lone);
    PolderLaunch(PolderPlanesLone_CUDA(&L->fine, aggd, L->coarse.n, lists[1].lone, stream));
    *wrong += *lists[0].lone != lone;
    PetscCall(SameIndices("a row in no aggregate", 1, lists[0].lone, lists[1].lone, wrong));
    PetscCall(PolderDeviceFree(&aggd));
  }
  PetscCall(PetscFree(got));
  PetscCall(PetscFree(from));
  PetscCall(PolderDeviceFree(&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCase(const Case *c, PolderStream stream, PetscInt wrong[3])
{
  PolderLevelGrid    G = {.n = c->size[0] * c->size[1] * c->size[2]};
  PolderPlanesLevels L;
  Lists              lists[2];
  PetscInt          *mate, *agg, plane, cplane;

  PetscFunctionBeginUser;
  for (int d = 0; d < 3; ++d) {
    G.size[d] = c->size[d];
    G.join[d] = c->join[d];
  }
  PolderLevelGridCoarsen(&G);
  plane  = PolderLevelGridStride(G.size, c->dir);
  cplane = PolderLevelGridStride(G.csize, c->dir);
  L      = (PolderPlanesLevels){
         .fine   = {G.n,  c->before * plane,  c->after * plane },
         .coarse = {G.nc, c->before * cplane, c->after * cplane},
         .wide   = G.size[0],
         .high   = c->dir > 1 ? G.size[1] : 1,
         .boxes  = G.csize[0],
         .along  = G.join[0],
         .across = c->dir > 1 ? G.join[1] : 0
  };
  PetscCall(PetscMalloc2(G.n, &mate, G.n, &agg));
  for (PetscInt i = 0; i < G.n; ++i) mate[i] = i;
  PolderLevelGridBoxes_Host(&G, mate, agg);
  PetscCall(ListsCreate(&L, OnHost, &lists[0]));
  PetscCall(ListsCreate(&L, OnDevice, &lists[1]));
  PolderPlanesEntries_Host(&L.fine, &lists[0].O);
  PolderLaunch(PolderPlanesEntries_CUDA(&L.fine, &lists[1].O, stream));
  PolderPlanesBoxes_Host(&L, lists[0].target, &lists[0].P);
  PolderLaunch(PolderPlanesBoxes_CUDA(&L, lists[1].target, &lists[1].P, stream));
  PetscCall(TestSorted(&L, agg, &lists[0], &wrong[0]));
  PetscCall(SameIndices("rows", lists[0].O.n, lists[0].O.row, lists[1].O.row, &wrong[1]));
  PetscCall(SameIndices("where rows begin", lists[0].O.n + 1, lists[0].O.ptr, lists[1].O.ptr, &wrong[1]));
  PetscCall(SameIndices("columns", lists[0].O.n, lists[0].O.col, lists[1].O.col, &wrong[1]));
  PetscCall(SameIndices("boxes", lists[0].P.n, lists[0].target, lists[1].target, &wrong[1]));
  PetscCall(SameIndices("where boxes begin", lists[0].P.n + 2, lists[0].P.ptr, lists[1].P.ptr, &wrong[1]));
  PetscCall(SameIndices("rows of boxes", lists[0].P.m, lists[0].P.row, lists[1].P.row, &wrong[1]));
  PetscCall(TestValues(&L, agg, lists, stream, &wrong[2]));
  for (int k = 0; k < 2; ++k) PetscCall(ListsFree((PetscBool)k, &lists[k]));
  PetscCall(PetscFree2(mate, agg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPlanes(void *work, PolderStream stream)
{
  PetscInt wrong[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  (void)work;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases) - (small ? 1 : 0); ++k) PetscCall(TestCase(&cases[k], stream, wrong));
  PetscCall(Report("lists by a sort", wrong[0]));
  PetscCall(Report("lists of planes", wrong[1]));
  PetscCall(Report("sums and rows in no aggregate", wrong[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestPlanes}};

/*TEST

  build: internal

  test:
    requires: gpu

  test:
    suites: memcheck racecheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/deviceplanes_1.out

TEST*/
