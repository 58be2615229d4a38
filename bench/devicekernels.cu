/* Times the device kernels of stencils: microseconds, bytes that must move, and what fraction of the copy bandwidth of the same run that is. */
#include "../cuda/kernels.h"
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

/* Median over a few rounds of the microseconds of one call, many calls back to back */
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

/* bytes a microsecond */
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

static void Grid(const char *grid, PetscInt nx, PetscInt ny, PetscInt nz)
{
  const PetscInt m = nx * ny * nz, ld = (m + 31) / 32 * 32, stride[] = {1, nx, nx * ny};
  const int      dim = nz > 1 ? 3 : 2, nd = 2 * dim + 1;
  PetscInt       off[7];
  double        *all = Allocate<double>((size_t)ld * nd), *x = Allocate<double>(m), *y = Allocate<double>(m), *z = Allocate<double>(m), *dinv = Allocate<double>(m), *dot = Allocate<double>(1);
  float         *alls = Allocate<float>((size_t)ld * nd), *dinvs = Allocate<float>(m);
  double        *full[7], *half[7];
  float         *single[7], *singlehalf[7];
  void          *work = Allocate<char>(PolderReduceWork_CUDA());

  CHECK(cudaMemsetAsync(work, 0, PolderReduceWork_CUDA(), stream));
  for (int d = 0; d < nd; ++d) {
    const int k = d - dim;

    off[d]    = k < 0 ? -stride[-k - 1] : k > 0 ? stride[k - 1] : 0;
    full[d]   = all + (size_t)ld * d;
    single[d] = alls + (size_t)ld * d;
    Fill<<<1024, 256, 0, stream>>>(m, full[d], single[d], k ? -1.0 : 6.0, k == 1 || k == -1 ? nx : 0, k == 1 ? nx - 1 : 0);
  }
  for (int d = 0; d < nd; ++d) {
    half[d]       = d < dim ? full[nd - 1 - d] + off[d] : full[d];
    singlehalf[d] = d < dim ? single[nd - 1 - d] + off[d] : single[d];
  }
  Fill<<<1024, 256, 0, stream>>>(m, x, NULL, -0.5, 0, 0);
  Fill<<<1024, 256, 0, stream>>>(m, y, NULL, -0.3, 0, 0);
  Fill<<<1024, 256, 0, stream>>>(m, dinv, dinvs, 0.1, 0, 0);

  const double b = 8, v = b * nd, h = b * (dim + 1), t = b * dim;

  Row(grid, "product", m, v + 2 * b, [&] { return PolderDiaMult_CUDA(m, m, nd, off, full, 1.0, x, NULL, z, NULL, NULL, stream); });
  Row(grid, "product, half stored", m, h + 2 * b, [&] { return PolderDiaMult_CUDA(m, m, nd, off, half, 1.0, x, NULL, z, NULL, NULL, stream); });
  Row(grid, "product and dot", m, v + 2 * b, [&] { return PolderDiaMult_CUDA(m, m, nd, off, full, 1.0, x, NULL, z, dot, work, stream); });
  Row(grid, "product and dot, half stored", m, h + 2 * b, [&] { return PolderDiaMult_CUDA(m, m, nd, off, half, 1.0, x, NULL, z, dot, work, stream); });
  Row(grid, "residual, half stored", m, h + 3 * b, [&] { return PolderDiaMult_CUDA(m, m, nd, off, half, -1.0, x, y, z, NULL, NULL, stream); });
  Row(grid, "product, float", m, v / 2 + 2 * b, [&] { return PolderDiaMultSingle_CUDA(m, m, nd, off, single, 1.0, x, NULL, z, stream); });
  Row(grid, "product, float, half stored", m, h / 2 + 2 * b, [&] { return PolderDiaMultSingle_CUDA(m, m, nd, off, singlehalf, 1.0, x, NULL, z, stream); });

  for (int s = 0; s < 2; ++s) {
    for (int stored = 0; stored < 2; ++stored) {
      const PetscBool    p           = (PetscBool)s;
      const void *const *val         = s ? (const void *const *)(stored ? singlehalf : single) : (const void *const *)(stored ? half : full);
      const void        *di          = s ? (const void *)dinvs : (const void *)dinv;
      const double       pair        = 2 * b + (b + t) / (s ? 2 : 1);
      const char        *names[2][2] = {
               {"TNS2",        "TNS2, half stored"       },
               {"TNS2, float", "TNS2, float, half stored"}
      };

      if (s + stored == 0) {
        Row(grid, "one sweep", m, pair + b, [&] { return PolderTriSweepDIA_CUDA(p, m, dim, off + dim + 1, val + dim + 1, di, NULL, x, z, y, stream); });
        Row(grid, "forward pair", m, pair, [&] { return PolderTriPair_CUDA(p, m, dim, off, val, di, x, y, NULL, NULL, stream); });
        Row(grid, "backward pair", m, pair, [&] { return PolderTriPair_CUDA(p, m, dim, off + dim + 1, val + dim + 1, di, x, y, NULL, NULL, stream); });
        Row(grid, "TNS2 and dot", m, 2 * pair, [&] {
          const int err = PolderTriPair_CUDA(p, m, dim, off, val, di, x, y, dot, work, stream);
          return err ? err : PolderTriPair_CUDA(p, m, dim, off + dim + 1, val + dim + 1, di, y, z, NULL, NULL, stream);
        });
      }
      Row(grid, names[s][stored], m, 2 * pair, [&] {
        const int err = PolderTriPair_CUDA(p, m, dim, off, val, di, x, y, NULL, NULL, stream);
        return err ? err : PolderTriPair_CUDA(p, m, dim, off + dim + 1, val + dim + 1, di, y, z, NULL, NULL, stream);
      });
    }
  }
  for (void *p : {(void *)all, (void *)x, (void *)y, (void *)z, (void *)dinv, (void *)dot, (void *)alls, (void *)dinvs, work}) CHECK(cudaFree(p));
}

int main(void)
{
  CHECK(cudaStreamCreate(&stream));
  copy = CopyBandwidth();
  printf("copy: %.2f TB/s\n", copy * 1e-6);
  Grid("127^2", 127, 127, 1);
  Grid("4096^2", 4096, 4096, 1);
  Grid("128^3", 128, 128, 128);
  Grid("256^3", 256, 256, 256);
  return 0;
}
