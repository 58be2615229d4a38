static char help[] = "Pairwise-aggregation multigrid: iterations, and identities of its levels and cycles.\n\n";

#include "pamg/pamg.h"
#include "runner.h"
#include <polder.h>

/* Are the levels on the device for matrices of the type asked for, when nothing speaks against it? */
static PetscErrorCode OnDevice(Mat A, PetscBool *device)
{
  PolderCSR csr;

  PetscFunctionBeginUser;
  PetscCall(PolderMatGetDeviceCSR(A, &csr, device));
  if (*device) PetscCall(PolderMatRestoreDeviceCSR(A, &csr));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCases(size_t n, const Case cases[])
{
  PetscMPIInt size;
  PetscBool   measure;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-measure", &measure)); // to print the counts
  for (size_t k = 0; k < n; ++k) {
    const Case *c = &cases[k];
    Mat         A;
    PetscInt    its, want = c->its, away;
    PetscReal   residual;
    PetscBool   device;

    PetscCall(ProblemCreate(c->kind, c->dim, c->n, c->jump, &A));
    PetscCall(OnDevice(A, &device));
    if (device && c->there) want = c->there;
    away = size > 1 ? PetscMax(1, want / 5) : 1;
    PetscCall(ProblemSolve(A, c->options, NULL, &its, &residual));
    PetscCheck(measure || (its <= want + away && (size > 1 || its >= want - away) && its <= c->most), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s %" PetscInt_FMT "-D, %" PetscInt_FMT ", %g, %s: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, c->kind, c->dim, c->n, (double)c->jump,
               c->options, its, want);
    PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: true residual %g", c->options, (double)residual);
    if (measure) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, ", its));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %" PetscInt_FMT "-D, %" PetscInt_FMT ", %g: %s\n", c->kind, c->dim, c->n, (double)c->jump, c->options));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode TestIterations(void)
{
  static const Case cases[] = {
    {"poisson",    2, 511, 1,    KCYCLE,                                                                                           9,  22, 0 },
    {"poisson",    2, 255, 1,    KCYCLE,                                                                                           9,  22, 0 },
    {"poisson",    3, 64,  1,    KCYCLE,                                                                                           8,  22, 0 },
    {"poisson",    3, 33,  1,    KCYCLE,                                                                                           8,  22, 7 },
    {"poisson",    2, 255, 1,    VCYCLE,                                                                                           8,  22, 10},
    {"poisson",    3, 64,  1,    VCYCLE,                                                                                           9,  22, 8 },
    {"poisson",    3, 64,  1,    VCYCLE "-pc_pamg_cycle w",                                                                        8,  22, 0 },
    {"poisson",    2, 255, 1e3,  KCYCLE "-pc_pamg_lines no",                                                                       20, 30, 17},
    {"poisson",    2, 255, 1e-3, KCYCLE "-pc_pamg_lines no",                                                                       20, 30, 17},
    {"poisson",    2, 255, 1e3,  KCYCLE,                                                                                           7,  30, 7 },
    {"poisson",    2, 255, 1e-3, KCYCLE,                                                                                           7,  30, 7 },
    {"poisson",    3, 48,  1e3,  KCYCLE "-pc_pamg_lines no",                                                                       16, 30, 14},
    {"bubbles",    3, 48,  1e3,  KCYCLE,                                                                                           9,  25, 8 },
    {"bubbles",    3, 48,  1e6,  KCYCLE,                                                                                           9,  25, 8 },
    {"bubbles",    3, 47,  1e6,  KCYCLE,                                                                                           9,  25, 8 },
    {"bubbles",    2, 128, 1e3,  KCYCLE,                                                                                           9,  25, 0 },
    {"bubbles",    2, 128, 1e6,  "-ksp_type dcg -ksp_dcg_flexible -pc_type pamg -pc_pamg_cycle k",                                 9,  25, 6 },
    {"bubbles",    3, 48,  1e6,  "-ksp_type dcg -deflation_space levelset -pc_type pamg -pc_pamg_cycle w",                         8,  20, 0 },
    {"tetrahedra", 3, 20,  1e3,  KCYCLE,                                                                                           10, 30, 9 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_smoother jacobi",                                                                11, 22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_smoother l1jacobi",                                                              13, 30, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2",                              7,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_pre 2 -pc_pamg_post 2",                                                          7,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_pre 0 -pc_pamg_post 2",                                                          10, 22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_passes 3",                                                                       9,  22, 8 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_passes 1",                                                                       7,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_kcycle_levels 1",                                                                8,  22, 7 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_kcycle_threshold 0",                                                             8,  22, 7 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_matching greedy",                                                                8,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_quality 0",                                                                      8,  22, 7 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_coarse inverse",                                                                 8,  22, 7 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_coarse ksp -pamg_coarse_pc_type lu -pamg_coarse_pc_factor_mat_ordering_type nd", 8,  22, 7 },
    {"tetrahedra", 3, 20,  1e3,  KCYCLE "-pc_pamg_drop 0.02",                                                                      10, 30, 9 },
    {"poisson",    2, 255, 1,    VCYCLE SGS,                                                                                       8,  22, 10},
    {"poisson",    3, 64,  1,    VCYCLE SGS,                                                                                       9,  22, 12},
    {"poisson",    3, 33,  1,    VCYCLE SGS "-pc_pamg_cycle w",                                                                    8,  22, 9 },
    {"poisson",    3, 33,  1,    KCYCLE SGS,                                                                                       8,  22, 9 },
    {"poisson",    2, 255, 1e3,  KCYCLE SGS "-pc_pamg_lines no",                                                                   20, 30, 16},
    {"bubbles",    3, 48,  1e3,  VCYCLE SGS,                                                                                       10, 25, 12},
    {"bubbles",    3, 48,  1e3,  KCYCLE SGS,                                                                                       9,  25, 0 },
    {"bubbles",    3, 48,  1e6,  KCYCLE "-pc_pamg_precision single",                                                               10, 25, 9 },
    {"bubbles",    3, 48,  1e6,  KCYCLE SGS "-pc_pamg_precision single",                                                           10, 25, 0 },
    {"tetrahedra", 3, 20,  1e3,  VCYCLE "-pc_pamg_cycle w -pc_pamg_overcorrection 3",                                              15, 30, 13},
    {"poisson",    3, 33,  1,    VCYCLE "-pc_pamg_cycle w -pc_pamg_overcorrection 3",                                              14, 22, 13},
    {"tetrahedra", 3, 20,  1e3,  VCYCLE SGS,                                                                                       12, 30, 13},
    {"tetrahedra", 3, 20,  1e3,  KCYCLE SGS,                                                                                       10, 30, 0 },
    {"poisson",    3, 32,  1,    KCYCLE SGS "-pc_pamg_pre 2 -pc_pamg_post 2",                                                      7,  22, 0 },
    {"poisson",    3, 32,  1,    KCYCLE SGS "-pc_pamg_pre 0 -pc_pamg_post 2",                                                      10, 22, 8 },
    {"poisson",    3, 32,  1,    KCYCLE SGS "-pc_pamg_precision single",                                                           8,  22, 9 },
    {"poisson",    3, 32,  1,    KCYCLE "-pc_pamg_levels 4",                                                                       8,  22, 0 },
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(PETSC_STATIC_ARRAY_LENGTH(cases), cases));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRanks(void)
{
  static const Case cases[] = {
    {"poisson", 3, 32,  1,    KCYCLE,                             8,  22, 7 },
    {"poisson", 2, 127, 1,    KCYCLE,                             9,  22, 0 },
    {"poisson", 2, 127, 1e-3, KCYCLE "-pc_pamg_lines no",         18, 30, 16},
    {"poisson", 3, 32,  1,    VCYCLE,                             9,  22, 7 },
    {"poisson", 3, 32,  1,    VCYCLE "-pc_pamg_cycle w",          8,  22, 7 },
    {"bubbles", 3, 32,  1e3,  KCYCLE,                             9,  25, 8 },
    {"poisson", 3, 32,  1,    VCYCLE SGS,                         9,  22, 11},
    {"bubbles", 3, 32,  1e3,  KCYCLE SGS,                         9,  25, 0 },
    {"bubbles", 3, 32,  1e3,  VCYCLE "-pc_pamg_precision single", 9,  25, 10},
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(PETSC_STATIC_ARRAY_LENGTH(cases), cases));
  PetscFunctionReturn(0);
}

/* Processes whose rows are ragged parts of the domain: the limits of planes cut through rows numbered at random */
static PetscErrorCode TestTetrahedra(void)
{
  static const Case cases[] = {
    {"tetrahedra", 3, 20, 1e3, KCYCLE,                                                              10, 11, 0 },
    {"tetrahedra", 3, 24, 1e3, KCYCLE,                                                              10, 11, 0 },
    {"tetrahedra", 3, 24, 1e3, KCYCLE "-pc_pamg_gather 1000",                                       10, 12, 0 },
    {"tetrahedra", 3, 24, 1e3, KCYCLE "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2", 10, 11, 0 },
    {"tetrahedra", 3, 24, 1e3, VCYCLE,                                                              12, 16, 12},
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(PETSC_STATIC_ARRAY_LENGTH(cases), cases));
  PetscFunctionReturn(0);
}

/* A band of more diagonals than the kernels of a level on the device take, in either precision */
static PetscErrorCode TestMany(void)
{
  enum {
    N     = 3000,
    REACH = 20
  };
  Mat       A;
  PetscInt  its[2], start, end;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    for (PetscInt j = PetscMax(0, i - REACH); j <= PetscMin(N - 1, i + REACH); ++j) PetscCall(MatSetValue(A, i, j, i == j ? 2 * REACH : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (int single = 0; single < 2; ++single) {
    PetscCall(ProblemSolve(A, single ? VCYCLE "-pc_pamg_precision single" : VCYCLE, NULL, &its[single], &residual));
    PetscCheck(its[single] <= 20 && residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations to a true residual of %g", its[single],
               (double)residual);
  }
  PetscCheck(PetscAbsInt(its[0] - its[1]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " iterations in double precision, %" PetscInt_FMT " in single", its[0], its[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "many diagonals\n"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Grids of odd size, whose parts begin within a line: docs/methods/pamg.md has these counts */
static PetscErrorCode TestParts(void)
{
  static const struct {
    Case     c;
    PetscInt its[5];
  } cases[] = {
    {{"poisson", 3, 37, 1, VCYCLE SGS, 0, 0, 0},            {10, 12, 12, 10, 10}},
    {{"bubbles", 2, 63, 1e-6, VCYCLE SGS, 0, 0, 0},         {11, 11, 12, 12, 13}},
    {{"poisson", 3, 37, 1, KCYCLE SGS, 0, 0, 0},            {8, 8, 8, 8, 8}     },
    {{"bubbles", 2, 63, 1e-6, KCYCLE SGS, 0, 0, 0},         {11, 11, 12, 12, 13}},
    {{"poisson", 3, 37, 1, VCYCLE CHEBYSHEV22, 0, 0, 0},    {9, 10, 10, 9, 9}   },
    {{"bubbles", 2, 63, 1e-6, VCYCLE CHEBYSHEV22, 0, 0, 0}, {10, 10, 10, 11, 12}},
  };
  static const PetscMPIInt sizes[] = {1, 2, 3, 5, 8};
  PetscMPIInt              size;
  size_t                   at = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  while (sizes[at] != size) ++at;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    const Case *c = &cases[k].c;
    Mat         A;
    PetscInt    its;
    PetscReal   residual;

    PetscCall(ProblemCreate(c->kind, c->dim, c->n, c->jump, &A));
    PetscCall(ProblemSolve(A, c->options, NULL, &its, &residual));
    PetscCheck(its == cases[k].its[at], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s on %d processes: %" PetscInt_FMT " iterations, not %" PetscInt_FMT, c->kind,
               c->options, size, its, cases[k].its[at]);
    PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: true residual %g", c->options, (double)residual);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the iterations that are documented\n"));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-iterations",  TestIterations},
    {"-ranks",       TestRanks     },
    {"-parts",       TestParts     },
    {"-tetrahedra",  TestTetrahedra},
    {"-galerkin",    TestGalerkin  },
    {"-symmetry",    TestSymmetry  },
    {"-refresh",     TestRefresh   },
    {"-convert",     TestConvert   },
    {"-lone",        TestLone      },
    {"-matching",    TestMatching  },
    {"-precision",   TestPrecision },
    {"-regular",     TestRegular   },
    {"-view",        TestView      },
    {"-view_device", TestViewDevice},
    {"-device",      TestDevice    },
    {"-many",        TestMany      },
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: parts
    requires: !gpu
    nsize: {{1 2 3 5 8}}
    args: -parts

  test:
    suffix: iterations
    args: -iterations -mat_type aijdia

  test:
    suffix: ranks
    nsize: {{1 2 4}}
    args: -ranks -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: tetrahedra
    nsize: {{1 2 4 8}}
    args: -tetrahedra

  test:
    suffix: tetrahedra_device
    requires: gpu
    nsize: {{2 4}}
    args: -tetrahedra -mat_type aijicrs -polder_min_rows_per_gpu 0
    output_file: output/pamg_tetrahedra.out

  test:
    suites: valgrind(+3+aij)
    suffix: galerkin
    nsize: {{1 3}}
    args: -galerkin -mat_type {{aij aijhec}} -polder_min_rows_per_gpu 0

  test:
    suffix: symmetry
    nsize: {{1 3}}
    args: -symmetry -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suites: valgrind(+2+aij)
    suffix: refresh
    nsize: {{1 2 3}}
    args: -refresh -mat_type {{aij aijdia aijicrs}} -polder_min_rows_per_gpu 0

  test:
    suffix: lone
    nsize: {{1 3 4}}
    args: -lone

  test:
    suffix: convert
    nsize: {{1 3}}
    requires: !gpu
    args: -convert -mat_type {{aij aijdia}}

  test:
    suffix: convert_device
    requires: gpu
    nsize: {{1 3}}
    args: -convert -mat_type {{aijdia aijicrs}} -polder_min_rows_per_gpu 0
    output_file: output/pamg_convert.out

  test:
    suffix: matching
    args: -matching

  test:
    suffix: precision
    nsize: {{1 3}}
    args: -precision -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: regular
    args: -regular -mat_type aijdia

  test:
    suffix: device
    requires: gpu
    args: -device -mat_type {{aijdia aijicrs}}

  test:
    suffix: many
    nsize: {{1 2}}
    args: -many -mat_type {{aijdia aijicrs}} -polder_min_rows_per_gpu 0

  test:
    suffix: view
    requires: !64bit_indices
    args: -view -mat_type aijdia
    filter: grep -E "pamg|cycle|pairs|level|^ +[0-9]+ +[0-9]+ |complexity"

  test:
    suffix: view_device
    requires: gpu
    args: -view_device -mat_type aijdia
    filter: grep -E "pamg|cycle|pairs|level|^ +[0-9]+ +[0-9]+ |complexity"

TEST*/
