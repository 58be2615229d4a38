/* The flow of navierstokes.c */
#pragma once

#include <petscdmda.h>
#include <petscksp.h>

typedef enum {
  FLOW_CHANNEL,
  FLOW_CAVITY
} FlowType;

typedef enum {
  NUMBER_NATURAL,
  NUMBER_RANDOM
} NumberType;

#define MAX_OBSTACLES 256

/* Contents of a cell: the number of its pressure unknown, or one of these */
#define WALL  -1.0
#define FREE  -2.0 /* outside, with no shear at the boundary */
#define UNMET -3.0 /* fluid that the flooding has not reached yet */

enum {
  FIG_CONTINUITY,
  FIG_LEFT,
  FIG_ENERGY,
  FIG_PRESSURE,
  FIG_U_MIN,
  FIG_V_MIN,
  FIG_V_MAX,
  FIG_STEPS,
  FIG_ITERATIONS,
  FIGURES
};

typedef struct {
  FlowType       type;
  NumberType     numbering;
  PetscInt       n[3], dim, steps, sweeps;
  PetscReal      length[3], stretch, reynolds, central, relax, prelax, stop;
  PetscBool      consistent, monitor, table;
  PetscInt       ncylinder, nblock;
  PetscReal      cylinder[MAX_OBSTACLES][3], block[MAX_OBSTACLES][6];
  PetscReal     *face[3], *width[3]; /* of all cells of a direction, and of one beyond each end */
  DM             dm, celldm;
  Vec            x, g, cell;               /* local vectors: u, v, w, p; the d of the three faces and q; contents of the cells */
  PetscInt       lo[3], m[3], gs[3], s[3]; /* box of this process, its corner with ghost cells, strides */
  PetscInt       nl, nfluid, first, total; /* number of cells of the box, of fluid cells in it, first number, global number of fluid cells */
  PetscReal      inflow, outlet;           /* mass flux in, area of the outlet */
  PetscReal     *coef, *next;
  Mat            A;
  Vec            q, b;
  KSP            ksp;
  PetscReal      figure[FIGURES];
  PetscInt       its[3]; /* iterations of the pressure systems: minimum, sum, maximum */
  PetscLogDouble setup, solve, all;
} Flow;

/* Cell n of this process: its grid index c, and its index in a local vector */
static inline PetscInt Place(const Flow *f, PetscInt n, PetscInt c[3])
{
  c[0] = f->lo[0] + n % f->m[0];
  c[1] = f->lo[1] + n / f->m[0] % f->m[1];
  c[2] = f->lo[2] + n / (f->m[0] * f->m[1]);
  return c[0] - f->gs[0] + (c[1] - f->gs[1]) * f->s[1] + (c[2] - f->gs[2]) * f->s[2];
}

/* The face below a cell in direction d */
static inline PetscReal Area(const Flow *f, const PetscInt c[3], int d)
{
  return f->width[(d + 1) % 3][c[(d + 1) % 3]] * f->width[(d + 2) % 3][c[(d + 2) % 3]];
}

/* Is the velocity of that face an unknown? */
static inline PetscBool Open(const Flow *f, const PetscScalar cell[], PetscInt l, int d)
{
  return (PetscBool)(cell[l] >= 0.0 && cell[l - f->s[d]] >= 0.0);
}

PetscErrorCode FlowGetOptions(Flow *f);
PetscErrorCode FlowCreateGrid(Flow *f);
PetscErrorCode FlowExchange(DM dm, Vec x);
PetscErrorCode FlowNumberCells(Flow *f);
PetscErrorCode FlowSetOutlet(Flow *f);
PetscErrorCode FlowSetStart(Flow *f);
PetscErrorCode FlowPredict(Flow *f);
PetscErrorCode FlowCreatePressure(Flow *f);
PetscErrorCode FlowContinuity(const Flow *f, PetscReal *sum);
PetscErrorCode FlowFillPressure(Flow *f);
PetscErrorCode FlowSolvePressure(Flow *f);
PetscErrorCode FlowCorrect(Flow *f);
PetscErrorCode FlowMeasure(Flow *f);
PetscErrorCode FlowWriteVTK(const Flow *f, const char name[]);
PetscErrorCode FlowWritePicture(const Flow *f, const char name[]);
