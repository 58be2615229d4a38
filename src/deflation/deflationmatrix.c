/* The general form of a deflation space: Z is a sparse or dense matrix. */
#include "deflationsteps.h"

/* The local rows of an AIJ matrix with global columns, as a sequential matrix that the caller destroys */
static PetscErrorCode PolderMatGetLocalRows_Private(Mat A, Mat *local)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, local));
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    *local = A;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the rows of a sequential matrix without their zero entries */
static PetscErrorCode PolderDeflationCopyRows_Private(Mat local, PetscInt m, PolderSparseRows *copy)
{
  const PetscInt    *ai, *aj;
  const PetscScalar *aa;
  PetscInt           rows, nz = 0;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ai, &aj, &done));
  PetscCheck(done && rows == m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Cannot read the rows of a deflation matrix");
  PetscCall(MatSeqAIJGetArrayRead(local, &aa));
  PetscCall(PolderSparseRowsCreate(&PolderOnHost, m, ai[m], PETSC_FALSE, copy));
  copy->ptr[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt j = ai[i]; j < ai[i + 1]; ++j) {
      if (aa[j] == 0) continue;
      copy->col[nz]   = aj[j];
      copy->val[nz++] = aa[j];
    }
    copy->ptr[i + 1] = nz;
  }
  copy->nz = nz;
  PetscCall(MatSeqAIJRestoreArrayRead(local, &aa));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ai, &aj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Work arrays for a row of AZ: values by column, and the list of columns that occur */
typedef struct {
  PetscScalar *own, *sum; /* [d] the row of Z, and of AZ; zero between rows */
  PetscInt    *last;      /* [d] the last neighbour row with an entry in this column */
  PetscInt    *occurs;    /* [d] list of the columns that occur */
  PetscInt     n, neighbour;
} PolderProductRow;

static inline void PolderProductAdd(PolderProductRow *row, PetscInt k, PetscScalar value)
{
  if (!row->last[k]) row->occurs[row->n++] = k;
  row->last[k] = row->neighbour;
  row->sum[k] += value;
}

/* sum += a (z_j - z_i) for row j of Z and row i of own */
static void PolderProductNeighbour(PolderProductRow *row, PetscScalar a, const PolderSparseRows *Z, PetscInt j, const PolderSparseRows *own, PetscInt i)
{
  ++row->neighbour;
  for (PetscInt q = Z->ptr[j]; q < Z->ptr[j + 1]; ++q) PolderProductAdd(row, Z->col[q], a * (Z->val[q] - row->own[Z->col[q]]));
  for (PetscInt q = own->ptr[i]; q < own->ptr[i + 1]; ++q) {
    if (row->last[own->col[q]] != row->neighbour) PolderProductAdd(row, own->col[q], -a * own->val[q]);
  }
}

/*
  Computes row i of AZ as the sum of a_ij (z_j - z_i) plus z_i times the row sum of A. A constant column of Z thus has no rounding noise where the row sums of
  A are zero. In plain sums this noise, multiplied by coefficients of the size of the solution, limits the attainable residual at high contrast. Writes the
  entries if col is not NULL; returns their number
*/
static PetscInt PolderProductCompute(PolderProductRow *row, const PolderCSR *csr, PetscInt i, const PolderSparseRows *Z, const PolderSparseRows *ghost,
                                     PetscInt col[], PetscScalar val[])
{
  PetscInt    n = csr->ai[i + 1] - csr->ai[i], nz = 0;
  PetscScalar total = 0;
  PetscReal   abs   = 0;

  row->n = row->neighbour = 0;
  for (PetscInt q = Z->ptr[i]; q < Z->ptr[i + 1]; ++q) row->own[Z->col[q]] = Z->val[q];
  for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
    total += csr->aa[k];
    abs += PetscAbsScalar(csr->aa[k]);
    if (csr->aj[k] != i) PolderProductNeighbour(row, csr->aa[k], Z, csr->aj[k], Z, i);
  }
  for (PetscInt k = csr->bi ? csr->bi[i] : 0; csr->bi && k < csr->bi[i + 1]; ++k, ++n) {
    total += csr->ba[k];
    abs += PetscAbsScalar(csr->ba[k]);
    PolderProductNeighbour(row, csr->ba[k], ghost, csr->bj[k], Z, i);
  }
  ++row->neighbour;
  for (PetscInt q = Z->ptr[i]; q < Z->ptr[i + 1]; ++q) {
    if (PetscAbsScalar(total) > (4 + n) * PETSC_MACHINE_EPSILON * abs) PolderProductAdd(row, Z->col[q], total * Z->val[q]);
    row->own[Z->col[q]] = 0;
  }
  for (PetscInt q = 0; q < row->n; ++q) {
    const PetscInt k = row->occurs[q];

    if (row->sum[k] != (PetscScalar)0) {
      if (col) {
        col[nz] = k;
        val[nz] = row->sum[k];
      }
      ++nz;
    }
    row->sum[k]  = 0;
    row->last[k] = 0;
  }
  return nz;
}

/* Gets the off-process rows of Z that this process needs */
static PetscErrorCode PolderDeflationGhostRows_Private(Mat Z, const PolderCSR *csr, PetscInt d, PolderSparseRows *ghost)
{
  PetscMPIInt size;
  IS          rows, cols;
  Mat        *sub;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)Z), &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, csr->nghost, csr->garray, PETSC_USE_POINTER, &rows));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, d, 0, 1, &cols));
  PetscCall(MatCreateSubMatrices(Z, 1, &rows, &cols, MAT_INITIAL_MATRIX, &sub));
  PetscCall(PolderDeflationCopyRows_Private(sub[0], csr->nghost, ghost));
  PetscCall(MatDestroySubMatrices(1, &sub));
  PetscCall(ISDestroy(&cols));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes AZ on its nonzero rows, with global columns */
static PetscErrorCode PolderDeflationProduct_Private(PolderDeflationSpace s, Mat A, Mat Z)
{
  PolderSparseRows ghost = {0}, *AZ = &s->AZ;
  PolderProductRow row;
  PolderCSR        csr;
  PetscInt        *count;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(A, &csr));
  PetscCall(PolderDeflationGhostRows_Private(Z, &csr, s->d, &ghost));
  PetscCall(PetscCalloc4(s->d, &row.own, s->d, &row.sum, s->d, &row.last, s->d, &row.occurs));
  PetscCall(PetscMalloc1(s->m, &count));
  for (PetscInt i = 0; i < s->m; ++i) count[i] = PolderProductCompute(&row, &csr, i, &s->Z, &ghost, NULL, NULL);
  PetscCall(PolderSparseRowsFromCounts(s->m, count, AZ));
  for (PetscInt k = 0; k < AZ->n; ++k) (void)PolderProductCompute(&row, &csr, AZ->row[k], &s->Z, &ghost, AZ->col + AZ->ptr[k], AZ->val + AZ->ptr[k]);
  PetscCall(PetscLogFlops(4.0 * AZ->nz));
  PetscCall(PetscFree(count));
  PetscCall(PetscFree4(row.own, row.sum, row.last, row.occurs));
  PetscCall(PolderSparseRowsDestroy(&PolderOnHost, &ghost));
  PetscCall(PolderMatRestoreCSR(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationSetUpAIJ_Private(PolderDeflationSpace s, Mat A, Mat Z)
{
  Mat local;

  PetscFunctionBegin;
  PetscCall(PolderMatGetLocalRows_Private(Z, &local));
  PetscCall(PolderDeflationCopyRows_Private(local, s->m, &s->Z));
  PetscCall(MatDestroy(&local));
  PetscCall(PolderDeflationProduct_Private(s, A, Z));
  PetscCall(PolderDeflationNumber(s, s->Z.nz, s->Z.col, s->AZ.nz, s->AZ.col));
  PetscCall(PolderDeflationMakeE(s, NULL, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSetUpMatrix(PolderDeflationSpace s, Mat A, Mat Z)
{
  PetscInt  m, here, wrong, N, M;
  PetscBool aij;
  Mat       Zaij;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(Z, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetSize(Z, NULL, &N));
  here = m != s->m;
  PetscCallAllreduce(&here, &wrong, 1, MPIU_INT, MPI_MAX, s->comm);
  PetscCheck(!wrong, s->comm, PETSC_ERR_ARG_SIZ, "The deflation matrix Z must have the row layout of the operator");
  PetscCheck(N <= M, s->comm, PETSC_ERR_ARG_SIZ, "There are more deflation vectors (%" PetscInt_FMT ") than rows (%" PetscInt_FMT ")", N, M);
  PetscCall(PolderMatIsAIJ(Z, &aij));
  if (aij) {
    PetscCall(PetscObjectReference((PetscObject)Z));
    Zaij = Z;
  } else PetscCall(MatConvert(Z, MATAIJ, MAT_INITIAL_MATRIX, &Zaij));
  s->d = N;
  PetscCall(PolderDeflationSetUpAIJ_Private(s, A, Zaij));
  PetscCall(MatDestroy(&Zaij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes Z from the vectors of MatSetNearNullSpace() */
PetscErrorCode PolderDeflationNearNullSpace(Mat A, Mat *Z)
{
  MatNullSpace       nearnull;
  PetscBool          constant;
  PetscInt           nvec, m, rstart, cols, *nnz;
  const Vec         *vecs;
  const PetscScalar *v;
  MPI_Comm           comm;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  PetscCall(MatGetNearNullSpace(A, &nearnull));
  PetscCheck(nearnull, comm, PETSC_ERR_ARG_WRONGSTATE,
             "-deflation_space nearnullspace needs the near null space of the matrix: attach one with MatSetNearNullSpace()");
  PetscCall(MatNullSpaceGetVecs(nearnull, &constant, &nvec, &vecs));
  cols = nvec + (constant ? 1 : 0);
  PetscCheck(cols, comm, PETSC_ERR_ARG_WRONGSTATE, "The near null space of the matrix has no vectors: attach one with MatSetNearNullSpace()");
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetOwnershipRange(A, &rstart, NULL));
  PetscCall(MatCreate(comm, Z));
  PetscCall(MatSetSizes(*Z, m, PETSC_DECIDE, PETSC_DETERMINE, cols));
  PetscCall(MatSetType(*Z, MATAIJ));
  PetscCall(PetscMalloc1(m, &nnz));
  for (PetscInt i = 0; i < m; ++i) nnz[i] = cols;
  PetscCall(MatSeqAIJSetPreallocation(*Z, 0, nnz));
  PetscCall(MatMPIAIJSetPreallocation(*Z, cols, NULL, cols, NULL));
  PetscCall(PetscFree(nnz));
  for (PetscInt k = 0; k < cols; ++k) {
    if (k < nvec) PetscCall(VecGetArrayRead(vecs[k], &v));
    for (PetscInt i = 0; i < m; ++i) PetscCall(MatSetValue(*Z, rstart + i, k, k < nvec ? v[i] : 1, INSERT_VALUES));
    if (k < nvec) PetscCall(VecRestoreArrayRead(vecs[k], &v));
  }
  PetscCall(MatAssemblyBegin(*Z, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*Z, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
