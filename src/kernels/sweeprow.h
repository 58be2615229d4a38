/* Row bodies of the sweeps by levels that host and device share. */
#pragma once

#include <petscsys.h>

#if defined(__CUDACC__)
  #define POLDER_SWEEP static __host__ __device__ __forceinline__
#else
  #define POLDER_SWEEP static inline
#endif

/* Entry k of the row at place p is at start[p / 32] + 32 k + p % 32 */
#define POLDER_SWEEP_SLICE 32

/* A pivot of at most this times the diagonal entry of the matrix counts as zero */
#define POLDER_SWEEP_PIVOT 1e-10

enum {
  POLDER_SWEEP_LOWER,
  POLDER_SWEEP_UPPER
};

typedef struct {
  PetscInt        n, nz;    /* rows; entries of both triangles, with those that only fill slices */
  const PetscInt *row;      /* [n] the row at each place, in the order of levels */
  const PetscInt *place;    /* [n] the place of each row */
  const PetscInt *start[2]; /* lower, upper: [slices + 1] */
  const PetscInt *col;      /* [nz] in the order of places; from n on: ghosts; -1: the row has no more entries */
  PetscScalar    *val;      /* [nz + n] the entries, and the inverse diagonal by places */
} PolderSweep;

/* The sum of the entries of a triangle times x, at place p */
POLDER_SWEEP PetscScalar PolderSweepSum(const PolderSweep *S, int triangle, PetscInt p, const PetscScalar x[])
{
  const PetscInt slice = p / POLDER_SWEEP_SLICE, end = S->start[triangle][slice + 1];
  PetscScalar    sum = 0;

  for (PetscInt e = S->start[triangle][slice] + p % POLDER_SWEEP_SLICE; e < end && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) sum += S->val[e] * x[S->col[e]];
  return sum;
}

/* Moves e, an entry of the row at place p in triangle *t, on to the first entry whose place is not below `place`; PETSC_FALSE: it is not at that place */
POLDER_SWEEP PetscBool PolderSweepSeek(const PolderSweep *S, PetscInt p, PetscInt place, int *t, PetscInt *e)
{
  const PetscInt slice = p / POLDER_SWEEP_SLICE;

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

/* Subtracts a multiple of the row at place q from the row at place p, whose entry `at` is that in column q and whose diagonal entry is *d. The entries of both
   rows ascend by places */
POLDER_SWEEP void PolderSweepEliminate(const PolderSweep *S, PetscInt p, PetscInt q, PetscInt at, PetscReal omega, PetscScalar *d)
{
  const PetscInt    slice = q / POLDER_SWEEP_SLICE, *start = S->start[POLDER_SWEEP_UPPER];
  const PetscScalar factor = S->val[at] * S->val[S->nz + q];
  int               t      = POLDER_SWEEP_LOWER;

  for (PetscInt e = start[slice] + q % POLDER_SWEEP_SLICE; e < start[slice + 1] && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) {
    const PetscInt    j = S->place[S->col[e]];
    const PetscScalar w = factor * S->val[e];

    if (j == p) *d -= w;
    else if (PolderSweepSeek(S, p, j, &t, &at)) S->val[at] -= w;
    else *d -= omega * w;
  }
}

/* The factors of the row at place p; PETSC_FALSE when its pivot is not positive */
POLDER_SWEEP PetscBool PolderSweepFactorRow(const PolderSweep *S, PetscInt p, PetscInt eliminate, PetscReal omega)
{
  const PetscInt    slice = p / POLDER_SWEEP_SLICE, *start = S->start[POLDER_SWEEP_LOWER];
  const PetscScalar diagonal = S->val[S->nz + p];
  PetscScalar       d        = diagonal;
  PetscBool         good;

  for (PetscInt e = start[slice] + p % POLDER_SWEEP_SLICE; e < start[slice + 1] && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) {
    const PetscInt q = S->col[e] < S->n ? S->place[S->col[e]] : S->n;

    if (q < eliminate) PolderSweepEliminate(S, p, q, e, omega, &d);
  }
  good              = (PetscBool)(d > POLDER_SWEEP_PIVOT * diagonal && 1 / d < PETSC_MAX_REAL);
  S->val[S->nz + p] = good ? 1 / d : 0;
  return good;
}
