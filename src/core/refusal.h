/* What a solver or preconditioner of ours does with a matrix whose values it cannot use. */
#pragma once

#include "core.h"
#include <petscpc.h>

/*
  The object cannot use the values that it was given, which the sentence explains. Where errors are asked for this is one, on every process; else the sentence
  is kept for the view, told to -info, and printed the first time. Collective
*/
PETSC_INTERN PetscErrorCode PolderRefuse(PetscObject, PetscBool error, PetscErrorCode ierr, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(4, 5);
/* Nothing is refused any more. Before each set-up */
PETSC_INTERN PetscErrorCode PolderForgive(PetscObject);
/* The sentence, when there is one */
PETSC_INTERN PetscErrorCode PolderRefusalView(PetscObject, PetscViewer);

/* The same for a preconditioner, with which a solver ends with KSP_DIVERGED_PC_FAILED; for what a set-up finds, which goes on to its end without it */
#define PolderPCRefuse(pc, reason, ierr, ...) \
  do { \
    PetscCall(PolderRefuse((PetscObject)(pc), (pc)->erroriffailure, ierr, __VA_ARGS__)); \
    PetscCall(PCSetFailedReason(pc, reason)); \
  } while (0)
PETSC_INTERN PetscErrorCode PolderPCForgive(PC);
/* The operation of that name of our preconditioners. Some KSPs set the preconditioner up in its first apply, and know by then whether the last set-up has
   failed */
PETSC_INTERN PetscErrorCode PolderPCSetUpOnBlocks(PC);
/* Instead of an apply: z <- infinity, by which solvers notice, when the set-up has failed */
PETSC_INTERN PetscErrorCode PolderPCFlag(PC, Vec z, PetscBool *failed);
/* What has failed on one process has failed on all. Collective */
PETSC_INTERN PetscErrorCode PolderPCShareFailure(PC);
/* v <- infinity on the processes where flag is set; all call it, since they must agree on which norms a vector remembers */
PETSC_INTERN PetscErrorCode PolderVecFlag(Vec, PetscBool flag);
