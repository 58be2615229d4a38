/* Pairwise-aggregation multigrid: levels whose rows form a 5- or 7-point stencil on a grid, which need no matching and interpolate linearly. */
#include "pamgsetup.h"
#include "kernels/dia.h"
#include "kernels/labels.h"
#include "kernels/level.h"
#include "kernels/levelgridrow.h"
#include "kernels/pairs.h"
#include "kernels/places.h"

/* A direction is weak in a row when its couplings are below this part of the strongest one */
#define PAMG_GRID_WEAK 0.25
/* A box falls into parts where strongly coupled cells have less than this part of their coupling within it */
#define PAMG_GRID_SPLIT 0.02
/* A direction is coarsened when it is weak in at most this part of the rows, and left alone when it is in the others; in between there are no boxes */
#define PAMG_GRID_MIXED 0.05
/* Boxes are made while they are at most this part of the rows */
#define PAMG_GRID_FEWER 0.75

/*
  Half precision is chosen when the ratio of the largest to the smallest diagonal entry, times the cells of the longest direction, is at most this. A rounding
  error of single precision in a region of large coefficients, times these, must stay below what smooth vectors have of the residual where coefficients are
  small: one part in the length of the grid. PAMG_NARROW_WIDE: for V-cycles whose result is in double precision, see PamgWritesWide()
*/
#define PAMG_NARROW      2e7
#define PAMG_NARROW_WIDE 6e8
/* Beyond this bound half precision is tried where neighbours in a line differ by no more than this factor. Then PCPAMGSlowest() decides */
#define PAMG_SMOOTH 1e4
/* and when the diagonal entries lie between this and its inverse, so that single precision has room for the vectors */
#define PAMG_NARROW_SCALE 1e18
/* Rows whose diagonal tells on the host, before a set-up in half precision is made, that it will not do */
#define PAMG_SAMPLE 4000

PetscErrorCode PCPAMGFreePlaces(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(pamg->place->free(&pamg->gridplace));
  pamg->boxes = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGNeedPlaces(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  if (pamg->gridplace || !pamg->boxes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceMalloc(pamg->place, PetscMax(1, pamg->boxes->nc), &pamg->gridplace));
  PolderRun(pamg->place, PolderLevelGridPlaces, pamg->boxes, pamg->gridplace);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the cells of this process lie, for the grid with the strides near[]; first: the number of its first row in that grid. thin[] stays */
static void PamgPlaceGrid(PetscInt n, PetscInt first, const PetscInt near[3], PolderLevelGrid *G)
{
  const PetscBool planes = (PetscBool)(near[2] > near[1]);
  const int       thin[] = {G->thin[0], G->thin[1], G->thin[2]};

  *G = (PolderLevelGrid){
    .n = n, .size = {near[1], 1, 1},
         .shift = first % (planes ? near[2] : near[1])
  };
  if (planes) {
    G->size[1] = near[2] / near[1];
    G->size[2] = (G->shift + n + near[2] - 1) / near[2];
  } else G->size[1] = (G->shift + n + near[1] - 1) / near[1];
  for (int d = 0; d < 3; ++d) G->thin[d] = thin[d];
}

/* The offsets of the diagonals of a level, if they are known: for the first one those of the matrix */
static PetscErrorCode PamgKnownOffsets(const PC_PAMG *pamg, const PamgLevel *L, PetscInt *nd, const PetscInt *off[])
{
  const PolderDia *dia = NULL;

  PetscFunctionBegin;
  if (L == pamg->level) PetscCall(PCPAMGFirstDiagonals(pamg, &dia));
  *nd  = dia ? dia->nd : L->M.nd;
  *off = dia ? dia->off : L->M.off;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFindGrid(PC_PAMG *pamg, PamgLevel *L)
{
  const PolderCSR *csr  = &L->csr;
  const PetscInt   most = 1 << POLDER_PAIR_BITS, n = csr->m, *off = NULL;
  PetscInt         nd      = 0;
  PetscInt         near[4] = {0, PETSC_MAX_INT, 0, 0}, *there;
  PetscInt64      *place;
  PetscMPIInt      found = PETSC_FALSE, ranks;
  PetscBool        stencil;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(L->comm, &ranks));
  PetscCall(PamgKnownOffsets(pamg, L, &nd, &off));
  PetscCall(PolderPlaceMalloc(pamg->place, 4, &there));
  if (nd) PolderStencilStrides_Host(1, (PetscInt[]){0, nd}, off, near); // as of one row with these offsets as columns
  else {
    PetscCall(PolderPlacePut(pamg->place, 4, near, there));
    PolderRun(pamg->place, PolderStencilStrides, n, csr->ai, csr->aj, there);
    PetscCall(PolderPlaceTake(pamg->place, 3, there, near));
  }
  if (near[1] > near[2]) near[1] = near[2] = PetscMax(n, 2); // a single line
  stencil = (PetscBool)(nd > 0);
  for (PetscInt d = 0; d < nd; ++d) {
    if (PolderPairHeading(off[d], near) == POLDER_PAIR_ASTRAY) stencil = PETSC_FALSE;
  }
  if (near[0] && !(near[2] % near[1]) && near[1] < most && near[2] / near[1] < most) {
    PetscCall(PolderPlaceMalloc(pamg->place, n, &place));
    for (int own = 0; own < 2 && !found; ++own) {
      const PetscInt first = own ? 0 : csr->rstart;
      PetscInt       bad   = 0;

      PetscCall(PolderPlacePut(pamg->place, 1, &bad, there));
      PolderRun(pamg->place, PolderGridPlaces, n, first, stencil, csr->ai, csr->aj, near, place, there);
      PetscCall(PolderPlaceTake(pamg->place, 1, there, &bad));
      found = bad ? PETSC_FALSE : PETSC_TRUE;
      if (found) PamgPlaceGrid(n, first, near, &L->grid);
      L->along = near[2] > near[1] ? 2 : 1;
      if (!csr->rstart) break;
    }
    if (found) {
      PetscCall(PCPAMGFreePlaces(pamg));
      pamg->gridplace = place;
    } else PetscCall(pamg->place->free(&place));
  }
  PetscCall(pamg->place->free(&there));
  if (!n) {
    found   = PETSC_TRUE;
    L->grid = (PolderLevelGrid){
      .size = {1, 1, 1}
    };
  }
  if (ranks > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MIN, L->comm));
  L->gridknown = (PetscBool)found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of a level whose cells are known */
static PolderLevelGridEntries PamgGridEntries(const PamgLevel *L)
{
  const PolderLevelMatrix *M = &L->M;
  PolderLevelGridEntries   A = {.single = L->singleprecision, .bfloat = M->bfloat, .ai = M->nd ? NULL : M->ai, .aj = M->aj, .aa = M->aa};

  for (int d = 0; d < 3; ++d) {
    for (PetscInt k = 0; k < M->nd && L->grid.size[d] > 1; ++k) {
      if (M->off[k] == PolderLevelGridStride(L->grid.size, d)) A.up[d] = M->val[k];
    }
  }
  return A;
}

/* The findings of level l <- the counts of PolderLevelGridSurvey_Host() on this process. mate = NULL: no row is left out */
static PetscErrorCode PamgFindWeak(PC_PAMG *pamg, PetscInt l, const PetscInt mate[])
{
  PamgLevel                   *L    = &pamg->level[l];
  const PolderLevelGridEntries A    = PamgGridEntries(L);
  const PolderLevelGridRule    rule = {.weak = PAMG_GRID_WEAK, .mate = mate, .excess = l ? NULL : pamg->excess};

  PetscFunctionBegin;
  PolderRun(pamg->place, PolderLevelGridSurvey, &L->grid, &A, &rule, pamg->findings[l].count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The findings of level l <- the number of boxes of this process that fall into parts */
static PetscErrorCode PamgFindSplit(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel                   *L    = &pamg->level[l];
  const PolderLevelGridEntries A    = PamgGridEntries(L);
  const PolderLevelGridRule    rule = {.split = PAMG_GRID_SPLIT, .mate = pamg->mate};

  PetscFunctionBegin;
  PolderRun(pamg->place, PolderLevelGridSplit, &L->grid, &A, &rule, &pamg->findings[l].split);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The counts over all processes */
static PetscErrorCode PamgSurveyGrid(PC_PAMG *pamg, PetscInt l, const PetscInt mate[], PetscInt64 count[])
{
  PamgLevel *L = &pamg->level[l];

  PetscFunctionBegin;
  if (!L->ahead) {
    PetscCall(PamgFindWeak(pamg, l, mate));
    PetscCall(PolderPlaceTake(pamg->place, POLDER_LEVELGRID_COUNTS, pamg->findings[l].count, L->found.count));
  }
  for (int k = 0; k < POLDER_LEVELGRID_COUNTS; ++k) count[k] = L->found.count[k];
  if (L->halo) PetscCallAllreduce(MPI_IN_PLACE, count, POLDER_LEVELGRID_COUNTS, MPIU_INT64, MPI_SUM, L->comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells of the longest direction over all processes, whose parts are slabs or boxes of alike shape: at most those of either */
static PetscReal PamgLongest(const PamgLevel *L)
{
  const PetscInt *size = L->grid.size, longest = PetscMax(size[0], PetscMax(size[1], size[2]));
  const int       last  = size[2] > 1 ? 2 : 1;
  const PetscReal parts = (PetscReal)L->N / (PetscReal)PetscMax(1, L->n);

  if (!L->n) return 0;
  return PetscMin(PetscMax((PetscReal)longest, (PetscReal)size[last] * parts), (PetscReal)longest * PetscPowReal(parts, 1.0 / (last + 1)));
}

/* pamg->narrow and pamg->doubtful, from PolderLevelSpan() for the inverse diagonal of this process */
static PetscErrorCode PamgJudgeSpan(PC_PAMG *pamg, const PetscInt span[3])
{
  const PamgLevel *L     = pamg->level;
  const PetscBool  wide  = (PetscBool)(pamg->cycle == PC_PAMG_CYCLE_V && pamg->smoother != PAMG_SGS && pamg->post > 0);
  PetscInt64       all[] = {-span[0], span[1], span[2], (PetscInt64)PamgLongest(L)};
  PetscReal        least, most, jump;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, all, 4, MPIU_INT64, MPI_MAX, L->comm);
  least          = (PetscReal)PolderFromBits((int)-all[0]);
  most           = (PetscReal)PolderFromBits((int)all[1]);
  jump           = (PetscReal)PolderFromBits((int)all[2]);
  pamg->doubtful = (PetscBool) !(most * (PetscReal)all[3] <= (wide ? PAMG_NARROW_WIDE : PAMG_NARROW) * least);
  if (!(most < PAMG_NARROW_SCALE && least > 1 / PAMG_NARROW_SCALE) || (pamg->doubtful && (pamg->broad || jump > PAMG_SMOOTH))) pamg->narrow = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGridNarrow(PC_PAMG *pamg)
{
  const PamgLevel *L       = pamg->level;
  PetscInt         span[3] = {PETSC_MAX_INT, 0, 0}, *there;

  PetscFunctionBegin;
  PetscCall(PolderPlaceUpload(pamg->place, sizeof(span), span, &there));
  PolderRun(pamg->place, PolderLevelSpan, L->n, L->grid.size[0], (const float *)L->dinv, L->agg, L->nc, there);
  PetscCall(PolderPlaceFetch(pamg->place, sizeof(span), &there, span));
  PetscCall(PamgJudgeSpan(pamg, span));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse of the diagonal entry; 0: a row without couplings is in no box */
static float PamgSampleRow(const PolderCSR *csr, PetscInt i)
{
  PetscReal diagonal = 0, others = 0;

  for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
    if (csr->aj[k] == i) diagonal = PetscAbsScalar(csr->aa[k]);
    else others += PetscAbsScalar(csr->aa[k]);
  }
  return diagonal > 0 && others > 0 ? (float)(1 / diagonal) : 0;
}

PetscErrorCode PCPAMGGridSample(PC_PAMG *pamg)
{
  const PolderCSR *csr     = &pamg->level->csr;
  const PetscInt   step    = csr->m / PAMG_SAMPLE + 1;
  PetscInt         span[3] = {INT_MAX, 0, 0};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < csr->m; i += step) {
    const float inverse = PamgSampleRow(csr, i);

    if (!(inverse > 0)) continue;
    span[0] = PetscMin(span[0], PolderBits(inverse));
    span[1] = PetscMax(span[1], PolderBits(inverse));
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
      const float next = csr->aj[k] == i + 1 ? PamgSampleRow(csr, i + 1) : 0;

      if (next > 0) span[2] = PetscMax(span[2], PolderBits(PetscMax(inverse / next, next / inverse)));
    }
  }
  PetscCall(PamgJudgeSpan(pamg, span));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGridHolds(PC_PAMG *pamg, PetscBool *holds)
{
  PetscInt64 count[POLDER_LEVELGRID_COUNTS];

  PetscFunctionBegin;
  *holds = PETSC_TRUE;
  if (!PamgInterpolates(pamg->level)) PetscFunctionReturn(PETSC_SUCCESS);
  if (pamg->level->isgrid) {
    PetscCall(PamgSurveyGrid(pamg, 0, NULL, count));
    *holds = (PetscBool)!count[4];
  }
  if (pamg->wantprecision >= 0 || pamg->precision == PAMG_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGGridNarrow(pamg));
  if (PamgNeedsDouble(pamg)) *holds = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PCPAMGMayRunAhead(const PC_PAMG *pamg, const PamgLevel *L)
{
  return (PetscBool)(pamg->place->device && L > pamg->level && !L->halo && PamgKeepsGrid(L) && L->gridknown && pamg->grids && pamg->symmetric &&
                     pamg->precision == PAMG_HALF && pamg->smoother != PAMG_SGS);
}

PetscErrorCode PCPAMGGridAhead(PC_PAMG *pamg, PetscInt l, PetscBool *sound)
{
  PamgLevel *L = &pamg->level[l];

  PetscFunctionBegin;
  for (int d = 0; d < 3; ++d) L->grid.join[d] = 1;
  PolderLevelGridCoarsen(&L->grid);
  PetscCall(PamgFindWeak(pamg, l, pamg->mate));
  PetscCall(PamgFindSplit(pamg, l));
  PetscCall(PolderPlaceTake(pamg->place, 1, &pamg->findings[l], &L->found));
  *sound = PamgSound(&L->found);
  if (*sound) L->bound = L->found.bound;
  else {
    L->ahead = PETSC_FALSE;
    PetscCall(PamgForget(pamg, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *count <- the number of boxes of all processes, negative if one of them falls into parts */
static PetscErrorCode PamgCountBoxes(PC_PAMG *pamg, PetscInt l, PetscInt64 *count)
{
  PamgLevel      *L      = &pamg->level[l];
  const PetscBool joined = (PetscBool)(L->grid.join[0] && L->grid.join[1] && L->grid.join[2]);
  PetscInt64      all[2];

  PetscFunctionBegin;
  if (!L->ahead || !joined) {
    if (L->ahead) PetscCall(PamgForget(pamg, l));
    PetscCall(PamgFindSplit(pamg, l));
    PetscCall(PolderPlaceTake(pamg->place, 1, &pamg->findings[l].split, &L->found.split));
  }
  all[0] = L->grid.nc;
  all[1] = L->found.split;
  if (L->halo) PetscCallAllreduce(MPI_IN_PLACE, all, 2, MPIU_INT64, MPI_SUM, L->comm);
  *count = all[1] ? -1 : all[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses the directions in which level l is coarsened; *worth: there are some, and boxes are few enough for another level */
static PetscErrorCode PamgChooseBoxes(PC_PAMG *pamg, PetscInt l, PetscInt64 *boxes, PetscBool *worth)
{
  PamgLevel *L = &pamg->level[l];
  PetscInt64 count[POLDER_LEVELGRID_COUNTS];
  PetscReal  few, many;

  PetscFunctionBegin;
  *worth = PETSC_FALSE;
  if (!L->gridknown || !pamg->grids || !pamg->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgSurveyGrid(pamg, l, pamg->mate, count));
  if (count[4] || !count[3]) PetscFunctionReturn(PETSC_SUCCESS);
  few  = PAMG_GRID_MIXED * (PetscReal)count[3];
  many = (1 - PAMG_GRID_MIXED) * (PetscReal)count[3];
  for (int d = 0; d < 3; ++d) {
    L->grid.join[d] = (PetscReal)count[d] <= few;
    if (!L->grid.join[d] && (PetscReal)count[d] < many) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PolderLevelGridCoarsen(&L->grid);
  PetscCall(PamgCountBoxes(pamg, l, boxes));
  *worth = (PetscBool)(*boxes > 0 && (PetscReal)*boxes <= PAMG_GRID_FEWER * (PetscReal)L->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weights of level l and the rows of level l + 1, whose excess replaces that of level l */
static PetscErrorCode PamgGridRows(PC_PAMG *pamg, PetscInt l, PetscBool pattern)
{
  PamgLevel                   *L = &pamg->level[l], *C = L + 1;
  const PolderLevelGridEntries A = PamgGridEntries(L);
  PolderLevelGridRows          R = {.agg = L->agg, .excess = pamg->excess, .size = pamg->magnitude, .ci = C->ai, .cj = C->aj, .ca = C->aa, .pattern = pattern};

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, L->nc, &R.coarse));
  PetscCall(PolderPlaceMalloc(pamg->place, L->nc, &R.coarsesize));
  PolderRun(pamg->place, PolderLevelGridWeights, &L->grid, &A, L->agg);
  PetscCall(PCPAMGBorderValues(pamg, L, &A));
  PolderRun(pamg->place, PolderLevelGridCoarseRows, &L->grid, &A, &R);
  PetscCall(PCPAMGFreeExcess(pamg));
  pamg->excess    = R.coarse;
  pamg->magnitude = R.coarsesize;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGridAggregate(PC_PAMG *pamg, PetscInt l, PetscInt64 *count, PetscBool *done)
{
  const PolderPlace *place = pamg->place;
  PamgLevel         *L = &pamg->level[l], *C = L + 1;

  PetscFunctionBegin;
  PetscCall(PamgChooseBoxes(pamg, l, count, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  L->isgrid = PETSC_TRUE;
  L->nc = C->n = L->grid.nc;
  C->nz        = PolderLevelGridCoarseEntries(&L->grid, C->n);
  PolderRun(place, PolderLevelGridBoxes, &L->grid, pamg->mate, L->agg);
  PetscCall(PCPAMGFindBorder(pamg, l));
  PetscCall(pamg->setup->aggregated(pamg, l));
  PetscCall(PolderPlaceMalloc(place, L->n, &L->grid.w));
  PetscCall(PolderPlaceMalloc(place, C->n + 1, &C->ai));
  PetscCall(PolderPlaceMalloc(place, C->nz, &C->aj));
  PetscCall(PolderPlaceMalloc(place, C->nz, &C->aa));
  if (!C->n) PetscCall(place->zero(C->ai, sizeof(*C->ai)));
  PetscCall(PamgGridRows(pamg, l, PETSC_TRUE));
  PetscCall(PCPAMGBorderExchanges(pamg, l, *count)); // while the device works
  C->csr  = (PolderCSR){.m = C->n, .M = C->n, .ai = C->ai, .aj = C->aj, .aa = C->aa, .device = place->device};
  C->grid = (PolderLevelGrid){
    .n = C->n, .size = {L->grid.csize[0], L->grid.csize[1], L->grid.csize[2]},
         .shift = L->grid.cshift
  };
  for (int d = 0; d < 3; ++d) C->grid.thin[d] = L->grid.thin[d] || (L->grid.join[d] && L->grid.size[d] % 2);
  C->gridknown = PETSC_TRUE;
  C->along     = L->along;
  PetscCall(PCPAMGFreePlaces(pamg));
  pamg->boxes = &L->grid;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGridValues(PC_PAMG *pamg, PetscInt l)
{
  PetscFunctionBegin;
  PetscCall(PamgGridRows(pamg, l, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
