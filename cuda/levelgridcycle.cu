/* Restriction and interpolation on levels that are grids, for vectors in single precision. */
#include "levelgridcycle.cuh"
#include "module.cuh"

extern template int GridRestrict(const PolderLevelGrid *, const PolderLevelGiving *, const PetscScalar *, PetscScalar *, cudaStream_t);
extern template int GridProlong(const PolderLevelGrid *, const PolderExchange *, const PetscScalar *, PetscScalar *, cudaStream_t);

int PolderLevelGridRestrict_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderLevelGiving *giving, const void *r, void *bc, PolderStream stream)
{
  return single ? GridRestrict(grid, giving, (const float *)r, (float *)bc, (cudaStream_t)stream)
                : GridRestrict(grid, giving, (const PetscScalar *)r, (PetscScalar *)bc, (cudaStream_t)stream);
}

int PolderLevelGridProlong_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderExchange *sends, const void *xc, void *x, PolderStream stream)
{
  return single ? GridProlong(grid, sends, (const float *)xc, (float *)x, (cudaStream_t)stream)
                : GridProlong(grid, sends, (const PetscScalar *)xc, (PetscScalar *)x, (cudaStream_t)stream);
}

POLDER_MODULE(LevelGridCycle)
