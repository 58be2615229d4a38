/* Exact elimination of rows with few neighbours, in rounds. */
#include "eliminate.h"
#include "excessrow.h"
#include "pairrow.h"

void PolderShortRows_Host(PetscInt n, const PetscInt ai[], const PetscInt bi[], PetscInt most, PetscInt *count)
{
  *count = 0;
  for (PetscInt i = 0; i < n; ++i) *count += ai[i + 1] - ai[i] > 1 && PolderShortRow(i, ai, bi, most);
}

/* Does row i come before row j, which both could be eliminated? */
static inline PetscBool EliminateBefore(PetscInt i, PetscInt j, const PetscInt ai[])
{
  const PetscInt own = ai[i + 1] - ai[i], other = ai[j + 1] - ai[j];
  const unsigned h = PolderPairOrder(i, i, NULL), g = PolderPairOrder(j, j, NULL);

  return (PetscBool)(own != other ? own < other : h != g ? h < g : i < j);
}

PetscInt PolderEliminateChoose_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt most, const PetscBool fixed[], PetscInt next[])
{
  PetscInt left = 0;

  for (PetscInt i = 0; i < n; ++i) {
    PetscBool first = (PetscBool)(!fixed[i] && PolderShortRow(i, ai, NULL, most));

    for (PetscInt k = ai[i]; first && k < ai[i + 1]; ++k) {
      const PetscInt j = aj[k];

      if (j != i && !fixed[j] && PolderShortRow(j, ai, NULL, most)) first = EliminateBefore(i, j, ai);
    }
    next[i] = first ? -1 : left++;
  }
  return left;
}

void PolderEliminatePivots_Host(const PolderEliminateRows *A, const PetscInt next[], PetscScalar pivot[], PetscBool *negative)
{
  for (PetscInt i = 0; i < A->n; ++i) {
    PetscReal sum = 0, all = 0, d = 0;

    if (next[i] >= 0) continue;
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
      if (A->j[k] == i) d = PetscRealPart(A->a[k]);
      else {
        sum += PetscRealPart(A->a[k]);
        all += PetscAbsScalar(A->a[k]);
      }
    }
    d        = PolderExcessPivot(d, A->excess[i], sum, all, POLDER_EXCESS_ROUNDING * A->size[i]);
    pivot[i] = d != 0 ? 1 / d : 0;
    if (d < 0) *negative = PETSC_TRUE;
  }
}

PetscInt PolderEliminateSpace_Host(PetscInt n, const PetscInt ai[], const PetscInt next[])
{
  PetscInt space = 0;

  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt length = ai[i + 1] - ai[i];

    space += next[i] < 0 ? length * length : length;
  }
  return space;
}

/* Adds an entry to the row of C that began at first; place[] of the matrix's columns are positions in C */
static inline void EliminateAdd(PetscInt j, PetscScalar a, PetscInt first, PetscInt place[], PetscInt *nz, PolderEliminateRows *C)
{
  if (place[j] < first) {
    place[j]  = *nz;
    C->j[*nz] = j;
    C->a[*nz] = 0;
    *nz += 1;
  }
  C->a[place[j]] += a;
}

/* The columns of a row in ascending order: rows are short */
static inline void EliminateSort(PetscInt n, PetscInt j[], PetscScalar a[])
{
  for (PetscInt k = 1; k < n; ++k) {
    const PetscInt    col = j[k];
    const PetscScalar val = a[k];
    PetscInt          l   = k;

    for (; l > 0 && j[l - 1] > col; --l) {
      j[l] = j[l - 1];
      a[l] = a[l - 1];
    }
    j[l] = col;
    a[l] = val;
  }
}

/* What the rows of a round leave to a neighbour of theirs: sums that add to its excess, and to what it loses; *known: all of these have an excess */
typedef struct {
  PetscReal gain, loss;
  PetscBool known;
} EliminateExcess;

/* Adds the part of the row of a round that the coupling a joins to another row: its excess times -a over the pivot; without a pivot its value is zero */
static inline void EliminateLeave(PetscReal a, PetscReal pivot, PetscReal excess, EliminateExcess *sums)
{
  const PetscReal part = pivot > 0 ? -a * pivot * excess : -a;

  if (pivot > 0 && excess < 0) sums->known = PETSC_FALSE;
  else if (part >= 0) sums->gain += part;
  else sums->loss -= part;
}

static inline PetscReal EliminateExcessOf(PetscReal excess, const EliminateExcess *sums)
{
  if (excess < 0 || !sums->known) return POLDER_EXCESS_UNKNOWN;
  return sums->loss > 0 ? PolderExcessLess(excess + sums->gain, sums->loss, sums->loss) : excess + sums->gain;
}

PetscInt PolderEliminateSchur_Host(const PolderEliminateRows *A, const PetscInt next[], const PetscScalar pivot[], PetscInt place[], PolderEliminateRows *C)
{
  PetscInt nz = 0;

  for (PetscInt i = 0; i < C->n; ++i) place[i] = -1;
  for (PetscInt i = 0; i < A->n; ++i) {
    const PetscInt  first = nz;
    EliminateExcess sums  = {0, 0, PETSC_TRUE};

    if (next[i] < 0) continue;
    C->i[next[i]] = first;
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
      const PetscInt f = A->j[k];

      if (next[f] >= 0) EliminateAdd(next[f], A->a[k], first, place, &nz, C);
      else {
        for (PetscInt e = A->i[f]; e < A->i[f + 1]; ++e) {
          if (next[A->j[e]] >= 0) EliminateAdd(next[A->j[e]], -A->a[k] * pivot[f] * A->a[e], first, place, &nz, C);
        }
        EliminateLeave(PetscRealPart(A->a[k]), PetscRealPart(pivot[f]), A->excess[f], &sums);
      }
    }
    EliminateSort(nz - first, C->j + first, C->a + first);
    C->excess[next[i]] = EliminateExcessOf(A->excess[i], &sums);
    C->size[next[i]]   = A->size[i];
  }
  C->i[C->n] = nz;
  return nz;
}

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##_Host
#include "eliminateapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single_Host
#include "eliminateapply.h"
