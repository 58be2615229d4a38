static char help[] = "Pairwise-aggregation multigrid: iterations, and identities of its levels and cycles.\n\n";

#include "kernels/colourrow.h"
#include "pc/pamg/pamgimpl.h"
#include "pamgproblems.h"
#include "runner.h"
#include <petsc/private/pcimpl.h>

#define KCYCLE      "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k "
#define SGS         "-pc_pamg_smoother sgs "
#define VCYCLE      "-ksp_type cg -pc_type pamg "
#define CHEBYSHEV22 "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "

/* its: measured on one process, to be met by one more or less, on several by a fifth; most: what the method must do; there: its on the device, where the smoother is another one unless
   it is asked for (0: the same) */
typedef struct {
  const char *kind;
  PetscInt    dim, n;
  PetscReal   jump;
  const char *options;
  PetscInt    its, most, there;
} Case;

/* Are the levels on the device for matrices of the type asked for, when nothing speaks against it? */
static PetscErrorCode OnDevice(Mat A, PetscBool *device)
{
  PolderCSR csr;

  PetscFunctionBeginUser;
  PetscCall(PolderMatGetDeviceCSR(A, &csr, device));
  if (*device) PetscCall(PolderMatRestoreDeviceCSR(A, &csr));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCases(size_t n, const Case cases[])
{
  PetscMPIInt size;
  PetscBool   measure;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-measure", &measure)); // to print the counts
  for (size_t k = 0; k < n; ++k) {
    const Case *c = &cases[k];
    Mat         A;
    PetscInt    its, want = c->its, away;
    PetscReal   residual;
    PetscBool   device;

    PetscCall(ProblemCreate(c->kind, c->dim, c->n, c->jump, &A));
    PetscCall(OnDevice(A, &device));
    if (device && c->there) want = c->there;
    away = size > 1 ? PetscMax(1, want / 5) : 1;
    PetscCall(ProblemSolve(A, c->options, NULL, &its, &residual));
    PetscCheck(measure || (its <= want + away && (size > 1 || its >= want - away) && its <= c->most), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %" PetscInt_FMT "-D, %" PetscInt_FMT ", %g, %s: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, c->kind, c->dim, c->n,
               (double)c->jump, c->options, its, want);
    PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: true residual %g", c->options, (double)residual);
    if (measure) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, ", its));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %" PetscInt_FMT "-D, %" PetscInt_FMT ", %g: %s\n", c->kind, c->dim, c->n, (double)c->jump, c->options));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode TestIterations(void)
{
  static const Case cases[] = {
    {"poisson",    2, 511, 1,    KCYCLE,                                                                                           9,  22, 0 },
    {"poisson",    2, 255, 1,    KCYCLE,                                                                                           9,  22, 0 },
    {"poisson",    3, 64,  1,    KCYCLE,                                                                                           8,  22, 0 },
    {"poisson",    3, 33,  1,    KCYCLE,                                                                                           8,  22, 7 },
    {"poisson",    2, 255, 1,    VCYCLE,                                                                                           10, 22, 0 },
    {"poisson",    3, 64,  1,    VCYCLE,                                                                                           10, 22, 8 },
    {"poisson",    3, 64,  1,    VCYCLE "-pc_pamg_cycle w",                                                                        8,  22, 0 },
    {"poisson",    2, 255, 1e3,  KCYCLE,                                                                                           20, 30, 17},
    {"poisson",    2, 255, 1e-3, KCYCLE,                                                                                           20, 30, 17},
    {"poisson",    3, 48,  1e3,  KCYCLE,                                                                                           16, 30, 14},
    {"bubbles",    3, 48,  1e3,  KCYCLE,                                                                                           9,  25, 8 },
    {"bubbles",    3, 48,  1e6,  KCYCLE,                                                                                           9,  25, 8 },
    {"bubbles",    3, 47,  1e6,  KCYCLE,                                                                                           9,  25, 8 },
    {"bubbles",    2, 128, 1e3,  KCYCLE,                                                                                           9,  25, 0 },
    {"bubbles",    2, 128, 1e6,  "-ksp_type dcg -ksp_dcg_flexible -pc_type pamg -pc_pamg_cycle k",                                 9,  25, 0 },
    {"bubbles",    3, 48,  1e6,  "-ksp_type dcg -deflation_space levelset -pc_type pamg -pc_pamg_cycle w",                         8,  20, 0 },
    {"tetrahedra", 3, 20,  1e3,  KCYCLE,                                                                                           10, 30, 9 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_smoother jacobi",                                                                11, 22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_smoother l1jacobi",                                                              13, 30, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2",                              7,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_pre 2 -pc_pamg_post 2",                                                          7,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_pre 0 -pc_pamg_post 2",                                                          10, 22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_passes 3",                                                                       9,  22, 8 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_passes 1",                                                                       7,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_kcycle_levels 1",                                                                8,  22, 7 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_kcycle_threshold 0",                                                             8,  22, 7 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_matching greedy",                                                                8,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_quality 8",                                                                      8,  22, 7 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_coarse inverse",                                                                 8,  22, 7 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_coarse ksp -pamg_coarse_pc_type lu -pamg_coarse_pc_factor_mat_ordering_type nd", 8,  22, 7 },
    {"tetrahedra", 3, 20,  1e3,  KCYCLE "-pc_pamg_drop 0.02",                                                                      10, 30, 9 },
    {"poisson",    2, 255, 1,    VCYCLE SGS,                                                                                       10, 22, 0 },
    {"poisson",    3, 64,  1,    VCYCLE SGS,                                                                                       10, 22, 12},
    {"poisson",    3, 33,  1,    VCYCLE SGS "-pc_pamg_cycle w",                                                                    8,  22, 9 },
    {"poisson",    3, 33,  1,    KCYCLE SGS,                                                                                       8,  22, 9 },
    {"poisson",    2, 255, 1e3,  KCYCLE SGS,                                                                                       20, 30, 16},
    {"bubbles",    3, 48,  1e3,  VCYCLE SGS,                                                                                       12, 25, 14},
    {"bubbles",    3, 48,  1e3,  KCYCLE SGS,                                                                                       9,  25, 0 },
    {"bubbles",    3, 48,  1e6,  KCYCLE "-pc_pamg_precision single",                                                               10, 25, 9 },
    {"bubbles",    3, 48,  1e6,  KCYCLE SGS "-pc_pamg_precision single",                                                           10, 25, 0 },
    {"tetrahedra", 3, 20,  1e3,  VCYCLE SGS,                                                                                       13, 30, 0 },
    {"tetrahedra", 3, 20,  1e3,  KCYCLE SGS,                                                                                       10, 30, 0 },
    {"poisson",    3, 32,  1,    KCYCLE SGS "-pc_pamg_pre 2 -pc_pamg_post 2",                                                      7,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE SGS "-pc_pamg_pre 0 -pc_pamg_post 2",                                                      10, 22, 8 },
    {"poisson",    3, 32,  1,    KCYCLE SGS "-pc_pamg_precision single",                                                           8,  22, 9 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_levels 4",                                                                       8,  22, 0 },
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(PETSC_STATIC_ARRAY_LENGTH(cases), cases));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRanks(void)
{
  static const Case cases[] = {
    {"poisson", 3, 32,  1,    KCYCLE,                             8,  22, 7 },
    {"poisson", 2, 127, 1,    KCYCLE,                             9,  22, 0 },
    {"poisson", 2, 127, 1e-3, KCYCLE,                             18, 30, 16},
    {"poisson", 3, 32,  1,    VCYCLE,                             9,  22, 7 },
    {"poisson", 3, 32,  1,    VCYCLE "-pc_pamg_cycle w",          8,  22, 7 },
    {"bubbles", 3, 32,  1e3,  KCYCLE,                             9,  25, 8 },
    {"poisson", 3, 32,  1,    VCYCLE SGS,                         9,  22, 11},
    {"bubbles", 3, 32,  1e3,  KCYCLE SGS,                         9,  25, 0 },
    {"bubbles", 3, 32,  1e3,  VCYCLE "-pc_pamg_precision single", 11, 25, 10},
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(PETSC_STATIC_ARRAY_LENGTH(cases), cases));
  PetscFunctionReturn(0);
}

/* Processes whose rows are ragged parts of the domain: the limits of planes cut through rows numbered at random */
static PetscErrorCode TestTetrahedra(void)
{
  static const Case cases[] = {
    {"tetrahedra", 3, 20, 1e3, KCYCLE,                                                              10, 11, 0 },
    {"tetrahedra", 3, 24, 1e3, KCYCLE,                                                              10, 11, 0 },
    {"tetrahedra", 3, 24, 1e3, KCYCLE "-pc_pamg_gather 1000",                                       10, 12, 0 },
    {"tetrahedra", 3, 24, 1e3, KCYCLE "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2", 10, 11, 0 },
    {"tetrahedra", 3, 24, 1e3, VCYCLE,                                                              14, 16, 12},
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(PETSC_STATIC_ARRAY_LENGTH(cases), cases));
  PetscFunctionReturn(0);
}

/* The prolongation of level l as a matrix */
static PetscErrorCode Prolongation(const PC_PAMG *pamg, PetscInt l, Mat *P)
{
  const PamgLevel *L = &pamg->level[l];
  PetscInt         row, column, *agg;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(L->n, &agg));
  if (pamg->place->device) PetscCall(PolderDeviceToHost(agg, L->agg, sizeof(*agg) * (size_t)L->n));
  else PetscCall(PetscArraycpy(agg, L->agg, L->n));
  PetscCall(MatCreateAIJ(PetscObjectComm((PetscObject)L->A), L->n, L->nc, L->N, L[1].N, 1, NULL, 0, NULL, P));
  PetscCall(MatGetOwnershipRange(*P, &row, NULL));
  PetscCall(MatGetOwnershipRangeColumn(*P, &column, NULL));
  for (PetscInt i = 0; i < L->n; ++i) {
    if (agg[i] < L->nc) PetscCall(MatSetValue(*P, row + i, column + agg[i], 1, INSERT_VALUES));
  }
  PetscCall(PetscFree(agg));
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The next level, which is whole on every process, takes a vector to what C = P^T A P takes it to */
static PetscErrorCode CheckGathered(Mat C, Mat D, PetscReal *away, PetscReal *norm)
{
  Vec        x, y, xall, yall;
  VecScatter toall;
  PetscReal  sum[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(C, &x, &y));
  PetscCall(FillRandom(x, 9));
  PetscCall(MatMult(C, x, y));
  PetscCall(VecNorm(y, NORM_2, norm));
  PetscCall(VecScatterCreateToAll(x, &toall, &xall));
  PetscCall(VecScatterBegin(toall, x, xall, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(toall, x, xall, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecDuplicate(xall, &yall));
  PetscCall(VecScatterBegin(toall, y, yall, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(toall, y, yall, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScale(yall, -1));
  PetscCall(MatMultAdd(D, xall, yall, yall));
  PetscCall(VecNorm(yall, NORM_2, &sum[0]));
  PetscCallMPI(MPI_Allreduce(&sum[0], away, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)C)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&xall));
  PetscCall(VecDestroy(&yall));
  PetscCall(VecScatterDestroy(&toall));
  PetscFunctionReturn(0);
}

/* Each level is P^T A P, to rounding */
static PetscErrorCode CheckGalerkin(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBeginUser;
  for (PetscInt l = 1; pamg->place->device && l < pamg->nlevel; ++l) PetscCall(PCPAMGMatrixFromDevice(pamg, l));
  PetscCheck(pamg->nlevel > 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Only %" PetscInt_FMT " levels", pamg->nlevel);
  for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) {
    Mat       A, P, C, D;
    PetscReal norm, away;

    PetscCall(Prolongation(pamg, l, &P));
    PetscCall(MatConvert(pamg->level[l].A, MATAIJ, MAT_INITIAL_MATRIX, &A));
    PetscCall(MatConvert(pamg->level[l + 1].A, MATAIJ, MAT_INITIAL_MATRIX, &D));
    PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    if (pamg->level[l + 1].gathered) PetscCall(CheckGathered(C, D, &away, &norm));
    else {
      PetscCall(MatNorm(C, NORM_FROBENIUS, &norm));
      PetscCall(MatAXPY(C, -1, D, DIFFERENT_NONZERO_PATTERN));
      PetscCall(MatNorm(C, NORM_FROBENIUS, &away));
    }
    PetscCheck(away <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Level %" PetscInt_FMT " differs from P^T A P by %g of its norm", l + 1, (double)(away / norm));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&P));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&D));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode TestGalerkin(void)
{
  static const char *const options[] = {"-pc_pamg_coarse_limit 20", "-pc_pamg_coarse_limit 20 -pc_pamg_passes 3", "-pc_pamg_coarse_limit 20 -pc_pamg_passes 1 -pc_pamg_matching greedy", "-pc_pamg_coarse_limit 20 -pc_pamg_quality 8", "-pc_pamg_coarse_limit 20 -pc_pamg_gather 0", "-pc_pamg_coarse_limit 20 -pc_pamg_gather 150"};

  PetscFunctionBeginUser;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    for (int k = 0; k < 4; ++k) {
      Mat A;
      PC  pc;

      PetscCall(ProblemCreate(k < 2 ? "poisson" : k == 2 ? "bubbles" : "tetrahedra", k == 0 ? 2 : 3, k == 0 ? 31 : 11, k < 2 ? 1 : 1e3, &A));
      PetscCall(CreatePC(A, options[o], &pc));
      PetscCall(CheckGalerkin(pc));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "levels are P^T A P\n"));
  PetscFunctionReturn(0);
}

/* (M^-1 r, s) = (r, M^-1 s) and (M^-1 r, r) > 0 for the cycles that do not depend on the vector */
static PetscErrorCode TestSymmetry(void)
{
  static const char *const options[] = {"", "-pc_pamg_cycle w", "-pc_pamg_smoother jacobi", "-pc_pamg_smoother l1jacobi -pc_pamg_pre 2 -pc_pamg_post 2", "-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 3", "-pc_pamg_pre 3 -pc_pamg_post 3 -pc_pamg_passes 3 -pc_pamg_cycle w", "-pc_pamg_gather 0", "-pc_pamg_gather 0 -pc_pamg_smoother jacobi", SGS, SGS "-pc_pamg_pre 3 -pc_pamg_post 3 -pc_pamg_cycle w"};
  PetscRandom              random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    for (int k = 0; k < 3; ++k) {
      Mat         A;
      PC          pc;
      Vec         r, s, z, y;
      PetscScalar one, other, definite;
      char        text[256];

      PetscCall(ProblemCreate(k == 0 ? "poisson" : k == 1 ? "bubbles" : "tetrahedra", k == 0 ? 2 : 3, k == 0 ? 37 : 13, k ? 1e3 : 1, &A));
      PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_pamg_coarse_limit 20 %s", options[o]));
      PetscCall(CreatePC(A, text, &pc));
      PetscCall(CreateVecs(A, &r, &s));
      PetscCall(VecDuplicate(r, &z));
      PetscCall(VecDuplicate(r, &y));
      PetscCall(FillRandom(r, 1));
      PetscCall(FillRandom(s, 2));
      if (k == 1) { // on the range
        MatNullSpace nullspace;

        PetscCall(MatGetNullSpace(A, &nullspace));
        PetscCall(MatNullSpaceRemove(nullspace, r));
        PetscCall(MatNullSpaceRemove(nullspace, s));
      }
      PetscCall(PCApply(pc, r, z));
      PetscCall(PCApply(pc, s, y));
      PetscCall(VecDot(z, s, &one));
      PetscCall(VecDot(r, y, &other));
      PetscCall(VecDot(z, r, &definite));
      PetscCheck(PetscAbsScalar(one - other) <= 1e-10 * PetscRealPart(definite), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, problem %d: %g is not %g", options[o], k, (double)PetscRealPart(one), (double)PetscRealPart(other));
      PetscCall(VecDestroy(&r));
      PetscCall(VecDestroy(&s));
      PetscCall(VecDestroy(&z));
      PetscCall(VecDestroy(&y));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cycles are symmetric\n"));
  PetscFunctionReturn(0);
}

/* New values in the old pattern: the levels belong to them, the aggregates stay, and iterations are those of a fresh set-up as long as the jumps are where they were */
static PetscErrorCode TestRefresh(void)
{
  static const char *const options[] = {"", "-pc_pamg_reuse 0", "-pc_pamg_smoother chebyshev", "-pc_pamg_precision single", "-pc_pamg_gather 0", "-pc_pamg_smoother l1jacobi -pc_pamg_gather 150", SGS};

  PetscFunctionBeginUser;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    for (int k = 0; k < 3; ++k) {
      Mat       A;
      PC        pc, fresh;
      Vec       d, r, z, y;
      PC_PAMG  *pamg;
      PetscReal away, norm;
      char      text[256];

      PetscCall(ProblemCreate(k == 0 ? "poisson" : k == 1 ? "bubbles" : "tetrahedra", k == 0 ? 2 : 3, k == 0 ? 32 : 12, k ? 1e3 : 1, &A));
      PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_pamg_coarse_limit 20 %s", options[o]));
      PetscCall(CreateVecs(A, &d, &r)); // before the first set-up, which is for the device when PETSc uses one
      PetscCall(CreatePC(A, text, &pc));
      pamg = (PC_PAMG *)pc->data;
      PetscCall(VecDuplicate(r, &z));
      PetscCall(VecDuplicate(r, &y));
      PetscCall(FillRandom(r, 3));
      PetscCall(MatScale(A, 4)); // no pair is chosen otherwise
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetUp(pc));
      PetscCheck(pamg->nsetup == (o == 1 ? 2 : 1) && pamg->nrefresh == (o == 1 ? 0 : 1), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " set-ups and %" PetscInt_FMT " refreshes", options[o], pamg->nsetup, pamg->nrefresh);
      PetscCall(CheckGalerkin(pc));
      PetscCall(CreatePC(A, text, &fresh));
      PetscCall(PCApply(pc, r, z));
      PetscCall(PCApply(fresh, r, y));
      PetscCall(VecAXPY(z, -1, y));
      PetscCall(VecNorm(z, NORM_2, &away));
      PetscCall(VecNorm(y, NORM_2, &norm));
      PetscCheck(away <= (o == 3 ? 1e-4 : 1e-10) * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, problem %d: a refresh differs from a fresh set-up by %g", options[o], k, (double)(away / norm));
      PetscCall(PCDestroy(&fresh));
      PetscCall(FillRandom(d, 5)); // other values, no scale of the old ones
      PetscCall(VecScale(d, 0.2));
      PetscCall(VecShift(d, 1));
      PetscCall(MatDiagonalScale(A, d, d));
      PetscCall(PCSetUp(pc));
      PetscCall(CheckGalerkin(pc));
      PetscCall(VecDestroy(&d));
      PetscCall(VecDestroy(&r));
      PetscCall(VecDestroy(&z));
      PetscCall(VecDestroy(&y));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a refresh is a set-up with the old aggregates\n"));
  PetscFunctionReturn(0);
}

/* Rows that need no coarse ones lie at the limits of processes: what only they have of other processes is no part of the next level, whose values are P^T A P after a refresh, too */
static PetscErrorCode TestLone(void)
{
  Mat      A;
  PC       pc;
  Vec      d, r;
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("poisson", 2, 48, 1, &A));
  PetscCall(CreateVecs(A, &d, &r));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i)
    if ((i - start) % 7 == 0 || (end - i) % 5 == 0) PetscCall(VecSetValue(d, i, 1e4, ADD_VALUES));
  PetscCall(VecAssemblyBegin(d));
  PetscCall(VecAssemblyEnd(d));
  PetscCall(MatDiagonalSet(A, d, INSERT_VALUES));
  PetscCall(CreatePC(A, "-pc_pamg_gather 0 -pc_pamg_coarse_limit 20", &pc));
  PetscCall(CheckGalerkin(pc));
  PetscCall(FillRandom(r, 3));
  PetscCall(VecScale(r, 0.2));
  PetscCall(VecShift(r, 1));
  PetscCall(MatDiagonalScale(A, r, r));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckGalerkin(pc));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rows left out at the limits of processes\n"));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Another matrix takes the place of the first one, which is freed, or the pattern changes, and the preconditioner is to be kept: M^-1 is that of a fresh set-up */
static PetscErrorCode CheckReplaced(PC pc, const char *options, Mat *A, Vec r, Vec y, Vec z)
{
  const PetscInt row[2] = {5, 700};
  Mat            B;
  PC             fresh;
  PetscReal      away;

  PetscFunctionBeginUser;
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
  for (int changed = 0; changed < 2; ++changed) {
    if (changed) { // a coupling across the grid
      PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      for (int k = 0; k < 2; ++k) PetscCall(MatSetValue(*A, row[k], row[!k], -0.5, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    } else {
      PetscCall(MatDuplicate(*A, MAT_COPY_VALUES, &B));
      PetscCall(PCSetOperators(pc, B, B));
      PetscCall(MatDestroy(A));
      *A = B;
    }
    PetscCall(PCApply(pc, r, z));
    PetscCall(CreatePC(*A, options, &fresh));
    PetscCall(PCApply(fresh, r, y));
    PetscCall(VecAXPY(y, -1, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &away));
    PetscCheck(away < 1e-3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: away by %g", changed ? "another pattern" : "another matrix", (double)away);
    PetscCall(PCDestroy(&fresh));
  }
  PetscFunctionReturn(0);
}

/* The matrix takes another type, of which the preconditioner hears nothing: the same M^-1, and half of it after the matrix was doubled. Levels on the device stay there with the first two */
static PetscErrorCode TestConvert(void)
{
  static const char *const types[] = {MATAIJICRS, MATAIJDIA, MATAIJ}, *const options[] = {"", "-pc_pamg_precision single", "-pc_pamg_smoother chebyshev"};

  PetscFunctionBeginUser;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    Mat       A;
    PC        pc;
    Vec       r, z, y;
    PetscReal away, norm;
    size_t    ntype;

    PetscCall(ProblemCreate("poisson", 2, 32, 1, &A));
    PetscCall(CreateVecs(A, &z, &r));
    PetscCall(VecDuplicate(r, &y));
    PetscCall(CreatePC(A, options[o], &pc));
    PetscCall(FillRandom(r, 3));
    PetscCall(PCApply(pc, r, y));
    ntype = ((PC_PAMG *)pc->data)->place->device ? 2 : PETSC_STATIC_ARRAY_LENGTH(types);
    for (size_t t = 0; t < 2 * ntype; ++t) {
      if (t % 2) PetscCall(MatScale(A, 2));
      else PetscCall(MatConvert(A, types[t / 2], MAT_INPLACE_MATRIX, &A));
      PetscCall(PCSetReusePreconditioner(pc, (PetscBool)(t % 2 == 0)));
      PetscCall(PCSetUp(pc));
      PetscCall(PCApply(pc, r, z));
      if (t % 2) PetscCall(VecScale(y, 0.5));
      PetscCall(VecAXPY(z, -1, y));
      PetscCall(VecNorm(z, NORM_2, &away));
      PetscCall(VecNorm(y, NORM_2, &norm));
      PetscCheck(away <= (o == 1 ? 1e-4 : 1e-10) * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s, %s: away by %g", options[o], types[t / 2], t % 2 ? "new values" : "reused", (double)(away / norm));
    }
    PetscCall(CheckReplaced(pc, options[o], &A, r, y, z));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&y));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a matrix may change its type\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode Complexity(PC pc, PetscReal *complexity)
{
  const PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBeginUser;
  *complexity = 0;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) *complexity += (PetscReal)pamg->level[l].nz / (PetscReal)pamg->level[0].nz;
  PetscFunctionReturn(0);
}

/* The rounds of the handshake make no larger levels than one row after another, and as good ones; single precision takes the same iterations */
static PetscErrorCode TestMatching(void)
{
  static const Case cases[] = {
    {"poisson",    2, 127, 1,   NULL, 0, 0, 0},
    {"poisson",    3, 31,  1,   NULL, 0, 0, 0},
    {"poisson",    3, 32,  10,  NULL, 0, 0, 0},
    {"bubbles",    3, 32,  1e3, NULL, 0, 0, 0},
    {"bubbles",    2, 128, 1e3, NULL, 0, 0, 0},
    {"tetrahedra", 3, 16,  1,   NULL, 0, 0, 0},
    {"tetrahedra", 3, 16,  1e3, NULL, 0, 0, 0},
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    Mat       A;
    KSP       ksp;
    PC        pc;
    PetscInt  its[3];
    PetscReal residual, complexity[2];

    PetscCall(ProblemCreate(cases[k].kind, cases[k].dim, cases[k].n, cases[k].jump, &A));
    for (int m = 0; m < 3; ++m) {
      PetscCall(ProblemSolve(A, m == 0 ? KCYCLE : m == 1 ? KCYCLE "-pc_pamg_matching greedy" : KCYCLE "-pc_pamg_precision single", &ksp, &its[m], &residual));
      PetscCall(KSPGetPC(ksp, &pc));
      if (m < 2) PetscCall(Complexity(pc, &complexity[m]));
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(PetscInfo(NULL, "%s %g: operator complexity %g, greedy %g; iterations %" PetscInt_FMT ", %" PetscInt_FMT ", single %" PetscInt_FMT "\n", cases[k].kind, (double)cases[k].jump, (double)complexity[0], (double)complexity[1], its[0], its[1], its[2]));
    PetscCheck(complexity[0] <= 1.05 * complexity[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: operator complexity %g, greedy %g", cases[k].kind, (double)complexity[0], (double)complexity[1]);
    PetscCheck(its[0] <= its[1] + 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, greedy %" PetscInt_FMT, cases[k].kind, its[0], its[1]);
    PetscCheck(PetscAbsInt(its[2] - its[0]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, in single precision %" PetscInt_FMT, cases[k].kind, its[0], its[2]);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "handshake and greedy, double and single are alike\n"));
  PetscFunctionReturn(0);
}

/* What single precision changes in a cycle where a coefficient jumps by 1e6, as it shows in A z, and in iterations: steps after the coarse correction that are on a correction take that away */
static PetscErrorCode TestPrecision(void)
{
  static const struct {
    const char *options;
    PetscReal   most; // of the residual, where the compiler adds up one by one as well as where it adds up vectors
  } cases[] = {
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 1 -pc_pamg_post 1",                  0.11 },
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2",                  0.06 },
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 3",                  0.025},
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 4 -pc_pamg_post 4",                  0.015},
    {"-pc_pamg_cycle k -pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2", 0.035},
    {"-pc_pamg_smoother jacobi -pc_pamg_pre 3 -pc_pamg_post 3",                     0.05 },
  };
  Mat          A;
  MatNullSpace nullspace;
  Vec          r, z[2], t;
  PetscReal    norm, noise, residual;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("bubbles", 3, 48, 1e6, &A));
  PetscCall(CreateVecs(A, &r, &t));
  for (int k = 0; k < 2; ++k) PetscCall(VecDuplicate(r, &z[k]));
  PetscCall(FillRandom(r, 7));
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(MatNullSpaceRemove(nullspace, r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); ++c) {
    PetscInt its[2];

    for (int single = 0; single < 2; ++single) {
      char text[256];
      PC   pc;

      PetscCall(PetscSNPrintf(text, sizeof(text), "%s -pc_pamg_precision %s", cases[c].options, single ? "single" : "double"));
      PetscCall(CreatePC(A, text, &pc));
      PetscCall(PCApply(pc, r, z[single]));
      PetscCall(PCDestroy(&pc));
      PetscCall(PetscSNPrintf(text, sizeof(text), "-ksp_type fcg -pc_type pamg %s -pc_pamg_precision %s", cases[c].options, single ? "single" : "double"));
      PetscCall(ProblemSolve(A, text, NULL, &its[single], &residual));
    }
    PetscCall(VecAXPY(z[1], -1, z[0]));
    PetscCall(MatMult(A, z[1], t));
    PetscCall(VecNorm(t, NORM_2, &noise));
    PetscCall(PetscInfo(NULL, "%s: %g of the residual, iterations %" PetscInt_FMT ", %" PetscInt_FMT "\n", cases[c].options, (double)(noise / norm), its[0], its[1]));
    PetscCheck(noise > 0 && noise <= cases[c].most * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: single precision changes A z by %g of the residual", cases[c].options, (double)(noise / norm));
    PetscCheck(PetscAbsInt(its[1] - its[0]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, in single precision %" PetscInt_FMT, cases[c].options, its[0], its[1]);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "single precision is precise enough\n"));
  PetscCall(VecDestroy(&r));
  for (int k = 0; k < 2; ++k) PetscCall(VecDestroy(&z[k]));
  PetscCall(VecDestroy(&t));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Levels in diagonals all the way, for grids of any size; bytes beside the matrix */
static PetscErrorCode TestRegular(void)
{
  static const PetscInt sizes[][2] = {
    {2, 64 },
    {2, 127},
    {3, 32 },
    {3, 31 }
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    for (int o = 0; o < 3; ++o) {
      Mat      A;
      PC       pc;
      PC_PAMG *pamg;

      PetscReal bytes = 0;

      PetscCall(ProblemCreate("poisson", sizes[k][0], sizes[k][1], 1, &A));
      PetscCall(CreatePC(A, o == 0 ? "-pc_pamg_cycle k" : o == 1 ? "-pc_pamg_cycle k -pc_pamg_smoother jacobi" : "", &pc));
      pamg = (PC_PAMG *)pc->data;
      for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) {
        bytes += (PetscReal)pamg->level[l].bytes;
        PetscCheck(!l || pamg->level[l].M.nd == 2 * sizes[k][0] + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT "^%" PetscInt_FMT ": level %" PetscInt_FMT " has %" PetscInt_FMT " diagonals", sizes[k][1], sizes[k][0], l, pamg->level[l].M.nd);
      }
      PetscCheck(bytes < 110 * pamg->level[0].n, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%g bytes a row", (double)(bytes / pamg->level[0].n));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "grids have grids below them\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode View(const char options[])
{
  Mat A;
  Vec x;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("poisson", 3, 16, 1, &A));
  PetscCall(CreateVecs(A, &x, NULL)); // PETSc uses the device, if it is to
  PetscCall(CreatePC(A, options, &pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* On the host everywhere */
static PetscErrorCode TestView(void)
{
  PetscFunctionBeginUser;
  PetscCall(View("-pc_pamg_cycle k -pc_pamg_matching greedy"));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestViewDevice(void)
{
  PetscFunctionBeginUser;
  PetscCall(View("-pc_pamg_cycle k -pc_pamg_smoother sgs"));
  PetscFunctionReturn(0);
}

/* Gauss-Seidel on a level whose rows all couple, which have a colour each: on the host, until the options ask for something else; a level of fewer rows than there are colours stays */
static PetscErrorCode TestColours(void)
{
  PetscFunctionBeginUser;
  for (PetscInt n = POLDER_COLOURS; n <= POLDER_COLOURS + 1; ++n) {
    const PetscBool few = (PetscBool)(n == POLDER_COLOURS);
    Mat             A;
    PC              pc;
    PC_PAMG        *pamg;
    Vec             r, z, y;
    PetscOptions    options;
    PetscScalar     one, other;

    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatSetSizes(A, n, n, n, n));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSeqAIJSetPreallocation(A, n, NULL));
    for (PetscInt i = 0; i < n; ++i) {
      for (PetscInt j = 0; j < n; ++j) PetscCall(MatSetValue(A, i, j, i == j ? 2 * n : -1 - (i + j) % 2, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(CreateVecs(A, &r, &z));
    PetscCall(VecDuplicate(r, &y));
    PetscCall(FillRandom(r, 3));
    PetscCall(CreatePC(A, SGS "-pc_pamg_coarse_limit 10", &pc));
    pamg = (PC_PAMG *)pc->data;
    PetscCheck(pamg->place->device == few && pamg->uncoloured != few && pamg->nlevel > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " rows: the levels are on the %s", n, few ? "host" : "device");
    PetscCheck(!few || pamg->level[0].ncolour == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " colours, not %" PetscInt_FMT, pamg->level[0].ncolour, n);
    for (int again = 0; again < 2; ++again) { // symmetric and positive, also after a refresh
      PetscCall(PCApply(pc, r, z));
      PetscCall(VecDot(z, r, &one));
      PetscCheck(PetscRealPart(one) > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not positive");
      PetscCall(PCApply(pc, z, y));
      PetscCall(VecDot(y, r, &one));
      PetscCall(VecDot(z, z, &other));
      PetscCheck(PetscAbsScalar(one - other) <= 1e-12 * PetscAbsScalar(other), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not symmetric");
      PetscCall(MatScale(A, 2));
      PetscCall(PCSetUp(pc));
      PetscCheck(pamg->nrefresh == again + 1 && pamg->place->device == few, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No refresh");
    }
    PetscCall(PetscOptionsCreate(&options));
    PetscCall(PetscOptionsInsertString(options, "-pc_pamg_smoother jacobi"));
    PetscCall(PetscObjectSetOptions((PetscObject)pc, options));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
    PetscCall(PetscOptionsDestroy(&options));
    PetscCall(PCSetUp(pc));
    PetscCheck(pamg->place->device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Jacobi on the host");
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

/* Which options leave the levels on the device; vectors of the host get what others get, also after a refresh */
static PetscErrorCode TestDevice(void)
{
  static const struct {
    const char *options;
    PetscBool   device;
  } cases[] = {
    {"",                                                                         PETSC_TRUE },
    {"-pc_pamg_cycle k -pc_pamg_smoother jacobi",                                PETSC_TRUE },
    {"-pc_pamg_precision single",                                                PETSC_TRUE },
    {"-pc_pamg_coarse ksp -pamg_coarse_pc_type jacobi -pamg_coarse_ksp_type cg", PETSC_TRUE },
    {"-pc_pamg_levels 1",                                                        PETSC_TRUE },
    {SGS,                                                                        PETSC_TRUE },
    {SGS "-pc_pamg_cycle k -pc_pamg_pre 2 -pc_pamg_post 2",                      PETSC_TRUE },
    {"-pc_pamg_matching greedy",                                                 PETSC_FALSE}
  };
  Mat A;
  Vec r, z, hr, hz, y;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("poisson", 3, 10, 1, &A));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(FillRandom(r, 11));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 10 * 10 * 10, &hr));
  PetscCall(VecDuplicate(hr, &hz));
  PetscCall(VecCopy(r, hr));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    PC        pc;
    PetscReal norm, away;

    PetscCall(CreatePC(A, cases[k].options, &pc));
    PetscCheck(((PC_PAMG *)pc->data)->place->device == cases[k].device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the levels are on the %s", cases[k].options, cases[k].device ? "host" : "device");
    for (int again = 0; again < 6; ++again) { // the first cycle after a set-up is not like the others
      if (again == 3) {
        PetscCall(PetscObjectStateIncrease((PetscObject)A));
        PetscCall(PCSetOperators(pc, A, A));
        PetscCall(PCSetUp(pc));
        PetscCheck(((PC_PAMG *)pc->data)->nrefresh == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no refresh", cases[k].options);
      }
      PetscCall(PCApply(pc, r, z));
      PetscCall(PCApply(pc, hr, hz));
      PetscCall(VecCopy(hz, y));
      PetscCall(VecNorm(z, NORM_2, &norm));
      PetscCall(VecAXPY(y, -1, z));
      PetscCall(VecNorm(y, NORM_2, &away));
      PetscCheck(norm > 0 && away <= 1e-14 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: vectors of the host differ by %g", cases[k].options, (double)(away / norm));
    }
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&hr));
  PetscCall(VecDestroy(&hz));
  PetscCall(MatDestroy(&A));
  PetscCall(TestColours());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "levels are on the device\n"));
  PetscFunctionReturn(0);
}

/* A band of more diagonals than the kernels of a level on the device take, in either precision */
static PetscErrorCode TestMany(void)
{
  enum {
    N     = 3000,
    REACH = 20
  };
  Mat       A;
  PetscInt  its[2], start, end;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    for (PetscInt j = PetscMax(0, i - REACH); j <= PetscMin(N - 1, i + REACH); ++j) PetscCall(MatSetValue(A, i, j, i == j ? 2 * REACH : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (int single = 0; single < 2; ++single) {
    PetscCall(ProblemSolve(A, single ? VCYCLE "-pc_pamg_precision single" : VCYCLE, NULL, &its[single], &residual));
    PetscCheck(its[single] <= 20 && residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations to a true residual of %g", its[single], (double)residual);
  }
  PetscCheck(PetscAbsInt(its[0] - its[1]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations in double precision, %" PetscInt_FMT " in single", its[0], its[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "many diagonals\n"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Grids of odd size, whose parts begin within a line: docs/methods.md has these counts */
static PetscErrorCode TestParts(void)
{
  static const struct {
    Case     c;
    PetscInt its[5];
  } cases[] = {
    {{"poisson", 3, 37, 1, VCYCLE SGS, 0, 0, 0},            {11, 12, 12, 12, 12}},
    {{"bubbles", 2, 63, 1e-6, VCYCLE SGS, 0, 0, 0},         {11, 12, 13, 12, 14}},
    {{"poisson", 3, 37, 1, KCYCLE SGS, 0, 0, 0},            {8, 8, 8, 8, 9}     },
    {{"bubbles", 2, 63, 1e-6, KCYCLE SGS, 0, 0, 0},         {11, 12, 12, 12, 13}},
    {{"poisson", 3, 37, 1, VCYCLE CHEBYSHEV22, 0, 0, 0},    {10, 10, 10, 10, 10}},
    {{"bubbles", 2, 63, 1e-6, VCYCLE CHEBYSHEV22, 0, 0, 0}, {10, 11, 11, 10, 12}},
  };
  static const PetscMPIInt sizes[] = {1, 2, 3, 5, 8};
  PetscMPIInt              size;
  size_t                   at = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  while (sizes[at] != size) ++at;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    const Case *c = &cases[k].c;
    Mat         A;
    PetscInt    its;
    PetscReal   residual;

    PetscCall(ProblemCreate(c->kind, c->dim, c->n, c->jump, &A));
    PetscCall(ProblemSolve(A, c->options, NULL, &its, &residual));
    PetscCheck(its == cases[k].its[at], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s on %d processes: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, c->kind, c->options, size, its, cases[k].its[at]);
    PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: true residual %g", c->options, (double)residual);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the iterations that are documented\n"));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-iterations",  TestIterations},
    {"-ranks",       TestRanks     },
    {"-parts",       TestParts     },
    {"-tetrahedra",  TestTetrahedra},
    {"-galerkin",    TestGalerkin  },
    {"-symmetry",    TestSymmetry  },
    {"-refresh",     TestRefresh   },
    {"-convert",     TestConvert   },
    {"-lone",        TestLone      },
    {"-matching",    TestMatching  },
    {"-precision",   TestPrecision },
    {"-regular",     TestRegular   },
    {"-view",        TestView      },
    {"-view_device", TestViewDevice},
    {"-device",      TestDevice    },
    {"-many",        TestMany      },
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    suffix: parts
    requires: !gpu
    nsize: {{1 2 3 5 8}}
    args: -parts

  test:
    suffix: iterations
    args: -iterations -mat_type aijdia

  test:
    suffix: ranks
    nsize: {{1 2 4}}
    args: -ranks -mat_type {{aij aijdia}}

  test:
    suffix: tetrahedra
    nsize: {{1 2 4 8}}
    args: -tetrahedra

  test:
    suffix: tetrahedra_device
    requires: gpu
    nsize: {{2 4}}
    args: -tetrahedra -mat_type aijicrs
    output_file: output/pamg_tetrahedra.out

  test:
    suites: valgrind(+3+aij)
    suffix: galerkin
    nsize: {{1 3}}
    args: -galerkin -mat_type {{aij aijhec}}

  test:
    suffix: symmetry
    nsize: {{1 3}}
    args: -symmetry -mat_type {{aij aijdia}}

  test:
    suites: valgrind(+2+aij)
    suffix: refresh
    nsize: {{1 2 3}}
    args: -refresh -mat_type {{aij aijdia aijicrs}}

  test:
    suffix: lone
    nsize: {{1 3 4}}
    args: -lone

  test:
    suffix: convert
    nsize: {{1 3}}
    requires: !gpu
    args: -convert -mat_type {{aij aijdia}}

  test:
    suffix: convert_device
    requires: gpu
    nsize: {{1 3}}
    args: -convert -mat_type {{aijdia aijicrs}}
    output_file: output/pamg_convert.out

  test:
    suffix: matching
    args: -matching

  test:
    suffix: precision
    nsize: {{1 3}}
    args: -precision -mat_type {{aij aijdia}}

  test:
    suffix: regular
    args: -regular -mat_type aijdia

  test:
    suffix: device
    requires: gpu
    args: -device -mat_type {{aijdia aijicrs}}

  test:
    suffix: many
    nsize: {{1 2}}
    args: -many -mat_type {{aijdia aijicrs}}

  test:
    suffix: view
    requires: !64bit_indices
    args: -view -mat_type aijdia
    filter: grep -E "pamg|cycle|pairs|level|^ +[0-9]+ +[0-9]+ |complexity"

  test:
    suffix: view_device
    requires: gpu
    args: -view_device -mat_type aijdia
    filter: grep -E "pamg|cycle|pairs|level|^ +[0-9]+ +[0-9]+ |complexity"

TEST*/
