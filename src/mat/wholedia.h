/* The diagonals of all rows of a parallel matrix on the GPU of each process, for a kernel that makes many steps with a small matrix. */
#pragma once

#include "core/replica.h"
#include "kernels/views.h"
#include <petscmat.h>

typedef struct _n_PolderWholeDia *PolderWholeDia;

/* The up-to-date diagonals, kept with A. here: this process has its rows in few diagonals on its device. *whole is NULL on all processes when one of them has
   not, when there are more than POLDER_CGSMALL_DIAGONALS in all, or when their GPUs are unlike. Destroy it in the end. Collective */
PETSC_INTERN PetscErrorCode PolderMatGetWholeDia(Mat A, PetscBool here, PolderWholeDia *whole);
PETSC_INTERN PetscErrorCode PolderWholeDiaDestroy(PolderWholeDia *);
/* With the values in device memory */
PETSC_INTERN const PolderDia *PolderWholeDiaOf(PolderWholeDia);
/* Gathers vectors like those of A */
PETSC_INTERN PolderReplica PolderWholeDiaReplica(PolderWholeDia);
