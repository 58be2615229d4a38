/* Exchange of the values that the rows of this process need from other processes: one object per matrix, shared by all its users. */
#pragma once

#include "core/core.h"
#include "kernels/views.h"
#include "core/place.h"
#include "kernels/peers.h"

typedef struct _n_PolderHalo *PolderHalo;

/* The halo of an AIJ matrix (any subtype, sequential or parallel); belongs to the matrix and follows its pattern */
PETSC_INTERN PetscErrorCode PolderMatGetHalo(Mat, PolderHalo *);
/* A halo without a matrix: each process owns n values and needs those with the global numbers garray[nghost], ascending, from others. Collective */
PETSC_INTERN PetscErrorCode PolderHaloCreate(MPI_Comm, PetscInt n, PetscInt nghost, const PetscInt garray[], PolderHalo *);
/*
  A halo of planes: each process owns n values from number first on and gets the last `plane` values of process beside[0] and then the first ones of process
  beside[1], unless these are -1, which get its own first and last ones. Collective
*/
PETSC_INTERN PetscErrorCode PolderHaloCreatePlanes(MPI_Comm, PetscInt n, PetscInt first, PetscInt plane, const PetscMPIInt beside[2], PolderHalo *);
/* A halo whose ghosts are all values of the other processes: global number j goes to ghost[j]. Collective */
PETSC_INTERN PetscErrorCode PolderHaloCreateAll(MPI_Comm, PetscInt n, PolderHalo *);
PETSC_INTERN PetscErrorCode PolderHaloDestroy(PolderHalo *);
PETSC_INTERN PetscErrorCode PolderHaloGetGhosts(PolderHalo, PetscInt *nghost, const PetscInt *garray[]);
/* ghost[k] <- owned value of global column garray[k]; unit is MPIU_SCALAR, MPIU_INT or MPI_FLOAT */
PETSC_INTERN PetscErrorCode PolderHaloBegin(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloEnd(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
/* Begin and end in one call, when no work overlaps the exchange */
PETSC_INTERN PetscErrorCode PolderHaloExchange(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);

/* The same for arrays at a place */
PETSC_INTERN PetscErrorCode PolderHaloBeginAt(PolderHalo, const PolderPlace *, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloEndAt(PolderHalo, const PolderPlace *, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloExchangeAt(PolderHalo, const PolderPlace *, MPI_Datatype unit, const void *owned, void *ghost);
/* The same for arrays in device memory, and the reverse: owned[] += ghost values, as a transposed product needs it */
PETSC_INTERN PetscErrorCode PolderHaloBeginDevice(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloEndDevice(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloExchangeDevice(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
/* Replaces PolderHaloEndDevice(). One kernel computes z += alpha B ghost with the block B of ghost columns and, unless dot is NULL, *dot += (p, B ghost).
   With sum, *dot is then summed over all processes. done = PETSC_FALSE, and nothing is done, unless PolderHaloAddsRows() */
PETSC_INTERN PetscErrorCode PolderHaloEndMultAdd(PolderHalo, const PolderGhostRows *, const PetscScalar p[], PetscScalar z[], PetscScalar *dot, PetscBool sum,
                                                 PetscBool *done);
/* For kernels that exchange two values a ghost: those of ghost g arrive in cells 2 g and 2 g + 1. NULL when PetscSF does the exchange. The arrays are made at
   the first call with make, which is collective */
PETSC_INTERN PetscErrorCode PolderHaloGetPairs(PolderHalo, PetscBool make, const PolderExchange **);
/* What kernels need that send owned[] themselves and read the ghosts as PolderGhosts, in place of PolderHaloBeginDevice() and PolderHaloEndDevice(). NULL: not
   possible. Collective the first time */
PETSC_INTERN PetscErrorCode PolderHaloGetExchange(PolderHalo, const PolderExchange **);
/* Does it do so? Known after the first exchange of arrays in device memory, or after PolderHaloConnectDevice(), which is collective */
PETSC_INTERN PetscBool      PolderHaloAddsRows(PolderHalo);
PETSC_INTERN PetscErrorCode PolderHaloConnectDevice(PolderHalo);
/* What a kernel needs that computes owned[] and sends it at once, in place of PolderHaloBeginDevice(); n = 0: not possible. PolderHaloEndMultAdd() must follow,
   with rows that ask it to count the message */
PETSC_INTERN PetscErrorCode PolderHaloGetSends(PolderHalo, PolderSends *);
/* Does an exchange of arrays in device memory consist of kernel launches only? Known after the first exchange */
PETSC_INTERN PetscBool      PolderHaloOnlyLaunches(PolderHalo);
PETSC_INTERN PetscErrorCode PolderHaloReduceDevice(PolderHalo, const PetscScalar ghost[], PetscScalar owned[]);
PETSC_INTERN PetscErrorCode PolderHaloReduceAt(PolderHalo, const PolderPlace *, const PetscScalar ghost[], PetscScalar owned[]);

/* Increases the state of a parallel AIJ matrix when a state of its blocks has changed and its own has not since the last call. Collective */
PETSC_INTERN PetscErrorCode PolderMatCatchUp(Mat, PetscBool *changed);
