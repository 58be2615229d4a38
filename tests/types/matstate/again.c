/* Operations of PETSc that make matrices from an AIJ matrix, a second time into the same place. */
#include "matstate.h"
#include <petsc/private/matimpl.h>

/* What is made from the matrix, and made again in the same place */
#define Again(name, call) \
  static PetscErrorCode name##_Private(Case *c, MatReuse reuse) \
  { \
    PetscFunctionBeginUser; \
    c->ntarget = 1; \
    PetscCall(call); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
  static PetscErrorCode name(Case *c) \
  { \
    PetscFunctionBeginUser; \
    PetscCall(name##_Private(c, MAT_INITIAL_MATRIX)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
  static PetscErrorCode name##Again(Case *c) \
  { \
    PetscFunctionBeginUser; \
    PetscCall(MatScale(c->A, 3.0)); \
    PetscCall(name##_Private(c, MAT_REUSE_MATRIX)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/* clang-format off */
Again(Transpose, MatTranspose(c->A, reuse, &c->target[0]))
Again(Convert, MatConvert(c->A, MATAIJICRS, reuse, &c->target[0]))
Again(MatMat, MatMatMult(c->A, c->A, reuse, 2.0, &c->target[0]))
Again(PtAP, MatPtAP(c->A, c->A, reuse, 2.0, &c->target[0]))
Again(TransposeMatMat, MatTransposeMatMult(c->A, c->A, reuse, 2.0, &c->target[0]))
Again(MatMatMat, MatMatMatMult(c->A, c->A, c->A, reuse, 2.0, &c->target[0]))
Again(Redundant, MatCreateRedundantMatrix(c->A, 2, MPI_COMM_NULL, reuse, &c->target[0]))
Again(LocalMat, MatMPIAIJGetLocalMat(c->A, reuse, &c->target[0]))
Again(LocalMatMerge, MatMPIAIJGetLocalMatMerge(c->A, reuse, NULL, &c->target[0]))
Again(RowsOfColumns, MatGetBrowsOfAcols(c->A, c->A, reuse, &c->is[0], &c->is2[0], &c->target[0]))
  /* clang-format on */

  /* From PETSc 3.24 on, new values in coordinates count as a new pattern there */
  static PetscErrorCode TransposeOwn(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Preallocated(c));
  PetscCall(Transpose(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Index sets: those of this process with a stride, or, reversed, those of another one */
static PetscErrorCode Indices(Case *c, MatReuse reuse, PetscInt stride, PetscBool reversed)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  if (reuse == MAT_REUSE_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(c->A, &rstart, &rend));
  if (reversed) PetscCall(ISCreateStride(PETSC_COMM_WORLD, rend - rstart, GRID * GRID - 1 - rstart, -1, &c->is[0]));
  else PetscCall(ISCreateStride(PETSC_COMM_WORLD, (rend - rstart) / stride, rstart, stride, &c->is[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubEntire_Indices(Case *c, MatReuse reuse, PetscInt stride, PetscBool reversed, PetscBool square)
{
  PetscFunctionBeginUser;
  PetscCall(Indices(c, reuse, stride, reversed));
  PetscCall(MatCreateSubMatrix(c->A, c->is[0], square ? c->is[0] : NULL, reuse, &c->target[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* clang-format off */
Again(SubEvery, SubEntire_Indices(c, reuse, 2, PETSC_FALSE, PETSC_TRUE))
Again(SubRows, SubEntire_Indices(c, reuse, 2, PETSC_FALSE, PETSC_FALSE))
Again(SubReversed, SubEntire_Indices(c, reuse, 1, PETSC_TRUE, PETSC_TRUE))
  /* clang-format on */

  /* Sequential submatrices: nsub sets of rows of all processes, n of them beginning with first */
  static PetscErrorCode Subs(Case *c, MatReuse reuse, PetscInt nsub, PetscInt n, PetscInt first, PetscBool single)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < nsub && reuse == MAT_INITIAL_MATRIX; ++k) PetscCall(ISCreateStride(PETSC_COMM_SELF, n, (k + 1) * first, 1, &c->is[k]));
  c->A->submat_singleis = single; /* as PCASM does */
  PetscCall(MatCreateSubMatrices(c->A, nsub, c->is, c->is, reuse, &c->sub));
  c->A->submat_singleis = PETSC_FALSE;
  c->nsub = c->ntarget = nsub;
  PetscCall(PetscArraycpy(c->target, c->sub, nsub));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* clang-format off */
Again(SubsAll, Subs(c, reuse, 1, GRID * GRID, 0, PETSC_FALSE))
Again(SubsOne, Subs(c, reuse, 1, 100, 7, PETSC_FALSE))
Again(SubsTwo, Subs(c, reuse, 2, 100, 7, PETSC_FALSE))
Again(SubsSingle, Subs(c, reuse, 1, 100, 7, PETSC_TRUE))
  /* clang-format on */

  /* Parallel submatrices on the first two processes, and a sequential one on the third */
  static PetscErrorCode SubsMPI_Private_(Case *c, MatReuse reuse, PetscBool diagonal)
{
  PetscInt    rstart, rend;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  if (reuse == MAT_INITIAL_MATRIX) {
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, rank / 2, rank, &c->comm));
    PetscCall(MatGetOwnershipRange(c->A, &rstart, &rend));
    PetscCall(ISCreateStride(c->comm, rend - rstart - 2, rstart, 1, &c->is[0]));
  }
  if (diagonal) PetscCall(MatGetMultiProcBlock(c->A, c->comm, reuse, &c->target[0]));
  else {
    PetscCall(MatCreateSubMatricesMPI(c->A, 1, c->is, c->is, reuse, &c->sub));
    c->nsub      = 1;
    c->target[0] = c->sub[0];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* clang-format off */
Again(SubsMPI, SubsMPI_Private_(c, reuse, PETSC_FALSE))
Again(MultiBlock, SubsMPI_Private_(c, reuse, PETSC_TRUE))
/* clang-format on */

#define Made(name) name, name##Again

  /* clang-format off */
const Operation Remade[NREMADE] = {
  {"MatTranspose", TransposeOwn, TransposeAgain, 1, ANY, ALL, PETSC_TRUE},
  {"MatConvert", Made(Convert), 1, ANY, ALL, PETSC_TRUE},
  {"MatMatMult", Made(MatMat), 1, ANY, ALL, PETSC_TRUE},
  {"MatPtAP", Made(PtAP), 1, ANY, ALL, PETSC_TRUE},
  {"MatTransposeMatMult", Made(TransposeMatMat), 1, ANY, ALL, PETSC_TRUE},
  {"MatMatMatMult", Made(MatMatMat), 1, ANY, ALL, PETSC_TRUE},
  {"MatCreateRedundantMatrix", Made(Redundant), 2, ANY, ALL, PETSC_TRUE},
  {"MatMPIAIJGetLocalMat", Made(LocalMat), 2, ANY, ALL, PETSC_TRUE},
  {"MatMPIAIJGetLocalMatMerge", Made(LocalMatMerge), 2, ANY, ALL, PETSC_TRUE},
  {"MatGetBrowsOfAcols", Made(RowsOfColumns), 2, ANY, ALL, PETSC_TRUE},
  {"MatCreateSubMatrix, every second", Made(SubEvery), 1, ANY, ALL, PETSC_TRUE},
  {"MatCreateSubMatrix, rows", Made(SubRows), 1, ANY, ALL, PETSC_TRUE},
  {"MatCreateSubMatrix, reversed", Made(SubReversed), 1, ANY, ALL, PETSC_TRUE},
  {"MatCreateSubMatrices, all", Made(SubsAll), 1, ANY, ALL, PETSC_TRUE},
  {"MatCreateSubMatrices, one", Made(SubsOne), 1, ANY, ALL, PETSC_TRUE},
  {"MatCreateSubMatrices, two", Made(SubsTwo), 1, ANY, ALL, PETSC_TRUE},
  {"MatCreateSubMatrices, one everywhere", Made(SubsSingle), 1, ANY, ALL, PETSC_TRUE},
  {"MatCreateSubMatricesMPI", Made(SubsMPI), 2, ANY, ALL, PETSC_TRUE},
  {"MatGetMultiProcBlock", Made(MultiBlock), 2, ANY, ALL, PETSC_TRUE},
};
/* clang-format on */
