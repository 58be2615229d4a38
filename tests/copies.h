/* For tests that count what crosses the bus: the counter, and values that need not cross it. */
#pragma once

#include <petscmat.h>

/* Bytes of arrays copied between host and device so far */
static inline PetscLogDouble Copied(void)
{
#if defined(PETSC_HAVE_DEVICE)
  return petsc_ctog_sz + petsc_gtoc_sz;
#else
  return 0;
#endif
}

/* Values in coordinates from wherever the vector has them */
static inline PetscErrorCode SetValues(Mat A, Vec values)
{
  const PetscScalar *v;
  PetscMemType       where;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayReadAndMemType(values, &v, &where));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(VecRestoreArrayReadAndMemType(values, &v));
  PetscFunctionReturn(0);
}
