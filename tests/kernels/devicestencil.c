static const char help[] = "Device kernels of matrices by diagonals and of triangular sweeps against their host twins: awkward sizes, poisoned output.\n\n";

#include "devicestencil/diagonals.h"
#include "kernels/galerkin.h"
#include "kernels/level.h"
#include "kernels/vec.h"

/* z = y + alpha A x in its forms, with the inner product, in both precisions */
static PetscErrorCode CheckMult(const Diagonals *D, void *work, PolderStream stream, PetscInt *wrong)
{
  const PolderDia A = DiagonalsHere(D), Ad = DiagonalsThere(D);
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

    PolderDiaMult_Host(&A, alpha, x, form == 2 || form == 3 ? y : NULL, want);
    PetscCall(OutputCreate(D->m, form == 3 ? y : NULL, &z));
    if (form == 4) PolderLaunch(PolderDiaMultSingle_CUDA(&Ad, (const float *const *)D->valsd, alpha, xd, NULL, z, stream));
    else PolderLaunch(PolderDiaMult_CUDA(&Ad, alpha, xd, form < 2 ? NULL : form == 2 ? yd : z, z, fused ? dotd : NULL, work, stream));
    PetscCall(OutputCheck(D->m, &z, want, tol, wrong));
    PetscCall(Tell("product", D, form, before, *wrong));
    if (!fused) continue;
    PolderDiaMult_Host(&A, 1.0, x, NULL, want);
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

/* Offsets, and the fill of all or of the upper diagonals of D (poisoned) from R, by both twins; nd: so many of the diagonals */
static PetscErrorCode CheckFill(Diagonals *D, const Rows *R, PetscInt nd, PetscInt first, PetscReal tol, PolderStream stream, PetscBool *ok, PetscInt *wrong)
{
  const PolderDia A  = {.m = D->m, .n = D->n, .nd = nd, .off = D->off, .main = first, .half = (PetscBool)(first > 0)};
  const PetscInt  ld = D->m + GUARD, total = ld * D->nd;
  PetscScalar    *back;
  int             bad = 0, *badd;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(total, &back));
  for (PetscInt k = 0; k < total; ++k) D->all[k] = NAN;
  PetscCall(PolderDeviceFromHost(D->alld, D->all, sizeof(PetscScalar) * total));
  PetscCall(PolderDeviceMalloc(sizeof(int), &badd));
  PetscCall(PolderDeviceZero(badd, sizeof(int)));
  *ok = PolderDiaFill_Host(&A, D->val, RowsHere(D->m, R), tol);
  PolderLaunch(PolderDiaFill_CUDA(&A, D->vald, RowsThere(D->m, R), tol, badd, stream));
  PetscCall(PolderDeviceToHost(&bad, badd, sizeof(int)));
  PetscCall(PolderDeviceToHost(back, D->alld, sizeof(PetscScalar) * total));
  *wrong += *ok == (PetscBool)((bad & POLDER_DIA_WRONG) != 0);
  if (*ok) *wrong += PolderDiaFill_Host(&A, D->val, RowsHere(D->m, R), 0.0) != !(bad & POLDER_DIA_ROUNDED);
  for (PetscInt k = 0; k < total && *ok; ++k) *wrong += !(back[k] == D->all[k] || (PetscIsNanScalar(back[k]) && PetscIsNanScalar(D->all[k])));
  PetscCall(PolderDeviceFree(&badd));
  PetscCall(PetscFree(back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The survey of the rows from diagonals, which have been filled: on the host and on the device what PolderLevelRows_Host() finds, or that a row is unusable */
static PetscErrorCode CheckSurvey(const Diagonals *D, PetscInt main, const Rows *R, PolderStream stream, PetscInt *wrong)
{
  const PetscInt    n = D->m;
  PolderDia         A = DiagonalsHere(D), Ad = DiagonalsThere(D);
  const PolderRows  rows = RowsHere(n, R);
  const PetscInt64  none = (PetscInt64)n * 8;
  PetscReal        *v[3], *vd, zero = 0, bound[3], *boundd;
  PetscInt         *mate[3], *mated, row;
  PetscInt64       *there, bad;
  PolderRowKind     kind;
  PolderLevelSurvey far = {.lone = 5};
  PetscBool         good;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; ++k) {
    PetscCall(PetscMalloc1(4 * n, &v[k]));
    PetscCall(PetscMalloc1(n, &mate[k]));
  }
  PetscCall(PolderDeviceMalloc(sizeof(*vd) * 4 * (size_t)n, &vd));
  PetscCall(PolderDeviceMalloc(sizeof(*mated) * (size_t)n, &mated));
  PetscCall(PolderDeviceUpload(sizeof(none), &none, &there));
  PetscCall(PolderDeviceUpload(sizeof(zero), &zero, &boundd));
  A.main = Ad.main = main;
  far.dinv         = vd;
  far.d            = vd + n;
  far.sum          = vd + 2 * n;
  far.all          = vd + 3 * n;
  far.mate         = mated;
  for (int k = 0; k < 2; ++k) {
    const PolderLevelSurvey here = {.lone = 5, .dinv = v[k], .d = v[k] + n, .sum = v[k] + 2 * n, .all = v[k] + 3 * n, .mate = mate[k]};

    if (k) good = PolderLevelDiaRows_Host(&A, &here, &bound[k]);
    else row = PolderLevelRows_Host(&rows, NULL, &here, &bound[k], &kind);
  }
  PolderLaunch(PolderLevelDiaRows_CUDA(&Ad, &far, boundd, there, stream));
  PetscCall(PolderDeviceToHost(&bad, there, sizeof(bad)));
  PetscCall(PolderDeviceToHost(&bound[2], boundd, sizeof(zero)));
  PetscCall(PolderDeviceToHost(v[2], vd, sizeof(*vd) * 4 * (size_t)n));
  PetscCall(PolderDeviceToHost(mate[2], mated, sizeof(*mated) * (size_t)n));
  *wrong += (row == n && !good) != 0;
  *wrong += (row == n) != (bad == none);
  for (int k = 1; k < 3 && row == n && good; ++k) {
    for (PetscInt i = 0; i < n; ++i) *wrong += mate[k][i] != mate[0][i];
    *wrong += Wrong(4 * n, v[k], v[0], 1e-13 * D->nd);
    *wrong += !(PetscAbsReal(bound[k] - bound[0]) <= 1e-14 * bound[0]);
  }
  for (int k = 0; k < 3; ++k) {
    PetscCall(PetscFree(v[k]));
    PetscCall(PetscFree(mate[k]));
  }
  PetscCall(PolderDeviceFree(&vd));
  PetscCall(PolderDeviceFree(&mated));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&boundd));
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

/* Sets entry k of the rows on the host and on the device */
static PetscErrorCode SetEntry(Rows *R, PetscInt k, PetscScalar value)
{
  PetscFunctionBeginUser;
  R->aa[k] = value;
  PetscCall(PolderDeviceFromHost(R->aad + k, R->aa + k, sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An entry of the last row that is zero unlike its mirror image, 1e-10: rounding beside two diagonal entries of 1e3, and not beside one of them and one of 1 */
static PetscErrorCode CheckScales(Diagonals *D, Rows *R, PetscInt reach, PolderStream stream, PetscInt *wrong)
{
  const PetscInt last = R->ai[D->m - 1], row = R->aj[last];
  PetscInt       up, above;
  PetscBool      ok;

  PetscFunctionBeginUser;
  if (R->ai[D->m] - last < 2) PetscFunctionReturn(PETSC_SUCCESS);
  for (above = R->ai[row]; R->aj[above] != row; ++above) { }
  for (up = above; R->aj[up] != D->m - 1; ++up) { }
  PetscCall(SetEntry(R, last, 0));
  PetscCall(SetEntry(R, up, 1e-10));
  for (int one = 0; one < 4; ++one) {
    PetscCall(SetEntry(R, R->ai[D->m] - 1, one & 1 ? 1 : 1e3));
    PetscCall(SetEntry(R, above, one & 2 ? 1 : 1e3));
    PetscCall(CheckFill(D, R, D->nd, reach, 1e-12, stream, &ok, wrong));
    *wrong += ok != !one;
  }
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
      for (int positive = 0; positive < 2 && nd <= POLDER_LEVEL_DIAGONALS; ++positive) { // pivots
        for (PetscInt i = 0, k = 0; i < m && positive; ++i) {
          for (k = R.ai[i]; R.aj[k] != i; ++k) { }
          R.aa[k] = 0.5 + i % 7;
        }
        PetscCall(PolderDeviceFromHost(R.aad, R.aa, sizeof(PetscScalar) * (size_t)R.ai[m]));
        PetscCall(CheckFill(&D, &R, nd, reach, 0.0, stream, &ok, &wrong));
        PetscCall(CheckSurvey(&D, reach, &R, stream, &wrong));
      }
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
      PetscCall(CheckScales(&D, &R, reach, stream, &wrong));
      PetscCall(RowsDestroy(&R));
      PetscCall(DiagonalsDestroy(&D));
    }
  }
  PetscCall(Report("diagonals from rows", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestDiaMult, TestDiaFill, TestTriDia, TestTriCSR, TestRefused}
};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck
    suffix: small
    requires: cuda
    args: -small
    output_file: output/devicestencil_1.out

TEST*/
