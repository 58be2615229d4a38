/* The launchers of rrb.cu, rrbtail.cu, rrbfactor.cu and rrbreduced.cu in terms of the kernels of the host: for the emulated device, and to compare with. */
#pragma once

#include "kernels/rrb.h"
#include "kernels/vec.h"
#include <stdlib.h>
#include <string.h>

static inline PetscScalar *RRBTwinZeros(size_t n)
{
  return (PetscScalar *)calloc(n + 1, sizeof(PetscScalar));
}

/* z, the four arrays of a grid, after the way down */
static inline void RRBTwinDown(PetscBool single, const PolderRRBStep *s, PetscScalar *z)
{
  if (single) PolderRRBForwardSingle_Host(&s->g, s->half, (const float *)s->c, s->r, s->ld, z);
  else PolderRRBForward_Host(&s->g, s->half, (const PetscScalar *)s->c, s->r, s->ld, z);
}

static inline PetscInt RRBTwinTo(const PolderRRBStep *s)
{
  return s->to ? s->to : s->g.hy;
}

/* Only the rows of the step */
static inline void RRBTwinUp(PetscBool single, const PolderRRBStep *s, PetscScalar *z)
{
  const PetscInt ld = s->g.nx, first = 2 * s->from, end = PetscMin(2 * RRBTwinTo(s), s->g.ny);
  PetscScalar   *x = RRBTwinZeros((size_t)ld * (size_t)s->g.ny);

  if (single) PolderRRBBackwardSingle_Host(&s->g, s->half, (const float *)s->c, z, x, ld);
  else PolderRRBBackward_Host(&s->g, s->half, (const PetscScalar *)s->c, z, x, ld);
  PolderRRBCopy_Host(s->g.nx, end - first, x + (size_t)first * (size_t)ld, ld, s->x + (size_t)first * (size_t)s->ld, s->ld);
  free(x);
}

/* The quarters that go to the next grid, or to the rest, and come back from there: where node (u, v) of them is */
#define RRB_TWIN_EACH(s, from, to, z1, z2, next) \
  for (PetscInt v = (from); v < (to); ++v) { \
    for (PetscInt u = 0; u < (s)->g.hx; ++u) { \
      const size_t   at  = (s)->g.origin + (size_t)v * (size_t)(s)->g.pitch + (size_t)u; \
      const PetscInt nx2 = (s)->g.nx / 2, first = (s)->half ? (s)->g.hx * (s)->g.hy : 0, ld2 = (s)->half ? nx2 : (s)->ldnext; \
\
      if ((s)->half) next(z1[at], (s)->rnext[v * (s)->g.hx + u], (s)->xnext[v * (s)->g.hx + u]); \
      if (u < nx2 && v < (s)->g.ny / 2) next(z2[at], (s)->rnext[first + v * ld2 + u], (s)->xnext[first + v * ld2 + u]); \
    } \
  }
#define RRB_TWIN_GIVE(z, down, up) down = z
#define RRB_TWIN_TAKE(z, down, up) z = up

static inline void RRBTwinForward(PetscBool single, const PolderRRBStep *s)
{
  PetscScalar *z = RRBTwinZeros(RRB_NVEC * s->g.size), *z1 = z + RRB_R1 * s->g.size, *z2 = z + RRB_R2 * s->g.size;

  RRBTwinDown(single, s, z);
  RRB_TWIN_EACH(s, s->from, RRBTwinTo(s), z1, z2, RRB_TWIN_GIVE)
  free(z);
}

static inline void RRBTwinBackward(PetscBool single, const PolderRRBStep *s, PetscScalar dot[])
{
  PetscScalar *z = RRBTwinZeros(RRB_NVEC * s->g.size), *z1 = z + RRB_R1 * s->g.size, *z2 = z + RRB_R2 * s->g.size;

  RRBTwinDown(single, s, z);
  PolderRRBClearMissing_Host(&s->g, z); // of rows that the step does not compute
  RRB_TWIN_EACH(s, 0, s->g.hy, z1, z2, RRB_TWIN_TAKE)
  RRBTwinUp(single, s, z);
  free(z);
  if (!dot) return;
  dot[0] = dot[1] = 0;
  for (PetscInt y = 0; y < s->g.ny; ++y) {
    dot[0] += PolderDot_Host(s->g.nx, s->r + (size_t)y * (size_t)s->ld, s->x + (size_t)y * (size_t)s->ld);
    for (PetscInt i = 0; i < s->g.nx; ++i) dot[1] += s->x[(size_t)y * (size_t)s->ld + (size_t)i];
  }
}

/* A coefficient of either precision */
static inline PetscScalar RRBTwinCoef(PetscBool single, const PolderRRBStep *s, int f, ptrdiff_t at)
{
  const ptrdiff_t k = (ptrdiff_t)((size_t)f * s->g.size) + at;

  return single ? (PetscScalar)((const float *)s->c)[k] : ((const PetscScalar *)s->c)[k];
}

/* The unknown of red node (x, y), zero outside */
static inline PetscScalar RRBTwinRed1(const PolderRRBStep *s, const PetscScalar r[], PetscInt x, PetscInt y)
{
  const PetscInt i = PolderRRBUnknown(s->g.nx, s->g.ny, PETSC_TRUE, x, y);

  return i < 0 ? 0 : r[i];
}

/* The same, with a row of r1 above a part */
static inline PetscScalar RRBTwinRedAbove(const PolderRRBStep *s, const PetscScalar r[], PetscInt x, PetscInt y)
{
  return y == s->g.ny && s->ends.above && x < s->g.nx ? s->ends.above[x / 2] : RRBTwinRed1(s, r, x, y);
}

static inline void RRBTwinReducedForward(PetscBool single, const PolderRRBStep *s, const PetscScalar r[])
{
  const ptrdiff_t P = s->g.pitch;

#define R(dx, dy) RRBTwinRedAbove(s, r, 2 * u + 1 + (dx), 2 * v + 1 + (dy))
  for (PetscInt v = 0; v < s->g.ny / 2; ++v) {
    for (PetscInt u = 0; u < s->g.nx / 2; ++u) {
      const ptrdiff_t at = (ptrdiff_t)s->g.origin + v * P + u;

      s->rnext[v * s->ldnext + u] = R(0, 0) - RRBTwinCoef(single, s, RRB_R1NE, at) * R(-1, -1) - RRBTwinCoef(single, s, RRB_R1SE, at + P) * R(-1, 1) -
                                    RRBTwinCoef(single, s, RRB_R1SW, at + P + 1) * R(1, 1) - RRBTwinCoef(single, s, RRB_R1NW, at + 1) * R(1, -1);
    }
  }
#undef R
}

/* The unknown of red node (x, y), with a row of r2 below a part */
static inline PetscScalar RRBTwinRedBelow(const PolderRRBStep *s, const PetscScalar z[], PetscInt x, PetscInt y)
{
  return y == -1 && s->ends.below && x >= 0 && x < s->g.nx ? s->xnext[x / 2 - s->ldnext] : RRBTwinRed1(s, z, x, y);
}

static inline void RRBTwinReducedBackward(PetscBool single, const PolderRRBStep *s, const PetscScalar r[], PetscScalar z[], PetscScalar dot[])
{
  const ptrdiff_t P = s->g.pitch;
  const PetscInt  n = (s->g.nx * s->g.ny + 1) / 2;

  for (PetscInt v = 0; v < s->g.ny / 2; ++v) {
    for (PetscInt u = 0; u < s->g.nx / 2; ++u) z[s->g.hx * s->g.hy + v * (s->g.nx / 2) + u] = s->xnext[v * s->ldnext + u];
  }
#define Z(dx, dy) RRBTwinRedBelow(s, z, 2 * u + (dx), 2 * v + (dy))
  for (PetscInt v = 0; v < s->g.hy; ++v) {
    for (PetscInt u = 0; u < s->g.hx; ++u) {
      const ptrdiff_t at = (ptrdiff_t)s->g.origin + v * P + u;
      const PetscInt  i  = v * s->g.hx + u;

      z[i] = r[i] * RRBTwinCoef(single, s, RRB_R1D, at) - RRBTwinCoef(single, s, RRB_R1NE, at) * Z(1, 1) - RRBTwinCoef(single, s, RRB_R1SE, at) * Z(1, -1) -
             RRBTwinCoef(single, s, RRB_R1SW, at) * Z(-1, -1) - RRBTwinCoef(single, s, RRB_R1NW, at) * Z(-1, 1);
    }
  }
#undef Z
  if (!dot) return;
  dot[0] = PolderDot_Host(n, r, z);
  dot[1] = 0;
  for (PetscInt i = 0; i < n; ++i) dot[1] += z[i];
}

static inline void RRBTwinResidual(const PolderRRBStep *s)
{
  PolderRRBResidual_Host(&s->plane, s->a - s->plane.origin, s->r, s->ld, s->length[0], s->v - s->plane.origin, s->d - s->plane.origin);
}

static inline void RRBTwinCombine(const PolderRRBStep *s)
{
  PolderRRBCombine_Host(&s->plane, s->length[0], s->v - s->plane.origin, 0, NULL, s->length[1], s->x, s->ld);
}

static inline void RRBTwinSmall(const PolderRRBSystem *small)
{
  const PetscInt n = small->n;

  for (PetscInt k = 0; k < small->npass; ++k) {
    const PolderRRBPass  pass = small->pass[k];
    const PolderRRBStep *step = small->step + (pass.grid - small->base);

    if (pass.type == RRB_PASS_REST) {
      for (PetscInt i = 0; i < n; ++i) small->x[i] = PolderDot_Host(n, small->inverse + (size_t)i * (size_t)small->ld, small->b);
    } else if (pass.type == RRB_PASS_RESIDUAL) RRBTwinResidual(step);
    else if (pass.type == RRB_PASS_COMBINE) RRBTwinCombine(step);
    else {
      const PolderRRBStep s = PolderRRBVisitStep(*step, pass.visit);

      if (pass.type == RRB_PASS_FORWARD) RRBTwinForward(small->single, &s);
      else RRBTwinBackward(small->single, &s, NULL);
    }
  }
}

/* Unit vector after unit vector through the sweeps; the lower triangle says what the upper one is */
static inline void RRBTwinTail(const PolderRRBSystem *grids, PetscBool red, PolderDense T)
{
  const PolderRRBStep *step   = grids->step;
  const PetscBool      single = grids->single;
  const PetscInt       ngrid = grids->ngrid, nrest = grids->n, n = T.n;
  PolderRRBPass        pass[2 * POLDER_RRB_SMALL_GRIDS + 1];
  PolderRRBSystem      below = *grids;
  PolderRRBStep        s[POLDER_RRB_SMALL_GRIDS];
  PetscScalar         *r[POLDER_RRB_SMALL_GRIDS + 1] = {NULL}, *x[POLDER_RRB_SMALL_GRIDS + 1] = {NULL};

  for (PetscInt k = 0; k <= ngrid; ++k) {
    const size_t size = k < ngrid ? (size_t)step[k].g.nx * (size_t)step[k].g.ny : (size_t)nrest;

    r[k] = RRBTwinZeros(size);
    x[k] = RRBTwinZeros(size);
  }
  for (PetscInt k = 0; k < ngrid; ++k)
    s[k] = (PolderRRBStep){.g      = step[k].g,
                           .half   = step[k].half,
                           .c      = step[k].c,
                           .r      = r[k],
                           .x      = x[k],
                           .ld     = step[k].g.nx,
                           .rnext  = r[k + 1],
                           .xnext  = x[k + 1],
                           .ldnext = step[k].g.nx / 2};
  for (PetscInt j = 0; j < n; ++j) {
    memset(r[0], 0, sizeof(**r) * (size_t)n);
    r[0][j] = 1;
    if (red) RRBTwinReducedForward(single, &s[0], r[0]);
    below.ngrid = ngrid - red;
    below.base  = red;
    below.npass = PolderRRBPassesOfGrid(red, ngrid, 0, pass);
    below.pass  = pass;
    below.step  = s + red;
    below.b     = r[ngrid];
    below.x     = x[ngrid];
    RRBTwinSmall(&below);
    if (red) RRBTwinReducedBackward(single, &s[0], r[0], x[0], NULL);
    for (PetscInt i = j; i < n; ++i) T.a[(size_t)i * (size_t)T.ld + (size_t)j] = T.a[(size_t)j * (size_t)T.ld + (size_t)i] = x[0][i];
  }
  for (PetscInt k = 0; k <= ngrid; ++k) {
    free(r[k]);
    free(x[k]);
  }
}

/* Puts an entry in its place */
static inline void RRBTwinTake(PetscInt nx, PetscInt i, PetscInt j, PetscScalar value, PetscScalar mirror, PetscScalar a[9], int *seen)
{
  const int to = PolderRRBDirection(nx, i - i % nx, i, j);

  if ((value != 0 && to < 0) || (value != mirror && PolderRRBDiffers(value, mirror, 0))) *seen |= RRB_SEEN_BAD;
  if (to >= 0) a[to] = value;
}

static inline void RRBTwinPut(PetscInt i, const PetscScalar a[9], PetscScalar *const row[], int *seen)
{
  static const int to[RRB_NROW] = {RRB_TO_SELF, RRB_TO_E, RRB_TO_N, RRB_TO_NE, RRB_TO_SE};
  PetscReal        sum = 0, size = 0;

  for (int d = 0; d < 9; ++d) {
    sum += a[d];
    if (d != RRB_TO_SELF) size += PolderRRBAbs(a[d]);
  }
  if (a[RRB_TO_NE] != 0 || a[RRB_TO_SE] != 0) *seen |= RRB_SEEN_NINE;
  *seen |= PolderRRBLook(a[RRB_TO_SELF], sum, size);
  for (int f = 0; f < RRB_NROW && row; ++f) row[f][i] = a[to[f]];
}

static inline void RRBTwinRowsDia(PetscInt nx, PetscInt ny, PetscInt from, PetscInt to, const PolderDia *A, PetscScalar *const row[], int *seen)
{
  const PetscInt            m = nx * ny, nd = A->nd, *off = A->off;
  const PetscScalar *const *val = A->val;

  for (PetscInt i = from * nx; i < to * nx; ++i) {
    PetscScalar a[9] = {0};

    for (PetscInt d = 0; d < nd; ++d) {
      const PetscInt j      = i + off[d];
      PetscScalar    mirror = 0;

      if (j < 0 || j >= m) continue;
      for (PetscInt e = 0; e < nd; ++e) mirror = off[e] == -off[d] ? val[e][j] : mirror;
      RRBTwinTake(nx, i, j, val[d][i], mirror, a, seen);
    }
    RRBTwinPut(i, a, row, seen);
  }
}

static inline void RRBTwinRowsCsr(PetscInt nx, PetscInt ny, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar *const row[],
                                  int *seen)
{
  for (PetscInt i = 0; i < nx * ny; ++i) {
    PetscScalar a[9] = {0};

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      PetscScalar mirror = 0;

      for (PetscInt l = ai[aj[k]]; l < ai[aj[k] + 1]; ++l) mirror = aj[l] == i ? aa[l] : mirror;
      RRBTwinTake(nx, i, aj[k], aa[k], mirror, a, seen);
    }
    RRBTwinPut(i, a, row, seen);
  }
}

/* Row after row, as the host does it */
static inline void RRBTwinBlack(const PolderRRBGrid *g, const PolderRRBEntries *rows, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen)
{
  PetscScalar *line = RRBTwinZeros(RRB_NROW * ((size_t)g->nx + 1)), *work = RRBTwinZeros(RRB_NWORK * g->size), *row[RRB_NROW];

  for (PetscInt y = 0; y < g->ny; ++y) {
    for (int f = 0; f < RRB_NROW; ++f) {
      row[f] = line + (size_t)f * ((size_t)g->nx + 1);
      for (PetscInt i = 0; i < g->nx; ++i) row[f][i] = PolderRRBEntry(g, rows, f, i, y);
    }
    PolderRRBPutRow_Host(g, y, row, c, work);
  }
  for (PetscInt v = 0; v < g->hy; ++v) {
    PolderRRBLumpRow_Host(g, v, omega, c, work);
    if (PolderRRBInvertRow_Host(g, g->nx / 2, v, c + RRB_B1D * g->size)) *seen |= RRB_SEEN_PIVOT;
    if (v < g->ny / 2 && PolderRRBInvertRow_Host(g, g->hx, v, c + RRB_B2D * g->size)) *seen |= RRB_SEEN_PIVOT;
  }
  for (PetscInt v = 0; v < g->hy; ++v)
    memcpy(x + g->origin + (size_t)v * (size_t)g->pitch, work + RRB_R2D * g->size + g->origin + (size_t)v * (size_t)g->pitch, sizeof(*x) * (size_t)g->hx);
  free(line);
  free(work);
}

/* Lumps and inverts r1 */
static inline void RRBTwinInvertR1(const PolderRRBGrid *g, PetscReal omega, PetscScalar c[], int *seen)
{
  for (PetscInt v = 0; v < g->hy; ++v) {
    PolderRRBLumpR1Row_Host(g, v, omega, c);
    if (PolderRRBInvertRow_Host(g, g->hx, v, c + RRB_R1D * g->size)) *seen |= RRB_SEEN_PIVOT;
  }
}

static inline void RRBTwinRed(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen)
{
  for (PetscInt v = 0; v < g->hy; ++v) {
    PolderRRBBlackFromR1Row_Host(g, v, c);
    PolderRRBBlackFromR2Row_Host(g, v, c, x);
  }
  if (!half) RRBTwinInvertR1(g, omega, c, seen);
}

static inline void RRBTwinReducedFill(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[],
                                      int *seen)
{
  for (PetscInt v = 0; v < g->hy; ++v) PolderRRBReducedFillRow_Host(g, v, c, x, a);
  if (!half) RRBTwinInvertR1(g, omega, c, seen);
}

static inline void RRBTwinNext(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[], PetscInt ld)
{
  for (PetscInt y = 0; y < (half ? g->ny : g->ny / 2); ++y) {
    const PetscInt at = !half ? y * ld : y % 2 ? g->hx * g->hy + y / 2 * (g->nx / 2) : y / 2 * g->hx;
    PetscScalar   *to[RRB_NROW];

    for (int f = 0; f < RRB_NROW; ++f) to[f] = row[f] + at;
    if (half) PolderRRBSkewRow_Host(g, y, c, x, to);
    else PolderRRBCoarseRow_Host(g, y, c, x, to);
  }
}

static inline void RRBTwinScale(const PolderRRBGrid *g, PetscScalar c[], float single[], int *seen)
{
  for (PetscInt v = 0; v < g->hy; ++v) {
    PolderRRBScaleRow_Host(g, v, c);
    for (PetscInt u = 0; u < g->hx && single; ++u) *seen |= PolderRRBRound(g->size, c, single, (ptrdiff_t)g->origin + (ptrdiff_t)v * g->pitch + u);
  }
}

static inline void RRBTwinRest(PetscInt nx, PetscInt ny, PetscBool skew, PetscScalar *const row[], const PetscInt part[], const PetscScalar shift[],
                               PolderDense dense)
{
  const PetscInt n = dense.n, ld = dense.ld;
  PetscScalar   *E = dense.a;

  memset(E, 0, sizeof(*E) * (size_t)ld * (size_t)ld);
  for (PetscInt k = 0; k < nx * ny; ++k) {
    const PetscInt i = PolderRRBUnknown(nx, ny, skew, k % nx, k / nx);

    for (int f = 0; f < RRB_NROW && i >= 0; ++f) {
      const PetscInt j = PolderRRBUnknownAt(nx, ny, skew, f, k % nx, k / nx);

      if (j >= 0) E[(size_t)i * (size_t)ld + (size_t)j] = E[(size_t)j * (size_t)ld + (size_t)i] = row[f][i];
    }
  }
  for (PetscInt i = 0; i < n && part; ++i) {
    for (PetscInt j = 0; j < n; ++j) E[(size_t)i * (size_t)ld + (size_t)j] += part[i] >= 0 && part[i] == part[j] ? shift[part[i]] : 0;
  }
}
