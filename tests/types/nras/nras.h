/* Matrices and comparisons for the tests of PC nras. */
#pragma once

#include "core/compat.h"
#include "graphs.h"
#include "vecs.h"
#include <petscksp.h>

/* What is printed is a judgement; the figure only when it is wrong */
static inline PetscErrorCode Report(const char *what, PetscBool ok, PetscReal value)
{
  PetscFunctionBeginUser;
  if (ok) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: ok\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: WRONG, %g\n", what, (double)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  STENCIL,   /* 7 points with convection */
  GRAPH,     /* random, with entries whose transposed ones are missing */
  SYMMETRIC, /* random, symmetric and positive definite */
  NKIND
} Kind;

/* Random number of the pair (i, j) in [0, 1); variant: other values in the same pattern */
static inline PetscReal Hash(PetscInt i, PetscInt j, PetscInt variant)
{
  unsigned long long state = (unsigned long long)i * 1000003u + (unsigned long long)j * 7919u + (unsigned long long)variant * 104729u;

  (void)Next(&state);
  return Next(&state);
}

/* 7 points: these couplings to the neighbours before and behind a row in each direction, and other diagonals in each variant */
static inline PetscErrorCode FillStencil(Mat A, const PetscInt n[3], PetscInt variant, PetscReal before, PetscReal behind)
{
  const PetscInt stride[3] = {1, n[0], n[0] * n[1]};
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};

    PetscCall(MatSetValue(A, i, i, 6.3 + 0.2 * Hash(i, i, variant), INSERT_VALUES));
    for (int d = 0; d < 3; ++d) {
      if (at[d] > 0) PetscCall(MatSetValue(A, i, i - stride[d], before, INSERT_VALUES));
      if (at[d] < n[d] - 1) PetscCall(MatSetValue(A, i, i + stride[d], behind, INSERT_VALUES));
    }
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FillGraph(Mat A, PetscBool symmetric, PetscInt variant)
{
  PetscInt start, end, N;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscScalar diagonal = 0.5;

    for (PetscInt j = 0; j < N; ++j) {
      const PetscInt  a = symmetric ? PetscMin(i, j) : i, b = symmetric ? PetscMax(i, j) : j;
      const PetscReal v = Hash(a, b, variant);

      if (i == j || Hash(a, b, 77) > 5.0 / N) continue;
      PetscCall(MatSetValue(A, i, j, symmetric ? -v : v - 0.6, INSERT_VALUES));
      diagonal += PetscAbsScalar(v);
    }
    PetscCall(MatSetValue(A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Fill(Kind kind, PetscInt variant, Mat A)
{
  static const PetscInt n[3] = {7, 6, 5};

  PetscFunctionBeginUser;
  if (kind == STENCIL) PetscCall(FillStencil(A, n, variant, -1.4 - 0.1 * variant, -0.6 + 0.1 * variant));
  else PetscCall(FillGraph(A, (PetscBool)(kind == SYMMETRIC), variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Create(Kind kind, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(PETSC_DECIDE, kind == STENCIL ? 210 : 150, A));
  PetscCall(Fill(kind, 0, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner of A with these options, which are taken from the database again; -sub_pc_factor_mat_ordering_type natural is among them */
static inline PetscErrorCode CreatePC(Mat A, const char options[], PC *pc)
{
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&own));
  PetscCall(PetscOptionsInsertString(own, options));
  PetscCall(PetscOptionsInsertString(own, "-sub_pc_type ilu -sub_pc_factor_mat_ordering_type natural -sub_ksp_type preonly"));
  PetscCall(PetscOptionsPush(own));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCSetUpOnBlocks(*pc));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |M^-1 r - N^-1 r| / |M^-1 r| for one r */
static inline PetscErrorCode Difference(PC M, PC N, PetscReal *difference)
{
  Mat       A;
  Vec       r, y, z;
  PetscReal norm;
  PetscInt  start, end;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(M, NULL, &A));
  PetscCall(CreateVecs(A, &y, &r));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecGetOwnershipRange(r, &start, &end));
  for (PetscInt i = start; i < end; ++i) PetscCall(VecSetValue(r, i, Hash(i, 3, 5) - 0.3, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(r));
  PetscCall(VecAssemblyEnd(r));
  PetscCall(PCApply(M, r, y));
  PetscCall(PCApply(N, r, z));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_2, difference));
  *difference /= norm;
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for two strings of options */
static inline PetscErrorCode DifferenceOf(Mat A, const char first[], const char second[], PetscReal *difference)
{
  PC pc[2];

  PetscFunctionBeginUser;
  PetscCall(CreatePC(A, first, &pc[0]));
  PetscCall(CreatePC(A, second, &pc[1]));
  PetscCall(Difference(pc[0], pc[1], difference));
  PetscCall(PCDestroy(&pc[0]));
  PetscCall(PCDestroy(&pc[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a preconditioner with these options, from before the values of A that it gets now, the same as a new one? */
static inline PetscErrorCode ReportNewValues(Mat A, const char options[], PC pc)
{
  PC        fresh;
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(PCSetUp(pc));
  PetscCall(CreatePC(A, options, &fresh));
  PetscCall(Difference(pc, fresh, &difference));
  PetscCall(Report("new values", (PetscBool)(difference == 0), difference));
  PetscCall(PCDestroy(&fresh));
  PetscFunctionReturn(PETSC_SUCCESS);
}
