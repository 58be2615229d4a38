/*
  Kernels that send the values of a vector and read ghosts out of messages, against their host twins: the process sends itself what is to be its ghost values.
*/
#include "exchange.h"
#include "kernels/level.h"

/* Rows of a stencil and values for each neighbour */
typedef struct {
  PetscInt m, nd, off[5], each[NEIGH];
} Shape;

/* What one place has: the rows, those with ghosts, vectors in the precision of the cycle, and in double precision r and two sums */
typedef struct {
  const PolderPlace *place;
  PolderLevelMatrix  M;
  PolderSparseRows   O;
  Exchange           x;
  const void        *val[5], *b, *ghostdinv;
  void              *v, *w, *array[20];
  PetscScalar       *r, *sums;
  int                narray;
} Side;

static PetscErrorCode Keep(Side *s, size_t bytes, const void *from, void *to)
{
  PetscFunctionBeginUser;
  PetscCall(PolderPlaceUpload(s->place, bytes, from, to));
  s->array[s->narray++] = *(void **)to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n random values, in either precision */
static PetscErrorCode KeepValues(Side *s, PetscBool single, PetscInt n, const PetscScalar from[], void *to)
{
  float *rounded;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &rounded));
  for (PetscInt i = 0; i < n; ++i) rounded[i] = (float)from[i];
  if (single) PetscCall(Keep(s, sizeof(*rounded) * (size_t)n, rounded, to));
  else PetscCall(Keep(s, sizeof(*from) * (size_t)n, from, to));
  PetscCall(PetscFree(rounded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SideCreate(const Shape *shape, PetscBool single, const PetscScalar value[], Side *s)
{
  const PetscInt m = shape->m, ghosts = shape->each[0] + shape->each[1], ptr[NEIGH + 1] = {0, shape->each[0], ghosts};
  PetscInt      *from, *to, *row, *rowptr, *col, n = 0;
  PetscScalar    sums[2] = {1, 2};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(ghosts, &from, ghosts, &to, m, &row, m + 1, &rowptr, 2 * m, &col));
  for (PetscInt k = 0; k < ghosts; ++k) from[k] = (5 * k + 2) % m;
  for (PetscInt k = 0; k < ghosts; ++k) to[k] = k;
  rowptr[0] = 0;
  for (PetscInt i = 0; i < m; i += 3) {
    row[n]         = i;
    col[2 * n]     = i % ghosts;
    col[2 * n + 1] = (7 * i + 1) % ghosts;
    ++n;
    rowptr[n] = 2 * n;
  }
  s->O = (PolderSparseRows){.n = n, .nz = 2 * n};
  PetscCall(Keep(s, sizeof(*row) * (size_t)n, row, (void *)&s->O.row));
  PetscCall(Keep(s, sizeof(*rowptr) * (size_t)(n + 1), rowptr, (void *)&s->O.ptr));
  PetscCall(Keep(s, sizeof(*col) * (size_t)(2 * n), col, (void *)&s->O.col));
  PetscCall(Keep(s, sizeof(*value) * (size_t)(2 * n), value, (void *)&s->O.val));
  s->M = (PolderLevelMatrix){.n = m, .nd = shape->nd, .main = shape->nd / 2, .off = shape->off, .val = s->val};
  for (PetscInt d = 0; d < shape->nd; ++d) PetscCall(KeepValues(s, single, m, value + d, &s->val[d]));
  PetscCall(KeepValues(s, single, m, value + 7, (void *)&s->M.dinv));
  PetscCall(KeepValues(s, single, m, value + 11, &s->b));
  PetscCall(KeepValues(s, single, ghosts, value + 13, &s->ghostdinv));
  PetscCall(KeepValues(s, single, m, value + 17, &s->v));
  PetscCall(KeepValues(s, single, m, value + 19, &s->w));
  PetscCall(Keep(s, sizeof(*value) * (size_t)m, value + 23, &s->r));
  PetscCall(Keep(s, sizeof(sums), sums, &s->sums));
  PetscCall(ExchangeCreate(s->place, 1, ptr, from, to, &s->x));
  PetscCall(PetscFree5(from, to, row, rowptr, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SideDestroy(Side *s, PetscInt *wrong)
{
  PetscFunctionBeginUser;
  PetscCall(ExchangeDestroy(&s->x, wrong));
  for (int k = 0; k < s->narray; ++k) PetscCall((*s->place->free)(&s->array[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w <- b - A v, or the step after zero, on the rows of the process; v, or b, is sent */
static PetscErrorCode SendAndMultiply(Side *s, PetscBool single, const PolderLevelStep *step)
{
  const PolderExchange *e     = &s->x.e;
  const int             bytes = single ? 4 : 8;

  PetscFunctionBeginUser;
  if (s->place->device) {
    PolderStream stream;

    PetscCall(PolderDeviceGetStream(&stream));
    if (step) PolderLaunch(PolderLevelJacobi_CUDA(single, &s->M, step, s->b, NULL, s->w, NULL, e, stream));
    else PolderLaunch(PolderLevelResidual_CUDA(single, &s->M, s->b, s->v, s->w, NULL, NULL, e, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PolderExchangeStore_Host(e, bytes, step ? s->b : s->v);
  if (step && single) {
    PolderLevelScaleSingle_Host(s->M.n, (float)step->start, (const float *)s->M.dinv, (const float *)s->b, (float *)s->v);
    PolderLevelJacobiSingle_Host(&s->M, step, (const float *)s->b, (const float *)s->v, (float *)s->w);
  } else if (step) {
    PolderLevelScale_Host(s->M.n, step->start, (const PetscScalar *)s->M.dinv, (const PetscScalar *)s->b, (PetscScalar *)s->v);
    PolderLevelJacobi_Host(&s->M, step, (const PetscScalar *)s->b, (const PetscScalar *)s->v, (PetscScalar *)s->w);
  } else if (single) PolderLevelResidualSingle_Host(&s->M, (const float *)s->b, (const float *)s->v, (float *)s->w, NULL, 0, NULL);
  else PolderLevelResidual_Host(&s->M, (const PetscScalar *)s->b, (const PetscScalar *)s->v, (PetscScalar *)s->w, NULL, 0, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddGhosts(Side *s, PetscBool single, PolderOuterSum sum)
{
  PolderStream stream;

  PetscFunctionBeginUser;
  sum.ghosts.exchange = &s->x.e;
  if (!s->place->device) {
    if (single) PolderLevelOuterAddSingle_Host(&s->O, &sum, (float *)s->w);
    else PolderLevelOuterAdd_Host(&s->O, &sum, (PetscScalar *)s->w);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&sum.work));
  PolderLaunch(PolderLevelOuterAdd_CUDA(single, &s->O, &sum, s->w, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A residual, a step after zero, and a product whose change has sums; out[] takes w and the sums */
static PetscErrorCode SideRun(Side *s, PetscBool single, PetscScalar out[])
{
  const PolderLevelStep step = {.k = 1, .zero = PETSC_TRUE, .start = 0.4, .scale = -0.3};
  const PetscInt        m    = s->M.n;
  float                *w;

  PetscFunctionBeginUser;
  for (int times = 0; times < TIMES; ++times) {
    PetscCall(SendAndMultiply(s, single, NULL));
    PetscCall(AddGhosts(s, single, (PolderOuterSum){.scale = -1, .own = s->v}));
    PetscCall(SendAndMultiply(s, single, &step));
    PetscCall(AddGhosts(s, single, (PolderOuterSum){.scale = 0.3, .start = 0.4, .dinv = s->M.dinv, .own = s->b, .ghostdinv = s->ghostdinv}));
    PolderRun(s->place, PolderExchangeStore, &s->x.e, single ? 4 : 8, s->w);
    PetscCall(AddGhosts(s, single, (PolderOuterSum){.scale = 0.5, .own = s->b, .unit = 2, .r = s->r, .dots = s->sums}));
  }
  PetscCall(PetscMalloc1(m, &w));
  if (single) PetscCall(PolderPlaceTake(s->place, m, (float *)s->w, w));
  else PetscCall(PolderPlaceTake(s->place, m, (PetscScalar *)s->w, out));
  for (PetscInt i = 0; i < m && single; ++i) out[i] = w[i];
  PetscCall(PetscFree(w));
  PetscCall(PolderPlaceTake(s->place, 2, s->sums, out + m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestGhosts(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const Shape shapes[] = {
    {1,      3, {-1, 0, 1},            {1, 0}       },
    {50,     3, {-1, 0, 1},            {7, 30}      },
    {3000,   5, {-50, -1, 0, 1, 50},   {50, 50}     },
    {102400, 5, {-320, -1, 0, 1, 320}, {3200, 40000}}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < 2 * (PETSC_STATIC_ARRAY_LENGTH(shapes) - (small ? 1 : 0)); ++k) {
    const Shape    *shape  = &shapes[k / 2];
    const PetscBool single = (PetscBool)(k % 2);
    const PetscInt  m      = shape->m;
    PetscScalar    *value, *out[2];
    PetscReal       most = 1;

    PetscCall(PetscMalloc3(2 * m + 30, &value, m + 2, &out[0], m + 2, &out[1]));
    for (PetscInt i = 0; i < 2 * m + 30; ++i) value[i] = Number();
    for (int at = 0; at < 2; ++at) {
      Side side = {.place = PolderPlaceOf((PetscBool)at)};

      PetscCall(SideCreate(shape, single, value, &side));
      PetscCall(SideRun(&side, single, out[at]));
      PetscCall(SideDestroy(&side, &wrong));
    }
    for (PetscInt i = 0; i < m; ++i) most = PetscMax(most, PetscAbsScalar(out[0][i]));
    wrong += Wrong(m, out[1], out[0], (single ? 1e-5 : 1e-13) * most);
    wrong += Wrong(2, out[1] + m, out[0] + m, (single ? 1e-5 : 1e-13) * most * m);
    PetscCall(PetscFree3(value, out[0], out[1]));
  }
  PetscCall(Report("ghosts read in messages", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
