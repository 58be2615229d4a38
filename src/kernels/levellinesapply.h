/* Restriction and interpolation along lines, with vectors of type LEVEL_VALUE; included once for each type. Entry nc of a coarse vector is of no aggregate. */

void LEVEL_NAME(PolderLevelLinesRestrictRows)(const PolderLevelLines *L, PetscInt i0, PetscInt n, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  for (PetscInt k = 0; k < n; ++k) {
    const LEVEL_VALUE part = (LEVEL_VALUE)L->weight[i0 + k] * r[k];

    bc[L->agg[i0 + k]] += r[k] - part;
    bc[L->beside[i0 + k]] += part;
  }
}

void LEVEL_NAME(PolderLevelLinesRestrict)(const PolderLevelLines *L, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  for (PetscInt a = 0; a <= L->nc; ++a) bc[a] = 0;
  LEVEL_NAME(PolderLevelLinesRestrictRows)(L, 0, L->n, r, bc);
  bc[L->nc] = 0;
}

void LEVEL_NAME(PolderLevelLinesProlongRows)(const PolderLevelLines *L, PetscInt i0, PetscInt n, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
#pragma GCC ivdep
  for (PetscInt i = i0; i < i0 + n; ++i) {
    const LEVEL_VALUE u = xc[L->agg[i]];

    x[i] += u + (LEVEL_VALUE)L->weight[i] * (xc[L->beside[i]] - u);
  }
}

void LEVEL_NAME(PolderLevelLinesProlong)(const PolderLevelLines *L, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  LEVEL_NAME(PolderLevelLinesProlongRows)(L, 0, L->n, xc, x);
}
