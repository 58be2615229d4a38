static const char help[] = "Passes over many grids of the repeated red-black preconditioner, second visits among them, against the kernels of the host.\n\n";

#include "devicerrb.h"

/* Kernels of second visits */
static PetscErrorCode TestPlanes(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;
  void    *scratch;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetWork(&scratch));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++k) {
    const PetscInt       nx = Sizes[k][0], ny = Sizes[k][1], ld = nx + Next(3), before = wrong;
    const PolderRRBPlane g = Plane(nx, ny);
    Array                a, v, d, r, dot;

    if (TooLarge(nx, ny)) continue;
    PetscCall(PlanesCreate(&g, RRB_NROW, &a));
    PetscCall(PlanesCreate(&g, 1, &v));
    PetscCall(PlanesCreate(&g, 1, &d));
    PetscCall(ArrayCreate((size_t)ld * (size_t)ny, PETSC_TRUE, 0, &r));
    PetscCall(ArrayCreate(1, PETSC_FALSE, 0, &dot));
    for (int zero = 0; zero < 2; ++zero) {
      PolderRRBResidual_Host(&g, a.h, zero ? NULL : r.h, ld, 0.3, v.h, d.h);
      PolderLaunch(PolderRRBResidual_CUDA(&g, a.d, zero ? NULL : r.d, ld, 0.3, v.d, d.d, stream));
      PetscCall(ArrayCompare(&d, 1e-14, &wrong));
    }
    PolderRRBPlaneDot_Host(&g, v.h, d.h, dot.h);
    PolderLaunch(PolderRRBPlaneDot_CUDA(&g, v.d, d.d, dot.d, scratch, stream));
    PetscCall(ArrayCompare(&dot, 1e-13 * nx * ny, &wrong));
    for (int two = 0; two < 2; ++two) {
      PolderRRBCombine_Host(&g, 0.6, v.h, 0.9, two ? d.h : NULL, -1.7, r.h, ld);
      PolderLaunch(PolderRRBCombine_CUDA(&g, 0.6, v.d, 0.9, two ? d.d : NULL, -1.7, r.d, ld, stream));
      PetscCall(ArrayCompare(&r, two ? 1e-14 : 1e-15, &wrong));
    }
    for (size_t i = 0; i < g.size; ++i) a.h[i] = PetscAbsScalar(a.h[i]) + 0.1;
    PetscCall(ArrayUpload(&a));
    PolderRRBSigns_Host(&g, nx + 5, 7, a.h, v.h);
    PolderLaunch(PolderRRBSigns_CUDA(&g, nx + 5, 7, a.d, v.d, stream));
    PetscCall(ArrayCompare(&v, 1e-15, &wrong));
    PetscCall(Tell("planes", nx, ny, 0, before, wrong));
    PetscCall(ArrayDestroy(&dot, 0));
    PetscCall(ArrayDestroy(&r, 0));
    PetscCall(ArrayDestroy(&d, 0));
    PetscCall(ArrayDestroy(&v, 0));
    PetscCall(ArrayDestroy(&a, 0));
  }
  PetscCall(Report("second visits", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares what the passes leave on all grids */
static PetscErrorCode CheckPasses(Chain *chain, PetscBool single, PetscInt n, const PolderRRBPass pass[], PolderStream stream, PetscInt *wrong)
{
  const Array          *b = &chain->r[chain->ngrid], *x = &chain->x[chain->ngrid];
  const PolderRRBSystem here  = {.single  = single,
                                 .ngrid   = chain->ngrid,
                                 .step    = chain->step[0],
                                 .n       = chain->n,
                                 .ld      = chain->ld,
                                 .inverse = chain->inverse.h,
                                 .b       = b->h,
                                 .x       = x->h,
                                 .npass   = n,
                                 .pass    = pass};
  PolderRRBSystem       there = here;

  PetscFunctionBeginUser;
  there.step    = chain->step[1];
  there.inverse = chain->inverse.d;
  there.b       = b->d;
  there.x       = x->d;
  RRBTwinSmall(&here);
  PolderLaunch(PolderRRBSmall_CUDA(&there, stream));
  for (PetscInt g = 0; g <= chain->ngrid; ++g) {
    PetscCall(ArrayCompare(&chain->r[g], 1e-12, wrong));
    PetscCall(ArrayCompare(&chain->x[g], 1e-12, wrong));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Many grids and the rest in one kernel: at once, by its two halves, and with second visits of every other grid */
static PetscErrorCode TestSmall(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt sizes[][3] = {
    {2,    2,   99},
    {3,    3,   1 },
    {3,    2,   2 },
    {15,   16,  99},
    {31,   30,  3 },
    {63,   64,  6 },
    {127,  127, 5 },
    {255,  255, 99},
    {256,  256, 6 },
    {1000, 65,  4 },
    {4,    999, 99}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    for (int form = 0; form < 6; ++form) {
      const PetscBool single = (PetscBool)(form % 2), parts = (PetscBool)(form / 2 == 1);
      const PetscInt  before = wrong;
      PetscInt        n;
      unsigned        twice = form / 4 ? 0xaaaa : 0;
      Chain           chain;
      PolderRRBPass   pass[POLDER_RRB_PASSES];

      if (TooLarge(sizes[k][0], sizes[k][1])) continue;
      PetscCall(ChainCreate(sizes[k][0], sizes[k][1], sizes[k][2], &chain));
      for (PetscInt g = 0; g < chain.ngrid; ++g) {
        chain.step[0][g].c = single ? (const void *)chain.s[0][g] : chain.c[g].h;
        chain.step[1][g].c = single ? (const void *)chain.s[1][g] : chain.c[g].d;
        if (!chain.step[0][g].a) twice &= ~(1u << g);
      }
      n = PolderRRBPassesOfGrid(0, chain.ngrid, twice, pass);
      PetscCall(CheckPasses(&chain, single, parts ? chain.ngrid : n, pass, stream, &wrong));
      if (parts) {
        Array *x = &chain.x[chain.ngrid];

        for (PetscInt i = 0; i < chain.n; ++i) x->h[i] = Number();
        PetscCall(ArrayUpload(x));
        PetscCall(CheckPasses(&chain, single, chain.ngrid, pass + chain.ngrid + 1, stream, &wrong));
      }
      PetscCall(Tell("small grids", sizes[k][0], sizes[k][1], form, before, wrong));
      PetscCall(ChainDestroy(&chain));
    }
  }
  PetscCall(Report("small grids and the rest", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestPlanes, TestSmall}
};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck racecheck
    suffix: small
    requires: cuda
    args: -small
    output_file: output/devicerrbvisits_1.out

TEST*/
