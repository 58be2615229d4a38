/* Truncated Neumann series: set-up and apply on the device. */
#include "tnsimpl.h"
#include "kernels/dia.h"
#include "kernels/tns.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PCTNSFreeDevice_Private(PC_TNS *tns)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&tns->device.diag));
  PetscCall(PolderDeviceFree(&tns->device.dinv));
  PetscCall(PolderDeviceFree(&tns->device.values));
  PetscCall(PetscFree(tns->device.val));
  PetscCall(PolderDeviceFree(&tns->dwork[0]));
  PetscCall(PolderDeviceFree(&tns->dwork[1]));
  PetscCall(PolderDeviceFree(&tns->dghost));
  PetscCall(PolderDeviceFree(&tns->dbad));
  PetscCall(PetscMemzero(&tns->device, sizeof(tns->device)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of a triangle: nd of them, from number *first on */
static PetscInt TNSTriangleDiagonals(const PolderDia *dia, PetscBool upper, PetscInt *first)
{
  *first = upper ? dia->main + 1 : 0;
  return upper ? dia->nd - *first : dia->main;
}

/* The entries that belong to such diagonals, from the first on, in the precision of the sweeps */
static const void *const *TNSTriangleValues(const PC_TNS *tns, const PolderDia *dia, PetscInt first)
{
  return tns->precision == TNS_SINGLE ? (const void *const *)(tns->device.val + first) : (const void *const *)(dia->val + first);
}

/* Is the first pair of sweeps over a triangle one kernel? */
static PetscBool TNSFused(const PC_TNS *tns, const PolderDia *dia, PetscBool upper)
{
  PetscInt first, nd;

  if (!dia || tns->halo || tns->degree < 2 || dia->main < 0) return PETSC_FALSE;
  nd = TNSTriangleDiagonals(dia, upper, &first);
  return PolderTriPairFits(nd, dia->off + first);
}

/* Room, positions of the diagonal, halo: whatever depends on the pattern only */
static PetscErrorCode PCTNSSetUpDevicePattern_Private(PC pc, const PolderCSR *csr, const PolderDia *dia, PolderStream stream)
{
  PC_TNS      *tns = (PC_TNS *)pc->data;
  TNSMatrix   *A   = &tns->device;
  const size_t m = (size_t)csr->m, value = tns->precision == TNS_SINGLE ? sizeof(float) : sizeof(PetscScalar);
  PetscInt     stored = 0, ghosts = 0, vectors;

  PetscFunctionBegin;
  PetscCall(PCTNSFreeDevice_Private(tns));
  PetscCall(PCTNSSetHalo_Private(pc, csr));
  if (csr->m) PetscCall(PolderDeviceToHost(&A->nz, csr->ai + csr->m, sizeof(PetscInt)));
  if (csr->bi && csr->m) PetscCall(PolderDeviceToHost(&ghosts, csr->bi + csr->m, sizeof(PetscInt)));
  PetscCall(PolderDeviceMalloc(sizeof(int), &tns->dbad));
  PetscCall(PolderDeviceZero(tns->dbad, sizeof(int)));
  PetscCall(PolderDeviceMalloc(value * m, &A->dinv));
  if (!dia) {
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * m, &A->diag));
    PolderLaunch(PolderTriDiagonal_CUDA(csr->m, csr->ai, csr->aj, A->diag, tns->dbad, stream));
  }
  if (tns->precision == TNS_SINGLE) {
    stored = dia ? TNSDiagonalsStored(dia) * csr->m : A->nz;
    PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)stored, &A->values));
    if (dia) {
      PetscCall(PetscMalloc1(dia->nd, &A->val));
      TNSPlaceDiagonals(dia, m, A->values, A->val);
    }
  }
  vectors = tns->degree < 2 ? tns->degree : tns->degree == 2 && TNSFused(tns, dia, PETSC_FALSE) && TNSFused(tns, dia, PETSC_TRUE) ? 1 : 2;
  for (PetscInt k = 0; k < vectors; ++k) PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * m, &tns->dwork[k]));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)csr->nghost, &tns->dghost));
  A->flops = (PetscLogDouble)csr->m + (PetscLogDouble)tns->degree * (2.0 * csr->m + 2.0 * (PetscLogDouble)A->nz + 2.0 * (PetscLogDouble)ghosts);
  A->bytes = (PetscInt64)(sizeof(PetscScalar) * (m * (size_t)vectors + (size_t)csr->nghost) + value * m + sizeof(float) * (size_t)stored + (dia ? 0 : sizeof(PetscInt) * m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries in single precision; those of the off-process columns are rounded where they are used, here they are looked at only */
static PetscErrorCode PCTNSStoreSingleDevice_Private(PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PolderStream stream)
{
  TNSMatrix *A      = &tns->device;
  PetscInt   ghosts = 0;
  float     *rounded;

  PetscFunctionBegin;
  if (!dia) PolderLaunch(PolderToSingle_CUDA((size_t)A->nz, csr->aa, A->values, tns->dbad, stream));
  for (PetscInt d = 0; dia && d < dia->nd; ++d) {
    const PetscInt first = PetscMax(0, -dia->off[d]), last = PetscMin(csr->m, csr->m - dia->off[d]);

    if (d == dia->main || (dia->half && d < dia->main)) continue;
    PolderLaunch(PolderToSingle_CUDA((size_t)(last - first), dia->val[d] + first, (float *)A->val[d] + first, tns->dbad, stream));
  }
  if (csr->bi && csr->m) PetscCall(PolderDeviceToHost(&ghosts, csr->bi + csr->m, sizeof(PetscInt)));
  PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)ghosts, &rounded));
  PolderLaunch(PolderToSingle_CUDA((size_t)ghosts, csr->ba, rounded, tns->dbad, stream));
  PetscCall(PolderDeviceFree(&rounded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Like PCTNSUpdate_Private() on the host */
static PetscErrorCode PCTNSUpdateDevice_Private(PC pc, const PolderCSR *csr, const PolderDia *dia)
{
  PC_TNS         *tns    = (PC_TNS *)pc->data;
  TNSMatrix      *A      = &tns->device;
  const PetscBool single = (PetscBool)(tns->precision == TNS_SINGLE);
  const TNSForm   form   = TNSFormOf(dia);
  TNSKeys         now;
  PolderStream    stream;
  PetscBool       same = PETSC_FALSE;
  int             bad  = 0;

  PetscFunctionBegin;
  PetscCall(PCTNSGetKeys_Private(pc, csr, &now));
  if (TNSSameValues(A, &now)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TNSSamePatternEverywhere(pc, A, &now, form, &same));
  PetscCall(PolderDeviceGetStream(&stream));
  if (!same) PetscCall(PCTNSSetUpDevicePattern_Private(pc, csr, dia, stream));
  A->keys.mat = 0;
  if (!dia || dia->main >= 0) PolderLaunch(PolderTriInverse_CUDA(single, csr->m, A->diag, dia ? dia->val[dia->main] : csr->aa, A->dinv, tns->dbad, stream));
  if (single) PetscCall(PCTNSStoreSingleDevice_Private(tns, csr, dia, stream));
  PetscCall(PolderDeviceToHost(&bad, tns->dbad, sizeof(bad)));
  if (dia && dia->main < 0 && csr->m) bad = 1;
  PetscCallAllreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  if (bad) {
    PetscCall(PCTNSFreeDevice_Private(tns));
    PetscCall(PCTNSUpdateHost_Private(pc)); // tells the row
    PetscCheck(pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The device refuses a row of the matrix and the host does not");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  A->keys = now;
  A->form = form;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSSetUpDevice_Private(PC pc, PetscBool *done)
{
  PolderCSR        csr;
  const PolderDia *dia;

  PetscFunctionBegin;
  PetscCall(PolderMatGetDeviceCSR(pc->pmat, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceDia(pc->pmat, &dia));
  PetscCall(PCTNSUpdateDevice_Private(pc, &csr, dia));
  PetscCall(PolderMatRestoreDeviceCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = c - D^-1 T x; c = NULL and x = NULL stand for D^-1 r */
static PetscErrorCode PCTNSSweepDevice_Private(PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool upper, const PetscScalar *r, const PetscScalar *c, const PetscScalar *x, PetscScalar *y, PolderStream stream)
{
  const TNSMatrix *A      = &tns->device;
  const PetscBool  single = (PetscBool)(tns->precision == TNS_SINGLE);

  PetscFunctionBegin;
  if (tns->halo) PetscCall(PolderHaloBeginDevice(tns->halo, MPIU_SCALAR, x, tns->dghost));
  if (dia) {
    PetscInt       first;
    const PetscInt nd = TNSTriangleDiagonals(dia, upper, &first);

    PolderLaunch(PolderTriSweepDIA_CUDA(single, csr->m, nd, dia->off + first, TNSTriangleValues(tns, dia, first), A->dinv, r, c, x, y, stream));
  } else {
    PolderLaunch(PolderTriSweepCSR_CUDA(single, upper, csr->m, A->nz, csr->ai, A->diag, csr->aj, single ? (const void *)A->values : (const void *)csr->aa, A->dinv, r, c, x, y, stream));
  }
  if (tns->halo) {
    PetscCall(PolderHaloEndDevice(tns->halo, MPIU_SCALAR, x, tns->dghost));
    if (csr->bi) PolderLaunch(PolderTriGhosts_CUDA(single, upper, csr->m, tns->nlow, csr->bi, csr->bj, csr->ba, A->dinv, tns->dghost, y, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  y <- the last of degree sweeps y_{k+1} = y_0 - D^-1 T y_k, which take turns in y and other; y_0 = c or, when that is NULL, D^-1 r. rho != NULL, for the pair of
  sweeps over the lower triangle only: (y, D y) is the (r, z) of a state
*/
static PetscErrorCode PCTNSSweepsDevice_Private(PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool upper, const PetscScalar *r, const PetscScalar *c, PetscScalar *y, PetscScalar *other, const PolderCGRho *rho, PolderStream stream)
{
  const PetscInt     q      = tns->degree;
  const PetscBool    single = (PetscBool)(tns->precision == TNS_SINGLE);
  const PetscScalar *x      = c;
  PetscInt           k      = 0;

  PetscFunctionBegin;
  if (TNSFused(tns, dia, upper)) {
    PetscInt       first;
    const PetscInt nd = TNSTriangleDiagonals(dia, upper, &first);
    PetscScalar   *to = q % 2 ? other : y;
    void          *work;

    PetscCall(PolderDeviceGetWork(&work));
    PolderLaunch(PolderTriPair_CUDA(single, csr->m, nd, dia->off + first, TNSTriangleValues(tns, dia, first), tns->device.dinv, upper ? c : r, to, rho, work, stream));
    x = to;
    k = 2;
  } else if (tns->halo && !c) { // what is exchanged must be there
    PetscScalar *to = q % 2 ? other : y;

    PolderLaunch(PolderTriScale_CUDA(single, csr->m, tns->device.dinv, r, to, stream));
    x = to;
  }
  for (; k < q; ++k) {
    PetscScalar *to = (q - 1 - k) % 2 ? other : y;

    PetscCall(PCTNSSweepDevice_Private(tns, csr, dia, upper, r, c, x, to, stream));
    x = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M^-1 r */
static PetscErrorCode PCTNSApplyDeviceArrays_Private(PC pc, const PolderCSR *csr, const PolderDia *dia, const PetscScalar *r, PetscScalar *z)
{
  PC_TNS      *tns = (PC_TNS *)pc->data;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (tns->degree) {
    PetscCall(PCTNSSweepsDevice_Private(tns, csr, dia, PETSC_FALSE, r, NULL, tns->dwork[0], z, NULL, stream));
    PetscCall(PCTNSSweepsDevice_Private(tns, csr, dia, PETSC_TRUE, NULL, tns->dwork[0], z, tns->dwork[1], NULL, stream));
  } else PolderLaunch(PolderTriScale_CUDA((PetscBool)(tns->precision == TNS_SINGLE), csr->m, tns->device.dinv, r, z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSApplyDevice_Private(PC pc, Vec r, Vec z, PetscBool *done)
{
  PolderCSR          csr;
  const PolderDia   *dia;
  const PetscScalar *rr;
  PetscScalar       *zz;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(r, done));
  if (*done) PetscCall(PolderVecOnDevice(z, done));
  if (*done) PetscCall(PolderMatGetDeviceCSR(pc->pmat, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceDia(pc->pmat, &dia));
  PetscCall(PCTNSUpdateDevice_Private(pc, &csr, dia));
  if (!pc->failedreason) {
    PetscCall(PolderVecGetDeviceRead(r, &rr));
    PetscCall(PolderVecGetDeviceWrite(z, &zz));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(PCTNSApplyDeviceArrays_Private(pc, &csr, dia, rr, zz));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PolderVecRestoreDeviceWrite(z, &zz));
    PetscCall(PolderVecRestoreDeviceRead(r, &rr));
    PetscCall(PetscLogGpuFlops(((PC_TNS *)pc->data)->device.flops));
  }
  PetscCall(PolderMatRestoreDeviceCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ in the steps of a solver ------------------------------------------------ */

/* The two pairs of sweeps of degree 2 with a symmetric matrix */
static PetscErrorCode PCTNSJoins_Private(PC pc, const PolderDia *dia, PetscBool *joins)
{
  const PC_TNS *tns = (PC_TNS *)pc->data;
  PetscBool     known, symmetric;

  PetscFunctionBegin;
  *joins = PETSC_FALSE;
  if (tns->degree != 2 || !TNSFused(tns, dia, PETSC_FALSE) || !TNSFused(tns, dia, PETSC_TRUE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  *joins = (PetscBool)(dia->half || (known && symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* s = D^-1 K r, which stays here, and rho with (s, D s) = (r, M^-1 r) */
static PetscErrorCode PCTNSForward_Private(PC pc, Vec r, const PolderCGRho *rho, PetscBool *done)
{
  PC_TNS            *tns;
  PolderCSR          csr;
  const PolderDia   *dia;
  const PetscScalar *rr;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(r, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUp(pc));
  *done = (PetscBool)!pc->failedreason;
  if (*done) PetscCall(PolderMatGetDeviceCSR(pc->pmat, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  tns = (PC_TNS *)pc->data;
  PetscCall(PolderMatGetDeviceDia(pc->pmat, &dia));
  PetscCall(PCTNSJoins_Private(pc, dia, done));
  if (*done) PetscCall(PCTNSUpdateDevice_Private(pc, &csr, dia));
  if (pc->failedreason) *done = PETSC_FALSE;
  if (*done) {
    PetscCall(PolderLogBegin(POLDER_TNSApply, pc));
    PetscCall(PolderDeviceGetStream(&stream));
    PetscCall(PolderVecGetDeviceRead(r, &rr));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(PCTNSSweepsDevice_Private(tns, &csr, dia, PETSC_FALSE, rr, NULL, tns->dwork[0], tns->dwork[1], rho, stream));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PolderVecRestoreDeviceRead(r, &rr));
    PetscCall(PetscLogGpuFlops(0.5 * tns->device.flops + 2.0 * tns->m));
    PetscCall(PolderLogEnd(POLDER_TNSApply, pc));
    tns->used = PETSC_TRUE;
  }
  PetscCall(PolderMatRestoreDeviceCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = K^T s goes at once into the direction and the solution */
static PetscErrorCode PCTNSBackward_Private(PC pc, PetscBool first, Vec p, Vec x, PolderCGState *state)
{
  PC_TNS          *tns    = (PC_TNS *)pc->data;
  const PetscBool  single = (PetscBool)(tns->precision == TNS_SINGLE);
  const PolderDia *dia;
  PetscScalar     *pp, *xx;
  PetscInt         at, nd;
  void            *work;
  PolderStream     stream;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_TNSApply, pc));
  PetscCall(PolderMatGetDeviceDia(pc->pmat, &dia));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  nd = TNSTriangleDiagonals(dia, PETSC_TRUE, &at);
  PetscCall(PolderVecGetDeviceArray(p, &pp));
  PetscCall(PolderVecGetDeviceArray(x, &xx));
  PetscCall(PetscLogGpuTimeBegin());
  PolderLaunch(PolderTriPairDirection_CUDA(single, tns->m, nd, dia->off + at, TNSTriangleValues(tns, dia, at), tns->device.dinv, tns->dwork[0], first, pp, xx, state, work, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceArray(x, &xx));
  PetscCall(PolderVecRestoreDeviceArray(p, &pp));
  PetscCall(PetscLogGpuFlops(0.5 * tns->device.flops + (first ? 0.0 : 5.0 * tns->m)));
  PetscCall(PolderLogEnd(POLDER_TNSApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSGetFused_Private(PC pc, const PolderPCFused **fused)
{
  static const PolderPCFused offer = {.brief = PETSC_TRUE, .forward = PCTNSForward_Private, .backward = PCTNSBackward_Private};

  PetscFunctionBegin;
  (void)pc;
  *fused = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}
