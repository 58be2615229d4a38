static char help[] = "The factor of the repeated red-black preconditioner in single precision: its entries, and iterations that stay what they are.\n\n";

#include <polder.h>
#include <petsc/private/pcimpl.h>
#include "kernels/rrbrow.h"
#include "runner.h"
#include "bubbles.h"
#include "rrbproblems.h"

/* Entries of a node over its pivot, as a medium with jumps has them: the largest is one that its neighbours share, the others are down to 1e-8
   of it, some are zero; sum - 1 is their sum */
static void FillNode(PetscInt seed, PetscScalar sum, PetscScalar entry[])
{
  PetscScalar total = 0;

  for (PetscInt f = 0; f < 4; ++f) {
    const PetscReal size = Hash(seed, f, 1), kind = Hash(seed, f, 2);

    entry[f] = kind < 0.2 && f < 3 ? 0 : kind < 0.5 ? PetscPowReal(10, -8 * size) : 0.5 + size;
    total += entry[f];
  }
  for (PetscInt f = 0; f < 4; ++f) entry[f] *= (sum - 1) / total;
}

/* The entries of a node in single precision, as those of kind d (RRB_B1D, RRB_B2D, RRB_R1D), with a pivot of one */
static int RoundNode(int d, const PetscScalar entry[], float single[])
{
  PetscScalar c[RRB_NCOEF] = {0};
  float       s[RRB_NCOEF];
  int         seen;

  for (int f = 0; f < 4; ++f) c[d - 4 + f] = entry[f];
  c[d] = 1;
  seen = PolderRRBRound(1, c, s, 0);
  for (int f = 0; f < 4; ++f) single[f] = s[d - 4 + f];
  return seen;
}

static PetscErrorCode TestRound(void)
{
  static const int exchanged[2][4] = {
  /* mirrored in the diagonal: b1 N to b2 E, E to N, S to W, W to S; r1 SE to NW */
    {1, 0, 3, 2},
    {0, 3, 2, 1}
  };
  PetscReal error = 0, sums = 0, small = 0;
  PetscBool zeros = PETSC_TRUE, mirror = PETSC_TRUE, fits = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt seed = 0; seed < 20000; ++seed) {
    const PetscScalar sum = seed % 3 ? 0 : PetscPowReal(10, -8 * Hash(seed, 5, 5));
    PetscScalar       entry[4], other[4], most = 0, got = 0;
    float             single[4], mirrored[4];
    const int         r1 = seed % 2;

    FillNode(seed, sum, entry);
    for (int f = 0; f < 4; ++f) other[exchanged[r1][f]] = entry[f];
    fits = (PetscBool)(fits && !RoundNode(r1 ? RRB_R1D : RRB_B1D, entry, single) && !RoundNode(r1 ? RRB_R1D : RRB_B2D, other, mirrored));
    for (int f = 0; f < 4; ++f) {
      most = PetscMax(most, PetscAbsScalar(entry[f]));
      got += single[f];
      zeros  = (PetscBool)(zeros && (entry[f] != 0 || single[f] == 0));
      mirror = (PetscBool)(mirror && single[f] == mirrored[exchanged[r1][f]]);
    }
    for (int f = 0; f < 4; ++f) error = PetscMax(error, PetscAbsScalar(single[f] - entry[f]) / most);
    if (sum == 0) sums = PetscMax(sums, PetscAbsScalar(got + 1));
    else small = PetscMax(small, PetscAbsScalar(got + 1 - sum));
  }
  PetscCall(Report("entries to two places of the largest", (PetscBool)(error <= 2 * FLT_EPSILON), error));
  PetscCall(Report("a sum of -1 stays one", (PetscBool)(sums < 1e-15), sums));
  PetscCall(Report("others, to half a place of the largest", (PetscBool)(small <= FLT_EPSILON / 4 * (1 + FLT_EPSILON)), small));
  PetscCall(Report("zeros stay zeros", zeros, 0));
  PetscCall(Report("mirrored nodes, but for equal SE and NW, get mirrored entries", mirror, 0));
  PetscCall(Report("all fit", fits, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What single precision does not hold */
static PetscErrorCode TestRange(void)
{
  static const PetscScalar entries[][4] = {
    {-1e39, 0,  0,     0},
    {0,     -1, -1e39, 0},
    {-1,    -1, -1,    0}
  };
  static const PetscScalar pivots[] = {1e39, 1e-50, 1};
  float                    single[RRB_NCOEF];

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; ++k) {
    PetscScalar c[RRB_NCOEF] = {0};

    PetscCall(Report("entries out of range", (PetscBool)(RoundNode(RRB_R1D, entries[k], single) == (k < 2 ? RRB_SEEN_RANGE : 0)), k));
    c[RRB_B2D] = pivots[k];
    PetscCall(Report("pivots out of range", (PetscBool)(PolderRRBRound(1, c, single, 0) == (k < 2 ? RRB_SEEN_RANGE : 0)), k));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Iterations(Mat A, Vec f, KSPType type, PetscBool single, PetscInt *its, PetscReal *residual)
{
  KSP ksp;
  PC  pc;
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(f, &x));
  PetscCall(CreateSolver(A, type, PETSC_DECIDE, &ksp));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-5, 0, 1e30, 300));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCRRBSetSinglePrecision(pc, single));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, f, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(TrueResidual(A, f, x, residual));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sixteen bubbles in both precisions. At 1e6 rounding each entry to the nearest takes more iterations. Those of light bubbles double precision
   itself decides by rounding: cg and dcg differ by one */
static PetscErrorCode TestIterations(void)
{
  static const PetscReal contrast[] = {1e6, 1e3, 1e-3};
  static const PetscInt  size[]     = {100, 128, 200, 256};
  char                   type[64]   = KSPCG;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solver", type, sizeof(type), NULL));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(contrast); ++c) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(size); ++k) {
      const Bubbles b = {.dim = 2, .n = size[k], .k = 4, .radius = 0.3 / 4, .inside = contrast[c], .scale = 1};
      Mat           A;
      Vec           f;
      PetscInt      its[2];
      PetscReal     residual[2];
      char          what[128];

      PetscCall(BubblesNeumann(&b, PETSC_COMM_WORLD, &A, &f));
      PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
      for (int single = 0; single < 2; ++single) PetscCall(Iterations(A, f, type, (PetscBool)single, &its[single], &residual[single]));
      PetscCall(PetscInfo(A, "%" PetscInt_FMT " and %" PetscInt_FMT " iterations\n", its[0], its[1]));
      PetscCall(PetscSNPrintf(what, sizeof(what), "bubbles %" PetscInt_FMT ", contrast %g", size[k], (double)contrast[c]));
      PetscCall(Report(what, (PetscBool)(PetscAbsInt(its[1] - its[0]) <= (contrast[c] < 1) && its[0] > 5 && residual[0] < 1.1e-5 && residual[1] < 1.1e-5),
                       its[1] - its[0]));
      PetscCall(VecDestroy(&f));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-round",      TestRound     },
    {"-range",      TestRange     },
    {"-iterations", TestIterations}
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

   build: internal

   test:
     suffix: round
     args: -round -range

   testset:
     output_file: output/rrbsingle_iterations.out
     args: -iterations -mat_type {{aij aijdia}}
     test:
       suffix: cg
       args: -solver cg
     test:
       suffix: dcg
       args: -solver dcg -deflation_space none
     test:
       suffix: reduced
       args: -solver rrbcg
     test:
       suffix: ranks
       nsize: 3
       args: -solver cg

TEST*/
