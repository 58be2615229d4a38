/* Pairwise-aggregation multigrid: the preconditioner and its view. */
#include "pamgsetup.h"
#include "core/refusal.h"
#include "core/methods.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* Half precision bears a diagonal so many times the energy of a vector. Bubbles of 1e5 in 32^3 cells have 5e6, and as many iterations as in double precision;
   with 5e9 they take half as many again */
#define PAMG_SLOW 5e6

const char *const PCPAMGCycleTypes[] = {"v", "w", "k", "PCPAMGCycleType", "PC_PAMG_CYCLE_", NULL};
const char *const PCPAMGSmoothers[]  = {"jacobi", "l1jacobi", "chebyshev", "sgs", "auto", "PCPAMGSmoother", "PC_PAMG_SMOOTHER_", NULL};
const char *const PCPAMGPrecisions[] = {"double", "single", "half", "auto", "PCPAMGPrecision", "PC_PAMG_PRECISION_", NULL};
const char *const PamgMatchings[]    = {"handshake", "greedy"};

/* Where the coefficients alone do not speak for half precision the slowest vectors do, or the levels are made again in double precision */
static PetscErrorCode PamgJudgeHalf(PC pc)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PetscReal quotient;

  PetscFunctionBegin;
  if (pc->failedreason || !pamg->doubtful || pamg->wantprecision >= 0 || pamg->precision != PAMG_HALF) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGSlowest(pc, PAMG_SLOW, &quotient));
  if (quotient <= PAMG_SLOW) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "Half precision does not do for vectors that slow: the set-up starts again in double precision\n"));
  pamg->broad = PETSC_TRUE;
  PetscCall(PCPAMGFree(pamg));
  PetscCall(PCPAMGSetUpLevels(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *elsewhere: another PC has the levels */
static PetscErrorCode PamgSetUpElsewhere(PC pc, PetscBool *elsewhere)
{
  PetscBool star;

  PetscFunctionBegin;
  PetscCall(PCPAMGStarAhead(pc, &star));
  if (!star) PetscCall(PCPAMGWholeSetUp(pc, elsewhere));
  if (!*elsewhere) PetscCall(PCPAMGMovedSetUp(pc, elsewhere));
  if (*elsewhere) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGCheckSymmetry(pc));
  PetscCall(PCPAMGScaledSetUp(pc, elsewhere));
  if (!*elsewhere) PetscCall(PCPAMGStarSetUp(pc, elsewhere));
  if (!*elsewhere && star) PetscCall(PCPAMGWholeSetUp(pc, elsewhere)); // there is none
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_PAMG(PC pc)
{
  PC_PAMG  *pamg      = (PC_PAMG *)pc->data;
  PetscBool elsewhere = PETSC_FALSE;
  PetscInt  bs;

  PetscFunctionBegin;
  PetscCall(PolderMatCheckRows(pc->pmat, "pamg"));
  PetscCall(PolderLogBegin(POLDER_PAMGSetUp, pc));
  PetscCall(MatGetBlockSize(pc->pmat, &bs));
  if (bs > 1) PetscCall(PCPAMGWarn(pc, 2, "PC of type pamg knows nothing of blocks: it takes each row of this matrix by itself"));
  PetscCall(PolderPCForgive(pc));
  if (pamg->given) pamg->symmetric = PETSC_TRUE;
  else PetscCall(PamgSetUpElsewhere(pc, &elsewhere));
  if (!elsewhere) {
    if (!pamg->nlevel) pamg->broad = PETSC_FALSE;
    PetscCall(PCPAMGSetUpLevels(pc));
    PetscCall(PamgJudgeHalf(pc));
  }
  PetscCall(PolderLogEnd(POLDER_PAMGSetUp, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle reads the arrays of the matrix itself. KSPSetReusePreconditioner() cannot keep a set-up whose matrix was destroyed or had another pattern */
static PetscErrorCode PamgFollow(PC pc)
{
  const PC_PAMG *pamg = (PC_PAMG *)pc->data;
  MatType        type;
  PetscBool      same, alike = PETSC_TRUE;

  PetscFunctionBegin;
  if (!pamg->keys.mat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGSamePattern(pc, &same));
  PetscCall(MatGetType(pc->pmat, &type));
  if (pamg->keys.type[0]) PetscCall(PetscStrcmp(type, pamg->keys.type, &alike));
  same = (PetscBool)(same && alike);
  if (same) PetscCall(PCPAMGWholeFollow(pc, &same));
  if (!same) PetscCall(PCSetUp_PAMG(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgApplyAny(PC pc, PetscBool transpose, Vec r, Vec z)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PetscBool failed;

  PetscFunctionBegin;
  PetscCall(PamgFollow(pc));
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_PAMGApply, pc));
  if (pamg->whole.inner.pc) PetscCall(PCPAMGWholeApply(pc, r, z));
  else if (pamg->moved.inner.pc) PetscCall(PCPAMGMovedApply(pc, r, z));
  else if (pamg->scaled.inner.pc) PetscCall(PCPAMGScaledApply(pc, transpose, r, z));
  else if (pamg->star.inner.pc) PetscCall(PCPAMGStarApply(pc, r, z));
  else PetscCall(pamg->setup->apply(pc, r, z));
  PetscCall(PolderLogEnd(POLDER_PAMGApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_PAMG(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PamgApplyAny(pc, PETSC_FALSE, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle of a symmetric matrix is its own transpose */
static PetscErrorCode PCApplyTranspose_PAMG(PC pc, Vec r, Vec z)
{
  const PC_PAMG *pamg = (const PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(pamg->symmetric || pamg->scaled.inner.pc, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC of type pamg has no transpose where the matrix is not symmetric: use a KSP that does not ask for it, such as gmres, bcgs or idrs");
  PetscCall(PamgApplyAny(pc, PETSC_TRUE, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The apply of a device, with the scalars of conjugate gradients */
static PetscErrorCode PCApplySingle_PAMG(PC pc, Vec r, PetscBool rounded, Vec z, PolderCGParts *parts, const PolderCGRho *rho, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  PetscCall(PamgFollow(pc));
  pc    = PamgGetSame(pc);
  *done = PETSC_FALSE;
  if (pc->failedreason || PamgGetInner((PC_PAMG *)pc->data)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGBringsRho(pc, (PetscBool)(parts != NULL), r, z, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_PAMGApply, pc));
  PetscCall(PCPAMGApplyRho(pc, r, rounded, z, parts, rho));
  PetscCall(PolderLogEnd(POLDER_PAMGApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The apply of the host whose result stays in single precision */
static PetscErrorCode PCApplyParts_PAMG(PC pc, Vec r, PetscBool rounded, PolderCGParts *parts, PetscBool *done)
{
  const PC_PAMG *pamg;

  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  PetscCall(PamgFollow(pc));
  pc    = PamgGetSame(pc);
  pamg  = (const PC_PAMG *)pc->data;
  *done = (PetscBool)(!pc->failedreason && !PamgGetInner(pamg) && !pamg->place->device && pamg->precision != PAMG_DOUBLE);
  if (!parts || !*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_PAMGApply, pc));
  PetscCall(PCPAMGPartsHost(pc, r, rounded, parts));
  PetscCall(PolderLogEnd(POLDER_PAMGApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyRho_PAMG(PC pc, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(PCApplySingle_PAMG(pc, r, PETSC_FALSE, z, NULL, rho, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGGetFused(PC pc, const PolderPCFused **fused)
{
  static const PolderPCFused offer = {.coarse      = PETSC_TRUE,
                                      .applyrho    = PCApplyRho_PAMG,
                                      .residual    = PCPAMGResidual,
                                      .applysingle = PCApplySingle_PAMG,
                                      .applyparts  = PCApplyParts_PAMG};

  PetscFunctionBegin;
  (void)pc;
  *fused = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPAMGGetAlone(PC pc, PC *alone)
{
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  PetscCall(PamgFollow(pc));
  *alone = ((PC_PAMG *)pc->data)->whole.inner.pc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_PAMG(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCPAMGFree(pamg));
  PetscCall(PCPAMGWholeFree(pamg));
  PetscCall(PCPAMGMovedFree(pamg));
  PetscCall(PCPAMGScaledFree(pamg));
  PetscCall(PCPAMGStarFree(pamg));
  pamg->uncoloured = pamg->chains = pamg->onesided = pamg->whole.unsuited = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_PAMG(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_PAMG(pc));
  PetscCall(PCPAMGComposeSetters(pc, PETSC_FALSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_FUSED, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_ALONE, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a level that this process contributes to the total: those of a replicated level count once */
static PetscInt64 PamgEntries(const PamgLevel *L, PetscMPIInt rank)
{
  return L->halo ? L->nz + L->nzouter : rank ? 0 : L->nz;
}

/* What joins rows of a level: aggregates, or boxes of so many cells in each direction */
static PetscErrorCode PamgViewBoxes(const PamgLevel *L, size_t n, char text[])
{
  const int *join = L->grid.join;

  PetscFunctionBegin;
  text[0] = 0;
  if (L->isgrid) PetscCall(PetscSNPrintf(text, n, ", boxes of %d x %d x %d cells", 1 + join[0], 1 + join[1], 1 + join[2]));
  if (L->islines) PetscCall(PetscSNPrintf(text, n, ", interpolation along lines"));
  if (L->eliminates) PetscCall(PetscSNPrintf(text, n, ", rows of few neighbours eliminated"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgViewLevels(PC pc, PetscViewer viewer)
{
  static const char *const formats[] = {"rows", "diagonals", "diagonals, rows"};
  const PC_PAMG           *pamg      = (PC_PAMG *)pc->data;
  PetscInt                 colours   = 0;
  PetscReal                bytes = 0, entries = 0, rows = 0, n = PetscMax(1, pamg->level[0].N), nz = 1;
  PetscMPIInt              rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  level       rows   entries a row   rows an aggregate   format\n"));
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    const PamgLevel *L         = &pamg->level[l];
    PetscInt64       sum[4]    = {PamgEntries(L, rank), L->bytes, L->n && L->M.nd, L->n && !L->M.nd}; // entries, bytes, processes with either format
    char             ratio[32] = "", boxes[64];

    PetscCallAllreduce(MPI_IN_PLACE, sum, 4, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc));
    if (!l) nz = (PetscReal)PetscMax(1, sum[0]);
    bytes += (PetscReal)sum[1];
    entries += (PetscReal)sum[0];
    rows += L->N;
    colours = PetscMax(colours, L->ncolour);
    if (l + 1 < pamg->nlevel) PetscCall(PetscSNPrintf(ratio, sizeof(ratio), "%.2f", (double)L->N / L[1].N));
    PetscCall(PamgViewBoxes(L, sizeof(boxes), boxes));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %5" PetscInt_FMT " %10" PetscInt_FMT "   %13.2f   %17s   %s%s%s\n", l, L->N, (double)sum[0] / PetscMax(1, L->N),
                                     ratio, formats[sum[2] ? (sum[3] ? 2 : 1) : 0], boxes, L->twice ? ", visited twice" : ""));
  }
  if (colours)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Gauss-Seidel by colours, %" PetscInt_FMT " of them on the first level and at most %" PetscInt_FMT "\n",
                                     pamg->level[0].ncolour, colours));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  operator complexity %.3f, grid complexity %.3f, %.1f bytes a row beside the matrix\n", (double)(entries / nz),
                                   (double)(rows / n), (double)(bytes / n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_PAMG(PC pc, PetscViewer viewer)
{
  PC_PAMG  *pamg      = (PC_PAMG *)pc->data;
  char      steps[64] = "";
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (PamgGetInner(pamg)) {
    PetscCall((pamg->whole.inner.pc    ? PCPAMGWholeView
               : pamg->moved.inner.pc  ? PCPAMGMovedView
               : pamg->scaled.inner.pc ? PCPAMGScaledView
                                       : PCPAMGStarView)(pc, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pamg->nlevel)
    PetscCall(
      PetscSNPrintf(steps, sizeof(steps), "%" PetscInt_FMT " + %" PetscInt_FMT " steps of %s, ", pamg->pre, pamg->post, PCPAMGSmoothers[pamg->smoother]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s-cycle, %sin %s precision%s\n",
                                   pamg->cycle == PC_PAMG_CYCLE_V   ? "V"
                                   : pamg->cycle == PC_PAMG_CYCLE_W ? "W"
                                                                    : "K",
                                   steps,
                                   PCPAMGPrecisions[pamg->nlevel              ? (PetscInt)pamg->precision
                                                    : pamg->wantprecision < 0 ? PC_PAMG_PRECISION_AUTO
                                                                              : pamg->wantprecision],
                                   pamg->uncoloured ? ", on the host since its rows cannot be coloured for the device"
                                   : pamg->onesided ? ", on the host since entries (i, j) have no entry (j, i)"
                                   : pamg->chains   ? ", on the host since rows of few neighbours are eliminated there"
                                                    : pamg->setup->where));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  pairs by %s, %" PetscInt_FMT " passes a level, strong from %g of the strongest\n", PamgMatchings[pamg->matching],
                                   pamg->passes, (double)pamg->threshold));
  PetscCall(PolderRefusalView((PetscObject)pc, viewer));
  if (!pamg->nlevel) PetscFunctionReturn(PETSC_SUCCESS);
  if (!pamg->symmetric) PetscCall(PetscViewerASCIIPrintf(viewer, "  the matrix is not symmetric: aggregates of its symmetric part, softened couplings\n"));
  PetscCall(PamgViewLevels(pc, viewer));
  if (pamg->stalled && pamg->level[pamg->nlevel - 1].N > pamg->coarselimit)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  the last level is that large because few of its rows have a strong coupling to pair along\n"));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (pamg->direct) PetscCall(PolderCoarseView(pamg->coarse, viewer));
  else if (pamg->ksp) PetscCall(KSPView(pamg->ksp, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCPAMG - algebraic multigrid by pairwise aggregation, with V-, W- and K-cycle and a set-up that costs a few products

   Options Database Keys:
+  -pc_pamg_cycle <v> (v,w,k)             - type of cycle
.  -pc_pamg_passes <2>                    - pairwise passes a level, for aggregates of 2, 4 or 8 rows
.  -pc_pamg_smoother <auto> (jacobi,l1jacobi,chebyshev,sgs,auto) - the smoother; sgs: Gauss-Seidel forward before and backward after the coarse
                                            correction, by colours on the device; auto: sgs, on the device chebyshev
.  -pc_pamg_pre <1>, -pc_pamg_post <1>    - its steps before and after the coarse correction; 2 if auto chooses chebyshev
.  -pc_pamg_damping <0.67>                - of Jacobi
.  -pc_pamg_overcorrection <0>            - factor of a coarse correction that no K-cycle scales; 0: chosen for the aggregates
.  -pc_pamg_kcycle_threshold <0.25>       - no second step of a K-cycle when the first leaves this part of the residual or less
.  -pc_pamg_kcycle_levels <all>           - number of coarse levels with a K-cycle, 2 by default on the device
.  -pc_pamg_twice <automatic>              - first coarse level that a V-cycle visits twice; 0: none
.  -pc_pamg_threshold <0.25>              - a coupling is strong from this part of the strongest of its row
.  -pc_pamg_matching <handshake> (handshake,greedy) - how pairs are found
.  -pc_pamg_grid <true>                   - levels that are grids have boxes of two cells a direction and linear interpolation instead of pairs
.  -pc_pamg_lines <auto> (no,yes,auto)    - one pass a level and linear interpolation along lines of strong couplings; auto: where many rows lie in such lines
.  -pc_pamg_eliminate <3 or 0>            - most neighbours of rows that are eliminated exactly, where many rows belong to chains or trees; 0 (GPUs): none
.  -pc_pamg_quality <16>                  - largest two-grid condition number of an aggregate; 0: any
.  -pc_pamg_scale_rows <true>             - rows are multiplied by factors that make the matrix symmetric, where there are such
.  -pc_pamg_star <auto> (no,yes,auto)     - wider stencils on a grid, 9, 19 or 27 points or of fourth order: the levels are those of couplings to next points,
                                            with the same energy of linear functions; auto: where no more than a quarter of the rows speak against it
.  -pc_pamg_drop <0>                      - coarse entries of at most this part of the smaller of their diagonals go to the diagonal
.  -pc_pamg_levels <64>                   - maximum number of levels
.  -pc_pamg_coarse_limit <automatic>      - maximum number of rows of the last level; automatic: 400, on a device 1100 below levels of pairs
.  -pc_pamg_gather <300000 or 8000>       - several processes: a level of at most this many rows (300000: on devices), and coarser ones, are replicated
.  -pc_pamg_repartition <auto> (no,yes,auto) - several processes: rows are moved to METIS parts of the graph; auto: where a third of the couplings is to rows
                                            of other processes
.  -pc_pamg_coarse <auto> (auto,cholesky,inverse,ksp) - its solver; ksp: a `KSP` with the prefix pamg_coarse_
.  -pc_pamg_precision <auto> (double,single,half,auto) - precision of the levels and of the cycle; auto: half on grids whose coefficients allow it, else double
-  -pc_pamg_reuse <true>                  - keep the aggregates when only the values of the matrix change

   Level: beginner

   Notes:
   The matrix is any AIJ type with a positive diagonal, symmetric positive (semi-)definite, or one of convection and diffusion without positive couplings, with
   `KSPGMRES`, `KSPBCGS` or `KSPIDRS`. The aggregates are then those of its symmetric part. On the next level couplings are softer than in P^T A P, but never
   positive. There is no transpose.

   Where A = D^-1 S with a symmetric matrix S and a diagonal matrix D that jumps from row to row, the levels are those of S, and an apply multiplies r by D
   first.

   V- and W-cycle with the same steps before and after are symmetric, for `KSPCG` and `KSPDCG`. The K-cycle, whose coarse levels do one or two
   steps of conjugate gradients, changes with the vector: use it in `KSPFCG`, or in `KSPDCG` with `-ksp_dcg_flexible`.

   The prolongation P has one unit entry a row, and the matrix of the next level is P^T A P, whose entries are sums of entries of A. Aggregates stay within a
   process.

   A level is taken as a grid when its rows form a 3-, 5- or 7-point stencil in natural order, symmetric, with couplings that are not positive and
   row sums that are not negative. Two cells of each strongly coupled direction then make a box, without pairs and passes. The matrix of the next
   level is such a stencil again and is stored by diagonals; a correction is interpolated linearly between boxes, with weights from the couplings,
   also across the limits of processes that have an even number of whole planes each.
   Where directions of strong coupling change within the grid, or a box would tie parts to each other that are hardly coupled, the level has pairs.

   Where 15 % of the rows of such a level lie in lines of strong couplings, as on stretched grids or in polar coordinates, it and those below it have pairs from
   one pass, and a correction is interpolated linearly along the lines. No coupling may be positive, and no row sum negative.

   Where the rows of a level lie in no grid and a fifth of them has one or two neighbours, as in trees, power grids and networks of pipes, rows with up to three
   neighbours are eliminated exactly, in rounds of rows that are not coupled to each other, and the Schur complement is the matrix of the next level. The rows
   at the limits of a process stay. On GPUs no row is eliminated unless `-pc_pamg_eliminate` says so, since the host would have to do that and all that follows.
   If rows have at most three neighbours on average, the aggregates meet half of the bound on their quality instead.

   If matrix and vectors are on GPUs, one for each process, set-up and cycles run there, unless the matching is greedy or rows are eliminated by request. On
   several of them, each has all of a small matrix (`-polder_min_rows_per_gpu`), and the preconditioner is that of one process.

   In half precision the entries of the levels are in bfloat16, with the exponent of single precision and 8 bits, and the vectors are in single precision.
   The sum of a row is stored in place of its diagonal entry, so that rounding changes the energy x^T A x by less than 1/256 where couplings are not positive.

   In single and half precision entries of magnitudes between 1e-38 and 3e38 are taken: scale the system otherwise. Right-hand sides may be of any magnitude,
   since `KSPSolve()` chooses the unit of the vectors in the cycle.

   A constant kernel (`MatSetNullSpace()`) is inherited by every level. If no null space is attached, the factor of the last level leaves
   out linearly dependent unknowns.

   `-ksp_view` prints the levels, the operator complexity (entries of all levels over those of the matrix) and the memory.

   References:
+  * - Y. Notay, An aggregation-based algebraic multigrid method, Electron. Trans. Numer. Anal. 37, 2010
.  * - Y. Notay, Flexible conjugate gradients, SIAM J. Sci. Comput. 22, 2000
-  * - M. Emans, M. Liebmann, B. Basara, Steps towards GPU accelerated aggregation AMG, 2012

.seealso: `PCPAMGSetCycle()`, `PCPAMGSetSmoother()`, `PCPAMGSetSteps()`, `PCPAMGSetPasses()`, `PCPAMGSetQuality()`, `PCPAMGSetCoarseLimit()`,
          `PCPAMGSetPrecision()`, `PCTNS`, `PCLEVELSET`, `KSPDCG`, `PCGAMG`, `PCHYPRE`
M*/
PETSC_INTERN PetscErrorCode PCCreate_PAMG(PC pc)
{
  PC_PAMG *pamg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&pamg));
  pamg->setup             = &PamgSetUpHost;
  pamg->place             = &PolderOnHost;
  pamg->passes            = 2;
  pamg->maxlevels         = PAMG_LEVELS;
  pamg->wantlimit         = PETSC_DECIDE;
  pamg->gatherlimit       = PETSC_DECIDE;
  pamg->wantsmoother      = PETSC_DECIDE;
  pamg->wantprecision     = PETSC_DECIDE;
  pamg->wantpre           = PETSC_DECIDE;
  pamg->wantpost          = PETSC_DECIDE;
  pamg->wantk             = PETSC_DECIDE;
  pamg->wanttwice         = PETSC_DECIDE;
  pamg->wanteliminate     = PETSC_DECIDE;
  pamg->wantlines         = PETSC_DECIDE;
  pamg->wantrepartition   = PETSC_DECIDE;
  pamg->wantstar          = PETSC_DECIDE;
  pamg->cycle             = PC_PAMG_CYCLE_V;
  pamg->matching          = PAMG_HANDSHAKE;
  pamg->damping           = 0.67;
  pamg->overcorrection    = 0;
  pamg->threshold         = 0.25;
  pamg->kappa             = 16;
  pamg->kthreshold        = 0.25;
  pamg->unit              = 1;
  pamg->reuse             = PETSC_TRUE;
  pamg->grids             = PETSC_TRUE;
  pamg->scales            = PETSC_TRUE;
  pc->data                = (void *)pamg;
  pc->ops->setup          = PCSetUp_PAMG;
  pc->ops->setuponblocks  = PolderPCSetUpOnBlocks;
  pc->ops->apply          = PCApply_PAMG;
  pc->ops->applytranspose = PCApplyTranspose_PAMG;
  pc->ops->presolve       = PCPAMGPreSolve;
  pc->ops->reset          = PCReset_PAMG;
  pc->ops->destroy        = PCDestroy_PAMG;
  pc->ops->view           = PCView_PAMG;
  pc->ops->setfromoptions = PCSetFromOptions_PAMG;
  PetscCall(PCPAMGComposeSetters(pc, PETSC_TRUE));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_FUSED, PCPAMGGetFused));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_ALONE, PCPAMGGetAlone));
  PetscFunctionReturn(PETSC_SUCCESS);
}
