/*
  Pairwise-aggregation multigrid on several processes: levels that are grids of which each process has whole planes. Their interpolation is linear across the
  border of a process, and the coupling of two boxes there is that of boxes within a process, so the levels are those of one process.
*/
#include "pamgsetup.h"
#include "kernels/levelgridrow.h"

PetscErrorCode PCPAMGFreeBorder(const PC_PAMG *pamg, PamgBorder *X)
{
  PetscFunctionBegin;
  PetscCall(pamg->place->free(&X->B.w));
  PetscCall(pamg->place->free(&X->give));
  PetscCall(pamg->place->free(&X->got));
  PetscCall(pamg->place->free(&X->beyond));
  PetscCall(PetscFree(X->scaled));
  PetscCall(pamg->place->free(&X->there));
  if (!pamg->place->device) {
    PetscCall(PetscFree(X->rows.row));
    PetscCall(PetscFree(X->rows.ptr));
  }
  PetscCall(PolderHaloDestroy(&X->parts));
  if (X->ownsplanes) PetscCall(PolderHaloDestroy(&X->planes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows with off-process entries at the place of the level; *there: the same on the host, without values */
static PetscErrorCode PamgBorderRows(const PC_PAMG *pamg, PamgLevel *L, const PolderSparseRows **there)
{
  PolderSparseRows *rows = &L->border.rows;
  const PolderCSR  *csr  = &L->csr;

  PetscFunctionBegin;
  *there = pamg->place->device ? &L->outer.rows : rows;
  if (pamg->place->device) {
    *rows = L->outer.rows_d;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCSRListRows(L->n, csr->bi, rows));
  rows->col = (PetscInt *)csr->bj;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has this process whole planes of `plane` cells, an even number of them unless it is the last one, and only entries straight across the border? */
static PetscBool PamgHasPlanes(const PamgLevel *L, PetscInt plane, const PolderSparseRows *rows)
{
  const PolderPlanes *at    = &L->outer.at;
  const PetscInt      first = L->csr.rstart;

  if (L->grid.shift || L->n % plane || (L->n / plane % 2 && first + L->n < L->N)) return PETSC_FALSE;
  if (L->outer.planes) return (PetscBool)((!at->below || at->below == plane) && (!at->above || at->above == plane));
  for (PetscInt k = 0; k < rows->n; ++k) {
    for (PetscInt e = rows->ptr[k]; e < rows->ptr[k + 1]; ++e) {
      const PetscInt away = L->csr.garray[rows->col[e]] - first - rows->row[k];

      if (away != plane && away != -plane) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* *all: do all processes that have rows agree on these three numbers, and does it hold on each? *too: is this the case on all processes as well? */
static PetscErrorCode PamgAgree(const PamgLevel *L, PetscBool holds, const PetscInt numbers[3], PetscBool *all, PetscBool *too)
{
  PetscInt least[8] = {holds, *too};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 3; ++k) {
    least[2 + 2 * k] = L->n ? numbers[k] : PETSC_MAX_INT;
    least[3 + 2 * k] = L->n ? -numbers[k] : PETSC_MAX_INT;
  }
  PetscCallAllreduce(MPI_IN_PLACE, least, 8, MPIU_INT, MPI_MIN, L->comm);
  *all = (PetscBool)(least[0] > 0);
  for (PetscInt k = 0; k < 3; ++k) *all = (PetscBool)(*all && least[2 + 2 * k] == -least[3 + 2 * k]);
  *too = (PetscBool)(*all && least[1] > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *planes <- the exchange of the next level, which may be NULL, instead, where it has the same ghosts on all processes */
static PetscErrorCode PamgSharePlanes(MPI_Comm comm, PolderHalo next, PolderHalo *planes)
{
  const PetscInt *ours, *theirs;
  PetscInt        count, have;
  PetscMPIInt     same;

  PetscFunctionBegin;
  if (!next) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetGhosts(*planes, &count, &ours));
  PetscCall(PolderHaloGetGhosts(next, &have, &theirs));
  same = have == count;
  for (PetscInt k = 0; k < count && same; ++k) same = ours[k] == theirs[k];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloDestroy(planes));
  *planes = next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An exchange of the first and the last plane of boxes of each process, which has n values from number `first` on */
static PetscErrorCode PamgExchangePlanes(const PamgLevel *L, PetscInt n, PetscInt first, PolderHalo *halo)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloCreatePlanes(L->comm, n, first, L->border.B.cplane, L->border.beside, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X->beside[] <- the processes before and after this one among those with rows, -1 where there is none; X->before; X->first */
static PetscErrorCode PamgFindBeside(const PamgLevel *L, PamgBorder *X)
{
  const PetscInt mine[2] = {L->n > 0, L->nc};
  PetscInt      *all;
  PetscMPIInt    size, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(L->comm, &size));
  PetscCallMPI(MPI_Comm_rank(L->comm, &rank));
  PetscCall(PetscMalloc1(2 * size, &all));
  PetscCallMPI(MPI_Allgather(mine, 2, MPIU_INT, all, 2, MPIU_INT, L->comm));
  X->before = X->first = 0;
  X->beside[0] = X->beside[1] = -1;
  for (PetscMPIInt r = 0; r < rank; ++r) {
    X->before += all[2 * r];
    X->first += all[2 * r + 1];
    if (L->n && all[2 * r]) X->beside[0] = r;
  }
  for (PetscMPIInt r = size - 1; r > rank; --r) {
    if (L->n && all[2 * r]) X->beside[1] = r;
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFindBorder(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel              *L     = &pamg->level[l];
  PamgBorder             *X     = &L->border;
  const PolderLevelGrid  *G     = &L->grid;
  const int               dir   = L->n ? L->along : 0;
  const PetscInt          plane = dir ? PolderLevelGridStride(G->size, dir) : 0, numbers[] = {plane, G->size[0], dir};
  PetscBool               crosses = PETSC_FALSE;
  const PolderSparseRows *rows;

  PetscFunctionBegin;
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgBorderRows(pamg, L, &rows));
  if (pamg->place->device) PetscCall(PCPAMGKnowsLists(pamg, L, &X->lists));
  PetscCall(PamgAgree(L, (PetscBool)(!L->n || (G->join[dir] && PamgHasPlanes(L, plane, rows))), numbers, &crosses, &X->lists));
  if (!crosses) PetscFunctionReturn(PETSC_SUCCESS);
  X->B = (PolderLevelBorder){.dir = dir ? dir : 2, .plane = plane, .cplane = dir ? PolderLevelGridStride(G->csize, dir) : 0};
  PetscCall(PamgFindBeside(L, X));
  for (int s = 0; s < 2; ++s) X->B.side[s] = X->beside[s] >= 0;
  PetscCall(PolderPlaceMalloc(pamg->place, 2 * plane, &X->B.w));
  PetscCall(pamg->place->malloc(PamgValueSize(pamg) * 2 * (size_t)X->B.cplane, &X->give));
  PetscCall(pamg->place->malloc(PamgValueSize(pamg) * 2 * (size_t)X->B.cplane, &X->got));
  PetscCall(pamg->place->zero(X->give, PamgValueSize(pamg) * 2 * (size_t)X->B.cplane));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGBorderExchanges(PC_PAMG *pamg, PetscInt l, PetscInt64 count)
{
  PamgLevel     *L    = &pamg->level[l];
  PamgBorder    *X    = &L->border;
  const PetscInt both = 2 * X->B.cplane;

  PetscFunctionBegin;
  if (!X->B.dir) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgExchangePlanes(L, both, both * X->before, &X->parts));
  if (!PamgGathers(pamg, L, count)) PetscCall(PamgExchangePlanes(L, L->nc, X->first, &X->planes));
  X->ownsplanes = (PetscBool)(X->planes != NULL);
  if (pamg->place->device) PetscCall(PolderHaloConnectDevice(X->parts));
  if (X->planes && X->lists) PetscCall(PolderHaloConnectDevice(X->planes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGBorderValues(PC_PAMG *pamg, PamgLevel *L, const PolderLevelGridEntries *A)
{
  const PolderPlace *place = pamg->place;
  PamgBorder        *X     = &L->border;
  PolderBorderRows   R     = {.rows = X->rows};
  const PetscInt     nz    = (PetscInt)L->nzouter;
  PetscReal         *inner, *ghosts;

  PetscFunctionBegin;
  if (!X->B.dir) PetscFunctionReturn(PETSC_SUCCESS);
  if (!place->device) R.rows.val = (PetscScalar *)L->csr.ba;
  if (!place->device) R.rows.col = (PetscInt *)L->csr.bj;
  PetscCall(PolderGhostsBelow(L->csr.nghost, L->csr.garray, L->csr.rstart, &R.below));
  PetscCall(PolderPlaceMalloc(place, L->n, &inner));
  PetscCall(PolderPlaceMalloc(place, L->csr.nghost, &ghosts));
  PetscCall(PolderPlaceMalloc(place, nz, &R.scaled));
  PolderRun(place, PolderLevelBorderInner, &L->grid, &X->B, A, L->agg, inner);
  PetscCall(PolderHaloExchangeAt(L->halo, place, MPIU_SCALAR, inner, ghosts));
  R.inner = ghosts;
  PetscCall(place->zero(X->B.w, sizeof(*X->B.w) * 2 * (size_t)X->B.plane));
  PolderRun(place, PolderLevelBorderWeights, &L->grid, &X->B, A, L->agg, &R);
  PetscCall(place->free(&inner));
  PetscCall(place->free(&ghosts));
  PetscCall(place->free(&X->there));
  X->there = R.scaled;
  if (X->lists) PetscFunctionReturn(PETSC_SUCCESS);
  if (!X->scaled) PetscCall(PetscMalloc1(nz, &X->scaled));
  PetscCall(PolderPlaceTake(place, nz, R.scaled, X->scaled));
  PetscCall(place->free(&X->there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGBorderPlanes(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel  *L = &pamg->level[l], *C = L + 1;
  PamgBorder *X = &L->border;

  PetscFunctionBegin;
  if (!X->B.dir || C->gathered) PetscFunctionReturn(PETSC_SUCCESS);
  if (!X->lists) PetscCall(PamgSharePlanes(L->comm, C->halo, &X->planes));
  X->ownsplanes = (PetscBool)(X->planes != C->halo);
  PetscCall(pamg->place->malloc(PamgValueSize(pamg) * 2 * (size_t)X->B.cplane, &X->beyond));
  PetscFunctionReturn(PETSC_SUCCESS);
}
