/* Compressed rows, and values put into them by coordinates. */
#pragma once

#include "launcher.h"

/*
  z[i] = y[i] + alpha (row i of a CSR matrix) . x for the n rows i = row[k]; row = NULL: i = k. y = NULL stands for zero and may be z. dot != NULL: becomes
  (row = NULL) or is raised by the sum of p[i] (row i) . x. Device: nz tells how long rows are, it is their number of entries in all
*/
PETSC_INTERN void PolderCsrMult_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], const PetscScalar p[], PetscScalar *dot);
POLDER_LAUNCHER int PolderCsrMult_CUDA(PetscInt n, const PetscInt row[], PetscInt nz, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], const PetscScalar p[], PetscScalar *dot, void *work, PolderStream stream);
/* y[i] = (add: y[i], else 0) + sum |a_ij x_j| */
PETSC_INTERN void   PolderCsrMagnitude_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add, PetscScalar y[]);
POLDER_LAUNCHER int PolderCsrMagnitude_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add, PetscScalar y[], PolderStream stream);
/* d[i] = entry (i, i), zero where there is none */
PETSC_INTERN void   PolderCsrDiagonal_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[]);
POLDER_LAUNCHER int PolderCsrDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[], PolderStream stream);
/* aa[k] = (insert: 0, else aa[k]) + the sum of v[perm[e]], e = map[k] .. map[k+1]; device: map = NULL is v[k] alone */
PETSC_INTERN void   PolderCooSum_Host(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[]);
POLDER_LAUNCHER int PolderCooSum_CUDA(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[], PolderStream stream);
/* aa[k] = (insert: 0, else aa[k]) + v[k + skip[s]] in the stretch first[s] <= k < first[s+1] of n, first[n] = nz */
PETSC_INTERN void   PolderCooTake_Host(PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert, PetscScalar aa[]);
POLDER_LAUNCHER int PolderCooTake_CUDA(PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert, PetscScalar aa[], PolderStream stream);
/* y[k] = x[index[k]] */
POLDER_LAUNCHER int PolderGather_CUDA(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* The numbers k < n with mark[k] != 0, in any order, as far as `most` goes; *count, zero on entry, becomes the number of all */
POLDER_LAUNCHER int PolderMarkedList_CUDA(PetscInt n, const char mark[], PetscInt most, PetscInt list[], PetscInt *count, PolderStream stream);
