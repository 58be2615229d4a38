/*
  Deflated preconditioned conjugate gradients, on which the solvers dcg and rrbcg stand: the iteration (cg.c), its steps on the host (cghost.c; cgjoined.c:
  joined with a preconditioner) and on a device (cgdevice.c), what both share (cgsteps.c), and what the user is told (cgview.c). The data of such a KSP begin
  with a PolderCG.
*/
#pragma once

#include "core/methods.h"
#include "deflation/deflationspace.h"
#include "kernels/cgonce.h"
#include <petsc/private/kspimpl.h>

/* The host may lag by this many steps at most: those of a kernel and half of the next fit the ring in which their norms lie */
#define POLDER_CG_CHECK_MAX (POLDER_CG_RING / 2)

typedef struct _n_PolderCGDevice *PolderCGDevice;

/* The kernel of A */
typedef enum {
  CG_REGULAR,
  CG_CONSTANT, /* the constant: z loses its mean */
  CG_ATTACHED  /* another one, attached to A: PETSc takes it from z */
} PolderCGKernel;

/* One call a line of the algorithm: tables for the host and for a device, with two reductions a step and with one, chosen when a cycle begins */
typedef struct {
  PetscErrorCode (*resume)(KSP, Vec r);
  PetscErrorCode (*precondition)(KSP, Vec r, Vec z, Vec w);            /* z <- M^-1 r, rho <- (r, z) */
  PetscErrorCode (*direction)(KSP, Vec r, Vec z, Vec p);               /* p <- z + beta p */
  PetscErrorCode (*product)(KSP, Vec p, Vec w);                        /* w <- P A p, (p, w) */
  PetscErrorCode (*step)(KSP, PetscBool project, Vec p, Vec w, Vec r); /* x <- x + alpha p, r <- r - alpha w, ||r||; project: then r <- P r */
  PetscErrorCode (*check)(KSP, Vec r, Vec z);                          /* the convergence test with the norm of this step */
  PetscErrorCode (*catchup)(KSP);                                      /* and with those that have come late */
  PetscErrorCode (*finish)(KSP);                                       /* what is missing in the solution */
} PolderCGSteps;
PETSC_INTERN const PolderCGSteps PolderCGStepsOnHost, PolderCGJoinedOnHost, PolderCGPartedOnHost, PolderCGStepsOnDevice, PolderCGOnceOnHost,
  PolderCGOnceOnDevice;

typedef struct {
  PolderDeflationSpace space;
  PetscBool            flexible;
  PetscInt             reductions; /* of a step: 1 or 2; 0: chosen in each solve */
  PetscInt             check;      /* with device vectors the host may lag by this many steps; 0: chosen in each solve */
  /* the system that is solved: that of the KSP, or what another solver (rrbcg) makes of it; the true residual of x is then b - A x or what trueresidual()
     says */
  Mat A;
  PC  pc;
  Vec b, x;
  PetscErrorCode (*trueresidual)(KSP, Vec x, Vec r, PetscReal *norm); /* r = NULL: only the norm; x = NULL: r of the last x */
  /* the norm that the test looks at, of the residual of the user's guess, where the system that is solved is not the user's; NULL: it is */
  PetscErrorCode (*guessnorm)(KSP, PetscReal *norm);
  PolderMatMultDotFn   multdot; /* of the matrix, if it has composed one */
  const PolderPCFused *fused;   /* of the preconditioner */
  /* a convergence test that, like the default one, only compares the norm with ksp->ttol and divtol ksp->rnorm0; NULL: there is none */
  PetscErrorCode (*plaintest)(KSP, PetscInt, PetscReal, KSPConvergedReason *, void *);
  const PolderCGSteps *steps; /* where the cycle runs */
  /* the cycle that runs: updates sol, x itself in the first cycle, a correction of it afterwards */
  Vec       sol, correction, built;
  PetscReal target;   /* of a correction cycle: below the tolerance, since rounding x + correction adds to the residual; 0 in the first cycle */
  PetscInt  begun;    /* steps of this solve: ksp->its and those whose norm the host has not seen */
  PetscInt  since;    /* steps since r was projected */
  PetscBool projects; /* A has a kernel, or there are deflation vectors */
  PetscBool first;    /* no direction yet */
  PetscBool resume;   /* the cycle goes on, or has gone on, where it ended */
  /* scalars of the iteration when it runs on the host */
  PetscScalar rho, rhoold, alpha, alphaold, beta, pw;
  PetscReal   rnorm;
  /* joined with the preconditioner: alpha of the last step, not yet in sol; mean of p, not yet taken from it; rho of this residual,
     if the step has brought it */
  PetscScalar late, pmean, rhonext;
  PetscBool   brought;
  /* z as the preconditioner keeps it, base = NULL: z is in the vector; the last step has stored r where the preconditioner wants it in single precision */
  PolderCGParts parts;
  PetscBool     rounded;
  /* one reduction a step */
  PetscBool      once, told; /* told: the norm of the last step has been reported */
  Vec            v;          /* P A z */
  PolderCGState  state;      /* the scalars, when the iteration runs on the host */
  PolderCGDevice device;     /* state on the device; NULL: the last cycle ran on the host */
  /* coefficients of the iteration, for the Ritz values: diagonal d and off-diagonal e of the Lanczos matrix */
  PetscInt   nritz, maxritz;
  PetscReal *d, *e;
  /* how the last solve ended */
  PetscReal residual, norm; /* true residual of x, and the norm of it that the convergence test looks at */
  PetscReal bound, bnorm;   /* rounding bound eps |A||x|, negative where it was not needed; norm of b */
  PetscInt  restarts;
  PetscBool floor, tested; /* the latter: the convergence test has seen this solve */
  PetscBool failed;        /* the preconditioner has failed on this process */
} PolderCG;

/* cg.c */
/* The function (KSP, PolderCG **) that such a KSP composes */
#define POLDER_KSP_GET_CG "PolderKSPGetCG_C"
/* Makes cg, zeroed, the data of the KSP; and frees what they hold, not cg itself */
PETSC_INTERN PetscErrorCode PolderCGCreate(KSP, PolderCG *cg);
PETSC_INTERN PetscErrorCode PolderCGReset(KSP);
PETSC_INTERN PetscErrorCode PolderCGDestroy(KSP);
/* The work vectors of a solve */
#define POLDER_CG_WORKVECS 4
/* Solves A x = b with the preconditioner pc, all of them in cg, and work vectors like x in ksp->work */
PETSC_INTERN PetscErrorCode PolderCGSolve(KSP);
/* r <- b - A x, or with the transpose where that is solved for */
PETSC_INTERN PetscErrorCode PolderCGMatResidual(KSP, Mat A, Vec b, Vec x, Vec r);
/* The buildsolution of a KSP on its own system */
PETSC_INTERN PetscErrorCode PolderCGBuildSolution(KSP, Vec v, Vec *V);

/* cgsteps.c */
PETSC_INTERN PetscErrorCode PolderVecRemoveMean(Vec);
PETSC_INTERN PetscErrorCode PolderCGDot(Vec x, Vec y, PetscScalar *dot);
/* z <- M^-1 r without its part in the kernel of A: left in, it grows in p until it drowns A p in rounding errors */
PETSC_INTERN PetscErrorCode PolderCGPCApply(KSP, Vec r, Vec z);
/* r <- P r, after what lies in the kernel of A */
PETSC_INTERN PetscErrorCode PolderCGProject(KSP, Vec r);
/* The norm that the convergence test looks at; z = M^-1 r and rho = (r, z) are computed on the way where the norm needs them */
PETSC_INTERN PetscErrorCode PolderCGNorm(KSP, Vec r, Vec z, PetscReal rnorm, PetscReal *norm);
PETSC_INTERN PetscErrorCode PolderCGTest(KSP, PetscReal norm);
/* One norm for the history, the monitors and the convergence test */
PETSC_INTERN PetscErrorCode PolderCGReport(KSP, PetscReal rnorm, PetscReal norm);
PETSC_INTERN PetscErrorCode PolderCGGetKernel(KSP, PolderCGKernel *);
/* Steps of the tables that have nothing to do there */
PETSC_INTERN PetscErrorCode PolderCGNothing(KSP);
PETSC_INTERN PetscErrorCode PolderCGNothing2(KSP, Vec, Vec);
PETSC_INTERN PetscErrorCode PolderCGNothing3(KSP, Vec, Vec, Vec);

/* cghost.c */
/* x <- x + alpha p, r <- r - alpha w, norm <- ||r|| in one pass over host vectors */
PETSC_INTERN PetscErrorCode PolderCGUpdate(PetscScalar alpha, Vec p, Vec w, Vec x, Vec r, PetscReal *norm);
PETSC_INTERN PetscErrorCode PolderCGProduct_OnHost(KSP, Vec p, Vec w);
/* Ends the solve unless rho = (r, M^-1 r) is a positive number: look at ksp->reason */
PETSC_INTERN PetscErrorCode PolderCGCheckRho(KSP);
/* Ends the solve unless (p, P A p) is a positive number: look at ksp->reason */
PETSC_INTERN PetscErrorCode PolderCGCheckCurvature(KSP);
/* alpha <- rho / (p, w), and what the next step must know of this one */
PETSC_INTERN void PolderCGSetAlpha(PolderCG *);

/* cgjoined.c */
/* The steps of the cycle that begins on the host from r, with two reductions a step */
PETSC_INTERN PetscErrorCode PolderCGChooseJoined(KSP, Vec r);

/* cgonce.c */
/* Is there one reduction a step? If so, the cycle that begins on the host or the device gets what it needs */
PETSC_INTERN PetscErrorCode PolderCGChooseOnce(KSP, Vec r, PetscBool device);

/* cgdevice.c */
/* The steps of the cycle that begins from r, with p for its directions */
PETSC_INTERN PetscErrorCode PolderCGChooseSteps(KSP, Vec r, Vec p);
PETSC_INTERN PetscErrorCode PolderCGDeviceView(KSP, PetscViewer);
PETSC_INTERN PetscErrorCode PolderCGDeviceDestroy(PolderCGDevice *);

/* cgview.c */
/* How the last solve ended */
PETSC_INTERN PetscErrorCode PolderCGView(KSP, PetscViewer);
PETSC_INTERN PetscErrorCode PolderCGConvergedReasonView(KSP, void *);
PETSC_INTERN PetscErrorCode PolderCGAddRitz(KSP, PetscBool first, PetscReal alpha, PetscReal beta, PetscReal alphaold);
PETSC_INTERN PetscErrorCode PolderCGComputeEigenvalues(KSP, PetscInt, PetscReal *, PetscReal *, PetscInt *);
PETSC_INTERN PetscErrorCode PolderCGComputeExtremeSingularValues(KSP, PetscReal *, PetscReal *);
