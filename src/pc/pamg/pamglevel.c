/* Pairwise-aggregation multigrid: checks the rows and entries of a level, allocates its work vectors and frees it. */
#include "pamgsetup.h"
#include "pamgsteps.h"
#include "core/refusal.h"
#include "kernels/outer.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PCPAMGFreeLevel(const PC_PAMG *pamg, PamgLevel *L, PetscBool first)
{
  void **const rows[]    = {(void **)&L->ai, (void **)&L->aj, (void **)&L->aa, (void **)&L->gi, (void **)&L->gj, (void **)&L->ga};
  void **const others[]  = {(void **)&L->rounded, (void **)&L->halved, (void **)&L->ownval, (void **)&L->agg,  (void **)&L->ptr,
                            (void **)&L->row,     (void **)&L->order,  (void **)&L->diag,   (void **)&L->code, (void **)&L->classes};
  void **const vectors[] = {&L->dinv, &L->ghost};

  PetscFunctionBegin;
  if (!first) PetscCall(MatDestroy(&L->A));
  if (L->ownshalo) PetscCall(PolderHaloDestroy(&L->halo));
  PetscCall(PolderHaloDestroy(&L->all));
  PetscCall(PCPAMGFreeGathers(L));
  PetscCall(PCPAMGFreeOuter(L));
  PetscCall(PCPAMGFreeEliminated(&L->eliminated));
  PetscCall(PCPAMGFreeBlocks(pamg, L));
  PetscCall(PetscFree(L->shift));
  PetscCall(PCPAMGFreeBorder(pamg, &L->border));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(rows); ++k) PetscCall(pamg->place->free(rows[k]));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(others); ++k) PetscCall(pamg->place->free(others[k]));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(vectors); ++k) PetscCall(pamg->place->free(vectors[k]));
  PetscCall(pamg->place->free(&L->grid.w));
  PetscCall(PCPAMGFreeLines(pamg, &L->lines));
  PetscCall(PetscFree3(L->bi, L->bj, L->ba));
  PetscCall(PetscFree(L->ghostagg));
  PetscCall(PetscFree(L->val));
  PetscCall(PetscFree(L->ownoff));
  PetscCall(PetscFree(L->keptoff));
  PetscCall(PetscFree(L->colour));
  PetscCall(PetscFree(L->garray));
  PetscCall(PetscFree2(L->counts, L->displs));
  PetscCall(PetscFree(L->stage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFree(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) PetscCall(PCPAMGFreeLevel(pamg, &pamg->level[l], (PetscBool)!l));
  PetscCall(PetscFree(pamg->level));
  PetscCall(PCPAMGFreeJudged(pamg));
  PetscCall(PCPAMGFreeExcess(pamg));
  PetscCall(pamg->place->free(&pamg->vectors));
  PetscCall(PCPAMGFreePlaces(pamg));
  PetscCall(pamg->place->free(&pamg->findings));
  PetscCall(PolderDeviceFree(&pamg->ksum));
  PetscCall(PCPAMGFreeReplay(&pamg->replay));
  pamg->nlevel = 0;
  pamg->lent   = PETSC_FALSE;
  PetscCall(PolderCoarseDestroy(&pamg->coarse));
  for (int k = 0; k < 2; ++k) {
    if (pamg->coarsebuf[k]) PetscCall(pamg->coarseplace->free(&pamg->coarsebuf[k]));
  }
  PetscCall(VecDestroy(&pamg->coarseb));
  PetscCall(VecDestroy(&pamg->coarsex));
  PetscCall(KSPDestroy(&pamg->ksp));
  pamg->stalled = PETSC_FALSE;
  PetscCall(PetscMemzero(&pamg->keys, sizeof(pamg->keys)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Raises the error for the first bad row of level l on every process; each process passes its own first bad row, or the global number of rows and
  POLDER_ROW_GOOD. On a gathered level all processes find the same
*/
static PetscErrorCode PamgCheckRow(PC pc, PetscInt l, PetscInt M, PetscInt first, PolderRowKind kind)
{
  PetscInt what = (PetscInt)kind;

  PetscFunctionBegin;
  PetscCall(PolderFirstRow(((PC_PAMG *)pc->data)->level[l].comm, M, &first, &what));
  if (first == M) PetscFunctionReturn(PETSC_SUCCESS);
  if (!l) PetscCall(PolderPCRefuseRow(pc, PCPAMG, first, (PolderRowKind)what));
  else {
    const PetscBool finite = (PetscBool)(what != POLDER_ROW_NOTFINITE);

    PolderPCRefuse(pc, finite ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_FACTOR_OTHER, finite ? PETSC_ERR_ARG_WRONG : PETSC_ERR_FP,
                   "PC of type pamg needs a positive definite matrix and this one is not: on coarse level %" PetscInt_FMT " %s", l,
                   finite ? "a diagonal entry is negative" : "an entry is not a finite number");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpRows(PC pc, PetscInt l, PetscBool refresh)
{
  PC_PAMG      *pamg = (PC_PAMG *)pc->data;
  PamgLevel    *L    = &pamg->level[l];
  PetscInt      row  = L->n;
  PolderRowKind kind = POLDER_ROW_GOOD;

  PetscFunctionBegin;
  PetscCall(pamg->setup->rows(pamg, l, refresh, &row, &kind));
  PetscCall(PamgCheckRow(pc, l, L->csr.M, row < L->n ? row + L->csr.rstart : L->csr.M, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpValues(PC pc, PetscInt l)
{
  PC_PAMG    *pamg = (PC_PAMG *)pc->data;
  PetscBool   fits = PETSC_TRUE;
  PetscMPIInt all;

  PetscFunctionBegin;
  PetscCall(pamg->setup->values(pamg, l, &fits));
  if (pamg->precision == PAMG_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  all = fits;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, pamg->level[l].comm));
  if (!all && pamg->wantprecision < 0) pamg->narrow = PETSC_FALSE;
  else if (!all)
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE,
                   "PC of type pamg cannot store the entries in single or half precision, which has numbers of 1e-38 to 3e38: use -pc_pamg_precision double, "
                   "or scale "
                   "the system");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGNumberGhosts(PetscInt n, PetscInt theirs[], PamgLevel *C)
{
  PetscInt *sorted, *order, *work, none = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n, &sorted, n, &order, 3 * n, &work));
  PetscCall(PetscMalloc1(n, &C->garray));
  PetscCall(PetscArraycpy(sorted, theirs, n));
  PolderIndexSort_Host(n, sorted, order, work);
  C->nghost = 0;
  while (none < n && sorted[none] < 0) ++none;
  for (PetscInt k = none; k < n; ++k) {
    if (k == none || sorted[k] > sorted[k - 1]) C->garray[C->nghost++] = sorted[k];
    theirs[order[k]] = C->nghost - 1;
  }
  for (PetscInt k = 0; k < none; ++k) theirs[order[k]] = C->nghost;
  PetscCall(PetscFree3(sorted, order, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors begin at multiples of so many bytes */
#define PAMG_ALIGN 256

/* A vector of n + 1 values after *used bytes of pamg->vectors, which is NULL where only the bytes are counted */
static void PamgVector(const PC_PAMG *pamg, PamgLevel *L, PetscInt n, size_t *used, void **v)
{
  const size_t bytes = PamgValueSize(pamg) * (size_t)(n + 1);

  *v = pamg->vectors ? (char *)pamg->vectors + *used : NULL;
  L->bytes += (PetscInt64)bytes;
  *used += (bytes + PAMG_ALIGN - 1) / PAMG_ALIGN * PAMG_ALIGN;
}

/* Bytes of a level without vectors */
static PetscInt64 PamgBytes(const PC_PAMG *pamg, const PamgLevel *L, PetscBool first)
{
  const size_t size = PamgValueSize(pamg), index = sizeof(PetscInt), n = (size_t)L->n, nz = (size_t)L->nz, all = nz + (size_t)L->nzouter;
  const size_t nd    = (size_t)(L->half ? (L->M.nd + 1) / 2 : L->M.nd);
  size_t       bytes = size * (n + 1) + (L->agg ? index * n : 0) + (L->diag ? index * n : 0) + index * (size_t)L->csr.nghost;

  if (L->order) bytes += index * n;
  if (L->grid.w) bytes += sizeof(*L->grid.w) * n;
  if (L->islines) bytes += (index + sizeof(*L->lines.single) + sizeof(*L->lines.weight)) * n + (L->lines.tptr ? index * (n + (size_t)L->nc + 2) : 0);
  if (L->blocks.n) bytes += index * (size_t)(2 * L->blocks.n + L->blocks.ptr[L->blocks.n]) + sizeof(PetscReal) * (size_t)L->blocks.at[L->blocks.n];
  if (L->blockrows.n) bytes += (index + sizeof(PetscScalar)) * (size_t)L->blockrows.nz + 2 * index * (size_t)L->blockrows.n;
  if (L->shift) bytes += sizeof(*L->shift) * n;
  if (L->eliminates)
    bytes += (2 * index + sizeof(PetscScalar)) * (size_t)L->eliminated.m + (index + sizeof(PetscScalar)) * (size_t)L->eliminated.ptr[L->eliminated.m];
  if (L->row) bytes += index * (n + (size_t)L->nc + 2);
  if (!first) bytes += index * (n + 1 + all + (L->csr.bi ? n + 1 : 0) + 2 * (size_t)L->outer.rows.n) + sizeof(PetscScalar) * all;
  if (!first || L->ownval) bytes += sizeof(PetscScalar) * n * nd;
  if (L->halved) bytes += sizeof(*L->halved) * (L->M.nd ? n * nd : nz);
  if (L->code) bytes += n + sizeof(*L->classes);
  if (L->rounded) bytes += sizeof(float) * (L->M.nd ? n * nd : nz);
  return (PetscInt64)bytes;
}

/* The vectors of all levels, one after the other; *bytes: of all */
static void PamgVectors(PC_PAMG *pamg, size_t *bytes)
{
  const PetscBool sgs = (PetscBool)(pamg->smoother == PAMG_SGS), diagonal = (PetscBool)(!sgs || !pamg->pre),
                  kcycle = (PetscBool)(pamg->cycle == PC_PAMG_CYCLE_K);

  *bytes = 0;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    PamgLevel      *L    = &pamg->level[l];
    const PetscBool last = (PetscBool)(l == pamg->nlevel - 1), twice = L->twice;

    L->bytes = PamgBytes(pamg, L, (PetscBool)!l);
    if (l || pamg->precision != PAMG_DOUBLE) {
      PamgVector(pamg, L, L->n, bytes, &L->b);
      PamgVector(pamg, L, L->n, bytes, &L->x);
      if (L->gathered) PamgVector(pamg, L, L->nown, bytes, &L->part);
    }
    if (!last && L->halo && (sgs || L->hasblocks || pamg->setup->splitrhs)) PamgVector(pamg, L, L->n, bytes, &L->localrhs);
    if (!last && (diagonal || PamgInterpolates(L) || L->eliminates || (twice && kcycle))) PamgVector(pamg, L, L->n, bytes, &L->iterate);
    if (twice || (!l && PamgWritesWide(pamg) && pamg->post > 2)) PamgVector(pamg, L, L->n, bytes, &L->correction);
    if (twice && kcycle) PamgVector(pamg, L, L->n, bytes, &L->product);
  }
}

PetscErrorCode PCPAMGSetUpWork(PC_PAMG *pamg)
{
  size_t bytes;

  PetscFunctionBegin;
  PamgVectors(pamg, &bytes);
  PetscCall(pamg->place->malloc(bytes, &pamg->vectors));
  if (bytes) PetscCall(pamg->place->zero(pamg->vectors, bytes));
  if (bytes) PamgVectors(pamg, &bytes);
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    PamgLevel *L = &pamg->level[l];

    if (L->halo) PetscCall(pamg->place->malloc(PamgValueSize(pamg) * (size_t)(L->csr.nghost + 1), &L->ghost));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
