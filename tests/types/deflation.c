static char help[] = "Identities of deflation: P^2 = P, PA = AP^T, PAZ = 0, Q A Z = Z, for every kind of space.\n\n";

#include "bubbles.h"
#include "vecs.h"

static PetscErrorCode Check(const char what[], Vec difference, Vec reference, PetscReal tolerance)
{
  PetscReal error, norm;

  PetscFunctionBegin;
  PetscCall(VecNorm(difference, NORM_2, &error));
  PetscCall(VecNorm(reference, NORM_2, &norm));
  PetscCheck(error <= tolerance * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s does not hold: error %g, tolerance %g times %g", what, (double)error,
             (double)tolerance, (double)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckIdentities(PolderDeflationSpace space, Mat A, PetscReal tol)
{
  Vec      v, p, q, s;
  PetscInt d;

  PetscFunctionBegin;
  PetscCall(CreateVecs(A, &v, &p));
  PetscCall(VecDuplicate(v, &q));
  PetscCall(VecDuplicate(v, &s));
  PetscCall(FillRandom(v, 3));
  PetscCall(VecCopy(v, p)); // P^2 v = P v
  PetscCall(PolderDeflationSpaceApplyP(space, p));
  PetscCall(VecCopy(p, q));
  PetscCall(PolderDeflationSpaceApplyP(space, q));
  PetscCall(VecAXPY(q, -1, p));
  PetscCall(Check("P^2 = P", q, v, tol));
  PetscCall(VecCopy(v, q)); // P A v = A P^T v
  PetscCall(PolderDeflationSpaceApplyPT(space, q));
  PetscCall(MatMult(A, q, p));
  PetscCall(MatMult(A, v, s));
  PetscCall(VecCopy(s, q));
  PetscCall(PolderDeflationSpaceApplyP(space, q));
  PetscCall(VecAXPY(p, -1, q));
  PetscCall(Check("PA = AP^T", p, s, tol));
  PetscCall(VecZeroEntries(q)); // P v = v - A Q v
  PetscCall(PolderDeflationSpaceApplyQAdd(space, v, q));
  PetscCall(MatMult(A, q, p));
  PetscCall(VecAYPX(p, -1, v));
  PetscCall(VecCopy(v, q));
  PetscCall(PolderDeflationSpaceApplyP(space, q));
  PetscCall(VecAXPY(p, -1, q));
  PetscCall(Check("P = I - AQ", p, v, tol));
  PetscCall(PolderDeflationSpaceGetSize(space, &d));
  PetscCheck(d > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "There are no deflation vectors to check");
  for (PetscInt k = 0; k < d; ++k) { // P A z = 0
    PetscReal norm;

    PetscCall(PolderDeflationSpaceGetVector(space, k, v));
    PetscCall(VecNorm(v, NORM_2, &norm));
    PetscCheck(norm > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Vector %" PetscInt_FMT " is zero", k);
    PetscCall(MatMult(A, v, p));
    PetscCall(VecCopy(p, q));
    PetscCall(PolderDeflationSpaceApplyP(space, p));
    PetscCall(Check("PAZ = 0", p, q, tol));
  }
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&q));
  PetscCall(VecDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Z with entries of no pattern: two overlapping hats a block of rows */
static PetscErrorCode MakeZ(Mat A, PetscBool dense, Mat *Z)
{
  PetscInt m, start, end, M, d = 6;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), Z));
  PetscCall(MatSetSizes(*Z, m, PETSC_DECIDE, PETSC_DETERMINE, d));
  PetscCall(MatSetType(*Z, dense ? MATDENSE : MATAIJ));
  PetscCall(MatSetUp(*Z));
  for (PetscInt i = start; i < end; ++i) {
    const PetscReal t = (PetscReal)i / M * (d - 1);
    const PetscInt  k = PetscMin((PetscInt)t, d - 2);

    PetscCall(MatSetValue(*Z, i, k, 1 - (t - k), INSERT_VALUES));
    PetscCall(MatSetValue(*Z, i, k + 1, t - k, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*Z, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*Z, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GiveUserSpace(PolderDeflationSpace space, Mat A, const char how[])
{
  PetscBool labels, dense, near, vec;
  PetscInt  start, end, *l;
  Vec       v;
  Mat       Z;
  IS        is;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(how, "labels", &labels));
  PetscCall(PetscStrcmp(how, "dense", &dense));
  PetscCall(PetscStrcmp(how, "near", &near));
  PetscCall(PetscStrcmp(how, "vec", &vec));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  if (labels) {
    PetscCall(PetscMalloc1(end - start, &l));
    for (PetscInt i = start; i < end; ++i) l[i - start] = i % 5 ? i / 100 * 3 : -1; // with gaps, and rows in no vector
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, end - start, l, PETSC_OWN_POINTER, &is));
    PetscCall(PolderDeflationSpaceSetLabels(space, is));
    PetscCall(ISDestroy(&is));
  } else if (near) {
    MatNullSpace sp;

    PetscCall(CreateVecs(A, &v, NULL));
    PetscCall(FillRandom(v, 8));
    PetscCall(VecNormalize(v, NULL));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &v, &sp));
    PetscCall(MatSetNearNullSpace(A, sp));
    PetscCall(MatNullSpaceDestroy(&sp));
    PetscCall(VecDestroy(&v));
  } else if (vec) {
    PetscCall(CreateVecs(A, &v, NULL));
    for (PetscInt i = start; i < end; ++i) PetscCall(VecSetValue(v, i, i / 200, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(v));
    PetscCall(VecAssemblyEnd(v));
    PetscCall(PetscObjectCompose((PetscObject)A, "deflation_labels", (PetscObject)v));
    PetscCall(VecDestroy(&v));
  } else {
    PetscCall(MakeZ(A, dense, &Z));
    PetscCall(PolderDeflationSpaceSetMatrix(space, Z));
    PetscCall(MatDestroy(&Z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat                  A = NULL;
  Vec                  phi;
  Bubbles              bubbles;
  PolderDeflationSpace space;
  PetscBool            user;
  PetscInt             d, expected = -1;
  PetscReal            tol = 1e-10;
  char                 how[16];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-expected", &expected, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &tol, NULL));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, &phi));
  PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_WORLD, &space));
  PetscCall(PolderDeflationSpaceSetFromOptions(space));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-user", how, sizeof(how), &user));
  if (user) PetscCall(GiveUserSpace(space, A, how));
  PetscCall(PolderDeflationSpaceSetUp(space, A));
  PetscCall(PolderDeflationSpaceGetSize(space, &d));
  PetscCheck(expected < 0 || d == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " deflation vectors, expected %" PetscInt_FMT, d, expected);
  PetscCall(CheckIdentities(space, A, tol));
  bubbles.scale = 7; // changed values, same pattern
  bubbles.inside *= 3;
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(PolderDeflationSpaceSetUp(space, A));
  PetscCall(CheckIdentities(space, A, tol));
  bubbles.radius *= 0.7; // moved level set
  PetscCall(VecDestroy(&phi));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, &phi));
  PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  PetscCall(PolderDeflationSpaceSetUp(space, A));
  PetscCall(CheckIdentities(space, A, tol));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "identities hold\n"));
  PetscCall(PolderDeflationSpaceDestroy(&space));
  PetscCall(VecDestroy(&phi));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 3 4}}
    args: -n 11 -deflation_grid 11,11,11
    output_file: output/identities.out
    test:
      suites: valgrind(+2) memcheck(+1)
      suffix: subdomain
      args: -deflation_space subdomain -deflation_boxes 2,3,2 -expected 11
    test:
      suffix: subdomain_dirichlet
      args: -dirichlet -deflation_space subdomain -deflation_boxes 2,3,2 -expected 12
    test:
      suffix: inverse
      args: -deflation_space subdomain -deflation_boxes 2,2,2 -deflation_coarse inverse
    test:
      suffix: levelset
      args: -deflation_space levelset -expected 8
    test:
      suites: valgrind(+2) memcheck(+1)
      suffix: levelset_subdomain
      args: -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 15
    test:
      suffix: stripe
      args: -deflation_space stripe
    test:
      suffix: plane
      args: -deflation_space plane -deflation_count 5 -expected 4
    test:
      suites: valgrind(+2)
      suffix: partition
      args: -deflation_space partition -deflation_count 8 -expected 7
    test:
      suites: valgrind(+2)
      suffix: auto
      args: -n 16 -deflation_grid 16,16,16 -radius 0.2 -deflation_levelset auto
    test:
      suffix: auto_given
      args: -n 24 -deflation_grid 24,24,24 -expected 15
    test:
      suffix: labels
      args: -user labels
    test:
      suffix: vec
      args: -user vec -deflation_space user -expected 6
    test:
      suites: valgrind(+2)
      suffix: sparse
      args: -user sparse -expected 5
    test:
      suffix: dense
      args: -user dense -dirichlet -expected 6
    test:
      suffix: near
      args: -user near -deflation_space nearnullspace -expected 1
    test:
      suffix: weighted
      args: -deflation_weighted -deflation_space subdomain -deflation_boxes 1,1,3 -expected 2
    test:
      suffix: ksp
      args: -deflation_space subdomain -deflation_boxes 2,2,3 -deflation_coarse ksp -deflation_coarse_ksp_rtol 1e-13 -tolerance 1e-8

  testset:
    requires: cuda
    nsize: {{1 2}}
    args: -n 11 -deflation_grid 11,11,11 -mat_type aijcusparse -use_gpu_aware_mpi 0
    output_file: output/identities.out
    test:
      suffix: cuda_subdomain
      args: -deflation_space subdomain -deflation_boxes 2,3,2 -expected 11
    test:
      suffix: cuda_dirichlet
      args: -dirichlet -deflation_space subdomain -deflation_boxes 2,3,2 -expected 12
    test:
      suffix: cuda_coarse
      args: -deflation_space subdomain -deflation_boxes 2,2,2 -deflation_coarse {{inverse cholesky}}
    test:
      suffix: cuda_levelset
      args: -deflation_space levelset -expected 8
    test:
      suffix: cuda_levelset_subdomain
      args: -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 15
    test:
      suffix: cuda_stripe
      args: -deflation_space stripe
    test:
      suffix: cuda_partition
      args: -deflation_space partition -deflation_count 8 -expected 7
    test:
      suffix: cuda_auto
      args: -n 24 -deflation_grid 24,24,24
    test:
      suffix: cuda_labels
      args: -user labels
    test:
      suffix: cuda_vec
      args: -user vec -deflation_space user -expected 6
    test:
      suffix: cuda_sparse
      args: -user sparse -expected 5
    test:
      suffix: cuda_near
      args: -user near -deflation_space nearnullspace -expected 1
    test:
      suffix: cuda_weighted
      args: -deflation_weighted -deflation_space subdomain -deflation_boxes 1,1,3 -expected 2
    test:
      suffix: cuda_ksp
      args: -deflation_space subdomain -deflation_boxes 2,2,3 -deflation_coarse ksp -deflation_coarse_ksp_rtol 1e-13 -tolerance 1e-8

  testset:
    requires: gpu
    nsize: {{2 3}}
    args: -n 11 -deflation_grid 11,11,11 -mat_type {{aijdia aijhec}}
    output_file: output/identities.out
    test:
      suffix: devices_subdomain
      args: -deflation_space subdomain -deflation_boxes 2,3,2 -expected 11
    test:
      suffix: devices_dirichlet
      args: -dirichlet -deflation_space subdomain -deflation_boxes 2,3,2 -deflation_coarse {{inverse cholesky}} -expected 12
    test:
      suffix: devices_levelset
      args: -deflation_space levelset -expected 8
    test:
      suffix: devices_levelset_subdomain
      args: -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 15
    test:
      suffix: devices_partition
      args: -deflation_space partition -deflation_count 8 -expected 7
    test:
      suffix: devices_ksp
      args: -deflation_space subdomain -deflation_boxes 2,2,3 -deflation_coarse ksp -deflation_coarse_ksp_rtol 1e-13 -tolerance 1e-8

  test:
    suffix: auto_shown
    nsize: {{1 2 3 4}}
    args: -n 24 -expected 15
    output_file: output/identities.out

  test:
    suffix: auto_shown_2d
    nsize: {{1 3}}
    args: -dim 2 -n 40 -k 0 -expected 24
    output_file: output/identities.out

  test:
    suffix: rank
    nsize: {{2 3 4}}
    args: -n 11 -deflation_space rank
    output_file: output/identities.out

TEST*/
