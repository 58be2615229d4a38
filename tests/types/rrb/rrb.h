/* What the parts of rrb.c share. */
#pragma once

#include <polder.h>
#include <petsc/private/pcimpl.h>
#include "pc/rrb/rrbimpl.h"
#include "bubbles.h"

PetscErrorCode TestFormula(void);
PetscErrorCode TestPlain(void);
