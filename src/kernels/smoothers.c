/* One level of a multigrid cycle, in double and in single precision. */
#include "kernels.h"

/* Rows that are worked on together; sweeps take diagonals nearer than LEVEL_NEAR entry by entry */
#define LEVEL_ROWS  512
#define LEVEL_NEAR  8
#define LEVEL_LANES 8

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##_Host
#include "smoothers.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME

#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single_Host
#include "smoothers.h"

PetscInt PolderLevelRows_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[], PetscBool zero, PetscBool l1, PetscReal lone, PetscInt diag[], PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PolderRowKind *kind)
{
  *kind = POLDER_ROW_GOOD;
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal pivot = 0, all = 0, total = 0;
    PetscInt  at = -1;

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      const PetscReal a = PetscRealPart(aa[k]);

      if (aj[k] == i) {
        at    = k;
        pivot = a;
      }
      total += a;
      all += PetscAbsReal(a);
    }
    for (PetscInt k = bi ? bi[i] : 0; bi && k < bi[i + 1]; ++k) {
      total += PetscRealPart(ba[k]);
      all += PetscAbsScalar(ba[k]);
    }
    if (!(all <= PETSC_MAX_REAL)) *kind = POLDER_ROW_NOTFINITE;
    else if (at < 0) *kind = POLDER_ROW_NODIAGONAL;
    else if (pivot < 0) *kind = POLDER_ROW_NEGATIVE;
    else if (!zero && !(1 / pivot <= PETSC_MAX_REAL)) *kind = POLDER_ROW_ZERO;
    if (*kind != POLDER_ROW_GOOD) return i;
    diag[i] = at;
    dinv[i] = pivot > 0 ? 1 / (l1 ? all : pivot) : 0;
    if (d) d[i] = pivot;
    if (sum) sum[i] = total;
    if (mate) mate[i] = pivot > lone * (all - pivot) || !(pivot > 0) ? POLDER_PAIR_LONE : POLDER_PAIR_FREE;
  }
  return n;
}

PetscInt PolderLevelDiagonal_Host(PetscInt n, const PetscInt diag[], const PetscScalar aa[], PetscBool zero, PetscReal dinv[], PolderRowKind *kind)
{
  PetscInt bad = 0;

#pragma GCC ivdep
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal pivot = PetscRealPart(aa[diag ? diag[i] : i]), inverse = 1 / pivot;

    dinv[i] = pivot > 0 ? inverse : 0;
    bad |= zero ? !(pivot >= 0 && pivot <= PETSC_MAX_REAL) : !(pivot > 0 && pivot <= PETSC_MAX_REAL && inverse <= PETSC_MAX_REAL);
  }
  *kind = POLDER_ROW_GOOD;
  for (PetscInt i = 0; bad && i < n; ++i) {
    const PetscReal pivot = PetscRealPart(aa[diag ? diag[i] : i]);

    *kind = !(PetscAbsReal(pivot) <= PETSC_MAX_REAL) ? POLDER_ROW_NOTFINITE : pivot < 0 ? POLDER_ROW_NEGATIVE : !zero && !(1 / pivot <= PETSC_MAX_REAL) ? POLDER_ROW_ZERO : POLDER_ROW_GOOD;
    if (*kind != POLDER_ROW_GOOD) return i;
  }
  return n;
}
