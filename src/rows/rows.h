/* What preconditioners made from the rows of a matrix share: the check of the rows, the place, the renewal of values in the same pattern. The data of such a
   preconditioner begin with a PolderRowsPC. */
#pragma once

#include "core/core.h"
#include "core/options.h"
#include "core/place.h"
#include "mat/csr.h"
#include "mat/halo.h"
#include <petscpc.h>

typedef struct {
  const char *type; /* of the PC */
  /* What depends on the pattern alone, from that of the rows on the host, without values, and from the rows at the place; it may refuse the matrix on all
     processes */
  PetscErrorCode (*pattern)(PC, const PolderCSR *host, const PolderCSR *there);
  /* The values, from the rows at the place; refuses the matrix on all processes when it cannot use them */
  PetscErrorCode (*values)(PC, const PolderCSR *);
  PetscErrorCode (*apply)(PC, Vec r, Vec z);
  PetscErrorCode (*free)(PC); /* what pattern and values have made */
  PetscErrorCode (*view)(PC, PetscViewer);
  PolderSetter setters[2]; /* those without a name are none */
} PolderRowsSteps;

typedef struct {
  const PolderRowsSteps *steps;
  const PolderPlace     *place;     /* of the last set-up */
  PetscObjectId          blocks[2]; /* of the pattern; 0: none */
  PetscObjectState       nonzerostate;
  PetscInt               rstart, M; /* first local row, number of global rows */
} PolderRowsPC;

/* Gives pc its data and the operations that all of these preconditioners have */
PETSC_INTERN PetscErrorCode PolderRowsCreate(PC, PolderRowsPC *, const PolderRowsSteps *);
/* A setting has changed: the next set-up begins with the pattern */
PETSC_INTERN PetscErrorCode PolderRowsForget(PC);
/* The same, unless the setting has this value already */
PETSC_INTERN PetscErrorCode PolderRowsSetInt(PC, PetscInt *setting, PetscInt value);
/* Refuses the matrix on all processes when one has a pivot that is not positive: in the local row `bad`, PETSC_MAX_INT for none. Collective */
PETSC_INTERN PetscErrorCode PolderRowsCheckPivot(PC, PetscInt bad, const char advice[]);
