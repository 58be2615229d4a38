static char help[] = "Host kernels of the pairwise-aggregation multigrid against plain loops, on rows and on diagonals, tiny, odd and large.\n\n";

#include "pamgkernels/level.h"
#include "kernels/dia.h"
#include "kernels/galerkin.h"
#include "kernels/levelscalars.h"

static unsigned long long state;

static PetscReal Random(void)
{
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (PetscReal)(state >> 33) / 1073741824.0 - 1;
}

static PetscErrorCode LevelCreate(PetscInt n, PetscInt nup, const PetscInt up[], Level *L)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  L->n  = n;
  L->nd = 2 * nup + 1;
  L->nc = (n + 2) / 3;
  PetscCall(PetscMalloc5(L->nd, &L->off, n + 1, &L->ai, L->nd * n, &L->aj, n, &L->diag, n, &L->agg));
  PetscCall(PetscCalloc5(L->nd * n, &L->aa, L->nd * n, &L->full, (nup + 1) * n, &L->half, n, &L->dinv, n, &L->b));
  PetscCall(PetscMalloc4(n, &L->x, L->nc + 1, &L->xc, L->nd, &L->val[0], L->nd, &L->val[1]));
  for (PetscInt d = 0; d < nup; ++d) {
    L->off[d]           = -up[nup - 1 - d];
    L->off[nup + 1 + d] = up[d];
  }
  L->off[nup] = 0;
  for (PetscInt d = nup; d < L->nd; ++d) {
    for (PetscInt i = 0; i < n; ++i) L->half[(d - nup) * n + i] = d == nup ? 2 * nup + 1 : Random();
  }
  for (PetscInt d = 0; d < L->nd; ++d) {
    L->val[1][d] = d >= nup ? L->half + (d - nup) * n : L->half + (nup - d) * n + L->off[d];
    L->val[0][d] = L->full + d * n;
    for (PetscInt i = PetscMax(0, -L->off[d]); i < PetscMin(n, n - L->off[d]); ++i) L->full[d * n + i] = L->val[1][d][i];
  }
  for (PetscInt i = 0; i < n; ++i) {
    L->ai[i] = nz;
    for (PetscInt d = 0; d < L->nd; ++d) {
      if (i + L->off[d] < 0 || i + L->off[d] >= n) continue;
      if (d == nup) L->diag[i] = nz;
      L->aj[nz]   = i + L->off[d];
      L->aa[nz++] = L->full[d * n + i];
    }
    L->dinv[i] = 1 / L->half[i];
    L->b[i]    = Random();
    L->x[i]    = Random();
    L->agg[i]  = (PetscInt)((Random() + 1) / 2 * (L->nc + 1));
  }
  L->ai[n] = nz;
  for (PetscInt c = 0; c < L->nc; ++c) L->xc[c] = Random();
  L->xc[L->nc] = 0;
  for (int f = 0; f < 3; ++f)
    L->M[f] = (PolderLevelMatrix){.n    = n,
                                  .nd   = f ? L->nd : 0,
                                  .main = nup,
                                  .off  = L->off,
                                  .val  = f ? (const void *const *)L->val[f - 1] : NULL,
                                  .ai   = L->ai,
                                  .aj   = L->aj,
                                  .diag = L->diag,
                                  .aa   = L->aa,
                                  .dinv = L->dinv};
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelDestroy(Level *L)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree5(L->off, L->ai, L->aj, L->diag, L->agg));
  PetscCall(PetscFree5(L->aa, L->full, L->half, L->dinv, L->b));
  PetscCall(PetscFree4(L->x, L->xc, L->val[0], L->val[1]));
  PetscFunctionReturn(0);
}

/* Row i of A x, without the diagonal entry */
static PetscScalar Others(const Level *L, PetscInt i, const PetscScalar x[])
{
  PetscScalar s = 0;

  for (PetscInt k = L->ai[i]; k < L->ai[i + 1]; ++k) {
    if (k != L->diag[i]) s += L->aa[k] * x[L->aj[k]];
  }
  return s;
}

PetscErrorCode Compare(const char what[], PetscInt n, PetscInt form, PetscInt m, const PetscScalar one[], const PetscScalar other[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < m; ++i)
    PetscCheck(PetscAbsScalar(one[i] - other[i]) <= 1e-12 * (1 + PetscAbsScalar(other[i])), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %" PetscInt_FMT " rows, form %" PetscInt_FMT ": entry %" PetscInt_FMT " is %g, not %g", what, n, form, i, (double)PetscRealPart(one[i]),
               (double)PetscRealPart(other[i]));
  PetscFunctionReturn(0);
}

void Poison(PetscInt n, PetscScalar v[])
{
  for (PetscInt i = 0; i < n; ++i) v[i] = NAN;
}

/* What the residual restricts to */
static void Restricted(const Level *L, const PetscScalar x[], PetscScalar r[], PetscScalar bc[])
{
  for (PetscInt c = 0; c <= L->nc; ++c) bc[c] = 0;
  for (PetscInt i = 0; i < L->n; ++i) {
    r[i] = L->b[i] - Others(L, i, x) - L->aa[L->diag[i]] * x[i];
    bc[L->agg[i]] += r[i];
  }
}

/* Gauss-Seidel, in the form f of the matrix */
static PetscErrorCode TestSweeps(const Level *L, int f)
{
  const PetscInt            n = L->n;
  const PolderLevelMatrix  *M = &L->M[f];
  const PolderLevelTransfer P = {.agg = L->agg, .nc = L->nc};
  PetscScalar              *want, *got, *wantc, *gotc, *r;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(n, &want, n, &got, L->nc + 1, &wantc, L->nc + 1, &gotc, n, &r));
  for (PetscInt i = 0; i < n; ++i) want[i] = 0; // forward from zero
  for (PetscInt i = 0; i < n; ++i) want[i] = L->dinv[i] * (L->b[i] - Others(L, i, want));
  Restricted(L, want, r, wantc);
  Poison(n, got);
  Poison(L->nc + 1, gotc);
  PolderLevelForward_Host(M, L->b, got, &P, gotc);
  PetscCall(Compare("forward", n, f, n, got, want));
  PetscCall(Compare("forward, restricted", n, f, L->nc, gotc, wantc));
  Poison(n, got);
  PolderLevelForward_Host(M, L->b, got, NULL, NULL);
  PetscCall(Compare("forward alone", n, f, n, got, want));
  for (int backward = 0; backward < 2; ++backward) { // sweeps, with and without correction
    for (int corrected = 0; corrected < 2; ++corrected) {
      for (PetscInt i = 0; i < n; ++i) {
        got[i]  = L->x[i];
        want[i] = L->x[i] + (corrected ? 1.5 * L->xc[L->agg[i]] : 0);
      }
      for (PetscInt l = 0; l < n; ++l) {
        const PetscInt i = backward ? n - 1 - l : l;

        want[i] = L->dinv[i] * (L->b[i] - Others(L, i, want));
      }
      PolderLevelSweep_Host(M, backward ? PETSC_TRUE : PETSC_FALSE, corrected ? &P : NULL, 1.5, L->xc, L->b, got);
      PetscCall(Compare("sweep", n, f, n, got, want));
    }
  }
  PetscCall(PetscFree5(want, got, wantc, gotc, r));
  PetscFunctionReturn(0);
}

/* Residuals and steps of Jacobi and Chebyshev, the last of which leaves its result in d */
static PetscErrorCode TestSteps(const Level *L, int f, PetscScalar d[])
{
  const PetscInt           n = L->n;
  const PolderLevelMatrix *M = &L->M[f];
  PetscScalar             *want, *got, *wantc, *gotc, *r;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(n, &want, n, &got, L->nc + 1, &wantc, L->nc + 1, &gotc, n, &r));
  Restricted(L, L->x, want, wantc);
  Poison(n, got);
  Poison(L->nc + 1, gotc);
  PolderLevelResidual_Host(M, L->b, L->x, got, L->agg, L->nc, gotc);
  PetscCall(Compare("residual", n, f, n, got, want));
  PetscCall(Compare("residual, restricted", n, f, L->nc, gotc, wantc));
  for (int k = 0; k < 3; ++k) { // with an iterate before, with zero before, and without
    for (PetscInt i = 0; i < n; ++i) {
      d[i] = Random();
      r[i] = L->x[i] + 0.7 * L->dinv[i] * want[i] + (k == 2 ? 0 : 0.3 * (L->x[i] - (k ? 0 : d[i])));
    }
    if (k) Poison(n, d);
    PolderLevelJacobi_Host(M, &(PolderLevelStep){.k = 1, .zero = (PetscBool)(k == 1), .beta = k == 2 ? 0 : 0.3, .scale = 0.7}, L->b, L->x, d);
    PetscCall(Compare("step", n, f, n, d, r));
  }
  PetscCall(PetscFree5(want, got, wantc, gotc, r));
  PetscFunctionReturn(0);
}

/* Products with their sums, also with d */
static PetscErrorCode TestProducts(const Level *L, int f, const PetscScalar d[])
{
  const PetscInt           n = L->n;
  const PolderLevelMatrix *M = &L->M[f];
  PetscScalar             *want, *got;
  PetscReal                sum[5], wanted[5];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &want, n, &got));
  for (int add = 0; add < 2; ++add) {
    for (int k = 0; k < 5; ++k) wanted[k] = 0;
    for (PetscInt i = 0; i < n; ++i) {
      got[i]  = add ? (PetscScalar)i : NAN;
      want[i] = Others(L, i, L->x) + L->aa[L->diag[i]] * L->x[i] + (add ? i : 0);
      wanted[0] += L->x[i] * want[i];
      wanted[1] += L->x[i] * L->b[i];
      wanted[2] += L->b[i] * L->b[i];
      wanted[3] += L->b[i] * want[i];
      wanted[4] += want[i] * want[i];
    }
    PolderLevelMultDots_Host(M, add ? PETSC_TRUE : PETSC_FALSE, L->x, L->b, NULL, got, sum);
    PetscCall(Compare("product", n, f, n, got, want));
    for (int k = 0; k < 5; ++k)
      PetscCheck(PetscAbsReal(sum[k] - wanted[k]) <= 1e-11 * (1 + wanted[4] + wanted[2]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "sum %d of %" PetscInt_FMT " rows, form %d: %g, not %g", k, n, f, (double)sum[k], (double)wanted[k]);
  }
  wanted[2] = 0;
  sum[3]    = -1;
  for (PetscInt i = 0; i < n; ++i) wanted[2] += L->x[i] * d[i];
  PolderLevelMultDots_Host(M, PETSC_FALSE, L->x, L->b, d, got, sum);
  PetscCheck(PetscAbsReal(sum[2] - wanted[2]) <= 1e-11 * (1 + wanted[4]) && sum[3] == -1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "(x, w) of %" PetscInt_FMT " rows: %g, not %g", n, (double)sum[2], (double)wanted[2]);
  PetscCall(PetscFree2(want, got));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestSmoothers(const Level *L)
{
  PetscScalar *d;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(L->n, &d));
  for (int f = 0; f < 3; ++f) {
    PetscCall(TestSweeps(L, f));
    PetscCall(TestSteps(L, f, d));
    PetscCall(TestProducts(L, f, d));
  }
  PetscCall(PetscFree(d));
  PetscFunctionReturn(0);
}

/* A matrix of large entries, and vectors */
typedef struct {
  PetscScalar *aa, *wide;
  float       *b, *x, *r, *dinv, *base;
} Totals;

/* Entries that add up to 0, 1 or 2: by rows in values[0], by diagonals in values[1], half of these in values[2]; val[] leads to the diagonals */
static PetscErrorCode FillTotals(const Level *L, Totals *t, float *values[], const void **val[])
{
  const PetscInt n = L->n, nz = L->ai[n], main = L->nd / 2;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) {
    t->aa[L->diag[i]] = i % 3;
    for (PetscInt k = L->ai[i]; k < L->ai[i + 1]; ++k) {
      if (k == L->diag[i]) continue;
      t->aa[k] = 1e6 * L->aa[k];
      t->aa[L->diag[i]] -= t->aa[k];
    }
    t->dinv[i] = (float)(1e-7 * (1 + i % 5));
    t->b[i]    = (float)L->b[i];
  }
  PetscCheck(PolderToSingle_Host((size_t)nz, t->aa, values[0]) &&
               PolderRowTotals_Host(&(PolderRows){.n = n, .i = L->ai, .j = L->aj, .a = t->aa}, NULL, PETSC_TRUE, values[0]),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entries do not fit");
  for (int half = 0; half < 2; ++half) {
    for (PetscInt d = L->nd - 1; d >= 0; --d) {
      val[half][d] = half && d < main ? (const float *)val[half][L->nd - 1 - d] + L->off[d] : values[1 + half] + d * n;
      for (PetscInt i = PetscMax(0, -L->off[d]); i < PetscMin(n, n - L->off[d]) && !(half && d < main); ++i)
        ((float *)val[half][d])[i] = (float)(1e6 * L->val[0][d][i]);
    }
    PetscCheck(PolderRowTotals_Host(&(PolderRows){.n = n, .i = L->ai, .j = L->aj, .a = t->aa}, NULL, PETSC_FALSE, (float *)val[half][main]), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "Sums do not fit");
  }
  PetscFunctionReturn(0);
}

/* Steps and residuals from a constant, or from something else */
static PetscErrorCode CheckTotals(const Level *L, const PolderLevelMatrix *M, int f, PetscBool constant, Totals *t)
{
  const PetscInt  n    = L->n;
  const float    *dinv = t->dinv;
  PolderLevelStep step = {
    .k = 0, .scale = 1, .end = {.wide = t->wide, .unit = 1}
  };

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) t->x[i] = constant ? 1.1f : (float)L->x[i];
  PolderLevelResidualSingle_Host(M, t->b, t->x, t->r, NULL, 0, NULL);
  PolderLevelJacobiSingle_Host(M, &step, t->b, t->x, NULL);
  for (PetscInt i = 0; i < n && constant; ++i) // a step that is small beside x
    PetscCheck(PetscAbsReal(t->wide[i] - t->x[i] - (PetscReal)dinv[i] * t->r[i]) <= 1e-6 * PetscAbsReal(dinv[i] * t->r[i]) + 1e-15, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "Row %" PetscInt_FMT " of %" PetscInt_FMT ", form %d, goes to %.15g", i, n, f, (double)t->wide[i]);
  for (PetscInt i = 0; i < n; ++i) t->base[i] = 100.0f * (1 + i % 7);
  step.end.base = t->base;
  PolderLevelJacobiSingle_Host(M, &step, t->b, t->x, NULL);
  for (PetscInt i = 0; i < n; ++i) // beside which x is small
    PetscCheck(PetscAbsReal(t->wide[i] - t->base[i] - t->x[i] - (PetscReal)dinv[i] * t->r[i]) <=
                 1e-6 * (PetscAbsReal(t->x[i]) + PetscAbsReal(dinv[i] * t->r[i])) + 1e-12,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " of %" PetscInt_FMT ", form %d, goes to %.15g from %g", i, n, f, (double)t->wide[i],
               (double)t->base[i]);
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal want = t->b[i] - (i % 3) * (PetscReal)t->x[i], size = 1;

    for (PetscInt e = L->ai[i]; e < L->ai[i + 1]; ++e) {
      want -= e == L->diag[i] ? 0 : t->aa[e] * ((PetscReal)t->x[L->aj[e]] - t->x[i]);
      size += e == L->diag[i] ? 0 : PetscAbsScalar(t->aa[e] * ((PetscReal)t->x[L->aj[e]] - t->x[i]));
    }
    PetscCheck(PetscAbsReal(t->r[i] - want) <= 1e-6 * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Residual %" PetscInt_FMT " of %" PetscInt_FMT " rows, form %d, is %g, not %g", i, n, f, (double)t->r[i], (double)want);
  }
  PetscFunctionReturn(0);
}

/* Large entries that add up to 0, 1 or 2 do so in single precision, too, where rounded they would be off by 0.1: by what comes of a constant,
   and of something else */
static PetscErrorCode TestTotals(const Level *L)
{
  const PetscInt    n = L->n, nz = L->ai[n], main = L->nd / 2;
  Totals            t;
  float            *values[3];
  const void      **val[2];
  PolderLevelMatrix M[3];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(nz, &t.aa, nz, &values[0], L->nd * n, &values[1], L->nd * n, &values[2], n, &t.dinv));
  PetscCall(PetscMalloc7(n, &t.b, n, &t.x, n, &t.r, n, &t.wide, n, &t.base, L->nd, &val[0], L->nd, &val[1]));
  PetscCall(FillTotals(L, &t, values, val));
  for (int f = 0; f < 3; ++f) {
    M[f] = (PolderLevelMatrix){.n    = n,
                               .nd   = f ? L->nd : 0,
                               .main = main,
                               .off  = L->off,
                               .val  = f ? (const void *const *)val[f - 1] : NULL,
                               .ai   = L->ai,
                               .aj   = L->aj,
                               .diag = L->diag,
                               .aa   = values[0],
                               .dinv = t.dinv};
    PetscCall(CheckTotals(L, &M[f], f, PETSC_TRUE, &t));
    PetscCall(CheckTotals(L, &M[f], f, PETSC_FALSE, &t));
  }
  t.aa[L->diag[n / 2]] = 1e39;
  PetscCheck(!PolderRowTotals_Host(&(PolderRows){.n = n, .i = L->ai, .j = L->aj, .a = t.aa}, NULL, PETSC_FALSE, t.r), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A sum of 1e39 fits");
  PetscCall(PetscFree5(t.aa, values[0], values[1], values[2], t.dinv));
  PetscCall(PetscFree7(t.b, t.x, t.r, t.wide, t.base, val[0], val[1]));
  PetscFunctionReturn(0);
}

/* Two steps of the K-cycle with any x and w: the error is least in the energy norm over their span, so that the residual is orthogonal to both */
static PetscErrorCode TestKCycle(const Level *L)
{
  const PetscInt n = L->n;
  PetscScalar   *b, *x, *w, *v, *r, *wantc;
  PetscReal      sum[POLDER_KSUMS], c[2], dot[2] = {0, 0}, size = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc6(n, &b, n, &x, n, &w, n, &v, n, &r, L->nc + 1, &wantc));
  for (PetscInt i = 0; i < n; ++i) {
    b[i] = L->b[i];
    x[i] = L->x[i];
    w[i] = Random();
    size += 1 + PetscAbsScalar(b[i] * w[i]);
  }
  PolderLevelMultDots_Host(&L->M[0], PETSC_FALSE, x, b, NULL, v, sum);
  PetscCheck(n < 2 || !PolderKCycleDone(sum, 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "One step is exact with %" PetscInt_FMT " rows", n);
  PetscCheck(PolderKCycleDone(sum, 1e6), PETSC_COMM_SELF, PETSC_ERR_PLIB, "One step is not enough for a large threshold");
  PolderLevelKFirst_Host(n, 0, sum, v, b);
  PolderLevelMultDots_Host(&L->M[0], PETSC_FALSE, w, b, v, r, sum + POLDER_KSUMS_FIRST);
  for (PetscInt i = 0; i < n; ++i) dot[0] += b[i] * L->x[i];
  PetscCheck(n < 2 || PetscAbsReal(dot[0]) <= 1e-11 * size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "After one step the residual has %g of x", (double)dot[0]);
  PolderLevelKSecond_Host(n, 0, sum, w, x);
  Restricted(L, x, r, wantc);
  dot[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    dot[0] += r[i] * L->x[i];
    dot[1] += r[i] * w[i];
  }
  PetscCheck(n < 2 || (PetscAbsReal(dot[0]) <= 1e-10 * size && PetscAbsReal(dot[1]) <= 1e-10 * size), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "After two steps the residual has %g of x and %g of w with %" PetscInt_FMT " rows", (double)dot[0], (double)dot[1], n);
  sum[0] = 0; // nothing to scale by: x stays, and so does b
  PolderKCycleSecond(sum, 0, c);
  PetscCheck(c[0] == 1 && c[1] == 0 && PolderKCycleFirst(sum, 0) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product of zero scales by %g and %g", (double)c[0],
             (double)c[1]);
  PetscCall(PetscFree6(b, x, w, v, r, wantc));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  static const PetscInt sizes[] = {1, 2, 3, 7, 8, 9, 63, 511, 512, 513, 1537, 2600};
  static const PetscInt up[][4] = {
    {1, 0,  0,   0  },
    {1, 9,  0,   0  },
    {1, 7,  50,  0  },
    {1, 30, 900, 0  },
    {2, 9,  10,  500},
    {8, 16, 24,  600}
  };
  static const PetscInt nup[] = {1, 2, 3, 3, 4, 4};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(nup); ++k) {
      PetscInt n = nup[k];
      Level    L;

      while (n && up[k][n - 1] >= sizes[s]) --n; // diagonals that the matrix has
      PetscCall(LevelCreate(sizes[s], n, up[k], &L));
      PetscCall(TestSmoothers(&L));
      PetscCall(TestTotals(&L));
      PetscCall(TestKCycle(&L));
      for (int k = 0; k < 4; ++k) PetscCall(TestPairs(&L, (PetscBool)(k / 2), (PetscBool)(k % 2)));
      PetscCall(TestGalerkin(&L));
      PetscCall(LevelDestroy(&L));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "smoothers, pairs and sums agree with plain loops\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:

TEST*/
