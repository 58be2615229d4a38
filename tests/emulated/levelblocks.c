/* levelblocks.cu by its host twins */
#include "emulated.h"
#include "kernels/levelblocksrow.h"

int PolderBlockCorrect_CUDA(PetscBool single, const PolderRows *A, const PolderLevelBlocks *B, PetscInt c, const void *b, void *x, PolderStream stream)
{
  if (single) PolderBlockCorrectSingle_Host(A, B, c, (const float *)b, (float *)x);
  else PolderBlockCorrect_Host(A, B, c, (const PetscScalar *)b, (PetscScalar *)x);
  return 0;
}

int PolderBlockCount_CUDA(const PolderRows *A, const PetscReal d[], PetscReal theta, PetscInt ptr[], PetscInt *positive, PolderStream stream)
{
  for (PetscInt i = 0; i < A->n; ++i) ptr[i + 1] = PolderBlockCountRow(i, A, d, theta, positive);
  return 0;
}

int PolderBlockFill_CUDA(const PolderRows *A, const PetscReal d[], PetscReal theta, const PetscInt ptr[], PetscInt pair[], PetscReal strength[],
                         PolderStream stream)
{
  for (PetscInt i = 0; i < A->n; ++i) PolderBlockFillRow(i, A, d, theta, ptr[i], pair, strength);
  return 0;
}

PolderEmulate(PolderRowsLength, (const PolderRows *A, const PolderSparseRows *C, PolderStream stream), A, C);
PolderEmulate(PolderRowsTake, (const PolderRows *A, const PolderSparseRows *C, PolderStream stream), A, C);

PolderEmulate(PolderBlockSeed, (PetscInt count, const PetscInt pair[], PetscInt mark[], PolderStream stream), count, pair, mark);
PolderEmulate(PolderBlockSpread, (PetscInt count, const PetscInt pair[], PetscInt mark[], PetscInt *more, PolderStream stream), count, pair, mark, more);
PolderEmulate(PolderBlockKeep, (PetscInt count, const PetscInt pair[], const PetscInt mark[], PetscInt keep[], PolderStream stream), count, pair, mark, keep);
PolderEmulate(PolderBlockTake,
              (PetscInt count, const PetscInt pair[], const PetscReal strength[], const PetscInt number[], const PetscInt keep[], PetscInt kept[],
               PetscReal keptstrength[], PolderStream stream),
              count, pair, strength, number, keep, kept, keptstrength);
PolderEmulate(PolderBlockMarked, (PetscInt n, const PetscInt number[], PetscInt row[], PolderStream stream), n, number, row);
