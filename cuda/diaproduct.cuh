/* What the kernels of products with diagonals share: their output, and the choice of those for a stencil. */
#pragma once

#include "pack.cuh"
#include "stencil.cuh"
#include "kernels/dia.h"
#include "kernels/runs.h"
#include "kernels/vec.h"

/* Resident blocks of a 5-point stencil whose rows have classes, limited by registers */
#define DIA_CLASSED_FIT5 2

/* Output of the sums s of N rows from row i on */
struct DiaOut {
  PetscScalar        alpha;
  const PetscScalar *y;
  PetscScalar       *z;

  template <int N>
  __device__ __forceinline__ void operator()(PetscInt i, const PolderPack<PetscScalar, N> &s) const
  {
    const PolderPack<PetscScalar, N> part = alpha * s;

    PolderPackStreamWrite(z + i, y ? PolderPackRead<N>(y + i) + part : part);
  }
};

/* The dot product, value = NULL: none; add: *value already holds the part of other diagonals */
struct DiaDot {
  PetscScalar         *value;
  bool                 add;
  PolderReduceScratch *scratch;

  /* *value += part, summed over the grid */
  template <int BLOCK>
  __device__ __forceinline__ void sum(PetscScalar part) const
  {
    double             sums[1] = {part};
    PetscScalar *const to      = value;
    const bool         more    = add;

    PolderGridSum<BLOCK>(sums, scratch, [=](const double(&total)[1]) { *to = more ? *to + total[0] : total[0]; });
  }
};

/* What a product with a stencil makes besides; NULL: nothing */
struct DiaBeside {
  const PolderRuns      *runs;
  const PolderDiaGhosts *ghosts;
};

/* The product with the stencil of a grid: A, or its values in single precision; half: half of them are stored */
template <class V>
void DiaStencilMult(const PolderDia *A, const DiaGrid<V> &grid, bool half, unsigned int blocks, const PetscScalar *x, const DiaOut &out, const DiaDot &dot,
                    const DiaBeside &beside, cudaStream_t stream);
