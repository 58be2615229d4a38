static const char
  help[] = "Sums and exchanges between devices against their host twins, on one device: the process is its own neighbour, and the values of other\n"
           "processes lie in its mailbox before the kernel looks for them.\n\n";

#include "devicepeers/exchange.h"

enum {
  RANK = 1,
  SIZE = 3
};

/* Memory that holds how long a kernel waits and whom it has lost; *lost is where the host sees it */
static PetscErrorCode PatienceCreate(const PolderPlace *place, PetscReal seconds, int **lost, PolderPatience *patience)
{
  int *there;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMallocShared(sizeof(int), lost, &there));
  **lost    = 0;
  *patience = (PolderPatience){.seconds = seconds, .lost = place->device ? there : *lost};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ sums ------------------------------------------------ */

static PolderCell Cell(PetscScalar value, uint64_t number)
{
  PolderCell cell = {.number = number};

  (void)memcpy(&cell.bits, &value, sizeof(value));
  return cell;
}

/* Value k of process r for a sum of n values. That of no values exchanges a zero */
static PetscScalar SumValue(PetscInt n, const PetscScalar all[], int r, PetscInt k)
{
  return n ? all[r * n + k] : 0;
}

/* Sum `number` of n values; absent: a process that has not sent its values, or -1 */
static PetscErrorCode SumOnce(const PolderPlace *place, PetscInt n, int number, int absent, const PetscScalar all[], PetscScalar got[], int *lost,
                              uint64_t *count)
{
  PolderMailbox  *mail, *box[SIZE];
  PolderPeersView view = {.rank = RANK, .size = SIZE};
  PetscScalar    *value;
  int            *seen;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(1, &mail));
  mail->count = (uint64_t)number - 1;
  for (int r = 0; r < SIZE; ++r) {
    if (r == RANK) continue;
    for (PetscInt k = 0; k < PetscMax(n, 1); ++k) mail->cell[number % 2][r][k] = Cell(SumValue(n, all, r, k), (uint64_t)(r == absent ? number - 1 : number));
  }
  for (int r = 0; r < SIZE; ++r) {
    PetscCall(PolderPlaceUpload(place, sizeof(*mail), mail, &box[r])); // what is sent to the others goes to boxes of theirs
    view.box[r] = box[r];
  }
  PetscCall(PolderPlaceUpload(place, sizeof(*value) * (size_t)n, all + RANK * n, &value));
  PetscCall(PatienceCreate(place, absent < 0 ? 20 : 0.1, &seen, &view.patience));
  PolderRun(place, PolderPeersSum, &view, n, value);
  PetscCall(PolderPlaceFetch(place, sizeof(*value) * (size_t)n, &value, got));
  PetscCall(PolderPlaceTake(place, 1, box[RANK], mail)); // waits for the kernel, if there are values or not
  *lost  = *seen;
  *count = mail->count;
  PetscCall(PolderPlaceTake(place, 1, box[0], mail)); // the values and their number have arrived there
  for (PetscInt k = 0; k < PetscMax(n, 1); ++k) {
    const PolderCell sent = Cell(SumValue(n, all, RANK, k), (uint64_t)number), *found = &mail->cell[number % 2][RANK][k];

    if (found->bits != sent.bits || found->number != sent.number) *count = 0;
  }
  for (int r = 0; r < SIZE; ++r) PetscCall((*place->free)(&box[r]));
  PetscCall(PolderDeviceFreeShared(&seen));
  PetscCall(PetscFree(mail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSums(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const PetscInt sizes[] = {0, 1, 2, 31, 32, 33, 257, POLDER_PEERS_SUMS};
  PetscScalar          *all, *here, *there;
  PetscInt              wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(SIZE * POLDER_PEERS_SUMS, &all, POLDER_PEERS_SUMS, &here, POLDER_PEERS_SUMS, &there));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    const PetscInt n = sizes[s];

    for (int number = 1; number <= TIMES; ++number) {
      int      lost[2];
      uint64_t count[2];

      for (PetscInt k = 0; k < SIZE * n; ++k) all[k] = Number();
      PetscCall(SumOnce(&PolderOnHost, n, number, -1, all, here, &lost[0], &count[0]));
      PetscCall(SumOnce(&PolderOnDevice, n, number, -1, all, there, &lost[1], &count[1]));
      for (PetscInt k = 0; k < n; ++k) wrong += there[k] != here[k] || here[k] != 0.0 + all[k] + all[n + k] + all[2 * n + k];
      for (int at = 0; at < 2; ++at) wrong += lost[at] != 0 || count[at] != (uint64_t)number;
      if (number > 1) continue;
      PetscCall(SumOnce(&PolderOnHost, n, number, 2, all, here, &lost[0], &count[0])); // process 2 does not answer
      PetscCall(SumOnce(&PolderOnDevice, n, number, 2, all, there, &lost[1], &count[1]));
      for (PetscInt k = 0; k < n; ++k) wrong += !PetscIsNanReal(there[k]) || !PetscIsNanReal(here[k]);
      for (int at = 0; at < 2; ++at) wrong += lost[at] != 3;
    }
  }
  PetscCall(PetscFree3(all, here, there));
  PetscCall(Report("sums over processes", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ exchanges ------------------------------------------------ */

static PetscErrorCode Keep(Exchange *x, size_t bytes, const void *from, void *to)
{
  PetscFunctionBeginUser;
  PetscCall(PolderPlaceUpload(x->place, bytes, from, to));
  x->array[x->narray++] = *(void **)to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ExchangeCreate(const PolderPlace *place, int width, const PetscInt ptr[], const PetscInt from[], const PetscInt to[], Exchange *x)
{
  PolderExchange *e       = &x->e;
  uint64_t        zero[8] = {0};
  int             rank[]  = {0, 0};
  PolderCell     *there[NEIGH], *token[NEIGH], *blank;
  size_t          half[NEIGH];

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(x, sizeof(*x)));
  x->place = place;
  e->n     = NEIGH;
  for (int k = 0; k < NEIGH; ++k) e->mostsent = e->mostreceived = PetscMax(e->mostsent, ptr[k + 1] - ptr[k]);
  e->nsent    = ptr[NEIGH];
  e->width    = width;
  e->halfhere = (size_t)(width * ptr[NEIGH]) + NEIGH;
  PetscCall(PetscCalloc1(2 * e->halfhere, &blank));
  PetscCall(Keep(x, sizeof(*blank) * 2 * e->halfhere, blank, &x->room));
  PetscCall(PetscFree(blank));
  e->here = x->room;
  for (int k = 0; k < NEIGH; ++k) {
    there[k] = x->room + width * ptr[k];
    token[k] = x->room + width * ptr[NEIGH] + k;
    half[k]  = e->halfhere;
  }
  PetscCall(Keep(x, sizeof(*ptr) * (NEIGH + 1), ptr, (void *)&e->sendptr));
  PetscCall(Keep(x, sizeof(*from) * (size_t)ptr[NEIGH], from, (void *)&e->sendidx));
  PetscCall(Keep(x, sizeof(*ptr) * (NEIGH + 1), ptr, (void *)&e->recvptr));
  PetscCall(Keep(x, sizeof(*to) * (size_t)ptr[NEIGH], to, (void *)&e->recvidx));
  PetscCall(Keep(x, sizeof(there), there, (void *)&e->there));
  PetscCall(Keep(x, sizeof(half), half, (void *)&e->half));
  PetscCall(Keep(x, sizeof(token), token, (void *)&e->token));
  PetscCall(Keep(x, sizeof(zero), zero, (void *)&e->sent));
  PetscCall(Keep(x, sizeof(zero), zero, (void *)&e->received));
  PetscCall(Keep(x, sizeof(zero), zero, (void *)&e->finished));
  PetscCall(Keep(x, sizeof(rank), rank, (void *)&e->rank));
  PetscCall(PatienceCreate(place, 20, &x->lost, &e->patience));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ExchangeDestroy(Exchange *x, PetscInt *wrong)
{
  PetscFunctionBeginUser;
  *wrong += *x->lost != 0;
  for (int k = 0; k < x->narray; ++k) PetscCall((*x->place->free)(&x->array[k]));
  PetscCall(PolderDeviceFreeShared(&x->lost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Messages of 4 and 8 bytes, received, added, and multiplied by rows, each TIMES times; out[] takes all results: 3 vectors of n, and a dot product */
static PetscErrorCode ExchangeRun(Exchange *x, PetscInt n, const PetscScalar v[], const PolderGhostRows *host, PetscScalar out[])
{
  const PolderPlace *place = x->place;
  PolderGhostRows    rows  = *host;
  PetscScalar       *vd, *y, *z, *dot, zero = 0;

  PetscFunctionBeginUser;
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)n, v, &vd));
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)n, v, &y));
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)n, v, &z));
  PetscCall(PolderPlaceUpload(place, sizeof(zero), &zero, &dot));
  PetscCall(PolderPlaceUpload(place, sizeof(*rows.row) * (size_t)rows.n, host->row, (void *)&rows.row));
  PetscCall(PolderPlaceUpload(place, sizeof(*rows.ai) * (size_t)(n + 1), host->ai, (void *)&rows.ai));
  PetscCall(PolderPlaceUpload(place, sizeof(*rows.aj) * (size_t)rows.nz, host->aj, (void *)&rows.aj));
  PetscCall(PolderPlaceUpload(place, sizeof(*rows.aa) * (size_t)rows.nz, host->aa, (void *)&rows.aa));
  for (int times = 0; times < TIMES; ++times) {
    PolderRun(place, PolderExchangeSend, &x->e, 8, vd);
    PolderRun(place, PolderExchangeReceive, &x->e, 8, y);
    PolderRun(place, PolderExchangeSend, &x->e, 4, y); // words of any kind
    PolderRun(place, PolderExchangeReceive, &x->e, 4, y);
    PolderRun(place, PolderExchangeSend, &x->e, 8, vd);
    for (int k = 0; k < NEIGH; ++k) PolderRun(place, PolderExchangeAdd, &x->e, k, vd);
    PolderRun(place, PolderExchangeSend, &x->e, 8, vd);
    PolderRunSum(place, PolderExchangeMultAdd, &x->e, &rows, NULL, vd, z, dot);
  }
  PetscCall(PolderPlaceFetch(place, sizeof(*v) * (size_t)n, &vd, out));
  PetscCall(PolderPlaceFetch(place, sizeof(*v) * (size_t)n, &y, out + n));
  PetscCall(PolderPlaceFetch(place, sizeof(*v) * (size_t)n, &z, out + 2 * n));
  PetscCall(PolderPlaceFetch(place, sizeof(zero), &dot, out + 3 * n));
  PetscCall((*place->free)((void *)&rows.row));
  PetscCall((*place->free)((void *)&rows.ai));
  PetscCall((*place->free)((void *)&rows.aj));
  PetscCall((*place->free)((void *)&rows.aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* each[]: values for each neighbour; `wide` entries in every second row */
static PetscErrorCode TestExchange(const PetscInt each[], PetscInt wide, PetscInt *wrong)
{
  const PetscInt  ptr[NEIGH + 1] = {0, each[0], each[0] + each[1]}, ghosts = ptr[NEIGH], n = 2 * ghosts + 3;
  PetscInt       *from, *to, *row, *ai, *aj, nz = 0;
  PetscScalar    *v, *aa, *out[2], scale = 1;
  Exchange        x;
  PolderGhostRows rows = {.alpha = -0.5};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc6(ghosts, &from, ghosts, &to, n, &row, n + 1, &ai, n * wide, &aj, n * wide, &aa));
  PetscCall(PetscMalloc3(n, &v, 3 * n + 1, &out[0], 3 * n + 1, &out[1]));
  for (PetscInt k = 0; k < ghosts; ++k) from[k] = (7 * k + 1) % n;
  for (PetscInt k = 0; k < ghosts; ++k) to[k] = n - 1 - k;
  for (PetscInt i = 0; i < n; ++i) v[i] = 0.01 * Number();
  ai[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    if (i % 2 && ghosts) row[rows.n++] = i;
    for (PetscInt k = 0; i % 2 && ghosts && k < wide; ++k, ++nz) {
      aj[nz] = (3 * i + k) % ghosts;
      aa[nz] = Number();
    }
    ai[i + 1] = nz;
  }
  rows.nz  = nz;
  rows.row = row;
  rows.ai  = ai;
  rows.aj  = aj;
  rows.aa  = aa;
  for (int at = 0; at < 2; ++at) {
    PetscCall(ExchangeCreate(PolderPlaceOf((PetscBool)at), 1, ptr, from, to, &x));
    PetscCall(ExchangeRun(&x, n, v, &rows, out[at]));
    PetscCall(ExchangeDestroy(&x, wrong));
  }
  for (PetscInt i = 0; i < 3 * n; ++i) scale = PetscMax(scale, PetscAbsScalar(out[0][i]));
  *wrong += memcmp(out[0], out[1], sizeof(*v) * (size_t)(2 * n)) != 0; // what is copied and added, bit for bit
  *wrong += Wrong(n, out[1] + 2 * n, out[0] + 2 * n, 1e-14 * scale * wide);
  *wrong += Wrong(1, out[1] + 3 * n, out[0] + 3 * n, 1e-14 * scale * scale * wide * n);
  PetscCall(PetscFree3(v, out[0], out[1]));
  PetscCall(PetscFree6(from, to, row, ai, aj, aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestExchanges(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const PetscInt each[][NEIGH] = {
    {1,     0    },
    {0,     1    },
    {31,    33   },
    {257,   1    },
    {1000,  4097 },
    {30011, 20000}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(each) - (small ? 1 : 0); ++k) {
    for (PetscInt wide = 1; wide < 50; wide = 5 * wide + 1) PetscCall(TestExchange(each[k], wide, &wrong));
  }
  PetscCall(Report("exchanges between processes", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ gathers ------------------------------------------------ */

/* What a place has of a gather: its buffers, those of the others, and their message numbers */
typedef struct {
  const PolderPlace *place;
  PolderGather       g;
  PetscScalar       *buffer[SIZE];
  PolderCell        *cell[SIZE];
  uint64_t          *arrived[SIZE], *count;
  int               *lost;
} Gather;

/* How values come: they are there, with the number of the message, in cells */
typedef enum {
  THERE,
  NUMBERED,
  CELLS
} Coming;

/* Process r has n[r] values, in lines of width[r] */
static PetscErrorCode GatherCreate(const PolderPlace *place, const PetscInt n[], const PetscInt width[], PetscInt ld, Coming coming, Gather *x)
{
  PolderGather *g        = &x->g;
  uint64_t      zero[16] = {0};
  PetscScalar  *blank;
  PetscInt      first = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(x, sizeof(*x)));
  x->place = place;
  g->rank  = RANK;
  g->size  = SIZE;
  for (int r = 0; r < SIZE; ++r) {
    g->ld[r]    = ld;
    g->n[r]     = n[r];
    g->width[r] = width[r];
    g->first[r] = first;
    g->begin[r] = g->half;
    g->half += (PolderGatherCellsOf(g, r) + 1) / 2 * 2;
    first += width[r];
  }
  PetscCall(PetscCalloc1(4 * g->half, &blank));
  for (int r = 0; r < SIZE; ++r) {
    PetscCall(PolderPlaceUpload(place, sizeof(*blank) * 2 * (size_t)g->half, blank, &x->buffer[r]));
    PetscCall(PolderPlaceUpload(place, sizeof(**x->cell) * 2 * (size_t)g->half, blank, &x->cell[r]));
    PetscCall(PolderPlaceUpload(place, sizeof(zero), zero, &x->arrived[r]));
    g->buffer[r]  = x->buffer[r];
    g->cell[r]    = coming == CELLS ? x->cell[r] : NULL;
    g->arrived[r] = coming == NUMBERED ? x->arrived[r] : NULL;
  }
  PetscCall(PetscFree(blank));
  PetscCall(PolderPlaceUpload(place, sizeof(zero), zero, &x->count));
  g->count    = x->count;
  g->finished = (unsigned int *)(x->count + 2);
  PetscCall(PatienceCreate(place, 20, &x->lost, &g->patience));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherDestroy(Gather *x)
{
  PetscFunctionBeginUser;
  for (int r = 0; r < SIZE; ++r) {
    PetscCall((*x->place->free)(&x->buffer[r]));
    PetscCall((*x->place->free)(&x->cell[r]));
    PetscCall((*x->place->free)(&x->arrived[r]));
  }
  PetscCall((*x->place->free)(&x->count));
  PetscCall(PolderDeviceFreeShared(&x->lost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells of message `number` from the others, with the values of v, come here; absent: those of the one before from this process */
static PetscErrorCode GatherFillCells(Gather *x, int number, int absent, const PetscScalar v[])
{
  const PolderGather *g = &x->g;
  PolderCell         *cell;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(g->half, &cell));
  for (int r = 0; r < SIZE; ++r) {
    for (PetscInt i = 0; r != RANK && i < PolderGatherCellsOf(g, r); ++i) {
      cell[g->begin[r] + i].number = (uint64_t)(number - (r == absent));
      PetscCall(PetscMemcpy(&cell[g->begin[r] + i].bits, &v[g->begin[r] + i], sizeof(*v)));
    }
  }
  PetscCall((*x->place->put)(x->cell[RANK] + number % 2 * g->half, cell, sizeof(*cell) * (size_t)g->half));
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells that have gone to the others */
static PetscErrorCode GatherCheckCells(const Gather *x, int number, const PetscScalar v[], PetscInt *wrong)
{
  const PolderGather *g = &x->g;
  PolderCell         *cell;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(g->half, &cell));
  for (int r = 0; r < SIZE; ++r) {
    if (r == RANK) continue;
    PetscCall((*x->place->take)(cell, x->cell[r] + number % 2 * g->half, sizeof(*cell) * (size_t)g->half));
    for (PetscInt i = 0; i < PolderGatherCellsOf(g, RANK); ++i) {
      const PolderCell *sent = &cell[g->begin[RANK] + i];

      *wrong += sent->number != (uint64_t)number;
      if (i < g->n[RANK]) *wrong += memcmp(&sent->bits, &v[g->begin[RANK] + i], sizeof(*v)) != 0;
    }
  }
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Message `number` of all processes, of which v has the values, each followed by an even number's gap; absent: the process that is late, or -1 */
static PetscErrorCode GatherOnce(Gather *x, int number, int absent, const PetscScalar v[], PetscInt total, PetscScalar all[], PetscInt *wrong)
{
  const PolderPlace *place = x->place;
  PolderGather      *g     = &x->g;
  PetscScalar       *own, *back, *to, *sent;
  uint64_t           arrived[16];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < total; ++i) all[i] = -1;
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)g->n[RANK], v + g->begin[RANK], &own));
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)g->n[RANK], v + g->begin[RANK], &back));
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)total, all, &to));
  for (int r = 0; r < SIZE; ++r) arrived[r] = (uint64_t)(number - (r == absent || r == RANK));
  PetscCall((*place->put)(x->arrived[RANK], arrived, sizeof(*arrived) * SIZE));
  PetscCall((*place->put)(x->buffer[RANK] + (g->arrived[RANK] ? number % 2 : 0) * g->half, v, sizeof(*v) * (size_t)g->half));
  *x->lost            = 0;
  g->patience.seconds = absent < 0 ? 20 : 0.1;
  if (g->cell[RANK]) {
    PetscCall(GatherFillCells(x, number, absent, v));
    if (number % 2) PolderRun(place, PolderGatherPut, g, own, to);
    PolderRun(place, PolderGatherCells, g, number % 2 ? NULL : own, to);
    PetscCall(GatherCheckCells(x, number, v, wrong));
  } else {
    if (g->arrived[RANK]) PolderRun(place, PolderGatherSend, g, own);
    PolderRun(place, PolderGatherReceive, g, own, to);
  }
  PolderRun(place, PolderGatherTake, g, to, back);
  PetscCall(PolderPlaceTake(place, total, to, all));
  PetscCall(PetscMalloc1(2 * g->half, &sent));
  for (int r = 0; r < SIZE && g->arrived[RANK]; ++r) { // what has gone to the others
    PetscCall(PolderPlaceTake(place, 2 * g->half, x->buffer[r], sent));
    PetscCall((*place->take)(arrived, x->arrived[r], sizeof(*arrived) * SIZE));
    if (r != RANK) *wrong += arrived[RANK] != (uint64_t)number;
    for (PetscInt i = 0; r != RANK && i < g->n[RANK]; ++i) *wrong += sent[number % 2 * g->half + g->begin[RANK] + i] != v[g->begin[RANK] + i];
  }
  PetscCall(PolderPlaceTake(place, g->n[RANK], back, sent));
  for (PetscInt i = 0; i < g->n[RANK]; ++i) *wrong += sent[i] != v[g->begin[RANK] + i];
  PetscCall(PetscFree(sent));
  PetscCall((*place->zero)(to, sizeof(*v) * (size_t)total));
  PolderRun(place, PolderGatherPut, g, own, to);
  PolderRun(place, PolderGatherTake, g, to, back);
  PetscCall(PolderPlaceFetch(place, sizeof(*v) * (size_t)g->n[RANK], &back, (void *)(all + total)));
  for (PetscInt i = 0; i < g->n[RANK]; ++i) *wrong += all[total + i] != v[g->begin[RANK] + i];
  *wrong += *x->lost != (absent < 0 ? 0 : 1 + absent);
  PetscCall((*place->free)(&own));
  PetscCall((*place->free)(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The gathered values are v at their places, and nothing else is touched */
static PetscErrorCode TestGather(const PetscInt n[], const PetscInt width[], Coming coming, PetscInt *wrong)
{
  PetscInt     ld = 3, lines = 1, total;
  PetscScalar *v, *all, *expected;
  Gather       x;

  PetscFunctionBeginUser;
  for (int r = 0; r < SIZE; ++r) {
    ld += width[r];
    lines = PetscMax(lines, (n[r] + width[r] - 1) / width[r]);
  }
  total = ld * lines;
  PetscCall(PetscMalloc3(n[0] + n[1] + n[2] + 2 * SIZE, &v, total + n[RANK], &all, total, &expected));
  for (int at = 0; at < 2; ++at) {
    PetscCall(GatherCreate(at ? &PolderOnDevice : &PolderOnHost, n, width, ld, coming, &x));
    for (int number = 1; number <= TIMES; ++number) {
      const int absent = coming != THERE && number == TIMES ? 2 : -1;

      for (PetscInt i = 0; i < x.g.half; ++i) v[i] = Number();
      for (PetscInt i = 0; i < total; ++i) expected[i] = -1;
      for (int r = 0; r < SIZE; ++r)
        for (PetscInt i = 0; i < n[r]; ++i) expected[x.g.first[r] + i / width[r] * ld + i % width[r]] = r == absent ? NAN : v[x.g.begin[r] + i];
      PetscCall(GatherOnce(&x, number, absent, v, total, all, wrong));
      for (PetscInt i = 0; i < total; ++i) *wrong += PetscIsNanReal(expected[i]) ? !PetscIsNanReal(all[i]) : all[i] != expected[i];
    }
    PetscCall(GatherDestroy(&x));
  }
  PetscCall(PetscFree3(v, all, expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGathers(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const PetscInt sizes[][2][SIZE] = {
    {{1, 1, 1},              {1, 1, 1}             },
    {{0, 2, 3},              {1, 2, 3}             },
    {{4, 0, 1},              {4, 1, 1}             },
    {{31, 32, 33},           {31, 32, 33}          },
    {{35, 99, 64},           {5, 33, 16}           },
    {{257, 1000, 4097},      {257, 1000, 4097}     },
    {{101 * 77, 0, 50000},   {77, 1, 500}          },
    {{70001, 300001, 12345}, {70001, 300001, 12345}}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes) - (small ? 2 : 0); ++k) {
    for (Coming coming = THERE; coming <= CELLS; ++coming) PetscCall(TestGather(sizes[k][0], sizes[k][1], coming, &wrong));
  }
  PetscCall(Report("gathers of all values", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestSums, TestExchanges, TestTriOuter, TestGhosts, TestStencil, TestGathers}
};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
