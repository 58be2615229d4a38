/* Row bodies of the sweeps by levels that host and device share. */
#pragma once

#include "launcher.h"
#include "views.h"

/* Entry k of the row at place p is at start[p / 32] + 32 k + p % 32 */
#define POLDER_SWEEP_SLICE 32

/* A pivot of at most this times the diagonal entry of the matrix counts as zero */
#define POLDER_SWEEP_PIVOT 1e-10

enum {
  POLDER_SWEEP_LOWER,
  POLDER_SWEEP_UPPER
};

typedef struct {
  PetscInt     n, nz;    /* rows; entries of both triangles, with those that only fill slices */
  PetscBool    fill;     /* there are entries that the matrix does not have */
  PetscInt    *row;      /* [n] the row at each place, in the order of levels */
  PetscInt    *place;    /* [n] the place of each row */
  PetscInt    *start[2]; /* lower, upper: [slices + 1] */
  PetscInt    *col;      /* [nz] rows in the order of places, then ghosts, from n on, ascending; -1: the row has no more entries */
  PetscScalar *val;      /* [nz + n] the entries, and the inverse diagonal by places */
  PetscInt    *where;    /* host, while rows are eliminated: a zero for each row, and again afterwards; else NULL */
} PolderSweep;

POLDER_BODY PetscInt PolderSweepSlices(PetscInt n)
{
  return (n + POLDER_SWEEP_SLICE - 1) / POLDER_SWEEP_SLICE;
}

/* The pattern before it is ordered: row i has the columns j[begin[i]] .. j[end[i] - 1], perhaps its own among them, and those of ghosts bj[bi[i]] ..
   bj[bi[i + 1] - 1], which ascend; bi = NULL: none */
typedef struct {
  const PetscInt *begin, *end, *j, *bi, *bj;
  const PetscInt *level; /* of each row and then of each ghost; entries within a level are left out */
} PolderSweepEntries;

/* The entries of row i in each triangle */
POLDER_BODY void PolderSweepCount(const PolderSweepEntries *E, PetscInt n, PetscInt i, PetscInt count[2])
{
  const PetscInt own = E->level[i];

  count[0] = count[1] = 0;
  for (PetscInt k = E->begin[i]; k < E->end[i]; ++k) {
    count[0] += E->level[E->j[k]] < own;
    count[1] += E->level[E->j[k]] > own;
  }
  for (PetscInt k = E->bi ? E->bi[i] : 0; E->bi && k < E->bi[i + 1]; ++k) {
    count[0] += E->level[n + E->bj[k]] < own;
    count[1] += E->level[n + E->bj[k]] > own;
  }
}

/* The columns of the row at place p */
POLDER_BODY void PolderSweepColumns(const PolderSweepEntries *E, const PolderSweep *S, PetscInt p)
{
  const PetscInt i = S->row[p], own = E->level[i], slice = p / POLDER_SWEEP_SLICE;
  const PetscInt first[2] = {S->start[0][slice] + p % POLDER_SWEEP_SLICE, S->start[1][slice] + p % POLDER_SWEEP_SLICE};
  PetscInt       at[2] = {first[0], first[1]}, most[2] = {-1, -1};

  for (PetscInt k = E->begin[i]; k < E->end[i]; ++k) {
    const PetscInt j = E->j[k], level = E->level[j], t = level > own, q = S->place[j];
    PetscInt       e = at[t];

    if (level == own) continue;
    at[t] += POLDER_SWEEP_SLICE;
    if (q < most[t]) { // mostly the places ascend as the columns do
      for (; e > first[t] && S->place[S->col[e - POLDER_SWEEP_SLICE]] > q; e -= POLDER_SWEEP_SLICE) S->col[e] = S->col[e - POLDER_SWEEP_SLICE];
    } else most[t] = q;
    S->col[e] = j;
  }
  for (PetscInt k = E->bi ? E->bi[i] : 0; E->bi && k < E->bi[i + 1]; ++k) {
    const PetscInt level = E->level[S->n + E->bj[k]], t = level > own;

    if (level == own) continue;
    S->col[at[t]] = S->n + E->bj[k];
    at[t] += POLDER_SWEEP_SLICE;
  }
  for (int t = 0; t < 2; ++t) {
    for (PetscInt e = at[t]; e < S->start[t][slice + 1]; e += POLDER_SWEEP_SLICE) S->col[e] = -1;
  }
}

/* Puts the value of column j into the row at place p; *e: where it probably belongs, and then the entry behind it. PETSC_FALSE: the triangle has no such
   column */
POLDER_BODY PetscBool PolderSweepPut(const PolderSweep *S, int triangle, PetscInt p, PetscInt j, PetscScalar value, PetscInt *e)
{
  const PetscInt slice = p / POLDER_SWEEP_SLICE, first = S->start[triangle][slice] + p % POLDER_SWEEP_SLICE, end = S->start[triangle][slice + 1];

  if (*e >= end || S->col[*e] != j) {
    const PetscInt key = j < S->n ? S->place[j] : j;
    PetscInt       low = 0, high = (end - first + POLDER_SWEEP_SLICE - 1) / POLDER_SWEEP_SLICE;

    while (low < high) { // the first column that does not come before j
      const PetscInt middle = (low + high) / 2, c = S->col[first + middle * POLDER_SWEEP_SLICE];

      if (c >= 0 && (c < S->n ? S->place[c] : c) < key) low = middle + 1;
      else high = middle;
    }
    low = first + low * POLDER_SWEEP_SLICE;
    if (low >= end || S->col[low] != j) return PETSC_FALSE;
    *e = low;
  }
  S->val[*e] = value;
  *e += POLDER_SWEEP_SLICE;
  return PETSC_TRUE;
}

/* The values of row i, which is at place p, from its own rows by where[], whose other entries are out of the range of this row */
POLDER_BODY void PolderSweepLookUp(const PolderSweep *S, PetscInt i, PetscInt p, const PolderRows *own)
{
  const PetscInt slice = p / POLDER_SWEEP_SLICE, begin = own->i[i], end = own->i[i + 1];

  for (PetscInt k = begin; k < end; ++k) S->where[own->j[k]] = k + 1;
  for (int t = 0; t < 2; ++t) {
    for (PetscInt e = S->start[t][slice] + p % POLDER_SWEEP_SLICE; e < S->start[t][slice + 1] && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) {
      const PetscInt k = S->col[e] < S->n ? S->where[S->col[e]] : 0;

      S->val[e] = k > begin && k <= end ? own->a[k - 1] : 0;
    }
  }
  S->val[S->nz + p] = S->where[i] > begin && S->where[i] <= end ? own->a[S->where[i] - 1] : 0;
}

/* The same by searches */
POLDER_BODY void PolderSweepSearch(const PolderSweep *S, PetscInt i, PetscInt p, const PolderRows *own)
{
  const PetscInt slice    = p / POLDER_SWEEP_SLICE;
  PetscInt       at[2]    = {S->start[0][slice] + p % POLDER_SWEEP_SLICE, S->start[1][slice] + p % POLDER_SWEEP_SLICE};
  PetscScalar    diagonal = 0;

  for (int t = 0; t < 2; ++t) {
    for (PetscInt e = at[t]; e < S->start[t][slice + 1]; e += POLDER_SWEEP_SLICE) S->val[e] = 0;
  }
  for (PetscInt k = own->i[i]; k < own->i[i + 1]; ++k) {
    const PetscInt j = own->j[k], t = S->place[j] > p;

    if (j == i) diagonal = own->a[k];
    else (void)PolderSweepPut(S, t, p, j, own->a[k], &at[t]);
  }
  S->val[S->nz + p] = diagonal;
}

/* The values of the row at place p from those of the matrix; entries that it does not have are zero */
POLDER_BODY void PolderSweepValuesRow(const PolderSweep *S, PetscInt p, const PolderRows *own, const PolderRows *ghosts)
{
  const PetscInt i = S->row[p], slice = p / POLDER_SWEEP_SLICE;
  PetscInt       at[2] = {S->start[0][slice] + p % POLDER_SWEEP_SLICE, S->start[1][slice] + p % POLDER_SWEEP_SLICE};

  if (S->where) PolderSweepLookUp(S, i, p, own);
  else PolderSweepSearch(S, i, p, own);
  for (PetscInt k = ghosts->i ? ghosts->i[i] : 0; ghosts->i && k < ghosts->i[i + 1]; ++k) {
    for (int t = 0; t < 2 && !PolderSweepPut(S, t, p, S->n + ghosts->j[k], ghosts->a[k], &at[t]);) ++t;
  }
}

/* The sum of the entries of a triangle times x, at place p */
POLDER_BODY PetscScalar PolderSweepSum(const PolderSweep *S, int triangle, PetscInt p, const PetscScalar x[])
{
  const PetscInt slice = p / POLDER_SWEEP_SLICE, end = S->start[triangle][slice + 1];
  PetscScalar    sum = 0;

  for (PetscInt e = S->start[triangle][slice] + p % POLDER_SWEEP_SLICE; e < end && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) sum += S->val[e] * x[S->col[e]];
  return sum;
}

/* Moves e, an entry of the row at place p in triangle *t, on to the first entry whose place is not below `place`; PETSC_FALSE: it is not at that place */
POLDER_BODY PetscBool PolderSweepSeek(const PolderSweep *S, PetscInt p, PetscInt place, int *t, PetscInt *e)
{
  const PetscInt slice = p / POLDER_SWEEP_SLICE;

  if (*t == POLDER_SWEEP_LOWER && place > p) { // the lower ones are all below
    *t = POLDER_SWEEP_UPPER;
    *e = S->start[POLDER_SWEEP_UPPER][slice] + p % POLDER_SWEEP_SLICE;
  }
  for (;;) {
    const PetscBool end = (PetscBool)(*e >= S->start[*t][slice + 1] || S->col[*e] < 0);

    if (!end && S->place[S->col[*e]] >= place) return (PetscBool)(S->place[S->col[*e]] == place);
    if (!end) *e += POLDER_SWEEP_SLICE;
    else if (*t == POLDER_SWEEP_UPPER) return PETSC_FALSE;
    else {
      *t = POLDER_SWEEP_UPPER;
      *e = S->start[POLDER_SWEEP_UPPER][slice] + p % POLDER_SWEEP_SLICE;
    }
  }
}

/* Tells where[] the entries of the row at place p, or makes it zero again */
POLDER_BODY void PolderSweepMark(const PolderSweep *S, PetscInt p, PetscBool set)
{
  const PetscInt slice = p / POLDER_SWEEP_SLICE;

  for (int t = 0; t < 2; ++t) {
    for (PetscInt e = S->start[t][slice] + p % POLDER_SWEEP_SLICE; e < S->start[t][slice + 1] && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) {
      if (S->col[e] < S->n) S->where[S->col[e]] = set ? e + 1 : 0;
    }
  }
}

/* Subtracts a multiple of the row at place q from the row at place p, whose entry `at` is that in column q and whose diagonal entry is *d. The entries of both
   rows ascend by places */
POLDER_BODY void PolderSweepEliminate(const PolderSweep *S, PetscInt p, PetscInt q, PetscInt at, PetscReal omega, PetscScalar *d)
{
  const PetscInt    slice = q / POLDER_SWEEP_SLICE, *start = S->start[POLDER_SWEEP_UPPER];
  const PetscScalar factor = S->val[at] * S->val[S->nz + q];
  int               t      = POLDER_SWEEP_LOWER;

  for (PetscInt e = start[slice] + q % POLDER_SWEEP_SLICE; e < start[slice + 1] && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) {
    const PetscInt    i = S->col[e];
    const PetscScalar w = factor * S->val[e];
    PetscBool         has;

    if (i == S->row[p]) {
      *d -= w;
      continue;
    }
    if (S->where) {
      has = (PetscBool)(i < S->n && S->where[i]);
      at  = has ? S->where[i] - 1 : at;
    } else has = PolderSweepSeek(S, p, S->place[i], &t, &at);
    if (has) S->val[at] -= w;
    else *d -= omega * w;
  }
}

/* The factors of the row at place p; PETSC_FALSE when its pivot is not positive */
POLDER_BODY PetscBool PolderSweepFactorRow(const PolderSweep *S, PetscInt p, PetscInt eliminate, PetscReal omega)
{
  const PetscInt    slice = p / POLDER_SWEEP_SLICE, *start = S->start[POLDER_SWEEP_LOWER];
  const PetscScalar diagonal = S->val[S->nz + p];
  PetscScalar       d        = diagonal;
  PetscBool         good;

  if (eliminate && S->where) PolderSweepMark(S, p, PETSC_TRUE);
  for (PetscInt e = start[slice] + p % POLDER_SWEEP_SLICE; eliminate && e < start[slice + 1] && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) {
    const PetscInt q = S->col[e] < S->n ? S->place[S->col[e]] : S->n;

    if (q >= eliminate) break; // the places ascend
    PolderSweepEliminate(S, p, q, e, omega, &d);
  }
  if (eliminate && S->where) PolderSweepMark(S, p, PETSC_FALSE);
  good              = (PetscBool)(d > POLDER_SWEEP_PIVOT * diagonal && 1 / d < PETSC_MAX_REAL);
  S->val[S->nz + p] = good ? 1 / d : 0;
  return good;
}
