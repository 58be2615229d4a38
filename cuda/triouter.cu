/* Sweeps over triangles with ghost columns: the rows that others need, and those that need others. */
#include "cg.cuh"
#include "foreach.cuh"
#include "peers.cuh"
#include "kernels/triouterrow.h"

/* Maximum number of blocks for the rows sent to one neighbour, which are the only work on the device then, and of a correction */
#define TRI_SEND_BLOCKS  256u
#define TRI_OUTER_BLOCKS 512u

/* Both values of row i of those that are sent to neighbour k */
static __device__ __forceinline__ void PolderTriOuterPut(PolderCell *there, PetscInt i, double y0, double y1, uint64_t number)
{
  PolderCellStore(there + 2 * (size_t)i, (uint64_t)__double_as_longlong(y0), number);
  PolderCellStore(there + 2 * (size_t)i + 1, (uint64_t)__double_as_longlong(y1), number);
}

/* blockIdx.y is the neighbour */
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderTriOuterSendKernel(const __grid_constant__ PolderExchange e, const __grid_constant__ PolderTriOuter T, const PetscScalar *__restrict__ in)
{
  const int      k     = (int)blockIdx.y;
  const PetscInt first = e.sendptr[k], n = PolderTriServes(&T, e.rank[k]) ? e.sendptr[k + 1] - first : 0;
  const PetscInt begin  = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);
  const uint64_t number = e.sent[k] + 1;
  PolderCell    *there  = e.there[k] + (number % 2) * e.half[k];

  for (PetscInt i = begin; i < n; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) {
    const PetscInt row = e.sendidx[first + i];

    PolderTriOuterPut(there, i, PolderTriBegin(&T, in, row), PolderTriFirst(&T, in, row), number);
  }
  if (!begin) PolderExchangeTell(e, k, number);
  if (PolderEndsLast(&e.finished[k], gridDim.x)) e.sent[k] = number;
}

/* The same once the messages have arrived: no block sends before each neighbour has been heard. Neighbours may write again to what has been read when all
   blocks have ended: the last one sends the tokens */
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderTriOuterResendKernel(const __grid_constant__ PolderExchange e, const __grid_constant__ PolderTriOuter T, const PetscScalar *__restrict__ in)
{
  const int             k     = (int)blockIdx.y;
  const PetscInt        first = e.sendptr[k], n = PolderTriServes(&T, e.rank[k]) ? e.sendptr[k + 1] - first : 0;
  const uint64_t        number = e.sent[k] + 1;
  const PolderTriGhosts ghost  = {&e, e.received[0] + 1};
  PolderCell           *there  = e.there[k] + (number % 2) * e.half[k];

  if ((int)threadIdx.x < e.n) PolderExchangeHear(e, (int)threadIdx.x, ghost.number);
  __syncthreads();
  for (PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); i < n; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) {
    const PetscInt row = e.sendidx[first + i];

    PolderTriOuterPut(there, i, PolderTriBegin(&T, in, row), PolderTriFirstWhole(&T, in, &ghost, row), number);
  }
  if (PolderEndsLast(&e.finished[0], gridDim.x * gridDim.y)) {
    for (int j = 0; j < e.n; ++j) {
      PolderExchangeTell(e, j, e.sent[j] + 1);
      ++e.sent[j];
      e.received[j] = ghost.number;
    }
  }
}

/* Completes the state with the sum of the corrections on this process, which thread 0 has. Called by one warp */
template <PolderTriKind KIND>
static __device__ __forceinline__ void PolderTriOuterEnd(const PolderTriEnd &end, const PolderPeersView &peers, PetscInt m, double (&sum)[1])
{
  PolderCGState *state = end.state;

  if (KIND == POLDER_TRI_RHO) {
    sum[0] += m ? state->sum[1] : 0;
    PolderPeersSumWarp(peers, sum);
    if (threadIdx.x) return;
    state->sum[1] = sum[0];
    PolderCGSetRho(state, end.first, PETSC_TRUE);
  } else if (KIND == POLDER_TRI_DIRECTION && !state->frozen) {
    const bool nullspace = state->nullspace;

    sum[0] += m ? state->pmean : 0;
    if (nullspace) PolderPeersSumWarp(peers, sum);
    if (threadIdx.x == 0) state->pmean = nullspace ? sum[0] / state->N : 0;
  }
}

/* The block that ends last counts the messages and completes the state */
template <PolderTriKind KIND>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderTriOuterAddKernel(const __grid_constant__ PolderExchange e, const __grid_constant__ PolderTriOuter T, const PolderRowList rows,
                          const __grid_constant__ PolderTriEnd end, const __grid_constant__ PolderPeersView peers, PetscScalar *z, PolderReduceScratch *scratch)
{
  const PolderTriGhosts ghost  = {&e, e.n ? e.received[0] + 1 : 0};
  const PetscInt        n      = KIND == POLDER_TRI_DIRECTION && end.state->frozen ? 0 : rows.n;
  double                sum[1] = {0};

  if (blockIdx.x == 0 && (int)threadIdx.x < e.n) PolderExchangeHear(e, (int)threadIdx.x, ghost.number);
  for (PetscInt k = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); k < n; k += (PetscInt)(gridDim.x * POLDER_BLOCK))
    sum[0] += PolderTriOuterAddRow(&T, &ghost, KIND, rows.row[k], z);
  if (!PolderGridSums<POLDER_BLOCK>(sum, scratch) || threadIdx.x >= 32) return;
  if ((int)threadIdx.x < e.n) e.received[threadIdx.x] = ghost.number;
  PolderTriOuterEnd<KIND>(end, peers, T.m, sum);
}

static dim3 PolderTriOuterGrid(const PolderExchange *e)
{
  return dim3(PetscMax(PetscMin(PolderBlocks(e->mostsent, POLDER_BLOCK), TRI_SEND_BLOCKS), 1u), (unsigned int)e->n);
}

int PolderTriOuterSend_CUDA(const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[], PolderStream stream)
{
  if (e->n) PolderTriOuterSendKernel<<<PolderTriOuterGrid(e), POLDER_BLOCK, 0, stream>>>(*e, *T, in);
  return cudaGetLastError();
}

int PolderTriOuterResend_CUDA(const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[], PolderStream stream)
{
  if (e->n) PolderTriOuterResendKernel<<<PolderTriOuterGrid(e), POLDER_BLOCK, 0, stream>>>(*e, *T, in);
  return cudaGetLastError();
}

int PolderTriOuterAdd_CUDA(const PolderExchange *e, const PolderTriOuter *T, PolderRowList rows, const PolderTriEnd *end, PetscScalar z[], void *work,
                           PolderStream stream)
{
  const unsigned int    blocks  = PetscMax(PetscMin(PolderBlocks(rows.n, POLDER_BLOCK), TRI_OUTER_BLOCKS), 1u);
  PolderReduceScratch  *scratch = (PolderReduceScratch *)work;
  const PolderPeersView none = {}, peers = end->peers ? *end->peers : none;

  if (end->kind == POLDER_TRI_RHO) PolderTriOuterAddKernel<POLDER_TRI_RHO><<<blocks, POLDER_BLOCK, 0, stream>>>(*e, *T, rows, *end, peers, z, scratch);
  else if (end->kind == POLDER_TRI_DIRECTION)
    PolderTriOuterAddKernel<POLDER_TRI_DIRECTION><<<blocks, POLDER_BLOCK, 0, stream>>>(*e, *T, rows, *end, peers, z, scratch);
  else PolderTriOuterAddKernel<POLDER_TRI_PLAIN><<<blocks, POLDER_BLOCK, 0, stream>>>(*e, *T, rows, *end, peers, z, scratch);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderTriOuterCheckKernel(const __grid_constant__ PolderExchange e, const __grid_constant__ PolderTriOuter T, int *sent)
{
  const int      k     = (int)blockIdx.y;
  const PetscInt first = e.sendptr[k], n = PolderTriServes(&T, e.rank[k]) ? e.sendptr[k + 1] - first : 0;

  for (PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); i < n; i += (PetscInt)(gridDim.x * POLDER_BLOCK))
    if (PolderTriTouches(&T, e.sendidx[first + i])) *sent = 1;
}

int PolderTriOuterCheck_CUDA(const PolderExchange *e, const PolderTriOuter *T, int *sent, PolderStream stream)
{
  if (e->n) PolderTriOuterCheckKernel<<<PolderExchangeGrid(e->mostsent, e->n), POLDER_BLOCK, 0, stream>>>(*e, *T, sent);
  return cudaGetLastError();
}

int PolderTriOuterReach_CUDA(const PolderTriOuter *T, PetscInt depends[], PolderStream stream)
{
  const PolderTriOuter t = *T;

  return PolderForEach(t.m, stream, [=] __device__(PetscInt i) { depends[i] = PolderTriDepends(&t, i); });
}

int PolderTriOuterRows_CUDA(PetscInt m, const PetscInt depends[], const PetscInt64 scan[], PetscInt row[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    if (depends[i]) row[(scan[i] >> 32) - 1] = i;
  });
}
