#include "idrs.h"
PetscErrorCode TestProducts(void)
{
  return 0;
}
PetscErrorCode TestExplore(void)
{
  Flow f = {2, 40, 10, 0, PETSC_FALSE};
  Mat  A;
  char pc[64] = "none", rtol[32] = "1e-8", s[256];
  PetscBool explore_restart = PETSC_FALSE;
  const char *const kinds[] = {"bcgs", "fgmres -t_ksp_gmres_restart 100", "idrs -t_ksp_idrs_s 1", "idrs -t_ksp_idrs_s 2", "idrs -t_ksp_idrs_s 4", "idrs -t_ksp_idrs_s 8"};

  PetscFunctionBeginUser;
  (void)explore_restart;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &f.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &f.n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-peclet", &f.peclet, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-reaction", &f.reaction, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-upwind", &f.upwind, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc", pc, sizeof(pc), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rtol", rtol, sizeof(rtol), NULL));
  PetscCall(CreateFlow(&f, &A));
  for (int k = 0; k < 6; ++k) for (int v = 0; v < (k > 1 ? 2 : 1); ++v) {
    Outcome o;
    PetscCall(PetscSNPrintf(s, sizeof(s), "-t_pc_type %s -t_ksp_pc_side right -t_ksp_norm_type unpreconditioned -t_ksp_rtol %s -t_ksp_max_it 20000 -t_ksp_type %s -t_ksp_idrs_variant %s", pc, rtol, kinds[k], v ? "biortho" : "minsync"));
    PetscCall(Solve(A, s, &o));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-34s %8s its %5d products %5d residual %.3e %s\n", kinds[k], k > 1 ? (v ? "biortho" : "minsync") : "", (int)o.its, (int)o.products, (double)o.residual, KSPConvergedReasons[o.reason]));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}
