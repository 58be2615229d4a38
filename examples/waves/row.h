/* The formulas of a frame at one node, shared by the loops of framehost.c and the kernels of framedevice.cu */
#pragma once

#include <petscsys.h>

#if defined(__CUDACC__)
  #define WAVES_ROW static __host__ __device__ __forceinline__
#else
  #define WAVES_ROW static inline
#endif

#define GRAVITY     9.81
#define WAVES_CHUNK 64

typedef enum {
  MODEL_PARABOLIC,
  MODEL_COSH
} ModelType;

typedef enum {
  SHIP_ELLIPSE,
  SHIP_BATHTUB
} ShipType;

/*
  The nodes of this process. "Own" arrays have rows of xm nodes; those "with neighbours" have rows of gxm, in which the first own node is (gx, gy).
  On the edge of the grid a node is its own neighbour.
*/
typedef struct {
  PetscInt           xm, ym, gxm, gym, gx, gy;
  PetscInt           i0, i1, j0, j1; /* own nodes i0 <= i < i1, j0 <= j < j1 are outside the damping zones */
  PetscInt           rows;           /* that a thread of a GPU goes through, 0 for as many as suit the grid */
  PetscReal          d[2], current[2];
  const PetscScalar *h, *D;   /* with neighbours, zero on land */
  const PetscScalar *ax, *ay; /* damping divided by the speed of long waves, by column and by row: for open edges, for incoming edges, beyond the outer nodes */
} WavesGrid;

/* Index distances of the neighbours of a node, in an array with neighbours */
typedef struct {
  PetscInt w, e, s, n;
} WavesNear;

/* Depth and fields of a node; psi is read where it is needed only */
typedef struct {
  PetscScalar h, D, phi, psi;
} WavesPoint;

/* A node and its neighbours */
typedef struct {
  WavesPoint c, w, e, s, n;
} WavesCross;

typedef struct {
  WavesGrid          grid;
  const PetscScalar *phi;       /* with neighbours */
  const PetscScalar *psi;       /* own */
  PetscScalar       *b, *guess; /* own; on entry guess holds psi of the previous frame */
  PetscReal          r[2];      /* a quarter of dy / dx and of dx / dy */
} WavesRhs;

/* A field of the leapfrog, own nodes */
typedef struct {
  const PetscScalar *now;
  PetscScalar       *next;     /* holds the previous frame on entry */
  PetscScalar       *filtered; /* filtered field of this frame; NULL without a filter */
} WavesField;

typedef struct {
  WavesGrid          grid;
  const PetscScalar *zeta, *phi, *psi;  /* with neighbours; zeta is needed with a current only */
  WavesField         z, p;              /* zeta and phi */
  PetscReal          tau, filter, r[2]; /* r: half of 1 / dx^2 and of 1 / dy^2 */
} WavesStep;

/* Own nodes x0 <= i < x1, y0 <= j < y1 */
typedef struct {
  PetscInt x0, x1, y0, y1;
} WavesBox;

/* Plane waves: a e^(i(kx x + phase)) by column, e^(i ky y) by row, real and imaginary parts of one wave after the other; e^(-i omega t); g / omega */
typedef struct {
  PetscInt           n;
  const PetscScalar *ex, *ey;
  PetscReal          c[WAVES_CHUNK], s[WAVES_CHUNK], g[WAVES_CHUNK];
  PetscBool          everywhere; /* the waves are the initial state of the whole sea; otherwise the sea is relaxed towards them near incoming edges */
} WavesIncoming;

typedef struct {
  ShipType  shape;
  PetscReal x, y, dir[2], length, width, draft; /* in the coordinates of the own nodes */
} WavesShip;

/* The depth of a sea whose level is `tide` above the reference level of the bed */
typedef struct {
  ModelType          model;
  PetscReal          kappa, mindepth, tide;
  PetscInt           gxm, gym;
  const PetscScalar *bed; /* with neighbours */
  PetscScalar       *h, *D;
} WavesDepth;

typedef struct {
  WavesGrid    grid;
  ModelType    model;
  PetscReal    kappa;
  PetscScalar *v; /* five of each node: south, west, itself, east, north */
} WavesMatrix;

/*
  D, M and N of the parabolic shape f = z + z^2/(2h), or of f = cosh(kappa(h+z))/cosh(kappa h) - 1. The division by the cosh keeps numbers small in deep water
  and scales psi only.
*/
WAVES_ROW void WavesCoefficients(ModelType model, PetscReal k, PetscReal h, PetscReal *D, PetscReal *M, PetscReal *N)
{
  const PetscReal x = k * h;

  *D = *M = *N = 0.0;
  if (h <= 0.0) return;
  if (model == MODEL_PARABOLIC) {
    *D = h / 3.0;
    *M = h / 3.0;
    *N = 2.0 * h * h * h / 15.0;
  } else if (x < 0.02) { /* series, where the differences below would cancel */
    *D = x * x / 3.0;
    *M = k * x * x * x / 3.0;
    *N = 2.0 * h * x * x * x * x / 15.0;
  } else {
    const PetscReal T = PetscTanhReal(x), c = 1.0 - T * T;

    *D = 1.0 - T / x;
    *M = 0.5 * k * (T - x * c);
    *N = h * (1.0 + 0.5 * c - 1.5 * T / x);
  }
}

WAVES_ROW void WavesDepthNode(const WavesDepth *a, PetscInt l)
{
  const PetscReal h = a->bed[l] + a->tide;
  PetscReal       D, M, N;

  WavesCoefficients(a->model, a->kappa, h >= a->mindepth ? h : 0.0, &D, &M, &N);
  a->h[l] = h >= a->mindepth ? h : 0.0;
  a->D[l] = D;
}

WAVES_ROW PetscInt WavesOwn(const WavesGrid *g, PetscInt i, PetscInt j)
{
  return j * g->xm + i;
}

WAVES_ROW PetscInt WavesWith(const WavesGrid *g, PetscInt i, PetscInt j)
{
  return (j + g->gy) * g->gxm + i + g->gx;
}

WAVES_ROW WavesNear WavesNearOf(const WavesGrid *g, PetscInt i, PetscInt j)
{
  WavesNear near;

  near.w = i + g->gx > 0 ? 1 : 0;
  near.e = i + g->gx + 1 < g->gxm ? 1 : 0;
  near.s = j + g->gy > 0 ? g->gxm : 0;
  near.n = j + g->gy + 1 < g->gym ? g->gxm : 0;
  return near;
}

/* Twice the mean depth on the face between nodes of these depths, zero on the shore */
WAVES_ROW PetscScalar WavesFace(PetscScalar h, PetscScalar hto)
{
  return h > 0.0 && hto > 0.0 ? h + hto : 0.0;
}

/*
  The two loops over all nodes load what a node needs, without conditions and before anything is stored, so that on a GPU all loads are under way at the
  same time.
*/
WAVES_ROW WavesPoint WavesRhsPoint(const WavesRhs *a, PetscInt l)
{
  const WavesPoint p = {a->grid.h[l], a->grid.D[l], a->phi[l], 0.0};

  return p;
}

WAVES_ROW WavesPoint WavesStepPoint(const WavesStep *a, PetscInt l)
{
  const WavesPoint p = {a->grid.h[l], a->grid.D[l], a->phi[l], a->psi[l]};

  return p;
}

/* h D (phi of the node - phi of its neighbour) on the face between them, times 4 */
WAVES_ROW PetscScalar WavesRhsFace(WavesPoint p, WavesPoint to)
{
  return WavesFace(p.h, to.h) * (p.D + to.D) * (p.phi - to.phi);
}

/* b = -div(h D grad phi), integrated over the cell, and 2 psi - psi0 as the first guess of the new psi */
WAVES_ROW void WavesRhsNode(const WavesRhs *a, PetscInt k, const WavesCross *x)
{
  const PetscScalar b     = a->r[0] * (WavesRhsFace(x->c, x->w) + WavesRhsFace(x->c, x->e)) + a->r[1] * (WavesRhsFace(x->c, x->s) + WavesRhsFace(x->c, x->n));
  const PetscScalar guess = 2.0 * a->psi[k] - a->guess[k];

  a->b[k]     = b;
  a->guess[k] = guess;
}

/* -h (grad phi - D grad psi) out of the cell, times 2 */
WAVES_ROW PetscScalar WavesStepFace(WavesPoint p, WavesPoint to)
{
  return WavesFace(p.h, to.h) * ((p.phi - to.phi) - 0.5 * (p.D + to.D) * (p.psi - to.psi));
}

/*
  Short waves are damped near open and incoming edges: the level near open ones, level and potential near incoming ones, where both are relaxed towards the
  incoming waves. Long waves leave through the faces beyond the outer nodes of open edges, where the flux of an outgoing wave is c zeta.
*/
WAVES_ROW void WavesDamping(const WavesGrid *g, PetscInt i, PetscInt j, PetscInt l, PetscReal *sigma, PetscReal *sigmain)
{
  const PetscReal c    = PetscSqrtReal(GRAVITY * g->h[l]);
  const PetscReal open = PetscMax(g->ax[i], g->ay[j]) + g->ax[2 * g->xm + i] + g->ay[2 * g->ym + j], in = PetscMax(g->ax[g->xm + i], g->ay[g->ym + j]);

  *sigma   = c * PetscMax(open, in);
  *sigmain = c * in;
}

/* A field of the leapfrog at a node, in this frame and the one before */
typedef struct {
  PetscScalar now, before;
} WavesPair;

/* (u+ - u-) / tau = u_t - sigma (u+ + u-) / 2. The filter adds a fraction of u+ - 2u + u- to u, which couples even and odd frames. */
WAVES_ROW void WavesLeap(const WavesStep *a, const WavesField *u, PetscInt k, WavesPair is, PetscScalar rate, PetscReal sigma)
{
  const PetscReal   damp = 0.5 * a->tau * sigma;
  const PetscScalar next = sigma > 0.0 ? ((1.0 - damp) * is.before + a->tau * rate) / (1.0 + damp) : is.before + a->tau * rate;

  u->next[k] = next;
  if (u->filtered) u->filtered[k] = is.now + a->filter * (next - 2.0 * is.now + is.before);
}

/* Adds the effect of a further part of the rate to the results of WavesLeap(); not called where that part is zero */
WAVES_ROW void WavesLeapMore(const WavesStep *a, const WavesField *u, PetscInt k, PetscScalar rate, PetscReal sigma)
{
  const PetscScalar more = a->tau * rate / (1.0 + 0.5 * a->tau * sigma);

  u->next[k] += more;
  if (u->filtered) u->filtered[k] += a->filter * more;
}

/*
  zeta_t = -div(h grad phi) + div(h D grad psi) - div(zeta U), phi_t = -U . grad phi - g zeta, and the leapfrog with these rates; `current` and `damped`
  enable the corresponding terms.
*/
WAVES_ROW void WavesStepNode(const WavesStep *a, PetscInt i, PetscInt j, PetscInt k, PetscInt l, WavesNear near, const WavesCross *x, PetscBool current,
                             PetscBool damped)
{
  const WavesGrid *g    = &a->grid;
  const WavesPair  zeta = {a->z.now[k], a->z.next[k]}, phi = {x->c.phi, a->p.next[k]};
  PetscScalar      zetat, phit;
  PetscReal        sigma = 0.0, sigmain = 0.0;

  zetat = a->r[0] * (WavesStepFace(x->c, x->w) + WavesStepFace(x->c, x->e)) + a->r[1] * (WavesStepFace(x->c, x->s) + WavesStepFace(x->c, x->n));
  phit  = -GRAVITY * zeta.now;
  if (current) {
    const PetscReal    ux = 0.5 * g->current[0] / g->d[0], uy = 0.5 * g->current[1] / g->d[1];
    const PetscReal    w = near.w && WavesFace(x->c.h, x->w.h) > 0.0 ? ux : 0.0, e = near.e && WavesFace(x->c.h, x->e.h) > 0.0 ? ux : 0.0;
    const PetscReal    s = near.s && WavesFace(x->c.h, x->s.h) > 0.0 ? uy : 0.0, n = near.n && WavesFace(x->c.h, x->n.h) > 0.0 ? uy : 0.0;
    const PetscScalar *z = a->zeta;

    zetat -= e * (z[l + near.e] + z[l]) - w * (z[l] + z[l - near.w]) + n * (z[l + near.n] + z[l]) - s * (z[l] + z[l - near.s]);
    phit -= e * (x->e.phi - x->c.phi) + w * (x->c.phi - x->w.phi) + n * (x->n.phi - x->c.phi) + s * (x->c.phi - x->s.phi);
  }
  if (damped) WavesDamping(g, i, j, l, &sigma, &sigmain);
  WavesLeap(a, &a->z, k, zeta, zetat, sigma);
  WavesLeap(a, &a->p, k, phi, phit, sigmain);
}

/* e^(i ky y - i omega t) of wave c in a row */
WAVES_ROW void WavesRowOf(const WavesGrid *g, const WavesIncoming *in, PetscInt c, PetscInt j, PetscReal *re, PetscReal *im)
{
  const PetscReal er = in->ey[2 * c * g->ym + j], ei = in->ey[(2 * c + 1) * g->ym + j];

  *re = er * in->c[c] + ei * in->s[c];
  *im = ei * in->c[c] - er * in->s[c];
}

/* zeta = sum a cos(theta - omega t), phi = sum (g a / omega) sin(theta - omega t) with theta = k.x + phase */
WAVES_ROW void WavesAddWave(const WavesGrid *g, const WavesIncoming *in, PetscInt c, PetscInt i, PetscReal re, PetscReal im, PetscReal *zeta, PetscReal *phi)
{
  const PetscReal er = in->ex[2 * c * g->xm + i], ei = in->ex[(2 * c + 1) * g->xm + i];

  *zeta += er * re - ei * im;
  *phi += in->g[c] * (er * im + ei * re);
}

WAVES_ROW void WavesIncomingNode(const WavesStep *a, const WavesIncoming *in, PetscInt i, PetscInt j, PetscReal zeta, PetscReal phi)
{
  const PetscInt k = WavesOwn(&a->grid, i, j), l = WavesWith(&a->grid, i, j);
  PetscReal      sigma, sigmain;

  if (a->grid.h[l] <= 0.0) return;
  if (in->everywhere) {
    a->z.next[k] += zeta;
    a->p.next[k] += phi;
  } else {
    WavesDamping(&a->grid, i, j, l, &sigma, &sigmain);
    WavesLeapMore(a, &a->z, k, sigmain * zeta, sigma);
    WavesLeapMore(a, &a->p, k, sigmain * phi, sigmain);
  }
}

/* Draft of a ship at (x, y): an ellipse, or a bathtub with a flat bottom */
WAVES_ROW PetscReal WavesDraft(const WavesShip *ship, PetscReal x, PetscReal y)
{
  const PetscReal dx = x - ship->x, dy = y - ship->y;
  const PetscReal a = 2.0 * (dx * ship->dir[0] + dy * ship->dir[1]) / ship->length, b = 2.0 * (dy * ship->dir[0] - dx * ship->dir[1]) / ship->width;

  if (PetscAbsReal(a) >= 1.0 || PetscAbsReal(b) >= 1.0) return 0.0;
  if (ship->shape == SHIP_BATHTUB) return ship->draft * PetscMin(1.0, 4.0 * (1.0 - PetscAbsReal(a))) * PetscMin(1.0, 2.0 * (1.0 - PetscAbsReal(b)));
  return a * a + b * b < 1.0 ? ship->draft * (1.0 - a * a - b * b) : 0.0;
}

/* P = -g draft */
WAVES_ROW void WavesShipNode(const WavesStep *a, const WavesShip *ship, PetscInt i, PetscInt j)
{
  const PetscInt  k = WavesOwn(&a->grid, i, j), l = WavesWith(&a->grid, i, j);
  const PetscReal draft = WavesDraft(ship, i * a->grid.d[0], j * a->grid.d[1]);
  PetscReal       sigma, sigmain;

  if (a->grid.h[l] <= 0.0 || draft <= 0.0) return;
  WavesDamping(&a->grid, i, j, l, &sigma, &sigmain);
  WavesLeapMore(a, &a->p, k, -GRAVITY * draft, sigmain);
}

/* S = dx dy M - div N grad; rows of dry nodes are those of the identity */
WAVES_ROW void WavesMatrixNode(const WavesMatrix *a, PetscInt k, PetscInt l, WavesNear near)
{
  const WavesGrid *g     = &a->grid;
  const PetscInt   to[5] = {l - near.s, l - near.w, l, l + near.e, l + near.n};
  const PetscReal  rx = 0.5 * g->d[1] / g->d[0], ry = 0.5 * g->d[0] / g->d[1], ratio[5] = {ry, rx, 0.0, rx, ry};
  PetscScalar     *v = a->v + 5 * k;
  PetscReal        D, M, N, Nto;

  WavesCoefficients(a->model, a->kappa, g->h[l], &D, &M, &N);
  v[2] = g->h[l] > 0.0 ? g->d[0] * g->d[1] * M : 1.0;
  for (int f = 0; f < 5; ++f) {
    if (f == 2) continue;
    WavesCoefficients(a->model, a->kappa, g->h[to[f]], &D, &M, &Nto);
    v[f] = to[f] != l && WavesFace(g->h[l], g->h[to[f]]) > 0.0 ? -ratio[f] * (N + Nto) : 0.0;
    v[2] -= v[f];
  }
}

/* Sets zeta and phi to zero where the sea has fallen dry */
WAVES_ROW void WavesDryNode(const WavesGrid *g, PetscInt k, PetscInt l, PetscScalar *const field[6])
{
  if (g->h[l] > 0.0) return;
  for (int f = 0; f < 6; ++f) field[f][k] = 0.0;
}
