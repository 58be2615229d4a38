/* The rows of a matrix, on the host or on the device, for whoever needs entries. */
#pragma once

#include "core/place.h"
#include "kernels/views.h"

/* The rows of this process as CSR: the diagonal block (ai,aj,aa) with local columns and, on several processes, the block (bi,bj,ba) whose column k stands
   for global column garray[k] */
typedef struct {
  PetscInt           m, rstart, M; /* number of local rows, first local row, number of global rows */
  PetscInt           nghost;
  const PetscInt    *garray;
  const PetscInt    *ai, *aj, *bi, *bj; /* bi = bj = NULL for a sequential type */
  const PetscScalar *aa, *ba;
  Mat                diag, offdiag;
  PetscInt           nz;     /* entries of the diagonal block */
  PetscBool          device; /* the arrays are in device memory */
} PolderCSR;

/* These blocks for kernels; without a second block, i of the second view is NULL */
static inline PolderRows PolderOwnRows(const PolderCSR *csr)
{
  return (PolderRows){.n = csr->m, .i = csr->ai, .j = csr->aj, .a = csr->aa, .nz = csr->nz};
}

static inline PolderRows PolderGhostColumns(const PolderCSR *csr)
{
  return (PolderRows){.n = csr->m, .i = csr->bi, .j = csr->bj, .a = csr->ba};
}

/* The number of ghosts that belong to processes before this one, whose first row is number rstart */
static inline PetscErrorCode PolderGhostsBelow(PetscInt nghost, const PetscInt garray[], PetscInt rstart, PetscInt *below)
{
  PetscFunctionBegin;
  PetscCall(PetscFindInt(rstart, nghost, garray, below)); // no ghost is a row of this process: minus the place where it would be, minus one
  *below = -(*below + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first of m rows from number i on that has entries; m: none has. For blocks with few rows that have any */
static inline PetscInt PolderCSRNextRow(PetscInt m, const PetscInt ai[], PetscInt i)
{
  const PetscInt none = i < m ? ai[i] : 0;
  PetscInt       step = 1;

  while (i < m && ai[PetscMin(m, i + step)] == none) { // rows i .. i + step - 1 have none
    i = PetscMin(m, i + step);
    step *= 2;
  }
  for (; step > 1 && i < m; step /= 2) {
    if (ai[PetscMin(m, i + step / 2)] == none) i = PetscMin(m, i + step / 2);
  }
  return i;
}

/* rows->row, which the caller frees, and rows->ptr, too: those of the m rows that have entries, and where these begin */
static inline PetscErrorCode PolderCSRListRows(PetscInt m, const PetscInt ai[], PolderSparseRows *rows)
{
  PetscFunctionBegin;
  rows->n  = 0;
  rows->nz = m ? ai[m] : 0;
  PetscCall(PetscMalloc1(PetscMin(m, rows->nz), &rows->row));
  PetscCall(PetscMalloc1(PetscMin(m, rows->nz) + 1, &rows->ptr));
  for (PetscInt i = PolderCSRNextRow(m, ai, 0); i < m; i = PolderCSRNextRow(m, ai, i + 1)) {
    rows->row[rows->n]   = i;
    rows->ptr[rows->n++] = ai[i];
  }
  rows->ptr[rows->n] = rows->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are these first, first + 1, ...? The loop has no exit, so that it works on whole vectors */
static inline PetscBool PolderConsecutive(PetscInt n, PetscInt first, const PetscInt i[])
{
  PetscInt other = 0;

  for (PetscInt k = 0; k < n; ++k) other |= i[k] ^ (first + k);
  return (PetscBool)!other;
}

/* The first of the rows i + 1, ..., end - 1 whose columns are not those of the row before moved by one; end: there is none */
static inline PetscInt PolderCSRNextUnlike(const PetscInt ai[], const PetscInt aj[], PetscInt i, PetscInt end)
{
  const PetscInt length = ai[i + 1] - ai[i];
  PetscInt       chunk = 1, most = 64; /* plain loops over a chunk of rows, halved where it holds the row */

  for (++i; i < end;) {
    PetscInt differs = 0;

    chunk = PetscMin(chunk, end - i);
    for (PetscInt k = i; k < i + chunk; ++k) differs |= (ai[k + 1] - ai[k]) ^ length;
    for (PetscInt k = ai[i]; !differs && k < ai[i + chunk]; k += 64) {
      for (PetscInt l = k; l < PetscMin(k + 64, ai[i + chunk]); ++l) differs |= (aj[l] - aj[l - length]) ^ 1;
    }
    if (differs && chunk == 1) return i;
    if (differs) most = chunk / 2;
    else i += chunk;
    chunk = most;
  }
  return end;
}

/* Raises PETSC_ERR_SUP or PETSC_ERR_ARG_SIZ, with a sentence that names the PC, unless A is a square AIJ matrix with rows and columns distributed alike */
PETSC_INTERN PetscErrorCode PolderMatCheckRows(Mat A, const char type[]);
/* The blocks of an AIJ matrix; *offdiag and *garray are NULL for a sequential type */
PETSC_INTERN PetscErrorCode PolderMatGetBlocks(Mat A, Mat *diag, Mat *offdiag, const PetscInt *garray[]);
/* PolderMatGetCSR() raises PETSC_ERR_SUP when A is not an AIJ matrix; PolderMatIsAIJ() tells whether it is one */
PETSC_INTERN PetscErrorCode PolderMatIsAIJ(Mat, PetscBool *);
/* Are the vectors that the matrix makes CUDA vectors, whose operations run on the device? */
PETSC_INTERN PetscErrorCode PolderMatVecsOnDevice(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode PolderMatGetCSR(Mat, PolderCSR *);
PETSC_INTERN PetscErrorCode PolderMatRestoreCSR(Mat, PolderCSR *);
/* PolderMatGetCSR() without the values, which may be on a device: aa = ba = NULL */
PETSC_INTERN PetscErrorCode PolderMatGetPattern(Mat, PolderCSR *);
/* The same with all arrays but garray in device memory, for Polder types and for aijcusparse; done = PETSC_FALSE, and csr is zero, for matrices that exist
   on the host only */
PETSC_INTERN PetscErrorCode PolderMatGetDeviceCSR(Mat, PolderCSR *, PetscBool *done);
PETSC_INTERN PetscErrorCode PolderMatRestoreDeviceCSR(Mat, PolderCSR *);
/* The rows at a place, by one of these pairs of functions. The rows on the host are always available */
PETSC_INTERN PetscErrorCode PolderMatGetCSRAt(Mat, const PolderPlace *, PolderCSR *, PetscBool *done);
PETSC_INTERN PetscErrorCode PolderMatRestoreCSRAt(Mat, PolderCSR *);
/* The rows on the device when that is allowed and each process has them there, on the host otherwise: csr->device is the same everywhere. Return them by
   PolderMatRestoreCSRAt(). Collective */
PETSC_INTERN PetscErrorCode PolderMatGetCSRAlike(Mat A, PetscBool allowed, PolderCSR *csr);
