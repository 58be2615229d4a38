/*
  Grids that PC rrb visits twice. B being one visit of a grid, the eigenvalues of B A are in [1, c], and c grows with each grid below. Two visits,

      v = B r,   z = l_0 v + l_1 B (r - l_0 A v),

  with the lengths l of the Chebyshev polynomial of [1, top] bring them close to 1, so that c no longer grows with the size of the grid; they are definite up
  to 1 + top (AMLI: Axelsson and Vassilevski, Algebraic multilevel preconditioning methods I, Numer. Math. 56, 1989).
*/
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

/* Degree of the polynomial that looks for c, its interval, and the margin of what it finds. A single eigenvalue of 3 among four million is found */
#define RRB_STEPS  6
#define RRB_LOW    0.5
#define RRB_HIGH   2.0
#define RRB_MARGIN 1.15
/* Beyond RRB_TOP a grid is visited once: a few large eigenvalues, as of light bubbles, cost CG less than a polynomial for all of the interval. So it is where c
   is less than RRB_LEAST, as in short time steps: one visit nearly solves */
#define RRB_TOP   12
#define RRB_LEAST 1.2
/* By default second visits begin with this grid, if the first one has so many nodes */
#define RRB_TWICE      2
#define RRB_TWICE_FROM 10000
/* On a device, where passes over small grids take long, only each third grid is visited twice. By default the first one is this, or the one above if there are
   so many nodes */
#define RRB_TWICE_STRIDE 3
#define RRB_TWICE_DEVICE 3
#define RRB_TWICE_LARGE  8000000

unsigned PCRRBTwiceGrids(const PC_RRB *rrb, PetscInt n, PetscBool device)
{
  const PetscReal N     = (PetscReal)rrb->nx * (PetscReal)rrb->ny;
  PetscInt        first = rrb->wanttwice, last = PetscMin(n, 31) - 1;
  unsigned        twice = 0;

  if (first < 0) {
    first = rrb->wanted >= 0 || rrb->once || N < RRB_TWICE_FROM ? 0 : device && N < RRB_TWICE_LARGE ? RRB_TWICE_DEVICE : RRB_TWICE;
    if (device) --last; // it has one below it
  }
  for (PetscInt k = first; first && k <= last; k += device ? RRB_TWICE_STRIDE : 1) twice |= 1u << k;
  return twice;
}

PetscReal PCRRBVisits(unsigned twice, PetscInt k)
{
  PetscReal visits = 1;

  for (PetscInt j = 0; j <= PetscMin(k, 31); ++j) visits *= twice >> j & 1 ? 2 : 1;
  return visits;
}

PetscErrorCode PCRRBTwiceFree(RRBTwice *twice)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(twice->a));
  PetscCall(PetscFree(twice->v));
  PetscCall(PetscFree(twice->d));
  PetscCall(PetscSFDestroy(&twice->halo));
  *twice = (RRBTwice){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCRRBTwiceOwn(RRBTwice *twice, PetscInt y0, PetscInt y1)
{
  twice->first = PetscMax(y0 - 1, 0);
  twice->own   = RRBPlaneLines(twice->plane, y0, y1);
  twice->near  = RRBPlaneLines(twice->plane, twice->first, PetscMin(y1 + 1, twice->plane.ny));
}

PetscErrorCode PCRRBTwiceLayout(PC pc, PetscInt k)
{
  PC_RRB             *rrb   = (PC_RRB *)pc->data;
  RRBGrid            *grid  = &rrb->grid[k];
  RRBTwice           *twice = &grid->twice;
  const PolderRRBGrid g     = grid->g;

  PetscFunctionBegin;
  twice->plane = PCRRBPlane(g.nx, g.ny);
  PCRRBTwiceOwn(twice, 0, g.ny);
  PetscCall(PetscCalloc1(RRB_NROW * twice->plane.size, &twice->a));
  PetscCall(PetscCalloc1(twice->plane.size, &twice->v));
  PetscCall(PetscCalloc1(twice->plane.size, &twice->d));
  twice->summed = (PetscBool)(k < rrb->ranks.ngrid);
  if (twice->summed) PetscCall(PCRRBPlaneExchangeCreate(pc, k, &twice->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The border of v <- values of neighbours, on a grid in boxes */
static PetscErrorCode PCRRBTwiceBorder_Private(const RRBTwice *twice, PetscScalar v[])
{
  PetscFunctionBegin;
  if (!twice->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastBegin(twice->halo, MPIU_SCALAR, v, v, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(twice->halo, MPIU_SCALAR, v, v, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSolveGrid(PC pc, PetscInt k, RRBGridVisit visit, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz)
{
  const RRBTwice       *twice = &((PC_RRB *)pc->data)->grid[k].twice;
  const PolderRRBPlane *g     = &twice->plane;

  PetscFunctionBegin;
  if (!twice->length[1]) {
    PetscCall((*visit)(pc, k, r, ldr, z, ldz));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*visit)(pc, k, r, ldr, twice->v + g->origin, g->pitch));
  PetscCall(PCRRBTwiceBorder_Private(twice, twice->v));
  PolderRRBResidual_Host(g, twice->a, r, ldr, twice->length[0], twice->v, twice->d);
  PetscCall((*visit)(pc, k, twice->d + g->origin, g->pitch, z, ldz));
  PolderRRBCombine_Host(g, twice->length[0], twice->v, 0, NULL, twice->length[1], z, ldz);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- B A x, z being twice->v, and b <- A x, which is twice->d, on own lines. x = z is possible; x is read on the lines near them, and z has those */
static PetscErrorCode PCRRBTwiceMult_Private(PC pc, const PolderPlace *place, PetscInt k, const RRBTwice *twice, RRBGridVisit visit, PetscScalar x[])
{
  const PolderRRBPlane *g = &twice->plane;

  PetscFunctionBegin;
  PetscCall(PCRRBTwiceBorder_Private(twice, x));
  PolderRun(place, PolderRRBResidual, &twice->own, twice->a, NULL, 0, -1, x, twice->d);
  PetscCall((*visit)(pc, k, twice->d + g->origin, g->pitch, twice->v + g->origin, g->pitch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *longest <- (z, A z) / (z, b) after that; sum: two values at the place */
static PetscErrorCode PCRRBTwiceQuotient_Private(PC pc, const PolderPlace *place, const RRBTwice *twice, PetscScalar sum[], PetscReal *longest)
{
  PetscScalar *b = twice->d, *z = twice->v, here[2];
  PetscReal    dot[2];

  PetscFunctionBegin;
  PolderRunSum(place, PolderRRBPlaneDot, &twice->own, z, b, sum);
  PetscCall(PCRRBTwiceBorder_Private(twice, z));
  PolderRun(place, PolderRRBResidual, &twice->own, twice->a, NULL, 0, -1, z, b);
  PolderRunSum(place, PolderRRBPlaneDot, &twice->own, z, b, sum + 1);
  PetscCall((*place->take)(here, sum, sizeof(here)));
  for (int i = 0; i < 2; ++i) dot[i] = PetscRealPart(here[i]);
  if (twice->summed) PetscCallAllreduce(MPI_IN_PLACE, dot, 2, MPIU_REAL, MPI_SUM, PetscObjectComm((PetscObject)pc));
  *longest = dot[0] > 0 && dot[1] > 0 ? dot[1] / dot[0] : dot[0] == 0 ? 1 : PETSC_MAX_REAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  An estimate of c from below: the quotient (z, A z) / (z, b) of z = B b and b = A x, x being T(B A) x_0 with the Chebyshev polynomial T of [RRB_LOW, RRB_HIGH],
  which takes out what lies there, and no sums. x_0 = B A y is in the range of a singular A; y is random with the weights of the square root of the diagonal.

      T_0 = 1,  T_1 = (B A - middle) / half,  T_j+1 = 2 (B A - middle) / half T_j - T_j-1
*/
static PetscErrorCode PCRRBStretch_Private(PC pc, const PolderPlace *place, PetscInt k, const RRBTwice *twice, RRBGridVisit visit, PetscReal *longest)
{
  const PC_RRB         *rrb  = (PC_RRB *)pc->data;
  const RRBBox          box  = twice->halo ? PCRRBBox(rrb, k) : (RRBBox){0};
  const PolderRRBPlane *g    = &twice->near;
  const PetscInt        nx   = rrb->nx >> k;
  const PetscReal       half = (RRB_HIGH - RRB_LOW) / 2, middle = (RRB_HIGH + RRB_LOW) / 2;
  PetscScalar          *z = twice->v, *x[2];

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(place, 2 * g->size + 2, &x[0]));
  PetscCall((*place->zero)(x[0], sizeof(**x) * (2 * g->size + 2)));
  x[1] = x[0] + g->size;
  PolderRun(place, PolderRRBSigns, g, nx, (box.y0 + twice->first) * nx + box.x0, twice->a, z);
  PetscCall(PCRRBTwiceMult_Private(pc, place, k, twice, visit, z));
  PolderRun(place, PolderRRBCombine, g, 1, z, 0, NULL, 0, x[0] + g->origin, g->pitch);
  PetscCall(PCRRBTwiceMult_Private(pc, place, k, twice, visit, x[0]));
  for (PetscInt j = 1; j <= RRB_STEPS; ++j) {
    const PetscReal    scale  = (j > 1 ? 2 : 1) / half;
    const PetscScalar *before = x[1 - j % 2];
    PetscScalar       *now    = x[j % 2];

    PolderRun(place, PolderRRBCombine, g, scale, z, middle, before, j > 1 ? -1 : 0, now + g->origin, g->pitch);
    PetscCall(PCRRBTwiceMult_Private(pc, place, k, twice, visit, now));
  }
  PetscCall(PCRRBTwiceQuotient_Private(pc, place, twice, x[1] + g->size, longest));
  PetscCall((*place->free)(&x[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBTwiceSetUp(PC pc, const PolderPlace *place, PetscInt k, RRBTwice *twice, RRBGridVisit visit)
{
  PetscReal longest;

  PetscFunctionBegin;
  for (int f = 0; f < RRB_NROW; ++f) PetscCall(PCRRBTwiceBorder_Private(twice, twice->a + (size_t)f * twice->plane.size));
  PetscCall(PCRRBStretch_Private(pc, place, k, twice, visit, &longest));
  twice->top       = PetscMax(PetscCeilReal(8 * RRB_MARGIN * longest) / 8, RRB_HIGH); // the same on any number of processes
  twice->length[0] = twice->length[1] = 0;
  PetscCall(PetscInfo(pc, "Grid %" PetscInt_FMT ": a visit lengthens a vector %g times\n", k, (double)longest));
  if (longest >= RRB_LEAST && twice->top <= RRB_TOP) PolderVisitLengths(1, twice->top, twice->length);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBTwiceView(const RRBTwice *twice, PetscInt k, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (!twice->a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  grid %" PetscInt_FMT " is visited %s: eigenvalues up to %g\n", k, twice->length[1] ? "twice" : "once",
                                   (double)twice->top));
  PetscFunctionReturn(PETSC_SUCCESS);
}
