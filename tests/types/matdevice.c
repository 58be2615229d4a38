static char help[] = "Matrices of Polder in device memory: values in coordinates given there, what the host sees of them, copies, bindings, solvers.\n\
  -type <type>: the type under test\n\n";

#include "mat/dia.h"
#include "matdevice/matdevice.h"
#include <polder.h>

#if defined(PETSC_HAVE_CUDA)

static PetscErrorCode Entries(Mat A, PetscScalar *sum)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  *sum = 0.0;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  for (PetscInt r = rstart; r < rend; ++r) {
    PetscInt           nc;
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall(MatGetRow(A, r, &nc, &cols, &vals));
    for (PetscInt k = 0; k < nc; ++k) *sum += vals[k] * (1 + r % 7) * (1 + cols[k] % 11);
    PetscCall(MatRestoreRow(A, r, &nc, &cols, &vals));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whoever reads or writes the values on the host right after they were made on the device must find them */
static PetscErrorCode HostReaders(Test *t)
{
  Mat         B, C;
  PetscScalar a, b;
  PetscReal   na, nb;

  PetscFunctionBeginUser;
  PetscCall(New(t, &B));
  PetscCall(Entries(t->A, &a));
  PetscCall(Entries(B, &b));
  PetscCall(Check(t, "rows", (PetscBool)(PetscAbsScalar(a - b) <= 1e-12 * PetscAbsScalar(a))));
  PetscCall(MatDestroy(&B));
  PetscCall(New(t, &B));
  PetscCall(MatNorm(t->A, NORM_FROBENIUS, &na));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &nb));
  PetscCall(Check(t, "norm", (PetscBool)(PetscAbsReal(na - nb) <= 1e-12 * na)));
  PetscCall(MatDestroy(&B));
  PetscCall(New(t, &B));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  PetscCall(SameProduct(t, "duplicate", t->A, C, VECCUDA, VECCUDA));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscCall(New(t, &B));
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(SameProduct(t, "converted", t->A, C, VECSTANDARD, VECSTANDARD));
  PetscCall(MatDestroy(&C));
  PetscCall(SetValues(t, B, 1.25, INSERT_VALUES));
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(SameProduct(t, "converted in place", t->A, B, VECSTANDARD, VECSTANDARD));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HostProducts(Test *t)
{
  Mat B, C, D, E, F;

  PetscFunctionBeginUser;
  PetscCall(New(t, &B));
  PetscCall(MatConvert(B, MATAIJICRS, MAT_INITIAL_MATRIX, &C));
  PetscCall(SameProduct(t, "converted to aijicrs", t->A, C, VECCUDA, VECCUDA));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDuplicate(t->A, MAT_COPY_VALUES, &C));
  PetscCall(MatCopy(B, C, DIFFERENT_NONZERO_PATTERN));
  PetscCall(SameProduct(t, "copied", t->A, C, VECSTANDARD, VECSTANDARD));
  PetscCall(MatAXPY(C, 2.0, t->A, SAME_NONZERO_PATTERN));
  PetscCall(SetValues(t, B, 1.5, INSERT_VALUES));
  PetscCall(MatAXPY(C, -2.0, B, SAME_NONZERO_PATTERN));
  PetscCall(MatZeroEntries(C));
  PetscCall(MatAXPY(C, 1.0, B, SAME_NONZERO_PATTERN));
  PetscCall(SameProduct(t, "added to another", t->A, C, VECSTANDARD, VECSTANDARD));
  PetscCall(MatDestroy(&C));
  PetscCall(MatScale(t->A, 3.0));
  PetscCall(MatScale(B, 3.0));
  PetscCall(SameProduct(t, "scaled", t->A, B, VECCUDA, VECCUDA));
  PetscCall(SetValues(t, B, 1.0, ADD_VALUES));
  PetscCall(SameProduct(t, "added to scaled", t->A, B, VECCUDA, VECCUDA));
  PetscCall(MatMatMult(t->A, t->A, MAT_INITIAL_MATRIX, 2.0, &C));
  PetscCall(MatMatMult(B, B, MAT_INITIAL_MATRIX, 2.0, &D));
  PetscCall(SameProduct(t, "square", C, D, VECCUDA, VECCUDA));
  PetscCall(SetValues(t, B, 0.5, INSERT_VALUES));
  PetscCall(MatMatMult(t->A, t->A, MAT_REUSE_MATRIX, 2.0, &C));
  PetscCall(MatMatMult(B, B, MAT_REUSE_MATRIX, 2.0, &D));
  PetscCall(SameProduct(t, "square again", C, D, VECCUDA, VECCUDA));
  PetscCall(MatPtAP(t->A, t->A, MAT_INITIAL_MATRIX, 2.0, &E));
  PetscCall(MatPtAP(B, B, MAT_INITIAL_MATRIX, 2.0, &F));
  PetscCall(SameProduct(t, "triple product", E, F, VECCUDA, VECCUDA));
  PetscCall(SetValues(t, B, 0.5, INSERT_VALUES));
  PetscCall(MatPtAP(t->A, t->A, MAT_REUSE_MATRIX, 2.0, &E));
  PetscCall(MatPtAP(B, B, MAT_REUSE_MATRIX, 2.0, &F));
  PetscCall(SameProduct(t, "triple product again", E, F, VECCUDA, VECCUDA));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&F));
  PetscCall(MatTranspose(t->A, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &D));
  PetscCall(SameProduct(t, "transposed", C, D, VECCUDA, VECCUDA));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HostWriters(Test *t)
{
  Mat      B;
  Vec      d;
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(New(t, &B));
  PetscCall(MatCreateVecs(t->A, &d, NULL));
  PetscCall(MatGetDiagonal(t->A, d));
  {
    Vec e;

    PetscCall(VecDuplicate(d, &e));
    PetscCall(MatGetDiagonal(B, e));
    PetscCall(Same(t, "diagonal on the host", d, e));
    PetscCall(VecDestroy(&e));
    PetscCall(SetValues(t, B, 1.0, INSERT_VALUES));
    PetscCall(MatCreateVecs(B, &e, NULL));
    PetscCall(MatGetDiagonal(B, e));
    PetscCall(Same(t, "diagonal on the device", d, e));
    PetscCall(VecDestroy(&e));
  }
  PetscCall(VecDestroy(&d));
  PetscCall(SetValues(t, B, 1.0, INSERT_VALUES));
  PetscCall(MatGetOwnershipRange(B, &rstart, &rend));
  for (int k = 0; k < 2; ++k) {
    Mat X = k ? B : t->A;

    if (rend > rstart) PetscCall(MatSetValue(X, rstart, rstart, 7.0, ADD_VALUES));
    PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(SameProduct(t, "one value set on the host", t->A, B, VECCUDA, VECCUDA));
  PetscCall(SetValues(t, B, 1.0, ADD_VALUES));
  PetscCall(SameProduct(t, "then values on the device", t->A, B, VECCUDA, VECCUDA));
  PetscCall(MatZeroEntries(t->A));
  PetscCall(MatZeroEntries(B));
  PetscCall(SetValues(t, B, 1.0, ADD_VALUES));
  PetscCall(SameProduct(t, "added to zeros", t->A, B, VECCUDA, VECCUDA));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A value for each entry, in order; and, where the user says that the matrix stays symmetric, half of them */
static PetscErrorCode Plain(Test *t)
{
  const PetscBool dia = (PetscBool)!strcmp(t->type, MATAIJDIA);
  PetscInt        rstart, rend;
  PetscScalar    *v;
  Mat             B;

  PetscFunctionBeginUser;
  PetscCall(Coordinates(t, 0, PETSC_TRUE));
  PetscCall(New(t, &B));
  PetscCall(SameProduct(t, "a value for each entry", t->A, B, VECCUDA, VECCUDA));
  PetscCall(SetValues(t, B, 2.0, ADD_VALUES));
  PetscCall(SameProduct(t, "and others added", t->A, B, VECCUDA, VECCUDA));
  PetscCall(MatSetOption(B, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(B, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(SetValues(t, B, 0.5, INSERT_VALUES));
  PetscCall(SameProduct(t, "symmetric for ever", t->A, B, VECCUDA, VECCUDA));
  PetscCall(MatGetOwnershipRange(B, &rstart, &rend));
  PetscCall(VecGetArray(t->v, &v));
  for (PetscInt k = 0; k < t->ncoo; ++k) v[k] *= dia && t->j[k] < t->i[k] && t->j[k] >= rstart ? 3 : 1; // of its own lower half a process takes nothing
  PetscCall(VecRestoreArray(t->v, &v));
  PetscCall(VecGetArrayAndMemType(t->v, &v, NULL));
  PetscCall(MatSetValuesCOO(B, v, INSERT_VALUES));
  PetscCall(VecRestoreArrayAndMemType(t->v, &v));
  PetscCall(SameProduct(t, "with a lower half that nobody reads", t->A, B, VECCUDA, VECCUDA));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of any kind, bindings in the middle, a new pattern */
static PetscErrorCode Places(Test *t)
{
  Mat          B;
  PetscMemType type;

  PetscFunctionBeginUser;
  PetscCall(New(t, &B));
  PetscCall(PolderMatGetMemType(B, &type));
  PetscCall(Check(t, "on the device", PetscMemTypeDevice(type) ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(SameProduct(t, "device vectors", t->A, B, VECCUDA, VECCUDA));
  PetscCall(SetValues(t, B, 1.5, INSERT_VALUES));
  PetscCall(SameProduct(t, "host vectors", t->A, B, VECSTANDARD, VECSTANDARD));
  PetscCall(SetValues(t, B, 1.5, INSERT_VALUES));
  PetscCall(SameProduct(t, "host and device", t->A, B, VECSTANDARD, VECCUDA));
  PetscCall(SetValues(t, B, 1.5, INSERT_VALUES));
  PetscCall(SameProduct(t, "device and host", t->A, B, VECCUDA, VECSTANDARD));
  PetscCall(SetValues(t, B, 0.5, INSERT_VALUES));
  PetscCall(MatBindToCPU(B, PETSC_TRUE));
  PetscCall(PolderMatGetMemType(B, &type));
  PetscCall(Check(t, "bound to the host", PetscMemTypeHost(type) ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(SameProduct(t, "bound", t->A, B, VECCUDA, VECCUDA));
  PetscCall(SetValues(t, B, 0.5, INSERT_VALUES));
  PetscCall(SameProduct(t, "bound, new values", t->A, B, VECCUDA, VECCUDA));
  PetscCall(MatBindToCPU(B, PETSC_FALSE));
  PetscCall(SameProduct(t, "unbound", t->A, B, VECCUDA, VECCUDA));
  PetscCall(SetValues(t, B, 0.5, ADD_VALUES));
  PetscCall(SameProduct(t, "unbound, new values", t->A, B, VECCUDA, VECCUDA));
  PetscCall(Coordinates(t, 3, PETSC_FALSE));
  PetscCall(Preallocate(t, B));
  PetscCall(SetValues(t, B, 1.0, INSERT_VALUES));
  PetscCall(SameProduct(t, "new pattern", t->A, B, VECCUDA, VECCUDA));
  PetscCall(MatDestroy(&B));
  PetscCall(Coordinates(t, 0, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values and products: what crosses the bus does not grow with the matrix */
static PetscErrorCode ValueCopies(Test *t, Mat B, Vec x, Vec y, Vec z)
{
  const PetscLogDouble most = t->A->rmap->n == t->A->rmap->N ? 1000.0 : 10000.0; /* what an exchange of the halo and the couplings with others take */
  PetscLogEvent        event;
  PetscEventPerfInfo   info;
  PetscMemType         type;
  const PetscScalar   *v;

  PetscFunctionBeginUser;
  PetscCall(MatMult(B, x, y));
  PetscCall(MatMultTranspose(B, x, y));
  PetscCall(VecGetArrayReadAndMemType(t->v, &v, &type));
  PetscCall(PetscLogEventRegister("counted", MAT_CLASSID, &event));
  PetscCall(PetscLogEventBegin(event, B, 0, 0, 0));
  for (int k = 0; k < 3; ++k) {
    PetscCall(MatSetValuesCOO(B, v, k == 1 ? ADD_VALUES : INSERT_VALUES));
    PetscCall(MatMult(B, x, y));
    PetscCall(MatResidual(B, z, x, y));
    PetscCall(MatGetDiagonal(B, y));
    PetscCall(MatMultTranspose(B, x, y));
  }
  PetscCall(PetscLogEventEnd(event, B, 0, 0, 0));
  PetscCall(VecRestoreArrayReadAndMemType(t->v, &v));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  PetscCall(Check(t, "copies to the device", (PetscBool)(info.CpuToGpuSize <= most)));
  PetscCall(Check(t, "copies to the host", (PetscBool)(info.GpuToCpuSize <= most)));
  if (info.CpuToGpuSize > most || info.GpuToCpuSize > most)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %g and %g bytes\n", info.CpuToGpuSize, info.GpuToCpuSize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product with its dot in one pass */
static PetscErrorCode ProductDot(Test *t, Mat B, Vec x, Vec y, Vec z)
{
  PolderProductDot dot = {.value = NULL};
  PetscScalar      value, expected;
  PetscBool        done;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(sizeof(value), &dot.value));
  PetscCall(VecSet(y, NAN));
  PetscCall(PolderMatMultDot(B, x, y, &dot, &done));
  PetscCall(Check(t, "product and dot done", done));
  PetscCall(PolderDeviceToHost(&value, dot.value, sizeof(value)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(MatMult(B, x, z));
  PetscCall(Same(t, "product with dot", z, y));
  PetscCall(VecDot(x, z, &expected));
  PetscCall(Check(t, "dot", (PetscBool)(PetscAbsScalar(value - expected) <= 1e-12 * PetscAbsScalar(expected))));
  PetscCall(PolderDeviceFree(&dot.value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copies(Test *t)
{
  Mat              B;
  Vec              x, y, z;
  PetscBool        done;
  const PolderDia *dia;
  PolderCSR        csr;

  PetscFunctionBeginUser;
  PetscCall(New(t, &B));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSet(z, 1.0));
  PetscCall(ValueCopies(t, B, x, y, z));
  PetscCall(ProductDot(t, B, x, y, z));
  PetscCall(PolderMatGetDeviceDia(B, &dia));
  PetscCall(PetscStrcmp(t->type, MATAIJDIA, &done));
  if (done && B->rmap->n > 50) PetscCall(Check(t, "diagonals", (PetscBool)(dia != NULL)));
  else PetscCall(Check(t, "diagonals", (PetscBool)(dia == NULL || B->rmap->n <= 50)));
  PetscCall(PolderMatGetDeviceCSR(B, &csr, &done));
  PetscCall(Check(t, "rows on the device", done));
  PetscCall(PolderMatRestoreDeviceCSR(B, &csr));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -ksp_view says where the products run */
static PetscErrorCode View(Test *t)
{
  Mat         B;
  PetscViewer viewer;
  char        text[4096] = "";
  PetscMPIInt rank;
  PetscBool   found = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(New(t, &B));
  PetscCall(SameProduct(t, "before the view", t->A, B, VECCUDA, VECCUDA));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "view.txt", &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(B, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    FILE *file = fopen("view.txt", "r");

    PetscCheck(file && fread(text, 1, sizeof(text) - 1, file) > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "No view");
    fclose(file);
    found = strstr(text, " on the GPU; ") ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscCall(Check(t, "view", found));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat B, const char *pctype, const char *sub, PetscInt *its, PetscLogDouble *copied)
{
  KSP                ksp;
  PC                 pc;
  Vec                x, b;
  PetscLogEvent      event;
  PetscEventPerfInfo info, before;
  char               name[64];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", sub));
  PetscCall(PetscSNPrintf(name, sizeof(name), "solve%s%s%s", pctype, sub, ((PetscObject)B)->type_name));
  PetscCall(PetscLogEventRegister(name, MAT_CLASSID, &event));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(B, x, b));
  PetscCall(VecSet(x, 0.0));
  PetscCall(KSPSolve(ksp, b, x)); /* set-up included */
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &before));
  PetscCall(PetscLogEventBegin(event, B, 0, 0, 0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscLogEventEnd(event, B, 0, 0, 0));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *copied = info.CpuToGpuSize - before.CpuToGpuSize + info.GpuToCpuSize - before.GpuToCpuSize;
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that reads its options before the matrix has values, and its factor afterwards */
static PetscErrorCode OptionsFirst(Test *t)
{
  Mat                B;
  KSP                ksp;
  PC                 pc;
  Vec                x, b;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetSizes(B, t->A->rmap->n, t->A->cmap->n, t->A->rmap->N, t->A->cmap->N));
  PetscCall(MatSetType(B, t->type));
  PetscCall(Preallocate(t, B));
  PetscCall(MatSetOption(B, MAT_SPD, PETSC_TRUE));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, t->A->rmap->n == t->A->rmap->N ? PCICC : PCBJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SetValues(t, B, 1.0, INSERT_VALUES));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(Check(t, "options before values", (PetscBool)(reason > 0)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's preconditioners: iterations and copies as with aijcusparse */
static PetscErrorCode Solvers(Test *t)
{
  static const char *const pcs[][2] = {
    {PCJACOBI,  "none"},
    {PCBJACOBI, "ilu" },
    {PCBJACOBI, "icc" },
    {PCGAMG,    "none"}
  };
  Mat B, C;

  PetscFunctionBeginUser;
  PetscCall(OptionsFirst(t));
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(pcs); ++p) {
    PetscInt       its[2];
    PetscLogDouble copied[2];
    char           what[64];
    PetscBool      same;

    PetscCall(New(t, &B));
    PetscCall(MatSetOption(B, MAT_SPD, PETSC_TRUE));
    PetscCall(MatSetOption(t->A, MAT_SPD, PETSC_TRUE));
    PetscCall(MatConvert(t->A, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, &C));
    PetscCall(Solve(C, pcs[p][0], pcs[p][1], &its[0], &copied[0]));
    PetscCall(Solve(B, pcs[p][0], pcs[p][1], &its[1], &copied[1]));
    PetscCall(SetValues(t, B, 2.0, INSERT_VALUES));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s %s", pcs[p][0], pcs[p][1]));
    same = (PetscBool)(PetscAbsInt(its[0] - its[1]) <= 1 && its[1] < 500);
    PetscCall(Check(t, what, same));
    if (!same) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %" PetscInt_FMT " and %" PetscInt_FMT " iterations\n", its[0], its[1]));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s %s, copies", pcs[p][0], pcs[p][1]));
    same = (PetscBool)(copied[1] <= 1.2 * copied[0] + 1000.0);
    PetscCall(Check(t, what, same));
    if (!same) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %g and %g bytes\n", copied[0], copied[1]));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
#if defined(PETSC_HAVE_CUDA)
  Test      t        = {0};
  char      type[64] = "aijdia";
  PetscBool solvers  = PETSC_FALSE;

  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-empty", &t.empty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-solvers", &solvers, NULL));
  t.type = type;
  t.n    = 40;
  PetscCall(Coordinates(&t, 0, PETSC_FALSE));
  if (solvers) PetscCall(Solvers(&t));
  else {
    PetscCall(Places(&t));
    PetscCall(HostReaders(&t));
    PetscCall(HostProducts(&t));
    PetscCall(HostWriters(&t));
    PetscCall(Copies(&t));
    PetscCall(View(&t));
    PetscCall(Plain(&t));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " compared, %" PetscInt_FMT " wrong\n", t.compared, t.wrong));
  PetscCall(PetscFree2(t.i, t.j));
  PetscCall(VecDestroy(&t.v));
  PetscCall(MatDestroy(&t.A));
#endif
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   testset:
     requires: cuda
     args: -vec_type cuda -use_gpu_aware_mpi 0 -type {{aijdia aijicrs aijhec}}
     test:
       suites: memcheck
       suffix: values
       nsize: {{1 2}}
     test:
       suites: memcheck
       suffix: empty
       nsize: 3
       args: -empty
       output_file: output/matdevice_values.out
     test:
       suites: memcheck
       suffix: solvers
       args: -solvers
       nsize: {{1 2}}

TEST*/
