/* sweep.cu and rowcheck.cu by their host twins */
#include "emulated.h"
#include "kernels/rowcheck.h"
#include "kernels/sweep.h"

PolderEmulate(PolderSweepTake,
              (PetscInt n, const PetscInt source[], PetscInt split, const PetscScalar aa[], const PetscScalar ba[], PetscScalar val[], PolderStream stream), n,
              source, split, aa, ba, val);
PolderEmulate(PolderSweepFactor,
              (const PolderSweep *S, PetscInt first, PetscInt last, PetscInt eliminate, PetscReal omega, PetscInt *bad, PolderStream stream), S, first, last,
              eliminate, omega, bad);
PolderEmulate(PolderSweepForward, (const PolderSweep *S, PetscInt first, PetscInt last, const PetscScalar r[], PetscScalar x[], PolderStream stream), S, first,
              last, r, x);
PolderEmulate(PolderSweepBackward, (const PolderSweep *S, PetscInt first, PetscInt last, PetscScalar x[], PetscScalar z[], PolderStream stream), S, first,
              last, x, z);
PolderEmulate(PolderRowsCheck,
              (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[], PetscInt *bad,
               PolderStream stream),
              m, ai, aj, aa, bi, ba, bad);
