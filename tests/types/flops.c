static char help[] = "Flops of the log events: every event that computes has them, and as many as a hand count says.\n\n";

#include "pc/pamg/pamgimpl.h"
#include "pc/rrb/rrbimpl.h"
#include "pamgproblems.h"
#include "runner.h"
#include <petsc/private/pcimpl.h>
#include <polder.h>

/* What an event has counted, and how often it was */
static PetscErrorCode Counted(const char name[], PetscLogDouble *flops, PetscInt *count)
{
  PetscEventPerfInfo info;
  PetscLogEvent      event;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCheck(event >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There is no event %s", name);
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *flops = info.flops;
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Since what was counted before */
static PetscErrorCode CheckFlops(const char name[], PetscLogDouble before, PetscLogDouble wanted)
{
  PetscLogDouble flops;
  PetscInt       count;

  PetscFunctionBeginUser;
  PetscCall(Counted(name, &flops, &count));
  PetscCheck(PetscAbsReal(flops - before - wanted) <= 1e-9 * wanted, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g flops, not %g", name, flops - before, wanted);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: as counted by hand\n", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* V-cycle, one step of Gauss-Seidel before and after, two levels; a refresh */
static PetscErrorCode TestPAMG(void)
{
  const PetscInt n = 12, N = n * n, nz = 5 * N - 4 * n;
  Mat            A;
  PC             pc;
  PC_PAMG       *pamg;
  Vec            r, z;
  PetscLogDouble before, width = 0, factor = 0;
  PetscInt       count, nc, nzc, band;

  PetscFunctionBeginUser;
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, n, 1, &A));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(FillRandom(r, 5));
  PetscCall(CreatePC(A, "-pc_pamg_levels 2 -pc_pamg_coarse_limit 1 -pc_pamg_cycle v -pc_pamg_smoother sgs -pc_pamg_grid 0", &pc));
  pamg = (PC_PAMG *)pc->data;
  nc   = n / 2 * (n / 2); // squares of four rows
  nzc  = 5 * nc - 4 * (n / 2);
  band = n / 2; // the factor of a square grid by lines has this width; by Cuthill-McKee's diagonals it grows up to it
  PetscCheck(pamg->nlevel == 2 && pamg->level[1].n == nc && pamg->level[1].nz == nzc, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Not the levels that were counted: %" PetscInt_FMT " rows, %" PetscInt_FMT " entries", pamg->level[1].n, (PetscInt)pamg->level[1].nz);
  for (PetscInt line = 0; line < 2 * band - 1; ++line) { // the k-th node of a diagonal reaches back to its west neighbour, in the diagonal before
    const PetscInt here = PetscMin(line + 1, 2 * band - 1 - line), last = line ? PetscMin(line, 2 * band - line) : 0;

    for (PetscInt k = 0; k < here; ++k) {
      const PetscInt first = PetscMin(PetscMax(0, line < band ? k - 1 : k), last ? last - 1 : 0);
      const PetscInt w     = line ? k + last - first + 1 : 1;

      width += w;
      factor += (PetscLogDouble)w * w;
    }
  }
  PetscCall(CheckFlops("PolderPAMGSetUp", 0, 2.0 * nz + N + nz + 2.0 * nzc + nc + factor));
  PetscCall(Counted("PolderPAMGApply", &before, &count));
  PetscCall(PCApply(pc, r, z));
  PetscCall(CheckFlops("PolderPAMGApply", before, 2.0 * nz * 2 + (4.0 * 2 + 3) * N + 4 * width));
  PetscCall(Counted("PolderPAMGSetUp", &before, &count));
  PetscCall(MatScale(A, 2));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFlops("PolderPAMGSetUp", before, N + nz + nc + factor));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Four boxes of 4 by 4 cells: of each, twelve rows of A Z are not zero, and the 32 that touch another box have two entries. E has four columns in a ring */
static PetscErrorCode TestDeflation(void)
{
  const PetscInt n = 8, N = n * n, nz = 5 * N - 4 * n, az = 4 * 12 + 32, coarse = 4 * (1 + 2 + 3 + 3);
  PetscLogDouble before;
  PetscInt       count;
  Mat            A;
  PC             pc;
  Vec            r, z;

  PetscFunctionBeginUser;
  PetscCall(Counted("PolderDeflCoarse", &before, &count));
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, n, 1, &A));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(FillRandom(r, 5));
  PetscCall(
    PetscOptionsInsertString(NULL, "-deflation_space subdomain -deflation_grid 8,8 -deflation_boxes 2,2 -pc_levelset_form adef1 -levelset_pc_type jacobi"));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCLEVELSET));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFlops("PolderDeflSetUp", 0, nz + (nz - 16 * 5) + az + 1 + 4 + 9 + 9));
  PetscCall(PCApply(pc, r, z)); // P r, and Q r
  PetscCall(CheckFlops("PolderDeflCoarse", before, 2 * coarse));
  PetscCall(CheckFlops("PolderDeflApply", 0, N + coarse + 2 * az + N + coarse + N));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOthers(void)
{
  const PetscInt n = 16, N = n * n, nz = 5 * N - 4 * n;
  PetscLogDouble before, flops;
  PetscReal      residual, band;
  PetscInt       count, its;
  Mat            A;
  Vec            r, z;
  PC             pc;
  PC_RRB        *rrb;

  PetscFunctionBeginUser;
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, n, 1, &A));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(FillRandom(r, 5));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCTNS));
  PetscCall(PCApply(pc, r, z));
  PetscCall(CheckFlops("PolderTNSApply", 0, N + 2 * (2.0 * N + 2.0 * nz)));
  PetscCall(PCSetType(pc, PCRRB));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_rrb_grid 16,16 -pc_rrb_levels 2"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  rrb  = (PC_RRB *)pc->data;
  band = rrb->rest.band + 1.0; // three quarters of the nodes are eliminated
  PetscCheck(rrb->rest.n == N / 4, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " nodes are left", rrb->rest.n);
  PetscCall(CheckFlops("PolderRRBSetUp", 0, 25.0 * 3 * N / 4 + band * band * N / 4));
  PetscCall(PCApply(pc, r, z));
  PetscCall(CheckFlops("PolderRRBApply", 0, 17.0 * 3 * N / 4 + 4 * band * N / 4));
  PetscCall(PCDestroy(&pc));
  PetscCall(ProblemSolve(A, "-ksp_type dcg -pc_type tns", NULL, &its, &residual));
  PetscCall(Counted("PolderCGUpdate", &flops, &count));
  PetscCall(CheckFlops("PolderCGUpdate", 0, 6.0 * N * count));
  PetscCall(Counted("PolderCGDot", &flops, &count));
  PetscCall(CheckFlops("PolderCGDot", 0, (2.0 * N - 1) * count));
  PetscCall(Counted("PolderRRBReduce", &before, &count));
  PetscCall(ProblemSolve(A, "-ksp_type rrbcg -pc_type rrb", NULL, &its, &residual));
  PetscCall(CheckFlops("PolderRRBReduce", before, 8.5 * N));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 5 points, one block: the factors have the pattern of the matrix */
static PetscErrorCode TestNRAS(void)
{
  const PetscInt n = 12, N = n * n, nz = 5 * N - 4 * n, edges = 2 * n * (n - 1);
  Mat            A;
  PC             pc;
  Vec            r, z;

  PetscFunctionBeginUser;
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, n, 1, &A));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCNRAS));
  PetscCall(PCSetUp(pc));
  /* an entry left of the diagonal changes the diagonal alone; each pivot is inverted, each entry beside it scaled once */
  PetscCall(CheckFlops("PolderNRASFact", 0, 3.0 * edges + nz));
  PetscCall(PCApply(pc, r, z));
  PetscCall(CheckFlops("PolderNRASApply", 0, 2.0 * nz - N));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On any number of processes, on either side: all but those that copy and label have flops */
static PetscErrorCode TestAll(void)
{
  static const char *const solvers[] = {"-ksp_type dcg -pc_type tns -deflation_space subdomain -deflation_grid 16,16 -deflation_boxes 2,2",
                                        "-ksp_type rrbcg -pc_type rrb",
                                        "-ksp_type cg -pc_type rrb",
                                        "-ksp_type cg -pc_type pamg",
                                        "-ksp_type fcg -pc_type pamg -pc_pamg_cycle k -pc_pamg_precision single",
                                        "-ksp_type cg -pc_type nras -pc_nras_form symmetric -pc_nras_blocks 3"};
  static const char *const names[]   = {"PolderDeflSetUp", "PolderDeflApply", "PolderDeflCoarse", "PolderTNSApply",  "PolderCGDot",
                                        "PolderCGUpdate",  "PolderRRBSetUp",  "PolderRRBApply",   "PolderRRBReduce", "PolderPAMGSetUp",
                                        "PolderPAMGApply", "PolderPAMGRound", "PolderNRASSetUp",  "PolderNRASFact",  "PolderNRASApply"};
  Mat                      A;
  PetscReal                residual;
  PetscInt                 its, count;
  PetscLogDouble           flops;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, 16, 1, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solvers); ++k) PetscCall(ProblemSolve(A, solvers[k], NULL, &its, &residual));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); ++k) {
    PetscCall(Counted(names[k], &flops, &count));
    PetscCheck(flops > 0 && count > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g flops in %" PetscInt_FMT " calls", names[k], flops, count);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all events that compute have flops\n"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestHand(void)
{
  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(TestPAMG());
  PetscCall(TestDeflation());
  PetscCall(TestOthers());
  PetscCall(TestNRAS());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-hand", TestHand},
    {"-all",  TestAll },
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  testset:
    requires: log
    test:
      suffix: hand
      requires: !gpu
      args: -hand
    test:
      suffix: all
      nsize: {{1 2}}
      args: -all -mat_type {{aij aijdia}}
    test:
      suffix: cuda
      requires: cuda
      args: -all -mat_type aijdia -vec_type cuda
      output_file: output/flops_all.out

TEST*/
