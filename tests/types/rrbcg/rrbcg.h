/* What the parts of rrbcg.c share. */
#pragma once

#include <polder.h>
#include <petsc/private/kspimpl.h>
#include "pc/rrb/rrbimpl.h"
#include "bubbles.h"

enum {
  NGRID = 14
};
extern const PetscInt Grids[NGRID][2];

PetscErrorCode Deviation(Vec a, Vec b, PetscReal *deviation);
void           Worsen(PetscReal deviation, PetscReal *worst);
PetscErrorCode SetStop(KSP ksp, KSPRRBCGStop stop);
PetscErrorCode TestComplement(void);
PetscErrorCode TestOrdering(void);
PetscErrorCode TestCG(void);
PetscErrorCode TestChanges(void);
PetscErrorCode TestSingular(void);
PetscErrorCode TestFloor(void);
