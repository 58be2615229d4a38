/* The grid behind the matrix of PC rrb, and its rows. */
#include "rrb.h"
#include <petsc/private/pcimpl.h>
#include <petscdmda.h>

enum {
  MAXOFFSETS = 4
};

/* The grid of a 5- or 9-point stencil in natural order with these offsets above the diagonal, in ascending order */
static PetscInt PCRRBLineOfOffsets_Private(PetscInt n, const PetscInt offset[])
{
  const PetscInt last = offset[n - 1];

  if (n == 1) return last == 1 ? 0 : last; // one line, or no coupling in x at all
  if (n == 2 && offset[0] == 1) return last;
  for (PetscInt k = 0; k < n - 1; ++k) {
    if (offset[k] != 1 && offset[k] != last - 1 && offset[k] != last - 2) return -1;
  }
  return last - 1;
}

static PetscErrorCode PCRRBGridFromMatrix_Private(PC pc, const PolderCSR *csr)
{
  PC_RRB  *rrb                    = (PC_RRB *)pc->data;
  PetscInt offset[MAXOFFSETS + 1] = {0}, n = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < csr->m && n <= MAXOFFSETS; ++i) {
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1] && n <= MAXOFFSETS; ++k) {
      const PetscInt d  = csr->aj[k] - i;
      PetscInt       at = 0;

      if (d <= 0 || csr->aa[k] == 0) continue;
      while (at < n && offset[at] < d) ++at;
      if (at < n && offset[at] == d) continue;
      for (PetscInt l = n++; l > at; --l) offset[l] = offset[l - 1];
      offset[at] = d;
    }
  }
  rrb->nx = n && n <= MAXOFFSETS ? PCRRBLineOfOffsets_Private(n, offset) : -1;
  if (!rrb->nx) rrb->nx = csr->m;
  PetscCheck(rrb->nx > 0 && csr->m % rrb->nx == 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "PC of type rrb needs a 5- or 9-point stencil on a 2-D grid, and the diagonals of this matrix are not those of one in natural order: use -pc_rrb_grid nx,ny if it is one, else another preconditioner");
  rrb->ny = csr->m / rrb->nx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBGridFromDM_Private(PC pc, DM dm, PetscInt rows)
{
  PC_RRB        *rrb  = (PC_RRB *)pc->data;
  MPI_Comm       comm = PetscObjectComm((PetscObject)pc);
  PetscInt       dim, n[3], dof;
  DMBoundaryType b[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, &dim, &n[0], &n[1], &n[2], NULL, NULL, NULL, &dof, NULL, &b[0], &b[1], &b[2], NULL));
  for (PetscInt d = dim; d < 3; ++d) n[d] = 1;
  PetscCheck(n[2] == 1, comm, PETSC_ERR_SUP, "PC of type rrb works on 2-D grids, and the DMDA has %" PetscInt_FMT " by %" PetscInt_FMT " by %" PetscInt_FMT " nodes: use another preconditioner", n[0], n[1], n[2]);
  PetscCheck(dof == 1, comm, PETSC_ERR_SUP, "PC of type rrb works with one unknown a node, and the DMDA has %" PetscInt_FMT ": use -pc_type fieldsplit with rrb for each field", dof);
  PetscCheck(b[0] != DM_BOUNDARY_PERIODIC && (dim < 2 || b[1] != DM_BOUNDARY_PERIODIC), comm, PETSC_ERR_SUP, "PC of type rrb has no periodic grids, and the DMDA is one: use another preconditioner");
  PetscCheck(n[0] * n[1] == rows, comm, PETSC_ERR_ARG_SIZ, "The DMDA has %" PetscInt_FMT " by %" PetscInt_FMT " nodes and the matrix %" PetscInt_FMT " rows: use -pc_rrb_grid nx,ny", n[0], n[1], rows);
  rrb->nx = n[0];
  rrb->ny = n[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFindGrid_Private(PC pc, const PolderCSR *csr)
{
  PC_RRB   *rrb = (PC_RRB *)pc->data;
  DM        dm;
  PetscBool da = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, &dm));
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (!da) {
    PetscCall(MatGetDM(pc->pmat, &dm));
    if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  }
  if (rrb->given[0]) {
    PetscCheck(rrb->given[0] <= csr->m && csr->m % rrb->given[0] == 0 && csr->m / rrb->given[0] == rrb->given[1], PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ, "The grid given to PC of type rrb has %" PetscInt_FMT " by %" PetscInt_FMT " nodes and the matrix %" PetscInt_FMT " rows",
               rrb->given[0], rrb->given[1], csr->m);
    rrb->nx     = rrb->given[0];
    rrb->ny     = rrb->given[1];
    rrb->origin = RRB_GRID_GIVEN;
  } else if (da) {
    PetscCall(PCRRBGridFromDM_Private(pc, dm, csr->m));
    rrb->origin = RRB_GRID_DM;
  } else {
    PetscCall(PCRRBGridFromMatrix_Private(pc, csr));
    rrb->origin = RRB_GRID_MATRIX;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a node by direction, W to E within S to N: (dy + 1) * 3 + dx + 1 */
enum {
  SW,
  S,
  SE,
  W,
  CENTRE,
  E,
  NW,
  N,
  NE
};

/* Entries of row i = y nx + x; returns the first column that is no neighbour on the grid, or -1 */
static inline PetscInt PCRRBGetNode_Private(const PolderCSR *csr, PetscInt nx, PetscInt i, PetscInt line, PetscScalar a[9])
{
  for (int d = 0; d < 9; ++d) a[d] = 0;
  for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
    const PetscInt j = csr->aj[k], up = j >= line + nx, down = j < line, dx = j - i - (up ? nx : 0) + (down ? nx : 0);

    if (csr->aa[k] == 0) continue;
    if (dx < -1 || dx > 1 || (up && j >= line + 2 * nx) || (down && j < line - nx)) return j;
    a[(up - down + 1) * 3 + dx + 1] = csr->aa[k];
  }
  return -1;
}

static inline PetscBool PCRRBDiffers_Private(PetscScalar a, PetscScalar b, PetscReal diagonal)
{
  return (PetscBool)(PetscAbsScalar(a - b) > 1e-10 * PetscMax(PetscAbsScalar(a), PetscAbsScalar(b)) + 1e-14 * PetscAbsReal(diagonal));
}

/* Refuses a row that cannot be used, and takes down what the pivots depend on */
static PetscErrorCode PCRRBCheckNode_Private(PC pc, PetscInt i, const PetscScalar a[9])
{
  PC_RRB   *rrb  = (PC_RRB *)pc->data;
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscReal sum = 0, size = 0, above = 0;

  PetscFunctionBegin;
  for (int d = 0; d < 9; ++d) {
    sum += PetscRealPart(a[d]);
    if (d == CENTRE) continue;
    size += PetscAbsScalar(a[d]);
    above = PetscMax(above, PetscRealPart(a[d]));
  }
  if (!(PetscRealPart(a[CENTRE]) > 0) || !(PetscAbsReal(sum) + size <= PETSC_MAX_REAL)) {
    PetscCheck(!PetscIsInfOrNanReal(sum) && !PetscIsInfOrNanReal(size), comm, PETSC_ERR_FP, "PC of type rrb finds an entry in row %" PetscInt_FMT " that is not a finite number: check how the matrix was assembled", i);
    PetscCheck(a[CENTRE] != 0, comm, PETSC_ERR_ARG_WRONG, "PC of type rrb needs a positive diagonal and that of row %" PetscInt_FMT " is zero or missing: put a one on the diagonal of rows without unknown", i);
    SETERRQ(comm, PETSC_ERR_ARG_WRONG, "PC of type rrb needs a positive diagonal and that of row %" PetscInt_FMT " is negative: change the sign of the system if the matrix is negative definite, else use another preconditioner", i);
  }
  if (above > 1e-12 * PetscRealPart(a[CENTRE]) && rrb->matrix.positive < 0) rrb->matrix.positive = i;
  if (sum < -1e-10 * PetscRealPart(a[CENTRE]) && rrb->matrix.deficit < 0) rrb->matrix.deficit = i;
  if (size > 0 && PetscAbsReal(sum) > 1e-10 * PetscRealPart(a[CENTRE])) rrb->matrix.singular = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBVisitRows_Private(PC pc, const PolderCSR *csr, PetscScalar work[], PetscErrorCode (*put)(PetscInt, PetscScalar *const[], void *), void *ctx)
{
  PC_RRB        *rrb = (PC_RRB *)pc->data;
  const PetscInt nx  = rrb->nx;
  PetscScalar   *row[RRB_NROW], *above[3], *before[3]; /* N, NE, NW of this line and of the one before; NW has a place more */
  PetscInt       coupled = 0;

  PetscFunctionBegin;
  for (int f = 0; f < RRB_NROW; ++f) row[f] = work + (size_t)(nx + 2) * f + 1;
  for (int f = 0; f < 3; ++f) {
    above[f]  = work + (size_t)(nx + 2) * (RRB_NROW + f) + 1;
    before[f] = work + (size_t)(nx + 2) * (RRB_NROW + 3 + f) + 1;
  }
  rrb->matrix = (RRBMatrix){.nine = PETSC_FALSE, .singular = PETSC_TRUE, .positive = -1, .deficit = -1};
  for (PetscInt y = 0; y < rrb->ny; ++y) {
    for (PetscInt x = 0; x < nx; ++x) {
      const PetscInt i = y * nx + x;
      PetscScalar    a[9];
      const PetscInt stray = PCRRBGetNode_Private(csr, nx, i, y * nx, a);

      PetscCheck(stray < 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "PC of type rrb needs a 5- or 9-point stencil, and entry (%" PetscInt_FMT ", %" PetscInt_FMT ") joins no neighbours on the grid of %" PetscInt_FMT " by %" PetscInt_FMT " nodes: use -pc_rrb_grid nx,ny if the grid is another one, else another preconditioner", i, stray, nx,
                 rrb->ny);
      PetscCall(PCRRBCheckNode_Private(pc, i, a));
      PetscCheck(!PCRRBDiffers_Private(a[W], row[RRB_E][x - 1], a[CENTRE]) && !PCRRBDiffers_Private(a[S], before[0][x], a[CENTRE]) && !PCRRBDiffers_Private(a[SW], before[1][x - 1], a[CENTRE]) && !PCRRBDiffers_Private(a[SE], before[2][x + 1], a[CENTRE]), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "PC of type rrb needs a symmetric matrix, and row %" PetscInt_FMT " differs from its column: use MatZeroRowsColumns() for known values, or another preconditioner", i);
      row[RRB_C][x]  = a[CENTRE];
      row[RRB_E][x]  = a[E];
      row[RRB_SE][x] = a[SE];
      row[RRB_N][x] = above[0][x] = a[N];
      row[RRB_NE][x] = above[1][x] = a[NE];
      above[2][x]                  = a[NW];
      rrb->matrix.nine             = (PetscBool)(rrb->matrix.nine || a[SE] != 0 || a[NE] != 0);
      coupled += a[E] != 0 || a[N] != 0 || a[NE] != 0 || a[SE] != 0;
    }
    PetscCall(put(y, row, ctx));
    for (int f = 0; f < 3; ++f) {
      PetscScalar *t = above[f];

      above[f]  = before[f];
      before[f] = t;
    }
  }
  if (!coupled) rrb->matrix.singular = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
