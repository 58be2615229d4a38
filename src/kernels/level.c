/* One level of a multigrid cycle, in double and in single precision, and in single precision with entries in bfloat16. */
#include "levelscalars.h"
#include "level.h"
#include "bfloat.h"

/* Rows processed together; sweeps process diagonals nearer than LEVEL_NEAR entry by entry */
#define LEVEL_ROWS  512
#define LEVEL_NEAR  8
#define LEVEL_LANES 8

#define LEVEL_VALUE      PetscScalar
#define LEVEL_ENTRY      PetscScalar
#define LEVEL_GET(entry) (entry)
#define LEVEL_NAME(name) name##_Host
#define LEVEL_SUMS       0
#include "levelapply.h"
#include "levelvectors.h"
#undef LEVEL_VALUE
#undef LEVEL_ENTRY
#undef LEVEL_NAME
#undef LEVEL_SUMS

#define LEVEL_VALUE      float
#define LEVEL_ENTRY      float
#define LEVEL_NAME(name) name##Single_Host
#define LEVEL_SUMS       1
#include "levelapply.h"
#include "levelvectors.h"
#undef LEVEL_ENTRY
#undef LEVEL_GET
#undef LEVEL_NAME

#define LEVEL_ENTRY      PolderBfloat
#define LEVEL_GET(entry) PolderBfloatGet(entry)
#define LEVEL_NAME(name) name##Half_Host
#include "levelapply.h"

void PolderLevelPivotsHalf_Host(const PolderLevelMatrix *A, const PetscInt bi[], const PetscScalar ba[], float dinv[])
{
  for (PetscInt i = 0; i < A->n; ++i) {
    PetscReal pivot = 0;

    for (PetscInt d = 0; d < A->nd; ++d) {
      const PetscInt j = i + A->off[d];

      if (j >= 0 && j < A->n) pivot += (j == i ? 1 : -1) * (PetscReal)PolderBfloatGet(((const PolderBfloat *)A->val[d])[i]);
    }
    for (PetscInt k = A->nd ? 0 : A->ai[i]; !A->nd && k < A->ai[i + 1]; ++k)
      pivot += (A->aj[k] == i ? 1 : -1) * (PetscReal)PolderBfloatGet(((const PolderBfloat *)A->aa)[k]);
    for (PetscInt k = bi ? bi[i] : 0; bi && k < bi[i + 1]; ++k) pivot -= PetscRealPart(ba[k]);
    if (dinv[i] > 0 && pivot > 0) dinv[i] = (float)(1 / pivot);
  }
}
