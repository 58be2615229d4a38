/*
  Conjugate gradients on the first Schur complement of a red-black ordering. With the black nodes b eliminated from A x = f, A = [D_b S_br; S_rb D_r],

      S x_r = f_r - S_rb D_b^-1 f_b,  S = D_r - S_rb D_b^-1 S_br,   x_b = D_b^-1 (f_b - S_br x_r)

  The preconditioner is what is left of M of PC rrb, whose first half level is this elimination, so that the iterates are those of CG on A that begins with
  residual zero on black nodes, at half the length. The steps are those of dcg, on vectors of the red nodes.
*/
#include "cg/cg.h"
#include "core/options.h"
#include "core/refusal.h"
#include <petsc/private/matimpl.h>

const char *const KSPRRBCGStops[] = {"petsc", "paper", "thesis", "KSPRRBCGStop", "KSP_RRBCG_STOP_", NULL};

typedef struct {
  PolderCG                 cg; /* first, since its steps take the data of the KSP for theirs */
  KSPRRBCGStop             stop;
  Mat                      S;
  PC                       rest;      /* M without its first half level */
  const PolderPCReduction *reduction; /* of the preconditioner */
  MPI_Comm                 comm;      /* of S */
  Vec                      b, x;      /* of the red nodes */
  Vec                      work;      /* of all nodes */
  PetscObjectId            kernel;
  PetscBool                expanded; /* the solution of the KSP is that of x */
} KSP_RRBCG;

/* <r, z> <= rtol^2 (<r_0, z_0> + floor) for the natural norm sqrt(<r, z>) */
static PetscErrorCode KSPRRBCGConverged_Private(KSP ksp, PetscInt it, PetscReal norm, KSPConvergedReason *reason, void *floor)
{
  PetscFunctionBegin;
  *reason = KSP_CONVERGED_ITERATING;
  if (!it) {
    ksp->rnorm0 = norm;
    ksp->ttol   = PetscMax(ksp->rtol * PetscSqrtReal(norm * norm + *(PetscReal *)floor), ksp->abstol);
  }
  if (it < PolderKSPMinIts(ksp)) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscIsInfOrNanReal(norm)) *reason = KSP_DIVERGED_NANORINF;
  else if (norm <= ksp->ttol) *reason = norm < ksp->abstol ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
  else if (norm >= ksp->divtol * ksp->rnorm0) *reason = KSP_DIVERGED_DTOL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- the solution with red values r */
static PetscErrorCode KSPRRBCGExpand_Private(KSP ksp, Vec r, Vec x)
{
  KSP_RRBCG *rrbcg = (KSP_RRBCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall((*rrbcg->reduction->expand)(ksp->pc, ksp->vec_rhs, r, x));
  PetscCall(KSP_RemoveNullSpace(ksp, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The true residual: that of A, black nodes included. What rounding leaves on these goes to the red ones */
static PetscErrorCode KSPRRBCGResidual_Private(KSP ksp, Vec x, Vec r, PetscReal *norm)
{
  KSP_RRBCG *rrbcg = (KSP_RRBCG *)ksp->data;
  Mat        A;

  PetscFunctionBegin;
  if (x) {
    PetscCall(PCGetOperators(ksp->pc, &A, NULL));
    PetscCall(KSPRRBCGExpand_Private(ksp, x, ksp->vec_sol));
    rrbcg->expanded = (PetscBool)(x == rrbcg->x);
    PetscCall(PolderCGMatResidual(ksp, A, ksp->vec_rhs, ksp->vec_sol, rrbcg->work));
    PetscCall(PolderVecNorm(rrbcg->work, norm));
  }
  if (r) PetscCall((*rrbcg->reduction->reduce)(ksp->pc, rrbcg->work, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the residual of the guess on all nodes: the norm that the test looks at, before the elimination changes the guess on black nodes */
static PetscErrorCode KSPRRBCGGuessNorm_Private(KSP ksp, PetscReal *norm)
{
  KSP_RRBCG  *rrbcg = (KSP_RRBCG *)ksp->data;
  PetscScalar rho;
  Mat         A;
  Vec         z;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (ksp->guess_zero) PetscCall(VecCopy(ksp->vec_rhs, rrbcg->work));
  else PetscCall(PolderCGMatResidual(ksp, A, ksp->vec_rhs, ksp->vec_sol, rrbcg->work));
  if (ksp->normtype != KSP_NORM_NATURAL) PetscCall(PolderVecNorm(rrbcg->work, norm));
  else {
    PetscCall(VecDuplicate(rrbcg->work, &z));
    PetscCall(PCApply(ksp->pc, rrbcg->work, z));
    PetscCall(VecDot(rrbcg->work, z, &rho));
    *norm = PetscSqrtReal(PetscAbsScalar(rho));
    PetscCall(VecDestroy(&z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_RRBCG(Mat S, Vec x, Vec y)
{
  KSP       ksp;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &ksp));
  PetscCall((*((KSP_RRBCG *)ksp->data)->reduction->mult)(ksp->pc, x, y, NULL, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultDot_RRBCG(Mat S, Vec x, Vec y, PetscScalar *dot, PetscBool *done)
{
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_Mult, S, x, y, 0));
  PetscCall(MatShellGetContext(S, &ksp));
  PetscCall((*((KSP_RRBCG *)ksp->data)->reduction->mult)(ksp->pc, x, y, dot, done));
  PetscCall(PetscLogEventEnd(MAT_Mult, S, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_RRBCG(PC rest, Vec r, Vec z)
{
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(rest, &ksp));
  PetscCall((*((KSP_RRBCG *)ksp->data)->reduction->apply)(ksp->pc, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyRho_RRBCG(PC rest, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done)
{
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(rest, &ksp));
  PetscCall((*((KSP_RRBCG *)ksp->data)->reduction->fused.applyrho)(ksp->pc, r, z, rho, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSteps_RRBCG(PC rest, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done)
{
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(rest, &ksp));
  PetscCall((*((KSP_RRBCG *)ksp->data)->reduction->fused.steps)(ksp->pc, prepare, first, count, v, state, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGetFused_RRBCG(PC rest, const PolderPCFused **fused)
{
  static const PolderPCFused offer = {.applyrho = PCApplyRho_RRBCG, .steps = PCSteps_RRBCG};

  PetscFunctionBegin;
  (void)rest;
  *fused = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel of S is that of A on the red nodes */
static PetscErrorCode KSPRRBCGSetNullSpace_Private(KSP ksp, Mat A)
{
  KSP_RRBCG    *rrbcg = (KSP_RRBCG *)ksp->data;
  MatNullSpace  kernel, reduced;
  PetscObjectId id = 0;
  PetscBool     constant;
  PetscInt      n, count = 0;
  const Vec    *vecs;
  Vec          *v;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &kernel));
  if (kernel) PetscCall(PetscObjectGetId((PetscObject)kernel, &id));
  if (id == rrbcg->kernel) PetscFunctionReturn(PETSC_SUCCESS);
  rrbcg->kernel = id;
  PetscCall(MatSetNullSpace(rrbcg->S, NULL));
  if (!kernel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(kernel, &constant, &n, &vecs));
  PetscCall(VecDuplicateVecs(rrbcg->x, PetscMax(n, 1), &v));
  for (PetscInt k = 0; k < n; ++k) { // orthogonal to each other and to the constant
    PetscReal   norm, rest;
    PetscScalar dot;

    PetscCall((*rrbcg->reduction->pick)(ksp->pc, vecs[k], v[count]));
    PetscCall(VecNorm(v[count], NORM_2, &norm));
    if (constant) PetscCall(PolderVecRemoveMean(v[count]));
    for (PetscInt j = 0; j < count; ++j) {
      PetscCall(VecDot(v[count], v[j], &dot));
      PetscCall(VecAXPY(v[count], -dot, v[j]));
    }
    PetscCall(VecNormalize(v[count], &rest));
    if (rest > 1e-8 * norm) ++count;
  }
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)rrbcg->b), constant, count, v, &reduced));
  PetscCall(MatSetNullSpace(rrbcg->S, reduced));
  PetscCall(MatNullSpaceDestroy(&reduced));
  PetscCall(VecDestroyVecs(PetscMax(n, 1), &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPRRBCGFree_Private(KSP_RRBCG *rrbcg)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&rrbcg->S));
  PetscCall(PCDestroy(&rrbcg->rest));
  PetscCall(VecDestroy(&rrbcg->b));
  PetscCall(VecDestroy(&rrbcg->x));
  PetscCall(VecDestroy(&rrbcg->work));
  rrbcg->kernel = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrix, preconditioner and vectors of the red nodes, where `like`, one of all nodes, is */
static PetscErrorCode KSPRRBCGCreateSystem_Private(KSP ksp, Vec like)
{
  KSP_RRBCG  *rrbcg = (KSP_RRBCG *)ksp->data;
  MPI_Comm    comm;
  PetscInt    n;
  VecType     type;
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall((*rrbcg->reduction->size)(ksp->pc, like, &comm, &n));
  PetscCall(VecGetType(like, &type));
  PetscCall(PetscLayoutCreateFromSizes(comm, n, PETSC_DETERMINE, 1, &layout));
  PetscCall(PolderVecCreate(comm, layout, comm == PETSC_COMM_SELF ? POLDER_VEC_DEVICE : type, &rrbcg->b)); // SELF: all of it on the device of each process
  PetscCall(PetscLayoutDestroy(&layout));
  rrbcg->comm = comm;
  PetscCall(PolderVecDuplicate(rrbcg->b, &rrbcg->x));
  PetscCall(PolderVecDuplicate(like, &rrbcg->work));
  PetscCall(PolderKSPSetWorkVecs(ksp, POLDER_CG_WORKVECS, rrbcg->b));
  PetscCall(MatCreateShell(comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, ksp, &rrbcg->S));
  PetscCall(MatShellSetOperation(rrbcg->S, MATOP_MULT, (void (*)(void))MatMult_RRBCG));
  PetscCall(MatShellSetOperation(rrbcg->S, MATOP_MULT_TRANSPOSE, (void (*)(void))MatMult_RRBCG));
  PetscCall(PetscObjectComposeFunction((PetscObject)rrbcg->S, POLDER_MAT_MULT_DOT, MatMultDot_RRBCG));
  PetscCall(MatSetOption(rrbcg->S, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(PCCreate(comm, &rrbcg->rest));
  PetscCall(PCSetOperators(rrbcg->rest, rrbcg->S, rrbcg->S));
  PetscCall(PCSetType(rrbcg->rest, PCSHELL));
  PetscCall(PCShellSetContext(rrbcg->rest, ksp));
  PetscCall(PCShellSetApply(rrbcg->rest, PCApply_RRBCG));
  PetscCall(PCShellSetApplyTranspose(rrbcg->rest, PCApply_RRBCG));
  PetscCall(PetscObjectComposeFunction((PetscObject)rrbcg->rest, POLDER_PC_GET_FUSED, PCGetFused_RRBCG));
  PetscCall(PCSetUp(rrbcg->rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes them, anew when on several processes the red nodes have moved with other settings of the preconditioner, or the vectors are of another type */
static PetscErrorCode KSPRRBCGSetUpSystem_Private(KSP ksp, Vec like)
{
  KSP_RRBCG *rrbcg = (KSP_RRBCG *)ksp->data;
  MPI_Comm   comm;
  PetscInt   n, m, moved;
  VecType    type;
  PetscBool  same;

  PetscFunctionBegin;
  if (rrbcg->S) {
    PetscCall((*rrbcg->reduction->size)(ksp->pc, like, &comm, &n));
    PetscCall(VecGetLocalSize(rrbcg->b, &m));
    PetscCall(VecGetType(like, &type));
    PetscCall(PetscObjectTypeCompare((PetscObject)rrbcg->work, type, &same));
    moved = m != n || comm != rrbcg->comm || !same;
    PetscCallAllreduce(MPI_IN_PLACE, &moved, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp));
    if (!moved) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PolderCGReset(ksp));
    PetscCall(KSPRRBCGFree_Private(rrbcg));
  }
  PetscCall(KSPRRBCGCreateSystem_Private(ksp, like));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reduction of the preconditioner, or an error */
static PetscErrorCode KSPRRBCGCheckPC_Private(KSP ksp)
{
  KSP_RRBCG *rrbcg = (KSP_RRBCG *)ksp->data;
  MPI_Comm   comm  = PetscObjectComm((PetscObject)ksp);
  PCType     type;
  PetscBool  diagonalscale;

  PetscFunctionBegin;
  PetscCall(PCGetType(ksp->pc, &type));
  rrbcg->reduction = NULL;
  PetscTryMethod(ksp->pc, POLDER_PC_GET_REDUCTION, (PC, const PolderPCReduction **), (ksp->pc, &rrbcg->reduction));
  PetscCheck(rrbcg->reduction, comm, PETSC_ERR_SUP,
             "KSP of type rrbcg eliminates with PC of type rrb, and the preconditioner is of type %s: use -pc_type rrb, or -ksp_type cg (dcg)",
             type ? type : "none yet");
  PetscCall(PolderPCGetDiagonalScale(ksp->pc, &diagonalscale));
  PetscCheck(!diagonalscale, comm, PETSC_ERR_SUP, "rrbcg does not work with the diagonal scaling of PCSetDiagonalScale(): leave it out");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a preconditioner that has refused the matrix there is no system to solve; it has done so on all processes */
static PetscErrorCode KSPRRBCGFailed_Private(KSP ksp, PetscBool *failed)
{
  PCFailedReason reason;

  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(ksp->pc, &reason));
  *failed = (PetscBool)(reason != PC_NOERROR);
  if (!*failed || !ksp->vec_sol) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderVecFlag(ksp->vec_sol, PETSC_TRUE));
  ksp->reason = KSP_DIVERGED_PC_FAILED;
  ksp->rnorm  = PETSC_INFINITY;
  ksp->its    = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_RRBCG(KSP ksp)
{
  KSP_RRBCG *rrbcg = (KSP_RRBCG *)ksp->data;
  PolderCG  *cg    = &rrbcg->cg;
  Mat        A;
  PetscBool  changed, failed;

  PetscFunctionBegin;
  PetscCall(KSPRRBCGCheckPC_Private(ksp));
  PetscCall((*rrbcg->reduction->want)(ksp->pc));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PolderMatCatchUp(A, &changed));
  PetscCall(PCSetUp(ksp->pc)); // it, or the values of the matrix, may be new
  PetscCall(KSPRRBCGFailed_Private(ksp, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*rrbcg->reduction->begin)(ksp->pc, ksp->vec_rhs));
  PetscCall(KSPRRBCGFailed_Private(ksp, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPRRBCGSetUpSystem_Private(ksp, ksp->vec_rhs));
  PetscCall(KSPRRBCGSetNullSpace_Private(ksp, A));
  PetscCall((*rrbcg->reduction->reduce)(ksp->pc, ksp->vec_rhs, rrbcg->b));
  if (ksp->guess_zero) PetscCall(VecZeroEntries(rrbcg->x));
  else PetscCall((*rrbcg->reduction->pick)(ksp->pc, ksp->vec_sol, rrbcg->x));
  cg->A           = rrbcg->S;
  cg->pc          = rrbcg->rest;
  cg->b           = rrbcg->b;
  cg->x           = rrbcg->x;
  rrbcg->expanded = PETSC_FALSE;
  PetscCall(PolderCGSolve(ksp));
  if (!rrbcg->expanded || cg->restarts) PetscCall(KSPRRBCGExpand_Private(ksp, rrbcg->x, ksp->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The system has the size that the preconditioner finds */
static PetscErrorCode KSPSetUp_RRBCG(KSP ksp)
{
  KSP_RRBCG     *rrbcg = (KSP_RRBCG *)ksp->data;
  Mat            A;
  Vec            like;
  PCFailedReason failed;

  PetscFunctionBegin;
  PetscCall(KSPRRBCGCheckPC_Private(ksp));
  PetscCall((*rrbcg->reduction->want)(ksp->pc));
  PetscCall(PCSetErrorIfFailure(ksp->pc, ksp->errorifnotconverged)); // which KSPSetUp() says later
  PetscCall(PCSetUp(ksp->pc));
  PetscCall(PCGetFailedReason(ksp->pc, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatCreateVecs(A, NULL, &like));
  PetscCall(KSPRRBCGSetUpSystem_Private(ksp, like));
  PetscCall(VecDestroy(&like));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* During a solve: of the vector of the cycle, in that of the solution unless v is given */
static PetscErrorCode KSPBuildSolution_RRBCG(KSP ksp, Vec v, Vec *V)
{
  KSP_RRBCG *rrbcg = (KSP_RRBCG *)ksp->data;
  PolderCG  *cg    = &rrbcg->cg;
  Vec        x     = cg->x;

  PetscFunctionBegin;
  if (!cg->sol) {
    PetscCall(KSPBuildSolutionDefault(ksp, v, V));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*cg->steps->finish)(ksp));
  if (cg->sol != cg->x) {
    if (!cg->built) PetscCall(VecDuplicate(cg->x, &cg->built));
    x = cg->built;
    PetscCall(VecWAXPY(x, 1.0, cg->sol, cg->x));
  }
  if (!v) {
    v               = ksp->vec_sol;
    rrbcg->expanded = PETSC_FALSE;
  }
  PetscCall(KSPRRBCGExpand_Private(ksp, x, v));
  if (V) *V = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_RRBCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(PolderCGReset(ksp));
  PetscCall(KSPRRBCGFree_Private((KSP_RRBCG *)ksp->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_RRBCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPRRBCGFree_Private((KSP_RRBCG *)ksp->data));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPRRBCGSetStop_C", NULL));
  PetscCall(PolderCGDestroy(ksp));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_RRBCG(KSP ksp, PetscViewer viewer)
{
  KSP_RRBCG *rrbcg = (KSP_RRBCG *)ksp->data;
  PetscBool  ascii;
  PetscInt   n;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (rrbcg->stop != KSP_RRBCG_STOP_PETSC)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  stops when <r, z> is at most rtol^2 %s\n", rrbcg->stop == KSP_RRBCG_STOP_PAPER ? "<r_0, z_0>" : "(<r_0, z_0> + 1)"));
  if (rrbcg->S) {
    PetscCall(MatGetSize(rrbcg->S, &n, NULL));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  on the Schur complement of %" PetscInt_FMT " red nodes\n", n));
  }
  PetscCall(PolderCGView(ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPRRBCGSetStop_RRBCG(KSP ksp, KSPRRBCGStop stop)
{
  static PetscReal floors[] = {0, 0, 1};
  KSP_RRBCG       *rrbcg    = (KSP_RRBCG *)ksp->data;
  void            *ctx;

  PetscFunctionBegin;
  if (stop == rrbcg->stop) PetscFunctionReturn(PETSC_SUCCESS);
  rrbcg->stop = stop;
  if (stop == KSP_RRBCG_STOP_PETSC) {
    PetscCall(KSPConvergedDefaultCreate(&ctx));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedDefault, ctx, KSPConvergedDefaultDestroy));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_DEFAULT));
  } else {
    PetscCall(KSPSetConvergenceTest(ksp, KSPRRBCGConverged_Private, &floors[stop], NULL));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPRRBCGSetStop - sets when `KSPRRBCG` stops

   Logically Collective

   Input Parameters:
+  ksp  - the solver
-  stop - the rule, see `KSPRRBCGStop`

   Options Database Key:
.  -ksp_rrbcg_stop <petsc> - `petsc`, `paper` or `thesis`

   Level: intermediate

   Note:
   The rules of the literature replace the convergence test and the norm of the solver: history and monitors then show the square root of <r, z>.

.seealso: `KSPRRBCG`, `KSPSetConvergenceTest()`, `KSPSetNormType()`
@*/
PetscErrorCode KSPRRBCGSetStop(KSP ksp, KSPRRBCGStop stop)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, stop, 2);
  PetscTryMethod(ksp, "KSPRRBCGSetStop_C", (KSP, KSPRRBCGStop), (ksp, stop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPSetFromOptions() gives a preconditioner without type PETSc's default before it looks at the type of the KSP */
static PetscErrorCode KSPRRBCGDefaultPC_Private(KSP ksp)
{
  PC          pc;
  PetscBool   unchosen, given;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &unchosen, PCICC, PCILU, PCBJACOBI, ""));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_type", &given));
  if (!unchosen || given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetType(pc, PCRRB));
  PetscCall(PCSetFromOptions(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_RRBCG(KSP ksp, PolderOptionItems PetscOptionsObject)
{
  KSP_RRBCG   *rrbcg = (KSP_RRBCG *)ksp->data;
  KSPRRBCGStop stop  = rrbcg->stop;
  PetscInt     check = rrbcg->cg.check;
  PetscBool    set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "CG on the first Schur complement options");
  PetscCall(PetscOptionsEnum("-ksp_rrbcg_stop", "When the iteration stops", "KSPRRBCGSetStop", KSPRRBCGStops, (PetscEnum)stop, (PetscEnum *)&stop, &set));
  if (set) PetscCall(KSPRRBCGSetStop(ksp, stop));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-ksp_rrbcg_check", "With device vectors the host may be so many steps behind, 0: automatic", "KSPRRBCG", 0,
                             POLDER_CG_CHECK_MAX, &check, &set));
  PolderCheckBounds(PetscObjectComm((PetscObject)ksp), "-ksp_rrbcg_check", check, 0, POLDER_CG_CHECK_MAX);
  if (set) rrbcg->cg.check = check;
  PetscOptionsHeadEnd();
  PetscCall(KSPRRBCGDefaultPC_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPRRBCG - conjugate gradients on the first Schur complement of a red-black ordering, for 5-point stencils on 2-D grids with `PCRRB`

   Options Database Keys:
+  -ksp_rrbcg_stop <petsc> - `petsc`, `paper` or `thesis`, see `KSPRRBCGSetStop()`
-  -ksp_rrbcg_check <0>    - with CUDA vectors the host may be so many steps behind the device; 0: chosen for the problem

   Level: beginner

   Notes:
   The black nodes of a chess board are eliminated from the system, which is what `PCRRB` does first, so that the iteration has half the unknowns and a matrix
   of its own. In exact arithmetic it is `KSPCG` with `PCRRB` that begins with the black values that make the residual vanish there. The matrix must be one that
   `PCRRB` takes and have 5 points; for 9 points use `KSPCG` with `PCRRB`, which is the preconditioner unless another one is asked for (and that is an error).

   Norms, convergence tests, monitors and history are those of the whole system: its residual vanishes on black nodes. The default test compares with the norm
   of b, or of the residual of the guess (`-ksp_converged_use_initial_residual_norm`). Before it returns, the residual is computed with the matrix itself, and
   the iteration goes on where rounding made it miss the tolerance, as in `KSPDCG`.

   On CUDA vectors, with a matrix of this library that has its values there, everything is on the device, where one kernel makes many iterations; the norms
   reach the host meanwhile. With monitors or a convergence test of one's own it makes one. On several processes each GPU solves the whole reduced system;
   large grids are shared by lines, if the rows are in natural order or in slabs of a DMDA (`-da_processors_x 1`).

   `KSPSetInitialGuessNonzero()` takes the red values of the guess. The kernel of a singular system is attached with `MatSetNullSpace()`.

   Reference:
   M. de Jong, A. van der Ploeg, A. Ditzel, C. Vuik, Fine-grain parallel RRB-solver for 5-/9-point stencil problems suitable for GPU-type
   processors, ETNA 46, 2017.

.seealso: `PCRRB`, `KSPDCG`, `KSPCG`, `KSPRRBCGSetStop()`
M*/
PETSC_INTERN PetscErrorCode KSPCreate_RRBCG(KSP ksp)
{
  KSP_RRBCG *rrbcg;
  PC         pc;
  PCType     type;

  PetscFunctionBegin;
  PetscCall(PetscNew(&rrbcg));
  PetscCall(PolderCGCreate(ksp, &rrbcg->cg)); // its deflation space stays empty
  rrbcg->cg.plaintest    = KSPRRBCGConverged_Private;
  rrbcg->cg.trueresidual = KSPRRBCGResidual_Private;
  rrbcg->cg.guessnorm    = KSPRRBCGGuessNorm_Private;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup                        = KSPSetUp_RRBCG;
  ksp->ops->solve                        = KSPSolve_RRBCG;
  ksp->ops->reset                        = KSPReset_RRBCG;
  ksp->ops->destroy                      = KSPDestroy_RRBCG;
  ksp->ops->view                         = KSPView_RRBCG;
  ksp->ops->setfromoptions               = KSPSetFromOptions_RRBCG;
  ksp->ops->buildsolution                = KSPBuildSolution_RRBCG;
  ksp->ops->buildresidual                = KSPBuildResidualDefault;
  ksp->ops->computeeigenvalues           = PolderCGComputeEigenvalues;
  ksp->ops->computeextremesingularvalues = PolderCGComputeExtremeSingularValues;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPRRBCGSetStop_C", KSPRRBCGSetStop_RRBCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  if (!type) PetscCall(PCSetType(pc, PCRRB));
  PetscFunctionReturn(PETSC_SUCCESS);
}
