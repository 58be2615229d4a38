/*
  A problem that every process solves as a whole on its own GPU, where that takes less time than the exchanges of a problem in parts: gathers values of all
  processes on each device. The kernels, their order and their data are the same everywhere, so the results are, too, and nothing is sent back.
*/
#pragma once

#include "core.h"
#include "device.h"

typedef struct _n_PolderReplica *PolderReplica;

/* Where the values of this process are among all: lines of `width` values, ld apart, from number `first` on */
typedef struct {
  PetscInt first, width, ld;
} PolderReplicaLines;

/* n values of this process; lines = NULL: one after the other, in the order of the ranks. many: how many of this process PolderReplicaGatherMany() or
   PolderReplicaGatherColumns() will bring, or 0. *replica is NULL on all processes when there is only one of them, when there are too many, or when their GPUs
   are unlike, so that their sums would differ. Collective */
PETSC_INTERN PetscErrorCode PolderReplicaCreate(MPI_Comm, PetscInt n, PetscInt many, const PolderReplicaLines *lines, PolderReplica *replica);
/* The same for several at a time, at most POLDER_REPLICAS, with the messages of one */
typedef struct {
  PetscInt                  n, many;
  const PolderReplicaLines *lines;
  PolderReplica            *replica;
} PolderReplicaWant;
#define POLDER_REPLICAS 16
PETSC_INTERN PetscErrorCode PolderReplicaCreateMany(MPI_Comm, PetscInt count, const PolderReplicaWant want[]);
PETSC_INTERN PetscErrorCode PolderReplicaDestroy(PolderReplica *);
/* How the values go between processes: "peer", "nccl", "mpi" or "host" */
PETSC_INTERN const char *PolderReplicaTransport(PolderReplica);
/* Does a gather consist of kernel launches only? */
PETSC_INTERN PetscBool PolderReplicaOnlyLaunches(PolderReplica);
/* Number of values of all processes */
PETSC_INTERN PetscInt PolderReplicaSize(PolderReplica);
/* all <- own of all processes, in device memory. Collective; asynchronous between peers and with NCCL */
PETSC_INTERN PetscErrorCode PolderReplicaGather(PolderReplica, const PetscScalar own[], PetscScalar all[]);
/* The same where the values of this process are in `all` already. Collective */
PETSC_INTERN PetscErrorCode PolderReplicaSpread(PolderReplica, PetscScalar all[]);
/* The same where they are in part[], which begins with the first of them and has the others where `all` has them. Collective */
PETSC_INTERN PetscErrorCode PolderReplicaSpreadPart(PolderReplica, const PetscScalar part[], PetscScalar all[]);
/* The same with any number of values, total[r] of process r, one after the other in the order of the ranks. In rounds of at least the values of the replica, of
   which a process that has any values here must have some */
PETSC_INTERN PetscErrorCode PolderReplicaGatherMany(PolderReplica, const PetscInt total[], const PetscScalar own[], PetscScalar all[]);
/* The same with `columns` columns of the values of the replica, made without lines, each of which is gathered: own[] and all[] have them one after the other */
PETSC_INTERN PetscErrorCode PolderReplicaGatherColumns(PolderReplica, PetscInt columns, const PetscScalar own[], PetscScalar all[]);
/* Not collective: all <- own, in the part of this process; own <- its part of all */
PETSC_INTERN PetscErrorCode PolderReplicaPut(PolderReplica, const PetscScalar own[], PetscScalar all[]);
PETSC_INTERN PetscErrorCode PolderReplicaTake(PolderReplica, const PetscScalar all[], PetscScalar own[]);
