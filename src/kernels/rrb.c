/* Repeated red-black factorisation and its sweeps, grid by grid, on the r1, b1, b2, r2 arrays of rrbrow.h. */
#include "kernels.h"

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

void PolderRRBClearMissing_Host(const PolderRRBGrid *g, PetscScalar z[])
{
  PetscScalar *b1 = z + RRB_B1 * g->size + g->origin, *b2 = z + RRB_B2 * g->size + g->origin, *r2 = z + RRB_R2 * g->size + g->origin;
  const size_t top = (size_t)g->pitch * (size_t)(g->ny / 2);

  for (PetscInt v = 0; v < g->hy && g->nx % 2; ++v) b1[(size_t)v * (size_t)g->pitch + (size_t)(g->nx / 2)] = r2[(size_t)v * (size_t)g->pitch + (size_t)(g->nx / 2)] = 0;
  for (PetscInt u = 0; u < g->hx && g->ny % 2; ++u) b2[top + (size_t)u] = r2[top + (size_t)u] = 0;
}

/* Rows 2v and 2v+1 of a vector in natural order, ld apart, into row v of the quarters */
static inline void PolderRRBLoad(const PolderRRBGrid *g, const PetscScalar *restrict r, PetscInt ld, PetscScalar *z, PetscInt v)
{
  for (PetscInt q = 0; q < 2 && 2 * v + q < g->ny; ++q) {
    const PetscScalar *restrict row = r + (size_t)(2 * v + q) * (size_t)ld;
    PetscScalar *restrict a = z + (size_t)(q ? RRB_B2 : RRB_R1) * g->size + (size_t)v * (size_t)g->pitch, *restrict b = a + g->size;

    for (PetscInt u = 0; u < g->nx / 2; ++u) {
      a[u] = row[2 * u];
      b[u] = row[2 * u + 1];
    }
    if (g->nx % 2) a[g->hx - 1] = row[g->nx - 1];
  }
}

void PolderRRBCopy_Host(PetscInt nx, PetscInt ny, const PetscScalar from[], PetscInt ldfrom, PetscScalar to[], PetscInt ldto)
{
  for (PetscInt y = 0; y < ny; ++y) {
    for (PetscInt x = 0; x < nx; ++x) to[(size_t)y * (size_t)ldto + (size_t)x] = from[(size_t)y * (size_t)ldfrom + (size_t)x];
  }
}

void PolderRRBLoad_Host(const PolderRRBGrid *g, const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  PolderRRBClearMissing_Host(g, z);
  for (PetscInt v = 0; v < g->hy; ++v) PolderRRBLoad(g, r, ld, z + g->origin, v);
}

void PolderRRBLoadBorder_Host(const PolderRRBGrid *g, const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  PetscScalar *b1 = z + RRB_B1 * g->size + g->origin, *b2 = z + RRB_B2 * g->size + g->origin;

  PolderRRBClearMissing_Host(g, z);
  for (PetscInt v = 0; v < g->hy; ++v, b1 += g->pitch, b2 += g->pitch, r += 2 * (size_t)ld) {
    const PetscBool end = (PetscBool)(v == 0 || v == g->hy - 1);

    for (PetscInt u = end ? 0 : g->nx / 2 - 1; u >= 0 && u < g->nx / 2; ++u) b1[u] = r[2 * u + 1];
    for (PetscInt u = 0; u < (end ? g->hx : 1) && 2 * v + 1 < g->ny; ++u) b2[u] = r[(size_t)ld + 2 * (size_t)u];
  }
}

/* The way back of row 2v (f = RRB_R1) or 2v+1 (f = RRB_B2) */
static inline void PolderRRBStore(const PolderRRBGrid *g, int f, const PetscScalar *z, PetscInt v, PetscScalar *restrict x, PetscInt ld)
{
  const PetscInt y              = 2 * v + (f == RRB_B2);
  const PetscScalar *restrict a = z + (size_t)f * g->size + (size_t)v * (size_t)g->pitch, *restrict b = a + g->size;
  PetscScalar *restrict row = x + (size_t)y * (size_t)ld;

  if (y >= g->ny) return;
  for (PetscInt u = 0; u < g->nx / 2; ++u) {
    row[2 * u]     = a[u];
    row[2 * u + 1] = b[u];
  }
  if (g->nx % 2) row[g->nx - 1] = a[g->hx - 1];
}

#define RRB_VALUE      PetscScalar
#define RRB_NAME(name) name##_Host
#include "rrbapply.h"
#undef RRB_VALUE
#undef RRB_NAME

#define RRB_VALUE      float
#define RRB_NAME(name) name##Single_Host
#include "rrbapply.h"
