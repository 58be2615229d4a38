static char help[] = "-laplace(u) = 1 on the unit square or cube with u = 0 on the boundary.\n"
                     "  -dim 2|3, -da_grid_x <n>, -da_grid_y <n>, -da_grid_z <n>, -da_refine <levels>\n\n";

/*
  The shortest program of this folder: a DMDA, a routine that fills the matrix, one that fills the right-hand side.
  Solvers come by options, from PETSc or from the plug-in:

    ./poisson -dim 3 -da_grid_x 64 -da_grid_y 64 -da_grid_z 64 -pc_type mg -ksp_type cg
    ./poisson -dim 3 -dll_append /path/libpolder.so -ksp_type dcg -pc_type tns -dm_mat_type aijdia
*/

#include <petscdmda.h>
#include <petscksp.h>

/* Cell-centred finite volumes: a boundary face is half a cell away, so its coefficient is doubled */
static PetscErrorCode SetRow(Mat A, PetscInt dim, const PetscInt n[], const PetscReal area[], MatStencil row)
{
  const PetscInt at[3] = {row.i, row.j, row.k};
  MatStencil     col[7];
  PetscScalar    value[7], diagonal = 0.0;
  PetscInt       nc = 0;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d) {
    for (PetscInt step = -1; step <= 1; step += 2) {
      const PetscBool inside = (PetscBool)(at[d] + step >= 0 && at[d] + step < n[d]);

      diagonal += inside ? area[d] : 2.0 * area[d];
      if (!inside) continue;
      col[nc] = row;
      if (d == 0) col[nc].i += step;
      else if (d == 1) col[nc].j += step;
      else col[nc].k += step;
      value[nc++] = -area[d];
    }
  }
  col[nc]     = row;
  value[nc++] = diagonal;
  PetscCall(MatSetValuesStencil(A, 1, &row, nc, col, value, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode ComputeMatrix(KSP ksp, Mat J, Mat A, void *ctx)
{
  DM            dm;
  DMDALocalInfo info;
  PetscInt      n[3];
  PetscReal     area[3] = {1.0, 1.0, 1.0}; /* area of a face over the distance of the cells */

  PetscFunctionBegin;
  (void)J;
  (void)ctx;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  n[0] = info.mx;
  n[1] = info.my;
  n[2] = info.mz;
  for (PetscInt d = 0; d < info.dim; ++d) {
    for (PetscInt e = 0; e < info.dim; ++e) area[d] *= e == d ? n[e] : 1.0 / n[e];
  }
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) PetscCall(SetRow(A, info.dim, n, area, (MatStencil){.i = i, .j = j, .k = k, .c = 0}));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode ComputeRHS(KSP ksp, Vec b, void *ctx)
{
  PetscInt N;

  PetscFunctionBegin;
  (void)ksp;
  (void)ctx;
  PetscCall(VecGetSize(b, &N));
  PetscCall(VecSet(b, 1.0 / N)); /* the volume of a cell */
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  KSP                ksp;
  DM                 dm;
  Vec                x, b, r;
  Mat                A;
  PetscReal          nr, nb, top;
  PetscInt           dim = 2, its;
  KSPConvergedReason reason;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCheck(dim == 2 || dim == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-dim is 2 or 3, not %" PetscInt_FMT, dim);
  if (dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 33, 33, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &dm));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 17, 17, 17, PETSC_DECIDE, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetComputeOperators(ksp, ComputeMatrix, NULL));
  PetscCall(KSPSetComputeRHS(ksp, ComputeRHS, NULL));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));

  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(r, NORM_2, &nr));
  PetscCall(VecNorm(b, NORM_2, &nb));
  PetscCall(VecMax(x, NULL, &top));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s iterations %" PetscInt_FMT " true residual %.2e largest value %.4f\n", KSPConvergedReasons[reason], its,
                        (double)(nr / nb), (double)top));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -ksp_rtol 1e-8
    filter: sed -n "s/.*\(largest value.*\)/\1/p"

    test:
      suffix: 2d
      output_file: output/poisson_2d.out
      nsize: {{1 3}}
      args: -pc_type jacobi

    test:
      suffix: 3d
      output_file: output/poisson_3d.out
      args: -dim 3 -pc_type jacobi

    # cells of the walls, which are coupled to none, at the ends of odd and even lines
    test:
      suffix: pamg
      suites: memcheck
      nsize: {{1 2}}
      args: -dim 3 -da_grid_x 33 -da_grid_y 32 -da_grid_z 31 -dm_mat_type aijdia -ksp_type dcg -pc_type pamg -deflation_space none

    test:
      suffix: dcg
      output_file: output/poisson_3d.out
      nsize: {{1 2}}
      args: -dim 3 -ksp_type dcg -pc_type tns -dm_mat_type aijdia

    test:
      suffix: rrb
      nsize: {{1 2 3}}
      output_file: output/poisson_2d.out
      args: -pc_type rrb

    test:
      suffix: rrb_blocks
      nsize: 2
      output_file: output/poisson_2d.out
      args: -pc_type bjacobi -sub_pc_type rrb

    test:
      suffix: mg
      output_file: output/poisson_2d.out
      args: -da_refine 0 -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin

    test:
      suffix: pamg_fill
      nsize: {{1 3}}
      output_file: output/poisson_2d.out
      args: -pc_type pamg -pc_pamg_coarse_limit 2 -dm_mat_type aijdia -mat_aijdia_max_fill {{0 1.5}} -pc_pamg_precision {{double single}}

  testset:
    args: -dim 3 -da_grid_x 41 -da_grid_y 42 -da_grid_z 43 -dm_mat_type aijdia -mat_aijdia_classes {{0 1}}
    filter: sed "s/ true residual.* largest/ largest/"

    test:
      suffix: classes
      args: -ksp_type dcg -deflation_space none -pc_type {{jacobi tns pamg}separate output}

TEST*/
