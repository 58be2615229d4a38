/* The diagonals of a matrix of type aijdia, for code that reads them directly. */
#pragma once

#include "core/core.h"
#include "core/place.h"
#include "kernels/diaclass.h"

/* Maximum relative difference between the two halves of a matrix that the user says is symmetric */
#define POLDER_DIA_MIRROR (1e4 * PETSC_MACHINE_EPSILON)

/* The up-to-date diagonals of a seqaijdia matrix, or of the diagonal block of an mpiaijdia one; NULL when the matrix is of another type or has too many
   diagonals (then use PolderMatGetCSR()). Valid until the matrix changes: call it again in every set-up. */
PETSC_INTERN PetscErrorCode PolderMatGetDia(Mat, const PolderDia **);
/* The same with the values in device memory: val is a host array of device pointers; NULL also when the matrix is bound to the CPU or PETSc uses no GPU */
PETSC_INTERN PetscErrorCode PolderMatGetDeviceDia(Mat, const PolderDia **);
/* The same for kernels of many products: with the classes of equal rows, which products of the matrix itself find later */
PETSC_INTERN PetscErrorCode PolderMatGetDeviceDiaClassed(Mat, const PolderDia **);
/* Offsets of the diagonals that have entries, ascending, of m by n rows on the device. When there are more than max, only *nd > max is set */
PETSC_INTERN PetscErrorCode PolderDiaCountDevice(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt max, PetscInt *nd, PetscInt *off[]);
/* Allocates the arrays of classes of equal rows at a place, which are NULL at first and remain so if no kernel reads them */
PETSC_INTERN PetscErrorCode PolderDiaClassesMalloc(const PolderPlace *, const PolderDiaStencil *S, unsigned char **code, PolderDiaClasses **classes);
/* Finds the classes; *serve: enough rows have one */
PETSC_INTERN PetscErrorCode PolderDiaClassify(const PolderPlace *, const PolderDiaStencil *S, unsigned char code[], PolderDiaClasses *classes,
                                              PetscBool *serve);
/* y = A x and (x, y) in one pass, for vectors of the host, where A is a large seqaijdia matrix; else *done = PETSC_FALSE. runs != NULL: sum[label]
   += the sums of y over them */
PETSC_INTERN PetscErrorCode PolderMatMultDotHost(Mat A, Vec x, Vec y, const PolderLabelRuns *runs, PetscScalar sum[], PetscScalar *dot, PetscBool *done);
