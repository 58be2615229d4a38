/* The predictor of navierstokes.c: boundaries, coefficients, sweeps */
#include "navierstokes.h"

/* The velocity through the outlet is that of the face before it, shifted so that inflow and outflow are equal */
PetscErrorCode FlowSetOutlet(Flow *f)
{
  const PetscScalar *cell;
  PetscScalar       *x;
  PetscInt           c[3], end[3];
  PetscReal          out = 0.0, shift;

  PetscFunctionBegin;
  if (f->type == FLOW_CAVITY) PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(f->cell, &cell));
  PetscCall(VecGetArray(f->x, &x));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l = Place(f, n, c);

    if (c[0] == f->n[0] - 1 && cell[l] >= 0.0) out += x[4 * l] * Area(f, c, 0);
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &out, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  shift = (f->inflow - out) / f->outlet;
  for (int d = 0; d < 3; ++d) end[d] = PetscMin(f->n[d], f->lo[d] + f->m[d] + 1);
  if (f->lo[0] + f->m[0] == f->n[0]) { /* also for outlet cells outside the box of this process whose flux a neighbour needs */
    for (PetscInt k = PetscMax(0, f->gs[2]); k < end[2]; ++k) {
      for (PetscInt j = PetscMax(0, f->gs[1]); j < end[1]; ++j) {
        const PetscInt l = f->n[0] - 1 - f->gs[0] + (j - f->gs[1]) * f->s[1] + (k - f->gs[2]) * f->s[2];

        if (cell[l] >= 0.0) x[4 * (l + 1)] = x[4 * l] + shift;
      }
    }
  }
  PetscCall(VecRestoreArray(f->x, &x));
  PetscCall(VecRestoreArrayRead(f->cell, &cell));
  PetscFunctionReturn(0);
}

/* Initial velocity: zero under the lid; in the channel that of the inlet everywhere */
PetscErrorCode FlowSetStart(Flow *f)
{
  const PetscScalar *cell;
  PetscScalar       *x;
  PetscInt           c[3];
  PetscReal          area[2] = {0.0, 0.0};

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(f->cell, &cell));
  PetscCall(VecGetArray(f->x, &x));
  for (PetscInt n = 0; n < f->nl && f->type == FLOW_CHANNEL; ++n) {
    const PetscInt l = Place(f, n, c);

    if (cell[l] < 0.0) continue;
    if (c[0] == 0 || Open(f, cell, l, 0)) x[4 * l] = 1.0;
    if (c[0] == 0) area[0] += Area(f, c, 0);
    if (c[0] == f->n[0] - 1) area[1] += Area(f, c, 0);
  }
  PetscCall(VecRestoreArray(f->x, &x));
  PetscCall(VecRestoreArrayRead(f->cell, &cell));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, area, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  f->inflow = area[0];
  f->outlet = area[1];
  PetscCall(FlowExchange(f->dm, f->x));
  PetscCall(FlowSetOutlet(f));
  PetscFunctionReturn(0);
}

/* Adds a part of the surface: flux is the mass flux out of it, diffusion that across it, and w the weight of the neighbour in central differences */
static inline void AddFace(PetscReal a[8], int nb, PetscReal flux, PetscReal diffusion, PetscReal w, PetscReal own, PetscReal other, PetscReal central)
{
  const PetscReal k = diffusion + PetscMax(-flux, 0.0);

  a[nb] += k;
  a[6] += k;
  a[7] -= central * flux * ((1.0 - w) * own + w * other - (flux > 0.0 ? own : other));
}

/*
  The coefficients of the control volume of a face in direction d: a[0..5] of the neighbours, a[6] their sum plus that of the walls, a[7] the source.
  Convection is upwind; the difference from central differences, with known velocities, goes to the source. Each side of the volume consists of halves of the
  two adjacent cells, each of which may be at a wall.
*/
static void Coefficients(const Flow *f, const PetscScalar x[], const PetscScalar cell[], PetscInt l, const PetscInt c[3], int d, PetscReal a[8])
{
  const PetscReal nu = 1.0 / f->reynolds;

  for (int i = 0; i < 8; ++i) a[i] = 0.0;
  for (int e = 0; e < 3; ++e) {
    for (int up = 0; up < 2; ++up) {
      const PetscInt  step = up ? f->s[e] : -f->s[e];
      const PetscReal sign = up ? 1.0 : -1.0, own = x[4 * l + d], other = x[4 * (l + step) + d], w = f->width[e][c[e]];

      if (e == d) {
        const PetscReal area = Area(f, c, d);

        AddFace(a, 2 * e + up, 0.5 * sign * area * (own + other), nu * area / f->width[d][c[d] - !up], 0.5, own, other, f->central);
        continue;
      }
      for (int half = 0; half < 2; ++half) {
        const PetscInt  m    = half ? l : l - f->s[d];
        const PetscReal area = 0.5 * f->width[d][c[d] - !half] * f->width[3 - d - e][c[3 - d - e]], beyond = cell[m + step];
        const PetscReal flux = sign * area * x[4 * (up ? m + step : m) + e];

        if (beyond >= 0.0) {
          const PetscReal both = w + f->width[e][c[e] + (up ? 1 : -1)];

          AddFace(a, 2 * e + up, flux, 2.0 * nu * area / both, w / both, own, other, f->central);
        } else if (beyond == WALL) {
          const PetscReal k = 2.0 * nu * area / w + PetscMax(-flux, 0.0);

          a[6] += k;
          if (f->type == FLOW_CAVITY && d == 0 && e == 1 && c[1] + 1 == f->n[1] && up) a[7] += k; /* the lid moves with velocity 1 */
        }
      }
    }
  }
}

/* Predicts one component: relaxed coefficients from the velocities of the previous step, then sweeps into y */
static PetscErrorCode PredictComponent(Flow *f, int d, Vec y)
{
  const PetscScalar *cell, *x;
  PetscScalar       *g, *v;
  PetscInt           c[3];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(f->cell, &cell));
  PetscCall(VecGetArrayRead(f->x, &x));
  PetscCall(VecGetArray(f->g, &g));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt  l    = Place(f, n, c);
    const PetscReal area = Area(f, c, d);
    PetscReal      *a = f->coef + 8 * n, sum = 0.0;

    if (!Open(f, cell, l, d)) continue;
    Coefficients(f, x, cell, l, c, d, a);
    for (int i = 0; i < 6; ++i) sum += a[i];
    a[6] /= f->relax;
    a[7] += (1.0 - f->relax) * a[6] * x[4 * l + d] + area * (x[4 * (l - f->s[d]) + 3] - x[4 * l + 3]);
    g[4 * l + d] = area / (f->consistent ? a[6] - sum : a[6]);
  }
  PetscCall(VecRestoreArray(f->g, &g));
  PetscCall(VecRestoreArrayRead(f->x, &x));
  for (PetscInt sweep = 0; sweep < f->sweeps; ++sweep) {
    PetscCall(VecGetArray(y, &v));
    for (PetscInt n = 0; n < f->nl; ++n) {
      const PetscInt   l = Place(f, n, c);
      const PetscReal *a = f->coef + 8 * n;
      PetscReal        sum;

      if (!Open(f, cell, l, d)) continue;
      sum = a[7];
      for (int e = 0; e < 3; ++e) sum += a[2 * e] * v[4 * (l - f->s[e]) + d] + a[2 * e + 1] * v[4 * (l + f->s[e]) + d];
      f->next[n] = sum / a[6];
    }
    for (PetscInt n = 0; n < f->nl; ++n) {
      const PetscInt l = Place(f, n, c);

      if (Open(f, cell, l, d)) v[4 * l + d] = f->next[n];
    }
    PetscCall(VecRestoreArray(y, &v));
    PetscCall(FlowExchange(f->dm, y));
  }
  PetscCall(VecRestoreArrayRead(f->cell, &cell));
  PetscFunctionReturn(0);
}

PetscErrorCode FlowPredict(Flow *f)
{
  Vec y;

  PetscFunctionBegin;
  PetscCall(DMGetLocalVector(f->dm, &y));
  PetscCall(VecCopy(f->x, y));
  for (int d = 0; d < f->dim; ++d) PetscCall(PredictComponent(f, d, y));
  PetscCall(VecCopy(y, f->x));
  PetscCall(DMRestoreLocalVector(f->dm, &y));
  PetscCall(FlowExchange(f->dm, f->g));
  PetscCall(FlowSetOutlet(f));
  PetscFunctionReturn(0);
}
