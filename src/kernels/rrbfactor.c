/* Repeated red-black factorisation, grid by grid, on the r1, b1, b2, r2 arrays of rrbrow.h. */
#include "rrb.h"

/* Separates the values of the even and of the odd nodes of a row */
static inline void PolderRRBSplit(PetscInt n, const PetscScalar *restrict row, PetscScalar *restrict even, PetscScalar *restrict odd)
{
  for (PetscInt u = 0; u < n / 2; ++u) {
    even[u] = row[2 * u];
    odd[u]  = row[2 * u + 1];
  }
  if (n % 2) even[n / 2] = row[n - 1];
}

void PolderRRBPutRow_Host(const PolderRRBGrid *g, PetscInt y, PetscScalar *const row[], PetscScalar c[], PetscScalar x[])
{
  const size_t    s = g->size;
  const PetscInt  n = g->nx;
  const ptrdiff_t P = g->pitch;

  c += (ptrdiff_t)g->origin + y / 2 * P;
  x += (ptrdiff_t)g->origin + y / 2 * P;
  if (y % 2 == 0) {
    PolderRRBSplit(n, row[RRB_C], c + RRB_R1D * s, c + RRB_B1D * s);
    PolderRRBSplit(n, row[RRB_E], c + RRB_B1W * s, c + RRB_B1E * s);
    PolderRRBSplit(n, row[RRB_N], c + RRB_B2S * s, c + RRB_B1N * s);
    PolderRRBSplit(n, row[RRB_NE], c + RRB_R1NE * s, x + RRB_X1NE * s);
    PolderRRBSplit(n, row[RRB_SE], c + RRB_R1SE * s, x + RRB_X1SE * s);
  } else {
    PolderRRBSplit(n, row[RRB_C], c + RRB_B2D * s, x + RRB_R2D * s);
    PolderRRBSplit(n, row[RRB_E], c + RRB_B2E * s, c + RRB_B2W * s + 1);
    PolderRRBSplit(n, row[RRB_N], c + RRB_B2N * s, c + RRB_B1S * s + P);
    PolderRRBSplit(n, row[RRB_NE], x + RRB_X1SW * s + P, c + RRB_R1SW * s + P + 1);
    PolderRRBSplit(n, row[RRB_SE], x + RRB_X1NW * s, c + RRB_R1NW * s + 1);
  }
}

/* Loop over the nodes p of row v of a quarter */
#define ROW(g, v) for (ptrdiff_t p = (ptrdiff_t)(v) * (g)->pitch; p < (ptrdiff_t)(v) * (g)->pitch + (g)->hx; ++p)

void PolderRRBLumpRow_Host(const PolderRRBGrid *g, PetscInt v, PetscReal omega, PetscScalar c[], const PetscScalar x[])
{
  c += g->origin;
  x += g->origin;
#pragma GCC ivdep
  ROW(g, v) PolderRRBLumpBlack(g->size, g->pitch, omega, c, x, p);
}

PetscInt PolderRRBInvertRow_Host(const PolderRRBGrid *g, PetscInt n, PetscInt v, PetscScalar d[])
{
  PetscInt bad = 0;

  d += g->origin + (size_t)v * (size_t)g->pitch;
  for (PetscInt u = 0; u < n; ++u) {
    bad += !(d[u] > 0);
    d[u] = 1.0 / d[u];
  }
  return bad;
}

void PolderRRBBlackFromR1Row_Host(const PolderRRBGrid *g, PetscInt v, PetscScalar c[])
{
  c += g->origin;
#pragma GCC ivdep
  ROW(g, v) PolderRRBBlackFromR1(g->size, g->pitch, c, p);
}

void PolderRRBBlackFromR2Row_Host(const PolderRRBGrid *g, PetscInt v, const PetscScalar c[], PetscScalar x[])
{
  c += g->origin;
  x += g->origin;
#pragma GCC ivdep
  ROW(g, v) PolderRRBBlackFromR2(g->size, g->pitch, c, x, p);
}

void PolderRRBLumpR1Row_Host(const PolderRRBGrid *g, PetscInt v, PetscReal omega, PetscScalar c[])
{
  c += g->origin;
#pragma GCC ivdep
  ROW(g, v) PolderRRBLumpR1(g->size, g->pitch, omega, c, p);
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

void PolderRRBScaleRow_Host(const PolderRRBGrid *g, PetscInt v, PetscScalar c[])
{
  c += g->origin;
#pragma GCC ivdep
  ROW(g, v) PolderRRBScale(g->size, c, p);
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
  const ptrdiff_t n    = (ptrdiff_t)g->size;
  int             seen = 0;

#pragma GCC ivdep
  for (ptrdiff_t p = 0; p < n; ++p) seen |= PolderRRBRoundFour(g->size, RRB_B1D, c, single, p);
#pragma GCC ivdep
  for (ptrdiff_t p = 0; p < n; ++p) seen |= PolderRRBRoundFour(g->size, RRB_B2D, c, single, p);
#pragma GCC ivdep
  for (ptrdiff_t p = 0; p < n; ++p) seen |= PolderRRBRoundFour(g->size, RRB_R1D, c, single, p);
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

PetscBool PolderRRBSameRow_Host(const PolderRRBGrid *g, PetscInt v, int n, const PetscScalar a[])
{
  const PetscScalar *row  = a + g->origin + (size_t)v * (size_t)g->pitch - 1;
  PetscBool          same = PETSC_TRUE;

  for (int f = 0; f < n && same; ++f, row += g->size) same = (PetscBool)!memcmp(row, row - g->pitch, ((size_t)g->hx + 2) * sizeof(*row));
  return same;
}

PetscInt PolderRRBShareRows_Host(const PolderRRBGrid *g, const PetscBool same[], ptrdiff_t shift[])
{
  PetscInt from = 0, count = 0;

  for (PetscInt v = 0; v < g->hy; ++v) {
    if (!(v && v + 1 < g->hy && same[v - 1] && same[v] && same[v + 1])) from = v;
    shift[v] = (ptrdiff_t)(from - v) * g->pitch;
    count += from < v;
  }
  return count;
}
