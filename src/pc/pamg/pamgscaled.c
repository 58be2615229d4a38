/*
  Pairwise-aggregation multigrid: matrices D^-1 S with a symmetric matrix S and a diagonal one D, as finite volumes whose equations were divided by the volume
  or the density of their cell. Where D jumps, sums of their rows mean nothing, so a PC has the levels of S, and an apply first multiplies r by D.
*/
#include "pamgsetup.h"
#include "core/gather.h"
#include "kernels/rowscale.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* Rows that are looked at first: most matrices that are not symmetric have no such D, and so many rows tell */
#define PAMG_SCALE_SAMPLE 4096
/* The largest ratio of two factors. In streams of constant velocity they grow from cell to cell without end */
#define PAMG_SCALE_RANGE 1e14

/* An entry of row i of this process in a column of another one, times the factor of row i over that of the root of its set; the number of the root */
typedef struct {
  PetscInt  row, col, root;
  PetscReal value;
} PamgAcross;

PetscErrorCode PCPAMGScaledFree(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeInner(&pamg->scaled.inner));
  PetscCall(MatDestroy(&pamg->scaled.matrix));
  PetscCall(VecDestroy(&pamg->scaled.d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSetsCreate(PetscInt n, PolderScaledSets *sets)
{
  PetscFunctionBegin;
  sets->n = n;
  PetscCall(PetscMalloc2(n, &sets->parent, n, &sets->ratio));
  PolderScaledBegin_Host(sets);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSetsDestroy(PolderScaledSets *sets)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(sets->parent, sets->ratio));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *holds on all processes, or not */
static PetscErrorCode PamgAll(PC pc, PetscBool *holds)
{
  PetscMPIInt all = *holds;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  *holds = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the first rows of each process have factors among themselves? From a device they alone are brought */
static PetscErrorCode PamgSampleScale(PC pc, PetscBool *maybe)
{
  const PamgSetUpSteps *steps;
  PolderCSR             csr;
  PolderScaledSets      sets;
  PetscInt              n, *i, *j;
  PetscScalar          *a;

  PetscFunctionBegin;
  PetscCall(PCPAMGGetRows(pc, &steps, &csr));
  n = PetscMin(csr.m, PAMG_SCALE_SAMPLE);
  PetscCall(PetscMalloc1(n + 1, &i));
  i[0] = 0;
  if (n) PetscCall(PolderPlaceTake(steps->place, n + 1, csr.ai, i));
  PetscCall(PetscMalloc2(i[n], &j, i[n], &a));
  PetscCall(PolderPlaceTake(steps->place, i[n], csr.aj, j));
  PetscCall(PolderPlaceTake(steps->place, i[n], csr.aa, a));
  PetscCall(steps->restorerows(pc->pmat, &csr));
  PetscCall(PamgSetsCreate(n, &sets));
  *maybe = PolderScaledRows_Host(&(PolderRows){.n = n, .i = i, .j = j, .a = a, .nz = i[n]}, &sets);
  PetscCall(PamgSetsDestroy(&sets));
  PetscCall(PetscFree2(j, a));
  PetscCall(PetscFree(i));
  PetscCall(PamgAll(pc, maybe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of this process in columns of others, which the caller frees */
static PetscErrorCode PamgListAcross(const PolderCSR *csr, PolderScaledSets *sets, PamgAcross **across, PetscInt *n)
{
  PetscFunctionBegin;
  *n = csr->m && csr->bi ? csr->bi[csr->m] : 0;
  PetscCall(PetscMalloc1(*n, across));
  for (PetscInt i = 0; i < csr->m && csr->bi; ++i) {
    for (PetscInt k = csr->bi[i]; k < csr->bi[i + 1]; ++k) {
      PetscReal      d;
      const PetscInt root = PolderScaledFind_Host(sets, i, &d);

      (*across)[k] = (PamgAcross){csr->rstart + i, csr->garray[csr->bj[k]], csr->rstart + root, d * PetscRealPart(csr->ba[k])};
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An entry next to its partner */
static int PamgCompareAcross(const void *left, const void *right, void *ctx)
{
  const PamgAcross *a = (const PamgAcross *)left, *b = (const PamgAcross *)right;
  const PetscInt    a0 = PetscMin(a->row, a->col), b0 = PetscMin(b->row, b->col), a1 = PetscMax(a->row, a->col), b1 = PetscMax(b->row, b->col);

  (void)ctx;
  if (a0 != b0) return a0 < b0 ? -1 : 1;
  if (a1 != b1) return a1 < b1 ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* Unites the sets of all processes along the n entries of all, whose roots are number root[] */
static PetscBool PamgJoinAcross(PetscInt n, const PamgAcross across[], PetscInt nroot, const PetscInt root[], PolderScaledSets *sets)
{
  for (PetscInt k = 0; k < n; ++k) {
    const PamgAcross *e = &across[k], *f = e + 1;
    PetscInt          i, j;

    if (k + 1 == n || f->row != e->col || f->col != e->row) { // it has no partner
      if (e->value != 0) return PETSC_FALSE;
      continue;
    }
    if (PetscFindInt(e->root, nroot, root, &i) || PetscFindInt(f->root, nroot, root, &j)) return PETSC_FALSE; // they are there
    if (!PolderScaledJoin_Host(sets, i, j, e->value, f->value)) return PETSC_FALSE;
    ++k;
  }
  return PETSC_TRUE;
}

/* Several processes: the sets of the roots root[nroot] of all of them, which the caller frees; *found: the entries between processes have factors, too */
static PetscErrorCode PamgScaleAcross(PC pc, const PolderCSR *csr, PolderScaledSets *sets, PetscInt *nroot, PetscInt **root, PolderScaledSets *roots,
                                      PetscBool *found)
{
  PamgAcross *own, *all;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(PamgListAcross(csr, sets, &own, &n));
  PetscCall(PolderGatherAll(PetscObjectComm((PetscObject)pc), n, own, sizeof(*own), &n, &all));
  PetscCall(PetscFree(own));
  if (n) PetscCall(PetscTimSort(n, all, sizeof(*all), PamgCompareAcross, NULL));
  PetscCall(PetscMalloc1(n, root));
  for (PetscInt k = 0; k < n; ++k) (*root)[k] = all[k].root;
  *nroot = n;
  PetscCall(PetscSortRemoveDupsInt(nroot, *root));
  PetscCall(PamgSetsCreate(*nroot, roots));
  *found = PamgJoinAcross(n, all, *nroot, *root, roots);
  PetscCall(PetscFree(all));
  PetscCall(PamgAll(pc, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* d <- the factors; *found: their ratios are in range */
static PetscErrorCode PamgFillScale(PC pc, PetscInt first, PolderScaledSets *sets, PetscInt nroot, const PetscInt root[], PolderScaledSets *roots, Vec d,
                                    PetscBool *found)
{
  PetscScalar *value;
  PetscReal    least, largest;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(d, &value));
  for (PetscInt i = 0; i < sets->n; ++i) {
    PetscReal      within, across = 1;
    const PetscInt r = PolderScaledFind_Host(sets, i, &within);
    PetscInt       at;

    PetscCall(PetscFindInt(first + r, nroot, root, &at));
    if (at >= 0) (void)PolderScaledFind_Host(roots, at, &across);
    value[i] = within * across;
  }
  PetscCall(VecRestoreArrayWrite(d, &value));
  PetscCall(VecMin(d, NULL, &least));
  PetscCall(VecMax(d, NULL, &largest));
  *found = (PetscBool)(least > 0 && largest <= PAMG_SCALE_RANGE * least);
  PetscCall(PetscInfo(pc, "Rows times factors between %g and %g make the matrix symmetric\n", (double)least, (double)largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *d <- factors of the rows that make the matrix symmetric, NULL where there are none. Collective */
static PetscErrorCode PamgFindScale(PC pc, Vec *d)
{
  PolderCSR        csr;
  PolderScaledSets sets, roots;
  PetscInt         nroot, *root;
  PetscBool        found;

  PetscFunctionBegin;
  PetscCall(VecDestroy(d));
  PetscCall(PamgSampleScale(pc, &found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetCSR(pc->pmat, &csr));
  PetscCall(PamgSetsCreate(csr.m, &sets));
  found = PolderScaledRows_Host(&(PolderRows){.n = csr.m, .i = csr.ai, .j = csr.aj, .a = csr.aa, .nz = csr.nz}, &sets);
  PetscCall(PamgAll(pc, &found));
  if (found) {
    PetscCall(PamgScaleAcross(pc, &csr, &sets, &nroot, &root, &roots, &found));
    PetscCall(MatCreateVecs(pc->pmat, d, NULL));
    if (found) PetscCall(PamgFillScale(pc, csr.rstart, &sets, nroot, root, &roots, *d, &found));
    if (!found) PetscCall(VecDestroy(d));
    PetscCall(PamgSetsDestroy(&roots));
    PetscCall(PetscFree(root));
  }
  PetscCall(PamgSetsDestroy(&sets));
  PetscCall(PolderMatRestoreCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* scaled->matrix <- D A, and the PC for it; *symmetric: it is */
static PetscErrorCode PamgSetUpScaled(PC pc, PetscBool *symmetric, PetscBool *failed)
{
  PC_PAMG    *pamg   = (PC_PAMG *)pc->data;
  PamgScaled *scaled = &pamg->scaled;

  PetscFunctionBegin;
  if (scaled->matrix) PetscCall(MatCopy(pc->pmat, scaled->matrix, SAME_NONZERO_PATTERN));
  else PetscCall(MatDuplicate(pc->pmat, MAT_COPY_VALUES, &scaled->matrix));
  if (!scaled->inner.r) PetscCall(VecDuplicate(scaled->d, &scaled->inner.r));
  PetscCall(MatDiagonalScale(scaled->matrix, scaled->d, NULL));
  PetscCall(PCPAMGSetUpInner(pc, scaled->matrix, NULL, PETSC_TRUE, &scaled->inner.pc, failed));
  *symmetric      = pamg->symmetric;
  pamg->symmetric = PETSC_FALSE; // A itself is not
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGScaledSetUp(PC pc, PetscBool *done)
{
  PC_PAMG        *pamg   = (PC_PAMG *)pc->data;
  PamgScaled     *scaled = &pamg->scaled;
  const PetscBool wants  = (PetscBool)(!pamg->symmetric && pamg->scales && pamg->jumps);
  PetscBool       same, symmetric = PETSC_FALSE, failed = PETSC_FALSE;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PCPAMGSamePattern(pc, &same));
  if (pamg->nlevel && same) PetscFunctionReturn(PETSC_SUCCESS); // new values keep the levels
  if (!wants || !same) PetscCall(PCPAMGScaledFree(pamg));
  if (!wants) PetscFunctionReturn(PETSC_SUCCESS);
  if (scaled->d) PetscCall(PamgSetUpScaled(pc, &symmetric, &failed)); // new values mostly have the factors of the old ones
  if (!symmetric && !failed) {
    PetscCall(PCPAMGScaledFree(pamg)); // levels of what is not symmetric would be kept
    PetscCall(PamgFindScale(pc, &scaled->d));
    if (scaled->d) PetscCall(PamgSetUpScaled(pc, &symmetric, &failed));
  }
  *done = (PetscBool)(symmetric && !failed);
  if (!*done) PetscCall(PCPAMGScaledFree(pamg)); // a refusal comes from the set-up of the rows as they are
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGFree(pamg));
  PetscCall(PCPAMGInnerKeys(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = S^-1 D r, or its transpose, z = D S^-1 r */
PetscErrorCode PCPAMGScaledApply(PC pc, PetscBool transpose, Vec r, Vec z)
{
  const PamgScaled *scaled = &((PC_PAMG *)pc->data)->scaled;

  PetscFunctionBegin;
  if (!transpose) PetscCall(VecPointwiseMult(scaled->inner.r, scaled->d, r));
  PetscCall(PCApply(scaled->inner.pc, transpose ? r : scaled->inner.r, z));
  if (transpose) PetscCall(VecPointwiseMult(z, z, scaled->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGScaledView(PC pc, PetscViewer viewer)
{
  const PamgScaled *scaled = &((PC_PAMG *)pc->data)->scaled;
  PetscReal         least, largest;

  PetscFunctionBegin;
  PetscCall(VecMin(scaled->d, NULL, &least));
  PetscCall(VecMax(scaled->d, NULL, &largest));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  the rows times factors whose ratios go up to %g are those of a symmetric matrix, which has the levels\n",
                                   (double)(largest / least)));
  PetscCall((*scaled->inner.pc->ops->view)(scaled->inner.pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
