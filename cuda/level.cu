/* What a multigrid cycle does on one level but for products with its matrix, and the choice of these by the matrix. */
#include "level.cuh"

template <class V, class E, class Do>
static int LevelStepsOf(const PolderLevelMatrix *A, Do act)
{
  const bool small = A->n < DIA_GRID_ROWS;

  if (A->nd == 5) return small ? act(LevelSteps<LEVEL_SMALL5, V, E>()) : act(LevelSteps<LEVEL_5, V, E>());
  if (A->nd == 7) return small ? act(LevelSteps<LEVEL_SMALL7, V, E>()) : act(LevelSteps<LEVEL_7, V, E>());
  return act(LevelSteps<LEVEL_OTHERS, V, E>());
}

/* The steps for A */
template <class Do>
static int LevelStepsDo(PetscBool single, const PolderLevelMatrix *A, Do act)
{
  if (!single) return LevelStepsOf<PetscScalar, PetscScalar>(A, act);
  return A->bfloat ? LevelStepsOf<float, PolderBfloat>(A, act) : LevelStepsOf<float, float>(A, act);
}

template <class V>
static int LevelScaleLaunch(const PolderLevelMatrix *A, V scale, const V *b, V *x, cudaStream_t stream)
{
  const V *dinv = (const V *)A->dinv;

  return LevelEach(
    A->n, [=] __device__(PetscInt i) { x[i] = scale * dinv[i] * b[i]; }, stream);
}

int PolderLevelScale_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscReal scale, const void *b, void *x, PolderStream stream)
{
  return single ? LevelScaleLaunch<float>(A, (float)scale, (const float *)b, (float *)x, stream)
                : LevelScaleLaunch<PetscScalar>(A, scale, (const PetscScalar *)b, (PetscScalar *)x, stream);
}

int PolderLevelJacobi_CUDA(PetscBool single, const PolderLevelMatrix *A, const PolderLevelStep *step, const void *b, const void *x, void *y, void *work,
                           const PolderExchange *sends, PolderStream stream)
{
  const LevelRun run = {work, stream, PolderSendingOf(sends, step->zero && step->k == 1 ? b : x, !single)};

  return LevelStepsDo(single, A, [&](auto steps) { return steps.jacobi(A, step, b, x, y, run); });
}

int PolderLevelColour_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const void *b, void *x, PolderStream stream)
{
  return LevelStepsDo(single, A, [&](auto steps) { return steps.colour(A, n, row, b, x, stream); });
}

int PolderLevelResidual_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *b, const void *x, void *r, const PolderAggregates *P, void *bc,
                             const PolderExchange *sends, PolderStream stream)
{
  return LevelStepsDo(single, A, [&](auto steps) { return steps.residual(A, b, x, r, P, bc, sends, stream); });
}

template <class V>
static int LevelColourFirstLaunch(PetscInt n, const V *dinv, PetscInt first, const PetscInt row[], const V *b, V *x, cudaStream_t stream)
{
  return LevelEach(
    n,
    [=] __device__(PetscInt k) {
      const PetscInt i = __ldg(row + k);

      x[i] = k < first ? dinv[i] * b[i] : 0;
    },
    stream);
}

int PolderLevelColourFirst_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt first, const PetscInt row[], const void *b, void *x, PolderStream stream)
{
  return single ? LevelColourFirstLaunch(A->n, (const float *)A->dinv, first, row, (const float *)b, (float *)x, stream)
                : LevelColourFirstLaunch(A->n, (const PetscScalar *)A->dinv, first, row, (const PetscScalar *)b, (PetscScalar *)x, stream);
}

template <class V>
static int LevelProlongLaunch(PetscInt n, const PetscInt agg[], PetscInt nc, V scale, const V *xc, V *x, cudaStream_t stream)
{
  return LevelEach(
    n,
    [=] __device__(PetscInt i) {
      const PetscInt a = agg[i];

      if (a < nc) x[i] += scale * __ldg(xc + a);
    },
    stream);
}

int PolderLevelProlong_CUDA(PetscBool single, PetscInt n, const PetscInt agg[], PetscInt nc, PetscReal scale, const void *xc, void *x, PolderStream stream)
{
  return single ? LevelProlongLaunch(n, agg, nc, (float)scale, (const float *)xc, (float *)x, stream)
                : LevelProlongLaunch(n, agg, nc, scale, (const PetscScalar *)xc, (PetscScalar *)x, stream);
}
