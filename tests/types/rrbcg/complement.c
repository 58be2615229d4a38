/* The first Schur complement against a dense one, and the order of the nodes. */
#include "rrbcg.h"
#include "core/device.h"
#include "../rrbproblems.h"

/* T <- the matrix, dense, without its black nodes: their rows and columns are left as they come */
static PetscErrorCode DenseComplement(const Problem *p, PetscScalar *T)
{
  const PetscInt N = p->nx * p->ny;
  PetscInt       col[9];
  PetscScalar    val[9];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < N; ++i) {
    const PetscInt count = Row(p, i, col, val);

    for (PetscInt k = 0; k < count; ++k) T[i * N + col[k]] = val[k];
  }
  for (PetscInt e = 0; e < N; ++e) {
    if ((e % p->nx + e / p->nx) % 2 == 0) continue;
    for (PetscInt i = 0; i < N; ++i) {
      const PetscScalar f = T[i * N + e] / T[e * N + e];

      if ((i % p->nx + i / p->nx) % 2 || f == 0) continue;
      for (PetscInt j = 0; j < N; ++j) T[i * N + j] -= f * T[e * N + j];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of a test on red nodes */
typedef struct {
  Vec full[3], red[3];
} Vectors;

static PetscErrorCode VectorsCreate(PC pc, Mat A, Vectors *v)
{
  PetscInt n;
  VecType  type;
  MPI_Comm comm;
  Vec      like;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, NULL, &like));
  PetscCall(PCRRBReducedSize(pc, like, &comm, &n));
  PetscCall(VecDestroy(&like));
  for (int k = 0; k < 3; ++k) {
    PetscCall(CreateVecs(A, NULL, &v->full[k]));
    PetscCall(VecGetType(v->full[k], &type));
    PetscCall(VecCreate(PETSC_COMM_SELF, &v->red[k]));
    PetscCall(VecSetSizes(v->red[k], n, n));
    PetscCall(VecSetType(v->red[k], type));
    PetscCall(VecSet(v->red[k], NAN));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorsDestroy(Vectors *v)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 3; ++k) {
    PetscCall(VecDestroy(&v->full[k]));
    PetscCall(VecDestroy(&v->red[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* full <- r on red nodes, zero on black ones */
static PetscErrorCode Spread(const Problem *p, Vec r, Vec full)
{
  const PetscScalar *ra;
  PetscScalar       *fa;

  PetscFunctionBeginUser;
  PetscCall(VecSet(full, 0));
  PetscCall(VecGetArrayRead(r, &ra));
  PetscCall(VecGetArray(full, &fa));
  for (PetscInt q = 0, k = 0; q < 2; ++q) {
    for (PetscInt y = q; y < p->ny; y += 2) {
      for (PetscInt x = q; x < p->nx; x += 2) fa[y * p->nx + x] = ra[k++];
    }
  }
  PetscCall(VecRestoreArray(full, &fa));
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y <- S x with (x, y), which comes from where the vectors are */
static PetscErrorCode MultDot(PC pc, Vec x, Vec y, PetscScalar *dot)
{
  PetscBool    device, done;
  PetscScalar *d;

  PetscFunctionBeginUser;
  PetscCall(PolderVecOnDevice(x, &device));
  if (!device) PetscCall(PCRRBReducedMult(pc, x, y, dot, &done));
  else {
    PetscCall(PolderDeviceMalloc(sizeof(*d), &d));
    PetscCall(PCRRBReducedMult(pc, x, y, d, &done));
    PetscCall(PolderDeviceToHost(dot, d, sizeof(*d)));
    PetscCall(PolderDeviceFree(&d));
  }
  if (!done) { // the factor is on the host, the vectors are not
    PetscCall(PCRRBReducedMult(pc, x, y, NULL, &done));
    PetscCall(VecDot(x, y, dot));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S x against the dense complement; *dot: (x, S x) against the sum */
static PetscErrorCode CheckProduct(const Problem *p, PC pc, const PetscScalar *T, Vectors *v, PetscReal *worst)
{
  const PetscInt     N = p->nx * p->ny;
  const PetscScalar *x;
  PetscScalar       *y, dot[2];
  PetscReal          deviation;

  PetscFunctionBeginUser;
  PetscCall(FillRandom(v->red[0], 1));
  PetscCall(MultDot(pc, v->red[0], v->red[1], &dot[0]));
  PetscCall(Spread(p, v->red[0], v->full[0]));
  PetscCall(VecGetArrayRead(v->full[0], &x));
  PetscCall(VecGetArray(v->full[1], &y));
  for (PetscInt i = 0; i < N; ++i) {
    y[i] = 0;
    for (PetscInt j = 0; j < N && (i % p->nx + i / p->nx) % 2 == 0; ++j) y[i] += T[i * N + j] * x[j];
  }
  PetscCall(VecRestoreArray(v->full[1], &y));
  PetscCall(VecRestoreArrayRead(v->full[0], &x));
  PetscCall(VecDot(v->full[0], v->full[1], &dot[1]));
  PetscCall(Spread(p, v->red[1], v->full[0]));
  PetscCall(Deviation(v->full[0], v->full[1], &deviation));
  Worsen(deviation, worst);
  Worsen(PetscAbsScalar(dot[0] - dot[1]) / PetscAbsScalar(dot[1]), worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of b = A x: what is left for the red nodes is S x_r, and x comes back from x_r */
static PetscErrorCode CheckReduction(PC pc, Mat A, Vectors *v, PetscReal *worst)
{
  PetscReal deviation[2];
  PetscBool done;

  PetscFunctionBeginUser;
  PetscCall(FillRandom(v->full[0], 2));
  PetscCall(MatMult(A, v->full[0], v->full[1]));
  PetscCall(PCRRBPick(pc, v->full[0], v->red[0]));
  PetscCall(PCRRBReducedMult(pc, v->red[0], v->red[1], NULL, &done));
  PetscCall(PCRRBReduce(pc, v->full[1], v->red[2]));
  PetscCall(Deviation(v->red[2], v->red[1], &deviation[0]));
  PetscCall(VecSet(v->full[2], NAN));
  PetscCall(PCRRBExpand(pc, v->full[1], v->red[0], v->full[2]));
  PetscCall(Deviation(v->full[2], v->full[0], &deviation[1]));
  Worsen(deviation[0], worst);
  Worsen(deviation[1], worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reduced preconditioner is the whole one for residuals that vanish on black nodes */
static PetscErrorCode CheckApply(const Problem *p, PC pc, Vectors *v, PetscReal *worst)
{
  PetscReal deviation;

  PetscFunctionBeginUser;
  PetscCall(FillRandom(v->red[0], 3));
  PetscCall(Spread(p, v->red[0], v->full[0]));
  PetscCall(PCApply(pc, v->full[0], v->full[1]));
  PetscCall(PCRRBPick(pc, v->full[1], v->red[1]));
  PetscCall(VecSet(v->red[2], NAN));
  PetscCall(PCRRBReducedApply(pc, v->red[0], v->red[2]));
  PetscCall(Deviation(v->red[2], v->red[1], &deviation));
  Worsen(deviation, worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestComplement(void)
{
  static const PetscInt    levels[] = {0, 1, 2, 3, 4, 99};
  static const Kind        kinds[]  = {RANDOM5, DRY};
  static const char *const names[]  = {"5-point", "5-point with dry nodes"};

  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(Grids); ++g) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); ++k) {
      const Problem p = {kinds[k], Grids[g][0], Grids[g][1], 3};
      Mat           A;
      PetscScalar  *T;
      PetscReal     worst[3] = {0};
      char          what[128];

      PetscCall(CreateMatrix(&p, &A));
      PetscCall(PetscCalloc1(p.nx * p.ny * p.nx * p.ny, &T));
      PetscCall(DenseComplement(&p, T));
      for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(levels); ++l) {
        PC      pc;
        Vectors v;

        PetscCall(CreatePC(A, p.nx, p.ny, levels[l], l % 2 ? 0.7 : 1, &pc));
        if (l < 3) PetscCall(PCSetUp(pc)); // wanted later, or from the start
        PetscCall(PCRRBReducedWant(pc));
        PetscCall(PCSetUp(pc));
        PetscCall(VectorsCreate(pc, A, &v));
        PetscCall(PCRRBReducedBegin(pc, v.full[0]));
        PetscCall(CheckProduct(&p, pc, T, &v, &worst[0]));
        PetscCall(CheckReduction(pc, A, &v, &worst[1]));
        PetscCall(CheckApply(&p, pc, &v, &worst[2]));
        PetscCall(VectorsDestroy(&v));
        PetscCall(PCDestroy(&pc));
      }
      PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT " x %" PetscInt_FMT ", %s: product, reduction, preconditioner", p.nx, p.ny, names[k]));
      PetscCall(Report(what, (PetscBool)(worst[0] < 1e-13 && worst[1] < 1e-12 && worst[2] < 1e-13), worst[0] + worst[1] + worst[2]));
      PetscCall(PetscFree(T));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The figure of the thesis, from the bottom row upwards */
PetscErrorCode TestOrdering(void)
{
  static const PetscInt figure[64] = {33, 1,  34, 2,  35, 3,  36, 4,  5,  57, 6,  49, 7,  58, 8,  50, 37, 9,  38, 10, 39, 11,
                                      40, 12, 13, 51, 14, 63, 15, 52, 16, 61, 41, 17, 42, 18, 43, 19, 44, 20, 21, 59, 22, 53,
                                      23, 60, 24, 54, 45, 25, 46, 26, 47, 27, 48, 28, 29, 55, 30, 62, 31, 56, 32, 64};
  const Problem         p          = {POISSON, 8, 8, 0};
  Mat                   A, B;
  PC                    pc;
  IS                    places, order;
  const PetscInt       *place;
  PetscInt              wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(CreatePC(A, 0, 0, 99, 1, &pc));
  PetscCall(PCRRBGetOrdering(pc, &places));
  PetscCall(ISGetIndices(places, &place));
  for (PetscInt i = 0; i < 64; ++i) wrong += place[i] + 1 != figure[i];
  PetscCall(ISRestoreIndices(places, &place));
  PetscCall(Report("8 x 8, the figure of the thesis", (PetscBool)!wrong, wrong));
  PetscCall(ISSetPermutation(places));
  PetscCall(ISInvertPermutation(places, PETSC_DECIDE, &order));
  PetscCall(MatPermute(A, order, order, &B));
  for (PetscInt i = 0, first = 32; i < 64; ++i) { // black rows have no black neighbours, r1 no r1
    PetscInt        n;
    const PetscInt *col;

    PetscCall(MatGetRow(B, i, &n, &col, NULL));
    for (PetscInt k = 0; k < n; ++k) wrong += col[k] != i && (i < first) == (col[k] < first);
    PetscCall(MatRestoreRow(B, i, &n, &col, NULL));
  }
  PetscCall(Report("permuted, a diagonal block of black nodes", (PetscBool)!wrong, wrong));
  PetscCall(MatDestroy(&B));
  PetscCall(ISDestroy(&order));
  PetscCall(ISDestroy(&places));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(Grids); ++g) {
    for (PetscInt levels = 0; levels < 6; ++levels) {
      const Problem q = {RANDOM5, Grids[g][0], Grids[g][1], 0};
      PetscBool     permutation;

      PetscCall(CreateMatrix(&q, &A));
      PetscCall(CreatePC(A, q.nx, q.ny, levels, 1, &pc));
      PetscCall(PCRRBGetOrdering(pc, &places));
      PetscCall(ISGetInfo(places, IS_PERMUTATION, IS_GLOBAL, PETSC_TRUE, &permutation));
      wrong += !permutation;
      PetscCall(ISDestroy(&places));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(Report("places of other grids are a permutation", (PetscBool)!wrong, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
