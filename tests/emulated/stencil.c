/* dia.cu and tns.cu in plain C */
#include "emulated.h"
#include "kernels/dia.h"
#include "kernels/tns.h"
#include "kernels/vec.h"

PolderEmulateWork(PolderDiaMultWork, (PetscInt m));

int PolderDiaMult_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha, const PetscScalar x[],
                       const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work, PolderStream stream)
{
  PetscScalar *Ax;

  if (dot) {
    Ax = malloc(sizeof(*Ax) * (size_t)(m + 1));
    PolderDiaMult_Host(m, n, nd, off, val, 1, x, NULL, Ax);
    *dot = PolderDot_Host(m, x, Ax);
    free(Ax);
  }
  PolderDiaMult_Host(m, n, nd, off, val, alpha, x, y, z);
  return 0;
}

int PolderDiaMultSingle_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const float *const val[], PetscScalar alpha, const PetscScalar x[],
                             const PetscScalar y[], PetscScalar z[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) {
    PetscScalar s = 0;

    for (PetscInt d = 0; d < nd; ++d) {
      if (i + off[d] >= 0 && i + off[d] < n) s += (PetscScalar)val[d][i] * x[i + off[d]];
    }
    z[i] = (y ? y[i] : 0) + alpha * s;
  }
  return 0;
}

int PolderToSingle_CUDA(size_t n, const PetscScalar v[], float s[], int *bad, PolderStream stream)
{
  if (!PolderToSingle_Host(n, v, s)) *bad = 1;
  return 0;
}

PolderEmulate(PolderToBfloat, (size_t n, const float s[], PolderBfloat a[], int *bad, PolderStream stream), n, s, a, bad);

int PolderDiaOffsets_CUDA(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], unsigned char seen[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i)
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) seen[aj[k] - i + m] = 1;
  return 0;
}

int PolderDiaFill_CUDA(PetscInt m, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt ai[], const PetscInt aj[],
                       const PetscScalar aa[], PetscReal tol, int *bad, PolderStream stream)
{
  if (!PolderDiaFill_Host(m, nd, first, off, val, ai, aj, aa, tol)) *bad = 1;
  return 0;
}

/* Entry k of an array of doubles or floats */
static PetscScalar At(PetscBool single, const void *a, PetscInt k)
{
  return single ? (PetscScalar)((const float *)a)[k] : ((const PetscScalar *)a)[k];
}

int PolderTriSweepDIA_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv, const PetscScalar r[],
                           const PetscScalar c[], const PetscScalar x[], PetscScalar y[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) {
    PetscScalar s = 0;

    for (PetscInt d = 0; d < nd; ++d) {
      const PetscInt j = i + off[d];

      if (j >= 0 && j < m) s += At(single, val[d], i) * (x ? x[j] : At(single, dinv, j) * r[j]);
    }
    y[i] = (c ? c[i] : At(single, dinv, i) * r[i]) - At(single, dinv, i) * s;
  }
  return 0;
}

int PolderTriPair_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv, const PetscScalar in[],
                       PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream)
{
  const PetscBool    upper = (PetscBool)(off[0] > 0);
  const PetscScalar *r = upper ? NULL : in, *c = upper ? in : NULL;
  PetscScalar       *y = malloc(sizeof(*y) * (size_t)(m + 1));

  PolderTriSweepDIA_CUDA(single, m, nd, off, val, dinv, r, c, c, y, stream);
  PolderTriSweepDIA_CUDA(single, m, nd, off, val, dinv, r, c, y, z, stream);
  free(y);
  if (!rho) return 0;
  rho->state->sum[1] = 0;
  for (PetscInt i = 0; i < m; ++i) rho->state->sum[1] += z[i] * z[i] / At(single, dinv, i);
  PolderEmulatedSetRho(rho->state, rho->first);
  return 0;
}

int PolderTriPairDirection_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv,
                                const PetscScalar in[], PetscBool first, PetscScalar p[], PetscScalar x[], PolderCGState *state, void *work,
                                PolderStream stream)
{
  PetscScalar *z = malloc(sizeof(*z) * (size_t)(m + 1)), sum = 0;

  if (!state->frozen) {
    PolderTriPair_CUDA(single, m, nd, off, val, dinv, in, z, NULL, work, stream);
    for (PetscInt i = 0; i < m; ++i) {
      if (!first) x[i] += state->alpha * p[i];
      p[i] = z[i] + (first ? 0 : state->beta * (p[i] - state->pmean));
      sum += p[i];
    }
    state->pmean = state->nullspace ? sum / state->N : 0;
  }
  free(z);
  return 0;
}

int PolderTriScale_CUDA(PetscBool single, PetscInt m, const void *dinv, const PetscScalar r[], PetscScalar y[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) y[i] = At(single, dinv, i) * r[i];
  return 0;
}

int PolderTriSweepCSR_CUDA(PetscBool single, PetscBool upper, PetscInt m, PetscInt nz, const PetscInt ai[], const PetscInt diag[], const PetscInt aj[],
                           const void *aa, const void *dinv, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[],
                           PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) {
    PetscScalar s = 0;

    for (PetscInt k = upper ? diag[i] + 1 : ai[i]; k < (upper ? ai[i + 1] : diag[i]); ++k)
      s += At(single, aa, k) * (x ? x[aj[k]] : At(single, dinv, aj[k]) * r[aj[k]]);
    y[i] = (c ? c[i] : At(single, dinv, i) * r[i]) - At(single, dinv, i) * s;
  }
  return 0;
}

int PolderTriGhosts_CUDA(PetscBool single, PetscBool upper, PetscInt m, PetscInt nlow, const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[],
                         const void *dinv, const PetscScalar ghost[], PetscScalar y[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) {
    PetscScalar s = 0;

    for (PetscInt k = bi[i]; k < bi[i + 1]; ++k) {
      if ((bj[k] >= nlow) == (PetscBool)upper) s += (single ? (PetscScalar)(float)ba[k] : ba[k]) * ghost[bj[k]];
    }
    y[i] -= At(single, dinv, i) * s;
  }
  return 0;
}

int PolderTriDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt diag[], int *bad, PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) {
    diag[i] = -1;
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (aj[k] == i) diag[i] = k;
      if (k > ai[i] && aj[k] <= aj[k - 1]) *bad = 1;
    }
    if (diag[i] >= 0) continue;
    diag[i] = ai[i];
    *bad    = 1;
  }
  return 0;
}

int PolderTriInverse_CUDA(PetscBool single, PetscInt m, const PetscInt diag[], const PetscScalar aa[], void *dinv, int *bad, PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) {
    const PetscScalar d = aa[diag ? diag[i] : i];

    if (single) ((float *)dinv)[i] = (float)(1 / d);
    else ((PetscScalar *)dinv)[i] = 1 / d;
    if (!(d > 0) || isinf(d) || !(At(single, dinv, i) > 0) || isinf(At(single, dinv, i))) *bad = 1;
  }
  return 0;
}
