/* What a Polder solver or preconditioner does with a matrix whose values it cannot use. */
#pragma once

#include "core.h"
#include "kernels/levelrow.h"
#include <petscpc.h>

/*
  The object cannot use the values it was given; the sentence says why. If errors are requested, this raises an error on every process. Otherwise the sentence
  is kept for the view, reported to -info, and printed the first time. Collective
*/
PETSC_INTERN PetscErrorCode PolderRefuse(PetscObject, PetscBool error, PetscErrorCode ierr, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(4, 5);
/* Clears the refusal; called before each set-up */
PETSC_INTERN PetscErrorCode PolderForgive(PetscObject);
/* Refusals of this object are not printed: another one tells of them */
PETSC_INTERN PetscErrorCode PolderRefuseQuietly(PetscObject);
/* Prints the sentence, if there is one */
PETSC_INTERN PetscErrorCode PolderRefusalView(PetscObject, PetscViewer);

/* The same for a preconditioner: the solver then ends with KSP_DIVERGED_PC_FAILED. Used during a set-up, which then continues to its end */
#define PolderPCRefuse(pc, reason, ierr, ...) \
  do { \
    PetscCall(PolderRefuse((PetscObject)(pc), (pc)->erroriffailure, ierr, __VA_ARGS__)); \
    PetscCall(PCSetFailedReason(pc, reason)); \
  } while (0)
/*
  *row, *kind <- those of the process with the smallest row. Each passes the global number of its first row that cannot be used, and why, a number of 0 or
  more; or the number of rows M of the matrix. Collective
*/
PETSC_INTERN PetscErrorCode PolderFirstRow(MPI_Comm, PetscInt M, PetscInt *row, PetscInt *kind);
/* Refuses the matrix for this row, which all processes know; type: that of the preconditioner */
PETSC_INTERN PetscErrorCode PolderPCRefuseRow(PC, const char type[], PetscInt row, PolderRowKind);
PETSC_INTERN PetscErrorCode PolderPCForgive(PC);
/* PCSetUpOnBlocks() of Polder's preconditioners. Some KSPs set up the preconditioner in its first apply; by then they know whether the last set-up has
   failed */
PETSC_INTERN PetscErrorCode PolderPCSetUpOnBlocks(PC);
/* Called in place of an apply: if the set-up has failed, z <- infinity, which solvers detect */
PETSC_INTERN PetscErrorCode PolderPCFlag(PC, Vec z, PetscBool *failed);
/* A failure on one process becomes a failure on all. Collective */
PETSC_INTERN PetscErrorCode PolderPCShareFailure(PC);
/* v <- infinity on the processes where flag is set. All processes call it, since they must agree on the norms that a vector caches */
PETSC_INTERN PetscErrorCode PolderVecFlag(Vec, PetscBool flag);
