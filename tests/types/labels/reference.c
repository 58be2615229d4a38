/* Problems for the labels of the deflation spaces, and the labels by a flood fill of the grid. */
#include "reference.h"
#include <petscdmda.h>

static const char *const Fields[]    = {"bubbles", "layers", "noise", "constant", "Field", "FIELD_", NULL};
static const char *const RowsNames[] = {"natural", "dmda", "empty", "shuffled", "tail", "Rows", "ROWS_", NULL};

PetscErrorCode ProblemFromOptions(Problem *p)
{
  PetscFunctionBegin;
  *p = (Problem){.dim = 3, .n = 16, .field = FIELD_BUBBLES, .radius = 0.1, .inside = 1e3, .aniso = 1, .rows = ROWS_NATURAL};
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p->dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p->n, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-field", Fields, (PetscEnum *)&p->field, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-rows", RowsNames, (PetscEnum *)&p->rows, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-radius", &p->radius, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-inside", &p->inside, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-aniso", &p->aniso, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-centre", &p->centre, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-arithmetic", &p->arithmetic, NULL));
  p->N = p->dim == 2 ? p->n * p->n : p->n * p->n * p->n;
  PetscFunctionReturn(0);
}

/* Positive in the bubbles (a 2^dim lattice, and one in the middle) or in every second of five layers */
PetscReal LevelSet(const Problem *p, PetscInt cell)
{
  PetscReal x = 0, r2 = 0, c2 = 0;

  for (PetscInt d = 0; d < p->dim; ++d, cell /= p->n) {
    x = (cell % p->n + 0.5) / p->n;
    r2 += PetscSqr(x - (x < 0.5 ? 0.25 : 0.75));
    c2 += PetscSqr(x - 0.5);
  }
  if (p->field == FIELD_LAYERS) return (PetscInt)(5 * x) % 2 ? 0.5 : -0.5;
  if (p->field != FIELD_BUBBLES) return -1;
  return p->radius - PetscSqrtReal(p->centre ? PetscMin(r2, c2) : r2);
}

PetscReal Coefficient(const Problem *p, PetscInt cell)
{
  unsigned long long h = (unsigned long long)(cell + 1) * 0x9E3779B97F4A7C15ull;

  if (p->field == FIELD_NOISE) return PetscPowRealInt(30, (int)((h ^ (h >> 29)) >> 33) % 4);
  return LevelSet(p, cell) > 0 ? p->inside : 1;
}

PetscErrorCode AssembleNatural(const Problem *p, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, p->N, p->N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 6, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscReal diagonal = 0, own = Coefficient(p, i), face;

    for (PetscInt d = 0, stride = 1; d < p->dim; ++d, stride *= p->n) {
      for (PetscInt side = -1; side <= 1; side += 2) {
        const PetscInt  at = i / stride % p->n + side, j = i + side * stride;
        const PetscReal other = at < 0 || at >= p->n ? 0 : Coefficient(p, j);

        if (other == 0) continue;
        face = (p->arithmetic ? (own + other) / 2 : 2 / (1 / own + 1 / other)) * (d ? 1 : p->aniso);
        diagonal += face;
        PetscCall(MatSetValue(*A, i, j, -face, INSERT_VALUES));
      }
    }
    PetscCall(MatSetValue(*A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* cells <- the natural number of each local row: those of a DMDA, all rows on the even processes, numbered at random, or this in the last quarter only */
PetscErrorCode CellsOfRows(const Problem *p, DM *da, IS *cells)
{
  PetscMPIInt rank, size;
  PetscInt    m, start, *c, even;
  AO          ao;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  even  = (size + 1) / 2;
  start = rank % 2 ? 0 : p->N * (rank / 2) / even;
  m     = rank % 2 ? 0 : p->N * (rank / 2 + 1) / even - start;
  if (p->rows == ROWS_TAIL) {
    start = p->N * rank / size;
    m     = p->N * (rank + 1) / size - start;
  }
  if (p->rows == ROWS_DMDA) {
    if (p->dim == 2)
      PetscCall(
        DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p->n, p->n, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
    else
      PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p->n, p->n, p->n, PETSC_DECIDE,
                             PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, da));
    PetscCall(DMSetUp(*da));
    PetscCall(DMDAGetCorners(*da, NULL, NULL, NULL, &m, &start, &even));
    m *= start * even;
    PetscCallMPI(MPI_Scan(&m, &start, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    start -= m;
  }
  PetscCall(PetscMalloc1(m, &c));
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt first = p->rows == ROWS_TAIL ? p->N - p->N / 4 : 0, row = start + i;

    c[i] = (p->rows == ROWS_SHUFFLED || p->rows == ROWS_TAIL) && row >= first ? first + (row - first) * 1009 % (p->N - first) : row;
  }
  if (p->rows == ROWS_DMDA) {
    PetscCall(DMDAGetAO(*da, &ao));
    PetscCall(AOPetscToApplication(ao, m, c));
  }
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, m, c, PETSC_OWN_POINTER, cells));
  PetscFunctionReturn(0);
}

PetscErrorCode AssembleProblem(const Problem *p, Mat *A, IS *cells)
{
  Mat      natural;
  DM       da = NULL;
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(AssembleNatural(p, &natural));
  if (p->rows == ROWS_NATURAL) {
    *A = natural;
    PetscCall(MatGetOwnershipRange(*A, &start, &end));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - start, start, 1, cells));
    PetscFunctionReturn(0);
  }
  PetscCall(CellsOfRows(p, &da, cells));
  PetscCall(MatCreateSubMatrix(natural, *cells, *cells, MAT_INITIAL_MATRIX, A));
  if (da) PetscCall(MatSetDM(*A, da));
  PetscCall(DMDestroy(&da));
  PetscCall(MatDestroy(&natural));
  PetscFunctionReturn(0);
}

/* comp[cell] = smallest cell of its component of one sign of the level set */
PetscErrorCode FloodFill(const Problem *p, PetscInt comp[])
{
  PetscInt *stack, top, cell;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(p->N, &stack));
  for (PetscInt i = 0; i < p->N; ++i) comp[i] = -1;
  for (PetscInt i = 0; i < p->N; ++i) {
    if (comp[i] >= 0) continue;
    comp[i]  = i;
    stack[0] = i;
    for (top = 1; top;) {
      cell = stack[--top];
      for (PetscInt d = 0, stride = 1; d < p->dim; ++d, stride *= p->n) {
        for (PetscInt side = -1; side <= 1; side += 2) {
          const PetscInt at = cell / stride % p->n + side, j = cell + side * stride;

          if (at < 0 || at >= p->n || comp[j] >= 0 || (LevelSet(p, j) > 0) != (LevelSet(p, cell) > 0)) continue;
          comp[j]      = i;
          stack[top++] = j;
        }
      }
    }
  }
  PetscCall(PetscFree(stack));
  PetscFunctionReturn(0);
}

/* The part of each cell by the definitions of the kinds */
PetscInt PartOfCell(const Problem *p, const char kind[], PetscInt count, const PetscInt boxes[], PetscInt cell)
{
  PetscInt part = 0;

  if (!strcmp(kind, "levelset")) return 0;
  if (!strcmp(kind, "user")) return cell / 100;
  if (!strcmp(kind, "stripe")) return (PetscInt)((PetscInt64)cell * count / p->N);
  if (!strcmp(kind, "plane")) return (cell / (p->N / p->n)) * count / p->n;
  for (PetscInt d = 0, stride = 1; d < p->dim; ++d, cell /= p->n, stride *= boxes[d - 1]) part += stride * (cell % p->n * boxes[d] / p->n);
  return part;
}

/* The label of most cells changes places with the last one */
PetscErrorCode LargestLast(const Problem *p, PetscInt n, PetscInt label[])
{
  PetscInt *count, most = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n, &count));
  for (PetscInt i = 0; i < p->N; ++i) count[label[i]]++;
  for (PetscInt k = 0; k < n; ++k) most = count[k] > count[most] ? k : most;
  for (PetscInt i = 0; i < p->N; ++i) label[i] = label[i] == most ? n - 1 : (label[i] == n - 1 ? most : label[i]);
  PetscCall(PetscFree(count));
  PetscFunctionReturn(0);
}

/* label[cell] = place of (part, component) among those that occur; of the regions of the kind levelset the largest is the last, or -1 outside
   the inclusions */
PetscErrorCode Reference(const Problem *p, const char kind[], PetscInt label[], PetscInt *d)
{
  PetscInt  boxes[3] = {1, 1, 1}, nboxes = 3, count = 0, *comp, *key, n = 0;
  PetscBool levelset = (PetscBool)!strcmp(kind, "levelset"), pieces = (PetscBool)(levelset || !strcmp(kind, "levelset_subdomain")), inside = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-deflation_levelset_vectors", &inside));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-deflation_boxes", boxes, &nboxes, NULL));
  count = !strcmp(kind, "plane") ? p->n : (p->dim == 2 ? 2 * p->n : p->n * p->n);
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-deflation_count", &count, NULL));
  PetscCall(PetscMalloc2(p->N, &comp, p->N, &key));
  PetscCall(FloodFill(p, comp));
  for (PetscInt i = 0; i < p->N; ++i) {
    label[i] = inside && LevelSet(p, i) <= 0 ? -1 : PartOfCell(p, kind, count, boxes, i) * p->N + (pieces ? comp[i] : 0);
    if (label[i] >= 0) key[n++] = label[i];
  }
  PetscCall(PetscSortRemoveDupsInt(&n, key));
  for (PetscInt i = 0; i < p->N; ++i) {
    if (label[i] >= 0) PetscCall(PetscFindInt(label[i], n, key, &label[i]));
  }
  PetscCall(PetscFree2(comp, key));
  if (levelset && !inside) PetscCall(LargestLast(p, n, label));
  *d = n;
  PetscFunctionReturn(0);
}
