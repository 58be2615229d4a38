static const char help[] = "Device kernels of the levels of PC pamg that are grids, against their host twins.\n\n";

#include "devicetest.h"
#include "kernels/bfloat.h"
#include "core/place.h"
#include "kernels/levelgridrow.h"
#include "kernels/pairrow.h"

/* A stencil on a part of a grid, on the host and on the device: [0] and [1] */
typedef struct {
  PolderLevelGrid        G[2];
  PolderLevelGridEntries A[2];
  PolderLevelGridRule    rule[2];
  PolderLevelGridRows    R[2];
  PetscInt              *mate, *agg;
  PetscReal             *excess, *size;
} Part;

/* n values of the host and a copy on the device */
static PetscErrorCode Both(size_t bytes, void *host, const void **here, const void **there)
{
  PetscFunctionBeginUser;
  *here = host;
  PetscCall(PolderDeviceUpload(bytes, host, (void *)there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random couplings, in rows or by directions; size: bytes of an entry */
static PetscErrorCode EntriesCreate(Part *P, size_t size, PetscBool rows)
{
  const PolderLevelGrid *G = P->G;
  const PetscInt         n = G->n, stride[3] = {1, G->size[0], G->size[0] * G->size[1]};
  PetscInt              *ai, *aj, nz = 0;
  void                  *aa, *up[3];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n + 1, &ai));
  PetscCall(PetscMalloc1(3 * n, &aj));
  PetscCall(PetscMalloc(3 * n * size, &aa));
  for (int d = 0; d < 3; ++d) PetscCall(PetscCalloc1(n, (PetscScalar **)&up[d]));
  ai[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt g = i + G->shift, at[3] = {g % G->size[0], g / G->size[0] % G->size[1], g / stride[2]};

    for (int d = 0; d < 3; ++d) {
      const PetscReal a = (float)(Next(20) ? -0.01 * (1 + Next(100)) : 0);

      if (at[d] + 1 >= G->size[d] || i + stride[d] >= n) continue;
      if (size == sizeof(PolderBfloat)) ((PolderBfloat *)up[d])[i] = ((PolderBfloat *)aa)[nz] = PolderBfloatRound((float)a);
      else if (size == sizeof(float)) ((float *)up[d])[i] = ((float *)aa)[nz] = (float)a;
      else ((PetscScalar *)up[d])[i] = ((PetscScalar *)aa)[nz] = a;
      aj[nz++] = i + stride[d];
    }
    ai[i + 1] = nz;
  }
  P->A[0].bfloat = P->A[1].bfloat = (PetscBool)(size == sizeof(PolderBfloat));
  P->A[0].single = P->A[1].single = (PetscBool)(size <= sizeof(float));
  PetscCall(Both(sizeof(*ai) * (size_t)(n + 1), ai, (const void **)&P->A[0].ai, (const void **)&P->A[1].ai));
  PetscCall(Both(sizeof(*aj) * (size_t)nz, aj, (const void **)&P->A[0].aj, (const void **)&P->A[1].aj));
  PetscCall(Both(size * (size_t)nz, aa, &P->A[0].aa, &P->A[1].aa));
  for (int d = 0; d < 3; ++d) {
    if (rows) PetscCall(PetscFree(up[d]));
    else PetscCall(Both(size * (size_t)n, up[d], &P->A[0].up[d], &P->A[1].up[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next level and the data of rows, some of which take no part */
static PetscErrorCode PartCreate(PolderLevelGrid G, size_t size, PetscBool rows, Part *P)
{
  const PetscInt n = G.n;
  PetscInt       nz;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(P, sizeof(*P)));
  PolderLevelGridCoarsen(&G);
  P->G[0] = P->G[1] = G;
  PetscCall(EntriesCreate(P, size, rows));
  PetscCall(PetscMalloc4(n, &P->mate, n, &P->agg, n, &P->excess, n, &P->size));
  for (PetscInt i = 0; i < n; ++i) {
    P->mate[i]   = Next(15) ? POLDER_PAIR_FREE : POLDER_PAIR_LONE;
    P->excess[i] = Next(3) ? 0 : 1 + Number();
    P->size[i]   = 4 + Number();
  }
  for (int k = 0; k < 2; ++k) P->rule[k] = (PolderLevelGridRule){.weak = 0.25, .split = 0.3};
  PetscCall(Both(sizeof(*P->mate) * (size_t)n, P->mate, (const void **)&P->rule[0].mate, (const void **)&P->rule[1].mate));
  PetscCall(Both(sizeof(*P->excess) * (size_t)n, P->excess, (const void **)&P->rule[0].excess, (const void **)&P->rule[1].excess));
  P->R[0].excess = P->rule[0].excess;
  P->R[1].excess = P->rule[1].excess;
  PetscCall(Both(sizeof(*P->size) * (size_t)n, P->size, (const void **)&P->R[0].size, (const void **)&P->R[1].size));
  nz = PolderLevelGridCoarseEntries(&G, G.nc);
  for (int k = 0; k < 2; ++k) {
    const PolderPlace *place = k ? &PolderOnDevice : &PolderOnHost;
    PetscInt          *agg;

    PetscCall(PolderPlaceMalloc(place, n, &P->G[k].w));
    PetscCall(PolderPlaceMalloc(place, n, &agg));
    P->R[k].agg     = agg;
    P->R[k].pattern = PETSC_TRUE;
    PetscCall(PolderPlaceMalloc(place, G.nc + 1, &P->R[k].ci));
    PetscCall(PolderPlaceMalloc(place, nz, &P->R[k].cj));
    PetscCall(PolderPlaceMalloc(place, nz, &P->R[k].ca));
    PetscCall(PolderPlaceMalloc(place, G.nc, &P->R[k].coarse));
    PetscCall(PolderPlaceMalloc(place, G.nc, &P->R[k].coarsesize));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PartDestroy(Part *P)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(P->mate, P->agg, P->excess, P->size));
  for (int k = 0; k < 2; ++k) {
    const PolderPlace   *place   = k ? &PolderOnDevice : &PolderOnHost;
    PolderLevelGridRows *R       = &P->R[k];
    void **const         array[] = {(void **)&R->agg,        (void **)&R->ci,      (void **)&R->cj,      (void **)&R->ca,     (void **)&R->coarse,
                                    (void **)&R->coarsesize, (void **)&P->A[k].ai, (void **)&P->A[k].aj, (void **)&P->A[k].aa};

    for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(array); ++a) PetscCall(place->free(array[a]));
    for (int d = 0; d < 3; ++d) PetscCall(place->free(&P->A[k].up[d]));
    PetscCall(place->free(&P->G[k].w));
  }
  PetscCall(PolderDeviceFree(&P->rule[1].mate));
  PetscCall(PolderDeviceFree(&P->rule[1].excess));
  PetscCall(PolderDeviceFree(&P->R[1].size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds to *wrong the values of the device that are further than tol from those of the host */
static PetscErrorCode Compare(size_t n, int kind, const void *here, const void *there, PetscReal tol, PetscInt *wrong)
{
  static const size_t sizes[] = {sizeof(PetscInt), sizeof(PetscScalar), sizeof(float)};
  void               *copy;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(n * sizes[kind], &copy));
  PetscCall(PolderDeviceToHost(copy, there, n * sizes[kind]));
  for (size_t i = 0; i < n; ++i) {
    if (kind == 0) *wrong += ((const PetscInt *)here)[i] != ((PetscInt *)copy)[i];
    else if (kind == 1) *wrong += !(PetscAbsScalar(((const PetscScalar *)here)[i] - ((PetscScalar *)copy)[i]) <= tol);
    else *wrong += !(PetscAbsReal(((const float *)here)[i] - ((float *)copy)[i]) <= tol);
  }
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Host and device may round a weight to different sides */
static PetscErrorCode CompareWeights(const Part *P, PetscInt *wrong)
{
  const size_t n = (size_t)P->G->n;
  unsigned    *copy;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &copy));
  PetscCall(PolderDeviceToHost(copy, P->G[1].w, n * sizeof(*copy)));
  for (size_t i = 0; i < n; ++i) {
    *wrong += (P->G->w[i] == POLDER_LEVELGRID_APART) != (copy[i] == POLDER_LEVELGRID_APART);
    for (int d = 0; d < 3; ++d) *wrong += PetscAbsReal(PolderLevelGridUnpack(P->G->w[i], d) - PolderLevelGridUnpack(copy[i], d)) > 2.0 / POLDER_LEVELGRID_UNIT;
  }
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSetUp(Part *P, PolderStream stream, PetscInt *wrong)
{
  const PolderLevelGrid *G  = P->G;
  const PetscInt         nz = PolderLevelGridCoarseEntries(G, G->nc);
  PetscInt               count[POLDER_LEVELGRID_COUNTS], *there;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(sizeof(count), &there));
  PetscCall(PolderDeviceZero(there, sizeof(count)));
  PolderLevelGridSurvey_Host(G, P->A, P->rule, count);
  PolderLaunch(PolderLevelGridSurvey_CUDA(&P->G[1], &P->A[1], &P->rule[1], there, stream));
  PetscCall(Compare(POLDER_LEVELGRID_COUNTS, 0, count, there, 0, wrong));
  PetscCall(PolderDeviceZero(there, sizeof(count)));
  PolderLevelGridSplit_Host(G, P->A, P->rule, count);
  PolderLaunch(PolderLevelGridSplit_CUDA(&P->G[1], &P->A[1], &P->rule[1], there, stream));
  PetscCall(Compare(1, 0, count, there, 0, wrong));
  PetscCall(PolderDeviceFree(&there));
  PolderLevelGridBoxes_Host(G, P->mate, (PetscInt *)P->R[0].agg);
  PolderLaunch(PolderLevelGridBoxes_CUDA(&P->G[1], P->rule[1].mate, (PetscInt *)P->R[1].agg, stream));
  PetscCall(Compare((size_t)G->n, 0, P->R[0].agg, P->R[1].agg, 0, wrong));
  PolderLevelGridWeights_Host(G, P->A, P->R[0].agg);
  PolderLaunch(PolderLevelGridWeights_CUDA(&P->G[1], &P->A[1], P->R[1].agg, stream));
  PetscCall(CompareWeights(P, wrong));
  PolderLevelGridCoarseRows_Host(G, P->A, &P->R[0]);
  PolderLaunch(PolderLevelGridCoarseRows_CUDA(&P->G[1], &P->A[1], &P->R[1], stream));
  if (G->nc) PetscCall(Compare((size_t)G->nc + 1, 0, P->R[0].ci, P->R[1].ci, 0, wrong));
  if (G->nc) *wrong += P->R[0].ci[G->nc] != nz;
  PetscCall(Compare((size_t)nz, 0, P->R[0].cj, P->R[1].cj, 0, wrong));
  PetscCall(Compare((size_t)nz, 1, P->R[0].ca, P->R[1].ca, 1e-13, wrong));
  PetscCall(Compare((size_t)G->nc, 1, P->R[0].coarse, P->R[1].coarse, 1e-13, wrong));
  PetscCall(Compare((size_t)G->nc, 1, P->R[0].coarsesize, P->R[1].coarsesize, 1e-13, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restriction and interpolation in either precision; vectors of the device begin as NaN where they are written */
static PetscErrorCode CheckTransfers(const Part *P, PetscBool single, PolderStream stream, PetscInt *wrong)
{
  const PolderLevelGrid *G    = P->G;
  const size_t           size = single ? sizeof(float) : sizeof(PetscScalar);
  const PetscReal        tol  = single ? 2e-5 : 1e-13;
  const size_t           n = (size_t)G->n, nc = (size_t)G->nc + 1;
  PetscScalar           *v[2];
  void                  *there[2];

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFromHost(P->G[1].w, G->w, sizeof(*G->w) * n));
  for (int k = 0; k < 2; ++k) {
    const size_t m = k ? nc : n;

    PetscCall(PetscCalloc1(m, &v[k]));
    for (size_t i = 0; i < m; ++i) {
      if (single) ((float *)v[k])[i] = (float)Number();
      else v[k][i] = Number();
    }
    PetscCall(PolderDeviceUpload(size * m, v[k], &there[k]));
  }
  if (single) PolderLevelGridProlongSingle_Host(G, (float *)v[1], (float *)v[0]);
  else PolderLevelGridProlong_Host(G, v[1], v[0]);
  PolderLaunch(PolderLevelGridProlong_CUDA(single, &P->G[1], NULL, there[1], there[0], stream));
  PetscCall(Compare(n, single ? 2 : 1, v[0], there[0], tol, wrong));
  for (size_t i = 0; i < nc; ++i) {
    if (single) ((float *)v[1])[i] = NAN;
    else v[1][i] = NAN;
  }
  PetscCall(PolderDeviceFromHost(there[1], v[1], size * nc));
  if (single) PolderLevelGridRestrictSingle_Host(G, (float *)v[0], (float *)v[1]);
  else PolderLevelGridRestrict_Host(G, v[0], v[1]);
  PolderLaunch(PolderLevelGridRestrict_CUDA(single, &P->G[1], NULL, there[0], there[1], stream));
  PetscCall(Compare(nc, single ? 2 : 1, v[1], there[1], tol, wrong));
  for (int k = 0; k < 2; ++k) {
    PetscCall(PetscFree(v[k]));
    PetscCall(PolderDeviceFree(&there[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPlaces(const PolderLevelGrid *G, PolderStream stream, PetscInt *wrong)
{
  PetscInt64 *here, *there;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(2 * G->nc, &here));
  PetscCall(PolderDeviceMalloc(sizeof(*there) * (size_t)G->nc, &there));
  PolderLevelGridPlaces_Host(G, here);
  PolderLaunch(PolderLevelGridPlaces_CUDA(G, there, stream));
  PetscCall(PolderDeviceToHost(here + G->nc, there, sizeof(*there) * (size_t)G->nc));
  for (PetscInt c = 0; c < G->nc; ++c) *wrong += here[c] != here[G->nc + c];
  PetscCall(PetscFree(here));
  PetscCall(PolderDeviceFree(&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whole grids, and parts that begin and end within a line or a plane */
static PetscErrorCode TestKernels(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PolderLevelGrid grids[] = {
    {.n = 0,     .size = {1, 1, 1},    .shift = 0,   .join = {1, 1, 1}},
    {.n = 1,     .size = {1, 1, 1},    .shift = 0,   .join = {1, 0, 0}},
    {.n = 31,    .size = {31, 1, 1},   .shift = 0,   .join = {1, 0, 0}},
    {.n = 1056,  .size = {32, 33, 1},  .shift = 0,   .join = {1, 1, 0}},
    {.n = 900,   .size = {32, 33, 1},  .shift = 17,  .join = {0, 1, 0}},
    {.n = 1155,  .size = {33, 35, 1},  .shift = 0,   .join = {1, 1, 0}},
    {.n = 900,   .size = {33, 37, 1},  .shift = 50,  .join = {1, 1, 0}},
    {.n = 700,   .size = {15, 14, 5},  .shift = 133, .join = {1, 1, 0}},
    {.n = 3570,  .size = {15, 14, 17}, .shift = 0,   .join = {1, 1, 1}},
    {.n = 2500,  .size = {15, 14, 17}, .shift = 130, .join = {1, 1, 1}},
    {.n = 2222,  .size = {15, 14, 12}, .shift = 99,  .join = {1, 0, 1}},
    {.n = 250,   .size = {15, 14, 3},  .shift = 200, .join = {0, 1, 1}},
    {.n = 78337, .size = {41, 39, 49}, .shift = 5,   .join = {1, 1, 1}}
  };
  static const size_t sizes[] = {sizeof(PetscScalar), sizeof(float), sizeof(PolderBfloat)};
  PetscInt            wrong   = 0;

  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(grids); ++g) {
    if (small && grids[g].n > 5000) continue;
    for (int form = 0; form < 6; ++form) {
      const PetscInt before = wrong;
      Part           P;

      PetscCall(PartCreate(grids[g], sizes[form % 3], (PetscBool)(form / 3), &P));
      PetscCall(CheckSetUp(&P, stream, &wrong));
      for (int single = 0; single < 2; ++single) PetscCall(CheckTransfers(&P, (PetscBool)single, stream, &wrong));
      PetscCall(CheckPlaces(P.G, stream, &wrong));
      PetscCall(PartDestroy(&P));
      if (wrong > before) PetscCall(PetscPrintf(PETSC_COMM_SELF, "grid %d, form %d: %" PetscInt_FMT " wrong\n", (int)g, form, wrong - before));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "levels that are grids: %" PetscInt_FMT " wrong\n", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestKernels}};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicelevelgrid_1.out

TEST*/
