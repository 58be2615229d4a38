/* The operators P, P^T and Q of a deflation space, written as their formulas; the steps run in the memory of the vectors. */
#include "deflationsteps.h"

/* Selects the steps for the memory of v; the device if the set-up left nothing on the host */
static PetscErrorCode PolderDeflationBegin_Private(PolderDeflationSpace s, Vec v)
{
  PetscBool ondevice;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_DeflationApply, (PetscObject)v));
  PetscCall(PolderVecOnDevice(v, &ondevice));
  s->steps = ondevice ? &PolderDeflationOnDevice : s->made;
  if (s->steps != s->made && !s->dev) PetscCall(PolderDeflationUpload(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a1 <- local part of Z^T v */
static PetscErrorCode PolderDeflationRestrict_Private(PolderDeflationSpace s, Vec v)
{
  const PetscScalar *va;

  PetscFunctionBegin;
  PetscCall(PolderPlaceVecGetRead(s->steps->place, v, &s->standin, &va));
  PetscCall((*s->steps->restrictz)(s, va, PETSC_FALSE, PETSC_FALSE));
  PetscCall(PolderPlaceVecRestoreRead(s->steps->place, v, s->standin, &va));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a1 <- local part of (AZ)^T x, or a1 minus it */
static PetscErrorCode PolderDeflationRestrictAZ_Private(PolderDeflationSpace s, Vec x, PetscBool subtract)
{
  const PetscScalar *xa;

  PetscFunctionBegin;
  PetscCall(PolderPlaceVecGetRead(s->steps->place, x, &s->standin, &xa));
  PetscCall((*s->steps->restrictaz)(s, xa, subtract));
  PetscCall(PolderPlaceVecRestoreRead(s->steps->place, x, s->standin, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + alpha Z a2, alpha = 1 or -1 */
static PetscErrorCode PolderDeflationProlongAdd_Private(PolderDeflationSpace s, PetscScalar alpha, Vec x)
{
  PetscScalar *xa;

  PetscFunctionBegin;
  PetscCall(PolderPlaceVecGet(s->steps->place, x, &s->standin, &xa));
  PetscCall((*s->steps->prolongadd)(s, alpha, xa));
  PetscCall(PolderPlaceVecRestore(s->steps->place, x, s->standin, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v <- P v. If dot is not NULL, *dot -= (Z^T v, E^-1 Z^T v), which is (p, AZ E^-1 Z^T v) when v = A p. riders != NULL: see PolderCoarseCarry() */
static PetscErrorCode PolderDeflationProject_Private(PolderDeflationSpace s, Vec v, PetscBool summed, PetscBool early, PetscScalar *dot,
                                                     const PolderCoarseRiders *riders)
{
  PetscScalar *va;

  PetscFunctionBegin;
  PetscCall(PolderPlaceVecGet(s->steps->place, v, &s->standin, &va));
  PetscCall((*s->steps->restrictz)(s, va, summed, early)); // a1 <- Z^T v
  if (riders) PetscCall(PolderCoarseCarry(s->coarse, riders));
  PetscCall((*s->steps->coarsesolve)(s, PETSC_TRUE)); // a2 <- E^-1 a1
  PetscCall((*s->steps->subtractaz)(s, va, dot));     // v <- v - AZ a2
  PetscCall(PolderPlaceVecRestore(s->steps->place, v, s->standin, &va));
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
  PetscCall(PolderDeflationProject_Private(s, v, PETSC_FALSE, PETSC_FALSE, NULL, NULL));
  PetscCall(PolderLogEnd(POLDER_DeflationApply, (PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceGetRuns(PolderDeflationSpace s, const PolderRuns **runs)
{
  PetscFunctionBegin;
  *runs = s->d && s->dev ? PolderDeflationDeviceRuns(s->dev) : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceGetSums(PolderDeflationSpace s, PolderLabelRuns *runs, PetscScalar **sum)
{
  PetscFunctionBegin;
  *runs = (PolderLabelRuns){0};
  *sum  = NULL;
  if (!s->d || s->made != &PolderDeflationOnHost || s->Z.ptr) PetscFunctionReturn(PETSC_SUCCESS);
  *runs = PolderDeflationRuns(s);
  *sum  = s->a1;
  PetscCall(PetscArrayzero(s->a1, s->nl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceApplyPDot(PolderDeflationSpace s, Vec w, PetscBool summed, PetscScalar *dot)
{
  const PetscBool early = (PetscBool)(s->dev != NULL); // the product is newer than all device data of the space

  PetscFunctionBegin;
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationBegin_Private(s, w));
  PetscCall(PolderDeflationProject_Private(s, w, summed, early, dot, NULL));
  PetscCall(PolderLogEnd(POLDER_DeflationApply, (PetscObject)w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceApplyPSum(PolderDeflationSpace s, Vec w, PetscBool summed, const PolderCoarseRiders *riders)
{
  PetscFunctionBegin;
  PetscCall(PolderDeflationBegin_Private(s, w));
  PetscCall(PolderDeflationProject_Private(s, w, summed, PETSC_FALSE, NULL, riders));
  PetscCall(PolderLogEnd(POLDER_DeflationApply, (PetscObject)w));
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
  PetscCall((*s->steps->coarsesolve)(s, PETSC_FALSE));             // a2 <- E^-1 a1
  PetscCall(PolderDeflationProlongAdd_Private(s, -1, x));          // x <- x - Z a2
  PetscCall(PolderLogEnd(POLDER_DeflationApply, (PetscObject)x));
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
  PetscCall((*s->steps->coarsesolve)(s, PETSC_FALSE));   // a2 <- E^-1 a1
  PetscCall(PolderDeflationProlongAdd_Private(s, 1, x)); // x <- x + Z a2
  PetscCall(PolderLogEnd(POLDER_DeflationApply, (PetscObject)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceApplyQTransposeAdd(PolderDeflationSpace s, Vec r, Vec x)
{
  PetscFunctionBegin;
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderCoarseSetTranspose(s->coarse, s->general));
  PetscCall(PolderDeflationSpaceApplyQAdd(s, r, x));
  PetscCall(PolderCoarseSetTranspose(s->coarse, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceCorrect(PolderDeflationSpace s, Vec r, Vec y)
{
  PetscFunctionBegin;
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationBegin_Private(s, y));
  PetscCall(PolderDeflationRestrict_Private(s, r));               // a1 <- Z^T r
  PetscCall(PolderDeflationRestrictAZ_Private(s, y, PETSC_TRUE)); // a1 <- a1 - (AZ)^T y
  PetscCall((*s->steps->coarsesolve)(s, PETSC_FALSE));            // a2 <- E^-1 a1
  PetscCall(PolderDeflationProlongAdd_Private(s, 1, y));          // y <- y + Z a2
  PetscCall(PolderLogEnd(POLDER_DeflationApply, (PetscObject)y));
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
  PetscCall((*s->steps->unit)(s, k));
  PetscCall(PolderDeflationProlongAdd_Private(s, 1, z));
  PetscCall(PolderLogEnd(POLDER_DeflationApply, (PetscObject)z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
