/*
  PETSc binary files of readmat.c. PETSc's readers trust the contents of a file, so a damaged file causes a crash, a wrong matrix or processes that wait for
  each other. Here one process checks the whole file, a block at a time.
*/
#include "readmat.h"
#include <petscviewer.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK 8192

/* A stream of numbers of one type, from a position in the file on */
typedef struct {
  int       fd;
  PetscInt  n, k; /* numbers in the block, and how many of them were read */
  long long at;   /* byte of the next number */
  union
  {
    PetscInt    i[BLOCK];
    PetscScalar v[BLOCK];
  } block;
} Stream;

static PetscErrorCode StreamOpen(const char file[], long long at, Stream **stream)
{
  off_t there;

  PetscFunctionBegin;
  PetscCall(PetscNew(stream));
  (*stream)->at = at;
  PetscCall(PetscBinaryOpen(file, FILE_MODE_READ, &(*stream)->fd));
  PetscCall(PetscBinarySeek((*stream)->fd, (off_t)at, PETSC_BINARY_SEEK_SET, &there));
  PetscFunctionReturn(0);
}

static PetscErrorCode StreamClose(Stream **stream)
{
  PetscFunctionBegin;
  PetscCall(PetscBinaryClose((*stream)->fd));
  PetscCall(PetscFree(*stream));
  PetscFunctionReturn(0);
}

static PetscErrorCode StreamFill(Stream *s, PetscDataType type)
{
  PetscFunctionBegin;
  if (s->k < s->n) PetscFunctionReturn(0);
  s->k = 0;
  PetscCall(PetscBinaryRead(s->fd, &s->block, BLOCK, &s->n, type));
  PetscCheck(s->n > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "The file became shorter while it was read");
  PetscFunctionReturn(0);
}

static PetscErrorCode NextInt(Stream *s, PetscInt *i)
{
  PetscFunctionBegin;
  PetscCall(StreamFill(s, PETSC_INT));
  *i = s->block.i[s->k++];
  s->at += (long long)sizeof(PetscInt);
  PetscFunctionReturn(0);
}

static PetscErrorCode NextScalar(Stream *s, PetscScalar *v)
{
  PetscFunctionBegin;
  PetscCall(StreamFill(s, PETSC_SCALAR));
  *v = s->block.v[s->k++];
  s->at += PETSC_BINARY_SCALAR_SIZE;
  PetscFunctionReturn(0);
}

/* Determines the kind of the object from the first number of the file. bits: size of its indices, 32 or 64; 0 if this is not a PETSc binary file */
static int IndexBits(const unsigned char first[8], FileKind *kind)
{
  static const struct {
    unsigned long long id;
    FileKind           kind;
  } known[] = {
    {MAT_FILE_CLASSID, FILE_MAT},
    {VEC_FILE_CLASSID, FILE_VEC},
    {IS_FILE_CLASSID,  FILE_IS }
  };
  unsigned long long number = 0;

  for (int k = 0; k < 8; ++k) {
    number = 256 * number + first[k];
    if (k != 3 && k != 7) continue;
    for (int i = 0; i < 3; ++i) {
      if (number != known[i].id) continue;
      *kind = known[i].kind;
      return k == 3 ? 32 : 64;
    }
  }
  return 0;
}

/* Checks that nv numbers from this byte on are finite */
static PetscErrorCode CheckValues(const char file[], long long at, long long nv, char message[MAX_MESSAGE])
{
  Stream     *s;
  PetscScalar v = 0.0;

  PetscFunctionBegin;
  PetscCall(StreamOpen(file, at, &s));
  for (long long k = 0; k < nv && !message[0]; ++k) {
    PetscCall(NextScalar(s, &v));
    if (PetscIsInfOrNanScalar(v)) Say(message, "%s is damaged at byte %lld: number %lld of %lld is not finite", file, s->at - PETSC_BINARY_SCALAR_SIZE, k, nv);
  }
  PetscCall(StreamClose(&s));
  PetscFunctionReturn(0);
}

/* Checks that the row lengths add up to the number of entries */
static PetscErrorCode CheckRowLengths(const char file[], const PetscInt head[4], char message[MAX_MESSAGE])
{
  Stream   *s;
  PetscInt  length = 0;
  long long sum    = 0;

  PetscFunctionBegin;
  PetscCall(StreamOpen(file, 4 * (long long)sizeof(PetscInt), &s));
  for (PetscInt row = 0; row < head[1] && !message[0]; ++row) {
    PetscCall(NextInt(s, &length));
    if (length < 0 || length > head[2]) {
      Say(message, "%s is damaged at byte %lld: row %lld has %lld entries in %lld columns", file, s->at - (long long)sizeof(PetscInt), (long long)row,
          (long long)length, (long long)head[2]);
    } else sum += length;
  }
  if (!message[0] && sum != head[3]) Say(message, "%s is damaged: its rows have %lld entries and its header says %lld", file, sum, (long long)head[3]);
  PetscCall(StreamClose(&s));
  PetscFunctionReturn(0);
}

/* Checks that columns ascend within each row: MatLoad() on one process does not sort them, and the types and factorisations of AIJ rely on their order */
static PetscErrorCode CheckColumns(const char file[], const PetscInt head[4], char message[MAX_MESSAGE])
{
  Stream  *rows, *columns;
  PetscInt length = 0, column = 0;

  PetscFunctionBegin;
  PetscCall(StreamOpen(file, 4 * (long long)sizeof(PetscInt), &rows));
  PetscCall(StreamOpen(file, (4 + (long long)head[1]) * (long long)sizeof(PetscInt), &columns));
  for (PetscInt row = 0; row < head[1] && !message[0]; ++row) {
    PetscInt last = -1;

    PetscCall(NextInt(rows, &length));
    for (PetscInt k = 0; k < length && !message[0]; ++k) {
      PetscCall(NextInt(columns, &column));
      if (column < 0 || column >= head[2]) {
        Say(message, "%s is damaged at byte %lld: row %lld has an entry in column %lld, and columns are 0 to %lld", file,
            columns->at - (long long)sizeof(PetscInt), (long long)row, (long long)column, (long long)head[2] - 1);
      } else if (column <= last) {
        Say(message, "%s, byte %lld: in row %lld column %lld follows column %lld: sort the entries of each row by column, and add up what is there twice", file,
            columns->at - (long long)sizeof(PetscInt), (long long)row, (long long)column, (long long)last);
      }
      last = column;
    }
  }
  PetscCall(StreamClose(&rows));
  PetscCall(StreamClose(&columns));
  PetscFunctionReturn(0);
}

/* Is the file large enough for ni indices, including the header, and nv scalars? Each number is compared by itself first, so that no product overflows */
static PetscBool Holds(long long bytes, double ni, double nv)
{
  if (ni > (double)bytes || nv > (double)bytes) return PETSC_FALSE;
  return (PetscBool)((long long)ni * (long long)sizeof(PetscInt) + (long long)nv * (long long)PETSC_BINARY_SCALAR_SIZE <= bytes);
}

static PetscErrorCode CheckMatrix(const char file[], long long bytes, const PetscInt head[4], FileInfo *info, char message[MAX_MESSAGE])
{
  const long long M = head[1], N = head[2], nz = head[3], start = 4 * (long long)sizeof(PetscInt);
  const PetscBool dense  = (PetscBool)(nz == MATRIX_BINARY_FORMAT_DENSE);
  const double    values = dense ? (double)M * (double)N : (double)nz;

  PetscFunctionBegin;
  info->kind = dense ? FILE_DENSE : FILE_MAT;
  info->rows = M;
  if (M < 1 || N < 1 || (nz < 0 && !dense)) Say(message, "%s is damaged: its header asks for %lld rows, %lld columns and %lld entries", file, M, N, nz);
  else if (!Holds(bytes, dense ? 4.0 : 4.0 + (double)M + values, values)) {
    Say(message, "%s is damaged: its header asks for %lld rows, %lld columns and %.0f entries, which do not fit into its %lld bytes", file, M, N, values,
        bytes);
  } else if (M != N) Say(message, "%s holds a matrix of %lld x %lld: solvers need a square one", file, M, N);
  if (message[0]) PetscFunctionReturn(0);
  if (!dense) PetscCall(CheckRowLengths(file, head, message));
  if (!dense && !message[0]) PetscCall(CheckColumns(file, head, message));
  if (!message[0]) PetscCall(CheckValues(file, dense ? start : start + (M + nz) * (long long)sizeof(PetscInt), (long long)values, message));
  PetscFunctionReturn(0);
}

/* Checks a vector or an index set */
static PetscErrorCode CheckNumbers(const char file[], long long bytes, const PetscInt head[2], FileInfo *info, char message[MAX_MESSAGE])
{
  const PetscBool vector = (PetscBool)(info->kind == FILE_VEC);

  PetscFunctionBegin;
  info->rows = head[1];
  if (head[1] < 0 || !Holds(bytes, vector ? 2.0 : 2.0 + (double)head[1], vector ? (double)head[1] : 0.0)) {
    Say(message, "%s is damaged: its header asks for %lld numbers, which do not fit into its %lld bytes", file, info->rows, bytes);
  } else if (vector) PetscCall(CheckValues(file, 2 * (long long)sizeof(PetscInt), info->rows, message));
  PetscFunctionReturn(0);
}

PetscErrorCode BinaryCheck(const char file[], FileInfo *info, char message[MAX_MESSAGE])
{
  const int     bits = (int)(8 * sizeof(PetscInt));
  unsigned char first[8];
  int           fd, found    = 0;
  PetscInt      head[4], got = 0, wanted = 2;
  struct stat   about;
  FILE         *fp = fopen(file, "rb");

  PetscFunctionBegin;
  if (fp && !fstat(fileno(fp), &about) && fread(first, 1, 8, fp) == 8) found = IndexBits(first, &info->kind);
  if (fp) fclose(fp);
  if (!found) Say(message, "%s is neither a PETSc binary file nor a Matrix Market file", file);
  else if (found != bits)
    Say(message, "%s was written by a PETSc with indices of %d bits, and this program's has %d: use the same for both", file, found, bits);
  if (message[0]) PetscFunctionReturn(0);
  if (info->kind == FILE_MAT) wanted = 4;
  PetscCall(PetscBinaryOpen(file, FILE_MODE_READ, &fd));
  PetscCall(PetscBinaryRead(fd, head, wanted, &got, PETSC_INT));
  PetscCall(PetscBinaryClose(fd));
  if (got < wanted) Say(message, "%s is damaged: it ends within its header", file);
  else if (info->kind == FILE_MAT) PetscCall(CheckMatrix(file, (long long)about.st_size, head, info, message));
  else PetscCall(CheckNumbers(file, (long long)about.st_size, head, info, message));
  PetscFunctionReturn(0);
}
