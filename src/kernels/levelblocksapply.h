/* The step of a smoother on blocks of rows, for vectors of type LEVEL_VALUE; included by levelblocks.c once for each type. */

/* x += the correction on block k. The residual is computed, and the triangles are solved, in double precision */
static void LEVEL_NAME(BlockCorrect)(const PolderRows *A, const PolderLevelBlocks *B, PetscInt k, const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  const PetscInt  *row = B->row + B->ptr[k], m = B->ptr[k + 1] - B->ptr[k];
  const PetscReal *L = B->factor + B->at[k];
  PetscReal        z[POLDER_BLOCK_ROWS];

  for (PetscInt r = 0; r < m; ++r) {
    z[r] = b[row[r]];
    for (PetscInt e = A->i[row[r]]; e < A->i[row[r] + 1]; ++e) z[r] -= PetscRealPart(A->a[e]) * x[A->j[e]];
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

void LEVEL_NAME(PolderBlockStep)(const PolderRows *A, const PolderLevelBlocks *B, PetscBool backward, const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  for (PetscInt k = 0; k < B->n; ++k) LEVEL_NAME(BlockCorrect)(A, B, backward ? B->n - 1 - k : k, b, x);
}
