/*
  Large arrays on their way to the device, in pieces. Several threads make the pieces in page-locked buffers while earlier ones are copied. A copy from
  pageable memory has a seventh of the speed of one from page-locked memory, and page-locking the array itself takes longer than copying it.
*/
#define _GNU_SOURCE // sched_getaffinity()
#include "devicecalls.h"
#include "options.h"
#include <petsclog.h>

#if defined(POLDER_HAVE_CUDA)
  #include <pthread.h>
  #include <sched.h>
  #include <unistd.h>

  /* With this many threads the host reads as fast as the bus of a GPU takes the pieces */
  #define POLDER_STREAM_THREADS 12

PolderStreamLimits PolderDeviceLimits = {.least = 8 << 20, .piece = 512 << 10, .threads = 0};

/* The buffers, in one allocation */
static char  *PolderBuffers      = NULL;
static size_t PolderBuffersBytes = 0;

typedef struct {
  size_t           bytes, piece, number; /* of the array, of a piece, number of pieces */
  PolderDeviceFill fill;
  const void      *ctx;
  size_t           buffers;
  pthread_mutex_t  lock;
  pthread_cond_t   filled, freed;
  size_t           next, end;                    /* the next piece to make; piece `end` has no free buffer yet */
  PetscBool        ready[POLDER_DEVICE_BUFFERS]; /* the piece in this buffer is made */
  PetscBool        failed;
} PolderPieces;

static char *PolderPiecesBuffer(const PolderPieces *s, size_t k)
{
  return PolderBuffers + k % s->buffers * PolderDeviceLimits.piece;
}

static size_t PolderPiecesBytes(const PolderPieces *s, size_t k)
{
  return PetscMin(s->piece, s->bytes - k * s->piece);
}

/* What a thread does. It calls nothing of PETSc, which is not safe for threads */
static void *PolderPiecesMake(void *ctx)
{
  PolderPieces *s = (PolderPieces *)ctx;

  (void)pthread_mutex_lock(&s->lock);
  for (;;) {
    PetscBool good;
    size_t    k;

    while (!s->failed && s->next < s->number && s->next >= s->end) (void)pthread_cond_wait(&s->freed, &s->lock);
    if (s->failed || s->next >= s->number) break;
    k = s->next++;
    (void)pthread_mutex_unlock(&s->lock);
    good = (*s->fill)(s->ctx, k * s->piece, PolderPiecesBytes(s, k), PolderPiecesBuffer(s, k));
    (void)pthread_mutex_lock(&s->lock);
    s->ready[k % s->buffers] = PETSC_TRUE;
    if (!good) s->failed = PETSC_TRUE;
    (void)pthread_cond_signal(&s->filled);
    if (!good) (void)pthread_cond_broadcast(&s->freed);
  }
  (void)pthread_mutex_unlock(&s->lock);
  return NULL;
}

/* Waits for piece k, or makes it when there are no threads; PETSC_FALSE: a piece could not be made */
static PetscBool PolderPiecesGet(PolderPieces *s, size_t k, size_t threads)
{
  PetscBool good;

  if (!threads) return (*s->fill)(s->ctx, k * s->piece, PolderPiecesBytes(s, k), PolderPiecesBuffer(s, k));
  (void)pthread_mutex_lock(&s->lock);
  while (!s->failed && !s->ready[k % s->buffers]) (void)pthread_cond_wait(&s->filled, &s->lock);
  s->ready[k % s->buffers] = PETSC_FALSE;
  good                     = (PetscBool)!s->failed;
  (void)pthread_mutex_unlock(&s->lock);
  return good;
}

static void PolderPiecesFree(PolderPieces *s, size_t end)
{
  (void)pthread_mutex_lock(&s->lock);
  s->end = end;
  (void)pthread_cond_broadcast(&s->freed);
  (void)pthread_mutex_unlock(&s->lock);
}

/* Sends the pieces in their order. With threads, half of the buffers are on their way at most */
static PetscErrorCode PolderPiecesSend_Private(PolderPieces *s, size_t threads, char *to)
{
  const size_t ahead = threads ? s->buffers / 2 : s->buffers;
  size_t       k;

  PetscFunctionBegin;
  for (k = 0; k < s->number; ++k) {
    if (k >= ahead) PetscCall(PolderDeviceCallArrive((int)((k - ahead) % s->buffers)));
    if (k >= ahead) PolderPiecesFree(s, k - ahead + 1 + s->buffers);
    if (!PolderPiecesGet(s, k, threads)) s->failed = PETSC_TRUE;
    if (s->failed) break;
    PetscCall(PolderDeviceCallSend((int)(k % s->buffers), to + k * s->piece, PolderPiecesBuffer(s, k), PolderPiecesBytes(s, k)));
  }
  for (size_t l = k > ahead ? k - ahead : 0; l < k; ++l) PetscCall(PolderDeviceCallArrive((int)(l % s->buffers)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceThreads(size_t *threads)
{
  cpu_set_t   mine;
  PetscMPIInt size;
  PetscInt    given = PolderDeviceLimits.threads;
  long        share;

  PetscFunctionBegin;
  if (!given) {
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    share = PetscMax(1, sysconf(_SC_NPROCESSORS_ONLN) / size);
    given = sched_getaffinity(0, sizeof(mine), &mine) ? 1 : (PetscInt)PetscMin(share, CPU_COUNT(&mine));
    given = PetscMin(given, POLDER_STREAM_THREADS);
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-polder_threads", &given, NULL));
    PolderCheckBounds(PETSC_COMM_SELF, "-polder_threads", given, 1, POLDER_DEVICE_BUFFERS / 2);
    PolderDeviceLimits.threads = given;
  }
  *threads = (size_t)given;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderStreamFinalize_Private(void)
{
  PetscFunctionBegin;
  if (PolderBuffers) PetscCall(PolderDeviceCallUnlock(PolderBuffers));
  PolderBuffers      = NULL;
  PolderBuffersBytes = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t PolderDeviceBuffersBytes(size_t threads)
{
  return 2 * threads * PolderDeviceLimits.piece;
}

/* The buffers; *got = PETSC_FALSE: the system refuses to lock so much memory */
static PetscErrorCode PolderStreamBuffers_Private(size_t bytes, PetscBool *got)
{
  PetscFunctionBegin;
  *got = PETSC_TRUE;
  if (PolderBuffersBytes >= bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderStreamFinalize_Private());
  PetscCall(PolderDeviceCallLock(bytes, &PolderBuffers));
  PetscCall(PetscRegisterFinalize(PolderStreamFinalize_Private));
  if (PolderBuffers) PolderBuffersBytes = bytes;
  *got = (PetscBool) !!PolderBuffers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceStream(size_t bytes, size_t piece, PolderDeviceFill fill, const void *ctx, void *to, PetscBool *done)
{
  PolderPieces   s = {.bytes = bytes, .piece = piece, .number = (bytes + piece - 1) / piece, .fill = fill, .ctx = ctx};
  pthread_t      thread[POLDER_DEVICE_BUFFERS / 2];
  size_t         threads, started = 0;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCheck(piece && piece <= PolderDeviceLimits.piece, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A piece of %zu bytes does not fit into a buffer of %zu", piece,
             PolderDeviceLimits.piece);
  PetscCall(PolderDeviceThreads(&threads));
  s.buffers = s.end = 2 * threads;
  PetscCall(PolderStreamBuffers_Private(PolderDeviceBuffersBytes(threads), done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  (void)pthread_mutex_init(&s.lock, NULL);
  (void)pthread_cond_init(&s.filled, NULL);
  (void)pthread_cond_init(&s.freed, NULL);
  while (threads > 1 && started < PetscMin(threads, s.number) && !pthread_create(&thread[started], NULL, PolderPiecesMake, &s)) ++started;
  ierr = PolderPiecesSend_Private(&s, started, (char *)to);
  (void)pthread_mutex_lock(&s.lock);
  if (ierr) s.failed = PETSC_TRUE;
  s.next = s.number;
  (void)pthread_cond_broadcast(&s.freed);
  (void)pthread_mutex_unlock(&s.lock);
  while (started) (void)pthread_join(thread[--started], NULL);
  (void)pthread_cond_destroy(&s.freed);
  (void)pthread_cond_destroy(&s.filled);
  (void)pthread_mutex_destroy(&s.lock);
  PetscCall(ierr);
  *done = (PetscBool)!s.failed;
  if (*done) PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
