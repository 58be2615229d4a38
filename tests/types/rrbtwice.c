static char help[] = "Second visits of grids by the repeated red-black preconditioner: their formula, symmetry, iterations and changes of the matrix.\n\n";

#include "rrb/rrb.h"
#include "rrbproblems.h"
#include <polder.h>

static PetscErrorCode CreateTwice(Mat A, PetscInt levels, PetscInt first, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(CreatePC(A, 0, 0, levels, 1, pc));
  PetscTryMethod(*pc, "PCRRBSetTwice_C", (PC, PetscInt), (*pc, first));
  PetscCall(PCSetUp(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of grid 1 and the lengths of its visits, as the preconditioner stores them; B: a visit of it, which is another preconditioner */
static PetscErrorCode TakeGrid(PC pc, PetscInt nx, PetscInt ny, Mat *A, PetscReal length[2])
{
  const PC_RRB         *rrb    = (PC_RRB *)pc->data;
  const PetscBool       device = rrb->device.valid;
  const RRBTwice       *twice  = device ? &rrb->device.twice[1] : &rrb->grid[1].twice;
  const PolderRRBPlane *g      = &twice->plane;
  PetscScalar          *a;

  PetscFunctionBeginUser;
  PetscCheck(g->nx == nx && g->ny == ny && twice->length[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Grid 1 is not visited twice");
  PetscCall(PetscArraycpy(length, twice->length, 2));
  PetscCall(PetscMalloc1(RRB_NROW * g->size, &a));
  PetscCall((*PolderPlaceOf(device)->take)(a, twice->a, sizeof(*a) * RRB_NROW * g->size));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, nx * ny, nx * ny, 9, NULL, A));
  for (PetscInt i = 0; i < nx * ny; ++i) {
    static const PetscInt to[RRB_NROW][2] = {
      {0, 0 },
      {1, 0 },
      {0, 1 },
      {1, 1 },
      {1, -1}
    };
    const PetscInt x = i % nx, y = i / nx;

    for (int f = 0; f < RRB_NROW; ++f) {
      const PetscInt    tx = x + to[f][0], ty = y + to[f][1], j = ty * nx + tx;
      const PetscScalar v = a[(size_t)f * g->size + g->origin + (size_t)y * (size_t)g->pitch + (size_t)x];

      if (tx >= nx || ty < 0 || ty >= ny) continue;
      PetscCall(MatSetValue(*A, i, j, v, INSERT_VALUES));
      PetscCall(MatSetValue(*A, j, i, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- l_0 B r + l_1 B (r - l_0 A B r) */
static PetscErrorCode VisitTwice(Mat A, PC B, const PetscReal length[2], Vec r, Vec z)
{
  Vec v, d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(r, &v));
  PetscCall(VecDuplicate(r, &d));
  PetscCall(PCApply(B, r, v));
  PetscCall(MatMult(A, v, d));
  PetscCall(VecAYPX(d, -length[0], r));
  PetscCall(PCApply(B, d, z));
  PetscCall(VecScale(z, length[1]));
  PetscCall(VecAXPY(z, length[0], v));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector that is zero but on the nodes of grid 1 passes grid 0 unchanged, and comes back as what the visits of grid 1 make of it */
static PetscErrorCode TestVisits(void)
{
  static const Problem problems[] = {
    {POISSON, 255, 255, 0},
    {RANDOM9, 200, 231, 1},
    {NEUMANN, 128, 260, 2},
    {NINE,    160, 170, 0}
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    const Problem     *p  = &problems[k];
    const PetscInt     nx = p->nx / 2, ny = p->ny / 2;
    Mat                A, A1;
    PC                 pc, B;
    Vec                r, z, r1, z1;
    PetscReal          length[2], worst = 0, norm;
    PetscScalar       *rr;
    const PetscScalar *r1a, *za, *z1a;
    char               what[64];

    PetscCall(CreateMatrix(p, &A));
    PetscCall(CreateTwice(A, 8, 1, &pc));
    PetscCall(TakeGrid(pc, nx, ny, &A1, length));
    PetscCall(CreatePC(A1, nx, ny, 6, 1, &B));
    PetscTryMethod(B, "PCRRBSetTwice_C", (PC, PetscInt), (B, ((PC_RRB *)pc->data)->device.valid ? 3 : 1));
    PetscCall(CreateVecs(A, &r, &z));
    PetscCall(MatCreateVecs(A1, &r1, &z1));
    PetscCall(FillRandom(r1, 5));
    PetscCall(VecSet(r, 0));
    PetscCall(VecGetArray(r, &rr));
    PetscCall(VecGetArrayRead(r1, &r1a));
    for (PetscInt i = 0; i < nx * ny; ++i) rr[(2 * (i / nx) + 1) * p->nx + 2 * (i % nx) + 1] = r1a[i];
    PetscCall(VecRestoreArrayRead(r1, &r1a));
    PetscCall(VecRestoreArray(r, &rr));
    PetscCall(PCApply(pc, r, z));
    PetscCall(VisitTwice(A1, B, length, r1, z1));
    PetscCall(VecNorm(z1, NORM_INFINITY, &norm));
    PetscCall(VecGetArrayRead(z, &za));
    PetscCall(VecGetArrayRead(z1, &z1a));
    for (PetscInt i = 0; i < nx * ny; ++i) worst = PetscMax(worst, PetscAbsScalar(za[(2 * (i / nx) + 1) * p->nx + 2 * (i % nx) + 1] - z1a[i]) / norm);
    PetscCall(VecRestoreArrayRead(z1, &z1a));
    PetscCall(VecRestoreArrayRead(z, &za));
    PetscCall(PetscSNPrintf(what, sizeof(what), "problem %d: z = l_0 B r + l_1 B (r - l_0 A B r)", (int)k));
    PetscCall(Report(what, (PetscBool)(worst < 1e-11), worst));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&r1));
    PetscCall(VecDestroy(&z1));
    PetscCall(PCDestroy(&B));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A1));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (s, M^-1 r) = (r, M^-1 s), (r, M^-1 r) > 0 */
static PetscErrorCode TestSymmetric(void)
{
  PetscFunctionBeginUser;
  for (int kind = RANDOM5; kind <= NEUMANN; ++kind) {
    const Problem p = {(Kind)kind, 130, 127, 1};
    Mat           A;
    PC            pc;
    Vec           r, s, z;
    PetscScalar   rs, sr, rr;

    PetscCall(CreateMatrix(&p, &A));
    PetscCall(CreateTwice(A, PETSC_DECIDE, 1, &pc));
    PetscCall(CreateVecs(A, &r, &s));
    PetscCall(VecDuplicate(r, &z));
    PetscCall(FillRandom(r, 1));
    PetscCall(FillRandom(s, 2));
    PetscCall(PCApply(pc, r, z));
    PetscCall(VecDot(s, z, &rs));
    PetscCall(VecDot(r, z, &rr));
    PetscCall(PCApply(pc, s, z));
    PetscCall(VecDot(r, z, &sr));
    PetscCall(Report("symmetric", (PetscBool)(PetscAbsScalar(rs - sr) < 1e-11 * PetscAbsScalar(rr)), PetscAbsScalar(rs - sr)));
    PetscCall(Report("positive", (PetscBool)(PetscRealPart(rr) > 0), PetscRealPart(rr)));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&s));
    PetscCall(VecDestroy(&r));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, Vec b, PetscInt first, PetscInt *its, PetscReal *residual)
{
  KSP ksp;
  PC  pc;
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(CreateSolver(A, "rrbcg", PETSC_DECIDE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscTryMethod(pc, "PCRRBSetTwice_C", (PC, PetscInt), (pc, first));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(TrueResidual(A, b, x, residual));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of rrbcg to 1e-6 without and with second visits, on any number of processes */
static PetscErrorCode TestIterations(void)
{
  static const struct {
    PetscInt  n;
    PetscReal contrast;   /* 0: Poisson */
    PetscInt  most[2][2]; /* iterations on the host and on the device, once and twice */
  } cases[] = {
    {127, 0,    {{13, 11}, {10, 10}}},
    {255, 0,    {{16, 11}, {14, 11}}},
    {511, 0,    {{18, 12}, {18, 12}}},
    {128, 1e3,  {{18, 17}, {14, 14}}},
    {256, 1e3,  {{19, 16}, {18, 15}}},
    {512, 1e3,  {{23, 17}, {23, 17}}},
    {512, 1e-3, {{24, 15}, {24, 17}}}
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    const Problem p       = {POISSON, cases[k].n, cases[k].n, 0};
    const Bubbles bubbles = {.dim = 2, .n = cases[k].n, .k = 4, .radius = 0.3 / 4, .inside = cases[k].contrast, .scale = 1};
    Mat           A;
    Vec           x, b;
    PetscBool     device;

    if (cases[k].contrast > 0) PetscCall(BubblesNeumann(&bubbles, PETSC_COMM_WORLD, &A, &b));
    else {
      PetscCall(CreateMatrix(&p, &A));
      PetscCall(CreateVecs(A, &x, &b));
      PetscCall(FillExact(&p, x));
      PetscCall(MatMult(A, x, b));
      PetscCall(VecDestroy(&x));
    }
    PetscCall(PolderVecOnDevice(b, &device));
    for (int twice = 0; twice < 2; ++twice) {
      PetscInt  its, most = cases[k].most[device][twice];
      PetscReal residual;
      char      what[128];

      PetscCall(Solve(A, b, !twice ? 0 : device ? 2 : PETSC_DECIDE, &its, &residual)); // automatic on a device: larger grids alone
      PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT "^2, contrast %g: iterations %s second visits", cases[k].n, (double)cases[k].contrast,
                              twice ? "with" : "without"));
      PetscCall(Report(what, (PetscBool)(its <= most && its >= most - 1 && residual < 1.05e-6), its));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Light bubbles: the preconditioner is that without second visits. Later values with the same pattern, also of a matrix that they suit, do not change that */
static PetscErrorCode TestLight(void)
{
  Bubbles   b = {.dim = 2, .n = 256, .k = 4, .radius = 0.3 / 4, .inside = 1e-3, .scale = 1};
  Mat       A, B;
  Vec       f, x, y, r;
  PC        pc, once;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(BubblesNeumann(&b, PETSC_COMM_WORLD, &A, &f));
  PetscCall(VecDestroy(&f));
  b.inside = 1e3;
  PetscCall(BubblesNeumann(&b, PETSC_COMM_WORLD, &B, &f));
  PetscCall(CreateTwice(A, PETSC_DECIDE, PETSC_DECIDE, &pc));
  PetscCall(CreateTwice(A, PETSC_DECIDE, 0, &once));
  PetscCall(VecDuplicate(f, &x));
  PetscCall(VecDuplicate(f, &y));
  PetscCall(VecDuplicate(f, &r));
  PetscCall(FillRandom(r, 4));
  for (int k = 0; k < 2; ++k) {
    PetscCall(PCApply(pc, r, x));
    PetscCall(PCApply(once, r, y));
    PetscCall(VecAXPY(x, -1, y));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCall(Report(k ? "other values: visited once" : "light bubbles: visited once", (PetscBool)(norm == 0), norm));
    PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSetUp(once));
  }
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&r));
  PetscCall(PCDestroy(&once));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  const Problem p = {POISSON, 255, 255, 0};
  Mat           A;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(&p, &A));
  PetscCall(CreateTwice(A, PETSC_DECIDE, PETSC_DECIDE, &pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-formula",    TestVisits    },
    {"-symmetric",  TestSymmetric },
    {"-iterations", TestIterations},
    {"-light",      TestLight     },
    {"-view",       TestView      }
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

   build: internal

   test:
     suffix: formula
     args: -formula -mat_type {{aij aijdia}}

   test:
     suffix: symmetric
     nsize: {{1 3}}
     args: -symmetric -mat_type {{aij aijdia}} -pc_rrb_precision {{double single}}

   test:
     suffix: iterations
     nsize: {{1 2 3}}
     args: -iterations -mat_type aijdia -pc_rrb_precision {{double single}}

   test:
     suffix: light
     requires: !gpu
     nsize: {{1 2}}
     args: -light

   test:
     suffix: view
     requires: !gpu
     args: -view
     filter: grep -E "levels|rest|visited|bytes"

TEST*/
