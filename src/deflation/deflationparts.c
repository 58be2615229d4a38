/* Parts of the rows for deflation spaces: boxes of a structured grid, METIS parts otherwise, and the number of parts that pays. */
#include "deflationlabels.h"

/* Bytes that an iteration moves for each row, and the fraction of them that the coarse solve may add */
#define POLDER_BYTES_PER_ROW 300
#define POLDER_COARSE_SHARE  0.1
/* METIS may take as long as this many iterations */
#define POLDER_METIS_SHARE 10
/* For boxes with shorter sides AZ has entries on nearly all rows */
#define POLDER_MIN_SIDE_2D 8
#define POLDER_MIN_SIDE_3D 6

/* The cost of a set-up relative to an iteration, which depends on where the solver runs */
typedef struct {
  PetscReal setupshare;        /* the set-up of the coarse solve may take as long as this many iterations */
  PetscReal bytesperflop;      /* bytes moved in the time of one flop of that set-up */
  PetscReal bytespermetispart; /* bytes moved in the time that METIS, on the host in either case, takes for a part */
  PetscReal leastbytes;        /* an iteration on a small problem takes at least the time of moving this many bytes */
} PolderCosts;
static const PolderCosts PolderCostsOnHost   = {10, 2.5, 2.5e6, 0};
static const PolderCosts PolderCostsOnDevice = {5, 0.3, 2.5e8, 8e7};

/*
  The number of columns that pays; dim = 0: for METIS parts. It follows from the size of the whole matrix, so the vectors and the iterations do not depend on
  the number of processes
*/
static PetscErrorCode PolderDeflationTarget(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt dim, PetscInt *target)
{
  const PolderCosts *cost = s->device ? &PolderCostsOnDevice : &PolderCostsOnHost; // costs of the solve: the rows may be labelled on the host even so
  const PetscInt     M    = rows->csr->M,
                 least    = dim == 1 ? POLDER_MIN_SIDE_2D : (dim == 2 ? PetscSqr(POLDER_MIN_SIDE_2D) : POLDER_MIN_SIDE_3D * PetscSqr(POLDER_MIN_SIDE_3D));
  const PetscReal bytes   = PetscMax((PetscReal)POLDER_BYTES_PER_ROW * (PetscReal)M, cost->leastbytes);

  PetscFunctionBegin;
  PetscCall(PolderCoarseGetLimit(s->coarse, dim, POLDER_COARSE_SHARE * bytes, cost->setupshare * bytes / cost->bytesperflop, target));
  *target = PetscMin(*target, M / least);
  if (!dim) *target = (PetscInt)PetscMin((PetscReal)*target, PetscMax(64, POLDER_METIS_SHARE * bytes / cost->bytespermetispart));
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

PetscErrorCode PolderPartsCreate(PolderDeflationSpace s, const PolderLabelRows *rows, PolderParts *parts)
{
  PetscBool metis;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(parts, sizeof(*parts)));
  PetscCall(PolderDeflationGetGrid(s, rows->A, &parts->grid));
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONPARTITION, &metis));
  if (!parts->grid.dim && !metis) {
    PetscCall(PolderGridFromMatrix(rows, &parts->grid));
    parts->shown = (PetscBool)(parts->grid.dim > 0);
  }
  PetscCheck(metis || !s->nboxes || parts->grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE,
             "-deflation_boxes needs a structured grid, and the matrix shows none: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space "
             "partition");
  PetscCall(PolderDeflationTarget(s, rows, metis ? 0 : parts->grid.dim, &parts->target));
  PetscCheck(s->count <= rows->csr->M, s->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-deflation_count %" PetscInt_FMT " asks for more vectors than the matrix has rows (%" PetscInt_FMT ")", s->count, rows->csr->M);
  if (s->count) {
    parts->target = s->count;
    parts->fixed  = PETSC_TRUE;
  }
  if (metis || !s->nboxes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(s->nboxes == parts->grid.dim, s->comm, PETSC_ERR_ARG_SIZ,
             "-deflation_boxes has %" PetscInt_FMT " values but the grid has %" PetscInt_FMT " dimensions", s->nboxes, parts->grid.dim);
  for (PetscInt d = 0; d < 3; ++d) {
    parts->boxes[d] = d < s->nboxes ? s->boxes[d] : 1;
    PetscCheck(parts->boxes[d] > 0 && parts->boxes[d] <= parts->grid.n[d], s->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-deflation_boxes: %" PetscInt_FMT " boxes do not fit the %" PetscInt_FMT " grid points of direction %" PetscInt_FMT, parts->boxes[d],
               parts->grid.n[d], d);
  }
  parts->fixed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPartsFill(PolderParts *parts, const PolderLabelRows *rows, PetscInt target, PetscInt part[])
{
  PetscInt bs;
  size_t   len;

  PetscFunctionBegin;
  if (parts->grid.dim) {
    if (!parts->fixed || !parts->boxes[0]) PolderGridChooseBoxes(&parts->grid, PetscMax(1, target / parts->grid.dof), parts->boxes);
    PetscCall(PolderGridBoxes(&parts->grid, rows, parts->boxes, part));
    parts->count = parts->boxes[0] * parts->boxes[1] * parts->boxes[2];
    parts->bound = parts->count * parts->grid.dof;
    if (parts->grid.dim == 1) PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " boxes", parts->boxes[0]));
    else if (parts->grid.dim == 2)
      PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " x %" PetscInt_FMT " boxes", parts->boxes[0], parts->boxes[1]));
    else
      PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " boxes", parts->boxes[0],
                              parts->boxes[1], parts->boxes[2]));
    if (parts->shown) {
      PetscCall(PetscStrlen(parts->text, &len));
      PetscCall(PetscSNPrintf(parts->text + len, sizeof(parts->text) - len,
                              " of the grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points that the matrix shows", parts->grid.n[0],
                              parts->grid.n[1], parts->grid.n[2]));
    }
  } else {
    PetscCall(MatGetBlockSize(rows->A, &bs));
    parts->count = PetscMax(1, target / bs);
    parts->bound = parts->count * bs;
    PetscCall((*rows->steps->partition)(rows->A, rows->csr, parts->count, part));
    PetscCall(PetscSNPrintf(parts->text, sizeof(parts->text), "%" PetscInt_FMT " METIS parts of the matrix graph", parts->count));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
