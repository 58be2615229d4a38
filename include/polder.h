/* Public interface of Polder: type names, setters and deflation spaces. */
#pragma once

#include <petscksp.h>

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_polder(void);

#define MATAIJDIA     "aijdia"
#define MATSEQAIJDIA  "seqaijdia"
#define MATMPIAIJDIA  "mpiaijdia"
#define MATAIJICRS    "aijicrs"
#define MATSEQAIJICRS "seqaijicrs"
#define MATMPIAIJICRS "mpiaijicrs"
#define MATAIJHEC     "aijhec"
#define MATSEQAIJHEC  "seqaijhec"
#define MATMPIAIJHEC  "mpiaijhec"

#define VECPOLDERCUDA "poldercuda"

#define KSPDCG     "dcg"
#define KSPRRBCG   "rrbcg"
#define KSPIDRS    "idrs"
#define PCTNS      "tns"
#define PCRRB      "rrb"
#define PCPAMG     "pamg"
#define PCNRAS     "nras"
#define PCLEVELSET "levelset"
#define PCMCSGS    "mcsgs"
#define PCIP       "ip"
#define PCFSAI     "fsai"
#define PCMIC      "mic"
#define PCILUC     "iluc"
#define PCMEILU    "meilu"

/*J
   PolderDeflationSpaceType - String with the name of a deflation space

   Values:
+  auto               - level-set (or matrix) regions cut by parts, with a number of vectors that is chosen for the size of the problem
.  none               - no vectors
.  subdomain          - boxes of a structured grid
.  stripe             - runs of consecutive grid points
.  plane              - slabs of the last grid direction
.  levelset           - one vector for each connected region of either sign of the level set
.  levelset_subdomain - one vector for each part of a region in a box
.  rank               - one vector for each MPI process
.  partition          - METIS parts of the matrix graph
.  nearnullspace      - the vectors of `MatSetNearNullSpace()`
-  user               - labels (-1: the row is in no vector) or a matrix Z, given by the user

   Level: intermediate

.seealso: `PolderDeflationSpaceSetType()`, `KSPDCG`, `PCLEVELSET`
J*/
typedef const char *PolderDeflationSpaceType;
#define POLDERDEFLATIONAUTO              "auto"
#define POLDERDEFLATIONNONE              "none"
#define POLDERDEFLATIONSUBDOMAIN         "subdomain"
#define POLDERDEFLATIONSTRIPE            "stripe"
#define POLDERDEFLATIONPLANE             "plane"
#define POLDERDEFLATIONLEVELSET          "levelset"
#define POLDERDEFLATIONLEVELSETSUBDOMAIN "levelset_subdomain"
#define POLDERDEFLATIONRANK              "rank"
#define POLDERDEFLATIONPARTITION         "partition"
#define POLDERDEFLATIONNEARNULLSPACE     "nearnullspace"
#define POLDERDEFLATIONUSER              "user"

typedef struct _n_PolderDeflationSpace *PolderDeflationSpace;

/*E
   PCLevelSetForm - How `PCLEVELSET` combines the inner preconditioner M and the coarse correction Q = Z (Z^T A Z)^{-1} Z^T, P = I - A Q

   Values:
+  `PC_LEVELSET_ADEF2`     - P^T M^{-1} + Q, with the initial guess corrected by Q
.  `PC_LEVELSET_ADEF1`     - M^{-1} P + Q
-  `PC_LEVELSET_BALANCING` - P^T M^{-1} P + Q

   Level: intermediate

.seealso: `PCLEVELSET`, `PCLevelSetSetForm()`
E*/
typedef enum {
  PC_LEVELSET_ADEF2,
  PC_LEVELSET_ADEF1,
  PC_LEVELSET_BALANCING
} PCLevelSetForm;
PETSC_EXTERN const char *const PCLevelSetForms[];

/*E
   PCNRASPartition - How `PCNRAS` cuts the rows of a process into inner blocks

   Values:
+  `PC_NRAS_AUTO`  - boxes where a structured grid is known, of a `DMDA` or seen in the matrix, else METIS; one block is all rows
.  `PC_NRAS_METIS` - parts of the graph of the matrix by METIS
.  `PC_NRAS_ROWS`  - runs of rows
-  `PC_NRAS_BOXES` - boxes of a structured grid

   Level: intermediate

.seealso: `PCNRAS`, `PCNRASSetPartition()`
E*/
typedef enum {
  PC_NRAS_AUTO,
  PC_NRAS_METIS,
  PC_NRAS_ROWS,
  PC_NRAS_BOXES
} PCNRASPartition;
PETSC_EXTERN const char *const PCNRASPartitions[];

/*E
   PCNRASForm - Which rows the blocks of `PCNRAS` write

   Values:
+  `PC_NRAS_RESTRICTED` - each block its own rows, not those that it shares
.  `PC_NRAS_ADDITIVE`   - each block all of its rows, whose contributions are added
-  `PC_NRAS_SYMMETRIC`  - the same with weights before and after, 1 / sqrt(number of blocks that have the row), for symmetric matrices

   Level: intermediate

.seealso: `PCNRAS`, `PCNRASSetForm()`
E*/
typedef enum {
  PC_NRAS_RESTRICTED,
  PC_NRAS_ADDITIVE,
  PC_NRAS_SYMMETRIC
} PCNRASForm;
PETSC_EXTERN const char *const PCNRASForms[];

/*E
   PCPAMGCycleType - How often a cycle of `PCPAMG` visits its coarse levels

   Values:
+  `PC_PAMG_CYCLE_V` - once, but for those of `-pc_pamg_twice`
.  `PC_PAMG_CYCLE_W` - twice from each finer level
-  `PC_PAMG_CYCLE_K` - one or two steps of conjugate gradients on each, for flexible solvers

   Level: intermediate

.seealso: `PCPAMG`, `PCPAMGSetCycle()`
E*/
typedef enum {
  PC_PAMG_CYCLE_V,
  PC_PAMG_CYCLE_W,
  PC_PAMG_CYCLE_K
} PCPAMGCycleType;
PETSC_EXTERN const char *const PCPAMGCycleTypes[];

/*E
   PCPAMGSmoother - The smoother of `PCPAMG`

   Values:
+  `PC_PAMG_SMOOTHER_JACOBI`    - Jacobi, damped
.  `PC_PAMG_SMOOTHER_L1JACOBI`  - Jacobi with the sums of the magnitudes of each row
.  `PC_PAMG_SMOOTHER_CHEBYSHEV` - a Chebyshev polynomial, whose degree is the number of steps
.  `PC_PAMG_SMOOTHER_SGS`       - Gauss-Seidel, forward before and backward after the coarse correction
-  `PC_PAMG_SMOOTHER_AUTO`      - Gauss-Seidel; on a GPU Chebyshev or, where the matrix is not symmetric, Jacobi

   Level: intermediate

.seealso: `PCPAMG`, `PCPAMGSetSmoother()`
E*/
typedef enum {
  PC_PAMG_SMOOTHER_JACOBI,
  PC_PAMG_SMOOTHER_L1JACOBI,
  PC_PAMG_SMOOTHER_CHEBYSHEV,
  PC_PAMG_SMOOTHER_SGS,
  PC_PAMG_SMOOTHER_AUTO
} PCPAMGSmoother;
PETSC_EXTERN const char *const PCPAMGSmoothers[];

/*E
   PCPAMGPrecision - The precision of the levels of `PCPAMG` and of its cycle

   Values:
+  `PC_PAMG_PRECISION_DOUBLE` - double precision
.  `PC_PAMG_PRECISION_SINGLE` - single precision
.  `PC_PAMG_PRECISION_HALF`   - entries in bfloat16, vectors in single precision
-  `PC_PAMG_PRECISION_AUTO`   - half on grids whose coefficients allow it, if the solver does, else double

   Level: intermediate

.seealso: `PCPAMG`, `PCPAMGSetPrecision()`
E*/
typedef enum {
  PC_PAMG_PRECISION_DOUBLE,
  PC_PAMG_PRECISION_SINGLE,
  PC_PAMG_PRECISION_HALF,
  PC_PAMG_PRECISION_AUTO
} PCPAMGPrecision;
PETSC_EXTERN const char *const PCPAMGPrecisions[];

/*E
   PCIPForm - The form of the inverse of `PCIP`

   Values:
+  `PC_IP_PLAIN`   - (I - L D^-1) (I - D^-1 L^T)
.  `PC_IP_SCALED`  - the same of D^-1/2 A D^-1/2
.  `PC_IP_STENCIL` - the plain form on the pattern of A
-  `PC_IP_DIAG`    - the scaled form on the pattern of A

   Level: intermediate

.seealso: `PCIP`, `PCIPSetForm()`
E*/
typedef enum {
  PC_IP_PLAIN,
  PC_IP_SCALED,
  PC_IP_STENCIL,
  PC_IP_DIAG
} PCIPForm;
PETSC_EXTERN const char *const PCIPForms[];

/*E
   PCMEILULast - What `PCMEILU` does with the block that is left

   Values:
+  `PC_MEILU_JACOBI` - takes its diagonal
.  `PC_MEILU_SGS`    - symmetric Gauss-Seidel by colours
-  `PC_MEILU_ILU`    - ILU(0,1), see `PCILUC`

   Level: intermediate

.seealso: `PCMEILU`, `PCMEILUSetLast()`
E*/
typedef enum {
  PC_MEILU_JACOBI,
  PC_MEILU_SGS,
  PC_MEILU_ILU
} PCMEILULast;
PETSC_EXTERN const char *const PCMEILULasts[];

/*E
   KSPRRBCGStop - When `KSPRRBCG` stops, with the preconditioned residual z = M^{-1} r

   Values:
+  `KSP_RRBCG_STOP_PETSC`  - the convergence test of the `KSP`, as it would test the whole system
.  `KSP_RRBCG_STOP_PAPER`  - <r, z> <= rtol^2 <r_0, z_0> (de Jong et al., ETNA 2017)
-  `KSP_RRBCG_STOP_THESIS` - <r, z> <= rtol^2 (<r_0, z_0> + 1) (de Jong, TU Delft 2012)

   Level: intermediate

.seealso: `KSPRRBCG`, `KSPRRBCGSetStop()`
E*/
typedef enum {
  KSP_RRBCG_STOP_PETSC,
  KSP_RRBCG_STOP_PAPER,
  KSP_RRBCG_STOP_THESIS
} KSPRRBCGStop;
PETSC_EXTERN const char *const KSPRRBCGStops[];

/*E
   KSPIDRSVariant - How `KSPIDRS` makes its inner products

   Values:
+  `KSP_IDRS_MINSYNC` - those of a step together, in one reduction, the norm of the residual with them
-  `KSP_IDRS_BIORTHO` - one at a time, s / 2 + 1 reductions a step on average, and the norm of the residual by itself

   Level: intermediate

.seealso: `KSPIDRS`, `KSPIDRSSetVariant()`
E*/
typedef enum {
  KSP_IDRS_MINSYNC,
  KSP_IDRS_BIORTHO
} KSPIDRSVariant;
PETSC_EXTERN const char *const KSPIDRSVariants[];

/* The deflation space of a solver: KSP of type dcg, PC of type levelset */
PETSC_EXTERN PetscErrorCode KSPDCGGetDeflationSpace(KSP, PolderDeflationSpace *);
PETSC_EXTERN PetscErrorCode KSPDCGSetFlexible(KSP, PetscBool);
PETSC_EXTERN PetscErrorCode KSPRRBCGSetStop(KSP, KSPRRBCGStop);
PETSC_EXTERN PetscErrorCode KSPIDRSSetS(KSP, PetscInt);
PETSC_EXTERN PetscErrorCode KSPIDRSGetS(KSP, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPIDRSSetVariant(KSP, KSPIDRSVariant);
PETSC_EXTERN PetscErrorCode KSPIDRSGetVariant(KSP, KSPIDRSVariant *);
PETSC_EXTERN PetscErrorCode PCLevelSetGetDeflationSpace(PC, PolderDeflationSpace *);
PETSC_EXTERN PetscErrorCode PCLevelSetGetPC(PC, PC *);
PETSC_EXTERN PetscErrorCode PCLevelSetSetForm(PC, PCLevelSetForm);
PETSC_EXTERN PetscErrorCode PCTNSSetDegree(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCNRASSetBlocks(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCNRASSetPartition(PC, PCNRASPartition);
PETSC_EXTERN PetscErrorCode PCNRASSetOverlap(PC, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCNRASSetForm(PC, PCNRASForm);
PETSC_EXTERN PetscErrorCode PCNRASSetLevels(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCPAMGSetCycle(PC, PCPAMGCycleType);
PETSC_EXTERN PetscErrorCode PCPAMGSetSmoother(PC, PCPAMGSmoother);
PETSC_EXTERN PetscErrorCode PCPAMGSetSteps(PC, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCPAMGSetPasses(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCPAMGSetQuality(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCPAMGSetCoarseLimit(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCPAMGSetPrecision(PC, PCPAMGPrecision);
PETSC_EXTERN PetscErrorCode PCIPSetForm(PC, PCIPForm);
PETSC_EXTERN PetscErrorCode PCFSAISetPower(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCMICSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCMICSetBlocks(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCILUCSetLevels(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCILUCSetPower(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCMEILUSetSets(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCMEILUSetLast(PC, PCMEILULast);
PETSC_EXTERN PetscErrorCode PCRRBSetGrid(PC, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCRRBSetLevels(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCRRBSetTwice(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCRRBSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCRRBSetSinglePrecision(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCRRBSetLatency(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCRRBGetOrdering(PC, IS *);

/* A deflation space without a solver, for tests and for codes that need the operators P and Q */
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceCreate(MPI_Comm, PolderDeflationSpace *);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceDestroy(PolderDeflationSpace *);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetOptionsPrefix(PolderDeflationSpace, const char[]);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetFromOptions(PolderDeflationSpace);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetUp(PolderDeflationSpace, Mat);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceView(PolderDeflationSpace, PetscViewer);

PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetType(PolderDeflationSpace, PolderDeflationSpaceType);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceGetType(PolderDeflationSpace, PolderDeflationSpaceType *);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetGrid(PolderDeflationSpace, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetBoxes(PolderDeflationSpace, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetCount(PolderDeflationSpace, PetscInt);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetLevelSet(PolderDeflationSpace, Vec);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetLabels(PolderDeflationSpace, IS);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceSetMatrix(PolderDeflationSpace, Mat);

PETSC_EXTERN PetscErrorCode PolderDeflationSpaceGetSize(PolderDeflationSpace, PetscInt *);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceGetVector(PolderDeflationSpace, PetscInt, Vec);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceApplyP(PolderDeflationSpace, Vec);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceApplyPT(PolderDeflationSpace, Vec);
PETSC_EXTERN PetscErrorCode PolderDeflationSpaceApplyQAdd(PolderDeflationSpace, Vec, Vec);
