/* Private to the library: constructors of the types and what they share. */
#pragma once

#include <polder.h>
#include "compat.h"

#if defined(PETSC_USE_COMPLEX)
  #error "Polder works with real scalars only: use a PETSc configured with --with-scalar-type=real"
#endif

PETSC_INTERN PetscClassId PolderLogClassId;

PETSC_INTERN PetscErrorCode KSPCreate_DCG(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_RRBCG(KSP);
PETSC_INTERN PetscErrorCode PCCreate_TNS(PC);
PETSC_INTERN PetscErrorCode PCCreate_RRB(PC);
PETSC_INTERN PetscErrorCode PCCreate_PAMG(PC);
PETSC_INTERN PetscErrorCode PCCreate_LevelSet(PC);
/* Factors of our matrices where PETSc looks for them */
PETSC_INTERN PetscErrorCode PolderAIJRegisterFactors(void);
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJDIA(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJDIA(Mat);
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJICRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJICRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJHEC(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJHEC(Mat);

/* Events of -log_view, registered with the library */
typedef enum {
  POLDER_MatConvert,      /* our arrays from an AIJ matrix: pattern and values */
  POLDER_DeflationLabels, /* level set, boxes, parts -> one label a row */
  POLDER_DeflationSetUp,  /* AZ, E and its factor */
  POLDER_DeflationApply,  /* one P v */
  POLDER_DeflationCoarse, /* one solve with E */
  POLDER_TNSApply,
  POLDER_CGDot,
  POLDER_CGUpdate, /* x, r and the norm of r in one pass */
  POLDER_RRBSetUp,
  POLDER_RRBApply,
  POLDER_RRBReduce, /* right-hand side to the red nodes, solution back to all */
  POLDER_PAMGSetUp, /* the hierarchy, or its values anew */
  POLDER_PAMGApply,
  POLDER_NUM_EVENTS
} PolderLogEvent;
PETSC_INTERN PetscLogEvent PolderLogEvents[POLDER_NUM_EVENTS];

#define PolderLogBegin(event, obj) PetscLogEventBegin(PolderLogEvents[event], obj, 0, 0, 0)
#define PolderLogEnd(event, obj)   PetscLogEventEnd(PolderLogEvents[event], obj, 0, 0, 0)
