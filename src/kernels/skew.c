/* The parts of a matrix that is not symmetric, on the host. */
#include "skewrow.h"

void PolderSymmetricPart_Host(const PolderRows *A, const PetscReal sum[], PetscScalar s[], PetscReal mean[], PetscInt *missing)
{
  for (PetscInt i = 0; i < A->n; ++i) *missing += (PetscInt)PolderSymmetricPartRow(i, A, sum, s, mean);
}

void PolderSoften_Host(const PolderRows *A, PetscReal factor, const PetscScalar soft[], PetscScalar c[])
{
  for (PetscInt i = 0; i < A->n; ++i) PolderSoftenRow(i, A, factor, soft, c);
}

void PolderSkewRows_Host(const PolderRows *A, PetscInt step, PetscInt count[])
{
  for (PetscInt i = 0; i < A->n; i += step) {
    const PetscInt bits = (PetscInt)PolderSkewRow(i, A);

    count[0] += bits & 1;
    count[1] += bits >> 1;
  }
}

/* ptr[] and row[] <- the rows of the entries of each column, ascending */
static void RowsOfColumns(const PolderRows *A, PetscInt ptr[], PetscInt row[])
{
  for (PetscInt j = 0; j <= A->n; ++j) ptr[j] = 0;
  for (PetscInt k = 0; k < A->i[A->n]; ++k) ++ptr[A->j[k] + 1];
  for (PetscInt j = 0; j < A->n; ++j) ptr[j + 1] += ptr[j];
  for (PetscInt i = 0; i < A->n; ++i) {
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) row[ptr[A->j[k]]++] = i;
  }
  for (PetscInt j = A->n; j > 0; --j) ptr[j] = ptr[j - 1];
  ptr[0] = 0;
}

void PolderSymmetricPattern_Host(const PolderRows *A, PetscInt work[], PolderSparseRows *C)
{
  PetscInt *ptr = work, *row = work + A->n + 1, n = 0;

  RowsOfColumns(A, ptr, row);
  C->ptr[0] = 0;
  for (PetscInt i = 0; i < A->n; ++i) {
    PetscInt k = A->i[i], t = ptr[i];

    while (k < A->i[i + 1] || t < ptr[i + 1]) {
      const PetscBool own  = (PetscBool)(t >= ptr[i + 1] || (k < A->i[i + 1] && A->j[k] <= row[t])),
                      both = (PetscBool)(own && t < ptr[i + 1] && A->j[k] == row[t]);

      C->col[n] = own ? A->j[k] : row[t];
      C->val[n] = own ? A->a[k] : 0;
      k += own;
      t += both || !own;
      ++n;
    }
    C->ptr[i + 1] = n;
  }
  C->nz = n;
}
