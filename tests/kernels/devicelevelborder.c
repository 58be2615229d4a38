static const char help[] = "Device kernels of interpolation between processes on levels that are grids, against their host twins.\n\n";

#include "devicetest.h"
#include "core/place.h"
#include "kernels/levelborderrow.h"
#include "kernels/levelwholerow.h"

/* The planes of a process and its entries to others, on the host and on the device: [0] and [1] */
typedef struct {
  PolderLevelGrid        G[2];
  PolderLevelBorder      B[2];
  PolderLevelGridEntries A[2];
  PolderBorderRows       R[2];
  PetscInt              *agg[2];
  PetscReal             *inner[2];
} Part;

/* n values of the host and a copy on the device */
static PetscErrorCode Both(size_t bytes, void *host, void *here, void *there)
{
  PetscFunctionBeginUser;
  *(void **)here = host;
  PetscCall(PolderDeviceUpload(bytes, host, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries to the processes beside, at most of the cells of the first and the last plane, and the values of their ghosts */
static PetscErrorCode RowsCreate(Part *P)
{
  const PolderLevelBorder *B = P->B;
  const PetscInt           n = P->G->n, first = n - B->plane;
  PetscInt                *row, *ptr, *col, rows = 0, nz = 0, ghosts[2] = {0, B->side[0] ? B->plane : 0};
  PetscScalar             *val;
  PetscReal               *inner;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &row));
  PetscCall(PetscMalloc1(n + 1, &ptr));
  PetscCall(PetscMalloc1(2 * B->plane, &col));
  PetscCall(PetscMalloc1(2 * B->plane, &val));
  PetscCall(PetscMalloc1(2 * B->plane, &inner));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt before = nz;

    for (int s = 0; s < 2; ++s) {
      if (!B->side[s] || (s ? i < first : i >= B->plane) || !Next(9)) continue;
      col[nz]   = ghosts[s] + i % B->plane;
      val[nz++] = -0.01 * Next(100);
    }
    if (nz == before) continue;
    row[rows]   = i;
    ptr[rows++] = before;
  }
  ptr[rows] = nz;
  for (PetscInt g = 0; g < 2 * B->plane; ++g) inner[g] = Next(8) ? 0.01 * Next(100) : Next(2) ? POLDER_BORDER_ALONE : POLDER_BORDER_APART;
  for (int k = 0; k < 2; ++k) {
    P->R[k].rows.n  = rows;
    P->R[k].rows.nz = nz;
    P->R[k].below   = ghosts[1];
    PetscCall(PolderPlaceMalloc(k ? &PolderOnDevice : &PolderOnHost, nz, &P->R[k].scaled));
  }
  PetscCall(Both(sizeof(*row) * (size_t)rows, row, &P->R[0].rows.row, &P->R[1].rows.row));
  PetscCall(Both(sizeof(*ptr) * (size_t)(rows + 1), ptr, &P->R[0].rows.ptr, &P->R[1].rows.ptr));
  PetscCall(Both(sizeof(*col) * (size_t)nz, col, &P->R[0].rows.col, &P->R[1].rows.col));
  PetscCall(Both(sizeof(*val) * (size_t)nz, val, &P->R[0].rows.val, &P->R[1].rows.val));
  PetscCall(Both(sizeof(*inner) * 2 * (size_t)B->plane, inner, &P->R[0].inner, &P->R[1].inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A stencil of random couplings, with rows that take no part, and words of weights without those across the border */
static PetscErrorCode PartCreate(PolderLevelGrid G, int dir, int before, int after, Part *P)
{
  PetscInt *agg;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(P, sizeof(*P)));
  PolderLevelGridCoarsen(&G);
  PetscCall(PetscMalloc1(G.n, &agg));
  for (PetscInt i = 0; i < G.n; ++i) {
    PetscInt at[3];

    PolderLevelGridAt(G.size, i, at);
    agg[i] = Next(15) ? PolderLevelGridBox(&G, at) : G.nc;
  }
  PetscCall(Both(sizeof(*agg) * (size_t)G.n, agg, &P->agg[0], &P->agg[1]));
  for (int k = 0; k < 2; ++k) {
    P->G[k] = G;
    P->B[k] = (PolderLevelBorder){
      .dir = dir, .side = {before, after},
           .plane = PolderLevelGridStride(G.size, dir), .cplane = PolderLevelGridStride(G.csize, dir)
    };
    PetscCall(PolderPlaceMalloc(k ? &PolderOnDevice : &PolderOnHost, G.n, &P->G[k].w));
    PetscCall(PolderPlaceMalloc(k ? &PolderOnDevice : &PolderOnHost, 2 * P->B[k].plane, &P->B[k].w));
    PetscCall(PolderPlaceMalloc(k ? &PolderOnDevice : &PolderOnHost, G.n, &P->inner[k]));
  }
  for (int d = 0; d < 3; ++d) {
    PetscScalar *up;

    PetscCall(PetscCalloc1(G.n, &up));
    for (PetscInt i = 0; i < G.n; ++i) up[i] = -0.01 * Next(100);
    PetscCall(Both(sizeof(*up) * (size_t)G.n, up, &P->A[0].up[d], &P->A[1].up[d]));
  }
  PetscCall(RowsCreate(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PartDestroy(Part *P)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    const PolderPlace *place   = k ? &PolderOnDevice : &PolderOnHost;
    PolderSparseRows  *rows    = &P->R[k].rows;
    void **const       array[] = {(void **)&P->G[k].w,     (void **)&P->B[k].w,     (void **)&P->agg[k],    (void **)&P->inner[k],   (void **)&rows->row,
                                  (void **)&rows->ptr,     (void **)&rows->col,     (void **)&rows->val,    (void **)&P->R[k].inner, (void **)&P->R[k].scaled,
                                  (void **)&P->A[k].up[0], (void **)&P->A[k].up[1], (void **)&P->A[k].up[2]};

    for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(array); ++a) PetscCall(place->free(array[a]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds to *wrong the n values of the device that are further than tol from those of the host */
static PetscErrorCode Compare(size_t n, PetscBool single, const void *here, const void *there, PetscReal tol, PetscInt *wrong)
{
  const size_t size = single ? sizeof(float) : sizeof(PetscReal);
  void        *copy;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(n * size, &copy));
  PetscCall(PolderDeviceToHost(copy, there, n * size));
  for (size_t i = 0; i < n; ++i) {
    const PetscReal a = single ? ((const float *)here)[i] : ((const PetscReal *)here)[i], b = single ? ((float *)copy)[i] : ((PetscReal *)copy)[i];

    *wrong += !(PetscAbsReal(a - b) <= tol);
  }
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of each cell within its box, and the weights, which host and device may round to different sides */
static PetscErrorCode CheckSetUp(Part *P, PolderStream stream, PetscInt *wrong)
{
  const PolderLevelGrid   *G = P->G;
  const PolderLevelBorder *B = P->B;
  unsigned                *copy;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(P->inner[0], G->n));
  PetscCall(PolderDeviceZero(P->inner[1], sizeof(*P->inner[1]) * (size_t)G->n));
  PolderLevelBorderInner_Host(G, B, P->A, P->agg[0], P->inner[0]);
  PolderLaunch(PolderLevelBorderInner_CUDA(&P->G[1], &P->B[1], &P->A[1], P->agg[1], P->inner[1], stream));
  PetscCall(Compare((size_t)G->n, PETSC_FALSE, P->inner[0], P->inner[1], 0, wrong));
  PetscCall(PetscArrayzero(B->w, 2 * B->plane));
  PetscCall(PolderDeviceZero(P->B[1].w, sizeof(*B->w) * 2 * (size_t)B->plane));
  PolderLevelGridWeights_Host(G, P->A, P->agg[0]);
  PolderLaunch(PolderLevelGridWeights_CUDA(&P->G[1], &P->A[1], P->agg[1], stream));
  PolderLevelBorderWeights_Host(G, B, P->A, P->agg[0], &P->R[0]);
  PolderLaunch(PolderLevelBorderWeights_CUDA(&P->G[1], &P->B[1], &P->A[1], P->agg[1], &P->R[1], stream));
  PetscCall(Compare(2 * (size_t)B->plane, PETSC_TRUE, B->w, P->B[1].w, 2.0 / POLDER_LEVELGRID_UNIT, wrong));
  PetscCall(Compare((size_t)P->R[0].rows.nz, PETSC_FALSE, P->R[0].scaled, P->R[1].scaled, 1e-15, wrong));
  PetscCall(PetscMalloc1(G->n, &copy));
  PetscCall(PolderDeviceToHost(copy, P->G[1].w, sizeof(*copy) * (size_t)G->n));
  for (PetscInt i = 0; i < G->n; ++i) {
    *wrong += (G->w[i] == POLDER_LEVELGRID_APART) != (copy[i] == POLDER_LEVELGRID_APART);
    for (int d = 0; d < 3; ++d) *wrong += PetscAbsReal(PolderLevelGridUnpack(G->w[i], d) - PolderLevelGridUnpack(copy[i], d)) > 2.0 / POLDER_LEVELGRID_UNIT;
  }
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What goes to the boxes beyond and comes from them, in either precision: r, bc, what is given, what is got, x */
static PetscErrorCode CheckTransfers(const Part *P, PetscBool single, PolderStream stream, PetscInt *wrong)
{
  const PolderLevelGrid   *G    = P->G;
  const PolderLevelBorder *B    = P->B;
  const size_t             size = single ? sizeof(float) : sizeof(PetscScalar),
               m[]              = {(size_t)G->n, (size_t)G->nc, 2 * (size_t)B->cplane, 2 * (size_t)B->cplane, (size_t)G->n};
  const PetscReal   tol         = single ? 1e-5 : 1e-13;
  PolderLevelBeyond beyond[2];
  char             *v[5];
  void             *there[5];

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFromHost(P->B[1].w, B->w, sizeof(*B->w) * 2 * (size_t)B->plane));
  for (int k = 0; k < 5; ++k) {
    PetscCall(PetscMalloc(size * m[k], &v[k]));
    for (size_t i = 0; i < m[k]; ++i) {
      if (single) ((float *)v[k])[i] = (float)Number();
      else ((PetscScalar *)v[k])[i] = Number();
    }
    PetscCall(PolderDeviceUpload(size * m[k], v[k], &there[k]));
  }
  for (int at = 0; at < 2; ++at)
    beyond[at] = (PolderLevelBeyond){
      .ghosts.value = at ? there[3] : v[3], .first = {0, B->side[0] ? B->cplane : 0}
    };
  if (single) {
    PolderLevelBorderGiveSingle_Host(G, B, (float *)v[0], (float *)v[2]);
    PolderLevelBorderGetSingle_Host(G, B, (float *)v[2], &beyond[0].ghosts, (float *)v[1]);
    PolderLevelBorderTakeSingle_Host(G, B, (float *)v[1], &beyond[0], (float *)v[4]);
  } else {
    PolderLevelBorderGive_Host(G, B, (PetscScalar *)v[0], (PetscScalar *)v[2]);
    PolderLevelBorderGet_Host(G, B, (PetscScalar *)v[2], &beyond[0].ghosts, (PetscScalar *)v[1]);
    PolderLevelBorderTake_Host(G, B, (PetscScalar *)v[1], &beyond[0], (PetscScalar *)v[4]);
  }
  PolderLaunch(PolderLevelBorderGive_CUDA(single, &P->G[1], &P->B[1], there[0], there[2], stream));
  PolderLaunch(PolderLevelBorderGet_CUDA(single, &P->G[1], &P->B[1], there[2], &beyond[1].ghosts, there[1], stream));
  PolderLaunch(PolderLevelBorderTake_CUDA(single, &P->G[1], &P->B[1], there[1], &beyond[1], there[4], stream));
  for (int k = 0; k < 5; ++k) {
    PetscCall(Compare(m[k], single, v[k], there[k], tol, wrong));
    PetscCall(PetscFree(v[k]));
    PetscCall(PolderDeviceFree(&there[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Planes and lines with neighbours on one side, on both and on none; a last process with an odd number of them, and with one */
static PetscErrorCode TestKernels(PETSC_UNUSED void *work, PolderStream stream)
{
  static const struct {
    PolderLevelGrid G;
    int             dir, before, after;
  } parts[] = {
    {{.n = 0, .size = {1, 1, 1}, .join = {1, 1, 1}},        2, 0, 0},
    {{.n = 62, .size = {31, 2, 1}, .join = {1, 1, 0}},      1, 1, 1},
    {{.n = 330, .size = {33, 10, 1}, .join = {1, 1, 0}},    1, 0, 1},
    {{.n = 320, .size = {32, 10, 1}, .join = {0, 1, 0}},    1, 1, 1},
    {{.n = 31, .size = {31, 1, 1}, .join = {1, 1, 0}},      1, 1, 0},
    {{.n = 420, .size = {15, 14, 2}, .join = {1, 1, 1}},    2, 1, 1},
    {{.n = 2310, .size = {15, 14, 11}, .join = {1, 1, 1}},  2, 1, 0},
    {{.n = 1680, .size = {15, 14, 8}, .join = {1, 0, 1}},   2, 0, 1},
    {{.n = 1680, .size = {15, 14, 8}, .join = {0, 1, 1}},   2, 1, 1},
    {{.n = 70356, .size = {41, 39, 44}, .join = {1, 1, 1}}, 2, 1, 1},
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(parts); ++g) {
    const PetscInt before = wrong;
    Part           P;

    if (small && parts[g].G.n > 5000) continue;
    PetscCall(PartCreate(parts[g].G, parts[g].dir, parts[g].before, parts[g].after, &P));
    if (!parts[g].G.n) {
      for (int k = 0; k < 2; ++k) P.B[k].plane = P.B[k].cplane = 0;
    }
    PetscCall(CheckSetUp(&P, stream, &wrong));
    for (int single = 0; single < 2; ++single) PetscCall(CheckTransfers(&P, (PetscBool)single, stream, &wrong));
    PetscCall(PartDestroy(&P));
    if (wrong > before) PetscCall(PetscPrintf(PETSC_COMM_SELF, "part %d: %" PetscInt_FMT " wrong\n", (int)g, wrong - before));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "interpolation between processes: %" PetscInt_FMT " wrong\n", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a whole grid from arrays of entries, and the arrays from the rows; entries that no row has come back as zeros */
static PetscErrorCode CheckWhole(PolderLevelGrid G, PolderStream stream, PetscInt *wrong)
{
  const size_t   n = (size_t)G.nc, nz = (size_t)PolderLevelGridCoarseEntries(&G, G.nc);
  const PetscInt stride[] = {1, G.csize[0], G.csize[0] * G.csize[1]};
  PetscInt      *ai[2], *aj[2], *copy;
  PetscScalar   *entry[2], *aa[2], *back[2];

  PetscFunctionBeginUser;
  PetscCall(Random(4 * G.nc, &entry[0], &entry[1]));
  for (int k = 0; k < 2; ++k) {
    const PolderPlace *place = k ? &PolderOnDevice : &PolderOnHost;

    PetscCall(PolderPlaceMalloc(place, n + 1, &ai[k]));
    PetscCall(PolderPlaceMalloc(place, nz, &aj[k]));
    PetscCall(PolderPlaceMalloc(place, nz, &aa[k]));
    PetscCall(PolderPlaceMalloc(place, 4 * n, &back[k]));
  }
  PolderLevelWholeRows_Host(&G, entry[0], PETSC_TRUE, ai[0], aj[0], aa[0]);
  PolderLaunch(PolderLevelWholeRows_CUDA(&G, entry[1], PETSC_TRUE, ai[1], aj[1], aa[1], stream));
  PetscCall(Compare(nz, PETSC_FALSE, aa[0], aa[1], 0, wrong));
  PetscCall(PetscMalloc1(nz + n + 1, &copy));
  PetscCall(PolderDeviceToHost(copy, aj[1], sizeof(*copy) * nz));
  PetscCall(PolderDeviceToHost(copy + nz, ai[1], sizeof(*copy) * (n + 1)));
  for (size_t k = 0; k < nz; ++k) *wrong += copy[k] != aj[0][k];
  for (size_t i = 0; i <= n; ++i) *wrong += copy[nz + i] != ai[0][i];
  *wrong += ai[0][n] != (PetscInt)nz;
  PolderLevelWholeTake_Host(&(PolderRows){.n = G.nc, .i = ai[0], .j = aj[0], .a = aa[0]}, stride, back[0]);
  PolderLaunch(PolderLevelWholeTake_CUDA(&(PolderRows){.n = G.nc, .i = ai[1], .j = aj[1], .a = aa[1]}, stride, back[1], stream));
  PetscCall(Compare(4 * n, PETSC_FALSE, back[0], back[1], 0, wrong));
  for (PetscInt i = 0; i < G.nc; ++i) {
    PetscInt at[3];

    PolderLevelGridAt(G.csize, i, at);
    for (int d = 0; d < 4; ++d) {
      if (d == 3 || at[d] + 1 < G.csize[d]) *wrong += back[0][d * G.nc + i] != entry[0][d * G.nc + i];
      else if (G.csize[0] > 1 && G.csize[1] > 1) *wrong += back[0][d * G.nc + i] != 0;
    }
  }
  PetscCall(PetscFree(copy));
  PetscCall(PetscFree(entry[0]));
  PetscCall(PolderDeviceFree(&entry[1]));
  for (int k = 0; k < 2; ++k) {
    const PolderPlace *place   = k ? &PolderOnDevice : &PolderOnHost;
    void **const       array[] = {(void **)&ai[k], (void **)&aj[k], (void **)&aa[k], (void **)&back[k]};

    for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(array); ++a) PetscCall(place->free(array[a]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries to the next process alone become entries of the last plane */
static PetscErrorCode CheckOuter(PolderStream stream, PetscInt *wrong)
{
  const PolderLevelGrid G = {
    .n = 420, .size = {15, 14, 2},
         .join = {1,  1,  1}
  };
  PetscScalar *up[2];
  PetscInt     seen = 0;
  Part         P;

  PetscFunctionBeginUser;
  PetscCall(PartCreate(G, 2, 1, 1, &P));
  PetscCall(PetscCalloc1(G.n, &up[0]));
  PetscCall(PolderDeviceUpload(sizeof(**up) * (size_t)G.n, up[0], &up[1]));
  PolderLevelWholeTakeOuter_Host(&P.R[0].rows, P.R[0].below, up[0]);
  PolderLaunch(PolderLevelWholeTakeOuter_CUDA(&P.R[1].rows, P.R[1].below, up[1], stream));
  PetscCall(Compare((size_t)G.n, PETSC_FALSE, up[0], up[1], 0, wrong));
  for (PetscInt i = 0; i < G.n; ++i) {
    seen += up[0][i] != 0;
    *wrong += i < G.n - P.B->plane && up[0][i] != 0;
  }
  *wrong += !seen;
  PetscCall(PetscFree(up[0]));
  PetscCall(PolderDeviceFree(&up[1]));
  PetscCall(PartDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestWhole(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt size[][3] = {
    {1,  1,  1 },
    {31, 1,  1 },
    {1,  33, 1 },
    {32, 33, 1 },
    {1,  3,  5 },
    {2,  2,  2 },
    {15, 14, 17},
    {41, 39, 40}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(size); ++g) {
    const PolderLevelGrid G = {
      .nc = size[g][0] * size[g][1] * size[g][2], .csize = {size[g][0], size[g][1], size[g][2]}
    };

    if (!small || G.nc < 5000) PetscCall(CheckWhole(G, stream, &wrong));
  }
  PetscCall(CheckOuter(stream, &wrong));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rows of a whole grid: %" PetscInt_FMT " wrong\n", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestKernels, TestWhole}
};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicelevelborder_1.out

TEST*/
