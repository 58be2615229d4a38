/*
  Pairwise-aggregation multigrid: stars of wider stencils on several devices, each of which has whole planes of the grid, or whole lines of a plane. A star then
  has one entry straight across the border for each point there.
*/
#include "pamgsetup.h"
#include "kernels/starrow.h"
#include <petsc/private/pcimpl.h>

/* The direction along which planes are on processes */
static int PamgStarAlong(const PolderStarGrid *G)
{
  return G->n[2] > 1 ? 2 : 1;
}

static PetscInt PamgStarPlane(const PolderStarGrid *G)
{
  return PamgStarAlong(G) == 2 ? G->n[0] * G->n[1] : G->n[0];
}

PolderStarGrid PamgStarOwn(const PolderStarGrid *G, PetscInt n)
{
  PolderStarGrid own = *G;

  own.n[PamgStarAlong(G)] = n / PamgStarPlane(G);
  return own;
}

PetscErrorCode PCPAMGStarHasPlanes(PC pc, const PolderCSR *csr, const PolderStarGrid *G, PetscBool *has)
{
  const PetscInt plane = PamgStarPlane(G);
  PetscMPIInt    all   = csr->rstart % plane == 0 && csr->m % plane == 0 && csr->m >= 2 * plane;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  *has = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGStarCreatePlanes(PC pc, const PolderCSR *csr, const PolderStarGrid *G)
{
  PamgStar      *star  = &((PC_PAMG *)pc->data)->star;
  const PetscInt plane = PamgStarPlane(G), below = csr->rstart ? plane : 0, above = csr->rstart + csr->m < csr->M ? plane : 0;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  star->given.at = (PolderPlanes){csr->m, below, above};
  PetscCall(PolderDeviceMalloc(sizeof(*star->outer) * (size_t)(below + above), &star->outer));
  PetscCall(PolderHaloCreatePlanes(PetscObjectComm((PetscObject)pc), csr->m, csr->rstart, plane, (PetscMPIInt[]){below ? rank - 1 : -1, above ? rank + 1 : -1},
                                   &star->given.halo)); // all processes have rows
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGStarSetPlanes(PamgStar *star, const PolderStarGrid *own, const PetscReal half[])
{
  const PolderPlanes *at = &star->given.at;
  PetscScalar        *edge, *beyond;

  PetscFunctionBegin;
  if (!star->given.halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceMalloc(star->place, at->n, &edge));
  PetscCall(PolderPlaceMalloc(star->place, at->below + at->above, &beyond));
  PolderRun(star->place, PolderStarEdges, at, PamgStarAlong(own), half, edge);
  PetscCall(PolderHaloExchangeAt(star->given.halo, star->place, MPIU_SCALAR, edge, beyond));
  PolderRun(star->place, PolderStarAcross, at, own, edge, beyond, star->ptr, star->outer, star->val);
  PetscCall((*star->place->free)(&edge));
  PetscCall((*star->place->free)(&beyond));
  PetscFunctionReturn(PETSC_SUCCESS);
}
