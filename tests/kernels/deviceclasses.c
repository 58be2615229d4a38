static const char help[] = "Classes of equal rows: what host and device find, and device kernels with them against those without, bit by bit.\n\n";

#include "classes.h"
#include "devicetest.h"
#include "kernels/level.h"
#include "kernels/tns.h"

/* A stencil on the host and on the device, with its classes there */
typedef struct {
  ClassStencil       host;
  PetscInt           m, nd;
  PetscScalar       *alld;
  const PetscScalar *vald[POLDER_DIA_POINTS];
  PolderDia          A;
  PolderDiaStencil   there;
  unsigned char     *code;
  PolderDiaClasses  *classes;
} Stencil;

/* Rows, near, far (near = 0: 5 points). Even ones are taken two rows at a time, odd ones one by one */
static const PetscInt Grids[][3] = {
  {314432, 68, 4624  },
  {300007, 0,  4711  },
  {310001, 7,  100003},
  {360000, 0,  600   }
};

static PetscErrorCode StencilCreate(const PetscInt grid[3], PetscInt values, Stencil *S)
{
  PetscInt c;

  PetscFunctionBeginUser;
  *S = (Stencil){.m = grid[0]};
  PetscCall(ClassStencilCreate(grid, values, 9000, 3000, &S->host));
  S->nd = S->host.nd;
  c     = S->nd / 2;
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)((c + 1) * S->m), S->host.all, &S->alld));
  for (PetscInt d = 0; d < S->nd; ++d) S->vald[d] = S->alld + (S->host.val[d] - S->host.all);
  S->A     = S->host.A;
  S->A.val = S->vald;
  S->there = PolderDiaStencilOf(S->m, S->nd, c, S->host.off, POLDER_DIA_DOUBLE, (const void *const *)S->vald, NULL);
  PetscCall(PolderDeviceMalloc((size_t)S->m, &S->code));
  PetscCall(PolderDeviceMalloc(sizeof(*S->classes), &S->classes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StencilDestroy(Stencil *S)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(S->host.all));
  PetscCall(PolderDeviceFree(&S->alld));
  PetscCall(PolderDeviceFree(&S->code));
  PetscCall(PolderDeviceFree(&S->classes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of few different rows, of many, and of only different ones */
static PetscErrorCode TestFind(void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  (void)work;
  for (size_t g = 0; g < (small ? 1 : PETSC_STATIC_ARRAY_LENGTH(Grids)); ++g) {
    for (PetscInt values = 2; values <= 20000; values *= 100) {
      const PetscInt    m = Grids[g][0];
      Stencil           S;
      unsigned char    *code, *got;
      PolderDiaClasses *C, *there;

      PetscCall(StencilCreate(Grids[g], values, &S));
      PetscCall(PetscMalloc4(m, &code, m, &got, 1, &C, 1, &there));
      if (values > 200) { // every row is another
        ClassStencilVary(&S.host);
        PetscCall(PolderDeviceFromHost(S.alld, S.host.all, sizeof(PetscScalar) * (size_t)m));
      }
      PolderDiaClassify_Host(&S.host.S, code, C);
      PolderLaunch(PolderDiaClassify_CUDA(&S.there, S.code, S.classes, stream));
      PetscCall(PolderDeviceToHost(there, S.classes, sizeof(*there)));
      wrong += !PolderKernelCan(PolderDiaClassesServe_CUDA(&S.there));
      if (values > 200) wrong += C->rest != m || there->rest != m;
      else {
        PetscCall(PolderDeviceToHost(got, S.code, (size_t)m));
        wrong += ClassesWrong(&S.host, code, C) + ClassesWrong(&S.host, got, there);
        wrong += values == 2 && (C->rest > PolderDiaMostClassless(m) || (!g && !C->rest));
        wrong += values == 2 && (there->rest > PolderDiaMostClassless(m) || (!g && !there->rest));
      }
      PetscCall(PetscFree4(code, got, C, there));
      PetscCall(StencilDestroy(&S));
    }
  }
  PetscCall(Report("classes", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a that are not those of b, bit by bit; frees both */
static PetscErrorCode Differ(size_t bytes, void *a, void *b, PetscInt *wrong)
{
  char     *here[2];
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(bytes, &here[0], bytes, &here[1]));
  PetscCall(PolderDeviceToHost(here[0], a, bytes));
  PetscCall(PolderDeviceToHost(here[1], b, bytes));
  PetscCall(PetscMemcmp(here[0], here[1], bytes, &same));
  *wrong += !same;
  PetscCall(PetscFree2(here[0], here[1]));
  PetscCall(PolderDeviceFree(&a));
  PetscCall(PolderDeviceFree(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencil of grid g with few different rows, and its classes */
static PetscErrorCode Classify(size_t g, Stencil *S, PolderStream stream)
{
  PetscFunctionBeginUser;
  PetscCall(StencilCreate(Grids[g], 2, S));
  PolderLaunch(PolderDiaClassify_CUDA(&S->there, S->code, S->classes, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMult(void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t g = 0; g < (small ? 1 : PETSC_STATIC_ARRAY_LENGTH(Grids)); ++g) {
    const PetscInt m = Grids[g][0];
    Stencil        S;
    PetscScalar   *x, *xd;

    PetscCall(Classify(g, &S, stream));
    PetscCall(Random(m, &x, &xd));
    for (int dot = 0; dot < 2; ++dot) {
      PetscScalar *z[2], sum[2];

      for (int with = 0; with < 2; ++with) {
        PolderDia A = S.A;

        A.code    = with ? S.code : NULL;
        A.classes = S.classes;
        PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)(m + 1), &z[with]));
        PetscCall(PolderDeviceZero(z[with], sizeof(PetscScalar) * (size_t)(m + 1)));
        PolderLaunch(PolderDiaMult_CUDA(&A, dot ? 1 : -0.3, xd, dot ? NULL : xd, z[with], dot ? z[with] + m : NULL, work, stream));
      }
      for (int with = 0; with < 2; ++with) PetscCall(PolderDeviceToHost(&sum[with], z[with] + m, sizeof(PetscScalar)));
      wrong += !(PetscAbsScalar(sum[0] - sum[1]) <= 1e-12 * m); // the order of this sum is that of the kernel
      PetscCall(Differ(sizeof(PetscScalar) * (size_t)m, z[0], z[1], &wrong));
    }
    PetscCall(PetscFree(x));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(StencilDestroy(&S));
  }
  PetscCall(Report("products", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both triangles, in double and in single precision */
static PetscErrorCode TestTriangles(void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t g = 0; g < (small ? 1 : PETSC_STATIC_ARRAY_LENGTH(Grids)); ++g) {
    const PetscInt m = Grids[g][0];
    Stencil        S;
    PetscScalar   *x, *xd;
    float         *single, *singled;
    int           *bad;

    PetscCall(Classify(g, &S, stream));
    PetscCall(Random(m, &x, &xd));
    PetscCall(PetscMalloc1((S.nd / 2 + 1) * m, &single));
    for (PetscInt k = 0; k < (S.nd / 2 + 1) * m; ++k) single[k] = (float)S.host.all[k];
    PetscCall(PolderDeviceUpload(sizeof(float) * (size_t)((S.nd / 2 + 1) * m), single, &singled));
    PetscCall(PolderDeviceMalloc(sizeof(int), &bad));
    for (int form = 0; form < 4; ++form) {
      const PetscBool upper = (PetscBool)(form % 2), rounded = (PetscBool)(form / 2);
      const PetscInt  first = upper ? S.nd / 2 + 1 : 0;
      const void     *val[3];
      PolderTriangle  T = {.single = rounded, .upper = upper, .m = m, .nd = S.nd / 2, .off = S.host.off + first, .val = val, .classes = S.classes};
      PetscScalar    *z[2], *dinv;

      for (PetscInt d = 0; d < T.nd; ++d) val[d] = rounded ? (const void *)(singled + (S.vald[first + d] - S.alld)) : S.vald[first + d];
      PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)m, &dinv));
      PolderLaunch(PolderTriInverse_CUDA(rounded, m, NULL, S.alld, dinv, bad, stream));
      T.dinv = dinv;
      for (int with = 0; with < 2; ++with) {
        T.code = with ? S.code : NULL;
        PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)m, &z[with]));
        PetscCall(PolderDeviceZero(z[with], sizeof(PetscScalar) * (size_t)m));
        PolderLaunch(PolderTriPair_CUDA(&T, xd, z[with], NULL, work, stream));
      }
      PetscCall(Differ(sizeof(PetscScalar) * (size_t)m, z[0], z[1], &wrong));
      PetscCall(PolderDeviceFree(&dinv));
    }
    PetscCall(PetscFree(x));
    PetscCall(PetscFree(single));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(PolderDeviceFree(&singled));
    PetscCall(PolderDeviceFree(&bad));
    PetscCall(StencilDestroy(&S));
  }
  PetscCall(Report("triangles", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are the numbers of a near those of b? In single precision, where the compiler may round the sum of two products either way; frees both */
static PetscErrorCode Near(PetscInt n, void *a, void *b, PetscInt *wrong)
{
  float *here[2], most = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &here[0], n, &here[1]));
  PetscCall(PolderDeviceToHost(here[0], a, sizeof(float) * (size_t)n));
  PetscCall(PolderDeviceToHost(here[1], b, sizeof(float) * (size_t)n));
  for (PetscInt i = 0; i < n; ++i) {
    const float apart = PetscAbsReal(here[0][i] - here[1][i]);

    if (!(apart <= most)) most = apart;
  }
  if (!(most <= 1e-5)) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "numbers differ by %g\n", (double)most));
    ++*wrong;
  }
  PetscCall(PetscFree2(here[0], here[1]));
  PetscCall(PolderDeviceFree(&a));
  PetscCall(PolderDeviceFree(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps of a smoother and the residual, on a level with these entries, of size 10 as products of theirs are */
static PetscErrorCode CheckLevel(PolderLevelMatrix M, unsigned char *code, const PolderDiaClasses *classes, const float *b, const float *x, PolderStream stream,
                                 PetscInt *wrong)
{
  const size_t bytes = sizeof(float) * (size_t)M.n;

  PetscFunctionBeginUser;
  for (int form = 0; form < 4; ++form) { // the residual, a step from zero, one from x, and a residual again
    const PolderLevelStep step = {.k = form, .zero = (PetscBool)(form == 1), .start = 0.7, .beta = 0.25, .scale = 0.6};
    void                 *y[2];

    for (int with = 0; with < 2; ++with) {
      M.code    = with ? code : NULL;
      M.classes = classes;
      PetscCall(PolderDeviceMalloc(bytes, &y[with]));
      PetscCall(PolderDeviceToDevice(y[with], x, bytes));
      if (form % 3) PolderLaunch(PolderLevelJacobi_CUDA(PETSC_TRUE, &M, &step, b, x, y[with], NULL, NULL, stream));
      else PolderLaunch(PolderLevelResidual_CUDA(PETSC_TRUE, &M, b, x, y[with], NULL, NULL, NULL, stream));
    }
    PetscCall(Near(M.n, y[0], y[1], wrong));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLevels(void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  (void)work;
  for (size_t g = 0; g < (small ? 1 : PETSC_STATIC_ARRAY_LENGTH(Grids)); ++g) {
    const PetscInt    m = Grids[g][0], nd = Grids[g][1] ? 7 : 5, stored = (nd / 2 + 1) * m;
    Stencil           S;
    float            *entries[3], *there[3];
    PolderBfloat     *half, *halfd;
    PolderDiaClasses *C;

    PetscCall(StencilCreate(Grids[g], 2, &S));
    PetscCall(PetscMalloc5(stored, &entries[0], m, &entries[1], m, &entries[2], stored, &half, 1, &C));
    for (PetscInt k = 0; k < stored; ++k) {
      entries[0][k] = (float)S.host.all[k];
      half[k]       = PolderBfloatRound(entries[0][k]);
    }
    for (PetscInt i = 0; i < m; ++i) {
      entries[1][i] = 1 / (float)S.host.all[i];
      entries[2][i] = (float)Number();
    }
    for (int k = 0; k < 3; ++k) PetscCall(PolderDeviceUpload(sizeof(float) * (size_t)(k ? m : stored), entries[k], &there[k]));
    PetscCall(PolderDeviceUpload(sizeof(*half) * (size_t)stored, half, &halfd));
    for (int bfloat = 0; bfloat < 2; ++bfloat) {
      const void       *val[POLDER_DIA_POINTS];
      PolderLevelMatrix M = {.n = m, .nd = nd, .main = nd / 2, .off = S.host.off, .val = val, .bfloat = (PetscBool)bfloat, .dinv = there[1]};
      PolderDiaStencil  stencil;

      for (PetscInt d = 0; d < nd; ++d) {
        const ptrdiff_t at = S.vald[d] - S.alld;

        val[d] = bfloat ? (const void *)(halfd + at) : (const void *)(there[0] + at);
      }
      stencil = PolderDiaStencilOf(m, nd, nd / 2, S.host.off, bfloat ? POLDER_DIA_BFLOAT : POLDER_DIA_SINGLE, val, there[1]);
      PolderLaunch(PolderDiaClassify_CUDA(&stencil, S.code, S.classes, stream));
      PetscCall(PolderDeviceToHost(C, S.classes, sizeof(*C)));
      wrong += C->rest > PolderDiaMostClassless(m) || (!g && !C->rest);
      PetscCall(CheckLevel(M, S.code, S.classes, there[2], there[1], stream, &wrong));
    }
    for (int k = 0; k < 3; ++k) PetscCall(PolderDeviceFree(&there[k]));
    PetscCall(PolderDeviceFree(&halfd));
    PetscCall(PetscFree5(entries[0], entries[1], entries[2], half, C));
    PetscCall(StencilDestroy(&S));
  }
  PetscCall(Report("levels", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestFind, TestMult, TestTriangles, TestLevels}
};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck
    suffix: small
    requires: cuda
    args: -small
    output_file: output/deviceclasses_1.out

TEST*/
