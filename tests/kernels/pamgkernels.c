static char help[] = "Host kernels of the pairwise-aggregation multigrid against plain loops, on rows and on diagonals, tiny, odd and large.\n\n";

#include "kernels/dia.h"
#include "kernels/galerkin.h"
#include "kernels/level.h"
#include "kernels/pairs.h"
#include "kernels/levelscalars.h"
#include "core/compat.h"

/* A symmetric matrix of n rows as rows, as diagonals and as half of them, and vectors around it; arrays that are written are poisoned */
typedef struct {
  PetscInt            n, nd, *off, *ai, *aj, *diag, *agg, nc;
  PetscScalar        *aa, *full, *half, *dinv, *b, *x, *xc;
  const PetscScalar **val[2];
  PolderLevelMatrix   M[3];
} Level;

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

static PetscErrorCode Compare(const char what[], PetscInt n, PetscInt form, PetscInt m, const PetscScalar one[], const PetscScalar other[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < m; ++i)
    PetscCheck(PetscAbsScalar(one[i] - other[i]) <= 1e-12 * (1 + PetscAbsScalar(other[i])), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %" PetscInt_FMT " rows, form %" PetscInt_FMT ": entry %" PetscInt_FMT " is %g, not %g", what, n, form, i, (double)PetscRealPart(one[i]),
               (double)PetscRealPart(other[i]));
  PetscFunctionReturn(0);
}

static void Poison(PetscInt n, PetscScalar v[])
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

/* Partners are symmetric and strong, also beside what couples a row to other processes (outside, NULL for none) */
static PetscErrorCode CheckMates(const Level *L, const PetscReal outside[], PetscBool greedy, const PetscInt mate[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < L->n; ++i) {
    PetscReal strongest = outside ? outside[i] : 0, mine = 0;

    PetscCheck((mate[i] == POLDER_PAIR_LONE) == (i % 11 == 5), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has the partner %" PetscInt_FMT, i,
               mate[i]);
    if (mate[i] < 0) continue;
    PetscCheck(mate[mate[i]] == i, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has the partner %" PetscInt_FMT " who has %" PetscInt_FMT, i,
               mate[i], mate[mate[i]]);
    for (PetscInt k = L->ai[i]; k < L->ai[i + 1]; ++k) {
      if (L->aj[k] == i) continue;
      strongest = PetscMax(strongest, -PetscRealPart(L->aa[k]));
      if (L->aj[k] == mate[i]) mine = -PetscRealPart(L->aa[k]);
    }
    // the greedy matching asks the row that chooses only
    if (mate[i] != i && !greedy)
      PetscCheck(mine >= 0.25 * strongest && mine > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has a weak partner", i);
  }
  PetscFunctionReturn(0);
}

/* Aggregates are the pairs and the rows alone, in the order of their first rows; count[] is a work array */
static PetscErrorCode CheckNumbers(PetscInt n, const PetscInt mate[], PetscInt nc, const PetscInt agg[], PetscInt count[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(count, n + 1));
  for (PetscInt i = 0, last = -1; i < n; ++i) {
    PetscCheck(agg[i] >= 0 && agg[i] <= nc && (agg[i] == nc) == (mate[i] < 0) && (mate[i] < 0 || agg[mate[i]] == agg[i]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Row %" PetscInt_FMT " is in aggregate %" PetscInt_FMT " of %" PetscInt_FMT, i, agg[i], nc);
    if (!count[agg[i]]++ && agg[i] < nc) {
      PetscCheck(agg[i] == last + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Aggregates are not numbered by their first rows");
      ++last;
    }
  }
  for (PetscInt a = 0; a < nc; ++a)
    PetscCheck(count[a] == 1 || count[a] == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An aggregate of %" PetscInt_FMT " rows", count[a]);
  PetscFunctionReturn(0);
}

/* mate[] is symmetric, along couplings that are strong also beside those of every third row to other processes, and leaves no two free
   neighbours that want each other; agg[] numbers it */
static PetscErrorCode TestPairs(const Level *L, PetscBool greedy, PetscBool scattered)
{
  const PetscInt   n    = L->n;
  PolderPairRule   rule = {.threshold = 0.25};
  const PolderRows A    = {.n = n, .i = L->ai, .j = L->aj, .a = L->aa};
  PetscReal       *outside;
  PetscInt        *mate, *next, *left, *agg, *work, *count, nleft = n, nc, rounds = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc6(n, &mate, n, &next, n, &left, n, &agg, 3 * n + 65, &work, n + 1, &count));
  PetscCall(PetscMalloc1(n, &outside));
  for (PetscInt i = 0; i < n; ++i) outside[i] = i % 3 ? 0 : 2;
  if (scattered) rule.outside = outside;
  for (PetscInt i = 0; i < n; ++i) mate[i] = i % 11 == 5 ? POLDER_PAIR_LONE : POLDER_PAIR_FREE;
  if (greedy) PolderPairsGreedy_Host(&A, &rule, 64, mate, work);
  else {
    for (; nleft && rounds < 1000; ++rounds) {
      const PolderRowList rows = {nleft, rounds ? left : NULL};

      PolderPairsPropose_Host(&A, rows, &rule, mate, next);
      PolderPairsMatch_Host(rows, next, mate, left, &nleft);
    }
    PetscCheck(!nleft, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " of %" PetscInt_FMT " rows are free after %" PetscInt_FMT " rounds", nleft, n,
               rounds);
  }
  PetscCall(CheckMates(L, rule.outside, greedy, mate));
  PolderPairsJoin_Host(&A, &rule, mate, next);
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal mine = 0;

    for (PetscInt k = L->ai[i]; k < L->ai[i + 1]; ++k) {
      if (L->aj[k] == next[i]) mine = -PetscRealPart(L->aa[k]);
    }
    PetscCheck(next[i] == i || (mate[i] == i && mate[next[i]] >= 0 && mate[next[i]] != next[i] && mine > 0 && mine >= (scattered ? outside[i] : 0)),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " joins row %" PetscInt_FMT, i, next[i]);
  }
  PolderPairsNumber_Host(n, mate, NULL, agg, &nc);
  PetscCall(CheckNumbers(n, mate, nc, agg, count));
  PetscCall(PetscFree(outside));
  PetscCall(PetscFree6(mate, next, left, agg, work, count));
  PetscFunctionReturn(0);
}

/* Row sums and symmetry survive, nothing weak is left beside the diagonal, and new values find their way */
static PetscErrorCode TestDrop(const Level *L, const PolderAggregates *P, PetscInt place[], const PolderSparseRows *C)
{
  const PolderRows A = {.n = L->n, .i = L->ai, .j = L->aj, .a = L->aa};
  PetscInt *const ci = C->ptr, *const cj = C->col;
  PetscScalar *const ca   = C->val;
  const PetscInt     n    = L->nc;
  const PetscReal    drop = 0.1;
  PetscInt           nz   = ci[n];
  PetscReal         *d;
  PetscScalar       *sum, *again;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc3(n, &d, n, &sum, nz, &again));
  for (PetscInt a = 0; a < n; ++a) {
    for (PetscInt k = ci[a]; k < ci[a + 1]; ++k) sum[a] += ca[k];
  }
  nz = PolderDropWeak_Host(n, drop, d, ci, cj, ca);
  PetscCheck(nz == ci[n], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries, not %" PetscInt_FMT, nz, ci[n]);
  for (PetscInt a = 0; a < n; ++a) {
    for (PetscInt k = ci[a]; k < ci[a + 1]; ++k) {
      sum[a] -= ca[k];
      PetscCheck(cj[k] == a || PetscAbsScalar(ca[k]) > drop * PetscMin(d[a], d[cj[k]]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "A weak entry is left in row %" PetscInt_FMT, a);
    }
    PetscCheck(PetscAbsScalar(sum[a]) <= 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The sum of row %" PetscInt_FMT " has changed by %g", a,
               (double)PetscAbsScalar(sum[a]));
  }
  PolderGalerkinValues_Host(P, &A, n, L->agg, PETSC_TRUE, place, &(PolderSparseRows){.n = n, .ptr = ci, .col = cj, .val = again});
  PetscCall(Compare("values without weak ones", L->n, 0, nz, again, ca));
  PetscCall(PetscFree3(d, sum, again));
  PetscFunctionReturn(0);
}

/* P^T A P against a dense sum, then its values alone */
static PetscErrorCode TestGalerkin(const Level *L)
{
  const PetscInt   n = L->n, nc = L->nc, nz = L->ai[n];
  const PolderRows A = {.n = n, .i = L->ai, .j = L->aj, .a = L->aa};
  PolderAggregates P;
  PolderSparseRows C;
  PetscInt        *ptr, *row, *place, *ci, *cj, most;
  PetscScalar     *dense, *ca, *again;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(nc + 2, &ptr, n, &row, nc, &place, nc + 1, &ci, nz, &cj));
  PetscCall(PetscMalloc2(nz, &ca, nz, &again));
  PetscCall(PetscCalloc1((size_t)nc * nc, &dense));
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt k = L->ai[i]; k < L->ai[i + 1]; ++k) {
      if (L->agg[i] < nc && L->agg[L->aj[k]] < nc) dense[(size_t)L->agg[i] * nc + L->agg[L->aj[k]]] += L->aa[k];
    }
  }
  P = (PolderAggregates){n, nc, L->agg, ptr, row};
  C = (PolderSparseRows){.n = nc, .ptr = ci, .col = cj, .val = ca};
  PolderMembers_Host(&P);
  for (PetscInt a = 0; a <= nc; ++a) {
    for (PetscInt k = ptr[a]; k < ptr[a + 1]; ++k)
      PetscCheck(L->agg[row[k]] == a && (k == ptr[a] || row[k] > row[k - 1]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Aggregate %" PetscInt_FMT " has the row %" PetscInt_FMT, a, row[k]);
  }
  Poison(nz, ca);
  most = PolderGalerkin_Host(&P, &A, nc, L->agg, PETSC_TRUE, place, &C);
  PetscCheck(most == ci[nc], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries, not %" PetscInt_FMT, most, ci[nc]);
  Poison(nz, again);
  PolderGalerkinValues_Host(&P, &A, nc, L->agg, PETSC_TRUE, place, &(PolderSparseRows){.n = nc, .ptr = ci, .col = cj, .val = again});
  PetscCall(Compare("values", n, 0, most, again, ca));
  for (PetscInt a = 0; a < nc; ++a) {
    for (PetscInt k = ci[a]; k < ci[a + 1]; ++k) {
      PetscCheck(k == ci[a] || cj[k] > cj[k - 1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Columns of row %" PetscInt_FMT " do not ascend", a);
      dense[(size_t)a * nc + cj[k]] -= ca[k];
    }
  }
  for (size_t k = 0; k < (size_t)nc * nc; ++k)
    PetscCheck(PetscAbsScalar(dense[k]) <= 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "P^T A P of %" PetscInt_FMT " rows is off by %g", n,
               (double)PetscAbsScalar(dense[k]));
  PetscCall(TestDrop(L, &P, place, &C));
  PetscCall(PetscFree5(ptr, row, place, ci, cj));
  PetscCall(PetscFree2(ca, again));
  PetscCall(PetscFree(dense));
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
    load: no

TEST*/
