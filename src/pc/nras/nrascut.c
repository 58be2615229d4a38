/* Cuts the rows of a process into parts: by METIS, into runs of rows, or into boxes of a structured grid. */
#include "nrasimpl.h"
#include "deflation/deflationlabels.h"
#include "kernels/labelrow.h"

/* METIS works on aggregates of rows, at least this many for each block: more make smoother and more equal blocks, and take longer */
#define NRAS_METIS_VERTICES 64

static PetscErrorCode NRASCutRows_Private(PetscInt m, PetscInt bs, PetscInt nblock, PetscInt part[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; ++i) part[i] = (PetscInt)((PetscInt64)(i / bs) * nblock / (m / bs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points of the grid that the rows of this process lie in: corner lo[] and size n[] of their box */
static void NRASGridBox(const PolderGrid *grid, const PolderCSR *csr, PetscInt lo[3], PetscInt n[3])
{
  const PetscInt d = grid->dim - 1, stride = d == 2 ? grid->n[0] * grid->n[1] : d == 1 ? grid->n[0] : 1;

  for (int k = 0; k < 3; ++k) {
    lo[k] = grid->natural ? 0 : grid->s[k];
    n[k]  = grid->natural ? grid->n[k] : grid->m[k];
  }
  if (!grid->natural || !csr->m) return;
  lo[d] = grid->rstart / grid->dof / stride;
  n[d]  = (grid->rstart + csr->m - 1) / grid->dof / stride - lo[d] + 1;
}

/* At most nblock boxes of a grid of n[] points, nearly cubes, and where these are fewer, more of them in the directions in which they are longest */
static void NRASChooseBoxes(const PolderGrid *here, PetscInt nblock, PetscInt boxes[3])
{
  PetscBool more = PETSC_TRUE;

  PolderGridChooseBoxes(here, nblock, boxes);
  while (more) {
    int longest = -1;

    for (int d = 0; d < 3; ++d) {
      const PetscInt count = boxes[0] * boxes[1] * boxes[2] / boxes[d] * (boxes[d] + 1);

      if (count > nblock || boxes[d] == here->n[d]) continue;
      if (longest < 0 || here->n[d] * boxes[longest] > here->n[longest] * boxes[d]) longest = d;
    }
    more = (PetscBool)(longest >= 0);
    if (more) ++boxes[longest];
  }
}

static PetscErrorCode NRASCutBoxes_Private(const PolderGrid *grid, const PolderCSR *csr, PetscInt nblock, PetscInt part[])
{
  PolderGrid     here  = *grid;
  PolderGridPart piece = {.dof = grid->dof};
  PetscInt       lo[3], boxes[3];

  PetscFunctionBegin;
  NRASGridBox(grid, csr, lo, here.n);
  NRASChooseBoxes(&here, nblock, boxes);
  if (grid->natural) piece.first = grid->rstart - grid->dof * (lo[0] + here.n[0] * (lo[1] + here.n[1] * lo[2])); // lo[] is zero but in the last direction
  for (int k = 0; k < 3; ++k) piece.hi[k] = piece.n[k] = here.n[k];
  PolderGridBoxes_Host(csr->m, &piece, boxes, part);
  for (PetscInt i = 0; grid->dof > 1 && i < csr->m; ++i) part[i] /= grid->dof;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASFindGrid(PC pc, const PolderCSR *csr)
{
  PC_NRAS        *nras    = (PC_NRAS *)pc->data;
  PolderGrid     *grid    = &nras->grid;
  PolderLabelRows rows    = {.comm  = PetscObjectComm((PetscObject)pc),
                             .A     = pc->pmat,
                             .csr   = csr,
                             .place = PolderPlaceOf(csr->device),
                             .steps = csr->device ? &PolderLabelsOnDevice : &PolderLabelsOnHost};
  const PetscBool several = (PetscBool)(nras->set.blocks > 1 || (nras->set.blocks == PETSC_DECIDE && nras->device));
  PetscInt        points  = 1;
  DM              dm;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(grid, sizeof(*grid)));
  nras->partition = nras->set.partition;
  if (nras->partition == PC_NRAS_AUTO) nras->partition = several ? PC_NRAS_BOXES : PC_NRAS_ROWS;
  if (nras->partition != PC_NRAS_BOXES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(rows.comm, &rows.size));
  for (PetscInt k = 0; k < nras->set.griddim; ++k) {
    PetscCheck(nras->set.grid[k] > 0 && nras->set.grid[k] <= PETSC_MAX_INT / points, rows.comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_nras_grid: direction %" PetscInt_FMT " has %" PetscInt_FMT " points", k, nras->set.grid[k]);
    points *= nras->set.grid[k];
  }
  if (nras->set.griddim) {
    PetscCheck(csr->M % points == 0, rows.comm, PETSC_ERR_ARG_SIZ,
               "-pc_nras_grid has %" PetscInt_FMT " points, which do not divide the %" PetscInt_FMT " rows of the matrix", points, csr->M);
    *grid = (PolderGrid){
      .dim = nras->set.griddim, .dof = PetscMax(1, csr->M / points), .n = {1, 1, 1},
                 .rstart = csr->rstart, .natural = PETSC_TRUE
    };
    PetscCall(PetscArraycpy(grid->n, nras->set.grid, nras->set.griddim));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGetDM(pc, &dm));
  if (!dm) PetscCall(MatGetDM(pc->pmat, &dm));
  if (dm) PetscCall(PolderGridFromDM(dm, pc->pmat, csr, grid));
  if (!grid->dim) PetscCall(PolderGridFromMatrix(&rows, grid));
  if (!grid->dim && nras->set.partition == PC_NRAS_AUTO) nras->partition = PC_NRAS_METIS;
  PetscCheck(grid->dim || nras->partition == PC_NRAS_METIS, rows.comm, PETSC_ERR_USER,
             "-pc_nras_partition boxes needs a structured grid, and the matrix shows none: give -pc_nras_grid nx,ny,nz, or take -pc_nras_partition metis");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASCut(PC pc, const PolderCSR *csr, PetscInt nblock, PetscInt part[])
{
  PC_NRAS *nras = (PC_NRAS *)pc->data;
  PetscInt bs, failed = 0;

  PetscFunctionBegin;
  nras->cutbyrows = PETSC_FALSE;
  PetscCall(MatGetBlockSize(pc->pmat, &bs));
  if (!csr->m) PetscFunctionReturn(PETSC_SUCCESS);
  nblock = PetscMin(nblock, csr->m / bs);
  if (nblock > 1 && nras->partition == PC_NRAS_METIS) {
    PolderCSR here;

    PetscCall(PolderMatGetCSR(pc->pmat, &here));
    PetscCall(PolderRowsPartition(&here, bs, NRAS_METIS_VERTICES, nblock, part, &failed));
    PetscCall(PolderMatRestoreCSR(pc->pmat, &here));
    nras->cutbyrows = (PetscBool)(failed != 0);
    if (failed)
      PetscCall(
        PetscInfo(pc, "METIS cannot cut the graph of this process (%s): runs of rows instead\n", failed == 1 ? "its indices are too small" : "it failed"));
  }
  if (nras->partition == PC_NRAS_BOXES) PetscCall(NRASCutBoxes_Private(&nras->grid, csr, nblock, part));
  else if (nblock == 1 || failed || nras->partition == PC_NRAS_ROWS) PetscCall(NRASCutRows_Private(csr->m, bs, nblock, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
