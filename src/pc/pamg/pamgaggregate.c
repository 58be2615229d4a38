/* Pairwise-aggregation multigrid: aggregates of the rows of a level and the rows of the next, on the host or on the device. */
#include "pamgsetup.h"
#include "kernels/galerkin.h"
#include "kernels/labels.h"
#include "kernels/outer.h"
#include "kernels/pairs.h"
#include "kernels/quality.h"

/* The greedy matching treats rows with more strong neighbours than this alike */
#define PAMG_DEGREE 64
/* On a grid, up to this fraction of the rows may stay single so that the coarse rows form a grid too */
#define PAMG_ALONE 0.15
/* When a pass leaves more than this fraction of the rows, single rows join a pair: the rows of a star have no other way to be aggregated */
#define PAMG_POOR 0.58
/*
  When a pass leaves more than this fraction of the rows of a process whose neighbours are mostly on other processes, the couplings to other processes are
  ignored: otherwise there would be no coarse level
*/
#define PAMG_SCATTERED 0.75
/* What an elimination leaves has couplings of all sizes: its aggregates meet this part of the bound for others */
#define PAMG_CORE 0.5
/* The bound of dense rows in units of their entries. Two rows of k equal couplings have a condition number of k, and some have more entries than others */
#define PAMG_DENSE 1.25

PetscErrorCode PCPAMGFreeRows(const PC_PAMG *pamg, PolderSparseRows *R)
{
  PetscFunctionBegin;
  PetscCall(pamg->place->free(&R->ptr));
  PetscCall(pamg->place->free(&R->col));
  PetscCall(pamg->place->free(&R->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMallocJudged(PC_PAMG *pamg, PetscInt n)
{
  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, n, &pamg->mate));
  if (!(pamg->kappa > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceMalloc(pamg->place, n, &pamg->diagonal));
  PetscCall(PolderPlaceMalloc(pamg->place, n, &pamg->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFreeJudged(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(pamg->place->free(&pamg->mate));
  PetscCall(pamg->place->free(&pamg->diagonal));
  PetscCall(pamg->place->free(&pamg->sum));
  PetscCall(PCPAMGFreeSkew(pamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGetAggregates(const PamgLevel *L, PolderAggregates *P)
{
  PetscFunctionBegin;
  *P = PamgAggregatesOf(L);
  if (L->ptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(L->nc + 2, &P->ptr, L->n, &P->row));
  PolderMembers_Host(P);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGRestoreAggregates(const PamgLevel *L, PolderAggregates *P)
{
  PetscFunctionBegin;
  if (!L->ptr) PetscCall(PetscFree2(P->ptr, P->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgWorkCreate(const PC_PAMG *pamg, const PamgLevel *L, PamgWork *w)
{
  const PolderPlace *place = pamg->place;
  const PetscInt     n     = L->n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  PetscCall(PolderPlaceMalloc(place, n, &w->next));
  for (int b = 0; b < 2; ++b) PetscCall(PolderPlaceMalloc(place, n, &w->left[b]));
  PetscCall(PolderPlaceMalloc(place, n, &w->agg));
  PetscCall(PolderPlaceMalloc(place, n + 2, &w->ptr));
  PetscCall(PolderPlaceMalloc(place, n, &w->row));
  if (pamg->matching == PAMG_GREEDY) PetscCall(PolderPlaceMalloc(place, 3 * (size_t)n + PAMG_DEGREE + 1, &w->greedy));
  PetscCall(PolderPlaceMalloc(place, 1, &w->count));
  if (L->halo) {
    for (int b = 0; b < 2; ++b) PetscCall(PolderPlaceMalloc(place, n, &w->outside[b]));
    PetscCall(PolderPlaceMalloc(place, n, &w->mate));
    PetscCall(pamg->setup->outside(L, w->outside[0]));
  }
  if (pamg->kappa > 0) PetscCall(PolderPlaceMalloc(place, n, &w->whole));
  w->bytes = pamg->setup->scratch(n);
  PetscCall(place->malloc(w->bytes, &w->temp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgWorkDestroy(const PC_PAMG *pamg, PamgWork *w)
{
  void **const array[] = {(void **)&w->next,   (void **)&w->left[0],  (void **)&w->left[1],    (void **)&w->agg,        (void **)&w->ptr,  (void **)&w->row,
                          (void **)&w->greedy, (void **)&w->count,    (void **)&w->outside[0], (void **)&w->outside[1], (void **)&w->mate, &w->temp,
                          (void **)&w->whole,  (void **)&w->diagonal, (void **)&w->sum};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(array); ++k) PetscCall(pamg->place->free(array[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the aggregates: agg[], and their number; *nfree: the rows that were free after a round along a direction, if there was one. NULL: not requested */
static PetscErrorCode PamgNumber(const PC_PAMG *pamg, const PamgWork *w, PetscInt n, const PetscInt join[], PetscInt agg[], PetscInt *nc, PetscInt *nfree)
{
  PetscInt found[2];

  PetscFunctionBegin;
  PetscCall(pamg->setup->number(pamg, w, n, join, agg));
  PetscCall(PolderPlaceTake(pamg->place, nfree ? 2 : 1, &w->count->pairs, found));
  *nc = found[0];
  if (nfree) *nfree = found[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets pamg->gridplace to the grid coordinates of the pairs */
static PetscErrorCode PamgMovePlaces(PC_PAMG *pamg, const PamgWork *w, PetscInt n, const PetscInt join[], const PetscInt agg[], PetscInt nc)
{
  PetscInt64 *place;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, nc, &place));
  PolderRun(pamg->place, PolderPairsNextPlaces, n, pamg->mate, join, agg, w->count->direction, pamg->gridplace, place);
  PetscCall(pamg->place->free(&pamg->gridplace));
  pamg->gridplace = place;
  if (!nc) PetscCall(PolderPlaceMalloc(pamg->place, 1, &pamg->gridplace)); // NULL means: no grid
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a pass makes */
typedef struct {
  PetscInt *agg, n;  /* the aggregate of each row, and their number */
  PetscInt *join;    /* for each row the pair that it joined; NULL: joining was not requested */
  PetscBool regular; /* the pairs line up in a grid */
} PamgMade;

/*
  The bound for the aggregates of a level, 0 for none. Rows of many equal entries have no aggregate that meets a fixed bound, and smoothing does more there than
  it promises
*/
static PetscReal PamgBound(const PC_PAMG *pamg, const PamgLevel *L)
{
  const PetscReal kappa   = (pamg->tight || PamgEliminatedAbove(pamg, (PetscInt)(L - pamg->level)) ? PAMG_CORE : 1) * pamg->kappa;
  const PetscReal entries = (PetscReal)(L->nz + (L->halo ? L->nzouter : 0)); // of a gathered level the same on all processes

  return kappa > 0 ? PetscMax(kappa, PAMG_DENSE * entries / PetscMax(L->n, 1)) : 0;
}

/* With fewer single rows than this, of n, the pairs line up in a grid */
static PetscInt PamgFewSingle(PetscInt n)
{
  return (PetscInt)PetscCeilReal(PAMG_ALONE * (PetscReal)n);
}

/*
  Pairs the rows of A by a rule, starting from mate[]. *along: on a grid there was a round along a direction, and where few rows were free after it, these are
  single; w->count knows how many they were
*/
static PetscErrorCode PamgMatch(PC_PAMG *pamg, const PamgWork *w, const PolderRows *A, const PolderPairRule *rule, PetscBool *along)
{
  const PetscInt  n       = A->n;
  PetscInt *const left[2] = {w->left[1], w->left[0]}, *mate = pamg->mate, *direction = w->count->direction, *nfree = &w->count->free;
  PolderRowList   rows = {n, NULL};

  PetscFunctionBegin;
  *along = PETSC_FALSE;
  if (pamg->matching == PAMG_GREEDY) {
    PolderPairsGreedy_Host(A, rule, PetscMin(PAMG_DEGREE, n - 1), mate, w->greedy);
    if (rule->place) PolderPairsDirections_Host(n, rule, mate, direction);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *along = (PetscBool)(rule->place && n);
  if (*along) {
    PolderRun(pamg->place, PolderPairsPropose, A, rows, rule, mate, w->next);
    PolderRun(pamg->place, PolderPairsDirections, n, rule, w->next, direction);
    PolderRun(pamg->place, PolderPairsAlign, A, rule, direction, mate, w->next);
    PolderRun(pamg->place, PolderPairsMatch, rows, w->next, mate, w->left[0], nfree);
    rows.row = w->left[0];
    PolderRun(pamg->place, PolderPairsRounds, A, rows, nfree, PamgFewSingle(n), rule, PAMG_PAIR_ROUNDS - 1, mate, w->next, left, w->count->seen);
  } else PolderRun(pamg->place, PolderPairsRounds, A, rows, NULL, 0, rule, PAMG_PAIR_ROUNDS, mate, w->next, left, w->count->seen);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Undoes the pairs or, with join[], what joined them, of those of the *nc aggregates of a pass over n rows that do not meet the bound as aggregates of rows of
  the level, and numbers the rest
*/
static PetscErrorCode PamgJudge(PC_PAMG *pamg, const PamgWork *w, const PamgLevel *L, PetscBool first, PetscInt n, PetscInt join[], PetscInt agg[],
                                PetscInt *nc)
{
  const PolderQuality quality = {PamgBound(pamg, L), !first, (PetscBool)(join != NULL), first ? pamg->diagonal : w->diagonal, first ? pamg->sum : w->sum};
  PolderAggregates    P       = {L->n, *nc, agg, w->ptr, w->row, w->left[1]};
  PetscInt           *bad     = w->left[0];

  PetscFunctionBegin;
  if (!first) {
    PolderRun(pamg->place, PolderPairsCompose, L->n, n, agg, *nc, L->agg, w->whole);
    P.agg = w->whole;
  }
  PetscCall(pamg->setup->members(w, &P)); // left[] are scratch, of which left[1] keeps the positions of the rows
  if (join) {                             // what no row has joined has been judged, or is a pair that meets the bound
    PetscCall(pamg->place->zero(bad, sizeof(*bad) * (size_t)*nc));
    PolderRun(pamg->place, PolderQualityJoined, n, join, agg, bad);
  }
  PolderRun(pamg->place, PolderQualityCheck, &P, &w->level, &quality, bad);
  PolderRun(pamg->place, PolderQualityUndo, n, agg, *nc, bad, pamg->mate, join);
  PetscCall(PamgNumber(pamg, w, n, join, agg, nc, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The aggregates of a pass over the rows of A by a rule, starting from mate[]: agg[] and their number. *join: for each row the pair that it joined, NULL when
  joining was not requested. *regular: the pairs line up in a grid
*/
static PetscErrorCode PamgJoin(PC_PAMG *pamg, const PamgWork *w, const PamgLevel *L, const PolderRows *A, PolderPairRule rule, PamgMade *made)
{
  const PetscInt  n     = A->n;
  const PetscBool first = (PetscBool)(made->agg == L->agg), judged = (PetscBool)(rule.kappa > 0);
  PetscBool       along, aligned;
  PetscInt        nfree;

  PetscFunctionBegin;
  rule.d = judged ? pamg->diagonal : NULL;
  rule.s = judged ? pamg->sum : NULL;
  PetscCall(PamgMatch(pamg, w, A, &rule, &along));
  PetscCall(PamgNumber(pamg, w, n, NULL, made->agg, &made->n, along ? &nfree : NULL));
  aligned       = (PetscBool)(along && nfree < PamgFewSingle(n));
  made->join    = NULL;
  made->regular = pamg->matching == PAMG_GREEDY && rule.place ? PETSC_TRUE : aligned;
  if (judged && !first) PetscCall(PamgJudge(pamg, w, L, first, n, NULL, made->agg, &made->n));
  if (aligned || made->n < PAMG_POOR * n) PetscFunctionReturn(PETSC_SUCCESS);
  made->join = w->next;
  PolderRun(pamg->place, PolderPairsJoin, A, &rule, pamg->mate, made->join);
  PetscCall(PamgNumber(pamg, w, n, made->join, made->agg, &made->n, NULL));
  if (judged) PetscCall(PamgJudge(pamg, w, L, first, n, made->join, made->agg, &made->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  One pass over the rows of A, starting from mate[] and gridplace[] (NULL: no grid) of pamg. Two rows meet the bound exactly if PolderPairGood() says so;
  two aggregates meet half of it for vectors that are constant on each, and are judged as one afterwards. Rows whose couplings to other processes are
  ignored meet half
*/
static PetscErrorCode PamgPairs(PC_PAMG *pamg, const PamgWork *w, const PamgLevel *L, const PolderRows *A, PamgMade *made)
{
  const size_t    bytes = sizeof(*pamg->mate) * (size_t)A->n;
  const PetscReal bound = PamgBound(pamg, L);
  PolderPairRule  rule  = {.place     = pamg->gridplace,
                           .threshold = pamg->threshold,
                           .lines     = L->islines,
                           .kappa     = made->agg == L->agg ? bound : bound / 2,
                           .outside   = w->outside[0]};

  PetscFunctionBegin;
  if (rule.outside) PetscCall(pamg->place->copy(w->mate, pamg->mate, bytes));
  PetscCall(PamgJoin(pamg, w, L, A, rule, made));
  if (rule.outside && made->n >= PAMG_SCATTERED * A->n) {
    PetscCall(pamg->place->copy(pamg->mate, w->mate, bytes));
    rule.outside = NULL;
    rule.kappa   = bound / 2;
    PetscCall(PamgJoin(pamg, w, L, A, rule, made));
  }
  if (rule.place) PetscCall(PamgMovePlaces(pamg, w, A->n, made->join, made->agg, made->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A lower bound for the off-process couplings of the nc pairs of a pass, whose rows are in ptr[] and row[] */
static PetscErrorCode PamgNextOutside(const PC_PAMG *pamg, PamgWork *w, PetscInt nc)
{
  PetscReal *now = w->outside[0];

  PetscFunctionBegin;
  PolderRun(pamg->place, PolderPairsNextOutside, nc, w->ptr, w->row, now, w->outside[1]);
  w->outside[0] = w->outside[1];
  w->outside[1] = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgCoarseRows(const PC_PAMG *pamg, const PamgWork *w, const PolderRows *A, const PetscInt agg[], PetscInt nc, PolderSparseRows *C,
                                     PetscBool *longrows)
{
  const PolderAggregates P = {.m = A->n, .n = nc, .agg = agg, .ptr = w->ptr, .row = w->row};

  PetscFunctionBegin;
  *C = (PolderSparseRows){.n = nc};
  PetscCall(pamg->setup->members(w, &P));
  PetscCall(PolderPlaceMalloc(pamg->place, nc + 1, &C->ptr));
  PetscCall(pamg->setup->galerkin(w, A, &P, C, longrows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the interpolation of level L along lines between the nc aggregates of its rows A, and the rows of the next level */
static PetscErrorCode PamgLinesRows(const PC_PAMG *pamg, const PamgWork *w, PamgLevel *L, PolderRows A, PetscInt nc, PolderSparseRows *C, PetscBool *longrows)
{
  const PolderAggregates P = {.m = A.n, .n = nc, .agg = L->agg, .ptr = w->ptr, .row = w->row};
  PetscScalar           *scaled;

  PetscFunctionBegin;
  PetscCall(pamg->setup->members(w, &P));
  PetscCall(PCPAMGMakeLines(pamg, L, &P, &A, PETSC_FALSE, &scaled));
  A.a = scaled;
  PetscCall(PamgCoarseRows(pamg, w, &A, L->agg, nc, C, longrows));
  PetscCall(pamg->place->free(&scaled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves weak entries to the diagonal */
static PetscErrorCode PamgDropWeak(const PC_PAMG *pamg, const PamgWork *w, PolderSparseRows *C)
{
  PetscReal *d;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, C->n, &d));
  PetscCall(pamg->setup->dropweak(pamg, w, d, C));
  PetscCall(pamg->place->free(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Recomputes the values of the local block of level l + 1, whose rows are sums over the aggregates of level l */
PetscErrorCode PCPAMGPairValues(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel       *L = &pamg->level[l], *C = L + 1;
  PolderRows       A      = PamgLevelRows(L);
  PetscScalar     *scaled = NULL;
  PolderAggregates P;

  PetscFunctionBegin;
  PetscCall(PCPAMGGetAggregates(L, &P));
  if (L->islines) {
    PolderRows along = PCPAMGRowsToPair(pamg, L); // PCPAMGLinesHold() has made its skew

    PetscCall(PCPAMGMakeLines(pamg, L, &P, &along, PETSC_TRUE, &scaled));
    along.a = scaled;
    if (pamg->symmetric) A = along;
    else {
      PetscCall(PolderPlaceMalloc(pamg->place, C->ownnz, &pamg->skew.soft));
      PetscCall(pamg->setup->galerkinvalues(pamg, &P, &along, C, pamg->skew.soft));
    }
  }
  PetscCall(pamg->setup->galerkinvalues(pamg, &P, &A, C, C->aa));
  PetscCall(PCPAMGSoften(pamg, l));
  PetscCall(PCPAMGFreeSkew(pamg));
  PetscCall(pamg->place->free(&scaled));
  PetscCall(PCPAMGRestoreAggregates(L, &P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data that bound the condition number of two aggregates: sums over the nc pairs of a pass, whose rows are in ptr[] and row[]; keeps those of the level */
static PetscErrorCode PamgNextJudged(PC_PAMG *pamg, PamgWork *w, PetscInt nc)
{
  const PolderAggregates P = {.n = nc, .ptr = w->ptr, .row = w->row};
  PetscReal             *diagonal, *sum;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, nc, &diagonal));
  PetscCall(PolderPlaceMalloc(pamg->place, nc, &sum));
  PolderRun(pamg->place, PolderMemberSums, &P, pamg->diagonal, pamg->sum, diagonal, sum);
  if (!w->sum) {
    w->diagonal = pamg->diagonal;
    w->sum      = pamg->sum;
  } else {
    PetscCall(pamg->place->free(&pamg->diagonal));
    PetscCall(pamg->place->free(&pamg->sum));
  }
  pamg->diagonal = diagonal;
  pamg->sum      = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last pass over the rows of the symmetric part has made aggregates: the next level has the rows of P^T A P, in the same pattern */
static PetscErrorCode PamgSkewRows(PC_PAMG *pamg, const PamgWork *w, const PamgLevel *L, PolderSparseRows *C, PetscBool *longrows)
{
  const PetscInt nc = C->n;

  PetscFunctionBegin;
  if (pamg->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  if (L->islines) {
    pamg->skew.soft = C->val;
    C->val          = NULL;
  }
  PetscCall(PCPAMGFreeRows(pamg, C));
  PetscCall(PamgCoarseRows(pamg, w, &pamg->skew.rows, L->agg, nc, C, longrows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Aggregates of up to 2^passes rows of level l and the local block of the next matrix. Each pass pairs the rows of the matrix that the pass before has made;
  interpolation along lines has one.
  mate[], gridplace[] and the other arrays of pamg begin as those of the level and are updated by each pass.
*/
PetscErrorCode PCPAMGAggregate(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel       *L = &pamg->level[l], *C = L + 1;
  PolderRows       A    = PCPAMGRowsToPair(pamg, L);
  PolderSparseRows made = {0}, next; // by the last pass, of which A is a view after the first, and by this one
  PamgWork         w;
  PetscInt         passes;

  PetscFunctionBegin;
  PetscCall(PCPAMGNeedPlaces(pamg));
  passes = L->islines ? 1 : pamg->passes;
  PetscCall(PamgWorkCreate(pamg, L, &w));
  w.level = A;
  for (PetscInt pass = 0; pass < passes; ++pass) {
    PamgMade pairs = {.agg = pass ? w.agg : L->agg};

    if (pass) PolderRun(pamg->place, PolderIndexFill, A.n, POLDER_PAIR_FREE, pamg->mate);
    PetscCall(PamgPairs(pamg, &w, L, &A, &pairs));
    if (L->islines) PetscCall(PamgLinesRows(pamg, &w, L, A, pairs.n, &next, &C->longrows));
    else PetscCall(PamgCoarseRows(pamg, &w, &A, pairs.agg, pairs.n, &next, &C->longrows));
    L->pass[pass] = (PamgPass){A.n, A.nz - A.n, pairs.n, next.nz - pairs.n, !pairs.regular};
    if (pamg->sum && pass + 1 < passes) PetscCall(PamgNextJudged(pamg, &w, pairs.n));
    if (w.outside[0]) PetscCall(PamgNextOutside(pamg, &w, pairs.n));
    if (pass) PolderRun(pamg->place, PolderPairsCompose, L->n, A.n, pairs.agg, pairs.n, L->agg, L->agg);
    PetscCall(PCPAMGFreeRows(pamg, &made));
    made = next;
    A    = PolderRowsOf(&made);
  }
  PetscCall(PamgSkewRows(pamg, &w, L, &made, &C->longrows));
  for (PetscInt pass = passes; pass < pamg->passes; ++pass) L->pass[pass] = (PamgPass){A.n, A.nz - A.n, A.n, A.nz - A.n, 0};
  if (pamg->drop > 0) PetscCall(PamgDropWeak(pamg, &w, &made));
  L->nc = C->n = made.n;
  C->nz = C->ownnz = made.nz;
  C->ai            = made.ptr;
  C->aj            = made.col;
  C->aa            = made.val;
  PetscCall(pamg->setup->aggregated(pamg, l));
  PetscCall(pamg->setup->keep(&w, L));
  PetscCall(PamgWorkDestroy(pamg, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
