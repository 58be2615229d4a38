/* Blocks of strongly coupled rows that a smoother solves exactly. */
#include "levelblocks.h"

/* A pivot of less than this part of its diagonal entry belongs to a dependent row */
#define POLDER_BLOCK_PIVOT (100 * PETSC_MACHINE_EPSILON)

PetscBool PolderBlockPairs_Host(const PolderRows *A, const PetscReal d[], PetscReal theta, PetscInt *count, PetscInt pair[], PetscReal strength[])
{
  PetscBool positive = PETSC_FALSE;

  *count = 0;
  for (PetscInt i = 0; i < A->n; ++i) {
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
      const PetscInt  j = A->j[k];
      const PetscReal a = PetscRealPart(A->a[k]);

      if (j <= i || !(d[i] > 0 && d[j] > 0 && PetscAbsReal(a) > theta * PetscSqrtReal(d[i]) * PetscSqrtReal(d[j]))) continue;
      if (a > 0) positive = PETSC_TRUE;
      if (pair) {
        pair[2 * *count]     = i;
        pair[2 * *count + 1] = a > 0 ? j : -1 - j;
        strength[*count]     = -PetscAbsReal(a) / PetscSqrtReal(d[i]) / PetscSqrtReal(d[j]);
      }
      ++*count;
    }
  }
  return positive;
}

static PetscInt BlockRoot(PetscInt i, PetscInt root[])
{
  while (root[i] != i) i = root[i] = root[root[i]];
  return i;
}

/* Marks the roots of the blocks to keep with their number, the other roots with -1: number[]; the size of such a block is negative */
static void BlockNumber(PetscInt n, const PetscInt root[], const PetscInt size[], PetscInt number[], PolderLevelBlocks *B)
{
  PetscInt at = 0;

  B->n = B->ptr[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    number[i] = -1;
    if (root[i] != i || size[i] > 0) continue;
    B->at[B->n]      = at;
    B->ptr[B->n + 1] = B->ptr[B->n] - size[i];
    number[i]        = B->n++;
    at += size[i] * (size[i] - 1) / 2;
  }
  B->at[B->n] = at;
}

void PolderBlockJoin_Host(PetscInt n, PetscInt count, const PetscInt order[], const PetscInt pair[], PetscInt work[], PolderLevelBlocks *B)
{
  PetscInt *root = work, *size = work + n, *number = work + 2 * n;

  for (PetscInt i = 0; i < n; ++i) {
    root[i] = i;
    size[i] = 1;
  }
  for (PetscInt k = 0; k < count; ++k) {
    const PetscInt *p = pair + 2 * order[k], i = BlockRoot(p[0], root), j = BlockRoot(p[1] < 0 ? -1 - p[1] : p[1], root);
    const PetscInt  all  = PetscAbsInt(size[i]) + (i == j ? 0 : PetscAbsInt(size[j]));
    const PetscBool keep = (PetscBool)(p[1] >= 0 || size[i] < 0 || size[j] < 0);

    if (all > POLDER_BLOCK_ROWS) continue;
    root[PetscMax(i, j)] = PetscMin(i, j);
    size[PetscMin(i, j)] = keep ? -all : all;
  }
  BlockNumber(n, root, size, number, B);
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt b = number[BlockRoot(i, root)];

    if (b >= 0) B->row[B->ptr[b]++] = i;
  }
  for (PetscInt b = B->n; b > 0; --b) B->ptr[b] = B->ptr[b - 1];
  B->ptr[0] = 0;
}

/* The lower triangle of block k of the matrix, by rows */
static void BlockCopy(const PolderRows *A, const PolderLevelBlocks *B, PetscInt k, PetscReal L[])
{
  const PetscInt *row = B->row + B->ptr[k], m = B->ptr[k + 1] - B->ptr[k];

  for (PetscInt r = 0; r < m; ++r) {
    PetscInt e = A->i[row[r]];

    for (PetscInt c = 0; c <= r; ++c) {
      while (e < A->i[row[r] + 1] && A->j[e] < row[c]) ++e;
      L[c] = e < A->i[row[r] + 1] && A->j[e] == row[c] ? PetscRealPart(A->a[e]) : 0;
    }
    L += r + 1;
  }
}

void PolderBlockFactor_Host(const PolderRows *A, const PolderLevelBlocks *B)
{
  for (PetscInt k = 0; k < B->n; ++k) {
    PetscReal *row = B->factor + B->at[k];

    BlockCopy(A, B, k, row);
    for (PetscInt r = B->ptr[k], at = 0; B->shift && r < B->ptr[k + 1]; ++r, ++at) {
      row[at] += B->shift[B->row[r]];
      at += r - B->ptr[k] + 1;
    }
    for (PetscInt r = 0, m = B->ptr[k + 1] - B->ptr[k]; r < m; ++r) {
      const PetscReal *other = B->factor + B->at[k];
      const PetscReal  all   = row[r];
      PetscReal        pivot = row[r];

      for (PetscInt c = 0; c < r; ++c) {
        for (PetscInt e = 0; e < c; ++e) row[c] -= row[e] * other[e];
        row[c] *= other[c];
        pivot -= row[c] * row[c];
        other += c + 1;
      }
      row[r] = pivot > POLDER_BLOCK_PIVOT * all ? 1 / PetscSqrtReal(pivot) : 0;
      row += r + 1;
    }
  }
}

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##_Host
#include "levelblocksapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single_Host
#include "levelblocksapply.h"
