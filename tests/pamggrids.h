/* Stencils on grids for the tests of the pairwise-aggregation multigrid: cell-centred, harmonic face means, natural numbering. */
#pragma once

#include "pamgproblems.h"

typedef enum {
  GRID_ONE,       /* coefficient 1 */
  GRID_BUBBLES,   /* two balls a direction, jump inside */
  GRID_BALLS,     /* jump in 40 balls anywhere */
  GRID_LOGNORMAL, /* exp(jump * normal), each cell by itself */
  GRID_WAVES,     /* exp(jump * sum of cos 4 pi x): planes through the domain have at most exp(-2 jump) of the largest */
  GRID_TURNING    /* 1; the weak direction, jump times the others, is x in one half of the domain and the last one in the other */
} GridField;

typedef enum {
  GRID_HALF,   /* homogeneous Dirichlet, half a cell away */
  GRID_WHOLE,  /* a whole cell away */
  GRID_NEUMANN /* with the constant attached */
} GridWalls;

typedef struct {
  PetscInt  n[3];
  GridField field;
  PetscReal jump;
  GridWalls walls;
  PetscReal along[3]; /* factors of the couplings of each direction, 0: one */
} Grid;

static inline PetscReal GridNormal(PetscInt cell)
{
  unsigned long long h = (unsigned long long)cell * 2 + 1;
  PetscReal          u[2];

  for (int k = 0; k < 2; ++k) {
    h += 0x9E3779B97F4A7C15ull;
    h    = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
    h    = (h ^ (h >> 27)) * 0x94D049BB133111EBull;
    h    = h ^ (h >> 31);
    u[k] = ((PetscReal)(h >> 11) + 0.5) / 9007199254740992.0;
  }
  return PetscSqrtReal(-2 * PetscLogReal(u[0])) * PetscCosReal(2 * PETSC_PI * u[1]);
}

/* Coefficient of a cell for faces in direction d */
static inline PetscReal GridCoefficient(const Grid *g, PetscInt cell, int d)
{
  PetscReal r2 = 0, waves = 0, k = g->along[d] > 0 ? g->along[d] : 1;
  PetscInt  rest = cell, last = 0;

  for (PetscInt e = 0; e < 3; rest /= g->n[e++]) {
    const PetscReal x = (rest % g->n[e] + 0.5) / g->n[e];

    if (g->n[e] > 1) last = e;
    if (g->n[e] > 1) waves += PetscCosReal(4 * PETSC_PI * x);
    if (g->n[e] > 1) r2 += PetscSqr(x - (x < 0.5 ? 0.25 : 0.75));
  }
  if (g->field == GRID_BALLS) {
    for (PetscInt b = 0; b < 40; ++b) {
      PetscReal s2 = 0;

      rest = cell;
      for (PetscInt e = 0; e < 3; rest /= g->n[e++]) {
        if (g->n[e] > 1) s2 += PetscSqr((rest % g->n[e] + 0.5) / g->n[e] - (PetscReal)((b * (2 * e + 7) * 7919 + 104729 * e) % 1009) / 1009);
      }
      if (s2 < PetscSqr(0.04 + 0.002 * b)) return k * g->jump;
    }
    return k;
  }
  switch (g->field) {
  case GRID_BUBBLES:
    return k * (r2 < 0.15 * 0.15 ? g->jump : 1);
  case GRID_LOGNORMAL:
    return k * PetscExpReal(g->jump * GridNormal(cell));
  case GRID_WAVES:
    return k * PetscExpReal(g->jump * waves);
  case GRID_TURNING:
    return k * (d == (cell % g->n[0] < g->n[0] / 2 ? 0 : last) ? g->jump : 1);
  default:
    return k;
  }
}

static inline PetscErrorCode GridRow(const Grid *g, Mat A, PetscInt i)
{
  PetscInt    col[7], nc       = 0;
  PetscScalar val[7], diagonal = 0;

  PetscFunctionBeginUser;
  for (PetscInt d = 0, stride = 1; d < 3; stride *= g->n[d++]) {
    for (PetscInt side = -1; side <= 1 && g->n[d] > 1; side += 2) {
      const PetscInt  at = i / stride % g->n[d] + side;
      const PetscReal k  = GridCoefficient(g, i, (int)d);

      if (at < 0 || at >= g->n[d]) {
        diagonal += g->walls == GRID_HALF ? 2 * k : g->walls == GRID_WHOLE ? k : 0;
        continue;
      }
      col[nc] = i + side * stride;
      val[nc] = -2 / (1 / k + 1 / GridCoefficient(g, i + side * stride, (int)d));
      diagonal -= val[nc++];
    }
  }
  col[nc]   = i;
  val[nc++] = diagonal;
  PetscCall(MatSetValues(A, 1, &i, nc, col, val, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills A; makes it when *A is NULL, of the type of -mat_type */
static inline PetscErrorCode GridAssemble(const Grid *g, Mat *A)
{
  const PetscInt N = g->n[0] * g->n[1] * g->n[2];
  PetscInt       start, end;

  PetscFunctionBeginUser;
  if (!*A) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
    PetscCall(MatSetType(*A, MATAIJ));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 6, NULL));
  }
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) PetscCall(GridRow(g, *A, i));
  PetscCall(Assemble(*A));
  if (g->walls == GRID_NEUMANN) PetscCall(AttachConstant(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A smooth right-hand side; without mean for a singular A */
static inline PetscErrorCode GridRHS(const Grid *g, Mat A, Vec *b)
{
  MatNullSpace nullspace;
  PetscInt     start, end;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, b, NULL));
  PetscCall(VecGetOwnershipRange(*b, &start, &end));
  PetscCall(VecGetArrayWrite(*b, &v));
  for (PetscInt i = start; i < end; ++i) {
    const PetscReal x = (i % g->n[0] + 0.5) / g->n[0], y = (i / g->n[0] % g->n[1] + 0.5) / g->n[1], z = (i / (g->n[0] * g->n[1]) + 0.5) / g->n[2];

    v[i - start] = PetscSinReal(3 * z + 1) * PetscCosReal(5 * y) + z * y - x;
  }
  PetscCall(VecRestoreArrayWrite(*b, &v));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, *b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations to a true residual of 1e-6 with the options */
static inline PetscErrorCode GridSolve(const Grid *g, Mat A, const char extra[], KSP *ksp, PetscInt *its)
{
  PetscReal    residual;
  PetscOptions options;
  KSP          own;
  Vec          x, b;

  PetscFunctionBeginUser;
  PetscCall(GridRHS(g, A, &b));
  PetscCall(CreateVecs(A, &x, NULL));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, LASTLEVEL));
  PetscCall(PetscOptionsInsertString(options, extra));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &own));
  PetscCall(PetscObjectSetOptions((PetscObject)own, options));
  PetscCall(KSPSetOperators(own, A, A));
  PetscCall(KSPSetTolerances(own, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPSetNormType(own, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(own));
  PetscCall(KSPSolve(own, b, x));
  PetscCall(KSPGetIterationNumber(own, its));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: true residual %g after %" PetscInt_FMT " iterations", extra, (double)residual, *its);
  PetscCall(PetscObjectSetOptions((PetscObject)own, NULL));
  if (ksp) *ksp = own;
  else PetscCall(KSPDestroy(&own));
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
