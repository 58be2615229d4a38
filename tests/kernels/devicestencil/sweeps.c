/* Device kernels of triangular sweeps against their host twins. */
#include "diagonals.h"
#include "kernels/tns.h"

static PetscReal Largest(PetscInt n, const PetscScalar a[])
{
  PetscReal largest = 1.0;

  for (PetscInt i = 0; i < n; ++i) largest = PetscMax(largest, PetscAbsScalar(a[i]));
  return largest;
}

/* Inverse diagonal and a right-hand side, exact in single precision */
typedef struct {
  PetscScalar *dinv, *dinvd, *r, *rd;
  float       *single;
} Sides;

static PetscErrorCode SidesCreate(PetscInt m, Sides *S)
{
  float *single;

  PetscFunctionBeginUser;
  PetscCall(Random(m, &S->r, &S->rd));
  PetscCall(Random(m, &S->dinv, &S->dinvd));
  PetscCall(PetscMalloc1(m, &single));
  for (PetscInt i = 0; i < m; ++i) S->dinv[i] = single[i] = 0.5f + 0.25f * (float)S->dinv[i];
  PetscCall(PolderDeviceFromHost(S->dinvd, S->dinv, sizeof(PetscScalar) * m));
  PetscCall(PolderDeviceMalloc(sizeof(float) * m, &S->single));
  PetscCall(PolderDeviceFromHost(S->single, single, sizeof(float) * m));
  PetscCall(PetscFree(single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SidesDestroy(Sides *S)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFree(&S->rd));
  PetscCall(PolderDeviceFree(&S->dinvd));
  PetscCall(PolderDeviceFree(&S->single));
  PetscCall(PetscFree(S->r));
  PetscCall(PetscFree(S->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The upper pair, whose result is z, goes into a direction and a solution: the first one, the next one, and none in a state that is frozen */
static PetscErrorCode CheckDirection(const PolderTriangle *T, const Sides *S, const PetscScalar z[], void *work, PolderStream stream, PetscInt *wrong)
{
  const PetscInt  m       = T->m;
  const PetscReal largest = Largest(m, z);
  PolderCGState   state   = {.alpha = 0.75, .beta = -0.5, .nullspace = 1, .N = m}, *stated;
  PetscScalar    *p, *x, *pd, *xd, *out, mean = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(m, &p, m, &out));
  PetscCall(Random(m, &x, &xd));
  PetscCall(OutputCreate(m, NULL, &pd));
  PetscCall(PolderDeviceMalloc(sizeof(state), &stated));
  PetscCall(PolderDeviceFromHost(stated, &state, sizeof(state)));
  for (int step = 0; step < 4; ++step) {
    const PetscReal tol = 1e-12 * (1.0 + largest);

    if (step == 3) PetscCall(PolderDeviceFromHost(&stated->frozen, &step, sizeof(step)));
    PolderLaunch(PolderTriPairDirection_CUDA(T, S->rd, (PetscBool)(step == 0), pd, xd, stated, work, stream));
    for (PetscInt i = 0; i < m && step < 3; ++i) {
      if (step) x[i] += state.alpha * p[i];
      p[i] = z[i] + (step ? state.beta * (p[i] - mean) : 0.0);
    }
    mean = 0;
    for (PetscInt i = 0; i < m; ++i) mean += p[i] / m;
    PetscCall(PolderDeviceToHost(out, pd, sizeof(*out) * (size_t)m));
    *wrong += Wrong(m, out, p, tol);
    PetscCall(PolderDeviceToHost(out, xd, sizeof(*out) * (size_t)m));
    *wrong += Wrong(m, out, x, tol);
  }
  PetscCall(OutputCheck(m, &pd, p, 1e-12 * (1.0 + largest), wrong));
  PetscCall(PolderDeviceFree(&stated));
  PetscCall(PolderDeviceFree(&xd));
  PetscCall(PetscFree(x));
  PetscCall(PetscFree2(p, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweep by sweep, and the pair where it fits: T is the diagonals d0 .. d1 of D. The lower triangle starts from dinv r, the upper one from r */
static PetscErrorCode CheckSweeps(const Diagonals *D, const Sides *S, PetscBool upper, void *work, PolderStream stream, PetscInt *wrong)
{
  const PetscInt  m    = D->m;
  const PetscInt *off  = D->off;
  PetscInt        main = 0, nd, d0;
  PetscScalar    *y[3], *z[2], expected;
  PolderCGState  *state;
  PolderTriangle  T;

  PetscFunctionBeginUser;
  while (main < D->nd && off[main] < 0) ++main;
  d0 = upper ? main + (main < D->nd && off[main] == 0) : 0;
  nd = upper ? D->nd - d0 : main;
  for (int k = 0; k < 3; ++k) PetscCall(PetscMalloc1(m, &y[k]));
  PetscCall(PetscArraycpy(y[0], S->r, m));
  T = (PolderTriangle){.upper = upper, .m = m, .dinv = S->dinv, .nd = nd, .off = off + d0, .val = (const void *const *)(D->val + d0)};
  PolderTriSweepsDIA_Host(&T, 2, upper ? NULL : S->r, y);
  for (int single = 0; single < 2; ++single) {
    const PetscInt     before = *wrong;
    const PetscReal    tol    = 1e-13 * Largest(m, y[2]);
    const PetscScalar *r = upper ? NULL : S->rd, *c = upper ? S->rd : NULL;

    T.single = (PetscBool)single;
    T.val    = single ? (const void *const *)(D->valsd + d0) : (const void *const *)(D->vald + d0);
    T.dinv   = single ? (const void *)S->single : (const void *)S->dinvd;
    for (int k = 0; k < 2; ++k) PetscCall(OutputCreate(m, NULL, &z[k]));
    PolderLaunch(PolderTriSweepDIA_CUDA(&T, r, c, c, z[0], stream));
    PolderLaunch(PolderTriSweepDIA_CUDA(&T, r, c, z[0], z[1], stream));
    for (int k = 0; k < 2; ++k) PetscCall(OutputCheck(m, &z[k], y[k + 1], tol, wrong));
    PetscCall(Tell(upper ? "upper sweeps" : "lower sweeps", D, single, before, *wrong));
    if (!PolderTriPairFits(nd, off + d0)) continue;
    PetscCall(OutputCreate(m, NULL, &z[0]));
    PetscCall(StateCreate(&state));
    PolderLaunch(PolderTriPair_CUDA(&T, S->rd, z[0], upper ? NULL : &(PolderCGRho){state, PETSC_FALSE}, work, stream));
    PetscCall(OutputCheck(m, &z[0], y[2], tol, wrong));
    expected = 0.0;
    for (PetscInt i = 0; i < m && !upper; ++i) expected += y[2][i] * y[2][i] / S->dinv[i];
    if (!upper) PetscCall(StateCheck(state, 1, &expected, 1e-12 * (1.0 + expected), m > 0, wrong));
    PetscCall(Tell(upper ? "upper pair" : "lower pair", D, single, before, *wrong));
    if (upper) PetscCall(CheckDirection(&T, S, y[2], work, stream, wrong));
    if (upper) PetscCall(Tell("upper pair and direction", D, single, before, *wrong));
    PetscCall(PolderDeviceFree(&state));
  }
  for (int k = 0; k < 3; ++k) PetscCall(PetscFree(y[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestTriDia(void *work, PolderStream stream)
{
  static const PetscInt sizes[] = {0, 1, 2, 31, 33, 257, 4097};
  PetscInt              wrong   = 0, off[80];
  Diagonals             D;
  Sides                 S;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (PetscInt want = 0; want < 80; want += 1 + want) {
      PetscInt nd = RandomOffsets(sizes[s], sizes[s], want, off);

      if (want == 3 && sizes[s] > 20) nd = Stencil(0, sizes[s] / 10, off);
      if (want == 7 && sizes[s] > 20) nd = Stencil(2, sizes[s] / 5, off);
      PetscCall(DiagonalsCreate(sizes[s], sizes[s], nd, off, PETSC_FALSE, &D));
      PetscCall(SidesCreate(sizes[s], &S));
      for (int upper = 0; upper < 2; ++upper) PetscCall(CheckSweeps(&D, &S, (PetscBool)upper, work, stream, &wrong));
      PetscCall(DiagonalsDestroy(&D));
      PetscCall(SidesDestroy(&S));
    }
  }
  for (size_t g = 0; g < (small ? 3 : PETSC_STATIC_ARRAY_LENGTH(Grids)); ++g) {
    const PetscInt nd = Stencil(Grids[g][1], Grids[g][2], off);

    PetscCall(DiagonalsCreate(Grids[g][0], Grids[g][0], nd, off, (PetscBool)(g % 2), &D));
    PetscCall(SidesCreate(Grids[g][0], &S));
    for (int upper = 0; upper < 2; ++upper) PetscCall(CheckSweeps(&D, &S, (PetscBool)upper, work, stream, &wrong));
    PetscCall(DiagonalsDestroy(&D));
    PetscCall(SidesDestroy(&S));
  }
  PetscCall(Report("triangular sweeps by diagonals", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps over CSR arrays, then what a block of off-process columns takes off */
static PetscErrorCode CheckSweepsCSR(const Diagonals *D, const Rows *R, const Rows *B, const Sides *S, PetscBool upper, PolderStream stream, PetscInt *wrong)
{
  const PetscInt m = D->m, nz = R->ai[m], nghost = m + 3, nlow = nghost / 3;
  PetscScalar   *y[3], *z[2], *ghost, *ghostd;
  PetscInt      *diag, *diagd, *row;
  float         *single, *singled;
  int           *bad, raised;
  PolderTriangle T, Td;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; ++k) PetscCall(PetscMalloc1(m, &y[k]));
  PetscCall(PetscMalloc3(m, &diag, m, &row, nz, &single));
  PetscCall(Random(nghost, &ghost, &ghostd));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * m, &diagd));
  PetscCall(PolderDeviceMalloc(sizeof(float) * nz, &singled));
  PetscCall(PolderDeviceMalloc(sizeof(int), &bad));
  PetscCall(PolderDeviceZero(bad, sizeof(int)));
  PolderLaunch(PolderTriDiagonal_CUDA(m, R->aid, R->ajd, diagd, bad, stream));
  PolderLaunch(PolderToSingle_CUDA((size_t)nz, R->aad, singled, bad, stream));
  PetscCall(PolderDeviceToHost(diag, diagd, sizeof(PetscInt) * m));
  PetscCall(PolderDeviceToHost(single, singled, sizeof(float) * nz));
  PetscCall(PolderDeviceToHost(&raised, bad, sizeof(int)));
  *wrong += raised;
  for (PetscInt i = 0; i < m; ++i) {
    row[i] = i;
    *wrong += diag[i] < R->ai[i] || diag[i] >= R->ai[i + 1] || R->aj[diag[i]] != i;
  }
  for (PetscInt k = 0; k < nz; ++k) *wrong += single[k] != (float)R->aa[k];
  PetscCall(PetscArraycpy(y[0], S->r, m));
  T  = (PolderTriangle){.upper = upper, .m = m, .dinv = S->dinv, .i = R->ai, .diag = diag, .j = R->aj, .a = R->aa, .nz = nz};
  Td = (PolderTriangle){.upper = upper, .m = m, .i = R->aid, .diag = diagd, .j = R->ajd, .nz = nz};
  PolderTriSweepsCSR_Host(&T, 2, upper ? NULL : S->r, y);
  for (int s = 0; s < 2; ++s) {
    const PetscInt     before = *wrong;
    const PetscScalar *r = upper ? NULL : S->rd, *c = upper ? S->rd : NULL;

    for (int k = 0; k < 2; ++k) PetscCall(OutputCreate(m, NULL, &z[k]));
    Td.single = (PetscBool)s;
    Td.a      = s ? (const void *)singled : (const void *)R->aad;
    Td.dinv   = s ? (const void *)S->single : (const void *)S->dinvd;
    PolderLaunch(PolderTriSweepCSR_CUDA(&Td, r, c, c, z[0], stream));
    PolderLaunch(PolderTriSweepCSR_CUDA(&Td, r, c, z[0], z[1], stream));
    if (!s) PolderTriGhostRows_Host(&T, (PolderRowList){m, row}, nlow, RowsHere(m, B), ghost, y[2]);
    PolderLaunch(PolderTriGhosts_CUDA(&Td, nlow, RowsThere(m, B), ghostd, z[1], stream));
    for (int k = 0; k < 2; ++k) PetscCall(OutputCheck(m, &z[k], y[k + 1], 1e-13 * Largest(m, y[k + 1]), wrong));
    PetscCall(Tell(upper ? "upper sweeps by rows" : "lower sweeps by rows", D, s, before, *wrong));
  }
  for (int k = 0; k < 3; ++k) PetscCall(PetscFree(y[k]));
  PetscCall(PetscFree3(diag, row, single));
  PetscCall(PetscFree(ghost));
  PetscCall(PolderDeviceFree(&ghostd));
  PetscCall(PolderDeviceFree(&diagd));
  PetscCall(PolderDeviceFree(&singled));
  PetscCall(PolderDeviceFree(&bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestTriCSR(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt sizes[] = {1, 2, 31, 33, 257, 4097, 50021}, reach[] = {1, 3, 12, 37};
  PetscInt              wrong = 0, off[80];
  Diagonals             D, G;
  Rows                  R, B;
  Sides                 S;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(reach); ++k) {
      const PetscInt m = sizes[s], width = PetscMin(reach[k], m - 1), stride = m > 100 ? m / 100 : 1;
      PetscInt       nd = 0;

      for (PetscInt o = -width; o <= width; ++o) off[nd++] = o * stride;
      PetscCall(DiagonalsCreate(m, m, nd, off, PETSC_FALSE, &D));
      PetscCall(RowsCreate(&D, &R));
      PetscCall(DiagonalsCreate(m, m + 3, RandomOffsets(m, m + 3, 5, off), off, PETSC_FALSE, &G));
      PetscCall(RowsCreate(&G, &B));
      PetscCall(SidesCreate(m, &S));
      for (int upper = 0; upper < 2; ++upper) PetscCall(CheckSweepsCSR(&D, &R, &B, &S, (PetscBool)upper, stream, &wrong));
      PetscCall(RowsDestroy(&R));
      PetscCall(RowsDestroy(&B));
      PetscCall(DiagonalsDestroy(&D));
      PetscCall(DiagonalsDestroy(&G));
      PetscCall(SidesDestroy(&S));
    }
  }
  PetscCall(Report("triangular sweeps by rows", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which diagonals are refused, in both precisions, and numbers that single precision does not have */
static PetscErrorCode CheckInverses(PolderStream stream, PetscInt *wrong)
{
  static const PetscScalar values[]      = {2.0, 0.0, -1.0, NAN, INFINITY, 1e-310, 1e-200, 1e200};
  static const PetscBool   refused[2][8] = {
      {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
      {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE,  PETSC_TRUE }
  };
  const PetscInt m = 1000;
  PetscScalar   *d, *dd, *y, *yd, back;
  float         *s;
  int           *badd, bad;

  PetscFunctionBeginUser;
  PetscCall(Random(m, &d, &dd));
  PetscCall(Random(m, &y, &yd));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * m, &s));
  PetscCall(PolderDeviceMalloc(sizeof(int), &badd));
  for (int v = 0; v < 8; ++v) {
    for (int single = 0; single < 2; ++single) {
      for (PetscInt i = 0; i < m; ++i) d[i] = 4.0;
      d[m - 3] = values[v];
      PetscCall(PolderDeviceFromHost(dd, d, sizeof(PetscScalar) * m));
      PetscCall(PolderDeviceZero(badd, sizeof(int)));
      PolderLaunch(PolderTriInverse_CUDA((PetscBool)single, m, NULL, dd, s, badd, stream));
      PetscCall(PolderDeviceToHost(&bad, badd, sizeof(int)));
      *wrong += (PetscBool)bad != refused[single][v];
      PolderLaunch(PolderTriScale_CUDA((PetscBool)single, m, s, yd, dd, stream));
      PetscCall(PolderDeviceToHost(&back, dd + 7, sizeof(back)));
      *wrong += back != 0.25 * y[7];
    }
    PetscCall(PolderDeviceFromHost(dd, d, sizeof(PetscScalar) * m));
    PetscCall(PolderDeviceZero(badd, sizeof(int)));
    PolderLaunch(PolderToSingle_CUDA((size_t)m, dd, s, badd, stream));
    PetscCall(PolderDeviceToHost(&bad, badd, sizeof(int)));
    *wrong += bad != (v == 7);
  }
  PetscCall(PolderDeviceFree(&dd));
  PetscCall(PolderDeviceFree(&yd));
  PetscCall(PolderDeviceFree(&s));
  PetscCall(PolderDeviceFree(&badd));
  PetscCall(PetscFree(d));
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows without diagonal or out of order are refused */
static PetscErrorCode CheckDiagonals(PolderStream stream, PetscInt *wrong)
{
  static const PetscInt ai[]     = {0, 2, 4, 6};
  static const PetscInt aj[3][6] = {
    {0, 1, 0, 1, 1, 2},
    {0, 1, 0, 2, 1, 2},
    {0, 1, 1, 0, 1, 2}
  };
  PetscInt *aid, *ajd, *diag;
  int      *badd, bad;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(sizeof(int), &badd));
  PetscCall(PolderDeviceMalloc(sizeof(ai), &aid));
  PetscCall(PolderDeviceMalloc(sizeof(aj[0]), &ajd));
  PetscCall(PolderDeviceMalloc(sizeof(ai), &diag));
  for (int k = 0; k < 3; ++k) {
    PetscCall(PolderDeviceFromHost(aid, ai, sizeof(ai)));
    PetscCall(PolderDeviceFromHost(ajd, aj[k], sizeof(aj[k])));
    PetscCall(PolderDeviceZero(badd, sizeof(int)));
    PolderLaunch(PolderTriDiagonal_CUDA(3, aid, ajd, diag, badd, stream));
    PetscCall(PolderDeviceToHost(&bad, badd, sizeof(int)));
    *wrong += bad != (k > 0);
  }
  PetscCall(PolderDeviceFree(&badd));
  PetscCall(PolderDeviceFree(&aid));
  PetscCall(PolderDeviceFree(&ajd));
  PetscCall(PolderDeviceFree(&diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestRefused(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(CheckInverses(stream, &wrong));
  PetscCall(CheckDiagonals(stream, &wrong));
  PetscCall(Report("what is refused", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
