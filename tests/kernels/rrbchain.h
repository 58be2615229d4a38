/* PolderRRBCG_CUDA() as a chain of the other launchers: for the emulated device, and to compare with. */
#pragma once

#include "core/device.h"
#include "kernels/cg.h"
#include "kernels/coarse.h"
#include "kernels/rrb.h"

static inline int RRBChainApply(const PolderRRBSystem *a, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream)
{
  PolderRRBSystem below = *a;
  int             err   = PolderRRBReducedForward_CUDA(a->single, &a->step[0], r, stream);

  ++below.step;
  --below.ngrid;
  ++below.base;
  if (!err && below.ngrid) err = PolderRRBSmall_CUDA(&below, stream);
  else if (!err) err = PolderDenseMult_CUDA((PolderDense){a->n, a->ld, a->inverse}, 1, a->b, NULL, a->x, PETSC_FALSE, stream);
  if (!err) err = PolderRRBReducedBackward_CUDA(a->single, &a->step[0], r, z, rho, work, stream);
  return err;
}

/* What a chain makes; its: steps that the state has seen, first: of all */
typedef struct {
  PetscBool prepare, first, nullspace;
  PetscInt  its, count;
} RRBChainSteps;

static inline int RRBChain(const PolderRRBSystem *a, const RRBChainSteps *steps, const PolderCGVectors *v, PolderCGState *state, void *work,
                           PolderStream stream)
{
  const PolderRRBGrid    *g   = &a->step[0].g;
  const PolderCGRho       rho = {state, PETSC_FALSE};
  const PolderCGReduction to  = {.state = state, .work = work};
  const PetscInt          n   = (g->nx * g->ny + 1) / 2;
  int                     err = steps->prepare ? RRBChainApply(a, v->r, v->z, NULL, work, stream) : 0;

  if (steps->prepare && !err) err = PolderCGRho_CUDA(n, v->r, v->z, NULL, steps->first, &to, stream);
  for (PetscInt k = 0; k < steps->count && !err; ++k) {
    const PolderCGDirection d = {.n = n, .first = (PetscBool)(steps->first && !k), .z = v->z, .p = v->p, .x = v->x};

    err = PolderCGDirection_CUDA(&d, state, stream);
    if (!err) err = PolderRRBReducedMult_CUDA(g, a->S, v->p, v->w, &state->pw, work, stream);
    if (!err && (steps->its + k + 1) % POLDER_CG_MEAN == 0) err = PolderCGRemoveMean_CUDA(steps->nullspace ? n : 0, v->r, state, stream);
    if (!err) err = PolderCGUpdate_CUDA(n, v->w, v->r, PETSC_FALSE, NULL, NULL, &to, stream);
    if (!err) err = PolderCGFinish_CUDA(n, v->p, v->x, state, stream);
    if (!err) err = RRBChainApply(a, v->r, v->z, &rho, work, stream);
  }
  return err;
}
