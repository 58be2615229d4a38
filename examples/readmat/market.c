/* Matrix Market files of readmat.c: one process reads and checks them, in memory and time bounded by the size of the file */
#include "readmat.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
  PetscInt     n;
  PetscCount   nz;
  PetscInt    *row, *col;
  PetscScalar *val;
} Entries;

/* Reads ni integers and then nr reals; anything else on the line is an error */
static PetscBool Numbers(const Lines *in, int ni, long long i[], int nr, double v[])
{
  const char *c = in->line;
  char       *end;

  for (int k = 0; k < ni + nr; ++k) {
    errno = 0;
    if (k < ni) i[k] = strtoll(c, &end, 10);
    else v[k - ni] = strtod(c, &end);
    if (end == c || (k < ni && errno == ERANGE) || (k >= ni && PetscIsInfOrNanReal((PetscReal)v[k - ni]))) return PETSC_FALSE;
    c = end;
  }
  while (isspace((unsigned char)*c)) ++c;
  return (PetscBool) !*c;
}

/* The first line: format coordinate or array, whether there are values, and whether the matrix is symmetric; an array is a vector here */
static PetscBool Banner(Lines *in, const char format[], PetscBool *pattern, PetscBool *symmetric)
{
  const PetscBool array = (PetscBool)!strcmp(format, "array");
  PetscBool       known;
  char            word[4][32] = {"", "", "", ""};

  if (LinesNext(in)) sscanf(in->line, "%%%%MatrixMarket %31s %31s %31s %31s", word[0], word[1], word[2], word[3]);
  for (int w = 0; w < 4; ++w) {
    for (char *c = word[w]; *c; ++c) *c = (char)(isprint((unsigned char)*c) ? tolower((unsigned char)*c) : '?');
  }
  *pattern   = (PetscBool)(!strcmp(word[2], "pattern") && !array);
  *symmetric = (PetscBool)(!strcmp(word[3], "symmetric") && !array);
  known      = (PetscBool)(!strcmp(word[0], "matrix") && !strcmp(word[1], format));
  if (strcmp(word[2], "real") && strcmp(word[2], "integer") && !*pattern) known = PETSC_FALSE;
  if (strcmp(word[3], "general") && !*symmetric) known = PETSC_FALSE;
  if (!known && !in->message[0])
    Say(in->message, "%s: '%s %s %s %s' cannot be read here: use matrix %s real|integer%s general%s", in->file, word[0], word[1], word[2], word[3], format,
        array ? "" : "|pattern", array ? "" : "|symmetric");
  return known;
}

/* The line with the numbers of rows, columns and entries, none of which may exceed what fits in the file */
static PetscBool Sizes(Lines *in, PetscBool pattern, PetscBool symmetric, long long size[3])
{
  const long long halves = symmetric ? 2 : 1, bytes = pattern ? 4 : 6; /* bytes of the shortest line */
  struct stat     about;

  if (!LinesNextFull(in, '%') || !Numbers(in, 3, size, 0, NULL) || size[0] < 1 || size[1] < 1 || size[2] < 0) {
    LinesDamaged(in, "the line with rows, columns and entries is missing or wrong");
    return PETSC_FALSE;
  }
  if (size[0] != size[1]) {
    Say(in->message, "%s holds a matrix of %lld x %lld: solvers need a square one", in->file, size[0], size[1]);
  } else if (fstat(fileno(in->fp), &about) || size[2] > (long long)about.st_size / bytes) {
    LinesDamaged(in, "%lld entries do not fit into a file of %lld bytes", size[2], (long long)about.st_size);
  } else if (size[0] > halves * size[2]) {
    LinesDamaged(in, "%lld rows and %lld entries leave rows without an entry, and no solver can do with those", size[0], size[2]);
  } else if (halves * size[2] > PETSC_MAX_INT) {
    Say(in->message, "%s has %lld entries: more than the indices of this PETSc, of %d bits, can count", in->file, halves * size[2],
        (int)(8 * sizeof(PetscInt)));
  }
  return (PetscBool)!in->message[0];
}

/* Entries of a coordinate file on this process, including the other half of a symmetric matrix */
static PetscErrorCode ReadEntries(Lines *in, Entries *e)
{
  PetscBool pattern, symmetric;
  long long size[3], at[2], k;
  double    v = 1.0;

  PetscFunctionBegin;
  if (!Banner(in, "coordinate", &pattern, &symmetric) || !Sizes(in, pattern, symmetric, size)) PetscFunctionReturn(0);
  e->n = (PetscInt)size[0];
  PetscCall(PetscMalloc3(2 * size[2], &e->row, 2 * size[2], &e->col, 2 * size[2], &e->val));
  for (k = 0; k < size[2] && LinesNextFull(in, '%'); ++k) {
    if (!Numbers(in, 2, at, pattern ? 0 : 1, &v)) LinesDamaged(in, pattern ? "not two integers" : "not two integers and a finite number");
    else if (at[0] < 1 || at[0] > size[0] || at[1] < 1 || at[1] > size[1]) LinesDamaged(in, "an index lies outside the matrix");
    else if (symmetric && at[0] < at[1]) LinesDamaged(in, "a symmetric file holds entries on and below the diagonal only");
    else {
      for (int half = 0; half < (symmetric && at[0] != at[1] ? 2 : 1); ++half) {
        e->row[e->nz]   = (PetscInt)at[half] - 1;
        e->col[e->nz]   = (PetscInt)at[1 - half] - 1;
        e->val[e->nz++] = v;
      }
    }
  }
  if (k < size[2] && !in->message[0]) Say(in->message, "%s is damaged: it promises %lld entries and ends after %lld", in->file, size[2], k);
  if (LinesNextFull(in, '%')) LinesDamaged(in, "more entries than the file promises");
  PetscFunctionReturn(0);
}

PetscErrorCode MarketReadMatrix(const char file[], Mat A)
{
  Lines       in;
  Entries     e = {0};
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    LinesOpen(&in, file);
    if (in.fp) PetscCall(ReadEntries(&in, &e));
    LinesClose(&in);
    if (in.message[0]) PetscCall(PetscFree3(e.row, e.col, e.val));
  }
  PetscCall(CheckAll(in.message));
  PetscCallMPI(MPI_Bcast(&e.n, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  if (rank) PetscCall(PetscMalloc3(0, &e.row, 0, &e.col, 0, &e.val));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, e.n, e.n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetPreallocationCOO(A, e.nz, e.row, e.col));
  PetscCall(MatSetValuesCOO(A, e.val, INSERT_VALUES));
  PetscCall(PetscFree3(e.row, e.col, e.val));
  PetscFunctionReturn(0);
}

/* Numbers of an array file with one column, on this process */
static PetscErrorCode ReadNumbers(Lines *in, PetscInt N, Vec v)
{
  PetscBool pattern, symmetric;
  long long size[2];
  double    value;
  PetscInt  i;

  PetscFunctionBegin;
  if (!Banner(in, "array", &pattern, &symmetric)) PetscFunctionReturn(0);
  if (!LinesNextFull(in, '%') || !Numbers(in, 2, size, 0, NULL)) LinesDamaged(in, "the line with rows and columns is missing or wrong");
  else if (size[0] != N || size[1] != 1) Say(in->message, "%s holds %lld x %lld numbers: the matrix needs %lld x 1", in->file, size[0], size[1], (long long)N);
  for (i = 0; i < N && LinesNextFull(in, '%'); ++i) {
    if (!Numbers(in, 0, NULL, 1, &value)) LinesDamaged(in, "not one finite number");
    else PetscCall(VecSetValue(v, i, value, INSERT_VALUES));
  }
  if (i < N && !in->message[0]) Say(in->message, "%s is damaged: it promises %lld numbers and ends after %lld", in->file, (long long)N, (long long)i);
  if (LinesNextFull(in, '%')) LinesDamaged(in, "more numbers than the file promises");
  PetscFunctionReturn(0);
}

PetscErrorCode MarketReadVector(const char file[], Vec v)
{
  Lines       in;
  PetscInt    N;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &N));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    LinesOpen(&in, file);
    if (in.fp) PetscCall(ReadNumbers(&in, N, v));
    LinesClose(&in);
  }
  PetscCall(CheckAll(in.message));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscFunctionReturn(0);
}
