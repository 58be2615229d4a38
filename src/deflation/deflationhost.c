/* The host side of a deflation space: set-up from labels, with local column numbers, and the steps of the operators. */
#include "deflationsteps.h"
#include "kernels/deflation.h"
#include "kernels/vec.h"

static PetscErrorCode PolderDeflationMakeLabels_Host(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  const PetscBool ondevice = (PetscBool)(!s->label && PolderDeflationDeviceHasLabels(s->dev)); // the matrix was on the device when they were made

  PetscFunctionBegin;
  if (s->labelsvalid && ondevice) {
    PetscCall(PetscMalloc1(s->m, &s->label));
    PetscCall(PolderDeflationDownloadLabels(s, s->label));
  }
  PetscCall(PolderDeflationDeviceDestroy(&s->dev));
  if (s->labelsvalid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(s->label));
  PetscCall(PetscMalloc1(s->m, &s->label));
  PetscCall(PolderLogBegin(POLDER_DeflationLabels, (PetscObject)A));
  PetscCall(PolderDeflationMakeLabels(s, A, csr, s->label, &s->d));
  PetscCall(PolderLogEnd(POLDER_DeflationLabels, (PetscObject)A));
  s->labelsvalid = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationNumber(PolderDeflationSpace s, PetscInt n, PetscInt label[], PetscInt nghost, PetscInt ghostlabel[])
{
  PetscInt *local;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->d, &local));
  for (PetscInt l = 0; l < s->d; ++l) local[l] = -1;
  PetscCall(PetscFree(s->gl));
  PetscCall(PetscMalloc1(PetscMin(s->d, n + nghost), &s->gl));
  s->nl = 0;
  for (PetscInt i = 0; i < n + nghost; ++i) {
    PetscInt *l = i < n ? &label[i] : &ghostlabel[i - n];

    if (*l < 0) continue;
    if (local[*l] < 0) {
      s->gl[s->nl] = *l;
      local[*l]    = s->nl++;
    }
    *l = local[*l];
  }
  PetscCall(PetscFree(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationMakeRuns_Private(PolderDeflationSpace s, const PetscInt label[])
{
  PetscFunctionBegin;
  s->nrun = 0;
  for (PetscInt i = 0; i < s->m; ++i) s->nrun += (i == 0 || label[i] != label[i - 1]);
  PetscCall(PetscFree2(s->runstart, s->runlabel));
  PetscCall(PetscMalloc2(s->nrun + 1, &s->runstart, s->nrun, &s->runlabel));
  s->nrun = 0;
  for (PetscInt i = 0; i < s->m; ++i) {
    if (i == 0 || label[i] != label[i - 1]) {
      s->runstart[s->nrun]   = i;
      s->runlabel[s->nrun++] = label[i];
    }
  }
  s->runstart[s->nrun] = s->m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes AZ on its nonzero rows; finds whether the constant vector is in the kernel of A */
static PetscErrorCode PolderDeflationMakeAZHost_Private(PolderDeflationSpace s, const PolderCSR *csr, const PetscInt label[], const PetscInt ghostlabel[])
{
  PolderSparseRows *AZ = &s->AZ;
  PetscInt         *count, *col;
  PetscScalar      *val;
  PetscInt          here[2] = {1, 1}, everywhere[2];
  PetscInt64        nz      = s->m ? (PetscInt64)csr->ai[s->m] + (csr->bi ? csr->bi[s->m] : 0) : 0; // number of summands

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(s->m, &count, s->nl, &col, s->nl, &val));
  here[0] = PolderLabelRowsCount_Host(PolderOwnRows(csr), label, PolderGhostColumns(csr), ghostlabel, col, val, count);
  for (PetscInt r = 0; r < s->nrun; ++r) here[1] = here[1] && s->runlabel[r] >= 0;
  PetscCallAllreduce(here, everywhere, 2, MPIU_INT, MPI_MIN, s->comm);
  s->nullspace = (PetscBool)everywhere[0];
  s->covers    = (PetscBool)everywhere[1];
  PetscCall(PolderSparseRowsFromCounts(s->m, count, AZ));
  PetscCall(PetscFree3(count, col, val));
  PolderLabelRowsFill_Host(PolderOwnRows(csr), label, PolderGhostColumns(csr), ghostlabel, AZ);
  for (PetscInt k = 0; k < AZ->n; ++k) {
    const PetscInt i = AZ->row[k];

    nz += csr->ai[i + 1] - csr->ai[i] + (csr->bi ? csr->bi[i + 1] - csr->bi[i] : 0);
  }
  PetscCall(PetscLogFlops((PetscLogDouble)nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes E = Z^T (AZ) after sorting the rows of AZ by the columns of Z that they meet; tptr, trow, tweight are Z^T on those rows */
PetscErrorCode PolderDeflationMakeE(PolderDeflationSpace s, const PetscInt label[], PetscBool drop)
{
  const PolderSparseRows *AZ = &s->AZ;
  PetscInt               *tptr, *trow, *position, *ei, *ej = NULL, nc, size = 0, nz = 0;
  PetscScalar            *tweight, *ev = NULL;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(s->nl + 2, &tptr));
  for (PetscInt k = 0; k < AZ->n; ++k) {
    if (s->Z.ptr) {
      for (PetscInt j = s->Z.ptr[AZ->row[k]]; j < s->Z.ptr[AZ->row[k] + 1]; ++j) ++tptr[s->Z.col[j] + 2];
    } else if (label[AZ->row[k]] >= 0) ++tptr[label[AZ->row[k]] + 2];
  }
  for (PetscInt c = 0; c < s->nl; ++c) tptr[c + 2] += tptr[c + 1];
  PetscCall(PetscMalloc2(tptr[s->nl + 1], &trow, s->Z.ptr ? tptr[s->nl + 1] : 0, &tweight));
  for (PetscInt k = 0; k < AZ->n; ++k) {
    if (s->Z.ptr) {
      for (PetscInt j = s->Z.ptr[AZ->row[k]]; j < s->Z.ptr[AZ->row[k] + 1]; ++j) {
        tweight[tptr[s->Z.col[j] + 1]] = s->Z.val[j];
        trow[tptr[s->Z.col[j] + 1]++]  = k;
      }
    } else if (label[AZ->row[k]] >= 0) trow[tptr[label[AZ->row[k]] + 1]++] = k;
  }
  PetscCall(PetscMalloc2(s->nl, &position, s->nl + 1, &ei));
  for (PetscInt c = 0; c < s->nl; ++c) position[c] = -1;
  ei[0] = 0;
  for (PetscInt c = 0; c < s->nl; ++c) {
    if (nz + s->nl > size) { /* a row of E has at most nl entries */
      size = 2 * nz + s->nl;
      PetscCall(PetscRealloc(size * sizeof(*ej), &ej));
      PetscCall(PetscRealloc(size * sizeof(*ev), &ev));
    }
    nc = 0;
    PolderGalerkinRow_Host((PolderRowList){tptr[c + 1] - tptr[c], trow + tptr[c]}, s->Z.ptr ? tweight + tptr[c] : NULL, AZ, &nc, position, ej + nz, ev + nz);
    nz += nc;
    ei[c + 1] = nz;
  }
  PetscCall(PetscLogFlops((s->Z.ptr ? 2.0 : 1.0) * AZ->nz));
  PetscCall(PolderCoarseSetUp(s->coarse, s->d, s->nl, s->gl, ei, ej, ev, drop));
  PetscCall(PetscFree2(position, ei));
  PetscCall(PetscFree(ej));
  PetscCall(PetscFree(ev));
  PetscCall(PetscFree2(trow, tweight));
  PetscCall(PetscFree(tptr));
  PetscCall(PetscFree2(s->a1, s->a2));
  PetscCall(PetscMalloc2(s->nl, &s->a1, s->nl, &s->a2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Set-up in label form, after s->label has been made */
static PetscErrorCode PolderDeflationSetUpLabels_Private(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  PetscInt  *label, *ghostlabel;
  PolderHalo halo;
  PetscBool  drop = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PetscMalloc2(s->m, &label, csr->nghost, &ghostlabel));
  PetscCall(PetscArraycpy(label, s->label, s->m));
  PetscCall(PolderHaloExchange(halo, MPIU_INT, label, ghostlabel));
  PetscCall(PolderDeflationNumber(s, s->m, label, csr->nghost, ghostlabel));
  PetscCall(PolderDeflationMakeRuns_Private(s, label));
  PetscCall(PolderDeflationMakeAZHost_Private(s, csr, label, ghostlabel));
  PetscCall(PolderDeflationLeavesOneOut(s, &drop));
  PetscCall(PolderDeflationMakeE(s, label, drop));
  PetscCall(PetscFree2(label, ghostlabel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationMakeOperators_Host(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  Mat Z;

  PetscFunctionBegin;
  if (!s->weighted) PetscCall(PolderDeflationSetUpLabels_Private(s, A, csr));
  else {
    PetscCall(PolderDeflationWeightedMatrix(s, A, csr, &Z));
    PetscCall(PolderDeflationSetUpMatrix(s, A, Z));
    PetscCall(MatDestroy(&Z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationMeasure_Host(PolderDeflationSpace s, PetscReal *rows, PetscReal *bytes)
{
  PetscFunctionBegin;
  *rows  = s->AZ.n;
  *bytes = s->Z.ptr ? (PetscReal)s->Z.nz * (sizeof(PetscInt) + sizeof(PetscScalar)) : (PetscReal)s->nrun * 2 * sizeof(PetscInt);
  *bytes += (PetscReal)s->AZ.n * 2 * sizeof(PetscInt) + (PetscReal)s->AZ.nz * (sizeof(PetscInt) + sizeof(PetscScalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ steps of the operators ------------------------------------------------ */

static PetscErrorCode PolderDeflationRestrict_Host(PolderDeflationSpace s, const PetscScalar v[], PetscBool summed, PetscBool early)
{
  const PolderLabelRuns runs = PolderDeflationRuns(s);

  PetscFunctionBegin;
  (void)early;
  if (!summed) {
    PetscCall(PetscArrayzero(s->a1, s->nl));
    if (s->Z.ptr) PolderRowsMultTransposeAdd_Host(&s->Z, v, s->a1);
    else PolderRunsRestrict_Host(&runs, v, s->a1);
  }
  PetscCall(PetscLogFlops(s->Z.ptr ? 2.0 * s->Z.nz : 1.0 * s->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationRestrictAZ_Host(PolderDeflationSpace s, const PetscScalar x[], PetscBool subtract)
{
  PetscScalar *a = subtract ? s->a2 : s->a1;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(a, s->nl));
  PolderRowsMultTransposeAdd_Host(&s->AZ, x, a);
  for (PetscInt k = 0; subtract && k < s->nl; ++k) s->a1[k] -= a[k];
  PetscCall(PetscLogFlops(2.0 * s->AZ.nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationCoarseSolve_Host(PolderDeflationSpace s, PetscBool early)
{
  PetscFunctionBegin;
  (void)early;
  PetscCall(PolderCoarseSolve(s->coarse, s->a1, s->a2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationProlongAdd_Host(PolderDeflationSpace s, PetscScalar alpha, PetscScalar x[])
{
  const PolderLabelRuns runs = PolderDeflationRuns(s);

  PetscFunctionBegin;
  if (alpha != 1) {
    for (PetscInt k = 0; k < s->nl; ++k) s->a2[k] *= alpha;
  }
  if (s->Z.ptr) PolderRowsMultAdd_Host(&s->Z, 1, s->a2, x);
  else PolderRunsProlongAdd_Host(&runs, s->a2, x);
  PetscCall(PetscLogFlops(s->Z.ptr ? 2.0 * s->Z.nz : 1.0 * s->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationSubtractAZ_Host(PolderDeflationSpace s, PetscScalar v[], PetscScalar *dot)
{
  PetscFunctionBegin;
  PolderRowsMultAdd_Host(&s->AZ, -1, s->a2, v);
  if (dot) *dot -= PolderDot_Host(s->nl, s->a1, s->a2);
  PetscCall(PetscLogFlops(2.0 * s->AZ.nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationUnit_Host(PolderDeflationSpace s, PetscInt k)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < s->nl; ++l) s->a2[l] = s->gl[l] == k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderDeflationSteps PolderDeflationOnHost = {
  .place         = &PolderOnHost,
  .zform         = "runs of equal labels",
  .getrows       = PolderMatGetCSR,
  .restorerows   = PolderMatRestoreCSR,
  .makelabels    = PolderDeflationMakeLabels_Host,
  .makeoperators = PolderDeflationMakeOperators_Host,
  .measure       = PolderDeflationMeasure_Host,
  .restrictz     = PolderDeflationRestrict_Host,
  .restrictaz    = PolderDeflationRestrictAZ_Host,
  .coarsesolve   = PolderDeflationCoarseSolve_Host,
  .prolongadd    = PolderDeflationProlongAdd_Host,
  .subtractaz    = PolderDeflationSubtractAZ_Host,
  .unit          = PolderDeflationUnit_Host,
};
