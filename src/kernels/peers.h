/*
  Sums and ghost values between processes that write to each other's memory: GPUs of one host, each used by one process. There are no requests and the host
  takes no part. A kernel stores values into the memory of the others, each beside the number of its message, which increases by one each time. Value and number
  are one access, so a kernel that finds the number has the value, and no fence is needed. Messages alternate between two buffers. A process writes to a buffer
  again only after it has seen a value of the message that its peer has sent after reading this buffer.
*/
#pragma once

#include "launcher.h"
#include <stdint.h>

/* Maximum number of processes of a group, and of values of one sum */
#define POLDER_PEERS_MOST 16
#define POLDER_PEERS_SUMS 4096

/* How long a kernel waits, and where it reports which process has not answered */
typedef struct {
  double        seconds;
  volatile int *lost; /* in shared memory: 1 + the rank that did not answer in time, after which no kernel waits any more; 0: all have answered */
} PolderPatience;

/* A value, 4 or 8 bytes of it, and the number of its message: 16 bytes that are stored and loaded as one */
typedef struct {
  uint64_t bits, number;
} PolderCell;

/* Memory of a process into which its peers store the values of sums */
typedef struct {
  uint64_t     count;    /* number of the last sum of this process */
  unsigned int finished; /* number of blocks that have finished, zero between launches */
  PolderCell   cell[2][POLDER_PEERS_MOST][POLDER_PEERS_SUMS];
} PolderMailbox;

/* A group of processes, from the point of view of one of them */
typedef struct {
  int            rank, size;
  PolderMailbox *box[POLDER_PEERS_MOST]; /* of each process, this one included */
  PolderPatience patience;
} PolderPeersView;

/* value[k] <- the sum of value[k] over all processes, in the order of their ranks, n <= POLDER_PEERS_SUMS; NaN when a process does not answer in time. n = 0:
   the processes only wait for each other */
PETSC_INTERN void   PolderPeersSum_Host(const PolderPeersView *peers, PetscInt n, PetscScalar value[]);
POLDER_LAUNCHER int PolderPeersSum_CUDA(const PolderPeersView *peers, PetscInt n, PetscScalar value[], PolderStream stream);

/*
  An exchange with neighbours. Entries 0 .. n-1 of the arrays belong to the neighbours; the arrays are in device memory. A message has a token, a cell without
  a value: a process that sends to another must hear from it, even if that has no values for it.
*/
typedef struct {
  int                n, width;               /* width: values of a ghost */
  PetscInt           mostsent, mostreceived; /* largest number of values for or from one neighbour */
  PetscInt           nsent;                  /* number of values for all neighbours */
  const PetscInt    *sendptr, *sendidx;      /* [n + 1], [sendptr[n]]: x[sendidx[sendptr[k] ...]] goes to neighbour k */
  const PetscInt    *recvptr, *recvidx;      /* y[recvidx[recvptr[k] ...]] comes from neighbour k */
  PolderCell *const *there, *const *token;   /* [n] addresses of the values, and of the token, in the memory of neighbour k */
  const size_t     *half;                    /* [n] distance in cells from these to the second buffer */
  const PolderCell *here;                    /* value w of ghost g arrives in cell width g + w, the token of neighbour k in cell width recvptr[n] + k */
  size_t            halfhere;
  uint64_t         *sent, *received; /* [n] numbers of the last message */
  unsigned int     *finished;        /* [2 n] number of blocks that have finished, zero between launches */
  const int        *rank;            /* [n] ranks of the neighbours */
  PolderPatience    patience;
} PolderExchange;

/* For a kernel that sends values as it computes them: neighbour k gets those of rows first[k] .. first[k] + count[k] - 1. The kernel does not count the
   message */
#define POLDER_SENDS 4
typedef struct {
  int             n;
  PetscInt        first[POLDER_SENDS], count[POLDER_SENDS];
  PolderCell     *there[POLDER_SENDS], *token[POLDER_SENDS];
  size_t          half[POLDER_SENDS];
  const uint64_t *sent; /* number of the last message, the same for all neighbours */
} PolderSends;
PETSC_INTERN void PolderSendRows_Host(const PolderSends *sends, int bytes, const void *x);

/* Host: value c of message `number`, which is waited for; the number of the messages that are due, which now count as received; sends value c, then counts */
PETSC_INTERN PetscScalar PolderExchangeValue_Host(const PolderExchange *e, uint64_t number, PetscInt c);
PETSC_INTERN float       PolderExchangeValueSingle_Host(const PolderExchange *e, uint64_t number, PetscInt c);
PETSC_INTERN uint64_t    PolderExchangeDue_Host(const PolderExchange *e);
PETSC_INTERN void        PolderExchangePut_Host(const PolderExchange *e, int k, PetscInt c, PetscScalar value);
PETSC_INTERN void        PolderExchangeCount_Host(const PolderExchange *e);

/* Sends x to the neighbours; bytes, 4 or 8, is the size of a value */
PETSC_INTERN void   PolderExchangeSend_Host(const PolderExchange *e, int bytes, const void *x);
POLDER_LAUNCHER int PolderExchangeSend_CUDA(const PolderExchange *e, int bytes, const void *x, PolderStream stream);
/* The same without counting the messages, which the kernel does that reads PolderGhosts */
PETSC_INTERN void   PolderExchangeStore_Host(const PolderExchange *e, int bytes, const void *x);
POLDER_LAUNCHER int PolderExchangeStore_CUDA(const PolderExchange *e, int bytes, const void *x, PolderStream stream);
/* y[recvidx] <- the values from the neighbours */
PETSC_INTERN void   PolderExchangeReceive_Host(const PolderExchange *e, int bytes, void *y);
POLDER_LAUNCHER int PolderExchangeReceive_CUDA(const PolderExchange *e, int bytes, void *y, PolderStream stream);
/* y[recvidx] += the values from neighbour k; call it for the neighbours in the order 0 .. n-1 */
PETSC_INTERN void   PolderExchangeAdd_Host(const PolderExchange *e, int k, PetscScalar y[]);
POLDER_LAUNCHER int PolderExchangeAdd_CUDA(const PolderExchange *e, int k, PetscScalar y[], PolderStream stream);

/*
  Where a kernel finds the values of the ghosts: in memory, or with exchange, whose recvidx is 0, 1, 2, ..., in the messages that are due. The kernel waits for
  them, and counts them as received and those of this process as sent
*/
typedef struct {
  const void           *value;
  const PolderExchange *exchange;
} PolderGhosts;
/* Host: the number of the messages, which are counted; ghost c */
PETSC_INTERN uint64_t    PolderGhostsBegin_Host(const PolderGhosts *g);
PETSC_INTERN PetscScalar PolderGhost_Host(const PolderGhosts *g, uint64_t number, PetscInt c);
PETSC_INTERN float       PolderGhostSingle_Host(const PolderGhosts *g, uint64_t number, PetscInt c);

/* Rows with entries in ghost columns: row[k], k < n, of compressed rows; nz entries in all */
typedef struct {
  PetscInt           n, nz;
  const PetscInt    *row, *ai, *aj;
  const PetscScalar *aa;
  PetscScalar        alpha;
  PetscScalar       *added; /* NULL, or [n]: alpha B x of row[k], on output */
  PetscBool          count; /* the kernel that has sent the values has not counted the message */
} PolderGhostRows;

/*
  z += alpha B x in these rows. x are the values of the last messages, in the order of recvidx = 0, 1, 2, ...; they are read directly from the receive buffers.
  dot != NULL: *dot += (p, B x), and with peers *dot <- the sum of *dot over all processes
*/
PETSC_INTERN void   PolderExchangeMultAdd_Host(const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView *peers, const PetscScalar p[],
                                               PetscScalar z[], PetscScalar *dot);
POLDER_LAUNCHER int PolderExchangeMultAdd_CUDA(const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView *peers, const PetscScalar p[],
                                               PetscScalar z[], PetscScalar *dot, void *work, PolderStream stream);

/*
  A gather: every process gets the values of all. The n[r] values of process r are lines of width[r] values, ld[r] apart in the result: value i becomes
  all[first[r] + i / width[r] * ld[r] + i % width[r]].
*/
typedef struct {
  int            rank, size;
  PetscInt       n[POLDER_PEERS_MOST], first[POLDER_PEERS_MOST], width[POLDER_PEERS_MOST], ld[POLDER_PEERS_MOST];
  PetscInt       begin[POLDER_PEERS_MOST];   /* where the values of a process begin in a buffer; even numbers */
  PetscInt       half;                       /* size of a buffer, even */
  PolderCell    *cell[POLDER_PEERS_MOST];    /* for few values, instead of buffer[] and arrived[]: [2 half] of each process */
  PetscScalar   *buffer[POLDER_PEERS_MOST];  /* [2 half] of each process, this one included */
  uint64_t      *arrived[POLDER_PEERS_MOST]; /* [size] on each process: numbers of the last messages; NULL here: the buffer is full, and nobody waits */
  uint64_t      *count;                      /* [2] number of the last message that was sent, received */
  unsigned int  *finished;                   /* [2] number of blocks that have finished, zero between launches */
  PolderPatience patience;
} PolderGather;

/* Sends own[0 .. n[rank]) to all others */
PETSC_INTERN void   PolderGatherSend_Host(const PolderGather *g, const PetscScalar own[]);
POLDER_LAUNCHER int PolderGatherSend_CUDA(const PolderGather *g, const PetscScalar own[], PolderStream stream);
/* all <- own and the values of the others; NaN for a process that does not answer in time */
PETSC_INTERN void   PolderGatherReceive_Host(const PolderGather *g, const PetscScalar own[], PetscScalar all[]);
POLDER_LAUNCHER int PolderGatherReceive_CUDA(const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream);
/* Both with cells, which must have room for at least one value of each process; own = NULL: the values of this process are in `all` */
PETSC_INTERN void   PolderGatherCells_Host(const PolderGather *g, const PetscScalar own[], PetscScalar all[]);
POLDER_LAUNCHER int PolderGatherCells_CUDA(const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream);
/* Without messages: all <- own in its own part; own <- its part of all */
PETSC_INTERN void   PolderGatherPut_Host(const PolderGather *g, const PetscScalar own[], PetscScalar all[]);
POLDER_LAUNCHER int PolderGatherPut_CUDA(const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream);
PETSC_INTERN void   PolderGatherTake_Host(const PolderGather *g, const PetscScalar all[], PetscScalar own[]);
POLDER_LAUNCHER int PolderGatherTake_CUDA(const PolderGather *g, const PetscScalar all[], PetscScalar own[], PolderStream stream);

/* Place of value i of process r in the result of a gather */
POLDER_BODY PetscInt PolderGatherPlace(const PolderGather *g, int r, PetscInt i)
{
  const PetscInt line = i / g->width[r];

  return g->first[r] + line * g->ld[r] + i - line * g->width[r];
}

/* Number of cells from process r: one that has no values tells that it has read the buffer */
POLDER_BODY PetscInt PolderGatherCellsOf(const PolderGather *g, int r)
{
  return g->n[r] ? g->n[r] : 1;
}
