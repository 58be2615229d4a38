/* What a Polder solver or preconditioner does with a matrix whose values it cannot use. */
#include "refusal.h"
#include "keep.h"
#include <petsc/private/pcimpl.h>
#include <petscvec.h>
#include <stdarg.h>

#define POLDER_REFUSAL "polder_refusal"

typedef struct {
  char      sentence[1024]; /* empty: nothing is refused */
  PetscBool told;
} PolderRefusal;

static PetscErrorCode PolderRefusalFree_Private(PolderCtxArg(ctx))
{
  PetscFunctionBegin;
  PetscCall(PetscFree(PolderCtx(ctx)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderRefusalMake_Private(PetscObject object, PolderRefusal **refusal)
{
  PetscFunctionBegin;
  PetscCall(PolderKept(object, POLDER_REFUSAL, refusal));
  if (*refusal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(refusal));
  PetscCall(PolderKeep(object, POLDER_REFUSAL, *refusal, PolderRefusalFree_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRefuse(PetscObject object, PetscBool error, PetscErrorCode ierr, const char format[], ...)
{
  MPI_Comm       comm = PetscObjectComm(object);
  PolderRefusal *refusal;
  va_list        arguments;

  PetscFunctionBegin;
  PetscCall(PolderRefusalMake_Private(object, &refusal));
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(refusal->sentence, sizeof(refusal->sentence), format, NULL, arguments));
  va_end(arguments);
  PetscCheck(!error, comm, ierr, "%s", refusal->sentence);
  PetscCall(PetscInfo(object, "%s\n", refusal->sentence));
  /* Warn once: users who do not check the reason still learn of it, and programs that rely on failed solves (step-size control, line search) are not flooded */
  if (!refusal->told)
    PetscCall(PetscFPrintf(comm, PETSC_STDERR, "WARNING: %s. The solve ends for that; -ksp_error_if_not_converged makes it an error\n", refusal->sentence));
  refusal->told = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRefuseQuietly(PetscObject object)
{
  PolderRefusal *refusal;

  PetscFunctionBegin;
  PetscCall(PolderRefusalMake_Private(object, &refusal));
  refusal->told = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderForgive(PetscObject object)
{
  PolderRefusal *refusal;

  PetscFunctionBegin;
  PetscCall(PolderKept(object, POLDER_REFUSAL, &refusal));
  if (refusal) refusal->sentence[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRefusalView(PetscObject object, PetscViewer viewer)
{
  PolderRefusal *refusal;

  PetscFunctionBegin;
  PetscCall(PolderKept(object, POLDER_REFUSAL, &refusal));
  if (refusal && refusal->sentence[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  refuses the matrix: %s\n", refusal->sentence));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFirstRow(MPI_Comm comm, PetscInt M, PetscInt *row, PetscInt *kind)
{
  const PetscInt mine = *row;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, row, 1, MPIU_INT, MPI_MIN, comm);
  if (*row == M) PetscFunctionReturn(PETSC_SUCCESS);
  if (mine != *row) *kind = 0;
  PetscCallAllreduce(MPI_IN_PLACE, kind, 1, MPIU_INT, MPI_MAX, comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPCRefuseRow(PC pc, const char type[], PetscInt row, PolderRowKind kind)
{
  PetscFunctionBegin;
  switch (kind) {
  case POLDER_ROW_NODIAGONAL:
    PolderPCRefuse(pc, PC_FACTOR_STRUCT_ZEROPIVOT, PETSC_ERR_ARG_WRONG,
                   "PC of type %s needs a positive diagonal and row %" PetscInt_FMT " has no diagonal entry: insert it", type, row);
    break;
  case POLDER_ROW_ZERO:
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_ARG_WRONG,
                   "PC of type %s needs a positive diagonal and that of row %" PetscInt_FMT
                   " is zero or too small to invert: remove the row, or put a one on its diagonal",
                   type, row);
    break;
  case POLDER_ROW_NEGATIVE:
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_ARG_WRONG,
                   "PC of type %s needs a positive diagonal and that of row %" PetscInt_FMT
                   " is negative: change the sign of the system if the matrix is negative definite, else use another preconditioner",
                   type, row);
    break;
  default:
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_FP,
                   "PC of type %s needs finite entries and row %" PetscInt_FMT " has one that is not: check how the matrix was assembled", type, row);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPCForgive(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PolderForgive((PetscObject)pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPCSetUpOnBlocks(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecFlag(Vec v, PetscBool flag)
{
  PetscFunctionBegin;
  PetscCall(VecFlag(v, flag));
  PetscCall(PetscObjectStateIncrease((PetscObject)v)); // PETSc does this since 3.22
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPCFlag(PC pc, Vec z, PetscBool *failed)
{
  PCFailedReason reason;

  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(pc, &reason));
  *failed = (PetscBool)(reason != PC_NOERROR);
  if (*failed) PetscCall(PolderVecFlag(z, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPCShareFailure(PC pc)
{
  PCFailedReason reason;
  PetscInt       most;

  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(pc, &reason));
  most = (PetscInt)reason;
  PetscCallAllreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  PetscCall(PCSetFailedReason(pc, (PCFailedReason)most));
  PetscFunctionReturn(PETSC_SUCCESS);
}
