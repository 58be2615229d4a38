/* Vector kernels of the conjugate gradients. */
#include "launch.cuh"

size_t PolderReduceWork_CUDA(void)
{
  return sizeof(PolderReduceScratch);
}

/* Two blocks of 1024 threads on each multiprocessor keep enough loads in flight */
static unsigned int PolderStreamBlocks(PetscInt n)
{
  const unsigned int blocks = PolderBlocks(n, POLDER_BLOCK);

  return blocks < 2048 ? (blocks ? blocks : 1) : 2048;
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderDotKernel(PetscInt n, const PetscScalar *__restrict__ x, const PetscScalar *__restrict__ y, PetscScalar *dot, PolderReduceScratch *scratch)
{
  const PetscInt stride = (PetscInt)gridDim.x * POLDER_BLOCK;
  double         sum[1] = {0};

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += stride) sum[0] += x[i] * y[i];
  PolderGridSum<POLDER_BLOCK>(sum, scratch, [=](const double *s) { *dot = s[0]; });
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderNormKernel(PetscInt n, const PetscScalar *__restrict__ x, volatile PetscReal *norm, PolderReduceScratch *scratch)
{
  const PetscInt stride = (PetscInt)gridDim.x * POLDER_BLOCK;
  double         sum[1] = {0};

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += stride) sum[0] += x[i] * x[i];
  PolderGridSum<POLDER_BLOCK>(sum, scratch, [=](const double *s) { *norm = isnan(s[0]) ? HUGE_VAL : sqrt(s[0]); });
}

int PolderNorm_CUDA(PetscInt n, const PetscScalar x[], volatile PetscReal *norm, void *work, PolderStream stream)
{
  PolderNormKernel<<<PolderStreamBlocks(n), POLDER_BLOCK, 0, stream>>>(n, x, norm, (PolderReduceScratch *)work);
  return cudaGetLastError();
}

int PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream)
{
  PolderDotKernel<<<PolderStreamBlocks(n), POLDER_BLOCK, 0, stream>>>(n, x, y, dot, (PolderReduceScratch *)work);
  return cudaGetLastError();
}
