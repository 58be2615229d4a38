static const char help[] = "Classes of equal rows of a stencil on the host: what is found, and products by classes against those by diagonals, bit by bit.\n\n";

#include "random.h"
#include "core/compat.h"
#include "kernels/dia.h"
#include "kernels/diaclass.h"
#include "kernels/vec.h"

unsigned int seed = 11;

/* Rows, near, far; near = 0: 5 points */
static const PetscInt Grids[][3] = {
  {5832,  18, 324 },
  {8011,  0,  89  },
  {20000, 7,  3001},
  {900,   30, 450 },
  {5,     0,  2   }
};

typedef struct {
  PetscInt           m, nd, off[POLDER_DIA_POINTS];
  PetscScalar       *all;
  const PetscScalar *val[POLDER_DIA_POINTS];
  PolderDia          A;
  PolderDiaStencil   S;
} Stencil;

/* The upper half of a matrix whose entries take so many values, in stretches of rows, and here and there a row like no other */
static PetscErrorCode StencilCreate(const PetscInt grid[3], PetscInt values, Stencil *T)
{
  const PetscInt m = grid[0], nd = grid[1] ? 7 : 5, c = nd / 2, up[] = {0, 1, grid[1] ? grid[1] : grid[2], grid[2]};

  PetscFunctionBeginUser;
  *T = (Stencil){.m = m, .nd = nd};
  PetscCall(PetscMalloc1((c + 1) * m, &T->all));
  for (PetscInt d = 0; d <= c; ++d) {
    for (PetscInt i = 0, left = 0, number = 0; i < m; ++i, --left) {
      if (!left) {
        left   = 1 + Next(m / 4 + 1);
        number = Next(values);
      }
      T->all[d * m + i] = d ? -1.0 / (1 + number) : 8 + number;
    }
    T->off[c + d] = up[d];
    T->off[c - d] = -up[d];
    T->val[c + d] = T->all + d * m;
    T->val[c - d] = T->val[c + d] - up[d];
  }
  for (PetscInt i = 0; i < m; i += 1 + Next(40)) T->all[i] = 10 + Number() + i * 1e-9;
  T->A = (PolderDia){.m = m, .n = m, .nd = nd, .off = T->off, .val = T->val, .main = c, .half = PETSC_TRUE};
  T->S = PolderDiaStencilOf(m, nd, c, T->off, POLDER_DIA_DOUBLE, (const void *const *)T->val, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A x, y = alpha A x and y = y + alpha A x */
static PetscErrorCode CheckProducts(const Stencil *T, const unsigned char *code, const PolderDiaClasses *C)
{
  PetscScalar *x, *y[2];
  PolderDia    A = T->A;
  PetscBool    same;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(T->m, &x, T->m, &y[0], T->m, &y[1]));
  for (PetscInt i = 0; i < T->m; ++i) x[i] = Number();
  for (int form = 0; form < 3; ++form) {
    for (int with = 0; with < 2; ++with) {
      A.code    = with ? code : NULL;
      A.classes = C;
      PetscCall(PetscArraycpy(y[with], x, T->m));
      PolderDiaMult_Host(&A, form ? -0.3 : 1, x, form == 2 ? y[with] : NULL, y[with]);
    }
    PetscCall(PetscArraycmp(y[0], y[1], T->m, &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Product %d with %" PetscInt_FMT " rows has other bits by classes", form, T->m);
  }
  for (int with = 0; with < 2; ++with) {
    PetscScalar dot, want;

    A.code = with ? code : NULL;
    PolderDiaMult_Host(&A, 1, x, NULL, y[0]);
    want = PolderDot_Host(T->m, x, y[0]);
    dot  = PolderDiaMultDot_Host(&A, x, y[1]);
    PetscCall(PetscArraycmp(y[0], y[1], T->m, &same));
    PetscCheck(same && PetscAbsScalar(dot - want) <= 1e-15 * 20 * T->m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Product with its dot: %g, not %g", (double)dot,
               (double)want);
  }
  PetscCall(PetscFree3(x, y[0], y[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckClasses(const Stencil *T, const unsigned char *code, const PolderDiaClasses *C)
{
  PetscInt rest = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < T->m; ++i) {
    const PetscScalar *row = C->table + code[i] * POLDER_DIA_WIDTH;

    rest += code[i] == POLDER_DIA_CLASSLESS;
    for (PetscInt d = 0; d < T->nd && code[i] != POLDER_DIA_CLASSLESS; ++d) {
      const PetscInt j = i + T->off[d];

      PetscCheck(row[d] == (j >= 0 && j < T->m ? T->val[d][i] : 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " is not of its class", i);
    }
    PetscCheck(code[i] == POLDER_DIA_CLASSLESS || row[POLDER_DIA_INVERSE] == 1 / T->val[T->nd / 2][i], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Row %" PetscInt_FMT " has another inverse diagonal", i);
  }
  PetscCheck(rest == C->rest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " rows without a class are counted as %" PetscInt_FMT, rest, C->rest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  unsigned char    *code;
  PolderDiaClasses *C;
  PetscInt          without = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscMalloc2(20000, &code, 1, &C));
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(Grids); ++g) {
    for (PetscInt values = 1; values < 30; values += 7) {
      Stencil T;

      PetscCall(StencilCreate(Grids[g], values, &T));
      PolderDiaClassify_Host(&T.S, code, C);
      if (C->rest < T.m) {
        PetscCall(CheckClasses(&T, code, C));
        PetscCall(CheckProducts(&T, code, C));
        without += C->rest;
      }
      for (PetscInt i = 0; i < T.m; ++i) T.all[i] = 8 + i * 1e-6; // every row is another
      PolderDiaClassify_Host(&T.S, code, C);
      PetscCheck(T.m < 1000 || C->rest == T.m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows that all differ have classes");
      PetscCall(PetscFree(T.all));
    }
  }
  PetscCheck(without > 100, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Hardly a row was without a class: %" PetscInt_FMT, without);
  PetscCall(PetscFree2(code, C));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "classes of equal rows: ok\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    load: no
    suites: valgrind

TEST*/
