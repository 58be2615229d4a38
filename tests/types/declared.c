static char help[] = "Products of matrices that the program has declared symmetric, after changes that leave them so no longer, entry by entry.\n"
                     "  -type <type>: the type under test\n\n";

#include <polder.h>
#include "core/compat.h"
#include "vecs.h"

enum {
  ROWS = 60
};

/* One of the matrices of this test */
typedef struct {
  PetscReal large;    /* diagonal entries of even rows; those of odd ones are 4 */
  PetscReal weak;     /* couplings of every fifth row; the others are -1 and so on */
  PetscReal up, down; /* couplings between an even row and the next one are multiplied by these, above the diagonal and below */
} Values;

static PetscErrorCode Create(const char type[], const Values *v, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 3, NULL, 1, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    for (PetscInt j = PetscMax(0, i - 1); j <= PetscMin(ROWS - 1, i + 1); ++j) {
      const PetscInt above = PetscMin(i, j);
      PetscScalar    a     = i % 2 ? 4 : v->large;

      if (i != j) a = -(i % 5 == 4 || j % 5 == 4 ? v->weak : 1) / (1 + above % 3) * (above % 2 ? 1 : i < j ? v->up : v->down);
      PetscCall(MatSetValue(*A, i, j, a, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |x - y| over the rounding of |A||v|, the largest */
static PetscErrorCode Away(Mat A, Vec v, Vec x, Vec y, PetscReal *away)
{
  const PetscScalar *xx, *yy;
  PetscInt           start, end;
  PetscReal          size;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(v, NORM_INFINITY, &size));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(VecGetArrayRead(x, &xx));
  PetscCall(VecGetArrayRead(y, &yy));
  *away = 0;
  for (PetscInt i = start; i < end; ++i) {
    const PetscScalar *a;
    PetscInt           n;
    PetscReal          sum = 0;

    PetscCall(MatGetRow(A, i, &n, NULL, &a));
    for (PetscInt k = 0; k < n; ++k) sum += PetscAbsScalar(a[k]) * size;
    PetscCall(MatRestoreRow(A, i, &n, NULL, &a));
    if (xx[i - start] != yy[i - start]) *away = PetscMax(*away, PetscAbsScalar(xx[i - start] - yy[i - start]) / (sum * PETSC_MACHINE_EPSILON));
  }
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, away, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products of A against those of B, plain AIJ, which has the same entries */
static PetscErrorCode Compare(const char what[], Mat A, Mat B)
{
  Vec         v, x, y;
  PetscRandom random;
  PetscReal   away, most = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &v, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(v, random));
  PetscCall(MatMult(A, v, x));
  PetscCall(MatMult(B, v, y));
  PetscCall(Away(B, v, x, y, &away));
  most = PetscMax(most, away);
  PetscCall(VecSet(x, 0));
  PetscCall(MatMultAdd(A, v, x, x));
  PetscCall(Away(B, v, x, y, &away));
  most = PetscMax(most, away);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, most <= 20 ? "as plain AIJ" : "WRONG"));
  if (most > 20) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %g times the rounding of a row\n", (double)most));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every fifth row; diag: what its diagonal becomes */
static PetscErrorCode ZeroRows(Mat A, PetscReal diag)
{
  PetscInt start, end, n = 0, rows[ROWS];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    if (i % 5 == 4) rows[n++] = i;
  }
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatZeroRows(A, n, rows, diag, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows by 1, 1 + 1e-13, 1 and so on: no more symmetric, and less different than what a declaration allows */
static PetscErrorCode ScaleRows(Mat A, PETSC_UNUSED PetscReal diag)
{
  PetscInt start, end;
  Vec      left;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, NULL, &left));
  PetscCall(VecGetOwnershipRange(left, &start, &end));
  for (PetscInt i = start; i < end; ++i) PetscCall(VecSetValue(left, i, 1 + i % 2 * 1e-13, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(left));
  PetscCall(VecAssemblyEnd(left));
  PetscCall(MatDiagonalScale(A, left, NULL));
  PetscCall(VecDestroy(&left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What MatZeroRows() and MatDiagonalScale() change is below what a declaration allows */
static PetscErrorCode TestChanges(const char type[])
{
  static const struct {
    const char *name;
    PetscErrorCode (*change)(Mat, PetscReal diag);
    PetscReal diag;
  } changes[] = {
    {"rows zeroed",                   ZeroRows,  2},
    {"rows zeroed with the diagonal", ZeroRows,  0},
    {"rows scaled",                   ScaleRows, 0}
  };
  const Values values = {.large = 4, .weak = 1e-13, .up = 1, .down = 1};

  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(changes); ++c) {
    Mat       made, A, B;
    PetscBool set, symmetric;

    PetscCall(Create(type, &values, &made));
    PetscCall(MatDuplicate(made, MAT_COPY_VALUES, &A)); // of which PETSc's next assembly takes nothing back
    PetscCall(MatDestroy(&made));
    PetscCall(Create(MATAIJ, &values, &B));
    PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
    PetscCall(Compare("declared", A, B));
    PetscCall((*changes[c].change)(A, changes[c].diag));
    PetscCall((*changes[c].change)(B, changes[c].diag));
    PetscCall(Compare(changes[c].name, A, B));
    PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
    if (set && symmetric) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  and it is still declared symmetric\n"));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that is plain AIJ again zeroes rows as such */
static PetscErrorCode TestConverted(const char type[])
{
  const Values values = {.large = 4, .weak = 1, .up = 1, .down = 1};
  Mat          A, B;

  PetscFunctionBeginUser;
  PetscCall(Create(type, &values, &A));
  PetscCall(Create(MATAIJ, &values, &B));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(ZeroRows(A, 2));
  PetscCall(ZeroRows(B, 2));
  PetscCall(Compare("converted, then rows zeroed", A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that differ by their rounding, and by that of the diagonal entry of the row above alone */
static PetscErrorCode TestScales(const char type[])
{
  static const Values values[] = {
    {.large = 4,    .weak = 1,    .up = 1, .down = 1 + 4 * PETSC_MACHINE_EPSILON},
    {.large = 1e14, .weak = 1e-3, .up = 1, .down = 2                            }
  };
  static const char *const names[] = {"rounded", "beside large entries"};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    Mat A, B;

    PetscCall(Create(type, &values[k], &A));
    PetscCall(Create(MATAIJ, &values[k], &B));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(Compare(names[k], A, B));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char type[64] = MATAIJDIA;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(TestChanges(type));
  PetscCall(TestConverted(type));
  PetscCall(TestScales(type));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: -type {{aijdia aijicrs}}

TEST*/
