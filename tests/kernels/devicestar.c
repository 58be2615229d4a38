static char help[] = "Stars of wider stencils: the device kernels against their host twins.\n\n";

#include "devicetest.h"
#include "kernels/star.h"

/* Random entries of all offsets up to two points far, some missing, some positive, one that leads elsewhere if astray; arrays on the host and on the device */
typedef struct {
  PetscInt    *i, *j, *di, *dj;
  PetscScalar *a, *da;
  PetscInt     n;
} Stencil;

static PetscErrorCode StencilCreate(const PolderStarGrid *G, PetscBool astray, Stencil *S)
{
  const PetscInt n  = G->n[0] * G->n[1] * G->n[2];
  PetscInt       nz = 0;

  PetscFunctionBeginUser;
  S->n = n;
  PetscCall(PetscMalloc1(n + 1, &S->i));
  PetscCall(PetscMalloc1(125 * n, &S->j));
  PetscCall(PetscMalloc1(125 * n, &S->a));
  for (PetscInt i = 0; i < n; ++i) {
    S->i[i] = nz;
    for (int k = 0; k < 125; ++k) {
      const PetscInt at[3] = {i % G->n[0], i / G->n[0] % G->n[1], i / G->n[0] / G->n[1]},
                     to[3] = {at[0] + k % 5 - 2, at[1] + k / 5 % 5 - 2, at[2] + k / 25 - 2};
      PetscBool there      = PETSC_TRUE;

      for (int d = 0; d < 3; ++d) there = (PetscBool)(there && to[d] >= 0 && to[d] < G->n[d]);
      if (!there || (k != 62 && Number() > 0.3)) continue;
      S->j[nz]   = to[0] + G->n[0] * (to[1] + G->n[1] * to[2]);
      S->a[nz++] = k == 62 ? 20 : Number() - 0.8;
    }
  }
  S->i[n] = nz;
  if (astray) S->j[S->i[n / 2]] = n / 2 % G->n[0] + 3 < G->n[0] ? n / 2 + 3 : n / 2 - 3;
  PetscCall(PolderDeviceUpload(sizeof(*S->i) * (size_t)(n + 1), S->i, &S->di));
  PetscCall(PolderDeviceUpload(sizeof(*S->j) * (size_t)nz, S->j, &S->dj));
  PetscCall(PolderDeviceUpload(sizeof(*S->a) * (size_t)nz, S->a, &S->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StencilDestroy(Stencil *S)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(S->i));
  PetscCall(PetscFree(S->j));
  PetscCall(PetscFree(S->a));
  PetscCall(PolderDeviceFree(&S->di));
  PetscCall(PolderDeviceFree(&S->dj));
  PetscCall(PolderDeviceFree(&S->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n numbers that are not written yet, on the host and on the device */
static PetscErrorCode Unwritten(PetscInt n, PetscScalar **h, PetscScalar **d)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, h));
  for (PetscInt i = 0; i < n; ++i) (*h)[i] = NAN;
  PetscCall(PolderDeviceUpload(sizeof(**h) * (size_t)n, *h, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many columns are not those of the next points */
static PetscInt WrongPattern(const PolderStarGrid *G, const PetscInt ptr[], const PetscInt col[])
{
  const PetscInt stride[3] = {1, G->n[0], G->n[0] * G->n[1]}, n = stride[2] * G->n[2];
  PetscInt       nz = 0, wrong = 0;

  for (PetscInt i = 0; i < n; ++i) {
    for (int k = -3; k <= 3; ++k) {
      const int      d  = PetscAbsInt(k) - 1;
      const PetscInt at = k ? i / stride[d] % G->n[d] + (k > 0 ? 1 : -1) : 0;

      if (k && (at < 0 || at >= G->n[d])) continue;
      wrong += nz >= ptr[n] || col[nz] != (k ? i + (k > 0 ? stride[d] : -stride[d]) : i);
      ++nz;
    }
    wrong += ptr[i + 1] != nz;
  }
  return wrong;
}

/* Rows between planes: entries and what diagonal entries lose */
static PetscErrorCode TestPlanes(const PolderStarGrid *G, const PetscReal half[], const PetscReal dhalf[], const PetscInt ptr[], const PetscInt dptr[],
                                 PetscScalar val[], PetscScalar dval[], PolderStream stream, PetscInt *wrong)
{
  const int      d = G->n[2] > 1 ? 2 : 1;
  const PetscInt n = G->n[0] * G->n[1] * G->n[2], plane = n / G->n[d];
  PetscScalar   *edge, *dedge, *outer, *douter, *beyond, *dbeyond;

  PetscFunctionBeginUser;
  for (int sides = 0; sides < 4; ++sides) {
    const PolderPlanes at   = {n, sides % 2 ? plane : 0, sides / 2 ? plane : 0};
    const PetscInt     both = at.below + at.above;
    PetscScalar        lost = 0, sum = 0;

    PetscCall(Unwritten(n, &edge, &dedge));
    PetscCall(Unwritten(both, &outer, &douter));
    PetscCall(Random(both, &beyond, &dbeyond));
    for (PetscInt k = 0; k < ptr[n]; ++k) lost += val[k];
    PolderStarEdges_Host(&at, d, half, edge);
    PolderLaunch(PolderStarEdges_CUDA(&at, d, dhalf, dedge, stream));
    PetscCall(SameScalars("edges", at.below, edge, dedge, 0, wrong));
    PetscCall(SameScalars("edges", at.above, edge + n - at.above, dedge + n - at.above, 0, wrong));
    PolderStarAcross_Host(&at, G, edge, beyond, ptr, outer, val);
    PolderLaunch(PolderStarAcross_CUDA(&at, G, dedge, dbeyond, dptr, douter, dval, stream));
    PetscCall(SameScalars("entries between planes", both, outer, douter, 1e-15, wrong));
    PetscCall(SameScalars("star with them", ptr[n], val, dval, 1e-13, wrong));
    for (PetscInt k = 0; k < ptr[n]; ++k) lost -= val[k];
    for (PetscInt k = 0; k < both; ++k) sum += outer[k];
    *wrong += !(PetscAbsScalar(lost - sum) <= 1e-10 * n);
    PetscCall(PetscFree(edge));
    PetscCall(PetscFree(outer));
    PetscCall(PetscFree(beyond));
    PetscCall(PolderDeviceFree(&dedge));
    PetscCall(PolderDeviceFree(&douter));
    PetscCall(PolderDeviceFree(&dbeyond));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGrid(const PolderStarGrid *G, PetscBool astray, PolderStream stream, PetscInt *wrong)
{
  Stencil         S;
  PolderStarParts h, d;
  PolderRows      none                      = {0};
  PetscInt        count[POLDER_STAR_COUNTS] = {0}, *there, *ptr, *col, *dptr, *dcol;
  PetscScalar    *val, *dval, *step, *dstep, *z, *dz;

  PetscFunctionBeginUser;
  PetscCall(StencilCreate(G, astray, &S));
  PetscCall(Unwritten(6 * S.n, &h.half, &d.half));
  PetscCall(Unwritten(S.n, &h.sum, &d.sum));
  PetscCall(Unwritten(S.n, &h.diagonal, &d.diagonal));
  PetscCall(Unwritten(7 * S.n, &val, &dval));
  PetscCall(Unwritten(S.n, &step, &dstep));
  PetscCall(Random(S.n, &z, &dz));
  PetscCall(PolderDeviceUpload(sizeof(count), count, &there));
  PetscCall(PetscMalloc2(S.n + 1, &ptr, 7 * S.n, &col));
  PolderStarRows_Host(G, 0, (PolderRows){S.n, S.i, S.j, S.a, S.i[S.n]}, none, NULL, &h, count);
  PolderLaunch(PolderStarRows_CUDA(G, 0, (PolderRows){S.n, S.di, S.dj, S.da, S.i[S.n]}, none, NULL, &d, there, stream));
  PetscCall(SameScalars("parts", 6 * S.n, h.half, d.half, 1e-14, wrong));
  PetscCall(SameScalars("sums", S.n, h.sum, d.sum, 1e-13, wrong));
  PetscCall(SameScalars("diagonal", S.n, h.diagonal, d.diagonal, 0, wrong));
  PetscCall(SameIndices("rows that are unlike, soft, astray", POLDER_STAR_COUNTS, count, there, wrong));
  *wrong += (count[POLDER_STAR_ASTRAY] > 0) != astray;
  PolderStarPattern_Host(G, 0, S.n, ptr, col);
  PetscCall(PolderDeviceMalloc(sizeof(*ptr) * (size_t)(S.n + 1), &dptr));
  PetscCall(PolderDeviceMalloc(sizeof(*col) * (size_t)ptr[S.n], &dcol));
  PolderLaunch(PolderStarPattern_CUDA(G, 0, S.n, dptr, dcol, stream));
  PetscCall(SameIndices("where rows begin", S.n + 1, ptr, dptr, wrong));
  PetscCall(SameIndices("columns", ptr[S.n], col, dcol, wrong));
  *wrong += WrongPattern(G, ptr, col);
  PolderStarValues_Host(G, 0, S.n, &h, 0, NULL, NULL, ptr, val);
  PolderLaunch(PolderStarValues_CUDA(G, 0, S.n, &d, 0, NULL, NULL, dptr, dval, stream));
  PetscCall(SameScalars("star", ptr[S.n], val, dval, 1e-13, wrong));
  PetscCall(TestPlanes(G, h.half, d.half, ptr, dptr, val, dval, stream, wrong));
  PolderStarStep_Host(S.n, 0.5, h.diagonal, step);
  PolderLaunch(PolderStarStep_CUDA(S.n, 0.5, d.diagonal, dstep, stream));
  PetscCall(SameScalars("step", S.n, step, dstep, 1e-15, wrong));
  PolderStarAdd_Host(S.n, step, h.sum, z);
  PolderLaunch(PolderStarAdd_CUDA(S.n, dstep, d.sum, dz, stream));
  PetscCall(SameScalars("correction", S.n, z, dz, 1e-13, wrong));
  PetscCall(PetscFree2(ptr, col));
  for (int k = 0; k < 6; ++k) {
    PetscScalar *host[] = {h.half, h.sum, h.diagonal, val, step, z}, *device[] = {d.half, d.sum, d.diagonal, dval, dstep, dz};

    PetscCall(PetscFree(host[k]));
    PetscCall(PolderDeviceFree(&device[k]));
  }
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&dptr));
  PetscCall(PolderDeviceFree(&dcol));
  PetscCall(StencilDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestStar(void *work, PolderStream stream)
{
  static const PolderStarGrid grids[] = {{{6, 6, 1}}, {{6, 7, 2}}, {{8, 9, 10}}, {{33, 31, 1}}, {{32, 32, 20}}};
  PetscInt                    wrong   = 0;

  PetscFunctionBeginUser;
  (void)work;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids) - small; ++k) {
    for (int astray = 0; astray < 2; ++astray) PetscCall(TestGrid(&grids[k], (PetscBool)astray, stream, &wrong));
  }
  PetscCall(Report("stars of wider stencils", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestStar}};

/*TEST

  build: internal

  test:
    requires: gpu

  test:
    suites: memcheck racecheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicestar_1.out

TEST*/
