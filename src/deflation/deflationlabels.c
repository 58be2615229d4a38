/* One label a row for the piecewise-constant deflation spaces; the kinds that follow a level set are in deflationauto.c. */
#include "deflationlabels.h"
#include "kernels/labels.h"

PetscErrorCode PolderLabelsReduce(const PolderLabelRows *rows, PetscInt n, MPI_Op op, PetscInt value[])
{
  PetscMPIInt len;
  PetscInt   *all;

  PetscFunctionBegin;
  if (rows->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(n, &len));
  PetscCall(PetscMalloc1(n, &all));
  PetscCall(PolderPlaceTake(rows->place, n, value, all));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, len, MPIU_INT, op, rows->comm));
  PetscCall(PolderPlacePut(rows->place, n, all, value));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowValuesBegin(const PolderLabelRows *rows, Vec v, PetscInt result[], PolderRowValues *values)
{
  PetscBool there;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &there));
  values->place  = there ? rows->place : &PolderOnHost; // a host vector is processed on the host: its integers are fewer bytes to copy
  values->result = result;
  if (values->place != rows->place) PetscCall(PolderPlaceMalloc(values->place, rows->csr->m, &values->result));
  PetscCall((*values->place->vecgetread)(v, &values->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderRowValuesEnd(const PolderLabelRows *rows, Vec v, PetscInt result[], PolderRowValues *values)
{
  PetscFunctionBegin;
  PetscCall((*values->place->vecrestoreread)(v, &values->value));
  if (values->place == rows->place) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlacePut(rows->place, rows->csr->m, values->result, result));
  PetscCall((*values->place->free)(&values->result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels from a Vec, rounded; a value that is not a number, or too large, becomes -2 */
static PetscErrorCode PolderLabelsFromVec(const PolderLabelRows *rows, Vec v, PetscInt label[])
{
  PolderRowValues values;

  PetscFunctionBegin;
  PetscCall(PolderRowValuesBegin(rows, v, label, &values));
  PolderRun(values.place, PolderLabelsRound, rows->csr->m, values.value, values.result);
  PetscCall(PolderRowValuesEnd(rows, v, label, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The user's labels: those that were set, else an IS or a Vec composed on the operator */
static PetscErrorCode PolderLabelsUser(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt label[], PetscInt *d)
{
  PetscObject     source = (PetscObject)s->labels;
  PetscClassId    id     = 0;
  PetscInt        m, bad[2] = {0, 0}, all[2], range[2] = {0, -1}, *there;
  const PetscInt *idx;

  PetscFunctionBegin;
  if (!source) PetscCall(PetscObjectQuery((PetscObject)rows->A, "deflation_labels", &source));
  if (source) PetscCall(PetscObjectGetClassId(source, &id));
  PetscCheck(id == IS_CLASSID || id == VEC_CLASSID, s->comm, PETSC_ERR_ARG_WRONG,
             "The labels of -deflation_space user must be an index set (IS) or a vector (Vec): call PolderDeflationSpaceSetLabels(), or compose one on the "
             "operator as deflation_labels");
  if (id == IS_CLASSID) PetscCall(ISGetLocalSize((IS)source, &m));
  else PetscCall(VecGetLocalSize((Vec)source, &m));
  bad[0] = m != rows->csr->m;
  if (!bad[0] && id == IS_CLASSID) {
    PetscCall(ISGetIndices((IS)source, &idx));
    PetscCall(PolderPlacePut(rows->place, m, idx, label));
    PetscCall(ISRestoreIndices((IS)source, &idx));
  } else if (!bad[0]) PetscCall(PolderLabelsFromVec(rows, (Vec)source, label));
  if (!bad[0]) {
    PetscCall(PolderPlaceUpload(rows->place, sizeof(range), range, &there));
    PolderRun(rows->place, PolderIndexRange, m, label, there);
    PetscCall(PolderPlaceFetch(rows->place, sizeof(range), &there, range));
    bad[1] = range[0] < -1;
  }
  PetscCallAllreduce(bad, all, 2, MPIU_INT, MPI_MAX, s->comm);
  PetscCheck(!all[0], s->comm, PETSC_ERR_ARG_SIZ, "The deflation labels must have one entry for each local row of the operator");
  PetscCheck(!all[1], s->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A deflation label is below -1, or not a number: labels count from 0, and -1 leaves the row out of every vector");
  PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = (PetscInt64)range[1] + 1, .part = label, .ncomp = 1}, label, d));
  PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "labels given by the user"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderLabelsRank(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt label[], PetscInt *d)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PolderRun(rows->place, PolderIndexFill, rows->csr->m, rank, label);
  PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = rank + 1, .part = label, .ncomp = 1}, label, d));
  PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "as asked, one vector for each process with rows"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stripes and planes of a structured grid */
static PetscErrorCode PolderLabelsRuns(PolderDeflationSpace s, const PolderLabelRows *rows, PetscBool stripe, PetscInt label[], PetscInt *d)
{
  PolderGrid grid;
  PetscInt   last, boxes[3] = {1, 1, 1}, most, count = s->count;

  PetscFunctionBegin;
  PetscCall(PolderDeflationGetGrid(s, rows->A, &grid));
  if (!grid.dim) PetscCall(PolderGridFromMatrix(rows, &grid));
  PetscCheck(grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE,
             "-deflation_space %s needs a structured grid, and the matrix shows none: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space "
             "partition",
             s->type);
  last = grid.dim - 1;
  most = stripe ? grid.n[0] * grid.n[1] * grid.n[2] : grid.n[last];
  if (!count && stripe) count = grid.dim == 3 ? grid.n[1] * grid.n[2] : PetscMin(2 * grid.n[last], most);
  if (!count) count = most;
  PetscCheck(count <= most, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "-deflation_count %" PetscInt_FMT " is more than the %" PetscInt_FMT " %s of the grid", count,
             most, stripe ? "points" : "planes");
  boxes[last] = count;
  if (stripe) PetscCall(PolderGridStripes(&grid, rows, count, label));
  else PetscCall(PolderGridBoxes(&grid, rows, boxes, label));
  PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = count * grid.dof, .part = label, .ncomp = 1}, label, d));
  PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason),
                          "%s, %" PetscInt_FMT " %s of a grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points",
                          s->count ? "as asked" : "default count", count, stripe ? "stripes" : "planes", grid.n[0], grid.n[1], grid.n[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes of a structured grid (kind subdomain) or METIS parts (kind partition) */
static PetscErrorCode PolderLabelsParts(PolderDeflationSpace s, const PolderLabelRows *rows, PetscBool metis, PetscInt label[], PetscInt *d)
{
  PolderParts parts;

  PetscFunctionBegin;
  PetscCall(PolderPartsCreate(s, rows, &parts));
  PetscCheck(metis || parts.grid.dim, s->comm, PETSC_ERR_ARG_WRONGSTATE,
             "-deflation_space subdomain needs a structured grid, and the matrix shows none: use a DMDA, give -deflation_grid nx,ny[,nz], or take "
             "-deflation_space partition");
  if (metis) parts.grid.dim = 0;
  PetscCall(PolderPartsFill(&parts, rows, parts.target, label));
  PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = parts.bound, .part = label, .ncomp = 1}, label, d));
  PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "%s, %s", parts.fixed ? "as asked" : "chosen for the size of the problem", parts.text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderLabelsOfKind(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt label[], PetscInt *d)
{
  static const char *const kinds[] = {POLDERDEFLATIONNONE,      POLDERDEFLATIONUSER,     POLDERDEFLATIONRANK,
                                      POLDERDEFLATIONSTRIPE,    POLDERDEFLATIONPLANE,    POLDERDEFLATIONSUBDOMAIN,
                                      POLDERDEFLATIONPARTITION, POLDERDEFLATIONLEVELSET, POLDERDEFLATIONLEVELSETSUBDOMAIN,
                                      POLDERDEFLATIONAUTO};
  PetscInt                 kind;
  PetscBool                found;

  PetscFunctionBegin;
  PetscCall(PetscEListFind(PETSC_STATIC_ARRAY_LENGTH(kinds), kinds, s->type, &kind, &found));
  PetscCheck(found, s->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "Deflation space %s is not made of labels", s->type);
  PetscCall(PetscStrncpy(s->chosen, s->type, sizeof(s->chosen)));
  switch (kind) {
  case 0:
    PolderRun(rows->place, PolderIndexFill, rows->csr->m, -1, label);
    *d = 0;
    PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "as asked"));
    break;
  case 1:
    PetscCall(PolderLabelsUser(s, rows, label, d));
    break;
  case 2:
    PetscCall(PolderLabelsRank(s, rows, label, d));
    break;
  case 3:
  case 4:
    PetscCall(PolderLabelsRuns(s, rows, (PetscBool)(kind == 3), label, d));
    break;
  case 5:
  case 6:
    PetscCall(PolderLabelsParts(s, rows, (PetscBool)(kind == 6), label, d));
    break;
  case 7:
    PetscCall(PolderDeflationLevelSetLabels(s, rows, label, d));
    break;
  default:
    PetscCall(PolderDeflationPieceLabels(s, rows, label, d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderLabelRowsBegin(PolderDeflationSpace s, Mat A, const PolderCSR *csr, const PolderLabelSteps *steps, PolderLabelRows *rows)
{
  PetscFunctionBegin;
  *rows = (PolderLabelRows){.comm = s->comm, .A = A, .csr = csr, .place = steps->place, .steps = steps};
  PetscCallMPI(MPI_Comm_size(s->comm, &rows->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationMakeLabels(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  PolderLabelRows rows;

  PetscFunctionBegin;
  PetscCall(PolderLabelRowsBegin(s, A, csr, &PolderLabelsOnHost, &rows));
  PetscCall(PolderLabelsOfKind(s, &rows, label, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationMakeLabelsDevice(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d, PetscBool *done)
{
  PolderLabelRows rows;
  PetscBool       metis;

  PetscFunctionBegin;
  PetscCall(PolderLabelRowsBegin(s, A, csr, &PolderLabelsOnDevice, &rows));
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONPARTITION, &metis));
  *d = -1;
  if (!metis) PetscCall(PolderLabelsOfKind(s, &rows, label, d));
  *done = (PetscBool)(*d >= 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}
