/* COO assembly when the coordinates are sorted by row and column: no sorting and no searching. */
#include "aijcoo.h"
#include "kernels/csr.h"

/* The rows and columns of this process, and the number of all columns. The columns of a sequential matrix are all its own */
typedef struct {
  PetscInt rstart, rend, cstart, cend, N;
} PolderOwn;

/* The coordinates of one block, as far as they have been scanned */
typedef struct {
  PolderStretches *s;
  PetscInt         room;  /* length of the arrays of s */
  PetscInt         e;     /* entries so far */
  PetscInt         begin; /* those of earlier rows */
  PetscInt         col;   /* the last column of this row, -1 for none */
  PetscInt        *rownz; /* entries of each row, zero on entry */
} PolderScan;

PetscErrorCode PolderStretchesFree(PolderStretches s[2])
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; ++b) {
    PetscCall(PetscFree(s[b].first));
    PetscCall(PetscFree(s[b].skip));
    s[b].n = s[b].nz = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next entry of a block is value k */
static PetscErrorCode PolderScanAdd_Private(PolderScan *x, PetscInt k)
{
  PolderStretches *s = x->s;

  PetscFunctionBegin;
  if (!s->n || k - x->e != s->skip[s->n - 1]) {
    if (s->n + 1 >= x->room) {
      x->room = 2 * x->room + 16;
      PetscCall(PetscRealloc(sizeof(PetscInt) * x->room, &s->first));
      PetscCall(PetscRealloc(sizeof(PetscInt) * x->room, &s->skip));
    }
    s->first[s->n]  = x->e;
    s->skip[s->n++] = k - x->e;
  }
  ++x->e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PolderScanEndRow_Private(PolderScan x[2], PetscInt row)
{
  for (int b = 0; b < 2; ++b) {
    if (x[b].e > x[b].begin) x[b].rownz[row] = x[b].e - x[b].begin;
    x[b].begin = x[b].e;
    x[b].col   = -1;
  }
}

/* Scans the coordinates once, up to the first one that is unsorted or out of range */
static PetscErrorCode PolderStretchesFind_Private(const PolderOwn *own, PetscInt n, const PetscInt i[], const PetscInt j[], PolderScan x[2], PetscBool *ordered)
{
  PetscInt row = own->rstart;

  PetscFunctionBegin;
  *ordered = PETSC_FALSE;
  for (PetscInt k = 0; k < n; ++k) {
    const int b = j[k] < own->cstart || j[k] >= own->cend;

    if (i[k] < 0 || j[k] < 0) continue;
    if (i[k] != row) {
      if (i[k] < row || i[k] >= own->rend) PetscFunctionReturn(PETSC_SUCCESS);
      PolderScanEndRow_Private(x, row - own->rstart);
      row = i[k];
    }
    if (j[k] <= x[b].col || j[k] >= own->N || row >= own->rend) PetscFunctionReturn(PETSC_SUCCESS);
    x[b].col = j[k];
    PetscCall(PolderScanAdd_Private(&x[b], k));
  }
  PolderScanEndRow_Private(x, row - own->rstart);
  for (int b = 0; b < 2; ++b) {
    x[b].s->nz = x[b].e;
    if (x[b].e) x[b].s->first[x[b].s->n] = x[b].e;
  }
  *ordered = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderOwn_Private(Mat A, PolderOwn *own)
{
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &own->rstart, &own->rend));
  PetscCall(MatGetOwnershipRangeColumn(A, &own->cstart, &own->cend));
  PetscCall(MatGetSize(A, NULL, &own->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of a matrix; the second one of a sequential matrix is NULL */
static PetscErrorCode PolderBlocks_Private(Mat A, PolderLayout layout, Mat block[2], const PetscInt **garray)
{
  PetscFunctionBegin;
  block[0] = A;
  block[1] = NULL;
  *garray  = NULL;
  if (layout == POLDER_MPI) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], garray));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of one block, counted from cstart, to the front of col */
static void PolderTakeColumns_Private(const PolderStretches *s, const PetscInt j[], PetscInt cstart, PetscInt col[])
{
  for (PetscInt t = 0; t < s->n; ++t) {
    for (PetscInt e = s->first[t]; e < s->first[t + 1]; ++e) col[e] = j[e + s->skip[t]] - cstart;
  }
}

/* The pattern of a parallel matrix: PETSc's own assembly finds the columns of other processes */
static PetscErrorCode PolderCOOPatternMPI_Private(Mat A, const PolderOwn *own, PetscInt j[], const PolderScan x[2])
{
  const PetscInt *garray;
  PetscInt       *other;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(x[1].e, &other));
  PolderTakeColumns_Private(x[1].s, j, 0, other);
  PolderTakeColumns_Private(x[0].s, j, own->cstart, j);
  PetscCall(MatMPIAIJSetPreallocation(A, 0, x[0].rownz, 0, x[1].rownz));
  PetscCall(PolderBlocks_Private(A, POLDER_MPI, block, &garray));
  if (x[0].e) PetscCall(MatSeqAIJSetColumnIndices(block[0], j));
  if (x[1].e) PetscCall(MatSeqAIJSetColumnIndices(block[1], other));
  PetscCall(PetscFree(other));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PolderAIJBlock(A, &block[0]));
  PetscCall(PolderAIJZero(block[0]));
  PetscCall(PolderBlocks_Private(A, POLDER_MPI, block, &garray));
  PetscCall(MatZeroEntries(block[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCOOPatternSeq_Private(Mat A, PetscInt j[], const PolderScan *x)
{
  PetscFunctionBegin;
  PolderTakeColumns_Private(x->s, j, 0, j);
  PetscCall(MatSeqAIJSetPreallocation(A, 0, x->rownz));
  PetscCall(MatSeqAIJSetColumnIndices(A, j));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE)); /* as in PETSc's MatSetPreallocationCOO() */
  PetscCall(PolderAIJZero(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCOOOrdered(Mat A, PolderLayout layout, PetscCount n, const PetscInt i[], PetscInt j[], PolderStretches s[2], PetscBool *ordered)
{
  PolderScan x[2] = {
    {.s = &s[0], .col = -1},
    {.s = &s[1], .col = -1}
  };
  PolderOwn own;
  int       refused = 1;

  PetscFunctionBegin;
  PetscCall(PolderOwn_Private(A, &own));
  PetscCall(PetscCalloc2(own.rend - own.rstart, &x[0].rownz, layout == POLDER_MPI ? own.rend - own.rstart : 0, &x[1].rownz));
  if (n <= PETSC_MAX_INT) {
    PetscCall(PolderStretchesFind_Private(&own, (PetscInt)n, i, j, x, ordered));
    refused = !*ordered;
  }
  if (layout == POLDER_MPI) PetscCallAllreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
  *ordered = (PetscBool)!refused;
  if (!*ordered) PetscCall(PolderStretchesFree(s));
  else if (layout == POLDER_MPI) PetscCall(PolderCOOPatternMPI_Private(A, &own, j, x));
  else PetscCall(PolderCOOPatternSeq_Private(A, j, x));
  if (*ordered)
    PetscCall(PetscInfo(A, "Coordinates are in order: %" PetscInt_FMT " entries in %" PetscInt_FMT " stretches without ignored ones\n", s[0].nz + s[1].nz,
                        s[0].n + s[1].n));
  PetscCall(PetscFree2(x[0].rownz, x[1].rownz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the pattern of this process changed since the coordinates were given? */
static PetscErrorCode PolderCOOIsOld_Private(const Mat block[2], const PolderStretches s[2], int *old)
{
  MatInfo info;

  PetscFunctionBegin;
  *old = 0;
  for (int b = 0; b < 2 && block[b]; ++b) {
    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    *old |= info.nz_used != s[b].nz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCOOSetOrdered(Mat A, PolderLayout layout, const PolderStretches s[2], const PetscScalar v[], InsertMode mode)
{
  const PetscInt *garray;
  PetscScalar    *aa;
  Mat             block[2];
  int             old;

  PetscFunctionBegin;
  PetscCall(PolderBlocks_Private(A, layout, block, &garray));
  PetscCall(PolderCOOIsOld_Private(block, s, &old));
  PetscCheck(!old, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The nonzero pattern has changed since MatSetPreallocationCOO(): call it again");
  for (int b = 0; b < 2 && block[b]; ++b) {
    if (mode == INSERT_VALUES) PetscCall(MatSeqAIJGetArrayWrite(block[b], &aa));
    else PetscCall(MatSeqAIJGetArray(block[b], &aa));
    PolderCooTake_Host(s[b].nz, s[b].n, s[b].first, s[b].skip, v, mode == INSERT_VALUES ? PETSC_TRUE : PETSC_FALSE, aa);
    if (mode == INSERT_VALUES) PetscCall(MatSeqAIJRestoreArrayWrite(block[b], &aa));
    else PetscCall(MatSeqAIJRestoreArray(block[b], &aa));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coordinates of one block, in the order in which they were given */
static PetscErrorCode PolderCOOGiveBack_Private(Mat block, const PolderStretches *s, PetscInt rstart, PetscInt cstart, const PetscInt garray[], PetscInt i[],
                                                PetscInt j[])
{
  const PetscInt *ai, *aj;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &m, &ai, &aj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A sequential AIJ matrix does not give out its rows");
  for (PetscInt r = 0, t = 0; r < m; ++r) {
    for (PetscInt e = ai[r]; e < ai[r + 1]; ++e) {
      if (e == s->first[t + 1]) ++t;
      i[e + s->skip[t]] = rstart + r;
      j[e + s->skip[t]] = garray ? garray[aj[e]] : cstart + aj[e];
    }
  }
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &m, &ai, &aj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of the blocks, or puts them back */
static PetscErrorCode PolderCOOValues_Private(Mat A, PolderLayout layout, const PolderStretches s[2], PetscScalar *copy, PetscBool back)
{
  const PetscInt *garray;
  PetscScalar    *aa;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(PolderBlocks_Private(A, layout, block, &garray));
  for (int b = 0; b < 2 && block[b]; ++b) {
    PetscCall(MatSeqAIJGetArray(block[b], &aa));
    if (back) PetscCall(PetscArraycpy(aa, copy, s[b].nz));
    else PetscCall(PetscArraycpy(copy, aa, s[b].nz));
    PetscCall(MatSeqAIJRestoreArray(block[b], &aa));
    copy += s[b].nz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCOOToBase(Mat A, PolderLayout layout, PetscInt n, const PolderStretches s[2])
{
  const PetscInt *garray;
  PetscInt       *i, *j;
  PetscScalar    *copy;
  PolderOwn       own;
  PetscBool       assembled;
  int             old;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(PolderBlocks_Private(A, layout, block, &garray));
  PetscCall(PolderCOOIsOld_Private(block, s, &old));
  if (layout == POLDER_MPI) PetscCallAllreduce(MPI_IN_PLACE, &old, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
  if (old) PetscFunctionReturn(PETSC_SUCCESS); /* the coordinates belong to an earlier pattern */
  PetscCall(PolderOwn_Private(A, &own));
  PetscCall(PetscMalloc3(n, &i, n, &j, s[0].nz + s[1].nz, &copy));
  for (PetscInt k = 0; k < n; ++k) i[k] = j[k] = -1;
  for (int b = 0; b < 2 && block[b]; ++b) PetscCall(PolderCOOGiveBack_Private(block[b], &s[b], own.rstart, own.cstart, b ? garray : NULL, i, j));
  PetscCall(PolderCOOValues_Private(A, layout, s, copy, PETSC_FALSE));
  PetscCall(MatAssembled(A, &assembled));
  PetscCall((*PolderAIJBase(layout)->preallocationcoo)(A, n, i, j));
  PetscCall(PolderCOOValues_Private(A, layout, s, copy, PETSC_TRUE));
  if (assembled) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscFree3(i, j, copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
