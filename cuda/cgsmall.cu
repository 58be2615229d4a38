/* Conjugate gradients on a small matrix stored by diagonals: many steps in one kernel with grid barriers. */
#include "cg.cuh"

typedef struct {
  PetscInt           n;
  int                nd, count;
  bool               first;
  PetscInt           off[POLDER_CGSMALL_DIAGONALS];
  const PetscScalar *val[POLDER_CGSMALL_DIAGONALS], *dinv;
  PetscScalar       *x, *r, *p;
  PolderCGState     *state;
  double            *partial;
} PolderCGSmall;

/* (row i) . p, where other blocks have just written p */
__device__ __forceinline__ double PolderCGSmallRow(const PolderCGSmall &a, PetscInt i)
{
  double w = 0;

#pragma unroll
  for (int d = 0; d < POLDER_CGSMALL_DIAGONALS; ++d) {
    if (d >= a.nd) break;
    const PetscInt j = i + a.off[d];

    if (j >= 0 && j < a.n) w += a.val[d][i] * __ldcg(&a.p[j]);
  }
  return w;
}

/* The vectors in the rows of a thread */
template <int BLOCK, int R>
__device__ __forceinline__ void PolderCGSmallLoad(const PolderCGSmall &a, PetscInt base, double (&r)[R], double (&p)[R], double (&d)[R])
{
  for (int k = 0; k < R; ++k) {
    const PetscInt i = base + k * BLOCK;

    r[k] = i < a.n ? a.r[i] : 0.0;
    p[k] = i < a.n && !a.first ? a.p[i] : 0.0;
    d[k] = i < a.n ? (a.dinv ? a.dinv[i] : 1.0) : 0.0;
  }
}

template <int BLOCK, int R>
static __global__ void __launch_bounds__(BLOCK) PolderCGSmallKernel(const __grid_constant__ PolderCGSmall a)
{
  cooperative_groups::grid_group grid       = cooperative_groups::this_grid();
  const PetscInt                 base       = (PetscInt)blockIdx.x * BLOCK * R + threadIdx.x;
  const PetscBool                tell       = (PetscBool)(blockIdx.x == 0 && threadIdx.x == 0);
  double                        *partial[2] = {a.partial, a.partial + gridDim.x};
  PolderCGState                  s          = *a.state;
  double                         r[R], p[R], d[R];

  if (s.frozen) return;
  PolderCGSmallLoad<BLOCK>(a, base, r, p, d);
  for (int step = 0; step < a.count && !s.frozen; ++step) {
    double pw[1] = {0}, sum[4] = {0, 0, 0, 0}, w[R];

    for (int k = 0; k < R; ++k) { // p <- z - mean + beta p
      const PetscInt i = base + k * BLOCK;

      p[k] = d[k] * r[k] - s.mean + s.beta * p[k];
      if (i < a.n) __stcg(&a.p[i], p[k]);
    }
    grid.sync();
    for (int k = 0; k < R; ++k) { // w <- A p
      const PetscInt i = base + k * BLOCK;

      w[k] = i < a.n ? PolderCGSmallRow(a, i) : 0.0;
      pw[0] += i < a.n ? p[k] * w[k] : 0.0;
    }
    PolderAllSum<BLOCK>(grid, pw, partial[0]);
    s.pw               = pw[0];
    const bool   good  = s.pw > 0 && !isinf(s.pw);
    const double alpha = good ? s.rho / s.pw : 0.0;

    for (int k = 0; k < R; ++k) { // x <- x + alpha p, r <- r - alpha w
      const PetscInt i = base + k * BLOCK;

      if (i >= a.n) continue;
      if (good) a.x[i] += alpha * p[k];
      r[k] -= alpha * w[k];
      if (s.nullspace && (s.its + 1) % POLDER_CG_MEAN == 0) r[k] -= s.sum[3] / s.N;
      sum[0] += r[k] * r[k];
      sum[1] += d[k] * r[k] * r[k];
      sum[2] += d[k] * r[k];
      sum[3] += r[k];
    }
    PolderAllSum<BLOCK>(grid, sum, partial[1]);
    for (int k = 0; k < 4; ++k) s.sum[k] = sum[k];
    PolderCGSetNorm(&s, tell);
    PolderCGSetRho(&s, PETSC_FALSE, tell);
  }
  for (int k = 0; k < R; ++k) {
    const PetscInt i = base + k * BLOCK;

    if (i < a.n) a.r[i] = r[k];
  }
  s.alpha = 0; // has been added to x
  if (blockIdx.x == 0 && threadIdx.x == 0) *a.state = s;
}

/* At most one block a multiprocessor, so that all blocks are resident */
template <int BLOCK, int R>
static int PolderCGSmallLaunch(PolderCGSmall &a, PolderStream stream)
{
  void *args[] = {&a};

  return cudaLaunchCooperativeKernel((const void *)PolderCGSmallKernel<BLOCK, R>, dim3(PolderBlocks(a.n, BLOCK * R)), dim3(BLOCK), args, 0, stream);
}

int PolderCGSmall_CUDA(const PolderDia *A, const PetscScalar dinv[], PetscBool first, PetscInt count, const PolderCGVectors *vectors, PolderCGState *state,
                       void *work, PolderStream stream)
{
  const PetscInt n = A->n;
  PolderCGSmall  a = {};

  a.n       = n;
  a.nd      = (int)A->nd;
  a.count   = (int)count;
  a.first   = first;
  a.dinv    = dinv;
  a.x       = vectors->x;
  a.r       = vectors->r;
  a.p       = vectors->p;
  a.state   = state;
  a.partial = ((PolderReduceScratch *)work)->partial;
  for (int d = 0; d < a.nd; ++d) {
    a.off[d] = A->off[d];
    a.val[d] = A->val[d];
  }
  const PetscInt sms = PolderMultiprocessors();

  if (n <= 256 * sms) return PolderCGSmallLaunch<256, 1>(a, stream);
  if (n <= 512 * sms) return PolderCGSmallLaunch<512, 1>(a, stream);
  if (n <= 1024 * sms) return PolderCGSmallLaunch<1024, 1>(a, stream);
  if (n <= 2048 * sms) return PolderCGSmallLaunch<1024, 2>(a, stream);
  return PolderCGSmallLaunch<1024, 4>(a, stream);
}

PetscInt PolderCGSmallMost_CUDA(void)
{
  return PolderCooperative() ? 3072 * (PetscInt)PolderMultiprocessors() : 0; // for more rows the plain kernels are as fast
}
