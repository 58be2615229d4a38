/* The structured grid behind the rows: that of a DMDA, the one the user gave, or the one found from 3-, 5- or 7-point stencils in natural numbering. */
#include "deflationlabels.h"
#include "core/gather.h"
#include "kernels/blocks.h"
#include "kernels/labels.h"
#include <petscdmda.h>

PetscErrorCode PolderGridFromDM(DM dm, Mat A, const PolderCSR *csr, PolderGrid *grid)
{
  PetscBool da;
  PetscInt  here, all;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (!da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, &grid->dim, &grid->n[0], &grid->n[1], &grid->n[2], NULL, NULL, NULL, &grid->dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, &grid->s[0], &grid->s[1], &grid->s[2], &grid->m[0], &grid->m[1], &grid->m[2]));
  /* FALSE: the DM belongs to another level, or to a block of A */
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
    PetscCheck(grid->n[i] > 0 && grid->n[i] <= PETSC_MAX_INT / points, s->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-deflation_grid: direction %" PetscInt_FMT " has %" PetscInt_FMT " points", i, grid->n[i]);
    points *= grid->n[i];
  }
  PetscCheck(csr.M % points == 0, s->comm, PETSC_ERR_ARG_SIZ,
             "-deflation_grid has %" PetscInt_FMT " points, which do not divide the %" PetscInt_FMT " rows of the matrix", points, csr.M);
  grid->dim     = s->griddim;
  grid->dof     = csr.M / points;
  grid->rstart  = csr.rstart;
  grid->natural = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum {
  MAXSTRIDES = 3
};

/* Inserts |j - i| into the n sorted strides; PETSC_FALSE when there are too many */
static PetscBool PolderStrideAdd(PetscInt distance, PetscInt *n, PetscInt stride[])
{
  PetscInt at = 0;

  while (at < *n && stride[at] < distance) ++at;
  if (at < *n && stride[at] == distance) return PETSC_TRUE;
  if (*n == MAXSTRIDES) return PETSC_FALSE;
  for (PetscInt k = (*n)++; k > at; --k) stride[k] = stride[k - 1];
  stride[at] = distance;
  return PETSC_TRUE;
}

/* Calls visit on every off-diagonal entry (i, j) of this process, in global numbers, until it returns PETSC_FALSE */
static PetscBool PolderEntriesVisit(const PolderCSR *csr, PetscBool (*visit)(PetscInt i, PetscInt j, void *ctx), void *ctx)
{
  PetscBool good = PETSC_TRUE;

  for (PetscInt i = 0; i < csr->m && good; ++i) {
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1] && good; ++k) {
      if (csr->aj[k] != i) good = visit(csr->rstart + i, csr->rstart + csr->aj[k], ctx);
    }
    for (PetscInt k = csr->bi ? csr->bi[i] : 0; csr->bi && k < csr->bi[i + 1] && good; ++k) good = visit(csr->rstart + i, csr->garray[csr->bj[k]], ctx);
  }
  return good;
}

typedef struct {
  PetscInt n, stride[MAXSTRIDES];
} PolderStrides;

static PetscBool PolderVisitStride(PetscInt i, PetscInt j, void *ctx)
{
  PolderStrides *s = (PolderStrides *)ctx;

  return PolderStrideAdd(PetscAbsInt(j - i), &s->n, s->stride);
}

/* Does a coupling stay within its line and plane of the grid? Periodic couplings, or lines that continue in the next one, rule the grid out */
static PetscBool PolderVisitGrid(PetscInt i, PetscInt j, void *ctx)
{
  const PolderGrid *grid = (const PolderGrid *)ctx;
  const PetscInt    d = PetscAbsInt(j - i), last = PetscMax(i, j);

  if (d == 1) return (PetscBool)(last % grid->n[0] >= d);
  if (d == grid->n[0]) return (PetscBool)(last % (grid->n[0] * grid->n[1]) >= d);
  return PETSC_TRUE;
}

/* The grid of M points with these n strides; PETSC_FALSE when none fits */
static PetscBool PolderGridFromStrides(PetscInt M, PetscInt n, const PetscInt stride[], PolderGrid *g)
{
  if (n < 1 || stride[0] != 1) return PETSC_FALSE;
  g->dim  = n;
  g->dof  = 1;
  g->n[0] = n > 1 ? stride[1] : M;
  g->n[1] = (n == 3 ? stride[2] : M) / g->n[0];
  g->n[2] = n == 3 ? M / stride[2] : 1;
  return (PetscBool)(g->n[0] * g->n[1] * g->n[2] == M && (n < 3 || g->n[0] * g->n[1] == stride[2]));
}

PetscErrorCode PolderGridFind_Host(const PolderLabelRows *rows, PolderGrid *g, PetscBool *found)
{
  const PolderCSR *csr  = rows->csr;
  PolderStrides    here = {0}, sum = {0}, *all;
  PetscInt         ranks, good     = 1, everywhere;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  if (!PolderEntriesVisit(csr, PolderVisitStride, &here)) here.n = MAXSTRIDES + 1;
  PetscCall(PolderGatherAll(rows->comm, 1, &here, sizeof(here), &ranks, &all));
  for (PetscInt r = 0; r < ranks && good; ++r) {
    good = all[r].n <= MAXSTRIDES;
    for (PetscInt k = 0; k < all[r].n && good; ++k) good = PolderStrideAdd(all[r].stride[k], &sum.n, sum.stride);
  }
  PetscCall(PetscFree(all));
  if (!good || !PolderGridFromStrides(csr->M, sum.n, sum.stride, g)) PetscFunctionReturn(PETSC_SUCCESS);
  good = PolderEntriesVisit(csr, PolderVisitGrid, g);
  PetscCallAllreduce(&good, &everywhere, 1, MPIU_INT, MPI_MIN, rows->comm);
  *found = (PetscBool)everywhere;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *col: the columns of other processes in the numbering of the own ones, of all entries in such columns; NULL: there are none */
static PetscErrorCode PolderColumnsAcross_Private(const PolderLabelRows *rows, PetscInt **col)
{
  const PolderCSR *csr = rows->csr;
  PetscInt         nz, *garray;
  PolderStream     stream;

  PetscFunctionBegin;
  *col = NULL;
  if (!csr->bi || !csr->nghost) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderPlaceTake(rows->place, 1, csr->bi + csr->m, &nz));
  PetscCall(PolderPlaceUpload(rows->place, sizeof(*garray) * (size_t)csr->nghost, csr->garray, &garray));
  PetscCall(PolderPlaceMalloc(rows->place, nz, col));
  PolderLaunch(PolderColumnsAcross_CUDA(nz, csr->bj, garray, csr->rstart, *col, stream));
  PetscCall((*rows->place->free)(&garray));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* there[] <- the strides of all processes */
static PetscErrorCode PolderStridesShare_Private(const PolderLabelRows *rows, PetscInt there[])
{
  PetscInt survey[3];

  PetscFunctionBegin;
  PetscCall(PolderPlaceTake(rows->place, 3, there, survey));
  survey[1] = -survey[1];
  PetscCallAllreduce(MPI_IN_PLACE, survey, 3, MPIU_INT, MPI_MAX, rows->comm);
  survey[1] = -survey[1];
  PetscCall(PolderPlacePut(rows->place, 3, survey, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the device one pass finds candidates for the strides, and a second checks all entries against them */
PetscErrorCode PolderGridFind_Device(const PolderLabelRows *rows, PolderGrid *g, PetscBool *found)
{
  const PolderCSR *csr       = rows->csr;
  PetscInt         survey[4] = {0, PETSC_MAX_INT, 0, 0}, stride[3], n = 0, *there, *across;
  PolderStream     stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderPlaceUpload(rows->place, sizeof(survey), survey, &there));
  PetscCall(PolderColumnsAcross_Private(rows, &across));
  PolderLaunch(PolderStencilStrides_CUDA(csr->m, csr->ai, csr->aj, there, stream));
  if (across) PolderLaunch(PolderStencilStrides_CUDA(csr->m, csr->bi, across, there, stream));
  if (rows->size > 1) PetscCall(PolderStridesShare_Private(rows, there));
  PolderLaunch(PolderStencilCheck_CUDA(csr->m, csr->rstart, csr->ai, csr->aj, there, there + 3, stream));
  if (across) PolderLaunch(PolderStencilCheck_CUDA(csr->m, csr->rstart, csr->bi, across, there, there + 3, stream));
  PetscCall(PolderPlaceFetch(rows->place, sizeof(survey), &there, survey));
  PetscCall((*rows->place->free)(&across));
  if (survey[0]) stride[n++] = 1;
  if (survey[1] < PETSC_MAX_INT) stride[n++] = survey[1];
  if (n && survey[2] > stride[n - 1]) stride[n++] = survey[2];
  *found = PolderGridFromStrides(csr->M, n, stride, g);
  if (*found && rows->size > 1) PetscCallAllreduce(MPI_IN_PLACE, &survey[3], 1, MPIU_INT, MPI_MAX, rows->comm);
  *found = (PetscBool)(*found && !survey[3]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGridFromMatrix(const PolderLabelRows *rows, PolderGrid *grid)
{
  PolderGrid g     = {0};
  PetscBool  found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall((*rows->steps->findgrid)(rows, &g, &found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArraycpy(g.m, g.n, 3));
  g.rstart  = rows->csr->rstart;
  g.natural = PETSC_TRUE;
  *grid     = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGridBoxes(const PolderGrid *grid, const PolderLabelRows *rows, const PetscInt boxes[3], PetscInt part[])
{
  PolderGridPart here = {.first = grid->natural ? grid->rstart : 0, .dof = grid->dof};

  PetscFunctionBegin;
  for (int d = 0; d < 3; ++d) {
    here.lo[d] = grid->natural ? 0 : grid->s[d];
    here.hi[d] = grid->natural ? grid->n[d] : grid->s[d] + grid->m[d];
    here.n[d]  = grid->n[d];
  }
  PolderRun(rows->place, PolderGridBoxes, rows->csr->m, &here, boxes, part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGridStripes(const PolderGrid *grid, const PolderLabelRows *rows, PetscInt count, PetscInt part[])
{
  PetscFunctionBegin;
  PetscCall(PolderGridBoxes(grid, rows, grid->n, part)); // one box for each point
  PolderRun(rows->place, PolderGridRuns, rows->csr->m, grid->dof, (PetscInt64)grid->n[0] * grid->n[1] * grid->n[2], count, part);
  PetscFunctionReturn(PETSC_SUCCESS);
}
