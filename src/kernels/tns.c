/* Triangular sweeps of the truncated Neumann series, in double precision and with the matrix in single precision. */
#include "tns.h"

/* Vectors as long as a cache line do not pay in short blocks, since each shifted load then touches two lines */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
  #pragma GCC target("prefer-vector-width=256")
#endif

/* Entries of a block of rows: a block stays in the second-level cache while all sweeps process it */
#define POLDER_TRI_ENTRIES 28672
#define POLDER_TRI_DIAROWS 2048

/* Rows of a block for the triangle of a 5- or 7-point stencil: with so few the processor prefetches all arrays as streams, backwards two lines at a time */
#define POLDER_TRI_LOWROWS 32
#define POLDER_TRI_UPROWS  16

/* Partial sums, since the compiler may not reorder a sum to vectorise it */
#define TRI_LANES 8

static inline PetscInt TriDiaRows(const PolderTriangle *T)
{
  if (T->nd < 2 || T->nd > 3) return POLDER_TRI_DIAROWS;
  return T->upper ? POLDER_TRI_UPROWS : POLDER_TRI_LOWROWS;
}

static inline PetscReal TriLanesSum(const PetscReal s[TRI_LANES])
{
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/* A step on n rows from row i0 on; row i adds its p to sum[i % TRI_LANES] */
static inline void TriDirection(PetscInt i0, PetscInt n, const PetscScalar *restrict z, const PolderTriStep *step, PetscScalar *restrict sum)
{
  const PetscScalar alpha = step->alpha, beta = step->beta, mean = step->mean;
  PetscScalar *restrict p = step->p + i0, *restrict x = step->x + i0;

  for (PetscInt i = 0; i < n; i += TRI_LANES) {
    const int lanes = n - i < TRI_LANES ? (int)(n - i) : TRI_LANES;

    for (int l = 0; l < lanes; ++l) {
      x[i + l] += alpha * p[i + l];
      p[i + l] = z[i + l] + beta * (p[i + l] - mean);
      sum[l] += p[i + l];
    }
  }
}

#define TRI_VALUE      PetscScalar
#define TRI_NAME(name) name##Double
#include "trisweeps.h"
#undef TRI_VALUE
#undef TRI_NAME

#define TRI_VALUE      float
#define TRI_NAME(name) name##Single
#include "trisweeps.h"

void PolderTriSweepsCSR_Host(const PolderTriangle *T, PetscInt q, const PetscScalar r[], PetscScalar *const y[])
{
  if (T->single) TriSweepsCSRSingle(T, q, r, y);
  else TriSweepsCSRDouble(T, q, r, y);
}

void PolderTriSweepsDIA_Host(const PolderTriangle *T, PetscInt q, const PetscScalar r[], PetscScalar *const y[])
{
  if (T->single) TriSweepsDIASingle(T, q, r, y);
  else TriSweepsDIADouble(T, q, r, y);
}

void PolderTriRowsCSR_Host(const PolderTriangle *T, PolderRowList rows, const PetscScalar aa[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[])
{
  if (T->single) TriRowsCSRSingle(T, rows, aa, c, x, y);
  else TriRowsCSRDouble(T, rows, aa, c, x, y);
}

void PolderTriGhostRows_Host(const PolderTriangle *T, PolderRowList rows, PetscInt nlow, PolderRows B, const PetscScalar ghost[], PetscScalar y[])
{
  if (T->single) TriGhostRowsSingle(T, rows, nlow, B, ghost, y);
  else TriGhostRowsDouble(T, rows, nlow, B, ghost, y);
}

void PolderTriForwardDIA_Host(const PolderTriangle *T, PetscInt q, PetscScalar alpha, const PetscScalar w[], PetscScalar r[], PetscScalar *const y[],
                              PetscReal sum[2])
{
  if (T->single) TriForwardDIASingle(T, q, alpha, w, r, y, sum);
  else TriForwardDIADouble(T, q, alpha, w, r, y, sum);
}

PetscScalar PolderTriDirectionDIA_Host(const PolderTriangle *T, PetscInt q, PetscScalar *const y[], PolderTriStep step)
{
  return T->single ? TriDirectionDIASingle(T, q, y, &step) : TriDirectionDIADouble(T, q, y, &step);
}
