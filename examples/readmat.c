static char help[] = "Compares solvers on a system from files.\n"
                     "  -A <file> : matrix, PETSc binary or Matrix Market (coordinate, real|integer|pattern, general|symmetric)\n"
                     "  -b <file> : right-hand side, PETSc binary or Matrix Market array; default: A times a random vector\n"
                     "  -levelset <file> : vector, positive in the inclusions; -labels <file> : vector or index set, one deflation vector for each number\n"
                     "  -grid <nx,ny,nz> : the rows are the points of a grid in natural order, x fastest\n"
                     "  -solvers <file> : lines 'name: options'; default: a choice that depends on the symmetry of A\n"
                     "  -solver <n> : runs only this line of the comparison; -rtol <t> : relative to the norm of b; -timings <bool>\n\n";

/*
  For instance, with the matrix of another example:

    ./bubbles -dim 2 -n 64 -bubbles 16 -write /tmp/bub -ksp_max_it 1
    ./readmat -A /tmp/bub_A -b /tmp/bub_b -levelset /tmp/bub_levelset

  Solver k of the comparison has the prefix s<k>_, so that -s1_ksp_monitor or -s3_ksp_view act on one of them. This program is linked with the
  library, so that it needs no -dll_append. Solvers reach the level set and the labels through the names under which they are composed on the matrix.
*/

#include <polder.h>
#include <ctype.h>

#define MAX_SOLVERS 64

typedef struct {
  char *name, *options;
} Solver;

typedef struct {
  Mat       A;
  Vec       b, x, r;
  PetscBool symmetric, timings;
  PetscReal rtol, nb;
  PetscInt  n;
  Solver    solver[MAX_SOLVERS];
} App;

/* The comparison when no -solvers file is given */
static const char *const symmetricsolvers[] = {
  "cg jacobi: -ksp_type cg -pc_type jacobi",
  "cg tns: -ksp_type cg -pc_type tns",
  "cg icc: -ksp_type cg -pc_type bjacobi -sub_pc_type icc",
  "cg gamg: -ksp_type cg -pc_type gamg",
  "cg levelset tns: -ksp_type cg -pc_type levelset -levelset_pc_type tns",
  "dcg jacobi: -ksp_type dcg -pc_type jacobi",
  "dcg tns: -ksp_type dcg -pc_type tns",
  "dcg icc: -ksp_type dcg -pc_type bjacobi -sub_pc_type icc",
  NULL,
};
static const char *const generalsolvers[] = {
  "gmres ilu: -ksp_type gmres -ksp_pc_side right -pc_type bjacobi -sub_pc_type ilu",
  "bcgs ilu: -ksp_type bcgs -pc_type bjacobi -sub_pc_type ilu",
  "bcgs jacobi: -ksp_type bcgs -pc_type jacobi",
  "gmres gamg: -ksp_type gmres -ksp_pc_side right -pc_type gamg",
  NULL,
};

/* ------------------------------------------------ files ------------------------------------------------ */

/* Rank 0 reads and may find a fault: all processes stop with its words */
static PetscErrorCode CheckAll(char message[256])
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(message, 256, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s", message);
  PetscFunctionReturn(0);
}

typedef enum {
  FILE_MM,
  FILE_MAT,
  FILE_VEC,
  FILE_IS
} FileKind;

/* What a file holds, by its first bytes; a PETSc binary file that is shorter than its header says is damaged */
static PetscErrorCode GetFileKind(const char file[], FileKind *kind)
{
  char        message[256] = "", first[4] = {0};
  int         k = FILE_MM, fd;
  PetscInt    head[4], got = 0;
  off_t       need = 0, have;
  PetscMPIInt rank;
  FILE       *fp;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    fp = fopen(file, "rb");
    if (!fp) PetscCall(PetscSNPrintf(message, sizeof(message), "Cannot open %s: give the path of a file that exists", file));
    else {
      const PetscBool mm = (PetscBool)(fread(first, 1, 4, fp) == 4 && !memcmp(first, "%%Ma", 4));

      fclose(fp);
      if (!mm) {
        PetscCall(PetscBinaryOpen(file, FILE_MODE_READ, &fd));
        PetscCall(PetscBinaryRead(fd, head, 4, &got, PETSC_INT));
        PetscCall(PetscBinarySeek(fd, 0, PETSC_BINARY_SEEK_END, &have));
        PetscCall(PetscBinaryClose(fd));
        if (got >= 4 && head[0] == MAT_FILE_CLASSID) {
          k = FILE_MAT;
          if (head[3] >= 0) need = (off_t)(4 + head[1] + head[3]) * (off_t)sizeof(PetscInt) + (off_t)head[3] * (off_t)sizeof(PetscScalar);
        } else if (got >= 2 && head[0] == VEC_FILE_CLASSID) {
          k    = FILE_VEC;
          need = 2 * (off_t)sizeof(PetscInt) + (off_t)head[1] * (off_t)sizeof(PetscScalar);
        } else if (got >= 2 && head[0] == IS_FILE_CLASSID) {
          k    = FILE_IS;
          need = (2 + (off_t)head[1]) * (off_t)sizeof(PetscInt);
        } else PetscCall(PetscSNPrintf(message, sizeof(message), "%s is neither a PETSc binary file nor a Matrix Market file", file));
        if (have < need) PetscCall(PetscSNPrintf(message, sizeof(message), "%s is damaged: its header asks for %lld bytes and it has %lld", file, (long long)need, (long long)have));
      }
    }
  }
  PetscCall(CheckAll(message));
  PetscCallMPI(MPI_Bcast(&k, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  *kind = (FileKind)k;
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ Matrix Market ------------------------------------------------ */

typedef struct {
  FILE       *fp;
  const char *file;
  char       *line;
  size_t      room;
  long        number; /* of the line */
  char        message[256];
} Reader;

/* The next line that is neither empty nor a comment; FALSE at the end of the file */
static PetscBool NextLine(Reader *in)
{
  while (getline(&in->line, &in->room, in->fp) >= 0) {
    const char *c = in->line;

    ++in->number;
    while (isspace((unsigned char)*c)) ++c;
    if (*c && *c != '%') return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Reads ni integers and then nr reals; anything else on the line is a fault */
static PetscBool Numbers(Reader *in, int ni, long long i[], int nr, double v[])
{
  char *c = in->line, *end;

  for (int k = 0; k < ni + nr; ++k) {
    if (k < ni) i[k] = strtoll(c, &end, 10);
    else v[k - ni] = strtod(c, &end);
    if (end == c || (k >= ni && !isfinite(v[k - ni]))) return PETSC_FALSE;
    c = end;
  }
  while (isspace((unsigned char)*c)) ++c;
  return (PetscBool) !*c;
}

static void Fault(Reader *in, const char words[])
{
  if (!in->message[0]) snprintf(in->message, sizeof(in->message), "%s is damaged, line %ld: %s", in->file, in->number, words);
}

/* The first line: format coordinate or array, and whether values and symmetry are there */
static PetscBool Banner(Reader *in, const char format[], PetscBool *pattern, PetscBool *symmetric)
{
  char word[4][32] = {"", "", "", ""};

  if (getline(&in->line, &in->room, in->fp) >= 0) sscanf(in->line, "%%%%MatrixMarket %31s %31s %31s %31s", word[0], word[1], word[2], word[3]);
  in->number = 1;
  for (int w = 0; w < 4; ++w) {
    for (char *c = word[w]; *c; ++c) *c = (char)tolower((unsigned char)*c);
  }
  *pattern   = (PetscBool)!strcmp(word[2], "pattern");
  *symmetric = (PetscBool)!strcmp(word[3], "symmetric");
  if (strcmp(word[0], "matrix") || strcmp(word[1], format) || (strcmp(word[2], "real") && strcmp(word[2], "integer") && !*pattern) || (strcmp(word[3], "general") && !*symmetric)) {
    snprintf(in->message, sizeof(in->message), "%s: '%s %s %s %s' cannot be read here: use matrix %s real|integer%s general|symmetric", in->file, word[0], word[1], word[2], word[3], format, strcmp(format, "array") ? "|pattern" : "");
    return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Entries of a coordinate file on this process, the missing half of a symmetric one included */
static PetscErrorCode ReadEntries(Reader *in, PetscInt *n, PetscCount *nz, PetscInt **row, PetscInt **col, PetscScalar **val)
{
  PetscBool pattern, symmetric;
  long long size[3], at[2];
  double    v = 1.0;

  PetscFunctionBegin;
  *nz = 0;
  if (!Banner(in, "coordinate", &pattern, &symmetric)) PetscFunctionReturn(0);
  if (!NextLine(in) || !Numbers(in, 3, size, 0, NULL) || size[0] < 1 || size[1] < 1 || size[2] < 0 || (PetscInt)size[0] != size[0] || (PetscInt)(2 * size[2]) != 2 * size[2]) {
    Fault(in, "the line with rows, columns and entries is missing, wrong or too large");
    PetscFunctionReturn(0);
  }
  if (size[0] != size[1]) {
    snprintf(in->message, sizeof(in->message), "%s holds a matrix of %lld x %lld: solvers need a square one", in->file, size[0], size[1]);
    PetscFunctionReturn(0);
  }
  *n = (PetscInt)size[0];
  PetscCall(PetscMalloc3(2 * size[2], row, 2 * size[2], col, 2 * size[2], val));
  for (long long k = 0; k < size[2] && !in->message[0]; ++k) {
    if (!NextLine(in)) {
      snprintf(in->message, sizeof(in->message), "%s is damaged: it promises %lld entries and ends after %lld", in->file, size[2], k);
    } else if (!Numbers(in, 2, at, pattern ? 0 : 1, &v)) Fault(in, pattern ? "not two integers" : "not two integers and a finite number");
    else if (at[0] < 1 || at[0] > size[0] || at[1] < 1 || at[1] > size[1]) Fault(in, "an index lies outside the matrix");
    else if (symmetric && at[0] < at[1]) Fault(in, "a symmetric file holds entries on and below the diagonal only");
    else {
      for (int half = 0; half < (symmetric && at[0] != at[1] ? 2 : 1); ++half) {
        (*row)[*nz] = (PetscInt)at[half] - 1;
        (*col)[*nz] = (PetscInt)at[1 - half] - 1;
        (*val)[*nz] = v;
        *nz += 1;
      }
    }
  }
  if (!in->message[0] && NextLine(in)) Fault(in, "more entries than the file promises");
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadMatrixMarket(const char file[], Mat A)
{
  Reader       in  = {.file = file};
  PetscInt     n   = 0, *row, *col;
  PetscScalar *val = NULL;
  PetscCount   nz  = 0;
  PetscMPIInt  rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    in.fp = fopen(file, "r");
    if (!in.fp) PetscCall(PetscSNPrintf(in.message, sizeof(in.message), "Cannot open %s", file));
    else PetscCall(ReadEntries(&in, &n, &nz, &row, &col, &val));
    if (in.fp) fclose(in.fp);
    free(in.line);
  }
  PetscCall(CheckAll(in.message));
  PetscCallMPI(MPI_Bcast(&n, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  if (!val) PetscCall(PetscMalloc3(0, &row, 0, &col, 0, &val));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetPreallocationCOO(A, nz, row, col));
  PetscCall(MatSetValuesCOO(A, val, INSERT_VALUES));
  PetscCall(PetscFree3(row, col, val));
  PetscFunctionReturn(0);
}

/* A vector from an array file with one column */
static PetscErrorCode ReadArray(const char file[], Vec v)
{
  Reader      in = {.file = file};
  PetscBool   pattern, symmetric;
  long long   size[2];
  double      value;
  PetscInt    N;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &N));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    in.fp = fopen(file, "r");
    if (!in.fp) PetscCall(PetscSNPrintf(in.message, sizeof(in.message), "Cannot open %s", file));
    else if (Banner(&in, "array", &pattern, &symmetric)) {
      if (!NextLine(&in) || !Numbers(&in, 2, size, 0, NULL)) Fault(&in, "the line with rows and columns is missing or wrong");
      else if (size[0] != N || size[1] != 1) snprintf(in.message, sizeof(in.message), "%s holds %lld x %lld numbers: the matrix needs %lld x 1", file, size[0], size[1], (long long)N);
      for (PetscInt i = 0; i < N && !in.message[0]; ++i) {
        if (!NextLine(&in)) snprintf(in.message, sizeof(in.message), "%s is damaged: it promises %lld numbers and ends after %lld", file, (long long)N, (long long)i);
        else if (!Numbers(&in, 0, NULL, 1, &value)) Fault(&in, "not one finite number");
        else PetscCall(VecSetValue(v, i, value, INSERT_VALUES));
      }
      if (!in.message[0] && NextLine(&in)) Fault(&in, "more numbers than the file promises");
    }
    if (in.fp) fclose(in.fp);
    free(in.line);
  }
  PetscCall(CheckAll(in.message));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ the system ------------------------------------------------ */

static PetscErrorCode ReadMatrix(const char file[], Mat *A)
{
  FileKind    kind;
  PetscViewer viewer;
  PetscInt    m, n;

  PetscFunctionBegin;
  PetscCall(GetFileKind(file, &kind));
  PetscCheck(kind == FILE_MM || kind == FILE_MAT, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "-A %s holds a vector or an index set, not a matrix", file);
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  if (kind == FILE_MM) PetscCall(ReadMatrixMarket(file, *A));
  else {
    PetscCall(MatSetFromOptions(*A));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(MatLoad(*A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscCall(MatGetSize(*A, &m, &n));
  PetscCheck(m == n, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "%s holds a matrix of %" PetscInt_FMT " x %" PetscInt_FMT ": solvers need a square one", file, m, n);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateVector(Mat A, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, v));
  PetscCall(VecSetFromOptions(*v));
  PetscFunctionReturn(0);
}

/* A vector with the layout of the rows of A, from a vector or a file of numbers */
static PetscErrorCode ReadVector(const char file[], FileKind kind, Mat A, Vec *v)
{
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCheck(kind == FILE_MM || kind == FILE_VEC, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "%s does not hold a vector", file);
  PetscCall(CreateVector(A, v));
  if (kind == FILE_MM) PetscCall(ReadArray(file, *v));
  else {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(*v, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadLabels(const char file[], Mat A, IS *labels)
{
  FileKind           kind;
  PetscViewer        viewer;
  PetscLayout        layout;
  Vec                v;
  PetscInt           n, *label;
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(GetFileKind(file, &kind));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  if (kind == FILE_IS) {
    PetscCall(ISCreate(PETSC_COMM_WORLD, labels));
    PetscCall(ISSetType(*labels, ISGENERAL));
    PetscCall(ISGetLayout(*labels, &layout));
    PetscCall(PetscLayoutSetLocalSize(layout, n));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(ISLoad(*labels, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscFunctionReturn(0);
  }
  PetscCall(ReadVector(file, kind, A, &v));
  PetscCall(PetscMalloc1(n, &label));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = 0; i < n; ++i) label[i] = (PetscInt)PetscFloorReal(PetscRealPart(a[i]) + 0.5);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(VecDestroy(&v));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, n, label, PETSC_OWN_POINTER, labels));
  PetscFunctionReturn(0);
}

/* The constant vector belongs to the kernel where A times it vanishes to rounding */
static PetscErrorCode FindNullSpace(Mat A)
{
  MatNullSpace nsp;
  Vec          one, y;
  PetscReal    norm, anorm;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &one, &y));
  PetscCall(VecSet(one, 1.0));
  PetscCall(MatMult(A, one, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(MatNorm(A, NORM_INFINITY, &anorm));
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

static PetscErrorCode ReadSystem(App *app)
{
  char      file[PETSC_MAX_PATH_LEN];
  PetscBool set;
  PetscInt  n;
  FileKind  kind;
  MatInfo   info;
  Vec       levelset;
  IS        labels;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-A", file, sizeof(file), &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Give the matrix: -A <file>");
  PetscCall(ReadMatrix(file, &app->A));
  PetscCall(MatGetSize(app->A, &n, NULL));
  PetscCall(MatGetInfo(app->A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatIsSymmetric(app->A, 1e-12, &app->symmetric));
  PetscCall(MatSetOption(app->A, MAT_SYMMETRIC, app->symmetric));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " rows, %.0f entries, %s\n", n, info.nz_used, app->symmetric ? "symmetric" : "not symmetric"));
  PetscCall(FindNullSpace(app->A));
  PetscCall(CreateVector(app->A, &app->x));
  PetscCall(CreateVector(app->A, &app->r));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-b", file, sizeof(file), &set));
  if (set) {
    PetscCall(GetFileKind(file, &kind));
    PetscCall(ReadVector(file, kind, app->A, &app->b));
  } else {
    PetscCall(CreateVector(app->A, &app->b));
    PetscCall(VecSetRandom(app->x, NULL));
    PetscCall(MatMult(app->A, app->x, app->b));
  }
  PetscCall(VecNorm(app->b, NORM_2, &app->nb));
  PetscCheck(app->nb > 0.0, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "The right-hand side is zero: nothing to solve");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-levelset", file, sizeof(file), &set));
  if (set) {
    PetscCall(GetFileKind(file, &kind));
    PetscCall(ReadVector(file, kind, app->A, &levelset));
    PetscCall(PetscObjectCompose((PetscObject)app->A, "levelset", (PetscObject)levelset));
    PetscCall(VecDestroy(&levelset));
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-labels", file, sizeof(file), &set));
  if (set) {
    PetscCall(ReadLabels(file, app->A, &labels));
    PetscCall(PetscObjectCompose((PetscObject)app->A, "deflation_labels", (PetscObject)labels));
    PetscCall(ISDestroy(&labels));
  }
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ the comparison ------------------------------------------------ */

static PetscErrorCode AddSolver(App *app, const char line[])
{
  const char *colon = strchr(line, ':');
  char       *end;

  PetscFunctionBegin;
  while (isspace((unsigned char)*line)) ++line;
  if (!*line || *line == '#') PetscFunctionReturn(0);
  PetscCheck(colon, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "A line of the -solvers file is 'name: options', not '%s'", line);
  PetscCheck(app->n < MAX_SOLVERS, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "More than %d solvers", MAX_SOLVERS);
  PetscCall(PetscStrallocpy(line, &app->solver[app->n].name));
  end  = strchr(app->solver[app->n].name, ':');
  *end = 0;
  PetscCall(PetscStrallocpy(colon + 1, &app->solver[app->n].options));
  ++app->n;
  PetscFunctionReturn(0);
}

static PetscErrorCode GetSolvers(App *app)
{
  char      file[PETSC_MAX_PATH_LEN], line[1024];
  PetscBool set;
  FILE     *fp;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solvers", file, sizeof(file), &set));
  if (!set) {
    for (const char *const *s = app->symmetric ? symmetricsolvers : generalsolvers; *s; ++s) PetscCall(AddSolver(app, *s));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "r", &fp));
  while (PETSC_TRUE) {
    PetscCall(PetscSynchronizedFGets(PETSC_COMM_WORLD, fp, sizeof(line), line));
    if (!line[0]) break;
    line[strcspn(line, "\r\n")] = 0;
    PetscCall(AddSolver(app, line));
  }
  PetscCall(PetscFClose(PETSC_COMM_WORLD, fp));
  PetscFunctionReturn(0);
}

/* Gives the options of a solver its prefix; what the user typed with the prefix stays */
static PetscErrorCode InsertOptions(const char prefix[], const char options[])
{
  char    **word, name[256];
  int       n;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(options, ' ', &n, &word));
  for (int k = 0; k < n; ++k) {
    const PetscBool value = (PetscBool)(k + 1 < n && !(word[k + 1][0] == '-' && isalpha((unsigned char)word[k + 1][1])));

    PetscCheck(word[k][0] == '-', PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "'%s' in '%s' is not an option: options begin with -", word[k], options);
    PetscCall(PetscSNPrintf(name, sizeof(name), "-%s%s", prefix, word[k] + 1));
    PetscCall(PetscOptionsHasName(NULL, NULL, name, &set));
    if (!set) PetscCall(PetscOptionsSetValue(NULL, name, value ? word[k + 1] : NULL));
    if (value) ++k;
  }
  PetscCall(PetscStrToArrayDestroy(n, word));
  PetscFunctionReturn(0);
}

/* Deflation vectors in use, 0 for a solver without */
static PetscErrorCode CountVectors(KSP ksp, PetscInt *d)
{
  PolderDeflationSpace space = NULL;
  PC                   pc;
  PetscBool            isdcg, islevelset;

  PetscFunctionBegin;
  *d = 0;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPDCG, &isdcg));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLEVELSET, &islevelset));
  if (isdcg) PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  else if (islevelset) PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  if (space) PetscCall(PolderDeflationSpaceGetSize(space, d));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveOne(App *app, KSP ksp, PetscLogDouble t[3])
{
  PetscFunctionBegin;
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&t[0]));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(PetscTime(&t[1]));
  PetscCall(KSPSolve(ksp, app->b, app->x));
  PetscCall(PetscTime(&t[2]));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunSolver(App *app, PetscInt k, PetscBool alone)
{
  KSP                ksp;
  PetscErrorCode     ierr = (PetscErrorCode)0;
  PetscLogDouble     t[3];
  char               prefix[16], grid[64];
  PetscBool          set;
  KSPConvergedReason reason;
  PetscInt           its, d;
  PetscReal          nr;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "s%" PetscInt_FMT "_", k + 1));
  PetscCall(InsertOptions(prefix, app->solver[k].options));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-grid", grid, sizeof(grid), &set));
  if (set && (strstr(app->solver[k].options, "dcg") || strstr(app->solver[k].options, "levelset"))) {
    char option[128];

    PetscCall(PetscSNPrintf(option, sizeof(option), "-deflation_grid %s", grid));
    PetscCall(InsertOptions(prefix, option));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPSetOperators(ksp, app->A, app->A));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, app->rtol, PETSC_DEFAULT, PETSC_DEFAULT, 20000));
  PetscCall(VecSet(app->x, 0.0));
  if (alone) PetscCall(SolveOne(app, ksp, t));
  else {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = SolveOne(app, ksp, t);
    PetscCall(PetscPopErrorHandler());
  }
  if (ierr) {
    const char *text;

    PetscCall(PetscErrorMessage(ierr, &text, NULL));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-20s stopped with an error: %s; -solver %" PetscInt_FMT " runs it alone and shows where\n", app->solver[k].name, text ? text : "", k + 1));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    (void)!KSPDestroy(&ksp); /* a solver that is half made may fail here again */
    PetscCall(PetscPopErrorHandler());
    PetscFunctionReturn(0);
  }
  PetscCall(MatMult(app->A, app->x, app->r));
  PetscCall(VecAYPX(app->r, -1.0, app->b));
  PetscCall(VecNorm(app->r, NORM_2, &nr));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(CountVectors(ksp, &d));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-20s %-24s %6" PetscInt_FMT " %9.2e %7" PetscInt_FMT, app->solver[k].name, KSPConvergedReasons[reason], its, (double)(nr / app->nb), d));
  if (app->timings) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %10.4f %10.4f", t[1] - t[0], t[2] - t[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  App      app  = {.timings = PETSC_TRUE, .rtol = 1e-6};
  PetscInt only = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &app.rtol, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-timings", &app.timings, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solver", &only, NULL));
  PetscCall(ReadSystem(&app));
  PetscCall(GetSolvers(&app));
  PetscCheck(only >= 0 && only <= app.n, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-solver %" PetscInt_FMT ": there are %" PetscInt_FMT " solvers", only, app.n);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-20s %-24s %6s %9s %7s%s\n", "solver", "reason", "its", "true res", "vectors", app.timings ? "   set-up s    solve s" : ""));
  for (PetscInt k = 0; k < app.n; ++k) {
    if (!only || only == k + 1) PetscCall(RunSolver(&app, k, (PetscBool)(only > 0)));
  }
  for (PetscInt k = 0; k < app.n; ++k) {
    PetscCall(PetscFree(app.solver[k].name));
    PetscCall(PetscFree(app.solver[k].options));
  }
  PetscCall(VecDestroy(&app.x));
  PetscCall(VecDestroy(&app.r));
  PetscCall(VecDestroy(&app.b));
  PetscCall(MatDestroy(&app.A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    load: no
    args: -timings false

    test:
      suffix: mm
      nsize: {{1 2}}
      args: -A ${POLDER_TESTS}/data/laplacian.mtx -b ${POLDER_TESTS}/data/rhs.mtx -solvers ${POLDER_TESTS}/data/solvers.txt
      filter: sed -E -e "/^.[ 0-9]+. [0-9]+ bytes/d" -e "s/ [0-9][.][0-9]+e-[0-9]+/ residual/" -e "s/an error: .+/an error/"

    test:
      suffix: general
      requires: !gpu
      args: -A ${POLDER_TESTS}/data/general.mtx
      filter: awk "{print \$1, \$2, \$3}"

    test:
      suffix: pattern
      args: -A ${POLDER_TESTS}/data/pattern.mtx -solver 1
      filter: awk "{print \$1, \$2, \$3}"

    test:
      suffix: labels
      nsize: {{1 2}}
      args: -A ${POLDER_TESTS}/data/laplacian.mtx -labels ${POLDER_TESTS}/data/labels.mtx -solver 6 -s6_deflation_space user
      filter: awk "{print \$1, \$2, \$3, \$6}"

    test:
      suffix: short
      nsize: 2
      args: -A ${POLDER_TESTS}/data/short.mtx
      fails: short.mtx is damaged: it promises 83 entries and ends after 81

    test:
      suffix: index
      nsize: 2
      args: -A ${POLDER_TESTS}/data/index.mtx
      fails: an index lies outside the matrix

    test:
      suffix: word
      args: -A ${POLDER_TESTS}/data/word.mtx
      fails: line 5: not two integers and a finite number

    test:
      suffix: rectangular
      args: -A ${POLDER_TESTS}/data/rectangular.mtx
      fails: solvers need a square one

    test:
      suffix: complex
      args: -A ${POLDER_TESTS}/data/complex.mtx
      fails: use matrix coordinate real|integer|pattern general|symmetric

    test:
      suffix: kind
      args: -A ${POLDER_TESTS}/data/solvers.txt
      fails: is neither a PETSc binary file nor a Matrix Market file

    test:
      suffix: missing
      nsize: 2
      args: -A no_such_file
      fails: Cannot open no_such_file: give the path of a file that exists

TEST*/
