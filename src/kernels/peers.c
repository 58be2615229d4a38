/* Host twin of cuda/peers.cu, for an emulated device: the exchange between processes in shared memory, with the same order and the same message numbers. */
#include "peers.h"
#include <math.h>
#include <sched.h>
#include <string.h>
#include <time.h>

static double PolderSeconds_Private(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Process `rank` is waited for since `begin`, negative at the first call; PETSC_FALSE: no longer */
static PetscBool PolderWaitOn_Private(double *begin, int rank, const PolderPatience *patience)
{
  if (*begin < 0) *begin = PolderSeconds_Private();
  if (*patience->lost) return PETSC_FALSE;
  if (PolderSeconds_Private() - *begin > patience->seconds) {
    *patience->lost = 1 + rank;
    return PETSC_FALSE;
  }
  (void)sched_yield();
  return PETSC_TRUE;
}

/* Waits until *arrived is at least number; PETSC_FALSE: timed out */
static PetscBool PolderNumberWait_Private(const uint64_t *arrived, uint64_t number, int rank, const PolderPatience *patience)
{
  double begin = -1;

  while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < number) {
    if (!PolderWaitOn_Private(&begin, rank, patience)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void PolderCellStore_Private(PolderCell *cell, uint64_t bits, uint64_t number)
{
  __atomic_store_n(&cell->bits, bits, __ATOMIC_RELAXED);
  __atomic_store_n(&cell->number, number, __ATOMIC_RELEASE);
}

/* Waits for a value of message `number` from this process; PETSC_FALSE: timed out */
static PetscBool PolderCellWait_Private(const PolderCell *cell, uint64_t number, int rank, const PolderPatience *patience, uint64_t *bits)
{
  double begin = -1;

  while (__atomic_load_n(&cell->number, __ATOMIC_ACQUIRE) != number) {
    if (!PolderWaitOn_Private(&begin, rank, patience)) return PETSC_FALSE;
  }
  *bits = __atomic_load_n(&cell->bits, __ATOMIC_RELAXED);
  return PETSC_TRUE;
}

/* A value of 4 or 8 bytes and the word that a cell has for it */
static uint64_t PolderCellBits_Private(int bytes, const char *value)
{
  uint64_t bits = 0;

  memcpy(&bits, value, (size_t)bytes);
  return bits;
}

static PetscScalar PolderCellReal_Private(const PolderCell *cell, uint64_t number, int rank, const PolderPatience *patience)
{
  uint64_t    bits;
  PetscScalar value;

  if (!PolderCellWait_Private(cell, number, rank, patience, &bits)) return NAN;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* Sends a value to all processes and waits for theirs */
static void PolderPeersBarrier_Private(const PolderPeersView *peers, uint64_t number)
{
  for (int r = 0; r < peers->size; ++r) PolderCellStore_Private(&peers->box[r]->cell[number % 2][peers->rank][0], 0, number);
  for (int r = 0; r < peers->size; ++r) (void)PolderCellReal_Private(&peers->box[peers->rank]->cell[number % 2][r][0], number, r, &peers->patience);
}

void PolderPeersSum_Host(const PolderPeersView *peers, PetscInt n, PetscScalar value[])
{
  PolderMailbox *mine   = peers->box[peers->rank];
  const uint64_t number = ++mine->count;
  const int      half   = (int)(number % 2);

  for (int r = 0; r < peers->size; ++r) {
    for (PetscInt k = 0; k < n; ++k)
      PolderCellStore_Private(&peers->box[r]->cell[half][peers->rank][k], PolderCellBits_Private(sizeof(*value), (const char *)&value[k]), number);
  }
  for (PetscInt k = 0; k < n; ++k) {
    PetscScalar sum = 0;

    for (int r = 0; r < peers->size; ++r) sum += PolderCellReal_Private(&mine->cell[half][r][k], number, r, &peers->patience);
    value[k] = sum;
  }
  if (!n) PolderPeersBarrier_Private(peers, number);
}

/* Where message sent[k] + 1 for neighbour k begins, and its token */
static PolderCell *PolderExchangeRoom_Private(const PolderExchange *e, int k, PolderCell **token)
{
  const size_t half = ((e->sent[k] + 1) % 2) * e->half[k];

  *token = e->token[k] + half;
  return e->there[k] + half;
}

void PolderExchangePut_Host(const PolderExchange *e, int k, PetscInt c, PetscScalar value)
{
  PolderCell *token, *there = PolderExchangeRoom_Private(e, k, &token);

  PolderCellStore_Private(there + c, PolderCellBits_Private(sizeof(value), (const char *)&value), e->sent[k] + 1);
}

void PolderExchangeCount_Host(const PolderExchange *e)
{
  for (int k = 0; k < e->n; ++k) {
    PolderCell *token;

    (void)PolderExchangeRoom_Private(e, k, &token);
    PolderCellStore_Private(token, 0, e->sent[k] + 1);
    ++e->sent[k];
  }
}

void PolderExchangeStore_Host(const PolderExchange *e, int bytes, const void *x)
{
  for (int k = 0; k < e->n; ++k) {
    PolderCell *token, *there = PolderExchangeRoom_Private(e, k, &token);

    for (PetscInt i = e->sendptr[k]; i < e->sendptr[k + 1]; ++i)
      PolderCellStore_Private(there + i - e->sendptr[k], PolderCellBits_Private(bytes, (const char *)x + (size_t)bytes * (size_t)e->sendidx[i]),
                              e->sent[k] + 1);
    PolderCellStore_Private(token, 0, e->sent[k] + 1);
  }
}

void PolderExchangeSend_Host(const PolderExchange *e, int bytes, const void *x)
{
  PolderExchangeStore_Host(e, bytes, x);
  for (int k = 0; k < e->n; ++k) ++e->sent[k];
}

void PolderSendRows_Host(const PolderSends *sends, int bytes, const void *x)
{
  for (int k = 0; k < sends->n; ++k) {
    const uint64_t number = *sends->sent + 1;
    const size_t   half   = (number % 2) * sends->half[k];

    for (PetscInt i = 0; i < sends->count[k]; ++i)
      PolderCellStore_Private(sends->there[k] + half + i, PolderCellBits_Private(bytes, (const char *)x + (size_t)bytes * (size_t)(sends->first[k] + i)),
                              number);
    PolderCellStore_Private(sends->token[k] + half, 0, number);
  }
}

/* Waits for the token of the message that is due from neighbour k, and returns where its half of the buffer begins */
static const PolderCell *PolderExchangeHear_Private(const PolderExchange *e, int k, uint64_t number)
{
  const PolderCell *here = e->here + (number % 2) * e->halfhere;
  uint64_t          bits;

  (void)PolderCellWait_Private(here + (size_t)e->width * (size_t)e->recvptr[e->n] + k, number, e->rank[k], &e->patience, &bits);
  return here;
}

uint64_t PolderExchangeDue_Host(const PolderExchange *e)
{
  const uint64_t number = e->n ? e->received[0] + 1 : 0;

  for (int k = 0; k < e->n; ++k) {
    (void)PolderExchangeHear_Private(e, k, number);
    ++e->received[k];
  }
  return number;
}

/* Waits for value c of the message */
static PetscBool PolderExchangeBits_Private(const PolderExchange *e, uint64_t number, PetscInt c, uint64_t *bits)
{
  int k = 0;

  while (e->width * e->recvptr[k + 1] <= c) ++k;
  return PolderCellWait_Private(e->here + (number % 2) * e->halfhere + c, number, e->rank[k], &e->patience, bits);
}

PetscScalar PolderExchangeValue_Host(const PolderExchange *e, uint64_t number, PetscInt c)
{
  uint64_t    bits;
  PetscScalar value;

  if (!PolderExchangeBits_Private(e, number, c, &bits)) return NAN;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

float PolderExchangeValueSingle_Host(const PolderExchange *e, uint64_t number, PetscInt c)
{
  uint64_t bits;
  float    value;

  if (!PolderExchangeBits_Private(e, number, c, &bits)) return NAN;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

uint64_t PolderGhostsBegin_Host(const PolderGhosts *g)
{
  if (!g->exchange) return 0;
  for (int k = 0; k < g->exchange->n; ++k) ++g->exchange->sent[k];
  return PolderExchangeDue_Host(g->exchange);
}

PetscScalar PolderGhost_Host(const PolderGhosts *g, uint64_t number, PetscInt c)
{
  return g->exchange ? PolderExchangeValue_Host(g->exchange, number, c) : ((const PetscScalar *)g->value)[c];
}

float PolderGhostSingle_Host(const PolderGhosts *g, uint64_t number, PetscInt c)
{
  return g->exchange ? PolderExchangeValueSingle_Host(g->exchange, number, c) : ((const float *)g->value)[c];
}

/* The message of neighbour k that is due: calls what(context, position of the value, its bits) for each value */
typedef void (*PolderExchangeWhat)(void *context, PetscInt i, uint64_t bits);

static void PolderExchangeTake_Private(const PolderExchange *e, int k, PolderExchangeWhat what, void *context)
{
  const uint64_t    number = ++e->received[k];
  const PolderCell *here   = PolderExchangeHear_Private(e, k, number);
  uint64_t          bits;

  for (PetscInt i = e->recvptr[k]; i < e->recvptr[k + 1]; ++i) {
    if (PolderCellWait_Private(here + i, number, e->rank[k], &e->patience, &bits)) (*what)(context, i, bits);
  }
}

/* Where values go: y[idx], of so many bytes */
typedef struct {
  const PetscInt *idx;
  int             bytes;
  char           *y;
} PolderExchangeTo;

static void PolderExchangeCopy_Private(void *context, PetscInt i, uint64_t bits)
{
  const PolderExchangeTo *to = (const PolderExchangeTo *)context;

  memcpy(to->y + (size_t)to->bytes * (size_t)to->idx[i], &bits, (size_t)to->bytes);
}

void PolderExchangeReceive_Host(const PolderExchange *e, int bytes, void *y)
{
  PolderExchangeTo to = {e->recvidx, bytes, (char *)y};

  for (int k = 0; k < e->n; ++k) PolderExchangeTake_Private(e, k, PolderExchangeCopy_Private, &to);
}

static void PolderExchangeAddOne_Private(void *context, PetscInt i, uint64_t bits)
{
  const PolderExchangeTo *to = (const PolderExchangeTo *)context;
  PetscScalar             value;

  memcpy(&value, &bits, sizeof(value));
  ((PetscScalar *)to->y)[to->idx[i]] += value;
}

void PolderExchangeAdd_Host(const PolderExchange *e, int k, PetscScalar y[])
{
  PolderExchangeTo to = {e->recvidx, sizeof(*y), (char *)y};

  PolderExchangeTake_Private(e, k, PolderExchangeAddOne_Private, &to);
}

void PolderExchangeMultAdd_Host(const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView *peers, const PetscScalar p[], PetscScalar z[],
                                PetscScalar *dot)
{
  const uint64_t number = PolderExchangeDue_Host(e);

  for (int k = 0; k < e->n && rows->count; ++k) ++e->sent[k];
  for (PetscInt k = 0; k < rows->n; ++k) {
    const PetscInt i = rows->row[k];
    PetscScalar    s = 0;

    for (PetscInt a = rows->ai[i]; a < rows->ai[i + 1]; ++a) s += rows->aa[a] * PolderExchangeValue_Host(e, number, rows->aj[a]);
    z[i] += rows->alpha * s;
    if (rows->added) rows->added[k] = rows->alpha * s;
    if (dot) *dot += p[i] * s;
  }
  if (dot && peers) PolderPeersSum_Host(peers, 1, dot);
}

void PolderGatherSend_Host(const PolderGather *g, const PetscScalar own[])
{
  const uint64_t number = ++g->count[0];

  for (int r = 0; r < g->size; ++r) {
    PetscScalar *there = g->buffer[r] + (number % 2) * (size_t)g->half + g->begin[g->rank];

    if (r == g->rank) continue;
    for (PetscInt i = 0; i < g->n[g->rank]; ++i) there[i] = own[i];
    __atomic_store_n(&g->arrived[r][g->rank], number, __ATOMIC_RELEASE);
  }
}

void PolderGatherReceive_Host(const PolderGather *g, const PetscScalar own[], PetscScalar all[])
{
  const PetscBool    waits  = (PetscBool)(g->arrived[g->rank] != NULL);
  const uint64_t     number = waits ? ++g->count[1] : 0;
  const PetscScalar *here   = g->buffer[g->rank] + (number % 2) * (size_t)g->half;

  for (int r = 0; r < g->size; ++r) {
    const PetscScalar *from = r == g->rank ? own : here + g->begin[r];
    const PetscBool    came = (PetscBool)(!waits || r == g->rank || PolderNumberWait_Private(&g->arrived[g->rank][r], number, r, &g->patience));

    for (PetscInt i = 0; i < g->n[r]; ++i) all[PolderGatherPlace(g, r, i)] = came ? from[i] : NAN;
  }
}

void PolderGatherCells_Host(const PolderGather *g, const PetscScalar own[], PetscScalar all[])
{
  const uint64_t number = ++g->count[0];
  const size_t   half   = (number % 2) * (size_t)g->half;

  if (own) PolderGatherPut_Host(g, own, all);
  for (PetscInt i = 0; i < PolderGatherCellsOf(g, g->rank); ++i) {
    const PetscScalar value = i < g->n[g->rank] ? all[PolderGatherPlace(g, g->rank, i)] : 0;

    for (int r = 0; r < g->size; ++r) {
      if (r != g->rank) PolderCellStore_Private(g->cell[r] + half + g->begin[g->rank] + i, PolderCellBits_Private(sizeof(value), (const char *)&value), number);
    }
  }
  for (int r = 0; r < g->size; ++r) {
    for (PetscInt i = 0; r != g->rank && i < PolderGatherCellsOf(g, r); ++i) {
      const PetscScalar value = PolderCellReal_Private(g->cell[g->rank] + half + g->begin[r] + i, number, r, &g->patience);

      if (i < g->n[r]) all[PolderGatherPlace(g, r, i)] = value;
    }
  }
}

void PolderGatherPut_Host(const PolderGather *g, const PetscScalar own[], PetscScalar all[])
{
  for (PetscInt i = 0; i < g->n[g->rank]; ++i) all[PolderGatherPlace(g, g->rank, i)] = own[i];
}

void PolderGatherTake_Host(const PolderGather *g, const PetscScalar all[], PetscScalar own[])
{
  for (PetscInt i = 0; i < g->n[g->rank]; ++i) own[i] = all[PolderGatherPlace(g, g->rank, i)];
}
