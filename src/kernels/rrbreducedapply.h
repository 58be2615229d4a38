/*
  Sweeps of the preconditioner over the first grid after the elimination of its black nodes, on vectors of the red nodes (rrbreduced.h), with the factor in
  type RRB_VALUE; included once for each type.
*/

#define C(f, q) c[(size_t)(f)*s + (size_t)(q)]

/* r2 minus the contributions of r1; columns of r2: u, of r1: u, e1 */
POLDER_BODY_INLINE PetscScalar RRB_NAME(PolderRRBReducedForwardR2)(size_t s, ptrdiff_t P, const RRB_VALUE *c, ptrdiff_t p, PolderRRBRows r, PetscInt u,
                                                                   PetscInt e1)
{
  return r.c2[u] - (C(RRB_R1NE, p) * r.c1[u] + C(RRB_R1SE, p + P) * r.n1[u] + C(RRB_R1SW, p + P + 1) * r.n1[e1] + C(RRB_R1NW, p + 1) * r.c1[e1]);
}

/* r1 from r of r1 and z of r2 */
POLDER_BODY_INLINE PetscScalar RRB_NAME(PolderRRBReducedBackwardR1)(size_t s, const RRB_VALUE *c, ptrdiff_t p, PetscScalar r, PolderRRBRows z, PetscInt u2,
                                                                    PetscInt w2)
{
  return C(RRB_R1D, p) * r - (C(RRB_R1NE, p) * z.c2[u2] + C(RRB_R1SE, p) * z.s2[u2] + C(RRB_R1SW, p) * z.s2[w2] + C(RRB_R1NW, p) * z.c2[w2]);
}

#undef C

#if !defined(__CUDACC__)
void RRB_NAME(PolderRRBReducedForward)(const PolderRRBGrid *g, const RRB_VALUE c[], const PetscScalar r[], PetscScalar z[])
{
  const PetscInt h2 = g->nx / 2;

  c += g->origin;
  z += (size_t)g->hx * (size_t)g->hy;
  for (PetscInt v = 0; v < g->ny / 2; ++v, z += h2) {
    const ptrdiff_t     p = (ptrdiff_t)v * g->pitch + PolderRRBShift(g, v);
    const PolderRRBRows q = PolderRRBGetRows(g, r, v);

    COLUMNS(h2, h2 - 1, z[u] = RRB_NAME(PolderRRBReducedForwardR2)(g->size, g->pitch, c, p + u, q, u, PolderRRBEast(u, g->hx)),
            z[u] = RRB_NAME(PolderRRBReducedForwardR2)(g->size, g->pitch, c, p + u, q, u, u + 1));
  }
}

void RRB_NAME(PolderRRBReducedBackward)(const PolderRRBGrid *g, const RRB_VALUE c[], const PetscScalar r[], PetscScalar z[])
{
  const PetscInt hx = g->hx, h2 = g->nx / 2;

  c += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) {
    const ptrdiff_t     p   = (ptrdiff_t)v * g->pitch + PolderRRBShift(g, v);
    const PolderRRBRows q   = PolderRRBGetRows(g, z, v);
    const PetscScalar  *rr  = r + (size_t)v * (size_t)hx;
    PetscScalar        *row = z + (size_t)v * (size_t)hx;

    COLUMNS(hx, h2, row[u] = RRB_NAME(PolderRRBReducedBackwardR1)(g->size, c, p + u, rr[u], q, PolderRRBSame(u, h2), PolderRRBWest(u)),
            row[u] = RRB_NAME(PolderRRBReducedBackwardR1)(g->size, c, p + u, rr[u], q, u, u - 1));
  }
}
#endif
