/* Pairwise-aggregation multigrid: V-, W- and K-cycle. */
#include "pamgsteps.h"
#include <petsc/private/pcimpl.h>

/*
  Chebyshev damps the eigenvalues above the largest one divided by this: where boxes of a grid are interpolated linearly, and elsewhere. With 7 two steps come
  close to the polynomial of the fourth kind with optimal weights, which knows no interval (Lottes 2023, Optimal polynomial smoothers for multigrid
  V-cycles). On a power grid 4 takes an iteration less than 5
*/
#define PAMG_CHEBYSHEV_BOXES 7.0
#define PAMG_CHEBYSHEV_RATIO 4.0

/*
  n steps of a diagonal smoother that alternate between x[0] and x[1]; the result is in x[n % 2]. zero: the initial guess is zero, and the first step writes
  x[1]. The Chebyshev polynomial is that of the interval [lambda / ratio, lambda], where lambda is the largest eigenvalue of D^-1 A. end (or NULL) applies to
  the last step.
*/
static PetscErrorCode PamgSmoothSteps(const PC_PAMG *pamg, PamgLevel *L, PetscInt n, PetscBool zero, const void *b, void *x[2], const PolderLevelEnd *end)
{
  const PetscBool chebyshev = (PetscBool)(pamg->smoother == PAMG_CHEBYSHEV);
  const PetscReal ratio = L->isgrid ? PAMG_CHEBYSHEV_BOXES : PAMG_CHEBYSHEV_RATIO, top = L->eigenvalue, bottom = top / ratio;
  const PetscReal theta = (top + bottom) / 2, delta = (top - bottom) / 2, sigma = theta / delta;
  PetscReal       rho  = 1 / sigma;
  PolderLevelStep step = {.zero = zero, .scale = chebyshev ? 1 / theta : pamg->smoother == PAMG_JACOBI ? pamg->damping : 1};

  PetscFunctionBegin;
  step.start = step.scale;
  if (zero && n == 1) PetscCall(pamg->steps->begin(L, step.start, b, x[1]));
  for (; step.k < n; ++step.k) {
    if (step.k == n - 1 && end) step.end = *end;
    if (step.k || !zero) PetscCall(pamg->steps->smooth(L, &step, b, x[step.k % 2], x[1 - step.k % 2]));
    if (chebyshev) {
      const PetscReal next = 1 / (2 * sigma - rho);

      step.beta  = next * rho;
      step.scale = 2 * next / delta;
      rho        = next;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Post-smoothing on the first level in single precision, from y[0] to pamg->end.wide or pamg->parts. The steps act on a correction of y[0] that begins with zero
  and stays small. Rounding the near-constant solution in a region of large coefficients in each step would be worse: a coefficient times that rounding error
  exceeds the residual.
*/
static PetscErrorCode PamgSmoothWide(PC_PAMG *pamg, void *y[2])
{
  PamgLevel     *L    = pamg->level;
  void          *x[2] = {pamg->post > 2 ? L->correction : y[1], y[1]}; // the first of two steps is not stored
  PolderLevelEnd end  = pamg->end;

  PetscFunctionBegin;
  pamg->parts = (PolderCGParts){(const float *)y[0], (const float *)x[pamg->post % 2], end.unit};
  if (pamg->post == 1) { // the only step adds to y[0] directly
    PetscCall(PamgSmoothSteps(pamg, L, 1, PETSC_FALSE, L->b, y, &end));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(pamg->steps->residual(L, L->b, y[0], L->b, NULL));
  end.base = y[0];
  PetscCall(PamgSmoothSteps(pamg, L, pamg->post, PETSC_TRUE, L->b, x, &end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal PCPAMGExcessOfEnergy(const PC_PAMG *pamg, PetscInt l)
{
  static const PetscReal chosen[2][3] = {
    {1.35, 1.7, 2.0}, // V
    {1.15, 1.3, 1.4}  // W
  };

  if (pamg->overcorrection > 0) return pamg->overcorrection;
  if (pamg->level[l].overcorrection > 0) return PetscMin(pamg->level[l].overcorrection, chosen[pamg->cycle == PC_PAMG_CYCLE_W][pamg->passes - 1]);
  return chosen[pamg->cycle == PC_PAMG_CYCLE_W][pamg->passes - 1];
}

/*
  Scaling factor of the correction that level l receives from the next level, whose couplings are too strong: the unscaled correction is too short. The K-cycle
  computes its own scaling, and couplings of a matrix that is not symmetric are softened instead
*/
static PetscReal PamgOvercorrection(const PC_PAMG *pamg, PetscInt l)
{
  if (PamgInterpolates(&pamg->level[l]) || !pamg->symmetric || (pamg->cycle == PC_PAMG_CYCLE_K && pamg->level[l + 1].twice)) return 1;
  return PCPAMGExcessOfEnergy(pamg, l);
}

/* Where a step to a coarser level stores the residual, if it does */
static inline void *PamgResidualOf(const PamgLevel *L, void *scratch)
{
  return PamgInterpolates(L) ? scratch : NULL;
}

/* The right-hand side and the solution of level C through which the finer level restricts and prolongs */
static inline void *PamgCoarseRHS(const PamgLevel *C)
{
  return C->gathered ? C->part : C->b;
}

static inline void *PamgCoarseSolution(const PamgLevel *C)
{
  return C->gathered ? C->part : C->x;
}

/* The coarse correction: solves on level l + 1 from its right-hand side */
static PetscErrorCode PamgCorrect(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel *C = &pamg->level[l + 1];

  PetscFunctionBegin;
  if (C->gathered) PetscCall(pamg->steps->gather(C, pamg->level[l].comm));
  PetscCall(pamg->steps->solve(pamg, l + 1, C->b, C->x));
  if (C->gathered) PetscCall(pamg->steps->scatter(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle with Gauss-Seidel smoothing */
static PetscErrorCode PamgCycleSGS(PC_PAMG *pamg, PetscInt l, const void *b, void *x)
{
  PamgLevel *L = &pamg->level[l], *C = L + 1;

  PetscFunctionBegin;
  if (pamg->pre) PetscCall(pamg->steps->forward(L, pamg->pre, b, x, PamgCoarseRHS(C)));
  else {
    PetscCall(pamg->steps->zero(L, x));
    PetscCall(pamg->steps->residual(L, b, x, PamgResidualOf(L, L->iterate), PamgCoarseRHS(C)));
  }
  PetscCall(PamgCorrect(pamg, l));
  PetscCall(pamg->steps->backward(L, pamg->post, b, PamgOvercorrection(pamg, l), PamgCoarseSolution(C), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGCycleOnce(PC_PAMG *pamg, PetscInt l, const void *b, void *x)
{
  PamgLevel *L = &pamg->level[l], *C = L + 1;
  void      *y[2];

  PetscFunctionBegin;
  if (L->eliminates) {
    PetscCall(pamg->steps->eliminate(L, b, PamgCoarseRHS(C)));
    PetscCall(PamgCorrect(pamg, l));
    PetscCall(pamg->steps->substitute(L, PamgCoarseSolution(C), x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pamg->smoother == PAMG_SGS) {
    PetscCall(PamgCycleSGS(pamg, l, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  y[pamg->post % 2]     = x; // so that the last step after the correction leaves its result in x
  y[1 - pamg->post % 2] = L->iterate;
  if (pamg->pre) { // the steps before leave their result in y[0]
    void *before[2];

    before[pamg->pre % 2]     = y[0];
    before[1 - pamg->pre % 2] = y[1];
    PetscCall(PamgSmoothSteps(pamg, L, pamg->pre, PETSC_TRUE, b, before, NULL));
  } else PetscCall(pamg->steps->zero(L, y[0]));
  if (L->hasblocks) PetscCall(pamg->steps->blocks(L, PETSC_FALSE, b, y[0]));
  PetscCall(pamg->steps->residual(L, b, y[0], PamgResidualOf(L, y[1]), PamgCoarseRHS(C)));
  PetscCall(PamgCorrect(pamg, l));
  PetscCall(pamg->steps->prolong(L, PamgOvercorrection(pamg, l), PamgCoarseSolution(C), y[0]));
  if (L->hasblocks) PetscCall(pamg->steps->blocks(L, PETSC_TRUE, b, y[0]));
  if (!l && (pamg->end.wide || pamg->end.parts)) PetscCall(PamgSmoothWide(pamg, y));
  else PetscCall(PamgSmoothSteps(pamg, L, pamg->post, PETSC_FALSE, b, y, l ? NULL : &pamg->end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One or two steps of flexible CG with the cycle as preconditioner, see levelscalars.h */
static PetscErrorCode PamgKCycle(PC_PAMG *pamg, PetscInt l, void *b, void *x)
{
  PamgLevel *L = &pamg->level[l];
  PetscReal  mine[POLDER_KSUMS], *sum = pamg->ksum ? pamg->ksum + l * POLDER_KSUMS : mine;
  PetscBool  again;

  PetscFunctionBegin;
  PetscCall(PCPAMGCycleOnce(pamg, l, b, x));
  PetscCall(pamg->steps->dots(L, x, b, NULL, L->product, sum));
  PetscCall(pamg->steps->first(L, pamg->kthreshold, sum, L->product, b, &again));
  if (again) {
    PetscCall(PCPAMGCycleOnce(pamg, l, b, L->correction));
    PetscCall(pamg->steps->dots(L, L->correction, b, L->product, L->iterate, sum + POLDER_KSUMS_FIRST));
  }
  PetscCall(pamg->steps->second(L, pamg->kthreshold, sum, L->correction, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two visits, x = length[0] B b and x += length[1] B (b - A x), see PCPAMGSetLengths() */
static PetscErrorCode PamgTwoVisits(PC_PAMG *pamg, PetscInt l, void *b, void *x)
{
  PamgLevel *L = &pamg->level[l];

  PetscFunctionBegin;
  PetscCall(PCPAMGCycleOnce(pamg, l, b, x));
  if (L->length[0] != 1) PetscCall(pamg->steps->combine(L, 0, x, L->length[0], x));
  PetscCall(pamg->steps->residual(L, b, x, b, NULL));
  PetscCall(PCPAMGCycleOnce(pamg, l, b, L->correction));
  PetscCall(pamg->steps->combine(L, L->length[1], L->correction, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSolve(PC_PAMG *pamg, PetscInt l, void *b, void *x)
{
  PetscFunctionBegin;
  if (l == pamg->nlevel - 1) PetscCall(pamg->steps->last(pamg, b, x));
  else if (!pamg->level[l].twice) PetscCall(PCPAMGCycleOnce(pamg, l, b, x));
  else if (pamg->cycle == PC_PAMG_CYCLE_K) PetscCall(PamgKCycle(pamg, l, b, x));
  else PetscCall(PamgTwoVisits(pamg, l, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGCycle(PC_PAMG *pamg, const void *b, void *x)
{
  PetscFunctionBegin;
  PetscCall(pamg->steps->solve(pamg, 0, (void *)b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Flops a row of the weights in restriction and interpolation: a sum and two products and a difference and a sum for each direction, or line */
static PetscLogDouble PamgWeightFlops(const PamgLevel *L)
{
  return L->islines ? 6.0 : L->isgrid ? 6.0 * (L->grid.join[0] + L->grid.join[1] + L->grid.join[2]) : 0;
}

/*
  Flops: two an entry for each smoothing step, residual and product; four an unknown for each smoothing step, three for residual and correction, ten for a
  second visit
*/
PetscLogDouble PCPAMGFlops(const PC_PAMG *pamg, PetscLogDouble *last)
{
  const PetscInt steps  = pamg->pre + pamg->post;
  const PetscInt n      = pamg->level[pamg->nlevel - 1].n;
  PetscLogDouble visits = 1, flops = 0;

  for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) {
    const PamgLevel *L     = &pamg->level[l];
    const PetscBool  twice = pamg->level[l].twice;

    if (twice) visits *= 2;
    if (L->eliminates) flops += visits * (4.0 * L->eliminated.ptr[L->eliminated.m] + L->eliminated.m);
    else
      flops += visits * (steps * L->blocks.flops + 2.0 * PamgLocalEntries(L) * (steps + (twice ? 1 : 0)) +
                         (4.0 * steps + 3 + (twice ? 10 : 0) + PamgWeightFlops(L)) * L->n);
  }
  *last = visits * 2.0 * n * n;
  return flops;
}
