static char help[] = "Host kernels of the solvers against plain loops and dense matrices: awkward sizes, poisoned output.\n\n";

#include "random.h"
#include "kernels/cg.h"
#include "kernels/blocks.h"
#include "kernels/deflation.h"
#include "kernels/tns.h"
#include "kernels/vec.h"

unsigned int seed = 4321;

static void Fill(PetscInt n, PetscScalar a[])
{
  for (PetscInt i = 0; i < n; ++i) a[i] = Number();
}

static PetscErrorCode Near(const char what[], PetscInt n, PetscScalar got, PetscScalar want, PetscReal scale)
{
  PetscFunctionBeginUser;
  PetscCheck(PetscAbsScalar(got - want) <= 1e-12 * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, size %" PetscInt_FMT ": %g, expected %g", what, n, (double)got,
             (double)want);
  PetscFunctionReturn(0);
}

static PetscErrorCode TestVectors(void)
{
  static const PetscInt sizes[] = {0, 1, 3, 7, 8, 9, 31, 32, 33, 65, 1000};
  PetscScalar           p[1000], w[1000], x[1000], r[1000], y[1000], s[1000];

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    const PetscInt    n     = sizes[k];
    const PetscScalar alpha = Number();
    PetscReal         rr = 0, dot = 0, got;

    Fill(n, p);
    Fill(n, w);
    Fill(n, x);
    Fill(n, r);
    for (PetscInt i = 0; i < n; ++i) {
      y[i] = x[i] + alpha * p[i];
      s[i] = r[i] - alpha * w[i];
      rr += s[i] * s[i];
      dot += p[i] * w[i];
    }
    PetscCall(Near("dot", n, PolderDot_Host(n, p, w), dot, 1 + n));
    got = PolderCGUpdate_Host(n, alpha, p, w, x, r);
    PetscCall(Near("norm of the update", n, got, rr, 1 + n));
    for (PetscInt i = 0; i < n; ++i) {
      PetscCall(Near("x of the update", n, x[i], y[i], 1));
      PetscCall(Near("r of the update", n, r[i], s[i], 1));
    }
  }
  PetscFunctionReturn(0);
}

/* A random sparse n x n matrix as CSR with ascending columns and a diagonal; symmetric: the pattern and the values */
static void RandomMatrix(PetscInt n, PetscBool symmetric, PetscScalar dense[], PetscInt ai[], PetscInt aj[], PetscScalar aa[], PetscInt diag[])
{
  PetscInt nz = 0;

  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt j = 0; j < n; ++j) dense[i * n + j] = symmetric && j < i ? dense[j * n + i] : (i == j ? 4 + Number() : (Next(4) ? 0 : Number()));
  }
  ai[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt j = 0; j < n; ++j) {
      if (dense[i * n + j] == 0) continue;
      if (i == j) diag[i] = nz;
      aj[nz]   = j;
      aa[nz++] = dense[i * n + j];
    }
    ai[i + 1] = nz;
  }
}

enum {
  N = 40,
  D = 6
};

/* A random matrix with labels of its rows, and a ghost block of a few columns with labels of its own */
typedef struct {
  PetscScalar dense[N * N], aa[N * N], ba[N];
  PetscInt    ai[N + 1], aj[N * N], bi[N + 1], bj[N], label[N], ghostlabel[3];
} Labelled;

/* The rows of AZ that do not vanish */
typedef struct {
  PetscScalar wv[N * D];
  PetscInt    row[N], wi[N + 1], wj[N * D], nw;
} LabelRows;

static PolderSparseRows LabelRowsOf(LabelRows *W)
{
  return (PolderSparseRows){W->nw, W->wi[W->nw], W->row, W->wi, W->wj, W->wv};
}

static void LabelledCreate(Labelled *A)
{
  PetscInt diag[N];

  RandomMatrix(N, PETSC_TRUE, A->dense, A->ai, A->aj, A->aa, diag);
  A->ghostlabel[0] = 0;
  A->ghostlabel[1] = D - 1;
  A->ghostlabel[2] = -1;
  for (PetscInt i = 0; i < N; ++i) A->label[i] = i / 7 == 2 ? -1 : i / 7;
  A->bi[0] = 0;
  for (PetscInt i = 0; i < N; ++i) {
    A->bj[A->bi[i]] = i % 3;
    A->ba[A->bi[i]] = Number();
    A->bi[i + 1]    = A->bi[i] + (i % 5 == 0);
  }
}

/* Runs of labels against plain sums */
static PetscErrorCode TestRuns(const Labelled *A)
{
  PetscScalar     v[N], a[D] = {0}, parts[D] = {0}, x[N], sum[D] = {0};
  PetscInt        start[N + 1], runlabel[N], nrun = 0, run = 0;
  PolderLabelRuns runs;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < N; ++i) {
    if (i && A->label[i] == A->label[i - 1]) continue;
    start[nrun]      = i;
    runlabel[nrun++] = A->label[i];
  }
  start[nrun] = N;
  runs        = (PolderLabelRuns){nrun, start, runlabel};
  Fill(N, v);
  Fill(N, x);
  PolderRunsRestrict_Host(&runs, v, a);
  for (PetscInt lo = 0; lo < N; lo += 5) run = PolderRunsRestrictRows_Host(&runs, run, lo, PetscMin(lo + 5, N), v, parts);
  PetscCheck(run == nrun, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The rows after the last are in run %" PetscInt_FMT " of %" PetscInt_FMT, run, nrun);
  for (PetscInt i = 0; i < N; ++i) {
    if (A->label[i] >= 0) sum[A->label[i]] += v[i];
  }
  for (PetscInt l = 0; l < D; ++l) {
    PetscCall(Near("Z^T v", l, a[l], sum[l], N));
    PetscCall(Near("Z^T v in parts", l, parts[l], sum[l], N));
  }
  PetscCall(PetscArraycpy(v, x, N));
  PolderRunsProlongAdd_Host(&runs, a, x);
  for (PetscInt i = 0; i < N; ++i) PetscCall(Near("x + Z a", i, x[i], v[i] + (A->label[i] < 0 ? 0 : a[A->label[i]]), N));
  PetscFunctionReturn(0);
}

/* AZ, whose rows W the kernels make, against dense sums */
static PetscErrorCode TestLabelRows(const Labelled *A, PetscBool ghosts, LabelRows *W)
{
  const PolderRows own = {N, A->ai, A->aj, A->aa, 0}, off = {N, ghosts ? A->bi : NULL, A->bj, A->ba, 0};
  PetscScalar      v[N], a[D], x[N], az[N * D] = {0}, sum[D] = {0}, work[D];
  PetscInt         col[D], count[N];
  PolderSparseRows AZ;

  PetscFunctionBeginUser;
  W->nw = 0;
  for (PetscInt i = 0; i < N; ++i) {
    for (PetscInt j = 0; j < N; ++j) {
      if (A->label[j] >= 0) az[i * D + A->label[j]] += A->dense[i * N + j];
    }
    if (ghosts && A->bi[i] < A->bi[i + 1] && A->ghostlabel[A->bj[A->bi[i]]] >= 0) az[i * D + A->ghostlabel[A->bj[A->bi[i]]]] += A->ba[A->bi[i]];
  }
  PetscCheck(!PolderLabelRowsCount_Host(own, A->label, off, A->ghostlabel, col, work, count), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A random matrix has no kernel");
  W->wi[0] = 0;
  for (PetscInt i = 0; i < N; ++i) {
    if (!count[i]) continue;
    W->row[W->nw]    = i;
    W->wi[W->nw + 1] = W->wi[W->nw] + count[i];
    ++W->nw;
  }
  AZ = LabelRowsOf(W);
  PolderLabelRowsFill_Host(own, A->label, off, A->ghostlabel, &AZ);
  Fill(D, a);
  Fill(N, v);
  PetscCall(PetscArraycpy(x, v, N));
  PolderRowsMultAdd_Host(&AZ, -1, a, x);
  for (PetscInt i = 0; i < N; ++i) {
    for (PetscInt l = 0; l < D; ++l) v[i] -= az[i * D + l] * a[l];
    PetscCall(Near("v - AZ a", i, x[i], v[i], N));
  }
  PetscCall(PetscArrayzero(a, D));
  for (PetscInt i = 0; i < N; ++i) {
    for (PetscInt l = 0; l < D; ++l) sum[l] += az[i * D + l] * v[i];
  }
  PolderRowsMultTransposeAdd_Host(&AZ, v, a);
  for (PetscInt l = 0; l < D; ++l) PetscCall(Near("(AZ)^T v", l, a[l], sum[l], N * N));
  PetscFunctionReturn(0);
}

/* A row of E */
static PetscErrorCode TestGalerkinRow(LabelRows *W)
{
  const PolderSparseRows AZ = LabelRowsOf(W);
  PetscScalar            v[N], e[D];
  PetscInt               col[D], position[D], nc = 0;

  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < D; ++l) position[l] = -1;
  Fill(N, v);
  for (PetscInt k = 0; k < W->nw; ++k) W->row[k] = W->nw - 1 - k;
  PolderGalerkinRow_Host((PolderRowList){W->nw, W->row}, v, &AZ, &nc, position, col, e);
  for (PetscInt l = 0; l < D; ++l) {
    PetscScalar want = 0, got = 0;

    for (PetscInt k = 0; k < W->nw; ++k) {
      for (PetscInt j = W->wi[W->nw - 1 - k]; j < W->wi[W->nw - k]; ++j) want += W->wj[j] == l ? v[k] * W->wv[j] : 0;
    }
    for (PetscInt k = 0; k < nc; ++k) got += col[k] == l ? e[k] : 0;
    PetscCall(Near("row of E", l, got, want, N));
    PetscCheck(position[l] == -1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The position of column %" PetscInt_FMT " is not put back", l);
  }
  PetscFunctionReturn(0);
}

/* Edges to ghosts 0 and 1, of classes 0 and 1 or scales 1 and 30; component of row i: i / 7, none where i / 7 = 2 */
static PetscErrorCode TestEdges(const Labelled *A, PetscReal jump)
{
  const PolderRows  off         = {N, A->bi, A->bj, A->ba, 0};
  const PetscInt    ghostcls[3] = {0, 1, 0}, ghostcomp[3] = {100, 101, 102};
  const PetscScalar ghostscale[] = {1, 30, 1};
  PetscInt          cls[N], edge[2 * N], found = 0;
  PetscScalar       scale[N];
  PolderAcross across = {.jump = jump, .cls = cls, .ghostcls = ghostcls, .scale = scale, .ghostscale = ghostscale, .comp = A->label, .ghostcomp = ghostcomp};

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < N; ++i) {
    cls[i]   = i % 2;
    scale[i] = i % 2 ? 30 : 1;
  }
  PolderEdgesAcross_Host(off, across, edge);
  for (PetscInt i = 0; i < N; ++i) {
    for (PetscInt k = A->bi[i]; k < A->bi[i + 1]; ++k) {
      const PetscBool joined = (PetscBool)(A->label[i] >= 0 && i % 2 == ghostcls[A->bj[k]] && (jump == 0 || A->ba[k] != 0.0));

      found += joined;
      PetscCheck(edge[2 * k] == (joined ? A->label[i] : -1) && edge[2 * k + 1] == (joined ? 100 + A->bj[k] : -1), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Row %" PetscInt_FMT " and ghost %" PetscInt_FMT " have the edge (%" PetscInt_FMT ", %" PetscInt_FMT ")", i, A->bj[k], edge[2 * k],
                 edge[2 * k + 1]);
    }
  }
  PetscCheck(found == 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " edges", found);
  PetscFunctionReturn(0);
}

static PetscErrorCode TestLabels(PetscBool ghosts)
{
  Labelled  A;
  LabelRows W;

  PetscFunctionBeginUser;
  LabelledCreate(&A);
  PetscCall(TestRuns(&A));
  PetscCall(TestLabelRows(&A, ghosts, &W));
  PetscCall(TestGalerkinRow(&W));
  PetscCall(TestEdges(&A, 0));
  PetscCall(TestEdges(&A, 10));
  PetscFunctionReturn(0);
}

/* A Neumann chain: interior rows of AZ vanish and the kernel is found; one row more on the diagonal and it is not */
static PetscErrorCode TestKernel(void)
{
  PetscInt         ai[N + 1], aj[3 * N], label[N], col[D], count[N], nz = 0, nw = 0;
  PetscScalar      aa[3 * N], work[D];
  const PolderRows A = {N, ai, aj, aa, 0}, none = {0};

  PetscFunctionBeginUser;
  ai[0] = 0;
  for (PetscInt i = 0; i < N; ++i) {
    const PetscScalar left = i ? 1e6 / 3 : 0, right = i + 1 < N ? 1e6 / 3 : 0;

    label[i] = i / 10;
    for (PetscInt j = PetscMax(i - 1, 0); j <= PetscMin(i + 1, N - 1); ++j) {
      aj[nz]   = j;
      aa[nz++] = j == i ? left + right : -1e6 / 3;
    }
    ai[i + 1] = nz;
  }
  PetscCheck(PolderLabelRowsCount_Host(A, label, none, NULL, col, work, count), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The kernel of a Neumann matrix is not found");
  for (PetscInt i = 0; i < N; ++i) nw += count[i] > 0;
  PetscCheck(nw == 6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "AZ has %" PetscInt_FMT " rows, expected two at each of three borders", nw);
  aa[0] *= 1.000001;
  PetscCheck(!PolderLabelRowsCount_Host(A, label, none, NULL, col, work, count), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A regular matrix is taken for singular");
  PetscFunctionReturn(0);
}

/* y[k+1] = y[0] - D^-1 T y[k] by plain loops over the dense matrix */
static void PlainSweeps(PetscBool upper, PetscInt n, PetscInt q, const PetscScalar dense[], const PetscScalar dinv[], const PetscScalar r[],
                        PetscScalar *const y[])
{
  for (PetscInt i = 0; i < n; ++i) y[0][i] = dinv[i] * r[i];
  for (PetscInt k = 0; k < q; ++k) {
    for (PetscInt i = 0; i < n; ++i) {
      y[k + 1][i] = y[0][i];
      for (PetscInt j = upper ? i + 1 : 0; j < (upper ? n : i); ++j) y[k + 1][i] -= dinv[i] * dense[i * n + j] * y[k][j];
    }
  }
}

static PetscErrorCode CheckSweeps(const char what[], PetscInt n, PetscInt q, PetscScalar *const y[], PetscScalar *const z[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) PetscCall(Near(what, n, z[q][i], y[q][i], 1 + PetscAbsScalar(y[q][i])));
  PetscFunctionReturn(0);
}

/* The passes with the updates of vectors in them; y: the plain sweeps from r, z: space for as many */
static PetscErrorCode CheckUpdates(const PolderTriangle *T, PetscInt q, const PetscScalar r[], PetscScalar *const y[], PetscScalar *const z[])
{
  const PetscInt     n    = T->m;
  const PetscScalar *dinv = (const PetscScalar *)T->dinv, alpha = Number(), beta = Number(), mean = Number();
  PetscScalar       *p, *x, *s, *old, sum[2], rr = 0, ss = 0, pp = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(n, &p, n, &x, n, &s, n, &old));
  Fill(n, p);
  Fill(n, x);
  PetscCall(PetscArraycpy(old, p, n));
  for (PetscInt i = 0; i < n; ++i) {
    s[i] = T->upper ? p[i] : r[i] + alpha * p[i];
    rr += r[i] * r[i];
    ss += y[q][i] * y[q][i] / dinv[i];
    for (PetscInt k = T->upper; k <= q; ++k) z[k][i] = NAN;
    if (T->upper) z[0][i] = y[0][i];
  }
  if (!T->upper) {
    PolderTriForwardDIA_Host(T, q, alpha, p, s, z, sum);
    PetscCall(CheckSweeps("forward", n, q, y, z));
    PetscCall(Near("(r, r)", n, sum[0], rr, 1 + rr));
    PetscCall(Near("(s, D s)", n, sum[1], ss, 1 + ss));
    for (PetscInt i = 0; i < n; ++i) PetscCall(Near("r", n, s[i], r[i], 1 + PetscAbsScalar(r[i])));
    PolderTriForwardDIA_Host(T, q, alpha, NULL, s, z, sum);
    PetscCall(Near("(r, r) as it is", n, sum[0], rr, 1 + rr));
  } else {
    PetscCall(PetscArraycpy(s, x, n));
    sum[0] = PolderTriDirectionDIA_Host(T, q, z, (PolderTriStep){alpha, beta, mean, p, x});
    for (PetscInt i = 0; i < n; ++i) {
      PetscCall(Near("direction", n, p[i], y[q][i] + beta * (old[i] - mean), 1 + PetscAbsScalar(y[q][i])));
      PetscCall(Near("solution", n, x[i], s[i] + alpha * old[i], 1));
      pp += p[i];
    }
    PetscCall(Near("sum of the direction", n, sum[0], pp, 1 + n));
  }
  PetscCall(PetscFree4(p, x, s, old));
  PetscFunctionReturn(0);
}

/* Sweeps on compressed rows and on diagonals (0 .. 4 of them beside the main one), degrees 0 to 4 */
static PetscErrorCode TestSweeps(PetscInt n, PetscInt nd, const PetscInt offsets[], PetscBool upper)
{
  PetscScalar       *dense, *dinv, *r, *all, *aa, *values, *y[5], *z[5];
  PetscInt          *ai, *aj, *diag, nz = 0;
  const PetscScalar *val[4];
  PolderTriangle     T;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(n * n, &dense));
  PetscCall(PetscMalloc4(n, &dinv, n, &r, 10 * n, &all, nd * n, &values));
  PetscCall(PetscMalloc4(n + 1, &ai, (nd + 1) * n, &aj, (nd + 1) * n, &aa, n, &diag));
  Fill(n, r);
  for (PetscInt i = 0; i < n; ++i) dinv[i] = 1 / (3 + Number());
  for (PetscInt d = 0; d < nd; ++d) {
    val[d] = values + d * n;
    for (PetscInt i = 0; i < n; ++i) {
      const PetscInt j = i + offsets[d];

      values[d * n + i] = j < 0 || j >= n ? NAN : Number();
      if (j >= 0 && j < n) dense[i * n + j] = values[d * n + i];
    }
  }
  ai[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    if (upper) diag[i] = nz, aj[nz] = i, aa[nz++] = 1;
    for (PetscInt d = 0; d < nd; ++d) {
      const PetscInt j = i + offsets[d];

      if (j >= 0 && j < n) aj[nz] = j, aa[nz++] = dense[i * n + j];
    }
    if (!upper) diag[i] = nz, aj[nz] = i, aa[nz++] = 1;
    ai[i + 1] = nz;
  }
  for (PetscInt k = 0; k < 5; ++k) {
    y[k] = all + k * n;
    z[k] = all + (5 + k) * n;
  }
  T = (PolderTriangle){.upper = upper,
                       .m     = n,
                       .dinv  = dinv,
                       .nd    = nd,
                       .off   = offsets,
                       .val   = (const void *const *)val,
                       .i     = ai,
                       .diag  = diag,
                       .j     = aj,
                       .a     = aa};
  for (PetscInt q = 0; q < 5; ++q) {
    PlainSweeps(upper, n, q, dense, dinv, r, y);
    for (PetscInt i = 0; i < 5 * n; ++i) z[0][i] = NAN;
    PolderTriSweepsDIA_Host(&T, q, r, z);
    PetscCall(CheckSweeps("sweeps on diagonals", n, q, y, z));
    PetscCall(CheckUpdates(&T, q, r, y, z));
    for (PetscInt i = 0; i < 5 * n; ++i) z[0][i] = NAN;
    PolderTriSweepsCSR_Host(&T, q, r, z);
    PetscCall(CheckSweeps("sweeps on compressed rows", n, q, y, z));
  }
  PetscCall(PetscFree4(ai, aj, aa, diag));
  PetscCall(PetscFree4(dinv, r, all, values));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  static const PetscInt lower[] = {-1, -9, -1, -50, -9, -1, -50, -9, -2, -1}; // of 1, 2, 3 and 4 diagonals, one after the other
  static const PetscInt upper[] = {1, 1, 9, 1, 9, 50, 1, 2, 9, 50};
  static const PetscInt sizes[] = {1, 2, 10, 15, 16, 17, 31, 32, 33, 51, 127, 2047, 2048, 2049, 2300};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestVectors());
  PetscCall(TestLabels(PETSC_FALSE));
  PetscCall(TestLabels(PETSC_TRUE));
  PetscCall(TestKernel());
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    for (PetscInt nd = 0; nd <= (sizes[k] > 200 ? 3 : 4); ++nd) {
      PetscCall(TestSweeps(sizes[k], nd, lower + nd * (nd - 1) / 2, PETSC_FALSE));
      PetscCall(TestSweeps(sizes[k], nd, upper + nd * (nd - 1) / 2, PETSC_TRUE));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "vectors, labels and sweeps agree with plain loops\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    suites: valgrind

TEST*/
