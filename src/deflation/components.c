/* Connected components of the matrix graph, the same for any number of processes. */
#include "deflationlabels.h"
#include "core/gather.h"
#include "kernels/components.h"

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

/* Joins the components of different processes along the edges; comp[] holds the smallest global row of the component within this process */
static PetscErrorCode PolderComponentsMerge(MPI_Comm comm, const PolderCSR *csr, PetscInt nedge, PolderEdge edge[], PetscInt comp[])
{
  PetscInt    nall = 0, nid, *id, *parent, *merged;
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
  PetscCall(PetscMalloc1(csr->m, &merged));
  for (PetscInt i = 0; i < csr->m; ++i) merged[i] = csr->rstart + i;
  for (PetscInt i = 0; i < nid; ++i) {
    parent[i] = parent[parent[i]];
    if (id[i] >= csr->rstart && id[i] < csr->rstart + csr->m) merged[id[i] - csr->rstart] = id[parent[i]];
  }
  for (PetscInt i = 0; i < csr->m; ++i) {
    if (comp[i] >= 0) comp[i] = merged[comp[i] - csr->rstart];
  }
  PetscCall(PetscFree(merged));
  PetscCall(PetscFree2(id, parent));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collects the edges to other processes between rows of equal class or, if jump > 0, with scales within the factor jump */
static PetscErrorCode PolderComponentsAcross(Mat A, const PolderCSR *csr, const PetscInt cls[], const PetscScalar scale[], PetscReal jump, PetscInt comp[])
{
  PolderHalo   halo;
  PetscInt    *gcls = NULL, *gcomp, nedge = 0;
  PetscScalar *gscale = NULL;
  PolderEdge  *edge, last = {-1, -1};

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PetscMalloc3(csr->nghost, &gcls, csr->nghost, &gscale, csr->nghost, &gcomp));
  if (jump == 0) PetscCall(PolderHaloExchange(halo, MPIU_INT, cls, gcls)); // a process without rows has neither array
  else PetscCall(PolderHaloExchange(halo, MPIU_SCALAR, scale, gscale));
  PetscCall(PolderHaloExchange(halo, MPIU_INT, comp, gcomp));
  PetscCall(PetscMalloc1(csr->bi ? csr->bi[csr->m] : 0, &edge));
  for (PetscInt i = 0; i < csr->m && csr->bi; ++i) {
    if (comp[i] < 0) continue;
    for (PetscInt k = csr->bi[i]; k < csr->bi[i + 1]; ++k) {
      const PetscInt j = csr->bj[k];
      PetscBool      joined;

      if (jump == 0) joined = (PetscBool)(gcls[j] == cls[i]);
      else {
        const PetscReal s = PetscRealPart(scale[i]), t = PetscRealPart(gscale[j]);

        joined = (PetscBool)(t >= s / jump && t <= s * jump && csr->ba[k] != (PetscScalar)0);
      }
      if (joined && (last.a != comp[i] || last.b != gcomp[j])) {
        last.a        = comp[i];
        last.b        = gcomp[j];
        edge[nedge++] = last;
      }
    }
  }
  PetscCall(PolderComponentsMerge(PetscObjectComm((PetscObject)A), csr, nedge, edge, comp));
  PetscCall(PetscFree(edge));
  PetscCall(PetscFree3(gcls, gscale, gcomp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts components numbered by local rows to global numbers, and joins them to those of other processes */
static PetscErrorCode PolderComponentsFinish(const PolderLabelRows *rows, const PetscInt cls[], const PetscScalar scale[], PetscReal jump, PetscInt comp[])
{
  const PolderCSR *csr = rows->csr;

  PetscFunctionBegin;
  if (rows->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < csr->m; ++i) comp[i] += comp[i] < 0 ? 0 : csr->rstart;
  PetscCall(PolderComponentsAcross(rows->A, csr, cls, scale, jump, comp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatComponents(const PolderLabelRows *rows, const PetscInt cls[], PetscInt comp[])
{
  const PolderCSR *csr = rows->csr;

  PetscFunctionBegin;
  PolderRun(rows->place, PolderComponentsByClass, csr->m, csr->ai, csr->aj, cls, comp);
  PetscCall(PolderComponentsFinish(rows, cls, NULL, 0, comp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatRegions(const PolderLabelRows *rows, PetscReal jump, PetscInt comp[])
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
  PetscCall(PolderComponentsFinish(rows, NULL, scale, jump, comp));
  PetscCall((*place->free)(&scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
