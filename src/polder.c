/* Entry point of the plug-in: PETSc looks up PetscDLLibraryRegister_polder() in libpolder.so. */
#include "core/core.h"
#include "core/device.h"
#include "mat/aijderived.h"

PETSC_INTERN PetscErrorCode KSPCreate_DCG(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_RRBCG(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_IDRS(KSP);
PETSC_INTERN PetscErrorCode PCCreate_TNS(PC);
PETSC_INTERN PetscErrorCode PCCreate_RRB(PC);
PETSC_INTERN PetscErrorCode PCCreate_PAMG(PC);
PETSC_INTERN PetscErrorCode PCCreate_NRAS(PC);
PETSC_INTERN PetscErrorCode PCCreate_LevelSet(PC);
PETSC_INTERN PetscErrorCode PCCreate_MCSGS(PC);
PETSC_INTERN PetscErrorCode PCCreate_IP(PC);
PETSC_INTERN PetscErrorCode PCCreate_FSAI(PC);
PETSC_INTERN PetscErrorCode PCCreate_MIC(PC);
PETSC_INTERN PetscErrorCode PCCreate_ILUC(PC);
PETSC_INTERN PetscErrorCode PCCreate_MEILU(PC);
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJDIA(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJDIA(Mat);
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJICRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJICRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJHEC(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJHEC(Mat);
PETSC_INTERN PetscErrorCode VecCreate_PolderCUDA(Vec);

PetscClassId  PolderLogClassId = 0;
PetscLogEvent PolderLogEvents[POLDER_NUM_EVENTS];

typedef enum {
  POLDER_KSP,
  POLDER_PC,
  POLDER_MAT
} PolderKind;

static const struct {
  PolderKind  kind;
  const char *name;
  PetscErrorCode (*create_ksp)(KSP);
  PetscErrorCode (*create_pc)(PC);
  PetscErrorCode (*create_mat)(Mat);
} PolderTypes[] = {
  {POLDER_KSP, KSPDCG,        KSPCreate_DCG,   NULL,              NULL                },
  {POLDER_KSP, KSPRRBCG,      KSPCreate_RRBCG, NULL,              NULL                },
  {POLDER_KSP, KSPIDRS,       KSPCreate_IDRS,  NULL,              NULL                },
  {POLDER_PC,  PCTNS,         NULL,            PCCreate_TNS,      NULL                },
  {POLDER_PC,  PCRRB,         NULL,            PCCreate_RRB,      NULL                },
  {POLDER_PC,  PCPAMG,        NULL,            PCCreate_PAMG,     NULL                },
  {POLDER_PC,  PCNRAS,        NULL,            PCCreate_NRAS,     NULL                },
  {POLDER_PC,  PCLEVELSET,    NULL,            PCCreate_LevelSet, NULL                },
  {POLDER_PC,  PCMCSGS,       NULL,            PCCreate_MCSGS,    NULL                },
  {POLDER_PC,  PCIP,          NULL,            PCCreate_IP,       NULL                },
  {POLDER_PC,  PCFSAI,        NULL,            PCCreate_FSAI,     NULL                },
  {POLDER_PC,  PCMIC,         NULL,            PCCreate_MIC,      NULL                },
  {POLDER_PC,  PCILUC,        NULL,            PCCreate_ILUC,     NULL                },
  {POLDER_PC,  PCMEILU,       NULL,            PCCreate_MEILU,    NULL                },
  {POLDER_MAT, MATSEQAIJDIA,  NULL,            NULL,              MatCreate_SeqAIJDIA },
  {POLDER_MAT, MATMPIAIJDIA,  NULL,            NULL,              MatCreate_MPIAIJDIA },
  {POLDER_MAT, MATSEQAIJICRS, NULL,            NULL,              MatCreate_SeqAIJICRS},
  {POLDER_MAT, MATMPIAIJICRS, NULL,            NULL,              MatCreate_MPIAIJICRS},
  {POLDER_MAT, MATSEQAIJHEC,  NULL,            NULL,              MatCreate_SeqAIJHEC },
  {POLDER_MAT, MATMPIAIJHEC,  NULL,            NULL,              MatCreate_MPIAIJHEC },
  {POLDER_KSP, NULL,          NULL,            NULL,              NULL                }  // the end
};

/* Names that stand for a sequential or a parallel type */
static const char *const PolderMatRoots[][3] = {
  {MATAIJDIA,  MATSEQAIJDIA,  MATMPIAIJDIA },
  {MATAIJICRS, MATSEQAIJICRS, MATMPIAIJICRS},
  {MATAIJHEC,  MATSEQAIJHEC,  MATMPIAIJHEC }
};

static const char *const PolderEventNames[POLDER_NUM_EVENTS] = {"PolderMatConv",   "PolderLabels",    "PolderDeflSetUp", "PolderDeflApply", "PolderDeflCoarse",
                                                                "PolderTNSApply",  "PolderCGDot",     "PolderCGUpdate",  "PolderRRBSetUp",  "PolderRRBApply",
                                                                "PolderRRBReduce", "PolderPAMGSetUp", "PolderPAMGApply", "PolderPAMGRound", "PolderNRASSetUp",
                                                                "PolderNRASFact",  "PolderNRASApply", "PolderRowsSetUp", "PolderRowsApply"};

static PetscErrorCode PolderFinalize(void)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFinalize());
  PolderLogClassId = 0;
  PetscCall(PetscArrayzero(PolderLogEvents, POLDER_NUM_EVENTS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The layouts of PETSc's private structures change between minor releases, so a library built against another one must not load */
static PetscErrorCode PolderCheckVersion(void)
{
  PetscInt      major, minor;
  size_t        index, scalar;
  PetscDataType type;
  PetscBool     found;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &index));
  PetscCheck(index == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libpolder.so was built with %d-bit indices and this program's PETSc has %d-bit ones: rebuild Polder with the program's PETSc",
             (int)(8 * sizeof(PetscInt)), (int)(8 * index));
  PetscCall(PetscDataTypeFromString("Scalar", &type, &found));
  PetscCall(PetscDataTypeGetSize(type, &scalar));
  PetscCheck(scalar == sizeof(PetscScalar), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libpolder.so was built with another scalar type than this program's PETSc: rebuild Polder with the program's PETSc");
  PetscCall(PetscGetVersionNumber(&major, &minor, NULL, NULL));
  PetscCheck(PolderSameRelease(major, minor), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libpolder.so was built with PETSc %d.%d and this program runs %" PetscInt_FMT ".%" PetscInt_FMT ": rebuild Polder with the program's PETSc",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   PetscDLLibraryRegister_polder - Registers the types and log events of Polder

   Not Collective, but every process must call it

   Level: beginner

   Notes:
   PETSc calls it when it loads the library (`-dll_append`). A program that links with the library calls it itself, after each `PetscInitialize()`; more calls
   do nothing.

   It is an error when the program runs another PETSc than the library was built with: another minor release, or one with other indices or scalars.

.seealso: `KSPDCG`, `KSPRRBCG`, `KSPIDRS`, `PCTNS`, `PCRRB`, `PCPAMG`, `PCNRAS`, `PCLEVELSET`, `PCMCSGS`, `PCIP`, `PCFSAI`, `PCMIC`, `PCILUC`, `PCMEILU`,
         `MATAIJDIA`, `MATAIJICRS`, `MATAIJHEC`, `VECPOLDERCUDA`
@*/
PetscErrorCode PetscDLLibraryRegister_polder(void)
{
  PetscFunctionBegin;
  PetscCall(PolderCheckVersion());
  if (PolderLogClassId) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscClassIdRegister("Polder", &PolderLogClassId));
  for (int i = 0; i < POLDER_NUM_EVENTS; ++i) PetscCall(PetscLogEventRegister(PolderEventNames[i], PolderLogClassId, &PolderLogEvents[i]));
  PetscCall(PolderAIJRegisterFactors());
  for (int i = 0; PolderTypes[i].name; ++i) {
    switch (PolderTypes[i].kind) {
    case POLDER_KSP:
      PetscCall(KSPRegister(PolderTypes[i].name, PolderTypes[i].create_ksp));
      break;
    case POLDER_PC:
      PetscCall(PCRegister(PolderTypes[i].name, PolderTypes[i].create_pc));
      break;
    case POLDER_MAT:
      PetscCall(MatRegister(PolderTypes[i].name, PolderTypes[i].create_mat));
      break;
    }
  }
  if (PolderDeviceCompiled()) PetscCall(VecRegister(VECPOLDERCUDA, VecCreate_PolderCUDA));
  PetscCall(MatInitializePackage());
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(PolderMatRoots); ++i)
    PetscCall(MatRegisterRootName(PolderMatRoots[i][0], PolderMatRoots[i][1], PolderMatRoots[i][2]));
  PetscCall(PetscRegisterFinalize(PolderFinalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}
