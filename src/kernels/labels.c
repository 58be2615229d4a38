/* Host kernels that compute labels of a deflation space. */
#include "labels.h"
#include "labelrow.h"

void PolderIndexFill_Host(PetscInt m, PetscInt value, PetscInt a[])
{
  for (PetscInt i = 0; i < m; ++i) a[i] = value;
}

void PolderIndexReplace_Host(PetscInt m, PetscInt from, PetscInt to, PetscInt a[])
{
  for (PetscInt i = 0; i < m; ++i) a[i] = a[i] == from ? to : a[i];
}

void PolderIndexRange_Host(PetscInt m, const PetscInt a[], PetscInt range[2])
{
  for (PetscInt i = 0; i < m; ++i) {
    range[0] = PetscMin(range[0], a[i]);
    range[1] = PetscMax(range[1], a[i]);
  }
}

void PolderLevelSetClass_Host(PetscInt m, const PetscScalar phi[], PetscInt outside, PetscInt cls[], PetscInt *bad)
{
  for (PetscInt i = 0; i < m; ++i) {
    cls[i] = PetscRealPart(phi[i]) > 0 ? 1 : outside;
    if (PetscIsNanScalar(phi[i])) *bad = 1;
  }
}

void PolderLoneRows_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt bi[], PetscInt cls[])
{
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt n = ai[i + 1] - ai[i];

    if (n <= 1 && (!n || aj[ai[i]] == i) && (!bi || bi[i] == bi[i + 1])) cls[i] = -1;
  }
}

void PolderLabelsRound_Host(PetscInt m, const PetscScalar v[], PetscInt label[])
{
  for (PetscInt i = 0; i < m; ++i) label[i] = PolderLabelOfValue(v[i]);
}

void PolderGridBoxes_Host(PetscInt m, const PolderGridPart *grid, const PetscInt boxes[3], PetscInt part[])
{
  const PetscInt first = grid->first, dof = grid->dof, *lo = grid->lo, *hi = grid->hi, *n = grid->n;
  const PetscInt sx = hi[0] - lo[0], sy = hi[1] - lo[1];
  PetscInt       c = first % dof, x, line;

  if (!m) return;
  x    = first / dof % sx;
  line = first / dof / sx;
  for (PetscInt i = 0; i < m; ++line) {
    const PetscInt by = PolderBoxOf(line % sy + lo[1], n[1], boxes[1]), bz = PolderBoxOf(line / sy + lo[2], n[2], boxes[2]);

    while (x < sx && i < m) { // one box of the line at a time
      const PetscInt bx = PolderBoxOf(x + lo[0], n[0], boxes[0]), box = bx + boxes[0] * (by + boxes[1] * bz);
      const PetscInt next = PetscMin(sx, (PetscInt)(((PetscInt64)(bx + 1) * n[0] + boxes[0] - 1) / boxes[0]) - lo[0]);

      for (; x < next && i < m; ++x, c = 0) {
        for (; c < dof && i < m; ++c) part[i++] = box * dof + c;
      }
    }
    x = 0;
  }
}

void PolderGridRuns_Host(PetscInt m, PetscInt dof, PetscInt64 points, PetscInt count, PetscInt part[])
{
  PetscInt lo = 0, hi = 0, run = 0;

  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt point = part[i] / dof;

    if (point < lo || point >= hi) { /* floor(point count / points) changes at ceil(run points / count) */
      run = (PetscInt)((PetscInt64)point * count / points);
      lo  = (PetscInt)((run * points + count - 1) / count);
      hi  = (PetscInt)(((run + 1) * points + count - 1) / count);
    }
    part[i] = run * dof + part[i] % dof;
  }
}

/* The key of row i, below npart * ncomp; negative when it has none; NULL stands for zeros */
static inline PetscInt64 PolderKey_Private(const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt i)
{
  const PetscInt p = part ? part[i] : 0, c = comp ? comp[i] : 0;

  return p < 0 || c < 0 ? -1 : (PetscInt64)p * ncomp + c;
}

void PolderKeysMark_Host(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt mark[])
{
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt64 key = PolderKey_Private(part, ncomp, comp, i);

    if (key >= 0) mark[key] = 1;
  }
}

void PolderKeysScan_Host(PetscInt n, PetscInt mark[])
{
  PetscInt sum = 0;

  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt own = mark[k];

    mark[k] = sum;
    sum += own;
  }
}

void PolderKeysLabel_Host(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], const PetscInt number[], PetscInt label[])
{
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt64 key = PolderKey_Private(part, ncomp, comp, i);

    label[i] = key < 0 ? -1 : number[key];
  }
}

static int PolderKeyCompare_Private(const void *x, const void *y)
{
  const PetscInt64 a = *(const PetscInt64 *)x, b = *(const PetscInt64 *)y;

  return (a > b) - (a < b);
}

void PolderKeysSort_Host(PetscInt m, PolderPairs pairs, PetscInt64 key[], PetscInt64 sorted[], PetscInt *nunique)
{
  PetscInt n = 0;

  for (PetscInt i = 0; i < m; ++i) {
    key[i] = PolderKey_Private(pairs.part, pairs.ncomp, pairs.comp, i);
    if (key[i] < 0) key[i] = pairs.npart * pairs.ncomp;
  }
  if (m) qsort(key, (size_t)m, sizeof(*key), PolderKeyCompare_Private);
  for (PetscInt i = 0; i < m; ++i) {
    if (!n || sorted[n - 1] != key[i]) sorted[n++] = key[i];
  }
  *nunique = n;
}

void PolderKeysFind_Host(PetscInt m, PolderPairs pairs, const PetscInt64 sorted[], const PetscInt *nunique, PetscInt label[], PetscInt *d)
{
  const PetscInt n = *nunique;

  if (m) *d = n - (n && sorted[n - 1] == pairs.npart * pairs.ncomp);
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt64  key   = PolderKey_Private(pairs.part, pairs.ncomp, pairs.comp, i);
    const PetscInt64 *found = key < 0 ? NULL : (const PetscInt64 *)bsearch(&key, sorted, (size_t)n, sizeof(key), PolderKeyCompare_Private);

    label[i] = found ? (PetscInt)(found - sorted) : -1;
  }
}

void PolderRegionSizes_Host(PetscInt m, const PetscInt label[], PetscInt count[])
{
  for (PetscInt i = 0; i < m; ++i) {
    if (label[i] >= 0) count[label[i]]++;
  }
}

void PolderRegionSummary_Host(PetscInt n, const PetscInt count[], PetscInt tiny, PetscInt summary[2])
{
  summary[0] = 0;
  summary[1] = -1;
  for (PetscInt k = 0; k < n; ++k) {
    summary[0] += count[k] >= tiny;
    if (summary[1] < 0 || count[k] > count[summary[1]]) summary[1] = k;
  }
}

void PolderRegionsMarkTiny_Host(PetscInt m, const PetscInt label[], const PetscInt count[], PetscInt tiny, PetscInt comp[])
{
  for (PetscInt i = 0; i < m; ++i) {
    if (label[i] >= 0 && count[label[i]] < tiny) comp[i] = -2;
  }
}

void PolderRegionsNext_Host(PolderRows A, PolderRows B, const PetscInt comp[], const PetscInt ghost[], PetscInt next[])
{
  for (PetscInt i = 0; i < A.n; ++i) {
    if (comp[i] == -2) next[i] = PolderRegionNext(i, &A, &B, comp, ghost);
  }
}

void PolderRegionsJoin_Host(PetscInt m, const PetscInt next[], PetscInt comp[])
{
  for (PetscInt i = 0; i < m; ++i) {
    if (comp[i] == -2 && next[i] >= 0) comp[i] = next[i];
  }
}

void PolderStencilStrides_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt near[3])
{
  PetscInt one = near[0], line = near[1], plane = near[2];

  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      const PetscInt d = PetscAbsInt(aj[k] - i);

      one |= d == 1;
      line  = PetscMin(line, d > 1 ? d : PETSC_MAX_INT);
      plane = PetscMax(plane, d);
    }
  }
  near[0] = one;
  near[1] = line;
  near[2] = plane;
}

void PolderStencilCheck_Host(PetscInt m, PetscInt first, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt *bad)
{
  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (!PolderStencilFits(first + i, first + aj[k], near)) *bad = 1;
    }
  }
}
