/*
  Z^T v on the lines in which the product with a stencil is computed. The rows of a thread are a few runs of equal labels, and there are far fewer run sums
  than rows.
*/
#include "deflationdevice.h"
#include "kernels/labels.h"
#include "kernels/outer.h"
#include "mat/aijderived.h"
#include "mat/dia.h"
#include "mat/halo.h"

/* Minimum average length of a run that pays. A run costs its sum, written and read, and an index; each row that it replaces would cost an index */
#define POLDER_RUNS_LEAST 4 /* rows a run */

PetscErrorCode PolderDeflationDestroyRuns(PolderDeflationDevice g)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&g->runs.ends));
  PetscCall(PolderDeviceFree(&g->runs.first));
  PetscCall(PolderDeviceFree(&g->runs.sum));
  g->runs = (PolderRuns){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds ends[] and first[] of the runs; n <- their number */
static PetscErrorCode PolderRunsFind_Private(PolderRuns *r, const PetscInt label[], PetscInt *n, PolderStream stream)
{
  const PetscInt chunks = PolderRunsChunks(r);
  const size_t   words = (size_t)((r->chunk + 31) / 32) * (size_t)chunks, bytes = PolderWorkSize(PolderKeysScanWork_CUDA(chunks + 1));
  void          *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*r->ends) * words, &r->ends));
  PetscCall(PolderDeviceMalloc(sizeof(*r->first) * ((size_t)chunks + 1), &r->first));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PolderDeviceZero(r->first + chunks, sizeof(*r->first)));
  PolderLaunch(PolderRunsCount_CUDA(r, label, stream));
  PolderLaunch(PolderKeysScan_CUDA(chunks + 1, r->first, work, bytes, stream));
  PetscCall(PolderDeviceToHost(n, r->first + chunks, sizeof(*n)));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The segments of the run sums and, behind them, of what other processes' columns add to rows */
static PetscErrorCode PolderRunsSegments_Private(PolderDeflationDevice g, const PetscInt row[])
{
  const PolderRuns *r = &g->runs;
  PetscInt         *label;
  PolderStream      stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*label) * (size_t)(r->n + r->outer), &label));
  PolderLaunch(PolderRunsLabel_CUDA(r, g->label, label, stream));
  PolderLaunch(PolderIndexGather_CUDA(r->outer, row, g->label, label + r->n, stream));
  PetscCall(PolderSegmentsBuild(r->n + r->outer, g->d, label, &g->columns));
  PetscCall(PolderDeviceFree(&label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationMakeRuns(PolderDeflationDevice g, Mat A, PetscBool *done)
{
  PolderRuns      *r = &g->runs;
  const PolderDia *dia;
  const PetscInt  *row;
  PetscInt         outer;
  PolderHalo       halo;
  PolderStream     stream;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PolderDeflationDestroyRuns(g));
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderHaloConnectDevice(halo));
  PetscCall(PolderMatGetDeviceDiaClassed(A, &dia)); // the runs are those of a product that reads classes
  PetscCall(PolderMatGetOuterRows(A, &outer, &row));
  if (!dia || outer < 0 || !PolderKernelCan(PolderDiaRuns_CUDA(dia, &r->far, &r->chunk))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  r->m     = g->m;
  r->outer = outer;
  PetscCall(PolderRunsFind_Private(r, g->label, &r->n, stream));
  if (r->n > g->m / POLDER_RUNS_LEAST) {
    PetscCall(PolderDeflationDestroyRuns(g));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceMalloc(sizeof(*r->sum) * (size_t)(r->n + outer), &r->sum));
  PetscCall(PolderRunsSegments_Private(g, row));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
