/*
  Sweeps of the repeated red-black preconditioner over one grid, with the factor in type RRB_VALUE; included by rrb.c once for each type.
*/

#define C(f, q) c[(size_t)(f)*s + (size_t)(q)]
#define Z(f, q) z[(size_t)(f)*s + (size_t)(q)]

static inline void RRB_NAME(PolderRRBForwardR1Row)(const PolderRRBGrid *g, const RRB_VALUE *c, PetscScalar *z, PetscInt v)
{
  const size_t    s = g->size;
  const ptrdiff_t P = g->pitch, p0 = (ptrdiff_t)v * P;

  c += PolderRRBShift(g, v);
#pragma GCC ivdep
  for (ptrdiff_t p = p0; p < p0 + g->hx; ++p)
    Z(RRB_R1, p) -= C(RRB_B1W, p) * Z(RRB_B1, p) + C(RRB_B1E, p - 1) * Z(RRB_B1, p - 1) + C(RRB_B2S, p) * Z(RRB_B2, p) + C(RRB_B2N, p - P) * Z(RRB_B2, p - P);
}

/* Updates r2 from r1 */
static inline void RRB_NAME(PolderRRBForwardRedRow)(const PolderRRBGrid *g, const RRB_VALUE *c, PetscScalar *z, PetscInt v)
{
  const size_t    s = g->size;
  const ptrdiff_t P = g->pitch, p0 = (ptrdiff_t)v * P;

  c += PolderRRBShift(g, v);
#pragma GCC ivdep
  for (ptrdiff_t p = p0; p < p0 + g->hx; ++p)
    Z(RRB_R2, p) -= C(RRB_R1NE, p) * Z(RRB_R1, p) + C(RRB_R1SE, p + P) * Z(RRB_R1, p + P) + C(RRB_R1SW, p + P + 1) * Z(RRB_R1, p + P + 1) +
                    C(RRB_R1NW, p + 1) * Z(RRB_R1, p + 1);
}

static inline void RRB_NAME(PolderRRBForwardR2Row)(const PolderRRBGrid *g, const RRB_VALUE *all, PetscBool half, PetscScalar *z, PetscInt v)
{
  const RRB_VALUE *c = all + PolderRRBShift(g, v);
  const size_t     s = g->size;
  const ptrdiff_t  P = g->pitch, p0 = (ptrdiff_t)v * P;

#pragma GCC ivdep
  for (ptrdiff_t p = p0; p < p0 + g->hx; ++p)
    Z(RRB_R2, p) -= C(RRB_B1N, p) * Z(RRB_B1, p) + C(RRB_B1S, p + P) * Z(RRB_B1, p + P) + C(RRB_B2E, p) * Z(RRB_B2, p) + C(RRB_B2W, p + 1) * Z(RRB_B2, p + 1);
  if (!half) RRB_NAME(PolderRRBForwardRedRow)(g, all, z, v);
}

static inline void RRB_NAME(PolderRRBBackwardR1Row)(const PolderRRBGrid *g, const RRB_VALUE *c, PetscScalar *z, PetscInt v)
{
  const size_t    s = g->size;
  const ptrdiff_t P = g->pitch, p0 = (ptrdiff_t)v * P;

  c += PolderRRBShift(g, v);
#pragma GCC ivdep
  for (ptrdiff_t p = p0; p < p0 + g->hx; ++p)
    Z(RRB_R1, p) = Z(RRB_R1, p) * C(RRB_R1D, p) - (C(RRB_R1NE, p) * Z(RRB_R2, p) + C(RRB_R1SE, p) * Z(RRB_R2, p - P) + C(RRB_R1SW, p) * Z(RRB_R2, p - P - 1) +
                                                   C(RRB_R1NW, p) * Z(RRB_R2, p - 1));
}

static inline void RRB_NAME(PolderRRBBackwardB1Row)(const PolderRRBGrid *g, const RRB_VALUE *c, PetscScalar *z, PetscInt v)
{
  const size_t    s = g->size;
  const ptrdiff_t P = g->pitch, p0 = (ptrdiff_t)v * P;

  c += PolderRRBShift(g, v);
#pragma GCC ivdep
  for (ptrdiff_t p = p0; p < p0 + g->hx; ++p)
    Z(RRB_B1, p) = Z(RRB_B1, p) * C(RRB_B1D, p) -
                   (C(RRB_B1N, p) * Z(RRB_R2, p) + C(RRB_B1S, p) * Z(RRB_R2, p - P) + C(RRB_B1E, p) * Z(RRB_R1, p + 1) + C(RRB_B1W, p) * Z(RRB_R1, p));
}

static inline void RRB_NAME(PolderRRBBackwardB2Row)(const PolderRRBGrid *g, const RRB_VALUE *c, PetscScalar *z, PetscInt v)
{
  const size_t    s = g->size;
  const ptrdiff_t P = g->pitch, p0 = (ptrdiff_t)v * P;

  c += PolderRRBShift(g, v);
#pragma GCC ivdep
  for (ptrdiff_t p = p0; p < p0 + g->hx; ++p)
    Z(RRB_B2, p) = Z(RRB_B2, p) * C(RRB_B2D, p) -
                   (C(RRB_B2N, p) * Z(RRB_R1, p + P) + C(RRB_B2S, p) * Z(RRB_R1, p) + C(RRB_B2E, p) * Z(RRB_R2, p) + C(RRB_B2W, p) * Z(RRB_R2, p - 1));
}

void RRB_NAME(PolderRRBForward)(const PolderRRBGrid *g, PetscBool half, const RRB_VALUE c[], const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  PolderRRBClearMissing_Host(g, z);
  c += g->origin;
  z += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) {
    PolderRRBLoad(g, r, ld, z, v);
    RRB_NAME(PolderRRBForwardR1Row)(g, c, z, v);
    if (v) RRB_NAME(PolderRRBForwardR2Row)(g, c, half, z, v - 1);
  }
  RRB_NAME(PolderRRBForwardR2Row)(g, c, half, z, g->hy - 1);
}

void RRB_NAME(PolderRRBBackward)(const PolderRRBGrid *g, PetscBool half, const RRB_VALUE c[], PetscScalar z[], PetscScalar x[], PetscInt ld)
{
  c += g->origin;
  z += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) {
    if (!half) RRB_NAME(PolderRRBBackwardR1Row)(g, c, z, v);
    RRB_NAME(PolderRRBBackwardB1Row)(g, c, z, v);
    PolderRRBStore(g, RRB_R1, z, v, x, ld);
    if (!v) continue;
    RRB_NAME(PolderRRBBackwardB2Row)(g, c, z, v - 1);
    PolderRRBStore(g, RRB_B2, z, v - 1, x, ld);
  }
  if (!g->hy) return;
  RRB_NAME(PolderRRBBackwardB2Row)(g, c, z, g->hy - 1);
  PolderRRBStore(g, RRB_B2, z, g->hy - 1, x, ld);
}

void RRB_NAME(PolderRRBForwardR1)(const PolderRRBGrid *g, const RRB_VALUE c[], const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  c += g->origin;
  z += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) {
    PolderRRBLoad(g, r, ld, z, v);
    RRB_NAME(PolderRRBForwardR1Row)(g, c, z, v);
  }
}

void RRB_NAME(PolderRRBForwardR2)(const PolderRRBGrid *g, PetscBool half, const RRB_VALUE c[], PetscScalar z[])
{
  c += g->origin;
  z += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) RRB_NAME(PolderRRBForwardR2Row)(g, c, half, z, v);
}

void RRB_NAME(PolderRRBForwardRed)(const PolderRRBGrid *g, const RRB_VALUE c[], PetscScalar z[])
{
  c += g->origin;
  z += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) RRB_NAME(PolderRRBForwardRedRow)(g, c, z, v);
}

void RRB_NAME(PolderRRBBackwardR1)(const PolderRRBGrid *g, const RRB_VALUE c[], PetscScalar z[])
{
  c += g->origin;
  z += g->origin;
  for (PetscInt v = 0; v < g->hy; ++v) RRB_NAME(PolderRRBBackwardR1Row)(g, c, z, v);
}

#undef C
#undef Z
