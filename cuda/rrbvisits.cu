/* Second visits of a grid of the repeated red-black preconditioner: kernels on planes of rrbrow.h. */
#include "rrb.cuh"
#include "foreach.cuh"
#include "kernels/rrb.h"

/* body(x, y, position) for all nodes of the plane */
template <class Body>
static int RRBForNodes(const PolderRRBPlane &g, PolderStream stream, Body body)
{
  const PetscInt nx = g.nx, pitch = g.pitch, origin = (PetscInt)g.origin;

  return PolderForEach(g.nx * g.ny, stream, [=] __device__(PetscInt i) {
    const PetscInt y = i / nx, x = i - y * nx;

    body(x, y, (ptrdiff_t)origin + (ptrdiff_t)y * pitch + x);
  });
}

int PolderRRBResidual_CUDA(const PolderRRBPlane *g, const PetscScalar a[], const PetscScalar r[], PetscInt ld, PetscReal alpha, const PetscScalar v[],
                           PetscScalar d[], PolderStream stream)
{
  const size_t    s = g->size;
  const ptrdiff_t P = g->pitch;

  return RRBForNodes(*g, stream, [=] __device__(PetscInt x, PetscInt y, ptrdiff_t p) {
    d[p] = (r ? r[(size_t)y * (size_t)ld + (size_t)x] : 0) - alpha * PolderRRBNine(s, P, a, v, p);
  });
}

int PolderRRBCombine_CUDA(const PolderRRBPlane *g, PetscReal alpha, const PetscScalar v[], PetscReal gamma, const PetscScalar w[], PetscReal beta,
                          PetscScalar z[], PetscInt ld, PolderStream stream)
{
  return RRBForNodes(*g, stream, [=] __device__(PetscInt x, PetscInt y, ptrdiff_t p) {
    PetscScalar *to = z + ((size_t)y * (size_t)ld + (size_t)x);

    *to = alpha * (v[p] - (w ? gamma * w[p] : 0)) + beta * *to;
  });
}

int PolderRRBSigns_CUDA(const PolderRRBPlane *g, PetscInt nx, PetscInt first, const PetscScalar a[], PetscScalar v[], PolderStream stream)
{
  const size_t diagonal = (size_t)RRB_C * g->size;

  return RRBForNodes(*g, stream, [=] __device__(PetscInt x, PetscInt y, ptrdiff_t p) { v[p] = PolderRRBSign(first + y * nx + x, a[diagonal + (size_t)p]); });
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRRBPlaneDotKernel(const __grid_constant__ PolderRRBPlane g, const PetscScalar *u, const PetscScalar *v, PetscScalar *dot, PolderReduceScratch *scratch)
{
  double sum[1] = {0};

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < g.nx * g.ny; i += (PetscInt)gridDim.x * POLDER_BLOCK) {
    const size_t p = g.origin + (size_t)(i / g.nx) * (size_t)g.pitch + (size_t)(i % g.nx);

    sum[0] += u[p] * v[p];
  }
  PolderGridSum<POLDER_BLOCK>(sum, scratch, [&](const double(&s)[1]) { *dot = s[0]; });
}

int PolderRRBPlaneDot_CUDA(const PolderRRBPlane *g, const PetscScalar u[], const PetscScalar v[], PetscScalar *dot, void *work, PolderStream stream)
{
  const unsigned int blocks = PetscMin(PetscMax(PolderBlocks(g->nx * g->ny, POLDER_BLOCK), 1), POLDER_REDUCE_BLOCKS);

  PolderRRBPlaneDotKernel<<<blocks, POLDER_BLOCK, 0, stream>>>(*g, u, v, dot, (PolderReduceScratch *)work);
  return cudaGetLastError();
}
