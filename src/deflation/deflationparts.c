/* Parts of the rows for the deflation spaces: boxes of a structured grid, METIS parts otherwise, and how many of them pay. */
#include "deflationlabels.h"

/* An iteration moves about 300 bytes a row; the coarse solve may add a tenth of that, and its set-up may take as long as ten iterations
   of a process that moves 2.5 bytes for each flop of the factorisation */
#define POLDER_BYTES_PER_ROW  300
#define POLDER_COARSE_SHARE   0.1
#define POLDER_SETUP_SHARE    10
#define POLDER_BYTES_PER_FLOP 2.5
/* On a device, which moves 0.3 bytes for each flop, set-up may take as long as five iterations; those of small problems take the time of so many bytes */
#define POLDER_DEVICE_SETUP_SHARE    5
#define POLDER_DEVICE_BYTES_PER_FLOP 0.3
#define POLDER_DEVICE_LEAST_BYTES    8e7
/* METIS takes as long for one part as an iteration for so many bytes */
#define POLDER_BYTES_PER_METIS_PART 2.5e6
/* a GPU moves a hundred times as many meanwhile */
#define POLDER_DEVICE_BYTES_PER_METIS_PART 2.5e8
/* Below these sides of a box AZ has entries on nearly all rows */
#define POLDER_MIN_SIDE_2D 8
#define POLDER_MIN_SIDE_3D 6

/* dim = 0: METIS parts */
static PetscErrorCode PolderDeflationTarget(PolderDeflationSpace s, const PolderCSR *csr, PetscInt dim, PetscInt *target)
{
  PetscMPIInt size;
  PetscBool   device = (PetscBool)(s->device || csr->device);
  PetscReal   bytes;
  PetscInt    rows = dim == 1 ? POLDER_MIN_SIDE_2D : (dim == 2 ? PetscSqr(POLDER_MIN_SIDE_2D) : POLDER_MIN_SIDE_3D * PetscSqr(POLDER_MIN_SIDE_3D));

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(s->comm, &size));
  bytes = (PetscReal)POLDER_BYTES_PER_ROW * (PetscReal)csr->M / (PetscReal)size;
  if (device) bytes = PetscMax(bytes, POLDER_DEVICE_LEAST_BYTES);
  PetscCall(PolderCoarseGetLimit(s->coarse, device, dim, POLDER_COARSE_SHARE * bytes, device ? POLDER_DEVICE_SETUP_SHARE * bytes / POLDER_DEVICE_BYTES_PER_FLOP : POLDER_SETUP_SHARE * bytes / POLDER_BYTES_PER_FLOP, target));
  *target = PetscMin(*target, csr->M / rows);
  if (!dim) *target = (PetscInt)PetscMin((PetscReal)*target, PetscMax(64, POLDER_SETUP_SHARE * bytes / (device ? POLDER_DEVICE_BYTES_PER_METIS_PART : POLDER_BYTES_PER_METIS_PART) * (PetscReal)size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PolderGridChooseBoxes(const PolderGrid *grid, PetscInt target, PetscInt boxes[3])
{
  PetscReal lo = 0, hi = 1; /* side of a box: lo gives too many boxes, hi does not */

  for (int d = 0; d < 3; ++d) hi = PetscMax(hi, 2 * (PetscReal)grid->n[d] + 1);
  for (int step = 0; step < 60; ++step) {
    const PetscReal side  = 0.5 * (lo + hi);
    PetscReal       count = 1;

    for (int d = 0; d < 3; ++d) count *= PetscClipInterval(PetscFloorReal(grid->n[d] / side + 0.5), 1, (PetscReal)grid->n[d]);
    if (count > (PetscReal)target) lo = side;
    else hi = side;
  }
  for (int d = 0; d < 3; ++d) boxes[d] = PetscClipInterval((PetscInt)(grid->n[d] / hi + 0.5), 1, grid->n[d]);
}

PetscErrorCode PolderPartsCreate(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PolderParts *parts)
{
  PetscBool metis;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(parts, sizeof(*parts)));
  PetscCall(PolderDeflationGetGrid(s, A, &parts->grid));
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONPARTITION, &metis));
  if (!parts->grid.dim && !metis) {
    PetscCall(PolderGridFromMatrix(A, csr, &parts->grid));
    parts->shown = (PetscBool)(parts->grid.dim > 0);
  }
  PetscCheck(metis || !s->nboxes || parts->grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE, "-deflation_boxes needs a structured grid, and the matrix shows none: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space partition");
  PetscCall(PolderDeflationTarget(s, csr, metis ? 0 : parts->grid.dim, &parts->target));
  PetscCheck(s->count <= csr->M, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "-deflation_count %" PetscInt_FMT " asks for more vectors than the matrix has rows (%" PetscInt_FMT ")", s->count, csr->M);
  if (s->count) {
    parts->target = s->count;
    parts->fixed  = PETSC_TRUE;
  }
  if (metis || !s->nboxes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(s->nboxes == parts->grid.dim, s->comm, PETSC_ERR_ARG_SIZ, "-deflation_boxes has %" PetscInt_FMT " values but the grid has %" PetscInt_FMT " dimensions", s->nboxes, parts->grid.dim);
  for (PetscInt d = 0; d < 3; ++d) {
    parts->boxes[d] = d < s->nboxes ? s->boxes[d] : 1;
    PetscCheck(parts->boxes[d] > 0 && parts->boxes[d] <= parts->grid.n[d], s->comm, PETSC_ERR_ARG_OUTOFRANGE, "-deflation_boxes: %" PetscInt_FMT " boxes do not fit the %" PetscInt_FMT " grid points of direction %" PetscInt_FMT, parts->boxes[d],
               parts->grid.n[d], d);
  }
  parts->fixed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPartsFill(PolderParts *parts, Mat A, const PolderCSR *csr, PetscInt target, PetscInt part[])
{
  PetscInt bs;
  size_t   len;

  PetscFunctionBegin;
  if (parts->grid.dim) {
    if (!parts->fixed || !parts->boxes[0]) PolderGridChooseBoxes(&parts->grid, PetscMax(1, target / parts->grid.dof), parts->boxes);
    PetscCall(PolderGridBoxes(&parts->grid, csr, parts->boxes, part));
    parts->count = parts->boxes[0] * parts->boxes[1] * parts->boxes[2];
    parts->bound = parts->count * parts->grid.dof;
    if (parts->grid.dim == 1) PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " boxes", parts->boxes[0]));
    else if (parts->grid.dim == 2) PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " x %" PetscInt_FMT " boxes", parts->boxes[0], parts->boxes[1]));
    else PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " boxes", parts->boxes[0], parts->boxes[1], parts->boxes[2]));
    if (parts->shown) {
      PetscCall(PetscStrlen(parts->text, &len));
      PetscCall(PetscSNPrintf(parts->text + len, sizeof(parts->text) - len, " of the grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points that the matrix shows", parts->grid.n[0], parts->grid.n[1], parts->grid.n[2]));
    }
  } else {
    PetscCall(MatGetBlockSize(A, &bs));
    parts->count = PetscMax(1, target / bs);
    parts->bound = parts->count * bs;
    PetscCall(PolderMatPartition(A, csr, parts->count, part));
    PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " METIS parts of the matrix graph", parts->count));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
