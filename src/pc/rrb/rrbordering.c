/* The order in which PC rrb eliminates the nodes. */
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

/* Position of node (x, y) in the elimination: first the black nodes, row by row, then r1; likewise for each coarser grid; at last the rest, row by row */
static PetscInt PCRRBPlaceOf_Private(const PC_RRB *rrb, PetscInt x, PetscInt y)
{
  PetscInt nx = rrb->nx, ny = rrb->ny, before = 0;

  for (PetscInt l = 0; l < rrb->levels; ++l) {
    if (l % 2 == 0) {
      if ((x + y) % 2) return before + y / 2 * nx + y % 2 * (nx / 2) + x / 2;
      before += ny / 2 * nx + ny % 2 * (nx / 2);
    } else {
      if (x % 2 == 0) return before + y / 2 * ((nx + 1) / 2) + x / 2;
      before += (nx + 1) / 2 * ((ny + 1) / 2);
      x /= 2;
      y /= 2;
      nx /= 2;
      ny /= 2;
    }
  }
  return before + (rrb->levels % 2 ? y / 2 * nx + y % 2 * ((nx + 1) / 2) + x / 2 : y * nx + x);
}

PetscErrorCode PCRRBGetOrdering_RRB(PC pc, IS *places)
{
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  PetscInt      start, end, *place;

  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  PetscCall(MatGetOwnershipRange(pc->pmat, &start, &end));
  PetscCall(PetscMalloc1(end - start, &place));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt node = PCRRBNodeOfRow(rrb, i);

    place[i - start] = PCRRBPlaceOf_Private(rrb, node % rrb->nx, node / rrb->nx);
  }
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)pc), end - start, place, PETSC_OWN_POINTER, places));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetOrdering - gets the order in which `PCRRB` eliminates the rows of its matrix

   Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  places - for each local row its position among all rows, from zero; the caller destroys it

   Level: advanced

   Note: The black nodes come first; the second diagonal block has the rows of the first Schur complement. `ISInvertPermutation()` gives
   the argument of `MatPermute()`.

.seealso: `PCRRB`, `PCRRBSetLevels()`
@*/
PetscErrorCode PCRRBGetOrdering(PC pc, IS *places)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(places, 2);
  PetscUseMethod(pc, "PCRRBGetOrdering_C", (PC, IS *), (pc, places));
  PetscFunctionReturn(PETSC_SUCCESS);
}
