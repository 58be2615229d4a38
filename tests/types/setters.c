static char help[] = "Every setter of the public interface does what its option does; spaces follow what is changed after a set-up.\n\n";

#include "bubbles.h"
#include "vecs.h"

typedef enum {
  SUBDOMAIN,
  STRIPE,
  PARTITION,
  MATRIX,
  NUM_KINDS
} Kind;
static const char *const options[] = {"-o_deflation_space subdomain -o_deflation_grid 12,12,12 -o_deflation_boxes 2,3,2",
                                      "-o_deflation_space stripe -o_deflation_grid 12,12,12 -o_deflation_count 9",
                                      "-o_deflation_space partition -o_deflation_count 8", "-o_deflation_space user"};

/* Three vectors: thirds of the rows */
static PetscErrorCode MakeZ(Mat A, Mat *Z)
{
  PetscInt m, M, start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 3, 1, NULL, 1, NULL, Z));
  for (PetscInt i = start; i < end; ++i) PetscCall(MatSetValue(*Z, i, 3 * i / M, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*Z, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*Z, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetByCalls(PolderDeflationSpace space, Kind kind, Mat Z)
{
  const PetscInt           grid[] = {12, 12, 12}, boxes[] = {2, 3, 2};
  PolderDeflationSpaceType type;
  PetscBool                same;

  PetscFunctionBeginUser;
  PetscCall(PolderDeflationSpaceSetGrid(space, 3, grid));
  PetscCall(PolderDeflationSpaceSetBoxes(space, 3, boxes));
  PetscCall(PolderDeflationSpaceSetCount(space, kind == STRIPE ? 9 : 8));
  if (kind == MATRIX) PetscCall(PolderDeflationSpaceSetMatrix(space, Z));
  else
    PetscCall(
      PolderDeflationSpaceSetType(space, kind == SUBDOMAIN ? POLDERDEFLATIONSUBDOMAIN : (kind == STRIPE ? POLDERDEFLATIONSTRIPE : POLDERDEFLATIONPARTITION)));
  PetscCall(PolderDeflationSpaceGetType(space, &type));
  PetscCall(PetscStrcmp(type, POLDERDEFLATIONUSER, &same));
  PetscCheck(same == (PetscBool)(kind == MATRIX), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The type is %s", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All vectors of two spaces agree, and so does what they do to a random vector */
static PetscErrorCode Compare(PolderDeflationSpace a, PolderDeflationSpace b, Mat A, PetscInt expected)
{
  Vec       x, y;
  PetscReal norm;
  PetscInt  da, db;

  PetscFunctionBeginUser;
  PetscCall(PolderDeflationSpaceGetSize(a, &da));
  PetscCall(PolderDeflationSpaceGetSize(b, &db));
  PetscCheck(da == expected && db == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " vectors by options, %" PetscInt_FMT " by calls, expected %" PetscInt_FMT, da, db, expected);
  PetscCall(CreateVecs(A, &x, &y));
  for (PetscInt k = 0; k <= da; ++k) {
    if (k < da) {
      PetscCall(PolderDeflationSpaceGetVector(a, k, x));
      PetscCall(PolderDeflationSpaceGetVector(b, k, y));
    } else {
      PetscCall(FillRandom(x, 4));
      PetscCall(VecCopy(x, y));
      PetscCall(PolderDeflationSpaceApplyP(a, x));
      PetscCall(PolderDeflationSpaceApplyP(b, y));
    }
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCheck(norm > 0.5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Vector %" PetscInt_FMT " is not there", k);
    PetscCall(VecAXPY(y, -1, x));
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCheck(norm <= 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Vector %" PetscInt_FMT " differs by %g", k, (double)norm);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckKind(Mat A, Kind kind)
{
  static const PetscInt expected[] = {12, 9, 8, 3};
  PolderDeflationSpace  byoption, bycall;
  Mat                   Z;

  PetscFunctionBeginUser;
  PetscCall(MakeZ(A, &Z));
  PetscCall(PetscObjectCompose((PetscObject)A, "deflation_matrix", (PetscObject)Z));
  PetscCall(PetscOptionsInsertString(NULL, options[kind]));
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_WORLD, &byoption));
  PetscCall(PolderDeflationSpaceSetOptionsPrefix(byoption, "o_"));
  PetscCall(PolderDeflationSpaceSetFromOptions(byoption));
  PetscCall(PolderDeflationSpaceSetUp(byoption, A));
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_WORLD, &bycall));
  PetscCall(SetByCalls(bycall, kind, Z));
  PetscCall(PolderDeflationSpaceSetUp(bycall, A));
  PetscCall(Compare(byoption, bycall, A, expected[kind]));
  PetscCall(PolderDeflationSpaceView(bycall, PETSC_VIEWER_STDOUT_WORLD));
  /* the same vectors with every coarse solver, changed after the set-up */
  PetscCall(PetscOptionsInsertString(NULL, "-o_deflation_coarse ksp -o_deflation_coarse_ksp_rtol 1e-14"));
  PetscCall(PolderDeflationSpaceSetFromOptions(byoption));
  PetscCall(PolderDeflationSpaceSetUp(byoption, A));
  PetscCall(Compare(byoption, bycall, A, expected[kind]));
  PetscCall(PetscOptionsInsertString(NULL, "-o_deflation_coarse inverse"));
  PetscCall(PolderDeflationSpaceSetFromOptions(byoption));
  PetscCall(PolderDeflationSpaceSetUp(byoption, A));
  PetscCall(Compare(byoption, bycall, A, expected[kind]));
  PetscCall(PetscOptionsClearValue(NULL, "-o_deflation_coarse"));
  PetscCall(PolderDeflationSpaceDestroy(&byoption));
  PetscCall(PolderDeflationSpaceDestroy(&bycall));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The flexible form by its setter: as many iterations as with its option, and not those of the plain form when the preconditioner varies */
static PetscErrorCode CheckFlexible(Mat A)
{
  KSP                  ksp;
  Vec                  x, b;
  PetscInt             its[3];
  KSPConvergedReason   reason;
  PolderDeflationSpace space;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-f_pc_type ksp -f_ksp_ksp_type cg -f_ksp_ksp_rtol 1e-1 -f_ksp_pc_type jacobi"));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(x, 2));
  PetscCall(MatMult(A, x, b));
  for (int k = 0; k < 3; ++k) { /* plain, by call, by option */
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOptionsPrefix(ksp, "f_"));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPDCG));
    PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
    PetscCall(PolderDeflationSpaceSetType(space, POLDERDEFLATIONNONE));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 1000));
    if (k == 1) PetscCall(KSPDCGSetFlexible(ksp, PETSC_TRUE));
    if (k == 2) PetscCall(PetscOptionsSetValue(NULL, "-f_ksp_dcg_flexible", NULL));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCheck(k == 0 || reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The flexible form ends with %s", KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCheck(its[1] == its[2] && its[1] < its[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "Iterations: %" PetscInt_FMT " plain, %" PetscInt_FMT " flexible by call, %" PetscInt_FMT " by option", its[0], its[1], its[2]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver with an options database of its own takes the options of its space from there */
static PetscErrorCode CheckOwnOptions(Mat A, PetscBool levelset)
{
  PetscOptions             options;
  KSP                      ksp;
  PC                       pc;
  PolderDeflationSpace     space;
  PolderDeflationSpaceType type;
  PetscBool                same;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, "-deflation_space none"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectSetOptions(levelset ? (PetscObject)pc : (PetscObject)ksp, options));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, levelset ? KSPCG : KSPDCG));
  PetscCall(PCSetType(pc, levelset ? PCLEVELSET : PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  if (levelset) PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  else PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  PetscCall(PolderDeflationSpaceGetType(space, &type));
  PetscCall(PetscStrcmp(type, POLDERDEFLATIONNONE, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The space is %s", type);
  PetscCall(PetscObjectSetOptions(levelset ? (PetscObject)pc : (PetscObject)ksp, NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat     A = NULL;
  Bubbles bubbles;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  for (Kind kind = SUBDOMAIN; kind < NUM_KINDS; ++kind) PetscCall(CheckKind(A, kind));
  PetscCall(CheckFlexible(A));
  for (int levelset = 0; levelset < 2; ++levelset) PetscCall(CheckOwnOptions(A, (PetscBool)levelset));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "setters and options agree\n"));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suites: valgrind(+1)
    nsize: {{1 2}}
    args: -n 12 -dirichlet
    filter: grep -e "vectors:" -e agree | cut -d ";" -f 1,2

TEST*/
