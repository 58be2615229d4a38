/*
  A library with the functions of NCCL that Polder calls, for emulated devices: processes of one host exchange through shared memory. What NCCL does in a
  stream is done before the call returns, in the order of the calls, as on a device whose host never waits.
  Environment variables of tests: EMULATED_NCCL_VERSION; EMULATED_NCCL_REFUSES=r, rank r does not get a communicator; EMULATED_NCCL_SECONDS, after which a
  call gives up a process that does not take part: it returns, and the error is found by ncclCommGetAsyncError().
*/
#define _GNU_SOURCE // memfd_create()
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
  RANKS = 32,
  RING  = 1 << 14, /* bytes on their way from one process to another */
  OPS   = 2 * RANKS,
  /* results and types of NCCL */
  SUCCESS         = 0,
  SYSTEM_ERROR    = 2,
  INVALID_USAGE   = 5,
  INVALID_MESSAGE = 4,
  REMOTE_ERROR    = 6,
  INT8            = 0,
  FLOAT64         = 8
};

typedef struct {
  char internal[128];
} Id;

/* From one process to another: each message is its size, and its bytes */
typedef struct {
  uint64_t written, read;
  char     bytes[RING];
} Channel;

typedef struct {
  int     joined;
  Channel from[RANKS][RANKS]; /* [sender][receiver] */
} Region;

struct Comm {
  Region *region;
  int     rank, size, file, error;
};

typedef struct {
  struct Comm *comm;
  const char  *send;
  char        *receive;
  int          rank;
  uint64_t     bytes, size, done; /* done: of the size and the bytes together */
} Op;

static int Depth, Count;
static Op  Ops[OPS];

static double Seconds(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *Variable(const char *name, const char *otherwise)
{
  return getenv(name) ? getenv(name) : otherwise;
}

const char *ncclGetErrorString(int error)
{
  return error == SYSTEM_ERROR  ? "unhandled system error"
       : error == REMOTE_ERROR  ? "remote process exited"
       : error == INVALID_USAGE ? "invalid usage"
                                : "error";
}

int ncclGetVersion(int *version)
{
  *version = atoi(Variable("EMULATED_NCCL_VERSION", "22809"));
  return SUCCESS;
}

int ncclCommAbort(struct Comm *c)
{
  if (c->file >= 0) (void)close(c->file);
  (void)munmap(c->region, sizeof(Region));
  free(c);
  return SUCCESS;
}

int ncclGetUniqueId(Id *id)
{
  const int file = memfd_create("nccl", 0);

  if (file < 0 || ftruncate(file, sizeof(Region))) return SYSTEM_ERROR;
  (void)memset(id, 0, sizeof(*id));
  (void)snprintf(id->internal, sizeof(id->internal), "/proc/%d/fd/%d", (int)getpid(), file);
  return SUCCESS;
}

int ncclCommInitRank(struct Comm **comm, int size, Id id, int rank)
{
  struct Comm *c;
  int          file;

  if (strcmp(Variable("NCCL_NVLS_ENABLE", ""), "0") || size > RANKS) return INVALID_USAGE;
  file = open(id.internal, O_RDWR);
  if (file < 0) return SYSTEM_ERROR;
  c         = (struct Comm *)calloc(1, sizeof(*c));
  c->region = (Region *)mmap(NULL, sizeof(Region), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  c->rank   = rank;
  c->size   = size;
  c->file   = -1;
  (void)close(file);
  if (c->region == MAP_FAILED) return SYSTEM_ERROR;
  if (!rank) (void)sscanf(strrchr(id.internal, '/'), "/%d", &c->file);
  (void)__atomic_add_fetch(&c->region->joined, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&c->region->joined, __ATOMIC_ACQUIRE) < size) (void)sched_yield();
  if (atoi(Variable("EMULATED_NCCL_REFUSES", "-1")) == rank) {
    (void)ncclCommAbort(c);
    return SYSTEM_ERROR;
  }
  *comm = c;
  return SUCCESS;
}

int ncclCommDestroy(struct Comm *c)
{
  return ncclCommAbort(c);
}

int ncclCommGetAsyncError(struct Comm *c, int *error)
{
  *error = c->error;
  return SUCCESS;
}

/* Moves bytes between a part of an operation, size or values, and the ring */
static uint64_t Move(Channel *channel, uint64_t *at, char *bytes, uint64_t n, int sends)
{
  const uint64_t ready = sends ? RING - (channel->written - __atomic_load_n(&channel->read, __ATOMIC_ACQUIRE))
                               : __atomic_load_n(&channel->written, __ATOMIC_ACQUIRE) - channel->read;
  const uint64_t moved = n < ready ? n : ready;

  for (uint64_t k = 0; k < moved; ++k) {
    char *there = &channel->bytes[(*at + k) % RING];

    if (sends) *there = bytes[k];
    else bytes[k] = *there;
  }
  __atomic_store_n(at, *at + moved, __ATOMIC_RELEASE);
  return moved;
}

/* What can be done now; the result is how much that was. The receiver finds the size that was sent in op->size */
static uint64_t Advance(Op *op)
{
  struct Comm *c       = op->comm;
  const int    sends   = op->send != NULL;
  Channel     *channel = sends ? &c->region->from[c->rank][op->rank] : &c->region->from[op->rank][c->rank];
  uint64_t    *at = sends ? &channel->written : &channel->read, moved = 0, more;

  if (op->done < sizeof(op->size)) moved = Move(channel, at, (char *)&op->size + op->done, sizeof(op->size) - op->done, sends);
  op->done += moved;
  if (op->done < sizeof(op->size)) return moved;
  if (op->size != op->bytes) c->error = INVALID_MESSAGE;
  more = op->done - sizeof(op->size);
  if (c->error) return moved;
  more = Move(channel, at, (sends ? (char *)op->send : op->receive) + more, op->bytes - more, sends);
  op->done += more;
  return moved + more;
}

static void GiveUp(void)
{
  for (int k = 0; k < Count; ++k) {
    if (!Ops[k].comm->error) Ops[k].comm->error = REMOTE_ERROR;
    if (Ops[k].receive) (void)memset(Ops[k].receive, 0xff, Ops[k].bytes);
  }
  Count = 0;
}

/* Messages between the same two processes have an order: those of an operation begin after those of the operations before it */
static int Run(void)
{
  const double patience = atof(Variable("EMULATED_NCCL_SECONDS", "60"));
  double       begin    = Seconds();
  uint64_t     moved, left = 1;

  while (left) {
    moved = left = 0;
    for (int k = 0; k < Count; ++k) {
      int first = 1;

      if (Ops[k].done == Ops[k].bytes + sizeof(Ops[k].size)) continue;
      ++left;
      for (int j = 0; j < k; ++j) {
        if (Ops[j].rank == Ops[k].rank && !Ops[j].send == !Ops[k].send && Ops[j].done < Ops[j].bytes + sizeof(Ops[j].size)) first = 0;
      }
      if (first) moved += Advance(&Ops[k]);
      if (Ops[k].comm->error) {
        GiveUp();
        return SUCCESS;
      }
    }
    if (moved) begin = Seconds();
    else if (left && Seconds() - begin > patience) GiveUp();
    if (!Count) return SUCCESS;
    if (!moved) (void)sched_yield();
  }
  Count = 0;
  return SUCCESS;
}

int ncclGroupStart(void)
{
  ++Depth;
  return SUCCESS;
}

int ncclGroupEnd(void)
{
  return --Depth ? SUCCESS : Run();
}

static int Add(struct Comm *c, const void *send, void *receive, uint64_t bytes, int rank)
{
  if (rank < 0 || rank >= c->size || Count == OPS) return INVALID_USAGE;
  Ops[Count++] = (Op){.comm = c, .send = (const char *)send, .receive = (char *)receive, .rank = rank, .bytes = bytes, .size = send ? bytes : 0};
  return Depth ? SUCCESS : Run();
}

static uint64_t Bytes(size_t count, int type)
{
  return (uint64_t)count * (type == INT8 ? 1 : type == FLOAT64 ? 8 : 0);
}

int ncclSend(const void *from, size_t count, int type, int rank, struct Comm *c, void *stream)
{
  (void)stream;
  return Add(c, from, NULL, Bytes(count, type), rank);
}

int ncclRecv(void *to, size_t count, int type, int rank, struct Comm *c, void *stream)
{
  (void)stream;
  return Add(c, NULL, to, Bytes(count, type), rank);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, struct Comm *c, void *stream)
{
  const uint64_t bytes = Bytes(count, type);

  (void)stream;
  ++Depth;
  for (int r = 0; r < c->size; ++r) {
    if (Add(c, from, NULL, bytes, r) || Add(c, NULL, (char *)to + (size_t)r * bytes, bytes, r)) return INVALID_USAGE;
  }
  return ncclGroupEnd();
}
