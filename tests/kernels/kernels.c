static char help
  [] = "Host kernels of the matrix formats, and a search in rows, against plain loops: awkward sizes, poisoned output, nothing written or read outside.\n\n";

#include "banded.h"
#include "random.h"
#include "kernels/dia.h"
#include "kernels/slices.h"
#include "mat/csr.h"

#define GUARD 16

static const PetscInt Sizes[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 511, 512, 513, 1023, 1024, 1025, 2500};

unsigned int seed = 12345;

typedef struct {
  PetscInt     n;
  PetscScalar *all, *a; /* a: n values between two guards */
} Guarded;

static PetscErrorCode GuardedCreate(PetscInt n, PetscBool random, Guarded *g)
{
  PetscFunctionBeginUser;
  g->n = n;
  PetscCall(PetscMalloc1(n + 2 * GUARD, &g->all));
  g->a = g->all + GUARD;
  for (PetscInt i = 0; i < n + 2 * GUARD; ++i) g->all[i] = NAN;
  for (PetscInt i = 0; i < n && random; ++i) g->a[i] = Number();
  PetscFunctionReturn(0);
}

static PetscErrorCode GuardedDestroy(Guarded *g, const char *what)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < GUARD; ++i)
    PetscCheck(PetscIsNanScalar(g->all[i]) && PetscIsNanScalar(g->a[g->n + i]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: written outside of the output, size %" PetscInt_FMT, what, g->n);
  PetscCall(PetscFree(g->all));
  PetscFunctionReturn(0);
}

/* A matrix as a list of entries, the independent form that every format is checked against */
typedef struct {
  PetscInt     m, n, nz;
  PetscInt    *i, *j;
  PetscScalar *v;
} Entries;

typedef struct {
  const char *what;
  PetscInt    wrong, cases;
} Count;

typedef void (*Product)(const void *, PetscScalar, const PetscScalar[], const PetscScalar[], PetscScalar[]);

/* z = y + alpha A x in its three forms */
static PetscErrorCode Check(Count *c, const Entries *A, Product mult, const void *data)
{
  const PetscScalar alphas[] = {1.0, -1.0, 0.37};
  Guarded           x, y, z;
  PetscScalar      *want;

  PetscFunctionBeginUser;
  PetscCall(GuardedCreate(A->n, PETSC_TRUE, &x));
  PetscCall(GuardedCreate(A->m, PETSC_TRUE, &y));
  PetscCall(PetscMalloc1(A->m + 1, &want));
  for (int form = 0; form < 3; ++form) {
    for (int k = 0; k < 3; ++k) {
      PetscCall(GuardedCreate(A->m, PETSC_FALSE, &z));
      for (PetscInt i = 0; i < A->m; ++i) want[i] = form ? y.a[i] : 0.0;
      for (PetscInt e = 0; e < A->nz; ++e) want[A->i[e]] += alphas[k] * A->v[e] * x.a[A->j[e]];
      if (form == 2) PetscCall(PetscArraycpy(z.a, y.a, A->m));
      (*mult)(data, alphas[k], x.a, form == 0 ? NULL : (form == 1 ? y.a : z.a), z.a);
      ++c->cases;
      for (PetscInt i = 0; i < A->m; ++i) {
        if (!(PetscAbsScalar(z.a[i] - want[i]) <= 1e-13 * (1.0 + A->nz))) {
          ++c->wrong;
          break;
        }
      }
      PetscCall(GuardedDestroy(&z, c->what));
    }
  }
  PetscCall(PetscFree(want));
  PetscCall(GuardedDestroy(&x, c->what));
  PetscCall(GuardedDestroy(&y, c->what));
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(const Count *c)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " cases, %" PetscInt_FMT " wrong\n", c->what, c->cases, c->wrong));
  PetscFunctionReturn(0);
}

static void DiaMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  PolderDiaMult_Host((const PolderDia *)data, alpha, x, y, z);
}

/* Random diagonals; where row or column do not exist the values are NAN */
static PetscErrorCode TestDia(void)
{
  Count c = {"diagonals", 0, 0};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    for (PetscInt shape = 0; shape < 3; ++shape) {
      const PetscInt m = Sizes[s], n = shape == 0 ? m : (shape == 1 ? m / 2 + 1 : 2 * m + 3);

      for (PetscInt want = 0; want < 20; want += 1 + want / 4) {
        PetscInt     off[32], nd = 0;
        PetscScalar *val[32];
        Entries      A = {m, n, 0, NULL, NULL, NULL};
        PolderDia    D = {.m = m, .n = n, .off = off, .val = (const PetscScalar *const *)val};

        for (PetscInt d = 0, o = -m; d < want && o < n; ++d) {
          o += 1 + Next(1 + 2 * (m + n) / (want + 1));
          if (o < n && o > -m) off[nd++] = o;
        }
        D.nd = nd;
        PetscCall(PetscMalloc3(m * nd + 1, &A.i, m * nd + 1, &A.j, m * nd + 1, &A.v));
        for (PetscInt d = 0; d < nd; ++d) {
          PetscCall(PetscMalloc1(m + 1, &val[d]));
          for (PetscInt i = 0; i < m; ++i) {
            val[d][i] = NAN;
            if (i + off[d] < 0 || i + off[d] >= n) continue;
            val[d][i]   = Number();
            A.i[A.nz]   = i;
            A.j[A.nz]   = i + off[d];
            A.v[A.nz++] = val[d][i];
          }
        }
        PetscCall(Check(&c, &A, DiaMult, &D));
        for (PetscInt d = 0; d < nd; ++d) PetscCall(PetscFree(val[d]));
        PetscCall(PetscFree3(A.i, A.j, A.v));
      }
    }
  }
  PetscCall(Report(&c));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscInt     m, width, ld, *ptr, *col;
  PetscScalar *val;
} Slices;

static void IcrsMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  const Slices *S = (const Slices *)data;

  PolderIcrsMult_Host(S->m, S->ptr, S->col, S->val, alpha, x, y, z);
}

static void EllMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  const Slices *S = (const Slices *)data;

  PolderEllMult_Host((PolderEll){S->m, S->width, S->ld, S->col, S->val}, alpha, x, y, z);
}

/* Rows of random length up to longest; ell: one width, columns of entries ld apart, else slices */
static PetscErrorCode TestRows(PetscBool ell)
{
  Count          c = {ell ? "ELL" : "interleaved rows", 0, 0};
  const PetscInt C = POLDER_ICRS_ROWS;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    for (PetscInt longest = 0; longest < 20; longest += 1 + longest / 4) {
      const PetscInt m = Sizes[s], n = m / 2 + 3, nslice = (m + C - 1) / C, ld = m + 5;
      Slices         S    = {m, longest, ld, NULL, NULL, NULL};
      Entries        A    = {m, n, 0, NULL, NULL, NULL};
      const PetscInt room = (ell ? ld : nslice * C) * longest;

      PetscCall(PetscMalloc3(nslice + 1, &S.ptr, room, &S.col, room, &S.val));
      PetscCall(PetscMalloc3(room + 1, &A.i, room + 1, &A.j, room + 1, &A.v));
      for (PetscInt k = 0; k < room; ++k) {
        S.col[k] = Next(n);
        S.val[k] = 0.0;
      }
      S.ptr[0] = 0;
      for (PetscInt t = 0; t < nslice; ++t) {
        const PetscInt width = ell ? longest : Next(longest + 1);

        S.ptr[t + 1] = S.ptr[t] + width;
        for (PetscInt i = t * C; i < PetscMin(m, (t + 1) * C); ++i) {
          const PetscInt len = Next(width + 1);

          for (PetscInt k = 0; k < len; ++k) {
            const PetscInt at = ell ? k * ld + i : C * (S.ptr[t] + k) + i % C;

            S.val[at]   = Number();
            A.i[A.nz]   = i;
            A.j[A.nz]   = S.col[at];
            A.v[A.nz++] = S.val[at];
          }
        }
      }
      PetscCall(Check(&c, &A, ell ? EllMult : IcrsMult, &S));
      PetscCall(PetscFree3(S.ptr, S.col, S.val));
      PetscCall(PetscFree3(A.i, A.j, A.v));
    }
  }
  PetscCall(Report(&c));
  PetscFunctionReturn(0);
}

static void SlicesMult(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  PolderSlicesMult_Host((const PolderSlices *)data, alpha, x, y, z, NULL);
}

/* Rows of random lengths up to longest; row i begins at (*rows)[i] */
static PetscErrorCode RandomRows(PetscInt longest, Entries *A, PetscInt **rows)
{
  PetscInt *ai;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(A->m + 1, &ai));
  ai[0] = 0;
  for (PetscInt i = 0; i < A->m; ++i) ai[i + 1] = ai[i] + Next((Next(20) ? PetscMin(longest, 8) : longest) + 1);
  A->nz = ai[A->m];
  PetscCall(PetscMalloc3(A->nz, &A->i, A->nz, &A->j, A->nz, &A->v));
  for (PetscInt i = 0; i < A->m; ++i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      A->i[k] = i;
      A->j[k] = Next(A->n);
      A->v[k] = Number();
    }
  }
  *rows = ai;
  PetscFunctionReturn(0);
}

/* The arrays of the device's sliced rows, made by the host twins: lengths up to longest, those above cap apart (cap < 0: rows in their order) */
static PetscErrorCode TestSlice(Count *c, PetscInt m, PetscInt n, PetscInt longest, int cap)
{
  PolderSlices        S = {.m = m, .nslice = (int)((m + 31) / 32)};
  Entries             A = {m, n, 0, NULL, NULL, NULL};
  PolderRows          rows;
  PolderLongRowCounts count;
  PetscInt           *ai = NULL;
  int                *row, *ptr, *unit, *base, *which, *first, *owner, *start, *lcol;
  unsigned short     *col;
  PetscScalar        *val, *lval;

  PetscFunctionBeginUser;
  PetscCall(RandomRows(longest, &A, &ai));
  rows = (PolderRows){.n = m, .i = ai, .j = A.j, .a = A.v};
  PetscCall(PetscMalloc3(m, &row, S.nslice + 1, &ptr, S.nslice + 1, &unit));
  PetscCall(PetscMalloc3(m + 1, &count.entry, m + 1, &count.segment, m + 1, &count.row));
  if (cap >= 0) {
    PolderSlicesSort_Host(m, cap, ai, row);
    S.row = row;
  }
  PolderSlicesSize_Host(&S, rows, ptr, unit);
  PolderScan_Host(S.nslice, ptr);
  PolderScan_Host(S.nslice, unit);
  PolderLongRowsCount_Host(m, cap >= 0 ? cap : INT_MAX, ai, count);
  PolderScan_Host(m, count.entry);
  PolderScan_Host(m, count.segment);
  PolderScan_Host(m, count.row);
  S.nseg  = count.segment[m];
  S.nlong = count.row[m];
  PetscCall(PetscMalloc3(ptr[S.nslice], &base, 32 * (size_t)unit[S.nslice], &col, 32 * (size_t)ptr[S.nslice], &val));
  PetscCall(PetscMalloc6(S.nlong, &which, S.nlong + 1, &first, S.nseg, &owner, S.nseg + 1, &start, count.entry[m], &lcol, count.entry[m], &lval));
  S.ptr   = ptr;
  S.unit  = unit;
  S.base  = base;
  S.col   = col;
  S.val   = val;
  S.lrow  = which;
  S.first = first;
  S.owner = owner;
  S.start = start;
  S.lcol  = lcol;
  S.lval  = lval;
  PolderLongRowsMake_Host(m, count, which, first, owner, start);
  PolderSlicesFill_Host(&S, rows, base, col, val);
  PolderLongRowsFill_Host(&S, rows, lcol, lval);
  PetscCall(Check(c, &A, SlicesMult, &S));
  PetscCall(PetscFree(ai));
  PetscCall(PetscFree3(A.i, A.j, A.v));
  PetscCall(PetscFree3(row, ptr, unit));
  PetscCall(PetscFree3(count.entry, count.segment, count.row));
  PetscCall(PetscFree3(base, col, val));
  PetscCall(PetscFree6(which, first, owner, start, lcol, lval));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestSlices(void)
{
  Count c = {"sliced rows of the device", 0, 0};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    const PetscInt m = Sizes[s];

    PetscCall(TestSlice(&c, m, m / 2 + 3, 9, -1));
    PetscCall(TestSlice(&c, m, 100000, 60, 40)); /* 32-bit columns */
    PetscCall(TestSlice(&c, m, 50, m < 100 ? 5000 : 100, 0));
    PetscCall(TestSlice(&c, m, 70000, m < 100 ? 5000 : 100, 9));
  }
  PetscCall(Report(&c));
  PetscFunctionReturn(0);
}

/* What is packed comes back, and what cannot be packed is found */
static PetscErrorCode TestPacked(void)
{
  static const PetscInt sizes[] = {0, 1, 2, 63, 64, 65, 200, 1500}, diagonals[] = {1, 3, 5, 7, 9, 27, 31};
  PetscInt              cases = 0, wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes) * PETSC_STATIC_ARRAY_LENGTH(diagonals) * 2; ++s) {
    const PetscInt  m = sizes[s / 2 % PETSC_STATIC_ARRAY_LENGTH(sizes)], nd = diagonals[s / 2 / PETSC_STATIC_ARRAY_LENGTH(sizes)];
    const PetscBool half = (PetscBool)(s % 2);
    PetscInt       *ai, *aj, found, off[POLDER_PACKED_DIAGONALS];
    PetscScalar    *aa;
    Banded          B;

    PetscCall(BandedCreate(m, nd, half, 64, &B));
    PetscCall(PetscMalloc3(m + 1, &ai, m * nd, &aj, m * nd, &aa));
    wrong += !PolderPackOffsets(m, B.ai, B.aj, &found, off) || found > nd || !BandedPack(&B, PETSC_TRUE);
    PolderUnpackCounts_Host(&B.P, B.packed, ai);
    for (PetscInt i = 0; i < m; ++i) wrong += ai[i] != B.ai[i + 1] - B.ai[i];
    PolderUnpackRows_Host(&B.P, B.packed, B.ai, aj, aa);
    for (PetscInt k = 0; k < B.ai[m]; ++k) wrong += aj[k] != B.aj[k] || aa[k] != B.aa[k];
    for (PetscInt k = B.ai[m] - 1; k > 0 && m > 64; k -= B.ai[m] / 3) { // an entry on no diagonal, and a value that has no mirror image
      const PetscInt    j = B.aj[k];
      const PetscScalar v = B.aa[k];

      B.aj[k] = m + 1000;
      wrong += BandedPack(&B, PETSC_TRUE) || BandedPack(&B, PETSC_FALSE);
      B.aj[k] = j;
      B.aa[k] = v + 1;
      wrong += BandedPack(&B, PETSC_TRUE) != (PetscBool)(!half || (k >= B.ai[j] && k < B.ai[j + 1]));
      B.aa[k] = v;
    }
    PetscCall(PetscFree3(ai, aj, aa));
    PetscCall(BandedDestroy(&B));
    ++cases;
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "packed rows: %" PetscInt_FMT " cases, %" PetscInt_FMT " wrong\n", cases, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PolderCSRNextUnlike() against a comparison row by row: rows of five columns, some of which lack one or have another one */
static PetscErrorCode TestUnlike(void)
{
  static const PetscInt off[] = {-40, -1, 0, 1, 40}, rare[] = {2, 30, 200, 5000};
  PetscInt              ai[1001] = {0}, aj[5 * 1000], cases = 0, wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(rare); ++k) {
    for (PetscInt i = 0; i < 1000; ++i) {
      const PetscInt odd = Next(2 * rare[k]); /* one row in `rare` lacks a column, another one has one more to the east */

      ai[i + 1] = ai[i];
      for (PetscInt d = odd == 0; d < 5; ++d) aj[ai[i + 1]++] = i + off[d] + (odd == 1 && d == 4);
    }
    for (PetscInt i = 0; i < 1000; i += 1 + Next(9)) {
      const PetscInt end  = i + 1 + Next(1000 - i);
      PetscInt       next = i + 1;

      for (; next < end && ai[next + 1] - ai[next] == ai[i + 1] - ai[i]; ++next) {
        PetscInt d = 0;

        while (d < ai[i + 1] - ai[i] && aj[ai[next] + d] - next == aj[ai[i] + d] - i) ++d;
        if (d < ai[i + 1] - ai[i]) break;
      }
      wrong += PolderCSRNextUnlike(ai, aj, i, end) != next;
      ++cases;
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rows like those before: %" PetscInt_FMT " cases, %" PetscInt_FMT " wrong\n", cases, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestDia());
  PetscCall(TestRows(PETSC_FALSE));
  PetscCall(TestRows(PETSC_TRUE));
  PetscCall(TestSlices());
  PetscCall(TestPacked());
  PetscCall(TestUnlike());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     suites: valgrind

TEST*/
