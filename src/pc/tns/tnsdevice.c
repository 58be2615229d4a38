/* Truncated Neumann series: set-up and apply on the device. */
#include "tnsimpl.h"
#include "kernels/dia.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode PCTNSFreeDevice_Private(PC_TNS *tns)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&tns->at[TNS_DEVICE].diag));
  PetscCall(PolderDeviceFree(&tns->at[TNS_DEVICE].dinv));
  PetscCall(PolderDeviceFree(&tns->at[TNS_DEVICE].values));
  PetscCall(PetscFree(tns->at[TNS_DEVICE].val));
  PetscCall(PolderDeviceFree(&tns->devicework[0]));
  PetscCall(PolderDeviceFree(&tns->devicework[1]));
  PetscCall(PolderDeviceFree(&tns->deviceghost));
  PetscCall(PolderDeviceFree(&tns->bad));
  PetscCall(PCTNSOuterFree(tns));
  PetscCall(PetscMemzero(&tns->at[TNS_DEVICE], sizeof(tns->at[TNS_DEVICE])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of a triangle: returns their number; *first: number of the first one */
static PetscInt TNSTriangleDiagonals(const PolderDia *dia, PetscBool upper, PetscInt *first)
{
  *first = upper ? dia->main + 1 : 0;
  return upper ? dia->nd - *first : dia->main;
}

/* A triangle for the kernels: the diagonals if there are any (csr is not read then), else the compressed rows */
static PolderTriangle TNSTriangleOnDevice(const PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool upper)
{
  const TNSMatrix *A      = &tns->at[TNS_DEVICE];
  const PetscBool  single = (PetscBool)(tns->precision == TNS_SINGLE);
  PolderTriangle   T      = {.single = single, .upper = upper, .m = tns->m, .dinv = A->dinv};

  if (dia) {
    PetscInt first;

    T.nd      = TNSTriangleDiagonals(dia, upper, &first);
    T.off     = dia->off + first;
    T.val     = single ? (const void *const *)(A->val + first) : (const void *const *)(dia->val + first);
    T.code    = dia->code;
    T.classes = dia->classes;
  } else {
    T.i    = csr->ai;
    T.diag = A->diag;
    T.j    = csr->aj;
    T.a    = single ? (const void *)A->values : (const void *)csr->aa;
    T.nz   = A->nz;
  }
  return T;
}

/* Are the first two sweeps over a triangle fused in one kernel? */
static PetscBool TNSFused(const PC_TNS *tns, const PolderDia *dia, PetscBool upper)
{
  PetscInt first, nd;

  if (tns->halo) return tns->outer[upper].paired;
  if (!dia || tns->degree < 2 || dia->main < 0) return PETSC_FALSE;
  nd = TNSTriangleDiagonals(dia, upper, &first);
  return PolderTriPairFits(nd, dia->off + first);
}

static TNSSweep TNSSweepOf(const PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PetscBool upper, PolderStream stream)
{
  return (TNSSweep){.T         = TNSTriangleOnDevice(tns, csr, dia, upper),
                    .ghosts    = PolderGhostColumns(csr),
                    .diagonals = (PetscBool)(dia != NULL),
                    .fused     = TNSFused(tns, dia, upper),
                    .stream    = stream};
}

/* Sets up what depends on the pattern only: work arrays, positions of the diagonal, halo */
static PetscErrorCode PCTNSSetUpPatternDevice_Private(PC pc, const PolderCSR *csr, const PolderDia *dia)
{
  PC_TNS      *tns = (PC_TNS *)pc->data;
  TNSMatrix   *A   = &tns->at[TNS_DEVICE];
  const size_t m = (size_t)csr->m, value = tns->precision == TNS_SINGLE ? sizeof(float) : sizeof(PetscScalar);
  PetscInt     stored = 0, ghosts = 0, vectors;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PCTNSFreeDevice_Private(tns));
  PetscCall(PCTNSSetHalo(pc, csr));
  A->nz = csr->nz;
  if (csr->bi && csr->m) PetscCall(PolderDeviceToHost(&ghosts, csr->bi + csr->m, sizeof(PetscInt)));
  PetscCall(PolderDeviceMalloc(sizeof(int), &tns->bad));
  PetscCall(PolderDeviceZero(tns->bad, sizeof(int)));
  PetscCall(PolderDeviceMalloc(value * m, &A->dinv));
  if (!dia) {
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * m, &A->diag));
    PolderLaunch(PolderTriDiagonal_CUDA(csr->m, csr->ai, csr->aj, A->diag, tns->bad, stream));
  }
  if (tns->precision == TNS_SINGLE) {
    stored = dia ? TNSDiagonalsStored(dia) * csr->m : A->nz;
    PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)stored, &A->values));
    if (dia) {
      PetscCall(PetscMalloc1(dia->nd, &A->val));
      TNSPlaceDiagonals(dia, m, A->values, A->val);
    }
  }
  if (tns->halo) {
    const TNSSweep lower = TNSSweepOf(tns, csr, dia, PETSC_FALSE, stream), upper = TNSSweepOf(tns, csr, dia, PETSC_TRUE, stream);

    PetscCall(PCTNSOuterSetUp(pc, dia, &lower, &upper));
  }
  vectors = tns->degree < 2 ? tns->degree : tns->degree == 2 && TNSFused(tns, dia, PETSC_FALSE) && TNSFused(tns, dia, PETSC_TRUE) ? 1 : 2;
  for (PetscInt k = 0; k < vectors; ++k) PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * m, &tns->devicework[k]));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)csr->nghost, &tns->deviceghost));
  A->flops = (PetscLogDouble)csr->m + (PetscLogDouble)tns->degree * (2.0 * csr->m + 2.0 * (PetscLogDouble)A->nz + 2.0 * (PetscLogDouble)ghosts);
  A->bytes = (PetscInt64)(sizeof(PetscScalar) * (m * (size_t)vectors + (size_t)csr->nghost) + value * m + sizeof(float) * (size_t)stored +
                          (dia ? 0 : sizeof(PetscInt) * m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the entries in single precision. Entries of off-process columns are only checked here; they are rounded when used */
static PetscErrorCode PCTNSStoreSingleDevice_Private(PC_TNS *tns, const PolderCSR *csr, const PolderDia *dia, PolderStream stream)
{
  TNSMatrix *A      = &tns->at[TNS_DEVICE];
  PetscInt   ghosts = 0;
  float     *rounded;

  PetscFunctionBegin;
  if (!dia) PolderLaunch(PolderToSingle_CUDA((size_t)A->nz, csr->aa, A->values, tns->bad, stream));
  for (PetscInt d = 0; dia && d < dia->nd; ++d) {
    const PetscInt first = PetscMax(0, -dia->off[d]), last = PetscMin(csr->m, csr->m - dia->off[d]);

    if (d == dia->main || (dia->half && d < dia->main)) continue;
    PolderLaunch(PolderToSingle_CUDA((size_t)(last - first), dia->val[d] + first, (float *)A->val[d] + first, tns->bad, stream));
  }
  if (csr->bi && csr->m) PetscCall(PolderDeviceToHost(&ghosts, csr->bi + csr->m, sizeof(PetscInt)));
  PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)ghosts, &rounded));
  PolderLaunch(PolderToSingle_CUDA((size_t)ghosts, csr->ba, rounded, tns->bad, stream));
  PetscCall(PolderDeviceFree(&rounded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An unusable row sets a flag; the host then finds out which row it is */
static PetscErrorCode PCTNSSetUpValuesDevice_Private(PC pc, const PolderCSR *csr, const PolderDia *dia)
{
  PC_TNS         *tns    = (PC_TNS *)pc->data;
  TNSMatrix      *A      = &tns->at[TNS_DEVICE];
  const PetscBool single = (PetscBool)(tns->precision == TNS_SINGLE);
  PolderStream    stream;
  PetscBool       done;
  int             bad = 0;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (!dia || dia->main >= 0) PolderLaunch(PolderTriInverse_CUDA(single, csr->m, A->diag, dia ? dia->val[dia->main] : csr->aa, A->dinv, tns->bad, stream));
  if (single) PetscCall(PCTNSStoreSingleDevice_Private(tns, csr, dia, stream));
  PetscCall(PolderDeviceToHost(&bad, tns->bad, sizeof(bad)));
  if (dia && dia->main < 0 && csr->m) bad = 1;
  PetscCallAllreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  if (!bad) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCTNSFreeDevice_Private(tns));
  PetscCall(PCTNSSetUpAt(pc, &TNSStepsOnHost, NULL, NULL, &done));
  PetscCheck(pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The device refuses a row of the matrix and the host does not");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = c - D^-1 T x; c = NULL and x = NULL stand for D^-1 r */
static PetscErrorCode PCTNSSweepDevice_Private(PC_TNS *tns, const TNSSweep *sweep, const PetscScalar *r, const PetscScalar *c, const PetscScalar *x,
                                               PetscScalar *y)
{
  const PolderTriangle *T      = &sweep->T;
  PolderStream          stream = sweep->stream;

  PetscFunctionBegin;
  if (tns->halo) PetscCall(PolderHaloBeginDevice(tns->halo, MPIU_SCALAR, x, tns->deviceghost));
  if (sweep->diagonals) PolderLaunch(PolderTriSweepDIA_CUDA(T, r, c, x, y, stream));
  else PolderLaunch(PolderTriSweepCSR_CUDA(T, r, c, x, y, stream));
  if (tns->halo) {
    PetscCall(PolderHaloEndDevice(tns->halo, MPIU_SCALAR, x, tns->deviceghost));
    if (sweep->ghosts.i) PolderLaunch(PolderTriGhosts_CUDA(T, tns->nlow, sweep->ghosts, tns->deviceghost, y, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  y <- the last of `degree` sweeps y_{k+1} = y_0 - D^-1 T y_k, which alternate between y and other. y_0 = c or, if that is NULL, D^-1 r. rho != NULL, allowed
  only for the fused pair of sweeps over the lower triangle: (y, D y) becomes (r, z) of the state
*/
static PetscErrorCode PCTNSSweepsDevice_Private(PC_TNS *tns, const TNSSweep *sweep, const PetscScalar *r, const PetscScalar *c, PetscScalar *y,
                                                PetscScalar *other, const PolderCGRho *rho)
{
  const PolderTriangle *T      = &sweep->T;
  PolderStream          stream = sweep->stream;
  const PetscInt        q      = tns->degree;
  const PetscScalar    *x      = c;
  PetscInt              k      = 0;

  PetscFunctionBegin;
  if (sweep->fused) {
    const PetscScalar *in = T->upper ? c : r;
    PetscScalar       *to = q % 2 ? other : y;
    void              *work;

    PetscCall(PolderDeviceGetWork(&work));
    if (tns->halo) PetscCall(PCTNSOuterSend(tns, sweep, in));
    if (T->m) PolderLaunch(PolderTriPair_CUDA(T, in, to, rho, work, stream));
    if (tns->halo) PetscCall(PCTNSOuterAdd(tns, sweep, rho ? POLDER_TRI_RHO : POLDER_TRI_PLAIN, rho, in, to));
    x = to;
    k = 2;
  } else if (tns->halo && !c) { // the values to be exchanged must be stored
    PetscScalar *to = q % 2 ? other : y;

    PolderLaunch(PolderTriScale_CUDA(T->single, T->m, T->dinv, r, to, stream));
    x = to;
  }
  for (; k < q; ++k) {
    PetscScalar *to = (q - 1 - k) % 2 ? other : y;

    PetscCall(PCTNSSweepDevice_Private(tns, sweep, r, c, x, to));
    x = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M^-1 r */
static PetscErrorCode PCTNSApplyDevice_Private(PC pc, const PolderCSR *csr, const PolderDia *dia, const PetscScalar *r, PetscScalar *z)
{
  PC_TNS      *tns = (PC_TNS *)pc->data;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (tns->degree) {
    const TNSSweep lower = TNSSweepOf(tns, csr, dia, PETSC_FALSE, stream), upper = TNSSweepOf(tns, csr, dia, PETSC_TRUE, stream);

    PetscCall(PCTNSSweepsDevice_Private(tns, &lower, r, NULL, tns->devicework[0], z, NULL));
    PetscCall(PCTNSSweepsDevice_Private(tns, &upper, NULL, tns->devicework[0], z, tns->devicework[1], NULL));
  } else PolderLaunch(PolderTriScale_CUDA((PetscBool)(tns->precision == TNS_SINGLE), csr->m, tns->at[TNS_DEVICE].dinv, r, z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const TNSSteps TNSStepsOnDevice = {.place   = &PolderOnDevice,
                                   .getdia  = PolderMatGetDeviceDia,
                                   .pattern = PCTNSSetUpPatternDevice_Private,
                                   .values  = PCTNSSetUpValuesDevice_Private,
                                   .apply   = PCTNSApplyDevice_Private,
                                   .free    = PCTNSFreeDevice_Private};

/* ------------------------------------------------ fused with the steps of a solver ------------------------------------------------ */

/* Can the apply be fused with the steps of a solver? Yes for the two fused pairs of sweeps of degree 2 with a symmetric matrix */
static PetscErrorCode PCTNSJoins_Private(PC pc, const PolderDia *dia, PetscBool *joins)
{
  const PC_TNS *tns = (PC_TNS *)pc->data;
  PetscBool     known, symmetric;

  PetscFunctionBegin;
  *joins = PETSC_FALSE;
  if (tns->degree != 2 || !TNSFused(tns, dia, PETSC_FALSE) || !TNSFused(tns, dia, PETSC_TRUE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  *joins = (PetscBool)((tns->halo ? tns->half : dia->half) || (known && symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes s = D^-1 K r, which the preconditioner keeps, and rho with (s, D s) = (r, M^-1 r) */
static PetscErrorCode PCTNSForward_Private(PC pc, Vec r, const PolderCGRho *rho, PetscBool *done)
{
  PC_TNS            *tns;
  PolderCSR          csr;
  const PolderDia   *dia;
  const PetscScalar *rr;
  TNSSweep           lower;
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
  PetscCall(PCTNSUpdate(pc, &TNSStepsOnDevice, &csr, dia));
  *done = (PetscBool)!pc->failedreason;
  if (*done) PetscCall(PCTNSJoins_Private(pc, dia, done));
  if (*done) {
    PetscCall(PolderLogBegin(POLDER_TNSApply, pc));
    PetscCall(PolderDeviceGetStream(&stream));
    PetscCall(PolderVecGetDeviceRead(r, &rr));
    lower = TNSSweepOf(tns, &csr, dia, PETSC_FALSE, stream);
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(PCTNSSweepsDevice_Private(tns, &lower, rr, NULL, tns->devicework[0], tns->devicework[1], rho));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PolderVecRestoreDeviceRead(r, &rr));
    PetscCall(PetscLogGpuFlops(0.5 * tns->at[TNS_DEVICE].flops + 2.0 * tns->m));
    PetscCall(PolderLogEnd(POLDER_TNSApply, pc));
    tns->steps = &TNSStepsOnDevice;
  }
  PetscCall(PolderMatRestoreDeviceCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes z = K^T s and at once updates the direction and the solution */
static PetscErrorCode PCTNSBackward_Private(PC pc, PetscBool first, Vec p, Vec x, PolderCGState *state)
{
  PC_TNS           *tns = (PC_TNS *)pc->data;
  const PolderCGRho to  = {state, first};
  PolderCSR         csr = {0};
  const PolderDia  *dia;
  TNSSweep          upper;
  PetscScalar      *pp, *xx, *s = tns->devicework[0];
  void             *work;
  PolderStream      stream;
  PetscBool         there = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_TNSApply, pc));
  PetscCall(PolderMatGetDeviceDia(pc->pmat, &dia));
  if (tns->halo) PetscCall(PolderMatGetDeviceCSR(pc->pmat, &csr, &there));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  upper = TNSSweepOf(tns, &csr, dia, PETSC_TRUE, stream);
  PetscCall(PolderVecGetDeviceArray(p, &pp));
  PetscCall(PolderVecGetDeviceArray(x, &xx));
  PetscCall(PetscLogGpuTimeBegin());
  if (tns->halo) PetscCall(PCTNSOuterSend(tns, &upper, s));
  if (upper.T.m) PolderLaunch(PolderTriPairDirection_CUDA(&upper.T, s, first, pp, xx, state, work, stream));
  if (tns->halo) PetscCall(PCTNSOuterAdd(tns, &upper, POLDER_TRI_DIRECTION, &to, s, pp));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceArray(x, &xx));
  PetscCall(PolderVecRestoreDeviceArray(p, &pp));
  if (there) PetscCall(PolderMatRestoreDeviceCSR(pc->pmat, &csr));
  PetscCall(PetscLogGpuFlops(0.5 * tns->at[TNS_DEVICE].flops + (first ? 0.0 : 5.0 * tns->m)));
  PetscCall(PolderLogEnd(POLDER_TNSApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSGetFused(PC pc, const PolderPCFused **fused)
{
  static const PolderPCFused offer = {.brief             = PETSC_TRUE,
                                      .forward           = PCTNSForward_Private,
                                      .backward          = PCTNSBackward_Private,
                                      .joins             = PCTNSJoins,
                                      .forwardupdate     = PCTNSForwardUpdate,
                                      .backwarddirection = PCTNSBackwardDirection};

  PetscFunctionBegin;
  (void)pc;
  *fused = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}
