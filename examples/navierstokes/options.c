/* The options of navierstokes.c */
#include "navierstokes.h"

static const char *const FlowTypes[]   = {"channel", "cavity", "FlowType", "FLOW_", NULL};
static const char *const NumberTypes[] = {"natural", "random", "NumberType", "NUMBER_", NULL};

static PetscErrorCode GetObstacles(Flow *f)
{
  PetscInt  nc = 3 * MAX_OBSTACLES, nb = 6 * MAX_OBSTACLES;
  PetscBool set, other;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-simple_cylinders", f->cylinder[0], &nc, &set));
  PetscCheck(nc % 3 == 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_cylinders takes three numbers for each: x,y,radius");
  f->ncylinder = set ? nc / 3 : 0;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-simple_blocks", f->block[0], &nb, &other));
  PetscCheck(nb % 6 == 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_blocks takes six numbers for each: x-,x+,y-,y+,z-,z+");
  f->nblock = other ? nb / 6 : 0;
  if (f->type == FLOW_CHANNEL && !set && !other) {
    static const PetscReal cylinder[3][3] = {
      {0.6, 0.35, 0.12},
      {0.9, 0.7,  0.12},
      {1.4, 0.4,  0.15}
    };

    f->ncylinder = 3;
    PetscCall(PetscMemcpy(f->cylinder, cylinder, sizeof(cylinder)));
  }
  for (PetscInt i = 0; i < f->ncylinder; ++i)
    PetscCheck(f->cylinder[i][2] > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The radius of a cylinder must be positive, not %g", (double)f->cylinder[i][2]);
  PetscFunctionReturn(0);
}

PetscErrorCode FlowGetOptions(Flow *f)
{
  PetscInt  n = 3, nlen = 3;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-simple_flow", FlowTypes, (PetscEnum *)&f->type, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-simple_numbering", NumberTypes, (PetscEnum *)&f->numbering, NULL));
  for (int d = 0; d < 3; ++d) {
    f->n[d]      = f->type == FLOW_CHANNEL && d == 0 ? 48 : 16;
    f->length[d] = f->type == FLOW_CHANNEL && d == 0 ? 3.0 : 1.0;
  }
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-simple_n", f->n, &n, &set));
  PetscCheck(!set || n == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_n takes three numbers");
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-simple_lengths", f->length, &nlen, &set));
  PetscCheck(!set || nlen == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_lengths takes three numbers");
  for (int d = 0; d < 3; ++d) {
    PetscCheck(f->n[d] >= (d < 2 ? 2 : 1), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_n must be at least 2,2,1, not %" PetscInt_FMT " in direction %d",
               f->n[d], d);
    PetscCheck(f->length[d] > 0.0 && f->length[d] < 1e8, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_lengths must be positive and finite, not %g",
               (double)f->length[d]);
  }
  PetscCheck((double)f->n[0] * f->n[1] * f->n[2] < PETSC_MAX_INT / 8, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-simple_n asks for more cells than PETSc's indices of %d bits can number", (int)(8 * sizeof(PetscInt)));
  f->dim        = f->n[2] > 1 ? 3 : 2;
  f->stretch    = 1.0;
  f->reynolds   = 100.0;
  f->central    = 1.0;
  f->relax      = 0.8;
  f->consistent = PETSC_TRUE;
  f->steps      = 50;
  f->sweeps     = 5;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-simple_stretch", &f->stretch, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-simple_reynolds", &f->reynolds, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-simple_central", &f->central, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-simple_relax", &f->relax, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-simple_consistent", &f->consistent, NULL));
  f->prelax = f->consistent ? 1.0 : 0.3;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-simple_relax_pressure", &f->prelax, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-simple_stop", &f->stop, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-simple_steps", &f->steps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-simple_sweeps", &f->sweeps, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-simple_monitor", &f->monitor, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-simple_table", &f->table, NULL));
  PetscCheck(f->stretch >= 0.0 && f->stretch < 10.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_stretch is between 0 and 10, not %g", (double)f->stretch);
  PetscCheck(f->reynolds > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_reynolds must be positive, not %g", (double)f->reynolds);
  PetscCheck(f->central >= 0.0 && f->central <= 1.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_central is between 0 and 1, not %g", (double)f->central);
  PetscCheck(f->relax > 0.0 && f->relax < 1.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_relax is between 0 and 1, not %g", (double)f->relax);
  PetscCheck(f->prelax > 0.0 && f->prelax <= 1.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_relax_pressure is between 0 and 1, not %g",
             (double)f->prelax);
  PetscCheck(f->steps > 0 && f->sweeps > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-simple_steps and -simple_sweeps must be positive");
  PetscCall(GetObstacles(f));
  PetscFunctionReturn(0);
}
