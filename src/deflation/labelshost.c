/* The steps of labelling on the host, where the rows may be distributed. */
#include "deflationlabels.h"
#include "core/gather.h"
#include "kernels/labels.h"
#include <petsc/private/hashmapij.h>

typedef struct {
  PetscInt a, b, id;
} PolderKey;

static int PolderKeyCompare(const void *x, const void *y)
{
  const PolderKey *p = (const PolderKey *)x, *q = (const PolderKey *)y;

  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return (p->b > q->b) - (p->b < q->b);
}

/* Numbers the keys of all processes in ascending order: id of each local key becomes its number */
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

static PetscErrorCode PolderLabelsCompress_Host(const PolderLabelRows *rows, PolderPairs pairs, PetscInt label[], PetscInt *d)
{
  const PetscInt m = rows->csr->m;
  PetscHMapIJ    map;
  PetscHashIJKey hash, last = {-1, -1};
  PolderKey     *key;
  PetscInt       n = 0, room = 64, id = -1;

  PetscFunctionBegin;
  PetscCall(PetscHMapIJCreate(&map));
  PetscCall(PetscMalloc1(room, &key));
  for (PetscInt i = 0; i < m; ++i) {
    hash.i = pairs.part ? pairs.part[i] : 0;
    hash.j = pairs.comp ? pairs.comp[i] : 0;
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
  PetscCall(PolderKeysNumber(rows->comm, n, key, d));
  for (PetscInt i = 0; i < m; ++i) label[i] = label[i] < 0 ? -1 : key[label[i]].id;
  PetscCall(PetscFree(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each component keeps the number of its smallest row */
static PetscErrorCode PolderComponentsLocal_Host(const PolderLabelRows *rows, PetscInt comp[], PetscInt *first, PetscInt *n)
{
  PetscFunctionBegin;
  (void)comp;
  *first = rows->csr->rstart;
  *n     = rows->csr->m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the components: each has the number of its smallest row, and is counted by the owner of that row */
static PetscErrorCode PolderComponentsCount_Host(const PolderLabelRows *rows, PetscInt comp[], PetscInt *n, PetscInt *bound)
{
  const PolderCSR *csr  = rows->csr;
  PetscInt         here = 0;

  PetscFunctionBegin;
  (void)bound; // the numbers remain
  for (PetscInt i = 0; i < csr->m; ++i) here += comp[i] == csr->rstart + i;
  PetscCallAllreduce(&here, n, 1, MPIU_INT, MPI_SUM, rows->comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderRegionsNumber_Host(const PolderLabelRows *rows, PetscInt bound, PetscInt comp[], PetscInt **label, PetscInt *n)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->csr->m, label));
  PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = 1, .ncomp = bound, .comp = comp}, *label, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest row of the region, found by the processes that own a part of it */
static PetscErrorCode PolderRegionsName_Host(const PolderLabelRows *rows, PetscInt k, const PetscInt comp[], PetscInt **label, PetscInt *name)
{
  PetscInt smallest = -1;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < rows->csr->m && smallest < 0; ++i) {
    if ((*label)[i] == k) smallest = comp[i];
  }
  PetscCallAllreduce(&smallest, name, 1, MPIU_INT, MPI_MAX, rows->comm);
  PetscCall(PetscFree(*label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderRegionsRenumber_Host(const PolderLabelRows *rows, PetscInt comp[], PetscInt *bound)
{
  PetscFunctionBegin;
  (void)rows;
  (void)comp;
  (void)bound; // the numbers of smallest rows need not be consecutive
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderLabelSteps PolderLabelsOnHost = {
  .place           = &PolderOnHost,
  .compress        = PolderLabelsCompress_Host,
  .findgrid        = PolderGridFind_Host,
  .partition       = PolderMatPartition,
  .localcomponents = PolderComponentsLocal_Host,
  .countcomponents = PolderComponentsCount_Host,
  .numberregions   = PolderRegionsNumber_Host,
  .nameregion      = PolderRegionsName_Host,
  .renumber        = PolderRegionsRenumber_Host,
};
