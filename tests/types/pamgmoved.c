static char help[] = "Pairwise-aggregation multigrid for rows whose neighbours are on other processes: they are moved, or levels are replicated early.\n\n";

#include "pamgchecks.h"
#include "runner.h"
#include "message.h"
#include "scattered.h"
#include <polder.h>

/* Iterations are those of one process or few more, with rows that are moved and without */
static PetscErrorCode TestIterations(void)
{
  static const PetscInt most[NSCATTERED][2] = {
    {16, 15},
    {12, 12},
    {16, 32}, // 12 where rows of few neighbours are eliminated
    {10, 10},
    {14, 14},
    {11, 11}
  };
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int problem = 0; problem < NSCATTERED; ++problem) {
    for (int stay = 0; stay < 2; ++stay) {
      PetscInt  its;
      PetscReal residual;
      PetscBool moves;
      char      options[128];
      KSP       ksp;
      PC        pc;
      Mat       A;

      PetscCall(CreateScattered((Scattered)problem, 1, &A));
      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -pc_type pamg -pc_pamg_repartition %s",
                              problem == STREAM ? "bcgs -ksp_pc_side right" : "fcg", stay ? "no" : "auto"));
      PetscCall(ProblemSolve(A, options, &ksp, &its, &residual));
      PetscCall(KSPGetPC(ksp, &pc));
      moves = (PetscBool) !!((PC_PAMG *)pc->data)->moved.inner.pc;
      PetscCheck(moves == (size > 1 && !stay && problem != PARTLY), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the rows were %smoved", scattered[problem],
                 moves ? "" : "not ");
      PetscCheck(its <= most[problem][stay] && 3 * its >= most[problem][stay] && residual <= 1.001e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s, %s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " are known, residual %g", scattered[problem], options, its,
                 most[problem][stay], (double)residual);
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations as they are known\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each row is moved once, with its entries: B P x = P A x. The preconditioner is symmetric */
static PetscErrorCode TestRows(void)
{
  Mat              A;
  PC               pc;
  Vec              x, y, seen;
  const PamgMoved *moved;
  PetscReal        norm, away, least, largest;

  PetscFunctionBeginUser;
  PetscCall(CreateScattered(TREE, 1, &A));
  PetscCall(CreatePC(A, "", &pc));
  moved = &((PC_PAMG *)pc->data)->moved;
  PetscCheck(moved->rows && moved->after < 0.1 * moved->before, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%g of the couplings were outside, and %g are",
             (double)moved->before, (double)moved->after);
  PetscCall(CreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &seen));
  PetscCall(VecSet(moved->inner.r, 1));
  PetscCall(VecScatterBegin(moved->scatter, moved->inner.r, seen, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(moved->scatter, moved->inner.r, seen, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecMin(seen, NULL, &least));
  PetscCall(VecMax(seen, NULL, &largest));
  PetscCall(FillRandom(x, 3));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecScatterBegin(moved->scatter, x, moved->inner.r, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(moved->scatter, x, moved->inner.r, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(MatMult(moved->matrix, moved->inner.r, moved->inner.z));
  PetscCall(VecScale(y, -1));
  PetscCall(VecScatterBegin(moved->scatter, moved->inner.z, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(moved->scatter, moved->inner.z, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecNorm(moved->inner.z, NORM_2, &norm));
  PetscCall(VecNorm(y, NORM_2, &away));
  PetscCheck(least == 1 && largest == 1 && away <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A row comes %g to %g times, products differ by %g",
             (double)least, (double)largest, (double)(away / norm));
  PetscCall(CheckSymmetric(pc, PETSC_FALSE, "", "tree"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&seen));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "each row comes once\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values follow, a new pattern has other parts, and a kernel that is attached is known */
static PetscErrorCode TestNewValues(void)
{
  Mat          A;
  PC           pc;
  Vec          r;
  IS           rows;
  PC_PAMG     *pamg;
  PetscReal    away;
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(CreateScattered(SHUFFLED, 1, &A));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(A, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscCall(CreatePC(A, "", &pc));
  PetscCall(CreateVecs(A, &r, NULL));
  PetscCall(FillRandom(r, 3));
  PetscCall(RemoveKernel(A, r));
  pamg = (PC_PAMG *)pc->data;
  rows = pamg->moved.rows;
  PetscCall(MatScale(A, 4));
  PetscCall(PCSetUp(pc));
  PetscCall(AwayFromFresh(pc, "", r, &away));
  PetscCheck(rows == pamg->moved.rows && ((PC_PAMG *)pamg->moved.inner.pc->data)->nrefresh == 1 && away <= 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "New values: %" PetscInt_FMT " refreshes, %g away from a fresh set-up", ((PC_PAMG *)pamg->moved.inner.pc->data)->nrefresh, (double)away);
  PetscCall(PetscObjectReference((PetscObject)rows)); // so that no other object gets its address
  PetscCall(Edge(A, 0, 1, 0.25));
  PetscCall(Assemble(A));
  PetscCall(PCSetUp(pc));
  PetscCall(AwayFromFresh(pc, "", r, &away));
  PetscCheck(rows != pamg->moved.rows && away <= 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A new pattern: %g away from a fresh set-up", (double)away);
  PetscCall(ISDestroy(&rows));
  PetscCall(VecDestroy(&r));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values follow\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row that is refused has the number that the program knows; afterwards a good matrix is taken */
static PetscErrorCode TestRefused(void)
{
  const PetscInt bad = 777;
  Mat            A;
  PC             pc;
  PetscInt       start, end;
  PetscErrorCode ierr;
  char          *told;

  PetscFunctionBeginUser;
  PetscCall(CreateScattered(SHUFFLED, 1, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(CreatePC(A, "", &pc));
  if (bad >= start && bad < end) PetscCall(MatSetValue(A, bad, bad, -1, INSERT_VALUES));
  PetscCall(Assemble(A));
  pc->erroriffailure = PETSC_TRUE;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscStrstr(message, "777", &told));
  PetscCheck(ierr && told, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Row 777 is not refused: %s", message);
  pc->erroriffailure = PETSC_FALSE;
  if (bad >= start && bad < end) PetscCall(MatSetValue(A, bad, bad, 7, INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscCall(PCSetUp(pc));
  PetscCheck(((PC_PAMG *)pc->data)->moved.inner.pc && !pc->failedreason, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A good matrix is not taken any more");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the row is named\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-iterations", TestIterations},
    {"-rows",       TestRows      },
    {"-values",     TestNewValues },
    {"-refused",    TestRefused   }
  };

  return RunProgram(argc, argv, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: iterations
    nsize: {{1 2 4}}
    args: -iterations -mat_type {{aij aijicrs}} -polder_min_rows_per_gpu 0

  test:
    suites: valgrind(+2)
    suffix: rows
    nsize: {{2 3}}
    args: -rows -polder_min_rows_per_gpu 0

  test:
    suffix: values
    nsize: {{2 3}}
    args: -values -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suffix: refused
    nsize: 2
    args: -refused -polder_min_rows_per_gpu 0

TEST*/
