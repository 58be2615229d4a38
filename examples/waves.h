/* The sea of waves.c: its data, bathymetries, coefficients and options */
#pragma once

#include <petscdmda.h>
#include <petscksp.h>

typedef enum {
  MODEL_PARABOLIC,
  MODEL_COSH
} ModelType;
static const char *const ModelTypes[] = {"parabolic", "cosh", "ModelType", "MODEL_", NULL};

typedef enum {
  EDGE_WALL,
  EDGE_OPEN,
  EDGE_INCOMING
} EdgeType;
static const char *const EdgeTypes[] = {"wall", "open", "incoming", "EdgeType", "EDGE_", NULL};

typedef enum {
  START_REST,
  START_HUMP,
  START_MODE
} StartType;
static const char *const StartTypes[] = {"rest", "hump", "mode", "StartType", "START_", NULL};

typedef enum {
  SHIP_ELLIPSE,
  SHIP_BATHTUB
} ShipType;
static const char *const ShipTypes[] = {"ellipse", "bathtub", "ShipType", "SHIP_", NULL};

typedef enum {
  ROUTINE_INCOMING,
  ROUTINE_SHIPS,
  ROUTINE_RHS,
  ROUTINE_SOLVE,
  ROUTINE_RATES,
  ROUTINE_LEAPFROG,
  ROUTINE_PICTURE,
  NROUTINES
} RoutineType;
static const char *const RoutineNames[] = {"WavesIncoming", "WavesShips", "WavesRhs", "WavesSolve", "WavesRates", "WavesLeapfrog", "WavesPicture"};

#define GRAVITY        9.81
#define MAX_SHIPS      64
#define MAX_COMPONENTS 256

typedef struct {
  PetscReal x[2], v[2], length, width, draft;
} Ship;

/* A plane wave a cos(k.x - omega t + phase) */
typedef struct {
  PetscReal a, k[2], omega, phase;
} Wave;

typedef struct {
  PetscInt  n[2], site;
  PetscReal length[2], d[2], dt, t, depth, mindepth, maxdepth, current[2];
  ModelType model;
  PetscReal kappa;
  EdgeType  edge[4]; /* west, east, south, north */
  PetscReal edgewidth, filter;
  StartType start;
  PetscInt  mode[2];
  ShipType  shape;
  PetscInt  nship, nwave, frame, frames;
  Ship      ship[MAX_SHIPS];
  Wave      wave[MAX_COMPONENTS];
  PetscReal height, period, direction;

  DM            dm;
  PetscInt      xs, ys, xm, ym;
  Vec           zeta, phi, psi, zeta0, phi0, psi0; /* this frame and the one before */
  Vec           zetat, phit, b;
  Vec           lzeta, lphi, lpsi; /* with the neighbours' nodes */
  Vec           coefficient[13];
  PetscScalar **h, **m, **sigma, **sigmain, **pressure;       /* in the nodes */
  PetscScalar **hx, **hy, **ex, **ey, **nx, **ny, **ux, **uy; /* on the east and the north face: h, h D, N, current, times length over distance */
  PetscInt      nzone, (*zone)[2];                            /* nodes where incoming waves are imposed */
  PetscReal    *wavecos, *wavesin, *zetain, *phiin;
  Mat           S;
  KSP           ksp;

  PetscInt       its, maxits;
  PetscReal      energy, energy0, drift;  /* now, at the start, largest relative change */
  PetscReal      projection, crossing[2]; /* of zeta on the mode; times of its first and last zero */
  PetscInt       ncrossing, every;        /* zeros of the projection; frames between pictures */
  PetscReal      square;                  /* mean of zeta^2 over the sea, summed over the second half of the frames */
  PetscLogEvent  event[NROUTINES];
  PetscLogDouble clock[NROUTINES], began;
  Vec            natural, whole; /* zeta on the first process */
  VecScatter     gather;
  PetscBool      watchenergy, watchlevel; /* energy and level are needed in every frame */
} Sea;

/* ------------------------------------------------ bathymetries ------------------------------------------------ */

static inline PetscBool Inside(const PetscReal x[2], PetscReal x0, PetscReal x1, PetscReal y0, PetscReal y1)
{
  return (PetscBool)(x[0] > x0 && x[0] < x1 && x[1] > y0 && x[1] < y1);
}

/* A shoal 2 m below the surface, a beach in the north-west and a basin behind quays in the north-east */
static PetscReal DepthHarbour(const PetscReal x[2])
{
  const PetscReal r = PetscSqrtReal(PetscSqr(x[0] - 300.0) + PetscSqr(x[1] - 450.0));

  if (Inside(x, 350.0, 570.0, 930.0, 1170.0) || Inside(x, 420.0, 500.0, 890.0, 940.0)) return 10.0;
  if (x[0] > 300.0 && x[1] > 900.0) return -3.0;
  if (x[1] > 1000.0) return 30.0 - 34.0 * (x[1] - 1000.0) / 200.0;
  return r < 125.0 ? 2.0 + 28.0 * r / 125.0 : 30.0;
}

/* A winding river, a fifth of the land wide */
static PetscReal DepthRiver(const PetscReal x[2])
{
  const PetscReal s = (x[1] - 200.0 - 24.0 * PetscSinReal(2.0 * PETSC_PI * x[0] / 500.0)) / 40.0;

  return PetscMax(8.0 * (1.0 - s * s), -4.0);
}

/* A round bay whose bottom rises from 25 m, with a breakwater before it */
static PetscReal DepthBay(const PetscReal x[2])
{
  const PetscReal r     = PetscSqrtReal(PetscSqr(x[0] - 1000.0) + PetscSqr(PetscMax(x[1] - 350.0, 0.0)));
  const PetscReal shore = x[1] < 250.0 ? 25.0 : 0.08 * (820.0 - r);

  if (Inside(x, 650.0, 1350.0, 488.0, 512.0)) return -2.0;
  return PetscMin(25.0 - 17.0 * x[1] / 1250.0, PetscMax(shore, -20.0));
}

/* Four basins in a straight coast behind a mole */
static PetscReal DepthPort(const PetscReal x[2])
{
  if (Inside(x, 300.0, 1500.0, 556.0, 580.0) || Inside(x, 300.0, 324.0, 556.0, 820.0)) return -3.0;
  if (x[1] < 820.0) return 20.0;
  for (int k = 0; k < 4; ++k) {
    if (Inside(x, 400.0 + 300.0 * k, 560.0 + 300.0 * k, 800.0, 1150.0)) return 14.0;
  }
  return -4.0;
}

static const struct {
  const char *name;
  PetscReal (*depth)(const PetscReal[2]); /* in the coordinates of the lengths that follow */
  PetscReal   length[2], mesh;
  const char *options;
} sites[] = {
  {"flat",    NULL,         {500.0, 500.0},   5.0, ""                                                                                                                                                 },
  {"harbour", DepthHarbour, {600.0, 1200.0},  5.0, "-waves_edges wall,wall,incoming,wall -waves_incoming 1.5,8,90 -waves_ships 120,150,0,6,60,14,3"                                                   },
  {"river",   DepthRiver,   {1000.0, 400.0},  2.0, "-waves_edges open,open,wall,wall -waves_edge_width 60 -waves_ships 120,200,4,0,40,8,1.5,900,195,-3,0,30,7,1"                                      },
  {"bay",     DepthBay,     {2000.0, 1250.0}, 5.0, "-waves_edges open,open,incoming,wall -waves_incoming 1.5,9,80 -waves_ships 300,350,7,0,120,24,5"                                                  },
  {"port",    DepthPort,    {2000.0, 1250.0}, 5.0, "-waves_edges open,open,incoming,wall -waves_incoming 1,8,100 -waves_ships 1750,690,-6,0,100,20,5,1380,1050,0,-1,60,14,3 -waves_ship_shape bathtub"},
};

/* Depth in a node; outside of the grid there is land */
static PetscReal Depth(const Sea *s, PetscInt i, PetscInt j)
{
  const PetscReal *ref  = sites[s->site].length;
  const PetscReal  x[2] = {ref[0] * i / (s->n[0] - 1), ref[1] * j / (s->n[1] - 1)};

  if (i < 0 || j < 0 || i >= s->n[0] || j >= s->n[1]) return -1.0;
  return sites[s->site].depth ? sites[s->site].depth(x) : s->depth;
}

/* ------------------------------------------------ the model ------------------------------------------------ */

/*
  D, M and N of the parabolic shape f = z + z^2/(2h), or of f = cosh(kappa(h+z))/cosh(kappa h) - 1, whose division by the cosh keeps numbers small
  in deep water and scales psi only
*/
static void Coefficients(const Sea *s, PetscReal h, PetscReal *D, PetscReal *M, PetscReal *N)
{
  const PetscReal k = s->kappa, x = k * h;

  *D = *M = *N = 0.0;
  if (h < s->mindepth) return;
  if (s->model == MODEL_PARABOLIC) {
    *D = h / 3.0;
    *M = h / 3.0;
    *N = 2.0 * h * h * h / 15.0;
  } else if (x < 0.02) { /* where the differences below would cancel */
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

/* omega of a wave with this k^2 in water of constant depth */
static PetscReal Dispersion(const Sea *s, PetscReal k2, PetscReal h)
{
  PetscReal D, M, N;

  Coefficients(s, h, &D, &M, &N);
  return PetscSqrtReal(GRAVITY * k2 * h * (1.0 - h * D * D * k2 / (M + N * k2)));
}

/* Uniform in [0,1), a function of the index alone: the finaliser of splitmix64 */
static PetscReal Random(PetscInt index)
{
  unsigned long long z = (unsigned long long)(index + 1) * 0x9E3779B97F4A7C15ULL;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z = z ^ (z >> 31);
  return (PetscReal)(z >> 11) / 9007199254740992.0;
}

/* Plane waves whose heights follow the JONSWAP spectrum, in directions of up to 15 degrees to both sides; those too short for the grid are left out */
static PetscErrorCode MakeWaves(Sea *s, PetscReal h)
{
  const PetscReal fp = 1.0 / s->period, lo = 0.6 * fp, hi = 2.2 * fp;
  const PetscInt  n   = s->nwave;
  PetscReal       sum = 0.0;

  PetscFunctionBegin;
  s->nwave = 0;
  for (PetscInt c = 0; c < n; ++c) {
    const PetscReal f = lo + (hi - lo) * (c + Random(3 * c)) / n, width = f < fp ? 0.07 : 0.09, e = PetscSqr((f - fp) / (width * fp)) / 2.0;
    const PetscReal angle = PETSC_PI / 180.0 * (s->direction + 30.0 * (Random(3 * c + 1) - 0.5));
    Wave           *w     = &s->wave[s->nwave];
    PetscReal       k0 = 0.0, k1 = 1.2 / PetscMax(s->d[0], s->d[1]);

    w->omega = 2.0 * PETSC_PI * f;
    if (Dispersion(s, k1 * k1, h) < w->omega) continue;
    for (int bisection = 0; bisection < 60; ++bisection) {
      const PetscReal k = 0.5 * (k0 + k1);

      if (Dispersion(s, k * k, h) < w->omega) k0 = k;
      else k1 = k;
    }
    w->k[0]  = k0 * PetscCosReal(angle);
    w->k[1]  = k0 * PetscSinReal(angle);
    w->phase = 2.0 * PETSC_PI * Random(3 * c + 2);
    w->a     = PetscSqrtReal(PetscPowReal(f / fp, -5.0) * PetscExpReal(-1.25 * PetscPowReal(fp / f, 4.0)) * PetscPowReal(3.3, PetscExpReal(-e)));
    sum += 0.5 * w->a * w->a;
    s->nwave++;
  }
  PetscCheck(s->nwave, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Waves of period %g s are too short for this grid: use more nodes or a longer period in -waves_incoming", (double)s->period);
  for (PetscInt c = 0; c < s->nwave; ++c) s->wave[c].a *= s->height / 4.0 / PetscSqrtReal(sum);
  PetscFunctionReturn(0);
}

static inline PetscBool Wet(const Sea *s, PetscInt i, PetscInt j)
{
  return (PetscBool)(PetscRealPart(s->h[j][i]) > 0.0);
}

/* A standing wave of the closed basin: walls lie half a mesh width outside of the outer nodes */
static inline PetscReal Mode(const Sea *s, PetscInt i, PetscInt j)
{
  return PetscCosReal(PETSC_PI * s->mode[0] * (i + 0.5) / s->n[0]) * PetscCosReal(PETSC_PI * s->mode[1] * (j + 0.5) / s->n[1]);
}

/* Draft of a ship at its place (x, y): an ellipse, or a bathtub with a flat bottom */
static PetscReal Draft(const Sea *s, const Ship *ship, PetscReal x, PetscReal y)
{
  const PetscReal speed  = PetscSqrtReal(PetscSqr(ship->v[0]) + PetscSqr(ship->v[1]));
  const PetscReal dir[2] = {speed > 0.0 ? ship->v[0] / speed : 1.0, speed > 0.0 ? ship->v[1] / speed : 0.0};
  const PetscReal dx = x - ship->x[0] - ship->v[0] * s->t, dy = y - ship->x[1] - ship->v[1] * s->t;
  const PetscReal a = 2.0 * (dx * dir[0] + dy * dir[1]) / ship->length, b = 2.0 * (dy * dir[0] - dx * dir[1]) / ship->width;

  if (PetscAbsReal(a) >= 1.0 || PetscAbsReal(b) >= 1.0) return 0.0;
  if (s->shape == SHIP_BATHTUB) return ship->draft * PetscMin(1.0, 4.0 * (1.0 - PetscAbsReal(a))) * PetscMin(1.0, 2.0 * (1.0 - PetscAbsReal(b)));
  return a * a + b * b < 1.0 ? ship->draft * (1.0 - a * a - b * b) : 0.0;
}

static PetscErrorCode Begin(Sea *s, RoutineType routine)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(s->event[routine], 0, 0, 0, 0));
  PetscCall(PetscTime(&s->began));
  PetscFunctionReturn(0);
}

static PetscErrorCode End(Sea *s, RoutineType routine)
{
  PetscLogDouble now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  s->clock[routine] += now - s->began;
  PetscCall(PetscLogEventEnd(s->event[routine], 0, 0, 0, 0));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ options ------------------------------------------------ */

/* Chooses the bathymetry and adds those of its options that the user did not give */
static PetscErrorCode GetSite(Sea *s)
{
  char      name[64] = "flat", **args;
  int       nargs;
  PetscBool same = PETSC_FALSE, set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-waves_bathymetry", name, sizeof(name), NULL));
  for (s->site = 0; s->site < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(sites); ++s->site) {
    PetscCall(PetscStrcasecmp(name, sites[s->site].name, &same));
    if (same) break;
  }
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_bathymetry %s is not known: use flat, harbour, river, bay or port", name);
  PetscCall(PetscStrToArray(sites[s->site].options, ' ', &nargs, &args));
  for (int k = 0; k + 1 < nargs; k += 2) {
    PetscCall(PetscOptionsHasName(NULL, NULL, args[k], &set));
    if (!set) PetscCall(PetscOptionsSetValue(NULL, args[k], args[k + 1]));
  }
  PetscCall(PetscStrToArrayDestroy(nargs, args));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetGrid(Sea *s)
{
  PetscInt two = 2, n;

  PetscFunctionBegin;
  for (int d = 0; d < 2; ++d) s->length[d] = sites[s->site].length[d];
  n = 2;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_lengths", s->length, &n, NULL));
  PetscCheck(n == 0 || n == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_lengths takes two numbers");
  for (int d = 0; d < 2; ++d) {
    PetscCheck(s->length[d] > 0.0 && s->length[d] < 1e7, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_lengths must be positive and finite, not %g", (double)s->length[d]);
    s->n[d] = (PetscInt)(sites[s->site].length[d] / sites[s->site].mesh + 1.5);
  }
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-waves_n", s->n, &two, NULL));
  PetscCheck(two == 0 || two == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_n takes two numbers");
  for (int d = 0; d < 2; ++d) {
    PetscCheck(s->n[d] >= 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_n must be at least 3 in each direction, not %" PetscInt_FMT, s->n[d]);
    s->d[d] = s->length[d] / (s->n[d] - 1);
  }
  n = 2;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_current", s->current, &n, NULL));
  PetscCheck(n == 0 || n == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_current takes two numbers");
  PetscFunctionReturn(0);
}

static PetscErrorCode GetEdges(Sea *s)
{
  static const char *const sides[] = {"west", "east", "south", "north"};
  char                    *name[4];
  PetscInt                 n = 4;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-waves_edges", name, &n, NULL));
  PetscCheck(n == 0 || n == 1 || n == 4, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_edges takes one name or four: west,east,south,north");
  for (PetscInt e = 0; e < n; ++e) {
    PetscEnum value;
    PetscBool found;

    PetscCall(PetscEnumFind(EdgeTypes, name[e], &value, &found));
    PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The %s edge cannot be %s: use wall, open or incoming", sides[e], name[e]);
    for (PetscInt k = e; k < (n == 1 ? 4 : e + 1); ++k) s->edge[k] = (EdgeType)value;
    PetscCall(PetscFree(name[e]));
  }
  s->edgewidth = 100.0;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_edge_width", &s->edgewidth, NULL));
  PetscCheck(s->edgewidth > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_edge_width must be positive, not %g", (double)s->edgewidth);
  PetscFunctionReturn(0);
}

/* Ships and incoming waves */
static PetscErrorCode GetForcing(Sea *s)
{
  PetscReal ship[7 * MAX_SHIPS], in[3];
  PetscInt  n = 7 * MAX_SHIPS, three = 3;
  PetscBool incoming = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_ships", ship, &n, NULL));
  PetscCheck(n % 7 == 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_ships takes seven numbers for each ship: x,y,u,v,length,width,draft");
  s->nship = n / 7;
  for (PetscInt k = 0; k < s->nship; ++k) {
    const PetscReal *v = ship + 7 * k;

    s->ship[k] = (Ship){
      {v[0], v[1]},
      {v[2], v[3]},
      v[4], v[5], v[6]
    };
    PetscCheck(v[4] > 0.0 && v[5] > 0.0 && v[6] >= 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Ship %" PetscInt_FMT " has a length, width or draft that is not positive", k + 1);
  }
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-waves_ship_shape", ShipTypes, (PetscEnum *)&s->shape, NULL));
  for (int e = 0; e < 4; ++e) incoming = (PetscBool)(incoming || s->edge[e] == EDGE_INCOMING);
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_incoming", in, &three, NULL));
  PetscCheck(!incoming || three == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "An incoming edge needs -waves_incoming height,period,direction (degrees, 0 is to the east and 90 to the north)");
  if (!incoming) PetscFunctionReturn(0);
  s->height    = in[0];
  s->period    = in[1];
  s->direction = in[2];
  PetscCheck(s->height >= 0.0 && s->period > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_incoming needs a height that is not negative and a positive period");
  s->nwave = 40;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_components", &s->nwave, NULL));
  PetscCheck(s->nwave > 0 && s->nwave <= MAX_COMPONENTS, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_components %" PetscInt_FMT " is not between 1 and %d", s->nwave, MAX_COMPONENTS);
  PetscFunctionReturn(0);
}

static PetscErrorCode GetOptions(Sea *s)
{
  PetscReal wavelength = 100.0;
  PetscInt  n          = 2;
  PetscBool set, energy, left, dispersion, height;

  PetscFunctionBegin;
  PetscCall(GetSite(s));
  PetscCall(GetGrid(s));
  PetscCall(GetEdges(s));
  PetscCall(GetForcing(s));
  s->depth    = 30.0;
  s->mindepth = 0.5;
  s->dt       = 0.05;
  s->frames   = 200;
  s->filter   = 0.01;
  s->mode[0]  = 1;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_depth", &s->depth, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_min_depth", &s->mindepth, NULL));
  PetscCheck(s->mindepth > 0.0 && s->depth > s->mindepth && s->depth < 1e5, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_depth %g and -waves_min_depth %g must be positive, the first above the second", (double)s->depth, (double)s->mindepth);
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-waves_model", ModelTypes, (PetscEnum *)&s->model, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_wavelength", &wavelength, NULL));
  PetscCheck(wavelength > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_wavelength must be positive, not %g", (double)wavelength);
  s->kappa = 2.0 * PETSC_PI / wavelength;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_dt", &s->dt, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_frames", &s->frames, NULL));
  PetscCheck(s->dt > 0.0 && s->frames > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_dt and -waves_frames must be positive");
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_filter", &s->filter, NULL));
  PetscCheck(s->filter >= 0.0 && s->filter <= 0.2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_filter %g is not between 0 and 0.2", (double)s->filter);
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-waves_start", StartTypes, (PetscEnum *)&s->start, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-waves_mode", s->mode, &n, &set));
  PetscCheck(!set || (n == 2 && s->mode[0] >= 0 && s->mode[1] >= 0 && s->mode[0] + s->mode[1] > 0), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_mode takes two numbers that are not negative, not both zero");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_picture", &s->every, NULL));
  PetscCheck(s->every >= 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_picture must not be negative");
  PetscCall(PetscOptionsHasName(NULL, NULL, "-waves_check_energy", &energy));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-waves_check_left", &left));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-waves_check_dispersion", &dispersion));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-waves_check_height", &height));
  s->watchenergy = (PetscBool)(energy || left);
  s->watchlevel  = (PetscBool)(dispersion || height);
  PetscFunctionReturn(0);
}
