/* What an object of PETSc keeps for the library: a pointer that is composed with it under a key. */
#pragma once

#include "core.h"

/* Composes the pointer, in place of another one of that key; destroy(), whose argument PolderCtx() reads, frees what it points to, with the object or when
   something else takes its place */
PETSC_INTERN PetscErrorCode PolderKeep(PetscObject, const char key[], void *ptr, PetscErrorCode (*destroy)(PolderCtxArg(ctx)));
/* *ptr <- the pointer, NULL: there is none; ptr is the address of a pointer */
PETSC_INTERN PetscErrorCode PolderKept(PetscObject, const char key[], void *ptr);
