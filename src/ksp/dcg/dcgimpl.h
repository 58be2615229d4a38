/* The solver dcg: its data, and small problems that every process solves as a whole on its own GPU. */
#pragma once

#include "cg/cg.h"
#include "core/replica.h"
#include "kernels/views.h"
#include "mat/whole.h"
#include "mat/wholedia.h"

/* The whole system on each GPU */
typedef struct {
  PetscBool        on;      /* the solve that runs, or has run, was one of it */
  PetscInt         least;   /* of -polder_min_rows_per_gpu, negative: automatic */
  PolderReplica    replica; /* of the matrix or the diagonals; NULL: nothing is allocated */
  Mat              A;
  PC               pc;
  Vec              b, x, residual, *work;
  PetscInt         nwork;  /* of work[], which takes the place of the KSP's during a solve */
  PetscObjectState taken;  /* of x, when the solution of the KSP got its values */
  PolderWhole      matrix; /* with a preconditioner that each process has all of; NULL with a diagonal one, to which all that follows belongs */
  Vec              dinv;
  PetscBool        jacobi; /* dinv is in use */
  PolderWholeDia   diagonals;
  const PolderDia *dia; /* of these */
} KSPDCGWhole;

typedef struct {
  PolderCG    cg; /* first, since its steps take the data of the KSP for theirs */
  KSPDCGWhole whole;
} KSP_DCG;

/* dcgwhole.c */
/* Makes the system of cg, which is that of the KSP, that of all processes where this is faster. End copies the solution to that of the KSP. Collective */
PETSC_INTERN PetscErrorCode KSPDCGWholeBegin(KSP);
/* Is each process able and willing? Then what does not depend on the vectors of the KSP is brought up to date. Collective */
PETSC_INTERN PetscErrorCode KSPDCGWholeSetUp(KSP, Mat A, PetscBool *done);
/* Are the vectors of the KSP on the device of this process, or, before there are any, those that A would make? */
PETSC_INTERN PetscErrorCode KSPDCGWholeHere(KSP, Mat A, PetscBool *here);
PETSC_INTERN PetscErrorCode KSPDCGWholeEnd(KSP);
PETSC_INTERN PetscErrorCode KSPDCGWholeFree(KSP);
PETSC_INTERN PetscErrorCode KSPDCGWholeView(KSP, PetscViewer);
/* The buildsolution of such a solve */
PETSC_INTERN PetscErrorCode KSPDCGWholeBuildSolution(KSP, Vec v, Vec *V);
PETSC_INTERN PetscErrorCode KSPDCGWholeCreateVecs(KSPDCGWhole *);
/* all <- the values of all processes */
PETSC_INTERN PetscErrorCode KSPDCGWholeGather(KSPDCGWhole *, Vec own, Vec all);

/* dcgsmall.c: with a diagonal preconditioner, for one kernel that makes many steps */
PETSC_INTERN PetscErrorCode KSPDCGSmallSetUp(KSP, Mat A, PetscBool *done);
/* The preconditioner and the kernel of A, before a solve */
PETSC_INTERN PetscErrorCode KSPDCGSmallBegin(KSP, Mat A);
PETSC_INTERN PetscErrorCode KSPDCGSmallFree(KSPDCGWhole *);
