/* What idrs claims, on systems that are solved, hard to solve or not to be solved at all. */
#include "idrs.h"

static const char *const Variants[] = {"minsync", "biortho"};

static PetscErrorCode SolveTight(Mat A, const char rtol[], const char variant[], Outcome *outcome)
{
  KSP  ksp;
  Vec  x, b;
  char options[256];

  PetscFunctionBeginUser;
  PetscCall(
    PetscSNPrintf(options, sizeof(options), "-t_ksp_type idrs -t_pc_type jacobi -t_ksp_max_it 5000 -t_ksp_rtol %s -t_ksp_idrs_variant %s", rtol, variant));
  PetscCall(CreateSolver(A, options, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A)); /* whose entries tell what rounding may do */
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillVec(x, 7));
  PetscCall(MatMult(A, x, b));
  PetscCall(Solve(ksp, A, b, x, outcome));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* However small the tolerance, the true residual is below it, or is what rounding leaves and the reason says so */
PetscErrorCode TestClaims(void)
{
  static const char *const rtols[] = {"1e-3", "1e-10", "1e-13", "1e-15", "1e-17", "0"};
  static const Flow        flows[] = {
           {2, 20, 10,   0,   PETSC_FALSE, PETSC_FALSE},
           {2, 20, 1000, 0,   PETSC_FALSE, PETSC_FALSE},
           {3, 9,  300,  200, PETSC_FALSE, PETSC_FALSE}
  };
  Mat     A;
  Outcome outcome;

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(flows); ++t) {
    PetscCall(CreateFlow(&flows[t], &A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(rtols); ++k) {
      for (int v = 0; v < 2; ++v) {
        const PetscReal rtol = (PetscReal)atof(rtols[k]);
        PetscBool       ok;

        PetscCall(SolveTight(A, rtols[k], Variants[v], &outcome));
        ok = (PetscBool)(outcome.reason == KSP_CONVERGED_RTOL && outcome.residual <= rtol * (1 + 1e-12));
        if (rtol < 1e-14) ok = (PetscBool)(ok || (outcome.reason == KSP_CONVERGED_HAPPY_BREAKDOWN && outcome.residual <= 1e-14));
        PetscCall(Judge(ok, &outcome, "flow %d, rtol %s, %s", (int)t, rtols[k], Variants[v]));
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x = b for ones in b, both variants; reason: KSP_CONVERGED_RTOL stands for that of the absolute tolerance as well, as r may be 0 */
static PetscErrorCode Breakdown(const char what[], Mat A, const char others[], KSPConvergedReason reason, PetscInt most)
{
  KSP     ksp;
  Vec     x, b;
  Outcome outcome;
  char    options[256];

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  for (int v = 0; v < 2; ++v) {
    PetscCall(VecSet(x, 0));
    PetscCall(VecSet(b, 1));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-t_ksp_type idrs -t_pc_type none -t_ksp_rtol 1e-8 -t_ksp_max_it 200 -t_ksp_idrs_variant %s %s",
                            Variants[v], others));
    PetscCall(CreateSolver(A, options, &ksp));
    PetscCall(Solve(ksp, A, b, x, &outcome));
    if (outcome.reason == KSP_CONVERGED_ATOL) outcome.reason = KSP_CONVERGED_RTOL;
    PetscCall(Judge((PetscBool)(outcome.reason == reason && outcome.its <= most && (reason < 0 || outcome.residual <= 1e-8)), &outcome, "%s, %s: %s", what,
                    Variants[v], KSPConvergedReasons[reason]));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A diagonal matrix of n rows, and v in column (row + n / 2) mod n */
static PetscErrorCode CreateShifted(PetscInt n, PetscReal diagonal, PetscReal v, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 2, NULL, 2, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscCall(MatSetValue(*A, i, i, diagonal, ADD_VALUES));
    PetscCall(MatSetValue(*A, i, (i + n / 2) % n, i < n / 2 ? v : -v, ADD_VALUES));
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestBreakdowns(void)
{
  Mat      A;
  PetscInt start;

  PetscFunctionBeginUser;
  PetscCall(CreateShifted(20, 1, 0, &A));
  PetscCall(Breakdown("the identity", A, "", KSP_CONVERGED_RTOL, 1));
  PetscCall(CreateShifted(1, 3, 0, &A));
  PetscCall(Breakdown("one row", A, "", KSP_CONVERGED_RTOL, 1));
  PetscCall(CreateShifted(2, 3, 1, &A));
  PetscCall(Breakdown("two rows", A, "", KSP_CONVERGED_RTOL, 3));
  PetscCall(CreateShifted(20, 0, 0, &A));
  PetscCall(Breakdown("zero", A, "", KSP_DIVERGED_BREAKDOWN, 3));
  PetscCall(CreateShifted(20, 0, 1, &A)); /* omega = 0: (A r, r) = 0 for every r; A^2 = -I */
  PetscCall(Breakdown("skew-symmetric, two eigenvalues", A, "", KSP_CONVERGED_RTOL, 3));
  PetscCall(CreateDense(20, 0, PETSC_TRUE, &A));
  PetscCall(Breakdown("skew-symmetric", A, "-t_ksp_divtol 1e12", KSP_CONVERGED_RTOL, 40));
  PetscCall(CreateDense(20, 0, PETSC_TRUE, &A));
  PetscCall(Breakdown("skew-symmetric, s = 1", A, "-t_ksp_idrs_s 1 -t_ksp_divtol 1e12", KSP_CONVERGED_RTOL, 150));
  PetscCall(CreateDense(21, 0, PETSC_TRUE, &A)); /* of an odd order: singular, and b is not in its range */
  PetscCall(Breakdown("singular, inconsistent", A, "-t_ksp_divtol 1e30", KSP_DIVERGED_ITS, 200));
  PetscCall(CreateShifted(20, 1, 0, &A));
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  if (!start) PetscCall(MatSetValue(A, 0, 0, NAN, INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscCall(Breakdown("not a number", A, "", KSP_DIVERGED_NANORINF, 1));
  PetscCall(CreateShifted(20, 0, 1, &A));
  PetscCall(Breakdown("a preconditioner that fails", A, "-t_pc_type bjacobi -t_sub_pc_type lu", KSP_DIVERGED_PC_FAILED, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b has a part that no solution takes away: however large x grows, and its rounding errors with it, that is not convergence */
static PetscErrorCode Inconsistent(Mat A)
{
  KSP     ksp;
  Vec     x, b;
  Outcome outcome;
  char    options[256];

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  for (int v = 0; v < 4; ++v) {
    PetscCall(FillVec(x, 7));
    PetscCall(MatMult(A, x, b));
    PetscCall(VecShift(b, v < 2 ? 0.1 : 10));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-t_ksp_type idrs -t_pc_type jacobi -t_ksp_max_it 5000 -t_ksp_divtol 1e30 -t_ksp_idrs_variant %s",
                            Variants[v % 2]));
    PetscCall(CreateSolver(A, options, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(Solve(ksp, A, b, x, &outcome));
    PetscCall(Judge((PetscBool)(outcome.reason < 0), &outcome, "singular, inconsistent, %s", Variants[v % 2]));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constants are the kernel of A and of A^T, and b has no part along them */
PetscErrorCode TestSingular(void)
{
  static const Flow flow = {2, 20, 20, 0, PETSC_FALSE, PETSC_TRUE};
  Mat               A;
  MatNullSpace      constant;
  Outcome           outcome;
  char              options[256];

  PetscFunctionBeginUser;
  PetscCall(CreateFlow(&flow, &A));
  PetscCall(Inconsistent(A));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
  for (int attached = 0; attached < 2; ++attached) {
    if (attached) {
      PetscCall(MatSetNullSpace(A, constant));
      PetscCall(MatSetTransposeNullSpace(A, constant));
    }
    for (int side = 0; side < 2; ++side) {
      for (int v = 0; v < 2; ++v) {
        PetscCall(PetscSNPrintf(options, sizeof(options), "-t_ksp_type idrs -t_pc_type jacobi -t_ksp_rtol 1e-9 -t_ksp_pc_side %s -t_ksp_idrs_variant %s",
                                side ? "left" : "right", Variants[v]));
        PetscCall(SolveRandom(A, options, &outcome));
        PetscCall(Judge((PetscBool)(outcome.reason == KSP_CONVERGED_RTOL && outcome.residual <= 2e-9 && outcome.its < 160), &outcome,
                        "singular, null space %sattached, preconditioner on the %s, %s", attached ? "" : "not ", side ? "left" : "right", Variants[v]));
      }
    }
  }
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
