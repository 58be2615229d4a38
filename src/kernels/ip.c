/* Rows of the incomplete Poisson preconditioner on the host. */
#include "ip.h"

void PolderIpRows_Host(const PolderIp *P, PolderRows rows, PolderRows ghosts, const PetscScalar d[], PetscScalar val[])
{
  for (PetscInt i = 0; i < P->n; ++i) PolderIpRow(P, i, &rows, &ghosts, d, val);
}
