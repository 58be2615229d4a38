/* Loads NCCL and calls it. Names, types and values are those of NCCL's public interface, which has been the same since version 2.7. */
#include "nccl.h"
#include "kernels/messages.h"
#include "kernels/peers.h"
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

/* ncclComm_t, ncclUniqueId, and the values of ncclResult_t and ncclDataType_t in use */
typedef struct ncclComm *PolderNcclComm;
typedef struct {
  char internal[128];
} PolderNcclId;
enum {
  NCCL_SUCCESS    = 0,
  NCCL_INPROGRESS = 7,
  NCCL_INT8       = 0,
  NCCL_FLOAT64    = 8
};

typedef struct {
  int (*getversion)(int *);
  int (*getuniqueid)(PolderNcclId *);
  int (*comminitrank)(PolderNcclComm *, int, PolderNcclId, int);
  int (*commdestroy)(PolderNcclComm);
  int (*commabort)(PolderNcclComm);
  int (*commgetasyncerror)(PolderNcclComm, int *);
  int (*groupstart)(void);
  int (*groupend)(void);
  int (*send)(const void *, size_t, int, int, PolderNcclComm, PolderStream);
  int (*recv)(void *, size_t, int, int, PolderNcclComm, PolderStream);
  int (*allgather)(const void *, void *, size_t, int, PolderNcclComm, PolderStream);
  const char *(*geterrorstring)(int);
} PolderNcclCalls;

static const struct {
  const char *name;
  size_t      at; /* in PolderNcclCalls */
} PolderNcclNames[] = {
  {"ncclGetVersion",        offsetof(PolderNcclCalls, getversion)       },
  {"ncclGetUniqueId",       offsetof(PolderNcclCalls, getuniqueid)      },
  {"ncclCommInitRank",      offsetof(PolderNcclCalls, comminitrank)     },
  {"ncclCommDestroy",       offsetof(PolderNcclCalls, commdestroy)      },
  {"ncclCommAbort",         offsetof(PolderNcclCalls, commabort)        },
  {"ncclCommGetAsyncError", offsetof(PolderNcclCalls, commgetasyncerror)},
  {"ncclGroupStart",        offsetof(PolderNcclCalls, groupstart)       },
  {"ncclGroupEnd",          offsetof(PolderNcclCalls, groupend)         },
  {"ncclSend",              offsetof(PolderNcclCalls, send)             },
  {"ncclRecv",              offsetof(PolderNcclCalls, recv)             },
  {"ncclAllGather",         offsetof(PolderNcclCalls, allgather)        },
  {"ncclGetErrorString",    offsetof(PolderNcclCalls, geterrorstring)   },
};

struct _n_PolderNccl {
  PolderNcclCalls call;
  PolderNcclComm  comm; /* NULL: aborted */
  PetscMPIInt     rank, size;
  PetscReal       seconds;
  PetscScalar    *part; /* the terms of a sum */
  size_t          room; /* number of these */
  char            lost[256];
};

/* Raises an error when a call of NCCL has failed */
static PetscErrorCode PolderNcclRaise_Private(PolderNccl n, int err)
{
  PetscFunctionBegin;
  while (err == NCCL_INPROGRESS) { // NCCL_COMM_BLOCKING=0
    (void)sched_yield();
    if (n->call.commgetasyncerror(n->comm, &err) != NCCL_SUCCESS) break;
  }
  PetscCheck(err == NCCL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "NCCL: %s", n->call.geterrorstring(err));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PolderNcclCall(n, ...) PetscCall(PolderNcclRaise_Private((n), (n)->call.__VA_ARGS__))

/* The same reason on all processes: that of the first process that has one. *none: no process has one. Collective */
static PetscErrorCode PolderNcclAgree_Private(MPI_Comm comm, size_t len, char why[], PetscBool *none)
{
  PetscMPIInt rank, size, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  first = why[0] ? rank : size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  *none = (PetscBool)(first == size);
  if (!*none) PetscCallMPI(MPI_Bcast(why, (PetscMPIInt)len, MPI_CHAR, first, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The library stays loaded: it has threads of its own */
static PetscErrorCode PolderNcclLoad_Private(const char file[], PolderNcclCalls *call, int *version, size_t len, char why[])
{
  const char *name = file[0] ? file : POLDER_NCCL_FILE;
  void       *library;

  PetscFunctionBegin;
  *version = 0;
  PetscCheck(!setenv("NCCL_NVLS_ENABLE", "0", 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "NCCL_NVLS_ENABLE cannot be set"); // no multicast
  library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) PetscCall(PetscSNPrintf(why, len, "NCCL is not found (%s)", dlerror()));
  for (size_t k = 0; library && !why[0] && k < PETSC_STATIC_ARRAY_LENGTH(PolderNcclNames); ++k) {
    void *address = dlsym(library, PolderNcclNames[k].name);

    if (!address) PetscCall(PetscSNPrintf(why, len, "%s is no NCCL of version 2.7 or later: it has no %s()", name, PolderNcclNames[k].name));
    PetscCall(PetscMemcpy((char *)call + PolderNcclNames[k].at, &address, sizeof(address)));
  }
  if (!why[0]) (void)call->getversion(version);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes have the library. Collective */
static PetscErrorCode PolderNcclConnect_Private(MPI_Comm comm, PolderNccl n, size_t len, char why[], PetscBool *done)
{
  PolderNcclId id;
  int          err = NCCL_SUCCESS;

  PetscFunctionBegin;
  if (!n->rank) err = n->call.getuniqueid(&id);
  if (err != NCCL_SUCCESS) PetscCall(PetscSNPrintf(why, len, "NCCL: %s", n->call.geterrorstring(err)));
  PetscCall(PolderNcclAgree_Private(comm, len, why, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, comm));
  err = n->call.comminitrank(&n->comm, n->size, id, n->rank);
  while (err == NCCL_INPROGRESS && n->call.commgetasyncerror(n->comm, &err) == NCCL_SUCCESS) (void)sched_yield();
  if (err != NCCL_SUCCESS) {
    PetscCall(PetscSNPrintf(why, len, "NCCL: %s (NCCL_DEBUG=WARN says more)", n->call.geterrorstring(err)));
    n->comm = NULL;
  }
  PetscCall(PolderNcclAgree_Private(comm, len, why, done));
  if (!*done && n->comm) (void)n->call.commabort(n->comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderNcclCreate(MPI_Comm comm, const char file[], PetscReal seconds, PolderNccl *nccl, size_t len, char why[])
{
  PolderNccl n;
  int        version[2];
  PetscBool  done;

  PetscFunctionBegin;
  *nccl = NULL;
  PetscCall(PetscMemzero(why, len)); // the whole of it is sent
  PetscCall(PetscNew(&n));
  n->seconds = seconds;
  PetscCallMPI(MPI_Comm_rank(comm, &n->rank));
  PetscCallMPI(MPI_Comm_size(comm, &n->size));
  PetscCall(PolderNcclLoad_Private(file, &n->call, &version[0], len, why));
  PetscCall(PolderNcclAgree_Private(comm, len, why, &done));
  if (done) {
    version[1] = -version[0];
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, version, 2, MPI_INT, MPI_MAX, comm));
    if (version[0] != -version[1]) PetscCall(PetscSNPrintf(why, len, "the processes find NCCL in versions from %d to %d", -version[1], version[0]));
    else PetscCall(PolderNcclConnect_Private(comm, n, len, why, &done));
  }
  if (why[0]) PetscCall(PetscFree(n));
  else {
    PetscCall(PetscInfo(NULL, "NCCL has version %d\n", version[0]));
    *nccl = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderNcclDestroy(PolderNccl *nccl)
{
  PolderNccl n = *nccl;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (n->comm) {
    PetscCall(PolderDeviceSynchronize());
    PolderNcclCall(n, commdestroy(n->comm));
  }
  PetscCall(PolderDeviceFree(&n->part));
  PetscCall(PetscFree(*nccl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PolderNcclLost(PolderNccl n)
{
  return (PetscBool)(n->lost[0] != 0);
}

PetscErrorCode PolderNcclCheck(PolderNccl n, PetscReal waited)
{
  int err = NCCL_SUCCESS;

  PetscFunctionBegin;
  if (n->comm) {
    (void)n->call.commgetasyncerror(n->comm, &err);
    if (err != NCCL_SUCCESS && err != NCCL_INPROGRESS)
      PetscCall(PetscSNPrintf(n->lost, sizeof(n->lost), "NCCL: %s (a process has failed, or the network)", n->call.geterrorstring(err)));
    else if (waited > n->seconds)
      PetscCall(PetscSNPrintf(n->lost, sizeof(n->lost), "A process has not answered for %g seconds: it has failed, or it does other work (-polder_timeout)",
                              (double)n->seconds));
    if (n->lost[0]) {
      (void)n->call.commabort(n->comm);
      n->comm = NULL;
    }
  }
  PetscCheck(!n->lost[0], PETSC_COMM_SELF, PETSC_ERR_MPI, "%s", n->lost);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NCCL's own sums have an order that depends on the machine */
PetscErrorCode PolderNcclSum(PolderNccl n, PetscInt count, PetscScalar value[])
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderNcclCheck(n, 0));
  PetscCall(PolderDeviceGetStream(&stream));
  for (PetscInt k = 0; k < count; k += POLDER_PEERS_SUMS) {
    const PetscInt m = PetscMin(POLDER_PEERS_SUMS, count - k);

    if (n->room < (size_t)n->size * (size_t)m) {
      PetscCall(PolderDeviceFree(&n->part));
      n->room = (size_t)n->size * (size_t)m;
      PetscCall(PolderDeviceMalloc(sizeof(*n->part) * n->room, &n->part));
    }
    PolderNcclCall(n, allgather(value + k, n->part, (size_t)m, NCCL_FLOAT64, n->comm, stream));
    PolderLaunch(PolderSumParts_CUDA(n->size, m, n->part, value + k, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderNcclExchange(PolderNccl n, const PolderNcclMessages *m, PolderStream stream)
{
  PetscFunctionBegin;
  PetscCall(PolderNcclCheck(n, 0));
  PolderNcclCall(n, groupstart());
  for (int k = 0; k < m->n; ++k) {
    const size_t sent = (size_t)(m->sendptr[k + 1] - m->sendptr[k]), received = (size_t)(m->receiveptr[k + 1] - m->receiveptr[k]);

    if (sent) PolderNcclCall(n, send(m->send + PolderMessageAt(m->sendptr[k], k), sent * (size_t)m->bytes, NCCL_INT8, m->rank[k], n->comm, stream));
    if (received)
      PolderNcclCall(n, recv(m->receive + PolderMessageAt(m->receiveptr[k], k), received * (size_t)m->bytes, NCCL_INT8, m->rank[k], n->comm, stream));
  }
  PolderNcclCall(n, groupend());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderNcclGather(PolderNccl n, const PetscScalar own[], const PetscMPIInt count[], const PetscMPIInt displ[], PetscScalar all[],
                                PolderStream stream)
{
  const size_t mine = (size_t)count[n->rank];

  PetscFunctionBegin;
  PetscCall(PolderNcclCheck(n, 0));
  PolderNcclCall(n, groupstart());
  for (PetscMPIInt r = 0; r < n->size; ++r) {
    if (r == n->rank) continue;
    if (mine) PolderNcclCall(n, send(own, mine, NCCL_FLOAT64, r, n->comm, stream));
    if (count[r]) PolderNcclCall(n, recv(all + displ[r], (size_t)count[r], NCCL_FLOAT64, r, n->comm, stream));
  }
  PolderNcclCall(n, groupend());
  PetscFunctionReturn(PETSC_SUCCESS);
}
