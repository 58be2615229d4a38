/*
  Times the device kernels of stencils and of the repeated red-black preconditioner: microseconds, bytes that each kernel must move, and the resulting
  fraction of the copy bandwidth measured in the same run.
*/
#include "kernels/cg.h"
#include "kernels/coarse.h"
#include "kernels/dia.h"
#include "kernels/rrb.h"
#include "kernels/tns.h"
#include "kernels/vec.h"
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call) \
  do { \
    const int err_ = (int)(call); \
    if (err_) { \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString((cudaError_t)err_)); \
      exit(1); \
    } \
  } while (0)

static cudaStream_t stream;

template <class V>
static V *Allocate(size_t n)
{
  V *p;

  CHECK(cudaMalloc(&p, sizeof(V) * (n ? n : 1)));
  return p;
}

__global__ void Fill(size_t n, double *a, float *s, double shift, PetscInt zero, PetscInt phase)
{
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const unsigned int h = (unsigned int)(i * 2654435761u) ^ (unsigned int)(i >> 7) * 40503u;
    const float        v = zero && (PetscInt)(i % zero) == phase ? 0.0f : (float)(shift + (h >> 9) / 8388608.0);

    if (a) a[i] = v;
    if (s) s[i] = v;
  }
}

/* The microseconds of one call: median over a few rounds of many consecutive calls */
static double Time(size_t bytes, const std::function<int()> &call)
{
  const int           calls = bytes > ((size_t)1 << 28) ? 10 : 100;
  std::vector<double> us;
  cudaEvent_t         begin, end;

  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int k = 0; k < 3; ++k) CHECK(call());
  for (int round = 0; round < 7; ++round) {
    float ms;

    CHECK(cudaEventRecord(begin, stream));
    for (int k = 0; k < calls; ++k) CHECK(call());
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    us.push_back(1e3 * ms / calls);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

/* Copy bandwidth in bytes a microsecond */
static double CopyBandwidth(void)
{
  const size_t n    = (size_t)1 << 27;
  double      *from = Allocate<double>(n), *to = Allocate<double>(n);

  Fill<<<1024, 256, 0, stream>>>(n, from, NULL, 0.0, 0, 0);
  const double us = Time(16 * n, [=] { return (int)cudaMemcpyAsync(to, from, 8 * n, cudaMemcpyDeviceToDevice, stream); });
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  return 16.0 * n / us;
}

static double copy;

static void Row(const char *grid, const char *kernel, PetscInt m, double perrow, const std::function<int()> &call)
{
  const double us = Time((size_t)(perrow * m), call);

  printf("%-8s %-28s %9.2f us %6.0f bytes a row %6.1f %%\n", grid, kernel, us, perrow, 100.0 * perrow * m / us / copy);
}

/* A stencil by diagonals, all stored or half of them, in both precisions, with the vectors that its kernels take */
struct Stencil {
  PetscInt    m, off[7];
  int         dim, nd;
  double     *x, *y, *z, *dinv, *dot;
  float      *dinvs;
  double     *full[7], *half[7];
  float      *single[7], *singlehalf[7];
  PolderCGRho rho;
  void       *work;
};

static void Products(const char *grid, const Stencil &s)
{
  const PetscInt  m = s.m, nd = s.nd;
  const double    b = 8, v = b * nd, h = b * (s.dim + 1);
  double         *x = s.x, *y = s.y, *z = s.z;
  const PolderDia full = {m, m, nd, s.off, s.full, s.dim, PETSC_FALSE, PETSC_FALSE, NULL, NULL};
  const PolderDia half = {m, m, nd, s.off, s.half, s.dim, PETSC_TRUE, PETSC_FALSE, NULL, NULL};

  Row(grid, "product", m, v + 2 * b, [&] { return PolderDiaMult_CUDA(&full, 1.0, x, NULL, z, NULL, NULL, stream); });
  Row(grid, "product, half stored", m, h + 2 * b, [&] { return PolderDiaMult_CUDA(&half, 1.0, x, NULL, z, NULL, NULL, stream); });
  Row(grid, "product and dot", m, v + 2 * b, [&] { return PolderDiaMult_CUDA(&full, 1.0, x, NULL, z, s.dot, s.work, stream); });
  Row(grid, "product and dot, half stored", m, h + 2 * b, [&] { return PolderDiaMult_CUDA(&half, 1.0, x, NULL, z, s.dot, s.work, stream); });
  Row(grid, "residual, half stored", m, h + 3 * b, [&] { return PolderDiaMult_CUDA(&half, -1.0, x, y, z, NULL, NULL, stream); });
  Row(grid, "product, float", m, v / 2 + 2 * b, [&] { return PolderDiaMultSingle_CUDA(&full, s.single, 1.0, x, NULL, z, stream); });
  Row(grid, "product, float, half stored", m, h / 2 + 2 * b, [&] { return PolderDiaMultSingle_CUDA(&full, s.singlehalf, 1.0, x, NULL, z, stream); });
}

/* The truncated Neumann series; the sweeps of a pair alone too, in double precision with all diagonals */
static void Sweeps(const char *grid, const Stencil &s, PetscBool single, bool stored)
{
  const PetscInt     m = s.m, *off = s.off;
  const int          dim = s.dim;
  const void *const *val = single ? (const void *const *)(stored ? s.singlehalf : s.single) : (const void *const *)(stored ? s.half : s.full);
  const void        *di  = single ? (const void *)s.dinvs : (const void *)s.dinv;
  const double       b = 8, t = b * dim, pair = 2 * b + (b + t) / (single ? 2 : 1);
  const char        *names[2][2] = {
           {"TNS2",        "TNS2, half stored"       },
           {"TNS2, float", "TNS2, float, half stored"}
  };
  double        *x = s.x, *y = s.y, *z = s.z;
  PolderTriangle lower = {}, upper = {};

  lower.single = upper.single = single;
  lower.m = upper.m = m;
  lower.dinv = upper.dinv = di;
  lower.nd = upper.nd = dim;
  lower.off           = off;
  lower.val           = val;
  upper.upper         = PETSC_TRUE;
  upper.off           = off + dim + 1;
  upper.val           = val + dim + 1;

  if (!single && !stored) {
    Row(grid, "one sweep", m, pair + b, [&] { return PolderTriSweepDIA_CUDA(&upper, NULL, x, z, y, stream); });
    Row(grid, "forward pair", m, pair, [&] { return PolderTriPair_CUDA(&lower, x, y, NULL, NULL, stream); });
    Row(grid, "backward pair", m, pair, [&] { return PolderTriPair_CUDA(&upper, x, y, NULL, NULL, stream); });
    Row(grid, "TNS2 and dot", m, 2 * pair, [&] {
      const int err = PolderTriPair_CUDA(&lower, x, y, &s.rho, s.work, stream);
      return err ? err : PolderTriPair_CUDA(&upper, y, z, NULL, NULL, stream);
    });
  }
  Row(grid, names[single][stored], m, 2 * pair, [&] {
    const int err = PolderTriPair_CUDA(&lower, x, y, NULL, NULL, stream);
    return err ? err : PolderTriPair_CUDA(&upper, y, z, NULL, NULL, stream);
  });
}

static void Grid(const char *grid, PetscInt nx, PetscInt ny, PetscInt nz)
{
  const PetscInt m = nx * ny * nz, ld = (m + 31) / 32 * 32, stride[] = {1, nx, nx * ny};
  const int      dim = nz > 1 ? 3 : 2, nd = 2 * dim + 1;
  double        *all   = Allocate<double>((size_t)ld * nd);
  float         *alls  = Allocate<float>((size_t)ld * nd);
  PolderCGState *state = Allocate<PolderCGState>(1);
  Stencil        s;

  s.m     = m;
  s.dim   = dim;
  s.nd    = nd;
  s.x     = Allocate<double>(m);
  s.y     = Allocate<double>(m);
  s.z     = Allocate<double>(m);
  s.dinv  = Allocate<double>(m);
  s.dot   = Allocate<double>(1);
  s.dinvs = Allocate<float>(m);
  s.rho   = {state, PETSC_FALSE};
  s.work  = Allocate<char>(PolderReduceWork_CUDA());
  CHECK(cudaMemsetAsync(s.work, 0, PolderReduceWork_CUDA(), stream));
  CHECK(cudaMemsetAsync(state, 0xff, sizeof(*state), stream)); // frozen
  for (int d = 0; d < nd; ++d) {
    const int k = d - dim;

    s.off[d]    = k < 0 ? -stride[-k - 1] : k > 0 ? stride[k - 1] : 0;
    s.full[d]   = all + (size_t)ld * d;
    s.single[d] = alls + (size_t)ld * d;
    Fill<<<1024, 256, 0, stream>>>(m, s.full[d], s.single[d], k ? -1.0 : 6.0, k == 1 || k == -1 ? nx : 0, k == 1 ? nx - 1 : 0);
  }
  for (int d = 0; d < nd; ++d) {
    s.half[d]       = d < dim ? s.full[nd - 1 - d] + s.off[d] : s.full[d];
    s.singlehalf[d] = d < dim ? s.single[nd - 1 - d] + s.off[d] : s.single[d];
  }
  Fill<<<1024, 256, 0, stream>>>(m, s.x, NULL, -0.5, 0, 0);
  Fill<<<1024, 256, 0, stream>>>(m, s.y, NULL, -0.3, 0, 0);
  Fill<<<1024, 256, 0, stream>>>(m, s.dinv, s.dinvs, 0.1, 0, 0);

  Products(grid, s);
  for (int single = 0; single < 2; ++single) {
    for (int stored = 0; stored < 2; ++stored) Sweeps(grid, s, (PetscBool)single, stored);
  }
  for (void *p : {(void *)all, (void *)alls, (void *)state, (void *)s.x, (void *)s.y, (void *)s.z, (void *)s.dinv, (void *)s.dot, (void *)s.dinvs, s.work})
    CHECK(cudaFree(p));
}

/*
  The repeated red-black preconditioner on n by n nodes with `ngrid` grids: each sweep, the small grids with the rest, a complete application, and the set-up
*/
struct RedBlack {
  int                        ngrid, small;
  PetscInt                   n, ld;
  std::vector<PolderRRBStep> step;
  double                    *inverse, *b, *x;
};

static RedBlack RedBlackCreate(PetscInt n, int ngrid, PetscBool single, std::vector<void *> &all)
{
  RedBlack M = {ngrid, ngrid, 0, 0, {}, NULL, NULL, NULL};

  for (int k = 0; k < ngrid; ++k, n /= 2) {
    PolderRRBStep  s  = {};
    const PetscInt hx = (n + 1) / 2, ld = k ? (n + 1) / 2 * 2 : n;

    s.g        = {n, n, hx, hx, hx / 16 * 16 + 16, 0, 0, NULL};
    s.g.origin = (size_t)s.g.pitch + 16;
    s.g.size   = (size_t)s.g.pitch * (size_t)(hx + 2) + 32;
    s.ld       = ld;
    double *c = single ? NULL : Allocate<double>(RRB_NCOEF * s.g.size), *r = Allocate<double>((size_t)ld * n), *x = Allocate<double>((size_t)ld * n);
    float  *f = single ? Allocate<float>(RRB_NCOEF * s.g.size) : NULL;
    Fill<<<1024, 256, 0, stream>>>(RRB_NCOEF * s.g.size, c, f, -0.5, 0, 0);
    Fill<<<1024, 256, 0, stream>>>((size_t)ld * n, r, NULL, -0.5, 0, 0);
    s.c = single ? (const void *)f : c;
    s.r = r;
    s.x = x;
    if (k) {
      M.step[k - 1].rnext  = r;
      M.step[k - 1].xnext  = x;
      M.step[k - 1].ldnext = ld;
    }
    for (void *p : {(void *)c, (void *)f, (void *)r, (void *)x}) all.push_back(p);
    if (M.small == ngrid && (double)n * n <= POLDER_RRB_SMALL) M.small = k;
    M.step.push_back(s);
  }
  M.n       = n * n;
  M.ld      = (M.n + POLDER_SWEEP - 1) / POLDER_SWEEP * POLDER_SWEEP;
  M.inverse = Allocate<double>((size_t)M.ld * M.ld);
  M.b       = Allocate<double>(M.n);
  M.x       = Allocate<double>(M.n);
  Fill<<<1024, 256, 0, stream>>>((size_t)M.ld * M.ld, M.inverse, NULL, -0.5, 0, 0);
  M.step[ngrid - 1].rnext  = M.b;
  M.step[ngrid - 1].xnext  = M.x;
  M.step[ngrid - 1].ldnext = n;
  for (void *p : {(void *)M.inverse, (void *)M.b, (void *)M.x}) all.push_back(p);
  return M;
}

/* The grids from number first on, the rest, and the passes over them, which the next call replaces */
static PolderRRBSystem RedBlackFrom(const RedBlack &M, PetscBool single, int first)
{
  static PolderRRBPass pass[POLDER_RRB_PASSES];
  const PetscInt       ngrid = (PetscInt)M.step.size(), npass = PolderRRBPassesOfGrid(first, ngrid, 0, pass);

  return {single, ngrid - first, M.step.data() + first, M.n, M.ld, M.inverse, M.b, M.x, NULL, npass, first, pass};
}

static int RedBlackApply(const RedBlack &M, PetscBool single, const PolderCGRho *rho, void *work)
{
  const PolderRRBSystem small = RedBlackFrom(M, single, M.small);
  int                   err   = 0;

  for (int k = 0; k < M.small && !err; ++k) err = PolderRRBForward_CUDA(single, &M.step[k], stream);
  if (M.small < M.ngrid && !err) err = PolderRRBSmall_CUDA(&small, stream);
  for (int k = M.small - 1; k >= 0 && !err; --k) err = PolderRRBBackward_CUDA(single, &M.step[k], k ? NULL : rho, work, stream);
  return err;
}

static void RedBlackFactor(const char *grid, PetscInt n, const PolderRRBGrid &g)
{
  const PetscInt   m = n * n, off[] = {-n, -1, 0, 1, n};
  PolderRRBEntries rows = {n, {}};
  double          *row[RRB_NROW], *next[RRB_NROW], *c = Allocate<double>(RRB_NCOEF * g.size), *x = Allocate<double>(g.size);
  int             *seen = Allocate<int>(1);

  for (int f = 0; f < RRB_NROW; ++f) {
    row[f]    = Allocate<double>(m + 2 * n) + n; // lower diagonals begin before the upper ones
    next[f]   = Allocate<double>(m / 4 + n);
    rows.a[f] = f == RRB_NE || f == RRB_SE ? NULL : row[f];
    Fill<<<1024, 256, 0, stream>>>(m + 2 * n, row[f] - n, NULL, f == RRB_C ? 8.0 : -1.0, 0, 0);
  }
  const double *const val[] = {row[RRB_N] - n, row[RRB_E] - 1, row[RRB_C], row[RRB_E], row[RRB_N]};
  const PolderDia     A     = {m, m, 5, off, val, 2, PETSC_TRUE, PETSC_FALSE, NULL, NULL};

  CHECK(cudaMemsetAsync(c, 0, sizeof(double) * RRB_NCOEF * g.size, stream));
  CHECK(cudaMemsetAsync(seen, 0xff, sizeof(int), stream));
  Row(grid, "rrb, look at rows", m, 24, [&] { return PolderRRBRowsDia_CUDA(n, n, 0, n, &A, NULL, seen, stream); });
  Row(grid, "rrb, take black nodes", m, 56, [&] { return PolderRRBBlack_CUDA(&g, &rows, 1.0, c, x, seen, stream); });
  Row(grid, "rrb, eliminate them", m, 44, [&] { return PolderRRBRed_CUDA(&g, PETSC_FALSE, 1.0, c, x, seen, stream); });
  Row(grid, "rrb, next rows", m, 34, [&] { return PolderRRBNext_CUDA(&g, PETSC_FALSE, c, x, next, n / 2, stream); });
  Row(grid, "rrb, scale", m, 54, [&] { return PolderRRBScale_CUDA(&g, c, NULL, seen, stream); });
  for (int f = 0; f < RRB_NROW; ++f) {
    CHECK(cudaFree(row[f] - n));
    CHECK(cudaFree(next[f]));
  }
  for (void *p : {(void *)c, (void *)x, (void *)seen}) CHECK(cudaFree(p));
}

static void Inverse(const char *grid, const char *name, PetscInt n, PetscInt ld)
{
  double *A = Allocate<double>((size_t)ld * ld), *scale = Allocate<double>(ld + POLDER_COARSE_INFO);
  void   *work = Allocate<char>(PolderCoarseInvertWork_CUDA(ld));

  Fill<<<1024, 256, 0, stream>>>((size_t)ld * ld, A, NULL, 0.0, 0, 0);
  Fill<<<1024, 256, 0, stream>>>(ld, scale, NULL, 0.5, 0, 0);
  Row(grid, name, n, 8.0 * n, [&] { return PolderCoarseInvert_CUDA(PolderDense{n, ld, A}, 0, scale, scale + ld, work, stream); });
  for (void *p : {(void *)A, (void *)scale, work}) CHECK(cudaFree(p));
}

static void RedBlackGrid(const char *grid, PetscInt n, int ngrid)
{
  void             *work  = Allocate<char>(PolderReduceWork_CUDA());
  PolderCGState    *state = Allocate<PolderCGState>(1);
  const PolderCGRho rho   = {state, PETSC_FALSE};

  CHECK(cudaMemsetAsync(work, 0, PolderReduceWork_CUDA(), stream));
  CHECK(cudaMemsetAsync(state, 0xff, sizeof(*state), stream)); // frozen
  for (int s = 0; s < 2; ++s) {
    const PetscBool     single = (PetscBool)s;
    const double        down = single ? 22 : 34, up = single ? 33 : 48;
    std::vector<void *> all;
    const RedBlack      M = RedBlackCreate(n, ngrid, single, all);
    char                name[64];
    PetscInt            rows = 0;

    for (int k = 0; k < ngrid; ++k) {
      const PetscInt m = M.step[k].g.nx * M.step[k].g.ny;

      rows += m;
      if (k >= M.small + 2) continue; // of the small grids, only some, to compare them with the kernel for all of them
      snprintf(name, sizeof(name), "rrb grid %d down%s", k, single ? ", float" : "");
      Row(grid, name, m, down, [&] { return PolderRRBForward_CUDA(single, &M.step[k], stream); });
      snprintf(name, sizeof(name), "rrb grid %d up%s", k, single ? ", float" : "");
      Row(grid, name, m, up, [&] { return PolderRRBBackward_CUDA(single, &M.step[k], NULL, work, stream); });
    }
    if (M.small > 0)
      Row(grid, single ? "rrb grid 0 up and sums, float" : "rrb grid 0 up and sums", n * n, up,
          [&] { return PolderRRBBackward_CUDA(single, &M.step[0], &rho, work, stream); });
    if (M.small < ngrid) {
      const PetscInt        first = M.step[M.small].g.nx;
      const PolderRRBSystem small = RedBlackFrom(M, single, M.small);

      snprintf(name, sizeof(name), "rrb %dx%d and below%s", (int)first, (int)first, single ? ", float" : "");
      Row(grid, name, first * first, (down + up) * 4 / 3 + 8.0 * M.n * M.n / first / first, [&] { return PolderRRBSmall_CUDA(&small, stream); });
    }
    Row(grid, single ? "rrb apply and sums, float" : "rrb apply and sums", n * n, (down + up) * rows / n / n + 8.0 * M.n * M.n / n / n,
        [&] { return RedBlackApply(M, single, &rho, work); });
    if (!single && M.small) {
      const size_t nred = ((size_t)n * n + 1) / 2;
      double      *r = Allocate<double>(nred), *z = Allocate<double>(nred);

      Fill<<<1024, 256, 0, stream>>>(nred, r, NULL, -0.5, 0, 0);
      Row(grid, "rrb red vectors down", n * n, 14, [&] { return PolderRRBReducedForward_CUDA(single, &M.step[0], r, stream); });
      Row(grid, "rrb red vectors up and sums", n * n, 20, [&] { return PolderRRBReducedBackward_CUDA(single, &M.step[0], r, z, &rho, work, stream); });
      CHECK(cudaFree(r));
      CHECK(cudaFree(z));
    }
    if (!single) {
      RedBlackFactor(grid, n, M.step[0].g);
      Inverse(grid, "rrb, inverse of the rest", M.n, M.ld);
    }
    for (void *p : all) CHECK(cudaFree(p));
  }
  CHECK(cudaFree(work));
  CHECK(cudaFree(state));
}

/* The grids from n by n nodes down to one, combined in one matrix; red: the matrix acts on the red nodes */
static void RedBlackTail(const char *grid, PetscInt n, PetscBool red)
{
  const PetscInt m     = red ? (n * n + 1) / 2 : n * n;
  double        *T     = Allocate<double>((size_t)m * m);
  int            ngrid = 0;

  while (n >> ngrid > 1) ++ngrid;
  for (int s = 0; s < 2; ++s) {
    std::vector<void *>   all;
    const RedBlack        M     = RedBlackCreate(n, ngrid, (PetscBool)s, all);
    const PolderRRBSystem grids = RedBlackFrom(M, (PetscBool)s, 0);

    Row(grid, s ? "rrb, small grids as a matrix, float" : "rrb, small grids as a matrix", m, 8.0 * m, [&] {
      return PolderRRBTail_CUDA(&grids, red, {m, m, T}, stream);
    });
    for (void *p : all) CHECK(cudaFree(p));
  }
  CHECK(cudaFree(T));
}

/* With an argument: the kernels of rrb only */
int main(int argc, char **argv)
{
  (void)argv;
  CHECK(cudaStreamCreate(&stream));
  copy = CopyBandwidth();
  printf("copy: %.2f TB/s\n", copy * 1e-6);
  RedBlackGrid("127^2", 127, 2);
  RedBlackGrid("127^2", 127, 6);
  RedBlackGrid("1023^2", 1023, 5);
  RedBlackGrid("2047^2", 2047, 6);
  RedBlackGrid("4095^2", 4095, 7);
  RedBlackTail("31^2", 31, PETSC_FALSE);
  RedBlackTail("45^2, red", 45, PETSC_TRUE);
  Inverse("", "inverse of 4063 columns", 4063, 4096);
  if (argc > 1) return 0;
  Grid("127^2", 127, 127, 1);
  Grid("4096^2", 4096, 4096, 1);
  Grid("128^3", 128, 128, 128);
  Grid("256^3", 256, 256, 256);
  return 0;
}
