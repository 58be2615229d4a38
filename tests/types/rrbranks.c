static char help[] = "The repeated red-black preconditioner on several processes against itself on one.\n\n";

#include <polder.h>
#include <petscdmda.h>
#include <petsc/private/pcimpl.h>
#include "pc/rrb/rrbimpl.h"
#include "core/compat.h"
#include "rrbproblems.h"
#include "vecs.h"

/* How the rows of a matrix lie */
typedef enum {
  NATURAL, /* PETSc's choice */
  UNEVEN,  /* blocks of random length, some of them empty */
  ALLATEND,
  BOXES,      /* DMDA on np[0] by np[1] processes */
  UNEVENBOXES /* with some of them one node wide */
} Order;

typedef struct {
  Order    order;
  PetscInt np[2];
} Ranks;

/* Rows of this process, or the widths of n columns, at least one each */
static PetscInt Share(PetscInt N, PetscInt n, PetscInt i, PetscBool one)
{
  PetscReal part = 0, all = 0;
  PetscInt  rest = one ? N - n : N;

  for (PetscInt k = 0; k < n; ++k) {
    const PetscReal weight = Hash(11, k, k) < 0.35 ? 0 : Hash(12, k, k);

    all += weight;
    if (k < i) part += weight;
  }
  return all > 0 ? (PetscInt)(rest * (part / all)) + (one ? i : 0) : i == n ? N : i * N / n;
}

static PetscErrorCode CreateBoxes(const Problem *p, const Ranks *ranks, Mat *A)
{
  DM        dm;
  PetscInt *l[2];
  MatType   type;

  PetscFunctionBeginUser;
  for (int d = 0; d < 2; ++d) {
    PetscCall(PetscMalloc1(ranks->np[d], &l[d]));
    for (PetscInt i = 0; i < ranks->np[d]; ++i) {
      const PetscInt n = d ? p->ny : p->nx;

      l[d][i] = ranks->order == BOXES ? n / ranks->np[d] + (i < n % ranks->np[d])
                                      : (i + 1 < ranks->np[d] ? Share(n, ranks->np[d], i + 1, PETSC_TRUE) : n) - Share(n, ranks->np[d], i, PETSC_TRUE);
    }
  }
  PetscCall(
    DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, p->nx, p->ny, ranks->np[0], ranks->np[1], 1, 1, l[0], l[1], &dm));
  PetscCall(PetscFree(l[0]));
  PetscCall(PetscFree(l[1]));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatGetType(*A, &type));
  PetscCall(DMSetMatType(dm, type));
  PetscCall(MatDestroy(A));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The node of each row of this process */
static PetscErrorCode GetNodes(Mat A, PetscInt **nodes, PetscInt *m)
{
  PetscInt start, end;
  DM       dm;
  AO       ao;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  *m = end - start;
  PetscCall(PetscMalloc1(*m, nodes));
  for (PetscInt i = 0; i < *m; ++i) (*nodes)[i] = start + i;
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMDAGetAO(dm, &ao));
  if (dm) PetscCall(AOPetscToApplication(ao, *m, *nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that depend on the node only */
static PetscErrorCode FillNodes(Mat A, PetscInt seed, Vec v)
{
  PetscScalar *vv;
  PetscInt    *nodes, m;

  PetscFunctionBeginUser;
  PetscCall(GetNodes(A, &nodes, &m));
  PetscCall(VecGetArray(v, &vv));
  for (PetscInt i = 0; i < m; ++i) vv[i] = Hash(seed, nodes[i], nodes[i]) - 0.5;
  PetscCall(VecRestoreArray(v, &vv));
  PetscCall(PetscFree(nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillRanks(const Problem *p, Mat A)
{
  PetscInt   *nodes, m, col[9];
  PetscScalar val[9];
  DM          dm;
  AO          ao = NULL;

  PetscFunctionBeginUser;
  PetscCall(GetNodes(A, &nodes, &m));
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMDAGetAO(dm, &ao));
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt count = Row(p, nodes[i], col, val);

    if (ao) PetscCall(AOApplicationToPetsc(ao, count, col));
    PetscCall(MatSetValues(A, 1, &col[0], count, col, val, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateRanks(const Problem *p, const Ranks *ranks, Mat *A)
{
  const PetscInt N = p->nx * p->ny;
  PetscInt       m = PETSC_DECIDE;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  if (ranks->order >= BOXES) PetscCall(CreateBoxes(p, ranks, A));
  else {
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    if (ranks->order == UNEVEN) m = (rank + 1 < size ? Share(N, size, rank + 1, PETSC_FALSE) : N) - Share(N, size, rank, PETSC_FALSE);
    if (ranks->order == ALLATEND) m = rank == size - 1 ? N : 0;
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, m, m, N, N));
    PetscCall(MatSetType(*A, MATAIJ));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, 9, NULL, 6, NULL));
  }
  PetscCall(FillRanks(p, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on this process alone */
static PetscErrorCode CreateAlone(const Problem *p, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, p->nx * p->ny, p->nx * p->ny, 9, NULL, A));
  PetscCall(Fill(p, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid is given where neither the DMDA nor the diagonals show it */
static PetscErrorCode CreateRanksPC(Mat A, const Problem *p, PetscInt levels, PetscReal omega, PetscReal latency, PC *pc)
{
  const PetscBool shown = (PetscBool)(p->nx > 1 && p->kind != LAKES && p->seed % 2);
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(CreatePC(A, dm || shown ? 0 : p->nx, p->ny, levels, omega, pc));
  PetscTryMethod(*pc, "PCRRBSetLatency_C", (PC, PetscReal), (*pc, latency));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M^-1 r for an r that depends on the node only; dz: largest difference to values by node, 0 when they are the same to the last bit */
static PetscErrorCode Compare(PC pc, const PetscScalar alone[], PetscReal *difference)
{
  Mat                A;
  Vec                r, z;
  const PetscScalar *zz;
  PetscInt          *nodes, m;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(GetNodes(A, &nodes, &m));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(FillNodes(A, 3, r));
  PetscCall(VecSet(z, NAN));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecGetArrayRead(z, &zz));
  *difference = 0;
  for (PetscInt i = 0; i < m; ++i) {
    const PetscReal d = PetscAbsScalar(zz[i] - alone[nodes[i]]);

    if (!(d <= *difference)) *difference = PetscIsNanReal(d) ? PETSC_MAX_REAL : d;
  }
  PetscCall(VecRestoreArrayRead(z, &zz));
  PetscCallAllreduce(MPI_IN_PLACE, difference, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscFree(nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of M^-1 r by node, from one process */
static PetscErrorCode ApplyAlone(PC pc, PetscInt N, PetscScalar zz[])
{
  Vec          r, z;
  PetscScalar *rr;

  PetscFunctionBeginUser;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, N, &r));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, N, zz, &z));
  PetscCall(VecGetArray(r, &rr));
  for (PetscInt i = 0; i < N; ++i) rr[i] = Hash(3, i, i) - 0.5;
  PetscCall(VecRestoreArray(r, &rr));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next way to lay out rows; *which counts from 0. PETSC_FALSE: there is none */
static PetscBool NextRanks(const Problem *p, PetscInt *which, Ranks *ranks)
{
  PetscMPIInt size;
  PetscInt    count = 3;

  (void)MPI_Comm_size(PETSC_COMM_WORLD, &size);
  if (*which < 3) {
    *ranks = (Ranks){.order = (Order)(*which)++};
    return PETSC_TRUE;
  }
  for (PetscInt px = 1; px <= size; ++px) {
    if (size % px || px > p->nx || size / px > p->ny) continue;
    for (int uneven = 0; uneven < 2; ++uneven) {
      if (count++ != *which) continue;
      *ranks = (Ranks){
        .order = uneven ? UNEVENBOXES : BOXES, .np = {px, size / px}
      };
      ++*which;
      return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

/* M is the same to the last bit however the rows lie and the grids are spread */
/* A problem and the preconditioner for it */
typedef struct {
  Problem   p;
  PetscInt  levels;
  PetscReal omega;
} Case;

/* The largest difference from what one process finds (zz), for every way to cut the rows and three latencies; -info_ranks says more */
static PetscErrorCode CompareRanks(const Case *c, const PetscScalar zz[], PetscReal *worst)
{
  static const PetscReal latency[] = {0, 300, 1e9};
  const Problem         *p         = &c->p;
  Mat                    A;
  PC                     pc;
  Ranks                  ranks;
  PetscBool              info;

  PetscFunctionBeginUser;
  *worst = 0;
  for (PetscInt which = 0; NextRanks(p, &which, &ranks);) {
    PetscCall(CreateRanks(p, &ranks, &A));
    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(latency); ++l) {
      PetscReal difference;

      PetscCall(CreateRanksPC(A, p, c->levels, c->omega, latency[l], &pc));
      PetscCall(Compare(pc, zz, &difference));
      *worst = PetscMax(*worst, difference);
      PetscCall(PetscOptionsHasName(NULL, NULL, "-info_ranks", &info));
      if (info) {
        const RRBRanks *r = &((PC_RRB *)pc->data)->ranks;

        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "order %d, %" PetscInt_FMT " x %" PetscInt_FMT ", latency %g: %" PetscInt_FMT " grids in %" PetscInt_FMT " x %" PetscInt_FMT
                              " boxes, difference %g\n",
                              (int)ranks.order, ranks.np[0], ranks.np[1], (double)latency[l], r->ngrid, r->np[0], r->np[1], (double)difference));
      }
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSame(void)
{
  static const Case cases[] = {
    {{RANDOM5, 64, 64, 1},  8,            1  },
    {{RANDOM9, 61, 47, 2},  6,            1  },
    {{RANDOM9, 33, 90, 3},  5,            0.9},
    {{DRY, 50, 37, 4},      99,           1  },
    {{NEUMANN, 40, 48, 5},  6,            1  },
    {{LAKES, 70, 60, 6},    6,            1  },
    {{RANDOM5, 100, 1, 7},  4,            1  },
    {{RANDOM5, 1, 100, 7},  4,            1  },
    {{RANDOM9, 2, 63, 8},   2,            1  },
    {{RANDOM9, 130, 7, 9},  4,            1  },
    {{RANDOM9, 7, 6, 10},   4,            1  },
    {{RANDOM5, 12, 9, 11},  0,            1  },
    {{RANDOM5, 12, 9, 11},  1,            1  },
    {{RANDOM5, 45, 45, 12}, PETSC_DECIDE, 1  }
  };

  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); ++c) {
    const Problem *p = &cases[c].p;
    Mat            A;
    PC             pc;
    PetscScalar   *zz;
    PetscReal      worst;
    char           what[128];

    PetscCall(PetscMalloc1(p->nx * p->ny, &zz));
    PetscCall(CreateAlone(p, &A));
    PetscCall(CreatePC(A, p->nx, p->ny, cases[c].levels, cases[c].omega, &pc));
    PetscCall(ApplyAlone(pc, p->nx * p->ny, zz));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(CompareRanks(&cases[c], zz, &worst));
    PetscCall(PetscFree(zz));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%d, %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " half levels: as on one process", (int)p->kind,
                            p->nx, p->ny, cases[c].levels));
    PetscCall(Report(what, (PetscBool)(worst < 1e-13), worst));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps of the solver, their residuals, and at last the true one, relative; b depends on the node only */
static PetscErrorCode Solve(Mat A, const Problem *p, KSPType type, PetscInt levels, PetscReal latency, PetscReal history[], PetscInt *its, PetscReal *residual)
{
  KSP       ksp;
  PC        pc;
  Vec       x, b;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillNodes(A, 4, x));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecScale(x, 0.5));
  PetscCall(CreateSolver(A, type, levels, &ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 0, 1e30, 100));
  PetscCall(KSPSetResidualHistory(ksp, history, 101, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p->nx, p->ny));
  PetscTryMethod(pc, "PCRRBSetLatency_C", (PC, PetscReal), (pc, latency));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecScale(b, -1));
  PetscCall(MatMultAdd(A, x, b, b));
  PetscCall(VecNorm(b, NORM_2, residual));
  *residual /= norm;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many steps as on one process, with its residuals */
static PetscErrorCode SolveEach(PetscInt n, const Problem problems[], const PetscInt levels[], KSPType type)
{
  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < n; ++c) {
    const Problem *p = &problems[c];
    Mat            A;
    Ranks          ranks;
    PetscReal      alone[101] = {0}, history[101] = {0}, worst = 0, residual, largest;
    PetscInt       steps, its;
    PetscBool      same = PETSC_TRUE;
    char           what[128];

    PetscCall(CreateAlone(p, &A));
    PetscCall(Solve(A, p, type, levels[c], 0, alone, &steps, &largest));
    PetscCall(MatDestroy(&A));
    for (PetscInt which = 0; NextRanks(p, &which, &ranks);) {
      PetscCall(CreateRanks(p, &ranks, &A));
      PetscCall(Solve(A, p, type, levels[c], which % 2 ? 0 : 4000, history, &its, &residual));
      if (its != steps) same = PETSC_FALSE;
      for (PetscInt k = 0; k <= PetscMin(its, steps); ++k) worst = PetscMax(worst, PetscAbsReal(history[k] - alone[k]) / (alone[k] + 1e-8 * alone[0]));
      largest = PetscMax(largest, residual);
      PetscCall(MatDestroy(&A));
    }
    PetscCall(PetscSNPrintf(what, sizeof(what), "%d, %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " half levels: %" PetscInt_FMT " steps",
                            (int)p->kind, p->nx, p->ny, levels[c], steps));
    PetscCall(Report(what, same, (PetscReal)its));
    PetscCall(Report("  with the residuals of one process", (PetscBool)(worst < 1e-6), worst));
    PetscCall(Report("  to a true residual below 1e-7", (PetscBool)(largest < 1e-7), largest));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolve(void)
{
  static const Problem problems[] = {
    {POISSON, 127, 127, 0},
    {NINE,    90,  111, 0},
    {WAVES,   200, 125, 3},
    {DRY,     80,  60,  2}
  };
  static const PetscInt levels[] = {PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE};

  PetscFunctionBeginUser;
  PetscCall(SolveEach(PETSC_STATIC_ARRAY_LENGTH(problems), problems, levels, KSPCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without black nodes */
static PetscErrorCode TestReduced(void)
{
  static const Problem problems[] = {
    {POISSON, 95, 95, 0},
    {RANDOM5, 64, 50, 1},
    {RANDOM5, 33, 90, 2},
    {WAVES,   80, 61, 3},
    {DRY,     50, 37, 4},
    {RANDOM5, 31, 18, 5},
    {RANDOM5, 1,  60, 6},
    {RANDOM5, 61, 1,  7},
    {RANDOM5, 2,  63, 8},
    {RANDOM5, 7,  6,  9}
  };
  static const PetscInt levels[] = {PETSC_DECIDE, 6, 5, PETSC_DECIDE, 4, 1, 1, 1, 2, 3};

  PetscFunctionBeginUser;
  PetscCall(SolveEach(PETSC_STATIC_ARRAY_LENGTH(problems), problems, levels, KSPRRBCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values on the arrays that are there; other levels, omega, latency; other rows */
static PetscErrorCode TestRefresh(void)
{
  const Problem first = {RANDOM9, 64, 50, 1}, second = {RANDOM9, 64, 50, 2};
  PetscScalar  *zz;
  PetscReal     difference;
  Mat           A, B;
  PC            pc, alone;
  PC_RRB       *rrb;
  void         *before;
  Ranks         ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(second.nx * second.ny, &zz));
  for (PetscInt which = 0; NextRanks(&first, &which, &ranks);) {
    PetscCall(CreateRanks(&first, &ranks, &A));
    PetscCall(CreateRanksPC(A, &first, 6, 1, 0, &pc));
    PetscCall(PCSetUp(pc));
    rrb    = (PC_RRB *)pc->data;
    before = rrb->grid[0].z;
    PetscCall(FillRanks(&second, A));
    PetscCall(CreateAlone(&second, &B));
    PetscCall(CreatePC(B, second.nx, second.ny, 6, 1, &alone));
    PetscCall(ApplyAlone(alone, second.nx * second.ny, zz));
    PetscCall(Compare(pc, zz, &difference));
    if (difference > 1e-13 || before != rrb->grid[0].z) PetscCall(Report("new values", PETSC_FALSE, difference));
    for (PetscInt k = 0; k < 3; ++k) {
      PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, 7 - k));
      PetscTryMethod(pc, "PCRRBSetOmega_C", (PC, PetscReal), (pc, 0.9));
      PetscTryMethod(pc, "PCRRBSetLatency_C", (PC, PetscReal), (pc, k == 2 ? 1e9 : 100));
      PetscTryMethod(alone, "PCRRBSetLevels_C", (PC, PetscInt), (alone, 7 - k));
      PetscTryMethod(alone, "PCRRBSetOmega_C", (PC, PetscReal), (alone, 0.9));
      PetscCall(ApplyAlone(alone, second.nx * second.ny, zz));
      PetscCall(Compare(pc, zz, &difference));
      if (difference > 1e-13) PetscCall(Report("other levels, omega, latency", PETSC_FALSE, difference));
    }
    PetscCall(PCDestroy(&alone));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscFree(zz));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values and settings: done\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One rrbcg, whose red nodes move to other processes with the settings of the preconditioner */
static PetscErrorCode TestMove(void)
{
  const Problem p = {RANDOM5, 90, 61, 1};
  Ranks         ranks;
  Mat           A;
  KSP           ksp;
  PC            pc;
  Vec           x, b, z;
  PetscReal     difference = 0, norm;
  PetscInt      its[4];

  PetscFunctionBeginUser;
  for (PetscInt which = 0; NextRanks(&p, &which, &ranks);) {
    PetscCall(CreateRanks(&p, &ranks, &A));
    PetscCall(CreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &z));
    PetscCall(FillNodes(A, 5, z));
    PetscCall(MatMult(A, z, b));
    PetscCall(CreateSolver(A, KSPRRBCG, PETSC_DECIDE, &ksp));
    PetscCall(KSPSetTolerances(ksp, 1e-10, 0, 1e30, 100));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, p.nx, p.ny));
    for (int k = 0; k < 4; ++k) {
      PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, k < 3 ? 8 : 3));
      PetscTryMethod(pc, "PCRRBSetLatency_C", (PC, PetscReal), (pc, k == 1 ? 1e9 : 10));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its[k]));
      PetscCall(VecAXPY(x, -1, z));
      PetscCall(VecNorm(x, NORM_INFINITY, &norm));
      difference = PetscMax(k ? difference : 0, norm);
    }
    if (difference > 1e-7 || its[0] != 13 || its[1] != 13 || its[2] != 13 || its[3] != 13) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "order %d, %" PetscInt_FMT " by %" PetscInt_FMT ": %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT
                            " steps, error %g\n",
                            (int)ranks.order, ranks.np[0], ranks.np[1], its[0], its[1], its[2], its[3], (double)difference));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "red nodes that move: done\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the view says */
static PetscErrorCode TestView(void)
{
  const Problem p = {RANDOM5, 120, 90, 1};
  PetscMPIInt   size;
  Mat           A;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int k = 0; k < 2; ++k) {
    const Ranks ranks = {
      k ? BOXES : NATURAL, {2, size / 2}
    };

    PetscCall(CreateRanks(&p, &ranks, &A));
    PetscCall(CreateRanksPC(A, &p, 8, 1, 100, &pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DMDA of the right size whose nodes are not where the rows are */
static PetscErrorCode TestMismatch(void)
{
  const Problem p     = {RANDOM5, 20, 21, 1};
  const Ranks   ranks = {UNEVEN, {0}};
  Mat           A;
  PC            pc;
  DM            dm;

  PetscFunctionBeginUser;
  PetscCall(CreateRanks(&p, &ranks, &A));
  PetscCall(CreatePC(A, 0, 0, 4, 1, &pc));
  PetscCall(
    DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, p.nx, p.ny, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(PCSetDM(pc, dm));
  PetscCall(DMDestroy(&dm));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-same",     TestSame    },
    {"-solve",    TestSolve   },
    {"-move",     TestMove    },
    {"-reduced",  TestReduced },
    {"-refresh",  TestRefresh },
    {"-view",     TestView    },
    {"-mismatch", TestMismatch}
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(RunTests(PETSC_STATIC_ARRAY_LENGTH(tests), tests));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     suffix: same
     nsize: {{2 3 4 6}}
     args: -same

   test:
     suffix: solve
     nsize: {{2 3 4 6}}
     args: -solve

   test:
     suffix: reduced
     nsize: {{1 2 3 4 6}}
     args: -reduced -pc_rrb_precision {{double single}}

   test:
     suites: valgrind(+3)
     suffix: move
     nsize: {{2 3}}
     args: -move

   test:
     suffix: single
     output_file: output/rrbranks_solve.out
     nsize: 3
     args: -solve -pc_rrb_precision single -mat_type aijdia

   test:
     suffix: refresh
     nsize: {{2 3 4}}
     args: -refresh

   test:
     suffix: view
     nsize: {{4 6}separate output}
     args: -view
     filter: grep -E "type: rrb|grid|levels|rest|bytes"

   test:
     suffix: mismatch
     nsize: 3
     args: -mismatch
     fails: make the matrix with DMCreateMatrix()

TEST*/
