/* PC mic: incomplete Cholesky without fill in which omega times what is dropped goes to the diagonal: RIC(omega), MIC for omega = 1, IC for 0. */
#include "core/options.h"
#include "rows/sweepspc.h"
#include <petsc/private/pcimpl.h>

typedef struct {
  PolderSweepsPC common; // the first
  PetscReal      omega;
  PetscInt       blocks; /* of consecutive rows, on each process */
} PC_MIC;

static PetscErrorCode PCMICPattern_Private(PC pc, const PolderCSR *csr, const PolderCSR *there)
{
  PC_MIC     *mic = (PC_MIC *)pc->data;
  PolderGraph g;
  PetscInt   *level, count, nblock;

  PetscFunctionBegin;
  PetscCall(PolderGraphCreate(csr, PETSC_FALSE, &g));
  PetscCall(PolderGraphBlocks(&g, mic->blocks, &nblock));
  PetscCall(PetscMalloc1(g.n, &level));
  PetscCall(PolderGraphLevels(&g, NULL, level, &count));
  PetscCall(PolderSweepsCreate(&mic->common.sweeps, mic->common.rows.place, &g, there, level, count, NULL));
  mic->common.sweeps.eliminate = count;
  mic->common.sweeps.omega     = mic->omega;
  mic->common.sweeps.nblock    = nblock;
  PetscCall(PetscFree(level));
  PetscCall(PolderGraphDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMICView_Private(PC pc, PetscViewer viewer)
{
  PC_MIC *mic = (PC_MIC *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  omega %g\n", (double)mic->omega));
  PetscCall(PolderSweepsPCView(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMICSetOmega_MIC(PC pc, PetscReal omega)
{
  PC_MIC *mic = (PC_MIC *)pc->data;

  PetscFunctionBegin;
  PetscCheck(omega >= 0 && omega <= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "-pc_mic_omega %g is not between 0 and 1", (double)omega);
  if (omega == mic->omega) PetscFunctionReturn(PETSC_SUCCESS);
  mic->omega = omega;
  PetscCall(PolderRowsForget(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICSetOmega - sets which share of the dropped fill `PCMIC` adds to the diagonal

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  omega - 0 (IC) to 1 (MIC)

   Options Database Key:
.  -pc_mic_omega <omega> - the share

   Level: intermediate

   Note:
   A singular matrix, as of a Neumann problem, needs less than 1.

.seealso: `PCMIC`, `PCMICSetBlocks()`
@*/
PetscErrorCode PCMICSetOmega(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscTryMethod(pc, "PCMICSetOmega_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMICSetBlocks_MIC(PC pc, PetscInt blocks)
{
  PC_MIC *mic = (PC_MIC *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_mic_blocks", blocks, 1, PETSC_MAX_INT);
  PetscCall(PolderRowsSetInt(pc, &mic->blocks, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMICSetBlocks - sets the number of blocks of `PCMIC` on each process

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  blocks - 1 or more

   Options Database Key:
.  -pc_mic_blocks <blocks> - the number

   Level: intermediate

   Note:
   Blocks are of consecutive rows, and entries between them are left out. More blocks give fewer levels and more iterations.

.seealso: `PCMIC`, `PCMICSetOmega()`
@*/
PetscErrorCode PCMICSetBlocks(PC pc, PetscInt blocks)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, blocks, 2);
  PetscTryMethod(pc, "PCMICSetBlocks_C", (PC, PetscInt), (pc, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_MIC(PC pc, PolderOptionItems PetscOptionsObject)
{
  PC_MIC   *mic    = (PC_MIC *)pc->data;
  PetscReal omega  = mic->omega;
  PetscInt  blocks = mic->blocks;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Modified incomplete Cholesky options");
  PetscCall(PetscOptionsReal("-pc_mic_omega", "Share of the dropped fill that goes to the diagonal; 0 (IC) to 1 (MIC)", "PCMICSetOmega", omega, &omega, &set));
  if (set) PetscCall(PCMICSetOmega(pc, omega));
  PetscCall(
    PolderOptionsInt(PetscOptionsObject, "-pc_mic_blocks", "Blocks of consecutive rows on each process", "PCMICSetBlocks", 1, PETSC_MAX_INT, &blocks, &set));
  if (set) PetscCall(PCMICSetBlocks(pc, blocks));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCMIC - modified and relaxed incomplete Cholesky without fill, RIC(omega), in blocks

   Options Database Keys:
+  -pc_mic_omega <0.99> - share of the dropped fill that goes to the diagonal: 0 is IC, 1 is MIC, with which M and A have the same row sums
-  -pc_mic_blocks <1>   - blocks of consecutive rows on each process, between which entries are left out

   Level: intermediate

   Notes:
   M = (D + L) D^-1 (D + L^T) on the pattern of A, in the order of the rows; one block a process at least. The triangular solves run level by level: rows that
   do not depend on each other are solved for at once, on a GPU in one launch. A 7-point grid of n^3 cells has 3 n - 2 levels. More blocks give shorter levels
   and more iterations.

   A singular matrix, as of a Neumann problem, needs omega < 1: with 1 its last pivot is zero.

   On a CPU with omega = 0 `PCICC` in `PCBJACOBI` does the same.

   References:
   I. Gustafsson, A class of first order factorization methods, BIT 18, 1978; O. Axelsson, G. Lindskog, On the eigenvalue distribution of a class of
   preconditioning methods, Numer. Math. 48, 1986.

.seealso: `PCMICSetOmega()`, `PCMICSetBlocks()`, `PCICC`, `PCRRB`, `PCMCSGS`, `PCTNS`
M*/
PETSC_INTERN PetscErrorCode PCCreate_MIC(PC pc)
{
  static const PolderRowsSteps steps = {
    .type    = PCMIC,
    .pattern = PCMICPattern_Private,
    .values  = PolderSweepsPCValues,
    .apply   = PolderSweepsPCApply,
    .free    = PolderSweepsPCFree,
    .view    = PCMICView_Private,
    .setters = {POLDER_SETTER(PCMICSetOmega, MIC), POLDER_SETTER(PCMICSetBlocks, MIC)}
  };
  PC_MIC *mic;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mic));
  mic->omega         = 0.99;
  mic->blocks        = 1;
  mic->common.levels = "levels";
  mic->common.advice = "use a smaller -pc_mic_omega, or -pc_type mcsgs";
  PetscCall(PolderRowsCreate(pc, &mic->common.rows, &steps));
  pc->ops->setfromoptions = PCSetFromOptions_MIC;
  PetscFunctionReturn(PETSC_SUCCESS);
}
