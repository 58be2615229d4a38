static char help[] = "Nested restricted additive Schwarz: rows that are joined to all others, and slices that are stored row after row.\n\n";

#include "nras/nras.h"
#include "runner.h"

/* Points of the grid of a process in either direction, and how many of them are joined to all others */
#define SIDE 40
#define HUBS 2

/* Five points with convection; variant: other values in the same pattern */
static PetscErrorCode FillHubs(Mat A, PetscInt variant)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt x = (i - start) % SIDE, y = (i - start) / SIDE;

    for (PetscInt h = 0; h < HUBS; ++h) {
      const PetscInt hub = start + SIDE * SIDE / 2 + 37 * h;

      PetscCall(MatSetValue(A, hub, i, -1e-3 * (1 + Hash(hub, i, variant)), INSERT_VALUES));
      PetscCall(MatSetValue(A, i, hub, -1e-3 * (1 + Hash(i, hub, variant)), INSERT_VALUES));
    }
    if (x > 0) PetscCall(MatSetValue(A, i, i - 1, -1.3, INSERT_VALUES));
    if (x < SIDE - 1) PetscCall(MatSetValue(A, i, i + 1, -0.7, INSERT_VALUES));
    if (y > 0) PetscCall(MatSetValue(A, i, i - SIDE, -1.1, INSERT_VALUES));
    if (y < SIDE - 1) PetscCall(MatSetValue(A, i, i + SIDE, -0.9, INSERT_VALUES));
  }
  for (PetscInt i = start; i < end; ++i) {
    PetscScalar diagonal = 4.01;

    for (PetscInt h = 0; h < HUBS; ++h) diagonal += i == start + SIDE * SIDE / 2 + 37 * h ? 2e-3 * SIDE * SIDE : 0;
    PetscCall(MatSetValue(A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateHubs(Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(SIDE * SIDE, PETSC_DECIDE, A));
  PetscCall(FillHubs(*A, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both have the same result */
static PetscErrorCode Same(Mat A, const char what[], const char first[], const char second[], PetscReal tol)
{
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(DifferenceOf(A, first, second, &difference));
  PetscCall(Report(what, (PetscBool)(difference < tol), difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolves(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateHubs(&A));
  PetscCall(Same(A, "the factors of PETSc", "-pc_type bjacobi", "-pc_type nras -pc_nras_blocks 1", 1e-13));
  PetscCall(Same(A, "single precision", "-pc_type bjacobi", "-pc_type nras -pc_nras_blocks 1 -pc_nras_precision single", 1e-6));
  PetscCall(Same(A, "sweeps", "-pc_type nras -pc_nras_blocks 3", "-pc_type nras -pc_nras_blocks 3 -pc_nras_solve jacobi -pc_nras_sweeps 300", 1e-13));
  PetscCall(Same(A, "nothing to drop", "-pc_type nras -pc_nras_blocks 3", "-pc_type nras -pc_nras_blocks 3 -pc_nras_droptol 1e-300", 1e-15));
  PetscCall(Same(A, "dropped entries", "-pc_type nras -pc_nras_blocks 3 -pc_nras_droptol 0.002",
                 "-pc_type nras -pc_nras_blocks 3 -pc_nras_droptol 0.002 -pc_nras_solve jacobi -pc_nras_sweeps 300", 1e-13));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestChanges(void)
{
  static const char *const drops[] = {"0", "0.002"};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    Mat  A;
    PC   pc;
    char options[128];

    PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type nras -pc_nras_blocks 2 -pc_nras_droptol %s", drops[k]));
    PetscCall(CreateHubs(&A));
    PetscCall(CreatePC(A, options, &pc));
    PetscCall(FillHubs(A, 1));
    PetscCall(ReportNewValues(A, options, pc));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How much slices add to the entries, with all of them and with what dropping leaves */
static PetscErrorCode TestView(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateHubs(&A));
  for (int drop = 0; drop < 2; ++drop) {
    PetscCall(CreatePC(A, drop ? "-pc_type nras -pc_nras_droptol 0.002 -pc_nras_blocks 1" : "-pc_type nras -pc_nras_blocks 1", &pc));
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-solves",  TestSolves },
    {"-changes", TestChanges},
    {"-look",    TestView   }
  };

  return RunProgram(argc, argv, help, NULL, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

   testset:
     nsize: {{1 2 3}}
     args: -solves -changes
     output_file: output/nrasdense_all.out
     test:
       suffix: all
       args: -mat_type {{aij aijicrs}}
     test:
       suffix: cuda
       requires: cuda
       args: -mat_type {{aijdia aijcusparse}} -vec_type cuda -use_gpu_aware_mpi 0

   test:
     suffix: valgrind
     suites: valgrind
     args: -changes
     output_file: output/nrasdense_valgrind.out

   test:
     suffix: view
     requires: !gpu !64bit_indices
     args: -look -mat_type aij
     filter: grep -E "stored|dropped|levels of"

TEST*/
