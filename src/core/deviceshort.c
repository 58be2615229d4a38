/*
  Short arrays on their way to the device, and back, through page-locked memory. A copy takes the host 4 microseconds then, and 10 to 40 from or to pageable
  memory, for which the driver waits.
*/
#include "devicecalls.h"

#if defined(POLDER_HAVE_CUDA)

  /* The most bytes of an array to the device, which the host copies once more, and of one to the host */
  #define POLDER_SHORT_THERE ((size_t)128 << 10)
  #define POLDER_SHORT_BACK  ((size_t)1 << 20)
  #define POLDER_SHORT_LEAST ((size_t)8 << 10)

typedef struct {
  void     *host;
  size_t    bytes;
  PetscBool away, kept; /* a copy out of it may not be complete; somebody keeps it */
} PolderShort;

static PolderShort PolderShorts[POLDER_DEVICE_SHORTS];
static int         PolderShortNext = 0; /* they take turns, so that a copy is complete when its buffer is taken again */

static PetscErrorCode PolderShortArrive_Private(int k)
{
  PetscFunctionBegin;
  if (PolderShorts[k].away) PetscCall(PolderDeviceCallArrive(POLDER_DEVICE_BUFFERS + k));
  PolderShorts[k].away = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderShortFinalize(void)
{
  PetscFunctionBegin;
  for (int k = 0; k < POLDER_DEVICE_SHORTS; ++k) {
    PetscCall(PolderShortArrive_Private(k));
    PetscCall(PolderDeviceFreeShared(&PolderShorts[k].host));
    PolderShorts[k].bytes = 0;
    PolderShorts[k].kept  = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderShortTake(size_t bytes, PetscBool keep, int *buffer, void **there)
{
  PolderShort *s = NULL;
  void        *device;
  size_t       room;

  PetscFunctionBegin;
  *buffer = -1;
  if (bytes > (keep ? POLDER_SHORT_BACK : POLDER_SHORT_THERE)) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < POLDER_DEVICE_SHORTS && !s; ++k) {
    PolderShortNext = (PolderShortNext + 1) % POLDER_DEVICE_SHORTS;
    if (!PolderShorts[PolderShortNext].kept) s = &PolderShorts[PolderShortNext];
  }
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderShortArrive_Private(PolderShortNext));
  if (s->bytes < bytes) {
    for (room = POLDER_SHORT_LEAST; room < bytes;) room *= 2;
    PetscCall(PolderDeviceFreeShared(&s->host));
    PetscCall(PolderDeviceMallocShared(room, &s->host, &device));
    s->bytes = room;
  }
  s->kept = keep;
  s->away = (PetscBool)!keep;
  *buffer = POLDER_DEVICE_BUFFERS + PolderShortNext;
  *there  = s->host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderShortGive(int buffer)
{
  PetscFunctionBegin;
  PolderShorts[buffer - POLDER_DEVICE_BUFFERS].kept = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
