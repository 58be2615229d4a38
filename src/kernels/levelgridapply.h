/*
  Restriction and interpolation on levels that are grids, for one cell, which host and device share, with vectors of type LEVEL_VALUE; included once for each
  type.
*/

/* What cell i, at at[], gives to its own box: r_i (1 - the sum of its weights); no cell, or one without part in P: 0 */
POLDER_LEVELROW LEVEL_VALUE LEVEL_NAME(PolderLevelGridOwn)(const PolderLevelGrid *G, PetscInt i, const LEVEL_VALUE r[])
{
  const unsigned word = G->w[i];
  LEVEL_VALUE    w    = 0;

  if (word == POLDER_LEVELGRID_APART) return 0;
  for (int d = 0; d < 3; ++d) w += (LEVEL_VALUE)PolderLevelGridUnpack(word, d);
  return (1 - w) * r[i];
}

/* Entry c of P^T r; at[] are the coordinates of its box */
POLDER_LEVELROW LEVEL_VALUE LEVEL_NAME(PolderLevelGridGather)(const PolderLevelGrid *G, const PetscInt at[3], const LEVEL_VALUE r[])
{
  LEVEL_VALUE    sum = 0;
  PetscInt       lo[3], hi[3];
  const PetscInt line = G->size[0], plane = line * G->size[1];

  for (int d = 0; d < 3; ++d) {
    lo[d] = at[d] << G->join[d];
    hi[d] = lo[d] + 1 + G->join[d] < G->size[d] ? lo[d] + 1 + G->join[d] : G->size[d];
  }
  for (int d = -1; d < 3; ++d) {              // the box, then in each direction
    for (int upper = 0; upper < 2; ++upper) { // the cells that face it from either side
      PetscInt from[3] = {lo[0], lo[1], lo[2]}, to[3] = {hi[0], hi[1], hi[2]};

      if (d < 0 ? upper : !G->join[d]) continue;
      if (d >= 0) {
        from[d] = upper ? lo[d] + 2 : lo[d] - 1;
        to[d]   = from[d] + 1;
        if (from[d] < 0 || to[d] > G->size[d]) continue;
      }
      for (PetscInt z = from[2]; z < to[2]; ++z) {
        for (PetscInt y = from[1]; y < to[1]; ++y) {
          for (PetscInt x = from[0]; x < to[0]; ++x) {
            const PetscInt i = x + line * y + plane * z - G->shift;

            if (i < 0 || i >= G->n) continue;
            if (d < 0) sum += LEVEL_NAME(PolderLevelGridOwn)(G, i, r);
            else if (G->w[i] != POLDER_LEVELGRID_APART) sum += (LEVEL_VALUE)PolderLevelGridUnpack(G->w[i], d) * r[i];
          }
        }
      }
    }
  }
  return sum;
}

/* Row i of P xc */
POLDER_LEVELROW LEVEL_VALUE LEVEL_NAME(PolderLevelGridInterpolate)(const PolderLevelGrid *G, PetscInt i, const PetscInt at[3], const LEVEL_VALUE xc[])
{
  const unsigned    word = G->w[i];
  const PetscInt    box  = PolderLevelGridBox(G, at);
  const LEVEL_VALUE own  = xc[box];
  LEVEL_VALUE       sum  = own;

  if (word == POLDER_LEVELGRID_APART) return 0;
  for (int d = 0; d < 3; ++d) {
    const LEVEL_VALUE w = (LEVEL_VALUE)PolderLevelGridUnpack(word, d);

    if (w > 0) sum += w * (xc[box + PolderLevelGridFace(at, d) * PolderLevelGridStride(G->csize, d)] - own);
  }
  return sum;
}
