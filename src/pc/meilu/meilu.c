/* PC meilu: multi-elimination. Independent sets of rows are eliminated exactly, one after another; the block that is left has an approximation. */
#include "core/options.h"
#include "rows/sweepspc.h"
#include <petsc/private/pcimpl.h>

const char *const PCMEILULasts[] = {"jacobi", "sgs", "ilu", "PCMEILULast", "PC_MEILU_", NULL};

#define PC_MEILU_SETS_MAX 10

typedef struct {
  PolderSweepsPC common; // the first
  PetscInt       sets;
  PCMEILULast    last;
  PetscInt       left; /* rows of this process in the last block */
} PC_MEILU;

/* Eliminates a greedy maximal independent set of the rows with key[] = set: the other ones receive set + 1 */
static PetscErrorCode PCMEILUSet_Private(const PolderGraph *g, PetscInt set, PetscInt colour[], PetscInt key[])
{
  PetscInt count;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < g->n; ++i) colour[i] = key[i] < set ? -2 : -1;
  PetscCall(PolderGraphColour(g, 1, colour, &count));
  for (PetscInt i = 0; i < g->n; ++i) {
    if (colour[i] > 0) key[i] = set + 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Gives the graph its fill, and each row its level: the number of its independent set or, in the last block, one for each colour of that block. *eliminate <-
  the number of levels that are eliminated
*/
static PetscErrorCode PCMEILUOrder_Private(PC_MEILU *me, PolderGraph *g, PetscInt key[], PetscInt *count, PetscInt *eliminate)
{
  PetscInt *colour, last = me->sets;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->n, &colour));
  PetscCall(PetscArrayzero(key, g->n));
  for (PetscInt set = 0; set < me->sets && !g->full; ++set) {
    PetscCall(PCMEILUSet_Private(g, set, colour, key));
    if (set + 1 < me->sets || me->last != PC_MEILU_JACOBI) PetscCall(PolderGraphFill(g, key, set + 1, PETSC_MAX_INT / 4));
  }
  me->left = 0;
  for (PetscInt i = 0; i < g->n; ++i) me->left += key[i] == last;
  *count     = last + 1;
  *eliminate = last;
  if (me->last != PC_MEILU_JACOBI) { // else the last block is one level, within which entries are left out
    for (PetscInt i = 0; i < g->n; ++i) colour[i] = key[i] < last ? -2 : -1;
    PetscCall(PolderGraphColour(g, 1, colour, count));
    for (PetscInt i = 0; i < g->n; ++i) key[i] += PetscMax(0, colour[i]);
    *count += last;
  }
  if (me->last == PC_MEILU_ILU) *eliminate = *count;
  PetscCall(PetscFree(colour));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMEILUPattern_Private(PC pc, const PolderCSR *csr, const PolderCSR *there)
{
  PC_MEILU   *me = (PC_MEILU *)pc->data;
  PolderGraph g;
  PetscInt   *key, count = 0, eliminate = 0;

  PetscFunctionBegin;
  PetscCall(PolderGraphCreate(csr, PETSC_FALSE, &g));
  PetscCall(PetscMalloc1(g.n, &key));
  PetscCall(PCMEILUOrder_Private(me, &g, key, &count, &eliminate));
  PetscCall(PolderGraphCheckFill(pc, &g, "use fewer -pc_meilu_sets, or -pc_type mcsgs"));
  if (!pc->failedreason) PetscCall(PolderSweepsCreate(&me->common.sweeps, me->common.rows.place, &g, there, key, count, NULL));
  me->common.sweeps.eliminate = eliminate;
  PetscCall(PetscFree(key));
  PetscCall(PolderGraphDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMEILUView_Private(PC pc, PetscViewer viewer)
{
  PC_MEILU *me   = (PC_MEILU *)pc->data;
  PetscInt  left = me->left;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &left, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " independent sets eliminated, last block of %" PetscInt_FMT " rows by %s\n", me->sets, left,
                                   PCMEILULasts[me->last]));
  PetscCall(PolderSweepsPCView(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMEILUSetSets_MEILU(PC pc, PetscInt sets)
{
  PC_MEILU *me = (PC_MEILU *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_meilu_sets", sets, 1, PC_MEILU_SETS_MAX);
  PetscCall(PolderRowsSetInt(pc, &me->sets, sets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMEILUSetSets - sets how many independent sets of rows `PCMEILU` eliminates

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  sets - 1 to 10

   Options Database Key:
.  -pc_meilu_sets <sets> - the number

   Level: intermediate

   Note:
   Each set enlarges the pattern of the block that is left.

.seealso: `PCMEILU`, `PCMEILUSetLast()`
@*/
PetscErrorCode PCMEILUSetSets(PC pc, PetscInt sets)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sets, 2);
  PetscTryMethod(pc, "PCMEILUSetSets_C", (PC, PetscInt), (pc, sets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMEILUSetLast_MEILU(PC pc, PCMEILULast last)
{
  PC_MEILU *me = (PC_MEILU *)pc->data;

  PetscFunctionBegin;
  PetscCheck(last >= PC_MEILU_JACOBI && last <= PC_MEILU_ILU, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Approximation %d is not one of PCMEILULast", (int)last);
  if (last == me->last) PetscFunctionReturn(PETSC_SUCCESS);
  me->last = last;
  PetscCall(PolderRowsForget(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCMEILUSetLast - sets what `PCMEILU` does with the block that is left

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  last - the approximation, see `PCMEILULast`

   Options Database Key:
.  -pc_meilu_last <jacobi,sgs,ilu> - the approximation

   Level: intermediate

.seealso: `PCMEILU`, `PCMEILULast`, `PCMEILUSetSets()`
@*/
PetscErrorCode PCMEILUSetLast(PC pc, PCMEILULast last)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, last, 2);
  PetscTryMethod(pc, "PCMEILUSetLast_C", (PC, PCMEILULast), (pc, last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_MEILU(PC pc, PolderOptionItems PetscOptionsObject)
{
  PC_MEILU   *me   = (PC_MEILU *)pc->data;
  PetscInt    sets = me->sets;
  PCMEILULast last = me->last;
  PetscBool   set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Multi-elimination options");
  PetscCall(
    PolderOptionsInt(PetscOptionsObject, "-pc_meilu_sets", "Independent sets that are eliminated", "PCMEILUSetSets", 1, PC_MEILU_SETS_MAX, &sets, &set));
  if (set) PetscCall(PCMEILUSetSets(pc, sets));
  PetscCall(PetscOptionsEnum("-pc_meilu_last", "Approximation of the last block", "PCMEILUSetLast", PCMEILULasts, (PetscEnum)last, (PetscEnum *)&last, &set));
  if (set) PetscCall(PCMEILUSetLast(pc, last));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCMEILU - multi-elimination: eliminates independent sets of rows exactly, and approximates the block that is left

   Options Database Keys:
+  -pc_meilu_sets <1>                       - number of independent sets; each enlarges the pattern of what is left
-  -pc_meilu_last <ilu> (jacobi,sgs,ilu)    - last block by its diagonal, by symmetric Gauss-Seidel in colours, or by ILU(0,1)

   Level: intermediate

   Notes:
   One block a process. A = [D F; E C] with the independent set first; the Schur complement C - E D^-1 F is formed, without dropping, and treated alike. On a
   7-point grid the first set is one colour of a chessboard, and what is left has 19-point rows. With one set and `jacobi` it is ILU(0,1) of `PCILUC` there.

   Reference:
   Y. Saad, ILUM: a multi-elimination ILU preconditioner for general sparse matrices, SIAM J. Sci. Comput. 17, 1996.

.seealso: `PCMEILULast`, `PCMEILUSetSets()`, `PCMEILUSetLast()`, `PCILUC`, `PCMCSGS`, `KSPRRBCG`
M*/
PETSC_INTERN PetscErrorCode PCCreate_MEILU(PC pc)
{
  static const PolderRowsSteps steps = {
    .type    = PCMEILU,
    .pattern = PCMEILUPattern_Private,
    .values  = PolderSweepsPCValues,
    .apply   = PolderSweepsPCApply,
    .free    = PolderSweepsPCFree,
    .view    = PCMEILUView_Private,
    .setters = {POLDER_SETTER(PCMEILUSetSets, MEILU), POLDER_SETTER(PCMEILUSetLast, MEILU)}
  };
  PC_MEILU *me;

  PetscFunctionBegin;
  PetscCall(PetscNew(&me));
  me->sets          = 1;
  me->last          = PC_MEILU_ILU;
  me->common.levels = "levels";
  me->common.advice = "use -pc_meilu_last sgs, or -pc_type mcsgs";
  PetscCall(PolderRowsCreate(pc, &me->common.rows, &steps));
  pc->ops->setfromoptions = PCSetFromOptions_MEILU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
