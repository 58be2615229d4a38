/* Pairwise aggregation: pairs of strongly coupled rows, found in parallel rounds or one after another, and the numbering of the aggregates. */
#include "pairs.h"

void PolderPairsOutside_Host(PetscInt n, const PetscInt bi[], const PetscScalar ba[], PetscReal outside[])
{
  for (PetscInt i = 0; i < n; ++i) {
    outside[i] = 0;
    for (PetscInt k = bi[i]; k < bi[i + 1]; ++k) outside[i] = PetscMax(outside[i], -PetscRealPart(ba[k]));
  }
}

void PolderPairsPropose_Host(const PolderRows *A, PolderRowList rows, const PolderPairRule *rule, const PetscInt mate[], PetscInt next[])
{
  for (PetscInt k = 0; k < rows.n; ++k) {
    const PetscInt i = rows.row ? rows.row[k] : k;

    next[i] = mate[i] == POLDER_PAIR_FREE ? PolderPairPropose(i, A, rule, mate) : POLDER_PAIR_NONE;
  }
}

void PolderPairsMatch_Host(PolderRowList rows, const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count)
{
  PetscInt nleft = 0;

  for (PetscInt k = 0; k < rows.n; ++k) {
    const PetscInt i = rows.row ? rows.row[k] : k;

    if (PolderPairMatch(i, next, mate)) left[nleft++] = i;
  }
  *count = nleft;
}

void PolderPairsRounds_Host(const PolderRows *A, PolderRowList rows, const PetscInt *there, PetscInt few, const PolderPairRule *rule, PetscInt rounds,
                            PetscInt mate[], PetscInt next[], PetscInt *const left[2], PETSC_UNUSED PetscInt seen[])
{
  if (there) rows.n = *there;
  if (there && rows.n < few) rounds = 0;
  for (PetscInt round = 0; rows.n && round < rounds; ++round) {
    PolderPairsPropose_Host(A, rows, rule, mate, next);
    PolderPairsMatch_Host(rows, next, mate, left[round % 2], &rows.n);
    rows.row = left[round % 2];
  }
  for (PetscInt k = 0; k < rows.n; ++k) {
    const PetscInt i = rows.row ? rows.row[k] : k;

    if (mate[i] == POLDER_PAIR_FREE) mate[i] = i;
  }
}

void PolderPairsDirections_Host(PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3])
{
  for (int d = 0; d < 3; ++d) count[d] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    const int d = next[i] >= 0 ? PolderPairDirection(rule->place[i], rule->place[next[i]]) : -1;

    if (d >= 0) ++count[d];
  }
}

void PolderPairsAlign_Host(const PolderRows *A, const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[])
{
  const int direction = PolderPairMostWanted(count);

  for (PetscInt i = 0; i < A->n; ++i) {
    if (next[i] >= 0 && PolderPairOrder(i, next[i], rule->place) != PolderPairLined(direction)) {
      const PolderPairOffer offer = PolderPairLookAlong(i, 0, 1, A, rule, mate, direction);

      next[i] = PolderPairTakeAlong(i, rule, &offer);
    }
  }
}

void PolderPairsNextPlaces_Host(PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3],
                                const PetscInt64 place[], PetscInt64 next[])
{
  const int direction = PolderPairMostWanted(count);

  for (PetscInt i = 0; i < m; ++i) {
    if (PolderPairLeads(i, mate, join)) next[agg[i]] = PolderPairPlace(place[i], direction);
  }
}

void PolderPairsJoin_Host(const PolderRows *A, const PolderPairRule *rule, const PetscInt mate[], PetscInt join[])
{
  for (PetscInt i = 0; i < A->n; ++i) {
    PolderPairOffer offer;

    join[i] = i;
    if (mate[i] != i) continue;
    offer   = PolderPairLookJoin(i, 0, 1, A, rule, mate);
    join[i] = PolderPairTakeJoin(i, rule, &offer, mate);
  }
}

void PolderPairsNumber_Host(PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count)
{
  PetscInt n = 0;

  for (PetscInt i = 0; i < m; ++i) {
    if (PolderPairLeads(i, mate, join)) agg[i] = n++;
  }
  for (PetscInt i = 0; i < m; ++i) {
    if (mate[i] < 0) agg[i] = n;
    else if (mate[i] < i) agg[i] = agg[mate[i]];
  }
  for (PetscInt i = 0; join && i < m; ++i) {
    if (join[i] != i) agg[i] = agg[join[i]];
  }
  *count = n;
}

void PolderPairsCompose_Host(PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, const PetscInt agg[], PetscInt to[])
{
  for (PetscInt i = 0; i < m; ++i) to[i] = agg[i] < n ? next[agg[i]] : nc;
}

/*
  Doubly linked lists of the free rows by their number of free strong neighbours; within a list the smallest row comes first, as long as the numbers only
  decrease
*/
static inline void PairsUnlink(PetscInt i, PetscInt c, PetscInt head[], PetscInt before[], PetscInt after[])
{
  if (before[i] >= 0) after[before[i]] = after[i];
  else head[c] = after[i];
  if (after[i] >= 0) before[after[i]] = before[i];
}

static inline void PairsLink(PetscInt i, PetscInt c, PetscInt head[], PetscInt before[], PetscInt after[])
{
  before[i] = -1;
  after[i]  = head[c];
  if (head[c] >= 0) before[head[c]] = i;
  head[c] = i;
}

static inline PetscReal PairsStrongest(PetscInt i, const PolderRows *A, const PolderPairRule *rule)
{
  PetscReal strongest = PolderPairOutside(i, rule);

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    if (A->j[k] != i) strongest = PetscMax(strongest, -PetscRealPart(A->a[k]));
  }
  return strongest;
}

void PolderPairsGreedy_Host(const PolderRows *A, const PolderPairRule *rule, PetscInt most, PetscInt mate[], PetscInt work[])
{
  const PetscInt     m = A->n, *ai = A->i, *aj = A->j;
  const PetscScalar *aa    = A->a;
  PetscInt          *count = work, *before = work + m, *after = work + 2 * m, *head = work + 3 * m, lowest = 0;

  for (PetscInt c = 0; c <= most; ++c) head[c] = -1;
  for (PetscInt i = 0; i < m; ++i) count[i] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    const PetscReal least = rule->threshold * PairsStrongest(i, A, rule);

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (aj[k] != i && -PetscRealPart(aa[k]) > 0 && -PetscRealPart(aa[k]) >= least && count[aj[k]] < most) ++count[aj[k]];
    }
  }
  for (PetscInt i = m - 1; i >= 0; --i) {
    if (mate[i] == POLDER_PAIR_FREE) PairsLink(i, count[i], head, before, after);
  }
  while (lowest <= most) {
    const PetscInt i = head[lowest];
    PetscInt       pair[2], n = 1;

    if (i < 0) {
      ++lowest;
      continue;
    }
    pair[0] = i;
    pair[1] = PolderPairPropose(i, A, rule, mate);
    if (pair[1] >= 0) n = 2;
    for (PetscInt l = 0; l < n; ++l) {
      PairsUnlink(pair[l], count[pair[l]], head, before, after);
      mate[pair[l]] = pair[n - 1 - l];
    }
    for (PetscInt l = 0; l < n; ++l) {
      const PetscReal least = rule->threshold * PairsStrongest(pair[l], A, rule);

      for (PetscInt k = ai[pair[l]]; k < ai[pair[l] + 1]; ++k) {
        const PetscInt  j = aj[k];
        const PetscReal a = -PetscRealPart(aa[k]);

        if (mate[j] != POLDER_PAIR_FREE || !(a > 0) || a < least || !count[j]) continue;
        PairsUnlink(j, count[j], head, before, after);
        PairsLink(j, --count[j], head, before, after);
        lowest = PetscMin(lowest, count[j]);
      }
    }
  }
}

void PolderMembers_Host(const PolderAggregates *P)
{
  const PetscInt  m = P->m, n = P->n, *agg = P->agg;
  PetscInt *const ptr = P->ptr, *const row = P->row;

  for (PetscInt a = 0; a <= n + 1; ++a) ptr[a] = 0;
  for (PetscInt i = 0; i < m; ++i) ++ptr[agg[i] + 1];
  for (PetscInt a = 0; a <= n; ++a) ptr[a + 1] += ptr[a];
  for (PetscInt i = 0; i < m; ++i) row[ptr[agg[i]]++] = i;
  for (PetscInt a = n + 1; a > 0; --a) ptr[a] = ptr[a - 1];
  ptr[0] = 0;
  for (PetscInt k = 0; P->at && k < m; ++k) P->at[row[k]] = k;
}
