/* The solver idrs, for the files of this folder. */
#pragma once

#include "core/core.h"
#include <petsc/private/kspimpl.h>

#define IDRS_S_MAX 64

typedef struct _KSPIDRSSteps KSPIDRSSteps;

/* Of s x s matrices row i and column k are at (i, k) */
#define IDRSEntry(idrs, m, i, k) ((idrs)->m)[(i) * (idrs)->n + (k)]

typedef struct {
  PetscInt            s; /* as asked for */
  KSPIDRSVariant      variant;
  const KSPIDRSSteps *steps; /* of the variant */
  /* the spaces, made by KSPIDRSMakeSpaces() for n = min(s, N) vectors each */
  PetscInt n, seed; /* seed: of the shadow space Q as it is */
  Vec     *Q, *G, *U, *list;
  /* within a cycle */
  PetscScalar *M, *phi, *psi, *gamma, *alpha, *dots; /* M = Q^T G, lower triangular; phi = Q^T r; psi = Q^T t; the others for a step */
  PetscScalar  omega;
  PetscBool    fresh;  /* the first cycle after a start: of G and U nothing is there yet */
  const char  *broken; /* why the run has broken down, or NULL */
  /* (r, r) and, of minsync, what it follows from: gram = G^T G and c = G^T r of the cycle; error: of rr by rounding; peak: the largest term of this cycle */
  PetscScalar *gram, *c;
  PetscReal    rr, error, peak, gg, rg, ggsize, rgsize;
  /* of the solve: the largest norm since the last true residual; the first true residual and the smallest; that of the best solution that was given up, x */
  PetscReal top, first, last, best;
  Vec       x;
  PetscInt  restarts, idle; /* idle: how many runs in a row have not halved the true residual */
} KSP_IDRS;

/* What the two variants do in their own ways */
struct _KSPIDRSSteps {
  /* phi <- Q^T r, when r is new */
  PetscErrorCode (*project)(KSP, PetscBool start, Vec r);
  /* g_k and u_k become orthogonal to q_i, i < k; column k of M, gg = (g_k, g_k) */
  PetscErrorCode (*biorthogonalise)(KSP, PetscInt k, Vec r);
  /* rr <- (r, r) after r <- r - beta g_k; k = -1: after r <- r - omega t */
  PetscErrorCode (*norm)(KSP, PetscInt k, PetscScalar beta, Vec r);
  /* (t, t) and (t, r), and what phi of the next cycle needs */
  PetscErrorCode (*omegadots)(KSP, Vec t, Vec r, PetscScalar *tt, PetscScalar *tr);
};

PETSC_INTERN const KSPIDRSSteps KSPIDRSBiOrtho, KSPIDRSMinSync;

/* Vectors like the given one, of which Q is random, orthonormal and the same on any number of processes; another one for another seed */
PETSC_INTERN PetscErrorCode KSPIDRSMakeSpaces(KSP, Vec like, PetscInt seed);
PETSC_INTERN PetscErrorCode KSPIDRSFreeSpaces(KSP_IDRS *);
PETSC_INTERN PetscErrorCode KSPSolve_IDRS(KSP);
