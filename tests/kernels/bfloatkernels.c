static char help[] = "Numbers in bfloat16, and the host kernels of a level with such entries against those in single precision with the same values.\n\n";

#include "kernels/bfloat.h"
#include "kernels/dia.h"
#include "kernels/level.h"
#include "kernels/levelscalars.h"
#include "core/compat.h"

static unsigned long long state = 5;

static PetscReal Random(void)
{
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (PetscReal)(state >> 33) / 1073741824.0 - 1;
}

/* Every number of the format stays, others go to the nearest, ties to the one whose last bit is zero, and what becomes infinite is told */
static PetscErrorCode TestRounding(void)
{
  const float  given[] = {3.38e38f, INFINITY, -INFINITY, NAN, 0, 1e-40f};
  PolderBfloat got[PETSC_STATIC_ARRAY_LENGTH(given)];
  int          bad = 0;

  PetscFunctionBeginUser;
  for (unsigned int p = 0; p < 1 << 16; ++p) {
    const float        at = PolderBfloatGet((PolderBfloat)p), next = PolderBfloatGet((PolderBfloat)(p + 1));
    const PolderBfloat back = PolderBfloatRound(at);

    if (at != at) {
      PetscCheck(PolderBfloatGet(back) != PolderBfloatGet(back), PETSC_COMM_SELF, PETSC_ERR_PLIB, "NaN %x becomes a number", p);
      continue;
    }
    PetscCheck(back == p, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%x becomes %x", p, back);
    if (!(PetscAbsReal((PetscReal)next) <= 3e38) || !(PetscAbsReal((PetscReal)at) > 1e-30)) continue;
    for (int k = 0; k <= 8; ++k) {
      const unsigned int want = k < 4 || (k == 4 && p % 2 == 0) ? p : p + 1;
      const PolderBfloat r    = PolderBfloatRound(at + (next - at) * (float)k / 8);

      PetscCheck(r == want, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%x and %d eighths become %x", p, k, r);
    }
  }
  PolderToBfloat_Host(PETSC_STATIC_ARRAY_LENGTH(given), given, got, &bad);
  PetscCheck(!bad && PolderBfloatGet(got[1]) == INFINITY && PolderBfloatGet(got[2]) == -INFINITY && PolderBfloatGet(got[3]) != PolderBfloatGet(got[3]),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "A list of numbers is not rounded as it should");
  PolderToBfloat_Host(1, &(const float){-3.4e38f}, got, &bad);
  PetscCheck(bad && PolderBfloatGet(got[0]) == -INFINITY, PETSC_COMM_SELF, PETSC_ERR_PLIB, "-3.4e38 becomes %g", (double)PolderBfloatGet(got[0]));
  bad = 0;
  for (int k = 0; k < 1000; ++k) {
    const PetscScalar value = PetscPowReal(1.07, k - 500) * (k % 2 ? 1 : -1);

    PolderHalve_Host(&(PolderHalving){1, {1}, {&value}, {got}}, &bad);
    PetscCheck(!bad && got[0] == PolderBfloatRound((float)value), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g becomes %x", (double)value, got[0]);
  }
  PolderHalve_Host(&(PolderHalving){1, {1}, {&(const PetscScalar){INFINITY}}, {got}}, &bad);
  PetscCheck(!bad, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An infinite value is too large");
  PolderHalve_Host(
    &(PolderHalving){
      2, {1,                       1                          },
       {&(const PetscScalar){1}, &(const PetscScalar){1e300}},
       {got,                     got + 1                    }
  },
    &bad);
  PetscCheck(bad, PETSC_COMM_SELF, PETSC_ERR_PLIB, "1e300 is not too large");
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rounding: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix in both precisions with the same values, and vectors */
typedef struct {
  PolderLevelMatrix M[2]; /* in single precision, in bfloat16 */
  PetscInt          n, nc, nd, *off, *ai, *aj, *diag, *agg, *row;
  float            *value, *dinv, *b, *x, *y[2], *xc, *bc[2];
  PolderBfloat     *rough;
  const void      **val[2];
} Pair;

static PetscErrorCode PairCreate(PetscInt n, PetscInt nup, const PetscInt up[], Pair *P)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  P->n  = n;
  P->nc = (n + 2) / 3;
  P->nd = 2 * nup + 1;
  PetscCall(PetscMalloc6(P->nd, &P->off, n + 1, &P->ai, P->nd * n, &P->aj, n, &P->diag, n, &P->agg, n, &P->row));
  PetscCall(PetscMalloc4(2 * P->nd * n, &P->value, 2 * P->nd * n, &P->rough, P->nd, &P->val[0], P->nd, &P->val[1]));
  PetscCall(PetscMalloc7(n, &P->dinv, n, &P->b, n, &P->x, n, &P->y[0], n, &P->y[1], P->nc + 1, &P->xc, P->nc + 1, &P->bc[0]));
  PetscCall(PetscMalloc1(P->nc + 1, &P->bc[1]));
  for (PetscInt d = 0; d < P->nd; ++d) P->off[d] = d < nup ? -up[nup - 1 - d] : d > nup ? up[d - nup - 1] : 0;
  for (PetscInt k = 0; k < P->nd * n; ++k) {
    P->rough[k] = PolderBfloatRound((float)Random());
    P->value[k] = PolderBfloatGet(P->rough[k]);
  }
  for (PetscInt d = 0; d < P->nd; ++d) {
    P->val[0][d] = P->value + d * n;
    P->val[1][d] = P->rough + d * n;
  }
  for (PetscInt i = 0; i < n; ++i) { // the same by rows, behind the diagonals
    P->ai[i] = nz;
    for (PetscInt d = 0; d < P->nd; ++d) {
      if (i + P->off[d] < 0 || i + P->off[d] >= n) continue;
      if (!P->off[d]) P->diag[i] = nz;
      P->aj[nz]                = i + P->off[d];
      P->value[P->nd * n + nz] = P->value[d * n + i];
      P->rough[P->nd * n + nz] = P->rough[d * n + i];
      ++nz;
    }
    P->dinv[i] = (float)(0.2 + 0.1 * Random());
    P->b[i]    = (float)Random();
    P->x[i]    = (float)Random();
    P->agg[i]  = (PetscInt)((Random() + 1) / 2 * (P->nc + 1));
    P->row[i]  = i;
  }
  P->ai[n] = nz;
  for (PetscInt c = 0; c <= P->nc; ++c) P->xc[c] = c < P->nc ? (float)Random() : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairDestroy(Pair *P)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree6(P->off, P->ai, P->aj, P->diag, P->agg, P->row));
  PetscCall(PetscFree4(P->value, P->rough, P->val[0], P->val[1]));
  PetscCall(PetscFree7(P->dinv, P->b, P->x, P->y[0], P->y[1], P->xc, P->bc[0]));
  PetscCall(PetscFree(P->bc[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y[0] and y[1], and bc[0] and bc[1], are equal to rounding; then y[] <- x */
static PetscErrorCode CheckPair(const char what[], Pair *P, PetscBool coarse)
{
  PetscReal size = 1;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < P->n; ++i) size = PetscMax(size, PetscAbsReal((PetscReal)P->y[0][i]));
  for (PetscInt i = 0; i < P->n; ++i) {
    PetscCheck(PetscAbsReal((PetscReal)P->y[0][i] - P->y[1][i]) <= 1e-5 * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %" PetscInt_FMT " rows, %" PetscInt_FMT " diagonals: row %" PetscInt_FMT " is %g in single and %g in half precision", what, P->n,
               P->M[0].nd, i, (double)P->y[0][i], (double)P->y[1][i]);
    P->y[0][i] = P->y[1][i] = P->x[i];
  }
  for (PetscInt c = 0; c < P->nc && coarse; ++c)
    PetscCheck(PetscAbsReal((PetscReal)P->bc[0][c] - P->bc[1][c]) <= 1e-4 * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: aggregate %" PetscInt_FMT " is %g and %g", what, c, (double)P->bc[0][c], (double)P->bc[1][c]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernels in both precisions */
static PetscErrorCode CheckKernels(Pair *P)
{
  const PolderLevelMatrix  *S = &P->M[0], *H = &P->M[1];
  const PolderLevelTransfer to = {.agg = P->agg, .nc = P->nc};
  PetscReal                 sum[2][POLDER_KSUMS_FIRST];

  PetscFunctionBeginUser;
  PolderLevelForwardSingle_Host(S, P->b, P->y[0], &to, P->bc[0]);
  PolderLevelForwardHalf_Host(H, P->b, P->y[1], &to, P->bc[1]);
  PetscCall(CheckPair("forward", P, PETSC_TRUE));
  for (int backward = 0; backward < 2; ++backward) {
    PolderLevelSweepSingle_Host(S, (PetscBool)backward, &to, 1.7f, P->xc, P->b, P->y[0]);
    PolderLevelSweepHalf_Host(H, (PetscBool)backward, &to, 1.7f, P->xc, P->b, P->y[1]);
    PetscCall(CheckPair("sweep", P, PETSC_FALSE));
  }
  PolderLevelColourSingle_Host(S, P->n, P->row, P->b, P->y[0]);
  PolderLevelColourHalf_Host(H, P->n, P->row, P->b, P->y[1]);
  PetscCall(CheckPair("colour", P, PETSC_FALSE));
  PolderLevelResidualSingle_Host(S, P->b, P->x, P->y[0], P->agg, P->nc, P->bc[0]);
  PolderLevelResidualHalf_Host(H, P->b, P->x, P->y[1], P->agg, P->nc, P->bc[1]);
  PetscCall(CheckPair("residual", P, PETSC_TRUE));
  PolderLevelJacobiSingle_Host(S, &(PolderLevelStep){.k = 1, .beta = 0.3, .scale = 0.7}, P->b, P->x, P->y[0]);
  PolderLevelJacobiHalf_Host(H, &(PolderLevelStep){.k = 1, .beta = 0.3, .scale = 0.7}, P->b, P->x, P->y[1]);
  PetscCall(CheckPair("step", P, PETSC_FALSE));
  PolderLevelMultDotsSingle_Host(S, PETSC_TRUE, P->x, P->b, NULL, P->y[0], sum[0]);
  PolderLevelMultDotsHalf_Host(H, PETSC_TRUE, P->x, P->b, NULL, P->y[1], sum[1]);
  PetscCall(CheckPair("product", P, PETSC_FALSE));
  for (int k = 0; k < POLDER_KSUMS_FIRST; ++k)
    PetscCheck(PetscAbsReal(sum[0][k] - sum[1][k]) <= 1e-5 * P->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Sum %d is %g and %g", k, (double)sum[0][k],
               (double)sum[1][k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse diagonal that the sum of the row and its couplings imply, off-process ones included */
static PetscErrorCode CheckPivots(Pair *P)
{
  PetscInt    *bi, *bj;
  PetscScalar *ba;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(P->n + 1, &bi, P->n, &bj, P->n, &ba));
  for (PetscInt i = 0; i <= P->n; ++i) bi[i] = i;
  for (PetscInt i = 0; i < P->n; ++i) ba[i] = Random();
  for (int outer = 0; outer < 2; ++outer) {
    for (PetscInt i = 0; i < P->n; ++i) P->y[0][i] = i % 7 ? 0.5f : 0;
    PolderLevelPivotsHalf_Host(&P->M[1], outer ? bi : NULL, outer ? ba : NULL, P->y[0]);
    for (PetscInt i = 0; i < P->n; ++i) {
      PetscReal pivot = outer ? -PetscRealPart(ba[i]) : 0, want;

      for (PetscInt k = P->ai[i]; k < P->ai[i + 1]; ++k) pivot += (P->aj[k] == i ? 1 : -1) * (PetscReal)P->value[P->nd * P->n + k];
      want = i % 7 == 0 ? 0 : pivot > 0 ? 1 / pivot : 0.5;
      PetscCheck(PetscAbsReal(P->y[0][i] - want) <= 1e-6 * want, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Pivot %" PetscInt_FMT " is %g instead of %g", i,
                 (double)P->y[0][i], (double)want);
    }
  }
  for (PetscInt i = 0; i < P->n; ++i) P->y[0][i] = P->x[i];
  PetscCall(PetscFree3(bi, bj, ba));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestKernels(void)
{
  static const PetscInt sizes[] = {1, 2, 7, 63, 1500}, nups[] = {1, 2, 3}, up[] = {1, 40, 601};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (size_t u = 0; u < PETSC_STATIC_ARRAY_LENGTH(nups); ++u) {
      PetscInt nup = nups[u];
      Pair     P;

      while (nup && up[nup - 1] >= sizes[s]) --nup;
      PetscCall(PairCreate(sizes[s], nup, up, &P));
      for (int rows = 0; rows < 2; ++rows) {
        for (int h = 0; h < 2; ++h)
          P.M[h] = (PolderLevelMatrix){.n      = P.n,
                                       .nd     = rows ? 0 : P.nd,
                                       .main   = nup,
                                       .off    = P.off,
                                       .val    = (const void *const *)P.val[h],
                                       .ai     = P.ai,
                                       .aj     = P.aj,
                                       .diag   = P.diag,
                                       .aa     = h ? (const void *)(P.rough + P.nd * P.n) : (const void *)(P.value + P.nd * P.n),
                                       .dinv   = P.dinv,
                                       .bfloat = (PetscBool)h};
        for (PetscInt i = 0; i < P.n; ++i) P.y[0][i] = P.y[1][i] = P.x[i];
        PetscCall(CheckKernels(&P));
        PetscCall(CheckPivots(&P));
      }
      PetscCall(PairDestroy(&P));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "kernels: ok\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(TestRounding());
  PetscCall(TestKernels());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:

TEST*/
