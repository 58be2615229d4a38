static char help[] = "PC nras when METIS fails: this program has a METIS_PartGraphKway() of its own, which the library calls.\n\n";

#include "nras/nras.h"
#include <metis.h>

/* The linker exports the function of this program where a library of PETSc asks for METIS, as those of Debian do */
static PetscInt calls;

int METIS_PartGraphKway(idx_t *nvtxs, idx_t *ncon, idx_t *xadj, idx_t *adjncy, idx_t *vwgt, idx_t *vsize, idx_t *adjwgt, idx_t *nparts, real_t *tpwgts,
                        real_t *ubvec, idx_t *options, idx_t *edgecut, idx_t *part)
{
  (void)nvtxs, (void)ncon, (void)xadj, (void)adjncy, (void)vwgt, (void)vsize, (void)adjwgt, (void)nparts, (void)tpwgts;
  (void)ubvec, (void)options, (void)edgecut, (void)part;
  ++calls;
  return METIS_ERROR;
}

int main(int argc, char **argv)
{
  Mat       A;
  PC        pc[2];
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Create(STENCIL, &A));
  PetscCall(CreatePC(A, "-pc_type nras -pc_nras_blocks 5 -pc_nras_partition metis", &pc[0]));
  PetscCall(CreatePC(A, "-pc_type nras -pc_nras_blocks 5 -pc_nras_partition rows", &pc[1]));
  PetscCall(Difference(pc[0], pc[1], &difference));
  PetscCall(Report("METIS was asked", (PetscBool)(calls == 1), calls));
  PetscCall(Report("runs of rows in its place", (PetscBool)(difference == 0), difference));
  PetscCall(PCView(pc[0], PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc[0]));
  PetscCall(PCDestroy(&pc[1]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     requires: !cuda !emulated !since_3.19
     nsize: {{1 2}}
     filter: grep -e ok -e WRONG -e METIS | sed "s/(processes.*)//"

TEST*/
