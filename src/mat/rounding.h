/* Products with absolute values, and the bound of the residual that remains when the exact solution is rounded to double precision. */
#pragma once

#include "core/core.h"

/* y = |A| |x| for an AIJ matrix. Collective */
PETSC_INTERN PetscErrorCode PolderMatMagnitude(Mat A, Vec x, Vec y);
/* || |A| |x| || times the unit roundoff; an estimate of it where the entries of A cannot be read. Collective */
PETSC_INTERN PetscErrorCode PolderMatRoundingBound(Mat A, Vec x, PetscReal *bound);
