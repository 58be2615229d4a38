/* Arrays and kernels of the products of aijicrs and aijhec. */
#pragma once

#include "launcher.h"
#include "views.h"

/*
  icrs.c: slices of POLDER_ICRS_ROWS rows, each ptr[s + 1] - ptr[s] entries wide; entry k of row r of slice s is at POLDER_ICRS_ROWS * (ptr[s] + k) + r. The
  last slice is padded to full size; padding has the value zero and an existing column.
*/
#define POLDER_ICRS_ROWS 8
/* z = y + alpha A x for m rows; y = NULL stands for zero and may be z */
PETSC_INTERN void PolderIcrsMult_Host(PetscInt m, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscScalar alpha, const PetscScalar x[],
                                      const PetscScalar y[], PetscScalar z[]);
/* m rows of `width` entries, entry k of row i at k * ld + i, padded likewise */
typedef struct {
  PetscInt           m, width, ld;
  const PetscInt    *col;
  const PetscScalar *val;
} PolderEll;
/* hec.c: the same product */
PETSC_INTERN void PolderEllMult_Host(PolderEll A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);

/* The device reads these slices for both types. The kernels below fill them; rows and columns are ints there. The host twins are for tests */
#define POLDER_SEGMENT 1024 /* maximum number of entries of a segment */
typedef struct {
  PetscInt              m;
  int                   nslice;
  const int            *row;  /* [m] row at each position of the slices, -1 for none; NULL: rows in their order */
  const int            *ptr;  /* [nslice + 1] first step of each slice; a step holds an entry of each of 32 rows */
  const int            *unit; /* [nslice + 1] first unit of 64 bytes of its columns: one a step for 16-bit distances from base, else two */
  const int            *base; /* least column of each step */
  const unsigned short *col;
  const PetscScalar    *val;
  int                   nlong, nseg;   /* rows stored outside the slices, and the segments they are cut into */
  const int            *lrow, *first;  /* [nlong] the row, [nlong + 1] its first segment */
  const int            *owner, *start; /* [nseg] number of the long row, [nseg + 1] first entry */
  const int            *lcol;
  const PetscScalar    *lval;
  PetscScalar          *part;    /* [nseg] scratch */
  unsigned int         *counter; /* [nlong] scratch, zero between launches */
} PolderSlices;

/* a[0] = 0, a[k] <- a[1] + .. + a[k] for k = 1 .. n; device: work of PolderScanWork_CUDA(n) bytes */
PETSC_INTERN void      PolderScan_Host(PetscInt n, int a[]);
POLDER_LAUNCHER int    PolderScan_CUDA(PetscInt n, int a[], void *work, size_t bytes, PolderStream stream);
POLDER_LAUNCHER size_t PolderScanWork_CUDA(PetscInt n);
/* count[min(length, nbin - 1)] += number of rows of that length */
PETSC_INTERN void   PolderRowHistogram_Host(PetscInt m, const PetscInt ai[], int nbin, int count[]);
POLDER_LAUNCHER int PolderRowHistogram_CUDA(PetscInt m, const PetscInt ai[], int nbin, int count[], PolderStream stream);
/* row[]: the rows of each window of 1024, sorted by decreasing length; those longer than cap (< 2^20) come last, as -1 */
PETSC_INTERN void   PolderSlicesSort_Host(PetscInt m, int cap, const PetscInt ai[], int row[]);
POLDER_LAUNCHER int PolderSlicesSort_CUDA(PetscInt m, int cap, const PetscInt ai[], int row[], PolderStream stream);
/* Counts for PolderScan_CUDA(), from m, nslice and row of S: ptr[s + 1] = number of steps of slice s, unit[s + 1] = number of units of its columns */
PETSC_INTERN void   PolderSlicesSize_Host(const PolderSlices *S, PolderRows A, int ptr[], int unit[]);
POLDER_LAUNCHER int PolderSlicesSize_CUDA(const PolderSlices *S, PolderRows A, int ptr[], int unit[], PolderStream stream);
/* Fills the columns and values of slices whose ptr and unit are there; col = NULL: values only */
PETSC_INTERN void   PolderSlicesFill_Host(const PolderSlices *S, PolderRows A, int base[], unsigned short col[], PetscScalar val[]);
POLDER_LAUNCHER int PolderSlicesFill_CUDA(const PolderSlices *S, PolderRows A, int base[], unsigned short col[], PetscScalar val[], PolderStream stream);
/* Counts for PolderScan_CUDA(), [m + 1] each: for a row longer than cap the number of its entries, of its segments, and 1; for other rows 0 */
typedef struct {
  int *entry, *segment, *row;
} PolderLongRowCounts;
PETSC_INTERN void   PolderLongRowsCount_Host(PetscInt m, int cap, const PetscInt ai[], PolderLongRowCounts count);
POLDER_LAUNCHER int PolderLongRowsCount_CUDA(PetscInt m, int cap, const PetscInt ai[], PolderLongRowCounts count, PolderStream stream);
/* Lists the long rows and their segments, lrow .. start of PolderSlices, from the scanned counts */
PETSC_INTERN void   PolderLongRowsMake_Host(PetscInt m, PolderLongRowCounts scanned, int lrow[], int first[], int owner[], int start[]);
POLDER_LAUNCHER int PolderLongRowsMake_CUDA(PetscInt m, PolderLongRowCounts scanned, int lrow[], int first[], int owner[], int start[], PolderStream stream);
/* Fills columns and values of the long rows that S lists; col = NULL: values only */
PETSC_INTERN void   PolderLongRowsFill_Host(const PolderSlices *S, PolderRows A, int col[], PetscScalar val[]);
POLDER_LAUNCHER int PolderLongRowsFill_CUDA(const PolderSlices *S, PolderRows A, int col[], PetscScalar val[], PolderStream stream);
/* z = y + alpha A x; y = NULL stands for zero and may be z; dot != NULL: *dot = (x, A x) */
PETSC_INTERN void   PolderSlicesMult_Host(const PolderSlices *S, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                                          PetscScalar *dot);
POLDER_LAUNCHER int PolderSlicesMult_CUDA(const PolderSlices *S, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                                          PetscScalar *dot, void *work, PolderStream stream);
