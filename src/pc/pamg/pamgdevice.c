/* Pairwise-aggregation multigrid: what the set-up of a level does in another way on the device. */
#include "pamgimpl.h"
#include "mat/aijderived.h"
#include "kernels/colours.h"
#include "kernels/dia.h"
#include "kernels/galerkin.h"
#include "kernels/labels.h"
#include "kernels/level.h"
#include "kernels/outer.h"
#include "kernels/pairs.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

PetscErrorCode PCPAMGOnDevice_Private(PC pc, PolderCSR *csr, PetscBool *device)
{
  PC_PAMG    *pamg = (PC_PAMG *)pc->data;
  PetscMPIInt all;

  PetscFunctionBegin;
  *device = PETSC_FALSE;
  if (pamg->matching == PAMG_GREEDY || pamg->uncoloured) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceCSR(pc->pmat, csr, device));
  all = *device;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if (*device && !all) PetscCall(PolderMatRestoreDeviceCSR(pc->pmat, csr));
  *device = csr->device = (PetscBool)all;
  if (*device) PetscCall(PolderDeviceGetStream(&pamg->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGBeginLevelDevice_Private(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel   *L    = &pamg->level[l];
  const size_t size = pamg->precision == PAMG_SINGLE ? sizeof(float) : sizeof(PetscScalar);
  PetscMPIInt  ranks;

  PetscFunctionBegin;
  L->n      = L->csr.m;
  L->N      = L->csr.M;
  L->single = (PetscBool)(pamg->precision == PAMG_SINGLE);
  if (!l) {
    const PolderDia *dia;
    PetscInt         nz = 0;

    if (L->n) PetscCall(PolderDeviceToHost(&nz, L->csr.ai + L->n, sizeof(nz)));
    L->nz = nz;
    PetscCall(PolderMatGetDeviceDia(L->A, &dia));
    L->regular = (PetscBool) !!dia;
    PetscCallMPI(MPI_Comm_size(L->comm, &ranks));
    if (ranks > 1) PetscCall(PCPAMGFindOuter_Private(pamg));
  }
  PetscCall(PolderDeviceMalloc(size * (size_t)(L->n + 1), &L->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* colour[] of n rows, and whether it is one; left[] and bad, of an index, are scratch */
static PetscErrorCode PamgFindColours(const PC_PAMG *pamg, PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt *const left[2], PetscInt *there, PetscInt colour[], PetscBool *found)
{
  PetscInt count = 1;

  PetscFunctionBegin;
  if (pamg->place) { // red and black, where all entries join neighbours
    PetscCall(PolderDeviceZero(there, sizeof(*there)));
    PolderLaunch(PolderColoursPlaces_CUDA(n, pamg->place, colour, pamg->stream));
    PolderLaunch(PolderColoursCheck_CUDA(n, ai, aj, colour, there, pamg->stream));
    PetscCall(PolderDeviceToHost(&count, there, sizeof(count)));
  }
  if (count) {
    PolderLaunch(PolderIndexFill_CUDA(n, POLDER_COLOUR_NONE, colour, pamg->stream));
    count = n;
    for (PetscInt round = 0; count; ++round) {
      PolderLaunch(PolderColoursRound_CUDA(count, round ? left[1 - round % 2] : NULL, ai, aj, colour, left[round % 2], there, pamg->stream));
      PetscCall(PolderDeviceToHost(&count, there, sizeof(count)));
    }
    PetscCall(PolderDeviceZero(there, sizeof(*there)));
    PolderLaunch(PolderColoursCheck_CUDA(n, ai, aj, colour, there, pamg->stream));
    PetscCall(PolderDeviceToHost(&count, there, sizeof(count)));
  }
  *found = count ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGColourDevice_Private(PC_PAMG *pamg, PetscInt l, PetscBool *found)
{
  PamgLevel   *L     = &pamg->level[l];
  const size_t bytes = PolderWorkSize(PolderPairsWork_CUDA(L->n)), size = sizeof(PetscInt);
  PetscInt    *colour, *left[2], *ptr, *there;
  void        *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(size * (size_t)L->n, &colour));
  for (int b = 0; b < 2; ++b) PetscCall(PolderDeviceMalloc(size * (size_t)L->n, &left[b]));
  PetscCall(PolderDeviceMalloc(size * (POLDER_COLOURS + 2), &ptr));
  PetscCall(PolderDeviceMalloc(size, &there));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PamgFindColours(pamg, L->n, L->csr.ai, L->csr.aj, left, there, colour, found));
  if (*found) {
    PetscCall(PolderDeviceMalloc(size * (size_t)L->n, &L->order));
    PetscCall(PetscMalloc1(POLDER_COLOURS + 1, &L->colour));
    PolderLaunch(PolderMembers_CUDA(L->n, colour, POLDER_COLOURS, ptr, L->order, left[0], left[1], work, bytes, pamg->stream));
    PetscCall(PolderDeviceToHost(L->colour, ptr, size * (POLDER_COLOURS + 1)));
    for (L->ncolour = 1; L->colour[L->ncolour] < L->n; ++L->ncolour) { }
  }
  PetscCall(PolderDeviceFree(&colour));
  for (int b = 0; b < 2; ++b) PetscCall(PolderDeviceFree(&left[b]));
  PetscCall(PolderDeviceFree(&ptr));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to[] <- from[] in single precision; *fits = PETSC_FALSE when an entry is too large */
static PetscErrorCode PamgRound(const PC_PAMG *pamg, size_t n, const PetscScalar from[], float to[], int *bad)
{
  PetscFunctionBegin;
  if (n) PolderLaunch(PolderToSingle_CUDA(n, from, to, bad, pamg->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpRowsDevice_Private(PC_PAMG *pamg, PetscInt l, PetscReal lone, PetscBool refresh, PetscInt *row, PolderRowKind *kind)
{
  PamgLevel       *L       = &pamg->level[l];
  const PolderCSR *csr     = &L->csr;
  const PetscInt64 good[2] = {(PetscInt64)L->n * 8, 0}; // and the bound, whose zero has the same bits
  const PolderDia *dia     = NULL;
  const PetscBool  all     = (PetscBool)(pamg->smoother == PAMG_L1JACOBI || pamg->smoother == PAMG_CHEBYSHEV); // of each row are needed
  PetscReal       *dinv    = (PetscReal *)L->dinv;
  PetscInt64      *there, got[2];

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(3 * sizeof(*there), &there));
  PetscCall(PolderDeviceFromHost(there, good, sizeof(good)));
  if (pamg->precision == PAMG_SINGLE) PetscCall(PolderDeviceMalloc(sizeof(*dinv) * (size_t)(L->n + 1), &dinv));
  if (!l && refresh && !all) PetscCall(PolderMatGetDeviceDia(L->A, &dia));
  if (dia && dia->main >= 0) PolderLaunch(PolderLevelDiagonal_CUDA(L->n, NULL, dia->val[dia->main], (PetscBool)(l > 0), dinv, there, pamg->stream));
  else PolderLaunch(PolderLevelRows_CUDA(L->n, csr->ai, csr->aj, csr->aa, (PetscBool)(l > 0), (PetscBool)(pamg->smoother == PAMG_L1JACOBI), lone, NULL, dinv, pamg->diagonal, pamg->sum, pamg->mate, (PetscReal *)(there + 1), there, pamg->stream));
  if (L->halo && (all || !refresh))
    PolderLaunch(PolderOuterLevelRows_CUDA(&L->outer.rows, csr->ai, csr->aj, csr->aa, (PetscBool)(l > 0), (PetscBool)(pamg->smoother == PAMG_L1JACOBI), lone, dinv, pamg->diagonal, pamg->sum, pamg->mate, (PetscReal *)(there + 1), there, pamg->stream));
  if (pamg->precision == PAMG_SINGLE) {
    PetscCall(PamgRound(pamg, (size_t)L->n, dinv, (float *)L->dinv, (int *)(there + 2)));
    PetscCall(PolderDeviceFree(&dinv));
  }
  if (L->halo) PetscCall(PolderHaloExchangeDevice(L->halo, pamg->precision == PAMG_SINGLE ? MPI_FLOAT : MPIU_SCALAR, L->dinv, L->outer.dinv));
  PetscCall(PolderDeviceToHost(got, there, sizeof(got)));
  PetscCall(PolderDeviceFree(&there));
  *row  = (PetscInt)(got[0] / 8);
  *kind = (PolderRowKind)(got[0] % 8);
  PetscCall(PetscMemcpy(&L->bound, &got[1], sizeof(L->bound)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills L->own from the rows; *ok: all entries have a place */
static PetscErrorCode PamgFillDiagonals(const PC_PAMG *pamg, PamgLevel *L, const PolderDia *dia, PetscReal tol, int *there, PetscBool *ok)
{
  int bad;

  PetscFunctionBegin;
  PetscCall(PolderDeviceZero(there, sizeof(*there)));
  PolderLaunch(PolderDiaFill_CUDA(L->n, dia->nd, dia->half ? dia->main : 0, L->off, (PetscScalar *const *)L->val, L->csr.ai, L->csr.aj, L->csr.aa, tol, there, pamg->stream));
  PetscCall(PolderDeviceToHost(&bad, there, sizeof(bad)));
  *ok = bad ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of a level whose matrix keeps none, when there are few of them: dia->nd = 0 stands for too many */
static PetscErrorCode PamgOwnDiagonalsDevice(const PC_PAMG *pamg, PamgLevel *L, PolderDia *dia, int *there)
{
  const PetscInt  most  = PamgMostDiagonals(L->n, L->nz);
  const PetscBool fresh = (PetscBool)!L->off;
  PetscBool       ok    = PETSC_FALSE;

  PetscFunctionBegin;
  if (fresh) {
    if (L->scattered || !most) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PolderDiaCountDevice(L->n, L->n, L->csr.ai, L->csr.aj, most, &dia->nd, &L->off));
    if (dia->nd <= most) PetscCall(PetscFindInt(0, dia->nd, L->off, &dia->main));
    if (dia->nd > most || dia->main < 0) {
      PetscCall(PetscFree(L->off));
      dia->nd      = 0;
      L->scattered = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscMalloc1(dia->nd, &L->val));
    L->half = PETSC_TRUE;
  } else {
    dia->nd   = L->M.nd;
    dia->main = L->M.main;
  }
  PetscCall(PCPAMGPlaceDiagonals_Private(pamg, L, dia, L->half));
  PetscCall(PamgFillDiagonals(pamg, L, dia, pamg->symmetric ? POLDER_DIA_MIRROR : 0, there, &ok));
  if (!ok && dia->half) { // not symmetric
    PetscCall(PCPAMGPlaceDiagonals_Private(pamg, L, dia, PETSC_FALSE));
    PetscCall(PamgFillDiagonals(pamg, L, dia, 0, there, &ok));
  }
  PetscCheck(ok, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The columns of a row do not ascend: sort them in the arrays that the matrix is made from");
  dia->m = dia->n = L->n;
  dia->off        = L->off;
  dia->val        = (const PetscScalar *const *)L->val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals that are stored, rounded; L->val then leads to them */
static PetscErrorCode PamgRoundDiagonalsDevice(const PC_PAMG *pamg, PamgLevel *L, const PolderDia *dia, int *there)
{
  const PetscInt first = dia->half ? dia->main : 0, ld = PolderStride(L->n);
  const void   **val;

  PetscFunctionBegin;
  if (L->values && L->half != dia->half) PetscCall(PolderDeviceFree(&L->values));
  L->half = dia->half;
  if (!L->values) PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)(dia->nd - first) * (size_t)ld, &L->values));
  PetscCall(PetscMalloc1(dia->nd, &val));
  PamgPointDiagonals(dia->nd, first, dia->off, sizeof(float), L->values, ld, val);
  for (PetscInt d = first; d < dia->nd; ++d) {
    const PetscInt lo = PetscMax(0, -dia->off[d]), hi = PetscMin(L->n, L->n - dia->off[d]);

    if (hi > lo) PetscCall(PamgRound(pamg, (size_t)(hi - lo), dia->val[d] + lo, (float *)val[d] + lo, there));
  }
  PetscCall(PolderDeviceFree(&L->own));
  PetscCall(PetscFree(L->val));
  L->val = val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpValuesDevice_Private(PC_PAMG *pamg, PetscInt l, PetscBool *fits)
{
  PamgLevel       *L   = &pamg->level[l];
  const PolderDia *dia = NULL;
  PolderDia        own = {0};
  int             *there, bad;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*there), &there));
  if (!l) PetscCall(PolderMatGetDeviceDia(L->A, &dia));
  if (dia && (!dia->nd || dia->nd > POLDER_LEVEL_DIAGONALS)) dia = NULL;
  if (!dia) {
    PetscCall(PamgOwnDiagonalsDevice(pamg, L, &own, there));
    if (own.nd) dia = &own;
    if (l) L->regular = (PetscBool)(own.nd > 0);
  }
  L->M = (PolderLevelMatrix){.n = L->n, .nd = dia ? dia->nd : 0, .main = dia ? dia->main : 0, .off = dia ? dia->off : NULL, .val = dia ? (const void *const *)dia->val : NULL, .ai = L->csr.ai, .aj = L->csr.aj, .aa = L->csr.aa, .nz = (PetscInt)L->nz, .dinv = L->dinv};
  if (pamg->precision == PAMG_DOUBLE) {
    L->half = dia ? dia->half : PETSC_FALSE;
    PetscCall(PolderDeviceFree(&there));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceZero(there, sizeof(*there)));
  if (dia) {
    PetscCall(PCPAMGKeepDiagonals_Private(L));
    PetscCall(PamgRoundDiagonalsDevice(pamg, L, dia, there));
    L->M.val = L->val;
    PolderLaunch(PolderRowTotals_CUDA(L->n, L->csr.ai, L->csr.aj, L->csr.aa, PETSC_FALSE, (float *)L->val[dia->main], there, pamg->stream));
    if (L->halo) PolderLaunch(PolderOuterTotals_CUDA(&L->outer.rows, L->csr.ai, L->csr.aj, L->csr.aa, PETSC_FALSE, (float *)L->val[dia->main], there, pamg->stream));
  } else {
    if (!L->values) PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)L->nz, &L->values));
    PetscCall(PamgRound(pamg, (size_t)L->nz, L->csr.aa, L->values, there));
    L->M.aa = L->values;
    PolderLaunch(PolderRowTotals_CUDA(L->n, L->csr.ai, L->csr.aj, L->csr.aa, PETSC_TRUE, L->values, there, pamg->stream));
    if (L->halo) PolderLaunch(PolderOuterTotals_CUDA(&L->outer.rows, L->csr.ai, L->csr.aj, L->csr.aa, PETSC_TRUE, L->values, there, pamg->stream));
  }
  PetscCall(PolderDeviceToHost(&bad, there, sizeof(bad)));
  PetscCall(PolderDeviceFree(&there));
  if (bad) *fits = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpCoarseDevice_Private(PC_PAMG *pamg, PetscBool constant)
{
  PamgLevel  *L = &pamg->level[pamg->nlevel - 1];
  PetscInt64 *key;
  PetscInt   *count;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)L->nz, &key));
  PetscCall(PolderDeviceMalloc(sizeof(*count), &count));
  PolderLaunch(PolderRowsKeys_CUDA(L->n, L->csr.ai, L->csr.aj, key, count, pamg->stream));
  PetscCall(PolderCoarseSetDevice(pamg->coarse, PETSC_TRUE));
  PetscCall(PolderCoarseSetUpDevice(pamg->coarse, L->n, count, key, L->csr.aa, constant));
  PetscCall(PolderDeviceFree(&key));
  PetscCall(PolderDeviceFree(&count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMatrixFromDevice_Private(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel     *L  = &pamg->level[l];
  const PetscInt nz = (PetscInt)L->nz + (L->halo ? L->outer.nz : 0);
  PetscInt      *ai, *aj;
  PetscScalar   *aa;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&L->A));
  PetscCall(PetscMalloc3(L->n + 1, &ai, nz, &aj, nz, &aa));
  if (L->halo) {
    PolderCSR own;

    PetscCall(PCPAMGRowsToHost_Private(L, &own));
    ai[0] = 0;
    for (PetscInt i = 0; i < L->n; ++i) ai[i + 1] = ai[i] + PamgMergeRow(&own, i, aj + ai[i], aa + ai[i]);
    PetscCall(PCPAMGFreeRowsOnHost_Private(&own));
  } else {
    PetscCall(PolderDeviceToHost(ai, L->csr.ai, sizeof(*ai) * (size_t)(L->n + 1)));
    PetscCall(PolderDeviceToHost(aj, L->csr.aj, sizeof(*aj) * (size_t)L->nz));
    PetscCall(PolderDeviceToHost(aa, L->csr.aa, sizeof(*aa) * (size_t)L->nz));
  }
  PetscCall(MatCreate(L->comm, &L->A));
  PetscCall(MatSetSizes(L->A, L->n, L->n, L->N, L->N));
  PetscCall(MatSetType(L->A, L->halo ? MATMPIAIJICRS : MATSEQAIJICRS));
  PetscCall(MatSetVecType(L->A, POLDER_VEC_DEVICE));
  if (L->halo) PetscCall(MatMPIAIJSetPreallocationCSR(L->A, ai, aj, aa));
  else PetscCall(MatSeqAIJSetPreallocationCSR(L->A, ai, aj, aa));
  PetscCall(PetscFree3(ai, aj, aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}
