/* All rows of a parallel matrix on the GPU of each process, where that takes less time than the exchanges of a matrix in parts. */
#pragma once

#include "core/replica.h"
#include <petscmat.h>

typedef struct _n_PolderWhole *PolderWhole;

/* Shall each process have all rows of A on its GPU? most: up to so many rows of all processes a whole is as fast as parts, unless the option
   -polder_min_rows_per_gpu says when. Collective */
PETSC_INTERN PetscErrorCode PolderMatWantsWhole(Mat A, PetscInt most, PetscBool *wants);
/* The up-to-date rows, kept with A: its pattern is gathered once, on the host, and new values of the same pattern between the devices. *whole is NULL on all
   processes when A is no square matrix of Polder's types, or when there is a reason why they cannot have all rows. Destroy it in the end. Collective */
PETSC_INTERN PetscErrorCode PolderMatGetWhole(Mat A, PolderWhole *whole);
PETSC_INTERN PetscErrorCode PolderWholeDestroy(PolderWhole *);
/* The matrix of all rows, of this process alone; with the null spaces of A */
PETSC_INTERN Mat PolderWholeMat(PolderWhole);
/* Gathers vectors like those of A */
PETSC_INTERN PolderReplica PolderWholeReplica(PolderWhole);

/* What the rows of all processes depend on: the format of the parallel matrix, its blocks, and the states of all three */
typedef struct {
  const void      *format;
  PetscObjectId    block[2];
  PetscObjectState nonzerostate, state[3];
} PolderWholeStamp;
PETSC_INTERN PetscErrorCode PolderWholeNow(Mat A, PolderWholeStamp *);
/* changed[0] and [1]: pattern and values are not those of the stamp, which may be NULL, on any process. changed[2]: raised on any process. Collective */
PETSC_INTERN PetscErrorCode PolderWholeChanged(Mat A, const PolderWholeStamp *, int changed[3]);
