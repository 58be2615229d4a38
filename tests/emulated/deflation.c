/* deflation.cu and deflationproducts.cu in plain C */
#include "emulated.h"
#include "kernels/deflation.h"

PolderEmulateWork(PolderLabelsSortWork, (PetscInt n, PetscInt nlabel));
PolderEmulateWork(PolderRowsScanWork, (PetscInt m));
PolderEmulateWork(PolderGalerkinWork, (PetscInt d, PetscInt nz));

int PolderLabelsSort_CUDA(PetscInt n, PetscInt nlabel, const PetscInt label[], PetscInt row[], PetscInt start[], size_t bytes, void *work, PolderStream stream)
{
  PetscInt *fill = calloc((size_t)nlabel + 1, sizeof(*fill));

  for (PetscInt i = 0; i < n; ++i) {
    if (label[i] >= 0) ++fill[label[i]];
  }
  start[0] = 0;
  for (PetscInt k = 0; k < nlabel; ++k) {
    start[k + 1] = start[k] + fill[k];
    fill[k]      = start[k];
  }
  for (PetscInt i = 0; i < n; ++i) {
    if (label[i] >= 0) row[fill[label[i]]++] = i;
  }
  free(fill);
  return 0;
}

int PolderSegmentsMake_CUDA(PetscInt nlabel, PetscInt length, const PetscInt start[], PetscInt first[], PetscInt ptr[], PetscInt label[], PolderStream stream)
{
  PetscInt s = 0;

  for (PetscInt k = 0; k < nlabel; ++k) {
    first[k] = s;
    do {
      ptr[s]     = start[k] + (s - first[k]) * length;
      label[s++] = k;
    } while (start[k] + (s - first[k]) * length < start[k + 1]);
  }
  first[nlabel] = s;
  if (nlabel) ptr[s] = start[nlabel];
  return 0;
}

int PolderSegmentSums_CUDA(PetscInt nlabel, PetscInt most, PetscBool wide, const PetscInt first[], const PetscInt ptr[], const PetscInt label[],
                           const PetscInt item[], const PetscScalar weight[], const PetscScalar v[], PetscScalar sum[], unsigned int counter[],
                           PetscScalar alpha, const PetscScalar y[], PetscScalar a[], PetscBool early, PolderStream stream)
{
  if (nlabel && first[nlabel] > most) return 1;
  for (PetscInt k = 0; k < nlabel; ++k) {
    PetscScalar t = 0;

    for (PetscInt p = ptr[first[k]]; p < ptr[first[k + 1]]; ++p) t += (weight ? weight[p] : 1) * v[item[p]];
    a[k] = (y ? y[k] : 0) + alpha * t;
  }
  return 0;
}

int PolderLabelsProlongAdd_CUDA(PetscInt n, const PetscInt label[], PetscScalar alpha, const PetscScalar a[], PetscScalar x[], PolderStream stream)
{
  for (PetscInt i = 0; i < n; ++i) {
    if (label[i] >= 0) x[i] += alpha * a[label[i]];
  }
  return 0;
}

int PolderRowsMultAdd_CUDA(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscScalar alpha,
                           const PetscScalar a[], PetscScalar v[], PetscInt d, const PetscScalar b[], PetscScalar *dot, PetscBool early, PolderStream stream)
{
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt i = row ? row[k] : k;
    PetscScalar    s = 0;

    for (PetscInt j = ptr[k]; j < ptr[k + 1]; ++j) s += val[j] * a[col[j]];
    v[i] += alpha * s;
  }
  for (PetscInt k = 0; dot && k < d; ++k) *dot += alpha * b[k] * a[k];
  return 0;
}

/* The entries of row i of diagonals that are not zero */
static PetscInt DiaRow(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscInt i, PetscInt j[], PetscScalar a[])
{
  PetscInt n = 0;

  for (PetscInt d = 0; d < nd; ++d) {
    if (i + off[d] < 0 || i + off[d] >= m || val[d][i] == 0) continue;
    j[n]   = i + off[d];
    a[n++] = val[d][i];
  }
  return n;
}

static void CountRow(PetscInt n, const PetscInt j[], const PetscScalar a[], const PetscInt label[], PetscInt own, PetscInt *count, int flags[])
{
  const PetscInt ai[2] = {0, n};
  PetscInt      *col   = malloc(sizeof(*col) * (size_t)(n + 1));
  PetscScalar   *val   = malloc(sizeof(*val) * (size_t)(n + 1));

  if (!PolderLabelRowsCount_Host(1, ai, j, a, label, NULL, NULL, NULL, NULL, col, val, count)) flags[0] = 1;
  if (own < 0) flags[1] = 1;
  free(col);
  free(val);
}

/* Row i is the k-th with entries: see PolderRowsScan_CUDA() */
static void FillRow(PetscInt i, PetscInt n, const PetscInt j[], const PetscScalar a[], const PetscInt label[], PetscInt count, PetscInt64 scan, PetscInt row[],
                    PetscInt ptr[], PetscInt col[], PetscScalar val[])
{
  const PetscInt k = (PetscInt)(scan >> 32) - 1, end = (PetscInt)(scan & 0xffffffff), ai[2] = {0, n}, begin[1] = {0}, first[1] = {0};

  if (!count) return;
  row[k]     = i;
  ptr[k + 1] = end;
  PolderLabelRowsFill_Host(1, first, ai, j, a, label, NULL, NULL, NULL, NULL, begin, col + end - count, val + end - count);
}

int PolderLabelRowsCount_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], PetscInt count[],
                              int flags[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) CountRow(ai[i + 1] - ai[i], aj + ai[i], aa + ai[i], label, label[i], &count[i], flags);
  return 0;
}

int PolderLabelRowsCountDia_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscInt label[], PetscInt count[],
                                 int flags[], PolderStream stream)
{
  PetscInt    j[POLDER_LABEL_DIAGONALS];
  PetscScalar a[POLDER_LABEL_DIAGONALS];

  for (PetscInt i = 0; i < m; ++i) CountRow(DiaRow(m, nd, off, val, i, j, a), j, a, label, label[i], &count[i], flags);
  return 0;
}

int PolderRowsScan_CUDA(PetscInt m, const PetscInt count[], PetscInt64 scan[], size_t bytes, void *work, PolderStream stream)
{
  PetscInt64 sum = 0;

  for (PetscInt i = 0; i < m; ++i) scan[i] = sum += ((PetscInt64)(count[i] > 0) << 32) + count[i];
  return 0;
}

int PolderLabelRowsFill_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], const PetscInt count[],
                             const PetscInt64 scan[], PetscInt nrow, PetscInt row[], PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) FillRow(i, ai[i + 1] - ai[i], aj + ai[i], aa + ai[i], label, count[i], scan[i], row, ptr, col, val);
  return 0;
}

int PolderLabelRowsFillDia_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const dia[], const PetscInt label[], const PetscInt count[],
                                const PetscInt64 scan[], PetscInt nrow, PetscInt row[], PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream)
{
  PetscInt    j[POLDER_LABEL_DIAGONALS];
  PetscScalar a[POLDER_LABEL_DIAGONALS];

  for (PetscInt i = 0; i < m; ++i) FillRow(i, DiaRow(m, nd, off, dia, i, j, a), j, a, label, count[i], scan[i], row, ptr, col, val);
  return 0;
}

int PolderGalerkin_CUDA(PetscInt d, PetscInt nrow, PetscInt nz, const PetscInt label[], const PetscInt row[], const PetscInt ptr[], const PetscInt col[],
                        const PetscScalar val[], PetscInt *n, PetscInt64 ekey[], PetscScalar eval[], size_t bytes, void *work, PolderStream stream)
{
  const size_t none = (size_t)d * (size_t)d; /* the key of rows without a label */
  PetscScalar *E    = calloc(none + 1, sizeof(*E));
  char        *has  = calloc(none + 1, 1);

  for (PetscInt k = 0; k < nrow; ++k) {
    for (PetscInt j = ptr[k]; j < ptr[k + 1]; ++j) {
      const size_t key = label[row[k]] < 0 ? none : (size_t)label[row[k]] * (size_t)d + (size_t)col[j];

      E[key] += val[j];
      has[key] = 1;
    }
  }
  *n = 0;
  for (size_t key = 0; key <= none; ++key) {
    if (!has[key]) continue;
    ekey[*n]     = (PetscInt64)key;
    eval[(*n)++] = E[key];
  }
  free(E);
  free(has);
  return *n > nz + 1;
}

int PolderEntriesGather_CUDA(PetscInt nz, PetscInt nrow, const PetscInt row[], const PetscInt ptr[], const PetscScalar val[], const PetscInt entry[],
                             PetscInt item[], PetscScalar weight[], PolderStream stream)
{
  PetscInt *owner = malloc(sizeof(*owner) * (size_t)(nz + 1));

  for (PetscInt k = 0; k < nrow; ++k)
    for (PetscInt j = ptr[k]; j < ptr[k + 1]; ++j) owner[j] = row ? row[k] : k;
  for (PetscInt p = 0; p < nz; ++p) {
    item[p]   = owner[entry[p]];
    weight[p] = val[entry[p]];
  }
  free(owner);
  return 0;
}
