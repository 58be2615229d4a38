/* The cycle with vectors and matrices in type LEVEL_VALUE; included by pamgcycle.c once for each precision. */

/* ghost <- the values of x that the rows of this process need */
static PetscErrorCode LEVEL_NAME(PamgExchange)(PamgLevel *L, const LEVEL_VALUE x[])
{
  PetscFunctionBegin;
  if (L->halo) PetscCall(PolderHaloExchange(L->halo, LEVEL_UNIT, x, L->ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *rhs = b less the part of A x that the values of other processes have */
static PetscErrorCode LEVEL_NAME(PamgLocalRHS)(PamgLevel *L, const LEVEL_VALUE b[], const LEVEL_VALUE x[], const LEVEL_VALUE **rhs)
{
  PetscFunctionBegin;
  *rhs = b;
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LEVEL_NAME(PamgExchange)(L, x));
  LEVEL_KERNEL(PolderLevelGhosts)(L->n, L->csr.bi, L->csr.bj, L->csr.ba, -1, (const LEVEL_VALUE *)L->ghost, b, (LEVEL_VALUE *)L->g);
  *rhs = (const LEVEL_VALUE *)L->g;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gauss-Seidel forward before and backward after: x from zero, bc = P^T (b - A x) */
static PetscErrorCode LEVEL_NAME(PamgPreSGS)(const PC_PAMG *pamg, PamgLevel *L, const LEVEL_VALUE b[], LEVEL_VALUE x[], LEVEL_VALUE bc[])
{
  const LEVEL_VALUE *rhs;

  PetscFunctionBegin;
  LEVEL_KERNEL(PolderLevelForward)(&L->M, b, x, pamg->pre == 1 ? L->agg : NULL, L->nc, bc);
  if (pamg->pre == 1) {
    if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(LEVEL_NAME(PamgExchange)(L, x));
    LEVEL_KERNEL(PolderLevelGhostsRestrict)(L->n, L->csr.bi, L->csr.bj, L->csr.ba, (const LEVEL_VALUE *)L->ghost, L->agg, bc);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 1; k < pamg->pre; ++k) {
    PetscCall(LEVEL_NAME(PamgLocalRHS)(L, b, x, &rhs));
    LEVEL_KERNEL(PolderLevelSweep)(&L->M, PETSC_FALSE, NULL, 0, NULL, rhs, x);
  }
  PetscCall(LEVEL_NAME(PamgLocalRHS)(L, b, x, &rhs));
  LEVEL_KERNEL(PolderLevelResidual)(&L->M, rhs, x, NULL, L->agg, L->nc, bc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += scale P xc, then sweeps backward */
static PetscErrorCode LEVEL_NAME(PamgPostSGS)(const PC_PAMG *pamg, PamgLevel *L, const LEVEL_VALUE b[], LEVEL_VALUE scale, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  const LEVEL_VALUE *rhs   = b;
  const PetscBool    fused = (PetscBool)(!L->halo && pamg->post);

  PetscFunctionBegin;
  if (!fused) LEVEL_KERNEL(PolderLevelProlong)(L->n, L->agg, scale, xc, x);
  for (PetscInt k = 0; k < pamg->post; ++k) {
    PetscCall(LEVEL_NAME(PamgLocalRHS)(L, b, x, &rhs));
    LEVEL_KERNEL(PolderLevelSweep)(&L->M, PETSC_TRUE, fused && !k ? L->agg : NULL, scale, xc, rhs, x);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  n steps of a diagonal smoother on x[0], x[1] in turn, the result in x[n % 2]; zero: the first begins with zero and leaves it in x[1]. Chebyshev on the upper part of the
  spectrum of D^-1 A, [lambda / PAMG_CHEBYSHEV_RATIO, lambda]
*/
static PetscErrorCode LEVEL_NAME(PamgSteps)(const PC_PAMG *pamg, PamgLevel *L, PetscInt n, PetscBool zero, const LEVEL_VALUE b[], LEVEL_VALUE *x[2])
{
  const PetscBool    chebyshev = (PetscBool)(pamg->smoother == PAMG_CHEBYSHEV);
  const PetscReal    top = L->eigenvalue, bottom = top / PAMG_CHEBYSHEV_RATIO, theta = (top + bottom) / 2, delta = (top - bottom) / 2, sigma = theta / delta;
  LEVEL_VALUE       *d   = chebyshev && n > 1 ? (LEVEL_VALUE *)L->d : NULL;
  PetscReal          rho = 1 / sigma, beta = 0, scale = chebyshev ? 1 / theta : pamg->smoother == PAMG_JACOBI ? pamg->damping : 1;
  const LEVEL_VALUE *rhs;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) {
    if (!k && zero) {
      LEVEL_KERNEL(PolderLevelScale)(L->n, (LEVEL_VALUE)scale, (const LEVEL_VALUE *)L->dinv, b, x[1]);
      if (d) PetscCall(PetscArraycpy(d, x[1], L->n));
    } else {
      if (d && !k) PetscCall(PetscArrayzero(d, L->n));
      PetscCall(LEVEL_NAME(PamgLocalRHS)(L, b, x[k % 2], &rhs));
      LEVEL_KERNEL(PolderLevelJacobi)(&L->M, (LEVEL_VALUE)beta, (LEVEL_VALUE)scale, rhs, x[k % 2], d, x[1 - k % 2]);
    }
    if (chebyshev) {
      const PetscReal next = 1 / (2 * sigma - rho);

      beta  = next * rho;
      scale = 2 * next / delta;
      rho   = next;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgSolve)(PC_PAMG *, PetscInt, LEVEL_VALUE[], LEVEL_VALUE[]);

/* The right-hand side of level l + 1 as level l restricts to it */
static inline LEVEL_VALUE *LEVEL_NAME(PamgCoarseRHS)(PamgLevel *C)
{
  return (LEVEL_VALUE *)(C->gathered ? C->part : C->b);
}

/* *xc: the solution for it, zero for no aggregate */
static PetscErrorCode LEVEL_NAME(PamgCorrection)(PC_PAMG *pamg, PetscInt l, LEVEL_VALUE **xc)
{
  PamgLevel *L = &pamg->level[l], *C = L + 1;

  PetscFunctionBegin;
  if (C->gathered) PetscCallMPI(MPI_Allgatherv(C->part, (PetscMPIInt)C->nown, LEVEL_UNIT, C->b, C->counts, C->displs, LEVEL_UNIT, PetscObjectComm((PetscObject)L->A)));
  PetscCall(LEVEL_NAME(PamgSolve)(pamg, l + 1, (LEVEL_VALUE *)C->b, (LEVEL_VALUE *)C->x));
  *xc = (LEVEL_VALUE *)(C->gathered ? C->part : C->x);
  if (C->gathered) PetscCall(PetscArraycpy(*xc, (LEVEL_VALUE *)C->x + C->rstart, C->nown));
  (*xc)[L->nc] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle on level l < nlevel - 1 that begins with zero */
static PetscErrorCode LEVEL_NAME(PamgCycle)(PC_PAMG *pamg, PetscInt l, const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  PamgLevel         *L = &pamg->level[l], *C = L + 1;
  LEVEL_VALUE       *bc    = LEVEL_NAME(PamgCoarseRHS)(C), *xc, *y[2];
  const LEVEL_VALUE  scale = (LEVEL_VALUE)PamgOvercorrection(pamg, l);
  const LEVEL_VALUE *rhs;

  PetscFunctionBegin;
  if (pamg->smoother == PAMG_SGS && pamg->pre) {
    PetscCall(LEVEL_NAME(PamgPreSGS)(pamg, L, b, x, bc));
    PetscCall(LEVEL_NAME(PamgCorrection)(pamg, l, &xc));
    PetscCall(LEVEL_NAME(PamgPostSGS)(pamg, L, b, scale, xc, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  y[pamg->post % 2]     = x; // where the last of the steps after leaves its result
  y[1 - pamg->post % 2] = (LEVEL_VALUE *)L->t;
  if (pamg->pre) { // theirs is in y[0]
    LEVEL_VALUE *before[2];

    before[pamg->pre % 2]     = y[0];
    before[1 - pamg->pre % 2] = y[1];
    PetscCall(LEVEL_NAME(PamgSteps)(pamg, L, pamg->pre, PETSC_TRUE, b, before));
  } else PetscCall(PetscArrayzero(y[0], L->n));
  PetscCall(LEVEL_NAME(PamgLocalRHS)(L, b, y[0], &rhs));
  LEVEL_KERNEL(PolderLevelResidual)(&L->M, rhs, y[0], NULL, L->agg, L->nc, bc);
  PetscCall(LEVEL_NAME(PamgCorrection)(pamg, l, &xc));
  LEVEL_KERNEL(PolderLevelProlong)(L->n, L->agg, scale, xc, y[0]);
  if (pamg->smoother == PAMG_SGS) {
    for (PetscInt k = 0; k < pamg->post; ++k) {
      PetscCall(LEVEL_NAME(PamgLocalRHS)(L, b, y[0], &rhs));
      LEVEL_KERNEL(PolderLevelSweep)(&L->M, PETSC_TRUE, NULL, 0, NULL, rhs, y[0]);
    }
    if (y[0] != x) PetscCall(PetscArraycpy(x, y[0], L->n));
  } else PetscCall(LEVEL_NAME(PamgSteps)(pamg, L, pamg->post, PETSC_FALSE, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v = A x and the sums of PolderLevelMultDots_Host() over all processes */
static PetscErrorCode LEVEL_NAME(PamgMultDots)(PamgLevel *L, const LEVEL_VALUE x[], const LEVEL_VALUE b[], const LEVEL_VALUE w[], LEVEL_VALUE v[], PetscReal sum[5])
{
  PetscFunctionBegin;
  if (L->halo) {
    PetscCall(LEVEL_NAME(PamgExchange)(L, x));
    LEVEL_KERNEL(PolderLevelGhosts)(L->n, L->csr.bi, L->csr.bj, L->csr.ba, 1, (const LEVEL_VALUE *)L->ghost, NULL, v);
  }
  LEVEL_KERNEL(PolderLevelMultDots)(&L->M, L->halo ? PETSC_TRUE : PETSC_FALSE, x, b, w, v, sum);
  if (L->halo) PetscCallAllreduce(MPI_IN_PLACE, sum, 5, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)L->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Two steps of flexible CG with the cycle for a preconditioner (Notay, SIAM J. Sci. Comput. 22, 2000), the second when the first leaves more than kthreshold of the residual:

      v = A x,  rho = (x, v),  alpha = (x, b),  b <- b - (alpha / rho) v
      y = A w,  gamma = (w, v),  rho2 = (w, y) - gamma^2 / rho,  alpha2 = (w, b),   x <- (alpha / rho - gamma alpha2 / (rho rho2)) x + (alpha2 / rho2) w
*/
static PetscErrorCode LEVEL_NAME(PamgKCycle)(PC_PAMG *pamg, PetscInt l, LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  PamgLevel   *L = &pamg->level[l];
  LEVEL_VALUE *v = (LEVEL_VALUE *)L->v, *w = (LEVEL_VALUE *)L->w;
  PetscReal    sum[5], alpha, rho, gamma, rho2, alpha2;

  PetscFunctionBegin;
  PetscCall(LEVEL_NAME(PamgCycle)(pamg, l, b, x));
  PetscCall(LEVEL_NAME(PamgMultDots)(L, x, b, NULL, v, sum));
  rho   = sum[0];
  alpha = sum[1];
  if (!(rho > 0)) PetscFunctionReturn(PETSC_SUCCESS); // nothing to scale by: zero, or not a number
  if (sum[2] - 2 * alpha / rho * sum[3] + PetscSqr(alpha / rho) * sum[4] <= PetscSqr(pamg->kthreshold) * sum[2]) {
    LEVEL_KERNEL(PolderLevelCombine)(L->n, 0, (LEVEL_VALUE)(alpha / rho), x, x);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  LEVEL_KERNEL(PolderLevelCombine)(L->n, (LEVEL_VALUE)(-alpha / rho), 1, v, b);
  PetscCall(LEVEL_NAME(PamgCycle)(pamg, l, b, w));
  PetscCall(LEVEL_NAME(PamgMultDots)(L, w, b, v, (LEVEL_VALUE *)L->t, sum));
  gamma  = sum[2];
  alpha2 = sum[1];
  rho2   = sum[0] - gamma * gamma / rho;
  if (!(rho2 > 0)) alpha2 = 0, rho2 = 1; // w brings nothing new
  LEVEL_KERNEL(PolderLevelCombine)(L->n, (LEVEL_VALUE)(alpha2 / rho2), (LEVEL_VALUE)(alpha / rho - gamma * alpha2 / (rho * rho2)), w, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgWCycle)(PC_PAMG *pamg, PetscInt l, LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  PamgLevel         *L = &pamg->level[l];
  const LEVEL_VALUE *rhs;

  PetscFunctionBegin;
  PetscCall(LEVEL_NAME(PamgCycle)(pamg, l, b, x));
  PetscCall(LEVEL_NAME(PamgLocalRHS)(L, b, x, &rhs));
  LEVEL_KERNEL(PolderLevelResidual)(&L->M, rhs, x, b, NULL, 0, NULL);
  PetscCall(LEVEL_NAME(PamgCycle)(pamg, l, b, (LEVEL_VALUE *)L->w));
  LEVEL_KERNEL(PolderLevelCombine)(L->n, 1, 1, (LEVEL_VALUE *)L->w, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgLast)(PC_PAMG *pamg, const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  PamgLevel   *L = &pamg->level[pamg->nlevel - 1];
  PetscScalar *bb, *xx;

  PetscFunctionBegin;
  if (pamg->direct) {
    for (PetscInt i = 0; i < L->n; ++i) pamg->cbuf[0][i] = b[i];
    PetscCall(PolderCoarseSolve(pamg->coarse, pamg->cbuf[0], pamg->cbuf[1]));
    for (PetscInt i = 0; i < L->n; ++i) x[i] = (LEVEL_VALUE)pamg->cbuf[1][i];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayWrite(pamg->cb, &bb));
  for (PetscInt i = 0; i < L->n; ++i) bb[i] = b[i];
  PetscCall(VecRestoreArrayWrite(pamg->cb, &bb));
  PetscCall(KSPSolve(pamg->ksp, pamg->cb, pamg->cx));
  PetscCall(VecGetArrayRead(pamg->cx, (const PetscScalar **)&xx));
  for (PetscInt i = 0; i < L->n; ++i) x[i] = (LEVEL_VALUE)xx[i];
  PetscCall(VecRestoreArrayRead(pamg->cx, (const PetscScalar **)&xx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x, near A^-1 b on level l > 0, whose b may be overwritten */
static PetscErrorCode LEVEL_NAME(PamgSolve)(PC_PAMG *pamg, PetscInt l, LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  PetscFunctionBegin;
  if (l == pamg->nlevel - 1) PetscCall(LEVEL_NAME(PamgLast)(pamg, b, x));
  else if (!PamgVisitsTwice(pamg, l)) PetscCall(LEVEL_NAME(PamgCycle)(pamg, l, b, x));
  else if (pamg->cycle == PAMG_K) PetscCall(LEVEL_NAME(PamgKCycle)(pamg, l, b, x));
  else PetscCall(LEVEL_NAME(PamgWCycle)(pamg, l, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
