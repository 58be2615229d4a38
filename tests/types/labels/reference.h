/* Problems for the labels of the deflation spaces, and the labels by a flood fill of the grid. Part of labels.c. */
#pragma once

#include <polder.h>

typedef enum {
  FIELD_BUBBLES,
  FIELD_LAYERS,
  FIELD_NOISE,
  FIELD_CONSTANT
} Field;

typedef enum {
  ROWS_NATURAL,
  ROWS_DMDA,
  ROWS_EMPTY,
  ROWS_SHUFFLED,
  ROWS_TAIL
} Rows;

typedef struct {
  PetscInt  dim, n, N; /* cells a direction and in all */
  Field     field;
  PetscReal radius, inside, aniso; /* coefficient in the bubbles or odd layers; factor of the first direction */
  PetscBool centre, arithmetic;
  Rows      rows;
} Problem;

PetscErrorCode ProblemFromOptions(Problem *p);
PetscReal      LevelSet(const Problem *p, PetscInt cell);
PetscReal      Coefficient(const Problem *p, PetscInt cell);
PetscErrorCode AssembleNatural(const Problem *p, Mat *A);
PetscErrorCode CellsOfRows(const Problem *p, DM *da, IS *cells);
PetscErrorCode AssembleProblem(const Problem *p, Mat *A, IS *cells);
PetscErrorCode FloodFill(const Problem *p, PetscInt comp[]);
PetscInt       PartOfCell(const Problem *p, const char kind[], PetscInt count, const PetscInt boxes[], PetscInt cell);
PetscErrorCode LargestLast(const Problem *p, PetscInt n, PetscInt label[]);
PetscErrorCode Reference(const Problem *p, const char kind[], PetscInt label[], PetscInt *d);
