static const char help[] = "Sums over runs of rows of equal label, alone and with the product, against those over the rows.\n\n";

#include "devicetest.h"
#include "kernels/dia.h"
#include "kernels/labels.h"
#include "kernels/runs.h"
#include "kernels/vec.h"

typedef struct {
  PolderRuns r; /* on the device */
  PetscInt   n, nlabel;
  PetscInt  *label, *labeld; /* [m] */
  PetscInt  *of;             /* [n] */
  PetscInt  *chunks;         /* first[] */
} Runs;

/* width: rows of a line that have the same label, but for one in fifty with a label of its own or none */
static PetscErrorCode RunsCreate(PetscInt m, PetscInt far, PetscInt chunk, PetscInt width, Runs *R, PolderStream stream)
{
  PolderRuns *r = &R->r;
  PetscInt    chunks, *ofd;
  size_t      bytes;
  void       *work;

  PetscFunctionBeginUser;
  *r        = (PolderRuns){.m = m, .far = far, .chunk = chunk};
  chunks    = PolderRunsChunks(r);
  R->nlabel = 40;
  PetscCall(PetscMalloc1(m, &R->label));
  for (PetscInt i = 0; i < m; ++i) R->label[i] = Next(50) ? (i % far / 9 + i / far / width * 5) % R->nlabel : Next(R->nlabel) - 1;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)m, R->label, &R->labeld));
  PetscCall(PolderDeviceMalloc(sizeof(*r->ends) * (size_t)((chunk + 31) / 32 * chunks), &r->ends));
  PetscCall(PolderDeviceMalloc(sizeof(*r->first) * (size_t)(chunks + 1), &r->first));
  PetscCall(PolderDeviceZero(r->first + chunks, sizeof(*r->first)));
  PolderLaunch(PolderRunsCount_CUDA(r, R->labeld, stream));
  bytes = PolderWorkSize(PolderKeysScanWork_CUDA(chunks + 1));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderKeysScan_CUDA(chunks + 1, r->first, work, bytes, stream));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PetscMalloc1(chunks + 1, &R->chunks));
  PetscCall(PolderDeviceToHost(R->chunks, r->first, sizeof(PetscInt) * (size_t)(chunks + 1)));
  R->n = R->chunks[chunks];
  PetscCall(PetscMalloc1(R->n, &R->of));
  PetscCall(PolderDeviceMalloc(sizeof(*ofd) * (size_t)R->n, &ofd));
  PetscCall(PolderDeviceMalloc(sizeof(*r->sum) * (size_t)R->n, &r->sum));
  PolderLaunch(PolderRunsLabel_CUDA(r, R->labeld, ofd, stream));
  PetscCall(PolderDeviceToHost(R->of, ofd, sizeof(*ofd) * (size_t)R->n));
  PetscCall(PolderDeviceFree(&ofd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunsDestroy(Runs *R)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFree(&R->labeld));
  PetscCall(PolderDeviceFree(&R->r.ends));
  PetscCall(PolderDeviceFree(&R->r.first));
  PetscCall(PolderDeviceFree(&R->r.sum));
  PetscCall(PetscFree(R->label));
  PetscCall(PetscFree(R->of));
  PetscCall(PetscFree(R->chunks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum[] against v, run after run */
static PetscErrorCode RunsCheck(const Runs *R, const PetscScalar v[], PetscReal tol, PetscInt *wrong)
{
  const PolderRuns *r = &R->r;
  PetscInt          run;
  PetscScalar      *sum;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(R->n, &sum));
  PetscCall(PolderDeviceToHost(sum, r->sum, sizeof(*sum) * (size_t)R->n));
  for (PetscInt c = 0; c < PolderRunsChunks(r); ++c) {
    run = R->chunks[c];
    for (PetscInt s = 0, i = c / r->far * r->chunk * r->far + c % r->far; s < r->chunk && i < r->m; ++run) {
      PetscScalar expected = 0;

      if (run >= R->chunks[c + 1] || R->of[run] != R->label[i]) {
        ++*wrong;
        break;
      }
      for (; s < r->chunk && i < r->m && R->label[i] == R->of[run]; ++s, i += r->far) expected += v[i];
      *wrong += Wrong(1, &sum[run], &expected, tol);
    }
    *wrong += run != R->chunks[c + 1];
  }
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSums(PetscInt m, PetscInt far, PetscInt chunk, PolderStream stream, PetscInt *wrong)
{
  PetscScalar *v, *vd;

  PetscFunctionBeginUser;
  for (PetscInt width = 1; width < 200; width = 3 * width + 1) {
    Runs R;

    PetscCall(RunsCreate(m, far, chunk, width, &R, stream));
    PetscCall(Random(m, &v, &vd));
    PolderLaunch(PolderRunsSum_CUDA(&R.r, vd, stream));
    PetscCall(RunsCheck(&R, v, 1e-13 * chunk, wrong));
    PetscCall(PolderDeviceFree(&vd));
    PetscCall(PetscFree(v));
    PetscCall(RunsDestroy(&R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product with the stencil of a grid, all diagonals of it stored or those above the main one and that */
static PetscErrorCode TestProduct(PetscInt nx, PetscInt ny, PetscInt nz, PetscBool half, PolderStream stream, PetscInt *wrong)
{
  const PetscInt     m = nx * ny * nz, dim = nz > 1 ? 3 : 2, nd = 2 * dim + 1, stride[] = {1, nx, nx * ny}, ld = m + 8;
  PetscInt           off[7], far, chunk;
  PetscScalar       *x, *xd, *a, *ad, *y, *yd, *dotd, dot, expected;
  const PetscScalar *val[7], *vald[7];
  const PolderDia    A = {.m = m, .n = m, .nd = nd, .off = off, .val = val}, Ad = {.m = m, .n = m, .nd = nd, .off = off, .val = vald};
  void              *work;
  Runs               R;

  PetscFunctionBeginUser;
  PetscCall(Random(ld * nd, &a, &ad));
  PetscCall(Random(m, &x, &xd));
  for (PetscInt d = 0; d < nd; ++d) {
    off[d]  = d == dim ? 0 : d < dim ? -stride[dim - 1 - d] : stride[d - dim - 1];
    val[d]  = a + ld * d;
    vald[d] = ad + ld * d;
  }
  for (PetscInt d = 0; d < dim && half; ++d) {
    val[d]  = val[nd - 1 - d] + off[d];
    vald[d] = vald[nd - 1 - d] + off[d];
  }
  PetscCall(PetscMalloc1(m, &y));
  PolderDiaMult_Host(&A, 1, x, NULL, y);
  expected = PolderDot_Host(m, x, y);
  if (PolderKernelCan(PolderDiaRuns_CUDA(&Ad, &far, &chunk))) {
    PetscCall(RunsCreate(m, far, chunk, 17, &R, stream));
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)m, &yd));
    PetscCall(PolderDeviceMalloc(sizeof(dot), &dotd));
    PetscCall(PolderDeviceGetWork(&work));
    PolderLaunch(PolderDiaMultRuns_CUDA(&Ad, xd, yd, dotd, &R.r, work, stream));
    PetscCall(PolderDeviceToHost(&dot, dotd, sizeof(dot)));
    *wrong += Wrong(1, &dot, &expected, 1e-13 * m);
    PetscCall(RunsCheck(&R, y, 1e-12 * chunk, wrong));
    PetscCall(PolderDeviceToHost(x, yd, sizeof(*x) * (size_t)m));
    *wrong += Wrong(m, x, y, 1e-13);
    PetscCall(PolderDeviceFree(&yd));
    PetscCall(PolderDeviceFree(&dotd));
    PetscCall(RunsDestroy(&R));
  } else ++*wrong;
  PetscCall(PetscFree(y));
  PetscCall(PolderDeviceFree(&xd));
  PetscCall(PolderDeviceFree(&ad));
  PetscCall(PetscFree(x));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAllSums(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt lines[][3] = {
    {0,    5,   3  },
    {1,    1,   1  },
    {100,  1,   7  },
    {100,  1,   33 },
    {101,  7,   4  },
    {101,  200, 4  },
    {4097, 64,  37 },
    {4097, 33,  64 },
    {9999, 100, 100},
    {9999, 9,   40 }
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lines); ++k) PetscCall(TestSums(lines[k][0], lines[k][1], lines[k][2], stream, &wrong));
  PetscCall(Report("sums over runs", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProducts(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt grids[][3] = {
    {70,  70,  70 },
    {100, 60,  51 },
    {33,  65,  141},
    {600, 551, 1  }
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); ++k) {
    PetscCall(TestProduct(grids[k][0], grids[k][1], grids[k][2], PETSC_FALSE, stream, &wrong));
    PetscCall(TestProduct(grids[k][0], grids[k][1], grids[k][2], PETSC_TRUE, stream, &wrong));
  }
  PetscCall(Report("products with sums over runs", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestAllSums, TestProducts}
};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
