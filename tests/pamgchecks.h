/* What several tests of the pairwise-aggregation multigrid check of a set-up. */
#pragma once

#include "pamgproblems.h"
#include "pc/pamg/pamgimpl.h"
#include <petsc/private/pcimpl.h>

/* Entries of all levels over those of the first, on this process */
static inline PetscReal OperatorComplexity(const PC_PAMG *pamg)
{
  PetscReal complexity = 0;

  for (PetscInt l = 0; l < pamg->nlevel; ++l) complexity += (PetscReal)pamg->level[l].nz / (PetscReal)PetscMax(1, pamg->level[0].nz);
  return complexity;
}

/* Removes the kernel of A that is attached to it */
static inline PetscErrorCode RemoveKernel(Mat A, Vec x)
{
  MatNullSpace nullspace;

  PetscFunctionBeginUser;
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (M^-1 r, s) = (r, M^-1 s) and (M^-1 r, r) > 0 for random vectors; range: of the range of A */
static inline PetscErrorCode CheckSymmetric(PC pc, PetscBool range, const char options[], const char problem[])
{
  Mat         A;
  Vec         r, s, z, y;
  PetscScalar one, other, definite;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(CreateVecs(A, &r, &s));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(FillRandom(r, 1));
  PetscCall(FillRandom(s, 2));
  if (range) PetscCall(RemoveKernel(A, r));
  if (range) PetscCall(RemoveKernel(A, s));
  PetscCall(PCApply(pc, r, z));
  PetscCall(PCApply(pc, s, y));
  PetscCall(VecDot(z, s, &one));
  PetscCall(VecDot(r, y, &other));
  PetscCall(VecDot(z, r, &definite));
  PetscCheck(PetscRealPart(definite) > 0 && PetscAbsScalar(one - other) <= 1e-10 * PetscRealPart(definite), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s, %s: %g is not %g", options, problem, (double)PetscRealPart(one), (double)PetscRealPart(other));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The distance of M^-1 r from that of a fresh set-up with the options in text, over its norm, both without the kernel that is attached */
static inline PetscErrorCode AwayFromFresh(PC pc, const char text[], Vec r, PetscReal *away)
{
  Mat       A;
  PC        fresh;
  Vec       z, y;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(CreatePC(A, text, &fresh));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(PCApply(pc, r, z));
  PetscCall(PCApply(fresh, r, y));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(RemoveKernel(A, z));
  PetscCall(RemoveKernel(A, y));
  PetscCall(VecNorm(z, NORM_2, away));
  PetscCall(VecNorm(y, NORM_2, &norm));
  *away /= norm;
  PetscCall(PCDestroy(&fresh));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
