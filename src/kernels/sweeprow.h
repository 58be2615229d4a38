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

/* Where the entry (i, j) of the row at place p is; -1: nowhere */
POLDER_SWEEP PetscInt PolderSweepFind(const PolderSweep *S, PetscInt p, PetscInt j)
{
  const PetscInt slice = p / POLDER_SWEEP_SLICE;

  for (int t = 0; t < 2; ++t) {
    for (PetscInt e = S->start[t][slice] + p % POLDER_SWEEP_SLICE; e < S->start[t][slice + 1] && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) {
      if (S->col[e] == j) return e;
    }
  }
  return -1;
}

/* Subtracts l / d_q times the row at place q from the row at place p, whose diagonal entry is *d */
POLDER_SWEEP void PolderSweepEliminate(const PolderSweep *S, PetscInt p, PetscInt q, PetscScalar l, PetscReal omega, PetscScalar *d)
{
  const PetscInt    slice = q / POLDER_SWEEP_SLICE, *start = S->start[POLDER_SWEEP_UPPER];
  const PetscScalar factor = l * S->val[S->nz + q];

  for (PetscInt e = start[slice] + q % POLDER_SWEEP_SLICE; e < start[slice + 1] && S->col[e] >= 0; e += POLDER_SWEEP_SLICE) {
    const PetscInt    j = S->col[e], at = j == S->row[p] ? -1 : PolderSweepFind(S, p, j);
    const PetscScalar w = factor * S->val[e];

    if (j == S->row[p]) *d -= w;
    else if (at >= 0) S->val[at] -= w;
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

    if (q < eliminate) PolderSweepEliminate(S, p, q, S->val[e], omega, &d);
  }
  good              = (PetscBool)(d > POLDER_SWEEP_PIVOT * diagonal && 1 / d < PETSC_MAX_REAL);
  S->val[S->nz + p] = good ? 1 / d : 0;
  return good;
}
