/*
  Pairwise-aggregation multigrid: the set-up of the hierarchy, and its refresh when only values have changed. The place of the levels is chosen once, in this
  file; the steps that differ between places are in a table.
*/
#include "pamgsetup.h"
#include "pamgsteps.h"
#include "mat/aijderived.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* Coarsening stops when a level has more than this fraction of the rows of the level before */
#define PAMG_STALL 0.9
/* Part of the excess of energy that the factor of a coarse correction takes back */
#define PAMG_OVERCORRECTION 0.95
/* The least factor of a pass whose couplings merge as on a mesh: where e nears s, constants on aggregates of any shape are still too stiff */
#define PAMG_STIFF 1.125

/*
  Levels are on the device when the rows of each process are there. Exceptions: the greedy matching is sequential, some matrices have no colouring for
  Gauss-Seidel, and rows are eliminated on the host where the user wants that
*/
PetscErrorCode PCPAMGGetRows(PC pc, const PamgSetUpSteps **steps, PolderCSR *csr)
{
  const PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  if (pamg->given) *csr = pamg->given->csr;
  else PetscCall(PolderMatGetCSRAlike(pc->pmat, (PetscBool)(pamg->matching != PAMG_GREEDY && !PamgOnlyHost(pamg)), csr));
  *steps = csr->device ? &PamgSetUpDevice : &PamgSetUpHost; // the only choice of the place
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFirstDiagonals(const PC_PAMG *pamg, const PolderDia **dia)
{
  PetscFunctionBegin;
  *dia = NULL;
  if (!pamg->given) PetscCall((*pamg->setup->diagonals)(pamg->level->A, dia));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCPAMGSetPlace(PC_PAMG *pamg, const PamgSetUpSteps *steps)
{
  const PetscInt smoothings = pamg->wantsmoother < 0 ? steps->smoothings : 1;

  pamg->setup       = steps;
  pamg->place       = steps->place;
  pamg->smoother    = pamg->wantsmoother >= 0 ? (PamgSmoother)pamg->wantsmoother : pamg->symmetric ? steps->smoother : steps->skewsmoother;
  pamg->pre         = pamg->wantpre >= 0 ? pamg->wantpre : smoothings;
  pamg->post        = pamg->wantpost >= 0 ? pamg->wantpost : smoothings;
  pamg->klevels     = pamg->wantk >= 0 ? pamg->wantk : steps->klevels;
  pamg->eliminate   = pamg->wanteliminate >= 0 ? pamg->wanteliminate : steps->eliminate;
  pamg->coarselimit = pamg->wantlimit >= 0 ? pamg->wantlimit : PAMG_COARSE_LIMIT;
  pamg->tight       = PETSC_FALSE;
  PCPAMGUsePrecision(pamg, pamg->wantprecision >= 0 ? (PamgPrecision)pamg->wantprecision : PAMG_DOUBLE);
}

void PCPAMGUsePrecision(PC_PAMG *pamg, PamgPrecision precision)
{
  pamg->precision = precision;
  pamg->steps     = pamg->setup->cycle[precision];
}

/*
  Half precision for grids, as far as the pattern, the sizes and some rows tell: what all values say is known when the first level has its boxes or lines.
  Elsewhere rounding has not been shown to be harmless
*/
static PetscErrorCode PamgChoosePrecision(PC_PAMG *pamg)
{
  const PamgLevel *L = pamg->level;

  PetscFunctionBegin;
  if (!pamg->narrow || !L->gridknown || !pamg->grids || !pamg->symmetric || L->csr.M <= pamg->coarselimit || pamg->maxlevels <= 1)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!pamg->place->device) PetscCall(PCPAMGGridSample(pamg));
  if (pamg->narrow) PCPAMGUsePrecision(pamg, PAMG_HALF);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets sizes, rows and entries of level l */
static PetscErrorCode PamgBeginLevel(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel *L = &pamg->level[l];

  PetscFunctionBegin;
  L->comm = !l ? PetscObjectComm((PetscObject)L->A) : L->gathered ? PETSC_COMM_SELF : L[-1].comm;
  if (!l) {
    L->n = L->csr.m;
    L->N = L->csr.M;
    PetscCall(PCPAMGFindGrid(pamg, L));
    PetscCall(PamgChoosePrecision(pamg));
  }
  L->singleprecision = (PetscBool)(pamg->precision != PAMG_DOUBLE);
  PetscCall(pamg->setup->beginlevel(pamg, l));
  L->n = L->csr.m;
  L->N = L->csr.M;
  PetscCall(pamg->place->malloc(PamgValueSize(pamg) * (size_t)(L->n + 1), &L->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgFindExcess(PC pc)
{
  PetscBool constant;

  PetscFunctionBegin;
  PetscCall(PCPAMGHasConstant(pc, &constant));
  PetscCall(PCPAMGFindExcess((PC_PAMG *)pc->data, constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The factor by which the couplings of the next level are too strong for smooth vectors, from the counts of each pass. In a pass that makes aggregates of s
  rows on average, e couplings on average make one of the next rows: it has their sum, but is s times as long and e times as wide, so it should be e / s of it.
  Where e is near one, as in trees, most parts of the graph are sums of aggregates, whose energy is right.
*/
static PetscReal PamgExcessOfEnergy(PetscInt passes, const PamgPass pass[])
{
  PetscReal factor = 1;

  for (PetscInt k = 0; k < passes; ++k) {
    const PetscReal merged = (PetscReal)(pass[k].rows - pass[k].nextrows);
    const PetscReal e      = pass[k].nextcouplings ? ((PetscReal)pass[k].couplings - 2 * merged) / (PetscReal)pass[k].nextcouplings : 1;
    const PetscReal s      = pass[k].nextrows ? (PetscReal)pass[k].rows / (PetscReal)pass[k].nextrows : 1;

    if (e > 1) factor *= PetscPowReal(PetscMax(s / e, PAMG_STIFF), PetscMin(1, 2 * (e - 1)));
  }
  return factor;
}

/* *count <- the number of aggregates of all processes. Sets the factor of the correction, unless the aggregates of all form a grid */
static PetscErrorCode PamgCountAggregates(const PC_PAMG *pamg, PamgLevel *L, PetscInt64 *count)
{
  PamgPass   all[PAMG_PASSES];
  PetscInt64 irregular = 0;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(all, L->pass, pamg->passes));
  PetscCallAllreduce(MPI_IN_PLACE, all, (PetscMPIInt)(pamg->passes * (PetscInt)(sizeof(*all) / sizeof(PetscInt64))), MPIU_INT64, MPI_SUM, L->comm);
  for (PetscInt k = 0; k < pamg->passes; ++k) irregular += all[k].irregular;
  *count            = all[pamg->passes - 1].nextrows;
  L->overcorrection = irregular ? PetscMax(1, PAMG_OVERCORRECTION * PamgExcessOfEnergy(pamg->passes, all)) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregates level l; *worth: the aggregates are few enough for another level, whose rows then exist */
static PetscErrorCode PamgAggregate(PC pc, PetscInt l, PetscBool *worth)
{
  PC_PAMG   *pamg = (PC_PAMG *)pc->data;
  PamgLevel *L = &pamg->level[l], *C = L + 1;
  PetscInt64 count = 0, before = L->N;
  PetscBool  done, chains;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, L->n, &L->agg));
  PetscCall(PCPAMGGridAggregate(pamg, l, &count, &done));
  if (!done) {
    PetscCall(PCPAMGHasChains(pamg, l, &chains));
    if (chains && pamg->eliminate && pamg->place->device) { // the set-up starts again on the host
      pamg->chains = PETSC_TRUE;
      *worth       = PETSC_FALSE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (chains && pamg->eliminate) PetscCall(PCPAMGEliminate(pamg, l, &count, &done));
  }
  if (!done && !pamg->symmetric) {
    PetscBool found;

    PetscCall(PCPAMGFindSkew(pamg, L, &found));
    if (!found) { // the set-up starts again on the host
      pamg->onesided = PETSC_TRUE;
      *worth         = PETSC_FALSE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (!done) PetscCall(PCPAMGFindLines(pamg, l));
  if (!l && pamg->precision == PAMG_HALF && !PamgInterpolates(L)) pamg->narrow = PETSC_FALSE;
  if (!PamgNeedsDouble(pamg) && !done) {
    PetscCall(PCPAMGAggregate(pamg, l));
    PetscCall(PamgCountAggregates(pamg, L, &count));
    PetscCall(PCPAMGSoften(pamg, l));
  }
  if (!l && pamg->precision == PAMG_HALF && pamg->narrow) PetscCall(PCPAMGGridNarrow(pamg));
  if (PamgNeedsDouble(pamg)) { // the set-up starts again
    *worth = PETSC_FALSE;
    PetscCall(PCPAMGFreeLevel(pamg, C, PETSC_FALSE));
    PetscCall(PetscMemzero(C, sizeof(*C)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCPAMGFreeJudged(pamg));
  *worth = (PetscBool)(count && ((PetscReal)count <= PAMG_STALL * (PetscReal)before || (L->halo && PamgGathers(pamg, L, count)))); // a whole one has more pairs
  C->N   = (PetscInt)count;
  if (*worth) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "No coarser level: %" PetscInt64_FMT " aggregates of %" PetscInt64_FMT " rows\n", count, before));
  PetscCall(PCPAMGFreeLevel(pamg, C, PETSC_FALSE));
  PetscCall(PetscMemzero(C, sizeof(*C)));
  PetscCall(PCPAMGFreeLines(pamg, &L->lines));
  L->islines = PETSC_FALSE;
  PetscCall(pamg->place->free(&L->agg));
  PetscCall(pamg->place->free(&L->order));
  PetscCall(PetscFree(L->colour));
  pamg->stalled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The findings of all levels: none so far */
static PetscErrorCode PamgClearFindings(PC_PAMG *pamg)
{
  PamgFindings none[PAMG_LEVELS + 1];

  PetscFunctionBegin;
  for (PetscInt l = 0; l <= PAMG_LEVELS; ++l) none[l] = PamgNothing;
  PetscCall(pamg->place->free(&pamg->findings));
  PetscCall(PolderPlaceUpload(pamg->place, sizeof(none), none, &pamg->findings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows and entries of level l */
static PetscErrorCode PamgSetUpEntries(PC pc, PetscInt l, PetscBool refresh)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGSetUpRows(pc, l, refresh));
  if (!pc->failedreason) PetscCall(PCPAMGSetUpValues(pc, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The most rows of a last level: a level of pairs takes longer to set up than one of boxes, and on a device a product with an inverse of a thousand rows takes
  less time than a level
*/
static PetscInt PamgCoarseLimit(const PC_PAMG *pamg, PetscInt l)
{
  return pamg->wantlimit < 0 && l && !pamg->level[l - 1].isgrid ? pamg->setup->pairslimit : pamg->coarselimit;
}

/* Sets up level l and makes the rows of the next one; *last: there is no next level */
static PetscErrorCode PamgSetUpLevel(PC pc, PetscInt l, PetscBool *last)
{
  PC_PAMG   *pamg  = (PC_PAMG *)pc->data;
  PamgLevel *L     = &pamg->level[l];
  PetscBool  found = PETSC_TRUE, worth = PETSC_FALSE, sound = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PamgBeginLevel(pamg, l));
  *last = (PetscBool)(L->N <= PamgCoarseLimit(pamg, l) || l + 1 >= pamg->maxlevels);
  if (!*last) PetscCall(PCPAMGMallocJudged(pamg, L->n));
  if (!l) PetscCall(PCPAMGMallocExcess(pamg));
  L->ahead = (PetscBool)(!*last && PCPAMGMayRunAhead(pamg, L));
  PetscCall(PamgSetUpEntries(pc, l, PETSC_FALSE));
  if (L->ahead) PetscCall(PCPAMGGridAhead(pamg, l, &sound));
  if (!sound) PetscCall(PamgSetUpEntries(pc, l, PETSC_FALSE));
  if (pc->failedreason || PamgNeedsDouble(pamg)) *last = PETSC_TRUE;
  else if (!l) PetscCall(PamgFindExcess(pc));
  if (*last) PetscFunctionReturn(PETSC_SUCCESS);
  if (L->gridknown && !PamgKeepsGrid(L)) PetscCall(PCPAMGFindGrid(pamg, L)); // the parts of a gathered level need not line up
  if (pamg->smoother == PAMG_SGS) PetscCall(pamg->setup->colour(pamg, l, &found));
  if (!found) pamg->uncoloured = *last = PETSC_TRUE;
  if (*last) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGSetUpBlocks(pamg, L, PETSC_FALSE));
  PetscCall(PamgAggregate(pc, l, &worth));
  if (worth) {
    PetscCall(pamg->setup->coarselevel(pamg, l));
    PetscCall(PCPAMGBorderPlanes(pamg, l));
  } else *last = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the hierarchy from the rows of the first level */
static PetscErrorCode PamgBuild(PC pc)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PetscBool last = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PamgClearFindings(pamg));
  while (!last) {
    const PetscInt l = pamg->nlevel++;

    PetscCall(PamgSetUpLevel(pc, l, &last));
  }
  PetscCall(PCPAMGFreePlaces(pamg));
  if (pc->failedreason || PamgNeedsDouble(pamg)) PetscFunctionReturn(PETSC_SUCCESS);
  PCPAMGChooseVisits(pamg);
  PetscCall(PCPAMGSetUpWork(pamg));
  ++pamg->nsetup;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The new rows and entries of level l. With sums of rows at hand, a level in half precision takes one kernel instead of two for each of its diagonals. The host
  sums rows where it rounds them
*/
static PetscErrorCode PamgRefreshEntries(PC pc, PetscInt l)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  if (l && pamg->kappa > 0 && pamg->place->device && pamg->precision != PAMG_DOUBLE) PetscCall(PolderPlaceMalloc(pamg->place, pamg->level[l].n, &pamg->sum));
  PetscCall(PamgSetUpEntries(pc, l, PETSC_TRUE));
  PetscCall(pamg->place->free(&pamg->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts new values into the existing levels, where `ahead` allows it without waiting for what is found of them; *holds = PETSC_FALSE: they need others */
static PetscErrorCode PamgRefreshLevels(PC pc, PetscBool ahead, PetscBool *holds)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  *holds = PETSC_TRUE;
  PetscCall(PamgClearFindings(pamg));
  PetscCall(pamg->setup->firstvalues(pamg));
  PetscCall(PCPAMGMallocExcess(pamg));
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    pamg->level[l].ahead = (PetscBool)(ahead && PCPAMGMayRunAhead(pamg, &pamg->level[l]));
    PetscCall(PamgRefreshEntries(pc, l));
    if (PamgNeedsDouble(pamg)) *holds = PETSC_FALSE;
    if (pc->failedreason || !*holds) PetscFunctionReturn(PETSC_SUCCESS);
    if (!l) {
      PetscCall(PamgFindExcess(pc));
      PetscCall(PCPAMGGridHolds(pamg, holds));
      if (!*holds) PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (l + 1 < pamg->nlevel) {
      if (pamg->level[l].islines) PetscCall(PCPAMGLinesHold(pamg, &pamg->level[l], holds));
      if (!*holds) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(PCPAMGSetUpBlocks(pamg, &pamg->level[l], PETSC_TRUE));
      PetscCall(pamg->setup->coarsevalues(pamg, l));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What has been found of the levels that ran ahead; *sound = PETSC_FALSE: one of them has to be looked at step by step */
static PetscErrorCode PamgTakeFindings(PC_PAMG *pamg, PetscBool *sound)
{
  PamgFindings found[PAMG_LEVELS + 1];
  PetscBool    any = PETSC_FALSE;

  PetscFunctionBegin;
  *sound = PETSC_TRUE;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) any = (PetscBool)(any || pamg->level[l].ahead);
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceTake(pamg->place, pamg->nlevel, pamg->findings, found));
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    if (!pamg->level[l].ahead) continue;
    pamg->level[l].bound = found[l].bound;
    if (!PamgSound(&found[l])) *sound = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts new values into the existing levels; *holds = PETSC_FALSE: they need others */
static PetscErrorCode PamgRefresh(PC pc, PetscBool *holds)
{
  PC_PAMG  *pamg  = (PC_PAMG *)pc->data;
  PetscBool sound = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PamgRefreshLevels(pc, PETSC_TRUE, holds));
  if (!pc->failedreason && *holds) PetscCall(PamgTakeFindings(pamg, &sound));
  if (!sound) PetscCall(PamgRefreshLevels(pc, PETSC_FALSE, holds));
  if (!pc->failedreason && *holds) ++pamg->nrefresh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Logs the flops of a set-up without those of eigenvalue estimates and of the last level's solver. A new hierarchy sums each row (2 an entry); every set-up
  inverts the diagonal and adds entries up to those of the next level
*/
static PetscErrorCode PamgLogSetUp(const PC_PAMG *pamg, PetscBool refresh)
{
  PetscLogDouble flops = 0;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    const PamgLevel     *L       = &pamg->level[l];
    const PetscLogDouble entries = PamgLocalEntries(L);

    flops += (refresh ? 0 : 2 * entries) + L->n + (l + 1 < pamg->nlevel ? entries : 0);
  }
  PetscCall(pamg->place->logflops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up the smoothers' bounds, the solver of the last level and the second visits */
static PetscErrorCode PamgSetUpSolvers(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  if (pamg->smoother == PAMG_CHEBYSHEV) PetscCall(pamg->setup->estimate(pc));
  PetscCall(PCPAMGSetUpCoarse(pc));
  if (!pc->failedreason) PetscCall(PCPAMGSetLengths(pamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collects the inputs that the set-up from these rows depends on */
static PetscErrorCode PamgFindKeys(PC pc, const PolderCSR *csr, const PolderPlace *place, PamgKeys *keys)
{
  MatType type;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(keys, sizeof(*keys)));
  PetscCall(PetscObjectGetId((PetscObject)csr->diag, &keys->blocks[0]));
  if (csr->offdiag) PetscCall(PetscObjectGetId((PetscObject)csr->offdiag, &keys->blocks[1]));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &keys->mat));
  PetscCall(MatGetNonzeroState(pc->pmat, &keys->nonzerostate));
  keys->place = place;
  if (place->device) {
    PetscCall(MatGetType(pc->pmat, &type));
    PetscCall(PetscStrncpy(keys->type, type, sizeof(keys->type)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the levels from the rows of the matrix, in place of those that there are; in double precision after a first one that has found this necessary */
static PetscErrorCode PamgRebuild(PC pc, const PamgSetUpSteps *steps, const PolderCSR *csr)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  pamg->narrow   = (PetscBool)(pamg->wantprecision < 0 && !pamg->linear);
  pamg->doubtful = PETSC_FALSE;
  do {
    PetscCall(PCPAMGFree(pamg));
    PCPAMGSetPlace(pamg, steps);
    PetscCall(PetscCalloc1(PAMG_LEVELS + 1, &pamg->level));
    pamg->level[0].A   = pc->pmat;
    pamg->level[0].csr = *csr;
    PetscCall(PamgBuild(pc));
    if (PamgNeedsDouble(pamg)) PetscCall(PetscInfo(pc, "Half precision does not do for this matrix: the set-up starts again in double precision\n"));
  } while (PamgNeedsDouble(pamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpLevels(PC pc)
{
  PC_PAMG              *pamg   = (PC_PAMG *)pc->data;
  const PetscBool       before = PamgOnlyHost(pamg);
  const PamgSetUpSteps *steps  = NULL;
  PolderCSR             csr;
  PamgKeys              now;
  PetscBool             refresh;

  PetscFunctionBegin;
  PetscCall(PCPAMGGetRows(pc, &steps, &csr));
  PetscCall(PamgFindKeys(pc, &csr, steps->place, &now));
  PetscCall(PetscMemcmp(&now, &pamg->keys, sizeof(now), &refresh));
  refresh = (PetscBool)(refresh && pamg->reuse);
  if (refresh) {
    pamg->level[0].csr = csr;
    PetscCall(PamgRefresh(pc, &refresh));
  }
  if (!refresh) PetscCall(PamgRebuild(pc, steps, &csr));
  PetscCall(PamgLogSetUp(pamg, refresh));
  if (PamgOnlyHost(pamg) && pamg->given) pc->failedreason = PC_SETUP_ERROR; // there are no others
  else if (PamgOnlyHost(pamg) && !before) {
    PetscCall(PetscInfo(pc, "The rows of level %" PetscInt_FMT " %s: all levels go to the host\n", pamg->nlevel - 1,
                        pamg->chains     ? "have few neighbours and are eliminated there"
                        : pamg->onesided ? "have entries without a partner"
                                         : "have no colours for Gauss-Seidel"));
    PetscCall(steps->restorerows(pc->pmat, &pamg->level[0].csr));
    PetscCall(PCPAMGSetUpLevels(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pc->failedreason) PetscCall(PamgSetUpSolvers(pc));
  PetscCall(PCPAMGFreeExcess(pamg));
  PetscCall(pamg->place->free(&pamg->findings));
  PetscCall(steps->restorerows(pc->pmat, &pamg->level[0].csr));
  if (pc->failedreason) PetscCall(PCPAMGFree(pamg));
  else pamg->keys = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}
