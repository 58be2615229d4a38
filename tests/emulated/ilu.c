/* ilu.cu, ilupattern.cu and ilufill.cu by their host twins */
#include "emulated.h"
#include "kernels/ilufill.h"

size_t PolderIluWork_CUDA(const PolderIlu *ilu)
{
  return PolderIluWork_Host(ilu);
}

PolderEmulate(PolderIluFactor, (const PolderIlu *ilu, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[], PolderStream stream), ilu,
              pivots, aa, val);
PolderEmulate(PolderIluRound, (const PolderIlu *ilu, const PetscScalar val[], float rounded[], PetscInt *row, PolderStream stream), ilu, val, rounded, row);
PolderEmulate(PolderIluGrowth,
              (const PolderIlu *ilu, const PolderIluPivots *pivots, PetscReal most, const PetscScalar val[], const PetscScalar x[], PolderStream stream), ilu,
              pivots, most, val, x);
PolderEmulate(PolderIluCount, (const PolderIlu *ilu, const PetscScalar val[], PetscInt entries[], PolderStream stream), ilu, val, entries);
PolderEmulate(PolderIluPack, (const PolderIlu *ilu, const PetscScalar val[], const PolderIlu *to, PetscInt col[], PetscScalar packed[], PolderStream stream),
              ilu, val, to, col, packed);
PolderEmulate(PolderIluSolve, (const PolderIlu *ilu, PetscBool single, const void *val, const PolderIluVectors *v, PolderStream stream), ilu, single, val, v);
PolderEmulate(PolderIluAdd,
              (PetscInt n, const PetscInt ptr[], const PetscInt list[], const PetscScalar weight[], const PetscScalar x[], PetscScalar z[],
               PolderStream stream),
              n, ptr, list, weight, x, z);
PolderEmulate(PolderIluInvert, (PetscInt n, const PetscInt list[], PetscInt to[], PolderStream stream), n, list, to);
PolderEmulate(PolderIluGather, (PetscInt n, const PetscInt list[], const PetscInt from[], PetscInt to[], PolderStream stream), n, list, from, to);
PolderEmulate(PolderIluLevels, (const PolderIluGraph *g, PetscInt level[], PetscInt number[], PetscInt entries[], PolderStream stream), g, level, number,
              entries);
PolderEmulate(PolderIluNumberLevels, (const PolderIluGraph *g, const PetscInt first[], PetscInt level[], PolderStream stream), g, first, level);
PolderEmulate(PolderIluWidths, (PetscInt nrow, const PetscInt entries[], const PetscInt number[], PetscInt width[], PetscInt sum[], PolderStream stream), nrow,
              entries, number, width, sum);
PolderEmulate(PolderIluPoint, (PetscInt nrow, const PetscInt entries[], const PetscInt order[], const PetscInt start[], PetscInt apart[], PolderStream stream),
              nrow, entries, order, start, apart);
PolderEmulate(PolderIluPattern,
              (const PolderIluGraph *g, const PolderIlu *ilu, const PetscInt order[], const PetscInt place[], PetscInt col[], PetscInt source[],
               PolderStream stream),
              g, ilu, order, place, col, source);
PolderEmulate(PolderIluFillCount, (const PolderIluGraph *g, PetscInt levels, PetscInt slots, PetscInt entries[], PetscInt64 all[2], PolderStream stream), g,
              levels, slots, entries, all);
PolderEmulate(PolderIluFillRows,
              (const PolderIluGraph *g, PetscInt levels, PetscInt slots, const PetscInt first[], PetscInt j[], PetscInt source[], PolderStream stream), g,
              levels, slots, first, j, source);
