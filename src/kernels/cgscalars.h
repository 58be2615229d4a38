/* The scalars of a step of conjugate gradients, updated by one thread, or redundantly by many of which one tells the host (tell). */
#pragma once

#include "cg.h"
#include <math.h>

/* The norm of step `step`: freezes the state if it meets the tolerance, or is no number */
POLDER_BODY void PolderCGJudgeNorm(PolderCGState *s, PetscInt step, PetscReal norm, PetscBool tell)
{
  const PetscBool finite = (PetscBool)(norm <= PETSC_MAX_REAL);

  if (!finite) s->frozen = POLDER_CG_NOTFINITE;
  else if (s->its >= s->minits && (norm <= s->tol || norm >= s->divtol)) s->frozen = POLDER_CG_TOLERANCE;
  if (tell) s->ring[step % POLDER_CG_RING] = finite ? norm : HUGE_VAL;
}

/* Is the scalar positive? Otherwise, or when it is no number, freezes the state; why: what it means that it is not positive */
POLDER_BODY PetscBool PolderCGJudgeScalar(PolderCGState *s, PetscScalar value, int why, PetscBool tell)
{
  if (value > 0 && value <= PETSC_MAX_REAL) return PETSC_TRUE;
  s->frozen = value <= 0 ? why : POLDER_CG_NOTFINITE;
  if (tell) s->ring[s->its % POLDER_CG_RING] = -s->frozen;
  return PETSC_FALSE;
}

/* rho = (r, z) once z has lost its mean, where the constant is the kernel of A; natural: sqrt(rho) is the norm of the last step */
POLDER_BODY void PolderCGSetRho(PolderCGState *s, PetscBool first, PetscBool tell)
{
  if (s->frozen) return;
  s->mean = s->nullspace ? s->sum[2] / s->N : 0;
  s->rho  = s->sum[1] - s->mean * s->sum[3];
  s->beta = first ? 0 : s->rho / s->rhoold;
  if (s->natural && !first) PolderCGJudgeNorm(s, s->its - 1, sqrt(s->rho < 0 ? -s->rho : s->rho), tell);
  if (!s->frozen) (void)PolderCGJudgeScalar(s, s->rho, POLDER_CG_INDEFINITE_PC, tell);
}

/* Ends a step: alpha, and the norm, unless it is computed with rho */
POLDER_BODY void PolderCGSetNorm(PolderCGState *s, PetscBool tell)
{
  if (s->frozen) return;
  if (!PolderCGJudgeScalar(s, s->pw, POLDER_CG_INDEFINITE_MAT, tell)) {
    s->alpha = 0;
    return;
  }
  s->alpha = s->lastalpha = s->rho / s->pw;
  s->rhoold               = s->rho;
  s->lastbeta             = s->beta;
  ++s->its;
  if (!s->natural) PolderCGJudgeNorm(s, s->its - 1, sqrt(s->sum[0]), tell);
}
