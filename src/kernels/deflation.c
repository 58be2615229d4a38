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

void PolderRunsRestrict_Host(PetscInt nrun, const PetscInt runstart[], const PetscInt runlabel[], const PetscScalar v[], PetscScalar a[])
{
  for (PetscInt r = 0; r < nrun; ++r) {
    if (runlabel[r] >= 0) a[runlabel[r]] += PolderRunSum(runstart[r + 1] - runstart[r], v + runstart[r]);
  }
}

void PolderRunsProlongAdd_Host(PetscInt nrun, const PetscInt runstart[], const PetscInt runlabel[], const PetscScalar a[], PetscScalar x[])
{
  for (PetscInt r = 0; r < nrun; ++r) {
    if (runlabel[r] >= 0) {
      const PetscScalar t = a[runlabel[r]];

      for (PetscInt i = runstart[r]; i < runstart[r + 1]; ++i) x[i] += t;
    }
  }
}

void PolderRowsMultAdd_Host(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscScalar alpha,
                            const PetscScalar a[], PetscScalar v[])
{
  for (PetscInt k = 0; k < n; ++k) {
    PetscScalar s = 0;

    for (PetscInt j = ptr[k]; j < ptr[k + 1]; ++j) s += val[j] * a[col[j]];
    v[row ? row[k] : k] += alpha * s;
  }
}

void PolderRowsMultTransposeAdd_Host(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[],
                                     const PetscScalar v[], PetscScalar a[])
{
  for (PetscInt k = 0; k < n; ++k) {
    const PetscScalar t = v[row ? row[k] : k];

    for (PetscInt j = ptr[k]; j < ptr[k + 1]; ++j) a[col[j]] += val[j] * t;
  }
}

/*
  One row of AZ from the labels of its columns: distinct labels in order of appearance in col[], their sums in val[].
  Returns the number of distinct labels; *sum and *abs are the sum of the entries and of their absolute values over all columns.
*/
static inline PetscInt PolderLabelRow(PetscInt nz, const PetscInt *restrict j, const PetscScalar *restrict a, const PetscInt *restrict label, PetscInt nc,
                                      PetscInt *restrict col, PetscScalar *restrict val, PetscScalar *sum, PetscReal *abs)
{
  for (PetscInt k = 0; k < nz; ++k) {
    const PetscInt l = label[j[k]];
    PetscInt       c = 0;

    *sum += a[k];
    *abs += PetscAbsScalar(a[k]);
    if (l < 0) continue;
    while (c < nc && col[c] != l) ++c;
    if (c == nc) {
      col[nc]   = l;
      val[nc++] = 0;
    }
    val[c] += a[k];
  }
  return nc;
}

PetscBool PolderLabelRowsCount_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], const PetscInt bi[],
                                    const PetscInt bj[], const PetscScalar ba[], const PetscInt ghostlabel[], PetscInt col[], PetscScalar val[],
                                    PetscInt count[])
{
  PetscBool nullspace = PETSC_TRUE;

  for (PetscInt i = 0; i < m; ++i) {
    PetscScalar sum = 0;
    PetscReal   abs = 0;
    PetscInt    nc  = PolderLabelRow(ai[i + 1] - ai[i], aj + ai[i], aa + ai[i], label, 0, col, val, &sum, &abs);

    if (bi) nc = PolderLabelRow(bi[i + 1] - bi[i], bj + bi[i], ba + bi[i], ghostlabel, nc, col, val, &sum, &abs);
    abs *= (4 + ai[i + 1] - ai[i]) * PETSC_MACHINE_EPSILON;
    if (PetscAbsScalar(sum) > abs) nullspace = PETSC_FALSE;
    count[i] = (nc == 1 && PetscAbsScalar(val[0]) <= abs) ? 0 : nc;
  }
  return nullspace;
}

void PolderLabelRowsFill_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[],
                              const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const PetscInt ghostlabel[], const PetscInt ptr[],
                              PetscInt col[], PetscScalar val[])
{
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt i   = row[k];
    PetscScalar    sum = 0;
    PetscReal      abs = 0;
    PetscInt       nc;

    nc = PolderLabelRow(ai[i + 1] - ai[i], aj + ai[i], aa + ai[i], label, 0, col + ptr[k], val + ptr[k], &sum, &abs);
    if (bi) (void)PolderLabelRow(bi[i + 1] - bi[i], bj + bi[i], ba + bi[i], ghostlabel, nc, col + ptr[k], val + ptr[k], &sum, &abs);
  }
}

void PolderGalerkinRow_Host(PetscInt nrow, const PetscInt row[], const PetscScalar weight[], const PetscInt wi[], const PetscInt wj[], const PetscScalar wv[],
                            PetscInt *nc, PetscInt position[], PetscInt col[], PetscScalar val[])
{
  for (PetscInt k = 0; k < nrow; ++k) {
    const PetscScalar z = weight ? weight[k] : 1;

    for (PetscInt j = wi[row[k]]; j < wi[row[k] + 1]; ++j) {
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
