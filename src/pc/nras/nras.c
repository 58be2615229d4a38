/* Nested restricted additive Schwarz: an outer block a process, inner blocks within it, and ILU(k) in each inner block. */
#include "core/options.h"
#include "core/refusal.h"
#include "mat/symmetry.h"
#include "nrasimpl.h"

PetscErrorCode PCNRASFree(PC_NRAS *nras)
{
  PetscFunctionBegin;
  PetscCall(PCNRASFreeAt(nras, &PolderOnHost));
  PetscCall(PCNRASFreeAt(nras, &PolderOnDevice));
  PetscCall(PCNRASDestroyOuter(&nras->outer));
  PetscCall(PetscArrayzero(nras->length, NRAS_NARRAY));
  PetscCall(PetscMemzero(&nras->keys, sizeof(nras->keys)));
  PetscCall(PetscMemzero(&nras->counts, sizeof(nras->counts)));
  nras->tested = PETSC_FALSE;
  nras->made   = &PolderOnHost;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the pattern that of the last set-up, on all processes? now receives its keys. Collective */
static PetscErrorCode NRASSamePattern_Private(PC pc, const PolderCSR *csr, NRASKeys *now, PetscBool *same)
{
  const NRASKeys *old = &((PC_NRAS *)pc->data)->keys;
  PetscMPIInt     all;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(now, sizeof(*now)));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &now->mat));
  PetscCall(PetscObjectGetId((PetscObject)csr->diag, &now->blocks[0]));
  if (csr->offdiag) PetscCall(PetscObjectGetId((PetscObject)csr->offdiag, &now->blocks[1]));
  PetscCall(MatGetNonzeroState(pc->pmat, &now->nonzerostate));
  all = now->mat == old->mat && now->blocks[0] == old->blocks[0] && now->blocks[1] == old->blocks[1] && now->nonzerostate == old->nonzerostate;
  PetscCallAllreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc));
  *same = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses the matrix when the factors of a process would be too large, A having so many entries there. Collective */
static PetscErrorCode NRASCheckFill_Private(PC pc, PetscInt64 entries)
{
  PetscFunctionBegin;
  if (!((PC_NRAS *)pc->data)->counts.full) entries = 0;
  PetscCallAllreduce(MPI_IN_PLACE, &entries, 1, MPIU_INT64, MPI_MAX, PetscObjectComm((PetscObject)pc));
  if (!entries) PetscFunctionReturn(PETSC_SUCCESS);
  PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE,
                 "PC of type nras: the factors of the %" PetscInt64_FMT
                 " entries of a process would have more than %d times as many, as with rows of thousands of "
                 "entries: use fewer -pc_nras_levels and less -pc_nras_inner_overlap",
                 entries, NRAS_FILL_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Larger blocks are ordered on the host, since one thread block does it on a device */
#define NRAS_ORDER_MAX 1048576

/* The pattern of blocks without overlap from the rows of the matrix; done = PETSC_FALSE: of levels of fill that are for PCNRASSymbolic() to make */
static PetscErrorCode NRASDirect_Private(PC pc, const PolderCSR *csr, NRASBlocks *blocks, PetscBool *done)
{
  PolderCSR here;
  PetscBool device = csr->device;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  for (PetscInt b = 0; b < blocks->n; ++b) device = (PetscBool)(device && blocks->ptr[b + 1] - blocks->ptr[b] <= NRAS_ORDER_MAX);
  if (((PC_NRAS *)pc->data)->set.levels) {
    if (device) PetscCall(PCNRASFill(pc, &PolderOnDevice, csr, blocks, done));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *done = PETSC_TRUE;
  if (device == csr->device) PetscCall(PCNRASDirect(pc, PolderPlaceOf(device), csr, blocks));
  else {
    PetscCall(PolderMatGetCSR(pc->pmat, &here));
    PetscCall(PCNRASDirect(pc, &PolderOnHost, &here, blocks));
    PetscCall(PolderMatRestoreCSR(pc->pmat, &here));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What depends on the pattern: the blocks, and the pattern of their factors. Collective */
static PetscErrorCode NRASSetUpPattern_Private(PC pc, const PolderCSR *csr)
{
  PC_NRAS   *nras   = (PC_NRAS *)pc->data;
  NRASBlocks blocks = {0};
  PetscInt64 rows   = (PetscInt64)csr->nz + csr->m;
  PetscBool  overlap, done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCNRASFree(nras));
  PetscCall(PCNRASFindLayers(pc));
  PetscCall(PCNRASSetUpOuter(pc));
  PetscCall(PCNRASSetUpBlocks(pc, csr, &blocks));
  overlap = (PetscBool)(nras->innerlayers || nras->outer.sub);
  if (!overlap) PetscCall(NRASDirect_Private(pc, csr, &blocks, &done));
  if (!done) {
    NRASGraph graph;
    PolderCSR outer;

    PetscCall(PCNRASGetGraph(pc, &outer, &graph));
    PetscCall(PCNRASSetUpRows(pc, &graph, &blocks));
    PetscCall(PCNRASSymbolic(pc, &graph, &blocks));
    rows = (PetscInt64)graph.ai[graph.m] + graph.m;
    PetscCall(PCNRASRestoreGraph(pc, &outer));
  }
  if (overlap || nras->set.levels) PetscCall(NRASCheckFill_Private(pc, rows));
  if (!pc->failedreason) PetscCall(PCNRASSetUpVectors(pc, &blocks));
  PetscCall(PCNRASDestroyBlocks(nras->made, &blocks));
  if (pc->failedreason) PetscCall(PCNRASFree(nras));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the matrix on the device of each process? Its values are not copied from there when the pattern is known. Collective */
static PetscErrorCode NRASFindPlace_Private(PC pc)
{
  PolderCSR csr;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSRAlike(pc->pmat, PETSC_TRUE, &csr));
  ((PC_NRAS *)pc->data)->device = csr.device;
  PetscCall(PolderMatRestoreCSRAt(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal block of a process, whose rows may be known */
static PetscErrorCode NRASIdentify_Private(PC pc, NRASKeys *now, PetscBool *same)
{
  PolderCSR csr = {0};
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)pc->pmat, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(pc->pmat, &csr.diag, &csr.offdiag, NULL));
  else csr.diag = pc->pmat;
  PetscCall(NRASSamePattern_Private(pc, &csr, now, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of an apply: each entry once in a solve, once a sweep in Jacobi sweeps, and D^-1 */
static PetscLogDouble NRASFlops(const PC_NRAS *nras)
{
  const NRASAt        *at   = &nras->at[nras->place->device];
  const PetscLogDouble nrow = at->ilu.nrow, entries = nras->set.drop > 0 ? (PetscLogDouble)at->kept.nz : (PetscLogDouble)nras->counts.entries - nrow;
  const PetscLogDouble times = nras->set.jacobi ? nras->set.sweeps : 1;

  return times * (2 * entries + nrow) + (nras->set.jacobi ? nrow : 0);
}

static PetscErrorCode PCSetUp_NRAS(PC pc)
{
  PC_NRAS  *nras = (PC_NRAS *)pc->data;
  NRASKeys  now;
  PetscBool same = PETSC_FALSE, symmetric = PETSC_TRUE;
  PolderCSR csr;

  PetscFunctionBegin;
  PetscCall(PolderMatCheckRows(pc->pmat, "nras"));
  PetscCall(PolderPCForgive(pc));
  PetscCall(PolderLogBegin(POLDER_NRASSetUp, pc));
  if (nras->set.form == PC_NRAS_SYMMETRIC) PetscCall(PolderMatProductsSymmetric(pc->pmat, &symmetric));
  nras->tested       = PETSC_FALSE;
  nras->at[0].values = nras->at[1].values = PETSC_FALSE;
  if (symmetric) {
    PetscCall(NRASFindPlace_Private(pc));
    PetscCall(NRASIdentify_Private(pc, &now, &same));
    if (!same) {
      PetscCall(PolderMatGetCSRAlike(pc->pmat, PETSC_TRUE, &csr));
      PetscCall(PCNRASFindGrid(pc, &csr));
      PetscCall(NRASSetUpPattern_Private(pc, &csr));
      PetscCall(PolderMatRestoreCSRAt(pc->pmat, &csr));
      if (!pc->failedreason) nras->keys = now;
    } else PetscCall(PCNRASRefreshOuter(pc));
    if (!pc->failedreason) PetscCall(PCNRASUpdate(pc, PolderPlaceOf(nras->device)));
    nras->flops = NRASFlops(nras);
  } else
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_WRONG,
                   "PC of type nras: the symmetric form needs a symmetric matrix and this one is not: use -pc_nras_form restricted, with gmres, bcgs or idrs");
  PetscCall(PolderLogEnd(POLDER_NRASSetUp, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- the sum of the results of the blocks, with those that other processes have of the rows of this one */
static PetscErrorCode NRASAdd_Private(PC_NRAS *nras, const PolderPlace *place, PetscScalar z[])
{
  const NRASAt    *at = &nras->at[place->device];
  const NRASOuter *o  = &nras->outer;

  PetscFunctionBegin;
  PolderRun(place, PolderIluAdd, o->n, at->array[NRAS_PTR], at->array[NRAS_LIST], at->weight, at->x, z);
  if (!o->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PolderRun(place, PolderIluAdd, o->nghost, at->array[NRAS_PTR] + o->n, at->array[NRAS_LIST], at->weight ? at->weight + o->n : NULL, at->x, at->ghostz);
  PetscCall(PolderHaloReduceAt(o->halo, place, at->ghostz, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NRASApplyAt_Private(PC_NRAS *nras, const PolderPlace *place, const PetscScalar r[], PetscScalar z[])
{
  const NRASAt    *at   = &nras->at[place->device];
  const NRASOuter *o    = &nras->outer;
  const PetscBool  sums = (PetscBool)(nras->length[NRAS_PTR] > 0);
  PolderIluVectors v    = {.n      = o->n,
                           .number = at->array[NRAS_NUMBER],
                           .from   = at->array[NRAS_FROM],
                           .to     = sums ? NULL : at->array[NRAS_TO],
                           .weight = at->weight,
                           .r      = r,
                           .ghost  = at->ghost,
                           .x      = at->x,
                           .z      = z,
                           .sweeps = nras->set.jacobi ? nras->set.sweeps : 0};

  PetscFunctionBegin;
  if (o->halo) PetscCall(PolderHaloExchangeAt(o->halo, place, MPIU_SCALAR, r, at->ghost));
  for (int k = 0; k < 2; ++k) v.sweepx[k] = at->sweepx[k];
  PolderRun(place, PolderIluSolve, &at->kept, nras->set.single, at->val, &v);
  if (sums) PetscCall(NRASAdd_Private(nras, place, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_NRAS(PC pc, Vec r, Vec z)
{
  PC_NRAS           *nras = (PC_NRAS *)pc->data;
  const PolderPlace *place;
  const PetscScalar *rr;
  PetscScalar       *zz;
  PetscBool          failed;

  PetscFunctionBegin;
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceOfVecs(r, z, &place));
  PetscCall(PCNRASUpdate(pc, place)); // does nothing where the last set-up was
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_NRASApply, pc));
  PetscCall((*place->vecgetread)(r, &rr));
  PetscCall((*place->vecgetwrite)(z, &zz));
  PetscCall((*place->timebegin)());
  PetscCall(NRASApplyAt_Private(nras, place, rr, zz));
  PetscCall((*place->timeend)());
  PetscCall((*place->vecrestorewrite)(z, &zz));
  PetscCall((*place->vecrestoreread)(r, &rr));
  PetscCall((*place->logflops)(nras->flops));
  PetscCall(PolderLogEnd(POLDER_NRASApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where every row is written by the blocks that read it, the preconditioner of a symmetric matrix is symmetric */
static PetscErrorCode PCApplyTranspose_NRAS(PC pc, Vec r, Vec z)
{
  PC_NRAS *nras = (PC_NRAS *)pc->data;

  PetscFunctionBegin;
  PetscCheck(nras->set.form != PC_NRAS_RESTRICTED || !(nras->innerlayers || nras->outer.halo), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC of type nras has no transpose in the restricted form with overlap: use -pc_nras_form additive or symmetric, or no overlap");
  if (!nras->tested) PetscCall(PolderMatProductsSymmetric(pc->pmat, &nras->symmetric));
  nras->tested = PETSC_TRUE;
  PetscCheck(nras->symmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC of type nras applies its transpose for symmetric matrices only, and this one is not symmetric");
  PetscCall(PCApply_NRAS(pc, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_NRAS(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCNRASFree((PC_NRAS *)pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_NRAS(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_NRAS(pc));
  PetscCall(PCNRASComposeSetters(pc, PETSC_FALSE));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCNRAS - Nested restricted additive Schwarz with incomplete factors ILU(k), for general matrices

   Options Database Keys:
+  -pc_nras_blocks <-1>                            - inner blocks of each process; -1: 1, or as many as suit a GPU
.  -pc_nras_partition <auto> (auto,metis,rows,boxes) - how a process is cut into them; auto: boxes where a grid is known, else metis
.  -pc_nras_grid <nx,ny,nz>                        - the structured grid for boxes, where neither a `DMDA` nor the matrix shows it
.  -pc_nras_outer_overlap <-1>                     - layers of rows of other processes that a process takes; -1: automatic
.  -pc_nras_inner_overlap <-1>                     - layers of rows of other inner blocks that an inner block takes; -1: automatic
.  -pc_nras_form <restricted> (restricted,additive,symmetric) - what is written of the result of a block
.  -pc_nras_levels <0>                             - levels k of fill
.  -pc_nras_shift <true>                           - shift the diagonal of a block whose pivots fail
.  -pc_nras_precision <double> (double,single)     - precision in which the factors are stored
.  -pc_nras_droptol <0>                            - entries of the factors below this part of their row and column are dropped
.  -pc_nras_solve <exact> (exact,jacobi)           - triangular solves by levels, or by Jacobi sweeps
-  -pc_nras_sweeps <3>                             - how many of these for each triangle

   Level: beginner

   Notes:
   The outer block of a process has its rows and some layers of neighbours. It is cut into inner blocks, which take layers of neighbours within the outer
   block. Each inner block b is factored by itself, and z = sum_b P_b (L_b D_b U_b)^-1 R_b r. R_b reads all rows of the block. In the restricted form P_b
   writes the rows that the block owns, in the additive form all of them. The symmetric form reads and writes all of them with the weight 1/sqrt(m), m being
   the number of blocks that have the row. It is for `KSPCG`, needs a symmetric matrix, and shifts blocks that are not positive definite.

   Layers of overlap that are left open are one where the matrix is not symmetric and the entries beside the diagonal are in all more than twice as large as the
   diagonal, as those of strong convection by central differences; none where they are not, in the other forms, and with boxes, which do without.

   ILU(k) keeps the entries of level 0 to k: those of the matrix have level 0, an entry made from two others has the sum of their levels plus 1. For a symmetric
   matrix the factors are those of an incomplete Cholesky factorisation, U = L^T to the last digit.

   One inner block a process without overlap is `PCBJACOBI` with `PCILU`, and one with the outer overlap is `PCASM`; iterations are the same.

   The rows of a block are solved for by levels: those of a level do not depend on each other. With CUDA vectors the numeric factorisation and the solves
   run on the device, a thread block for each inner block, so take many blocks there: their number is printed by -ksp_view, with the rows of a level.

   With -pc_nras_solve jacobi, n sweeps x <- b - (T - I) x from x = b take the place of T^-1 b, T being L or U, so all rows of all blocks are computed at
   once. For U = L^T the result is still symmetric, and positive definite with D. With as many sweeps as there are levels it is that of the exact solve.

   With -pc_nras_droptol t, an entry l_ij d_j or d_i u_ij that is smaller than t sqrt(s_i s_j) becomes zero during the numeric factorisation, s_i being the sum
   of the absolute values of row i in the block. It changes no later row. This is Munksgaard's rule with s_i in place of the diagonal entry; it keeps symmetry.
   The pattern of the symbolic factorisation and its levels stay; the solves run on a copy without the zeros.

   New values in the same pattern repeat the numeric factorisation alone.

   A block with a zero pivot is factored again with a part of the absolute row sum added to its diagonal, 1e-3 at first and then 4 times more each time.
   So is one that is shifted by so little that a solve with its factors grows beyond the inverse root of the rounding.
   When that fails the solve ends with `KSP_DIVERGED_PC_FAILED`.

   References:
+  * - Anzt, Chow, Dongarra (2015), Iterative sparse triangular solves for preconditioning, Euro-Par 2015, LNCS 9233
.  * - Cai, Sarkis (1999), A restricted additive Schwarz preconditioner for general sparse linear systems, SIAM J. Sci. Comput. 21
.  * - Hysom, Pothen (2001), A scalable parallel algorithm for incomplete factor preconditioning, SIAM J. Sci. Comput. 22
.  * - Manteuffel (1980), An incomplete factorization technique for positive definite linear systems, Math. Comp. 34
.  * - Munksgaard (1980), Solving sparse symmetric sets of linear equations by preconditioned conjugate gradients, ACM Trans. Math. Softw. 6
-  * - Yang, Liu, Chen (2016), Development of Krylov and AMG linear solvers for large-scale sparse matrices on GPUs

.seealso: `PCASM`, `PCBJACOBI`, `PCILU`, `PCTNS`, `KSPIDRS`
M*/
PETSC_INTERN PetscErrorCode PCCreate_NRAS(PC pc)
{
  PC_NRAS *nras;

  PetscFunctionBegin;
  PetscCall(PetscNew(&nras));
  nras->set.blocks = PETSC_DECIDE;
  nras->set.outer = nras->set.inner = PETSC_DECIDE;
  nras->set.shift                   = PETSC_TRUE;
  nras->set.sweeps                  = 3;
  nras->made = nras->place = &PolderOnHost;
  pc->data                 = (void *)nras;
  pc->ops->setup           = PCSetUp_NRAS;
  pc->ops->setuponblocks   = PolderPCSetUpOnBlocks;
  pc->ops->apply           = PCApply_NRAS;
  pc->ops->applytranspose  = PCApplyTranspose_NRAS;
  pc->ops->reset           = PCReset_NRAS;
  pc->ops->destroy         = PCDestroy_NRAS;
  pc->ops->view            = PCView_NRAS;
  pc->ops->setfromoptions  = PCSetFromOptions_NRAS;
  PetscCall(PCNRASComposeSetters(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
