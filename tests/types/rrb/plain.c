/* The preconditioner against a plain implementation. */
#include "rrb.h"
#include "plain.h"
#include "../rrbproblems.h"
#include <petsctime.h>

static void PlainFill(const Problem *p, Plain *plain)
{
  PetscInt    col[9];
  PetscScalar val[9];

  for (PetscInt i = 0; i < p->nx * p->ny; ++i) {
    const PetscInt count = Row(p, i, col, val);

    for (PetscInt k = 0; k < count; ++k) plain->c[(col[k] / p->nx - i / p->nx + 1) * 3 + col[k] % p->nx - i % p->nx + 1][i] = val[k];
  }
}

/* A problem with so many half levels; with time, seconds of both */
static PetscErrorCode ComparePlain(const Problem *p, PetscInt levels, PetscBool time)
{
  const PetscInt     repeat = time ? 20 : 1;
  Mat                A;
  PC                 pc;
  PC_RRB            *rrb;
  Vec                r, z, y;
  Plain              plain;
  PetscScalar       *zz;
  const PetscScalar *rr;
  PetscReal          norm, diff;
  PetscLogDouble     t[5];
  char               what[128];

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, &A));
  PetscCall(CreatePC(A, 0, 0, levels, 1, &pc));
  PetscCall(PetscTime(&t[0]));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscTime(&t[1]));
  rrb = (PC_RRB *)pc->data;
  PetscCall(PlainCreate(p->nx, p->ny, rrb->levels, &plain));
  PlainFill(p, &plain);
  PlainFactor(&plain);
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(VecDuplicate(z, &y));
  PetscCall(FillRandom(r, 9));
  PetscCall(VecGetArrayRead(r, &rr));
  PetscCall(VecGetArray(y, &zz));
  PetscCall(PetscTime(&t[2]));
  for (PetscInt k = 0; k < repeat; ++k) {
    PlainForward(&plain, rr);
    PetscCall(PlainRest(&plain, rrb));
    PlainBackward(&plain, zz);
  }
  PetscCall(PetscTime(&t[3]));
  PetscCall(VecRestoreArrayRead(r, &rr));
  PetscCall(VecRestoreArray(y, &zz));
  for (PetscInt k = 0; k < repeat; ++k) PetscCall(PCApply(pc, r, z));
  PetscCall(PetscTime(&t[4]));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &diff));
  PetscCall(
    PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " half levels, as the plain code", p->nx, p->ny, rrb->levels));
  PetscCall(Report(what, (PetscBool)(diff <= 1e-11 * norm), diff / norm));
  if (time)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set-up %.4f s, apply %.5f s, plain %.5f s\n", t[1] - t[0], (t[4] - t[3]) / repeat, (t[3] - t[2]) / repeat));
  PetscCall(PlainDestroy(&plain));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plain implementation in natural order on grids too large for dense matrices; with -time, seconds of both */
PetscErrorCode TestPlain(void)
{
  static const PetscInt sizes[][3] = {
    {101, 67,  4 },
    {64,  128, 5 },
    {255, 255, 10},
    {97,  130, 99}
  };
  PetscInt n = 0, nsize = PETSC_STATIC_ARRAY_LENGTH(sizes);

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-time", &n, NULL));
  if (n) nsize = 1;
  for (PetscInt s = 0; s < nsize; ++s) {
    const Problem p = {n ? RANDOM5 : s % 2 ? RANDOM9 : RANDOM5, n ? n : sizes[s][0], n ? n : sizes[s][1], 1};

    PetscCall(ComparePlain(&p, n ? PETSC_DECIDE : sizes[s][2], (PetscBool)(n > 0)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
