/* The sweeps of the repeated red-black factorisation, grid by grid, on the r1, b1, b2, r2 arrays of rrbrow.h. */
#include "rrb.h"

void PolderRRBClearMissing_Host(const PolderRRBGrid *g, PetscScalar z[])
{
  PetscScalar *b1 = z + RRB_B1 * g->size + g->origin, *b2 = z + RRB_B2 * g->size + g->origin, *r2 = z + RRB_R2 * g->size + g->origin;
  const size_t top = (size_t)g->pitch * (size_t)(g->ny / 2);

  for (PetscInt v = 0; v < g->hy && g->nx % 2; ++v)
    b1[(size_t)v * (size_t)g->pitch + (size_t)(g->nx / 2)] = r2[(size_t)v * (size_t)g->pitch + (size_t)(g->nx / 2)] = 0;
  for (PetscInt u = 0; u < g->hx && g->ny % 2; ++u) b2[top + (size_t)u] = r2[top + (size_t)u] = 0;
}

void PolderRRBClearEdges_Host(const PolderRRBGrid *g, int n, PetscScalar a[])
{
  const size_t count = PolderRRBEdges(g);

  for (int f = 0; f < n; ++f, a += g->size) {
    for (size_t i = 0; i < count; ++i) a[PolderRRBEdge(g, i)] = 0;
  }
}

/* Loads rows 2v and 2v+1 of a vector in natural order, ld apart, into row v of the quarters */
static inline void PolderRRBLoad(const PolderRRBGrid *g, const PetscScalar *restrict r, PetscInt ld, PetscScalar *z, PetscInt v)
{
  for (PetscInt q = 0; q < 2 && 2 * v + q < g->ny; ++q) {
    const PetscScalar *restrict row = r + (size_t)(2 * v + q) * (size_t)ld;
    PetscScalar *restrict a = z + (size_t)(q ? RRB_B2 : RRB_R1) * g->size + (size_t)v * (size_t)g->pitch, *restrict b = a + g->size;

    for (PetscInt u = 0; u < g->nx / 2; ++u) {
      a[u] = row[2 * u];
      b[u] = row[2 * u + 1];
    }
    if (g->nx % 2) a[g->hx - 1] = row[g->nx - 1];
  }
}

void PolderRRBCopy_Host(PetscInt nx, PetscInt ny, const PetscScalar from[], PetscInt ldfrom, PetscScalar to[], PetscInt ldto)
{
  for (PetscInt y = 0; y < ny; ++y) {
    for (PetscInt x = 0; x < nx; ++x) to[(size_t)y * (size_t)ldto + (size_t)x] = from[(size_t)y * (size_t)ldfrom + (size_t)x];
  }
}

void PolderRRBLoad_Host(const PolderRRBGrid *g, const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  PolderRRBClearMissing_Host(g, z);
  for (PetscInt v = 0; v < g->hy; ++v) PolderRRBLoad(g, r, ld, z + g->origin, v);
}

void PolderRRBLoadBorder_Host(const PolderRRBGrid *g, const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  PetscScalar *b1 = z + RRB_B1 * g->size + g->origin, *b2 = z + RRB_B2 * g->size + g->origin;

  PolderRRBClearMissing_Host(g, z);
  for (PetscInt v = 0; v < g->hy; ++v, b1 += g->pitch, b2 += g->pitch, r += 2 * (size_t)ld) {
    const PetscBool end = (PetscBool)(v == 0 || v == g->hy - 1);

    for (PetscInt u = end ? 0 : g->nx / 2 - 1; u >= 0 && u < g->nx / 2; ++u) b1[u] = r[2 * u + 1];
    for (PetscInt u = 0; u < (end ? g->hx : 1) && 2 * v + 1 < g->ny; ++u) b2[u] = r[(size_t)ld + 2 * (size_t)u];
  }
}

/* Stores row 2v (f = RRB_R1) or 2v+1 (f = RRB_B2) of a vector in natural order */
static inline void PolderRRBStore(const PolderRRBGrid *g, int f, const PetscScalar *z, PetscInt v, PetscScalar *restrict x, PetscInt ld)
{
  const PetscInt y              = 2 * v + (f == RRB_B2);
  const PetscScalar *restrict a = z + (size_t)f * g->size + (size_t)v * (size_t)g->pitch, *restrict b = a + g->size;
  PetscScalar *restrict row = x + (size_t)y * (size_t)ld;

  if (y >= g->ny) return;
  for (PetscInt u = 0; u < g->nx / 2; ++u) {
    row[2 * u]     = a[u];
    row[2 * u + 1] = b[u];
  }
  if (g->nx % 2) row[g->nx - 1] = a[g->hx - 1];
}

#define RRB_VALUE      PetscScalar
#define RRB_NAME(name) name##_Host
#include "rrbapply.h"
#undef RRB_VALUE
#undef RRB_NAME

#define RRB_VALUE      float
#define RRB_NAME(name) name##Single_Host
#include "rrbapply.h"
