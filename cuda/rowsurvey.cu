/* What the rows of a level have: totals, inverse diagonals and bounds, keys of their entries, weak entries. */
#include "foreach.cuh"
#include "index.cuh"
#include "module.cuh"
#include "kernels/levelrow.h"
#include "kernels/galerkin.h"
#include "kernels/level.h"
#include <float.h>

int PolderRowTotals_CUDA(const PolderRows *rows, PetscBool inrows, float to[], int *bad, PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    PetscInt        at;
    const PetscReal total = PolderRowTotal(i, &A, &at);

    if (!(fabs(total) <= FLT_MAX)) *bad = 1;
    if (!inrows) to[i] = (float)total;
    else if (at >= 0) to[at] = (float)total;
  });
}

int PolderMemberSums_CUDA(const PolderAggregates *aggregates, const PetscReal d[], const PetscReal s[], PetscReal dsum[], PetscReal ssum[], PolderStream stream)
{
  const PolderAggregates P = *aggregates;

  return PolderForEach(P.n, stream, [=] __device__(PetscInt a) {
    PetscReal da = 0, sa = 0;

    for (PetscInt k = P.ptr[a]; k < P.ptr[a + 1]; ++k) {
      da += d[P.row[k]];
      sa += s[P.row[k]];
    }
    dsum[a] = da;
    ssum[a] = sa;
  });
}

/* The rows of a matrix, and what a row has */
struct SurveyRows {
  PolderRows A;

  __device__ __forceinline__ PolderRowSurvey look(PetscInt i) const
  {
    PolderRowSurvey s   = {0, 0, 0, -1};
    const PetscInt  end = __ldg(A.i + i + 1);

    for (PetscInt k = __ldg(A.i + i); k < end; ++k) PolderRowLook(i, k, __ldg(A.j + k), __ldg(A.a + k), &s);
    return s;
  }
};

/* ND = 0: any number of diagonals */
template <int ND>
struct SurveyDia {
  PetscInt           n, nd, off[POLDER_LEVEL_DIAGONALS];
  const PetscScalar *val[POLDER_LEVEL_DIAGONALS];

  __device__ __forceinline__ PolderRowSurvey look(PetscInt i) const
  {
    PolderRowSurvey s = {0, 0, 0, -1};

#pragma unroll(ND ? ND : 4)
    for (int d = 0; d < (ND ? ND : nd); ++d) {
      const PetscInt j = i + off[d];

      if (j >= 0 && j < n) PolderRowLook(i, d, j, __ldg(val[d] + i), &s);
    }
    return s;
  }
};

template <class Rows>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLevelRowsKernel(PetscInt n, const __grid_constant__ Rows rows, const __grid_constant__ PolderLevelSurvey survey, PetscReal *most, PetscInt64 *bad)
{
  const PetscInt i     = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscReal      bound = 0;

  if (i < n) {
    const PolderRowSurvey s = rows.look(i);

    PolderFirstBad(bad, PolderRowBad(i, PolderRowJudge(&s, survey.zero)));
    PolderRowStore(i, &s, &survey);
    bound = PolderRowBound(&s);
  }
  for (int o = 16; o > 0; o /= 2) bound = fmax(bound, __shfl_down_sync(FULL_WARP, bound, o));
  if (threadIdx.x % 32 == 0 && bound > *(volatile PetscReal *)most)
    atomicMax((unsigned long long *)most, (unsigned long long)__double_as_longlong(bound)); // the bits of positive numbers are in the order of their values
}

template <class Rows>
static int SurveyLaunch(PetscInt n, const Rows &rows, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  if (n > 0) PolderLevelRowsKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, rows, *survey, bound, bad);
  return cudaGetLastError();
}

template <int ND>
static int SurveyDiaLaunch(const PolderDia *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  SurveyDia<ND> D;

  D.n  = A->n;
  D.nd = A->nd;
  for (PetscInt d = 0; d < A->nd; ++d) {
    D.off[d] = A->off[d];
    D.val[d] = A->val[d];
  }
  return SurveyLaunch(A->m, D, survey, bound, bad, stream);
}

int PolderLevelDiaRows_CUDA(const PolderDia *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  if (A->nd > POLDER_LEVEL_DIAGONALS) return (int)cudaErrorInvalidValue;
  if (A->nd == 7) return SurveyDiaLaunch<7>(A, survey, bound, bad, stream);
  return A->nd == 5 ? SurveyDiaLaunch<5>(A, survey, bound, bad, stream) : SurveyDiaLaunch<0>(A, survey, bound, bad, stream);
}

int PolderLevelRows_CUDA(const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  return SurveyLaunch(A->n, SurveyRows{*A}, survey, bound, bad, stream);
}

/* Is the entry weak, and added to the diagonal? */
static __device__ __forceinline__ bool PolderIsWeak(PetscInt i, PetscInt j, PetscScalar a, PetscReal drop, const PetscReal *__restrict__ d)
{
  return i != j && fabs(a) <= drop * fmin(d[i], d[j]);
}

int PolderDropWeakCount_CUDA(const PolderRows *rows, PetscReal drop, const PetscReal d[], PetscInt length[], PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    PetscInt strong = 0;

    for (PetscInt k = A.i[i]; k < A.i[i + 1]; ++k) strong += !PolderIsWeak(i, A.j[k], A.a[k], drop, d);
    length[i + 1] = strong;
  });
}

int PolderDropWeakFill_CUDA(const PolderRows *rows, PetscReal drop, const PetscReal d[], const PolderSparseRows *strong, PolderStream stream)
{
  const PolderRows       A = *rows;
  const PolderSparseRows C = *strong;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    PetscInt    to = C.ptr[i], diagonal = -1;
    PetscScalar weak = 0;

    for (PetscInt k = A.i[i]; k < A.i[i + 1]; ++k) {
      if (PolderIsWeak(i, A.j[k], A.a[k], drop, d)) weak += A.a[k];
      else {
        if (A.j[k] == i) diagonal = to;
        C.col[to]   = A.j[k];
        C.val[to++] = A.a[k];
      }
    }
    if (diagonal >= 0) C.val[diagonal] += weak;
  });
}

int PolderRowsKeys_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt64 key[], PetscInt *count, PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) key[k] = (PetscInt64)i * n + aj[k];
    if (i == n - 1) *count = ai[n];
  });
}

POLDER_MODULE(RowSurvey)
