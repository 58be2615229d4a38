/* The grid of navierstokes.c, and which of its cells the fluid reaches */
#include "navierstokes.h"

/* Faces closer together at the walls: x = (1 + tanh(s (2 t - 1)) / tanh s) / 2 for equal steps of t; along a channel equal widths */
PetscErrorCode FlowCreateGrid(Flow *f)
{
  PetscInt gm[3];

  PetscFunctionBegin;
  for (int d = 0; d < 3; ++d) {
    const PetscInt  n = f->n[d];
    const PetscReal s = (f->type == FLOW_CHANNEL && d == 0) || n == 1 ? 0.0 : f->stretch;

    PetscCall(PetscMalloc2(n + 1, &f->face[d], n + 2, &f->width[d]));
    for (PetscInt i = 0; i <= n; ++i) {
      const PetscReal t = 2.0 * i / n - 1.0;

      f->face[d][i] = 0.5 * f->length[d] * (1.0 + (s > 0.0 ? PetscTanhReal(s * t) / PetscTanhReal(s) : t));
    }
    f->width[d]++;
    for (PetscInt i = 0; i < n; ++i) f->width[d][i] = f->face[d][i + 1] - f->face[d][i];
    f->width[d][-1] = f->width[d][0];
    f->width[d][n]  = f->width[d][n - 1];
  }
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_BOX, f->n[0], f->n[1], f->n[2],
                         PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 4, 1, NULL, NULL, NULL, &f->dm));
  PetscCall(DMSetUp(f->dm));
  PetscCall(DMDACreateCompatibleDMDA(f->dm, 1, &f->celldm));
  PetscCall(DMDAGetCorners(f->dm, &f->lo[0], &f->lo[1], &f->lo[2], &f->m[0], &f->m[1], &f->m[2]));
  PetscCall(DMDAGetGhostCorners(f->dm, &f->gs[0], &f->gs[1], &f->gs[2], &gm[0], &gm[1], &gm[2]));
  f->s[0] = 1;
  f->s[1] = gm[0];
  f->s[2] = gm[0] * gm[1];
  f->nl   = f->m[0] * f->m[1] * f->m[2];
  PetscCall(DMCreateLocalVector(f->dm, &f->x));
  PetscCall(DMCreateLocalVector(f->dm, &f->g));
  PetscCall(DMCreateLocalVector(f->celldm, &f->cell));
  PetscCall(PetscMalloc2(8 * f->nl, &f->coef, f->nl, &f->next));
  PetscFunctionReturn(0);
}

PetscErrorCode FlowExchange(DM dm, Vec x)
{
  PetscFunctionBegin;
  PetscCall(DMLocalToLocalBegin(dm, x, INSERT_VALUES, x));
  PetscCall(DMLocalToLocalEnd(dm, x, INSERT_VALUES, x));
  PetscFunctionReturn(0);
}

/* The kind of a cell before the flooding; also for cells outside of the grid */
static PetscReal Material(const Flow *f, const PetscInt c[3])
{
  PetscReal x[3];

  for (int d = 0; d < 3; ++d) {
    if (c[d] < 0 || c[d] >= f->n[d]) return (d == 0 && c[d] > 0 && f->type == FLOW_CHANNEL) || d >= f->dim ? FREE : WALL;
  }
  for (int d = 0; d < 3; ++d) x[d] = 0.5 * (f->face[d][c[d]] + f->face[d][c[d] + 1]);
  for (PetscInt i = 0; i < f->ncylinder; ++i) {
    if (PetscSqr(x[0] - f->cylinder[i][0]) + PetscSqr(x[1] - f->cylinder[i][1]) < PetscSqr(f->cylinder[i][2])) return WALL;
  }
  for (PetscInt i = 0; i < f->nblock; ++i) {
    PetscBool in = PETSC_TRUE;

    for (int d = 0; d < 3; ++d) in = (PetscBool)(in && x[d] > f->block[i][2 * d] && x[d] < f->block[i][2 * d + 1]);
    if (in) return WALL;
  }
  return UNMET;
}

/*
  Finds the cells that fluid reaches, from neighbour to neighbour, starting at a cell at the inlet or under the lid: sweeps in both directions on each process
  until no process changes a cell
*/
static PetscErrorCode Flood(Flow *f)
{
  PetscScalar *cell;
  PetscInt     c[3], seed = PETSC_MAX_INT, l;
  PetscInt     changed = 1;

  PetscFunctionBegin;
  PetscCall(VecGetArray(f->cell, &cell));
  for (PetscInt n = 0; n < f->nl; ++n) {
    l = Place(f, n, c);
    if (cell[l] == UNMET && (f->type == FLOW_CHANNEL ? c[0] == 0 : c[1] == f->n[1] - 1)) seed = PetscMin(seed, c[0] + f->n[0] * (c[1] + f->n[1] * c[2]));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &seed, 1, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  PetscCheck(seed < PETSC_MAX_INT, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The obstacles leave no cell to the fluid %s",
             f->type == FLOW_CHANNEL ? "at the inlet" : "under the lid");
  for (PetscInt n = 0; n < f->nl; ++n) {
    l = Place(f, n, c);
    if (c[0] + f->n[0] * (c[1] + f->n[1] * c[2]) == seed) cell[l] = 0.0;
  }
  PetscCall(VecRestoreArray(f->cell, &cell));
  while (changed) {
    changed = 0;
    PetscCall(FlowExchange(f->celldm, f->cell));
    PetscCall(VecGetArray(f->cell, &cell));
    for (PetscInt k = 0; k < 2 * f->nl; ++k) {
      l = Place(f, k < f->nl ? k : 2 * f->nl - 1 - k, c);
      for (int d = 0; d < 3 && cell[l] == UNMET; ++d) {
        if (cell[l - f->s[d]] < 0.0 && cell[l + f->s[d]] < 0.0) continue;
        cell[l] = 0.0;
        changed = 1;
      }
    }
    PetscCall(VecRestoreArray(f->cell, &cell));
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &changed, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  }
  PetscFunctionReturn(0);
}

/* A random order of n numbers (Fisher and Yates), the same in each run */
static PetscErrorCode Shuffle(PetscInt n, PetscInt order[])
{
  unsigned long long z = 1;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) {
    z                = z * 6364136223846793005ULL + 1442695040888963407ULL;
    const PetscInt j = (PetscInt)((z >> 33) % (unsigned long long)(i + 1));

    order[i] = order[j];
    order[j] = i;
  }
  PetscFunctionReturn(0);
}

/* Which cells the fluid reaches, and the numbers of their pressures */
PetscErrorCode FlowNumberCells(Flow *f)
{
  PetscScalar *cell;
  PetscInt     c[3], *order, k = 0;
  PetscInt     ends[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(VecGetArray(f->cell, &cell));
  for (PetscInt n = 0, i = f->gs[0], j = f->gs[1], h = f->gs[2]; h <= f->lo[2] + f->m[2]; ++n) {
    const PetscInt at[3] = {i, j, h};

    cell[n] = Material(f, at);
    if (++i > f->lo[0] + f->m[0]) {
      i = f->gs[0];
      if (++j > f->lo[1] + f->m[1]) {
        j = f->gs[1];
        ++h;
      }
    }
  }
  PetscCall(VecRestoreArray(f->cell, &cell));
  PetscCall(Flood(f));
  PetscCall(VecGetArray(f->cell, &cell));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l = Place(f, n, c);

    if (cell[l] == UNMET) cell[l] = WALL;
    if (cell[l] < 0.0) continue;
    ++f->nfluid;
    if (c[0] == f->n[0] - 1) ++ends[1];
  }
  ends[0] = f->nfluid;
  PetscCallMPI(MPI_Exscan(&f->nfluid, &f->first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  f->total = ends[0];
  PetscCheck(f->total > 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The obstacles leave one cell to the fluid: use fewer, or more cells");
  PetscCheck(f->type == FLOW_CAVITY || ends[1], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The obstacles leave no way from the inlet to the outlet");
  PetscCall(PetscMalloc1(f->nfluid, &order));
  for (PetscInt i = 0; i < f->nfluid; ++i) order[i] = i;
  if (f->numbering == NUMBER_RANDOM) PetscCall(Shuffle(f->nfluid, order));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l = Place(f, n, c);

    if (cell[l] >= 0.0) cell[l] = (PetscScalar)(f->first + order[k++]);
  }
  PetscCall(PetscFree(order));
  PetscCall(VecRestoreArray(f->cell, &cell));
  PetscCall(FlowExchange(f->celldm, f->cell));
  PetscFunctionReturn(0);
}
