/* The kernel of the incomplete Poisson preconditioner. */
#pragma once

#include "launcher.h"
#include "iprow.h"

/* val[] <- the entries of all rows, ghosts.i = NULL for one process; d: the diagonal of the rows and ghosts */
PETSC_INTERN void   PolderIpRows_Host(const PolderIp *P, PolderRows rows, PolderRows ghosts, const PetscScalar d[], PetscScalar val[]);
POLDER_LAUNCHER int PolderIpRows_CUDA(const PolderIp *P, PolderRows rows, PolderRows ghosts, const PetscScalar d[], PetscScalar val[], PolderStream stream);
