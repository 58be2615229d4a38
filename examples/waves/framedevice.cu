/* The loops of a frame on a GPU: one thread a node */
#include "frame.h"

#if defined(EXAMPLES_EMULATED)
  #include "../../tests/emulated/threads.h"
#else
  #include <petscdevice_cuda.h>
  #define Threads(kernel, grid, block, stream, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#endif

/* The body of a launcher: threads for width x height nodes */
#define WavesLaunch(kernel, width, height, ...) \
  const dim3   block(32, 8), grid((unsigned int)((width) + 31) / 32, (unsigned int)((height) + 7) / 8); \
  cudaStream_t stream; \
  PetscFunctionBegin; \
  if ((width) <= 0 || (height) <= 0) PetscFunctionReturn(PETSC_SUCCESS); \
  PetscCall(PetscGetCurrentCUDAStream(&stream)); \
  PetscCall(PetscLogGpuTimeBegin()); \
  Threads(kernel, grid, block, stream, __VA_ARGS__); \
  PetscCallCUDA(cudaGetLastError()); \
  PetscCall(PetscLogGpuTimeEnd()); \
  PetscFunctionReturn(PETSC_SUCCESS)

#define WAVES_I ((PetscInt)(blockIdx.x * blockDim.x + threadIdx.x))
#define WAVES_J ((PetscInt)(blockIdx.y * blockDim.y + threadIdx.y))

static __global__ void PolderWavesRhsKernel(const __grid_constant__ WavesRhs a)
{
  const PetscInt i = WAVES_I, j = WAVES_J;

  if (i < a.grid.xm && j < a.grid.ym) WavesRhsNode(&a, WavesOwn(&a.grid, i, j), WavesWith(&a.grid, i, j), WavesNearOf(&a.grid, i, j));
}

PetscErrorCode WavesRhs_CUDA(const WavesRhs *a)
{
  WavesLaunch(PolderWavesRhsKernel, a->grid.xm, a->grid.ym, *a);
}

template <bool CURRENT>
static __global__ void PolderWavesStepKernel(const __grid_constant__ WavesStep a)
{
  const PetscInt i = WAVES_I, j = WAVES_J;

  if (i >= a.grid.xm || j >= a.grid.ym) return;
  const PetscBool damped = (PetscBool)(i < a.grid.i0 || i >= a.grid.i1 || j < a.grid.j0 || j >= a.grid.j1);
  WavesStepNode(&a, i, j, WavesOwn(&a.grid, i, j), WavesWith(&a.grid, i, j), WavesNearOf(&a.grid, i, j), (PetscBool)CURRENT, damped);
}

static PetscErrorCode StepStill(const WavesStep *a)
{
  WavesLaunch(PolderWavesStepKernel<false>, a->grid.xm, a->grid.ym, *a);
}

static PetscErrorCode StepCurrent(const WavesStep *a)
{
  WavesLaunch(PolderWavesStepKernel<true>, a->grid.xm, a->grid.ym, *a);
}

PetscErrorCode WavesStep_CUDA(const WavesStep *a)
{
  PetscFunctionBegin;
  if (a->zeta) PetscCall(StepCurrent(a));
  else PetscCall(StepStill(a));
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
