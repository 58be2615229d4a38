/* The operators P, P^T and Q of a deflation space, as their formulas; the steps run where the vectors are. */
#include "deflationdevice.h"
#include "kernels/deflation.h"

/* Do the steps run on the device? They do for vectors that are there, and where set-up left nothing on the host */
static PetscErrorCode PolderDeflationBegin_Private(PolderDeflationSpace s, Vec v)
{
  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_DeflationApply, (PetscObject)v));
  PetscCall(PolderVecOnDevice(v, &s->apply));
  if (!s->onhost) s->apply = PETSC_TRUE;
  if (s->apply && !s->dev) PetscCall(PolderDeflationUpload(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationEnd_Private(PolderDeflationSpace s, Vec v)
{
  PetscFunctionBegin;
  (void)s;
  PetscCall(PolderLogEnd(POLDER_DeflationApply, (PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a1 <- local part of Z^T v */
static PetscErrorCode PolderDeflationRestrict_Private(PolderDeflationSpace s, Vec v)
{
  const PetscScalar *va;

  PetscFunctionBegin;
  if (s->apply) {
    PetscCall(PolderDeflationRestrict_Device(s, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArrayzero(s->a1, s->nl));
  PetscCall(VecGetArrayRead(v, &va));
  if (s->zi) PolderRowsMultTransposeAdd_Host(s->m, NULL, s->zi, s->zj, s->zv, va, s->a1);
  else PolderRunsRestrict_Host(s->nrun, s->runstart, s->runlabel, va, s->a1);
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscCall(PetscLogFlops(s->zi ? 2.0 * s->zi[s->m] : 1.0 * s->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a1 <- local part of (AZ)^T x, or a1 less that */
static PetscErrorCode PolderDeflationRestrictAZ_Private(PolderDeflationSpace s, Vec x, PetscBool subtract)
{
  const PetscScalar *xa;
  PetscScalar       *a = subtract ? s->a2 : s->a1;

  PetscFunctionBegin;
  if (s->apply) {
    PetscCall(PolderDeflationRestrictAZ_Device(s, x, subtract));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArrayzero(a, s->nl));
  PetscCall(VecGetArrayRead(x, &xa));
  PolderRowsMultTransposeAdd_Host(s->nw, s->wrow, s->wi, s->wj, s->wv, xa, a);
  PetscCall(VecRestoreArrayRead(x, &xa));
  for (PetscInt k = 0; subtract && k < s->nl; ++k) s->a1[k] -= a[k];
  PetscCall(PetscLogFlops(2.0 * s->wi[s->nw]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a2 <- E^-1 a1 */
static PetscErrorCode PolderDeflationCoarseSolve_Private(PolderDeflationSpace s)
{
  PetscFunctionBegin;
  if (s->apply) PetscCall(PolderCoarseSolveDevice(s->coarse, s->dev->a1, s->dev->a2, PETSC_FALSE));
  else PetscCall(PolderCoarseSolve(s->coarse, s->a1, s->a2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + alpha Z a2, alpha = 1 or -1 */
static PetscErrorCode PolderDeflationProlongAdd_Private(PolderDeflationSpace s, PetscScalar alpha, Vec x)
{
  PetscScalar *xa;

  PetscFunctionBegin;
  if (s->apply) {
    PetscCall(PolderDeflationProlongAdd_Device(s, alpha, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (alpha != 1) {
    for (PetscInt k = 0; k < s->nl; ++k) s->a2[k] *= alpha;
  }
  PetscCall(VecGetArray(x, &xa));
  if (s->zi) PolderRowsMultAdd_Host(s->m, NULL, s->zi, s->zj, s->zv, 1, s->a2, xa);
  else PolderRunsProlongAdd_Host(s->nrun, s->runstart, s->runlabel, s->a2, xa);
  PetscCall(VecRestoreArray(x, &xa));
  PetscCall(PetscLogFlops(s->zi ? 2.0 * s->zi[s->m] : 1.0 * s->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v <- v - AZ a2, on the host: on the device it is part of PolderDeflationApplyP_Device() */
static PetscErrorCode PolderDeflationSubtractAZ_Private(PolderDeflationSpace s, Vec v)
{
  PetscScalar *va;

  PetscFunctionBegin;
  PetscCall(VecGetArray(v, &va));
  PolderRowsMultAdd_Host(s->nw, s->wrow, s->wi, s->wj, s->wv, -1, s->a2, va);
  PetscCall(VecRestoreArray(v, &va));
  PetscCall(PetscLogFlops(2.0 * s->wi[s->nw]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceApplyP - deflates a vector, v <- P v = v - A Z (Z^T A Z)^{-1} Z^T v

   Collective

   Input Parameters:
+  space - the space, set up
-  v     - the vector, one value a row

   Level: advanced

   Reference:
.  Gupta (2015), GPU acceleration of preconditioned solvers for ill-conditioned linear systems, equation (2.34)

.seealso: `PolderDeflationSpaceApplyPT()`, `PolderDeflationSpaceApplyQAdd()`
@*/
PetscErrorCode PolderDeflationSpaceApplyP(PolderDeflationSpace s, Vec v)
{
  PetscFunctionBegin;
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationBegin_Private(s, v));
  if (s->apply) PetscCall(PolderDeflationApplyP_Device(s, v, PETSC_FALSE, PETSC_FALSE, NULL));
  else {
    PetscCall(PolderDeflationRestrict_Private(s, v));   // a1 <- Z^T v
    PetscCall(PolderDeflationCoarseSolve_Private(s));   // a2 <- E^-1 a1
    PetscCall(PolderDeflationSubtractAZ_Private(s, v)); // v <- v - AZ a2
  }
  PetscCall(PolderDeflationEnd_Private(s, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceGetRuns(PolderDeflationSpace s, const PolderRuns **runs)
{
  PetscFunctionBegin;
  *runs = s->d && s->dev && s->dev->runs.m ? &s->dev->runs : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceApplyPDot(PolderDeflationSpace s, Vec w, PetscBool summed, PetscScalar *dot)
{
  const PetscBool early = (PetscBool)(s->dev != NULL); // the product has come after what the space has on the device

  PetscFunctionBegin;
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationBegin_Private(s, w));
  PetscCall(PolderDeflationApplyP_Device(s, w, summed, early, dot));
  PetscCall(PolderDeflationEnd_Private(s, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceApplyPT - applies the transpose, x <- P^T x = x - Z (Z^T A Z)^{-1} (A Z)^T x

   Collective

   Input Parameters:
+  space - the space, set up
-  x     - the vector, one value a row

   Level: advanced

.seealso: `PolderDeflationSpaceApplyP()`
@*/
PetscErrorCode PolderDeflationSpaceApplyPT(PolderDeflationSpace s, Vec x)
{
  PetscFunctionBegin;
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationBegin_Private(s, x));
  PetscCall(PolderDeflationRestrictAZ_Private(s, x, PETSC_FALSE)); // a1 <- (AZ)^T x
  PetscCall(PolderDeflationCoarseSolve_Private(s));                // a2 <- E^-1 a1
  PetscCall(PolderDeflationProlongAdd_Private(s, -1, x));          // x <- x - Z a2
  PetscCall(PolderDeflationEnd_Private(s, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceApplyQAdd - adds the coarse correction, x <- x + Q r with Q = Z (Z^T A Z)^{-1} Z^T

   Collective

   Input Parameters:
+  space - the space, set up
.  r     - the vector to correct for, one value a row
-  x     - the vector corrected

   Level: advanced

.seealso: `PolderDeflationSpaceApplyP()`
@*/
PetscErrorCode PolderDeflationSpaceApplyQAdd(PolderDeflationSpace s, Vec r, Vec x)
{
  PetscFunctionBegin;
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationBegin_Private(s, x));
  PetscCall(PolderDeflationRestrict_Private(s, r));      // a1 <- Z^T r
  PetscCall(PolderDeflationCoarseSolve_Private(s));      // a2 <- E^-1 a1
  PetscCall(PolderDeflationProlongAdd_Private(s, 1, x)); // x <- x + Z a2
  PetscCall(PolderDeflationEnd_Private(s, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceCorrect(PolderDeflationSpace s, Vec r, Vec y)
{
  PetscFunctionBegin;
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationBegin_Private(s, y));
  PetscCall(PolderDeflationRestrict_Private(s, r));               // a1 <- Z^T r
  PetscCall(PolderDeflationRestrictAZ_Private(s, y, PETSC_TRUE)); // a1 <- a1 - (AZ)^T y
  PetscCall(PolderDeflationCoarseSolve_Private(s));               // a2 <- E^-1 a1
  PetscCall(PolderDeflationProlongAdd_Private(s, 1, y));          // y <- y + Z a2
  PetscCall(PolderDeflationEnd_Private(s, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceGetVector - gets a column of Z as a vector, to look at it or to draw it

   Logically Collective

   Input Parameters:
+  space - the space, set up
.  k     - the column, 0 to the number of columns before any was left out
-  z     - a vector in the layout of the operator

   Level: advanced

.seealso: `PolderDeflationSpaceGetSize()`
@*/
PetscErrorCode PolderDeflationSpaceGetVector(PolderDeflationSpace s, PetscInt k, Vec z)
{
  PetscInt m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(z, &m));
  PetscCheck(k >= 0 && k < s->d, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "There is no deflation vector %" PetscInt_FMT ", only 0 to %" PetscInt_FMT, k, s->d - 1);
  PetscCheck(m == s->m, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The vector has %" PetscInt_FMT " local rows, the operator %" PetscInt_FMT, m, s->m);
  PetscCall(VecZeroEntries(z));
  PetscCall(PolderDeflationBegin_Private(s, z));
  if (s->apply) PetscCall(PolderDeflationUnit_Device(s, k));
  for (PetscInt l = 0; !s->apply && l < s->nl; ++l) s->a2[l] = s->gl[l] == k;
  PetscCall(PolderDeflationProlongAdd_Private(s, 1, z));
  PetscCall(PolderDeflationEnd_Private(s, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
