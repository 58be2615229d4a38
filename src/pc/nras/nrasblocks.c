/* The two levels of blocks: the outer one of each process, with layers of rows of other processes, and the inner ones that it is cut into. */
#include "nrasimpl.h"

/* The rows of this process and `layers` layers of neighbours, with their matrix. Collective */
static PetscErrorCode NRASOverlap_Private(Mat A, PetscInt layers, NRASOuter *o)
{
  const PetscInt *row;
  PetscInt        m, ghosts = 0, most;

  PetscFunctionBegin;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, o->n, o->rstart, 1, &o->is));
  PetscCall(MatIncreaseOverlap(A, 1, &o->is, layers));
  PetscCall(ISSort(o->is));
  PetscCall(MatCreateSubMatrices(A, 1, &o->is, &o->is, MAT_INITIAL_MATRIX, &o->sub));
  PetscCall(ISGetLocalSize(o->is, &m));
  PetscCall(PetscMalloc1(m - o->n, &o->garray));
  PetscCall(ISGetIndices(o->is, &row));
  for (PetscInt i = 0; i < m; ++i) {
    if (row[i] >= o->rstart && row[i] < o->rstart + o->n) continue;
    o->garray[ghosts++] = row[i];
    if (row[i] < o->rstart) o->nlow = ghosts;
  }
  PetscCall(ISRestoreIndices(o->is, &row));
  o->nghost = ghosts;
  PetscCallAllreduce(&ghosts, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
  if (most) PetscCall(PolderHaloCreate(PetscObjectComm((PetscObject)A), o->n, ghosts, o->garray, &o->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASSetUpOuter(PC pc)
{
  PC_NRAS    *nras = (PC_NRAS *)pc->data;
  NRASOuter  *o    = &nras->outer;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &o->n, NULL));
  PetscCall(MatGetOwnershipRange(pc->pmat, &o->rstart, NULL));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size > 1 && nras->set.outer) PetscCall(NRASOverlap_Private(pc->pmat, nras->set.outer, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASRefreshOuter(PC pc)
{
  NRASOuter *o = &((PC_NRAS *)pc->data)->outer;

  PetscFunctionBegin;
  if (o->sub) PetscCall(MatCreateSubMatrices(pc->pmat, 1, &o->is, &o->is, MAT_REUSE_MATRIX, &o->sub));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASDestroyOuter(NRASOuter *o)
{
  PetscFunctionBegin;
  if (o->sub) PetscCall(MatDestroySubMatrices(1, &o->sub));
  PetscCall(ISDestroy(&o->is));
  PetscCall(PetscFree(o->garray));
  PetscCall(PolderHaloDestroy(&o->halo));
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASGetGraph(PC pc, PolderCSR *csr, NRASGraph *graph)
{
  const NRASOuter *o = &((PC_NRAS *)pc->data)->outer;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(o->sub ? o->sub[0] : pc->pmat, csr));
  *graph = (NRASGraph){.m = csr->m, .ai = csr->ai, .aj = csr->aj};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASRestoreGraph(PC pc, PolderCSR *csr)
{
  const NRASOuter *o = &((PC_NRAS *)pc->data)->outer;

  PetscFunctionBegin;
  PetscCall(PolderMatRestoreCSR(o->sub ? o->sub[0] : pc->pmat, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of other processes join the part of a neighbour, layer by layer; those without any join part 0 */
static PetscErrorCode NRASJoinGhosts_Private(const NRASGraph *A, const NRASOuter *o, PetscInt part[])
{
  PetscBool more = (PetscBool)(o->nghost > 0);
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->m, &next));
  PetscCall(PetscArraycpy(next, part, A->m));
  while (more) {
    more = PETSC_FALSE;
    for (PetscInt i = 0; i < A->m; ++i) {
      for (PetscInt k = A->ai[i]; k < A->ai[i + 1]; ++k) {
        const PetscInt j = A->aj[k], to = part[i] < 0 ? i : j, from = part[i] < 0 ? j : i;

        if (part[from] < 0 || next[to] >= 0) continue;
        next[to] = part[from];
        more     = PETSC_TRUE;
      }
    }
    PetscCall(PetscArraycpy(part, next, A->m));
  }
  for (PetscInt i = 0; i < A->m; ++i) part[i] = PetscMax(part[i], 0);
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the parts that have rows; *n of them */
static PetscErrorCode NRASCompress_Private(PetscInt m, PetscInt bound, PetscInt part[], PetscInt *n)
{
  PetscInt *number;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscCalloc1(bound, &number));
  for (PetscInt i = 0; i < m; ++i) number[part[i]] = 1;
  for (PetscInt p = 0; p < bound; ++p) number[p] = number[p] ? (*n)++ : -1;
  for (PetscInt i = 0; i < m; ++i) part[i] = number[part[i]];
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of block b, whose owned ones are given, and `layers` layers of neighbours; mark[] is b in all of them, and less elsewhere */
static void NRASGrowBlock(const NRASGraph *A, PetscInt b, PetscInt layers, PetscInt *n, PetscInt rows[], PetscInt mark[])
{
  PetscInt begin = 0;

  for (PetscInt i = 0; i < *n; ++i) mark[rows[i]] = b;
  for (PetscInt layer = 0; layer < layers; ++layer) {
    const PetscInt end = *n;

    for (PetscInt i = begin; i < end; ++i) {
      for (PetscInt k = A->ai[rows[i]]; k < A->ai[rows[i] + 1]; ++k) {
        const PetscInt j = A->aj[k];

        if (mark[j] == b) continue;
        mark[j]      = b;
        rows[(*n)++] = j;
      }
    }
    begin = end;
  }
}

/* The rows of all blocks from their parts; *full <- are they too many? Then blocks has those so far */
static PetscErrorCode NRASRowsOfBlocks_Private(const NRASGraph *A, PetscInt layers, NRASBlocks *blocks, PetscBool *full)
{
  PetscInt *start, *owned, *mark, *rows, total = 0, room = 2 * A->m;

  PetscFunctionBegin;
  PetscCall(PetscCalloc4(blocks->n + 2, &start, A->m, &owned, A->m, &mark, A->m, &rows));
  PetscCall(PetscMalloc1(blocks->n + 1, &blocks->ptr));
  if (!layers) room = A->m;
  PetscCall(PetscMalloc1(room, &blocks->row));
  for (PetscInt i = 0; i < A->m; ++i) {
    start[blocks->part[i] + 2]++;
    mark[i] = -1;
  }
  for (PetscInt b = 0; b < blocks->n; ++b) start[b + 2] += start[b + 1];
  for (PetscInt i = 0; i < A->m; ++i) owned[start[blocks->part[i] + 1]++] = i;
  blocks->ptr[0] = 0;
  for (PetscInt b = 0; b < blocks->n; ++b) {
    PetscInt n = start[b + 1] - start[b];

    PetscCall(PetscArraycpy(rows, owned + start[b], n));
    NRASGrowBlock(A, b, layers, &n, rows, mark);
    if (layers) PetscCall(PetscSortInt(n, rows));
    if ((PetscInt64)total + n > NRASFillMost(A)) {
      *full     = PETSC_TRUE;
      blocks->n = b;
      break;
    }
    PetscCheck((PetscInt64)total + n < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "PC of type nras: the blocks of a process have more rows than the integers of this PETSc count: use less -pc_nras_inner_overlap");
    if (total + n > room) {
      room = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, 2 * ((PetscInt64)total + n));
      PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)room, &blocks->row));
    }
    PetscCall(PetscArraycpy(blocks->row + total, rows, n));
    blocks->ptr[b + 1] = total += n;
  }
  PetscCall(PetscFree4(start, owned, mark, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Automatic: one block on the host, and on the device as many as make blocks that fit into the memory of a multiprocessor several at a time */
#define NRAS_ROWS_A_BLOCK 2048

PetscErrorCode PCNRASSetUpBlocks(PC pc, const PolderCSR *csr, const NRASGraph *graph, NRASBlocks *blocks)
{
  PC_NRAS         *nras   = (PC_NRAS *)pc->data;
  const NRASOuter *o      = &nras->outer;
  PetscInt         nblock = nras->set.blocks, *part, smallest = PETSC_MAX_INT;

  PetscFunctionBegin;
  if (nblock == PETSC_DECIDE) nblock = nras->device ? (o->n + NRAS_ROWS_A_BLOCK - 1) / NRAS_ROWS_A_BLOCK : 1;
  PetscCall(PetscMalloc1(graph->m, &blocks->part));
  PetscCall(PetscMalloc1(o->n, &part));
  PetscCall(PCNRASCut(pc, csr, PetscMax(1, nblock), part));
  if (!o->n) PetscCall(PetscArrayzero(blocks->part, graph->m));
  for (PetscInt i = 0; i < graph->m && o->n; ++i) blocks->part[i] = NRASEntry(o, i) < o->n ? part[NRASEntry(o, i)] : -1;
  PetscCall(PetscFree(part));
  PetscCall(NRASJoinGhosts_Private(graph, o, blocks->part));
  PetscCall(NRASCompress_Private(graph->m, PetscMax(1, nblock), blocks->part, &blocks->n));
  PetscCall(NRASRowsOfBlocks_Private(graph, nras->set.inner, blocks, &nras->counts.full));
  for (PetscInt b = 0; b < blocks->n; ++b) smallest = PetscMin(smallest, blocks->ptr[b + 1] - blocks->ptr[b]);
  nras->counts.smallest = smallest;
  nras->counts.matrix   = csr->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASDestroyBlocks(NRASBlocks *blocks)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(blocks->ptr));
  PetscCall(PetscFree(blocks->row));
  PetscCall(PetscFree(blocks->part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
