/* Pairwise-aggregation multigrid: the solver of the last level. */
#include "pamgsetup.h"
#include "core/refusal.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* The last level is factorised up to this number of rows unless an option asks for more, and never beyond the second number */
#define PAMG_DIRECT  5000
#define PAMG_LARGEST 50000

PetscErrorCode PCPAMGHasConstant(PC pc, PetscBool *constant)
{
  MatNullSpace nullspace;

  PetscFunctionBegin;
  *constant = PETSC_FALSE;
  PetscCall(MatGetNullSpace(pc->pmat, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceGetVecs(nullspace, constant, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFactorRows(PC_PAMG *pamg, const PolderCSR *csr, PetscBool constant)
{
  const PetscInt n = csr->m, nl = n + csr->nghost, nz = n ? csr->ai[n] + (csr->bi ? csr->bi[n] : 0) : 0;
  PetscInt      *gl, *ptr, *col, k = 0;
  PetscScalar   *val;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(nl, &gl, nl + 1, &ptr, nz, &col, nz, &val));
  for (PetscInt i = 0; i < nl; ++i) {
    gl[i]  = i < n ? csr->rstart + i : csr->garray[i - n];
    ptr[i] = k;
    if (i >= n) continue;
    for (PetscInt e = csr->ai[i]; e < csr->ai[i + 1]; ++e, ++k) {
      col[k] = csr->aj[e];
      val[k] = csr->aa[e];
    }
    for (PetscInt e = csr->bi ? csr->bi[i] : 0; csr->bi && e < csr->bi[i + 1]; ++e, ++k) {
      col[k] = n + csr->bj[e];
      val[k] = csr->ba[e];
    }
  }
  ptr[nl] = k;
  PetscCall(PolderCoarseSetUp(pamg->coarse, csr->M, nl, gl, ptr, col, val, constant));
  PetscCall(PetscFree4(gl, ptr, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces SOR by Jacobi when a row has only zero entries: PETSc's SOR would raise an error there, on one process alone */
static PetscErrorCode PamgAvoidSOR(KSP ksp, Mat A, Vec work)
{
  PC        inner;
  PetscBool sor;
  PetscReal least;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &inner));
  PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCSOR, &sor));
  if (!sor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDiagonal(A, work));
  PetscCall(VecAbs(work));
  PetscCall(VecMin(work, NULL, &least));
  if (least == 0) PetscCall(PCSetType(inner, PCJACOBI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSetUpCoarseKSP(PC pc)
{
  PC_PAMG           *pamg = (PC_PAMG *)pc->data;
  PamgLevel         *L    = &pamg->level[pamg->nlevel - 1];
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(pamg->setup->lastmatrix(pamg));
  if (!pamg->ksp) {
    const char *prefix;
    PC          inner;

    PetscCall(KSPCreate(PetscObjectComm((PetscObject)L->A), &pamg->ksp));
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)pamg->ksp, (PetscObject)pc, 1));
    PetscCall(KSPSetErrorIfNotConverged(pamg->ksp, PETSC_FALSE)); // a preconditioner of PETSc may fail on one process: the outer solver sees it on all
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(KSPSetOptionsPrefix(pamg->ksp, prefix));
    PetscCall(KSPAppendOptionsPrefix(pamg->ksp, "pamg_coarse_"));
    PetscCall(KSPSetType(pamg->ksp, KSPPREONLY));
    PetscCall(KSPGetPC(pamg->ksp, &inner));
    PetscCall(PCSetType(inner, PCSOR));
    PetscCall(KSPSetFromOptions(pamg->ksp));
  }
  if (!pamg->coarseb) PetscCall(MatCreateVecs(L->A, &pamg->coarsex, &pamg->coarseb));
  PetscCall(KSPSetOperators(pamg->ksp, L->A, L->A));
  PetscCall(PamgAvoidSOR(pamg->ksp, L->A, pamg->coarseb));
  PetscCall(KSPSetUp(pamg->ksp));
  PetscCall(KSPGetConvergedReason(pamg->ksp, &reason));
  if (reason == KSP_DIVERGED_PC_FAILED) PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscCall(PolderPCShareFailure(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the direct solver of the last level and its work vectors */
static PetscErrorCode PamgCreateFactor(PC pc, const PamgLevel *L)
{
  PC_PAMG     *pamg = (PC_PAMG *)pc->data;
  const size_t n    = (size_t)(L->n + L->csr.nghost);
  const char  *outer;
  char         prefix[256];

  PetscFunctionBegin;
  PetscCall(PolderCoarseCreate(L->comm, &pamg->coarse));
  PetscCall(PCGetOptionsPrefix(pc, &outer));
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "%spamg_", outer ? outer : ""));
  PetscCall(PolderCoarseSetOptionsPrefix(pamg->coarse, prefix)); // of its KSP, where it has one
  PetscCall(PolderCoarseSetGeneral(pamg->coarse, (PetscBool)!pamg->symmetric, PETSC_FALSE));
  if (pamg->coarsetype == PAMG_COARSE_INVERSE) PetscCall(PolderCoarseSetInverse(pamg->coarse));
  pamg->coarseplace = L->halo ? &PolderOnHost : pamg->place;
  for (int k = 0; k < 2; ++k) {
    PetscCall(PolderPlaceMalloc(pamg->coarseplace, n, &pamg->coarsebuf[k]));
    PetscCall(pamg->coarseplace->zero(pamg->coarsebuf[k], sizeof(PetscScalar) * n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up the solver of the last level: a factor of the gathered matrix, or a KSP */
PetscErrorCode PCPAMGSetUpCoarse(PC pc)
{
  PC_PAMG   *pamg = (PC_PAMG *)pc->data;
  PamgLevel *L    = &pamg->level[pamg->nlevel - 1];
  PetscBool  constant, finite, semidefinite;

  PetscFunctionBegin;
  pamg->direct = (PetscBool)(pamg->coarsetype == PAMG_COARSE_AUTO ? L->N <= PetscMax(pamg->coarselimit, PAMG_DIRECT) : pamg->coarsetype != PAMG_COARSE_KSP);
  PetscCheck(!pamg->direct || L->N <= PAMG_LARGEST, L->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The last level of PC pamg has %" PetscInt_FMT
             " rows, too many for -pc_pamg_coarse cholesky or inverse: use -pc_pamg_coarse ksp, or more -pc_pamg_levels",
             L->N);
  if (!pamg->direct) {
    PetscCall(PamgSetUpCoarseKSP(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pamg->coarse) PetscCall(PamgCreateFactor(pc, L));
  PetscCall(PCPAMGHasConstant(pc, &constant));
  pamg->centred = (PetscBool)(constant && L->singleprecision && !L->halo);
  PetscCall(PCPAMGHandExcess(pamg, L));
  PetscCall(pamg->setup->factor(pamg, constant));
  PetscCall(PolderCoarseIsFinite(pamg->coarse, &finite));
  if (!finite)
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_FP,
                   "PC of type pamg finds entries on its last level that are not finite numbers: check how the matrix was assembled");
  PetscCall(PolderCoarseIsSemidefinite(pamg->coarse, &semidefinite));
  if (!semidefinite)
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_ARG_WRONG,
                   "PC of type pamg needs a positive definite matrix and this one is not: a pivot of its last level is negative");
  PetscFunctionReturn(PETSC_SUCCESS);
}
