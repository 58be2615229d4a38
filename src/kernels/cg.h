/*
  Conjugate gradients. On the device their scalars stay in device memory. In each step the device writes a norm to a ring in pinned memory, from which the
  host reads it. Once the tolerance is reached, or at a breakdown, the state is frozen and later steps change nothing. The host may therefore lag by any
  number of steps.
*/
#pragma once

#include "peers.h"
#include "views.h"

#define POLDER_CG_RING 1024
/* Where the constant is in the kernel of A, kernels of many steps remove the mean of r once every this many steps */
#define POLDER_CG_MEAN 8
/* The mean of r is negligible when its norm is this small beside that of r */
#define POLDER_CG_NOMEAN 1e-10
enum {
  POLDER_CG_RUNNING = 0,
  POLDER_CG_TOLERANCE,      /* norm <= tol or norm >= divtol */
  POLDER_CG_INDEFINITE_MAT, /* (p, w) <= 0 */
  POLDER_CG_INDEFINITE_PC,  /* (r, z) <= 0 */
  POLDER_CG_NOTFINITE       /* a norm or a scalar is not a number */
};

typedef struct {
  PetscScalar rho, rhoold, beta, alpha, pw; /* alpha: of the last step, not yet added to x */
  PetscScalar mean, pmean;                  /* mean: of z, to be subtracted from z; pmean: of p, to be subtracted in the next direction */
  PetscScalar lastalpha, lastbeta;          /* of the last step and its direction, for Ritz values */
  PetscScalar sum[7];                       /* local sums: (r, r), (r, z), sum z, sum r; the others: cgonce.h */
  PetscScalar rmean, energy, pwold;         /* see cgonce.h: mean of r; (z, A z) - (z, P A z); pw of the last step */
  PetscReal   tol, divtol;
  PetscInt    its, minits, N;
  int         frozen, nullspace; /* nullspace: the constant is in the kernel of A */
  int         parallel;          /* other processes have parts of the sums */
  int         natural;           /* the norm is sqrt((r, z)) instead of that of r */
  int         flexible;          /* cgonce.h: the preconditioner may change from step to step */
  volatile PetscReal
    *ring; /* entry k % POLDER_CG_RING: norm of step k, NaN until written; infinity stands for a norm that is NaN, -POLDER_CG_... for a breakdown */
} PolderCGState;

/*
  For kernels that compute z together with its sums: (r, z) goes to sum[1] and, if the kernel computes it, the sum of z to sum[2]; rho, mean and beta are then
  updated as in PolderCGRho_CUDA().
*/
typedef struct {
  PolderCGState *state;
  PetscBool      first;
} PolderCGRho;

/* The vectors of conjugate gradients: solution, residual, preconditioned residual, direction, and the product with it */
typedef struct {
  PetscScalar *x, *r, *z, *p, *w;
} PolderCGVectors;

/*
  Device: where the sums of a step go. peers: they are the sums of all processes, and the step is complete; NULL: in a parallel state,
  PolderCGAdvance_CUDA() completes it. work: see PolderReduceWork_CUDA()
*/
typedef struct {
  PolderCGState         *state;
  const PolderPeersView *peers;
  void                  *work;
} PolderCGReduction;

/* Where a preconditioner wants r in single precision: to[i] = (float)(scale r_i). NULL: it does not */
typedef struct {
  float      *to;
  PetscScalar scale;
} PolderCGRounded;

/*
  z in two vectors of single precision that a preconditioner keeps: z_i = unit (base_i + correction_i), in double precision. unit: a power of two; correction:
  NULL on the host where there is none
*/
typedef struct {
  const float *base, *correction;
  PetscScalar  unit;
} PolderCGParts;

/* Host: x += alpha p, r -= alpha w; returns (r, r) */
PETSC_INTERN PetscReal PolderCGUpdate_Host(PetscInt n, PetscScalar alpha, const PetscScalar p[], const PetscScalar w[], PetscScalar x[], PetscScalar r[]);
/* Host: r -= alpha w, and rounded; returns (r, r) */
PETSC_INTERN PetscReal PolderCGResidual_Host(PetscInt n, PetscScalar alpha, const PetscScalar w[], PetscScalar r[], const PolderCGRounded *rounded);
/* Host: sum <- (r, z), the sum of z and that of r */
PETSC_INTERN void PolderCGPartsDot_Host(PetscInt n, const PetscScalar r[], const PolderCGParts *z, PetscScalar sum[3]);
/* Host: x += alpha p, then p = z - mean + beta p, or without the last term if there is no p yet */
PETSC_INTERN void PolderCGPartsDirection_Host(PetscInt n, PetscBool first, PetscScalar alpha, PetscScalar beta, PetscScalar mean, const PolderCGParts *z,
                                              PetscScalar p[], PetscScalar x[]);
/*
  Device: alpha <- rho / pw, r <- r - alpha w and the sums. diagonal: z is r times dinv (NULL: r itself), and all four sums are computed; otherwise only (r,
  r) and sum r, and r is stored in `rounded` as well (NULL: nowhere). A frozen state leaves all of them alone
*/
POLDER_LAUNCHER int PolderCGUpdate_CUDA(PetscInt n, const PetscScalar w[], PetscScalar r[], PetscBool diagonal, const PetscScalar dinv[],
                                        const PolderCGRounded *rounded, const PolderCGReduction *to, PolderStream stream);
/* *state <- *from, a host variable, without synchronisation */
POLDER_LAUNCHER int PolderCGBegin_CUDA(const PolderCGState *from, PolderCGState *state, PolderStream stream);
/* With z the preconditioned residual, multiplied by dinv unless that is NULL, or if z = NULL that of its parts: x <- x + alpha p, then p <- z - mean + beta p;
   first: p <- z - mean only. The rows of p that other processes need go there at once */
typedef struct {
  PetscInt           n;
  PetscBool          first;
  const PetscScalar *z, *dinv;
  PolderCGParts      parts;
  PetscScalar       *p, *x;
  PolderSends        sends;
} PolderCGDirection;
POLDER_LAUNCHER int PolderCGDirection_CUDA(const PolderCGDirection *d, PolderCGState *state, PolderStream stream);
/* The sums (r, z), sum z, sum r for the same z, then rho, mean and beta; first: beta is 0 */
POLDER_LAUNCHER int PolderCGRho_CUDA(PetscInt n, const PetscScalar r[], const PetscScalar z[], const PetscScalar dinv[], PetscBool first,
                                     const PolderCGReduction *to, PolderStream stream);
/* In a parallel state: completes PolderCGUpdate_CUDA() and PolderCGRho_CUDA() after sum[] has been reduced over all processes */
POLDER_LAUNCHER int PolderCGAdvance_CUDA(PetscBool update, PetscBool rho, PetscBool first, PolderCGState *state, PolderStream stream);
/* sum[1] and sum[2] <- their sums over all processes, then rho, mean and beta */
POLDER_LAUNCHER int PolderCGSumRho_CUDA(const PolderPeersView *peers, const PolderCGRho *rho, PolderStream stream);
/* x <- x + alpha p, alpha <- 0 */
POLDER_LAUNCHER int PolderCGFinish_CUDA(PetscInt n, const PetscScalar p[], PetscScalar x[], PolderCGState *state, PolderStream stream);
/* r <- r - sum r / N with the sum of the last step, unless the mean is negligible beside the norm of r */
POLDER_LAUNCHER int PolderCGRemoveMean_CUDA(PetscInt n, PetscScalar r[], const PolderCGState *state, PolderStream stream);

/* cgsmall.cu: many steps in one kernel, for a diagonal preconditioner and at most POLDER_CGSMALL_DIAGONALS diagonals */
#define POLDER_CGSMALL_DIAGONALS 9
/* Maximum number of rows on this device; 0: not available */
POLDER_LAUNCHER PetscInt PolderCGSmallMost_CUDA(void);
/* Makes `count` steps on x, r and p, fewer if the tolerance is reached; on return alpha p has been added to x */
POLDER_LAUNCHER int PolderCGSmall_CUDA(const PolderDia *A, const PetscScalar dinv[], PetscBool first, PetscInt count, const PolderCGVectors *vectors,
                                       PolderCGState *state, void *work, PolderStream stream);
