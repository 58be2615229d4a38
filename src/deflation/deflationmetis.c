/* METIS parts of the graph of the rows of each process. */
#include "deflationlabels.h"
#include <metis.h>

/* METIS works on aggregates of rows, at least this many for each part of a deflation space */
#define POLDER_METIS_VERTICES 8
/* One aggregation divides the number of vertices by about this factor */
#define POLDER_METIS_RATIO 8
/* The time of METIS grows with vertices times parts, so one call makes at most this many parts */
#define POLDER_METIS_PARTS 64

/* Directed graph; w = NULL or vw = NULL: weights 1 */
typedef struct {
  PetscInt        n;
  const PetscInt *xadj, *adj, *w, *vw;
} PolderGraph;

/* A row or column of more than POLDER_METIS_HUB times the mean number of entries, and of 32 besides, is a hub: all others are its neighbours, so parts of the
   graph with its edges would be anything */
#define POLDER_METIS_HUB 8

/* The graph of the rows without the edges of hubs; *without: it has arrays of its own, which the caller frees */
static PetscErrorCode PolderGraphWithoutHubs(const PolderCSR *csr, PolderGraph *g, PetscBool *without)
{
  const PetscInt n = csr->m, nz = n ? csr->ai[n] : 0, most = 32 + (n ? POLDER_METIS_HUB * (nz / n) : 0);
  PetscInt      *count, *xadj, *adj, kept = 0;

  PetscFunctionBegin;
  *g = (PolderGraph){.n = n, .xadj = csr->ai, .adj = csr->aj};
  PetscCall(PetscCalloc1(n, &count));
  for (PetscInt k = 0; k < nz; ++k) ++count[csr->aj[k]];
  for (PetscInt i = 0; i < n; ++i) {
    count[i] = PetscMax(count[i], csr->ai[i + 1] - csr->ai[i]);
    *without = (PetscBool)(*without || count[i] > most);
  }
  if (*without) {
    PetscCall(PetscMalloc1(n + 1, &xadj));
    PetscCall(PetscMalloc1(nz, &adj));
    xadj[0] = 0;
    for (PetscInt i = 0; i < n; ++i) {
      for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1] && count[i] <= most; ++k) {
        if (count[csr->aj[k]] <= most) adj[kept++] = csr->aj[k];
      }
      xadj[i + 1] = kept;
    }
    g->xadj = xadj;
    g->adj  = adj;
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregates of neighbouring vertices: agg[i] of vertex i, na of them */
static void PolderAggregate(const PolderGraph *g, PetscInt agg[], PetscInt *na)
{
  PetscInt n = 0;

  for (PetscInt i = 0; i < g->n; ++i) agg[i] = -1;
  for (PetscInt i = 0; i < g->n; ++i) { /* A vertex whose neighbours are all free starts an aggregate with them */
    PetscBool isfree = (PetscBool)(agg[i] < 0);

    for (PetscInt k = g->xadj[i]; k < g->xadj[i + 1] && isfree; ++k) isfree = (PetscBool)(agg[g->adj[k]] < 0);
    if (!isfree) continue;
    for (PetscInt k = g->xadj[i]; k < g->xadj[i + 1]; ++k) agg[g->adj[k]] = n;
    agg[i] = n++;
  }
  for (PetscInt i = 0; i < g->n; ++i) { /* The other vertices join a neighbour */
    for (PetscInt k = g->xadj[i]; k < g->xadj[i + 1] && agg[i] < 0; ++k) agg[i] = agg[g->adj[k]];
    if (agg[i] < 0) agg[i] = n++;
  }
  *na = n;
}

/* The graph of na aggregates, without loops; the caller frees its arrays */
static PetscErrorCode PolderGraphCollapse(const PolderGraph *g, const PetscInt agg[], PetscInt na, PolderGraph *coarse)
{
  PetscInt *start, *member, *place, *xadj, *adj, *w, *vw, nz = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(na + 1, &start, g->n, &member, na, &place));
  PetscCall(PetscMalloc1(na + 1, &xadj));
  PetscCall(PetscMalloc1(g->xadj[g->n], &adj));
  PetscCall(PetscMalloc1(g->xadj[g->n], &w));
  PetscCall(PetscCalloc1(na, &vw));
  for (PetscInt i = 0; i < g->n; ++i) {
    start[agg[i] + 1]++;
    vw[agg[i]] += g->vw ? g->vw[i] : 1;
  }
  for (PetscInt a = 0; a < na; ++a) start[a + 1] += start[a];
  for (PetscInt i = 0; i < g->n; ++i) member[start[agg[i]] + place[agg[i]]++] = i;
  for (PetscInt a = 0; a < na; ++a) place[a] = -1; /* From here on: position of a neighbour in adj */
  xadj[0] = 0;
  for (PetscInt a = 0; a < na; ++a) {
    for (PetscInt r = start[a]; r < start[a + 1]; ++r) {
      for (PetscInt k = g->xadj[member[r]]; k < g->xadj[member[r] + 1]; ++k) {
        const PetscInt b = agg[g->adj[k]], weight = g->w ? g->w[k] : 1;

        if (b == a) continue;
        if (place[b] >= xadj[a]) w[place[b]] += weight;
        else {
          place[b] = nz;
          adj[nz]  = b;
          w[nz++]  = weight;
        }
      }
    }
    xadj[a + 1] = nz;
  }
  PetscCall(PetscFree3(start, member, place));
  coarse->n    = na;
  coarse->xadj = xadj;
  coarse->adj  = adj;
  coarse->w    = w;
  coarse->vw   = vw;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderGraphFree(PolderGraph *g)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(g->xadj));
  PetscCall(PetscFree(g->adj));
  PetscCall(PetscFree(g->w));
  PetscCall(PetscFree(g->vw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The input of METIS: an undirected graph, each edge listed at both ends */
typedef struct {
  idx_t  n;
  idx_t *xadj, *adj, *w, *vw;
} PolderMetisGraph;

/* Adds the edges in the reverse direction. Both lists are in CSR; at[b] is the position of b in the list of the current vertex */
static PetscErrorCode PolderGraphSymmetrise(const PolderGraph *g, PolderMetisGraph *metis)
{
  PetscInt n = g->n, nz = g->xadj[n], *tstart, *tadj, *tw, *at, len = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n + 2, &tstart));
  PetscCall(PetscMalloc3(nz, &tadj, nz, &tw, n, &at));
  PetscCall(PetscMalloc4(n + 1, &metis->xadj, 2 * nz, &metis->adj, 2 * nz, &metis->w, n, &metis->vw));
  for (PetscInt k = 0; k < nz; ++k) tstart[g->adj[k] + 2]++;
  for (PetscInt i = 0; i < n; ++i) tstart[i + 2] += tstart[i + 1];
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt k = g->xadj[i]; k < g->xadj[i + 1]; ++k) {
      tadj[tstart[g->adj[k] + 1]] = i;
      tw[tstart[g->adj[k] + 1]++] = g->w[k];
    }
    at[i] = -1;
  }
  metis->n       = (idx_t)n;
  metis->xadj[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt k = g->xadj[i]; k < g->xadj[i + 1]; ++k) {
      at[g->adj[k]]   = len;
      metis->adj[len] = (idx_t)g->adj[k];
      metis->w[len++] = (idx_t)g->w[k];
    }
    for (PetscInt k = tstart[i]; k < tstart[i + 1]; ++k) {
      if (at[tadj[k]] >= metis->xadj[i]) metis->w[at[tadj[k]]] += (idx_t)tw[k];
      else {
        metis->adj[len] = (idx_t)tadj[k];
        metis->w[len++] = (idx_t)tw[k];
      }
    }
    metis->vw[i]       = (idx_t)g->vw[i];
    metis->xadj[i + 1] = (idx_t)len;
  }
  PetscCall(PetscFree(tstart));
  PetscCall(PetscFree3(tadj, tw, at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One call of METIS: np parts with sizes proportional to share[] (NULL: equal) */
static int PolderMetisKway(PolderMetisGraph *g, idx_t np, real_t share[], idx_t part[])
{
  idx_t ncon = 1, cut, options[METIS_NOPTIONS];

  np = PetscMin(np, g->n);
  if (np == 1 || g->xadj[g->n] == 0) { /* no edges to cut */
    for (idx_t a = 0; a < g->n; ++a) part[a] = (idx_t)((PetscInt64)a * np / g->n);
    return METIS_OK;
  }
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  return METIS_PartGraphKway(&g->n, &ncon, g->xadj, g->adj, g->vw, NULL, g->w, &np, share, NULL, options, &cut, part);
}

/* The graph of the n vertices list[] of g; local[] is work, -1 for all other vertices */
static void PolderSubgraph(const PolderMetisGraph *g, idx_t n, const idx_t list[], idx_t local[], PolderMetisGraph *sub)
{
  idx_t nz = 0;

  for (idx_t a = 0; a < n; ++a) local[list[a]] = a;
  sub->n       = n;
  sub->xadj[0] = 0;
  for (idx_t a = 0; a < n; ++a) {
    sub->vw[a] = g->vw[list[a]];
    for (idx_t k = g->xadj[list[a]]; k < g->xadj[list[a] + 1]; ++k) {
      if (local[g->adj[k]] < 0) continue;
      sub->adj[nz] = local[g->adj[k]];
      sub->w[nz++] = g->w[k];
    }
    sub->xadj[a + 1] = nz;
  }
  for (idx_t a = 0; a < n; ++a) local[list[a]] = -1;
}

/* np parts, made as parts of groups of parts */
static PetscErrorCode PolderMetisNested(PolderMetisGraph *g, idx_t np, idx_t part[], int *err)
{
  idx_t            ng = (idx_t)PetscSqrtReal((PetscReal)np), nz = g->xadj[g->n], *start, *list, *local, *first, *subpart;
  real_t          *share;
  PolderMetisGraph sub;

  PetscFunctionBegin;
  PetscCall(PetscMalloc6(ng, &share, ng + 1, &start, g->n, &list, g->n, &local, ng + 1, &first, g->n, &subpart));
  PetscCall(PetscMalloc4(g->n + 1, &sub.xadj, nz, &sub.adj, nz, &sub.w, g->n, &sub.vw));
  for (idx_t k = 0; k <= ng; ++k) first[k] = (idx_t)((PetscInt64)k * np / ng);
  for (idx_t k = 0; k < ng; ++k) share[k] = (real_t)(first[k + 1] - first[k]) / (real_t)np;
  *err = PolderMetisKway(g, ng, share, part);
  if (*err == METIS_OK) {
    PetscCall(PetscArrayzero(start, ng + 1));
    for (idx_t a = 0; a < g->n; ++a) {
      start[part[a] + 1]++;
      local[a] = -1;
    }
    for (idx_t k = 0; k < ng; ++k) start[k + 1] += start[k];
    for (idx_t a = 0; a < g->n; ++a) list[start[part[a]]++] = a;
    for (idx_t k = 0, begin = 0; k < ng && *err == METIS_OK; begin = start[k++]) { /* start[k] is now the end of group k */
      const idx_t n = start[k] - begin;

      if (!n) continue;
      PolderSubgraph(g, n, list + begin, local, &sub);
      *err = PolderMetisKway(&sub, first[k + 1] - first[k], NULL, subpart);
      for (idx_t a = 0; a < n && *err == METIS_OK; ++a) part[list[begin + a]] = first[k] + subpart[a];
    }
  }
  PetscCall(PetscFree4(sub.xadj, sub.adj, sub.w, sub.vw));
  PetscCall(PetscFree6(share, start, list, local, first, subpart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vertices for METIS: blocks of bs rows, then aggregates of them as long as enough are left for all parts; agg[i] of each row */
static PetscErrorCode PolderPartitionCoarsen(const PolderCSR *csr, PetscInt bs, PetscInt enough, PetscInt agg[], PolderGraph *g)
{
  PolderGraph fine, coarse;
  PetscInt   *map, na = 0;
  PetscBool   without = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderGraphWithoutHubs(csr, &fine, &without));
  if (bs == 1 && csr->m / POLDER_METIS_RATIO >= enough) PolderAggregate(&fine, agg, &na);
  if (na < enough) {
    na = csr->m / bs;
    for (PetscInt i = 0; i < csr->m; ++i) agg[i] = i / bs;
  }
  PetscCall(PolderGraphCollapse(&fine, agg, na, g));
  if (without) PetscCall(PolderGraphFree(&fine));
  PetscCall(PetscMalloc1(na, &map));
  while (g->n / POLDER_METIS_RATIO >= enough) {
    PolderAggregate(g, map, &na);
    if (na == g->n || na < enough) break;
    PetscCall(PolderGraphCollapse(g, map, na, &coarse));
    PetscCall(PolderGraphFree(g));
    *g = coarse;
    for (PetscInt i = 0; i < csr->m; ++i) agg[i] = map[agg[i]];
  }
  PetscCall(PetscFree(map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsPartition(const PolderCSR *csr, PetscInt bs, PetscInt vertices, PetscInt nparts, PetscInt part[], PetscInt *failed)
{
  PetscInt        *agg;
  PolderGraph      g;
  PolderMetisGraph metis;
  idx_t           *result, np;
  int              err = METIS_OK;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &agg));
  PetscCall(PolderPartitionCoarsen(csr, bs, (PetscInt)PetscMin((PetscInt64)vertices * nparts, (PetscInt64)PETSC_MAX_INT), agg, &g));
  *failed = 2 * (PetscInt64)g.xadj[g.n] >= IDX_MAX;
  if (!*failed) {
    PetscCall(PolderGraphSymmetrise(&g, &metis));
    PetscCall(PetscMalloc1(g.n, &result));
    np = (idx_t)PetscMin(nparts, g.n);
    if (np > POLDER_METIS_PARTS) PetscCall(PolderMetisNested(&metis, np, result, &err));
    else err = PolderMetisKway(&metis, np, NULL, result);
    if (err != METIS_OK) *failed = 2;
    for (PetscInt i = 0; i < csr->m && !*failed; ++i) part[i] = (PetscInt)result[agg[i]];
    PetscCall(PetscFree(result));
    PetscCall(PetscFree4(metis.xadj, metis.adj, metis.w, metis.vw));
  }
  PetscCall(PolderGraphFree(&g));
  PetscCall(PetscFree(agg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reuses the parts of an earlier set-up with the same pattern, composed on the matrix: they do not change in a flow with moving bubbles */
static PetscErrorCode PolderPartitionRecall(Mat A, PetscInt m, PetscInt count, PetscInt part[], PetscBool *found)
{
  IS               kept;
  PetscObjectState state;
  const PetscInt  *idx;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  PetscCall(PetscObjectQuery((PetscObject)A, "polder_partition", (PetscObject *)&kept));
  if (!kept) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNonzeroState(A, &state));
  PetscCall(ISGetIndices(kept, &idx));
  if (idx[m] == count && idx[m + 1] == (PetscInt)state) {
    PetscCall(PetscArraycpy(part, idx, m));
    *found = PETSC_TRUE;
  }
  PetscCall(ISRestoreIndices(kept, &idx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPartitionKeep(Mat A, PetscInt m, PetscInt count, const PetscInt part[])
{
  IS               kept;
  PetscObjectState state;
  PetscInt        *idx;

  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(A, &state));
  PetscCall(PetscMalloc1(m + 2, &idx));
  PetscCall(PetscArraycpy(idx, part, m));
  idx[m]     = count;
  idx[m + 1] = (PetscInt)state;
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)A), m + 2, idx, PETSC_OWN_POINTER, &kept));
  PetscCall(PetscObjectCompose((PetscObject)A, "polder_partition", (PetscObject)kept));
  PetscCall(ISDestroy(&kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distributes the parts over the processes by their number of rows; a process with too few rows for a part joins the first part of the next one */
static PetscErrorCode PolderPartitionOwn(const PolderCSR *csr, PetscInt bs, PetscInt count, PetscInt part[], PetscInt *failed)
{
  const PetscInt first = csr->M ? (PetscInt)((PetscInt64)csr->rstart * count / csr->M) : 0;
  const PetscInt end   = csr->M ? (PetscInt)((PetscInt64)(csr->rstart + csr->m) * count / csr->M) : 0;

  PetscFunctionBegin;
  *failed = 0;
  if (csr->m) PetscCall(PolderRowsPartition(csr, bs, POLDER_METIS_VERTICES, PetscMax(end - first, 1), part, failed));
  for (PetscInt i = 0; i < csr->m && !*failed; ++i) part[i] += first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatPartition(Mat A, const PolderCSR *csr, PetscInt count, PetscInt part[])
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);
  PetscInt  bs, failed, worst;
  PetscReal outside;
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(PolderPartitionRecall(A, csr->m, count, part, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(PolderMatShareOutside(A, &outside));
  if (outside > POLDER_SCATTERED) PetscCall(PolderMatPartitionWhole(A, bs, POLDER_METIS_VERTICES, count, part, &failed));
  else PetscCall(PolderPartitionOwn(csr, bs, count, part, &failed));
  PetscCallAllreduce(&failed, &worst, 1, MPIU_INT, MPI_MAX, comm);
  PetscCheck(worst != 1, comm, PETSC_ERR_SUP,
             "METIS was built with %d-bit indices, too small for the matrix of one of the processes: use more processes, a METIS with 64-bit indices, or "
             "another -deflation_space",
             IDXTYPEWIDTH);
  PetscCheck(!worst, comm, PETSC_ERR_LIB, "METIS could not partition the matrix graph of one of the processes: use another -deflation_space");
  for (PetscInt i = 0; i < csr->m; ++i) part[i] = part[i] * bs + i % bs;
  PetscCall(PolderPartitionKeep(A, csr->m, count, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
