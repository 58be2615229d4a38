/* Values that the rows of this process need from others: one object a matrix, shared by whatever exchanges. */
#pragma once

#include "core/core.h"
#include "core/place.h"
#include "kernels/peers.h"

typedef struct _n_PolderHalo *PolderHalo;

/* The halo of an AIJ matrix (any subtype, sequential or parallel); belongs to the matrix, follows its pattern */
PETSC_INTERN PetscErrorCode PolderMatGetHalo(Mat, PolderHalo *);
/* One of its own, without a matrix: each process has n values and needs those of the global numbers garray[nghost], ascending, of others. Collective */
PETSC_INTERN PetscErrorCode PolderHaloCreate(MPI_Comm, PetscInt n, PetscInt nghost, const PetscInt garray[], PolderHalo *);
/* One whose ghosts are all values of the other processes: that of global number j goes to ghost[j]. Collective */
PETSC_INTERN PetscErrorCode PolderHaloCreateAll(MPI_Comm, PetscInt n, PolderHalo *);
PETSC_INTERN PetscErrorCode PolderHaloDestroy(PolderHalo *);
PETSC_INTERN PetscErrorCode PolderHaloGetGhosts(PolderHalo, PetscInt *nghost, const PetscInt *garray[]);
/* ghost[k] <- owned value of global column garray[k]; unit is MPIU_SCALAR, MPIU_INT or MPI_FLOAT */
PETSC_INTERN PetscErrorCode PolderHaloBegin(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloEnd(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
/* Both at once, where there is nothing to do meanwhile */
PETSC_INTERN PetscErrorCode PolderHaloExchange(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);

/* The same on arrays at a place */
PETSC_INTERN PetscErrorCode PolderHaloBeginAt(PolderHalo, const PolderPlace *, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloEndAt(PolderHalo, const PolderPlace *, MPI_Datatype unit, const void *owned, void *ghost);
/* The same on arrays in device memory, and the way back: owned[] += ghost values, as a transposed product needs it */
PETSC_INTERN PetscErrorCode PolderHaloBeginDevice(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloEndDevice(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
PETSC_INTERN PetscErrorCode PolderHaloExchangeDevice(PolderHalo, MPI_Datatype unit, const void *owned, void *ghost);
/* In place of PolderHaloEndDevice(): z += alpha B ghost for the block B of ghost columns, *dot += (p, B ghost) unless dot is NULL, in one kernel; sum: *dot
   becomes its sum over all processes. done = PETSC_FALSE, and nothing is done, where PetscSF exchanges */
PETSC_INTERN PetscErrorCode PolderHaloEndMultAdd(PolderHalo, const PolderGhostRows *, const PetscScalar p[], PetscScalar z[], PetscScalar *dot, PetscBool sum,
                                                 PetscBool *done);
/* Does an exchange of arrays in device memory only launch kernels? Known from the first one on */
PETSC_INTERN PetscBool      PolderHaloOnlyLaunches(PolderHalo);
PETSC_INTERN PetscErrorCode PolderHaloReduceDevice(PolderHalo, const PetscScalar ghost[], PetscScalar owned[]);

/* The rows of this process as CSR: diagonal block (ai,aj,aa) with local columns and, on several processes,
   the block (bi,bj,ba) whose column k stands for global column garray[k] */
typedef struct {
  PetscInt           m, rstart, M; /* local rows, first of them, global rows */
  PetscInt           nghost;
  const PetscInt    *garray;
  const PetscInt    *ai, *aj, *bi, *bj; /* bi = bj = NULL for a sequential type */
  const PetscScalar *aa, *ba;
  Mat                diag, offdiag;
  PetscInt           nz;     /* entries of the diagonal block */
  PetscBool          device; /* the arrays are in device memory */
} PolderCSR;

/* Errors with PETSC_ERR_SUP when A is not an AIJ matrix; PolderMatIsAIJ() asks first */
PETSC_INTERN PetscErrorCode PolderMatIsAIJ(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode PolderMatGetCSR(Mat, PolderCSR *);
PETSC_INTERN PetscErrorCode PolderMatRestoreCSR(Mat, PolderCSR *);
/* The same with all arrays but garray in device memory, for our types and for aijcusparse; done = PETSC_FALSE, and csr is zero, for matrices that live on
   the host only */
PETSC_INTERN PetscErrorCode PolderMatGetDeviceCSR(Mat, PolderCSR *, PetscBool *done);
PETSC_INTERN PetscErrorCode PolderMatRestoreDeviceCSR(Mat, PolderCSR *);
/* The rows at a place: one of these pairs. Those of the host are always there */
PETSC_INTERN PetscErrorCode PolderMatGetCSRAt(Mat, const PolderPlace *, PolderCSR *, PetscBool *done);
PETSC_INTERN PetscErrorCode PolderMatRestoreCSRAt(Mat, PolderCSR *);
/* Raises the state of a parallel AIJ matrix when that of its blocks has changed without it since the last call. Collective */
PETSC_INTERN PetscErrorCode PolderMatCatchUp(Mat, PetscBool *changed);
