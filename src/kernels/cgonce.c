/* Host kernels for conjugate gradients with one reduction a step. */
#include "cgonce.h"

enum {
  LANES = 8
};

static inline void PolderCGOnceAdd_Private(PetscScalar r, PetscScalar z, PetscScalar v, PetscScalar w, int l, PetscScalar sum[][LANES])
{
  sum[POLDER_ONCE_RR][l] += r * r;
  sum[POLDER_ONCE_RZ][l] += r * z;
  sum[POLDER_ONCE_Z][l] += z;
  sum[POLDER_ONCE_R][l] += r;
  sum[POLDER_ONCE_ZV][l] += z * v;
  sum[POLDER_ONCE_ZZ][l] += z * z;
  sum[POLDER_ONCE_ZW][l] += z * w;
}

void PolderCGOnceSums_Host(const PolderCGOnce *a, PetscScalar total[])
{
  const PetscScalar *r = a->r, *z = a->z, *v = a->v, *w = a->w;
  PetscScalar        sum[POLDER_ONCE_SUMS][LANES] = {{0}};
  PetscInt           i;

  for (i = 0; i + LANES <= a->n; i += LANES) {
    for (int l = 0; l < LANES; ++l) PolderCGOnceAdd_Private(r[i + l], z[i + l], v[i + l], w ? w[i + l] : 0, l, sum);
  }
  for (; i < a->n; ++i) PolderCGOnceAdd_Private(r[i], z[i], v[i], w ? w[i] : 0, 0, sum);
  for (int k = 0; k < POLDER_ONCE_SUMS; ++k) {
    total[k] = 0;
    for (int l = 0; l < LANES; ++l) total[k] += sum[k][l];
  }
}

void PolderCGOnceStep_Host(const PolderCGOnce *a, PetscBool first, const PolderCGState *s)
{
  const PetscScalar mean = s->mean, rmean = s->rmean, alpha = s->alpha, beta = s->beta;
  const PetscScalar *restrict v = a->v, *z = a->z ? a->z : a->r;
  PetscScalar *restrict p = a->p, *restrict w = a->w, *restrict x = a->x, *r = a->r;

  for (PetscInt i = 0; i < a->n; ++i) {
    p[i] = first ? z[i] - mean : z[i] - mean + beta * p[i];
    w[i] = first ? v[i] : v[i] + beta * w[i];
    x[i] += alpha * p[i];
    r[i] -= alpha * w[i] + rmean;
    if (a->dinv) a->z[i] = a->dinv[i] * r[i];
  }
}
