/* Triangular sweeps of the truncated Neumann series, in double precision and with the matrix in single precision. */
#include "tns.h"

/* Entries of a block of rows: a block stays in the second-level cache while all sweeps process it */
#define POLDER_TRI_ENTRIES 28672
#define POLDER_TRI_DIAROWS 2048

#define TRI_VALUE      PetscScalar
#define TRI_NAME(name) name##_Host
#include "trisweeps.h"
#undef TRI_VALUE
#undef TRI_NAME

#define TRI_VALUE      float
#define TRI_NAME(name) name##Single_Host
#include "trisweeps.h"
