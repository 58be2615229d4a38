/* Set-up of a deflation space: local numbering of the columns, AZ, the Galerkin matrix E = Z^T A Z. */
#include "deflationspace.h"
#include "kernels/deflation.h"

/* Columns that this process touches get local numbers in order of appearance: own rows first, then ghosts. label[] becomes local */
static PetscErrorCode PolderDeflationNumber_Private(PolderDeflationSpace s, PetscInt n, PetscInt label[], PetscInt nghost, PetscInt ghostlabel[])
{
  PetscInt *local;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->d, &local));
  for (PetscInt l = 0; l < s->d; ++l) local[l] = -1;
  PetscCall(PetscFree(s->gl));
  PetscCall(PetscMalloc1(PetscMin(s->d, n + nghost), &s->gl));
  s->nl = 0;
  for (PetscInt i = 0; i < n + nghost; ++i) {
    PetscInt *l = i < n ? &label[i] : &ghostlabel[i - n];

    if (*l < 0) continue;
    if (local[*l] < 0) {
      s->gl[s->nl] = *l;
      local[*l]    = s->nl++;
    }
    *l = local[*l];
  }
  PetscCall(PetscFree(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationMakeRuns_Private(PolderDeflationSpace s, const PetscInt label[])
{
  PetscFunctionBegin;
  s->nrun = 0;
  for (PetscInt i = 0; i < s->m; ++i) s->nrun += (i == 0 || label[i] != label[i - 1]);
  PetscCall(PetscFree2(s->runstart, s->runlabel));
  PetscCall(PetscMalloc2(s->nrun + 1, &s->runstart, s->nrun, &s->runlabel));
  s->nrun = 0;
  for (PetscInt i = 0; i < s->m; ++i) {
    if (i == 0 || label[i] != label[i - 1]) {
      s->runstart[s->nrun]   = i;
      s->runlabel[s->nrun++] = label[i];
    }
  }
  s->runstart[s->nrun] = s->m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AZ on the rows where it is not zero, and whether the constant vector lies in the kernel of A */
static PetscErrorCode PolderDeflationMakeAZ_Private(PolderDeflationSpace s, const PolderCSR *csr, const PetscInt label[], const PetscInt ghostlabel[])
{
  PetscInt    *count, *col;
  PetscScalar *val;
  PetscInt     here[2] = {1, 1}, everywhere[2];
  PetscInt64   nz      = s->m ? (PetscInt64)csr->ai[s->m] + (csr->bi ? csr->bi[s->m] : 0) : 0; // entries that are added up

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(s->m, &count, s->nl, &col, s->nl, &val));
  here[0] = PolderLabelRowsCount_Host(s->m, csr->ai, csr->aj, csr->aa, label, csr->bi, csr->bj, csr->ba, ghostlabel, col, val, count);
  for (PetscInt r = 0; r < s->nrun; ++r) here[1] = here[1] && s->runlabel[r] >= 0;
  PetscCallAllreduce(here, everywhere, 2, MPIU_INT, MPI_MIN, s->comm);
  s->nullspace = (PetscBool)everywhere[0];
  s->covers    = (PetscBool)everywhere[1];
  s->nw        = 0;
  for (PetscInt i = 0; i < s->m; ++i) s->nw += count[i] > 0;
  PetscCall(PetscFree2(s->wrow, s->wi));
  PetscCall(PetscMalloc2(s->nw, &s->wrow, s->nw + 1, &s->wi));
  s->nw    = 0;
  s->wi[0] = 0;
  for (PetscInt i = 0; i < s->m; ++i) {
    if (count[i] > 0) {
      s->wrow[s->nw]   = i;
      s->wi[s->nw + 1] = s->wi[s->nw] + count[i];
      ++s->nw;
    }
  }
  PetscCall(PetscFree3(count, col, val));
  PetscCall(PetscFree2(s->wj, s->wv));
  PetscCall(PetscMalloc2(s->wi[s->nw], &s->wj, s->wi[s->nw], &s->wv));
  PolderLabelRowsFill_Host(s->nw, s->wrow, csr->ai, csr->aj, csr->aa, label, csr->bi, csr->bj, csr->ba, ghostlabel, s->wi, s->wj, s->wv);
  for (PetscInt k = 0; k < s->nw; ++k) {
    const PetscInt i = s->wrow[k];

    nz += csr->ai[i + 1] - csr->ai[i] + (csr->bi ? csr->bi[i + 1] - csr->bi[i] : 0);
  }
  PetscCall(PetscLogFlops((PetscLogDouble)nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E = Z^T (AZ): the rows of AZ are sorted by the columns of Z they meet; tptr, trow, tweight is Z^T on those rows */
static PetscErrorCode PolderDeflationMakeE_Private(PolderDeflationSpace s, const PetscInt label[], PetscBool drop)
{
  PetscInt    *tptr, *trow, *position, *ei, *ej = NULL, nc, size = 0, nz = 0;
  PetscScalar *tweight, *ev = NULL;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(s->nl + 2, &tptr));
  for (PetscInt k = 0; k < s->nw; ++k) {
    if (s->zi) {
      for (PetscInt j = s->zi[s->wrow[k]]; j < s->zi[s->wrow[k] + 1]; ++j) ++tptr[s->zj[j] + 2];
    } else if (label[s->wrow[k]] >= 0) ++tptr[label[s->wrow[k]] + 2];
  }
  for (PetscInt c = 0; c < s->nl; ++c) tptr[c + 2] += tptr[c + 1];
  PetscCall(PetscMalloc2(tptr[s->nl + 1], &trow, s->zi ? tptr[s->nl + 1] : 0, &tweight));
  for (PetscInt k = 0; k < s->nw; ++k) {
    if (s->zi) {
      for (PetscInt j = s->zi[s->wrow[k]]; j < s->zi[s->wrow[k] + 1]; ++j) {
        tweight[tptr[s->zj[j] + 1]] = s->zv[j];
        trow[tptr[s->zj[j] + 1]++]  = k;
      }
    } else if (label[s->wrow[k]] >= 0) trow[tptr[label[s->wrow[k]] + 1]++] = k;
  }
  PetscCall(PetscMalloc2(s->nl, &position, s->nl + 1, &ei));
  for (PetscInt c = 0; c < s->nl; ++c) position[c] = -1;
  ei[0] = 0;
  for (PetscInt c = 0; c < s->nl; ++c) {
    if (nz + s->nl > size) { /* a row of E has at most nl entries */
      size = 2 * nz + s->nl;
      PetscCall(PetscRealloc(size * sizeof(*ej), &ej));
      PetscCall(PetscRealloc(size * sizeof(*ev), &ev));
    }
    nc = 0;
    PolderGalerkinRow_Host(tptr[c + 1] - tptr[c], trow + tptr[c], s->zi ? tweight + tptr[c] : NULL, s->wi, s->wj, s->wv, &nc, position, ej + nz, ev + nz);
    nz += nc;
    ei[c + 1] = nz;
  }
  PetscCall(PetscLogFlops((s->zi ? 2.0 : 1.0) * s->wi[s->nw]));
  PetscCall(PolderCoarseSetUp(s->coarse, s->d, s->nl, s->gl, ei, ej, ev, drop));
  PetscCall(PetscFree2(position, ei));
  PetscCall(PetscFree(ej));
  PetscCall(PetscFree(ev));
  PetscCall(PetscFree2(trow, tweight));
  PetscCall(PetscFree(tptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationWork_Private(PolderDeflationSpace s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(s->a1, s->a2));
  PetscCall(PetscMalloc2(s->nl, &s->a1, s->nl, &s->a2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationLeavesOneOut(PolderDeflationSpace s, PetscBool *drop)
{
  PetscBool levelset;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->chosen, POLDERDEFLATIONLEVELSET, &levelset));
  *drop = (PetscBool)(s->nullspace && (s->covers || (levelset && s->thesis)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSetUpLabels(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  PetscInt  *label, *ghostlabel;
  PolderHalo halo;
  PetscBool  drop = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PetscMalloc2(s->m, &label, csr->nghost, &ghostlabel));
  PetscCall(PetscArraycpy(label, s->label, s->m));
  PetscCall(PolderHaloExchange(halo, MPIU_INT, label, ghostlabel));
  PetscCall(PolderDeflationNumber_Private(s, s->m, label, csr->nghost, ghostlabel));
  PetscCall(PolderDeflationMakeRuns_Private(s, label));
  PetscCall(PolderDeflationMakeAZ_Private(s, csr, label, ghostlabel));
  PetscCall(PolderDeflationLeavesOneOut(s, &drop));
  PetscCall(PolderDeflationMakeE_Private(s, label, drop));
  PetscCall(PolderDeflationWork_Private(s));
  PetscCall(PetscFree2(label, ghostlabel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* Copies CSR arrays without their zero entries */
static PetscErrorCode PolderDeflationCopyRows_Private(Mat local, PetscInt m, PetscInt **ptr, PetscInt **col, PetscScalar **val)
{
  const PetscInt    *ai, *aj;
  const PetscScalar *aa;
  PetscInt           rows, nz = 0;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ai, &aj, &done));
  PetscCheck(done && rows == m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Cannot read the rows of a deflation matrix");
  PetscCall(MatSeqAIJGetArrayRead(local, &aa));
  PetscCall(PetscMalloc1(m + 1, ptr));
  PetscCall(PetscMalloc2(ai[m], col, ai[m], val));
  (*ptr)[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt j = ai[i]; j < ai[i + 1]; ++j) {
      if (aa[j] == 0) continue;
      (*col)[nz]   = aj[j];
      (*val)[nz++] = aa[j];
    }
    (*ptr)[i + 1] = nz;
  }
  PetscCall(MatSeqAIJRestoreArrayRead(local, &aa));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ai, &aj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of a sparse matrix with global columns */
typedef struct {
  PetscInt    *ptr, *col;
  PetscScalar *val;
} PolderRows;

/* Work of a row of AZ: by column, and the columns that occur */
typedef struct {
  PetscScalar *own, *sum; /* [d] the row of Z, and of AZ; zero between rows */
  PetscInt    *last;      /* [d] the last neighbour that has this column */
  PetscInt    *occurs;    /* [d] */
  PetscInt     n, neighbour;
} PolderProductRow;

static inline void PolderProductAdd(PolderProductRow *row, PetscInt k, PetscScalar value)
{
  if (!row->last[k]) row->occurs[row->n++] = k;
  row->last[k] = row->neighbour;
  row->sum[k] += value;
}

/* sum += a (z_j - z_i) for row j of Z and row i of own */
static void PolderProductNeighbour(PolderProductRow *row, PetscScalar a, const PolderRows *Z, PetscInt j, const PolderRows *own, PetscInt i)
{
  ++row->neighbour;
  for (PetscInt q = Z->ptr[j]; q < Z->ptr[j + 1]; ++q) PolderProductAdd(row, Z->col[q], a * (Z->val[q] - row->own[Z->col[q]]));
  for (PetscInt q = own->ptr[i]; q < own->ptr[i + 1]; ++q) {
    if (row->last[own->col[q]] != row->neighbour) PolderProductAdd(row, own->col[q], -a * own->val[q]);
  }
}

/* Row i of AZ as the sum of a_ij (z_j - z_i) and of the row sum of A times z_i. So a column is free of noise where it is constant and A adds up to zero: the noise of plain sums,
   times coefficients of the size of the solution, is what limits the residual at high contrast. Writes the entries when col is not NULL; returns their number */
static PetscInt PolderProductCompute(PolderProductRow *row, const PolderCSR *csr, PetscInt i, const PolderRows *Z, const PolderRows *ghost, PetscInt col[], PetscScalar val[])
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

/* The rows of Z that belong to other processes and are needed here */
static PetscErrorCode PolderDeflationGhostRows_Private(Mat Z, const PolderCSR *csr, PetscInt d, PolderRows *ghost)
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
  PetscCall(PolderDeflationCopyRows_Private(sub[0], csr->nghost, &ghost->ptr, &ghost->col, &ghost->val));
  PetscCall(MatDestroySubMatrices(1, &sub));
  PetscCall(ISDestroy(&cols));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AZ on the rows where it is not zero, with global columns */
static PetscErrorCode PolderDeflationProduct_Private(PolderDeflationSpace s, Mat A, Mat Z)
{
  const PolderRows rows  = {s->zi, s->zj, s->zv};
  PolderRows       ghost = {0};
  PolderProductRow row;
  PolderCSR        csr;
  PetscInt        *count;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(A, &csr));
  PetscCall(PolderDeflationGhostRows_Private(Z, &csr, s->d, &ghost));
  PetscCall(PetscCalloc4(s->d, &row.own, s->d, &row.sum, s->d, &row.last, s->d, &row.occurs));
  PetscCall(PetscMalloc1(s->m, &count));
  s->nw = 0;
  for (PetscInt i = 0; i < s->m; ++i) {
    count[i] = PolderProductCompute(&row, &csr, i, &rows, &ghost, NULL, NULL);
    s->nw += count[i] > 0;
  }
  PetscCall(PetscMalloc2(s->nw, &s->wrow, s->nw + 1, &s->wi));
  s->nw    = 0;
  s->wi[0] = 0;
  for (PetscInt i = 0; i < s->m; ++i) {
    if (!count[i]) continue;
    s->wrow[s->nw]   = i;
    s->wi[s->nw + 1] = s->wi[s->nw] + count[i];
    ++s->nw;
  }
  PetscCall(PetscMalloc2(s->wi[s->nw], &s->wj, s->wi[s->nw], &s->wv));
  for (PetscInt k = 0; k < s->nw; ++k) (void)PolderProductCompute(&row, &csr, s->wrow[k], &rows, &ghost, s->wj + s->wi[k], s->wv + s->wi[k]);
  PetscCall(PetscLogFlops(4.0 * s->wi[s->nw]));
  PetscCall(PetscFree(count));
  PetscCall(PetscFree4(row.own, row.sum, row.last, row.occurs));
  PetscCall(PetscFree(ghost.ptr));
  PetscCall(PetscFree2(ghost.col, ghost.val));
  PetscCall(PolderMatRestoreCSR(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* General form: Z is a sparse matrix of any pattern */
PetscErrorCode PolderDeflationSetUpMatrix(PolderDeflationSpace s, Mat A, Mat Z)
{
  Mat local;

  PetscFunctionBegin;
  PetscCall(PolderMatGetLocalRows_Private(Z, &local));
  PetscCall(PolderDeflationCopyRows_Private(local, s->m, &s->zi, &s->zj, &s->zv));
  PetscCall(MatDestroy(&local));
  PetscCall(PolderDeflationProduct_Private(s, A, Z));
  PetscCall(PolderDeflationNumber_Private(s, s->zi[s->m], s->zj, s->wi[s->nw], s->wj));
  PetscCall(PolderDeflationMakeE_Private(s, NULL, PETSC_FALSE));
  PetscCall(PolderDeflationWork_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Z with the vectors of MatSetNearNullSpace() as columns */
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
  PetscCheck(nearnull, comm, PETSC_ERR_ARG_WRONGSTATE, "-deflation_space nearnullspace needs the near null space of the matrix: attach one with MatSetNearNullSpace()");
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
