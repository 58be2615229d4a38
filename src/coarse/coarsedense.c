/* E as a dense matrix on the device of every process, from its entries there or on the host. */
#include "coarseimpl.h"
#include "core/peers.h"
#include "core/gather.h"
#include "kernels/vec.h"

/*
  E is dense on the device if the vectors are, unless E needs the excess, is distributed, or is too large for a dense matrix that the options do not request.
  No option is about an E that is not symmetric, and none of its products reads columns: those with the transpose are left to a nested KSP
*/
PetscBool PolderCoarseWantsDense(PolderCoarse c, PetscInt d)
{
  if (!c->place->device || c->onlyhost || c->type == COARSE_KSP || c->transposes) return PETSC_FALSE;
  return (PetscBool)((c->chosen && !c->general) || d <= PolderCoarseMostDense(c));
}

/* Set-up from the entries of E in device memory */
static PetscErrorCode PolderCoarseFromEntries_Private(PolderCoarse c, const PolderCoarseEntries *entries)
{
  PolderCoarseDemands demands = {
    .general  = c->general,
    .cholesky = PolderCoarseFactorsDense(c),
    .singular = POLDER_COARSE_SINGULAR,
    .loss     = POLDER_COARSE_LOSS,
  };

  PetscFunctionBegin;
  if (c->general) PetscCall(PetscFree(c->excess)); // it judges pivots of a symmetric E
  demands.zero = c->excess ? 0 : POLDER_COARSE_ZERO;
  PetscCall(PolderCoarseDeviceSetUp(&c->device, entries, &demands, &c->report));
  c->bad = c->report.bad;
  if (c->bad) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)(c->d + POLDER_COARSE_RIDERS), &c->d1));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)c->d, &c->d2));
  c->solver    = &PolderCoarseDense;
  c->nleftzero = c->report.nzero;
  c->nleftnull = c->report.nnull;
  c->nleftdep  = c->report.ndep;
  c->cond      = c->report.cond;
  c->resid     = c->report.resid;
  PetscCall(PolderCoarseInfo(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same from entries on the host */
static PetscErrorCode PolderCoarseFromHost_Private(PolderCoarse c, PetscInt nz, const PetscInt64 key[], const PetscScalar val[], PetscBool nullspace)
{
  PetscInt64  *dkey;
  PetscInt    *n;
  PetscScalar *dval;

  PetscFunctionBegin;
  PetscCall(PolderDeviceUpload(sizeof(nz), &nz, &n));
  PetscCall(PolderDeviceUpload(sizeof(*key) * (size_t)nz, key, &dkey));
  PetscCall(PolderDeviceUpload(sizeof(*val) * (size_t)nz, val, &dval));
  PetscCall(PolderCoarseFromEntries_Private(c, &(PolderCoarseEntries){.d = c->d, .n = n, .key = dkey, .val = dval, .nullspace = nullspace}));
  PetscCall(PolderDeviceFree(&dval));
  PetscCall(PolderDeviceFree(&dkey));
  PetscCall(PolderDeviceFree(&n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetUp_Dense(PolderCoarse c, PetscBool nullspace)
{
  PetscInt64 *key;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(c->ei[c->d], &key));
  for (PetscInt i = 0; i < c->d; ++i) {
    for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) key[k] = (PetscInt64)i * c->d + c->ej[k];
  }
  PetscCall(PolderCoarseFromHost_Private(c, c->ei[c->d], key, c->ev, nullspace));
  PetscCall(PetscFree(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Has rounding the say in the inverse on the device? Dependent columns are then an artefact, unless there is just the one that a kernel of constants explains
*/
static PetscBool PolderCoarseIsNoisy(PolderCoarse c)
{
  if (c->bad || !c->excess) return PETSC_FALSE;
  return (PetscBool)(c->cond * PETSC_MACHINE_EPSILON >= POLDER_COARSE_SINGULAR || c->nleftdep > 1 || (c->nleftdep && !PolderCoarseSumsVanish(c)));
}

/* Entries of E on the host, key = i * d + j ascending */
typedef struct {
  PetscInt     nz;
  PetscInt64  *key;
  PetscScalar *val;
} PolderCoarseList;

static PetscErrorCode PolderCoarseListTake_Private(PetscInt d, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PolderCoarseList *list)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(&list->nz, n, sizeof(*n)));
  PetscCall(PetscMalloc2(list->nz, &list->key, list->nz, &list->val));
  PetscCall(PolderDeviceToHost(list->key, key, sizeof(*key) * (size_t)list->nz));
  PetscCall(PolderDeviceToHost(list->val, val, sizeof(*val) * (size_t)list->nz));
  while (list->nz && list->key[list->nz - 1] >= (PetscInt64)d * d) --list->nz; // drops unused entries
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum <- a + b */
static PetscErrorCode PolderCoarseListAdd_Private(const PolderCoarseList *a, const PolderCoarseList *b, PolderCoarseList *sum)
{
  PetscInt i = 0, j = 0, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(a->nz + b->nz, &sum->key, a->nz + b->nz, &sum->val));
  while (i < a->nz || j < b->nz) {
    const PetscBool first  = (PetscBool)(j >= b->nz || (i < a->nz && a->key[i] <= b->key[j])),
                    second = (PetscBool)(i >= a->nz || (j < b->nz && b->key[j] <= a->key[i]));

    sum->key[n] = first ? a->key[i] : b->key[j];
    sum->val[n] = (first ? a->val[i] : 0) + (second ? b->val[j] : 0);
    i += first;
    j += second;
    ++n;
  }
  sum->nz = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The list of each process becomes that of E: the sum of all in the order of the ranks */
static PetscErrorCode PolderCoarseListSum_Private(MPI_Comm comm, PolderCoarseList *list)
{
  PolderCoarseList part, sum = {0}, more;
  PetscInt         nz;
  PetscInt64      *key;
  PetscScalar     *val;

  PetscFunctionBegin;
  PetscCall(PolderGatherAll(comm, list->nz, list->key, sizeof(*key), &nz, &key));
  PetscCall(PolderGatherAll(comm, list->nz, list->val, sizeof(*val), &nz, &val));
  for (PetscInt k = 0; k < nz; k += part.nz) {
    part = (PolderCoarseList){.nz = 1, .key = key + k, .val = val + k};
    while (k + part.nz < nz && key[k + part.nz] > key[k + part.nz - 1]) ++part.nz; // where one ends, the keys of the next may be larger: they are disjoint then
    PetscCall(PolderCoarseListAdd_Private(&sum, &part, &more));
    PetscCall(PetscFree2(sum.key, sum.val));
    sum = more;
  }
  PetscCall(PetscFree(key));
  PetscCall(PetscFree(val));
  PetscCall(PetscFree2(list->key, list->val));
  *list = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Set-up on the device; c->onlyhost: rounding has the say there */
static PetscErrorCode PolderCoarseTryDense_Private(PolderCoarse c, const PolderCoarseEntries *own)
{
  const PetscInt   d = own->d;
  PolderCoarseList list;
  PetscMPIInt      size;

  PetscFunctionBegin;
  PetscCall(PolderCoarseReset(c));
  c->nl = d;
  PetscCall(PetscMalloc1(d, &c->gl));
  for (PetscInt k = 0; k < d; ++k) c->gl[k] = k;
  PetscCall(PetscCalloc3(d + POLDER_COARSE_RIDERS, &c->b, d, &c->x, d, &c->y));
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  if (size == 1) PetscCall(PolderCoarseFromEntries_Private(c, own));
  else {
    PetscCall(PolderCoarseListTake_Private(d, own->n, own->key, own->val, &list));
    PetscCall(PolderCoarseListSum_Private(c->comm, &list));
    PetscCall(PolderCoarseFromHost_Private(c, list.nz, list.key, list.val, own->nullspace));
    PetscCall(PetscFree2(list.key, list.val));
  }
  c->onlyhost = PolderCoarseIsNoisy(c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetUpDevice(PolderCoarse c, PetscInt d, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PetscBool nullspace)
{
  PetscInt        *gl, *ptr, *col;
  PolderCoarseList list;

  PetscFunctionBegin;
  c->d        = d;
  c->onlyhost = PETSC_FALSE;
  nullspace   = PolderCoarseLeavesLast(c, nullspace);
  if (PolderCoarseWantsDense(c, d)) {
    PetscCall(PolderCoarseTryDense_Private(c, &(PolderCoarseEntries){.d = d, .n = n, .key = key, .val = val, .nullspace = nullspace}));
    if (!c->onlyhost) {
      PetscCall(PetscFree(c->excess));
      c->setup = (PetscBool)!c->bad;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PolderCoarseListTake_Private(d, n, key, val, &list));
  PetscCall(PetscMalloc3(list.nz, &col, d, &gl, d + 1, &ptr));
  for (PetscInt i = 0, k = 0; i < d; ++i) {
    gl[i]  = i;
    ptr[i] = k;
    for (; k < list.nz && list.key[k] / d == i; ++k) col[k] = (PetscInt)(list.key[k] % d);
  }
  ptr[d] = list.nz;
  PetscCall(PolderCoarseSetUp(c, d, d, gl, ptr, col, list.val, nullspace));
  PetscCall(PetscFree3(col, gl, ptr));
  PetscCall(PetscFree2(list.key, list.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with host arrays and E on the device */
static PetscErrorCode PolderCoarseSolve_Dense(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(c->b, c->d));
  for (PetscInt k = 0; k < c->nl; ++k) c->b[c->gl[k]] = a1[k];
  PetscCall(PolderCoarseReduce(c));
  PetscCall(PolderDeviceFromHost(c->d1, c->b, sizeof(*c->b) * (size_t)c->d));
  PetscCall(PolderCoarseDeviceSolve(c->device, c->d1, c->d2, PETSC_FALSE));
  PetscCall(PolderDeviceToHost(c->x, c->d2, sizeof(*c->x) * (size_t)c->d));
  if (c->riders) *c->riders->energy = PolderDot_Host(c->d, c->b, c->x);
  for (PetscInt k = 0; k < c->nl; ++k) a2[k] = c->x[c->gl[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* d1 <- the sum of a1 over the processes, and the riders' sums: on their devices, or else on the host */
static PetscErrorCode PolderCoarseSumDevice_Private(PolderCoarse c, const PetscScalar a1[])
{
  const PolderCoarseRiders *riders = c->riders;
  const PetscInt            n      = riders ? riders->n : 0;

  PetscFunctionBegin;
  PetscCall(PolderDeviceToDevice(c->d1, a1, sizeof(*c->d1) * (size_t)c->d));
  if (n) PetscCall(PolderDeviceToDevice(c->d1 + c->d, riders->sum, sizeof(*c->d1) * (size_t)n));
  PetscCall(PolderCommSum(c->comm, c->d + n, c->d1, c->b));
  if (n) PetscCall(PolderDeviceToDevice(riders->sum, c->d1 + c->d, sizeof(*c->d1) * (size_t)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with device arrays */
static PetscErrorCode PolderCoarseSolveDevice_Dense(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[], PetscBool early)
{
  const PetscScalar *b = a1;
  PetscMPIInt        size;
  PolderStream       stream;
  void              *work;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  if (size > 1) {
    PetscCall(PolderCoarseSumDevice_Private(c, a1));
    b = c->d1;
  }
  PetscCall(PolderCoarseDeviceSolve(c->device, b, a2, size > 1 ? PETSC_FALSE : early));
  if (!c->riders) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderDot_CUDA(c->d, b, a2, c->riders->energy, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseView_Dense(PolderCoarse c, PetscViewer viewer)
{
  PetscLogDouble bytes;

  PetscFunctionBegin;
  PetscCall(PolderCoarseDeviceGetBytes(c->device, &bytes));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: %s on the device of every process, %g bytes%s\n",
                                   PolderCoarseFactorsDense(c) ? "Cholesky factor"
                                                               : (c->report.refined ? "explicit inverse with one step of refinement" : "explicit inverse"),
                                   bytes, c->general ? "; E is not symmetric" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCoarseSolver PolderCoarseDense = {.solve = PolderCoarseSolve_Dense, .solvedevice = PolderCoarseSolveDevice_Dense, .view = PolderCoarseView_Dense};
