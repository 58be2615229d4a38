/*
  Pairwise-aggregation multigrid: wider stencils on a grid, 9, 19 or 27 points or of fourth order. The 5- or 7-point matrix of the same grid that gives linear
  functions the same energy is spectrally equivalent (Orszag 1980), and as levels of boxes serve it. A PC has these.
*/
#include "pamgsetup.h"
#include "core/gather.h"
#include "kernels/starrow.h"
#include "mat/dia.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* Rows of each process that are looked at first, for offsets */
#define PAMG_STAR_SAMPLE 1024
/* The least number of rows, and the part of them that may be unlike their star */
#define PAMG_STAR_LEAST  1000
#define PAMG_STAR_UNLIKE 0.25
/* Several GPUs have up to so many rows as a whole although there may be a star. With stencils of 27 points set-up and solve take 6.4 ms so on two H200 and 5.9
   ms in parts at 80^3, 11.1 and 9.2 ms at 112^3; with 13 points 5.6 and 4.7 ms at 112^3 */
#define PAMG_STAR_WHOLE 400000
/* In space, where so many rows are soft, a step of Jacobi with this damping is added. Linear cubes take 14 iterations instead of 21, others more */
#define PAMG_STAR_SOFT 0.9
#define PAMG_STAR_STEP 0.5

PetscErrorCode PCPAMGStarFree(PC_PAMG *pamg)
{
  PamgStar *star = &pamg->star;

  PetscFunctionBegin;
  PetscCall(PCPAMGFreeInner(&star->inner));
  PetscCall(MatDestroy(&star->matrix));
  PetscCall(VecDestroy(&star->step));
  if (star->place) {
    PetscCall((*star->place->free)(&star->ptr));
    PetscCall((*star->place->free)(&star->col));
    PetscCall((*star->place->free)(&star->val));
    PetscCall((*star->place->free)(&star->there));
    PetscCall((*star->place->free)(&star->outer));
  }
  PetscCall(PolderHaloDestroy(&star->given.halo));
  star->place = NULL;
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

/* Those of entries to later rows, as some rows of this process have them; *n = -1: there are too many for a stencil */
static PetscErrorCode PamgStarSample(const PolderCSR *csr, PetscInt *n, PetscInt off[])
{
  const PetscInt rows = PetscMin(csr->m, PAMG_STAR_SAMPLE);
  PetscBool      few  = PETSC_TRUE;

  PetscFunctionBegin;
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on a device, of all rows */
static PetscErrorCode PamgStarSampleDevice(const PolderCSR *csr, PetscInt *n, PetscInt off[])
{
  PetscInt nd, *all = NULL;

  PetscFunctionBegin;
  PetscCall(PolderDiaCountDevice(csr->m, csr->m, csr->ai, csr->aj, 2 * POLDER_STAR_OFFSETS + 1, &nd, &all));
  if (nd > 2 * POLDER_STAR_OFFSETS + 1) *n = -1;
  for (PetscInt k = 0; k < nd && *n >= 0; ++k) {
    if (all[k] > 0 && !PamgAddOffset(all[k], n, off)) *n = -1;
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The offsets to later rows of all processes; *n = 0: there are too many for a stencil */
static PetscErrorCode PamgStarOffsets(PC pc, const PolderCSR *csr, PetscInt *n, PetscInt off[])
{
  PetscInt *all, total, own = 0;
  PetscBool few = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall((csr->device ? PamgStarSampleDevice : PamgStarSample)(csr, &own, off));
  if (own < 0) off[0] = 0; // which no offset is
  PetscCall(PolderGatherAll(PetscObjectComm((PetscObject)pc), own < 0 ? 1 : own, off, sizeof(*off), &total, &all));
  *n = 0;
  for (PetscInt k = 0; k < total && few; ++k) few = all[k] ? PamgAddOffset(all[k], n, off) : PETSC_FALSE;
  if (!few) *n = 0;
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* there[] <- the neighbours of own rows on other processes, ascending, which the caller frees */
static PetscErrorCode PamgStarThere(const PolderStarGrid *G, PetscInt first, PetscInt n, PetscInt *nthere, PetscInt **there)
{
  const PetscInt far   = G->n[0] * G->n[1];
  PetscInt       count = 0, at[3];

  PetscFunctionBegin;
  *there = NULL;
  for (int fill = 0; fill < 2; ++fill) {
    if (fill) PetscCall(PetscMalloc1(count, there));
    count = 0;
    for (PetscInt i = first; i < first + n; ++i) {
      if (i == first + far && n > 2 * far) i = first + n - far; // those between have their neighbours here
      PolderStarPoint(G, i, at);
      for (int k = 0; k < 6; ++k) {
        const PetscInt j = PolderStarNeighbour(G, at, i, k);

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

/* The pattern of the star at the place, on the host in a matrix. first: the number in the grid of the first row of this process */
static PetscErrorCode PamgStarCreate(PC pc, const PolderCSR *csr, const PolderStarGrid *G, PetscInt first)
{
  PamgStar      *star = &((PC_PAMG *)pc->data)->star;
  const PetscInt n    = csr->m;
  VecType        vectors;

  PetscFunctionBegin;
  star->nz = PolderStarBegin(G, first + n) - PolderStarBegin(G, first);
  PetscCall(PolderPlaceMalloc(star->place, n + 1, &star->ptr));
  PetscCall(PolderPlaceMalloc(star->place, star->nz, &star->col));
  PolderRun(star->place, PolderStarPattern, G, first, n, star->ptr, star->col);
  if (star->place->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), &star->matrix));
  PetscCall(MatSetSizes(star->matrix, n, n, csr->M, csr->M));
  PetscCall(MatSetType(star->matrix, MATAIJ));
  PetscCall(MatGetVecType(pc->pmat, &vectors));
  PetscCall(MatSetVecType(star->matrix, vectors));
  PetscCall(MatSeqAIJSetPreallocationCSR(star->matrix, star->ptr, star->col, NULL));
  PetscCall(MatMPIAIJSetPreallocationCSR(star->matrix, star->ptr, star->col, NULL));
  PetscCall((*star->place->free)(&star->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The star has new values: its matrix gets them, or its rows, which have the place of those of the matrix */
static PetscErrorCode PamgStarSet(PC pc, const PolderCSR *csr)
{
  PamgStar       *star = &((PC_PAMG *)pc->data)->star;
  MatNullSpace    kernel;
  PetscMPIInt     ranks;
  PetscInt        nghost = 0;
  const PetscInt *ghosts = NULL;
  PetscScalar    *a;

  PetscFunctionBegin;
  if (!star->matrix) {
    if (star->given.halo) PetscCall(PolderHaloGetGhosts(star->given.halo, &nghost, &ghosts));
    star->given.csr = (PolderCSR){.m       = csr->m,
                                  .rstart  = csr->rstart,
                                  .M       = csr->M,
                                  .nghost  = nghost,
                                  .garray  = ghosts,
                                  .ai      = star->ptr,
                                  .aj      = star->col,
                                  .aa      = star->val,
                                  .ba      = star->outer,
                                  .diag    = csr->diag,
                                  .offdiag = csr->offdiag,
                                  .nz      = star->nz,
                                  .device  = PETSC_TRUE};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks > 1) PetscCall(MatUpdateMPIAIJWithArray(star->matrix, star->val));
  else {
    PetscCall(MatSeqAIJGetArrayWrite(star->matrix, &a));
    PetscCall(PetscArraycpy(a, star->val, star->nz));
    PetscCall(MatSeqAIJRestoreArrayWrite(star->matrix, &a));
  }
  PetscCall((*star->place->free)(&star->val));
  PetscCall(MatSetOption(star->matrix, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(star->matrix, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(MatGetNullSpace(pc->pmat, &kernel));
  PetscCall(MatSetNullSpace(star->matrix, kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* star->step <- the damped inverse of the diagonal, NULL where none is added */
static PetscErrorCode PamgStarStep(PC pc, PetscInt n, const PolderStarParts *P, PetscBool wants)
{
  PamgStar    *star = &((PC_PAMG *)pc->data)->star;
  PetscScalar *d;

  PetscFunctionBegin;
  if (!wants) PetscCall(VecDestroy(&star->step));
  if (!wants) PetscFunctionReturn(PETSC_SUCCESS);
  if (!star->step) PetscCall(MatCreateVecs(pc->pmat, &star->step, NULL));
  PetscCall((*star->place->vecgetwrite)(star->step, &d));
  PolderRun(star->place, PolderStarStep, n, PAMG_STAR_STEP, P->diagonal, d);
  PetscCall((*star->place->vecrestorewrite)(star->step, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The star of these parts */
static PetscErrorCode PamgStarFill(PC pc, const PolderCSR *csr, const PolderStarGrid *G, const PolderStarParts *P)
{
  PamgStar            *star   = &((PC_PAMG *)pc->data)->star;
  const PolderStarGrid here   = csr->device ? PamgStarOwn(G, csr->m) : *G;
  const PetscInt       first  = csr->device ? 0 : csr->rstart;
  PetscInt             nthere = 0, *there = NULL;
  PetscScalar         *beyond = NULL;

  PetscFunctionBegin;
  if (!star->ptr) {
    PetscCall(PamgStarCreate(pc, csr, &here, first));
    if (csr->device && csr->m < csr->M) PetscCall(PCPAMGStarCreatePlanes(pc, csr, G));
  }
  if (!csr->device && csr->offdiag) { // a sequential matrix has no row elsewhere
    PetscCall(PamgStarThere(G, csr->rstart, csr->m, &nthere, &there));
    PetscCall(PamgStarBeyond(pc, csr->m, P->half, nthere, there, &beyond));
  }
  if (!star->val) PetscCall(PolderPlaceMalloc(star->place, star->nz, &star->val));
  PolderRun(star->place, PolderStarValues, &here, first, csr->m, P, nthere, there, beyond, star->ptr, star->val);
  PetscCall(PCPAMGStarSetPlanes(star, &here, P->half));
  PetscCall(PamgStarSet(pc, csr));
  PetscCall(PetscFree(beyond));
  PetscCall(PetscFree(there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *found: entries are where those of a wider stencil on a grid are. On a device all entries are looked at, if they are enough for one, once for a pattern.
   Collective */
static PetscErrorCode PamgStarFindGrid(PC pc, const PolderCSR *csr, PolderStarGrid *G, PetscBool *found)
{
  const PamgStar *star = &((PC_PAMG *)pc->data)->star;
  PetscInt        n    = 0, off[POLDER_STAR_OFFSETS];
  PetscMPIInt     many = !csr->device || csr->nz / POLDER_STAR_POINTS >= csr->m;

  PetscFunctionBegin;
  *found = (PetscBool)(csr->device && star->place && star->place->device);
  *G     = star->grid;
  if (*found || csr->M < PAMG_STAR_LEAST) PetscFunctionReturn(PETSC_SUCCESS);
  if (csr->device) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &many, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if (!many) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgStarOffsets(pc, csr, &n, off));
  *found = (PetscBool)(n && PolderStarGridFind_Host(n, off, csr->M, G));
  if (*found && csr->device) PetscCall(PCPAMGStarHasPlanes(pc, csr, G, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The star of rows on a grid; *found: most rows are like it, or the user wants it. Collective */
static PetscErrorCode PamgMakeStar(PC pc, const PolderCSR *csr, const PolderStarGrid *G, PetscBool *found)
{
  PC_PAMG        *pamg                      = (PC_PAMG *)pc->data;
  PamgStar       *star                      = &pamg->star;
  PetscInt        count[POLDER_STAR_COUNTS] = {0}, *there;
  PetscInt64      all[POLDER_STAR_COUNTS];
  PolderStarParts P;

  PetscFunctionBegin;
  if (star->place != PolderPlaceOf(csr->device)) PetscCall(PCPAMGStarFree(pamg)); // the matrix has moved
  star->place = PolderPlaceOf(csr->device);
  star->grid  = *G;
  PetscCall(PolderPlaceMalloc(star->place, 6 * (size_t)csr->m, &P.half));
  PetscCall(PolderPlaceMalloc(star->place, csr->m, &P.sum));
  PetscCall(PolderPlaceMalloc(star->place, csr->m, &P.diagonal));
  PetscCall(PolderPlaceUpload(star->place, sizeof(count), count, &there));
  if (csr->device && !star->there) PetscCall(PolderDeviceUpload(sizeof(*csr->garray) * (size_t)csr->nghost, csr->garray, &star->there));
  PolderRun(star->place, PolderStarRows, G, csr->rstart, PolderOwnRows(csr), PolderGhostColumns(csr), csr->device ? star->there : csr->garray, &P, there);
  PetscCall(PolderPlaceFetch(star->place, sizeof(count), &there, count));
  for (int k = 0; k < POLDER_STAR_COUNTS; ++k) all[k] = count[k];
  PetscCallAllreduce(MPI_IN_PLACE, all, POLDER_STAR_COUNTS, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc));
  *found = (PetscBool)(!all[POLDER_STAR_ASTRAY] && (pamg->wantstar > 0 || (PetscReal)all[POLDER_STAR_UNLIKE] <= PAMG_STAR_UNLIKE * csr->M));
  PetscCall(PetscInfo(pc,
                      "A stencil on %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points; %" PetscInt64_FMT
                      " rows are unlike their star, %" PetscInt64_FMT " soft, %" PetscInt64_FMT " reach elsewhere\n",
                      G->n[0], G->n[1], G->n[2], all[POLDER_STAR_UNLIKE], all[POLDER_STAR_SOFT], all[POLDER_STAR_ASTRAY]));
  if (*found) PetscCall(PamgStarFill(pc, csr, G, &P));
  if (*found) PetscCall(PamgStarStep(pc, csr->m, &P, (PetscBool)(G->n[2] > 1 && (PetscReal)all[POLDER_STAR_SOFT] >= PAMG_STAR_SOFT * csr->M)));
  PetscCall((*star->place->free)(&P.half));
  PetscCall((*star->place->free)(&P.sum));
  PetscCall((*star->place->free)(&P.diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *found: the matrix has a star now. Collective */
static PetscErrorCode PamgFindStar(PC pc, PetscBool *found)
{
  const PamgSetUpSteps *steps;
  PolderCSR             csr;
  PolderStarGrid        G;

  PetscFunctionBegin;
  PetscCall(PCPAMGGetRows(pc, &steps, &csr));
  PetscCall(PamgStarFindGrid(pc, &csr, &G, found));
  if (*found) PetscCall(PamgMakeStar(pc, &csr, &G, found));
  PetscCall(steps->restorerows(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool PamgAllowsStar(PC pc)
{
  const PC_PAMG *pamg = (PC_PAMG *)pc->data;

  return (PetscBool)(pamg->grids && pamg->wantstar && PetscAbsInt(pc->pmat->rmap->bs) == 1);
}

PetscErrorCode PCPAMGStarAhead(PC pc, PetscBool *ahead)
{
  PC_PAMG              *pamg = (PC_PAMG *)pc->data;
  PamgStar             *star = &pamg->star;
  const PamgSetUpSteps *steps;
  PolderCSR             csr;
  PolderStarGrid        G;
  PetscBool             same, whole, small;

  PetscFunctionBegin;
  *ahead = PETSC_FALSE;
  PetscCall(PCPAMGSamePattern(pc, &same));
  if (!same) PetscCall(PCPAMGStarFree(pamg));
  if (!PamgAllowsStar(pc) || (same && pamg->whole.inner.pc)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatWantsWhole(pc->pmat, PAMG_WHOLE, &whole));
  PetscCall(PolderMatWantsWhole(pc->pmat, PAMG_STAR_WHOLE, &small));
  if (!whole || small) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGGetRows(pc, &steps, &csr));
  if (csr.device) PetscCall(PamgStarFindGrid(pc, &csr, &G, ahead));
  PetscCall(steps->restorerows(pc->pmat, &csr));
  if (!*ahead) PetscFunctionReturn(PETSC_SUCCESS);
  star->place = &PolderOnDevice;
  star->grid  = G;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGStarSetUp(PC pc, PetscBool *done)
{
  PC_PAMG        *pamg  = (PC_PAMG *)pc->data;
  PamgStar       *star  = &pamg->star;
  const PetscBool wants = (PetscBool)(pamg->symmetric && PamgAllowsStar(pc));
  PetscBool       same, failed = PETSC_FALSE;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PCPAMGSamePattern(pc, &same));
  if (pamg->nlevel && same) PetscFunctionReturn(PETSC_SUCCESS); // new values keep the levels
  if (!wants) PetscCall(PCPAMGStarFree(pamg));
  if (wants) PetscCall(PamgFindStar(pc, done));
  if (*done) PetscCall(PCPAMGSetUpInner(pc, star->matrix ? star->matrix : pc->pmat, star->matrix ? NULL : &star->given, PETSC_FALSE, &star->inner.pc, &failed));
  if (failed) *done = PETSC_FALSE; // a refusal comes from the set-up of the rows as they are
  if (!*done) PetscCall(PCPAMGStarFree(pamg));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGFree(pamg));
  PetscCall(PCPAMGInnerKeys(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PC PamgGetSame(PC pc)
{
  const PamgStar *star = &((const PC_PAMG *)pc->data)->star;

  return star->inner.pc && !star->step ? star->inner.pc : pc;
}

/* z = T^-1 r, and a step of Jacobi */
PetscErrorCode PCPAMGStarApply(PC pc, Vec r, Vec z)
{
  const PamgStar    *star = &((PC_PAMG *)pc->data)->star;
  const PolderPlace *place;
  const PetscScalar *d, *b;
  PetscScalar       *x;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(PCApply(star->inner.pc, r, z));
  if (!star->step) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceOfVecs(r, z, &place));
  PetscCall(VecGetLocalSize(z, &n));
  PetscCall((*place->vecgetread)(star->step, &d));
  PetscCall((*place->vecgetread)(r, &b));
  PetscCall((*place->vecget)(z, &x));
  PolderRun(place, PolderStarAdd, n, d, b, x);
  PetscCall((*place->vecrestore)(z, &x));
  PetscCall((*place->vecrestoreread)(r, &b));
  PetscCall((*place->vecrestoreread)(star->step, &d));
  PetscCall((*place->logflops)(2.0 * n));
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
