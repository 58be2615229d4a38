/* Host kernels for labels: restriction, prolongation, rows of AZ and of E = Z^T A Z. */
#include "deflation.h"

/* Eight partial sums, since the compiler may not reorder a sum to vectorise it */
static inline PetscScalar PolderRunSum(PetscInt n, const PetscScalar v[])
{
  PetscScalar s[8] = {0};
  PetscInt    i;

  for (i = 0; i + 8 <= n; i += 8)
    for (int l = 0; l < 8; ++l) s[l] += v[i + l];
  for (; i < n; ++i) s[0] += v[i];
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

PetscInt PolderRunsRestrictRows_Host(const PolderLabelRuns *runs, PetscInt r, PetscInt lo, PetscInt hi, const PetscScalar v[], PetscScalar a[])
{
  for (; r < runs->n; ++r) {
    const PetscInt end = PetscMin(runs->start[r + 1], hi);

    if (runs->label[r] >= 0) a[runs->label[r]] += PolderRunSum(end - lo, v + lo);
    if (runs->start[r + 1] > hi) return r;
    lo = end;
  }
  return r;
}

void PolderRunsRestrict_Host(const PolderLabelRuns *runs, const PetscScalar v[], PetscScalar a[])
{
  (void)PolderRunsRestrictRows_Host(runs, 0, 0, runs->n ? runs->start[runs->n] : 0, v, a);
}

void PolderRunsProlongAdd_Host(const PolderLabelRuns *runs, const PetscScalar a[], PetscScalar x[])
{
  for (PetscInt r = 0; r < runs->n; ++r) {
    if (runs->label[r] >= 0) {
      const PetscScalar t = a[runs->label[r]];

      for (PetscInt i = runs->start[r]; i < runs->start[r + 1]; ++i) x[i] += t;
    }
  }
}

void PolderRowsMultAdd_Host(const PolderSparseRows *W, PetscScalar alpha, const PetscScalar a[], PetscScalar v[])
{
  const PetscInt    *row = W->row, *ptr = W->ptr, *col = W->col;
  const PetscScalar *val = W->val;

  for (PetscInt k = 0; k < W->n; ++k) {
    PetscScalar s = 0;

    for (PetscInt j = ptr[k]; j < ptr[k + 1]; ++j) s += val[j] * a[col[j]];
    v[row ? row[k] : k] += alpha * s;
  }
}

void PolderRowsMultTransposeAdd_Host(const PolderSparseRows *W, const PetscScalar v[], PetscScalar a[])
{
  const PetscInt    *row = W->row, *ptr = W->ptr, *col = W->col;
  const PetscScalar *val = W->val;

  for (PetscInt k = 0; k < W->n; ++k) {
    const PetscScalar t = v[row ? row[k] : k];

    for (PetscInt j = ptr[k]; j < ptr[k + 1]; ++j) a[col[j]] += val[j] * t;
  }
}

/* A row of AZ: its n distinct labels in order of appearance and their sums; sum and abs: of the entries of A, with label or without, and of their magnitudes */
typedef struct {
  PetscInt     n, *col;
  PetscScalar *val, sum;
  PetscReal    abs;
} LabelSums;

/* Adds the entries of row i of A to it */
static inline void LabelSumsAdd(LabelSums *row, PolderRows A, PetscInt i, const PetscInt *restrict label)
{
  const PetscInt *restrict j    = A.j + A.i[i];
  const PetscScalar *restrict a = A.a + A.i[i];
  PetscInt *restrict col        = row->col;
  PetscScalar *restrict val     = row->val;
  const PetscInt nz             = A.i[i + 1] - A.i[i];
  PetscInt       n              = row->n;

  for (PetscInt k = 0; k < nz; ++k) {
    const PetscInt l = label[j[k]];
    PetscInt       c = 0;

    row->sum += a[k];
    row->abs += PetscAbsScalar(a[k]);
    if (l < 0) continue;
    while (c < n && col[c] != l) ++c;
    if (c == n) {
      col[n]   = l;
      val[n++] = 0;
    }
    val[c] += a[k];
  }
  row->n = n;
}

PetscBool PolderLabelRowsCount_Host(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt col[], PetscScalar val[],
                                    PetscInt count[])
{
  PetscBool nullspace = PETSC_TRUE;

  for (PetscInt i = 0; i < A.n; ++i) {
    LabelSums row = {.col = col, .val = val};
    PetscReal small;

    LabelSumsAdd(&row, A, i, label);
    if (B.i) LabelSumsAdd(&row, B, i, ghostlabel);
    small = row.abs * (4 + A.i[i + 1] - A.i[i] + (B.i ? B.i[i + 1] - B.i[i] : 0)) * PETSC_MACHINE_EPSILON;
    if (PetscAbsScalar(row.sum) > small) nullspace = PETSC_FALSE;
    count[i] = (row.n == 1 && PetscAbsScalar(val[0]) <= small) ? 0 : row.n;
  }
  return nullspace;
}

void PolderLabelRowsFill_Host(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], const PolderSparseRows *W)
{
  for (PetscInt k = 0; k < W->n; ++k) {
    LabelSums row = {.col = W->col + W->ptr[k], .val = W->val + W->ptr[k]};

    LabelSumsAdd(&row, A, W->row[k], label);
    if (B.i) LabelSumsAdd(&row, B, W->row[k], ghostlabel);
  }
}

void PolderGalerkinRow_Host(PolderRowList rows, const PetscScalar weight[], const PolderSparseRows *W, PetscInt *nc, PetscInt position[], PetscInt col[],
                            PetscScalar val[])
{
  const PetscInt    *wi = W->ptr, *wj = W->col;
  const PetscScalar *wv = W->val;

  for (PetscInt k = 0; k < rows.n; ++k) {
    const PetscScalar z = weight ? weight[k] : 1;

    for (PetscInt j = wi[rows.row[k]]; j < wi[rows.row[k] + 1]; ++j) {
      const PetscInt c = wj[j];

      if (position[c] < 0) {
        position[c]  = *nc;
        col[*nc]     = c;
        val[(*nc)++] = 0;
      }
      val[position[c]] += z * wv[j];
    }
  }
  for (PetscInt k = 0; k < *nc; ++k) position[col[k]] = -1;
}
