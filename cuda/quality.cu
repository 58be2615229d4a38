/* Does each aggregate have a bounded two-grid condition number? A lane a row; aggregates of few rows share a warp. */
#include "foreach.cuh"
#include "kernels/qualityrow.h"

#define QUALITY_WARPS 4
/*
  Rows of aggregates that share a warp, four and two of them. Most have at most four rows, or eight after two passes; where couplings range over decades many
  have 9 to 16, for which a whole warp takes four times the shared memory
*/
#define QUALITY_FEW  8
#define QUALITY_SOME 16
/* Aggregates among which a warp looks for those of more than QUALITY_FEW rows; up to so many aggregates there is room for a warp for each set that it takes */
#define QUALITY_AMONG 8
#define QUALITY_ROOM  8192

/* What G lanes share about an aggregate of at most G rows. The weights of each row; one more, so that rows begin in different banks */
template <int G>
struct QualityWork {
  PetscReal W[G][G + 1], share[G];
};

/*
  As PolderQualityCheck_Host() for the m rows from P.row[first] on, one of the G lanes each; m <= 1: nothing to check. Called by all lanes of a warp, which go
  through its aggregates at the same time
*/
template <int G>
static __device__ bool PolderQualityHolds(PetscInt first, PetscInt m, const PolderAggregates &P, const PolderRows &A, const PolderQuality &q, QualityWork<G> &w)
{
  const int       lane  = threadIdx.x % G;
  const PetscInt  mine  = lane < m ? P.row[first + lane] : -1;
  const PetscReal own   = lane < m ? PolderQualityCoupled(mine, &q) : 0;
  const int       steps = (int)__reduce_max_sync(FULL_WARP, (unsigned int)m);
  PetscReal       total = own;
  bool            holds = true;

  for (int o = G / 2; o > 0; o /= 2) total += __shfl_xor_sync(FULL_WARP, total, o);
  w.share[lane] = total > 0 ? own / total : 0;
  __syncwarp();
  if (lane < m) PolderQualityRow(mine, first, m, P.at, own, w.share, &A, q.kappa, w.W[lane]);
  for (int k = 0; k + 1 < steps; ++k) {
    __syncwarp(); // row k is ready
    if (!holds || k + 1 >= m) continue;

    const PetscReal pivot = PolderQualityPivot(k, m, w.W[k]); // the same in all lanes

    holds = pivot >= 0;
    if (holds && lane > k && lane < m) PolderQualityEliminate(k, m, pivot, w.W[k], w.W[lane]);
  }
  __syncwarp(); // the next aggregate may use the memory
  return holds;
}

/* bits without the first n of those that are set */
static __device__ __forceinline__ unsigned int QualitySkip(unsigned int bits, int n)
{
  for (int k = 0; k < n; ++k) bits &= bits - 1;
  return bits;
}

/*
  The aggregates of LEAST to G rows, for which each warp looks AMONG consecutive ones, and of which it takes 32 / G at a time. LEAST = 0: also those that are
  too large to be looked at. block: of those that look for such aggregates
*/
template <int G, int LEAST, int AMONG>
struct QualityLook {
  typedef QualityWork<G> Work[32 * QUALITY_WARPS / G];

  static unsigned int    blocks(PetscInt n) { return PolderBlocks(n, AMONG * QUALITY_WARPS); }
  static __device__ void look(PetscInt block, const PolderAggregates &P, const PolderRows &A, const PolderQuality &q, Work &work, PetscInt *bad)
  {
    const int      lane  = threadIdx.x % 32;
    const PetscInt begin = (block * QUALITY_WARPS + (PetscInt)(threadIdx.x / 32)) * AMONG, a = begin + lane;
    const bool     there = lane < AMONG && a < P.n && (!q.some || bad[a]);
    const PetscInt first = there ? P.ptr[a] : 0, m = there ? P.ptr[a + 1] - first : 0;

    if (LEAST == 0 && m > POLDER_QUALITY_ROWS) bad[a] = q.large;
    for (unsigned int left = __ballot_sync(FULL_WARP, there && m >= LEAST && m <= G); left; left = AMONG > 32 / G ? QualitySkip(left, 32 / G) : 0) {
      const unsigned int mine = QualitySkip(left, lane / G);
      const int          k    = mine ? __ffs((int)mine) - 1 : 0;
      const PetscInt     mk = __shfl_sync(FULL_WARP, m, k), firstk = __shfl_sync(FULL_WARP, first, k);
      const bool         holds = PolderQualityHolds<G>(firstk, mine ? mk : 0, P, A, q, work[threadIdx.x / G]);

      if (mine && lane % G == 0) bad[begin + k] = !holds;
    }
  }
};

typedef QualityLook<QUALITY_FEW, 0, 32 / QUALITY_FEW>                 QualityFew;
typedef QualityLook<QUALITY_SOME, QUALITY_FEW + 1, 32 / QUALITY_SOME> QualitySome;
typedef QualityLook<POLDER_QUALITY_ROWS, QUALITY_SOME + 1, 1>         QualityMany;

template <class Look>
static __global__ void __launch_bounds__(32 * QUALITY_WARPS)
  PolderQualityKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderQuality q, PetscInt *bad)
{
  __shared__ typename Look::Work work;

  Look::look((PetscInt)blockIdx.x, P, A, q, work, bad);
}

/* The same for aggregates of all sizes at a time, where no size has enough of them to keep the device busy: blockIdx.y tells the size, the largest first */
static __global__ void __launch_bounds__(32 * QUALITY_WARPS)
  PolderQualityAllKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderQuality q,
                         PetscInt *bad)
{
  __shared__ union
  {
    QualityFew::Work  few;
    QualitySome::Work some;
    QualityMany::Work many;
  } work;

  if (blockIdx.y == 0) QualityMany::look((PetscInt)blockIdx.x, P, A, q, work.many, bad);
  else if (blockIdx.y == 1) QualitySome::look((PetscInt)blockIdx.x, P, A, q, work.some, bad);
  else QualityFew::look((PetscInt)blockIdx.x, P, A, q, work.few, bad);
}

template <class Look>
static void QualityLaunch(const PolderAggregates *P, const PolderRows *A, const PolderQuality *q, PetscInt bad[], PolderStream stream)
{
  PolderQualityKernel<Look><<<Look::blocks(P->n), 32 * QUALITY_WARPS, 0, stream>>>(*P, *A, *q, bad);
}

int PolderQualityCheck_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderQuality *q, PetscInt bad[], PolderStream stream)
{
  if (!P->n) return cudaSuccess;
  if (P->n <= QUALITY_ROOM) PolderQualityAllKernel<<<dim3(PolderBlocks(P->n, QUALITY_WARPS), 3), 32 * QUALITY_WARPS, 0, stream>>>(*P, *A, *q, bad);
  else {
    QualityLaunch<QualityFew>(P, A, q, bad, stream);
    QualityLaunch<QualityLook<QUALITY_SOME, QUALITY_FEW + 1, QUALITY_AMONG>>(P, A, q, bad, stream);
    QualityLaunch<QualityLook<POLDER_QUALITY_ROWS, QUALITY_SOME + 1, QUALITY_AMONG>>(P, A, q, bad, stream);
  }
  return cudaGetLastError();
}

int PolderQualityJoined_CUDA(PetscInt m, const PetscInt join[], const PetscInt agg[], PetscInt bad[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    if (join[i] != i) bad[agg[i]] = 1; // all threads write the same value
  });
}

int PolderQualityUndo_CUDA(PetscInt m, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) { PolderQualityUndoRow(i, agg, n, bad, mate, join); });
}
