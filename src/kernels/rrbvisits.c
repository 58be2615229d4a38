/* What second visits of a grid of the repeated red-black factorisation need beside its sweeps, on planes of rrbrow.h. */
#include "rrb.h"

/* Position of the first node of line y */
static inline size_t PolderRRBPlaneLine(const PolderRRBPlane *g, PetscInt y)
{
  return g->origin + (size_t)y * (size_t)g->pitch;
}

void PolderRRBResidual_Host(const PolderRRBPlane *g, const PetscScalar a[], const PetscScalar r[], PetscInt ld, PetscReal alpha, const PetscScalar v[],
                            PetscScalar d[])
{
  for (PetscInt y = 0; y < g->ny; ++y) {
    const ptrdiff_t    p     = (ptrdiff_t)PolderRRBPlaneLine(g, y);
    const PetscScalar *b     = r ? r + (size_t)y * (size_t)ld : NULL;
    PetscScalar *restrict at = d + p;

    if (b) {
#pragma GCC ivdep
      for (PetscInt x = 0; x < g->nx; ++x) at[x] = b[x] - alpha * PolderRRBNine(g->size, g->pitch, a, v, p + x);
    } else {
#pragma GCC ivdep
      for (PetscInt x = 0; x < g->nx; ++x) at[x] = -alpha * PolderRRBNine(g->size, g->pitch, a, v, p + x);
    }
  }
}

void PolderRRBCombine_Host(const PolderRRBPlane *g, PetscReal alpha, const PetscScalar v[], PetscReal gamma, const PetscScalar w[], PetscReal beta,
                           PetscScalar z[], PetscInt ld)
{
  for (PetscInt y = 0; y < g->ny; ++y) {
    const size_t p                   = PolderRRBPlaneLine(g, y);
    const PetscScalar *restrict from = v + p;
    PetscScalar *restrict to         = z + (size_t)y * (size_t)ld;

    if (w) {
      const PetscScalar *restrict less = w + p;

      for (PetscInt x = 0; x < g->nx; ++x) to[x] = alpha * (from[x] - gamma * less[x]) + beta * to[x];
    } else {
      for (PetscInt x = 0; x < g->nx; ++x) to[x] = alpha * from[x] + beta * to[x];
    }
  }
}

void PolderRRBSigns_Host(const PolderRRBPlane *g, PetscInt nx, PetscInt first, const PetscScalar a[], PetscScalar v[])
{
  for (PetscInt y = 0; y < g->ny; ++y) {
    const size_t p = PolderRRBPlaneLine(g, y);

    for (PetscInt x = 0; x < g->nx; ++x) v[p + (size_t)x] = PolderRRBSign(first + y * nx + x, a[(size_t)RRB_C * g->size + p + (size_t)x]);
  }
}

void PolderRRBPlaneDot_Host(const PolderRRBPlane *g, const PetscScalar u[], const PetscScalar v[], PetscScalar *dot)
{
  PetscScalar sum = 0;

  for (PetscInt y = 0; y < g->ny; ++y) {
    const size_t p = PolderRRBPlaneLine(g, y);

    for (size_t q = p; q < p + (size_t)g->nx; ++q) sum += u[q] * v[q];
  }
  *dot = sum;
}

PetscInt PolderRRBPassesOfVisit(PetscInt k, PetscInt ngrid, unsigned twice, int visit, PolderRRBPass pass[])
{
  const PetscInt below = PolderRRBPassesOfGrid(k + 1, ngrid, twice, pass ? pass + 1 : NULL);

  if (!pass) return below + 2;
  pass[0]         = (PolderRRBPass){.type = RRB_PASS_FORWARD, .grid = (unsigned char)k, .visit = (unsigned char)visit};
  pass[below + 1] = (PolderRRBPass){.type = RRB_PASS_BACKWARD, .grid = (unsigned char)k, .visit = (unsigned char)visit};
  return below + 2;
}

PetscInt PolderRRBPassesOfGrid(PetscInt k, PetscInt ngrid, unsigned twice, PolderRRBPass pass[])
{
  PetscInt n;

  if (k == ngrid) {
    if (pass) pass[0] = (PolderRRBPass){.type = RRB_PASS_REST, .grid = (unsigned char)k};
    return 1;
  }
  if (!(twice >> k & 1)) return PolderRRBPassesOfVisit(k, ngrid, twice, 0, pass);
  n = PolderRRBPassesOfVisit(k, ngrid, twice, 1, pass);
  if (pass) pass[n] = (PolderRRBPass){.type = RRB_PASS_RESIDUAL, .grid = (unsigned char)k};
  n += 1 + PolderRRBPassesOfVisit(k, ngrid, twice, 2, pass ? pass + n + 1 : NULL);
  if (pass) pass[n] = (PolderRRBPass){.type = RRB_PASS_COMBINE, .grid = (unsigned char)k};
  return n + 1;
}
