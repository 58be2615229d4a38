static char
  help[] = "mcsgs, ip, fsai, mic, iluc, meilu: an apply against a dense one from the formula, also after new values and a new pattern; bad matrices.\n\n";

#include "contest/dense.h"
#include "core/compat.h"
#include <petscksp.h>

/* The type, its options, and the inverse or the matrix M that it stands for; block: one block a process */
typedef struct {
  const char *type, *options;
  PetscBool   block;
  void (*reference)(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse);
  double parameter[3];
} Case;

static const Case Cases[] = {
  {"mcsgs", "",                                    PETSC_FALSE, DenseMCSGS, {0}     },
  {"ip",    "-pc_ip_form plain",                   PETSC_FALSE, DenseIP,    {0, 0}  },
  {"ip",    "-pc_ip_form scaled",                  PETSC_FALSE, DenseIP,    {1, 0}  },
  {"ip",    "-pc_ip_form stencil",                 PETSC_FALSE, DenseIP,    {0, 1}  },
  {"ip",    "-pc_ip_form diag",                    PETSC_FALSE, DenseIP,    {1, 1}  },
  {"fsai",  "",                                    PETSC_FALSE, DenseFSAI,  {1}     },
  {"fsai",  "-pc_fsai_power 2",                    PETSC_FALSE, DenseFSAI,  {2}     },
  {"mic",   "-pc_mic_omega 0",                     PETSC_TRUE,  DenseMIC,   {0, 1}  },
  {"mic",   "-pc_mic_omega 0.7",                   PETSC_TRUE,  DenseMIC,   {0.7, 1}},
  {"mic",   "-pc_mic_omega 1 -pc_mic_blocks 4",    PETSC_TRUE,  DenseMIC,   {1, 4}  },
  {"iluc",  "",                                    PETSC_TRUE,  DenseILUC,  {0, 1}  },
  {"iluc",  "-pc_iluc_levels 1",                   PETSC_TRUE,  DenseILUC,  {1, 2}  },
  {"iluc",  "-pc_iluc_levels 2 -pc_iluc_power 1",  PETSC_TRUE,  DenseILUC,  {2, 1}  },
  {"meilu", "-pc_meilu_last jacobi",               PETSC_TRUE,  DenseMEILU, {0, 1}  },
  {"meilu", "-pc_meilu_last sgs",                  PETSC_TRUE,  DenseMEILU, {1, 1}  },
  {"meilu", "",                                    PETSC_TRUE,  DenseMEILU, {2, 1}  },
  {"meilu", "-pc_meilu_sets 2 -pc_meilu_last ilu", PETSC_TRUE,  DenseMEILU, {2, 2}  },
  {"meilu", "-pc_meilu_sets 3 -pc_meilu_last sgs", PETSC_TRUE,  DenseMEILU, {1, 3}  }
};

static PetscErrorCode CreateMatrix(const char type[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, DENSE_N, DENSE_N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 9, NULL, 8, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillMatrix(Mat A, const Dense *D)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    for (PetscInt j = 0; j < DENSE_N; ++j) {
      if (D->has[i][j]) PetscCall(MatSetValue(A, i, j, D->a[i][j], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without the entries between processes */
static PetscErrorCode CutBlocks(Mat A, Dense *D)
{
  const PetscInt *range;
  PetscMPIInt     size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetOwnershipRanges(A, &range));
  for (int p = 0; p < size; ++p) {
    for (PetscInt i = range[p]; i < range[p + 1]; ++i) {
      for (PetscInt j = 0; j < DENSE_N; ++j) {
        if (j >= range[p] && j < range[p + 1]) continue;
        D->has[i][j] = 0;
        D->a[i][j]   = 0;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z of the preconditioner against M z = r or z = M^-1 r; the difference over the largest entry */
static PetscErrorCode CheckApply(const Case *c, PC pc, Mat A, const Dense *D, PetscReal *error)
{
  Dense             *block, *M;
  double            *want;
  Vec                r, z;
  const PetscScalar *zz;
  PetscBool          inverse;
  PetscInt           rstart, rend;
  PetscReal          local[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(1, &block, 1, &M, DENSE_N, &want));
  *block = *D;
  if (c->block) PetscCall(CutBlocks(A, block));
  (*c->reference)(block, c->parameter, M, &inverse);
  for (PetscInt i = 0; i < DENSE_N; ++i) want[i] = DenseRhs(i);
  DenseApply(M, inverse, want);
  PetscCall(MatCreateVecs(A, &z, &r));
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) PetscCall(VecSetValue(r, i, DenseRhs(i), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(r));
  PetscCall(VecAssemblyEnd(r));
  PetscCall(VecSet(z, NAN));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecGetArrayRead(z, &zz));
  for (PetscInt i = rstart; i < rend; ++i) {
    local[0] = fabs(zz[i - rstart] - want[i]) <= local[0] ? local[0] : fabs(zz[i - rstart] - want[i]);
    local[1] = PetscMax(local[1], fabs(want[i]));
  }
  PetscCall(VecRestoreArrayRead(z, &zz));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, local, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *error = local[0] / local[1];
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscFree3(block, M, want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |(x, M^-1 y) - (y, M^-1 x)| over |(x, M^-1 y)| */
static PetscErrorCode CheckSymmetric(PC pc, Mat A, PetscReal *error)
{
  Vec         x, y, z;
  PetscRandom random;
  PetscScalar xy, yx;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(x, random));
  PetscCall(VecSetRandom(y, random));
  PetscCall(PCApply(pc, y, z));
  PetscCall(VecDot(x, z, &xy));
  PetscCall(PCApplyTranspose(pc, x, z));
  PetscCall(VecDot(y, z, &yx));
  *error = fabs(xy - yx) / fabs(xy);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(const Case *c, const char what[], PetscReal error)
{
  PetscFunctionBeginUser;
  if (!(error < 1e-12)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s, %s: WRONG, %g\n", c->type, c->options, what, (double)error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCase(const Case *c, const char type[])
{
  Mat       A, B;
  PC        pc;
  Dense    *D;
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(1, &D));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, c->options));
  DenseGrid(1, PETSC_FALSE, D);
  PetscCall(CreateMatrix(type, &A));
  PetscCall(FillMatrix(A, D));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, c->type));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckApply(c, pc, A, D, &error));
  PetscCall(Report(c, "apply", error));
  PetscCall(CheckSymmetric(pc, A, &error));
  PetscCall(Report(c, "symmetry", error));
  DenseGrid(2, PETSC_FALSE, D);
  PetscCall(FillMatrix(A, D));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckApply(c, pc, A, D, &error));
  PetscCall(Report(c, "new values", error));
  DenseGrid(3, PETSC_TRUE, D); // fewer entries
  PetscCall(CreateMatrix(type, &B));
  PetscCall(FillMatrix(B, D));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckApply(c, pc, B, D, &error));
  PetscCall(Report(c, "new pattern", error));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFree(D));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s: done\n", c->type, c->options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is wrong with row 17 of a matrix */
static const char *const Faults[] = {"zero diagonal", "negative diagonal", "no diagonal", "NaN", "infinite", "not symmetric"};

static void Spoil(int fault, Dense *D)
{
  const double values[] = {0, -1, 0, NAN, INFINITY};

  if (fault < 5) D->a[17][17] = values[fault];
  if (fault == 2) D->has[17][17] = 0;
  if (fault == 5) D->a[17][18] *= 2;
}

/* The preconditioner refuses the matrix on all processes and takes a good one afterwards */
static PetscErrorCode TestBad(const char pctype[], const char type[])
{
  Dense         *D;
  PCFailedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(1, &D));
  for (int f = 0; f < 6; ++f) {
    Mat A, B;
    PC  pc;

    DenseGrid(1, PETSC_FALSE, D);
    PetscCall(CreateMatrix(type, &B));
    PetscCall(FillMatrix(B, D));
    Spoil(f, D);
    PetscCall(CreateMatrix(type, &A));
    PetscCall(FillMatrix(A, D));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, pctype));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    if (!reason) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s takes a matrix with: %s\n", pctype, Faults[f]));
    PetscCall(PCSetOperators(pc, B, B));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    if (reason) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s still refuses after: %s\n", pctype, Faults[f]));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s and bad matrices: done\n", pctype));
  PetscCall(PetscFree(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[64] = MATAIJ;
  PetscBool bad      = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bad", &bad, NULL));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(Cases); ++c) {
    if (!bad) PetscCall(TestCase(&Cases[c], type));
    else if (!c || strcmp(Cases[c].type, Cases[c - 1].type)) PetscCall(TestBad(Cases[c].type, type));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    args: -type {{aij aijdia aijicrs}}

    test:
      suffix: apply

    test:
      suffix: bad
      args: -bad
      filter: grep -v "^WARNING"

TEST*/
