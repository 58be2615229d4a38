/* Random graphs as the rows of matrices */
#include "fuzz.h"

typedef struct {
  PetscInt n, ne, cap, *i, *j;
} Edges;

static PetscErrorCode Add(Edges *e, PetscInt i, PetscInt j)
{
  PetscFunctionBegin;
  if (i == j || i < 0 || j < 0 || i >= e->n || j >= e->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (e->ne == e->cap) {
    e->cap = 2 * e->cap + 64;
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)e->cap, &e->i));
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)e->cap, &e->j));
  }
  e->i[e->ne]   = i;
  e->j[e->ne++] = j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Tree(Fuzz *f, Edges *e, PetscInt first, PetscInt n)
{
  const PetscInt reach = FuzzChance(f, 30) ? 1 : FuzzBetween(f, 1, n);

  PetscFunctionBegin;
  for (PetscInt i = 1; i < n; ++i) PetscCall(Add(e, first + i, first + i - 1 - FuzzInt(f, PetscMin(i, reach))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Clique(Edges *e, PetscInt first, PetscInt n)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < i; ++j) PetscCall(Add(e, first + i, first + j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Hubs(Fuzz *f, Edges *e, PetscInt first, PetscInt n)
{
  const PetscInt nhub = FuzzBetween(f, 1, 3);

  PetscFunctionBegin;
  for (PetscInt h = 0; h < nhub; ++h) {
    const PetscInt hub = first + FuzzInt(f, n), percent = FuzzChance(f, 50) ? 100 : FuzzBetween(f, 10, 100);

    for (PetscInt i = 0; i < n; ++i)
      if (FuzzChance(f, percent)) PetscCall(Add(e, hub, first + i));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sparse(Fuzz *f, Edges *e, PetscInt first, PetscInt n)
{
  const PetscInt degree = FuzzBetween(f, 1, 5);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n * degree / 2; ++k) {
    const PetscInt i = FuzzInt(f, n), j = FuzzInt(f, n);

    PetscCall(Add(e, first + i, first + j));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrow(Fuzz *f, Edges *e, PetscInt first, PetscInt n)
{
  const PetscInt heads = FuzzBetween(f, 1, 4), k = PetscMin(heads, n), head = FuzzChance(f, 50) ? 0 : n - k;

  PetscFunctionBegin;
  for (PetscInt h = 0; h < k; ++h)
    for (PetscInt i = 0; i < n; ++i) PetscCall(Add(e, first + head + h, first + i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Band(Fuzz *f, Edges *e, PetscInt first, PetscInt n)
{
  const PetscInt k = FuzzBetween(f, 1, 6);

  PetscFunctionBegin;
  for (PetscInt h = 0; h < k; ++h) {
    const PetscInt distance = FuzzBetween(f, 1, FuzzChance(f, 60) ? 8 : PetscMax(n - 1, 1));

    for (PetscInt i = distance; i < n; ++i) PetscCall(Add(e, first + i, first + i - distance));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Blocks(Fuzz *f, Edges *e, PetscInt first, PetscInt n)
{
  const PetscInt bs = FuzzBetween(f, 2, 9);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i += bs) {
    PetscCall(Clique(e, first + i, PetscMin(bs, n - i)));
    if (i && FuzzChance(f, 70)) {
      const PetscInt from = FuzzInt(f, i);

      PetscCall(Add(e, first + i, first + from));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Stencil(Edges *e, const PetscInt g[3], PetscBool box)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < g[2]; ++k) {
    for (PetscInt j = 0; j < g[1]; ++j) {
      for (PetscInt i = 0; i < g[0]; ++i) {
        for (PetscInt s = 0; s < 13; ++s) { /* half of the neighbours */
          const PetscInt dx = s % 3 - 1, dy = s / 3 % 3 - 1, dz = s / 9 - 1;

          if (!box && dx * dx + dy * dy + dz * dz != 1) continue;
          if (i + dx < 0 || i + dx >= g[0] || j + dy < 0 || j + dy >= g[1] || k + dz < 0) continue;
          PetscCall(Add(e, (k * g[1] + j) * g[0] + i, ((k + dz) * g[1] + j + dy) * g[0] + i + dx));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const GraphNames[] = {"diagonal", "tree", "star", "clique", "hubs", "sparse", "arrow", "band", "blocks"};

static PetscErrorCode Part(Fuzz *f, Edges *e, PetscInt first, PetscInt n, PetscInt graph)
{
  PetscFunctionBegin;
  FuzzLog(f, " %s(%" PetscInt_FMT ")", GraphNames[graph], n);
  switch (graph) {
  case 0:
    break;
  case 1:
    PetscCall(Tree(f, e, first, n));
    break;
  case 2:
    for (PetscInt i = 1; i < n; ++i) PetscCall(Add(e, first, first + i));
    break;
  case 3:
    PetscCall(Clique(e, first, PetscMin(n, 100)));
    break;
  case 4:
    PetscCall(Sparse(f, e, first, n));
    PetscCall(Hubs(f, e, first, n));
    break;
  case 5:
    PetscCall(Sparse(f, e, first, n));
    break;
  case 6:
    PetscCall(Arrow(f, e, first, n));
    if (FuzzChance(f, 50)) PetscCall(Band(f, e, first, n));
    break;
  case 7:
    PetscCall(Band(f, e, first, n));
    break;
  default:
    PetscCall(Blocks(f, e, first, n));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Size(Fuzz *f)
{
  const PetscInt kind = FuzzInt(f, 100);

  return kind < 1 ? 0 : kind < 3 ? 1 : kind < 28 ? FuzzBetween(f, 2, 20) : kind < 96 ? FuzzBetween(f, 20, 300) : FuzzBetween(f, 300, 2000);
}

/* A grid of about n nodes, often long ones */
static PetscErrorCode Grid(Fuzz *f, Edges *e, FuzzRows *rows, PetscInt n)
{
  PetscInt *g = rows->grid;

  PetscFunctionBegin;
  rows->dim = FuzzInt(f, 10) < 6 ? 2 : FuzzChance(f, 75) ? 3 : 1;
  rows->box = FuzzChance(f, 30);
  g[0] = g[1] = g[2] = 1;
  if (rows->dim == 1) g[0] = n;
  else {
    const PetscReal side = PetscPowReal((PetscReal)n, (PetscReal)1 / (PetscReal)rows->dim);

    for (PetscInt d = 0; d < rows->dim; ++d) {
      const PetscReal stretch = FuzzChance(f, 60) ? 1 : FuzzReal(f, 0.2, 2);

      g[d] = PetscMax(1, (PetscInt)(side * stretch + 0.5));
    }
  }
  if (rows->dim == 2 && FuzzChance(f, 5)) g[FuzzInt(f, 2)] = FuzzBetween(f, 1, 3);
  e->n = g[0] * g[1] * g[2];
  PetscCall(Stencil(e, g, rows->box));
  FuzzLog(f, " grid %" PetscInt_FMT "x%" PetscInt_FMT "x%" PetscInt_FMT "%s", g[0], g[1], g[2], rows->box ? " box" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Permute(Fuzz *f, Edges *e, PetscInt p[])
{
  for (PetscInt i = 0; i < e->n; ++i) p[i] = i;
  for (PetscInt i = e->n - 1; i > 0; --i) {
    const PetscInt k = FuzzInt(f, i + 1), t = p[i];

    p[i] = p[k];
    p[k] = t;
  }
  for (PetscInt k = 0; k < e->ne; ++k) {
    e->i[k] = p[e->i[k]];
    e->j[k] = p[e->j[k]];
  }
}

PetscErrorCode FuzzRowsCreate(Fuzz *f)
{
  FuzzRows *rows = &f->rows;
  Edges     e    = {0, 0, 0, NULL, NULL};
  PetscInt  n    = Size(f), lopsided, lost;

  PetscFunctionBegin;
  if (n && FuzzChance(f, 50)) {
    PetscCall(Grid(f, &e, rows, n));
    if (FuzzChance(f, 12)) {
      PetscInt *p;

      PetscCall(PetscMalloc1(e.n, &p));
      Permute(f, &e, p);
      PetscCall(PetscFree(p));
      FuzzLog(f, " permuted");
      rows->dim = 0;
    }
    if (FuzzChance(f, 4)) { /* a grid and a few more couplings */
      rows->dim = 0;
      for (PetscInt k = FuzzBetween(f, 1, 5); k > 0; --k) {
        const PetscInt i = FuzzInt(f, e.n), j = FuzzInt(f, e.n);

        PetscCall(Add(&e, i, j));
      }
      FuzzLog(f, " and more");
    }
  } else {
    const PetscInt nparts = FuzzChance(f, 70) ? 1 : FuzzBetween(f, 2, 5);

    e.n = n;
    for (PetscInt p = 0; p < nparts; ++p)
      PetscCall(Part(f, &e, p * n / nparts, (p + 1) * n / nparts - p * n / nparts, FuzzChance(f, 4) ? 0 : FuzzBetween(f, 1, 8)));
  }
  lopsided = !f->solves && FuzzChance(f, 20) ? FuzzBetween(f, 1, 60) : FuzzChance(f, 2) ? 10 : 0;
  lost     = !f->solves && FuzzChance(f, 15) ? FuzzBetween(f, 1, 100) : FuzzChance(f, 1) ? 10 : 0;
  if (lopsided) FuzzLog(f, " lopsided %" PetscInt_FMT, lopsided);
  if (lost) FuzzLog(f, " diagonals lost %" PetscInt_FMT, lost);
  PetscCall(FuzzRowsPattern(rows, e.n, e.ne, e.i, e.j, FuzzNext(f), lopsided, lost));
  PetscCall(PetscFree(e.i));
  PetscCall(PetscFree(e.j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both directions of the edges and the diagonal; some percent of the edges go one way, some percent of the diagonal entries are not there */
PetscErrorCode FuzzRowsPattern(FuzzRows *rows, PetscInt n, PetscInt ne, const PetscInt i[], const PetscInt j[], uint64_t seed, PetscInt lopsided, PetscInt lost)
{
  PetscInt *fill, nz = 0;

  PetscFunctionBegin;
  rows->n        = n;
  rows->twoway   = (PetscBool)(!lopsided);
  rows->diagonal = (PetscBool)(!lost);
  PetscCall(PetscCalloc1(n + 1, &rows->ptr));
  PetscCall(PetscMalloc1(2 * ne + n, &rows->col));
  PetscCall(PetscMalloc1(n + 1, &fill));
  for (PetscInt k = 0; k < ne; ++k) {
    ++rows->ptr[i[k] + 1];
    if (!lopsided || (PetscInt)(FuzzHash(seed, (uint64_t)k, 1) % 100) >= lopsided) ++rows->ptr[j[k] + 1];
  }
  for (PetscInt r = 0; r < n; ++r) rows->ptr[r + 1] += rows->ptr[r] + ((PetscInt)(FuzzHash(seed, (uint64_t)r, 2) % 100) >= lost);
  for (PetscInt r = 0; r < n; ++r) {
    fill[r] = rows->ptr[r];
    if ((PetscInt)(FuzzHash(seed, (uint64_t)r, 2) % 100) >= lost) rows->col[fill[r]++] = r;
  }
  for (PetscInt k = 0; k < ne; ++k) {
    rows->col[fill[i[k]]++] = j[k];
    if (!lopsided || (PetscInt)(FuzzHash(seed, (uint64_t)k, 1) % 100) >= lopsided) rows->col[fill[j[k]]++] = i[k];
  }
  for (PetscInt r = 0; r < n; ++r) { /* each once */
    PetscInt length = rows->ptr[r + 1] - rows->ptr[r], *col = rows->col + rows->ptr[r];

    PetscCall(PetscSortRemoveDupsInt(&length, col));
    for (PetscInt k = 0; k < length; ++k) rows->col[nz + k] = col[k];
    rows->ptr[r] = nz;
    nz += length;
  }
  rows->ptr[n] = rows->nz = nz;
  PetscCall(PetscFree(fill));
  PetscCall(PetscCalloc1(nz, &rows->val));
  PetscCall(PetscCalloc2(n, &rows->part, n, &rows->kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row i becomes row to[i] */
PetscErrorCode FuzzRowsPermute(FuzzRows *rows, const PetscInt to[])
{
  FuzzRows old = *rows;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(old.n + 1, &rows->ptr));
  PetscCall(PetscMalloc1(old.nz, &rows->col));
  PetscCall(PetscCalloc1(old.nz, &rows->val));
  PetscCall(PetscCalloc2(old.n, &rows->part, old.n, &rows->kernel));
  for (PetscInt i = 0; i < old.n; ++i) rows->ptr[to[i] + 1] = old.ptr[i + 1] - old.ptr[i];
  for (PetscInt i = 0; i < old.n; ++i) rows->ptr[i + 1] += rows->ptr[i];
  for (PetscInt i = 0; i < old.n; ++i) {
    PetscInt *col = rows->col + rows->ptr[to[i]];

    for (PetscInt k = old.ptr[i]; k < old.ptr[i + 1]; ++k) col[k - old.ptr[i]] = to[old.col[k]];
    PetscCall(PetscSortInt(old.ptr[i + 1] - old.ptr[i], col));
  }
  PetscCall(FuzzRowsDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzRowsDestroy(FuzzRows *rows)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(rows->ptr));
  PetscCall(PetscFree(rows->col));
  PetscCall(PetscFree(rows->val));
  PetscCall(PetscFree2(rows->part, rows->kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}
