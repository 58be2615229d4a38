/* The pressure correction of navierstokes.c */
#include "navierstokes.h"

PetscErrorCode FlowCreatePressure(Flow *f)
{
  MatNullSpace null;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &f->A));
  PetscCall(MatSetSizes(f->A, f->nfluid, f->nfluid, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(f->A));
  PetscCall(MatSeqAIJSetPreallocation(f->A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(f->A, 7, NULL, 6, NULL));
  PetscCall(MatSetOption(f->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(f->A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &null));
  PetscCall(MatSetNullSpace(f->A, null));
  PetscCall(MatNullSpaceDestroy(&null));
  PetscCall(MatCreateVecs(f->A, &f->q, NULL));
  PetscCall(VecSetFromOptions(f->q));
  PetscCall(VecDuplicate(f->q, &f->b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &f->ksp));
  PetscCall(KSPSetType(f->ksp, KSPCG));
  PetscCall(KSPSetNormType(f->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(f->ksp, 1e-2, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
  PetscCall(KSPSetFromOptions(f->ksp));
  PetscFunctionReturn(0);
}

/* Net mass flux into a cell */
static inline PetscReal Imbalance(const Flow *f, const PetscScalar x[], PetscInt l, const PetscInt c[3])
{
  PetscReal sum = 0.0;

  for (int d = 0; d < f->dim; ++d) sum += Area(f, c, d) * (x[4 * l + d] - x[4 * (l + f->s[d]) + d]);
  return sum;
}

/* Sum of the absolute imbalances over the inflow or, under the lid, over the area of the lid */
PetscErrorCode FlowContinuity(const Flow *f, PetscReal *sum)
{
  const PetscScalar *cell, *x;
  PetscInt           c[3];

  PetscFunctionBegin;
  *sum = 0.0;
  PetscCall(VecGetArrayRead(f->cell, &cell));
  PetscCall(VecGetArrayRead(f->x, &x));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l = Place(f, n, c);

    if (cell[l] >= 0.0) *sum += PetscAbsReal(Imbalance(f, x, l, c));
  }
  PetscCall(VecRestoreArrayRead(f->x, &x));
  PetscCall(VecRestoreArrayRead(f->cell, &cell));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sum, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *sum /= f->type == FLOW_CHANNEL ? f->inflow : f->length[0] * f->length[2];
  PetscFunctionReturn(0);
}

PetscErrorCode FlowFillPressure(Flow *f)
{
  const PetscScalar *cell, *x, *g;
  PetscScalar       *b;
  PetscInt           c[3];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(f->cell, &cell));
  PetscCall(VecGetArrayRead(f->x, &x));
  PetscCall(VecGetArrayRead(f->g, &g));
  PetscCall(VecGetArrayWrite(f->b, &b));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l = Place(f, n, c);
    PetscInt       col[7], row, k = 1;
    PetscScalar    v[7] = {0.0};

    if (cell[l] < 0.0) continue;
    col[0] = row = (PetscInt)cell[l];
    for (int e = 0; e < 2 * f->dim; ++e) {
      const int      d = e / 2;
      const PetscInt m = e % 2 ? l + f->s[d] : l - f->s[d];

      if (cell[m] < 0.0) continue;
      col[k] = (PetscInt)cell[m];
      v[k]   = -Area(f, c, d) * g[4 * (e % 2 ? m : l) + d];
      v[0] -= v[k++];
    }
    PetscCall(MatSetValues(f->A, 1, &row, k, col, v, INSERT_VALUES));
    b[row - f->first] = Imbalance(f, x, l, c);
  }
  PetscCall(VecRestoreArrayWrite(f->b, &b));
  PetscCall(VecRestoreArrayRead(f->g, &g));
  PetscCall(VecRestoreArrayRead(f->x, &x));
  PetscCall(VecRestoreArrayRead(f->cell, &cell));
  PetscCall(MatAssemblyBegin(f->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(f->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode FlowSolvePressure(Flow *f)
{
  PetscLogDouble     t[3];
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KSPSetOperators(f->ksp, f->A, f->A));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&t[0]));
  PetscCall(KSPSetUp(f->ksp));
  PetscCall(KSPSetUpOnBlocks(f->ksp));
  PetscCall(PetscTime(&t[1]));
  PetscCall(KSPSolve(f->ksp, f->b, f->q));
  PetscCall(PetscTime(&t[2]));
  f->setup += t[1] - t[0];
  f->solve += t[2] - t[1];
  PetscCall(KSPGetConvergedReason(f->ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "The pressure system was not solved: %s", KSPConvergedReasons[reason]);
  PetscCall(KSPGetIterationNumber(f->ksp, &its));
  f->its[0] = PetscMin(f->its[0], its);
  f->its[1] += its;
  f->its[2] = PetscMax(f->its[2], its);
  PetscFunctionReturn(0);
}

/* Copies q into the fourth component of g, and corrects velocity and pressure with it */
PetscErrorCode FlowCorrect(Flow *f)
{
  const PetscScalar *cell, *q;
  PetscScalar       *x, *g;
  PetscInt           c[3];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(f->cell, &cell));
  PetscCall(VecGetArrayRead(f->q, &q));
  PetscCall(VecGetArray(f->g, &g));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l = Place(f, n, c);

    if (cell[l] >= 0.0) g[4 * l + 3] = q[(PetscInt)cell[l] - f->first];
  }
  PetscCall(VecRestoreArray(f->g, &g));
  PetscCall(VecRestoreArrayRead(f->q, &q));
  PetscCall(FlowExchange(f->dm, f->g));
  PetscCall(VecGetArray(f->g, &g));
  PetscCall(VecGetArray(f->x, &x));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l = Place(f, n, c);

    for (int d = 0; d < f->dim; ++d) {
      if (Open(f, cell, l, d)) x[4 * l + d] += g[4 * l + d] * (g[4 * (l - f->s[d]) + 3] - g[4 * l + 3]);
    }
    x[4 * l + 3] += f->prelax * g[4 * l + 3];
  }
  PetscCall(VecRestoreArray(f->x, &x));
  PetscCall(VecRestoreArray(f->g, &g));
  PetscCall(VecRestoreArrayRead(f->cell, &cell));
  PetscCall(FlowExchange(f->dm, f->x));
  PetscFunctionReturn(0);
}
