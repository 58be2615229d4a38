static char help[] = "CG on the first Schur complement: the complement itself, published iterations, and what a KSP must do.\n\n";

#include <polder.h>
#include <petsc/private/kspimpl.h>
#include "core/device.h"
#include "pc/rrb/rrbimpl.h"
#include "bubbles.h"
#include "rrbproblems.h"

static const PetscInt Grids[][2] = {
  {7,  7 },
  {8,  8 },
  {15, 15},
  {13, 6 },
  {5,  12},
  {16, 3 },
  {1,  9 },
  {17, 17},
  {2,  2 },
  {3,  1 },
  {1,  1 },
  {10, 1 },
  {33, 2 },
  {40, 21}
};

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

/* Largest of |a - b| over the largest of |b| */
static PetscErrorCode Deviation(Vec a, Vec b, PetscReal *deviation)
{
  Vec       d;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(a, &d));
  PetscCall(VecWAXPY(d, -1, b, a));
  PetscCall(VecNorm(d, NORM_INFINITY, deviation));
  PetscCall(VecNorm(b, NORM_INFINITY, &norm));
  *deviation /= norm > 0 ? norm : 1;
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not a number is worst of all */
static void Worsen(PetscReal deviation, PetscReal *worst)
{
  if (!(deviation <= *worst)) *worst = deviation;
}

/* The vectors of a test on red nodes */
typedef struct {
  Vec full[3], red[3];
} Vectors;

static PetscErrorCode VectorsCreate(PC pc, Mat A, Vectors *v)
{
  PetscInt n;
  VecType  type;

  PetscFunctionBeginUser;
  PetscCall(PCRRBReducedSize(pc, &n));
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

static PetscErrorCode TestComplement(void)
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
static PetscErrorCode TestOrdering(void)
{
  static const PetscInt figure[64] = {33, 1,  34, 2,  35, 3,  36, 4,  5,  57, 6,  49, 7,  58, 8,  50, 37, 9,  38, 10, 39, 11, 40, 12, 13, 51, 14, 63, 15, 52, 16, 61,
                                      41, 17, 42, 18, 43, 19, 44, 20, 21, 59, 22, 53, 23, 60, 24, 54, 45, 25, 46, 26, 47, 27, 48, 28, 29, 55, 30, 62, 31, 56, 32, 64};
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

static PetscErrorCode SetStop(KSP ksp, KSPRRBCGStop stop)
{
  PetscFunctionBeginUser;
  PetscUseMethod(ksp, "KSPRRBCGSetStop_C", (KSP, KSPRRBCGStop), (ksp, stop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations for b = A u, u = x (x-1) y (y-1) e^(xy) or the sea, or for a random b, by a rule of the literature; kappa from the Ritz values */
static PetscErrorCode Count(const Problem *p, PetscInt levels, KSPRRBCGStop stop, PetscBool random, PetscReal rtol, PetscInt *its, PetscReal *kappa)
{
  Mat                A;
  KSP                ksp;
  Vec                x, b;
  PetscReal          low, high;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillExact(p, x));
  PetscCall(MatMult(A, x, b));
  if (random) PetscCall(FillRandom(b, 1));
  PetscCall(CreateSolver(A, KSPRRBCG, levels, &ksp));
  PetscCall(SetStop(ksp, stop));
  PetscCall(KSPSetTolerances(ksp, rtol, 0, 1e30, 300));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s", KSPConvergedReasons[reason]);
  PetscCall(KSPComputeExtremeSingularValues(ksp, &high, &low));
  *kappa = high / low;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ETNA paper (12 half levels), the thesis (to one node), its sea beds */
static PetscErrorCode TestIterations(void)
{
  static const PetscInt paper[] = {13, 16, 19, 20, 20, 19};
  static const PetscInt thesis[][2] =
    {
      {16,   6 },
      {32,   8 },
      {64,   10},
      {128,  12},
      {256,  15},
      {512,  18},
      {768,  20},
      {1024, 22},
      {1280, 23},
      {1536, 24},
      {1792, 25},
      {2048, 26}
  },
                        waves[] = {8, 6, 7, 5};
  PetscInt  most                = 512, its;
  PetscReal kappa;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  for (PetscInt n = 63, k = 0; n <= PetscMin(most, 2047); n = 2 * n + 1, ++k) {
    const Problem p = {POISSON, n, n, 0};

    PetscCall(Count(&p, 12, KSP_RRBCG_STOP_PAPER, PETSC_FALSE, 1e-6, &its, &kappa));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Poisson %" PetscInt_FMT ": %" PetscInt_FMT " iterations, the paper has %" PetscInt_FMT "\n", n, its, paper[k]));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(thesis); ++k) {
    const Problem p = {POISSON, thesis[k][0], thesis[k][0], 0};

    if (thesis[k][0] > most) break;
    PetscCall(Count(&p, 1000, KSP_RRBCG_STOP_THESIS, PETSC_FALSE, 1e-5, &its, &kappa));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Poisson %" PetscInt_FMT ", rule of the thesis: %" PetscInt_FMT " iterations, the reference has %" PetscInt_FMT "\n", p.nx, its, thesis[k][1]));
  }
  for (PetscInt seed = 0; seed < 4; ++seed) {
    const Problem p = {WAVES, 400, 250, seed};

    PetscCall(Count(&p, 1000, KSP_RRBCG_STOP_THESIS, PETSC_FALSE, 1e-5, &its, &kappa));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sea bed %" PetscInt_FMT ": %" PetscInt_FMT " iterations, cg %" PetscInt_FMT "\n", seed, its, waves[seed]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Condition numbers and iterations by half levels and size, from 2 half levels on */
static PetscErrorCode TestCondition(void)
{
  static const struct {
    PetscInt  n, first;
    PetscReal kappa[17];
    PetscInt  its[17];
  } table[] = {
    {127,  2, {1.995, 1.995, 1.998, 2.456, 3.033, 3.727, 4.562, 5.507, 6.574, 6.574, 6.574}, {6, 7, 8, 9, 10, 12, 13, 15, 16, 16, 16}    },
    {255,  4, {1.998, 2.458, 3.040, 3.746, 4.620, 5.679, 6.950, 8.388, 10.01, 10.01, 10.01}, {8, 9, 10, 12, 13, 15, 16, 18, 19, 19, 19}  },
    {511,  6, {3.042, 3.755, 4.633, 5.711, 7.046, 8.663, 10.60, 12.80, 15.28, 15.28, 15.27}, {10, 11, 13, 15, 16, 18, 20, 22, 23, 23, 23}},
    {1023, 8, {4.642, 5.733, 7.078, 8.734, 10.77, 13.24, 16.20, 19.54, 23.31, 0, 23.31},     {12, 14, 16, 18, 20, 22, 24, 26, 27, 0, 27} }
  };
  PetscInt  most = 511, its;
  PetscReal kappa;
  char      what[128];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(table); ++t) {
    for (PetscInt k = 0; k < 17 && table[t].n <= most; ++k) {
      const Problem   p        = {POISSON, table[t].n, table[t].n, 0};
      const PetscInt  l        = table[t].first + k;
      const PetscReal expected = table[t].kappa[k];

      if (expected == 0) continue;
      PetscCall(Count(&p, l, KSP_RRBCG_STOP_PAPER, PETSC_TRUE, 1e-14, &its, &kappa));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT ", %" PetscInt_FMT " half levels: condition number %.4g within 1 %%", p.nx, l, (double)expected));
      PetscCall(Report(what, (PetscBool)(PetscAbsReal(kappa / expected - 1) < 0.01), kappa));
      PetscCall(Count(&p, l, KSP_RRBCG_STOP_PAPER, PETSC_FALSE, 1e-6, &its, &kappa));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT ", %" PetscInt_FMT " half levels: %" PetscInt_FMT " iterations", p.nx, l, table[t].its[k]));
      PetscCall(Report(what, (PetscBool)(its == table[t].its[k]), its));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a monitor has seen */
typedef struct {
  Vec       b;
  Mat       A;
  PetscInt  calls;
  PetscReal norm[400], worst; /* worst: deviation of the norm from that of the solution built at that moment */
} Seen;

static PetscErrorCode Watch(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  Seen     *seen = (Seen *)ctx;
  Vec       x;
  PetscReal residual, nb;

  PetscFunctionBeginUser;
  PetscCheck(it == seen->calls && it < 400, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Monitor called with %" PetscInt_FMT " after %" PetscInt_FMT " calls", it, seen->calls);
  seen->norm[seen->calls++] = norm;
  if (!seen->A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(TrueResidual(seen->A, seen->b, x, &residual));
  PetscCall(VecNorm(seen->b, NORM_2, &nb));
  Worsen(PetscAbsReal(residual * nb / norm - 1), &seen->worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- zero, or the black values that make the residual vanish there when the red ones are zero */
static PetscErrorCode StartBlack(const Problem *p, Mat A, Vec b, Vec x)
{
  Vec          d;
  PetscScalar *xx;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &d));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecPointwiseDivide(x, b, d));
  PetscCall(VecGetArray(x, &xx));
  for (PetscInt i = 0; i < p->nx * p->ny; ++i) {
    if ((i % p->nx + i / p->nx) % 2 == 0) xx[i] = 0;
  }
  PetscCall(VecRestoreArray(x, &xx));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norms of cg on the whole system, from black values that fit, and those of rrbcg */
static PetscErrorCode TestCG(void)
{
  static const Problem problems[] = {
    {RANDOM5, 61, 40, 1},
    {DRY,     50, 50, 2}
  };
  static const KSPNormType norms[] = {KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    for (int m = 0; m < 2; ++m) {
      Mat                A;
      Vec                x[2], b;
      Seen               seen[2] = {0};
      PetscInt           its[2], length, total;
      PetscReal          worst = 0, difference;
      const PetscReal   *history;
      KSPConvergedReason reason[2];

      PetscCall(CreateMatrix(&problems[k], &A));
      PetscCall(CreateVecs(A, &x[0], &b));
      PetscCall(VecDuplicate(x[0], &x[1]));
      PetscCall(FillRandom(b, 4));
      for (int s = 0; s < 2; ++s) {
        KSP ksp;

        PetscCall(CreateSolver(A, s ? KSPRRBCG : KSPCG, 6, &ksp));
        PetscCall(KSPSetNormType(ksp, norms[m]));
        PetscCall(KSPSetTolerances(ksp, 1e-9, 0, 1e30, 300));
        PetscCall(KSPSetResidualHistory(ksp, NULL, 400, PETSC_TRUE));
        PetscCall(KSPMonitorSet(ksp, Watch, &seen[s], NULL));
        if (s) {
          seen[s].A = m ? NULL : A;
          seen[s].b = b;
        } else {
          PetscCall(StartBlack(&problems[k], A, b, x[s]));
          PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
        }
        PetscCall(KSPSolve(ksp, b, x[s]));
        PetscCall(KSPGetIterationNumber(ksp, &its[s]));
        PetscCall(KSPGetTotalIterations(ksp, &total));
        PetscCall(KSPGetConvergedReason(ksp, &reason[s]));
        PetscCall(KSPGetResidualHistory(ksp, &history, &length));
        PetscCall(KSPGetResidualNorm(ksp, &difference));
        if (s) PetscCall(Report("history and count as monitored", (PetscBool)(length == its[s] + 1 && seen[s].calls == length && total == its[s]), length));
        for (PetscInt i = 0; i < length; ++i) Worsen(PetscAbsReal(history[i] - seen[s].norm[i]), &worst);
        if (s) PetscCall(Report("last norm", (PetscBool)(worst == 0 && PetscAbsReal(difference / history[length - 1] - 1) < 1e-5), difference));
        PetscCall(KSPDestroy(&ksp));
      }
      worst = 0;
      for (PetscInt i = 0; i < PetscMin(seen[0].calls, seen[1].calls); ++i) Worsen(PetscAbsReal(seen[0].norm[i] / seen[1].norm[i] - 1), &worst);
      PetscCall(Report("norms of cg", (PetscBool)(worst < 1e-6 && its[0] == its[1] && reason[0] == reason[1]), worst));
      if (!m) PetscCall(Report("norms of the solutions on the way", (PetscBool)(seen[1].worst < 1e-5 && seen[1].worst > 0), seen[1].worst));
      PetscCall(Deviation(x[1], x[0], &difference));
      PetscCall(Report("solution of cg", (PetscBool)(difference < 1e-8), difference));
      PetscCall(VecDestroy(&x[0]));
      PetscCall(VecDestroy(&x[1]));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, and tells the iterations and whether the claim is true */
static PetscErrorCode SolveAndCheck(const char what[], KSP ksp, Vec b, Vec x, PetscInt most, PetscReal rtol)
{
  Mat                A;
  PetscInt           its;
  PetscReal          residual, norm;
  KSPConvergedReason reason;
  char               line[160];

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0) PetscCall(TrueResidual(A, b, x, &residual));
  else PetscCall(VecNorm(x, NORM_2, &residual));
  PetscCall(PetscSNPrintf(line, sizeof(line), "%s: %s, at most %" PetscInt_FMT " iterations, true residual", what, KSPConvergedReasons[reason], most));
  PetscCall(Report(line, (PetscBool)(residual <= rtol && its <= most), its > most ? (PetscReal)its : residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts, new values, another grid, the transpose */
static PetscErrorCode TestChanges(void)
{
  const Problem first = {RANDOM5, 64, 50, 1}, second = {RANDOM5, 64, 50, 2}, other = {RANDOM5, 33, 21, 1};
  Mat           A, B;
  KSP           ksp;
  PC            pc;
  Vec           x, b;
  PetscInt      its;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&first, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(b, 4));
  PetscCall(CreateSolver(A, KSPRRBCG, 6, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-50, 1e30, 300));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SolveAndCheck("zero start", ksp, b, x, 13, 1e-8));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(SolveAndCheck("from the solution", ksp, b, x, 0, 1e-8));
  PetscCall(FillRandom(x, 6));
  PetscCall(SolveAndCheck("from a random vector", ksp, b, x, 16, 1e-8));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  PetscCall(CreatePC(A, 0, 0, 5, 1, &pc));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(SolveAndCheck("another preconditioner", ksp, b, x, 13, 1e-8));
  PetscCall(Fill(&second, A));
  PetscCall(SolveAndCheck("new values", ksp, b, x, 13, 1e-8));
  PetscCall(KSPSolveTranspose(ksp, b, x));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(SolveAndCheck("from the solution of the transposed system", ksp, b, x, 0, 1e-8));
  PetscCall(VecSet(b, 0));
  PetscCall(SolveAndCheck("zero right-hand side", ksp, b, x, 13, 1e-6));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  PetscCall(SolveAndCheck("zero right-hand side, zero start", ksp, b, x, 0, 0));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-50, 1e30, 7));
  PetscCall(FillRandom(b, 4));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(Report("seven steps without norm", (PetscBool)(its == 7), its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));

  PetscCall(CreateMatrix(&other, &B));
  PetscCall(CreateVecs(B, &x, &b));
  PetscCall(FillRandom(b, 4));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-50, 1e30, 300));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(SetStop(ksp, KSP_RRBCG_STOP_PAPER));
  PetscCall(SetStop(ksp, KSP_RRBCG_STOP_PETSC)); // which brings PETSc's test back
  PetscCall(SolveAndCheck("another grid", ksp, b, x, 12, 1e-8));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&B));
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(Grids); ++g) {
    const Problem p = {RANDOM5, Grids[g][0], Grids[g][1], 5};
    PC            pc;
    char          what[64];

    PetscCall(CreateMatrix(&p, &A));
    PetscCall(CreateVecs(A, &x, &b));
    PetscCall(FillRandom(b, 4));
    PetscCall(CreateSolver(A, KSPRRBCG, PETSC_DECIDE, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p.nx, p.ny));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT " x %" PetscInt_FMT, p.nx, p.ny));
    PetscCall(SolveAndCheck(what, ksp, b, x, 8, 1e-6));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel of the lakes: one vector each; nodes that couple belong to the lake of a neighbour */
static PetscErrorCode LakesKernel(const Problem *p, Mat A, MatNullSpace *null)
{
  const PetscInt N = p->nx * p->ny;
  PetscInt      *lake, col[9], count = 0;
  PetscScalar    val[9];
  Vec           *v;
  PetscBool      again = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(N, &lake));
  for (PetscInt i = 0; i < N; ++i) lake[i] = i;
  while (again) {
    again = PETSC_FALSE;
    for (PetscInt i = 0; i < N; ++i) {
      const PetscInt n = Row(p, i, col, val);

      for (PetscInt k = 1; k < n; ++k) {
        if (lake[col[k]] >= lake[i]) continue;
        lake[i] = lake[col[k]];
        again   = PETSC_TRUE;
      }
    }
  }
  for (PetscInt i = 0; i < N; ++i) count += lake[i] == i && Row(p, i, col, val) > 1;
  PetscCall(PetscMalloc1(count, &v));
  count = 0;
  for (PetscInt i = 0; i < N; ++i) {
    if (lake[i] != i || Row(p, i, col, val) == 1) continue;
    PetscCall(CreateVecs(A, &v[count], NULL));
    for (PetscInt j = i; j < N; ++j) {
      if (lake[j] == i) PetscCall(VecSetValue(v[count], j, 1, INSERT_VALUES));
    }
    PetscCall(VecAssemblyBegin(v[count]));
    PetscCall(VecAssemblyEnd(v[count]));
    PetscCall(VecNormalize(v[count], NULL));
    ++count;
  }
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, count, v, null));
  for (PetscInt k = 0; k < count; ++k) PetscCall(VecDestroy(&v[k]));
  PetscCall(PetscFree(v));
  PetscCall(PetscFree(lake));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Singular systems: with the kernel attached a right-hand side that is not in the range, without it one that is */
static PetscErrorCode TestSingular(void)
{
  static const Problem problems[] = {
    {NEUMANN, 65,  40, 1},
    {NEUMANN, 255, 3,  1},
    {NEUMANN, 64,  1,  1},
    {LAKES,   90,  70, 1},
    {LAKES,   64,  64, 2}
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    for (int attached = 0; attached < 2; ++attached) {
      const Problem *p = &problems[k];
      Mat            A;
      KSP            ksp;
      PC             pc;
      Vec            x, b;
      MatNullSpace   null = NULL;
      PetscReal      worst, norm;
      char           what[128];

      PetscCall(CreateMatrix(p, &A));
      PetscCall(CreateVecs(A, &x, &b));
      PetscCall(FillRandom(x, 2));
      PetscCall(MatMult(A, x, b));
      if (attached && p->kind == LAKES) PetscCall(LakesKernel(p, A, &null));
      else if (attached) PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &null));
      if (attached) {
        PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
        PetscCall(MatSetNullSpace(A, null));
      }
      PetscCall(CreateSolver(A, KSPRRBCG, 4, &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p->nx, p->ny));
      PetscCall(KSPSetTolerances(ksp, 1e-9, 0, 1e30, 300));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s %" PetscInt_FMT " x %" PetscInt_FMT "%s", p->kind == LAKES ? "lakes" : "Neumann", p->nx, p->ny, attached ? ", kernel attached" : ""));
      PetscCall(SolveAndCheck(what, ksp, b, x, 21, 1e-9));
      if (attached) { // what is left of x when the kernel is taken from it
        Vec y;

        PetscCall(VecDuplicate(x, &y));
        PetscCall(VecCopy(x, y));
        PetscCall(MatNullSpaceRemove(null, y));
        PetscCall(Deviation(y, x, &worst));
        PetscCall(VecNorm(x, NORM_2, &norm));
        PetscCall(Report("no kernel in the solution", (PetscBool)(worst < 1e-12 && norm > 1), worst));
        PetscCall(VecDestroy(&y));
        PetscCall(MatNullSpaceDestroy(&null));
      }
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where double precision ends: heavy bubbles, tolerances that cannot be met */
static PetscErrorCode TestFloor(void)
{
  static const struct {
    PetscReal contrast, rtol, residual;
  } cases[] = {
    {1e3, 1e-6,  1e-6},
    {1e3, 1e-12, 2e-9},
    {1e6, 1e-6,  2e-6}
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    const Bubbles bubbles = {.dim = 2, .n = 128, .k = 4, .radius = 0.3 / 4, .inside = cases[k].contrast, .scale = 1};
    Mat           A;
    KSP           ksp;
    Vec           x, b;
    char          what[64];

    PetscCall(BubblesNeumann(&bubbles, PETSC_COMM_WORLD, &A, &b));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(VecDuplicate(b, &x));
    PetscCall(CreateSolver(A, KSPRRBCG, 8, &ksp));
    PetscCall(KSPSetTolerances(ksp, cases[k].rtol, 0, 1e30, 300));
    PetscCall(PetscSNPrintf(what, sizeof(what), "bubbles, contrast %g, to %g", (double)cases[k].contrast, (double)cases[k].rtol));
    PetscCall(SolveAndCheck(what, ksp, b, x, 80, cases[k].residual));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  const Problem p = {RANDOM5, 40, 30, 1};
  Mat           A;
  KSP           ksp;
  Vec           x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-complement", TestComplement},
    {"-ordering",   TestOrdering  },
    {"-iterations", TestIterations},
    {"-condition",  TestCondition },
    {"-cg",         TestCG        },
    {"-changes",    TestChanges   },
    {"-singular",   TestSingular  },
    {"-floor",      TestFloor     },
    {"-view",       TestView      }
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(PolderDeviceFinalize());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     suites: valgrind(+double+aij)
     suffix: complement
     args: -complement -pc_rrb_precision {{double single}} -mat_type {{aij aijdia}}

   test:
     suffix: ordering
     args: -ordering

   test:
     suffix: iterations
     args: -iterations -pc_rrb_precision {{double single}} -mat_type {{aij aijdia}}

   test:
     suffix: condition
     args: -condition

   test:
     suffix: cg
     args: -cg -mat_type {{aij aijdia}}

   test:
     suites: valgrind(+3+double+aij) memcheck(+1+double+aijdia)
     suffix: changes
     nsize: {{1 3}}
     args: -changes -pc_rrb_precision {{double single}} -mat_type {{aij aijdia}}

   test:
     suites: valgrind(+1+aij)
     suffix: singular
     nsize: {{1 3}}
     args: -singular -mat_type {{aij aijdia}}

   test:
     suffix: floor
     nsize: {{1 3}}
     args: -floor -mat_type {{aij aijdia}}

   test:
     suffix: view
     args: -view -ksp_type rrbcg -ksp_rrbcg_stop {{petsc paper thesis}separate output} -pc_rrb_precision single
     filter: grep -E "type: rrb|stops|red nodes|last solve|norm type|half levels|rest:|bytes"

TEST*/
