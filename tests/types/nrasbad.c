static char help[] = "Nested restricted additive Schwarz: matrices and settings that are no good end with a sentence, or are made good.\n\n";

#include "message.h"
#include "nras/nras.h"
#include "runner.h"

/* A tridiagonal matrix of 12 rows with something wrong, on the last process */
typedef enum {
  NODIAGONAL, /* row 10 has no diagonal entry, and its neighbours make one */
  ZEROPIVOT,  /* the elimination of row 9 makes the pivot of row 10 zero */
  ZEROROW,    /* all entries of row 10 are zero */
  NOROW,      /* it has none */
  NOTANUMBER,
  INFINITE,
  NEGATIVE, /* a negative diagonal, good but for the symmetric form */
  NBAD
} Bad;
static const char *const names[NBAD] = {"no diagonal entry", "zero pivot", "row of zeros", "row without entries", "not a number", "infinite", "negative"};

#define N 12

static PetscErrorCode CreateBad(Bad bad, Mat *A)
{
  static const PetscScalar off[2] = {NAN, INFINITY};
  PetscInt                 start, end;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(PETSC_DECIDE, N, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscBool zero = (PetscBool)(i == 10 && bad == ZEROROW);
    PetscScalar     d    = 2;

    if (i == 10 && bad == NOROW) continue;
    if (i == 9 && bad == ZEROPIVOT) d = 1;
    if (i == 10 && bad == ZEROPIVOT) d = 1;
    if (i == 10 && bad == NEGATIVE) d = -2;
    if (i == 10 && (bad == NOTANUMBER || bad == INFINITE)) d = off[bad == INFINITE];
    if (!(i == 10 && bad == NODIAGONAL)) PetscCall(MatSetValue(*A, i, i, zero ? 0 : d, INSERT_VALUES));
    if (i && !(i == 9 && bad == ZEROPIVOT)) PetscCall(MatSetValue(*A, i, i - 1, zero ? 0 : -1, INSERT_VALUES));
    if (i < N - 1) PetscCall(MatSetValue(*A, i, i + 1, zero ? 0 : -1, INSERT_VALUES));
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One set-up with errors, and one solve without */
static PetscErrorCode Try(Mat A, const char options[])
{
  PetscOptions       own;
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  KSPConvergedReason reason;
  PCFailedReason     failed;
  PetscErrorCode     ierr;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&own));
  PetscCall(PetscOptionsInsertString(own, options));
  PetscCall(PetscOptionsPush(own));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, "nras"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
  message[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PrintMessage(options[0] ? options : "default", ierr, ""));
  PetscCall(PCDestroy(&pc));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, "nras"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s, %s\n", reason > 0 ? "converged" : KSPConvergedReasons[reason], PCFailedReasons[failed]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&own));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPivots(void)
{
  PetscFunctionBeginUser;
  for (Bad bad = (Bad)0; bad < NBAD; ++bad) {
    Mat A;

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "== %s\n", names[bad]));
    PetscCall(CreateBad(bad, &A));
    PetscCall(Try(A, ""));
    PetscCall(Try(A, "-pc_nras_shift no"));
    if (bad == NEGATIVE) {
      PetscCall(Try(A, "-pc_nras_form symmetric"));
      PetscCall(Try(A, "-pc_nras_form symmetric -pc_nras_shift no"));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shift is told, and with it the factors are those of the shifted matrix */
static PetscErrorCode TestShift(void)
{
  const PetscInt row = 10;
  Mat            A, B;
  PetscReal      difference;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(CreateBad(ZEROPIVOT, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) { /* the rows of the block of row 10 */
    PetscInt           n;
    const PetscInt    *col;
    const PetscScalar *val;
    PetscReal          sum = 0, diagonal = 0;

    if (row < start || row >= end) break;
    PetscCall(MatGetRow(A, i, &n, &col, &val));
    for (PetscInt k = 0; k < n; ++k) {
      if (col[k] >= start && col[k] < end) sum += PetscAbsScalar(val[k]);
      if (col[k] == i) diagonal = PetscRealPart(val[k]);
    }
    PetscCall(MatRestoreRow(A, i, &n, &col, &val));
    PetscCall(MatSetValue(B, i, i, diagonal + 1e-3 * sum, INSERT_VALUES));
  }
  PetscCall(Assemble(B));
  {
    PC pc[2];

    PetscCall(CreatePC(A, "-pc_type nras -pc_nras_blocks 1", &pc[0]));
    PetscCall(PCView(pc[0], PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(CreatePC(B, "-pc_type nras -pc_nras_blocks 1 -pc_nras_shift no", &pc[1]));
    PetscCall(Difference(pc[0], pc[1], &difference));
    PetscCall(Report("the factors are those of the shifted matrix", (PetscBool)(difference < 1e-12), difference));
    PetscCall(PCDestroy(&pc[0]));
    PetscCall(PCDestroy(&pc[1]));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs of rows without diagonal entries that are joined to the next pair: shifted by a little, a solve grows a hundredfold from pair to pair */
static PetscErrorCode CreateGrowing(PetscInt m, PetscReal scale, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(m, PETSC_DECIDE, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscCall(MatSetValue(*A, i, start + ((i - start) ^ 1), 3 * scale, INSERT_VALUES));
    if (i + 2 < end) PetscCall(MatSetValue(*A, i, i + 2, 0.5 * scale, INSERT_VALUES));
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shift grows until solves with the factors do not, whatever the scale is */
static PetscErrorCode TestGrowth(void)
{
  static const PetscReal scales[] = {1, 1e-60, 1e60};

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; ++k) {
    Mat       A;
    KSP       ksp;
    PC        pc;
    Vec       b, x, r;
    PetscInt  its;
    PetscReal norm[2];

    PetscCall(CreateGrowing(400, scales[k], &A));
    PetscCall(CreatePC(A, "-pc_type nras -pc_nras_blocks 1", &pc));
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(CreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPSetPC(ksp, pc));
    PetscCall(KSPSetTolerances(ksp, 1e-8, 0, PETSC_DEFAULT, 100));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &norm[0]));
    PetscCall(VecNorm(b, NORM_2, &norm[1]));
    PetscCall(Report("shifted until gmres converges", (PetscBool)(its < 40 && norm[0] < 1e-6 * norm[1]), norm[0]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&r));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes that leave nothing for a block or for a process, and graphs in pieces */
static PetscErrorCode TestShapes(void)
{
  static const char *const cuts[] = {"metis", "rows", "boxes"};
  PetscMPIInt              rank;
  Mat                      A;
  PetscReal                difference;
  char                     text[256], what[128];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int cut = 0; cut < 3; ++cut) {
    PetscCall(CreateBad(NEGATIVE, &A));
    PetscCall(PetscSNPrintf(text, sizeof(text), "-pc_type nras -pc_nras_partition %s -pc_nras_blocks 1000 -pc_nras_inner_overlap 100", cuts[cut]));
    PetscCall(DifferenceOf(A, "-pc_type bjacobi", text, &difference));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s: more blocks than rows", cuts[cut]));
    PetscCall(Report(what, (PetscBool)(difference < 1e-14), difference));
    if (cut == 1) PetscCall(DifferenceOf(A, "-pc_type jacobi", "-pc_type nras -pc_nras_partition rows -pc_nras_blocks 1000", &difference));
    if (cut == 1) PetscCall(Report("rows: without overlap they are jacobi", (PetscBool)(difference < 1e-15), difference));
    PetscCall(MatDestroy(&A));
    /* all rows on the last process */
    for (PetscInt overlap = 0; overlap < 2; ++overlap) {
      PetscMPIInt size;

      PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
      PetscCall(CreateEmpty(rank == size - 1 ? 210 : 0, 210, &A));
      PetscCall(Fill(STENCIL, 0, A));
      PetscCall(PetscSNPrintf(text, sizeof(text),
                              "-pc_type nras -pc_nras_levels 1 -pc_nras_partition %s -pc_nras_blocks 3 -pc_nras_inner_overlap 100 -pc_nras_outer_overlap %d",
                              cuts[cut], (int)overlap));
      PetscCall(DifferenceOf(A, "-pc_type bjacobi -sub_pc_factor_levels 1", text, &difference));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s: processes without rows, outer overlap %d", cuts[cut], (int)overlap));
      PetscCall(Report(what, (PetscBool)(difference < 1e-13), difference));
      PetscCall(MatDestroy(&A));
    }
  }
  /* pieces of two rows: with any fill the inverse, whatever METIS makes of them, if blocks overlap */
  PetscCall(CreateEmpty(PETSC_DECIDE, 60, &A));
  {
    PetscInt start, end;

    PetscCall(MatGetOwnershipRange(A, &start, &end));
    for (PetscInt i = start; i < end; ++i) {
      PetscCall(MatSetValue(A, i, i, 3 + i % 4, INSERT_VALUES));
      PetscCall(MatSetValue(A, i, i ^ 1, -1, INSERT_VALUES));
    }
    PetscCall(Assemble(A));
  }
  PetscCall(
    DifferenceOf(A, "-pc_type asm -pc_asm_overlap 1", "-pc_type nras -pc_nras_blocks 7 -pc_nras_outer_overlap 1 -pc_nras_inner_overlap 1", &difference));
  PetscCall(Report("a graph in pieces", (PetscBool)(difference < 1e-14), difference));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestForms(void)
{
  Mat            A;
  PC             pc;
  Vec            r, z;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(Create(STENCIL, &A));
  PetscCall(Try(A, "-pc_nras_form symmetric"));
  PetscCall(CreateVecs(A, &z, &r));
  for (int form = 0; form < 2; ++form) {
    PetscCall(CreatePC(A, form ? "-pc_type nras -pc_nras_form additive -pc_nras_blocks 2" : "-pc_type nras -pc_nras_blocks 2 -pc_nras_inner_overlap 1", &pc));
    message[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = PCApplyTranspose(pc, r, z);
    PetscCall(PetscPopErrorHandler());
    PetscCall(PrintMessage(form ? "transpose, additive" : "transpose, restricted", ierr, ""));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is an error and not a matter of values */
static PetscErrorCode Refuses(Mat A, const char what[], const char option[], const char value[])
{
  PC             pc;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  if (option) PetscCall(PetscOptionsSetValue(NULL, option, value));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, "nras"));
  message[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = PCSetFromOptions(pc);
  if (!ierr) ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PrintMessage(what, ierr, ""));
  if (option) PetscCall(PetscOptionsClearValue(NULL, option));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestErrors(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(GRAPH, &A));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_nras_partition", "boxes"));
  PetscCall(Refuses(A, "boxes without a grid", NULL, NULL));
  PetscCall(Refuses(A, "a grid that does not fit", "-pc_nras_grid", "7,7"));
  PetscCall(Refuses(A, "a grid without points", "-pc_nras_grid", "0,7"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_nras_partition"));
  PetscCall(Refuses(A, "no blocks", "-pc_nras_blocks", "0"));
  PetscCall(Refuses(A, "no sweeps", "-pc_nras_sweeps", "0"));
  PetscCall(Refuses(A, "a negative tolerance", "-pc_nras_droptol", "-0.1"));
  PetscCall(Refuses(A, "a tolerance of one", "-pc_nras_droptol", "1"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 9, 12, 3, NULL, 3, NULL, &A));
  PetscCall(Assemble(A));
  PetscCall(Refuses(A, "rectangular", NULL, NULL));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 9, 9, NULL, &A));
  PetscCall(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))MultShell));
  PetscCall(Refuses(A, "shell", NULL, NULL));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-pivots", TestPivots},
    {"-shift",  TestShift },
    {"-growth", TestGrowth},
    {"-shapes", TestShapes},
    {"-forms",  TestForms },
    {"-errors", TestErrors}
  };

  return RunProgram(argc, argv, help, NULL, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

   testset:
     nsize: {{1 2 3}}
     test:
       suffix: pivots
       args: -pivots
       filter: grep -v WARNING
     test:
       suffix: shift
       args: -shift
       filter: grep -E "shifted"
     test:
       suffix: growth
       args: -growth
       filter: grep "shifted" | sed -E "s/diagonal: [0-9]+,/diagonal,/"
     test:
       suffix: shapes
       args: -shapes
     test:
       suffix: errors
       args: -errors
       leaks: what a function had allocated before the error
       filter: grep -E "^[a-z ]*: "
     test:
       suffix: forms
       args: -forms
       filter: grep -v WARNING

TEST*/
