/* Pairwise-aggregation multigrid: its settings, by calls and by options. Other settings need another set-up. */
#include "pamgimpl.h"
#include "core/options.h"
#include <petsc/private/pcimpl.h>

static const char *const PamgChoices[] = {"no", "yes", "auto"};
static const char *const PamgCoarses[] = {"auto", "cholesky", "inverse", "ksp"};

/* The levels are those of the settings before */
static PetscErrorCode PamgChanged(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_PAMG(pc));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgStore(PC pc, PetscInt *setting, PetscInt value)
{
  PetscFunctionBegin;
  if (value != *setting) PetscCall(PamgChanged(pc));
  *setting = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGSetCycle_PAMG(PC pc, PCPAMGCycleType cycle)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(cycle >= PC_PAMG_CYCLE_V && cycle <= PC_PAMG_CYCLE_K, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Cycle %d is not one of PCPAMGCycleType", (int)cycle);
  if (cycle != pamg->cycle) PetscCall(PamgChanged(pc));
  pamg->cycle = cycle;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCPAMGSetCycle - sets the cycle of `PCPAMG`

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  cycle - the cycle, see `PCPAMGCycleType`

   Options Database Key:
.  -pc_pamg_cycle <v,w,k> - the cycle

   Level: intermediate

   Note:
   The K-cycle changes with the vector: use it in `KSPFCG`, or in `KSPDCG` after `KSPDCGSetFlexible()`.

.seealso: `PCPAMG`, `PCPAMGCycleType`, `PCPAMGSetSteps()`, `KSPDCGSetFlexible()`
@*/
PetscErrorCode PCPAMGSetCycle(PC pc, PCPAMGCycleType cycle)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, cycle, 2);
  PetscTryMethod(pc, "PCPAMGSetCycle_C", (PC, PCPAMGCycleType), (pc, cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGSetSmoother_PAMG(PC pc, PCPAMGSmoother smoother)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(smoother >= PC_PAMG_SMOOTHER_JACOBI && smoother <= PC_PAMG_SMOOTHER_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Smoother %d is not one of PCPAMGSmoother", (int)smoother);
  PetscCall(PamgStore(pc, &pamg->wantsmoother, smoother == PC_PAMG_SMOOTHER_AUTO ? PETSC_DECIDE : (PetscInt)smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCPAMGSetSmoother - sets the smoother of `PCPAMG`

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner
-  smoother - the smoother, see `PCPAMGSmoother`

   Options Database Key:
.  -pc_pamg_smoother <jacobi,l1jacobi,chebyshev,sgs,auto> - the smoother

   Level: intermediate

.seealso: `PCPAMG`, `PCPAMGSmoother`, `PCPAMGSetSteps()`
@*/
PetscErrorCode PCPAMGSetSmoother(PC pc, PCPAMGSmoother smoother)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, smoother, 2);
  PetscTryMethod(pc, "PCPAMGSetSmoother_C", (PC, PCPAMGSmoother), (pc, smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGSetSteps_PAMG(PC pc, PetscInt pre, PetscInt post)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_pamg_pre", pre, PETSC_DECIDE, PAMG_STEPS);
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_pamg_post", post, PETSC_DECIDE, PAMG_STEPS);
  PetscCall(PamgStore(pc, &pamg->wantpre, pre));
  PetscCall(PamgStore(pc, &pamg->wantpost, post));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCPAMGSetSteps - sets how many smoothing steps `PCPAMG` makes on each level

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
.  pre  - steps before the coarse correction, 0 to 100; `PETSC_DECIDE`: 1, or 2 where `PC_PAMG_SMOOTHER_AUTO` takes Chebyshev or Jacobi
-  post - steps after it, likewise

   Options Database Keys:
+  -pc_pamg_pre <pre>   - steps before
-  -pc_pamg_post <post> - steps after

   Level: intermediate

   Note:
   For conjugate gradients the preconditioner must be symmetric: use as many steps after as before.

.seealso: `PCPAMG`, `PCPAMGSetSmoother()`, `PCPAMGSetCycle()`
@*/
PetscErrorCode PCPAMGSetSteps(PC pc, PetscInt pre, PetscInt post)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, pre, 2);
  PetscValidLogicalCollectiveInt(pc, post, 3);
  PetscTryMethod(pc, "PCPAMGSetSteps_C", (PC, PetscInt, PetscInt), (pc, pre, post));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGSetPasses_PAMG(PC pc, PetscInt passes)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_pamg_passes", passes, 1, PAMG_PASSES);
  PetscCall(PamgStore(pc, &pamg->passes, passes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCPAMGSetPasses - sets how often `PCPAMG` joins rows in pairs from one level to the next

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  passes - 1, 2 or 3, for aggregates of up to 2, 4 or 8 rows

   Options Database Key:
.  -pc_pamg_passes <passes> - the number

   Level: intermediate

   Note:
   Levels that are grids have boxes of cells instead, see `PCPAMG`.

.seealso: `PCPAMG`, `PCPAMGSetQuality()`, `PCPAMGSetCoarseLimit()`
@*/
PetscErrorCode PCPAMGSetPasses(PC pc, PetscInt passes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, passes, 2);
  PetscTryMethod(pc, "PCPAMGSetPasses_C", (PC, PetscInt), (pc, passes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGSetQuality_PAMG(PC pc, PetscReal quality)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(quality >= 0 && quality <= PETSC_MAX_REAL, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_pamg_quality %g is not a finite number of 0 or more", (double)quality);
  if (quality != pamg->kappa) PetscCall(PamgChanged(pc));
  pamg->kappa = quality;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCPAMGSetQuality - sets the bound on the two-grid condition number of the aggregates of `PCPAMG`

   Logically Collective

   Input Parameters:
+  pc      - the preconditioner
-  quality - the largest condition number; 0: any

   Options Database Key:
.  -pc_pamg_quality <quality> - the bound

   Level: intermediate

   Note:
   A smaller bound gives smaller aggregates, more levels and fewer iterations.

.seealso: `PCPAMG`, `PCPAMGSetPasses()`
@*/
PetscErrorCode PCPAMGSetQuality(PC pc, PetscReal quality)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, quality, 2);
  PetscTryMethod(pc, "PCPAMGSetQuality_C", (PC, PetscReal), (pc, quality));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGSetCoarseLimit_PAMG(PC pc, PetscInt rows)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_pamg_coarse_limit", rows, 1, PETSC_MAX_INT);
  PetscCall(PamgStore(pc, &pamg->wantlimit, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCPAMGSetCoarseLimit - sets how many rows the last level of `PCPAMG` may have

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  rows - 1 or more; unless set, the limit is chosen by the place of the levels

   Options Database Key:
.  -pc_pamg_coarse_limit <rows> - the limit

   Level: intermediate

   Note:
   Levels end before this limit where few rows have a coupling to pair along, or with `-pc_pamg_levels`.

.seealso: `PCPAMG`, `PCPAMGSetPasses()`
@*/
PetscErrorCode PCPAMGSetCoarseLimit(PC pc, PetscInt rows)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, rows, 2);
  PetscTryMethod(pc, "PCPAMGSetCoarseLimit_C", (PC, PetscInt), (pc, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGSetPrecision_PAMG(PC pc, PCPAMGPrecision precision)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(precision >= PC_PAMG_PRECISION_DOUBLE && precision <= PC_PAMG_PRECISION_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Precision %d is not one of PCPAMGPrecision", (int)precision);
  PetscCall(PamgStore(pc, &pamg->wantprecision, precision == PC_PAMG_PRECISION_AUTO ? PETSC_DECIDE : (PetscInt)precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCPAMGSetPrecision - sets the precision of the levels and of the cycle of `PCPAMG`

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  precision - the precision, see `PCPAMGPrecision`

   Options Database Key:
.  -pc_pamg_precision <double,single,half,auto> - the precision

   Level: intermediate

   Note:
   `KSPGMRES`, `KSPBCGS` and others that take the preconditioner as linear need double precision, which `PC_PAMG_PRECISION_AUTO` gives them.

.seealso: `PCPAMG`, `PCPAMGPrecision`
@*/
PetscErrorCode PCPAMGSetPrecision(PC pc, PCPAMGPrecision precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscTryMethod(pc, "PCPAMGSetPrecision_C", (PC, PCPAMGPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options whose values are a list; changed: the levels are those of the settings before */
static PetscErrorCode PamgLists(PC pc, PolderOptionItems PetscOptionsObject, PetscBool *changed)
{
  PC_PAMG *pamg     = (PC_PAMG *)pc->data;
  PetscInt matching = (PetscInt)pamg->matching, coarse = (PetscInt)pamg->coarsetype;
  const struct {
    const char        *name, *text;
    const char *const *list;
    PetscInt           n, *value;
  } options[] = {
    {"-pc_pamg_matching",    "How pairs are found",                                                      PamgMatchings, 2, &matching             },
    {"-pc_pamg_coarse",      "Solver of the last level",                                                 PamgCoarses,   4, &coarse               },
    {"-pc_pamg_lines",       "Pairs along lines of strong couplings, and linear interpolation",          PamgChoices,   3, &pamg->wantlines      },
    {"-pc_pamg_repartition", "Several processes: rows are moved to METIS parts of the graph",            PamgChoices,   3, &pamg->wantrepartition},
    {"-pc_pamg_star",        "Levels of wider stencils on a grid are those of couplings to next points", PamgChoices,   3, &pamg->wantstar       }
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); ++k) {
    const PetscInt before = *options[k].value == PETSC_DECIDE ? 2 : *options[k].value;
    PetscInt       now    = before;

    PetscCall(PetscOptionsEList(options[k].name, options[k].text, "PCPAMG", options[k].list, options[k].n, options[k].list[before], &now, NULL));
    if (now == before) continue;
    *changed          = PETSC_TRUE;
    *options[k].value = options[k].list == PamgChoices && now == 2 ? PETSC_DECIDE : now;
  }
  pamg->matching   = (PamgMatching)matching;
  pamg->coarsetype = (PamgCoarse)coarse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgIntegers(PC pc, PolderOptionItems PetscOptionsObject, PetscBool *changed)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;
  const struct {
    const char *name, *text;
    PetscInt    least, most, *value;
  } options[] = {
    {"-pc_pamg_levels",        "Maximum number of levels",                                                 1,            PAMG_LEVELS,    &pamg->maxlevels    },
    {"-pc_pamg_gather",        "Several processes: a level of at most so many rows is replicated on each", PETSC_DECIDE, PAMG_GATHER,    &pamg->gatherlimit  },
    {"-pc_pamg_kcycle_levels", "Coarse levels with a K-cycle, the others have a V-cycle",                  PETSC_DECIDE, PAMG_LEVELS,    &pamg->wantk        },
    {"-pc_pamg_twice",         "First coarse level that a V-cycle visits twice, 0: none",                  PETSC_DECIDE, PAMG_LEVELS,    &pamg->wanttwice    },
    {"-pc_pamg_eliminate",     "Most neighbours of rows that are eliminated in chains and trees, 0: none", PETSC_DECIDE, PAMG_ELIMINATE, &pamg->wanteliminate}
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); ++k) {
    PetscInt  now = *options[k].value;
    PetscBool set;

    PetscCall(PolderOptionsInt(PetscOptionsObject, options[k].name, options[k].text, "PCPAMG", options[k].least, options[k].most, &now, &set));
    if (set) PolderCheckBounds(PetscObjectComm((PetscObject)pc), options[k].name, now, options[k].least, options[k].most);
    if (now != *options[k].value) *changed = PETSC_TRUE;
    *options[k].value = now;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgReals(PC pc, PolderOptionItems PetscOptionsObject, PetscBool *changed)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;
  const struct {
    const char *name, *text;
    PetscReal   most, *value;
  } options[] = {
    {"-pc_pamg_kcycle_threshold", "No second step of the K-cycle when the first reduces the residual to this part",           1, &pamg->kthreshold    },
    {"-pc_pamg_damping",          "Damping of the Jacobi smoother",                                                           2, &pamg->damping       },
    {"-pc_pamg_overcorrection",   "Factor of a coarse correction that no K-cycle scales, 0: automatic",                       4, &pamg->overcorrection},
    {"-pc_pamg_threshold",        "A coupling is strong from this part of the strongest of its row",                          1, &pamg->threshold     },
    {"-pc_pamg_drop",             "Coarse entries of at most this part of the smaller of their diagonals go to the diagonal", 1, &pamg->drop          }
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); ++k) {
    PetscReal now = *options[k].value;

    PetscCall(PetscOptionsReal(options[k].name, options[k].text, "PCPAMG", now, &now, NULL));
    PetscCheck(now >= 0 && now <= options[k].most, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "%s %g is not between 0 and %g", options[k].name,
               (double)now, (double)options[k].most);
    if (now != *options[k].value) *changed = PETSC_TRUE;
    *options[k].value = now;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options of the cycle that have setters */
static PetscErrorCode PamgCycleOptions(PC pc, PolderOptionItems PetscOptionsObject)
{
  const PC_PAMG  *pamg      = (const PC_PAMG *)pc->data;
  PCPAMGCycleType cycle     = pamg->cycle;
  PCPAMGSmoother  smoother  = pamg->wantsmoother < 0 ? PC_PAMG_SMOOTHER_AUTO : (PCPAMGSmoother)pamg->wantsmoother;
  PCPAMGPrecision precision = pamg->wantprecision < 0 ? PC_PAMG_PRECISION_AUTO : (PCPAMGPrecision)pamg->wantprecision;
  PetscInt        pre = pamg->wantpre, post = pamg->wantpost;
  PetscBool       set[2];

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_pamg_cycle", "Type of cycle", "PCPAMGSetCycle", PCPAMGCycleTypes, (PetscEnum)cycle, (PetscEnum *)&cycle, &set[0]));
  if (set[0]) PetscCall(PCPAMGSetCycle(pc, cycle));
  PetscCall(PetscOptionsEnum("-pc_pamg_smoother", "Smoother", "PCPAMGSetSmoother", PCPAMGSmoothers, (PetscEnum)smoother, (PetscEnum *)&smoother, &set[0]));
  if (set[0]) PetscCall(PCPAMGSetSmoother(pc, smoother));
  PetscCall(PetscOptionsEnum("-pc_pamg_precision", "Precision of matrices and vectors within the cycle", "PCPAMGSetPrecision", PCPAMGPrecisions,
                             (PetscEnum)precision, (PetscEnum *)&precision, &set[0]));
  if (set[0]) PetscCall(PCPAMGSetPrecision(pc, precision));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_pamg_pre", "Smoothing steps before the coarse correction", "PCPAMGSetSteps", PETSC_DECIDE, PAMG_STEPS,
                             &pre, &set[0]));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_pamg_post", "Smoothing steps after the coarse correction", "PCPAMGSetSteps", PETSC_DECIDE, PAMG_STEPS,
                             &post, &set[1]));
  if (set[0] || set[1]) PetscCall(PCPAMGSetSteps(pc, pre, post));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options of the levels that have setters */
static PetscErrorCode PamgLevelOptions(PC pc, PolderOptionItems PetscOptionsObject)
{
  const PC_PAMG *pamg   = (const PC_PAMG *)pc->data;
  PetscInt       passes = pamg->passes, rows = pamg->wantlimit;
  PetscReal      quality = pamg->kappa;
  PetscBool      set;

  PetscFunctionBegin;
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_pamg_passes", "Pairwise passes a level: aggregates of up to 2, 4 or 8 rows", "PCPAMGSetPasses", 1,
                             PAMG_PASSES, &passes, &set));
  if (set) PetscCall(PCPAMGSetPasses(pc, passes));
  PetscCall(PetscOptionsReal("-pc_pamg_quality", "Largest two-grid condition number of an aggregate, 0: any", "PCPAMGSetQuality", quality, &quality, &set));
  if (set) PetscCall(PCPAMGSetQuality(pc, quality));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_pamg_coarse_limit", "Maximum number of rows of the last level; not given: automatic",
                             "PCPAMGSetCoarseLimit", 1, PETSC_MAX_INT, &rows, &set));
  if (set) PetscCall(PCPAMGSetCoarseLimit(pc, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_PAMG(PC pc, PolderOptionItems PetscOptionsObject)
{
  PC_PAMG  *pamg    = (PC_PAMG *)pc->data;
  PetscBool changed = PETSC_FALSE, grids = pamg->grids, scales = pamg->scales;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Pairwise-aggregation multigrid options");
  PetscCall(PamgCycleOptions(pc, PetscOptionsObject));
  PetscCall(PamgLevelOptions(pc, PetscOptionsObject));
  PetscCall(PamgLists(pc, PetscOptionsObject, &changed));
  PetscCall(PamgIntegers(pc, PetscOptionsObject, &changed));
  PetscCall(PamgReals(pc, PetscOptionsObject, &changed));
  PetscCall(PetscOptionsBool("-pc_pamg_grid", "Levels that are grids are coarsened by boxes, without pairs", "PCPAMG", grids, &grids, NULL));
  PetscCall(PetscOptionsBool("-pc_pamg_scale_rows", "Rows are multiplied by factors that make the matrix symmetric, where there are such", "PCPAMG", scales,
                             &scales, NULL));
  PetscCall(PetscOptionsBool("-pc_pamg_reuse", "Keep the aggregates when only values of the matrix change", "PCPAMG", pamg->reuse, &pamg->reuse, NULL));
  PetscOptionsHeadEnd();
  if (grids != pamg->grids || scales != pamg->scales) changed = PETSC_TRUE;
  pamg->grids  = grids;
  pamg->scales = scales;
  if (pamg->ksp) PetscCall(KSPSetFromOptions(pamg->ksp));
  if (changed) PetscCall(PamgChanged(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGComposeSetters(PC pc, PetscBool there)
{
  static const PolderSetter setters[] = {POLDER_SETTER(PCPAMGSetCycle, PAMG),    POLDER_SETTER(PCPAMGSetSmoother, PAMG),
                                         POLDER_SETTER(PCPAMGSetSteps, PAMG),    POLDER_SETTER(PCPAMGSetPasses, PAMG),
                                         POLDER_SETTER(PCPAMGSetQuality, PAMG),  POLDER_SETTER(PCPAMGSetCoarseLimit, PAMG),
                                         POLDER_SETTER(PCPAMGSetPrecision, PAMG)};

  PetscFunctionBegin;
  PetscCall(PolderComposeSetters((PetscObject)pc, PETSC_STATIC_ARRAY_LENGTH(setters), setters, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
