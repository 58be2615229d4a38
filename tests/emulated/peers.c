/* Exchanges between emulated devices: the host twins, in shared memory. */
#include "emulated.h"
#include "kernels/peers.h"

PolderEmulate(PolderPeersSum, (const PolderPeersView *peers, PetscInt n, PetscScalar value[], PolderStream stream), peers, n, value);
PolderEmulate(PolderExchangeSend, (const PolderExchange *e, int bytes, const void *x, PolderStream stream), e, bytes, x);
PolderEmulate(PolderExchangeStore, (const PolderExchange *e, int bytes, const void *x, PolderStream stream), e, bytes, x);
PolderEmulate(PolderExchangeReceive, (const PolderExchange *e, int bytes, void *y, PolderStream stream), e, bytes, y);
PolderEmulate(PolderExchangeAdd, (const PolderExchange *e, int k, PetscScalar y[], PolderStream stream), e, k, y);
PolderEmulate(PolderExchangeMultAdd,
              (const PolderExchange *e, const PolderGhostRows *rows, const PolderPeersView *peers, const PetscScalar p[], PetscScalar z[], PetscScalar *dot,
               void *work, PolderStream stream),
              e, rows, peers, p, z, dot);
PolderEmulate(PolderGatherSend, (const PolderGather *g, const PetscScalar own[], PolderStream stream), g, own);
PolderEmulate(PolderGatherReceive, (const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream), g, own, all);
PolderEmulate(PolderGatherCells, (const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream), g, own, all);
PolderEmulate(PolderGatherPut, (const PolderGather *g, const PetscScalar own[], PetscScalar all[], PolderStream stream), g, own, all);
PolderEmulate(PolderGatherTake, (const PolderGather *g, const PetscScalar all[], PetscScalar own[], PolderStream stream), g, all, own);
