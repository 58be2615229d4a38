/* Host kernels that pair rows and that sum the entries of aggregates. */
#include "level.h"
#include "kernels/galerkin.h"

/* Partners are symmetric and strong, also beside what couples a row to other processes (outside, NULL for none) */
static PetscErrorCode CheckMates(const Level *L, const PetscReal outside[], PetscBool greedy, const PetscInt mate[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < L->n; ++i) {
    PetscReal strongest = outside ? outside[i] : 0, mine = 0;

    PetscCheck((mate[i] == POLDER_PAIR_LONE) == (i % 11 == 5), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has the partner %" PetscInt_FMT, i,
               mate[i]);
    if (mate[i] < 0) continue;
    PetscCheck(mate[mate[i]] == i, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has the partner %" PetscInt_FMT " who has %" PetscInt_FMT, i,
               mate[i], mate[mate[i]]);
    for (PetscInt k = L->ai[i]; k < L->ai[i + 1]; ++k) {
      if (L->aj[k] == i) continue;
      strongest = PetscMax(strongest, -PetscRealPart(L->aa[k]));
      if (L->aj[k] == mate[i]) mine = -PetscRealPart(L->aa[k]);
    }
    // the greedy matching asks the row that chooses only
    if (mate[i] != i && !greedy)
      PetscCheck(mine >= 0.25 * strongest && mine > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has a weak partner", i);
  }
  PetscFunctionReturn(0);
}

/* Aggregates are the pairs and the rows alone, in the order of their first rows; count[] is a work array */
static PetscErrorCode CheckNumbers(PetscInt n, const PetscInt mate[], PetscInt nc, const PetscInt agg[], PetscInt count[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(count, n + 1));
  for (PetscInt i = 0, last = -1; i < n; ++i) {
    PetscCheck(agg[i] >= 0 && agg[i] <= nc && (agg[i] == nc) == (mate[i] < 0) && (mate[i] < 0 || agg[mate[i]] == agg[i]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Row %" PetscInt_FMT " is in aggregate %" PetscInt_FMT " of %" PetscInt_FMT, i, agg[i], nc);
    if (!count[agg[i]]++ && agg[i] < nc) {
      PetscCheck(agg[i] == last + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Aggregates are not numbered by their first rows");
      ++last;
    }
  }
  for (PetscInt a = 0; a < nc; ++a)
    PetscCheck(count[a] == 1 || count[a] == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An aggregate of %" PetscInt_FMT " rows", count[a]);
  PetscFunctionReturn(0);
}

/* mate[] is symmetric, along couplings that are strong also beside those of every third row to other processes, and leaves no two free
   neighbours that want each other; agg[] numbers it */
PetscErrorCode TestPairs(const Level *L, PetscBool greedy, PetscBool scattered)
{
  const PetscInt   n    = L->n;
  PolderPairRule   rule = {.threshold = 0.25};
  const PolderRows A    = {.n = n, .i = L->ai, .j = L->aj, .a = L->aa};
  PetscReal       *outside;
  PetscInt        *mate, *next, *left, *agg, *work, *count, nleft = n, nc, rounds = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc6(n, &mate, n, &next, n, &left, n, &agg, 3 * n + 65, &work, n + 1, &count));
  PetscCall(PetscMalloc1(n, &outside));
  for (PetscInt i = 0; i < n; ++i) outside[i] = i % 3 ? 0 : 2;
  if (scattered) rule.outside = outside;
  for (PetscInt i = 0; i < n; ++i) mate[i] = i % 11 == 5 ? POLDER_PAIR_LONE : POLDER_PAIR_FREE;
  if (greedy) PolderPairsGreedy_Host(&A, &rule, 64, mate, work);
  else {
    for (; nleft && rounds < 1000; ++rounds) {
      const PolderRowList rows = {nleft, rounds ? left : NULL};

      PolderPairsPropose_Host(&A, rows, &rule, mate, next);
      PolderPairsMatch_Host(rows, next, mate, left, &nleft);
    }
    PetscCheck(!nleft, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " of %" PetscInt_FMT " rows are free after %" PetscInt_FMT " rounds", nleft, n,
               rounds);
  }
  PetscCall(CheckMates(L, rule.outside, greedy, mate));
  PolderPairsJoin_Host(&A, &rule, mate, next);
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal mine = 0;

    for (PetscInt k = L->ai[i]; k < L->ai[i + 1]; ++k) {
      if (L->aj[k] == next[i]) mine = -PetscRealPart(L->aa[k]);
    }
    PetscCheck(next[i] == i || (mate[i] == i && mate[next[i]] >= 0 && mate[next[i]] != next[i] && mine > 0 && mine >= (scattered ? outside[i] : 0)),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " joins row %" PetscInt_FMT, i, next[i]);
  }
  PolderPairsNumber_Host(n, mate, NULL, agg, &nc);
  PetscCall(CheckNumbers(n, mate, nc, agg, count));
  PetscCall(PetscFree(outside));
  PetscCall(PetscFree6(mate, next, left, agg, work, count));
  PetscFunctionReturn(0);
}

/* Row sums and symmetry survive, nothing weak is left beside the diagonal, and new values find their way */
static PetscErrorCode TestDrop(const Level *L, const PolderAggregates *P, PetscInt place[], const PolderSparseRows *C)
{
  const PolderRows A = {.n = L->n, .i = L->ai, .j = L->aj, .a = L->aa};
  PetscInt *const ci = C->ptr, *const cj = C->col;
  PetscScalar *const ca   = C->val;
  const PetscInt     n    = L->nc;
  const PetscReal    drop = 0.1;
  PetscInt           nz   = ci[n];
  PetscReal         *d;
  PetscScalar       *sum, *again;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc3(n, &d, n, &sum, nz, &again));
  for (PetscInt a = 0; a < n; ++a) {
    for (PetscInt k = ci[a]; k < ci[a + 1]; ++k) sum[a] += ca[k];
  }
  nz = PolderDropWeak_Host(n, drop, d, ci, cj, ca);
  PetscCheck(nz == ci[n], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries, not %" PetscInt_FMT, nz, ci[n]);
  for (PetscInt a = 0; a < n; ++a) {
    for (PetscInt k = ci[a]; k < ci[a + 1]; ++k) {
      sum[a] -= ca[k];
      PetscCheck(cj[k] == a || PetscAbsScalar(ca[k]) > drop * PetscMin(d[a], d[cj[k]]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "A weak entry is left in row %" PetscInt_FMT, a);
    }
    PetscCheck(PetscAbsScalar(sum[a]) <= 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The sum of row %" PetscInt_FMT " has changed by %g", a,
               (double)PetscAbsScalar(sum[a]));
  }
  PolderGalerkinValues_Host(P, &A, n, L->agg, PETSC_TRUE, place, &(PolderSparseRows){.n = n, .ptr = ci, .col = cj, .val = again});
  PetscCall(Compare("values without weak ones", L->n, 0, nz, again, ca));
  PetscCall(PetscFree3(d, sum, again));
  PetscFunctionReturn(0);
}

/* P^T A P against a dense sum, then its values alone */
PetscErrorCode TestGalerkin(const Level *L)
{
  const PetscInt   n = L->n, nc = L->nc, nz = L->ai[n];
  const PolderRows A = {.n = n, .i = L->ai, .j = L->aj, .a = L->aa};
  PolderAggregates P;
  PolderSparseRows C;
  PetscInt        *ptr, *row, *place, *ci, *cj, most;
  PetscScalar     *dense, *ca, *again;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(nc + 2, &ptr, n, &row, nc, &place, nc + 1, &ci, nz, &cj));
  PetscCall(PetscMalloc2(nz, &ca, nz, &again));
  PetscCall(PetscCalloc1((size_t)nc * nc, &dense));
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt k = L->ai[i]; k < L->ai[i + 1]; ++k) {
      if (L->agg[i] < nc && L->agg[L->aj[k]] < nc) dense[(size_t)L->agg[i] * nc + L->agg[L->aj[k]]] += L->aa[k];
    }
  }
  P = (PolderAggregates){n, nc, L->agg, ptr, row, NULL};
  C = (PolderSparseRows){.n = nc, .ptr = ci, .col = cj, .val = ca};
  PolderMembers_Host(&P);
  for (PetscInt a = 0; a <= nc; ++a) {
    for (PetscInt k = ptr[a]; k < ptr[a + 1]; ++k)
      PetscCheck(L->agg[row[k]] == a && (k == ptr[a] || row[k] > row[k - 1]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Aggregate %" PetscInt_FMT " has the row %" PetscInt_FMT, a, row[k]);
  }
  Poison(nz, ca);
  most = PolderGalerkin_Host(&P, &A, nc, L->agg, PETSC_TRUE, place, &C);
  PetscCheck(most == ci[nc], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries, not %" PetscInt_FMT, most, ci[nc]);
  Poison(nz, again);
  PolderGalerkinValues_Host(&P, &A, nc, L->agg, PETSC_TRUE, place, &(PolderSparseRows){.n = nc, .ptr = ci, .col = cj, .val = again});
  PetscCall(Compare("values", n, 0, most, again, ca));
  for (PetscInt a = 0; a < nc; ++a) {
    for (PetscInt k = ci[a]; k < ci[a + 1]; ++k) {
      PetscCheck(k == ci[a] || cj[k] > cj[k - 1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Columns of row %" PetscInt_FMT " do not ascend", a);
      dense[(size_t)a * nc + cj[k]] -= ca[k];
    }
  }
  for (size_t k = 0; k < (size_t)nc * nc; ++k)
    PetscCheck(PetscAbsScalar(dense[k]) <= 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "P^T A P of %" PetscInt_FMT " rows is off by %g", n,
               (double)PetscAbsScalar(dense[k]));
  PetscCall(TestDrop(L, &P, place, &C));
  PetscCall(PetscFree5(ptr, row, place, ci, cj));
  PetscCall(PetscFree2(ca, again));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(0);
}
