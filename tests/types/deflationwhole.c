static char help[] = "METIS parts of a matrix whose rows are in an order that has nothing to do with its graph: those of one process.\n\n";

#include "pamgproblems.h"
#include "runner.h"
#include "scattered.h"
#include "deflation/deflationlabels.h"
#include <petsc/private/matimpl.h>
#include <polder.h>

/* Rows are on any process, and the vectors, so the iterations, are those of one process */
static PetscErrorCode TestIterations(void)
{
  static const PetscInt most[NSCATTERED] = {120, 50, 0, 0, 61, 0};

  PetscFunctionBeginUser;
  for (int problem = 0; problem < NSCATTERED; ++problem) {
    PetscInt  its;
    PetscReal residual;
    Mat       A;

    if (!most[problem]) continue;
    PetscCall(CreateScattered((Scattered)problem, 1, &A));
    PetscCall(ProblemSolve(A, "-ksp_type dcg -pc_type jacobi -deflation_space partition -deflation_count 60", NULL, &its, &residual));
    PetscCheck(its <= most[problem] && its >= most[problem] - 6 && residual <= 1.001e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " are known, residual %g", scattered[problem], its, most[problem], (double)residual);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations as they are known\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parts have few couplings between them, and each has its share of the rows */
static PetscErrorCode TestParts(void)
{
  static const PetscInt nparts = 7;
  Mat                   A;
  PetscInt             *part, failed, count[7] = {0}, cut[2] = {0};
  Vec                   parts, ghosts;
  VecScatter            scatter;
  IS                    columns;
  const PetscScalar    *there;
  PolderCSR             csr;

  PetscFunctionBeginUser;
  PetscCall(CreateScattered(SHUFFLED, 1, &A));
  PetscCall(PetscMalloc1(A->rmap->n, &part));
  PetscCall(PolderMatPartitionWhole(A, 1, 50, nparts, part, &failed));
  PetscCheck(!failed, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "METIS fails: %" PetscInt_FMT, failed);
  PetscCall(MatCreateVecs(A, &parts, NULL));
  for (PetscInt i = 0; i < A->rmap->n; ++i) {
    ++count[part[i]];
    PetscCall(VecSetValue(parts, A->rmap->rstart + i, part[i], INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(parts));
  PetscCall(VecAssemblyEnd(parts));
  PetscCall(PolderMatGetCSR(A, &csr));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, csr.nghost, csr.garray, PETSC_COPY_VALUES, &columns));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, csr.nghost, &ghosts));
  PetscCall(VecScatterCreate(parts, columns, ghosts, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, parts, ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, parts, ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(ghosts, &there));
  for (PetscInt i = 0; i < csr.m; ++i) {
    for (PetscInt k = csr.ai[i]; k < csr.ai[i + 1]; ++k) cut[part[csr.aj[k]] != part[i]] += csr.aj[k] != i;
    for (PetscInt k = csr.bi ? csr.bi[i] : 0; csr.bi && k < csr.bi[i + 1]; ++k) cut[(PetscInt)PetscRealPart(there[csr.bj[k]]) != part[i]]++;
  }
  PetscCall(VecRestoreArrayRead(ghosts, &there));
  PetscCall(PolderMatRestoreCSR(A, &csr));
  PetscCallAllreduce(MPI_IN_PLACE, count, 7, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
  PetscCallAllreduce(MPI_IN_PLACE, cut, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
  for (PetscInt p = 0; p < nparts; ++p)
    PetscCheck(PetscAbsReal((PetscReal)nparts * (PetscReal)count[p] / (PetscReal)A->rmap->N - 1) <= 0.1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Part %" PetscInt_FMT " has %" PetscInt_FMT " rows", p, count[p]);
  PetscCheck(cut[1] <= 0.1 * (cut[0] + cut[1]), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " couplings are cut, %" PetscInt_FMT " are not", cut[1],
             cut[0]);
  PetscCall(PetscFree(part));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&columns));
  PetscCall(VecDestroy(&ghosts));
  PetscCall(VecDestroy(&parts));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "few couplings between parts\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-iterations", TestIterations},
    {"-parts",      TestParts     }
  };

  return RunProgram(argc, argv, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  test:
    suffix: iterations
    nsize: {{1 2 4}}
    args: -iterations

  test:
    suites: valgrind(+3)
    suffix: parts
    nsize: {{1 3}}
    args: -parts

TEST*/
