/* Classes of equal rows of a stencil: one thread a row. The lanes of a warp whose rows are equal look for their class together. */
#include "index.cuh"
#include "stencil.cuh"
#include "module.cuh"
#include "kernels/diaclassrow.h"

/* Rows without a place that a warp counts at a time */
#define POLDER_DIA_LOST 8
/* Groups of rows that are looked at before the sample, whose many warps need long to see that no two rows are equal */
#define POLDER_DIA_PROBE 16

/*
  Enters the class of the row that lane `from` of this warp has, unless it is there; false: there is no place for it. All places that the class may take are
  looked at together
*/
static __device__ __forceinline__ bool PolderDiaClassEnter(const PolderDiaStencil &S, const unsigned long long (&a)[POLDER_DIA_WIDTH], unsigned int mykey,
                                                           int from, PolderDiaClasses *C)
{
  static_assert(POLDER_DIA_PROBES == 32, "a lane looks at a place");
  const int          lane = threadIdx.x % 32;
  const unsigned int key  = __shfl_sync(0xffffffffu, mykey, from);
  const int          mine = PolderDiaPlace(key, lane);

  for (;;) { // places that others take meanwhile are seen in the next round
    const unsigned int there = *(const volatile unsigned int *)&C->key[mine], empty = __ballot_sync(0xffffffffu, !there);
    unsigned int       found = 0;

    if (__any_sync(0xffffffffu, there == key)) return true;
    if (!empty) return false;
    if (lane == from) {
      const int c = PolderDiaPlace(key, __ffs(empty) - 1);

      found = atomicCAS(&C->key[c], 0u, key);
      if (!found) {
        PolderDiaEnter(&S, a, c, C);
        PolderAtomicAdd(&C->used, 1);
      }
    }
    found = __shfl_sync(0xffffffffu, found, from);
    if (!found || found == key) return true;
  }
}

/*
  Finds classes in every n-th group of rows, of which there are `sampled`; code != NULL: only in rows that have none yet. A warp looks once for equal rows. It
  adds the rows without a place to *alllost as it goes and leaves when all warps have found too many. Where the rows before the sample have failed, so has that
*/
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderDiaClassFindKernel(const __grid_constant__ PolderDiaStencil S, int n, PetscInt sampled,
                                                                                const unsigned char *__restrict__ code, PetscInt *alllost, PolderDiaClasses *C)
{
  const PetscInt     i    = (PetscInt)blockIdx.x * (n * POLDER_DIA_GROUP_ROWS) + (PetscInt)threadIdx.x;
  const int          lane = threadIdx.x % 32;
  unsigned long long a[POLDER_DIA_WIDTH];
  unsigned int       key  = 0, equals, left;
  PetscInt           lost = 0;

  if (code && (C->rest == S.m || *(const volatile PetscInt *)&C->used == POLDER_DIA_CLASSLESS)) return; // the sample has failed, or there is no place
  if (!code && alllost != &C->probed && PolderDiaClassesFail(C->probed, POLDER_DIA_PROBE * POLDER_DIA_GROUP_ROWS)) {
    if (i == 0) C->lost = S.m;
    return;
  }
  if (i < S.m && (!code || code[i] == POLDER_DIA_CLASSLESS)) {
    PolderDiaRowBits(&S, i, a);
    key = PolderDiaKeyOf(a);
  }
  equals = __match_any_sync(0xffffffffu, key);
  left   = __ballot_sync(0xffffffffu, key && lane == __ffs(equals) - 1);
  for (; left; left &= left - 1) {
    const int from = __ffs(left) - 1;

    if (!PolderDiaClassEnter(S, a, key, from, C)) lost += __popc(__shfl_sync(0xffffffffu, equals, from));
    if (code || lost < POLDER_DIA_LOST) continue;
    if (lane == 0) {
      PolderAtomicAdd(alllost, lost);
      lost = *(const volatile PetscInt *)alllost;
    }
    if (PolderDiaClassesFail(__shfl_sync(0xffffffffu, lost, 0), sampled)) return;
    lost = 0;
  }
  if (!code && lost && lane == 0) PolderAtomicAdd(alllost, lost);
}

/* Sets the codes and counts the rows in no class. ENTRIES: what stencil.entries is; AGAIN: goes over the rows in no class again */
template <PolderDiaEntries ENTRIES, bool AGAIN>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderDiaClassCodeKernel(const __grid_constant__ PolderDiaStencil stencil, PetscInt sampled, PolderDiaClasses *C, unsigned char *__restrict__ code)
{
  const PetscInt     first = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x, stride = (PetscInt)gridDim.x * POLDER_BLOCK;
  unsigned long long last[POLDER_DIA_WIDTH] = {};
  int                same = -1, rest = 0;
  PolderDiaStencil   S = stencil;

  S.entries = ENTRIES;
  if (PolderDiaClassesFail(C->lost, sampled)) {
    if (first == 0) C->rest = S.m;
    return;
  }
  for (PetscInt i = first; i<S.m; i = S.m - stride> i ? i + stride : S.m) {
    int c;

    if (AGAIN && code[i] != POLDER_DIA_CLASSLESS) continue;
    c       = PolderDiaNextClass(&S, C, i, last, &same);
    code[i] = (unsigned char)c;
    rest += AGAIN ? -(c != POLDER_DIA_CLASSLESS) : c == POLDER_DIA_CLASSLESS;
  }
  rest = __reduce_add_sync(0xffffffffu, rest);
  if (threadIdx.x % 32 == 0 && rest) PolderAtomicAdd(&C->rest, rest);
}

template <PolderDiaEntries ENTRIES>
static int DiaClassify(const PolderDiaStencil &S, unsigned char *code, PolderDiaClasses *C, cudaStream_t stream)
{
  const PetscInt     sample = PolderDiaSampled(S.m), all = PolderBlocks(S.m, POLDER_BLOCK);
  const unsigned int blocks = (unsigned int)PetscMin(all, 8 * PolderMultiprocessors()), some = PolderBlocks(S.m, POLDER_DIA_SAMPLE * POLDER_DIA_GROUP_ROWS);

  if (some > POLDER_DIA_PROBE)
    PolderDiaClassFindKernel<<<POLDER_DIA_PROBE, POLDER_BLOCK, 0, stream>>>(S, (int)(some / POLDER_DIA_PROBE) * POLDER_DIA_SAMPLE,
                                                                            POLDER_DIA_PROBE * POLDER_DIA_GROUP_ROWS, NULL, &C->probed, C);
  PolderDiaClassFindKernel<<<some, POLDER_BLOCK, 0, stream>>>(S, POLDER_DIA_SAMPLE, sample, NULL, &C->lost, C);
  PolderDiaClassCodeKernel<ENTRIES, false><<<blocks, POLDER_BLOCK, 0, stream>>>(S, sample, C, code);
  PolderDiaClassFindKernel<<<PolderBlocks(S.m, 3 * POLDER_DIA_GROUP_ROWS), POLDER_BLOCK, 0, stream>>>(S, 3, sample, code, NULL, C);
  PolderDiaClassCodeKernel<ENTRIES, true><<<blocks, POLDER_BLOCK, 0, stream>>>(S, sample, C, code);
  return cudaGetLastError();
}

int PolderDiaClassify_CUDA(const PolderDiaStencil *S, unsigned char code[], PolderDiaClasses *C, PolderStream stream)
{
  static_assert(POLDER_DIA_GROUP_ROWS == POLDER_BLOCK, "a block takes a group of rows");
  const cudaError_t error = cudaMemsetAsync(C, 0, sizeof(*C), stream);

  if (error != cudaSuccess || !S->m) return error;
  if (S->entries == POLDER_DIA_DOUBLE) return DiaClassify<POLDER_DIA_DOUBLE>(*S, code, C, stream);
  if (S->entries == POLDER_DIA_SINGLE) return DiaClassify<POLDER_DIA_SINGLE>(*S, code, C, stream);
  return DiaClassify<POLDER_DIA_BFLOAT>(*S, code, C, stream);
}

PetscBool PolderDiaClassesServe_CUDA(const PolderDiaStencil *S)
{
  DiaGrid<float> G;
  bool           half;

  return (PetscBool)(DiaFindGrid(S->m, S->m, S->nd, S->off, (const float *const *)S->val, &G, &half) > 0);
}

POLDER_MODULE(DiaClass)
