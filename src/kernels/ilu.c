/* Incomplete factors of the diagonal blocks of a matrix. */
#include "ilurow.h"

static void PolderIluFactorBlock(const PolderIlu *ilu, PetscInt b, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[])
{
  const PetscInt r0 = ilu->row[b], r1 = ilu->row[b + 1], m = r1 - r0;

  pivots->zero[b] = pivots->bad[b] = m;
  for (PetscInt i = r1 - 1; i >= r0; --i) {
    pivots->sum[i]   = PolderIluFillRow(ilu, i, aa, val);
    val[ilu->nz + i] = PolderIluShifted(pivots, val[ilu->nz + i], pivots->shift[b], pivots->sum[i]);
    if (!(pivots->sum[i] <= PETSC_MAX_REAL)) pivots->bad[b] = i - r0;
  }
  for (PetscInt i = r0; i < r1; ++i) {
    const PetscScalar pivot = PolderIluEliminateRow(ilu, pivots, r0, i, val);
    const PetscBool   good  = PolderIluPivotGood(pivots, pivot, pivots->sum[i]);

    val[ilu->nz + i] = good ? 1 / pivot : 0;
    if (!good && pivots->zero[b] == m) pivots->zero[b] = i - r0;
  }
  for (PetscInt i = r0; i < r1; ++i) PolderIluScaleRow(ilu, i, val);
}

void PolderIluFactor_Host(const PolderIlu *ilu, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[])
{
  for (PetscInt b = 0; b < ilu->nblock; ++b) {
    if (pivots->todo[b]) PolderIluFactorBlock(ilu, b, pivots, aa, val);
  }
}

void PolderIluRound_Host(const PolderIlu *ilu, const PetscScalar val[], float rounded[], PetscInt *row)
{
  for (PetscInt i = 0; i < ilu->nrow; ++i) {
    if (!PolderIluRoundRow(ilu, i, val, rounded) && i < *row) *row = i;
  }
}

void PolderIluWidths_Host(const PolderIlu *ilu, const PetscScalar val[], PetscInt width[])
{
  const PetscInt slices = (ilu->nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE;

  for (int t = 0; t < 2; ++t) {
    for (PetscInt i = 0; i < ilu->nrow; ++i) {
      PetscInt *w = &width[t * slices + i / POLDER_ILU_SLICE];

      *w = PetscMax(*w, PolderIluCountRow(ilu, t, i, val));
    }
  }
}

void PolderIluPack_Host(const PolderIlu *ilu, const PetscScalar val[], const PolderIlu *to, PetscInt col[], PetscScalar packed[])
{
  for (PetscInt i = 0; i < ilu->nrow; ++i) PolderIluPackRow(ilu, i, val, to, col, packed);
}

#define ILU_VALUE      PetscScalar
#define ILU_NAME(stem) stem##Double
#include "ilusolve.h"
#undef ILU_VALUE
#undef ILU_NAME

#define ILU_VALUE      float
#define ILU_NAME(stem) stem##Single
#include "ilusolve.h"
#undef ILU_VALUE
#undef ILU_NAME

void PolderIluSolve_Host(const PolderIlu *ilu, PetscBool single, const void *val, const PolderIluVectors *v)
{
  if (single) PolderIluSolveSingle(ilu, (const float *)val, v);
  else PolderIluSolveDouble(ilu, (const PetscScalar *)val, v);
}

void PolderIluAdd_Host(PetscInt n, const PetscInt ptr[], const PetscInt list[], const PetscScalar weight[], const PetscScalar x[], PetscScalar z[])
{
  for (PetscInt e = 0; e < n; ++e) {
    PetscScalar sum = 0;

    for (PetscInt k = ptr[e]; k < ptr[e + 1]; ++k) sum += x[list[k]];
    z[e] = weight ? weight[e] * sum : sum;
  }
}
