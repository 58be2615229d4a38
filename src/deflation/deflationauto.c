/* Labels that follow a level set, or the regions that the matrix shows by jumps of its entries. */
#include "deflationlabels.h"
#include "kernels/labels.h"
#include <petscdmda.h>
#include <petscviewer.h>

/*
  Threshold for jumps of max_j |a_ij|. With harmonic means and a contrast c it jumps by c/2 across an interface, and by 2 beside it: the threshold lies
  between for contrasts of 1e2 and more
*/
#define POLDER_REGION_JUMP 10.0
/* Regions of fewer rows are merged into a neighbour */
#define POLDER_REGION_TINY 8
/* They are absorbed from their border inwards, at most this many layers of rows */
#define POLDER_REGION_ROUNDS 8

/* Detects a missing, wrong or short file before any process waits for its data */
static PetscErrorCode PolderLevelSetCheckFile(MPI_Comm comm, const char file[], PetscInt M)
{
  PetscMPIInt rank;
  int         fd;
  PetscInt    header[2] = {0, 0}, n = 0, bad = 0;
  PetscBool   exists = PETSC_FALSE;
  off_t       size   = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    PetscCall(PetscTestFile(file, 'r', &exists));
    if (!exists) bad = 1;
    else {
      PetscCall(PetscBinaryOpen(file, FILE_MODE_READ, &fd));
      PetscCall(PetscBinaryRead(fd, header, 2, &n, PETSC_INT));
      PetscCall(PetscBinarySeek(fd, 0, PETSC_BINARY_SEEK_END, &size));
      PetscCall(PetscBinaryClose(fd));
      if (n < 2 || header[0] != VEC_FILE_CLASSID) bad = 2;
      else if (header[1] != M) bad = 3;
      else if ((PetscInt64)size < (PetscInt64)(2 * sizeof(PetscInt)) + (PetscInt64)M * (PetscInt64)PETSC_BINARY_SCALAR_SIZE) bad = 4;
    }
  }
  PetscCallMPI(MPI_Bcast(&bad, 1, MPIU_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(header, 2, MPIU_INT, 0, comm));
  PetscCheck(bad != 1, comm, PETSC_ERR_FILE_OPEN, "Cannot read the level set: there is no file %s", file);
  PetscCheck(bad != 2, comm, PETSC_ERR_FILE_UNEXPECTED,
             "Cannot read the level set: %s is not a PETSc binary file with a vector (write one with VecView() and a binary viewer)", file);
  PetscCheck(bad != 3, comm, PETSC_ERR_FILE_UNEXPECTED, "The level set in %s has %" PetscInt_FMT " values, the matrix has %" PetscInt_FMT " rows", file,
             header[1], M);
  PetscCheck(bad != 4, comm, PETSC_ERR_FILE_UNEXPECTED, "The level set in %s is cut short: the file is damaged", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Loads the level set from a file: values by row or, when the rows belong to a DMDA, in the natural numbering of the grid, as VecView() writes them */
static PetscErrorCode PolderLevelSetLoad(PolderDeflationSpace s, const PolderLabelRows *rows, Vec *levelset)
{
  PetscViewer viewer;
  PolderGrid  grid;
  DM          dm = s->dm;

  PetscFunctionBegin;
  PetscCall(PolderLevelSetCheckFile(s->comm, s->levelsetfrom, rows->csr->M));
  PetscCall(PolderDeflationGetGrid(s, rows->A, &grid));
  if (!dm) PetscCall(MatGetDM(rows->A, &dm));
  if (grid.dim && !grid.natural) PetscCall(DMCreateGlobalVector(dm, levelset));
  else {
    PetscCall(VecCreate(s->comm, levelset));
    PetscCall(VecSetSizes(*levelset, rows->csr->m, rows->csr->M));
    PetscCall(VecSetType(*levelset, VECSTANDARD));
  }
  PetscCall(PetscViewerBinaryOpen(s->comm, s->levelsetfrom, FILE_MODE_READ, &viewer));
  PetscCall(VecLoad(*levelset, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Classes of the rows by the sign of the vector. nan: some value is not a number */
static PetscErrorCode PolderLevelSetClasses(const PolderLabelRows *rows, Vec levelset, PetscInt outside, PetscInt cls[], PetscInt *nan)
{
  PolderRowValues values;
  PetscInt       *there;

  PetscFunctionBegin;
  PetscCall(PolderRowValuesBegin(rows, levelset, cls, &values));
  PetscCall(PolderPlaceUpload(values.place, sizeof(*nan), nan, &there));
  PolderRun(values.place, PolderLevelSetClass, rows->csr->m, values.value, outside, values.result, there);
  PetscCall(PolderPlaceFetch(values.place, sizeof(*nan), &there, nan));
  PetscCall(PolderRowValuesEnd(rows, levelset, cls, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationLevelSet(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt outside, PetscInt cls[], PetscBool *given)
{
  Vec       levelset = s->levelset;
  PetscBool regions;
  PetscInt  m, M, bad[2] = {0, 0}, all[2];

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->levelsetfrom, "auto", &regions));
  if (levelset) PetscCall(PetscObjectReference((PetscObject)levelset));
  else if (s->levelsetfrom[0] && !regions) PetscCall(PolderLevelSetLoad(s, rows, &levelset));
  else if (!regions) {
    PetscCall(PetscObjectQuery((PetscObject)rows->A, "levelset", (PetscObject *)&levelset));
    PetscCall(PetscObjectReference((PetscObject)levelset));
  }
  *given = (PetscBool)(levelset != NULL);
  if (!levelset) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(levelset, &m));
  PetscCall(VecGetSize(levelset, &M));
  bad[0] = m != rows->csr->m || M != rows->csr->M;
  if (!bad[0]) PetscCall(PolderLevelSetClasses(rows, levelset, outside, cls, &bad[1]));
  PetscCallAllreduce(bad, all, 2, MPIU_INT, MPI_MAX, s->comm);
  PetscCheck(!all[0], s->comm, PETSC_ERR_ARG_SIZ,
             "The level set must have the layout of the matrix: one value for each local row (it has %" PetscInt_FMT " values in all, the matrix %" PetscInt_FMT
             " rows)",
             M, rows->csr->M);
  PetscCheck(!all[1], s->comm, PETSC_ERR_FP, "The level set has values that are not a number");
  PetscCall(VecDestroy(&levelset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Rows of tiny regions (comp = -2) join the neighbour to which they are coupled most strongly, layer by layer; rows too far from any remaining region form a
  region of their own, of the number *bound. All rounds are run: an empty one is cheaper than a test whether it is empty
*/
static PetscErrorCode PolderRegionsAbsorb(const PolderLabelRows *rows, PetscInt comp[], PetscInt *bound)
{
  const PolderPlace *place = rows->place;
  const PolderCSR   *csr   = rows->csr;
  PetscInt          *next, *ghost;
  PolderHalo         halo;

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(rows->A, &halo));
  PetscCall(PolderPlaceMalloc(place, csr->m, &next));
  PetscCall(PolderPlaceMalloc(place, csr->nghost, &ghost));
  for (int round = 0; round < POLDER_REGION_ROUNDS; ++round) {
    PetscCall(PolderHaloExchangeAt(halo, place, MPIU_INT, comp, ghost));
    PolderRun(place, PolderRegionsNext, PolderOwnRows(csr), PolderGhostColumns(csr), comp, ghost, next);
    PolderRun(place, PolderRegionsJoin, csr->m, next, comp);
  }
  PolderRun(place, PolderIndexReplace, csr->m, -2, *bound, comp);
  ++*bound;
  PetscCall((*place->free)(&ghost));
  PetscCall((*place->free)(&next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the regions label[] of n that are not tiny, and finds the largest one. count[n] is allocated in the memory of the rows */
static PetscErrorCode PolderRegionsSurvey(const PolderLabelRows *rows, PetscInt n, const PetscInt label[], PetscInt **count, PetscInt *big, PetscInt *most)
{
  PetscInt summary[2] = {0, -1}, *there;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(rows->place, n, count));
  PetscCall((*rows->place->zero)(*count, sizeof(**count) * (size_t)n));
  PolderRun(rows->place, PolderRegionSizes, rows->csr->m, label, *count);
  PetscCall(PolderLabelsReduce(rows, n, MPI_SUM, *count));
  PetscCall(PolderPlaceUpload(rows->place, sizeof(summary), summary, &there));
  PolderRun(rows->place, PolderRegionSummary, n, *count, POLDER_REGION_TINY, there);
  PetscCall(PolderPlaceFetch(rows->place, sizeof(summary), &there, summary));
  *big  = summary[0];
  *most = summary[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationRegions(const PolderLabelRows *rows, PetscInt comp[], PetscInt *bound, PetscInt *nregion, PetscInt *largest)
{
  PetscInt n, *label, *count, big = 0, most = -1;

  PetscFunctionBegin;
  *nregion = 0;
  *largest = -1;
  PetscCall(PolderMatRegions(rows, POLDER_REGION_JUMP, comp, bound));
  PetscCall((*rows->steps->countcomponents)(rows, comp, &n, bound));
  if (n > PetscMax(4096, rows->csr->M / 16)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*rows->steps->numberregions)(rows, *bound, comp, &label, &n));
  PetscCall(PolderRegionsSurvey(rows, n, label, &count, &big, &most));
  if (big < n && big) {
    PolderRun(rows->place, PolderRegionsMarkTiny, rows->csr->m, label, count, POLDER_REGION_TINY, comp);
    PetscCall(PolderRegionsAbsorb(rows, comp, bound));
  }
  *nregion = PetscMax(big, 1);
  PetscCall((*rows->steps->nameregion)(rows, most, comp, &label, largest));
  PetscCall((*rows->place->free)(&count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Components of one sign of the level set. Rows without couplings are excluded: each would be a component of its own and needs no vector */
static PetscErrorCode PolderLevelSetComponents(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt outside, PetscInt comp[], PetscInt *bound,
                                               PetscBool *given)
{
  PetscInt *cls;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(rows->place, rows->csr->m, &cls));
  PetscCall(PolderDeflationLevelSet(s, rows, outside, cls, given));
  if (*given) {
    PolderRun(rows->place, PolderLoneRows, rows->csr->m, rows->csr->ai, rows->csr->aj, rows->csr->bi, cls);
    PetscCall(PolderMatComponents(rows, cls, comp, bound));
  }
  PetscCall((*rows->place->free)(&cls));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Swaps the numbers of the largest region and the last one. If the columns depend on each other through the kernel of A, the last column is left out */
static PetscErrorCode PolderRegionsLargestLast(const PolderLabelRows *rows, PetscInt n, PetscInt label[])
{
  PetscInt *count, big, most;

  PetscFunctionBegin;
  if (n < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderRegionsSurvey(rows, n, label, &count, &big, &most));
  PetscCall((*rows->place->free)(&count));
  PolderRun(rows->place, PolderIndexReplace, rows->csr->m, most, n, label);
  PolderRun(rows->place, PolderIndexReplace, rows->csr->m, n - 1, most, label);
  PolderRun(rows->place, PolderIndexReplace, rows->csr->m, n, n - 1, label);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationLevelSetLabels(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt label[], PetscInt *d)
{
  const char *less = s->thesis ? "; those outside have no vector" : "";
  PetscInt    nregion, largest, bound;
  PetscBool   given;

  PetscFunctionBegin;
  PetscCall(PolderLevelSetComponents(s, rows, s->thesis ? -1 : 0, label, &bound, &given));
  if (!given) {
    PetscCall(PolderDeflationRegions(rows, label, &bound, &nregion, &largest));
    if (nregion < 2) PolderRun(rows->place, PolderIndexFill, rows->csr->m, -1, label);
    else if (s->thesis) PolderRun(rows->place, PolderIndexReplace, rows->csr->m, largest, -1, label);
  }
  PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = 1, .ncomp = bound, .comp = label}, label, d));
  if (!s->thesis) PetscCall(PolderRegionsLargestLast(rows, *d, label));
  if (given) PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "as asked, %" PetscInt_FMT " connected regions of the level set%s", *d, less));
  else if (nregion == 1) PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "no level set is given and the matrix shows no jump: no vectors"));
  else if (!nregion)
    PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "no level set is given and the entries of the matrix jump nearly everywhere: no vectors"));
  else
    PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "no level set is given, the matrix shows %" PetscInt_FMT " regions%s", nregion,
                            s->thesis ? "; the largest has no vector" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds comp[], its bound, and the number of components (1 or less: there is nothing to cut by); text says how they were found */
static PetscErrorCode PolderDeflationComponents(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt comp[], PetscInt *n, PetscInt *bound, char text[],
                                                size_t len)
{
  PetscInt  largest;
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PolderLevelSetComponents(s, rows, 0, comp, bound, &given));
  if (given) {
    PetscCall((*rows->steps->countcomponents)(rows, comp, n, bound));
    PetscCall(PetscSNPrintf(text, len, "the level set has %" PetscInt_FMT " regions", *n));
  } else {
    PetscCall(PolderDeflationRegions(rows, comp, bound, n, &largest));
    if (*n > 0) PetscCall((*rows->steps->renumber)(rows, comp, bound)); // tiny regions were removed
    if (*n == 1) PetscCall(PetscSNPrintf(text, len, "the matrix shows no jump (-pc_type pamg may take fewer iterations)"));
    else if (*n == 0) PetscCall(PetscSNPrintf(text, len, "the entries of the matrix jump nearly everywhere"));
    else PetscCall(PetscSNPrintf(text, len, "the matrix shows %" PetscInt_FMT " regions", *n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Describes the labels, for the view */
static PetscErrorCode PolderPieceLabelsSay(PolderDeflationSpace s, const PolderParts *parts, PetscBool automatic, PetscBool pieces, PetscInt ncomp,
                                           const char text[])
{
  const char *kind = pieces ? POLDERDEFLATIONLEVELSETSUBDOMAIN : (parts->grid.dim ? POLDERDEFLATIONSUBDOMAIN : POLDERDEFLATIONPARTITION);

  PetscFunctionBegin;
  if (automatic) PetscCall(PetscStrncpy(s->chosen, kind, sizeof(s->chosen)));
  PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "%s%s%s, %s %s", automatic ? "chosen automatically: " : "as asked: ", text,
                          ncomp > 1 && !pieces ? ", too many to use" : "", pieces ? "cut by" : "taken whole by", parts->text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No vectors, and why */
static PetscErrorCode PolderNoLabels(PolderDeflationSpace s, const PolderLabelRows *rows, const char text[], const char why[], PetscInt label[], PetscInt *d)
{
  PetscFunctionBegin;
  PolderRun(rows->place, PolderIndexFill, rows->csr->m, -1, label);
  *d = 0;
  PetscCall(PetscStrncpy(s->chosen, POLDERDEFLATIONNONE, sizeof(s->chosen)));
  PetscCall(PetscSNPrintf(s->reason, sizeof(s->reason), "%s%s", text, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationPieceLabels(PolderDeflationSpace s, const PolderLabelRows *rows, PetscInt label[], PetscInt *d)
{
  PolderParts parts;
  PetscInt   *part, *comp, ncomp, bound, target, most, enough;
  PetscBool   automatic, pieces, metis;
  char        text[128], few[64];

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONAUTO, &automatic));
  PetscCall(PolderPartsCreate(s, rows, &parts));
  metis = (PetscBool)!parts.grid.dim;
  *d    = -1;
  if (metis && !rows->steps->partition) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPlaceMalloc(rows->place, rows->csr->m, &part));
  PetscCall(PolderPlaceMalloc(rows->place, rows->csr->m, &comp));
  PetscCall(PolderDeflationComponents(s, rows, comp, &ncomp, &bound, text, sizeof(text)));
  if (automatic && metis && !ncomp) { // constants on parts have as much energy as anything else
    PetscCall((*rows->place->free)(&comp));
    PetscCall((*rows->place->free)(&part));
    PetscCall(PolderNoLabels(s, rows, text, " and no grid is known: vectors do not pay, -pc_type pamg takes few iterations", label, d));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  most   = PetscMax(parts.target, rows->csr->M / 64);
  pieces = (PetscBool)(ncomp > 1 && (!automatic || ncomp <= most));
  /* Boxes are cheap to repeat until the number of pieces fits; METIS parts leave a margin for the pieces */
  target = metis && pieces && !parts.fixed ? parts.target - parts.target / 4 : parts.target;
  enough = parts.target + parts.target / (metis ? 2 : 20);
  for (int attempt = 0; attempt < 4; ++attempt) {
    const PetscBool cut = (PetscBool)(ncomp == 1 || pieces);

    PetscCall(PolderPartsFill(&parts, rows, target, part));
    PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = parts.bound, .part = part, .ncomp = cut ? bound : 1, .comp = cut ? comp : NULL}, label, d));
    if (parts.fixed || *d <= enough || parts.count == 1) break;
    target = PetscMax(1, (PetscInt)(0.97 * (PetscReal)target * (PetscReal)parts.target / (PetscReal)*d));
  }
  if (automatic && *d < 2) {
    PetscCall(PetscSNPrintf(few, sizeof(few), ", and %" PetscInt_FMT " rows are too few for parts", rows->csr->M));
    PetscCall(PolderNoLabels(s, rows, text, few, label, d));
  } else PetscCall(PolderPieceLabelsSay(s, &parts, automatic, pieces, ncomp, text));
  PetscCall((*rows->place->free)(&comp));
  PetscCall((*rows->place->free)(&part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
