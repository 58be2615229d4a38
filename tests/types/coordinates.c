static char help[] = "Values in coordinates, in the order of the rows or not, against plain AIJ.\n\
  -type <type>: the type under test\n\n";

#include <polder.h>

enum {
  ROWS = 23,
  COLS = 29,
  MOST = 8 * ROWS
};

typedef enum {
  PLAIN,
  IGNORED,  /* some coordinates, the first and the last among them, have no row or no column */
  GAPS,     /* some rows, the first and the last among them, have no entries */
  NOTHING,  /* all coordinates are ignored */
  COLUMNS,  /* the columns of a row descend */
  REVERSED, /* the rows descend */
  REPEATED, /* an entry is given twice */
  APART,    /* in each row the own columns ascend, then those of other processes */
  NKIND
} Kind;

static const char *const Kinds[] = {"in order",    "in order with ignored ones", "in order with empty rows",
                                    "all ignored", "columns out of order",       "rows out of order",
                                    "repeated",    "own columns first"};

typedef struct {
  PetscInt    n, i[MOST], j[MOST];
  PetscScalar v[MOST];
} Values;

/* Coordinates of the rows of this process */
static PetscErrorCode Make(Kind kind, Mat A, Values *c)
{
  PetscInt rstart, rend, cstart, cend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  PetscCall(MatGetOwnershipRangeColumn(A, &cstart, &cend));
  c->n = 0;
  for (PetscInt r = rstart; r < rend; ++r) {
    const PetscInt row = kind == REVERSED ? rstart + rend - 1 - r : r;

    for (PetscInt all = 0; all < (kind == APART ? 10 : 5); ++all) {
      const PetscInt k = all % 5, col = (row + 6 * (kind == COLUMNS ? 4 - k : k) - 7) % COLS;
      const PetscInt lost = kind == NOTHING || (kind == IGNORED && (r == rstart || r == rend - 1 || (r + k) % 4 == 0));

      if (row + 6 * k - 7 < 0 || row + 6 * k - 7 >= COLS || (kind == GAPS && (r == rstart || r == rend - 1 || r % 5 == 2))) continue;
      if (kind == COLUMNS && (row + 6 * (4 - k) - 7 < 0 || row + 6 * (4 - k) - 7 >= COLS)) continue;
      if (kind == APART && (col >= cstart && col < cend) != (all < 5)) continue;
      c->i[c->n]   = lost && k % 2 ? -1 : row;
      c->j[c->n++] = lost && k % 2 == 0 ? -1 : col;
      if (kind != REPEATED || r % 3) continue;
      c->i[c->n]   = row;
      c->j[c->n++] = col;
    }
  }
  for (PetscInt k = 0; k < c->n; ++k) c->v[k] = PetscSinReal(1.0 + 10.0 * rstart + k);
  PetscFunctionReturn(0);
}

static PetscErrorCode Preallocate(Mat A, const Values *c)
{
  PetscInt i[MOST], j[MOST];

  PetscFunctionBeginUser;
  PetscCall(PetscArraycpy(i, c->i, c->n));
  PetscCall(PetscArraycpy(j, c->j, c->n));
  PetscCall(MatSetPreallocationCOO(A, c->n, i, j));
  PetscFunctionReturn(0);
}

/* Coordinates whose values stay zero */
static PetscErrorCode PreallocateZero(Mat A, const Values *c)
{
  PetscFunctionBeginUser;
  PetscCall(Preallocate(A, c));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The same entries with the same values, bit for bit, and the same product */
static PetscErrorCode Compare(const char *kind, const char *what, Mat A, Mat B)
{
  Vec       x, y, z;
  PetscInt  rstart, rend, wrong = 0;
  PetscReal norm, diff;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  for (PetscInt r = rstart; r < rend; ++r) {
    const PetscInt    *acol, *bcol;
    const PetscScalar *aval, *bval;
    PetscInt           na, nb;

    PetscCall(MatGetRow(A, r, &na, &acol, &aval));
    PetscCall(MatGetRow(B, r, &nb, &bcol, &bval));
    wrong += na != nb;
    for (PetscInt k = 0; k < PetscMin(na, nb); ++k) wrong += acol[k] != bcol[k] || aval[k] != bval[k];
    PetscCall(MatRestoreRow(B, r, &nb, &bcol, &bval));
    PetscCall(MatRestoreRow(A, r, &na, &acol, &aval));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck(!wrong, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: %" PetscInt_FMT " entries are wrong", kind, what, wrong);
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &diff));
  PetscCheck(diff <= 1e-14 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: products differ by %g of %g", kind, what, (double)diff, (double)norm);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

/* Everything that may follow coordinates, on A of PETSc's type and B of ours */
static PetscErrorCode Check(Kind kind, Mat A, Mat B)
{
  const char *name = Kinds[kind];
  Mat         D[2], both[2] = {A, B};
  Values      c;

  PetscFunctionBeginUser;
  PetscCall(Make(kind, A, &c));
  for (int b = 0; b < 2; ++b) PetscCall(PreallocateZero(both[b], &c));
  PetscCall(Compare(name, "zeros", A, B));
  for (int b = 0; b < 2; ++b) {
    PetscCall(Preallocate(both[b], &c));
    PetscCall(MatSetValuesCOO(both[b], c.v, ADD_VALUES));
  }
  PetscCall(Compare(name, "added to zeros", A, B));
  for (int b = 0; b < 2; ++b) PetscCall(MatSetValuesCOO(both[b], c.v, ADD_VALUES));
  PetscCall(Compare(name, "added again", A, B));
  for (PetscInt k = 0; k < c.n; ++k) c.v[k] *= -0.75 - k;
  for (int b = 0; b < 2; ++b) PetscCall(MatSetValuesCOO(both[b], c.v, INSERT_VALUES));
  PetscCall(Compare(name, "inserted", A, B));
  for (int b = 0; b < 2; ++b) PetscCall(MatDuplicate(both[b], MAT_COPY_VALUES, &D[b]));
  for (int b = 0; b < 2; ++b) PetscCall(MatZeroEntries(both[b]));
  PetscCall(Compare(name, "zeroed", A, B));
  PetscCall(Compare(name, "duplicates", D[0], D[1]));
  for (int b = 0; b < 2; ++b) PetscCall(MatDestroy(&D[b]));
  for (int b = 0; b < 2; ++b) {
    PetscCall(PreallocateZero(both[b], &c));
    PetscCall(MatScale(both[b], 2.0));
    PetscCall(MatDuplicate(both[b], MAT_COPY_VALUES, &D[b]));
  }
  PetscCall(Compare(name, "duplicates of zeros", D[0], D[1]));
  for (int b = 0; b < 2; ++b) PetscCall(MatDestroy(&D[b]));
  for (int b = 0; b < 2; ++b) PetscCall(MatSetValuesCOO(both[b], c.v, INSERT_VALUES));
  PetscCall(Compare(name, "inserted after zeros", A, B));
  PetscFunctionReturn(0);
}

/* The ranges of rows and columns are known before the first coordinates */
static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscLayout rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, COLS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatGetLayouts(*A, &rows, &cols));
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(PetscLayoutSetUp(cols));
  PetscFunctionReturn(0);
}

/* The matrix becomes a plain one: its values stay, and new ones are taken */
static PetscErrorCode CheckConversion(Kind kind, MatType type)
{
  Mat    A, B;
  Values c;

  PetscFunctionBeginUser;
  PetscCall(Create(MATAIJ, &A));
  PetscCall(Create(type, &B));
  PetscCall(Make(kind, A, &c));
  for (int b = 0; b < 2; ++b) {
    PetscCall(Preallocate(b ? B : A, &c));
    PetscCall(MatSetValuesCOO(b ? B : A, c.v, INSERT_VALUES));
  }
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(Compare(Kinds[kind], "converted", A, B));
  for (int b = 0; b < 2; ++b) PetscCall(MatSetValuesCOO(b ? B : A, c.v, ADD_VALUES));
  PetscCall(Compare(Kinds[kind], "added after a conversion", A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat  A, B;
  char type[64] = "aijdia";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  for (Kind kind = PLAIN; kind < NKIND; ++kind) {
    PetscCall(Create(MATAIJ, &A));
    PetscCall(Create(type, &B));
    PetscCall(Check(kind, A, B));
    for (Kind next = PLAIN; next < NKIND; ++next) PetscCall(Check(next, A, B)); /* new coordinates on the same matrix */
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(CheckConversion(kind, type));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right\n", Kinds[kind]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     args: -type {{aijdia aijicrs aijhec}}
     nsize: {{1 2 3}}
     output_file: output/coordinates_1.out

   # no sort: five of the eight kinds, on new matrices and on old ones
   test:
     suffix: in_order
     args: -info :mat
     nsize: {{2 3}}
     filter: grep -c "Coordinates are in order"

TEST*/
