/*
  Pairwise-aggregation multigrid: matrices that are not symmetric, as those of convection with diffusion. The aggregates of a level are those of its symmetric
  part (A + A^T) / 2 (Notay, SIAM J. Sci. Comput. 34, 2012). On the next level P^T A P what the flow carries is right, and diffusion is too strong, so its
  couplings are softened, but none below what keeps both entries of a pair from being positive (kernels/skew.h).
*/
#include "pamgsetup.h"
#include "core/compat.h"
#include "kernels/skew.h"
#include "mat/symmetry.h"
#include <petsc/private/pcimpl.h>

/* New values are compared with their partners in so many rows of a process */
#define PAMG_SKEW_SAMPLE 4096

/*
  Have the entries of `most` rows of a process, or some more, the values of their partners, as far as these are in its diagonal block?
  pamg->jumps: one of them is far from that
*/
static PetscErrorCode PamgCompareRows(PC pc, PetscInt most, PetscBool *symmetric)
{
  PC_PAMG              *pamg    = (PC_PAMG *)pc->data;
  const PetscInt        none[2] = {0, 0};
  const PamgSetUpSteps *steps;
  PolderCSR             csr;
  PolderRows            A;
  PetscInt              mine[2], *there;
  PetscMPIInt           any[2];

  PetscFunctionBegin;
  PetscCall(PCPAMGGetRows(pc, &steps, &csr));
  A = PolderOwnRows(&csr);
  PetscCall(PolderPlaceUpload(steps->place, sizeof(none), none, &there));
  PolderRun(steps->place, PolderSkewRows, &A, 1 + A.n / most, there);
  PetscCall(PolderPlaceFetch(steps->place, sizeof(mine), &there, mine));
  PetscCall(steps->restorerows(pc->pmat, &csr));
  for (int k = 0; k < 2; ++k) any[k] = mine[k] > 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  *symmetric  = (PetscBool)!any[0];
  pamg->jumps = (PetscBool)(any[1] > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Programs may declare a matrix nonsymmetric by mistake. All entries of such a matrix are compared; without a declaration, those of the diagonal blocks. Some
  rows mostly tell
*/
static PetscErrorCode PamgCompareAll(PC pc, PetscBool declared, PetscBool *symmetric)
{
  const PamgSetUpSteps *steps;
  const PolderDia      *dia;
  PolderCSR             csr;
  PetscMPIInt           size;

  PetscFunctionBegin;
  PetscCall(PCPAMGGetRows(pc, &steps, &csr));
  PetscCall(steps->restorerows(pc->pmat, &csr));
  PetscCall(steps->diagonals(pc->pmat, &dia));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  *symmetric = (PetscBool)(size == 1 && dia && dia->half);
  if (*symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgCompareRows(pc, PAMG_SKEW_SAMPLE, symmetric));
  if (!*symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  if (declared) PetscCall(PolderMatProductsSymmetric(pc->pmat, symmetric));
  else if (steps->symmetric) PetscCall(steps->symmetric(pc->pmat, symmetric));
  else PetscCall(PamgCompareRows(pc, PETSC_MAX_INT, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are there levels of this matrix that new values keep? */
static PetscErrorCode PamgKeepsLevels(PC pc, PetscBool *keeps)
{
  const PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCPAMGSamePattern(pc, keeps));
  *keeps = (PetscBool)(*keeps && pamg->nlevel > 0 && pamg->reuse);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGCheckSymmetry(PC pc)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PetscBool known, symmetric, keeps = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PamgKeepsLevels(pc, &keeps));
  if (keeps && !pamg->symmetric) PetscFunctionReturn(PETSC_SUCCESS); // such levels do for a symmetric matrix as well
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  if (known && symmetric) pamg->symmetric = PETSC_TRUE;
  else if (keeps) PetscCall(PamgCompareRows(pc, PAMG_SKEW_SAMPLE, &pamg->symmetric));
  else PetscCall(PamgCompareAll(pc, known, &pamg->symmetric));
  if (keeps && !pamg->symmetric) PetscCall(PCPAMGFree(pamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the rows of the symmetric part in the pattern of skew->rows; sum, unless NULL, <- the sums of its rows, where it has those of the level */
static PetscErrorCode PamgSymmetricPart(const PolderPlace *place, PamgSkew *skew, PetscReal **sum, PetscInt *missing)
{
  const PetscInt none = 0;
  PetscInt      *there;
  PetscReal     *mean = NULL;

  PetscFunctionBegin;
  skew->part = skew->rows;
  PetscCall(PolderPlaceMalloc(place, skew->rows.nz, &skew->values));
  if (*sum) PetscCall(PolderPlaceMalloc(place, skew->rows.n, &mean));
  PetscCall(PolderPlaceUpload(place, sizeof(none), &none, &there));
  PolderRun(place, PolderSymmetricPart, &skew->rows, *sum, skew->values, mean, there);
  PetscCall(PolderPlaceFetch(place, sizeof(*missing), &there, missing));
  skew->part.a = skew->values;
  if (!*missing) {
    PetscCall(place->free(sum));
    *sum = mean;
  } else {
    PetscCall(place->free(&skew->values));
    PetscCall(place->free(&mean));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host: skew->own <- skew->rows with a zero for each missing partner, and rows <- a view of it */
static PetscErrorCode PamgSymmetricPattern(PamgSkew *skew)
{
  PolderSparseRows *C = &skew->own;
  PetscInt         *work;

  PetscFunctionBegin;
  C->n = skew->rows.n;
  PetscCall(PetscMalloc1(C->n + 1 + skew->rows.nz, &work));
  PetscCall(PetscMalloc1(C->n + 1, &C->ptr));
  PetscCall(PetscMalloc1(2 * skew->rows.nz, &C->col));
  PetscCall(PetscMalloc1(2 * skew->rows.nz, &C->val));
  PolderSymmetricPattern_Host(&skew->rows, work, C);
  skew->rows = PolderRowsOf(C);
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFindSkew(PC_PAMG *pamg, const PamgLevel *L, PetscBool *found)
{
  PamgSkew   *skew = &pamg->skew;
  PetscInt    missing;
  PetscMPIInt any;

  PetscFunctionBegin;
  *found     = PETSC_TRUE;
  skew->rows = PamgLevelRows(L);
  PetscCall(PamgSymmetricPart(pamg->place, skew, &pamg->sum, &missing));
  if (pamg->place->device) {
    any = missing > 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, L->comm));
    *found = (PetscBool)!any;
  } else if (missing) {
    PetscCall(PamgSymmetricPattern(skew));
    PetscCall(PamgSymmetricPart(pamg->place, skew, &pamg->sum, &missing));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PolderRows PCPAMGRowsToPair(const PC_PAMG *pamg, const PamgLevel *L)
{
  return pamg->symmetric ? PamgLevelRows(L) : pamg->skew.part;
}

PetscErrorCode PCPAMGFreeSkew(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeRows(pamg, &pamg->skew.own));
  PetscCall(pamg->place->free(&pamg->skew.values));
  PetscCall(pamg->place->free(&pamg->skew.soft));
  PetscCall(PetscMemzero(&pamg->skew, sizeof(pamg->skew)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSoften(PC_PAMG *pamg, PetscInt l)
{
  const PetscReal  factor = PCPAMGExcessOfEnergy(pamg, l);
  const PamgLevel *C      = &pamg->level[l + 1];
  const size_t     bytes  = sizeof(*C->aa) * (size_t)C->ownnz;
  PetscScalar     *before;
  PolderRows       A;

  PetscFunctionBegin;
  if (pamg->symmetric || (!pamg->skew.soft && !(factor > 1))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(pamg->place->malloc(bytes, &before));
  PetscCall(pamg->place->copy(before, C->aa, bytes));
  A = (PolderRows){.n = pamg->level[l].nc, .i = C->ai, .j = C->aj, .a = before};
  PolderRun(pamg->place, PolderSoften, &A, factor, pamg->skew.soft, C->aa);
  PetscCall(pamg->place->free(&before));
  PetscFunctionReturn(PETSC_SUCCESS);
}
