/* cgonce.cu in plain C */
#include "emulated.h"
#include "kernels/cgonce.h"

int PolderCGOnceSums_CUDA(const PolderCGOnce *a, PolderCGState *s, void *work, PolderStream stream)
{
  const PolderCGOnce all = {.n = a->n, .r = a->r, .z = a->z ? a->z : a->r, .v = a->r};
  PetscScalar        sum[POLDER_ONCE_SUMS];

  if (s->frozen) return 0;
  PolderCGOnceSums_Host(&all, sum);
  for (int k = 0; k < POLDER_ONCE_ZV; ++k) s->sum[k] = sum[k];
  return 0;
}

int PolderCGOnceStep_CUDA(const PolderCGOnce *a, PetscBool first, PetscBool summed, PolderCGState *s, void *work, PolderStream stream)
{
  if (s->frozen) return 0;
  PolderCGOnceStep_Host(a, first, s);
  return summed ? PolderCGOnceSums_CUDA(a, s, work, stream) : 0;
}

int PolderCGOnceAdvance_CUDA(const PolderPeersView *peers, PetscBool first, PetscBool told, PolderCGState *s, PolderStream stream)
{
  if (s->frozen) return 0;
  if (peers) PolderPeersSum_Host(peers, POLDER_ONCE_DEVICE, s->sum);
  PolderCGOnceAdvance(s, first, told);
  return 0;
}
