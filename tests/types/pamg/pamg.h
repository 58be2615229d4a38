/* What the parts of pamg.c share. */
#pragma once

#include "pamgchecks.h"

#define AGGREGATES  "-pc_pamg_grid 0 " /* pamggrid.c tests levels that are grids */
#define KCYCLE      "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k " AGGREGATES
#define SGS         "-pc_pamg_smoother sgs "
#define VCYCLE      "-ksp_type cg -pc_type pamg " AGGREGATES
#define CHEBYSHEV22 "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "

/* its: measured on one process, to be met by one more or less, on several by a fifth; most: what the method must do; there: its on the device, where the
   smoother is another one unless it is asked for (0: the same) */
typedef struct {
  const char *kind;
  PetscInt    dim, n;
  PetscReal   jump;
  const char *options;
  PetscInt    its, most, there;
} Case;

PetscErrorCode TestGalerkin(void);
PetscErrorCode TestSymmetry(void);
PetscErrorCode TestRefresh(void);
PetscErrorCode TestLone(void);
PetscErrorCode TestConvert(void);
PetscErrorCode TestMatching(void);
PetscErrorCode TestPrecision(void);
PetscErrorCode TestRegular(void);
PetscErrorCode TestView(void);
PetscErrorCode TestViewDevice(void);
PetscErrorCode TestDevice(void);
