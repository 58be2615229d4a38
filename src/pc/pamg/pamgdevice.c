/* Pairwise-aggregation multigrid: the set-up steps of a level on the device. */
#include "pamgsetup.h"
#include "pamgsteps.h"
#include "mat/aijderived.h"
#include "kernels/colours.h"
#include "kernels/csr.h"
#include "kernels/dia.h"
#include "kernels/galerkin.h"
#include "kernels/labels.h"
#include "kernels/level.h"
#include "kernels/outer.h"
#include "kernels/pairs.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* Scratch for long coarse rows, in entries; a single row may take more */
#define PAMG_SCRATCH 100000000
/* More entries a row on average than a line has */
#define PAMG_LINE 4
/* Coarse levels with a K-cycle by default: on more levels the visits of small levels cost more time than the iterations they save */
#define PAMG_KLEVELS 2

static PetscErrorCode PamgBeginLevelDevice(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel  *L = &pamg->level[l];
  PetscMPIInt ranks;

  PetscFunctionBegin;
  if (!l) {
    const PolderDia *dia;

    PetscCall(PolderDeviceGetStream(&pamg->stream));
    L->nz = L->csr.nz;
    PetscCall(PCPAMGFirstDiagonals(pamg, &dia));
    L->bydiagonals = (PetscBool) !!dia;
    PetscCallMPI(MPI_Comm_size(L->comm, &ranks));
    if (pamg->given) L->halo = pamg->given->halo;
    else if (ranks > 1) PetscCall(PolderMatGetHalo(L->A, &L->halo));
  }
  L->nzouter = L->outer.rows.nz; // for a gathered level, the number before it was gathered
  if (L->halo) PetscCall(PetscMalloc(PamgValueSize(pamg) * (size_t)L->csr.m, &L->stage));
  if (L->gathered) PetscCall(PCPAMGGatherVectors(pamg, pamg->level[l - 1].comm, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes colour[] of n rows and whether the colouring is valid; left[] and bad (one index) are scratch */
static PetscErrorCode PamgFindColours(const PC_PAMG *pamg, PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt *const left[2], PetscInt *there,
                                      PetscInt colour[], PetscBool *found)
{
  PetscInt count = 1;

  PetscFunctionBegin;
  if (pamg->gridplace) { // red-black colouring, valid if all entries join neighbours
    PetscCall(PolderDeviceZero(there, sizeof(*there)));
    PolderLaunch(PolderColoursPlaces_CUDA(n, pamg->gridplace, colour, pamg->stream));
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

static PetscErrorCode PamgColourDevice(PC_PAMG *pamg, PetscInt l, PetscBool *found)
{
  PamgLevel   *L     = &pamg->level[l];
  const size_t bytes = PolderWorkSize(PolderPairsWork_CUDA(L->n)), size = sizeof(PetscInt);
  PetscInt    *colour, *left[2], *ptr, *there;
  PetscMPIInt  all;
  void        *work;

  PetscFunctionBegin;
  PetscCall(PCPAMGNeedPlaces(pamg));
  PetscCall(PolderDeviceMalloc(size * (size_t)L->n, &colour));
  for (int b = 0; b < 2; ++b) PetscCall(PolderDeviceMalloc(size * (size_t)L->n, &left[b]));
  PetscCall(PolderDeviceMalloc(size * (POLDER_COLOURS + 2), &ptr));
  PetscCall(PolderDeviceMalloc(size, &there));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PamgFindColours(pamg, L->n, L->csr.ai, L->csr.aj, left, there, colour, found));
  if (*found) {
    PetscCall(PolderDeviceMalloc(size * (size_t)L->n, &L->order));
    PetscCall(PetscMalloc1(POLDER_COLOURS + 1, &L->colour));
    PolderLaunch(
      PolderMembers_CUDA(&(PolderAggregates){.m = L->n, .n = POLDER_COLOURS, .agg = colour, .ptr = ptr, .row = L->order}, left, work, bytes, pamg->stream));
    PetscCall(PolderDeviceToHost(L->colour, ptr, size * (POLDER_COLOURS + 1)));
    for (L->ncolour = 1; L->colour[L->ncolour] < L->n; ++L->ncolour) { }
  }
  PetscCall(PolderDeviceFree(&colour));
  for (int b = 0; b < 2; ++b) PetscCall(PolderDeviceFree(&left[b]));
  PetscCall(PolderDeviceFree(&ptr));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&work));
  all = *found;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, L->comm));
  *found = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to[] <- from[] in single precision; *bad is raised when an entry is too large */
static PetscErrorCode PamgToSingle(const PC_PAMG *pamg, size_t n, const PetscScalar from[], float to[], int *bad)
{
  PetscFunctionBegin;
  if (n) PolderLaunch(PolderToSingle_CUDA(n, from, to, bad, pamg->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Surveys the rows from the diagonals of the matrix, or from compressed rows; *got: the row and the bound. refresh: the pattern is as before */
static PetscErrorCode PamgSurveyDevice(PC_PAMG *pamg, PetscInt l, const PolderDia *dia, const PolderLevelSurvey *survey, PetscBool refresh, PamgFindings *got)
{
  PamgLevel       *L     = &pamg->level[l];
  PamgFindings    *found = &pamg->findings[l];
  const PolderRows A     = PolderOwnRows(&L->csr);

  PetscFunctionBegin;
  *got = PamgNothing;
  if (dia) PolderLaunch(PolderLevelDiaRows_CUDA(dia, survey, &found->bound, &found->row, pamg->stream));
  else PolderLaunch(PolderLevelRows_CUDA(&A, survey, &found->bound, &found->row, pamg->stream));
  if (L->halo && !l && !refresh) PetscCall(PCPAMGFindOuter(pamg)); // the host works while the device does
  if (L->halo) PolderLaunch(PolderOuterLevelRows_CUDA(&L->outer.rows_d, &A, survey, &found->bound, &found->row, pamg->stream));
  if (!L->ahead) PetscCall(PolderDeviceToHost(got, found, offsetof(PamgFindings, count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgRowsDevice(PC_PAMG *pamg, PetscInt l, PetscBool refresh, PetscInt *row, PolderRowKind *kind)
{
  PamgLevel        *L      = &pamg->level[l];
  PolderLevelSurvey survey = PCPAMGSurvey(pamg, l);
  const PolderDia  *dia    = NULL;
  PamgFindings      got;

  PetscFunctionBegin;
  survey.dinv = (PetscReal *)L->dinv;
  if (pamg->precision != PAMG_DOUBLE) PetscCall(PolderDeviceMalloc(sizeof(*survey.dinv) * (size_t)(L->n + 1), &survey.dinv));
  if (!l && L->bydiagonals) PetscCall(PCPAMGFirstDiagonals(pamg, &dia));
  if (dia && !(dia->exact && dia->main >= 0 && dia->nd <= POLDER_LEVEL_DIAGONALS)) dia = NULL;
  PetscCall(PamgSurveyDevice(pamg, l, dia, &survey, refresh, &got));
  if (dia && got.row < POLDER_ROWS_GOOD) { // what is wrong with that row
    PetscCall(PamgForget(pamg, l));
    PetscCall(PamgSurveyDevice(pamg, l, NULL, &survey, PETSC_TRUE, &got));
  }
  if (pamg->precision != PAMG_DOUBLE) {
    PetscCall(PamgToSingle(pamg, (size_t)L->n, survey.dinv, (float *)L->dinv, &pamg->findings[PAMG_LEVELS].large)); // it is judged elsewhere
    PetscCall(PolderDeviceFree(&survey.dinv));
  }
  if (L->halo) PetscCall(PolderHaloExchangeDevice(L->halo, pamg->precision != PAMG_DOUBLE ? MPI_FLOAT : MPIU_SCALAR, L->dinv, L->outer.dinv));
  *kind    = PolderKindOfBad(got.row);
  *row     = *kind == POLDER_ROW_GOOD ? L->n : PolderRowOfBad(got.row);
  L->bound = got.bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills L->ownval from the rows; *ok: every entry lies on a stored diagonal */
static PetscErrorCode PamgFillDiagonals(const PC_PAMG *pamg, PamgLevel *L, const PolderDia *dia, PetscReal tol, PetscBool *ok)
{
  const PolderDia D     = {.m = L->n, .n = L->n, .nd = dia->nd, .off = L->ownoff, .main = dia->main, .half = dia->half};
  PamgFindings   *found = &pamg->findings[L - pamg->level];
  int             wrong = 0;

  PetscFunctionBegin;
  PolderLaunch(PolderDiaFill_CUDA(&D, (PetscScalar *const *)L->val, PolderOwnRows(&L->csr), tol, &found->wrong, pamg->stream));
  if (!L->ahead) PetscCall(PolderDeviceToHost(&wrong, &found->wrong, sizeof(wrong)));
  *ok = wrong & POLDER_DIA_WRONG ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The offsets of the diagonals of a level, sorted; those of a level that was made as a grid are known */
static PetscErrorCode PamgFindOffsets(PamgLevel *L, PetscInt most, PetscInt *nd)
{
  const PetscInt *size = L->grid.size, stride[3] = {1, size[0], size[0] * size[1]};

  PetscFunctionBegin;
  if (!L->gridknown || !PamgKeepsGrid(L) || !(L->ai || L->gi)) {
    PetscCall(PolderDiaCountDevice(L->n, L->n, L->csr.ai, L->csr.aj, most, nd, &L->ownoff));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(7, &L->ownoff));
  *nd = 0;
  for (int d = 2; d >= 0; --d) {
    if (size[d] > 1) L->ownoff[(*nd)++] = -stride[d];
  }
  L->ownoff[(*nd)++] = 0;
  for (int d = 0; d < 3; ++d) {
    if (size[d] > 1) L->ownoff[(*nd)++] = stride[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* May the rows of a level lie on few diagonals? Not where pairs that do not line up have made rows of more entries than those of a line */
static PetscBool PamgMayHaveDiagonals(const PC_PAMG *pamg, const PamgLevel *L)
{
  PetscInt64 irregular = 0;

  for (PetscInt pass = 0; L > pamg->level && pass < pamg->passes; ++pass) irregular += L[-1].pass[pass].irregular;
  return (PetscBool)(!L->manydiagonals && (!irregular || L->nz <= PAMG_LINE * (PetscInt64)L->n));
}

/* Finds the diagonals of a level whose matrix does not store them; dia->nd = 0: there are too many */
static PetscErrorCode PamgOwnDiagonalsDevice(const PC_PAMG *pamg, PamgLevel *L, PolderDia *dia)
{
  const PetscInt  most  = PamgMostDiagonals(L->n, L->nz);
  const PetscBool fresh = (PetscBool)!L->ownoff;
  PetscBool       ok    = PETSC_FALSE;

  PetscFunctionBegin;
  if (fresh) {
    if (!most || !PamgMayHaveDiagonals(pamg, L)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PamgFindOffsets(L, most, &dia->nd));
    if (dia->nd <= most) PetscCall(PetscFindInt(0, dia->nd, L->ownoff, &dia->main));
    if (dia->nd > most || dia->main < 0) {
      PetscCall(PetscFree(L->ownoff));
      dia->nd          = 0;
      L->manydiagonals = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscFree(L->val)); // it may point to rounded diagonals of the matrix
    PetscCall(PetscMalloc1(dia->nd, &L->val));
    L->half = PETSC_TRUE;
  } else {
    dia->nd   = L->M.nd;
    dia->main = L->M.main;
  }
  PetscCall(PCPAMGPlaceDiagonals(pamg, L, dia, L->half));
  PetscCall(PamgFillDiagonals(pamg, L, dia, pamg->symmetric ? POLDER_DIA_MIRROR : 0, &ok));
  if (!ok && dia->half) { // the matrix is not symmetric
    PetscCall(PCPAMGPlaceDiagonals(pamg, L, dia, PETSC_FALSE));
    PetscCall(PamgForget(pamg, (PetscInt)(L - pamg->level)));
    PetscCall(PamgFillDiagonals(pamg, L, dia, 0, &ok));
  }
  PetscCheck(ok, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The columns of a row do not ascend: sort them in the arrays that the matrix is made from");
  dia->m = dia->n = L->n;
  dia->off        = L->ownoff;
  dia->val        = (const PetscScalar *const *)L->val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the level's own diagonals once its matrix stores diagonals itself */
static PetscErrorCode PamgFreeOwnDiagonals(PamgLevel *L)
{
  PetscFunctionBegin;
  if (L->ownval) PetscCall(PetscFree(L->val)); // it points to these diagonals
  PetscCall(PolderDeviceFree(&L->ownval));
  PetscCall(PetscFree(L->ownoff));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds the stored diagonals but the main one, which gets the sums of the rows, to single precision; L->val then points to the rounded ones */
static PetscErrorCode PamgRoundDiagonalsDevice(const PC_PAMG *pamg, PamgLevel *L, const PolderDia *dia, int *there)
{
  const PetscInt first = dia->half ? dia->main : 0, ld = PolderStride(L->n);
  const void   **val;

  PetscFunctionBegin;
  if (L->rounded && (L->half != dia->half || !L->val)) PetscCall(PolderDeviceFree(&L->rounded)); // allocated for fewer diagonals, or for rows
  L->half = dia->half;
  if (!L->rounded) PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)(dia->nd - first) * (size_t)ld, &L->rounded));
  PetscCall(PetscMalloc1(dia->nd, &val));
  PamgPointDiagonals(dia->nd, first, dia->off, sizeof(float), L->rounded, ld, val);
  for (PetscInt d = first; d < dia->nd; ++d) {
    const PetscInt lo = PetscMax(0, -dia->off[d]), hi = PetscMin(L->n, L->n - dia->off[d]);

    if (d != dia->main && hi > lo) PetscCall(PamgToSingle(pamg, (size_t)(hi - lo), dia->val[d] + lo, (float *)val[d] + lo, there));
  }
  PetscCall(PolderDeviceFree(&L->ownval));
  PetscCall(PetscFree(L->val));
  L->val = val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the classes of equal rows, which the cycle in single precision reads */
static PetscErrorCode PamgClassifyDevice(const PC_PAMG *pamg, PamgLevel *L)
{
  PolderLevelMatrix *M     = &L->M;
  PetscBool          serve = PETSC_FALSE;
  PolderDiaStencil   stencil;

  PetscFunctionBegin;
  if (M->nd && M->nd <= POLDER_DIA_POINTS && pamg->precision != PAMG_DOUBLE) {
    stencil = PolderDiaStencilOf(M->n, M->nd, M->main, M->off, M->bfloat ? POLDER_DIA_BFLOAT : POLDER_DIA_SINGLE, M->val, (const float *)M->dinv);
    PetscCall(PolderDiaClassesMalloc(pamg->place, &stencil, &L->code, &L->classes));
    if (L->code) PetscCall(PolderDiaClassify(pamg->place, &stencil, L->code, L->classes, &serve));
  }
  M->code    = serve ? L->code : NULL;
  M->classes = L->classes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgValuesDevice(PC_PAMG *pamg, PetscInt l, PetscBool *fits)
{
  PamgLevel       *L     = &pamg->level[l];
  const PolderRows A     = PolderOwnRows(&L->csr);
  const PolderDia *dia   = NULL;
  PolderDia        own   = {0};
  int             *large = &pamg->findings[l].large, bad = 0;

  PetscFunctionBegin;
  if (!l) PetscCall(PCPAMGFirstDiagonals(pamg, &dia));
  if (dia && (!dia->nd || dia->nd > POLDER_LEVEL_DIAGONALS)) dia = NULL;
  if (dia) PetscCall(PamgFreeOwnDiagonals(L));
  else {
    PetscCall(PamgOwnDiagonalsDevice(pamg, L, &own));
    if (own.nd) dia = &own;
    if (l) L->bydiagonals = (PetscBool)(own.nd > 0);
  }
  L->M = (PolderLevelMatrix){.n    = L->n,
                             .nd   = dia ? dia->nd : 0,
                             .main = dia ? dia->main : 0,
                             .off  = dia ? dia->off : NULL,
                             .val  = dia ? (const void *const *)dia->val : NULL,
                             .ai   = L->csr.ai,
                             .aj   = L->csr.aj,
                             .aa   = L->csr.aa,
                             .nz   = (PetscInt)L->nz,
                             .dinv = L->dinv};
  if (pamg->precision == PAMG_DOUBLE) {
    L->half = dia ? dia->half : PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (dia) PetscCall(PCPAMGKeepDiagonals(L));
  if (dia && pamg->precision == PAMG_HALF && PCPAMGSums(pamg, l)) PetscCall(PCPAMGHalveDiagonals(pamg, L, dia, PCPAMGSums(pamg, l), large));
  else if (dia) {
    PetscCall(PamgRoundDiagonalsDevice(pamg, L, dia, large));
    L->M.val = L->val;
    if (PCPAMGSums(pamg, l)) PetscCall(PamgToSingle(pamg, (size_t)L->n, PCPAMGSums(pamg, l), (float *)L->val[dia->main], large));
    else PolderLaunch(PolderRowTotals_CUDA(&A, PETSC_FALSE, (float *)L->val[dia->main], large, pamg->stream));
    if (L->halo && !PCPAMGSums(pamg, l))
      PolderLaunch(PolderOuterTotals_CUDA(&L->outer.rows_d, &A, PETSC_FALSE, (float *)L->val[dia->main], large, pamg->stream));
  } else {
    if (L->val) { // allocated for diagonals
      PetscCall(PolderDeviceFree(&L->rounded));
      PetscCall(PetscFree(L->val));
    }
    if (!L->rounded) PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)L->nz, &L->rounded));
    PetscCall(PamgToSingle(pamg, (size_t)L->nz, L->csr.aa, L->rounded, large));
    L->M.aa = L->rounded;
    PolderLaunch(PolderRowTotals_CUDA(&A, PETSC_TRUE, L->rounded, large, pamg->stream));
    if (L->halo) PolderLaunch(PolderOuterTotals_CUDA(&L->outer.rows_d, &A, PETSC_TRUE, L->rounded, large, pamg->stream));
  }
  if (pamg->precision == PAMG_HALF && !L->M.bfloat) PetscCall(PCPAMGHalveEntries(pamg, L, large));
  if (!L->ahead) PetscCall(PolderDeviceToHost(&bad, large, sizeof(bad)));
  if (bad) *fits = PETSC_FALSE;
  PetscCall(PamgClassifyDevice(pamg, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Completes level l + 1 where level l is distributed, or on one process */
static PetscErrorCode PamgCoarseLevelDevice(PC_PAMG *pamg, PetscInt l)
{
  PetscFunctionBegin;
  if (pamg->level[l].halo) PetscCall(PCPAMGCoarseOuter(pamg, l));
  else PetscCall(PCPAMGMendCoarse(pamg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgFirstValuesDevice(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&pamg->stream));
  if (pamg->level->halo) PetscCall(PCPAMGRefreshOuter(pamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgGalerkinValuesDevice(const PC_PAMG *pamg, const PolderAggregates *P, const PolderRows *A, const PamgLevel *C, PetscScalar val[])
{
  const PolderSparseRows B = {.n = P->n, .ptr = C->ai, .col = C->aj, .val = val};

  PetscFunctionBegin;
  PolderLaunch(PolderCoarseRowsValues_CUDA(P, A, C->longrows, &B, pamg->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgCoarseValuesDevice(PC_PAMG *pamg, PetscInt l)
{
  const PamgLevel *L = &pamg->level[l];

  PetscFunctionBegin;
  if (L->isgrid) PetscCall(PCPAMGGridValues(pamg, l));
  else PetscCall(PCPAMGPairValues(pamg, l));
  if (L->halo) PetscCall(PCPAMGCoarseOuterValues(pamg, l));
  else PetscCall(PCPAMGMendCoarse(pamg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static size_t PamgScratchDevice(PetscInt n)
{
  return PolderWorkSize(PolderPairsWork_CUDA(n));
}

static PetscErrorCode PamgOutsideDevice(const PamgLevel *L, PetscReal outside[])
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceZero(outside, sizeof(*outside) * (size_t)L->n));
  PolderLaunch(PolderOuterStrength_CUDA(&L->outer.rows_d, outside, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgNumberDevice(const PC_PAMG *pamg, const PamgWork *w, PetscInt n, const PetscInt join[], PetscInt agg[])
{
  PetscFunctionBegin;
  PolderLaunch(PolderPairsNumber_CUDA(n, pamg->mate, join, agg, &w->count->pairs, w->temp, w->bytes, pamg->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgMembersDevice(const PamgWork *w, const PolderAggregates *P)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderMembers_CUDA(P, w->left, w->temp, w->bytes, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgGalerkinDevice(const PamgWork *w, const PolderRows *A, const PolderAggregates *P, PolderSparseRows *C, PetscBool *longrows)
{
  PolderCoarseScratch scratch = {0};
  PetscInt            info[3];
  PolderStream        stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceZero(w->count->coarse, sizeof(info)));
  PolderLaunch(PolderCoarseRowsCount_CUDA(P, A, C->ptr, w->count->coarse, stream));
  PetscCall(PolderDeviceToHost(info, w->count->coarse, sizeof(info)));
  *longrows = info[0] ? PETSC_TRUE : PETSC_FALSE;
  if (*longrows) {
    scratch.warps = PetscClipInterval(PAMG_SCRATCH / info[1] / 8 * 8, 8, POLDER_COARSE_WARPS);
    scratch.width = info[1];
    PetscCall(PolderDeviceMalloc(sizeof(*scratch.col) * (size_t)scratch.warps * (size_t)scratch.width, &scratch.col));
    PetscCall(PolderDeviceMalloc(sizeof(*scratch.val) * (size_t)scratch.warps * (size_t)scratch.width, &scratch.val));
    PolderLaunch(PolderCoarseRowsCountLong_CUDA(P, A, &scratch, C->ptr, stream));
  }
  PolderLaunch(PolderPointers_CUDA(C->n, C->ptr, w->temp, w->bytes, stream));
  C->nz = info[2];
  if (*longrows) PetscCall(PolderDeviceToHost(&C->nz, C->ptr + C->n, sizeof(C->nz)));
  PetscCall(PolderDeviceMalloc(sizeof(*C->col) * (size_t)C->nz, &C->col));
  PetscCall(PolderDeviceMalloc(sizeof(*C->val) * (size_t)C->nz, &C->val));
  PolderLaunch(PolderCoarseRowsFill_CUDA(P, A, &scratch, C, stream));
  PetscCall(PolderDeviceFree(&scratch.col));
  PetscCall(PolderDeviceFree(&scratch.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgDropWeakDevice(const PC_PAMG *pamg, const PamgWork *w, PetscReal d[], PolderSparseRows *C)
{
  const PolderRows A = PolderRowsOf(C);
  PolderSparseRows D = {.n = C->n};

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*D.ptr) * (size_t)(C->n + 1), &D.ptr));
  PolderLaunch(PolderCsrDiagonal_CUDA(A.n, A.i, A.j, A.a, d, pamg->stream));
  PolderLaunch(PolderDropWeakCount_CUDA(&A, pamg->drop, d, D.ptr, pamg->stream));
  PolderLaunch(PolderPointers_CUDA(C->n, D.ptr, w->temp, w->bytes, pamg->stream));
  PetscCall(PolderDeviceToHost(&D.nz, D.ptr + C->n, sizeof(D.nz)));
  PetscCall(PolderDeviceMalloc(sizeof(*D.col) * (size_t)D.nz, &D.col));
  PetscCall(PolderDeviceMalloc(sizeof(*D.val) * (size_t)D.nz, &D.val));
  PolderLaunch(PolderDropWeakFill_CUDA(&A, pamg->drop, d, &D, pamg->stream));
  PetscCall(PCPAMGFreeRows(pamg, C));
  *C = D;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the members of each aggregate, which restriction reads */
static PetscErrorCode PamgKeepDevice(const PamgWork *w, PamgLevel *L)
{
  PamgLevel       *C = L + 1;
  PolderAggregates P;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*L->ptr) * (size_t)(L->nc + 2), &L->ptr));
  PetscCall(PolderDeviceMalloc(sizeof(*L->row) * (size_t)L->n, &L->row));
  P = PamgAggregatesOf(L);
  PetscCall(PamgMembersDevice(w, &P));
  if (L->islines) {
    PetscCall(PolderDeviceMalloc(sizeof(*L->ptr) * (size_t)(L->nc + 2), &L->lines.tptr));
    PetscCall(PolderDeviceMalloc(sizeof(*L->row) * (size_t)L->n, &L->lines.trow));
    L->lines.ptr = L->ptr;
    L->lines.row = L->row;
    P            = (PolderAggregates){.m = L->n, .n = L->nc, .agg = L->lines.beside, .ptr = L->lines.tptr, .row = L->lines.trow};
    PetscCall(PamgMembersDevice(w, &P));
  }
  C->csr = (PolderCSR){.m = C->n, .M = C->n, .ai = C->ai, .aj = C->aj, .aa = C->aa, .device = PETSC_TRUE};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factorises a distributed last level on the host */
static PetscErrorCode PamgFactorShared(PC_PAMG *pamg, PamgLevel *L, PetscBool constant)
{
  PolderCSR own;

  PetscFunctionBegin;
  PetscCall(PCPAMGRowsToHost(L, &own));
  PetscCall(PCPAMGFactorRows(pamg, &own, constant));
  PetscCall(PCPAMGFreeRowsOnHost(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgFactorDevice(PC_PAMG *pamg, PetscBool constant)
{
  PamgLevel  *L = &pamg->level[pamg->nlevel - 1];
  PetscInt64 *key;
  PetscInt   *count;

  PetscFunctionBegin;
  if (L->halo) {
    PetscCall(PamgFactorShared(pamg, L, constant));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)L->nz, &key));
  PetscCall(PolderDeviceMalloc(sizeof(*count), &count));
  PolderLaunch(PolderRowsKeys_CUDA(L->n, L->csr.ai, L->csr.aj, key, count, pamg->stream));
  PetscCall(PolderCoarseSetDevice(pamg->coarse, PETSC_TRUE));
  PetscCall(PolderCoarseSetUpDevice(pamg->coarse, L->n, count, key, L->csr.aa, constant));
  PetscCall(PolderDeviceFree(&key));
  PetscCall(PolderDeviceFree(&count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMatrixFromDevice(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel   *L = &pamg->level[l];
  PetscInt    *ai, *aj;
  PetscScalar *aa;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&L->A));
  if (L->halo) {
    PolderCSR own;

    PetscCall(PCPAMGRowsToHost(L, &own));
    PetscCall(PCPAMGMergeRows(&own, &ai, &aj, &aa));
    PetscCall(PCPAMGFreeRowsOnHost(&own));
  } else {
    PetscCall(PetscMalloc1(L->n + 1, &ai));
    PetscCall(PetscMalloc1(L->nz, &aj));
    PetscCall(PetscMalloc1(L->nz, &aa));
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
  PetscCall(PetscFree(ai));
  PetscCall(PetscFree(aj));
  PetscCall(PetscFree(aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the matrix of the last level for a KSP; the first level has its matrix already */
static PetscErrorCode PamgLastMatrixDevice(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  if (pamg->nlevel > 1) PetscCall(PCPAMGMatrixFromDevice(pamg, pamg->nlevel - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device smoothers process rows in any order */
// clang-format off
const PamgSetUpSteps PamgSetUpDevice = {
  .place = &PolderOnDevice, .cycle = {&PamgStepsDevice, &PamgStepsDevice, &PamgStepsDevice}, .where = ", on the device",
  .smoother = PAMG_CHEBYSHEV, .skewsmoother = PAMG_JACOBI, .smoothings = 2, .klevels = PAMG_KLEVELS, .eliminate = 0, .pairslimit = 1100,
  .twicefrom = 4000000, .skewtwicefrom = 30000, .pairstwice = PETSC_FALSE, .splitrhs = PETSC_FALSE,
  .diagonals = PolderMatGetDeviceDia, .restorerows = PolderMatRestoreDeviceCSR,
  .beginlevel = PamgBeginLevelDevice, .rows = PamgRowsDevice, .values = PamgValuesDevice, .colour = PamgColourDevice,
  .coarselevel = PamgCoarseLevelDevice, .firstvalues = PamgFirstValuesDevice, .coarsevalues = PamgCoarseValuesDevice,
  .strong = PCPAMGStrongDevice, .blockrows = PCPAMGBlockRowsDevice, .restoreblockrows = PCPAMGRestoreBlockRowsDevice,
  .keepblocks = PCPAMGKeepBlocksDevice, .shift = PCPAMGShiftDevice,
  .scratch = PamgScratchDevice, .outside = PamgOutsideDevice, .number = PamgNumberDevice, .members = PamgMembersDevice,
  .galerkin = PamgGalerkinDevice, .galerkinvalues = PamgGalerkinValuesDevice, .dropweak = PamgDropWeakDevice, .keep = PamgKeepDevice,
  .aggregated = PCPAMGOuterAggregates, .localexcess = PCPAMGLocalExcessDevice,
  .estimate = PCPAMGEstimateDevice, .factor = PamgFactorDevice, .lastmatrix = PamgLastMatrixDevice, .apply = PCPAMGApplyDevice,
};
// clang-format on
