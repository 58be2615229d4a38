/* Row bodies for the survey of the rows of a level, which host and device share. */
#pragma once

#include "pairrow.h"

/* POLDER_UNROLL stands before a loop over directions, whose arrays are then registers */
#if defined(__CUDACC__)
  #if defined(__CUDA_ARCH__)
    #define POLDER_UNROLL _Pragma("unroll")
  #else
    #define POLDER_UNROLL
  #endif
#else
  #define POLDER_UNROLL _Pragma("GCC unroll 8")
#endif

/* A diagonal entry that cancels to this fraction of its summands is zero: the aggregate is a connected component with zero row sums */
#define POLDER_GALERKIN_ZERO (1e3 * PETSC_MACHINE_EPSILON)

/* What is wrong with a row */
typedef enum {
  POLDER_ROW_GOOD,
  POLDER_ROW_NODIAGONAL,
  POLDER_ROW_ZERO,
  POLDER_ROW_NEGATIVE,
  POLDER_ROW_NOTFINITE
} PolderRowKind;

/* A row and what is wrong with it in one number, the smallest of which is that of the first bad row; POLDER_ROWS_GOOD: no row is bad */
#define POLDER_ROWS_GOOD INT64_MAX

POLDER_BODY PetscInt64 PolderRowBad(PetscInt i, PolderRowKind kind)
{
  return kind == POLDER_ROW_GOOD ? POLDER_ROWS_GOOD : 8 * (PetscInt64)i + kind;
}

POLDER_BODY PetscInt PolderRowOfBad(PetscInt64 bad)
{
  return (PetscInt)(bad / 8);
}

POLDER_BODY PolderRowKind PolderKindOfBad(PetscInt64 bad)
{
  return bad == POLDER_ROWS_GOOD ? POLDER_ROW_GOOD : (PolderRowKind)(bad % 8);
}

typedef struct {
  PetscReal pivot, all, total; /* diagonal entry, sum of magnitudes, sum of entries */
  PetscInt  at;                /* position of the diagonal entry, -1 until found */
} PolderRowSurvey;

/* Adds entry k of the row, in column j */
POLDER_BODY void PolderRowLook(PetscInt i, PetscInt k, PetscInt j, PetscReal a, PolderRowSurvey *s)
{
  if (j == i) {
    s->at    = k;
    s->pivot = a;
  }
  s->total += a;
  s->all += a < 0 ? -a : a;
}

/* Adds the entries of row i of A */
POLDER_BODY void PolderRowLookAll(PetscInt i, const PolderRows *A, PolderRowSurvey *s)
{
  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) PolderRowLook(i, k, A->j[k], PetscRealPart(A->a[k]), s);
}

/* Row i of A with its entries of off-process columns in B (NULL, or B->i = NULL: none) */
POLDER_BODY PolderRowSurvey PolderRowSurveyOf(PetscInt i, const PolderRows *A, const PolderRows *B)
{
  PolderRowSurvey s = {0, 0, 0, -1};

  PolderRowLookAll(i, A, &s);
  for (PetscInt k = B && B->i ? B->i[i] : 0; B && B->i && k < B->i[i + 1]; ++k) PolderRowLook(i, k, -1, PetscRealPart(B->a[k]), &s);
  return s;
}

/* Sum of a row; *at: the position of its diagonal entry, -1 for none */
POLDER_BODY PetscReal PolderRowTotal(PetscInt i, const PolderRows *A, PetscInt *at)
{
  const PolderRowSurvey s = PolderRowSurveyOf(i, A, NULL);

  *at = s.at;
  return s.total;
}

/* Can the diagonal entry be used? zero: a zero diagonal can */
POLDER_BODY PolderRowKind PolderPivotJudge(PetscReal pivot, PetscBool zero)
{
  if (!(pivot <= PETSC_MAX_REAL && pivot >= -PETSC_MAX_REAL)) return POLDER_ROW_NOTFINITE;
  if (pivot < 0) return POLDER_ROW_NEGATIVE;
  return !zero && !(1 / pivot <= PETSC_MAX_REAL) ? POLDER_ROW_ZERO : POLDER_ROW_GOOD;
}

POLDER_BODY PolderRowKind PolderRowJudge(const PolderRowSurvey *s, PetscBool zero)
{
  if (!(s->all <= PETSC_MAX_REAL)) return POLDER_ROW_NOTFINITE;
  return s->at < 0 ? POLDER_ROW_NODIAGONAL : PolderPivotJudge(s->pivot, zero);
}

/* Inverse of the diagonal entry or, with l1, of the sum of magnitudes; 0 where the diagonal is zero */
POLDER_BODY PetscReal PolderRowInverse(const PolderRowSurvey *s, PetscBool l1)
{
  return s->pivot > 0 ? 1 / (l1 ? s->all : s->pivot) : 0;
}

/* Gershgorin's bound for the eigenvalues of D^-1 A from one row */
POLDER_BODY PetscReal PolderRowBound(const PolderRowSurvey *s)
{
  return s->pivot > 0 ? s->all / s->pivot : 0;
}

/* Is the diagonal so large that the row needs no aggregate? */
POLDER_BODY PetscBool PolderRowIsLone(const PolderRowSurvey *s, PetscReal lone)
{
  return (PetscBool)(s->pivot > lone * (s->all - s->pivot) || !(s->pivot > 0));
}

/* What a survey of the rows of a level looks for, and the arrays [n] that it fills; NULL: not wanted */
typedef struct {
  PetscBool  zero; /* a row with zero diagonal can be used, and gets 0 in dinv[] */
  PetscBool  l1;   /* dinv[] is the inverse of the sum of magnitudes, not of the diagonal */
  PetscReal  lone; /* mate[i] <- POLDER_PAIR_LONE where the diagonal exceeds this times the sum of the other magnitudes, else POLDER_PAIR_FREE */
  PetscInt  *diag; /* position of the diagonal entry */
  PetscReal *dinv, *d, *sum, *all; /* dinv is wanted always; the diagonal, sums of the entries and of their magnitudes */
  PetscInt  *mate;
} PolderLevelSurvey;

/* Stores what is wanted of row i */
POLDER_BODY void PolderRowStore(PetscInt i, const PolderRowSurvey *s, const PolderLevelSurvey *to)
{
  to->dinv[i] = PolderRowInverse(s, to->l1);
  if (to->diag) to->diag[i] = s->at;
  if (to->d) to->d[i] = s->pivot;
  if (to->sum) to->sum[i] = s->total;
  if (to->all) to->all[i] = s->all;
  if (to->mate) to->mate[i] = PolderRowIsLone(s, to->lone) ? POLDER_PAIR_LONE : POLDER_PAIR_FREE;
}

/* The ratio of dinv of row i and the next one of its line, at least 1; 0: a row is the last of its line, has no positive dinv, or has no agg[] < nc */
POLDER_BODY float PolderNeighbourRatio(PetscInt n, PetscInt line, const float dinv[], const PetscInt agg[], PetscInt nc, PetscInt i)
{
  const PetscInt j = i + 1;

  if (j >= n || j % line == 0 || agg[i] >= nc || agg[j] >= nc || !(dinv[i] > 0 && dinv[j] > 0)) return 0;
  return dinv[i] > dinv[j] ? dinv[i] / dinv[j] : dinv[j] / dinv[i];
}
