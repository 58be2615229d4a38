static char help[] = "Ghost values and CSR access of AIJ matrices.\n\n";

#include "mat/csr.h"
#include "mat/halo.h"

/* Value of entry (i, j) of the test matrix: a circulant-like pattern with far couplings, so that every process has ghosts of several others */
static PetscScalar Entry(PetscInt i, PetscInt j)
{
  return 1.0 + i + 0.001 * j;
}

static PetscErrorCode Fill(Mat A, PetscInt N, PetscInt stride, PetscReal scale)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    const PetscInt cols[] = {i, (i + 1) % N, (i + stride) % N};

    for (PetscInt k = 0; k < 3; ++k) PetscCall(MatSetValue(A, i, cols[k], scale * Entry(i, cols[k]), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every ghost must receive the global number of its column, as a scalar and as an integer; every CSR entry must carry the value of its place */
static PetscErrorCode Check(Mat A, PetscReal scale, PolderHalo *halo)
{
  PetscInt        nghost, cstart, cend, *iown, *ighost, count = 0, wrong = 0, total[2];
  const PetscInt *garray;
  PetscScalar    *own, *ghost;
  PolderCSR       csr;

  PetscFunctionBeginUser;
  PetscCall(PolderMatGetHalo(A, halo));
  PetscCall(PolderHaloGetGhosts(*halo, &nghost, &garray));
  PetscCall(MatGetOwnershipRangeColumn(A, &cstart, &cend));
  PetscCall(PetscMalloc4(cend - cstart, &own, cend - cstart, &iown, nghost, &ghost, nghost, &ighost));
  for (PetscInt i = cstart; i < cend; ++i) {
    own[i - cstart]  = (PetscScalar)i;
    iown[i - cstart] = 7 * i;
  }
  PetscCall(PolderHaloBegin(*halo, MPIU_SCALAR, own, ghost));
  PetscCall(PolderHaloEnd(*halo, MPIU_SCALAR, own, ghost));
  PetscCall(PolderHaloBegin(*halo, MPIU_INT, iown, ighost));
  PetscCall(PolderHaloEnd(*halo, MPIU_INT, iown, ighost));
  for (PetscInt k = 0; k < nghost; ++k) wrong += PetscRealPart(ghost[k]) != (PetscReal)garray[k] || ighost[k] != 7 * garray[k];

  PetscCall(PolderMatGetCSR(A, &csr));
  wrong += csr.nghost != nghost;
  for (PetscInt i = 0; i < csr.m; ++i) {
    for (PetscInt k = csr.ai[i]; k < csr.ai[i + 1]; ++k, ++count) wrong += csr.aa[k] != scale * Entry(csr.rstart + i, cstart + csr.aj[k]);
    for (PetscInt k = csr.bi ? csr.bi[i] : 0; csr.bi && k < csr.bi[i + 1]; ++k, ++count)
      wrong += csr.ba[k] != scale * Entry(csr.rstart + i, csr.garray[csr.bj[k]]);
  }
  PetscCall(PolderMatRestoreCSR(A, &csr));
  PetscCall(PetscFree4(own, iown, ghost, ighost));
  total[0] = count;
  total[1] = wrong;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, total, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  entries %" PetscInt_FMT ", wrong %" PetscInt_FMT "\n", total[0], total[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat        A, B;
  PolderHalo halo, again;
  PetscInt   N = 23;
  PetscBool  is;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &N, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(A, N, 5, 1.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "first pattern\n"));
  PetscCall(Check(A, 1.0, &halo));
  PetscCall(Fill(A, N, 5, 2.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values\n"));
  PetscCall(Check(A, 2.0, &again));
  PetscCheck(halo == again, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The halo was not kept");
  PetscCall(MatScale(A, 0.5));
  PetscCall(Fill(A, N, 9, 1.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "more entries\n"));
  PetscCall(Check(A, 1.0, &again));
  PetscCheck(halo == again, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The halo was not kept");

  /* a new preallocation: another pattern with as many state changes as the first */
  PetscCall(MatSeqAIJSetPreallocation(A, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 3, NULL, 3, NULL));
  PetscCall(Fill(A, N, 11, 1.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new preallocation\n"));
  PetscCall(Check(A, 1.0, &again));

  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "duplicate\n"));
  PetscCall(Check(B, 1.0, &again));
  PetscCall(MatDestroy(&B));

  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, N, NULL, &B));
  PetscCall(PolderMatIsAIJ(B, &is));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "dense is AIJ: %s\n", is ? "yes" : "no"));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   testset:
     output_file: output/halo_1.out
     test:
       suffix: 1
     test:
       suites: valgrind
       suffix: 2
       nsize: 2
     test:
       suffix: 3
       nsize: 3
     test:
       suffix: 4
       nsize: 4

   test:
     suffix: empty_rank
     nsize: 4
     args: -n 3
     output_file: output/halo_empty_rank.out

TEST*/
