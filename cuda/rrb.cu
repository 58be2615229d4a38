/* Kernels of the repeated red-black preconditioner: one for each grid, or one for all small grids. */
#include "rrbsweeps.cuh"
#include "kernels/rrb.h"

/* Resident blocks, limited by registers, of the forward and the backward sweep */
#define RRB_DOWN 8
#define RRB_UP   5

/* Small grids: threads of a block, and blocks of a cluster; the first size that the device supports is taken */
#define RRB_SMALL_BLOCK 512
#define RRB_CLUSTER     16
#define RRB_CLUSTER_MIN 8

/* The strips of the rows that the step computes */
static RRBStrips RRBCutStep(PolderRRBStep &s, int fit, unsigned int *blocks)
{
  PolderRRBGrid part = s.g;

  if (!s.to) s.to = s.g.hy;
  part.hy = s.to - s.from;
  return RRBCutLarge(part, fit, blocks);
}

template <class V>
static __global__ void __launch_bounds__(RRB_BLOCK, RRB_DOWN) PolderRRBForwardKernel(const __grid_constant__ PolderRRBStep s, RRBStrips cut)
{
  PolderBegin();
  for (PetscInt k = (PetscInt)(blockIdx.x * (RRB_BLOCK / 32) + threadIdx.x / 32); k < cut.count; k += (PetscInt)gridDim.x * (RRB_BLOCK / 32)) {
    const PetscInt v0 = s.from + k / cut.tiles * cut.steps;

    RRBForward<V>(s, k % cut.tiles, v0, min(v0 + cut.steps, s.to));
  }
}

/* Completes the two sums */
struct RRBSums {
  PolderCGRho rho;

  __device__ __forceinline__ void operator()(const double (&total)[2]) const
  {
    rho.state->sum[1] = total[0];
    rho.state->sum[2] = total[1];
    if (!rho.state->parallel) PolderCGSetRho(rho.state, rho.first, PETSC_TRUE);
  }
};

template <bool DOT, class V>
static __global__ void __launch_bounds__(RRB_BLOCK, RRB_UP)
  PolderRRBBackwardKernel(const __grid_constant__ PolderRRBStep s, RRBStrips cut, PolderCGRho rho, PolderReduceScratch *scratch)
{
  PolderBegin();
  double part[2] = {0, 0};

  for (PetscInt k = (PetscInt)(blockIdx.x * (RRB_BLOCK / 32) + threadIdx.x / 32); k < cut.count; k += (PetscInt)gridDim.x * (RRB_BLOCK / 32)) {
    const PetscInt v0 = s.from + k / cut.tiles * cut.steps;

    RRBBackward<DOT, V>(s, k % cut.tiles, v0, min(v0 + cut.steps, s.to), part);
  }
  if (DOT) PolderGridSum<RRB_BLOCK>(part, scratch, RRBSums{rho});
}

int PolderRRBForward_CUDA(PetscBool single, const PolderRRBStep *step, PolderStream stream)
{
  PolderRRBStep   s = *step;
  unsigned int    blocks;
  const RRBStrips cut = RRBCutStep(s, RRB_DOWN, &blocks);

  if (single) PolderLaunchEarly(PolderRRBForwardKernel<float>, blocks, RRB_BLOCK, stream, s, cut);
  else PolderLaunchEarly(PolderRRBForwardKernel<double>, blocks, RRB_BLOCK, stream, s, cut);
  return cudaGetLastError();
}

int PolderRRBBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PolderCGRho *rho, void *work, PolderStream stream)
{
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;
  PolderRRBStep        s       = *step;
  unsigned int         blocks;
  const RRBStrips      cut = RRBCutStep(s, RRB_UP, &blocks);

  if (single && rho) PolderLaunchEarly(PolderRRBBackwardKernel<true, float>, blocks, RRB_BLOCK, stream, s, cut, *rho, scratch);
  else if (single) PolderLaunchEarly(PolderRRBBackwardKernel<false, float>, blocks, RRB_BLOCK, stream, s, cut, PolderCGRho{NULL, PETSC_FALSE}, NULL);
  else if (rho) PolderLaunchEarly(PolderRRBBackwardKernel<true, double>, blocks, RRB_BLOCK, stream, s, cut, *rho, scratch);
  else PolderLaunchEarly(PolderRRBBackwardKernel<false, double>, blocks, RRB_BLOCK, stream, s, cut, PolderCGRho{NULL, PETSC_FALSE}, NULL);
  return cudaGetLastError();
}

/* Vectors of red nodes: one thread for each cell */
template <class V>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderRRBReducedForwardKernel(const __grid_constant__ PolderRRBStep s, const PetscScalar *__restrict__ r)
{
  PolderBegin();
  const PetscInt u = (PetscInt)(blockIdx.x * 32 + threadIdx.x), v = (PetscInt)(blockIdx.y * (POLDER_BLOCK / 32) + threadIdx.y);

  if (u < s.g.nx / 2 && v < s.g.ny / 2) RRBReducedForward<V>(s, r, u, v, s.ends.above);
}

template <bool DOT, class V>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRRBReducedBackwardKernel(const __grid_constant__ PolderRRBStep s, const PetscScalar *__restrict__ r, PetscScalar *__restrict__ z, PolderCGRho rho,
                                 PolderReduceScratch *scratch)
{
  PolderBegin();
  const PetscInt lines   = (s.g.hx + POLDER_BLOCK - 1) / POLDER_BLOCK;
  double         part[2] = {0, 0};

  for (PetscInt b = (PetscInt)blockIdx.x; b < lines * s.g.hy; b += (PetscInt)gridDim.x) {
    const PetscInt u = b % lines * POLDER_BLOCK + (PetscInt)threadIdx.x;

    if (u < s.g.hx) RRBReducedBackward<V>(s, r, z, u, b / lines, s.ends.below != NULL, part);
  }
  if (DOT) PolderGridSum<POLDER_BLOCK>(part, scratch, RRBSums{rho});
}

int PolderRRBReducedForward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PolderStream stream)
{
  const dim3 blocks(PolderBlocks(step->g.hx, 32), PolderBlocks(step->g.hy, POLDER_BLOCK / 32)), block(32, POLDER_BLOCK / 32);

  if (single) PolderLaunchEarly(PolderRRBReducedForwardKernel<float>, blocks, block, stream, *step, r);
  else PolderLaunchEarly(PolderRRBReducedForwardKernel<double>, blocks, block, stream, *step, r);
  return cudaGetLastError();
}

int PolderRRBReducedBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho, void *work,
                                  PolderStream stream)
{
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;
  const unsigned int   blocks  = (unsigned int)PetscMin((PetscInt64)PolderBlocks(step->g.hx, POLDER_BLOCK) * step->g.hy, POLDER_REDUCE_BLOCKS);

  if (single && rho) PolderLaunchEarly(PolderRRBReducedBackwardKernel<true, float>, blocks, POLDER_BLOCK, stream, *step, r, z, *rho, scratch);
  else if (single)
    PolderLaunchEarly(PolderRRBReducedBackwardKernel<false, float>, blocks, POLDER_BLOCK, stream, *step, r, z, PolderCGRho{NULL, PETSC_FALSE}, NULL);
  else if (rho) PolderLaunchEarly(PolderRRBReducedBackwardKernel<true, double>, blocks, POLDER_BLOCK, stream, *step, r, z, *rho, scratch);
  else PolderLaunchEarly(PolderRRBReducedBackwardKernel<false, double>, blocks, POLDER_BLOCK, stream, *step, r, z, PolderCGRho{NULL, PETSC_FALSE}, NULL);
  return cudaGetLastError();
}

/* A barrier over the blocks of one cluster or, if the device has no clusters, of a cooperative launch */
static __device__ __forceinline__ void RRBSync(bool cluster)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (cluster) {
    cooperative_groups::this_cluster().sync();
    return;
  }
#endif
  cooperative_groups::this_grid().sync();
}

template <class V>
static __global__ void __launch_bounds__(RRB_SMALL_BLOCK) PolderRRBSmallKernel(const __grid_constant__ RRBSmall a)
{
  PolderRelease();
  for (PetscInt k = 1; k < a.ngrid; ++k) RRBPrefetch(a.step[k].c, sizeof(V) * RRB_NCOEF * a.step[k].g.size);
  RRBPrefetchRest(a);
  PolderAwait();
  RRBSweeps<V>(a, [&] { RRBSync(a.cluster); });
}

/* Number of blocks of the largest cluster that this device supports, 0: none */
template <class V>
static int RRBCluster(void)
{
  static int device = -1, size = 0;
  int        now, count;

  if (cudaGetDevice(&now) || now == device) return size;
  device = now;
  size   = 0;
  (void)cudaFuncSetAttribute((const void *)PolderRRBSmallKernel<V>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  for (int blocks = RRB_CLUSTER; blocks >= RRB_CLUSTER_MIN && !size; blocks /= 2) {
    cudaLaunchConfig_t  config    = {};
    cudaLaunchAttribute attribute = PolderCluster(blocks);

    config.gridDim  = dim3(blocks);
    config.blockDim = dim3(RRB_SMALL_BLOCK);
    config.attrs    = &attribute;
    config.numAttrs = 1;
    if (cudaOccupancyMaxActiveClusters(&count, (const void *)PolderRRBSmallKernel<V>, &config) == cudaSuccess && count > 0) size = blocks;
  }
  (void)cudaGetLastError();
  return size;
}

template <class V>
static int RRBSmallLaunch(RRBSmall &a, cudaStream_t stream)
{
  const int           size         = RRBCluster<V>();
  cudaLaunchConfig_t  config       = {};
  cudaLaunchAttribute attribute[2] = {};
  void               *args[]       = {&a};

  a.cluster       = size > 0;
  config.gridDim  = dim3(size ? size : PolderMultiprocessors());
  config.blockDim = dim3(RRB_SMALL_BLOCK);
  config.stream   = stream;
  config.attrs    = attribute;
  config.numAttrs = 1;
  if (size) {
    attribute[0] = PolderCluster(size);
    if (PolderAwaits(PolderRRBSmallKernel<V>)) attribute[config.numAttrs++] = PolderEarly();
  } else {
    attribute[0].id              = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
  }
  return cudaLaunchKernelExC(&config, (const void *)PolderRRBSmallKernel<V>, args);
}

int PolderRRBSmall_CUDA(const PolderRRBSystem *small, PolderStream stream)
{
  RRBSmall a = {};

  if (!RRBSmallFill(*small, &a)) return cudaErrorInvalidValue;
  return small->single ? RRBSmallLaunch<float>(a, stream) : RRBSmallLaunch<double>(a, stream);
}
