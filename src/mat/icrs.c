/* aijicrs: interleaved compressed rows (Liebmann, thesis, Graz 2009; Emans, Liebmann and Basara), the sliced ELLPACK family. */
#include "slices.h"
#include "kernels/slices.h"

#define POLDER_ICRS_FILL 3 /* stored entries over nonzeros, at most */

typedef struct {
  PetscInt     m, nslice;
  PetscInt    *ptr, *col; /* of slices, in units of POLDER_ICRS_ROWS entries */
  PetscScalar *val;
} Mat_ICRS;

static PetscErrorCode ICRSDestroy(void **data)
{
  Mat_ICRS *S = (Mat_ICRS *)*data;

  PetscFunctionBegin;
  PetscCall(PetscFree3(S->ptr, S->col, S->val));
  PetscCall(PetscFree(*data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ICRSBuild(Mat A, PolderAIJ aij, const PolderCSR *csr, void **data, size_t len, char why[])
{
  Mat_ICRS      *S;
  PetscInt       m, nslice, total = 0;
  const PetscInt C = POLDER_ICRS_ROWS, *ai = csr->ai, *aj = csr->aj;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  nslice = (m + C - 1) / C;
  for (PetscInt s = 0; s < nslice; ++s) {
    PetscInt width = 0;

    for (PetscInt i = s * C; i < PetscMin(m, (s + 1) * C); ++i) width = PetscMax(width, ai[i + 1] - ai[i]);
    total += width;
  }
  *data = NULL;
  if (m > C && (PetscReal)total * C > POLDER_ICRS_FILL * (PetscReal)ai[m]) {
    PetscCall(PetscSNPrintf(why, len, "rows of one slice differ in length so much that it would take more than %d times the nonzeros", POLDER_ICRS_FILL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&S));
  PetscCall(PetscMalloc3(nslice + 1, &S->ptr, (size_t)total * C, &S->col, (size_t)total * C, &S->val));
  S->m      = m;
  S->nslice = nslice;
  S->ptr[0] = 0;
  for (PetscInt s = 0; s < nslice; ++s) {
    PetscInt width = 0;

    for (PetscInt i = s * C; i < PetscMin(m, (s + 1) * C); ++i) width = PetscMax(width, ai[i + 1] - ai[i]);
    S->ptr[s + 1] = S->ptr[s] + width;
    for (PetscInt r = 0; r < C; ++r) {
      const PetscInt i = s * C + r, len = i < m ? ai[i + 1] - ai[i] : 0;
      PetscInt      *c = S->col + (size_t)C * S->ptr[s] + r;
      PetscScalar   *v = S->val + (size_t)C * S->ptr[s] + r;

      for (PetscInt k = 0; k < width; ++k) {
        c[k * C] = len ? aj[ai[i] + (k < len ? k : 0)] : 0;
        v[k * C] = k < len ? csr->aa[ai[i] + k] : 0.0;
      }
    }
  }
  (void)aij;
  *data = S;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ICRSRefresh(Mat A, PolderAIJ aij, const PolderCSR *csr, void *data, PetscBool *done)
{
  Mat_ICRS *S = (Mat_ICRS *)data;

  PetscFunctionBegin;
  (void)A;
  (void)aij;
  for (PetscInt i = 0; i < S->m; ++i) {
    PetscScalar *v = S->val + (size_t)POLDER_ICRS_ROWS * S->ptr[i / POLDER_ICRS_ROWS] + i % POLDER_ICRS_ROWS;

    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k, v += POLDER_ICRS_ROWS) *v = csr->aa[k];
  }
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ICRSMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  const Mat_ICRS *S = (const Mat_ICRS *)data;

  PetscFunctionBegin;
  (void)dot;
  PolderIcrsMult_Host(S->m, S->ptr, S->col, S->val, alpha, x, y, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ICRSDescribe(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored)
{
  const Mat_ICRS *S = (const Mat_ICRS *)data;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, len, "%" PetscInt_FMT " slices of %d rows", S->nslice, POLDER_ICRS_ROWS));
  *stored = (PetscLogDouble)POLDER_ICRS_ROWS * S->ptr[S->nslice];
  *bytes  = *stored * (sizeof(PetscScalar) + sizeof(PetscInt)) + (S->nslice + 1.0) * sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderFormat PolderFormatICRS = {
  .label = "interleaved rows",
  .root  = MATAIJICRS,
  .seq   = MATSEQAIJICRS,
  .mpi   = MATMPIAIJICRS,
  .at    = {{.build = ICRSBuild, .refresh = ICRSRefresh, .mult = ICRSMult, .destroy = ICRSDestroy, .describe = ICRSDescribe}, POLDER_SLICES_STEPS}
};

/*MC
   MATAIJICRS - `MATAIJICRS` = "aijicrs" - An AIJ matrix that multiplies by interleaved rows

   This type is `MATSEQAIJICRS` on one process and `MATMPIAIJICRS` on several, where the diagonal block of each process is stored in interleaved rows.

   Options Database Key:
. -mat_type aijicrs - sets the type in `MatSetFromOptions()`

   Level: intermediate

   Note:
   Rows are taken eight at a time and stored with their k-th entries side by side, as wide as the longest of the eight. For all operations but products the
   matrix is an AIJ matrix.

   References:
.  * - Manfred Liebmann, thesis, Graz, 2009

.seealso: `MATAIJDIA`, `MATAIJHEC`, `MatConvert()`, `MatSetType()`
M*/
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJICRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJCreateSeq(A, &PolderFormatICRS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_INTERN PetscErrorCode MatCreate_MPIAIJICRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJCreateMPI(A, &PolderFormatICRS));
  PetscFunctionReturn(PETSC_SUCCESS);
}
