/* What an object of PETSc keeps for the library. */
#include "keep.h"
#include <petsc/private/petscimpl.h>

/* On this process alone: some objects keep something on one of their processes only */
PetscErrorCode PolderKeep(PetscObject object, const char key[], void *ptr, PetscErrorCode (*destroy)(PolderCtxArg(ctx)))
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, ptr));
  PetscCall(PetscContainerSetCtxDestroy(container, destroy));
  PetscCall(PetscObjectCompose(object, key, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderKept(PetscObject object, const char key[], void *ptr)
{
  PetscContainer container;

  PetscFunctionBegin;
  *(void **)ptr = NULL;
  PetscCall(PetscObjectQuery(object, key, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
