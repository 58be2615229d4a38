/* PC ip: incomplete Poisson, M^-1 = (I - L D^-1) (I - D^-1 L^T), as it is, scaled, or on the pattern of A. */
#include "kernels/csr.h"
#include "kernels/ip.h"
#include "rows/factored.h"
#include <petsc/private/pcimpl.h>

const char *const PCIPForms[] = {"plain", "scaled", "stencil", "diag", "PCIPForm", "PC_IP_", NULL};

typedef struct {
  PolderFactored common; // the first
  PCIPForm       form;
  PetscInt       nlow;
  PolderHalo     halo;
  PetscScalar   *d; /* [m + nghost] */
} PC_IP;

/* The rows of the factor: the entries of A from the diagonal on or, with whole, all */
static void PCIPEntries_Private(const PC_IP *ip, const PolderCSR *csr, PetscBool whole, PetscInt start[], PetscInt column[])
{
  PetscInt nz = 0;

  for (PetscInt i = 0; i < csr->m; ++i) {
    start[i] = nz;
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
      if (whole || csr->aj[k] >= i) column[nz++] = csr->rstart + csr->aj[k];
    }
    for (PetscInt k = csr->bi ? csr->bi[i] : 0; csr->bi && k < csr->bi[i + 1]; ++k) {
      if (whole || csr->bj[k] >= ip->nlow) column[nz++] = csr->garray[csr->bj[k]];
    }
  }
  start[csr->m] = nz;
}

static PetscErrorCode PCIPPattern_Private(PC pc, const PolderCSR *csr, PETSC_UNUSED const PolderCSR *there)
{
  PC_IP             *ip    = (PC_IP *)pc->data;
  const PolderPlace *place = ip->common.rows.place;
  const PetscBool    whole = (PetscBool)(ip->form == PC_IP_STENCIL || ip->form == PC_IP_DIAG);
  PetscInt          *start, *column;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  ip->halo = NULL;
  if (size > 1) PetscCall(PolderMatGetHalo(pc->pmat, &ip->halo));
  PetscCall(PolderGhostsBelow(csr->nghost, csr->garray, csr->rstart, &ip->nlow));
  PetscCall(PolderPlaceMalloc(&PolderOnHost, csr->m + 1, &start));
  PetscCall(PolderPlaceMalloc(&PolderOnHost, csr->nz + (csr->bi ? csr->bi[csr->m] : 0), &column));
  PCIPEntries_Private(ip, csr, whole, start, column);
  PetscCall(PolderFactoredCreate(pc, &start, &column, (PetscBool)!whole));
  PetscCall((*PolderOnHost.free)(&column));
  PetscCall(PolderPlaceMalloc(place, csr->m + csr->nghost, &ip->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCIPValues_Private(PC pc, const PolderCSR *csr)
{
  PC_IP             *ip    = (PC_IP *)pc->data;
  const PolderPlace *place = ip->common.rows.place;
  const PolderIp     P     = {.n      = csr->m,
                              .nlow   = ip->nlow,
                              .scaled = (PetscBool)(ip->form == PC_IP_SCALED || ip->form == PC_IP_DIAG),
                              .whole  = (PetscBool)(ip->form == PC_IP_STENCIL || ip->form == PC_IP_DIAG),
                              .start  = ip->common.start};
  PetscScalar       *val;

  PetscFunctionBegin;
  PolderRun(place, PolderCsrDiagonal, csr->m, csr->ai, csr->aj, csr->aa, ip->d);
  if (ip->halo) PetscCall(PolderHaloExchangeAt(ip->halo, place, MPIU_SCALAR, ip->d, ip->d + csr->m));
  PetscCall(PolderFactoredGet(pc, &val));
  PolderRun(place, PolderIpRows, &P, PolderOwnRows(csr), PolderGhostColumns(csr), ip->d, val);
  PetscCall(PolderFactoredSet(pc, &val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCIPFree_Private(PC pc)
{
  PC_IP             *ip    = (PC_IP *)pc->data;
  const PolderPlace *place = ip->common.rows.place;

  PetscFunctionBegin;
  PetscCall(PolderFactoredFree(pc));
  PetscCall((*place->free)(&ip->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCIPView_Private(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  form %s\n", PCIPForms[((PC_IP *)pc->data)->form]));
  PetscCall(PolderFactoredView(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCIPSetForm_IP(PC pc, PCIPForm form)
{
  PC_IP *ip = (PC_IP *)pc->data;

  PetscFunctionBegin;
  PetscCheck(form >= PC_IP_PLAIN && form <= PC_IP_DIAG, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Form %d is not one of PCIPForm",
             (int)form);
  if (form == ip->form) PetscFunctionReturn(PETSC_SUCCESS);
  ip->form = form;
  PetscCall(PolderRowsForget(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCIPSetForm - sets the form of the inverse of `PCIP`

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  form - the form, see `PCIPForm`

   Options Database Key:
.  -pc_ip_form <plain,scaled,stencil,diag> - the form

   Level: intermediate

.seealso: `PCIP`, `PCIPForm`
@*/
PetscErrorCode PCIPSetForm(PC pc, PCIPForm form)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, form, 2);
  PetscTryMethod(pc, "PCIPSetForm_C", (PC, PCIPForm), (pc, form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_IP(PC pc, PolderOptionItems PetscOptionsObject)
{
  PCIPForm  form = ((PC_IP *)pc->data)->form;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Incomplete Poisson options");
  PetscCall(PetscOptionsEnum("-pc_ip_form", "Form of the inverse", "PCIPSetForm", PCIPForms, (PetscEnum)form, (PetscEnum *)&form, &set));
  if (set) PetscCall(PCIPSetForm(pc, form));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCIP - incomplete Poisson, M^-1 = (I - L D^-1) (I - D^-1 L^T), for A = L + D + L^T

   Options Database Key:
.  -pc_ip_form <scaled> (plain,scaled,stencil,diag) - the form of the inverse

   Level: intermediate

   Notes:
   plain is the formula, for a diagonal without jumps. scaled applies it to D^-1/2 A D^-1/2 and scales back. stencil (IP of de Jong) keeps of the product only
   the pattern of A, so an apply is one product; diag (IPDIAG) does this after the scaling. The entries that products of two off-diagonal entries add within the
   pattern, of which 5- and 7-point stencils have none, are left out as well. The first two are positive definite for a positive diagonal; the last two are for
   matrices like that of the Poisson equation, and may not be for others.

   The inverse is the same on any number of processes with the same numbering. `PCTNS` with degree 1 is scaled with its factors swapped; with degree 2 it takes
   fewer iterations.

   References:
   M. Ament, G. Knittel, D. Weiskopf, W. Strasser, A parallel preconditioned conjugate gradient solver for the Poisson problem on a multi-GPU
   platform, PDP 2010;
   M. de Jong, Developing a CUDA solver for large sparse matrices for MARIN, MSc thesis, TU Delft, 2012.

.seealso: `PCIPForm`, `PCIPSetForm()`, `PCTNS`, `PCFSAI`
M*/
PETSC_INTERN PetscErrorCode PCCreate_IP(PC pc)
{
  static const PolderRowsSteps steps = {.type    = PCIP,
                                        .pattern = PCIPPattern_Private,
                                        .values  = PCIPValues_Private,
                                        .apply   = PolderFactoredApply,
                                        .free    = PCIPFree_Private,
                                        .view    = PCIPView_Private,
                                        .setters = {POLDER_SETTER(PCIPSetForm, IP)}};
  PC_IP                       *ip;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ip));
  ip->form = PC_IP_SCALED;
  PetscCall(PolderRowsCreate(pc, &ip->common.rows, &steps));
  pc->ops->setfromoptions = PCSetFromOptions_IP;
  PetscFunctionReturn(PETSC_SUCCESS);
}
