/* Figures and files that navierstokes.c writes */
#include "navierstokes.h"
#include "../waves/png.h"

/* Energy, pressure difference between the ends, and the extremes of u and v along the lines in y and x through the faces nearest to the middle */
PetscErrorCode FlowMeasure(Flow *f)
{
  const PetscScalar *cell, *x;
  PetscInt           c[3];
  PetscReal          sum[3] = {0.0, 0.0, 0.0}, most[3] = {0.0, 0.0, 0.0};

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(f->cell, &cell));
  PetscCall(VecGetArrayRead(f->x, &x));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt  l    = Place(f, n, c);
    const PetscReal area = Area(f, c, 0);

    if (cell[l] < 0.0) continue;
    for (int d = 0; d < f->dim; ++d) sum[0] += 0.5 * area * f->width[0][c[0]] * PetscSqr(0.5 * (x[4 * l + d] + x[4 * (l + f->s[d]) + d]));
    if (c[0] == 0) sum[1] += area * x[4 * l + 3];
    if (c[0] == f->n[0] - 1) sum[2] += area * x[4 * l + 3];
    if (c[2] != f->n[2] / 2) continue;
    if (c[0] == f->n[0] / 2) most[0] = PetscMax(most[0], -x[4 * l]);
    if (c[1] == f->n[1] / 2) {
      most[1] = PetscMax(most[1], -x[4 * l + 1]);
      most[2] = PetscMax(most[2], x[4 * l + 1]);
    }
  }
  PetscCall(VecRestoreArrayRead(f->x, &x));
  PetscCall(VecRestoreArrayRead(f->cell, &cell));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sum, 3, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, most, 3, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  f->figure[FIG_ENERGY]   = sum[0];
  f->figure[FIG_PRESSURE] = f->type == FLOW_CHANNEL ? sum[1] / f->inflow - sum[2] / f->outlet : 0.0;
  f->figure[FIG_U_MIN]    = -most[0];
  f->figure[FIG_V_MIN]    = -most[1];
  f->figure[FIG_V_MAX]    = most[2];
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "energy %.6e", (double)sum[0]));
  if (f->type == FLOW_CHANNEL) PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", pressure from inlet to outlet %.6e\n", (double)f->figure[FIG_PRESSURE]));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "; through the middle: u from %.5f, v from %.5f to %.5f\n", (double)-most[0], (double)-most[1], (double)most[2]));
  PetscFunctionReturn(0);
}

/* Velocities and pressure at the cell centres, as a vector of the grid */
static PetscErrorCode CreateMiddles(const Flow *f, Vec *middles)
{
  const PetscScalar *x;
  PetscScalar       *v;
  PetscInt           c[3];

  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(f->dm, middles));
  PetscCall(PetscObjectSetName((PetscObject)*middles, "flow"));
  PetscCall(VecGetArrayRead(f->x, &x));
  PetscCall(VecGetArrayWrite(*middles, &v));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l = Place(f, n, c);

    for (int d = 0; d < 3; ++d) v[4 * n + d] = d < f->dim ? 0.5 * (x[4 * l + d] + x[4 * (l + f->s[d]) + d]) : 0.0;
    v[4 * n + 3] = x[4 * l + 3];
  }
  PetscCall(VecRestoreArrayWrite(*middles, &v));
  PetscCall(VecRestoreArrayRead(f->x, &x));
  PetscFunctionReturn(0);
}

PetscErrorCode FlowWriteVTK(const Flow *f, const char name[])
{
  static const char *const fields[] = {"u", "v", "w", "p"};
  Vec                      middles, xyz;
  PetscScalar             *a;
  PetscInt                 c[3];
  PetscViewer              viewer;

  PetscFunctionBegin;
  for (int d = 0; d < 4; ++d) PetscCall(DMDASetFieldName(f->dm, d, fields[d]));
  PetscCall(DMDASetUniformCoordinates(f->dm, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0));
  PetscCall(DMGetCoordinates(f->dm, &xyz));
  PetscCall(VecGetArray(xyz, &a));
  for (PetscInt n = 0; n < f->nl; ++n) {
    Place(f, n, c);
    for (int d = 0; d < 3; ++d) a[3 * n + d] = 0.5 * (f->face[d][c[d]] + f->face[d][c[d] + 1]);
  }
  PetscCall(VecRestoreArray(xyz, &a));
  PetscCall(CreateMiddles(f, &middles));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(middles, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecDestroy(&middles));
  PetscFunctionReturn(0);
}

/* The speed in the plane of the middle of z, four points a cell of mean width: blue, white, red; obstacles grey */
PetscErrorCode FlowWritePicture(const Flow *f, const char name[])
{
  const PetscInt     width = 4 * f->n[0], height = PetscMax(1, (PetscInt)(width * f->length[1] / f->length[0]));
  const PetscScalar *cell, *x;
  PetscInt           c[3];
  PetscReal         *speed, most = 0.0;
  PetscMPIInt        rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscMalloc1(f->n[0] * f->n[1], &speed));
  for (PetscInt i = 0; i < f->n[0] * f->n[1]; ++i) speed[i] = -1.0;
  PetscCall(VecGetArrayRead(f->cell, &cell));
  PetscCall(VecGetArrayRead(f->x, &x));
  for (PetscInt n = 0; n < f->nl; ++n) {
    const PetscInt l   = Place(f, n, c);
    PetscReal      sum = 0.0;

    if (cell[l] < 0.0 || c[2] != f->n[2] / 2) continue;
    for (int d = 0; d < f->dim; ++d) sum += PetscSqr(0.5 * (x[4 * l + d] + x[4 * (l + f->s[d]) + d]));
    speed[c[0] + f->n[0] * c[1]] = PetscSqrtReal(sum);
  }
  PetscCall(VecRestoreArrayRead(f->x, &x));
  PetscCall(VecRestoreArrayRead(f->cell, &cell));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, speed, (PetscMPIInt)(f->n[0] * f->n[1]), MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < f->n[0] * f->n[1]; ++i) most = PetscMax(most, speed[i]);
  if (rank == 0) {
    unsigned char *rgb;

    PetscCall(PetscMalloc1(3 * width * height, &rgb));
    for (PetscInt j = 0, at = f->n[1] - 1; j < height; ++j) {
      const PetscReal y = f->length[1] * (1.0 - (j + 0.5) / height);

      while (at > 0 && y < f->face[1][at]) --at;
      for (PetscInt i = 0, k = 0; i < width; ++i) {
        unsigned char *p = rgb + 3 * (i + j * width);
        PetscReal      s;

        while (k < f->n[0] - 1 && f->length[0] * (i + 0.5) / width > f->face[0][k + 1]) ++k;
        s    = speed[k + f->n[0] * at] / (most > 0.0 ? most : 1.0);
        p[0] = (unsigned char)(s < 0.0 ? 90 : 255.0 * PetscMin(1.0, 2.0 * s));
        p[1] = (unsigned char)(s < 0.0 ? 90 : 255.0 * (1.0 - PetscAbsReal(2.0 * s - 1.0)));
        p[2] = (unsigned char)(s < 0.0 ? 90 : 255.0 * PetscMin(1.0, 2.0 - 2.0 * s));
      }
    }
    PetscCall(WritePNG(name, width, height, rgb));
    PetscCall(PetscFree(rgb));
  }
  PetscCall(PetscFree(speed));
  PetscFunctionReturn(0);
}
