/* Passes of conjugate gradients over vectors, two rows at a time. */
#include "cgvectors.cuh"
#include "module.cuh"

template struct CGVectors<2>;

POLDER_MODULE(CGVectors2)
