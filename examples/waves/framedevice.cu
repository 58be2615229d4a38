/* The loops of a frame on a GPU. In the two loops over all nodes a thread goes through some rows of a column, in the others there is one thread a node. */
#include "frame.h"

#if defined(EXAMPLES_EMULATED)
  #include "../../tests/emulated/threads.h"
#else
  #include <petscdevice_cuda.h>
  #define Threads(kernel, grid, block, stream, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#endif

/* The body of a launcher: threads for width x height nodes in blocks of bx x 256 / bx */
#define WavesLaunchBlocks(kernel, bx, width, height, ...) \
  const dim3   block((bx), 256 / (bx)), grid((unsigned int)((width) + (bx)-1) / (bx), (unsigned int)((height) + 256 / (bx)-1) / (256 / (bx))); \
  cudaStream_t stream; \
  PetscFunctionBegin; \
  if ((width) <= 0 || (height) <= 0) PetscFunctionReturn(PETSC_SUCCESS); \
  PetscCall(PetscGetCurrentCUDAStream(&stream)); \
  PetscCall(PetscLogGpuTimeBegin()); \
  Threads(kernel, grid, block, stream, __VA_ARGS__); \
  PetscCallCUDA(cudaGetLastError()); \
  PetscCall(PetscLogGpuTimeEnd()); \
  PetscFunctionReturn(PETSC_SUCCESS)
#define WavesLaunch(kernel, width, height, ...) WavesLaunchBlocks(kernel, 32, width, height, __VA_ARGS__)

#define WAVES_I ((PetscInt)(blockIdx.x * blockDim.x + threadIdx.x))
#define WAVES_J ((PetscInt)(blockIdx.y * blockDim.y + threadIdx.y))

/*
  Rows that a thread of the loops over all nodes goes through, from south to north. On a large grid it keeps the values of a row for the next two nodes, and
  blocks are wide; on a small one, which lies in the cache and needs all threads, it has one node.
*/
static PetscInt RowsOf(const WavesGrid *g)
{
  const PetscInt nodes = g->xm * g->ym;

  if (g->rows > 0) return g->rows;
  return nodes < 4000000 ? 1 : nodes < 16000000 ? 4 : 16;
}

#define WavesLaunchRows(kernel, g, rows, ...) WavesLaunchBlocks(kernel, (rows) > 1 ? 256 : 32, (g)->xm, ((g)->ym + (rows)-1) / (rows), __VA_ARGS__, rows)

/* Calls node(j, k, l, near, x) for the rows of this thread, from row j0 on; point(l) loads a node */
template <class Point, class Node>
static __device__ __forceinline__ void WavesMarch(const WavesGrid &g, PetscInt i, PetscInt rows, Point point, Node node)
{
  const PetscInt j0 = rows * WAVES_J, j1 = PetscMin(j0 + rows, g.ym);
  PetscInt       k, l;
  WavesNear      near;
  WavesCross     x;

  if (i >= g.xm || j0 >= j1) return;
  near = WavesNearOf(&g, i, j0);
  k    = WavesOwn(&g, i, j0);
  l    = WavesWith(&g, i, j0);
  x.s  = point(l - near.s);
  x.c  = point(l);
  for (PetscInt j = j0; j < j1; ++j) {
    near = WavesNearOf(&g, i, j);
    x.n  = point(l + near.n);
    x.w  = point(l - near.w);
    x.e  = point(l + near.e);
    node(j, k, l, near, x);
    x.s = x.c;
    x.c = x.n;
    k += g.xm;
    l += g.gxm;
  }
}

static __global__ void PolderWavesRhsKernel(const __grid_constant__ WavesRhs a, PetscInt rows)
{
  WavesMarch(
    a.grid, WAVES_I, rows, [&](PetscInt l) { return WavesRhsPoint(&a, l); },
    [&](PetscInt, PetscInt k, PetscInt, WavesNear, const WavesCross &x) { WavesRhsNode(&a, k, &x); });
}

PetscErrorCode WavesRhs_CUDA(const WavesRhs *a)
{
  const PetscInt rows = RowsOf(&a->grid);

  WavesLaunchRows(PolderWavesRhsKernel, &a->grid, rows, *a);
}

template <bool CURRENT>
static __global__ void __launch_bounds__(256, 3) PolderWavesStepKernel(const __grid_constant__ WavesStep a, PetscInt rows)
{
  const PetscInt  i    = WAVES_I;
  const PetscBool side = (PetscBool)(i < a.grid.i0 || i >= a.grid.i1);

  WavesMarch(
    a.grid, i, rows, [&](PetscInt l) { return WavesStepPoint(&a, l); },
    [&](PetscInt j, PetscInt k, PetscInt l, WavesNear near, const WavesCross &x) {
      WavesStepNode(&a, i, j, k, l, near, &x, (PetscBool)CURRENT, (PetscBool)(side || j < a.grid.j0 || j >= a.grid.j1));
    });
}

static PetscErrorCode StepStill(const WavesStep *a, PetscInt rows)
{
  WavesLaunchRows(PolderWavesStepKernel<false>, &a->grid, rows, *a);
}

static PetscErrorCode StepCurrent(const WavesStep *a, PetscInt rows)
{
  WavesLaunchRows(PolderWavesStepKernel<true>, &a->grid, rows, *a);
}

PetscErrorCode WavesStep_CUDA(const WavesStep *a)
{
  const PetscInt rows = RowsOf(&a->grid);

  PetscFunctionBegin;
  if (a->zeta) PetscCall(StepCurrent(a, rows));
  else PetscCall(StepStill(a, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void PolderWavesIncomingKernel(const __grid_constant__ WavesStep a, const __grid_constant__ WavesIncoming in, const WavesBox box)
{
  const PetscInt i = box.x0 + WAVES_I, j = box.y0 + WAVES_J;
  PetscReal      re, im, zeta = 0.0, phi = 0.0;

  if (i >= box.x1 || j >= box.y1) return;
  for (PetscInt c = 0; c < in.n; ++c) {
    WavesRowOf(&a.grid, &in, c, j, &re, &im);
    WavesAddWave(&a.grid, &in, c, i, re, im, &zeta, &phi);
  }
  WavesIncomingNode(&a, &in, i, j, zeta, phi);
}

PetscErrorCode WavesIncoming_CUDA(const WavesStep *a, const WavesIncoming *in, const WavesBox *box)
{
  static_assert(sizeof(*a) + sizeof(*in) + sizeof(*box) <= 4096, "more than a kernel takes");
  WavesLaunch(PolderWavesIncomingKernel, box->x1 - box->x0, box->y1 - box->y0, *a, *in, *box);
}

static __global__ void PolderWavesShipKernel(const __grid_constant__ WavesStep a, const WavesShip ship, const WavesBox box)
{
  const PetscInt i = box.x0 + WAVES_I, j = box.y0 + WAVES_J;

  if (i < box.x1 && j < box.y1) WavesShipNode(&a, &ship, i, j);
}

PetscErrorCode WavesShip_CUDA(const WavesStep *a, const WavesShip *ship, const WavesBox *box)
{
  WavesLaunch(PolderWavesShipKernel, box->x1 - box->x0, box->y1 - box->y0, *a, *ship, *box);
}

static __global__ void PolderWavesDepthKernel(const WavesDepth a)
{
  const PetscInt i = WAVES_I, j = WAVES_J;

  if (i < a.gxm && j < a.gym) WavesDepthNode(&a, j * a.gxm + i);
}

PetscErrorCode WavesDepth_CUDA(const WavesDepth *a)
{
  WavesLaunch(PolderWavesDepthKernel, a->gxm, a->gym, *a);
}

static __global__ void PolderWavesMatrixKernel(const __grid_constant__ WavesMatrix a)
{
  const PetscInt i = WAVES_I, j = WAVES_J;

  if (i < a.grid.xm && j < a.grid.ym) WavesMatrixNode(&a, WavesOwn(&a.grid, i, j), WavesWith(&a.grid, i, j), WavesNearOf(&a.grid, i, j));
}

PetscErrorCode WavesMatrix_CUDA(const WavesMatrix *a)
{
  WavesLaunch(PolderWavesMatrixKernel, a->grid.xm, a->grid.ym, *a);
}

struct WavesFields {
  PetscScalar *field[6];
};

static __global__ void PolderWavesDryKernel(const WavesGrid g, const WavesFields f)
{
  const PetscInt i = WAVES_I, j = WAVES_J;

  if (i < g.xm && j < g.ym) WavesDryNode(&g, WavesOwn(&g, i, j), WavesWith(&g, i, j), f.field);
}

PetscErrorCode WavesDry_CUDA(const WavesGrid *g, PetscScalar *const field[6])
{
  const WavesFields f = {
    {field[0], field[1], field[2], field[3], field[4], field[5]}
  };

  WavesLaunch(PolderWavesDryKernel, g->xm, g->ym, *g, f);
}

PetscErrorCode WavesWait_CUDA(void)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WavesMemory_CUDA(PetscReal *used)
{
  size_t unused, total;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemGetInfo(&unused, &total));
  *used = 1.0 - (PetscReal)unused / (PetscReal)total;
  PetscFunctionReturn(PETSC_SUCCESS);
}
