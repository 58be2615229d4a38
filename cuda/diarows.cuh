/* Products with diagonals: val[d][i] is entry (i, i + off[d]), read only where row and column exist. V: the type of the entries. */
#pragma once

#include "diaproduct.cuh"

template <class V>
struct DiaArgs {
  PetscInt nd;
  PetscInt off[DIA_BATCH];
  const V *val[DIA_BATCH];
};

/* The size of the matrix, and the smallest and the largest offset of these diagonals */
struct DiaShape {
  PetscInt m, n, lo, hi;
};

/* Rows in order, ROWS of them for each thread; ND = 0: any number of diagonals */
template <int ND, int ROWS, bool DOT, class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderDiaRowsKernel(DiaShape shape, const __grid_constant__ DiaArgs<V> A, const PetscScalar *__restrict__ x,
                                                                    DiaOut out, DiaDot dot)
{
  PolderBegin();
  const PetscInt m = shape.m, n = shape.n, nd = ND ? ND : A.nd;
  PetscScalar    part = 0;

  for (PetscInt i0 = (PetscInt)blockIdx.x * (ROWS * POLDER_BLOCK); i0 < m; i0 += (PetscInt)gridDim.x * (ROWS * POLDER_BLOCK)) {
    PetscScalar s[ROWS] = {};

    if (i0 + shape.lo >= 0 && i0 + ROWS * POLDER_BLOCK <= m && i0 + ROWS * POLDER_BLOCK + shape.hi <= n) {
#pragma unroll(ND ? ND : 4)
      for (PetscInt d = 0; d < nd; ++d) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          const PetscInt i = i0 + r * POLDER_BLOCK + (PetscInt)threadIdx.x;

          s[r] += (PetscScalar)A.val[d][i] * x[i + A.off[d]];
        }
      }
    } else {
#pragma unroll(ND ? ND : 1)
      for (PetscInt d = 0; d < nd; ++d) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          const PetscInt i = i0 + r * POLDER_BLOCK + (PetscInt)threadIdx.x, j = i + A.off[d];

          if (i < m && j >= 0 && j < n) s[r] += (PetscScalar)A.val[d][i] * x[j];
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const PetscInt i = i0 + r * POLDER_BLOCK + (PetscInt)threadIdx.x;

      if (i >= m) break;
      if (DOT) part += s[r] * x[i];
      out(i, PolderPack<PetscScalar, 1>{s[r]});
    }
  }
  if (DOT) dot.sum<POLDER_BLOCK>(part);
}

template <int ND, int ROWS, class V>
static void DiaRowsLaunch(DiaShape shape, const DiaArgs<V> &A, const PetscScalar *x, const DiaOut &out, const DiaDot &dot, cudaStream_t stream)
{
  const unsigned int all = PolderBlocks(shape.m, ROWS * POLDER_BLOCK), blocks = all ? all : 1;

  for (PetscInt d = 0; d < A.nd; ++d) {
    shape.lo = PetscMin(shape.lo, A.off[d]);
    shape.hi = PetscMax(shape.hi, A.off[d]);
  }
  if (dot.value) PolderLaunchEarly(PolderDiaRowsKernel<ND, ROWS, true, V>, PetscMin(blocks, POLDER_REDUCE_BLOCKS), POLDER_BLOCK, stream, shape, A, x, out, dot);
  else if (all) PolderLaunchEarly(PolderDiaRowsKernel<ND, ROWS, false, V>, blocks, POLDER_BLOCK, stream, shape, A, x, out, dot);
}

/* The grid of a product with A, or of its values in single precision */
template <class V>
static unsigned int DiaFindProduct(const PolderDia *A, const V *const val[], DiaGrid<V> *G, bool *half)
{
  if (std::is_same_v<V, PetscScalar> && A->code) return DiaFindGrid<1, DIA_CLASSED_FIT5>(A->m, A->n, A->nd, A->off, val, G, half);
  return DiaFindGrid(A->m, A->n, A->nd, A->off, val, G, half);
}

/* val: the values of A, or these in single precision */
template <class V>
static int DiaMultLaunch(const PolderDia *A, const V *const val[], const PetscScalar x[], const DiaOut &out, const DiaDot &dot, const DiaBeside &beside,
                         cudaStream_t stream)
{
  const PetscInt     nd = A->nd;
  DiaGrid<V>         G;
  bool               half;
  const unsigned int blocks = DiaFindProduct(A, val, &G, &half);

  if (blocks) {
    DiaStencilMult(A, G, half, blocks, x, out, dot, beside, stream);
    return (int)cudaGetLastError();
  }
  if (beside.runs || beside.ghosts) return (int)cudaErrorInvalidValue; // they require the stencil of a grid
  for (PetscInt first = 0; first == 0 || first < nd; first += DIA_BATCH) {
    const DiaShape shape = {A->m, A->n, 0, 0};
    const DiaOut   to    = {out.alpha, first ? out.z : out.y, out.z};
    const DiaDot   sum   = {dot.value, first > 0, dot.scratch};
    DiaArgs<V>     some;

    some.nd = PetscMin(nd - first, DIA_BATCH);
    for (PetscInt d = 0; d < some.nd; ++d) {
      some.off[d] = A->off[first + d];
      some.val[d] = val[first + d];
    }
    if (nd == 5) DiaRowsLaunch<5, 1>(shape, some, x, to, sum, stream);
    else if (nd == 7) DiaRowsLaunch<7, 1>(shape, some, x, to, sum, stream);
    else if (A->m < DIA_GRID_ROWS) DiaRowsLaunch<0, 1>(shape, some, x, to, sum, stream);
    else DiaRowsLaunch<0, 2>(shape, some, x, to, sum, stream);
  }
  return (int)cudaGetLastError();
}
