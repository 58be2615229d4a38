/*
  Views of a matrix, which the kernels of all topics share: sizes and pointers into the memory of one place. A view is a host variable, and so is every array
  of pointers in it. Host kernels and launchers take the short ones by value and the long ones by address; device kernels take all by value.
*/
#pragma once

#include <petscsys.h>

/* Compressed rows: the entries of row r are a[k] in column j[k], i[r] <= k < i[r + 1] */
typedef struct {
  PetscInt           n; /* rows */
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           nz; /* entries; read only where a comment says so */
} PolderRows;

/*
  A sparse matrix of which only some rows have entries: those of row[k], or of row k if row is NULL, are col[] and val[] at ptr[k] .. ptr[k + 1]. With row =
  NULL these are compressed rows that a kernel writes
*/
typedef struct {
  PetscInt     n, nz, *row, *ptr, *col;
  PetscScalar *val;
} PolderSparseRows;
/* Runs of consecutive rows of equal label: the rows start[r] .. start[r + 1] have label[r], negative: none */
typedef struct {
  PetscInt        n;
  const PetscInt *start, *label;
} PolderLabelRuns;

/* Compressed rows, row = NULL, to be read */
static inline PolderRows PolderRowsOf(const PolderSparseRows *A)
{
  const PolderRows view = {A->n, A->ptr, A->col, A->val, A->nz};

  return view;
}

/*
  Aggregates of m rows: row i belongs to agg[i] < n, or to none if agg[i] = n. The rows of aggregate a are row[k], ptr[a] <= k < ptr[a + 1], ascending; those
  that belong to none follow from ptr[n] on, so ptr has n + 2 entries. at[i] is the position of row i: row[at[i]] = i; NULL: unknown
*/
typedef struct {
  PetscInt        m, n;
  const PetscInt *agg; /* NULL where only ptr[] and row[] are read */
  PetscInt       *ptr, *row, *at;
} PolderAggregates;

/* The rows row[k], k < n, of a matrix; row = NULL: the rows 0 .. n */
typedef struct {
  PetscInt        n;
  const PetscInt *row;
} PolderRowList;

/* Classes of equal rows, see diaclass.h */
typedef struct _PolderDiaClasses PolderDiaClasses;

/*
  Diagonals: entry (i, i + off[d]) of an m by n matrix is val[d][i], for the rows max(0, -off[d]) <= i < min(m, n - off[d]) only. Outside them val[d] must not
  be read. Inside them every value is there (zero where the matrix has no entry). When half of a symmetric matrix is stored, the pointers of the lower
  diagonals lead into the upper ones, so readers need not tell the two cases apart.
*/
typedef struct {
  PetscInt                  m, n, nd;
  const PetscInt           *off; /* ascending */
  const PetscScalar *const *val;
  PetscInt                  main;  /* off[main] = 0; -1 when the matrix has no entry on the main diagonal; products do not read it */
  PetscBool                 half;  /* nor this */
  PetscBool                 exact; /* the values are those of the matrix to the last bit; where half is stored, the matrix is so symmetric, or said to be */
  const unsigned char      *code;  /* NULL, or the classes of the rows */
  const PolderDiaClasses   *classes;
} PolderDia;

/* A dense matrix, entry (i, j) at a[i * ld + j]; ld >= n */
typedef struct {
  PetscInt     n, ld;
  PetscScalar *a;
} PolderDense;
