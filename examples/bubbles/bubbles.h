/* The problem of bubbles.c */
#pragma once

#include <petscdmda.h>
#include <petscksp.h>

typedef enum {
  BC_NEUMANN,
  BC_DIRICHLET,
  BC_PERIODIC
} BCType;

typedef enum {
  PLACE_LATTICE,
  PLACE_RANDOM
} PlaceType;

typedef enum {
  DISC_FV,
  DISC_FE
} DiscType;

typedef enum {
  NUMBER_DMDA,
  NUMBER_NATURAL
} NumberType;

typedef enum {
  RHS_SMOOTH,
  RHS_RANDOM,
  RHS_IMAGE
} RhsType;

typedef enum {
  GUESS_ZERO,
  GUESS_RANDOM
} GuessType;

#define MAX_BUBBLES 4096
#define MAX_LAYERS  1024
#define MAX_ROW     27

typedef struct {
  PetscInt   dim, n[3], ne[3];      /* unknowns and elements in each direction */
  PetscReal  length[3], h[3], w[3]; /* domain, mesh widths, face over distance in units of the smallest mesh width */
  BCType     bc[6];                 /* x-, x+, y-, y+, z-, z+ */
  PetscBool  singular;              /* no Dirichlet face */
  DiscType   disc;
  NumberType numbering;
  DM         dm;                     /* NULL for the natural numbering */
  PetscInt   s[3], m[3], rstart, nl; /* box of this process, or its first row; number of rows */
  PetscReal  coefficient, contrast;
  PetscInt   nlayer;
  PetscReal  layer[MAX_LAYERS], top[MAX_LAYERS]; /* coefficient and upper end, as a fraction of the last direction */
  PetscInt   nb;
  PetscReal  centre[MAX_BUBBLES][3], radius[MAX_BUBBLES];
  RhsType    rhs;
  GuessType  guess;
  PetscReal  ratio;
  PetscInt   seed;
} Problem;

/* Uniform in [0,1), a function of (seed, stream, index) alone: the finaliser of splitmix64 */
static inline PetscReal Random(PetscInt seed, PetscInt stream, PetscInt64 index)
{
  unsigned long long z = (unsigned long long)index * 0x9E3779B97F4A7C15ULL + (unsigned long long)(seed + 1000003 * stream + 1) * 0xD1B54A32D192ED03ULL;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z = z ^ (z >> 31);
  return (PetscReal)(z >> 11) / 9007199254740992.0;
}

/* Squared distance of x from the centre of a bubble, through a periodic face where that is shorter */
static inline PetscReal Distance2(const Problem *p, const PetscReal x[], const PetscReal c[])
{
  PetscReal sum = 0.0;

  for (PetscInt d = 0; d < p->dim; ++d) {
    PetscReal t = PetscAbsReal(x[d] - c[d]);

    if (p->bc[2 * d] == BC_PERIODIC) t = PetscMin(t, p->length[d] - t);
    sum += t * t;
  }
  return sum;
}

/* Grid indices of a local row */
static inline void PointOf(const Problem *p, PetscInt l, PetscInt c[])
{
  if (p->dm) {
    c[0] = p->s[0] + l % p->m[0];
    c[1] = p->s[1] + (l / p->m[0]) % p->m[1];
    c[2] = p->s[2] + l / (p->m[0] * p->m[1]);
  } else {
    const PetscInt g = p->rstart + l;

    c[0] = g % p->n[0];
    c[1] = (g / p->n[0]) % p->n[1];
    c[2] = g / (p->n[0] * p->n[1]);
  }
}

/* Position of an unknown: centre of its cell, or node */
static inline void PositionOf(const Problem *p, const PetscInt c[], PetscReal x[])
{
  for (PetscInt d = 0; d < p->dim; ++d) x[d] = p->disc == DISC_FV ? (c[d] + 0.5) * p->h[d] : (c[d] + (p->bc[2 * d] == BC_DIRICHLET ? 1 : 0)) * p->h[d];
}

/* options.c */
PetscErrorCode ProblemGetOptions(Problem *p);

/* grid.c */
PetscErrorCode ProblemCreateGrid(Problem *p);
PetscReal      ProblemLevelSet(const Problem *p, const PetscReal x[]); /* signed distance from the nearest bubble, positive inside */
PetscReal      ProblemCoefficient(const Problem *p, const PetscReal x[]);

/* matrix.c */
PetscErrorCode ProblemCreateMatrix(const Problem *p, Mat *A);
PetscErrorCode ProblemFillMatrix(const Problem *p, Mat A);

/* vectors.c */
PetscErrorCode ProblemCreateVector(const Problem *p, Mat A, const char name[], Vec *v);
PetscErrorCode ProblemFillVectors(const Problem *p, Mat A, Vec x, Vec b);
PetscErrorCode ProblemComposeLevelSet(const Problem *p, Mat A, Vec *ls);

/* report.c */
PetscErrorCode WriteSystem(Mat A, Vec x, Vec b, Vec ls);
PetscErrorCode Report(Mat A, Vec b, Vec x, KSP ksp, PetscInt step, PetscInt nsteps, const PetscLogDouble t[3]);
