/* What the tests of the device kernels of the repeated red-black preconditioner share. */
#pragma once

#include "devicetest.h"
#include "rrbtwin.h"
#include "kernels/coarse.h"
#include "kernels/dia.h"

/* Values on the host, which the twin works on, and on the device; NaN where nothing is written, GUARD of them on either side */
enum {
  GUARD = 32
};
typedef struct {
  size_t       n;
  PetscScalar *all, *h, *d;
} Array;

/* random: numbers, else NaN; shift: the first of them is so many places behind one that pairs can be read from */
static inline PetscErrorCode ArrayCreate(size_t n, PetscBool random, PetscInt shift, Array *a)
{
  PetscFunctionBeginUser;
  a->n = n + 2 * GUARD;
  PetscCall(PetscMalloc1(a->n, &a->all));
  for (size_t i = 0; i < a->n; ++i) a->all[i] = random && i >= GUARD && i < GUARD + n ? Number() : NAN;
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (a->n + 2), &a->d));
  a->h = a->all + GUARD;
  a->d += GUARD + shift;
  PetscCall(PolderDeviceFromHost(a->d - GUARD, a->all, sizeof(PetscScalar) * a->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the host has changed meanwhile */
static inline PetscErrorCode ArrayUpload(Array *a)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFromHost(a->d - GUARD, a->all, sizeof(PetscScalar) * a->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the values that differ by more than tol times the largest */
static inline PetscErrorCode ArrayCompare(const Array *a, PetscReal tol, PetscInt *wrong)
{
  PetscScalar *got;
  PetscReal    largest = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(a->n, &got));
  PetscCall(PolderDeviceToHost(got, a->d - GUARD, sizeof(PetscScalar) * a->n));
  for (size_t i = 0; i < a->n; ++i) {
    if (PetscAbsScalar(a->all[i]) > largest) largest = PetscAbsScalar(a->all[i]);
  }
  for (size_t i = 0; i < a->n; ++i) {
    if (PetscIsNanScalar(a->all[i]) ? !PetscIsNanScalar(got[i]) : !(PetscAbsScalar(a->all[i] - got[i]) <= tol * largest)) ++*wrong;
  }
  PetscCall(PetscFree(got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ArrayDestroy(Array *a, PetscInt shift)
{
  PetscFunctionBeginUser;
  a->d -= GUARD + shift;
  PetscCall(PolderDeviceFree(&a->d));
  PetscCall(PetscFree(a->all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Tell(const char *what, PetscInt nx, PetscInt ny, int form, PetscInt before, PetscInt wrong)
{
  PetscFunctionBeginUser;
  if (wrong > before)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, form %d: %" PetscInt_FMT " wrong on %" PetscInt_FMT " by %" PetscInt_FMT " nodes\n", what, form, wrong - before,
                          nx, ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscInt Sizes[][2] = {
  {2,    2  },
  {3,    2  },
  {2,    3  },
  {3,    3  },
  {5,    4  },
  {4,    7  },
  {60,   9  },
  {61,   8  },
  {59,   10 },
  {62,   11 },
  {63,   63 },
  {120,  33 },
  {121,  40 },
  {119,  17 },
  {2,    300},
  {300,  3  },
  {257,  129},
  {512,  96 },
  {1023, 700},
  {1300, 900}
};

static inline PetscBool TooLarge(PetscInt nx, PetscInt ny)
{
  return (PetscBool)(small && nx * ny > 5000);
}

static inline PolderRRBGrid Grid(PetscInt nx, PetscInt ny)
{
  PolderRRBGrid g = {.nx = nx, .ny = ny, .hx = (nx + 1) / 2, .hy = (ny + 1) / 2};

  g.pitch  = g.hx + 1 + Next(5);
  g.origin = (size_t)g.pitch + 1 + (size_t)Next(3);
  g.size   = g.origin + (size_t)g.pitch * (size_t)(g.hy + 1) + 1;
  return g;
}

/* A dominant matrix as RRB_NROW arrays, NaN where a coupling leaves the grid; five: without diagonal couplings, whose arrays are NULL */
static inline PetscErrorCode EntriesCreate(PetscInt nx, PetscInt ny, PetscBool five, PetscReal scale, PolderRRBEntries rows[2], Array a[RRB_NROW])
{
  const PetscInt ld = nx + Next(3);

  PetscFunctionBeginUser;
  rows[0] = rows[1] = (PolderRRBEntries){.ld = ld};
  for (int f = 0; f < RRB_NROW; ++f) {
    PetscCall(ArrayCreate((size_t)ld * (size_t)ny, PETSC_FALSE, 0, &a[f]));
    for (PetscInt y = 0; y < ny; ++y) {
      for (PetscInt x = 0; x < nx; ++x) {
        const PetscBool on = (PetscBool)((f == RRB_C || f == RRB_N || x + 1 < nx) && ((f != RRB_N && f != RRB_NE) || y + 1 < ny) && (f != RRB_SE || y > 0));

        if (on) a[f].h[y * ld + x] = scale * (f == RRB_C ? 8.1 + Number() : -0.45 + 0.4 * Number());
      }
    }
    PetscCall(ArrayUpload(&a[f]));
    rows[0].a[f] = five && f >= RRB_NE ? NULL : a[f].h;
    rows[1].a[f] = five && f >= RRB_NE ? NULL : a[f].d;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode EntriesDestroy(Array a[RRB_NROW])
{
  PetscFunctionBeginUser;
  for (int f = 0; f < RRB_NROW; ++f) PetscCall(ArrayDestroy(&a[f], 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CompareSeen(int seen, int *device, PetscInt *wrong)
{
  int got;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceToHost(&got, device, sizeof(got)));
  *wrong += got != seen;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many arrays of a grid, zero: coefficients, which are zero outside */
static inline PetscErrorCode CoefCreate(const PolderRRBGrid *g, int count, Array *c)
{
  PetscFunctionBeginUser;
  PetscCall(ArrayCreate((size_t)count * g->size, PETSC_FALSE, 0, c));
  for (size_t i = 0; i < (size_t)count * g->size; ++i) c->h[i] = 0;
  PetscCall(ArrayUpload(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grids one after the other, the step of each on the host and on the device, and what is left after the last */
typedef struct {
  PetscInt      ngrid, n, ld;
  PolderRRBStep step[2][POLDER_RRB_SMALL_GRIDS];
  Array         c[POLDER_RRB_SMALL_GRIDS], r[POLDER_RRB_SMALL_GRIDS + 1], x[POLDER_RRB_SMALL_GRIDS + 1], inverse;
  float        *s[2][POLDER_RRB_SMALL_GRIDS];
  Array         plane[POLDER_RRB_SMALL_GRIDS][3]; /* matrix, first visit and residual of grids but the first, unless they are half */
} Chain;

/* Random planes, with borders of zeros */
static inline PetscErrorCode PlanesCreate(const PolderRRBPlane *g, int n, Array *a)
{
  PetscFunctionBeginUser;
  PetscCall(ArrayCreate((size_t)n * g->size, PETSC_FALSE, 0, a));
  for (size_t i = 0; i < (size_t)n * g->size; ++i) a->h[i] = 0;
  for (int f = 0; f < n; ++f)
    for (PetscInt y = 0; y < g->ny; ++y)
      for (PetscInt x = 0; x < g->nx; ++x) a->h[(size_t)f * g->size + g->origin + (size_t)y * (size_t)g->pitch + (size_t)x] = Number();
  PetscCall(ArrayUpload(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines one more than the even number of nodes apart, as on the device */
static inline PolderRRBPlane Plane(PetscInt nx, PetscInt ny)
{
  const PetscInt pitch = (nx + 2) / 2 * 2;

  return (PolderRRBPlane){.nx = nx, .ny = ny, .pitch = pitch, .size = (size_t)pitch * (size_t)(ny + 2) + 4, .origin = (size_t)pitch + 2};
}

/* Random couplings of the nodes of a grid */
static inline void ChainFill(PetscInt nx, PetscInt ny, const PolderRRBGrid *g, PetscScalar c[])
{
  for (int f = 0; f < RRB_NCOEF; ++f) {
    for (PetscInt v = 0; v < g->hy; ++v) {
      for (PetscInt u = 0; u < g->hx; ++u) {
        const PetscInt x = 2 * u + (f <= RRB_B1D), y = 2 * v + (f > RRB_B1D && f <= RRB_B2D);
        const PetscInt n[3][4][2] =
          {
            {{0, 1}, {1, 0},  {0, -1},  {-1, 0}},
            {{0, 1}, {1, 0},  {0, -1},  {-1, 0}},
            {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}
        },
                       *to = n[f / 5][f % 5 < 4 ? f % 5 : 0], tox = f % 5 < 4 ? x + to[0] : x, toy = f % 5 < 4 ? y + to[1] : y;

        if (x < nx && y < ny && tox >= 0 && toy >= 0 && tox < nx && toy < ny)
          c[(size_t)f * g->size + g->origin + (size_t)v * (size_t)g->pitch + (size_t)u] = f % 5 == 4 ? 0.6 + 0.3 * Number() : 0.3 * Number();
      }
    }
  }
}

/* As many grids as there are half levels for; random coefficients small enough that nothing grows */
static inline PetscErrorCode ChainCreate(PetscInt nx, PetscInt ny, PetscInt levels, Chain *chain)
{
  PetscFunctionBeginUser;
  chain->ngrid = chain->n = 0;
  for (PetscInt k = 0; 2 * k < levels && PetscMin(nx, ny) > 1; ++k) {
    const PetscBool     half = (PetscBool)(levels == 2 * k + 1);
    const PetscInt      ld   = (nx + 1 + (k && !half)) / 2 * 2;
    const PolderRRBGrid g    = Grid(nx, ny);
    PolderRRBStep      *step = &chain->step[0][k];

    PetscCall(CoefCreate(&g, RRB_NCOEF, &chain->c[k]));
    ChainFill(nx, ny, &g, chain->c[k].h);
    PetscCall(ArrayUpload(&chain->c[k]));
    PetscCall(PetscMalloc1(RRB_NCOEF * g.size, &chain->s[0][k]));
    (void)PolderToSingle_Host(RRB_NCOEF * g.size, chain->c[k].h, chain->s[0][k]);
    PetscCall(PolderDeviceUpload(sizeof(float) * RRB_NCOEF * g.size, chain->s[0][k], &chain->s[1][k]));
    PetscCall(ArrayCreate((size_t)ld * (size_t)ny, (PetscBool)(k == 0), 0, &chain->r[k]));
    PetscCall(ArrayCreate((size_t)ld * (size_t)ny, PETSC_FALSE, 0, &chain->x[k]));
    *step     = (PolderRRBStep){.g = g, .half = half, .r = chain->r[k].h, .x = chain->x[k].h, .ld = ld};
    chain->n  = step->half ? (nx * ny + 1) / 2 : (nx / 2) * (ny / 2);
    chain->ld = step->half ? 0 : nx / 2;
    if (k && !half) {
      step->plane = Plane(nx, ny);
      PetscCall(PlanesCreate(&step->plane, RRB_NROW, &chain->plane[k][0]));
      for (size_t i = 0; i < RRB_NROW * step->plane.size; ++i) chain->plane[k][0].h[i] *= 0.05; // M remains definite
      PetscCall(ArrayUpload(&chain->plane[k][0]));
      for (int f = 1; f < 3; ++f) PetscCall(PlanesCreate(&step->plane, 1, &chain->plane[k][f]));
      step->a         = chain->plane[k][0].h + step->plane.origin;
      step->v         = chain->plane[k][1].h + step->plane.origin;
      step->d         = chain->plane[k][2].h + step->plane.origin;
      step->length[0] = 0.7;
      step->length[1] = 0.4;
    }
    chain->ngrid++;
    if (half) break;
    nx /= 2;
    ny /= 2;
  }
  PetscCall(ArrayCreate((size_t)chain->n, PETSC_FALSE, 0, &chain->r[chain->ngrid]));
  PetscCall(ArrayCreate((size_t)chain->n, PETSC_FALSE, 0, &chain->x[chain->ngrid]));
  for (PetscInt k = 0; k < chain->ngrid; ++k) {
    PolderRRBStep *step = &chain->step[0][k];

    step->ldnext      = k + 1 < chain->ngrid ? step[1].ld : chain->ld;
    step->rnext       = chain->r[k + 1].h;
    step->xnext       = chain->x[k + 1].h;
    chain->step[1][k] = *step;
    step              = &chain->step[1][k];
    step->r           = chain->r[k].d;
    step->x           = chain->x[k].d;
    step->rnext       = chain->r[k + 1].d;
    step->xnext       = chain->x[k + 1].d;
    if (!step->a) continue;
    step->a = chain->plane[k][0].d + step->plane.origin;
    step->v = chain->plane[k][1].d + step->plane.origin;
    step->d = chain->plane[k][2].d + step->plane.origin;
  }
  chain->ld = (chain->n + POLDER_SWEEP - 1) / POLDER_SWEEP * POLDER_SWEEP;
  PetscCall(ArrayCreate((size_t)chain->n * (size_t)chain->ld, PETSC_TRUE, 0, &chain->inverse));
  for (PetscInt i = 0; i < chain->n; ++i)
    for (PetscInt j = 0; j < chain->ld; ++j)
      chain->inverse.h[i * chain->ld + j] = j < chain->n ? chain->inverse.h[i * chain->ld + j] / chain->n + (i == j ? 0.7 : 0) : NAN;
  PetscCall(ArrayUpload(&chain->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ChainDestroy(Chain *chain)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k <= chain->ngrid; ++k) {
    PetscCall(ArrayDestroy(&chain->r[k], 0));
    PetscCall(ArrayDestroy(&chain->x[k], 0));
    if (k == chain->ngrid) break;
    for (int f = 0; f < 3 && chain->step[0][k].a; ++f) PetscCall(ArrayDestroy(&chain->plane[k][f], 0));
    PetscCall(ArrayDestroy(&chain->c[k], 0));
    PetscCall(PetscFree(chain->s[0][k]));
    PetscCall(PolderDeviceFree(&chain->s[1][k]));
  }
  PetscCall(ArrayDestroy(&chain->inverse, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
