/* aijdia: the diagonals of an AIJ matrix, or the upper half of them when it is symmetric. */
#include "aijderived.h"
#include "dia.h"
#include "../kernels/kernels.h"
#include <petsc/private/matimpl.h>

typedef struct {
  PolderDia     dia;
  PetscInt     *off, *toff; /* toff, tval: the transposed matrix in the same form */
  PetscScalar **val, **tval;
  PetscScalar  *mem;
  PetscInt      ld, nstored, first; /* diagonals first .. nd are stored, ld scalars apart */
} Mat_DIA;

static PetscErrorCode DIADestroy(void **data)
{
  Mat_DIA *D = (Mat_DIA *)*data;

  PetscFunctionBegin;
  PetscCall(PetscFree4(D->off, D->toff, D->val, D->tval));
  PetscCall(PetscFree(D->mem));
  PetscCall(PetscFree(*data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Offsets of the diagonals that have entries, ascending; stops as soon as there are more than max and returns nd > max */
static PetscErrorCode DIACount_Private(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt max, PetscInt *nd, PetscInt *off[])
{
  PetscBT  seen;
  PetscInt count = 0;

  PetscFunctionBegin;
  *off = NULL;
  PetscCall(PetscBTCreate(m + n, &seen));
  for (PetscInt i = 0; i < m && count <= max; ++i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (!PetscBTLookupSet(seen, aj[k] - i + m)) ++count;
    }
  }
  *nd = count;
  if (count <= max) {
    PetscCall(PetscMalloc1(count, off));
    for (PetscInt o = 0, d = 0; d < count; ++o) {
      if (PetscBTLookup(seen, o)) (*off)[d++] = o - m;
    }
  }
  PetscCall(PetscBTDestroy(&seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for the diagonals first .. nd, and the pointers; the lower ones lead into the upper ones when first > 0 */
static PetscErrorCode DIAAllocate_Private(Mat_DIA *D, PetscInt first)
{
  PolderDia   *dia = &D->dia;
  PetscScalar *base;

  PetscFunctionBegin;
  PetscCall(PetscFree(D->mem));
  D->first   = first;
  D->nstored = dia->nd - first;
  dia->half  = (PetscBool)(first > 0);
  D->ld      = PolderStride(dia->m);
  PetscCall(PetscMalloc1((size_t)D->ld * D->nstored + 64 / sizeof(PetscScalar), &D->mem));
  base = (PetscScalar *)(((size_t)D->mem + 63) / 64 * 64);
  for (PetscInt d = first; d < dia->nd; ++d) D->val[d] = base + (size_t)D->ld * (d - first);
  for (PetscInt d = 0; d < first; ++d) D->val[d] = D->val[dia->nd - 1 - d] + dia->off[d];
  for (PetscInt d = 0; d < dia->nd; ++d) {
    D->toff[d] = -dia->off[dia->nd - 1 - d];
    D->tval[d] = D->val[dia->nd - 1 - d] + D->toff[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is low the mirror image of up, an entry of a row above? Exactly, or, when tol > 0, up to tol times the larger of low and that row's diagonal entry */
static inline PetscBool DIAMirrors_Private(PetscScalar low, PetscScalar up, PetscScalar diag, PetscReal tol)
{
  if (low == up) return PETSC_TRUE;
  return (PetscBool)(PetscAbsScalar(low - up) <= tol * PetscMax(PetscAbsScalar(low), PetscAbsScalar(diag)));
}

/*
  Copies the values of the stored diagonals; with half of them stored, compares the others. *ok is PETSC_FALSE when an entry lies on no diagonal or
  the matrix is not symmetric.
*/
static PetscErrorCode DIAFill_Private(Mat_DIA *D, const PolderCSR *csr, PetscReal tol, PetscBool *ok)
{
  const PolderDia          *dia = &D->dia;
  const PetscInt            nd = dia->nd, first = D->first;
  const PetscInt *const     off = D->off;
  PetscScalar *const *const val = D->val;

  PetscFunctionBegin;
  *ok = PETSC_FALSE;
  for (PetscInt i = 0; i < dia->m; ++i) {
    const PetscInt end = csr->ai[i + 1];
    PetscInt       k   = csr->ai[i];

    for (PetscInt d = 0; d < nd; ++d) {
      const PetscScalar v = k < end && csr->aj[k] == i + off[d] ? csr->aa[k++] : 0.0;

      if (d >= first) val[d][i] = v;
      else if (i + off[d] >= 0 && !DIAMirrors_Private(v, val[d][i], val[first][i + off[d]], tol)) PetscFunctionReturn(PETSC_SUCCESS); /* the row above has set val[d][i] */
    }
    if (k < end) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *ok = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The user's word that the matrix is symmetric allows for differences by rounding */
static PetscErrorCode DIATolerance_Private(Mat A, PolderAIJ aij, PetscReal *tol)
{
  PetscBool set, symmetric;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
  *tol = (set && symmetric) || aij->symmetric ? 1e4 * PETSC_MACHINE_EPSILON : 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can the lower diagonals be read from the upper ones, as far as the offsets tell? */
static PetscBool DIAOffsetsSymmetric_Private(const PolderDia *dia)
{
  if (dia->m != dia->n || dia->main < 0 || 2 * dia->main + 1 != dia->nd) return PETSC_FALSE;
  for (PetscInt d = 0; d < dia->main; ++d) {
    if (dia->off[d] != -dia->off[dia->nd - 1 - d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static PetscErrorCode DIABuild(Mat A, PolderAIJ aij, const PolderCSR *csr, void **data, size_t len, char why[])
{
  Mat_DIA   *D;
  PolderDia *dia;
  PetscInt   m, n, nd = 0, *off = NULL;
  PetscReal  most, tol = 0.0;
  PetscBool  ok = PETSC_FALSE;

  PetscFunctionBegin;
  *data = NULL;
  PetscCall(MatGetLocalSize(A, &m, &n));
  most = m ? PetscMin(aij->opts.max_fill * csr->ai[m] / m, (PetscReal)m + n) : 0.0;
  PetscCall(DIACount_Private(m, n, csr->ai, csr->aj, (PetscInt)most, &nd, &off));
  if (nd > (PetscInt)most) {
    PetscCall(PetscSNPrintf(why, len, "more than %" PetscInt_FMT " diagonals, which would take more than -mat_aijdia_max_fill %g times the nonzeros", nd - 1, (double)aij->opts.max_fill));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&D));
  PetscCall(PetscMalloc4(nd, &D->off, nd, &D->toff, nd, &D->val, nd, &D->tval));
  PetscCall(PetscArraycpy(D->off, off, nd));
  PetscCall(PetscFree(off));
  dia      = &D->dia;
  dia->m   = m;
  dia->n   = n;
  dia->nd  = nd;
  dia->off = D->off;
  dia->val = (const PetscScalar *const *)D->val;
  PetscCall(PetscFindInt(0, nd, D->off, &dia->main));
  dia->main = PetscMax(dia->main, -1);
  if (aij->opts.symmetric && nd > 1 && DIAOffsetsSymmetric_Private(dia)) {
    PetscCall(DIAAllocate_Private(D, dia->main));
    PetscCall(DIATolerance_Private(A, aij, &tol));
    PetscCall(DIAFill_Private(D, csr, tol, &ok));
  }
  if (!ok) {
    PetscCall(DIAAllocate_Private(D, 0));
    PetscCall(DIAFill_Private(D, csr, 0.0, &ok));
    PetscCheck(ok, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The columns of a row do not ascend: sort them in the arrays that the matrix is made from");
  }
  *data = D;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIARefresh(Mat A, PolderAIJ aij, const PolderCSR *csr, void *data, PetscBool *done)
{
  PetscReal tol = 0.0;

  PetscFunctionBegin;
  PetscCall(DIATolerance_Private(A, aij, &tol));
  PetscCall(DIAFill_Private((Mat_DIA *)data, csr, tol, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void DIAMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  const PolderDia *dia = &((const Mat_DIA *)data)->dia;

  PolderDiaMult_Host(dia->m, dia->n, dia->nd, dia->off, dia->val, alpha, x, y, z);
}

static void DIAMultTranspose(const void *data, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  const Mat_DIA *D = (const Mat_DIA *)data;

  PolderDiaMult_Host(D->dia.n, D->dia.m, D->dia.nd, D->toff, (const PetscScalar *const *)D->tval, 1.0, x, y, z);
}

static PetscErrorCode DIADescribe(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored)
{
  const Mat_DIA *D = (const Mat_DIA *)data;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, len, "%" PetscInt_FMT " diagonals, %" PetscInt_FMT " stored%s", D->dia.nd, D->nstored, D->dia.half ? " (symmetric half)" : ""));
  *stored = (PetscLogDouble)D->dia.m * D->nstored;
  *bytes  = *stored * sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderFormat PolderFormatDIA = {
  .label         = "diagonals",
  .root          = MATAIJDIA,
  .seq           = MATSEQAIJDIA,
  .mpi           = MATMPIAIJDIA,
  .build         = DIABuild,
  .refresh       = DIARefresh,
  .mult          = DIAMult,
  .multtranspose = DIAMultTranspose,
  .destroy       = DIADestroy,
  .describe      = DIADescribe,
};

PetscErrorCode PolderMatGetDia(Mat A, const PolderDia **dia)
{
  PolderAIJ aij;

  PetscFunctionBegin;
  *dia = NULL;
  PetscCall(PolderAIJGet(A, &aij));
  if (aij && aij->used == &PolderFormatDIA) *dia = &((Mat_DIA *)aij->data)->dia;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATAIJDIA - `MATAIJDIA` = "aijdia" - An AIJ matrix that multiplies by diagonals

   This type is `MATSEQAIJDIA` on one process and `MATMPIAIJDIA` on several, where the diagonal block of each process is stored by diagonals
   and the couplings to other processes as in `MATMPIAIJ`.

   Options Database Keys:
+  -mat_type aijdia               - sets the type in `MatSetFromOptions()`
.  -mat_aijdia_max_fill <3>       - use diagonals while they take at most this many times the nonzeros; otherwise products run as in `MATAIJICRS`
-  -mat_aijdia_symmetric <true>   - store half of the matrix when it is symmetric

   Level: intermediate

   Notes:
   To everything but products the matrix is an AIJ matrix: assembly, factorisations, matrix products, submatrices, algebraic multigrid and loading are PETSc's.
   The diagonals are built at the first product and follow changes of the values or of the pattern. A value of a diagonal takes no index, so that
   the matrix of a stencil moves about two thirds of the bytes of AIJ in a product, and about 40 per cent when half of it is stored.

   Half is stored when the matrix is symmetric to the last bit, or up to rounding when `MatSetOption()` with `MAT_SYMMETRIC` says that it is symmetric.

   `-mat_view ::ascii_info` prints the format in use and, when it is not the diagonals, why.

.seealso: `MATAIJICRS`, `MATAIJHEC`, `MatConvert()`, `MatSetType()`
M*/
PetscErrorCode MatCreate_SeqAIJDIA(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJCreateSeq(A, &PolderFormatDIA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_MPIAIJDIA(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJCreateMPI(A, &PolderFormatDIA));
  PetscFunctionReturn(PETSC_SUCCESS);
}
