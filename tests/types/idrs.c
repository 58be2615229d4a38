static char help[] = "IDR(s) for general matrices: products against other solvers, reductions, claims, breakdowns, settings.\n\n";

#include "idrs/idrs.h"
#include "runner.h"

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-products",   TestProducts  },
    {"-explore",   TestExplore  },
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(PetscFinalize());
  return 0;
}
