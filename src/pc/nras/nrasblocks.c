/* The two levels of blocks: the outer one of each process, with layers of rows of other processes, and the inner ones that it is cut into. */
#include "nrasimpl.h"
#include "mat/rounding.h"
#include "mat/symmetry.h"

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

/* Entries beside the diagonal that are in all so many times as large as the diagonal */
#define NRAS_DOMINATED 2

/* Is the matrix not symmetric, and do the other entries dominate the diagonal? Factors of blocks can fail there where those of the matrix do not. Collective */
static PetscErrorCode NRASDominated_Private(PC pc, PetscBool *dominated)
{
  PC_NRAS  *nras = (PC_NRAS *)pc->data;
  Vec       v, sums;
  PetscReal diagonal, all;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(pc->pmat, &v, &sums));
  PetscCall(VecSet(v, 1));
  PetscCall(PolderMatMagnitude(pc->pmat, v, sums));
  PetscCall(MatGetDiagonal(pc->pmat, v));
  PetscCall(VecNorm(v, NORM_1, &diagonal));
  PetscCall(VecNorm(sums, NORM_1, &all));
  *dominated = (PetscBool)(all - diagonal > NRAS_DOMINATED * diagonal);
  PetscCall(PetscInfo(pc, "Entries beside the diagonal are in all %g times as large as the diagonal\n", (double)(all / diagonal - 1)));
  if (*dominated) {
    PetscCall(PolderMatProductsSymmetric(pc->pmat, &nras->symmetric));
    nras->tested = PETSC_TRUE;
    *dominated   = (PetscBool)!nras->symmetric;
  }
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASFindLayers(PC pc)
{
  PC_NRAS            *nras      = (PC_NRAS *)pc->data;
  const NRASSettings *set       = &nras->set;
  PetscBool           dominated = PETSC_FALSE;
  PetscMPIInt         size;
  PetscBool           open;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  open = (PetscBool)((set->inner == PETSC_DECIDE && (nras->device || set->blocks > 1)) || (set->outer == PETSC_DECIDE && size > 1));
  if (open && set->form == PC_NRAS_RESTRICTED && nras->partition != PC_NRAS_BOXES) PetscCall(NRASDominated_Private(pc, &dominated));
  nras->outerlayers = set->outer == PETSC_DECIDE ? (PetscInt)dominated : set->outer;
  nras->innerlayers = set->inner == PETSC_DECIDE ? (PetscInt)dominated : set->inner;
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
  if (size > 1 && nras->outerlayers) PetscCall(NRASOverlap_Private(pc->pmat, nras->outerlayers, o));
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

/* Numbers the parts below `bound` that have rows, and counts these: blocks->n and ptr[] */
static PetscErrorCode NRASCompress_Private(PetscInt m, PetscInt bound, NRASBlocks *blocks)
{
  PetscInt *number, *ptr, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(bound + 1, &ptr));
  PetscCall(PetscMalloc1(bound, &number));
  for (PetscInt i = 0; i < m; ++i) ptr[blocks->part[i] + 1]++;
  for (PetscInt p = 0; p < bound; ++p) {
    number[p] = n;
    if (!ptr[p + 1]) continue;
    ptr[n + 1] = ptr[p + 1] + ptr[n];
    ++n;
  }
  for (PetscInt i = 0; n < bound && i < m; ++i) blocks->part[i] = number[blocks->part[i]];
  PetscCall(PetscFree(number));
  blocks->n   = n;
  blocks->ptr = ptr;
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

PetscErrorCode PCNRASSetUpRows(PC pc, const NRASGraph *A, NRASBlocks *blocks)
{
  PC_NRAS       *nras   = (PC_NRAS *)pc->data;
  const PetscInt layers = nras->innerlayers;
  PetscInt      *at, *owned, *mark, *rows, total = 0, room = layers ? 2 * A->m : A->m;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(blocks->n + 1, &at, A->m, &owned, A->m, &mark, A->m, &rows));
  PetscCall(PetscMalloc1(room, &blocks->row));
  PetscCall(PetscArraycpy(at, blocks->ptr, blocks->n + 1));
  for (PetscInt i = 0; i < A->m; ++i) {
    mark[i]                      = -1;
    owned[at[blocks->part[i]]++] = i;
  }
  for (PetscInt b = 0, begin = 0; b < blocks->n; ++b) {
    PetscInt n = at[b] - begin;

    PetscCall(PetscArraycpy(rows, owned + begin, n));
    begin = at[b];
    NRASGrowBlock(A, b, layers, &n, rows, mark);
    if (layers) PetscCall(PetscSortInt(n, rows));
    if ((PetscInt64)total + n > NRASFillMost(A->ai[A->m], A->m)) {
      nras->counts.full = PETSC_TRUE;
      blocks->n         = b;
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
  PetscCall(PetscFree4(at, owned, mark, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* part[] of the rows of other processes, from that of the rows of this one */
static PetscErrorCode NRASPartGhosts_Private(PC pc, const PetscInt own[], PetscInt part[])
{
  const NRASOuter *o     = &((PC_NRAS *)pc->data)->outer;
  NRASGraph        graph = {0};
  PolderCSR        csr;

  PetscFunctionBegin;
  PetscCall(PCNRASGetGraph(pc, &csr, &graph));
  if (!o->n) PetscCall(PetscArrayzero(part, graph.m));
  for (PetscInt i = 0; i < graph.m && o->n; ++i) part[i] = NRASEntry(o, i) < o->n ? own[NRASEntry(o, i)] : -1;
  PetscCall(NRASJoinGhosts_Private(&graph, o, part));
  PetscCall(PCNRASRestoreGraph(pc, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Automatic: one block on the host, and on the device as many as make blocks that fit into the memory of a multiprocessor several at a time */
#define NRAS_ROWS_A_BLOCK 2048

PetscErrorCode PCNRASSetUpBlocks(PC pc, const PolderCSR *csr, NRASBlocks *blocks)
{
  PC_NRAS         *nras   = (PC_NRAS *)pc->data;
  const NRASOuter *o      = &nras->outer;
  PetscInt         nblock = nras->set.blocks;

  PetscFunctionBegin;
  if (nblock == PETSC_DECIDE) nblock = nras->device ? (o->n + NRAS_ROWS_A_BLOCK - 1) / NRAS_ROWS_A_BLOCK : 1;
  nblock = PetscMax(1, nblock);
  PetscCall(PetscMalloc1(o->n + o->nghost, &blocks->part));
  if (o->nghost) {
    PetscInt *part;

    PetscCall(PetscMalloc1(o->n, &part));
    PetscCall(PCNRASCut(pc, csr, nblock, part));
    PetscCall(NRASPartGhosts_Private(pc, part, blocks->part));
    PetscCall(PetscFree(part));
  } else PetscCall(PCNRASCut(pc, csr, nblock, blocks->part));
  PetscCall(NRASCompress_Private(o->n + o->nghost, nblock, blocks));
  nras->counts.matrix = csr->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASDestroyBlocks(const PolderPlace *place, NRASBlocks *blocks)
{
  PetscFunctionBegin;
  PetscCall((*place->free)(&blocks->row));
  PetscCall(PetscFree(blocks->ptr));
  PetscCall(PetscFree(blocks->part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
