static char help[] = "Rows of a grid that read the coefficients of equal rows: which they are, also after new values, and that no bit of an apply or a solve "
                     "depends on it.\n\n";

#include "rrb/rrb.h"
#include "rrbproblems.h"
#include <polder.h>

/* Rows of the first grid on this process, and those of them that read the coefficients of others */
static void CountShared(PC pc, PetscInt count[2])
{
  const PolderRRBGrid *g = &((PC_RRB *)pc->data)->grid[0].g;

  count[0] = g->hy;
  count[1] = 0;
  for (PetscInt v = 0; v < g->hy; ++v) count[1] += PolderRRBShift(g, v) != 0;
}

/* From now on all rows read their own coefficients */
static void Separate(PC pc)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  for (PetscInt k = 0; k < rrb->ngrid; ++k) rrb->grid[k].g.shift = NULL;
}

/* An apply, and steps of a solve with the first Schur complement for which the matrix has 5 points, and of one without it */
static PetscErrorCode Solve(KSP ksp[2], Vec b, Vec x[3])
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp[0], &pc));
  PetscCall(PCApply(pc, b, x[0]));
  for (int k = 0; k < 2; ++k) PetscCall(KSPSolve(ksp[k], b, x[1 + k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* least <= shared rows <= most of the first grid on one process, and the same bits without sharing */
static PetscErrorCode Check(const char name[], Mat A, KSP ksp[2], PetscInt least, PetscInt most)
{
  Vec         b, x[2][3];
  PC          pc[2];
  PetscInt    count[2];
  PetscMPIInt size;
  PetscRandom rnd;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &rnd));
  PetscCall(MatCreateVecs(A, &b, NULL));
  PetscCall(VecSetRandom(b, rnd));
  for (int k = 0; k < 6; ++k) PetscCall(VecDuplicate(b, &x[k / 3][k % 3]));
  for (int k = 0; k < 2; ++k) {
    PetscCall(KSPSetOperators(ksp[k], A, A));
    PetscCall(KSPSetUp(ksp[k]));
    PetscCall(KSPGetPC(ksp[k], &pc[k]));
    CountShared(pc[k], count);
    if (size == 1)
      PetscCheck(count[1] >= least && count[1] <= most, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " of %" PetscInt_FMT " rows share", name,
                 count[1], count[0]);
  }
  PetscCall(Solve(ksp, b, x[0]));
  for (int k = 0; k < 2; ++k) Separate(pc[k]);
  PetscCall(Solve(ksp, b, x[1]));
  for (int k = 0; k < 3; ++k) {
    PetscBool same;

    PetscCall(VecEqual(x[0][k], x[1][k], &same));
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: vector %d depends on shared rows", name, k);
    for (int w = 0; w < 2; ++w) PetscCall(VecDestroy(&x[w][k]));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(PetscRandomDestroy(&rnd));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: ok\n", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds to the diagonal in node (nx / 3, y) */
static PetscErrorCode Add(const Problem *p, Mat A, PetscInt y, PetscScalar value)
{
  const PetscInt i = y * p->nx + p->nx / 3;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  if (i >= start && i < end) PetscCall(MatSetValue(A, i, i, value, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Equal rows but for a row of cells or two at the ends and beside a node that differs */
static PetscErrorCode TestRows(void)
{
  static const Problem problems[] = {
    {POISSON,  127, 130, 0},
    {POISSON,  64,  129, 0},
    {NINE,     100, 90,  0},
    {RANDOM5,  70,  80,  1},
    {BILINEAR, 33,  200, 0}
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    const Problem  *p     = &problems[k];
    const PetscInt  hy    = (p->ny + 1) / 2;
    const PetscBool equal = (PetscBool)(p->kind != RANDOM5);
    char            name[64];
    Mat             A;
    KSP             ksp[2];

    PetscCall(CreateMatrix(p, &A));
    for (int w = 0; w < 2; ++w) {
      PetscCall(CreateSolver(A, w || p->kind == NINE || p->kind == BILINEAR ? KSPCG : KSPRRBCG, PETSC_DECIDE, &ksp[w]));
      PetscCall(KSPSetFromOptions(ksp[w]));
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "problem %d, %" PetscInt_FMT " by %" PetscInt_FMT, (int)p->kind, p->nx, p->ny));
    PetscCall(Check(name, A, ksp, equal ? hy - 8 : 0, equal ? hy - 4 : 0));
    PetscCall(Add(p, A, p->ny / 4 * 2, 0.5));
    PetscCall(Check("one node differs", A, ksp, equal ? hy - 18 : 0, equal ? hy - 9 : 0));
    PetscCall(Add(p, A, p->ny / 4 * 2, -0.5));
    PetscCall(Check("no more", A, ksp, equal ? hy - 8 : 0, equal ? hy - 4 : 0));
    for (int w = 0; w < 2; ++w) PetscCall(KSPDestroy(&ksp[w]));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-rows", TestRows}
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

   build: internal

   test:
     requires: !gpu
     nsize: {{1 2 3}}
     args: -rows -mat_type {{aij aijdia}} -pc_rrb_precision {{double single}}
     output_file: output/rrbrows.out

TEST*/
