/* Conjugate gradients with one reduction a step: the recurrences for p and A p, and the scalars that host and device both compute. */
#pragma once

#include "cgscalars.h"

/* The sums of a step in PolderCGState, with v = P A z; the device computes the first POLDER_ONCE_DEVICE */
enum {
  POLDER_ONCE_RR,
  POLDER_ONCE_RZ,
  POLDER_ONCE_Z, /* sum z */
  POLDER_ONCE_R, /* sum r */
  POLDER_ONCE_ZV,
  POLDER_ONCE_DEVICE,
  POLDER_ONCE_ZZ = POLDER_ONCE_DEVICE,
  POLDER_ONCE_ZW, /* (z, A p) of the last step */
  POLDER_ONCE_SUMS
};

/* The vectors of a step */
typedef struct {
  PetscInt           n;
  const PetscScalar *v, *dinv;
  PetscScalar       *z, *p, *w, *x, *r;
} PolderCGOnce;

/*
  The scalars that follow from the sums: beta = rho / rho_old (flexible: -(z, A p) / (p, A p), both of the last step),

      (p, A p) = (z, A z) - beta^2 (p, A p)_old  for p = z + beta p_old,  alpha = rho / (p, A p).

  Both values of beta make this the exact (p, A p), since beta = -(z, A p_old) / (p_old, A p_old) in exact arithmetic. Where the constant is the kernel of A, z
  loses its mean, and r what rounding has left in it
*/
POLDER_BODY void PolderCGOnceScalars(PolderCGState *s, PetscBool first)
{
  const PetscScalar rmean = s->sum[POLDER_ONCE_R] / s->N, *sum = s->sum;

  s->mean      = s->nullspace ? sum[POLDER_ONCE_Z] / s->N : 0;
  s->rmean     = s->nullspace && sum[POLDER_ONCE_R] * rmean > POLDER_CG_NOMEAN * POLDER_CG_NOMEAN * sum[POLDER_ONCE_RR] ? rmean : 0;
  s->rhoold    = s->rho;
  s->pwold     = s->pw;
  s->lastalpha = s->alpha;
  s->lastbeta  = s->beta;
  s->rho       = sum[POLDER_ONCE_RZ] - s->mean * sum[POLDER_ONCE_R];
  s->beta      = first ? 0 : s->flexible ? -sum[POLDER_ONCE_ZW] / s->pw : s->rho / s->rhoold;
  s->pw        = sum[POLDER_ONCE_ZV] - s->energy - (first ? 0 : s->beta * s->beta * s->pw);
  s->alpha     = s->rho / s->pw;
}

/* As they were before */
POLDER_BODY void PolderCGOnceUndo(PolderCGState *s)
{
  s->rho   = s->rhoold;
  s->pw    = s->pwold;
  s->alpha = s->lastalpha;
  s->beta  = s->lastbeta;
}

/* On the device: the norm of the last step, unless it has been told, what it decides, and the scalars of the next step */
POLDER_BODY void PolderCGOnceAdvance(PolderCGState *s, PetscBool first, PetscBool told)
{
  if (!first && !told) {
    const PetscScalar mean = s->nullspace ? s->sum[POLDER_ONCE_Z] / s->N : 0;
    const PetscScalar rho  = s->sum[POLDER_ONCE_RZ] - mean * s->sum[POLDER_ONCE_R];

    ++s->its;
    PolderCGJudgeNorm(s, s->its - 1, sqrt(s->natural ? (rho < 0 ? -rho : rho) : s->sum[POLDER_ONCE_RR]), PETSC_TRUE);
    if (s->frozen) return;
  }
  PolderCGOnceScalars(s, first);
  if (PolderCGJudgeScalar(s, s->rho, POLDER_CG_INDEFINITE_PC, PETSC_TRUE)) (void)PolderCGJudgeScalar(s, s->pw, POLDER_CG_INDEFINITE_MAT, PETSC_TRUE);
}

/* sum[0 .. POLDER_ONCE_SUMS) of this process; w = NULL: 0 for (z, w). Device: all but those with v, w and (z, z), in state->sum; z = NULL: z is r */
PETSC_INTERN void   PolderCGOnceSums_Host(const PolderCGOnce *a, PetscScalar sum[]);
POLDER_LAUNCHER int PolderCGOnceSums_CUDA(const PolderCGOnce *a, PolderCGState *state, void *work, PolderStream stream);
/*
  p <- z - mean + beta p, w <- v + beta w, x <- x + alpha p, r <- r - alpha w - rmean; first: p <- z - mean, w <- v. z = NULL: z is r.
  dinv != NULL: then z <- dinv r. Device: summed: then the sums of PolderCGOnceSums_CUDA(); nothing is done in a frozen state
*/
PETSC_INTERN void   PolderCGOnceStep_Host(const PolderCGOnce *a, PetscBool first, const PolderCGState *state);
POLDER_LAUNCHER int PolderCGOnceStep_CUDA(const PolderCGOnce *a, PetscBool first, PetscBool summed, PolderCGState *state, void *work, PolderStream stream);
/*
  Device: from the sums to the norm of the last step, which goes to the host, and the scalars of the next one. peers: the sums become those of all processes
  first. told: the host knows the norm
*/
POLDER_LAUNCHER int PolderCGOnceAdvance_CUDA(const PolderPeersView *peers, PetscBool first, PetscBool told, PolderCGState *state, PolderStream stream);
