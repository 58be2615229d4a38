/* coarse.cu, coarsefactor.cu and coarseinverse.cu in plain C */
#include "emulated.h"
#include "kernels/coarse.h"
#include <petscblaslapack.h>

PolderEmulateWork(PolderCoarseInvertWork, (PetscInt ld));
PolderEmulateWork(PolderCholeskyFactorWork, (PetscInt n, PetscInt ld));
PolderEmulateWork(PolderLUInverseWork, (PetscInt n, PetscInt ld));

/* Entry (i, j) of a dense matrix */
#define AT(A, i, j) (A).a[(size_t)(i) * (size_t)(A).ld + (size_t)(j)]

int PolderCoarseDense_CUDA(const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PolderDense E, PolderStream stream)
{
  for (PetscInt k = 0; k < *n; ++k) {
    if (key[k] < (PetscInt64)E.n * E.n) AT(E, key[k] / E.n, key[k] % E.n) = val[k];
  }
  return 0;
}

int PolderCoarseScale_CUDA(PolderDense E, PetscReal zero, PetscBool nullspace, PetscScalar scale[], PetscScalar scaled[], PetscScalar info[],
                           PolderStream stream)
{
  const PetscInt    d       = E.n;
  const PolderDense S       = {d, E.ld, scaled};
  PetscReal         largest = 0;

  info[POLDER_COARSE_NZERO] = info[POLDER_COARSE_NNULL] = info[POLDER_COARSE_NDEP] = info[POLDER_COARSE_BAD] = 0;
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt j = 0; j < i; ++j) AT(E, i, j) = AT(E, j, i) = 0.5 * (AT(E, i, j) + AT(E, j, i));
    for (PetscInt j = 0; j <= i; ++j) {
      if (PetscIsInfOrNanScalar(AT(E, i, j))) info[POLDER_COARSE_BAD] = 1;
    }
    largest = PetscMax(largest, AT(E, i, i));
  }
  for (PetscInt i = 0; i < d; ++i) {
    const PetscBool drop = (PetscBool)(AT(E, i, i) <= zero * largest), last = (PetscBool)(nullspace && i == d - 1);

    scale[i] = drop || last ? 0 : 1 / PetscSqrtReal(AT(E, i, i));
    info[POLDER_COARSE_NZERO] += drop;
    if (last) info[POLDER_COARSE_NNULL] = !drop;
  }
  for (PetscInt i = 0; i < E.ld; ++i)
    for (PetscInt j = 0; j < E.ld; ++j) AT(S, i, j) = i < d && j < d ? AT(E, i, j) * scale[i] * scale[j] : i == j;
  return 0;
}

int PolderCoarseEquilibrate_CUDA(PolderDense E, PetscReal zero, PetscBool nullspace, PetscScalar rows[], PetscScalar cols[], PetscScalar info[],
                                 PolderStream stream)
{
  const PetscInt d       = E.n;
  PetscReal      largest = 0;

  info[POLDER_COARSE_NZERO] = info[POLDER_COARSE_NNULL] = info[POLDER_COARSE_NDEP] = info[POLDER_COARSE_BAD] = 0;
  for (PetscInt i = 0; i < d; ++i) rows[i] = cols[i] = 0;
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt j = 0; j < d; ++j) {
      if (PetscIsInfOrNanScalar(AT(E, i, j))) info[POLDER_COARSE_BAD] = 1;
      rows[i] = PetscMax(rows[i], PetscAbsScalar(AT(E, i, j)));
      cols[j] = PetscMax(cols[j], PetscAbsScalar(AT(E, i, j)));
    }
    largest = PetscMax(largest, rows[i]);
  }
  for (PetscInt i = 0; i < d; ++i) {
    const PetscBool drop = (PetscBool)(rows[i] == 0 || cols[i] == 0 || PetscMax(rows[i], cols[i]) <= zero * largest),
                    last = (PetscBool)(nullspace && i == d - 1);

    rows[i] = drop || last ? 0 : 1 / rows[i];
    info[POLDER_COARSE_NZERO] += drop;
    if (last) info[POLDER_COARSE_NNULL] = !drop;
  }
  for (PetscInt j = 0; j < d; ++j) {
    PetscReal most = 0;

    for (PetscInt i = 0; i < d; ++i) most = PetscMax(most, rows[i] * PetscAbsScalar(AT(E, i, j)));
    cols[j] = rows[j] == 0 ? 0 : (most > 0 ? 1 / most : 1);
  }
  return 0;
}

/* Pivots at a time, so that the matrix passes through the caches less often. Each entry changes as it would with one at a time */
#define PIVOTS 8

/* Columns k to k + m of a matrix during Gauss-Jordan: as they are now, as each was when it had its turn, and the inverse of its pivot; 0: it is left out */
typedef struct {
  PetscInt     m, k;
  PetscScalar *now[PIVOTS], *then[PIVOTS], inverse[PIVOTS];
} Panel;

static void PanelSweep(PetscInt d, Panel *P, PetscReal tol, PetscScalar scale[], PetscScalar info[])
{
  for (PetscInt b = 0; b < P->m; ++b) {
    const PetscInt     k     = P->k + b;
    PetscScalar *const r     = P->then[b];
    const PetscScalar  pivot = P->now[b][k], inverse = pivot > tol ? 1 / pivot : 0;

    if (!(pivot > tol) && scale[k] != 0) {
      scale[k] = 0;
      info[POLDER_COARSE_NDEP] += 1;
    }
    for (PetscInt i = 0; i < d; ++i) r[i] = P->now[b][i];
    for (PetscInt c = 0; c < P->m; ++c) {
      for (PetscInt i = 0; i < d; ++i) P->now[c][i] = c == b ? r[i] * inverse : i == k ? r[P->k + c] * inverse : P->now[c][i] - r[i] * r[P->k + c] * inverse;
    }
    P->now[b][k]  = -inverse;
    P->inverse[b] = inverse;
  }
}

/* Gauss-Jordan on the lower half */
int PolderCoarseInvert_CUDA(PolderDense A, PetscReal tol, PetscScalar scale[], PetscScalar info[], void *work, PolderStream stream)
{
  const PetscInt d       = A.n;
  PetscScalar   *columns = calloc(2 * PIVOTS * (size_t)(d + 1), sizeof(*columns));
  Panel          P       = {0};

  for (int b = 0; b < PIVOTS; ++b) {
    P.now[b]  = columns + (size_t)b * (size_t)d;
    P.then[b] = columns + (size_t)(PIVOTS + b) * (size_t)d;
  }
  for (P.k = 0; P.k < d; P.k += P.m) {
    P.m = PetscMin(PIVOTS, d - P.k);
    for (PetscInt b = 0; b < P.m; ++b)
      for (PetscInt i = 0; i < d; ++i) P.now[b][i] = i <= P.k + b ? AT(A, P.k + b, i) : AT(A, i, P.k + b);
    PanelSweep(d, &P, tol, scale, info);
    for (PetscInt i = 0; i < d; ++i) {
      PetscScalar *restrict const row = &AT(A, i, 0);

      for (PetscInt j = 0; j <= i && !(i >= P.k && i < P.k + P.m); ++j) {
        PetscScalar a = row[j];

        for (int b = 0; b < PIVOTS; ++b) a -= P.then[b][i] * P.then[b][j] * P.inverse[b];
        row[j] = a;
      }
    }
    for (PetscInt b = 0; b < P.m; ++b)
      for (PetscInt i = 0; i < d; ++i) *(i <= P.k + b ? &AT(A, P.k + b, i) : &AT(A, i, P.k + b)) = P.now[b][i];
    for (int b = 0; b < PIVOTS; ++b) P.inverse[b] = 0;
  }
  free(columns);
  for (PetscInt i = 0; i < A.ld; ++i) {
    for (PetscInt j = 0; j <= i; ++j) AT(A, i, j) = AT(A, j, i) = i < d ? -AT(A, i, j) * scale[i] * scale[j] : 0;
  }
  return 0;
}

int PolderDenseMult_CUDA(PolderDense A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscBool early, PolderStream stream)
{
  for (PetscInt i = 0; i < A.n; ++i) {
    PetscScalar s = 0;

    for (PetscInt j = 0; j < A.n; ++j) s += AT(A, i, j) * x[j];
    z[i] = (y ? y[i] : 0) + alpha * s;
  }
  return 0;
}

size_t PolderSymmetricMultWork_CUDA(PetscInt ld)
{
  return 0;
}

int PolderSymmetricMult_CUDA(PolderDense A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], void *work, PetscBool early,
                             PolderStream stream)
{
  return PolderDenseMult_CUDA(A, alpha, x, y, z, early, stream);
}

int PolderCoarseNorms_CUDA(PolderDense E, const PetscScalar inverse[], const PetscScalar rows[], const PetscScalar cols[], PetscScalar b[], PetscScalar norms[],
                           PolderStream stream)
{
  const PetscInt    d = E.n;
  const PolderDense X = {d, E.ld, (PetscScalar *)inverse};

  for (PetscInt i = 0; i < d; ++i) {
    PetscReal e = 0, x = 0;

    for (PetscInt j = 0; j < d; ++j) {
      if (rows[j] == 0) continue;
      e += PetscAbsScalar(AT(E, i, j)) * cols[j];
      x += PetscAbsScalar(AT(X, i, j)) / rows[j];
    }
    norms[i]     = rows[i] * e;
    norms[d + i] = rows[i] != 0 ? x / cols[i] : 0;
    b[i]         = rows[i] != 0 ? PetscSinReal((1 + i) * 12.9898) / rows[i] : 0;
  }
  return 0;
}

int PolderCoarseAssess_CUDA(PetscInt d, const PetscScalar rows[], const PetscScalar norms[], const PetscScalar b[], const PetscScalar y[], PetscScalar info[],
                            PolderStream stream)
{
  PetscReal e = 0, x = 0, rr = 0, bb = 0;

  for (PetscInt i = 0; i < d; ++i) {
    e = PetscMax(e, norms[i]);
    x = PetscMax(x, norms[d + i]);
    rr += PetscSqr(rows[i] * (b[i] - y[i]));
    bb += PetscSqr(rows[i] * b[i]);
  }
  info[POLDER_COARSE_COND]  = e * x;
  info[POLDER_COARSE_RESID] = bb > 0 ? PetscSqrtReal(rr / bb) : 0;
  return 0;
}

int PolderCoarseIdentity_CUDA(PolderDense E, const PetscScalar rows[], const PetscScalar cols[], PetscScalar to[], PolderStream stream)
{
  const PetscInt    d = E.n;
  const PolderDense L = {d, E.ld, to};

  for (PetscInt i = 0; i < d; ++i)
    for (PetscInt j = 0; j < d; ++j) AT(L, i, j) = rows[i] != 0 && cols[j] != 0 ? AT(E, i, j) * rows[i] * cols[j] : i == j;
  return 0;
}

int PolderPointwiseMult_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream)
{
  for (PetscInt i = 0; i < n; ++i) z[i] = x[i] * y[i];
  return 0;
}

int PolderCholeskyFactor_CUDA(PolderDense A, size_t bytes, void *work, PolderStream stream)
{
  for (PetscInt i = 0; i < A.n; ++i) {
    for (PetscInt j = 0; j <= i; ++j) {
      PetscScalar t = AT(A, i, j);

      for (PetscInt k = 0; k < j; ++k) t -= AT(A, i, k) * AT(A, j, k);
      AT(A, i, j) = i == j ? PetscSqrtReal(t) : t / AT(A, j, j);
    }
  }
  return 0;
}

int PolderCholeskySolve_CUDA(PolderDense L, PetscScalar x[], PolderStream stream)
{
  for (PetscInt i = 0; i < L.n; ++i) {
    for (PetscInt k = 0; k < i; ++k) x[i] -= AT(L, i, k) * x[k];
    x[i] /= AT(L, i, i);
  }
  for (PetscInt i = L.n - 1; i >= 0; --i) {
    for (PetscInt k = i + 1; k < L.n; ++k) x[i] -= AT(L, k, i) * x[k];
    x[i] /= AT(L, i, i);
  }
  return 0;
}

/* LAPACK has columns where the arrays have rows, as cuSOLVER */
int PolderLUInverse_CUDA(PolderDense A, PetscReal tol, PetscScalar rows[], PetscScalar cols[], PetscScalar inverse[], PetscScalar info[], void *work,
                         PolderStream stream)
{
  const PetscBLASInt n = (PetscBLASInt)A.n, ld = (PetscBLASInt)A.ld;
  const PolderDense  X     = {A.n, A.ld, inverse};
  PetscBLASInt      *order = malloc(sizeof(*order) * (size_t)(n + 1)), report;

  if (n) LAPACKgetrf_(&n, &n, A.a, &ld, order, &report);
  for (PetscInt k = 0; k < n; ++k) {
    if (PetscAbsScalar(AT(A, k, k)) > tol) continue;
    AT(A, k, k) = 1;
    if (rows[k] != 0) info[POLDER_COARSE_NDEP] += 1;
    rows[k] = cols[k] = 0;
  }
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) AT(X, i, j) = i == j;
  if (n) LAPACKgetrs_("N", &n, &n, A.a, &ld, order, inverse, &ld, &report);
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) AT(X, i, j) = rows[i] != 0 && rows[j] != 0 ? AT(X, i, j) * cols[i] * rows[j] : 0;
  free(order);
  return 0;
}
