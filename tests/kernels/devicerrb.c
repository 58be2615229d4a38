static const char help[] = "Device kernels of the repeated red-black preconditioner against the kernels of the host: awkward grids, poisoned output.\n\n";

#include "devicerrb.h"

typedef struct {
  PetscBool half, five, single, spoilt;
} Form;

/* The steps of the factorisation, one after the other; c and, single, s are left with the factor. spoilt: a pivot is negative, or values are
   too small for single precision */
static PetscErrorCode CheckFactor(const PolderRRBGrid *g, Form form, Array *c, float **s, float **sd, PolderStream stream, PetscInt *wrong)
{
  const PetscBool  half = form.half, five = form.five, single = form.single, spoilt = form.spoilt;
  const PetscInt   n = half ? (g->nx * g->ny + 1) / 2 : 0, ld = g->nx / 2 + Next(2), before = *wrong;
  PolderRRBEntries rows[2];
  Array            a[RRB_NROW], x, out[RRB_NROW];
  PetscScalar     *row[2][RRB_NROW];
  int              seen = 0, *seend, got;

  PetscFunctionBeginUser;
  PetscCall(EntriesCreate(g->nx, g->ny, five, spoilt && single ? 1e60 : 1, rows, a));
  if (spoilt && !single) {
    a[RRB_C].h[rows[0].ld + g->nx / 4 * 2] = -1; /* of b2 */
    PetscCall(ArrayUpload(&a[RRB_C]));
  }
  PetscCall(PolderDeviceMalloc(sizeof(int), &seend));
  PetscCall(PolderDeviceZero(seend, sizeof(int)));
  PetscCall(ArrayCreate(g->size, PETSC_FALSE, 0, &x));
  RRBTwinBlack(g, &rows[0], 0.9, c->h, x.h, &seen);
  PolderLaunch(PolderRRBBlack_CUDA(g, &rows[1], 0.9, c->d, x.d, seend, stream));
  if (!spoilt) PetscCall(ArrayCompare(c, 1e-13, wrong));
  if (!spoilt) PetscCall(ArrayCompare(&x, 1e-13, wrong));
  PetscCall(Tell("black nodes", g->nx, g->ny, half, before, *wrong));
  RRBTwinRed(g, half, 0.9, c->h, x.h, &seen);
  PolderLaunch(PolderRRBRed_CUDA(g, half, 0.9, c->d, x.d, seend, stream));
  if (!spoilt) PetscCall(ArrayCompare(c, 1e-13, wrong));
  if (!spoilt) PetscCall(ArrayCompare(&x, 1e-13, wrong));
  PetscCall(Tell("red nodes", g->nx, g->ny, half, before, *wrong));
  for (int f = 0; f < RRB_NROW; ++f) {
    PetscCall(ArrayCreate(half ? (size_t)n : (size_t)ld * (size_t)(g->ny / 2), PETSC_FALSE, 0, &out[f]));
    row[0][f] = out[f].h;
    row[1][f] = out[f].d;
  }
  RRBTwinNext(g, half, c->h, x.h, row[0], ld);
  PolderLaunch(PolderRRBNext_CUDA(g, half, c->d, x.d, row[1], ld, stream));
  for (int f = 0; f < RRB_NROW; ++f) {
    if (!spoilt) PetscCall(ArrayCompare(&out[f], 1e-13, wrong));
    PetscCall(ArrayDestroy(&out[f], 0));
  }
  PetscCall(Tell("next rows", g->nx, g->ny, half, before, *wrong));
  RRBTwinScale(g, c->h, single ? *s : NULL, &seen);
  PolderLaunch(PolderRRBScale_CUDA(g, c->d, single ? *sd : NULL, seend, stream));
  if (!spoilt) PetscCall(ArrayCompare(c, 1e-13, wrong));
  if (spoilt) {
    PetscCall(PolderDeviceToHost(&got, seend, sizeof(got)));
    *wrong += !(seen & (single ? RRB_SEEN_RANGE : RRB_SEEN_PIVOT)) + !(got & (single ? RRB_SEEN_RANGE : RRB_SEEN_PIVOT));
  } else PetscCall(CompareSeen(seen, seend, wrong));
  PetscCall(Tell("scaled factor", g->nx, g->ny, half, before, *wrong));
  PetscCall(PolderDeviceFree(&seend));
  PetscCall(ArrayDestroy(&x, 0));
  PetscCall(EntriesDestroy(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps with the factor c over vectors whose lines begin at an even or odd place, or at a place that pairs cannot be read from */
static PetscErrorCode CheckSweeps(const PolderRRBGrid *g, PetscBool half, PetscBool single, const void *c[2], PolderStream stream, PetscInt *wrong)
{
  const PetscInt n = (g->nx * g->ny + 1) / 2, ldnext = g->nx / 2 + Next(3);
  void          *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetWork(&work));
  for (int form = 0; form < 6; ++form) {
    const PetscInt ld = g->nx + form % 3, shift = form / 3, before = *wrong;
    const size_t   next = half ? (size_t)n : (size_t)ldnext * (size_t)(g->ny / 2);
    Array          r, x, rnext, xnext, rr, zz;
    PolderCGState *state;
    PetscScalar    dot[2];
    PolderRRBStep  step[2];

    PetscCall(ArrayCreate((size_t)ld * (size_t)g->ny, PETSC_TRUE, shift, &r));
    PetscCall(ArrayCreate((size_t)ld * (size_t)g->ny, PETSC_FALSE, form == 2 ? 1 : shift, &x));
    PetscCall(ArrayCreate(next, PETSC_FALSE, 0, &rnext));
    PetscCall(ArrayCreate(next, PETSC_TRUE, 0, &xnext));
    PetscCall(StateCreate(&state));
    for (PetscInt y = 0; y < g->ny; ++y) /* what lies between lines is not read */
      for (PetscInt i = g->nx; i < ld; ++i) r.h[y * ld + i] = NAN;
    PetscCall(ArrayUpload(&r));
    step[0] = (PolderRRBStep){.g = *g, .half = half, .c = c[0], .r = r.h, .x = x.h, .ld = ld, .rnext = rnext.h, .xnext = xnext.h, .ldnext = ldnext};
    step[1] = (PolderRRBStep){.g = *g, .half = half, .c = c[1], .r = r.d, .x = x.d, .ld = ld, .rnext = rnext.d, .xnext = xnext.d, .ldnext = ldnext};
    RRBTwinForward(single, &step[0]);
    PolderLaunch(PolderRRBForward_CUDA(single, &step[1], stream));
    PetscCall(ArrayCompare(&rnext, 1e-13, wrong));
    PetscCall(Tell("forward", g->nx, g->ny, form + 10 * half, before, *wrong));
    RRBTwinBackward(single, &step[0], form % 2 ? NULL : dot);
    PolderLaunch(PolderRRBBackward_CUDA(single, &step[1], form % 2 ? NULL : &(PolderCGRho){state, PETSC_FALSE}, work, stream));
    PetscCall(ArrayCompare(&x, 1e-13, wrong));
    if (form % 2 == 0) PetscCall(StateCheck(state, 2, dot, 1e-11 * (1 + PetscAbsScalar(dot[0]) + PetscAbsScalar(dot[1])), PETSC_TRUE, wrong));
    PetscCall(Tell("backward", g->nx, g->ny, form + 10 * half, before, *wrong));
    if (!half && form < 2) {
      PetscCall(ArrayCreate((size_t)n, PETSC_TRUE, shift, &rr));
      PetscCall(ArrayCreate((size_t)n, PETSC_FALSE, shift, &zz));
      RRBTwinReducedForward(single, &step[0], rr.h);
      PolderLaunch(PolderRRBReducedForward_CUDA(single, &step[1], rr.d, stream));
      PetscCall(ArrayCompare(&rnext, 1e-13, wrong));
      RRBTwinReducedBackward(single, &step[0], rr.h, zz.h, form ? NULL : dot);
      PetscCall(PolderDeviceFree(&state));
      PetscCall(StateCreate(&state));
      PolderLaunch(PolderRRBReducedBackward_CUDA(single, &step[1], rr.d, zz.d, form ? NULL : &(PolderCGRho){state, PETSC_FALSE}, work, stream));
      PetscCall(ArrayCompare(&zz, 1e-13, wrong));
      if (!form) PetscCall(StateCheck(state, 2, dot, 1e-11 * (1 + PetscAbsScalar(dot[0]) + PetscAbsScalar(dot[1])), PETSC_TRUE, wrong));
      PetscCall(Tell("red vectors", g->nx, g->ny, form, before, *wrong));
      PetscCall(ArrayDestroy(&rr, shift));
      PetscCall(ArrayDestroy(&zz, shift));
    }
    PetscCall(PolderDeviceFree(&state));
    PetscCall(ArrayDestroy(&xnext, 0));
    PetscCall(ArrayDestroy(&rnext, 0));
    PetscCall(ArrayDestroy(&x, form == 2 ? 1 : shift));
    PetscCall(ArrayDestroy(&r, shift));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows from .. to of a grid that is not half. Of r the lines 2 from - 1 .. 2 to + 1 are read, of the next solution from - 1 .. to; all others are no numbers */
static PetscErrorCode CheckSomeRows(const PolderRRBGrid *g, PetscBool single, const void *c[2], PolderStream stream, PetscInt *wrong)
{
  const PetscInt ld = g->nx + Next(2), ldnext = g->nx / 2 + Next(3), from = g->hy / 3, to = PetscMax(g->hy - g->hy / 4, from + 1), before = *wrong;
  const size_t   next = (size_t)ldnext * (size_t)(g->ny / 2);
  Array          r, x, rnext, xnext;
  PolderRRBStep  step[2];
  void          *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(ArrayCreate((size_t)ld * (size_t)g->ny, PETSC_TRUE, 0, &r));
  PetscCall(ArrayCreate((size_t)ld * (size_t)g->ny, PETSC_FALSE, 0, &x));
  PetscCall(ArrayCreate(next, PETSC_FALSE, 0, &rnext));
  PetscCall(ArrayCreate(next, PETSC_TRUE, 0, &xnext));
  for (PetscInt y = 0; y < g->ny; ++y)
    for (PetscInt i = 0; i < ld; ++i) r.h[y * ld + i] = y < 2 * from - 1 || y > 2 * to + 1 ? NAN : r.h[y * ld + i];
  for (PetscInt y = 0; y < g->ny / 2; ++y)
    for (PetscInt i = 0; i < ldnext; ++i) xnext.h[y * ldnext + i] = y < from - 1 || y > to ? NAN : xnext.h[y * ldnext + i];
  PetscCall(ArrayUpload(&r));
  PetscCall(ArrayUpload(&xnext));
  step[0] = (PolderRRBStep){.g = *g, .c = c[0], .r = r.h, .x = x.h, .ld = ld, .rnext = rnext.h, .xnext = xnext.h, .ldnext = ldnext, .from = from, .to = to};
  step[1] = (PolderRRBStep){.g = *g, .c = c[1], .r = r.d, .x = x.d, .ld = ld, .rnext = rnext.d, .xnext = xnext.d, .ldnext = ldnext, .from = from, .to = to};
  RRBTwinForward(single, &step[0]);
  PolderLaunch(PolderRRBForward_CUDA(single, &step[1], stream));
  PetscCall(ArrayCompare(&rnext, 1e-13, wrong));
  RRBTwinBackward(single, &step[0], NULL);
  PolderLaunch(PolderRRBBackward_CUDA(single, &step[1], NULL, work, stream));
  PetscCall(ArrayCompare(&x, 1e-13, wrong));
  for (PetscInt y = 2 * from; y < PetscMin(2 * to, g->ny); ++y)
    for (PetscInt i = 0; i < g->nx; ++i) *wrong += PetscIsNanScalar(x.h[y * ld + i]);
  PetscCall(Tell("some rows", g->nx, g->ny, single, before, *wrong));
  PetscCall(ArrayDestroy(&xnext, 0));
  PetscCall(ArrayDestroy(&rnext, 0));
  PetscCall(ArrayDestroy(&x, 0));
  PetscCall(ArrayDestroy(&r, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Edges of arrays of ones become zero: all but the nodes that have others on all sides */
static PetscErrorCode CheckEdges(const PolderRRBGrid *g, PetscBool single, PolderStream stream, PetscInt *wrong)
{
  enum {
    ARRAYS = 3
  };
  const size_t   n = ARRAYS * g->size, bytes = n * (single ? sizeof(float) : sizeof(PetscScalar));
  const PetscInt before = *wrong;
  PetscScalar   *host;
  void          *near, *far;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &host, n, (PetscScalar **)&near));
  for (size_t i = 0; i < n; ++i) {
    host[i] = 1;
    if (single) ((float *)near)[i] = 1;
    else ((PetscScalar *)near)[i] = 1;
  }
  PetscCall(PolderDeviceUpload(bytes, near, &far));
  PolderRRBClearEdges_Host(g, ARRAYS, host);
  PolderLaunch(PolderRRBClearEdges_CUDA(g, ARRAYS, single, far, stream));
  PetscCall(PolderDeviceToHost(near, far, bytes));
  for (size_t i = 0; i < n; ++i) {
    const ptrdiff_t p = (ptrdiff_t)(i % g->size) - (ptrdiff_t)g->origin, P = g->pitch;
    const PetscBool inside = (PetscBool)(p >= P && p < (g->hy - 1) * P && p % P > 0 && p % P < g->hx - 1);

    *wrong += host[i] != (inside ? 1 : 0) || (single ? (PetscScalar)((float *)near)[i] : ((PetscScalar *)near)[i]) != host[i];
  }
  PetscCall(Tell("edges", g->nx, g->ny, single, before, *wrong));
  PetscCall(PolderDeviceFree(&far));
  PetscCall(PetscFree2(host, near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGrids(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++k) {
    for (int single = 0; single < 2; ++single) {
      const PolderRRBGrid g = Grid(Sizes[k][0], Sizes[k][1]);

      if (!TooLarge(g.nx, g.ny)) PetscCall(CheckEdges(&g, (PetscBool)single, stream, &wrong));
    }
    for (int form = 0; form < 16; ++form) {
      const PetscBool     half = (PetscBool)(form % 2), single = (PetscBool)(form / 2 % 2), spoilt = (PetscBool)(form / 8);
      const PolderRRBGrid g = Grid(Sizes[k][0], Sizes[k][1]);
      Array               c;
      float              *s = NULL, *sd = NULL;

      if (TooLarge(g.nx, g.ny) || (spoilt && g.nx * g.ny > 1000)) continue;
      PetscCall(CoefCreate(&g, RRB_NCOEF, &c));
      PetscCall(PetscCalloc1(RRB_NCOEF * g.size, &s));
      PetscCall(PolderDeviceUpload(sizeof(float) * RRB_NCOEF * g.size, s, &sd));
      PetscCall(CheckFactor(&g, (Form){half, (PetscBool)(form / 4 % 2), single, spoilt}, &c, &s, &sd, stream, &wrong));
      if (!spoilt) {
        const void *coef[2] = {single ? (const void *)s : c.h, single ? (const void *)sd : c.d};

        if (single) PetscCall(PolderDeviceFromHost(sd, s, sizeof(float) * RRB_NCOEF * g.size)); // rounded alike
        PetscCall(CheckSweeps(&g, half, single, coef, stream, &wrong));
        if (!half) PetscCall(CheckSomeRows(&g, single, coef, stream, &wrong));
      }
      PetscCall(PolderDeviceFree(&sd));
      PetscCall(PetscFree(s));
      PetscCall(ArrayDestroy(&c, 0));
    }
  }
  PetscCall(Report("factor and sweeps of a grid", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grids and the rest as one matrix, on vectors of all nodes of the first grid or of its red ones */
static PetscErrorCode TestTail(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt sizes[][3] = {
    {2,   2,   1 },
    {2,   2,   99},
    {3,   2,   2 },
    {5,   4,   3 },
    {15,  16,  99},
    {17,  2,   99},
    {31,  31,  1 },
    {31,  31,  2 },
    {31,  31,  5 },
    {31,  31,  99},
    {33,  31,  99},
    {45,  45,  4 },
    {45,  45,  7 },
    {46,  44,  2 },
    {4,   255, 99},
    {511, 4,   99}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    for (int form = 0; form < 4; ++form) {
      const PetscBool single = (PetscBool)(form % 2), red = (PetscBool)(form / 2);
      const PetscInt  nx = sizes[k][0], ny = sizes[k][1], n = red ? (nx * ny + 1) / 2 : nx * ny, ld = n + 1 + Next(4), before = wrong;
      Chain           chain;
      Array           T;
      PolderRRBSystem here, there;

      if (n > POLDER_RRB_TAIL || (red && sizes[k][2] < 2) || TooLarge(10 * nx, ny)) continue;
      PetscCall(ChainCreate(nx, ny, sizes[k][2], &chain));
      for (PetscInt g = 0; g < chain.ngrid; ++g) {
        chain.step[0][g].c = single ? (const void *)chain.s[0][g] : chain.c[g].h;
        chain.step[1][g].c = single ? (const void *)chain.s[1][g] : chain.c[g].d;
      }
      for (PetscInt i = 0; i < chain.n; ++i)
        for (PetscInt j = 0; j < i; ++j) chain.inverse.h[i * chain.ld + j] = chain.inverse.h[j * chain.ld + i];
      PetscCall(ArrayUpload(&chain.inverse));
      PetscCall(ArrayCreate((size_t)n * (size_t)ld, PETSC_FALSE, 0, &T));
      here  = (PolderRRBSystem){single, chain.ngrid, chain.step[0], chain.n, chain.ld, .inverse = chain.inverse.h};
      there = (PolderRRBSystem){single, chain.ngrid, chain.step[1], chain.n, chain.ld, .inverse = chain.inverse.d};
      RRBTwinTail(&here, red, (PolderDense){n, ld, T.h});
      PolderLaunch(PolderRRBTail_CUDA(&there, red, (PolderDense){n, ld, T.d}, stream));
      PetscCall(ArrayCompare(&T, 1e-12, &wrong));
      PetscCall(Tell("tail", nx, ny, 10 * (int)sizes[k][2] + form, before, wrong));
      PetscCall(ArrayDestroy(&T, 0));
      PetscCall(ChainDestroy(&chain));
    }
  }
  PetscCall(Report("grids and the rest as one matrix", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A symmetric matrix on a grid as diagonals; fault: one entry is not as it should be */
typedef enum {
  NONE,
  STRAY,
  UNSYMMETRIC,
  ZERO,
  NOTANUMBER,
  BALANCED, /* no fault: all rows add up to zero */
  NFAULT
} Fault;

/* A matrix of 5 or 9 points by its diagonals and by rows that leave some zeros out, in host and device memory */
typedef struct {
  PetscInt     nx, ny, nd, main, off[9], *ai, *aj, *aid, *ajd;
  PetscScalar *val[9], *vald[9];
  Array        all, aa;
} Matrix;

/* The offsets of the diagonals, ascending, and room for them */
static PetscErrorCode DiagonalsCreate(PetscInt nx, PetscInt ny, PetscBool nine, Matrix *A)
{
  const PetscInt m = nx * ny, want[] = {-nx - 1, -nx, 1 - nx, -1, 0, 1, nx - 1, nx, nx + 1};

  PetscFunctionBeginUser;
  A->nx = nx;
  A->ny = ny;
  A->nd = A->main = 0;
  for (int d = 0; d < 9; ++d) {
    PetscInt at = 0;

    if ((!nine && d != 4 && d % 2 == 0) || (nx == 1 && d % 3 != 1)) continue;
    while (at < A->nd && A->off[at] != want[d]) ++at; /* on two columns, and on one, some are the same */
    if (at == A->nd) A->off[A->nd++] = want[d];
  }
  PetscCall(PetscSortInt(A->nd, A->off));
  PetscCall(ArrayCreate((size_t)m * (size_t)A->nd, PETSC_FALSE, 0, &A->all));
  for (PetscInt d = 0; d < A->nd; ++d) {
    A->val[d]  = A->all.h + (size_t)d * (size_t)m;
    A->vald[d] = A->all.d + (size_t)d * (size_t)m;
    if (A->off[d] == 0) A->main = d;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random values with a fault; *bad: they are not those of a grid that can be factored, which some faults are too small a grid for */
static PetscErrorCode DiagonalsFill(PetscBool nine, Fault fault, Matrix *A, PetscBool *bad)
{
  const PetscInt nx = A->nx, m = nx * A->ny, nd = A->nd, main = A->main, *off = A->off;
  PetscScalar  **val = A->val;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < nd; ++d) { /* the lower diagonals come first */
    for (PetscInt i = 0; i < m; ++i) {
      const PetscInt j = i + off[d], to = j < 0 || j >= m ? -1 : PolderRRBDirection(nx, i / nx * nx, i, j);

      if (j < 0 || j >= m) continue;
      val[d][i] = to < 0 || (!nine && to % 2 == 0) ? 0 : off[d] > 0 ? val[nd - 1 - d][j] : -1 - 0.9 * Number();
    }
  }
  for (PetscInt i = 0; i < m; ++i) {
    val[main][i] = fault == BALANCED ? 0 : 0.5;
    for (PetscInt d = 0; d < nd; ++d) val[main][i] -= d == main || i + off[d] < 0 || i + off[d] >= m ? 0 : val[d][i];
  }
  if (fault == ZERO) val[main][m / 2] = 0;
  if (fault == NOTANUMBER) val[main][m / 2] = NAN;
  *bad = (PetscBool)(fault == ZERO || fault == NOTANUMBER || (fault == UNSYMMETRIC && m > off[nd - 1]) || (fault == STRAY && nx > 2 && A->ny > 1) ||
                     (fault == BALANCED && m == 1));
  if (fault == UNSYMMETRIC && *bad) val[nd - 1][0] = -3;
  if (fault == STRAY && *bad) val[main + 1][nx - 1] = val[main - 1][nx] = -0.1;
  PetscCall(ArrayUpload(&A->all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsCreate(Matrix *A)
{
  const PetscInt m = A->nx * A->ny;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(m + 1, &A->ai, m * A->nd, &A->aj));
  PetscCall(ArrayCreate((size_t)m * (size_t)A->nd, PETSC_FALSE, 0, &A->aa));
  A->ai[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    A->ai[i + 1] = A->ai[i];
    for (PetscInt d = 0; d < A->nd; ++d) {
      if (i + A->off[d] < 0 || i + A->off[d] >= m || (A->val[d][i] == 0 && i % 2)) continue;
      A->aj[A->ai[i + 1]]     = i + A->off[d];
      A->aa.h[A->ai[i + 1]++] = A->val[d][i];
    }
  }
  PetscCall(ArrayUpload(&A->aa));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(m + 1), A->ai, &A->aid));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)A->ai[m], A->aj, &A->ajd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatrixDestroy(Matrix *A)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFree(&A->aid));
  PetscCall(PolderDeviceFree(&A->ajd));
  PetscCall(PetscFree2(A->ai, A->aj));
  PetscCall(ArrayDestroy(&A->aa, 0));
  PetscCall(ArrayDestroy(&A->all, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRows(PetscInt nx, PetscInt ny, PetscBool nine, Fault fault, PolderStream stream, PetscInt *wrong)
{
  const PetscInt m = nx * ny, before = *wrong;
  PetscScalar   *row[2][RRB_NROW];
  Matrix         A;
  Array          out[RRB_NROW];
  PetscBool      bad;
  int           *seend;

  PetscFunctionBeginUser;
  PetscCall(DiagonalsCreate(nx, ny, nine, &A));
  PetscCall(DiagonalsFill(nine, fault, &A, &bad));
  PetscCall(RowsCreate(&A));
  PetscCall(PolderDeviceMalloc(sizeof(int), &seend));
  for (int form = 0; form < 4; ++form) { /* by diagonals, the same with rows, those of a matrix of which half is stored, compressed rows */
    int seen = 0;

    if (form == 2 && fault == UNSYMMETRIC) continue;
    PetscCall(PolderDeviceZero(seend, sizeof(int)));
    for (int f = 0; f < RRB_NROW; ++f) {
      PetscCall(ArrayCreate((size_t)m, PETSC_FALSE, 0, &out[f]));
      row[0][f] = out[f].h;
      row[1][f] = out[f].d;
    }
    if (form == 3) {
      RRBTwinRowsCsr(nx, ny, A.ai, A.aj, A.aa.h, row[0], &seen);
      PolderLaunch(PolderRRBRowsCsr_CUDA(nx, ny, A.aid, A.ajd, A.aa.d, row[1], seend, stream));
    } else {
      const PolderDia here  = {.m = nx * ny, .n = nx * ny, .nd = A.nd, .off = A.off, .val = (const PetscScalar *const *)A.val},
                      there = {.m = nx * ny, .n = nx * ny, .nd = A.nd, .off = A.off, .val = (const PetscScalar *const *)A.vald, .half = (PetscBool)(form == 2)};

      RRBTwinRowsDia(nx, ny, 0, ny, &here, form ? row[0] : NULL, &seen);
      PolderLaunch(PolderRRBRowsDia_CUDA(nx, ny, 0, ny, &there, form ? row[1] : NULL, seend, stream));
    }
    PetscCall(CompareSeen(seen, seend, wrong));
    *wrong += ((seen & RRB_SEEN_BAD) != 0) != bad;
    for (int f = 0; f < RRB_NROW; ++f) {
      PetscCall(ArrayCompare(&out[f], 0, wrong));
      PetscCall(ArrayDestroy(&out[f], 0));
    }
    PetscCall(Tell("rows", nx, ny, 100 * (int)fault + 10 * nine + form, before, *wrong));
  }
  PetscCall(PolderDeviceFree(&seend));
  PetscCall(MatrixDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRows(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt sizes[][2] = {
    {1,   1  },
    {1,   9  },
    {9,   1  },
    {2,   1  },
    {2,   2  },
    {2,   7  },
    {3,   5  },
    {4,   4  },
    {33,  17 },
    {400, 301}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    for (int form = 0; form < 2 * NFAULT && !TooLarge(sizes[k][0], sizes[k][1]); ++form)
      PetscCall(CheckRows(sizes[k][0], sizes[k][1], (PetscBool)(form % 2), (Fault)(form / 2), stream, &wrong));
  }
  PetscCall(Report("rows of matrices", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRest(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt sizes[][2] = {
    {1,  1 },
    {1,  8 },
    {5,  1 },
    {2,  2 },
    {3,  2 },
    {7,  6 },
    {16, 15},
    {31, 33}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    for (int form = 0; form < 4; ++form) {
      const PetscBool skew = (PetscBool)(form % 2);
      const PetscInt  nx = sizes[k][0], ny = sizes[k][1], n = skew ? (nx * ny + 1) / 2 : nx * ny, ld = (n + POLDER_SWEEP - 1) / POLDER_SWEEP * POLDER_SWEEP;
      PetscInt       *part, *partd, before = wrong;
      PetscScalar    *row[2][RRB_NROW];
      Array           a[RRB_NROW], shift, E;

      PetscCall(PetscMalloc1(n, &part));
      for (PetscInt i = 0; i < n; ++i) part[i] = Next(4) - 1;
      PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)n, part, &partd));
      PetscCall(ArrayCreate(3, PETSC_TRUE, 0, &shift));
      PetscCall(ArrayCreate((size_t)ld * (size_t)ld, PETSC_FALSE, 0, &E));
      for (int f = 0; f < RRB_NROW; ++f) {
        PetscCall(ArrayCreate((size_t)n, PETSC_TRUE, 0, &a[f]));
        row[0][f] = a[f].h;
        row[1][f] = a[f].d;
      }
      RRBTwinRest(nx, ny, skew, row[0], form / 2 ? part : NULL, shift.h, (PolderDense){n, ld, E.h});
      PolderLaunch(PolderRRBRest_CUDA(nx, ny, skew, row[1], form / 2 ? partd : NULL, shift.d, (PolderDense){n, ld, E.d}, stream));
      PetscCall(ArrayCompare(&E, 1e-15, &wrong));
      PetscCall(Tell("rest", nx, ny, form, before, wrong));
      for (int f = 0; f < RRB_NROW; ++f) PetscCall(ArrayDestroy(&a[f], 0));
      PetscCall(ArrayDestroy(&E, 0));
      PetscCall(ArrayDestroy(&shift, 0));
      PetscCall(PolderDeviceFree(&partd));
      PetscCall(PetscFree(part));
    }
  }
  PetscCall(Report("matrix of the rest", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestRows, TestGrids, TestTail, TestRest}
};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck racecheck
    suffix: small
    requires: cuda
    args: -small
    output_file: output/devicerrb_1.out

TEST*/
