/* Sweeps over triangles with ghost columns: the rows that others need, and those that need others. */
#include "triouterrow.h"

/* The number of rows whose values neighbour k needs in this triangle; *row: the rows */
static PetscInt PolderTriOuterSent_Private(const PolderExchange *e, const PolderTriOuter *T, int k, const PetscInt **row)
{
  *row = e->sendidx + e->sendptr[k];
  return PolderTriServes(T, e->rank[k]) ? e->sendptr[k + 1] - e->sendptr[k] : 0;
}

void PolderTriOuterSend_Host(const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[])
{
  for (int k = 0; k < e->n; ++k) {
    const PetscInt *row, n = PolderTriOuterSent_Private(e, T, k, &row);

    for (PetscInt i = 0; i < n; ++i) {
      PolderExchangePut_Host(e, k, 2 * i, PolderTriBegin(T, in, row[i]));
      PolderExchangePut_Host(e, k, 2 * i + 1, PolderTriFirst(T, in, row[i]));
    }
  }
  PolderExchangeCount_Host(e);
}

void PolderTriOuterResend_Host(const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[])
{
  const PolderTriGhosts ghost = {e, PolderExchangeDue_Host(e)};

  for (int k = 0; k < e->n; ++k) {
    const PetscInt *row, n = PolderTriOuterSent_Private(e, T, k, &row);

    for (PetscInt i = 0; i < n; ++i) {
      PolderExchangePut_Host(e, k, 2 * i, PolderTriBegin(T, in, row[i]));
      PolderExchangePut_Host(e, k, 2 * i + 1, PolderTriFirstWhole(T, in, &ghost, row[i]));
    }
  }
  PolderExchangeCount_Host(e); // from here on neighbours may write again to what has been read
}

PetscScalar PolderTriOuterAdd_Host(const PolderExchange *e, const PolderTriOuter *T, PolderRowList rows, PolderTriKind kind, PetscScalar z[])
{
  const PolderTriGhosts ghost = {e, PolderExchangeDue_Host(e)};
  PetscScalar           sum   = 0;

  for (PetscInt k = 0; k < rows.n; ++k) sum += PolderTriOuterAddRow(T, &ghost, kind, rows.row[k], z);
  return sum;
}

void PolderTriOuterCheck_Host(const PolderExchange *e, const PolderTriOuter *T, int *sent)
{
  for (int k = 0; k < e->n; ++k) {
    const PetscInt *row, n = PolderTriOuterSent_Private(e, T, k, &row);

    for (PetscInt i = 0; i < n; ++i) {
      if (PolderTriTouches(T, row[i])) *sent = 1;
    }
  }
}

void PolderTriOuterReach_Host(const PolderTriOuter *T, PetscInt depends[])
{
  for (PetscInt i = 0; i < T->m; ++i) depends[i] = PolderTriDepends(T, i);
}

void PolderTriOuterRows_Host(PetscInt m, const PetscInt depends[], const PetscInt64 scan[], PetscInt row[])
{
  for (PetscInt i = 0; i < m; ++i) {
    if (depends[i]) row[(scan[i] >> 32) - 1] = i;
  }
}
