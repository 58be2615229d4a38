/* Interpolation across the border of a process on levels that are grids, one thread a cell or a box of a plane. */
#include "ghosts.cuh"
#include "foreach.cuh"
#include "kernels/levelborderrow.h"

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##Double
#include "kernels/levelborderapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single
#include "kernels/levelborderapply.h"

int PolderLevelBorderInner_CUDA(const PolderLevelGrid *grid, const PolderLevelBorder *border, const PolderLevelGridEntries *entries, const PetscInt agg[],
                                PetscReal inner[], PolderStream stream)
{
  const PolderLevelGrid        G = *grid;
  const PolderLevelBorder      B = *border;
  const PolderLevelGridEntries A = *entries;

  return PolderForEach(2 * B.plane, stream, [=] __device__(PetscInt k) {
    PetscInt       at[3];
    const PetscInt i = PolderLevelBorderCell(&G, &B, k >= B.plane, k % B.plane, at);

    inner[i] = PolderLevelBorderInside(&G, &B, &A, agg, i, at);
  });
}

int PolderLevelBorderWeights_CUDA(const PolderLevelGrid *grid, const PolderLevelBorder *border, const PolderLevelGridEntries *entries, const PetscInt agg[],
                                  const PolderBorderRows *rows, PolderStream stream)
{
  const PolderLevelGrid        G = *grid;
  const PolderLevelBorder      B = *border;
  const PolderLevelGridEntries A = *entries;
  const PolderBorderRows       R = *rows;

  return PolderForEach(R.rows.n, stream, [=] __device__(PetscInt k) { PolderLevelBorderWeigh(&G, &B, &A, agg, &R, k); });
}

/* What box p of the planes at the border gives, which goes to the neighbours at once when there are sends */
template <class V>
struct BorderGive {
  PolderLevelGrid   G;
  PolderLevelBorder B;
  const V          *r;
  V                *give;
  PolderSends       sends;

  __device__ __forceinline__ void operator()(PetscInt p) const
  {
    if constexpr (std::is_same_v<V, float>) BorderGiveSingle(&G, &B, p, r, give);
    else BorderGiveDouble(&G, &B, p, r, give);
    for (int s = 0; s < 2; ++s) {
      const V given[1] = {give[s * B.cplane + p]};

      PolderSendRows(sends, s * B.cplane + p, given);
    }
  }
};

template <class V>
static int BorderGiveLaunch(const PolderLevelGrid *G, const PolderLevelBorder *B, const void *r, void *give, const PolderSends *sends, PolderStream stream)
{
  return PolderForEach(B->cplane, stream, BorderGive<V>{*G, *B, (const V *)r, (V *)give, sends ? *sends : PolderSends{}});
}

int PolderLevelBorderGive_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderLevelBorder *B, const void *r, void *give, const PolderSends *sends,
                               PolderStream stream)
{
  return single ? BorderGiveLaunch<float>(G, B, r, give, sends, stream) : BorderGiveLaunch<PetscScalar>(G, B, r, give, sends, stream);
}

/* Box p of the plane at the border before, then after */
template <class V>
struct BorderGet {
  PolderLevelGrid   G;
  PolderLevelBorder B;
  const V          *give;
  V                *bc;

  template <class Ghost>
  __device__ __forceinline__ void operator()(PetscInt p, Ghost ghost) const
  {
    for (int s = 0; s < 2; ++s) {
      if (B.side[s]) bc[PolderLevelBorderOwn(&G, &B, s, p)] += ghost(PolderLevelBorderGhost(&B, s, p)) - give[s * B.cplane + p];
    }
  }
};

int PolderLevelBorderGet_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderLevelBorder *B, const void *give, const PolderGhosts *got, void *bc,
                              PolderStream stream)
{
  return single ? PolderForEachGhost<float>(B->cplane, *got, stream, BorderGet<float>{*G, *B, (const float *)give, (float *)bc})
                : PolderForEachGhost<PetscScalar>(B->cplane, *got, stream, BorderGet<PetscScalar>{*G, *B, (const PetscScalar *)give, (PetscScalar *)bc});
}

/* Cell k of the plane at the border before, then after */
template <class V>
struct BorderTake {
  PolderLevelGrid   G;
  PolderLevelBorder B;
  PetscInt          first[2];
  const V          *xc;
  V                *x;

  template <class Ghost>
  __device__ __forceinline__ void operator()(PetscInt k, Ghost ghost) const
  {
    for (int s = 0; s < 2; ++s) {
      PetscInt i, box;
      const V  w = (V)PolderLevelBorderFaced(&G, &B, s, k, &i, &box);

      if (w > 0) x[i] += w * (ghost(first[s] + box - PolderLevelBorderOwn(&G, &B, s, 0)) - xc[box]);
    }
  }
};

template <class V>
static int BorderTakeLaunch(const PolderLevelGrid *G, const PolderLevelBorder *B, const void *xc, const PolderLevelBeyond *beyond, void *x, PolderStream stream)
{
  return PolderForEachGhost<V>(B->plane, beyond->ghosts, stream,
                               BorderTake<V>{
                                 *G, *B, {beyond->first[0], beyond->first[1]},
                                   (const V *)xc, (V *)x
  });
}

int PolderLevelBorderTake_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderLevelBorder *B, const void *xc, const PolderLevelBeyond *beyond, void *x,
                               PolderStream stream)
{
  return single ? BorderTakeLaunch<float>(G, B, xc, beyond, x, stream) : BorderTakeLaunch<PetscScalar>(G, B, xc, beyond, x, stream);
}
