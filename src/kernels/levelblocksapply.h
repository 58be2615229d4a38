/* The step of a smoother on blocks of rows, for vectors of type LEVEL_VALUE; included by levelblocks.c once for each type. */

/* x += the correction on block k. The residual is computed, and the triangles are solved, in double precision */
static void LEVEL_NAME(BlockCorrect)(const PolderRows *A, const PolderLevelBlocks *B, PetscInt k, const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  const PetscInt  *row = B->row + B->ptr[k], m = B->ptr[k + 1] - B->ptr[k];
  const PetscReal *L = B->factor + B->at[k];
  PetscReal        z[POLDER_BLOCK_ROWS];

  for (PetscInt r = 0; r < m; ++r) {
    const PetscInt i = PolderBlockRow(B->ptr[k] + r, B);

    z[r] = b[row[r]];
    for (PetscInt e = A->i[i]; e < A->i[i + 1]; ++e) z[r] -= PetscRealPart(A->a[e]) * x[A->j[e]];
    if (B->shift) z[r] -= B->shift[row[r]] * x[row[r]];
    for (PetscInt c = 0; c < r; ++c) z[r] -= L[c] * z[c];
    z[r] *= L[r];
    L += r + 1;
  }
  for (PetscInt r = m - 1; r >= 0; --r) {
    L -= r + 1;
    z[r] *= L[r];
    for (PetscInt c = 0; c < r; ++c) z[c] -= L[c] * z[r];
    x[row[r]] += (LEVEL_VALUE)z[r];
  }
}

void LEVEL_NAME(PolderBlockCorrect)(const PolderRows *A, const PolderLevelBlocks *B, PetscInt c, const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  for (PetscInt k = B->colour[c]; k < B->colour[c + 1]; ++k) LEVEL_NAME(BlockCorrect)(A, B, B->order[k], b, x);
}

void LEVEL_NAME(PolderBlockStep)(const PolderRows *A, const PolderLevelBlocks *B, PetscBool backward, const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  for (PetscInt c = 0; c < B->ncolour; ++c) LEVEL_NAME(PolderBlockCorrect)(A, B, backward ? B->ncolour - 1 - c : c, b, x);
}
