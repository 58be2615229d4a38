/* Truncated Neumann series: M^-1 = K^T D^-1 K, K = sum_{j <= q} (-L D^-1)^j, from the entries of the matrix itself. */
#include "core/core.h"
#include "mat/symmetry.h"
#include "tnsimpl.h"
#include "core/options.h"
#include "core/refusal.h"
#include <petsc/private/pcimpl.h>

/* Tried from the last to the first, since the host always works */
static const TNSSteps *const TNSStepsAt[] = {&TNSStepsOnHost, &TNSStepsOnDevice};

static PetscErrorCode PCTNSFree_Private(PC_TNS *tns)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k) PetscCall((*TNSStepsAt[k]->free)(tns));
  tns->halo = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Identifies the pattern and the values of the matrix */
static PetscErrorCode PCTNSGetKeys_Private(PC pc, const PolderCSR *csr, TNSKeys *keys)
{
  PetscFunctionBegin;
  keys->blocks[1] = 0;
  PetscCall(PetscObjectGetId((PetscObject)csr->diag, &keys->blocks[0]));
  if (csr->offdiag) PetscCall(PetscObjectGetId((PetscObject)csr->offdiag, &keys->blocks[1]));
  PetscCall(MatGetNonzeroState(pc->pmat, &keys->nonzerostate));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &keys->mat));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &keys->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSSetHalo(PC pc, const PolderCSR *csr)
{
  PC_TNS     *tns = (PC_TNS *)pc->data;
  PetscMPIInt size;

  PetscFunctionBegin;
  tns->m    = csr->m;
  tns->halo = NULL;
  PetscCall(PolderGhostsBelow(csr->nghost, csr->garray, csr->rstart, &tns->nlow));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size > 1 && tns->degree) PetscCall(PolderMatGetHalo(pc->pmat, &tns->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Brings the data of Pmat up to date. With KSPSetReusePreconditioner() Pmat may have changed since the set-up. The triangles are read from the current Pmat;
  combined with the diagonal of the old one they would be a worse preconditioner than none.
*/
PetscErrorCode PCTNSUpdate(PC pc, const TNSSteps *steps, const PolderCSR *csr, const PolderDia *dia)
{
  PC_TNS       *tns  = (PC_TNS *)pc->data;
  TNSMatrix    *A    = &tns->at[steps->place->device];
  const TNSForm form = TNSFormOf(dia);
  TNSKeys       now;
  PetscBool     same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCTNSGetKeys_Private(pc, csr, &now));
  if (TNSSameValues(A, &now)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TNSSamePatternEverywhere(pc, A, &now, form, &same));
  if (!same) {
    PetscCall((*steps->pattern)(pc, csr, dia));
    if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
    A->keys = now;
    A->form = form;
  }
  A->keys.mat = 0; // until the diagonal has been checked
  PetscCall((*steps->values)(pc, csr, dia));
  if (!pc->failedreason) A->keys = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M^-1 r with the arrays of the vectors at a place */
static PetscErrorCode PCTNSApplyAt_Private(PC pc, const TNSSteps *steps, const PolderCSR *csr, const PolderDia *dia, Vec r, Vec z)
{
  const PolderPlace *place = steps->place;
  const PetscScalar *rr;
  PetscScalar       *zz;

  PetscFunctionBegin;
  PetscCall((*place->vecgetread)(r, &rr));
  PetscCall((*place->vecgetwrite)(z, &zz));
  PetscCall((*place->timebegin)());
  PetscCall((*steps->apply)(pc, csr, dia, rr, zz));
  PetscCall((*place->timeend)());
  PetscCall((*place->vecrestorewrite)(z, &zz));
  PetscCall((*place->vecrestoreread)(r, &rr));
  PetscCall((*place->logflops)(((PC_TNS *)pc->data)->at[place->device].flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTNSSetUpAt(PC pc, const TNSSteps *steps, Vec r, Vec z, PetscBool *done)
{
  PolderCSR        csr;
  const PolderDia *dia;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSRAt(pc->pmat, steps->place, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*steps->getdia)(pc->pmat, &dia));
  PetscCall(PCTNSUpdate(pc, steps, &csr, dia));
  if (r && !pc->failedreason) PetscCall(PCTNSApplyAt_Private(pc, steps, &csr, dia, r, z));
  PetscCall(PolderMatRestoreCSRAt(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same at a place or, when the matrix is not there, on the host */
static PetscErrorCode PCTNSSetUpFrom_Private(PC pc, const PolderPlace *place, Vec r, Vec z)
{
  PC_TNS   *tns  = (PC_TNS *)pc->data;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  for (int k = place->device; k >= 0 && !done; --k) {
    tns->steps = TNSStepsAt[k];
    PetscCall(PCTNSSetUpAt(pc, tns->steps, r, z, &done));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_TNS(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PolderMatCheckRows(pc->pmat, "tns"));
  PetscCall(PolderPCForgive(pc));
  PetscCall(PCTNSSetUpFrom_Private(pc, &PolderOnDevice, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_TNS(PC pc, Vec r, Vec z)
{
  const PolderPlace *place;
  PetscBool          failed;

  PetscFunctionBegin;
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_TNSApply, pc));
  PetscCall(PolderPlaceOfVecs(r, z, &place));
  PetscCall(PCTNSSetUpFrom_Private(pc, place, r, z));
  PetscCall(PolderPCFlag(pc, z, &failed)); // the values may have changed since the set-up
  PetscCall(PolderLogEnd(POLDER_TNSApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program may declare the matrix nonsymmetric without having checked it, so the values are checked */
static PetscErrorCode PCTNSCheckSymmetry_Private(PC pc)
{
  PC_TNS          *tns = (PC_TNS *)pc->data;
  PetscBool        known, symmetric;
  PetscObjectId    id;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  if (!known || symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  if (id != tns->tested || state != tns->testedstate) PetscCall(PolderMatProductsSymmetric(pc->pmat, &tns->symmetric));
  tns->tested      = id;
  tns->testedstate = state;
  PetscCheck(tns->symmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC of type tns applies its transpose for symmetric matrices only, and this one is not symmetric");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M^-1 is symmetric only when A is; otherwise the strictly upper part is not L^T */
static PetscErrorCode PCApplyTranspose_TNS(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCTNSCheckSymmetry_Private(pc));
  PetscCall(PCApply_TNS(pc, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_TNS(PC pc)
{
  PC_TNS *tns = (PC_TNS *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCTNSFree_Private(tns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_TNS(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_TNS(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTNSSetDegree_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_FUSED, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_TNS(PC pc, PetscViewer viewer)
{
  static const char *const kept[]   = {"nothing of the matrix is copied; inverse diagonal and work:",
                                       "triangles and inverse diagonal in single precision, with work:"};
  static const char *const forms[]  = {"compressed rows", "diagonals", "diagonals, half of a symmetric matrix"};
  static const char *const sweeps[] = {"one at a time, each with an exchange", "two in one kernel, an exchange during it and one after it",
                                       "two in one kernel, an exchange during it"};
  PC_TNS                  *tns      = (PC_TNS *)pc->data;
  const TNSMatrix         *A        = &tns->at[tns->steps->place->device];
  PetscInt64               count[5], total[5]; /* processes for each form, those on a GPU, bytes */
  PetscInt                 N;
  PetscBool                ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    PetscViewerASCIIPrintf(viewer, "  degree %" PetscInt_FMT ": %" PetscInt_FMT " products with a strict triangle an apply\n", tns->degree, 2 * tns->degree));
  PetscCall(PolderRefusalView((PetscObject)pc, viewer));
  if (!A->keys.blocks[0] || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  for (int f = 0; f < 3; ++f) count[f] = tns->m && (int)A->form == f;
  count[3] = tns->m && tns->steps->place->device;
  count[4] = A->bytes;
  PetscCallAllreduce(count, total, 5, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc));
  PetscCall(MatGetSize(pc->pmat, &N, NULL));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s %.1f bytes a row\n", kept[tns->precision], N ? (double)total[4] / (double)N : 0.0));
  for (int f = 0; f < 3; ++f) {
    if (total[f]) PetscCall(PetscViewerASCIIPrintf(viewer, "  triangles read from: %s (processes: %" PetscInt64_FMT ")\n", forms[f], total[f]));
  }
  if (total[3]) PetscCall(PetscViewerASCIIPrintf(viewer, "  on a GPU (processes: %" PetscInt64_FMT ")\n", total[3]));
  if (total[3] && tns->halo) {
    const PetscBool paired = (PetscBool)(tns->outer[0].paired && tns->outer[1].paired), again = (PetscBool)(tns->outer[0].again || tns->outer[1].again);

    PetscCall(PetscViewerASCIIPrintf(viewer, "  sweeps with other processes: %s\n", sweeps[!paired ? 0 : again ? 1 : 2]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCTNSSetDegree_TNS(PC pc, PetscInt degree)
{
  PC_TNS *tns = (PC_TNS *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_tns_degree", degree, 0, PC_TNS_DEGREE_MAX);
  if (degree == tns->degree) PetscFunctionReturn(PETSC_SUCCESS);
  tns->degree = degree;
  PetscCall(PCTNSFree_Private(tns));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCTNSSetDegree - sets the number of terms after the first in the truncated Neumann series of `PCTNS`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  degree - the degree q of K_q, 0 (Jacobi) to 100

   Options Database Key:
.  -pc_tns_degree <2> - the degree

   Level: intermediate

   Notes:
   An apply costs 2 `degree` products with half of the matrix, made in two passes over its memory. Each further term saves fewer iterations
   than the one before it; 2 is what Gupta (2015, chapters 3 to 6) uses throughout.

   A change after the set-up makes the next `PCSetUp()` rebuild everything.

.seealso: `PCTNS`
@*/
PetscErrorCode PCTNSSetDegree(PC pc, PetscInt degree)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, degree, 2);
  PetscTryMethod(pc, "PCTNSSetDegree_C", (PC, PetscInt), (pc, degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_TNS(PC pc, PolderOptionItems PetscOptionsObject)
{
  static const char *const precisions[] = {"double", "single"};
  PC_TNS                  *tns          = (PC_TNS *)pc->data;
  PetscInt                 degree = tns->degree, precision = (PetscInt)tns->precision;
  PetscBool                set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Truncated Neumann series options");
  PetscCall(
    PolderOptionsInt(PetscOptionsObject, "-pc_tns_degree", "Terms of the series after the first", "PCTNSSetDegree", 0, PC_TNS_DEGREE_MAX, &degree, &set));
  if (set) PetscCall(PCTNSSetDegree(pc, degree));
  PetscCall(PetscOptionsEList("-pc_tns_precision", "Precision in which the entries of the matrix are read", "PCTNS", precisions, 2, precisions[precision],
                              &precision, &set));
  if (set && precision != (PetscInt)tns->precision) {
    tns->precision = (TNSPrecision)precision;
    PetscCall(PCTNSFree_Private(tns));
    pc->setupcalled = PETSC_FALSE;
  }
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCTNS - truncated Neumann series of a symmetric Gauss-Seidel step, M^-1 = K^T D^-1 K with K = sum_{j=0..q} (-L D^-1)^j

   Options Database Key:
+  -pc_tns_degree <2>                       - the degree q
-  -pc_tns_precision <double> (double,single) - the precision in which the entries of the matrix and the inverse diagonal are read

   Level: beginner

   Notes:
   A = L + D + L^T with D the diagonal and L the strictly lower part of A in the global numbering. Symmetric Gauss-Seidel is
   M = (I + L D^-1) D (I + L D^-1)^T; K is the Neumann series of (I + L D^-1)^-1, cut after the term of degree q
   (Gupta 2015, equations 3.6 and 3.7). Only products are left, no triangular solves, so it runs in parallel and the result does
   not depend on the number of processes as long as the global numbering is the same. It does depend on the numbering.

   L D^-1 is strictly lower triangular, so K is unit lower triangular: M^-1 is symmetric and positive definite for every symmetric A with
   a positive diagonal, without any condition on the norm of L D^-1. A row with a zero, negative or missing diagonal
   ends the solve with `KSP_DIVERGED_PC_FAILED`.

   A must be symmetric: the strictly upper part is taken as L^T. For an A that is not, the apply is
   sum (-D^-1 U)^j D^-1 sum (-L D^-1)^j, usable with `KSPGMRES` but not with `KSPCG`.

   The matrix is any AIJ type, sequential or parallel. Its own entries are read, only the inverse diagonal and the position of the
   diagonal in each row is stored. All sweeps over one triangle are made in one pass over the memory of the matrix, block of rows after
   block. In parallel each triangular product exchanges neighbour values once, while the rows of the process are computed.

   With `-pc_tns_precision single` the triangles and the inverse diagonal are copied to single precision, for two thirds of the bytes of an apply
   on diagonals; vectors and sums stay in double precision. M^-1 belongs to the rounded matrix, is also symmetric and positive definite, and takes nearly the
   same iterations. Entries beyond the range of single precision end the solve with `KSP_DIVERGED_PC_FAILED`.

   With CUDA vectors and a matrix on the device (the types of this library, or `MATAIJCUSPARSE`) the set-up and the apply run there. Two sweeps over
   a triangle of a 5- or 7-point stencil by diagonals are then one kernel, also on several GPUs of one host. `-ksp_view` says whether they are.

   Reference:
   R. Gupta, GPU acceleration of preconditioned solvers for ill-conditioned linear systems, PhD thesis, TU Delft, 2015, section 3.2.2.

.seealso: `PCTNSSetDegree()`, `PCLEVELSET`, `KSPDCG`, `PCSOR`, `PCICC`
M*/
PETSC_INTERN PetscErrorCode PCCreate_TNS(PC pc)
{
  PC_TNS *tns;

  PetscFunctionBegin;
  PetscCall(PetscNew(&tns));
  tns->degree             = 2;
  tns->steps              = &TNSStepsOnHost;
  pc->data                = (void *)tns;
  pc->ops->setup          = PCSetUp_TNS;
  pc->ops->setuponblocks  = PolderPCSetUpOnBlocks;
  pc->ops->apply          = PCApply_TNS;
  pc->ops->applytranspose = PCApplyTranspose_TNS;
  pc->ops->reset          = PCReset_TNS;
  pc->ops->destroy        = PCDestroy_TNS;
  pc->ops->view           = PCView_TNS;
  pc->ops->setfromoptions = PCSetFromOptions_TNS;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTNSSetDegree_C", PCTNSSetDegree_TNS));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_FUSED, PCTNSGetFused));
  PetscFunctionReturn(PETSC_SUCCESS);
}
