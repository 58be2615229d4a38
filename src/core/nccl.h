/* Sums and messages between devices through NCCL. Its library is loaded at run time, so nothing of it is needed to build. */
#pragma once

#include "device.h"

/* The processes of a communicator, each with a device of its own, as NCCL sees them */
typedef struct _n_PolderNccl *PolderNccl;

/* The messages of an exchange. Message k of the buffer `send` goes to process rank[k], and that of `receive` comes from there: the messages of
   kernels/messages.h, whose numbers of values are the differences of ptr, in host memory. bytes is the size of a value */
typedef struct {
  int                n, bytes;
  const PetscMPIInt *rank;
  const PetscInt    *sendptr, *receiveptr;
  const char        *send;
  char              *receive;
} PolderNcclMessages;

/* file: of the library, "" for the usual one; seconds: how long the host waits for the device. When it is not possible, *nccl is NULL and why has the reason,
   the same on all processes. Collective */
PETSC_INTERN PetscErrorCode PolderNcclCreate(MPI_Comm, const char file[], PetscReal seconds, PolderNccl *nccl, size_t len, char why[]);
/* Collective */
PETSC_INTERN PetscErrorCode PolderNcclDestroy(PolderNccl *);
/* value[k] <- the sum of value[k] over all processes, added in the order of their ranks; in device memory. Asynchronous */
PETSC_INTERN PetscErrorCode PolderNcclSum(PolderNccl, PetscInt n, PetscScalar value[]);
/* All messages of an exchange at the same time, on this stream. Asynchronous */
PETSC_INTERN PetscErrorCode PolderNcclExchange(PolderNccl, const PolderNcclMessages *, PolderStream);
/* all[displ[r] ... displ[r] + count[r]) <- the values of process r, for all other processes; own: those of this one. Asynchronous */
PETSC_INTERN PetscErrorCode PolderNcclGather(PolderNccl, const PetscScalar own[], const PetscMPIInt count[], const PetscMPIInt displ[], PetscScalar all[],
                                             PolderStream);
/* Raises an error when NCCL reports one, or when the host has waited for the device for longer than it may; then no kernel of NCCL waits any more */
PETSC_INTERN PetscErrorCode PolderNcclCheck(PolderNccl, PetscReal waited);
/* Has it raised one? */
PETSC_INTERN PetscBool PolderNcclLost(PolderNccl);
