/* The structured grid that a matrix without a DM shows: 3-, 5- or 7-point stencils in natural numbering. */
#include "deflationlabels.h"
#include "gather.h"

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

PetscErrorCode PolderGridFromMatrix(Mat A, const PolderCSR *csr, PolderGrid *grid)
{
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  PolderStrides here = {0}, *all;
  PetscInt      ranks, good, everywhere;
  PolderGrid    g = {0};

  PetscFunctionBegin;
  if (!PolderEntriesVisit(csr, PolderVisitStride, &here)) here.n = MAXSTRIDES + 1;
  PetscCall(PolderGatherAll(comm, 1, &here, sizeof(here), &ranks, &all));
  good = 1;
  for (PetscInt r = 0; r < ranks && good; ++r) {
    good = all[r].n <= MAXSTRIDES;
    for (PetscInt k = 0; k < all[r].n && good; ++k) good = PolderStrideAdd(all[r].stride[k], &here.n, here.stride);
  }
  PetscCall(PetscFree(all));
  if (!good || here.n < 1 || here.stride[0] != 1) PetscFunctionReturn(PETSC_SUCCESS);
  g.dim  = here.n;
  g.dof  = 1;
  g.n[0] = here.n > 1 ? here.stride[1] : csr->M;
  g.n[1] = (here.n == 3 ? here.stride[2] : csr->M) / g.n[0];
  g.n[2] = here.n == 3 ? csr->M / here.stride[2] : 1;
  if (g.n[0] * g.n[1] * g.n[2] != csr->M || (here.n == 3 && g.n[0] * g.n[1] != here.stride[2])) PetscFunctionReturn(PETSC_SUCCESS);
  good = PolderEntriesVisit(csr, PolderVisitGrid, &g);
  PetscCallAllreduce(&good, &everywhere, 1, MPIU_INT, MPI_MIN, comm);
  if (!everywhere) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArraycpy(g.m, g.n, 3));
  g.rstart  = csr->rstart;
  g.natural = PETSC_TRUE;
  *grid     = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}
