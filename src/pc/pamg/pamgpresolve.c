/* Pairwise-aggregation multigrid: what it asks of a solver before a solve, and warnings. */
#include "pamgsetup.h"
#include "core/methods.h"
#include <petsc/private/pcimpl.h>

/* Right-hand sides whose norm lies between this and its inverse keep one as the unit of their residuals */
#define PAMG_UNIT 1e12

PetscErrorCode PCPAMGWarn(PC pc, int which, const char text[])
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  if (pamg->warned[which]) PetscFunctionReturn(PETSC_SUCCESS);
  pamg->warned[which] = PETSC_TRUE;
  PetscCall(PetscFPrintf(PetscObjectComm((PetscObject)pc), PETSC_STDERR, "WARNING: %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Residuals far from one could leave the range of single precision before they meet the tolerance: then they are taken in units near the right-hand side */
static PetscErrorCode PamgChooseUnit(PC pc, Vec b)
{
  PC_PAMG  *pamg = (PC_PAMG *)PamgWithLevels(pc)->data;
  PetscReal norm;
  int       exponent;

  PetscFunctionBegin;
  pamg->unit = 1;
  if (pamg->precision == PAMG_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderVecNormKept(b, &norm)); // which most solvers ask for, and the vector keeps
  if (!(norm > 0) || PetscIsInfOrNanReal(norm) || (norm >= 1 / PAMG_UNIT && norm <= PAMG_UNIT)) PetscFunctionReturn(PETSC_SUCCESS);
  (void)frexp(norm, &exponent);
  pamg->unit = ldexp(1, PetscClipInterval(exponent, -1000, 1000)); // its inverse is a number as well
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  In these solvers the same M^-1 r enters the solution and, multiplied by the matrix, the residual, so rounding in it is harmless. Others take M^-1 as linear: a
  rounding error of it enters the solution alone. Single precision then limits the true residual to some 1e-7 times the condition number of the matrix
*/
static PetscErrorCode PamgCheckSolver(PC pc, KSP ksp)
{
  const PC  own  = PamgWithLevels(pc);
  PC_PAMG  *pamg = (PC_PAMG *)own->data;
  PetscBool rounds;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &rounds, KSPCG, KSPDCG, KSPFCG, KSPPIPEFCG, KSPIDRS, KSPFGMRES, KSPPIPEFGMRES, KSPGCR, KSPFBCGS,
                                      KSPFBCGSR, KSPQMRCGS, KSPRICHARDSON, KSPCHEBYSHEV, KSPPREONLY, ""));
  pamg->linear = ((PC_PAMG *)pc->data)->linear = rounds ? PETSC_FALSE : PETSC_TRUE;
  if (rounds || pamg->wantprecision >= 0 || pamg->precision == PAMG_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "Half precision does not do for this solver: the set-up starts again in double precision\n"));
  PetscCall(PCPAMGFree(pamg));
  PetscCall((*own->ops->setup)(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Warns about Krylov methods for symmetric matrices where this one is not */
static PetscErrorCode PamgWarnSymmetry(PC pc, KSP ksp)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PetscBool symmetric;

  PetscFunctionBegin;
  if (pamg->symmetric || pamg->warned[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &symmetric, KSPCG, KSPDCG, KSPFCG, KSPPIPECG, KSPGROPPCG, KSPPIPEFCG, KSPCR, KSPMINRES, KSPSYMMLQ, ""));
  if (symmetric) PetscCall(PCPAMGWarn(pc, 1, "this KSP is for symmetric matrices, and PC pamg finds that this one is not: use -ksp_type gmres, bcgs or idrs"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Warns about Krylov methods whose directions assume the same preconditioner in every step */
PetscErrorCode PCPAMGPreSolve(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PetscBool fixed, flexible = PETSC_FALSE;

  PetscFunctionBegin;
  (void)x;
  PetscCall(PamgCheckSolver(pc, ksp));
  PetscCall(PamgChooseUnit(pc, b));
  PetscCall(PamgWarnSymmetry(pc, ksp));
  if (pamg->cycle != PC_PAMG_CYCLE_K || pamg->warned[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &fixed, KSPCG, KSPPIPECG, KSPGROPPCG, KSPCR, KSPMINRES, KSPSYMMLQ, KSPGMRES, KSPBCGS, KSPCGS, KSPTFQMR,
                                      KSPDCG, KSPIDRS, ""));
  PetscTryMethod(ksp, POLDER_KSP_IS_FLEXIBLE, (KSP, PetscBool *), (ksp, &flexible));
  if (fixed && !flexible)
    PetscCall(PCPAMGWarn(pc, 0,
                         "the K-cycle of PC pamg changes from step to step and this KSP assumes that it does not: use -ksp_type fcg (or dcg with "
                         "-ksp_dcg_flexible), or -pc_pamg_cycle v"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
