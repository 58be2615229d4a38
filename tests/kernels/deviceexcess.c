static const char help[] = "Device kernels for the excess of rows, of aggregates and of coarse diagonals against the host.\n\n";

#include "devicetest.h"
#include "kernels/excess.h"
#include "kernels/excessrow.h"
#include "kernels/pairs.h"

/* Around the number of rows up to which each has a warp */
static const PetscInt Sizes[] = {0, 1, 2, 33, 257, 8192, 8193, 100003};

/* Compressed rows, some without a diagonal entry, with the excess and the size of each, on the host and on the device */
typedef struct {
  PetscInt     n, *i, *j, *i_d, *j_d;
  PetscScalar *a, *a_d;
  PetscReal   *excess, *size, *excess_d, *size_d;
} Rows;

/* Off-diagonal entries are negative and small beside the excess of most rows; every 40th excess is not known */
static PetscErrorCode RowsCreate(PetscInt n, Rows *A)
{
  PetscFunctionBeginUser;
  A->n = n;
  PetscCall(PetscMalloc3(n + 1, &A->i, n, &A->excess, n, &A->size));
  A->i[0] = 0;
  for (PetscInt i = 0; i < n; ++i) A->i[i + 1] = A->i[i] + (n == 1 ? 0 : i % 50 ? Next(8) : Next(120));
  PetscCall(PetscMalloc2(A->i[n], &A->j, A->i[n], &A->a));
  for (PetscInt i = 0; i < n; ++i) {
    A->excess[i] = i % 40 ? PetscAbsScalar(Number()) : POLDER_EXCESS_UNKNOWN;
    A->size[i]   = 1 + A->excess[i] * (A->excess[i] > 0);
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
      A->j[k] = k == A->i[i] && i % 7 ? i : (i + 1 + Next(n - 1)) % n; // no second diagonal entry
      A->a[k] = A->j[k] == i ? 2 + Number() : -0.01 * (2 + Number());
    }
  }
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(n + 1), A->i, &A->i_d));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)A->i[n], A->j, &A->j_d));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)A->i[n], A->a, &A->a_d));
  PetscCall(PolderDeviceUpload(sizeof(PetscReal) * (size_t)n, A->excess, &A->excess_d));
  PetscCall(PolderDeviceUpload(sizeof(PetscReal) * (size_t)n, A->size, &A->size_d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(A->i, A->excess, A->size));
  PetscCall(PetscFree2(A->j, A->a));
  PetscCall(PolderDeviceFree(&A->i_d));
  PetscCall(PolderDeviceFree(&A->j_d));
  PetscCall(PolderDeviceFree(&A->a_d));
  PetscCall(PolderDeviceFree(&A->excess_d));
  PetscCall(PolderDeviceFree(&A->size_d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregates of some four rows, at most one of which has an unknown excess; lone: every fifth row is in none */
static PetscErrorCode CompareAggregates(const Rows *A, PetscBool lone, PolderStream stream, PetscInt *wrong)
{
  const PetscInt   n = A->n, nc = (n + 3) / 4;
  const PolderRows host = {.n = n, .i = A->i, .j = A->j, .a = A->a}, device = {.n = n, .i = A->i_d, .j = A->j_d, .a = A->a_d};
  PetscInt        *agg, *ptr, *row, *agg_d, *ptr_d, *row_d;
  PetscReal       *coarse, *size, *coarse_d, *size_d;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(n, &agg, nc + 2, &ptr, n, &row, nc, &coarse, nc, &size));
  for (PetscInt i = 0; i < n; ++i) agg[i] = lone && i % 5 == 4 ? nc : i % 40 ? Next(nc) : i / 4;
  PolderMembers_Host(&(PolderAggregates){n, nc, agg, ptr, row, NULL});
  PolderExcessAggregates_Host(&(PolderAggregates){n, nc, agg, ptr, row, NULL}, &host, A->excess, A->size, coarse, size);
  PetscCall(PolderDeviceUpload(sizeof(*agg) * (size_t)n, agg, &agg_d));
  PetscCall(PolderDeviceUpload(sizeof(*ptr) * (size_t)(nc + 2), ptr, &ptr_d));
  PetscCall(PolderDeviceUpload(sizeof(*row) * (size_t)n, row, &row_d));
  PetscCall(PolderDeviceMalloc(sizeof(*coarse_d) * (size_t)nc, &coarse_d));
  PetscCall(PolderDeviceMalloc(sizeof(*size_d) * (size_t)nc, &size_d));
  PolderLaunch(PolderExcessAggregates_CUDA(&(PolderAggregates){n, nc, agg_d, ptr_d, row_d, NULL}, &device, A->excess_d, A->size_d, coarse_d, size_d, stream));
  PetscCall(SameScalars("excess", nc, coarse, coarse_d, 1e-13, wrong));
  PetscCall(SameScalars("size", nc, size, size_d, 1e-13, wrong));
  PetscCall(PetscFree5(agg, ptr, row, coarse, size));
  PetscCall(PolderDeviceFree(&agg_d));
  PetscCall(PolderDeviceFree(&ptr_d));
  PetscCall(PolderDeviceFree(&row_d));
  PetscCall(PolderDeviceFree(&coarse_d));
  PetscCall(PolderDeviceFree(&size_d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestExcess(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong[3] = {0};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    const PetscInt n = Sizes[s];
    Rows           A;
    PetscReal     *excess, *excess_d;

    if (small && n > 8193) continue;
    PetscCall(RowsCreate(n, &A));
    PetscCall(PetscMalloc1(n, &excess));
    PetscCall(PolderDeviceMalloc(sizeof(*excess_d) * (size_t)n, &excess_d));
    for (int kernel = 0; kernel < 2; ++kernel) {
      PolderExcessRows_Host(n, A.i, (PetscBool)kernel, A.excess, A.size, excess);
      PolderLaunch(PolderExcessRows_CUDA(n, A.i_d, (PetscBool)kernel, A.excess_d, A.size_d, excess_d, stream));
      PetscCall(SameScalars("excess of a row", n, excess, excess_d, 1e-13, &wrong[0]));
      PetscCall(CompareAggregates(&A, (PetscBool)kernel, stream, &wrong[1]));
    }
    PolderExcessDiagonal_Host(n, A.i, A.j, A.excess, A.size, A.a);
    PolderLaunch(PolderExcessDiagonal_CUDA(n, A.i_d, A.j_d, A.excess_d, A.size_d, A.a_d, stream));
    PetscCall(SameScalars("diagonal", A.i[n], A.a, A.a_d, 1e-13, &wrong[2]));
    PetscCall(PetscFree(excess));
    PetscCall(PolderDeviceFree(&excess_d));
    PetscCall(RowsDestroy(&A));
  }
  PetscCall(Report("excess of rows", wrong[0]));
  PetscCall(Report("excess of aggregates", wrong[1]));
  PetscCall(Report("diagonal from the excess", wrong[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestExcess}};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
