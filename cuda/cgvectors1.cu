/* Passes of conjugate gradients over vectors, one row at a time. */
#include "cgvectors.cuh"
#include "module.cuh"

template struct CGVectors<1>;

POLDER_MODULE(CGVectors1)
