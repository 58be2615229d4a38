/* rrb.cu, rrbtail.cu, rrbfactor.cu and rrbreduced.cu in plain C */
#include "emulated.h"
#include "kernels/rrbtwin.h"
#include "kernels/rrbchain.h"

/* A launcher that does what its twin does */
#define EMULATE(name, parameters, ...) \
  int PolderRRB##name##_CUDA parameters \
  { \
    RRBTwin##name(__VA_ARGS__); \
    return 0; \
  } \
  extern int PolderEmulated

EMULATE(Forward, (PetscBool single, const PolderRRBStep *step, PolderStream stream), single, step);

int PolderRRBBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PolderCGRho *rho, void *work, PolderStream stream)
{
  RRBTwinBackward(single, step, rho ? &rho->state->sum[1] : NULL);
  if (rho && !rho->state->parallel) PolderCGSetRho(rho->state, rho->first, PETSC_TRUE);
  return 0;
}

int PolderRRBClearEdges_CUDA(const PolderRRBGrid *g, int n, PetscBool single, void *a, PETSC_UNUSED PolderStream stream)
{
  if (!single) PolderRRBClearEdges_Host(g, n, (PetscScalar *)a);
  for (int f = 0; single && f < n; ++f) {
    for (size_t i = 0; i < PolderRRBEdges(g); ++i) ((float *)a)[(size_t)f * g->size + PolderRRBEdge(g, i)] = 0;
  }
  return 0;
}

EMULATE(ReducedForward, (PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PolderStream stream), single, step, r);

int PolderRRBReducedBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho, void *work,
                                  PolderStream stream)
{
  RRBTwinReducedBackward(single, step, r, z, rho ? &rho->state->sum[1] : NULL);
  if (rho && !rho->state->parallel) PolderCGSetRho(rho->state, rho->first, PETSC_TRUE);
  return 0;
}

EMULATE(Small, (const PolderRRBSystem *small, PolderStream stream), small);
PolderEmulate(PolderRRBResidual,
              (const PolderRRBPlane *g, const PetscScalar a[], const PetscScalar r[], PetscInt ld, PetscReal alpha, const PetscScalar v[], PetscScalar d[],
               PolderStream stream),
              g, a, r, ld, alpha, v, d);
PolderEmulate(PolderRRBCombine,
              (const PolderRRBPlane *g, PetscReal alpha, const PetscScalar v[], PetscReal gamma, const PetscScalar w[], PetscReal beta, PetscScalar z[],
               PetscInt ld, PolderStream stream),
              g, alpha, v, gamma, w, beta, z, ld);
PolderEmulate(PolderRRBSigns, (const PolderRRBPlane *g, PetscInt nx, PetscInt first, const PetscScalar a[], PetscScalar v[], PolderStream stream), g, nx, first,
              a, v);
PolderEmulate(PolderRRBPlaneDot, (const PolderRRBPlane *g, const PetscScalar u[], const PetscScalar v[], PetscScalar *dot, void *work, PolderStream stream), g,
              u, v, dot);
EMULATE(Tail, (const PolderRRBSystem *grids, PetscBool red, PolderDense T, PolderStream stream), grids, red, T);
EMULATE(RowsDia, (PetscInt nx, PetscInt ny, PetscInt from, PetscInt to, const PolderDia *A, PetscScalar *const row[], int *seen, PolderStream stream), nx, ny,
        from, to, A, row, seen);
EMULATE(RowsCsr,
        (PetscInt nx, PetscInt ny, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar *const row[], int *seen, PolderStream stream),
        nx, ny, ai, aj, aa, row, seen);
EMULATE(Black, (const PolderRRBGrid *g, const PolderRRBEntries *rows, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen, PolderStream stream), g,
        rows, omega, c, x, seen);
EMULATE(Red, (const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen, PolderStream stream), g, half, omega, c, x,
        seen);
EMULATE(Next,
        (const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[], PetscInt ld, PolderStream stream), g,
        half, c, x, row, ld);
EMULATE(Scale, (const PolderRRBGrid *g, PetscScalar c[], float single[], int *seen, PolderStream stream), g, c, single, seen);
EMULATE(Rest,
        (PetscInt nx, PetscInt ny, PetscBool skew, PetscScalar *const row[], const PetscInt part[], const PetscScalar shift[], PolderDense E,
         PolderStream stream),
        nx, ny, skew, row, part, shift, E);
EMULATE(ReducedFill,
        (const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[], int *seen, PolderStream stream), g,
        half, omega, c, x, a, seen);
PolderEmulate(PolderRRBReducedMult,
              (const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream), g, a,
              x, y, dot);
PolderEmulate(PolderRRBReducedMultPart,
              (const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot, void *work,
               PolderStream stream),
              g, ends, a, x, y, dot);
PolderEmulate(PolderRRBReducedEnds, (const PolderRRBGrid *g, const PetscScalar x[], PetscScalar ends[], PolderStream stream), g, x, ends);
PolderEmulate(PolderRRBReduce, (const PolderRRBGrid *g, const PetscScalar c[], PolderRRBNodes b, PetscScalar r[], PolderStream stream), g, c, b, r);
PolderEmulate(PolderRRBExpand,
              (const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar c[], PolderRRBNodes b, const PetscScalar r[], PetscScalar own[], PetscScalar all[],
               PolderStream stream),
              g, ends, c, b, r, own, all);
PolderEmulate(PolderRRBPick, (const PolderRRBGrid *g, PolderRRBNodes x, PetscScalar r[], PolderStream stream), g, x, r);

int PolderRRBCG_CUDA(const PolderRRBSystem *system, PetscBool prepare, PetscBool first, PetscInt count, const PolderCGVectors *vectors, PolderCGState *state,
                     void *work, PolderStream stream)
{
  RRBChainSteps steps = {.prepare = prepare, .first = first, .nullspace = (PetscBool)state->nullspace, .its = state->its};

  if (!state->frozen) (void)RRBChain(system, &steps, vectors, state, work, stream);
  steps.prepare = PETSC_FALSE;
  steps.count   = 1;
  for (PetscInt k = 0; k < count && !state->frozen; ++k) {
    steps.first = (PetscBool)(first && !k);
    steps.its   = state->its;
    (void)RRBChain(system, &steps, vectors, state, work, stream);
  }
  return 0;
}

PolderEmulate(PolderRRBOwnRows,
              (const PolderRRBOwn *own, PolderRows rows, PolderRows ghosts, const PetscInt node[], PetscScalar *const entry[], int *seen, PolderStream stream),
              own, rows, ghosts, node, entry, seen);

PetscInt PolderRRBCGMost_CUDA(void)
{
  return 4000; // the suite has systems on both sides
}
