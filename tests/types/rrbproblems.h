/* Matrices of 5- and 9-point stencils for the tests of the repeated red-black preconditioner. */
#pragma once

#include "runner.h"
#include <polder.h>

/* Entries of a grid in natural order; kinds of test problems */
typedef enum {
  POISSON,  /* 5-point, Dirichlet beyond the grid */
  NINE,     /* 9-point Mehrstellen, 20, -4, -1 */
  BILINEAR, /* 9-point, 8, -1, -1 */
  RANDOM5,  /* 5-point, random couplings and reaction */
  RANDOM9,  /* the same with 9 points */
  NEUMANN,  /* RANDOM5 without reaction */
  DRY,      /* RANDOM5 with every third node without couplings */
  LAKES,    /* RANDOM5 without reaction and couplings of land: every lake is singular */
  WAVES     /* vertical structure of water waves over the sea bed number seed (variational Boussinesq model, parabolic, 5 m) */
} Kind;

typedef struct {
  Kind     kind;
  PetscInt nx, ny, seed;
} Problem;

/* In [0, 1), from a pair of nodes in either order */
static inline PetscReal Hash(PetscInt seed, PetscInt i, PetscInt j)
{
  unsigned long long h = (unsigned long long)PetscMin(i, j) * 0x9E3779B97F4A7C15ull + (unsigned long long)PetscMax(i, j) * 0xD1B54A32D192ED03ull +
                         (unsigned long long)seed * 0x2545F4914F6CDD1Dull;

  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBull;
  return (PetscReal)((h ^ (h >> 31)) >> 11) / 9007199254740992.0;
}

/* Water depth at a node; 0: land */
static inline PetscReal Depth(const Problem *p, PetscInt i)
{
  const PetscReal x = 5.0 * (i % p->nx), y = 5.0 * (i / p->nx), width = 5.0 * p->ny;

  switch (p->seed) {
  case 0:
    return 30;
  case 1:
    return 10;
  case 2:
    return 20 + 8 * PetscSinReal(x / 300) * PetscCosReal(y / 220) + 2 * PetscSinReal(x / 41 + y / 57);
  default: /* a river, most of the rest is land */
    return PetscAbsReal(y - width / 2 - 0.25 * width * PetscSinReal(x / 500)) < 0.1 * width ? 8 : 0;
  }
}

static inline PetscBool IsDry(const Problem *p, PetscInt i)
{
  const PetscInt land = p->kind == LAKES ? (i / p->nx / 7) * 1000 + i % p->nx / 7 : i; /* in squares of 7 by 7, or single nodes */

  return (PetscBool)((p->kind == DRY || p->kind == LAKES) && Hash(p->seed + 7, land, land) < (p->kind == DRY ? 0.33 : 0.45));
}

/* Coupling of neighbours i and j, diagonal of i when they are the same */
static inline PetscScalar Coupling(const Problem *p, PetscInt i, PetscInt j)
{
  const PetscInt  dx = PetscAbsInt(i % p->nx - j % p->nx), dy = PetscAbsInt(i / p->nx - j / p->nx);
  const PetscBool corner = (PetscBool)(dx && dy);

  switch (p->kind) {
  case POISSON:
    return corner ? 0 : -1;
  case NINE:
    return corner ? -1 : -4;
  case BILINEAR:
    return -1;
  case WAVES:
    return corner || Depth(p, i) == 0 || Depth(p, j) == 0 ? 0 : -(PetscPowRealInt(Depth(p, i), 3) + PetscPowRealInt(Depth(p, j), 3)) / 15;
  default:
    if (IsDry(p, i) || IsDry(p, j) || (corner && p->kind != RANDOM9)) return 0;
    return -0.1 - Hash(p->seed, i, j);
  }
}

/* Columns and values of row i, the diagonal first */
static inline PetscInt Row(const Problem *p, PetscInt i, PetscInt col[], PetscScalar val[])
{
  PetscInt count = 1;

  col[0] = i;
  val[0] = p->kind == POISSON ? 4 : p->kind == NINE ? 20 : p->kind == BILINEAR ? 8 : 0;
  for (PetscInt dy = -1; dy <= 1; ++dy) {
    for (PetscInt dx = -1; dx <= 1; ++dx) {
      const PetscInt x = i % p->nx + dx, y = i / p->nx + dy, j = y * p->nx + x;

      if ((!dx && !dy) || x < 0 || x >= p->nx || y < 0 || y >= p->ny) continue;
      if (Coupling(p, i, j) == 0) continue;
      col[count] = j;
      val[count] = Coupling(p, i, j);
      if (p->kind >= RANDOM5) val[0] -= val[count];
      ++count;
    }
  }
  if (p->kind == RANDOM5 || p->kind == RANDOM9 || p->kind == DRY) val[0] += IsDry(p, i) ? 1 : 0.05 + Hash(p->seed, i, i);
  if (p->kind == WAVES) val[0] += 25 * Depth(p, i) / 3;
  if (val[0] == 0) val[0] = 1;
  return count;
}

static inline PetscErrorCode Fill(const Problem *p, Mat A)
{
  PetscInt    start, end, col[9];
  PetscScalar val[9];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt count = Row(p, i, col, val);

    PetscCall(MatSetValues(A, 1, &i, count, col, val, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreateMatrix(const Problem *p, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, p->nx * p->ny, p->nx * p->ny));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 9, NULL, 6, NULL));
  PetscCall(Fill(p, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreatePC(Mat A, PetscInt nx, PetscInt ny, PetscInt levels, PetscReal omega, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCRRB));
  if (nx) PetscTryMethod(*pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (*pc, nx, ny));
  PetscTryMethod(*pc, "PCRRBSetLevels_C", (PC, PetscInt), (*pc, levels));
  PetscTryMethod(*pc, "PCRRBSetOmega_C", (PC, PetscReal), (*pc, omega));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Krylov solver with rrb, to 1e-6 in at most 300 steps */
static inline PetscErrorCode CreateSolver(Mat A, KSPType type, PetscInt levels, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCRRB));
  PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, levels));
  PetscCall(KSPSetTolerances(*ksp, 1e-6, 0, 1e30, 300));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sea of 40 waves of 20 to 150 m, zero on land */
static inline PetscReal Sea(const Problem *p, PetscInt i)
{
  PetscReal sum = 0;

  for (PetscInt w = 0; w < 40 && Depth(p, i) > 0; ++w) {
    const PetscReal length = 20 + 130 * Hash(1, w, w), direction = 2 * PETSC_PI * Hash(2, w, w);

    sum += (0.1 + 0.9 * Hash(3, w, w)) *
           PetscCosReal(2 * PETSC_PI / length * 5 * (i % p->nx * PetscCosReal(direction) + i / p->nx * PetscSinReal(direction)) + 2 * PETSC_PI * Hash(4, w, w));
  }
  return sum;
}

/* u = x (x-1) y (y-1) e^(xy) */
static inline PetscErrorCode FillExact(const Problem *p, Vec u)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < p->nx * p->ny; ++i) {
    const PetscReal x = (i % p->nx + 1.0) / (p->nx + 1.0), y = (i / p->nx + 1.0) / (p->ny + 1.0);

    PetscCall(VecSetValue(u, i, p->kind == WAVES ? Sea(p, i) : x * (x - 1) * y * (y - 1) * PetscExpReal(x * y), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(u));
  PetscCall(VecAssemblyEnd(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Report(const char what[], PetscBool good, PetscReal value)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: ", what));
  PetscCall(good ? PetscPrintf(PETSC_COMM_WORLD, "yes\n") : PetscPrintf(PETSC_COMM_WORLD, "NO, %g\n", (double)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
