static const char help[] = "Colours of rows and Gauss-Seidel by colours on the device, against their host twins and against what they are for: on grids, "
                           "bands, stars and dense matrices.\n\n";

#include "devicetest.h"
#include "kernels/colours.h"
#include "kernels/level.h"
#include "kernels/pairs.h"

/* A symmetric matrix on the host and on the device, dinv the inverse of its diagonal */
typedef struct {
  PetscInt     n, nz, *i, *j, *di, *dj;
  PetscScalar *a, *da, *dinv, *ddinv;
  PetscInt64  *place, *dplace; /* in a grid, else NULL */
} Rows;

/* Do rows i < j couple? */
typedef PetscBool (*Couples)(PetscInt i, PetscInt j);

static PetscBool Grid2(PetscInt i, PetscInt j)
{
  return (PetscBool)(j - i == 31 || (j - i == 1 && j % 31));
}

static PetscBool Grid3(PetscInt i, PetscInt j)
{
  return (PetscBool)(j - i == 99 || (j - i == 9 && i / 9 % 11 < 10) || (j - i == 1 && j % 9));
}

static PetscBool Band(PetscInt i, PetscInt j)
{
  return (PetscBool)(j - i <= 30 && (i * 31 + j * 17) % 8);
}

static PetscBool Thin(PetscInt i, PetscInt j)
{
  return (PetscBool)((j - i == 1 || j - i == 7 || j - i == 50) && (i + j) % 5);
}

static PetscBool Star(PetscInt i, PETSC_UNUSED PetscInt j)
{
  return (PetscBool)(i == 0);
}

static PetscBool Dense(PETSC_UNUSED PetscInt i, PETSC_UNUSED PetscInt j)
{
  return PETSC_TRUE;
}

static PetscBool None(PETSC_UNUSED PetscInt i, PETSC_UNUSED PetscInt j)
{
  return PETSC_FALSE;
}

/* near: rows of a line and of a plane of a grid; most: rows of the largest matrix */
static const struct {
  const char *name;
  Couples     couples;
  PetscInt    reach, near[3], most;
} Graphs[] = {
  {"grid 2-D", Grid2, 31,   {1, 31, 31}, 40007},
  {"grid 3-D", Grid3, 99,   {1, 9, 99},  40007},
  {"band",     Band,  30,   {0, 0, 0},   40007},
  {"thin",     Thin,  50,   {0, 0, 0},   40007},
  {"star",     Star,  3001, {0, 0, 0},   3001 },
  {"dense",    Dense, 257,  {0, 0, 0},   257  },
  {"none",     None,  1,    {0, 0, 0},   3001 }
};
static const PetscInt Sizes[] = {1, 2, 31, 33, 64, 65, 257, 3001, 40007};

static PetscErrorCode RowsCreate(PetscInt n, size_t g, Rows *A)
{
  const PetscInt reach = Graphs[g].reach;

  PetscFunctionBeginUser;
  *A = (Rows){.n = n};
  PetscCall(PetscMalloc2(n + 1, &A->i, n, &A->dinv));
  for (int fill = 0; fill < 2; ++fill) {
    if (fill) PetscCall(PetscMalloc2(A->nz, &A->j, A->nz, &A->a));
    A->nz = 0;
    for (PetscInt i = 0; i < n; ++i) {
      A->i[i] = A->nz;
      for (PetscInt j = PetscMax(0, i - reach); j < PetscMin(n, i + reach + 1); ++j) {
        if (i != j && !Graphs[g].couples(PetscMin(i, j), PetscMax(i, j))) continue;
        if (fill) {
          A->j[A->nz] = j;
          A->a[A->nz] = i == j ? 100 : Number();
        }
        ++A->nz;
      }
      A->dinv[i] = 0.01;
    }
  }
  A->i[n] = A->nz;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(n + 1), A->i, &A->di));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)A->nz, A->j, &A->dj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)A->nz, A->a, &A->da));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)n, A->dinv, &A->ddinv));
  if (Graphs[g].near[0]) {
    PetscCall(PetscMalloc1(n, &A->place));
    for (PetscInt i = 0; i < n; ++i) A->place[i] = PolderPairPlaceOf(i, Graphs[g].near);
    PetscCall(PolderDeviceUpload(sizeof(PetscInt64) * (size_t)n, A->place, &A->dplace));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(A->i, A->dinv));
  PetscCall(PetscFree2(A->j, A->a));
  PetscCall(PetscFree(A->place));
  PetscCall(PolderDeviceFree(&A->di));
  PetscCall(PolderDeviceFree(&A->dj));
  PetscCall(PolderDeviceFree(&A->da));
  PetscCall(PolderDeviceFree(&A->ddinv));
  PetscCall(PolderDeviceFree(&A->dplace));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of colour c has a neighbour of each colour below c, and none of its own; counts the rows that have not */
static PetscInt WrongColours(const Rows *A, const PetscInt colour[])
{
  PetscInt wrong = 0;

  for (PetscInt i = 0; i < A->n; ++i) {
    unsigned long long met = 0;

    if (colour[i] < 0 || colour[i] > POLDER_COLOURS) ++wrong;
    if (colour[i] < 0 || colour[i] >= POLDER_COLOURS) continue;
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
      if (A->j[k] != i && colour[A->j[k]] < POLDER_COLOURS) met |= 1ull << colour[A->j[k]];
    }
    wrong += (met >> colour[i] & 1) || (met & ((1ull << colour[i]) - 1)) != (1ull << colour[i]) - 1;
  }
  return wrong;
}

/* Rounds on the device and on the host, then the check that finds what is wrong; *bad: rows have none */
static PetscErrorCode TestColours(const Rows *A, PolderStream stream, PetscInt colour[], PetscInt colour_d[], PetscBool *bad, PetscInt *wrong)
{
  const PetscInt n = A->n;
  PetscInt      *got, *left[2], *there, *mine, count = n, flag = 0, flags[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &got, n, &mine));
  for (int b = 0; b < 2; ++b) PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)n, &left[b]));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt), &there));
  for (PetscInt i = 0; i < n; ++i) colour[i] = POLDER_COLOUR_NONE;
  PetscCall(PolderDeviceFromHost(colour_d, colour, sizeof(PetscInt) * (size_t)n));
  for (PetscInt round = 0; count && round <= n; ++round) {
    PolderLaunch(PolderColoursRound_CUDA(count, round ? left[1 - round % 2] : NULL, A->di, A->dj, colour_d, left[round % 2], there, stream));
    PetscCall(PolderDeviceToHost(&count, there, sizeof(count)));
  }
  *wrong += count;
  for (PetscInt round = 0, n = A->n; n && round <= A->n; ++round) PolderColoursRound_Host(n, round ? mine : NULL, A->i, A->j, colour, mine, &n);
  PetscCall(PolderDeviceToHost(got, colour_d, sizeof(PetscInt) * (size_t)n));
  for (PetscInt i = 0; i < n; ++i) *wrong += got[i] != colour[i];
  *wrong += WrongColours(A, colour);
  for (int spoilt = 0; spoilt < 2; ++spoilt) { // and with a row of the colour of its neighbour
    PetscCall(PolderDeviceZero(there, sizeof(*there)));
    PolderLaunch(PolderColoursCheck_CUDA(n, A->di, A->dj, colour_d, there, stream));
    PetscCall(PolderDeviceToHost(&flags[spoilt], there, sizeof(flag)));
    flag = 0;
    PolderColoursCheck_Host(n, A->i, A->j, colour, &flag);
    *wrong += flag != flags[spoilt];
    if (spoilt || A->i[1] < 2) break;
    got[0]    = colour[0];
    colour[0] = colour[A->j[1]];
    PetscCall(PolderDeviceFromHost(colour_d, colour, sizeof(PetscInt)));
  }
  if (A->i[1] > 1) {
    *wrong += !flags[1];
    colour[0] = got[0];
    PetscCall(PolderDeviceFromHost(colour_d, colour, sizeof(PetscInt)));
  }
  *bad = flags[0] ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscFree2(got, mine));
  for (int b = 0; b < 2; ++b) PetscCall(PolderDeviceFree(&left[b]));
  PetscCall(PolderDeviceFree(&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two colours by the places */
static PetscErrorCode TestPlaces(const Rows *A, PolderStream stream, PetscInt *wrong)
{
  const PetscInt n = A->n;
  PetscInt      *got, *colour, *there, flag = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &got));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)n, &colour));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt), &there));
  PetscCall(PolderDeviceZero(there, sizeof(PetscInt)));
  PolderLaunch(PolderColoursPlaces_CUDA(n, A->dplace, colour, stream));
  PolderLaunch(PolderColoursCheck_CUDA(n, A->di, A->dj, colour, there, stream));
  PetscCall(PolderDeviceToHost(&flag, there, sizeof(flag)));
  PetscCall(PolderDeviceToHost(got, colour, sizeof(PetscInt) * (size_t)n));
  *wrong += flag;
  for (PetscInt i = 0; i < n; ++i) {
    *wrong += got[i] != 0 && got[i] != 1;
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) *wrong += A->j[k] != i && got[i] == got[A->j[k]];
  }
  PolderColoursPlaces_Host(n, A->place, got);
  PetscCall(PolderDeviceFromHost(colour, got, sizeof(PetscInt) * (size_t)n));
  PolderLaunch(PolderColoursCheck_CUDA(n, A->di, A->dj, colour, there, stream));
  PetscCall(PolderDeviceToHost(&flag, there, sizeof(flag)));
  *wrong += flag;
  PetscCall(PetscFree(got));
  PetscCall(PolderDeviceFree(&colour));
  PetscCall(PolderDeviceFree(&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far row i is from a_ii x_i + sum of a_ij (x_j, of old[] for the colours that the sweep had not reached) = b_i */
static PetscReal Away(const Rows *A, PetscInt i, const PetscInt colour[], PetscBool backward, const PetscScalar b[], const PetscScalar old[],
                      const PetscScalar x[])
{
  PetscScalar s = -b[i];

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscInt  j     = A->j[k];
    const PetscBool ready = (PetscBool)(backward ? colour[j] >= colour[i] : colour[j] <= colour[i]);

    s += A->a[k] * (ready ? x[j] : old[j]);
  }
  return PetscAbsScalar(s);
}

/* A sweep over zero and one backward, in double precision, by what Gauss-Seidel is */
static PetscErrorCode TestSweeps(const Rows *A, const PetscInt colour[], const PetscInt colour_d[], PolderStream stream, PetscInt *wrong)
{
  const PetscInt          n     = A->n;
  const size_t            bytes = PolderWorkSize(PolderPairsWork_CUDA(n));
  const PolderLevelMatrix M     = {.n = n, .nz = A->nz, .ai = A->di, .aj = A->dj, .aa = A->da, .dinv = A->ddinv};
  PetscInt               *ptr, *row, *scratch[2], first[POLDER_COLOURS + 1], ncolour = 0;
  PetscScalar            *b, *b_d, *x, *x_d, *old;
  void                   *work;

  PetscFunctionBeginUser;
  PetscCall(Random(n, &b, &b_d));
  PetscCall(PetscCalloc1(n, &old));
  PetscCall(PetscMalloc1(n, &x));
  for (PetscInt i = 0; i < n; ++i) x[i] = NAN;
  PetscCall(PolderDeviceUpload(sizeof(*x) * (size_t)n, x, &x_d));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (POLDER_COLOURS + 2), &ptr));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)n, &row));
  for (int k = 0; k < 2; ++k) PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)n, &scratch[k]));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderMembers_CUDA(&(PolderAggregates){n, POLDER_COLOURS, colour_d, ptr, row, NULL}, scratch, work, bytes, stream));
  PetscCall(PolderDeviceToHost(first, ptr, sizeof(first)));
  while (first[ncolour] < n) ++ncolour;
  PolderLaunch(PolderLevelColourFirst_CUDA(PETSC_FALSE, &M, first[1], row, b_d, x_d, stream));
  for (PetscInt c = 1; c < ncolour; ++c) PolderLaunch(PolderLevelColour_CUDA(PETSC_FALSE, &M, first[c + 1] - first[c], row + first[c], b_d, x_d, stream));
  PetscCall(PolderDeviceToHost(x, x_d, sizeof(*x) * (size_t)n));
  for (PetscInt i = 0; i < n; ++i) *wrong += !(Away(A, i, colour, PETSC_FALSE, b, old, x) <= 1e-12);
  PetscCall(PetscArraycpy(old, x, n));
  for (PetscInt c = ncolour - 1; c >= 0; --c) PolderLaunch(PolderLevelColour_CUDA(PETSC_FALSE, &M, first[c + 1] - first[c], row + first[c], b_d, x_d, stream));
  PetscCall(PolderDeviceToHost(x, x_d, sizeof(*x) * (size_t)n));
  for (PetscInt i = 0; i < n; ++i) *wrong += !(Away(A, i, colour, PETSC_TRUE, b, old, x) <= 1e-12);
  PetscCall(PetscFree(b));
  PetscCall(PetscFree(x));
  PetscCall(PetscFree(old));
  PetscCall(PolderDeviceFree(&b_d));
  PetscCall(PolderDeviceFree(&x_d));
  PetscCall(PolderDeviceFree(&ptr));
  PetscCall(PolderDeviceFree(&row));
  for (int k = 0; k < 2; ++k) PetscCall(PolderDeviceFree(&scratch[k]));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGraphs(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(Graphs); ++g) {
    PetscInt wrong = 0;

    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes) && Sizes[s] <= (small ? PetscMin(3001, Graphs[g].most) : Graphs[g].most); ++s) {
      Rows      A;
      PetscInt *colour, *colour_d;
      PetscBool bad = PETSC_FALSE;

      PetscCall(RowsCreate(Sizes[s], g, &A));
      PetscCall(PetscMalloc1(A.n, &colour));
      PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)A.n, &colour_d));
      PetscCall(TestColours(&A, stream, colour, colour_d, &bad, &wrong));
      wrong += bad != (Graphs[g].couples == Dense && A.n > POLDER_COLOURS);
      if (!bad) PetscCall(TestSweeps(&A, colour, colour_d, stream, &wrong));
      if (A.place) PetscCall(TestPlaces(&A, stream, &wrong));
      PetscCall(PetscFree(colour));
      PetscCall(PolderDeviceFree(&colour_d));
      PetscCall(RowsDestroy(&A));
    }
    PetscCall(Report(Graphs[g].name, wrong));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestGraphs}};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck racecheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicecolours_1.out

TEST*/
