/* PFMG on hypre's structures for grids. Its options: relaxation (weighted Jacobi, red-black Gauss-Seidel), coarse matrix (Galerkin or not), storage of A */
#include "hypre.h"
#include <HYPRE_struct_ls.h>

typedef struct {
  HYPRE_StructGrid    grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix  A;
  HYPRE_StructVector  b, x;
} System;

/* The cells of this process: whole lines in 2-D, whole planes in 3-D */
static void Box(const Problem *p, HYPRE_Int lower[3], HYPRE_Int upper[3])
{
  const PetscInt layer = p->N / p->n[p->dim - 1];

  for (PetscInt d = 0; d < p->dim; ++d) {
    lower[d] = 0;
    upper[d] = (HYPRE_Int)p->n[d] - 1;
  }
  lower[p->dim - 1] = (HYPRE_Int)(p->first / layer);
  upper[p->dim - 1] = (HYPRE_Int)((p->first + p->rows) / layer) - 1;
}

/* The entries of this process' rows, n entries a row in the order of the stencil */
static PetscErrorCode GetEntries(const Problem *p, PetscInt n, HYPRE_Int offsets[][3], HYPRE_Real entries[])
{
  const PetscInt stride[3] = {1, p->n[0], p->n[0] * p->n[1]};
  PetscInt       col[7], shift[7];
  PetscScalar    val[7];

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < n; ++e) shift[e] = offsets[e][0] * stride[0] + offsets[e][1] * stride[1] + offsets[e][2] * stride[2];
  for (PetscInt i = 0; i < p->rows; ++i) {
    const PetscInt row = p->first + i, nz = Row(p, row, col, val);

    for (PetscInt e = 0; e < n; ++e) {
      entries[i * n + e] = 0;
      for (PetscInt k = 0; k < nz; ++k)
        if (col[k] == row + shift[e]) entries[i * n + e] = val[k];
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrix(const Problem *p, PetscBool symmetric, System *s)
{
  HYPRE_Int   offsets[7][3], lower[3], upper[3], index[7] = {0, 1, 2, 3, 4, 5, 6};
  PetscInt    n = 1;
  HYPRE_Real *values;
  void       *placed;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(offsets, sizeof(offsets)));
  for (PetscInt d = 0; d < p->dim; ++d) {
    for (int side = 1; side >= (symmetric ? 1 : -1); side -= 2) offsets[n++][d] = side;
  }
  Box(p, lower, upper);
  CheckHypre(HYPRE_StructStencilCreate((HYPRE_Int)p->dim, (HYPRE_Int)n, &s->stencil));
  for (PetscInt e = 0; e < n; ++e) CheckHypre(HYPRE_StructStencilSetElement(s->stencil, (HYPRE_Int)e, offsets[e]));
  CheckHypre(HYPRE_StructMatrixCreate(PETSC_COMM_WORLD, s->grid, s->stencil, &s->A));
  CheckHypre(HYPRE_StructMatrixSetSymmetric(s->A, symmetric));
  CheckHypre(HYPRE_StructMatrixInitialize(s->A));
  PetscCall(PetscMalloc1(n * p->rows, &values));
  PetscCall(GetEntries(p, n, offsets, values));
  PetscCall(Place((size_t)(n * p->rows), values, sizeof(*values), &placed));
  CheckHypre(HYPRE_StructMatrixSetBoxValues(s->A, lower, upper, (HYPRE_Int)n, index, (HYPRE_Real *)placed));
  CheckHypre(HYPRE_StructMatrixAssemble(s->A));
  PetscCall(Unplace(0, placed, 0, NULL));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSystem(const Problem *p, PetscBool symmetric, System *s)
{
  HYPRE_Int   lower[3], upper[3];
  HYPRE_Real *values;
  void       *placed;

  PetscFunctionBeginUser;
  Box(p, lower, upper);
  CheckHypre(HYPRE_StructGridCreate(PETSC_COMM_WORLD, (HYPRE_Int)p->dim, &s->grid));
  CheckHypre(HYPRE_StructGridSetExtents(s->grid, lower, upper));
  CheckHypre(HYPRE_StructGridAssemble(s->grid));
  PetscCall(CreateMatrix(p, symmetric, s));
  PetscCall(PetscMalloc1(p->rows, &values));
  for (PetscInt i = 0; i < p->rows; ++i) values[i] = RightHandSide(p, p->first + i);
  PetscCall(Place((size_t)p->rows, values, sizeof(*values), &placed));
  CheckHypre(HYPRE_StructVectorCreate(PETSC_COMM_WORLD, s->grid, &s->b));
  CheckHypre(HYPRE_StructVectorInitialize(s->b));
  CheckHypre(HYPRE_StructVectorSetBoxValues(s->b, lower, upper, (HYPRE_Real *)placed));
  CheckHypre(HYPRE_StructVectorAssemble(s->b));
  CheckHypre(HYPRE_StructVectorCreate(PETSC_COMM_WORLD, s->grid, &s->x));
  CheckHypre(HYPRE_StructVectorInitialize(s->x));
  CheckHypre(HYPRE_StructVectorAssemble(s->x));
  PetscCall(Unplace(0, placed, 0, NULL));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroySystem(System *s)
{
  PetscFunctionBeginUser;
  CheckHypre(HYPRE_StructVectorDestroy(s->x));
  CheckHypre(HYPRE_StructVectorDestroy(s->b));
  CheckHypre(HYPRE_StructMatrixDestroy(s->A));
  CheckHypre(HYPRE_StructStencilDestroy(s->stencil));
  CheckHypre(HYPRE_StructGridDestroy(s->grid));
  PetscFunctionReturn(0);
}

/* One set-up and solve from zero to |r| <= 1e-6 |b| */
static PetscErrorCode Once(System *s, int relax, int rap, Outcome *o)
{
  HYPRE_StructSolver pcg, pfmg;
  HYPRE_Int          its;
  PetscLogDouble     t[3];

  PetscFunctionBeginUser;
  CheckHypre(HYPRE_StructVectorSetConstantValues(s->x, 0.0));
  PetscCall(Now(&t[0]));
  CheckHypre(HYPRE_StructPFMGCreate(PETSC_COMM_WORLD, &pfmg));
  CheckHypre(HYPRE_StructPFMGSetMaxIter(pfmg, 1));
  CheckHypre(HYPRE_StructPFMGSetTol(pfmg, 0.0));
  CheckHypre(HYPRE_StructPFMGSetZeroGuess(pfmg));
  CheckHypre(HYPRE_StructPFMGSetRelaxType(pfmg, relax));
  CheckHypre(HYPRE_StructPFMGSetRAPType(pfmg, rap));
  CheckHypre(HYPRE_StructPCGCreate(PETSC_COMM_WORLD, &pcg));
  CheckHypre(HYPRE_StructPCGSetMaxIter(pcg, 500));
  CheckHypre(HYPRE_StructPCGSetTol(pcg, 1e-6));
  CheckHypre(HYPRE_StructPCGSetTwoNorm(pcg, 1));
  CheckHypre(HYPRE_StructPCGSetPrecond(pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, pfmg));
  CheckHypre(HYPRE_StructPCGSetup(pcg, s->A, s->b, s->x));
  PetscCall(Now(&t[1]));
  HYPRE_StructPCGSolve(pcg, s->A, s->b, s->x); // without convergence it returns an error, and its residual says so
  HYPRE_ClearAllErrors();
  PetscCall(Now(&t[2]));
  CheckHypre(HYPRE_StructPCGGetNumIterations(pcg, &its));
  CheckHypre(HYPRE_StructPCGDestroy(pcg));
  CheckHypre(HYPRE_StructPFMGDestroy(pfmg));
  o->its   = its;
  o->setup = PetscMin(o->setup, t[1] - t[0]);
  o->solve = PetscMin(o->solve, t[2] - t[1]);
  PetscFunctionReturn(0);
}

static PetscErrorCode GetResidual(const Problem *p, const Rows *A, System *s, PetscReal *residual)
{
  HYPRE_Int   lower[3], upper[3];
  HYPRE_Real *x;
  void       *placed;

  PetscFunctionBeginUser;
  Box(p, lower, upper);
  PetscCall(PetscCalloc1(p->rows, &x));
  PetscCall(Place((size_t)p->rows, x, sizeof(*x), &placed));
  CheckHypre(HYPRE_StructVectorGetBoxValues(s->x, lower, upper, (HYPRE_Real *)placed));
  PetscCall(Unplace((size_t)p->rows, placed, sizeof(*x), x));
  PetscCall(Residual(p, A, x, residual));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(0);
}

PetscErrorCode SolvePFMG(const Problem *p, const Rows *A, PetscInt repeats, Outcome *best)
{
  System s;

  PetscFunctionBeginUser;
  for (int symmetric = 0; symmetric <= 1; ++symmetric) {
    PetscCall(CreateSystem(p, (PetscBool)symmetric, &s));
    for (int k = 0; k < 4; ++k) {
      const int relax = 1 + k / 2, rap = k % 2;
      Outcome   o = {.setup = PETSC_MAX_REAL, .solve = PETSC_MAX_REAL};

      PetscCall(PetscSNPrintf(o.name, sizeof(o.name), "PFMG, relax %d, RAP %d%s", relax, rap, symmetric ? ", symmetric" : ""));
      for (PetscInt i = -1; i < repeats; ++i) PetscCall(Once(&s, relax, rap, &o));
      PetscCall(GetResidual(p, A, &s, &o.residual));
      PetscCall(Better(&o, best));
    }
    PetscCall(DestroySystem(&s));
  }
  PetscFunctionReturn(0);
}
