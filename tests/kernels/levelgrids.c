static char help[] = "Host kernels of grid levels, which go by lines, against their formulas cell by cell: grids and parts of grids, tiny, odd and large.\n\n";

#include "kernels/levelgrid.h"
#include "kernels/levelgridrow.h"
#include "core/compat.h"
#include <polder.h>

static unsigned long long state = 1;

static PetscReal Random(void)
{
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (PetscReal)(state >> 33) / 1073741824.0 - 1;
}

/* Some cells of a grid of at most SIZE^3, with arrays that are NaN on either side of what the process has */
#define SIZE  20
#define CELLS (SIZE * SIZE * SIZE)
typedef struct {
  PolderLevelGrid G;
  unsigned        w[CELLS];
  PetscInt        mate[CELLS], agg[CELLS];
  PetscReal       excess[CELLS];
  PetscScalar     x[CELLS], want[CELLS], coarse[3 * CELLS], *xc, bc[CELLS + 1];
  float           fx[CELLS], fcoarse[3 * CELLS], *fxc, fbc[CELLS + 1];
  PetscScalar     up[3][CELLS];
  float           fup[3][CELLS];
  PolderBfloat    hup[3][CELLS];
} Part;

static void CreatePart(const PetscInt size[3], int joins, PetscBool part, PetscReal zeros, Part *P)
{
  PolderLevelGrid *G = &P->G;
  const PetscInt   N = size[0] * size[1] * size[2], first = part ? N / 3 : 0, end = part ? PetscMin(N, N / 3 + N / 2 + 1) : N;

  *G = (PolderLevelGrid){.n = end - first, .shift = first};
  for (int d = 0; d < 3; ++d) {
    G->size[d] = size[d];
    G->join[d] = size[d] > 1 && joins >> d & 1;
  }
  PolderLevelGridCoarsen(G);
  G->w = P->w;
  for (PetscInt i = 0; i < G->n; ++i) {
    PetscInt at[3];

    P->mate[i]   = POLDER_PAIR_FREE;
    P->excess[i] = Random() < zeros - 0.9 ? -1 : 1;
    P->x[i] = P->fx[i] = (float)Random();
    PolderLevelGridAt(G->size, G->shift + i, at);
    for (int d = 0; d < 3; ++d) {
      P->up[d][i] = P->fup[d][i] = Random() < zeros || at[d] == G->size[d] - 1 ? 0 : -(float)PetscPowReal(10, 3 * Random());
      P->hup[d][i]               = PolderBfloatRound(P->fup[d][i]);
    }
  }
  for (PetscInt c = 0; c < 3 * CELLS; ++c) P->coarse[c] = P->fcoarse[c] = NAN;
  P->xc  = P->coarse + CELLS;
  P->fxc = P->fcoarse + CELLS;
  for (PetscInt c = 0; c <= G->nc; ++c) P->xc[c] = P->fxc[c] = c < G->nc ? (float)Random() : 0;
}

static PolderLevelGridEntries EntriesOf(const Part *P, int type)
{
  PolderLevelGridEntries A = {.single = (PetscBool)(type > 0), .bfloat = (PetscBool)(type > 1)};

  for (int d = 0; d < 3; ++d) {
    if (P->G.size[d] > 1) A.up[d] = type > 1 ? (const void *)P->hup[d] : type ? (const void *)P->fup[d] : (const void *)P->up[d];
  }
  return A;
}

/* The counts that choose the directions, and the boxes that fall into groups, by lines and cell by cell */
static PetscErrorCode TestCounts(Part *P, int type)
{
  const PolderLevelGrid       *G = &P->G;
  const PolderLevelGridEntries A = EntriesOf(P, type);

  PetscFunctionBeginUser;
  for (int form = 0; form < 3; ++form) {
    const PolderLevelGridRule rule = {.weak = form ? 0.25 : 0, .split = form ? 0.02 : 0.3, .mate = P->mate, .excess = form ? P->excess : NULL};
    PetscInt                  got[POLDER_LEVELGRID_COUNTS], want[POLDER_LEVELGRID_COUNTS] = {0}, at[3], parts, wantparts = 0;
    const PetscScalar         before = P->up[0][G->n / 2];

    if (form == 2 && !type) P->up[0][G->n / 2] = 1;
    PolderLevelGridSurvey_Host(G, &A, &rule, got);
    PolderLevelGridSplit_Host(G, &A, &rule, &parts);
    for (PetscInt i = 0; i < G->n; ++i) {
      PolderLevelGridAt(G->size, G->shift + i, at);
      for (unsigned k = 0, bits = PolderLevelGridLook(G, &A, &rule, i, at); k < POLDER_LEVELGRID_COUNTS; ++k) want[k] += bits >> k & 1;
    }
    for (PetscInt c = 0; c < G->nc; ++c) {
      PolderLevelGridAt(G->csize, G->cshift + c, at);
      wantparts += PolderLevelGridBridges(G, &A, &rule, at);
    }
    P->up[0][G->n / 2] = before;
    for (int k = 0; k < POLDER_LEVELGRID_COUNTS; ++k)
      PetscCheck(got[k] == want[k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Type %d: count %d of %" PetscInt_FMT " cells is %" PetscInt_FMT " instead of %" PetscInt_FMT, type, k, G->n, got[k], want[k]);
    PetscCheck(parts == wantparts, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Type %d: %" PetscInt_FMT " boxes of %" PetscInt_FMT " fall into groups instead of %" PetscInt_FMT, type, parts, G->nc, wantparts);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weights by lines and cell by cell, from entries of one type; lone: some cells take no part */
static PetscErrorCode TestWeights(Part *P, int type, PetscBool lone)
{
  PolderLevelGrid       *G = &P->G;
  PolderLevelGridEntries A = EntriesOf(P, type);
  static unsigned        got[CELLS];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < G->n; ++i) P->mate[i] = lone && i % 7 == 3 ? POLDER_PAIR_LONE : POLDER_PAIR_FREE;
  PetscCall(TestCounts(P, type));
  PolderLevelGridBoxes_Host(G, P->mate, P->agg);
  PolderLevelGridWeights_Host(G, &A, P->agg);
  PetscCall(PetscArraycpy(got, P->w, G->n));
  for (PetscInt i = 0; i < G->n; ++i) {
    PetscInt at[3];

    PolderLevelGridAt(G->size, G->shift + i, at);
    PolderLevelGridSetWeights(G, &A, P->agg, i, at);
    PetscCheck(got[i] == P->w[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Type %d: cell %" PetscInt_FMT " of %" PetscInt_FMT " has the weights %x instead of %x",
               type, i, G->n, got[i], P->w[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the next level by lines and cell by cell */
static PetscErrorCode TestRows(Part *P, int type)
{
  const PolderLevelGrid       *G = &P->G;
  const PolderLevelGridEntries A = EntriesOf(P, type);
  static PetscReal             size[CELLS], coarse[2][CELLS], coarsesize[2][CELLS];
  static PetscInt              ci[2][CELLS + 1], cj[2][7 * CELLS];
  static PetscScalar           ca[2][7 * CELLS];
  PolderLevelGridRows          R        = {.agg = P->agg, .excess = P->excess, .size = size, .pattern = PETSC_TRUE};
  PetscInt                     position = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < G->n; ++i) size[i] = 1 + i % 5;
  for (int cells = 0; cells < 2; ++cells) {
    R.ci         = ci[cells];
    R.cj         = cj[cells];
    R.ca         = ca[cells];
    R.coarse     = coarse[cells];
    R.coarsesize = coarsesize[cells];
    if (!cells) PolderLevelGridCoarseRows_Host(G, &A, &R);
    for (PetscInt c = 0; c < G->nc && cells; ++c) {
      PetscInt at[3];

      PolderLevelGridAt(G->csize, G->cshift + c, at);
      position = PolderLevelGridCoarseRow(G, &A, &R, c, at, position);
    }
  }
  for (PetscInt c = 0; c < G->nc; ++c) {
    PetscBool same = (PetscBool)(ci[0][c + 1] == ci[1][c + 1] && coarse[0][c] == coarse[1][c] && coarsesize[0][c] == coarsesize[1][c]);

    for (PetscInt k = ci[1][c]; k < ci[1][c + 1] && same; ++k) same = (PetscBool)(cj[0][k] == cj[1][k] && ca[0][k] == ca[1][k]);
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Type %d: row %" PetscInt_FMT " of the next level differs, of %" PetscInt_FMT " x %" PetscInt_FMT, type,
               c, G->size[0], G->size[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry i of P u by its formula, where u(c) = xc[c] */
static PetscReal Interpolated(const PolderLevelGrid *G, PetscInt i, const PetscScalar xc[])
{
  const unsigned word = G->w[i];
  PetscInt       at[3], box;
  PetscReal      sum;

  PolderLevelGridAt(G->size, G->shift + i, at);
  box = PolderLevelGridBox(G, at);
  if (word == POLDER_LEVELGRID_APART) return 0;
  sum = PetscRealPart(xc[box]);
  for (int d = 0; d < 3; ++d) {
    const PetscReal w = PolderLevelGridUnpack(word, d);

    if (w > 0) sum += w * PetscRealPart(xc[box + PolderLevelGridFace(at, d) * PolderLevelGridStride(G->csize, d)] - xc[box]);
  }
  return sum;
}

/* x + P xc, and P^T x by the columns of P */
static PetscErrorCode TestTransfer(Part *P)
{
  PolderLevelGrid   *G = &P->G;
  static PetscScalar unit[3 * CELLS];

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c <= G->nc; ++c) P->bc[c] = P->fbc[c] = NAN;
  PolderLevelGridRestrict_Host(G, P->x, P->bc);
  PolderLevelGridRestrictSingle_Host(G, P->fx, P->fbc);
  PetscCheck(P->bc[G->nc] == 0 && P->fbc[G->nc] == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The entry of rows in no box is not zero");
  for (PetscInt c = 0; c < G->nc; c += 1 + G->nc / 40) {
    PetscReal sum = 0, size = 1;

    PetscCall(PetscArrayzero(unit, 3 * CELLS));
    unit[CELLS + c] = 1;
    for (PetscInt i = 0; i < G->n; ++i) {
      sum += Interpolated(G, i, unit + CELLS) * PetscRealPart(P->x[i]);
      size += PetscAbsReal(Interpolated(G, i, unit + CELLS));
    }
    PetscCheck(PetscAbsScalar(P->bc[c] - sum) <= 1e-14 * size && PetscAbsScalar(P->fbc[c] - sum) <= 1e-6 * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Box %" PetscInt_FMT " of %" PetscInt_FMT " gets %g and %g instead of %g", c, G->nc, (double)PetscRealPart(P->bc[c]), (double)P->fbc[c],
               (double)sum);
  }
  for (PetscInt i = 0; i < G->n; ++i) P->want[i] = P->x[i] + Interpolated(G, i, P->xc);
  PolderLevelGridProlong_Host(G, P->xc, P->x);
  PolderLevelGridProlongSingle_Host(G, P->fxc, P->fx);
  for (PetscInt i = 0; i < G->n; ++i)
    PetscCheck(PetscAbsScalar(P->x[i] - P->want[i]) <= 1e-14 && PetscAbsScalar(P->fx[i] - P->want[i]) <= 2e-6, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Cell %" PetscInt_FMT " of %" PetscInt_FMT " becomes %g and %g instead of %g", i, G->n, (double)PetscRealPart(P->x[i]), (double)P->fx[i],
               (double)PetscRealPart(P->want[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const PetscInt sizes[][3] = {
    {1,   1,  1 },
    {2,   1,  1 },
    {3,   1,  1 },
    {2,   2,  1 },
    {5,   3,  1 },
    {8,   8,  1 },
    {20,  19, 1 },
    {2,   2,  2 },
    {3,   4,  5 },
    {6,   6,  6 },
    {7,   7,  7 },
    {12,  9,  8 },
    {20,  20, 20},
    {19,  20, 17},
    {600, 3,  2 }
  };
  Part *P;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscMalloc1(1, &P));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (int joins = 1; joins < 8; ++joins) {
      for (int k = 0; k < 12; ++k) { // whole and in part, with and without zeros, types
        CreatePart(sizes[s], joins, (PetscBool)(k % 2), k / 2 % 2 ? 0.2 : -2, P);
        for (int d = 0; d < 3; ++d) P->G.thin[d] = k % 3 == d;
        if (!(P->G.join[0] || P->G.join[1] || P->G.join[2])) continue;
        for (int lone = 1; lone >= 0; --lone) {
          PetscCall(TestWeights(P, k / 4, (PetscBool)lone));
          PetscCall(TestRows(P, k / 4));
          PetscCall(TestTransfer(P));
        }
      }
    }
  }
  PetscCall(PetscFree(P));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "counts, weights, rows, restriction and interpolation: as cell by cell\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:

TEST*/
