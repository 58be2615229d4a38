/* Labels that follow a level set, or the regions that the matrix shows by jumps of its entries. */
#include "deflationlabels.h"
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
      else if ((PetscInt64)size < (PetscInt64)(2 * PETSC_BINARY_INT_SIZE) + (PetscInt64)M * (PetscInt64)PETSC_BINARY_SCALAR_SIZE) bad = 4;
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

PetscErrorCode PolderDeflationLevelSet(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt cls[], PetscBool *given)
{
  Vec                levelset = s->levelset;
  PetscBool          regions;
  PetscInt           m, M, bad[2] = {0, 0}, all[2];
  const PetscScalar *v;

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
  PetscCall(VecGetArrayRead(levelset, &v));
  bad[0] = m != csr->m || M != csr->M;
  for (PetscInt i = 0; i < csr->m && !bad[0]; ++i) {
    cls[i] = PetscRealPart(v[i]) > 0;
    bad[1] |= PetscIsNanScalar(v[i]) != 0;
  }
  PetscCall(VecRestoreArrayRead(levelset, &v));
  PetscCallAllreduce(bad, all, 2, MPIU_INT, MPI_MAX, s->comm);
  PetscCheck(!all[0], s->comm, PETSC_ERR_ARG_SIZ, "The level set must have the layout of the matrix: one value for each local row (it has %" PetscInt_FMT " values in all, the matrix %" PetscInt_FMT " rows)", M, csr->M);
  PetscCheck(!all[1], s->comm, PETSC_ERR_FP, "The level set has values that are not a number");
  PetscCall(VecDestroy(&levelset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Components are numbered by their smallest row, so each is counted by the process of that row */
static PetscErrorCode PolderComponentsCount(MPI_Comm comm, const PolderCSR *csr, const PetscInt comp[], PetscInt *n)
{
  PetscInt here = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < csr->m; ++i) here += comp[i] == csr->rstart + i;
  PetscCallAllreduce(&here, n, 1, MPIU_INT, MPI_SUM, comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The region of the strongest entry of row i to a region that stays, -1 when there is none */
static PetscInt PolderRegionOfNeighbour(const PolderCSR *csr, PetscInt i, const PetscInt comp[], const PetscInt ghost[])
{
  PetscReal best  = 0;
  PetscInt  found = -1;

  for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
    const PetscInt  c = comp[csr->aj[k]];
    const PetscReal a = PetscAbsScalar(csr->aa[k]);

    if (c >= 0 && (a > best || (a == best && found > c))) {
      best  = a;
      found = c;
    }
  }
  for (PetscInt k = csr->bi ? csr->bi[i] : 0; csr->bi && k < csr->bi[i + 1]; ++k) {
    const PetscInt  c = ghost[csr->bj[k]];
    const PetscReal a = PetscAbsScalar(csr->ba[k]);

    if (c >= 0 && (a > best || (a == best && found > c))) {
      best  = a;
      found = c;
    }
  }
  return found;
}

/* Rows of tiny regions (comp = -2) join the neighbour they are tied to most; those far from any region that stays form one of their own, M */
static PetscErrorCode PolderRegionsAbsorb(Mat A, const PolderCSR *csr, PetscInt comp[])
{
  PetscInt   *row, *next, *ghost, n = 0, left, all;
  PolderHalo  halo = NULL;
  PetscMPIInt size;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < csr->m; ++i) n += comp[i] == -2;
  PetscCall(PetscMalloc3(n, &row, n, &next, csr->nghost, &ghost));
  n = 0;
  for (PetscInt i = 0; i < csr->m; ++i) {
    if (comp[i] == -2) row[n++] = i;
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(PolderMatGetHalo(A, &halo));
  for (int round = 0; round < POLDER_REGION_ROUNDS; ++round) {
    PetscCallAllreduce(&n, &all, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A));
    if (!all) break;
    if (size > 1) PetscCall(PolderHaloExchange(halo, MPIU_INT, comp, ghost));
    for (PetscInt k = 0; k < n; ++k) next[k] = PolderRegionOfNeighbour(csr, row[k], comp, ghost);
    left = 0;
    for (PetscInt k = 0; k < n; ++k) {
      if (next[k] >= 0) comp[row[k]] = next[k];
      else row[left++] = row[k];
    }
    n = left;
  }
  for (PetscInt k = 0; k < n; ++k) comp[row[k]] = csr->M;
  PetscCall(PetscFree3(row, next, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationRegions(Mat A, const PolderCSR *csr, PetscInt comp[], PetscInt *nregion, PetscInt *largest)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscInt    n, *label, *count, big = 0, most = -1;
  PetscMPIInt len;

  PetscFunctionBegin;
  *nregion = 0;
  *largest = -1;
  PetscCall(PolderMatRegions(A, csr, POLDER_REGION_JUMP, comp));
  PetscCall(PolderComponentsCount(comm, csr, comp, &n));
  if (n > PetscMax(4096, csr->M / 16)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(csr->m, &label));
  PetscCall(PolderLabelsCompress(comm, csr->m, NULL, comp, label, &n));
  PetscCall(PetscCalloc1(n, &count));
  for (PetscInt i = 0; i < csr->m; ++i) {
    if (label[i] >= 0) count[label[i]]++;
  }
  PetscCall(PetscMPIIntCast(n, &len));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, len, MPIU_INT, MPI_SUM, comm));
  for (PetscInt k = 0; k < n; ++k) {
    big += count[k] >= POLDER_REGION_TINY;
    if (most < 0 || count[k] > count[most]) most = k;
  }
  if (big < n && big) {
    for (PetscInt i = 0; i < csr->m; ++i) {
      if (label[i] >= 0 && count[label[i]] < POLDER_REGION_TINY) comp[i] = -2;
    }
    PetscCall(PolderRegionsAbsorb(A, csr, comp));
  }
  *nregion = PetscMax(big, 1);
  n        = -1; /* the smallest row of the largest region, known to the processes that hold a part of it */
  for (PetscInt i = 0; i < csr->m && n < 0; ++i) {
    if (label[i] == most) n = comp[i];
  }
  PetscCallAllreduce(&n, largest, 1, MPIU_INT, MPI_MAX, comm);
  PetscCall(PetscFree(label));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows without couplings need no vector, and each would be a component of its own */
static void PolderExcludeLoneRows(const PolderCSR *csr, PetscInt cls[])
{
  for (PetscInt i = 0; i < csr->m; ++i) {
    const PetscInt n = csr->ai[i + 1] - csr->ai[i];

    if (n <= 1 && (!n || csr->aj[csr->ai[i]] == i) && (!csr->bi || csr->bi[i] == csr->bi[i + 1])) cls[i] = -1;
  }
}

PetscErrorCode PolderDeflationLevelSetLabels(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  PetscInt *cls, nregion, largest;
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &cls));
  PetscCall(PolderDeflationLevelSet(s, A, csr, cls, &given));
  if (given) {
    for (PetscInt i = 0; i < csr->m; ++i) cls[i] = cls[i] ? 1 : -1;
    PolderExcludeLoneRows(csr, cls);
    PetscCall(PolderMatComponents(A, csr, cls, label));
    PetscCall(PolderLabelsCompress(s->comm, csr->m, NULL, label, label, d));
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "as asked, %" PetscInt_FMT " connected regions where the level set is positive", *d));
  } else {
    PetscCall(PolderDeflationRegions(A, csr, label, &nregion, &largest));
    for (PetscInt i = 0; i < csr->m; ++i) label[i] = nregion < 2 || label[i] == largest ? -1 : label[i];
    PetscCall(PolderLabelsCompress(s->comm, csr->m, NULL, label, label, d));
    if (nregion == 1) PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "no level set is given and the matrix shows no jump: no vectors"));
    else if (!nregion) PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "no level set is given and the entries of the matrix jump nearly everywhere: no vectors"));
    else PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "no level set is given, the matrix shows %" PetscInt_FMT " regions; the largest has no vector", nregion));
  }
  PetscCall(PetscFree(cls));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* comp[] and the number of components, 1 or less when there is nothing to cut by; says in text where they come from */
static PetscErrorCode PolderDeflationComponents(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt comp[], PetscInt *n, PetscBool *given, char text[], size_t len)
{
  PetscInt *cls, largest;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &cls));
  PetscCall(PolderDeflationLevelSet(s, A, csr, cls, given));
  if (*given) {
    PolderExcludeLoneRows(csr, cls);
    PetscCall(PolderMatComponents(A, csr, cls, comp));
    PetscCall(PolderComponentsCount(s->comm, csr, comp, n));
    PetscCall(PetscSNPrintf(text, len, "the level set has %" PetscInt_FMT " regions", *n));
  } else {
    PetscCall(PolderDeflationRegions(A, csr, comp, n, &largest));
    if (*n == 1) PetscCall(PetscSNPrintf(text, len, "the matrix shows no jump"));
    else if (*n == 0) PetscCall(PetscSNPrintf(text, len, "the entries of the matrix jump nearly everywhere"));
    else PetscCall(PetscSNPrintf(text, len, "the matrix shows %" PetscInt_FMT " regions", *n));
  }
  PetscCall(PetscFree(cls));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationPieceLabels(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscInt label[], PetscInt *d)
{
  PolderParts parts;
  PetscInt   *part, *comp, ncomp, target, most, enough;
  PetscBool   automatic, given, pieces, metis;
  char        text[128];

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONAUTO, &automatic));
  PetscCall(PolderPartsCreate(s, A, csr, &parts));
  PetscCall(PetscMalloc2(csr->m, &part, csr->m, &comp));
  PetscCall(PolderDeflationComponents(s, A, csr, comp, &ncomp, &given, text, sizeof(text)));
  most   = PetscMax(parts.target, csr->M / 64);
  pieces = (PetscBool)(ncomp > 1 && (!automatic || ncomp <= most));
  /* a cut by boxes is cheap to repeat until the number of pieces is right; METIS parts leave room for them */
  metis  = (PetscBool)!parts.grid.dim;
  target = metis && pieces && !parts.fixed ? parts.target - parts.target / 4 : parts.target;
  enough = parts.target + parts.target / (metis ? 2 : 20);
  for (int attempt = 0; attempt < 4; ++attempt) {
    PetscCall(PolderPartsFill(&parts, A, csr, target, part));
    PetscCall(PolderLabelsCompress(s->comm, csr->m, part, ncomp == 1 || pieces ? comp : NULL, label, d));
    if (parts.fixed || *d <= enough || parts.count == 1) break;
    target = PetscMax(1, (PetscInt)(0.97 * (PetscReal)target * (PetscReal)parts.target / (PetscReal)*d));
  }
  if (automatic && *d < 2) {
    for (PetscInt i = 0; i < csr->m; ++i) label[i] = -1;
    *d = 0;
    PetscCall(PetscStrncpy(s->chosen, POLDERDEFLATIONNONE, sizeof(s->chosen)));
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "%s, and %" PetscInt_FMT " rows are too few for parts", text, csr->M));
  } else {
    if (automatic) PetscCall(PetscStrncpy(s->chosen, pieces ? POLDERDEFLATIONLEVELSETSUBDOMAIN : (parts.grid.dim ? POLDERDEFLATIONSUBDOMAIN : POLDERDEFLATIONPARTITION), sizeof(s->chosen)));
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "%s%s%s, %s %s", automatic ? "chosen automatically: " : "as asked: ", text, ncomp > 1 && !pieces ? ", too many to use" : "", pieces ? "cut by" : "taken whole by", parts.text));
  }
  PetscCall(PetscFree2(part, comp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
