/* PC meilu: multi-elimination. Independent sets of rows are eliminated exactly, one after another; the block that is left has an approximation. */
#include "core/options.h"
#include "rows/sweepspc.h"
#include <petsc/private/pcimpl.h>

typedef enum {
  MEILU_JACOBI,
  MEILU_SGS,
  MEILU_ILU
} MEILULast;
static const char *const MEILULasts[] = {"jacobi", "sgs", "ilu"};

typedef struct {
  PolderSweepsPC common; // the first
  PetscInt       sets;
  PetscInt       last; /* a MEILULast */
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
    if (set + 1 < me->sets || me->last != MEILU_JACOBI) PetscCall(PolderGraphFill(g, key, set + 1, PETSC_MAX_INT / 4));
  }
  me->left = 0;
  for (PetscInt i = 0; i < g->n; ++i) me->left += key[i] == last;
  *count     = last + 1;
  *eliminate = last;
  if (me->last != MEILU_JACOBI) { // else the last block is one level, within which entries are left out
    for (PetscInt i = 0; i < g->n; ++i) colour[i] = key[i] < last ? -2 : -1;
    PetscCall(PolderGraphColour(g, 1, colour, count));
    for (PetscInt i = 0; i < g->n; ++i) key[i] += PetscMax(0, colour[i]);
    *count += last;
  }
  if (me->last == MEILU_ILU) *eliminate = *count;
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
                                   MEILULasts[me->last]));
  PetscCall(PolderSweepsPCView(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_MEILU(PC pc, PolderOptionItems PetscOptionsObject)
{
  PC_MEILU *me   = (PC_MEILU *)pc->data;
  PetscInt  sets = me->sets, last = me->last;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Multi-elimination options");
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_meilu_sets", "Independent sets that are eliminated", "PCMEILU", 1, 10, &sets, &set));
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_meilu_sets", sets, 1, 10);
  PetscCall(PetscOptionsEList("-pc_meilu_last", "Approximation of the last block", "PCMEILU", MEILULasts, 3, MEILULasts[last], &last, &set));
  PetscOptionsHeadEnd();
  if (sets != me->sets || last != me->last) PetscCall(PolderRowsForget(pc));
  me->sets = sets;
  me->last = last;
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

.seealso: `PCILUC`, `PCMCSGS`, `KSPRRBCG`
M*/
PETSC_INTERN PetscErrorCode PCCreate_MEILU(PC pc)
{
  static const PolderRowsSteps steps = {.type    = PCMEILU,
                                        .pattern = PCMEILUPattern_Private,
                                        .values  = PolderSweepsPCValues,
                                        .apply   = PolderSweepsPCApply,
                                        .free    = PolderSweepsPCFree,
                                        .view    = PCMEILUView_Private};
  PC_MEILU                    *me;

  PetscFunctionBegin;
  PetscCall(PetscNew(&me));
  me->sets          = 1;
  me->last          = MEILU_ILU;
  me->common.levels = "levels";
  me->common.advice = "use -pc_meilu_last sgs, or -pc_type mcsgs";
  PetscCall(PolderRowsCreate(pc, &me->common.rows, &steps));
  pc->ops->setfromoptions = PCSetFromOptions_MEILU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
