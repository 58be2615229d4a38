static char help[] = "What dcg and its deflation space do with operators and vectors that they cannot use.\n\n";

#include "bubbles.h"
#include "vecs.h"

/* Z with one zero column, two equal ones and a combination of others, in all 3 good ones of 6 */
static PetscErrorCode DependentColumns(PolderDeflationSpace space, Mat A)
{
  PetscInt m, M, start, end;
  Mat      Z;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 6, 4, NULL, 4, NULL, &Z));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt k = 3 * i / M;

    PetscCall(MatSetValue(Z, i, k, 1, INSERT_VALUES));                      // 0, 1, 2: thirds of the rows
    if (k == 0) PetscCall(MatSetValue(Z, i, 3, 1, INSERT_VALUES));          // 3: equal to 0
    if (k <= 1) PetscCall(MatSetValue(Z, i, 4, k ? -2 : 5, INSERT_VALUES)); // 4: 5 (0) - 2 (1); 5: zero
  }
  PetscCall(MatAssemblyBegin(Z, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(Z, MAT_FINAL_ASSEMBLY));
  PetscCall(PolderDeflationSpaceSetMatrix(space, Z));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TooManyColumns(PolderDeflationSpace space, Mat A)
{
  PetscInt m, M;
  Mat      Z;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, M + 1, 1, NULL, 1, NULL, &Z));
  PetscCall(MatAssemblyBegin(Z, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(Z, MAT_FINAL_ASSEMBLY));
  PetscCall(PolderDeflationSpaceSetMatrix(space, Z));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A by its product alone */
static PetscErrorCode CreateShell(Mat A, Mat *S)
{
  PetscInt m, M;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, m, M, M, A, S));
  PetscCall(MatShellSetOperation(*S, MATOP_MULT, (void (*)(void))ShellMult));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(KSP ksp, Mat A, Mat P)
{
  Vec                  b, x;
  KSPConvergedReason   reason;
  PetscReal            residual;
  PetscInt             d;
  PolderDeflationSpace space;

  PetscFunctionBegin;
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(CreateVecs(P, &x, &b));
  PetscCall(FillRandom(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCheck(reason < 0 || residual <= 1e-5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Convergence claimed at the true residual %g", (double)residual);
  PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  PetscCall(PolderDeflationSpaceGetSize(space, &d));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s with %" PetscInt_FMT " vectors\n", KSPConvergedReasons[reason], d));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat                  A = NULL, B = NULL;
  Bubbles              bubbles;
  PolderDeflationSpace space;
  KSP                  ksp;
  PetscInt             start;
  char                 what[16] = "";
  PetscBool            is[9];
  static const char   *cases[] = {"dependent", "toomany", "shell", "nan", "size", "nonsquare", "unassembled", "baij", "size_kept"};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-case", what, sizeof(what), NULL));
  for (int i = 0; i < 9; ++i) PetscCall(PetscStrcmp(what, cases[i], &is[i]));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPDCG));
  PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  if (is[0]) PetscCall(DependentColumns(space, A));
  if (is[1]) PetscCall(TooManyColumns(space, A));
  if (is[2]) PetscCall(CreateShell(A, &B));
  if (is[3]) {
    if (!start) PetscCall(MatSetValue(A, 0, 0, NAN, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  if (is[4] || is[8]) { // another size after a solve: after KSPReset() all is made anew
    PetscCall(Solve(ksp, A, A));
    if (is[4]) PetscCall(KSPReset(ksp));
    PetscCall(MatDestroy(&A));
    bubbles.n += 3;
    PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  }
  if (is[5]) {
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 20, 30, 1, NULL, 1, NULL, &B));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(PolderDeflationSpaceSetUp(space, B));
  }
  if (is[6]) {
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 20, 20, 1, NULL, 1, NULL, &B));
    PetscCall(PolderDeflationSpaceSetUp(space, B));
  }
  if (is[7]) PetscCall(MatConvert(A, MATBAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(Solve(ksp, B ? B : A, is[7] ? B : A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    args: -n 9 -pc_type jacobi -dirichlet
    test:
      suites: valgrind(+3)
      suffix: dependent
      args: -case dependent
    test:
      suites: valgrind(+3)
      suffix: shell
      args: -case shell
    test:
      suites: valgrind(+3)
      suffix: shell_floor
      args: -case shell -ksp_rtol 1e-17
    test:
      suites: valgrind(+3)
      suffix: baij
      args: -case baij -deflation_space subdomain -deflation_grid 9,9,9 -deflation_boxes 2,2,2
    test:
      suites: valgrind(+3)
      suffix: size
      args: -case size -radius 0.2 -deflation_space levelset -deflation_levelset auto
    test:
      suites: valgrind(+3)
      suffix: size_kept
      args: -case size_kept -deflation_space levelset -deflation_levelset auto
      fails: Cannot change local size of Amat after use
    test:
      suites: valgrind(+3)
      suffix: toomany
      args: -case toomany
      fails: There are more deflation vectors (730) than rows (729)
    test:
      suites: valgrind(+3)
      suffix: shell_asked
      args: -case shell -deflation_space rank
      fails: Deflation needs the entries of the matrix and this one is matrix-free
    test:
      suites: valgrind(+3)
      suffix: nan
      args: -case nan -deflation_space rank -ksp_error_if_not_converged
      fails: is infinite or not a number: check the entries of the system matrix
    test:
      suffix: nan_deflated
      args: -case nan -deflation_space rank -deflation_coarse {{cholesky inverse ksp}}
      filter: grep -o -e DIVERGED_[A-Z]*
    test:
      suites: valgrind(+3)
      suffix: nan_solve
      args: -case nan -deflation_space none
    test:
      suites: valgrind(+3)
      suffix: nonsquare
      args: -case nonsquare
      fails: Deflation needs a square matrix, this one has 20 rows and 30 columns
    test:
      suites: valgrind(+3)
      suffix: unassembled
      args: -case unassembled
      fails: Deflation needs an assembled matrix

  test:
    suffix: tiny
    nsize: {{1 2 4}}
    args: -dim 2 -n 1 -k 0 -dirichlet -pc_type {{jacobi tns}}

  test:
    suffix: emptyranks
    nsize: 4
    args: -dim 2 -n 2 -k 0 -dirichlet -inside 1 -pc_type tns -deflation_space rank -mat_type {{aij aijdia}}

  test:
    suffix: misspelt
    args: -n 5 -dirichlet -deflation_spaec none -options_left
    requires: !gpu
    filter: grep -o "deflation_spaec" | sort -u

TEST*/
