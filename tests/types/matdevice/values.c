/* The matrix of matdevice.c, its values in coordinates on the device, and comparisons. */
#include "matdevice.h"

#if defined(PETSC_HAVE_CUDA)

PetscErrorCode Check(Test *t, const char *what, PetscBool ok)
{
  int bad = !ok;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  ++t->compared;
  if (!bad) PetscFunctionReturn(PETSC_SUCCESS);
  ++t->wrong;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: wrong\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Same(Test *t, const char *what, Vec u, Vec v)
{
  PetscReal diff, norm;
  Vec       a, b;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &a));
  PetscCall(VecSetSizes(a, u->map->n, u->map->N));
  PetscCall(VecSetType(a, VECSTANDARD));
  PetscCall(VecDuplicate(a, &b));
  PetscCall(VecCopy(u, a));
  PetscCall(VecCopy(v, b));
  PetscCall(VecNorm(a, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(b, -1.0, a));
  PetscCall(VecNorm(b, NORM_INFINITY, &diff));
  PetscCall(Check(t, what, (PetscBool)(diff <= 1e-13 * (1.0 + norm))));
  PetscCall(VecDestroy(&a));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B x, with vectors of the given type, must be A x */
PetscErrorCode SameProduct(Test *t, const char *what, Mat A, Mat B, VecType xtype, VecType ytype)
{
  Vec xa, ya, x, y;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &xa));
  PetscCall(VecSetSizes(xa, A->cmap->n, A->cmap->N));
  PetscCall(VecSetType(xa, VECSTANDARD));
  PetscCall(VecDuplicate(xa, &ya));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, A->cmap->n, A->cmap->N));
  PetscCall(VecSetType(x, xtype));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &y));
  PetscCall(VecSetSizes(y, A->cmap->n, A->cmap->N));
  PetscCall(VecSetType(y, ytype));
  PetscCall(VecSetRandom(xa, NULL));
  PetscCall(VecCopy(xa, x));
  PetscCall(MatMult(A, xa, ya));
  PetscCall(VecSet(y, NAN));
  PetscCall(MatMult(B, x, y));
  PetscCall(Same(t, what, ya, y));
  PetscCall(MatMultTranspose(A, xa, ya));
  PetscCall(MatMultTranspose(B, x, y));
  PetscCall(Same(t, what, ya, y));
  PetscCall(VecDestroy(&xa));
  PetscCall(VecDestroy(&ya));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Preallocate(Test *t, Mat B)
{
  PetscInt *i, *j;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(t->ncoo, &i, t->ncoo, &j));
  PetscCall(PetscArraycpy(i, t->i, t->ncoo));
  PetscCall(PetscArraycpy(j, t->j, t->ncoo));
  PetscCall(MatSetPreallocationCOO(B, t->ncoo, i, j));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coordinates of a 5-point stencil: the diagonal in two parts, one value that counts for nothing; shift: other columns; plain: each entry
   once, and in the order of the rows */
PetscErrorCode Coordinates(Test *t, PetscInt shift, PetscBool plain)
{
  const PetscInt n = t->n, N = n * n;
  PetscMPIInt    rank, size;
  PetscInt       m = PETSC_DECIDE, M = N, rstart, rend, k = 0;
  PetscScalar   *v, *a;
  PetscLayout    map;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (t->empty && size > 1) m = rank == 1 ? 0 : (rank == 0 ? N - (size - 2) : 1);
  PetscCall(PetscLayoutCreate(PETSC_COMM_WORLD, &map));
  PetscCall(PetscLayoutSetSize(map, M));
  PetscCall(PetscLayoutSetLocalSize(map, m));
  PetscCall(PetscLayoutSetUp(map));
  PetscCall(PetscLayoutGetRange(map, &rstart, &rend));
  PetscCall(PetscLayoutDestroy(&map));
  PetscCall(PetscFree2(t->i, t->j));
  PetscCall(VecDestroy(&t->v));
  PetscCall(MatDestroy(&t->A));
  PetscCall(PetscMalloc2(8 * (rend - rstart) + 1, &t->i, 8 * (rend - rstart) + 1, &t->j));
  PetscCall(PetscMalloc1(8 * (rend - rstart) + 1, &v));
  for (PetscInt r = rstart; r < rend; ++r) {
    const PetscInt    col[] = {r, r - n - shift, r - 1, r, r + 1, r + n + shift, r};
    const PetscScalar val[] = {2.0, -1.0, -1.0 - 0.0001 * r, plain ? 4.75 : 1.5, -1.0 - 0.0001 * (r + 1), -1.0, 1.25};

    for (int c = plain; c < 7 - plain; ++c) {
      if (col[c] < 0 || col[c] >= N) continue;
      t->i[k] = r;
      t->j[k] = col[c];
      v[k++]  = val[c];
    }
  }
  if (!plain) {
    t->i[k] = -1;
    t->j[k] = 0;
    v[k++]  = 100.0;
  }
  t->ncoo = k;
  PetscCall(VecCreate(PETSC_COMM_SELF, &t->v));
  PetscCall(VecSetSizes(t->v, k, k));
  PetscCall(VecSetType(t->v, VECCUDA));
  PetscCall(VecGetArrayWrite(t->v, &a));
  PetscCall(PetscArraycpy(a, v, k));
  PetscCall(VecRestoreArrayWrite(t->v, &a));
  PetscCall(PetscFree(v));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &t->A));
  PetscCall(MatSetSizes(t->A, rend - rstart, rend - rstart, N, N));
  PetscCall(MatSetType(t->A, MATAIJ));
  PetscCall(Preallocate(t, t->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values, times scale, to A from the host and to B from the device */
PetscErrorCode SetValues(Test *t, Mat B, PetscScalar scale, InsertMode mode)
{
  const PetscScalar *v;
  PetscMemType       type;

  PetscFunctionBeginUser;
  PetscCall(VecScale(t->v, scale));
  PetscCall(VecGetArrayRead(t->v, &v));
  PetscCall(MatSetValuesCOO(t->A, v, mode));
  PetscCall(VecRestoreArrayRead(t->v, &v));
  PetscCall(VecGetArrayReadAndMemType(t->v, &v, &type));
  PetscCall(Check(t, "values on the device", PetscMemTypeDevice(type) ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(MatSetValuesCOO(B, v, mode));
  PetscCall(VecRestoreArrayReadAndMemType(t->v, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode New(Test *t, Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, B));
  PetscCall(MatSetSizes(*B, t->A->rmap->n, t->A->cmap->n, t->A->rmap->N, t->A->cmap->N));
  PetscCall(MatSetType(*B, t->type));
  PetscCall(MatSetFromOptions(*B));
  PetscCall(Preallocate(t, *B));
  PetscCall(SetValues(t, *B, 1.0, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
