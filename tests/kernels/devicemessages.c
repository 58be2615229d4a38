static const char help[] = "Packing and unpacking of messages between devices, and sums of parts, on the device against the host.\n\n";

#include "devicetest.h"
#include "core/place.h"
#include "kernels/messages.h"

enum {
  MESSAGES = 3
};

/* All kernels once at a place: a vector of n values is packed, unpacked into a vector of NaN, and added to itself, in values of 4 and of 8 bytes; out has room
   for the buffer with NaN between the messages, and for three vectors */
static PetscErrorCode Run(const PolderPlace *place, const PolderMessages *host, PetscInt n, PetscInt room, const PetscScalar v[], const PetscScalar nan[],
                          PetscScalar out[])
{
  PolderMessages m     = *host;
  const PetscInt total = host->ptr[host->n];
  PetscScalar   *buffer, *x, *y[3];

  PetscFunctionBeginUser;
  PetscCall(PolderPlaceUpload(place, sizeof(*m.ptr) * (size_t)(m.n + 1), host->ptr, (void *)&m.ptr));
  PetscCall(PolderPlaceUpload(place, sizeof(*m.idx) * (size_t)total, host->idx, (void *)&m.idx));
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)room, nan, &buffer));
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)n, v, &x));
  for (int k = 0; k < 3; ++k) PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)n, k < 2 ? nan : v, &y[k]));
  PolderRun(place, PolderMessagesPack, &m, 4, x, (char *)buffer);
  PolderRun(place, PolderMessagesUnpack, &m, 4, (const char *)buffer, y[0]);
  PolderRun(place, PolderMessagesPack, &m, 8, x, (char *)buffer);
  PolderRun(place, PolderMessagesUnpack, &m, 8, (const char *)buffer, y[1]);
  for (int k = 0; k < m.n; ++k) PolderRun(place, PolderMessagesAdd, &m, k, (const char *)buffer, y[2]);
  PetscCall(PolderPlaceFetch(place, sizeof(*v) * (size_t)room, &buffer, out));
  for (int k = 0; k < 3; ++k) PetscCall(PolderPlaceFetch(place, sizeof(*v) * (size_t)n, &y[k], out + room + k * n));
  PetscCall((*place->free)(&x));
  PetscCall((*place->free)((void *)&m.ptr));
  PetscCall((*place->free)((void *)&m.idx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* each[]: values of each message. Two messages have indices in common, one message none twice */
static PetscErrorCode TestOf(const PetscInt each[], PetscInt *wrong)
{
  const PetscInt ptr[MESSAGES + 1] = {0, each[0], each[0] + each[1], each[0] + each[1] + each[2]}, total = ptr[MESSAGES], n = 2 * total + 3;
  const PetscInt room = (PetscInt)(PolderMessageAt(total, MESSAGES) / sizeof(PetscScalar));
  PetscInt      *idx;
  PetscScalar   *v, *nan, *out[2];
  PolderMessages m = {.n = MESSAGES, .most = PetscMax(each[0], PetscMax(each[1], each[2])), .ptr = ptr};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(total, &idx, n, &v, n + room, &nan, room + 3 * n, &out[0], room + 3 * n, &out[1]));
  for (int k = 0; k < MESSAGES; ++k) {
    for (PetscInt i = ptr[k]; i < ptr[k + 1]; ++i) idx[i] = (5 * k + 2 * (i - ptr[k])) % n; /* n is odd */
    *wrong += PolderMessageAt(ptr[k], k) % 16 != 0 || PolderMessageAt(ptr[k], k) + 8 * (size_t)each[k] > PolderMessageAt(ptr[k + 1], k + 1);
  }
  m.idx = idx;
  for (PetscInt i = 0; i < n; ++i) v[i] = Number();
  for (PetscInt i = 0; i < n + room; ++i) nan[i] = NAN;
  PetscCall(Run(&PolderOnHost, &m, n, room, v, nan, out[0]));
  PetscCall(Run(&PolderOnDevice, &m, n, room, v, nan, out[1]));
  *wrong += memcmp(out[0], out[1], sizeof(*v) * (size_t)(room + 3 * n)) != 0;
  for (PetscInt i = 0; i < total; ++i) *wrong += out[0][room + n + idx[i]] != v[idx[i]];
  PetscCall(PetscFree5(idx, v, nan, out[0], out[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMessages(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const PetscInt each[][MESSAGES] = {
    {0,     0,   0   },
    {1,     0,   1   },
    {31,    33,  32  },
    {257,   1,   256 },
    {30011, 999, 4097}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(each) - (small ? 1 : 0); ++k) PetscCall(TestOf(each[k], &wrong));
  PetscCall(Report("messages between processes", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestParts(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const PetscInt sizes[] = {0, 1, 2, 31, 32, 33, 257, 4096};
  PetscInt              wrong   = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (int parts = 1; parts < 20; parts = 3 * parts + 1) {
      const PetscInt n = sizes[s];
      PetscScalar   *part, *sum, *there, *got;

      PetscCall(PetscMalloc2(n * parts, &part, n, &sum));
      for (PetscInt i = 0; i < n * parts; ++i) part[i] = Number() * (i % 3 ? 1 : 1e-9);
      PolderSumParts_Host(parts, n, part, sum);
      PetscCall(PolderPlaceUpload(&PolderOnDevice, sizeof(*part) * (size_t)(n * parts), part, &there));
      PetscCall(PolderDeviceMalloc(sizeof(*sum) * (size_t)n, &got));
      PolderRun(&PolderOnDevice, PolderSumParts, parts, n, there, got);
      PetscCall(PolderPlaceFetch(&PolderOnDevice, sizeof(*sum) * (size_t)n, &got, part));
      wrong += memcmp(part, sum, sizeof(*sum) * (size_t)n) != 0; // in the same order the same bits
      PetscCall(PolderDeviceFree(&there));
      PetscCall(PetscFree2(part, sum));
    }
  }
  PetscCall(Report("sums of parts", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestMessages, TestParts}
};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
