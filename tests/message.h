/* For tests of bad input: what an error says, where KeepMessage() is a handler for PetscPushErrorHandler(), and a matrix without entries. */
#pragma once

#include <petscmat.h>

static char message[1024];

static inline PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess,
                                         void *ctx)
{
  (void)comm, (void)line, (void)fun, (void)file, (void)ctx;
  if (p == PETSC_ERROR_INITIAL) (void)PetscStrncpy(message, mess, sizeof(message));
  return n;
}

/* The message that was kept, if it is the same on all processes */
static inline PetscErrorCode PrintMessage(const char what[], PetscErrorCode ierr, const char failed[])
{
  char        first[sizeof(message)];
  PetscMPIInt same;

  PetscFunctionBeginUser;
  if (!ierr) PetscCall(PetscStrncpy(message, "NOT AN ERROR", sizeof(message)));
  PetscCall(PetscMemcpy(first, message, sizeof(first)));
  PetscCallMPI(MPI_Bcast(first, (PetscMPIInt)sizeof(first), MPI_CHAR, 0, PETSC_COMM_WORLD));
  same = !strcmp(first, message);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s%s%s\n", what, failed, message, same ? "" : ", NOT THE SAME ON ALL PROCESSES"));
  PetscFunctionReturn(0);
}

/* The product of a shell matrix, for those that take no such matrix */
static inline PetscErrorCode MultShell(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  (void)A;
  PetscCall(VecCopy(x, y));
  PetscFunctionReturn(0);
}
