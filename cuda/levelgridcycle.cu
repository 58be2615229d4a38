/* Restriction and interpolation on levels that are grids: the choice of kernels by precision, and by whether the level is joined in direction 2. */
#include "levelgridcycle.cuh"

extern template struct GridCycle<float, false>;
extern template struct GridCycle<float, true>;
extern template struct GridCycle<PetscScalar, false>;
extern template struct GridCycle<PetscScalar, true>;

template <class V>
static int GridRestrictOf(const PolderLevelGrid *G, const PolderLevelGiving *giving, const void *r, void *bc, cudaStream_t stream)
{
  return G->join[2] ? GridCycle<V, true>::restriction(G, giving, (const V *)r, (V *)bc, stream)
                    : GridCycle<V, false>::restriction(G, giving, (const V *)r, (V *)bc, stream);
}

template <class V>
static int GridProlongOf(const PolderLevelGrid *G, const PolderExchange *sends, const void *xc, void *x, cudaStream_t stream)
{
  return G->join[2] ? GridCycle<V, true>::prolongation(G, sends, (const V *)xc, (V *)x, stream)
                    : GridCycle<V, false>::prolongation(G, sends, (const V *)xc, (V *)x, stream);
}

int PolderLevelGridRestrict_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderLevelGiving *giving, const void *r, void *bc, PolderStream stream)
{
  return single ? GridRestrictOf<float>(grid, giving, r, bc, stream) : GridRestrictOf<PetscScalar>(grid, giving, r, bc, stream);
}

int PolderLevelGridProlong_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderExchange *sends, const void *xc, void *x, PolderStream stream)
{
  return single ? GridProlongOf<float>(grid, sends, xc, x, stream) : GridProlongOf<PetscScalar>(grid, sends, xc, x, stream);
}
