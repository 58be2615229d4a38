static char help[] = "Times hypre's PFMG, which is told the grid, and its BoomerAMG in conjugate gradients on a problem of bench/solve; any number of\n"
                     "  processes, with a GPU each where hypre has CUDA.\n"
                     "  options of the problem: see bench/solve, PFMG those of grids only; -peer pfmg|boomeramg, -repeats <3>\n"
                     "  Each combination of options that suits the machine is run; the best in all is printed as a row of the table of bench/solve.\n\n";

#include "hypre.h"

#if defined(HYPRE_USING_CUDA)
  #include <cuda_runtime_api.h>
  #define CheckCUDA(call) PetscCheck((call) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA: %s", #call)
#endif

PetscErrorCode Place(size_t n, const void *from, size_t size, void **to)
{
  PetscFunctionBeginUser;
#if defined(HYPRE_USING_CUDA)
  CheckCUDA(cudaMalloc(to, PetscMax(n, 1) * size));
  CheckCUDA(cudaMemcpy(*to, from, n * size, cudaMemcpyHostToDevice));
#else
  PetscCall(PetscMalloc(PetscMax(n, 1) * size, to));
  PetscCall(PetscMemcpy(*to, from, n * size));
#endif
  PetscFunctionReturn(0);
}

PetscErrorCode Unplace(size_t n, void *a, size_t size, void *to)
{
  PetscFunctionBeginUser;
#if defined(HYPRE_USING_CUDA)
  if (to) CheckCUDA(cudaMemcpy(to, a, n * size, cudaMemcpyDeviceToHost));
  CheckCUDA(cudaFree(a));
#else
  if (to) PetscCall(PetscMemcpy(to, a, n * size));
  PetscCall(PetscFree(a));
#endif
  PetscFunctionReturn(0);
}

PetscErrorCode Now(PetscLogDouble *t)
{
  PetscFunctionBeginUser;
#if defined(HYPRE_USING_CUDA)
  CheckCUDA(cudaDeviceSynchronize());
#endif
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(t));
  PetscFunctionReturn(0);
}

PetscErrorCode Residual(const Problem *p, const Rows *A, const HYPRE_Real x[], PetscReal *residual)
{
  PetscScalar       *xx;
  const PetscScalar *all;
  PetscReal          sums[2] = {0, 0};
  Vec                part, whole;
  VecScatter         scatter;

  PetscFunctionBeginUser;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, p->rows, p->N, &part));
  PetscCall(VecGetArrayWrite(part, &xx));
  for (PetscInt i = 0; i < p->rows; ++i) xx[i] = x[i];
  PetscCall(VecRestoreArrayWrite(part, &xx));
  PetscCall(VecScatterCreateToAll(part, &scatter, &whole));
  PetscCall(VecScatterBegin(scatter, part, whole, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, part, whole, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(whole, &all));
  for (PetscInt i = 0; i < p->rows; ++i) {
    PetscScalar r = RightHandSide(p, p->first + i);

    sums[1] += PetscRealPart(r * r);
    for (PetscInt k = A->ai[i]; k < A->ai[i + 1]; ++k) r -= A->aa[k] * all[A->aj[k]];
    sums[0] += PetscRealPart(r * r);
  }
  PetscCall(VecRestoreArrayRead(whole, &all));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&whole));
  PetscCall(VecDestroy(&part));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *residual = PetscSqrtReal(sums[0] / sums[1]);
  PetscFunctionReturn(0);
}

PetscErrorCode Better(const Outcome *found, Outcome *best)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " its, %.1e, %.3f + %.3f ms\n", found->name, found->its, (double)found->residual,
                        1e3 * (double)found->setup, 1e3 * (double)found->solve));
  if (found->residual <= 1.01e-6 && (!best->its || found->setup + found->solve < best->setup + best->solve)) *best = *found;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const char *const peers[] = {"pfmg", "boomeramg", "Peers", "", NULL};
  Problem           p       = {0};
  Rows              A       = {NULL, NULL, NULL};
  Outcome           best    = {.its = 0};
  PetscInt          repeats = 3;
  PetscEnum         peer    = (PetscEnum)0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(GetProblem(&p));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-peer", peers, &peer, NULL));
  PetscCall(PetscOptionsClearValue(NULL, "-coo")); // that of bench/solve for matrices of PETSc
  PetscCheck((int)peer == 1 || (!p.graph && !p.points), PETSC_COMM_WORLD, PETSC_ERR_SUP, "PFMG is for problems on grids");
  PetscCall(ProblemRows(&p, &A)); // reads options of graphs
  PetscCall(RequireOptionsRead(NULL));
#if defined(HYPRE_USING_CUDA)
  int         count;
  PetscMPIInt rank;

  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  CheckCUDA(cudaGetDeviceCount(&count));
  CheckCUDA(cudaSetDevice(rank % count));
#endif
  HYPRE_Init();
  PetscCall((int)peer == 0 ? SolvePFMG(&p, &A, repeats, &best) : SolveBoomerAMG(&p, &A, repeats, &best));
  if (best.its)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| hypre %s | %" PetscInt_FMT " | %.1e | %.3f | %.3f | %.3f | %.1f | | | |\n", best.name, best.its,
                          (double)best.residual, 1e3 * (double)best.setup, 1e3 * (double)best.solve, 1e3 * (double)(best.setup + best.solve),
                          1e6 * (double)best.solve / (double)best.its));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| hypre %s | does not converge |\n", (int)peer == 0 ? "PFMG" : "BoomerAMG"));
  HYPRE_Finalize();
  PetscCall(RowsFree(&p, &A));
  PetscCall(PetscFinalize());
  return 0;
}
