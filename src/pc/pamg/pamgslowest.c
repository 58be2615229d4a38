/* The vectors that smoothing hardly reduces: how small their energy is beside the diagonal, which is what rounding of the cycle is measured by. */
#include "pamgsetup.h"
#include "core/device.h"
#include "kernels/level.h"
#include <petsc/private/pcimpl.h>

/* The sums of the rows beside the diagonal where the constant is in the kernel */
#define PAMG_SLOWEST_ZERO 1e-10

/* x <- x without its mean with the weights d */
static PetscErrorCode PamgRemoveMean(Vec d, PetscScalar sum, Vec x)
{
  PetscScalar mean;

  PetscFunctionBegin;
  PetscCall(VecDot(d, x, &mean));
  PetscCall(VecShift(x, -mean / sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is A times ones, in y, nothing beside the diagonal d? */
static PetscErrorCode PamgSumsVanish(Mat A, Vec d, Vec x, Vec y, PetscBool *constant)
{
  PetscReal norm, rest;

  PetscFunctionBegin;
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(d, NORM_2, &norm));
  PetscCall(VecNorm(y, NORM_2, &rest));
  *constant = (PetscBool)(rest <= PAMG_SLOWEST_ZERO * norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- numbers around zero without any symmetry */
static PetscErrorCode PamgSeed(Vec x)
{
  const PolderPlace *place;
  PetscScalar       *xa, *standin = NULL;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(PolderPlaceOfVecs(x, NULL, &place));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(PolderPlaceVecGet(place, x, &standin, &xa));
  PolderRun(place, PolderLevelSeed, PETSC_FALSE, n, xa);
  PetscCall(PolderPlaceVecRestore(place, x, standin, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  *quotient <- (x, D x) / (x, A x) after one step of inverse iteration with the cycle for the inverse, from a vector x of random numbers. constant: without what
  the constant has of x, as it is in the kernel. w[3] is scratch
*/
static PetscErrorCode PamgInverseStep(PC pc, Vec d, PetscBool constant, Vec w[], PetscReal *quotient)
{
  PC_PAMG        *pamg = (PC_PAMG *)pc->data;
  const PetscReal unit = pamg->unit;
  Vec             r = w[0], x = w[1], y = w[2];
  PetscScalar     sum = 0, dot[2];

  PetscFunctionBegin;
  pamg->unit = 1; // r has norm one, whatever the solve is about
  PetscCall(PamgSeed(x));
  if (constant) {
    PetscCall(VecSum(d, &sum));
    PetscCall(PamgRemoveMean(d, sum, x));
  }
  PetscCall(VecPointwiseMult(r, d, x));
  PetscCall(VecNormalize(r, NULL));
  PetscCall((*pamg->setup->apply)(pc, r, x));
  pamg->unit = unit;
  if (constant) PetscCall(PamgRemoveMean(d, sum, x));
  PetscCall(MatMult(pc->pmat, x, y));
  PetscCall(VecPointwiseMult(r, d, x));
  PetscCall(VecMDot(x, 2, (const Vec[]){r, y}, dot));
  *quotient = PetscRealPart(dot[1]) > 0 ? PetscRealPart(dot[0]) / PetscRealPart(dot[1]) : PETSC_MAX_REAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A single vector with the quotient q leaves about q / (1 + N / q) of a step from N random numbers. Log-normal coefficients of 64^3 cells show 20,000 where a
  second step shows 26,000
*/
PetscErrorCode PCPAMGSlowest(PC pc, PetscReal most, PetscReal *quotient)
{
  Vec       d, *w;
  PetscBool known, constant = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(pc->pmat, NULL, &d));
  PetscCall(PolderVecDuplicateVecs(d, 3, &w));
  PetscCall(MatGetDiagonal(pc->pmat, d));
  PetscCall(PCPAMGHasConstant(pc, &known));
  PetscCall(PamgInverseStep(pc, d, known, w, quotient));
  if (!known && *quotient > most) { // that may be the constant
    PetscCall(PamgSumsVanish(pc->pmat, d, w[1], w[2], &constant));
    if (constant) PetscCall(PamgInverseStep(pc, d, PETSC_TRUE, w, quotient));
  }
  PetscCall(PetscInfo(pc, "Slowest vectors: (x, D x) is %g times (x, A x)\n", (double)*quotient));
  PetscCall(VecDestroyVecs(3, &w));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
