/* Kernels for compressed rows (CSR), and for setting their values by coordinates (COO). */
#pragma once

#include "launcher.h"
#include "views.h"

/* A dot product with the result of a product A x: the sum of p[i] (A x)_i over the rows that are computed. Device: work is scratch of a reduction */
typedef struct {
  const PetscScalar *p;
  PetscScalar       *dot; /* NULL: not computed */
  void              *work;
} PolderRowsDot;
/*
  z[i] = y[i] + alpha (A x)_i for the rows i of a list. y = NULL stands for zero; y may be z. The dot product is stored (all rows) or added to what is there (a
  list). Device: A.nz selects the number of threads a row.
*/
PETSC_INTERN void   PolderCsrMult_Host(PolderRows A, PolderRowList rows, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                                       PolderRowsDot dot);
POLDER_LAUNCHER int PolderCsrMult_CUDA(PolderRows A, PolderRowList rows, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                                       PolderRowsDot dot, PolderStream stream);
/* y[i] = (add: y[i], else 0) + sum |a_ij x_j| */
PETSC_INTERN void   PolderCsrMagnitude_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add,
                                            PetscScalar y[]);
POLDER_LAUNCHER int PolderCsrMagnitude_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add,
                                            PetscScalar y[], PolderStream stream);
/* d[i] = entry (i, i), zero where there is none */
PETSC_INTERN void   PolderCsrDiagonal_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[]);
POLDER_LAUNCHER int PolderCsrDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[], PolderStream stream);
/* aa[k] = (insert: 0, else aa[k]) + the sum of v[perm[e]], e = map[k] .. map[k+1]; device: map = NULL is v[k] alone */
PETSC_INTERN void   PolderCooSum_Host(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[]);
POLDER_LAUNCHER int PolderCooSum_CUDA(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[],
                                      PolderStream stream);
/* aa[k] = (insert: 0, else aa[k]) + v[k + skip[s]] for first[s] <= k < first[s+1], s < n, with first[n] = nz */
PETSC_INTERN void   PolderCooTake_Host(PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert,
                                       PetscScalar aa[]);
POLDER_LAUNCHER int PolderCooTake_CUDA(PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert,
                                       PetscScalar aa[], PolderStream stream);
/* y[k] = x[index[k]] */
PETSC_INTERN void   PolderGather_Host(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[]);
POLDER_LAUNCHER int PolderGather_CUDA(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* The same with x followed by the values z: y[k] = z[index[k] - m] where index[k] >= m */
PETSC_INTERN void   PolderGatherJoined_Host(PetscInt n, const PetscInt index[], PetscInt m, const PetscScalar x[], const PetscScalar z[], PetscScalar y[]);
POLDER_LAUNCHER int PolderGatherJoined_CUDA(PetscInt n, const PetscInt index[], PetscInt m, const PetscScalar x[], const PetscScalar z[], PetscScalar y[],
                                            PolderStream stream);
