/* Sums and ghost values between GPUs of one host, each used by one process. */
#include "peers.cuh"

/* Number of blocks for the values for one neighbour: enough to saturate the link, few enough to leave multiprocessors to other kernels */
#define POLDER_EXCHANGE_BLOCKS 64

/* Called by all threads of a block when they have read what counts messages: true in thread 0 of the block that ends last */
static __device__ __forceinline__ bool PolderEndsLast(unsigned int *finished)
{
  __syncthreads();
  return threadIdx.x == 0 && atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderPeersSumKernel(const __grid_constant__ PolderPeersView peers, PetscInt n, PetscScalar *value)
{
  PolderMailbox *mine   = peers.box[peers.rank];
  const uint64_t number = mine->count + 1;
  const PetscInt k      = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);

  if (k < n) {
    PolderPeersPut(peers, number, k, value[k]);
    value[k] = PolderPeersTake(peers, number, k);
  }
  if (PolderEndsLast(&mine->finished)) mine->count = number;
}

int PolderPeersSum_CUDA(const PolderPeersView *peers, PetscInt n, PetscScalar value[], PolderStream stream)
{
  if (n > 0) PolderPeersSumKernel<<<PolderBlocks(n, POLDER_BLOCK), n <= 32 ? 32 : POLDER_BLOCK, 0, stream>>>(*peers, n, value);
  return cudaGetLastError();
}

/* blockIdx.y is the neighbour */
template <class Value>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderExchangeSendKernel(const __grid_constant__ PolderExchange e, const Value *__restrict__ x)
{
  const int      k     = (int)blockIdx.y;
  const PetscInt first = e.sendptr[k], n = e.sendptr[k + 1] - first, begin = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);
  const uint64_t number = e.sent[k] + 1;
  PolderCell    *there  = e.there[k] + (number % 2) * e.half[k];

  for (PetscInt i = begin; i < n; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) PolderCellStore(there + i, x[e.sendidx[first + i]], number);
  if (!n && !begin) PolderCellStore(e.token[k] + (number % 2) * e.half[k], 0, number);
  if (PolderEndsLast(&e.finished[k])) e.sent[k] = number;
}

/* Waits for the token of neighbour k if that sends no values */
static __device__ __forceinline__ void PolderExchangeToken(const PolderExchange &e, int k, uint64_t number)
{
  uint64_t bits;

  if (e.recvptr[k] == e.recvptr[k + 1]) (void)PolderCellWait(e.here + (number % 2) * e.halfhere + e.recvptr[e.n] + k, number, e.rank[k], e.patience, &bits);
}

/* The values of one neighbour: calls what(index in y, bits of the value) for each, then counts the message */
template <class What>
static __device__ __forceinline__ void PolderExchangeTake(const PolderExchange &e, int k, unsigned int *finished, What what)
{
  const PetscInt    first = e.recvptr[k], n = e.recvptr[k + 1] - first, begin = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);
  const uint64_t    number = e.received[k] + 1;
  const PolderCell *here   = e.here + (number % 2) * e.halfhere + first;
  uint64_t          bits;

  for (PetscInt i = begin; i < n; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) {
    if (PolderCellWait(here + i, number, e.rank[k], e.patience, &bits)) what(e.recvidx[first + i], bits);
  }
  if (!begin) PolderExchangeToken(e, k, number);
  if (PolderEndsLast(finished)) e.received[k] = number;
}

template <class Value>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderExchangeReceiveKernel(const __grid_constant__ PolderExchange e, Value *__restrict__ y)
{
  PolderExchangeTake(e, (int)blockIdx.y, &e.finished[e.n + (int)blockIdx.y], [=](PetscInt i, uint64_t bits) { y[i] = (Value)bits; });
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderExchangeAddKernel(const __grid_constant__ PolderExchange e, int k, PetscScalar *__restrict__ y)
{
  PolderExchangeTake(e, k, &e.finished[e.n + k], [=](PetscInt i, uint64_t bits) { y[i] += __longlong_as_double((long long)bits); });
}

/* Ghost value j of message `number` */
static __device__ __forceinline__ double PolderExchangeGhost(const PolderExchange &e, uint64_t number, PetscInt j)
{
  const PolderCell *cell = e.here + (number % 2) * e.halfhere + j;
  uint64_t          bits;
  int               k = 0;

  if (PolderCellLoad(cell, number, &bits)) return __longlong_as_double((long long)bits);
  while (e.recvptr[k + 1] <= j) ++k;
  return PolderCellWaitReal(cell, number, e.rank[k], e.patience);
}

/* W threads a row. The block that ends last counts the message and completes the sum */
template <int W, bool DOT>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderExchangeMultAddKernel(const __grid_constant__ PolderExchange e, const __grid_constant__ PolderGhostRows rows,
                              const __grid_constant__ PolderPeersView peers, const PetscScalar *__restrict__ p, PetscScalar *z, PetscScalar *dot,
                              PolderReduceScratch *scratch)
{
  const uint64_t number = e.n ? e.received[0] + 1 : 0;
  double         sum[1] = {0};

  if (blockIdx.x == 0 && (int)threadIdx.x < e.n) PolderExchangeToken(e, (int)threadIdx.x, number);
  for (long long first = (long long)blockIdx.x * (POLDER_BLOCK / W); first < rows.n; first += (long long)gridDim.x * (POLDER_BLOCK / W)) {
    const long long k    = first + threadIdx.x / W;
    const bool      mine = k < rows.n;
    const PetscInt  i    = mine ? rows.row[k] : 0;
    double          s    = 0;

    if (mine) {
      const PetscInt end = rows.ai[i + 1];

      for (PetscInt a = rows.ai[i] + threadIdx.x % W; a < end; a += W) s += rows.aa[a] * PolderExchangeGhost(e, number, rows.aj[a]);
    }
    for (int o = W / 2; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (mine && threadIdx.x % W == 0) {
      if (DOT) sum[0] += p[i] * s;
      z[i] += rows.alpha * s;
    }
  }
  PolderGridSum<POLDER_BLOCK>(sum, scratch, [=](const double *total) {
    for (int k = 0; k < e.n; ++k) e.received[k] = number;
    for (int k = 0; k < e.n && rows.count; ++k) ++e.sent[k];
    if (!DOT) return;
    *dot += total[0];
    if (peers.size) PolderPeersSumOne(peers, 1, dot);
  });
}

template <int W>
static void PolderExchangeMultAddLaunch(const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView &peers, const PetscScalar p[],
                                        PetscScalar z[], PetscScalar *dot, PolderReduceScratch *scratch, PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(rows->n, POLDER_BLOCK / W), few = blocks == 0 ? 1 : (blocks > 512 ? 512 : blocks);

  if (dot) PolderExchangeMultAddKernel<W, true><<<few, POLDER_BLOCK, 0, stream>>>(*e, *rows, peers, p, z, dot, scratch);
  else PolderExchangeMultAddKernel<W, false><<<few, POLDER_BLOCK, 0, stream>>>(*e, *rows, peers, p, z, dot, scratch);
}

int PolderExchangeMultAdd_CUDA(const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView *peers, const PetscScalar p[], PetscScalar z[],
                               PetscScalar *dot, void *work, PolderStream stream)
{
  const PetscInt        mean    = rows->n ? rows->nz / rows->n : 0;
  PolderReduceScratch  *scratch = (PolderReduceScratch *)work;
  const PolderPeersView none = {}, view = peers ? *peers : none;

  if (mean <= 2) PolderExchangeMultAddLaunch<1>(e, rows, view, p, z, dot, scratch, stream);
  else if (mean <= 12) PolderExchangeMultAddLaunch<4>(e, rows, view, p, z, dot, scratch, stream);
  else PolderExchangeMultAddLaunch<32>(e, rows, view, p, z, dot, scratch, stream);
  return cudaGetLastError();
}

static dim3 PolderExchangeGrid(PetscInt most, int neighbours)
{
  const unsigned int blocks = PolderBlocks(most, POLDER_BLOCK);

  return dim3(blocks < 1 ? 1 : blocks < POLDER_EXCHANGE_BLOCKS ? blocks : POLDER_EXCHANGE_BLOCKS, (unsigned int)neighbours);
}

int PolderExchangeSend_CUDA(const PolderExchange *e, int bytes, const void *x, PolderStream stream)
{
  const dim3 grid = PolderExchangeGrid(e->mostsent, e->n);

  if (!e->n) return cudaSuccess;
  if (bytes == 8) PolderExchangeSendKernel<<<grid, POLDER_BLOCK, 0, stream>>>(*e, (const uint64_t *)x);
  else PolderExchangeSendKernel<<<grid, POLDER_BLOCK, 0, stream>>>(*e, (const uint32_t *)x);
  return cudaGetLastError();
}

int PolderExchangeReceive_CUDA(const PolderExchange *e, int bytes, void *y, PolderStream stream)
{
  const dim3 grid = PolderExchangeGrid(e->mostreceived, e->n);

  if (!e->n) return cudaSuccess;
  if (bytes == 8) PolderExchangeReceiveKernel<<<grid, POLDER_BLOCK, 0, stream>>>(*e, (uint64_t *)y);
  else PolderExchangeReceiveKernel<<<grid, POLDER_BLOCK, 0, stream>>>(*e, (uint32_t *)y);
  return cudaGetLastError();
}

int PolderExchangeAdd_CUDA(const PolderExchange *e, int k, PetscScalar y[], PolderStream stream)
{
  PolderExchangeAddKernel<<<PolderExchangeGrid(e->mostreceived, 1), POLDER_BLOCK, 0, stream>>>(*e, k, y);
  return cudaGetLastError();
}
