/* Stencils of few different rows, for the tests of classes of equal rows on the host and on the device. */
#pragma once

#include "random.h"
#include "core/compat.h"
#include "kernels/dia.h"
#include "kernels/diaclass.h"

/* The upper half of a matrix on the host; m: rows. The diagonals below point into those above */
typedef struct {
  PetscInt           m, nd, off[POLDER_DIA_POINTS];
  PetscScalar       *all; /* [nd / 2 + 1][m] from the main diagonal up */
  const PetscScalar *val[POLDER_DIA_POINTS];
  PolderDia          A;
  PolderDiaStencil   S;
} ClassStencil;

/* grid: rows, near, far (near = 0: 5 points). Entries take so many values, in random stretches of less than `stretch` rows; a row like no other follows after
   at most `gap` rows */
static inline PetscErrorCode ClassStencilCreate(const PetscInt grid[3], PetscInt values, PetscInt stretch, PetscInt gap, ClassStencil *T)
{
  const PetscInt m = grid[0], nd = grid[1] ? 7 : 5, c = nd / 2, up[] = {0, 1, grid[1] ? grid[1] : grid[2], grid[2]};

  PetscFunctionBeginUser;
  *T = (ClassStencil){.m = m, .nd = nd};
  PetscCall(PetscMalloc1((c + 1) * m, &T->all));
  for (PetscInt d = 0; d <= c; ++d) {
    for (PetscInt i = 0, left = 0, number = 0; i < m; ++i) {
      if (!left--) {
        left   = Next(stretch);
        number = Next(values);
      }
      T->all[d * m + i] = d ? -1.0 / (1 + number) : 8 + number;
    }
    T->off[c + d] = up[d];
    T->off[c - d] = -up[d];
    T->val[c + d] = T->all + d * m;
    T->val[c - d] = T->val[c + d] - up[d];
  }
  for (PetscInt i = 0; i < m; i += 1 + Next(gap)) T->all[i] = 10 + Number();
  T->A = (PolderDia){.m = m, .n = m, .nd = nd, .off = T->off, .val = T->val, .main = c, .half = PETSC_TRUE};
  T->S = PolderDiaStencilOf(m, nd, c, T->off, POLDER_DIA_DOUBLE, (const void *const *)T->val, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every row becomes another */
static inline void ClassStencilVary(ClassStencil *T)
{
  for (PetscInt i = 0; i < T->m; ++i) T->all[i] = 8 + i * 1e-6;
}

/* Compares the tables with the rows and the number of rows in no class with C->rest; returns how much is wrong */
static inline PetscInt ClassesWrong(const ClassStencil *T, const unsigned char code[], const PolderDiaClasses *C)
{
  PetscInt rest = 0, wrong = 0;

  for (PetscInt i = 0; i < T->m; ++i) {
    const PetscScalar *row  = C->table + code[i] * POLDER_DIA_WIDTH;
    const float       *same = C->single + code[i] * POLDER_DIA_WIDTH;

    if (code[i] == POLDER_DIA_CLASSLESS) {
      ++rest;
      continue;
    }
    for (PetscInt d = 0; d < T->nd; ++d) {
      const PetscInt    j = i + T->off[d];
      const PetscScalar v = j >= 0 && j < T->m ? T->val[d][i] : 0;

      wrong += row[d] != v || same[d] != (float)v;
    }
    wrong += row[POLDER_DIA_INVERSE] != 1 / T->val[T->nd / 2][i];
  }
  return wrong + (rest != C->rest);
}
