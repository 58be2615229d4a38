/* The first Schur complement S of a 5-point matrix on vectors of its red nodes (src/kernels/rrbreduced.h). */
#include "rrbsweeps.cuh"

/* Resident blocks of the product, limited by registers */
#define RRB_MULT 6
/* Size of a block of the other kernels, which have one thread for each cell */
#define RRB_X 32
#define RRB_Y 8

static dim3 RRBCells(const PolderRRBGrid *g)
{
  return dim3(PolderBlocks(g->hx, RRB_X), PolderBlocks(g->hy, RRB_Y));
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y) PolderRRBReducedFillKernel(const __grid_constant__ PolderRRBGrid g, bool half, PetscReal omega,
                                                                                  PetscScalar *c, const PetscScalar *__restrict__ x, PetscScalar *a, int *seen)
{
  PolderBegin();
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y);
  const ptrdiff_t p    = (ptrdiff_t)v * g.pitch + u;
  int             told = 0;

  if (u >= g.hx || v >= g.hy) return;
  c += g.origin;
  PolderRRBReducedFill(g.size, g.pitch, c, x + g.origin, p, a + g.origin);
  if (half) return;
  PolderRRBLumpR1(g.size, g.pitch, omega, c, p);
  c[RRB_R1D * g.size + p] = PolderRRBInverse(c[RRB_R1D * g.size + p], PETSC_TRUE, &told);
  if (told) atomicOr(seen, told);
}

int PolderRRBReducedFill_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[], int *seen,
                              PolderStream stream)
{
  PolderLaunchEarly(PolderRRBReducedFillKernel, RRBCells(g), dim3(RRB_X, RRB_Y), stream, *g, half, omega, c, x, a, seen);
  return cudaGetLastError();
}

/* Completes the sum */
struct RRBSum {
  PetscScalar *dot;

  __device__ __forceinline__ void operator()(const double (&total)[1]) const { *dot = total[0]; }
};

template <bool DOT, bool PART>
static __global__ void __launch_bounds__(RRB_BLOCK, RRB_MULT)
  PolderRRBReducedMultKernel(const __grid_constant__ PolderRRBGrid g, PolderRRBEnds ends, RRBStrips       cut, const PetscScalar *__restrict__ a,
                             const PetscScalar *__restrict__ x, PetscScalar *__restrict__ y, PetscScalar *dot, PolderReduceScratch *scratch)
{
  PolderBegin();
  double part[1] = {0};

  for (PetscInt k = (PetscInt)(blockIdx.x * (RRB_BLOCK / 32) + threadIdx.x / 32); k < cut.count; k += (PetscInt)gridDim.x * (RRB_BLOCK / 32)) {
    const PetscInt v0 = k / cut.tiles * cut.steps;

    RRBReducedMult<DOT, false, PART>(g, ends, k % cut.tiles, v0, min(v0 + cut.steps, g.hy), a, x, y, part[0]);
  }
  if (DOT) PolderGridSum<RRB_BLOCK>(part, scratch, RRBSum{dot});
}

template <bool PART>
static int RRBReducedMultLaunch(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot,
                                void *work, PolderStream stream)
{
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;
  unsigned int         blocks;
  const RRBStrips      cut = RRBCutLarge(*g, RRB_MULT, &blocks);

  if (dot) PolderLaunchEarly(PolderRRBReducedMultKernel<true, PART>, blocks, RRB_BLOCK, stream, *g, ends, cut, a, x, y, dot, scratch);
  else PolderLaunchEarly(PolderRRBReducedMultKernel<false, PART>, blocks, RRB_BLOCK, stream, *g, ends, cut, a, x, y, NULL, NULL);
  return cudaGetLastError();
}

int PolderRRBReducedMult_CUDA(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot, void *work,
                              PolderStream stream)
{
  return RRBReducedMultLaunch<false>(g, PolderRRBEnds{NULL, NULL}, a, x, y, dot, work, stream);
}

int PolderRRBReducedMultPart_CUDA(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot,
                                  void *work, PolderStream stream)
{
  return RRBReducedMultLaunch<true>(g, ends, a, x, y, dot, work, stream);
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRRBReducedEndsKernel(const __grid_constant__ PolderRRBGrid g, const PetscScalar *__restrict__ x, PetscScalar *__restrict__ ends)
{
  PolderBegin();
  const PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);

  if (i < 2 * PolderRRBEndSize(&g)) ends[i] = x[PolderRRBEndPlace(&g, i)];
}

int PolderRRBReducedEnds_CUDA(const PolderRRBGrid *g, const PetscScalar x[], PetscScalar ends[], PolderStream stream)
{
  PolderLaunchEarly(PolderRRBReducedEndsKernel, PolderBlocks(2 * PolderRRBEndSize(g), POLDER_BLOCK), POLDER_BLOCK, stream, *g, x, ends);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y) PolderRRBReduceKernel(const __grid_constant__ PolderRRBGrid  g, const PetscScalar *__restrict__ c,
                                                                             const __grid_constant__ PolderRRBNodes b, PetscScalar *__restrict__ r)
{
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y), h2 = g.nx / 2;
  const ptrdiff_t p = (ptrdiff_t)v * g.pitch + u;

  if (u >= g.hx || v >= g.hy) return;
  const PolderRRBLines l = PolderRRBGetLines(&b, v);

  c += g.origin;
  r[(size_t)v * g.hx + u] = PolderRRBReduceR1(g.size, g.pitch, c, p, l, 2 * u, PolderRRBWest(2 * u), PolderRRBEast(2 * u, g.nx));
  if (u < h2 && v < g.ny / 2)
    r[(size_t)g.hx * (size_t)g.hy + (size_t)v * h2 + u] = PolderRRBReduceR2(g.size, g.pitch, c, p, l, 2 * u + 1, 2 * u, PolderRRBEast(2 * u + 1, g.nx));
}

int PolderRRBReduce_CUDA(const PolderRRBGrid *g, const PetscScalar c[], PolderRRBNodes b, PetscScalar r[], PolderStream stream)
{
  PolderRRBReduceKernel<<<RRBCells(g), dim3(RRB_X, RRB_Y), 0, stream>>>(*g, c, b, r);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y)
  PolderRRBExpandKernel(const __grid_constant__ PolderRRBGrid g, const __grid_constant__ PolderRRBEnds ends, const PetscScalar *__restrict__ c,
                        const __grid_constant__ PolderRRBNodes b, const PetscScalar *__restrict__ r, PetscScalar *own, PetscScalar *all)
{
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y), h2 = g.nx / 2;
  const ptrdiff_t p = (ptrdiff_t)v * g.pitch + u;

  if (u >= g.hx || v >= g.hy) return;
  const PolderRRBLines l    = PolderRRBGetLines(&b, v);
  const PolderRRBRows  q    = PolderRRBPartRows(&g, ends, r, v);
  const bool           last = 2 * v + 1 == g.ny;
  const PetscScalar    b1 = u < h2 ? l.c[2 * u + 1] : 0, b2 = last ? 0 : l.n[2 * u];
  PetscScalar         *x = PolderRRBLineOf(&b, own, all, 2 * v) + 2 * u;

  c += g.origin;
  x[0] = q.c1[u];
  if (u < h2) x[1] = PolderRRBExpandB1(g.size, c, p, q, b1, u, PolderRRBEast(u, g.hx));
  if (last) return;
  x    = PolderRRBLineOf(&b, own, all, 2 * v + 1) + 2 * u;
  x[0] = PolderRRBExpandB2(g.size, c, p, q, b2, u, PolderRRBSame(u, h2), PolderRRBWest(u));
  if (u < h2) x[1] = q.c2[u];
}

int PolderRRBExpand_CUDA(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar c[], PolderRRBNodes b, const PetscScalar r[], PetscScalar own[],
                         PetscScalar all[], PolderStream stream)
{
  PolderRRBExpandKernel<<<RRBCells(g), dim3(RRB_X, RRB_Y), 0, stream>>>(*g, ends, c, b, r, own, all);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y)
  PolderRRBPickKernel(const __grid_constant__ PolderRRBGrid g, const __grid_constant__ PolderRRBNodes x, PetscScalar *__restrict__ r)
{
  const PetscInt u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y), h2 = g.nx / 2;

  if (u >= g.hx || v >= g.hy) return;
  r[(size_t)v * g.hx + u] = PolderRRBLine(&x, 2 * v)[2 * u];
  if (u < h2 && v < g.ny / 2) r[(size_t)g.hx * (size_t)g.hy + (size_t)v * h2 + u] = PolderRRBLine(&x, 2 * v + 1)[2 * u + 1];
}

int PolderRRBPick_CUDA(const PolderRRBGrid *g, PolderRRBNodes x, PetscScalar r[], PolderStream stream)
{
  PolderRRBPickKernel<<<RRBCells(g), dim3(RRB_X, RRB_Y), 0, stream>>>(*g, x, r);
  return cudaGetLastError();
}
