/* A preconditioner that is one M = (D + L) D^-1 (D + U). */
#include "sweepspc.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PolderSweepsPCValues(PC pc, const PolderCSR *csr)
{
  PolderSweepsPC *sweeps = (PolderSweepsPC *)pc->data;
  PetscInt        bad;

  PetscFunctionBegin;
  PetscCall(PolderSweepsValues(&sweeps->sweeps, sweeps->rows.place, csr, &bad));
  PetscCall(PolderRowsCheckPivot(pc, bad, sweeps->advice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsPCApply(PC pc, Vec r, Vec z)
{
  PolderSweepsPC *sweeps = (PolderSweepsPC *)pc->data;

  PetscFunctionBegin;
  PetscCall(PolderSweepsApply(&sweeps->sweeps, sweeps->rows.place, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsPCFree(PC pc)
{
  PolderSweepsPC *sweeps = (PolderSweepsPC *)pc->data;

  PetscFunctionBegin;
  PetscCall(PolderSweepsDestroy(&sweeps->sweeps, sweeps->rows.place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsPCView(PC pc, PetscViewer viewer)
{
  const PolderSweepsPC *sweeps = (const PolderSweepsPC *)pc->data;

  PetscFunctionBegin;
  PetscCall(PolderSweepsView(&sweeps->sweeps, sweeps->levels, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
