/* Interpolation across the border of a process with vectors of type LEVEL_VALUE; included once for each type. Host and device share what a box gives. */

/* Box p of a plane: what the cells in its plane give to the box beyond the border */
POLDER_BODY void LEVEL_NAME(BorderGive)(const PolderLevelGrid *G, const PolderLevelBorder *B, PetscInt p, const LEVEL_VALUE r[], LEVEL_VALUE give[])
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

#if !defined(__CUDACC__)
void LEVEL_HOST(PolderLevelBorderGive)(const PolderLevelGrid *G, const PolderLevelBorder *B, const LEVEL_VALUE r[], LEVEL_VALUE give[])
{
  for (PetscInt p = 0; p < B->cplane; ++p) LEVEL_NAME(BorderGive)(G, B, p, r, give);
}

void LEVEL_HOST(PolderLevelBorderGet)(const PolderLevelGrid *G, const PolderLevelBorder *B, const LEVEL_VALUE give[], const PolderGhosts *got, LEVEL_VALUE bc[])
{
  const uint64_t number = PolderGhostsBegin_Host(got);

  for (int s = 0; s < 2; ++s) {
    for (PetscInt p = 0; B->side[s] && p < B->cplane; ++p)
      bc[PolderLevelBorderOwn(G, B, s, p)] += LEVEL_HOST(PolderGhost)(got, number, PolderLevelBorderGhost(B, s, p)) - give[s * B->cplane + p];
  }
}

void LEVEL_HOST(PolderLevelBorderTake)(const PolderLevelGrid *G, const PolderLevelBorder *B, const LEVEL_VALUE xc[], const PolderLevelBeyond *beyond,
                                       LEVEL_VALUE x[])
{
  const uint64_t number = PolderGhostsBegin_Host(&beyond->ghosts);

  for (int s = 0; s < 2; ++s) {
    for (PetscInt k = 0; k < B->plane; ++k) {
      PetscInt          i, box;
      const LEVEL_VALUE w = (LEVEL_VALUE)PolderLevelBorderFaced(G, B, s, k, &i, &box);

      if (w > 0) x[i] += w * (LEVEL_HOST(PolderGhost)(&beyond->ghosts, number, beyond->first[s] + box - PolderLevelBorderOwn(G, B, s, 0)) - xc[box]);
    }
  }
}
#endif
