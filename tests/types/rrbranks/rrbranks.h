/* What the parts of rrbranks.c share. */
#pragma once

#include <polder.h>
#include <petscdmda.h>
#include <petsc/private/pcimpl.h>
#include "pc/rrb/rrbimpl.h"
#include "core/compat.h"
#include "../rrbproblems.h"
#include "vecs.h"

/* How the rows of a matrix lie */
typedef enum {
  NATURAL, /* PETSc's choice */
  UNEVEN,  /* blocks of random length, some of them empty */
  ALLATEND,
  BOXES,      /* DMDA on np[0] by np[1] processes */
  UNEVENBOXES /* with some of them one node wide */
} Order;

typedef struct {
  Order    order;
  PetscInt np[2];
} Ranks;

PetscErrorCode GetNodes(Mat A, PetscInt **nodes, PetscInt *m);
PetscErrorCode FillNodes(Mat A, PetscInt seed, Vec v);
PetscErrorCode FillRanks(const Problem *p, Mat A);
PetscErrorCode CreateRanks(const Problem *p, const Ranks *ranks, Mat *A);
PetscErrorCode CreateAlone(const Problem *p, Mat *A);
PetscBool      NextRanks(const Problem *p, PetscInt *which, Ranks *ranks);
PetscErrorCode TestSolve(void);
PetscErrorCode TestReduced(void);
PetscErrorCode TestMove(void);
PetscErrorCode TestLines(void);
