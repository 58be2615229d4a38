/* Off-process entries stored by the rows that have any, one thread a row: they are few compared to the rows of the level. */
#include "foreach.cuh"
#include "ghosts.cuh"
#include "index.cuh"
#include "kernels/levelscalars.h"
#include "kernels/outerrow.h"
#include "kernels/pairrow.h"
#include "kernels/level.h"
#include "kernels/outer.h"
#include <float.h>
#include <type_traits>

/* Maximum number of blocks of the kernel that also computes sums */
#define OUTER_BLOCKS 264

int PolderIndexGather_CUDA(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt k) { to[k] = from[index[k]]; });
}

int PolderOuterStrength_CUDA(const PolderSparseRows *rows, PetscReal outside[], PolderStream stream)
{
  const PolderSparseRows O = *rows;

  return PolderForEach(O.n, stream, [=] __device__(PetscInt k) { outside[O.row[k]] = PolderOuterStrongest(&O, k); });
}

int PolderPairsNextOutside_CUDA(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[], PolderStream stream)
{
  return PolderForEach(nc, stream, [=] __device__(PetscInt a) {
    PetscReal most = 0;

    for (PetscInt k = ptr[a]; k < ptr[a + 1]; ++k) most = fmax(most, outside[row[k]]);
    next[a] = most;
  });
}

int PolderOuterLevelRows_CUDA(const PolderSparseRows *rows, const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad,
                              PolderStream stream)
{
  const PolderSparseRows O  = *rows;
  const PolderRows       B  = *A;
  PolderLevelSurvey      to = *survey;

  to.diag = NULL;
  return PolderForEach(O.n, stream, [=] __device__(PetscInt k) {
    const PetscInt        i    = O.row[k];
    const PolderRowSurvey s    = PolderOuterLook(&O, k, &B);
    const PetscReal       most = PolderRowBound(&s);

    PolderFirstBad(bad, PolderRowBad(i, PolderRowJudge(&s, to.zero)));
    PolderRowStore(i, &s, &to);
    if (most > *(volatile PetscReal *)bound)
      atomicMax((unsigned long long *)bound, (unsigned long long)__double_as_longlong(most)); // the bits of positive numbers are in the order of their values
  });
}

int PolderOuterTotals_CUDA(const PolderSparseRows *rows, const PolderRows *A, PetscBool inrows, float to[], int *large, PolderStream stream)
{
  const PolderSparseRows O = *rows;
  const PolderRows       B = *A;

  return PolderForEach(O.n, stream, [=] __device__(PetscInt k) {
    const PolderRowSurvey s = PolderOuterLook(&O, k, &B);

    if (!(fabs(s.total) <= FLT_MAX)) *large = 1;
    if (!inrows) to[O.row[k]] = (float)s.total;
    else if (s.at >= 0) to[s.at] = (float)s.total;
  });
}

int PolderOuterExcess_CUDA(const PolderSparseRows *coarse, const PolderSparseRows *rows, const PolderAggregates *aggregates, const PetscInt agg[], PetscInt nc,
                           PetscReal excess[], PetscReal here[], PolderStream stream)
{
  const PolderSparseRows C = *coarse, O = *rows;
  const PolderAggregates P = *aggregates;

  return PolderForEach(C.n, stream, [=] __device__(PetscInt t) { PolderOuterExcess(t, &C, &O, &P, agg, nc, excess, here); });
}

/* Which row it is, -1 for none, its entries, and the first of them */
struct OuterAhead {
  PetscInt i, e, end, col;
  double   val;
};

/* Where each row has one entry, the entry of row k is entry k */
static __device__ __forceinline__ OuterAhead OuterLook(const PolderSparseRows &O, PetscInt k, bool there)
{
  OuterAhead a = {-1, 0, 0, 0, 0};

  if (!there) return a;
  a.i   = __ldg(O.row + k);
  a.e   = O.nz == O.n ? k : __ldg(O.ptr + k);
  a.end = O.nz == O.n ? k + 1 : __ldg(O.ptr + k + 1);
  if (a.e < a.end) {
    a.col = __ldg(O.col + a.e);
    a.val = __ldg(O.val + a.e);
  }
  return a;
}

/* The row times the ghosts, in single precision minus x of the row, see levelmatrix.h */
template <class V, class Ghost>
static __device__ __forceinline__ V OuterRow(const PolderSparseRows &O, OuterAhead a, Ghost ghost, V x)
{
  V s = 0;

  while (a.e < a.end) {
    s += (V)a.val * (ghost(a.col) - (std::is_same_v<V, float> ? x : (V)0));
    if (++a.e == a.end) break;
    a.col = __ldg(O.col + a.e);
    a.val = __ldg(O.val + a.e);
  }
  return s;
}

/* Adds to this row of z and returns by how much that has changed, in units. All values of the row are under way while its ghosts are waited for */
template <class V, class Ghost>
static __device__ __forceinline__ double OuterAddRow(const PolderSparseRows &O, const OuterAhead &a, const PolderOuterSum &sum, Ghost ghost, V *z)
{
  const V     *dinv = (const V *)sum.dinv, *own = (const V *)sum.own, *ghostdinv = (const V *)sum.ghostdinv;
  const bool   wide   = std::is_same_v<V, float> && sum.wide;
  const double before = wide ? sum.wide[a.i] : (double)z[a.i];
  const V      d = dinv ? dinv[a.i] : (V)1, start = (V)sum.start, x = start != 0 ? start * d * own[a.i] : own[a.i];
  const V      s = (V)sum.scale * d *
              OuterRow(
                O, a, [&](PetscInt c) { return start != 0 ? start * __ldg(ghostdinv + c) * ghost(c) : ghost(c); }, x);

  if (wide) {
    const double after = before + sum.unit * s;

    sum.wide[a.i] = after;
    return after - before;
  }
  const V after = (V)before + s;

  z[a.i] = after;
  return sum.unit * ((double)after - before);
}

template <class V, class Ghosts>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderOuterAddDotsKernel(const __grid_constant__ PolderSparseRows O, const __grid_constant__ PolderOuterSum sum, const __grid_constant__ Ghosts ghosts, V *z,
                           PolderReduceScratch *scratch)
{
  PolderRelease();
  long long  k       = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  OuterAhead ahead   = OuterLook(O, (PetscInt)k, k < O.n);
  double     part[2] = {};

  PolderAwait();
  const uint64_t number = ghosts.due();

  while (k < O.n) {
    const double r      = sum.r[ahead.i];
    const double change = OuterAddRow(
      O, ahead, sum, [&](PetscInt c) { return ghosts(number, c); }, z);

    part[0] += r * change;
    part[1] += change;
    k += (long long)gridDim.x * POLDER_BLOCK;
    ahead = OuterLook(O, (PetscInt)k, k < O.n);
  }
  ghosts.template hear<true>(number);
  PolderGridSum<POLDER_BLOCK>(part, scratch, [&](const double *total) {
    for (int k = 0; k < 2; ++k) sum.dots[k] += total[k];
    ghosts.count(number);
  });
}

template <class V>
struct OuterAdd {
  static constexpr bool ALL = true;
  PolderSparseRows      O;
  PolderOuterSum        sum;
  V                    *z;

  __device__ __forceinline__ OuterAhead ahead(PetscInt k, bool there) const { return OuterLook(O, k, there); }
  template <class Ghost>
  __device__ __forceinline__ void operator()(PetscInt, const OuterAhead &ahead, Ghost ghost) const
  {
    (void)OuterAddRow(O, ahead, sum, ghost, z);
  }
};

template <class V>
static int OuterAddLaunch(const PolderSparseRows &O, const PolderOuterSum &sum, V *z, PolderStream stream)
{
  if (!sum.r) return PolderForEachGhost<V>(O.n, sum.ghosts, stream, OuterAdd<V>{O, sum, z});
  return PolderGhostsDo<V>(sum.ghosts, [&](const auto &ghosts) {
    typedef std::decay_t<decltype(ghosts)> Ghosts;
    const unsigned int                     blocks = PolderGhostBlocks<Ghosts>(O.n, OUTER_BLOCKS);

    if (blocks) PolderLaunchEarly(PolderOuterAddDotsKernel<V, Ghosts>, blocks, POLDER_BLOCK, stream, O, sum, ghosts, z, (PolderReduceScratch *)sum.work);
  });
}

int PolderLevelOuterAdd_CUDA(PetscBool single, const PolderSparseRows *rows, const PolderOuterSum *sum, void *z, PolderStream stream)
{
  return single ? OuterAddLaunch(*rows, *sum, (float *)z, stream) : OuterAddLaunch(*rows, *sum, (PetscScalar *)z, stream);
}

template <class V>
static int OuterRestrictLaunch(const PolderSparseRows &O, const PolderAggregates &P, const PetscInt target[], const V *own, const V *ghost, V *bc,
                               PolderStream stream)
{
  return PolderForEach(P.n, stream, [=] __device__(PetscInt t) {
    V s = 0;

    for (PetscInt m = P.ptr[t]; m < P.ptr[t + 1]; ++m)
      s += OuterRow(
        O, OuterLook(O, P.row[m], true), [=](PetscInt c) { return __ldg(ghost + c); }, own[O.row[P.row[m]]]);
    bc[target[t]] -= s;
  });
}

int PolderLevelOuterRestrict_CUDA(PetscBool single, const PolderSparseRows *rows, const PolderAggregates *P, const PetscInt target[], const void *own,
                                  const void *ghost, void *bc, PolderStream stream)
{
  return single ? OuterRestrictLaunch(*rows, *P, target, (const float *)own, (const float *)ghost, (float *)bc, stream)
                : OuterRestrictLaunch(*rows, *P, target, (const PetscScalar *)own, (const PetscScalar *)ghost, (PetscScalar *)bc, stream);
}

template <class V>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderOuterDotsKernel(const __grid_constant__ PolderSparseRows O, const V *__restrict__ ghost, const V *__restrict__ x, const V *__restrict__ b, V *v,
                        PetscReal *sum, PolderReduceScratch *scratch)
{
  double part[3] = {};

  for (long long k = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x; k < O.n; k += (long long)gridDim.x * POLDER_BLOCK) {
    const PetscInt i      = O.row[k];
    const double   before = v[i], xi = x[i],
                 s = OuterRow(
                   O, OuterLook(O, (PetscInt)k, true), [=](PetscInt c) { return __ldg(ghost + c); }, x[i]);

    v[i] = (V)(before + s);
    part[0] += xi * s;
    part[1] += b ? b[i] * s : 0;
    part[2] += (2 * before + s) * s;
  }
  PolderGridSum<POLDER_BLOCK>(part, scratch, [=](const double *total) {
    sum[0] += total[0];
    if (b) {
      sum[3] += total[1];
      sum[4] += total[2];
    }
  });
}

template <class V>
static int OuterDotsLaunch(const PolderSparseRows &O, const V *ghost, const V *x, const V *b, V *v, PolderLevelSums to, PolderStream stream)
{
  const unsigned int blocks = PetscMin(PolderBlocks(O.n, POLDER_BLOCK), (unsigned int)OUTER_BLOCKS);

  if (blocks) PolderOuterDotsKernel<V><<<blocks, POLDER_BLOCK, 0, stream>>>(O, ghost, x, b, v, to.sum, (PolderReduceScratch *)to.work);
  return cudaGetLastError();
}

int PolderLevelOuterDots_CUDA(PetscBool single, const PolderSparseRows *rows, const void *ghost, const void *x, const void *b, void *v, PolderLevelSums sums,
                              PolderStream stream)
{
  return single ? OuterDotsLaunch(*rows, (const float *)ghost, (const float *)x, (const float *)b, (float *)v, sums, stream)
                : OuterDotsLaunch(*rows, (const PetscScalar *)ghost, (const PetscScalar *)x, (const PetscScalar *)b, (PetscScalar *)v, sums, stream);
}
