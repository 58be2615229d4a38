/* PolderRRBCG_CUDA() as a chain of the other launchers: for the emulated device, and to compare with. */
#pragma once

#include "core/device.h"
#include "kernels/cg.h"
#include "kernels/coarse.h"
#include "kernels/rrb.h"

static inline int RRBChainApply(const PolderRRBSystem *a, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream)
{
  int err = PolderRRBReducedForward_CUDA(a->single, &a->step[0], r, stream);

  if (!err && a->ngrid > 1) err = PolderRRBSmall_CUDA(a->single, RRB_SMALL_ALL, a->ngrid - 1, a->step + 1, a->n, a->ld, a->inverse, a->b, a->x, stream);
  else if (!err) err = PolderDenseMult_CUDA(a->n, a->ld, 1, a->inverse, a->b, NULL, a->x, PETSC_FALSE, stream);
  if (!err) err = PolderRRBReducedBackward_CUDA(a->single, &a->step[0], r, z, rho, work, stream);
  return err;
}

/* its: steps that the state has seen */
static inline int RRBChain(const PolderRRBSystem *a, PetscBool prepare, PetscBool first, PetscInt its, PetscInt count, PetscScalar x[], PetscScalar r[],
                           PetscScalar z[], PetscScalar p[], PetscScalar w[], PolderCGState *state, PetscBool nullspace, void *work, PolderStream stream)
{
  const PolderRRBGrid *g   = &a->step[0].g;
  const PolderCGRho    rho = {state, PETSC_FALSE};
  const PetscInt       n   = (g->nx * g->ny + 1) / 2;
  int                  err = prepare ? RRBChainApply(a, r, z, NULL, work, stream) : 0;

  if (prepare && !err) err = PolderCGRho_CUDA(n, r, z, NULL, first, NULL, state, work, stream);
  for (PetscInt k = 0; k < count && !err; ++k) {
    err = PolderCGDirection_CUDA(n, (PetscBool)(first && !k), z, NULL, p, x, state, stream);
    if (!err) err = PolderRRBReducedMult_CUDA(g, a->S, p, w, &state->pw, work, stream);
    if (!err && (its + k + 1) % POLDER_CG_MEAN == 0) err = PolderCGRemoveMean_CUDA(nullspace ? n : 0, r, state, stream);
    if (!err) err = PolderCGUpdate_CUDA(n, w, r, PETSC_FALSE, NULL, NULL, state, work, stream);
    if (!err) err = PolderCGFinish_CUDA(n, p, x, state, stream);
    if (!err) err = RRBChainApply(a, r, z, &rho, work, stream);
  }
  return err;
}
