/* Operations of CUDA vectors near the bandwidth of the memory, in place of PETSc's. */
#include "device.h"
#include "kernels/vec.h"
#include <petsc/private/vecimpl.h>

/* Sums of one round, in shared memory: the device writes them and then their arrival, for which the host waits */
#define POLDER_SUMS 64
typedef struct {
  PetscReal   arrived;
  PetscScalar dots[POLDER_SUMS];
} PolderSums;
static PolderSums *PolderSumsHost = NULL, *PolderSumsDevice;

/* Launches the sums (x, y[k]) of this process */
static PetscErrorCode PolderVecSumsBegin_Private(Vec x, PetscInt n, const Vec y[])
{
  const PetscScalar *xa, *ya[POLDER_DOTS];
  PetscInt           m;
  PolderStream       stream;
  void              *work;

  PetscFunctionBegin;
  if (!PolderSumsHost) PetscCall(PolderDeviceMallocShared(sizeof(*PolderSumsHost), &PolderSumsHost, &PolderSumsDevice));
  *(volatile PetscReal *)&PolderSumsHost->arrived = NAN;
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PetscLogGpuTimeBegin());
  for (PetscInt k = 0; k < n; k += POLDER_DOTS) {
    const PetscInt     count = PetscMin(n - k, POLDER_DOTS);
    const PolderDotsTo to    = {&PolderSumsDevice->dots[k], k + count < n ? NULL : &PolderSumsDevice->arrived};

    for (PetscInt i = 0; i < count; ++i) PetscCall(PolderVecGetDeviceRead(y[k + i], &ya[i]));
    PolderLaunch(PolderDots_CUDA(m, count, xa, ya, &to, work, stream));
    for (PetscInt i = 0; i < count; ++i) PetscCall(PolderVecRestoreDeviceRead(y[k + i], &ya[i]));
  }
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscCall(PetscLogGpuFlops(2.0 * m * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->mdot_local */
static PetscErrorCode VecMDotLocal_Polder(Vec x, PetscInt n, const Vec y[], PetscScalar dots[])
{
  PetscInt  m;
  PetscReal arrived;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &m));
  if (!m) PetscCall(PetscArrayzero(dots, n));
  for (PetscInt k = 0; k < n && m; k += POLDER_SUMS) {
    const PetscInt count = PetscMin(n - k, POLDER_SUMS);

    PetscCall(PolderVecSumsBegin_Private(x, count, y + k));
    PetscCall(PolderDeviceWaitReal(&PolderSumsHost->arrived, &arrived));
    for (PetscInt i = 0; i < count; ++i) dots[k + i] = ((const volatile PetscScalar *)PolderSumsHost->dots)[i];
    PetscCall(PetscLogGpuToCpuScalar((PetscLogDouble)sizeof(*dots) * count));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->mdot */
static PetscErrorCode VecMDot_Polder(Vec x, PetscInt n, const Vec y[], PetscScalar dots[])
{
  PetscFunctionBegin;
  PetscCall(VecMDotLocal_Polder(x, n, y, dots));
  PetscCallAllreduce(MPI_IN_PLACE, dots, (PetscMPIInt)n, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->dot_local */
static PetscErrorCode VecDotLocal_Polder(Vec x, Vec y, PetscScalar *dot)
{
  PetscFunctionBegin;
  PetscCall(VecMDotLocal_Polder(x, 1, &y, dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->dot */
static PetscErrorCode VecDot_Polder(Vec x, Vec y, PetscScalar *dot)
{
  PetscFunctionBegin;
  PetscCall(VecMDot_Polder(x, 1, &y, dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->dotnorm2: (s, t) and (t, t) */
static PetscErrorCode VecDotNorm2_Polder(Vec s, Vec t, PetscScalar *dot, PetscScalar *square)
{
  const Vec   y[] = {s, t};
  PetscScalar dots[2];

  PetscFunctionBegin;
  PetscCall(VecMDot_Polder(t, 2, y, dots));
  *dot    = dots[0];
  *square = dots[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least square of a norm without a loss of digits to underflow */
#define POLDER_SAFE_SQUARE 1e-290

/* ||v||_2 of this process. PETSc's function scales the values first; it also tells infinity from what is not a number */
static PetscErrorCode PolderVecNorm2Local_Private(Vec v, PetscReal *norm)
{
  PetscScalar square;

  PetscFunctionBegin;
  PetscCall(VecDotLocal_Polder(v, v, &square));
  if (square > POLDER_SAFE_SQUARE && square < PETSC_MAX_REAL) *norm = PetscSqrtReal(square);
  else PetscUseTypeMethod(v, norm_local, NORM_2, norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->norm */
static PetscErrorCode VecNorm_Polder(Vec v, NormType type, PetscReal *norm)
{
  const PetscInt  count = type == NORM_1_AND_2 ? 2 : 1;
  const PetscBool two   = (PetscBool)(type == NORM_2 || type == NORM_FROBENIUS || type == NORM_1_AND_2);
  const MPI_Op    op    = type == NORM_INFINITY ? MPIU_MAX : MPIU_SUM;
  PetscMPIInt     size;

  PetscFunctionBegin;
  if (type == NORM_2 || type == NORM_FROBENIUS) PetscCall(PolderVecNorm2Local_Private(v, norm));
  else PetscUseTypeMethod(v, norm_local, type, norm);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS); // the square of a norm may be too large or too small
  if (two) norm[count - 1] = PetscSqr(norm[count - 1]);
  PetscCallAllreduce(MPI_IN_PLACE, norm, (PetscMPIInt)count, MPIU_REAL, op, PetscObjectComm((PetscObject)v));
  if (two) norm[count - 1] = PetscSqrtReal(norm[count - 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cuBLAS, which PETSc's function calls, takes longer to begin than a small system to solve */
PetscErrorCode PolderVecNormKept(Vec v, PetscReal *norm)
{
  PetscBool device;
  PetscErrorCode (*own)(Vec, NormType, PetscReal *) = v->ops->norm;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &device));
  if (device) v->ops->norm = VecNorm_Polder;
  PetscCall(VecNorm(v, NORM_2, norm));
  v->ops->norm = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = own y + sum of a[k] x[k] */
static PetscErrorCode PolderVecCombine_Private(Vec y, PetscScalar own, PetscInt n, const PetscScalar a[], const Vec x[])
{
  PolderTerms  terms;
  PetscScalar *ya;
  PetscInt     m;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &m));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(own == 0 ? PolderVecGetDeviceWrite(y, &ya) : PolderVecGetDeviceArray(y, &ya));
  PetscCall(PetscLogGpuTimeBegin());
  for (PetscInt k = 0; k < n; k += POLDER_TERMS) {
    terms.count = PetscMin(n - k, POLDER_TERMS);
    terms.own   = k ? 1 : own;
    PetscCall(PetscArraycpy(terms.a, a + k, terms.count));
    for (PetscInt i = 0; i < terms.count; ++i) PetscCall(PolderVecGetDeviceRead(x[k + i], &terms.x[i]));
    PolderLaunch(PolderCombine_CUDA(m, &terms, ya, stream));
    for (PetscInt i = 0; i < terms.count; ++i) PetscCall(PolderVecRestoreDeviceRead(x[k + i], &terms.x[i]));
  }
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(own == 0 ? PolderVecRestoreDeviceWrite(y, &ya) : PolderVecRestoreDeviceArray(y, &ya));
  PetscCall(PetscLogGpuFlops(2.0 * m * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecCombine(Vec y, PetscScalar own, PetscInt n, const PetscScalar a[], Vec x[])
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(y, &device));
  if (!device) {
    PetscCall(VecAXPBY(y, a[0], own, x[0]));
    if (n > 1) PetscCall(VecMAXPY(y, n - 1, a + 1, x + 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(VEC_MAXPY, y, *x, 0, 0));
  PetscCall(PolderVecCombine_Private(y, own, n, a, x));
  PetscCall(PetscLogEventEnd(VEC_MAXPY, y, *x, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->maxpy */
static PetscErrorCode VecMAXPY_Polder(Vec y, PetscInt n, const PetscScalar a[], Vec x[])
{
  PetscFunctionBegin;
  PetscCall(PolderVecCombine_Private(y, 1, n, a, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->axpby: y = a x + b y */
static PetscErrorCode VecAXPBY_Polder(Vec y, PetscScalar a, PetscScalar b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PolderVecCombine_Private(y, b, 1, &a, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->aypx: y = x + b y */
static PetscErrorCode VecAYPX_Polder(Vec y, PetscScalar b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(VecAXPBY_Polder(y, 1, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->axpbypcz: z = a x + b y + c z */
static PetscErrorCode VecAXPBYPCZ_Polder(Vec z, PetscScalar a, PetscScalar b, PetscScalar c, Vec x, Vec y)
{
  const PetscScalar factors[] = {a, b};
  const Vec         terms[]   = {x, y};

  PetscFunctionBegin;
  PetscCall(PolderVecCombine_Private(z, c, 2, factors, terms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->waxpy: w = a x + y */
static PetscErrorCode VecWAXPY_Polder(Vec w, PetscScalar a, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(VecAXPBYPCZ_Polder(w, a, 1, 0, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc gives duplicates the operations of their vector, and a vector that is bound to the host other ones */
PetscErrorCode PolderVecTakeOperations(Vec v)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  v->ops->dot = v->ops->tdot = VecDot_Polder; // the scalars are real
  v->ops->dot_local = v->ops->tdot_local = VecDotLocal_Polder;
  v->ops->mdot = v->ops->mtdot = VecMDot_Polder;
  v->ops->mdot_local = v->ops->mtdot_local = VecMDotLocal_Polder;
  v->ops->dotnorm2                         = VecDotNorm2_Polder;
  v->ops->norm                             = VecNorm_Polder;
  v->ops->maxpy                            = VecMAXPY_Polder;
  v->ops->axpby                            = VecAXPBY_Polder;
  v->ops->aypx                             = VecAYPX_Polder;
  v->ops->waxpy                            = VecWAXPY_Polder;
  v->ops->axpbypcz                         = VecAXPBYPCZ_Polder;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   VECPOLDERCUDA - Vectors of type `VECCUDA` whose inner products, norms and linear combinations are Polder's

   Options Database Keys:
+  -vec_type poldercuda    - for vectors that call `VecSetFromOptions()`
-  -dm_vec_type poldercuda - for those of a `DM`

   Level: beginner

   Notes:
   The vectors are of type `VECSEQCUDA` or `VECMPICUDA`, and everything that takes such vectors takes these. Each operation reads a vector once, up to 16
   products and 32 terms at a time, and the host waits for sums in page-locked memory. Duplicates, such as the work vectors of solvers, have the operations as
   well; a vector that was bound to the host with `VecBindToCPU()` has PETSc's afterwards.

   `MatCreateVecs()` of `MATAIJDIA`, `MATAIJICRS` and `MATAIJHEC` makes such vectors where it makes CUDA vectors, without this type.

   `VecSetType()` to this type makes a vector anew that has a type already, a CUDA vector as well, and copies its values.

   The type exists where PETSc has CUDA.

.seealso: `VECCUDA`, `MATAIJDIA`, `MATAIJICRS`, `MATAIJHEC`
M*/
PETSC_INTERN PetscErrorCode VecCreate_PolderCUDA(Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecSetType(v, POLDER_VEC_DEVICE));
  PetscCall(PolderVecTakeOperations(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecOperationsFinalize(void)
{
  PetscFunctionBegin;
  if (PolderSumsHost) PetscCall(PolderDeviceFreeShared(&PolderSumsHost));
  PetscFunctionReturn(PETSC_SUCCESS);
}
