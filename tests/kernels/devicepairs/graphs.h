/* The graphs of devicepairs.c. */
#pragma once

#include "../devicetest.h"

/* Do rows i < j couple? */
typedef PetscBool (*Couples)(PetscInt n, PetscInt i, PetscInt j);

static PetscBool Grid2(PETSC_UNUSED PetscInt n, PetscInt i, PetscInt j)
{
  return (PetscBool)(j - i == 31 || (j - i == 1 && j % 31));
}

static PetscBool Grid3(PETSC_UNUSED PetscInt n, PetscInt i, PetscInt j)
{
  return (PetscBool)(j - i == 99 || (j - i == 9 && i / 9 % 11 < 10) || (j - i == 1 && j % 9));
}

static PetscBool Band(PETSC_UNUSED PetscInt n, PetscInt i, PetscInt j)
{
  return (PetscBool)(j - i <= 60 && (i * 31 + j * 17) % 8);
}

static PetscBool Thin(PETSC_UNUSED PetscInt n, PetscInt i, PetscInt j)
{
  return (PetscBool)((j - i == 1 || j - i == 7 || j - i == 50) && (i + j) % 5);
}

/* Every hundredth row is a hub for the hundred rows after it, and the first one for all that are multiples of three */
static PetscBool Hubs(PETSC_UNUSED PetscInt n, PetscInt i, PetscInt j)
{
  return (PetscBool)((i % 100 == 0 && j < i + 100) || (i == 0 && j % 3 == 0) || (i % 100 == 0 && j - i == 100));
}

static PetscBool Star(PETSC_UNUSED PetscInt n, PetscInt i, PETSC_UNUSED PetscInt j)
{
  return (PetscBool)(i == 0);
}

static const struct {
  const char *name;
  Couples     couples;
  PetscInt    reach; /* 0: any */
  PetscBool   grid;
} Graphs[] = {
  {"grid 2-D", Grid2, 31, PETSC_TRUE },
  {"grid 3-D", Grid3, 99, PETSC_TRUE },
  {"band",     Band,  60, PETSC_FALSE},
  {"thin",     Thin,  50, PETSC_FALSE},
  {"hubs",     Hubs,  0,  PETSC_FALSE},
  {"star",     Star,  0,  PETSC_FALSE}
};
static const PetscInt Sizes[]  = {1, 2, 31, 33, 257, 3001, 25013, 40007, 140009}; /* the last four not with -small */
static const PetscInt mostrows = 4000;                                            /* of a graph whose entries may be anywhere */
