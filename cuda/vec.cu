/* Vector kernels of conjugate gradients. */
#include "dots.cuh"
#include "foreach.cuh"
#include "module.cuh"
#include "kernels/vec.h"

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

/* Calls finish(sum of term(i), i < n) */
template <class Term, class Finish>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderStreamSumKernel(PetscInt n, const Term term, const Finish finish, PolderReduceScratch *scratch)
{
  const PetscInt stride = (PetscInt)gridDim.x * POLDER_BLOCK;
  double         sum[1] = {0};

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += stride) sum[0] += term(i);
  PolderGridSum<POLDER_BLOCK>(sum, scratch, [&](const double *s) { finish(s[0]); });
}

template <class Term, class Finish>
static int PolderStreamSum(PetscInt n, Term term, Finish finish, void *work, PolderStream stream)
{
  PolderStreamSumKernel<<<PolderStreamBlocks(n), POLDER_BLOCK, 0, stream>>>(n, term, finish, (PolderReduceScratch *)work);
  return cudaGetLastError();
}

int PolderNorm_CUDA(PetscInt n, const PetscScalar x[], volatile PetscReal *norm, void *work, PolderStream stream)
{
  return PolderStreamSum(
    n, [=] __device__(PetscInt i) { return x[i] * x[i]; }, [=] __device__(double sum) { *norm = isnan(sum) ? HUGE_VAL : sqrt(sum); }, work, stream);
}

int PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream)
{
  return PolderStreamSum(
    n, [=] __device__(PetscInt i) { return x[i] * y[i]; }, [=] __device__(double sum) { *dot = sum; }, work, stream);
}

int PolderDots_CUDA(PetscInt n, PetscInt count, const PetscScalar x[], const PetscScalar *const y[], const PolderDotsTo *to, void *work, PolderStream stream)
{
  if (count > 1) return PolderDotsMore(n, count, x, y, to, work, stream);
  return count ? PolderDots<1>(n, x, y, to, work, stream) : cudaSuccess;
}

int PolderCombine_CUDA(PetscInt n, const PolderTerms *terms, PetscScalar y[], PolderStream stream)
{
  return PolderForEach(n, stream, [=, terms = *terms] __device__(PetscInt i) {
    PetscScalar sum = terms.own != 0 ? terms.own * y[i] : 0;

#pragma unroll 8
    for (int k = 0; k < terms.count; ++k) sum += terms.a[k] * __ldg(terms.x[k] + i);
    y[i] = sum;
  });
}

int PolderReciprocal_CUDA(PetscInt n, PetscScalar zero, const PetscScalar x[], PetscScalar y[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) { y[i] = x[i] != 0 ? 1 / x[i] : zero; });
}

static __global__ void PolderSendKernel(int words, const int *from, volatile int *to, volatile PetscReal *arrived)
{
  for (int k = (int)threadIdx.x; k < words; k += 32) to[k] = from[k];
  __threadfence_system();
  __syncwarp();
  if (threadIdx.x == 0) *arrived = 0;
}

int PolderSend_CUDA(int words, const void *from, void *to, volatile PetscReal *arrived, PolderStream stream)
{
  PolderSendKernel<<<1, 32, 0, stream>>>(words, (const int *)from, (volatile int *)to, arrived);
  return cudaGetLastError();
}

POLDER_MODULE(Vec)
