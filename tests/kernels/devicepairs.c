static const char
  help[] = "Pairwise aggregation on the device: every kernel of a pass against its host twin, on grids, bands, stars and hubs, tiny, odd and large.\n\n";

#include "devicepairs/graphs.h"
#include "kernels/csr.h"
#include "kernels/galerkin.h"
#include "kernels/labels.h"
#include "kernels/pairs.h"
#include "kernels/places.h"

/* A symmetric matrix on the host and on the device */
typedef struct {
  PetscInt     n, nz, *i, *j, *di, *dj;
  PetscScalar *a, *da;
} Rows;

/* An array of indices at both places */
typedef struct {
  PetscInt *h, *d;
} Indices;

typedef struct {
  PetscScalar *h, *d;
} Values;

static PetscErrorCode CreateIndices(PetscInt n, Indices *x) /* poisoned */
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &x->h));
  for (PetscInt i = 0; i < n; ++i) x->h[i] = -77;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)n, x->h, &x->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyIndices(Indices *x)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(x->h));
  PetscCall(PolderDeviceFree(&x->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateValues(PetscInt n, Values *x)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &x->h));
  for (PetscInt i = 0; i < n; ++i) x->h[i] = NAN;
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)n, x->h, &x->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyValues(Values *x)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(x->h));
  PetscCall(PolderDeviceFree(&x->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for (i, j) and (j, i): mostly negative, few different sizes */
static PetscScalar Coupling(PetscInt i, PetscInt j)
{
  const PetscInt h = ((PetscMin(i, j) * 7919 + PetscMax(i, j) * 104729) & 0xffff) % 23;

  return h == 22 ? 0.5 : -(1.0 + h % 3 * (1.0 / 3));
}

static PetscErrorCode RowsCreate(PetscInt n, Couples couples, PetscInt reach, Rows *A)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  A->n = n;
  PetscCall(PetscMalloc1(n + 1, &A->i));
  for (int fill = 0; fill < 2; ++fill) {
    if (fill) {
      PetscCall(PetscMalloc1(nz, &A->j));
      PetscCall(PetscMalloc1(nz, &A->a));
      nz = 0;
    }
    for (PetscInt i = 0; i < n; ++i) {
      PetscInt    diag  = 0;
      PetscScalar total = i % 97 == 5 ? 1e4 : (i % 3 + 1) * 0.25; // some rows that need no aggregate

      A->i[i] = nz;
      for (PetscInt j = reach ? PetscMax(0, i - reach) : 0; j < (reach ? PetscMin(n, i + reach + 1) : n); ++j) {
        if (i != j && !couples(n, PetscMin(i, j), PetscMax(i, j))) continue;
        if (fill) {
          A->j[nz] = j;
          A->a[nz] = i == j ? 0 : Coupling(i, j);
          total += PetscAbsScalar(A->a[nz]);
          if (i == j) diag = nz;
        }
        ++nz;
      }
      if (fill) A->a[diag] = total;
    }
  }
  A->i[n] = A->nz = nz;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(n + 1), A->i, &A->di));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)nz, A->j, &A->dj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)nz, A->a, &A->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(A->i));
  PetscCall(PetscFree(A->j));
  PetscCall(PetscFree(A->a));
  PetscCall(PolderDeviceFree(&A->di));
  PetscCall(PolderDeviceFree(&A->dj));
  PetscCall(PolderDeviceFree(&A->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same in single precision, alone and in the place of the diagonal entry; sum[] are they */
static PetscErrorCode TestTotals(const Rows *A, const Values *sum, PolderStream stream, PetscInt *wrong)
{
  const PolderRows here = {.n = A->n, .i = A->i, .j = A->j, .a = A->a}, far = {.n = A->n, .i = A->di, .j = A->dj, .a = A->da};
  float           *host, *got, *to;
  int             *bad, raised[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(A->nz, &host, A->nz, &got));
  PetscCall(PolderDeviceMalloc(sizeof(*bad), &bad));
  for (int rows = 0; rows < 2; ++rows) {
    const PetscInt m = rows ? A->nz : A->n;

    for (PetscInt k = 0; k < A->nz; ++k) host[k] = -3;
    PetscCall(PolderDeviceUpload(sizeof(*to) * (size_t)A->nz, host, &to));
    PetscCall(PolderDeviceZero(bad, sizeof(*bad)));
    PolderLaunch(PolderRowTotals_CUDA(&far, (PetscBool)rows, to, bad, stream));
    *wrong += !PolderRowTotals_Host(&here, NULL, (PetscBool)rows, host);
    PetscCall(PolderDeviceToHost(got, to, sizeof(*to) * (size_t)A->nz));
    PetscCall(PolderDeviceToHost(&raised[rows], bad, sizeof(*bad)));
    for (PetscInt k = 0; k < m; ++k) *wrong += !(PetscAbsReal(got[k] - host[k]) <= 1e-6 * (1 + PetscAbsReal(host[k])));
    for (PetscInt i = 0; i < A->n && !rows; ++i) *wrong += !(PetscAbsReal(got[i] - sum->h[i]) <= 1e-6 * (1 + PetscAbsReal(sum->h[i])));
    PetscCall(PolderDeviceFree(&to));
  }
  *wrong += raised[0] || raised[1];
  PetscCall(PetscFree2(host, got));
  PetscCall(PolderDeviceFree(&bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a level looks at in its rows; mate, d and sum are for the pass */
static PetscErrorCode TestLevelRows(const Rows *A, const Indices *mate, const Values *d, const Values *sum, PolderStream stream, PetscInt *wrong)
{
  const PetscInt   n    = A->n;
  const PetscInt64 none = (PetscInt64)n * 8;
  const PolderRows host = {.n = n, .i = A->i, .j = A->j, .a = A->a}, device = {.n = n, .i = A->di, .j = A->dj, .a = A->da};
  Indices          diag;
  Values           dinv, all;
  PolderRowKind    kind;
  PetscInt64      *there, bad;
  PetscReal       *bound_d, bound, zero = 0, got;
  PetscInt         row;

  PetscFunctionBeginUser;
  PetscCall(CreateIndices(n, &diag));
  PetscCall(CreateValues(n, &dinv));
  PetscCall(CreateValues(n, &all));
  PetscCall(PolderDeviceUpload(sizeof(none), &none, &there));
  PetscCall(PolderDeviceUpload(sizeof(zero), &zero, &bound_d));
  for (int l1 = 1; l1 >= 0; --l1) {
    const PolderLevelSurvey here = {.l1 = (PetscBool)l1, .lone = 5, .diag = diag.h, .dinv = dinv.h, .d = d->h, .sum = sum->h, .all = all.h, .mate = mate->h};
    const PolderLevelSurvey far  = {.l1 = (PetscBool)l1, .lone = 5, .diag = diag.d, .dinv = dinv.d, .d = d->d, .sum = sum->d, .all = all.d, .mate = mate->d};

    PolderLaunch(PolderLevelRows_CUDA(&device, &far, bound_d, there, stream));
    row = PolderLevelRows_Host(&host, NULL, &here, &bound, &kind);
    PetscCall(PolderDeviceToHost(&bad, there, sizeof(bad)));
    PetscCall(PolderDeviceToHost(&got, bound_d, sizeof(got)));
    *wrong += row != n || bad != none || !(PetscAbsReal(got - bound) <= 1e-14 * bound);
    PetscCall(SameIndices("places of the diagonal", n, diag.h, diag.d, wrong));
    PetscCall(SameIndices("rows to pair", n, mate->h, mate->d, wrong));
    PetscCall(SameScalars("inverse diagonal", n, dinv.h, dinv.d, 1e-14, wrong));
    PetscCall(SameScalars("diagonal", n, d->h, d->d, 1e-14, wrong));
    PetscCall(SameScalars("row sums", n, sum->h, sum->d, 1e-14, wrong));
    PetscCall(SameScalars("sums of magnitudes", n, all.h, all.d, 1e-14, wrong));
  }
  PetscCall(TestTotals(A, sum, stream, wrong));
  for (PetscInt k = 0; k < n; ++k) A->a[diag.h[k]] = k == n / 2 ? 0 : k == n - 1 && n > 2 ? -1 : 2; // two bad rows, the first one counts
  PetscCall(PolderDeviceFromHost(A->da, A->a, sizeof(PetscScalar) * (size_t)A->nz));
  PetscCall(PolderDeviceFromHost(there, &none, sizeof(none)));
  PolderLaunch(PolderLevelRows_CUDA(&device, &(PolderLevelSurvey){.lone = 5, .dinv = dinv.d}, bound_d, there, stream));
  PetscCall(PolderDeviceToHost(&bad, there, sizeof(bad)));
  *wrong += bad != PolderRowBad(n / 2, POLDER_ROW_ZERO);
  for (PetscInt k = 0; k < n; ++k) A->a[diag.h[k]] = d->h[k];
  PetscCall(PolderDeviceFromHost(A->da, A->a, sizeof(PetscScalar) * (size_t)A->nz));
  PetscCall(DestroyIndices(&diag));
  PetscCall(DestroyValues(&dinv));
  PetscCall(DestroyValues(&all));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&bound_d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same rows, in any order, of which the host's are sorted then */
static PetscErrorCode SameRows(PetscInt n, PetscInt h[], const PetscInt d[], PetscInt *wrong)
{
  PetscInt *copy;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &copy));
  if (n) PetscCall(PolderDeviceToHost(copy, d, sizeof(*copy) * (size_t)n));
  PetscCall(PetscSortInt(n, copy));
  PetscCall(PetscSortInt(n, h));
  for (PetscInt k = 0; k < n; ++k) *wrong += copy[k] != h[k];
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A round step by step, others, of which there are `rounds`, in one kernel, and the rows alone that join; by a rule in host and in device memory. all: the
  kernel makes all rounds
*/
static PetscErrorCode TestMatching(const Rows *A, const PolderPairRule rule[2], PetscBool all, PetscInt rounds, const Indices *mate, const Indices *join,
                                   PolderStream stream, PetscInt *wrong)
{
  const PetscInt   n    = A->n;
  const PolderRows here = {.n = n, .i = A->i, .j = A->j, .a = A->a}, far = {.n = n, .i = A->di, .j = A->dj, .a = A->da};
  const PetscInt   few      = n / 8; // so that fewer rows become single at once
  const PetscInt  *there[2] = {NULL, NULL};
  PolderRowList    list = {n, NULL}, list_d = {n, NULL};
  Indices          next, left[2], count;

  PetscFunctionBeginUser;
  PetscCall(CreateIndices(n, &next));
  for (int b = 0; b < 2; ++b) PetscCall(CreateIndices(n, &left[b]));
  PetscCall(CreateIndices(4 + rounds, &count));
  if (!all) {
    PolderPairsPropose_Host(&here, list, &rule[0], mate->h, next.h);
    PolderLaunch(PolderPairsPropose_CUDA(&far, list_d, &rule[1], mate->d, next.d, stream));
    PetscCall(SameIndices("proposals", n, next.h, next.d, wrong));
    if (rule->place) {
      PolderPairsDirections_Host(n, &rule[0], next.h, count.h + 1);
      PolderLaunch(PolderPairsDirections_CUDA(n, &rule[1], next.d, count.d + 1, stream));
      PetscCall(SameIndices("directions", 3, count.h + 1, count.d + 1, wrong));
      PolderPairsAlign_Host(&here, &rule[0], count.h + 1, mate->h, next.h);
      PolderLaunch(PolderPairsAlign_CUDA(&far, &rule[1], count.d + 1, mate->d, next.d, stream));
      PetscCall(SameIndices("aligned proposals", n, next.h, next.d, wrong));
    }
    PolderPairsMatch_Host(list, next.h, mate->h, left[1].h, count.h);
    PolderLaunch(PolderPairsMatch_CUDA(list_d, next.d, mate->d, left[1].d, count.d, stream));
    PetscCall(SameIndices("pairs", n, mate->h, mate->d, wrong));
    PetscCall(SameIndices("free rows", 1, count.h, count.d, wrong));
    if (*wrong) PetscFunctionReturn(PETSC_SUCCESS);
    list     = (PolderRowList){n, left[1].h};
    list_d   = (PolderRowList){n, left[1].d};
    there[0] = count.h;
    there[1] = count.d;
    PetscCall(SameRows(count.h[0], left[1].h, left[1].d, wrong));
  }
  PolderPairsRounds_Host(&here, list, there[0], few, &rule[0], rounds, mate->h, next.h, (PetscInt *[]){left[0].h, left[1].h}, count.h + 4);
  PolderLaunch(
    PolderPairsRounds_CUDA(&far, list_d, there[1], few, &rule[1], rounds, mate->d, next.d, (PetscInt *[]){left[0].d, left[1].d}, count.d + 4, stream));
  PetscCall(SameIndices("pairs of all rounds", n, mate->h, mate->d, wrong));
  for (PetscInt i = 0; i < n; ++i) *wrong += mate->h[i] == POLDER_PAIR_FREE || (mate->h[i] >= 0 && mate->h[mate->h[i]] != i);
  PolderPairsJoin_Host(&here, &rule[0], mate->h, join->h);
  PolderLaunch(PolderPairsJoin_CUDA(&far, &rule[1], mate->d, join->d, stream));
  PetscCall(SameIndices("joined rows", n, join->h, join->d, wrong));
  PetscCall(DestroyIndices(&next));
  for (int b = 0; b < 2; ++b) PetscCall(DestroyIndices(&left[b]));
  PetscCall(DestroyIndices(&count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keys of the coarse rows; and the rows without weak entries */
static PetscErrorCode TestDrop(PetscInt n, Indices *ci, Indices *cj, Values *ca, void *work, size_t bytes, PolderStream stream, PetscInt *wrong)
{
  const PetscInt   nz = ci->h[n];
  const PolderRows C  = {.n = n, .i = ci->d, .j = cj->d, .a = ca->d};
  PolderSparseRows D;
  Indices          di, dj;
  Values           da, d;
  PetscInt64      *key, *keys;
  PetscInt         count = -1, *count_d;

  PetscFunctionBeginUser;
  PetscCall(CreateIndices(n + 1, &di));
  PetscCall(CreateIndices(nz, &dj));
  PetscCall(CreateValues(nz, &da));
  PetscCall(CreateValues(n, &d));
  PetscCall(PetscMalloc1(nz, &keys));
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)nz, &key));
  PetscCall(PolderDeviceMalloc(sizeof(count), &count_d));
  PolderLaunch(PolderRowsKeys_CUDA(n, ci->d, cj->d, key, count_d, stream));
  if (nz) PetscCall(PolderDeviceToHost(keys, key, sizeof(*key) * (size_t)nz));
  if (n) PetscCall(PolderDeviceToHost(&count, count_d, sizeof(count)));
  *wrong += n && count != nz;
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt k = ci->h[i]; k < ci->h[i + 1]; ++k) *wrong += keys[k] != (PetscInt64)i * n + cj->h[k];
  }
  PolderLaunch(PolderCsrDiagonal_CUDA(n, ci->d, cj->d, ca->d, d.d, stream));
  PolderLaunch(PolderDropWeakCount_CUDA(&C, 0.2, d.d, di.d, stream));
  PolderLaunch(PolderPointers_CUDA(n, di.d, work, bytes, stream));
  D = (PolderSparseRows){.n = n, .ptr = di.d, .col = dj.d, .val = da.d};
  PolderLaunch(PolderDropWeakFill_CUDA(&C, 0.2, d.d, &D, stream));
  (void)PolderDropWeak_Host(n, 0.2, d.h, ci->h, cj->h, ca->h);
  PetscCall(SameIndices("pointers without weak entries", n + 1, ci->h, di.d, wrong));
  PetscCall(SameIndices("columns without weak entries", ci->h[n], cj->h, dj.d, wrong));
  PetscCall(SameScalars("values without weak entries", ci->h[n], ca->h, da.d, 1e-14, wrong));
  PetscCall(DestroyIndices(&di));
  PetscCall(DestroyIndices(&dj));
  PetscCall(DestroyValues(&da));
  PetscCall(DestroyValues(&d));
  PetscCall(PetscFree(keys));
  PetscCall(PolderDeviceFree(&key));
  PetscCall(PolderDeviceFree(&count_d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse rows of aggregates P, in host and in device memory, and new values of them */
static PetscErrorCode TestCoarseRows(const Rows *A, const PolderAggregates P[2], void *work, size_t bytes, PolderStream stream, PetscInt *wrong)
{
  const PolderRows    here = {.n = A->n, .i = A->i, .j = A->j, .a = A->a}, far = {.n = A->n, .i = A->di, .j = A->dj, .a = A->da};
  const PetscInt      nc = P->n;
  Indices             ci, cj;
  Values              ca;
  PolderSparseRows    C, C_d;
  PolderCoarseScratch scratch = {0};
  PetscInt           *place, *info, got[3], nz;

  PetscFunctionBeginUser;
  PetscCall(CreateIndices(nc + 1, &ci));
  PetscCall(CreateIndices(A->nz, &cj));
  PetscCall(CreateValues(A->nz, &ca));
  PetscCall(PetscMalloc1(nc, &place));
  PetscCall(PolderDeviceMalloc(sizeof(got), &info));
  PetscCall(PolderDeviceZero(info, sizeof(got)));
  C   = (PolderSparseRows){.n = nc, .ptr = ci.h, .col = cj.h, .val = ca.h};
  C_d = (PolderSparseRows){.n = nc, .ptr = ci.d, .col = cj.d, .val = ca.d};
  nz  = PolderGalerkin_Host(&P[0], &here, nc, P[0].agg, PETSC_TRUE, place, &C);
  PolderLaunch(PolderCoarseRowsCount_CUDA(&P[1], &far, ci.d, info, stream));
  PetscCall(PolderDeviceToHost(got, info, sizeof(got)));
  for (PetscInt a = 0; a < nc; ++a) {
    const PetscInt entries = ci.h[a + 1] - ci.h[a];

    got[entries > POLDER_COARSE_ROW ? 0 : 2] -= entries > POLDER_COARSE_ROW ? 1 : entries;
  }
  *wrong += (got[0] != 0) + (got[2] != 0);
  if (got[1]) {
    scratch.warps = 16;
    scratch.width = got[1];
    PetscCall(PolderDeviceMalloc(sizeof(*scratch.col) * (size_t)(scratch.warps * scratch.width), &scratch.col));
    PetscCall(PolderDeviceMalloc(sizeof(*scratch.val) * (size_t)(scratch.warps * scratch.width), &scratch.val));
    PolderLaunch(PolderCoarseRowsCountLong_CUDA(&P[1], &far, &scratch, ci.d, stream));
  }
  PolderLaunch(PolderPointers_CUDA(nc, ci.d, work, bytes, stream));
  PetscCall(SameIndices("coarse pointers", nc + 1, ci.h, ci.d, wrong));
  if (*wrong) PetscFunctionReturn(PETSC_SUCCESS);
  PolderLaunch(PolderCoarseRowsFill_CUDA(&P[1], &far, &scratch, &C_d, stream));
  PetscCall(SameIndices("coarse columns", nz, cj.h, cj.d, wrong));
  PetscCall(SameScalars("coarse values", nz, ca.h, ca.d, 1e-14, wrong));
  for (PetscInt k = 0; k < A->nz; ++k) A->a[k] *= 3;
  PetscCall(PolderDeviceFromHost(A->da, A->a, sizeof(PetscScalar) * (size_t)A->nz));
  PolderGalerkinValues_Host(&P[0], &here, nc, P[0].agg, PETSC_TRUE, place, &C);
  PolderLaunch(PolderCoarseRowsValues_CUDA(&P[1], &far, (PetscBool)(scratch.warps > 0), &C_d, stream));
  PetscCall(SameScalars("new coarse values", nz, ca.h, ca.d, 1e-14, wrong));
  PetscCall(TestDrop(nc, &ci, &cj, &ca, work, bytes, stream, wrong));
  PetscCall(DestroyIndices(&ci));
  PetscCall(DestroyIndices(&cj));
  PetscCall(DestroyValues(&ca));
  PetscCall(PetscFree(place));
  PetscCall(PolderDeviceFree(&info));
  PetscCall(PolderDeviceFree(&scratch.col));
  PetscCall(PolderDeviceFree(&scratch.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums over the rows of each aggregate */
static PetscErrorCode TestMemberSums(const PolderAggregates P[2], const Values *d, const Values *sum, PolderStream stream, PetscInt *wrong)
{
  const PetscInt nc = P->n;
  Values         to[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) PetscCall(CreateValues(nc, &to[k]));
  PolderMemberSums_Host(&P[0], d->h, sum->h, to[0].h, to[1].h);
  PolderLaunch(PolderMemberSums_CUDA(&P[1], d->d, sum->d, to[0].d, to[1].d, stream));
  PetscCall(SameScalars("diagonals of aggregates", nc, to[0].h, to[0].d, 1e-14, wrong));
  PetscCall(SameScalars("row sums of aggregates", nc, to[1].h, to[1].d, 1e-14, wrong));
  for (int k = 0; k < 2; ++k) PetscCall(DestroyValues(&to[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of the pairs, their places, their members and the coarse rows */
static PetscErrorCode TestNumbers(const Rows *A, PetscInt64 *const place[2], const Values *d, const Values *sum, const Indices *mate, const Indices *join,
                                  PolderStream stream, PetscInt *wrong)
{
  const PetscInt n     = A->n;
  const size_t   bytes = PolderWorkSize(PolderPairsWork_CUDA(n));
  Indices        agg, count, ptr, row, key, at;
  PetscInt       directions[3] = {1, 5, 2};
  void          *work;

  PetscFunctionBeginUser;
  PetscCall(CreateIndices(n, &agg));
  PetscCall(CreateIndices(1, &count));
  PetscCall(CreateIndices(n + 2, &ptr));
  PetscCall(CreateIndices(n, &row));
  PetscCall(CreateIndices(n, &key));
  PetscCall(CreateIndices(n, &at));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  for (int joined = 0; joined < 2 && !*wrong; ++joined) {
    PetscInt *const  scratch[2] = {key.d, at.d};
    PolderAggregates P[2];
    PetscInt         nc;

    PolderPairsNumber_Host(n, mate->h, joined ? join->h : NULL, agg.h, count.h);
    PolderLaunch(PolderPairsNumber_CUDA(n, mate->d, joined ? join->d : NULL, agg.d, count.d, work, bytes, stream));
    PetscCall(SameIndices("aggregates", n, agg.h, agg.d, wrong));
    PetscCall(SameIndices("number of aggregates", 1, count.h, count.d, wrong));
    nc = count.h[0];
    if (place[0]) {
      PetscInt64 *next, *next_d, *copy;
      PetscInt   *there;

      PetscCall(PetscMalloc2(nc, &next, nc, &copy));
      PetscCall(PolderDeviceMalloc(sizeof(*next) * (size_t)nc, &next_d));
      PetscCall(PolderDeviceUpload(sizeof(directions), directions, &there));
      PolderPairsNextPlaces_Host(n, mate->h, joined ? join->h : NULL, agg.h, directions, place[0], next);
      PolderLaunch(PolderPairsNextPlaces_CUDA(n, mate->d, joined ? join->d : NULL, agg.d, there, place[1], next_d, stream));
      if (nc) PetscCall(PolderDeviceToHost(copy, next_d, sizeof(*copy) * (size_t)nc));
      for (PetscInt a = 0; a < nc; ++a) *wrong += copy[a] != next[a];
      PetscCall(PetscFree2(next, copy));
      PetscCall(PolderDeviceFree(&next_d));
      PetscCall(PolderDeviceFree(&there));
    }
    P[0] = (PolderAggregates){n, nc, agg.h, ptr.h, row.h, at.h};
    P[1] = (PolderAggregates){n, nc, agg.d, ptr.d, row.d, at.d};
    PolderMembers_Host(&P[0]);
    PolderLaunch(PolderMembers_CUDA(&P[1], scratch, work, bytes, stream));
    PetscCall(SameIndices("pointers to rows", nc + 2, ptr.h, ptr.d, wrong));
    PetscCall(SameIndices("rows of aggregates", n, row.h, row.d, wrong));
    PetscCall(SameIndices("positions of rows", n, at.h, at.d, wrong));
    PetscCall(TestMemberSums(P, d, sum, stream, wrong));
    if (!*wrong) PetscCall(TestCoarseRows(A, P, work, bytes, stream, wrong));
    PolderPairsCompose_Host(n, nc, mate->h, -5, agg.h, agg.h); // any array will do
    PolderLaunch(PolderPairsCompose_CUDA(n, nc, mate->d, -5, agg.d, agg.d, stream));
    PetscCall(SameIndices("composed aggregates", n, agg.h, agg.d, wrong));
  }
  PetscCall(DestroyIndices(&agg));
  PetscCall(DestroyIndices(&count));
  PetscCall(DestroyIndices(&ptr));
  PetscCall(DestroyIndices(&row));
  PetscCall(DestroyIndices(&key));
  PetscCall(DestroyIndices(&at));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* place[0] and place[1] <- those of the host and of the device, when the rows show a grid */
static PetscErrorCode TestPlaces(const Rows *A, PetscInt64 *place[2], PolderStream stream, PetscInt *wrong)
{
  PetscInt    near[4] = {0, PETSC_MAX_INT, 0, 0}, *there, bad, zero = 0;
  PetscInt64 *copy;

  PetscFunctionBeginUser;
  PolderStencilStrides_Host(A->n, A->i, A->j, near);
  if (near[1] > near[2]) near[1] = near[2] = PetscMax(A->n, 2);
  PetscCall(PetscMalloc1(A->n, &place[0]));
  PetscCall(PetscMalloc1(A->n, &copy));
  PetscCall(PolderDeviceMalloc(sizeof(*copy) * (size_t)A->n, &place[1]));
  PetscCall(PolderDeviceUpload(sizeof(zero), &zero, &there));
  for (PetscInt shift = 3; shift >= 0; shift -= 3) { // in a shifted grid some entries do not fit, which their distances do not tell
    PetscInt ends = 0;

    near[3] = 0;
    PolderGridPlaces_Host(A->n, shift, PETSC_TRUE, A->i, A->j, near, place[0], &ends);
    PetscCall(PolderDeviceFromHost(there, &zero, sizeof(zero)));
    PolderGridPlaces_Host(A->n, shift, PETSC_FALSE, A->i, A->j, near, place[0], &near[3]);
    PolderLaunch(PolderGridPlaces_CUDA(A->n, shift, (PetscBool)(shift > 0), A->di, A->dj, near, place[1], there, stream));
    PetscCall(PolderDeviceToHost(&bad, there, sizeof(bad)));
    PetscCall(PolderDeviceToHost(copy, place[1], sizeof(*copy) * (size_t)A->n));
    *wrong += bad != near[3];
    *wrong += ends != near[3];
    for (PetscInt i = 0; i < A->n; ++i) *wrong += copy[i] != place[0][i];
  }
  *wrong += bad != 0;
  PetscCall(PetscFree(copy));
  PetscCall(PolderDeviceFree(&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGraph(size_t g, PetscInt n, PetscReal kappa, PetscBool outside, PolderStream stream, PetscInt *wrong)
{
  const size_t   bytes = sizeof(PetscInt) * (size_t)n;
  Rows           A;
  Indices        mate, join;
  PetscInt      *begin;
  Values         d, sum;
  PolderPairRule rule[2];
  PetscInt64    *place[2] = {NULL, NULL};

  PetscFunctionBeginUser;
  PetscCall(RowsCreate(n, Graphs[g].couples, Graphs[g].reach, &A));
  PetscCall(CreateIndices(n, &mate));
  PetscCall(CreateIndices(n, &join));
  PetscCall(CreateValues(n, &d));
  PetscCall(CreateValues(n, &sum));
  PetscCall(TestLevelRows(&A, &mate, &d, &sum, stream, wrong));
  if (Graphs[g].grid) PetscCall(TestPlaces(&A, place, stream, wrong));
  rule[0] = (PolderPairRule){.place = place[0], .threshold = 0.25, .kappa = kappa};
  rule[1] = (PolderPairRule){.place = place[1], .threshold = 0.25, .kappa = kappa};
  if (kappa > 0) {
    rule[0].d = d.h;
    rule[1].d = d.d;
    rule[0].s = sum.h;
    rule[1].s = sum.d;
  }
  if (outside) { // couplings to other processes as large as the diagonal
    rule[0].outside = d.h;
    rule[1].outside = d.d;
  }
  PetscCall(PetscMalloc1(n, &begin));
  PetscCall(PetscArraycpy(begin, mate.h, n));
  for (int way = 0; way < 3 && !*wrong; ++way) {
    PetscCall(PetscArraycpy(mate.h, begin, n));
    PetscCall(PolderDeviceFromHost(mate.d, begin, bytes));
    PetscCall(TestMatching(&A, rule, (PetscBool)(way == 1), way ? 11 : 0, &mate, &join, stream, wrong));
  }
  PetscCall(PetscFree(begin));
  if (!*wrong) PetscCall(TestNumbers(&A, place, &d, &sum, &mate, &join, stream, wrong));
  PetscCall(PetscFree(place[0]));
  PetscCall(PolderDeviceFree(&place[1]));
  PetscCall(DestroyIndices(&mate));
  PetscCall(DestroyIndices(&join));
  PetscCall(DestroyValues(&d));
  PetscCall(DestroyValues(&sum));
  PetscCall(RowsDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGraphs(PETSC_UNUSED void *work, PolderStream stream)
{
  const size_t nsizes = PETSC_STATIC_ARRAY_LENGTH(Sizes) - (small ? 4 : 0);

  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(Graphs); ++g) {
    PetscInt wrong = 0;

    for (size_t s = 0; s < nsizes; ++s) {
      const PetscInt n = Graphs[g].reach ? Sizes[s] : PetscMin(Sizes[s], mostrows);

      PetscCall(TestGraph(g, n, 0, PETSC_FALSE, stream, &wrong));
      PetscCall(TestGraph(g, n, 0, PETSC_TRUE, stream, &wrong));
      PetscCall(TestGraph(g, n, 8, PETSC_FALSE, stream, &wrong));
    }
    PetscCall(Report(Graphs[g].name, wrong));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestGraphs}};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck racecheck
    suffix: small
    requires: cuda
    args: -small
    output_file: output/devicepairs_1.out

TEST*/
