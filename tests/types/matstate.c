static char help[] = "Every operation of PETSc that changes the values of an AIJ matrix, on matrices of Polder that have been multiplied: the next product "
                     "must be that of plain AIJ.\n"
                     "  -type <type>: the type under test\n\n";

#include "matstate/matstate.h"
#include "vecs.h"
#include <petsc/private/matimpl.h>
#include <polder.h>

typedef struct {
  PetscObjectState state;
  PetscObjectId    id;
} Stamp;

typedef struct {
  const char *type;
  PetscBool   plain; /* it is that of PETSc: only the solvers are under test */
  PetscInt    compared, solves, wrong;
  PetscRandom random;
  PetscInt    n, *i, *j; /* coordinates */
  Vec         v;         /* and their values, where vectors are */
} Test;

static PetscErrorCode Check(Test *t, const char *operation, const char *what, PetscReal value, PetscReal limit)
{
  PetscReal most = PetscIsNanReal(value) ? PETSC_INFINITY : value / limit;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  ++t->compared;
  if (most <= 1.0) PetscFunctionReturn(PETSC_SUCCESS);
  ++t->wrong;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: %s is %g times what is allowed\n", operation, what, (double)most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds |u - v| and |u| in the largest norm to what was found before */
static PetscErrorCode Differ(Vec u, Vec v, PetscReal *diff, PetscReal *norm)
{
  PetscReal d, n;
  Vec       w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &w));
  PetscCall(VecWAXPY(w, -1.0, u, v));
  PetscCall(VecNorm(w, NORM_INFINITY, &d));
  PetscCall(VecNorm(u, NORM_INFINITY, &n));
  if (PetscIsNanReal(d)) d = PETSC_INFINITY;
  *diff = PetscMax(*diff, d);
  *norm = PetscMax(*norm, n);
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products of B against those of A, in the communicator of these; *sum: a number that tells values of A apart */
static PetscErrorCode Compare(Test *t, const char *operation, const char *what, Mat A, Mat B, PetscReal *sum)
{
  Vec       x, y, za, zb;
  PetscReal diff = 0.0, norm = 0.0;
  PetscInt  m, n;

  PetscFunctionBeginUser;
  if (A) {
    PetscCall(MatGetLocalSize(A, &m, &n));
    PetscCall(CreateVecs(A, &x, &y));
    PetscCall(VecSetRandom(x, t->random));
    PetscCall(VecSetRandom(y, t->random));
    PetscCall(VecDuplicate(y, &za));
    PetscCall(VecDuplicate(y, &zb));
    PetscCall(MatMult(A, x, za));
    PetscCall(MatMult(B, x, zb));
    PetscCall(VecNorm(za, NORM_1, sum));
    PetscCall(Differ(za, zb, &diff, &norm));
    PetscCall(MatResidual(A, y, x, za));
    PetscCall(MatResidual(B, y, x, zb));
    PetscCall(Differ(za, zb, &diff, &norm));
    PetscCall(VecDestroy(&za));
    PetscCall(VecDestroy(&zb));
    PetscCall(VecDuplicate(x, &za));
    PetscCall(VecDuplicate(x, &zb));
    PetscCall(MatMultTranspose(A, y, za));
    PetscCall(MatMultTranspose(B, y, zb));
    PetscCall(Differ(za, zb, &diff, &norm));
    if (A->rmap->N == A->cmap->N && m == n) {
      PetscCall(MatGetDiagonal(A, za));
      PetscCall(MatGetDiagonal(B, zb));
      PetscCall(Differ(za, zb, &diff, &norm));
    }
    PetscCall(VecDestroy(&za));
    PetscCall(VecDestroy(&zb));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(Check(t, operation, what, diff, 1e-13 * (1.0 + norm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the host reads of B against what it reads of A */
static PetscErrorCode CompareRows(Test *t, const char *operation, Mat A, Mat B)
{
  PetscReal diff = 0.0, most = 0.0;
  PetscInt  rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    PetscInt           na, nb;
    const PetscScalar *va, *vb;
    PetscScalar        copy[256];

    PetscCall(MatGetRow(A, i, &na, NULL, &va));
    PetscCheck(na <= 256, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a row is too long");
    PetscCall(PetscArraycpy(copy, va, na));
    PetscCall(MatRestoreRow(A, i, NULL, NULL, &va));
    PetscCall(MatGetRow(B, i, &nb, NULL, &vb));
    if (na != nb) diff = PETSC_INFINITY;
    for (PetscInt k = 0; k < PetscMin(na, nb); ++k) {
      diff = PetscMax(diff, PetscAbsScalar(vb[k] - copy[k]));
      most = PetscMax(most, PetscAbsScalar(copy[k]));
    }
    PetscCall(MatRestoreRow(B, i, NULL, NULL, &vb));
  }
  PetscCall(Check(t, operation, "a row", diff, 1e-13 * (1.0 + most)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with B by a solver that has solved with it before; A has the values that B should have */
static PetscErrorCode Solve(Test *t, const char *operation, KSP ksp, Mat A, Mat B)
{
  KSPConvergedReason reason;
  const char        *prefix;
  char               what[64];
  PetscReal          norm, res;
  PetscObjectState   before, after;
  Vec                x, b, r;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscSNPrintf(what, sizeof(what), "the residual of solver %s", prefix));
  PetscCall(CreateVecs(B, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, t->random));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscObjectStateGet((PetscObject)B, &before));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscObjectStateGet((PetscObject)B, &after));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason <= 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: %s\n", operation, KSPConvergedReasons[reason]));
  PetscCall(Check(t, operation, "the state, raised by a second solve,", after != before ? 2.0 : 0.0, 1.0));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(r, NORM_2, &res));
  PetscCall(Check(t, operation, what, reason > 0 ? res : PETSC_INFINITY, 1e-8 * norm));
  ++t->solves;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of a stencil with jumps, in coordinates; twice gives two different matrices */
static PetscErrorCode SetValues(Test *t, Mat A, PetscInt seed)
{
  PetscScalar       *v;
  const PetscScalar *at;
  PetscBool          plain; // PETSc reads the values of these on the host

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(VecGetArrayWrite(t->v, &v));
  for (PetscInt k = 0; k < t->n; ++k) {
    const PetscInt low = PetscMin(t->i[k], t->j[k]), dist = PetscAbsInt(t->i[k] - t->j[k]);

    v[k] = dist == 0 ? 4.5 + seed + (t->i[k] * 7 % 5) * 0.125 : -1.0 + ((low * 5 + dist * 3 + seed) % 8) * 0.0625;
  }
  PetscCall(VecRestoreArrayWrite(t->v, &v));
  if (plain) PetscCall(VecGetArrayRead(t->v, &at));
  else PetscCall(VecGetArrayReadAndMemType(t->v, &at, NULL));
  PetscCall(MatSetValuesCOO(A, at, INSERT_VALUES));
  if (plain) PetscCall(VecRestoreArrayRead(t->v, &at));
  else PetscCall(VecRestoreArrayReadAndMemType(t->v, &at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(Test *t, MatType type, Mat *A)
{
  const PetscInt N = GRID * GRID;
  PetscInt       rstart, rend, *i, *j;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(PetscLayoutSetUp((*A)->rmap));
  PetscCall(PetscLayoutGetRange((*A)->rmap, &rstart, &rend));
  if (!t->v) {
    PetscCall(PetscMalloc2(5 * (rend - rstart), &t->i, 5 * (rend - rstart), &t->j));
    for (PetscInt r = rstart; r < rend; ++r) {
      const PetscInt x = r % GRID, col[] = {r - GRID, x ? r - 1 : -1, r, x < GRID - 1 ? r + 1 : -1, r + GRID};

      for (int c = 0; c < 5; ++c) {
        if (col[c] < 0 || col[c] >= N) continue;
        t->i[t->n]   = r;
        t->j[t->n++] = col[c];
      }
    }
    PetscCall(VecCreate(PETSC_COMM_SELF, &t->v));
    PetscCall(VecSetSizes(t->v, t->n, t->n));
    PetscCall(VecSetFromOptions(t->v));
  }
  PetscCall(PetscMalloc2(t->n, &i, t->n, &j));
  PetscCall(PetscArraycpy(i, t->i, t->n));
  PetscCall(PetscArraycpy(j, t->j, t->n));
  PetscCall(MatSetPreallocationCOO(*A, t->n, i, j));
  PetscCall(PetscFree2(i, j));
  PetscCall(SetValues(t, *A, 0));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyCase(Case *c)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < c->ntarget && !c->sub; ++k) PetscCall(MatDestroy(&c->target[k]));
  if (c->sub && c->comm != MPI_COMM_NULL) PetscCall(MatDestroyMatrices(c->nsub, &c->sub));
  else if (c->sub) PetscCall(MatDestroySubMatrices(c->nsub, &c->sub));
  for (int k = 0; k < MAXTARGETS; ++k) {
    PetscCall(ISDestroy(&c->is[k]));
    PetscCall(ISDestroy(&c->is2[k]));
  }
  PetscCall(MatFDColoringDestroy(&c->coloring));
  PetscCall(MatDestroy(&c->aux));
  PetscCall(MatDestroy(&c->aux2));
  PetscCall(MatDestroy(&c->aux3));
  PetscCall(VecDestroy(&c->l));
  PetscCall(VecDestroy(&c->r));
  PetscCall(MatDestroy(&c->A));
  PetscCall(PetscFree3(c->values, c->rows, c->cols));
  if (c->comm != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_free(&c->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrices, or what was made from them */
static PetscErrorCode CompareCases(Test *t, const char *name, Case c[], PetscReal sum[])
{
  const PetscInt n = c[PLAIN].ntarget;

  PetscFunctionBeginUser;
  sum[0] = 0.0;
  PetscCall(Compare(t, name, "a product", c[PLAIN].A, c[OURS].A, &sum[0]));
  for (PetscInt k = 0; k < n; ++k) {
    sum[k + 1] = 0.0;
    PetscCall(Compare(t, name, "a product of what was made from it", c[PLAIN].target[k], c[OURS].target[k], &sum[k + 1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolvers(KSP ksp[])
{
  static const char *const prefix[ALL] = {"dcg_", "pamg_", "levelset_", "rrbcg_"};

  PetscFunctionBeginUser;
  for (int s = 0; s < ALL; ++s) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[s]));
    PetscCall(KSPSetOptionsPrefix(ksp[s], prefix[s]));
    PetscCall(KSPSetTolerances(ksp[s], 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
    PetscCall(KSPSetFromOptions(ksp[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of a matrix must tell that its values are others */
static PetscErrorCode Stamps(Test *t, const Operation *o, const Case *c, Stamp stamp[], PetscBool check)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k <= c->ntarget; ++k) {
    const Mat   A    = k ? c->target[k - 1] : c->A;
    const Stamp old  = stamp[k];
    MatType     type = "";
    PetscBool   ours = PETSC_FALSE;

    if (A) {
      PetscCall(PetscObjectStateGet((PetscObject)A, &stamp[k].state));
      PetscCall(PetscObjectGetId((PetscObject)A, &stamp[k].id));
      PetscCall(MatGetType(A, &type));
      PetscCall(PetscStrcmp(type + 3, t->type, &ours));
      ours = (PetscBool)(ours && !t->plain);
    }
    if (!check || (!k && !o->tells)) continue;
    PetscCall(
      Check(t, o->name, k ? "the state of what was made from it" : "the state", ours && stamp[k].id == old.id && stamp[k].state == old.state ? 2.0 : 0.0, 1.0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products, new values where the vectors are, products, the operation, products. The number says which solver is the first to see the change */
static PetscErrorCode Run(Test *t, const Operation *o, PetscInt number)
{
  Case      c[NMAT] = {{0}};
  KSP       ksp[ALL];
  PetscReal before[MAXTARGETS + 1], after[MAXTARGETS + 1], change = 0.0;
  PetscInt  ntarget;
  Stamp     stamp[MAXTARGETS + 1];

  PetscFunctionBeginUser;
  for (int b = 0; b < NMAT; ++b) {
    c[b].comm = MPI_COMM_NULL;
    PetscCall(CreateMatrix(t, b ? t->type : MATAIJ, &c[b].A));
  }
  PetscCall(PetscInfo(c[OURS].A, "%s\n", o->name));
  PetscCall(CreateSolvers(ksp));
  PetscCall(CompareCases(t, o->name, c, before)); /* builds the arrays */
  for (int b = 0; b < NMAT; ++b) {
    if (o->prepare) PetscCall((*o->prepare)(&c[b]));
  }
  PetscCheck(c[PLAIN].ntarget == c[OURS].ntarget, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the type has other submatrices than plain AIJ");
  PetscCall(CompareCases(t, o->name, c, before));
  if (!c[PLAIN].own) {
    for (int b = 0; b < NMAT; ++b) PetscCall(SetValues(t, c[b].A, 1));
  }
  PetscCall(PetscRandomSetSeed(t->random, 7));
  PetscCall(PetscRandomSeed(t->random));
  PetscCall(CompareCases(t, o->name, c, before));
  for (PetscInt s = 0; s < o->solvers; ++s) PetscCall(Solve(t, o->name, ksp[(s + number) % o->solvers], c[PLAIN].A, c[OURS].A));
  PetscCall(Stamps(t, o, &c[OURS], stamp, PETSC_FALSE));
  for (int b = 0; b < NMAT; ++b) PetscCall((*o->change)(&c[b]));
  PetscCall(Stamps(t, o, &c[OURS], stamp, PETSC_TRUE));
  PetscCall(PetscRandomSetSeed(t->random, 7));
  PetscCall(PetscRandomSeed(t->random));
  PetscCall(CompareCases(t, o->name, c, after));
  for (PetscInt s = 0; s < o->solvers; ++s) PetscCall(Solve(t, o->name, ksp[(s + number) % o->solvers], c[PLAIN].A, c[OURS].A));
  PetscCall(CompareRows(t, o->name, c[PLAIN].A, c[OURS].A));
  ntarget = c[PLAIN].ntarget;
  for (PetscInt k = 0; k <= ntarget; ++k) change = PetscMax(change, PetscAbsReal(after[k] - before[k]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(Check(t, o->name, "the lack of a change", change > 1e-6 ? 0.0 : 2.0, 1.0));
  for (int s = 0; s < ALL; ++s) PetscCall(KSPDestroy(&ksp[s]));
  for (int b = 0; b < NMAT; ++b) PetscCall(DestroyCase(&c[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Test        t        = {0};
  char        type[64] = "aijdia", only[64], vectors[16] = "";
  PetscBool   one, device;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof(only), &one));
  PetscCall(PetscOptionsInsertString(NULL, "-dcg_ksp_type dcg -dcg_pc_type tns -dcg_deflation_space rank -pamg_ksp_type cg -pamg_pc_type pamg "
                                           "-levelset_ksp_type cg -levelset_pc_type levelset -levelset_deflation_space rank -rrbcg_ksp_type rrbcg "
                                           "-rrbcg_pc_type rrb"));
  t.type = type;
  PetscCall(PetscStrcmp(type, MATAIJ, &t.plain));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &t.random));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vec_type", vectors, sizeof(vectors), NULL));
  PetscCall(PetscStrcmp(vectors, VECCUDA, &device));
  for (PetscInt k = 0; k < NCHANGES + NREMADE; ++k) {
    const Operation *o    = k < NCHANGES ? &Changes[k] : &Remade[k - NCHANGES];
    PetscBool        same = PETSC_TRUE;

    if (one) PetscCall(PetscStrcmp(only, o->name, &same));
    if (device && o->change == ColoringApply) continue; /* where PETSc's own types crash (3.24) */
    if (t.plain && o->change == Retrieve) continue;     /* of which PETSc's types say nothing to anybody (3.18) */
    if (same && size >= o->least && size <= o->most) PetscCall(Run(&t, o, k));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d operations: %s compared, %s solved, %" PetscInt_FMT " wrong\n", (int)(NCHANGES + NREMADE),
                        t.compared ? "products" : "nothing", t.solves ? "systems" : "nothing", t.wrong));
  PetscCall(PetscFree2(t.i, t.j));
  PetscCall(VecDestroy(&t.v));
  PetscCall(PetscRandomDestroy(&t.random));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     suffix: changes
     args: -type {{aijdia aijicrs aijhec aij}}
     nsize: {{1 2 3}}
     output_file: output/matstate_changes.out

TEST*/
