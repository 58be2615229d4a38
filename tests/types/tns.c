static char help[] = "Truncated Neumann series preconditioner against its formula.\n\n";

#include "core/compat.h"
#include "tns/problem.h"
#include "vecs.h"
#include "message.h"
#include <polder.h>

static PetscErrorCode TestFormula(Problem p)
{
  Mat          A;
  PC           pc;
  PetscReal    error, norm, least;
  Problem      old = p;
  PetscScalar *dense;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p.N * p.N, &dense));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "contrast %g\n", (double)p.contrast));
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, "tns"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(GetError(pc, &p, &p, 2, PETSC_FALSE, &error, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  infinity norm of L D^-1: %.2f\n", (double)norm));
  PetscCall(Report("default degree is 2", (PetscBool)(error < 1e-14), error));
  for (PetscInt q = 0; q < 5; ++q) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " degree %" PetscInt_FMT "\n", q));
    PetscCall(SetDegree(pc, q));
    PetscCall(GetDense(pc, p.N, PETSC_FALSE, dense));
    PetscCall(CompareDense(dense, &p, &p, q, &error, &norm));
    PetscCall(Report("formula", (PetscBool)(error < 1e-14), error));
    GetDefiniteness(p.N, dense, &error, &least);
    PetscCall(Report("symmetric", (PetscBool)(error < 1e-14), error));
    PetscCall(Report("positive definite", (PetscBool)(least > 1e-12), least));
  }
  PetscCall(SetDegree(pc, 2));
  PetscCall(GetError(pc, &p, &p, 2, PETSC_TRUE, &error, &norm));
  PetscCall(Report("transpose", (PetscBool)(error < 1e-14), error));
  p.variant = 1;
  PetscCall(Fill(&p, A));
  PetscCall(PCSetUp(pc));
  PetscCall(GetError(pc, &p, &p, 2, PETSC_FALSE, &error, &norm));
  PetscCall(Report("changed values", (PetscBool)(error < 1e-14), error));
  PetscCall(GetError(pc, &old, &old, 2, PETSC_FALSE, &error, &norm));
  PetscCall(Report("they differ from the first ones", (PetscBool)(error > 1e-3), error));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
  p.variant = 2;
  PetscCall(Fill(&p, A));
  PetscCall(GetError(pc, &p, &p, 2, PETSC_FALSE, &error, &norm));
  PetscCall(Report("reused: changed values all the same", (PetscBool)(error < 1e-14), error));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(GetError(pc, &p, &p, 2, PETSC_FALSE, &error, &norm));
  PetscCall(Report("after a reset", (PetscBool)(error < 1e-14), error));
  PetscCall(PetscFree(dense));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program that says that the matrix is not symmetric is believed when that is so */
static PetscErrorCode TestSaidUnsymmetric(Problem p)
{
  Mat            A;
  PC             pc;
  Vec            r, z;
  PetscReal      error, norm;
  PetscErrorCode ierr;
  PetscMPIInt    size;
  int            failed;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_FALSE));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, "tns"));
  PetscCall(GetError(pc, &p, &p, 2, PETSC_TRUE, &error, &norm));
  PetscCall(Report("transpose of what is said not to be symmetric", (PetscBool)(error < 1e-14), error));
  PetscCall(MatCreateVecs(A, &z, &r));
  PetscCall(VecSetRandom(r, NULL));
  PetscCall(VecShift(r, 3));
  PetscCall(MatDiagonalScale(A, r, NULL));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_FALSE));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = PCApplyTranspose(pc, r, z);
  PetscCall(PetscPopErrorHandler());
  failed = ierr ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(Report("transpose of what is not symmetric: an error on every process", (PetscBool)(failed == size), failed));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One entry of one process changes, and with it what that process stores of its block: no other may wait for it */
static PetscErrorCode TestSymmetryLost(Problem p)
{
  const PetscInt row = 0, col = 1;
  Mat            A;
  PC             pc[2];
  Vec            r, z, y;
  PetscReal      away;
  PetscInt       start;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(MatCreateVecs(A, &z, &r));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(VecSetRandom(r, NULL));
  for (int k = 0; k < 2; ++k) {
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[k]));
    PetscCall(PCSetOperators(pc[k], A, A));
    PetscCall(PCSetType(pc[k], "tns"));
    if (!k) {
      PetscCall(PCApply(pc[0], r, z));
      PetscCall(MatGetOwnershipRange(A, &start, NULL));
      if (!start) PetscCall(MatSetValue(A, row, col, -0.25, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
  }
  PetscCall(PCApply(pc[0], r, z));
  PetscCall(PCApply(pc[1], r, y));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &away));
  PetscCall(Report("symmetry lost on one process", (PetscBool)(away == 0), away));
  for (int k = 0; k < 2; ++k) PetscCall(PCDestroy(&pc[k]));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another pattern in the same matrix, also while the preconditioner is reused */
static PetscErrorCode TestPattern(Problem p)
{
  Mat       A;
  PC        pc;
  PetscReal error, norm;
  Problem   line = {
      {p.N, 1, 1},
      p.N, p.contrast, 0
  };

  PetscFunctionBeginUser;
  for (int reuse = 0; reuse < 2; ++reuse) {
    PetscCall(CreateMatrix(&line, &A));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, "tns"));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSetReusePreconditioner(pc, (PetscBool)reuse));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatZeroEntries(A));
    PetscCall(Fill(&p, A));
    PetscCall(GetError(pc, &p, &p, 2, PETSC_FALSE, &error, &norm));
    PetscCall(Report(reuse ? "changed pattern, reused" : "changed pattern", (PetscBool)(error < 1e-14), error));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, Vec b, Vec x, const char type[], PetscInt degree, PetscInt *its)
{
  KSP                ksp;
  PC                 pc;
  Vec                r;
  PetscReal          norm, rnorm;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSetFromOptions(pc));
  if (degree >= 0) PetscCall(SetDegree(pc, degree));
  PetscCall(KSPSolve(ksp, b, x));
  if (degree == 2) PetscCall(PCViewFromOptions(pc, NULL, "-view"));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCheck(reason > 0 && rnorm <= 1.01e-8 * norm, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "cg with %s: reason %d, true residual %g", type, (int)reason,
             (double)(rnorm / norm));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of cg: degree 0 is Jacobi, and they are the same on any number of processes */
static PetscErrorCode TestSolve(void)
{
  Problem p = {
    {12, 11, 10},
    12 * 11 * 10, 100.0, 0
  };
  const PetscInt expected[] = {109, 59, 51, 48, 48};
  PetscInt       its, jacobi;
  Mat            A;
  Vec            x, b;
  PetscReal      value;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(CreateVecs(A, &x, &b));
  for (PetscInt i = 0; i < p.N; ++i) {
    PetscInt rstart, rend;

    PetscCall(VecGetOwnershipRange(b, &rstart, &rend));
    if (i >= rstart && i < rend) PetscCall(VecSetValue(b, i, (PetscScalar)PetscSinReal(1.0 + i * i), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(Solve(A, b, x, PCJACOBI, -1, &jacobi));
  for (PetscInt q = 0; q < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(expected); ++q) {
    char what[64];

    PetscCall(Solve(A, b, x, "tns", q, &its));
    value = its;
    PetscCall(PetscSNPrintf(what, sizeof(what), "cg, degree %" PetscInt_FMT ", %" PetscInt_FMT " iterations within one", q, expected[q]));
    PetscCall(Report(what, (PetscBool)(PetscAbsInt(its - expected[q]) <= 1), value));
    if (!q) PetscCall(Report("as many as with jacobi", (PetscBool)(its == jacobi), value));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A tridiagonal matrix that the preconditioner cannot use; rows 8 and 9 of 10 are the bad ones */
static PetscErrorCode CreateBad(const char kind[], Mat *A)
{
  const PetscInt n = 10;
  PetscInt       rstart, rend;
  PetscBool      is, nodiagonal;
  PetscScalar    bad = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(kind, "shell", &is));
  if (is) {
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, NULL, A));
    PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))MultShell));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrcmp(kind, "nonsquare", &is));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, is ? n + 3 : n, 3, NULL, 3, NULL, A));
  PetscCall(PetscStrcmp(kind, "negative", &is));
  if (is) bad = -2.0;
  PetscCall(PetscStrcmp(kind, "nan", &is));
  if (is) bad = NAN;
  PetscCall(PetscStrcmp(kind, "infinite", &is));
  if (is) bad = INFINITY;
  PetscCall(PetscStrcmp(kind, "tiny", &is));
  if (is) bad = 1e-310;
  PetscCall(PetscStrcmp(kind, "unassembled", &is));
  if (is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(kind, "missing", &nodiagonal));
  PetscCall(MatGetOwnershipRange(*A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    if (i) PetscCall(MatSetValue(*A, i, i - 1, -1.0, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -1.0, INSERT_VALUES));
    if (i < 8 || !nodiagonal) PetscCall(MatSetValue(*A, i, i, i < 8 ? 2.0 : bad, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each is an error on every process, with a sentence that names the first bad row */
static PetscErrorCode TestBad(void)
{
  static const char *const kinds[] = {"zero", "tiny", "negative", "nan", "infinite", "missing", "shell", "nonsquare", "unassembled", "degree"};
  Mat                      A;
  PC                       pc;
  PetscErrorCode           ierr;
  PetscBool                degree;
  PetscMPIInt              size;
  int                      failed;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); ++k) {
    PetscCall(CreateBad(kinds[k], &A));
    PetscCall(PetscStrcmp(kinds[k], "degree", &degree));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, "tns"));
    PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
    message[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = degree ? SetDegree(pc, -1) : PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    failed = ierr ? 1 : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n  %s\n", kinds[k], failed == size ? "an error on every process" : "NOT AN ERROR EVERYWHERE", message));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A diagonal and an entry beside it that single precision does not have */
static PetscErrorCode TestRange(void)
{
  const PetscScalar large[] = {1e39, 1e-39};
  const PetscInt    n = 10, row = 8;

  PetscFunctionBeginUser;
  for (PetscInt column = row - 1; column <= row; ++column) {
    Mat            A;
    PC             pc;
    PetscErrorCode ierr;
    PetscInt       rstart, rend;
    int            failed;
    PetscMPIInt    size;

    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
    PetscCall(MatSetType(A, MATAIJ));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSeqAIJSetPreallocation(A, 3, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, 3, NULL, 3, NULL));
    PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
    for (PetscInt i = rstart; i < rend; ++i) {
      PetscCall(MatSetValue(A, i, i, i == row && column == row ? large[1] : 2.0, INSERT_VALUES));
      if (i) PetscCall(MatSetValue(A, i, i - 1, i == row && column < row ? large[0] : -1.0, INSERT_VALUES));
      if (i < n - 1) PetscCall(MatSetValue(A, i, i + 1, -1.0, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, "tns"));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
    message[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    failed = ierr ? 1 : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n  %s\n", failed == size ? "an error on every process" : "NOT AN ERROR EVERYWHERE", message));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -pc_tns_precision single: close to the formula but not equal to it, symmetric to rounding in double precision, definite, and it follows new values */
static PetscErrorCode TestSingle(Problem p)
{
  Mat          A;
  PC           pc;
  PetscReal    error, norm, least;
  PetscScalar *dense;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p.N * p.N, &dense));
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, "tns"));
  PetscCall(PCSetFromOptions(pc));
  for (PetscInt q = 0; q < 5; ++q) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " degree %" PetscInt_FMT "\n", q));
    PetscCall(SetDegree(pc, q));
    if (q == 3) {
      p.variant = 1;
      PetscCall(Fill(&p, A));
    }
    PetscCall(GetDense(pc, p.N, PETSC_FALSE, dense));
    PetscCall(CompareDense(dense, &p, &p, q, &error, &norm));
    PetscCall(Report("rounded formula", (PetscBool)(error > 1e-10 && error < 1e-6), error));
    GetDefiniteness(p.N, dense, &error, &least);
    PetscCall(Report("symmetric", (PetscBool)(error < 1e-14), error));
    PetscCall(Report("positive definite", (PetscBool)(least > 1e-12), least));
  }
  PetscCall(PetscFree(dense));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(TestRange());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Problem p = {
    {4, 3, 5},
    60, 1.0, 0
  };
  PetscBool bad = PETSC_FALSE, solve = PETSC_FALSE, single = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bad", &bad, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-solve", &solve, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-single", &single, NULL));
  if (bad) PetscCall(TestBad());
  else if (solve) PetscCall(TestSolve());
  else if (single) PetscCall(TestSingle(p));
  else {
    PetscCall(TestFormula(p));
    p = (Problem){
      {2, 2, 20},
      80, 1e3, 0
    };
    PetscCall(TestFormula(p));
    PetscCall(TestPattern(p));
    PetscCall(TestSaidUnsymmetric(p));
    PetscCall(TestSymmetryLost(p));
    p = (Problem){
      {3, 1, 1},
      3, 10.0, 0
    }; /* on four processes one has no rows */
    PetscCall(TestFormula(p));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   testset:
     output_file: output/tns_formula.out
     test:
       suites: memcheck
       suffix: formula_1
       args: -mat_type {{aij aijdia aijicrs aijhec}}
     test:
       suites: valgrind(+aijdia)
       suffix: formula_2
       nsize: 2
       args: -mat_type {{aij aijdia aijicrs aijhec}}
     test:
       suffix: formula_3
       nsize: 3
       args: -mat_type {{aij aijdia}}
     test:
       suffix: formula_4
       nsize: 4
       args: -mat_type aijdia

   test:
     suffix: formula_full
     nsize: {{1 2}}
     args: -mat_type aijdia -mat_aijdia_symmetric 0
     output_file: output/tns_formula.out

   test:
     suites: valgrind(+1)
     suffix: bad
     nsize: {{1 3}}
     args: -bad

   test:
     suffix: solve
     nsize: {{1 3}}
     args: -solve -mat_type {{aij aijdia}}

   testset:
     args: -solve -pc_tns_precision single
     output_file: output/tns_solve.out
     test:
       suffix: solve_single
       nsize: {{1 3}}
       args: -mat_type {{aij aijdia}}
     test:
       suffix: solve_single_cuda
       requires: cuda
       nsize: {{1 2}}
       args: -mat_type {{aijdia aijcusparse}} -mat_vec_type cuda -use_gpu_aware_mpi 0

   testset:
     args: -single -pc_tns_precision single
     output_file: output/tns_single.out
     test:
       suffix: single
       nsize: {{1 3}}
       args: -mat_type {{aij aijdia}}
     test:
       suffix: single_full
       args: -mat_type aijdia -mat_aijdia_symmetric 0
     test:
       suffix: single_cuda
       requires: cuda
       nsize: {{1 2}}
       args: -mat_type {{aijdia aijhec aijcusparse}} -mat_vec_type cuda -use_gpu_aware_mpi 0

   testset:
     requires: cuda
     args: -mat_vec_type cuda -use_gpu_aware_mpi 0
     output_file: output/tns_formula.out
     test:
       suffix: formula_cuda
       nsize: {{1 2 3}}
       args: -mat_type {{aijdia aijicrs aijcusparse}}
     test:
       suffix: formula_cuda_full
       args: -mat_type aijdia -mat_aijdia_symmetric 0

   test:
     suffix: solve_cuda
     requires: cuda
     nsize: {{1 2}}
     args: -solve -mat_type {{aijdia aijhec aijcusparse}} -mat_vec_type cuda -use_gpu_aware_mpi 0
     output_file: output/tns_solve.out

   testset:
     args: -solve -view
     filter: grep -E "type: tns|degree [0-9]:|triangles|GPU"
     test:
       suffix: view_aij
       args: -mat_type aij
     test:
       suffix: view_half
       requires: !gpu
       nsize: 3
       args: -mat_type aijdia
     test:
       suffix: view_single
       requires: !gpu !64bit_indices
       args: -mat_type aijdia -pc_tns_precision single
     test:
       suffix: view_cuda
       requires: cuda
       args: -mat_type aijdia -mat_vec_type cuda -pc_tns_precision {{double single}separate output}
     test:
       suffix: view_full
       requires: !gpu
       args: -mat_type aijdia -mat_aijdia_symmetric 0

TEST*/
