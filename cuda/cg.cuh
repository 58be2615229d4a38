/* The scalars of the conjugate gradients: one thread decides, or every thread for itself and one that tells the host. */
#pragma once

#include "launch.cuh"

/* rho = (r, z) once z has lost its mean, where the constant is the kernel of A */
__device__ static inline void PolderCGSetRho(PolderCGState *s, bool first, bool tell = true)
{
  if (s->frozen) return;
  s->mean = s->nullspace ? s->sum[2] / s->N : 0.0;
  s->rho  = s->sum[1] - s->mean * s->sum[3];
  s->beta = first ? 0.0 : s->rho / s->rhoold;
  if (s->rho > 0 && !isinf(s->rho)) return;
  s->frozen = s->rho <= 0 ? POLDER_CG_INDEFINITE_PC : POLDER_CG_NOTFINITE;
  if (tell) s->ring[s->its % POLDER_CG_RING] = -s->frozen;
}

/* The end of a step: its norm goes to the host */
__device__ static inline void PolderCGSetNorm(PolderCGState *s, bool tell = true)
{
  const PetscReal norm = sqrt(s->sum[0]);
  const PetscInt  slot = s->its % POLDER_CG_RING;

  if (s->frozen) return;
  if (s->pw > 0 && !isinf(s->pw)) {
    s->alpha = s->lastalpha = s->rho / s->pw;
    s->rhoold               = s->rho;
    s->lastbeta             = s->beta;
    ++s->its;
    if (isnan(norm) || isinf(norm)) s->frozen = POLDER_CG_NOTFINITE;
    else if (s->its >= s->minits && (norm <= s->tol || norm >= s->divtol)) s->frozen = POLDER_CG_TOLERANCE;
    if (tell) s->ring[slot] = isnan(norm) ? HUGE_VAL : norm;
  } else {
    s->alpha  = 0;
    s->frozen = s->pw <= 0 ? POLDER_CG_INDEFINITE_MAT : POLDER_CG_NOTFINITE;
    if (tell) s->ring[slot] = -s->frozen;
  }
}
