/* Truncated Neumann series: set-up and apply on the host, all sweeps over a triangle in one pass over its memory. */
#include "tnsimpl.h"
#include "kernels/dia.h"
#include "kernels/tns.h"
#include "core/refusal.h"
#include <float.h>
#include <petsc/private/pcimpl.h>

/* Why a row cannot be used, beside what PolderRowKind says */
enum {
  TNS_ROW_UNSORTED = POLDER_ROW_NOTFINITE + 1,
  TNS_ROW_RANGE
};

/* Refuses the matrix on every process for the first bad row. Each process passes its first bad row, or the global number of rows M */
static PetscErrorCode PCTNSCheckRow_Private(PC pc, PetscInt M, PetscInt first, PetscInt kind)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(PolderFirstRow(comm, M, &first, &kind));
  if (first == M) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(kind != TNS_ROW_UNSORTED, comm, PETSC_ERR_ARG_WRONG,
             "PC of type tns needs the columns of each row in ascending order and row %" PetscInt_FMT " is not: sort the arrays before you hand them to PETSc",
             first);
  if (kind == TNS_ROW_RANGE)
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE,
                   "PC of type tns cannot store row %" PetscInt_FMT
                   " in single precision, which has numbers of 1e-38 to 3e38: use -pc_tns_precision double, or scale the system",
                   first);
  else PetscCall(PolderPCRefuseRow(pc, PCTNS, first, (PolderRowKind)kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCTNSFreeHost_Private(PC_TNS *tns)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(tns->at[TNS_HOST].diag));
  PetscCall(PetscFree(tns->at[TNS_HOST].dinv));
  PetscCall(PetscFree(tns->at[TNS_HOST].values));
  PetscCall(PetscFree(tns->at[TNS_HOST].val));
  for (int t = 0; t < 2; ++t) {
    PetscCall(PetscFree(tns->tri[t].row));
    PetscCall(PetscFree(tns->tri[t].count));
    tns->tri[t].nrow = 0;
  }
  PetscCall(PetscFree(tns->work));
  PetscCall(PetscFree(tns->y));
  PetscCall(PetscFree(tns->ghost));
  PetscCall(PetscMemzero(&tns->at[TNS_HOST], sizeof(tns->at[TNS_HOST])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* depth[i]: 1 when row i has an off-process entry in the triangle, else one more than the smallest depth of the rows that it reads; 0: larger than degree */
static void PCTNSGetDepth_Private(const PC_TNS *tns, const PolderCSR *csr, PetscBool upper, PetscInt depth[])
{
  for (PetscInt l = 0; l < csr->m; ++l) {
    const PetscInt i = upper ? csr->m - 1 - l : l, last = upper ? csr->ai[i + 1] : tns->at[TNS_HOST].diag[i];
    PetscBool      ghosts = PETSC_FALSE;

    depth[i] = 0;
    if (csr->bi && csr->bi[i] < csr->bi[i + 1])
      ghosts = upper ? (PetscBool)(csr->bj[csr->bi[i + 1] - 1] >= tns->nlow) : (PetscBool)(csr->bj[csr->bi[i]] < tns->nlow);
    if (ghosts) depth[i] = 1;
    for (PetscInt k = upper ? tns->at[TNS_HOST].diag[i] + 1 : csr->ai[i]; k < last && depth[i] != 1; ++k) {
      const PetscInt next = depth[csr->aj[k]];

      if (next && next < tns->degree && (!depth[i] || next + 1 < depth[i])) depth[i] = next + 1;
    }
  }
}

/* Lists the rows that depend on ghost values, ordered by the first sweep in which they do, and decides whether the sweeps are fused */
static PetscErrorCode PCTNSSetUpTriangle_Private(PC_TNS *tns, const PolderCSR *csr, PetscBool upper)
{
  TNSTriangle   *tri = &tns->tri[upper];
  const PetscInt q   = tns->degree;
  PetscInt      *depth, *next;
  PetscInt64     again = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(csr->m, &depth, q + 2, &next));
  PetscCall(PetscMalloc1(q + 1, &tri->count));
  PCTNSGetDepth_Private(tns, csr, upper, depth);
  PetscCall(PetscArrayzero(next, q + 2));
  for (PetscInt i = 0; i < csr->m; ++i) ++next[depth[i] ? depth[i] : q + 1];
  tri->count[0] = 0;
  for (PetscInt k = 1; k <= q; ++k) {
    tri->count[k] = tri->count[k - 1] + next[k];
    next[k]       = tri->count[k - 1];
    if (k > 1) again += tri->count[k];
  }
  tri->nghostrow = tri->count[1];
  tri->fused     = (PetscBool)(2 * again <= (PetscInt64)(q - 1) * csr->m);
  tri->nrow      = tri->fused ? tri->count[q] : csr->m;
  next[q + 1]    = tri->count[q];
  PetscCall(PetscMalloc1(tri->nrow, &tri->row));
  for (PetscInt i = 0; i < csr->m; ++i) {
    if (depth[i] || !tri->fused) tri->row[next[depth[i] ? depth[i] : q + 1]++] = i;
  }
  PetscCall(PetscFree2(depth, next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up what depends on the pattern only: positions of the diagonal, rows that read ghost values, work arrays. Collective */
static PetscErrorCode PCTNSSetUpPattern_Private(PC pc, const PolderCSR *csr, const PolderDia *dia)
{
  PC_TNS    *tns = (PC_TNS *)pc->data;
  TNSMatrix *A   = &tns->at[TNS_HOST];
  PetscInt   row = csr->M, kind = POLDER_ROW_GOOD;

  PetscFunctionBegin;
  PetscCall(PCTNSFreeHost_Private(tns));
  PetscCall(PetscMalloc1(csr->m, &A->diag));
  for (PetscInt i = 0; i < csr->m && kind == POLDER_ROW_GOOD; ++i) {
    A->diag[i] = -1;
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
      if (k > csr->ai[i] && csr->aj[k] <= csr->aj[k - 1]) kind = TNS_ROW_UNSORTED;
      if (csr->aj[k] == i) A->diag[i] = k;
    }
    if (kind == POLDER_ROW_GOOD && A->diag[i] < 0) kind = POLDER_ROW_NODIAGONAL;
    if (kind != POLDER_ROW_GOOD) row = csr->rstart + i;
  }
  PetscCall(PCTNSCheckRow_Private(pc, csr->M, row, kind));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCTNSSetHalo(pc, csr));
  for (int t = 0; t < 2 && tns->halo; ++t) PetscCall(PCTNSSetUpTriangle_Private(tns, csr, (PetscBool)t));
  PetscCall(PetscMalloc1(TNSWorkSize(csr->m, tns->degree), &tns->work));
  PetscCall(PetscMalloc1(tns->degree + 1, &tns->y));
  PetscCall(PetscMalloc1(csr->nghost, &tns->ghost));
  A->nz    = csr->ai[csr->m];
  A->flops = (PetscLogDouble)csr->m +
             (PetscLogDouble)tns->degree * (2.0 * csr->m + 2.0 * (PetscLogDouble)A->nz + (csr->bi ? 2.0 * (PetscLogDouble)csr->bi[csr->m] : 0.0));
  A->bytes = (PetscInt64)sizeof(PetscScalar) * ((PetscInt64)tns->degree * csr->m + csr->nghost) +
             (PetscInt64)sizeof(PetscInt) * ((PetscInt64)csr->m + tns->tri[0].nrow + tns->tri[1].nrow);
  if (tns->precision == TNS_SINGLE) A->bytes += (PetscInt64)sizeof(float) * (csr->m + (dia ? csr->m * TNSDiagonalsStored(dia) : A->nz));
  else A->bytes += (PetscInt64)sizeof(PetscScalar) * csr->m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the entries in single precision, as compressed rows or as diagonals of the strict triangles; *good: no entry is too large */
static PetscErrorCode PCTNSStoreSingle_Private(PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool *good)
{
  TNSMatrix *A = &tns->at[TNS_HOST];

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  if (!dia) {
    if (!A->values) PetscCall(PetscMalloc1(A->nz, &A->values));
    *good = PolderToSingle_Host((size_t)A->nz, csr->aa, A->values);
  } else {
    const size_t ld = (size_t)csr->m;

    if (!A->values) PetscCall(PetscMalloc1(ld * TNSDiagonalsStored(dia), &A->values));
    if (!A->val) PetscCall(PetscMalloc1(dia->nd, &A->val));
    TNSPlaceDiagonals(dia, ld, A->values, A->val);
    for (PetscInt d = 0; d < dia->nd; ++d) {
      const PetscInt first = PetscMax(0, -dia->off[d]), last = PetscMin(csr->m, csr->m - dia->off[d]);

      if (d == dia->main || (dia->half && d < dia->main)) continue;
      if (!PolderToSingle_Host((size_t)(last - first), dia->val[d] + first, (float *)A->val[d] + first)) *good = PETSC_FALSE;
    }
  }
  for (PetscInt k = 0; csr->bi && k < csr->bi[csr->m]; ++k) *good = (PetscBool)(*good && !(PetscAbsScalar(csr->ba[k]) > FLT_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first row with an entry outside the range of single precision */
static PetscInt TNSFindLarge(const PolderCSR *csr)
{
  for (PetscInt i = 0; i < csr->m; ++i) {
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
      if (PetscAbsScalar(csr->aa[k]) > FLT_MAX) return csr->rstart + i;
    }
    for (PetscInt k = csr->bi ? csr->bi[i] : 0; csr->bi && k < csr->bi[i + 1]; ++k) {
      if (PetscAbsScalar(csr->ba[k]) > FLT_MAX) return csr->rstart + i;
    }
  }
  return csr->M;
}

static PetscErrorCode PCTNSSetUpValues_Private(PC pc, const PolderCSR *csr, const PolderDia *dia)
{
  PC_TNS         *tns    = (PC_TNS *)pc->data;
  const PetscBool single = (PetscBool)(tns->precision == TNS_SINGLE);
  PetscInt        row = csr->M, kind = POLDER_ROW_GOOD;
  PetscBool       good = PETSC_TRUE;

  PetscFunctionBegin;
  if (!tns->at[TNS_HOST].dinv) PetscCall(PetscMalloc((single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)csr->m, &tns->at[TNS_HOST].dinv));
  for (PetscInt i = 0; i < csr->m; ++i) {
    const PetscReal d = PetscRealPart(csr->aa[tns->at[TNS_HOST].diag[i]]), inverse = 1.0 / d;
    PetscBool       fits = PETSC_TRUE;

    if (single) {
      ((float *)tns->at[TNS_HOST].dinv)[i] = (float)inverse;
      fits                                 = (PetscBool)((float)inverse > 0 && !PetscIsInfReal((PetscReal)(float)inverse));
    } else ((PetscScalar *)tns->at[TNS_HOST].dinv)[i] = inverse;
    if ((d > 0 && d <= PETSC_MAX_REAL && !PetscIsInfReal(inverse) && fits) || kind != POLDER_ROW_GOOD) continue;
    row  = csr->rstart + i;
    kind = PetscIsInfOrNanReal(d) ? POLDER_ROW_NOTFINITE : d < 0 ? POLDER_ROW_NEGATIVE : d == 0 || PetscIsInfReal(inverse) ? POLDER_ROW_ZERO : TNS_ROW_RANGE;
  }
  if (single) PetscCall(PCTNSStoreSingle_Private(tns, csr, dia, &good));
  if (!good && kind == POLDER_ROW_GOOD) {
    row  = TNSFindLarge(csr);
    kind = TNS_ROW_RANGE;
  }
  PetscCall(PCTNSCheckRow_Private(pc, csr->M, row, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A triangle for the kernels, with the diagonals if there are any, and with the compressed rows */
static PolderTriangle TNSTriangleOf(const PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool upper)
{
  const TNSMatrix *A      = &tns->at[TNS_HOST];
  const PetscBool  single = (PetscBool)(tns->precision == TNS_SINGLE);
  PolderTriangle   T      = {.single = single, .upper = upper, .m = csr->m, .dinv = A->dinv, .i = csr->ai, .diag = A->diag, .j = csr->aj};

  if (dia) {
    const PetscInt first = upper ? dia->main + 1 : 0;

    T.nd  = upper ? dia->nd - first : dia->main;
    T.off = dia->off + first;
    T.val = single ? (const void *const *)(A->val + first) : (const void *const *)(dia->val + first);
  } else T.a = single ? (const void *)A->values : (const void *)csr->aa;
  return T;
}

/* q sweeps over the rows of this process without their off-process entries; uses the diagonals of the matrix if it has them */
static void TNSLocalSweeps(const PolderTriangle *T, PetscInt q, const PetscScalar *r, PetscScalar *const y[])
{
  if (T->val) PolderTriSweepsDIA_Host(T, q, r, y);
  else PolderTriSweepsCSR_Host(T, q, r, y);
}

/* y[k+1] = y[0] - D^-1 T y[k] for k = 0 .. degree-1, with T the strictly lower or upper part and y = tns->y; r: y[0] = D^-1 r first */
static PetscErrorCode PCTNSSweeps_Private(PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool upper, const PetscScalar *r)
{
  const TNSTriangle   *tri = &tns->tri[upper];
  const PolderTriangle T   = TNSTriangleOf(tns, csr, dia, upper);
  const PetscInt       q   = tns->degree;
  PetscScalar        **y   = tns->y;

  PetscFunctionBegin;
  if (!tns->halo) {
    TNSLocalSweeps(&T, q, r, y);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (r) TNSLocalSweeps(&T, 0, r, y);
  for (PetscInt k = 0; k < q; ++k) {
    const PolderRowList rows = {tri->fused ? tri->count[k + 1] : tri->nrow, tri->row}, ghostrows = {tri->nghostrow, tri->row};

    PetscCall(PolderHaloBegin(tns->halo, MPIU_SCALAR, y[k], tns->ghost));
    if (tri->fused && !k) TNSLocalSweeps(&T, q, NULL, y);
    else PolderTriRowsCSR_Host(&T, rows, csr->aa, y[0], y[k], y[k + 1]);
    PetscCall(PolderHaloEnd(tns->halo, MPIU_SCALAR, y[k], tns->ghost));
    PolderTriGhostRows_Host(&T, ghostrows, tns->nlow, PolderGhostColumns(csr), tns->ghost, y[k + 1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterates y[0] .. y[degree] are arrays of the preconditioner, but one, which is z: the first or the last */
static void TNSPlaceIterates(PC_TNS *tns, PetscBool last, PetscScalar *z)
{
  const PetscInt own = last ? 0 : 1;

  for (PetscInt k = own; k < tns->degree + own; ++k) tns->y[k] = TNSWork(tns->work, tns->m, k - own);
  tns->y[last ? tns->degree : 0] = z;
}

/*
  s = D^-1 r,  q times  s <- D^-1 (r - L s)          = D^-1 K r
  t = s,       q times  t <- s - D^-1 L^T t          = K^T s

  The iterates are s_0 .. s_q and t_0 = s_q .. t_q; each sweep reads s_0 or t_0, so degree + 1 vectors are enough: z and degree more.
*/
static PetscErrorCode PCTNSApplyHost_Private(PC pc, const PolderCSR *csr, const PolderDia *dia, const PetscScalar r[], PetscScalar z[])
{
  PC_TNS *tns = (PC_TNS *)pc->data;

  PetscFunctionBegin;
  TNSPlaceIterates(tns, PETSC_FALSE, z);
  PetscCall(PCTNSSweeps_Private(tns, csr, dia, PETSC_FALSE, r));
  if (tns->degree) {
    tns->y[0]           = tns->y[tns->degree];
    tns->y[tns->degree] = z;
    PetscCall(PCTNSSweeps_Private(tns, csr, dia, PETSC_TRUE, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are the halves of the apply offered to a solver? On one process, by diagonals, where the upper triangle is the transpose of the lower one */
static PetscErrorCode PCTNSJoinsRows_Private(PC pc, const PolderDia *dia, PetscBool *joins)
{
  PetscBool known, symmetric;

  PetscFunctionBegin;
  *joins = PETSC_FALSE;
  if (pc->failedreason || !dia) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  *joins = (PetscBool)(dia->half || (known && symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows, and the diagonals after an update to their values; joins = PETSC_FALSE: the halves are not offered, and there is nothing to restore */
static PetscErrorCode PCTNSJoinsBegin_Private(PC pc, PolderCSR *csr, const PolderDia **dia, PetscBool *joins)
{
  PetscBool there;

  PetscFunctionBegin;
  *joins = PETSC_FALSE;
  PetscCall(PCSetUp(pc));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetCSRAt(pc->pmat, &PolderOnHost, csr, &there));
  if (!there) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDia(pc->pmat, dia));
  PetscCall(PCTNSUpdate(pc, &TNSStepsOnHost, csr, *dia));
  PetscCall(PCTNSJoinsRows_Private(pc, *dia, joins));
  if (*joins) ((PC_TNS *)pc->data)->steps = &TNSStepsOnHost;
  else PetscCall(PolderMatRestoreCSRAt(pc->pmat, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSJoins(PC pc, Vec r, PetscBool *joins)
{
  PolderCSR        csr;
  const PolderDia *dia;
  PetscMPIInt      size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)r, joins, VECSEQ, VECMPI, ""));
  if (size > 1) *joins = PETSC_FALSE;
  if (!*joins) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCTNSJoinsBegin_Private(pc, &csr, &dia, joins));
  if (*joins) PetscCall(PolderMatRestoreCSRAt(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSForwardUpdate(PC pc, PetscScalar alpha, Vec w, Vec r, Vec s, PetscScalar sum[2])
{
  PC_TNS            *tns;
  PolderCSR          csr;
  const PolderDia   *dia;
  PolderTriangle     T;
  const PetscScalar *ww = NULL;
  PetscScalar       *rr, *ss;
  PetscBool          joins;

  PetscFunctionBegin;
  sum[0] = sum[1] = NAN;
  PetscCall(PCTNSJoinsBegin_Private(pc, &csr, &dia, &joins));
  if (!joins) PetscFunctionReturn(PETSC_SUCCESS);
  tns = (PC_TNS *)pc->data;
  PetscCall(PolderLogBegin(POLDER_TNSApply, pc));
  if (w) PetscCall(VecGetArrayRead(w, &ww));
  PetscCall(VecGetArray(r, &rr));
  PetscCall(VecGetArrayWrite(s, &ss));
  T = TNSTriangleOf(tns, &csr, dia, PETSC_FALSE);
  TNSPlaceIterates(tns, PETSC_TRUE, ss);
  PolderTriForwardDIA_Host(&T, tns->degree, alpha, ww, rr, tns->y, sum);
  PetscCall(VecRestoreArrayWrite(s, &ss));
  PetscCall(VecRestoreArray(r, &rr));
  if (w) PetscCall(VecRestoreArrayRead(w, &ww));
  PetscCall(PetscLogFlops(0.5 * tns->at[TNS_HOST].flops + (w ? 7.0 : 5.0) * tns->m));
  PetscCall(PolderLogEnd(POLDER_TNSApply, pc));
  PetscCall(PolderMatRestoreCSRAt(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSBackwardDirection(PC pc, PetscScalar alpha, PetscScalar beta, PetscScalar mean, Vec s, Vec p, Vec x, PetscScalar *sum)
{
  PC_TNS          *tns = (PC_TNS *)pc->data;
  PolderCSR        csr;
  const PolderDia *dia;
  PolderTriangle   T;
  PetscScalar     *pp, *xx, *ss;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_TNSApply, pc));
  PetscCall(PolderMatGetDia(pc->pmat, &dia));
  PetscCall(PolderMatGetCSR(pc->pmat, &csr));
  PetscCall(VecGetArray(s, &ss));
  PetscCall(VecGetArray(p, &pp));
  PetscCall(VecGetArray(x, &xx));
  T = TNSTriangleOf(tns, &csr, dia, PETSC_TRUE);
  TNSPlaceIterates(tns, PETSC_FALSE, ss);
  *sum = PolderTriDirectionDIA_Host(&T, tns->degree, tns->y, (PolderTriStep){alpha, beta, mean, pp, xx});
  PetscCall(VecRestoreArray(x, &xx));
  PetscCall(VecRestoreArray(p, &pp));
  PetscCall(VecRestoreArray(s, &ss));
  PetscCall(PolderMatRestoreCSR(pc->pmat, &csr));
  PetscCall(PetscLogFlops(0.5 * tns->at[TNS_HOST].flops + 6.0 * tns->m));
  PetscCall(PolderLogEnd(POLDER_TNSApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const TNSSteps TNSStepsOnHost = {.place   = &PolderOnHost,
                                 .getdia  = PolderMatGetDia,
                                 .pattern = PCTNSSetUpPattern_Private,
                                 .values  = PCTNSSetUpValues_Private,
                                 .apply   = PCTNSApplyHost_Private,
                                 .free    = PCTNSFreeHost_Private};
