/* The settings of nras: calls and options. Other settings need another set-up. */
#include "nrasimpl.h"
#include "core/options.h"

/* The factors are those of the settings before */
static PetscErrorCode PCNRASChange_Private(PC pc, const NRASSettings *set)
{
  PC_NRAS  *nras = (PC_NRAS *)pc->data;
  PetscBool same;

  PetscFunctionBegin;
  PetscCheck(set->blocks, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "-pc_nras_blocks 0: give 1 or more, or -1 for an automatic choice");
  PetscCall(PetscMemcmp(set, &nras->set, sizeof(*set), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  nras->set = *set;
  PetscCall(PCNRASFree(nras));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCNRASSetBlocks_NRAS(PC pc, PetscInt blocks)
{
  NRASSettings set = ((PC_NRAS *)pc->data)->set;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_nras_blocks", blocks, PETSC_DECIDE, NRAS_BLOCKS_MAX);
  set.blocks = blocks;
  PetscCall(PCNRASChange_Private(pc, &set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNRASSetBlocks - sets the number of inner blocks of `PCNRAS` on each process

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  blocks - 1 or more; `PETSC_DECIDE`: 1 on a CPU, and as many as suit a GPU

   Options Database Key:
.  -pc_nras_blocks <blocks> - the number

   Level: intermediate

   Note:
   A process has fewer blocks where it has fewer rows, and where boxes of a structured grid do not make as many.

.seealso: `PCNRAS`, `PCNRASSetPartition()`, `PCNRASSetOverlap()`
@*/
PetscErrorCode PCNRASSetBlocks(PC pc, PetscInt blocks)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, blocks, 2);
  PetscTryMethod(pc, "PCNRASSetBlocks_C", (PC, PetscInt), (pc, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCNRASSetPartition_NRAS(PC pc, PCNRASPartition partition)
{
  NRASSettings set = ((PC_NRAS *)pc->data)->set;

  PetscFunctionBegin;
  PetscCheck(partition >= PC_NRAS_AUTO && partition <= PC_NRAS_BOXES, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Partition %d is not one of PCNRASPartition", (int)partition);
  set.partition = partition;
  PetscCall(PCNRASChange_Private(pc, &set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNRASSetPartition - sets how `PCNRAS` cuts the rows of a process into inner blocks

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  partition - the way, see `PCNRASPartition`

   Options Database Key:
.  -pc_nras_partition <auto,metis,rows,boxes> - the way

   Level: intermediate

.seealso: `PCNRAS`, `PCNRASPartition`, `PCNRASSetBlocks()`
@*/
PetscErrorCode PCNRASSetPartition(PC pc, PCNRASPartition partition)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, partition, 2);
  PetscTryMethod(pc, "PCNRASSetPartition_C", (PC, PCNRASPartition), (pc, partition));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCNRASSetOverlap_NRAS(PC pc, PetscInt outer, PetscInt inner)
{
  NRASSettings set = ((PC_NRAS *)pc->data)->set;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_nras_outer_overlap", outer, PETSC_DECIDE, NRAS_OVERLAP_MAX);
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_nras_inner_overlap", inner, PETSC_DECIDE, NRAS_OVERLAP_MAX);
  set.outer = outer;
  set.inner = inner;
  PetscCall(PCNRASChange_Private(pc, &set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNRASSetOverlap - sets the overlap of the blocks of `PCNRAS`

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
.  outer - layers of rows of other processes that the block of a process has, 0 to 100, or `PETSC_DECIDE`
-  inner - layers of rows that inner blocks share, 0 to 100, or `PETSC_DECIDE`

   Options Database Keys:
+  -pc_nras_outer_overlap <outer> - layers between processes
-  -pc_nras_inner_overlap <inner> - layers between inner blocks

   Level: intermediate

   Note:
   `PETSC_DECIDE`, the default, is one layer for a matrix that is not symmetric and whose diagonal the other entries dominate, in the restricted form and
   without boxes; else none.

.seealso: `PCNRAS`, `PCNRASSetForm()`, `PCASMSetOverlap()`
@*/
PetscErrorCode PCNRASSetOverlap(PC pc, PetscInt outer, PetscInt inner)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, outer, 2);
  PetscValidLogicalCollectiveInt(pc, inner, 3);
  PetscTryMethod(pc, "PCNRASSetOverlap_C", (PC, PetscInt, PetscInt), (pc, outer, inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCNRASSetForm_NRAS(PC pc, PCNRASForm form)
{
  NRASSettings set = ((PC_NRAS *)pc->data)->set;

  PetscFunctionBegin;
  PetscCheck(form >= PC_NRAS_RESTRICTED && form <= PC_NRAS_SYMMETRIC, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Form %d is not one of PCNRASForm", (int)form);
  set.form = form;
  PetscCall(PCNRASChange_Private(pc, &set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNRASSetForm - sets which rows the blocks of `PCNRAS` write

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  form - the form, see `PCNRASForm`

   Options Database Key:
.  -pc_nras_form <restricted,additive,symmetric> - the form

   Level: intermediate

   Note:
   With conjugate gradients the preconditioner must be symmetric: use `PC_NRAS_SYMMETRIC`, or `PC_NRAS_ADDITIVE`, or no overlap.

.seealso: `PCNRAS`, `PCNRASForm`, `PCNRASSetOverlap()`
@*/
PetscErrorCode PCNRASSetForm(PC pc, PCNRASForm form)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, form, 2);
  PetscTryMethod(pc, "PCNRASSetForm_C", (PC, PCNRASForm), (pc, form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCNRASSetLevels_NRAS(PC pc, PetscInt levels)
{
  NRASSettings set = ((PC_NRAS *)pc->data)->set;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_nras_levels", levels, 0, NRAS_LEVELS_MAX);
  set.levels = levels;
  PetscCall(PCNRASChange_Private(pc, &set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCNRASSetLevels - sets the levels of fill of the incomplete factors of `PCNRAS`

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  levels - k of ILU(k), 0 to 100

   Options Database Key:
.  -pc_nras_levels <levels> - the levels

   Level: intermediate

.seealso: `PCNRAS`, `PCFactorSetLevels()`
@*/
PetscErrorCode PCNRASSetLevels(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscTryMethod(pc, "PCNRASSetLevels_C", (PC, PetscInt), (pc, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The integers among the options, within their bounds */
static PetscErrorCode NRASIntegers_Private(PC pc, PolderOptionItems PetscOptionsObject, NRASSettings *set)
{
  const struct {
    const char *name, *text, *call;
    PetscInt    least, most, *value;
  } options[] = {
    {"-pc_nras_outer_overlap", "Layers of rows of other processes",              "PCNRASSetOverlap", PETSC_DECIDE, NRAS_OVERLAP_MAX, &set->outer },
    {"-pc_nras_inner_overlap", "Layers of rows that inner blocks share",         "PCNRASSetOverlap", PETSC_DECIDE, NRAS_OVERLAP_MAX, &set->inner },
    {"-pc_nras_levels",        "Levels of fill of the incomplete factorisation", "PCNRASSetLevels",  0,            NRAS_LEVELS_MAX,  &set->levels},
    {"-pc_nras_sweeps",        "Jacobi sweeps in place of a triangular solve",   "PCNRAS",           1,            NRAS_SWEEPS_MAX,  &set->sweeps}
  };
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_nras_blocks", "Inner blocks of each process (-1: automatic)", "PCNRASSetBlocks", 1, NRAS_BLOCKS_MAX,
                             &set->blocks, &given));
  if (given) PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_nras_blocks", set->blocks, PETSC_DECIDE, NRAS_BLOCKS_MAX);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); ++k) {
    PetscCall(
      PolderOptionsInt(PetscOptionsObject, options[k].name, options[k].text, options[k].call, options[k].least, options[k].most, options[k].value, &given));
    if (given) PolderCheckBounds(PetscObjectComm((PetscObject)pc), options[k].name, *options[k].value, options[k].least, options[k].most);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_NRAS(PC pc, PolderOptionItems PetscOptionsObject)
{
  NRASSettings set       = ((PC_NRAS *)pc->data)->set;
  PetscInt     precision = set.single, jacobi = set.jacobi, dim = 3;
  PetscBool    given;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Nested restricted additive Schwarz options");
  PetscCall(NRASIntegers_Private(pc, PetscOptionsObject, &set));
  PetscCall(PetscOptionsEnum("-pc_nras_partition", "How a process is cut into inner blocks", "PCNRASSetPartition", PCNRASPartitions, (PetscEnum)set.partition,
                             (PetscEnum *)&set.partition, NULL));
  PetscCall(
    PetscOptionsIntArray("-pc_nras_grid", "Points of the structured grid in each direction, for the partition boxes", "PCNRAS", set.grid, &dim, &given));
  if (given) set.griddim = dim;
  PetscCall(PetscOptionsEnum("-pc_nras_form", "What is written: own rows, all rows, or all rows with weights", "PCNRASSetForm", PCNRASForms,
                             (PetscEnum)set.form, (PetscEnum *)&set.form, NULL));
  PetscCall(PetscOptionsBool("-pc_nras_shift", "Shift the diagonal of a block whose pivots fail", "PCNRAS", set.shift, &set.shift, NULL));
  PetscCall(PetscOptionsEList("-pc_nras_precision", "Precision in which the factors are stored", "PCNRAS", NRASPrecisions, 2, NRASPrecisions[precision],
                              &precision, NULL));
  PetscCall(PetscOptionsReal("-pc_nras_droptol", "Entries of the factors below this part of their row and column are dropped (0: none, below 1)", "PCNRAS",
                             set.drop, &set.drop, NULL));
  PetscCheck(set.drop >= 0 && set.drop < 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "-pc_nras_droptol %g is not between 0 and 1",
             (double)set.drop);
  PetscCall(PetscOptionsEList("-pc_nras_solve", "How the triangles are solved with", "PCNRAS", NRASSolves, 2, NRASSolves[jacobi], &jacobi, NULL));
  PetscOptionsHeadEnd();
  set.jacobi = (PetscBool)jacobi;
  set.single = (PetscBool)precision;
  PetscCall(PCNRASChange_Private(pc, &set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASComposeSetters(PC pc, PetscBool there)
{
  static const PolderSetter setters[] = {POLDER_SETTER(PCNRASSetBlocks, NRAS), POLDER_SETTER(PCNRASSetPartition, NRAS), POLDER_SETTER(PCNRASSetOverlap, NRAS),
                                         POLDER_SETTER(PCNRASSetForm, NRAS), POLDER_SETTER(PCNRASSetLevels, NRAS)};

  PetscFunctionBegin;
  PetscCall(PolderComposeSetters((PetscObject)pc, PETSC_STATIC_ARRAY_LENGTH(setters), setters, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
