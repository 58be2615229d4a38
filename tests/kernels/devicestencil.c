static const char help[] = "Device kernels of matrices by diagonals and of triangular sweeps against their host twins: awkward sizes, poisoned output.\n\n";

#include "devicetest.h"
#include "kernels/dia.h"
#include "kernels/tns.h"
#include "kernels/vec.h"

/* Values beside an array, which stay as they are: NaN */
#define GUARD 32

/* nd diagonals of an m by n matrix on the host and on the device, NaN where row or column does not exist */
typedef struct {
  PetscInt     m, n, nd, off[80];
  PetscScalar *all, *alld, *val[80], *vald[80];
  float       *alls, *allsd, *vals[80], *valsd[80];
} Diagonals;

/* The last nd - first diagonals are stored; half: the first ones lead into them */
static PetscErrorCode DiagonalsCreate(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], PetscBool half, Diagonals *D)
{
  const PetscInt ld = m + GUARD, first = half ? nd / 2 : 0;

  PetscFunctionBeginUser;
  D->m  = m;
  D->n  = n;
  D->nd = nd;
  PetscCall(PetscMalloc2(ld * nd, &D->all, ld * nd, &D->alls));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (ld * nd), &D->alld));
  PetscCall(PolderDeviceMalloc(sizeof(float) * (ld * nd), &D->allsd));
  for (PetscInt k = 0; k < ld * nd; ++k) D->all[k] = NAN;
  for (PetscInt d = 0; d < nd; ++d) D->off[d] = off[d];
  for (PetscInt d = nd - 1; d >= 0; --d) {
    const PetscInt shift = d < first ? ld * (nd - 1 - d) + off[d] : ld * d;

    D->val[d]   = D->all + shift;
    D->vald[d]  = D->alld + shift;
    D->vals[d]  = D->alls + shift;
    D->valsd[d] = D->allsd + shift;
    for (PetscInt i = 0; i < m && d >= first; ++i) {
      if (i + off[d] >= 0 && i + off[d] < n) D->val[d][i] = (float)(off[d] ? Number() : 2.0 + Number());
    }
  }
  for (PetscInt k = 0; k < ld * nd; ++k) D->alls[k] = (float)D->all[k];
  PetscCall(PolderDeviceFromHost(D->alld, D->all, sizeof(PetscScalar) * (ld * nd)));
  PetscCall(PolderDeviceFromHost(D->allsd, D->alls, sizeof(float) * (ld * nd)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalsDestroy(Diagonals *D)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(D->all, D->alls));
  PetscCall(PolderDeviceFree(&D->alld));
  PetscCall(PolderDeviceFree(&D->allsd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An output on the device between two guards; content NULL: NaN */
static PetscErrorCode OutputCreate(PetscInt n, const PetscScalar content[], PetscScalar **z)
{
  PetscScalar *all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n + 2 * GUARD, &all));
  for (PetscInt i = 0; i < n + 2 * GUARD; ++i) all[i] = NAN;
  for (PetscInt i = 0; content && i < n; ++i) all[GUARD + i] = content[i];
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (n + 2 * GUARD), z));
  PetscCall(PolderDeviceFromHost(*z, all, sizeof(PetscScalar) * (n + 2 * GUARD)));
  *z += GUARD;
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds what differs from want and what was written outside */
static PetscErrorCode OutputCheck(PetscInt n, PetscScalar **z, const PetscScalar want[], PetscReal tol, PetscInt *wrong)
{
  PetscScalar *all;

  PetscFunctionBeginUser;
  *z -= GUARD;
  PetscCall(PetscMalloc1(n + 2 * GUARD, &all));
  PetscCall(PolderDeviceToHost(all, *z, sizeof(PetscScalar) * (n + 2 * GUARD)));
  for (PetscInt i = 0; i < GUARD; ++i) *wrong += !PetscIsNanScalar(all[i]) + !PetscIsNanScalar(all[GUARD + n + i]);
  *wrong += Wrong(n, all + GUARD, want, tol);
  PetscCall(PolderDeviceFree(z));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says which case is wrong; before: the count of wrong values up to it */
static PetscErrorCode Tell(const char *what, const Diagonals *D, int form, PetscInt before, PetscInt wrong)
{
  PetscFunctionBeginUser;
  if (wrong > before) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, form %d: %" PetscInt_FMT " values wrong with %" PetscInt_FMT " rows, %" PetscInt_FMT " columns, %" PetscInt_FMT " diagonals\n", what, form, wrong - before, D->m, D->n, D->nd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Largest(PetscInt n, const PetscScalar a[])
{
  PetscReal largest = 1.0;

  for (PetscInt i = 0; i < n; ++i) largest = PetscMax(largest, PetscAbsScalar(a[i]));
  return largest;
}

/* Offsets of the stencil of a grid; near = 0: 5 points */
static PetscInt Stencil(PetscInt near, PetscInt far, PetscInt off[])
{
  PetscInt nd = 0;

  off[nd++] = -far;
  if (near) off[nd++] = -near;
  off[nd++] = -1;
  off[nd++] = 0;
  off[nd++] = 1;
  if (near) off[nd++] = near;
  off[nd++] = far;
  return nd;
}

/* Random ascending offsets, want at most */
static PetscInt RandomOffsets(PetscInt m, PetscInt n, PetscInt want, PetscInt off[])
{
  PetscInt nd = 0;

  for (PetscInt d = 0, o = -m; d < want && o < n; ++d) {
    o += 1 + Next(1 + 2 * (m + n) / (want + 1));
    if (o < n && o > -m) off[nd++] = o;
  }
  return nd;
}

/* Grids: rows, near, far. The first are small enough for the kernel of any offsets, the others take tiles */
static const PetscInt Grids[][3] = {
  {4096,   16,  256   },
  {343000, 70,  4900  },
  {300007, 0,   4711  },
  {16129,  0,   127   },
  {300000, 37,  1369  },
  {310001, 7,   100003},
  {301234, 129, 12345 },
  {360000, 0,   600   },
  {300500, 0,   100007}
};

/* z = y + alpha A x in its forms, with the inner product, in both precisions */
static PetscErrorCode CheckMult(const Diagonals *D, void *work, PolderStream stream, PetscInt *wrong)
{
  const PetscReal tol = 1e-14 * (D->nd + 1) * 4;
  PetscScalar    *x, *y, *xd, *yd, *want, *z, *dotd, dot, expected;

  PetscFunctionBeginUser;
  PetscCall(Random(D->n, &x, &xd));
  PetscCall(Random(D->m, &y, &yd));
  PetscCall(PetscMalloc1(D->m, &want));
  PetscCall(PolderDeviceMalloc(sizeof(dot), &dotd));
  for (int form = 0; form < 5; ++form) {
    const PetscScalar alpha  = form == 1 ? 1.0 : -0.37;
    const PetscBool   fused  = (PetscBool)(D->m == D->n && form != 2 && form != 4);
    const PetscInt    before = *wrong;

    PolderDiaMult_Host(D->m, D->n, D->nd, D->off, (const PetscScalar *const *)D->val, alpha, x, form == 2 || form == 3 ? y : NULL, want);
    PetscCall(OutputCreate(D->m, form == 3 ? y : NULL, &z));
    if (form == 4) PolderLaunch(PolderDiaMultSingle_CUDA(D->m, D->n, D->nd, D->off, (const float *const *)D->valsd, alpha, xd, NULL, z, stream));
    else PolderLaunch(PolderDiaMult_CUDA(D->m, D->n, D->nd, D->off, (const PetscScalar *const *)D->vald, alpha, xd, form < 2 ? NULL : form == 2 ? yd : z, z, fused ? dotd : NULL, work, stream));
    PetscCall(OutputCheck(D->m, &z, want, tol, wrong));
    PetscCall(Tell("product", D, form, before, *wrong));
    if (!fused) continue;
    PolderDiaMult_Host(D->m, D->n, D->nd, D->off, (const PetscScalar *const *)D->val, 1.0, x, NULL, want);
    expected = PolderDot_Host(D->m, x, want);
    PetscCall(PolderDeviceToHost(&dot, dotd, sizeof(dot)));
    *wrong += Wrong(1, &dot, &expected, tol * (D->m + 1));
    PetscCall(Tell("product and dot", D, form, before, *wrong));
  }
  PetscCall(PolderDeviceFree(&dotd));
  PetscCall(PolderDeviceFree(&xd));
  PetscCall(PolderDeviceFree(&yd));
  PetscCall(PetscFree(x));
  PetscCall(PetscFree(y));
  PetscCall(PetscFree(want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDiaMult(void *work, PolderStream stream)
{
  static const PetscInt sizes[] = {0, 1, 2, 31, 33, 255, 257, 1025, 4097}, large[] = {5, 7, 9, 40};
  PetscInt              wrong = 0, off[80];
  Diagonals             D;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (PetscInt shape = 0; shape < 3; ++shape) {
      const PetscInt m = sizes[s], n = shape == 0 ? m : (shape == 1 ? m / 2 + 1 : 2 * m + 3);

      for (PetscInt want = 0; want < 80; want += 1 + want) {
        PetscCall(DiagonalsCreate(m, n, RandomOffsets(m, n, want, off), off, PETSC_FALSE, &D));
        PetscCall(CheckMult(&D, work, stream, &wrong));
        PetscCall(DiagonalsDestroy(&D));
      }
    }
  }
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(large) && !small; ++s) {
    PetscCall(DiagonalsCreate(301000, 301500, RandomOffsets(301000, 301500, large[s], off), off, PETSC_FALSE, &D));
    PetscCall(CheckMult(&D, work, stream, &wrong));
    PetscCall(DiagonalsDestroy(&D));
  }
  for (size_t g = 0; g < (small ? 3 : PETSC_STATIC_ARRAY_LENGTH(Grids)); ++g) {
    for (int half = 0; half < 2; ++half) {
      const PetscInt nd = Stencil(Grids[g][1], Grids[g][2], off);

      PetscCall(DiagonalsCreate(Grids[g][0], Grids[g][0], nd, off, (PetscBool)half, &D));
      PetscCall(CheckMult(&D, work, stream, &wrong));
      PetscCall(DiagonalsDestroy(&D));
    }
  }
  PetscCall(Report("product by diagonals", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CSR arrays of the diagonals on the host and on the device, every third entry left out but those of the main diagonal */
typedef struct {
  PetscInt    *ai, *aj, *aid, *ajd;
  PetscScalar *aa, *aad;
} Rows;

static PetscErrorCode RowsCreate(const Diagonals *D, Rows *R)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(D->m + 1, &R->ai, D->m * D->nd, &R->aj, D->m * D->nd, &R->aa));
  for (PetscInt i = 0; i < D->m; ++i) {
    R->ai[i] = nz;
    for (PetscInt d = 0; d < D->nd; ++d) {
      const PetscInt j = i + D->off[d];

      if (j < 0 || j >= D->n || ((PetscMin(i, j) + PetscAbsInt(D->off[d])) % 3 == 1 && D->off[d])) continue;
      R->aj[nz]   = j;
      R->aa[nz++] = D->val[d][i];
    }
  }
  R->ai[D->m] = nz;
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (D->m + 1), &R->aid));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * nz, &R->ajd));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * nz, &R->aad));
  PetscCall(PolderDeviceFromHost(R->aid, R->ai, sizeof(PetscInt) * (D->m + 1)));
  PetscCall(PolderDeviceFromHost(R->ajd, R->aj, sizeof(PetscInt) * nz));
  PetscCall(PolderDeviceFromHost(R->aad, R->aa, sizeof(PetscScalar) * nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *R)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFree(&R->aid));
  PetscCall(PolderDeviceFree(&R->ajd));
  PetscCall(PolderDeviceFree(&R->aad));
  PetscCall(PetscFree3(R->ai, R->aj, R->aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Offsets, and the fill of all or of the upper diagonals of D (poisoned) from R, by both twins; nd: so many of the diagonals */
static PetscErrorCode CheckFill(Diagonals *D, const Rows *R, PetscInt nd, PetscInt first, PetscReal tol, PolderStream stream, PetscBool *ok, PetscInt *wrong)
{
  const PetscInt ld = D->m + GUARD, total = ld * D->nd;
  PetscScalar   *back;
  int            bad = 0, *badd;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(total, &back));
  for (PetscInt k = 0; k < total; ++k) D->all[k] = NAN;
  PetscCall(PolderDeviceFromHost(D->alld, D->all, sizeof(PetscScalar) * total));
  PetscCall(PolderDeviceMalloc(sizeof(int), &badd));
  PetscCall(PolderDeviceZero(badd, sizeof(int)));
  *ok = PolderDiaFill_Host(D->m, nd, first, D->off, D->val, R->ai, R->aj, R->aa, tol);
  PolderLaunch(PolderDiaFill_CUDA(D->m, nd, first, D->off, D->vald, R->aid, R->ajd, R->aad, tol, badd, stream));
  PetscCall(PolderDeviceToHost(&bad, badd, sizeof(int)));
  PetscCall(PolderDeviceToHost(back, D->alld, sizeof(PetscScalar) * total));
  *wrong += *ok == (PetscBool)(bad != 0);
  for (PetscInt k = 0; k < total && *ok; ++k) *wrong += !(back[k] == D->all[k] || (PetscIsNanScalar(back[k]) && PetscIsNanScalar(D->all[k])));
  PetscCall(PolderDeviceFree(&badd));
  PetscCall(PetscFree(back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckOffsets(const Diagonals *D, const Rows *R, PolderStream stream, PetscInt *wrong)
{
  const PetscInt size = D->m + D->n;
  unsigned char *seen, *want, *seend;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(size, &seen));
  PetscCall(PetscCalloc1(size, &want));
  for (PetscInt i = 0; i < D->m; ++i) {
    for (PetscInt k = R->ai[i]; k < R->ai[i + 1]; ++k) want[R->aj[k] - i + D->m] = 1;
  }
  PetscCall(PolderDeviceMalloc(size, &seend));
  PetscCall(PolderDeviceZero(seend, size));
  PolderLaunch(PolderDiaOffsets_CUDA(D->m, D->n, R->aid, R->ajd, seend, stream));
  PetscCall(PolderDeviceToHost(seen, seend, size));
  for (PetscInt k = 0; k < size; ++k) *wrong += seen[k] != want[k];
  PetscCall(PolderDeviceFree(&seend));
  PetscCall(PetscFree(seen));
  PetscCall(PetscFree(want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full and half, with an entry that does not mirror, with one on no diagonal, with columns that do not ascend */
static PetscErrorCode TestDiaFill(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt sizes[] = {1, 2, 33, 257, 1025, 20011};
  PetscInt              wrong   = 0, off[80];
  PetscBool             ok;
  Diagonals             D;
  Rows                  R;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    const PetscInt m = sizes[s];

    for (PetscInt want = 1; want < 80; want += 1 + want) {
      PetscCall(DiagonalsCreate(m, m + 5, RandomOffsets(m, m + 5, want, off), off, PETSC_FALSE, &D));
      PetscCall(RowsCreate(&D, &R));
      PetscCall(CheckOffsets(&D, &R, stream, &wrong));
      PetscCall(CheckFill(&D, &R, D.nd, 0, 0.0, stream, &ok, &wrong));
      wrong += !ok;
      for (PetscInt nd = 0; nd < D.nd; nd += 1 + D.nd / 3) PetscCall(CheckFill(&D, &R, nd, 0, 0.0, stream, &ok, &wrong));
      if (R.ai[m] > 1 && R.ai[1] > 1) { // a row the wrong way round
        const PetscInt j[] = {R.aj[1], R.aj[0]};

        R.aj[0] = j[0];
        R.aj[1] = j[1];
        PetscCall(PolderDeviceFromHost(R.ajd, R.aj, 2 * sizeof(PetscInt)));
        PetscCall(CheckFill(&D, &R, D.nd, 0, 0.0, stream, &ok, &wrong));
        wrong += ok;
      }
      PetscCall(RowsDestroy(&R));
      PetscCall(DiagonalsDestroy(&D));
    }
    for (PetscInt reach = 1; reach < 38 && reach < m; reach += 12) {
      const PetscInt nd = 2 * reach + 1;

      for (PetscInt d = 0; d < nd; ++d) off[d] = d - reach;
      PetscCall(DiagonalsCreate(m, m, nd, off, PETSC_TRUE, &D));
      PetscCall(RowsCreate(&D, &R));
      for (int broken = 0; broken < 3; ++broken) { // not, a little, a lot
        const PetscInt last = R.ai[m - 1];

        if (broken && R.ai[m] - last > 1) {
          R.aa[last] *= broken == 1 ? 1.0 + 1e-14 : 1.1;
          PetscCall(PolderDeviceFromHost(R.aad + last, R.aa + last, sizeof(PetscScalar)));
        }
        for (int loose = 0; loose < 2; ++loose) {
          PetscCall(CheckFill(&D, &R, nd, reach, loose ? 1e-12 : 0.0, stream, &ok, &wrong));
          if (R.ai[m] - last > 1) wrong += ok != (broken == 0 || (broken == 1 && loose));
        }
      }
      PetscCall(RowsDestroy(&R));
      PetscCall(DiagonalsDestroy(&D));
    }
  }
  PetscCall(Report("diagonals from rows", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
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
static PetscErrorCode CheckDirection(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv, const Sides *S, const PetscScalar z[], void *work, PolderStream stream, PetscInt *wrong)
{
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
    PolderLaunch(PolderTriPairDirection_CUDA(single, m, nd, off, val, dinv, S->rd, (PetscBool)(step == 0), pd, xd, stated, work, stream));
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
  PetscCall(PolderDeviceFree(&state));
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

  PetscFunctionBeginUser;
  while (main < D->nd && off[main] < 0) ++main;
  d0 = upper ? main + (main < D->nd && off[main] == 0) : 0;
  nd = upper ? D->nd - d0 : main;
  for (int k = 0; k < 3; ++k) PetscCall(PetscMalloc1(m, &y[k]));
  PetscCall(PetscArraycpy(y[0], S->r, m));
  PolderTriSweepsDIA_Host(upper, m, 2, nd, off + d0, (const PetscScalar *const *)D->val + d0, S->dinv, upper ? NULL : S->r, y);
  for (int single = 0; single < 2; ++single) {
    const PetscInt     before = *wrong;
    const PetscReal    tol    = 1e-13 * Largest(m, y[2]);
    const void *const *val    = single ? (const void *const *)(D->valsd + d0) : (const void *const *)(D->vald + d0);
    const void        *dinv   = single ? (const void *)S->single : (const void *)S->dinvd;
    const PetscScalar *r = upper ? NULL : S->rd, *c = upper ? S->rd : NULL;

    for (int k = 0; k < 2; ++k) PetscCall(OutputCreate(m, NULL, &z[k]));
    PolderLaunch(PolderTriSweepDIA_CUDA((PetscBool)single, m, nd, off + d0, val, dinv, r, c, c, z[0], stream));
    PolderLaunch(PolderTriSweepDIA_CUDA((PetscBool)single, m, nd, off + d0, val, dinv, r, c, z[0], z[1], stream));
    for (int k = 0; k < 2; ++k) PetscCall(OutputCheck(m, &z[k], y[k + 1], tol, wrong));
    PetscCall(Tell(upper ? "upper sweeps" : "lower sweeps", D, single, before, *wrong));
    if (!PolderTriPairFits(nd, off + d0)) continue;
    PetscCall(OutputCreate(m, NULL, &z[0]));
    PetscCall(StateCreate(&state));
    PolderLaunch(PolderTriPair_CUDA((PetscBool)single, m, nd, off + d0, val, dinv, S->rd, z[0], upper ? NULL : &(PolderCGRho){state, PETSC_FALSE}, work, stream));
    PetscCall(OutputCheck(m, &z[0], y[2], tol, wrong));
    expected = 0.0;
    for (PetscInt i = 0; i < m && !upper; ++i) expected += y[2][i] * y[2][i] / S->dinv[i];
    if (!upper) PetscCall(StateCheck(state, 1, &expected, 1e-12 * (1.0 + expected), m > 0, wrong));
    PetscCall(Tell(upper ? "upper pair" : "lower pair", D, single, before, *wrong));
    if (upper) PetscCall(CheckDirection((PetscBool)single, m, nd, off + d0, val, dinv, S, y[2], work, stream, wrong));
    if (upper) PetscCall(Tell("upper pair and direction", D, single, before, *wrong));
    PetscCall(PolderDeviceFree(&state));
  }
  for (int k = 0; k < 3; ++k) PetscCall(PetscFree(y[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTriDia(void *work, PolderStream stream)
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
  PolderTriSweepsCSR_Host(upper, m, 2, R->ai, diag, R->aj, R->aa, S->dinv, upper ? NULL : S->r, y);
  for (int s = 0; s < 2; ++s) {
    const PetscInt     before = *wrong;
    const void        *aa = s ? (const void *)singled : (const void *)R->aad, *dinv = s ? (const void *)S->single : (const void *)S->dinvd;
    const PetscScalar *r = upper ? NULL : S->rd, *c = upper ? S->rd : NULL;

    for (int k = 0; k < 2; ++k) PetscCall(OutputCreate(m, NULL, &z[k]));
    PolderLaunch(PolderTriSweepCSR_CUDA((PetscBool)s, upper, m, nz, R->aid, diagd, R->ajd, aa, dinv, r, c, c, z[0], stream));
    PolderLaunch(PolderTriSweepCSR_CUDA((PetscBool)s, upper, m, nz, R->aid, diagd, R->ajd, aa, dinv, r, c, z[0], z[1], stream));
    if (!s) PolderTriGhostRows_Host(upper, m, row, nlow, B->ai, B->aj, B->aa, S->dinv, ghost, y[2]);
    PolderLaunch(PolderTriGhosts_CUDA((PetscBool)s, upper, m, nlow, B->aid, B->ajd, B->aad, dinv, ghostd, z[1], stream));
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

static PetscErrorCode TestTriCSR(PETSC_UNUSED void *work, PolderStream stream)
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

/* Which diagonals are refused, in both precisions; rows without diagonal or out of order; numbers that single precision does not have */
static PetscErrorCode TestRefused(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscScalar values[]      = {2.0, 0.0, -1.0, NAN, INFINITY, 1e-310, 1e-200, 1e200};
  static const PetscBool   refused[2][8] = {
      {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
      {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE,  PETSC_TRUE }
  };
  static const PetscInt ai[] =
    {
      0, 2, 4, 6
  },
                        aj[3][6] = {{0, 1, 0, 1, 1, 2}, {0, 1, 0, 2, 1, 2}, {0, 1, 1, 0, 1, 2}};
  const PetscInt m               = 1000;
  PetscInt       wrong           = 0, *aid, *ajd, *diag;
  PetscScalar   *d, *dd, *y, *yd, back;
  float         *s;
  int           *badd, bad;

  PetscFunctionBeginUser;
  PetscCall(Random(m, &d, &dd));
  PetscCall(Random(m, &y, &yd));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * m, &s));
  PetscCall(PolderDeviceMalloc(sizeof(int), &badd));
  PetscCall(PolderDeviceMalloc(sizeof(ai), &aid));
  PetscCall(PolderDeviceMalloc(sizeof(aj[0]), &ajd));
  PetscCall(PolderDeviceMalloc(sizeof(ai), &diag));
  for (int v = 0; v < 8; ++v) {
    for (int single = 0; single < 2; ++single) {
      for (PetscInt i = 0; i < m; ++i) d[i] = 4.0;
      d[m - 3] = values[v];
      PetscCall(PolderDeviceFromHost(dd, d, sizeof(PetscScalar) * m));
      PetscCall(PolderDeviceZero(badd, sizeof(int)));
      PolderLaunch(PolderTriInverse_CUDA((PetscBool)single, m, NULL, dd, s, badd, stream));
      PetscCall(PolderDeviceToHost(&bad, badd, sizeof(int)));
      wrong += (PetscBool)bad != refused[single][v];
      PolderLaunch(PolderTriScale_CUDA((PetscBool)single, m, s, yd, dd, stream));
      PetscCall(PolderDeviceToHost(&back, dd + 7, sizeof(back)));
      wrong += back != 0.25 * y[7];
    }
    PetscCall(PolderDeviceFromHost(dd, d, sizeof(PetscScalar) * m));
    PetscCall(PolderDeviceZero(badd, sizeof(int)));
    PolderLaunch(PolderToSingle_CUDA((size_t)m, dd, s, badd, stream));
    PetscCall(PolderDeviceToHost(&bad, badd, sizeof(int)));
    wrong += bad != (v == 7);
  }
  for (int k = 0; k < 3; ++k) {
    PetscCall(PolderDeviceFromHost(aid, ai, sizeof(ai)));
    PetscCall(PolderDeviceFromHost(ajd, aj[k], sizeof(aj[k])));
    PetscCall(PolderDeviceZero(badd, sizeof(int)));
    PolderLaunch(PolderTriDiagonal_CUDA(3, aid, ajd, diag, badd, stream));
    PetscCall(PolderDeviceToHost(&bad, badd, sizeof(int)));
    wrong += bad != (k > 0);
  }
  PetscCall(PolderDeviceFree(&dd));
  PetscCall(PolderDeviceFree(&yd));
  PetscCall(PolderDeviceFree(&s));
  PetscCall(PolderDeviceFree(&badd));
  PetscCall(PolderDeviceFree(&aid));
  PetscCall(PolderDeviceFree(&ajd));
  PetscCall(PolderDeviceFree(&diag));
  PetscCall(PetscFree(d));
  PetscCall(PetscFree(y));
  PetscCall(Report("what is refused", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestDiaMult, TestDiaFill, TestTriDia, TestTriCSR, TestRefused}
};

/*TEST

  build: internal

  test:
    requires: cuda
    load: no

  test:
    suites: memcheck
    suffix: small
    requires: cuda
    load: no
    args: -small
    output_file: output/devicestencil_1.out

TEST*/
