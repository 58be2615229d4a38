/*
  PC rrb on several GPUs: each has the whole grid. Its rows are gathered in the set-up, and a vector before it is used; each process takes its own rows of the
  result. So the preconditioner is that of one GPU.
*/
#include "rrbimpl.h"
#include "core/peers.h"
#include <petsc/private/pcimpl.h>

/* The directions to a node itself and to its neighbours on the axes */
#define RRB_CROSS 5

PetscErrorCode PCRRBWholeFree(RRBWhole *whole)
{
  PetscFunctionBegin;
  PetscCall(PCRRBSharedFree(&whole->shared));
  PetscCall(PolderReplicaDestroy(&whole->replica));
  PetscCall(PolderDeviceFree(&whole->node));
  PetscCall(PolderDeviceFree(&whole->own));
  PetscCall(PolderDeviceFree(&whole->rows));
  PetscCall(PolderDeviceFree(&whole->r));
  PetscCall(PolderDeviceFree(&whole->z));
  *whole = (RRBWhole){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The box of this process, and where its values are on the grid; natural order: lines = NULL */
static PolderRRBOwn PCRRBWholeOwn_Private(const PC_RRB *rrb, PolderReplicaLines *lines)
{
  const RRBRows  *rows = &rrb->rows;
  const PetscInt *x = rows->natural ? NULL : rows->start[0] + rows->rank % rows->np[0], *y = rows->natural ? NULL : rows->start[1] + rows->rank / rows->np[0];
  PolderRRBOwn    own = {.nx = rrb->nx, .width = rrb->nx};

  if (rows->natural) own.begin = rows->range[rows->rank];
  else {
    own.x0    = x[0];
    own.y0    = y[0];
    own.width = PetscMax(x[1] - x[0], 1);
    *lines    = (PolderReplicaLines){.first = y[0] * rrb->nx + x[0], .width = own.width, .ld = rrb->nx};
  }
  return own;
}

/* Makes what gathers values, once for each pattern. *done = PETSC_FALSE, on all processes: they cannot have the whole grid each */
static PetscErrorCode PCRRBWholeCreate_Private(PC pc, const PolderCSR *csr, PetscBool *done)
{
  PC_RRB            *rrb   = (PC_RRB *)pc->data;
  RRBWhole          *whole = &rrb->whole;
  PolderReplicaLines lines;
  PetscInt           least;

  PetscFunctionBegin;
  *done = (PetscBool)(whole->replica != NULL);
  PetscCall(PolderPeersGetLeastRows(PetscObjectComm((PetscObject)pc), &least));
  if (*done || rrb->nx < 3 || !least) PetscFunctionReturn(PETSC_SUCCESS); // on narrower grids two directions have the same distance
  whole->box = PCRRBWholeOwn_Private(rrb, &lines);
  PetscCall(PolderReplicaCreate(PetscObjectComm((PetscObject)pc), csr->m, RRB_CROSS * csr->m, rrb->rows.natural ? NULL : &lines, &whole->replica));
  *done = (PetscBool)(whole->replica != NULL);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)csr->nghost, rrb->rows.ghost, &whole->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a change of what is shared: r and z, and edges of the factor that are not zero yet. Without sharing a vector of own rows alone is used with zeros */
static PetscErrorCode PCRRBWholeVecs_Private(PC_RRB *rrb)
{
  RRBWhole    *whole = &rrb->whole;
  const size_t bytes = sizeof(PetscScalar) * (size_t)rrb->nx * (size_t)rrb->ny;

  PetscFunctionBegin;
  if (!whole->r) PetscCall(PolderDeviceMalloc(bytes, &whole->r));
  if (!whole->z) PetscCall(PolderDeviceMalloc(bytes, &whole->z));
  if (whole->shared.ngrid) PetscCall(PCRRBSharedClear(rrb, whole->z));
  else {
    PetscCall(PolderDeviceZero(whole->r, bytes));
    PetscCall(PolderDeviceZero(whole->z, bytes));
  }
  rrb->device.filled = PETSC_FALSE; // other lines are written, and have a border of zeros
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bits that were seen on any process */
static PetscErrorCode PCRRBWholeSeen_Private(PC pc, const int *onboard, int *seen)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(seen, onboard, sizeof(*seen)));
  PetscCallAllreduce(MPI_IN_PLACE, seen, 1, MPI_INT, MPI_BOR, PetscObjectComm((PetscObject)pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A direction to a neighbour on a diagonal of the grid */
static PetscBool RRBIsCorner(int d)
{
  return (PetscBool)(d % 2 == 0 && d != RRB_TO_SELF);
}

/* entry[d] <- the entries of own rows in direction d. Where lines are shared they come to their places in whole.rows, without corners; else to whole.own, where
   those of corners are the last ones */
static PetscErrorCode PCRRBWholeOwnRows_Private(PC pc, const PolderCSR *csr, PetscScalar *entry[], int *seen)
{
  PC_RRB         *rrb    = (PC_RRB *)pc->data;
  RRBWhole       *whole  = &rrb->whole;
  const PetscBool shared = (PetscBool)(whole->shared.ngrid > 0);
  const size_t    m = (size_t)csr->m, N = (size_t)csr->M, n = shared ? 0 : POLDER_RRB_DIRECTIONS * m;
  PetscScalar    *rows, *corners;
  PolderStream    stream;
  int            *onboard;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (n + 1), &whole->own));
  if (shared) PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * N * RRB_CROSS, &whole->rows));
  onboard = (int *)(whole->own + n);
  rows    = shared ? whole->rows + rrb->rows.range[rrb->rows.rank] : whole->own;
  corners = shared ? NULL : whole->own + RRB_CROSS * m;
  PetscCall(PolderDeviceZero(onboard, sizeof(*onboard)));
  for (int d = 0; d < POLDER_RRB_DIRECTIONS; ++d) {
    entry[d] = RRBIsCorner(d) ? corners : rows;
    if (!RRBIsCorner(d)) rows += shared ? N : m;
    else if (corners) corners += m;
  }
  PolderLaunch(PolderRRBOwnRows_CUDA(&whole->box, PolderOwnRows(csr), PolderGhostColumns(csr), whole->node, entry, onboard, stream));
  PetscCall(PCRRBWholeSeen_Private(pc, onboard, seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of the whole matrix, or of the lines that this process needs; *good = PETSC_FALSE, on all processes: an entry couples no neighbours, or lines
   are shared and the matrix has nine points */
static PetscErrorCode PCRRBWholeRows_Private(PC pc, const PolderCSR *csr, PetscBool *good)
{
  PC_RRB         *rrb                          = (PC_RRB *)pc->data;
  RRBWhole       *whole                        = &rrb->whole;
  const PetscBool shared                       = (PetscBool)(whole->shared.ngrid > 0);
  const size_t    N                            = (size_t)csr->M;
  PetscScalar    *entry[POLDER_RRB_DIRECTIONS] = {NULL};
  int             seen                         = 0;
  PetscInt        n                            = 0;
  PetscBool       nine, joined; // the entries of all directions are gathered as one

  PetscFunctionBegin;
  PetscCall(PCRRBWholeOwnRows_Private(pc, csr, entry, &seen));
  *good  = (PetscBool) !(seen & (RRB_SEEN_BAD | (shared ? RRB_SEEN_NINE : 0)));
  nine   = (PetscBool) !!(seen & RRB_SEEN_NINE);
  joined = (PetscBool)(!shared && !nine && rrb->rows.natural);
  if (*good && !shared) PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * N * (nine ? POLDER_RRB_DIRECTIONS : RRB_CROSS), &whole->rows));
  if (*good && joined) PetscCall(PolderReplicaGatherColumns(whole->replica, RRB_CROSS, whole->own, whole->rows));
  for (int d = 0; d < POLDER_RRB_DIRECTIONS && *good; ++d) {
    PetscScalar *all = whole->rows + (size_t)n * N;

    if (RRBIsCorner(d) && !nine) continue;
    if (shared) PetscCall(PolderReplicaSpread(whole->shared.rows, all));
    else if (!joined) PetscCall(PolderReplicaGather(whole->replica, entry[d], all));
    whole->off[n]   = (d / 3 - 1) * rrb->nx + d % 3 - 1;
    whole->val[n++] = all;
  }
  whole->dia = (PolderDia){.m = csr->M, .n = csr->M, .nd = n, .off = whole->off, .val = whole->val, .main = n / 2};
  PetscCall(PolderDeviceFree(&whole->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBWholeFactor_Private(PC pc, const PolderCSR *csr)
{
  PC_RRB         *rrb   = (PC_RRB *)pc->data;
  const PolderCSR whole = {.m = csr->M, .M = csr->M, .device = PETSC_TRUE};
  PetscBool       good  = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCRRBWholeRows_Private(pc, csr, &good));
  if (good) PetscCall(PCRRBFactorDevice(pc, &whole, &rrb->whole.dia));
  PetscCall(PolderDeviceFree(&rrb->whole.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBWholeSetUp(PC pc, const PolderCSR *csr, PetscBool *done)
{
  PC_RRB    *rrb    = (PC_RRB *)pc->data;
  RRBShared *shared = &rrb->whole.shared;
  PetscInt   before;

  PetscFunctionBegin;
  PetscCall(PCRRBUpdateGrid(pc, csr));
  before = rrb->whole.r ? shared->ngrid : -1;
  PetscCall(PCRRBWholeCreate_Private(pc, csr, done));
  if (*done) PetscCall(PCRRBLayoutDevice(pc, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBSharedSetUp(pc));
  if (shared->ngrid != before) PetscCall(PCRRBWholeVecs_Private(rrb));
  PetscCall(PCRRBWholeFactor_Private(pc, csr));
  if (rrb->device.valid || !shared->ngrid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBSharedFree(shared)); // nine points, or a pivot that only a part has
  PetscCall(PCRRBWholeVecs_Private(rrb));
  PetscCall(PCRRBWholeFactor_Private(pc, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBWholeGather(PC_RRB *rrb, const PetscScalar own[], const PetscScalar **all)
{
  PetscFunctionBegin;
  *all = own;
  if (!rrb->whole.replica) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderReplicaGather(rrb->whole.replica, own, rrb->whole.r));
  *all = rrb->whole.r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBWholePut(PC_RRB *rrb, const PetscScalar own[], const PetscScalar **all)
{
  PetscFunctionBegin;
  *all = own;
  if (!rrb->whole.replica) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderReplicaPut(rrb->whole.replica, own, rrb->whole.r));
  *all = rrb->whole.r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscScalar *PCRRBWholeResult(const PC_RRB *rrb, PetscScalar own[])
{
  return rrb->whole.replica ? rrb->whole.z : own;
}

PetscErrorCode PCRRBWholeTake(PC_RRB *rrb, PetscScalar own[])
{
  PetscFunctionBegin;
  if (rrb->whole.replica) PetscCall(PolderReplicaTake(rrb->whole.replica, rrb->whole.z, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}
