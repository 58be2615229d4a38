/* Restriction and interpolation on levels that are grids: the choice of kernels by precision, and by whether the level is joined in direction 2. */
#include "levelgridcycle.cuh"

#define GRID_CYCLE_ELSEWHERE(V, far) \
  extern template int GridRestrict<V, far>(const PolderLevelGrid *, const PolderLevelGiving *, const V *, V *, cudaStream_t); \
  extern template int GridProlong<V, far>(const PolderLevelGrid *, const PolderExchange *, const V *, V *, cudaStream_t);

GRID_CYCLE_ELSEWHERE(float, false)
GRID_CYCLE_ELSEWHERE(float, true)
GRID_CYCLE_ELSEWHERE(PetscScalar, false)
GRID_CYCLE_ELSEWHERE(PetscScalar, true)

template <class V>
static int GridRestrictOf(const PolderLevelGrid *G, const PolderLevelGiving *giving, const void *r, void *bc, cudaStream_t stream)
{
  return G->join[2] ? GridRestrict<V, true>(G, giving, (const V *)r, (V *)bc, stream) : GridRestrict<V, false>(G, giving, (const V *)r, (V *)bc, stream);
}

template <class V>
static int GridProlongOf(const PolderLevelGrid *G, const PolderExchange *sends, const void *xc, void *x, cudaStream_t stream)
{
  return G->join[2] ? GridProlong<V, true>(G, sends, (const V *)xc, (V *)x, stream) : GridProlong<V, false>(G, sends, (const V *)xc, (V *)x, stream);
}

int PolderLevelGridRestrict_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderLevelGiving *giving, const void *r, void *bc, PolderStream stream)
{
  return single ? GridRestrictOf<float>(grid, giving, r, bc, stream) : GridRestrictOf<PetscScalar>(grid, giving, r, bc, stream);
}

int PolderLevelGridProlong_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderExchange *sends, const void *xc, void *x, PolderStream stream)
{
  return single ? GridProlongOf<float>(grid, sends, xc, x, stream) : GridProlongOf<PetscScalar>(grid, sends, xc, x, stream);
}
