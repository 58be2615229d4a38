/* Restriction and interpolation on levels that are grids, for vectors in double precision. */
#include "levelgridcycle.cuh"

template int GridRestrict(const PolderLevelGrid *, const PolderLevelGiving *, const PetscScalar *, PetscScalar *, cudaStream_t);
template int GridProlong(const PolderLevelGrid *, const PolderExchange *, const PetscScalar *, PetscScalar *, cudaStream_t);
