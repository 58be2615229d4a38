/* Host steps for vectors of type LEVEL_VALUE; LEVEL_MATRIX() names the kernels that read entries. Included by pamghost.c once for each precision. */

/* ghost <- the off-process values of x that the rows of this process read */
static PetscErrorCode LEVEL_NAME(PamgExchange)(PamgLevel *L, const LEVEL_VALUE x[])
{
  PetscFunctionBegin;
  if (L->halo) PetscCall(PolderHaloExchange(L->halo, LEVEL_UNIT, x, L->ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  *rhs = b minus off-process contributions to A x. sums: the product is one in which the sum of a row replaces its diagonal entry; else it is for a sweep, whose
  shifted diagonal must act on the change of x alone
*/
static PetscErrorCode LEVEL_NAME(PamgLocalRHS)(PamgLevel *L, PetscBool sums, const LEVEL_VALUE b[], const LEVEL_VALUE x[], const LEVEL_VALUE **rhs)
{
  PetscFunctionBegin;
  *rhs = b;
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LEVEL_NAME(PamgExchange)(L, x));
  LEVEL_KERNEL(PolderLevelGhosts)(PolderGhostColumns(&L->csr), -1, (const LEVEL_VALUE *)L->ghost, sums ? x : NULL, b, (LEVEL_VALUE *)L->localrhs);
  for (PetscInt i = 0; i < L->n && !sums && L->shift; ++i) ((LEVEL_VALUE *)L->localrhs)[i] += (LEVEL_VALUE)L->shift[i] * x[i];
  *rhs = (const LEVEL_VALUE *)L->localrhs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgBegin)(PamgLevel *L, PetscReal start, const void *b, void *x)
{
  PetscFunctionBegin;
  LEVEL_KERNEL(PolderLevelScale)(L->n, (LEVEL_VALUE)start, (const LEVEL_VALUE *)L->dinv, (const LEVEL_VALUE *)b, (LEVEL_VALUE *)x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgSmooth)(PamgLevel *L, const PolderLevelStep *step, const void *b, void *x, void *y)
{
  const LEVEL_VALUE *rhs;

  PetscFunctionBegin;
  if (step->zero && step->k == 1) PetscCall(LEVEL_NAME(PamgBegin)(L, step->start, b, x));
  PetscCall(LEVEL_NAME(PamgLocalRHS)(L, PETSC_TRUE, (const LEVEL_VALUE *)b, (const LEVEL_VALUE *)x, &rhs));
  LEVEL_MATRIX(PolderLevelJacobi)(&L->M, step, rhs, (const LEVEL_VALUE *)x, (LEVEL_VALUE *)y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* bc = P^T r on a level that is a grid */
static PetscErrorCode LEVEL_NAME(PamgRestrictGrid)(PamgLevel *L, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  PamgBorder  *X    = &L->border;
  LEVEL_VALUE *give = (LEVEL_VALUE *)X->give, *got = (LEVEL_VALUE *)X->got;

  PetscFunctionBegin;
  LEVEL_KERNEL(PolderLevelGridRestrict)(&L->grid, r, bc);
  if (!X->B.dir) PetscFunctionReturn(PETSC_SUCCESS);
  LEVEL_KERNEL(PolderLevelBorderGive)(&L->grid, &X->B, r, give);
  PetscCall(PolderHaloExchange(X->parts, LEVEL_UNIT, give, got));
  LEVEL_KERNEL(PolderLevelBorderGet)(&L->grid, &X->B, give, &(PolderGhosts){.value = got}, bc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += P xc on such a level */
static PetscErrorCode LEVEL_NAME(PamgProlongGrid)(PamgLevel *L, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  PamgBorder       *X = &L->border;
  PolderLevelBeyond beyond;

  PetscFunctionBegin;
  LEVEL_KERNEL(PolderLevelGridProlong)(&L->grid, xc, x);
  if (!X->B.dir) PetscFunctionReturn(PETSC_SUCCESS);
  if (X->planes) PetscCall(PolderHaloExchange(X->planes, LEVEL_UNIT, xc, X->beyond));
  beyond = PamgBeyond(L);
  LEVEL_KERNEL(PolderLevelBorderTake)(&L->grid, &X->B, xc, &beyond, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* bc = P^T r on a level whose residual is stored */
static PetscErrorCode LEVEL_NAME(PamgRestrict)(PamgLevel *L, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  PetscFunctionBegin;
  if (L->islines) LEVEL_KERNEL(PolderLevelLinesRestrict)(&L->lines, r, bc);
  else PetscCall(LEVEL_NAME(PamgRestrictGrid)(L, r, bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgResidual)(PamgLevel *L, const void *b, const void *x, void *r, void *bc)
{
  const LEVEL_VALUE *rhs;

  PetscFunctionBegin;
  PetscCall(LEVEL_NAME(PamgLocalRHS)(L, PETSC_TRUE, (const LEVEL_VALUE *)b, (const LEVEL_VALUE *)x, &rhs));
  LEVEL_MATRIX(PolderLevelResidual)(&L->M, rhs, (const LEVEL_VALUE *)x, (LEVEL_VALUE *)r, r || PamgInterpolates(L) ? NULL : L->agg, L->nc, (LEVEL_VALUE *)bc);
  if (bc && PamgInterpolates(L)) PetscCall(LEVEL_NAME(PamgRestrict)(L, (const LEVEL_VALUE *)r, (LEVEL_VALUE *)bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgProlong)(PamgLevel *L, PetscReal scale, void *xc, void *x)
{
  PetscFunctionBegin;
  ((LEVEL_VALUE *)xc)[L->nc] = 0; // for rows in no aggregate
  if (L->isgrid) PetscCall(LEVEL_NAME(PamgProlongGrid)(L, (const LEVEL_VALUE *)xc, (LEVEL_VALUE *)x));
  else if (L->islines) LEVEL_KERNEL(PolderLevelLinesProlong)(&L->lines, (const LEVEL_VALUE *)xc, (LEVEL_VALUE *)x);
  else LEVEL_KERNEL(PolderLevelProlong)(L->n, L->agg, (LEVEL_VALUE)scale, (const LEVEL_VALUE *)xc, (LEVEL_VALUE *)x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgZero)(PamgLevel *L, void *x)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero((LEVEL_VALUE *)x, L->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgCombine)(PamgLevel *L, PetscReal alpha, const void *w, PetscReal beta, void *x)
{
  PetscFunctionBegin;
  LEVEL_KERNEL(PolderLevelCombine)(L->n, (LEVEL_VALUE)alpha, (LEVEL_VALUE)beta, (const LEVEL_VALUE *)w, (LEVEL_VALUE *)x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgDots)(PamgLevel *L, const void *x, const void *b, const void *w, void *v, PetscReal sum[])
{
  const LEVEL_VALUE *xx = (const LEVEL_VALUE *)x;

  PetscFunctionBegin;
  if (L->halo) {
    PetscCall(LEVEL_NAME(PamgExchange)(L, xx));
    LEVEL_KERNEL(PolderLevelGhosts)(PolderGhostColumns(&L->csr), 1, (const LEVEL_VALUE *)L->ghost, xx, NULL, (LEVEL_VALUE *)v);
  }
  LEVEL_MATRIX(PolderLevelMultDots)(&L->M, L->halo ? PETSC_TRUE : PETSC_FALSE, xx, (const LEVEL_VALUE *)b, (const LEVEL_VALUE *)w, (LEVEL_VALUE *)v, sum);
  if (L->halo) PetscCallAllreduce(MPI_IN_PLACE, sum, w ? POLDER_KSUMS_SECOND : POLDER_KSUMS_FIRST, MPIU_REAL, MPIU_SUM, L->comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgFirst)(PamgLevel *L, PetscReal threshold, const PetscReal sum[], const void *v, void *b, PetscBool *again)
{
  PetscFunctionBegin;
  *again = (PetscBool)!PolderKCycleDone(sum, threshold);
  LEVEL_KERNEL(PolderLevelKFirst)(L->n, threshold, sum, (const LEVEL_VALUE *)v, (LEVEL_VALUE *)b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgSecond)(PamgLevel *L, PetscReal threshold, const PetscReal sum[], const void *w, void *x)
{
  PetscFunctionBegin;
  LEVEL_KERNEL(PolderLevelKSecond)(L->n, threshold, sum, (const LEVEL_VALUE *)w, (LEVEL_VALUE *)x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgLast)(PC_PAMG *pamg, const void *b, void *x)
{
  const LEVEL_VALUE *bb = (const LEVEL_VALUE *)b;
  PamgLevel         *L  = &pamg->level[pamg->nlevel - 1];
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (pamg->direct && pamg->centred) {
    PolderLevelWidenCentred_Host(L->n, (const float *)b, pamg->coarsebuf[0]);
    PetscCall(PolderCoarseSolve(pamg->coarse, pamg->coarsebuf[0], pamg->coarsebuf[1]));
    PolderLevelRoundCentred_Host(L->n, pamg->coarsebuf[1], (float *)x);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pamg->direct) {
    for (PetscInt i = 0; i < L->n; ++i) pamg->coarsebuf[0][i] = bb[i];
    PetscCall(PolderCoarseSolve(pamg->coarse, pamg->coarsebuf[0], pamg->coarsebuf[1]));
    for (PetscInt i = 0; i < L->n; ++i) ((LEVEL_VALUE *)x)[i] = (LEVEL_VALUE)pamg->coarsebuf[1][i];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayWrite(pamg->coarseb, &to));
  for (PetscInt i = 0; i < L->n; ++i) to[i] = bb[i];
  PetscCall(VecRestoreArrayWrite(pamg->coarseb, &to));
  PetscCall(KSPSolve(pamg->ksp, pamg->coarseb, pamg->coarsex));
  PetscCall(VecGetArrayRead(pamg->coarsex, &from));
  for (PetscInt i = 0; i < L->n; ++i) ((LEVEL_VALUE *)x)[i] = (LEVEL_VALUE)from[i];
  PetscCall(VecRestoreArrayRead(pamg->coarsex, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgGather)(PamgLevel *C, MPI_Comm comm)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allgatherv(C->part, (PetscMPIInt)C->nown, LEVEL_UNIT, C->b, C->counts, C->displs, LEVEL_UNIT, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgScatter)(PamgLevel *C)
{
  PetscFunctionBegin;
  PetscCall(PetscArraycpy((LEVEL_VALUE *)C->part, (LEVEL_VALUE *)C->x + C->rstart, C->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sweep on a level of several processes whose residual is stored */
static PetscErrorCode LEVEL_NAME(PamgForwardStored)(PamgLevel *L, const LEVEL_VALUE b[], LEVEL_VALUE x[], LEVEL_VALUE bc[])
{
  LEVEL_VALUE *r = (LEVEL_VALUE *)L->iterate;

  PetscFunctionBegin;
  LEVEL_MATRIX(PolderLevelForward)(&L->M, b, x, NULL, r);
  PetscCall(LEVEL_NAME(PamgExchange)(L, x));
  LEVEL_KERNEL(PolderLevelGhosts)(PolderGhostColumns(&L->csr), -1, (const LEVEL_VALUE *)L->ghost, NULL, r, r);
  PetscCall(LEVEL_NAME(PamgRestrict)(L, r, bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exact solutions on blocks of rows, after the sweep forward and before the sweep backward; rhs: b minus off-process contributions */
static void LEVEL_NAME(PamgBlocks)(const PamgLevel *L, PetscBool backward, const LEVEL_VALUE rhs[], LEVEL_VALUE x[])
{
  const PolderRows A = {.n = L->n, .i = L->csr.ai, .j = L->csr.aj, .a = L->csr.aa};

  LEVEL_KERNEL(PolderBlockStep)(&A, &L->blocks, backward, rhs, x);
}

static PetscErrorCode LEVEL_NAME(PamgBlockStep)(PamgLevel *L, PetscBool backward, const void *b, void *x)
{
  const LEVEL_VALUE *rhs;

  PetscFunctionBegin;
  PetscCall(LEVEL_NAME(PamgLocalRHS)(L, PETSC_FALSE, (const LEVEL_VALUE *)b, (const LEVEL_VALUE *)x, &rhs));
  LEVEL_NAME(PamgBlocks)(L, backward, rhs, (LEVEL_VALUE *)x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgForward)(PamgLevel *L, PetscInt n, const void *b, void *x, void *bc)
{
  const PetscBool           fused = (PetscBool)(n == 1 && !L->blocks.n && !L->shift);
  const PolderLevelTransfer P     = PamgTransfer(L);
  const LEVEL_VALUE        *bb    = (const LEVEL_VALUE *)b, *rhs;
  LEVEL_VALUE              *xx    = (LEVEL_VALUE *)x;

  PetscFunctionBegin;
  if (fused && PamgInterpolates(L) && L->halo) {
    PetscCall(LEVEL_NAME(PamgForwardStored)(L, bb, xx, (LEVEL_VALUE *)bc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  LEVEL_MATRIX(PolderLevelForward)(&L->M, bb, xx, &P, fused ? (LEVEL_VALUE *)bc : NULL);
  if (fused) {
    if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(LEVEL_NAME(PamgExchange)(L, xx));
    LEVEL_KERNEL(PolderLevelGhostsRestrict)(PolderGhostColumns(&L->csr), (const LEVEL_VALUE *)L->ghost, L->agg, (LEVEL_VALUE *)bc);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  LEVEL_NAME(PamgBlocks)(L, PETSC_FALSE, bb, xx);
  for (PetscInt k = 1; k < n; ++k) {
    PetscCall(LEVEL_NAME(PamgLocalRHS)(L, PETSC_FALSE, bb, xx, &rhs));
    LEVEL_MATRIX(PolderLevelSweep)(&L->M, PETSC_FALSE, NULL, 0, NULL, rhs, xx);
    LEVEL_NAME(PamgBlocks)(L, PETSC_FALSE, rhs, xx);
  }
  PetscCall(LEVEL_NAME(PamgResidual)(L, b, x, PamgInterpolates(L) ? L->iterate : NULL, bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgBackward)(PamgLevel *L, PetscInt n, const void *b, PetscReal scale, void *xc, void *x)
{
  const PetscBool           fused = (PetscBool)(!L->halo && !L->blocks.n && n);
  const PolderLevelTransfer P     = PamgTransfer(L);
  const LEVEL_VALUE        *bb    = (const LEVEL_VALUE *)b, *rhs;
  LEVEL_VALUE              *xx    = (LEVEL_VALUE *)x;

  PetscFunctionBegin;
  if (fused) ((LEVEL_VALUE *)xc)[L->nc] = 0;
  else PetscCall(LEVEL_NAME(PamgProlong)(L, scale, xc, x));
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(LEVEL_NAME(PamgLocalRHS)(L, PETSC_FALSE, bb, xx, &rhs));
    LEVEL_NAME(PamgBlocks)(L, PETSC_TRUE, rhs, xx);
    LEVEL_MATRIX(PolderLevelSweep)(&L->M, PETSC_TRUE, fused && !k ? &P : NULL, (LEVEL_VALUE)scale, (const LEVEL_VALUE *)xc, rhs, xx);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgEliminate)(PamgLevel *L, const void *b, void *bc)
{
  PetscFunctionBegin;
  LEVEL_KERNEL(PolderEliminateForward)
  (L->n, &L->eliminated, L->agg, L->nc, (const LEVEL_VALUE *)b, (LEVEL_VALUE *)L->iterate, (LEVEL_VALUE *)bc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LEVEL_NAME(PamgSubstitute)(PamgLevel *L, const void *xc, void *x)
{
  PetscFunctionBegin;
  LEVEL_KERNEL(PolderEliminateBackward)
  (L->n, &L->eliminated, L->agg, L->nc, (const LEVEL_VALUE *)L->iterate, (const LEVEL_VALUE *)xc, (LEVEL_VALUE *)x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// clang-format off
const PamgSteps LEVEL_STEPS = {
  .begin = LEVEL_NAME(PamgBegin), .smooth = LEVEL_NAME(PamgSmooth), .residual = LEVEL_NAME(PamgResidual), .prolong = LEVEL_NAME(PamgProlong),
  .zero = LEVEL_NAME(PamgZero), .combine = LEVEL_NAME(PamgCombine), .dots = LEVEL_NAME(PamgDots), .first = LEVEL_NAME(PamgFirst),
  .second = LEVEL_NAME(PamgSecond),
  .solve = PCPAMGSolve, .last = LEVEL_NAME(PamgLast), .gather = LEVEL_NAME(PamgGather), .scatter = LEVEL_NAME(PamgScatter),
  .eliminate = LEVEL_NAME(PamgEliminate), .substitute = LEVEL_NAME(PamgSubstitute),
  .blocks = LEVEL_NAME(PamgBlockStep), .forward = LEVEL_NAME(PamgForward), .backward = LEVEL_NAME(PamgBackward),
};
// clang-format on
