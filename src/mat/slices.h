/* The device form of aijicrs and aijhec: sliced rows, and long rows stored separately. */
#pragma once

#include "aijderived.h"

PETSC_INTERN PetscErrorCode PolderSlicesBuild(Mat A, PolderAIJ, const PolderCSR *csr, void **data, size_t len, char why[]);
PETSC_INTERN PetscErrorCode PolderSlicesRefresh(Mat A, PolderAIJ, const PolderCSR *csr, void *data, PetscBool *done);
PETSC_INTERN PetscErrorCode PolderSlicesMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                                             PetscScalar *dot);
PETSC_INTERN PetscErrorCode PolderSlicesDestroy(void **data);
PETSC_INTERN PetscErrorCode PolderSlicesDescribe(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored);
#define POLDER_SLICES_STEPS \
  { \
    .build = PolderSlicesBuild, .refresh = PolderSlicesRefresh, .mult = PolderSlicesMult, .destroy = PolderSlicesDestroy, .describe = PolderSlicesDescribe \
  }
