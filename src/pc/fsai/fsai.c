/* PC fsai: factorised sparse approximate inverse, M^-1 = G^T G, G on the pattern of the lower triangle of A^k. */
#include "core/options.h"
#include "core/refusal.h"
#include "kernels/fsai.h"
#include "rows/factored.h"
#include "rows/power.h"
#include <petsc/private/pcimpl.h>

/* Bytes of work on the device, which decide how many rows are computed at once */
#define PC_FSAI_WORK_BYTES 268435456.0

typedef struct {
  PolderFactored common; // the first
  PetscInt       power;
  PetscInt       longest; /* entries of the longest row of G */
  IS             is;      /* on several processes: the rows whose entries the rows of G need, ascending */
  Mat           *part;    /* and these rows; NULL: the matrix itself */
  PetscInt      *gj, *ei, *ej, *where, *bad;
  PetscScalar   *ea, *work;
  PetscInt       threads;
} PC_FSAI;

/* Products of entries in A^(k + 1) = A A^k at most, for each entry of A, and operations for a row of G at most, on average: rows of thousands of entries make
   full powers and large dense systems */
#define PC_FSAI_PRODUCTS_MAX 1000
#define PC_FSAI_FLOPS_MAX    5e6

#define PC_FSAI_POWER_MAX 5

/* Entry k of sum[] over all processes; refuses the matrix when sum[0] > most sum[1]. Collective */
static PetscErrorCode PCFSAICheck_Private(PC pc, PetscReal sum[2], PetscReal most, const char what[])
{
  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, sum, 2, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)pc));
  if (sum[0] > most * sum[1])
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE,
                   "PC of type fsai would take %.1e %s, more than %g: use a smaller -pc_fsai_power, or -pc_type tns", (double)(sum[0] / sum[1]), what,
                   (double)most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt PCFSAILength(const PolderCSR *A, PetscInt i)
{
  return A->ai[i + 1] - A->ai[i] + (A->bi ? A->bi[i + 1] - A->bi[i] : 0);
}

/* May A P be computed? Its products are the sum over j of the entries of column j of A, which is symmetric, times those of row j of P. Collective */
static PetscErrorCode PCFSAICheckProduct_Private(PC pc, const PolderCSR *A, const PolderCSR *P)
{
  PetscReal sum[2] = {0, 0};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < A->m; ++i) {
    sum[0] += (PetscReal)PCFSAILength(A, i) * PCFSAILength(P, i);
    sum[1] += PCFSAILength(A, i);
  }
  PetscCall(PCFSAICheck_Private(pc, sum, PC_FSAI_PRODUCTS_MAX, "products for each entry of the matrix in its power"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The dense systems of the rows of G, by Cholesky factors. Collective */
static PetscErrorCode PCFSAICheckRows_Private(PC pc, PetscInt m, const PetscInt start[])
{
  PetscReal sum[2] = {0, m};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; ++i) sum[0] += PetscPowRealInt(start[i + 1] - start[i], 3) / 3;
  PetscCall(PCFSAICheck_Private(pc, sum, PC_FSAI_FLOPS_MAX, "floating-point operations for a row"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes: a matrix with the pattern of A^power, or of the power at which it is refused. The products are made on the host: cuSPARSE refuses large
   ones */
static PetscErrorCode PCFSAIPower_Private(PC pc, const PolderCSR *A, Mat *P)
{
  PC_FSAI  *fsai = (PC_FSAI *)pc->data;
  PolderCSR rows;
  Mat       host;

  PetscFunctionBegin;
  PetscCall(MatConvert(pc->pmat, MATAIJ, MAT_INITIAL_MATRIX, &host));
  *P = host;
  PetscCall(PetscObjectReference((PetscObject)*P));
  for (PetscInt k = 1; k < fsai->power; ++k) {
    Mat next;

    PetscCall(PolderMatGetPattern(*P, &rows));
    PetscCall(PCFSAICheckProduct_Private(pc, A, &rows));
    PetscCall(PolderMatRestoreCSR(*P, &rows));
    if (pc->failedreason) break;
    PetscCall(MatMatMult(host, *P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &next));
    PetscCall(MatDestroy(P));
    *P = next;
  }
  PetscCall(MatDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On one process: the lower triangle of A^power; no arrays when it is refused */
static PetscErrorCode PCFSAIPowerHere_Private(PC pc, const PolderCSR *A, PetscInt **start, PetscInt **column)
{
  PC_FSAI      *fsai = (PC_FSAI *)pc->data;
  PolderPattern P    = {.n = 0}, next;

  PetscFunctionBegin;
  for (PetscInt k = 1; k < fsai->power; ++k) {
    const PolderCSR rows = {.m = A->m, .ai = k > 1 ? P.start : A->ai};

    PetscCall(PCFSAICheckProduct_Private(pc, A, &rows));
    if (pc->failedreason) break;
    PetscCall(PolderPatternProduct(A, k > 1 ? &P : NULL, (PetscBool)(k + 1 == fsai->power), &next));
    PetscCall(PolderPatternDestroy(&P));
    P = next;
  }
  if (!pc->failedreason) {
    *start  = P.start;
    *column = P.column;
    P.start = P.column = NULL;
  }
  PetscCall(PolderPatternDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lower triangle of P: global columns, ascending in each row */
static PetscErrorCode PCFSAITriangle_Private(const PolderCSR *P, PetscInt **starts, PetscInt **columns)
{
  PetscInt *start, *column, nz = 0;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(&PolderOnHost, P->m + 1, &start));
  PetscCall(PolderPlaceMalloc(&PolderOnHost, P->nz + (P->bi ? P->bi[P->m] : 0) + P->m, &column));
  for (PetscInt i = 0; i < P->m; ++i) {
    start[i] = nz;
    for (PetscInt k = P->bi ? P->bi[i] : 0; P->bi && k < P->bi[i + 1] && P->garray[P->bj[k]] < P->rstart; ++k) column[nz++] = P->garray[P->bj[k]];
    for (PetscInt k = P->ai[i]; k < P->ai[i + 1] && P->aj[k] < i; ++k) column[nz++] = P->rstart + P->aj[k];
    column[nz++] = P->rstart + i;
  }
  start[P->m] = nz;
  *starts     = start;
  *columns    = column;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes: the rows that the small systems need, and column[] <- where each column is among them */
static PetscErrorCode PCFSAIRows_Private(PC pc, const PolderCSR *P, PetscInt nz, PetscInt column[])
{
  PC_FSAI        *fsai = (PC_FSAI *)pc->data;
  PetscInt       *need, n = P->nghost, at;
  const PetscInt *is;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(P->nghost + P->m, &need));
  PetscCall(PetscArraycpy(need, P->garray, n));
  for (PetscInt i = 0; i < P->m; ++i) need[n++] = P->rstart + i;
  PetscCall(PetscSortInt(n, need));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, need, PETSC_OWN_POINTER, &fsai->is));
  PetscCall(ISGetIndices(fsai->is, &is));
  for (PetscInt k = 0; k < nz; ++k) {
    PetscCall(PetscFindInt(column[k], n, is, &at));
    column[k] = at;
  }
  PetscCall(ISRestoreIndices(fsai->is, &is));
  PetscCall(MatCreateSubMatrices(pc->pmat, 1, &fsai->is, &fsai->is, MAT_INITIAL_MATRIX, &fsai->part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* G and the rows that its systems need, at the place, from the pattern, whose arrays it takes */
static PetscErrorCode PCFSAICreate_Private(PC pc, const PolderCSR *P, PetscInt **start, PetscInt **column)
{
  PC_FSAI           *fsai  = (PC_FSAI *)pc->data;
  const PolderPlace *place = fsai->common.rows.place;
  PolderCSR          E;
  PetscInt           m = P->m, nz = (*start)[m], rows = m;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  fsai->longest = 0;
  for (PetscInt i = 0; i < m; ++i) fsai->longest = PetscMax(fsai->longest, (*start)[i + 1] - (*start)[i]);
  PetscCall(PolderFactoredCreate(pc, start, column, PETSC_TRUE));
  if (size > 1) {
    PetscCall(PCFSAIRows_Private(pc, P, nz, *column));
    PetscCall(PolderMatGetCSR(fsai->part[0], &E));
    PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)(E.m + 1), E.ai, &fsai->ei));
    PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)E.nz, E.aj, &fsai->ej));
    PetscCall(PolderPlaceMalloc(place, E.nz, &fsai->ea));
    rows = E.m;
    PetscCall(PolderMatRestoreCSR(fsai->part[0], &E));
  }
  if (!fsai->common.direct) PetscCall(PolderPlaceMove(place, sizeof(PetscInt) * (size_t)nz, column, &fsai->gj));
  if (place->device) {
    fsai->threads = (PetscInt)PetscMin((PetscReal)m, 1 + PC_FSAI_WORK_BYTES / (8.0 * (1.0 + (PetscReal)PolderFsaiWork(fsai->longest))));
    PetscCall(PolderPlaceMalloc(place, (size_t)fsai->threads * PolderFsaiWork(fsai->longest), &fsai->work));
  } else {
    PetscCall(PolderPlaceMalloc(place, PolderFsaiWork_Host(fsai->longest), &fsai->work));
    PetscCall(PolderPlaceMalloc(place, rows, &fsai->where));
    PetscCall((*place->zero)(fsai->where, sizeof(PetscInt) * (size_t)rows));
  }
  PetscCall(PolderPlaceMalloc(place, 1, &fsai->bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFSAIPattern_Private(PC pc, const PolderCSR *csr, PETSC_UNUSED const PolderCSR *there)
{
  PC_FSAI  *fsai  = (PC_FSAI *)pc->data;
  PolderCSR rows  = *csr;
  Mat       P     = NULL;
  PetscInt *start = NULL, *column = NULL;

  PetscFunctionBegin;
  if (fsai->power > 1 && !csr->bi) PetscCall(PCFSAIPowerHere_Private(pc, csr, &start, &column));
  else {
    if (fsai->power > 1) {
      PetscCall(PCFSAIPower_Private(pc, csr, &P));
      PetscCall(PolderMatGetPattern(P, &rows));
    }
    PetscCall(PCFSAITriangle_Private(&rows, &start, &column));
  }
  if (!pc->failedreason) PetscCall(PCFSAICheckRows_Private(pc, csr->m, start));
  if (!pc->failedreason) PetscCall(PCFSAICreate_Private(pc, &rows, &start, &column));
  PetscCall((*PolderOnHost.free)(&start));
  PetscCall((*PolderOnHost.free)(&column));
  if (P) PetscCall(PolderMatRestoreCSR(P, &rows));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFSAIValues_Private(PC pc, const PolderCSR *csr)
{
  PC_FSAI           *fsai   = (PC_FSAI *)pc->data;
  const PolderPlace *place  = fsai->common.rows.place;
  PolderFactored    *common = &fsai->common;
  PolderFsai         F =
    {.n = csr->m, .gi = common->start, .gj = common->direct ? common->here[0].j : fsai->gj, .ei = csr->ai, .ej = csr->aj, .ea = csr->aa, .where = fsai->where};
  PetscInt     bad = PETSC_MAX_INT;
  PetscScalar *val;

  PetscFunctionBegin;
  if (fsai->part) {
    PolderCSR E;

    PetscCall(MatCreateSubMatrices(pc->pmat, 1, &fsai->is, &fsai->is, MAT_REUSE_MATRIX, &fsai->part));
    PetscCall(PolderMatGetCSR(fsai->part[0], &E));
    PetscCall(PolderPlacePut(place, E.nz, E.aa, fsai->ea));
    PetscCall(PolderMatRestoreCSR(fsai->part[0], &E));
    F.ei = fsai->ei;
    F.ej = fsai->ej;
    F.ea = fsai->ea;
  }
  PetscCall(PolderPlacePut(place, 1, &bad, fsai->bad));
  PetscCall(PolderFactoredGet(pc, &val));
  PolderRun(place, PolderFsaiRows, &F, fsai->threads, fsai->work, val, fsai->bad);
  PetscCall(PolderPlaceTake(place, 1, fsai->bad, &bad));
  PetscCall(PolderFactoredSet(pc, &val));
  PetscCall(PolderRowsCheckPivot(pc, bad, "the matrix is not positive definite"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFSAIFree_Private(PC pc)
{
  PC_FSAI           *fsai  = (PC_FSAI *)pc->data;
  const PolderPlace *place = fsai->common.rows.place;

  PetscFunctionBegin;
  PetscCall(PolderFactoredFree(pc));
  PetscCall(ISDestroy(&fsai->is));
  if (fsai->part) PetscCall(MatDestroySubMatrices(1, &fsai->part));
  PetscCall((*place->free)(&fsai->gj));
  PetscCall((*place->free)(&fsai->ei));
  PetscCall((*place->free)(&fsai->ej));
  PetscCall((*place->free)(&fsai->ea));
  PetscCall((*place->free)(&fsai->work));
  PetscCall((*place->free)(&fsai->where));
  PetscCall((*place->free)(&fsai->bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFSAIView_Private(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lower triangle of |A|^%" PetscInt_FMT "\n", ((PC_FSAI *)pc->data)->power));
  PetscCall(PolderFactoredView(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFSAISetPower_FSAI(PC pc, PetscInt power)
{
  PC_FSAI *fsai = (PC_FSAI *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_fsai_power", power, 1, PC_FSAI_POWER_MAX);
  PetscCall(PolderRowsSetInt(pc, &fsai->power, power));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCFSAISetPower - sets the power of A whose lower triangle is the pattern of the factor of `PCFSAI`

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  power - 1 to 5

   Options Database Key:
.  -pc_fsai_power <power> - the power

   Level: intermediate

.seealso: `PCFSAI`
@*/
PetscErrorCode PCFSAISetPower(PC pc, PetscInt power)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, power, 2);
  PetscTryMethod(pc, "PCFSAISetPower_C", (PC, PetscInt), (pc, power));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_FSAI(PC pc, PolderOptionItems PetscOptionsObject)
{
  PetscInt  power = ((PC_FSAI *)pc->data)->power;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Factorised sparse approximate inverse options");
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_fsai_power", "Power of A whose lower triangle is the pattern", "PCFSAISetPower", 1, PC_FSAI_POWER_MAX,
                             &power, &set));
  if (set) PetscCall(PCFSAISetPower(pc, power));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCFSAI - factorised sparse approximate inverse, M^-1 = G^T G with G near the inverse of the Cholesky factor of A

   Options Database Key:
.  -pc_fsai_power <1> - G has the pattern of the lower triangle of A^power

   Level: intermediate

   Notes:
   (G A)_ij = 0 for i != j in the pattern, and G A G^T has a unit diagonal. Each row is a small dense system with the entries of A in its columns, which is
   solved by Cholesky factors; on a GPU one thread does a row. An apply is two products, by matrices of the type of A. It is the same on any number of processes
   with the same numbering. A must be symmetric and positive (semi-)definite.

   Reference:
   L. Kolotilina, A. Yeremin, Factorized sparse approximate inverse preconditionings I, SIAM J. Matrix Anal. Appl. 14, 1993.

.seealso: `PCFSAISetPower()`, `PCSPAI`, `PCTNS`, `PCIP`
M*/
PETSC_INTERN PetscErrorCode PCCreate_FSAI(PC pc)
{
  static const PolderRowsSteps steps = {.type    = PCFSAI,
                                        .pattern = PCFSAIPattern_Private,
                                        .values  = PCFSAIValues_Private,
                                        .apply   = PolderFactoredApply,
                                        .free    = PCFSAIFree_Private,
                                        .view    = PCFSAIView_Private,
                                        .setters = {POLDER_SETTER(PCFSAISetPower, FSAI)}};
  PC_FSAI                     *fsai;

  PetscFunctionBegin;
  PetscCall(PetscNew(&fsai));
  fsai->power = 1;
  PetscCall(PolderRowsCreate(pc, &fsai->common.rows, &steps));
  pc->ops->setfromoptions = PCSetFromOptions_FSAI;
  PetscFunctionReturn(PETSC_SUCCESS);
}
