/* Host twins of cuda/slices.cu: the same arrays, filled and read by plain loops. */
#include "slices.h"

void PolderScan_Host(PetscInt n, int a[])
{
  a[0] = 0;
  for (PetscInt k = 1; k <= n; ++k) a[k] += a[k - 1];
}

void PolderRowHistogram_Host(PetscInt m, const PetscInt ai[], int nbin, int count[])
{
  for (PetscInt i = 0; i < m; ++i) ++count[PetscMin(ai[i + 1] - ai[i], nbin - 1)];
}

void PolderSlicesSort_Host(PetscInt m, int cap, const PetscInt ai[], int row[])
{
  const PetscInt window = 1024;

  for (PetscInt start = 0; start < m; start += window) {
    const PetscInt end = PetscMin(m, start + window);
    PetscInt       at  = start;

    for (int len = cap; len >= 0; --len) {
      for (PetscInt i = start; i < end; ++i) {
        if (ai[i + 1] - ai[i] == len) row[at++] = (int)i;
      }
    }
    while (at < end) row[at++] = -1;
  }
}

/* The row at position p of the slices, -1 for none */
static inline PetscInt RowAt(PetscInt m, PetscInt p, const int row[])
{
  return p < m ? (row ? row[p] : p) : -1;
}

/* The smallest and the largest column of step k of slice s */
static void Span(const PolderSlices *S, PolderRows A, int s, PetscInt k, PetscInt *low, PetscInt *high)
{
  *low  = PETSC_MAX_INT;
  *high = 0;
  for (PetscInt p = 32 * (PetscInt)s; p < 32 * ((PetscInt)s + 1); ++p) {
    const PetscInt i = RowAt(S->m, p, S->row);

    if (i < 0 || k >= A.i[i + 1] - A.i[i]) continue;
    *low  = PetscMin(*low, A.j[A.i[i] + k]);
    *high = PetscMax(*high, A.j[A.i[i] + k]);
  }
}

void PolderSlicesSize_Host(const PolderSlices *S, PolderRows A, int ptr[], int unit[])
{
  for (int s = 0; s < S->nslice; ++s) {
    PetscInt width = 0, low, high;
    int      far   = 0;

    for (PetscInt p = 32 * (PetscInt)s; p < 32 * ((PetscInt)s + 1); ++p) {
      const PetscInt i = RowAt(S->m, p, S->row);

      if (i >= 0) width = PetscMax(width, A.i[i + 1] - A.i[i]);
    }
    for (PetscInt k = 0; k < width; ++k) {
      Span(S, A, s, k, &low, &high);
      far |= high - low > 65535;
    }
    ptr[s + 1]  = (int)width;
    unit[s + 1] = (int)width * (1 + far);
  }
}

void PolderSlicesFill_Host(const PolderSlices *S, PolderRows A, int base[], unsigned short col[], PetscScalar val[])
{
  const int *ptr = S->ptr, *unit = S->unit;

  for (int s = 0; s < S->nslice; ++s) {
    const int width = ptr[s + 1] - ptr[s];

    for (int k = 0; k < width; ++k) {
      PetscInt low, high;

      Span(S, A, s, k, &low, &high);
      if (col) base[ptr[s] + k] = (int)low;
      for (int lane = 0; lane < 32; ++lane) {
        const PetscInt    i  = RowAt(S->m, 32 * (PetscInt)s + lane, S->row);
        const PetscBool   in = (PetscBool)(i >= 0 && k < A.i[i + 1] - A.i[i]);
        const PetscInt    c  = in ? A.j[A.i[i] + k] : low;
        const PetscScalar v  = in ? A.a[A.i[i] + k] : 0.0;

        val[32 * ((size_t)ptr[s] + k) + lane] = v;
        if (!col) continue;
        if (unit[s + 1] - unit[s] == width) col[32 * ((size_t)unit[s] + k) + lane] = (unsigned short)(c - low);
        else ((int *)(col + 32 * ((size_t)unit[s] + 2 * k)))[lane] = (int)c;
      }
    }
  }
}

void PolderLongRowsCount_Host(PetscInt m, int cap, const PetscInt ai[], PolderLongRowCounts count)
{
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt len = ai[i + 1] - ai[i] > cap ? ai[i + 1] - ai[i] : 0;

    count.entry[i + 1]   = (int)len;
    count.segment[i + 1] = (int)((len + POLDER_SEGMENT - 1) / POLDER_SEGMENT);
    count.row[i + 1]     = len > 0;
  }
}

void PolderLongRowsMake_Host(PetscInt m, PolderLongRowCounts scanned, int lrow[], int first[], int owner[], int start[])
{
  const int *entry = scanned.entry, *segment = scanned.segment, *row = scanned.row;

  for (PetscInt i = 0; i < m; ++i) {
    if (row[i + 1] == row[i]) continue;
    lrow[row[i]]  = (int)i;
    first[row[i]] = segment[i];
    for (int s = segment[i]; s < segment[i + 1]; ++s) {
      owner[s] = row[i];
      start[s] = entry[i] + (s - segment[i]) * POLDER_SEGMENT;
    }
  }
  first[row[m]]     = segment[m];
  start[segment[m]] = entry[m];
}

void PolderLongRowsFill_Host(const PolderSlices *S, PolderRows A, int col[], PetscScalar val[])
{
  for (int s = 0; s < S->nseg; ++s) {
    const PetscInt from = A.i[S->lrow[S->owner[s]]] - S->start[S->first[S->owner[s]]];

    for (int k = S->start[s]; k < S->start[s + 1]; ++k) {
      val[k] = A.a[from + k];
      if (col) col[k] = (int)A.j[from + k];
    }
  }
}

void PolderSlicesMult_Host(const PolderSlices *S, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot)
{
  PetscScalar total = 0.0;

  for (int s = 0; s < S->nslice; ++s) {
    const int width = S->ptr[s + 1] - S->ptr[s];

    for (int lane = 0; lane < 32; ++lane) {
      const PetscInt i   = RowAt(S->m, 32 * (PetscInt)s + lane, S->row);
      PetscScalar    sum = 0.0;

      if (i < 0) continue;
      for (int k = 0; k < width; ++k) {
        const size_t u = S->unit[s];
        const int    c = S->unit[s + 1] - S->unit[s] == width ? S->base[S->ptr[s] + k] + S->col[32 * (u + k) + lane]
                                                              : ((const int *)(S->col + 32 * (u + 2 * k)))[lane];

        sum += S->val[32 * ((size_t)S->ptr[s] + k) + lane] * x[c];
      }
      z[i] = (y ? y[i] : 0.0) + alpha * sum;
      if (dot) total += x[i] * sum;
    }
  }
  for (int l = 0; l < S->nlong; ++l) {
    PetscScalar sum = 0.0;

    for (int k = S->start[S->first[l]]; k < S->start[S->first[l + 1]]; ++k) sum += S->lval[k] * x[S->lcol[k]];
    z[S->lrow[l]] = (y ? y[S->lrow[l]] : 0.0) + alpha * sum;
    if (dot) total += x[S->lrow[l]] * sum;
  }
  if (dot) *dot = total;
}
