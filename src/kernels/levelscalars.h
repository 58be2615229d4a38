/* The scalars of a multigrid cycle that host and device both compute. */
#pragma once

#include "launcher.h"

/*
  Two steps of flexible CG with a cycle as preconditioner (Notay, SIAM J. Sci. Comput. 22, 2000). The second step is made when the first one leaves more
  than the fraction `threshold` of the residual:

      v = A x,  rho = (x, v),  alpha = (x, b),  b <- b - (alpha / rho) v
      y = A w,  gamma = (w, v),  rho2 = (w, y) - gamma^2 / rho,  alpha2 = (w, b),   x <- (alpha / rho - gamma alpha2 / (rho rho2)) x + (alpha2 / rho2) w

  The sums are (x, v), (x, b), (b, b), (b, v), (v, v) of the first step, then (w, y), (w, b), (w, v) of the second one.
*/
#define POLDER_KSUMS_FIRST  5
#define POLDER_KSUMS_SECOND 3
#define POLDER_KSUMS        (POLDER_KSUMS_FIRST + POLDER_KSUMS_SECOND)

/* Does the first step suffice? Also true when rho is zero or not a number, so that nothing can be scaled */
POLDER_BODY PetscBool PolderKCycleDone(const PetscReal sum[], PetscReal threshold)
{
  PetscReal step;

  if (!(sum[0] > 0)) return PETSC_TRUE;
  step = sum[1] / sum[0];
  return sum[2] - 2 * step * sum[3] + step * step * sum[4] <= threshold * threshold * sum[2] ? PETSC_TRUE : PETSC_FALSE;
}

/* alpha / rho: b loses this multiple of v before the second step */
POLDER_BODY PetscReal PolderKCycleFirst(const PetscReal sum[], PetscReal threshold)
{
  return PolderKCycleDone(sum, threshold) ? 0 : sum[1] / sum[0];
}

/* x <- c[0] x + c[1] w */
POLDER_BODY void PolderKCycleSecond(const PetscReal sum[], PetscReal threshold, PetscReal c[2])
{
  const PetscReal *second = sum + POLDER_KSUMS_FIRST;
  PetscReal        rho2;

  c[0] = sum[0] > 0 ? sum[1] / sum[0] : 1;
  c[1] = 0;
  if (PolderKCycleDone(sum, threshold)) return;
  rho2 = second[0] - second[2] * second[2] / sum[0];
  if (!(rho2 > 0)) return; // w is no new direction
  c[1] = second[1] / rho2;
  c[0] -= second[2] / sum[0] * c[1];
}

/*
  The lengths of two visits of a level or grid, x = length[0] B b and x += length[1] B (b - A x), with the Chebyshev polynomial of [bottom, top] for the
  eigenvalues of B A (AMLI: Axelsson and Vassilevski, Algebraic multilevel preconditioning methods I, Numer. Math. 56, 1989)
*/
POLDER_BODY void PolderVisitLengths(PetscReal bottom, PetscReal top, PetscReal length[2])
{
  const PetscReal middle = (top + bottom) / 2, root = (top - bottom) / 2 * PETSC_SQRT2 / 2;

  length[0] = 1 / (middle - root);
  length[1] = 1 / (middle + root);
}

/*
  Start of the power method: a hash in (-1/2, 1/2). A periodic start vector would consist of a few waves on a grid, perhaps none of them near the largest
  eigenvalue
*/
POLDER_BODY PetscReal PolderPowerStart(PetscInt i)
{
  unsigned h = (unsigned)i * 0x9E3779B1u;

  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  h = (h ^ (h >> 12)) * 0x297A2D39u;
  return ((PetscReal)((h ^ (h >> 15)) >> 8) + 0.5) / 16777216 - 0.5;
}
