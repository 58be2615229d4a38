/* Products with absolute values, and the bound of the residual that remains when the exact solution is rounded to double precision. */
#include "rounding.h"
#include "csr.h"
#include "halo.h"
#include "core/place.h"
#include "kernels/csr.h"

/* y: a vector of norm || |A| |x| ||, with the norm of A estimated by a few steps of the power method */
static PetscErrorCode PolderMatNormTimes_Private(Mat A, Vec x, Vec y)
{
  Vec       v;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &v));
  PetscCall(VecSetRandom(v, NULL));
  for (PetscInt k = 0; k < 8; ++k) {
    PetscCall(VecNormalize(v, NULL));
    PetscCall(MatMult(A, v, y));
    PetscCall(VecCopy(y, v));
  }
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecScale(y, norm));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = |A| |x| for an AIJ matrix whose rows and vectors are at that place; *done = PETSC_FALSE: they are not */
static PetscErrorCode PolderMatMagnitude_Private(Mat A, const PolderPlace *place, Vec x, Vec y, PetscBool *done)
{
  const PetscScalar *xa;
  PetscScalar       *ya, *ghost;
  PolderHalo         halo;
  PolderCSR          csr;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSRAt(A, place, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderPlaceMalloc(place, csr.nghost, &ghost));
  PetscCall((*place->vecgetread)(x, &xa));
  PetscCall((*place->vecgetwrite)(y, &ya));
  PetscCall(PolderHaloBeginAt(halo, place, MPIU_SCALAR, xa, ghost));
  PolderRun(place, PolderCsrMagnitude, csr.m, csr.ai, csr.aj, csr.aa, xa, PETSC_FALSE, ya);
  PetscCall(PolderHaloEndAt(halo, place, MPIU_SCALAR, xa, ghost));
  if (csr.bi) PolderRun(place, PolderCsrMagnitude, csr.m, csr.bi, csr.bj, csr.ba, ghost, PETSC_TRUE, ya);
  PetscCall((*place->vecrestorewrite)(y, &ya));
  PetscCall((*place->vecrestoreread)(x, &xa));
  PetscCall((*place->free)(&ghost));
  PetscCall(PolderMatRestoreCSRAt(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatMagnitude(Mat A, Vec x, Vec y)
{
  const PolderPlace *place;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(PolderPlaceOfVecs(x, NULL, &place));
  PetscCall(PolderMatMagnitude_Private(A, place, x, y, &done));
  if (!done) PetscCall(PolderMatMagnitude_Private(A, &PolderOnHost, x, y, &done)); // for other AIJ types, on the host only
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ||eps |A| |x| || with the unit roundoff eps. When the entries cannot be read, 2 |diag(A)|, which bounds |A| for diagonally dominant matrices, or ||A||
   replaces |A| */
PetscErrorCode PolderMatRoundingBound(Mat A, Vec x, PetscReal *bound)
{
  Vec       y;
  PetscBool aij, diagonal;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(MatHasOperation(A, MATOP_GET_DIAGONAL, &diagonal));
  PetscCall(PolderMatIsAIJ(A, &aij));
  if (aij) PetscCall(PolderMatMagnitude(A, x, y));
  else if (!diagonal) PetscCall(PolderMatNormTimes_Private(A, x, y));
  else {
    PetscCall(MatGetDiagonal(A, y));
    PetscCall(VecPointwiseMult(y, y, x));
    PetscCall(VecScale(y, 2.0));
  }
  PetscCall(VecNorm(y, NORM_2, bound));
  *bound *= PETSC_MACHINE_EPSILON / 2;
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
