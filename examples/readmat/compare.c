/* The comparison of readmat.c: reads the list of solvers and runs one after the other */
#include "readmat.h"
#include <ctype.h>
#include <string.h>

/* The comparison when no -solvers file is given */
static const char *const symmetricsolvers[] = {
  "cg jacobi: -ksp_type cg -pc_type jacobi",
  "cg tns: -ksp_type cg -pc_type tns",
  "cg icc: -ksp_type cg -pc_type bjacobi -sub_pc_type icc",
  "cg gamg: -ksp_type cg -pc_type gamg",
  "cg levelset tns: -ksp_type cg -pc_type levelset -levelset_pc_type tns",
  "dcg jacobi: -ksp_type dcg -pc_type jacobi",
  "dcg tns: -ksp_type dcg -pc_type tns",
  "dcg icc: -ksp_type dcg -pc_type bjacobi -sub_pc_type icc",
  "cg pamg: -ksp_type cg -pc_type pamg",
  NULL,
};
static const char *const generalsolvers[] = {
  "gmres ilu: -ksp_type gmres -ksp_pc_side right -pc_type bjacobi -sub_pc_type ilu",
  "bcgs ilu: -ksp_type bcgs -pc_type bjacobi -sub_pc_type ilu",
  "bcgs jacobi: -ksp_type bcgs -pc_type jacobi",
  "gmres gamg: -ksp_type gmres -ksp_pc_side right -pc_type gamg",
  "idrs ilu: -ksp_type idrs -ksp_idrs_s 8 -pc_type bjacobi -sub_pc_type ilu",
  "idrs nras: -ksp_type idrs -ksp_idrs_s 8 -pc_type nras",
  "bcgs pamg: -ksp_type bcgs -pc_type pamg",
  NULL,
};

/* Adds the solver of a line 'name: options' */
static PetscErrorCode AddSolver(App *app, const char line[])
{
  char *colon;

  PetscFunctionBegin;
  while (isspace((unsigned char)*line)) ++line;
  PetscCheck(strchr(line, ':'), PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "A line of the -solvers file is 'name: options', not '%s'", line);
  PetscCheck(app->n < MAX_SOLVERS, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "More than %d solvers", MAX_SOLVERS);
  PetscCall(PetscStrallocpy(line, &app->solver[app->n].name));
  colon    = strchr(app->solver[app->n].name, ':');
  *colon++ = 0;
  PetscCall(PetscStrallocpy(colon, &app->solver[app->n].options));
  ++app->n;
  PetscFunctionReturn(0);
}

/* One process reads the file and broadcasts its lines */
static PetscErrorCode ReadSolvers(App *app, const char file[])
{
  Lines       in = {.file = file};
  int         more;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) LinesOpen(&in, file);
  while (PETSC_TRUE) {
    more = rank == 0 && LinesNextFull(&in, '#');
    PetscCall(CheckAll(in.message));
    PetscCallMPI(MPI_Bcast(&more, 1, MPI_INT, 0, PETSC_COMM_WORLD));
    if (!more) break;
    PetscCallMPI(MPI_Bcast(in.line, sizeof(in.line), MPI_CHAR, 0, PETSC_COMM_WORLD));
    in.line[strcspn(in.line, "\r")] = 0;
    PetscCall(AddSolver(app, in.line));
  }
  if (rank == 0) LinesClose(&in);
  PetscCheck(app->n, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "-solvers %s names no solver: its lines are 'name: options'", file);
  PetscFunctionReturn(0);
}

PetscErrorCode GetSolvers(App *app)
{
  char      file[PETSC_MAX_PATH_LEN];
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solvers", file, sizeof(file), &set));
  if (set) PetscCall(ReadSolvers(app, file));
  else {
    for (const char *const *s = app->symmetric ? symmetricsolvers : generalsolvers; *s; ++s) PetscCall(AddSolver(app, *s));
  }
  PetscFunctionReturn(0);
}

/* Inserts the options of a solver with its prefix; options that the user gave with the prefix take precedence */
static PetscErrorCode InsertOptions(const char prefix[], const char options[])
{
  char    **word, name[256];
  int       n;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(options, ' ', &n, &word));
  for (int k = 0; k < n; ++k) {
    const PetscBool value = (PetscBool)(k + 1 < n && !(word[k + 1][0] == '-' && isalpha((unsigned char)word[k + 1][1])));

    PetscCheck(word[k][0] == '-', PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "'%s' in '%s' is not an option: options begin with -", word[k], options);
    PetscCall(PetscSNPrintf(name, sizeof(name), "-%s%s", prefix, word[k] + 1));
    PetscCall(PetscOptionsHasName(NULL, NULL, name, &set));
    if (!set) PetscCall(PetscOptionsSetValue(NULL, name, value ? word[k + 1] : NULL));
    if (value) ++k;
  }
  PetscCall(PetscStrToArrayDestroy(n, word));
  PetscFunctionReturn(0);
}

/* Number of deflation vectors in use, 0 for a solver without deflation */
static PetscErrorCode CountVectors(KSP ksp, PetscInt *d)
{
  PolderDeflationSpace space = NULL;
  PC                   pc;
  PetscBool            isdcg, islevelset;

  PetscFunctionBegin;
  *d = 0;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPDCG, &isdcg));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLEVELSET, &islevelset));
  if (isdcg) PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  else if (islevelset) PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  if (space) PetscCall(PolderDeflationSpaceGetSize(space, d));
  PetscFunctionReturn(0);
}

/* The operator is the matrix, in the type of -mat_type with the prefix of the solver if that is given */
static PetscErrorCode SetOperator(Mat A, KSP ksp)
{
  const char *prefix;
  char        type[64];
  PetscBool   set;
  Mat         B = A;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscOptionsGetString(NULL, prefix, "-mat_type", type, sizeof(type), &set));
  if (set) PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(KSPSetOperators(ksp, B, B));
  if (set) PetscCall(MatDestroy(&B)); // the solver keeps it
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveOne(App *app, KSP ksp, PetscLogDouble t[3])
{
  PetscFunctionBegin;
  PetscCall(SetOperator(app->A, ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&t[0]));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(PetscTime(&t[1]));
  PetscCall(KSPSolve(ksp, app->b, app->x));
  PetscCall(PetscTime(&t[2]));
  PetscFunctionReturn(0);
}

/* What a solver has not read before it stopped with an error is not misspelt */
static PetscErrorCode CountAsRead(const char prefix[])
{
  char    **names, **values, option[256];
  PetscInt  n;
  PetscBool same, there;

  PetscFunctionBegin;
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(PetscStrbeginswith(names[k], prefix, &same));
    if (!same) continue;
    PetscCall(PetscSNPrintf(option, sizeof(option), "-%s", names[k]));
    PetscCall(PetscOptionsHasName(NULL, NULL, option, &there));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode RunSolver(App *app, PetscInt k, PetscBool alone)
{
  KSP                ksp;
  PetscErrorCode     ierr = (PetscErrorCode)0;
  PetscLogDouble     t[3];
  char               prefix[16], grid[64];
  PetscBool          set;
  KSPConvergedReason reason;
  PetscInt           its, d;
  PetscReal          nr;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "s%" PetscInt_FMT "_", k + 1));
  PetscCall(InsertOptions(prefix, app->solver[k].options));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-grid", grid, sizeof(grid), &set));
  if (set && (strstr(app->solver[k].options, "dcg") || strstr(app->solver[k].options, "levelset"))) {
    char option[128];

    PetscCall(PetscSNPrintf(option, sizeof(option), "-deflation_grid %s", grid));
    PetscCall(InsertOptions(prefix, option));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, app->rtol, PETSC_DEFAULT, PETSC_DEFAULT, 20000));
  PetscCall(VecSet(app->x, 0.0));
  if (alone) PetscCall(SolveOne(app, ksp, t));
  else {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = SolveOne(app, ksp, t);
    PetscCall(PetscPopErrorHandler());
  }
  if (ierr) {
    const char *text, *said; /* for an error of this kind, and by what found it */

    PetscCall(PetscErrorMessage(ierr, &text, (void *)&said)); /* a char ** before PETSc 3.26 */
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-20s stopped with an error: %s; -solver %" PetscInt_FMT " runs it alone and shows where\n", app->solver[k].name,
                          said && *said ? said
                          : text        ? text
                                        : "",
                          k + 1));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    (void)!KSPDestroy(&ksp); /* a partly created solver may fail here again */
    PetscCall(PetscPopErrorHandler());
    PetscCall(CountAsRead(prefix));
    PetscFunctionReturn(0);
  }
  PetscCall(MatMult(app->A, app->x, app->r));
  PetscCall(VecAYPX(app->r, -1.0, app->b));
  PetscCall(VecNorm(app->r, NORM_2, &nr));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(CountVectors(ksp, &d));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-20s %-24s %6" PetscInt_FMT " %9.2e %7" PetscInt_FMT, app->solver[k].name, KSPConvergedReasons[reason], its,
                        (double)(nr / app->nb), d));
  if (app->timings) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %10.4f %10.4f", t[1] - t[0], t[2] - t[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}
