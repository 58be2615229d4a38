/* star.cu in plain C */
#include "emulated.h"
#include "kernels/star.h"

PolderEmulate(PolderStarRows,
              (const PolderStarGrid *G, PetscInt first, PolderRows A, PolderRows ghosts, const PetscInt garray[], const PolderStarParts *P, PetscInt count[],
               PolderStream stream),
              G, first, A, ghosts, garray, P, count);
PolderEmulate(PolderStarPattern, (const PolderStarGrid *G, PetscInt first, PetscInt n, PetscInt ptr[], PetscInt col[], PolderStream stream), G, first, n, ptr,
              col);
PolderEmulate(PolderStarValues,
              (const PolderStarGrid *G, PetscInt first, PetscInt n, const PolderStarParts *P, PetscInt nthere, const PetscInt there[],
               const PetscScalar beyond[], const PetscInt ptr[], PetscScalar val[], PolderStream stream),
              G, first, n, P, nthere, there, beyond, ptr, val);
PolderEmulate(PolderStarEdges, (const PolderPlanes *at, int d, const PetscReal half[], PetscScalar edge[], PolderStream stream), at, d, half, edge);
PolderEmulate(PolderStarAcross,
              (const PolderPlanes *at, const PolderStarGrid *own, const PetscScalar edge[], const PetscScalar beyond[], const PetscInt ptr[],
               PetscScalar outer[], PetscScalar val[], PolderStream stream),
              at, own, edge, beyond, ptr, outer, val);
PolderEmulate(PolderStarStep, (PetscInt n, PetscReal damping, const PetscReal diagonal[], PetscScalar d[], PolderStream stream), n, damping, diagonal, d);
PolderEmulate(PolderStarAdd, (PetscInt n, const PetscScalar d[], const PetscScalar r[], PetscScalar z[], PolderStream stream), n, d, r, z);
