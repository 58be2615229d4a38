static char
  help[] = "Inner products, norms and linear combinations of vectors that belong to a matrix, and of their duplicates, beside sums over their values:\n"
           "at once and begun before others end, on the host and back; values that are tiny, huge or not numbers.\n\n";

#include "core/compat.h"
#include "graphs.h"
#include <math.h>
#include <petsc/private/vecimpl.h>
#include <petscmat.h>
#include <polder.h>

#define MOST 65

/* (x, y), from the values */
static PetscErrorCode Sum(Vec x, Vec y, PetscReal *sum)
{
  const PetscScalar *xa, *ya;
  PetscInt           m;

  PetscFunctionBeginUser;
  *sum = 0;
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < m; ++i) *sum += xa[i] * ya[i];
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is not a number is worse than all else */
static void Worse(PetscReal *worst, PetscReal difference)
{
  if (!(difference <= *worst)) *worst = PetscIsNanReal(difference) ? PETSC_MAX_REAL : difference;
}

/* The worst difference of products of x with n vectors from the sums over values, relative to the norms; how: at once, begun before others end, VecMTDot() */
static PetscErrorCode Products(PetscInt n, Vec x, Vec y[], int how, PetscReal *worst)
{
  PetscScalar dots[MOST], others[MOST];
  PetscReal   xx, yy, dot;

  PetscFunctionBeginUser;
  if (how == 0) PetscCall(VecMDot(x, n, y, dots));
  else if (how == 1) {
    PetscCall(VecMDotBegin(x, n, y, dots));
    PetscCall(VecMDotBegin(y[0], n, y, others));
    PetscCall(VecMDotEnd(x, n, y, dots));
    PetscCall(VecMDotEnd(y[0], n, y, others));
  } else PetscCall(VecMTDot(x, n, y, dots));
  PetscCall(Sum(x, x, &xx));
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(Sum(x, y[k], &dot));
    PetscCall(Sum(y[k], y[k], &yy));
    Worse(worst, PetscAbsScalar(dots[k] - dot) / PetscSqrtReal(xx * yy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecDot(), VecTDot(), VecDotNorm2() and VecNorm() */
static PetscErrorCode Pairs(Vec x, Vec y, PetscReal *worst)
{
  const NormType types[] = {NORM_1, NORM_2, NORM_FROBENIUS, NORM_INFINITY, NORM_1_AND_2};
  PetscScalar    dot, tdot, ts;
  PetscReal      xx, yy, xy, tt, one, most, norm[2];
  Vec            w, ones;

  PetscFunctionBeginUser;
  PetscCall(Sum(x, x, &xx));
  PetscCall(Sum(y, y, &yy));
  PetscCall(Sum(x, y, &xy));
  PetscCall(VecDot(x, y, &dot));
  PetscCall(VecTDot(x, y, &tdot));
  PetscCall(VecDotNorm2(x, y, &ts, &tt));
  Worse(worst, (PetscAbsScalar(dot - xy) + PetscAbsScalar(tdot - xy) + PetscAbsScalar(ts - xy)) / PetscSqrtReal(xx * yy));
  Worse(worst, PetscAbsReal(tt - yy) / yy);
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicate(x, &ones));
  PetscCall(VecSet(ones, 1));
  PetscCall(VecCopy(x, w));
  PetscCall(VecAbs(w));
  PetscCall(Sum(w, ones, &one));
  PetscCall(VecMax(w, NULL, &most));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); ++t) {
    const PetscReal expected[] = {types[t] == NORM_INFINITY                        ? most
                                  : types[t] == NORM_1 || types[t] == NORM_1_AND_2 ? one
                                                                                   : PetscSqrtReal(xx),
                                  PetscSqrtReal(xx)};

    PetscCall(PetscObjectStateIncrease((PetscObject)x)); // no norm that is known already
    PetscCall(VecNorm(x, types[t], norm));
    for (int k = 0; k < (types[t] == NORM_1_AND_2 ? 2 : 1); ++k) Worse(worst, PetscAbsReal(norm[k] - expected[k]) / expected[k]);
  }
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&ones));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ||z - sum of a[k] v[k]|| over the sum of the norms of all of them, by VecAXPY() into z */
static PetscErrorCode Left(Vec z, PetscInt n, const PetscScalar a[], const Vec v[], PetscReal *worst)
{
  PetscReal all = 0, square;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(Sum(v[k], v[k], &square));
    all += PetscAbsScalar(a[k]) * PetscSqrtReal(square);
    PetscCall(VecAXPY(z, -a[k], v[k]));
  }
  PetscCall(Sum(z, z, &square));
  Worse(worst, square == 0 ? 0 : PetscSqrtReal(square) / all);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Combinations of x with n vectors, then of two and three vectors */
static PetscErrorCode Combinations(PetscInt n, Vec x, Vec y[], PetscReal *worst)
{
  PetscScalar a[MOST + 1];
  Vec         z, v[MOST + 1];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k <= n; ++k) {
    v[k] = k ? y[k - 1] : x;
    a[k] = !k ? 1 : k % 5 == 3 ? 0 : 1.0 / k - 0.3;
  }
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecCopy(x, z));
  PetscCall(VecMAXPY(z, n, a + 1, y));
  PetscCall(Left(z, n + 1, a, v, worst));
  PetscCall(VecSet(z, NAN));
  PetscCall(VecWAXPY(z, 0.7, x, y[0]));
  PetscCall(Left(z, 2, (const PetscScalar[]){0.7, 1}, v, worst));
  PetscCall(VecCopy(y[0], z));
  PetscCall(VecAYPX(z, -1.3, x));
  PetscCall(Left(z, 2, (const PetscScalar[]){1, -1.3}, v, worst));
  PetscCall(VecCopy(y[0], z));
  PetscCall(VecAXPBY(z, 0.6, 1.7, x));
  PetscCall(Left(z, 2, (const PetscScalar[]){0.6, 1.7}, v, worst));
  PetscCall(VecSet(z, NAN));
  PetscCall(VecAXPBY(z, 0.6, 0, x));
  PetscCall(Left(z, 1, (const PetscScalar[]){0.6}, v, worst));
  PetscCall(VecCopy(y[n - 1], z));
  PetscCall(VecAXPBYPCZ(z, 0.4, -2.2, 0.9, x, y[0]));
  PetscCall(Left(z, 3, (const PetscScalar[]){0.4, -2.2, 0.9}, (const Vec[]){x, y[0], y[n - 1]}, worst));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where PETSc knows the type, its vectors and their duplicates have the operations of those of a matrix */
static PetscErrorCode TypeIsRight(Vec like, PetscBool *right)
{
  PetscErrorCode (*create)(Vec);
  PetscInt n, N;
  VecType  type, expected;
  Vec      v, w;

  PetscFunctionBeginUser;
  PetscCall(PetscFunctionListFind(VecList, VECPOLDERCUDA, &create));
  if (!create) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(like, &n));
  PetscCall(VecGetSize(like, &N));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &v));
  PetscCall(VecSetSizes(v, n, N));
  PetscCall(VecSetType(v, VECPOLDERCUDA));
  PetscCall(VecDuplicate(v, &w));
  PetscCall(VecGetType(like, &expected));
  PetscCall(VecGetType(v, &type));
  *right = (PetscBool)(*right && !strcmp(type, expected) && v->ops->norm == like->ops->norm && w->ops->maxpy == like->ops->maxpy);
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  PRODUCTS,
  PAIRS,
  COMBINATIONS,
  KINDS
} Kind;
typedef enum {
  MADE,
  BOUND,
  BACK,
  STAGES
} Stage;

/* All of them, for x with the first n vectors. Of vectors that come back to the device, with PETSc's operations, no combinations: its VecMAXPY() of n
   values there uses only the first n coefficients of each eight (3.24) */
static PetscErrorCode Measure(PetscInt n, Vec x, Vec y[], Stage stage, PetscReal worst[KINDS])
{
  PetscFunctionBeginUser;
  for (int how = 0; how < 3; ++how) PetscCall(Products(n, x, y, how, &worst[PRODUCTS]));
  PetscCall(Pairs(x, y[n - 1], &worst[PAIRS]));
  if (stage != BACK) PetscCall(Combinations(n, x, y, &worst[COMBINATIONS]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of a matrix with m rows on this process */
static PetscErrorCode Test(PetscInt m, PetscRandom random, PetscReal worst[STAGES][KINDS])
{
  static const PetscInt counts[] = {1, 2, 7, 15, 16, 17, 32, 33, 64, MOST};
  Mat                   A;
  Vec                   x, *y;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(m, PETSC_DETERMINE, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecDuplicateVecs(x, MOST, &y));
  PetscCall(VecSetRandom(x, random));
  for (int k = 0; k < MOST; ++k) PetscCall(VecSetRandom(y[k], random));
  PetscCall(VecCopy(x, y[4]));
  for (int stage = MADE; stage < STAGES; ++stage) {
    if (stage != MADE) PetscCall(VecBindToCPU(x, (PetscBool)(stage == BOUND)));
    for (int k = 0; k < MOST && stage != MADE; ++k) PetscCall(VecBindToCPU(y[k], (PetscBool)(stage == BOUND)));
    for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(counts); ++c) PetscCall(Measure(counts[c], x, y, (Stage)stage, worst[stage]));
  }
  PetscCall(VecDestroyVecs(MOST, &y));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Norms and products of nine equal values a process, which cannot all be squared, or are not numbers, beside PETSc's for a vector of that type */
static PetscErrorCode Extremes(PetscBool *right)
{
  const PetscScalar values[] = {0, 1e-170, 1e-308, 1e-140, 1e150, 1e170, INFINITY, NAN};
  VecType           type;
  Mat               A;
  Vec               x, y;

  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(9, PETSC_DETERMINE, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(TypeIsRight(x, right));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &y));
  PetscCall(VecSetSizes(y, 9, PETSC_DETERMINE));
  PetscCall(VecGetType(x, &type));
  PetscCall(VecSetType(y, type));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(values); ++v) {
    PetscReal   norm, expected;
    PetscScalar dot;

    PetscCall(VecSet(x, values[v]));
    PetscCall(VecSet(y, values[v]));
    PetscCall(PetscObjectStateIncrease((PetscObject)x)); // VecSet() knows the norm
    PetscCall(PetscObjectStateIncrease((PetscObject)y));
    PetscCall(VecDot(x, x, &dot));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(VecNorm(y, NORM_2, &expected));
    if (PetscIsNanScalar(values[v]) == PetscIsNanScalar(dot) && PetscIsNanReal(norm) == PetscIsNanReal(expected) &&
        PetscIsInfReal(norm) == PetscIsInfReal(expected) && (PetscIsInfOrNanReal(norm) || PetscAbsReal(norm - expected) <= 1e-14 * expected))
      continue;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  of %g: %g instead of %g\n", (double)values[v], (double)norm, (double)expected));
    *right = PETSC_FALSE;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const kinds[] = {"products", "pairs", "combinations"}, *const stages[] = {"as made", "bound to the host", "back"};
  const PetscInt sizes[] = {1, 257, 10007};
  PetscRandom    random;
  PetscMPIInt    rank;
  PetscReal      worst[STAGES][KINDS] = {{0}};
  PetscBool      right                = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    PetscCall(Test(sizes[s] + rank, random, worst));
    PetscCall(Test(rank == 1 ? 0 : sizes[s], random, worst)); // the second process has no rows
  }
  PetscCall(Extremes(&right));
  for (int k = 0; k < KINDS; ++k) {
    for (int stage = MADE; stage < STAGES; ++stage) {
      if (worst[stage][k] >= 1e-13)
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: WRONG, a difference of %.3e\n", kinds[k], stages[stage], (double)worst[stage][k]));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s done\n", kinds[k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "extremes and the type %s\n", right ? "ok" : "WRONG"));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     args: -mat_type {{aijdia aijicrs aijhec}}
     nsize: {{1 2 3}}

TEST*/
