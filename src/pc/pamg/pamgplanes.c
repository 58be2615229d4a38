/*
  Pairwise-aggregation multigrid on several devices: off-process entries of levels that are cut into planes. There is one for each row of the first and the last
  plane, so that the device makes all lists. The host would sort them.
*/
#include "pamgsetup.h"
#include "kernels/levelgridrow.h"

/* Are the off-process entries of the matrix such, given how many ghosts belong to processes before this one? */
static PetscBool PamgArePlanes(const PolderCSR *csr, const PetscInt bi[], const PetscInt bj[], PetscInt below)
{
  const PetscInt *ghost = csr->garray, m = csr->m, first = csr->rstart, above = csr->nghost - below, from = m - above;

  if (below > from) return PETSC_FALSE;
  return (PetscBool)(PolderConsecutive(below + 1, 0, bi) && PolderConsecutive(above + 1, below, bi + from) && PolderConsecutive(csr->nghost, 0, bj) &&
                     PolderConsecutive(below, first - below, ghost) && PolderConsecutive(above, first + m, ghost + below));
}

PetscErrorCode PCPAMGTakePlanes(PamgLevel *L, const PolderPlanes *at)
{
  PamgOuter        *O = &L->outer;
  PolderSparseRows *D = &O->rows_d;
  PolderStream      stream;

  PetscFunctionBegin;
  O->at     = *at;
  O->planes = PETSC_TRUE;
  O->rows.n = O->rows.nz = D->n = D->nz = O->at.below + O->at.above;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*D->row) * (size_t)D->n, &D->row));
  PetscCall(PolderDeviceMalloc(sizeof(*D->ptr) * (size_t)(D->n + 1), &D->ptr));
  PetscCall(PolderDeviceMalloc(sizeof(*D->col) * (size_t)D->n, &D->col));
  PetscCall(PolderDeviceMalloc(sizeof(*D->val) * (size_t)D->n, &D->val));
  PolderLaunch(PolderPlanesEntries_CUDA(&O->at, D, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFindPlanes(PamgLevel *L, const PetscInt bi[], const PetscInt bj[])
{
  const PolderCSR *csr = &L->csr;
  PetscInt         below;

  PetscFunctionBegin;
  PetscCall(PolderGhostsBelow(csr->nghost, csr->garray, csr->rstart, &below));
  if (PamgArePlanes(csr, bi, bj, below)) PetscCall(PCPAMGTakePlanes(L, &(PolderPlanes){csr->m, below, csr->nghost - below}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The planes of the next level: no box is in both */
static PolderPlanes PamgNextPlanes(const PamgLevel *L, PetscInt cplane)
{
  const PolderPlanes *at = &L->outer.at;

  return (PolderPlanes){L->nc, at->below ? cplane : 0, at->above ? cplane : 0};
}

PetscErrorCode PCPAMGKnowsLists(const PC_PAMG *pamg, const PamgLevel *L, PetscBool *knows)
{
  const PamgOuter   *O    = &L->outer;
  const PolderPlanes next = PamgNextPlanes(L, L->n ? PolderLevelGridStride(L->grid.csize, L->along) : 0);
  PetscInt           lone = 0, *there;

  PetscFunctionBegin;
  *knows = (PetscBool)(O->planes && next.below + next.above <= next.n);
  if (!*knows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceMalloc(sizeof(lone), &there));
  PetscCall(PolderDeviceZero(there, sizeof(lone)));
  PolderLaunch(PolderPlanesLone_CUDA(&O->at, L->agg, L->nc, there, pamg->stream));
  PetscCall(PolderDeviceToHost(&lone, there, sizeof(lone)));
  PetscCall(PolderDeviceFree(&there));
  *knows = (PetscBool)!lone;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The boxes of the rows with off-process entries */
static PetscErrorCode PamgPlanesBoxes(const PC_PAMG *pamg, PamgLevel *L, const PolderPlanes *next)
{
  const PolderLevelGrid   *G      = &L->grid;
  const PetscInt           across = L->border.B.dir > 1 ? 1 : 0;
  const PolderPlanesLevels levels = {.fine   = L->outer.at,
                                     .coarse = *next,
                                     .wide   = G->size[0],
                                     .high   = across ? G->size[1] : 1,
                                     .boxes  = G->csize[0],
                                     .along  = G->join[0],
                                     .across = across ? G->join[1] : 0};
  PamgOuter               *O      = &L->outer;

  PetscFunctionBegin;
  O->to.n   = next->below + next->above;
  O->to_d.n = O->to.n;
  O->to_d.m = O->rows.n;
  PetscCall(PolderDeviceMalloc(sizeof(*O->target_d) * (size_t)O->to.n, &O->target_d));
  PetscCall(PolderDeviceMalloc(sizeof(*O->to_d.ptr) * (size_t)(O->to.n + 2), &O->to_d.ptr));
  PetscCall(PolderDeviceMalloc(sizeof(*O->to_d.row) * (size_t)O->rows.n, &O->to_d.row));
  PolderLaunch(PolderPlanesBoxes_CUDA(&levels, O->target_d, &O->to_d, pamg->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGPlanesCoarse(PC_PAMG *pamg, PetscInt l, PetscBool gather)
{
  PamgLevel         *L = &pamg->level[l], *C = L + 1;
  const PolderPlanes next = PamgNextPlanes(L, L->border.B.cplane);

  PetscFunctionBegin;
  PetscCall(PamgPlanesBoxes(pamg, L, &next));
  PetscCall(PCPAMGTakePlanes(C, &next));
  C->nghost = C->outer.rows.n;
  C->rstart = L->border.first;
  PetscCall(PetscMalloc1(C->nghost, &C->garray));
  for (PetscInt k = 0; k < next.below; ++k) C->garray[k] = C->rstart - next.below + k;
  for (PetscInt k = 0; k < next.above; ++k) C->garray[next.below + k] = C->rstart + L->nc + k;
  if (!gather) { // the next level owns it from now on
    C->halo              = L->border.planes;
    L->border.ownsplanes = PETSC_FALSE;
  }
  PetscCall(PCPAMGPlanesValues(pamg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGPlanesValues(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel *L = &pamg->level[l];
  PamgOuter *D = &L[1].outer;

  PetscFunctionBegin;
  PolderLaunch(PolderPlanesSums_CUDA(&L->outer.to_d, L->border.there, D->rows_d.val, pamg->stream));
  if (D->rows.val) PetscCall(PolderDeviceToHost(D->rows.val, D->rows_d.val, sizeof(*D->rows.val) * (size_t)D->rows.nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}
