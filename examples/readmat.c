static char help[] = "Compares solvers on a system from files.\n"
                     "  -A <file> : matrix, PETSc binary or Matrix Market (coordinate, real|integer|pattern, general|symmetric)\n"
                     "  -b <file> : right-hand side, PETSc binary or Matrix Market array; default: A times a random vector\n"
                     "  -levelset <file> : vector, positive in the inclusions; -labels <file> : vector or index set, one deflation vector for each number\n"
                     "  -grid <nx,ny,nz> : the rows are the points of a grid in natural order, x fastest\n"
                     "  -solvers <file> : lines 'name: options', -mat_type among them; default: a choice that depends on the symmetry of A\n"
                     "  -solver <n> : runs only this line of the comparison; -rtol <t> : relative to the norm of b; -timings <bool>\n\n";

/*
  For instance, with the matrix of another example:

    ./bubbles -dim 2 -n 64 -bubbles 16 -write /tmp/bub -ksp_max_it 1
    ./readmat -A /tmp/bub_A -b /tmp/bub_b -levelset /tmp/bub_levelset

  Solver k of the comparison has the prefix s<k>_, so that -s1_ksp_monitor or -s3_ksp_view act on one of them. This program is linked with the
  library, so that it needs no -dll_append.
*/

#include "readmat/readmat.h"

/* Names the options that nothing has read: misspelt ones, and those of solvers without a prefix. -options_left no keeps it quiet */
static PetscErrorCode TellUnread(void)
{
  char    **names, **values;
  PetscInt  n;
  PetscBool tell = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-options_left", &tell, NULL));
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt k = 0; tell && k < n; ++k) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Nothing has read the option -%s\n", names[k]));
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  App      app  = {.timings = PETSC_TRUE, .rtol = 1e-6};
  PetscInt only = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &app.rtol, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-timings", &app.timings, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solver", &only, NULL));
  PetscCall(ReadSystem(&app));
  PetscCall(GetSolvers(&app));
  PetscCheck(only >= 0 && only <= app.n, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-solver %" PetscInt_FMT ": there are %" PetscInt_FMT " solvers", only, app.n);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-20s %-24s %6s %9s %7s%s\n", "solver", "reason", "its", "true res", "vectors",
                        app.timings ? "   set-up s    solve s" : ""));
  for (PetscInt k = 0; k < app.n; ++k) {
    if (!only || only == k + 1) PetscCall(RunSolver(&app, k, (PetscBool)(only > 0)));
  }
  PetscCall(TellUnread());
  for (PetscInt k = 0; k < app.n; ++k) {
    PetscCall(PetscFree(app.solver[k].name));
    PetscCall(PetscFree(app.solver[k].options));
  }
  PetscCall(VecDestroy(&app.x));
  PetscCall(VecDestroy(&app.r));
  PetscCall(VecDestroy(&app.b));
  PetscCall(MatDestroy(&app.A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    load: no
    args: -timings false

    test:
      suffix: mm
      nsize: {{1 2}}
      leaks: a solver that stopped with an error
      args: -A ${POLDER_TESTS}/data/laplacian.mtx -b ${POLDER_TESTS}/data/rhs.mtx -solvers ${POLDER_TESTS}/data/solvers.txt
      filter: sed -E -e "s/ [0-9][.][0-9]+e-[0-9]+/ residual/" -e "s/an error: .+/an error/"

    test:
      suffix: general
      requires: !gpu
      args: -A ${POLDER_TESTS}/data/general.mtx
      filter: awk "{print \$1, \$2, substr(\$3, 1, 9)}"

    test:
      suffix: pattern
      args: -A ${POLDER_TESTS}/data/pattern.mtx -solver 1
      filter: awk "{print \$1, \$2, \$3}"

    test:
      suites: valgrind(+2)
      suffix: labels
      nsize: {{1 2}}
      args: -A ${POLDER_TESTS}/data/laplacian.mtx -labels ${POLDER_TESTS}/data/labels.mtx -solver 6 -s6_deflation_space user
      filter: awk "{print \$1, \$2, \$3, \$6}"

    test:
      suffix: typed
      nsize: {{1 2}}
      requires: !gpu
      args: -A ${POLDER_TESTS}/data/laplacian.mtx -solver 1 -s1_mat_type aijicrs -s1_ksp_view
      filter: grep -o "type: .*aijicrs" | sed "s/seq\\|mpi//"

    test:
      suffix: unread
      nsize: {{1 2}}
      requires: !gpu
      args: -A ${POLDER_TESTS}/data/laplacian.mtx -solver 1 -s1_pc_jacobi_tipe rowmax -pc_type tns
      filter: grep "Nothing has read"

    test:
      suffix: short
      nsize: 2
      args: -A ${POLDER_TESTS}/data/short.mtx
      fails: short.mtx is damaged: it promises 83 entries and ends after 81

    test:
      suffix: index
      nsize: 2
      args: -A ${POLDER_TESTS}/data/index.mtx
      fails: an index lies outside the matrix

    test:
      suffix: word
      args: -A ${POLDER_TESTS}/data/word.mtx
      fails: line 5: not two integers and a finite number

    test:
      suffix: rectangular
      args: -A ${POLDER_TESTS}/data/rectangular.mtx
      fails: solvers need a square one

    test:
      suffix: complex
      args: -A ${POLDER_TESTS}/data/complex.mtx
      fails: use matrix coordinate real|integer|pattern general|symmetric

    test:
      suffix: kind
      args: -A ${POLDER_TESTS}/data/solvers.txt
      fails: is neither a PETSc binary file nor a Matrix Market file

    test:
      suffix: missing
      nsize: 2
      args: -A no_such_file
      fails: Cannot open no_such_file: give the path of a file that exists

TEST*/
