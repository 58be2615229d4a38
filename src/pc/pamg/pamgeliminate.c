/* Pairwise-aggregation multigrid: levels of which rows with few neighbours are eliminated, so that no aggregate has to resolve chains and trees. */
#include "pamgsetup.h"

/* Two neighbours: a row of a chain. Rows are eliminated where at least this part of the rows of all processes are such, or have fewer neighbours */
#define PAMG_CHAIN      2
#define PAMG_CHAIN_PART 0.2
/* At most so many entries a row, the diagonal one among them: mostly chains and trees */
#define PAMG_TREE 4
/* Rounds go on while a round eliminates this part of the rows of a process */
#define PAMG_ROUND_PART 0.05
#define PAMG_ROUNDS     64
/* What is left must have at most this part of the entries. In graphs with hubs eliminated rows leave many, and pairs take fewer */
#define PAMG_LEFT_PART 0.6

static inline PetscBool PamgMayEliminate(const PC_PAMG *pamg, PetscInt l)
{
  return (PetscBool)(!l || PamgEliminatedAbove(pamg, l));
}

PetscErrorCode PCPAMGHasChains(PC_PAMG *pamg, PetscInt l, PetscBool *chains)
{
  const PamgLevel *L       = &pamg->level[l];
  const PetscBool  asked   = (PetscBool)(pamg->eliminate > 0 || pamg->wanteliminate < 0); // do chains and trees make a difference?
  PetscBool        allowed = PamgMayEliminate(pamg, l);
  PetscInt         here, *there;
  PetscInt64       sum[2];

  PetscFunctionBegin;
  *chains = PETSC_FALSE;
  if (!allowed || !asked || (L->gridknown && !pamg->grids) || !pamg->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  here = 0;
  PetscCall(PolderPlaceUpload(pamg->place, sizeof(here), &here, &there));
  PolderRun(pamg->place, PolderShortRows, L->n, L->csr.ai, L->halo ? L->csr.bi : NULL, pamg->eliminate ? PetscMin(PAMG_CHAIN, pamg->eliminate) : PAMG_CHAIN,
            there);
  PetscCall(PolderPlaceFetch(pamg->place, sizeof(here), &there, &here));
  sum[0] = here;
  sum[1] = L->nz;
  PetscCallAllreduce(MPI_IN_PLACE, sum, 2, MPIU_INT64, MPI_SUM, L->comm);
  *chains = (PetscBool)((PetscReal)sum[0] >= PAMG_CHAIN_PART * (PetscReal)L->N);
  if (*chains && !pamg->eliminate && sum[1] <= PAMG_TREE * (PetscInt64)L->N) pamg->tight = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFreeEliminated(PolderEliminated *E)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(E->start));
  PetscCall(PetscFree(E->row));
  PetscCall(PetscFree(E->ptr));
  PetscCall(PetscFree(E->col));
  PetscCall(PetscFree(E->val));
  PetscCall(PetscFree(E->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows between two rounds: what is left of the matrix, which rows of the level these are, and which of them stay */
typedef struct {
  PolderEliminateRows A;
  PetscInt           *map;
  PetscBool          *fixed;
} PamgLeft;

static PetscErrorCode PamgLeftCreate(PetscInt n, PetscInt space, PamgLeft *S)
{
  PetscFunctionBegin;
  S->A.n = n;
  PetscCall(PetscMalloc1(n + 1, &S->A.i));
  PetscCall(PetscMalloc1(space, &S->A.j));
  PetscCall(PetscMalloc1(space, &S->A.a));
  PetscCall(PetscMalloc1(n, &S->A.excess));
  PetscCall(PetscMalloc1(n, &S->A.size));
  PetscCall(PetscMalloc2(n, &S->map, n, &S->fixed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgLeftDestroy(PamgLeft *S)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(S->A.i));
  PetscCall(PetscFree(S->A.j));
  PetscCall(PetscFree(S->A.a));
  PetscCall(PetscFree(S->A.excess));
  PetscCall(PetscFree(S->A.size));
  PetscCall(PetscFree2(S->map, S->fixed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  All rows of level L. Rows stay that are coupled to other processes, also by an entry that only the other process has, and one row, so that some row is left
  of a tree
*/
static PetscErrorCode PamgLeftBegin(const PC_PAMG *pamg, const PamgLevel *L, PamgLeft *S)
{
  const PetscInt n = L->n, nz = n ? L->csr.ai[n] : 0;
  PetscScalar   *ones, *uses;

  PetscFunctionBegin;
  PetscCall(PamgLeftCreate(n, nz, S));
  PetscCall(PetscArraycpy(S->A.i, L->csr.ai, n ? n + 1 : 0));
  if (!n) S->A.i[0] = 0;
  PetscCall(PetscArraycpy(S->A.j, L->csr.aj, nz));
  PetscCall(PetscArraycpy(S->A.a, L->csr.aa, nz));
  PetscCall(PetscArraycpy(S->A.excess, pamg->excess, n));
  PetscCall(PetscArraycpy(S->A.size, pamg->magnitude, n));
  for (PetscInt i = 0; i < n; ++i) S->map[i] = i;
  PetscCall(PetscCalloc2(L->csr.nghost, &ones, n, &uses));
  for (PetscInt k = 0; k < L->csr.nghost; ++k) ones[k] = 1;
  if (L->halo) PetscCall(PolderHaloReduceAt(L->halo, &PolderOnHost, ones, uses));
  for (PetscInt i = 0; i < n; ++i) S->fixed[i] = (PetscBool)(i == n - 1 || uses[i] != 0 || (L->halo && L->csr.bi[i + 1] > L->csr.bi[i]));
  PetscCall(PetscFree2(ones, uses));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgEliminatedCreate(PetscInt n, PetscInt most, PolderEliminated *E)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(PAMG_ROUNDS + 1, &E->start));
  PetscCall(PetscMalloc1(n, &E->row));
  PetscCall(PetscMalloc1(n + 1, &E->ptr));
  PetscCall(PetscMalloc1(n * most, &E->col));
  PetscCall(PetscMalloc1(n * most, &E->val));
  PetscCall(PetscMalloc1(n, &E->dinv));
  E->m = E->rounds = E->ptr[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives back what the rounds did not need */
static PetscErrorCode PamgEliminatedTrim(PolderEliminated *E)
{
  const size_t m = (size_t)PetscMax(1, E->m), nz = (size_t)PetscMax(1, E->ptr[E->m]);

  PetscFunctionBegin;
  PetscCall(PetscRealloc(sizeof(*E->row) * m, &E->row));
  PetscCall(PetscRealloc(sizeof(*E->ptr) * (m + 1), &E->ptr));
  PetscCall(PetscRealloc(sizeof(*E->col) * nz, &E->col));
  PetscCall(PetscRealloc(sizeof(*E->val) * nz, &E->val));
  PetscCall(PetscRealloc(sizeof(*E->dinv) * m, &E->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the rows of a round to the list */
static void PamgKeepRound(const PamgLeft *S, const PetscInt next[], const PetscScalar pivot[], PolderEliminated *E)
{
  for (PetscInt i = 0; i < S->A.n; ++i) {
    PetscInt nz = E->ptr[E->m];

    if (next[i] >= 0) continue;
    for (PetscInt k = S->A.i[i]; k < S->A.i[i + 1]; ++k) {
      if (next[S->A.j[k]] < 0) continue;
      E->col[nz]   = S->map[S->A.j[k]];
      E->val[nz++] = S->A.a[k] * pivot[i];
    }
    E->row[E->m]   = S->map[i];
    E->dinv[E->m]  = pivot[i];
    E->ptr[++E->m] = nz;
  }
  E->start[++E->rounds] = E->m;
}

/* One round; *more = PETSC_FALSE: few rows are left that can go, and nothing is done */
static PetscErrorCode PamgEliminateRound(const PC_PAMG *pamg, PamgLeft *S, PolderEliminated *E, PetscBool *negative, PetscBool *more)
{
  const PetscInt n = S->A.n;
  PamgLeft       C = {0};
  PetscInt      *next, *place, left;
  PetscScalar   *pivot;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n, &next, n, &place, n, &pivot));
  left  = PolderEliminateChoose_Host(n, S->A.i, S->A.j, pamg->eliminate, S->fixed, next);
  *more = (PetscBool)((PetscReal)left < (1 - PAMG_ROUND_PART) * (PetscReal)n);
  if (*more) {
    PolderEliminatePivots_Host(&S->A, next, pivot, negative);
    PamgKeepRound(S, next, pivot, E);
    PetscCall(PamgLeftCreate(left, PolderEliminateSpace_Host(n, S->A.i, next), &C));
    (void)PolderEliminateSchur_Host(&S->A, next, pivot, place, &C.A);
    for (PetscInt i = 0; i < n; ++i) {
      if (next[i] < 0) continue;
      C.map[next[i]]   = S->map[i];
      C.fixed[next[i]] = S->fixed[i];
    }
    PetscCall(PamgLeftDestroy(S));
    *S = C;
  }
  PetscCall(PetscFree3(next, place, pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rounds on level L: E and the rows that are left. They depend on the pattern alone. A negative pivot leaves a negative diagonal entry, which is refused */
static PetscErrorCode PamgRounds(const PC_PAMG *pamg, const PamgLevel *L, PolderEliminated *E, PamgLeft *S)
{
  PetscBool negative = PETSC_FALSE, more = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PamgEliminatedCreate(L->n, pamg->eliminate, E));
  PetscCall(PamgLeftBegin(pamg, L, S));
  while (more && E->rounds < PAMG_ROUNDS) PetscCall(PamgEliminateRound(pamg, S, E, &negative, &more));
  PetscCall(PamgEliminatedTrim(E));
  if (negative) {
    const PetscInt last = S->A.n - 1;

    S->A.excess[last] = -PETSC_MAX_REAL;
    for (PetscInt k = S->A.i[last]; k < S->A.i[last + 1]; ++k) {
      if (S->A.j[k] == last) S->A.a[k] = -(1 + S->A.size[last]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The excess of what is left becomes that of the next level */
static PetscErrorCode PamgTakeExcess(PC_PAMG *pamg, PamgLeft *S)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeExcess(pamg));
  pamg->excess    = S->A.excess;
  pamg->magnitude = S->A.size;
  S->A.excess = S->A.size = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *count <- the number of rows that are left on all processes; *worth: they have few enough entries */
static PetscErrorCode PamgCountLeft(const PamgLevel *L, const PamgLeft *S, PetscInt64 *count, PetscBool *worth)
{
  PetscInt64 sum[3] = {S->A.n, S->A.i[S->A.n], L->nz};

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, sum, 3, MPIU_INT64, MPI_SUM, L->comm);
  *count = sum[0];
  *worth = (PetscBool)((PetscReal)sum[1] <= PAMG_LEFT_PART * (PetscReal)sum[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGEliminate(PC_PAMG *pamg, PetscInt l, PetscInt64 *count, PetscBool *done)
{
  PamgLevel *L = &pamg->level[l], *C = L + 1;
  PamgLeft   S = {0};

  PetscFunctionBegin;
  PetscCall(PamgRounds(pamg, L, &L->eliminated, &S));
  PetscCall(PamgCountLeft(L, &S, count, done));
  if (!*done) {
    PetscCall(PCPAMGFreeEliminated(&L->eliminated));
    PetscCall(PamgLeftDestroy(&S));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  L->eliminates = PETSC_TRUE;
  PetscCall(PCPAMGFreePlaces(pamg));
  L->nc = C->n = S.A.n;
  C->nz        = S.A.i[C->n];
  for (PetscInt i = 0; i < L->n; ++i) L->agg[i] = L->nc;
  for (PetscInt c = 0; c < L->nc; ++c) L->agg[S.map[c]] = c;
  PetscCall(PetscRealloc(sizeof(*S.A.j) * (size_t)PetscMax(1, C->nz), &S.A.j));
  PetscCall(PetscRealloc(sizeof(*S.A.a) * (size_t)PetscMax(1, C->nz), &S.A.a));
  C->ai = S.A.i;
  C->aj = S.A.j;
  C->aa = S.A.a;
  S.A.i = S.A.j = NULL;
  S.A.a         = NULL;
  PetscCall(PamgTakeExcess(pamg, &S));
  PetscCall(PamgLeftDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGEliminateValues(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel *L = &pamg->level[l], *C = L + 1;
  PamgLeft   S = {0};

  PetscFunctionBegin;
  PetscCall(PCPAMGFreeEliminated(&L->eliminated));
  PetscCall(PamgRounds(pamg, L, &L->eliminated, &S));
  PetscCall(PetscArraycpy(C->aa, S.A.a, S.A.i[L->nc]));
  PetscCall(PamgTakeExcess(pamg, &S));
  PetscCall(PamgLeftDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
