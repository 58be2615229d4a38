/* The structured grid behind the rows: that of a DMDA, the one the user gave, or the one found from 3-, 5- or 7-point stencils in natural numbering. */
#include "deflationlabels.h"
#include "core/gather.h"
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
  const PolderGrid *grid  = (const PolderGrid *)ctx;
  const PetscInt    plane = grid->n[0] * grid->n[1], d = PetscAbsInt(j - i);

  if (d == 1) return (PetscBool)(i / grid->n[0] == j / grid->n[0]);
  if (d == grid->n[0]) return (PetscBool)(i / plane == j / plane);
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

/* Calls visit on the entries in columns of other processes, whose pattern is on the host */
static PetscErrorCode PolderEntriesVisitAcross(const PolderCSR *csr, PetscBool (*visit)(PetscInt i, PetscInt j, void *ctx), void *ctx, PetscBool *good)
{
  const PetscInt *bi, *bj;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  if (!csr->offdiag) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetRowIJ(csr->offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done));
  PetscCheck(done && m == csr->m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Cannot read the pattern of the entries in columns of other processes");
  for (PetscInt i = PolderCSRNextRow(m, bi, 0); i < m && *good; i = PolderCSRNextRow(m, bi, i + 1)) {
    for (PetscInt k = bi[i]; k < bi[i + 1] && *good; ++k) *good = visit(csr->rstart + i, csr->garray[bj[k]], ctx);
  }
  PetscCall(MatRestoreRowIJ(csr->offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Combines the surveys of the diagonal blocks of several processes and of their other entries, which are those of PolderStencilStrides_CUDA(). many: there are
  too many strides
*/
static PetscErrorCode PolderSurveyShare(const PolderLabelRows *rows, PetscInt survey[3], PetscBool *many)
{
  PolderStrides here   = {0};
  PetscInt      all[4] = {survey[0], -survey[1], survey[2], 0};
  PetscBool     few;

  PetscFunctionBegin;
  PetscCall(PolderEntriesVisitAcross(rows->csr, PolderVisitStride, &here, &few));
  for (PetscInt k = 0; k < here.n; ++k) {
    if (here.stride[k] == 1) all[0] = 1;
    else all[1] = PetscMax(all[1], -here.stride[k]);
    all[2] = PetscMax(all[2], here.stride[k]);
  }
  all[3] = !few;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 4, MPIU_INT, MPI_MAX, rows->comm));
  survey[0] = all[0];
  survey[1] = -all[1];
  survey[2] = all[2];
  *many     = (PetscBool)(all[3] > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does every entry in a column of another process have one of the strides, and stay within its line and plane? */
typedef struct {
  const PolderGrid *grid;
  PolderStrides     strides;
} PolderStencilOf;

static PetscBool PolderVisitStencil(PetscInt i, PetscInt j, void *ctx)
{
  PolderStencilOf *stencil = (PolderStencilOf *)ctx;
  PetscBool        known   = PETSC_FALSE;

  for (PetscInt k = 0; k < stencil->strides.n; ++k) known = (PetscBool)(known || PetscAbsInt(j - i) == stencil->strides.stride[k]);
  return (PetscBool)(known && PolderVisitGrid(i, j, (void *)stencil->grid));
}

/* bad of the diagonal block becomes that of all entries of all processes */
static PetscErrorCode PolderCheckShare(const PolderLabelRows *rows, PolderStencilOf *stencil, PetscInt *bad)
{
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(PolderEntriesVisitAcross(rows->csr, PolderVisitStencil, stencil, &good));
  if (!good) *bad = 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPIU_INT, MPI_MAX, rows->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the device one pass finds candidates for the strides, and a second checks all entries against them */
PetscErrorCode PolderGridFind_Device(const PolderLabelRows *rows, PolderGrid *g, PetscBool *found)
{
  const PolderCSR *csr       = rows->csr;
  PetscInt         survey[4] = {0, PETSC_MAX_INT, 0, 0}, *there;
  PolderStencilOf  stencil   = {.grid = g};
  PetscBool        many      = PETSC_FALSE;
  PolderStream     stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderPlaceUpload(rows->place, sizeof(survey), survey, &there));
  PolderLaunch(PolderStencilStrides_CUDA(csr->m, csr->ai, csr->aj, there, stream));
  if (rows->size > 1) {
    PetscCall(PolderPlaceTake(rows->place, 4, there, survey));
    PetscCall(PolderSurveyShare(rows, survey, &many));
    PetscCall(PolderPlacePut(rows->place, 4, survey, there));
  }
  PolderLaunch(PolderStencilCheck_CUDA(csr->m, csr->rstart, csr->ai, csr->aj, there, there + 3, stream));
  PetscCall(PolderPlaceFetch(rows->place, sizeof(survey), &there, survey));
  if (survey[0]) stencil.strides.stride[stencil.strides.n++] = 1;
  if (survey[1] < PETSC_MAX_INT) stencil.strides.stride[stencil.strides.n++] = survey[1];
  if (stencil.strides.n && survey[2] > stencil.strides.stride[stencil.strides.n - 1]) stencil.strides.stride[stencil.strides.n++] = survey[2];
  *found = (PetscBool)(!many && PolderGridFromStrides(csr->M, stencil.strides.n, stencil.strides.stride, g));
  if (*found && rows->size > 1) PetscCall(PolderCheckShare(rows, &stencil, &survey[3]));
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
