/* Included by every file of the library: the public header, the differences between PETSc versions, the events of -log_view. */
#pragma once

#include <polder.h>
#include "compat.h"

#if defined(PETSC_USE_COMPLEX)
  #error "Polder works with real scalars only: use a PETSc configured with --with-scalar-type=real"
#endif
#if !defined(PETSC_USE_REAL_DOUBLE)
  #error "Polder works in double precision: use a PETSc configured with --with-precision=double"
#endif

PETSC_INTERN PetscClassId PolderLogClassId;

/* Events of -log_view, registered with the library */
typedef enum {
  POLDER_MatConvert,      /* builds Polder's arrays from an AIJ matrix: pattern and values */
  POLDER_DeflationLabels, /* level set, boxes, parts -> one label a row */
  POLDER_DeflationSetUp,  /* computes AZ, E and the factor of E */
  POLDER_DeflationApply,  /* one P v */
  POLDER_DeflationCoarse, /* one solve with E */
  POLDER_TNSApply,
  POLDER_CGDot,
  POLDER_CGUpdate, /* x, r and the norm of r in one pass */
  POLDER_RRBSetUp,
  POLDER_RRBApply,
  POLDER_RRBReduce, /* reduces the right-hand side to the red nodes, and expands the solution to all nodes */
  POLDER_PAMGSetUp, /* builds the hierarchy, or recomputes its values */
  POLDER_PAMGApply,
  POLDER_PAMGRound,  /* a pass that rounds r to single precision */
  POLDER_NRASSetUp,  /* blocks and pattern of the factors, with POLDER_NRASFactor */
  POLDER_NRASFactor, /* their values */
  POLDER_NRASApply,
  POLDER_RowsSetUp, /* mcsgs, ip, fsai, mic, iluc, meilu */
  POLDER_RowsApply,
  POLDER_NUM_EVENTS
} PolderLogEvent;
PETSC_INTERN PetscLogEvent PolderLogEvents[POLDER_NUM_EVENTS];

#define PolderLogBegin(event, obj) PetscLogEventBegin(PolderLogEvents[event], obj, 0, 0, 0)
#define PolderLogEnd(event, obj)   PetscLogEventEnd(PolderLogEvents[event], obj, 0, 0, 0)
