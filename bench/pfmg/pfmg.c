static char help[] = "Times hypre's PFMG, which is told the grid, in conjugate gradients on a problem of bench/solve: one process.\n"
                     "  options of the problem: see bench/solve; -repeats <3>\n"
                     "  Each combination of a relaxation (weighted Jacobi, red-black Gauss-Seidel), coarse matrix (Galerkin or not) and storage\n"
                     "  (symmetric or all entries) is run; the best is printed as a row of the table of bench/solve.\n\n";

#include "../problem.h"
#include <petscksp.h>
#include <HYPRE.h>
#include <HYPRE_config.h>
#include <HYPRE_struct_ls.h>
#include <HYPRE_utilities.h>

#if defined(HYPRE_USING_CUDA)
  #include <cuda_runtime_api.h>
#endif

#define CheckHypre(call) PetscCheck(!(call), PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre: " #call)

typedef struct {
  HYPRE_StructGrid    grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix  A;
  HYPRE_StructVector  b, x;
} System;

typedef struct {
  PetscInt  relax, rap, symmetric, its;
  PetscReal setup, solve;
} Outcome;

/* A copy where hypre wants it */
static PetscErrorCode Place(size_t n, const HYPRE_Real from[], HYPRE_Real **to)
{
  PetscFunctionBeginUser;
#if defined(HYPRE_USING_CUDA)
  PetscCheck(cudaMalloc((void **)to, n * sizeof(**to)) == cudaSuccess && cudaMemcpy(*to, from, n * sizeof(**to), cudaMemcpyHostToDevice) == cudaSuccess,
             PETSC_COMM_SELF, PETSC_ERR_GPU, "The device refuses %zu numbers", n);
#else
  PetscCall(PetscMalloc1(n, to));
  PetscCall(PetscArraycpy(*to, from, n));
#endif
  PetscFunctionReturn(0);
}

/* Its end; to != NULL: after a copy back */
static PetscErrorCode Unplace(size_t n, HYPRE_Real *a, HYPRE_Real to[])
{
  PetscFunctionBeginUser;
#if defined(HYPRE_USING_CUDA)
  PetscCheck(!to || cudaMemcpy(to, a, n * sizeof(*a), cudaMemcpyDeviceToHost) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "The device gives nothing back");
  PetscCheck(cudaFree(a) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "The device does not take its memory back");
#else
  if (to) PetscCall(PetscArraycpy(to, a, n));
  PetscCall(PetscFree(a));
#endif
  PetscFunctionReturn(0);
}

static PetscErrorCode Now(PetscLogDouble *t)
{
  PetscFunctionBeginUser;
#if defined(HYPRE_USING_CUDA)
  PetscCheck(cudaDeviceSynchronize() == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "The device has failed");
#endif
  PetscCall(PetscTime(t));
  PetscFunctionReturn(0);
}

/* The entries of all rows, n entries a row in the order of the stencil */
static PetscErrorCode GetEntries(const Problem *p, PetscInt n, HYPRE_Int offsets[][3], HYPRE_Real entries[])
{
  const PetscInt stride[3] = {1, p->n[0], p->n[0] * p->n[1]};
  PetscInt       col[7], shift[7];
  PetscScalar    val[7];

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < n; ++e) shift[e] = offsets[e][0] * stride[0] + offsets[e][1] * stride[1] + offsets[e][2] * stride[2];
  for (PetscInt i = 0; i < p->N; ++i) {
    const PetscInt nz = Row(p, i, col, val);

    for (PetscInt e = 0; e < n; ++e) {
      entries[i * n + e] = 0;
      for (PetscInt k = 0; k < nz; ++k)
        if (col[k] == i + shift[e]) entries[i * n + e] = val[k];
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSystem(const Problem *p, PetscBool symmetric, System *s)
{
  HYPRE_Int offsets[7][3] =
    {
      {0, 0, 0}
  },
            lower[3] = {0, 0, 0}, upper[3], index[7] = {0, 1, 2, 3, 4, 5, 6};
  PetscInt    n = 1;
  HYPRE_Real *values, *placed;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < p->dim; ++d) {
    upper[d] = (HYPRE_Int)p->n[d] - 1;
    for (int side = 1; side >= (symmetric ? 1 : -1); side -= 2) offsets[n++][d] = side;
  }
  CheckHypre(HYPRE_StructGridCreate(PETSC_COMM_SELF, (HYPRE_Int)p->dim, &s->grid));
  CheckHypre(HYPRE_StructGridSetExtents(s->grid, lower, upper));
  CheckHypre(HYPRE_StructGridAssemble(s->grid));
  CheckHypre(HYPRE_StructStencilCreate((HYPRE_Int)p->dim, (HYPRE_Int)n, &s->stencil));
  for (PetscInt e = 0; e < n; ++e) CheckHypre(HYPRE_StructStencilSetElement(s->stencil, (HYPRE_Int)e, offsets[e]));
  CheckHypre(HYPRE_StructMatrixCreate(PETSC_COMM_SELF, s->grid, s->stencil, &s->A));
  CheckHypre(HYPRE_StructMatrixSetSymmetric(s->A, symmetric));
  CheckHypre(HYPRE_StructMatrixInitialize(s->A));
  PetscCall(PetscMalloc1(n * p->N, &values));
  PetscCall(GetEntries(p, n, offsets, values));
  PetscCall(Place((size_t)(n * p->N), values, &placed));
  CheckHypre(HYPRE_StructMatrixSetBoxValues(s->A, lower, upper, (HYPRE_Int)n, index, placed));
  CheckHypre(HYPRE_StructMatrixAssemble(s->A));
  PetscCall(Unplace(0, placed, NULL));
  for (PetscInt i = 0; i < p->N; ++i) values[i] = RightHandSide(p, i);
  PetscCall(Place((size_t)p->N, values, &placed));
  CheckHypre(HYPRE_StructVectorCreate(PETSC_COMM_SELF, s->grid, &s->b));
  CheckHypre(HYPRE_StructVectorInitialize(s->b));
  CheckHypre(HYPRE_StructVectorSetBoxValues(s->b, lower, upper, placed));
  CheckHypre(HYPRE_StructVectorAssemble(s->b));
  CheckHypre(HYPRE_StructVectorCreate(PETSC_COMM_SELF, s->grid, &s->x));
  CheckHypre(HYPRE_StructVectorInitialize(s->x));
  CheckHypre(HYPRE_StructVectorAssemble(s->x));
  PetscCall(Unplace(0, placed, NULL));
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
static PetscErrorCode Once(System *s, Outcome *o)
{
  HYPRE_StructSolver pcg, pfmg;
  HYPRE_Int          its;
  PetscLogDouble     t[3];

  PetscFunctionBeginUser;
  CheckHypre(HYPRE_StructVectorSetConstantValues(s->x, 0.0));
  PetscCall(Now(&t[0]));
  CheckHypre(HYPRE_StructPFMGCreate(PETSC_COMM_SELF, &pfmg));
  CheckHypre(HYPRE_StructPFMGSetMaxIter(pfmg, 1));
  CheckHypre(HYPRE_StructPFMGSetTol(pfmg, 0.0));
  CheckHypre(HYPRE_StructPFMGSetZeroGuess(pfmg));
  CheckHypre(HYPRE_StructPFMGSetRelaxType(pfmg, (HYPRE_Int)o->relax));
  CheckHypre(HYPRE_StructPFMGSetRAPType(pfmg, (HYPRE_Int)o->rap));
  CheckHypre(HYPRE_StructPCGCreate(PETSC_COMM_SELF, &pcg));
  CheckHypre(HYPRE_StructPCGSetMaxIter(pcg, 500));
  CheckHypre(HYPRE_StructPCGSetTol(pcg, 1e-6));
  CheckHypre(HYPRE_StructPCGSetTwoNorm(pcg, 1));
  CheckHypre(HYPRE_StructPCGSetPrecond(pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, pfmg));
  CheckHypre(HYPRE_StructPCGSetup(pcg, s->A, s->b, s->x));
  PetscCall(Now(&t[1]));
  HYPRE_StructPCGSolve(pcg, s->A, s->b, s->x); // without convergence it returns an error, and its iterations say so
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

/* |b - A x| / |b| from the rows of the problem */
static PetscErrorCode Residual(const Problem *p, System *s, PetscReal *residual)
{
  HYPRE_Int   lower[3] = {0, 0, 0}, upper[3];
  HYPRE_Real *x, *placed;
  PetscInt    col[7];
  PetscScalar val[7];
  PetscReal   rr = 0, bb = 0;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < p->dim; ++d) upper[d] = (HYPRE_Int)p->n[d] - 1;
  PetscCall(PetscCalloc1(p->N, &x));
  PetscCall(Place((size_t)p->N, x, &placed));
  CheckHypre(HYPRE_StructVectorGetBoxValues(s->x, lower, upper, placed));
  PetscCall(Unplace((size_t)p->N, placed, x));
  for (PetscInt i = 0; i < p->N; ++i) {
    const PetscInt nz = Row(p, i, col, val);
    PetscScalar    r  = RightHandSide(p, i);

    bb += PetscRealPart(r * r);
    for (PetscInt k = 0; k < nz; ++k) r -= val[k] * x[col[k]];
    rr += PetscRealPart(r * r);
  }
  PetscCall(PetscFree(x));
  *residual = PetscSqrtReal(rr / bb);
  PetscFunctionReturn(0);
}

/* All combinations with one storage; *best: the one that takes least in all */
static PetscErrorCode Try(const Problem *p, PetscBool symmetric, PetscInt repeats, Outcome *best, PetscReal *residual)
{
  System  s;
  Outcome o = {.symmetric = symmetric};

  PetscFunctionBeginUser;
  for (o.relax = 1; o.relax <= 2; ++o.relax) {
    for (o.rap = 0; o.rap <= 1; ++o.rap) {
      PetscReal found = 0;

      o.setup = o.solve = PETSC_MAX_REAL;
      PetscCall(CreateSystem(p, symmetric, &s));
      for (PetscInt k = -1; k < repeats; ++k) PetscCall(Once(&s, &o));
      PetscCall(Residual(p, &s, &found));
      PetscCall(DestroySystem(&s));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "relax %" PetscInt_FMT " rap %" PetscInt_FMT " symmetric %d: %" PetscInt_FMT " its, %.1e, %.3f + %.3f ms\n",
                            o.relax, o.rap, symmetric, o.its, (double)found, 1e3 * (double)o.setup, 1e3 * (double)o.solve));
      if (found > 1.01e-6 || o.setup + o.solve >= best->setup + best->solve) continue;
      *best     = o;
      *residual = found;
    }
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   p        = {0};
  Outcome   best     = {.setup = PETSC_MAX_REAL / 4, .solve = PETSC_MAX_REAL / 4};
  PetscInt  repeats  = 3;
  PetscReal residual = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(GetProblem(&p));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  HYPRE_Init();
  for (int symmetric = 0; symmetric <= 1; ++symmetric) PetscCall(Try(&p, (PetscBool)symmetric, repeats, &best, &residual));
  if (best.its)
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "| hypre PFMG, relax %" PetscInt_FMT ", RAP %" PetscInt_FMT "%s | %" PetscInt_FMT " | %.1e | %.3f | %.3f | %.3f | %.1f | | | |\n",
                          best.relax, best.rap, best.symmetric ? ", symmetric" : "", best.its, (double)residual, 1e3 * (double)best.setup,
                          1e3 * (double)best.solve, 1e3 * (double)(best.setup + best.solve), 1e6 * (double)best.solve / (double)best.its));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, "| hypre PFMG | does not converge |\n"));
  HYPRE_Finalize();
  PetscCall(PetscFinalize());
  return 0;
}
