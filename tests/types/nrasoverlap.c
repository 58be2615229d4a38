static char
  help[] = "The layers of overlap that PC nras takes by itself: one where strong convection by central differences dominates the diagonal, else none.\n\n";

#include "nras/nras.h"

/* Diffusion, and convection c by central differences; symmetric: the coupling to the row before on both sides */
static PetscErrorCode CreateConvection(PetscReal c, PetscBool symmetric, Mat *A)
{
  static const PetscInt n[3] = {14, 13, 12};

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(PETSC_DECIDE, n[0] * n[1] * n[2], A));
  PetscCall(FillStencil(*A, n, 0, -1 - c, symmetric ? -1 - c : -1 + c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the preconditioner with these options the one with so many layers everywhere? */
static PetscErrorCode TestLayers(const char what[], Mat A, const char options[], int layers)
{
  char      open[256], fixed[256];
  PetscReal same, other;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(open, sizeof(open), "-pc_type nras %s", options));
  PetscCall(PetscSNPrintf(fixed, sizeof(fixed), "%s -pc_nras_inner_overlap %d -pc_nras_outer_overlap %d", open, layers, layers));
  PetscCall(DifferenceOf(A, open, fixed, &same));
  PetscCall(PetscSNPrintf(fixed, sizeof(fixed), "%s -pc_nras_inner_overlap %d -pc_nras_outer_overlap %d", open, !layers, !layers));
  PetscCall(DifferenceOf(A, open, fixed, &other));
  PetscCall(Report(what, (PetscBool)(same == 0 && other > 1e-3), same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of gmres to 1e-8; more than 1000: it does not converge */
static PetscErrorCode Iterations(Mat A, const char options[], PetscInt *its)
{
  KSPConvergedReason reason;
  KSP                ksp;
  PC                 pc;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(CreatePC(A, options, &pc));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (reason < 0) *its = 1001;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 17 to 21 with the layer, 43 to 53 without it */
static PetscErrorCode TestIterations(Mat A)
{
  PetscInt open, none;

  PetscFunctionBeginUser;
  PetscCall(Iterations(A, "-pc_type nras -pc_nras_blocks 12 -pc_nras_partition rows -pc_nras_levels 1", &open));
  PetscCall(
    Iterations(A, "-pc_type nras -pc_nras_blocks 12 -pc_nras_partition rows -pc_nras_levels 1 -pc_nras_inner_overlap 0 -pc_nras_outer_overlap 0", &none));
  PetscCall(Report("few iterations with the layer", (PetscBool)(open <= 25), (PetscReal)open));
  PetscCall(Report("twice as many without it", (PetscBool)(none >= 2 * open), (PetscReal)none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat weak, strong, symmetric;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(CreateConvection(0.9, PETSC_FALSE, &weak));
  PetscCall(CreateConvection(3, PETSC_FALSE, &strong));
  PetscCall(CreateConvection(3, PETSC_TRUE, &symmetric));
  PetscCall(TestLayers("weak convection has none", weak, "-pc_nras_blocks 5 -pc_nras_partition rows", 0));
  PetscCall(TestLayers("strong convection has one", strong, "-pc_nras_blocks 5 -pc_nras_partition rows", 1));
  PetscCall(TestLayers("of the additive form it has none", strong, "-pc_nras_blocks 5 -pc_nras_partition rows -pc_nras_form additive", 0));
  PetscCall(TestLayers("boxes have none", strong, "-pc_nras_blocks 8", 0));
  PetscCall(TestLayers("a symmetric matrix has none", symmetric, "-pc_nras_blocks 5 -pc_nras_partition rows", 0));
  PetscCall(TestIterations(strong));
  PetscCall(MatDestroy(&weak));
  PetscCall(MatDestroy(&strong));
  PetscCall(MatDestroy(&symmetric));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
     nsize: {{1 2 3}}
     test:
       suffix: all
       args: -mat_type {{aij aijdia}}
     test:
       suffix: cuda
       requires: cuda
       args: -mat_type {{aijdia aijcusparse}} -vec_type cuda -use_gpu_aware_mpi 0
       output_file: output/nrasoverlap_all.out

TEST*/
