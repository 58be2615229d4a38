static char help[] = "Deflation as a preconditioner: identities of its three forms, and solves with PETSc's Krylov methods.\n\n";

#include "bubbles.h"
#include "vecs.h"

/* |u - v| over |v| */
static PetscErrorCode Difference(Vec u, Vec v, PetscReal *diff)
{
  Vec       w;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &w));
  PetscCall(VecWAXPY(w, -1.0, u, v));
  PetscCall(VecNorm(w, NORM_2, diff));
  PetscCall(VecNorm(v, NORM_2, &norm));
  *diff /= norm;
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The form by its definition, from P, P^T, Q and M^-1 applied one by one */
static PetscErrorCode ApplyFormula(PC pc, PCLevelSetForm form, Vec r, Vec z)
{
  PolderDeflationSpace space;
  PC                   inner;
  Vec                  v;

  PetscFunctionBeginUser;
  PetscCall(PCLevelSetGetPC(pc, &inner));
  PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  PetscCall(VecDuplicate(r, &v));
  PetscCall(VecCopy(r, v));
  if (form != PC_LEVELSET_ADEF2) PetscCall(PolderDeflationSpaceApplyP(space, v));
  PetscCall(PCApply(inner, v, z));
  if (form != PC_LEVELSET_ADEF1) PetscCall(PolderDeflationSpaceApplyPT(space, z));
  PetscCall(PolderDeflationSpaceApplyQAdd(space, r, z));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  B is the preconditioner, z a column of Z, r anything:
  adef2 and balancing: (A z, B r) = (z, r)   (A z is a left eigenvector of B A with the eigenvalue one)
  adef1 and balancing: B A z = z
  balancing:           (s, B r) = (B s, r)
  all:                 (s, B r) = (B^T s, r)
*/
static PetscErrorCode CheckForm(PC pc, PCLevelSetForm form)
{
  PolderDeflationSpace space;
  Mat                  A;
  Vec                  r, s, z, Az, Br, Bs;
  PetscInt             d;
  PetscScalar          a, b;
  PetscReal            diff, left = 0, right = 0, scale;

  PetscFunctionBeginUser;
  PetscCall(PCLevelSetSetForm(pc, form));
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  PetscCall(PolderDeflationSpaceGetSize(space, &d));
  PetscCall(CreateVecs(A, &r, &s));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &Az));
  PetscCall(VecDuplicate(r, &Br));
  PetscCall(VecDuplicate(r, &Bs));
  PetscCall(FillRandom(r, 3));
  PetscCall(FillRandom(s, 4));
  PetscCall(PCApply(pc, r, Br));
  PetscCall(ApplyFormula(pc, form, r, Bs));
  PetscCall(Difference(Br, Bs, &diff));
  PetscCheck(diff < 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s differs from its formula by %g", PCLevelSetForms[form], (double)diff);
  for (PetscInt k = 0; k < d; ++k) {
    PetscCall(PolderDeflationSpaceGetVector(space, k, z));
    PetscCall(MatMult(A, z, Az));
    PetscCall(VecDot(Br, Az, &a));
    PetscCall(VecDot(r, z, &b));
    PetscCall(VecNorm(z, NORM_2, &scale));
    left = PetscMax(left, PetscAbsScalar(a - b) / scale);
    PetscCall(PCApply(pc, Az, Bs));
    PetscCall(Difference(Bs, z, &diff));
    right = PetscMax(right, diff);
  }
  if (form != PC_LEVELSET_ADEF1)
    PetscCheck(left < 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: (A z, B r) differs from (z, r) by %g", PCLevelSetForms[form], (double)left);
  if (form != PC_LEVELSET_ADEF2)
    PetscCheck(right < 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: B A z differs from z by %g", PCLevelSetForms[form], (double)right);
  PetscCall(PCApplyTranspose(pc, s, Bs));
  PetscCall(VecDot(Br, s, &a));
  PetscCall(VecDot(Bs, r, &b));
  PetscCheck(PetscAbsScalar(a - b) <= 1e-11 * PetscAbsScalar(b), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: (s, B r) is %g and (B^T s, r) is %g",
             PCLevelSetForms[form], (double)PetscRealPart(a), (double)PetscRealPart(b));
  PetscCall(PCApply(pc, s, Bs));
  PetscCall(VecDot(Bs, r, &b));
  diff = PetscAbsScalar(a - b) / PetscAbsScalar(b);
  PetscCheck(form != PC_LEVELSET_BALANCING || diff < 1e-11, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s is not symmetric: %g", PCLevelSetForms[form], (double)diff);
  PetscCheck(form == PC_LEVELSET_BALANCING || diff > 1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s is symmetric, which it should not be", PCLevelSetForms[form]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: ok\n", PCLevelSetForms[form]));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&Az));
  PetscCall(VecDestroy(&Br));
  PetscCall(VecDestroy(&Bs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Identities, before and after a change of the values, with and without reuse, and after a reset */
static PetscErrorCode CheckIdentities(Bubbles bubbles, Mat A)
{
  PC        pc;
  Vec       r, kept, z;
  PetscReal diff;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCLEVELSET));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  for (int form = 0; form < 3; ++form) PetscCall(CheckForm(pc, (PCLevelSetForm)form));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(VecDuplicate(r, &kept));
  PetscCall(FillRandom(r, 5));
  PetscCall(PCApply(pc, r, kept));
  bubbles.inside = 30;
  bubbles.scale  = 2;
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, r, z));
  PetscCall(Difference(z, kept, &diff));
  PetscCheck(diff > 1e-3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The preconditioner has not followed the matrix: %g", (double)diff);
  for (int form = 0; form < 3; ++form) PetscCall(CheckForm(pc, (PCLevelSetForm)form));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  for (int form = 0; form < 3; ++form) PetscCall(CheckForm(pc, (PCLevelSetForm)form));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&kept));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relative to b in every method; returns the iterations and checks the true residual. A is symmetric, so its transpose needs as many */
static PetscErrorCode Solve(Mat A, const char ksptype[], PCSide side, const char pctype[], PCLevelSetForm form, PetscInt *its)
{
  const PetscReal    rtol = 1e-8;
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  PetscInt           again;
  PetscReal          residual;
  PetscBool          levelset, nonzero;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MakeRhs(A, 1, &b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, ksptype));
  PetscCall(KSPSetPCSide(ksp, side));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, rtol, PETSC_CURRENT, PETSC_CURRENT, 1000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLEVELSET, &levelset));
  if (levelset) PetscCall(PCLevelSetSetForm(pc, form));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCheck(reason > 0 && residual < 1.1 * rtol, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "%s with %s %s: reason %d, true residual %g after %" PetscInt_FMT " iterations", ksptype, pctype, PCLevelSetForms[form], (int)reason,
             (double)residual, *its);
  PetscCall(KSPGetInitialGuessNonzero(ksp, &nonzero));
  PetscCheck(!nonzero, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solve has left the flag of the nonzero guess behind");
  PetscCall(VecSet(x, 1e6)); /* a zero guess is asked for, so this must not matter */
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &again));
  PetscCheck(again == *its, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations the first time and %" PetscInt_FMT " the second", *its, again);
  if (levelset) {
    PetscCall(KSPSolveTranspose(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &again));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(TrueResidual(A, b, x, &residual));
    PetscCheck(reason > 0 && residual < 1.1 * rtol && again == *its, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s with %s, transposed: reason %d, true residual %g after %" PetscInt_FMT " iterations, not %" PetscInt_FMT, ksptype, PCLevelSetForms[form],
               (int)reason, (double)residual, again, *its);
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    PetscCall(VecShift(x, 1e-3));
    PetscCall(KSPSolveTranspose(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(TrueResidual(A, b, x, &residual));
    PetscCheck(reason > 0 && residual < 1.1 * rtol, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s with %s, transposed from a guess: reason %d, true residual %g",
               ksptype, PCLevelSetForms[form], (int)reason, (double)residual);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every method and form needs about the iterations of dcg with the same space; gmres minimises the residual and may need fewer */
static PetscErrorCode CheckSolves(Mat A)
{
  static const struct {
    const char    *type;
    PCSide         side;
    PCLevelSetForm form;
  } runs[] = {
    {KSPCG,     PC_LEFT,  PC_LEVELSET_ADEF2    },
    {KSPCG,     PC_LEFT,  PC_LEVELSET_ADEF1    },
    {KSPCG,     PC_LEFT,  PC_LEVELSET_BALANCING},
    {KSPFCG,    PC_LEFT,  PC_LEVELSET_ADEF2    },
    {KSPFCG,    PC_LEFT,  PC_LEVELSET_ADEF1    },
    {KSPFCG,    PC_LEFT,  PC_LEVELSET_BALANCING},
    {KSPPIPECG, PC_LEFT,  PC_LEVELSET_ADEF2    },
    {KSPPIPECG, PC_LEFT,  PC_LEVELSET_BALANCING},
    {KSPGMRES,  PC_RIGHT, PC_LEVELSET_ADEF2    },
    {KSPGMRES,  PC_RIGHT, PC_LEVELSET_ADEF1    },
    {KSPGMRES,  PC_RIGHT, PC_LEVELSET_BALANCING}
  };
  PetscInt dcg, cg, its;

  PetscFunctionBeginUser;
  PetscCall(Solve(A, KSPDCG, PC_LEFT, PCTNS, PC_LEVELSET_ADEF2, &dcg));
  PetscCall(Solve(A, KSPCG, PC_LEFT, PCTNS, PC_LEVELSET_ADEF2, &cg));
  PetscCheck(cg > 2 * dcg, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "The problem is too easy: %" PetscInt_FMT " iterations without deflation, %" PetscInt_FMT " with it", cg, dcg);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(runs); ++k) {
    PetscBool gmres;

    PetscCall(Solve(A, runs[k].type, runs[k].side, PCLEVELSET, runs[k].form, &its));
    PetscCall(PetscStrcmp(runs[k].type, KSPGMRES, &gmres));
    PetscCheck(its <= dcg + 2 && (gmres || its >= dcg - 2), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s with %s: %" PetscInt_FMT " iterations, dcg %" PetscInt_FMT,
               runs[k].type, PCLevelSetForms[runs[k].form], its, dcg);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s with %s: ok\n", runs[k].type, PCLevelSetForms[runs[k].form]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = 0 has the solution 0 at once, also from a deflation vector as the guess */
static PetscErrorCode CheckZero(KSP ksp, Vec b, Vec x)
{
  PC                   pc;
  PolderDeflationSpace space;
  Vec                  zero;
  PetscInt             its;
  PetscReal            residual;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(VecDuplicate(b, &zero));
  PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  PetscCall(PolderDeflationSpaceGetVector(space, 0, x));
  PetscCall(KSPSolve(ksp, zero, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecNorm(x, NORM_2, &residual));
  PetscCheck(its == 0 && residual == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "b = 0 from a deflation vector: %" PetscInt_FMT " iterations, |x| = %g", its,
             (double)residual);
  PetscCall(VecDestroy(&zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without bubbles there are fewer vectors, unless the preconditioner is reused */
static PetscErrorCode CheckReuse(KSP ksp, Vec phi, Vec b, Vec x)
{
  PC                   pc;
  PolderDeflationSpace space;
  PetscInt             vectors, fewer;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  PetscCall(PolderDeflationSpaceGetSize(space, &vectors));
  PetscCall(VecShift(phi, -2.0));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PolderDeflationSpaceGetSize(space, &fewer));
  PetscCheck(fewer == vectors, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reused, and yet %" PetscInt_FMT " vectors are %" PetscInt_FMT " now", vectors, fewer);
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  PetscCall(KSPSetTolerances(ksp, 1e-3, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PolderDeflationSpaceGetSize(space, &fewer));
  PetscCheck(fewer < vectors, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The bubbles are gone, but there are %" PetscInt_FMT " vectors as before", vectors);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "changed level set: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A guess that the caller gives is used, values and level set that change between solves are followed, a reused preconditioner follows neither */
static PetscErrorCode CheckSequence(Bubbles bubbles, Mat A, Vec phi)
{
  KSP       ksp;
  PC        pc;
  Vec       b, x;
  PetscBool other;
  PetscInt  first, its;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(MakeRhs(A, 2, &b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 1000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLEVELSET));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &first));
  PetscCall(PCViewFromOptions(pc, NULL, "-view"));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCheck(its <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations from the solution", its);
  PetscCall(PetscOptionsHasName(NULL, NULL, "-pc_levelset_form", &other));
  if (!other) PetscCall(CheckZero(ksp, b, x));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "guess: ok\n"));

  bubbles.inside *= 100;
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCheck(residual < 1.1e-8 && its <= first + 5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Changed values: true residual %g after %" PetscInt_FMT " iterations",
             (double)residual, its);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "changed values: ok\n"));

  PetscCall(CheckReuse(ksp, phi, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Bubbles      bubbles;
  Mat          A = NULL;
  Vec          phi;
  MatNullSpace nullspace;
  char         check[16] = "";
  PetscBool    is[3];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-check", check, sizeof(check), NULL));
  PetscCall(PetscStrcmp(check, "identities", &is[0]));
  PetscCall(PetscStrcmp(check, "solves", &is[1]));
  PetscCall(PetscStrcmp(check, "sequence", &is[2]));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, &phi));
  PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  if (!bubbles.dirichlet) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &nullspace));
    PetscCall(MatSetNullSpace(A, nullspace));
    PetscCall(MatNullSpaceDestroy(&nullspace));
  }
  if (is[0]) PetscCall(CheckIdentities(bubbles, A));
  else if (is[1]) PetscCall(CheckSolves(A));
  else if (is[2]) PetscCall(CheckSequence(bubbles, A, phi));
  else SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_USER, "There is no check %s", check);
  PetscCall(VecDestroy(&phi));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -check identities -n 8 -deflation_grid 8,8,8 -deflation_boxes 2,2,2 -radius 0.15
    output_file: output/levelset_identities.out
    test:
      suites: memcheck(+1)
      suffix: identities
      nsize: {{1 3}}
      args: -deflation_space levelset_subdomain
    test:
      suffix: identities_dirichlet
      nsize: 2
      args: -dirichlet -deflation_space subdomain -mat_type aijdia
    test:
      suffix: identities_icc
      args: -dirichlet -deflation_space subdomain -levelset_pc_type icc

  testset:
    args: -check solves -n 16 -deflation_grid 16,16,16 -deflation_boxes 2,2,2 -deflation_space levelset_subdomain
    output_file: output/levelset_solves.out
    test:
      suites: valgrind(+2) memcheck(+1)
      suffix: solves
      nsize: {{1 2 4}}
    test:
      suites: memcheck(+1)
      suffix: solves_dirichlet
      nsize: {{1 2}}
      args: -dirichlet -mat_type aijdia
    test:
      suffix: solves_contrast
      args: -inside 1e5 -dirichlet
    test:
      suffix: solves_degree
      args: -levelset_pc_tns_degree 1 -pc_tns_degree 1

  test:
    suites: valgrind(+2) memcheck(+1)
    suffix: sequence
    nsize: {{1 2}}
    args: -check sequence -n 12 -deflation_grid 12,12,12 -deflation_boxes 2,2,2 -deflation_space levelset_subdomain

  test:
    suffix: view
    args: -check sequence -n 12 -deflation_grid 12,12,12 -deflation_boxes 2,2,2 -deflation_space levelset_subdomain -pc_levelset_form balancing -view
    filter: grep -E "type: (levelset|tns)|form |degree |deflation space|inner"

TEST*/
