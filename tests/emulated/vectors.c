/* vec.cu, csr.cu, cg.cu and cgsmall.cu in plain C */
#include "emulated.h"
#include "kernels/csr.h"
#include "kernels/dia.h"
#include "kernels/level.h"
#include "kernels/shadow.h"
#include "kernels/vec.h"

PolderEmulateWork(PolderReduceWork, (void));
PolderEmulate(PolderShadowFill, (PetscInt seed, PetscInt column, PetscInt first, PetscInt n, PetscScalar a[], PolderStream stream), seed, column, first, n, a);

int PolderNorm_CUDA(PetscInt n, const PetscScalar x[], volatile PetscReal *norm, void *work, PolderStream stream)
{
  const PetscReal sum = PolderDot_Host(n, x, x);

  *norm = PetscIsNanReal(sum) ? HUGE_VAL : PetscSqrtReal(sum);
  return 0;
}

int PolderReciprocal_CUDA(PetscInt n, PetscScalar zero, const PetscScalar x[], PetscScalar y[], PolderStream stream)
{
  PolderReciprocal_Host(n, zero, x, y);
  return 0;
}

int PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream)
{
  *dot = PolderDot_Host(n, x, y);
  return 0;
}

int PolderDots_CUDA(PetscInt n, PetscInt count, const PetscScalar x[], const PetscScalar *const y[], const PolderDotsTo *to, void *work, PolderStream stream)
{
  for (PetscInt k = 0; k < count; ++k) to->dots[k] = PolderDot_Host(n, x, y[k]);
  if (to->arrived) *to->arrived = 0;
  return 0;
}

PolderEmulate(PolderCombine, (PetscInt n, const PolderTerms *terms, PetscScalar y[], PolderStream stream), n, terms, y);
PolderEmulate(PolderCsrMult,
              (PolderRows A, PolderRowList rows, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderRowsDot dot,
               PolderStream stream),
              A, rows, alpha, x, y, z, dot);
PolderEmulate(PolderCsrDiagonal, (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[], PolderStream stream), m, ai,
              aj, aa, d);
PolderEmulate(PolderCsrMagnitude,
              (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add, PetscScalar y[],
               PolderStream stream),
              m, ai, aj, aa, x, add, y);
PolderEmulate(PolderCooSum,
              (PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[], PolderStream stream), nz,
              map, perm, v, insert, aa);
PolderEmulate(PolderCooTake,
              (PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert, PetscScalar aa[],
               PolderStream stream),
              nz, n, first, skip, v, insert, aa);
PolderEmulate(PolderGather, (PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[], PolderStream stream), n, index, x, y);
PolderEmulate(PolderGatherJoined,
              (PetscInt n, const PetscInt index[], PetscInt m, const PetscScalar x[], const PetscScalar z[], PetscScalar y[], PolderStream stream), n, index, m,
              x, z, y);

int PolderMarkedList_CUDA(PetscInt n, const char mark[], PetscInt most, PetscInt list[], PetscInt *count, PolderStream stream)
{
  for (PetscInt k = n - 1; k >= 0; --k) { // in any order
    if (!mark[k]) continue;
    if (*count < most) list[*count] = k;
    ++*count;
  }
  return 0;
}

int PolderCGBegin_CUDA(const PolderCGState *from, PolderCGState *state, PolderStream stream)
{
  *state = *from;
  return 0;
}

int PolderCGDirection_CUDA(const PolderCGDirection *d, PolderCGState *s, PolderStream stream)
{
  for (PetscInt i = 0; i < d->n && !s->frozen; ++i) {
    const PetscScalar zi = (d->z ? d->z[i] * (d->dinv ? d->dinv[i] : 1) : d->parts.unit * ((PetscScalar)d->parts.base[i] + d->parts.correction[i])) - s->mean;

    if (!d->first) d->x[i] += s->alpha * d->p[i];
    d->p[i] = d->first ? zi : zi + s->beta * d->p[i];
  }
  if (d->n) PolderSendRows_Host(&d->sends, sizeof(*d->p), d->p);
  return 0;
}

static void AddSums(PetscScalar r, PetscScalar z, PetscScalar sum[4])
{
  sum[0] += r * r;
  sum[1] += r * z;
  sum[2] += z;
  sum[3] += r;
}

int PolderCGUpdate_CUDA(PetscInt n, const PetscScalar w[], PetscScalar r[], PetscBool diagonal, const PetscScalar dinv[], const PolderCGRounded *rounded,
                        const PolderCGReduction *to, PolderStream stream)
{
  PolderCGState    *s     = to->state;
  const PetscScalar alpha = s->pw > 0 && !isinf(s->pw) ? s->rho / s->pw : 0;

  if (s->frozen) return 0;
  for (int k = 0; k < 4; ++k) s->sum[k] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    r[i] -= alpha * w[i];
    AddSums(r[i], diagonal ? r[i] * (dinv ? dinv[i] : 1) : 0, s->sum);
  }
  if (!diagonal && rounded && rounded->to) PolderLevelRound_Host(n, rounded->scale, r, rounded->to);
  if (to->peers) PolderPeersSum_Host(to->peers, 4, s->sum);
  else if (s->parallel) return 0;
  PolderCGSetNorm(s, PETSC_TRUE);
  if (diagonal) PolderCGSetRho(s, PETSC_FALSE, PETSC_TRUE);
  return 0;
}

int PolderCGRho_CUDA(PetscInt n, const PetscScalar r[], const PetscScalar z[], const PetscScalar dinv[], PetscBool first, const PolderCGReduction *to,
                     PolderStream stream)
{
  PolderCGState    *s  = to->state;
  const PetscScalar rr = s->sum[0];

  if (s->frozen) return 0;
  for (int k = 1; k < 4; ++k) s->sum[k] = 0;
  for (PetscInt i = 0; i < n; ++i) AddSums(r[i], z[i] * (dinv ? dinv[i] : 1), s->sum);
  s->sum[0] = rr;
  if (to->peers) PolderPeersSum_Host(to->peers, 3, &s->sum[1]);
  if (to->peers || !s->parallel) PolderCGSetRho(s, first, PETSC_TRUE);
  return 0;
}

int PolderCGAdvance_CUDA(PetscBool update, PetscBool rho, PetscBool first, PolderCGState *s, PolderStream stream)
{
  if (update) PolderCGSetNorm(s, PETSC_TRUE);
  if (rho) PolderCGSetRho(s, first, PETSC_TRUE);
  return 0;
}

int PolderCGSumRho_CUDA(const PolderPeersView *peers, const PolderCGRho *rho, PolderStream stream)
{
  PolderPeersSum_Host(peers, 2, &rho->state->sum[1]);
  PolderCGSetRho(rho->state, rho->first, PETSC_TRUE);
  return 0;
}

int PolderCGFinish_CUDA(PetscInt n, const PetscScalar p[], PetscScalar x[], PolderCGState *s, PolderStream stream)
{
  for (PetscInt i = 0; i < n; ++i) x[i] += s->alpha * p[i];
  s->alpha = 0;
  return 0;
}

int PolderCGRemoveMean_CUDA(PetscInt n, PetscScalar r[], const PolderCGState *s, PolderStream stream)
{
  const PetscScalar mean = s->sum[3] / s->N;

  if (s->frozen || s->sum[3] * mean <= PetscSqr(POLDER_CG_NOMEAN) * s->sum[0]) return 0;
  for (PetscInt i = 0; i < n; ++i) r[i] -= mean;
  return 0;
}

PetscInt PolderCGSmallMost_CUDA(void)
{
  return 4000; // the suite has matrices on both sides
}

int PolderCGSmall_CUDA(const PolderDia *A, const PetscScalar dinv[], PetscBool first, PetscInt count, const PolderCGVectors *v, PolderCGState *s, void *work,
                       PolderStream stream)
{
  const PolderCGReduction to = {.state = s, .work = work};
  PetscScalar            *w  = malloc(sizeof(*w) * (size_t)(A->n + 1));

  for (PetscInt step = 0; step < count && !s->frozen; ++step) {
    const PolderCGDirection d = {.n = A->n, .first = (PetscBool)(first && !step), .z = v->r, .dinv = dinv, .p = v->p, .x = v->x};

    PolderCGDirection_CUDA(&d, s, stream);
    PolderDiaMult_Host(A, 1, v->p, NULL, w);
    s->pw = PolderDot_Host(A->n, v->p, w);
    PolderCGUpdate_CUDA(A->n, w, v->r, PETSC_TRUE, dinv, NULL, &to, stream);
    PolderCGFinish_CUDA(A->n, v->p, v->x, s, stream);
  }
  free(w);
  return 0;
}
