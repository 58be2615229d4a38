/* Products and residuals from the rows of a plain aij matrix, in long double, with what rounding may add to them */
#include "fuzz.h"

typedef struct {
  PetscInt     n;
  long double *y, *a; /* T x and |T||x|, whole on each process */
  PetscInt     longest;
} Sums;

/* A sequential block of a matrix: its first row, and its first column or the global numbers of its columns */
typedef struct {
  Mat             B;
  PetscInt        first, firstcol;
  const PetscInt *global;
} Block;

static PetscErrorCode Create(PetscInt n, Sums *s)
{
  PetscFunctionBegin;
  s->n       = n;
  s->longest = 0;
  PetscCall(PetscMalloc2(n, &s->y, n, &s->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the part of a block */
static PetscErrorCode MultiplyBlock(Block block, PetscBool transpose, const long double x[], const long double ax[], Sums *s, PetscInt *longest)
{
  const PetscInt *global = block.global;
  PetscInt        m;

  PetscFunctionBegin;
  PetscCall(MatGetSize(block.B, &m, NULL));
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt    *col;
    const PetscScalar *val;
    PetscInt           n;

    PetscCall(MatGetRow(block.B, i, &n, &col, &val));
    *longest = PetscMax(*longest, n);
    for (PetscInt k = 0; k < n; ++k) {
      const PetscInt j = global ? global[col[k]] : col[k] + block.firstcol, to = transpose ? j : i + block.first, from = transpose ? i + block.first : j;

      s->y[to] += (long double)val[k] * x[from];
      s->a[to] += fabsl((long double)val[k]) * ax[from];
    }
    PetscCall(MatRestoreRow(block.B, i, &n, &col, &val));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks one by one: PETSc's MatGetRow() of a parallel matrix keeps buffers for the longest row of the first pattern */
static PetscErrorCode Multiply(Fuzz *f, Mat T, PetscBool transpose, const long double x[], const long double ax[], Sums *s)
{
  PetscInt        start, startcol, longest = 0;
  const PetscInt *global;
  PetscBool       parallel;
  Mat             own, others;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < s->n; ++i) s->y[i] = s->a[i] = 0;
  PetscCall(PetscObjectTypeCompare((PetscObject)T, MATMPIAIJ, &parallel));
  PetscCall(MatGetOwnershipRange(T, &start, NULL));
  PetscCall(MatGetOwnershipRangeColumn(T, &startcol, NULL));
  if (parallel) {
    PetscCall(MatMPIAIJGetSeqAIJ(T, &own, &others, &global));
    PetscCall(MultiplyBlock((Block){.B = own, .first = start, .firstcol = startcol}, transpose, x, ax, s, &longest));
    PetscCall(MultiplyBlock((Block){.B = others, .first = start, .global = global}, transpose, x, ax, s, &longest));
    longest *= 2;
  } else PetscCall(MultiplyBlock((Block){.B = T, .first = start, .firstcol = startcol}, transpose, x, ax, s, &longest));
  if (transpose) longest = s->n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->y, (PetscMPIInt)s->n, MPI_LONG_DOUBLE, MPI_SUM, f->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->a, (PetscMPIInt)s->n, MPI_LONG_DOUBLE, MPI_SUM, f->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPIU_INT, MPI_MAX, f->comm));
  s->longest += longest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector, whole on each process */
static PetscErrorCode Gather(Fuzz *f, Vec v, Sums *s)
{
  const PetscScalar *a;
  PetscInt           n, start, end;

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &n));
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(Create(n, s));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = 0; i < n; ++i) s->y[i] = i >= start && i < end ? (long double)a[i - start] : 0;
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->y, (PetscMPIInt)n, MPI_LONG_DOUBLE, MPI_SUM, f->comm));
  for (PetscInt i = 0; i < n; ++i) s->a[i] = fabsl(s->y[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free(Sums *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(s->y, s->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how 0: in (-1, 1), 1: constant, 2: mostly zeros, 3: of all sizes */
PetscErrorCode FuzzVecFill(Vec v, uint64_t seed, PetscInt how)
{
  PetscScalar *a;
  PetscInt     start, end;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = start; i < end; ++i) {
    const uint64_t  h = FuzzHash(seed, (uint64_t)i, 3);
    const PetscReal u = 2 * FuzzUnit(h) - 1;

    a[i - start] = how == 0 ? u : how == 1 ? 1 : how == 2 ? (h % 16 ? 0 : u) : u * PetscPowReal(10, 12 * (FuzzUnit(FuzzMix(h)) - 0.5));
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is y what s says? factor: roundings more than those of one product */
static PetscErrorCode Compare(Fuzz *f, Vec y, const Sums *s, PetscReal factor, const char *what, const char *which)
{
  const PetscScalar *a;
  PetscInt           start, end;
  struct {
    double excess;
    int    rank;
  } worst        = {0, f->rank};
  PetscInt place = -1;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(y, &start, &end));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt i = start; i < end; ++i) {
    const long double allowed = (long double)(factor * PETSC_MACHINE_EPSILON) * (long double)(s->longest + 10) * s->a[i] + 1e-290L;
    const long double excess  = fabsl((long double)a[i - start] - s->y[i]) / allowed;

    if (!(s->a[i] < 1e300L)) continue; /* an overflow is nobody's fault */
    if (!(excess <= 1e30L) || (double)excess > worst.excess) {
      worst.excess = excess <= 1e30L ? (double)excess : 1e30;
      place        = i;
    }
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, f->comm));
  PetscCallMPI(MPI_Bcast(&place, 1, MPIU_INT, worst.rank, f->comm));
  ++f->products;
  if (worst.excess > 1) {
    double value[2] = {0, 0};

    if (worst.rank == f->rank) {
      PetscCall(VecGetArrayRead(y, &a));
      value[0] = a[place - start];
      value[1] = (double)s->y[place];
      PetscCall(VecRestoreArrayRead(y, &a));
    }
    PetscCallMPI(MPI_Bcast(value, 2, MPI_DOUBLE, worst.rank, f->comm));
    FuzzWrong(f, "%s, %s: entry %" PetscInt_FMT " is %.17g and not %.17g, %.3g times what rounding allows", what, which, place, value[0], value[1],
              worst.excess);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y <- A x, y + A x or b - A x, with A or its transpose */
static PetscErrorCode OneProduct(Fuzz *f, Mat A, Mat T, PetscInt kind, const char *what)
{
  static const char *const names[]   = {"MatMult", "MatMultTranspose", "MatMultAdd", "MatMultTransposeAdd", "MatMultAdd in place", "MatResidual"};
  const PetscBool          transpose = (PetscBool)(kind == 1 || kind == 3);
  Vec                      x, y, z;
  Sums                     sx, sy, sz = {0, NULL, NULL, 0};
  PetscInt                 m, n;

  PetscFunctionBegin;
  PetscCall(transpose ? MatCreateVecs(A, &y, &x) : MatCreateVecs(A, &x, &y));
  PetscCall(FuzzVecFill(x, FuzzNext(f), FuzzInt(f, 4)));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(FuzzVecFill(z, FuzzNext(f), FuzzInt(f, 4)));
  if (kind == 4) PetscCall(VecCopy(z, y));
  else PetscCall(FuzzVecFill(y, FuzzNext(f), 0));
  PetscCall(MatGetSize(T, &m, &n));
  PetscCall(Gather(f, x, &sx));
  PetscCall(Create(transpose ? n : m, &sy));
  PetscCall(Multiply(f, T, transpose, sx.y, sx.a, &sy));
  if (kind >= 2) {
    PetscCall(Gather(f, z, &sz));
    for (PetscInt i = 0; i < sy.n; ++i) {
      sy.y[i] = sz.y[i] + (kind == 5 ? -sy.y[i] : sy.y[i]);
      sy.a[i] += sz.a[i];
    }
  }
  switch (kind) {
  case 0:
    PetscCall(MatMult(A, x, y));
    break;
  case 1:
    PetscCall(MatMultTranspose(A, x, y));
    break;
  case 2:
    PetscCall(MatMultAdd(A, x, z, y));
    break;
  case 3:
    PetscCall(MatMultTransposeAdd(A, x, z, y));
    break;
  case 4:
    PetscCall(MatMultAdd(A, x, y, y));
    break;
  default:
    PetscCall(MatResidual(A, z, x, y));
    break;
  }
  PetscCall(Compare(f, y, &sy, 2, what, names[kind]));
  PetscCall(Free(&sx));
  PetscCall(Free(&sy));
  PetscCall(Free(&sz));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OtherNumbers(Fuzz *f, Mat A, Mat T, const char *what)
{
  PetscReal a, t;
  Vec       va, vt;
  PetscInt  m, n;
  Sums      s;

  PetscFunctionBegin;
  PetscCall(MatNorm(A, NORM_FROBENIUS, &a));
  PetscCall(MatNorm(T, NORM_FROBENIUS, &t));
  if (PetscAbsReal(a - t) > 1e-10 * t && t < 1e150 && t > 1e-150) FuzzWrong(f, "%s: norm %.17g and not %.17g", what, (double)a, (double)t);
  PetscCall(MatGetSize(T, &m, &n));
  if (m != n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, NULL, &va));
  PetscCall(MatCreateVecs(T, NULL, &vt));
  PetscCall(MatGetDiagonal(A, va));
  PetscCall(MatGetDiagonal(T, vt));
  PetscCall(Gather(f, vt, &s));
  PetscCall(Compare(f, va, &s, 1, what, "MatGetDiagonal"));
  PetscCall(Free(&s));
  PetscCall(VecDestroy(&va));
  PetscCall(VecDestroy(&vt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some products of A against the rows of T */
PetscErrorCode FuzzCheckProducts(Fuzz *f, Mat A, Mat T, const char *what)
{
  const PetscInt n = FuzzBetween(f, 1, 3);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && !f->wrong; ++k) PetscCall(OneProduct(f, A, T, FuzzChance(f, 50) ? 0 : FuzzInt(f, 6), what));
  if (!f->wrong && FuzzChance(f, 20)) PetscCall(OtherNumbers(f, A, T, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = T T, or T^T T */
PetscErrorCode FuzzCheckTwice(Fuzz *f, Mat C, Mat T, PetscBool first, const char *what)
{
  Vec      x, y;
  Sums     sx, s1, s2;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(T, &n, NULL));
  PetscCall(MatCreateVecs(C, &x, &y));
  PetscCall(FuzzVecFill(x, FuzzNext(f), 0));
  PetscCall(Gather(f, x, &sx));
  PetscCall(Create(n, &s1));
  PetscCall(Create(n, &s2));
  PetscCall(Multiply(f, T, PETSC_FALSE, sx.y, sx.a, &s1));
  PetscCall(Multiply(f, T, first, s1.y, s1.a, &s2));
  s2.longest += s1.longest;
  PetscCall(MatMult(C, x, y));
  PetscCall(Compare(f, y, &s2, 2, what, "MatMult of a product"));
  PetscCall(Free(&sx));
  PetscCall(Free(&s1));
  PetscCall(Free(&s2));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- b - T x, bound <- eps (|T||x| + |b|) */
PetscErrorCode FuzzResidual(Fuzz *f, Mat T, PetscBool transpose, Vec b, Vec x, Vec r, Vec bound)
{
  Sums         sx, sb, sy;
  PetscScalar *ar, *ab;
  PetscInt     start, end;

  PetscFunctionBegin;
  PetscCall(Gather(f, x, &sx));
  PetscCall(Gather(f, b, &sb));
  PetscCall(Create(sb.n, &sy));
  PetscCall(Multiply(f, T, transpose, sx.y, sx.a, &sy));
  PetscCall(VecGetOwnershipRange(r, &start, &end));
  PetscCall(VecGetArrayWrite(r, &ar));
  PetscCall(VecGetArrayWrite(bound, &ab));
  for (PetscInt i = start; i < end; ++i) {
    ar[i - start] = (PetscScalar)(sb.y[i] - sy.y[i]);
    ab[i - start] = PETSC_MACHINE_EPSILON * (PetscScalar)(sb.a[i] + sy.a[i]);
  }
  PetscCall(VecRestoreArrayWrite(r, &ar));
  PetscCall(VecRestoreArrayWrite(bound, &ab));
  PetscCall(Free(&sx));
  PetscCall(Free(&sb));
  PetscCall(Free(&sy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
