/* The levels of PC pamg, also after changes of the matrix, and its cycles as operators. */
#include "pamg.h"

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
    PetscCheck(away <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Level %" PetscInt_FMT " differs from P^T A P by %g of its norm", l + 1,
               (double)(away / norm));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&P));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&D));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode TestGalerkin(void)
{
  static const char *const options[] = {AGGREGATES "-pc_pamg_coarse_limit 20",
                                        AGGREGATES "-pc_pamg_coarse_limit 20 -pc_pamg_passes 3",
                                        AGGREGATES "-pc_pamg_coarse_limit 20 -pc_pamg_passes 1 -pc_pamg_matching greedy",
                                        AGGREGATES "-pc_pamg_coarse_limit 20 -pc_pamg_quality 8",
                                        AGGREGATES "-pc_pamg_coarse_limit 20 -pc_pamg_gather 0",
                                        AGGREGATES "-pc_pamg_coarse_limit 20 -pc_pamg_gather 150"};

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
PetscErrorCode TestSymmetry(void)
{
  static const char *const options[] = {"",
                                        "-pc_pamg_cycle w",
                                        "-pc_pamg_smoother jacobi",
                                        "-pc_pamg_smoother l1jacobi -pc_pamg_pre 2 -pc_pamg_post 2",
                                        "-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 3",
                                        "-pc_pamg_pre 3 -pc_pamg_post 3 -pc_pamg_passes 3 -pc_pamg_cycle w",
                                        "-pc_pamg_gather 0",
                                        "-pc_pamg_gather 0 -pc_pamg_smoother jacobi",
                                        SGS,
                                        SGS "-pc_pamg_pre 3 -pc_pamg_post 3 -pc_pamg_cycle w"};

  PetscFunctionBeginUser;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    for (int k = 0; k < 3; ++k) {
      Mat  A;
      PC   pc;
      char text[256], problem[16];

      PetscCall(ProblemCreate(k == 0 ? "poisson" : k == 1 ? "bubbles" : "tetrahedra", k == 0 ? 2 : 3, k == 0 ? 37 : 13, k ? 1e3 : 1, &A));
      PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_pamg_precision double -pc_pamg_coarse_limit 20 %s", options[o]));
      PetscCall(PetscSNPrintf(problem, sizeof(problem), "problem %d", k));
      PetscCall(CreatePC(A, text, &pc));
      PetscCall(CheckSymmetric(pc, (PetscBool)(k == 1), options[o], problem));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cycles are symmetric\n"));
  PetscFunctionReturn(0);
}

/* New values in the old pattern: the levels belong to them, the aggregates stay, and iterations are those of a fresh set-up as long as the
   jumps are where they were */
PetscErrorCode TestRefresh(void)
{
  static const char *const options[] =
    {"", "-pc_pamg_reuse 0", "-pc_pamg_smoother chebyshev", "-pc_pamg_precision single", "-pc_pamg_gather 0", "-pc_pamg_smoother l1jacobi -pc_pamg_gather 150",
     SGS};

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
      PetscCall(PetscSNPrintf(text, sizeof(text), AGGREGATES "-pc_pamg_coarse_limit 20 %s", options[o]));
      PetscCall(CreateVecs(A, &d, &r)); // before the first set-up, which is for the device when PETSc uses one
      PetscCall(CreatePC(A, text, &pc));
      pamg = (PC_PAMG *)pc->data;
      PetscCall(VecDuplicate(r, &z));
      PetscCall(VecDuplicate(r, &y));
      PetscCall(FillRandom(r, 3));
      PetscCall(MatScale(A, 4)); // no pair is chosen otherwise
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetUp(pc));
      PetscCheck(pamg->nsetup == (o == 1 ? 2 : 1) && pamg->nrefresh == (o == 1 ? 0 : 1), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %" PetscInt_FMT " set-ups and %" PetscInt_FMT " refreshes", options[o], pamg->nsetup, pamg->nrefresh);
      PetscCall(CheckGalerkin(pc));
      PetscCall(CreatePC(A, text, &fresh));
      PetscCall(PCApply(pc, r, z));
      PetscCall(PCApply(fresh, r, y));
      PetscCall(VecAXPY(z, -1, y));
      PetscCall(VecNorm(z, NORM_2, &away));
      PetscCall(VecNorm(y, NORM_2, &norm));
      PetscCheck(away <= (o == 3 ? 1e-4 : 1e-10) * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, problem %d: a refresh differs from a fresh set-up by %g",
                 options[o], k, (double)(away / norm));
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

/* Rows that need no coarse ones lie at the limits of processes: what only they have of other processes is no part of the next level, whose
   values are P^T A P after a refresh, too */
PetscErrorCode TestLone(void)
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
  PetscCall(CreatePC(A, AGGREGATES "-pc_pamg_gather 0 -pc_pamg_coarse_limit 20", &pc));
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

/* Another matrix takes the place of the first one, which is freed, or the pattern changes, and the preconditioner is to be kept: M^-1 is that
   of a fresh set-up */
static PetscErrorCode CheckReplaced(PC pc, const char *options, PetscReal tol, Mat *A, Vec r, Vec y, Vec z)
{
  const PetscInt row[2] = {5, 700};
  Mat            B;
  PC             fresh;
  PetscReal      away, norm;

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
    PetscCall(VecNorm(y, NORM_2, &away));
    PetscCall(VecNorm(z, NORM_2, &norm));
    PetscCheck(away <= tol * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: away by %g", changed ? "another pattern" : "another matrix", (double)(away / norm));
    PetscCall(PCDestroy(&fresh));
  }
  PetscFunctionReturn(0);
}

/* The matrix takes another type, of which the preconditioner hears nothing: the same M^-1, and half of it after the matrix was doubled. Levels
   on the device stay there with the first two */
PetscErrorCode TestConvert(void)
{
  static const char *const types[] = {MATAIJICRS, MATAIJDIA, MATAIJ}, *const options[] = {"", "-pc_pamg_precision single", "-pc_pamg_smoother chebyshev",
                                                                                          "-pc_pamg_precision half"};

  PetscFunctionBeginUser;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    const PetscReal tol = o % 2 ? 1e-4 : 1e-10;
    Mat             A;
    PC              pc;
    Vec             r, z, y;
    PetscReal       away, norm;
    size_t          ntype;

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
      PetscCheck(away <= tol * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s, %s: away by %g", options[o], types[t / 2], t % 2 ? "new values" : "reused",
                 (double)(away / norm));
    }
    PetscCall(CheckReplaced(pc, options[o], tol, &A, r, y, z));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&y));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a matrix may change its type\n"));
  PetscFunctionReturn(0);
}
