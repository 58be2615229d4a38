static char help[] = "Solves of PC nras by Jacobi sweeps and with factors whose small entries are dropped, against what they are.\n\n";

#include "nras/nras.h"
#include "runner.h"

#define N 70

/* Entries of the blocks of the processes alone: 1 for the lower triangle, 2 for the upper one, 3 for both, symmetric with 4 */
static PetscErrorCode CreateBlocks(int which, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(PETSC_DECIDE, N, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscCall(MatSetValue(*A, i, i, 2 + Hash(i, i, 0), INSERT_VALUES));
    for (PetscInt j = start; j < end; ++j) {
      const PetscInt a = which & 4 ? PetscMin(i, j) : i, b = which & 4 ? PetscMax(i, j) : j;

      if (Hash(a, b, 9) < 0.15 && ((j < i && which & 1) || (j > i && which & 2))) PetscCall(MatSetValue(*A, i, j, Hash(a, b, 1) - 0.6, INSERT_VALUES));
    }
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |M^-1 r - z| / |z| */
static PetscErrorCode Away(PC pc, Vec r, Vec z, PetscReal *away)
{
  Vec       y;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(z, &y));
  PetscCall(PCApply(pc, r, y));
  PetscCall(VecNorm(z, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_2, away));
  *away /= norm;
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a triangular matrix A = D + N, n sweeps are z_0 = D^-1 r, z <- D^-1 (r - N z) */
static PetscErrorCode TestTriangles(void)
{
  static const int sweeps[] = {1, 2, 3, 4, 9};

  PetscFunctionBeginUser;
  for (int which = 1; which < 3; ++which) {
    Mat       A;
    Vec       r, z, d, t;
    PetscReal away = 0, one;

    PetscCall(CreateBlocks(which, &A));
    PetscCall(CreateVecs(A, &z, &r));
    PetscCall(VecDuplicate(r, &d));
    PetscCall(VecDuplicate(r, &t));
    PetscCall(MatGetDiagonal(A, d));
    PetscCall(VecSetRandom(r, NULL));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sweeps); ++k) {
      char options[128];
      PC   pc;

      PetscCall(VecPointwiseDivide(z, r, d));
      for (int s = 0; s < sweeps[k]; ++s) { /* z += D^-1 (r - A z) */
        PetscCall(MatMult(A, z, t));
        PetscCall(VecAYPX(t, -1, r));
        PetscCall(VecPointwiseDivide(t, t, d));
        PetscCall(VecAXPY(z, 1, t));
      }
      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type nras -pc_nras_solve jacobi -pc_nras_sweeps %d", sweeps[k]));
      PetscCall(CreatePC(A, options, &pc));
      PetscCall(Away(pc, r, z, &one));
      away = PetscMax(away, one);
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(Report(which == 1 ? "sweeps of a lower triangle" : "sweeps of an upper triangle", (PetscBool)(away < 1e-14), away));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&d));
    PetscCall(VecDestroy(&t));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many sweeps as levels are the exact solve, with what that is combined with; fewer ones are not */
static PetscErrorCode TestExact(void)
{
  static const char *const with[] = {"-pc_nras_blocks 1", "-pc_nras_blocks 5 -pc_nras_levels 2 -pc_nras_inner_overlap 1",
                                     "-pc_nras_blocks 3 -pc_nras_form additive", "-pc_nras_blocks 4 -pc_nras_precision single -pc_nras_levels 1",
                                     "-pc_nras_levels 2 -pc_nras_droptol 0.01"};
  char                     first[256], second[256];
  PetscReal                difference, few = 1, away = 0;

  PetscFunctionBeginUser;
  for (Kind kind = STENCIL; kind < NKIND; ++kind) {
    Mat A;

    PetscCall(Create(kind, &A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(with); ++k) {
      PetscCall(PetscSNPrintf(first, sizeof(first), "-pc_type nras -pc_nras_outer_overlap 1 %s", with[k]));
      for (int n = 0; n < 2; ++n) { /* the last sweep is odd or even */
        PetscCall(PetscSNPrintf(second, sizeof(second), "%s -pc_nras_solve jacobi -pc_nras_sweeps %d", first, 210 + n));
        PetscCall(DifferenceOf(A, first, second, &difference));
        away = PetscMax(away, difference);
      }
      PetscCall(PetscSNPrintf(second, sizeof(second), "%s -pc_nras_solve jacobi", first));
      PetscCall(DifferenceOf(A, first, second, &difference));
      few = PetscMin(few, difference);
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(Report("many sweeps are the exact solve", (PetscBool)(away < 1e-14), away));
  PetscCall(Report("three are not", (PetscBool)(few > 1e-6 && few < 0.1), few));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Dense factors L D U of n rows with the rule of -pc_nras_droptol: a becomes L D and D U without their diagonals, and D; returns how many entries
  are left
*/
static PetscInt Factor(PetscInt n, PetscReal tol, PetscScalar a[N][N])
{
  PetscReal sum[N];
  PetscInt  left = 0;

  for (PetscInt i = 0; i < n; ++i) {
    sum[i] = 0;
    for (PetscInt j = 0; j < n; ++j) sum[i] += PetscAbsScalar(a[i][j]);
  }
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt c = 0; c < n; ++c) {
      if (c != i && PetscAbsScalar(a[i][c]) < tol * PetscSqrtReal(sum[i] * sum[c])) a[i][c] = 0;
      left += a[i][c] != 0;
      for (PetscInt j = c + 1; c < i && j < n; ++j) a[i][j] -= a[i][c] / a[c][c] * a[c][j];
    }
  }
  return left;
}

static void SolveDense(PetscInt n, PetscScalar a[N][N], const PetscScalar r[], PetscScalar z[])
{
  for (PetscInt i = 0; i < n; ++i) {
    z[i] = r[i];
    for (PetscInt j = 0; j < i; ++j) z[i] -= a[i][j] / a[j][j] * z[j];
  }
  for (PetscInt i = n - 1; i >= 0; --i) {
    for (PetscInt j = i + 1; j < n; ++j) z[i] -= a[i][j] * z[j];
    z[i] /= a[i][i];
  }
}

/* With all fill: the factors of a dense factorisation that drops by the same rule */
static PetscErrorCode TestDense(void)
{
  static const PetscReal tols[] = {1e-200, 0.01, 0.05, 0.2};

  PetscFunctionBeginUser;
  for (int which = 3; which < 8; which += 4) {
    PetscReal away = 0, one;
    PetscInt  left[4];
    Mat       A;
    Vec       r, z;

    PetscCall(CreateBlocks(which, &A));
    PetscCall(CreateVecs(A, &z, &r));
    PetscCall(VecSetRandom(r, NULL));
    for (int k = 0; k < 4; ++k) {
      PetscScalar        dense[N][N];
      const PetscScalar *rr;
      PetscScalar       *zz;
      PetscInt           start, end;
      char               options[128];
      PC                 pc;

      PetscCall(MatGetOwnershipRange(A, &start, &end));
      for (PetscInt i = start; i < end; ++i) {
        for (PetscInt j = start; j < end; ++j) PetscCall(MatGetValues(A, 1, &i, 1, &j, &dense[i - start][j - start]));
      }
      left[k] = Factor(end - start, tols[k], dense);
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &left[k], 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      PetscCall(VecGetArrayRead(r, &rr));
      PetscCall(VecGetArrayWrite(z, &zz));
      SolveDense(end - start, dense, rr, zz);
      PetscCall(VecRestoreArrayWrite(z, &zz));
      PetscCall(VecRestoreArrayRead(r, &rr));
      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type nras -pc_nras_levels 100 -pc_nras_blocks 1 -pc_nras_droptol %g", (double)tols[k]));
      PetscCall(CreatePC(A, options, &pc));
      PetscCall(Away(pc, r, z, &one));
      away = PetscMax(away, one);
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(Report(which == 3 ? "dropped factors" : "dropped factors of a symmetric matrix", (PetscBool)(away < 1e-12), away));
    PetscCall(Report("  fewer with a larger tolerance", (PetscBool)(left[0] > left[1] && left[1] > left[2] && left[2] > left[3]), left[1]));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values drop other entries, in both precisions */
static PetscErrorCode TestChanges(void)
{
  static const char *const precisions[] = {"double", "single"};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    char options[256];
    Mat  A;
    PC   pc;

    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-pc_type nras -pc_nras_levels 3 -pc_nras_blocks 3 -pc_nras_outer_overlap 1 -pc_nras_droptol 0.02 -pc_nras_solve jacobi "
                            "-pc_nras_precision %s",
                            precisions[k]));
    PetscCall(Create(STENCIL, &A));
    PetscCall(CreatePC(A, options, &pc));
    PetscCall(Fill(STENCIL, 1, A));
    PetscCall(ReportNewValues(A, options, pc));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the device to vectors on the host: what is left of the factors is copied */
static PetscErrorCode TestMove(void)
{
  Mat       A;
  PC        pc;
  Vec       r[2], z[2];
  PetscInt  m;
  PetscReal norm[2];

  PetscFunctionBeginUser;
  PetscCall(Create(STENCIL, &A));
  PetscCall(CreatePC(A, "-pc_type nras -pc_nras_levels 2 -pc_nras_blocks 3 -pc_nras_droptol 0.02", &pc));
  PetscCall(CreateVecs(A, &z[0], &r[0]));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, m, PETSC_DETERMINE, &r[1]));
  PetscCall(VecDuplicate(r[1], &z[1]));
  PetscCall(VecSetRandom(r[1], NULL));
  PetscCall(VecCopy(r[1], r[0]));
  for (int k = 0; k < 2; ++k) {
    PetscCall(PCApply(pc, r[k], z[k]));
    PetscCall(VecNorm(z[k], NORM_2, &norm[k]));
  }
  PetscCall(Report("vectors elsewhere", (PetscBool)(PetscAbsReal(norm[1] / norm[0] - 1) < 1e-14), norm[1] / norm[0] - 1));
  for (int k = 0; k < 2; ++k) {
    PetscCall(VecDestroy(&r[k]));
    PetscCall(VecDestroy(&z[k]));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(Create(STENCIL, &A));
  PetscCall(CreatePC(A, "-pc_type nras -pc_nras_levels 3 -pc_nras_blocks 1 -pc_nras_droptol 0.02 -pc_nras_solve jacobi -pc_nras_sweeps 4", &pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-triangles", TestTriangles},
    {"-exact",     TestExact    },
    {"-dense",     TestDense    },
    {"-changes",   TestChanges  },
    {"-move",      TestMove     },
    {"-look",      TestView     }
  };

  return RunProgram(argc, argv, help, NULL, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

   testset:
     nsize: {{1 2 3}}
     args: -triangles -exact -dense -changes -move
     test:
       suffix: all
       args: -mat_type {{aij aijicrs}}
     test:
       suffix: cuda
       requires: cuda
       args: -mat_type {{aijdia aijcusparse}} -vec_type cuda -use_gpu_aware_mpi 0
       output_file: output/nrassolve_all.out

   test:
     suffix: valgrind
     suites: valgrind
     args: -changes -dense
     output_file: output/nrassolve_valgrind.out

   test:
     suffix: view
     requires: !gpu !64bit_indices
     args: -look -mat_type aij
     filter: sed -n "/restricted/,/dropped/p"

TEST*/
