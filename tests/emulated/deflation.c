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

int PolderSegmentSums_CUDA(const PolderSegments *s, const PetscScalar v[], PetscScalar alpha, const PetscScalar y[], PetscScalar a[], PetscBool early,
                           PolderStream stream)
{
  if (s->nlabel && s->first[s->nlabel] > s->most) return 1;
  for (PetscInt k = 0; k < s->nlabel; ++k) {
    PetscScalar t = 0;

    for (PetscInt p = s->ptr[s->first[k]]; p < s->ptr[s->first[k + 1]]; ++p) t += (s->weight ? s->weight[p] : 1) * v[s->item[p]];
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

int PolderRowsMultAdd_CUDA(const PolderSparseRows *W, PetscScalar alpha, const PetscScalar a[], PetscScalar v[], PolderCoarseDot dot, PetscBool early,
                           PolderStream stream)
{
  PolderRowsMultAdd_Host(W, alpha, a, v);
  for (PetscInt k = 0; dot.dot && k < dot.n; ++k) *dot.dot += alpha * dot.b[k] * a[k];
  return 0;
}

/* The entries of row i of diagonals that are not zero */
static PetscInt DiaRow(const PolderDia *A, PetscInt i, PetscInt j[], PetscScalar a[])
{
  PetscInt n = 0;

  for (PetscInt d = 0; d < A->nd; ++d) {
    if (i + A->off[d] < 0 || i + A->off[d] >= A->m || A->val[d][i] == 0) continue;
    j[n]   = i + A->off[d];
    a[n++] = A->val[d][i];
  }
  return n;
}

/* Row i as a matrix of one row, whose arrays are those of A */
static PolderRows OneRow(PolderRows A, PetscInt i)
{
  return (PolderRows){.n = 1, .i = A.i ? A.i + i : NULL, .j = A.j, .a = A.a};
}

static void CountRow(PolderRows A, const PetscInt label[], PetscInt own, PolderRows B, const PetscInt ghostlabel[], PetscInt *count, int flags[])
{
  const PetscInt n   = A.i[1] - A.i[0] + (B.i ? B.i[1] - B.i[0] : 0);
  PetscInt      *col = malloc(sizeof(*col) * (size_t)(n + 1));
  PetscScalar   *val = malloc(sizeof(*val) * (size_t)(n + 1));

  if (!PolderLabelRowsCount_Host(A, label, B, ghostlabel, col, val, count)) flags[0] = 1;
  if (own < 0) flags[1] = 1;
  free(col);
  free(val);
}

/* Row i is the k-th with entries: see PolderRowsScan_CUDA() */
static void FillRow(PetscInt i, PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt count, PetscInt64 scan,
                    const PolderSparseRows *W)
{
  const PetscInt         k = (PetscInt)(scan >> 32) - 1, end = (PetscInt)(scan & 0xffffffff);
  PetscInt               begin[2] = {0, count}, first[1] = {0};
  const PolderSparseRows one = {1, count, first, begin, W->col + end - count, W->val + end - count};

  if (!count) return;
  W->row[k]     = i;
  W->ptr[k + 1] = end;
  PolderLabelRowsFill_Host(A, label, B, ghostlabel, &one);
}

int PolderLabelRowsCount_CUDA(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt count[], int flags[],
                              PolderStream stream)
{
  for (PetscInt i = 0; i < A.n; ++i) CountRow(OneRow(A, i), label, label[i], OneRow(B, i), ghostlabel, &count[i], flags);
  return 0;
}

int PolderLabelRowsCountDia_CUDA(const PolderDia *A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt count[], int flags[],
                                 PolderStream stream)
{
  PetscInt    j[POLDER_LABEL_DIAGONALS], ptr[2] = {0, 0};
  PetscScalar a[POLDER_LABEL_DIAGONALS];

  for (PetscInt i = 0; i < A->m; ++i) {
    ptr[1] = DiaRow(A, i, j, a);
    CountRow((PolderRows){.n = 1, .i = ptr, .j = j, .a = a}, label, label[i], OneRow(B, i), ghostlabel, &count[i], flags);
  }
  return 0;
}

int PolderRowsScan_CUDA(PetscInt m, const PetscInt count[], PetscInt64 scan[], size_t bytes, void *work, PolderStream stream)
{
  PetscInt64 sum = 0;

  for (PetscInt i = 0; i < m; ++i) scan[i] = sum += ((PetscInt64)(count[i] > 0) << 32) + count[i];
  return 0;
}

int PolderLabelRowsFill_CUDA(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], const PetscInt count[], const PetscInt64 scan[],
                             const PolderSparseRows *W, PolderStream stream)
{
  for (PetscInt i = 0; i < A.n; ++i) FillRow(i, OneRow(A, i), label, OneRow(B, i), ghostlabel, count[i], scan[i], W);
  return 0;
}

int PolderLabelRowsFillDia_CUDA(const PolderDia *A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], const PetscInt count[],
                                const PetscInt64 scan[], const PolderSparseRows *W, PolderStream stream)
{
  PetscInt    j[POLDER_LABEL_DIAGONALS], ptr[2] = {0, 0};
  PetscScalar a[POLDER_LABEL_DIAGONALS];

  for (PetscInt i = 0; i < A->m; ++i) {
    ptr[1] = DiaRow(A, i, j, a);
    FillRow(i, (PolderRows){.n = 1, .i = ptr, .j = j, .a = a}, label, OneRow(B, i), ghostlabel, count[i], scan[i], W);
  }
  return 0;
}

int PolderGalerkin_CUDA(PetscInt d, const PetscInt label[], const PolderSparseRows *W, PolderKeyedEntries E, size_t bytes, void *work, PolderStream stream)
{
  const size_t none  = (size_t)d * (size_t)d; /* the key of rows without a label */
  PetscScalar *dense = calloc(none + 1, sizeof(*dense));
  char        *has   = calloc(none + 1, 1);

  for (PetscInt k = 0; k < W->n; ++k) {
    for (PetscInt j = W->ptr[k]; j < W->ptr[k + 1]; ++j) {
      const size_t key = label[W->row[k]] < 0 ? none : (size_t)label[W->row[k]] * (size_t)d + (size_t)W->col[j];

      dense[key] += W->val[j];
      has[key] = 1;
    }
  }
  *E.n = 0;
  for (size_t key = 0; key <= none; ++key) {
    if (!has[key]) continue;
    E.key[*E.n]     = (PetscInt64)key;
    E.val[(*E.n)++] = dense[key];
  }
  free(dense);
  free(has);
  return *E.n > W->nz + 1;
}

int PolderEntriesGather_CUDA(const PolderSparseRows *W, const PetscInt entry[], PetscInt item[], PetscScalar weight[], PolderStream stream)
{
  PetscInt *owner = malloc(sizeof(*owner) * (size_t)(W->nz + 1));

  for (PetscInt k = 0; k < W->n; ++k)
    for (PetscInt j = W->ptr[k]; j < W->ptr[k + 1]; ++j) owner[j] = W->row ? W->row[k] : k;
  for (PetscInt p = 0; p < W->nz; ++p) {
    item[p]   = owner[entry[p]];
    weight[p] = W->val[entry[p]];
  }
  free(owner);
  return 0;
}
