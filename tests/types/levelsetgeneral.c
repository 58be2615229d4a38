static char help[] = "Deflation as a preconditioner of a matrix that is not symmetric: each form against its formula, and iterations.\n\n";

#include <polder.h>
#include "core/compat.h"
#include "runner.h"
#include "vecs.h"

#define CONTRAST 1e4

/* n x n cells of the unit square: diffusion with heavy discs on a lattice of 2 x 2, and upwind convection around the middle of the square. Dirichlet on the
   left, unless closed: then constants are in the kernel */
typedef struct {
  PetscInt  n;
  PetscReal wind;
  PetscBool closed;
} Problem;

static PetscReal Distance(const Problem *p, PetscInt row)
{
  const PetscReal x = (PetscReal)(row % p->n + 0.5) / (PetscReal)p->n, y = (PetscReal)(row / p->n + 0.5) / (PetscReal)p->n;

  return 0.15 - PetscSqrtReal(PetscSqr(x - (x < 0.5 ? 0.25 : 0.75)) + PetscSqr(y - (y < 0.5 ? 0.25 : 0.75)));
}

static PetscReal Kappa(const Problem *p, PetscInt row)
{
  return Distance(p, row) > 0 ? CONTRAST : 1;
}

/* The stream function of the wind at a corner of cells. What flows through a face is the difference of its two corners, so that no cell is a source */
static PetscReal Stream(const Problem *p, PetscInt i, PetscInt j)
{
  return p->wind * PetscSinReal(PETSC_PI * (PetscReal)i / (PetscReal)p->n) * PetscSinReal(PETSC_PI * (PetscReal)j / (PetscReal)p->n);
}

/* What leaves the cell (i, j) through its face of direction d */
static PetscReal Outflow(const Problem *p, PetscInt i, PetscInt j, int d)
{
  const PetscReal at[2][2] = {
    {Stream(p, i,     j), Stream(p, i,     j + 1)},
    {Stream(p, i + 1, j), Stream(p, i + 1, j + 1)}
  };

  return d == 0 ? at[0][0] - at[0][1] : d == 1 ? at[1][1] - at[1][0] : d == 2 ? at[1][0] - at[0][0] : at[0][1] - at[1][1];
}

static PetscErrorCode SetValuesOf(Mat A, const Problem *p)
{
  const PetscInt step[4] = {-1, 1, -p->n, p->n};
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt row = start; row < end; ++row) {
    const PetscInt  i = row % p->n, j = row / p->n;
    const PetscBool has[4]   = {(PetscBool)(i > 0), (PetscBool)(i < p->n - 1), (PetscBool)(j > 0), (PetscBool)(j < p->n - 1)};
    PetscReal       diagonal = i == 0 && !p->closed ? 2 * Kappa(p, row) : 0;

    for (int d = 0; d < 4; ++d) {
      PetscReal outflow, k;

      if (!has[d]) continue;
      outflow = Outflow(p, i, j, d);
      k       = 2 / (1 / Kappa(p, row) + 1 / Kappa(p, row + step[d]));
      PetscCall(MatSetValue(A, row, row + step[d], -k + PetscMin(outflow, 0), INSERT_VALUES));
      diagonal += k - PetscMin(outflow, 0);
    }
    PetscCall(MatSetValue(A, row, row, diagonal, INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(const Problem *p, Mat *A)
{
  Vec          levelset;
  PetscInt     start, end;
  PetscScalar *phi;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, p->n * p->n, p->n * p->n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(SetValuesOf(*A, p));
  PetscCall(CreateVecs(*A, &levelset, NULL));
  PetscCall(VecGetOwnershipRange(levelset, &start, &end));
  PetscCall(VecGetArrayWrite(levelset, &phi));
  for (PetscInt i = start; i < end; ++i) phi[i - start] = Distance(p, i);
  PetscCall(VecRestoreArrayWrite(levelset, &phi));
  PetscCall(PetscObjectCompose((PetscObject)*A, "levelset", (PetscObject)levelset));
  PetscCall(VecDestroy(&levelset));
  if (p->closed) {
    MatNullSpace constants;

    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(*A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillSmooth(Vec v, PetscReal seed)
{
  PetscScalar *a;
  PetscInt     start, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = start; i < end; ++i) a[i - start] = PetscSinReal(seed * (PetscReal)(i + 1)) + PetscCosReal(0.01 * (PetscReal)i);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + Q r or x + Q^T r from the columns of Z and a dense E = Z^T A Z, on every process */
static PetscErrorCode AddQ(PetscInt d, Vec Z[], Mat E, PetscBool transpose, Vec r, Vec x)
{
  Vec          a, b;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(E, &a, &b));
  PetscCall(VecGetArray(b, &values));
  PetscCall(VecMDot(r, d, Z, values));
  PetscCall(VecRestoreArray(b, &values));
  if (transpose) PetscCall(MatSolveTranspose(E, b, a));
  else PetscCall(MatSolve(E, b, a));
  PetscCall(VecGetArray(a, &values));
  PetscCall(VecMAXPY(x, d, values, Z));
  PetscCall(VecRestoreArray(a, &values));
  PetscCall(VecDestroy(&a));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of Z, and the LU factor of E */
static PetscErrorCode GetSpace(Mat A, PC pc, PetscInt *d, Vec **Z, Mat *E)
{
  PolderDeflationSpace space;
  Vec                  like, w;
  PetscScalar         *e;

  PetscFunctionBeginUser;
  PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  PetscCall(PolderDeflationSpaceGetSize(space, d));
  PetscCall(CreateVecs(A, &like, NULL));
  PetscCall(VecDuplicate(like, &w));
  PetscCall(VecDuplicateVecs(like, *d, Z));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, *d, *d, NULL, E));
  PetscCall(MatDenseGetArray(*E, &e));
  for (PetscInt k = 0; k < *d; ++k) PetscCall(PolderDeflationSpaceGetVector(space, k, (*Z)[k]));
  for (PetscInt k = 0; k < *d; ++k) {
    PetscCall(MatMult(A, (*Z)[k], w));
    PetscCall(VecMDot(w, *d, *Z, e + k * *d));
  }
  PetscCall(MatDenseRestoreArray(*E, &e));
  PetscCall(MatLUFactor(*E, NULL, NULL, NULL));
  PetscCall(VecDestroy(&like));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares one form with z = M^-1 v + Q (...), v = r - A Q r or r, of A or of A^T */
static PetscErrorCode CheckForm(Mat A, PC pc, PCLevelSetForm form, PetscBool transpose)
{
  const PetscBool pre                   = (PetscBool)(form != (transpose ? PC_LEVELSET_ADEF1 : PC_LEVELSET_ADEF2));
  const PetscBool post                  = (PetscBool)(form != (transpose ? PC_LEVELSET_ADEF2 : PC_LEVELSET_ADEF1));
  PetscErrorCode (*mult)(Mat, Vec, Vec) = transpose ? MatMultTranspose : MatMult;
  PetscErrorCode (*apply)(PC, Vec, Vec) = transpose ? PCApplyTranspose : PCApply;
  Vec       r, z, v, y, *Z;
  PC        inner;
  Mat       E;
  PetscInt  d;
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(PCLevelSetSetForm(pc, form));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(VecDuplicate(r, &v));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(FillSmooth(r, 1.7));
  PetscCall((*apply)(pc, r, z));
  PetscCall(GetSpace(A, pc, &d, &Z, &E));
  PetscCall(PCLevelSetGetPC(pc, &inner));
  PetscCall(VecCopy(r, v));
  if (pre) { // v = r - A Q r
    PetscCall(VecZeroEntries(y));
    PetscCall(AddQ(d, Z, E, transpose, r, y));
    PetscCall((*mult)(A, y, v));
    PetscCall(VecAYPX(v, -1, r));
  }
  PetscCall((*apply)(inner, v, y));
  PetscCall(VecCopy(r, v));
  if (post) { // v = r - A M^-1 v
    PetscCall((*mult)(A, y, v));
    PetscCall(VecAYPX(v, -1, r));
  }
  PetscCall(AddQ(d, Z, E, transpose, v, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_2, &error));
  PetscCheck(d > 3 && error <= 1e-9 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Form %s%s with %" PetscInt_FMT " vectors: error %g", PCLevelSetForms[form],
             transpose ? ", transposed" : "", d, (double)(error / norm));
  PetscCall(VecDestroyVecs(d, &Z));
  PetscCall(MatDestroy(&E));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestForms(void)
{
  const Problem p = {12, 30, PETSC_FALSE}, still = {12, 0, PETSC_FALSE};
  Mat           A;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCLEVELSET));
  PetscCall(PCSetFromOptions(pc));
  for (int round = 0; round < 3; ++round) { // without wind the matrix is symmetric
    PetscCall(SetValuesOf(A, round == 1 ? &still : &p));
    PetscCall(PCSetUp(pc));
    for (int form = 0; form < 3; ++form) {
      for (int transpose = 0; transpose < 2; ++transpose) PetscCall(CheckForm(A, pc, (PCLevelSetForm)form, (PetscBool)transpose));
    }
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "each form is its formula\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves to 1e-8 with options of the prefix t_, in at most 1000 iterations; *its: PETSC_MAX_INT without convergence. must: the true residual has to be small */
static PetscErrorCode Solve(Mat A, const char options[], PetscBool transpose, PetscBool must, PetscInt *its)
{
  KSP                ksp;
  Vec                x, b, r;
  PetscReal          rnorm, bnorm;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(FillSmooth(x, 0.3));
  if (transpose) PetscCall(MatMultTranspose(A, x, b));
  else PetscCall(MatMult(A, x, b));
  PetscCall(VecZeroEntries(x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "t_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 1000));
  PetscCall(KSPSetFromOptions(ksp));
  if (transpose) PetscCall(KSPSolveTranspose(ksp, b, x));
  else PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (transpose) PetscCall(MatMultTranspose(A, x, r));
  else PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  if (reason < 0) *its = PETSC_MAX_INT; // gmres that stagnates may also end early
  PetscCheck(!must || (reason > 0 && rnorm <= 1.01e-8 * bnorm), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %s after %" PetscInt_FMT " iterations at the true residual %g", options, KSPConvergedReasons[reason], *its, (double)(rnorm / bnorm));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define LEFT     "-t_ksp_pc_side left -t_ksp_norm_type preconditioned "
#define RIGHT    "-t_ksp_pc_side right -t_ksp_norm_type unpreconditioned "
#define INNER    "-t_pc_type levelset -t_levelset_pc_type jacobi -t_deflation_space levelset_subdomain -t_deflation_boxes 4,4 "
#define SPACE(n) "-t_deflation_grid " n "," n " "

/* Iterations with deflation, and how many times as many at least without it */
static PetscErrorCode TestIterations(void)
{
  static const struct {
    Problem     p;
    PetscBool   transpose;
    const char *solver;
    PetscInt    expected;
    PetscReal   times;
  } table[] = {
    {{64, 30, PETSC_FALSE},  PETSC_FALSE, RIGHT "-t_ksp_type gmres -t_ksp_gmres_restart 100",                  135, 7  },
    {{64, 30, PETSC_FALSE},  PETSC_FALSE, RIGHT "-t_ksp_type bcgs",                                            73,  7  },
    {{64, 30, PETSC_FALSE},  PETSC_FALSE, RIGHT "-t_ksp_type idrs",                                            152, 3.5},
    {{64, 300, PETSC_FALSE}, PETSC_FALSE, RIGHT "-t_ksp_type gmres -t_ksp_gmres_restart 100",                  347, 2.5},
    {{64, 30, PETSC_TRUE},   PETSC_FALSE, RIGHT "-t_ksp_type gmres -t_ksp_gmres_restart 100",                  139, 7  },
    {{64, 30, PETSC_FALSE},  PETSC_TRUE,  LEFT "-t_ksp_rtol 1e-11 -t_ksp_type gmres -t_ksp_gmres_restart 100", 311, 3  }
  };
  const char *const pc[2] = {"-t_pc_type jacobi", INNER SPACE("64")};

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(table); ++t) {
    Mat       A;
    PetscInt  its[2], expected = table[t].expected;
    char      options[512];
    PetscBool ok;

    PetscCall(CreateMatrix(&table[t].p, &A));
    for (int deflated = 0; deflated < 2; ++deflated) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "%s %s", table[t].solver, pc[deflated]));
      PetscCall(Solve(A, options, table[t].transpose, (PetscBool)deflated, &its[deflated]));
    }
    PetscCall(MatDestroy(&A));
    ok = (PetscBool)(PetscAbsInt(its[1] - expected) <= 1 + expected / 25 && (PetscReal)its[0] >= table[t].times * (PetscReal)its[1]);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wind %g%s%s: %" PetscInt_FMT " iterations, at least %g times as many without deflation: ", (double)table[t].p.wind,
                          table[t].p.closed ? ", closed" : "", table[t].transpose ? ", transposed" : "", expected, (double)table[t].times));
    if (ok) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok\n"));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT ", %" PetscInt_FMT "\n", its[1], its[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Test tests[] = {
    {"-forms",      TestForms     },
    {"-iterations", TestIterations},
  };

  return RunProgram(argc, argv, help, NULL, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  test:
    suffix: forms
    nsize: {{1 2 3}}
    args: -forms -deflation_space levelset_subdomain -deflation_boxes 2,2 -deflation_grid 12,12 -levelset_pc_type {{jacobi bjacobi}}

  test:
    suffix: iterations
    nsize: {{1 3}}
    args: -iterations

TEST*/
