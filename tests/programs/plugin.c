static char help[] = "A PETSc program that knows nothing of Polder: a Laplacian on a grid, solved as the options say.\n\n";

#include <petscdmda.h>
#include <petscksp.h>

/* -Laplace with the five-point stencil and Dirichlet boundaries, scaled by h^2 */
static PetscErrorCode Operator(KSP ksp, Mat J, Mat A, void *ctx)
{
  DM            da;
  DMDALocalInfo info;
  (void)J;
  (void)ctx;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      const MatStencil at[] = {
        {.i = i,     .j = j    },
        {.i = i - 1, .j = j    },
        {.i = i + 1, .j = j    },
        {.i = i,     .j = j - 1},
        {.i = i,     .j = j + 1}
      };
      const PetscBool   in[]    = {PETSC_TRUE, (PetscBool)(i > 0), (PetscBool)(i < info.mx - 1), (PetscBool)(j > 0), (PetscBool)(j < info.my - 1)};
      const PetscScalar value[] = {4.0, -1.0, -1.0, -1.0, -1.0};

      for (PetscInt k = 0; k < 5; ++k) {
        if (in[k]) PetscCall(MatSetValuesStencil(A, 1, at, 1, at + k, value + k, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM          da;
  KSP         ksp;
  PC          pc;
  Mat         A;
  Vec         x, b, r;
  PetscReal   rnorm, bnorm, rtol;
  const char *type[3];

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 21, 17, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeOperators(ksp, Operator, NULL));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(KSPGetType(ksp, &type[0]));
  PetscCall(PCGetType(pc, &type[1]));
  PetscCall(MatGetType(A, &type[2]));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ksp %s, pc %s, mat %s\n", type[0], type[1], type[2]));
  if (rnorm <= 2 * rtol * bnorm) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual ok\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual %g\n", (double)(rnorm / bnorm)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   # every way to load the library
   testset:
     output_file: output/plugin_load.out
     test:
       suffix: command_line
       args: -ksp_type cg -pc_type tns -dm_mat_type aijdia
     test:
       suffix: environment
       load: no
       env: PETSC_OPTIONS='-dll_append ${POLDER_LIB} -ksp_type cg -pc_type tns -dm_mat_type aijdia'
     test:
       suffix: petscrc
       load: no
       localrunfiles: input/.petscrc
     test:
       suffix: options_file
       load: no
       args: -options_file ${POLDER_TESTS}/input/.petscrc
     test:
       suffix: twice_in_list
       load: no
       args: -dll_append ${POLDER_LIB},${POLDER_LIB} -ksp_type cg -pc_type tns -dm_mat_type aijdia
     test:
       suffix: prepend
       load: no
       args: -dll_prepend ${POLDER_LIB} -ksp_type cg -pc_type tns -dm_mat_type aijdia

   test:
     suffix: parallel
     nsize: {{2 3}}
     args: -ksp_type cg -pc_type tns -dm_mat_type aijdia
   test:
     suffix: not_loaded
     load: no
     args: -pc_type tns
     fails: Unable to find requested PC type tns
   test:
     suffix: missing
     load: no
     args: -dll_append ${POLDER_LIB}.not
     fails: Unable to locate

   # what PETSc's own reports say about our types
   test:
     suffix: help
     args: -help -ksp_type dcg -pc_type levelset -levelset_pc_type tns -dm_mat_type aijdia
     filter: grep -oE -e '^ *-(levelset_)?(ksp_dcg|pc_tns|pc_levelset|deflation|mat_aijdia)_[a-z_]+' | sort -u
   test:
     suffix: log_view
     requires: log
     args: -ksp_type dcg -pc_type tns -dm_mat_type aijdia -log_view
     filter: awk '$1 ~ /^Polder(Mat|Labels|Defl|TNS)/ && $2 > 0 {print $1}' | sort
   test:
     suffix: options_left
     requires: !gpu
     args: -ksp_type dcg -pc_type tns -dm_mat_type aijdia -pc_tns_degree 2 -deflation_space subdomain -mat_aijdia_max_fill 4
       -pc_tns_degre 2 -deflation_spac none -mat_aijdia_maxfill 4 -options_left
     filter: grep -oE -e 'Option left: name:-[a-z_]+|residual ok'

TEST*/
