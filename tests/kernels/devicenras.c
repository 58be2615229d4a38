static const char help[] = "Incomplete factors on the device against their host twins: patterns, factorisation, rounding, packing, solves, sweeps, sums.\n\n";

#include "nraspatterns.h"
#include <polder.h>

/* A matrix and the blocks it is cut into. The cases that are named take the three ways of the solve: in shared memory, in global memory, a launch a level */
typedef struct {
  PetscInt n, perrow, blocks, levels, overlap;
  PetscInt reach; /* columns lie this far from the diagonal at most */
  PetscInt dense; /* so many rows and columns have an entry with every third row */
} Case;
static const Case Cases[] = {
  {0,      3, 1,  0, 0, 5,     0},
  {1,      3, 1,  0, 0, 5,     0},
  {31,     3, 2,  1, 0, 31,    0},
  {32,     3, 1,  2, 0, 5,     0},
  {33,     0, 1,  0, 0, 5,     0},
  {257,    6, 7,  1, 1, 257,   0},
  {1025,   4, 40, 2, 2, 30,    0},
  {4000,   5, 13, 0, 1, 4000,  0},
  {40000,  3, 40, 0, 0, 40000, 0},
  {3000,   3, 1,  0, 0, 3000,  3}, /* rows that are stored apart */
  {5000,   2, 2,  0, 0, 100,   2},
  {40000,  2, 1,  0, 0, 20,    0}, /* global memory, narrow levels */
  {60000,  2, 1,  0, 0, 60000, 0}, /* wide levels: a launch each */
  {100000, 3, 3,  1, 0, 90000, 0}
};

/* Random rows with a diagonal that dominates */
static PetscErrorCode CreateMatrix(const Case *c, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, c->n, c->n, c->perrow + 1, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < c->n; ++i) {
    for (PetscInt k = 0; k < c->perrow; ++k) {
      const PetscInt j = i + Next(2 * c->reach + 1) - c->reach;

      if (j >= 0 && j < c->n && j != i) PetscCall(MatSetValue(*A, i, j, Number(), INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, i, i, 2 + c->perrow + Number(), INSERT_VALUES));
  }
  for (PetscInt k = 1; k <= c->dense; ++k) {
    const PetscInt i = k * c->n / (c->dense + 1);

    for (PetscInt j = 0; j < c->n; j += j + 3 == i ? 6 : 3) {
      PetscCall(MatSetValue(*A, i, j, Number() / c->n, INSERT_VALUES));
      PetscCall(MatSetValue(*A, j, i, Number() / c->n, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the factors on the host, from a preconditioner, and on the device */
static PetscErrorCode CreatePatterns(const Case *c, Mat A, PetscBool sums, PC *pc, PolderIlu *device, PetscInt *there[])
{
  PC_NRAS *nras;
  NRASAt   at = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCNRAS));
  nras                = (PC_NRAS *)(*pc)->data;
  nras->set.blocks    = c->blocks;
  nras->set.levels    = c->levels;
  nras->set.inner     = c->overlap;
  nras->set.partition = PC_NRAS_ROWS;
  nras->set.form      = sums ? PC_NRAS_ADDITIVE : PC_NRAS_RESTRICTED;
  PetscCall(PCSetUp(*pc));
  for (int k = 0; k < NRAS_NARRAY; ++k) PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)nras->length[k], nras->at[0].array[k], &there[k]));
  at.ilu = nras->at[0].ilu;
  PetscCall(PetscArraycpy(at.array, there, NRAS_NARRAY));
  PCNRASPointToArrays(nras, &at);
  *device = at.ilu;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyPatterns(PC *pc, PetscInt *there[])
{
  PetscFunctionBeginUser;
  for (int k = 0; k < NRAS_NARRAY; ++k) PetscCall(PolderDeviceFree(&there[k]));
  PetscCall(PCDestroy(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Largest difference of the entries that have rows, relative to 1; NaN that was not written counts */
static PetscInt WrongFactors(const PolderIlu *ilu, const PetscScalar a[], const PetscScalar b[])
{
  PetscInt wrong = Wrong(ilu->nrow, a + ilu->nz, b + ilu->nz, 1e-12);

  for (int t = 0; t < 2; ++t)
    for (PetscInt i = 0; i < ilu->nrow; ++i) {
      const PolderIluSpan row = PolderIluSpanOf(ilu, t, i);

      for (PetscInt p = row.p; p < row.end; p += row.step) wrong += !(PetscAbsScalar(a[p] - b[p]) <= 1e-12);
    }
  return wrong;
}

/* Arrays of a factorisation at both places */
typedef struct {
  PolderIluPivots at[2];
  PetscInt       *todo[2];
  PetscScalar    *val[2], *aa;
} Factors;

static PetscErrorCode CreateFactors(const PolderIlu *ilu, Mat A, Factors *f)
{
  const PetscInt     nb    = ilu->nblock;
  const size_t       total = (size_t)(ilu->nz + ilu->nrow);
  PetscInt          *poison;
  PetscReal         *shift;
  const PetscScalar *aa;
  MatInfo            info;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(nb + 1, &f->todo[0]));
  PetscCall(PetscMalloc1(nb + 1, &poison));
  PetscCall(PetscMalloc1(nb + 1, &shift));
  PetscCall(PetscMalloc1(total + 1, &f->val[0]));
  for (PetscInt b = 0; b < nb; ++b) {
    f->todo[0][b] = b % 5 != 3;
    shift[b]      = b % 2 ? 0.25 : 0;
    poison[b]     = -7;
  }
  for (size_t k = 0; k < total; ++k) f->val[0][k] = NAN;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * nb, f->todo[0], &f->todo[1]));
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    f->at[d] = (PolderIluPivots){.tol = 1e-10, .todo = f->todo[d]};
    PetscCall(PolderPlaceUpload(place, sizeof(PetscReal) * nb, shift, &f->at[d].shift));
    PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * nb, poison, &f->at[d].zero));
    PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * nb, poison, &f->at[d].bad));
    PetscCall(PolderPlaceMalloc(place, ilu->nrow, &f->at[d].sum));
    PetscCall(PolderPlaceMalloc(place, 1, &f->at[d].updates));
  }
  PetscCall(PetscMalloc(PolderIluWork_Host(ilu), &f->at[0].work));
  PetscCall(PolderDeviceMalloc(PolderWorkSize(PolderIluWork_CUDA(ilu)), &f->at[1].work));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * total, f->val[0], &f->val[1]));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatSeqAIJGetArrayRead(A, &aa));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)info.nz_used, aa, &f->aa));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &aa));
  PetscCall(PetscFree(poison));
  PetscCall(PetscFree(shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyFactors(Factors *f)
{
  PetscFunctionBeginUser;
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    PetscCall((*place->free)(&f->at[d].shift));
    PetscCall((*place->free)(&f->at[d].zero));
    PetscCall((*place->free)(&f->at[d].bad));
    PetscCall((*place->free)(&f->at[d].sum));
    PetscCall((*place->free)(&f->at[d].updates));
    PetscCall((*place->free)(&f->at[d].work));
    PetscCall((*place->free)(&f->val[d]));
    PetscCall((*place->free)(&f->todo[d]));
  }
  PetscCall(PolderDeviceFree(&f->aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both twins; what they find wrong in the blocks must agree, and blocks that are not to be done stay as they are */
static PetscErrorCode Factor(const PolderIlu *here, const PolderIlu *there, Mat A, Factors *f, PolderStream stream, PetscInt wrong[])
{
  const PetscInt     nb    = here->nblock;
  const size_t       total = (size_t)(here->nz + here->nrow);
  PetscInt          *zero, *bad;
  PetscInt64         updates;
  PetscScalar       *val;
  const PetscScalar *aa;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(nb, &zero, nb, &bad, total, &val));
  PetscCall(MatSeqAIJGetArrayRead(A, &aa));
  for (int d = 0; d < 2; ++d) PetscCall((*PolderPlaceOf((PetscBool)d)->zero)(f->at[d].updates, sizeof(PetscInt64)));
  PolderIluFactor_Host(here, &f->at[0], aa, f->val[0]);
  PetscCall(MatSeqAIJRestoreArrayRead(A, &aa));
  PolderLaunch(PolderIluFactor_CUDA(there, &f->at[1], f->aa, f->val[1], stream));
  PetscCall(PolderDeviceToHost(zero, f->at[1].zero, sizeof(PetscInt) * nb));
  PetscCall(PolderDeviceToHost(bad, f->at[1].bad, sizeof(PetscInt) * nb));
  PetscCall(PolderDeviceToHost(&updates, f->at[1].updates, sizeof(updates)));
  wrong[1] += updates != *f->at[0].updates;
  PetscCall(PolderDeviceToHost(val, f->val[1], sizeof(PetscScalar) * total));
  for (PetscInt b = 0; b < nb; ++b) {
    const PetscInt m = here->row[b + 1] - here->row[b];

    wrong[1] += zero[b] != f->at[0].zero[b] || bad[b] != f->at[0].bad[b];
    wrong[1] += !f->todo[0][b] && (zero[b] != -7 || bad[b] != -7);
    for (PetscInt i = here->row[b]; i < here->row[b + 1]; ++i) {
      if (!f->todo[0][b]) wrong[1] += val[here->nz + i] == val[here->nz + i]; // still poisoned
      else if (zero[b] == m && bad[b] == m) wrong[0] += !(PetscAbsScalar(val[here->nz + i] - f->val[0][here->nz + i]) <= 1e-12);
    }
  }
  for (PetscInt b = 0; b < nb; ++b) f->todo[0][b] = 1;
  PetscCall(PolderDeviceFromHost(f->todo[1], f->todo[0], sizeof(PetscInt) * nb));
  PetscCall(PetscFree3(zero, bad, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both find the same first rows that have grown, of random ones, in the blocks with a shift */
static PetscErrorCode Grow(const PolderIlu *here, const PolderIlu *there, Factors *f, PolderStream stream, PetscInt *wrong)
{
  PetscScalar *x, *xd;

  PetscFunctionBeginUser;
  PetscCall(Random(here->nrow, &x, &xd));
  PolderIluGrowth_Host(here, &f->at[0], 0.49, f->val[0], x);
  PolderLaunch(PolderIluGrowth_CUDA(there, &f->at[1], 0.49, f->val[1], xd, stream));
  PetscCall(SameIndices("growth", here->nblock, f->at[0].zero, f->at[1].zero, wrong));
  for (PetscInt b = 0; here->nrow > 1000 && b < here->nblock; ++b) *wrong += (f->at[0].zero[b] < here->row[b + 1] - here->row[b]) != (f->at[0].shift[b] > 0);
  PetscCall(PetscFree(x));
  PetscCall(PolderDeviceFree(&xd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFactor(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong[4] = {0};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); ++k) {
    Mat          A;
    PC           pc;
    PolderIlu    there, *here;
    PetscInt    *arrays[NRAS_NARRAY];
    Factors      f;
    PetscScalar *val;

    if (small && Cases[k].n > 5000) continue;
    PetscCall(CreateMatrix(&Cases[k], &A));
    PetscCall(CreatePatterns(&Cases[k], A, PETSC_FALSE, &pc, &there, arrays));
    here = &((PC_NRAS *)pc->data)->at[0].ilu;
    PetscCall(CreateFactors(here, A, &f));
    PetscCall(Factor(here, &there, A, &f, stream, wrong));
    PetscCall(Factor(here, &there, A, &f, stream, wrong)); /* now all blocks */
    PetscCall(Grow(here, &there, &f, stream, &wrong[1]));
    f.at[0].drop = f.at[1].drop = k % 3 ? 0.02 : 0;
    PetscCall(Factor(here, &there, A, &f, stream, wrong)); /* small entries are dropped */
    PetscCall(PetscMalloc1(here->nz + here->nrow, &val));
    PetscCall(PolderDeviceToHost(val, f.val[1], sizeof(PetscScalar) * (size_t)(here->nz + here->nrow)));
    wrong[0] += WrongFactors(here, val, f.val[0]);
    PetscCall(PetscFree(val));
    for (PetscInt b = 0; b < here->nblock; ++b) wrong[2] += f.at[0].zero[b] != here->row[b + 1] - here->row[b]; /* none is zero in these */
    if (Cases[k].n > 30) { /* in the first block a zero row, and in the last one what is not a number */
      PetscScalar    *aa;
      const PetscInt *ai, *aj;
      PetscInt        n;
      PetscBool       done;
      size_t          nz;

      PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ai, &aj, &done));
      PetscCall(MatSeqAIJGetArray(A, &aa));
      for (PetscInt p = ai[3]; p < ai[4]; ++p) aa[p] = 0;
      aa[ai[n] - 1] = NAN;
      nz            = (size_t)ai[n];
      PetscCall(PolderDeviceFromHost(f.aa, aa, sizeof(PetscScalar) * nz));
      PetscCall(MatSeqAIJRestoreArray(A, &aa));
      PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ai, &aj, &done));
      PetscCall(Factor(here, &there, A, &f, stream, wrong));
      wrong[3] += f.at[0].zero[0] == here->row[1] || f.at[0].bad[here->nblock - 1] == here->row[here->nblock] - here->row[here->nblock - 1];
    }
    PetscCall(DestroyFactors(&f));
    PetscCall(DestroyPatterns(&pc, arrays));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(Report("factors", wrong[0]));
  PetscCall(Report("failures of blocks and numbers of updates", wrong[1]));
  PetscCall(Report("no failure without cause", wrong[2]));
  PetscCall(Report("a zero row and what is not a number are found", wrong[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both twins round, and no row is beyond the range */
static PetscErrorCode RoundBoth(const PolderIlu *here, const PolderIlu *there, const PetscScalar val[], const PetscScalar vald[], float rounded[],
                                float roundedd[], PolderStream stream, PetscInt *wrong)
{
  PetscInt row = here->nrow, *rowd;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceUpload(sizeof(row), &row, &rowd));
  PolderIluRound_Host(here, val, rounded, &row);
  *wrong += row != here->nrow;
  PolderLaunch(PolderIluRound_CUDA(there, vald, roundedd, rowd, stream));
  PetscCall(PolderDeviceToHost(&row, rowd, sizeof(row)));
  *wrong += row != here->nrow;
  PetscCall(PolderDeviceFree(&rowd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a solve takes and gives at one place */
typedef struct {
  const PolderIlu   *ilu;
  PetscInt *const   *array;
  const void        *val;
  const PetscScalar *r, *weight;
  PetscScalar       *x, *z, *sweepx[2];
} Side;

/* own: the entries before the ghosts, which are the others of n */
static PetscErrorCode SolveAt(const Side *side, const PolderPlace *place, PetscBool single, PetscBool sums, PetscInt own, PetscInt n, PetscInt sweeps)
{
  const PetscScalar     *weight = side->weight;
  PetscInt *const       *array  = side->array;
  const PolderIluVectors v      = {
         .n      = own,
         .number = array[NRAS_NUMBER],
         .from   = array[NRAS_FROM],
         .to     = sums ? NULL : array[NRAS_TO],
         .weight = weight,
         .r      = side->r,
         .ghost  = side->r ? side->r + own : NULL,
         .x      = side->x,
         .z      = side->z,
         .sweeps = sweeps,
         .sweepx = {side->sweepx[0], side->sweepx[1]}
  };

  PetscFunctionBeginUser;
  PolderRun(place, PolderIluSolve, side->ilu, single, side->val, &v);
  if (!sums) PetscFunctionReturn(PETSC_SUCCESS);
  PolderRun(place, PolderIluAdd, own, array[NRAS_PTR], array[NRAS_LIST], weight, side->x, side->z);
  PolderRun(place, PolderIluAdd, n - own, array[NRAS_PTR] + own, array[NRAS_LIST], weight ? weight + own : NULL, side->x, side->z + own);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact solves and sweeps at both places, and the sums of overlapping blocks */
static PetscErrorCode SolveSides(const Case *c, Side side[2], PetscBool single, PetscBool sums, PetscInt wrong[])
{
  static const PetscInt sweeps[] = {0, 1, 2, 5};

  PetscScalar *z[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(c->n, &z[0], c->n, &z[1]));
  for (PetscInt i = 0; i < c->n; ++i) z[0][i] = NAN;
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    PetscCall(PolderPlaceMalloc(place, side[d].ilu->nrow, &side[d].x));
    for (int k = 0; k < 2; ++k) PetscCall(PolderPlaceMalloc(place, side[d].ilu->nrow, &side[d].sweepx[k]));
    PetscCall(PolderPlaceUpload(place, sizeof(PetscScalar) * (size_t)c->n, z[0], &side[d].z));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sweeps); ++k) {
    for (int d = 0; d < 2; ++d) {
      PetscCall(SolveAt(&side[d], PolderPlaceOf((PetscBool)d), single, sums, c->n - c->n / 3, c->n, sweeps[k]));
      PetscCall(PolderPlaceTake(PolderPlaceOf((PetscBool)d), c->n, side[d].z, z[d]));
    }
    wrong[sweeps[k] ? 2 : 0] += Wrong(c->n, z[1], z[0], 1e-12);
  }
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    PetscCall((*place->free)(&side[d].x));
    PetscCall((*place->free)(&side[d].z));
    for (int k = 0; k < 2; ++k) PetscCall((*place->free)(&side[d].sweepx[k]));
  }
  PetscCall(PetscFree2(z[0], z[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with the same factors, in both precisions */
static PetscErrorCode SolveBoth(const Case *c, PetscBool single, PetscBool sums, PetscBool weighted, PolderStream stream, PetscInt wrong[])
{
  Mat          A;
  PC           pc;
  PC_NRAS     *nras;
  PolderIlu    there;
  PetscInt    *arrays[NRAS_NARRAY];
  PetscScalar *r, *rd, *w, *wd, *vald;
  float       *rounded, *roundedd;
  size_t       total;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(c, &A));
  PetscCall(CreatePatterns(c, A, sums, &pc, &there, arrays));
  nras  = (PC_NRAS *)pc->data;
  total = (size_t)(there.nz + there.nrow);
  PetscCall(Random(c->n, &r, &rd));
  PetscCall(Random(c->n, &w, &wd));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * total, nras->at[0].val, &vald));
  PetscCall(PetscMalloc1(total, &rounded));
  PetscCall(PolderDeviceMalloc(sizeof(float) * total, &roundedd));
  PetscCall(RoundBoth(&nras->at[0].ilu, &there, (const PetscScalar *)nras->at[0].val, vald, rounded, roundedd, stream, &wrong[1]));
  {
    const void *val = single ? (const void *)rounded : nras->at[0].val, *valdevice = single ? (const void *)roundedd : (const void *)vald;
    Side        side[2] = {
             {.ilu = &nras->at[0].ilu, .array = nras->at[0].array, .val = val,       .r = r,  .weight = weighted ? w : NULL },
             {.ilu = &there,           .array = arrays,            .val = valdevice, .r = rd, .weight = weighted ? wd : NULL}
    };

    PetscCall(SolveSides(c, side, single, sums, wrong));
  }
  PetscCall(PolderDeviceFree(&vald));
  PetscCall(PolderDeviceFree(&roundedd));
  PetscCall(PolderDeviceFree(&rd));
  PetscCall(PolderDeviceFree(&wd));
  PetscCall(PetscFree(rounded));
  PetscCall(PetscFree(r));
  PetscCall(PetscFree(w));
  PetscCall(DestroyPatterns(&pc, arrays));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolve(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong[2][3] = {{0}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); ++k) {
    if (small && Cases[k].n > 5000) continue;
    for (int single = 0; single < 2; ++single) {
      PetscCall(SolveBoth(&Cases[k], (PetscBool)single, PETSC_FALSE, PETSC_FALSE, stream, wrong[single]));
      if (Cases[k].overlap) PetscCall(SolveBoth(&Cases[k], (PetscBool)single, PETSC_TRUE, (PetscBool)(k % 2), stream, wrong[single]));
    }
  }
  PetscCall(Report("solves", wrong[0][0]));
  PetscCall(Report("solves in single precision", wrong[1][0]));
  PetscCall(Report("sweeps", wrong[0][2]));
  PetscCall(Report("sweeps in single precision", wrong[1][2]));
  PetscCall(Report("rounding", wrong[0][1] + wrong[1][1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors of which some entries are zero, whole rows of them among these, at both places; poison stays where no row is */
static PetscErrorCode Pack(const PC_NRAS *nras, const PolderIlu *const ilu[2], const PetscScalar factors[], PetscInt wrong[])
{
  const PetscInt nrow = ilu[0]->nrow, nz = ilu[0]->nz;
  PetscInt      *entries[2], *col[2];
  PetscScalar   *val, *packed[2];
  NRASSlices     slices[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(nz + nrow, &val));
  for (PetscInt p = 0; p < nz + nrow; ++p) val[p] = Next(3) && (p % POLDER_ILU_SLICE != 7) ? factors[p] : 0;
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);
    PolderIlu          to    = *ilu[d];
    PetscScalar       *from, *none;
    PetscInt          *nowhere;

    PetscCall(PolderPlaceUpload(place, sizeof(PetscScalar) * (size_t)(nz + nrow), val, &from));
    PetscCall(PolderPlaceMalloc(place, 2 * nrow, &entries[d]));
    PolderRun(place, PolderIluCount, ilu[d], from, entries[d]);
    PetscCall(PCNRASCutSlices(nras, place, nrow, entries[d], NULL, NULL, &slices[d]));
    PCNRASPointToSlices(&slices[d], &to);
    PetscCall(PetscMalloc2(to.nz, &nowhere, to.nz + nrow, &none));
    for (PetscInt p = 0; p < to.nz; ++p) nowhere[p] = -7;
    for (PetscInt p = 0; p < to.nz + nrow; ++p) none[p] = -7;
    PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)to.nz, nowhere, &col[d]));
    PetscCall(PolderPlaceUpload(place, sizeof(PetscScalar) * (size_t)(to.nz + nrow), none, &packed[d]));
    PetscCall(PetscFree2(nowhere, none));
    PolderRun(place, PolderIluPack, ilu[d], from, &to, col[d], packed[d]);
    PetscCall((*place->free)(&from));
  }
  PetscCall(SameIndices("entries", 2 * nrow, entries[0], entries[1], &wrong[0]));
  PetscCall(SameIndices("start", slices[0].nstart, slices[0].start, slices[1].start, &wrong[0]));
  PetscCall(SameIndices("apart", slices[0].napart, slices[0].apart, slices[1].apart, &wrong[0]));
  PetscCall(SameIndices("columns", slices[0].nz, col[0], col[1], &wrong[1]));
  PetscCall(SameScalars("values", slices[0].nz + nrow, packed[0], packed[1], 0, &wrong[1]));
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    PetscCall((*place->free)(&entries[d]));
    PetscCall((*place->free)(&slices[d].start));
    PetscCall((*place->free)(&slices[d].apart));
    PetscCall((*place->free)(&col[d]));
    PetscCall((*place->free)(&packed[d]));
  }
  PetscCall(PetscFree(val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPack(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  PetscInt wrong[2] = {0};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); ++k) {
    Mat       A;
    PC        pc;
    PolderIlu there;
    PetscInt *arrays[NRAS_NARRAY];
    NRASAt   *here;

    if (small && Cases[k].n > 5000) continue;
    PetscCall(CreateMatrix(&Cases[k], &A));
    PetscCall(CreatePatterns(&Cases[k], A, PETSC_FALSE, &pc, &there, arrays));
    here = &((PC_NRAS *)pc->data)->at[0];
    PetscCall(Pack((PC_NRAS *)pc->data, (const PolderIlu *const[]){&here->ilu, &there}, (const PetscScalar *)here->val, wrong));
    PetscCall(DestroyPatterns(&pc, arrays));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(Report("widths of slices without zeros", wrong[0]));
  PetscCall(Report("factors without zeros", wrong[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows without their diagonal entries here and there, on the host */
static PetscErrorCode CreateRows(const Case *c, PolderCSR *csr, PetscInt **ai, PetscInt **aj)
{
  const PetscInt *i, *j;
  PetscBool       done;
  PetscInt        n, nz = 0;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(c, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(PetscMalloc2(n + 1, ai, i[n] + 1, aj));
  for (PetscInt r = 0; r < n; ++r) {
    (*ai)[r] = nz;
    for (PetscInt k = i[r]; k < i[r + 1]; ++k) {
      if (j[k] != r || r % 7) (*aj)[nz++] = j[k];
    }
  }
  (*ai)[n] = nz;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatDestroy(&A));
  *csr = (PolderCSR){.m = c->n, .M = c->n, .ai = *ai, .aj = *aj, .nz = nz};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern made at both places */
static PetscErrorCode PatternBoth(const Case *c, PetscBool mixed, PetscInt wrong[])
{
  PolderCSR  csr[2];
  PetscInt  *ai, *aj;
  NRASBlocks blocks[2];
  NRASCounts counts = {0};
  PC         pc;
  PC_NRAS   *nras;

  PetscFunctionBeginUser;
  PetscCall(CreateRows(c, &csr[0], &ai, &aj));
  PetscCall(CopyRows(&csr[0], &csr[1]));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCNRAS));
  nras = (PC_NRAS *)pc->data;
  for (int d = 0; d < 2; ++d) {
    PetscCall(CreateBlocks(c->n, c->blocks, mixed, &blocks[d]));
    PetscCall(PCNRASDirect(pc, PolderPlaceOf((PetscBool)d), &csr[d], &blocks[d]));
    if (!d) counts = nras->counts;
  }
  PetscCall(ComparePatterns(nras, &counts, blocks, wrong));
  for (int d = 0; d < 2; ++d) PetscCall(PCNRASDestroyBlocks(PolderPlaceOf((PetscBool)d), &blocks[d]));
  PetscCall(FreeRows(&csr[1]));
  PetscCall(PetscFree2(ai, aj));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPattern(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  PetscInt wrong[2] = {0};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); ++k) {
    if (small && Cases[k].n > 5000) continue;
    for (int mixed = 0; mixed < 2; ++mixed) PetscCall(PatternBoth(&Cases[k], (PetscBool)mixed, wrong));
  }
  PetscCall(Report("patterns", wrong[0]));
  PetscCall(Report("sizes of patterns", wrong[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestFactor, TestPack, TestSolve, TestPattern}
};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
