/* One level of a multigrid cycle, in double and in single precision. */
#include "levelscalars.h"
#include "level.h"

/* Rows processed together; sweeps process diagonals nearer than LEVEL_NEAR entry by entry */
#define LEVEL_ROWS  512
#define LEVEL_NEAR  8
#define LEVEL_LANES 8

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##_Host
#define LEVEL_SUMS       0
#include "levelapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#undef LEVEL_SUMS

#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single_Host
#define LEVEL_SUMS       1
#include "levelapply.h"
