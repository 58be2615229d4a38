/* The solver dcg: state that the iteration (dcg.c) and its reports (dcgview.c) share. */
#pragma once

#include "deflationspace.h"
#include <petsc/private/kspimpl.h>

/* The host may be so many steps behind: a kernel's worth of them and half of the next fit the ring in which their norms lie */
#define KSP_DCG_CHECK_MAX (POLDER_CG_RING / 2)

typedef struct _n_KSPDCGDevice *KSPDCGDevice;

typedef struct {
  PolderDeflationSpace space;
  PetscBool            flexible;
  PetscInt             check; /* with device vectors the host may be so many steps behind; 0: chosen in each solve */
  /* the system that is solved: that of the KSP, or what another solver (rrbcg) makes of it; the true residual of x is then b - A x or what trueresidual() says */
  Mat A;
  PC  pc;
  Vec b, x;
  PetscErrorCode (*trueresidual)(KSP, Vec x, Vec r, PetscReal *norm); /* r = NULL: only the norm; x = NULL: r of the last x */
  /* w <- A p and this process's part of (p, w) in one pass, which lies where the vectors are; z <- M^-1 r with rho on the device. done = PETSC_FALSE, and
     nothing is done, when there is no such pass. NULL: those that the matrices and preconditioners of this library have */
  PetscErrorCode (*multdot)(Mat A, Vec p, Vec w, PetscScalar *dot, PetscBool *done);
  PetscErrorCode (*applyrho)(PC, Vec r, Vec z, const PolderCGRho *, PetscBool *done);
  /* so many whole steps in one kernel, as in PolderRRBCG_CUDA(), with the vectors x, r, z, p, w; count = 0: is there such a kernel? NULL: there is none */
  PetscErrorCode (*manysteps)(PC, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done);
  /* the cycle that runs: updates sol, x itself in the first cycle, a correction of it afterwards */
  Vec       sol, correction, built;
  PetscReal target; /* of a correction cycle: below the tolerance, since rounding x + correction adds to the residual; 0 in the first cycle */
  PetscInt  steps;  /* begun in this solve: ksp->its and those whose norm the host has not seen */
  PetscInt  since;  /* steps since r was projected */
  PetscBool first;  /* no direction yet */
  PetscBool resume; /* the cycle goes on, or has gone on, where it ended */
  /* scalars of the iteration when it runs on the host */
  PetscScalar  rho, rhoold, alpha, alphaold, beta, pw;
  PetscReal    rnorm;
  KSPDCGDevice device; /* NULL: it runs on the host */
  /* coefficients of the iteration, for the Ritz values: diagonal d and off-diagonal e of the Lanczos matrix */
  PetscInt   nritz, maxritz;
  PetscReal *d, *e;
  /* how the last solve ended */
  PetscReal residual, norm; /* true residual of x, and the norm of it that the convergence test looks at */
  PetscReal bound, bnorm;   /* rounding bound eps |A||x|, negative where it was not needed; norm of b */
  PetscInt  restarts;
  PetscBool floor, tested; /* the latter: the convergence test has seen this solve */
  PetscBool failed;        /* the preconditioner has failed on this process */
} KSP_DCG;

/* dcg.c */
/* The work vectors of a solve */
PETSC_INTERN PetscErrorCode KSPDCGSetWorkVecs_Private(KSP, Vec like);
/* Solves A x = b with the preconditioner pc, all of them in dcg, and work vectors like x in ksp->work */
PETSC_INTERN PetscErrorCode KSPDCGSolve_Private(KSP);
PETSC_INTERN PetscErrorCode KSPReset_DCG(KSP);
/* r <- b - A x, or with the transpose where that is solved for */
PETSC_INTERN PetscErrorCode KSPDCGMatResidual_Private(KSP, Mat A, Vec b, Vec x, Vec r);
PETSC_INTERN PetscErrorCode KSPDestroy_DCG(KSP);

/* dcgsteps.c: one call a line of the algorithm */
/* z <- M^-1 r without its part in the kernel of A: left in, it grows in p until it drowns A p in rounding errors */
PETSC_INTERN PetscErrorCode KSPDCGPCApply_Private(KSP, Vec r, Vec z);
PETSC_INTERN PetscErrorCode KSPDCGStart_Private(KSP, Vec r, Vec p);
/* A cycle that has converged goes on, to dcg->target */
PETSC_INTERN PetscErrorCode KSPDCGResume_Private(KSP, Vec r);
PETSC_INTERN PetscErrorCode KSPDCGPrecondition_Private(KSP, Vec r, Vec z, Vec w);
PETSC_INTERN PetscErrorCode KSPDCGDirection_Private(KSP, Vec r, Vec z, Vec p);
PETSC_INTERN PetscErrorCode KSPDCGProduct_Private(KSP, Vec p, Vec w);
PETSC_INTERN PetscErrorCode KSPDCGStep_Private(KSP, Vec p, Vec w, Vec r);
PETSC_INTERN PetscErrorCode KSPDCGCheck_Private(KSP, Vec r, Vec z);
PETSC_INTERN PetscErrorCode KSPDCGCatchUp_Private(KSP);
PETSC_INTERN PetscErrorCode KSPDCGFinish_Private(KSP);
/* One norm for the history, the monitors and the convergence test */
PETSC_INTERN PetscErrorCode KSPDCGReport_Private(KSP, PetscReal rnorm, PetscReal norm);
PETSC_INTERN PetscErrorCode KSPDCGTest_Private(KSP, PetscReal norm);
/* The norm that the convergence test looks at; z = M^-1 r and rho = (r, z) are computed on the way where the norm needs them */
PETSC_INTERN PetscErrorCode KSPDCGNorm_Private(KSP, Vec r, Vec z, PetscReal rnorm, PetscReal *norm);
/* r <- P r, after what lies in the kernel of A */
PETSC_INTERN PetscErrorCode KSPDCGProject_Private(KSP, Vec r);
PETSC_INTERN PetscErrorCode KSPDCGRemoveMean_Private(Vec);

/* dcgdevice.c: the same on device vectors; use is FALSE where the steps must run on the host */
PETSC_INTERN PetscErrorCode KSPDCGDeviceStart_Private(KSP, Vec r, Vec p, PetscBool *use);
PETSC_INTERN PetscErrorCode KSPDCGDeviceResume_Private(KSP, Vec r);
PETSC_INTERN PetscErrorCode KSPDCGDevicePrecondition_Private(KSP, Vec r, Vec z);
PETSC_INTERN PetscErrorCode KSPDCGDeviceDirection_Private(KSP, Vec r, Vec z, Vec p);
PETSC_INTERN PetscErrorCode KSPDCGDeviceProduct_Private(KSP, Vec p, Vec w);
PETSC_INTERN PetscErrorCode KSPDCGDeviceStep_Private(KSP, PetscBool project, Vec w, Vec r);
PETSC_INTERN PetscErrorCode KSPDCGDeviceCatchUp_Private(KSP);
/* What is still missing in the solution */
PETSC_INTERN PetscErrorCode KSPDCGDeviceFlush_Private(KSP);
PETSC_INTERN PetscErrorCode KSPDCGDeviceView_Private(KSP, PetscViewer);
PETSC_INTERN PetscErrorCode KSPDCGDeviceDestroy_Private(KSPDCGDevice *);

PETSC_INTERN PetscErrorCode KSPView_DCG(KSP, PetscViewer);
PETSC_INTERN PetscErrorCode KSPDCGViewLast_Private(KSP, PetscViewer);
PETSC_INTERN PetscErrorCode KSPDCGConvergedReasonView_Private(KSP, void *);
PETSC_INTERN PetscErrorCode KSPDCGAddRitz_Private(KSP, PetscBool first, PetscReal alpha, PetscReal beta, PetscReal alphaold);
PETSC_INTERN PetscErrorCode KSPComputeEigenvalues_DCG(KSP, PetscInt, PetscReal *, PetscReal *, PetscInt *);
PETSC_INTERN PetscErrorCode KSPComputeExtremeSingularValues_DCG(KSP, PetscReal *, PetscReal *);
/* rrbcg.c: a test that, like the default one, only compares the norm with ksp->ttol and divtol ksp->rnorm0 */
PETSC_INTERN PetscErrorCode KSPRRBCGConverged_Private(KSP, PetscInt, PetscReal, KSPConvergedReason *, void *);
/* || |A| |x| || times the unit roundoff: what rounding x to double may leave as residual */
PETSC_INTERN PetscErrorCode PolderMatRoundingBound(Mat, Vec x, PetscReal *);
