static const char help[] = "Memory of the device, given out again and again, and copies to it and back.\n\n";

#include "devicetest.h"

/* Arrays that live at a time, and the longest one: longer than what is kept for reuse */
#define LIVE 150
#define MOST (512 * 1024 + 1000)

typedef struct {
  PetscScalar *there, start;
  PetscInt     n;
} Array;

/* Sizes around the limits of a copy of scalars, of a short array to the device and back, and of a block that is reused */
static PetscInt Length(void)
{
  static const PetscInt limit[] = {32, 64, 1024, 16 * 1024, 128 * 1024, 512 * 1024};
  const PetscInt        k       = Next(10);

  return k < 6 ? limit[small ? k % 4 : k] + Next(3) - 1 : 1 + Next(3000);
}

static PetscErrorCode Create(const PetscScalar pattern[], Array *a)
{
  PetscFunctionBeginUser;
  a->n     = Length();
  a->start = (PetscScalar)Next(1000);
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)a->n, pattern + (PetscInt)a->start, &a->there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the values that are others, and frees the array; between both steps of the copy others are created, and copied */
static PetscErrorCode Destroy(const PetscScalar pattern[], Array *a, Array *next, PetscScalar copy[], PetscInt *wrong)
{
  const size_t bytes = sizeof(PetscScalar) * (size_t)a->n;
  PolderFetch  fetch;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFetchBegin(bytes, a->there, &fetch));
  for (int k = 0; k < 20; ++k) {
    if (k) PetscCall(PolderDeviceFree(&next->there));
    PetscCall(Create(pattern, next));
  }
  PetscCall(PolderDeviceFetchEnd(&fetch, copy));
  *wrong += Wrong(a->n, copy, pattern + (PetscInt)a->start, 0);
  PetscCall(PolderDeviceFree(&a->there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMemory(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  PetscScalar *pattern, *copy;
  Array        live[LIVE + 1], next = {NULL};
  PetscInt     wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(MOST, &pattern, MOST, &copy));
  for (PetscInt i = 0; i < MOST; ++i) pattern[i] = Number();
  for (PetscInt k = 0; k < LIVE; ++k) PetscCall(Create(pattern, &live[k]));
  for (PetscInt step = 0; step < (small ? 100 : 1000); ++step) {
    const PetscInt k = Next(LIVE);

    PetscCall(Destroy(pattern, &live[k], &next, copy, &wrong));
    live[k] = next;
  }
  for (PetscInt k = 0; k < LIVE; ++k) {
    for (PetscInt l = 0; l < k; ++l) wrong += live[k].there < live[l].there + live[l].n && live[l].there < live[k].there + live[k].n;
  }
  for (PetscInt k = 0; k < LIVE; ++k) {
    PetscCall(PolderDeviceToHost(copy, live[k].there, sizeof(PetscScalar) * (size_t)live[k].n));
    wrong += Wrong(live[k].n, copy, pattern + (PetscInt)live[k].start, 0);
    PetscCall(PolderDeviceFree(&live[k].there));
  }
  PetscCall(PetscFree2(pattern, copy));
  PetscCall(Report("arrays there and back", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies under way that keep all buffers: further ones go another way */
static PetscErrorCode TestFetches(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  enum {
    MANY = 20,
    N    = 500
  };
  PetscScalar *here, *there[MANY], copy[N];
  PolderFetch  fetch[MANY];
  PetscInt     wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(MANY * N, &here));
  for (PetscInt i = 0; i < MANY * N; ++i) here[i] = Number();
  for (int k = 0; k < MANY; ++k) {
    PetscCall(PolderDeviceUpload(sizeof(copy), here + k * N, &there[k]));
    PetscCall(PolderDeviceFetchBegin(sizeof(copy), there[k], &fetch[k]));
  }
  for (int k = 0; k < MANY; ++k) {
    PetscCall(PolderDeviceFetchEnd(&fetch[k], copy));
    wrong += Wrong(N, copy, here + k * N, 0);
    PetscCall(PolderDeviceFree(&there[k]));
  }
  PetscCall(PetscFree(here));
  PetscCall(Report("many copies under way", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestMemory, TestFetches}
};

/*TEST

  build: internal

  test:
    requires: gpu

  test:
    suites: memcheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicecopies_1.out

TEST*/
