static char help[] = "CG on the first Schur complement: the complement itself, published iterations, and what a KSP must do.\n\n";

#include "core/device.h"
#include "rrbcg/rrbcg.h"
#include "rrbproblems.h"
#include <polder.h>

const PetscInt Grids[NGRID][2] = {
  {7,  7 },
  {8,  8 },
  {15, 15},
  {13, 6 },
  {5,  12},
  {16, 3 },
  {1,  9 },
  {17, 17},
  {2,  2 },
  {3,  1 },
  {1,  1 },
  {10, 1 },
  {33, 2 },
  {40, 21}
};

/* Largest of |a - b| over the largest of |b| */
PetscErrorCode Deviation(Vec a, Vec b, PetscReal *deviation)
{
  Vec       d;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(a, &d));
  PetscCall(VecWAXPY(d, -1, b, a));
  PetscCall(VecNorm(d, NORM_INFINITY, deviation));
  PetscCall(VecNorm(b, NORM_INFINITY, &norm));
  *deviation /= norm > 0 ? norm : 1;
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not a number is worst of all */
void Worsen(PetscReal deviation, PetscReal *worst)
{
  if (!(deviation <= *worst)) *worst = deviation;
}

PetscErrorCode SetStop(KSP ksp, KSPRRBCGStop stop)
{
  PetscFunctionBeginUser;
  PetscUseMethod(ksp, "KSPRRBCGSetStop_C", (KSP, KSPRRBCGStop), (ksp, stop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations for b = A u, u = x (x-1) y (y-1) e^(xy) or the sea, or for a random b, by a rule of the literature; kappa from the Ritz values */
static PetscErrorCode Count(const Problem *p, PetscInt levels, KSPRRBCGStop stop, PetscBool random, PetscReal rtol, PetscInt *its, PetscReal *kappa)
{
  Mat                A;
  KSP                ksp;
  Vec                x, b;
  PetscReal          low, high;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillExact(p, x));
  PetscCall(MatMult(A, x, b));
  if (random) PetscCall(FillRandom(b, 1));
  PetscCall(CreateSolver(A, KSPRRBCG, levels, &ksp));
  PetscCall(SetStop(ksp, stop));
  PetscCall(KSPSetTolerances(ksp, rtol, 0, 1e30, 300));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s", KSPConvergedReasons[reason]);
  PetscCall(KSPComputeExtremeSingularValues(ksp, &high, &low));
  *kappa = high / low;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ETNA paper (12 half levels), the thesis (to one node), its sea beds */
static PetscErrorCode TestIterations(void)
{
  static const PetscInt paper[] = {13, 16, 19, 20, 20, 19};
  static const PetscInt thesis[][2] =
    {
      {16,   6 },
      {32,   8 },
      {64,   10},
      {128,  12},
      {256,  15},
      {512,  18},
      {768,  20},
      {1024, 22},
      {1280, 23},
      {1536, 24},
      {1792, 25},
      {2048, 26}
  },
                        waves[] = {8, 6, 7, 5};
  PetscInt  most                = 512, its;
  PetscReal kappa;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  for (PetscInt n = 63, k = 0; n <= PetscMin(most, 2047); n = 2 * n + 1, ++k) {
    const Problem p = {POISSON, n, n, 0};

    PetscCall(Count(&p, 12, KSP_RRBCG_STOP_PAPER, PETSC_FALSE, 1e-6, &its, &kappa));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Poisson %" PetscInt_FMT ": %" PetscInt_FMT " iterations, the paper has %" PetscInt_FMT "\n", n, its, paper[k]));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(thesis); ++k) {
    const Problem p = {POISSON, thesis[k][0], thesis[k][0], 0};

    if (thesis[k][0] > most) break;
    PetscCall(Count(&p, 1000, KSP_RRBCG_STOP_THESIS, PETSC_FALSE, 1e-5, &its, &kappa));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "Poisson %" PetscInt_FMT ", rule of the thesis: %" PetscInt_FMT " iterations, the reference has %" PetscInt_FMT "\n", p.nx, its,
                          thesis[k][1]));
  }
  for (PetscInt seed = 0; seed < 4; ++seed) {
    const Problem p = {WAVES, 400, 250, seed};

    PetscCall(Count(&p, 1000, KSP_RRBCG_STOP_THESIS, PETSC_FALSE, 1e-5, &its, &kappa));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sea bed %" PetscInt_FMT ": %" PetscInt_FMT " iterations, cg %" PetscInt_FMT "\n", seed, its, waves[seed]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Condition numbers and iterations by half levels and size, from 2 half levels on */
static PetscErrorCode TestCondition(void)
{
  static const struct {
    PetscInt  n, first;
    PetscReal kappa[17];
    PetscInt  its[17];
  } table[] = {
    {127,  2, {1.995, 1.995, 1.998, 2.456, 3.033, 3.727, 4.562, 5.507, 6.574, 6.574, 6.574}, {6, 7, 8, 9, 10, 12, 13, 15, 16, 16, 16}    },
    {255,  4, {1.998, 2.458, 3.040, 3.746, 4.620, 5.679, 6.950, 8.388, 10.01, 10.01, 10.01}, {8, 9, 10, 12, 13, 15, 16, 18, 19, 19, 19}  },
    {511,  6, {3.042, 3.755, 4.633, 5.711, 7.046, 8.663, 10.60, 12.80, 15.28, 15.28, 15.27}, {10, 11, 13, 15, 16, 18, 20, 22, 23, 23, 23}},
    {1023, 8, {4.642, 5.733, 7.078, 8.734, 10.77, 13.24, 16.20, 19.54, 23.31, 0, 23.31},     {12, 14, 16, 18, 20, 22, 24, 26, 27, 0, 27} }
  };
  PetscInt  most = 511, its;
  PetscReal kappa;
  char      what[128];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(table); ++t) {
    for (PetscInt k = 0; k < 17 && table[t].n <= most; ++k) {
      const Problem   p        = {POISSON, table[t].n, table[t].n, 0};
      const PetscInt  l        = table[t].first + k;
      const PetscReal expected = table[t].kappa[k];

      if (expected == 0) continue;
      PetscCall(Count(&p, l, KSP_RRBCG_STOP_PAPER, PETSC_TRUE, 1e-14, &its, &kappa));
      PetscCall(
        PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT ", %" PetscInt_FMT " half levels: condition number %.4g within 1 %%", p.nx, l, (double)expected));
      PetscCall(Report(what, (PetscBool)(PetscAbsReal(kappa / expected - 1) < 0.01), kappa));
      PetscCall(Count(&p, l, KSP_RRBCG_STOP_PAPER, PETSC_FALSE, 1e-6, &its, &kappa));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT ", %" PetscInt_FMT " half levels: %" PetscInt_FMT " iterations", p.nx, l, table[t].its[k]));
      PetscCall(Report(what, (PetscBool)(its == table[t].its[k]), its));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  const Problem p = {RANDOM5, 40, 30, 1};
  Mat           A;
  KSP           ksp;
  Vec           x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-complement", TestComplement},
    {"-ordering",   TestOrdering  },
    {"-iterations", TestIterations},
    {"-condition",  TestCondition },
    {"-cg",         TestCG        },
    {"-changes",    TestChanges   },
    {"-singular",   TestSingular  },
    {"-floor",      TestFloor     },
    {"-view",       TestView      }
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(PolderDeviceFinalize());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     suites: valgrind(+double+aij)
     suffix: complement
     args: -complement -pc_rrb_precision {{double single}} -mat_type {{aij aijdia}}

   test:
     suffix: ordering
     args: -ordering

   test:
     suffix: iterations
     args: -iterations -pc_rrb_precision {{double single}} -mat_type {{aij aijdia}}

   test:
     suffix: condition
     args: -condition

   test:
     suffix: cg
     nsize: {{1 2 3}}
     args: -cg -mat_type {{aij aijdia}}

   test:
     suites: valgrind(+3+double+aij) memcheck(+1+double+aijdia)
     suffix: changes
     nsize: {{1 3}}
     args: -changes -pc_rrb_precision {{double single}} -mat_type {{aij aijdia}}

   test:
     suites: valgrind(+1+aij)
     suffix: singular
     nsize: {{1 3}}
     args: -singular -mat_type {{aij aijdia}}

   test:
     suffix: floor
     nsize: {{1 3}}
     args: -floor -mat_type {{aij aijdia}}

   test:
     suffix: view
     args: -view -ksp_type rrbcg -ksp_rrbcg_stop {{petsc paper thesis}separate output} -pc_rrb_precision single
     filter: grep -E "type: rrb|stops|red nodes|last solve|norm type|half levels|rest:|bytes"

TEST*/
