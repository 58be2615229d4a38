/*
  Small problems on several GPUs, with a diagonal preconditioner: one kernel makes many steps of the whole problem in less time than two GPUs need to exchange
  the values and sums of one step. The matrix that it reads is gathered by diagonals.
*/
#include "dcgimpl.h"
#include "core/peers.h"
#include "kernels/dia.h"
#include "kernels/vec.h"
#include "mat/csr.h"
#include "mat/dia.h"

PetscErrorCode KSPDCGSmallFree(KSPDCGWhole *whole)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&whole->dinv));
  PetscCall(PetscFree2(whole->off, whole->val));
  PetscCall(PolderDeviceFree(&whole->values));
  PetscCall(PolderDeviceFree(&whole->garray));
  whole->jacobi = PETSC_FALSE;
  whole->id     = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the settings and sizes, which all processes have alike, allow one kernel for all rows? */
static PetscErrorCode KSPDCGSmallFits_Private(KSP ksp, Mat A, PetscBool *fits)
{
  KSP_DCG     *dcg = (KSP_DCG *)ksp->data;
  MatNullSpace attached;
  PetscBool    constant = PETSC_TRUE;
  PetscInt     N, nvec = 0;
  PetscMPIInt  size;

  PetscFunctionBegin;
  *fits = PETSC_FALSE;
  if (dcg->cg.flexible || (ksp->normtype != KSP_NORM_UNPRECONDITIONED && ksp->normtype != KSP_NORM_NONE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNullSpace(A, &attached));
  if (attached) PetscCall(MatNullSpaceGetVecs(attached, &constant, &nvec, NULL));
  if (!constant || nvec) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(MatGetSize(A, &N, NULL));
  *fits = (PetscBool)(dcg->whole.least < 0 || N / size < dcg->whole.least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are the rows and vectors of this process on the device? A process without rows has no part in that */
static PetscErrorCode KSPDCGSmallHere_Private(KSP ksp, Mat A, PetscBool *here)
{
  const PolderDia *dia = NULL;
  PetscInt         m, N;

  PetscFunctionBegin;
  PetscCall(KSPDCGWholeHere(ksp, A, here));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  if (ksp->reason == KSP_DIVERGED_PC_FAILED || N > (PetscInt)PolderWorkSize(PolderCGSmallMost_CUDA())) *here = PETSC_FALSE;
  if (!*here) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceDia(A, &dia));
  *here = (PetscBool)(!m || (dia && dia->nd <= POLDER_CGSMALL_DIAGONALS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds an offset to n ascending ones; n = POLDER_CGSMALL_DIAGONALS + 1: too many */
static void KSPDCGAddOffset_Private(PetscInt d, PetscInt *n, PetscInt off[])
{
  PetscInt at = 0;

  if (*n > POLDER_CGSMALL_DIAGONALS) return;
  while (at < *n && off[at] < d) ++at;
  if (at < *n && off[at] == d) return;
  for (PetscInt k = (*n)++; k > at; --k) off[k] = off[k - 1];
  off[at] = d;
}

/* The offsets of all rows */
static PetscErrorCode KSPDCGSmallOffsets_Private(KSP ksp, const PolderDia *dia, const PolderCSR *csr, PetscInt *n, PetscInt off[])
{
  enum {
    MOST = POLDER_CGSMALL_DIAGONALS + 1
  };
  PetscInt        mine[MOST + 1], all[POLDER_PEERS_MOST * (MOST + 1)], m, last = 0;
  const PetscInt *bi, *bj;
  PetscMPIInt     size;
  PetscBool       done;

  PetscFunctionBegin;
  *n = 0;
  for (PetscInt d = 0; dia && d < dia->nd; ++d) KSPDCGAddOffset_Private(dia->off[d], n, off);
  if (csr->offdiag && csr->nghost) {
    PetscCall(MatGetRowIJ(csr->offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done)); // the pattern is on the host, too
    if (!done) m = 0;
    for (PetscInt i = PolderCSRNextRow(m, bi, 0); i < m; i = PolderCSRNextRow(m, bi, i + 1)) {
      for (PetscInt k = bi[i]; k < bi[i + 1]; ++k) {
        const PetscInt d = csr->garray[bj[k]] - csr->rstart - i;

        if (d != last) KSPDCGAddOffset_Private(d, n, off); // most rows have that of the row before; 0 is in no such block
        last = d;
      }
    }
    PetscCall(MatRestoreRowIJ(csr->offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done));
  }
  mine[0] = *n;
  for (PetscInt d = 0; d < *n; ++d) mine[d + 1] = off[d];
  for (PetscInt d = *n; d < MOST; ++d) mine[d + 1] = 0;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCallMPI(MPI_Allgather(mine, MOST + 1, MPIU_INT, all, MOST + 1, MPIU_INT, PetscObjectComm((PetscObject)ksp)));
  for (PetscMPIInt r = 0; r < size; ++r) {
    for (PetscInt d = 0; d < all[r * (MOST + 1)]; ++d) KSPDCGAddOffset_Private(all[r * (MOST + 1) + 1 + d], n, off);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_DCGSmall(Mat A, Vec x, Vec y)
{
  KSP                ksp;
  const PetscScalar *xa;
  PetscScalar       *ya;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &ksp));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PolderVecGetDeviceWrite(y, &ya));
  PolderLaunch(PolderDiaMult_CUDA(&((KSP_DCG *)ksp->data)->whole.dia, 1.0, xa, NULL, ya, NULL, NULL, stream));
  PetscCall(PolderVecRestoreDeviceWrite(y, &ya));
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatResidual_DCGSmall(Mat A, Vec b, Vec x, Vec r)
{
  KSP                ksp;
  const PetscScalar *xa, *ba;
  PetscScalar       *ra;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &ksp));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PolderVecGetDeviceRead(b, &ba));
  PetscCall(PolderVecGetDeviceWrite(r, &ra));
  PolderLaunch(PolderDiaMult_CUDA(&((KSP_DCG *)ksp->data)->whole.dia, -1.0, xa, ba, ra, NULL, NULL, stream));
  PetscCall(PolderVecRestoreDeviceWrite(r, &ra));
  PetscCall(PolderVecRestoreDeviceRead(b, &ba));
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_DCGSmall(PC pc, Vec r, Vec z)
{
  KSP          ksp;
  KSPDCGWhole *whole;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &ksp));
  whole = &((KSP_DCG *)ksp->data)->whole;
  if (whole->jacobi) PetscCall(VecPointwiseMult(z, whole->dinv, r));
  else PetscCall(VecCopy(r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* See PolderPCFused; v = x, r, z, p, w, of which z and w are not used */
static PetscErrorCode PCSteps_DCGSmall(PC pc, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done)
{
  KSP                ksp;
  KSPDCGWhole       *whole;
  PolderCGVectors    at = {0};
  PolderCGReduction  to = {.state = state};
  const PetscScalar *da = NULL;
  PolderStream       stream;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  if (!count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCShellGetContext(pc, &ksp));
  whole = &((KSP_DCG *)ksp->data)->whole;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&to.work));
  if (whole->jacobi) PetscCall(PolderVecGetDeviceRead(whole->dinv, &da));
  PetscCall(PolderVecGetDeviceArray(v[0], &at.x));
  PetscCall(PolderVecGetDeviceArray(v[1], &at.r));
  PetscCall(PolderVecGetDeviceArray(v[3], &at.p));
  if (prepare) PolderLaunch(PolderCGRho_CUDA(whole->dia.n, at.r, at.r, da, first, &to, stream));
  PolderLaunch(PolderCGSmall_CUDA(&whole->dia, da, first, count, &at, state, to.work, stream));
  PetscCall(PolderVecRestoreDeviceArray(v[3], &at.p));
  PetscCall(PolderVecRestoreDeviceArray(v[1], &at.r));
  PetscCall(PolderVecRestoreDeviceArray(v[0], &at.x));
  if (whole->jacobi) PetscCall(PolderVecRestoreDeviceRead(whole->dinv, &da));
  PetscCall(PetscLogGpuFlops((15.0 + 2.0 * whole->dia.nd) * count * whole->dia.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGetFused_DCGSmall(PC pc, const PolderPCFused **fused)
{
  static const PolderPCFused offer = {.brief = PETSC_TRUE, .steps = PCSteps_DCGSmall};

  PetscFunctionBegin;
  (void)pc;
  *fused = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for the diagonals of all rows */
static PetscErrorCode KSPDCGSmallCreateDiagonals_Private(KSPDCGWhole *whole, PetscInt nd, const PetscInt off[])
{
  const PetscInt N = PolderReplicaSize(whole->replica);

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nd, &whole->off, nd, &whole->val));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)nd * (size_t)N, &whole->values));
  whole->dia = (PolderDia){.m = N, .n = N, .nd = nd, .off = whole->off, .val = whole->val, .main = -1};
  for (PetscInt d = 0; d < nd; ++d) {
    whole->off[d] = off[d];
    whole->val[d] = whole->values + (size_t)d * (size_t)N;
    if (!off[d]) whole->dia.main = d;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrix, preconditioner and vectors of all rows */
static PetscErrorCode KSPDCGSmallCreate_Private(KSP ksp)
{
  KSPDCGWhole   *whole = &((KSP_DCG *)ksp->data)->whole;
  const PetscInt N     = PolderReplicaSize(whole->replica);

  PetscFunctionBegin;
  PetscCall(KSPDCGWholeCreateVecs(whole));
  PetscCall(PolderVecDuplicate(whole->b, &whole->dinv));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, N, N, N, N, ksp, &whole->A));
  PetscCall(MatShellSetOperation(whole->A, MATOP_MULT, (void (*)(void))MatMult_DCGSmall));
  PetscCall(MatShellSetOperation(whole->A, MATOP_RESIDUAL, (void (*)(void))MatResidual_DCGSmall));
  PetscCall(PCCreate(PETSC_COMM_SELF, &whole->pc));
  PetscCall(PCSetOperators(whole->pc, whole->A, whole->A));
  PetscCall(PCSetType(whole->pc, PCSHELL));
  PetscCall(PCShellSetContext(whole->pc, ksp));
  PetscCall(PCShellSetApply(whole->pc, PCApply_DCGSmall));
  PetscCall(PetscObjectComposeFunction((PetscObject)whole->pc, POLDER_PC_GET_FUSED, PCGetFused_DCGSmall));
  PetscCall(PCSetUp(whole->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of all diagonals */
static PetscErrorCode KSPDCGSmallFill_Private(KSP ksp, const PolderCSR *csr)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;
  PetscScalar *own, *val[POLDER_CGSMALL_DIAGONALS];
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*own) * (size_t)csr->m * (size_t)whole->dia.nd, &own));
  for (PetscInt d = 0; d < whole->dia.nd; ++d) val[d] = own + (size_t)d * (size_t)csr->m;
  PolderLaunch(PolderDiaOwnRows_CUDA(&whole->dia, val, PolderOwnRows(csr), PolderGhostColumns(csr), whole->garray, csr->rstart, stream));
  PetscCall(PolderReplicaGatherColumns(whole->replica, whole->dia.nd, own, whole->values));
  PetscCall(PolderDeviceFree(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the whole matrix up to date. *done = PETSC_FALSE, on all processes: it has too many diagonals, or GPUs are unlike */
static PetscErrorCode KSPDCGSmallUpdate_Private(KSP ksp, Mat A, PetscBool pattern, PetscBool *done)
{
  KSPDCGWhole     *whole = &((KSP_DCG *)ksp->data)->whole;
  PetscInt         nd, off[POLDER_CGSMALL_DIAGONALS + 1];
  const PolderDia *dia;
  PolderCSR        csr;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSRAlike(A, PETSC_TRUE, &csr));
  *done = csr.device;
  if (pattern && *done) {
    PetscCall(KSPDCGWholeFree(ksp));
    PetscCall(PolderMatGetDeviceDia(A, &dia));
    PetscCall(KSPDCGSmallOffsets_Private(ksp, dia, &csr, &nd, off));
    if (nd <= POLDER_CGSMALL_DIAGONALS) PetscCall(PolderReplicaCreate(PetscObjectComm((PetscObject)ksp), csr.m, nd * csr.m, NULL, &whole->replica));
    *done = (PetscBool)(whole->replica != NULL);
    if (*done) {
      PetscCall(KSPDCGSmallCreateDiagonals_Private(whole, nd, off));
      PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)csr.nghost, csr.garray, &whole->garray));
    }
  }
  if (*done) PetscCall(KSPDCGSmallFill_Private(ksp, &csr));
  if (*done && !whole->A) PetscCall(KSPDCGSmallCreate_Private(ksp)); // while the values are gathered
  PetscCall(PolderMatRestoreCSRAt(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGSmallSetUp(KSP ksp, Mat A, PetscBool *done)
{
  KSPDCGWhole     *whole = &((KSP_DCG *)ksp->data)->whole;
  PetscObjectId    id;
  PetscObjectState pattern, state;
  PetscBool        here;
  int              any[3];

  PetscFunctionBegin;
  PetscCall(KSPDCGSmallFits_Private(ksp, A, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (whole->matrix) PetscCall(KSPDCGWholeFree(ksp)); // of another preconditioner
  PetscCall(KSPDCGSmallHere_Private(ksp, A, &here));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(MatGetNonzeroState(A, &pattern));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  any[0] = !here;
  any[1] = !whole->replica || id != whole->id || pattern != whole->pattern;
  any[2] = state != whole->state;
  PetscCallAllreduce(MPI_IN_PLACE, any, 3, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp));
  *done = (PetscBool)!any[0];
  if (*done && (any[1] || any[2])) PetscCall(KSPDCGSmallUpdate_Private(ksp, A, (PetscBool)any[1], done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  whole->id      = id;
  whole->pattern = pattern;
  whole->state   = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whole->dinv <- what jacobi multiplies by. Where that is the inverse diagonal of the matrix, each process has it without an exchange */
static PetscErrorCode KSPDCGSmallDinv_Private(KSP ksp, Mat A)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;
  Mat          pmat;
  PCJacobiType type;
  PetscBool    abs, fix;
  PolderStream stream;
  PetscScalar *dinv;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, NULL, &pmat));
  PetscCall(PCJacobiGetType(ksp->pc, &type));
  PetscCall(PCJacobiGetUseAbs(ksp->pc, &abs));
  PetscCall(PCJacobiGetFixDiagonal(ksp->pc, &fix));
  if (pmat == A && type == PC_JACOBI_DIAGONAL && !abs && whole->dia.main >= 0) {
    PetscCall(PolderDeviceGetStream(&stream));
    PetscCall(PolderVecGetDeviceWrite(whole->dinv, &dinv));
    PolderLaunch(PolderReciprocal_CUDA(whole->dia.m, fix ? 1 : 0, whole->dia.val[whole->dia.main], dinv, stream));
    PetscCall(PolderVecRestoreDeviceWrite(whole->dinv, &dinv));
  } else {
    if (!ksp->work) PetscCall(PolderKSPSetWorkVecs(ksp, POLDER_CG_WORKVECS, NULL));
    PetscCall(VecSet(ksp->work[1], 1.0));
    PetscCall(PCApply(ksp->pc, ksp->work[1], ksp->work[2]));
    PetscCall(KSPDCGWholeGather(whole, ksp->work[2], whole->dinv));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGSmallBegin(KSP ksp, Mat A)
{
  KSPDCGWhole *whole = &((KSP_DCG *)ksp->data)->whole;
  MatNullSpace attached, constant;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &whole->jacobi));
  if (whole->jacobi) PetscCall(KSPDCGSmallDinv_Private(ksp, A));
  PetscCall(MatGetNullSpace(A, &attached));
  PetscCall(MatSetNullSpace(whole->A, NULL));
  if (!attached) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &constant));
  PetscCall(MatSetNullSpace(whole->A, constant));
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}
