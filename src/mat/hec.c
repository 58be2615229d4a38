/* aijhec: a regular ELL part, and the overflow of long rows as compressed rows (Yang, Liu and Chen). */
#include "slices.h"
#include "kernels/deflation.h"
#include "kernels/slices.h"

#define POLDER_ELL_LEAST 4096 /* in larger matrices, a column of the ELL part must be filled by at least this many rows */

typedef struct {
  PetscInt         m, ld, width;
  PetscInt        *col;
  PetscScalar     *val;
  PolderSparseRows over; /* the rows that are longer than width, with their entries beyond it */
} Mat_HEC;

static PetscErrorCode HECDestroy(void **data)
{
  Mat_HEC *H = (Mat_HEC *)*data;

  PetscFunctionBegin;
  PetscCall(PetscFree2(H->col, H->val));
  PetscCall(PetscFree4(H->over.row, H->over.ptr, H->over.col, H->over.val));
  PetscCall(PetscFree(*data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A column belongs to the ELL part while at least a third of the rows fill it (Bell and Garland: ELL is about three times as fast as compressed rows) */
static PetscErrorCode HECWidth_Private(PetscInt m, const PetscInt ai[], PetscInt *width)
{
  PetscInt longest = 0, *count, rows = m;
  PetscInt least = PetscMax((m + 2) / 3, m >= POLDER_ELL_LEAST ? POLDER_ELL_LEAST : 1);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; ++i) longest = PetscMax(longest, ai[i + 1] - ai[i]);
  PetscCall(PetscCalloc1(longest + 1, &count));
  for (PetscInt i = 0; i < m; ++i) ++count[ai[i + 1] - ai[i]];
  for (*width = 0; *width < longest; ++*width) {
    rows -= count[*width]; /* rows with more than width entries */
    if (rows < least) break;
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HECRefresh(Mat A, PolderAIJ aij, const PolderCSR *csr, void *data, PetscBool *done)
{
  Mat_HEC                *H    = (Mat_HEC *)data;
  const PolderSparseRows *over = &H->over;

  PetscFunctionBegin;
  (void)A;
  (void)aij;
  for (PetscInt i = 0; i < H->m; ++i) {
    const PetscInt     len = PetscMin(H->width, csr->ai[i + 1] - csr->ai[i]);
    const PetscScalar *v   = csr->aa + csr->ai[i];

    for (PetscInt k = 0; k < len; ++k) H->val[(size_t)H->ld * k + i] = v[k];
  }
  for (PetscInt o = 0; o < over->n; ++o)
    PetscCall(PetscArraycpy(over->val + over->ptr[o], csr->aa + csr->ai[over->row[o]] + H->width, over->ptr[o + 1] - over->ptr[o]));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HECBuild(Mat A, PolderAIJ aij, const PolderCSR *csr, void **data, size_t len, char why[])
{
  Mat_HEC          *H;
  PolderSparseRows *over;
  PetscInt          o = 0;
  PetscBool         done;
  const PetscInt   *ai = csr->ai, *aj = csr->aj;

  PetscFunctionBegin;
  (void)len;
  (void)why;
  PetscCall(PetscNew(&H));
  over = &H->over;
  PetscCall(MatGetLocalSize(A, &H->m, NULL));
  PetscCall(HECWidth_Private(H->m, ai, &H->width));
  H->ld = PolderStride(H->m);
  for (PetscInt i = 0; i < H->m; ++i) {
    const PetscInt rest = ai[i + 1] - ai[i] - H->width;

    if (rest <= 0) continue;
    ++over->n;
    over->nz += rest;
  }
  PetscCall(PetscCalloc2((size_t)H->ld * H->width, &H->col, (size_t)H->ld * H->width, &H->val));
  PetscCall(PetscMalloc4(over->n, &over->row, over->n + 1, &over->ptr, over->nz, &over->col, over->nz, &over->val));
  over->ptr[0] = 0;
  for (PetscInt i = 0; i < H->m; ++i) {
    const PetscInt len = ai[i + 1] - ai[i];

    for (PetscInt k = 0; k < H->width; ++k) H->col[(size_t)H->ld * k + i] = len ? aj[ai[i] + (k < len ? k : 0)] : 0;
    if (len <= H->width) continue;
    over->row[o]     = i;
    over->ptr[o + 1] = over->ptr[o] + len - H->width;
    PetscCall(PetscArraycpy(over->col + over->ptr[o], aj + ai[i] + H->width, len - H->width));
    ++o;
  }
  PetscCall(HECRefresh(A, aij, csr, H, &done));
  *data = H;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HECMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  const Mat_HEC *H = (const Mat_HEC *)data;

  PetscFunctionBegin;
  (void)dot;
  PolderEllMult_Host((PolderEll){H->m, H->width, H->ld, H->col, H->val}, alpha, x, y, z);
  PolderRowsMultAdd_Host(&H->over, alpha, x, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HECDescribe(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored)
{
  const Mat_HEC *H = (const Mat_HEC *)data;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, len, "ELL of width %" PetscInt_FMT ", %" PetscInt_FMT " longer rows with %" PetscInt_FMT " entries more", H->width, H->over.n,
                          H->over.nz));
  *stored = (PetscLogDouble)H->ld * H->width + H->over.nz;
  *bytes  = *stored * (sizeof(PetscScalar) + sizeof(PetscInt)) + (2.0 * H->over.n + 1.0) * sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderFormat PolderFormatHEC = {
  .label = "ELL and compressed rows",
  .root  = MATAIJHEC,
  .seq   = MATSEQAIJHEC,
  .mpi   = MATMPIAIJHEC,
  .at    = {{.build = HECBuild, .refresh = HECRefresh, .mult = HECMult, .destroy = HECDestroy, .describe = HECDescribe}, POLDER_SLICES_STEPS}
};

/*MC
   MATAIJHEC - `MATAIJHEC` = "aijhec" - An AIJ matrix that multiplies by a regular ELL part and the overflow of long rows

   This type is `MATSEQAIJHEC` on one process and `MATMPIAIJHEC` on several, where the diagonal block of each process is stored in this format.

   Options Database Key:
. -mat_type aijhec - sets the type in `MatSetFromOptions()`

   Level: intermediate

   Notes: The ELL part stores the k-th entries of all rows side by side, for each k that at least a third of the rows reach (in a matrix of 4096 rows or more,
   at least 4096 rows). The other entries of the longer rows are kept as compressed rows. For all operations but products the matrix is an AIJ matrix.

   References:
+  * - B. Yang, H. Liu and Z. Chen, Development of Krylov and AMG linear solvers for large-scale sparse matrices on GPUs
-  * - N. Bell and M. Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors, 2009

.seealso: `MATAIJDIA`, `MATAIJICRS`, `MatConvert()`, `MatSetType()`
M*/
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJHEC(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJCreateSeq(A, &PolderFormatHEC));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_INTERN PetscErrorCode MatCreate_MPIAIJHEC(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJCreateMPI(A, &PolderFormatHEC));
  PetscFunctionReturn(PETSC_SUCCESS);
}
