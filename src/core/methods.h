/*
  What a type offers others beyond the operations of its class: a table of functions that it composes on its object. Whoever wants one asks the object and never
  its type, so that a new type joins by composing the table.
*/
#pragma once

#include "device.h"
#include "kernels/cg.h"
#include <petscksp.h>
#include <petsc/private/petscimpl.h>

/* Of a preconditioner to conjugate gradients with vectors on the device, whose scalars stay there. NULL: there is no such function */
typedef struct {
  PetscBool brief; /* an apply takes not much longer than the updates of a step */
  /* z <- M^-1 r with (r, z) and what follows from it on the way. *done = PETSC_FALSE: nothing is done, since r or the factor is not on the device */
  PetscErrorCode (*applyrho)(PC, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done);
  /* The halves of M^-1 = K^T D^-1 K. forward: s = D^-1 K r, which stays with the preconditioner, and (s, D s) = (r, M^-1 r); *done as above. backward,
     after it: z = K^T s goes at once into the direction p <- z + beta p and x <- x + alpha p of the step before */
  PetscErrorCode (*forward)(PC, Vec r, const PolderCGRho *rho, PetscBool *done);
  PetscErrorCode (*backward)(PC, PetscBool first, Vec p, Vec x, PolderCGState *state);
  /* That many whole steps in one kernel with the vectors x, r, z, p, w; prepare: z and rho of the first one are not there yet. count = 0: *done says
     whether there is such a kernel */
  PetscErrorCode (*steps)(PC, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done);
} PolderPCFused;

/* Of a preconditioner whose first step eliminates unknowns exactly: the system that is left, S x_r = b_r, and what is left of M */
typedef struct {
  /* From the next set-up on there is such a system */
  PetscErrorCode (*want)(PC);
  /* Before a solve with vectors like this one: S of the operator as it is, or an error */
  PetscErrorCode (*begin)(PC, Vec like);
  /* Unknowns of this process that are left */
  PetscErrorCode (*size)(PC, PetscInt *n);
  /* r <- b_r minus the part of b that the elimination moves to these unknowns; x <- all unknowns from the ones left; r <- x on these */
  PetscErrorCode (*reduce)(PC, Vec b, Vec r);
  PetscErrorCode (*expand)(PC, Vec b, Vec r, Vec x);
  PetscErrorCode (*pick)(PC, Vec x, Vec r);
  /* y <- S x; dot != NULL: and, where the vectors are, the part of this process of (x, y). *done = PETSC_FALSE, only with dot: nothing is done, since the
     factor is elsewhere */
  PetscErrorCode (*mult)(PC, Vec x, Vec y, PetscScalar *dot, PetscBool *done);
  /* z <- what is left of M^-1 applied to r */
  PetscErrorCode (*apply)(PC, Vec r, Vec z);
  /* What it offers the solver of the system that is left */
  PolderPCFused fused;
} PolderPCReduction;

/* The product of a matrix with (x, A x) on the way, of this process and where the vectors are. *done = PETSC_FALSE: nothing is done */
typedef PetscErrorCode (*PolderMatMultDotFn)(Mat, Vec x, Vec y, PetscScalar *dot, PetscBool *done);

/* The names under which they are composed: functions (PC, const PolderPCFused **), (PC, const PolderPCReduction **), a PolderMatMultDotFn, and (KSP,
   PetscBool *) that tells whether a solver allows its preconditioner to change from step to step */
#define POLDER_PC_GET_FUSED     "PolderPCGetFused_C"
#define POLDER_PC_GET_REDUCTION "PolderPCGetReduction_C"
#define POLDER_MAT_MULT_DOT     "PolderMatMultDot_C"
#define POLDER_KSP_IS_FLEXIBLE  "PolderKSPIsFlexible_C"

/* What pc offers; a table of NULLs when it offers nothing */
static inline PetscErrorCode PolderPCGetFused(PC pc, const PolderPCFused **fused)
{
  static const PolderPCFused none = {0};

  PetscFunctionBegin;
  *fused = &none;
  PetscTryMethod(pc, POLDER_PC_GET_FUSED, (PC, const PolderPCFused **), (pc, fused));
  PetscFunctionReturn(PETSC_SUCCESS);
}
