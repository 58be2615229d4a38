/* One label a row for the piecewise-constant deflation spaces; the kinds that follow a level set are in deflationauto.c. */
#include "deflationlabels.h"
#include "core/gather.h"
#include "kernels/labels.h"
#include <petscdmda.h>
#include <petsc/private/hashmapij.h>

static PetscErrorCode PolderGridFromDM(DM dm, Mat A, const PolderCSR *csr, PolderGrid *grid)
{
  PetscBool da;
  PetscInt  here, all;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (!da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, &grid->dim, &grid->n[0], &grid->n[1], &grid->n[2], NULL, NULL, NULL, &grid->dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, &grid->s[0], &grid->s[1], &grid->s[2], &grid->m[0], &grid->m[1], &grid->m[2]));
  /* the DM of another level, or of a block of A */
  here = grid->dof * grid->m[0] * grid->m[1] * grid->m[2] != csr->m;
  PetscCallAllreduce(&here, &all, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
  if (all) grid->dim = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationGetGrid(PolderDeflationSpace s, Mat A, PolderGrid *grid)
{
  DM        dm     = s->dm;
  PolderCSR csr    = {0};
  PetscInt  points = 1;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(grid, sizeof(*grid)));
  PetscCall(MatGetLocalSize(A, &csr.m, NULL));
  PetscCall(MatGetOwnershipRange(A, &csr.rstart, NULL));
  PetscCall(MatGetSize(A, &csr.M, NULL));
  for (int i = 0; i < 3; ++i) grid->n[i] = grid->m[i] = 1;
  grid->dof = 1;
  if (!dm) PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(PolderGridFromDM(dm, A, &csr, grid));
  if (grid->dim || !s->griddim) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < 3; ++i) {
    grid->s[i] = 0;
    grid->n[i] = grid->m[i] = i < s->griddim ? s->grid[i] : 1;
    PetscCheck(grid->n[i] > 0 && grid->n[i] <= PETSC_MAX_INT / points, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "-deflation_grid: direction %" PetscInt_FMT " has %" PetscInt_FMT " points", i, grid->n[i]);
    points *= grid->n[i];
  }
  PetscCheck(csr.M % points == 0, s->comm, PETSC_ERR_ARG_SIZ, "-deflation_grid has %" PetscInt_FMT " points, which do not divide the %" PetscInt_FMT " rows of the matrix", points, csr.M);
  grid->dim     = s->griddim;
  grid->dof     = csr.M / points;
  grid->rstart  = csr.rstart;
  grid->natural = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsMalloc(const PolderCSR *csr, PetscInt n, PetscInt **a)
{
  PetscFunctionBegin;
  if (csr->device) PetscCall(PolderDeviceMalloc(sizeof(**a) * (size_t)n, a));
  else PetscCall(PetscMalloc1(n, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsFree(const PolderCSR *csr, PetscInt **a)
{
  PetscFunctionBegin;
  if (csr->device) PetscCall(PolderDeviceFree(a));
  else PetscCall(PetscFree(*a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsPut(const PolderCSR *csr, PetscInt n, const PetscInt values[], PetscInt **there)
{
  PetscFunctionBegin;
  PetscCall(PolderRowsMalloc(csr, n, there));
  if (csr->device) PetscCall(PolderDeviceFromHost(*there, values, sizeof(*values) * (size_t)n));
  else PetscCall(PetscArraycpy(*there, values, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsTake(const PolderCSR *csr, PetscInt n, PetscInt values[], PetscInt **there)
{
  PetscFunctionBegin;
  if (csr->device) PetscCall(PolderDeviceToHost(values, *there, sizeof(*values) * (size_t)n));
  else PetscCall(PetscArraycpy(values, *there, n));
  PetscCall(PolderRowsFree(csr, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGridBoxes(const PolderGrid *grid, const PolderCSR *csr, const PetscInt boxes[3], PetscInt part[])
{
  PetscInt lo[3], hi[3];

  PetscFunctionBegin;
  for (int d = 0; d < 3; ++d) {
    lo[d] = grid->natural ? 0 : grid->s[d];
    hi[d] = grid->natural ? grid->n[d] : grid->s[d] + grid->m[d];
  }
  PolderRowsRun(csr, PolderGridBoxes, csr->m, grid->natural ? grid->rstart : 0, grid->dof, lo, hi, grid->n, boxes, part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* count runs of points in natural order */
static PetscErrorCode PolderGridStripes(const PolderGrid *grid, const PolderCSR *csr, PetscInt count, PetscInt part[])
{
  PetscFunctionBegin;
  PetscCall(PolderGridBoxes(grid, csr, grid->n, part)); // a box a point
  PolderRowsRun(csr, PolderGridRuns, csr->m, grid->dof, (PetscInt64)grid->n[0] * grid->n[1] * grid->n[2], count, part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt a, b, id;
} PolderKey;

static int PolderKeyCompare(const void *x, const void *y)
{
  const PolderKey *p = (const PolderKey *)x, *q = (const PolderKey *)y;

  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return (p->b > q->b) - (p->b < q->b);
}

/* Numbers the keys of all processes in their order: id of each local key becomes its number */
static PetscErrorCode PolderKeysNumber(MPI_Comm comm, PetscInt n, PolderKey key[], PetscInt *d)
{
  PetscInt   total, nu = 0;
  PolderKey *all, *found;

  PetscFunctionBegin;
  PetscCall(PolderGatherAll(comm, n, key, sizeof(*key), &total, &all));
  if (total) qsort(all, (size_t)total, sizeof(PolderKey), PolderKeyCompare);
  for (PetscInt k = 0; k < total; ++k) {
    if (!nu || PolderKeyCompare(&all[nu - 1], &all[k])) all[nu++] = all[k];
  }
  for (PetscInt k = 0; k < n; ++k) {
    found     = (PolderKey *)bsearch(&key[k], all, (size_t)nu, sizeof(PolderKey), PolderKeyCompare);
    key[k].id = (PetscInt)(found - all);
  }
  PetscCall(PetscFree(all));
  *d = nu;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers by a table of all pairs, or by sorting those that occur when the table would be too long */
static PetscErrorCode PolderLabelsCompress_Device(PetscInt m, PetscInt64 npart, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt label[], PetscInt *d)
{
  const PetscInt64 pairs = npart * ncomp, longest = PetscMin(PetscMax(4 * (PetscInt64)m, 1 << 20), PETSC_MAX_INT - 1);
  PetscInt        *number, count[2];
  PetscInt64      *key, *sorted;
  size_t           bytes;
  void            *work;
  PolderStream     stream;

  PetscFunctionBegin;
  *d = 0;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  bytes = pairs <= longest ? PolderWorkSize(PolderKeysScanWork_CUDA((PetscInt)pairs + 1)) : PolderWorkSize(PolderKeysSortWork_CUDA(m));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  if (pairs <= longest) {
    PetscCall(PolderDeviceMalloc(sizeof(*number) * ((size_t)pairs + 1), &number));
    PetscCall(PolderDeviceZero(number, sizeof(*number) * ((size_t)pairs + 1)));
    PolderLaunch(PolderKeysMark_CUDA(m, part, ncomp, comp, number, stream));
    PolderLaunch(PolderKeysScan_CUDA((PetscInt)pairs + 1, number, work, bytes, stream));
    PolderLaunch(PolderKeysLabel_CUDA(m, part, ncomp, comp, number, label, stream));
    PetscCall(PolderDeviceToHost(d, number + pairs, sizeof(*d)));
  } else {
    PetscCall(PolderDeviceMalloc(sizeof(count), &number));
    PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)m, &key));
    PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)m, &sorted));
    PolderLaunch(PolderKeysSort_CUDA(m, part, npart, ncomp, comp, key, sorted, number, work, bytes, stream));
    PolderLaunch(PolderKeysFind_CUDA(m, part, npart, ncomp, comp, sorted, number, label, number + 1, stream));
    PetscCall(PolderDeviceToHost(count, number, sizeof(count)));
    *d = count[1];
    PetscCall(PolderDeviceFree(&sorted));
    PetscCall(PolderDeviceFree(&key));
  }
  PetscCall(PolderDeviceFree(&number));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderLabelsCompress_Host(MPI_Comm comm, PetscInt m, const PetscInt part[], const PetscInt comp[], PetscInt label[], PetscInt *d)
{
  PetscHMapIJ    map;
  PetscHashIJKey hash, last = {-1, -1};
  PolderKey     *key;
  PetscInt       n = 0, room = 64, id = -1;

  PetscFunctionBegin;
  PetscCall(PetscHMapIJCreate(&map));
  PetscCall(PetscMalloc1(room, &key));
  for (PetscInt i = 0; i < m; ++i) {
    hash.i = part ? part[i] : 0;
    hash.j = comp ? comp[i] : 0;
    if (hash.i == last.i && hash.j == last.j) {
      label[i] = id;
      continue;
    }
    last = hash;
    id   = -1;
    if (hash.i >= 0 && hash.j >= 0) {
      PetscCall(PetscHMapIJGet(map, hash, &id));
      if (id < 0) {
        if (n == room) {
          room *= 2;
          PetscCall(PetscRealloc((size_t)room * sizeof(*key), &key));
        }
        id         = n++;
        key[id].a  = hash.i;
        key[id].b  = hash.j;
        key[id].id = id;
        PetscCall(PetscHMapIJSet(map, hash, id));
      }
    }
    label[i] = id;
  }
  PetscCall(PetscHMapIJDestroy(&map));
  PetscCall(PolderKeysNumber(comm, n, key, d));
  for (PetscInt i = 0; i < m; ++i) label[i] = label[i] < 0 ? -1 : key[label[i]].id;
  PetscCall(PetscFree(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderLabelsCompress(MPI_Comm comm, const PolderCSR *csr, PetscInt64 npart, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt label[], PetscInt *d)
{
  PetscFunctionBegin;
  if (csr->device) PetscCall(PolderLabelsCompress_Device(csr->m, npart, part, ncomp, comp, label, d));
  else PetscCall(PolderLabelsCompress_Host(comm, csr->m, part, comp, label, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels that a Vec holds, rounded; a value that is not a number, or too large, becomes -2. label[] is where the rows are, v anywhere */
static PetscErrorCode PolderLabelsFromVec(Vec v, const PolderCSR *csr, PetscInt label[])
{
  const PetscScalar *a;
  PetscInt          *values = label;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &device));
  if (csr->device && device) {
    PolderStream stream;

    PetscCall(PolderDeviceGetStream(&stream));
    PetscCall(PolderVecGetDeviceRead(v, &a));
    PolderLaunch(PolderLabelsRound_CUDA(csr->m, a, label, stream));
    PetscCall(PolderVecRestoreDeviceRead(v, &a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (csr->device) PetscCall(PetscMalloc1(csr->m, &values));
  PetscCall(VecGetArrayRead(v, &a));
  PolderLabelsRound_Host(csr->m, a, values);
  PetscCall(VecRestoreArrayRead(v, &a));
  if (csr->device) {
    PetscCall(PolderDeviceFromHost(label, values, sizeof(*values) * (size_t)csr->m));
    PetscCall(PetscFree(values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of the user's own: those that were set, else an IS or a Vec composed on the operator */
static PetscErrorCode PolderLabelsUser(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  PetscObject     source = (PetscObject)s->labels;
  PetscClassId    id     = 0;
  PetscInt        m, bad[2] = {0, 0}, all[2], range[2] = {0, -1}, *there;
  const PetscInt *idx;

  PetscFunctionBegin;
  if (!source) PetscCall(PetscObjectQuery((PetscObject)A, "deflation_labels", &source));
  if (source) PetscCall(PetscObjectGetClassId(source, &id));
  PetscCheck(id == IS_CLASSID || id == VEC_CLASSID, s->comm, PETSC_ERR_ARG_WRONG, "The labels of -deflation_space user must be an index set (IS) or a vector (Vec): call PolderDeflationSpaceSetLabels(), or compose one on the operator as deflation_labels");
  if (id == IS_CLASSID) PetscCall(ISGetLocalSize((IS)source, &m));
  else PetscCall(VecGetLocalSize((Vec)source, &m));
  bad[0] = m != csr->m;
  if (!bad[0] && id == IS_CLASSID) {
    PetscCall(ISGetIndices((IS)source, &idx));
    if (csr->device) PetscCall(PolderDeviceFromHost(label, idx, sizeof(*idx) * (size_t)m));
    else PetscCall(PetscArraycpy(label, idx, m));
    PetscCall(ISRestoreIndices((IS)source, &idx));
  } else if (!bad[0]) PetscCall(PolderLabelsFromVec((Vec)source, csr, label));
  if (!bad[0]) {
    PetscCall(PolderRowsPut(csr, 2, range, &there));
    PolderRowsRun(csr, PolderIndexRange, m, label, there);
    PetscCall(PolderRowsTake(csr, 2, range, &there));
    bad[1] = range[0] < -1;
  }
  PetscCallAllreduce(bad, all, 2, MPIU_INT, MPI_MAX, s->comm);
  PetscCheck(!all[0], s->comm, PETSC_ERR_ARG_SIZ, "The deflation labels must have one entry for each local row of the operator");
  PetscCheck(!all[1], s->comm, PETSC_ERR_ARG_OUTOFRANGE, "A deflation label is below -1, or not a number: labels count from 0, and -1 leaves the row out of every vector");
  PetscCall(PolderLabelsCompress(s->comm, csr, (PetscInt64)range[1] + 1, label, 1, NULL, label, d));
  PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "labels given by the user"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderLabelsRank(PolderDeflationSpace s, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PolderRowsRun(csr, PolderIndexFill, csr->m, rank, label);
  PetscCall(PolderLabelsCompress(s->comm, csr, rank + 1, label, 1, NULL, label, d));
  PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "as asked, one vector for each process with rows"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stripes and planes of a structured grid */
static PetscErrorCode PolderLabelsRuns(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscBool stripe, PetscInt label[], PetscInt *d)
{
  PolderGrid grid;
  PetscInt   last, boxes[3] = {1, 1, 1}, most, count = s->count;

  PetscFunctionBegin;
  PetscCall(PolderDeflationGetGrid(s, A, &grid));
  if (!grid.dim) PetscCall(PolderGridFromMatrix(A, csr, &grid));
  PetscCheck(grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE, "-deflation_space %s needs a structured grid, and the matrix shows none: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space partition", s->type);
  last = grid.dim - 1;
  most = stripe ? grid.n[0] * grid.n[1] * grid.n[2] : grid.n[last];
  if (!count && stripe) count = grid.dim == 3 ? grid.n[1] * grid.n[2] : PetscMin(2 * grid.n[last], most);
  if (!count) count = most;
  PetscCheck(count <= most, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "-deflation_count %" PetscInt_FMT " is more than the %" PetscInt_FMT " %s of the grid", count, most, stripe ? "points" : "planes");
  boxes[last] = count;
  if (stripe) PetscCall(PolderGridStripes(&grid, csr, count, label));
  else PetscCall(PolderGridBoxes(&grid, csr, boxes, label));
  PetscCall(PolderLabelsCompress(s->comm, csr, count * grid.dof, label, 1, NULL, label, d));
  PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "%s, %" PetscInt_FMT " %s of a grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points", s->count ? "as asked" : "default count", count, stripe ? "stripes" : "planes", grid.n[0], grid.n[1],
                          grid.n[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes of a structured grid (kind subdomain) or METIS parts (kind partition) */
static PetscErrorCode PolderLabelsParts(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscBool metis, PetscInt label[], PetscInt *d)
{
  PolderParts parts;

  PetscFunctionBegin;
  PetscCall(PolderPartsCreate(s, A, csr, &parts));
  PetscCheck(metis || parts.grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE, "-deflation_space subdomain needs a structured grid, and the matrix shows none: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space partition");
  if (metis) parts.grid.dim = 0;
  PetscCall(PolderPartsFill(&parts, A, csr, parts.target, label));
  PetscCall(PolderLabelsCompress(s->comm, csr, parts.bound, label, 1, NULL, label, d));
  PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "%s, %s", parts.fixed ? "as asked" : "chosen for the size of the problem", parts.text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationMakeLabels(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  static const char *const kinds[] = {POLDERDEFLATIONNONE,      POLDERDEFLATIONUSER,     POLDERDEFLATIONRANK,
                                      POLDERDEFLATIONSTRIPE,    POLDERDEFLATIONPLANE,    POLDERDEFLATIONSUBDOMAIN,
                                      POLDERDEFLATIONPARTITION, POLDERDEFLATIONLEVELSET, POLDERDEFLATIONLEVELSETSUBDOMAIN,
                                      POLDERDEFLATIONAUTO};
  PetscInt                 kind;
  PetscBool                found;

  PetscFunctionBegin;
  PetscCall(PetscEListFind(PETSC_STATIC_ARRAY_LENGTH(kinds), kinds, s->type, &kind, &found));
  PetscCheck(found, s->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "Deflation space %s is not made of labels", s->type);
  PetscCall(PetscStrncpy(s->chosen, s->type, sizeof(s->chosen)));
  switch (kind) {
  case 0:
    PolderRowsRun(csr, PolderIndexFill, csr->m, -1, label);
    *d = 0;
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "as asked"));
    break;
  case 1:
    PetscCall(PolderLabelsUser(s, A, csr, label, d));
    break;
  case 2:
    PetscCall(PolderLabelsRank(s, csr, label, d));
    break;
  case 3:
  case 4:
    PetscCall(PolderLabelsRuns(s, A, csr, (PetscBool)(kind == 3), label, d));
    break;
  case 5:
  case 6:
    PetscCall(PolderLabelsParts(s, A, csr, (PetscBool)(kind == 6), label, d));
    break;
  case 7:
    PetscCall(PolderDeflationLevelSetLabels(s, A, csr, label, d));
    break;
  default:
    PetscCall(PolderDeflationPieceLabels(s, A, csr, label, d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationMakeLabelsDevice(PolderDeflationSpace s, Mat A, const PolderCSR *dcsr, PetscInt label[], PetscInt *d, PetscBool *done)
{
  PolderCSR   rows = *dcsr;
  PetscBool   metis;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(s->comm, &size));
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONPARTITION, &metis));
  rows.device = PETSC_TRUE;
  *d          = -1;
  if (size == 1 && !metis) PetscCall(PolderDeflationMakeLabels(s, A, &rows, label, d));
  *done = (PetscBool)(*d >= 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}
