static const char
  help[] = "Sweeps by levels and their factors, rows of approximate inverses and the check of rows on the device, against their host twins.\n\n";

#include "devicetest.h"
#include "kernels/fsai.h"
#include "kernels/ip.h"
#include "kernels/rowcheck.h"
#include "rows/sweeps.h"

/* A band matrix of n rows with every third coupling missing, dominant; the device has a copy */
typedef struct {
  PetscInt     n, nz, *i, *j, *di, *dj;
  PetscScalar *a, *da;
} Rows;

static const PetscInt Sizes[] = {0, 1, 2, 31, 32, 33, 64, 65, 257, 3001};

static PetscBool Couples(PetscInt i, PetscInt j)
{
  const PetscInt d = i < j ? j - i : i - j;

  return (PetscBool)((d == 1 || d == 2 || d == 9 || d == 40) && (i + j) % 3);
}

static PetscErrorCode RowsCreate(PetscInt n, Rows *A)
{
  PetscFunctionBeginUser;
  *A = (Rows){.n = n};
  PetscCall(PetscMalloc3(n + 1, &A->i, 9 * n, &A->j, 9 * n, &A->a));
  for (PetscInt i = 0; i < n; ++i) {
    A->i[i] = A->nz;
    for (PetscInt j = PetscMax(0, i - 40); j < PetscMin(n, i + 41); ++j) {
      if (i != j && !Couples(i, j)) continue;
      A->j[A->nz]   = j;
      A->a[A->nz++] = i == j ? 9 + i % 3 : -1 - 0.01 * ((i + j) % 17);
    }
  }
  A->i[n] = A->nz;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(n + 1), A->i, &A->di));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)A->nz, A->j, &A->dj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)A->nz, A->a, &A->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(A->i, A->j, A->a));
  PetscCall(PolderDeviceFree(&A->di));
  PetscCall(PolderDeviceFree(&A->dj));
  PetscCall(PolderDeviceFree(&A->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first n rows of A in two blocks: A <- the columns below n, B <- the others, counted from n on */
static PetscErrorCode Split(Rows *A, PetscInt n, Rows *B)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  *B = (Rows){.n = A->n};
  PetscCall(PetscMalloc3(A->n + 1, &B->i, A->nz, &B->j, A->nz, &B->a));
  for (PetscInt i = 0, k = 0; i < n; ++i) {
    const PetscInt end = A->i[i + 1];

    A->i[i] = nz;
    B->i[i] = B->nz;
    for (; k < end; ++k) {
      if (A->j[k] < n) {
        A->j[nz]   = A->j[k];
        A->a[nz++] = A->a[k];
      } else {
        B->j[B->nz]   = A->j[k] - n;
        B->a[B->nz++] = A->a[k];
      }
    }
  }
  A->i[n] = A->nz = nz;
  B->i[n]         = B->nz;
  PetscCall(PolderDeviceFromHost(A->di, A->i, sizeof(PetscInt) * (size_t)(n + 1)));
  PetscCall(PolderDeviceFromHost(A->dj, A->j, sizeof(PetscInt) * (size_t)nz));
  PetscCall(PolderDeviceFromHost(A->da, A->a, sizeof(PetscScalar) * (size_t)nz));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(n + 1), B->i, &B->di));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)B->nz, B->j, &B->dj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)B->nz, B->a, &B->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z of one solve at a place, whose rows are csr; bad: a pivot was not positive */
static PetscErrorCode Solve(const PolderPlace *place, const PolderGraph *g, const PolderCSR *csr, PetscInt eliminate, const PetscScalar r[], PetscScalar z[],
                            PetscInt *bad)
{
  PolderSweeps W = {.omega = 0.3};
  PetscInt    *level, count;
  PetscScalar *rr, *zz, *start;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(g->n, &level, g->n, &start));
  for (PetscInt i = 0; i < g->n; ++i) start[i] = NAN;
  PetscCall(PolderGraphLevels(g, NULL, level, &count));
  PetscCall(PolderSweepsCreate(&W, place, g, csr, level, count, NULL));
  W.eliminate = eliminate;
  PetscCall(PolderSweepsValues(&W, place, csr, bad));
  PetscCall(PolderPlaceUpload(place, sizeof(PetscScalar) * (size_t)g->n, r, &rr));
  PetscCall(PolderPlaceUpload(place, sizeof(PetscScalar) * (size_t)g->n, start, &zz));
  for (PetscInt l = 0; l < count; ++l) PolderRun(place, PolderSweepForward, &W.S, W.first[l], W.first[l + 1], rr, W.x);
  for (PetscInt l = count - 1; l >= 0; --l) PolderRun(place, PolderSweepBackward, &W.S, W.first[l], W.first[l + 1], W.x, zz);
  PetscCall(PolderPlaceFetch(place, sizeof(PetscScalar) * (size_t)g->n, &zz, z));
  PetscCall((*place->free)(&rr));
  PetscCall(PolderSweepsDestroy(&W, place));
  PetscCall(PetscFree2(level, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gauss-Seidel (nothing is eliminated), and factors, also with a row that has no positive pivot */
static PetscErrorCode TestSweeps(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    for (int kind = 0; kind < 3; ++kind) {
      Rows         A;
      PolderGraph  g;
      PetscInt     bad[2];
      PetscScalar *r, *z[2];

      PetscCall(RowsCreate(Sizes[s], &A));
      if (kind == 2 && A.n > 2) {
        A.a[A.nz - 1] = 1e-6; // its last row has more than that subtracted
        PetscCall(PolderDeviceFromHost(A.da, A.a, sizeof(PetscScalar) * (size_t)A.nz));
      }
      {
        const PolderCSR host   = {.m = A.n, .nz = A.nz, .ai = A.i, .aj = A.j, .aa = A.a};
        const PolderCSR device = {.m = A.n, .nz = A.nz, .ai = A.di, .aj = A.dj, .aa = A.da};

        PetscCall(PolderGraphCreate(&host, PETSC_FALSE, &g));
        PetscCall(PetscMalloc3(A.n, &r, A.n, &z[0], A.n, &z[1]));
        for (PetscInt i = 0; i < A.n; ++i) r[i] = Number();
        PetscCall(Solve(&PolderOnHost, &g, &host, kind ? PETSC_MAX_INT : 0, r, z[0], &bad[0]));
        PetscCall(Solve(&PolderOnDevice, &g, &device, kind ? PETSC_MAX_INT : 0, r, z[1], &bad[1]));
      }
      wrong += bad[0] != bad[1] || (kind == 2 && A.n > 64 && bad[0] != A.n - 1);
      wrong += Wrong(A.n, z[1], z[0], 1e-13);
      PetscCall(PetscFree3(r, z[0], z[1]));
      PetscCall(PolderGraphDestroy(&g));
      PetscCall(RowsDestroy(&A));
    }
  }
  PetscCall(Report("sweeps", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares n values on the device with those of the host, and frees the former */
static PetscErrorCode Compare(PetscInt n, PetscScalar **device, const PetscScalar host[], PetscInt *wrong)
{
  PetscScalar *back;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &back));
  PetscCall(PolderPlaceFetch(&PolderOnDevice, sizeof(PetscScalar) * (size_t)n, device, back));
  *wrong += Wrong(n, back, host, 1e-13);
  PetscCall(PetscFree(back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of fsai with the pattern of the lower triangle, by several numbers of threads; the last rows may be indefinite */
static PetscErrorCode TestFsai(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    for (PetscInt threads = 1; threads < 300; threads += 127) {
      Rows         A;
      PetscInt    *gi, *gj, *where, *di, *dj, *dbad, nz = 0, bad = PETSC_MAX_INT, badthere = PETSC_MAX_INT;
      PetscScalar *val, *dval, *small_[2];

      PetscCall(RowsCreate(Sizes[s], &A));
      if (A.n > 64) A.a[A.i[A.n - 1]] = -20; // not positive definite
      PetscCall(PolderDeviceFromHost(A.da, A.a, sizeof(PetscScalar) * (size_t)A.nz));
      PetscCall(PetscMalloc4(A.n + 1, &gi, A.nz, &gj, A.nz, &val, PolderFsaiWork_Host(9), &small_[0]));
      PetscCall(PetscCalloc1(A.n, &where));
      for (PetscInt i = 0; i < A.n; ++i) {
        gi[i] = nz;
        for (PetscInt k = A.i[i]; k < A.i[i + 1] && A.j[k] <= i; ++k) gj[nz++] = A.j[k];
      }
      gi[A.n] = nz;
      PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(A.n + 1), gi, &di));
      PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)nz, gj, &dj));
      PetscCall(PolderDeviceUpload(sizeof(PetscInt), &bad, &dbad));
      for (PetscInt k = 0; k < nz; ++k) val[k] = NAN;
      PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)nz, val, &dval));
      PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * PolderFsaiWork(9) * (size_t)threads, &small_[1]));
      {
        const PolderFsai here = {A.n, gi, gj, A.i, A.j, A.a, where}, there = {A.n, di, dj, A.di, A.dj, A.da, NULL};

        PolderFsaiRows_Host(&here, 1, small_[0], val, &bad);
        PolderLaunch(PolderFsaiRows_CUDA(&there, threads, small_[1], dval, dbad, stream));
      }
      PetscCall(PolderPlaceFetch(&PolderOnDevice, sizeof(PetscInt), &dbad, &badthere));
      wrong += bad != badthere || (bad == PETSC_MAX_INT) != (A.n <= 64);
      PetscCall(Compare(nz, &dval, val, &wrong));
      PetscCall(PolderDeviceFree(&di));
      PetscCall(PolderDeviceFree(&dj));
      PetscCall(PolderDeviceFree(&small_[1]));
      for (PetscInt i = 0; i < A.n; ++i) wrong += where[i] != 0;
      PetscCall(PetscFree(where));
      PetscCall(PetscFree4(gi, gj, val, small_[0]));
      PetscCall(RowsDestroy(&A));
    }
  }
  PetscCall(Report("fsai", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of ip in all forms: the first half of the rows, the columns from half on are ghosts, and some ghosts come before */
static PetscErrorCode TestIp(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 1; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    for (int form = 0; form < 4; ++form) {
      Rows         A, B;
      PetscInt    *start, *dstart, nz = 0;
      PetscScalar *val, *dval, *d, *dd;

      PetscCall(RowsCreate(Sizes[s], &A));
      const PetscInt n = (A.n + 1) / 2, nlow = n / 3;

      PetscCall(Split(&A, n, &B));
      PetscCall(PetscMalloc3(n + 1, &start, A.nz + B.nz, &val, A.n, &d));
      for (PetscInt i = 0; i < n; ++i) {
        start[i] = nz;
        for (PetscInt k = A.i[i]; k < A.i[i + 1]; ++k) nz += form > 1 || A.j[k] >= i;
        for (PetscInt k = B.i[i]; k < B.i[i + 1]; ++k) nz += form > 1 || B.j[k] >= nlow;
      }
      start[n] = nz;
      for (PetscInt i = 0; i < A.n; ++i) d[i] = 2 + i % 5;
      for (PetscInt k = 0; k < nz; ++k) val[k] = NAN;
      PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(n + 1), start, &dstart));
      PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)A.n, d, &dd));
      PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)nz, val, &dval));
      {
        const PolderIp   here = {n, nlow, (PetscBool)(form % 2), (PetscBool)(form > 1), start}, there = {n, nlow, here.scaled, here.whole, dstart};
        const PolderRows own = {n, A.i, A.j, A.a, A.nz}, ghosts = {n, B.i, B.j, B.a, B.nz};

        PolderIpRows_Host(&here, own, ghosts, d, val);
        PolderLaunch(PolderIpRows_CUDA(&there, (PolderRows){n, A.di, A.dj, A.da, A.nz}, (PolderRows){n, B.di, B.dj, B.da, B.nz}, dd, dval, stream));
      }
      PetscCall(Compare(nz, &dval, val, &wrong));
      PetscCall(PolderDeviceFree(&dstart));
      PetscCall(PolderDeviceFree(&dd));
      PetscCall(PetscFree3(start, val, d));
      PetscCall(RowsDestroy(&A));
      PetscCall(RowsDestroy(&B));
    }
  }
  PetscCall(Report("ip", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every fault is found in the first row that has one, by kind */
static PetscErrorCode TestCheck(PETSC_UNUSED void *work, PolderStream stream)
{
  const PetscScalar   faults[] = {NAN, 0, -1, INFINITY, 1e-320};
  const PolderRowKind kinds[]  = {POLDER_ROW_NOTFINITE, POLDER_ROW_ZERO, POLDER_ROW_NEGATIVE, POLDER_ROW_NOTFINITE, POLDER_ROW_ZERO};
  PetscInt            wrong    = 0;

  PetscFunctionBeginUser;
  for (size_t s = 3; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    for (int f = 0; f < 5; ++f) {
      Rows       A;
      PetscInt64 bad[2] = {POLDER_ROWS_GOOD, POLDER_ROWS_GOOD}, *there;
      PolderRows host, device, none = {0};

      PetscCall(RowsCreate(Sizes[s], &A));
      for (PetscInt i = A.n / 2; i < A.n; i += 3) {
        for (PetscInt k = A.i[i]; k < A.i[i + 1]; ++k) A.a[k] = A.j[k] == i ? faults[f] : A.a[k];
      }
      PetscCall(PolderDeviceFromHost(A.da, A.a, sizeof(PetscScalar) * (size_t)A.nz));
      host   = (PolderRows){.n = A.n, .i = A.i, .j = A.j, .a = A.a};
      device = (PolderRows){.n = A.n, .i = A.di, .j = A.dj, .a = A.da};
      PetscCall(PolderDeviceUpload(sizeof(bad[0]), bad, &there));
      PolderRowsCheck_Host(&host, &none, &bad[0]);
      PolderLaunch(PolderRowsCheck_CUDA(&device, &none, there, stream));
      PetscCall(PolderPlaceFetch(&PolderOnDevice, sizeof(bad[1]), &there, &bad[1]));
      wrong += bad[0] != bad[1] || bad[0] != PolderRowBad(A.n / 2, kinds[f]);
      PetscCall(RowsDestroy(&A));
    }
  }
  PetscCall(Report("check", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestSweeps, TestFsai, TestIp, TestCheck}
};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck racecheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicesweeps_1.out

TEST*/
