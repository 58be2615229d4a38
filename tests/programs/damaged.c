static char help[] = "Damaged files for the readers of readmat.c: each is refused with a sentence that names it, on all processes, or read as it is.\n"
                     "  -cases <n> : files with random damage, of each kind; -every <n> : only one in so many\n\n";

#include "../../examples/readmat/readmat.h"
#include <petscviewer.h>
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES 4096
#define MAX_ROWS  64

typedef enum {
  AS_MATRIX,
  AS_VECTOR,
  AS_LABELS
} As;

/* What a file holds by the naive reading of this test */
typedef struct {
  long long n;
  double    entry[MAX_ROWS * MAX_ROWS]; /* of a matrix by rows, or the numbers of a vector */
} Content;

typedef struct {
  const char   *name;
  As            as;
  PetscBool     text;
  size_t        length;
  unsigned char bytes[MAX_BYTES];
} File;

typedef struct {
  Mat         A; /* gives vectors their layout */
  PetscMPIInt rank;
  FILE       *file; /* kept open: a disk would be waited for whenever it is closed */
  PetscInt    every, count, refused, read;
} Test;

static const char *const market[][2] = {
  {"general",   "%%MatrixMarket matrix coordinate real general\n% six rows\n6 6 11\n1 1 4.5\n2 2 4\n3 3 4e0\n4 4 4\n5 5 +4\n6 6 4\n\n1 2 -1\n2 1 -1\n3 6 "
              "-0.25\n5 4 .5\n6 1 -1\n"                                                                                                        },
  {"symmetric", "%%MatrixMarket matrix coordinate integer symmetric\r\n5 5 8\r\n1 1 4\r\n2 2 4\r\n3 3 4\r\n4 4 4\r\n5 5 4\r\n2 1 -1\r\n5 3 -1\r\n5 4 -1\r\n"},
  {"pattern",   "%%MatrixMarket matrix coordinate pattern general\n4 4 6\n1 1\n2 2\n3 3\n4 4\n1 4\n3 2\n"                                                   },
  {"array",     "%%MatrixMarket matrix array real general\n% numbers\n6 1\n1\n-2.5\n3e1\n0\n5\n6"                                                           },
};

/* ------------------------------------------------ what the bytes mean ------------------------------------------------ */

static long long Integer(const unsigned char **at)
{
  unsigned long long v = (**at & 0x80) ? ~0ULL : 0;

  for (size_t k = 0; k < sizeof(PetscInt); ++k) v = v << 8 | *(*at)++;
  return (long long)v;
}

static double Real(const unsigned char **at)
{
  unsigned char swapped[sizeof(PetscReal)];
  PetscReal     v;

  for (size_t k = 0; k < sizeof(PetscReal); ++k) swapped[sizeof(PetscReal) - 1 - k] = *(*at)++;
  memcpy(&v, swapped, sizeof(v));
  return (double)v;
}

static PetscBool MeaningOfBinary(const File *f, Content *c)
{
  const unsigned char *at     = f->bytes, *rows, *columns, *values;
  const size_t         ints[] = {4, 2, 2};
  long long            id, nz = 0, sum = 0;

  if (f->length < ints[f->as] * sizeof(PetscInt)) return PETSC_FALSE;
  id   = Integer(&at);
  c->n = Integer(&at);
  if (id != (f->as == AS_MATRIX ? MAT_FILE_CLASSID : f->as == AS_VECTOR ? VEC_FILE_CLASSID : IS_FILE_CLASSID) || c->n < 0 || c->n > MAX_ROWS)
    return PETSC_FALSE;
  if (f->as != AS_MATRIX) {
    const size_t size = f->as == AS_VECTOR ? sizeof(PetscReal) : sizeof(PetscInt);

    if ((size_t)(f->bytes + f->length - at) < (size_t)c->n * size) return PETSC_FALSE;
    for (long long i = 0; i < c->n; ++i) {
      c->entry[i] = f->as == AS_VECTOR ? Real(&at) : (double)Integer(&at);
      if (!isfinite(c->entry[i])) return PETSC_FALSE;
    }
    return PETSC_TRUE;
  }
  if (Integer(&at) != c->n || !c->n) return PETSC_FALSE;
  nz = Integer(&at);
  if (nz < 0 || nz > MAX_BYTES || f->length < (size_t)(4 + c->n + nz) * sizeof(PetscInt) + (size_t)nz * sizeof(PetscReal)) return PETSC_FALSE;
  rows    = at;
  columns = rows + (size_t)c->n * sizeof(PetscInt);
  values  = columns + (size_t)nz * sizeof(PetscInt);
  for (long long i = 0; i < c->n; ++i) {
    const long long m    = Integer(&rows);
    long long       last = -1;

    sum += m;
    if (m < 0 || sum > nz) return PETSC_FALSE;
    for (long long k = 0; k < m; ++k) {
      const long long j = Integer(&columns);
      const double    v = Real(&values);

      if (j <= last || j >= c->n || !isfinite(v)) return PETSC_FALSE;
      c->entry[i * c->n + j] = v;
      last                   = j;
    }
  }
  return (PetscBool)(sum == nz);
}

/* The words of a text file that are no comments; damage may leave few of them */
static PetscBool MeaningOfText(const File *f, Content *c)
{
  char            copy[MAX_BYTES + 1], format[32], field[32], shape[32], *save = NULL, *line, *end;
  const PetscBool matrix = (PetscBool)(f->as == AS_MATRIX);
  long long       size[3], left = -1, i, j, k = 0;

  memcpy(copy, f->bytes, f->length);
  copy[f->length] = 0;
  if (strlen(copy) < f->length || sscanf(copy, "%%%%MatrixMarket %*s %31s %31s %31s", format, field, shape) != 3) return PETSC_FALSE;
  for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    while (isspace((unsigned char)*line)) ++line;
    if (!*line || *line == '%') continue;
    if (left < 0) {
      if (sscanf(line, "%lld %lld %lld", &size[0], &size[1], &size[2]) < (matrix ? 3 : 2)) return PETSC_FALSE;
      left = matrix ? size[2] : size[0];
      c->n = size[0];
      if (c->n < 1 || c->n > MAX_ROWS || (matrix && size[1] != c->n)) return PETSC_FALSE;
      continue;
    }
    if (!left--) return PETSC_FALSE;
    if (!matrix) {
      c->entry[k++] = strtod(line, NULL);
      continue;
    }
    i = strtoll(line, &end, 10) - 1;
    j = strtoll(end, &end, 10) - 1;
    if (i < 0 || j < 0 || i >= c->n || j >= c->n) return PETSC_FALSE;
    {
      const double v = strcasecmp(field, "pattern") ? strtod(end, NULL) : 1.0;

      c->entry[i * c->n + j] += v;
      if (i != j && !strcasecmp(shape, "symmetric")) c->entry[j * c->n + i] += v;
    }
  }
  return (PetscBool)!left;
}

/* ------------------------------------------------ what the program reads ------------------------------------------------ */

static char           said[4096];
static PetscErrorCode saiderror;

/* Keeps the words where an error begins */
static PetscErrorCode Keep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode error, PetscErrorType type, const char *words,
                           void *ctx)
{
  (void)comm, (void)line, (void)function, (void)file, (void)ctx;
  if (type == PETSC_ERROR_INITIAL) {
    saiderror = error;
    snprintf(said, sizeof(said), "%s", words);
  }
  return error;
}

static PetscErrorCode CompareMatrix(Mat A, const Content *c, PetscBool *same)
{
  PetscInt M, N, first, last;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  *same = (PetscBool)(M == c->n && N == c->n);
  if (!*same) PetscFunctionReturn(0);
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    for (PetscInt j = 0; j < N; ++j) {
      PetscScalar v;

      PetscCall(MatGetValue(A, i, j, &v));
      if (PetscAbsScalar(v - c->entry[i * N + j]) > 1e-14 * PetscAbsReal(c->entry[i * N + j])) *same = PETSC_FALSE;
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CompareNumbers(Mat A, Vec v, IS labels, const Content *c, PetscBool *same)
{
  const PetscScalar *a = NULL;
  const PetscInt    *l = NULL;
  PetscInt           N, first, last;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  *same = (PetscBool)(N == c->n);
  if (v) PetscCall(VecGetArrayRead(v, &a));
  else PetscCall(ISGetIndices(labels, &l));
  for (PetscInt i = first; i < last && *same; ++i) *same = (PetscBool)((v ? (double)PetscRealPart(a[i - first]) : (double)l[i - first]) == c->entry[i]);
  if (v) PetscCall(VecRestoreArrayRead(v, &a));
  else PetscCall(ISRestoreIndices(labels, &l));
  PetscFunctionReturn(0);
}

/* Writes the file, lets all processes read it, and checks what became of it */
static PetscErrorCode Try(Test *t, const File *f, const char damage[], long long place)
{
  Content        c      = {0};
  Mat            A      = NULL;
  Vec            v      = NULL;
  IS             labels = NULL;
  PetscErrorCode error;
  PetscBool      same = PETSC_TRUE, meaning;
  int            here[2], all[2];

  PetscFunctionBegin;
  if (t->count++ % t->every) PetscFunctionReturn(0);
  if (t->rank == 0) {
    rewind(t->file);
    PetscCheck(fwrite(f->bytes, 1, f->length, t->file) == f->length && !fflush(t->file) && !ftruncate(fileno(t->file), (off_t)f->length), PETSC_COMM_SELF,
               PETSC_ERR_FILE_WRITE, "Cannot write");
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  said[0] = 0;
  PetscCall(PetscPushErrorHandler(Keep, NULL));
  if (f->as == AS_MATRIX) error = ReadMatrix("damaged", &A);
  else if (f->as == AS_VECTOR) error = ReadVector("damaged", t->A, &v);
  else error = ReadLabels("damaged", t->A, &labels);
  PetscCall(PetscPopErrorHandler());
  here[0] = error ? 1 : 0;
  here[1] = -here[0];
  PetscCallMPI(MPI_Allreduce(here, all, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCheck(all[0] == -all[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s %lld: some processes read it and others do not", f->name, damage, place);
  meaning = f->text ? MeaningOfText(f, &c) : MeaningOfBinary(f, &c);
  if (error) {
    t->refused++;
    PetscCheck((saiderror == PETSC_ERR_FILE_READ || saiderror == PETSC_ERR_FILE_UNEXPECTED) && strstr(said, "damaged"), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, %s %lld: refused with '%s'", f->name, damage, place, said);
    PetscCheck(f->text || !meaning || (f->as != AS_MATRIX && strstr(said, "rows")), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, %s %lld: nothing is wrong with it, but '%s'", f->name, damage, place, said);
  } else {
    t->read++;
    if (meaning && f->as == AS_MATRIX) PetscCall(CompareMatrix(A, &c, &same));
    else if (meaning) PetscCall(CompareNumbers(t->A, v, labels, &c, &same));
    PetscCheck(meaning && same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s %lld: read, but not what the file holds", f->name, damage, place);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&v));
  PetscCall(ISDestroy(&labels));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ damage ------------------------------------------------ */

static PetscErrorCode Damage(Test *t, const File *whole, PetscInt cases)
{
  static const unsigned char mask[] = {0x01, 0x02, 0x10, 0x40, 0x7f, 0x80, 0xff}, letter[] = "0179-.e% \n\r";
  unsigned long              state = 12345;
  File                       f;

  PetscFunctionBegin;
  PetscCall(Try(t, whole, "whole", 0));
  PetscCheck(t->read == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s is whole, but '%s'", whole->name, said);
  for (size_t n = 0; n < whole->length; ++n) {
    f        = *whole;
    f.length = n;
    PetscCall(Try(t, &f, "length", (long long)n));
    for (size_t m = 0; m < sizeof(mask); ++m) {
      f = *whole;
      f.bytes[n] ^= mask[m];
      PetscCall(Try(t, &f, "byte", (long long)n));
    }
    for (size_t m = 0; whole->text && m < sizeof(letter); ++m) {
      f          = *whole;
      f.bytes[n] = letter[m];
      PetscCall(Try(t, &f, "letter", (long long)n));
    }
  }
  /* a few bytes, and a part of the file in another place */
  for (PetscInt k = 0; k < cases; ++k) {
    f = *whole;
    for (int r = 0; r < 3; ++r) {
      state                                  = state * 6364136223846793005UL + 1442695040888963407UL;
      f.bytes[(state >> 33) % whole->length] = (k & 1) ? whole->bytes[(state >> 20) % whole->length] : (unsigned char)(state >> 48);
    }
    PetscCall(Try(t, &f, "random", (long long)k));
  }
  PetscCheck(t->refused > 0 && t->read > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " files were refused and %" PetscInt_FMT " read",
             whole->name, t->refused, t->read);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: refused or right\n", whole->name));
  t->refused = t->read = t->count = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode Take(const char path[], File *f)
{
  FILE *fp;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  fp = fopen(path, "rb");
  PetscCheck(fp, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No %s", path);
  f->length = fread(f->bytes, 1, MAX_BYTES, fp);
  fclose(fp);
  PetscFunctionReturn(0);
}

/* A matrix of six rows, a vector and an index set, as PETSc writes them */
static PetscErrorCode Write(Test *t, File file[3])
{
  static const char *const name[3] = {"matrix", "vector", "labels"};
  PetscInt                 n, first;
  PetscViewer              viewer;
  PetscObject              object[3];
  Vec                      v;
  IS                       is;

  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 6, 6, 3, NULL, 3, NULL, &t->A));
  PetscCall(MatGetOwnershipRange(t->A, &first, &n));
  for (PetscInt i = first; i < n; ++i) {
    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(6, i + 2); ++j) PetscCall(MatSetValue(t->A, i, j, i == j ? 4.0 + i : -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(t->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(t->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(t->A, NULL, &v));
  PetscCall(MatGetDiagonal(t->A, v));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n - first, first - 1, 1, &is));
  object[0] = (PetscObject)t->A;
  object[1] = (PetscObject)v;
  object[2] = (PetscObject)is;
  for (int k = 0; k < 3; ++k) {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name[k], FILE_MODE_WRITE, &viewer));
    PetscCall(PetscObjectView(object[k], viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    file[k].name = name[k];
    file[k].as   = (As)k;
    PetscCall(Take(name[k], &file[k]));
  }
  PetscCall(VecDestroy(&v));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Test     t     = {.every = 1};
  PetscInt cases = 300;
  File    *file;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &t.rank));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &t.every, NULL));
  PetscCall(PetscCalloc1(7, &file));
  PetscCall(Write(&t, file));
  if (t.rank == 0) t.file = fopen("damaged", "wb");
  for (int k = 0; k < 4; ++k) {
    file[3 + k].name   = market[k][0];
    file[3 + k].as     = k < 3 ? AS_MATRIX : AS_VECTOR;
    file[3 + k].text   = PETSC_TRUE;
    file[3 + k].length = strlen(market[k][1]);
    memcpy(file[3 + k].bytes, market[k][1], file[3 + k].length);
  }
  for (int k = 0; k < 7; ++k) PetscCall(Damage(&t, &file[k], cases));
  if (t.file) fclose(t.file);
  PetscCall(PetscFree(file));
  PetscCall(MatDestroy(&t.A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    load: no
    requires: !gpu
    output_file: output/damaged.out

    test:

    # processes wait for each other many times a file, which takes long on a busy machine
    test:
      suffix: ranks
      nsize: {{2 3}}
      args: -every 40

TEST*/
