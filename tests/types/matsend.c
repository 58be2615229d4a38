static char help[] = "Rows that cross to the device in pieces: what arrives is what the host has, for sizes around that of a piece, and few bytes cross.\n\
  -type <type>: the type under test; -threads <n>: that make the pieces\n\n";

#include "core/device.h"
#include "mat/csr.h"
#include <polder.h>

enum {
  MOST = 41 /* diagonals of a case */
};

typedef struct {
  const char *name;
  PetscInt    nd, off[MOST]; /* beside the main diagonal, above it; with `lower` only below it as well */
  PetscInt    line;          /* no entry joins the ends of lines of this length; 0: no lines */
  PetscBool   unsymmetric;   /* the values, all of them */
  PetscInt    spoiled;       /* so many rows from the end, an entry has another value than its mirror image; 0: none */
  PetscInt    stray;         /* so many rows from the end, an entry on a diagonal of its own; 0: none */
  PetscInt    above, below;  /* every so many rows have no entries below, or above, the diagonal; 0: none */
  PetscReal   bytes;         /* a row, with which a first copy must do; 0: those of compressed rows */
  PetscReal   again;         /* new values */
} Family;

// clang-format off
static const Family families[] = {
  {.name = "empty", .bytes = 0},
  {.name = "tridiagonal", .nd = 1, .off = {1}, .bytes = 17, .again = 17},
  {.name = "five points", .nd = 2, .off = {1, 11}, .line = 11, .bytes = 25, .again = 25},
  {.name = "seven points", .nd = 3, .off = {1, 7, 49}, .line = 7, .bytes = 33, .again = 33},
  {.name = "nine points", .nd = 4, .off = {1, 12, 13, 14}, .bytes = 42, .again = 42},
  {.name = "seven, not symmetric", .nd = 3, .off = {1, 7, 49}, .line = 7, .unsymmetric = PETSC_TRUE, .bytes = 57, .again = 56},
  {.name = "seven, one value wrong", .nd = 3, .off = {1, 7, 49}, .spoiled = 3, .bytes = 57, .again = 56},
  {.name = "five, some only above", .nd = 2, .off = {1, 11}, .above = 5, .bytes = 25, .again = 25},
  {.name = "five, some only below", .nd = 2, .off = {1, 11}, .below = 5, .bytes = 41, .again = 40},
  {.name = "five, a stray entry", .nd = 2, .off = {1, 11}, .stray = 100},
  {.name = "more diagonals than bits", .nd = 20, .off = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67}},
};
// clang-format on

/* Bytes that have crossed to the device so far */
static PetscLogDouble Crossed(void)
{
#if defined(PETSC_HAVE_DEVICE)
  return petsc_ctog_sz;
#else
  return 0;
#endif
}

/* The same for (i, j) and (j, i) */
static PetscScalar Value(PetscInt i, PetscInt j)
{
  const unsigned int lo = (unsigned int)PetscMin(i, j), hi = (unsigned int)PetscMax(i, j);

  return i == j ? 50.0 : -1.0 / (1.0 + (lo * 2654435761u ^ hi * 40503u) % 1000u);
}

/* Its rows are those of one large matrix, so that the processes share it as they like */
static PetscErrorCode Create(const Family *f, PetscInt n, const char type[], Mat *A)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 2 * f->nd + 2, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 2 * f->nd + 2, NULL, 2 * f->nd + 2, NULL));
  PetscCall(MatGetOwnershipRange(*A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    if (f->nd) PetscCall(MatSetValue(*A, i, i, Value(i, i), INSERT_VALUES));
    for (PetscInt d = 0; d < 2 * f->nd; ++d) {
      const PetscInt j = d < f->nd ? i + f->off[d] : i - f->off[d - f->nd];
      PetscScalar    v = Value(i, j);

      if (j < 0 || j >= n || (f->line && PetscAbsInt(i - j) < f->line && i / f->line != j / f->line)) continue;
      if ((f->above && j < i && i % f->above == 0) || (f->below && j > i && i % f->below == 0)) continue;
      if (f->unsymmetric && j < i) v *= 2;
      if (f->spoiled && i == n - f->spoiled && j < i) v *= 1 + 4 * PETSC_MACHINE_EPSILON;
      PetscCall(MatSetValue(*A, i, j, v, INSERT_VALUES));
    }
    if (f->stray && i == n - f->stray) PetscCall(MatSetValue(*A, i, PetscMax(0, i - 333), 0.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts what differs between a block on the host and its rows on the device */
static PetscErrorCode CompareBlock(Mat block, const PetscInt dai[], const PetscInt daj[], const PetscScalar daa[], PetscInt *wrong)
{
  PetscInt           m, *ai, *aj;
  const PetscInt    *hi, *hj;
  const PetscScalar *ha;
  PetscScalar       *aa;
  PetscBool          done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &m, &hi, &hj, &done));
  PetscCall(MatSeqAIJGetArrayRead(block, &ha));
  PetscCall(PetscMalloc3(m + 1, &ai, hi[m], &aj, hi[m], &aa));
  PetscCall(PolderDeviceToHost(ai, dai, sizeof(*ai) * (size_t)(m + 1)));
  PetscCall(PolderDeviceToHost(aj, daj, sizeof(*aj) * (size_t)hi[m]));
  PetscCall(PolderDeviceToHost(aa, daa, sizeof(*aa) * (size_t)hi[m]));
  for (PetscInt i = 0; i <= m; ++i) *wrong += ai[i] != hi[i];
  for (PetscInt k = 0; k < hi[m]; ++k) *wrong += aj[k] != hj[k] || memcmp(&aa[k], &ha[k], sizeof(*aa)) != 0;
  PetscCall(PetscFree3(ai, aj, aa));
  PetscCall(MatSeqAIJRestoreArrayRead(block, &ha));
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &m, &hi, &hj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asks for the rows on the device and compares them; *bytes: those that crossed, a row, on one process */
static PetscErrorCode Compare(Mat A, PetscReal *bytes, PetscInt *wrong)
{
  PolderCSR      csr;
  PetscLogDouble before = Crossed();
  PetscBool      done;

  PetscFunctionBeginUser;
  PetscCall(PolderMatGetDeviceCSR(A, &csr, &done));
  *bytes = (Crossed() - before) / PetscMax(csr.m, 1);
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There are no rows on the device");
  PetscCall(CompareBlock(csr.diag, csr.ai, csr.aj, csr.aa, wrong));
  if (csr.offdiag) PetscCall(CompareBlock(csr.offdiag, csr.bi, csr.bj, csr.ba, wrong));
  PetscCall(PolderMatRestoreDeviceCSR(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product by the format of the type against that of plain AIJ */
static PetscErrorCode CompareProduct(Mat A, PetscInt *wrong)
{
  Mat       B;
  Vec       x, y, z;
  PetscReal norms[2];

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &norms[0]));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &norms[1]));
  *wrong += !(norms[1] <= 1e-13 * norms[0]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new value beside the main diagonal of this process's row in the middle, which then differs from its mirror image */
static PetscErrorCode ChangeOne(Mat A)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  if (rend - rstart > 3) {
    const PetscInt  i = rstart + (rend - rstart) / 2;
    PetscInt        nc, j = -1;
    const PetscInt *cols;

    PetscCall(MatGetRow(A, i, &nc, &cols, NULL));
    for (PetscInt k = 0; k < nc; ++k) {
      if (cols[k] != i || j < 0) j = cols[k];
    }
    PetscCall(MatRestoreRow(A, i, &nc, &cols, NULL));
    if (j >= 0) PetscCall(MatSetValue(A, i, j, -7.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt  rows, values, product, sizes;
  PetscBool few; /* bytes crossed, wherever the pieces are used */
} Findings;

static PetscErrorCode TestSize(const Family *f, PetscInt n, const char type[], Findings *found)
{
  PetscReal   bytes, again, index;
  PetscMPIInt size;
  PetscInt    m;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(f, n, type, &A));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(Compare(A, &bytes, &found->rows));
  PetscCall(CompareProduct(A, &found->product));
  PetscCall(MatScale(A, 1.5));
  PetscCall(Compare(A, &again, &found->values));
  if (size == 1 && f->bytes > 0 && bytes * m >= PolderDeviceLimits.least && n > 400) {
    if (bytes > f->bytes || again > f->again) found->few = PETSC_FALSE;
    ++found->sizes;
  }
  PetscCall(ChangeOne(A));
  PetscCall(Compare(A, &index, &found->values));
  PetscCall(CompareProduct(A, &found->product));
  PetscCall(MatScale(A, 0.5));
  PetscCall(Compare(A, &index, &found->values));
  PetscCall(Compare(A, &index, &found->values));
  if (index > 0) found->few = PETSC_FALSE; // nothing has changed
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[]  = {50, 127, 129, 192, 193, 255, 512, 513, 640, 1999, 2431};
  char                  type[64] = MATAIJDIA;
  PetscInt              threads  = 1;
  PolderStream          stream;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-threads", &threads, NULL));
  PetscCall(PolderDeviceGetStream(&stream)); // the program uses the device from now on
  PolderDeviceLimits.least   = 3000;
  PolderDeviceLimits.piece   = 4096;
  PolderDeviceLimits.threads = threads; // 0: by -polder_threads
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(families); ++k) {
    Findings    found = {.few = PETSC_TRUE};
    PetscMPIInt size;
    PetscInt    wrong[3];

    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) PetscCall(TestSize(&families[k], sizes[s], type, &found));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    wrong[0] = found.rows;
    wrong[1] = found.values;
    wrong[2] = found.product;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, wrong, 3, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    if (size == 1 && families[k].bytes > 0 && found.sizes < 5) found.few = PETSC_FALSE; // the pieces were not used
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: rows %s, new values %s, products %s, bytes %s\n", families[k].name, wrong[0] ? "WRONG" : "ok",
                          wrong[1] ? "WRONG" : "ok", wrong[2] ? "WRONG" : "ok", found.few ? "ok" : "TOO MANY"));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     requires: gpu
     nsize: {{1 3}}
     args: -type {{aijdia aijicrs}} -threads {{1 3}}

   test:
     suffix: option
     requires: gpu
     args: -threads 0 -polder_threads 2
     output_file: output/matsend_1.out

   test:
     suffix: toomany
     requires: gpu
     args: -threads 0 -polder_threads 99
     fails: -polder_threads 99 is not between 1 and 16

TEST*/
