static char help[] = "Preconditioners of strongly distorted elements: M^-1, column by column, is symmetric and positive definite on any number of processes.\n"
                     "  -moved <0.45>: by how much of a cell the nodes are moved\n\n";

#include <polder.h>
#include "core/compat.h"
#include "tetrahedra.h"
#include "vecs.h"
#include <petscksp.h>

enum {
  CELLS = 6,
  NODES = (CELLS + 1) * (CELLS + 1) * (CELLS + 1)
};

#define LEVELS "-pc_type pamg -pc_pamg_coarse_limit 20 -pc_pamg_gather 0 "

typedef struct {
  PetscBool   fails; /* it may refuse the matrix, with a sentence, where a pivot is not positive */
  PetscReal   tol;   /* by how much mirrored entries may differ */
  const char *options;
} Case;

static const Case Cases[] = {
  {PETSC_FALSE, 1e-13, "-pc_type mcsgs"                                                                       },
  {PETSC_FALSE, 1e-13, "-pc_type ip"                                                                          },
  {PETSC_FALSE, 1e-13, "-pc_type ip -pc_ip_form plain"                                                        },
  {PETSC_FALSE, 1e-13, "-pc_type fsai"                                                                        },
  {PETSC_FALSE, 1e-13, "-pc_type fsai -pc_fsai_power 2"                                                       },
  {PETSC_TRUE,  1e-13, "-pc_type mic"                                                                         },
  {PETSC_FALSE, 1e-13, "-pc_type mic -pc_mic_omega 0"                                                         },
  {PETSC_TRUE,  1e-13, "-pc_type iluc"                                                                        },
  {PETSC_FALSE, 1e-13, "-pc_type meilu"                                                                       },
  {PETSC_FALSE, 1e-13, "-pc_type meilu -pc_meilu_last jacobi"                                                 },
  {PETSC_FALSE, 1e-13, "-pc_type meilu -pc_meilu_last sgs"                                                    },
  {PETSC_FALSE, 1e-13, "-pc_type nras -pc_nras_form symmetric"                                                },
  {PETSC_FALSE, 1e-13, "-pc_type nras -pc_nras_form symmetric -pc_nras_blocks 3"                              },
  {PETSC_FALSE, 1e-13, "-pc_type tns"                                                                         },
  {PETSC_FALSE, 1e-12, LEVELS "-pc_pamg_precision double -pc_pamg_smoother sgs"                               },
  {PETSC_FALSE, 1e-12, LEVELS "-pc_pamg_precision double -pc_pamg_smoother sgs -pc_pamg_pre 2 -pc_pamg_post 2"},
  {PETSC_FALSE, 1e-12, LEVELS "-pc_pamg_precision double -pc_pamg_smoother sgs -pc_pamg_cycle w"              },
  {PETSC_FALSE, 1e-12, LEVELS "-pc_pamg_precision double -pc_pamg_smoother chebyshev"                         },
  {PETSC_FALSE, 1e-12, LEVELS "-pc_pamg_precision double -pc_pamg_smoother l1jacobi"                          },
  {PETSC_FALSE, 1e-4,  LEVELS "-pc_pamg_precision single -pc_pamg_smoother sgs"                               },
  {PETSC_FALSE, 1e-4,  LEVELS "-pc_pamg_precision single -pc_pamg_smoother chebyshev"                         },
  {PETSC_FALSE, 1e-2,  LEVELS "-pc_pamg_precision half -pc_pamg_smoother sgs"                                 }
};

/* The whole of Z = M^-1, by columns, on each process; pc = NULL: of A */
static PetscErrorCode Explicit(Mat A, PC pc, PetscScalar Z[])
{
  Vec                e, z, all;
  VecScatter         gather;
  const PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &e, &z));
  PetscCall(VecScatterCreateToAll(z, &gather, &all));
  for (PetscInt j = 0; j < NODES; ++j) {
    PetscCall(VecSet(e, 0));
    PetscCall(VecSetValue(e, j, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(e));
    PetscCall(VecAssemblyEnd(e));
    if (pc) PetscCall(PCApply(pc, e, z));
    else PetscCall(MatMult(A, e, z));
    PetscCall(VecScatterBegin(gather, z, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(gather, z, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(all, &v));
    PetscCall(PetscArraycpy(Z + NODES * j, v, NODES));
    PetscCall(VecRestoreArrayRead(all, &v));
  }
  PetscCall(VecScatterDestroy(&gather));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of mirrored entries over the root of both diagonal entries; then Z is scaled by these roots */
static PetscReal Asymmetry(PetscScalar Z[])
{
  PetscReal most = 0, d[NODES];

  for (PetscInt j = 0; j < NODES; ++j) d[j] = PetscSqrtReal(PetscAbsScalar(Z[NODES * j + j]));
  for (PetscInt j = 0; j < NODES; ++j) {
    for (PetscInt i = 0; i < NODES; ++i) Z[NODES * j + i] /= d[i] * d[j];
  }
  for (PetscInt j = 0; j < NODES; ++j) {
    for (PetscInt i = 0; i < j; ++i) most = PetscMax(most, PetscAbsScalar(Z[NODES * j + i] - Z[NODES * i + j]));
  }
  return most;
}

/* The smallest pivot of Cholesky's factors of Z */
static PetscReal Pivot(PetscScalar Z[])
{
  PetscReal least = PETSC_MAX_REAL;

  for (PetscInt j = 0; j < NODES && least > 0; ++j) {
    PetscScalar *a = Z + NODES * j;

    least = PetscMin(least, a[j]);
    for (PetscInt k = j + 1; k < NODES; ++k) {
      for (PetscInt i = k; i < NODES; ++i) Z[NODES * k + i] -= a[k] * a[i] / a[j];
    }
  }
  return least;
}

static PetscErrorCode Judge(const char name[], PetscReal tol, Mat A, PC pc, PetscScalar Z[])
{
  PetscReal asymmetry, pivot;

  PetscFunctionBeginUser;
  PetscCall(Explicit(A, pc, Z));
  asymmetry = Asymmetry(Z);
  pivot     = Pivot(Z);
  PetscCall(PetscInfo(NULL, "%s: asymmetry %g, pivot %g\n", name, (double)asymmetry, (double)pivot));
  if (!(asymmetry <= tol)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: NOT SYMMETRIC, %g\n", name, (double)asymmetry));
  if (!(pivot > 0)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: NOT POSITIVE DEFINITE, %g\n", name, (double)pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refused, or symmetric and positive definite, and so after new values */
static PetscErrorCode Check(const Case *c, Mat A, PetscScalar Z[])
{
  PetscOptions   options;
  PCFailedReason failed;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, c->options));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, options));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  for (int again = 0; again < 2; ++again) {
    if (again) PetscCall(MatScale(A, 2));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &failed));
    if (!failed) PetscCall(Judge(c->options, c->tol, A, pc, Z));
    else if (!c->fails) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: REFUSES THE MATRIX\n", c->options));
  }
  PetscCall(MatScale(A, 0.5));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: done\n", c->options));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscReal    moved = 0.45;
  PetscScalar *Z;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-moved", &moved, NULL));
  PetscCall(TetrahedraMoved(PETSC_COMM_WORLD, CELLS, 1e3, moved, &A));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(PetscMalloc1(NODES * NODES, &Z));
  PetscCall(Judge("the matrix", 1e-13, A, NULL, Z));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); ++k) PetscCall(Check(&Cases[k], A, Z));
  PetscCall(PetscFree(Z));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: -mat_type {{aij aijicrs}} -moved {{0.45 0.49}} -polder_min_rows_per_gpu 0 -options_left no
    filter: grep -v "^WARNING"

TEST*/
