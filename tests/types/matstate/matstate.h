/* What the parts of matstate.c share. */
#pragma once

#include <polder.h>
#include "core/compat.h"

enum {
  PLAIN,
  OURS,
  NMAT,
  MAXTARGETS = 4,
  GRID       = 12, /* rows of a side */
  NONE       = 0,  /* solvers that the matrix suits */
  GENERAL    = 3,
  ALL        = 4
};

/* What an operation works on: a matrix, and those that are made from it and made again into the same matrices */
typedef struct {
  Mat           A, target[MAXTARGETS], *sub, aux, aux2, aux3;
  PetscInt      ntarget, nsub;
  IS            is[MAXTARGETS], is2[MAXTARGETS];
  Vec           l, r;
  PetscScalar  *values; /* of a matrix that has the arrays of the program */
  PetscInt     *rows, *cols;
  MPI_Comm      comm;
  PetscBool     own; /* the matrix knows nothing of coordinates */
  MatFDColoring coloring;
} Case;

typedef struct {
  const char *name;
  PetscErrorCode (*prepare)(Case *); /* NULL: nothing */
  PetscErrorCode (*change)(Case *);
  PetscMPIInt least, most; /* processes */
  PetscInt    solvers;     /* the first ones of them suit the matrix before and after */
  PetscBool   tells;       /* its own state tells of the change */
} Operation;

/* Any number of processes */
#define ANY 1000

/* Changes of the matrix itself, and of matrices that are made from it a second time into the same place */
enum {
  NCHANGES = 36,
  NREMADE  = 19
};
extern const Operation Changes[NCHANGES], Remade[NREMADE];

PetscErrorCode Preallocated(Case *c);
PetscErrorCode Retrieve(Case *c);
PetscErrorCode ColoringApply(Case *c);
