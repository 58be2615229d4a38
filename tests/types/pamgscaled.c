static char help[] = "Pairwise-aggregation multigrid for rows of a symmetric matrix times factors that jump.\n\n";

#include "graphs.h"
#include "kernels/rowscale.h"
#include "pamgchecks.h"
#include "runner.h"
#include <polder.h>

/* Factors of the rows over the decades, for cells of so many rows in each direction of the grid */
typedef struct {
  PetscReal decades;
  PetscInt  cell;
} Factors;

static const Factors kinds[] = {
  {3, 1 },
  {4, 10}
};
static const char *const names[] = {"factors of each row", "factors of blocks"};

/* A number of a seed */
static PetscReal Draw(unsigned long long seed)
{
  unsigned long long state = seed * 7919 + 1;

  (void)Next(&state);
  return Next(&state);
}

/* S: diffusion with random coefficients on n^2 points, in two parts without couplings between them if `parts`; with convection where wind is not zero */
static PetscErrorCode Grid(PetscInt n, PetscBool parts, PetscReal wind, Mat *S)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(PETSC_DECIDE, n * n, S));
  PetscCall(MatGetOwnershipRange(*S, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    for (int side = 0; side < 4; ++side) {
      const PetscInt    at[2] = {i % n, i / n}, d = side / 2, step = side % 2 ? 1 : -1, c = at[d] + step, j = i + (d ? n : 1) * step;
      const PetscBool   cut = (PetscBool)(parts && d && (at[1] == n / 2 - 1 ? step > 0 : at[1] == n / 2 && step < 0)), wall = (PetscBool)(c < 0 || c >= n);
      const PetscInt    face = wall ? i * 4 + side : PetscMin(i, j) * 2 + d, to[2] = {i, j};
      const PetscReal   flow = wind * (d ? at[0] - n / 2 : n / 2 - at[1]) / n; // around the centre: cells have as much in as out
      const PetscScalar w = PetscPowReal(10, Draw((unsigned long long)face) - 0.5) + PetscMax(0, step * -flow), val[2] = {w, -w};

      if (!cut) PetscCall(MatSetValues(*S, 1, to, wall ? 1 : 2, to, val, ADD_VALUES));
    }
  }
  PetscCall(Assemble(*S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *d <- factors of rows of n^2 points */
static PetscErrorCode Factor(Mat S, PetscInt n, Factors kind, unsigned long long seed, Vec *d)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(S, d, NULL));
  PetscCall(VecGetOwnershipRange(*d, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt cell = i % n / kind.cell + i / n / kind.cell * n;

    PetscCall(VecSetValue(*d, i, PetscPowReal(10, kind.decades * (Draw(seed + (unsigned long long)cell) - 0.5)), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(*d));
  PetscCall(VecAssemblyEnd(*d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A = D S */
static PetscErrorCode Create(PetscInt n, PetscBool parts, Factors kind, Mat *A, Mat *S, Vec *d)
{
  PetscFunctionBeginUser;
  PetscCall(Grid(n, parts, 0, S));
  PetscCall(Factor(*S, n, kind, 0, d));
  PetscCall(MatDuplicate(*S, MAT_COPY_VALUES, A));
  PetscCall(MatDiagonalScale(*A, *d, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Mat *A, Mat *S, Vec *d)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(A));
  PetscCall(MatDestroy(S));
  PetscCall(VecDestroy(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestIterations(void)
{
  static const char *const solvers[] = {"-ksp_type bcgs -ksp_pc_side right -pc_type pamg ", "-ksp_type gmres -ksp_pc_side right -pc_type pamg ",
                                        "-ksp_type idrs -pc_type pamg "};
  static const PetscInt    most[]    = {12, 16, 24};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); ++k) {
    for (int parts = 0; parts < 2; ++parts) {
      for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(solvers); ++s) {
        PetscInt  its;
        PetscReal residual;
        Mat       A, S;
        Vec       d;
        KSP       ksp;
        PC        pc;

        PetscCall(Create(100, (PetscBool)parts, kinds[k], &A, &S, &d));
        PetscCall(ProblemSolve(A, solvers[s], &ksp, &its, &residual));
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCheck(((PC_PAMG *)pc->data)->scaled.inner.pc && its <= most[s] && 2 * its >= most[s] && residual <= 1.001e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s, %s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " are known, residual %g", names[k], solvers[s], its, most[s],
                   (double)residual);
        PetscCall(KSPDestroy(&ksp));
        PetscCall(Destroy(&A, &S, &d));
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations as they are known\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M^-1 r is that of S for r / d, and (M^-1 r, s) = (r, M^-T s) */
static PetscErrorCode TestApply(void)
{
  Mat         A, S;
  Vec         d, r, s, z, y;
  PC          pc, of;
  PetscReal   norm, away;
  PetscScalar one, other;

  PetscFunctionBeginUser;
  PetscCall(Create(100, PETSC_FALSE, kinds[0], &A, &S, &d));
  PetscCall(CreatePC(A, "-pc_pamg_precision double", &pc));
  PetscCall(CreatePC(S, "-pc_pamg_precision double", &of));
  PetscCall(CreateVecs(A, &r, &s));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(FillRandom(r, 1));
  PetscCall(FillRandom(s, 2));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecDot(z, s, &one));
  PetscCall(PCApplyTranspose(pc, s, y));
  PetscCall(VecDot(r, y, &other));
  PetscCall(VecPointwiseDivide(s, r, d));
  PetscCall(PCApply(of, s, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_2, &away));
  PetscCheck(away <= 1e-9 * norm && PetscAbsScalar(one - other) <= 1e-10 * PetscAbsScalar(one), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "The apply is off by %g, its transpose by %g", (double)(away / norm), (double)PetscAbsScalar((one - other) / one));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&of));
  PetscCall(Destroy(&A, &S, &d));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "M^-1 is that of the symmetric matrix\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other values with the same factors are a refresh, other factors are found; with convection there are none, and without any jumps none are looked for */
static PetscErrorCode TestNewValues(void)
{
  Mat            A, S, W;
  Vec            d, e, r;
  PC             pc;
  const PC_PAMG *pamg, *inner;
  PetscReal      away;

  PetscFunctionBeginUser;
  PetscCall(Create(100, PETSC_FALSE, kinds[0], &A, &S, &d));
  PetscCall(CreateVecs(A, &r, NULL));
  PetscCall(FillRandom(r, 1));
  PetscCall(CreatePC(A, "", &pc));
  pamg  = (PC_PAMG *)pc->data;
  inner = (PC_PAMG *)pamg->scaled.inner.pc->data;
  PetscCall(MatScale(A, 4));
  PetscCall(PCSetUp(pc));
  PetscCall(AwayFromFresh(pc, "", r, &away));
  PetscCheck(inner->nrefresh == 1 && away <= 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The same factors: %" PetscInt_FMT " refreshes, %g away", inner->nrefresh,
             (double)away);
  PetscCall(Factor(S, 100, kinds[1], 5, &e));
  PetscCall(MatCopy(S, A, SAME_NONZERO_PATTERN));
  PetscCall(MatDiagonalScale(A, e, NULL));
  PetscCall(PCSetUp(pc));
  PetscCheck(pamg->scaled.inner.pc && ((PC_PAMG *)pamg->scaled.inner.pc->data)->symmetric, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Other factors are not found");
  PetscCall(Grid(100, PETSC_FALSE, 30, &W));
  PetscCall(MatCopy(W, A, SAME_NONZERO_PATTERN));
  PetscCall(PCSetUp(pc));
  PetscCall(AwayFromFresh(pc, "", r, &away));
  PetscCheck(!pamg->scaled.inner.pc && pamg->nlevel && !pamg->symmetric && pamg->jumps && away <= 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "Convection has factors, or is %g away from a fresh set-up", (double)away);
  PetscCall(MatCopy(S, A, SAME_NONZERO_PATTERN));
  PetscCall(MatDiagonalScale(A, d, NULL));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCheck(pamg->scaled.inner.pc != NULL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Factors are not found after others");
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&e));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&W));
  PetscCall(Destroy(&A, &S, &d));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values follow\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle has factors if the product of its ratios is one; not with another sign, or where a partner is zero or missing */
static PetscErrorCode TestSets(void)
{
  static const PetscReal d[5] = {1, 1e-3, 7, 50, 0.2};

  PetscFunctionBeginUser;
  for (int spoil = 0; spoil < 5; ++spoil) {
    PetscInt         ptr[6] = {0}, col[10], parent[5], nz = 0;
    PetscScalar      val[10];
    PetscReal        ratio[5], first, factor, worst = 0;
    PolderScaledSets sets = {5, parent, ratio};
    PetscBool        found;

    for (PetscInt i = 0; i < 5; ++i) {
      for (PetscInt j = 0; j < 5; ++j) {
        if (j != (i + 1) % 5 && j != (i + 4) % 5) continue;
        if (spoil == 4 && i == 3 && j == 2) continue;
        col[nz]   = j;
        val[nz++] = (1 + (i + j) % 5) / d[i] * (i == 2 && j == 3 ? (spoil == 1 ? 1.001 : spoil == 2 ? -1 : spoil == 3 ? 0 : 1) : 1);
      }
      ptr[i + 1] = nz;
    }
    PolderScaledBegin_Host(&sets);
    found = PolderScaledRows_Host(&(PolderRows){5, ptr, col, val, nz}, &sets);
    (void)PolderScaledFind_Host(&sets, 0, &first);
    for (PetscInt i = 0; i < 5 && found; ++i) {
      (void)PolderScaledFind_Host(&sets, i, &factor);
      worst = PetscMax(worst, PetscAbsReal(factor / first / d[i] - 1));
    }
    PetscCheck(found == !spoil && worst <= 1e-14, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Cycle %d: %s, off by %g", spoil, found ? "has factors" : "has none",
               (double)worst);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cycles as they should be\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-iterations", TestIterations},
    {"-apply",      TestApply     },
    {"-values",     TestNewValues },
    {"-sets",       TestSets      }
  };

  return RunProgram(argc, argv, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: iterations
    nsize: {{1 2 4}}
    args: -iterations -mat_type {{aij aijicrs}} -polder_min_rows_per_gpu 0

  test:
    suites: valgrind(+2)
    suffix: apply
    nsize: {{1 2}}
    args: -apply -polder_min_rows_per_gpu 0

  test:
    suffix: values
    nsize: {{1 3}}
    args: -values -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: sets
    args: -sets

TEST*/
