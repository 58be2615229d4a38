/* The solver dcg: state that the iteration (dcg.c) and its reports (dcgview.c) share. */
#pragma once

#include "deflationspace.h"
#include <petsc/private/kspimpl.h>

typedef struct {
  PolderDeflationSpace space;
  PetscBool            flexible;
  /* the cycle that runs: updates sol, the solution itself in the first cycle, a correction of it afterwards */
  Vec         sol, correction, built;
  PetscScalar rho;
  PetscReal   target; /* of a correction cycle: below the tolerance, since rounding x + correction adds to the residual; 0 in the first cycle */
  /* coefficients of the iteration, for the Ritz values: diagonal d and off-diagonal e of the Lanczos matrix */
  PetscInt   nritz, maxritz;
  PetscReal *d, *e;
  /* how the last solve ended */
  PetscReal residual, norm; /* true residual of x, and the norm of it that the convergence test looks at */
  PetscReal bound, bnorm;   /* rounding bound eps |A||x|, negative where it was not needed; norm of b */
  PetscInt  restarts;
  PetscBool floor, tested; /* the latter: the convergence test has seen this solve */
} KSP_DCG;

PETSC_INTERN PetscErrorCode KSPView_DCG(KSP, PetscViewer);
PETSC_INTERN PetscErrorCode KSPDCGConvergedReasonView_Private(KSP, void *);
PETSC_INTERN PetscErrorCode KSPDCGAddRitz_Private(KSP, PetscBool first, PetscReal alpha, PetscReal beta, PetscReal alphaold);
PETSC_INTERN PetscErrorCode KSPComputeEigenvalues_DCG(KSP, PetscInt, PetscReal *, PetscReal *, PetscInt *);
PETSC_INTERN PetscErrorCode KSPComputeExtremeSingularValues_DCG(KSP, PetscReal *, PetscReal *);
/* || |A| |x| || times the unit roundoff: what rounding x to double may leave as residual */
PETSC_INTERN PetscErrorCode PolderMatRoundingBound(Mat, Vec x, PetscReal *);
