/* Pairwise-aggregation multigrid: the set-up steps of a level on the host. Each level but the first wraps its rows into a matrix. */
#include "pamgsetup.h"
#include "pamgsteps.h"
#include "mat/aijderived.h"
#include "mat/symmetry.h"
#include "kernels/excess.h"
#include "kernels/excessrow.h"
#include "kernels/galerkin.h"
#include "kernels/pairs.h"
#include <petsc/private/matimpl.h>

static PetscErrorCode PamgBeginLevelHost(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel  *L = &pamg->level[l];
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(L->comm, &ranks));
  if (l) PetscCall(PolderMatGetCSR(L->A, &L->csr));
  if (ranks > 1) PetscCall(PolderMatGetHalo(L->A, &L->halo));
  L->nz      = L->csr.m ? L->csr.ai[L->csr.m] : 0;
  L->nzouter = L->csr.m && L->csr.bi ? L->csr.bi[L->csr.m] : 0;
  if (!l) {
    const PolderDia *dia;

    PetscCall(PolderMatGetDia(L->A, &dia));
    L->bydiagonals = (PetscBool) !!dia;
  }
  if (!L->bydiagonals) PetscCall(PetscMalloc1(L->csr.m, &L->diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgRowsHost(PC_PAMG *pamg, PetscInt l, PetscBool refresh, PetscInt *row, PolderRowKind *kind)
{
  PamgLevel        *L   = &pamg->level[l];
  const PolderCSR  *csr = &L->csr;
  const PolderRows  A = {.n = L->n, .i = csr->ai, .j = csr->aj, .a = csr->aa}, B = {.n = L->n, .i = csr->bi, .j = csr->bj, .a = csr->ba};
  PolderLevelSurvey survey = PCPAMGSurvey(pamg, l);
  const PetscBool   all    = (PetscBool)(!l || pamg->smoother == PAMG_L1JACOBI || pamg->smoother == PAMG_CHEBYSHEV); // are all entries of a row needed?
  const PolderDia  *dia    = NULL;
  PetscReal        *dinv   = (PetscReal *)L->dinv;

  PetscFunctionBegin;
  if (pamg->precision != PAMG_DOUBLE) PetscCall(PetscMalloc1(L->n, &dinv));
  if (L->bydiagonals) PetscCall(PolderMatGetDia(L->A, &dia));
  if (L->bydiagonals && !dia) PetscCall(PCPAMGFindDiagonal(L));
  survey.diag = L->diag;
  survey.dinv = dinv;
  if (refresh && !all && (L->diag || (dia && dia->main >= 0)))
    *row = PolderLevelDiagonal_Host(L->n, L->diag, L->diag ? csr->aa : dia->val[dia->main], survey.zero, dinv, kind);
  else if (dia && dia->exact && !L->diag && !B.i && PolderLevelDiaRows_Host(dia, &survey, &L->bound)) *row = L->n;
  else *row = PolderLevelRows_Host(&A, B.i ? &B : NULL, &survey, &L->bound, kind);
  if (pamg->precision != PAMG_DOUBLE) {
    for (PetscInt i = 0; i < *row; ++i) ((float *)L->dinv)[i] = (float)dinv[i];
    PetscCall(PetscFree(dinv));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing to prepare: Gauss-Seidel on the host takes the rows in their order */
static PetscErrorCode PamgColourHost(PC_PAMG *pamg, PetscInt l, PetscBool *found)
{
  PetscFunctionBegin;
  (void)pamg, (void)l;
  *found = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C->garray <- the global aggregates of the ghost columns, ascending; L->ghostagg <- the position of each column in garray */
static PetscErrorCode PamgCoarseGhosts(PamgLevel *L, PamgLevel *C)
{
  PetscInt *mine;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(L->n, &mine));
  PetscCall(PetscMalloc1(L->csr.nghost, &L->ghostagg));
  for (PetscInt i = 0; i < L->n; ++i) mine[i] = L->agg[i] < L->nc ? C->rstart + L->agg[i] : -1;
  PetscCall(PolderHaloExchange(L->halo, MPIU_INT, mine, L->ghostagg));
  PetscCall(PCPAMGNumberGhosts(L->csr.nghost, L->ghostagg, C));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops ghosts that only rows outside the next level reference: PETSc numbers the columns that occur, and both numberings must agree */
static PetscErrorCode PamgDropGhosts(PamgLevel *L, PamgLevel *C)
{
  PetscInt *number, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(C->nghost + 1, &number));
  for (PetscInt k = 0; k < C->bi[L->nc]; ++k) number[C->bj[k]] = 1;
  for (PetscInt g = 0; g < C->nghost; ++g) {
    if (!number[g]) continue;
    C->garray[n] = C->garray[g];
    number[g]    = ++n; // number plus one, so that 0 means none
  }
  for (PetscInt k = 0; k < C->bi[L->nc]; ++k) C->bj[k] = number[C->bj[k]] - 1;
  for (PetscInt g = 0; g < L->csr.nghost; ++g) L->ghostagg[g] = number[L->ghostagg[g]] ? number[L->ghostagg[g]] - 1 : n;
  C->nghost = n;
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the off-process block of the next matrix */
static PetscErrorCode PamgCoarseOffDiagonal(PamgLevel *L, PamgLevel *C)
{
  const PolderRows B = PamgScaledEntries(L, PolderGhostColumns(&L->csr));
  PolderAggregates P;
  PetscInt        *place;

  PetscFunctionBegin;
  PetscCall(PamgCoarseGhosts(L, C));
  PetscCall(PCPAMGGetAggregates(L, &P));
  PetscCall(PetscMalloc1(C->nghost, &place));
  PetscCall(PetscMalloc3(L->nc + 1, &C->bi, L->nzouter, &C->bj, L->nzouter, &C->ba));
  (void)PolderGalerkin_Host(&P, &B, C->nghost, L->ghostagg, PETSC_FALSE, place, &(PolderSparseRows){.n = L->nc, .ptr = C->bi, .col = C->bj, .val = C->ba});
  PetscCall(PamgDropGhosts(L, C));
  PetscCall(PetscFree(place));
  PetscCall(PCPAMGRestoreAggregates(L, &P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of this process as the coarsening produced them */
static PolderCSR PamgOwnRows(const PamgLevel *C)
{
  return (PolderCSR){.m      = C->nown,
                     .M      = C->N,
                     .rstart = C->rstart,
                     .nghost = C->nghost,
                     .garray = C->garray,
                     .ai     = C->ai,
                     .aj     = C->aj,
                     .aa     = C->aa,
                     .bi     = C->bi,
                     .bj     = C->bj,
                     .ba     = C->ba};
}

/* Are the rows of level C, which are here, so regular that diagonals take less than their entries? Those of a grid are, if its diagonals are few enough */
static PetscBool PamgCoarseIsRegular(const PamgLevel *C, PetscInt n)
{
  PetscInt nd = 1, off[PAMG_DIAGONALS];

  for (int d = 0; d < 3; ++d) nd += C->grid.size[d] > 1 ? 2 : 0;
  return (PetscBool)((C->gridknown && nd <= PamgMostDiagonals(n, n ? C->ai[n] : 0)) || PamgIsRegular(n, C->ai, C->aj, &nd, off));
}

/* Makes the matrix of level l + 1 around its arrays: of this process, or of all when it is small */
static PetscErrorCode PamgCoarseLevelHost(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel  *L = &pamg->level[l], *C = L + 1;
  MPI_Comm    comm = L->comm;
  PetscMPIInt regular;
  PetscInt    n = C->n, nd, off[PAMG_DIAGONALS];

  PetscFunctionBegin;
  C->nown = n;
  if (L->halo) {
    PetscCallMPI(MPI_Exscan(&n, &C->rstart, 1, MPIU_INT, MPI_SUM, comm));
    PetscCall(PamgCoarseOffDiagonal(L, C));
    PetscCall(PCPAMGMendCoarse(pamg, l));
    if (PamgGathers(pamg, L, C->N)) {
      const PolderCSR own = PamgOwnRows(C);

      PetscCall(PCPAMGGatherRows(comm, &own, C));
      PetscCall(PCPAMGGatherExcess(pamg, comm, C));
      PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, C->N, C->N, C->gi, C->gj, C->ga, &C->A));
      PetscCall(PCPAMGNeedPlaces(pamg));
      PetscCall(PCPAMGGatherPlaces(comm, C, &pamg->gridplace));
      regular = PamgIsRegular(C->N, C->gi, C->gj, &nd, off);
    } else {
      for (PetscInt k = 0; k < C->bi[n]; ++k) C->bj[k] = C->garray[C->bj[k]]; // to global columns, which PETSc converts back
      PetscCall(MatCreateMPIAIJWithSplitArrays(comm, n, n, C->N, C->N, C->ai, C->aj, C->aa, C->bi, C->bj, C->ba, &C->A));
      regular = PamgCoarseIsRegular(C, n);
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &regular, 1, MPI_INT, MPI_MIN, comm));
    }
  } else {
    PetscCall(PCPAMGMendCoarse(pamg, l));
    regular = PamgCoarseIsRegular(C, n);
    PetscCall(MatCreateSeqAIJWithArrays(comm, n, n, C->ai, C->aj, C->aa, &C->A));
  }
  if (pamg->symmetric) PetscCall(MatSetOption(C->A, MAT_SYMMETRIC, PETSC_TRUE)); // to rounding
  PetscCall(MatConvert(C->A, regular ? MATAIJDIA : MATAIJICRS, MAT_INPLACE_MATRIX, &C->A));
  C->bydiagonals = (PetscBool)regular;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks a matrix as changed after its values were overwritten in place, so that MatSOR() drops its cached inverse diagonal */
static PetscErrorCode PamgTouch(Mat A)
{
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArray(A, &values));
  PetscCall(MatSeqAIJRestoreArray(A, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgFirstValuesHost(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  (void)pamg; // the cycle reads them in place
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgCoarseValuesHost(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel       *L = &pamg->level[l], *C = L + 1;
  const PolderRows ghosts = PamgScaledEntries(L, PolderGhostColumns(&L->csr));

  PetscFunctionBegin;
  if (L->isgrid) PetscCall(PCPAMGGridValues(pamg, l));
  else if (L->eliminates) PetscCall(PCPAMGEliminateValues(pamg, l));
  else PetscCall(PCPAMGPairValues(pamg, l));
  if (C->bi) {
    PolderAggregates P;
    PetscInt        *place;

    PetscCall(PCPAMGGetAggregates(L, &P));
    PetscCall(PetscMalloc1(C->nghost, &place));
    PolderGalerkinValues_Host(&P, &ghosts, C->nghost, L->ghostagg, PETSC_FALSE, place,
                              &(PolderSparseRows){.n = L->nc, .ptr = C->bi, .col = C->bj, .val = C->ba});
    PetscCall(PetscFree(place));
    PetscCall(PCPAMGRestoreAggregates(L, &P));
  }
  PetscCall(PCPAMGMendCoarse(pamg, l));
  if (C->gathered) {
    const PolderCSR mine = PamgOwnRows(C);
    PetscScalar    *ga;
    PetscInt        nz;

    PetscCall(PCPAMGGatherValues(L->comm, &mine, &nz, &ga));
    PetscCall(PetscArraycpy(C->ga, ga, nz));
    PetscCall(PetscFree(ga));
    PetscCall(PCPAMGGatherExcess(pamg, L->comm, C));
  }
  PetscCall(PamgTouch(C->csr.diag));
  if (C->csr.diag != C->A) PetscCall(PetscObjectStateIncrease((PetscObject)C->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static size_t PamgScratchHost(PetscInt n)
{
  (void)n;
  return 0;
}

static PetscErrorCode PamgOutsideHost(const PamgLevel *L, PetscReal outside[])
{
  PetscFunctionBegin;
  PolderPairsOutside_Host(L->n, L->csr.bi, L->csr.ba, outside);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgNumberHost(const PC_PAMG *pamg, const PamgWork *w, PetscInt n, const PetscInt join[], PetscInt agg[])
{
  PetscFunctionBegin;
  PolderPairsNumber_Host(n, pamg->mate, join, agg, &w->count->pairs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgMembersHost(const PamgWork *w, const PolderAggregates *P)
{
  PetscFunctionBegin;
  (void)w;
  PolderMembers_Host(P);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C <- P^T A P in arrays of the exact size */
static PetscErrorCode PamgGalerkinHost(const PamgWork *w, const PolderRows *A, const PolderAggregates *P, PolderSparseRows *C, PetscBool *longrows)
{
  PetscInt    *place, *col;
  PetscScalar *val;

  PetscFunctionBegin;
  (void)w;
  *longrows = PETSC_FALSE;
  PetscCall(PetscMalloc3(C->n, &place, A->nz, &col, A->nz, &val));
  C->nz = PolderGalerkin_Host(P, A, P->n, P->agg, PETSC_TRUE, place, &(PolderSparseRows){.n = C->n, .ptr = C->ptr, .col = col, .val = val});
  PetscCall(PetscMalloc1(C->nz, &C->col));
  PetscCall(PetscMalloc1(C->nz, &C->val));
  PetscCall(PetscArraycpy(C->col, col, C->nz));
  PetscCall(PetscArraycpy(C->val, val, C->nz));
  PetscCall(PetscFree3(place, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgGalerkinValuesHost(const PC_PAMG *pamg, const PolderAggregates *P, const PolderRows *A, const PamgLevel *C, PetscScalar val[])
{
  PetscInt *place;

  PetscFunctionBegin;
  (void)pamg;
  PetscCall(PetscMalloc1(P->n, &place));
  PolderGalerkinValues_Host(P, A, P->n, P->agg, PETSC_TRUE, place, &(PolderSparseRows){.n = P->n, .ptr = C->ai, .col = C->aj, .val = val});
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgDropWeakHost(const PC_PAMG *pamg, const PamgWork *w, PetscReal d[], PolderSparseRows *C)
{
  PetscFunctionBegin;
  (void)w;
  C->nz = PolderDropWeak_Host(C->n, pamg->drop, d, C->ptr, C->col, C->val);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgKeepHost(const PamgWork *w, PamgLevel *L)
{
  PetscFunctionBegin;
  (void)w, (void)L; // restriction uses agg[], and the rows are wrapped into a matrix later
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgAggregatedHost(PC_PAMG *pamg, PetscInt l)
{
  PetscFunctionBegin;
  (void)pamg, (void)l; // the aggregates are on the host
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For all rows, from the sums of the entries to rows outside all aggregates and of the other off-process entries */
static PetscErrorCode PamgLocalExcessHost(const PamgLevel *L, const PamgLevel *C, PetscReal excess[], PetscReal here[])
{
  const PetscInt n = L->nc;
  PetscReal     *lone, *outer;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(2 * n, &lone, 2 * n, &outer));
  for (PetscInt a = 0; a < n; ++a) {
    for (PetscInt k = C->bi[a]; k < C->bi[a + 1]; ++k) PolderExcessAdd(PetscRealPart(C->ba[k]), outer + 2 * a);
  }
  for (PetscInt i = 0; i < L->n; ++i) {
    for (PetscInt k = L->csr.bi[i]; L->agg[i] < n && k < L->csr.bi[i + 1]; ++k) {
      if (L->ghostagg[L->csr.bj[k]] >= C->nghost) PolderExcessAdd(PetscRealPart(L->csr.ba[k]), lone + 2 * L->agg[i]);
    }
  }
  PolderExcessLeave_Host(n, lone, outer, excess, here);
  PetscCall(PetscFree2(lone, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgFactorHost(PC_PAMG *pamg, PetscBool constant)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFactorRows(pamg, &pamg->level[pamg->nlevel - 1].csr, constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgLastMatrixHost(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  (void)pamg; // every level has a matrix
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host steps process rows in order: sequential smoothers, and a K-cycle on all levels */
// clang-format off
const PamgSetUpSteps PamgSetUpHost = {
  .place = &PolderOnHost, .cycle = {&PamgStepsDouble, &PamgStepsSingle, &PamgStepsHalf}, .where = "",
  .smoother = PAMG_SGS, .skewsmoother = PAMG_SGS, .smoothings = 1, .klevels = PETSC_MAX_INT, .eliminate = 3, .pairslimit = PAMG_COARSE_LIMIT,
  .twicefrom = 30000, .skewtwicefrom = 30000, .pairstwice = PETSC_TRUE, .splitrhs = PETSC_TRUE,
  .diagonals = PolderMatGetDia, .symmetric = PolderMatBlockSymmetric, .restorerows = PolderMatRestoreCSR,
  .beginlevel = PamgBeginLevelHost, .rows = PamgRowsHost, .values = PCPAMGSetUpValuesHost, .colour = PamgColourHost,
  .coarselevel = PamgCoarseLevelHost, .firstvalues = PamgFirstValuesHost, .coarsevalues = PamgCoarseValuesHost,
  .strong = PCPAMGStrongHost, .blockrows = PCPAMGBlockRowsHost, .restoreblockrows = PCPAMGRestoreBlockRowsHost,
  .keepblocks = PCPAMGKeepBlocksHost, .shift = PCPAMGShiftHost,
  .scratch = PamgScratchHost, .outside = PamgOutsideHost, .number = PamgNumberHost, .members = PamgMembersHost,
  .galerkin = PamgGalerkinHost, .galerkinvalues = PamgGalerkinValuesHost, .dropweak = PamgDropWeakHost, .keep = PamgKeepHost,
  .aggregated = PamgAggregatedHost, .localexcess = PamgLocalExcessHost,
  .estimate = PCPAMGEstimateHost, .factor = PamgFactorHost, .lastmatrix = PamgLastMatrixHost, .apply = PCPAMGApplyHost,
};
// clang-format on
