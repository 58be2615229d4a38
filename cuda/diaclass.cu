/* Classes of equal rows of a stencil: one thread a row. The lanes of a warp whose rows are equal look for their class together. */
#include "index.cuh"
#include "stencil.cuh"
#include "kernels/diaclassrow.h"

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderDiaClassFindKernel(const __grid_constant__ PolderDiaStencil S, PolderDiaClasses *C)
{
  const PetscInt     i = (PetscInt)blockIdx.x * (POLDER_DIA_SAMPLE * POLDER_DIA_GROUP_ROWS) + (PetscInt)threadIdx.x;
  unsigned long long a[POLDER_DIA_WIDTH];
  const unsigned int key    = i < S.m ? PolderDiaRowKey(&S, i, a) : 0;
  const unsigned     equals = __match_any_sync(0xffffffffu, key);

  if (!key || (int)(threadIdx.x % 32) != __ffs(equals) - 1) return;
  for (int p = 0; p < POLDER_DIA_PROBES; ++p) {
    const int    c     = PolderDiaPlace(key, p);
    unsigned int there = *(const volatile unsigned int *)&C->key[c];

    if (!there) {
      there = atomicCAS(&C->key[c], 0u, key);
      if (!there) PolderDiaEnter(&S, a, c, C);
    }
    if (!there || there == key) return;
  }
  PolderAtomicAdd(&C->lost, __popc(equals));
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderDiaClassCodeKernel(const __grid_constant__ PolderDiaStencil S, PetscInt sampled, PolderDiaClasses *C, unsigned char *__restrict__ code)
{
  const PetscInt     i = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  unsigned long long a[POLDER_DIA_WIDTH];
  int                c = 0, rest;

  if (PolderDiaClassesFail(C->lost, sampled)) {
    if (i == 0) C->rest = S.m;
    return;
  }
  if (i < S.m) {
    const unsigned int key = PolderDiaRowKey(&S, i, a);

    c       = PolderDiaClassOf(C, key, a);
    code[i] = (unsigned char)c;
  }
  rest = __syncthreads_count(c == POLDER_DIA_CLASSLESS);
  if (threadIdx.x == 0 && rest) PolderAtomicAdd(&C->rest, rest);
}

int PolderDiaClassify_CUDA(const PolderDiaStencil *stencil, unsigned char code[], PolderDiaClasses *C, PolderStream stream)
{
  static_assert(POLDER_DIA_GROUP_ROWS == POLDER_BLOCK, "a block takes a group of rows");
  const PolderDiaStencil S     = *stencil;
  const cudaError_t      error = cudaMemsetAsync(C, 0, sizeof(*C), stream);

  if (error != cudaSuccess || !S.m) return error;
  PolderDiaClassFindKernel<<<PolderBlocks(S.m, POLDER_DIA_SAMPLE * POLDER_DIA_GROUP_ROWS), POLDER_BLOCK, 0, stream>>>(S, C);
  PolderDiaClassCodeKernel<<<PolderBlocks(S.m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(S, PolderDiaSampled(S.m), C, code);
  return cudaGetLastError();
}

PetscBool PolderDiaClassesServe_CUDA(const PolderDiaStencil *S)
{
  DiaGrid<float> G;
  bool           half;

  return (PetscBool)(DiaFindGrid(S->m, S->m, S->nd, S->off, (const float *const *)S->val, &G, &half) > 0);
}
