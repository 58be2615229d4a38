/* Matrices whose rows lie in many ways on the processes. */
#include "rrbranks.h"

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
PetscErrorCode GetNodes(Mat A, PetscInt **nodes, PetscInt *m)
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
PetscErrorCode FillNodes(Mat A, PetscInt seed, Vec v)
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

PetscErrorCode FillRanks(const Problem *p, Mat A)
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

PetscErrorCode CreateRanks(const Problem *p, const Ranks *ranks, Mat *A)
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
PetscErrorCode CreateAlone(const Problem *p, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, p->nx * p->ny, p->nx * p->ny, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A)); // where the device has the whole grid on several processes, compare with one that has it on one
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  PetscCall(Fill(p, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next way to lay out rows; *which counts from 0. PETSC_FALSE: there is none */
PetscBool NextRanks(const Problem *p, PetscInt *which, Ranks *ranks)
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
