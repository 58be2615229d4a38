/* The set-up of preconditioners made from the rows of a matrix. */
#include "rows.h"
#include "core/refusal.h"
#include "kernels/rowcheck.h"
#include "mat/symmetry.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode PolderRowsFree_Private(PC pc)
{
  PolderRowsPC *rows = (PolderRowsPC *)pc->data;

  PetscFunctionBegin;
  PetscCall((*rows->steps->free)(pc));
  rows->blocks[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsForget(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PolderRowsFree_Private(pc));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsSetInt(PC pc, PetscInt *setting, PetscInt value)
{
  PetscFunctionBegin;
  if (value != *setting) PetscCall(PolderRowsForget(pc));
  *setting = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses the matrix on every process for the first row that has no positive diagonal or an entry that is not finite. Collective */
static PetscErrorCode PolderRowsCheck_Private(PC pc, const PolderCSR *csr)
{
  PolderRowsPC      *rows  = (PolderRowsPC *)pc->data;
  const PolderPlace *place = rows->place;
  const PolderRows   A = PolderOwnRows(csr), B = PolderGhostColumns(csr);
  PetscInt64         bad = POLDER_ROWS_GOOD, *there;
  PetscInt           first, kind;

  PetscFunctionBegin;
  PetscCall(PolderPlaceUpload(place, sizeof(bad), &bad, &there));
  PolderRun(place, PolderRowsCheck, &A, &B, there);
  PetscCall(PolderPlaceFetch(place, sizeof(bad), &there, &bad));
  kind  = (PetscInt)PolderKindOfBad(bad);
  first = kind == POLDER_ROW_GOOD ? rows->M : rows->rstart + PolderRowOfBad(bad);
  PetscCall(PolderFirstRow(PetscObjectComm((PetscObject)pc), rows->M, &first, &kind));
  if (first < rows->M) PetscCall(PolderPCRefuseRow(pc, rows->steps->type, first, (PolderRowKind)kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsCheckPivot(PC pc, PetscInt bad, const char advice[])
{
  PolderRowsPC *rows  = (PolderRowsPC *)pc->data;
  PetscInt      first = bad == PETSC_MAX_INT ? rows->M : rows->rstart + bad;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc));
  if (first < rows->M)
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT, "PC of type %s finds no positive pivot in row %" PetscInt_FMT ": %s",
                   rows->steps->type, first, advice);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderRowsCheckSymmetric_Private(PC pc)
{
  PolderRowsPC *rows = (PolderRowsPC *)pc->data;
  PetscBool     known, symmetric = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  if (!known || !symmetric) PetscCall(PolderMatProductsSymmetric(pc->pmat, &symmetric));
  if (!symmetric)
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_SUP, "PC of type %s is for symmetric matrices, and this one is not: use ilu or asm", rows->steps->type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls pattern() with the rows on the host when those at the place have a new pattern. Collective */
static PetscErrorCode PolderRowsSetUpPattern_Private(PC pc, const PolderCSR *csr)
{
  PolderRowsPC    *rows = (PolderRowsPC *)pc->data;
  PolderCSR        host;
  PetscObjectId    blocks[2] = {0, 0};
  PetscObjectState state;
  PetscMPIInt      same;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)csr->diag, &blocks[0]));
  if (csr->offdiag) PetscCall(PetscObjectGetId((PetscObject)csr->offdiag, &blocks[1]));
  PetscCall(MatGetNonzeroState(pc->pmat, &state));
  same = blocks[0] == rows->blocks[0] && blocks[1] == rows->blocks[1] && state == rows->nonzerostate;
  PetscCallAllreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderRowsFree_Private(pc));
  PetscCall(PolderMatGetPattern(pc->pmat, &host));
  PetscCall((*rows->steps->pattern)(pc, &host, csr));
  PetscCall(PolderMatRestoreCSR(pc->pmat, &host));
  if (pc->failedreason) {
    PetscCall(PolderRowsFree_Private(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArraycpy(rows->blocks, blocks, 2));
  rows->nonzerostate = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_PolderRows(PC pc)
{
  PolderRowsPC      *rows = (PolderRowsPC *)pc->data;
  const PolderPlace *place;
  PolderCSR          csr;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(PolderMatCheckRows(pc->pmat, rows->steps->type));
  PetscCall(PolderPCForgive(pc));
  PetscCall(PolderLogBegin(POLDER_RowsSetUp, pc));
  PetscCall(PolderMatGetCSRAlike(pc->pmat, PETSC_TRUE, &csr));
  place        = PolderPlaceOf(csr.device);
  rows->rstart = csr.rstart;
  rows->M      = csr.M;
  if (rows->place != place) PetscCall(PolderRowsFree_Private(pc));
  rows->place = place;
  PetscCall(PolderRowsCheck_Private(pc, &csr));
  PetscCall(PolderMatRestoreCSRAt(pc->pmat, &csr));
  if (!pc->failedreason) PetscCall(PolderRowsCheckSymmetric_Private(pc));
  if (!pc->failedreason) {
    PetscCall(PolderMatGetCSRAt(pc->pmat, place, &csr, &done));
    PetscCall(PolderRowsSetUpPattern_Private(pc, &csr));
    if (!pc->failedreason) PetscCall((*rows->steps->values)(pc, &csr));
    PetscCall(PolderMatRestoreCSRAt(pc->pmat, &csr));
  }
  PetscCall(PolderLogEnd(POLDER_RowsSetUp, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_PolderRows(PC pc, Vec r, Vec z)
{
  PolderRowsPC *rows = (PolderRowsPC *)pc->data;
  PetscBool     failed;

  PetscFunctionBegin;
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_RowsApply, pc));
  PetscCall((*rows->steps->apply)(pc, r, z));
  PetscCall(PolderLogEnd(POLDER_RowsApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_PolderRows(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PolderRowsFree_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderRowsCompose_Private(PC pc, PetscBool there)
{
  const PolderRowsSteps *steps = ((PolderRowsPC *)pc->data)->steps;
  size_t                 n     = 0;

  PetscFunctionBegin;
  while (n < PETSC_STATIC_ARRAY_LENGTH(steps->setters) && steps->setters[n].name) ++n;
  PetscCall(PolderComposeSetters((PetscObject)pc, n, steps->setters, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_PolderRows(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PolderRowsFree_Private(pc));
  PetscCall(PolderRowsCompose_Private(pc, PETSC_FALSE));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_PolderRows(PC pc, PetscViewer viewer)
{
  PolderRowsPC *rows = (PolderRowsPC *)pc->data;
  PetscBool     ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (rows->blocks[0]) {
    PetscCall((*rows->steps->view)(pc, viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  on the %s\n", rows->place->name));
  } else PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up\n"));
  PetscCall(PolderRefusalView((PetscObject)pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowsCreate(PC pc, PolderRowsPC *rows, const PolderRowsSteps *steps)
{
  PetscFunctionBegin;
  rows->steps             = steps;
  rows->place             = &PolderOnHost;
  pc->data                = (void *)rows;
  pc->ops->setup          = PCSetUp_PolderRows;
  pc->ops->setuponblocks  = PolderPCSetUpOnBlocks;
  pc->ops->apply          = PCApply_PolderRows;
  pc->ops->applytranspose = PCApply_PolderRows; // these preconditioners are symmetric
  pc->ops->reset          = PCReset_PolderRows;
  pc->ops->destroy        = PCDestroy_PolderRows;
  pc->ops->view           = PCView_PolderRows;
  PetscCall(PolderRowsCompose_Private(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
