/* Products with matrices stored by diagonals, and diagonals from compressed rows. Device: val[d] are device pointers. */
#pragma once

#include "bfloat.h"
#include "peers.h"
#include "views.h"

/* z = y + alpha A x; y = NULL stands for zero and may be z. Device: dot != NULL: *dot becomes (x, A x), with PolderDiaMultWork_CUDA() bytes of work */
PETSC_INTERN void   PolderDiaMult_Host(const PolderDia *A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
POLDER_LAUNCHER int PolderDiaMult_CUDA(const PolderDia *A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot,
                                       void *work, PolderStream stream);
POLDER_LAUNCHER size_t PolderDiaMultWork_CUDA(PetscInt m);
/* z = A x with a square A; returns (x, z), from values that are in the cache. runs != NULL: a[] += the sums of z over them */
PETSC_INTERN PetscScalar PolderDiaMultDot_Host(const PolderDia *A, const PetscScalar x[], PetscScalar z[], const PolderLabelRuns *runs, PetscScalar a[]);
/*
  Device, for stencils that PolderDiaRuns_CUDA() knows, m of whose rows are whole steps of `far`: z = A x + B x and *dot = (x, z), where B has one entry in each
  of the first low rows and in each of the last high rows, low and high being far or zero. The k-th of these rows has the entry aa[k], in the column of ghost k,
  which arrives in the messages that are due. The kernel waits for them and counts them as received; count: and those of this process as sent. peers: *dot is
  then the sum over all processes, NULL: of this one
*/
typedef struct {
  const PolderExchange  *exchange;
  const PolderPeersView *peers;
  PetscInt               low, high;
  const PetscScalar     *aa;
  PetscBool              count;
} PolderDiaGhosts;
POLDER_LAUNCHER int PolderDiaMultGhosts_CUDA(const PolderDia *A, const PetscScalar x[], PetscScalar z[], PetscScalar *dot, const PolderDiaGhosts *, void *work,
                                             PolderStream stream);
/* The same with diagonals in single precision: val[] in place of those of A */
POLDER_LAUNCHER int PolderDiaMultSingle_CUDA(const PolderDia *A, const float *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[],
                                             PetscScalar z[], PolderStream stream);
/*
  Copies the values of A into the diagonals first .. D->nd, with zero where there is no entry; first = D->half ? D->main : 0. Their writable pointers are val[],
  in place of those of D. Entries of the diagonals below `first` are compared with the mirror images to which val[] points. Failure (host: returns FALSE,
  device: sets POLDER_DIA_WRONG in *bad): columns do not ascend, an entry lies on no diagonal, or an entry below `first` differs from its mirror image by more
  than tol times the larger of itself and the smaller diagonal entry of both rows. tol = infinity skips the comparison. Device: POLDER_DIA_ROUNDED is set when
  one differs by less.
*/
enum {
  POLDER_DIA_WRONG   = 1,
  POLDER_DIA_ROUNDED = 2
};
PETSC_INTERN PetscBool PolderDiaFill_Host(const PolderDia *D, PetscScalar *const val[], PolderRows A, PetscReal tol);
POLDER_LAUNCHER int    PolderDiaFill_CUDA(const PolderDia *D, PetscScalar *const val[], PolderRows A, PetscReal tol, int *bad, PolderStream stream);
/*
  val[d][i] <- the entry of own row i of a matrix of all processes at offset D->off[d], or zero. Own column j is column start + j, column k of ghosts is
  column garray[k] of that matrix. All entries are on these diagonals, at most POLDER_DIA_OWN
*/
#define POLDER_DIA_OWN 16
PETSC_INTERN void   PolderDiaOwnRows_Host(const PolderDia *D, PetscScalar *const val[], PolderRows rows, PolderRows ghosts, const PetscInt garray[],
                                          PetscInt start);
POLDER_LAUNCHER int PolderDiaOwnRows_CUDA(const PolderDia *D, PetscScalar *const val[], PolderRows rows, PolderRows ghosts, const PetscInt garray[],
                                          PetscInt start, PolderStream stream);
/* seen[j - i + m] = 1 for each entry (i, j); seen[] has m + n bytes and is zero before */
POLDER_LAUNCHER int PolderDiaOffsets_CUDA(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], unsigned char seen[], PolderStream stream);
/* list[] <- the indices k < n with mark[k] != 0, in any order, at most `most` of them; *count, zeroed by the caller, becomes their total number */
POLDER_LAUNCHER int PolderMarkedList_CUDA(PetscInt n, const char mark[], PetscInt most, PetscInt list[], PetscInt *count, PolderStream stream);
/* s = v. Failure (host: returns FALSE, device: sets *bad): a finite value is too large for single precision */
PETSC_INTERN PetscBool PolderToSingle_Host(size_t n, const PetscScalar v[], float s[]);
POLDER_LAUNCHER int    PolderToSingle_CUDA(size_t n, const PetscScalar v[], float s[], int *bad, PolderStream stream);
/* a = s in bfloat16; sets *bad if a finite value becomes infinite */
PETSC_INTERN void   PolderToBfloat_Host(size_t n, const float s[], PolderBfloat a[], int *bad);
POLDER_LAUNCHER int PolderToBfloat_CUDA(size_t n, const float s[], PolderBfloat a[], int *bad, PolderStream stream);
/* Arrays to be rounded together: a[k] = v[k], of n[k] values each */
#define POLDER_HALVE 8
typedef struct {
  int                count;
  size_t             n[POLDER_HALVE];
  const PetscScalar *v[POLDER_HALVE];
  PolderBfloat      *a[POLDER_HALVE];
} PolderHalving;
/* In bfloat16, rounded to single precision first; sets *bad if a finite value becomes infinite */
PETSC_INTERN void   PolderHalve_Host(const PolderHalving *arrays, int *bad);
POLDER_LAUNCHER int PolderHalve_CUDA(const PolderHalving *arrays, int *bad, PolderStream stream);
