/*
  The symmetric part S and the skew-symmetric part T of compressed rows A = S + T with ascending columns. The partner of entry (i, j) is entry (j, i); where
  it is missing it counts as zero.
*/
#pragma once

#include "launcher.h"
#include "views.h"

/* A difference of partners above this part of the largest entry of the row is neither rounding nor harmless */
#define POLDER_SKEW 1e-8
#define POLDER_JUMP 2

/*
  s[k] <- entry k of S; mean[i] <- the sum of row i of S, where that of A is sum[i], unless both are NULL; *missing += the number of rows with an entry whose
  partner is missing
*/
PETSC_INTERN void   PolderSymmetricPart_Host(const PolderRows *A, const PetscReal sum[], PetscScalar s[], PetscReal mean[], PetscInt *missing);
POLDER_LAUNCHER int PolderSymmetricPart_CUDA(const PolderRows *A, const PetscReal sum[], PetscScalar s[], PetscReal mean[], PetscInt *missing,
                                             PolderStream stream);
/*
  c[k] <- entry k of A with softer couplings -s_ij > 0 of S, by no more than keeps both entries of a pair from being positive:

    c_ij = t_ij - max(e_ij, |t_ij|)   where |t_ij| < -s_ij, else a_ij

  e_ij is -s_ij / factor or, unless soft is NULL, -soft[k]. The diagonal entry takes the difference, so that the sum of a row remains
*/
PETSC_INTERN void   PolderSoften_Host(const PolderRows *A, PetscReal factor, const PetscScalar soft[], PetscScalar c[]);
POLDER_LAUNCHER int PolderSoften_CUDA(const PolderRows *A, PetscReal factor, const PetscScalar soft[], PetscScalar c[], PolderStream stream);
/*
  Of rows 0, step, 2 step, ...: count[0] += the number of those in which an entry differs from its partner by more than rounding; count[1] += of those in which
  one is more than POLDER_JUMP times its partner, or the other way round, with the same sign
*/
PETSC_INTERN void   PolderSkewRows_Host(const PolderRows *A, PetscInt step, PetscInt count[]);
POLDER_LAUNCHER int PolderSkewRows_CUDA(const PolderRows *A, PetscInt step, PetscInt count[], PolderStream stream);
/*
  Host only. C <- A with a zero for each missing partner: ptr[n + 1], and col[] and val[] with space for twice the entries of A; work[n + 1 + entries].
  Sets C->nz
*/
PETSC_INTERN void PolderSymmetricPattern_Host(const PolderRows *A, PetscInt work[], PolderSparseRows *C);
