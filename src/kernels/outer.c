/* Off-process entries stored by the rows that have any: host kernels for the set-up of a level. */
#include "outer.h"
#include "pairrow.h"
#include "outerrow.h"
#include <float.h>

/* A pass of a radix sort: to[] <- from[], pairs of a key and a position, by the digit of key - least that begins at bit `shift`; start[] is scratch */
static void IndexSortPass(PetscInt n, PetscInt least, int shift, size_t values, PetscInt *const from[2], PetscInt *const to[2], PetscInt start[])
{
  PetscInt first = 0;

  for (size_t d = 0; d < values; ++d) start[d] = 0;
  for (PetscInt k = 0; k < n; ++k) ++start[((size_t)from[0][k] - (size_t)least) >> shift & (values - 1)];
  for (size_t d = 0; d < values; ++d) {
    const PetscInt count = start[d];

    start[d] = first;
    first += count;
  }
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt at = start[((size_t)from[0][k] - (size_t)least) >> shift & (values - 1)]++;

    to[0][at] = from[0][k];
    to[1][at] = from[1][k];
  }
}

/* The end of the ascending keys from key[first] on */
static PetscInt IndexRun(PetscInt n, const PetscInt key[], PetscInt first)
{
  while (++first < n && key[first - 1] <= key[first]) { }
  return PetscMin(first, n);
}

/*
  Merges each stretch of ascending keys with those before it that are larger. PETSC_FALSE, with key[] and order[] as before, where these are many in all. They
  are few for the boxes of the cells of a plane: two lines of cells make a line of boxes
*/
static PetscBool IndexMerge(PetscInt n, PetscInt key[], PetscInt order[], PetscInt work[])
{
  PetscInt *to = work, *from = work + n, *tail = work + 2 * n, *tailfrom = tail + n / 2, moved = 0;

  for (PetscInt first = 0, end; first < n; first = end) {
    PetscInt at = first, k = first, t = 0, large;

    end = IndexRun(n, key, first);
    while (at && to[at - 1] > key[first] && first - at < n / 2) --at;
    large = first - at;
    moved += large;
    if (moved > n || large == n / 2) return PETSC_FALSE;
    for (PetscInt l = 0; l < large; ++l) {
      tail[l]     = to[at + l];
      tailfrom[l] = from[at + l];
    }
    for (; at < end; ++at) {
      const PetscBool before = (PetscBool)(k == end || (t < large && tail[t] <= key[k]));

      to[at]   = before ? tail[t] : key[k];
      from[at] = before ? tailfrom[t++] : k++;
    }
  }
  for (PetscInt k = 0; k < n; ++k) {
    key[k]   = to[k];
    order[k] = from[k];
  }
  return PETSC_TRUE;
}

/* A digit has up to n values: keys within a range of n, such as the numbers of aggregates along a boundary, take one or two passes */
void PolderIndexSort_Host(PetscInt n, PetscInt key[], PetscInt order[], PetscInt work[])
{
  PetscInt *pairs[2][2] = {
    {key,  order   },
    {work, work + n}
  };
  PetscInt least = n ? key[0] : 0, most = least;
  int      bits = 1, now = 0;
  size_t   span;

  if (n > 1 && IndexMerge(n, key, order, work)) return;
  for (PetscInt k = 0; k < n; ++k) {
    order[k] = k;
    least    = PetscMin(least, key[k]);
    most     = PetscMax(most, key[k]);
  }
  while (bits < 16 && (n >> bits) > 1) ++bits;
  span = (size_t)most - (size_t)least;
  for (int shift = 0; span; shift += bits, span >>= bits, now = 1 - now)
    IndexSortPass(n, least, shift, (size_t)1 << bits, pairs[now], pairs[1 - now], work + 2 * n);
  for (PetscInt k = 0; now && k < n; ++k) {
    key[k]   = work[k];
    order[k] = work[n + k];
  }
}

void PolderIndexGather_Host(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[])
{
  for (PetscInt k = 0; k < n; ++k) to[k] = from[index[k]];
}

void PolderOuterStrength_Host(const PolderSparseRows *O, PetscReal outside[])
{
  for (PetscInt k = 0; k < O->n; ++k) outside[O->row[k]] = PolderOuterStrongest(O, k);
}

void PolderPairsNextOutside_Host(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[])
{
  for (PetscInt a = 0; a < nc; ++a) {
    next[a] = 0;
    for (PetscInt k = ptr[a]; k < ptr[a + 1]; ++k) next[a] = PetscMax(next[a], outside[row[k]]);
  }
}

void PolderOuterLevelRows_Host(const PolderSparseRows *O, const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad)
{
  PolderLevelSurvey to = *survey;

  to.diag = NULL;
  for (PetscInt k = 0; k < O->n; ++k) {
    const PetscInt        i = O->row[k];
    const PolderRowSurvey s = PolderOuterLook(O, k, A);

    *bad = PetscMin(*bad, PolderRowBad(i, PolderRowJudge(&s, to.zero)));
    PolderRowStore(i, &s, &to);
    *bound = PetscMax(*bound, PolderRowBound(&s));
  }
}

void PolderOuterTotals_Host(const PolderSparseRows *O, const PolderRows *A, PetscBool rows, float to[], int *large)
{
  for (PetscInt k = 0; k < O->n; ++k) {
    PolderRowSurvey s = PolderOuterLook(O, k, A);

    if (!(PetscAbsReal(s.total) <= FLT_MAX)) *large = 1;
    if (!rows) to[O->row[k]] = (float)s.total;
    else if (s.at >= 0) to[s.at] = (float)s.total;
  }
}

void PolderOuterExcess_Host(const PolderSparseRows *C, const PolderSparseRows *O, const PolderAggregates *P, const PetscInt agg[], PetscInt nc,
                            PetscReal excess[], PetscReal here[])
{
  for (PetscInt t = 0; t < C->n; ++t) PolderOuterExcess(t, C, O, P, agg, nc, excess, here);
}
