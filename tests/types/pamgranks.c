static char help[] = "Pairwise-aggregation multigrid whose levels are on the device, on several processes: its cycles are those of levels on the host.\n\n";

#include "kernels/colourrow.h"
#include "copies.h"
#include "graphs.h"
#include "pc/pamg/pamgimpl.h"
#include "pamgproblems.h"
#include "runner.h"
#include <petsc/private/pcimpl.h>
#include <polder.h>

/* The rows of A, all of them on the last processes when that is said, in a matrix of the type asked for, and in one that is on the host */
static PetscErrorCode Redistribute(Mat A, PetscBool uneven, Mat *B, Mat *host)
{
  PetscMPIInt size, rank;
  PetscInt    n, N, start;
  IS          rows;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, host));
  if (uneven) {
    Mat C;

    n = rank == 0 ? 0 : rank == size - 1 ? N - N / size * (size - 2) : N / size;
    PetscCallMPI(MPI_Scan(&n, &start, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, n, start - n, 1, &rows));
    PetscCall(MatCreateSubMatrix(*host, rows, rows, MAT_INITIAL_MATRIX, &C));
    PetscCall(ISDestroy(&rows));
    PetscCall(MatDestroy(host));
    *host = C;
  }
  PetscCall(MatConvert(*host, ((PetscObject)A)->type_name, MAT_INITIAL_MATRIX, B));
  PetscFunctionReturn(0);
}

/* The same levels, of which the same are gathered */
static PetscErrorCode CompareLevels(const PC_PAMG *pamg, const PC_PAMG *other, const char options[])
{
  PetscFunctionBeginUser;
  PetscCheck(pamg->nlevel == other->nlevel, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " levels, not %" PetscInt_FMT, options, pamg->nlevel,
             other->nlevel);
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    PetscCheck(pamg->level[l].N == other->level[l].N && pamg->level[l].gathered == other->level[l].gathered, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: level %" PetscInt_FMT " has %" PetscInt_FMT " rows, not %" PetscInt_FMT, options, l, pamg->level[l].N, other->level[l].N);
  }
  PetscFunctionReturn(0);
}

/* Several processes: the cycle of levels on the device is that of levels on the host, also after a refresh and from vectors of the host */
static PetscErrorCode CompareCycles(Mat A, Mat H, const char options[], PetscReal tol)
{
  PC        pc, there;
  Vec       r, y, z, hr, hz;
  PetscReal norm, away;
  PC_PAMG  *pamg, *other;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(MatCreateVecs(H, &hr, &hz));
  PetscCall(FillRandom(r, 11));
  PetscCall(VecCopy(r, hr));
  PetscCall(CreatePC(A, options, &there));
  PetscCall(CreatePC(H, options, &pc));
  pamg  = (PC_PAMG *)there->data;
  other = (PC_PAMG *)pc->data;
  PetscCheck(pamg->place->device && !other->place->device, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the levels are on the %s", options,
             pamg->place->device ? "device, both" : "host");
  PetscCall(CompareLevels(pamg, other, options));
  for (int again = 0; again < 6; ++again) { // the first cycle after a set-up is not like the others
    if (again == 3) {
      PetscCall(MatScale(A, 4));
      PetscCall(MatScale(H, 4));
      PetscCall(PCSetUp(there));
      PetscCall(PCSetUp(pc));
      PetscCheck(pamg->nrefresh == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: no refresh", options);
    }
    for (PetscInt l = 0; l < pamg->nlevel; ++l) {
      const PetscReal mine = pamg->level[l].eigenvalue, theirs = other->level[l].eigenvalue;

      PetscCheck(PetscAbsReal(mine - theirs) <= tol * theirs, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: eigenvalue %g on level %" PetscInt_FMT ", on the host %g",
                 options, (double)mine, l, (double)theirs);
    }
    if (again % 3 == 2) {
      PetscCall(PCApply(there, hr, hz));
      PetscCall(VecCopy(hz, z));
    } else PetscCall(PCApply(there, r, z));
    PetscCall(PCApply(pc, hr, hz));
    PetscCall(VecCopy(hz, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(VecAXPY(z, -1, y));
    PetscCall(VecNorm(z, NORM_2, &away));
    PetscCall(PetscInfo(NULL, "%s: levels on the device differ by %g\n", options, (double)(away / norm)));
    PetscCheck(norm > 0 && away <= tol * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, cycle %d: levels on the device differ from those on the host by %g",
               options, again, (double)(away / norm));
  }
  PetscCall(MatScale(A, 0.25));
  PetscCall(MatScale(H, 0.25));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&there));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&hr));
  PetscCall(VecDestroy(&hz));
  PetscFunctionReturn(0);
}

/* Gauss-Seidel, by colours on the device, is no twin of that on the host: it is symmetric and positive */
static PetscErrorCode CheckColours(Mat A, const char options[], PetscBool device)
{
  Vec         r, z, y;
  PC          pc;
  PC_PAMG    *pamg;
  PetscScalar one, other, definite;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(FillRandom(r, 3));
  PetscCall(CreatePC(A, options, &pc));
  pamg = (PC_PAMG *)pc->data;
  PetscCheck(pamg->place->device == device && pamg->uncoloured != device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the levels are on the %s", options,
             device ? "host" : "device");
  PetscCall(PCApply(pc, r, z));
  PetscCall(PCApply(pc, z, y));
  PetscCall(VecDot(z, r, &definite));
  PetscCall(VecDot(y, r, &one));
  PetscCall(VecDot(z, z, &other));
  PetscCheck(PetscRealPart(definite) > 0 && PetscAbsScalar(one - other) <= 1e-12 * PetscAbsScalar(other), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: not symmetric and positive", options);
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* Rows that all couple have no colours: every process goes to the host, also those whose own rows have some */
static PetscErrorCode TestUncoloured(void)
{
  PetscMPIInt rank;
  PetscInt    n, start, end;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  n = rank ? 10 : POLDER_COLOURS + 1;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    for (PetscInt j = 0; j < n; ++j) PetscCall(MatSetValue(A, i, j, i == j ? 2 * n : -1 - (i + j) % 2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CheckColours(A, "-pc_pamg_precision double -pc_pamg_smoother sgs -pc_pamg_coarse_limit 10 -pc_pamg_gather 0", PETSC_FALSE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/*
  What goes over the bus in a set-up and a refresh on two processes with whole planes: less than a sixteenth of a vector of the first level. In a cycle nothing
  goes there. Processes that share a GPU exchange by their hosts, the gathered level too
*/
#if defined(PETSC_HAVE_DEVICE)
static PetscErrorCode CheckTraffic(const char options[])
{
  static const char *const what[] = {"set-up", "refresh", "cycle"};
  PetscEventPerfInfo       before, info;
  PetscLogEvent            event[3];
  PetscLogDouble           most;
  PetscInt                 n;
  Mat                      A;
  Vec                      r, z;
  PC                       pc;
  PetscBool                peers;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(ProblemCreate("poisson", 3, 64, 1, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE)); // nothing is compared
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(FillRandom(r, 5));
  PetscCall(CreatePC(A, "", &pc)); // the rows of the matrix are on the device afterwards
  PetscCall(PCDestroy(&pc));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  most = sizeof(PetscScalar) * (PetscLogDouble)n / 16;
  for (int e = 0; e < 3; ++e) {
    PetscCall(PetscLogEventRegister(what[e], MAT_CLASSID, &event[e]));
    if (e == 1) { // the matrix takes its values to the device for a product
      PetscCall(PetscObjectStateIncrease((PetscObject)A));
      PetscCall(MatMult(A, r, z));
    }
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event[e], &before));
    PetscCall(PetscLogEventBegin(event[e], A, 0, 0, 0));
    if (e == 0) PetscCall(CreatePC(A, options, &pc));
    else if (e == 1) PetscCall(PCSetUp(pc));
    else PetscCall(PCApply(pc, r, z));
    PetscCall(PetscLogEventEnd(event[e], A, 0, 0, 0));
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event[e], &info));
    info.CpuToGpuSize += info.GpuToCpuSize - before.CpuToGpuSize - before.GpuToCpuSize;
    PetscCall(PetscInfo(NULL, "%s, %s: %g bytes, a vector has %g\n", options, what[e], info.CpuToGpuSize, 8.0 * n));
    peers = PolderHaloOnlyLaunches(((PC_PAMG *)pc->data)->level[0].halo);
    if (peers && e == 2) most = 0;
    PetscCheck((info.CpuToGpuSize > 0 || !most) && (!peers || info.CpuToGpuSize <= most), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %s: %g bytes to and from the device", options, what[e], info.CpuToGpuSize);
  }
  PetscCheck(((PC_PAMG *)pc->data)->place->device && ((PC_PAMG *)pc->data)->nrefresh == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "Levels on the host, or no refresh");
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}
#endif

/* The gathered level is small, or half of a vector in size */
static PetscErrorCode TestTraffic(void)
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_DEVICE)
  PetscCall(CheckTraffic("-pc_pamg_gather 1000"));
  PetscCall(CheckTraffic("-pc_pamg_gather 40000"));
#endif
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "nothing of the size of a level is copied\n"));
  PetscFunctionReturn(0);
}

/* A singular matrix of which nobody has told the kernel: its last level is solved on the device all the same */
static PetscErrorCode TestSingular(void)
{
#if defined(PETSC_HAVE_DEVICE)
  PetscLogDouble before;
  Mat            A;
  Vec            r, z;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(ProblemCreate("bubbles", 3, 24, 1e3, &A));
  PetscCall(MatSetNullSpace(A, NULL));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(FillRandom(r, 5));
  PetscCall(CreatePC(A, "", &pc));
  PetscCall(PCApply(pc, r, z));
  before = Copied();
  PetscCall(PCApply(pc, r, z));
  PetscCheck(((PC_PAMG *)pc->data)->place->device && Copied() == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An apply copies %g bytes", Copied() - before);
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
#else
  PetscFunctionBeginUser;
#endif
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "nothing of the size of a level is copied\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestTwin(void)
{
  static const struct {
    const char *options;
    PetscReal   tol;
  } cases[] = {
    {"-pc_pamg_smoother jacobi",                                                                                                                 1e-11},
    {"-pc_pamg_smoother l1jacobi -pc_pamg_pre 2 -pc_pamg_post 3",                                                                                1e-11},
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 2 -pc_pamg_cycle w -pc_pamg_gather 300",                                          1e-11},
    {"-pc_pamg_smoother jacobi -pc_pamg_pre 0 -pc_pamg_cycle w -pc_pamg_gather 0",                                                               1e-11},
    {"-pc_pamg_smoother jacobi -pc_pamg_cycle k -pc_pamg_kcycle_levels 9 -pc_pamg_gather 100 -pc_pamg_passes 1",                                 1e-9 },
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 -pc_pamg_cycle k -pc_pamg_kcycle_threshold 0 -pc_pamg_kcycle_levels 2",         1e-9 },
    {"-pc_pamg_smoother jacobi -pc_pamg_quality 8 -pc_pamg_gather 0",                                                                            1e-11},
    {"-pc_pamg_smoother jacobi -pc_pamg_drop 0.01 -pc_pamg_gather 200",                                                                          1e-11},
    {"-pc_pamg_smoother jacobi -pc_pamg_levels 1",                                                                                               1e-11},
    {"-pc_pamg_smoother jacobi -pc_pamg_gather 0 -pc_pamg_coarse ksp",                                                                           1e-11},
    {"-pc_pamg_smoother jacobi -pc_pamg_coarse inverse",                                                                                         1e-11},
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 -pc_pamg_precision single -pc_pamg_gather 100",                                 1e-4 },
    {"-pc_pamg_smoother jacobi -pc_pamg_pre 1 -pc_pamg_post 1 -pc_pamg_precision single -pc_pamg_gather 0",                                      1e-4 },
    {"-pc_pamg_smoother jacobi -pc_pamg_pre 2 -pc_pamg_post 2 -pc_pamg_precision half -pc_pamg_gather 100",                                      1e-4 },
    {"-pc_pamg_smoother jacobi -pc_pamg_cycle k -pc_pamg_kcycle_levels 9 -pc_pamg_kcycle_threshold 0 -pc_pamg_precision half -pc_pamg_gather 0", 1e-3 },
    {"-pc_pamg_smoother l1jacobi -pc_pamg_pre 2 -pc_pamg_post 3 -pc_pamg_precision single -pc_pamg_cycle k -pc_pamg_kcycle_levels 9 -pc_pamg_kcycle_threshold "
     "0 -pc_pamg_gather 300",                                                                                                               1e-3 },
  };

  PetscFunctionBeginUser;
  for (int uneven = 0; uneven < 2; ++uneven) {
    for (int k = 0; k < 3; ++k) {
      Mat A, B, H;

      PetscCall(ProblemCreate(k == 1 ? "tetrahedra" : "poisson", k == 0 ? 2 : 3, k == 0 ? 37 : 13, k == 1 ? 1e3 : 1, &A));
      PetscCall(Redistribute(A, (PetscBool)uneven, &B, &H));
      for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); ++c) {
        char text[256];

        PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_pamg_precision double -pc_pamg_coarse_limit 20 %s", cases[c].options));
        PetscCall(CompareCycles(B, H, text, cases[c].tol));
      }
      PetscCall(CheckColours(B, "-pc_pamg_precision double -pc_pamg_coarse_limit 20 -pc_pamg_smoother sgs -pc_pamg_pre 2 -pc_pamg_post 2 -pc_pamg_gather 100",
                             PETSC_TRUE));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
      PetscCall(MatDestroy(&H));
    }
  }
  PetscCall(TestUncoloured());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "levels on the device are those on the host\n"));
  PetscFunctionReturn(0);
}

/* Log-normal coefficients in a cube of m^3 cells, with a wall at its first plane */
static PetscErrorCode LognormalAssemble(PetscInt m, Mat *A)
{
  const PetscInt     n = m * m * m, stride[] = {1, m, m * m};
  unsigned long long state = 1;
  PetscReal         *c;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(PETSC_DECIDE, n, A));
  PetscCall(PetscMalloc1(n, &c));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal radius = PetscSqrtReal(-2 * PetscLogReal(1 - Next(&state)));

    c[i] = PetscExpReal(3 * radius * PetscCosReal(2 * PETSC_PI * Next(&state)));
  }
  for (PetscInt i = 0; i < n; ++i) {
    for (int d = 0; d < 3; ++d) {
      const PetscInt j = i + stride[d];

      if (i / stride[d] % m + 1 < m) PetscCall(Edge(*A, i, j, 2 / (1 / c[i] + 1 / c[j])));
    }
    if (i < m * m) PetscCall(MatSetValue(*A, i, i, 2 * c[i], ADD_VALUES));
  }
  PetscCall(PetscFree(c));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Pairs stay within a process. Yet iterations are those of one process up to two: the second level is gathered, and its rows do not pass through the host */
static PetscErrorCode TestPairs(void)
{
  static const char options[] = "-ksp_type dcg -deflation_space none -pc_type pamg";
  PetscMPIInt       size;
  PetscInt          its[2];
  PetscReal         residual;
  Mat               A, one;
  KSP               ksp;
  PC                pc;
  const PamgLevel  *levels;
  PetscBool         launches;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(LognormalAssemble(40, &A));
  PetscCall(MatCreateRedundantMatrix(A, size, PETSC_COMM_SELF, MAT_INITIAL_MATRIX, &one));
  PetscCall(MatConvert(one, MATAIJDIA, MAT_INPLACE_MATRIX, &one));
  PetscCall(ProblemSolve(one, options, NULL, &its[0], &residual));
  PetscCheck(residual < 1.1e-6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "True residual %g on one process", (double)residual);
  PetscCall(ProblemSolve(A, options, &ksp, &its[1], &residual));
  PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "True residual %g", (double)residual);
  PetscCall(KSPGetPC(ksp, &pc));
  levels   = ((PC_PAMG *)pc->data)->level;
  launches = (PetscBool)(levels->halo && PolderHaloOnlyLaunches(levels->halo)); // else devices cannot gather so many rows
  PetscCheck(!launches || levels[1].total, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The second level is not gathered by the devices");
  PetscCheck((size > 1 && !launches) || its[1] <= its[0] + 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " iterations, and %" PetscInt_FMT " on one process", its[1], its[0]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&one));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "as many iterations as on one process\n"));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-twin",     TestTwin    },
    {"-pairs",    TestPairs   },
    {"-traffic",  TestTraffic },
    {"-singular", TestSingular},
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: twin
    requires: gpu
    nsize: {{2 3 4}}
    args: -twin -mat_type {{aijdia aijicrs}} -polder_min_rows_per_gpu 0

  test:
    suffix: pairs
    requires: gpu
    nsize: {{2 3}}
    args: -pairs -mat_type aijdia -polder_min_rows_per_gpu 0

  test:
    suffix: traffic
    requires: gpu
    nsize: 2
    args: -traffic -mat_type aijdia -polder_min_rows_per_gpu 0

  test:
    suffix: singular
    requires: gpu
    args: -singular -mat_type aijdia
    output_file: output/pamgranks_traffic.out

TEST*/
