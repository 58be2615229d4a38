/* What rounding a solution to double precision may leave as residual. */
#pragma once

#include "core/core.h"

/* || |A| |x| || times the unit roundoff; an estimate of it where the entries of A cannot be read. Collective */
PETSC_INTERN PetscErrorCode PolderMatRoundingBound(Mat A, Vec x, PetscReal *bound);
