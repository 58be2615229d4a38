static const char help[] = "Classes of equal rows of a stencil on the host: what is found, and products by classes against those by diagonals, bit by bit.\n\n";

#include "classes.h"
#include "kernels/deflation.h"
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

/* y = A x, y = alpha A x and y = y + alpha A x */
static PetscErrorCode CheckProducts(const ClassStencil *T, const unsigned char *code, const PolderDiaClasses *C)
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
    const PetscInt        start[] = {0, T->m / 3, T->m / 3, T->m}, label[] = {1, -1, 0};
    const PolderLabelRuns runs = {3, start, label};
    PetscScalar           dot, want, sum[2] = {0}, both[2] = {0};

    A.code = with ? code : NULL;
    PolderDiaMult_Host(&A, 1, x, NULL, y[0]);
    want = PolderDot_Host(T->m, x, y[0]);
    dot  = PolderDiaMultDot_Host(&A, x, y[1], &runs, sum);
    PolderRunsRestrict_Host(&runs, y[0], both);
    for (int k = 0; k < 2; ++k)
      PetscCheck(PetscAbsScalar(sum[k] - both[k]) <= 1e-15 * 20 * T->m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Product with the sum %g of a label, not %g",
                 (double)sum[k], (double)both[k]);
    PetscCall(PetscArraycmp(y[0], y[1], T->m, &same));
    PetscCheck(same && PetscAbsScalar(dot - want) <= 1e-15 * 20 * T->m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Product with its dot: %g, not %g", (double)dot,
               (double)want);
  }
  PetscCall(PetscFree3(x, y[0], y[1]));
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
      ClassStencil T;

      PetscCall(ClassStencilCreate(Grids[g], values, Grids[g][0] / 4 + 1, 40, &T));
      PolderDiaClassify_Host(&T.S, code, C);
      if (C->rest < T.m) {
        PetscCheck(!ClassesWrong(&T, code, C), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " rows: wrong classes", T.m);
        PetscCall(CheckProducts(&T, code, C));
        without += C->rest;
      }
      ClassStencilVary(&T);
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
    suites: valgrind

TEST*/
