/* The sea of waves.c */
#pragma once

#include <petscdmda.h>
#include <petscksp.h>
#include "frame.h"

typedef enum {
  EDGE_WALL,
  EDGE_OPEN,
  EDGE_INCOMING
} EdgeType;

typedef enum {
  START_REST,
  START_HUMP,
  START_MODE,
  START_WAVES
} StartType;

typedef enum {
  ROUTINE_REFRESH,
  ROUTINE_RHS,
  ROUTINE_SOLVE,
  ROUTINE_STEP,
  ROUTINE_INCOMING,
  ROUTINE_SHIPS,
  ROUTINE_PICTURE,
  NROUTINES
} RoutineType;

#define MAX_SHIPS      64
#define MAX_COMPONENTS 256
#define MAX_ITERATIONS 1000

typedef struct {
  PetscReal x[2], v[2], length, width, draft;
} Ship;

/* A plane wave a cos(k.x - omega t + phase) */
typedef struct {
  PetscReal a, k[2], omega, phase;
} Wave;

/* The part of a relief of the earth around a window: rows from south to north, columns from west to east, heights in metres */
typedef struct {
  char       file[PETSC_MAX_PATH_LEN], variable[128];
  PetscReal  window[4], length[2]; /* west, east, south and north in degrees; lengths in metres */
  PetscInt   n[2];
  PetscReal *lon, *lat, *height;
} Relief;

typedef struct {
  /* Options */
  PetscInt  n[2], site;
  Relief    relief;
  PetscReal length[2], d[2], dt, depth, mindepth, mostdepth, current[2];
  ModelType model;
  PetscReal kappa;
  EdgeType  edge[4]; /* west, east, south, north */
  PetscReal edgewidth, filter;
  StartType start;
  PetscInt  mode[2];
  ShipType  shape;
  PetscInt  nship, components, frames;
  Ship      ship[MAX_SHIPS];
  PetscReal height, period, direction;        /* of the incoming waves */
  PetscReal tideheight, tideperiod;           /* no tide without a period */
  PetscInt  tideevery, picture, vtk;          /* every so many frames, 0 for never */
  PetscInt  rows;                             /* of WavesGrid */
  PetscBool watchenergy, watchlevel, profile; /* energy and level are computed in every frame; each routine is timed */

  /* Derived data */
  DM        dm;
  PetscInt  xs, ys, xm, ym;
  PetscBool device, alone, host;                            /* runs on a GPU; is the only process; must not run on a GPU */
  Vec       zeta, phi, psi, zeta0, phi0, psi0, zeta1, phi1; /* this frame, the one before, and space for another */
  Vec       b, lzeta, lphi, lpsi;                           /* l: with ghost nodes, unless the process is alone */
  Vec       bed, h, D, values;                              /* bed, h, D with ghost nodes; entries of S */
  Vec       edges, waves;                                   /* tables of WavesGrid and WavesIncoming */
  PetscInt  inner[4];                                       /* i0, i1, j0, j1 of WavesGrid */
  PetscInt  nzone, nwave;
  WavesBox  zone[4]; /* own nodes near incoming edges */
  Wave      wave[MAX_COMPONENTS];
  PetscReal maxdepth;
  Mat       S;
  KSP       ksp;

  /* State of the run */
  PetscInt       frame;
  PetscReal      t, tide;
  PetscInt       its, maxits, histogram[MAX_ITERATIONS + 1];
  PetscReal      energy, energy0, drift;  /* now, at the start, largest relative change */
  PetscReal      projection, crossing[2]; /* of zeta on the mode; times of its first and last zero */
  PetscInt       ncrossing;               /* zeros of the projection */
  PetscReal      square;                  /* mean of zeta^2 over the sea, summed over the second half of the frames */
  PetscLogDouble clock[NROUTINES], began;
  Vec            natural, whole; /* zeta gathered on the first process */
  VecScatter     gather;
} Sea;

/* options.c, bathymetry.c, relief.c */
PetscErrorCode SeaGetOptions(Sea *);
PetscErrorCode SeaGetSite(Sea *);
PetscErrorCode ReliefRead(Relief *);
PetscErrorCode ReliefDestroy(Relief *);
PetscReal      ReliefDepth(const Relief *, PetscReal x, PetscReal y); /* in the window's coordinates from 0 to 1 */
/* Depth of the bed below the mean level, in any node of the grid */
PetscReal SeaBed(const Sea *, PetscInt i, PetscInt j);

/* sea.c */
/* Maximum number of nodes for which the indices can count the entries, with a margin of one percent for processes with one line more than others */
PetscErrorCode SeaMostNodes(PetscReal *);
PetscErrorCode SeaCreate(Sea *);
PetscErrorCode SeaReset(Sea *); /* frees what SeaCreate() made */
PetscErrorCode SeaSetDepth(Sea *);
PetscErrorCode SeaSetMatrix(Sea *);
/* omega of a wave with this k^2 in water of constant depth */
PetscReal SeaDispersion(const Sea *, PetscReal k2, PetscReal h);
/* A standing wave of the closed basin */
PetscReal SeaMode(const Sea *, PetscInt i, PetscInt j);
/* The grid with its arrays, in the memory of the vectors */
PetscErrorCode SeaGetGrid(Sea *, WavesGrid *);
PetscErrorCode SeaRestoreGrid(Sea *, WavesGrid *);
/* lu: u with ghost nodes; *with is lu, or u itself if the process is alone */
PetscErrorCode SeaNeighbours(Sea *, Vec u, Vec lu, Vec *with);

/* frame.c: the parts of a frame */
PetscErrorCode SeaRegister(void);
const char    *SeaRoutineName(RoutineType);
PetscErrorCode SeaBegin(Sea *, RoutineType);
PetscErrorCode SeaEnd(Sea *, RoutineType);
PetscErrorCode SeaRefresh(Sea *);
PetscErrorCode SeaRightHandSide(Sea *);
PetscErrorCode SeaSolve(Sea *);
PetscErrorCode SeaStep(Sea *);
PetscErrorCode SeaFillWaves(Sea *);
void           SeaShip(const Sea *, PetscInt k, WavesShip *); /* ship number k at this time */

/* picture.c, report.c */
PetscBool      SeaPictureIsDue(const Sea *); /* at this frame */
PetscErrorCode SeaPicture(Sea *);
PetscErrorCode SeaWatch(Sea *);
PetscErrorCode SeaReport(Sea *);

/* run.c */
PetscErrorCode SeaRun(Sea *);
PetscErrorCode SeaRealTime(Sea *);
