/* A problem for PC tns, its matrix and the formula, dense. */
#include "problem.h"
#include "core/compat.h"
#include "vecs.h"

PetscReal Coefficient(const Problem *p, PetscInt i)
{
  const PetscInt x = i % p->n[0], y = i / p->n[0] % p->n[1], z = i / (p->n[0] * p->n[1]);

  return ((x + 2 * y + 3 * z) % 5 < 2 ? p->contrast : 1.0) * (1.0 + 0.1 * ((i * (7 + p->variant)) % 11));
}

/* Columns and values of row i, diagonal first */
PetscInt Row(const Problem *p, PetscInt i, PetscInt col[], PetscScalar val[])
{
  const PetscInt at[]     = {i % p->n[0], i / p->n[0] % p->n[1], i / (p->n[0] * p->n[1])};
  const PetscInt stride[] = {1, p->n[0], p->n[0] * p->n[1]};
  PetscInt       count    = 1;

  col[0] = i;
  val[0] = 0.01 * Coefficient(p, i);
  for (int d = 0; d < 3; ++d) {
    for (int side = -1; side < 2; side += 2) {
      const PetscInt j = i + side * stride[d];
      PetscReal      a;

      if (at[d] + side < 0 || at[d] + side >= p->n[d]) continue;
      a          = 2.0 / (1.0 / Coefficient(p, i) + 1.0 / Coefficient(p, j));
      col[count] = j;
      val[count] = -a;
      val[0] += a;
      ++count;
    }
  }
  return count;
}

PetscErrorCode Fill(const Problem *p, Mat A)
{
  PetscInt    rstart, rend, col[7];
  PetscScalar val[7];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    const PetscInt count = Row(p, i, col, val);

    PetscCall(MatSetValues(A, 1, &i, count, col, val, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateMatrix(const Problem *p, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, p->N, p->N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 6, NULL));
  PetscCall(Fill(p, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M^-1 = K^T D^-1 K by dense products; L comes from problem p, D from problem pd; *norm is the infinity norm of L D^-1 */
PetscErrorCode CreateReference(const Problem *p, const Problem *pd, PetscInt degree, Mat *Minv, PetscReal *norm)
{
  Mat         X, K, T; /* X = -L D^-1 */
  Vec         dinv;
  PetscInt    col[7];
  PetscScalar val[7];

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p->N, p->N, NULL, &X));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &K));
  PetscCall(CreateVecs(X, &dinv, NULL));
  for (PetscInt i = 0; i < p->N; ++i) {
    Row(pd, i, col, val);
    PetscCall(VecSetValue(dinv, i, 1.0 / val[0], INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(dinv));
  PetscCall(VecAssemblyEnd(dinv));
  for (PetscInt i = 0; i < p->N; ++i) {
    const PetscInt count = Row(p, i, col, val);

    for (PetscInt k = 1; k < count; ++k) {
      if (col[k] < i) PetscCall(MatSetValue(X, i, col[k], -val[k], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(K, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(K, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDiagonalScale(X, NULL, dinv));
  PetscCall(MatNorm(X, NORM_INFINITY, norm));
  PetscCall(MatShift(K, 1.0));
  for (PetscInt j = 0; j < degree; ++j) { /* K <- I + X K */
    PetscCall(MatMatMult(X, K, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &T));
    PetscCall(MatShift(T, 1.0));
    PetscCall(MatDestroy(&K));
    K = T;
  }
  PetscCall(MatDuplicate(K, MAT_COPY_VALUES, &T));
  PetscCall(MatDiagonalScale(T, dinv, NULL));
  PetscCall(MatTransposeMatMult(K, T, MAT_INITIAL_MATRIX, PETSC_DEFAULT, Minv));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&K));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner as a dense array, column by column, on every process */
PetscErrorCode GetDense(PC pc, PetscInt N, PetscBool transpose, PetscScalar dense[])
{
  Mat                A;
  Vec                e, z;
  PetscInt           rstart, rend;
  const PetscScalar *zz;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(CreateVecs(A, &e, &z));
  PetscCall(VecGetOwnershipRange(e, &rstart, &rend));
  PetscCall(PetscArrayzero(dense, N * N));
  for (PetscInt j = 0; j < N; ++j) {
    PetscCall(VecZeroEntries(e));
    if (j >= rstart && j < rend) PetscCall(VecSetValue(e, j, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(e));
    PetscCall(VecAssemblyEnd(e));
    if (transpose) PetscCall(PCApplyTranspose(pc, e, z));
    else PetscCall(PCApply(pc, e, z));
    PetscCall(VecGetArrayRead(z, &zz));
    PetscCall(PetscArraycpy(dense + j * N + rstart, zz, rend - rstart));
    PetscCall(VecRestoreArrayRead(z, &zz));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, dense, (PetscMPIInt)(N * N), MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Largest difference to the formula, over its largest entry */
PetscErrorCode CompareDense(const PetscScalar dense[], const Problem *p, const Problem *pd, PetscInt degree, PetscReal *error, PetscReal *norm)
{
  Mat                Minv;
  const PetscScalar *ref;
  PetscReal          diff = 0, size = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateReference(p, pd, degree, &Minv, norm));
  PetscCall(MatDenseGetArrayRead(Minv, &ref));
  for (PetscInt k = 0; k < p->N * p->N; ++k) {
    diff = PetscMax(diff, PetscAbsScalar(dense[k] - ref[k]));
    size = PetscMax(size, PetscAbsScalar(ref[k]));
  }
  PetscCall(MatDenseRestoreArrayRead(Minv, &ref));
  PetscCall(MatDestroy(&Minv));
  *error = diff / size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetError(PC pc, const Problem *p, const Problem *pd, PetscInt degree, PetscBool transpose, PetscReal *error, PetscReal *norm)
{
  PetscScalar *dense;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p->N * p->N, &dense));
  PetscCall(GetDense(pc, p->N, transpose, dense));
  PetscCall(CompareDense(dense, p, pd, degree, error, norm));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Largest difference to the transpose, and the least pivot of the Cholesky factor (negative: there is none), both over the largest diagonal
   entry; a is lost */
void GetDefiniteness(PetscInt N, PetscScalar a[], PetscReal *asymmetry, PetscReal *pivot)
{
  PetscReal largest = 0;

  *asymmetry = 0;
  *pivot     = PETSC_MAX_REAL;
  for (PetscInt i = 0; i < N; ++i) {
    largest = PetscMax(largest, PetscRealPart(a[i + N * i]));
    for (PetscInt j = 0; j < i; ++j) *asymmetry = PetscMax(*asymmetry, PetscAbsScalar(a[i + N * j] - a[j + N * i]));
  }
  for (PetscInt k = 0; k<N && * pivot> 0; ++k) {
    *pivot = PetscMin(*pivot, PetscRealPart(a[k + N * k]));
    for (PetscInt j = k + 1; j < N; ++j) {
      for (PetscInt i = j; i < N; ++i) a[i + N * j] -= a[i + N * k] * a[j + N * k] / a[k + N * k];
    }
  }
  *asymmetry /= largest;
  *pivot /= largest;
}

PetscErrorCode Report(const char what[], PetscBool good, PetscReal value)
{
  PetscFunctionBeginUser;
  if (good) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: ok\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: WRONG, %g\n", what, (double)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetDegree(PC pc, PetscInt degree)
{
  PetscErrorCode (*set)(PC, PetscInt);

  PetscFunctionBeginUser;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCTNSSetDegree_C", &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "PCTNSSetDegree() is not there");
  PetscCall(set(pc, degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}
