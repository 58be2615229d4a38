static char help[] = "Pressure of a bubbly flow or a layered medium: -div(k grad u) = f with a coefficient k that jumps.\n"
                     "  -problem P1..P7 : one of the test problems of Gupta (2015); any option below overrides its part of the preset\n"
                     "     P1 and P6 are guesses near its counts; P7 has cubic elements, -lengths 1,1,1 makes it the unit cube (for icc, not for tns)\n"
                     "  -size <n> : scales the preset (cells in each direction; P7: elements in each direction of a layer)\n"
                     "The geometry:\n"
                     "  -dim 2|3, -n <nx,ny,nz>, -lengths <lx,ly,lz>, -bc <neumann|dirichlet|periodic, one or one a face: x-,x+,y-,y+,z-,z+>\n"
                     "  -bubbles <n>, -placement lattice|random, -bubbles_centre_extra, -radius <one or one a bubble>, -centers <x,y,z,...>\n"
                     "  -layers <coefficients, the lowest first>, -layers_thickness <shares>, -coefficient <k outside>, -contrast <inside over outside>\n"
                     "  -discretisation fv|fe : cell-centred finite volumes, or multilinear elements with the unknowns in the nodes\n"
                     "The system:\n"
                     "  -global_numbering dmda|natural, -rhs smooth|random|image, -guess zero|random, -r0_ratio <|r0|/|b| for random b>, -seed <n>\n"
                     "  -nullspace <bool>, -compose_levelset <bool>, -levelset_outside (positive there), -steps <n>, -step_shift <share>\n"
                     "What is reported:\n"
                     "  -timings, -write <prefix>, -check_iterations <low,high>, -check_residual <bound>\n\n";

/*
  An ordinary PETSc program: it knows nothing of Polder and gets its solvers by options. For instance the nine bubbles of Gupta (2015), 64^3:

    ./bubbles -problem P5 -size 64 -ksp_type cg -pc_type gamg
    ./bubbles -problem P5 -size 64 -dll_append /path/libpolder.so -ksp_type dcg -pc_type tns
    mpiexec -n 4 ./bubbles -dim 2 -n 512 -bubbles 16 -contrast 1e6 -dll_append /path/libpolder.so -ksp_type dcg -pc_type tns

  Random numbers are a hash of the natural index of the cell, so that the system does not depend on the number of processes.
  The line that it prints gives the true residual |b - A x| / |b|, which it computes from the solution.
*/

#include "bubbles/bubbles.h"

int main(int argc, char **argv)
{
  Problem       *p;
  Mat            A;
  Vec            x, b, ls = NULL;
  KSP            ksp;
  PetscInt       nsteps = 1;
  PetscReal      shift  = 0.01;
  PetscLogDouble t[3];

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&p));
  PetscCall(ProblemGetOptions(p));
  PetscCall(ProblemCreateGrid(p));
  PetscCall(ProblemCreateMatrix(p, &A));
  PetscCall(ProblemFillMatrix(p, A));
  PetscCall(ProblemCreateVector(p, A, "x", &x));
  PetscCall(ProblemCreateVector(p, A, "b", &b));
  PetscCall(ProblemFillVectors(p, A, x, b));
  PetscCall(ProblemComposeLevelSet(p, A, &ls));
  PetscCall(WriteSystem(A, x, b, ls));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 50000));
  if (p->guess == GUESS_RANDOM) PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &nsteps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-step_shift", &shift, NULL));
  for (PetscInt step = 1; step <= nsteps; ++step) {
    if (step > 1) { /* the bubbles rise, and the last solution is the initial guess */
      for (PetscInt i = 0; i < p->nb; ++i) p->centre[i][p->dim - 1] += shift * p->length[p->dim - 1];
      PetscCall(ProblemFillMatrix(p, A));
      PetscCall(ProblemComposeLevelSet(p, A, &ls));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    }
    PetscCall(PetscTime(&t[0]));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPSetUpOnBlocks(ksp));
    PetscCall(PetscTime(&t[1]));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(PetscTime(&t[2]));
    PetscCall(Report(A, b, x, ksp, step, nsteps, t));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&ls));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p->dm));
  PetscCall(PetscFree(p));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    load: no
    args: -check_residual 1.1e-6 -ksp_type cg -pc_type bjacobi -sub_pc_type icc
    filter: grep below
    output_file: output/bubbles_presets.out

    test:
      suffix: presets
      args: -size 12 -problem {{P1 P2 P3 P4 P5 P6}}

    test:
      suffix: porous
      nsize: 2
      args: -problem P7 -size 3

    test:
      suffix: natural
      nsize: 3
      args: -problem P6 -size 9 -global_numbering natural

    test:
      suffix: dirichlet
      args: -dim 2 -n 15,20 -bubbles 5 -placement random -bc dirichlet,neumann,periodic,periodic -lengths 1,1.5

    test:
      suffix: elements
      nsize: 2
      args: -dim 2 -n 16 -bubbles 2 -centers 0.3,0.3,0.7,0.6 -radius 0.1,0.2 -discretisation fe -bc dirichlet,neumann,neumann,dirichlet

  # the same system on any number of processes and in either numbering
  testset:
    load: no
    nsize: {{1 2 4}}
    args: -problem P5 -size 16 -ksp_type cg -pc_type jacobi -check_iterations 153,157
    filter: grep within

    test:
      suffix: ranks
      args: -global_numbering {{dmda natural}}

  test:
    suffix: steps
    load: no
    args: -dim 2 -n 24 -bubbles 4 -steps 3 -pc_type jacobi -check_residual 1e-6
    filter: grep -o -e "^step [0-9]: [A-Z_]*" -e "^true residual below.*"

  test:
    suffix: no_preset
    load: no
    args: -problem P9
    fails: -problem P9 is not known

  test:
    suffix: crowded
    load: no
    args: -dim 2 -bubbles 30 -radius 0.2 -placement random
    fails: No room for bubble

  test:
    suffix: half_periodic
    load: no
    nsize: 2
    args: -dim 2 -bc periodic,neumann,neumann,neumann
    fails: is periodic on one face only
TEST*/
