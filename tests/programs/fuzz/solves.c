/* A solve, and whether what it claims is so */
#include "fuzz.h"
#include <math.h>
#include <petsc/private/kspimpl.h>

static PetscErrorCode Vectors(Fuzz *f)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&f->x));
  PetscCall(VecDestroy(&f->b));
  PetscCall(MatCreateVecs(f->A, &f->x, &f->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the range of the matrix most of the time; false: nobody knows */
static PetscErrorCode RightHandSide(Fuzz *f, PetscBool transpose)
{
  const PetscInt  how  = FuzzInt(f, 20);
  const PetscReal size = FuzzChance(f, 10) ? PetscPowReal(10, FuzzReal(f, -25, 25)) : 1;
  Vec             y;

  PetscFunctionBegin;
  PetscCall(FuzzVecFill(f->x, FuzzNext(f), FuzzInt(f, 3)));
  if (how < 13) {
    PetscCall(VecDuplicate(f->b, &y));
    if (transpose) PetscCall(MatMultTranspose(f->A, f->x, y));
    else PetscCall(MatMult(f->A, f->x, y));
    PetscCall(VecCopy(y, f->b));
    PetscCall(VecDestroy(&y));
  } else if (how < 18) PetscCall(FuzzVecFill(f->b, FuzzNext(f), FuzzInt(f, 3)));
  else PetscCall(VecZeroEntries(f->b));
  PetscCall(VecScale(f->b, size));
  if (FuzzChance(f, 1)) {
    FuzzLog(f, " b infinite");
    if (f->rows.n) PetscCall(VecSetValue(f->b, f->rows.n / 2, (PetscReal)INFINITY, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(f->b));
    PetscCall(VecAssemblyEnd(f->b));
  }
  FuzzLog(f, " b %" PetscInt_FMT, how);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without what lies in the kernel, which no solver can reach: that of the matrix, and the constant, which dcg notices by itself */
static PetscErrorCode Project(Fuzz *f, Vec r)
{
  MatNullSpace space;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(f->A, &space));
  if (space) PetscCall(MatNullSpaceRemove(space, r));
  else if (f->rows.nkernel != 0) {
    PetscScalar mean;
    PetscInt    n;

    PetscCall(VecGetSize(r, &n));
    PetscCall(VecSum(r, &mean));
    if (n) PetscCall(VecShift(r, -mean / (PetscReal)n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm that the solver tests; rounding: of a vector whose entries may have either sign */
static PetscErrorCode Norm(Fuzz *f, Vec r, PetscBool transpose, PetscBool rounding, PetscReal *norm)
{
  KSPNormType type;
  PC          pc;
  Vec         z;

  PetscFunctionBegin;
  PetscCall(KSPGetNormType(f->ksp, &type));
  if (rounding) {
    PetscScalar *a;
    PetscInt     start, end;

    PetscCall(VecGetOwnershipRange(r, &start, &end));
    PetscCall(VecGetArray(r, &a));
    for (PetscInt i = start; i < end; ++i)
      if (FuzzHash(f->seed, (uint64_t)i, 77) % 2) a[i - start] = -a[i - start];
    PetscCall(VecRestoreArray(r, &a));
  }
  if (type == KSP_NORM_UNPRECONDITIONED) PetscCall(VecNorm(r, NORM_2, norm));
  else {
    PetscScalar dot;

    PetscCall(KSPGetPC(f->ksp, &pc));
    PetscCall(VecDuplicate(r, &z));
    if (transpose) PetscCall(PCApplyTranspose(pc, r, z));
    else PetscCall(PCApply(pc, r, z));
    PetscCall(Project(f, z));
    if (type == KSP_NORM_PRECONDITIONED) PetscCall(VecNorm(z, NORM_2, norm));
    else {
      PetscCall(VecDot(r, z, &dot));
      *norm = PetscSqrtReal(PetscAbsScalar(dot));
    }
    PetscCall(VecDestroy(&z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the solver stop by PETSc's test, on a norm that can be told from outside? */
static PetscErrorCode IsPetscsTest(const Fuzz *f, KSPNormType type, PetscBool ours, KSPConvergedReason reason, PetscBool *petsc)
{
  char    stop[16] = "petsc";
  KSPType solver;
  PCType  preconditioner;

  PetscFunctionBegin;
  PetscCall(KSPGetType(f->ksp, &solver));
  PetscCall(PCGetType(f->ksp->pc, &preconditioner));
  *petsc = PETSC_TRUE;
  PetscCall(PetscOptionsGetString(NULL, f->prefix, "-ksp_rrbcg_stop", stop, sizeof(stop), NULL));
  if (!strcmp(solver, KSPBCGS) && f->ksp->pc_side == PC_RIGHT)
    *petsc = PETSC_FALSE;                      /* it adds the guess that PC levelset made for an earlier solve where this one has none */
  if (!ours && f->keeps) *petsc = PETSC_FALSE; /* with a preconditioner of other values PETSc's cg may break down and call that converged */
  if (strcmp(solver, KSPRRBCG) == 0 && strcmp(stop, "petsc")) *petsc = PETSC_FALSE;
  /* so PETSc's cg calls it that (r, M^-1 r) = 0, which may happen where M is not symmetric */
  if (!ours && reason == KSP_CONVERGED_ATOL && f->ksp->rnorm > f->ksp->abstol && !strcmp(preconditioner, PCLEVELSET)) *petsc = PETSC_FALSE;
  if (type != KSP_NORM_UNPRECONDITIONED && !f->rows.mild) *petsc = PETSC_FALSE; /* nobody knows what rounding does within the preconditioner then */
  if ((type != KSP_NORM_UNPRECONDITIONED || !ours) && (f->rows.nkernel || f->changing))
    *petsc = PETSC_FALSE; /* what the preconditioner makes of a part that no solution takes away */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of the residual of the guess, with what rounding may add to it; r and bound are work vectors */
static PetscErrorCode GuessNorm(Fuzz *f, PetscBool transpose, Vec guess, Vec r, Vec bound, PetscReal *norm, PetscReal *rounding)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(f->b, r));
  PetscCall(FuzzResidual(f, f->T, transpose, f->b, guess, r, bound));
  PetscCall(Norm(f, r, transpose, PETSC_FALSE, norm));
  PetscCall(VecNorm(bound, NORM_2, rounding));
  *norm += 30 * *rounding;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of the longest row: so many roundings are in a product with it */
static PetscErrorCode LongestRow(Mat T, PetscInt *longest)
{
  PetscInt start, end, n;

  PetscFunctionBegin;
  *longest = 0;
  PetscCall(MatGetOwnershipRange(T, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscCall(MatGetRow(T, i, &n, NULL, NULL));
    *longest = PetscMax(*longest, n);
    PetscCall(MatRestoreRow(T, i, &n, NULL, NULL));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, longest, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)T)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a reason > 0 promises */
static PetscErrorCode CheckClaim(Fuzz *f, KSPConvergedReason reason, PetscBool transpose, Vec guess)
{
  Vec         r, bound;
  PetscReal   rtol, abstol, norm, floor, bnorm, inrange, allowed;
  PetscInt    its, maxits, longest;
  KSPNormType type;
  PetscBool   ours, petsc, zero, initial = PETSC_FALSE, least = PETSC_FALSE;
  KSPType     solver;
  PetscBool   corrected; /* the preconditioner has changed the user's guess */

  PetscFunctionBegin;
  PetscCall(KSPGetInitialGuessNonzero(f->ksp, &corrected));
  if (corrected) PetscCall(PetscObjectTypeCompare((PetscObject)f->ksp->pc, PCLEVELSET, &corrected));
  PetscCall(KSPGetTolerances(f->ksp, &rtol, &abstol, NULL, &maxits));
  PetscCall(KSPGetIterationNumber(f->ksp, &its));
  PetscCall(KSPGetNormType(f->ksp, &type));
  PetscCall(KSPGetType(f->ksp, &solver));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)f->ksp, &ours, KSPDCG, KSPRRBCG, KSPIDRS, ""));
  PetscCall(IsPetscsTest(f, type, ours, reason, &petsc));
  if (f->ksp->converged == KSPConvergedDefault) {
    initial = ((KSPConvergedDefaultCtx *)f->ksp->cnvP)->initialrtol;
    least   = ((KSPConvergedDefaultCtx *)f->ksp->cnvP)->mininitialrtol;
  }
  PetscCall(VecDuplicate(f->b, &r));
  PetscCall(VecDuplicate(f->b, &bound));
  PetscCall(FuzzResidual(f, f->T, transpose, f->b, f->x, r, bound));
  PetscCall(Project(f, r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  if (PetscIsInfOrNanReal(norm)) {
    if (reason != KSP_CONVERGED_ITS) FuzzWrong(f, "%s claimed and the residual is not a number", KSPConvergedReasons[reason]);
  } else if (reason == KSP_CONVERGED_ITS) {
    if (type != KSP_NORM_NONE && ours) FuzzWrong(f, "KSP_CONVERGED_ITS with a norm to test");
  } else if (reason == KSP_CONVERGED_HAPPY_BREAKDOWN && ours) {
    PetscCall(VecNorm(bound, NORM_2, &floor));
    PetscCall(LongestRow(f->T, &longest));
    if (norm > (PetscReal)PetscMax(60, longest) * floor)
      FuzzWrong(f, "%s claimed by %s after %" PetscInt_FMT " steps at the residual %.6g with %.6g of rounding", KSPConvergedReasons[reason], solver, its,
                (double)norm, (double)floor);
  } else if (petsc && type != KSP_NORM_NONE && (ours || (rtol > 1e-14 && f->rows.mild && f->rows.definite && type == KSP_NORM_UNPRECONDITIONED))) {
    PetscCall(Norm(f, r, transpose, PETSC_FALSE, &norm));
    PetscCall(Norm(f, bound, transpose, PETSC_TRUE, &floor));
    PetscCall(VecCopy(f->b, r));
    PetscCall(Norm(f, r, transpose, PETSC_FALSE, &bnorm));
    PetscCall(Project(f, r)); /* as KSPSolve() does when the kernel is that of the transpose too */
    PetscCall(Norm(f, r, transpose, PETSC_FALSE, &inrange));
    zero = (PetscBool)(inrange <= 1e-12 * bnorm);
    if (zero || !ours || initial || least) { /* relative to the guess */
      PetscReal gnorm, rounding;

      PetscCall(GuessNorm(f, transpose, guess, r, bound, &gnorm, &rounding));
      if (!ours) floor = PetscMax(floor, rounding);
      bnorm = ours && least && !zero ? PetscMin(bnorm, gnorm) : PetscMax(bnorm, gnorm);
      if (initial && corrected) bnorm = PetscMax(bnorm, f->ksp->rnorm0);
    }
    allowed = 1.01 * PetscMax(rtol * bnorm, abstol) + (type == KSP_NORM_UNPRECONDITIONED ? 30 : 300) * floor;
    if (!ours) allowed = 10 * allowed + 1e5 * floor;
    if (zero && f->keeps) allowed = PETSC_INFINITY; /* PCLEVELSET may have made the guess worse than it was */
    if (norm > allowed)
      FuzzWrong(f, "%s claimed by %s after %" PetscInt_FMT " steps at the residual %.6g: rtol %g of %.6g, abstol %g and %.6g of rounding, norm %s",
                KSPConvergedReasons[reason], solver, its, (double)norm, (double)rtol, (double)bnorm, (double)abstol, (double)floor, KSPNormTypes[type]);
  }
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A system that every solver of ours with any of our preconditioners must solve */
static PetscErrorCode MustSolve(Fuzz *f, KSPConvergedReason reason, PetscBool *must)
{
  PetscReal   rtol;
  PetscInt    maxits;
  PetscBool   cg, pc;
  PC          p;
  KSPNormType type;

  PetscFunctionBegin;
  PetscCall(KSPGetTolerances(f->ksp, &rtol, NULL, NULL, &maxits));
  PetscCall(KSPGetNormType(f->ksp, &type));
  PetscCall(KSPGetPC(f->ksp, &p));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)f->ksp, &cg, KSPDCG, KSPRRBCG, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)p, &pc, PCTNS, PCRRB, PCJACOBI, ""));
  *must = (PetscBool)(!f->keeps && cg && pc && reason < 0 && f->rows.mild && f->rows.definite && f->rows.symmetric && f->rows.nkernel == 0 && maxits >= 500 &&
                      f->rows.n <= 500 && type != KSP_NORM_NONE && rtol > 1e-11 && reason != KSP_DIVERGED_NANORINF && reason != KSP_DIVERGED_DTOL &&
                      reason != KSP_DIVERGED_PC_FAILED);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzSolve(Fuzz *f)
{
  const PetscBool    transpose = FuzzChance(f, 8);
  PetscBool          nonzero   = FuzzChance(f, 25), dcg, rrbcg, preonly, bcgs;
  KSPConvergedReason reason, least, most;
  PetscInt           its;
  PetscBool          must = PETSC_FALSE;
  Vec                guess;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)f->ksp, KSPDCG, &dcg));
  PetscCall(PetscObjectTypeCompare((PetscObject)f->ksp, KSPRRBCG, &rrbcg));
  PetscCall(PetscObjectTypeCompare((PetscObject)f->ksp, KSPPREONLY, &preonly));
  PetscCall(PetscObjectTypeCompare((PetscObject)f->ksp, KSPBCGS, &bcgs)); /* keeps the guess for solves without one */
  if (preonly || bcgs) nonzero = PETSC_FALSE;
  FuzzLog(f, "\n solve%s%s", transpose ? " transposed" : "", nonzero ? " from a guess" : "");
  PetscCall(Vectors(f));
  PetscCall(RightHandSide(f, transpose));
  if (nonzero && FuzzChance(f, 70)) PetscCall(FuzzVecFill(f->x, FuzzNext(f), FuzzInt(f, 2)));
  else if (!nonzero && (dcg || rrbcg)) PetscCall(FuzzVecFill(f->x, 5, 0)); /* bcgs takes it for the solution of a zero right-hand side */
  else if (!nonzero) PetscCall(VecZeroEntries(f->x));
  PetscCall(KSPSetInitialGuessNonzero(f->ksp, nonzero));
  PetscCall(VecDuplicate(f->x, &f->xt));
  guess = f->xt;
  if (nonzero) PetscCall(VecCopy(f->x, guess));
  else PetscCall(VecZeroEntries(guess));
  PetscCall(transpose ? KSPSolveTranspose(f->ksp, f->b, f->x) : KSPSolve(f->ksp, f->b, f->x));
  PetscCall(KSPGetConvergedReason(f->ksp, &reason));
  PetscCall(KSPGetIterationNumber(f->ksp, &its));
  FuzzLog(f, ": %s after %" PetscInt_FMT, KSPConvergedReasons[reason], its);
  PetscCallMPI(MPI_Allreduce(&reason, &least, 1, MPI_INT, MPI_MIN, f->comm));
  PetscCallMPI(MPI_Allreduce(&reason, &most, 1, MPI_INT, MPI_MAX, f->comm));
  if (least != most) FuzzWrong(f, "%s on one process and %s on another", KSPConvergedReasons[least], KSPConvergedReasons[most]);
  else if (!reason) FuzzWrong(f, "a solve without a reason");
  else if (reason > 0) {
    ++f->converged;
    PetscCall(CheckClaim(f, reason, transpose, guess));
  } else {
    ++f->diverged;
    PetscCall(MustSolve(f, reason, &must));
    f->unsolved += must;
    if (must) FuzzLog(f, " UNSOLVED");
  }
  PetscCall(VecDestroy(&f->xt));
  PetscFunctionReturn(PETSC_SUCCESS);
}
