/* The system of readmat.c: matrix, right-hand side, level set and labels from files */
#include "readmat.h"
#include <petscviewer.h>
#include <string.h>

/* Finds the kind of a file from its first bytes. A PETSc binary file has then been checked completely; a Matrix Market file is checked when it is read */
static PetscErrorCode GetInfo(const char file[], FileInfo *info)
{
  char        message[MAX_MESSAGE] = "", first[4] = "";
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0 && IsFile(file, message)) {
    FILE *fp = fopen(file, "rb");

    if (!fp) Say(message, "Cannot open %s: this user may not read it", file);
    else {
      const PetscBool market = (PetscBool)(fread(first, 1, 4, fp) == 4 && !memcmp(first, "%%Ma", 4));

      fclose(fp);
      if (!market && first[0] == '%') Say(message, "%s is no Matrix Market file: the first line of one begins with %%%%MatrixMarket", file);
      else if (!market) PetscCall(BinaryCheck(file, info, message));
    }
  }
  PetscCall(CheckAll(message));
  PetscCallMPI(MPI_Bcast(info, sizeof(*info), MPI_BYTE, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadMatrix(const char file[], Mat *A)
{
  FileInfo    info;
  PetscViewer viewer;
  MatType     type;
  PetscBool   dense;

  PetscFunctionBegin;
  *A = NULL;
  PetscCall(GetInfo(file, &info));
  PetscCheck(info.kind <= FILE_DENSE, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "-A %s holds a vector or an index set, not a matrix", file);
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  if (info.kind == FILE_MARKET) {
    PetscCall(MarketReadMatrix(file, *A));
    PetscFunctionReturn(0);
  }
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatGetType(*A, &type));
  dense = (PetscBool)(strstr(type, "dense") != NULL);
  PetscCheck(dense || info.kind != FILE_DENSE, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "%s holds a dense matrix: add -mat_type dense, or write it as a sparse one", file);
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(*A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateVector(Mat A, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, v));
  PetscCall(VecSetFromOptions(*v));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckLength(const char file[], Mat A, FileInfo info)
{
  PetscInt N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCheck(info.rows == N, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "%s holds %lld numbers and the matrix has %" PetscInt_FMT " rows", file, info.rows,
             N);
  PetscFunctionReturn(0);
}

/* A vector with the layout of the rows of A, from a vector or a file of numbers */
PetscErrorCode ReadVector(const char file[], Mat A, Vec *v)
{
  FileInfo    info;
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(GetInfo(file, &info));
  PetscCheck(info.kind == FILE_MARKET || info.kind == FILE_VEC, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "%s does not hold a vector", file);
  if (info.kind == FILE_VEC) PetscCall(CheckLength(file, A, info));
  PetscCall(CreateVector(A, v));
  if (info.kind == FILE_MARKET) PetscCall(MarketReadVector(file, *v));
  else {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(*v, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(0);
}

/* Converts a vector to labels; `bad` is the first row with a value too large for a label */
static PetscErrorCode LabelsOfVector(Vec v, PetscInt label[], PetscInt *bad)
{
  const PetscScalar *a;
  PetscInt           n, first, here = PETSC_MAX_INT;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetOwnershipRange(v, &first, NULL));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = n - 1; i >= 0; --i) {
    const PetscReal number = PetscFloorReal(PetscRealPart(a[i]) + 0.5);

    if (PetscAbsReal(number) < (PetscReal)PETSC_MAX_INT) label[i] = (PetscInt)number;
    else here = first + i;
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCallMPI(MPI_Allreduce(&here, bad, 1, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadLabels(const char file[], Mat A, IS *labels)
{
  FileInfo    info;
  PetscViewer viewer;
  PetscLayout layout;
  Vec         v;
  PetscInt    n, bad, *label;

  PetscFunctionBegin;
  PetscCall(GetInfo(file, &info));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  if (info.kind == FILE_IS) {
    PetscCall(CheckLength(file, A, info));
    PetscCall(ISCreate(PETSC_COMM_WORLD, labels));
    PetscCall(ISSetType(*labels, ISGENERAL));
    PetscCall(ISGetLayout(*labels, &layout));
    PetscCall(PetscLayoutSetLocalSize(layout, n));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(ISLoad(*labels, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscFunctionReturn(0);
  }
  PetscCall(ReadVector(file, A, &v));
  PetscCall(PetscMalloc1(n, &label));
  PetscCall(LabelsOfVector(v, label, &bad));
  PetscCall(VecDestroy(&v));
  if (bad < PETSC_MAX_INT) PetscCall(PetscFree(label));
  PetscCheck(bad == PETSC_MAX_INT, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "The label of row %" PetscInt_FMT " in %s is too large for an index", bad,
             file);
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, n, label, PETSC_OWN_POINTER, labels));
  PetscFunctionReturn(0);
}

/* The constant vector is in the kernel if A times it is zero to rounding */
static PetscErrorCode FindNullSpace(Mat A, const char file[])
{
  MatNullSpace nsp;
  Vec          one, y;
  PetscReal    norm, anorm;

  PetscFunctionBegin;
  PetscCall(MatNorm(A, NORM_INFINITY, &anorm));
  PetscCheck(!PetscIsInfOrNanReal(anorm), PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "The numbers of a row of %s are so large that their sum is not finite",
             file);
  PetscCall(MatCreateVecs(A, &one, &y));
  PetscCall(VecSet(one, 1.0));
  PetscCall(MatMult(A, one, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  if (norm <= 1e-13 * anorm) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &nsp));
    PetscCall(MatSetNullSpace(A, nsp));
    PetscCall(MatNullSpaceDestroy(&nsp));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "The constant vector is in the kernel of A\n"));
  }
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* Composes a level set and labels on the matrix under the names by which the solvers find them */
static PetscErrorCode ComposeFiles(Mat A)
{
  char      file[PETSC_MAX_PATH_LEN];
  PetscBool set;
  Vec       levelset;
  IS        labels;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-levelset", file, sizeof(file), &set));
  if (set) {
    PetscCall(ReadVector(file, A, &levelset));
    PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)levelset));
    PetscCall(VecDestroy(&levelset));
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-labels", file, sizeof(file), &set));
  if (set) {
    PetscCall(ReadLabels(file, A, &labels));
    PetscCall(PetscObjectCompose((PetscObject)A, "deflation_labels", (PetscObject)labels));
    PetscCall(ISDestroy(&labels));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ReadSystem(App *app)
{
  char      file[PETSC_MAX_PATH_LEN];
  PetscBool set;
  PetscInt  n;
  MatInfo   info;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-A", file, sizeof(file), &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Give the matrix: -A <file>");
  PetscCall(ReadMatrix(file, &app->A));
  PetscCall(MatGetSize(app->A, &n, NULL));
  PetscCall(MatGetInfo(app->A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatIsSymmetric(app->A, 1e-12, &app->symmetric));
  PetscCall(MatSetOption(app->A, MAT_SYMMETRIC, app->symmetric));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " rows, %.0f entries, %s\n", n, info.nz_used, app->symmetric ? "symmetric" : "not symmetric"));
  PetscCall(FindNullSpace(app->A, file));
  PetscCall(CreateVector(app->A, &app->x));
  PetscCall(CreateVector(app->A, &app->r));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-b", file, sizeof(file), &set));
  if (set) PetscCall(ReadVector(file, app->A, &app->b));
  else {
    PetscCall(CreateVector(app->A, &app->b));
    PetscCall(VecSetRandom(app->x, NULL));
    PetscCall(MatMult(app->A, app->x, app->b));
  }
  PetscCall(VecNorm(app->b, NORM_2, &app->nb));
  PetscCheck(app->nb > 0.0, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "The right-hand side is zero: nothing to solve");
  PetscCall(ComposeFiles(app->A));
  PetscFunctionReturn(0);
}
