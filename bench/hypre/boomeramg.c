/*
  BoomerAMG on hypre's matrices by rows, with extended+i interpolation. Its options: strong threshold 0.25 or 0.5, one aggressive level or none, and the
  smoother: on a host hybrid symmetric Gauss-Seidel (6) and its l1 form (8) after HMIS, on a device l1-Jacobi (18) and Chebyshev (16) after PMIS.
*/
#include "hypre.h"
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>

#if defined(HYPRE_USING_CUDA)
static const int coarsening = 8, smoothers[] = {18, 16};
#else
static const int coarsening = 10, smoothers[] = {6, 8};
#endif

typedef struct {
  HYPRE_IJMatrix     ijA;
  HYPRE_IJVector     ijb, ijx;
  HYPRE_ParCSRMatrix A;
  HYPRE_ParVector    b, x;
} System;

static PetscErrorCode CreateMatrix(const Problem *p, const Rows *A, System *s)
{
  const HYPRE_BigInt first = (HYPRE_BigInt)p->first, last = (HYPRE_BigInt)(p->first + p->rows) - 1;
  const size_t       n = (size_t)p->rows, nz = (size_t)A->ai[p->rows];
  HYPRE_Int         *sizes;
  HYPRE_BigInt      *rows, *cols;
  void              *at[4];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n, &sizes, n, &rows, nz, &cols));
  for (PetscInt i = 0; i < p->rows; ++i) {
    rows[i]  = first + (HYPRE_BigInt)i;
    sizes[i] = (HYPRE_Int)(A->ai[i + 1] - A->ai[i]);
  }
  for (size_t k = 0; k < nz; ++k) cols[k] = (HYPRE_BigInt)A->aj[k];
  PetscCall(Place(n, sizes, sizeof(*sizes), &at[0]));
  PetscCall(Place(n, rows, sizeof(*rows), &at[1]));
  PetscCall(Place(nz, cols, sizeof(*cols), &at[2]));
  PetscCall(Place(nz, A->aa, sizeof(*A->aa), &at[3]));
  CheckHypre(HYPRE_IJMatrixCreate(PETSC_COMM_WORLD, first, last, first, last, &s->ijA));
  CheckHypre(HYPRE_IJMatrixSetObjectType(s->ijA, HYPRE_PARCSR));
  CheckHypre(HYPRE_IJMatrixInitialize(s->ijA));
  CheckHypre(HYPRE_IJMatrixSetValues(s->ijA, (HYPRE_Int)n, (HYPRE_Int *)at[0], (HYPRE_BigInt *)at[1], (HYPRE_BigInt *)at[2], (HYPRE_Real *)at[3]));
  CheckHypre(HYPRE_IJMatrixAssemble(s->ijA));
  CheckHypre(HYPRE_IJMatrixGetObject(s->ijA, (void **)&s->A));
  for (int k = 0; k < 4; ++k) PetscCall(Unplace(0, at[k], 0, NULL));
  PetscCall(PetscFree3(sizes, rows, cols));
  PetscFunctionReturn(0);
}

/* A vector with the values of the right-hand side, or zero */
static PetscErrorCode CreateVector(const Problem *p, PetscBool zero, HYPRE_IJVector *ij, HYPRE_ParVector *v)
{
  const HYPRE_BigInt first = (HYPRE_BigInt)p->first, last = (HYPRE_BigInt)(p->first + p->rows) - 1;
  HYPRE_Real        *values;
  void              *placed;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p->rows, &values));
  for (PetscInt i = 0; i < p->rows; ++i) values[i] = zero ? 0 : RightHandSide(p, p->first + i);
  PetscCall(Place((size_t)p->rows, values, sizeof(*values), &placed));
  CheckHypre(HYPRE_IJVectorCreate(PETSC_COMM_WORLD, first, last, ij));
  CheckHypre(HYPRE_IJVectorSetObjectType(*ij, HYPRE_PARCSR));
  CheckHypre(HYPRE_IJVectorInitialize(*ij));
  CheckHypre(HYPRE_IJVectorSetValues(*ij, (HYPRE_Int)p->rows, NULL, (HYPRE_Real *)placed)); // no indices: all rows of this process
  CheckHypre(HYPRE_IJVectorAssemble(*ij));
  CheckHypre(HYPRE_IJVectorGetObject(*ij, (void **)v));
  PetscCall(Unplace(0, placed, 0, NULL));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* One set-up and solve from zero to |r| <= 1e-6 |b| */
static PetscErrorCode Once(System *s, double threshold, int aggressive, int smoother, Outcome *o)
{
  HYPRE_Solver   pcg, amg;
  HYPRE_Int      its;
  PetscLogDouble t[3];

  PetscFunctionBeginUser;
  CheckHypre(HYPRE_ParVectorSetConstantValues(s->x, 0.0));
  PetscCall(Now(&t[0]));
  CheckHypre(HYPRE_BoomerAMGCreate(&amg));
  CheckHypre(HYPRE_BoomerAMGSetMaxIter(amg, 1));
  CheckHypre(HYPRE_BoomerAMGSetTol(amg, 0.0));
  CheckHypre(HYPRE_BoomerAMGSetCoarsenType(amg, coarsening));
  CheckHypre(HYPRE_BoomerAMGSetInterpType(amg, 6)); // extended+i
  CheckHypre(HYPRE_BoomerAMGSetPMaxElmts(amg, 4));
  CheckHypre(HYPRE_BoomerAMGSetStrongThreshold(amg, threshold));
  CheckHypre(HYPRE_BoomerAMGSetAggNumLevels(amg, aggressive));
  CheckHypre(HYPRE_BoomerAMGSetRelaxType(amg, smoother));
#if defined(HYPRE_USING_CUDA)
  CheckHypre(HYPRE_BoomerAMGSetRAP2(amg, 0));
  CheckHypre(HYPRE_BoomerAMGSetKeepTranspose(amg, 1));
#endif
  CheckHypre(HYPRE_ParCSRPCGCreate(PETSC_COMM_WORLD, &pcg));
  CheckHypre(HYPRE_ParCSRPCGSetMaxIter(pcg, 500));
  CheckHypre(HYPRE_ParCSRPCGSetTol(pcg, 1e-6));
  CheckHypre(HYPRE_ParCSRPCGSetTwoNorm(pcg, 1));
  CheckHypre(HYPRE_ParCSRPCGSetPrecond(pcg, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg));
  CheckHypre(HYPRE_ParCSRPCGSetup(pcg, s->A, s->b, s->x));
  PetscCall(Now(&t[1]));
  HYPRE_ParCSRPCGSolve(pcg, s->A, s->b, s->x); // without convergence it returns an error, and its residual says so
  HYPRE_ClearAllErrors();
  PetscCall(Now(&t[2]));
  CheckHypre(HYPRE_ParCSRPCGGetNumIterations(pcg, &its));
  CheckHypre(HYPRE_ParCSRPCGDestroy(pcg));
  CheckHypre(HYPRE_BoomerAMGDestroy(amg));
  o->its   = its;
  o->setup = PetscMin(o->setup, t[1] - t[0]);
  o->solve = PetscMin(o->solve, t[2] - t[1]);
  PetscFunctionReturn(0);
}

static PetscErrorCode GetResidual(const Problem *p, const Rows *A, System *s, PetscReal *residual)
{
  HYPRE_Real *x;
  void       *placed;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(p->rows, &x));
  PetscCall(Place((size_t)p->rows, x, sizeof(*x), &placed));
  CheckHypre(HYPRE_IJVectorGetValues(s->ijx, (HYPRE_Int)p->rows, NULL, (HYPRE_Real *)placed));
  PetscCall(Unplace((size_t)p->rows, placed, sizeof(*x), x));
  PetscCall(Residual(p, A, x, residual));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(0);
}

PetscErrorCode SolveBoomerAMG(const Problem *p, const Rows *A, PetscInt repeats, Outcome *best)
{
  System s;
  int    chosen = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, A, &s));
  PetscCall(CreateVector(p, PETSC_FALSE, &s.ijb, &s.b));
  PetscCall(CreateVector(p, PETSC_TRUE, &s.ijx, &s.x));
  for (int k = -1; k < 8; ++k) { // the first is a warm-up; a set-up takes seconds on a host, so only the best combination is repeated
    const int    smoother = smoothers[PetscMax(k, 0) / 4], aggressive = PetscMax(k, 0) / 2 % 2;
    const double threshold = PetscMax(k, 0) % 2 ? 0.5 : 0.25;
    Outcome      o         = {.setup = PETSC_MAX_REAL, .solve = PETSC_MAX_REAL};

    PetscCall(PetscSNPrintf(o.name, sizeof(o.name), "BoomerAMG, threshold %g%s, smoother %d", threshold, aggressive ? ", aggressive" : "", smoother));
    PetscCall(Once(&s, threshold, aggressive, smoother, &o));
    if (k < 0) continue;
    PetscCall(GetResidual(p, A, &s, &o.residual));
    PetscCall(Better(&o, best));
    if (!strcmp(best->name, o.name)) chosen = k;
  }
  for (PetscInt i = 1; i < repeats && best->its; ++i) PetscCall(Once(&s, chosen % 2 ? 0.5 : 0.25, chosen / 2 % 2, smoothers[chosen / 4], best));
  CheckHypre(HYPRE_IJVectorDestroy(s.ijx));
  CheckHypre(HYPRE_IJVectorDestroy(s.ijb));
  CheckHypre(HYPRE_IJMatrixDestroy(s.ijA));
  PetscFunctionReturn(0);
}
