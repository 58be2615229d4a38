/* The parts of the test of idrs. */
#pragma once

#include "core/compat.h"
#include "vecs.h"
#include <polder.h>

/* -laplace u + velocity . grad u - reaction u on the unit square or cube, central differences on n points a direction between Dirichlet boundaries; peclet is
   the length of the velocity; upwind: differences of first order against it */
typedef struct {
  PetscInt  dim, n;
  PetscReal peclet, reaction;
  PetscBool upwind;
} Flow;
PetscErrorCode CreateFlow(const Flow *, Mat *);
/* A small matrix with random entries in (-1, 1), and a diagonal shift */
PetscErrorCode CreateDense(PetscInt n, PetscReal shift, Mat *);
/* A number in (-1, 1) that depends on its arguments only */
PetscReal Random(PetscInt seed, PetscInt i);
/* v_i = Random(seed, i) on any number of processes */
PetscErrorCode FillVec(Vec, PetscInt seed);

/* What a solve came to */
typedef struct {
  KSPConvergedReason reason;
  PetscInt           its, products;
  PetscReal          residual; /* ||b - A x|| / ||b|| */
} Outcome;
/* A x = b for random x, from the guess zero, with a KSP that has the options of that string */
PetscErrorCode Solve(Mat A, const char options[], Outcome *);

PetscErrorCode TestProducts(void);
PetscErrorCode TestExplore(void);
