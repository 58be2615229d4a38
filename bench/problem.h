/* The problem of the benchmarks: a grid of cells with bubbles of another coefficient, or log-normal coefficients, and a smooth right-hand side. */
#pragma once

#include "points.h"
#include <petscvec.h>

/* -graph */
typedef enum {
  GRAPH_NONE,
  GRAPH_POWER,
  GRAPH_TETRAHEDRA,
  GRAPH_CUBES,
  GRAPH_FOURTH
} Graph;

typedef struct {
  PetscInt  dim, n[3], N, bubbles;
  PetscInt  first, rows;                    /* of this process: whole lines in 2-D, whole planes in 3-D */
  PetscReal contrast, shift, walls, peclet; /* walls: coefficient of a wall over that of its cell */
  PetscReal sigma;                          /* coefficients are exp(sigma g), g normal */
  PetscInt  correlation;                    /* g is drawn for each so many-th cell of a direction and linear between those; 1: in each cell by itself */
  PetscBool centre;
  PetscReal weight[3];           /* of the couplings in each direction */
  PetscReal stretch[3], mean[3]; /* of the lengths of cells: the one in the middle over that at the walls, and their mean before they are scaled to one */
  PetscReal wind[3];             /* of the convection in each direction, times peclet */
  PetscBool divided;             /* rows are divided by the coefficients of their cells */
  PetscBool circles, upwind;     /* in closed circles instead of along the diagonal; by upwind instead of central differences */
  PetscReal reaction;            /* r of -laplace u + v . grad u - r u on the unit cube */
  PetscInt  points;              /* > 0: no grid, but so many random points */
  Graph     graph;               /* one of graphs.h */
  PetscInt *place;               /* the node of each row; NULL: its number */
} Problem;

/* The length of cell k in direction d over the mean one: it grows by a factor from cell to cell, from both walls to the middle */
static inline PetscReal CellLength(const Problem *p, PetscInt d, PetscInt k)
{
  const PetscInt half = (p->n[d] - 1) / 2;

  return p->stretch[d] == 1 || half < 1 ? 1 : PetscPowReal(p->stretch[d], (PetscReal)PetscMin(k, p->n[d] - 1 - k) / (PetscReal)half) / p->mean[d];
}

static inline PetscErrorCode GetProblem(Problem *p)
{
  const char *const walls[]  = {"half", "whole", "Walls", "", NULL};
  const char *const graphs[] = {"none", "power", "tetrahedra", "cubes", "fourth", "Graphs", "", NULL};
  PetscInt          n = 64, nxy[2], two = 2, three = 3, lines = PETSC_DECIDE;
  PetscEnum         wall = (PetscEnum)0, graph = (PetscEnum)0;

  PetscFunctionBeginUser;
  p->dim      = 3;
  p->contrast = 1000;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p->dim, NULL));
  PetscCheck(p->dim == 2 || p->dim == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-dim is 2 or 3, not %" PetscInt_FMT, p->dim);
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  nxy[0] = nxy[1] = n;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-nxy", nxy, &two, NULL));
  p->n[0] = nxy[0];
  p->n[1] = nxy[1];
  p->n[2] = p->dim == 3 ? n : 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-nz", &p->n[p->dim - 1], NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-walls", walls, &wall, NULL));
  p->walls     = wall ? 1 : 2;
  p->weight[0] = p->weight[1] = p->weight[2] = 1;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-weights", p->weight, &three, NULL));
  p->stretch[0] = p->stretch[1] = p->stretch[2] = p->mean[0] = p->mean[1] = p->mean[2] = 1;
  three                                                                                = 3;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-stretch", p->stretch, &three, NULL));
  p->wind[0] = p->wind[1] = p->wind[2] = 1;
  three                                = 3;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-wind", p->wind, &three, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-reaction", &p->reaction, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-graph", graphs, &graph, NULL));
  p->graph = (Graph)graph;
  if (p->graph == GRAPH_POWER) p->n[1] = p->n[2] = p->dim = 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-points", &p->points, NULL));
  if (p->points > 0) {
    PetscMPIInt size;

    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-points is for one process");
    p->n[0] = p->points;
    p->n[1] = p->n[2] = p->dim = 1;
  }
  for (PetscInt d = 0; d < 3; ++d) {
    PetscReal sum = 0;

    PetscCheck(p->stretch[d] > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-stretch has ratios of lengths, not %g", (double)p->stretch[d]);
    for (PetscInt k = 0; k < p->n[d]; ++k) sum += CellLength(p, d, k);
    p->mean[d] = sum / (PetscReal)p->n[d];
  }
  p->N = p->n[0] * p->n[1] * p->n[2];
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &lines, &p->n[p->dim - 1]));
  p->rows = p->N / p->n[p->dim - 1] * lines;
  PetscCallMPI(MPI_Scan(&p->rows, &p->first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  p->first -= p->rows;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bubbles", &p->bubbles, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-centre", &p->centre, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &p->contrast, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lognormal", &p->sigma, NULL));
  p->correlation = 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-correlation", &p->correlation, NULL));
  PetscCheck(p->correlation > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-correlation is a number of cells, not %" PetscInt_FMT, p->correlation);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &p->shift, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-peclet", &p->peclet, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-divided", &p->divided, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-circles", &p->circles, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-upwind", &p->upwind, NULL));
  PetscFunctionReturn(0);
}

/* Ends with an error where no one has read an option of `options`, nor the same one of the program: a misspelt option must not leave another problem */
static inline PetscErrorCode RequireOptionsRead(PetscOptions options)
{
  char    **names, **values;
  PetscInt  n;
  PetscBool used = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsLeftGet(options, &n, &names, &values));
  for (PetscInt k = 0; k < n; ++k) {
    if (options) PetscCall(PetscOptionsUsed(NULL, names[k], &used));
    else used = PETSC_FALSE;
    PetscCheck(used, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Nothing in this program reads the option -%s", names[k]);
  }
  PetscCall(PetscOptionsLeftRestore(options, &n, &names, &values));
  PetscFunctionReturn(0);
}

/* Positive inside a bubble */
static inline PetscReal LevelSet(const Problem *p, const PetscInt at[3])
{
  PetscReal lattice = 0, middle = 0, radius;

  if (!p->bubbles) return -1;
  radius = 0.3 / (PetscReal)p->bubbles;
  for (PetscInt d = 0; d < p->dim; ++d) {
    const PetscReal x = ((PetscReal)at[d] + 0.5) / (PetscReal)p->n[d], k = (PetscReal)p->bubbles;

    lattice += PetscSqr(x - (PetscFloorReal(x * k) + 0.5) / k);
    middle += PetscSqr(x - 0.5);
  }
  if (p->centre) lattice = PetscMin(lattice, middle);
  return radius - PetscSqrtReal(lattice);
}

static inline void Cell(const Problem *p, PetscInt row, PetscInt at[3])
{
  if (p->place) row = p->place[row];
  at[0] = row % p->n[0];
  at[1] = row / p->n[0] % p->n[1];
  at[2] = row / p->n[0] / p->n[1];
}

/* A normal number of variance 1 for each cell: sums of w_c g_c over the corners c of the lattice around it, over the root of the sum of w_c^2 */
static inline PetscReal Normal(const Problem *p, const PetscInt at[3])
{
  PetscReal sum = 0, squares = 0;

  for (int corner = 0; corner < 1 << p->dim; ++corner) {
    PetscReal w        = 1;
    PetscInt  where[3] = {0, 0, 0};

    for (PetscInt d = 0; d < p->dim; ++d) {
      const PetscReal part = (PetscReal)(at[d] % p->correlation) / (PetscReal)p->correlation;
      const int       next = corner >> d & 1;

      where[d] = at[d] / p->correlation + next;
      w *= next ? part : 1 - part;
    }
    if (w > 0) {
      const unsigned long long k = (unsigned long long)(where[0] + p->n[0] * (where[1] + (PetscInt64)p->n[1] * where[2]));

      sum += w * PetscSqrtReal(-2 * PetscLogReal(1 - DrawAt(2 * k))) * PetscCosReal(2 * PETSC_PI * DrawAt(2 * k + 1));
      squares += w * w;
    }
  }
  return sum / PetscSqrtReal(squares);
}

static inline PetscScalar Kappa(const Problem *p, PetscInt row)
{
  PetscInt at[3];

  Cell(p, row, at);
  if (p->sigma > 0) return PetscExpReal(p->sigma * Normal(p, at));
  return LevelSet(p, at) > 0 ? p->contrast : 1.0;
}

/* What flows out of a cell through its face in direction d, ahead (side 1) or behind (-1), over what is conducted through it */
static inline PetscReal Outflow(const Problem *p, const PetscInt at[3], int d, int side)
{
  PetscReal x[2], v = p->wind[d];

  for (int k = 0; k < 2; ++k) x[k] = PETSC_PI * ((PetscReal)at[k] + 0.5 + (k == d ? 0.5 * side : 0)) / (PetscReal)p->n[k];
  if (p->circles) v *= d == 0 ? PetscSinReal(x[0]) * PetscCosReal(x[1]) : d == 1 ? -PetscCosReal(x[0]) * PetscSinReal(x[1]) : 0;
  return side * v * p->peclet / (PetscReal)p->n[d];
}

/* A coupling over that of conduction alone */
static inline PetscReal Convected(const Problem *p, PetscReal outflow)
{
  return p->upwind ? 1 + PetscMax(0, -outflow) : 1 - outflow / 2;
}

/* One row with columns ascending; the entries are harmonic means of the coefficients. Returns the number of entries */
static inline PetscInt Row(const Problem *p, PetscInt row, PetscInt col[7], PetscScalar val[7])
{
  const PetscInt    stride[3] = {1, p->n[0], p->n[0] * p->n[1]};
  const PetscScalar kappa     = Kappa(p, row);
  PetscInt          at[3], nz = 0, main = 0;
  PetscReal         volume   = 1;
  PetscScalar       diagonal = p->shift - p->reaction / PetscSqr((PetscReal)p->n[0]);

  Cell(p, row, at);
  for (PetscInt d = 0; d < p->dim; ++d) volume *= CellLength(p, d, at[d]);
  for (int k = -p->dim; k <= p->dim; ++k) {
    const int       d   = k < 0 ? -k - 1 : k - 1;
    const PetscReal out = k ? Outflow(p, at, d, k < 0 ? -1 : 1) : 0;

    if (k == 0) {
      main      = nz;
      col[nz++] = row;
    } else if (k < 0 ? at[d] > 0 : at[d] < p->n[d] - 1) {
      const PetscInt    j     = k < 0 ? row - stride[d] : row + stride[d];
      const PetscScalar other = Kappa(p, j), h = CellLength(p, d, at[d]), next = CellLength(p, d, at[d] + (k < 0 ? -1 : 1));
      const PetscScalar v = p->weight[d] * volume / h * 2 * kappa * other / (kappa * next + other * h);

      col[nz]   = j;
      val[nz++] = -v * Convected(p, out);
      diagonal += p->upwind ? v * Convected(p, out) : v;
    } else if (!p->bubbles && p->shift == 0)
      diagonal += p->weight[d] * kappa * volume / PetscSqr(CellLength(p, d, at[d])) * (p->walls + (p->upwind ? PetscMax(0, -out) : 0));
  }
  val[main] = diagonal;
  for (PetscInt k = 0; k < nz && p->divided; ++k) val[k] /= kappa;
  return nz;
}

/* The right-hand side of a row, in the range of A */
static inline PetscScalar RightHandSide(const Problem *p, PetscInt row)
{
  PetscInt    at[3];
  PetscScalar v = 1;

  Cell(p, row, at);
  for (PetscInt d = 0; d < p->dim; ++d) v *= PetscCosReal(PETSC_PI * ((PetscReal)at[d] + 0.5) / (PetscReal)p->n[d]) + (p->bubbles ? 0 : 0.5);
  return v;
}
