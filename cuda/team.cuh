/*
  Numbers and lists of up to POLDER_TEAM_ROWS rows in a single launch: several launches over the device would take longer than their work. A team is a cluster
  of blocks, which wait for each other, or one block where rows are few or the code has no clusters. Each warp has consecutive rows, so that counts before a row
  need one sum over the warps.
*/
#pragma once

#include "launch.cuh"
#include <cooperative_groups.h>

#define POLDER_TEAM       1024 /* threads of a block */
#define POLDER_TEAM_WARPS (POLDER_TEAM / 32)
#define POLDER_TEAM_ROWS  32768
/* Blocks of a cluster: as many as every device with clusters has. Rows up to which one block takes less time */
#define POLDER_TEAM_BLOCKS 8
#define POLDER_TEAM_FEW    2048

/* Rows of a thread that are on their way at the same time; a pragma takes no macro */
static constexpr int POLDER_TEAM_AHEAD = 4;

/* Launches a kernel for n rows that begins with PolderBegin() */
template <class... Args>
static inline void PolderTeamLaunch(PetscInt n, void (*kernel)(Args...), cudaStream_t stream, std::common_type_t<Args>... args)
{
  const bool          several      = n > POLDER_TEAM_FEW && PolderAwaits(kernel); // code for these devices has clusters too
  cudaLaunchAttribute attribute[2] = {PolderEarly(), PolderCluster(POLDER_TEAM_BLOCKS)};
  cudaLaunchConfig_t  config       = {};

  config.gridDim  = dim3(several ? POLDER_TEAM_BLOCKS : 1);
  config.blockDim = dim3(POLDER_TEAM);
  config.stream   = stream;
  config.attrs    = attribute;
  config.numAttrs = several ? 2 : PolderAwaits(kernel);
  (void)cudaLaunchKernelEx(&config, kernel, args...);
}

/* Waits for all threads of the team, whose writes are then seen */
static __device__ __forceinline__ void PolderTeamSync(void)
{
#if __CUDA_ARCH__ >= 900
  if (gridDim.x > 1) {
    cooperative_groups::this_cluster().sync();
    return;
  }
#endif
  __syncthreads();
}

/* The number of this thread, and that of all threads of the team */
static __device__ __forceinline__ PetscInt PolderTeamThread(void)
{
  return (PetscInt)(blockIdx.x * POLDER_TEAM + threadIdx.x);
}

static __device__ __forceinline__ PetscInt PolderTeamThreads(void)
{
  return (PetscInt)(gridDim.x * POLDER_TEAM);
}

/* The rows of the warp of this thread: a multiple of 32, at most 32 for a lane */
struct PolderWarpRows {
  PetscInt first, end;

  __device__ __forceinline__ explicit PolderWarpRows(PetscInt n)
  {
    const PetscInt part = (n + PolderTeamThreads() - 1) / PolderTeamThreads() * 32;

    first = PolderTeamThread() / 32 * part;
    end   = first + part;
  }
};

/*
  The sum of the values of all warps before that of this thread, each warp having the same one in all lanes; *all: of all warps. The whole team calls it, and
  waits for its threads before it calls it again and before it ends
*/
static __device__ __forceinline__ PetscInt PolderTeamBefore(PetscInt value, PetscInt *all)
{
  __shared__ PetscInt part[POLDER_TEAM_WARPS], block;
  const int           lane = threadIdx.x % 32;
  PetscInt            sum, before;

  if (lane == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  sum    = PolderWarpUntil(part[lane]);
  *all   = __shfl_sync(FULL_WARP, sum, 31);
  before = __shfl_sync(FULL_WARP, sum, threadIdx.x / 32) - value;
#if __CUDA_ARCH__ >= 900
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) block = *all;
    PolderTeamSync();
    const PetscInt own = lane < (int)gridDim.x ? *cooperative_groups::this_cluster().map_shared_rank(&block, lane) : 0;

    sum  = PolderWarpUntil(own);
    *all = __shfl_sync(FULL_WARP, sum, 31);
    before += __shfl_sync(FULL_WARP, sum - own, blockIdx.x);
  }
#endif
  return before;
}

/* body(i, k) for the k-th row i of n, from zero on, with has(i); returns how many these are. Called as PolderTeamBefore() is */
template <class Has, class Body>
static __device__ __forceinline__ PetscInt PolderTeamNumber(PetscInt n, Has has, Body body)
{
  const PolderWarpRows rows(n);
  const PetscInt       own   = rows.first + threadIdx.x % 32;
  const unsigned int   below = (1u << threadIdx.x % 32) - 1;
  unsigned int         mine  = 0; // bit r: of row own + 32 r
  PetscInt             count = 0, all;

#pragma unroll POLDER_TEAM_AHEAD
  for (int r = 0; r < 32; ++r) {
    const PetscInt i = own + 32 * r;

    if (i < rows.end && i < n && has(i)) mine |= 1u << r;
  }
  count = PolderTeamBefore(PolderWarpSum(__popc(mine)), &all);
#pragma unroll 1
  for (int r = 0; rows.first + 32 * r < rows.end; ++r) {
    const unsigned int lanes = __ballot_sync(FULL_WARP, mine >> r & 1);

    if (mine >> r & 1) body(own + 32 * r, count + __popc(lanes & below));
    count += __popc(lanes);
  }
  return all;
}

/* body(i, s) for all n rows with the sum s of value() over the rows before i; returns that over all rows. Called as PolderTeamBefore() is */
template <class Value, class Body>
static __device__ __forceinline__ PetscInt PolderTeamSum(PetscInt n, Value value, Body body)
{
  const PolderWarpRows rows(n);
  const int            lane = threadIdx.x % 32;
  PetscInt             sum  = 0, all;

#pragma unroll POLDER_TEAM_AHEAD
  for (PetscInt i = rows.first + lane; i < rows.end; i += 32) sum += i < n ? value(i) : 0;
  sum = PolderTeamBefore(PolderWarpSum(sum), &all);
#pragma unroll 1
  for (PetscInt i = rows.first + lane; i < rows.end; i += 32) {
    const PetscInt own = i < n ? value(i) : 0, until = PolderWarpUntil(own);

    if (i < n) body(i, sum + until - own);
    sum += __shfl_sync(FULL_WARP, until, 31);
  }
  return all;
}
