/* One label a row for the piecewise-constant deflation spaces; the kinds that follow a level set are in deflationauto.c. */
#include "deflationlabels.h"
#include "gather.h"
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

/* part[i] of each local row from tables of the three directions */
static void PolderGridWalk(const PolderGrid *grid, PetscInt m, PetscInt *const table[3], PetscInt part[])
{
  const PetscInt dof = grid->dof, *t0 = table[0];
  PetscInt       lo[3], hi[3], x[3], c = 0, base;

  for (int d = 0; d < 3; ++d) {
    lo[d] = grid->natural ? 0 : grid->s[d];
    hi[d] = grid->natural ? grid->n[d] : grid->s[d] + grid->m[d];
    x[d]  = lo[d];
  }
  if (grid->natural) {
    const PetscInt point = grid->rstart / dof;

    c    = grid->rstart % dof;
    x[0] = point % grid->n[0];
    x[1] = (point / grid->n[0]) % grid->n[1];
    x[2] = point / grid->n[0] / grid->n[1];
  }
  for (PetscInt i = 0; i < m;) {
    base = table[1][x[1]] + table[2][x[2]];
    for (; x[0] < hi[0] && i < m; ++x[0]) {
      for (; c < dof && i < m; ++c) part[i++] = (base + t0[x[0]]) * dof + c;
      if (c == dof) c = 0;
      else break;
    }
    x[0] = lo[0];
    if (++x[1] == hi[1]) {
      x[1] = lo[1];
      x[2]++;
    }
  }
}

PetscErrorCode PolderGridBoxes(const PolderGrid *grid, PetscInt m, const PetscInt boxes[3], PetscInt part[])
{
  PetscInt *table[3], stride = 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(grid->n[0], &table[0], grid->n[1], &table[1], grid->n[2], &table[2]));
  for (int d = 0; d < 3; ++d) {
    for (PetscInt i = 0; i < grid->n[d]; ++i) table[d][i] = stride * (PetscInt)((PetscInt64)i * boxes[d] / grid->n[d]);
    stride *= boxes[d];
  }
  PolderGridWalk(grid, m, table, part);
  PetscCall(PetscFree3(table[0], table[1], table[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* count runs of points in natural order */
static PetscErrorCode PolderGridStripes(const PolderGrid *grid, PetscInt m, PetscInt count, PetscInt part[])
{
  const PetscInt64 points = (PetscInt64)grid->n[0] * grid->n[1] * grid->n[2];
  PetscInt        *table[3], lo = 0, hi = 0, label = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(grid->n[0], &table[0], grid->n[1], &table[1], grid->n[2], &table[2]));
  for (PetscInt i = 0; i < grid->n[0]; ++i) table[0][i] = i;
  for (PetscInt i = 0; i < grid->n[1]; ++i) table[1][i] = i * grid->n[0];
  for (PetscInt i = 0; i < grid->n[2]; ++i) table[2][i] = i * grid->n[0] * grid->n[1];
  PolderGridWalk(grid, m, table, part);
  PetscCall(PetscFree3(table[0], table[1], table[2]));
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt point = part[i] / grid->dof;

    if (point < lo || point >= hi) { /* floor(point count / points) changes at ceil(label points / count) */
      label = (PetscInt)((PetscInt64)point * count / points);
      lo    = (PetscInt)((label * points + count - 1) / count);
      hi    = (PetscInt)(((label + 1) * points + count - 1) / count);
    }
    part[i] = label * grid->dof + part[i] % grid->dof;
  }
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
  qsort(all, (size_t)total, sizeof(PolderKey), PolderKeyCompare);
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

PetscErrorCode PolderLabelsCompress(MPI_Comm comm, PetscInt m, const PetscInt part[], const PetscInt comp[], PetscInt label[], PetscInt *d)
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

/* Labels that a Vec holds, rounded; a value that is not a number, or too large, becomes -2 */
static PetscErrorCode PolderLabelsFromVec(Vec v, PetscInt m, PetscInt labels[])
{
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = 0; i < m; ++i) {
    const PetscReal l = PetscRealPart(a[i]);

    labels[i] = l >= -1.5 && l < 2147483647.0 ? (PetscInt)PetscFloorReal(l + 0.5) : -2;
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of the user's own: those that were set, else an IS or a Vec composed on the operator */
static PetscErrorCode PolderLabelsUser(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  PetscObject     source = (PetscObject)s->labels;
  PetscClassId    id     = 0;
  PetscInt        m, bad[2] = {0, 0}, all[2];
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
    PetscCall(PetscArraycpy(label, idx, m));
    PetscCall(ISRestoreIndices((IS)source, &idx));
  } else if (!bad[0]) PetscCall(PolderLabelsFromVec((Vec)source, m, label));
  for (PetscInt i = 0; i < m && !bad[0]; ++i) bad[1] |= label[i] < -1;
  PetscCallAllreduce(bad, all, 2, MPIU_INT, MPI_MAX, s->comm);
  PetscCheck(!all[0], s->comm, PETSC_ERR_ARG_SIZ, "The deflation labels must have one entry for each local row of the operator");
  PetscCheck(!all[1], s->comm, PETSC_ERR_ARG_OUTOFRANGE, "A deflation label is below -1, or not a number: labels count from 0, and -1 leaves the row out of every vector");
  PetscCall(PolderLabelsCompress(s->comm, m, label, NULL, label, d));
  PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "labels given by the user"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderLabelsRank(PolderDeflationSpace s, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  for (PetscInt i = 0; i < csr->m; ++i) label[i] = rank;
  PetscCall(PolderLabelsCompress(s->comm, csr->m, label, NULL, label, d));
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
  PetscCheck(grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE, "-deflation_space %s needs a structured grid: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space partition", s->type);
  last = grid.dim - 1;
  most = stripe ? grid.n[0] * grid.n[1] * grid.n[2] : grid.n[last];
  if (!count && stripe) count = grid.dim == 3 ? grid.n[1] * grid.n[2] : PetscMin(2 * grid.n[last], most);
  if (!count) count = most;
  PetscCheck(count <= most, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "-deflation_count %" PetscInt_FMT " is more than the %" PetscInt_FMT " %s of the grid", count, most, stripe ? "points" : "planes");
  boxes[last] = count;
  if (stripe) PetscCall(PolderGridStripes(&grid, csr->m, count, label));
  else PetscCall(PolderGridBoxes(&grid, csr->m, boxes, label));
  PetscCall(PolderLabelsCompress(s->comm, csr->m, label, NULL, label, d));
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
  PetscCheck(metis || parts.grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE, "-deflation_space subdomain needs a structured grid: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space partition");
  if (metis) parts.grid.dim = 0;
  PetscCall(PolderPartsFill(&parts, A, csr, parts.target, label));
  PetscCall(PolderLabelsCompress(s->comm, csr->m, label, NULL, label, d));
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
    for (PetscInt i = 0; i < csr->m; ++i) label[i] = -1;
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
