/* What programs do with a matrix, done to the matrix and to its twin */
#include "fuzz.h"

typedef enum {
  SCALE,
  SHIFT,
  DIAGONALSCALE,
  AXPY,
  STORE,
  DUPLICATE,
  CONVERT,
  NEWVALUES,
  NEWPATTERN,
  ZEROROWSCOLUMNS,
  SAFE     = ZEROROWSCOLUMNS + 1, /* those before keep a system solvable, mostly */
  ZEROROWS = SAFE,
  ONESIDED,
  TRANSPOSE,
  COPY,
  SOMEVALUES,
  DIAGONALSET,
  ARRAYS,
  ZEROENTRIES,
  OPTIONS,
  OPERATIONS
} Operation;
static const char *const Names[] = {"scale",        "shift",           "diagonal scale", "axpy",        "store",
                                    "duplicate",    "convert",         "new values",     "new pattern", "zero rows and columns",
                                    "zero rows",    "one-sided scale", "transpose",      "copy",        "some values",
                                    "diagonal set", "arrays",          "zero entries",   "options"};

static PetscErrorCode Drop(FuzzKept *k)
{
  PetscFunctionBegin;
  if (k->how == 2) {
    if (k->lista) PetscCall(MatDestroySubMatrices(1, &k->lista));
    if (k->listt) PetscCall(MatDestroySubMatrices(1, &k->listt));
    k->a = k->t = NULL;
  }
  PetscCall(MatDestroy(&k->a));
  PetscCall(MatDestroy(&k->t));
  PetscCall(ISDestroy(&k->is));
  k->how = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzDropKept(Fuzz *f)
{
  PetscFunctionBegin;
  for (int k = 0; k < FUZZ_KEPT; ++k) PetscCall(Drop(&f->kept[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel is no longer what it was */
static PetscErrorCode Forget(Fuzz *f)
{
  PetscFunctionBegin;
  if (f->rows.nkernel > 0) {
    f->rows.nkernel = -1;
    PetscCall(FuzzMatrixNullSpace(f, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalScale(Fuzz *f, PetscBool twosided)
{
  const PetscBool twos = FuzzChance(f, 50), left = (PetscBool)(twosided || FuzzChance(f, 60)), right = (PetscBool)(twosided || !left || FuzzChance(f, 30));
  const uint64_t  seed    = FuzzNext(f);
  Mat             both[2] = {f->A, f->T};

  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k) {
    Vec          l, r;
    PetscScalar *a;
    PetscInt     start, end;

    PetscCall(MatCreateVecs(both[k], &l, &r));
    PetscCall(VecGetOwnershipRange(l, &start, &end));
    PetscCall(VecGetArrayWrite(l, &a));
    for (PetscInt i = start; i < end; ++i)
      a[i - start] = twos ? PetscPowRealInt(2, (PetscInt)(FuzzHash(seed, (uint64_t)i, 1) % 7) - 3) : 0.5 + FuzzUnit(FuzzHash(seed, (uint64_t)i, 1));
    PetscCall(VecRestoreArrayWrite(l, &a));
    if (twosided) PetscCall(VecCopy(l, r));
    else PetscCall(FuzzVecFill(r, seed, 0));
    PetscCall(MatDiagonalScale(both[k], left ? l : NULL, right ? r : NULL));
    PetscCall(VecDestroy(&l));
    PetscCall(VecDestroy(&r));
  }
  if (!twosided || !twos) f->rows.symmetric = PETSC_FALSE;
  if (!twosided) f->rows.definite = PETSC_FALSE;
  PetscCall(Forget(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A + alpha X with X a scaled or a shifted copy, or one whose pattern has less */
static PetscErrorCode Axpy(Fuzz *f)
{
  const PetscInt  how   = FuzzInt(f, f->fixed ? 2 : 3);
  const PetscReal alpha = FuzzReal(f, f->solves ? 0 : -2, 2), factor = FuzzReal(f, 0.5, 2);
  const PetscBool same    = (PetscBool)(how == 0);
  Mat             both[2] = {f->A, f->T}, X;

  PetscFunctionBegin;
  if (how == 2) {
    PetscCall(FuzzDropKept(f));
    PetscCall(Forget(f));
    PetscCall(FuzzMatrixNullSpace(f, PETSC_FALSE)); /* MatAXPY() would leave it behind */
    f->moved = PETSC_TRUE;
    f->coo   = PETSC_FALSE;
  }
  for (int k = 0; k < 2; ++k) {
    PetscCall(MatDuplicate(both[k], MAT_COPY_VALUES, &X));
    PetscCall(MatScale(X, factor));
    if (how == 2) {
      PetscCall(MatSetOption(X, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatShift(X, 0.25));
    }
    PetscCall(MatAXPY(both[k], alpha, X, same ? SAME_NONZERO_PATTERN : how == 1 ? SUBSET_NONZERO_PATTERN : DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&X));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Store(Fuzz *f)
{
  const PetscReal factor  = FuzzReal(f, -3, 3);
  Mat             both[2] = {f->A, f->T};

  PetscFunctionBegin;
  if (f->moved) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc has place for the values of the first pattern */
  for (int k = 0; k < 2; ++k) {                     /* values can be stored only of a matrix that takes no new places */
    PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
    PetscCall(MatStoreValues(both[k]));
    PetscCall(MatScale(both[k], factor));
  }
  if (FuzzChance(f, 80)) PetscCall(FuzzCheckProducts(f, f->A, f->T, "after MatStoreValues() and MatScale()"));
  for (int k = 0; k < 2; ++k) {
    PetscCall(MatRetrieveValues(both[k]));
    PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  }
  f->fixed = (PetscBool)(f->fixed || f->size > 1); /* PETSc's parallel matrices lose entries that come to new places afterwards */
  if (!f->wrong) PetscCall(FuzzCheckProducts(f, f->A, f->T, "after MatRetrieveValues()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy takes the place of the matrix */
static PetscErrorCode Duplicate(Fuzz *f)
{
  const PetscInt how = FuzzInt(f, 3);
  Mat            B;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(f->A, how == 0 ? MAT_COPY_VALUES : how == 1 ? MAT_SHARE_NONZERO_PATTERN : MAT_DO_NOT_COPY_VALUES, &B));
  if (how) PetscCall(MatCopy(f->A, B, FuzzChance(f, 50) ? SAME_NONZERO_PATTERN : DIFFERENT_NONZERO_PATTERN));
  PetscCall(FuzzCheckProducts(f, f->A, f->T, "a duplicated matrix"));
  PetscCall(MatDestroy(&f->A));
  f->A   = B;
  f->coo = f->fixed = PETSC_FALSE;
  PetscCall(FuzzDropKept(f));
  if (f->rows.nkernel > 0) PetscCall(Forget(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Convert(Fuzz *f)
{
  const char *type = FuzzType(f);
  Mat         B;

  PetscFunctionBegin;
  FuzzLog(f, " to %s", type);
  f->coo = PETSC_FALSE;
  PetscCall(FuzzDropKept(f));
  if (FuzzChance(f, 50)) PetscCall(MatConvert(f->A, type, MAT_INPLACE_MATRIX, &f->A));
  else {
    PetscCall(MatConvert(f->A, type, MAT_INITIAL_MATRIX, &B));
    PetscCall(FuzzCheckProducts(f, f->A, f->T, "a converted matrix"));
    PetscCall(MatDestroy(&f->A));
    f->A = B;
    PetscCall(Forget(f));
  }
  f->type = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some rows of this process, or all of them */
static PetscErrorCode SomeRows(Fuzz *f, PetscInt percent, IS *is)
{
  const uint64_t seed = FuzzNext(f);
  PetscInt       start, end, *i, n = 0;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(f->T, &start, &end));
  PetscCall(PetscMalloc1(end - start, &i));
  for (PetscInt r = start; r < end; ++r)
    if ((PetscInt)(FuzzHash(seed, (uint64_t)r, 8) % 100) < percent) i[n++] = r;
  PetscCall(ISCreateGeneral(f->comm, n, i, PETSC_COPY_VALUES, is));
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRows(Fuzz *f, PetscBool columns)
{
  const PetscBool keep = (PetscBool)(FuzzChance(f, 50) || f->fixed), whole = (PetscBool)(f->rows.diagonal && !f->moved);
  const PetscReal diag    = whole && (columns || FuzzChance(f, 50)) ? FuzzReal(f, 0.5, 2) : 0;
  Mat             both[2] = {f->A, f->T};
  IS              is;

  PetscFunctionBegin;
  if (columns && !whole) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc wants all diagonal entries there */
  PetscCall(SomeRows(f, FuzzBetween(f, 0, 30), &is));
  PetscCall(FuzzDropKept(f));
  f->coo   = PETSC_FALSE;
  f->moved = PETSC_TRUE;
  for (int k = 0; k < 2; ++k) {
    PetscCall(MatSetOption(both[k], MAT_KEEP_NONZERO_PATTERN, keep));
    if (columns) PetscCall(MatZeroRowsColumnsIS(both[k], is, diag, NULL, NULL));
    else PetscCall(MatZeroRowsIS(both[k], is, diag, NULL, NULL));
  }
  PetscCall(ISDestroy(&is));
  PetscCall(Forget(f));
  if (!columns) f->rows.symmetric = f->rows.definite = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transpose(Fuzz *f)
{
  const PetscBool inplace = FuzzChance(f, 50);
  Mat            *both[2] = {&f->A, &f->T}, B;

  PetscFunctionBegin;
  if (f->declared || (f->fixed && !f->rows.twoway)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FuzzMatrixNullSpace(f, PETSC_FALSE)); /* MatTranspose() would leave it behind */
  PetscCall(FuzzDropKept(f));
  f->coo   = PETSC_FALSE;
  f->moved = PETSC_TRUE;
  for (int k = 0; k < 2; ++k) {
    if (inplace) PetscCall(MatTranspose(*both[k], MAT_INPLACE_MATRIX, both[k]));
    else {
      PetscCall(MatTranspose(*both[k], MAT_INITIAL_MATRIX, &B));
      PetscCall(MatDestroy(both[k]));
      *both[k] = B;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Through another matrix of the same pattern */
static PetscErrorCode Copy(Fuzz *f)
{
  Mat both[2] = {f->A, f->T}, B;

  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k) {
    PetscCall(MatDuplicate(both[k], MAT_COPY_VALUES, &B));
    PetscCall(MatScale(B, -0.5));
    PetscCall(MatCopy(B, both[k], SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries anywhere, in old places or also in new ones, from any process */
static PetscErrorCode SomeValues(Fuzz *f)
{
  const PetscInt   n = f->rows.n, times = n ? FuzzBetween(f, 0, 20) : 0;
  const PetscBool  fresh   = (PetscBool)(!f->fixed && (FuzzChance(f, 40) || f->moved || !f->rows.nz));
  const InsertMode mode    = FuzzChance(f, 50) ? ADD_VALUES : INSERT_VALUES;
  Mat              both[2] = {f->A, f->T};

  PetscFunctionBegin;
  if (f->fixed && (f->moved || !f->rows.nz)) PetscFunctionReturn(PETSC_SUCCESS);
  if (fresh) {
    PetscCall(FuzzDropKept(f));
    f->coo   = PETSC_FALSE;
    f->moved = PETSC_TRUE;
  }
  for (int k = 0; k < 2; ++k) {
    PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_LOCATIONS, fresh));
  }
  for (PetscInt t = 0; t < times; ++t) {
    const PetscScalar v   = FuzzReal(f, -2, 2);
    const PetscInt    who = FuzzInt(f, f->size), at = FuzzInt(f, f->rows.nz);
    PetscInt          i = FuzzInt(f, n), j = FuzzChance(f, 50) ? i : FuzzInt(f, n);

    if (!fresh) {
      for (i = 0; f->rows.ptr[i + 1] <= at;) ++i;
      j = f->rows.col[at];
    }

    if (mode == INSERT_VALUES && t) continue;                         /* the last of several would depend on their order */
    if (!fresh && f->declared && i != j && !f->rows.twoway) continue; /* one of the two matrices may have no place for entry (j, i) */
    if (who != f->rank) continue;
    for (int k = 0; k < 2; ++k) {
      PetscCall(MatSetValue(both[k], i, j, v, mode));
      if (f->declared && i != j) PetscCall(MatSetValue(both[k], j, i, v, mode)); /* a program that declares symmetry keeps it */
    }
  }
  for (int k = 0; k < 2; ++k) {
    PetscCall(Assemble(both[k]));
    PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalSet(Fuzz *f)
{
  const uint64_t   seed    = FuzzNext(f);
  const InsertMode mode    = FuzzChance(f, 50) ? ADD_VALUES : INSERT_VALUES;
  Mat              both[2] = {f->A, f->T};
  Vec              d;

  PetscFunctionBegin;
  if ((f->fixed || f->size > 1) && !f->rows.diagonal) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc's own parallel matrices lose entries */
  PetscCall(FuzzDropKept(f));
  f->moved = PETSC_TRUE;
  for (int k = 0; k < 2; ++k) {
    PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatCreateVecs(both[k], NULL, &d));
    PetscCall(FuzzVecFill(d, seed, 0));
    PetscCall(MatDiagonalSet(both[k], d, mode));
    PetscCall(VecDestroy(&d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the local blocks, written as a program writes them */
static PetscErrorCode Arrays(Fuzz *f)
{
  Mat both[2] = {f->A, f->T};

  PetscFunctionBegin;
  if (f->size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; ++k) {
    PetscScalar *a;
    MatInfo      info;

    PetscCall(MatGetInfo(both[k], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArray(both[k], &a));
    for (PetscInt i = 0; i < (PetscInt)info.nz_used; ++i) a[i] *= -3;
    PetscCall(MatSeqAIJRestoreArray(both[k], &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(Fuzz *f)
{
  static const MatOption flags[] = {MAT_SYMMETRIC, MAT_IGNORE_ZERO_ENTRIES};
  const MatOption        flag    = FuzzPick(f, flags);
  PetscBool              is;
  Vec                    x;

  PetscFunctionBegin;
  if (flag == MAT_SYMMETRIC && f->size == 1) {
    PetscCall(MatIsSymmetric(f->A, 0, &is));
    if (is) f->declared = PETSC_TRUE;
  }
  PetscCall(MatCreateVecs(f->A, &x, NULL));
  if (flag == MAT_IGNORE_ZERO_ENTRIES) PetscCall(MatGetRowSum(f->A, x));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Both(Fuzz *f, Operation op)
{
  const PetscReal number  = op == SHIFT ? FuzzReal(f, f->solves ? 0 : -1, 1) : PetscPowReal(10, FuzzReal(f, -2, 2)) * (f->solves || FuzzChance(f, 50) ? 1 : -1);
  Mat             both[2] = {f->A, f->T};

  PetscFunctionBegin;
  if (op == SHIFT && f->fixed && !f->rows.diagonal) PetscFunctionReturn(PETSC_SUCCESS);
  if (op == SHIFT) {
    PetscCall(FuzzDropKept(f));
    f->moved = PETSC_TRUE;
    if (number != 0) PetscCall(Forget(f));
  }
  for (int k = 0; k < 2; ++k) {
    if (op == SHIFT) {
      PetscCall(MatSetOption(both[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatShift(both[k], number));
    } else if (op == ZEROENTRIES) PetscCall(MatZeroEntries(both[k]));
    else PetscCall(MatScale(both[k], number));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzOperation(Fuzz *f)
{
  const Operation op = (Operation)FuzzInt(f, f->solves ? SAFE : OPERATIONS);

  PetscFunctionBegin;
  if (!strcmp(Names[op], f->without)) PetscFunctionReturn(PETSC_SUCCESS);
  FuzzLog(f, "\n %s", Names[op]);
  switch (op) {
  case DIAGONALSCALE:
  case ONESIDED:
    PetscCall(DiagonalScale(f, (PetscBool)(op == DIAGONALSCALE)));
    break;
  case AXPY:
    PetscCall(Axpy(f));
    break;
  case STORE:
    PetscCall(Store(f));
    break;
  case DUPLICATE:
    PetscCall(Duplicate(f));
    break;
  case CONVERT:
    PetscCall(Convert(f));
    break;
  case NEWVALUES:
    PetscCall(FuzzMatrixNewValues(f));
    break;
  case NEWPATTERN:
    PetscCall(FuzzDropKept(f));
    PetscCall(FuzzMatrixNewPattern(f));
    break;
  case ZEROROWS:
  case ZEROROWSCOLUMNS:
    PetscCall(ZeroRows(f, (PetscBool)(op == ZEROROWSCOLUMNS)));
    break;
  case TRANSPOSE:
    PetscCall(Transpose(f));
    break;
  case COPY:
    PetscCall(Copy(f));
    break;
  case SOMEVALUES:
    PetscCall(SomeValues(f));
    break;
  case DIAGONALSET:
    PetscCall(DiagonalSet(f));
    break;
  case ARRAYS:
    PetscCall(Arrays(f));
    break;
  case OPTIONS:
    PetscCall(Options(f));
    break;
  default:
    PetscCall(Both(f, op));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Derived matrices, made once and again */
static PetscErrorCode Derive(FuzzKept *k, Mat A, MatReuse reuse, Mat *S, Mat **list)
{
  PetscFunctionBegin;
  switch (k->how) {
  case 1:
    PetscCall(MatCreateSubMatrix(A, k->is, k->is, reuse, S));
    break;
  case 2:
    PetscCall(MatCreateSubMatrices(A, 1, &k->is, &k->is, reuse, list));
    *S = **list;
    break;
  case 3:
    PetscCall(MatMatMult(A, A, reuse, PETSC_DEFAULT, S));
    break;
  case 4:
    PetscCall(MatTransposeMatMult(A, A, reuse, PETSC_DEFAULT, S));
    break;
  case 5:
    PetscCall(MatTranspose(A, reuse, S));
    break;
  default:
    PetscCall(MatConvert(A, MATAIJ, reuse, S));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDerived(Fuzz *f, FuzzKept *k, const char *when)
{
  static const char *const names[] =
    {"", "MatCreateSubMatrix()", "MatCreateSubMatrices()", "MatMatMult()", "MatTransposeMatMult()", "MatTranspose()", "MatConvert()"};
  const MPI_Comm    comm = f->comm;
  const PetscMPIInt rank = f->rank, size = f->size;
  char              what[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s %s", names[k->how], when));
  if (k->how == 3 || k->how == 4) PetscCall(FuzzCheckTwice(f, k->a, f->T, (PetscBool)(k->how == 4), what));
  else {
    if (k->how == 2) { /* one for each process */
      f->comm = PETSC_COMM_SELF;
      f->rank = 0;
      f->size = 1;
    }
    PetscCall(FuzzCheckProducts(f, k->a, k->t, what));
    f->comm = comm;
    f->rank = rank;
    f->size = size;
    PetscCall(FuzzAgree(f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzDerived(Fuzz *f)
{
  FuzzKept *k = &f->kept[FuzzInt(f, FUZZ_KEPT)];

  PetscFunctionBegin;
  PetscCall(Drop(k));
  k->how = (int)FuzzBetween(f, 1, 6);
  if ((k->how == 4 || k->how == 5) && f->declared) k->how = 3; /* PETSc takes A for A^T, also when the declaration holds no longer */
  FuzzLog(f, "\n derived %d", k->how);
  if (k->how <= 2) PetscCall(SomeRows(f, FuzzChance(f, 50) ? 100 : FuzzBetween(f, 0, 100), &k->is));
  if (k->how == 2) {
    IS all;

    if (FuzzChance(f, 70)) {
      PetscCall(ISAllGather(k->is, &all));
      PetscCall(ISDestroy(&k->is));
      k->is = all;
    } else {
      PetscCall(ISOnComm(k->is, PETSC_COMM_SELF, PETSC_COPY_VALUES, &all));
      PetscCall(ISDestroy(&k->is));
      k->is = all;
    }
  }
  PetscCall(Derive(k, f->A, MAT_INITIAL_MATRIX, &k->a, &k->lista));
  if (k->how <= 2 || k->how >= 5) PetscCall(Derive(k, f->T, MAT_INITIAL_MATRIX, &k->t, &k->listt));
  PetscCall(CheckDerived(f, k, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzDerivedAgain(Fuzz *f)
{
  PetscFunctionBegin;
  for (int i = 0; i < FUZZ_KEPT && !f->wrong; ++i) {
    FuzzKept *k = &f->kept[i];

    if (!k->how) continue;
    FuzzLog(f, "\n again %d", k->how);
    PetscCall(Derive(k, f->A, MAT_REUSE_MATRIX, &k->a, &k->lista));
    if (k->t) PetscCall(Derive(k, f->T, MAT_REUSE_MATRIX, &k->t, &k->listt));
    PetscCall(CheckDerived(f, k, "again"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
