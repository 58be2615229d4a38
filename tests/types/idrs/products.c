/* How many products a solve takes, and how many reductions. */
#include "idrs.h"

#define RIGHT "-t_ksp_pc_side right -t_ksp_norm_type unpreconditioned -t_ksp_max_it 10000 "

static const PetscInt    Sizes[]    = {1, 2, 4, 8};
static const char *const Variants[] = {"minsync", "biortho"};

static PetscErrorCode SolveIDRS(Mat A, PetscInt s, const char variant[], const char others[], Outcome *outcome)
{
  char options[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-t_ksp_type idrs -t_ksp_idrs_s %" PetscInt_FMT " -t_ksp_idrs_variant %s %s", s, variant, others));
  PetscCall(SolveRandom(A, options, outcome));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Convection and diffusion, from little convection to much, with the counts of one process */
PetscErrorCode TestProducts(void)
{
  static const struct {
    Flow        flow;
    const char *pc;
    PetscInt    its[4];  /* of IDR(1), (2), (4) and (8) */
    PetscReal   most[2]; /* IDR(4) to bcgs, IDR(8) to fgmres(100) */
  } table[] = {
    {{2, 50, 1, 0, PETSC_FALSE, PETSC_FALSE},   "none",   {188, 175, 162, 159}, {0.9, 1}  },
    {{2, 50, 100, 0, PETSC_FALSE, PETSC_FALSE}, "none",   {164, 147, 125, 113}, {0.9, 1}  },
    {{2, 50, 1000, 0, PETSC_TRUE, PETSC_FALSE}, "none",   {154, 139, 122, 110}, {0.9, 1.2}},
    {{2, 50, 100, 0, PETSC_FALSE, PETSC_FALSE}, "jacobi", {164, 147, 125, 113}, {0.9, 1}  },
    {{3, 16, 1, 0, PETSC_FALSE, PETSC_FALSE},   "none",   {72, 73, 63, 65},     {0.9, 1.2}},
    {{3, 16, 1000, 0, PETSC_TRUE, PETSC_FALSE}, "none",   {66, 60, 55, 50},     {0.9, 1.2}}
  };

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(table); ++t) {
    Mat     A;
    Outcome bcgs, fgmres, last = {0};
    char    options[256], name[64];

    PetscCall(CreateFlow(&table[t].flow, &A));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%d-D, Peclet %g, %s", (int)table[t].flow.dim, (double)table[t].flow.peclet, table[t].pc));
    PetscCall(PetscSNPrintf(options, sizeof(options), RIGHT "-t_ksp_type bcgs -t_ksp_rtol 1e-8 -t_pc_type %s", table[t].pc));
    PetscCall(SolveRandom(A, options, &bcgs));
    PetscCall(PetscSNPrintf(options, sizeof(options), RIGHT "-t_ksp_type fgmres -t_ksp_gmres_restart 100 -t_ksp_rtol 1e-8 -t_pc_type %s", table[t].pc));
    PetscCall(SolveRandom(A, options, &fgmres));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-t_ksp_rtol 1e-8 -t_pc_type %s", table[t].pc));
    for (int k = 0; k < 4; ++k) {
      for (int v = 0; v < 2; ++v) {
        const PetscInt expected = table[t].its[k], few = 2 + expected / 30;

        PetscCall(SolveIDRS(A, Sizes[k], Variants[v], options, &last));
        PetscCall(Judge((PetscBool)(last.reason == KSP_CONVERGED_RTOL && last.residual <= 1e-8 && PetscAbsInt(last.its - expected) <= few), &last,
                        "%s: IDR(%" PetscInt_FMT ") %s: %" PetscInt_FMT " iterations or %" PetscInt_FMT " more or less", name, Sizes[k], Variants[v], expected,
                        few));
        PetscCall(Judge((PetscBool)(last.products == last.its + 1), &last, "   a product each, and one for the true residual"));
        if (k == 2)
          PetscCall(Judge((PetscBool)(last.products <= table[t].most[0] * bcgs.products), &last, "   at most %g of those of bcgs", (double)table[t].most[0]));
      }
    }
    PetscCall(
      Judge((PetscBool)(last.products <= table[t].most[1] * fgmres.products), &last, "   IDR(8) at most %g of those of fgmres(100)", (double)table[t].most[1]));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kind of problem on which IDR(8) shows its worth: reaction, convection and diffusion with a matrix far from diagonally dominant, whose eigenvalues lie
   around the origin; and convection by central differences on cells of Peclet 10. Residuals may go up to 10^5 times the first, of IDR(1) above all */
PetscErrorCode TestHard(void)
{
  static const struct {
    const char *name;
    Flow        flow;
    const char *pc;
  } table[] = {
    {"reaction, convection and diffusion",         {3, 20, 500, 400, PETSC_FALSE, PETSC_FALSE}, "none"  },
    {"reaction, convection and diffusion, jacobi", {3, 20, 500, 300, PETSC_FALSE, PETSC_FALSE}, "jacobi"},
    {"convection",                                 {2, 50, 1000, 0, PETSC_FALSE, PETSC_FALSE},  "none"  }
  };

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(table); ++t) {
    Mat     A;
    Outcome bcgs, idrs[2];
    char    options[256];

    PetscCall(CreateFlow(&table[t].flow, &A));
    PetscCall(PetscSNPrintf(options, sizeof(options), RIGHT "-t_ksp_type bcgs -t_ksp_rtol 1e-8 -t_ksp_divtol 1e10 -t_pc_type %s", table[t].pc));
    PetscCall(SolveRandom(A, options, &bcgs));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-t_ksp_rtol 1e-8 -t_ksp_divtol 1e10 -t_pc_type %s", table[t].pc));
    for (int k = 0; k < 4; ++k) {
      for (int v = 0; v < 2; ++v) {
        PetscCall(SolveIDRS(A, Sizes[k], Variants[v], options, &idrs[v]));
        PetscCall(
          Judge((PetscBool)(idrs[v].reason == KSP_CONVERGED_RTOL && idrs[v].residual <= 1e-8 && (idrs[v].products <= 0.6 * bcgs.products || bcgs.reason < 0)),
                &idrs[v], "%s: IDR(%" PetscInt_FMT ") %s takes at most 60 %% of the products of bcgs, unless that fails", table[t].name, Sizes[k],
                Variants[v]));
      }
    }
    PetscCall(Judge((PetscBool)(PetscAbsInt(idrs[0].its - idrs[1].its) <= 0.15 * idrs[0].its), &idrs[0], "   both variants of IDR(8) to within 15 %%"));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The table of docs/methods/idrs.md, which no test compares */
PetscErrorCode TestCounts(void)
{
  static const char *const solvers[] =
    {"bcgs", "fgmres -t_ksp_gmres_restart 100", "idrs -t_ksp_idrs_s 1", "idrs -t_ksp_idrs_s 2", "idrs -t_ksp_idrs_s 4", "idrs -t_ksp_idrs_s 8"};
  static const struct {
    Flow        flow;
    const char *pc;
  } table[] = {
    {{2, 50, 1, 0, PETSC_FALSE, PETSC_FALSE},     "none"  },
    {{2, 50, 100, 0, PETSC_FALSE, PETSC_FALSE},   "none"  },
    {{2, 50, 1000, 0, PETSC_FALSE, PETSC_FALSE},  "none"  },
    {{2, 50, 1000, 0, PETSC_TRUE, PETSC_FALSE},   "none"  },
    {{3, 20, 100, 200, PETSC_FALSE, PETSC_FALSE}, "none"  },
    {{3, 20, 200, 200, PETSC_FALSE, PETSC_FALSE}, "none"  },
    {{3, 20, 500, 200, PETSC_FALSE, PETSC_FALSE}, "none"  },
    {{3, 20, 500, 400, PETSC_FALSE, PETSC_FALSE}, "none"  },
    {{3, 20, 500, 400, PETSC_FALSE, PETSC_FALSE}, "ilu"   },
    {{3, 30, 500, 400, PETSC_FALSE, PETSC_FALSE}, "jacobi"}
  };

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(table); ++t) {
    const Flow *f = &table[t].flow;
    Mat         A;
    Outcome     outcome;
    char        options[256];

    PetscCall(CreateFlow(f, &A));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d-D, %d, Peclet %g, reaction %g%s, %s:", (int)f->dim, (int)f->n, (double)f->peclet, (double)f->reaction,
                          f->upwind ? ", upwind" : "", table[t].pc));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solvers); ++k) {
      for (int v = 0; v < (k < 2 ? 1 : 2); ++v) {
        PetscCall(PetscSNPrintf(options, sizeof(options), RIGHT "-t_ksp_rtol 1e-8 -t_ksp_divtol 1e10 -t_pc_type %s -t_ksp_type %s -t_ksp_idrs_variant %s",
                                table[t].pc, solvers[k], Variants[v]));
        PetscCall(SolveRandom(A, options, &outcome));
        if (outcome.reason > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT, outcome.products));
        else PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s(%" PetscInt_FMT ")", KSPConvergedReasons[outcome.reason], outcome.products));
      }
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In exact arithmetic the spaces are used up after N + N / s products, and a full random matrix takes nearly all of them */
PetscErrorCode TestTermination(void)
{
  Mat     A;
  Outcome outcome;

  PetscFunctionBeginUser;
  for (PetscInt n = 12; n <= 24; n += 6) {
    PetscCall(CreateDense(n, n == 12 ? 0 : 3, PETSC_FALSE, &A));
    for (int k = 0; k < 4; ++k) {
      for (int v = 0; v < 2; ++v) {
        const PetscInt most = n + (n + Sizes[k] - 1) / Sizes[k];

        PetscCall(SolveIDRS(A, Sizes[k], Variants[v], "-t_ksp_rtol 1e-6 -t_pc_type none -t_ksp_divtol 1e12", &outcome));
        PetscCall(Judge((PetscBool)(outcome.reason == KSP_CONVERGED_RTOL && outcome.residual <= 1e-6 && outcome.its <= most), &outcome,
                        "N = %" PetscInt_FMT ", IDR(%" PetscInt_FMT ") %s: at most %" PetscInt_FMT " products", n, Sizes[k], Variants[v], most));
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One reduction an iteration, besides two norms and Q^T r at the start, two norms at the end, and one more wherever the residual has dropped by 10^4,
   or rounding errors have come up otherwise; biortho has its inner products one at a time */
PetscErrorCode TestReductions(void)
{
  const Flow  flow = {2, 50, 100, 0, PETSC_FALSE, PETSC_FALSE};
  Mat         A;
  Outcome     outcome;
  PetscBool   ok;
  PetscMPIInt size;
#if defined(PETSC_USE_DEBUG)
  const PetscBool debug = PETSC_TRUE; // which compares arguments between processes
#else
  const PetscBool debug = PETSC_FALSE;
#endif

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreateFlow(&flow, &A));
  for (int k = 0; k < 4; ++k) {
    const PetscInt s = Sizes[k], cycle = s * (s - 1) / 2 + 2 * s + 3;

    PetscCall(SolveIDRS(A, s, "minsync", "-t_ksp_rtol 1e-10 -t_pc_type jacobi", &outcome));
    ok = (PetscBool)(outcome.reason == KSP_CONVERGED_RTOL && outcome.reductions <= (size > 1) * (outcome.its + 12));
    PetscCall(Judge((PetscBool)(ok || debug), &outcome, "IDR(%" PetscInt_FMT ") minsync: one reduction an iteration, and at most 12 more", s));
    PetscCall(SolveIDRS(A, s, "biortho", "-t_ksp_rtol 1e-10 -t_pc_type jacobi", &outcome));
    ok = (PetscBool)(outcome.reason == KSP_CONVERGED_RTOL && outcome.reductions <= (size > 1) * ((outcome.its / (s + 1) + 1) * cycle + 5));
    PetscCall(Judge((PetscBool)(ok || debug), &outcome, "IDR(%" PetscInt_FMT ") biortho: %" PetscInt_FMT " reductions a cycle, and at most 5 more", s, cycle));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
