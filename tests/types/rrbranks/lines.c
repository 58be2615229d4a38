/* Processes that share the lines of the first grids: the operations of the reduced system, and solves, against those on one process. */
#include "rrbranks.h"
#include "cg/cg.h"

/* A solver and what its preconditioner offers */
typedef struct {
  Mat                      A;
  KSP                      ksp;
  PC                       pc;
  Vec                      x, b;
  const PolderPCReduction *reduction;
} System;

static PetscErrorCode SystemCreate(Mat A, const Problem *p, PetscInt levels, System *s)
{
  PetscFunctionBeginUser;
  s->A = A;
  PetscCall(CreateVecs(A, &s->x, &s->b));
  PetscCall(CreateSolver(A, KSPRRBCG, levels, &s->ksp));
  if (p->kind == NEUMANN) {
    MatNullSpace kernel;

    PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_TRUE, 0, NULL, &kernel));
    PetscCall(MatSetNullSpace(A, kernel));
    PetscCall(MatNullSpaceDestroy(&kernel));
  }
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-lines_reductions", &((PolderCG *)s->ksp->data)->reductions, NULL));
  PetscCall(KSPSetTolerances(s->ksp, 1e-9, 0, 1e30, 100));
  PetscCall(KSPGetPC(s->ksp, &s->pc));
  PetscTryMethod(s->pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (s->pc, p->nx, p->ny));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscUseMethod(s->pc, POLDER_PC_GET_REDUCTION, (PC, const PolderPCReduction **), (s->pc, &s->reduction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SystemDestroy(System *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->b));
  PetscCall(MatDestroy(&s->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = A u for a u that depends on the node only */
static PetscErrorCode SystemSolve(System *s, PetscInt *its)
{
  PetscFunctionBeginUser;
  PetscCall(FillNodes(s->A, 4, s->x));
  PetscCall(MatMult(s->A, s->x, s->b));
  PetscCall(VecSet(s->x, 0));
  PetscCall(KSPSolve(s->ksp, s->b, s->x));
  PetscCall(KSPGetIterationNumber(s->ksp, its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y <- M^-1 r, S r or the reduced r itself, for a vector of all nodes */
static PetscErrorCode SystemReduced(System *s, int what, Vec *y)
{
  MPI_Comm  comm;
  PetscInt  n;
  Vec       r;
  PetscBool done;

  PetscFunctionBeginUser;
  PetscCall(FillNodes(s->A, 3, s->b));
  PetscCall((*s->reduction->size)(s->pc, s->b, &comm, &n));
  PetscCall(VecCreate(comm, &r));
  PetscCall(VecSetSizes(r, n, PETSC_DETERMINE));
  PetscCall(VecSetType(r, POLDER_VEC_DEVICE));
  PetscCall(VecDuplicate(r, y));
  PetscCall(VecSet(*y, NAN));
  PetscCall((*s->reduction->pick)(s->pc, s->b, r));
  if (what == 0) PetscCall((*s->reduction->apply)(s->pc, r, *y));
  else if (what == 1) PetscCall((*s->reduction->mult)(s->pc, r, *y, NULL, &done));
  else PetscCall((*s->reduction->reduce)(s->pc, s->b, *y));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- M^-1 b on all nodes */
static PetscErrorCode SystemApply(System *s)
{
  PetscFunctionBeginUser;
  PetscCall(FillNodes(s->A, 5, s->b));
  PetscCall(PCApply(s->pc, s->b, s->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Largest difference of the values of own red nodes from those of all, relative */
static PetscErrorCode CompareReduced(const PC_RRB *rrb, Vec own, Vec all, PetscReal *difference)
{
  const RRBShared     *shared = &rrb->whole.shared;
  const PolderRRBGrid *g      = &rrb->device.step[0].g;
  const PetscInt       hx = g->hx, h2 = g->nx / 2, n1 = hx * shared->g.hy, k = shared->y0 / 2;
  const PetscScalar   *a, *b;
  PetscInt             n;
  PetscReal            worst = 0, norm;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(own, &n));
  PetscCall(VecGetArrayRead(own, &a));
  PetscCall(VecGetArrayRead(all, &b));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal d = PetscAbsScalar(a[i] - b[i < n1 ? k * hx + i : hx * g->hy + k * h2 + i - n1]);

    if (!(d <= worst)) worst = PetscIsNanReal(d) ? PETSC_MAX_REAL : d;
  }
  PetscCall(VecRestoreArrayRead(all, &b));
  PetscCall(VecRestoreArrayRead(own, &a));
  PetscCall(VecNorm(all, NORM_INFINITY, &norm));
  PetscCallAllreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  *difference = PetscMax(*difference, worst / norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution of all nodes on each process */
static PetscErrorCode CompareSolutions(System *s, System *alone, PetscReal *difference)
{
  const PetscScalar *a, *b;
  PetscInt          *nodes, m;
  PetscReal          worst = 0, norm;

  PetscFunctionBeginUser;
  PetscCall(GetNodes(s->A, &nodes, &m));
  PetscCall(VecGetArrayRead(s->x, &a));
  PetscCall(VecGetArrayRead(alone->x, &b));
  for (PetscInt i = 0; i < m; ++i) worst = PetscMax(worst, PetscAbsScalar(a[i] - b[nodes[i]]));
  PetscCall(VecRestoreArrayRead(alone->x, &b));
  PetscCall(VecRestoreArrayRead(s->x, &a));
  PetscCall(VecNorm(alone->x, NORM_INFINITY, &norm));
  PetscCallAllreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  *difference = PetscMax(*difference, worst / norm);
  PetscCall(PetscFree(nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two sets of values, by rows or by slabs of a DMDA */
static PetscErrorCode CompareLines(const Problem *p, PetscInt levels, const Ranks *ranks, PetscInt *ngrid)
{
  Problem   q = *p;
  System    s, alone;
  Mat       A, B;
  Vec       y, z;
  PetscInt  its, steps;
  PetscReal reduced = 0, applied = 0, solution = 0;
  PetscBool rounded; // then only a part has the first half level in double precision, for the reduced system

  PetscFunctionBeginUser;
  PetscCall(CreateRanks(p, ranks, &A));
  PetscCall(CreateAlone(p, &B));
  PetscCall(SystemCreate(A, p, levels, &s));
  PetscCall(SystemCreate(B, p, levels, &alone));
  for (int round = 0; round < 2; ++round) {
    if (round && p->kind != DRY) ++q.seed; // whose pattern depends on it
    if (round) PetscCall(FillRanks(&q, A));
    if (round) PetscCall(Fill(&q, B));
    PetscCall(SystemSolve(&s, &its));
    PetscCall(SystemSolve(&alone, &steps));
    if (its != steps) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %" PetscInt_FMT " steps instead of %" PetscInt_FMT "\n", its, steps));
    PetscCall(CompareSolutions(&s, &alone, &solution));
    PetscCall(SystemApply(&s));
    PetscCall(SystemApply(&alone));
    PetscCall(CompareSolutions(&s, &alone, &applied));
    *ngrid = ((PC_RRB *)s.pc->data)->whole.shared.ngrid;
    for (int what = 0; what < 3 && *ngrid; ++what) {
      PetscCall(SystemReduced(&s, what, &y));
      PetscCall(SystemReduced(&alone, what, &z));
      PetscCall(CompareReduced((PC_RRB *)s.pc->data, y, z, &reduced));
      PetscCall(VecDestroy(&y));
      PetscCall(VecDestroy(&z));
    }
  }
  rounded = ((PC_RRB *)s.pc->data)->single;
  if (reduced > 1e-13) PetscCall(Report("  operations of the reduced system", PETSC_FALSE, reduced));
  if (applied > (rounded ? 1e-6 : 1e-13)) PetscCall(Report("  M^-1 on all nodes", PETSC_FALSE, applied));
  if (solution > 1e-6) PetscCall(Report("  solutions", PETSC_FALSE, solution));
  PetscCall(SystemDestroy(&s));
  PetscCall(SystemDestroy(&alone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestLines(void)
{
  static const Problem problems[] = {
    {POISSON, 95,  260, 0},
    {RANDOM5, 64,  131, 1},
    {RANDOM5, 41,  302, 2},
    {NEUMANN, 70,  150, 3},
    {DRY,     63,  257, 4},
    {RANDOM5, 191, 523, 6},
    {RANDOM5, 30,  25,  5}
  };
  static const PetscInt levels[] = {PETSC_DECIDE, 8, 7, PETSC_DECIDE, 8, PETSC_DECIDE, 4};
  PetscMPIInt           size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(problems); ++c) {
    const Problem *p = &problems[c];
    PetscInt       rows, slabs;

    PetscCall(CompareLines(p, levels[c], &(Ranks){.order = NATURAL}, &rows));
    PetscCall(CompareLines(p, levels[c],
                           &(Ranks){
                             .order = BOXES, .np = {1, size}
    },
                           &slabs));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d, %" PetscInt_FMT " x %" PetscInt_FMT ": %" PetscInt_FMT " and %" PetscInt_FMT " grids shared\n", (int)p->kind,
                          p->nx, p->ny, rows, slabs));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
