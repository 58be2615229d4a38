/* One row of the incomplete Poisson preconditioner, for host and device. */
#pragma once

#include <math.h>
#include <petscsys.h>

#if defined(__CUDACC__)
  #define POLDER_IP static __host__ __device__ __forceinline__
#else
  #define POLDER_IP static inline
#endif

/*
  Row i has its diagonal entry at start[i], and then the entries of A in its other columns: col[] is a row or, from n on, a ghost, and source[] is where the
  entry lies in the values of A, from split on in those of ghosts. Ghosts below n + nlow come before the rows in the global order.
*/
typedef struct {
  PetscInt        n, nlow, split;
  PetscBool       scaled; /* scale A symmetrically to a unit diagonal before */
  PetscBool       whole;  /* all entries, for the product K K^T on the pattern of A; else those above the diagonal, for K^T */
  const PetscInt *start, *col, *source;
} PolderIp;

/*
  A = L + D + L^T. K^T = I - D^-1 L^T; scaled: K^T = (I - D^-1/2 L^T D^-1/2) D^-1/2. K K^T has the diagonal entries 1 + sum over j < i of (a_ij / d_j)^2 and the
  off-diagonal ones of K and K^T
*/
POLDER_IP void PolderIpRow(const PolderIp *P, PetscInt i, const PetscScalar aa[], const PetscScalar ba[], const PetscScalar d[], PetscScalar val[])
{
  const PetscInt    first = P->start[i];
  const PetscScalar own   = d[i];
  PetscScalar       sum   = 0;

  for (PetscInt k = first + 1; k < P->start[i + 1]; ++k) {
    const PetscInt    j     = P->col[k];
    const PetscBool   lower = (PetscBool)(j < P->n ? j < i : j < P->n + P->nlow);
    const PetscScalar a     = P->source[k] < P->split ? aa[P->source[k]] : ba[P->source[k] - P->split];

    if (lower) sum += P->scaled ? a * a / (own * d[j]) : a * a / (d[j] * d[j]);
    if (P->scaled) val[k] = -a / d[j] / (P->whole ? own : sqrt(own));
    else val[k] = -a / (lower ? d[j] : own);
  }
  val[first] = (P->whole ? 1 + sum : 1) / (!P->scaled ? 1 : P->whole ? own : sqrt(own));
}
