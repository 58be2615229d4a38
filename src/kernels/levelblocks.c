/* Blocks of strongly coupled rows that a smoother solves exactly. */
#include "levelblocksrow.h"

/* A pivot of less than this part of its diagonal entry belongs to a dependent row */
#define POLDER_BLOCK_PIVOT (100 * PETSC_MACHINE_EPSILON)

PetscBool PolderBlockPairs_Host(const PolderRows *A, const PetscReal d[], PetscReal theta, PetscInt *count, PetscInt pair[], PetscReal strength[])
{
  PetscInt positive = 0;

  *count = 0;
  for (PetscInt i = 0; i < A->n; ++i) {
    const PetscInt here = PolderBlockCountRow(i, A, d, theta, &positive);

    if (pair && here) PolderBlockFillRow(i, A, d, theta, *count, pair, strength);
    *count += here;
  }
  return (PetscBool)positive;
}

void PolderBlockSeed_Host(PetscInt count, const PetscInt pair[], PetscInt mark[])
{
  for (PetscInt k = 0; k < count; ++k) {
    if (pair[2 * k + 1] >= 0) mark[pair[2 * k]] = mark[pair[2 * k + 1]] = 1;
  }
}

void PolderBlockSpread_Host(PetscInt count, const PetscInt pair[], PetscInt mark[], PetscInt *more)
{
  for (PetscInt k = 0; k < count; ++k) PolderBlockSpreadPair(pair + 2 * k, mark, more);
}

void PolderBlockKeep_Host(PetscInt count, const PetscInt pair[], const PetscInt mark[], PetscInt keep[])
{
  for (PetscInt k = 0; k < count; ++k) keep[k + 1] = mark[pair[2 * k]];
}

void PolderBlockTake_Host(PetscInt count, const PetscInt pair[], const PetscReal strength[], const PetscInt number[], const PetscInt keep[], PetscInt kept[],
                          PetscReal keptstrength[])
{
  for (PetscInt k = 0; k < count; ++k) {
    if (keep[k + 1] == keep[k]) continue;
    PolderBlockTakePair(pair + 2 * k, number, kept + 2 * keep[k]);
    keptstrength[keep[k]] = strength[k];
  }
}

void PolderBlockMarked_Host(PetscInt n, const PetscInt number[], PetscInt row[])
{
  for (PetscInt i = 0; i < n; ++i) {
    if (number[i + 1] > number[i]) row[number[i]] = i;
  }
}

void PolderRowsLength_Host(const PolderRows *A, const PolderSparseRows *C)
{
  for (PetscInt k = 0; k < C->n; ++k) C->ptr[k + 1] = A->i[C->row[k] + 1] - A->i[C->row[k]];
}

void PolderRowsTake_Host(const PolderRows *A, const PolderSparseRows *C)
{
  for (PetscInt k = 0; k < C->n; ++k) PolderRowsTakeRow(k, A, C);
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

void PolderBlockColour_Host(PetscInt n, const PolderRows *A, PetscInt work[], PolderLevelBlocks *B)
{
  PetscInt *of = work, *colour = work + n, count[POLDER_BLOCK_COLOURS] = {0}, at = 0; // what has no colour is left out

  for (PetscInt i = 0; i < n; ++i) of[i] = -1;
  for (PetscInt k = 0; k < B->n; ++k) {
    colour[k] = POLDER_BLOCK_COLOURS;
    for (PetscInt r = B->ptr[k]; r < B->ptr[k + 1]; ++r) of[B->row[r]] = k;
  }
  for (PetscInt k = 0; k < B->n; ++k) { // the first colour that no block coupled to it has
    PetscInt64 taken = 0;

    for (PetscInt r = B->ptr[k]; r < B->ptr[k + 1]; ++r) {
      const PetscInt i = PolderBlockRow(r, B);

      for (PetscInt e = A->i[i]; e < A->i[i + 1]; ++e) {
        const PetscInt other = of[A->j[e]];

        if (other >= 0 && colour[other] < POLDER_BLOCK_COLOURS) taken |= (PetscInt64)1 << colour[other];
      }
    }
    for (colour[k] = 0; colour[k] < POLDER_BLOCK_COLOURS && taken >> colour[k] & 1; ++colour[k]) { }
    if (colour[k] < POLDER_BLOCK_COLOURS) ++count[colour[k]];
  }
  B->ncolour = 0;
  for (PetscInt c = 0; c < POLDER_BLOCK_COLOURS; ++c) {
    B->colour[c] = at;
    for (PetscInt k = 0; k < B->n && count[c]; ++k) {
      if (colour[k] == c) B->order[at++] = k;
    }
    if (count[c]) B->ncolour = c + 1;
  }
  B->colour[POLDER_BLOCK_COLOURS] = at;
}

/* The lower triangle of block k of the matrix, by rows */
static void BlockCopy(const PolderRows *A, const PolderLevelBlocks *B, PetscInt k, PetscReal L[])
{
  const PetscInt *row = B->row + B->ptr[k], m = B->ptr[k + 1] - B->ptr[k];

  for (PetscInt r = 0; r < m; ++r) {
    const PetscInt i = PolderBlockRow(B->ptr[k] + r, B);

    for (PetscInt c = 0; c <= r; ++c) L[c] = 0;
    for (PetscInt e = A->i[i]; e < A->i[i + 1]; ++e) { // columns need not ascend
      for (PetscInt c = 0; c <= r; ++c) {
        if (A->j[e] == row[c]) L[c] = PetscRealPart(A->a[e]);
      }
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
