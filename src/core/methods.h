/*
  Operations that a type offers to other types beyond its class: a table of functions that it composes with its object. A caller asks the object for the table
  and never tests its type, so a new type takes part by composing the table.
*/
#pragma once

#include "device.h"
#include "kernels/cg.h"
#include <petscksp.h>
#include <petsc/private/petscimpl.h>

/* What a preconditioner is for conjugate gradients, and operations with vectors and scalars on the device. NULL: not available */
typedef struct {
  PetscBool brief;  /* an apply takes not much longer than the vector updates of a step */
  PetscBool coarse; /* coarse levels correct what deflation vectors could: these save at most an iteration or two */
  /* z <- M^-1 r, together with (r, z) and the scalars that follow from it. *done = PETSC_FALSE: nothing is done, since r or the factor is not on the device */
  PetscErrorCode (*applyrho)(PC, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done);
  /* A preconditioner that works in single precision. residual: where it wants an r that is on the device, or on the host, with to = NULL if it rounds r itself
     or works at the other place. Whoever updates r can store it there in the same pass, and calls applysingle with `rounded` before any other apply. This is
     applyrho but for parts: unless NULL they get z, which stays with the preconditioner until its next apply, and the vector z is not touched */
  PetscErrorCode (*residual)(PC, PetscBool device, PolderCGRounded *);
  PetscErrorCode (*applysingle)(PC, Vec r, PetscBool rounded, Vec z, PolderCGParts *parts, const PolderCGRho *rho, PetscBool *done);
  /* The same for vectors of the host, without the scalars; *done = PETSC_FALSE: nothing is done, or rounded; parts = NULL: *done tells whether it would be */
  PetscErrorCode (*applyparts)(PC, Vec r, PetscBool rounded, PolderCGParts *parts, PetscBool *done);
  /* The halves of M^-1 = K^T D^-1 K. forward: s = D^-1 K r, which the preconditioner keeps, and (s, D s) = (r, M^-1 r); *done as above. backward, after it:
     computes z = K^T s and at once updates x <- x + alpha p of the previous step and p <- z + beta p */
  PetscErrorCode (*forward)(PC, Vec r, const PolderCGRho *rho, PetscBool *done);
  PetscErrorCode (*backward)(PC, PetscBool first, Vec p, Vec x, PolderCGState *state);
  /* The same for vectors of the host, where the solver keeps s. joins: does the preconditioner offer both? forwardupdate: r <- r - alpha w (w = NULL: r
     stays), then s; sum[0] = (r, r) and sum[1] = (s, D s) of this process, NaN where the preconditioner has failed. backwarddirection: x <- x + alpha p, p <-
     K^T s + beta (p - mean), and the sum of p on this process */
  PetscErrorCode (*joins)(PC, Vec r, PetscBool *joins);
  PetscErrorCode (*forwardupdate)(PC, PetscScalar alpha, Vec w, Vec r, Vec s, PetscScalar sum[2]);
  PetscErrorCode (*backwarddirection)(PC, PetscScalar alpha, PetscScalar beta, PetscScalar mean, Vec s, Vec p, Vec x, PetscScalar *sum);
  /* Makes `count` whole steps in one kernel with the vectors x, r, z, p, w; prepare: z and rho of the first step are computed first. count = 0: *done only
     tells whether there is such a kernel */
  PetscErrorCode (*steps)(PC, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done);
} PolderPCFused;

/* Operations of a preconditioner whose first step eliminates unknowns exactly: the reduced system S x_r = b_r, and the part of M that acts on it */
typedef struct {
  /* Requests that set-ups from now on provide the reduced system */
  PetscErrorCode (*want)(PC);
  /* Call before a solve with vectors like this one: updates S to the current operator, or raises an error */
  PetscErrorCode (*begin)(PC, Vec like);
  /* Communicator of the reduced system for vectors like this one, PETSC_COMM_SELF when each process has all of it, and number of unknowns of this process */
  PetscErrorCode (*size)(PC, Vec like, MPI_Comm *comm, PetscInt *n);
  /* reduce: r <- b_r minus the contributions of the eliminated part of b. expand: all unknowns x from those of the reduced system. pick: r <- the entries of
     x in the reduced system */
  PetscErrorCode (*reduce)(PC, Vec b, Vec r);
  PetscErrorCode (*expand)(PC, Vec b, Vec r, Vec x);
  PetscErrorCode (*pick)(PC, Vec x, Vec r);
  /* y <- S x; dot != NULL: also the contribution of this process to (x, y), stored where the vectors are. *done = PETSC_FALSE, possible only with dot:
     nothing is done, since the factor is elsewhere */
  PetscErrorCode (*mult)(PC, Vec x, Vec y, PetscScalar *dot, PetscBool *done);
  /* z <- M^-1 r for the reduced system */
  PetscErrorCode (*apply)(PC, Vec r, Vec z);
  /* the operations above, for the reduced system */
  PolderPCFused fused;
} PolderPCReduction;

/* A matrix product that computes the contribution of this process to (x, A x) in the same pass, and stores it where the vectors are. *done = PETSC_FALSE:
   nothing is done */
typedef PetscErrorCode (*PolderMatMultDotFn)(Mat, Vec x, Vec y, PetscScalar *dot, PetscBool *done);

/* Names under which these are composed: functions (PC, const PolderPCFused **), (PC, const PolderPCReduction **), a PolderMatMultDotFn, a function (PC,
   PC *alone) of a parallel preconditioner, and a function (KSP, PetscBool *) that tells whether a solver allows its preconditioner to change from step to
   step. alone: where each process has all of the preconditioner, that of this process for vectors of all rows, up to date; NULL on all processes where not.
   It sets up the PC, and is collective */
#define POLDER_PC_GET_FUSED     "PolderPCGetFused_C"
#define POLDER_PC_GET_REDUCTION "PolderPCGetReduction_C"
#define POLDER_MAT_MULT_DOT     "PolderMatMultDot_C"
#define POLDER_PC_GET_ALONE     "PolderPCGetAlone_C"
#define POLDER_KSP_IS_FLEXIBLE  "PolderKSPIsFlexible_C"

/* The table that pc offers; a table of NULLs when it offers none */
static inline PetscErrorCode PolderPCGetFused(PC pc, const PolderPCFused **fused)
{
  static const PolderPCFused none = {0};

  PetscFunctionBegin;
  *fused = &none;
  PetscTryMethod(pc, POLDER_PC_GET_FUSED, (PC, const PolderPCFused **), (pc, fused));
  PetscFunctionReturn(PETSC_SUCCESS);
}
