/* Pairwise-aggregation multigrid: a PC that has the levels in place of the one that the program made, since its rows are elsewhere. */
#include "pamgimpl.h"
#include "core/refusal.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* A PC with the options of this one, which tells the user what there is to tell */
static PetscErrorCode PamgCreateInner(PC pc, MPI_Comm comm, PetscBool scaled, PC *inner)
{
  PC_PAMG    *own;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCCreate(comm, inner));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)*inner, (PetscObject)pc, 0));
  PetscCall(PCSetType(*inner, PCPAMG));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(*inner, prefix));
  PetscCall(PolderRefuseQuietly((PetscObject)*inner));
  own = (PC_PAMG *)(*inner)->data;
  PetscCall(PetscMemcpy(own, pc->data, offsetof(PC_PAMG, given)));
  own->wantrepartition = 0;
  own->scales          = (PetscBool)(own->scales && !scaled);
  own->linear          = (PetscBool)(own->linear || scaled); // most solvers for matrices that are not symmetric take it so
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(own->warned); ++k) own->warned[k] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpInner(PC pc, Mat A, const PamgGiven *given, PetscBool scaled, PC *inner, PetscBool *failed)
{
  PC_PAMG       *pamg = (PC_PAMG *)pc->data, *own;
  PCFailedReason reason;
  PetscMPIInt    any;
  PetscOptions   options;

  PetscFunctionBegin;
  if (!*inner) PetscCall(PamgCreateInner(pc, PetscObjectComm((PetscObject)A), scaled, inner));
  own        = (PC_PAMG *)(*inner)->data;
  own->reuse = pamg->reuse;
  own->given = given;
  PetscCall(PetscObjectGetOptions((PetscObject)pc, &options));
  PetscCall(PetscObjectSetOptions((PetscObject)*inner, options));
  PetscCall(PCSetReusePreconditioner(*inner, PETSC_FALSE));
  PetscCall(PCSetOperators(*inner, A, A));
  PetscCall(PCSetUp(*inner));
  PetscCall(PCSetReusePreconditioner(*inner, PETSC_TRUE)); // this PC decides when there is another set-up
  PetscCall(PCGetFailedReason(*inner, &reason));
  any = reason != PC_NOERROR;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc))); // the last level may fail on one process only
  pamg->symmetric = own->symmetric;
  *failed         = (PetscBool)(any != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSamePattern(PC pc, PetscBool *same)
{
  const PamgKeys  *keys = &((PC_PAMG *)pc->data)->keys;
  PetscObjectId    mat;
  PetscObjectState pattern;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &mat));
  PetscCall(MatGetNonzeroState(pc->pmat, &pattern));
  *same = (PetscBool)(mat == keys->mat && pattern == keys->nonzerostate);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGInnerKeys(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;
  MatType  type;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &pamg->keys.mat));
  PetscCall(MatGetNonzeroState(pc->pmat, &pamg->keys.nonzerostate));
  PetscCall(MatGetType(pc->pmat, &type));
  PetscCall(PetscStrncpy(pamg->keys.type, type, sizeof(pamg->keys.type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFreeInner(PamgInner *inner)
{
  PetscFunctionBegin;
  PetscCall(PCDestroy(&inner->pc));
  PetscCall(VecDestroy(&inner->r));
  PetscCall(VecDestroy(&inner->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PC PamgWithLevels(PC pc)
{
  PC inner;

  while ((inner = PamgGetInner((const PC_PAMG *)pc->data))) pc = inner;
  return pc;
}
