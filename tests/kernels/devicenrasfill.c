static const char help[] = "Levels of fill on the device: the searches against their host twins, and the patterns against those of the elimination.\n\n";

#include "kernels/ilufill.h"
#include "nraspatterns.h"
#include <polder.h>

typedef enum {
  STAR,   /* the grid with its 5 or 7 points */
  CUBE,   /* with all 9 or 27 */
  RANDOM, /* rows in no order, and not symmetric */
  HUB,    /* the last row has all columns */
  ARROW   /* and the first row and column are full */
} Kind;

/* holes: here and there a row has no diagonal entry; mixed: blocks of rows from all over the matrix. Up to `levels` levels of fill */
typedef struct {
  Kind      kind;
  PetscInt  n[3], blocks, levels;
  PetscBool holes, mixed;
} Case;
static const Case Cases[] = {
  {RANDOM, {0, 1, 1},    1,  1, PETSC_FALSE, PETSC_FALSE},
  {STAR,   {1, 1, 1},    1,  2, PETSC_TRUE,  PETSC_FALSE},
  {STAR,   {33, 1, 1},   1,  4, PETSC_FALSE, PETSC_FALSE},
  {STAR,   {9, 8, 7},    1,  4, PETSC_FALSE, PETSC_FALSE},
  {STAR,   {9, 8, 7},    5,  4, PETSC_TRUE,  PETSC_FALSE},
  {STAR,   {31, 17, 1},  4,  4, PETSC_TRUE,  PETSC_TRUE },
  {CUBE,   {9, 10, 11},  1,  4, PETSC_FALSE, PETSC_FALSE},
  {CUBE,   {6, 5, 8},    3,  4, PETSC_TRUE,  PETSC_TRUE },
  {CUBE,   {30, 25, 1},  2,  3, PETSC_TRUE,  PETSC_FALSE},
  {RANDOM, {257, 1, 1},  1,  4, PETSC_TRUE,  PETSC_FALSE},
  {RANDOM, {900, 1, 1},  7,  4, PETSC_FALSE, PETSC_TRUE },
  {RANDOM, {2500, 1, 1}, 40, 3, PETSC_TRUE,  PETSC_FALSE},
  {RANDOM, {5000, 1, 1}, 1,  1, PETSC_FALSE, PETSC_FALSE},
  {RANDOM, {4500, 1, 1}, 1,  5, PETSC_TRUE,  PETSC_FALSE}, /* many rows reach too many others */
  {HUB,    {3200, 1, 1}, 1,  2, PETSC_FALSE, PETSC_FALSE}, /* one row does */
  {HUB,    {3200, 1, 1}, 2,  2, PETSC_TRUE,  PETSC_FALSE},
  {ARROW,  {2000, 1, 1}, 1,  1, PETSC_FALSE, PETSC_FALSE}, /* too many entries */
  {STAR,   {25, 22, 20}, 31, 2, PETSC_FALSE, PETSC_FALSE}
};

static PetscInt Rows(const Case *c)
{
  return c->n[0] * c->n[1] * c->n[2];
}

/* Is (i, j) an entry, for a case that is not random? */
static PetscBool IsEntry(const Case *c, PetscInt i, PetscInt j)
{
  PetscInt sum = 0, most = 0;

  if (c->kind == HUB || c->kind == ARROW) return (PetscBool)(PetscAbsInt(i - j) <= 1 || i == Rows(c) - 1 || (c->kind == ARROW && (i == 0 || j == 0)));
  for (int d = 0; d < 3; ++d) {
    const PetscInt distance = PetscAbsInt(i % c->n[d] - j % c->n[d]);

    i /= c->n[d];
    j /= c->n[d];
    sum += distance;
    most = PetscMax(most, distance);
  }
  return (PetscBool)((c->kind == CUBE ? most : sum) <= 1);
}

/* Row i, whose columns j[] has room for all; returns how many they are */
static PetscInt RowOf(const Case *c, PetscInt i, PetscInt j[])
{
  const PetscInt  n = Rows(c), reach = c->kind == STAR || c->kind == CUBE ? c->n[0] * c->n[1] + c->n[0] + 1 : n;
  const PetscBool hole = (PetscBool)(c->holes && i % 7 == 3);
  PetscInt        m    = 0;

  if (c->kind != RANDOM) {
    for (PetscInt k = PetscMax(0, i - reach); k <= PetscMin(n - 1, i + reach); ++k) {
      if (IsEntry(c, i, k) && !(k == i && hole)) j[m++] = k;
    }
    return m;
  }
  for (PetscInt k = Next(6); k >= 0; --k) {
    const PetscInt column = Next(n);
    PetscInt       l      = 0;

    while (l < m && j[l] != column) ++l;
    if (l == m && column != i) j[m++] = column;
  }
  if (!hole) j[m++] = i;
  return m;
}

static PetscErrorCode CreateRows(const Case *c, PolderCSR *csr)
{
  const PetscInt n = Rows(c);
  PetscInt      *ai, *aj, *j, nz = 0, room = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n + 1, &ai));
  PetscCall(PetscMalloc1(n, &j));
  aj = NULL;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt m = RowOf(c, i, j);

    ai[i] = nz;
    if (nz + m > room) PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)(room = 2 * (nz + m)), &aj));
    PetscCall(PetscArraycpy(aj + nz, j, m));
    nz += m;
  }
  ai[n] = nz;
  PetscCall(PetscFree(j));
  *csr = (PolderCSR){.m = n, .M = n, .ai = ai, .aj = aj, .nz = nz};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyRows(PolderCSR csr[2])
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(csr[0].ai));
  PetscCall(PetscFree(csr[0].aj));
  PetscCall(FreeRows(&csr[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph of the matrix in its blocks, on the host and on the device; the block rows ascend in each block */
static PetscErrorCode CreateGraphs(const Case *c, const PolderCSR csr[2], PolderIluGraph g[2])
{
  PetscInt  *row, *column, *at;
  NRASBlocks blocks;

  PetscFunctionBeginUser;
  PetscCall(CreateBlocks(csr->m, c->blocks, c->mixed, &blocks));
  PetscCall(PetscMalloc3(csr->m, &row, csr->m, &column, blocks.n + 1, &at));
  PetscCall(PetscArraycpy(at, blocks.ptr, blocks.n + 1));
  for (PetscInt i = 0; i < csr->m; ++i) {
    column[i]      = at[blocks.part[i]]++;
    row[column[i]] = i;
  }
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    g[d] = (PolderIluGraph){.nblock = blocks.n, .nrow = csr->m, .i = csr[d].ai, .j = csr[d].aj};
    PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)(blocks.n + 1), blocks.ptr, &g[d].block));
    PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)csr->m, row, &g[d].row));
    PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)csr->m, column, &g[d].column));
  }
  PetscCall(PetscFree3(row, column, at));
  PetscCall(PCNRASDestroyBlocks(&PolderOnHost, &blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyGraphs(PolderIluGraph g[2])
{
  PetscFunctionBeginUser;
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    PetscCall((*place->free)((void *)&g[d].block));
    PetscCall((*place->free)((void *)&g[d].row));
    PetscCall((*place->free)((void *)&g[d].column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of the rows by both twins; first[0]: where those of a row begin */
static PetscErrorCode RowsBoth(const PolderIluGraph g[2], PetscInt levels, PetscInt slots, PetscInt total, PetscInt *first[2], PetscInt wrong[])
{
  PetscInt *j[2], *source[2];

  PetscFunctionBeginUser;
  PetscCall(PolderPlacePut(&PolderOnDevice, g->nrow + 1, first[0], first[1]));
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    PetscCall(PolderPlaceMalloc(place, total, &j[d]));
    PetscCall(PolderPlaceMalloc(place, total, &source[d]));
    PolderRun(place, PolderIluFillRows, &g[d], levels, slots, first[d], j[d], source[d]);
  }
  PetscCall(SameIndices("fill", total, j[0], j[1], &wrong[1]));
  PetscCall(SameIndices("fill", total, source[0], source[1], &wrong[1]));
  for (int d = 0; d < 2; ++d) {
    PetscCall((*PolderPlaceOf((PetscBool)d)->free)(&j[d]));
    PetscCall((*PolderPlaceOf((PetscBool)d)->free)(&source[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* wrong[0]: counts, wrong[1]: entries. *over += does a row need more slots? */
static PetscErrorCode FillBoth(const PolderIluGraph g[2], PetscInt levels, PetscInt slots, PetscInt wrong[], PetscInt *over)
{
  PetscInt   *first[2], total = 0;
  PetscInt64 *all[2], there[2];

  PetscFunctionBeginUser;
  for (int d = 0; d < 2; ++d) {
    const PolderPlace *place = PolderPlaceOf((PetscBool)d);

    PetscCall(PolderPlaceMalloc(place, g->nrow + 1, &first[d]));
    PetscCall((*place->zero)(first[d], sizeof(PetscInt) * (size_t)(g->nrow + 1)));
    PetscCall(PolderPlaceMalloc(place, 2, &all[d]));
    PetscCall((*place->zero)(all[d], 2 * sizeof(PetscInt64)));
    PolderRun(place, PolderIluFillCount, &g[d], levels, slots, first[d], all[d]);
  }
  PetscCall(PolderPlaceTake(&PolderOnDevice, 2, all[1], there));
  wrong[0] += all[0][1] != there[1];
  *over += all[0][1] != 0;
  if (!all[0][1] && !there[1]) {
    wrong[0] += all[0][0] != there[0];
    PetscCall(SameIndices("fill", g->nrow, first[0], first[1], &wrong[0]));
    for (PetscInt p = 0; p <= g->nrow; ++p) {
      const PetscInt n = first[0][p];

      first[0][p] = total;
      total += n;
    }
    wrong[0] += total != all[0][0];
    PetscCall(RowsBoth(g, levels, slots, total, first, wrong));
  }
  for (int d = 0; d < 2; ++d) {
    PetscCall((*PolderPlaceOf((PetscBool)d)->free)(&first[d]));
    PetscCall((*PolderPlaceOf((PetscBool)d)->free)(&all[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTwins(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  PetscInt wrong[2] = {0}, over = 0, runs = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); ++k) {
    PolderCSR      csr[2];
    PolderIluGraph g[2];

    if (small && Rows(&Cases[k]) > 1000) continue;
    PetscCall(CreateRows(&Cases[k], &csr[0]));
    PetscCall(CopyRows(&csr[0], &csr[1]));
    PetscCall(CreateGraphs(&Cases[k], csr, g));
    for (PetscInt levels = 1; levels <= Cases[k].levels; ++levels) {
      for (PetscInt slots = POLDER_ILU_FILL_LEAST; slots <= POLDER_ILU_FILL_MOST; slots *= 4, ++runs) PetscCall(FillBoth(g, levels, slots, wrong, &over));
    }
    PetscCall(DestroyGraphs(g));
    PetscCall(DestroyRows(csr));
  }
  PetscCall(Report("counts of entries", wrong[0]));
  PetscCall(Report("entries", wrong[1]));
  PetscCall(Report("tables that are too small, and others", !over || over == runs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What each case has to give: a pattern, none because a row reaches too many others, none because there would be too many entries */
typedef enum {
  MADE,
  LEFT,
  FULL,
  NRESULT
} Result;

/* The pattern of ILU(levels) by elimination on the host and by searches on the device */
static PetscErrorCode PatternBoth(const Case *c, const PolderCSR csr[2], PetscInt levels, PetscInt wrong[], PetscInt results[])
{
  const NRASGraph graph = {.m = csr->m, .ai = csr->ai, .aj = csr->aj};
  NRASBlocks      blocks[2];
  NRASCounts      counts;
  PC              pc;
  PC_NRAS        *nras;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCNRAS));
  nras             = (PC_NRAS *)pc->data;
  nras->set.levels = levels;
  for (int d = 0; d < 2; ++d) PetscCall(CreateBlocks(csr->m, c->blocks, c->mixed, &blocks[d]));
  PetscCall(PCNRASSetUpRows(pc, &graph, &blocks[0]));
  PetscCall(PCNRASSymbolic(pc, &graph, &blocks[0]));
  counts = nras->counts;
  PetscCall(PetscMemzero(&nras->counts, sizeof(nras->counts)));
  PetscCall(PCNRASFill(pc, &PolderOnDevice, &csr[1], &blocks[1], &done));
  results[!done ? LEFT : nras->counts.full ? FULL : MADE]++;
  if (done) wrong[1] += counts.full != nras->counts.full;
  if (done && !counts.full && !nras->counts.full) PetscCall(ComparePatterns(nras, &counts, blocks, wrong));
  for (int d = 0; d < 2; ++d) PetscCall(PCNRASDestroyBlocks(PolderPlaceOf((PetscBool)d), &blocks[d]));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPatterns(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  PetscInt wrong[2] = {0}, results[NRESULT] = {0};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); ++k) {
    PolderCSR csr[2];

    if (small && Rows(&Cases[k]) > 1000) continue;
    PetscCall(CreateRows(&Cases[k], &csr[0]));
    PetscCall(CopyRows(&csr[0], &csr[1]));
    for (PetscInt levels = 1; levels <= Cases[k].levels; ++levels) PetscCall(PatternBoth(&Cases[k], csr, levels, wrong, results));
    PetscCall(DestroyRows(csr));
  }
  PetscCall(Report("patterns", wrong[0]));
  PetscCall(Report("sizes of patterns", wrong[1]));
  PetscCall(Report("patterns made, left to the host, and with too many entries", !small && !(results[MADE] && results[LEFT] && results[FULL])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestTwins, TestPatterns}
};

/*TEST

  build: internal

  test:
    requires: gpu

  test:
    suites: memcheck racecheck initcheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicenrasfill_1.out

TEST*/
