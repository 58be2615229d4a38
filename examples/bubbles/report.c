/* The output of bubbles.c */
#include "bubbles.h"

static PetscErrorCode WriteObject(const char prefix[], const char suffix[], PetscObject obj)
{
  PetscViewer viewer;
  char        file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  if (!obj) PetscFunctionReturn(0);
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s_%s", prefix, suffix));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscObjectView(obj, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

/* -write prefix: prefix_A, prefix_b, prefix_x0 and prefix_levelset in PETSc's binary format, in the natural numbering */
PetscErrorCode WriteSystem(Mat A, Vec x, Vec b, Vec ls)
{
  char      prefix[PETSC_MAX_PATH_LEN];
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-write", prefix, sizeof(prefix), &set));
  if (!set) PetscFunctionReturn(0);
  PetscCall(WriteObject(prefix, "A", (PetscObject)A));
  PetscCall(WriteObject(prefix, "b", (PetscObject)b));
  PetscCall(WriteObject(prefix, "x0", (PetscObject)x));
  PetscCall(WriteObject(prefix, "levelset", (PetscObject)ls));
  PetscFunctionReturn(0);
}

/* Prints one line for each solve; -check_iterations and -check_residual turn a figure outside its bounds into an error */
PetscErrorCode Report(Mat A, Vec b, Vec x, KSP ksp, PetscInt step, PetscInt nsteps, const PetscLogDouble t[3])
{
  Vec                r;
  PetscReal          nb, nr, bound;
  PetscInt           its, range[2] = {0, 0}, two = 2;
  KSPConvergedReason reason;
  PetscBool          timings = PETSC_FALSE, set;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(b, NORM_2, &nb));
  PetscCall(VecNorm(r, NORM_2, &nr));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  if (nsteps > 1) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "step %" PetscInt_FMT ": ", step));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s iterations %" PetscInt_FMT " true residual %.2e\n", KSPConvergedReasons[reason], its, (double)(nr / nb)));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-timings", &timings, NULL));
  if (timings) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set-up %.4f s solve %.4f s norm of b %.6e\n", t[1] - t[0], t[2] - t[1], (double)nb));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-check_iterations", range, &two, &set));
  if (set) {
    PetscCheck(two == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-check_iterations takes two numbers: low,high");
    PetscCheck(its >= range[0] && its <= range[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " iterations are not within %" PetscInt_FMT " to %" PetscInt_FMT, its, range[0], range[1]);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations within %" PetscInt_FMT " to %" PetscInt_FMT "\n", range[0], range[1]));
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-check_residual", &bound, &set));
  if (set) {
    PetscCheck(nr <= bound * nb, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "True residual %g is above %g", (double)(nr / nb), (double)bound);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "true residual below %g\n", (double)bound));
  }
  PetscFunctionReturn(0);
}
