/* triouter.cu in plain C */
#include "emulated.h"
#include "kernels/triouter.h"

PolderEmulate(PolderTriOuterSend, (const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[], PolderStream stream), e, T, in);
PolderEmulate(PolderTriOuterResend, (const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[], PolderStream stream), e, T, in);
PolderEmulate(PolderTriOuterCheck, (const PolderExchange *e, const PolderTriOuter *T, int *bad, PolderStream stream), e, T, bad);
PolderEmulate(PolderTriOuterReach, (const PolderTriOuter *T, PetscInt depends[], PolderStream stream), T, depends);
PolderEmulate(PolderTriOuterRows, (PetscInt m, const PetscInt depends[], const PetscInt64 scan[], PetscInt row[], PolderStream stream), m, depends, scan, row);

int PolderTriOuterAdd_CUDA(const PolderExchange *e, const PolderTriOuter *T, PolderRowList rows, const PolderTriEnd *end, PetscScalar z[], void *work,
                           PolderStream stream)
{
  PolderCGState  *state  = end->state;
  const PetscBool frozen = (PetscBool)(end->kind == POLDER_TRI_DIRECTION && state->frozen);
  PetscScalar     sum;

  if (frozen) rows.n = 0;
  sum = PolderTriOuterAdd_Host(e, T, rows, end->kind, z);
  if (end->kind == POLDER_TRI_RHO) {
    state->sum[1] = (T->m ? state->sum[1] : 0) + sum;
    PolderPeersSum_Host(end->peers, 1, &state->sum[1]);
    PolderCGSetRho(state, end->first, PETSC_TRUE);
  } else if (end->kind == POLDER_TRI_DIRECTION && !frozen) {
    sum += T->m ? state->pmean : 0;
    if (state->nullspace) PolderPeersSum_Host(end->peers, 1, &sum);
    state->pmean = state->nullspace ? sum / state->N : 0;
  }
  return 0;
}
