static char help[] = "Every setter of the public interface does what its option does; spaces follow what is changed after a set-up.\n\n";

#include "bubbles.h"
#include "message.h"
#include "vecs.h"

typedef enum {
  SUBDOMAIN,
  STRIPE,
  PARTITION,
  MATRIX,
  NUM_KINDS
} Kind;
static const char *const options[] = {"-o_deflation_space subdomain -o_deflation_grid 12,12,12 -o_deflation_boxes 2,3,2",
                                      "-o_deflation_space stripe -o_deflation_grid 12,12,12 -o_deflation_count 9",
                                      "-o_deflation_space partition -o_deflation_count 8", "-o_deflation_space user"};

/* Three vectors: thirds of the rows */
static PetscErrorCode MakeZ(Mat A, Mat *Z)
{
  PetscInt m, M, start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 3, 1, NULL, 1, NULL, Z));
  for (PetscInt i = start; i < end; ++i) PetscCall(MatSetValue(*Z, i, 3 * i / M, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*Z, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*Z, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetByCalls(PolderDeflationSpace space, Kind kind, Mat Z)
{
  const PetscInt           grid[] = {12, 12, 12}, boxes[] = {2, 3, 2};
  PolderDeflationSpaceType type;
  PetscBool                same;

  PetscFunctionBeginUser;
  PetscCall(PolderDeflationSpaceSetGrid(space, 3, grid));
  PetscCall(PolderDeflationSpaceSetBoxes(space, 3, boxes));
  PetscCall(PolderDeflationSpaceSetCount(space, kind == STRIPE ? 9 : 8));
  if (kind == MATRIX) PetscCall(PolderDeflationSpaceSetMatrix(space, Z));
  else
    PetscCall(
      PolderDeflationSpaceSetType(space, kind == SUBDOMAIN ? POLDERDEFLATIONSUBDOMAIN : (kind == STRIPE ? POLDERDEFLATIONSTRIPE : POLDERDEFLATIONPARTITION)));
  PetscCall(PolderDeflationSpaceGetType(space, &type));
  PetscCall(PetscStrcmp(type, POLDERDEFLATIONUSER, &same));
  PetscCheck(same == (PetscBool)(kind == MATRIX), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The type is %s", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All vectors of two spaces agree, and so does what they do to a random vector */
static PetscErrorCode Compare(PolderDeflationSpace a, PolderDeflationSpace b, Mat A, PetscInt expected)
{
  Vec       x, y;
  PetscReal norm;
  PetscInt  da, db;

  PetscFunctionBeginUser;
  PetscCall(PolderDeflationSpaceGetSize(a, &da));
  PetscCall(PolderDeflationSpaceGetSize(b, &db));
  PetscCheck(da == expected && db == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " vectors by options, %" PetscInt_FMT " by calls, expected %" PetscInt_FMT, da, db, expected);
  PetscCall(CreateVecs(A, &x, &y));
  for (PetscInt k = 0; k <= da; ++k) {
    if (k < da) {
      PetscCall(PolderDeflationSpaceGetVector(a, k, x));
      PetscCall(PolderDeflationSpaceGetVector(b, k, y));
    } else {
      PetscCall(FillRandom(x, 4));
      PetscCall(VecCopy(x, y));
      PetscCall(PolderDeflationSpaceApplyP(a, x));
      PetscCall(PolderDeflationSpaceApplyP(b, y));
    }
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCheck(norm > 0.5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Vector %" PetscInt_FMT " is not there", k);
    PetscCall(VecAXPY(y, -1, x));
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCheck(norm <= 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Vector %" PetscInt_FMT " differs by %g", k, (double)norm);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckKind(Mat A, Kind kind)
{
  static const PetscInt expected[] = {12, 9, 8, 3};
  PolderDeflationSpace  byoption, bycall;
  Mat                   Z;

  PetscFunctionBeginUser;
  PetscCall(MakeZ(A, &Z));
  PetscCall(PetscObjectCompose((PetscObject)A, "deflation_matrix", (PetscObject)Z));
  PetscCall(PetscOptionsInsertString(NULL, options[kind]));
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_WORLD, &byoption));
  PetscCall(PolderDeflationSpaceSetOptionsPrefix(byoption, "o_"));
  PetscCall(PolderDeflationSpaceSetFromOptions(byoption));
  PetscCall(PolderDeflationSpaceSetUp(byoption, A));
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_WORLD, &bycall));
  PetscCall(SetByCalls(bycall, kind, Z));
  PetscCall(PolderDeflationSpaceSetUp(bycall, A));
  PetscCall(Compare(byoption, bycall, A, expected[kind]));
  PetscCall(PolderDeflationSpaceView(bycall, PETSC_VIEWER_STDOUT_WORLD));
  /* the same vectors with every coarse solver, changed after the set-up */
  PetscCall(PetscOptionsInsertString(NULL, "-o_deflation_coarse ksp -o_deflation_coarse_ksp_rtol 1e-14"));
  PetscCall(PolderDeflationSpaceSetFromOptions(byoption));
  PetscCall(PolderDeflationSpaceSetUp(byoption, A));
  PetscCall(Compare(byoption, bycall, A, expected[kind]));
  PetscCall(PetscOptionsInsertString(NULL, "-o_deflation_coarse inverse"));
  PetscCall(PolderDeflationSpaceSetFromOptions(byoption));
  PetscCall(PolderDeflationSpaceSetUp(byoption, A));
  PetscCall(Compare(byoption, bycall, A, expected[kind]));
  PetscCall(PetscOptionsClearValue(NULL, "-o_deflation_coarse"));
  PetscCall(PolderDeflationSpaceDestroy(&byoption));
  PetscCall(PolderDeflationSpaceDestroy(&bycall));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The flexible form by its setter: as many iterations as with its option, and not those of the plain form when the preconditioner varies */
static PetscErrorCode CheckFlexible(Mat A)
{
  KSP                  ksp;
  Vec                  x, b;
  PetscInt             its[3];
  KSPConvergedReason   reason;
  PolderDeflationSpace space;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-f_pc_type ksp -f_ksp_ksp_type cg -f_ksp_ksp_rtol 1e-1 -f_ksp_pc_type jacobi"));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(x, 2));
  PetscCall(MatMult(A, x, b));
  for (int k = 0; k < 3; ++k) { /* plain, by call, by option */
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOptionsPrefix(ksp, "f_"));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPDCG));
    PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
    PetscCall(PolderDeflationSpaceSetType(space, POLDERDEFLATIONNONE));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 1000));
    if (k == 1) PetscCall(KSPDCGSetFlexible(ksp, PETSC_TRUE));
    if (k == 2) PetscCall(PetscOptionsSetValue(NULL, "-f_ksp_dcg_flexible", NULL));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCheck(k == 0 || reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The flexible form ends with %s", KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCheck(its[1] == its[2] && its[1] < its[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "Iterations: %" PetscInt_FMT " plain, %" PetscInt_FMT " flexible by call, %" PetscInt_FMT " by option", its[0], its[1], its[2]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver with an options database of its own takes the options of its space from there */
static PetscErrorCode CheckOwnOptions(Mat A, PetscBool levelset)
{
  PetscOptions             options;
  KSP                      ksp;
  PC                       pc;
  PolderDeflationSpace     space;
  PolderDeflationSpaceType type;
  PetscBool                same;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, "-deflation_space none"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectSetOptions(levelset ? (PetscObject)pc : (PetscObject)ksp, options));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, levelset ? KSPCG : KSPDCG));
  PetscCall(PCSetType(pc, levelset ? PCLEVELSET : PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  if (levelset) PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
  else PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  PetscCall(PolderDeflationSpaceGetType(space, &type));
  PetscCall(PetscStrcmp(type, POLDERDEFLATIONNONE, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The space is %s", type);
  PetscCall(PetscObjectSetOptions(levelset ? (PetscObject)pc : (PetscObject)ksp, NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A setter of a preconditioner: the options base go with it, given do what the call does, and other set something else */
typedef struct {
  const char *type, *base, *given, *other;
  PetscErrorCode (*call)(PC);
} Setting;

#define CALL(name, ...) \
  static PetscErrorCode name(PC pc) \
  { \
    PetscFunctionBeginUser; \
    PetscCall(__VA_ARGS__); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
CALL(Cycle, PCPAMGSetCycle(pc, PC_PAMG_CYCLE_K))
CALL(Smoother, PCPAMGSetSmoother(pc, PC_PAMG_SMOOTHER_L1JACOBI))
CALL(Steps, PCPAMGSetSteps(pc, 3, 4))
CALL(Passes, PCPAMGSetPasses(pc, 3))
CALL(Quality, PCPAMGSetQuality(pc, 2.5))
CALL(CoarseLimit, PCPAMGSetCoarseLimit(pc, 10))
CALL(Precision, PCPAMGSetPrecision(pc, PC_PAMG_PRECISION_SINGLE))
CALL(Form, PCIPSetForm(pc, PC_IP_DIAG))
CALL(PowerFSAI, PCFSAISetPower(pc, 2))
CALL(Omega, PCMICSetOmega(pc, 0.5))
CALL(Blocks, PCMICSetBlocks(pc, 3))
CALL(Levels, PCILUCSetLevels(pc, 1))
CALL(PowerILUC, PCILUCSetPower(pc, 2))
CALL(Sets, PCMEILUSetSets(pc, 2))
CALL(Last, PCMEILUSetLast(pc, PC_MEILU_SGS))

#define LEVELS "-pc_pamg_coarse_limit 20 "
#define PAIRS  "-pc_pamg_grid no "
static const Setting settings[] = {
  {PCPAMG,  LEVELS,       "-pc_pamg_cycle k",               "-pc_pamg_cycle w",               Cycle      },
  {PCPAMG,  LEVELS,       "-pc_pamg_smoother l1jacobi",     "-pc_pamg_smoother jacobi",       Smoother   },
  {PCPAMG,  LEVELS,       "-pc_pamg_pre 3 -pc_pamg_post 4", "-pc_pamg_pre 1 -pc_pamg_post 3", Steps      },
  {PCPAMG,  LEVELS PAIRS, "-pc_pamg_passes 3",              "-pc_pamg_passes 1",              Passes     },
  {PCPAMG,  LEVELS PAIRS, "-pc_pamg_quality 2.5",           "-pc_pamg_quality 12",            Quality    },
  {PCPAMG,  PAIRS,        "-pc_pamg_coarse_limit 10",       "-pc_pamg_coarse_limit 100",      CoarseLimit},
  {PCPAMG,  LEVELS,       "-pc_pamg_precision single",      "-pc_pamg_precision double",      Precision  },
  {PCIP,    "",           "-pc_ip_form diag",               "-pc_ip_form stencil",            Form       },
  {PCFSAI,  "",           "-pc_fsai_power 2",               "-pc_fsai_power 3",               PowerFSAI  },
  {PCMIC,   "",           "-pc_mic_omega 0.5",              "-pc_mic_omega 0.7",              Omega      },
  {PCMIC,   "",           "-pc_mic_blocks 3",               "-pc_mic_blocks 2",               Blocks     },
  {PCILUC,  "",           "-pc_iluc_levels 1",              "-pc_iluc_levels 2",              Levels     },
  {PCILUC,  "",           "-pc_iluc_power 2",               "-pc_iluc_power 3",               PowerILUC  },
  {PCMEILU, "",           "-pc_meilu_sets 2",               "-pc_meilu_sets 3",               Sets       },
  {PCMEILU, "",           "-pc_meilu_last sgs",             "-pc_meilu_last jacobi",          Last       }
};

/* What the view says, on the first process */
static PetscErrorCode GetView(PC pc, size_t n, char text[])
{
  PetscViewer viewer;
  PetscMPIInt rank;
  FILE       *file;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscArrayzero(text, n));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "view.txt", &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  file = fopen("view.txt", "r");
  PetscCheck(file && fread(text, 1, n - 1, file), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot read view.txt");
  fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is known of a preconditioner: the iterations, an apply and the view */
typedef struct {
  PetscInt its;
  Vec      z;
  char     view[4096];
} Known;

/* A solver with the options; call: the setter as well, before KSPSetFromOptions() or, later, after a solve */
static PetscErrorCode Learn(Mat A, const Setting *s, const char options[], PetscErrorCode (*call)(PC), PetscBool later, Known *known)
{
  PetscOptions own;
  KSP          ksp;
  PC           pc;
  Vec          x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(b, 3));
  PetscCall(VecDuplicate(x, &known->z));
  PetscCall(PetscOptionsCreate(&own));
  PetscCall(PetscOptionsInsertString(own, s->base));
  PetscCall(PetscOptionsInsertString(own, options));
  PetscCall(PetscOptionsPush(own));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPFCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, s->type));
  if (call && !later) PetscCall((*call)(pc));
  PetscCall(KSPSetFromOptions(ksp));
  if (call && later) {
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall((*call)(pc));
  }
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &known->its));
  PetscCall(PCApply(pc, b, known->z));
  PetscCall(GetView(pc, sizeof(known->view), known->view));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&own));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of two applies over the largest entry */
static PetscErrorCode Difference(const Known *a, const Known *b, PetscReal *difference)
{
  PetscReal norm;
  Vec       z;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(a->z, NORM_INFINITY, &norm));
  PetscCall(VecDuplicate(a->z, &z));
  PetscCall(VecCopy(a->z, z));
  PetscCall(VecAXPY(z, -1, b->z));
  PetscCall(VecNorm(z, NORM_INFINITY, difference));
  *difference /= norm;
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By option, by call, by call after a solve; nothing set; another option, and this one after the call */
static PetscErrorCode CheckSetting(Mat A, const Setting *s)
{
  enum {
    OPTION,
    CALLED,
    LATER,
    NOTHING,
    OTHER,
    AFTER,
    NUM_KNOWN
  };
  static const int pairs[][2] = {
    {OPTION, CALLED },
    {OPTION, LATER  },
    {OTHER,  AFTER  },
    {OPTION, NOTHING},
    {OPTION, OTHER  }
  };
  Known known[NUM_KNOWN];

  PetscFunctionBeginUser;
  PetscCall(Learn(A, s, s->given, NULL, PETSC_FALSE, &known[OPTION]));
  PetscCall(Learn(A, s, "", s->call, PETSC_FALSE, &known[CALLED]));
  PetscCall(Learn(A, s, "", s->call, PETSC_TRUE, &known[LATER]));
  PetscCall(Learn(A, s, "", NULL, PETSC_FALSE, &known[NOTHING]));
  PetscCall(Learn(A, s, s->other, NULL, PETSC_FALSE, &known[OTHER]));
  PetscCall(Learn(A, s, s->other, s->call, PETSC_FALSE, &known[AFTER]));
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(pairs); ++p) {
    const Known    *a = &known[pairs[p][0]], *b = &known[pairs[p][1]];
    const PetscBool alike = (PetscBool)(p < 3);
    PetscReal       difference;

    PetscCall(Difference(a, b, &difference));
    PetscCheck(alike ? difference < 1e-13 && a->its == b->its : difference > 1e-8, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s %s, pair %d: %" PetscInt_FMT " and %" PetscInt_FMT " iterations, applies differ by %g", s->type, s->given, (int)p, a->its, b->its,
               (double)difference);
    PetscCheck(!alike || !strcmp(a->view, b->view), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s, pair %d: %s and %s", s->type, s->given, (int)p, a->view, b->view);
  }
  for (int k = 0; k < NUM_KNOWN; ++k) PetscCall(VecDestroy(&known[k].z));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s: the call does the same\n", s->type, s->given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

CALL(BadCycle, PCPAMGSetCycle(pc, (PCPAMGCycleType)3))
CALL(BadSmoother, PCPAMGSetSmoother(pc, (PCPAMGSmoother)5))
CALL(BadPre, PCPAMGSetSteps(pc, -2, 1))
CALL(BadPost, PCPAMGSetSteps(pc, 1, 101))
CALL(BadPasses, PCPAMGSetPasses(pc, 4))
CALL(BadQuality, PCPAMGSetQuality(pc, -1.5))
CALL(BadCoarseLimit, PCPAMGSetCoarseLimit(pc, 0))
CALL(BadPrecision, PCPAMGSetPrecision(pc, (PCPAMGPrecision)4))
CALL(BadForm, PCIPSetForm(pc, (PCIPForm)4))
CALL(BadPowerFSAI, PCFSAISetPower(pc, 6))
CALL(BadOmega, PCMICSetOmega(pc, 1.5))
CALL(BadBlocks, PCMICSetBlocks(pc, 0))
CALL(BadLevels, PCILUCSetLevels(pc, 11))
CALL(BadPowerILUC, PCILUCSetPower(pc, 12))
CALL(BadSets, PCMEILUSetSets(pc, 0))
CALL(BadLast, PCMEILUSetLast(pc, (PCMEILULast)3))

/* Bad values are refused, and other types take no notice of any call */
static PetscErrorCode CheckBad(void)
{
  static const struct {
    const char *type;
    PetscErrorCode (*call)(PC);
  } bad[] = {
    {PCPAMG,  BadCycle      },
    {PCPAMG,  BadSmoother   },
    {PCPAMG,  BadPre        },
    {PCPAMG,  BadPost       },
    {PCPAMG,  BadPasses     },
    {PCPAMG,  BadQuality    },
    {PCPAMG,  BadCoarseLimit},
    {PCPAMG,  BadPrecision  },
    {PCIP,    BadForm       },
    {PCFSAI,  BadPowerFSAI  },
    {PCMIC,   BadOmega      },
    {PCMIC,   BadBlocks     },
    {PCILUC,  BadLevels     },
    {PCILUC,  BadPowerILUC  },
    {PCMEILU, BadSets       },
    {PCMEILU, BadLast       }
  };
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bad); ++k) {
    PetscErrorCode ierr;

    PetscCall(PCSetType(pc, bad[k].type));
    message[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = (*bad[k].call)(pc);
    PetscCall(PetscPopErrorHandler());
    PetscCall(PrintMessage(bad[k].type, ierr, ""));
    PetscCall(PCSetType(pc, k % 2 ? PCMCSGS : PCJACOBI));
    PetscCall((*bad[k].call)(pc));
  }
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat       A = NULL;
  Bubbles   bubbles;
  PetscBool pcs;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-pcs", &pcs));
  if (pcs) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(settings); ++k) PetscCall(CheckSetting(A, &settings[k]));
    PetscCall(CheckBad());
  } else {
    for (Kind kind = SUBDOMAIN; kind < NUM_KINDS; ++kind) PetscCall(CheckKind(A, kind));
    PetscCall(CheckFlexible(A));
    for (int levelset = 0; levelset < 2; ++levelset) PetscCall(CheckOwnOptions(A, (PetscBool)levelset));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "setters and options agree\n"));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suites: valgrind(+1)
    nsize: {{1 2}}
    args: -n 12 -dirichlet
    filter: grep -e "vectors:" -e agree | cut -d ";" -f 1,2

  test:
    suites: valgrind(+1)
    suffix: pcs
    nsize: {{1 2}}
    args: -pcs -n 12 -dirichlet
    # the largest integer is another one with 64 bits
    filter: sed "s/between 1 and [0-9]\{10,\}/between 1 and the largest integer/"

TEST*/
