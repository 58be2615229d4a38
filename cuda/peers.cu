/* Sums and ghost values between GPUs of one host, each used by one process. */
#include "peers.cuh"

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderPeersSumKernel(const __grid_constant__ PolderPeersView peers, PetscInt n, PetscScalar *value)
{
  PolderMailbox *mine   = peers.box[peers.rank];
  const uint64_t number = mine->count + 1;
  const PetscInt k      = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);

  if (k < n) {
    PolderPeersPut(peers, number, k, value[k]);
    value[k] = PolderPeersTake(peers, number, k);
  }
  if (PolderEndsLast(&mine->finished, gridDim.x)) mine->count = number;
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
  if (!begin) PolderExchangeTell(e, k, number);
  if (PolderEndsLast(&e.finished[k], gridDim.x)) e.sent[k] = number;
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
  if (!begin) PolderExchangeHear(e, k, number);
  if (PolderEndsLast(finished, gridDim.x)) e.received[k] = number;
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

/* W threads a row. The block that ends last counts the message and completes the sum */
template <int W, bool DOT>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderExchangeMultAddKernel(const __grid_constant__ PolderExchange e, const __grid_constant__ PolderGhostRows rows,
                              const __grid_constant__ PolderPeersView peers, const PetscScalar *__restrict__ p, PetscScalar *z, PetscScalar *dot,
                              PolderReduceScratch *scratch)
{
  PolderBegin();
  const uint64_t number = e.n ? e.received[0] + 1 : 0;
  double         sum[1] = {0};

  if (blockIdx.x == 0 && (int)threadIdx.x < e.n) PolderExchangeHear(e, (int)threadIdx.x, number);
  for (long long first = (long long)blockIdx.x * (POLDER_BLOCK / W); first < rows.n; first += (long long)gridDim.x * (POLDER_BLOCK / W)) {
    const long long k    = first + threadIdx.x / W;
    const bool      mine = k < rows.n;
    const PetscInt  i    = mine ? rows.row[k] : 0;
    double          s    = 0;

    if (mine) {
      const PetscInt end = rows.ai[i + 1];

      for (PetscInt a = rows.ai[i] + threadIdx.x % W; a < end; a += W) s += rows.aa[a] * PolderExchangeValue(e, number, rows.aj[a]);
    }
    for (int o = W / 2; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (mine && threadIdx.x % W == 0) {
      if (DOT) sum[0] += p[i] * s;
      z[i] += rows.alpha * s;
      if (rows.added) rows.added[k] = rows.alpha * s;
    }
  }
  PolderGridSum<POLDER_BLOCK>(sum, scratch, [&](const double *total) {
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

  if (dot) PolderLaunchEarly(PolderExchangeMultAddKernel<W, true>, few, POLDER_BLOCK, stream, *e, *rows, peers, p, z, dot, scratch);
  else PolderLaunchEarly(PolderExchangeMultAddKernel<W, false>, few, POLDER_BLOCK, stream, *e, *rows, peers, p, z, dot, scratch);
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

int PolderExchangeSend_CUDA(const PolderExchange *e, int bytes, const void *x, PolderStream stream)
{
  const dim3 grid = PolderExchangeGrid(e->mostsent, e->n);

  if (!e->n) return cudaSuccess;
  if (bytes == 8) PolderExchangeSendKernel<<<grid, POLDER_BLOCK, 0, stream>>>(*e, (const uint64_t *)x);
  else PolderExchangeSendKernel<<<grid, POLDER_BLOCK, 0, stream>>>(*e, (const uint32_t *)x);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderSendingKernel(const __grid_constant__ PolderSending sending)
{
  PolderBegin();
  sending();
}

int PolderExchangeStore_CUDA(const PolderExchange *e, int bytes, const void *x, PolderStream stream)
{
  const PolderSending sending = PolderSendingOf(e, x, bytes == 8);

  if (sending.n) PolderLaunchEarly(PolderSendingKernel, PolderBlocks(sending.n, POLDER_BLOCK), POLDER_BLOCK, stream, sending);
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
