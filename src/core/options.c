/* Options and setters: bounds of integers, and what objects compose for setters. */
#include "options.h"

PetscErrorCode PolderOptionsInt(PolderOptionItems PetscOptionsObject, const char name[], const char text[], const char man[], PetscInt lowest, PetscInt highest,
                                PetscInt *value, PetscBool *set)
{
  const PetscBool decide = (PetscBool)(lowest == PETSC_DECIDE);
  char            help[256], upper[32];

  PetscFunctionBegin;
  if (highest < PETSC_MAX_INT) PetscCall(PetscSNPrintf(upper, sizeof(upper), "to %" PetscInt_FMT, highest));
  else PetscCall(PetscStrncpy(upper, "or more", sizeof(upper)));
  PetscCall(PetscSNPrintf(help, sizeof(help), "%s; %" PetscInt_FMT " %s%s", text, decide ? 0 : lowest, upper, decide ? ", -1: automatic" : ""));
  PetscCall(PetscOptionsInt(name, help, man, *value, value, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderComposeSetters(PetscObject object, size_t n, const PolderSetter setters[], PetscBool there)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < n; ++k) PetscCall(PetscObjectComposeFunction(object, setters[k].name, there ? setters[k].call : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
