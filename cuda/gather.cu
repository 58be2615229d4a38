/* Values of all processes on the GPU of each, by stores into each other's memory. */
#include "peers.cuh"

/* Enough blocks to saturate the link, few enough to be resident together */
#define POLDER_GATHER_BLOCKS 128

/* Values of 16 bytes, and a last one of 8 */
static __device__ __forceinline__ void PolderGatherStore(const PolderGather &g, uint64_t number, const double *__restrict__ own, bool aligned)
{
  const PetscInt n = g.n[g.rank], pairs = n / 2, step = (PetscInt)(gridDim.x * POLDER_BLOCK), me = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);

  for (PetscInt i = me; i < pairs; i += step) {
    const double2 v = aligned ? ((const double2 *)own)[i] : make_double2(own[2 * i], own[2 * i + 1]);

    for (int r = 0; r < g.size; ++r)
      if (r != g.rank) ((double2 *)(g.buffer[r] + (number % 2) * (size_t)g.half + g.begin[g.rank]))[i] = v;
  }
  if (n % 2 == 0 || me != 0) return;
  for (int r = 0; r < g.size; ++r)
    if (r != g.rank) g.buffer[r][(number % 2) * (size_t)g.half + g.begin[g.rank] + n - 1] = own[n - 1];
}

/* The block that ends last announces the message */
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderGatherSendKernel(const __grid_constant__ PolderGather g, const double *__restrict__ own, bool aligned)
{
  const uint64_t number = g.count[0] + 1;

  PolderGatherStore(g, number, own, aligned);
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(&g.finished[0], gridDim.x - 1) == gridDim.x - 1) {
    __threadfence_system();
    for (int r = 0; r < g.size; ++r)
      if (r != g.rank) PolderNumberStore(&g.arrived[r][g.rank], number);
    g.count[0] = number;
  }
}

/* blockIdx.y is the process whose values are copied */
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderGatherReceiveKernel(const __grid_constant__ PolderGather g, const double *__restrict__ own, double *__restrict__ all)
{
  const int      r      = (int)blockIdx.y;
  const bool     waits  = g.arrived[g.rank] != NULL;
  const uint64_t number = waits ? g.count[1] + 1 : 0;
  const double  *from   = r == g.rank ? own : g.buffer[g.rank] + (number % 2) * (size_t)g.half + g.begin[r];
  bool           came   = true;

  if (waits && r != g.rank && threadIdx.x == 0) came = PolderNumberWait(&g.arrived[g.rank][r], number, r, g.patience);
  came = __syncthreads_and(came);
  for (PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); i < g.n[r]; i += (PetscInt)(gridDim.x * POLDER_BLOCK))
    all[PolderGatherPlace(&g, r, i)] = came ? __ldcg(&from[i]) : NAN;
  __syncthreads();
  if (waits && threadIdx.x == 0 && atomicInc(&g.finished[1], gridDim.x * gridDim.y - 1) == gridDim.x * gridDim.y - 1) g.count[1] = number;
}

/* No block waits for a cell of a block that its peer might launch later: there are no more blocks than multiprocessors */
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderGatherCellsKernel(const __grid_constant__ PolderGather g, const double *own, double *all)
{
  const uint64_t number = g.count[0] + 1;
  const size_t   half   = (number % 2) * (size_t)g.half;
  const PetscInt step = (PetscInt)(gridDim.x * POLDER_BLOCK), me = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);

  for (PetscInt i = me; i < PolderGatherCellsOf(&g, g.rank); i += step) {
    const bool     token = i >= g.n[g.rank];
    const PetscInt place = PolderGatherPlace(&g, g.rank, i);
    const double   value = token ? 0 : own ? own[i] : all[place];

    for (int r = 0; r < g.size; ++r)
      if (r != g.rank) PolderCellStore(g.cell[r] + half + g.begin[g.rank] + i, (uint64_t)__double_as_longlong(value), number);
    if (own && !token) all[place] = value;
  }
  for (int r = 0; r < g.size; ++r) {
    if (r == g.rank) continue;
    for (PetscInt i = me; i < PolderGatherCellsOf(&g, r); i += step) {
      const double value = PolderCellWaitReal(g.cell[g.rank] + half + g.begin[r] + i, number, r, g.patience);

      if (i < g.n[r]) all[PolderGatherPlace(&g, r, i)] = value;
    }
  }
  if (PolderEndsLast(g.finished, gridDim.x)) g.count[0] = number;
}

template <bool TAKE>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderGatherOwnKernel(const __grid_constant__ PolderGather g, const double *__restrict__ from, double *__restrict__ to)
{
  for (PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); i < g.n[g.rank]; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) {
    const PetscInt place = PolderGatherPlace(&g, g.rank, i);

    if (TAKE) to[i] = from[place];
    else to[place] = from[i];
  }
}

static unsigned int PolderGatherBlocks(PetscInt n, unsigned int most)
{
  const unsigned int blocks = PolderBlocks(n, POLDER_BLOCK);

  return blocks < 1 ? 1 : (blocks < most ? blocks : most);
}

int PolderGatherSend_CUDA(const PolderGather *g, const PetscScalar own[], PolderStream stream)
{
  PolderGatherSendKernel<<<PolderGatherBlocks(g->n[g->rank] / 2, POLDER_GATHER_BLOCKS), POLDER_BLOCK, 0, stream>>>(*g, own, (uintptr_t)own % 16 == 0);
  return cudaGetLastError();
}

int PolderGatherReceive_CUDA(const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream)
{
  PetscInt most = 0;

  for (int r = 0; r < g->size; ++r) most = g->n[r] > most ? g->n[r] : most;
  const dim3 grid(PolderGatherBlocks(most, 2 * POLDER_GATHER_BLOCKS), (unsigned int)g->size);
  PolderGatherReceiveKernel<<<grid, POLDER_BLOCK, 0, stream>>>(*g, own, all);
  return cudaGetLastError();
}

int PolderGatherCells_CUDA(const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream)
{
  PetscInt most = 0;

  for (int r = 0; r < g->size; ++r) most = g->n[r] > most ? g->n[r] : most;
  PolderGatherCellsKernel<<<PolderGatherBlocks(most, POLDER_GATHER_BLOCKS), POLDER_BLOCK, 0, stream>>>(*g, own, all);
  return cudaGetLastError();
}

int PolderGatherPut_CUDA(const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream)
{
  if (g->n[g->rank]) PolderGatherOwnKernel<false><<<PolderGatherBlocks(g->n[g->rank], 1024), POLDER_BLOCK, 0, stream>>>(*g, own, all);
  return cudaGetLastError();
}

int PolderGatherTake_CUDA(const PolderGather *g, const PetscScalar all[], PetscScalar own[], PolderStream stream)
{
  if (g->n[g->rank]) PolderGatherOwnKernel<true><<<PolderGatherBlocks(g->n[g->rank], 1024), POLDER_BLOCK, 0, stream>>>(*g, all, own);
  return cudaGetLastError();
}
