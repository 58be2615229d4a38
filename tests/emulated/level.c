/* level.cu, levelround.cu and levelsums.cu in plain C */
#include "emulated.h"
#include "kernels/levelscalars.h"
#include "kernels/level.h"

/* The host twin in either precision, whose arguments are called s (single) or d; Float and Double cast a vector */
#define BOTH(stem, ...) \
  do { \
    if (single) { \
      typedef float value; \
      stem##Single_Host(__VA_ARGS__); \
    } else { \
      typedef PetscScalar value; \
      stem##_Host(__VA_ARGS__); \
    } \
  } while (0)
/* The same for a kernel that reads the matrix A */
#define EACH(stem, ...) \
  do { \
    if (A->bfloat) { \
      typedef float value; \
      stem##Half_Host(__VA_ARGS__); \
    } else BOTH(stem, __VA_ARGS__); \
  } while (0)
#define IN(v)  ((const value *)(v))
#define OUT(v) ((value *)(v))

/* Room for n values, to be freed */
static void *Room(PetscBool single, PetscInt n)
{
  return malloc((single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)(n + 1));
}

int PolderLevelScale_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscReal scale, const void *b, void *x, PolderStream stream)
{
  BOTH(PolderLevelScale, A->n, (value)scale, IN(A->dinv), IN(b), OUT(x));
  return 0;
}

/* Entry i of what a step from x has left */
static PetscScalar StepResult(PetscBool single, const PolderLevelEnd *end, const void *x, const void *y, PetscInt i)
{
  const float *base = (const float *)(end->base ? end->base : x);

  if (!single) return ((const PetscScalar *)y)[i];
  if (end->wide) return end->wide[i];
  return end->parts ? end->unit * ((PetscScalar)base[i] + ((const float *)y)[i]) : ((const float *)y)[i];
}

int PolderLevelJacobi_CUDA(PetscBool single, const PolderLevelMatrix *A, const PolderLevelStep *step, const void *b, const void *x, void *y, void *work,
                           const PolderExchange *sends, PolderStream stream)
{
  void *begun;

  if (sends) PolderExchangeStore_Host(sends, single ? sizeof(float) : sizeof(PetscScalar), step->zero && step->k == 1 ? b : x);
  if (A->nd > POLDER_LEVEL_DIAGONALS) return 1;
  begun = Room(single, A->n);
  if (step->zero) PolderLevelScale_CUDA(single, A, step->start, b, begun, stream);
  if (step->zero && step->k == 1) x = begun;
  if (step->zero && step->k == 2 && A->n) memcpy(y, begun, (single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)A->n);
  EACH(PolderLevelJacobi, A, step, IN(b), IN(x), OUT(y));
  if (step->end.r) {
    PolderCGState *s = step->end.rho.state;

    s->sum[1] = s->sum[2] = 0;
    for (PetscInt i = 0; i < A->n; ++i) {
      const PetscScalar z = StepResult(single, &step->end, x, y, i);

      s->sum[1] += step->end.r[i] * z;
      s->sum[2] += z;
    }
    if (!s->parallel) PolderCGSetRho(s, step->end.rho.first, PETSC_TRUE);
  }
  free(begun);
  return 0;
}

int PolderLevelColour_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const void *b, void *x, PolderStream stream)
{
  EACH(PolderLevelColour, A, n, row, IN(b), OUT(x));
  return 0;
}

int PolderLevelColourFirst_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt first, const PetscInt row[], const void *b, void *x, PolderStream stream)
{
  BOTH(PolderLevelColourFirst, A, first, row, IN(b), OUT(x));
  return 0;
}

int PolderLevelResidual_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *b, const void *x, void *r, const PolderAggregates *P, void *bc,
                             const PolderExchange *sends, PolderStream stream)
{
  void *mine = Room(single, A->n);

  if (sends) PolderExchangeStore_Host(sends, single ? sizeof(float) : sizeof(PetscScalar), x);
  EACH(PolderLevelResidual, A, IN(b), IN(x), OUT(mine), NULL, 0, NULL);
  for (PetscInt i = 0; i < A->n && r; ++i) {
    if (single) ((float *)r)[i] = ((float *)mine)[i];
    else ((PetscScalar *)r)[i] = ((PetscScalar *)mine)[i];
  }
  for (PetscInt a = 0; P && a <= P->n; ++a) {
    if (single) ((float *)bc)[a] = 0;
    else ((PetscScalar *)bc)[a] = 0;
    for (PetscInt k = P->ptr[a]; a < P->n && k < P->ptr[a + 1]; ++k) {
      if (single) ((float *)bc)[a] += ((float *)mine)[P->row[k]];
      else ((PetscScalar *)bc)[a] += ((PetscScalar *)mine)[P->row[k]];
    }
  }
  free(mine);
  return 0;
}

int PolderLevelProlong_CUDA(PetscBool single, PetscInt n, const PetscInt agg[], PetscInt nc, PetscReal scale, const void *xc, void *x, PolderStream stream)
{
  for (PetscInt i = 0; i < n; ++i) {
    if (agg[i] >= nc) continue;
    if (single) ((float *)x)[i] += (float)scale * ((const float *)xc)[agg[i]];
    else ((PetscScalar *)x)[i] += scale * ((const PetscScalar *)xc)[agg[i]];
  }
  return 0;
}

int PolderLevelMultDots_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *x, const void *b, const void *w, void *v, PolderLevelSums sums,
                             PolderStream stream)
{
  EACH(PolderLevelMultDots, A, PETSC_FALSE, IN(x), IN(b), IN(w), OUT(v), sums.sum);
  return 0;
}

int PolderLevelCombine_CUDA(PetscBool single, PetscInt n, PetscReal alpha, PetscReal beta, const void *x, void *y, PolderStream stream)
{
  BOTH(PolderLevelCombine, n, (value)alpha, (value)beta, IN(x), OUT(y));
  return 0;
}

int PolderLevelKFirst_CUDA(PetscBool single, PetscInt n, PetscReal threshold, const PetscReal sum[], const void *v, void *b, PolderStream stream)
{
  BOTH(PolderLevelKFirst, n, threshold, sum, IN(v), OUT(b));
  return 0;
}

int PolderLevelKSecond_CUDA(PetscBool single, PetscInt n, PetscReal threshold, const PetscReal sum[], const void *w, void *x, PolderStream stream)
{
  BOTH(PolderLevelKSecond, n, threshold, sum, IN(w), OUT(x));
  return 0;
}

int PolderLevelSpan_CUDA(PetscInt n, PetscInt line, const float dinv[], const PetscInt agg[], PetscInt nc, PetscInt span[3], PolderStream stream)
{
  PolderLevelSpan_Host(n, line, dinv, agg, nc, span);
  return 0;
}

int PolderLevelRound_CUDA(PetscInt n, PetscScalar scale, const PetscScalar x[], float y[], PolderStream stream)
{
  PolderLevelRound_Host(n, scale, x, y);
  return 0;
}

int PolderLevelWiden_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream)
{
  for (PetscInt i = 0; i < n; ++i) y[i] = x[i];
  return 0;
}

int PolderLevelWidenCentred_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream)
{
  PolderLevelWidenCentred_Host(n, x, y);
  return 0;
}

int PolderLevelRoundCentred_CUDA(PetscInt n, const PetscScalar x[], float y[], PolderStream stream)
{
  PolderLevelRoundCentred_Host(n, x, y);
  return 0;
}

int PolderLevelPower_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt k, const void *x, void *y, PetscReal norm[], void *work, PolderStream stream)
{
  const PetscReal length = k ? PetscSqrtReal(norm[k]) : 1;
  void           *seed = Room(single, A->n), *product = Room(single, A->n), *none = Room(single, A->n);
  PetscReal       sum[POLDER_KSUMS_FIRST];

  memset(none, 0, (single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)A->n);
  for (PetscInt i = 0; i < A->n; ++i) {
    if (single) ((float *)seed)[i] = (float)PolderPowerStart(i);
    else ((PetscScalar *)seed)[i] = PolderPowerStart(i);
  }
  EACH(PolderLevelMultDots, A, PETSC_FALSE, IN(k ? x : seed), IN(none), NULL, OUT(product), sum);
  PolderLevelScale_CUDA(single, A, length > 0 ? 1 / length : 0, product, y, stream);
  norm[k + 1] = 0;
  for (PetscInt i = 0; i < A->n; ++i) norm[k + 1] += PetscSqr(single ? ((float *)y)[i] : ((PetscScalar *)y)[i]);
  free(seed);
  free(product);
  free(none);
  return 0;
}

int PolderLevelSeed_CUDA(PetscBool single, PetscInt n, void *x, PolderStream stream)
{
  PolderLevelSeed_Host(single, n, x);
  return 0;
}
