/* PETSc's own idr (3.26) with the shadow space of idrs: the bi-orthogonal form takes the same iterations. */
#include "idrs.h"
#include <petsc/private/petscimpl.h>
#include <petsc/private/randomimpl.h>

/* The entries of the shadow space of idrs, column by column, as it defines them: entry (row, column) of the space with this seed */
static PetscReal Entry(PetscInt seed, PetscInt column, PetscInt row)
{
  uint64_t h = (uint64_t)row * 0x9e3779b97f4a7c15u + (uint64_t)column * 0xc2b2ae3d27d4eb4fu + (uint64_t)seed * 0x165667b19e3779f9u;

  for (int k = 0; k < 2; ++k) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
  }
  h ^= h >> 32;
  return ((PetscReal)(h >> 11) + 0.5) / 4503599627370496.0 - 1;
}

static PetscInt Rows, Count; /* of the vectors; entries drawn so far */

static PetscErrorCode GetValue(PetscRandom random, PetscScalar *value)
{
  PetscFunctionBeginUser;
  (void)random;
  *value = Entry(0, Count / Rows, Count % Rows);
  ++Count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeedNothing(PetscRandom random)
{
  PetscFunctionBeginUser;
  (void)random;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateShadow(PetscRandom random)
{
  PetscFunctionBeginUser;
  random->ops->seed     = SeedNothing;
  random->ops->getvalue = GetValue;
  PetscCall(PetscObjectChangeTypeName((PetscObject)random, "shadow"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of a solver with the shadow space of idrs */
static PetscErrorCode SolveTwin(Mat A, const char options[], Outcome *outcome)
{
  KSP         ksp;
  Vec         x, b;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillVec(x, 7));
  PetscCall(MatMult(A, x, b));
  PetscCall(CreateSolver(A, options, &ksp));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetType(random, "shadow"));
  PetscCall(VecGetSize(x, &Rows));
  Count = 0;
  PetscTryMethod(ksp, "KSPIDRSetRandom_C", (KSP, PetscRandom), (ksp, random));
  PetscCall(Solve(ksp, A, b, x, outcome));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestTwin(void)
{
  static const Flow flows[] = {
    {2, 50, 1,    0, PETSC_FALSE, PETSC_FALSE},
    {2, 50, 100,  0, PETSC_FALSE, PETSC_FALSE},
    {3, 16, 1000, 0, PETSC_TRUE,  PETSC_FALSE}
  };
  static const PetscInt sizes[] = {1, 2, 4, 8};

  PetscFunctionBeginUser;
  PetscCall(PetscRandomRegister("shadow", CreateShadow));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(flows); ++f) {
    Mat A;

    PetscCall(CreateFlow(&flows[f], &A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
      Outcome own, theirs;
      char    options[256];

      PetscCall(PetscSNPrintf(options, sizeof(options),
                              "-t_ksp_type idrs -t_ksp_idrs_variant biortho -t_ksp_idrs_s %" PetscInt_FMT
                              " -t_ksp_rtol 1e-8 -t_ksp_divtol 1e10 -t_pc_type jacobi",
                              sizes[k]));
      PetscCall(SolveTwin(A, options, &own));
      PetscCall(PetscSNPrintf(options, sizeof(options),
                              "-t_ksp_type idr -t_ksp_idr_s %" PetscInt_FMT " -t_ksp_pc_side right -t_ksp_rtol 1e-8 -t_ksp_divtol 1e10 -t_pc_type jacobi",
                              sizes[k]));
      PetscCall(SolveTwin(A, options, &theirs));
      PetscCall(Judge((PetscBool)(own.reason == KSP_CONVERGED_RTOL && PetscAbsInt(own.its - theirs.its) <= 1), &own,
                      "%d-D, Peclet %g, reaction %g: IDR(%" PetscInt_FMT ") as PETSc's", (int)flows[f].dim, (double)flows[f].peclet, (double)flows[f].reaction,
                      sizes[k]));
      PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " and %" PetscInt_FMT " iterations\n", own.its, theirs.its));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
