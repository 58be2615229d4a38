static const char
  help[] = "Patterns of powers, whose rows repeat the row before where that only moves, against products of matrices: grids and random rows.\n\n";

#include "graphs.h"
#include "rows/power.h"

/* A grid of nx by ny nodes with a neighbour on each side, and random entries and their mirrors in some rows */
static PetscErrorCode Grid(PetscInt nx, PetscInt ny, PetscInt random, Mat *A)
{
  const PetscInt     N     = nx * ny;
  unsigned long long state = 7;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(N, N, A));
  for (PetscInt i = 0; i < N; ++i) {
    PetscCall(MatSetValue(*A, i, i, 1, INSERT_VALUES));
    if (i % nx) PetscCall(MatSetValue(*A, i, i - 1, 1, INSERT_VALUES));
    if (i % nx < nx - 1) PetscCall(MatSetValue(*A, i, i + 1, 1, INSERT_VALUES));
    if (i >= nx) PetscCall(MatSetValue(*A, i, i - nx, 1, INSERT_VALUES));
    if (i < N - nx) PetscCall(MatSetValue(*A, i, i + nx, 1, INSERT_VALUES));
  }
  for (PetscInt k = 0; k < random; ++k) {
    const PetscInt i = (PetscInt)(Next(&state) * N), j = (PetscInt)(Next(&state) * N);

    PetscCall(MatSetValue(*A, i, j, 1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, j, i, 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that are not those of the matrix, or below the diagonal of it */
static PetscErrorCode Compare(const PolderPattern *P, Mat M, PetscBool lower, PetscInt *wrong)
{
  PolderCSR rows;

  PetscFunctionBeginUser;
  PetscCall(PolderMatGetPattern(M, &rows));
  for (PetscInt i = 0; i < rows.m; ++i) {
    PetscInt k = P->start[i], differs = 0;

    for (PetscInt e = rows.ai[i]; e < rows.ai[i + 1]; ++e) {
      if (!lower || rows.aj[e] <= i) differs |= k >= P->start[i + 1] || P->column[k++] != rows.aj[e];
    }
    *wrong += differs || k != P->start[i + 1];
  }
  PetscCall(PolderMatRestoreCSR(M, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[][3] = {
    {1,  1,  0 },
    {5,  1,  0 },
    {9,  7,  0 },
    {30, 20, 0 },
    {30, 20, 5 },
    {12, 11, 90}
  };

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    Mat       A, square, cube;
    PolderCSR rows;
    PetscInt  wrong = 0;

    PetscCall(Grid(sizes[s][0], sizes[s][1], sizes[s][2], &A));
    PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &square));
    PetscCall(MatMatMult(A, square, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &cube));
    PetscCall(PolderMatGetPattern(A, &rows));
    for (int lower = 0; lower < 2; ++lower) {
      PolderPattern P, Q;

      PetscCall(PolderPatternProduct(&rows, NULL, (PetscBool)lower, &P));
      PetscCall(Compare(&P, square, (PetscBool)lower, &wrong));
      PetscCall(PolderPatternDestroy(&P));
      PetscCall(PolderPatternProduct(&rows, NULL, PETSC_FALSE, &P));
      PetscCall(PolderPatternProduct(&rows, &P, (PetscBool)lower, &Q));
      PetscCall(Compare(&Q, cube, (PetscBool)lower, &wrong));
      PetscCall(PolderPatternDestroy(&P));
      PetscCall(PolderPatternDestroy(&Q));
    }
    PetscCall(PolderMatRestoreCSR(A, &rows));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " by %" PetscInt_FMT ", %" PetscInt_FMT " random entries: %" PetscInt_FMT " rows differ\n",
                          sizes[s][0], sizes[s][1], sizes[s][2], wrong));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&square));
    PetscCall(MatDestroy(&cube));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:

TEST*/
