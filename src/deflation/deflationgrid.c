/* The structured grid that a matrix without a DM shows: 3-, 5- or 7-point stencils in natural numbering. */
#include "deflationlabels.h"
#include "core/gather.h"
#include "kernels/labels.h"

enum {
  MAXSTRIDES = 3
};

/* Adds |j - i| to the n sorted strides; PETSC_FALSE when there are too many */
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

/* A coupling stays in its line and plane of the grid; with periodic ones, or lines that run on, it is not this grid */
static PetscBool PolderVisitGrid(PetscInt i, PetscInt j, void *ctx)
{
  const PolderGrid *grid  = (const PolderGrid *)ctx;
  const PetscInt    plane = grid->n[0] * grid->n[1], d = PetscAbsInt(j - i);

  if (d == 1) return (PetscBool)(i / grid->n[0] == j / grid->n[0]);
  if (d == grid->n[0]) return (PetscBool)(i / plane == j / plane);
  return PETSC_TRUE;
}

/* The grid of M points with these n strides; PETSC_FALSE when there is none */
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

static PetscErrorCode PolderGridFromMatrix_Host(Mat A, const PolderCSR *csr, PolderGrid *g, PetscBool *found)
{
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  PolderStrides here = {0}, sum = {0}, *all;
  PetscInt      ranks, good     = 1, everywhere;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  if (!PolderEntriesVisit(csr, PolderVisitStride, &here)) here.n = MAXSTRIDES + 1;
  PetscCall(PolderGatherAll(comm, 1, &here, sizeof(here), &ranks, &all));
  for (PetscInt r = 0; r < ranks && good; ++r) {
    good = all[r].n <= MAXSTRIDES;
    for (PetscInt k = 0; k < all[r].n && good; ++k) good = PolderStrideAdd(all[r].stride[k], &sum.n, sum.stride);
  }
  PetscCall(PetscFree(all));
  if (!good || !PolderGridFromStrides(csr->M, sum.n, sum.stride, g)) PetscFunctionReturn(PETSC_SUCCESS);
  good = PolderEntriesVisit(csr, PolderVisitGrid, g);
  PetscCallAllreduce(&good, &everywhere, 1, MPIU_INT, MPI_MIN, comm);
  *found = (PetscBool)everywhere;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the device one pass finds the candidates for the strides, and one checks all entries against them */
static PetscErrorCode PolderGridFromMatrix_Device(const PolderCSR *csr, PolderGrid *g, PetscBool *found)
{
  PetscInt     survey[4] = {0, PETSC_MAX_INT, 0, 0}, stride[MAXSTRIDES], n = 0, *there;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderRowsPut(csr, 4, survey, &there));
  PolderLaunch(PolderStencilStrides_CUDA(csr->m, csr->ai, csr->aj, there, stream));
  PolderLaunch(PolderStencilCheck_CUDA(csr->m, csr->ai, csr->aj, there, there + 3, stream));
  PetscCall(PolderRowsTake(csr, 4, survey, &there));
  if (survey[0]) stride[n++] = 1;
  if (survey[1] < PETSC_MAX_INT) stride[n++] = survey[1];
  if (n && survey[2] > stride[n - 1]) stride[n++] = survey[2];
  *found = (PetscBool)(PolderGridFromStrides(csr->M, n, stride, g) && !survey[3]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGridFromMatrix(Mat A, const PolderCSR *csr, PolderGrid *grid)
{
  PolderGrid g     = {0};
  PetscBool  found = PETSC_FALSE;

  PetscFunctionBegin;
  if (csr->device) PetscCall(PolderGridFromMatrix_Device(csr, &g, &found));
  else PetscCall(PolderGridFromMatrix_Host(A, csr, &g, &found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArraycpy(g.m, g.n, 3));
  g.rstart  = csr->rstart;
  g.natural = PETSC_TRUE;
  *grid     = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}
