/* Truncated Neumann series: M^-1 = K^T D^-1 K, K = sum_{j <= q} (-L D^-1)^j, from the entries of the matrix itself. */
#include "core/core.h"
#include "kernels/dia.h"
#include "kernels/tns.h"
#include "mat/symmetry.h"
#include "tnsimpl.h"
#include "core/options.h"
#include "core/refusal.h"
#include <float.h>
#include <petsc/private/pcimpl.h>

/* Why a row cannot be used */
typedef enum {
  TNS_ROW_GOOD,
  TNS_ROW_UNSORTED,
  TNS_ROW_NODIAGONAL,
  TNS_ROW_ZERO,
  TNS_ROW_NEGATIVE,
  TNS_ROW_NOTFINITE,
  TNS_ROW_RANGE
} TNSRowKind;

/* Refuses the matrix on every process for the first bad row of all; each passes its own first one, or the global number of rows and TNS_ROW_GOOD */
static PetscErrorCode PCTNSCheckRow_Private(PC pc, PetscInt M, PetscInt row, TNSRowKind kind)
{
  MPI_Comm comm  = PetscObjectComm((PetscObject)pc);
  PetscInt first = row, what;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, comm);
  if (first == M) PetscFunctionReturn(PETSC_SUCCESS);
  what = row == first ? (PetscInt)kind : 0;
  PetscCallAllreduce(MPI_IN_PLACE, &what, 1, MPIU_INT, MPI_MAX, comm);
  switch (what) {
  case TNS_ROW_UNSORTED:
    SETERRQ(comm, PETSC_ERR_ARG_WRONG, "PC of type tns needs the columns of each row in ascending order and row %" PetscInt_FMT " is not: sort the arrays before you hand them to PETSc", first);
  case TNS_ROW_NODIAGONAL:
    PolderPCRefuse(pc, PC_FACTOR_STRUCT_ZEROPIVOT, PETSC_ERR_ARG_WRONG, "PC of type tns needs a positive diagonal and row %" PetscInt_FMT " has no diagonal entry: insert it", first);
    break;
  case TNS_ROW_ZERO:
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_ARG_WRONG, "PC of type tns needs a positive diagonal and that of row %" PetscInt_FMT " is zero or too small to invert: remove the row, or put a one on its diagonal", first);
    break;
  case TNS_ROW_NEGATIVE:
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_ARG_WRONG, "PC of type tns needs a positive diagonal and that of row %" PetscInt_FMT " is negative: change the sign of the system if the matrix is negative definite, else use another preconditioner", first);
    break;
  case TNS_ROW_RANGE:
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE, "PC of type tns cannot store row %" PetscInt_FMT " in single precision, which has numbers of 1e-38 to 3e38: use -pc_tns_precision double, or scale the system", first);
    break;
  default:
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_FP, "PC of type tns needs a positive diagonal and that of row %" PetscInt_FMT " is not a finite number: check how the matrix was assembled", first);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCTNSFreeHost_Private(PC_TNS *tns)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(tns->host.diag));
  PetscCall(PetscFree(tns->host.dinv));
  PetscCall(PetscFree(tns->host.values));
  PetscCall(PetscFree(tns->host.val));
  for (int t = 0; t < 2; ++t) {
    PetscCall(PetscFree(tns->tri[t].row));
    PetscCall(PetscFree(tns->tri[t].count));
    tns->tri[t].nrow = 0;
  }
  PetscCall(PetscFree(tns->work));
  PetscCall(PetscFree(tns->y));
  PetscCall(PetscFree(tns->ghost));
  PetscCall(PetscMemzero(&tns->host, sizeof(tns->host)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCTNSFree_Private(PC_TNS *tns)
{
  PetscFunctionBegin;
  PetscCall(PCTNSFreeHost_Private(tns));
  PetscCall(PCTNSFreeDevice_Private(tns));
  tns->halo = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* depth[i]: 1 when row i has an off-process entry in the triangle, else one more than the least of the rows that it reads; 0 beyond degree */
static void PCTNSGetDepth_Private(const PC_TNS *tns, const PolderCSR *csr, PetscBool upper, PetscInt depth[])
{
  for (PetscInt l = 0; l < csr->m; ++l) {
    const PetscInt i = upper ? csr->m - 1 - l : l, last = upper ? csr->ai[i + 1] : tns->host.diag[i];
    PetscBool      ghosts = PETSC_FALSE;

    depth[i] = 0;
    if (csr->bi && csr->bi[i] < csr->bi[i + 1]) ghosts = upper ? (PetscBool)(csr->bj[csr->bi[i + 1] - 1] >= tns->nlow) : (PetscBool)(csr->bj[csr->bi[i]] < tns->nlow);
    if (ghosts) depth[i] = 1;
    for (PetscInt k = upper ? tns->host.diag[i] + 1 : csr->ai[i]; k < last && depth[i] != 1; ++k) {
      const PetscInt next = depth[csr->aj[k]];

      if (next && next < tns->degree && (!depth[i] || next + 1 < depth[i])) depth[i] = next + 1;
    }
  }
}

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

PetscErrorCode PCTNSGetKeys_Private(PC pc, const PolderCSR *csr, TNSKeys *keys)
{
  PetscFunctionBegin;
  keys->blocks[1] = 0;
  PetscCall(PetscObjectGetId((PetscObject)csr->diag, &keys->blocks[0]));
  if (csr->offdiag) PetscCall(PetscObjectGetId((PetscObject)csr->offdiag, &keys->blocks[1]));
  PetscCall(MatGetNonzeroState(pc->pmat, &keys->nonzerostate));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &keys->mat));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &keys->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Local rows and the exchange with other processes. Collective */
PetscErrorCode PCTNSSetHalo_Private(PC pc, const PolderCSR *csr)
{
  PC_TNS     *tns = (PC_TNS *)pc->data;
  PetscMPIInt size;

  PetscFunctionBegin;
  tns->m    = csr->m;
  tns->halo = NULL;
  for (tns->nlow = 0; tns->nlow < csr->nghost && csr->garray[tns->nlow] < csr->rstart; ++tns->nlow)
    ;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size > 1 && tns->degree) PetscCall(PolderMatGetHalo(pc->pmat, &tns->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Positions of the diagonal, which rows the halo touches, work arrays: whatever depends on the pattern only. Collective */
static PetscErrorCode PCTNSSetUpPattern_Private(PC pc, const PolderCSR *csr)
{
  PC_TNS    *tns  = (PC_TNS *)pc->data;
  TNSMatrix *A    = &tns->host;
  PetscInt   row  = csr->M;
  TNSRowKind kind = TNS_ROW_GOOD;

  PetscFunctionBegin;
  PetscCall(PCTNSFreeHost_Private(tns));
  PetscCall(PetscMalloc1(csr->m, &A->diag));
  for (PetscInt i = 0; i < csr->m && kind == TNS_ROW_GOOD; ++i) {
    A->diag[i] = -1;
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
      if (k > csr->ai[i] && csr->aj[k] <= csr->aj[k - 1]) kind = TNS_ROW_UNSORTED;
      if (csr->aj[k] == i) A->diag[i] = k;
    }
    if (kind == TNS_ROW_GOOD && A->diag[i] < 0) kind = TNS_ROW_NODIAGONAL;
    if (kind != TNS_ROW_GOOD) row = csr->rstart + i;
  }
  PetscCall(PCTNSCheckRow_Private(pc, csr->M, row, kind));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCTNSSetHalo_Private(pc, csr));
  for (int t = 0; t < 2 && tns->halo; ++t) PetscCall(PCTNSSetUpTriangle_Private(tns, csr, (PetscBool)t));
  PetscCall(PetscMalloc1((size_t)tns->degree * (size_t)csr->m, &tns->work));
  PetscCall(PetscMalloc1(tns->degree + 1, &tns->y));
  PetscCall(PetscMalloc1(csr->nghost, &tns->ghost));
  A->nz    = csr->ai[csr->m];
  A->flops = (PetscLogDouble)csr->m + (PetscLogDouble)tns->degree * (2.0 * csr->m + 2.0 * (PetscLogDouble)A->nz + (csr->bi ? 2.0 * (PetscLogDouble)csr->bi[csr->m] : 0.0));
  A->bytes = (PetscInt64)sizeof(PetscScalar) * ((PetscInt64)tns->degree * csr->m + csr->nghost) + (PetscInt64)sizeof(PetscInt) * ((PetscInt64)csr->m + tns->tri[0].nrow + tns->tri[1].nrow);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries in single precision, as compressed rows or the diagonals of the strict triangles; *good: none is too large */
static PetscErrorCode PCTNSStoreSingle_Private(PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool *good)
{
  TNSMatrix *A = &tns->host;

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

/* The first row with an entry that single precision does not have */
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
  PetscInt        row    = csr->M;
  TNSRowKind      kind   = TNS_ROW_GOOD;
  PetscBool       good   = PETSC_TRUE;

  PetscFunctionBegin;
  if (!tns->host.dinv) PetscCall(PetscMalloc((single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)csr->m, &tns->host.dinv));
  for (PetscInt i = 0; i < csr->m; ++i) {
    const PetscReal d = PetscRealPart(csr->aa[tns->host.diag[i]]), inverse = 1.0 / d;
    PetscBool       fits = PETSC_TRUE;

    if (single) {
      ((float *)tns->host.dinv)[i] = (float)inverse;
      fits                         = (PetscBool)((float)inverse > 0 && !PetscIsInfReal((PetscReal)(float)inverse));
    } else ((PetscScalar *)tns->host.dinv)[i] = inverse;
    if ((d > 0 && d <= PETSC_MAX_REAL && !PetscIsInfReal(inverse) && fits) || kind != TNS_ROW_GOOD) continue;
    row  = csr->rstart + i;
    kind = PetscIsInfOrNanReal(d) ? TNS_ROW_NOTFINITE : d < 0 ? TNS_ROW_NEGATIVE : d == 0 || PetscIsInfReal(inverse) ? TNS_ROW_ZERO : TNS_ROW_RANGE;
  }
  if (single) PetscCall(PCTNSStoreSingle_Private(tns, csr, dia, &good));
  if (!good && kind == TNS_ROW_GOOD) {
    row  = TNSFindLarge(csr);
    kind = TNS_ROW_RANGE;
  }
  PetscCall(PCTNSCheckRow_Private(pc, csr->M, row, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Pmat may have changed since set-up when the user has asked to reuse the preconditioner. The triangles are those of Pmat as it is, and
  with the diagonal of another matrix they would make a preconditioner worse than none.
*/
static PetscErrorCode PCTNSUpdate_Private(PC pc, const PolderCSR *csr, const PolderDia *dia)
{
  PC_TNS       *tns  = (PC_TNS *)pc->data;
  TNSMatrix    *A    = &tns->host;
  const TNSForm form = TNSFormOf(dia);
  TNSKeys       now;
  PetscBool     same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCTNSGetKeys_Private(pc, csr, &now));
  if (TNSSameValues(A, &now)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TNSSamePatternEverywhere(pc, A, &now, form, &same));
  if (!same) {
    PetscCall(PCTNSSetUpPattern_Private(pc, csr));
    if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
    A->keys     = now;
    A->keys.mat = 0;
    A->form     = form;
    A->bytes += tns->precision == TNS_SINGLE ? (PetscInt64)sizeof(float) * (csr->m + (dia ? csr->m * TNSDiagonalsStored(dia) : A->nz)) : (PetscInt64)sizeof(PetscScalar) * csr->m;
  }
  A->keys.mat = 0; // until the diagonal is known to be good
  PetscCall(PCTNSSetUpValues_Private(pc, csr, dia));
  if (!pc->failedreason) A->keys = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSUpdateHost_Private(PC pc)
{
  PolderCSR        csr;
  const PolderDia *dia;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(pc->pmat, &csr));
  PetscCall(PolderMatGetDia(pc->pmat, &dia));
  PetscCall(PCTNSUpdate_Private(pc, &csr, dia));
  PetscCall(PolderMatRestoreCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_TNS(PC pc)
{
  PC_TNS     *tns  = (PC_TNS *)pc->data;
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscLayout rows, columns;
  PetscInt    M, N;
  PetscBool   is, same;

  PetscFunctionBegin;
  PetscCall(PolderMatIsAIJ(pc->pmat, &is));
  PetscCheck(is, comm, PETSC_ERR_SUP, "PC of type tns needs the entries of the matrix and one of type %s does not give them: use -mat_type aij (or aijdia, aijicrs, aijhec), or hand an AIJ matrix to KSPSetOperators() as the second one",
             ((PetscObject)pc->pmat)->type_name);
  PetscCall(MatGetSize(pc->pmat, &M, &N));
  PetscCall(MatGetLayouts(pc->pmat, &rows, &columns));
  PetscCall(PetscLayoutCompare(rows, columns, &same));
  PetscCheck(same, comm, PETSC_ERR_ARG_SIZ, "PC of type tns needs a square matrix whose rows and columns are distributed alike, and this one is %" PetscInt_FMT " by %" PetscInt_FMT, M, N);
  PetscCall(PolderPCForgive(pc));
  PetscCall(PCTNSSetUpDevice_Private(pc, &tns->used));
  if (!tns->used) PetscCall(PCTNSUpdateHost_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps over the rows of this process without their off-process entries, on the diagonals of the matrix when it has them */
static void PCTNSLocalSweeps_Private(const PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool upper, PetscInt q, const PetscScalar *r)
{
  const TNSMatrix *A  = &tns->host;
  const PetscInt   d0 = dia && upper ? dia->main + 1 : 0, nd = !dia ? 0 : upper ? dia->nd - d0 : dia->main;

  if (tns->precision == TNS_SINGLE) {
    if (dia) PolderTriSweepsDIASingle_Host(upper, csr->m, q, nd, dia->off + d0, A->val + d0, (const float *)A->dinv, r, tns->y);
    else PolderTriSweepsCSRSingle_Host(upper, csr->m, q, csr->ai, A->diag, csr->aj, A->values, (const float *)A->dinv, r, tns->y);
  } else {
    if (dia) PolderTriSweepsDIA_Host(upper, csr->m, q, nd, dia->off + d0, dia->val + d0, (const PetscScalar *)A->dinv, r, tns->y);
    else PolderTriSweepsCSR_Host(upper, csr->m, q, csr->ai, A->diag, csr->aj, csr->aa, (const PetscScalar *)A->dinv, r, tns->y);
  }
}

/* y = c - dinv (T x) on the first n rows of the triangle's list, without their off-process entries */
static void PCTNSRows_Private(const PC_TNS *tns, const PolderCSR *csr, PetscBool upper, PetscInt n, const PetscScalar c[], const PetscScalar x[], PetscScalar y[])
{
  const PetscInt *row = tns->tri[upper].row, *diag = tns->host.diag;

  if (tns->precision == TNS_SINGLE) PolderTriRowsCSRSingle_Host(upper, n, row, csr->ai, diag, csr->aj, csr->aa, (const float *)tns->host.dinv, c, x, y);
  else PolderTriRowsCSR_Host(upper, n, row, csr->ai, diag, csr->aj, csr->aa, (const PetscScalar *)tns->host.dinv, c, x, y);
}

/* y[k+1] = y[0] - D^-1 T y[k] for k = 0 .. degree-1, with T the strictly lower or upper part and y = tns->y; r: y[0] = D^-1 r first */
static PetscErrorCode PCTNSSweeps_Private(PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool upper, const PetscScalar *r)
{
  const TNSTriangle *tri = &tns->tri[upper];
  const PetscInt     q   = tns->degree;
  PetscScalar      **y   = tns->y;

  PetscFunctionBegin;
  if (!tns->halo) {
    PCTNSLocalSweeps_Private(tns, csr, dia, upper, q, r);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (r) PCTNSLocalSweeps_Private(tns, csr, dia, upper, 0, r);
  for (PetscInt k = 0; k < q; ++k) {
    PetscCall(PolderHaloBegin(tns->halo, MPIU_SCALAR, y[k], tns->ghost));
    if (!tri->fused) PCTNSRows_Private(tns, csr, upper, tri->nrow, y[0], y[k], y[k + 1]);
    else if (!k) PCTNSLocalSweeps_Private(tns, csr, dia, upper, q, NULL);
    else PCTNSRows_Private(tns, csr, upper, tri->count[k + 1], y[0], y[k], y[k + 1]);
    PetscCall(PolderHaloEnd(tns->halo, MPIU_SCALAR, y[k], tns->ghost));
    if (tns->precision == TNS_SINGLE) PolderTriGhostRowsSingle_Host(upper, tri->nghostrow, tri->row, tns->nlow, csr->bi, csr->bj, csr->ba, (const float *)tns->host.dinv, tns->ghost, y[k + 1]);
    else PolderTriGhostRows_Host(upper, tri->nghostrow, tri->row, tns->nlow, csr->bi, csr->bj, csr->ba, (const PetscScalar *)tns->host.dinv, tns->ghost, y[k + 1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  s = D^-1 r,  q times  s <- D^-1 (r - L s)          = D^-1 K r
  t = s,       q times  t <- s - D^-1 L^T t          = K^T s

  The iterates are s_0 .. s_q and t_0 = s_q .. t_q; each sweep reads s_0 or t_0, so degree + 1 vectors are enough: z and degree more.
*/
static PetscErrorCode PCTNSApplyRows_Private(PC pc, const PolderCSR *csr, const PolderDia *dia, Vec r, Vec z)
{
  PC_TNS            *tns = (PC_TNS *)pc->data;
  const PetscScalar *rr;
  PetscScalar       *zz;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(r, &rr));
  PetscCall(VecGetArrayWrite(z, &zz));
  tns->y[0] = zz;
  for (PetscInt k = 1; k <= tns->degree; ++k) tns->y[k] = tns->work + (size_t)(k - 1) * (size_t)tns->m;
  PetscCall(PCTNSSweeps_Private(tns, csr, dia, PETSC_FALSE, rr));
  if (tns->degree) {
    tns->y[0]           = tns->y[tns->degree];
    tns->y[tns->degree] = zz;
    PetscCall(PCTNSSweeps_Private(tns, csr, dia, PETSC_TRUE, NULL));
  }
  PetscCall(VecRestoreArrayWrite(z, &zz));
  PetscCall(VecRestoreArrayRead(r, &rr));
  PetscCall(PetscLogFlops(tns->host.flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCTNSApplyHost_Private(PC pc, Vec r, Vec z)
{
  PolderCSR        csr;
  const PolderDia *dia;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(pc->pmat, &csr));
  PetscCall(PolderMatGetDia(pc->pmat, &dia));
  PetscCall(PCTNSUpdate_Private(pc, &csr, dia));
  if (!pc->failedreason) PetscCall(PCTNSApplyRows_Private(pc, &csr, dia, r, z));
  PetscCall(PolderMatRestoreCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_TNS(PC pc, Vec r, Vec z)
{
  PC_TNS   *tns = (PC_TNS *)pc->data;
  PetscBool failed;

  PetscFunctionBegin;
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_TNSApply, pc));
  PetscCall(PCTNSApplyDevice_Private(pc, r, z, &tns->used));
  if (!tns->used) PetscCall(PCTNSApplyHost_Private(pc, r, z));
  PetscCall(PolderPCFlag(pc, z, &failed)); // values may have changed since the set-up
  PetscCall(PolderLogEnd(POLDER_TNSApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program may say that the matrix is not symmetric without having looked */
static PetscErrorCode PCTNSCheckSymmetry_Private(PC pc)
{
  PC_TNS          *tns = (PC_TNS *)pc->data;
  PetscBool        known, symmetric;
  PetscObjectId    id;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  if (!known || symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  if (id != tns->tested || state != tns->testedstate) PetscCall(PolderMatProductsSymmetric(pc->pmat, &tns->symmetric));
  tns->tested      = id;
  tns->testedstate = state;
  PetscCheck(tns->symmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "PC of type tns applies its transpose for symmetric matrices only, and this one is not symmetric");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M^-1 is symmetric when A is, and only then is the strictly upper part L^T */
static PetscErrorCode PCApplyTranspose_TNS(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCTNSCheckSymmetry_Private(pc));
  PetscCall(PCApply_TNS(pc, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_TNS(PC pc)
{
  PC_TNS *tns = (PC_TNS *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCTNSFree_Private(tns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_TNS(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_TNS(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTNSSetDegree_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_FUSED, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_TNS(PC pc, PetscViewer viewer)
{
  static const char *const forms[] = {"compressed rows", "diagonals", "diagonals, half of a symmetric matrix"};
  PC_TNS                  *tns     = (PC_TNS *)pc->data;
  const TNSMatrix         *A       = tns->used ? &tns->device : &tns->host;
  PetscInt64               count[5], total[5]; /* processes for each form, those on a GPU, bytes */
  PetscInt                 N;
  PetscBool                ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  degree %" PetscInt_FMT ": %" PetscInt_FMT " products with a strict triangle an apply\n", tns->degree, 2 * tns->degree));
  PetscCall(PolderRefusalView((PetscObject)pc, viewer));
  if (!A->keys.blocks[0] || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  for (int f = 0; f < 3; ++f) count[f] = tns->m && (int)A->form == f;
  count[3] = tns->m && tns->used;
  count[4] = A->bytes;
  PetscCallAllreduce(count, total, 5, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc));
  PetscCall(MatGetSize(pc->pmat, &N, NULL));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s %.1f bytes a row\n", tns->precision == TNS_SINGLE ? "triangles and inverse diagonal in single precision, with work:" : "nothing of the matrix is copied; inverse diagonal and work:", N ? (double)total[4] / (double)N : 0.0));
  for (int f = 0; f < 3; ++f) {
    if (total[f]) PetscCall(PetscViewerASCIIPrintf(viewer, "  triangles read from: %s (processes: %" PetscInt64_FMT ")\n", forms[f], total[f]));
  }
  if (total[3]) PetscCall(PetscViewerASCIIPrintf(viewer, "  on a GPU (processes: %" PetscInt64_FMT ")\n", total[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCTNSSetDegree_TNS(PC pc, PetscInt degree)
{
  PC_TNS *tns = (PC_TNS *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_tns_degree", degree, 0, PC_TNS_DEGREE_MAX);
  if (degree == tns->degree) PetscFunctionReturn(PETSC_SUCCESS);
  tns->degree = degree;
  PetscCall(PCTNSFree_Private(tns));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCTNSSetDegree - sets the number of terms after the first in the truncated Neumann series of `PCTNS`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  degree - the degree q of K_q, 0 (Jacobi) to 100

   Options Database Key:
.  -pc_tns_degree <2> - the degree

   Level: intermediate

   Notes:
   An apply costs 2 `degree` products with half of the matrix, made in two passes over its memory. One term more saves fewer iterations
   than the one before it; 2 is what Gupta (2015, chapters 3 to 6) uses throughout.

   A change after the set-up makes the next `PCSetUp()` start afresh.

.seealso: `PCTNS`
@*/
PetscErrorCode PCTNSSetDegree(PC pc, PetscInt degree)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, degree, 2);
  PetscTryMethod(pc, "PCTNSSetDegree_C", (PC, PetscInt), (pc, degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_TNS(PC pc, PolderOptionItems PetscOptionsObject)
{
  static const char *const precisions[] = {"double", "single"};
  PC_TNS                  *tns          = (PC_TNS *)pc->data;
  PetscInt                 degree = tns->degree, precision = (PetscInt)tns->precision;
  PetscBool                set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Truncated Neumann series options");
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_tns_degree", "Terms of the series after the first", "PCTNSSetDegree", 0, PC_TNS_DEGREE_MAX, &degree, &set));
  if (set) PetscCall(PCTNSSetDegree(pc, degree));
  PetscCall(PetscOptionsEList("-pc_tns_precision", "In which the entries of the matrix are read", "PCTNS", precisions, 2, precisions[precision], &precision, &set));
  if (set && precision != (PetscInt)tns->precision) {
    tns->precision = (TNSPrecision)precision;
    PetscCall(PCTNSFree_Private(tns));
    pc->setupcalled = PETSC_FALSE;
  }
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCTNS - truncated Neumann series of a symmetric Gauss-Seidel step, M^-1 = K^T D^-1 K with K = sum_{j=0..q} (-L D^-1)^j

   Options Database Key:
+  -pc_tns_degree <2>                       - the degree q
-  -pc_tns_precision <double> (double,single) - the precision in which the entries of the matrix and the inverse diagonal are read

   Level: beginner

   Notes:
   A = L + D + L^T with D the diagonal and L the strictly lower part of A in the global numbering. Symmetric Gauss-Seidel is
   M = (I + L D^-1) D (I + L D^-1)^T; K is the Neumann series of (I + L D^-1)^-1, cut after the term of degree q
   (Gupta 2015, equations 3.6 and 3.7). Only products are left, no triangular solves, so it runs in parallel and the result does
   not depend on the number of processes as long as the global numbering is the same. It does depend on the numbering.

   L D^-1 is strictly lower triangular, so K is unit lower triangular: M^-1 is symmetric and positive definite for every symmetric A with
   a positive diagonal, without any condition on the norm of L D^-1. Rows with a zero, negative or missing diagonal are an error.

   A must be symmetric: the strictly upper part is taken as L^T. For an A that is not, the apply is
   sum (-D^-1 U)^j D^-1 sum (-L D^-1)^j, usable with `KSPGMRES` but not with `KSPCG`.

   The matrix is any AIJ type, sequential or parallel. Its own entries are read, nothing but the inverse diagonal and the place of the
   diagonal in each row is stored. All sweeps over one triangle are made in one pass over the memory of the matrix, block of rows after
   block. In parallel each triangular product exchanges neighbour values once, while the rows of the process are computed.

   With `-pc_tns_precision single` the triangles and the inverse diagonal are copied to single precision, for two thirds of the bytes of an apply
   on diagonals; vectors and sums stay in double precision. M^-1 belongs to the rounded matrix, is as symmetric and definite, and takes nearly the
   same iterations. Entries beyond the range of single precision are an error.

   With CUDA vectors and a matrix on the device (the types of this library, or `MATAIJCUSPARSE`) the set-up and the apply run there. Two sweeps over
   a triangle of a 5- or 7-point stencil by diagonals are then one kernel.

   Reference:
   R. Gupta, GPU acceleration of preconditioned solvers for ill-conditioned linear systems, PhD thesis, TU Delft, 2015, section 3.2.2.

.seealso: `PCTNSSetDegree()`, `PCLEVELSET`, `KSPDCG`, `PCSOR`, `PCICC`
M*/
PETSC_INTERN PetscErrorCode PCCreate_TNS(PC pc)
{
  PC_TNS *tns;

  PetscFunctionBegin;
  PetscCall(PetscNew(&tns));
  tns->degree             = 2;
  pc->data                = (void *)tns;
  pc->ops->setup          = PCSetUp_TNS;
  pc->ops->setuponblocks  = PolderPCSetUpOnBlocks;
  pc->ops->apply          = PCApply_TNS;
  pc->ops->applytranspose = PCApplyTranspose_TNS;
  pc->ops->reset          = PCReset_TNS;
  pc->ops->destroy        = PCDestroy_TNS;
  pc->ops->view           = PCView_TNS;
  pc->ops->setfromoptions = PCSetFromOptions_TNS;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTNSSetDegree_C", PCTNSSetDegree_TNS));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_FUSED, PCTNSGetFused_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}
