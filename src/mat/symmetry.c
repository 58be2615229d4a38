/* Tests whether a matrix is symmetric without its transpose. */
#include "symmetry.h"
#include "dia.h"
#include "csr.h"
#include "core/place.h"

PetscErrorCode PolderMatBlockSymmetric(Mat A, PetscBool *symmetric)
{
  PolderCSR        csr;
  const PolderDia *dia;
  PetscReal       *away, most[2] = {0, 0};
  PetscMPIInt      all;

  PetscFunctionBegin;
  PetscCall(PolderMatGetDia(A, &dia));
  PetscCall(PolderMatGetCSR(A, &csr));
  PetscCall(PetscCalloc1(csr.m, &away));
  for (PetscInt i = 0; !(dia && dia->half) && i < csr.m; ++i) {
    for (PetscInt k = csr.ai[i]; k < csr.ai[i + 1]; ++k) {
      away[i] += PetscRealPart(csr.aa[k]) * (1 + csr.aj[k] % 7);
      away[csr.aj[k]] -= PetscRealPart(csr.aa[k]) * (1 + i % 7);
      if (csr.aj[k] == i) most[1] = PetscMax(most[1], PetscAbsScalar(csr.aa[k]));
    }
  }
  for (PetscInt i = 0; i < csr.m; ++i) most[0] = PetscMax(most[0], PetscAbsReal(away[i]));
  all = !(most[0] > POLDER_SYMMETRIC * most[1] && most[0] <= PETSC_MAX_REAL);
  PetscCall(PetscFree(away));
  PetscCall(PolderMatRestoreCSR(A, &csr));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *symmetric = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatProductsSymmetric(Mat A, PetscBool *symmetric)
{
  const PolderDia *dia;
  PetscScalar      vw, wv;
  PetscReal        norms[3];
  PetscMPIInt      size;
  Vec              v, w, y;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(PolderMatGetDeviceDia(A, &dia));
  if (size == 1 && dia && dia->half) {
    *symmetric = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(A, &v, &y));
  PetscCall(VecDuplicate(v, &w));
  PetscCall(PolderVecFill(v, 1, 0));
  PetscCall(PolderVecFill(w, 2, 0));
  PetscCall(MatMult(A, v, y));
  PetscCall(VecDot(y, w, &vw));
  PetscCall(VecNorm(y, NORM_2, &norms[0]));
  PetscCall(VecNorm(w, NORM_2, &norms[1]));
  PetscCall(MatMult(A, w, y));
  PetscCall(VecDot(y, v, &wv));
  norms[2]   = PetscAbsScalar(vw - wv);
  *symmetric = (PetscBool) !(norms[2] > POLDER_SYMMETRIC * norms[0] * norms[1] && norms[2] <= PETSC_MAX_REAL);
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
