/* What the choices of PC pamg do to its levels and its iterations: matching, precision, numbering, place. */
#include "pamg.h"
#include "kernels/colourrow.h"

/* The rounds of the handshake make no larger levels than one row after another, and as good ones; single precision takes the same iterations */
PetscErrorCode TestMatching(void)
{
  static const Case cases[] = {
    {"poisson",    2, 127, 1,   NULL, 0, 0, 0},
    {"poisson",    3, 31,  1,   NULL, 0, 0, 0},
    {"poisson",    3, 32,  10,  NULL, 0, 0, 0},
    {"bubbles",    3, 32,  1e3, NULL, 0, 0, 0},
    {"bubbles",    2, 128, 1e3, NULL, 0, 0, 0},
    {"tetrahedra", 3, 16,  1,   NULL, 0, 0, 0},
    {"tetrahedra", 3, 16,  1e3, NULL, 0, 0, 0},
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    Mat       A;
    KSP       ksp;
    PC        pc;
    PetscInt  its[3];
    PetscReal residual, complexity[2];

    PetscCall(ProblemCreate(cases[k].kind, cases[k].dim, cases[k].n, cases[k].jump, &A));
    for (int m = 0; m < 3; ++m) {
      PetscCall(ProblemSolve(A, m == 0 ? KCYCLE : m == 1 ? KCYCLE "-pc_pamg_matching greedy" : KCYCLE "-pc_pamg_precision single", &ksp, &its[m], &residual));
      PetscCall(KSPGetPC(ksp, &pc));
      if (m < 2) complexity[m] = OperatorComplexity((const PC_PAMG *)pc->data);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(PetscInfo(NULL, "%s %g: operator complexity %g, greedy %g; iterations %" PetscInt_FMT ", %" PetscInt_FMT ", single %" PetscInt_FMT "\n",
                        cases[k].kind, (double)cases[k].jump, (double)complexity[0], (double)complexity[1], its[0], its[1], its[2]));
    PetscCheck(complexity[0] <= 1.05 * complexity[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: operator complexity %g, greedy %g", cases[k].kind,
               (double)complexity[0], (double)complexity[1]);
    PetscCheck(its[0] <= its[1] + 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, greedy %" PetscInt_FMT, cases[k].kind, its[0],
               its[1]);
    PetscCheck(PetscAbsInt(its[2] - its[0]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, in single precision %" PetscInt_FMT,
               cases[k].kind, its[0], its[2]);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "handshake and greedy, double and single are alike\n"));
  PetscFunctionReturn(0);
}

/* What single precision changes in a cycle where a coefficient jumps by 1e6, as it shows in A z, and in iterations: steps after the coarse
   correction that are on a correction take that away */
PetscErrorCode TestPrecision(void)
{
  static const struct {
    const char *options;
    PetscReal   most; // of the residual, where the compiler adds up one by one as well as where it adds up vectors
  } cases[] = {
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 1 -pc_pamg_post 1",                  0.11 },
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2",                  0.06 },
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 3",                  0.025},
    {"-pc_pamg_smoother chebyshev -pc_pamg_pre 4 -pc_pamg_post 4",                  0.015},
    {"-pc_pamg_cycle k -pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2", 0.035},
    {"-pc_pamg_smoother jacobi -pc_pamg_pre 3 -pc_pamg_post 3",                     0.05 },
  };
  Mat          A;
  MatNullSpace nullspace;
  Vec          r, z[2], t;
  PetscReal    norm, noise, residual;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("bubbles", 3, 48, 1e6, &A));
  PetscCall(CreateVecs(A, &r, &t));
  for (int k = 0; k < 2; ++k) PetscCall(VecDuplicate(r, &z[k]));
  PetscCall(FillRandom(r, 7));
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(MatNullSpaceRemove(nullspace, r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); ++c) {
    PetscInt its[2];

    for (int single = 0; single < 2; ++single) {
      char text[256];
      PC   pc;

      PetscCall(PetscSNPrintf(text, sizeof(text), AGGREGATES "%s -pc_pamg_precision %s", cases[c].options, single ? "single" : "double"));
      PetscCall(CreatePC(A, text, &pc));
      PetscCall(PCApply(pc, r, z[single]));
      PetscCall(PCDestroy(&pc));
      PetscCall(PetscSNPrintf(text, sizeof(text), "-ksp_type fcg -pc_type pamg " AGGREGATES "%s -pc_pamg_precision %s", cases[c].options,
                              single ? "single" : "double"));
      PetscCall(ProblemSolve(A, text, NULL, &its[single], &residual));
    }
    PetscCall(VecAXPY(z[1], -1, z[0]));
    PetscCall(MatMult(A, z[1], t));
    PetscCall(VecNorm(t, NORM_2, &noise));
    PetscCall(
      PetscInfo(NULL, "%s: %g of the residual, iterations %" PetscInt_FMT ", %" PetscInt_FMT "\n", cases[c].options, (double)(noise / norm), its[0], its[1]));
    PetscCheck(noise > 0 && noise <= cases[c].most * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: single precision changes A z by %g of the residual",
               cases[c].options, (double)(noise / norm));
    PetscCheck(PetscAbsInt(its[1] - its[0]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations, in single precision %" PetscInt_FMT,
               cases[c].options, its[0], its[1]);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "single precision is precise enough\n"));
  PetscCall(VecDestroy(&r));
  for (int k = 0; k < 2; ++k) PetscCall(VecDestroy(&z[k]));
  PetscCall(VecDestroy(&t));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Levels in diagonals all the way, for grids of any size; bytes beside the matrix */
PetscErrorCode TestRegular(void)
{
  static const PetscInt sizes[][2] = {
    {2, 64 },
    {2, 127},
    {3, 32 },
    {3, 31 }
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    for (int o = 0; o < 3; ++o) {
      Mat      A;
      PC       pc;
      PC_PAMG *pamg;

      PetscReal bytes = 0;

      PetscCall(ProblemCreate("poisson", sizes[k][0], sizes[k][1], 1, &A));
      PetscCall(CreatePC(A, o == 0 ? "-pc_pamg_cycle k" : o == 1 ? "-pc_pamg_cycle k -pc_pamg_smoother jacobi" : "", &pc));
      pamg = (PC_PAMG *)pc->data;
      for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) {
        bytes += (PetscReal)pamg->level[l].bytes;
        PetscCheck(!l || pamg->level[l].M.nd == 2 * sizes[k][0] + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%" PetscInt_FMT "^%" PetscInt_FMT ": level %" PetscInt_FMT " has %" PetscInt_FMT " diagonals", sizes[k][1], sizes[k][0], l,
                   pamg->level[l].M.nd);
      }
      PetscCheck(bytes < 110 * pamg->level[0].n, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%g bytes a row", (double)(bytes / pamg->level[0].n));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "grids have grids below them\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode View(const char options[])
{
  Mat A;
  Vec x;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("poisson", 3, 16, 1, &A));
  PetscCall(CreateVecs(A, &x, NULL)); // PETSc uses the device, if it is to
  PetscCall(CreatePC(A, options, &pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* On the host everywhere */
PetscErrorCode TestView(void)
{
  PetscFunctionBeginUser;
  PetscCall(View(AGGREGATES "-pc_pamg_cycle k -pc_pamg_matching greedy"));
  PetscFunctionReturn(0);
}

PetscErrorCode TestViewDevice(void)
{
  PetscFunctionBeginUser;
  PetscCall(View(AGGREGATES "-pc_pamg_cycle k -pc_pamg_smoother sgs"));
  PetscFunctionReturn(0);
}

/* Gauss-Seidel on a level whose rows all couple, which have a colour each: on the host, until the options ask for something else; a level of
   fewer rows than there are colours stays */
static PetscErrorCode TestColours(void)
{
  PetscFunctionBeginUser;
  for (PetscInt n = POLDER_COLOURS; n <= POLDER_COLOURS + 1; ++n) {
    const PetscBool few = (PetscBool)(n == POLDER_COLOURS);
    Mat             A;
    PC              pc;
    PC_PAMG        *pamg;
    Vec             r, z, y;
    PetscOptions    options;
    PetscScalar     one, other;

    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatSetSizes(A, n, n, n, n));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSeqAIJSetPreallocation(A, n, NULL));
    for (PetscInt i = 0; i < n; ++i) {
      for (PetscInt j = 0; j < n; ++j) PetscCall(MatSetValue(A, i, j, i == j ? 2 * n : -1 - (i + j) % 2, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(CreateVecs(A, &r, &z));
    PetscCall(VecDuplicate(r, &y));
    PetscCall(FillRandom(r, 3));
    PetscCall(CreatePC(A, SGS "-pc_pamg_coarse_limit 10", &pc));
    pamg = (PC_PAMG *)pc->data;
    PetscCheck(pamg->place->device == few && pamg->uncoloured != few && pamg->nlevel > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " rows: the levels are on the %s", n, few ? "host" : "device");
    PetscCheck(!few || pamg->level[0].ncolour == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " colours, not %" PetscInt_FMT, pamg->level[0].ncolour,
               n);
    for (int again = 0; again < 2; ++again) { // symmetric and positive, also after a refresh
      PetscCall(PCApply(pc, r, z));
      PetscCall(VecDot(z, r, &one));
      PetscCheck(PetscRealPart(one) > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not positive");
      PetscCall(PCApply(pc, z, y));
      PetscCall(VecDot(y, r, &one));
      PetscCall(VecDot(z, z, &other));
      PetscCheck(PetscAbsScalar(one - other) <= 1e-12 * PetscAbsScalar(other), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not symmetric");
      PetscCall(MatScale(A, 2));
      PetscCall(PCSetUp(pc));
      PetscCheck(pamg->nrefresh == again + 1 && pamg->place->device == few, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No refresh");
    }
    PetscCall(PetscOptionsCreate(&options));
    PetscCall(PetscOptionsInsertString(options, "-pc_pamg_smoother jacobi"));
    PetscCall(PetscObjectSetOptions((PetscObject)pc, options));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
    PetscCall(PetscOptionsDestroy(&options));
    PetscCall(PCSetUp(pc));
    PetscCheck(pamg->place->device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Jacobi on the host");
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

/* Which options leave the levels on the device; vectors of the host get what others get, also after a refresh */
PetscErrorCode TestDevice(void)
{
  static const struct {
    const char *options;
    PetscBool   device;
  } cases[] = {
    {"",                                                                         PETSC_TRUE },
    {"-pc_pamg_cycle k -pc_pamg_smoother jacobi",                                PETSC_TRUE },
    {"-pc_pamg_precision single",                                                PETSC_TRUE },
    {"-pc_pamg_coarse ksp -pamg_coarse_pc_type jacobi -pamg_coarse_ksp_type cg", PETSC_TRUE },
    {"-pc_pamg_levels 1",                                                        PETSC_TRUE },
    {SGS,                                                                        PETSC_TRUE },
    {SGS "-pc_pamg_cycle k -pc_pamg_pre 2 -pc_pamg_post 2",                      PETSC_TRUE },
    {"-pc_pamg_matching greedy",                                                 PETSC_FALSE}
  };
  Mat A;
  Vec r, z, hr, hz, y;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate("poisson", 3, 10, 1, &A));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(FillRandom(r, 11));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 10 * 10 * 10, &hr));
  PetscCall(VecDuplicate(hr, &hz));
  PetscCall(VecCopy(r, hr));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    PC        pc;
    PetscReal norm, away;

    PetscCall(CreatePC(A, cases[k].options, &pc));
    PetscCheck(((PC_PAMG *)pc->data)->place->device == cases[k].device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the levels are on the %s", cases[k].options,
               cases[k].device ? "host" : "device");
    for (int again = 0; again < 6; ++again) { // the first cycle after a set-up is not like the others
      if (again == 3) {
        PetscCall(PetscObjectStateIncrease((PetscObject)A));
        PetscCall(PCSetOperators(pc, A, A));
        PetscCall(PCSetUp(pc));
        PetscCheck(((PC_PAMG *)pc->data)->nrefresh == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no refresh", cases[k].options);
      }
      PetscCall(PCApply(pc, r, z));
      PetscCall(PCApply(pc, hr, hz));
      PetscCall(VecCopy(hz, y));
      PetscCall(VecNorm(z, NORM_2, &norm));
      PetscCall(VecAXPY(y, -1, z));
      PetscCall(VecNorm(y, NORM_2, &away));
      PetscCheck(norm > 0 && away <= 1e-14 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: vectors of the host differ by %g", cases[k].options,
                 (double)(away / norm));
    }
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&hr));
  PetscCall(VecDestroy(&hz));
  PetscCall(MatDestroy(&A));
  PetscCall(TestColours());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "levels are on the device\n"));
  PetscFunctionReturn(0);
}
