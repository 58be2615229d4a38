static char help[] = "Nested restricted additive Schwarz with ILU(k) against PETSc's bjacobi and asm, and against what it is.\n\n";

#include "nras/nras.h"
#include <polder.h>
#include "runner.h"

static const char *const kinds[NKIND] = {"stencil", "graph", "symmetric"};

/* Iterations of gmres with these options */
static PetscErrorCode Iterations(Mat A, const char options[], PetscInt *its)
{
  KSP          ksp;
  PC           pc;
  Vec          b, x, r;
  PetscReal    norms[2];
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&own));
  PetscCall(PetscOptionsInsertString(own, options));
  PetscCall(PetscOptionsInsertString(own, "-sub_pc_type ilu -sub_pc_factor_mat_ordering_type natural -sub_ksp_type preonly"));
  PetscCall(PetscOptionsPush(own));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norms[0]));
  PetscCall(VecNorm(b, NORM_2, &norms[1]));
  PetscCheck(norms[0] < 1.1e-9 * norms[1], PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: true residual %g", options, (double)(norms[0] / norms[1]));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&own));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One inner block a process is bjacobi or asm: the same result of an apply, and the same iterations */
static PetscErrorCode TestPetsc(void)
{
  static const char *const pairs[][3] = {
    {"bjacobi",               "-pc_type bjacobi",                                  ""                                               },
    {"asm, overlap 0",        "-pc_type asm -pc_asm_overlap 0",                    ""                                               },
    {"asm, overlap 1",        "-pc_type asm -pc_asm_overlap 1",                    "-pc_nras_outer_overlap 1"                       },
    {"asm, overlap 2",        "-pc_type asm -pc_asm_overlap 2",                    "-pc_nras_outer_overlap 2"                       },
    {"asm, overlap 0, basic", "-pc_type asm -pc_asm_overlap 0 -pc_asm_type basic", "-pc_nras_form additive"                         },
    {"asm, overlap 1, basic", "-pc_type asm -pc_asm_overlap 1 -pc_asm_type basic", "-pc_nras_outer_overlap 1 -pc_nras_form additive"}
  };
  char     what[128], petsc[256], ours[256];
  PetscInt its[2];

  PetscFunctionBeginUser;
  for (Kind kind = STENCIL; kind < NKIND; ++kind) {
    Mat A;

    PetscCall(Create(kind, &A));
    for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(pairs); ++p) {
      PetscReal away = 0;

      its[0] = its[1] = 0;
      for (int k = 0; k < 4; ++k) {
        PetscReal difference;
        PetscInt  now[2];

        PetscCall(PetscSNPrintf(petsc, sizeof(petsc), "%s -sub_pc_factor_levels %d", pairs[p][1], k));
        PetscCall(PetscSNPrintf(ours, sizeof(ours), "-pc_type nras -pc_nras_blocks 1 -pc_nras_levels %d %s", k, pairs[p][2]));
        PetscCall(DifferenceOf(A, petsc, ours, &difference));
        away = PetscMax(away, difference);
        PetscCall(Iterations(A, petsc, &now[0]));
        PetscCall(Iterations(A, ours, &now[1]));
        its[0] += now[0];
        its[1] += PetscAbsInt(now[0] - now[1]);
      }
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s: an apply", kinds[kind], pairs[p][0]));
      PetscCall(Report(what, (PetscBool)(away < 1e-13), away));
      PetscCall(Report("  iterations", (PetscBool)(its[0] >= 8 && its[1] == 0), its[1]));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process has a chain of rows, and a last row that is joined to all of them */
static PetscErrorCode CreateHub(Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(3300, PETSC_DECIDE, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscCall(MatSetValue(*A, end - 1, i, i < end - 1 ? -0.5 - 0.4 * Hash(i, i, 0) : end - start, INSERT_VALUES));
    if (i == end - 1) break;
    PetscCall(MatSetValue(*A, i, i, 3, INSERT_VALUES));
    if (i > start) PetscCall(MatSetValue(*A, i, i - 1, -1.2, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, PetscMin(i + 3, end - 1), -0.7, INSERT_VALUES));
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A block that is all of a process has no overlap within it; asked for some, the pattern of levels of fill is made on the host in any case */
static PetscErrorCode TestFill(void)
{
  PetscFunctionBeginUser;
  for (int kind = 0; kind <= NKIND; ++kind) {
    PetscReal away = 0;
    char      options[2][128];
    Mat       A;

    if (kind < NKIND) PetscCall(Create((Kind)kind, &A));
    else PetscCall(CreateHub(&A));
    for (int k = 1; k <= (kind < NKIND ? 4 : 1); ++k) {
      PetscReal difference;

      PetscCall(PetscSNPrintf(options[0], sizeof(options[0]), "-pc_type nras -pc_nras_blocks 1 -pc_nras_levels %d", k));
      PetscCall(PetscSNPrintf(options[1], sizeof(options[1]), "%s -pc_nras_inner_overlap 1", options[0]));
      PetscCall(DifferenceOf(A, options[0], options[1], &difference));
      away = PetscMax(away, difference);
    }
    PetscCall(Report(kind < NKIND ? kinds[kind] : "a long row", (PetscBool)(away == 0), away));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs of rows of this process, with layers of neighbours within the process, as index sets of asm */
static PetscErrorCode CreateSets(Mat A, PetscInt n, PetscInt layers, IS with[], IS own[])
{
  Mat       block;
  PetscInt  m, start;
  PetscBool parallel;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  else block = A;
  for (PetscInt b = 0; b < n; ++b) {
    /* row i is in part i n / m */
    const PetscInt  first = (b * m + n - 1) / n, last = ((b + 1) * m + n - 1) / n;
    const PetscInt *local;
    PetscInt       *global, size;
    IS              grown;

    PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, first, 1, &grown));
    PetscCall(MatIncreaseOverlap(block, 1, &grown, layers));
    PetscCall(ISSort(grown));
    PetscCall(ISGetLocalSize(grown, &size));
    PetscCall(ISGetIndices(grown, &local));
    PetscCall(PetscMalloc1(size, &global));
    for (PetscInt i = 0; i < size; ++i) global[i] = start + local[i];
    PetscCall(ISRestoreIndices(grown, &local));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, size, global, PETSC_OWN_POINTER, &with[b]));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, start + first, 1, &own[b]));
    PetscCall(ISDestroy(&grown));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define BLOCKS 5

/* Inner blocks with overlap are the subdomains of asm that are given as index sets */
static PetscErrorCode TestInner(void)
{
  static const char *const types[] = {"restrict", "basic"}, *const forms[] = {"restricted", "additive"};

  PetscFunctionBeginUser;
  for (Kind kind = STENCIL; kind < NKIND; ++kind) {
    Mat A;

    PetscCall(Create(kind, &A));
    for (PetscInt layers = 0; layers < 3; ++layers) {
      for (int form = 0; form < 2; ++form) {
        PetscReal away = 0;
        char      what[128], petsc[256], ours[256];

        for (int k = 0; k < 3; ++k) {
          IS        with[BLOCKS], own[BLOCKS];
          PC        pc[2];
          PetscReal difference;

          PetscCall(PetscSNPrintf(petsc, sizeof(petsc), "-sub_pc_type ilu -sub_pc_factor_mat_ordering_type natural -sub_pc_factor_levels %d", k));
          PetscCall(PetscOptionsInsertString(NULL, petsc));
          PetscCall(CreateSets(A, BLOCKS, layers, with, own));
          PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[0]));
          PetscCall(PCSetOperators(pc[0], A, A));
          PetscCall(PCSetType(pc[0], PCASM));
          PetscCall(PCASMSetType(pc[0], form ? PC_ASM_BASIC : PC_ASM_RESTRICT));
          PetscCall(PCASMSetLocalSubdomains(pc[0], BLOCKS, with, own));
          PetscCall(PCASMSetOverlap(pc[0], 0));
          PetscCall(PCSetUp(pc[0]));
          PetscCall(PCSetUpOnBlocks(pc[0]));
          PetscCall(PetscSNPrintf(ours, sizeof(ours),
                                  "-pc_type nras -pc_nras_blocks %d -pc_nras_partition rows -pc_nras_levels %d -pc_nras_inner_overlap %d -pc_nras_form %s",
                                  BLOCKS, k, (int)layers, forms[form]));
          PetscCall(CreatePC(A, ours, &pc[1]));
          PetscCall(Difference(pc[0], pc[1], &difference));
          away = PetscMax(away, difference);
          for (int p = 0; p < 2; ++p) PetscCall(PCDestroy(&pc[p]));
          for (int b = 0; b < BLOCKS; ++b) {
            PetscCall(ISDestroy(&with[b]));
            PetscCall(ISDestroy(&own[b]));
          }
        }
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, inner blocks, overlap %d, %s", kinds[kind], (int)layers, types[form]));
        PetscCall(Report(what, (PetscBool)(away < 1e-13), away));
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_factor_mat_ordering_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_factor_levels"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without a word about the partition: boxes where the matrix shows its grid, METIS elsewhere */
static PetscErrorCode TestAutomatic(void)
{
  const Kind  kind[] = {STENCIL, GRAPH};
  const char *what[] = {"a grid is cut into boxes", "a graph by METIS"}, *cut[] = {"boxes", "metis"};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    Mat       A;
    char      given[128];
    PetscReal difference;

    PetscCall(Create(kind[k], &A));
    PetscCall(PetscSNPrintf(given, sizeof(given), "-pc_type nras -pc_nras_blocks 5 -pc_nras_partition %s", cut[k]));
    PetscCall(DifferenceOf(A, "-pc_type nras -pc_nras_blocks 5", given, &difference));
    PetscCall(Report(what[k], (PetscBool)(difference == 0), difference));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What must hold whatever the blocks are */
static PetscErrorCode TestIdentities(void)
{
  static const char *const cuts[] = {"metis", "rows", "boxes"};
  // clang-format off
  static const char *const same[][3] = {
    {"inner blocks that overlap wholly are one block", "-pc_nras_outer_overlap 1 -pc_nras_levels 1 -pc_nras_blocks 4 -pc_nras_inner_overlap 100",
     "-pc_nras_outer_overlap 1 -pc_nras_levels 1 -pc_nras_blocks 1"},
    {"without overlap the forms are one", "-pc_nras_blocks 4", "-pc_nras_blocks 4 -pc_nras_form additive"},
  };
  // clang-format on
  char first[256], second[256], what[128];

  PetscFunctionBeginUser;
  for (int cut = 0; cut < 3; ++cut) {
    Mat       A;
    PC        pc;
    Vec       x, y, r;
    PetscReal difference, norm;

    PetscCall(Create(STENCIL, &A));
    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(same); ++s) {
      PetscCall(PetscSNPrintf(first, sizeof(first), "-pc_type nras -pc_nras_partition %s %s", cuts[cut], same[s][1]));
      PetscCall(PetscSNPrintf(second, sizeof(second), "-pc_type nras -pc_nras_partition %s %s", cuts[cut], same[s][2]));
      PetscCall(DifferenceOf(A, first, second, &difference));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s: %s", cuts[cut], same[s][0]));
      PetscCall(Report(what, (PetscBool)(difference < 1e-14), difference));
    }
    /* all fill, and the whole matrix in each block: the inverse */
    PetscCall(PetscSNPrintf(first, sizeof(first),
                            "-pc_type nras -pc_nras_partition %s -pc_nras_blocks 3 -pc_nras_levels 100 -pc_nras_outer_overlap 100 -pc_nras_inner_overlap 100",
                            cuts[cut]));
    PetscCall(CreatePC(A, first, &pc));
    PetscCall(CreateVecs(A, &x, &r));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(VecSetRandom(x, NULL));
    PetscCall(MatMult(A, x, r));
    PetscCall(PCApply(pc, r, y));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(VecAXPY(y, -1, x));
    PetscCall(VecNorm(y, NORM_2, &difference));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s: with all fill and all overlap the inverse", cuts[cut]));
    PetscCall(Report(what, (PetscBool)(difference < 1e-13 * norm), difference / norm));
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&r));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(TestAutomatic());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (y, M^-1 x) = (x, M^-1 y) relative to the norms, and the smallest (x, M^-1 x), for some vectors; the transpose is the same */
static PetscErrorCode Symmetry(PC pc, PetscReal *away, PetscReal *least, PetscReal *transpose)
{
  Mat A;
  Vec x, y, mx, my;

  PetscFunctionBeginUser;
  *away = *transpose = 0;
  *least             = PETSC_MAX_REAL;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(CreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &mx));
  PetscCall(VecDuplicate(x, &my));
  for (int k = 0; k < 5; ++k) {
    PetscScalar dots[3];
    PetscReal   norms[2];

    PetscCall(VecSetRandom(x, NULL));
    PetscCall(VecShift(x, -0.5));
    PetscCall(VecSetRandom(y, NULL));
    PetscCall(PCApply(pc, x, mx));
    PetscCall(PCApply(pc, y, my));
    PetscCall(VecDot(mx, y, &dots[0]));
    PetscCall(VecDot(my, x, &dots[1]));
    PetscCall(VecDot(mx, x, &dots[2]));
    PetscCall(VecNorm(mx, NORM_2, &norms[0]));
    PetscCall(VecNorm(y, NORM_2, &norms[1]));
    *away  = PetscMax(*away, PetscAbsScalar(dots[0] - dots[1]) / norms[0] / norms[1]);
    *least = PetscMin(*least, PetscRealPart(dots[2]));
    PetscCall(PCApplyTranspose(pc, x, my));
    PetscCall(VecAXPY(my, -1, mx));
    PetscCall(VecNorm(my, NORM_2, &norms[1]));
    *transpose = PetscMax(*transpose, norms[1] / norms[0]);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&mx));
  PetscCall(VecDestroy(&my));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSymmetric(void)
{
  static const char *const options[] = {"-pc_nras_outer_overlap 1 -pc_nras_levels 0",
                                        "-pc_nras_outer_overlap 1 -pc_nras_inner_overlap 2 -pc_nras_levels 1",
                                        "-pc_nras_inner_overlap 1 -pc_nras_levels 3",
                                        "-pc_nras_outer_overlap 2 -pc_nras_levels 2 -pc_nras_precision single",
                                        "-pc_nras_outer_overlap 1 -pc_nras_levels 1 -pc_nras_solve jacobi -pc_nras_sweeps 2",
                                        "-pc_nras_inner_overlap 1 -pc_nras_solve jacobi -pc_nras_precision single",
                                        "-pc_nras_outer_overlap 1 -pc_nras_levels 3 -pc_nras_droptol 0.05",
                                        "-pc_nras_inner_overlap 1 -pc_nras_levels 2 -pc_nras_droptol 0.02 -pc_nras_solve jacobi -pc_nras_sweeps 1"};
  Mat                      A;
  PC                       pc;
  PetscReal                away, least, transpose, difference;
  char                     text[256];

  PetscFunctionBeginUser;
  PetscCall(Create(SYMMETRIC, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); ++k) {
    PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_type nras -pc_nras_form symmetric -pc_nras_blocks 3 %s", options[k]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", options[k]));
    PetscCall(CreatePC(A, text, &pc));
    PetscCall(Symmetry(pc, &away, &least, &transpose));
    PetscCall(Report("  symmetric", (PetscBool)(away < 1e-15), away));
    PetscCall(Report("  positive definite", (PetscBool)(least > 1e-3), least));
    PetscCall(Report("  its own transpose", (PetscBool)(transpose < 1e-15), transpose));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(DifferenceOf(A, "-pc_type nras -pc_nras_levels 1", "-pc_type nras -pc_nras_levels 1 -pc_nras_precision single", &difference));
  PetscCall(Report("single precision is close", (PetscBool)(difference > 1e-10 && difference < 1e-6), difference));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values, a new pattern, a reset: the preconditioner is that of a new one; a reused one stays as it is */
static PetscErrorCode TestChanges(void)
{
  static const char *const options = "-pc_type nras -pc_nras_levels 1 -pc_nras_blocks 3 -pc_nras_outer_overlap 1 -pc_nras_inner_overlap 1";
  Mat                      A, B;
  PC                       pc, fresh, old;
  PetscReal                difference;
  PetscInt                 start, end;

  PetscFunctionBeginUser;
  PetscCall(Create(STENCIL, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(CreatePC(A, options, &pc));
  PetscCall(CreatePC(B, options, &old));
  PetscCall(Fill(STENCIL, 1, A));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
  PetscCall(PCSetUp(pc));
  PetscCall(Difference(pc, old, &difference));
  PetscCall(Report("new values, reused: as it was", (PetscBool)(difference == 0), difference));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(PCSetUp(pc));
  PetscCall(CreatePC(A, options, &fresh));
  PetscCall(Difference(pc, fresh, &difference));
  PetscCall(Report("new values", (PetscBool)(difference == 0), difference));
  PetscCall(Difference(pc, old, &difference));
  PetscCall(Report("they differ from the first ones", (PetscBool)(difference > 1e-3), difference));
  PetscCall(PCDestroy(&fresh));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatSetValue(A, 3, 200, 0.5, INSERT_VALUES));
  PetscCall(MatSetValue(A, 100, 90, 0.5, INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscCall(PCSetUp(pc));
  PetscCall(CreatePC(A, options, &fresh));
  PetscCall(Difference(pc, fresh, &difference));
  PetscCall(Report("a new pattern", (PetscBool)(difference == 0), difference));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(Difference(pc, old, &difference));
  PetscCall(Report("another matrix after a reset", (PetscBool)(difference == 0), difference));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(Difference(pc, fresh, &difference));
  PetscCall(Report("another matrix without one", (PetscBool)(difference == 0), difference));
  PetscCall(PCDestroy(&fresh));
  PetscCall(PCDestroy(&old));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(Create(STENCIL, &A));
  PetscCall(CreatePC(A, "-pc_type nras -pc_nras_levels 1 -pc_nras_blocks 4 -pc_nras_partition rows -pc_nras_inner_overlap 1", &pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of blocks is the one asked for, or the largest below it that cuts a grid of 30 x 30 points into boxes; METIS cuts a graph with a hub as well */
static PetscErrorCode TestCounts(void)
{
  static const PetscInt counts[] = {2, 3, 8, 13, 300};
  Mat                   A;

  PetscFunctionBeginUser;
  for (PetscInt hub = 0; hub < 2; ++hub) {
    PetscCall(CreateEmpty(PETSC_DECIDE, 900, &A));
    for (PetscInt i = 0; i < 900; ++i) {
      PetscCall(MatSetValue(A, i, i, 5, INSERT_VALUES));
      for (PetscInt k = 0; k < 2; ++k) {
        const PetscInt step = k ? 30 : 1;

        if (i / step % 30 > 0) PetscCall(MatSetValue(A, i, i - step, -1, INSERT_VALUES));
        if (i / step % 30 < 29) PetscCall(MatSetValue(A, i, i + step, -1, INSERT_VALUES));
      }
      if (hub) PetscCall(MatSetValue(A, 450, i, i == 450 ? 5 : -1e-3, INSERT_VALUES));
      if (hub && i != 450) PetscCall(MatSetValue(A, i, 450, -1e-3, INSERT_VALUES));
    }
    PetscCall(Assemble(A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(counts) - (size_t)hub; ++k) {
      char options[128];
      PC   pc;

      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type nras -pc_nras_partition %s -pc_nras_blocks %d", hub ? "metis" : "boxes", (int)counts[k]));
      PetscCall(CreatePC(A, options, &pc));
      PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The calls do what their options do, after a set-up, too */
static PetscErrorCode TestSetters(void)
{
  Mat       A;
  PC        pc[2];
  PetscReal difference[2];

  PetscFunctionBeginUser;
  PetscCall(Create(SYMMETRIC, &A));
  PetscCall(CreatePC(A,
                     "-pc_type nras -pc_nras_blocks 4 -pc_nras_partition rows -pc_nras_outer_overlap 1 -pc_nras_inner_overlap 2 -pc_nras_form symmetric "
                     "-pc_nras_levels 1",
                     &pc[0]));
  PetscCall(CreatePC(A, "-pc_type nras -pc_nras_blocks 2", &pc[1]));
  PetscCall(PCSetUp(pc[1]));
  PetscCall(Difference(pc[0], pc[1], &difference[0]));
  PetscCall(PCNRASSetBlocks(pc[1], 4));
  PetscCall(PCNRASSetPartition(pc[1], PC_NRAS_ROWS));
  PetscCall(PCNRASSetOverlap(pc[1], 1, 2));
  PetscCall(PCNRASSetForm(pc[1], PC_NRAS_SYMMETRIC));
  PetscCall(PCNRASSetLevels(pc[1], 1));
  PetscCall(Difference(pc[0], pc[1], &difference[1]));
  PetscCall(Report("other settings differ", (PetscBool)(difference[0] > 1e-3), difference[0]));
  PetscCall(Report("calls in place of options", (PetscBool)(difference[1] < 1e-15), difference[1]));
  PetscCall(PCDestroy(&pc[0]));
  PetscCall(PCDestroy(&pc[1]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-petsc",      TestPetsc     },
    {"-fill",       TestFill      },
    {"-inner",      TestInner     },
    {"-identities", TestIdentities},
    {"-symmetric",  TestSymmetric },
    {"-changes",    TestChanges   },
    {"-look",       TestView      },
    {"-counts",     TestCounts    },
    {"-setters",    TestSetters   }
  };

  return RunProgram(argc, argv, help, NULL, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

   testset:
     nsize: {{1 2 3}}
     test:
       suffix: petsc
       args: -petsc -mat_type {{aij aijicrs}}
     test:
       suffix: fill
       args: -fill -mat_type {{aij aijicrs}}
     test:
       suffix: inner
       args: -inner
     test:
       suffix: identities
       args: -identities
     test:
       suffix: symmetric
       args: -symmetric -mat_type {{aij aijdia}}
     test:
       suffix: setters
       args: -setters
     test:
       suffix: changes
       args: -changes -mat_type {{aij aijicrs}}

   testset:
     requires: cuda
     nsize: {{1 2}}
     args: -mat_type {{aijdia aijicrs aijcusparse}} -vec_type cuda -use_gpu_aware_mpi 0
     test:
       suffix: changes_cuda
       args: -changes
       output_file: output/nras_changes.out
     test:
       suffix: fill_cuda
       args: -fill
       output_file: output/nras_fill.out
     test:
       suffix: symmetric_cuda
       args: -symmetric
       output_file: output/nras_symmetric.out

   test:
     suffix: valgrind
     suites: valgrind
     args: -changes
     output_file: output/nras_changes.out

   test:
     suffix: counts
     args: -counts -mat_type aij
     filter: grep -o "[0-9][0-9]* inner blocks"

   test:
     suffix: view
     requires: !gpu !64bit_indices
     nsize: {{1 2}separate output}
     args: -look -mat_type aij
     filter: sed -n "/restricted/,/bytes a row/p"

TEST*/
