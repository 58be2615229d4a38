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
  } else if (k == 0) {
    PolderPeersPut(peers, number, 0, 0);
    PolderPeersTake(peers, number, 0);
  }
  if (PolderEndsLast(&mine->finished, gridDim.x)) mine->count = number;
}

int PolderPeersSum_CUDA(const PolderPeersView *peers, PetscInt n, PetscScalar value[], PolderStream stream)
{
  PolderPeersSumKernel<<<n ? PolderBlocks(n, POLDER_BLOCK) : 1, n <= 32 ? 32 : POLDER_BLOCK, 0, stream>>>(*peers, n, value);
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

/* Row k of these, -1 behind the last one */
static __device__ __forceinline__ PetscInt PolderGhostRowAt(const PolderGhostRows &rows, long long k)
{
  return k < rows.n ? rows.row[k] : -1;
}

/* The first entry of this row for this thread, and where those of the row end */
template <int W>
static __device__ __forceinline__ void PolderGhostEntries(const PolderGhostRows &rows, long long k, PetscInt i, PetscInt *a, PetscInt *end)
{
  if (i < 0) *a = *end = 0;
  else if constexpr (W == 0) *end = (*a = (PetscInt)k) + 1;
  else {
    *a   = rows.ai[i] + threadIdx.x % W;
    *end = rows.ai[i + 1];
  }
}

/* W threads a row; 0: one thread, and each row has one entry. The block that ends last counts the message and completes the sum. In blocks that wait for the
   product before, what tells where a row and its ghosts are comes meanwhile; the entries may be as new as that product */
template <int W, bool DOT>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderExchangeMultAddKernel(const __grid_constant__ PolderExchange e, const __grid_constant__ PolderGhostRows rows,
                              const __grid_constant__ PolderPeersView peers, const PetscScalar *__restrict__ p, PetscScalar *z, PetscScalar *dot,
                              PolderReduceScratch *scratch)
{
  PolderRelease();
  constexpr int T      = W ? W : 1; // threads a row
  double        sum[1] = {0};
  long long     first  = (long long)blockIdx.x * (POLDER_BLOCK / T);
  PetscInt      i      = PolderGhostRowAt(rows, first + threadIdx.x / T), a, end;

  PolderGhostEntries<W>(rows, first + threadIdx.x / T, i, &a, &end);
  PetscInt c = a < end ? rows.aj[a] : 0;

  PolderAwait();
  const uint64_t number = e.n ? e.received[0] + 1 : 0;

  while (first < rows.n) {
    const long long k    = first + threadIdx.x / T;
    const bool      last = i >= 0 && threadIdx.x % T == 0; // of the threads of this row, the one that stores the sum
    const double    zi = last ? z[i] : 0, pi = DOT && last ? p[i] : 0;
    double          s = 0;

    for (; a < end; c = (a += T) < end ? rows.aj[a] : 0) s += rows.aa[a] * PolderExchangeValue(e, number, c);
    for (int o = T / 2; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (last) {
      if (DOT) sum[0] += pi * s;
      z[i] = zi + rows.alpha * s;
      if (rows.added) rows.added[k] = rows.alpha * s;
    }
    first += (long long)gridDim.x * (POLDER_BLOCK / T);
    i = PolderGhostRowAt(rows, first + threadIdx.x / T);
    PolderGhostEntries<W>(rows, first + threadIdx.x / T, i, &a, &end);
    c = a < end ? rows.aj[a] : 0;
  }
  if (blockIdx.x == 0) PolderExchangeHearEmpty(e, number);
  if (!PolderGridSums<POLDER_BLOCK>(sum, scratch) || threadIdx.x >= 32) return;
  if ((int)threadIdx.x < e.n) {
    e.received[threadIdx.x] = number;
    if (rows.count) ++e.sent[threadIdx.x];
  }
  if (!DOT) return;
  sum[0] += *dot;
  if (peers.size) PolderPeersSumWarp(peers, sum);
  if (threadIdx.x == 0) *dot = sum[0];
}

template <int W>
static void PolderExchangeMultAddLaunch(const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView &peers, const PetscScalar p[],
                                        PetscScalar z[], PetscScalar *dot, PolderReduceScratch *scratch, PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(rows->n, POLDER_BLOCK / (W ? W : 1)), few = blocks == 0 ? 1 : (blocks > 512 ? 512 : blocks);

  if (dot) PolderLaunchEarly(PolderExchangeMultAddKernel<W, true>, few, POLDER_BLOCK, stream, *e, *rows, peers, p, z, dot, scratch);
  else PolderLaunchEarly(PolderExchangeMultAddKernel<W, false>, few, POLDER_BLOCK, stream, *e, *rows, peers, p, z, dot, scratch);
}

int PolderExchangeMultAdd_CUDA(const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView *peers, const PetscScalar p[], PetscScalar z[],
                               PetscScalar *dot, void *work, PolderStream stream)
{
  const PetscInt        mean    = rows->n ? rows->nz / rows->n : 0;
  PolderReduceScratch  *scratch = (PolderReduceScratch *)work;
  const PolderPeersView none = {}, view = peers ? *peers : none;

  if (rows->nz == rows->n) PolderExchangeMultAddLaunch<0>(e, rows, view, p, z, dot, scratch, stream);
  else if (mean <= 2) PolderExchangeMultAddLaunch<1>(e, rows, view, p, z, dot, scratch, stream);
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
