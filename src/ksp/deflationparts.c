/* Parts of the rows for the deflation spaces: boxes of a structured grid, METIS parts otherwise, and how many of them pay. */
#include "deflationlabels.h"
#include <metis.h>

/* An iteration moves about 300 bytes a row; the coarse solve may add a tenth of that, and its set-up may take as long as ten iterations
   of a process that moves 2.5 bytes for each flop of the factorisation */
#define POLDER_BYTES_PER_ROW  300
#define POLDER_COARSE_SHARE   0.1
#define POLDER_SETUP_SHARE    10
#define POLDER_BYTES_PER_FLOP 2.5
/* Below these sides of a box AZ has entries on nearly all rows */
#define POLDER_MIN_SIDE_2D 8
#define POLDER_MIN_SIDE_3D 6
/* METIS works on aggregates of rows when there are more rows than this */
#define POLDER_METIS_ROWS 20000

static PetscErrorCode PolderDeflationTarget(PolderDeflationSpace s, const PolderCSR *csr, PetscInt dim, PetscInt *target)
{
  PetscMPIInt size;
  PetscReal   bytes;
  PetscInt    rows = dim == 1 ? POLDER_MIN_SIDE_2D : (dim == 2 ? PetscSqr(POLDER_MIN_SIDE_2D) : POLDER_MIN_SIDE_3D * PetscSqr(POLDER_MIN_SIDE_3D));

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(s->comm, &size));
  bytes = (PetscReal)POLDER_BYTES_PER_ROW * (PetscReal)csr->M / (PetscReal)size;
  PetscCall(PolderCoarseGetLimit(s->coarse, dim, POLDER_COARSE_SHARE * bytes, POLDER_SETUP_SHARE * bytes / POLDER_BYTES_PER_FLOP, target));
  *target = PetscMin(*target, csr->M / rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PolderGridChooseBoxes(const PolderGrid *grid, PetscInt target, PetscInt boxes[3])
{
  PetscReal lo = 0, hi = 1; /* side of a box: lo gives too many boxes, hi does not */

  for (int d = 0; d < 3; ++d) hi = PetscMax(hi, 2 * (PetscReal)grid->n[d] + 1);
  for (int step = 0; step < 60; ++step) {
    const PetscReal side  = 0.5 * (lo + hi);
    PetscReal       count = 1;

    for (int d = 0; d < 3; ++d) count *= PetscClipInterval(PetscFloorReal(grid->n[d] / side + 0.5), 1, (PetscReal)grid->n[d]);
    if (count > (PetscReal)target) lo = side;
    else hi = side;
  }
  for (int d = 0; d < 3; ++d) boxes[d] = PetscClipInterval((PetscInt)(grid->n[d] / hi + 0.5), 1, grid->n[d]);
}

PetscErrorCode PolderPartsCreate(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PolderParts *parts)
{
  PetscBool metis;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(parts, sizeof(*parts)));
  PetscCall(PolderDeflationGetGrid(s, A, &parts->grid));
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONPARTITION, &metis));
  PetscCheck(metis || !s->nboxes || parts->grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE, "-deflation_boxes needs a structured grid: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space partition");
  PetscCall(PolderDeflationTarget(s, csr, parts->grid.dim ? parts->grid.dim : 3, &parts->target));
  PetscCheck(s->count <= csr->M, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "-deflation_count %" PetscInt_FMT " asks for more vectors than the matrix has rows (%" PetscInt_FMT ")", s->count, csr->M);
  if (s->count) {
    parts->target = s->count;
    parts->fixed  = PETSC_TRUE;
  }
  if (metis || !s->nboxes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(s->nboxes == parts->grid.dim, s->comm, PETSC_ERR_ARG_SIZ, "-deflation_boxes has %" PetscInt_FMT " values but the grid has %" PetscInt_FMT " dimensions", s->nboxes, parts->grid.dim);
  for (PetscInt d = 0; d < 3; ++d) {
    parts->boxes[d] = d < s->nboxes ? s->boxes[d] : 1;
    PetscCheck(parts->boxes[d] > 0 && parts->boxes[d] <= parts->grid.n[d], s->comm, PETSC_ERR_ARG_OUTOFRANGE, "-deflation_boxes: %" PetscInt_FMT " boxes do not fit the %" PetscInt_FMT " grid points of direction %" PetscInt_FMT, parts->boxes[d],
               parts->grid.n[d], d);
  }
  parts->fixed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregates of neighbouring rows: agg[i] of row i, na of them */
static PetscErrorCode PolderAggregate(const PolderCSR *csr, PetscInt agg[], PetscInt *na)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < csr->m; ++i) agg[i] = -1;
  for (PetscInt i = 0; i < csr->m; ++i) { /* rows whose neighbours are all free start an aggregate with them */
    PetscBool isfree = PETSC_TRUE;

    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1] && isfree; ++k) isfree = (PetscBool)(agg[csr->aj[k]] < 0);
    if (!isfree || agg[i] >= 0) continue;
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) agg[csr->aj[k]] = n;
    agg[i] = n++;
  }
  for (PetscInt i = 0; i < csr->m; ++i) { /* the others join a neighbour */
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1] && agg[i] < 0; ++k) agg[i] = agg[csr->aj[k]];
    if (agg[i] < 0) agg[i] = n++;
  }
  *na = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds b to the adjacency of a; mark[b] = place of b in the list of the current a */
static void PolderAdjacencyAdd(PetscInt a, PetscInt b, PetscInt start, PetscInt mark[], idx_t adj[], idx_t weight[], PetscInt *n, idx_t w)
{
  if (a == b) return;
  if (mark[b] >= start && mark[b] < *n && adj[mark[b]] == (idx_t)b) weight[mark[b]] += w;
  else {
    mark[b]    = *n;
    adj[*n]    = (idx_t)b;
    weight[*n] = w;
    ++*n;
  }
}

/* Symmetric graph of the aggregates: entries of the diagonal block in both directions, weighted by their number */
static PetscErrorCode PolderAggregateGraph(const PolderCSR *csr, const PetscInt agg[], PetscInt na, idx_t **xadj, idx_t **adj, idx_t **adjw, idx_t **vw)
{
  PetscInt *start, *row, *mark, *tstart, *tcol, nz = csr->ai[csr->m], n = 0, *pos;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(na + 1, xadj, 2 * nz, adj, 2 * nz, adjw, na, vw));
  PetscCall(PetscCalloc5(na + 1, &start, csr->m, &row, na + 1, &tstart, nz, &tcol, na, &pos));
  PetscCall(PetscMalloc1(na, &mark));
  for (PetscInt i = 0; i < csr->m; ++i) {
    start[agg[i] + 1]++;
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) tstart[agg[csr->aj[k]] + 1]++;
  }
  for (PetscInt a = 0; a < na; ++a) {
    (*vw)[a] = (idx_t)start[a + 1];
    start[a + 1] += start[a];
    tstart[a + 1] += tstart[a];
    mark[a] = -1;
  }
  for (PetscInt i = 0; i < csr->m; ++i) row[start[agg[i]] + pos[agg[i]]++] = i;
  PetscCall(PetscArrayzero(pos, na));
  for (PetscInt i = 0; i < csr->m; ++i) {
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
      const PetscInt b = agg[csr->aj[k]];

      tcol[tstart[b] + pos[b]++] = agg[i];
    }
  }
  (*xadj)[0] = 0;
  for (PetscInt a = 0; a < na; ++a) {
    const PetscInt first = n;

    for (PetscInt r = start[a]; r < start[a + 1]; ++r) {
      for (PetscInt k = csr->ai[row[r]]; k < csr->ai[row[r] + 1]; ++k) PolderAdjacencyAdd(a, agg[csr->aj[k]], first, mark, *adj, *adjw, &n, 1);
    }
    for (PetscInt k = tstart[a]; k < tstart[a + 1]; ++k) PolderAdjacencyAdd(a, tcol[k], first, mark, *adj, *adjw, &n, 1);
    (*xadj)[a + 1] = (idx_t)n;
  }
  PetscCall(PetscFree(mark));
  PetscCall(PetscFree5(start, row, tstart, tcol, pos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal block of this process in nparts parts */
static PetscErrorCode PolderMetis(const PolderCSR *csr, PetscInt bs, PetscInt nparts, PetscInt part[], PetscInt *failed)
{
  PetscInt *agg, na;
  idx_t     nv, ncon = 1, np, cut, *xadj, *adj, *adjw, *vw, *result, options[METIS_NOPTIONS];
  int       err = METIS_OK;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &agg));
  if (bs == 1 && csr->m > POLDER_METIS_ROWS && csr->m / nparts >= 64) PetscCall(PolderAggregate(csr, agg, &na));
  else {
    na = csr->m / bs;
    for (PetscInt i = 0; i < csr->m; ++i) agg[i] = i / bs;
  }
  PetscCall(PolderAggregateGraph(csr, agg, na, &xadj, &adj, &adjw, &vw));
  PetscCall(PetscMalloc1(na, &result));
  nv = (idx_t)na;
  np = (idx_t)PetscMin(nparts, na);
  if (xadj[na] == 0 || np == 1) { /* no edges to cut */
    for (PetscInt a = 0; a < na; ++a) result[a] = (idx_t)((PetscInt64)a * np / na);
  } else {
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    err                             = METIS_PartGraphKway(&nv, &ncon, xadj, adj, vw, NULL, adjw, &np, NULL, NULL, options, &cut, result);
  }
  *failed = err != METIS_OK;
  for (PetscInt i = 0; i < csr->m && !*failed; ++i) part[i] = (PetscInt)result[agg[i]];
  PetscCall(PetscFree(result));
  PetscCall(PetscFree4(xadj, adj, adjw, vw));
  PetscCall(PetscFree(agg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* count METIS parts, shared out over the processes by their rows; a process too small for a part of its own joins the next one's first */
static PetscErrorCode PolderPartsMetis(Mat A, const PolderCSR *csr, PetscInt count, PetscInt part[])
{
  PetscInt first, end, bs, bad[2] = {0, 0}, all[2];

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  first  = csr->M ? (PetscInt)((PetscInt64)csr->rstart * count / csr->M) : 0;
  end    = csr->M ? (PetscInt)((PetscInt64)(csr->rstart + csr->m) * count / csr->M) : 0;
  bad[0] = 2 * (PetscInt64)csr->ai[csr->m] >= IDX_MAX;
  if (csr->m && !bad[0]) PetscCall(PolderMetis(csr, bs, PetscMax(end - first, 1), part, &bad[1]));
  PetscCallAllreduce(bad, all, 2, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
  PetscCheck(!all[0], PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "METIS was built with %d-bit indices, too small for the matrix of one of the processes: use more processes, a METIS with 64-bit indices, or another -deflation_space", IDXTYPEWIDTH);
  PetscCheck(!all[1], PetscObjectComm((PetscObject)A), PETSC_ERR_LIB, "METIS could not partition the matrix graph of one of the processes: use another -deflation_space");
  for (PetscInt i = 0; i < csr->m; ++i) part[i] = (first + part[i]) * bs + i % bs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPartsFill(PolderParts *parts, Mat A, const PolderCSR *csr, PetscInt target, PetscInt part[])
{
  PetscInt bs;

  PetscFunctionBegin;
  if (parts->grid.dim) {
    if (!parts->fixed || !parts->boxes[0]) PolderGridChooseBoxes(&parts->grid, PetscMax(1, target / parts->grid.dof), parts->boxes);
    PetscCall(PolderGridBoxes(&parts->grid, csr->m, parts->boxes, part));
    parts->count = parts->boxes[0] * parts->boxes[1] * parts->boxes[2];
    if (parts->grid.dim == 1) PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " boxes", parts->boxes[0]));
    else if (parts->grid.dim == 2) PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " x %" PetscInt_FMT " boxes", parts->boxes[0], parts->boxes[1]));
    else PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " boxes", parts->boxes[0], parts->boxes[1], parts->boxes[2]));
  } else {
    PetscCall(MatGetBlockSize(A, &bs));
    parts->count = PetscMax(1, target / bs);
    PetscCall(PolderPartsMetis(A, csr, parts->count, part));
    PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " METIS parts of the matrix graph", parts->count));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
