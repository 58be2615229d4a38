/* Finds the grid of the matrix of PC rrb, checks its rows and passes them to the factorisation. */
#include "rrbimpl.h"
#include "core/refusal.h"
#include "mat/dia.h"
#include <petsc/private/pcimpl.h>
#include <petscdmda.h>

enum {
  MAXOFFSETS = 4
};

/* Line length of a 5- or 9-point stencil in natural order with these offsets above the diagonal, in ascending order */
static PetscInt PCRRBLineOfOffsets_Private(PetscInt n, const PetscInt offset[])
{
  const PetscInt last = offset[n - 1];

  if (n == 1) return last == 1 ? 0 : last; // a single line, or no coupling in x
  if (n == 2 && offset[0] == 1) return last;
  for (PetscInt k = 0; k < n - 1; ++k) {
    if (offset[k] != 1 && offset[k] != last - 1 && offset[k] != last - 2) return -1;
  }
  return last - 1;
}

/* Inserts distance d into the n ascending ones; n = MAXOFFSETS + 1 means too many */
static void PCRRBAddOffset_Private(PetscInt d, PetscInt *n, PetscInt offset[])
{
  PetscInt at = 0;

  if (d <= 0 || *n > MAXOFFSETS) return;
  while (at < *n && offset[at] < d) ++at;
  if (at < *n && offset[at] == d) return;
  for (PetscInt l = (*n)++; l > at; --l) offset[l] = offset[l - 1];
  offset[at] = d;
}

/* Adds the distances of all processes */
static PetscErrorCode PCRRBOffsetsOfAll_Private(PC pc, PetscInt *n, PetscInt offset[])
{
  PetscInt   *others;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PetscMalloc1((MAXOFFSETS + 1) * size, &others));
  PetscCallMPI(MPI_Allgather(offset, MAXOFFSETS + 1, MPIU_INT, others, MAXOFFSETS + 1, MPIU_INT, PetscObjectComm((PetscObject)pc)));
  for (PetscInt k = 0; k < (MAXOFFSETS + 1) * size; ++k) PCRRBAddOffset_Private(others[k], n, offset);
  PetscCall(PetscFree(others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The distances to columns of other processes; their pattern is on the host, too */
static PetscErrorCode PCRRBOffsetsGhosts_Private(const PolderCSR *csr, PetscInt *n, PetscInt offset[])
{
  const PetscInt *bi, *bj;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBegin;
  if (!csr->offdiag || !csr->nghost) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetRowIJ(csr->offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done));
  if (!done) m = 0;
  for (PetscInt i = PolderCSRNextRow(m, bi, 0); i < m; i = PolderCSRNextRow(m, bi, i + 1)) {
    for (PetscInt k = bi[i]; k < bi[i + 1]; ++k) PCRRBAddOffset_Private(csr->garray[bj[k]] - csr->rstart - i, n, offset);
  }
  PetscCall(MatRestoreRowIJ(csr->offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The distances above the diagonal at which rows on the device have entries; explicit zeros count */
static PetscErrorCode PCRRBOffsetsDevice_Private(PC pc, const PolderCSR *csr, PetscInt *n, PetscInt offset[])
{
  const PolderDia *dia;
  PetscInt         nd = 0, *all = NULL;

  PetscFunctionBegin;
  PetscCall(PolderMatGetDeviceDia(pc->pmat, &dia));
  if (dia) nd = dia->nd;
  else if (csr->m) PetscCall(PolderDiaCountDevice(csr->m, csr->m, csr->ai, csr->aj, 2 * MAXOFFSETS + 1, &nd, &all));
  for (PetscInt k = 1; k <= MAXOFFSETS + 1 && nd > 2 * MAXOFFSETS + 1; ++k) PCRRBAddOffset_Private(k, n, offset); // too many, on all processes
  for (PetscInt k = 0; k < nd; ++k) PCRRBAddOffset_Private(dia ? dia->off[k] : all ? all[k] : 0, n, offset);
  PetscCall(PetscFree(all));
  PetscCall(PCRRBOffsetsGhosts_Private(csr, n, offset));
  PetscCall(PCRRBOffsetsOfAll_Private(pc, n, offset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are the distances of row i above the diagonal, those of explicit zeros included, among these? */
static PetscBool PCRRBHasOffsets_Private(const PolderCSR *csr, PetscInt i, PetscInt n, const PetscInt offset[])
{
  for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
    PetscInt at = 0;

    while (at < n && offset[at] != csr->aj[k] - i) ++at;
    if (csr->aj[k] > i && at == n) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The same from the diagonals of a matrix that stores them; *found = PETSC_FALSE: it does not */
static PetscErrorCode PCRRBOffsetsDia_Private(PC pc, const PolderCSR *csr, PetscInt *n, PetscInt offset[], PetscBool *found)
{
  const PolderDia *dia = NULL;

  PetscFunctionBegin;
  if (!csr->bi) PetscCall(PolderMatGetDia(pc->pmat, &dia));
  *found = (PetscBool)(dia && dia->exact);
  for (PetscInt d = 0; *found && d < dia->nd; ++d) {
    PetscInt i = 0;

    if (dia->off[d] <= 0) continue;
    while (i < dia->m - dia->off[d] && dia->val[d][i] == 0) ++i;
    if (i < dia->m - dia->off[d]) PCRRBAddOffset_Private(dia->off[d], n, offset);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same over all processes, on the host; explicit zeros do not count. Rows with the same distances as the one before add none */
static PetscErrorCode PCRRBOffsets_Private(PC pc, const PolderCSR *csr, PetscInt *n, PetscInt offset[])
{
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(PCRRBOffsetsDia_Private(pc, csr, n, offset, &found));
  for (PetscInt i = found ? csr->m : 0, next; i < csr->m && *n <= MAXOFFSETS; i = next) {
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
      if (csr->aa[k] != 0) PCRRBAddOffset_Private(csr->aj[k] - i, n, offset);
    }
    next = *n <= MAXOFFSETS && PCRRBHasOffsets_Private(csr, i, *n, offset) ? PolderCSRNextUnlike(csr->ai, csr->aj, i, csr->m) : i + 1;
  }
  for (PetscInt i = csr->bi ? PolderCSRNextRow(csr->m, csr->bi, 0) : csr->m; i < csr->m; i = PolderCSRNextRow(csr->m, csr->bi, i + 1)) {
    for (PetscInt k = csr->bi[i]; k < csr->bi[i + 1]; ++k) {
      if (csr->ba[k] != 0) PCRRBAddOffset_Private(csr->garray[csr->bj[k]] - csr->rstart - i, n, offset);
    }
  }
  PetscCall(PCRRBOffsetsOfAll_Private(pc, n, offset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host, on the device */
static PetscErrorCode (*const PCRRBOffsetsAt[])(PC, const PolderCSR *, PetscInt *, PetscInt[]) = {PCRRBOffsets_Private, PCRRBOffsetsDevice_Private};

/* Finds the grid by the diagonals of the matrix */
static PetscErrorCode PCRRBGridFromMatrix_Private(PC pc, const PolderCSR *csr)
{
  PC_RRB   *rrb                    = (PC_RRB *)pc->data;
  PetscInt  offset[MAXOFFSETS + 1] = {0}, n = 0;
  PolderCSR host;

  PetscFunctionBegin;
  PetscCall((*PCRRBOffsetsAt[csr->device])(pc, csr, &n, offset));
  rrb->nx = n && n <= MAXOFFSETS ? PCRRBLineOfOffsets_Private(n, offset) : -1;
  if (!rrb->nx) rrb->nx = csr->M;
  if (csr->device && (rrb->nx < 0 || csr->M % rrb->nx)) { // without explicit zeros there may be a grid; only the host ignores them
    PetscCall(PolderMatGetCSR(pc->pmat, &host));
    PetscCall(PCRRBGridFromMatrix_Private(pc, &host));
    PetscCall(PolderMatRestoreCSR(pc->pmat, &host));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(rrb->nx > 0 && csr->M % rrb->nx == 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC of type rrb needs a 5- or 9-point stencil on a 2-D grid, and the diagonals of this matrix are not those of one in natural order: use "
             "-pc_rrb_grid nx,ny if it is one, else another preconditioner");
  rrb->ny = csr->M / rrb->nx;
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
  PetscCheck(n[2] == 1, comm, PETSC_ERR_SUP,
             "PC of type rrb works on 2-D grids, and the DMDA has %" PetscInt_FMT " by %" PetscInt_FMT " by %" PetscInt_FMT
             " nodes: use another preconditioner",
             n[0], n[1], n[2]);
  PetscCheck(dof == 1, comm, PETSC_ERR_SUP,
             "PC of type rrb works with one unknown a node, and the DMDA has %" PetscInt_FMT ": use -pc_type fieldsplit with rrb for each field", dof);
  PetscCheck(b[0] != DM_BOUNDARY_PERIODIC && (dim < 2 || b[1] != DM_BOUNDARY_PERIODIC), comm, PETSC_ERR_SUP,
             "PC of type rrb has no periodic grids, and the DMDA is one: use another preconditioner");
  PetscCheck(n[0] * n[1] == rows, comm, PETSC_ERR_ARG_SIZ,
             "The DMDA has %" PetscInt_FMT " by %" PetscInt_FMT " nodes and the matrix %" PetscInt_FMT " rows: use -pc_rrb_grid nx,ny", n[0], n[1], rows);
  rrb->nx = n[0];
  rrb->ny = n[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does this DMDA have the size of the grid, so that the rows are in its order? */
static PetscErrorCode PCRRBOrderedByDM_Private(const PC_RRB *rrb, DM dm, PetscBool *ordered)
{
  PetscInt n[3], dof;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  *ordered = (PetscBool)(n[0] == rrb->nx && n[0] * n[1] * n[2] * dof == rrb->nx * rrb->ny);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFindGrid(PC pc, const PolderCSR *csr)
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
    PetscCheck(rrb->given[0] <= csr->M && csr->M % rrb->given[0] == 0 && csr->M / rrb->given[0] == rrb->given[1], PetscObjectComm((PetscObject)pc),
               PETSC_ERR_ARG_SIZ, "The grid given to PC of type rrb has %" PetscInt_FMT " by %" PetscInt_FMT " nodes and the matrix %" PetscInt_FMT " rows",
               rrb->given[0], rrb->given[1], csr->M);
    rrb->nx     = rrb->given[0];
    rrb->ny     = rrb->given[1];
    rrb->origin = RRB_GRID_GIVEN;
  } else if (da) {
    PetscCall(PCRRBGridFromDM_Private(pc, dm, csr->M));
    rrb->origin = RRB_GRID_DM;
  } else {
    PetscCall(PCRRBGridFromMatrix_Private(pc, csr));
    rrb->origin = RRB_GRID_MATRIX;
  }
  if (da) PetscCall(PCRRBOrderedByDM_Private(rrb, dm, &da));
  PetscCall(PCRRBRowsCreate(pc, da ? dm : NULL, csr));
  PetscCall(PCRRBRanksFree(&rrb->ranks));
  PetscCall(PCRRBWholeFree(&rrb->whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a node by direction */
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

/* Compressed columns of a block; node[j]: node of column j; NULL: node j */
typedef struct {
  const PetscInt    *aj;
  const PetscScalar *aa;
  const PetscInt    *node;
} RRBColumns;

/* Is this the row of a 5-point stencil of node i inside its line? */
static inline PetscBool PCRRBIsFive_Private(PetscInt begin, PetscInt end, RRBColumns block, PetscInt i, PetscInt first, PetscInt ld)
{
  const PetscInt *j = block.aj + begin;

  if (end - begin != 5 || block.node || i <= first || i + 1 >= first + ld) return PETSC_FALSE;
  return (PetscBool)((j[0] == i - ld) & (j[1] == i - 1) & (j[2] == i) & (j[3] == i + 1) & (j[4] == i + ld));
}

/* Adds the entries of node i, on the line of ld nodes that begins with node `first`. Returns the first entry that does not couple neighbours, or end */
static inline PetscInt PCRRBAddEntries_Private(PetscInt begin, PetscInt end, RRBColumns block, PetscInt i, PetscInt first, PetscInt ld, PetscScalar a[])
{
  if (PCRRBIsFive_Private(begin, end, block, i, first, ld)) {
    a[S]      = block.aa[begin];
    a[W]      = block.aa[begin + 1];
    a[CENTRE] = block.aa[begin + 2];
    a[E]      = block.aa[begin + 3];
    a[N]      = block.aa[begin + 4];
    return end;
  }
  for (PetscInt k = begin; k < end; ++k) {
    const PetscInt j = block.node ? block.node[block.aj[k]] : block.aj[k], up = j >= first + ld, down = j < first, dx = j - i - (up ? ld : 0) + (down ? ld : 0);

    if (block.aa[k] == 0) continue;
    if (dx < -1 || dx > 1 || (up && j >= first + 2 * ld) || (down && j < first - ld)) return k;
    a[(up - down + 1) * 3 + dx + 1] = block.aa[k];
  }
  return end;
}

/* Entries of node (x, y), which must be in the line; returns the first column that is not a neighbour on the grid, or -1 */
static inline PetscInt PCRRBEntries_Private(const PC_RRB *rrb, const PolderCSR *csr, const RRBLine *line, PetscInt x, PetscInt y, PetscScalar a[])
{
  const PetscInt i = line->row + x - line->a;
  PetscInt       k;

  for (int d = 0; d < RRB_NENTRY; ++d) a[d] = 0;
  k = PCRRBAddEntries_Private(csr->ai[i], csr->ai[i + 1], (RRBColumns){csr->aj, csr->aa, NULL}, i, line->first, line->ld, a);
  if (k < csr->ai[i + 1]) return csr->rstart + csr->aj[k];
  if (!csr->bi) return -1;
  k = PCRRBAddEntries_Private(csr->bi[i], csr->bi[i + 1], (RRBColumns){csr->bj, csr->ba, rrb->rows.ghost}, y * rrb->nx + x, y * rrb->nx, rrb->nx, a);
  return k < csr->bi[i + 1] ? csr->garray[csr->bj[k]] : -1;
}

/* Reasons why a node cannot be used */
typedef enum {
  NODE_GOOD,
  NODE_NOTFINITE,
  NODE_ZERO,
  NODE_NEGATIVE,
  NODE_UNSYMMETRIC,
  NODE_STRAY
} RRBNodeKind;

/* The first node that cannot be used, PETSC_MAX_INT: none; column: the column that it couples to */
typedef struct {
  PetscInt    node, column;
  RRBNodeKind kind;
} RRBFault;

/* Records a node that cannot be used, if it is the first one */
static void PCRRBAddFault_Private(RRBFault *fault, RRBNodeKind kind, PetscInt node, PetscInt column)
{
  if (kind != NODE_GOOD && node < fault->node) *fault = (RRBFault){.node = node, .column = column, .kind = kind};
}

/* Sends rows to the processes that read them */
static PetscErrorCode PCRRBFetchRows_Private(PC_RRB *rrb, const PolderCSR *csr, RRBFault *fault)
{
  RRBRanks *ranks = &rrb->ranks;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < ranks->nsend; ++k) {
    const PetscInt node = PCRRBNodeOfRow(rrb, csr->rstart + ranks->send[k]), y = node / rrb->nx;
    const RRBLine  line  = PCRRBLine(rrb, y);
    const PetscInt stray = PCRRBEntries_Private(rrb, csr, &line, node % rrb->nx, y, ranks->sent + RRB_NENTRY * k);

    PCRRBAddFault_Private(fault, stray < 0 ? NODE_GOOD : NODE_STRAY, node, stray);
  }
  PetscCall(PetscSFBcastBegin(ranks->fetch, ranks->unit, ranks->sent, ranks->fetched, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(ranks->fetch, ranks->unit, ranks->sent, ranks->fetched, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records the properties that the pivots depend on, and returns why the node cannot be used */
static RRBNodeKind PCRRBCheckNode_Private(RRBMatrix *matrix, PetscInt node, const PetscScalar a[])
{
  PetscReal sum = 0, size = 0, above = 0;

  for (int d = 0; d < RRB_NENTRY; ++d) {
    sum += PetscRealPart(a[d]);
    if (d == CENTRE) continue;
    size += PetscAbsScalar(a[d]);
    above = PetscMax(above, PetscRealPart(a[d]));
  }
  if (!(PetscRealPart(a[CENTRE]) > 0) || !(PetscAbsReal(sum) + size <= PETSC_MAX_REAL)) {
    if (PetscIsInfOrNanReal(sum) || PetscIsInfOrNanReal(size)) return NODE_NOTFINITE;
    return a[CENTRE] == 0 ? NODE_ZERO : NODE_NEGATIVE;
  }
  if (above > 1e-12 * PetscRealPart(a[CENTRE])) matrix->positive = PetscMin(matrix->positive, node);
  if (sum < -1e-10 * PetscRealPart(a[CENTRE])) matrix->deficit = PetscMin(matrix->deficit, node);
  if (size > 0 && PetscAbsReal(sum) > 1e-10 * PetscRealPart(a[CENTRE])) matrix->singular = PETSC_FALSE;
  return NODE_GOOD;
}

/* Combines the findings of all processes; refuses the matrix for the first node that cannot be used */
static PetscErrorCode PCRRBCheckMatrix_Private(PC pc, RRBFault *fault, PetscBool coupled)
{
  PC_RRB    *rrb      = (PC_RRB *)pc->data;
  RRBMatrix *matrix   = &rrb->matrix;
  MPI_Comm   comm     = PetscObjectComm((PetscObject)pc);
  PetscInt   least[6] = {fault->node, matrix->positive, matrix->deficit, !matrix->nine, matrix->singular, !coupled}, what[2] = {0, -1}, row;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, least, 6, MPIU_INT, MPI_MIN, comm);
  matrix->positive = least[1] == PETSC_MAX_INT ? -1 : least[1];
  matrix->deficit  = least[2] == PETSC_MAX_INT ? -1 : least[2];
  matrix->nine     = (PetscBool)!least[3];
  matrix->singular = (PetscBool)(least[4] && !least[5]);
  if (least[0] == PETSC_MAX_INT) PetscFunctionReturn(PETSC_SUCCESS);
  if (fault->node == least[0]) {
    what[0] = (PetscInt)fault->kind;
    what[1] = fault->column;
  }
  PetscCallAllreduce(MPI_IN_PLACE, what, 2, MPIU_INT, MPI_MAX, comm);
  row = PCRRBRowOfNode(rrb, least[0]);
  switch (what[0]) {
  case NODE_STRAY:
    SETERRQ(comm, PETSC_ERR_SUP,
            "PC of type rrb needs a 5- or 9-point stencil, and entry (%" PetscInt_FMT ", %" PetscInt_FMT ") joins no neighbours on the grid of %" PetscInt_FMT
            " by %" PetscInt_FMT " nodes: use -pc_rrb_grid nx,ny if the grid is another one, else another preconditioner",
            row, what[1], rrb->nx, rrb->ny);
  case NODE_NOTFINITE:
    PetscCall(PolderPCRefuseRow(pc, PCRRB, row, POLDER_ROW_NOTFINITE));
    break;
  case NODE_ZERO:
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_ARG_WRONG,
                   "PC of type rrb needs a positive diagonal and that of row %" PetscInt_FMT
                   " is zero or missing: put a one on the diagonal of rows without unknown",
                   row);
    break;
  case NODE_NEGATIVE:
    PetscCall(PolderPCRefuseRow(pc, PCRRB, row, POLDER_ROW_NEGATIVE));
    break;
  default:
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_WRONG,
                   "PC of type rrb needs a symmetric matrix, and row %" PetscInt_FMT
                   " differs from its column: use MatZeroRowsColumns() for known values, or another preconditioner",
                   row);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* State of a visit to the rows of the matrix, line by line: the current line, its couplings to N, NE and NW, those of the previous line, and the findings */
typedef struct {
  PetscScalar       *row[RRB_NROW], *above[3], *before[3];
  const PetscScalar *fetched; /* the next row that comes from another process */
  const PolderDia   *dia;     /* the diagonals of a 5-point matrix in natural order, where it stores them; else NULL */
  RRBFault           fault;
  PetscBool          coupled, diagonal; /* a coupling; one to NE or NW */
} RRBVisit;

/* Reads node (x, y), of this line where its row is on this process. Nodes outside of the box serve only for comparison */
static inline void PCRRBVisitNode_Private(PC_RRB *rrb, const PolderCSR *csr, const RRBBox *box, const RRBLine *line, PetscInt x, PetscInt y, RRBVisit *visit)
{
  PetscScalar *const *const row = visit->row, *const *const above = visit->above, *const *const before = visit->before;
  const PetscInt     u = x - box->x0, node = y * rrb->nx + x;
  RRBMatrix         *matrix = &rrb->matrix;
  PetscScalar        own[RRB_NENTRY];
  const PetscScalar *a     = own;
  PetscInt           stray = -1;

  if (x >= line->a && x < line->b) stray = PCRRBEntries_Private(rrb, csr, line, x, y, own);
  else {
    a = visit->fetched;
    visit->fetched += RRB_NENTRY;
  }
  if (y >= box->y0 && x >= box->x0 && x < box->x1) {
    const PetscBool west = PolderRRBDiffers(a[W], row[RRB_E][u - 1], a[CENTRE]), south = PolderRRBDiffers(a[S], before[0][u], a[CENTRE]);
    const PetscBool southwest = PolderRRBDiffers(a[SW], before[1][u - 1], a[CENTRE]);
    const PetscBool southeast = PolderRRBDiffers(a[SE], before[2][u + 1], a[CENTRE]);
    RRBNodeKind     kind      = stray < 0 ? PCRRBCheckNode_Private(matrix, node, a) : NODE_STRAY;

    if (kind == NODE_GOOD && (west || south || southwest || southeast)) kind = NODE_UNSYMMETRIC;
    PCRRBAddFault_Private(&visit->fault, kind, node, stray);
    matrix->nine   = (PetscBool)(matrix->nine || a[SE] != 0 || a[NE] != 0);
    visit->coupled = (PetscBool)(visit->coupled || a[E] != 0 || a[N] != 0 || a[NE] != 0 || a[SE] != 0);
  }
  row[RRB_C][u]  = a[CENTRE];
  row[RRB_E][u]  = a[E];
  row[RRB_SE][u] = a[SE];
  row[RRB_N][u] = above[0][u] = a[N];
  row[RRB_NE][u] = above[1][u] = a[NE];
  above[2][u]                  = a[NW];
  if (a[NE] != 0 || a[NW] != 0) visit->diagonal = PETSC_TRUE;
}

/* One of the five entries of each of n rows */
static void PCRRBOneOfFive_Private(PetscInt n, const PetscScalar *restrict aa, PetscScalar *restrict entry)
{
  for (PetscInt u = 0; u < n; ++u) entry[u] = aa[5 * u];
}

/* What PCRRBVisitNode_Private() looks for, in n nodes whose entries are in these arrays: bits FIVE_... for what one of them has */
enum {
  FIVE_FAULT    = 1,
  FIVE_POSITIVE = 2,
  FIVE_DEFICIT  = 4,
  FIVE_REGULAR  = 8, /* couplings, and a sum that is not zero */
  FIVE_COUPLED  = 16
};

static int PCRRBLookAtFive_Private(PetscInt n, const PetscScalar *restrict south, const PetscScalar *restrict s, const PetscScalar *restrict w,
                                   const PetscScalar *restrict c, const PetscScalar *restrict e, const PetscScalar *restrict north)
{
  PetscInt64 seen = 0;

  for (PetscInt u = 0; u < n; ++u) {
    const PetscReal sum   = s[u] + w[u] + c[u] + e[u] + north[u];
    const PetscReal size  = PolderRRBAbs(s[u]) + PolderRRBAbs(w[u]) + PolderRRBAbs(e[u]) + PolderRRBAbs(north[u]);
    const PetscReal above = PetscMax(PetscMax(s[u], w[u]), PetscMax(e[u], north[u]));
    const int       good  = (c[u] > 0) & (PolderRRBAbs(sum) + size <= PETSC_MAX_REAL);

    seen |= good & !PolderRRBDiffers(w[u], e[u - 1], c[u]) & !PolderRRBDiffers(s[u], south[u], c[u]) ? 0 : FIVE_FAULT;
    seen |= above > 1e-12 * c[u] ? FIVE_POSITIVE : 0;
    seen |= sum < -1e-10 * c[u] ? FIVE_DEFICIT : 0;
    seen |= (size > 0) & (PolderRRBAbs(sum) > 1e-10 * c[u]) ? FIVE_REGULAR : 0;
    seen |= (e[u] != 0) | (north[u] != 0) ? FIVE_COUPLED : 0;
  }
  return (int)seen;
}

/* entry[k][u] <- the entries, from S to N, of n nodes from node i on, if they have the rows of a 5-point stencil; in diagonals or, from compressed rows, in
   space[k] */
static PetscBool PCRRBFindFive_Private(const PolderCSR *csr, const RRBLine *line, const PolderDia *dia, PetscInt i, PetscInt n, PetscScalar *const space[5],
                                       const PetscScalar *entry[5])
{
  const PetscInt *ai = csr->ai;

  if (csr->bi && csr->bi[i] < csr->bi[i + n]) return PETSC_FALSE;
  if (dia && (i < line->ld || i + n + line->ld > dia->m)) return PETSC_FALSE;
  for (int k = 0; k < 5 && dia; ++k) entry[k] = dia->val[k] + i;
  if (dia) return PETSC_TRUE;
  if (!PCRRBIsFive_Private(ai[i], ai[i + 1], (RRBColumns){csr->aj, csr->aa, NULL}, i, line->first, line->ld)) return PETSC_FALSE;
  if (PolderCSRNextUnlike(ai, csr->aj, i, i + n) < i + n) return PETSC_FALSE;
  for (int k = 0; k < 5; ++k) {
    PCRRBOneOfFive_Private(n, csr->aa + ai[i] + k, space[k]);
    entry[k] = space[k];
  }
  return PETSC_TRUE;
}

/*
  Does PCRRBVisitNode_Private() for all nodes of a line but its ends, if they have the rows of a 5-point stencil, and nothing is recorded for one of them.
  Otherwise returns PETSC_FALSE, with couplings of these nodes that have no meaning
*/
static PetscBool PCRRBVisitFive_Private(PC_RRB *rrb, const PolderCSR *csr, const RRBBox *box, const RRBLine *line, RRBVisit *visit)
{
  const PetscInt     n = box->x1 - box->x0 - 2, i = line->row + box->x0 - line->a + 1;
  PetscScalar *const row[RRB_NROW] = {visit->row[RRB_C] + 1, visit->row[RRB_E] + 1, visit->row[RRB_N] + 1, visit->row[RRB_NE] + 1, visit->row[RRB_SE] + 1};
  PetscScalar *const s = row[RRB_NE], *const w = row[RRB_SE]; /* until they are zero */
  PetscScalar *const space[5] = {s, w, row[RRB_C], row[RRB_E], row[RRB_N]};
  const PetscScalar *entry[5];
  int                seen;

  if (n < 1 || line->a > box->x0 || line->b < box->x1 || visit->diagonal || !PCRRBFindFive_Private(csr, line, visit->dia, i, n, space, entry))
    return PETSC_FALSE;
  seen = PCRRBLookAtFive_Private(n, visit->before[0] + 1, entry[0], entry[1], entry[2], entry[3], entry[4]);
  if (seen & FIVE_FAULT || (seen & FIVE_POSITIVE && rrb->matrix.positive == PETSC_MAX_INT) || (seen & FIVE_DEFICIT && rrb->matrix.deficit == PETSC_MAX_INT))
    return PETSC_FALSE;
  if (seen & FIVE_REGULAR) rrb->matrix.singular = PETSC_FALSE;
  if (seen & FIVE_COUPLED) visit->coupled = PETSC_TRUE;
  for (int k = 2; k < 5 && visit->dia; ++k) memcpy(space[k], entry[k], sizeof(**space) * (size_t)n);
  for (PetscInt u = 0; u < n; ++u) visit->above[0][u + 1] = row[RRB_N][u];
  for (int f = 1; f < 3; ++f) {
    for (PetscInt u = 0; u < n; ++u) visit->above[f][u + 1] = 0;
  }
  for (PetscInt u = 0; u < n; ++u) s[u] = w[u] = 0;
  return PETSC_TRUE;
}

/* Reads line y of the nodes that this process reads. Couplings to N, NE and NW go to above[]; those of the previous line are in before[]; index x - x0 */
static void PCRRBVisitLine_Private(PC_RRB *rrb, const PolderCSR *csr, PetscInt y, RRBVisit *visit)
{
  const RRBBox  box = PCRRBBox(rrb, 0), reach = PCRRBReach(rrb);
  const RRBLine line = PCRRBLine(rrb, y);
  PetscInt      x    = reach.x0;

  while (x < PetscMin(box.x0 + 1, reach.x1)) PCRRBVisitNode_Private(rrb, csr, &box, &line, x++, y, visit);
  if (y >= box.y0 && PCRRBVisitFive_Private(rrb, csr, &box, &line, visit)) x = box.x1 - 1;
  for (; x < reach.x1; ++x) PCRRBVisitNode_Private(rrb, csr, &box, &line, x, y, visit);
}

/* *dia: the diagonals of a matrix on one process whose stencil has five points, in natural order, if it stores them as they are; else NULL */
static PetscErrorCode PCRRBFiveDiagonals_Private(PC pc, const PolderDia **dia)
{
  const PC_RRB  *rrb      = (const PC_RRB *)pc->data;
  const PetscInt offset[] = {-rrb->nx, -1, 0, 1, rrb->nx};

  PetscFunctionBegin;
  *dia = NULL;
  if (rrb->ranks.size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDia(pc->pmat, dia));
  if (*dia && (!(*dia)->exact || (*dia)->nd != 5)) *dia = NULL;
  for (PetscInt d = 0; d < 5 && *dia; ++d) {
    if ((*dia)->off[d] != offset[d]) *dia = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBVisitRows(PC pc, const PolderCSR *csr, PetscScalar work[], PetscErrorCode (*put)(PetscInt, PetscScalar *const[], void *), void *ctx)
{
  PC_RRB      *rrb = (PC_RRB *)pc->data;
  const RRBBox box = PCRRBBox(rrb, 0), reach = PCRRBReach(rrb);
  const size_t ld    = (size_t)(box.x1 - box.x0) + 2;
  RRBVisit     visit = {.fetched = rrb->ranks.fetched, .fault = {.node = PETSC_MAX_INT}};

  PetscFunctionBegin;
  for (int f = 0; f < RRB_NROW; ++f) visit.row[f] = work + ld * f + 1;
  for (int f = 0; f < 3; ++f) {
    visit.above[f]  = work + ld * (RRB_NROW + f) + 1;
    visit.before[f] = work + ld * (RRB_NROW + 3 + f) + 1;
  }
  PetscCall(PCRRBFiveDiagonals_Private(pc, &visit.dia));
  rrb->matrix = (RRBMatrix){.nine = PETSC_FALSE, .singular = PETSC_TRUE, .positive = PETSC_MAX_INT, .deficit = PETSC_MAX_INT};
  if (rrb->ranks.size) PetscCall(PCRRBFetchRows_Private(rrb, csr, &visit.fault));
  for (PetscInt y = reach.y0; y < reach.y1 && y <= visit.fault.node / rrb->nx; ++y) {
    PCRRBVisitLine_Private(rrb, csr, y, &visit);
    if (y >= box.y0) PetscCall(put(y - box.y0, visit.row, ctx));
    for (int f = 0; f < 3; ++f) {
      PetscScalar *t = visit.above[f];

      visit.above[f]  = visit.before[f];
      visit.before[f] = t;
    }
  }
  PetscCall(PCRRBCheckMatrix_Private(pc, &visit.fault, visit.coupled));
  PetscFunctionReturn(PETSC_SUCCESS);
}
