/* Solves with E = Z^T A Z: options, and code shared by the solvers. E is replicated on every process (coarseredundant.c), dense on every device
   (coarsedense.c), or distributed (coarseksp.c). */
#include "coarseimpl.h"
#include "kernels/coarse.h"

static const char *const PolderCoarseTypes[] = {"inverse", "cholesky", "ksp", "PolderCoarseType", "COARSE_", NULL};

/* Flops per column that the device performs in the time of one dependent step of the sweep */
#define POLDER_COARSE_STEP 4e6

PetscErrorCode PolderCoarseCreate(MPI_Comm comm, PolderCoarse *coarse)
{
  PolderCoarse c;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  PetscCall(PetscCommDuplicate(comm, &c->comm, NULL));
  c->place = &PolderOnHost;
  c->type  = COARSE_CHOLESKY;
  c->cond  = -1;
  *coarse  = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseReset(PolderCoarse c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(c->gl));
  PetscCall(PetscFree3(c->ei, c->ej, c->ev));
  PetscCall(PetscFree5(c->order, c->first, c->ptr, c->scale, c->drop));
  PetscCall(PetscFree(c->L));
  PetscCall(PetscFree(c->inverse));
  PetscCall(PetscFree3(c->b, c->x, c->y));
  PetscCall(PolderDeviceFree(&c->d1));
  PetscCall(PolderDeviceFree(&c->d2));
  PetscCall(MatDestroy(&c->E));
  PetscCall(VecDestroy(&c->bvec));
  PetscCall(VecDestroy(&c->xvec));
  PetscCall(VecDestroy(&c->used));
  PetscCall(PetscSFDestroy(&c->sf));
  PetscCall(PetscMemzero(&c->report, sizeof(c->report)));
  c->setup = c->bad = PETSC_FALSE;
  c->solver         = NULL;
  c->nleftnull = c->nleftzero = c->nleftdep = 0;
  c->cond                                   = -1;
  c->leastpivot                             = 0;
  c->nsolve = c->nits = c->nfailed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseDestroy(PolderCoarse *coarse)
{
  PetscFunctionBegin;
  if (!*coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderCoarseReset(*coarse));
  PetscCall(PolderCoarseDeviceDestroy(&(*coarse)->device));
  PetscCall(KSPDestroy(&(*coarse)->ksp));
  PetscCall(PetscFree((*coarse)->prefix));
  PetscCall(PetscFree((*coarse)->excess));
  PetscCall(PetscCommDestroy(&(*coarse)->comm));
  PetscCall(PetscFree(*coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetOptionsPrefix(PolderCoarse c, const char prefix[])
{
  PetscFunctionBegin;
  PetscCall(PetscFree(c->prefix));
  PetscCall(PetscStrallocpy(prefix, &c->prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetInverse(PolderCoarse c)
{
  PetscFunctionBegin;
  c->type   = COARSE_INVERSE;
  c->chosen = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetExcess(PolderCoarse c, PetscInt d, PetscInt first, PetscInt n, const PetscReal excess[], const PetscReal rounding[])
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscFree(c->excess));
  PetscCall(PetscCalloc1(2 * d, &c->excess));
  PetscCall(PetscArraycpy(c->excess + first, excess, n));
  PetscCall(PetscArraycpy(c->excess + d + first, rounding, n));
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  if (size > 1) PetscCallAllreduce(MPI_IN_PLACE, c->excess, (PetscMPIInt)(2 * d), MPIU_REAL, MPIU_SUM, c->comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetFromOptions(PolderCoarse c, PetscBool *changed)
{
  const PolderCoarseType before = c->type;
  const PetscBool        asked  = c->chosen;
  PetscBool              set;

  PetscFunctionBegin;
  PetscOptionsBegin(c->comm, c->prefix, "Coarse solve of a deflation space", "PolderDeflationSpace");
  PetscCall(PetscOptionsEnum("-deflation_coarse", "How E = Z^T A Z is solved", "PolderDeflationSpaceSetFromOptions", PolderCoarseTypes, (PetscEnum)c->type,
                             (PetscEnum *)&c->type, &set));
  PetscOptionsEnd();
  if (set) c->chosen = PETSC_TRUE;
  *changed = (PetscBool)(c->type != before || c->chosen != asked);
  if (*changed) c->setup = PETSC_FALSE;
  if (c->ksp) PetscCall(KSPSetFromOptions(c->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PolderCoarseInverseInaccurate(PolderCoarse c)
{
  return (PetscBool)(c->type == COARSE_INVERSE && !c->report.refined && c->resid > POLDER_COARSE_LOSS);
}

PetscErrorCode PolderCoarseInfo(PolderCoarse c)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(NULL,
                      "Deflation: E has %" PetscInt_FMT " columns, left out %" PetscInt_FMT " (kernel), %" PetscInt_FMT " (zero), %" PetscInt_FMT
                      " (dependent); condition about %g, residual of a coarse solve %g\n",
                      c->d, c->nleftnull, c->nleftzero, c->nleftdep, (double)c->cond, (double)c->resid));
  if (PolderCoarseInverseInaccurate(c))
    PetscCall(PetscInfo(NULL, "Deflation: the explicit inverse of E loses accuracy (residual %g): use -deflation_coarse cholesky\n", (double)c->resid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the constant in the kernel of E, as far as the sums of its rows tell? */
PetscBool PolderCoarseSumsVanish(PolderCoarse c)
{
  for (PetscInt i = 0; i < c->d; ++i) {
    if (!(PetscAbsReal(c->excess[i]) <= c->excess[c->d + i])) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Is the last column left out? LU factors of the host leave no dependent one out, so a general E whose rows have sums of zero does without it */
PetscBool PolderCoarseLeavesLast(PolderCoarse c, PetscBool nullspace)
{
  return (PetscBool)(nullspace || (c->general && c->excess && PolderCoarseSumsVanish(c)));
}

PetscErrorCode PolderCoarseSetUp(PolderCoarse c, PetscInt d, PetscInt nl, const PetscInt gl[], const PetscInt ptr[], const PetscInt col[],
                                 const PetscScalar val[], PetscBool nullspace)
{
  PetscFunctionBegin;
  PetscCall(PolderCoarseReset(c));
  c->d  = d;
  c->nl = nl;
  PetscCall(PetscMalloc1(nl, &c->gl));
  PetscCall(PetscArraycpy(c->gl, gl, nl));
  nullspace = PolderCoarseLeavesLast(c, nullspace);
  if (c->type == COARSE_KSP || (c->general && !PolderCoarseWantsDense(c, d))) PetscCall(PolderCoarseSetUp_KSP(c, ptr, col, val, nullspace));
  else PetscCall(PolderCoarseSetUp_Redundant(c, ptr, col, val, nullspace));
  PetscCall(PetscFree(c->excess));
  c->setup = (PetscBool)!c->bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetDevice(PolderCoarse c, PetscBool ondevice)
{
  PetscFunctionBegin;
  c->place = PolderPlaceOf(ondevice);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetGeneral(PolderCoarse c, PetscBool general, PetscBool transposes)
{
  PetscFunctionBegin;
  if (c->general != general) PetscCall(KSPDestroy(&c->ksp)); // its defaults are others
  c->general    = general;
  c->transposes = (PetscBool)(general && transposes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetTranspose(PolderCoarse c, PetscBool transposed)
{
  PetscFunctionBegin;
  PetscCheck(c->transposes || !transposed, c->comm, PETSC_ERR_PLIB, "E is symmetric, or the set-up was not for solves with its transpose");
  c->transposed = transposed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseIsFinite(PolderCoarse c, PetscBool *finite)
{
  PetscFunctionBegin;
  *finite = (PetscBool)!c->bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseIsSemidefinite(PolderCoarse c, PetscBool *semidefinite)
{
  PetscFunctionBegin;
  *semidefinite = (PetscBool)(c->leastpivot > -POLDER_COARSE_NEGATIVE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseGetRank(PolderCoarse c, PetscInt *rank)
{
  PetscFunctionBegin;
  *rank = c->d - c->nleftnull - c->nleftzero - c->nleftdep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseGetLimit(PolderCoarse c, PetscInt dim, PetscReal bytes, PetscReal flops, PetscInt *d)
{
  const PetscBool dense = PolderCoarseWantsDense(c, 1);
  PetscReal       n = 1, next = 2, band, solve, factor;

  PetscFunctionBegin;
  while (c->type != COARSE_KSP && next < PETSC_MAX_INT / 2) {
    band   = dim == 1 ? 2 : 1.5 * PetscPowReal(next, dim == 2 ? 0.5 : 2.0 / 3.0);
    solve  = c->type == COARSE_INVERSE ? 8 * next * next : 16 * next * band;
    factor = next * band * (c->type == COARSE_INVERSE ? band + 4 * next : band);
    if (dense) { // the dense inverse; the steps of its sweep depend on each other
      solve  = 8 * next * next;
      factor = next * next * next + POLDER_COARSE_STEP * next;
    }
    if (solve > bytes || factor > flops || (dense && next > PolderCoarseMostDense(c))) break;
    n = next;
    next *= 1.02;
  }
  *d = c->type == COARSE_KSP ? PETSC_MAX_INT : (PetscInt)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseReduce(PolderCoarse c)
{
  const PetscInt riders = c->riders ? c->riders->n : 0;
  PetscMPIInt    size, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(c->d + riders, &n));
  for (PetscInt k = 0; k < riders; ++k) c->b[c->d + k] = c->riders->sum[k];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, c->b, n, MPIU_SCALAR, MPIU_SUM, c->comm));
  for (PetscInt k = 0; k < riders; ++k) c->riders->sum[k] = c->b[c->d + k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseCarry(PolderCoarse c, const PolderCoarseRiders *riders)
{
  PetscFunctionBegin;
  PetscAssert(riders->n <= POLDER_COARSE_RIDERS, c->comm, PETSC_ERR_PLIB, "%" PetscInt_FMT " values", riders->n);
  c->riders = riders;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSolve(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscFunctionBegin;
  PetscCheck(!c->bad, c->comm, PETSC_ERR_FP, POLDER_COARSE_BADTEXT);
  PetscCheck(c->setup, c->comm, PETSC_ERR_ORDER, "The deflation space has not been set up");
  if (!c->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_DeflationCoarse, NULL));
  PetscCall((*c->solver->solve)(c, a1, a2));
  c->riders = NULL;
  PetscCall(PolderLogEnd(POLDER_DeflationCoarse, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSolveThroughHost(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[], PetscBool early)
{
  const PolderCoarseRiders *there = c->riders;
  PetscScalar              *all, *some1, *some2, sum[POLDER_COARSE_RIDERS], energy;
  PolderCoarseRiders        here = {there ? there->n : 0, sum, &energy};

  PetscFunctionBegin;
  (void)early;
  if (there) {
    PetscCall(PolderDeviceToHost(sum, there->sum, sizeof(*sum) * (size_t)there->n));
    c->riders = &here;
  }
  PetscCall(PetscCalloc3(c->d, &all, c->nl, &some1, c->nl, &some2));
  PetscCall(PolderDeviceToHost(all, a1, sizeof(*all) * (size_t)c->d));
  for (PetscInt k = 0; k < c->nl; ++k) some1[k] = all[c->gl[k]];
  PetscCall((*c->solver->solve)(c, some1, some2));
  for (PetscInt k = 0; k < c->nl; ++k) all[c->gl[k]] = some2[k];
  PetscCall(PolderDeviceFromHost(a2, all, sizeof(*all) * (size_t)c->d));
  if (there) {
    PetscCall(PolderDeviceFromHost(there->sum, sum, sizeof(*sum) * (size_t)there->n));
    PetscCall(PolderDeviceFromHost(there->energy, &energy, sizeof(energy)));
  }
  PetscCall(PetscFree3(all, some1, some2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSolveDevice(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[], PetscBool early)
{
  PetscFunctionBegin;
  PetscCheck(!c->bad, c->comm, PETSC_ERR_FP, POLDER_COARSE_BADTEXT);
  PetscCheck(c->setup, c->comm, PETSC_ERR_ORDER, "The deflation space has not been set up");
  if (!c->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_DeflationCoarse, NULL));
  PetscCall((*c->solver->solvedevice)(c, a1, a2, early));
  c->riders = NULL;
  PetscCall(PolderLogEnd(POLDER_DeflationCoarse, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseOnlyLaunches(PolderCoarse c, PetscBool *only)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  *only = (PetscBool)(size == 1 && (!c->d || (c->solver == &PolderCoarseDense && !PolderCoarseFactorsDense(c))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One print call a line: the viewer indents each call */
static PetscErrorCode PolderCoarseViewColumns(PolderCoarse c, PetscViewer viewer)
{
  PetscInt rank;
  char     zero[96] = "", dependent[96] = "";

  PetscFunctionBegin;
  PetscCall(PolderCoarseGetRank(c, &rank));
  if (c->nleftzero) PetscCall(PetscSNPrintf(zero, sizeof(zero), "; %" PetscInt_FMT " left out because they are zero or in the kernel of A", c->nleftzero));
  if (c->nleftdep) PetscCall(PetscSNPrintf(dependent, sizeof(dependent), "; %" PetscInt_FMT " left out because they depend on others", c->nleftdep));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coarse matrix E: %" PetscInt_FMT " columns in use%s%s%s\n", rank,
                                   c->nleftnull ? "; 1 left out because the constant is in the kernel of A" : "", zero, dependent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseView(PolderCoarse c, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!c->setup || !c->d) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: %s, %s\n", PolderCoarseTypes[c->type], c->setup ? "no columns" : "not yet set up"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCoarseViewColumns(c, viewer));
  PetscCall((*c->solver->view)(c, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "condition of E with %s about %.2g, relative residual of a coarse solve %.2g\n",
                                   c->general && c->solver == &PolderCoarseDense ? "scaled rows and columns" : "unit diagonal", (double)c->cond,
                                   (double)c->resid));
  if (PolderCoarseInverseInaccurate(c))
    PetscCall(PetscViewerASCIIPrintf(viewer, "WARNING: the explicit inverse loses accuracy on this E, use -deflation_coarse cholesky\n"));
  if (c->solver->viewmore) PetscCall((*c->solver->viewmore)(c, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
