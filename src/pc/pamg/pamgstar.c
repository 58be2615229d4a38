/*
  Pairwise-aggregation multigrid: wider stencils on a grid, 9, 19 or 27 points or of fourth order. The 5- or 7-point matrix of the same grid that gives linear
  functions the same energy is spectrally equivalent (Orszag 1980), and as levels of boxes serve it. A PC has these.
*/
#include "pamgsetup.h"
#include "core/gather.h"
#include "kernels/star.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* Rows of each process that are looked at first, for offsets */
#define PAMG_STAR_SAMPLE 1024
/* The least number of rows, and the part of them that may be unlike their star */
#define PAMG_STAR_LEAST  1000
#define PAMG_STAR_UNLIKE 0.25
/* In space, where so many rows are soft, a step of Jacobi with this damping is added. Linear cubes take 13 iterations instead of 21, others more */
#define PAMG_STAR_SOFT 0.9
#define PAMG_STAR_STEP 0.5

PetscErrorCode PCPAMGStarFree(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeInner(&pamg->star.inner));
  PetscCall(MatDestroy(&pamg->star.matrix));
  PetscCall(VecDestroy(&pamg->star.step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds an offset to a set of *n, ascending; PETSC_FALSE: there are too many */
static PetscBool PamgAddOffset(PetscInt offset, PetscInt *n, PetscInt off[])
{
  PetscInt k = *n;

  while (k && off[k - 1] > offset) --k;
  if (k && off[k - 1] == offset) return PETSC_TRUE;
  if (*n == POLDER_STAR_OFFSETS) return PETSC_FALSE;
  for (PetscInt l = (*n)++; l > k; --l) off[l] = off[l - 1];
  off[k] = offset;
  return PETSC_TRUE;
}

/* The offsets to later rows of all processes, as some rows have them; *n = 0: there are too many for a stencil */
static PetscErrorCode PamgStarOffsets(PC pc, const PolderCSR *csr, PetscInt *n, PetscInt off[])
{
  const PetscInt rows = PetscMin(csr->m, PAMG_STAR_SAMPLE);
  PetscBool      few  = PETSC_TRUE;
  PetscInt      *all, total;

  PetscFunctionBegin;
  *n = 0;
  for (PetscInt r = 0; r < rows && few; ++r) {
    const PetscInt i = (PetscInt)((PetscInt64)r * csr->m / rows);

    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1] && few; ++k) {
      if (csr->aj[k] > i && csr->aa[k] != (PetscScalar)0) few = PamgAddOffset(csr->aj[k] - i, n, off);
    }
    for (PetscInt k = csr->bi ? csr->bi[i] : 0; csr->bi && k < csr->bi[i + 1] && few; ++k) {
      const PetscInt offset = csr->garray[csr->bj[k]] - csr->rstart - i;

      if (offset > 0 && csr->ba[k] != (PetscScalar)0) few = PamgAddOffset(offset, n, off);
    }
  }
  if (!few) *n = -1;
  if (!few) off[0] = 0;
  PetscCall(PolderGatherAll(PetscObjectComm((PetscObject)pc), few ? *n : 1, off, sizeof(*off), &total, &all));
  *n = 0;
  for (PetscInt k = 0; k < total && few; ++k) few = all[k] ? PamgAddOffset(all[k], n, off) : PETSC_FALSE;
  if (!few) *n = 0;
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* there[] <- the neighbours of own rows on other processes, ascending, which the caller frees */
static PetscErrorCode PamgStarThere(const PolderStarGrid *G, PetscInt first, PetscInt n, PetscInt *nthere, PetscInt **there)
{
  PetscInt count = 0;

  PetscFunctionBegin;
  *there = NULL;
  for (int fill = 0; fill < 2; ++fill) {
    if (fill) PetscCall(PetscMalloc1(count, there));
    count = 0;
    for (PetscInt i = first; i < first + n; ++i) {
      for (int k = 0; k < 6; ++k) {
        const PetscInt j = PolderStarNeighbour(G, i, k / 2, k % 2);

        if (j < 0 || (j >= first && j < first + n)) continue;
        if (fill) (*there)[count] = j;
        ++count;
      }
    }
  }
  PetscCall(PetscSortRemoveDupsInt(&count, *there));
  *nthere = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* beyond[6 g ..] <- the parts of row there[g], which the caller frees. Collective */
static PetscErrorCode PamgStarBeyond(PC pc, PetscInt n, const PetscReal half[], PetscInt nthere, const PetscInt there[], PetscScalar **beyond)
{
  Vec          own, far;
  IS           rows;
  VecScatter   scatter;
  PetscScalar *part;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(6 * nthere, beyond));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)pc), &own));
  PetscCall(VecSetType(own, VECSTANDARD));
  PetscCall(VecSetSizes(own, 6 * n, PETSC_DETERMINE));
  PetscCall(VecGetArrayWrite(own, &part));
  for (PetscInt k = 0; k < 6 * n; ++k) part[k] = half[k];
  PetscCall(VecRestoreArrayWrite(own, &part));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 6 * nthere, *beyond, &far));
  PetscCall(ISCreateBlock(PETSC_COMM_SELF, 6, nthere, there, PETSC_USE_POINTER, &rows));
  PetscCall(VecScatterCreate(own, rows, far, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, own, far, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, own, far, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&rows));
  PetscCall(VecDestroy(&far));
  PetscCall(VecDestroy(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* star->matrix with these rows: a new one, or new values */
static PetscErrorCode PamgStarValues(PC pc, PetscInt n, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[])
{
  Mat         *T = &((PC_PAMG *)pc->data)->star.matrix;
  MatNullSpace kernel;
  PetscMPIInt  ranks;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (!*T) {
    PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), T));
    PetscCall(MatSetSizes(*T, n, n, pc->pmat->rmap->N, pc->pmat->cmap->N));
    PetscCall(MatSetType(*T, MATAIJ));
    if (ranks == 1) PetscCall(MatSeqAIJSetPreallocationCSR(*T, ptr, col, val));
    else PetscCall(MatMPIAIJSetPreallocationCSR(*T, ptr, col, val));
    PetscCall(MatSetOption(*T, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(*T, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  } else if (ranks == 1) {
    PetscCall(MatSeqAIJGetArrayWrite(*T, &a));
    PetscCall(PetscArraycpy(a, val, ptr[n]));
    PetscCall(MatSeqAIJRestoreArrayWrite(*T, &a));
  } else PetscCall(MatUpdateMPIAIJWithArray(*T, val));
  PetscCall(MatGetNullSpace(pc->pmat, &kernel));
  PetscCall(MatSetNullSpace(*T, kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* star->step <- the damped inverse of the diagonal, NULL where none is added */
static PetscErrorCode PamgStarStep(PC pc, const PolderStarParts *P, PetscBool wants)
{
  Vec         *step = &((PC_PAMG *)pc->data)->star.step;
  PetscScalar *d;
  PetscInt     n;

  PetscFunctionBegin;
  if (!wants) PetscCall(VecDestroy(step));
  if (!wants) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*step) PetscCall(MatCreateVecs(pc->pmat, step, NULL));
  PetscCall(VecGetLocalSize(*step, &n));
  PetscCall(VecGetArrayWrite(*step, &d));
  for (PetscInt i = 0; i < n; ++i) d[i] = P->diagonal[i] > 0 ? PAMG_STAR_STEP / P->diagonal[i] : 0;
  PetscCall(VecRestoreArrayWrite(*step, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The star of these parts */
static PetscErrorCode PamgStarFill(PC pc, const PolderCSR *csr, const PolderStarGrid *G, const PolderStarParts *P)
{
  PetscInt     nthere = 0, *there, *ptr, *col;
  PetscScalar *beyond, *val;

  PetscFunctionBegin;
  PetscCall(PamgStarThere(G, csr->rstart, csr->m, &nthere, &there));
  PetscCall(PamgStarBeyond(pc, csr->m, P->half, nthere, there, &beyond));
  PetscCall(PetscMalloc3(csr->m + 1, &ptr, 7 * csr->m, &col, 7 * csr->m, &val));
  PolderStarFill_Host(G, csr->rstart, csr->m, P, nthere, there, beyond, ptr, col, val);
  PetscCall(PamgStarValues(pc, csr->m, ptr, col, val));
  PetscCall(PetscFree3(ptr, col, val));
  PetscCall(PetscFree(beyond));
  PetscCall(PetscFree(there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The star of rows on a grid; *found: most rows are like it, or the user wants it. Collective */
static PetscErrorCode PamgMakeStar(PC pc, const PolderCSR *csr, const PolderStarGrid *G, PetscBool *found)
{
  const PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PolderStarParts P    = {0};
  PetscInt64      count[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(6 * csr->m, &P.half, csr->m, &P.sum, csr->m, &P.diagonal));
  count[0] = !PolderStarParts_Host(G, csr->rstart, PolderOwnRows(csr), PolderGhostColumns(csr), csr->garray, &P);
  count[1] = P.unlike;
  count[2] = P.soft;
  PetscCallAllreduce(MPI_IN_PLACE, count, 3, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc));
  *found = (PetscBool)(!count[0] && (pamg->wantstar > 0 || (PetscReal)count[1] <= PAMG_STAR_UNLIKE * csr->M));
  PetscCall(PetscInfo(pc,
                      "A stencil on %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points; %" PetscInt64_FMT
                      " rows are unlike their star, %" PetscInt64_FMT " soft%s\n",
                      G->n[0], G->n[1], G->n[2], count[1], count[2], count[0] ? "; entries reach elsewhere" : ""));
  if (*found) PetscCall(PamgStarFill(pc, csr, G, &P));
  if (*found) PetscCall(PamgStarStep(pc, &P, (PetscBool)(G->n[2] > 1 && (PetscReal)count[2] >= PAMG_STAR_SOFT * csr->M)));
  PetscCall(PetscFree3(P.half, P.sum, P.diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *found: the matrix has a star now. Collective */
static PetscErrorCode PamgFindStar(PC pc, PetscBool *found)
{
  const PamgSetUpSteps *steps;
  PolderCSR             csr;
  PolderStarGrid        G;
  PetscInt              n, off[POLDER_STAR_OFFSETS];

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  PetscCall(PCPAMGGetRows(pc, &steps, &csr));
  if (!csr.device && csr.M >= PAMG_STAR_LEAST) {
    PetscCall(PamgStarOffsets(pc, &csr, &n, off));
    if (n && PolderStarGridFind_Host(n, off, csr.M, &G)) PetscCall(PamgMakeStar(pc, &csr, &G, found));
  }
  PetscCall(steps->restorerows(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGStarSetUp(PC pc, PetscBool *done)
{
  PC_PAMG        *pamg  = (PC_PAMG *)pc->data;
  const PetscBool wants = (PetscBool)(pamg->symmetric && pamg->grids && pamg->wantstar && PetscAbsInt(pc->pmat->rmap->bs) == 1);
  PetscBool       same, failed = PETSC_FALSE;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PCPAMGSamePattern(pc, &same));
  if (pamg->nlevel && same) PetscFunctionReturn(PETSC_SUCCESS); // new values keep the levels
  if (!wants || !same) PetscCall(PCPAMGStarFree(pamg));
  if (wants) PetscCall(PamgFindStar(pc, done));
  if (*done) PetscCall(PCPAMGSetUpInner(pc, pamg->star.matrix, PETSC_FALSE, &pamg->star.inner.pc, &failed));
  if (failed) *done = PETSC_FALSE; // a refusal comes from the set-up of the rows as they are
  if (!*done) PetscCall(PCPAMGStarFree(pamg));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGFree(pamg));
  PetscCall(PCPAMGInnerKeys(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = T^-1 r, and a step of Jacobi */
PetscErrorCode PCPAMGStarApply(PC pc, Vec r, Vec z)
{
  const PamgStar    *star = &((PC_PAMG *)pc->data)->star;
  const PetscScalar *d, *b;
  PetscScalar       *x;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(PCApply(star->inner.pc, r, z));
  if (!star->step) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(z, &n));
  PetscCall(VecGetArrayRead(star->step, &d));
  PetscCall(VecGetArrayRead(r, &b));
  PetscCall(VecGetArray(z, &x));
  PolderStarAdd_Host(n, d, b, x);
  PetscCall(VecRestoreArray(z, &x));
  PetscCall(VecRestoreArrayRead(r, &b));
  PetscCall(VecRestoreArrayRead(star->step, &d));
  PetscCall(PetscLogFlops(2.0 * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGStarView(PC pc, PetscViewer viewer)
{
  const PamgStar *star = &((PC_PAMG *)pc->data)->star;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  the matrix is a wider stencil on a grid: the levels are those of couplings to next points%s\n",
                                   star->step ? ", and a step of Jacobi is added" : ""));
  PetscCall((*star->inner.pc->ops->view)(star->inner.pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
