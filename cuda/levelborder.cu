/* Interpolation across the border of a process on levels that are grids, one thread a cell or a box of a plane. */
#include "ghosts.cuh"
#include "foreach.cuh"
#include "levelborder.cuh"

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

template <class V>
static int BorderGiveLaunch(const PolderLevelGrid *grid, const PolderLevelBorder *B, const void *r, void *give, PolderStream stream)
{
  const PolderLevelGrid G     = *grid;
  const BorderGive<V>   gives = {B->cplane, *B, (V *)give, {}};

  return PolderForEach(gives.n, stream, [=] __device__(PetscInt p) { gives(G, p, (const V *)r); });
}

int PolderLevelBorderGive_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderLevelBorder *B, const void *r, void *give, PolderStream stream)
{
  return single ? BorderGiveLaunch<float>(G, B, r, give, stream) : BorderGiveLaunch<PetscScalar>(G, B, r, give, stream);
}

/* Box p of the plane at the border before, then after */
template <class V>
struct BorderGet {
  static constexpr bool ALL = true;
  PolderLevelGrid       G;
  PolderLevelBorder     B;
  const V              *give;
  V                    *bc;

  __device__ __forceinline__ PolderNothingAhead ahead(PetscInt, bool) const { return {}; }
  template <class Ghost>
  __device__ __forceinline__ void operator()(PetscInt p, PolderNothingAhead, Ghost ghost) const
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
  static constexpr bool ALL = false;
  PolderLevelGrid       G;
  PolderLevelBorder     B;
  PetscInt              first[2];
  const V              *xc;
  V                    *x;

  __device__ __forceinline__ PolderNothingAhead ahead(PetscInt, bool) const { return {}; }
  template <class Ghost>
  __device__ __forceinline__ void operator()(PetscInt k, PolderNothingAhead, Ghost ghost) const
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
