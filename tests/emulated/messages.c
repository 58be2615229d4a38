/* Messages between emulated devices: the host twins. */
#include "emulated.h"
#include "kernels/messages.h"

PolderEmulate(PolderMessagesPack, (const PolderMessages *m, int bytes, const void *x, char *buffer, PolderStream stream), m, bytes, x, buffer);
PolderEmulate(PolderMessagesUnpack, (const PolderMessages *m, int bytes, const char *buffer, void *y, PolderStream stream), m, bytes, buffer, y);
PolderEmulate(PolderMessagesAdd, (const PolderMessages *m, int k, const char *buffer, PetscScalar y[], PolderStream stream), m, k, buffer, y);
PolderEmulate(PolderSumParts, (int parts, PetscInt n, const PetscScalar part[], PetscScalar sum[], PolderStream stream), parts, n, part, sum);
