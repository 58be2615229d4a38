static char
  help[] = "Values in coordinates on several processes: those of the off-diagonal block are copied once, and never are old ones multiplied, also where\n"
           "MatSetValues() has given values to another process before.\n\n";

#include "mat/csr.h"
#include "copies.h"
#include <polder.h>

#define ROWS 600 /* of a process, each coupled to two before and two after */

static const PetscInt offsets[] = {-300, -1, 0, 1, 300};

typedef struct {
  PetscInt start, end, N, nz, far; /* entries of the rows start to end - 1, and how many of them are in columns of other processes */
  PetscInt row[ROWS * PETSC_STATIC_ARRAY_LENGTH(offsets)], col[ROWS * PETSC_STATIC_ARRAY_LENGTH(offsets)];
} Entries;

static void EntriesMake(Entries *e)
{
  e->nz = e->far = 0;
  for (PetscInt i = e->start; i < e->end; ++i) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(offsets); ++k) {
      const PetscInt j = i + offsets[k];

      if (j < 0 || j >= e->N) continue;
      e->row[e->nz]   = i;
      e->col[e->nz++] = j;
      if (j < e->start || j >= e->end) ++e->far;
    }
  }
}

/* PETSc may change the coordinates */
static PetscErrorCode MatrixCreate(Entries e, MatType type, Mat *A)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, ROWS, ROWS, e.N, e.N));
  PetscCall(MatSetType(*A, type));
  PetscCall(PolderDevicePresent(&device));
  if (device) PetscCall(MatSetVecType(*A, POLDER_VEC_DEVICE));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetPreallocationCOO(*A, e.nz, e.row, e.col));
  PetscFunctionReturn(0);
}

/* Of a step, where CUDA vectors have theirs */
static PetscErrorCode ValuesCreate(const Entries *e, PetscInt step, Vec *values)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(PolderDevicePresent(&device));
  PetscCall(VecCreate(PETSC_COMM_SELF, values));
  PetscCall(VecSetSizes(*values, e->nz, e->nz));
  PetscCall(VecSetType(*values, device ? POLDER_VEC_DEVICE : VECSTANDARD));
  for (PetscInt k = 0; k < e->nz; ++k) PetscCall(VecSetValue(*values, k, 1 + step + (e->row[k] + 3 * e->col[k]) % 11, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*values));
  PetscCall(VecAssemblyEnd(*values));
  PetscCall(VecScale(*values, 1.0)); /* where that is done */
  PetscCall(VecShift(*values, 0.0));
  PetscFunctionReturn(0);
}

/* PETSc's own type on the host takes no memory of a device */
static PetscErrorCode SetHostValues(Mat A, Vec values)
{
  const PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(values, &v));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(VecRestoreArrayRead(values, &v));
  PetscFunctionReturn(0);
}

/* A value for a row of the next process in a column of this one */
static PetscErrorCode SetFar(const Entries *e, Mat A)
{
  PetscFunctionBeginUser;
  if (e->end < e->N) PetscCall(MatSetValue(A, e->end, e->end - 1, 1000, ADD_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode Compare(Mat A, Mat B, Vec x, const char when[])
{
  Vec       y, z;
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &difference));
  PetscCheck(difference < 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: products differ by %g", when, (double)difference);
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Entries        e;
  Mat            A, B;
  Vec            x, y, values[2];
  PetscMPIInt    rank, size;
  PetscLogDouble bytes = 0;
  PetscBool      device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PolderDevicePresent(&device));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  e.start = ROWS * rank;
  e.end   = e.start + ROWS;
  e.N     = ROWS * size;
  EntriesMake(&e);
  for (PetscInt k = 0; k < 2; ++k) PetscCall(ValuesCreate(&e, k, &values[k]));
  PetscCall(MatrixCreate(e, "aijdia", &A));
  PetscCall(MatrixCreate(e, MATAIJ, &B));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSet(x, 0.5));
  PetscCall(VecShift(x, rank));
  for (PetscInt k = 0; k < 4; ++k) {
    PetscCall(SetValues(A, values[k % 2]));
    PetscCall(SetHostValues(B, values[k % 2]));
    PetscCall(Compare(A, B, x, "New values"));
  }
  PetscCall(VecDuplicate(x, &y));
  for (int k = 0; k < 2; ++k) { /* a product, whose ghost values may go through the host, and one with new values */
    const PetscLogDouble before = Copied();

    if (k) PetscCall(SetValues(A, values[0]));
    PetscCall(MatMult(A, x, y));
    bytes = Copied() - before - bytes;
  }
  PetscCheck(!device || bytes == (PetscLogDouble)(sizeof(PetscScalar) * (size_t)e.far), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "New values copy %g bytes, and %" PetscInt_FMT " entries are in columns of other processes", bytes, e.far);
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(SetFar(&e, A));
    PetscCall(SetFar(&e, B));
    PetscCall(SetValues(A, values[k]));
    PetscCall(SetHostValues(B, values[k]));
    PetscCall(Compare(A, B, x, "New values, and one of another process"));
  }
  PetscCall(SetFar(&e, A));
  PetscCall(SetFar(&e, B));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(Compare(A, B, x, "One value of another process"));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDestroy(&values[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "products agree\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    nsize: {{1 3}}
    args: -use_gpu_aware_mpi 0
    output_file: output/offvalues.out

TEST*/
