/* Random points in the unit cube, and which of them are near each other. */
#pragma once

#include <petscsys.h>

/* Pseudorandom numbers in [0,1) that depend on the seed only */
static inline double Draw(unsigned long long *state)
{
  *state += 0x9e3779b97f4a7c15ull;
  unsigned long long z = *state;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (double)((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0);
}

/* Number i, from 0 on, of the sequence that Draw() makes from the state 0 */
static inline double DrawAt(unsigned long long i)
{
  unsigned long long state = i * 0x9e3779b97f4a7c15ull;

  return Draw(&state);
}

/* Points are numbered cell by cell of a grid of g^3, point i at x[3 i] .. x[3 i + 2]; cell c has the points start[c] .. start[c + 1] - 1 */
typedef struct {
  PetscInt  n, g, *start;
  PetscReal radius;
  double   *x;
} Points;

/* n points, and the radius within which a point has `degree` others on average */
static PetscErrorCode PointsCreate(PetscInt n, PetscReal degree, Points *p)
{
  PetscInt          *cell, ncell;
  double            *raw;
  unsigned long long state = 7;

  PetscFunctionBeginUser;
  p->n      = n;
  p->radius = PetscPowReal(3.0 * degree / (4.0 * PETSC_PI * n), 1.0 / 3.0);
  p->g      = PetscMax(1, (PetscInt)(1.0 / p->radius));
  ncell     = p->g * p->g * p->g;
  PetscCall(PetscMalloc2(3 * (size_t)n, &p->x, ncell + 1, &p->start));
  PetscCall(PetscMalloc2(n, &cell, 3 * (size_t)n, &raw));
  PetscCall(PetscArrayzero(p->start, ncell + 1));
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt at[3];

    for (int d = 0; d < 3; ++d) {
      raw[3 * (size_t)i + d] = Draw(&state);
      at[d]                  = PetscMin(p->g - 1, (PetscInt)(raw[3 * (size_t)i + d] * p->g));
    }
    cell[i] = (at[2] * p->g + at[1]) * p->g + at[0];
    ++p->start[cell[i] + 1];
  }
  for (PetscInt c = 0; c < ncell; ++c) p->start[c + 1] += p->start[c];
  for (PetscInt i = 0; i < n; ++i) PetscCall(PetscArraycpy(p->x + 3 * (size_t)p->start[cell[i]]++, raw + 3 * (size_t)i, 3));
  for (PetscInt c = ncell; c > 0; --c) p->start[c] = p->start[c - 1];
  p->start[0] = 0;
  PetscCall(PetscFree2(cell, raw));
  PetscFunctionReturn(0);
}

static PetscErrorCode PointsDestroy(Points *p)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(p->x, p->start));
  PetscFunctionReturn(0);
}

/* The number of points within the radius of point i, itself among them; list[] (NULL: not wanted) <- these, ascending */
static PetscInt PointsNear(const Points *p, PetscInt i, PetscInt list[])
{
  const double  *a = p->x + 3 * (size_t)i;
  const PetscInt g = p->g;
  PetscInt       n = 0, at[3];

  for (int d = 0; d < 3; ++d) at[d] = PetscMin(g - 1, (PetscInt)(a[d] * g));
  for (PetscInt w = PetscMax(0, at[2] - 1); w <= PetscMin(g - 1, at[2] + 1); ++w) {
    for (PetscInt v = PetscMax(0, at[1] - 1); v <= PetscMin(g - 1, at[1] + 1); ++v) {
      const PetscInt line = (w * g + v) * g, from = p->start[line + PetscMax(0, at[0] - 1)], to = p->start[line + PetscMin(g - 1, at[0] + 1) + 1];

      for (PetscInt j = from; j < to; ++j) {
        const double *b = p->x + 3 * (size_t)j;

        if ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]) > p->radius * p->radius) continue;
        if (list) list[n] = j;
        ++n;
      }
    }
  }
  return n;
}
