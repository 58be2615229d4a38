static char
  help[] = "The two-grid condition numbers of aggregates on the device against the host twin: weights over many decades, aggregates of one to forty rows.\n\n";

#include "devicetest.h"
#include "kernels/pairs.h"
#include "kernels/quality.h"

#define ROWS 3001
#define SPAN 3

/* The same for both rows of a coupling: mostly negative, over `decades` decades; 0: all equal */
static PetscScalar Coupling(PetscInt i, PetscInt j, PetscReal decades)
{
  const PetscInt h = (PetscMin(i, j) * 7919 + PetscMax(i, j) * 104729) & 0xffff;

  return decades > 0 ? (h % 37 == 5 ? 0.01 : -1) * PetscPowReal(10, decades * (h % 101 - 50) / 100) : -1;
}

/* A band of SPAN couplings to either side, and at both places */
typedef struct {
  PetscInt    i[ROWS + 1], j[ROWS * (2 * SPAN + 1)], *di, *dj;
  PetscScalar a[ROWS * (2 * SPAN + 1)], *da;
  PetscReal   d[ROWS], s[ROWS], *dd, *ds;
} Band;

static PetscErrorCode BandCreate(PetscReal decades, Band *A)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < ROWS; ++i) {
    A->i[i] = nz;
    A->d[i] = A->s[i] = i % 50 == 7 ? 2 : 0;
    for (PetscInt j = PetscMax(0, i - SPAN); j <= PetscMin(ROWS - 1, i + SPAN); ++j) {
      A->j[nz] = j;
      A->a[nz] = i == j ? 0 : Coupling(i, j, decades);
      A->d[i] -= PetscRealPart(A->a[nz++]);
    }
    for (PetscInt k = A->i[i]; k < nz; ++k) {
      if (A->j[k] == i) A->a[k] = A->d[i];
    }
  }
  A->i[ROWS] = nz;
  PetscCall(PolderDeviceUpload(sizeof(A->i), A->i, &A->di));
  PetscCall(PolderDeviceUpload(sizeof(*A->j) * (size_t)nz, A->j, &A->dj));
  PetscCall(PolderDeviceUpload(sizeof(*A->a) * (size_t)nz, A->a, &A->da));
  PetscCall(PolderDeviceUpload(sizeof(A->d), A->d, &A->dd));
  PetscCall(PolderDeviceUpload(sizeof(A->s), A->s, &A->ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BandDestroy(Band *A)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFree(&A->di));
  PetscCall(PolderDeviceFree(&A->dj));
  PetscCall(PolderDeviceFree(&A->da));
  PetscCall(PolderDeviceFree(&A->dd));
  PetscCall(PolderDeviceFree(&A->ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the entries of n that differ from those on the device */
static PetscErrorCode Compare(PetscInt n, const PetscInt h[], const PetscInt d[], PetscInt *wrong)
{
  PetscInt got[ROWS + 1];

  PetscFunctionBeginUser;
  if (n) PetscCall(PolderDeviceToHost(got, d, sizeof(*got) * (size_t)n));
  for (PetscInt k = 0; k < n; ++k) *wrong += got[k] != h[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregates of 1 to most rows and, every tenth row, none: what is bad, and what is left of pairs and of rows that joined; met: bad and good verdicts */
static PetscErrorCode TestAggregates(const Band *A, PetscInt most, PetscReal kappa, PetscInt large, PolderStream stream, PetscInt met[2], PetscInt *wrong)
{
  PetscInt              agg[ROWS], ptr[ROWS + 2], row[ROWS], bad[ROWS + 1], mate[ROWS], join[ROWS], all[ROWS], at[ROWS], nc = 0, in = 0, *there[7];
  const PetscInt *const here[] = {agg, ptr, row, bad, mate, join, at};
  PolderQuality         q = {.kappa = kappa, .large = large, .d = A->d, .s = A->s}, dq = {.kappa = kappa, .large = large, .d = A->dd, .s = A->ds};
  const PolderRows      rows = {.n = ROWS, .i = A->i, .j = A->j, .a = A->a}, drows = {.n = ROWS, .i = A->di, .j = A->dj, .a = A->da};
  PolderAggregates      P, dP;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < ROWS; ++i) {
    agg[i]  = i % 10 == 9 ? -1 : nc;
    mate[i] = agg[i] < 0 ? POLDER_PAIR_LONE : i ^ 1;
    join[i] = i / 2;
    if (agg[i] >= 0 && ++in > (nc * 7) % most) {
      ++nc;
      in = 0;
    }
  }
  nc += in > 0;
  for (PetscInt i = 0; i < ROWS; ++i) {
    if (agg[i] < 0) agg[i] = nc;
  }
  P = (PolderAggregates){ROWS, nc, agg, ptr, row, at};
  PolderMembers_Host(&P);
  for (PetscInt a = 0; a <= ROWS; ++a) bad[a] = -77;
  for (int k = 0; k < 7; ++k) PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(k == 1 ? nc + 2 : k == 3 ? ROWS + 1 : ROWS), here[k], &there[k]));
  dP = (PolderAggregates){ROWS, nc, there[0], there[1], there[2], there[6]};
  PolderQualityCheck_Host(&P, &rows, &q, bad);
  PolderLaunch(PolderQualityCheck_CUDA(&dP, &drows, &dq, there[3], stream));
  PetscCall(Compare(ROWS + 1, bad, there[3], wrong)); // beyond nc nothing is written
  for (PetscInt a = 0; a < nc; ++a) ++met[bad[a] ? 0 : 1];
  PetscCall(PetscArraycpy(all, bad, nc));
  PolderQualityUndo_Host(ROWS, agg, nc, bad, mate, join);
  PolderLaunch(PolderQualityUndo_CUDA(ROWS, there[0], nc, there[3], there[4], there[5], stream));
  PetscCall(Compare(ROWS, mate, there[4], wrong));
  PetscCall(Compare(ROWS, join, there[5], wrong));
  PolderQualityUndo_Host(ROWS, agg, nc, bad, mate, NULL);
  PolderLaunch(PolderQualityUndo_CUDA(ROWS, there[0], nc, there[3], there[4], NULL, stream));
  PetscCall(Compare(ROWS, mate, there[4], wrong));
  q.some = dq.some = PETSC_TRUE; // those that some row joins, rows 0 to 4 of 10
  for (PetscInt i = 0; i < ROWS; ++i) join[i] = i % 10 < 5 && agg[i] < nc ? i + 1 : i;
  PetscCall(PetscArrayzero(bad, nc));
  PetscCall(PolderDeviceFromHost(there[5], join, sizeof(join)));
  PetscCall(PolderDeviceFromHost(there[3], bad, sizeof(*bad) * (size_t)nc));
  PolderQualityJoined_Host(ROWS, join, agg, bad);
  PolderLaunch(PolderQualityJoined_CUDA(ROWS, there[5], there[0], there[3], stream));
  PetscCall(Compare(nc, bad, there[3], wrong));
  for (PetscInt a = 0; a < nc; ++a) all[a] = all[a] && bad[a];
  PolderQualityCheck_Host(&P, &rows, &q, bad);
  PolderLaunch(PolderQualityCheck_CUDA(&dP, &drows, &dq, there[3], stream));
  PetscCall(Compare(ROWS + 1, bad, there[3], wrong));
  for (PetscInt a = 0; a < nc; ++a) *wrong += bad[a] != all[a];
  for (int k = 0; k < 7; ++k) PetscCall(PolderDeviceFree(&there[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestQuality(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscReal decades[] = {0, 1, 10}, kappas[] = {3, 16, 1000};
  static const PetscInt  most[] = {1, 2, 4, 9, 40};
  Band                  *A;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&A));
  for (size_t d = 0; d < PETSC_STATIC_ARRAY_LENGTH(decades); ++d) {
    PetscInt wrong = 0, met[2] = {0, 0};

    PetscCall(BandCreate(decades[d], A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kappas); ++k) {
      for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(most); ++m) PetscCall(TestAggregates(A, most[m], kappas[k], (PetscInt)(m % 2), stream, met, &wrong));
    }
    wrong += !met[0] + !met[1];
    PetscCall(BandDestroy(A));
    PetscCall(Report(d ? d == 1 ? "weights over a decade" : "weights over ten decades" : "equal weights", wrong));
  }
  PetscCall(PetscFree(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestQuality}};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
