static const char help[] = "Kernels on the rows of one process, against their host twins: rows by directions on a grid and by diagonals, for a gather.\n\n";

#include "devicetest.h"
#include "core/place.h"
#include "kernels/dia.h"
#include "kernels/rrb.h"

/* Rows of a process at a place, with own columns and ghosts */
typedef struct {
  const PolderPlace *place;
  PolderRows         rows, ghosts;
  PetscInt          *node;
  void              *array[7];
  int                narray;
} Own;

static PetscErrorCode Keep(Own *own, size_t bytes, const void *from, void *to)
{
  PetscFunctionBeginUser;
  PetscCall(PolderPlaceUpload(own->place, bytes, from, to));
  own->array[own->narray++] = *(void **)to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OwnCreate(const PolderPlace *place, const PolderRows *rows, const PolderRows *ghosts, PetscInt nghost, const PetscInt node[], Own *own)
{
  const size_t n = (size_t)rows->n;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(own, sizeof(*own)));
  own->place    = place;
  own->rows.n   = rows->n;
  own->ghosts.n = rows->n;
  PetscCall(Keep(own, sizeof(PetscInt) * (n + 1), rows->i, (void *)&own->rows.i));
  PetscCall(Keep(own, sizeof(PetscInt) * (size_t)rows->i[n], rows->j, (void *)&own->rows.j));
  PetscCall(Keep(own, sizeof(PetscScalar) * (size_t)rows->i[n], rows->a, (void *)&own->rows.a));
  if (!ghosts->i) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Keep(own, sizeof(PetscInt) * (n + 1), ghosts->i, (void *)&own->ghosts.i));
  PetscCall(Keep(own, sizeof(PetscInt) * (size_t)ghosts->i[n], ghosts->j, (void *)&own->ghosts.j));
  PetscCall(Keep(own, sizeof(PetscScalar) * (size_t)ghosts->i[n], ghosts->a, (void *)&own->ghosts.a));
  PetscCall(Keep(own, sizeof(PetscInt) * (size_t)nghost, node, &own->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OwnDestroy(Own *own)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < own->narray; ++k) PetscCall((*own->place->free)(&own->array[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both kernels at a place: rows by directions, then by the diagonals of the grid; out takes their arrays, one after the other */
static PetscErrorCode OwnRun(Own *own, const PolderRRBOwn *box, PetscScalar out[], int *seen)
{
  const PolderPlace *place = own->place;
  const PetscInt     nx = box->nx, off[] = {-nx - 1, -nx, 1 - nx, -1, 0, 1, nx - 1, nx, nx + 1};
  const PolderDia    dia = {.nd = POLDER_RRB_DIRECTIONS, .off = off};
  const size_t       n = (size_t)own->rows.n, count = POLDER_RRB_DIRECTIONS * n;
  PetscScalar       *a, *to[POLDER_RRB_DIRECTIONS];
  int               *there, none = 0;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < 2 * count; ++i) out[i] = NAN;
  PetscCall(PolderPlaceUpload(place, sizeof(*out) * 2 * count, out, &a));
  PetscCall(PolderPlaceUpload(place, sizeof(none), &none, &there));
  for (int d = 0; d < POLDER_RRB_DIRECTIONS; ++d) to[d] = a + (size_t)d * n;
  PolderRun(place, PolderRRBOwnRows, box, own->rows, own->ghosts, own->node, to, there);
  for (int d = 0; d < POLDER_RRB_DIRECTIONS; ++d) to[d] = a + count + (size_t)d * n;
  PolderRun(place, PolderDiaOwnRows, &dia, to, own->rows, own->ghosts, own->node, box->begin);
  PetscCall(PolderPlaceFetch(place, sizeof(*out) * 2 * count, &a, out));
  PetscCall(PolderPlaceFetch(place, sizeof(*seen), &there, seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows begin .. end in natural order (width = nx), or the box of that width whose first node is (x0, 0), of nx by ny nodes; stray: one row couples nodes far
   from each other */
static PetscErrorCode TestOwn(PolderRRBOwn box, PetscInt ny, PetscInt n, PetscBool corners, PetscBool stray, PetscInt *wrong)
{
  const PetscInt nx = box.nx, size = POLDER_RRB_DIRECTIONS * (n + 1);
  PetscInt      *ai, *aj, *bi, *bj, *node, nz = 0, ng = 0;
  PetscScalar   *aa, *ba, *out[2], *expected;
  int            seen[2] = {0, 0}, due = (corners ? RRB_SEEN_NINE : 0) | (stray ? RRB_SEEN_BAD : 0);

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc6(n + 1, &ai, size, &aj, n + 1, &bi, size, &bj, size, &node, size, &expected));
  PetscCall(PetscMalloc4(size, &aa, size, &ba, 2 * size, &out[0], 2 * size, &out[1]));
  ai[0] = bi[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt k = box.begin + i, x = box.x0 + k % box.width, y = box.y0 + k / box.width;

    for (int d = 0; d < POLDER_RRB_DIRECTIONS; ++d) {
      const PetscInt    u = x + d % 3 - 1, v = y + d / 3 - 1, j = (v - box.y0) * box.width + u - box.x0 - box.begin;
      const PetscBool   there = (PetscBool)(u >= 0 && v >= 0 && u < nx && v < ny && (corners || d % 2 || d == RRB_TO_SELF));
      const PetscBool   mine  = (PetscBool)(u >= box.x0 && u < box.x0 + box.width && v >= box.y0 && j >= 0 && j < n);
      const PetscScalar value = Number();

      expected[d * n + i] = there ? value : 0;
      if (there && mine) {
        aj[nz]   = j;
        aa[nz++] = value;
      } else if (there) {
        node[ng] = v * nx + u;
        bj[ng]   = ng;
        ba[ng++] = value;
      }
    }
    if (stray && i == n / 2) {
      aj[nz]   = i + 2 * nx;
      aa[nz++] = 1;
    }
    ai[i + 1] = nz;
    bi[i + 1] = ng;
  }
  for (int at = 0; at < 2; ++at) {
    const PolderRows rows = {.n = n, .i = ai, .j = aj, .a = aa}, ghosts = {.n = n, .i = ng ? bi : NULL, .j = bj, .a = ba};
    Own              own;

    PetscCall(OwnCreate(at ? &PolderOnDevice : &PolderOnHost, &rows, &ghosts, ng, node, &own));
    PetscCall(OwnRun(&own, &box, out[at], &seen[at]));
    PetscCall(OwnDestroy(&own));
    *wrong += seen[at] != due;
    for (PetscInt i = 0; i < POLDER_RRB_DIRECTIONS * n; ++i) *wrong += out[at][i] != expected[i];
  }
  for (PetscInt i = POLDER_RRB_DIRECTIONS * n; i < 2 * POLDER_RRB_DIRECTIONS * n; ++i) { // in natural order, diagonals are directions
    *wrong += out[0][i] != out[1][i];
    if (box.width == nx && !stray) *wrong += out[0][i] != expected[i - POLDER_RRB_DIRECTIONS * n];
  }
  PetscCall(PetscFree4(aa, ba, out[0], out[1]));
  PetscCall(PetscFree6(ai, aj, bi, bj, node, expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAll(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const PetscInt grids[][2] = {
    {5,   3  },
    {31,  33 },
    {64,  17 },
    {257, 129},
    {3,   900}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); ++k) {
    const PetscInt nx = grids[k][0], ny = grids[k][1], N = nx * ny;

    for (int form = 0; form < 4; ++form) {
      const PetscBool corners = (PetscBool)(form % 2), stray = (PetscBool)(form / 2 && ny > 10);

      PetscCall(TestOwn((PolderRRBOwn){.nx = nx, .width = nx}, ny, N, corners, stray, &wrong));
      PetscCall(TestOwn((PolderRRBOwn){.nx = nx, .width = nx, .begin = N / 3 + 1}, ny, N / 2, corners, stray, &wrong));
      PetscCall(TestOwn((PolderRRBOwn){.nx = nx, .width = nx / 2, .x0 = 1, .y0 = ny / 3}, ny, nx / 2 * (ny / 2), corners, PETSC_FALSE, &wrong));
    }
  }
  PetscCall(TestOwn((PolderRRBOwn){.nx = 7, .width = 7, .begin = 3}, 4, 0, PETSC_FALSE, PETSC_FALSE, &wrong));
  PetscCall(Report("rows of one process", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestAll}};

/*TEST

  build: internal

  test:
    suites: memcheck initcheck
    requires: cuda

TEST*/
