static char help[] = "IDR(s) for general matrices: products against other solvers, reductions, claims, breakdowns, settings.\n\n";

#include "idrs/idrs.h"
#include "runner.h"

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-products",    TestProducts   },
    {"-hard",        TestHard       },
    {"-counts",      TestCounts     },
    {"-termination", TestTermination},
    {"-reductions",  TestReductions },
    {"-claims",      TestClaims     },
    {"-breakdowns",  TestBreakdowns },
    {"-singular",    TestSingular   },
    {"-settings",    TestSettings   },
    {"-bad",         TestBad        },
    {"-ksp",         TestKSP        },
    {"-view",        TestView       },
    {"-twin",        TestTwin       }
  };

  return RunProgram(argc, args, help, NULL, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  testset:
    nsize: {{1 2 3}}

    test:
      suffix: products
      leaks: the fgmres of PETSc 3.24 keeps parts of its vectors on CUDA
      args: -products
    test:
      suffix: hard
      args: -hard
    test:
      suffix: termination
      args: -termination
    test:
      suffix: reductions
      requires: log
      args: -reductions
    test:
      suffix: claims
      args: -claims
    test:
      suites: valgrind(+3) memcheck(+1)
      suffix: breakdowns
      args: -breakdowns
    test:
      suffix: singular
      args: -singular
    test:
      suites: valgrind(+1)
      suffix: settings
      args: -settings
    test:
      suffix: bad
      args: -bad
    test:
      suites: valgrind(+3) memcheck(+1)
      suffix: ksp
      args: -ksp

  test:
    suffix: twin
    requires: since_3.26 !gpu
    args: -twin

  test:
    suffix: view
    nsize: {{1 2}}
    args: -view
    filter: grep -e "type: idrs" -e IDR -e "asked for"

TEST*/
