/* Connected components of the matrix graph, the same for any number of processes. */
#include "deflationlabels.h"
#include "core/gather.h"
#include "kernels/blocks.h"
#include "kernels/components.h"
#include "kernels/labels.h"

/* An edge between two rows of different processes; each row is given by its component on its own process */
typedef struct {
  PetscInt a, b;
} PolderEdge;

static int PolderEdgeCompare(const void *x, const void *y)
{
  const PolderEdge *p = (const PolderEdge *)x, *q = (const PolderEdge *)y;

  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return (p->b > q->b) - (p->b < q->b);
}

static PetscInt PolderEdgesUnique(PetscInt n, PolderEdge edge[])
{
  PetscInt nu = 0;

  if (n) qsort(edge, (size_t)n, sizeof(PolderEdge), PolderEdgeCompare);
  for (PetscInt k = 0; k < n; ++k) {
    if (!nu || PolderEdgeCompare(&edge[nu - 1], &edge[k])) edge[nu++] = edge[k];
  }
  return nu;
}

static PetscInt PolderFindId(PetscInt parent[], PetscInt i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/*
  Joins the components of different processes along the edges between their global numbers: number[k] of the component first + k of this process, for
  0 <= k < n, becomes the smallest number of those that it is joined to
*/
static PetscErrorCode PolderComponentsMerge(MPI_Comm comm, PetscInt nedge, PolderEdge edge[], PetscInt first, PetscInt n, PetscInt number[])
{
  PetscInt    nall = 0, nid, *id, *parent;
  PolderEdge *all;

  PetscFunctionBegin;
  nedge = PolderEdgesUnique(nedge, edge);
  PetscCall(PolderGatherAll(comm, nedge, edge, sizeof(*edge), &nall, &all));
  nid = 2 * nall;
  PetscCall(PetscMalloc2(nid, &id, nid, &parent));
  for (PetscInt k = 0; k < nall; ++k) {
    id[2 * k]     = all[k].a;
    id[2 * k + 1] = all[k].b;
  }
  PetscCall(PetscSortRemoveDupsInt(&nid, id));
  for (PetscInt i = 0; i < nid; ++i) parent[i] = i;
  for (PetscInt k = 0; k < nall; ++k) {
    PetscInt a, b;

    PetscCall(PetscFindInt(all[k].a, nid, id, &a));
    PetscCall(PetscFindInt(all[k].b, nid, id, &b));
    a                      = PolderFindId(parent, a);
    b                      = PolderFindId(parent, b);
    parent[PetscMax(a, b)] = PetscMin(a, b);
  }
  for (PetscInt i = 0; i < nid; ++i) {
    parent[i] = parent[parent[i]];
    if (id[i] >= first && id[i] < first + n) number[id[i] - first] = id[parent[i]];
  }
  PetscCall(PetscFree2(id, parent));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array there of the values at the ghosts of the rows; NULL for NULL */
static PetscErrorCode PolderGhostValues(const PolderLabelRows *rows, PolderHalo halo, MPI_Datatype unit, const void *owned, size_t size, void *ghost)
{
  PetscFunctionBegin;
  PetscCall((*rows->place->malloc)(size * (size_t)rows->csr->nghost, ghost));
  PetscCall(PolderHaloExchangeAt(halo, rows->place, unit, owned, *(void **)ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The edges to other processes between rows of equal class or, if jump > 0, with scales within the factor jump; entries that are no edges are left out */
static PetscErrorCode PolderComponentsAcross(const PolderLabelRows *rows, PolderAcross across, PetscInt *nedge, PolderEdge **edge)
{
  const PolderCSR *csr = rows->csr;
  PetscInt         nz  = 0, n, *there;
  PolderHalo       halo;

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(rows->A, &halo));
  if (across.jump == 0) PetscCall(PolderGhostValues(rows, halo, MPIU_INT, across.cls, sizeof(*across.cls), &across.ghostcls)); // the scales are not known
  else PetscCall(PolderGhostValues(rows, halo, MPIU_SCALAR, across.scale, sizeof(*across.scale), &across.ghostscale));
  PetscCall(PolderGhostValues(rows, halo, MPIU_INT, across.comp, sizeof(*across.comp), &across.ghostcomp));
  if (csr->bi) PetscCall(PolderPlaceTake(rows->place, 1, csr->bi + csr->m, &nz));
  PetscCall(PetscMalloc1(nz, edge));
  PetscCall(PolderPlaceMalloc(rows->place, 2 * nz, &there));
  if (nz) {
    PolderRun(rows->place, PolderEdgesAcross, PolderGhostColumns(csr), across, there);
    PetscCall((*rows->place->take)(*edge, there, sizeof(**edge) * (size_t)nz));
  }
  n = 0;
  for (PetscInt k = 0; k < nz; ++k) {
    if ((*edge)[k].a >= 0 && (!n || PolderEdgeCompare(&(*edge)[n - 1], &(*edge)[k]))) (*edge)[n++] = (*edge)[k];
  }
  *nedge = n;
  PetscCall((*rows->place->free)(&there));
  PetscCall((*rows->place->free)(&across.ghostcls));
  PetscCall((*rows->place->free)(&across.ghostscale));
  PetscCall((*rows->place->free)(&across.ghostcomp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Joins the components of this process, which have the numbers of rows of this process, to those of others and gives them global numbers below bound */
static PetscErrorCode PolderComponentsFinish(const PolderLabelRows *rows, PolderAcross across, PetscInt comp[], PetscInt *bound)
{
  const PolderPlace *place = rows->place;
  const PetscInt     m     = rows->csr->m;
  PetscInt           first = 0, n = 0, nedge = 0, *local, *number, *there;
  PolderEdge        *edge = NULL;

  PetscFunctionBegin;
  *bound = rows->csr->M;
  if (rows->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*rows->steps->localcomponents)(rows, comp, &first, &n));
  *bound = first + n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bound, 1, MPIU_INT, MPI_MAX, rows->comm));
  PetscCall(PolderPlaceMalloc(place, m, &local));
  PetscCall((*place->copy)(local, comp, sizeof(*comp) * (size_t)m));
  PetscCall(PetscMalloc1(n, &number));
  for (PetscInt k = 0; k < n; ++k) number[k] = first + k;
  PetscCall(PolderPlaceUpload(place, sizeof(*number) * (size_t)n, number, &there));
  PolderRun(place, PolderKeysLabel, m, NULL, n, local, there, comp);
  across.comp = comp;
  PetscCall(PolderComponentsAcross(rows, across, &nedge, &edge));
  PetscCall(PolderComponentsMerge(rows->comm, nedge, edge, first, n, number));
  PetscCall(PolderPlacePut(place, n, number, there));
  PolderRun(place, PolderKeysLabel, m, NULL, n, local, there, comp);
  PetscCall((*place->free)(&there));
  PetscCall((*place->free)(&local));
  PetscCall(PetscFree(number));
  PetscCall(PetscFree(edge));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatComponents(const PolderLabelRows *rows, const PetscInt cls[], PetscInt comp[], PetscInt *bound)
{
  const PolderCSR *csr = rows->csr;

  PetscFunctionBegin;
  PolderRun(rows->place, PolderComponentsByClass, csr->m, csr->ai, csr->aj, cls, comp);
  PetscCall(PolderComponentsFinish(rows, (PolderAcross){.cls = cls}, comp, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatRegions(const PolderLabelRows *rows, PetscReal jump, PetscInt comp[], PetscInt *bound)
{
  const PolderPlace *place = rows->place;
  const PolderCSR   *csr   = rows->csr;
  PetscScalar       *scale;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(place, csr->m, &scale));
  PetscCall((*place->zero)(scale, sizeof(*scale) * (size_t)csr->m));
  PolderRun(place, PolderRowScale, csr->m, csr->ai, csr->aj, csr->aa, PETSC_TRUE, scale);
  if (csr->bi) PolderRun(place, PolderRowScale, csr->m, csr->bi, csr->bj, csr->ba, PETSC_FALSE, scale);
  PolderRun(place, PolderComponentsByScale, csr->m, csr->ai, csr->aj, csr->aa, scale, jump, comp);
  PetscCall(PolderComponentsFinish(rows, (PolderAcross){.jump = jump, .scale = scale}, comp, bound));
  PetscCall((*place->free)(&scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
