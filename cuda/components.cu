/*
  Connected components of the graph of a CSR matrix by lock-free union-find (after the ECL-CC of Jaiganesh and Burtscher, HPDC 2018). A root is attached only
  to a smaller root, so the root of a finished tree is the smallest row of the component, whatever the order. Initially the rows of a run of joined
  consecutive rows point to its first row, and that one to its smallest neighbour. Among the lanes of a warp that would join the same two trees, one does so.
  On a grid few atomic operations remain.
*/
#include "index.cuh"
#include "kernels/components.h"

struct PolderJoinClass {
  const PetscInt *cls;
  PetscInt        own;

  PolderJoinClass(const PetscInt *c) : cls(c), own(-1) { }
  __device__ bool Row(PetscInt i)
  {
    own = cls[i];
    return own >= 0;
  }
  __device__ bool Entry(PetscInt, PetscInt j) const { return cls[j] == own; }
};

struct PolderJoinScale {
  const PetscScalar *aa, *scale;
  PetscReal          jump, lo, hi;

  PolderJoinScale(const PetscScalar *a, const PetscScalar *s, PetscReal j) : aa(a), scale(s), jump(j), lo(0), hi(0) { }
  __device__ bool Row(PetscInt i)
  {
    const PetscReal s = scale[i];

    lo = s / jump;
    hi = s * jump;
    return s != 0;
  }
  __device__ bool Entry(PetscInt k, PetscInt j) const
  {
    const PetscReal t = scale[j];

    return t >= lo && t <= hi && aa[k] != 0;
  }
};

/* volatile, since other threads change the tree meanwhile: every value read is an ancestor. Halves the path on the way */
static __device__ __forceinline__ PetscInt PolderFindRoot(volatile PetscInt *parent, PetscInt i)
{
  PetscInt p = parent[i];

  while (p != i) {
    const PetscInt g = parent[p];

    if (g == p) return p;
    parent[i] = g;
    i         = g;
    p         = parent[i];
  }
  return i;
}

static __device__ __forceinline__ void PolderUnite(PetscInt *parent, PetscInt a, PetscInt b)
{
  for (;;) {
    PetscInt found;

    a = PolderFindRoot(parent, a);
    b = PolderFindRoot(parent, b);
    if (a == b) return;
    if (a < b) {
      const PetscInt t = a;

      a = b;
      b = t;
    }
    found = PolderAtomicCAS(&parent[a], a, b);
    if (found == a) return;
    a = found; // a is no longer a root
  }
}

template <class Join>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderComponentsStartKernel(PetscInt m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj, Join join, PetscInt *__restrict__ parent)
{
  const PetscInt i       = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  const int      lane    = threadIdx.x % 32;
  PetscInt       least   = i;
  bool           follows = false;
  unsigned int   starts;
  int            first;

  if (i < m && join.Row(i)) {
    const PetscInt end = ai[i + 1];

    for (PetscInt k = ai[i]; k < end; ++k) {
      const PetscInt j = aj[k];

      if (j >= i || !join.Entry(k, j)) continue;
      least = j < least ? j : least;
      follows |= j == i - 1;
    }
  }
  starts = ~__ballot_sync(0xffffffffu, follows && lane) & (0xffffffffu >> (31 - lane)); // starts of the runs up to this lane
  first  = 31 - __clz(starts);
  if (i < m) parent[i] = first == lane ? least : i - (lane - first);
}

template <class Join>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderComponentsUniteKernel(PetscInt m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj, Join join, PetscInt *parent)
{
  const PetscInt i    = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  const int      lane = threadIdx.x % 32;
  PetscInt       k = 0, end = 0, own = -1;

  if (i < m && join.Row(i)) {
    k   = ai[i];
    end = ai[i + 1];
    own = ((volatile PetscInt *)parent)[i];
  }
  while (__any_sync(0xffffffffu, k < end)) {
    PetscInt from = -1, to = -1, lastfrom, lastto;

    if (k < end) {
      const PetscInt j = aj[k];

      if (j != i && join.Entry(k, j)) {
        from = own;
        to   = ((volatile PetscInt *)parent)[j];
      }
      ++k;
    }
    lastfrom = __shfl_up_sync(0xffffffffu, from, 1);
    lastto   = __shfl_up_sync(0xffffffffu, to, 1);
    if (from != to && (!lane || lastfrom != from || lastto != to)) PolderUnite(parent, from, to);
  }
}

/* The root of row i, find(i), for all rows of a warp with `wanted` set. A row whose parent is another row of the warp takes the root that this row finds */
template <class Find>
static __device__ __forceinline__ PetscInt PolderWarpRoot(const volatile PetscInt *parent, PetscInt i, bool wanted, Find find)
{
  const int          lane = threadIdx.x % 32;
  const PetscInt     p    = wanted ? parent[i] : i;
  const bool         asks = p != i && p >= i - lane;
  const int          of   = asks ? (int)(p - (i - lane)) : lane;
  const unsigned int all  = __ballot_sync(0xffffffffu, asks);
  PetscInt           root = wanted && !asks ? find(i) : i, told;

  told = __shfl_sync(0xffffffffu, root, of);
  if (asks) root = all >> of & 1 ? find(i) : told;
  return root;
}

/* Shortens the paths; all threads start together, so each step doubles the distance that later steps skip */
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderComponentsShortenKernel(PetscInt m, PetscInt *parent)
{
  const PetscInt i    = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  const PetscInt root = PolderWarpRoot(parent, i, i < m, [=](PetscInt r) { return PolderFindRoot(parent, r); });

  if (i < m) ((volatile PetscInt *)parent)[i] = root;
}

/* A thread writes its own row only: if others halved its path, they could replace a root by one of its descendants */
template <class Join>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderComponentsFinishKernel(PetscInt m, Join join, PetscInt *parent)
{
  const PetscInt     i      = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  const bool         joined = i < m && join.Row(i); // no row hangs below the others
  volatile PetscInt *p      = parent;
  const PetscInt     root   = PolderWarpRoot(parent, i, joined, [=](PetscInt r) {
    for (PetscInt up = p[r]; up != r; up = p[r]) r = up;
    return r;
  });

  if (i < m) p[i] = joined ? root : -1;
}

template <class Join>
static int PolderComponents(PetscInt m, const PetscInt ai[], const PetscInt aj[], Join join, PetscInt parent[], PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(m, POLDER_BLOCK);

  if (!m) return 0;
  PolderComponentsStartKernel<<<blocks, POLDER_BLOCK, 0, stream>>>(m, ai, aj, join, parent);
  PolderComponentsShortenKernel<<<blocks, POLDER_BLOCK, 0, stream>>>(m, parent);
  PolderComponentsUniteKernel<<<blocks, POLDER_BLOCK, 0, stream>>>(m, ai, aj, join, parent);
  PolderComponentsFinishKernel<<<blocks, POLDER_BLOCK, 0, stream>>>(m, join, parent);
  return cudaGetLastError();
}

int PolderComponentsByClass_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt cls[], PetscInt parent[], PolderStream stream)
{
  return PolderComponents(m, ai, aj, PolderJoinClass(cls), parent, stream);
}

int PolderComponentsByScale_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar scale[], PetscReal jump,
                                 PetscInt parent[], PolderStream stream)
{
  return PolderComponents(m, ai, aj, PolderJoinScale(aa, scale, jump), parent, stream);
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderRowScaleKernel(PetscInt m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj,
                                                                            const PetscScalar *__restrict__ aa, bool skipdiag, PetscScalar *__restrict__ scale)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;

  if (i < m) {
    const PetscInt diag = skipdiag ? i : -1, end = ai[i + 1];
    PetscReal      s = scale[i];

    for (PetscInt k = ai[i]; k < end; ++k) {
      const PetscReal a = aj[k] == diag ? 0 : fabs(aa[k]);

      s = a > s ? a : s;
    }
    scale[i] = s;
  }
}

int PolderRowScale_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool skipdiag, PetscScalar scale[],
                        PolderStream stream)
{
  if (m) PolderRowScaleKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, ai, aj, aa, skipdiag, scale);
  return cudaGetLastError();
}
