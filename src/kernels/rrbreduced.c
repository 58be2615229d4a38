/* The first Schur complement of a 5-point matrix and the sweeps of the preconditioner on its vectors, on the quarters of rrbrow.h. */
#include "rrb.h"
#include "rrbreduced.h"

/* Loop over the columns u < n: the first one and those from `last` on have neighbours that may not exist (edge), the others are a plain loop (middle) */
#define COLUMNS(n, last, edge, middle) \
  do { \
    for (PetscInt u = 0; u < PetscMin(1, n); ++u) edge; \
    _Pragma("GCC ivdep") for (PetscInt u = 1; u < (last); ++u) middle; \
    for (PetscInt u = PetscMax(last, 1); u < (n); ++u) edge; \
  } while (0)

void PolderRRBReducedFillRow_Host(const PolderRRBGrid *g, PetscInt v, const PetscScalar c[], const PetscScalar x[], PetscScalar a[])
{
  const ptrdiff_t p0 = (ptrdiff_t)v * g->pitch;

  c += g->origin;
  x += g->origin;
  a += g->origin;
#pragma GCC ivdep
  for (ptrdiff_t p = p0; p < p0 + g->hx; ++p) PolderRRBReducedFill(g->size, g->pitch, c, x, p, a);
}

enum {
  LANES = 8,
  AHEAD = 128 /* the values of so many columns later are asked for, since the hardware expects streams of no more than a page */
};

static inline void PolderRRBFetch(int n, const PetscScalar *a, size_t s)
{
  for (int f = 0; f < n; ++f) __builtin_prefetch(a + (size_t)f * s + AHEAD);
}

/* The same loop for a row y of S x: adds (x, y) to sum; n arrays of S from a[u] on, unless they are shared, and the row `next` of x come from memory */
#define PRODUCT(columns, last, x, y, n, a, next, edge, middle) \
  do { \
    PetscReal lane[LANES] = {0}; \
    PetscInt  u           = 0; \
    for (; u < PetscMin(1, columns); ++u) sum += (x)[u] * ((y)[u] = edge); \
    for (PetscInt from = u; from + LANES <= (last); from += LANES, u = from) { \
      if (!shared) PolderRRBFetch(n, (a) + from, s); \
      PolderRRBFetch(1, (next) + from, 0); \
      PolderRRBFetch(1, (y) + from, 0); \
      _Pragma("GCC ivdep") for (int l = 0; l < LANES; ++l) \
      { \
        const PetscInt u = from + l; \
        (y)[u]           = middle; \
        lane[l] += (x)[u] * (y)[u]; \
      } \
    } \
    for (int l = 0; l < LANES; ++l) sum += lane[l]; \
    for (; u < (columns); ++u) sum += (x)[u] * ((y)[u] = edge); \
  } while (0)

static inline PetscReal PolderRRBReducedRow1(const PolderRRBGrid *g, PolderRRBRows r, const PetscScalar *restrict a, PetscScalar *restrict y, PetscInt v)
{
  const size_t    s = g->size;
  const ptrdiff_t P = g->pitch, shared = PolderRRBShift(g, v), p = (ptrdiff_t)v * P + shared;
  const PetscInt  hx = g->hx, h2 = g->nx / 2;
  PetscReal       sum = 0;

  y += (size_t)v * (size_t)hx;
  PRODUCT(hx, PetscMin(hx - 1, h2), r.c1, y, RRB_S2D, a + p, r.n1,
          PolderRRBReducedR1(s, P, a, p + u, r, (PolderRRBColumns){u, PolderRRBWest(u), PolderRRBEast(u, hx), PolderRRBSame(u, h2)}),
          PolderRRBReducedR1(s, P, a, p + u, r, (PolderRRBColumns){u, u - 1, u + 1, u}));
  return sum;
}

static inline PetscReal PolderRRBReducedRow2(const PolderRRBGrid *g, PolderRRBRows r, const PetscScalar *restrict a, PetscScalar *restrict y, PetscInt v)
{
  const size_t    s = g->size;
  const ptrdiff_t P = g->pitch, shared = PolderRRBShift(g, v), p = (ptrdiff_t)v * P + shared;
  const PetscInt  hx = g->hx, h2 = g->nx / 2;
  PetscReal       sum = 0;

  y += (size_t)hx * (size_t)g->hy + (size_t)v * (size_t)h2;
  PRODUCT(h2, h2 - 1, r.c2, y, RRB_NREDUCED - RRB_S2D, a + RRB_S2D * s + p, r.n2,
          PolderRRBReducedR2(s, P, a, p + u, r, (PolderRRBColumns){u, PolderRRBWest(u), PolderRRBEast(u, h2), PolderRRBEast(u, hx)}),
          PolderRRBReducedR2(s, P, a, p + u, r, (PolderRRBColumns){u, u - 1, u + 1, u + 1}));
  return sum;
}

void PolderRRBReducedMultPart_Host(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot)
{
  PetscReal sum = 0;

  a += g->origin;
  for (PetscInt v = 0; v <= g->hy; ++v) { /* r2 lags by one row, so that the couplings of r1 to it are read once */
    if (v < g->hy) sum += PolderRRBReducedRow1(g, PolderRRBPartRows(g, ends, x, v), a, y, v);
    if (v > 0 && v <= g->ny / 2) sum += PolderRRBReducedRow2(g, PolderRRBPartRows(g, ends, x, v - 1), a, y, v - 1);
  }
  if (dot) *dot = sum;
}

void PolderRRBReducedMult_Host(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot)
{
  PolderRRBReducedMultPart_Host(g, (PolderRRBEnds){NULL, NULL}, a, x, y, dot);
}

void PolderRRBReducedEnds_Host(const PolderRRBGrid *g, const PetscScalar x[], PetscScalar ends[])
{
  for (PetscInt i = 0; i < 2 * PolderRRBEndSize(g); ++i) ends[i] = x[PolderRRBEndPlace(g, i)];
}

void PolderRRBReducedMultBorder_Host(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot)
{
  const size_t   s  = g->size;
  const PetscInt hx = g->hx, h2 = g->nx / 2;
  PetscScalar   *y2  = y + (size_t)hx * (size_t)g->hy;
  PetscReal      sum = 0;

  a += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v, y += hx, y2 += h2) {
    const ptrdiff_t     P = g->pitch, shared = PolderRRBShift(g, v), p = (ptrdiff_t)v * P + shared;
    const PolderRRBRows r = PolderRRBBorderRows(g, x, v);

    PRODUCT(hx, hx, r.c1, y, RRB_S2D, a + p, r.n1, PolderRRBReducedR1(s, P, a, p + u, r, (PolderRRBColumns){u, u - 1, u + 1, u}),
            PolderRRBReducedR1(s, P, a, p + u, r, (PolderRRBColumns){u, u - 1, u + 1, u}));
    if (2 * v + 1 == g->ny) break;
    PRODUCT(h2, h2, r.c2, y2, RRB_NREDUCED - RRB_S2D, a + RRB_S2D * s + p, r.n2,
            PolderRRBReducedR2(s, P, a, p + u, r, (PolderRRBColumns){u, u - 1, u + 1, u + 1}),
            PolderRRBReducedR2(s, P, a, p + u, r, (PolderRRBColumns){u, u - 1, u + 1, u + 1}));
  }
  if (dot) *dot = sum;
}

void PolderRRBReduce_Host(const PolderRRBGrid *g, const PetscScalar c[], PolderRRBNodes b, PetscScalar r[])
{
  const size_t   s  = g->size;
  const PetscInt hx = g->hx, h2 = g->nx / 2, nx = g->nx;
  PetscScalar   *r2 = r + (size_t)hx * (size_t)g->hy;

  c += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v, r += hx) {
    const ptrdiff_t      P = g->pitch, p = (ptrdiff_t)v * P + PolderRRBShift(g, v);
    const PolderRRBLines l = PolderRRBGetLines(&b, v);

    COLUMNS(hx, hx - 1, r[u] = PolderRRBReduceR1(s, P, c, p + u, l, 2 * u, PolderRRBWest(2 * u), PolderRRBEast(2 * u, nx)),
            r[u] = PolderRRBReduceR1(s, P, c, p + u, l, 2 * u, 2 * u - 1, 2 * u + 1));
    if (2 * v + 1 == g->ny) break;
    COLUMNS(h2, h2 - 1, r2[u] = PolderRRBReduceR2(s, P, c, p + u, l, 2 * u + 1, 2 * u, PolderRRBEast(2 * u + 1, nx)),
            r2[u] = PolderRRBReduceR2(s, P, c, p + u, l, 2 * u + 1, 2 * u, 2 * u + 2));
    r2 += h2;
  }
}

void PolderRRBPick_Host(const PolderRRBGrid *g, PolderRRBNodes x, PetscScalar r[])
{
  for (PetscInt q = 0; q < 2; ++q) {
    for (PetscInt y = q; y < g->ny; y += 2) {
      const PetscScalar *line = PolderRRBLine(&x, y);

      for (PetscInt i = q; i < g->nx; i += 2) *r++ = line[i];
    }
  }
}

#define PAIR(row, even, odd) (row)[2 * u] = even, (row)[2 * u + 1] = odd

void PolderRRBExpand_Host(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar c[], PolderRRBNodes b, const PetscScalar r[], PetscScalar own[],
                          PetscScalar all[])
{
  const size_t   s  = g->size;
  const PetscInt hx = g->hx, h2 = g->nx / 2;

  c += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) {
    const ptrdiff_t      p    = (ptrdiff_t)v * g->pitch + PolderRRBShift(g, v);
    const PolderRRBLines l    = PolderRRBGetLines(&b, v);
    const PolderRRBRows  q    = PolderRRBPartRows(g, ends, r, v);
    PetscScalar *restrict row = PolderRRBLineOf(&b, own, all, 2 * v);

    COLUMNS(h2, PetscMin(h2, hx - 1), PAIR(row, q.c1[u], PolderRRBExpandB1(s, c, p + u, q, l.c[2 * u + 1], u, PolderRRBEast(u, hx))),
            PAIR(row, q.c1[u], PolderRRBExpandB1(s, c, p + u, q, l.c[2 * u + 1], u, u + 1)));
    if (h2 < hx) row[2 * h2] = q.c1[h2];
    if (2 * v + 1 == g->ny) break;
    row = PolderRRBLineOf(&b, own, all, 2 * v + 1);
    COLUMNS(h2, h2, PAIR(row, PolderRRBExpandB2(s, c, p + u, q, l.n[2 * u], u, PolderRRBSame(u, h2), PolderRRBWest(u)), q.c2[u]),
            PAIR(row, PolderRRBExpandB2(s, c, p + u, q, l.n[2 * u], u, u, u - 1), q.c2[u]));
    if (h2 < hx) row[2 * h2] = PolderRRBExpandB2(s, c, p + h2, q, l.n[2 * h2], h2, PolderRRBSame(h2, h2), PolderRRBWest(h2));
  }
}

#undef PAIR

#define RRB_VALUE      PetscScalar
#define RRB_NAME(name) name##_Host
#include "rrbreducedapply.h"
#undef RRB_VALUE
#undef RRB_NAME

#define RRB_VALUE      float
#define RRB_NAME(name) name##Single_Host
#include "rrbreducedapply.h"
