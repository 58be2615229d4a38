/* The preconditioner against its definition, dense. */
#include "rrb.h"
#include "../rrbproblems.h"

/*
  z = M^-1 r from the definition alone: within the set to be eliminated all mutual couplings go to the two diagonals, then the exact Schur complement; dense, T
  is overwritten. half levels: the black nodes of the grid of spacing st, then its r1 nodes
*/
static void DenseApply(PetscInt nx, PetscInt ny, PetscInt levels, PetscReal omega, PetscScalar *T, PetscScalar z[], char done[], PetscInt order[])
{
  const PetscInt N     = nx * ny;
  PetscInt       count = 0, first[64] = {0};

  for (PetscInt i = 0; i < N; ++i) done[i] = 0;
  for (PetscInt h = 0, st = 1; h <= levels; ++h) {
    first[h] = count;
    for (PetscInt i = 0; i < N; ++i) {
      const PetscInt X = (i % nx + 1) / st - 1, Y = (i / nx + 1) / st - 1; /* node of the grid of that spacing */

      if (done[i] || (h < levels && (h % 2 ? X % 2 != 0 : (X + Y) % 2 == 0))) continue;
      order[count++] = i;
      done[i]        = 1;
    }
    if (h % 2) st *= 2;
    if (h == levels) break;
    for (PetscInt a = first[h]; a < count; ++a) {
      for (PetscInt b = first[h]; b < count; ++b) {
        if (a == b) continue;
        T[order[a] * N + order[a]] += omega * T[order[a] * N + order[b]];
        T[order[a] * N + order[b]] = 0;
      }
    }
    for (PetscInt a = first[h]; a < count; ++a) {
      const PetscInt e = order[a];

      for (PetscInt i = 0; i < N; ++i) {
        if (done[i] || T[i * N + e] == 0) continue;
        for (PetscInt j = 0; j < N; ++j) {
          if (!done[j]) T[i * N + j] -= T[i * N + e] * T[e * N + j] / T[e * N + e];
        }
        z[i] -= T[i * N + e] * z[e] / T[e * N + e];
      }
    }
  }
  for (PetscInt a = first[levels]; a < N; ++a) { /* the rest by elimination */
    const PetscInt e = order[a];

    for (PetscInt b = a + 1; b < N; ++b) {
      const PetscInt    i = order[b];
      const PetscScalar f = T[i * N + e] / T[e * N + e];

      for (PetscInt c = a; c < N; ++c) T[i * N + order[c]] -= f * T[e * N + order[c]];
      z[i] -= f * z[e];
    }
  }
  for (PetscInt a = N - 1; a >= 0; --a) {
    const PetscInt e = order[a];

    for (PetscInt b = a + 1; b < N; ++b) z[e] -= T[e * N + order[b]] * z[order[b]];
    z[e] /= T[e * N + e];
  }
}

/* Largest deviation of the PC from the definition, relative to the largest value */
static PetscErrorCode Deviation(const Problem *p, PetscInt levels, PetscReal omega, PetscReal *deviation, PetscInt *used)
{
  const PetscInt     N = p->nx * p->ny;
  Mat                A;
  PC                 pc;
  Vec                r, z;
  PetscScalar       *T, *zz, val[9];
  const PetscScalar *a;
  PetscInt           col[9], *order;
  char              *done;
  PetscReal          largest = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, &A));
  PetscCall(CreatePC(A, p->nx, p->ny, levels, omega, &pc));
  PetscCall(PCSetUp(pc));
  *used = ((PC_RRB *)pc->data)->levels;
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(FillRandom(r, 5));
  PetscCall(PCApply(pc, r, z));
  PetscCall(PetscCalloc4(N * N, &T, N, &zz, N, &done, N, &order));
  for (PetscInt i = 0; i < N; ++i) {
    const PetscInt count = Row(p, i, col, val);

    for (PetscInt k = 0; k < count; ++k) T[i * N + col[k]] = val[k];
  }
  PetscCall(VecGetArrayRead(r, &a));
  PetscCall(PetscArraycpy(zz, a, N));
  PetscCall(VecRestoreArrayRead(r, &a));
  DenseApply(p->nx, p->ny, *used, omega, T, zz, done, order);
  *deviation = 0;
  PetscCall(VecGetArrayRead(z, &a));
  for (PetscInt i = 0; i < N; ++i) {
    largest    = PetscMax(largest, PetscAbsScalar(zz[i]));
    *deviation = PetscMax(*deviation, PetscAbsScalar(zz[i] - a[i]));
  }
  *deviation /= largest;
  PetscCall(VecRestoreArrayRead(z, &a));
  PetscCall(PetscFree4(T, zz, done, order));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestFormula(void)
{
  static const PetscInt sizes[][2] = {
    {7,  7 },
    {8,  8 },
    {15, 15},
    {13, 6 },
    {5,  12},
    {16, 3 },
    {1,  9 },
    {17, 17},
    {2,  2 },
    {3,  1 }
  };
  static const PetscInt    levels[] = {0, 1, 2, 3, 4, 99};
  static const Kind        kinds[]  = {RANDOM5, RANDOM9, DRY};
  static const char *const names[]  = {"5-point", "9-point", "5-point with dry nodes"};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); ++k) {
      const Problem p     = {kinds[k], sizes[s][0], sizes[s][1], 3};
      PetscReal     worst = 0, deviation = 0;
      PetscInt      used = 0;
      char          what[128];

      for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(levels); ++l) {
        for (int o = 0; o < 2; ++o) {
          PetscCall(Deviation(&p, levels[l], o ? 0.7 : 1.0, &deviation, &used));
          if (!(deviation <= worst)) worst = deviation;
        }
      }
      PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT " x %" PetscInt_FMT ", %s, at most %" PetscInt_FMT " half levels, as defined", p.nx, p.ny,
                              names[k], used));
      PetscCall(Report(what, (PetscBool)(worst < 1e-11), worst));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
