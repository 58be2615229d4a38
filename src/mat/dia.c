/* aijdia: stores the diagonals of an AIJ matrix, or their upper half when the matrix is symmetric. */
#include "aijderived.h"
#include "dia.h"
#include "core/place.h"
#include "kernels/csr.h"
#include "kernels/dia.h"
#include <petsc/private/matimpl.h>

typedef struct _DIASteps DIASteps;

typedef struct {
  const DIASteps   *steps;     /* of the place where the values are */
  PolderDia         dia, tdia; /* the matrix and its transpose, products with which read no more than sizes, offsets and values */
  PetscInt         *off, *toff;
  PetscScalar     **val, **tval;
  PetscScalar      *mem;
  PetscInt          ld, nstored, first; /* diagonals first .. nd - 1 are stored, at a distance of ld scalars */
  int              *bad;                /* device */
  void             *work;               /* device: scratch of the product with a dot */
  unsigned char    *code;               /* [m] the classes of equal rows, to which dia points if they serve; NULL: nobody wants them */
  PolderDiaClasses *classes;
  PetscInt          products; /* since the values changed, up to the one that finds classes */
} Mat_DIA;

struct _DIASteps {
  const PolderPlace *place;
  /* Offsets of the diagonals that have entries, ascending; stops when there are more than max and returns nd > max */
  PetscErrorCode (*count)(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt max, PetscInt *nd, PetscInt *off[]);
  /* Allocates what products and checks need besides the values */
  PetscErrorCode (*scratch)(Mat_DIA *);
  /* Copies the values of the stored diagonals. *ok is PETSC_FALSE when an entry lies on no diagonal or, with half of them stored, when the matrix is not
     symmetric up to tol. trusted: the matrix is known to be symmetric, so the check may be skipped */
  PetscErrorCode (*fill)(Mat_DIA *, const PolderCSR *, PetscReal tol, PetscBool trusted, PetscBool *ok);
};

static PetscErrorCode DIADestroy(void **data)
{
  Mat_DIA *D = (Mat_DIA *)*data;

  PetscFunctionBegin;
  PetscCall(PetscFree4(D->off, D->toff, D->val, D->tval));
  PetscCall((*D->steps->place->free)(&D->mem));
  PetscCall(PolderDeviceFree(&D->bad));
  PetscCall(PolderDeviceFree(&D->work));
  PetscCall((*D->steps->place->free)(&D->code));
  PetscCall((*D->steps->place->free)(&D->classes));
  PetscCall(PetscFree(*data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIACount_Private(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt max, PetscInt *nd, PetscInt *off[])
{
  PetscBT  seen;
  PetscInt count = 0;

  PetscFunctionBegin;
  *off = NULL;
  PetscCall(PetscBTCreate(m + n, &seen));
  for (PetscInt i = 0; i < m && count <= max; ++i) {
    const PetscInt length = ai[i + 1] - ai[i];
    PetscInt       other  = !i || length != ai[i] - ai[i - 1]; // 0: on the diagonals of the row before

    for (PetscInt k = ai[i]; k < ai[i + 1] && i && !other; ++k) other = aj[k] - aj[k - length] - 1;
    for (PetscInt k = ai[i]; k < ai[i + 1] && other; ++k) {
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

/* Allocates the diagonals first .. nd - 1 and sets the pointers; with first > 0 the lower diagonals point into the upper ones */
static PetscErrorCode DIAAllocate_Private(Mat_DIA *D, PetscInt first)
{
  PolderDia   *dia = &D->dia;
  PetscScalar *base;

  PetscFunctionBegin;
  PetscCall((*D->steps->place->free)(&D->mem));
  D->first   = first;
  D->nstored = dia->nd - first;
  dia->half  = (PetscBool)(first > 0);
  D->ld      = PolderStride(dia->m);
  PetscCall(PolderPlaceMalloc(D->steps->place, (size_t)D->ld * D->nstored + 64 / sizeof(PetscScalar), &D->mem));
  base = (PetscScalar *)(((size_t)D->mem + 63) / 64 * 64);
  for (PetscInt d = first; d < dia->nd; ++d) D->val[d] = base + (size_t)D->ld * (d - first);
  for (PetscInt d = 0; d < first; ++d) D->val[d] = D->val[dia->nd - 1 - d] + dia->off[d];
  for (PetscInt d = 0; d < dia->nd; ++d) {
    D->toff[d] = -dia->off[dia->nd - 1 - d];
    D->tval[d] = D->val[dia->nd - 1 - d] + D->toff[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIAScratch_Private(Mat_DIA *D)
{
  PetscFunctionBegin;
  (void)D; // none
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIAFill_Private(Mat_DIA *D, const PolderCSR *csr, PetscReal tol, PetscBool trusted, PetscBool *ok)
{
  PetscFunctionBegin;
  (void)trusted; // the check takes no extra time on the host
  *ok = D->dia.exact = PolderDiaFill_Host(&D->dia, D->val, PolderOwnRows(csr), 0);
  if (!*ok && tol > 0) *ok = PolderDiaFill_Host(&D->dia, D->val, PolderOwnRows(csr), tol);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When the user says that the matrix is symmetric, differences by rounding are allowed */
static PetscErrorCode DIATolerance_Private(Mat A, PolderAIJ aij, PetscReal *tol)
{
  PetscBool set, symmetric;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
  *tol = (aij->block ? aij->symmetric : set && symmetric) ? POLDER_DIA_MIRROR : 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the offsets allow the lower diagonals to be read from the upper ones? */
static PetscBool DIAOffsetsSymmetric_Private(const PolderDia *dia)
{
  if (dia->m != dia->n || dia->main < 0 || 2 * dia->main + 1 != dia->nd) return PETSC_FALSE;
  for (PetscInt d = 0; d < dia->main; ++d) {
    if (dia->off[d] != -dia->off[dia->nd - 1 - d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Makes the diagonals with these offsets, and their pointers; allocates no values yet */
static PetscErrorCode DIACreate_Private(const DIASteps *steps, PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], Mat_DIA **dia)
{
  Mat_DIA *D;

  PetscFunctionBegin;
  PetscCall(PetscNew(&D));
  PetscCall(PetscMalloc4(nd, &D->off, nd, &D->toff, nd, &D->val, nd, &D->tval));
  PetscCall(PetscArraycpy(D->off, off, nd));
  D->steps   = steps;
  D->dia.m   = m;
  D->dia.n   = n;
  D->dia.nd  = nd;
  D->dia.off = D->off;
  D->dia.val = (const PetscScalar *const *)D->val;
  D->tdia    = (PolderDia){.m = n, .n = m, .nd = nd, .off = D->toff, .val = (const PetscScalar *const *)D->tval};
  PetscCall(PetscFindInt(0, nd, D->off, &D->dia.main));
  D->dia.main = PetscMax(D->dia.main, -1);
  *dia        = D;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the offsets as DIACount_Private() does, from rows on the device. Only a list of at most max numbers crosses the bus */
PetscErrorCode PolderDiaCountDevice(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt max, PetscInt *nd, PetscInt *off[])
{
  PolderStream stream;
  char        *seen;
  PetscInt    *list;

  PetscFunctionBegin;
  *off = NULL;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (max + 1) + m + n, &list));
  seen = (char *)(list + max + 1);
  PetscCall(PolderDeviceZero(seen, m + n));
  PetscCall(PolderDeviceZero(list, sizeof(PetscInt)));
  PolderLaunch(PolderDiaOffsets_CUDA(m, n, ai, aj, (unsigned char *)seen, stream));
  PolderLaunch(PolderMarkedList_CUDA(m + n, seen, max, list + 1, list, stream));
  PetscCall(PolderDeviceToHost(nd, list, sizeof(PetscInt)));
  if (*nd <= max) {
    PetscCall(PetscMalloc1(*nd, off));
    PetscCall(PolderDeviceToHost(*off, list + 1, sizeof(PetscInt) * *nd));
    PetscCall(PetscSortInt(*nd, *off));
    for (PetscInt d = 0; d < *nd; ++d) (*off)[d] -= m;
  }
  PetscCall(PolderDeviceFree(&list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIAScratchDevice_Private(Mat_DIA *D)
{
  const size_t bytes = PolderWorkSize(PolderDiaMultWork_CUDA(D->dia.m));

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*D->bad), &D->bad));
  PetscCall(PolderDeviceMalloc(bytes, &D->work));
  PetscCall(PolderDeviceZero(D->work, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does not check the other half of a trusted matrix, which would take half of the time */
static PetscErrorCode DIAFillDevice_Private(Mat_DIA *D, const PolderCSR *csr, PetscReal tol, PetscBool trusted, PetscBool *ok)
{
  PolderStream stream;
  int          bad;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (!trusted) PetscCall(PolderDeviceZero(D->bad, sizeof(bad)));
  PolderLaunch(PolderDiaFill_CUDA(&D->dia, D->val, PolderOwnRows(csr), trusted ? PETSC_INFINITY : tol, D->bad, stream));
  *ok = D->dia.exact = PETSC_TRUE;
  if (trusted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceToHost(&bad, D->bad, sizeof(bad)));
  *ok          = bad & POLDER_DIA_WRONG ? PETSC_FALSE : PETSC_TRUE;
  D->dia.exact = bad ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDiaClassesMalloc(const PolderPlace *place, const PolderDiaStencil *S, unsigned char **code, PolderDiaClasses **classes)
{
  const PetscBool serve = place->device ? (PetscBool)PolderKernelCan(PolderDiaClassesServe_CUDA(S)) : PolderDiaClassesServe_Host(S);

  PetscFunctionBegin;
  if (*code || !serve) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceMalloc(place, S->m, code));
  PetscCall(PolderPlaceMalloc(place, 1, classes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDiaClassify(const PolderPlace *place, const PolderDiaStencil *S, unsigned char code[], PolderDiaClasses *classes, PetscBool *serve)
{
  PetscInt rest;

  PetscFunctionBegin;
  PolderRun(place, PolderDiaClassify, S, code, classes);
  PetscCall(PolderPlaceTake(place, 1, &classes->rest, &rest));
  *serve = (PetscBool)(rest <= PolderDiaMostClassless(S->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencil whose rows may have classes; of no points, where there is none */
static PolderDiaStencil DIAStencil(const PolderDia *dia)
{
  if (dia->m != dia->n || dia->main < 0 || dia->nd > POLDER_DIA_POINTS) return (PolderDiaStencil){0};
  return PolderDiaStencilOf(dia->m, dia->nd, dia->main, dia->off, POLDER_DIA_DOUBLE, (const void *const *)dia->val, NULL);
}

/* There are new values, whose classes are not known */
static PetscErrorCode DIARenew_Private(Mat_DIA *D, PetscBool wanted)
{
  const PolderDiaStencil S = DIAStencil(&D->dia);

  PetscFunctionBegin;
  D->products = 0;
  D->dia.code = NULL;
  if (wanted && S.nd) PetscCall(PolderDiaClassesMalloc(D->steps->place, &S, &D->code, &D->classes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a product, or a number of them: the second one with the same values finds classes of equal rows, see diaclass.h. Some solvers make no more
   than one, for a true residual */
static PetscErrorCode DIAClassify_Private(Mat_DIA *D, PetscInt products)
{
  PolderDiaStencil S;
  PetscBool        serve;

  PetscFunctionBegin;
  if (!D->code || D->products > 1) PetscFunctionReturn(PETSC_SUCCESS);
  D->products += products;
  if (D->products < 2) PetscFunctionReturn(PETSC_SUCCESS);
  S = DIAStencil(&D->dia);
  PetscCall(PolderDiaClassify(D->steps->place, &S, D->code, D->classes, &serve));
  D->dia.code    = serve ? D->code : NULL;
  D->dia.classes = D->classes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host, on the device */
static const DIASteps DIAStepsAt[] = {
  {.place = &PolderOnHost,   .count = DIACount_Private,     .scratch = DIAScratch_Private,       .fill = DIAFill_Private      },
  {.place = &PolderOnDevice, .count = PolderDiaCountDevice, .scratch = DIAScratchDevice_Private, .fill = DIAFillDevice_Private}
};

static PetscErrorCode DIABuild(Mat A, PolderAIJ aij, const PolderCSR *csr, void **data, size_t len, char why[])
{
  const DIASteps *steps = &DIAStepsAt[csr->device];
  Mat_DIA        *D     = NULL;
  PetscInt        m, n, most, nd = 0, *off = NULL;
  PetscReal       tol = 0.0;
  PetscBool       ok  = PETSC_FALSE;

  PetscFunctionBegin;
  *data = NULL;
  PetscCall(MatGetLocalSize(A, &m, &n));
  most = m ? (PetscInt)PetscMin(aij->opts.max_fill * csr->nz / m, (PetscReal)m + n) : 0;
  PetscCall((*steps->count)(m, n, csr->ai, csr->aj, most, &nd, &off));
  if (nd > most) {
    PetscCall(PetscSNPrintf(why, len, "more than %" PetscInt_FMT " diagonals, which would take more than -mat_aijdia_max_fill %g times the nonzeros", nd - 1,
                            (double)aij->opts.max_fill));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DIACreate_Private(steps, m, n, nd, off, &D));
  PetscCall(PetscFree(off));
  *data = D;
  PetscCall((*steps->scratch)(D));
  if (aij->opts.symmetric && nd > 1 && DIAOffsetsSymmetric_Private(&D->dia)) {
    PetscCall(DIAAllocate_Private(D, D->dia.main));
    PetscCall(DIATolerance_Private(A, aij, &tol));
    PetscCall((*steps->fill)(D, csr, tol, PETSC_FALSE, &ok));
  }
  if (!ok) {
    PetscCall(DIAAllocate_Private(D, 0));
    PetscCall((*steps->fill)(D, csr, 0.0, PETSC_FALSE, &ok));
    PetscCheck(ok, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The columns of a row do not ascend: sort them in the arrays that the matrix is made from");
  }
  PetscCall(DIARenew_Private(D, aij->opts.classes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIARefresh(Mat A, PolderAIJ aij, const PolderCSR *csr, void *data, PetscBool *done)
{
  Mat_DIA  *D   = (Mat_DIA *)data;
  PetscReal tol = 0.0;

  PetscFunctionBegin;
  PetscCall(DIATolerance_Private(A, aij, &tol));
  PetscCall((*D->steps->fill)(D, csr, tol, (PetscBool)(D->first && (aij->block ? aij->eternal : PolderMatSymmetricEternal(A))), done));
  if (*done) PetscCall(DIARenew_Private(D, aij->opts.classes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIAMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  PetscFunctionBegin;
  (void)dot;
  PetscCall(DIAClassify_Private((Mat_DIA *)data, 1));
  PolderDiaMult_Host(&((const Mat_DIA *)data)->dia, alpha, x, y, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIAMultTranspose(const void *data, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  PetscFunctionBegin;
  PolderDiaMult_Host(&((const Mat_DIA *)data)->tdia, 1.0, x, y, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIAMultDevice(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  const Mat_DIA *D = (const Mat_DIA *)data;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(DIAClassify_Private((Mat_DIA *)data, 1));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderDiaMult_CUDA(&D->dia, alpha, x, y, z, dot, D->work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIAMultTransposeDevice(const void *data, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  const Mat_DIA *D = (const Mat_DIA *)data;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderDiaMult_CUDA(&D->tdia, 1.0, x, y, z, NULL, NULL, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DIADescribe(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored)
{
  const Mat_DIA *D = (const Mat_DIA *)data;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, len, "%" PetscInt_FMT " diagonals, %" PetscInt_FMT " stored%s%s", D->dia.nd, D->nstored, D->dia.half ? " (symmetric half)" : "",
                          D->dia.code ? ", read by classes of equal rows" : ""));
  *stored = (PetscLogDouble)D->dia.m * D->nstored;
  *bytes  = *stored * sizeof(PetscScalar) + (D->dia.code ? (PetscLogDouble)D->dia.m : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define DIA_STEPS(product, transposed) \
  { \
    .build = DIABuild, .refresh = DIARefresh, .mult = product, .multtranspose = transposed, .destroy = DIADestroy, .describe = DIADescribe \
  }

const PolderFormat PolderFormatDIA = {
  .label = "diagonals",
  .root  = MATAIJDIA,
  .seq   = MATSEQAIJDIA,
  .mpi   = MATMPIAIJDIA,
  .at    = {DIA_STEPS(DIAMult, DIAMultTranspose), DIA_STEPS(DIAMultDevice, DIAMultTransposeDevice)},
};

/* A number of products with these diagonals is to follow */
static PetscErrorCode DIAGet_Private(Mat A, const PolderAIJSteps *steps, PetscInt products, const PolderDia **dia)
{
  PolderAIJArrays *arrays;

  PetscFunctionBegin;
  *dia = NULL;
  PetscCall(PolderAIJGet(A, steps, &arrays));
  if (!arrays || arrays->format != &PolderFormatDIA) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DIAClassify_Private((Mat_DIA *)arrays->data, products));
  *dia = &((Mat_DIA *)arrays->data)->dia;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetDia(Mat A, const PolderDia **dia)
{
  PetscFunctionBegin;
  PetscCall(DIAGet_Private(A, &PolderAIJStepsOnHost, 0, dia));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetDeviceDia(Mat A, const PolderDia **dia)
{
  PetscFunctionBegin;
  PetscCall(DIAGet_Private(A, &PolderAIJStepsOnDevice, 0, dia));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetDeviceDiaClassed(Mat A, const PolderDia **dia)
{
  PetscFunctionBegin;
  PetscCall(DIAGet_Private(A, &PolderAIJStepsOnDevice, 2, dia));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatMultDotHost(Mat A, Vec x, Vec y, const PolderLabelRuns *runs, PetscScalar sum[], PetscScalar *dot, PetscBool *done)
{
  PolderAIJArrays   *arrays = NULL;
  const PetscScalar *xx;
  PetscScalar       *yy;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJDIA, done));
  if (A->rmap->n != A->cmap->n || A->rmap->n < POLDER_DIA_LEAST) *done = PETSC_FALSE;
  if (*done) PetscCall(PolderAIJGet(A, &PolderAIJStepsOnHost, &arrays));
  *done = (PetscBool)(arrays && arrays->format == &PolderFormatDIA);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(MAT_Mult, A, x, y, 0));
  PetscCall(VecGetArrayRead(x, &xx));
  PetscCall(VecGetArrayWrite(y, &yy));
  PetscCall(DIAClassify_Private((Mat_DIA *)arrays->data, 1));
  *dot = PolderDiaMultDot_Host(&((Mat_DIA *)arrays->data)->dia, xx, yy, runs, sum);
  PetscCall(VecRestoreArrayWrite(y, &yy));
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(PetscLogFlops(2.0 * arrays->nz + A->rmap->n));
  PetscCall(PetscLogEventEnd(MAT_Mult, A, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATAIJDIA - `MATAIJDIA` = "aijdia" - An AIJ matrix that multiplies by diagonals

   This type is `MATSEQAIJDIA` on one process and `MATMPIAIJDIA` on several, where the diagonal block of each process is stored by diagonals
   and the couplings to other processes as in `MATMPIAIJ`.

   Options Database Keys:
+  -mat_type aijdia               - sets the type in `MatSetFromOptions()`
.  -mat_aijdia_max_fill <3>       - use diagonals while they take at most this many times the nonzeros; otherwise products run as in `MATAIJICRS`
.  -mat_aijdia_symmetric <true>   - store half of the matrix when it is symmetric
-  -mat_aijdia_classes <true>     - read one byte in place of the entries of a row that equals many others

   Level: intermediate

   Notes:
   For all operations but products the matrix is an AIJ matrix: assembly, factorisations, matrix products, submatrices, algebraic multigrid and loading are
   PETSc's.
   The diagonals are built at the first product and follow changes of the values or of the pattern. A value of a diagonal needs no index, so
   the matrix of a stencil moves about two thirds of the bytes of AIJ in a product, and about 40 per cent when half of it is stored.

   Half is stored when the matrix is symmetric to the last bit, or up to rounding when `MatSetOption()` with `MAT_SYMMETRIC` says that it is symmetric.
   If `MAT_SYMMETRY_ETERNAL` or `MAT_SPD_ETERNAL` is also set, new values of the lower half are not checked when they are on the device.

   Where coefficients are constant but for jumps, the matrix of a large 5- or 7-point stencil has few different rows. One byte a row then
   names a class of equal rows. From the second product with the same values on, products read the entries from a table of up to 255 classes, with the same
   results to the last bit. Rows in no class are read from the diagonals; if these are more than a sixteenth of all, there are no classes.

   `-mat_view ::ascii_info` prints the format in use and, when it is not diagonals, the reason.

.seealso: `MATAIJICRS`, `MATAIJHEC`, `MatConvert()`, `MatSetType()`
M*/
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJDIA(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJCreateSeq(A, &PolderFormatDIA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_INTERN PetscErrorCode MatCreate_MPIAIJDIA(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJCreateMPI(A, &PolderFormatDIA));
  PetscFunctionReturn(PETSC_SUCCESS);
}
