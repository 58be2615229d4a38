/* The loops of a frame on the host */
#include "frame.h"

/* Indices within a row where the treatment of the nodes changes: nodes at the ends lack neighbours, and nodes near edges are damped */
typedef struct {
  PetscInt begin[6];
} Ranges;

static Ranges RangesOf(const WavesGrid *g)
{
  Ranges r = {
    {0, 1, PetscMin(g->i0, g->xm - 1), PetscMin(g->i1, g->xm - 1), g->xm - 1, g->xm}
  };

  for (int k = 1; k < 6; ++k) r.begin[k] = PetscMax(r.begin[k], r.begin[k - 1]);
  return r;
}

/* The neighbours of the nodes of a loop are found by index distances */
#define CROSS(Point, a, l, near) \
  { \
    Point(a, l), Point(a, (l) - (near).w), Point(a, (l) + (near).e), Point(a, (l) - (near).s), Point(a, (l) + (near).n) \
  }

void WavesRhs_Host(const WavesRhs *args)
{
  const WavesRhs  a = *args;
  const WavesGrid g = a.grid;
  const Ranges    r = RangesOf(&g);

  for (PetscInt j = 0; j < g.ym; ++j) {
    for (int q = 0; q < 5; ++q) {
      const PetscInt  i0 = r.begin[q], i1 = r.begin[q + 1], k = WavesOwn(&g, 0, j), l = WavesWith(&g, 0, j);
      const WavesNear near = WavesNearOf(&g, i0, j);

#pragma GCC ivdep
      for (PetscInt i = i0; i < i1; ++i) {
        const WavesCross x = CROSS(WavesRhsPoint, &a, l + i, near);

        WavesRhsNode(&a, k + i, &x);
      }
    }
  }
}

/* Inlined for each kind of node */
static inline __attribute__((always_inline)) void StepRange(const WavesStep *args, PetscInt i0, PetscInt i1, PetscInt j, PetscBool current, PetscBool damped)
{
  const WavesStep a = *args;
  const PetscInt  k = WavesOwn(&a.grid, 0, j), l = WavesWith(&a.grid, 0, j);
  const WavesNear near = WavesNearOf(&a.grid, i0, j);

#pragma GCC ivdep
  for (PetscInt i = i0; i < i1; ++i) {
    const WavesCross x = CROSS(WavesStepPoint, &a, l + i, near);

    WavesStepNode(&a, i, j, k + i, l + i, near, &x, current, damped);
  }
}

void WavesStep_Host(const WavesStep *a)
{
  const WavesGrid *g = &a->grid;
  const Ranges     r = RangesOf(g);

  for (PetscInt j = 0; j < g->ym; ++j) {
    for (int q = 0; q < 5; ++q) {
      const PetscInt  i0 = r.begin[q], i1 = r.begin[q + 1];
      const PetscBool damped = (PetscBool)(i0 < g->i0 || i1 > g->i1 || j < g->j0 || j >= g->j1);

      if (a->zeta && damped) StepRange(a, i0, i1, j, PETSC_TRUE, PETSC_TRUE);
      else if (a->zeta) StepRange(a, i0, i1, j, PETSC_TRUE, PETSC_FALSE);
      else if (damped) StepRange(a, i0, i1, j, PETSC_FALSE, PETSC_TRUE);
      else StepRange(a, i0, i1, j, PETSC_FALSE, PETSC_FALSE);
    }
  }
}

void WavesIncoming_Host(const WavesStep *a, const WavesIncoming *in, const WavesBox *box)
{
  enum {
    N = 64
  };

  for (PetscInt j = box->y0; j < box->y1; ++j) {
    PetscReal re[WAVES_CHUNK], im[WAVES_CHUNK];

    for (PetscInt c = 0; c < in->n; ++c) WavesRowOf(&a->grid, in, c, j, &re[c], &im[c]);
    for (PetscInt i0 = box->x0; i0 < box->x1; i0 += N) {
      const PetscInt n       = PetscMin(N, box->x1 - i0);
      PetscReal      zeta[N] = {0.0}, phi[N] = {0.0};

      for (PetscInt c = 0; c < in->n; ++c) {
        for (PetscInt i = 0; i < n; ++i) WavesAddWave(&a->grid, in, c, i0 + i, re[c], im[c], &zeta[i], &phi[i]);
      }
      for (PetscInt i = 0; i < n; ++i) WavesIncomingNode(a, in, i0 + i, j, zeta[i], phi[i]);
    }
  }
}

void WavesShip_Host(const WavesStep *a, const WavesShip *ship, const WavesBox *box)
{
  for (PetscInt j = box->y0; j < box->y1; ++j) {
    for (PetscInt i = box->x0; i < box->x1; ++i) WavesShipNode(a, ship, i, j);
  }
}

void WavesDepth_Host(const WavesDepth *a)
{
  for (PetscInt l = 0; l < a->gxm * a->gym; ++l) WavesDepthNode(a, l);
}

void WavesMatrix_Host(const WavesMatrix *a)
{
  for (PetscInt j = 0; j < a->grid.ym; ++j) {
    for (PetscInt i = 0; i < a->grid.xm; ++i) WavesMatrixNode(a, WavesOwn(&a->grid, i, j), WavesWith(&a->grid, i, j), WavesNearOf(&a->grid, i, j));
  }
}

void WavesDry_Host(const WavesGrid *g, PetscScalar *const field[6])
{
  for (PetscInt j = 0; j < g->ym; ++j) {
    for (PetscInt i = 0; i < g->xm; ++i) WavesDryNode(g, WavesOwn(g, i, j), WavesWith(g, i, j), field);
  }
}

void WavesWait_Host(void) { }

void WavesMemory_Host(PetscReal *used)
{
  *used = 0.0;
}
