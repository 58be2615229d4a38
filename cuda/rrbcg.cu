/*
  Conjugate gradients on the first Schur complement S of a 5-point matrix with PC rrb: many steps in one kernel with grid barriers. A step has a dozen passes
  or more, most of them over so few values that launches would take longer.
*/
#include "rrbsweeps.cuh"

/* Threads of a block; one block a multiprocessor */
#define RRB_CG_BLOCK 512
/* Vector entries that a thread loads before it stores any */
#define RRB_CG_UNROLL 4
/* The passes between the prefetch of the inverse of the rest and its use */
#define RRB_CG_AHEAD 2

struct RRBCG {
  PolderRRBStep      first; /* the first grid, with its black nodes eliminated */
  RRBSmall           below;
  PetscInt           n, count;
  bool               prepare, start; /* prepare: z must be computed first; start: there is no direction yet */
  const PetscScalar *S;
  PetscScalar       *x, *r, *z, *p, *w;
  PolderCGState     *state;
  double            *partial;
};

/* Calls use(i, load(i)) for all entries of vectors of length n */
template <class Load, class Use>
static __device__ __forceinline__ void RRBCGEach(PetscInt n, Load load, Use use)
{
  const PetscInt stride = (PetscInt)gridDim.x * RRB_CG_BLOCK;

  for (PetscInt i = (PetscInt)blockIdx.x * RRB_CG_BLOCK + threadIdx.x; i < n; i += RRB_CG_UNROLL * stride) {
    decltype(load(i)) t[RRB_CG_UNROLL];

    for (int k = 0; k < RRB_CG_UNROLL; ++k)
      if (i + k * stride < n) t[k] = load(i + k * stride);
    for (int k = 0; k < RRB_CG_UNROLL; ++k)
      if (i + k * stride < n) use(i + k * stride, t[k]);
  }
}

/* x <- x + alpha p, p <- z - mean + beta p */
static __device__ __forceinline__ void RRBCGDirection(const RRBCG &a, const PolderCGState &s, bool first)
{
  const double alpha = s.alpha, beta = s.beta, mean = s.mean;

  if (first) {
    RRBCGEach(
      a.n, [&](PetscInt i) { return a.z[i]; }, [&](PetscInt i, double z) { a.p[i] = z - mean; });
    return;
  }
  RRBCGEach(
    a.n, [&](PetscInt i) { return make_double3(a.z[i], a.p[i], a.x[i]); },
    [&](PetscInt i, double3 t) {
      a.x[i] = t.z + alpha * t.y;
      a.p[i] = t.x - mean + beta * t.y;
    });
}

/* w <- S p; pw += (p, w) */
static __device__ __forceinline__ void RRBCGProduct(const RRBCG &a, const RRBCrew &all, double &pw)
{
  const PolderRRBGrid &g   = a.first.g;
  const RRBStrips      cut = RRBShare(g, all.warps, 1);

  for (PetscInt k = all.warp; k < cut.count; k += all.warps) {
    const PetscInt v0 = k / cut.tiles * cut.steps;

    RRBReducedMult<true, true, false>(g, {}, k % cut.tiles, v0, min(v0 + cut.steps, g.hy), a.S, a.p, a.w, pw);
  }
}

/* r <- r - alpha w. Every POLDER_CG_MEAN steps also subtracts the mean of r, as computed in the step before; sum: (r, r), sum r */
static __device__ __forceinline__ void RRBCGUpdate(const RRBCG &a, const PolderCGState &s, double pw, double (&sum)[2])
{
  const double alpha = pw > 0 && !isinf(pw) ? s.rho / pw : 0.0, mean = s.nullspace && (s.its + 1) % POLDER_CG_MEAN == 0 ? s.sum[3] / s.N : 0.0;

  RRBCGEach(
    a.n, [&](PetscInt i) { return make_double2(a.r[i], a.w[i]); },
    [&](PetscInt i, double2 t) {
      const double r = t.x - alpha * t.y - mean;

      a.r[i] = r;
      sum[0] += r * r;
      sum[1] += r;
    });
}

/* z <- M^-1 r; sum += (r, z), sum z */
template <class V>
static __device__ __forceinline__ void RRBCGPrecondition(const RRBCG &a, cooperative_groups::grid_group &grid, double (&sum)[2])
{
  const PolderRRBStep &s     = a.first;
  const PetscInt       first = (PetscInt)blockIdx.x * RRB_CG_BLOCK + threadIdx.x, stride = (PetscInt)gridDim.x * RRB_CG_BLOCK, h2 = s.g.nx / 2, hx = s.g.hx;

  for (PetscInt i = first; i < h2 * (s.g.ny / 2); i += stride) RRBReducedForward<V>(s, a.r, i % h2, i / h2, NULL);
  grid.sync();
  RRBSweeps<V>(a.below, [&] { grid.sync(); });
  grid.sync();
  for (PetscInt i = first; i < hx * s.g.hy; i += stride) RRBReducedBackward<V>(s, a.r, a.z, i % hx, i / hx, false, sum);
}

/* One step without its preconditioner. Threads with `one` set keep the state of their block; the one with `tell` set reports to the host */
static __device__ __forceinline__ void RRBCGStep(const RRBCG &a, cooperative_groups::grid_group &grid, const RRBCrew &all, bool first, PolderCGState &s,
                                                 bool one, bool tell)
{
  double pw[1] = {0}, norm[2] = {0, 0};

  RRBCGDirection(a, s, first);
  grid.sync();
  RRBCGProduct(a, all, pw[0]);
  PolderAllSum<RRB_CG_BLOCK>(grid, pw, a.partial);
  RRBCGUpdate(a, s, pw[0], norm);
  PolderAllSum<RRB_CG_BLOCK>(grid, norm, a.partial + 2 * gridDim.x);
  if (one) {
    s.pw     = pw[0];
    s.sum[0] = norm[0];
    s.sum[3] = norm[1];
    PolderCGSetNorm(&s, (PetscBool)tell);
  }
  __syncthreads();
}

/* x <- x + alpha p, for the last direction */
static __device__ __forceinline__ void RRBCGFinish(const RRBCG &a, double alpha)
{
  RRBCGEach(
    a.n, [&](PetscInt i) { return make_double2(a.x[i], a.p[i]); }, [&](PetscInt i, double2 t) { a.x[i] = t.x + alpha * t.y; });
}

/* The sum of r at the begin of a cycle, if the mean of z is to be removed */
static __device__ __forceinline__ void RRBCGBegin(const RRBCG &a, cooperative_groups::grid_group &grid, PolderCGState &s, bool one)
{
  double sum[1] = {0};

  RRBCGEach(
    a.n, [&](PetscInt i) { return a.r[i]; }, [&](PetscInt i, double r) { sum[0] += r; });
  PolderAllSum<RRB_CG_BLOCK>(grid, sum, a.partial);
  if (one) s.sum[3] = sum[0];
}

template <class V>
static __global__ void __launch_bounds__(RRB_CG_BLOCK, 1) PolderRRBCGKernel(const __grid_constant__ RRBCG a)
{
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const RRBCrew                  all  = RRBAll();
  const bool                     one = threadIdx.x == 0, tell = one && blockIdx.x == 0;
  __shared__ PolderCGState       s;

  if (one) s = *a.state;
  __syncthreads();
  if (a.prepare && a.start && s.nullspace && !s.frozen) RRBCGBegin(a, grid, s, one);
  for (PetscInt step = a.prepare ? -1 : 0; step < a.count && !s.frozen; ++step) {
    double rho[2] = {0, 0};

    if (step >= 0) RRBCGStep(a, grid, all, a.start && !step, s, one, tell);
    if (s.frozen) break;
    RRBCGPrecondition<V>(a, grid, rho);
    PolderAllSum<RRB_CG_BLOCK>(grid, rho, a.partial + 4 * gridDim.x);
    if (one) {
      s.sum[1] = rho[0];
      s.sum[2] = rho[1];
      PolderCGSetRho(&s, (PetscBool)(a.start && step < 0), (PetscBool)tell);
    }
    __syncthreads();
  }
  if (s.alpha != 0) RRBCGFinish(a, s.alpha);
  if (!tell) return;
  s.alpha  = 0;
  *a.state = s;
}

int PolderRRBCG_CUDA(const PolderRRBSystem *system, PetscBool prepare, PetscBool first, PetscInt count, const PolderCGVectors *vectors, PolderCGState *state,
                     void *work, PolderStream stream)
{
  RRBCG           a      = {};
  void           *args[] = {&a};
  PolderRRBSystem below  = *system;

  ++below.step;
  --below.ngrid;
  ++below.base;
  if (system->ngrid < 1 || !RRBSmallFill(below, &a.below)) return cudaErrorInvalidValue;
  for (a.below.fetch = 0; a.below.fetch < a.below.npass && a.below.pass[a.below.fetch].type != RRB_PASS_REST;) ++a.below.fetch;
  a.below.fetch = PetscMax(a.below.fetch - RRB_CG_AHEAD, 0);
  a.first       = system->step[0];
  a.n           = a.first.g.hx * a.first.g.hy + a.first.g.nx / 2 * (a.first.g.ny / 2);
  a.count       = count;
  a.prepare     = prepare;
  a.start       = first;
  a.S           = system->S;
  a.x           = vectors->x;
  a.r           = vectors->r;
  a.z           = vectors->z;
  a.p           = vectors->p;
  a.w           = vectors->w;
  a.state       = state;
  a.partial     = ((PolderReduceScratch *)work)->partial;
  return cudaLaunchCooperativeKernel((const void *)(system->single ? PolderRRBCGKernel<float> : PolderRRBCGKernel<double>), dim3(PolderMultiprocessors()),
                                     dim3(RRB_CG_BLOCK), args, 0, stream);
}

PetscInt PolderRRBCGMost_CUDA(void)
{
  return PolderCooperative() ? PETSC_MAX_INT : 0;
}
