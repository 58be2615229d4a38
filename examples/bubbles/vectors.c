/* The vectors of bubbles.c: solution, right-hand side, level set */
#include "bubbles.h"

/* Number of a point in the natural numbering */
static inline PetscInt64 NaturalOf(const Problem *p, const PetscInt c[])
{
  return c[0] + p->n[0] * (c[1] + (PetscInt64)p->n[1] * c[2]);
}

PetscErrorCode ProblemCreateVector(const Problem *p, Mat A, const char name[], Vec *v)
{
  PetscFunctionBegin;
  if (p->dm) PetscCall(DMCreateGlobalVector(p->dm, v));
  else {
    PetscCall(MatCreateVecs(A, v, NULL));
    PetscCall(VecSetFromOptions(*v));
  }
  PetscCall(PetscObjectSetName((PetscObject)*v, name));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillRandom(const Problem *p, PetscInt stream, Vec v)
{
  PetscScalar *a;
  PetscInt     c[3];

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt l = 0; l < p->nl; ++l) {
    PointOf(p, l, c);
    a[l] = Random(p->seed, stream, NaturalOf(p, c));
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode RemoveMean(Vec v)
{
  PetscScalar sum;
  PetscInt    N;

  PetscFunctionBegin;
  PetscCall(VecSum(v, &sum));
  PetscCall(VecGetSize(v, &N));
  PetscCall(VecShift(v, -sum / N));
  PetscFunctionReturn(0);
}

/* Scales b so that |b - A x| = ratio |b|: the positive root of (ratio^2 - 1) |b|^2 s^2 + 2 (b, A x) s - |A x|^2 = 0 */
static PetscErrorCode ScaleToGuess(const Problem *p, Mat A, Vec x, Vec b)
{
  Vec         ax;
  PetscScalar dot;
  PetscReal   nb, nax, a2;

  PetscFunctionBegin;
  PetscCheck(p->ratio > 1.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-r0_ratio must be larger than 1");
  PetscCall(VecDuplicate(b, &ax));
  PetscCall(MatMult(A, x, ax));
  PetscCall(VecDot(b, ax, &dot));
  PetscCall(VecNorm(b, NORM_2, &nb));
  PetscCall(VecNorm(ax, NORM_2, &nax));
  a2 = (PetscSqr(p->ratio) - 1.0) * PetscSqr(nb);
  PetscCall(VecScale(b, (-PetscRealPart(dot) + PetscSqrtReal(PetscSqr(PetscRealPart(dot)) + a2 * PetscSqr(nax))) / a2));
  PetscCall(VecDestroy(&ax));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillSmooth(const Problem *p, Vec b)
{
  PetscScalar *a;
  PetscInt     c[3];
  PetscReal    x[3], volume = 1.0, scale = PETSC_MAX_REAL;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < p->dim; ++d) {
    volume *= p->h[d];
    scale = PetscMin(scale, PetscSqr(p->h[d]));
  }
  if (p->disc == DISC_FE) scale = volume;
  PetscCall(VecGetArrayWrite(b, &a));
  for (PetscInt l = 0; l < p->nl; ++l) {
    PetscReal f = p->singular ? 0.0 : 1.0;

    PointOf(p, l, c);
    PositionOf(p, c, x);
    for (PetscInt d = 0; d < p->dim; ++d) f += PetscCosReal((p->bc[2 * d] == BC_PERIODIC ? 2 : 1) * (d + 1) * PETSC_PI * x[d] / p->length[d]);
    a[l] = scale * f;
  }
  PetscCall(VecRestoreArrayWrite(b, &a));
  if (p->singular) PetscCall(RemoveMean(b));
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemFillVectors(const Problem *p, Mat A, Vec x, Vec b)
{
  Vec y;

  PetscFunctionBegin;
  if (p->guess == GUESS_RANDOM) PetscCall(FillRandom(p, 1, x));
  else PetscCall(VecSet(x, 0.0));
  switch (p->rhs) {
  case RHS_SMOOTH:
    PetscCall(FillSmooth(p, b));
    break;
  case RHS_RANDOM:
    PetscCall(FillRandom(p, 2, b));
    PetscCall(RemoveMean(b));
    if (p->guess == GUESS_RANDOM) PetscCall(ScaleToGuess(p, A, x, b));
    break;
  case RHS_IMAGE:
    PetscCall(VecDuplicate(b, &y));
    PetscCall(FillRandom(p, 2, y));
    PetscCall(MatMult(A, y, b));
    PetscCall(VecDestroy(&y));
    break;
  }
  PetscFunctionReturn(0);
}

/* Composes the level set on the operator under the name "levelset", where solvers look for it */
PetscErrorCode ProblemComposeLevelSet(const Problem *p, Mat A, Vec *ls)
{
  PetscScalar *a;
  PetscInt     c[3];
  PetscReal    x[3];
  PetscBool    compose = PETSC_TRUE, outside = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compose_levelset", &compose, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-levelset_outside", &outside, NULL));
  if (!p->nb) PetscFunctionReturn(0);
  if (!*ls) PetscCall(ProblemCreateVector(p, A, "levelset", ls));
  PetscCall(VecGetArrayWrite(*ls, &a));
  for (PetscInt l = 0; l < p->nl; ++l) {
    PointOf(p, l, c);
    PositionOf(p, c, x);
    a[l] = (outside ? -1.0 : 1.0) * ProblemLevelSet(p, x);
  }
  PetscCall(VecRestoreArrayWrite(*ls, &a));
  if (compose) PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)*ls));
  PetscFunctionReturn(0);
}
