/* Interpolation across the border of a process with vectors of type LEVEL_VALUE, for host and device; included once for each type. */

/* Box p of a plane: what the cells in its plane give to the box beyond the border */
POLDER_LEVELROW void LEVEL_NAME(BorderGive)(const PolderLevelGrid *G, const PolderLevelBorder *B, PetscInt p, const LEVEL_VALUE r[], LEVEL_VALUE give[])
{
  PetscInt       count[2];
  const PetscInt first = PolderLevelBorderBox(G, B, p, count);

  for (int s = 0; s < 2; ++s) {
    const PetscInt start = s ? G->n - B->plane : 0;
    LEVEL_VALUE    sum   = 0;

    if (!B->side[s]) continue;
    for (PetscInt y = 0; y < count[1]; ++y) {
      for (PetscInt x = 0; x < count[0]; ++x) {
        const PetscInt k = first + x + G->size[0] * y;

        sum += (LEVEL_VALUE)B->w[s * B->plane + k] * r[start + k];
      }
    }
    give[s * B->cplane + p] = sum;
  }
}

POLDER_LEVELROW void LEVEL_NAME(BorderGet)(const PolderLevelGrid *G, const PolderLevelBorder *B, PetscInt p, const LEVEL_VALUE give[], const LEVEL_VALUE got[],
                                           LEVEL_VALUE bc[])
{
  for (int s = 0; s < 2; ++s) {
    if (B->side[s]) bc[(s ? G->nc - B->cplane : 0) + p] += got[(s && B->side[0] ? B->cplane : 0) + p] - give[s * B->cplane + p];
  }
}

/* Cell k of a plane */
POLDER_LEVELROW void LEVEL_NAME(BorderTake)(const PolderLevelGrid *G, const PolderLevelBorder *B, PetscInt k, const LEVEL_VALUE xc[], const LEVEL_VALUE *before,
                                            const LEVEL_VALUE *after, LEVEL_VALUE x[])
{
  for (int s = 0; s < 2; ++s) {
    const LEVEL_VALUE w = B->side[s] ? (LEVEL_VALUE)B->w[s * B->plane + k] : 0;
    PetscInt          at[3], i, box;

    if (!(w > 0)) continue;
    i   = PolderLevelBorderCell(G, B, s, k, at);
    box = PolderLevelGridBox(G, at);
    x[i] += w * ((s ? after[box - (G->nc - B->cplane)] : before[box]) - xc[box]);
  }
}
