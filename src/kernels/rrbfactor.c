/* Repeated red-black factorisation, grid by grid, on the r1, b1, b2, r2 arrays of rrbrow.h. */
#include "rrb.h"

void PolderRRBPutRow_Host(const PolderRRBGrid *g, PetscInt y, PetscScalar *const row[], PetscScalar c[], PetscScalar x[])
{
  const size_t    s = g->size;
  const PetscInt  v = y / 2, n = g->nx;
  const ptrdiff_t P = g->pitch, p = (ptrdiff_t)g->origin + (ptrdiff_t)v * P;

#define C(f) c[(size_t)(f)*s + (size_t)(p + u)]
#define X(f) x[(size_t)(f)*s + (size_t)(p + u)]
  if (y % 2 == 0) {
    for (PetscInt u = 0; 2 * u < n; ++u) {
      C(RRB_R1D)  = row[RRB_C][2 * u];
      C(RRB_R1NE) = row[RRB_NE][2 * u];
      C(RRB_R1SE) = row[RRB_SE][2 * u];
      C(RRB_B2S)  = row[RRB_N][2 * u];
      C(RRB_B1W)  = row[RRB_E][2 * u];
    }
    for (PetscInt u = 0; 2 * u + 1 < n; ++u) {
      C(RRB_B1D)  = row[RRB_C][2 * u + 1];
      C(RRB_B1E)  = row[RRB_E][2 * u + 1];
      C(RRB_B1N)  = row[RRB_N][2 * u + 1];
      X(RRB_X1NE) = row[RRB_NE][2 * u + 1];
      X(RRB_X1SE) = row[RRB_SE][2 * u + 1];
    }
  } else {
    for (PetscInt u = 0; 2 * u < n; ++u) {
      C(RRB_B2D)                                    = row[RRB_C][2 * u];
      C(RRB_B2E)                                    = row[RRB_E][2 * u];
      C(RRB_B2N)                                    = row[RRB_N][2 * u];
      X(RRB_X1NW)                                   = row[RRB_SE][2 * u];
      x[(size_t)RRB_X1SW * s + (size_t)(p + P + u)] = row[RRB_NE][2 * u];
    }
    for (PetscInt u = 0; 2 * u + 1 < n; ++u) {
      X(RRB_R2D)                                        = row[RRB_C][2 * u + 1];
      c[(size_t)RRB_B2W * s + (size_t)(p + u + 1)]      = row[RRB_E][2 * u + 1];
      c[(size_t)RRB_B1S * s + (size_t)(p + P + u)]      = row[RRB_N][2 * u + 1];
      c[(size_t)RRB_R1NW * s + (size_t)(p + u + 1)]     = row[RRB_SE][2 * u + 1];
      c[(size_t)RRB_R1SW * s + (size_t)(p + P + u + 1)] = row[RRB_NE][2 * u + 1];
    }
  }
#undef C
#undef X
}

void PolderRRBLump_Host(const PolderRRBGrid *g, PetscReal omega, PetscScalar c[], const PetscScalar x[])
{
  c += g->origin;
  x += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) {
#pragma GCC ivdep
    for (ptrdiff_t p = (ptrdiff_t)v * g->pitch; p < (ptrdiff_t)v * g->pitch + g->hx; ++p) PolderRRBLumpBlack(g->size, g->pitch, omega, c, x, p);
  }
}

void PolderRRBEliminateBlack_Host(const PolderRRBGrid *g, PetscBool lump, PetscReal omega, PetscScalar c[], PetscScalar x[])
{
  c += g->origin;
  x += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) {
    const ptrdiff_t p0 = (ptrdiff_t)v * g->pitch;

#pragma GCC ivdep
    for (ptrdiff_t p = p0; p < p0 + g->hx; ++p) PolderRRBBlackFromR1(g->size, g->pitch, c, p);
#pragma GCC ivdep
    for (ptrdiff_t p = p0; p < p0 + g->hx; ++p) PolderRRBBlackFromR2(g->size, g->pitch, c, x, p);
    if (!lump) continue;
#pragma GCC ivdep
    for (ptrdiff_t p = p0; p < p0 + g->hx; ++p) PolderRRBLumpR1(g->size, g->pitch, omega, c, p);
  }
}

PetscInt PolderRRBInvert_Host(const PolderRRBGrid *g, PetscInt nx, PetscInt ny, PetscScalar d[])
{
  PetscInt bad = 0;

  d += g->origin;
  for (PetscInt v = 0; v < ny; ++v, d += g->pitch) {
    for (PetscInt u = 0; u < nx; ++u) {
      bad += !(d[u] > 0);
      d[u] = 1.0 / d[u];
    }
  }
  return bad;
}

void PolderRRBCoarseRow_Host(const PolderRRBGrid *g, PetscInt v, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[])
{
  const ptrdiff_t p0 = (ptrdiff_t)v * g->pitch;

  c += g->origin;
  x += g->origin;
#pragma GCC ivdep
  for (PetscInt u = 0; u < g->nx / 2; ++u) PolderRRBCoarse(g->size, g->pitch, c, x, p0 + u, row, u);
}

void PolderRRBSkewRow_Host(const PolderRRBGrid *g, PetscInt y, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[])
{
  const ptrdiff_t p0 = (ptrdiff_t)(y / 2) * g->pitch;

  c += g->origin;
  x += g->origin;
  if (y % 2) {
    for (PetscInt u = 0; 2 * u + 1 < g->nx; ++u) PolderRRBSkewR2(g->size, g->pitch, c, x, p0 + u, row, u);
  } else {
    for (PetscInt u = 0; 2 * u < g->nx; ++u) PolderRRBSkewR1(g->size, c, p0 + u, row, u);
  }
}

void PolderRRBScale_Host(const PolderRRBGrid *g, PetscScalar c[])
{
  c += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) {
#pragma GCC ivdep
    for (ptrdiff_t p = (ptrdiff_t)v * g->pitch; p < (ptrdiff_t)v * g->pitch + g->hx; ++p) PolderRRBScale(g->size, c, p);
  }
}

void PolderRRBScaleBorder_Host(const PolderRRBGrid *g, PetscScalar c[])
{
  const ptrdiff_t P = g->pitch, end = (ptrdiff_t)(g->size - g->origin);

  c += g->origin;
  for (ptrdiff_t p = -(ptrdiff_t)g->origin; p < 0; ++p) PolderRRBScale(g->size, c, p);
  for (ptrdiff_t p = g->hx; p < g->hy * P; p += P) PolderRRBScale(g->size, c, p);
  for (ptrdiff_t p = g->hy * P; p < end; ++p) PolderRRBScale(g->size, c, p);
}

PetscBool PolderRRBRound_Host(const PolderRRBGrid *g, const PetscScalar c[], float single[])
{
  int seen = 0;

  for (ptrdiff_t p = 0; p < (ptrdiff_t)g->size; ++p) seen |= PolderRRBRound(g->size, c, single, p);
  return (PetscBool)!seen;
}

/* Puts one entry in its place; returns bits RRB_SEEN_... */
static int PolderRRBOwnEntry_Private(int to, PetscInt i, PetscScalar value, PetscScalar *const entry[])
{
  if (value == 0) return 0;
  if (to < 0) return RRB_SEEN_BAD;
  if (entry[to]) entry[to][i] = value;
  return to == RRB_TO_NE || to == RRB_TO_SE || to == RRB_TO_NW || to == RRB_TO_SW ? RRB_SEEN_NINE : 0;
}

void PolderRRBOwnRows_Host(const PolderRRBOwn *own, PolderRows rows, PolderRows ghosts, const PetscInt node[], PetscScalar *const entry[], int *seen)
{
  for (PetscInt i = 0; i < rows.n; ++i) {
    for (int d = 0; d < POLDER_RRB_DIRECTIONS; ++d) {
      if (entry[d]) entry[d][i] = 0;
    }
    for (PetscInt k = rows.i[i]; k < rows.i[i + 1]; ++k) *seen |= PolderRRBOwnEntry_Private(PolderRRBDirectionOwn(own, i, rows.j[k]), i, rows.a[k], entry);
    for (PetscInt k = ghosts.i ? ghosts.i[i] : 0; ghosts.i && k < ghosts.i[i + 1]; ++k) {
      const PetscInt j = node[ghosts.j[k]];

      *seen |= PolderRRBOwnEntry_Private(PolderRRBDirectionFrom(own, i, j % own->nx, j / own->nx), i, ghosts.a[k], entry);
    }
  }
}
