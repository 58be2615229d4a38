/* Triangular sweeps of the truncated Neumann series, in double precision and with the matrix in single precision. */
#include "tns.h"

/* Entries of a block of rows: a block stays in the second-level cache while all sweeps process it */
#define POLDER_TRI_ENTRIES 28672
#define POLDER_TRI_DIAROWS 2048

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
