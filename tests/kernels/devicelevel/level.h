/* Random levels on the host and on the device, and the test of cycles. Parts of devicelevel.c. */
#pragma once

#include "../devicetest.h"
#include "kernels/bfloat.h"
#include "kernels/level.h"

/* The precision of a case: of vectors and entries, or in half precision of entries alone */
typedef enum {
  IN_DOUBLE,
  IN_SINGLE,
  IN_HALF
} Precision;

/* Values in the precision of a case; on the host they are exact in single precision, so that both see the same */
typedef struct {
  PetscBool single, bfloat; /* bfloat: entries in bfloat16 */
  PetscInt  n;
  void     *host, *device;
} Values;

/* A matrix on the host and on the device, with aggregates */
typedef struct {
  PetscBool         single;
  PetscInt          n, nc, nstored;
  PolderLevelMatrix host, device;
  PetscInt          off[POLDER_LEVEL_DIAGONALS], *ai, *aj, *agg, *ptr, *row;
  PetscInt         *aid, *ajd, *aggd, *ptrd, *rowd;
  const void       *val[2][POLDER_LEVEL_DIAGONALS];
  Values            stored, dinv;
} Level;

size_t         Size(PetscBool single);
PetscScalar    Get(const Values *v, PetscInt i);
void           Set(Values *v, PetscInt i, PetscScalar value);
PetscErrorCode ValuesCreate(PetscBool single, PetscInt n, Values *v);
PetscErrorCode ValuesDestroy(Values *v);
PetscErrorCode ToDevice(const Values *v);
PetscErrorCode Fill(Values *v);
PetscErrorCode Poison(const Values *v);
PetscErrorCode Differ(const Values *v, PetscInt n, PetscReal terms, PetscInt *wrong);
PetscErrorCode DiagonalsCreate(Precision, PetscBool half, PetscInt n, PetscInt nup, const PetscInt up[], PetscInt size, Level *L);
PetscErrorCode RowsCreate(Precision, PetscInt n, PetscInt least, PetscInt most, PetscInt size, Level *L);
PetscErrorCode LevelDestroy(Level *L);
PetscErrorCode TestCycles(void *work, PolderStream stream);
