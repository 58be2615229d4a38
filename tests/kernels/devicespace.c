static const char help[] = "Deflation on the device: the space against one set up on the host, copies, reproducibility.\n\n";

#include "bubbles.h"
#include "copies.h"
#include "devicetest.h"
#include "deflation/deflationspace.h"
#include "kernels/vec.h"
#include <polder.h>

/* The same values in a matrix and vectors of the device */
static PetscErrorCode ToDevice(Mat A, Vec phi, Mat *D, Vec *dphi)
{
  char     type[32] = MATAIJCUSPARSE;
  PetscInt m;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-device_type", type, sizeof(type), NULL));
  PetscCall(VecCreate(PETSC_COMM_WORLD, dphi));
  PetscCall(VecGetLocalSize(phi, &m));
  PetscCall(VecSetSizes(*dphi, m, PETSC_DETERMINE));
  PetscCall(VecSetType(*dphi, VECCUDA));
  PetscCall(VecCopy(phi, *dphi));
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, D));
  PetscCall(MatSetVecType(*D, VECCUDA));
  PetscCall(PetscObjectCompose((PetscObject)*D, "levelset", (PetscObject)*dphi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char what[], Vec host, Vec device, PetscReal tol)
{
  Vec       copy;
  PetscReal norm, error;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(host, &copy));
  PetscCall(VecCopy(device, copy));
  PetscCall(VecAXPY(copy, -1, host));
  PetscCall(VecNorm(copy, NORM_2, &error));
  PetscCall(VecNorm(host, NORM_2, &norm));
  PetscCheck(error <= tol * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s on the device differs from that on the host by %g of %g", what, (double)error,
             (double)norm);
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeSpace(Mat A, PolderDeflationSpace *s)
{
  PetscFunctionBegin;
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_WORLD, s));
  PetscCall(PolderDeflationSpaceSetFromOptions(*s));
  PetscCall(PolderDeflationSpaceSetUp(*s, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of (x, y) on this process */
static PetscErrorCode LocalDot(Vec x, Vec y, PetscScalar *dot)
{
  const PetscScalar *xa, *ya;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayRead(y, &ya));
  *dot = PolderDot_Host(n, xa, ya);
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v <- P A p by the space h, dv by g, and (p, P A p) with it */
static PetscErrorCode CompareDot(PolderDeflationSpace h, PolderDeflationSpace g, Mat A, Vec p, Vec v, Vec dv, PetscReal tol)
{
  PetscScalar dot, expected, *ddot;
  PetscReal   pn, vn;

  PetscFunctionBegin;
  PetscCall(MatMult(A, p, v));
  PetscCall(VecCopy(v, dv));
  PetscCall(VecNorm(p, NORM_2, &pn));
  PetscCall(VecNorm(v, NORM_2, &vn));
  PetscCall(LocalDot(p, v, &dot));
  PetscCall(PolderDeviceUpload(sizeof(dot), &dot, &ddot));
  PetscCall(PolderDeflationSpaceApplyP(h, v));
  PetscCall(PolderDeflationSpaceApplyPDot(g, dv, PETSC_FALSE, ddot));
  PetscCall(Compare("P with the dot", v, dv, tol));
  PetscCall(PolderDeviceToHost(&dot, ddot, sizeof(dot)));
  PetscCall(PolderDeviceFree(&ddot));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &dot, 1, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(VecDot(p, v, &expected));
  PetscCheck(PetscAbsScalar(dot - expected) <= tol * pn * vn, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "(p, P A p) is %g, expected %g", (double)dot, (double)expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operators on vectors of the host by the space h, on vectors of the device by g; g also works on vectors of the host */
static PetscErrorCode CompareOperators(PolderDeflationSpace h, PolderDeflationSpace g, Mat A, Vec host, Vec device, PetscReal tol)
{
  Vec      v, w, p, dv, dw, dp;
  PetscInt d, dd;

  PetscFunctionBegin;
  PetscCall(PolderDeflationSpaceGetSize(h, &d));
  PetscCall(PolderDeflationSpaceGetSize(g, &dd));
  PetscCheck(d == dd, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors on the host, %" PetscInt_FMT " on the device", d, dd);
  PetscCall(VecDuplicate(host, &v));
  PetscCall(VecDuplicate(host, &w));
  PetscCall(VecDuplicate(host, &p));
  PetscCall(VecDuplicate(device, &dv));
  PetscCall(VecDuplicate(device, &dw));
  PetscCall(VecDuplicate(device, &dp));
  PetscCall(FillRandom(v, 1));
  PetscCall(FillRandom(p, 2));
  PetscCall(VecCopy(v, dv));
  PetscCall(VecCopy(p, dp));
  PetscCall(VecCopy(v, w));
  PetscCall(PolderDeflationSpaceApplyP(h, v));
  PetscCall(PolderDeflationSpaceApplyP(g, w)); // a vector of the host
  PetscCall(Compare("P of a host vector", v, w, tol));
  PetscCall(VecCopy(dv, dw));
  PetscCall(PolderDeflationSpaceApplyP(g, dw));
  PetscCall(Compare("P", v, dw, tol));
  PetscCall(CompareDot(h, g, A, p, v, dv, tol));
  PetscCall(PolderDeflationSpaceApplyPT(h, p));
  PetscCall(PolderDeflationSpaceApplyPT(g, dp));
  PetscCall(Compare("P^T", p, dp, tol));
  PetscCall(FillRandom(v, 3));
  PetscCall(FillRandom(w, 4));
  PetscCall(VecCopy(v, dv));
  PetscCall(VecCopy(w, dw));
  PetscCall(PolderDeflationSpaceApplyQAdd(h, v, w));
  PetscCall(PolderDeflationSpaceApplyQAdd(g, dv, dw));
  PetscCall(Compare("Q", w, dw, tol));
  PetscCall(PolderDeflationSpaceCorrect(h, v, w));
  PetscCall(PolderDeflationSpaceCorrect(g, dv, dw));
  PetscCall(Compare("the correction", w, dw, tol));
  for (PetscInt k = 0; k < d; k += 1 + d / 5) {
    PetscCall(PolderDeflationSpaceGetVector(h, k, v));
    PetscCall(PolderDeflationSpaceGetVector(g, k, dv));
    PetscCall(Compare("a column", v, dv, 0));
  }
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&dv));
  PetscCall(VecDestroy(&dw));
  PetscCall(VecDestroy(&dp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, Vec b, Vec x, KSP *ksp, PetscInt *its)
{
  PetscFunctionBegin;
  if (!*ksp) {
    PC pc;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
    PetscCall(KSPSetType(*ksp, KSPDCG));
    PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 5000));
    PetscCall(KSPGetPC(*ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPSetFromOptions(*ksp));
  }
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(VecZeroEntries(x));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(KSPSolve(*ksp, b, x));
  PetscCall(KSPGetIterationNumber(*ksp, its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations as on the host; the same bits twice; nothing of size n crosses the bus */
static PetscErrorCode CompareSolves(Mat A, Mat D, Vec host, Vec device, PetscBool copies, PetscBool bitwise)
{
  Vec            b, x, db, dx, dy;
  KSP            hksp = NULL, gksp = NULL;
  PetscInt       hits, gits, again, N;
  PetscReal      norm;
  PetscScalar    mean;
  PetscLogDouble before;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(host, &b));
  PetscCall(VecDuplicate(host, &x));
  PetscCall(VecDuplicate(device, &db));
  PetscCall(VecDuplicate(device, &dx));
  PetscCall(VecDuplicate(device, &dy));
  PetscCall(FillRandom(b, 5));
  PetscCall(VecGetSize(b, &N));
  PetscCall(VecSum(b, &mean));
  PetscCall(VecShift(b, -mean / N));
  PetscCall(VecCopy(b, db));
  PetscCall(Solve(A, b, x, &hksp, &hits));
  PetscCall(Solve(D, db, dx, &gksp, &gits));
  PetscCheck(PetscAbsInt(hits - gits) <= 1 + hits / 50, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " iterations on the host, %" PetscInt_FMT " on the device", hits, gits);
  PetscCall(Compare("the solution", x, dx, 1e-5));
  before = Copied();
  PetscCall(PetscObjectStateIncrease((PetscObject)device)); // the level set: all is set up again
  PetscCall(Solve(D, db, dy, &gksp, &again));
  before = Copied() - before;
  PetscCall(VecAXPY(dy, -1, dx));
  PetscCall(VecNorm(dy, NORM_INFINITY, &norm));
  PetscCheck(!bitwise || (norm == 0 && again == gits), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "The same solve differs by %g, and took %" PetscInt_FMT " and %" PetscInt_FMT " iterations", (double)norm, gits, again);
  PetscCheck(!copies || before < 4.0 * N, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%g bytes crossed the bus for %" PetscInt_FMT " rows", (double)before, N);
  PetscCall(KSPDestroy(&hksp));
  PetscCall(KSPDestroy(&gksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&db));
  PetscCall(VecDestroy(&dx));
  PetscCall(VecDestroy(&dy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSpace(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  Bubbles              bubbles;
  Mat                  A = NULL, D;
  Vec                  phi, dphi;
  PolderDeflationSpace h, g;
  PetscBool            copies = PETSC_FALSE, view = PETSC_FALSE, bitwise = PETSC_TRUE;
  PetscReal            tol = 1e-9;

  PetscFunctionBegin;
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-copies", &copies, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bitwise", &bitwise, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &tol, NULL));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, &phi));
  PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  PetscCall(MakeSpace(A, &h)); // before there is anything on the device
  PetscCall(ToDevice(A, phi, &D, &dphi));
  PetscCall(MakeSpace(D, &g));
  if (view) PetscCall(PolderDeflationSpaceView(g, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(CompareOperators(h, g, A, phi, dphi, tol));
  bubbles.inside *= 0.3; // changed values, same pattern
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(MatCopy(A, D, SAME_NONZERO_PATTERN));
  PetscCall(PolderDeflationSpaceSetUp(h, A));
  PetscCall(PolderDeflationSpaceSetUp(g, D));
  PetscCall(CompareOperators(h, g, A, phi, dphi, tol));
  bubbles.radius *= 0.8; // moved level set
  PetscCall(VecDestroy(&phi));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, &phi));
  PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  PetscCall(MatCopy(A, D, SAME_NONZERO_PATTERN));
  PetscCall(VecCopy(phi, dphi));
  PetscCall(PolderDeflationSpaceSetUp(h, A));
  PetscCall(PolderDeflationSpaceSetUp(g, D));
  PetscCall(CompareOperators(h, g, A, phi, dphi, tol));
  PetscCall(CompareSolves(A, D, phi, dphi, copies, bitwise));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "space ok\n"));
  PetscCall(PolderDeflationSpaceDestroy(&h));
  PetscCall(PolderDeflationSpaceDestroy(&g));
  PetscCall(VecDestroy(&phi));
  PetscCall(VecDestroy(&dphi));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestSpace}};

/*TEST

  build: internal

  testset:
    requires: cuda
    args: -n 20 -deflation_grid 20,20,20 -device_type {{aijcusparse aijdia}}
    output_file: output/devicespace.out
    test:
      suites: memcheck
      suffix: subdomain
      nsize: {{1 2}}
      args: -deflation_space subdomain -deflation_boxes 2,3,4
    test:
      suites: memcheck
      suffix: dirichlet
      args: -dirichlet -deflation_space levelset_subdomain -deflation_boxes 3,3,3
    test:
      suites: memcheck
      suffix: levelset
      args: -deflation_space levelset
    test:
      suites: memcheck
      suffix: partition
      args: -deflation_space partition -deflation_count 9
    test:
      suites: memcheck
      suffix: contrast
      args: -inside 1e7 -deflation_space levelset_subdomain -deflation_boxes 5,5,5 -tolerance 1e-5
    test:
      suites: memcheck
      suffix: cholesky
      args: -deflation_space levelset_subdomain -deflation_boxes 3,3,3 -deflation_coarse cholesky
    test:
      suites: memcheck
      suffix: ksp
      args: -deflation_space subdomain -deflation_boxes 3,3,3 -deflation_coarse ksp -deflation_coarse_ksp_rtol 1e-13 -tolerance 1e-7 -bitwise false
    test:
      suites: memcheck
      suffix: weighted
      args: -deflation_weighted -dirichlet -deflation_space subdomain -deflation_boxes 1,1,3
    test:
      suites: memcheck
      suffix: copies
      args: -n 48 -deflation_grid 48,48,48 -deflation_space levelset_subdomain -deflation_boxes 4,4,4 -copies -pc_type none

TEST*/
