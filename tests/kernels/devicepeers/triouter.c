/* Sweeps over triangles with ghost columns against their host twins: the process sends itself what is to be its ghost values. */
#include "exchange.h"
#include "kernels/triouter.h"

/* A triangle with its ghost columns at one place, and an exchange there */
typedef struct {
  const PolderPlace *place;
  PolderTriOuter     T;
  Exchange           x;
  void              *array[8];
  int                narray;
} Side;

/* Rows, offsets, and values for each neighbour */
typedef struct {
  PetscInt m, nd, off[3], each[NEIGH];
} Shape;

static PetscErrorCode Keep(Side *s, size_t bytes, const void *from, void *to)
{
  PetscFunctionBeginUser;
  PetscCall(PolderPlaceUpload(s->place, bytes, from, to));
  s->array[s->narray++] = *(void **)to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random values on the diagonals, in the inverse diagonal and in the ghost columns of every third row. All of them are exact in single precision. The two sides
   get the same */
static PetscErrorCode SidesCreate(const Shape *shape, PetscBool single, PetscBool upper, Side side[2])
{
  const PetscInt  m = shape->m, ghosts = shape->each[0] + shape->each[1], ptr[NEIGH + 1] = {0, shape->each[0], ghosts};
  const size_t    value = single ? sizeof(float) : sizeof(PetscScalar);
  PetscInt       *from, *to, *bi, *bj, nz = 0;
  float          *values;
  PetscScalar    *wide, *ba;
  PolderTriOuter *T;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(ghosts, &from, ghosts, &to, m + 1, &bi, 2 * m, &bj));
  PetscCall(PetscMalloc3(4 * m, &values, 4 * m, &wide, 2 * m, &ba));
  for (PetscInt k = 0; k < ghosts; ++k) from[k] = (5 * k + 2) % m;
  for (PetscInt k = 0; k < ghosts; ++k) to[k] = k;
  for (PetscInt k = 0; k < 4 * m; ++k) wide[k] = values[k] = (float)(k < 3 * m ? Number() : 0.5 + 0.25 * Number());
  bi[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt k = 0; i % 3 == 1 && ghosts && k < 2; ++k, ++nz) {
      bj[nz] = k ? ghosts - 1 - i % ((ghosts + 1) / 2) : i % ((ghosts + 1) / 2); // before and after nlow
      ba[nz] = 0.1 * Number();
    }
    bi[i + 1] = nz;
  }
  for (int at = 0; at < 2; ++at) {
    Side *s = &side[at];

    *s = (Side){.place = PolderPlaceOf((PetscBool)at)};
    T  = &s->T;
    *T = (PolderTriOuter){.single = single, .upper = upper, .m = m, .nd = shape->nd, .nlow = ghosts / 2, .ghosts = {.n = m}};
    for (PetscInt d = 0; d < shape->nd; ++d) {
      T->off[d] = upper ? shape->off[d] : -shape->off[shape->nd - 1 - d];
      PetscCall(Keep(s, value * (size_t)m, single ? (void *)(values + d * m) : (void *)(wide + d * m), (void *)&T->val[d]));
    }
    PetscCall(Keep(s, value * (size_t)m, single ? (void *)(values + 3 * m) : (void *)(wide + 3 * m), (void *)&T->dinv));
    PetscCall(Keep(s, sizeof(*bi) * (size_t)(m + 1), bi, (void *)&T->ghosts.i));
    PetscCall(Keep(s, sizeof(*bj) * (size_t)nz, bj, (void *)&T->ghosts.j));
    PetscCall(Keep(s, sizeof(*ba) * (size_t)nz, ba, (void *)&T->ghosts.a));
    PetscCall(ExchangeCreate(s->place, 2, ptr, from, to, &s->x));
  }
  PetscCall(PetscFree4(from, to, bi, bj));
  PetscCall(PetscFree3(values, wide, ba));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SidesDestroy(Side side[2], PetscInt *wrong)
{
  PetscFunctionBeginUser;
  for (int at = 0; at < 2; ++at) {
    PetscCall(ExchangeDestroy(&side[at].x, wrong));
    for (int k = 0; k < side[at].narray; ++k) PetscCall((*side[at].place->free)(&side[at].array[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which rows depend on ghosts, their list, and whether a row that is sent has ghosts; rows of either side in row[] */
static PetscErrorCode CheckRows(Side side[2], PetscInt *row[2], PetscInt *nrow, PetscInt *wrong)
{
  const PetscInt m = side[0].T.m;
  PetscInt      *depends[2], *there, *list[2];
  PetscInt64    *scan, *scanthere;
  int            bad[2] = {0, 0}, *badthere;

  PetscFunctionBeginUser;
  for (int at = 0; at < 2; ++at) PetscCall(PetscMalloc1(m, &depends[at]));
  PetscCall(PetscMalloc1(m, &scan));
  PetscCall(PolderDeviceMalloc(sizeof(*there) * (size_t)m, &there));
  PolderTriOuterReach_Host(&side[0].T, depends[0]);
  PolderRun(&PolderOnDevice, PolderTriOuterReach, &side[1].T, there);
  PetscCall(PolderDeviceToHost(depends[1], there, sizeof(*there) * (size_t)m));
  *nrow = 0;
  for (PetscInt i = 0; i < m; ++i) {
    *wrong += depends[0][i] != depends[1][i];
    *nrow += depends[0][i];
    scan[i] = ((PetscInt64)*nrow << 32) + i;
  }
  PetscCall(PolderDeviceUpload(sizeof(*scan) * (size_t)m, scan, &scanthere));
  for (int at = 0; at < 2; ++at) PetscCall(PetscMalloc1(*nrow, &list[at]));
  PetscCall(PetscMalloc1(*nrow, &row[0]));
  PetscCall(PolderDeviceMalloc(sizeof(*row[1]) * (size_t)*nrow, &row[1]));
  PolderTriOuterRows_Host(m, depends[0], scan, row[0]);
  PolderRun(&PolderOnDevice, PolderTriOuterRows, m, there, scanthere, row[1]);
  PetscCall(PolderDeviceToHost(list[1], row[1], sizeof(*row[1]) * (size_t)*nrow));
  for (PetscInt k = 0; k < *nrow; ++k) *wrong += row[0][k] != list[1][k] || (k && row[0][k] <= row[0][k - 1]);
  PetscCall(PolderDeviceUpload(sizeof(bad[1]), &bad[1], &badthere));
  PolderTriOuterCheck_Host(&side[0].x.e, &side[0].T, &bad[0]);
  PolderRun(&PolderOnDevice, PolderTriOuterCheck, &side[1].x.e, &side[1].T, badthere);
  PetscCall(PolderPlaceFetch(&PolderOnDevice, sizeof(bad[1]), &badthere, &bad[1]));
  *wrong += bad[0] != bad[1];
  PetscCall(PolderDeviceFree(&scanthere));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PetscFree(scan));
  for (int at = 0; at < 2; ++at) PetscCall(PetscFree(depends[at]));
  for (int at = 0; at < 2; ++at) PetscCall(PetscFree(list[at]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The correction of z on the device and the state after it, against what the host adds; sum: the same sum there */
static PetscErrorCode AddThere(Side *s, PolderRowList rows, PolderTriKind kind, PetscBool frozen, PetscScalar z[], PetscScalar sum, void *work, PetscInt *wrong)
{
  const PetscReal tol = 1e-12 * (1.0 + PetscAbsScalar(sum)) * (rows.n + 1);
  PolderMailbox  *box;
  PolderPeersView view = {.size = 1};
  PolderCGState   state, *there;
  PolderTriEnd    end = {.kind = kind, .peers = &view};
  PolderStream    stream;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*box), &box));
  PetscCall(PolderDeviceZero(box, sizeof(*box)));
  view.box[0]   = box;
  view.patience = s->x.e.patience;
  PetscCall(StateCreate(&there));
  end.state = there;
  PetscCall(PolderDeviceToHost(&state, there, sizeof(state)));
  state.parallel = state.nullspace = 1;
  state.N                          = 10;
  state.frozen                     = frozen ? POLDER_CG_TOLERANCE : 0;
  state.sum[1]                     = 1e3;
  state.sum[2] = state.sum[3] = 0;
  state.pmean                 = 2;
  PetscCall(PolderDeviceFromHost(there, &state, sizeof(state)));
  PolderLaunch(PolderTriOuterAdd_CUDA(&s->x.e, &s->T, rows, &end, z, work, stream));
  if (kind == POLDER_TRI_RHO) {
    sum += 1e3;
    PetscCall(StateCheck(there, 1, &sum, tol, (PetscBool)!frozen, wrong));
  } else {
    PetscCall(PolderDeviceToHost(&state, there, sizeof(state)));
    sum = kind == POLDER_TRI_PLAIN || frozen ? 2 : (2 + sum) / 10;
    *wrong += Wrong(1, &state.pmean, &sum, tol);
  }
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Messages, some of them sent twice, and corrections of each kind, several times; in some the neighbours need nothing of this process */
static PetscErrorCode CheckAdd(Side side[2], PetscInt *const row[2], PetscInt nrow, void *work, PetscInt *wrong)
{
  const PetscInt m = side[0].T.m;
  PetscScalar   *in[2], *z[2], *got, sum;

  PetscFunctionBeginUser;
  PetscCall(Random(m, &in[0], &in[1]));
  PetscCall(Random(m, &z[0], &z[1]));
  PetscCall(PetscMalloc1(m, &got));
  for (int times = 0; times < 3 * TIMES; ++times) {
    const PolderTriKind kind   = (PolderTriKind)(times % 3);
    const PetscBool     frozen = (PetscBool)(times == 7 || times == 8), serves = (PetscBool)(times % 4 != 3);
    const PetscInt      rows = serves ? nrow : 0; // no value is sent, and none may be waited for
    const PolderRowList here = {frozen && kind == POLDER_TRI_DIRECTION ? 0 : rows, row[0]}, there = {rows, row[1]};

    for (int at = 0; at < 2; ++at) {
      side[at].T.rank = serves == side[at].T.upper ? 1 : -1; // that of the neighbours is 0
      PolderRun(side[at].place, PolderTriOuterSend, &side[at].x.e, &side[at].T, in[at]);
      if (times % 5 > 2) PolderRun(side[at].place, PolderTriOuterResend, &side[at].x.e, &side[at].T, in[at]);
    }
    sum = PolderTriOuterAdd_Host(&side[0].x.e, &side[0].T, here, kind, z[0]);
    PetscCall(AddThere(&side[1], there, kind, frozen, z[1], sum, work, wrong));
    PetscCall(PolderDeviceToHost(got, z[1], sizeof(*got) * (size_t)m));
    *wrong += Wrong(m, got, z[0], 1e-12);
    for (PetscInt i = 0; i < m; ++i) in[0][i] = Number();
    PetscCall(PolderDeviceFromHost(in[1], in[0], sizeof(*got) * (size_t)m));
  }
  PetscCall(PetscFree(got));
  PetscCall(PetscFree(in[0]));
  PetscCall(PetscFree(z[0]));
  PetscCall(PolderDeviceFree(&in[1]));
  PetscCall(PolderDeviceFree(&z[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestTriOuter(void *work, PETSC_UNUSED PolderStream stream)
{
  static const Shape shapes[] = {
    {1,      2, {1, 1, 0},       {1, 0}       },
    {33,     2, {1, 7, 0},       {0, 5}       },
    {257,    3, {1, 4, 16},      {31, 33}     },
    {4097,   3, {1, 16, 256},    {256, 1}     },
    {50021,  2, {1, 300, 0},     {300, 300}   },
    {300007, 3, {1, 70, 4900},   {9800, 20000}},
    {300000, 3, {1, 550, 90000}, {90000, 1}   }
  };
  PetscInt wrong = 0, nrow = 0, *row[2];
  Side     side[2];

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes) - (small ? 2 : 0); ++k) {
    for (int form = 0; form < 4; ++form) {
      PetscCall(SidesCreate(&shapes[k], (PetscBool)(form % 2), (PetscBool)(form / 2), side));
      PetscCall(CheckRows(side, row, &nrow, &wrong));
      PetscCall(CheckAdd(side, row, nrow, work, &wrong));
      PetscCall(PetscFree(row[0]));
      PetscCall(PolderDeviceFree(&row[1]));
      PetscCall(SidesDestroy(side, &wrong));
    }
  }
  PetscCall(Report("sweeps with ghosts", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
