/* PC iluc: ILU(p,q), incomplete factors of level p in the order of a colouring of the graph of |A|^q. */
#include "core/options.h"
#include "rows/sweepspc.h"
#include <petsc/private/pcimpl.h>

#define PC_ILUC_LEVELS_MAX 10

typedef struct {
  PolderSweepsPC common; // the first
  PetscInt       fill, power, colours;
} PC_ILUC;

static PetscErrorCode PCILUCPattern_Private(PC pc, const PolderCSR *csr, const PolderCSR *there)
{
  PC_ILUC    *ilu = (PC_ILUC *)pc->data;
  PolderGraph g;
  PetscInt   *colour, *level, count, power = ilu->power ? ilu->power : ilu->fill + 1;

  PetscFunctionBegin;
  PetscCall(PolderGraphCreate(csr, PETSC_FALSE, &g));
  PetscCall(PetscMalloc2(g.n, &colour, g.n, &level));
  for (PetscInt i = 0; i < g.n; ++i) colour[i] = -1;
  PetscCall(PolderGraphColour(&g, power, colour, &ilu->colours));
  if (ilu->fill) PetscCall(PolderGraphFill(&g, colour, PETSC_MAX_INT, ilu->fill));
  PetscCall(PolderGraphCheckFill(pc, &g, "use fewer -pc_iluc_levels"));
  if (!pc->failedreason) {
    if (ilu->fill || power > 1) PetscCall(PolderGraphLevels(&g, colour, level, &count));
    else count = ilu->colours; // a row with a greedy colour has neighbours with all lower ones: the colours are the levels
    PetscCall(PolderSweepsCreate(&ilu->common.sweeps, ilu->common.rows.place, &g, there, ilu->fill || power > 1 ? level : colour, count, NULL));
    ilu->common.sweeps.eliminate = count;
  }
  PetscCall(PetscFree2(colour, level));
  PetscCall(PolderGraphDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCILUCView_Private(PC pc, PetscViewer viewer)
{
  PC_ILUC *ilu     = (PC_ILUC *)pc->data;
  PetscInt colours = ilu->colours;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &colours, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT " of fill, %" PetscInt_FMT " colours of |A|^%" PetscInt_FMT "\n", ilu->fill, colours,
                                   ilu->power ? ilu->power : ilu->fill + 1));
  PetscCall(PolderSweepsPCView(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCILUCSetLevels_ILUC(PC pc, PetscInt levels)
{
  PC_ILUC *ilu = (PC_ILUC *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_iluc_levels", levels, 0, PC_ILUC_LEVELS_MAX);
  PetscCall(PolderRowsSetInt(pc, &ilu->fill, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCILUCSetLevels - sets the level of fill of the incomplete factors of `PCILUC`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  levels - p of ILU(p,q), 0 to 10

   Options Database Key:
.  -pc_iluc_levels <levels> - the level

   Level: intermediate

.seealso: `PCILUC`, `PCILUCSetPower()`, `PCFactorSetLevels()`
@*/
PetscErrorCode PCILUCSetLevels(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscTryMethod(pc, "PCILUCSetLevels_C", (PC, PetscInt), (pc, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCILUCSetPower_ILUC(PC pc, PetscInt power)
{
  PC_ILUC *ilu = (PC_ILUC *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_iluc_power", power, 0, PC_ILUC_LEVELS_MAX + 1);
  PetscCall(PolderRowsSetInt(pc, &ilu->power, power));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCILUCSetPower - sets the power of |A| whose graph `PCILUC` colours

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  power - q of ILU(p,q), 0 to 11; 0 stands for p + 1

   Options Database Key:
.  -pc_iluc_power <power> - the power

   Level: intermediate

.seealso: `PCILUC`, `PCILUCSetLevels()`
@*/
PetscErrorCode PCILUCSetPower(PC pc, PetscInt power)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, power, 2);
  PetscTryMethod(pc, "PCILUCSetPower_C", (PC, PetscInt), (pc, power));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_ILUC(PC pc, PolderOptionItems PetscOptionsObject)
{
  PC_ILUC  *ilu  = (PC_ILUC *)pc->data;
  PetscInt  fill = ilu->fill, power = ilu->power;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Multi-coloured incomplete factorisation options");
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_iluc_levels", "Level p of fill", "PCILUCSetLevels", 0, PC_ILUC_LEVELS_MAX, &fill, &set));
  if (set) PetscCall(PCILUCSetLevels(pc, fill));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_iluc_power", "Power q of |A| that is coloured (0: p + 1)", "PCILUCSetPower", 0, PC_ILUC_LEVELS_MAX + 1,
                             &power, &set));
  if (set) PetscCall(PCILUCSetPower(pc, power));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCILUC - ILU(p,q): incomplete factors with fill of level p, in the order of the colours of |A|^q

   Options Database Keys:
+  -pc_iluc_levels <0> - level p of fill
-  -pc_iluc_power <0>  - power q; 0 stands for p + 1

   Level: intermediate

   Notes:
   One block a process. With q = p + 1 no fill joins rows of one colour, so each colour is one level of the triangular solves. With a smaller q there are fewer
   colours, and the levels of the factors are found. ILU(0,1) colours A itself. The matrix must be symmetric; M is too.

   On a CPU `PCICC` or `PCILU` in `PCBJACOBI`, in the order of the rows, take fewer iterations.

   Reference:
   D. Lukarski, Parallel sparse linear algebra for multi-core and many-core platforms, PhD thesis, Karlsruhe, 2012.

.seealso: `PCILUCSetLevels()`, `PCILUCSetPower()`, `PCILU`, `PCICC`, `PCMCSGS`, `PCMEILU`
M*/
PETSC_INTERN PetscErrorCode PCCreate_ILUC(PC pc)
{
  static const PolderRowsSteps steps = {
    .type    = PCILUC,
    .pattern = PCILUCPattern_Private,
    .values  = PolderSweepsPCValues,
    .apply   = PolderSweepsPCApply,
    .free    = PolderSweepsPCFree,
    .view    = PCILUCView_Private,
    .setters = {POLDER_SETTER(PCILUCSetLevels, ILUC), POLDER_SETTER(PCILUCSetPower, ILUC)}
  };
  PC_ILUC *ilu;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ilu));
  ilu->common.levels = "levels";
  ilu->common.advice = "use -pc_type mcsgs";
  PetscCall(PolderRowsCreate(pc, &ilu->common.rows, &steps));
  pc->ops->setfromoptions = PCSetFromOptions_ILUC;
  PetscFunctionReturn(PETSC_SUCCESS);
}
