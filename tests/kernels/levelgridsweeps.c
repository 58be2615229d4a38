static char
  help[] = "Sweeps that restrict to the boxes of a grid, or interpolate from them, on their way: against the sweep and the transfer, one after the other.\n\n";

#include "kernels/level.h"
#include "core/compat.h"
#include <polder.h>

static unsigned long long state = 1;

static PetscReal Random(void)
{
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (PetscReal)(state >> 33) / 1073741824.0 - 1;
}

/* A stencil on a grid, by diagonals, and its way to the next one */
typedef struct {
  PolderLevelGrid   grid;
  PolderLevelMatrix M;
  PetscInt          off[7];
  const void       *val[7];
  PetscScalar      *up[4], *dinv, *b, *x[2], *r, *bc[2], *xc;
} Level;

static PetscErrorCode CreateLevel(const PetscInt size[3], Level *L)
{
  PolderLevelGrid *G = &L->grid;
  const PetscInt   n = size[0] * size[1] * size[2], dim = size[2] > 1 ? 3 : 2;

  PetscFunctionBeginUser;
  *G = (PolderLevelGrid){.n = n};
  for (int d = 0; d < 3; ++d) {
    G->size[d] = size[d];
    G->join[d] = size[d] > 1;
  }
  PolderLevelGridCoarsen(G);
  PetscCall(PetscMalloc4(n, &G->w, n, &L->dinv, n, &L->b, n, &L->r));
  PetscCall(PetscMalloc5(n, &L->x[0], n, &L->x[1], G->nc + 1, &L->bc[0], G->nc + 1, &L->bc[1], G->nc + 1, &L->xc));
  for (int d = 0; d <= dim; ++d) PetscCall(PetscMalloc1(n, &L->up[d]));
  for (PetscInt i = 0, at[3] = {0}; i < n; ++i) {
    unsigned w = 0;

    at[0] = i % size[0], at[1] = i / size[0] % size[1], at[2] = i / size[0] / size[1];
    for (int d = 0; d < 3; ++d) {
      const PetscInt box = at[d] >> G->join[d], face = box + (at[d] % 2 ? 1 : -1);

      if (d < dim) L->up[d][i] = at[d] + 1 < size[d] ? -1 - 0.5 * Random() : 0;
      if (G->join[d] && face >= 0 && face < G->csize[d]) w |= (unsigned)(150 * (1 + Random())) << 10 * d;
    }
    G->w[i]       = w;
    L->up[dim][i] = 8;
    L->dinv[i]    = 1.0 / 8;
    L->b[i]       = Random();
  }
  for (PetscInt c = 0; c <= G->nc; ++c) L->xc[c] = c < G->nc ? Random() : 0;
  for (int d = 0; d < dim; ++d) {
    const PetscInt stride = d == 0 ? 1 : d == 1 ? size[0] : size[0] * size[1];

    L->off[dim + 1 + d] = stride;
    L->off[dim - 1 - d] = -stride;
    L->val[dim + 1 + d] = L->up[d];
    L->val[dim - 1 - d] = L->up[d] - stride;
  }
  L->off[dim] = 0;
  L->val[dim] = L->up[dim];
  L->M        = (PolderLevelMatrix){.n = n, .nd = 2 * dim + 1, .main = dim, .off = L->off, .val = L->val, .dinv = L->dinv};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyLevel(Level *L)
{
  PetscFunctionBeginUser;
  for (int d = 0; d < 4; ++d) PetscCall(PetscFree(L->up[d]));
  PetscCall(PetscFree4(L->grid.w, L->dinv, L->b, L->r));
  PetscCall(PetscFree5(L->x[0], L->x[1], L->bc[0], L->bc[1], L->xc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char what[], const Level *L, PetscInt n, PetscScalar *const v[2])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i)
    PetscCheck(PetscAbsScalar(v[0][i] - v[1][i]) <= 1e-14 * (1 + PetscAbsScalar(v[1][i])), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %" PetscInt_FMT " rows: entry %" PetscInt_FMT " is %g instead of %g", what, L->M.n, i, (double)PetscRealPart(v[0][i]),
               (double)PetscRealPart(v[1][i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const PetscInt sizes[][3] = {
    {3,   3,   1 },
    {9,   8,   7 },
    {300, 301, 1 },
    {700, 200, 1 },
    {42,  41,  43}
  };

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    Level               L  = {0};
    PolderLevelTransfer to = {.grid = &L.grid};

    PetscCall(CreateLevel(sizes[s], &L));
    to.nc = L.grid.nc;
    PolderLevelForward_Host(&L.M, L.b, L.x[0], &to, L.bc[0]);
    PolderLevelForward_Host(&L.M, L.b, L.x[1], NULL, L.r);
    PolderLevelGridRestrict_Host(&L.grid, L.r, L.bc[1]);
    PetscCall(Compare("solution", &L, L.M.n, L.x));
    PetscCall(Compare("restricted residual", &L, L.grid.nc, L.bc));
    for (int backward = 0; backward < 2; ++backward) {
      PolderLevelSweep_Host(&L.M, (PetscBool)backward, &to, 1, L.xc, L.b, L.x[0]);
      PolderLevelGridProlong_Host(&L.grid, L.xc, L.x[1]);
      PolderLevelSweep_Host(&L.M, (PetscBool)backward, NULL, 0, NULL, L.b, L.x[1]);
      PetscCall(Compare(backward ? "sweep backward" : "sweep forward", &L, L.M.n, L.x));
    }
    PetscCall(DestroyLevel(&L));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sweeps with restriction and interpolation: as one after the other\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:

TEST*/
