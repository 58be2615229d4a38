/* dia.cu and tns.cu in plain C */
#include "emulated.h"
#include "kernels/dia.h"
#include "kernels/diaclass.h"
#include "kernels/tns.h"
#include "kernels/vec.h"

PolderEmulateWork(PolderDiaMultWork, (PetscInt m));

int PolderDiaMult_CUDA(const PolderDia *A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work,
                       PolderStream stream)
{
  PetscScalar *Ax;

  if (dot) {
    Ax = malloc(sizeof(*Ax) * (size_t)(A->m + 1));
    PolderDiaMult_Host(A, 1, x, NULL, Ax);
    *dot = PolderDot_Host(A->m, x, Ax);
    free(Ax);
  }
  PolderDiaMult_Host(A, alpha, x, y, z);
  return 0;
}

int PolderDiaMultGhosts_CUDA(const PolderDia *A, const PetscScalar x[], PetscScalar z[], PetscScalar *dot, const PolderDiaGhosts *ghosts, void *work,
                             PolderStream stream)
{
  const PolderExchange *e = ghosts->exchange;
  const PetscInt        n = ghosts->low + ghosts->high;
  uint64_t              number;

  (void)PolderDiaMult_CUDA(A, 1, x, NULL, z, dot, work, stream);
  number = PolderExchangeDue_Host(e);
  for (int k = 0; k < e->n && ghosts->count; ++k) ++e->sent[k];
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt    i = k < ghosts->low ? k : A->m - n + k;
    const PetscScalar s = ghosts->aa[k] * PolderExchangeValue_Host(e, number, k);

    z[i] += s;
    *dot += x[i] * s;
  }
  if (ghosts->peers) PolderPeersSum_Host(ghosts->peers, 1, dot);
  return 0;
}

int PolderDiaMultSingle_CUDA(const PolderDia *A, const float *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                             PolderStream stream)
{
  const PetscInt *off = A->off;

  for (PetscInt i = 0; i < A->m; ++i) {
    PetscScalar s = 0;

    for (PetscInt d = 0; d < A->nd; ++d) {
      if (i + off[d] >= 0 && i + off[d] < A->n) s += (PetscScalar)val[d][i] * x[i + off[d]];
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

PolderEmulate(PolderHalve, (const PolderHalving *arrays, int *bad, PolderStream stream), arrays, bad);

int PolderDiaOffsets_CUDA(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], unsigned char seen[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i)
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) seen[aj[k] - i + m] = 1;
  return 0;
}

int PolderDiaFill_CUDA(const PolderDia *D, PetscScalar *const val[], PolderRows A, PetscReal tol, int *bad, PolderStream stream)
{
  if (!PolderDiaFill_Host(D, val, A, tol)) *bad = POLDER_DIA_WRONG;
  else if (tol < PETSC_INFINITY && !PolderDiaFill_Host(D, val, A, 0)) *bad |= POLDER_DIA_ROUNDED;
  return 0;
}

PolderEmulate(PolderDiaOwnRows,
              (const PolderDia *D, PetscScalar *const val[], PolderRows rows, PolderRows ghosts, const PetscInt garray[], PetscInt start, PolderStream stream),
              D, val, rows, ghosts, garray, start);

PolderEmulate(PolderDiaClassify, (const PolderDiaStencil *S, unsigned char code[], PolderDiaClasses *C, PolderStream stream), S, code, C);

PetscBool PolderDiaClassesServe_CUDA(const PolderDiaStencil *S)
{
  const PetscInt c = S->nd / 2;

  return (PetscBool)((S->nd == 5 || S->nd == 7) && S->main == c && S->off[c + 1] == 1 && S->off[0] == -S->off[S->nd - 1]);
}

/* Entry k of an array of doubles or floats */
static PetscScalar At(PetscBool single, const void *a, PetscInt k)
{
  return single ? (PetscScalar)((const float *)a)[k] : ((const PetscScalar *)a)[k];
}

int PolderTriSweepDIA_CUDA(const PolderTriangle *T, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], PolderStream stream)
{
  for (PetscInt i = 0; i < T->m; ++i) {
    PetscScalar s = 0;

    for (PetscInt d = 0; d < T->nd; ++d) {
      const PetscInt j = i + T->off[d];

      if (j >= 0 && j < T->m) s += At(T->single, T->val[d], i) * (x ? x[j] : At(T->single, T->dinv, j) * r[j]);
    }
    y[i] = (c ? c[i] : At(T->single, T->dinv, i) * r[i]) - At(T->single, T->dinv, i) * s;
  }
  return 0;
}

int PolderTriPair_CUDA(const PolderTriangle *T, const PetscScalar in[], PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream)
{
  const PetscBool    upper = (PetscBool)(T->off[0] > 0);
  const PetscScalar *r = upper ? NULL : in, *c = upper ? in : NULL;
  PetscScalar       *y = malloc(sizeof(*y) * (size_t)(T->m + 1));

  PolderTriSweepDIA_CUDA(T, r, c, c, y, stream);
  PolderTriSweepDIA_CUDA(T, r, c, y, z, stream);
  free(y);
  if (!rho) return 0;
  rho->state->sum[1] = 0;
  for (PetscInt i = 0; i < T->m; ++i) rho->state->sum[1] += z[i] * z[i] / At(T->single, T->dinv, i);
  if (!rho->state->parallel) PolderCGSetRho(rho->state, rho->first, PETSC_TRUE);
  return 0;
}

int PolderTriPairDirection_CUDA(const PolderTriangle *T, const PetscScalar in[], PetscBool first, PetscScalar p[], PetscScalar x[], PolderCGState *state,
                                void *work, PolderStream stream)
{
  PetscScalar *z = malloc(sizeof(*z) * (size_t)(T->m + 1)), sum = 0;

  if (!state->frozen) {
    PolderTriPair_CUDA(T, in, z, NULL, work, stream);
    for (PetscInt i = 0; i < T->m; ++i) {
      if (!first) x[i] += state->alpha * p[i];
      p[i] = z[i] + (first ? 0 : state->beta * (p[i] - state->pmean));
      sum += p[i];
    }
    state->pmean = state->parallel ? sum : state->nullspace ? sum / state->N : 0;
  }
  free(z);
  return 0;
}

int PolderTriScale_CUDA(PetscBool single, PetscInt m, const void *dinv, const PetscScalar r[], PetscScalar y[], PolderStream stream)
{
  for (PetscInt i = 0; i < m; ++i) y[i] = At(single, dinv, i) * r[i];
  return 0;
}

int PolderTriSweepCSR_CUDA(const PolderTriangle *T, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], PolderStream stream)
{
  for (PetscInt i = 0; i < T->m; ++i) {
    PetscScalar s = 0;

    for (PetscInt k = T->upper ? T->diag[i] + 1 : T->i[i]; k < (T->upper ? T->i[i + 1] : T->diag[i]); ++k) {
      const PetscInt j = T->j[k];

      s += At(T->single, T->a, k) * (x ? x[j] : At(T->single, T->dinv, j) * r[j]);
    }
    y[i] = (c ? c[i] : At(T->single, T->dinv, i) * r[i]) - At(T->single, T->dinv, i) * s;
  }
  return 0;
}

int PolderTriGhosts_CUDA(const PolderTriangle *T, PetscInt nlow, PolderRows B, const PetscScalar ghost[], PetscScalar y[], PolderStream stream)
{
  for (PetscInt i = 0; i < B.n; ++i) {
    PetscScalar s = 0;

    for (PetscInt k = B.i[i]; k < B.i[i + 1]; ++k) {
      if ((B.j[k] >= nlow) == (PetscBool)T->upper) s += (T->single ? (PetscScalar)(float)B.a[k] : B.a[k]) * ghost[B.j[k]];
    }
    y[i] -= At(T->single, T->dinv, i) * s;
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
