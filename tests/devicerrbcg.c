static char help[] = "Device kernels of the first Schur complement against those of the host: awkward grids, poisoned output.\n\n";

#include "devicerrb.h"
#include "../src/kernels/rrbreduced.h"

/* The complement and the factor of a grid; spoilt: r1 has a pivot that is not positive */
static PetscErrorCode CheckFill(const PolderRRBGrid *g, PetscBool half, PetscBool spoilt, Array *c, Array *s, PolderStream stream, PetscInt *wrong)
{
  const PetscInt   before = *wrong;
  PolderRRBEntries rows[2];
  Array            a[RRB_NROW], x;
  int              seen = 0, *seend;

  PetscFunctionBeginUser;
  PetscCall(EntriesCreate(g->nx, g->ny, PETSC_TRUE, 1, rows, a));
  if (spoilt) {
    a[RRB_C].h[0] = -1;
    PetscCall(ArrayUpload(&a[RRB_C]));
  }
  PetscCall(PolderDeviceMalloc(sizeof(int), &seend));
  PetscCall(PolderDeviceZero(seend, sizeof(int)));
  PetscCall(ArrayCreate(g->size, PETSC_FALSE, 0, &x));
  RRBTwinBlack(g, &rows[0], 0.9, c->h, x.h, &seen);
  RRBTwinRed(g, PETSC_TRUE, 0.9, c->h, x.h, &seen);
  RRBTwinReducedFill(g, half, 0.9, c->h, x.h, s->h, &seen);
  PolderLaunch(PolderRRBBlack_CUDA(g, &rows[1], 0.9, c->d, x.d, seend, stream));
  PolderLaunch(PolderRRBRed_CUDA(g, PETSC_TRUE, 0.9, c->d, x.d, seend, stream));
  PolderLaunch(PolderRRBReducedFill_CUDA(g, half, 0.9, c->d, x.d, s->d, seend, stream));
  PetscCall(ArrayCompare(c, 1e-13, wrong));
  PetscCall(ArrayCompare(s, 1e-13, wrong));
  PetscCall(CompareSeen(seen, seend, wrong));
  *wrong += spoilt && !half && !(seen & RRB_SEEN_PIVOT);
  PetscCall(Tell("complement", g->nx, g->ny, half + 2 * spoilt, before, *wrong));
  RRBTwinScale(g, c->h, NULL, &seen);
  PetscCall(ArrayUpload(c));
  PetscCall(PolderDeviceFree(&seend));
  PetscCall(ArrayDestroy(&x, 0));
  PetscCall(EntriesDestroy(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of red nodes at places that pairs can be read from and at others; those of all nodes with lines ld apart, NaN between them */
static PetscErrorCode CheckVectors(const PolderRRBGrid *g, const Array *c, const Array *s, PolderStream stream, PetscInt *wrong)
{
  const size_t n = (size_t)((g->nx * g->ny + 1) / 2);
  void        *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetWork(&work));
  for (int form = 0; form < 4; ++form) {
    const PetscInt shift = form % 2, ld = g->nx + form / 2, before = *wrong;
    Array          r, q, b, x, dot;

    PetscCall(ArrayCreate(n, PETSC_TRUE, shift, &r));
    PetscCall(ArrayCreate(n, PETSC_FALSE, 0, &q));
    PetscCall(ArrayCreate(1, PETSC_FALSE, 0, &dot));
    PetscCall(ArrayCreate((size_t)ld * (size_t)g->ny, PETSC_TRUE, shift, &b));
    PetscCall(ArrayCreate((size_t)ld * (size_t)g->ny, PETSC_FALSE, 0, &x));
    for (PetscInt y = 0; y < g->ny; ++y)
      for (PetscInt i = g->nx; i < ld; ++i) b.h[y * ld + i] = NAN;
    PetscCall(ArrayUpload(&b));
    PolderRRBReducedMult_Host(g, s->h, r.h, q.h, form / 2 ? NULL : dot.h);
    PolderLaunch(PolderRRBReducedMult_CUDA(g, s->d, r.d, q.d, form / 2 ? NULL : dot.d, work, stream));
    PetscCall(ArrayCompare(&q, 1e-13, wrong));
    PetscCall(ArrayCompare(&dot, 1e-11, wrong));
    PetscCall(Tell("product", g->nx, g->ny, form, before, *wrong));
    PolderRRBReduce_Host(g, c->h, b.h, ld, q.h);
    PolderLaunch(PolderRRBReduce_CUDA(g, c->d, b.d, ld, q.d, stream));
    PetscCall(ArrayCompare(&q, 1e-13, wrong));
    PetscCall(Tell("reduction", g->nx, g->ny, form, before, *wrong));
    PolderRRBExpand_Host(g, c->h, b.h, r.h, x.h, ld);
    PolderLaunch(PolderRRBExpand_CUDA(g, c->d, b.d, r.d, x.d, ld, stream));
    PetscCall(ArrayCompare(&x, 1e-13, wrong));
    PetscCall(Tell("expansion", g->nx, g->ny, form, before, *wrong));
    PolderRRBPick_Host(g, b.h, ld, q.h);
    PolderLaunch(PolderRRBPick_CUDA(g, b.d, ld, q.d, stream));
    PetscCall(ArrayCompare(&q, 0, wrong));
    PetscCall(Tell("red values", g->nx, g->ny, form, before, *wrong));
    PetscCall(ArrayDestroy(&x, 0));
    PetscCall(ArrayDestroy(&b, shift));
    PetscCall(ArrayDestroy(&dot, 0));
    PetscCall(ArrayDestroy(&q, 0));
    PetscCall(ArrayDestroy(&r, shift));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckGrid(PetscInt nx, PetscInt ny, PolderStream stream, PetscInt *wrong)
{
  PetscFunctionBeginUser;
  for (int form = 0; form < 4; ++form) {
    const PolderRRBGrid g = Grid(nx, ny);
    Array               c, s;

    if (TooLarge(nx, ny)) continue;
    PetscCall(CoefCreate(&g, RRB_NCOEF, &c));
    PetscCall(CoefCreate(&g, RRB_NREDUCED, &s));
    PetscCall(CheckFill(&g, (PetscBool)(form % 2), (PetscBool)(form / 2), &c, &s, stream, wrong));
    PetscCall(CheckVectors(&g, &c, &s, stream, wrong));
    PetscCall(ArrayDestroy(&s, 0));
    PetscCall(ArrayDestroy(&c, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt lines[][2] = {
    {1,  1 },
    {1,  9 },
    {10, 1 },
    {7,  1 },
    {1,  64}
  };
  PolderStream stream;
  PetscInt     wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(PolderDeviceGetStream(&stream));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++k) PetscCall(CheckGrid(Sizes[k][0], Sizes[k][1], stream, &wrong));
  PetscCall(Report("grids", wrong));
  wrong = 0;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lines); ++k) PetscCall(CheckGrid(lines[k][0], lines[k][1], stream, &wrong));
  PetscCall(Report("lines", wrong));
  PetscCall(PolderDeviceFinalize());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: cuda internal

TEST*/
