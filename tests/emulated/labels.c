/* components.cu, labels.cu and slices.cu by their host twins */
#include "emulated.h"
#include "kernels/components.h"
#include "kernels/labels.h"
#include "kernels/slices.h"

PolderEmulate(PolderComponentsByClass, (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt cls[], PetscInt parent[], PolderStream stream), m,
              ai, aj, cls, parent);
PolderEmulate(PolderComponentsByScale,
              (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar scale[], PetscReal jump, PetscInt parent[],
               PolderStream stream),
              m, ai, aj, aa, scale, jump, parent);
PolderEmulate(PolderRowScale,
              (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool skipdiag, PetscScalar scale[], PolderStream stream), m,
              ai, aj, aa, skipdiag, scale);
PolderEmulate(PolderIndexFill, (PetscInt m, PetscInt value, PetscInt a[], PolderStream stream), m, value, a);
PolderEmulate(PolderIndexReplace, (PetscInt m, PetscInt from, PetscInt to, PetscInt a[], PolderStream stream), m, from, to, a);
PolderEmulate(PolderIndexRange, (PetscInt m, const PetscInt a[], PetscInt range[2], PolderStream stream), m, a, range);
PolderEmulate(PolderLevelSetClass, (PetscInt m, const PetscScalar phi[], PetscInt outside, PetscInt cls[], PetscInt *bad, PolderStream stream), m, phi, outside,
              cls, bad);
PolderEmulate(PolderLoneRows, (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt bi[], PetscInt cls[], PolderStream stream), m, ai, aj, bi,
              cls);
PolderEmulate(PolderLabelsRound, (PetscInt m, const PetscScalar v[], PetscInt label[], PolderStream stream), m, v, label);
PolderEmulate(PolderGridBoxes, (PetscInt m, const PolderGridPart *grid, const PetscInt boxes[3], PetscInt part[], PolderStream stream), m, grid, boxes, part);
PolderEmulate(PolderGridRuns, (PetscInt m, PetscInt dof, PetscInt64 points, PetscInt count, PetscInt part[], PolderStream stream), m, dof, points, count, part);
PolderEmulate(PolderKeysMark, (PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt mark[], PolderStream stream), m, part, ncomp,
              comp, mark);
PolderEmulate(PolderKeysScan, (PetscInt n, PetscInt mark[], void *work, size_t bytes, PolderStream stream), n, mark);
PolderEmulateWork(PolderKeysScanWork, (PetscInt n));
PolderEmulate(PolderKeysLabel,
              (PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], const PetscInt number[], PetscInt label[], PolderStream stream), m,
              part, ncomp, comp, number, label);
PolderEmulate(PolderKeysSort,
              (PetscInt m, PolderPairs pairs, PetscInt64 key[], PetscInt64 sorted[], PetscInt *nunique, void *work, size_t bytes, PolderStream stream), m,
              pairs, key, sorted, nunique);
PolderEmulateWork(PolderKeysSortWork, (PetscInt m));
PolderEmulate(PolderKeysFind,
              (PetscInt m, PolderPairs pairs, const PetscInt64 sorted[], const PetscInt *nunique, PetscInt label[], PetscInt *d, PolderStream stream), m, pairs,
              sorted, nunique, label, d);
PolderEmulate(PolderRegionSizes, (PetscInt m, const PetscInt label[], PetscInt count[], PolderStream stream), m, label, count);
PolderEmulate(PolderRegionSummary, (PetscInt n, const PetscInt count[], PetscInt tiny, PetscInt summary[2], PolderStream stream), n, count, tiny, summary);
PolderEmulate(PolderRegionsMarkTiny, (PetscInt m, const PetscInt label[], const PetscInt count[], PetscInt tiny, PetscInt comp[], PolderStream stream), m,
              label, count, tiny, comp);
PolderEmulate(PolderRegionsNext, (PolderRows A, PolderRows B, const PetscInt comp[], const PetscInt ghost[], PetscInt next[], PolderStream stream), A, B, comp,
              ghost, next);
PolderEmulate(PolderRegionsJoin, (PetscInt m, const PetscInt next[], PetscInt comp[], PolderStream stream), m, next, comp);
PolderEmulate(PolderStencilStrides, (PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt near[3], PolderStream stream), m, ai, aj, near);
PolderEmulate(PolderStencilCheck,
              (PetscInt m, PetscInt first, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt *bad, PolderStream stream), m, first, ai,
              aj, near, bad);

PolderEmulateWork(PolderScanWork, (PetscInt n));
PolderEmulate(PolderScan, (PetscInt n, int a[], void *work, size_t bytes, PolderStream stream), n, a);
PolderEmulate(PolderRowHistogram, (PetscInt m, const PetscInt ai[], int nbin, int count[], PolderStream stream), m, ai, nbin, count);
PolderEmulate(PolderSlicesSort, (PetscInt m, int cap, const PetscInt ai[], int row[], PolderStream stream), m, cap, ai, row);
PolderEmulate(PolderSlicesSize, (const PolderSlices *S, PolderRows A, int ptr[], int unit[], PolderStream stream), S, A, ptr, unit);
PolderEmulate(PolderSlicesFill, (const PolderSlices *S, PolderRows A, int base[], unsigned short col[], PetscScalar val[], PolderStream stream), S, A, base,
              col, val);
PolderEmulate(PolderLongRowsCount, (PetscInt m, int cap, const PetscInt ai[], PolderLongRowCounts count, PolderStream stream), m, cap, ai, count);
PolderEmulate(PolderLongRowsMake, (PetscInt m, PolderLongRowCounts scanned, int lrow[], int first[], int owner[], int start[], PolderStream stream), m, scanned,
              lrow, first, owner, start);
PolderEmulate(PolderLongRowsFill, (const PolderSlices *S, PolderRows A, int col[], PetscScalar val[], PolderStream stream), S, A, col, val);
PolderEmulate(PolderSlicesMult,
              (const PolderSlices *S, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work,
               PolderStream stream),
              S, alpha, x, y, z, dot);
