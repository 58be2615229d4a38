static char help[] = "The apply of tns on the device: equal to that on the host, also joined with its inner product.\n\n";

#include "pc/tns/tnsimpl.h"
#include <polder.h>

static PetscErrorCode Report(const char *what, PetscBool good, PetscReal value)
{
  PetscFunctionBeginUser;
  if (good) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: ok\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: WRONG, %g\n", what, (double)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A symmetric stencil with coefficients that jump; n[2] = 1: 5 points */
static PetscErrorCode CreateMatrix(const PetscInt n[], const char type[], Mat *A)
{
  const PetscInt stride[] = {1, n[0], n[0] * n[1]}, N = n[0] * n[1] * n[2];
  PetscInt       rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 6, NULL));
  PetscCall(MatGetOwnershipRange(*A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    const PetscInt at[] = {i % n[0], i / n[0] % n[1], i / stride[2]};
    PetscScalar    sum  = 0.01;

    for (int d = 0; d < 3; ++d) {
      for (PetscInt side = -1; side < 2; side += 2) {
        const PetscInt  j = i + side * stride[d];
        const PetscReal a = (PetscMin(i, j) / 7) % 5 ? 1.0 : 300.0;

        if (at[d] + side < 0 || at[d] + side >= n[d]) continue;
        PetscCall(MatSetValue(*A, i, j, -a, INSERT_VALUES));
        sum += a;
      }
    }
    PetscCall(MatSetValue(*A, i, i, sum, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreatePC(Mat A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCTNS));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Largest difference to the host's z, over its largest entry */
static PetscErrorCode Difference(Vec z, Vec host, PetscReal *error)
{
  const PetscScalar *a, *b;
  PetscInt           n;
  PetscReal          local[2] = {0, 0}, all[2];

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(z, &n));
  PetscCall(VecGetArrayRead(z, &a));
  PetscCall(VecGetArrayRead(host, &b));
  for (PetscInt i = 0; i < n; ++i) {
    if (!(PetscAbsScalar(a[i] - b[i]) <= local[0])) local[0] = PetscAbsScalar(a[i] - b[i]);
    local[1] = PetscMax(local[1], PetscAbsScalar(b[i]));
  }
  PetscCall(VecRestoreArrayRead(z, &a));
  PetscCall(VecRestoreArrayRead(host, &b));
  PetscCallMPI(MPI_Allreduce(local, all, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *error = all[0] / all[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parts of the processes, added */
static PetscErrorCode GetDot(const PetscScalar *there, PetscScalar *dot)
{
  PetscScalar part;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceToHost(&part, there, sizeof(part)));
  PetscCallMPI(MPI_Allreduce(&part, dot, 1, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Degree q by pc on the device, as a whole and in halves, against hpc on the host; joins: the solver can join the halves of degree 2 */
static PetscErrorCode CheckDegree(PetscInt q, PC pc, PC hpc, PetscBool joins, PolderCGState *there, Vec r, Vec hr)
{
  const PolderPCFused *fused;
  PolderCGRho          rho = {there, PETSC_TRUE};
  Vec                  z, hz;
  PetscScalar          dot, want;
  PetscBool            done;
  PetscReal            error;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(hr, &hz));
  PetscCall(PolderPCGetFused(pc, &fused));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " degree %" PetscInt_FMT "\n", q));
  PetscCall(PCTNSSetDegree(pc, q));
  PetscCall(PCTNSSetDegree(hpc, q));
  PetscCall(PCApply(hpc, hr, hz));
  PetscCall(VecDot(hr, hz, &want));
  PetscCall(VecSet(z, NAN));
  PetscCall(PCApply(pc, r, z));
  PetscCall(Difference(z, hz, &error));
  PetscCall(Report("as on the host", (PetscBool)(error < 1e-13), error));
  PetscCall((*fused->forward)(pc, r, &rho, &done));
  PetscCall(Report("in halves where the solver can join them", (PetscBool)(done == (q == 2 && joins)), 0.0));
  error = 0;
  if (done) PetscCall(GetDot(&there->sum[1], &dot));
  if (done) error = PetscAbsScalar(dot - want) / PetscAbsScalar(want);
  PetscCall(Report("the inner product", (PetscBool)(error < 1e-13), error));
  PetscCall(VecSet(z, NAN));
  if (done) PetscCall((*fused->backward)(pc, PETSC_TRUE, z, z, there));
  if (done) PetscCall(Difference(z, hz, &error));
  PetscCall(Report("the direction", (PetscBool)(error < 1e-13), error));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&hz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestApply(const PetscInt n[])
{
  Mat                  A, H;
  Vec                  r, z, hr, hz;
  PC                   pc, hpc;
  PolderCGState       *there;
  PolderCGRho          rho;
  PetscBool            done, half = PETSC_TRUE, joins;
  const PolderPCFused *fused;
  PetscReal            error;
  PetscRandom          random;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(n, MATAIJ, &A));
  if (n[2] == 1) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &H));
  PetscCall(MatBindToCPU(H, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &r, &z));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, n[0] * n[1] * n[2], &hr));
  PetscCall(VecDuplicate(hr, &hz));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(hr, random));
  PetscCall(VecCopy(hr, r));
  PetscCall(CreatePC(A, &pc));
  PetscCall(CreatePC(H, &hpc));
  PetscCall(PolderDeviceMalloc(sizeof(*there), &there));
  PetscCall(PolderDeviceZero(there, sizeof(*there)));
  rho = (PolderCGRho){there, PETSC_TRUE};
  /* on the diagonals of one process, known to be symmetric */
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJDIA, &joins));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mat_aijdia_symmetric", &half, NULL));
  joins = (PetscBool)(joins && (half || n[2] == 1));
  PetscCall(PolderPCGetFused(pc, &fused));
  for (PetscInt q = 0; q < 5; ++q) PetscCall(CheckDegree(q, pc, hpc, joins, there, r, hr));
  PetscCall((*fused->forward)(hpc, hr, &rho, &done));
  PetscCall(Report("not with vectors on the host", PetscNot(done), 0.0));
  PetscCall(PCApply(pc, hr, hz));
  PetscCall(PCApply(pc, r, z));
  PetscCall(Difference(hz, z, &error));
  PetscCall(Report("host vectors, matrix on the device", (PetscBool)(error < 1e-13), error));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&hpc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&hr));
  PetscCall(VecDestroy(&hz));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt grids[][3] = {
    {37, 29, 23},
    {61, 70, 1 }
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  for (int g = 0; g < 2; ++g) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d points\n", grids[g][2] > 1 ? 7 : 5));
    PetscCall(TestApply(grids[g]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  testset:
    requires: cuda
    load: no
    args: -mat_vec_type cuda -use_gpu_aware_mpi 0
    output_file: output/tnsdevice.out
    test:
      nsize: {{1 2 3}}
      args: -mat_type {{aijdia aijicrs aijcusparse}} -pc_tns_precision {{double single}}
    test:
      suffix: full
      args: -mat_type aijdia -mat_aijdia_symmetric 0 -pc_tns_precision {{double single}}

TEST*/
