/*
  Pairwise aggregation, mostly one thread a row: proposals, pairs, the numbers of the aggregates and the rows of each. All counters are integers, so results do
  not depend on the order.
*/
#include "count.cuh"
#include "foreach.cuh"
#include "index.cuh"
#include "team.cuh"
#include "module.cuh"
#include "kernels/pairrow.h"
#include "kernels/pairs.h"
#include <cooperative_groups.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

/* Threads that look at the entries of a row, and the number of rows from which on one thread a row keeps the device as busy and moves fewer bytes */
#define PAIRS_LANES 8
#define PAIRS_MANY  131072

/* Rows of an aggregate that a thread sorts, and rows of one on average, up to which a block lists all rows; rows that a warp sorts */
#define MEMBERS_FEW  8
#define MEMBERS_SOME 256

/* What LANES neighbouring threads, all of which call it, offer row i: the best of what each has found, in all of them */
template <int LANES>
static __device__ __forceinline__ PolderPairOffer PairsBest(PolderPairOffer x)
{
  const unsigned int row = FULL_WARP >> (32 - LANES) << (threadIdx.x % 32 - threadIdx.x % LANES);

  for (int o = LANES / 2; o > 0; o /= 2) {
    const auto            other     = [=](auto value) { return __shfl_xor_sync(row, value, o); };
    const PolderPairOffer y         = {other(x.strongest), other(x.found), other(x.bucket), other(x.order), other(x.best), other(x.at)};
    const PetscReal       strongest = x.strongest > y.strongest ? x.strongest : y.strongest;

    if (PolderPairBetter(&x, &y)) x = y;
    x.strongest = strongest;
  }
  return x;
}

/* The proposal of row i, whose LANES threads all call it, to next[i]; before[] as for PolderPairIsFree() */
template <int LANES>
static __device__ __forceinline__ void PairsPropose(PetscInt i, const PolderRows &A, const PolderPairRule &rule, const PetscInt *mate, const PetscInt *before,
                                                    PetscInt *next)
{
  const int       lane = (int)threadIdx.x % LANES;
  PolderPairOffer x    = {0, 0, 0, 0, POLDER_PAIR_NONE, 0};

  if (mate[i] == POLDER_PAIR_FREE) x = PolderPairLook(i, lane, LANES, &A, &rule, mate, before);
  x = PairsBest<LANES>(x);
  if (lane == 0) next[i] = PolderPairTake(i, &rule, &x);
}

/* body.template row<LANES>(i) for each row, called by the LANES threads that look at its entries */
template <int LANES, class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderPairsRowsKernel(PetscInt n, const __grid_constant__ Body body)
{
  PolderBegin();
  const PetscInt i = (PetscInt)blockIdx.x * (POLDER_BLOCK / LANES) + (PetscInt)threadIdx.x / LANES;

  if (i < n) body.template row<LANES>(i);
}

template <class Body>
static int PairsEachRow(PetscInt n, PolderStream stream, const Body &body)
{
  if (n >= PAIRS_MANY) PolderLaunchEarly(PolderPairsRowsKernel<1, Body>, PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, stream, n, body);
  else if (n) PolderLaunchEarly(PolderPairsRowsKernel<PAIRS_LANES, Body>, PolderBlocks(n, POLDER_BLOCK / PAIRS_LANES), POLDER_BLOCK, stream, n, body);
  return cudaGetLastError();
}

template <int LANES>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderPairsProposeKernel(const __grid_constant__ PolderRows A, PolderRowList rows, const __grid_constant__ PolderPairRule rule, const PetscInt *mate,
                           PetscInt *next)
{
  PolderBegin();
  const PetscInt k = (PetscInt)blockIdx.x * (POLDER_BLOCK / LANES) + (PetscInt)threadIdx.x / LANES;

  if (k < rows.n) PairsPropose<LANES>(rows.row ? rows.row[k] : k, A, rule, mate, NULL, next);
}

template <int LANES>
static void PairsProposeLaunch(const PolderRows *A, PolderRowList rows, const PolderPairRule *rule, const PetscInt *mate, PetscInt *next, PolderStream stream)
{
  PolderLaunchEarly(PolderPairsProposeKernel<LANES>, PolderBlocks(rows.n, POLDER_BLOCK / LANES), POLDER_BLOCK, stream, *A, rows, *rule, mate, next);
}

int PolderPairsPropose_CUDA(const PolderRows *A, PolderRowList rows, const PolderPairRule *rule, const PetscInt mate[], PetscInt next[], PolderStream stream)
{
  if (rows.n >= PAIRS_MANY) PairsProposeLaunch<1>(A, rows, rule, mate, next, stream);
  else if (rows.n) PairsProposeLaunch<PAIRS_LANES>(A, rows, rule, mate, next, stream);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderPairsMatchKernel(PolderRowList rows, const PetscInt *next, PetscInt *mate, PetscInt *left, PetscInt *count)
{
  PolderBegin();
  const PetscInt k = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x, i = k >= rows.n ? -1 : rows.row ? rows.row[k] : k;

  PolderBlockAppend<POLDER_BLOCK>(i >= 0 && PolderPairMatch(i, next, mate), i, left, count);
}

int PolderPairsMatch_CUDA(PolderRowList rows, const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count, PolderStream stream)
{
  const int err = cudaMemsetAsync(count, 0, sizeof(*count), stream);

  if (rows.n) PolderLaunchEarly(PolderPairsMatchKernel, PolderBlocks(rows.n, POLDER_BLOCK), POLDER_BLOCK, stream, rows, next, mate, left, count);
  return err ? err : cudaGetLastError();
}

struct PairsRounds {
  PolderRows      A;
  PolderRowList   rows;
  const PetscInt *there;
  PetscInt        few;
  PolderPairRule  rule;
  PetscInt        rounds, *mate, *next[2], *left, *seen;
};

/* The proposals of the rows of a block */
template <int BLOCK, int LANES>
static __device__ __forceinline__ void PairsProposeRows(PetscInt n, const PetscInt *row, PetscInt first, const PetscInt *before, PetscInt *next,
                                                        const PairsRounds &p)
{
  for (PetscInt k = (PetscInt)threadIdx.x / LANES; k < n; k += BLOCK / LANES) PairsPropose<LANES>(row ? row[k] : first + k, p.A, p.rule, p.mate, before, next);
}

/*
  Each block has consecutive rows of the list, and keeps a list of those that are free in its part of left[]. A round has one barrier, between its proposals and
  a look at the answers: who proposes in the next round sees from the proposals of this one, rather than from mate[], which of its neighbours have paired.
  SETTLE: there is a second barrier instead, and mate[] tells. seen[]: rows were free after this round
*/
template <int BLOCK, int BLOCKS, bool SETTLE>
static __global__ void __launch_bounds__(BLOCK, BLOCKS) PolderPairsRoundsKernel(const __grid_constant__ PairsRounds p)
{
  __shared__ PetscInt            kept;
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const PetscInt                 all = p.there ? *p.there : p.rows.n, rounds = p.there && all < p.few ? 0 : p.rounds;
  const PetscInt                 part = (all + (PetscInt)gridDim.x - 1) / (PetscInt)gridDim.x, begin = (PetscInt)blockIdx.x * part, own = (PetscInt)threadIdx.x;
  PetscInt *const                left = p.left + begin;
  const PetscInt                *row = p.rows.row ? left : NULL, *before = NULL;
  PetscInt                       n = begin + part < all ? part : begin < all ? all - begin : 0;

  for (PetscInt k = own; row && k < n; k += BLOCK) left[k] = p.rows.row[begin + k]; // its place is for proposals later
  __syncthreads();
  for (PetscInt round = 0; round < rounds; ++round) {
    PetscInt *const next = p.next[round % 2];

    if (!SETTLE && n <= BLOCK / 32) PairsProposeRows<BLOCK, 32>(n, row, begin, before, next, p);
    else PairsProposeRows<BLOCK, PAIRS_LANES>(n, row, begin, before, next, p);
    grid.sync();
    if (round && !*(volatile PetscInt *)&p.seen[round - 1]) break;
    if (own == 0) kept = 0;
    for (PetscInt first = 0; first < n; first += BLOCK) {
      const PetscInt k = first + own, i = k >= n ? -1 : row ? row[k] : begin + k;

      PolderBlockAppend<BLOCK>(i >= 0 && PolderPairMatch(i, next, p.mate), i, left, &kept);
    }
    __syncthreads();
    row = left;
    n   = kept;
    if (n && own == 0) p.seen[round] = 1;
    if (SETTLE) grid.sync();
    else before = next;
  }
  for (PetscInt k = own; k < n; k += BLOCK) {
    const PetscInt i = row ? row[k] : begin + k;

    if (p.mate[i] == POLDER_PAIR_FREE) p.mate[i] = i;
  }
}

/* As many blocks as are on the device at the same time, since each waits for all others */
template <int BLOCK, int BLOCKS, bool SETTLE>
static int PairsRoundsLaunch(PairsRounds &p, PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(p.rows.n, BLOCK / 32), most = (unsigned int)(BLOCKS * PolderMultiprocessors());
  void              *args[] = {&p};

  return cudaLaunchCooperativeKernel((const void *)PolderPairsRoundsKernel<BLOCK, BLOCKS, SETTLE>, dim3(blocks < most ? blocks : most), dim3(BLOCK), args, 0,
                                     stream);
}

int PolderPairsRounds_CUDA(const PolderRows *A, PolderRowList rows, const PetscInt *there, PetscInt few, const PolderPairRule *rule, PetscInt rounds,
                           PetscInt mate[], PetscInt next[], PetscInt *const left[2], PetscInt seen[], PolderStream stream)
{
  PairsRounds p = {
    *A, rows, there, few, *rule, rounds, mate, {next, left[1]},
           left[0], seen
  };
  const int err = (int)cudaMemsetAsync(seen, 0, sizeof(*seen) * (size_t)rounds, stream);

  if (err || !rows.n) return err;
  if (rows.n >= PAIRS_MANY) return PairsRoundsLaunch<256, 5, true>(p, stream);
  return PairsRoundsLaunch<1024, 1, false>(p, stream); // the fewer blocks, the sooner each knows of all others
}

int PolderPairsDirections_CUDA(PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3], PolderStream stream)
{
  const cudaError_t err   = cudaMemsetAsync(count, 0, 3 * sizeof(*count), stream);
  const PetscInt64 *place = rule->place;

  if (err) return err;
  return PolderCountBits<3>(m, count, stream, [=] __device__(PetscInt i) {
    const PetscInt j = next[i];
    const int      d = j >= 0 ? PolderPairDirection(place[i], place[j]) : -1;

    return d >= 0 ? 1u << d : 0u;
  });
}

struct PairsAlign {
  PolderRows      A;
  PolderPairRule  rule;
  const PetscInt *count, *mate;
  PetscInt       *next;

  template <int LANES>
  __device__ __forceinline__ void row(PetscInt i) const
  {
    const PetscInt  j         = next[i];
    const int       direction = PolderPairMostWanted(count);
    PolderPairOffer x;

    if (j < 0 || PolderPairOrder(i, j, rule.place) == PolderPairLined(direction)) return;
    x = PairsBest<LANES>(PolderPairLookAlong(i, (PetscInt)threadIdx.x % LANES, LANES, &A, &rule, mate, direction));
    if (threadIdx.x % LANES == 0) next[i] = PolderPairTakeAlong(i, &rule, &x);
  }
};

int PolderPairsAlign_CUDA(const PolderRows *A, const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[], PolderStream stream)
{
  return PairsEachRow(A->n, stream, PairsAlign{*A, *rule, count, mate, next});
}

int PolderPairsNextPlaces_CUDA(PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3],
                               const PetscInt64 place[], PetscInt64 next[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    if (PolderPairLeads(i, mate, join)) next[agg[i]] = PolderPairPlace(place[i], PolderPairMostWanted(count));
  });
}

struct PairsJoin {
  PolderRows      A;
  PolderPairRule  rule;
  const PetscInt *mate;
  PetscInt       *join;

  template <int LANES>
  __device__ __forceinline__ void row(PetscInt i) const
  {
    PetscInt to = i;

    if (mate[i] == i) {
      const PolderPairOffer x = PairsBest<LANES>(PolderPairLookJoin(i, (PetscInt)threadIdx.x % LANES, LANES, &A, &rule, mate));

      to = PolderPairTakeJoin(i, &rule, &x, mate);
    }
    if (threadIdx.x % LANES == 0) join[i] = to;
  }
};

int PolderPairsJoin_CUDA(const PolderRows *A, const PolderPairRule *rule, const PetscInt mate[], PetscInt join[], PolderStream stream)
{
  return PairsEachRow(A->n, stream, PairsJoin{*A, *rule, mate, join});
}

/* 1 for a row that numbers its pair */
struct PolderLeads {
  const PetscInt *mate, *join;

  __host__ __device__ __forceinline__ PetscInt operator()(PetscInt i) const { return PolderPairLeads(i, mate, join) ? 1 : 0; }
};

typedef thrust::counting_iterator<PetscInt>                        PolderRowIterator;
typedef thrust::transform_iterator<PolderLeads, PolderRowIterator> PolderLeadsIterator;

static size_t MembersSortWork(PetscInt m)
{
  size_t sort = 0;

  (void)cub::DeviceRadixSort::SortPairs(NULL, sort, (PetscInt *)NULL, (PetscInt *)NULL, (PetscInt *)NULL, (PetscInt *)NULL, m);
  return sort;
}

size_t PolderPairsWork_CUDA(PetscInt m)
{
  static size_t       team = 0; // what a team does needs none, but members of large aggregates are sorted
  PolderLeadsIterator leads(PolderRowIterator(0), PolderLeads{NULL, NULL});
  size_t              scan = 0, sort, sum = 0;

  if (m < POLDER_TEAM_ROWS) {
    if (!team) team = MembersSortWork(POLDER_TEAM_ROWS);
    return team;
  }
  (void)cub::DeviceScan::InclusiveSum(NULL, scan, leads, (PetscInt *)NULL, m);
  (void)cub::DeviceScan::InclusiveSum(NULL, sum, (PetscInt *)NULL, (PetscInt *)NULL, m + 2);
  sort = MembersSortWork(m);
  if (sum > scan) scan = sum;
  return sort > scan ? sort : scan;
}

/* The number of row i, which leads no pair; n: it is in none */
static __device__ __forceinline__ PetscInt PairsFollow(PetscInt i, const PetscInt *mate, const PetscInt *join, PetscInt n, const PetscInt *agg)
{
  const PetscInt j = join ? join[i] : i;

  return mate[i] < 0 ? n : agg[mate[j] < j ? mate[j] : j];
}

static __global__ void __launch_bounds__(POLDER_TEAM)
  PolderPairsNumberKernel(PetscInt m, const PetscInt *mate, const PetscInt *join, PetscInt *agg, PetscInt *count)
{
  PolderBegin();
  const PetscInt n = PolderTeamNumber(
    m, [=](PetscInt i) { return PolderPairLeads(i, mate, join); }, [=](PetscInt i, PetscInt number) { agg[i] = number; });

  if (PolderTeamThread() == 0) *count = n;
  PolderTeamSync();
#pragma unroll POLDER_TEAM_AHEAD
  for (PetscInt i = PolderTeamThread(); i < m; i += PolderTeamThreads()) {
    if (!PolderPairLeads(i, mate, join)) agg[i] = PairsFollow(i, mate, join, n, agg);
  }
}

int PolderPairsNumber_CUDA(PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count, void *work, size_t bytes,
                           PolderStream stream)
{
  if (m > 0 && m <= POLDER_TEAM_ROWS) {
    PolderTeamLaunch(m, PolderPairsNumberKernel, stream, m, mate, join, agg, count);
    return cudaGetLastError();
  }
  PolderLeadsIterator leads(PolderRowIterator(0), PolderLeads{mate, join});
  cudaError_t         err = m > 0 ? cub::DeviceScan::InclusiveSum(work, bytes, leads, agg, m, stream) : cudaMemsetAsync(count, 0, sizeof(*count), stream);

  if (err || m == 0) return err;
  err = cudaMemcpyAsync(count, agg + m - 1, sizeof(*count), cudaMemcpyDeviceToDevice, stream);
  if (err) return err;
  err = (cudaError_t)PolderForEach(m, stream, [=] __device__(PetscInt i) { // the first row of a pair keeps its sum, which the others read
    if (PolderPairLeads(i, mate, join)) return;
    agg[i] = mate[i] < 0 ? *count : PairsFollow(i, mate, join, 0, agg) - 1;
  });
  if (err) return err;
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    if (PolderPairLeads(i, mate, join)) --agg[i];
  });
}

int PolderPairsCompose_CUDA(PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, const PetscInt agg[], PetscInt to[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) { to[i] = agg[i] < n ? next[agg[i]] : nc; });
}

/* Sorts up to MEMBERS_FEW rows met[first], ... of an aggregate into P.row[first], ... */
static __device__ __forceinline__ void MembersSortFew(PetscInt first, PetscInt n, const PetscInt *met, const PolderAggregates &P)
{
  PetscInt i[MEMBERS_FEW];

#pragma unroll
  for (int k = 0; k < MEMBERS_FEW; ++k) i[k] = k < n ? met[first + k] : PETSC_MAX_INT;
#pragma unroll
  for (int k = 0; k < MEMBERS_FEW; ++k) {
    PetscInt place = first;

    if (k >= n) break;
#pragma unroll
    for (int l = 0; l < MEMBERS_FEW; ++l) place += i[l] < i[k];
    P.row[place] = i[k];
    if (P.at) P.at[i[k]] = place;
  }
}

/* The same for more of them by a group of threads, of which this is number `lane` */
static __device__ __forceinline__ void MembersSort(PetscInt first, PetscInt end, int lane, int lanes, const PetscInt *met, const PolderAggregates &P)
{
  for (PetscInt k = first + lane; k < end; k += lanes) {
    const PetscInt i     = met[k];
    PetscInt       place = first;

#pragma unroll 4
    for (PetscInt l = first; l < end; ++l) place += met[l] < i;
    P.row[place] = i;
    if (P.at) P.at[i] = place;
  }
}

/*
  The members by a team, where aggregates have few rows: these are stored as they come, and then sorted by a thread, or by a warp or a whole block where they
  are more. Rows in no aggregate are numbered. rank[i]: the rows of its aggregate that have come before row i
*/
static __global__ void __launch_bounds__(POLDER_TEAM) PolderMembersKernel(const __grid_constant__ PolderAggregates P, PetscInt *met, PetscInt *rank)
{
  __shared__ PetscInt list[POLDER_TEAM_ROWS / MEMBERS_FEW];
  __shared__ int      more[2]; // aggregates for warps, listed from the start of list[], and for the block, from its end
  const PetscInt      own = PolderTeamThread(), step = PolderTeamThreads();
  PetscInt            none;

  PolderBegin();
  if (threadIdx.x < 2) more[threadIdx.x] = 0;
#pragma unroll 1
  for (PetscInt a = own; a < P.n; a += step) P.ptr[a] = 0;
  PolderTeamSync();
#pragma unroll POLDER_TEAM_AHEAD
  for (PetscInt i = own; i < P.m; i += step) {
    const PetscInt a = P.agg[i];

    if (a < P.n) rank[i] = PolderAtomicAdd(&P.ptr[a], 1);
  }
  PolderTeamSync();
  none = PolderTeamSum(
    P.n, [=](PetscInt a) { return P.ptr[a]; }, [=](PetscInt a, PetscInt sum) { P.ptr[a] = sum; });
  if (own == 0) {
    P.ptr[P.n]     = none;
    P.ptr[P.n + 1] = P.m;
  }
  PolderTeamSync();
#pragma unroll POLDER_TEAM_AHEAD
  for (PetscInt i = own; i < P.m; i += step) {
    const PetscInt a = P.agg[i];

    if (a < P.n) met[P.ptr[a] + rank[i]] = i;
  }
  if (none < P.m)
    (void)PolderTeamNumber(
      P.m, [=](PetscInt i) { return P.agg[i] >= P.n; },
      [=](PetscInt i, PetscInt k) {
        P.row[none + k] = i;
        if (P.at) P.at[i] = none + k;
      });
  PolderTeamSync();
#pragma unroll 1
  for (PetscInt a = own; a < P.n; a += step) {
    const PetscInt first = P.ptr[a], end = P.ptr[a + 1];

    if (end - first <= MEMBERS_FEW) MembersSortFew(first, end - first, met, P);
    else if (end - first <= MEMBERS_SOME) list[atomicAdd(&more[0], 1)] = a;
    else list[POLDER_TEAM_ROWS / MEMBERS_FEW - 1 - atomicAdd(&more[1], 1)] = a;
  }
  __syncthreads();
  for (int k = (int)threadIdx.x / 32; k < more[0]; k += POLDER_TEAM_WARPS) MembersSort(P.ptr[list[k]], P.ptr[list[k] + 1], (int)threadIdx.x % 32, 32, met, P);
  for (int k = 0; k < more[1]; ++k) {
    const PetscInt a = list[POLDER_TEAM_ROWS / MEMBERS_FEW - 1 - k];

    MembersSort(P.ptr[a], P.ptr[a + 1], (int)threadIdx.x, POLDER_TEAM, met, P);
  }
}

int PolderMembers_CUDA(const PolderAggregates *P, PetscInt *const scratch[2], void *work, size_t bytes, PolderStream stream)
{
  const PetscInt m = P->m, n = P->n;
  if (m > 0 && m <= POLDER_TEAM_ROWS && m / MEMBERS_FEW <= n) {
    PolderTeamLaunch(m, PolderMembersKernel, stream, *P, scratch[0], scratch[1]);
    return cudaGetLastError();
  }
  PetscInt *const ptr = P->ptr, *const row = P->row, *const at = P->at, *const key = scratch[0], *const number = scratch[1];
  int bits = 1, err;

  while (bits < 31 && (n >> bits)) ++bits;
  err = PolderForEach(m, stream, [=] __device__(PetscInt i) { number[i] = i; });
  if (!err && m > 0) err = cub::DeviceRadixSort::SortPairs(work, bytes, P->agg, key, number, row, m, 0, bits, stream);
  return err ? err : PolderForEach(m + 1, stream, [=] __device__(PetscInt k) { // this row begins all aggregates from the one before to its own
    const PetscInt before = k ? key[k - 1] : -1, now = k < m ? key[k] : n + 1;

    for (PetscInt a = before + 1; a <= now; ++a) ptr[a] = k;
    if (at && k < m) at[row[k]] = k;
  });
}

POLDER_MODULE(Pairs)
