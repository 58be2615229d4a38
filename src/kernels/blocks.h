/* Kernels for the rows of a process whose columns lie in two blocks: its own columns, and those of other processes. */
#pragma once

#include "launcher.h"
#include "views.h"

/* col[k] <- garray[j[k]] - first: the columns of other processes in the numbering of the own columns, which are first, first + 1, ... of all */
PETSC_INTERN void   PolderColumnsAcross_Host(PetscInt nz, const PetscInt j[], const PetscInt garray[], PetscInt first, PetscInt col[]);
POLDER_LAUNCHER int PolderColumnsAcross_CUDA(PetscInt nz, const PetscInt j[], const PetscInt garray[], PetscInt first, PetscInt col[], PolderStream stream);

/* What joins a row to a column of another process: equal classes if jump = 0, else a nonzero entry and scales within the factor jump */
typedef struct {
  PetscReal          jump;
  const PetscInt    *cls, *ghostcls;
  const PetscScalar *scale, *ghostscale;
  const PetscInt    *comp, *ghostcomp; /* numbers of the components; a row of a negative one is joined to nothing */
} PolderAcross;

/* edge[2k], edge[2k + 1] <- the components of the row and the column of entry k of B, or both -1 when the entry does not join them */
PETSC_INTERN void   PolderEdgesAcross_Host(PolderRows B, PolderAcross across, PetscInt edge[]);
POLDER_LAUNCHER int PolderEdgesAcross_CUDA(PolderRows B, PolderAcross across, PetscInt edge[], PolderStream stream);
