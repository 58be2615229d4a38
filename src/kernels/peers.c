/* Host twin of cuda/peers.cu, for an emulated device: the exchange between processes in shared memory, with the same order and the same message numbers. */
#include "peers.h"
#include <sched.h>
#include <time.h>

static double PolderSeconds_Private(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits until *arrived is at least number; PETSC_FALSE: timed out */
static PetscBool PolderPeersWait_Private(const uint64_t *arrived, uint64_t number, int rank, const PolderPatience *patience)
{
  const double begin = PolderSeconds_Private();

  while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < number) {
    if (*patience->lost) return PETSC_FALSE;
    if (PolderSeconds_Private() - begin > patience->seconds) {
      *patience->lost = 1 + rank;
      return PETSC_FALSE;
    }
    (void)sched_yield();
  }
  return PETSC_TRUE;
}

void PolderPeersSum_Host(const PolderPeersView *peers, PetscInt n, PetscScalar value[])
{
  PolderMailbox *mine   = peers->box[peers->rank];
  const uint64_t number = ++mine->count;
  const int      half   = (int)(number % 2);
  PetscBool      all    = PETSC_TRUE;

  for (int r = 0; r < peers->size; ++r) {
    for (PetscInt k = 0; k < n; ++k) peers->box[r]->value[half][peers->rank][k] = value[k];
    __atomic_store_n(&peers->box[r]->arrived[peers->rank], number, __ATOMIC_RELEASE);
  }
  for (int r = 0; r < peers->size; ++r) all = (PetscBool)(PolderPeersWait_Private(&mine->arrived[r], number, r, &peers->patience) && all);
  for (PetscInt k = 0; k < n; ++k) {
    PetscScalar sum = 0;

    for (int r = 0; r < peers->size; ++r) sum += mine->value[half][r][k];
    value[k] = all ? sum : NAN;
  }
}

static void PolderCopyValue_Private(int bytes, char *to, const char *from)
{
  for (int b = 0; b < bytes; ++b) to[b] = from[b];
}

void PolderExchangeSend_Host(const PolderExchange *e, int bytes, const void *x)
{
  for (int k = 0; k < e->n; ++k) {
    const uint64_t number = ++e->sent[k];
    char          *there  = e->there[k] + (number % 2) * e->half[k];

    for (PetscInt i = e->sendptr[k]; i < e->sendptr[k + 1]; ++i, there += bytes)
      PolderCopyValue_Private(bytes, there, (const char *)x + (size_t)bytes * (size_t)e->sendidx[i]);
    __atomic_store_n(e->arrivedthere[k], number, __ATOMIC_RELEASE);
  }
}

/* Start of the message of neighbour k that is due */
static const char *PolderExchangeMessage_Private(const PolderExchange *e, int k)
{
  const uint64_t number = ++e->received[k];

  (void)PolderPeersWait_Private(&e->arrived[k], number, e->rank[k], &e->patience);
  return e->here + (number % 2) * e->halfhere + 8 * (size_t)e->recvptr[k];
}

void PolderExchangeReceive_Host(const PolderExchange *e, int bytes, void *y)
{
  for (int k = 0; k < e->n; ++k) {
    const char *from = PolderExchangeMessage_Private(e, k);

    for (PetscInt i = e->recvptr[k]; i < e->recvptr[k + 1]; ++i, from += bytes)
      PolderCopyValue_Private(bytes, (char *)y + (size_t)bytes * (size_t)e->recvidx[i], from);
  }
}

void PolderExchangeAdd_Host(const PolderExchange *e, int k, PetscScalar y[])
{
  const PetscScalar *from = (const PetscScalar *)PolderExchangeMessage_Private(e, k);

  for (PetscInt i = e->recvptr[k]; i < e->recvptr[k + 1]; ++i) y[e->recvidx[i]] += from[i - e->recvptr[k]];
}

void PolderExchangeMultAdd_Host(const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView *peers, const PetscScalar p[], PetscScalar z[],
                                PetscScalar *dot)
{
  const PetscScalar *ghost = NULL;

  for (int k = 0; k < e->n; ++k) {
    const PetscScalar *message = (const PetscScalar *)PolderExchangeMessage_Private(e, k);

    if (!k) ghost = message; // the other neighbours' values follow
  }
  for (PetscInt k = 0; k < rows->n; ++k) {
    const PetscInt i = rows->row[k];
    PetscScalar    s = 0;

    for (PetscInt a = rows->ai[i]; a < rows->ai[i + 1]; ++a) s += rows->aa[a] * ghost[rows->aj[a]];
    z[i] += rows->alpha * s;
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
    const PetscBool    came = (PetscBool)(!waits || r == g->rank || PolderPeersWait_Private(&g->arrived[g->rank][r], number, r, &g->patience));

    for (PetscInt i = 0; i < g->n[r]; ++i) all[PolderGatherPlace(g, r, i)] = came ? from[i] : NAN;
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
