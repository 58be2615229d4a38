/* Messages that a library carries between devices: values are packed into one buffer before, and unpacked after. Sums of the parts of all processes. */
#pragma once

#include "launcher.h"
#include <stddef.h>

/* The messages for or from n neighbours. Message k has the values with the indices idx[ptr[k] ... ptr[k+1]); ptr and idx are in device memory */
typedef struct {
  int             n;
  PetscInt        most; /* largest number of values of one message */
  const PetscInt *ptr, *idx;
} PolderMessages;

/* Where message k begins in the buffer, in bytes, with first = ptr[k]. Its values lie side by side. Messages begin at multiples of 16 bytes, so that they are
   copied in large words; each has room for values of 8 bytes */
POLDER_BODY size_t PolderMessageAt(PetscInt first, int k)
{
  return ((size_t)first + (size_t)k + 1) / 2 * 16;
}

/* buffer <- the values of x; bytes, 4 or 8, is the size of a value */
PETSC_INTERN void   PolderMessagesPack_Host(const PolderMessages *m, int bytes, const void *x, char *buffer);
POLDER_LAUNCHER int PolderMessagesPack_CUDA(const PolderMessages *m, int bytes, const void *x, char *buffer, PolderStream stream);
/* y <- the values of the buffer */
PETSC_INTERN void   PolderMessagesUnpack_Host(const PolderMessages *m, int bytes, const char *buffer, void *y);
POLDER_LAUNCHER int PolderMessagesUnpack_CUDA(const PolderMessages *m, int bytes, const char *buffer, void *y, PolderStream stream);
/* y += the values of message k. Messages may have indices in common, so call it for one after the other */
PETSC_INTERN void   PolderMessagesAdd_Host(const PolderMessages *m, int k, const char *buffer, PetscScalar y[]);
POLDER_LAUNCHER int PolderMessagesAdd_CUDA(const PolderMessages *m, int k, const char *buffer, PetscScalar y[], PolderStream stream);

/* sum[i] = part[i] + part[n + i] + ..., `parts` terms added in this order, i < n */
PETSC_INTERN void   PolderSumParts_Host(int parts, PetscInt n, const PetscScalar part[], PetscScalar sum[]);
POLDER_LAUNCHER int PolderSumParts_CUDA(int parts, PetscInt n, const PetscScalar part[], PetscScalar sum[], PolderStream stream);
