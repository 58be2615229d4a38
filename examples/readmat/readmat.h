/* The parts of readmat.c */
#pragma once

#include <polder.h>
#include <stdio.h>

#define MAX_SOLVERS 64
#define MAX_MESSAGE 1024
#define MAX_LINE    1024 /* limit of the Matrix Market format */

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

typedef enum {
  FILE_MARKET,
  FILE_MAT,
  FILE_DENSE, /* a matrix with all entries, which MatLoad() reads into dense matrices only */
  FILE_VEC,
  FILE_IS
} FileKind;

typedef struct {
  FileKind  kind;
  long long rows; /* not set for FILE_MARKET */
} FileInfo;

/* Lines of a text file, read on one process. The first error stays in message */
typedef struct {
  const char *file;
  FILE       *fp;
  long        number; /* number of the current line */
  char        line[MAX_LINE + 2], message[MAX_MESSAGE];
} Lines;

/* lines.c */
PetscErrorCode CheckAll(char message[MAX_MESSAGE]); /* called on all processes: if rank 0 has found an error, all stop with its message */
void           Say(char message[MAX_MESSAGE], const char words[], ...) __attribute__((format(printf, 2, 3)));
PetscBool      IsFile(const char file[], char message[MAX_MESSAGE]);
void           LinesOpen(Lines *in, const char file[]);
PetscBool      LinesNext(Lines *in);                                                                   /* FALSE at the end of the file and after a fault */
PetscBool      LinesNextFull(Lines *in, char comment);                                                 /* the next line that is neither empty nor a comment */
void           LinesDamaged(Lines *in, const char words[], ...) __attribute__((format(printf, 2, 3))); /* reports an error in this line */
void           LinesClose(Lines *in);

/* market.c */
PetscErrorCode MarketReadMatrix(const char file[], Mat A);
PetscErrorCode MarketReadVector(const char file[], Vec v);

/* binary.c */
PetscErrorCode BinaryCheck(const char file[], FileInfo *info, char message[MAX_MESSAGE]); /* called on one process */

/* system.c */
PetscErrorCode ReadMatrix(const char file[], Mat *A);
PetscErrorCode ReadVector(const char file[], Mat A, Vec *v);
PetscErrorCode ReadLabels(const char file[], Mat A, IS *labels);
PetscErrorCode ReadSystem(App *app);

/* compare.c */
PetscErrorCode GetSolvers(App *app);
PetscErrorCode RunSolver(App *app, PetscInt k, PetscBool alone);
