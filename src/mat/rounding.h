/* Bound of the residual that remains when the exact solution is rounded to double precision. */
#pragma once

#include "core/core.h"

/* || |A| |x| || times the unit roundoff; an estimate of it where the entries of A cannot be read. Collective */
PETSC_INTERN PetscErrorCode PolderMatRoundingBound(Mat A, Vec x, PetscReal *bound);
