/* What an error says, for tests of bad input: KeepMessage() is a handler for PetscPushErrorHandler(). */
#pragma once

#include <petscsys.h>

static char message[1024];

static inline PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  (void)comm, (void)line, (void)fun, (void)file, (void)ctx;
  if (p == PETSC_ERROR_INITIAL) (void)PetscStrncpy(message, mess, sizeof(message));
  return n;
}
