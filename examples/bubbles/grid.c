/* The grid of bubbles.c, and what is where in it */
#include "bubbles.h"

PetscErrorCode ProblemCreateGrid(Problem *p)
{
  PetscReal hmin = PETSC_MAX_REAL;

  PetscFunctionBegin;
  if (p->numbering == NUMBER_DMDA) {
    const DMDAStencilType st = p->disc == DISC_FV ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX;
    DMBoundaryType        b[3];

    for (int d = 0; d < 3; ++d) b[d] = p->bc[2 * d] == BC_PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    if (p->dim == 2) PetscCall(DMDACreate2d(PETSC_COMM_WORLD, b[0], b[1], st, p->n[0], p->n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &p->dm));
    else
      PetscCall(DMDACreate3d(PETSC_COMM_WORLD, b[0], b[1], b[2], st, p->n[0], p->n[1], p->n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL,
                             NULL, &p->dm));
    PetscCall(DMSetFromOptions(p->dm));
    PetscCall(DMSetUp(p->dm));
    PetscCall(DMDAGetInfo(p->dm, NULL, &p->n[0], &p->n[1], &p->n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    PetscCall(DMDAGetCorners(p->dm, &p->s[0], &p->s[1], &p->s[2], &p->m[0], &p->m[1], &p->m[2]));
    p->nl = p->m[0] * p->m[1] * p->m[2];
  } else {
    PetscInt N = p->n[0] * p->n[1] * p->n[2];

    p->nl = PETSC_DECIDE;
    PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &p->nl, &N));
    PetscCallMPI(MPI_Scan(&p->nl, &p->rstart, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    p->rstart -= p->nl;
  }
  for (PetscInt d = 0; d < p->dim; ++d) {
    p->ne[d] = p->n[d];
    if (p->disc == DISC_FE) {
      PetscCheck(p->bc[2 * d] != BC_PERIODIC, PETSC_COMM_WORLD, PETSC_ERR_SUP, "Periodic faces need -discretisation fv");
      for (int side = 0; side < 2; ++side) p->ne[d] += p->bc[2 * d + side] == BC_DIRICHLET ? 1 : 0;
      p->ne[d] -= 1;
      PetscCheck(p->ne[d] > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-n is too small for elements");
    }
    p->h[d] = p->length[d] / p->ne[d];
    hmin    = PetscMin(hmin, p->h[d]);
  }
  for (PetscInt d = 0; d < p->dim; ++d) p->w[d] = PetscSqr(hmin / p->h[d]);
  PetscFunctionReturn(0);
}

/* Signed distance from the nearest bubble, positive inside */
PetscReal ProblemLevelSet(const Problem *p, const PetscReal x[])
{
  PetscReal value = -PETSC_MAX_REAL;

  for (PetscInt b = 0; b < p->nb; ++b) value = PetscMax(value, p->radius[b] - PetscSqrtReal(Distance2(p, x, p->centre[b])));
  return value;
}

PetscReal ProblemCoefficient(const Problem *p, const PetscReal x[])
{
  const PetscReal share = x[p->dim - 1] / p->length[p->dim - 1];
  PetscInt        l     = 0;

  while (l < p->nlayer - 1 && share > p->top[l]) ++l;
  return p->coefficient * p->layer[l] * (ProblemLevelSet(p, x) > 0.0 ? p->contrast : 1.0);
}
