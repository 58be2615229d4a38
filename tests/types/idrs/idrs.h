/* The parts of the test of idrs. */
#pragma once

#include "core/compat.h"
#include "vecs.h"
#include <polder.h>

/* -laplace u + velocity . grad u - reaction u on the unit square or cube, central differences on n points a direction between Dirichlet boundaries; peclet is
   the length of the velocity; upwind: differences of first order against it; periodic: without boundaries, so that constants are the kernel of A and A^T */
typedef struct {
  PetscInt  dim, n;
  PetscReal peclet, reaction;
  PetscBool upwind, periodic;
} Flow;
PetscErrorCode CreateFlow(const Flow *, Mat *);
/* A full matrix with random entries in (-1, 1); skew: a_ij = -a_ji and zeros on the diagonal */
PetscErrorCode CreateDense(PetscInt n, PetscReal shift, PetscBool skew, Mat *);
/* v_i in (-1, 1), random, the same on any number of processes */
PetscErrorCode FillVec(Vec, PetscInt seed);

/* What a solve came to */
typedef struct {
  KSPConvergedReason reason;
  PetscInt           its, products;
  PetscReal          residual; /* ||b - A x|| / ||b|| */
  PetscLogDouble     reductions;
} Outcome;
/* A KSP for A, whose products are counted, with these options; every option is gone with the next call */
PetscErrorCode CreateSolver(Mat A, const char options[], KSP *);
/* A x = b from the guess in x */
PetscErrorCode Solve(KSP, Mat A, Vec b, Vec x, Outcome *);
/* Both, for b = A times a random vector and the guess zero */
PetscErrorCode SolveRandom(Mat A, const char options[], Outcome *);
/* "what: ok", or what it is instead */
PetscErrorCode Judge(PetscBool ok, const Outcome *, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);

PetscErrorCode TestProducts(void);
PetscErrorCode TestHard(void);
PetscErrorCode TestCounts(void);
PetscErrorCode TestTermination(void);
PetscErrorCode TestReductions(void);
PetscErrorCode TestClaims(void);
PetscErrorCode TestBreakdowns(void);
PetscErrorCode TestSingular(void);
PetscErrorCode TestSettings(void);
PetscErrorCode TestBad(void);
PetscErrorCode TestKSP(void);
PetscErrorCode TestView(void);
PetscErrorCode TestTwin(void);
