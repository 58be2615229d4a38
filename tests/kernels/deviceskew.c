static char help[] = "The parts of a matrix that is not symmetric: the device kernels against their host twins.\n\n";

#include "devicetest.h"
#include "kernels/skew.h"

#define LONG 900 /* entries of one row */

typedef struct {
  PetscInt     n, nz, *i, *j;
  PetscScalar *a;
  PetscReal   *sum;
} Rows;

/* Some entries have no partner, row n / 2 has many, and the values of partners differ in every third row only */
static PetscErrorCode RowsCreate(PetscInt n, Rows *A, Rows *d)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  A->n = d->n = n;
  PetscCall(PetscMalloc1(n + 1, &A->i));
  PetscCall(PetscMalloc1(8 * n + LONG, &A->j));
  PetscCall(PetscMalloc1(8 * n + LONG, &A->a));
  PetscCall(PetscCalloc1(n, &A->sum));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt step = i == n / 2 ? 1 + n / LONG : 1 + n / 6;

    A->i[i] = nz;
    for (PetscInt j = i % step; j < n; j += step) {
      const PetscInt first = PetscMin(i, j), second = PetscMax(i, j);

      if (i != j && (first + 3 * second) % 7 == 2 && i < j) continue;
      A->j[nz] = j;
      A->a[nz] = i == j ? 5 : -(1 + (first * 13 + second * 7) % 11) * (i % 3 ? 1 : i % 9 ? 1 + 0.5 * Number() : 7);
      A->sum[i] += PetscRealPart(A->a[nz++]);
    }
  }
  A->i[n] = A->nz = d->nz = nz;
  PetscCall(PolderDeviceUpload(sizeof(*A->i) * (size_t)(n + 1), A->i, &d->i));
  PetscCall(PolderDeviceUpload(sizeof(*A->j) * (size_t)nz, A->j, &d->j));
  PetscCall(PolderDeviceUpload(sizeof(*A->a) * (size_t)nz, A->a, &d->a));
  PetscCall(PolderDeviceUpload(sizeof(*A->sum) * (size_t)n, A->sum, &d->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *A, Rows *d)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(A->i));
  PetscCall(PetscFree(A->j));
  PetscCall(PetscFree(A->a));
  PetscCall(PetscFree(A->sum));
  PetscCall(PolderDeviceFree(&d->i));
  PetscCall(PolderDeviceFree(&d->j));
  PetscCall(PolderDeviceFree(&d->a));
  PetscCall(PolderDeviceFree(&d->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestParts(const Rows *A, const Rows *d, PolderStream stream, PetscInt *wrong)
{
  const PolderRows h = {A->n, A->i, A->j, A->a, A->nz}, D = {A->n, d->i, d->j, d->a, A->nz};
  PetscInt         zero[3] = {0}, count[3] = {0}, *there;
  PetscScalar     *s, *c, *ds, *dc;
  PetscReal       *mean, *dmean;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(A->nz, &s, A->nz, &c, A->n, &mean));
  for (PetscInt k = 0; k < A->nz; ++k) s[k] = c[k] = NAN;
  for (PetscInt i = 0; i < A->n; ++i) mean[i] = NAN;
  PetscCall(PolderDeviceUpload(sizeof(*s) * (size_t)A->nz, s, &ds));
  PetscCall(PolderDeviceUpload(sizeof(*c) * (size_t)A->nz, c, &dc));
  PetscCall(PolderDeviceUpload(sizeof(*mean) * (size_t)A->n, mean, &dmean));
  PetscCall(PolderDeviceUpload(sizeof(zero), zero, &there));
  PolderSymmetricPart_Host(&h, A->sum, s, mean, &count[0]);
  PolderLaunch(PolderSymmetricPart_CUDA(&D, d->sum, ds, dmean, there, stream));
  PetscCall(SameScalars("symmetric part", A->nz, s, ds, 0, wrong));
  PetscCall(SameScalars("sums", A->n, mean, dmean, 1e-14, wrong));
  for (PetscInt step = 1; step < A->n; step *= 3) {
    PolderSkewRows_Host(&h, step, &count[1]);
    PolderLaunch(PolderSkewRows_CUDA(&D, step, there + 1, stream));
  }
  PetscCall(SameIndices("rows without partners, with others and with jumps", 3, count, there, wrong));
  for (int given = 0; given < 2; ++given) {
    for (PetscInt k = 0; k < A->nz && given; ++k) s[k] *= 0.5; // as an interpolation would have it
    PetscCall(PolderDeviceFree(&ds));
    PetscCall(PolderDeviceUpload(sizeof(*s) * (size_t)A->nz, s, &ds));
    PolderSoften_Host(&h, 1.7, given ? s : NULL, c);
    PolderLaunch(PolderSoften_CUDA(&D, 1.7, given ? ds : NULL, dc, stream));
    PetscCall(SameScalars("softened couplings", A->nz, c, dc, 1e-13, wrong));
  }
  PetscCall(PetscFree3(s, c, mean));
  PetscCall(PolderDeviceFree(&ds));
  PetscCall(PolderDeviceFree(&dc));
  PetscCall(PolderDeviceFree(&dmean));
  PetscCall(PolderDeviceFree(&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSkew(void *work, PolderStream stream)
{
  const PetscInt sizes[] = {1, 2, 31, 32, 33, 257, 1001, 40000};
  PetscInt       wrong   = 0;

  PetscFunctionBeginUser;
  (void)work;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes) - small; ++k) {
    Rows A, d;

    PetscCall(RowsCreate(sizes[k], &A, &d));
    PetscCall(TestParts(&A, &d, stream, &wrong));
    PetscCall(RowsDestroy(&A, &d));
  }
  PetscCall(Report("parts of matrices that are not symmetric", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestSkew}};

/*TEST

  build: internal

  test:
    requires: gpu

  test:
    suites: memcheck racecheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/deviceskew_1.out

TEST*/
