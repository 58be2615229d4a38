static char help[] = "What Polder's matrices say of themselves, and what they answer to bad input.\n\
  -type <type>: the type under test\n\
  -bad <what> : a mistake to make\n\n";

#include <polder.h>
#include <unistd.h>
#include "vecs.h"

/* Diagonals at the offsets given; values symmetric or not */
static PetscErrorCode Create(const char *type, const char *prefix, PetscInt N, PetscInt nd, const PetscInt off[], PetscReal lower, PetscScalar value, Mat *A)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, nd, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, nd, NULL, nd, NULL));
  PetscCall(MatGetOwnershipRange(*A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    for (PetscInt d = 0; d < nd; ++d) {
      const PetscInt j = i + off[d];

      if (j >= 0 && j < N) PetscCall(MatSetValue(*A, i, j, off[d] == 0 ? 4.0 : (off[d] < 0 ? lower * value : value), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode View(const char *what, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", what));
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(*A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Views(const char *type)
{
  const PetscInt off[] = {-12, -1, 0, 1, 12}, far[] = {-50, -23, -12, -7, -3, -1, 0, 1, 2, 30};
  PetscInt       rstart, rend;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(Create(type, "a_", 96, 5, off, 1.0, -1.0, &A));
  PetscCall(View("symmetric stencil", &A));
  PetscCall(PetscOptionsSetValue(NULL, "-b_mat_aijdia_symmetric", "0"));
  PetscCall(Create(type, "b_", 96, 5, off, 1.0, -1.0, &A));
  PetscCall(View("symmetric stencil, -mat_aijdia_symmetric 0", &A));
  PetscCall(Create(type, "c_", 96, 5, off, 0.5, -1.0, &A));
  PetscCall(View("convection", &A));
  PetscCall(Create(type, "d_", 96, 5, off, 1.0 + 1e-15, -1.0, &A));
  PetscCall(View("symmetric up to rounding", &A));
  PetscCall(Create(type, "e_", 96, 5, off, 1.0 + 1e-15, -1.0, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(View("symmetric up to rounding, MAT_SYMMETRIC", &A));
  PetscCall(Create(type, "f_", 96, 5, off, 0.5, -1.0, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(View("convection, MAT_SYMMETRIC", &A));
  PetscCall(PetscOptionsSetValue(NULL, "-g_mat_aijdia_max_fill", "1.1"));
  PetscCall(Create(type, "g_", 96, 10, far, 1.0, -1.0, &A));
  PetscCall(View("far diagonals, -mat_aijdia_max_fill 1.1", &A));
  PetscCall(Create(type, "h_", 96, 5, off, 1.0, -1.0, &A));
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt j = 0; j < 96 && rstart == 0; ++j) PetscCall(MatSetValue(A, 5, j, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(View("one full row", &A));
  PetscCall(Create(type, "j_", 96, 3, off + 1, 1.0, -1.0, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 5; i < 96; i += 40) {
    for (PetscInt j = 0; j < 96 && rstart == 0; ++j) PetscCall(MatSetValue(A, i, j, 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(View("three full rows", &A));
  PetscCall(Create(type, "i_", 96, 0, off, 1.0, -1.0, &A));
  PetscCall(View("no entries", &A));
  PetscFunctionReturn(0);
}

/* A value that is no number spoils the rows that have it and no others */
static PetscErrorCode NotANumber(const char *type)
{
  const PetscInt     off[] = {-1, 0, 1};
  const PetscScalar *a;
  PetscInt           rstart, rend;
  Mat                A;
  Vec                x, y;

  PetscFunctionBeginUser;
  PetscCall(Create(type, NULL, 20, 3, off, 1.0, -1.0, &A));
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  if (rstart <= 7 && 7 < rend) PetscCall(MatSetValue(A, 7, 7, NAN, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt i = rstart; i < rend; ++i)
    PetscCheck(PetscIsNanScalar(a[i - rstart]) == (i == 7), PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %" PetscInt_FMT " is %g", i, (double)a[i - rstart]);
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "only the row with NaN is NaN\n"));
  PetscFunctionReturn(0);
}

/* Mistakes that must end in an error with a plain sentence */
/* A binary file that ends too early */
static PetscErrorCode Damaged(const char *type)
{
  const PetscInt off[] = {-1, 0, 1};
  Mat            A;
  PetscViewer    viewer;
  FILE          *file;

  PetscFunctionBeginUser;
  PetscCall(Create(type, NULL, 200, 3, off, 1.0, -1.0, &A));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "damaged.dat", FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, "damaged.dat", "r+", &file));
  if (file) PetscCheck(!ftruncate(fileno(file), 1000), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot shorten the file");
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "damaged.dat", FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(A, viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode Bad(const char *type, const char *what)
{
  const PetscInt off[] = {-1, 0, 1};
  Mat            A;
  Vec            x, y;
  PetscViewer    viewer;
  PetscBool      is;
  char           parallel[64];

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(what, "type", &is));
  if (is) {
    PetscCall(Create(MATAIJ, NULL, 20, 3, off, 1.0, -1.0, &A));
    PetscCall(PetscSNPrintf(parallel, sizeof(parallel), "mpi%s", type));
    PetscCall(MatConvert(A, parallel, MAT_INITIAL_MATRIX, &A));
  }
  PetscCall(PetscStrcmp(what, "unassembled", &is));
  if (is) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 20, 20));
    PetscCall(MatSetType(A, type));
    PetscCall(MatSetUp(A));
    PetscCall(CreateVecs(A, &x, &y));
    PetscCall(MatMult(A, x, y));
  }
  PetscCall(PetscStrcmp(what, "size", &is));
  if (is) {
    PetscCall(Create(type, NULL, 20, 3, off, 1.0, -1.0, &A));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 21, &x));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(MatMult(A, x, y));
  }
  PetscCall(PetscStrcmp(what, "damaged", &is));
  if (is) PetscCall(Damaged(type));
  PetscCall(PetscStrcmp(what, "missing", &is));
  if (is) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetType(A, type));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "no_such_file.dat", FILE_MODE_READ, &viewer));
    PetscCall(MatLoad(A, viewer));
  }
  PetscCall(PetscStrcmp(what, "nan", &is));
  if (is) PetscCall(NotANumber(type));
  PetscCall(PetscStrcmp(what, "unsorted", &is));
  if (is) {
    PetscInt    i[] = {0, 2, 4}, j[] = {1, 0, 0, 1};
    PetscScalar a[] = {1.0, 2.0, 3.0, 4.0};

    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 2, i, j, a, &A));
    PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
    PetscCall(CreateVecs(A, &x, &y));
    PetscCall(MatMult(A, x, y));
  }
  PetscCall(PetscStrcmp(what, "fill", &is));
  if (is) {
    PetscCall(PetscOptionsSetValue(NULL, "-mat_aijdia_max_fill", "-2"));
    PetscCall(Create(type, NULL, 20, 3, off, 1.0, -1.0, &A));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = "aijdia", bad[64];
  PetscBool isbad;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bad", bad, sizeof(bad), &isbad));
  if (isbad) PetscCall(Bad(type, bad));
  else PetscCall(Views(type));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   # the bytes a row are those of 32-bit indices
   testset:
     requires: !64bit_indices !gpu
     args: -type {{aijdia aijicrs aijhec}separate output}
     filter: grep -E "^[a-z]|format:|not [a-z]+( rows)?:|stored"
     test:
       suffix: 1
     test:
       suites: valgrind(+aijdia)
       suffix: 3
       nsize: 3

   test:
     suffix: nan
     nsize: {{1 2}}
     args: -bad nan -type {{aijdia aijicrs aijhec}}

   testset:
     args: -type {{aijdia aijicrs aijhec}}
     test:
       suffix: bad_type
       args: -bad type
       fails: Cannot convert a seqaij matrix to mpiaij
     test:
       suffix: bad_unassembled
       args: -bad unassembled
       fails: Not for unassembled matrix
     test:
       suffix: bad_size
       nsize: {{1 2}}
       args: -bad size
       fails: global dim 20 21
     test:
       suffix: bad_damaged
       nsize: {{1 2}}
       args: -bad damaged
       fails: Read past end of file
     test:
       suffix: bad_missing
       args: -bad missing
       fails: Unable to open file

   test:
     suffix: bad_unsorted
     args: -bad unsorted
     fails: The columns of a row do not ascend: sort them in the arrays

   test:
     suffix: bad_fill
     nsize: {{1 2}}
     args: -bad fill
     fails: is negative: give the largest ratio

TEST*/
