/* Diagonals from compressed rows, and their values in single precision and bfloat16. */
#include "stencil.cuh"
#include "module.cuh"
#include "kernels/dia.h"
#include "kernels/vec.h"

/* Sets *bad for a finite number that is too large for single precision */
__global__ __launch_bounds__(POLDER_BLOCK) void PolderToSingleKernel(size_t n, const PetscScalar *__restrict__ v, float *__restrict__ s, int *bad)
{
  for (size_t i = (size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * POLDER_BLOCK) {
    const float f = (float)v[i];

    s[i] = f;
    if (isinf(f) && !isinf(v[i])) *bad = 1;
  }
}

int PolderToSingle_CUDA(size_t n, const PetscScalar v[], float s[], int *bad, PolderStream stream)
{
  if (n) PolderToSingleKernel<<<(unsigned int)PetscMin((n + POLDER_BLOCK - 1) / POLDER_BLOCK, 1 << 16), POLDER_BLOCK, 0, stream>>>(n, v, s, bad);
  return (int)cudaGetLastError();
}

/* V: double or float */
template <class V>
static __device__ __forceinline__ void DiaToBfloat(size_t n, const V *__restrict__ v, PolderBfloat *__restrict__ a, int *bad)
{
  for (size_t i = (size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * POLDER_BLOCK) {
    const PolderBfloat rounded = PolderBfloatRound((float)v[i]);

    a[i] = rounded;
    if (isinf(PolderBfloatGet(rounded)) && !isinf(v[i])) *bad = 1;
  }
}

static unsigned int DiaToBfloatBlocks(size_t n)
{
  return (unsigned int)PetscMin((n + POLDER_BLOCK - 1) / POLDER_BLOCK, 1 << 16);
}

static __global__ __launch_bounds__(POLDER_BLOCK) void PolderToBfloatKernel(size_t n, const float *v, PolderBfloat *a, int *bad)
{
  DiaToBfloat(n, v, a, bad);
}

int PolderToBfloat_CUDA(size_t n, const float s[], PolderBfloat a[], int *bad, PolderStream stream)
{
  if (n) PolderToBfloatKernel<<<DiaToBfloatBlocks(n), POLDER_BLOCK, 0, stream>>>(n, s, a, bad);
  return (int)cudaGetLastError();
}

/* blockIdx.y is the array */
static __global__ __launch_bounds__(POLDER_BLOCK) void PolderHalveKernel(const __grid_constant__ PolderHalving arrays, int *bad)
{
  DiaToBfloat(arrays.n[blockIdx.y], arrays.v[blockIdx.y], arrays.a[blockIdx.y], bad);
}

int PolderHalve_CUDA(const PolderHalving *arrays, int *bad, PolderStream stream)
{
  size_t most = 0;

  for (int k = 0; k < arrays->count; ++k) most = PetscMax(most, arrays->n[k]);
  if (most) PolderHalveKernel<<<dim3(DiaToBfloatBlocks(most), (unsigned int)arrays->count), POLDER_BLOCK, 0, stream>>>(*arrays, bad);
  return (int)cudaGetLastError();
}

__global__ __launch_bounds__(POLDER_BLOCK) void PolderDiaOffsetsKernel(PetscInt       m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj,
                                                                       unsigned char *seen)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;

  if (i >= m) return;
  for (PetscInt k = ai[i], end = ai[i + 1]; k < end; ++k) {
    unsigned char *s = seen + (aj[k] - i + m);

    if (!*s) *s = 1; // tests first, as a cached read: millions of rows write the same few bytes
  }
}

int PolderDiaOffsets_CUDA(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], unsigned char seen[], PolderStream stream)
{
  (void)n;
  if (m) PolderDiaOffsetsKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, ai, aj, seen);
  return (int)cudaGetLastError();
}

/* The diagonals of one launch of the fill: of nd in all, beginning with number first. below: the offset before them; least: a bound below all column offsets */
struct DiaFillArgs {
  PetscInt     nd, below;
  bool         firstbatch, lastbatch;
  PetscInt     off[DIA_BATCH];
  PetscScalar *val[DIA_BATCH];
};

/* Is low the mirror image of up, an entry of a row above? Exactly, or up to tol times the larger of low and the smaller diagonal entry of both rows */
__device__ __forceinline__ bool DiaEntriesMirror(PetscScalar low, PetscScalar up, PetscScalar diag, PetscScalar above, PetscReal tol)
{
  return low == up || fabs(low - up) <= tol * fmax(fabs(low), fmin(fabs(diag), fabs(above)));
}

/* MIRROR: compares the diagonals with the mirror images to which their pointers lead, instead of filling them; diag is the main diagonal */
template <bool MIRROR>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderDiaFillKernel(const __grid_constant__ DiaFillArgs A, const PetscScalar *diag, PolderRows rows,
                                                                    PetscReal tol, int *bad)
{
  const PetscInt *__restrict__ ai = rows.i, *__restrict__ aj = rows.j;
  const PetscScalar *__restrict__ aa = rows.a;
  const PetscInt i                   = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscInt       k, end;

  if (i >= rows.n) return;
  k   = ai[i];
  end = ai[i + 1];
  if (A.firstbatch) {
    for (PetscInt l = k + 1; l < end; ++l) {
      if (aj[l] <= aj[l - 1]) *bad = POLDER_DIA_WRONG;
    }
  } else {
    while (k < end && aj[k] - i <= A.below) ++k;
  }
  for (PetscInt d = 0; d < A.nd; ++d) {
    const PetscScalar v = k < end && aj[k] == i + A.off[d] ? aa[k++] : 0.0;

    if (!MIRROR) A.val[d][i] = v;
    else if (i + A.off[d] >= 0 && v != A.val[d][i]) {
      if (!DiaEntriesMirror(v, A.val[d][i], diag[i], diag[i + A.off[d]], tol)) *bad = POLDER_DIA_WRONG;
      else if (!*(volatile int *)bad) atomicOr(bad, POLDER_DIA_ROUNDED);
    }
  }
  if (k < end && (A.lastbatch || aj[k] - i <= A.off[A.nd - 1])) *bad = POLDER_DIA_WRONG;
}

int PolderDiaFill_CUDA(const PolderDia *D, PetscScalar *const val[], PolderRows rows, PetscReal tol, int *bad, PolderStream stream)
{
  const PetscInt     nd = D->nd, first = D->half ? D->main : 0, *off = D->off;
  const unsigned int blocks = PolderBlocks(D->m, POLDER_BLOCK);

  if (!D->m) return (int)cudaGetLastError();
  for (int mirror = 0; mirror < (tol < PETSC_INFINITY ? 2 : 1); ++mirror) { // the second pass compares mirrored entries, after all rows have been filled
    const PetscInt d0 = mirror ? 0 : first, d1 = mirror ? first : nd;

    for (PetscInt b = d0; b < d1 || (b == d0 && !mirror); b += DIA_BATCH) {
      DiaFillArgs A;

      A.nd         = PetscMin(d1 - b, DIA_BATCH);
      A.firstbatch = b == 0;
      A.lastbatch  = b + A.nd == nd;
      A.below      = b ? off[b - 1] : 0;
      for (PetscInt d = 0; d < A.nd; ++d) {
        A.off[d] = off[b + d];
        A.val[d] = val[b + d];
      }
      if (mirror) PolderDiaFillKernel<true><<<blocks, POLDER_BLOCK, 0, stream>>>(A, val[first], rows, tol, bad);
      else PolderDiaFillKernel<false><<<blocks, POLDER_BLOCK, 0, stream>>>(A, NULL, rows, tol, bad);
    }
  }
  return (int)cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderMarkedListKernel(PetscInt n, const char *__restrict__ mark, PetscInt most, PetscInt *__restrict__ list, PetscInt *count)
{
  const long long k = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x;

  if (k < n && mark[k]) {
    using Unsigned    = typename std::conditional<sizeof(PetscInt) == 8, unsigned long long, unsigned int>::type;
    const PetscInt at = (PetscInt)atomicAdd((Unsigned *)count, (Unsigned)1);

    if (at < most) list[at] = (PetscInt)k;
  }
}

int PolderMarkedList_CUDA(PetscInt n, const char mark[], PetscInt most, PetscInt list[], PetscInt *count, PolderStream stream)
{
  if (n) PolderMarkedListKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, mark, most, list, count);
  return cudaGetLastError();
}

POLDER_MODULE(DiaFill)
