/* The pattern of the powers of a matrix: rows that look like the row before are not computed. */
#include "power.h"

PetscErrorCode PolderPatternDestroy(PolderPattern *P)
{
  PetscFunctionBegin;
  PetscCall((*PolderOnHost.free)(&P->start));
  PetscCall((*PolderOnHost.free)(&P->column));
  PetscCall(PetscFree(P->alike));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which rows are like the row before */
static PetscErrorCode PolderPatternAlike_Private(const PolderCSR *A, char **alike)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->m, alike));
  for (PetscInt i = 0, next; i < A->m; i = next) {
    next        = PolderCSRNextUnlike(A->ai, A->aj, i, A->m);
    (*alike)[i] = 0;
    for (PetscInt r = i + 1; r < next; ++r) (*alike)[r] = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of a product while they are found */
typedef struct {
  const PolderCSR *A;
  const PetscInt  *pi, *pj; /* of P */
  const char      *alike, *palike;
  PetscBool        lower;
  PetscInt        *mark; /* [rows] the last row that has had the column */
  PetscInt        *column, n, size;
} PolderProduct;

/* Is row i of the product the row before, moved by one? */
static inline PetscBool PolderProductAlike(const PolderProduct *x, PetscInt i)
{
  int all = x->alike[i];

  for (PetscInt k = x->A->ai[i]; k < x->A->ai[i + 1]; ++k) all &= x->palike[x->A->aj[k]];
  return (PetscBool)all;
}

/* Appends row i */
static PetscErrorCode PolderProductRow_Private(PolderProduct *x, PetscInt i, PetscInt begin)
{
  PetscFunctionBegin;
  for (PetscInt k = x->A->ai[i]; k < x->A->ai[i + 1]; ++k) {
    const PetscInt j = x->A->aj[k];

    for (PetscInt l = x->pi[j]; l < x->pi[j + 1]; ++l) {
      const PetscInt c = x->pj[l];

      if (x->mark[c] == i || (x->lower && c > i)) continue;
      x->mark[c]        = i;
      x->column[x->n++] = c;
    }
  }
  PetscCall(PetscSortInt(x->n - begin, x->column + begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for row i */
static PetscErrorCode PolderProductRoom_Private(PolderProduct *x, PetscInt i)
{
  PetscInt64 most = 0;

  PetscFunctionBegin;
  for (PetscInt k = x->A->ai[i]; k < x->A->ai[i + 1]; ++k) most += x->pi[x->A->aj[k] + 1] - x->pi[x->A->aj[k]];
  most = x->n + PetscMin(most, x->A->m);
  PetscCheck(most <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The power of the matrix has too many entries for PetscInt");
  if (most > x->size) {
    x->size = (PetscInt)PetscMin(most + most / 2, PETSC_MAX_INT);
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)x->size, &x->column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderProductRows_Private(PolderProduct *x, PolderPattern *C)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < C->n; ++i) {
    const PetscInt begin = x->n;

    C->start[i] = begin;
    C->alike[i] = (char)PolderProductAlike(x, i);
    PetscCall(PolderProductRoom_Private(x, i));
    if (!C->alike[i]) PetscCall(PolderProductRow_Private(x, i, begin));
    else {
      const PetscInt length = begin - C->start[i - 1];

      for (PetscInt k = begin; k < begin + length; ++k) x->column[k] = x->column[k - length] + 1;
      x->n += length;
    }
  }
  C->start[C->n] = x->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPatternProduct(const PolderCSR *A, const PolderPattern *P, PetscBool lower, PolderPattern *C)
{
  PolderProduct x = {.A = A, .pi = P ? P->start : A->ai, .pj = P ? P->column : A->aj, .lower = lower};
  char         *alike;

  PetscFunctionBegin;
  *C = (PolderPattern){.n = A->m};
  PetscCall(PolderPatternAlike_Private(A, &alike));
  x.alike  = alike;
  x.palike = P ? P->alike : alike;
  PetscCall(PolderPlaceMalloc(&PolderOnHost, A->m + 1, &C->start));
  PetscCall(PetscMalloc1(A->m, &C->alike));
  PetscCall(PetscMalloc1(A->m, &x.mark));
  for (PetscInt i = 0; i < A->m; ++i) x.mark[i] = -1;
  PetscCall(PolderProductRows_Private(&x, C));
  C->column = x.column;
  PetscCall(PetscFree(x.mark));
  PetscCall(PetscFree(alike));
  PetscFunctionReturn(PETSC_SUCCESS);
}
