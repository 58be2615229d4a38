/* Labels that follow a level set, or the regions that the matrix shows by jumps of its entries. */
#include "deflationlabels.h"
#include "kernels/labels.h"
#include <petscdmda.h>
#include <petscviewer.h>

/* Across an interface of contrast c with harmonic means max_j |a_ij| jumps by c/2, next to it by 2: this lies between for contrasts of 1e2 and more */
#define POLDER_REGION_JUMP 10.0
/* Regions of fewer rows join a neighbour */
#define POLDER_REGION_TINY 8
/* Tiny regions are absorbed from their border, one layer of rows at a time */
#define POLDER_REGION_ROUNDS 8

/* A file that is missing, of another kind or too short is found before any process waits for its data */
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
  PetscCheck(bad != 2, comm, PETSC_ERR_FILE_UNEXPECTED, "Cannot read the level set: %s is not a PETSc binary file with a vector (write one with VecView() and a binary viewer)", file);
  PetscCheck(bad != 3, comm, PETSC_ERR_FILE_UNEXPECTED, "The level set in %s has %" PetscInt_FMT " values, the matrix has %" PetscInt_FMT " rows", file, header[1], M);
  PetscCheck(bad != 4, comm, PETSC_ERR_FILE_UNEXPECTED, "The level set in %s is cut short: the file is damaged", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The file holds the values by row, or in the natural numbering of the grid when the rows belong to a DMDA, as VecView() writes them */
static PetscErrorCode PolderLevelSetLoad(PolderDeflationSpace s, Mat A, const PolderCSR *csr, Vec *levelset)
{
  PetscViewer viewer;
  PolderGrid  grid;
  DM          dm = s->dm;

  PetscFunctionBegin;
  PetscCall(PolderLevelSetCheckFile(s->comm, s->levelsetfrom, csr->M));
  PetscCall(PolderDeflationGetGrid(s, A, &grid));
  if (!dm) PetscCall(MatGetDM(A, &dm));
  if (grid.dim && !grid.natural) PetscCall(DMCreateGlobalVector(dm, levelset));
  else {
    PetscCall(VecCreate(s->comm, levelset));
    PetscCall(VecSetSizes(*levelset, csr->m, csr->M));
    PetscCall(VecSetType(*levelset, VECSTANDARD));
  }
  PetscCall(PetscViewerBinaryOpen(s->comm, s->levelsetfrom, FILE_MODE_READ, &viewer));
  PetscCall(VecLoad(*levelset, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Classes of the values of a vector, which may be anywhere; cls[] is where the rows are. nan: some value is not a number */
static PetscErrorCode PolderLevelSetClasses(Vec levelset, const PolderCSR *csr, PetscInt outside, PetscInt cls[], PetscInt *nan)
{
  const PetscScalar *v;
  PetscInt          *classes = cls, *there;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(levelset, &device));
  if (csr->device && device) {
    PolderStream stream;

    PetscCall(PolderDeviceGetStream(&stream));
    PetscCall(PolderRowsPut(csr, 1, nan, &there));
    PetscCall(PolderVecGetDeviceRead(levelset, &v));
    PolderLaunch(PolderLevelSetClass_CUDA(csr->m, v, outside, cls, there, stream));
    PetscCall(PolderVecRestoreDeviceRead(levelset, &v));
    PetscCall(PolderRowsTake(csr, 1, nan, &there));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (csr->device) PetscCall(PetscMalloc1(csr->m, &classes));
  PetscCall(VecGetArrayRead(levelset, &v));
  PolderLevelSetClass_Host(csr->m, v, outside, classes, nan);
  PetscCall(VecRestoreArrayRead(levelset, &v));
  if (csr->device) {
    PetscCall(PolderDeviceFromHost(cls, classes, sizeof(*cls) * (size_t)csr->m));
    PetscCall(PetscFree(classes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationLevelSet(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt outside, PetscInt cls[], PetscBool *given)
{
  Vec       levelset = s->levelset;
  PetscBool regions;
  PetscInt  m, M, bad[2] = {0, 0}, all[2];

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->levelsetfrom, "auto", &regions));
  if (levelset) PetscCall(PetscObjectReference((PetscObject)levelset));
  else if (s->levelsetfrom[0] && !regions) PetscCall(PolderLevelSetLoad(s, A, csr, &levelset));
  else if (!regions) {
    PetscCall(PetscObjectQuery((PetscObject)A, "levelset", (PetscObject *)&levelset));
    PetscCall(PetscObjectReference((PetscObject)levelset));
  }
  *given = (PetscBool)(levelset != NULL);
  if (!levelset) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(levelset, &m));
  PetscCall(VecGetSize(levelset, &M));
  bad[0] = m != csr->m || M != csr->M;
  if (!bad[0]) PetscCall(PolderLevelSetClasses(levelset, csr, outside, cls, &bad[1]));
  PetscCallAllreduce(bad, all, 2, MPIU_INT, MPI_MAX, s->comm);
  PetscCheck(!all[0], s->comm, PETSC_ERR_ARG_SIZ, "The level set must have the layout of the matrix: one value for each local row (it has %" PetscInt_FMT " values in all, the matrix %" PetscInt_FMT " rows)", M, csr->M);
  PetscCheck(!all[1], s->comm, PETSC_ERR_FP, "The level set has values that are not a number");
  PetscCall(VecDestroy(&levelset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n <- number of components. On the host they keep the numbers of their smallest rows, each counted by the process of that row; on the device they are numbered
   from 0. The numbers are below bound */
static PetscErrorCode PolderComponentsCount(MPI_Comm comm, const PolderCSR *csr, PetscInt comp[], PetscInt *n, PetscInt *bound)
{
  PetscInt here = 0;

  PetscFunctionBegin;
  *bound = csr->M + 1;
  if (csr->device) {
    PetscCall(PolderLabelsCompress(comm, csr, 1, NULL, *bound, comp, comp, n));
    *bound = PetscMax(*n, 1);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < csr->m; ++i) here += comp[i] == csr->rstart + i;
  PetscCallAllreduce(&here, n, 1, MPIU_INT, MPI_SUM, comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of tiny regions (comp = -2) join the neighbour they are tied to most; those far from any region that stays form one of their own, M */
static PetscErrorCode PolderRegionsAbsorb(Mat A, const PolderCSR *csr, PetscInt comp[])
{
  PetscInt   *next, *ghost, left, all;
  PolderHalo  halo = NULL;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderRowsMalloc(csr, csr->m, &next));
  PetscCall(PetscMalloc1(csr->nghost, &ghost));
  for (int round = 0; round < POLDER_REGION_ROUNDS; ++round) {
    if (csr->device) { // a round without rows is cheaper than asking
      PolderStream stream;

      PetscCall(PolderDeviceGetStream(&stream));
      PolderLaunch(PolderRegionsNext_CUDA(csr->m, csr->ai, csr->aj, csr->aa, comp, next, stream));
      PolderLaunch(PolderRegionsJoin_CUDA(csr->m, next, comp, stream));
      continue;
    }
    if (size > 1) PetscCall(PolderHaloExchange(halo, MPIU_INT, comp, ghost));
    PolderRegionsNext_Host(csr->m, csr->ai, csr->aj, csr->aa, csr->bi, csr->bj, csr->ba, comp, ghost, next);
    left = PolderRegionsJoin_Host(csr->m, next, comp);
    PetscCallAllreduce(&left, &all, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A));
    if (!all) break;
  }
  PolderRowsRun(csr, PolderIndexReplace, csr->m, -2, csr->M, comp);
  PetscCall(PetscFree(ghost));
  PetscCall(PolderRowsFree(csr, &next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the numbers label[] of n regions: how many of them are not tiny, and the number of the largest. count[n] is made where the rows are */
static PetscErrorCode PolderRegionsSurvey(MPI_Comm comm, const PolderCSR *csr, PetscInt n, const PetscInt label[], PetscInt **count, PetscInt *big, PetscInt *most)
{
  PetscInt    summary[2] = {0, -1}, *there;
  PetscMPIInt len;

  PetscFunctionBegin;
  PetscCall(PolderRowsMalloc(csr, n, count));
  if (csr->device) PetscCall(PolderDeviceZero(*count, sizeof(**count) * (size_t)n));
  else PetscCall(PetscArrayzero(*count, n));
  PolderRowsRun(csr, PolderRegionSizes, csr->m, label, *count);
  if (!csr->device) {
    PetscCall(PetscMPIIntCast(n, &len));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, *count, len, MPIU_INT, MPI_SUM, comm));
  }
  PetscCall(PolderRowsPut(csr, 2, summary, &there));
  PolderRowsRun(csr, PolderRegionSummary, n, *count, POLDER_REGION_TINY, there);
  PetscCall(PolderRowsTake(csr, 2, summary, &there));
  *big  = summary[0];
  *most = summary[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationRegions(Mat A, const PolderCSR *csr, PetscInt comp[], PetscInt *nregion, PetscInt *largest)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt n, bound, *label = comp, *count, big = 0, most = -1, smallest = -1;

  PetscFunctionBegin;
  *nregion = 0;
  *largest = -1;
  PetscCall(PolderMatRegions(A, csr, POLDER_REGION_JUMP, comp));
  PetscCall(PolderComponentsCount(comm, csr, comp, &n, &bound));
  if (n > PetscMax(4096, csr->M / 16)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!csr->device) {
    PetscCall(PetscMalloc1(csr->m, &label));
    PetscCall(PolderLabelsCompress(comm, csr, 1, NULL, bound, comp, label, &n));
  }
  PetscCall(PolderRegionsSurvey(comm, csr, n, label, &count, &big, &most));
  if (big < n && big) {
    PolderRowsRun(csr, PolderRegionsMarkTiny, csr->m, label, count, POLDER_REGION_TINY, comp);
    PetscCall(PolderRegionsAbsorb(A, csr, comp));
  }
  *nregion = PetscMax(big, 1);
  if (csr->device) *largest = most;
  else { // the smallest row of the largest region, known to the processes that hold a part of it
    for (PetscInt i = 0; i < csr->m && smallest < 0; ++i) {
      if (label[i] == most) smallest = comp[i];
    }
    PetscCallAllreduce(&smallest, largest, 1, MPIU_INT, MPI_MAX, comm);
    PetscCall(PetscFree(label));
  }
  PetscCall(PolderRowsFree(csr, &count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Components of one sign of the level set, without rows that couple to no other: each would be a component of its own and needs no vector */
static PetscErrorCode PolderLevelSetComponents(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt outside, PetscInt comp[], PetscBool *given)
{
  PetscInt *cls;

  PetscFunctionBegin;
  PetscCall(PolderRowsMalloc(csr, csr->m, &cls));
  PetscCall(PolderDeflationLevelSet(s, A, csr, outside, cls, given));
  if (*given) {
    PolderRowsRun(csr, PolderLoneRows, csr->m, csr->ai, csr->aj, csr->bi, cls);
    PetscCall(PolderMatComponents(A, csr, cls, comp));
  }
  PetscCall(PolderRowsFree(csr, &cls));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest region changes numbers with the last one, whose column is left out where the columns depend on each other through the kernel of A */
static PetscErrorCode PolderRegionsLargestLast(MPI_Comm comm, const PolderCSR *csr, PetscInt n, PetscInt label[])
{
  PetscInt *count, big, most;

  PetscFunctionBegin;
  if (n < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderRegionsSurvey(comm, csr, n, label, &count, &big, &most));
  PetscCall(PolderRowsFree(csr, &count));
  PolderRowsRun(csr, PolderIndexReplace, csr->m, most, n, label);
  PolderRowsRun(csr, PolderIndexReplace, csr->m, n - 1, most, label);
  PolderRowsRun(csr, PolderIndexReplace, csr->m, n, n - 1, label);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationLevelSetLabels(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  const char *less = s->thesis ? "; those outside have no vector" : "";
  PetscInt    nregion, largest;
  PetscBool   given;

  PetscFunctionBegin;
  PetscCall(PolderLevelSetComponents(s, A, csr, s->thesis ? -1 : 0, label, &given));
  if (!given) {
    PetscCall(PolderDeflationRegions(A, csr, label, &nregion, &largest));
    if (nregion < 2) PolderRowsRun(csr, PolderIndexFill, csr->m, -1, label);
    else if (s->thesis) PolderRowsRun(csr, PolderIndexReplace, csr->m, largest, -1, label);
  }
  PetscCall(PolderLabelsCompress(s->comm, csr, 1, NULL, csr->M + 1, label, label, d));
  if (!s->thesis) PetscCall(PolderRegionsLargestLast(s->comm, csr, *d, label));
  if (given) PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "as asked, %" PetscInt_FMT " connected regions of the level set%s", *d, less));
  else if (nregion == 1) PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "no level set is given and the matrix shows no jump: no vectors"));
  else if (!nregion) PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "no level set is given and the entries of the matrix jump nearly everywhere: no vectors"));
  else PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "no level set is given, the matrix shows %" PetscInt_FMT " regions%s", nregion, s->thesis ? "; the largest has no vector" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* comp[], its bound, and the number of components, 1 or less when there is nothing to cut by; says in text where they come from */
static PetscErrorCode PolderDeflationComponents(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt comp[], PetscInt *n, PetscInt *bound, char text[], size_t len)
{
  PetscInt  largest, occur;
  PetscBool given;

  PetscFunctionBegin;
  *bound = csr->M + 1;
  PetscCall(PolderLevelSetComponents(s, A, csr, 0, comp, &given));
  if (given) {
    PetscCall(PolderComponentsCount(s->comm, csr, comp, n, bound));
    PetscCall(PetscSNPrintf(text, len, "the level set has %" PetscInt_FMT " regions", *n));
  } else {
    PetscCall(PolderDeflationRegions(A, csr, comp, n, &largest));
    if (csr->device && *n > 0) PetscCall(PolderComponentsCount(s->comm, csr, comp, &occur, bound)); // numbered anew, since tiny ones are gone
    if (*n == 1) PetscCall(PetscSNPrintf(text, len, "the matrix shows no jump"));
    else if (*n == 0) PetscCall(PetscSNPrintf(text, len, "the entries of the matrix jump nearly everywhere"));
    else PetscCall(PetscSNPrintf(text, len, "the matrix shows %" PetscInt_FMT " regions", *n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the labels are made of, for the view */
static PetscErrorCode PolderPieceLabelsSay(PolderDeflationSpace s, const PolderParts *parts, PetscBool automatic, PetscBool pieces, PetscInt ncomp, const char text[])
{
  const char *kind = pieces ? POLDERDEFLATIONLEVELSETSUBDOMAIN : (parts->grid.dim ? POLDERDEFLATIONSUBDOMAIN : POLDERDEFLATIONPARTITION);

  PetscFunctionBegin;
  if (automatic) PetscCall(PetscStrncpy(s->chosen, kind, sizeof(s->chosen)));
  PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "%s%s%s, %s %s", automatic ? "chosen automatically: " : "as asked: ", text, ncomp > 1 && !pieces ? ", too many to use" : "", pieces ? "cut by" : "taken whole by", parts->text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationPieceLabels(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  PolderParts parts;
  PetscInt   *part, *comp, ncomp, bound, target, most, enough;
  PetscBool   automatic, pieces, metis;
  char        text[128];

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONAUTO, &automatic));
  PetscCall(PolderPartsCreate(s, A, csr, &parts));
  metis = (PetscBool)!parts.grid.dim;
  *d    = -1;
  if (metis && csr->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderRowsMalloc(csr, csr->m, &part));
  PetscCall(PolderRowsMalloc(csr, csr->m, &comp));
  PetscCall(PolderDeflationComponents(s, A, csr, comp, &ncomp, &bound, text, sizeof(text)));
  most   = PetscMax(parts.target, csr->M / 64);
  pieces = (PetscBool)(ncomp > 1 && (!automatic || ncomp <= most));
  /* a cut by boxes is cheap to repeat until the number of pieces is right; METIS parts leave room for them */
  target = metis && pieces && !parts.fixed ? parts.target - parts.target / 4 : parts.target;
  enough = parts.target + parts.target / (metis ? 2 : 20);
  for (int attempt = 0; attempt < 4; ++attempt) {
    const PetscBool cut = (PetscBool)(ncomp == 1 || pieces);

    PetscCall(PolderPartsFill(&parts, A, csr, target, part));
    PetscCall(PolderLabelsCompress(s->comm, csr, parts.bound, part, cut ? bound : 1, cut ? comp : NULL, label, d));
    if (parts.fixed || *d <= enough || parts.count == 1) break;
    target = PetscMax(1, (PetscInt)(0.97 * (PetscReal)target * (PetscReal)parts.target / (PetscReal)*d));
  }
  if (automatic && *d < 2) {
    PolderRowsRun(csr, PolderIndexFill, csr->m, -1, label);
    *d = 0;
    PetscCall(PetscStrncpy(s->chosen, POLDERDEFLATIONNONE, sizeof(s->chosen)));
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "%s, and %" PetscInt_FMT " rows are too few for parts", text, csr->M));
  } else PetscCall(PolderPieceLabelsSay(s, &parts, automatic, pieces, ncomp, text));
  PetscCall(PolderRowsFree(csr, &comp));
  PetscCall(PolderRowsFree(csr, &part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
