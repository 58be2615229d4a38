/*
  Conjugate gradients. On the device their scalars stay there, and the host reads a norm a step from a ring in pinned memory that the device writes. A step
  that the tolerance, or a breakdown, forbids changes nothing: the state is frozen, so the host may be any number of steps behind.
*/
#pragma once

#include "launcher.h"

#define POLDER_CG_RING 1024
/* So many steps apart r loses its mean in kernels that make many, where the constant is the kernel of A */
#define POLDER_CG_MEAN 8
enum {
  POLDER_CG_RUNNING = 0,
  POLDER_CG_TOLERANCE,      /* norm <= tol or norm >= divtol */
  POLDER_CG_INDEFINITE_MAT, /* (p, w) <= 0 */
  POLDER_CG_INDEFINITE_PC,  /* (r, z) <= 0 */
  POLDER_CG_NOTFINITE       /* one of them is not a number */
};

typedef struct {
  PetscScalar         rho, rhoold, beta, alpha, pw; /* alpha: of the last step, not yet in x */
  PetscScalar         mean, pmean;                  /* of z, to be taken from it; of p, to be taken from it in the next direction instead */
  PetscScalar         lastalpha, lastbeta;          /* of the last step and its direction, for the Ritz values */
  PetscScalar         sum[4];                       /* of this process: (r, r), (r, z), sum z, sum r */
  PetscReal           tol, divtol;
  PetscInt            its, minits, N;
  int                 frozen, nullspace; /* nullspace: the constant is the kernel of A */
  int                 natural;           /* the norm is sqrt((r, z)), else that of r */
  volatile PetscReal *ring;              /* the norm of step k at k % POLDER_CG_RING: NaN until it is there, infinity for NaN, -POLDER_CG_... for a breakdown */
} PolderCGState;

/*
  For kernels that make z and its sums on the way: (r, z) goes to sum[1], the sum of z, where they make it, to sum[2], and rho, mean and beta follow as in
  PolderCGRho_CUDA()
*/
typedef struct {
  PolderCGState *state;
  PetscBool      first;
} PolderCGRho;

/* Host: x += alpha p, r -= alpha w; returns (r, r) */
PETSC_INTERN PetscReal PolderCGUpdate_Host(PetscInt n, PetscScalar alpha, const PetscScalar p[], const PetscScalar w[], PetscScalar x[], PetscScalar r[]);
/* Device: alpha <- rho / pw, r <- r - alpha w and the sums; diagonal: z is r times dinv (NULL: r itself), so all four sums, else (r, r) and sum r */
POLDER_LAUNCHER int PolderCGUpdate_CUDA(PetscInt n, const PetscScalar w[], PetscScalar r[], PetscBool diagonal, const PetscScalar dinv[], PetscBool parallel, PolderCGState *state, void *work, PolderStream stream);
/* *state <- *from, which is on the host, without waiting */
POLDER_LAUNCHER int PolderCGBegin_CUDA(const PolderCGState *from, PolderCGState *state, PolderStream stream);
/* Of the preconditioned residual, z or, when dinv != NULL, dinv z: p <- z - mean + beta p and x <- x + alpha p with the old p; first: p <- z - mean */
POLDER_LAUNCHER int PolderCGDirection_CUDA(PetscInt n, PetscBool first, const PetscScalar z[], const PetscScalar dinv[], PetscScalar p[], PetscScalar x[], PolderCGState *state, PolderStream stream);
/* Of the same the sums (r, z), sum z, sum r, then rho, mean and beta; first: beta is 0 */
POLDER_LAUNCHER int PolderCGRho_CUDA(PetscInt n, const PetscScalar r[], const PetscScalar z[], const PetscScalar dinv[], PetscBool first, PetscBool parallel, PolderCGState *state, void *work, PolderStream stream);
/* parallel: what PolderCGUpdate_CUDA() and PolderCGRho_CUDA() leave to do when sum[] holds the sums over all processes */
POLDER_LAUNCHER int PolderCGAdvance_CUDA(PetscBool update, PetscBool rho, PetscBool first, PolderCGState *state, PolderStream stream);
/* x <- x + alpha p, alpha <- 0 */
POLDER_LAUNCHER int PolderCGFinish_CUDA(PetscInt n, const PetscScalar p[], PetscScalar x[], PolderCGState *state, PolderStream stream);
/* r <- r - sum r / N with the sum of the last step, unless that is nothing beside the norm of r */
#define POLDER_CG_NOMEAN 1e-10 /* the norm of the mean over that of r */
POLDER_LAUNCHER int PolderCGRemoveMean_CUDA(PetscInt n, PetscScalar r[], const PolderCGState *state, PolderStream stream);

/* cgsmall.cu: for a diagonal preconditioner and at most POLDER_CGSMALL_DIAGONALS diagonals, many steps in one kernel */
#define POLDER_CGSMALL_DIAGONALS 9
/* Largest number of rows that this device takes; 0: none */
POLDER_LAUNCHER PetscInt PolderCGSmallMost_CUDA(void);
/* count steps, or as many as the tolerance allows; alpha p is in x already. off and val on the host, val[d] on the device as for PolderDiaMult_CUDA() */
POLDER_LAUNCHER int PolderCGSmall_CUDA(PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscScalar dinv[], PetscBool first, PetscInt count, PetscScalar x[], PetscScalar r[], PetscScalar p[], PolderCGState *state, void *work, PolderStream stream);
