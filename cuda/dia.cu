/* Products with matrices stored by diagonals. */
#include "diarows.cuh"
#include "module.cuh"

size_t PolderDiaMultWork_CUDA(PetscInt m)
{
  (void)m;
  return PolderReduceWork_CUDA();
}

int PolderDiaMult_CUDA(const PolderDia *A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work,
                       PolderStream stream)
{
  return DiaMultLaunch(A, A->val, x, {alpha, y, z}, {dot, false, (PolderReduceScratch *)work}, {}, stream);
}

int PolderDiaMultRuns_CUDA(const PolderDia *A, const PetscScalar x[], PetscScalar y[], PetscScalar *dot, const PolderRuns *runs, void *work,
                           PolderStream stream)
{
  return DiaMultLaunch(A, A->val, x, {1, NULL, y}, {dot, false, (PolderReduceScratch *)work}, {runs, NULL}, stream);
}

int PolderDiaMultGhosts_CUDA(const PolderDia *A, const PetscScalar x[], PetscScalar z[], PetscScalar *dot, const PolderDiaGhosts *ghosts, void *work,
                             PolderStream stream)
{
  return DiaMultLaunch(A, A->val, x, {1, NULL, z}, {dot, false, (PolderReduceScratch *)work}, {NULL, ghosts}, stream);
}

PetscBool PolderDiaRuns_CUDA(const PolderDia *A, PetscInt *far, PetscInt *chunk)
{
  DiaGrid<PetscScalar> G;
  bool                 half;

  if (!DiaFindProduct(A, A->val, &G, &half)) return PETSC_FALSE;
  *far   = G.far;
  *chunk = G.chunk;
  return PETSC_TRUE;
}

POLDER_MODULE(Dia)
