static char help[] = "The apply of tns on the device: equal to that on the host, also joined with the steps of conjugate gradients.\n"
                     "  -empty : process 1 has no rows\n\n";

#include "copies.h"
#include "core/peers.h"
#include "pc/tns/tnsimpl.h"
#include <polder.h>

static PetscErrorCode Report(const char *what, PetscBool good, PetscReal value)
{
  PetscFunctionBeginUser;
  if (good) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: ok\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: WRONG, %g\n", what, (double)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same where not all cases come so far: silent when it is good */
static PetscErrorCode Expect(const char *what, PetscBool good, PetscReal value)
{
  PetscFunctionBeginUser;
  if (!good) PetscCall(Report(what, good, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Local rows of this process */
static PetscErrorCode GetShare(PetscInt N, PetscInt *m)
{
  PetscMPIInt rank, size;
  PetscBool   empty = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-empty", &empty, NULL));
  *m = PETSC_DECIDE;
  if (empty) *m = rank == 1 ? 0 : N / (size - 1) + (rank ? 0 : N % (size - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A symmetric stencil with coefficients that jump; n[2] = 1: 5 points */
static PetscErrorCode CreateMatrix(const PetscInt n[], const char type[], Mat *A)
{
  const PetscInt stride[] = {1, n[0], n[0] * n[1]}, N = n[0] * n[1] * n[2];
  PetscInt       rstart, rend, m = PETSC_DECIDE;

  PetscFunctionBeginUser;
  PetscCall(GetShare(N, &m));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, m, N, N));
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

/* The second step of conjugate gradients, and one in a frozen state. z = M^-1 r; p: the first direction; rho of the state belongs to it */
static PetscErrorCode CheckSteps(PC pc, PolderCGState *there, Vec r, Vec z, Vec p)
{
  const PolderPCFused *fused;
  const PolderCGRho    rho = {there, PETSC_FALSE};
  PolderCGState        state;
  Vec                  x, want, old;
  PetscScalar          sum, before;
  PetscBool            done;
  PetscReal            error;

  PetscFunctionBeginUser;
  PetscCall(PolderPCGetFused(pc, &fused));
  PetscCall(VecDuplicate(z, &x));
  PetscCall(VecDuplicate(z, &want));
  PetscCall(VecDuplicate(z, &old));
  PetscCall(VecCopy(p, old));
  PetscCall(VecSet(x, 1.0));
  PetscCall(PolderDeviceToHost(&state, there, sizeof(state)));
  PetscCall(VecSum(p, &sum));
  error = PetscAbsScalar(state.pmean - sum / state.N) / (1.0 + PetscAbsScalar(state.pmean));
  PetscCall(Expect("the mean of the direction", (PetscBool)(error < 1e-14), error));
  before       = state.rho;
  state.alpha  = 0.75;
  state.rhoold = -2.0 * state.rho;
  PetscCall(PolderDeviceFromHost(there, &state, sizeof(state)));
  PetscCall((*fused->forward)(pc, r, &rho, &done));
  PetscCall(PolderDeviceToHost(&state, there, sizeof(state)));
  PetscCall(Expect("the same bits again", (PetscBool)(done && state.sum[1] == before && state.beta == -0.5), state.beta));
  PetscCall((*fused->backward)(pc, PETSC_FALSE, p, x, there));
  PetscCall(VecCopy(old, want));
  PetscCall(VecShift(want, -state.pmean));
  PetscCall(VecAYPX(want, -0.5, z));
  PetscCall(Difference(p, want, &error));
  PetscCall(Expect("the next direction", (PetscBool)(error < 1e-13), error));
  PetscCall(VecSet(want, 1.0));
  PetscCall(VecAXPY(want, 0.75, old));
  PetscCall(Difference(x, want, &error));
  PetscCall(Expect("the solution", (PetscBool)(error < 1e-14), error));
  state.frozen = POLDER_CG_TOLERANCE;
  PetscCall(PolderDeviceFromHost(there, &state, sizeof(state)));
  PetscCall(VecCopy(p, old));
  PetscCall((*fused->forward)(pc, r, &rho, &done));
  PetscCall((*fused->backward)(pc, PETSC_FALSE, p, x, there));
  PetscCall(Difference(p, old, &error));
  PetscCall(Expect("the frozen direction", (PetscBool)(error == 0.0), error));
  PetscCall(Difference(x, want, &error));
  PetscCall(Expect("the frozen solution", (PetscBool)(error < 1e-14), error));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&want));
  PetscCall(VecDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pc in halves on the device, against hz = M^-1 hr on the host; joins: a solver can join the halves */
static PetscErrorCode CheckHalves(PC pc, PetscBool joins, PolderCGState *there, Vec r, Vec z, Vec hr, Vec hz)
{
  const PolderPCFused *fused;
  const PolderCGRho    rho   = {there, PETSC_TRUE};
  PolderCGState        state = {.nullspace = 1};
  Vec                  p;
  PetscScalar          dot, want;
  PetscBool            done;
  PetscReal            error;
  PetscMPIInt          size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  state.parallel = size > 1;
  PetscCall(VecGetSize(r, &state.N));
  PetscCall(PolderDeviceFromHost(there, &state, sizeof(state)));
  PetscCall(PolderPCGetFused(pc, &fused));
  PetscCall((*fused->forward)(pc, r, &rho, &done));
  PetscCall(Report("in halves where the solver can join them", (PetscBool)(done == joins), 0.0));
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDot(hr, hz, &want));
  PetscCall(PolderDeviceToHost(&dot, &there->rho, sizeof(dot)));
  error = PetscAbsScalar(dot - want) / PetscAbsScalar(want);
  PetscCall(Expect("the inner product", (PetscBool)(error < 1e-13), error));
  PetscCall(VecDuplicate(r, &p));
  PetscCall(VecSet(p, NAN));
  PetscCall((*fused->backward)(pc, PETSC_TRUE, p, p, there));
  PetscCall(Difference(p, hz, &error));
  PetscCall(Expect("the direction", (PetscBool)(error < 1e-13), error));
  PetscCall(CheckSteps(pc, there, r, z, p));
  PetscCall(VecDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pc on the device, as a whole and in halves, against hpc on the host */
static PetscErrorCode CheckApply(PC pc, PC hpc, PetscBool joins, PolderCGState *there, Vec r, Vec hr)
{
  Vec       z, hz;
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(hr, &hz));
  PetscCall(PCApply(hpc, hr, hz));
  PetscCall(VecSet(z, NAN));
  PetscCall(PCApply(pc, r, z));
  PetscCall(Difference(z, hz, &error));
  PetscCall(Report("as on the host", (PetscBool)(error < 1e-13), error));
  PetscCall(CheckHalves(pc, joins, there, r, z, hr, hz));
  PetscCall(VecSet(z, NAN));
  PetscCall(PCApply(pc, r, z));
  PetscCall(Difference(z, hz, &error));
  PetscCall(Expect("as a whole after the halves", (PetscBool)(error < 1e-13), error));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&hz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On diagonals, known to be symmetric, of one process, or of peers of which none has less than a line */
static PetscErrorCode GetJoins(Mat A, const PetscInt n[], PetscBool *joins)
{
  const char *transport;
  PetscMPIInt size;
  PetscInt    start, end, rows, least;
  PetscBool   half = PETSC_TRUE, peer;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, joins, MATSEQAIJDIA, MATMPIAIJDIA, ""));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mat_aijdia_symmetric", &half, NULL));
  if (!half && n[2] > 1) *joins = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPeersGetTransport(PetscObjectComm((PetscObject)A), &transport));
  PetscCall(PetscStrcmp(transport, "peer", &peer));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  rows = start == end ? PETSC_MAX_INT : end - start;
  PetscCallMPI(MPI_Allreduce(&rows, &least, 1, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (!peer || least <= n[0]) *joins = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Set-up anew with a matrix that is on the device: lists of ghost values may cross the bus, nothing of every row */
static PetscErrorCode CheckSetUp(PC pc, Mat A, const PetscInt n[])
{
  const PetscLogDouble before = Copied();
  PetscInt             m;
  PetscBool            dia;

  PetscFunctionBeginUser;
  PetscCall(PCSetUp(pc));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &dia, MATSEQAIJDIA, MATMPIAIJDIA, ""));
  if (dia && m > 8 * n[0] * n[1]) PetscCall(Expect("the copies of the set-up", (PetscBool)(Copied() - before < 4.0 * m), Copied() - before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each degree, with two sets of values */
static PetscErrorCode CheckDegrees(PC pc, PC hpc, const PetscInt n[], PolderCGState *there, Vec r, Vec hr)
{
  Mat       A, H;
  PetscBool joins;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(PCGetOperators(hpc, &H, NULL));
  PetscCall(GetJoins(A, n, &joins));
  for (PetscInt q = 0; q < 5; ++q) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " degree %" PetscInt_FMT "\n", q));
    PetscCall(PCTNSSetDegree(pc, q));
    PetscCall(PCTNSSetDegree(hpc, q));
    if (q) PetscCall(CheckSetUp(pc, A, n));
    PetscCall(CheckApply(pc, hpc, (PetscBool)(q == 2 && joins), there, r, hr));
    PetscCall(MatShift(A, 0.5));
    PetscCall(MatShift(H, 0.5));
    PetscCall(CheckApply(pc, hpc, (PetscBool)(q == 2 && joins), there, r, hr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestApply(const PetscInt n[])
{
  Mat                  A, H;
  Vec                  r, z, hr, hz;
  PC                   pc, hpc;
  PolderCGState       *there;
  PolderCGRho          rho;
  PetscBool            done;
  const PolderPCFused *fused;
  PetscReal            error;
  PetscRandom          random;
  PetscInt             m;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(n, MATAIJ, &A));
  if (n[2] == 1) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  if (n[2] == 1) PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &H));
  PetscCall(MatBindToCPU(H, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &r, &z));
  PetscCall(VecGetLocalSize(r, &m));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, m, PETSC_DECIDE, &hr));
  PetscCall(VecDuplicate(hr, &hz));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(hr, random));
  PetscCall(VecCopy(hr, r));
  PetscCall(CreatePC(A, &pc));
  PetscCall(CreatePC(H, &hpc));
  PetscCall(PolderDeviceMalloc(sizeof(*there), &there));
  PetscCall(PolderDeviceZero(there, sizeof(*there)));
  rho = (PolderCGRho){there, PETSC_TRUE};
  PetscCall(PolderPCGetFused(pc, &fused));
  PetscCall(CheckDegrees(pc, hpc, n, there, r, hr));
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
    {61, 70, 1 },
    {9,  7,  4 }, /* thin slabs */
    {31, 5,  1 },
    {40, 3,  1 }
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  for (int g = 0; g < 5; ++g) {
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
    args: -mat_vec_type cuda -use_gpu_aware_mpi 0
    output_file: output/tnsdevice.out
    test:
      nsize: {{1 2 3}}
      args: -mat_type {{aijdia aijicrs aijcusparse}} -pc_tns_precision {{double single}}
    test:
      suffix: full
      nsize: {{1 3}}
      args: -mat_type aijdia -mat_aijdia_symmetric 0 -pc_tns_precision {{double single}}
    test:
      suffix: empty
      nsize: {{2 4}}
      args: -empty -mat_type aijdia
    test:
      suffix: host
      nsize: 2
      args: -mat_type aijdia -polder_transport host

  testset:
    requires: emulated
    output_file: output/tnsdevice.out
    test:
      suffix: emulated
      nsize: {{1 2 3 4}}
      args: -mat_type {{aijdia aijicrs}} -pc_tns_precision {{double single}}
    test:
      suffix: emulated_full
      nsize: {{1 3}}
      args: -mat_type aijdia -mat_aijdia_symmetric 0 -pc_tns_precision {{double single}}
    test:
      suffix: emulated_empty
      nsize: {{2 4}}
      args: -empty -mat_type aijdia -pc_tns_precision {{double single}}
    test:
      suffix: emulated_host
      nsize: {{2 3}}
      args: -mat_type aijdia -polder_transport host

TEST*/
