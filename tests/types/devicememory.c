static char help[] = "Solvers on an emulated device that has too little memory: an error of memory wherever it ends, and everything can be destroyed.\n\
  -n <nodes in each direction of the grid>\n\n";

#include "core/device.h"
#include <polder.h>

typedef struct {
  Mat       A;
  Vec       b, x;
  KSP       ksp;
  PetscInt  its;
  PetscReal residual;
} System;

/* Of an emulated device: after so many allocations there is no room any more; negative: there is always */
#if defined(POLDER_EMULATED)
PETSC_EXTERN PetscInt PolderEmulatedRoom;
#else
static PetscInt PolderEmulatedRoom;
#endif

/* The 5-point Laplacian, on the host */
static PetscErrorCode CreateLaplacian(PetscInt n, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n * n, n * n, 5, NULL, A));
  for (PetscInt i = 0; i < n * n; ++i) {
    const PetscInt to[4] = {i >= n ? i - n : -1, i % n ? i - 1 : -1, i % n < n - 1 ? i + 1 : -1, i + n < n * n ? i + n : -1};

    PetscCall(MatSetValue(*A, i, i, 4.0, INSERT_VALUES));
    for (int k = 0; k < 4; ++k) {
      if (to[k] >= 0) PetscCall(MatSetValue(*A, i, to[k], -1.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything that a program does with it; what was made when an error ends it is in s */
static PetscErrorCode Solve(Mat host, System *s)
{
  char     type[64] = MATAIJ;
  PetscInt n;
  Vec      r;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(MatGetSize(host, &n, NULL));
  PetscCall(VecCreate(PETSC_COMM_SELF, &s->b));
  PetscCall(VecSetSizes(s->b, n, n));
  PetscCall(VecSetFromOptions(s->b));
  PetscCall(VecDuplicate(s->b, &s->x));
  PetscCall(VecSet(s->b, 1.0));
  PetscCall(MatConvert(host, type, MAT_INITIAL_MATRIX, &s->A));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &s->ksp));
  PetscCall(KSPSetOperators(s->ksp, s->A, s->A));
  PetscCall(KSPSetTolerances(s->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetErrorIfNotConverged(s->ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(KSPSolve(s->ksp, s->b, s->x));
  PetscCall(KSPGetIterationNumber(s->ksp, &s->its));
  PetscCall(VecDuplicate(s->b, &r));
  PetscCall(MatMult(s->A, s->x, r));
  PetscCall(VecAYPX(r, -1.0, s->b));
  PetscCall(VecNorm(r, NORM_2, &s->residual));
  s->residual /= PetscSqrtReal((PetscReal)n);
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(System *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(MatDestroy(&s->A));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  System         s = {0};
  Mat            host;
  PetscInt       n = 24, failures = 0, other = 0;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(CreateLaplacian(n, &host));
  PetscCall(Solve(host, &s)); // what the library keeps is there now
  PetscCall(Destroy(&s));
  for (PetscInt attempt = 0;; ++attempt) {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    PolderEmulatedRoom = attempt;
    ierr               = Solve(host, &s);
    PolderEmulatedRoom = -1;
    PetscCall(PetscPopErrorHandler());
    if (!ierr) break;
    ++failures;
    other += ierr != PETSC_ERR_MEM;
    PetscCall(Destroy(&s));
  }
  PetscCheck(failures, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There was always room");
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, then %" PetscInt_FMT " iterations to %s\n", other ? "errors of other kinds" : "errors of memory", s.its,
                        s.residual < 1e-7 ? "the solution" : "something else"));
  PetscCall(Destroy(&s));
  PetscCall(MatDestroy(&host));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   # On the emulated device only: to fill a real one would stop the tests beside this one.
   testset:
     requires: gpu !cuda
     leaks: what a function had allocated before the error
     args: -mat_type aijdia
     filter: grep errors

     test:
       suffix: dcg
       args: -ksp_type dcg -pc_type tns -deflation_space subdomain -deflation_grid 24,24 -deflation_boxes 3,3

     test:
       suffix: jacobi
       args: -mat_type {{aijicrs aijhec}} -ksp_type dcg -pc_type jacobi

     test:
       suffix: rrb
       args: -ksp_type dcg -pc_type rrb -pc_rrb_levels 5 -deflation_space none

     test:
       suffix: rrbcg
       args: -ksp_type rrbcg -pc_rrb_levels 5

     test:
       suffix: pamg
       args: -ksp_type dcg -ksp_dcg_flexible -pc_type pamg -pc_pamg_cycle {{v k}separate output} -pc_pamg_coarse_limit 40 -deflation_space none

TEST*/
