static char help[] = "Input that the repeated red-black preconditioner refuses.\n\n";

#include <polder.h>
#include <petscdmda.h>
#include <petsc/private/petscimpl.h>
#include "core/compat.h"
#include "message.h"

/* What is wrong, or which option */
typedef enum {
  ZERO,
  MISSING,
  NEGATIVE,
  NOTANUMBER,
  LONELY_NEGATIVE, /* negative definite */
  UNSYMMETRIC,
  NORTHWEST, /* a 5-point matrix with one more entry, to the north-west or north-east */
  NORTHEAST,
  DEFICIT,
  POSITIVE,
  SPACE,
  IRREGULAR,
  GRID_SIZE,
  GRID_OTHER,
  DM_PERIODIC,
  DM_SPACE,
  DM_DOF,
  DM_SIZE,
  SHELL,
  NONSQUARE,
  LARGE_REST,
  LEVELS,
  OMEGA,
  SINGLE,
  NBAD
} Bad;
static const char *const names[] = {"zero diagonal",
                                    "missing diagonal",
                                    "negative diagonal",
                                    "not a number",
                                    "negative definite",
                                    "not symmetric",
                                    "a coupling to the north-west in one row only",
                                    "a coupling to the north-east in one row only",
                                    "rows that add up to less than zero",
                                    "positive couplings",
                                    "3-D stencil",
                                    "irregular matrix",
                                    "grid of another size",
                                    "another grid",
                                    "periodic DMDA",
                                    "3-D DMDA",
                                    "DMDA of two unknowns",
                                    "DMDA of another size",
                                    "shell matrix",
                                    "not square",
                                    "large rest",
                                    "levels",
                                    "omega",
                                    "single precision"};

/* Poisson on 12 by 10 nodes, row 50 of which is spoilt */
static PetscErrorCode CreateBad(Bad bad, Mat *A)
{
  const PetscInt nx = bad == LARGE_REST ? 1100 : 12, ny = bad == LARGE_REST ? 1000 : 10, N = nx * ny, row = 50;
  PetscInt       start, end;
  char           type[64] = MATAIJ;

  PetscFunctionBeginUser;
  if (bad == SHELL) {
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, N, NULL, A));
    PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))MultShell));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, bad == NONSQUARE ? N + 1 : N, 12, NULL, 12, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt x = i % nx, y = i / nx,
                   next[] = {x ? i - 1 : -1,
                             x < nx - 1 ? i + 1 : -1,
                             y ? i - nx : -1,
                             y < ny - 1 ? i + nx : -1,
                             bad == SPACE && i >= 36 ? i - 36 : -1,
                             bad == SPACE && i < N - 36 ? i + 36 : -1};
    const PetscScalar scale    = bad == SINGLE ? 1e-60 : 1;
    PetscScalar       diagonal = bad == SPACE ? 6 : bad == DEFICIT ? 3.5 : 4;

    for (int k = 0; k < 6; ++k) {
      PetscScalar value = bad == POSITIVE && k < 2 ? 1.9 : -1;

      if (next[k] < 0) continue;
      if (bad == UNSYMMETRIC && i == row) value = 0;
      if (bad == LONELY_NEGATIVE) value = 1;
      if (bad == NOTANUMBER && i == row && k == 2) value = NAN;
      PetscCall(MatSetValue(*A, i, next[k], scale * value, INSERT_VALUES));
    }
    if (bad == IRREGULAR) PetscCall(MatSetValue(*A, i, (i * 37) % N, -0.1, INSERT_VALUES));
    if (i == row && (bad == NORTHWEST || bad == NORTHEAST)) PetscCall(MatSetValue(*A, i, i + nx + (bad == NORTHEAST ? 1 : -1), -0.1, INSERT_VALUES));
    if (i == row && bad == ZERO) diagonal = 0;
    if ((i == row && bad == NEGATIVE) || bad == LONELY_NEGATIVE) diagonal = -4;
    if (i != row || bad != MISSING) PetscCall(MatSetValue(*A, i, i, scale * diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetDM(Bad bad, PC pc)
{
  const DMBoundaryType type = bad == DM_PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  DM                   dm;

  PetscFunctionBeginUser;
  if (bad < DM_PERIODIC || bad > DM_SIZE) PetscFunctionReturn(PETSC_SUCCESS);
  if (bad == DM_SPACE)
    PetscCall(
      DMDACreate3d(PETSC_COMM_WORLD, type, type, type, DMDA_STENCIL_STAR, 4, 3, 10, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &dm));
  else
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, type, type, DMDA_STENCIL_STAR, bad == DM_SIZE ? 13 : 12, bad == DM_DOF ? 5 : 10, PETSC_DECIDE, PETSC_DECIDE,
                           bad == DM_DOF ? 2 : 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(PCSetDM(pc, dm));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetBad(Bad bad, PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(SetDM(bad, pc));
  if (bad == NORTHWEST) PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, 12, 10)); // its diagonals are those of no grid
  if (bad == GRID_SIZE) PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, 13, 10));
  if (bad == GRID_OTHER) PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, 10, 12));
  if (bad == LARGE_REST) PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, 0));
  if (bad == LEVELS) PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, -7));
  if (bad == OMEGA) PetscTryMethod(pc, "PCRRBSetOmega_C", (PC, PetscReal), (pc, 1.5));
  if (bad == SINGLE) PetscTryMethod(pc, "PCRRBSetSinglePrecision_C", (PC, PetscBool), (pc, PETSC_TRUE));
  if (bad == POSITIVE || bad == DEFICIT || bad == SINGLE) PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, 4));
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat            A;
  PC             pc;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PETSC_STDERR = fopen("/dev/null", "w"); // the warnings of set-ups that fail
  for (int bad = 0; bad < NBAD; ++bad) {
    char failed[64] = "";

    PetscCall(CreateBad((Bad)bad, &A));
    for (int error = 0; error < 2; ++error) {
      PCFailedReason reason;

      PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
      PetscCall(PCSetErrorIfFailure(pc, (PetscBool)error));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetType(pc, PCRRB));
      PetscCall(PCSetFromOptions(pc));
      message[0] = 0;
      PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
      ierr = SetBad((Bad)bad, pc);
      PetscCall(PetscPopErrorHandler());
      PetscCall(PCGetFailedReason(pc, &reason));
      if (!error && !ierr) PetscCall(PetscSNPrintf(failed, sizeof(failed), "[%s] ", PCFailedReasons[reason]));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(PrintMessage(names[bad], ierr, failed));
    PetscCall(MatDestroy(&A));
  }
  fclose(PETSC_STDERR);
  PETSC_STDERR = stderr;
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     suffix: bad
     nsize: {{1 3}}
     args: -pc_rrb_latency {{0 4000}} -mat_type {{aij aijdia}}

TEST*/
