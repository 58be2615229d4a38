/* The graph of a halo by its neighbours. */
#include "halosteps.h"

PetscErrorCode PolderHaloNeighbours(const PolderHaloGraph *graph, PetscMPIInt *n, PetscMPIInt *rank[])
{
  const PolderHaloSide *side[] = {&graph->sent, &graph->received};
  PetscInt             *list, count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(side[0]->n + side[1]->n, &list));
  for (int s = 0; s < 2; ++s) {
    for (PolderRankCount r = 0; r < side[s]->n; ++r) list[count++] = side[s]->rank[r];
  }
  PetscCall(PetscSortRemoveDupsInt(&count, list));
  PetscCall(PetscMalloc1(count, rank));
  for (PetscInt k = 0; k < count; ++k) (*rank)[k] = (PetscMPIInt)list[k];
  *n = (PetscMPIInt)count;
  PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloByNeighbour(const PolderHaloSide *side, PetscMPIInt n, const PetscMPIInt rank[], PetscInt ptr[], PetscInt *idx[], PetscInt *most)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(side->n ? side->ptr[side->n] : 0, idx));
  *most  = 0;
  ptr[0] = 0;
  for (PetscMPIInt k = 0; k < n; ++k) {
    ptr[k + 1] = ptr[k];
    for (PolderRankCount r = 0; r < side->n; ++r) {
      if (side->rank[r] != rank[k]) continue;
      PetscCall(PetscArraycpy(*idx + ptr[k + 1], side->idx + side->ptr[r], side->ptr[r + 1] - side->ptr[r]));
      ptr[k + 1] += side->ptr[r + 1] - side->ptr[r];
    }
    *most = PetscMax(*most, ptr[k + 1] - ptr[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
