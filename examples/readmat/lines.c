/* Text files of readmat.c, read line by line in bounded memory, and errors that one process finds and all report */
#include "readmat.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

PetscErrorCode CheckAll(char message[MAX_MESSAGE])
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(message, MAX_MESSAGE, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s", message);
  PetscFunctionReturn(0);
}

void Say(char message[MAX_MESSAGE], const char words[], ...)
{
  va_list args;

  va_start(args, words);
  vsnprintf(message, MAX_MESSAGE, words, args);
  va_end(args);
}

PetscBool IsFile(const char file[], char message[MAX_MESSAGE])
{
  struct stat about;

  if (stat(file, &about)) Say(message, "Cannot open %s: give the path of a file that exists", file);
  else if (!S_ISREG(about.st_mode)) Say(message, "Cannot read %s: it is a folder or a device, not a file", file);
  else return PETSC_TRUE;
  return PETSC_FALSE;
}

void LinesOpen(Lines *in, const char file[])
{
  in->file       = file;
  in->fp         = NULL;
  in->number     = 0;
  in->message[0] = 0;
  if (!IsFile(file, in->message)) return;
  in->fp = fopen(file, "r");
  if (!in->fp) Say(in->message, "Cannot open %s: %s", file, strerror(errno));
}

void LinesClose(Lines *in)
{
  if (in->fp) fclose(in->fp);
}

void LinesDamaged(Lines *in, const char words[], ...)
{
  va_list args;
  int     n;

  if (in->message[0]) return;
  n = snprintf(in->message, sizeof(in->message), "%s is damaged, line %ld: ", in->file, in->number);
  if (n >= (int)sizeof(in->message)) return;
  va_start(args, words);
  vsnprintf(in->message + n, sizeof(in->message) - (size_t)n, words, args);
  va_end(args);
}

PetscBool LinesNext(Lines *in)
{
  PetscBool comment = PETSC_FALSE;
  int       n       = 0, c;

  if (in->message[0] || !in->fp) return PETSC_FALSE;
  ++in->number;
  while ((c = getc_unlocked(in->fp)) != EOF && c != '\n') {
    if (n == 0) comment = (PetscBool)(c == '%' || c == '#');
    if (n < MAX_LINE) in->line[n++] = (char)c;
    else if (!comment) {
      LinesDamaged(in, "it has more than %d characters", MAX_LINE);
      return PETSC_FALSE;
    }
    if (!c) {
      LinesDamaged(in, "it has a zero byte, so that this is no text");
      return PETSC_FALSE;
    }
  }
  in->line[n] = 0;
  return (PetscBool)(n > 0 || c == '\n');
}

PetscBool LinesNextFull(Lines *in, char comment)
{
  while (LinesNext(in)) {
    const char *c = in->line;

    while (isspace((unsigned char)*c)) ++c;
    if (*c && *c != comment) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}
