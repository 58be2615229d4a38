static const char help[] = "Incomplete factors on the device against their host twins: factorisation, rounding, solves, sums.\n\n";

#include "devicetest.h"
#include "pc/nras/nrasimpl.h"

/* A matrix and the blocks it is cut into. The cases that are named take the three ways of the solve: in shared memory, in global memory, a launch a level */
typedef struct {
  PetscInt n, perrow, blocks, levels, overlap;
  PetscInt reach; /* columns lie this far from the diagonal at most */
} Case;
static const Case Cases[] = {
  {0,      3, 1,  0, 0, 5    },
  {1,      3, 1,  0, 0, 5    },
  {31,     3, 2,  1, 0, 31   },
  {32,     3, 1,  2, 0, 5    },
  {33,     0, 1,  0, 0, 5    },
  {257,    6, 7,  1, 1, 257  },
  {1025,   4, 40, 2, 2, 30   },
  {4000,   5, 13, 0, 1, 4000 },
  {40000,  3, 40, 0, 0, 40000},
  {40000,  2, 1,  0, 0, 20   }, /* global memory, narrow levels */
  {60000,  2, 1,  0, 0, 60000}, /* wide levels: a launch each */
  {100000, 3, 3,  1, 0, 90000}
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
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the factors on the host, from a preconditioner, and on the device */
static PetscErrorCode CreatePatterns(const Case *c, Mat A, PetscBool sums, PC *pc, PolderIlu *device, PetscInt *there[])
{
  PC_NRAS *nras;

  PetscFunctionBeginUser;
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCNRAS));
  nras                = (PC_NRAS *)(*pc)->data;
  nras->set.blocks    = c->blocks;
  nras->set.levels    = c->levels;
  nras->set.inner     = c->overlap;
  nras->set.partition = NRAS_ROWS;
  nras->set.form      = sums ? NRAS_ADDITIVE : NRAS_RESTRICTED;
  PetscCall(PCSetUp(*pc));
  for (int k = 0; k < NRAS_NARRAY; ++k) PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)nras->length[k], nras->at[0].array[k], &there[k]));
  *device          = nras->at[0].ilu;
  device->row      = there[NRAS_ROW];
  device->level    = there[NRAS_LEVEL];
  device->first    = there[NRAS_FIRST];
  device->start[0] = there[NRAS_LOWER];
  device->start[1] = there[NRAS_UPPER];
  device->col      = there[NRAS_COL];
  device->source   = there[NRAS_SOURCE];
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
    for (PetscInt i = 0; i < ilu->nrow; ++i)
      for (PetscInt p = ilu->start[t][i / POLDER_ILU_SLICE] + i % POLDER_ILU_SLICE; p < ilu->start[t][i / POLDER_ILU_SLICE + 1]; p += POLDER_ILU_SLICE)
        wrong += !(PetscAbsScalar(a[p] - b[p]) <= 1e-12);
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
  }
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
  PetscScalar       *val;
  const PetscScalar *aa;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(nb, &zero, nb, &bad, total, &val));
  PetscCall(MatSeqAIJGetArrayRead(A, &aa));
  PolderIluFactor_Host(here, &f->at[0], aa, f->val[0]);
  PetscCall(MatSeqAIJRestoreArrayRead(A, &aa));
  PolderLaunch(PolderIluFactor_CUDA(there, &f->at[1], f->aa, f->val[1], stream));
  PetscCall(PolderDeviceToHost(zero, f->at[1].zero, sizeof(PetscInt) * nb));
  PetscCall(PolderDeviceToHost(bad, f->at[1].bad, sizeof(PetscInt) * nb));
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
  PetscCall(Report("failures of blocks", wrong[1]));
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

/* Solves in both precisions with the same factors, and the sums of overlapping blocks */
static PetscErrorCode SolveBoth(const Case *c, PetscBool single, PetscBool sums, PetscBool weighted, PolderStream stream, PetscInt wrong[])
{
  Mat          A;
  PC           pc;
  PC_NRAS     *nras;
  PolderIlu    there;
  PetscInt    *arrays[NRAS_NARRAY], own = c->n - c->n / 3, ghosts = c->n / 3;
  PetscScalar *r, *rd, *w, *wd, *x[2], *z[2], *result, *vald;
  float       *rounded, *roundedd;
  size_t       total;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(c, &A));
  PetscCall(CreatePatterns(c, A, sums, &pc, &there, arrays));
  nras  = (PC_NRAS *)pc->data;
  total = (size_t)(there.nz + there.nrow);
  PetscCall(Random(c->n, &r, &rd));
  PetscCall(Random(c->n, &w, &wd));
  PetscCall(PetscMalloc1(there.nrow, &x[0]));
  PetscCall(PetscMalloc2(c->n, &z[0], c->n, &result));
  for (PetscInt i = 0; i < c->n; ++i) z[0][i] = NAN;
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * there.nrow, &x[1]));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * c->n, z[0], &z[1]));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * total, nras->at[0].val, &vald));
  PetscCall(PetscMalloc1(total, &rounded));
  PetscCall(PolderDeviceMalloc(sizeof(float) * total, &roundedd));
  PetscCall(RoundBoth(&nras->at[0].ilu, &there, (const PetscScalar *)nras->at[0].val, vald, rounded, roundedd, stream, &wrong[1]));
  for (int d = 0; d < 2; ++d) {
    const PolderPlace     *place = PolderPlaceOf((PetscBool)d);
    PetscInt *const       *array = d ? arrays : nras->at[0].array;
    const PolderIlu       *ilu   = d ? &there : &nras->at[0].ilu;
    const PetscScalar     *rr = d ? rd : r, *weight = weighted ? (d ? wd : w) : NULL;
    const void            *val = single ? (d ? (void *)roundedd : (void *)rounded) : d ? (void *)vald : nras->at[0].val;
    const PolderIluVectors v =
      {.n = own, .from = array[NRAS_FROM], .to = sums ? NULL : array[NRAS_TO], .weight = weight, .r = rr, .ghost = rr ? rr + own : NULL, .x = x[d], .z = z[d]};

    PolderRun(place, PolderIluSolve, ilu, single, val, &v);
    if (sums) {
      PolderRun(place, PolderIluAdd, own, array[NRAS_PTR], array[NRAS_LIST], weight, x[d], z[d]);
      PolderRun(place, PolderIluAdd, ghosts, array[NRAS_PTR] + own, array[NRAS_LIST], weight ? weight + own : NULL, x[d], z[d] + own);
    }
  }
  PetscCall(PolderDeviceToHost(result, z[1], sizeof(PetscScalar) * c->n));
  wrong[0] += Wrong(c->n, result, z[0], 1e-12);
  for (int d = 0; d < 2; ++d) PetscCall((*PolderPlaceOf((PetscBool)d)->free)(&x[d]));
  PetscCall(PetscFree2(z[0], result));
  PetscCall(PolderDeviceFree(&z[1]));
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
  PetscInt wrong[2][2] = {{0}};

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
  PetscCall(Report("rounding", wrong[0][1] + wrong[1][1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestFactor, TestSolve}
};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda
    load: no

TEST*/
