/*
  The device layer on CUDA: freed memory that is given out again without a call of CUDA. Such a call takes the host 0.6 microseconds, and a set-up of a small
  problem makes 150 of them in a millisecond.
*/
#include "devicecalls.h"

#if defined(POLDER_HAVE_CUDA)
  #include "devicecuda.h"

  /* The largest block that is kept, the most bytes of all kept ones, and what sizes are multiples of */
  #define POLDER_REUSE_BLOCK ((size_t)4 << 20)
  #define POLDER_REUSE_ALL   ((size_t)64 << 20)
  #define POLDER_REUSE_UNIT  512
  #define POLDER_REUSE_LISTS 1024
  #define POLDER_REUSE_MOST  8192

/* A block, given out or kept. next: the following one of each list that it is in, or among those without memory; numbers begin with 1 */
typedef struct {
  char  *there;
  size_t bytes;
  int    next[2];
} PolderBlock;
enum {
  BY_PLACE, /* all blocks */
  BY_SIZE   /* those that are kept */
};

static PolderBlock  PolderBlocks[POLDER_REUSE_MOST + 1];
static int          PolderBlockLists[2][POLDER_REUSE_LISTS], PolderBlocksUsed = 0, PolderBlocksFree = 0;
static size_t       PolderReuseKept = 0; /* bytes */
static PolderStream PolderReuseStream;   /* of all work on these blocks */
static PetscBool    PolderReuseBegun = PETSC_FALSE, PolderReuseWanted = PETSC_TRUE;

static int *PolderBlockList(int by, const char *there, size_t bytes)
{
  return &PolderBlockLists[by][(by == BY_SIZE ? bytes : (size_t)there) / POLDER_REUSE_UNIT % POLDER_REUSE_LISTS];
}

static void PolderBlockAdd(int by, int k)
{
  int *list = PolderBlockList(by, PolderBlocks[k].there, PolderBlocks[k].bytes);

  PolderBlocks[k].next[by] = *list;
  *list                    = k;
}

/* The block at that place, or of that size; take: it leaves the list. 0: there is none */
static int PolderBlockFind(int by, const char *there, size_t bytes, PetscBool take)
{
  int *at = PolderBlockList(by, there, bytes);

  while (*at && (by == BY_SIZE ? PolderBlocks[*at].bytes != bytes : PolderBlocks[*at].there != there)) at = &PolderBlocks[*at].next[by];
  if (*at && take) {
    const int k = *at;

    *at = PolderBlocks[k].next[by];
    return k;
  }
  return *at;
}

/* The blocks are those of the first stream, unless -polder_reuse says that there are none */
static PetscErrorCode PolderReuseUse_Private(PolderStream stream, PetscBool *use)
{
  PetscFunctionBegin;
  if (!PolderReuseBegun) {
    PolderReuseBegun  = PETSC_TRUE;
    PolderReuseStream = stream;
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-polder_reuse", &PolderReuseWanted, NULL));
  }
  *use = (PetscBool)(PolderReuseWanted && stream == PolderReuseStream);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReuseMalloc(size_t *bytes, PolderStream stream, void **ptr)
{
  PetscBool use = PETSC_FALSE;
  int       k;

  PetscFunctionBegin;
  *ptr = NULL;
  if (*bytes > POLDER_REUSE_BLOCK) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderReuseUse_Private(stream, &use));
  if (!use) PetscFunctionReturn(PETSC_SUCCESS);
  *bytes = (*bytes + POLDER_REUSE_UNIT - 1) / POLDER_REUSE_UNIT * POLDER_REUSE_UNIT;
  k      = PolderBlockFind(BY_SIZE, NULL, *bytes, PETSC_TRUE);
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PolderReuseKept -= *bytes;
  *ptr = PolderBlocks[k].there;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReuseAdd(size_t bytes, PolderStream stream, void *ptr)
{
  PetscBool use = PETSC_FALSE;
  int       k;

  PetscFunctionBegin;
  if (bytes > POLDER_REUSE_BLOCK || (!PolderBlocksFree && PolderBlocksUsed == POLDER_REUSE_MOST)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderReuseUse_Private(stream, &use));
  if (!use) PetscFunctionReturn(PETSC_SUCCESS);
  k = PolderBlocksFree ? PolderBlocksFree : ++PolderBlocksUsed;
  if (k == PolderBlocksFree) PolderBlocksFree = PolderBlocks[k].next[BY_PLACE];
  PolderBlocks[k].there = (char *)ptr;
  PolderBlocks[k].bytes = bytes;
  PolderBlockAdd(BY_PLACE, k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReuseFree(PolderStream stream, void *ptr, PetscBool *kept)
{
  const int k = PolderBlockFind(BY_PLACE, (const char *)ptr, 0, PETSC_FALSE);

  PetscFunctionBegin;
  *kept = (PetscBool)(k && stream == PolderReuseStream && PolderReuseKept + PolderBlocks[k].bytes <= POLDER_REUSE_ALL);
  if (*kept) {
    PolderReuseKept += PolderBlocks[k].bytes;
    PolderBlockAdd(BY_SIZE, k);
  } else if (k) {
    (void)PolderBlockFind(BY_PLACE, (const char *)ptr, 0, PETSC_TRUE);
    PolderBlocks[k].next[BY_PLACE] = PolderBlocksFree;
    PolderBlocksFree               = k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReuseGiveBack(PolderStream stream)
{
  PetscFunctionBegin;
  for (int list = 0; list < POLDER_REUSE_LISTS; ++list) {
    while (PolderBlockLists[BY_SIZE][list]) {
      PolderBlock *block = &PolderBlocks[PolderBlockLists[BY_SIZE][list]];
      const int    k     = PolderBlockFind(BY_PLACE, block->there, 0, PETSC_TRUE);

      PolderBlockLists[BY_SIZE][list] = block->next[BY_SIZE];
      block->next[BY_PLACE]           = PolderBlocksFree;
      PolderBlocksFree                = k;
      PolderLaunch(cudaFreeAsync(block->there, stream));
    }
  }
  PolderReuseKept = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next PetscInitialize() may come with another stream */
PetscErrorCode PolderReuseFinalize(void)
{
  PolderStream stream;

  PetscFunctionBegin;
  if (!PolderReuseBegun) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderReuseGiveBack(stream));
  PetscCall(PetscArrayzero(PolderBlockLists[BY_PLACE], POLDER_REUSE_LISTS));
  PolderBlocksUsed = PolderBlocksFree = 0;
  PolderReuseBegun                    = PETSC_FALSE;
  PolderReuseWanted                   = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
