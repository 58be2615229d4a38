/* Rows of the incomplete Poisson preconditioner on the host. */
#include "ip.h"

void PolderIpRows_Host(const PolderIp *P, const PetscScalar aa[], const PetscScalar ba[], const PetscScalar d[], PetscScalar val[])
{
  for (PetscInt i = 0; i < P->n; ++i) PolderIpRow(P, i, aa, ba, d, val);
}
