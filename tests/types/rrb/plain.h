/* Repeated red-black factorisation in natural order: nine arrays, nodes of coarser grids where they lie, formulas as in the literature. An oracle. */
#pragma once

#include "pc/rrb/rrbimpl.h"

typedef struct {
  PetscInt     nx, ny, levels, margin;
  PetscScalar *c[9];        /* (dy + 1) * 3 + dx + 1, neighbours of the node's current grid */
  PetscScalar *storage, *x; /* x: with a margin of zeros, rows ld apart */
  size_t       ld;
} Plain;

static inline PetscErrorCode PlainCreate(PetscInt nx, PetscInt ny, PetscInt levels, Plain *p)
{
  PetscFunctionBegin;
  p->nx     = nx;
  p->ny     = ny;
  p->levels = levels;
  p->margin = (PetscInt)1 << ((levels + 1) / 2 + 1);
  p->ld     = (size_t)nx + 2 * (size_t)p->margin;
  for (int d = 0; d < 9; ++d) PetscCall(PetscCalloc1(nx * ny, &p->c[d]));
  PetscCall(PetscCalloc1(p->ld * ((size_t)ny + 2 * (size_t)p->margin), &p->storage));
  p->x = p->storage + (size_t)p->margin * (p->ld + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PlainDestroy(Plain *p)
{
  PetscFunctionBegin;
  for (int d = 0; d < 9; ++d) PetscCall(PetscFree(p->c[d]));
  PetscCall(PetscFree(p->storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry in direction (dx, dy) of node (x, y), zero outside the grid */
static inline PetscScalar PlainAt(const Plain *p, PetscInt dx, PetscInt dy, PetscInt x, PetscInt y)
{
  if (x < 0 || x >= p->nx || y < 0 || y >= p->ny) return 0;
  return p->c[(dy + 1) * 3 + dx + 1][y * p->nx + x];
}

/*
  Schur complement for node (x, y): neighbours in the four directions of from[] are eliminated. result[] by direction (of distance two for those that were
  straight on)
*/
static inline void PlainEliminate(const Plain *p, PetscInt s, const PetscInt from[4][2], PetscInt x, PetscInt y, PetscScalar result[3][3])
{
  for (int m = 0; m < 4; ++m) {
    const PetscInt    ax = x + s * from[m][0], ay = y + s * from[m][1];
    const PetscScalar a = PlainAt(p, from[m][0], from[m][1], x, y), d = PlainAt(p, 0, 0, ax, ay);

    for (int n = 0; n < 4 && a != 0; ++n) {
      const PetscInt tx = from[m][0] + from[n][0], ty = from[m][1] + from[n][1]; /* 0: itself; 2 steps or a turn */
      const PetscInt rx = PetscAbsInt(from[0][0] * from[0][1]) ? tx / 2 : (tx > 0) - (tx < 0),
                     ry = PetscAbsInt(from[0][0] * from[0][1]) ? ty / 2 : (ty > 0) - (ty < 0);

      result[ry + 1][rx + 1] -= a * PlainAt(p, from[n][0], from[n][1], ax, ay) / d;
    }
  }
}

/* The nodes x0, x0 + step, ... of a class: quarters of the grid of spacing s are 0: r1, 1: b1, 2: b2, 3: r2 */
#define PLAIN_FOR(quarter) \
  for (PetscInt y = ((quarter) / 2 + 1) * s - 1; y < p->ny; y += 2 * s) \
    for (PetscInt x = ((quarter) % 2 + 1) * s - 1; x < p->nx; x += 2 * s)

static inline void PlainFactor(Plain *p)
{
  static const PetscInt straight[4][2] =
    {
      {1,  0 },
      {-1, 0 },
      {0,  1 },
      {0,  -1}
  },
                        skew[4][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1}};

  for (PetscInt l = 0, s = 1; l < p->levels; ++l, s *= l % 2 ? 1 : 2) {
    if (l % 2 == 0) {
      for (int q = 1; q < 3; ++q) PLAIN_FOR(q)
        {
          for (int m = 0; m < 4; ++m) {
            p->c[4][y * p->nx + x] += PlainAt(p, skew[m][0], skew[m][1], x, y);
            p->c[(skew[m][1] + 1) * 3 + skew[m][0] + 1][y * p->nx + x] = 0;
          }
        }
      for (int q = 0; q < 4; q += 3) PLAIN_FOR(q)
        {
          PetscScalar result[3][3] = {{0}};

          PlainEliminate(p, s, straight, x, y, result);
          for (int d = 0; d < 9; ++d) p->c[d][y * p->nx + x] = (d % 2 ? 0 : p->c[d][y * p->nx + x]) + result[d / 3][d % 3];
        }
      for (int q = 1; q < 3; ++q) PLAIN_FOR(q)
        {
          for (int d = 1; d < 9; d += 2) p->c[d][y * p->nx + x] /= p->c[4][y * p->nx + x];
        }
    } else {
      PLAIN_FOR(0)
      {
        for (int d = 1; d < 9; d += 2) {
          p->c[4][y * p->nx + x] += p->c[d][y * p->nx + x];
          p->c[d][y * p->nx + x] = 0;
        }
      }
      PLAIN_FOR(3)
      {
        PetscScalar result[3][3] = {{0}};

        PlainEliminate(p, s, skew, x, y, result);
        for (int d = 0; d < 9; ++d) p->c[d][y * p->nx + x] = (d % 2 || d == 4 ? p->c[d][y * p->nx + x] : 0) + result[d / 3][d % 3];
      }
      PLAIN_FOR(0)
      {
        for (int d = 0; d < 9; d += 2) {
          if (d != 4) p->c[d][y * p->nx + x] /= p->c[4][y * p->nx + x];
        }
      }
    }
  }
}

/* Eliminated nodes give their share to four neighbours */
static inline void PlainForward(Plain *p, const PetscScalar r[])
{
  for (PetscInt y = 0; y < p->ny; ++y) (void)PetscArraycpy(p->x + (size_t)y * p->ld, r + (size_t)y * (size_t)p->nx, p->nx);
  for (PetscInt l = 0, s = 1; l < p->levels; ++l, s *= l % 2 ? 1 : 2) {
    const ptrdiff_t up = (ptrdiff_t)p->ld * s;

    for (int q = l % 2 ? 0 : 1; q < (l % 2 ? 1 : 3); ++q) PLAIN_FOR(q)
      {
        PetscScalar   *v = p->x + (size_t)y * p->ld + (size_t)x;
        const PetscInt i = y * p->nx + x;

        if (l % 2) {
          v[-up - s] -= p->c[0][i] * v[0];
          v[-up + s] -= p->c[2][i] * v[0];
          v[up - s] -= p->c[6][i] * v[0];
          v[up + s] -= p->c[8][i] * v[0];
        } else {
          v[-up] -= p->c[1][i] * v[0];
          v[-s] -= p->c[3][i] * v[0];
          v[s] -= p->c[5][i] * v[0];
          v[up] -= p->c[7][i] * v[0];
        }
      }
  }
}

static inline void PlainBackward(Plain *p, PetscScalar z[])
{
  for (PetscInt l = p->levels - 1; l >= 0; --l) {
    const PetscInt  s  = (PetscInt)1 << (l / 2);
    const ptrdiff_t up = (ptrdiff_t)p->ld * s;

    for (int q = l % 2 ? 0 : 1; q < (l % 2 ? 1 : 3); ++q) PLAIN_FOR(q)
      {
        PetscScalar   *v = p->x + (size_t)y * p->ld + (size_t)x;
        const PetscInt i = y * p->nx + x;

        if (l % 2) v[0] = v[0] / p->c[4][i] - (p->c[0][i] * v[-up - s] + p->c[2][i] * v[-up + s] + p->c[6][i] * v[up - s] + p->c[8][i] * v[up + s]);
        else v[0] = v[0] / p->c[4][i] - (p->c[1][i] * v[-up] + p->c[3][i] * v[-s] + p->c[5][i] * v[s] + p->c[7][i] * v[up]);
      }
  }
  for (PetscInt y = 0; y < p->ny; ++y) (void)PetscArraycpy(z + (size_t)y * (size_t)p->nx, p->x + (size_t)y * p->ld, p->nx);
}

/* The rest is solved by the factor of the preconditioner, between the two sweeps */
static inline PetscErrorCode PlainRest(Plain *p, PC_RRB *rrb)
{
  RRBRest       *rest = &rrb->rest;
  PetscScalar   *z    = rrb->grid[rrb->ngrid - 1].z;
  const PetscInt s    = (PetscInt)1 << (rrb->levels / 2);

  PetscFunctionBegin;
  for (int back = 0; back < 2; ++back) {
    for (PetscInt k = 0; k < rest->nx * rest->ny; ++k) {
      PetscScalar *v = p->x + (size_t)((k / rest->nx + 1) * s - 1) * p->ld + (size_t)((k % rest->nx + 1) * s - 1);

      if (rest->number[k] < 0) continue;
      if (back) *v = z[rest->place[rest->number[k]]];
      else z[rest->place[rest->number[k]]] = *v;
    }
    if (!back) PetscCall(PCRRBRestSolve(rest, rest->place, z, z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
