static char help[] = "The repeated red-black preconditioner on several processes against itself on one.\n\n";

#include "rrbranks/rrbranks.h"
#include <polder.h>

/* The grid is given where neither the DMDA nor the diagonals show it */
static PetscErrorCode CreateRanksPC(Mat A, const Problem *p, PetscInt levels, PetscReal omega, PetscReal latency, PC *pc)
{
  const PetscBool shown = (PetscBool)(p->nx > 1 && p->kind != LAKES && p->seed % 2);
  DM              dm;
  Vec             v;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &v, NULL)); // a program has vectors before it sets up a preconditioner
  PetscCall(VecDestroy(&v));
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
  Mat                A;
  Vec                r, z;
  PetscScalar       *rr;
  const PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(VecGetArray(r, &rr));
  for (PetscInt i = 0; i < N; ++i) rr[i] = Hash(3, i, i) - 0.5;
  PetscCall(VecRestoreArray(r, &rr));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecGetArrayRead(z, &values));
  PetscCall(PetscArraycpy(zz, values, N));
  PetscCall(VecRestoreArrayRead(z, &values));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
      PetscBool whole;

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
      whole = (PetscBool)(((PC_RRB *)pc->data)->whole.replica != NULL); // has no latency
      PetscCall(PCDestroy(&pc));
      if (whole) break;
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M is the same however the rows lie and the grids are spread */
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

/* An array of the factor that a set-up with new values keeps */
static const void *FirstArray(PC pc)
{
  const PC_RRB *rrb = (const PC_RRB *)pc->data;

  return rrb->device.valid ? rrb->device.step[0].c : rrb->grid[0].z;
}

/* New values on the arrays that are there; other levels, omega, latency; other rows */
static PetscErrorCode TestRefresh(void)
{
  const Problem first = {RANDOM9, 64, 50, 1}, second = {RANDOM9, 64, 50, 2};
  PetscScalar  *zz;
  PetscReal     difference;
  Mat           A, B;
  PC            pc, alone;
  const void   *before;
  Ranks         ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(second.nx * second.ny, &zz));
  for (PetscInt which = 0; NextRanks(&first, &which, &ranks);) {
    PetscCall(CreateRanks(&first, &ranks, &A));
    PetscCall(CreateRanksPC(A, &first, 6, 1, 0, &pc));
    PetscCall(PCSetUp(pc));
    before = FirstArray(pc);
    PetscCall(FillRanks(&second, A));
    PetscCall(CreateAlone(&second, &B));
    PetscCall(CreatePC(B, second.nx, second.ny, 6, 1, &alone));
    PetscCall(ApplyAlone(alone, second.nx * second.ny, zz));
    PetscCall(Compare(pc, zz, &difference));
    if (difference > 1e-13 || before != FirstArray(pc)) PetscCall(Report("new values", PETSC_FALSE, difference));
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
    {"-lines",    TestLines   },
    {"-refresh",  TestRefresh },
    {"-view",     TestView    },
    {"-mismatch", TestMismatch}
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

   build: internal

   test:
     suffix: same
     nsize: {{2 3 4 6}}
     args: -same

   test:
     suffix: twice
     output_file: output/rrbranks_same.out
     nsize: {{2 3 4 6}}
     args: -same -pc_rrb_twice {{1 2}}

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
     requires: !gpu
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

   testset:
     requires: gpu
     args: -mat_type aijdia
     test:
       suffix: whole_same
       nsize: {{2 4}}
       output_file: output/rrbranks_same.out
       args: -same
     test:
       suffix: whole_solve
       nsize: {{2 3}}
       args: -solve
     test:
       suffix: whole_reduced
       nsize: {{2 4}}
       args: -reduced -pc_rrb_precision {{double single}}
     test:
       suffix: whole_move
       nsize: 3
       output_file: output/rrbranks_move.out
       args: -move
     test:
       suffix: whole_refresh
       nsize: 3
       output_file: output/rrbranks_refresh.out
       args: -refresh
     test:
       suffix: whole_view
       nsize: 4
       args: -view
       filter: grep -E "type: rrb|grid|levels|rest|factor" | sed 's/; values.*$//'

   testset:
     requires: gpu
     args: -mat_type aijdia -polder_min_rows_per_gpu 1
     test:
       suffix: lines_reduced
       output_file: output/rrbranks_whole_reduced.out
       nsize: {{2 3 4}}
       args: -reduced -pc_rrb_precision {{double single}}
     test:
       suffix: lines
       nsize: {{2 3 4}}
       args: -lines -pc_rrb_precision {{double single}} -lines_reductions {{1 2}}
     test:
       suffix: lines_host
       nsize: 3
       output_file: output/rrbranks_lines.out
       args: -lines -polder_transport host -use_gpu_aware_mpi 0 -lines_reductions 2
     test:
       suffix: lines_natural
       nsize: 3
       output_file: output/rrbranks_lines.out
       args: -lines -ksp_norm_type natural -lines_reductions 2
     test:
       suffix: lines_twice
       output_file: output/rrbranks_lines.out
       nsize: {{2 3 4}}
       args: -lines -pc_rrb_twice {{1 2}} -lines_reductions 2
     test:
       suffix: lines_move
       nsize: 3
       output_file: output/rrbranks_move.out
       args: -move

   testset:
     requires: emulated
     args: -mat_type aijdia -emulated_gpus 1
     nsize: 3
     test:
       suffix: shared_same
       output_file: output/rrbranks_same.out
       args: -same
     test:
       suffix: shared_reduced
       output_file: output/rrbranks_whole_reduced.out
       args: -reduced

   test:
     suffix: mismatch
     nsize: 3
     args: -mismatch
     fails: make the matrix with DMCreateMatrix()

TEST*/
