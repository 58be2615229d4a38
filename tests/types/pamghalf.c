static char help[] = "Pairwise-aggregation multigrid with entries in bfloat16: iterations beside those in single and in double precision.\n\n";

#include "pamgproblems.h"
#include "runner.h"

#define CHEBYSHEV "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 "

static const char *const precisions[] = {"double", "single", "half"};

/* V- and K-cycles on grids, on aggregates of grids and on tetrahedra, at contrasts up to 1e6: as many iterations as in double precision, two more at 1e6 */
static PetscErrorCode TestIterations(void)
{
  static const struct {
    const char *kind;
    PetscInt    dim, n;
    PetscReal   jump;
  } problems[] = {
    {"poisson",    2, 127, 1   },
    {"poisson",    3, 32,  1   },
    {"poisson",    2, 127, 1e3 },
    {"bubbles",    2, 128, 1e3 },
    {"bubbles",    2, 128, 1e6 },
    {"bubbles",    3, 32,  1e3 },
    {"bubbles",    3, 32,  1e-3},
    {"bubbles",    3, 32,  1e6 },
    {"tetrahedra", 3, 16,  1   },
    {"tetrahedra", 3, 16,  1e3 },
    {"tetrahedra", 3, 16,  1e6 }
  };
  static const char *const methods[] = {"-ksp_type cg ", "-ksp_type cg " CHEBYSHEV, "-ksp_type cg -pc_pamg_grid 0 " CHEBYSHEV,
                                        "-ksp_type fcg -pc_pamg_cycle k -pc_pamg_smoother jacobi ", "-ksp_type fcg -pc_pamg_cycle k -pc_pamg_grid 0 "};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    Mat A;

    PetscCall(ProblemCreate(problems[k].kind, problems[k].dim, problems[k].n, problems[k].jump, &A));
    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(methods); ++m) {
      const PetscInt more = problems[k].jump > 1e3 ? 2 : 0;
      PetscInt       its[3];
      char           text[200];

      for (int p = 0; p < 3; ++p) {
        PetscReal residual;

        PetscCall(PetscSNPrintf(text, sizeof(text), "%s-pc_type pamg -pc_pamg_precision %s", methods[m], precisions[p]));
        PetscCall(ProblemSolve(A, text, NULL, &its[p], &residual));
        PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %g, %s: true residual %g", problems[k].kind, (double)problems[k].jump, text,
                   (double)residual);
      }
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %d-D %g %s: %d %d %d%s\n",problems[k].kind, (int)problems[k].dim, (double)problems[k].jump, methods[m], (int)its[0], (int)its[1], (int)its[2], its[2] > PetscMin(its[0], its[1]) + more ? " MORE" : ""));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-iterations", TestIterations},
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

TEST*/
