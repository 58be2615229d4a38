/* Pairwise-aggregation multigrid: a level's local block by diagonals, and its entries as the cycle reads them on the host. */
#include "pamgsetup.h"
#include "mat/aijderived.h"
#include "kernels/dia.h"
#include "kernels/galerkin.h"
#include "kernels/level.h"

PetscErrorCode PCPAMGFindDiagonal(PamgLevel *L)
{
  const PolderCSR *csr = &L->csr;
  PetscInt         at;

  PetscFunctionBegin;
  L->bydiagonals = PETSC_FALSE;
  if (L->diag) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(L->n, &L->diag));
  for (PetscInt i = 0; i < L->n; ++i) {
    PetscCall(PetscFindInt(i, csr->ai[i + 1] - csr->ai[i], csr->aj + csr->ai[i], &at));
    L->diag[i] = csr->ai[i] + at;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PamgIsRegular(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt *nd, PetscInt off[])
{
  const PetscInt most = PamgMostDiagonals(n, n ? ai[n] : 0);

  *nd = 0;
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt d = 0;

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) { // the diagonals are found roughly in the order of the columns
      PetscInt tries = 0;

      for (; tries < *nd && off[d] != aj[k] - i; ++tries) d = d + 1 < *nd ? d + 1 : 0;
      if (tries < *nd) continue;
      if (*nd == most) return PETSC_FALSE;
      off[*nd] = aj[k] - i;
      d        = (*nd)++;
    }
  }
  return PETSC_TRUE;
}

PetscErrorCode PCPAMGPlaceDiagonals(const PC_PAMG *pamg, PamgLevel *L, PolderDia *dia, PetscBool half)
{
  const PetscInt ld = PolderStride(L->n);
  PetscInt       first;

  PetscFunctionBegin;
  dia->half = (PetscBool)(half && 2 * dia->main + 1 == dia->nd);
  for (PetscInt d = 0; d < dia->main && dia->half; ++d) dia->half = (PetscBool)(L->ownoff[d] == -L->ownoff[dia->nd - 1 - d]);
  first = dia->half ? dia->main : 0;
  if (L->half != dia->half) PetscCall(pamg->place->free(&L->rounded)); // its size depends on half
  L->half = dia->half;
  PetscCall(pamg->place->free(&L->ownval));
  PetscCall(PolderPlaceMalloc(pamg->place, (size_t)(dia->nd - first) * (size_t)ld, &L->ownval));
  PamgPointDiagonals(dia->nd, first, L->ownoff, sizeof(*L->ownval), L->ownval, ld, L->val);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of a matrix of another type than aijdia, filled from its rows; *found: they are few enough */
static PetscErrorCode PamgOwnDiagonals(const PC_PAMG *pamg, PamgLevel *L, PolderDia *dia, PetscBool *found)
{
  const PolderCSR *csr   = &L->csr;
  const PetscBool  fresh = (PetscBool)!L->ownoff;
  PetscInt         off[PAMG_DIAGONALS];

  PetscFunctionBegin;
  if (fresh) {
    *found = PamgIsRegular(L->n, csr->ai, csr->aj, &dia->nd, off);
    if (!dia->nd) *found = PETSC_FALSE;
    if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSortInt(dia->nd, off));
    PetscCall(PetscMalloc1(dia->nd, &L->ownoff));
    PetscCall(PetscFree(L->val)); // it may point to rounded diagonals of the matrix
    PetscCall(PetscMalloc1(dia->nd, &L->val));
    PetscCall(PetscArraycpy(L->ownoff, off, dia->nd));
    PetscCall(PetscFindInt(0, dia->nd, L->ownoff, &dia->main));
    PetscCall(PCPAMGPlaceDiagonals(pamg, L, dia, PETSC_TRUE));
  } else {
    dia->nd   = L->M.nd;
    dia->main = L->M.main;
    dia->half = L->half;
    if (!L->ownval) PetscCall(PCPAMGPlaceDiagonals(pamg, L, dia, L->half)); // the cycle reads rounded ones
  }
  dia->m = dia->n = L->n;
  dia->off        = L->ownoff;
  dia->val        = (const PetscScalar *const *)L->val;
  *found          = PolderDiaFill_Host(dia, (PetscScalar *const *)L->val, PolderOwnRows(csr), 0);
  if (!*found && dia->half) { // the matrix is not exactly symmetric
    PetscCall(PCPAMGPlaceDiagonals(pamg, L, dia, PETSC_FALSE));
    *found = PolderDiaFill_Host(dia, (PetscScalar *const *)L->val, PolderOwnRows(csr), 0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds the stored diagonals to single precision; L->val then points to the rounded ones. *fits = PETSC_FALSE when an entry is too large */
static PetscErrorCode PamgRoundDiagonals(PamgLevel *L, const PolderDia *dia, PetscBool *fits)
{
  const PetscInt first = dia->half ? dia->main : 0;
  const void   **val;

  PetscFunctionBegin;
  if (L->rounded && (L->half != dia->half || !L->val)) PetscCall(PetscFree(L->rounded)); // allocated for fewer diagonals, or for rows
  L->half = dia->half;
  if (!L->rounded) PetscCall(PetscCalloc1((size_t)(dia->nd - first) * (size_t)L->n, &L->rounded));
  PetscCall(PetscMalloc1(dia->nd, &val));
  PamgPointDiagonals(dia->nd, first, dia->off, sizeof(float), L->rounded, L->n, val);
  for (PetscInt d = first; d < dia->nd; ++d) {
    const PetscInt lo = PetscMax(0, -dia->off[d]), hi = PetscMin(L->n, L->n - dia->off[d]);

    if (hi > lo && !PolderToSingle_Host((size_t)(hi - lo), dia->val[d] + lo, (float *)val[d] + lo)) *fits = PETSC_FALSE;
  }
  PetscCall(PetscFree(L->ownval));
  PetscCall(PetscFree(L->val));
  L->val = val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGKeepDiagonals(PamgLevel *L)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(L->keptoff));
  PetscCall(PetscMalloc1(L->M.nd, &L->keptoff));
  PetscCall(PetscArraycpy(L->keptoff, L->M.off, L->M.nd));
  L->M.off = L->keptoff;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the diagonals of level L in bfloat16, to which L->val then points, from these: rounded to single precision or, with sums in place of the main one, in
   double precision */
static PetscErrorCode PamgHalveDiagonals(const PC_PAMG *pamg, PamgLevel *L, const void *const from[], const PetscReal sums[], int *bad)
{
  const PetscInt nd = L->M.nd, *off = L->M.off, first = L->half ? L->M.main : 0, ld = PolderStride(L->n);
  PolderHalving  together = {0};
  const void   **val;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, (size_t)(nd - first) * (size_t)ld, &L->halved));
  PetscCall(PetscMalloc1(nd, &val));
  PamgPointDiagonals(nd, first, off, sizeof(*L->halved), L->halved, ld, val);
  for (PetscInt d = first; d < nd; ++d) {
    const PetscInt lo = PetscMax(0, -off[d]), hi = PetscMin(L->n, L->n - off[d]);
    PolderBfloat  *to = (PolderBfloat *)val[d];

    if (hi <= lo) continue;
    if (!sums) {
      PolderRun(pamg->place, PolderToBfloat, (size_t)(hi - lo), (const float *)from[d] + lo, to + lo, bad);
      continue;
    }
    together.n[together.count]   = (size_t)(hi - lo);
    together.v[together.count]   = (d == L->M.main ? sums : (const PetscScalar *)from[d]) + lo;
    together.a[together.count++] = to + lo;
    if (together.count < POLDER_HALVE) continue;
    PolderRun(pamg->place, PolderHalve, &together, bad);
    together.count = 0;
  }
  if (together.count) PolderRun(pamg->place, PolderHalve, &together, bad);
  PetscCall(PetscFree(L->val));
  L->M.val = L->val = val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGHalveEntries(const PC_PAMG *pamg, PamgLevel *L, int *bad)
{
  PetscFunctionBegin;
  PetscCall(pamg->place->free(&L->halved));
  L->M.bfloat = PETSC_TRUE;
  if (L->M.nd) PetscCall(PamgHalveDiagonals(pamg, L, L->val, NULL, bad));
  else {
    PetscCall(PolderPlaceMalloc(pamg->place, (size_t)L->nz, &L->halved));
    PolderRun(pamg->place, PolderToBfloat, (size_t)L->nz, L->rounded, L->halved, bad);
    L->M.aa = L->halved;
  }
  PetscCall(pamg->place->free(&L->rounded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGHalveDiagonals(const PC_PAMG *pamg, PamgLevel *L, const PolderDia *dia, const PetscReal sums[], int *bad)
{
  PetscFunctionBegin;
  PetscCall(pamg->place->free(&L->halved));
  PetscCall(pamg->place->free(&L->rounded));
  L->half     = dia->half;
  L->M.bfloat = PETSC_TRUE;
  PetscCall(PamgHalveDiagonals(pamg, L, (const void *const *)dia->val, sums, bad));
  PetscCall(pamg->place->free(&L->ownval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds the entries to single precision, of diagonals or of rows, and puts the sums of the rows in place of the diagonal entries */
static PetscErrorCode PamgRoundLevel(const PC_PAMG *pamg, PetscInt l, const PolderDia *dia, PetscBool *fits)
{
  PamgLevel       *L     = &pamg->level[l];
  const PolderRows local = PolderOwnRows(&L->csr), ghosts = PolderGhostColumns(&L->csr);
  const PetscInt   nz = L->n ? L->csr.ai[L->n] : 0;
  float           *sums;

  PetscFunctionBegin;
  if (dia) {
    PetscCall(PamgRoundDiagonals(L, dia, fits));
    L->M.val = L->val;
    sums     = (float *)L->val[dia->main];
  } else {
    if (L->val) { // allocated for diagonals
      PetscCall(PetscFree(L->rounded));
      PetscCall(PetscFree(L->val));
    }
    if (!L->rounded) PetscCall(PetscMalloc1(nz, &L->rounded));
    *fits   = PolderToSingle_Host((size_t)nz, L->csr.aa, L->rounded);
    L->M.aa = sums = L->rounded;
  }
  if (dia && PCPAMGSums(pamg, l)) {
    if (!PolderToSingle_Host((size_t)L->n, PCPAMGSums(pamg, l), sums)) *fits = PETSC_FALSE;
  } else if (!PolderRowTotals_Host(&local, ghosts.i ? &ghosts : NULL, (PetscBool)!dia, sums)) *fits = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpValuesHost(PC_PAMG *pamg, PetscInt l, PetscBool *fits)
{
  PamgLevel       *L     = &pamg->level[l];
  const PolderDia *dia   = NULL;
  PolderDia        own   = {0};
  PetscBool        found = PETSC_FALSE;
  int              bad   = 0;

  PetscFunctionBegin;
  if (L->bydiagonals) PetscCall(PolderMatGetDia(L->A, &dia));
  else if (!l) PetscCall(PamgOwnDiagonals(pamg, L, &own, &found));
  if (found) dia = &own;
  if (dia && !dia->nd) dia = NULL; // there are no rows
  L->M = (PolderLevelMatrix){.n    = L->n,
                             .nd   = dia ? dia->nd : 0,
                             .main = dia ? dia->main : 0,
                             .off  = dia ? dia->off : NULL,
                             .val  = dia ? (const void *const *)dia->val : NULL,
                             .ai   = L->csr.ai,
                             .aj   = L->csr.aj,
                             .aa   = L->csr.aa,
                             .diag = L->diag,
                             .dinv = L->dinv};
  if (pamg->precision == PAMG_DOUBLE) {
    L->half = dia ? dia->half : PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (dia) PetscCall(PCPAMGKeepDiagonals(L));
  if (dia && pamg->precision == PAMG_HALF && PCPAMGSums(pamg, l)) PetscCall(PCPAMGHalveDiagonals(pamg, L, dia, PCPAMGSums(pamg, l), &bad));
  else {
    PetscCall(PamgRoundLevel(pamg, l, dia, fits));
    if (pamg->precision == PAMG_HALF) PetscCall(PCPAMGHalveEntries(pamg, L, &bad));
  }
  if (bad) *fits = PETSC_FALSE;
  if (pamg->precision == PAMG_HALF && pamg->smoother == PAMG_SGS) PolderLevelPivotsHalf_Host(&L->M, L->csr.bi, L->csr.ba, (float *)L->dinv);
  PetscFunctionReturn(PETSC_SUCCESS);
}
