static char help[] = "Labels of the deflation spaces against a flood fill of the grid, for several matrices, numberings and sources of the level set.\n\n";

#include <polder.h>
#include <petscdmda.h>
#include <petscviewer.h>
#include <unistd.h>
#include "vecs.h"

typedef enum {
  FIELD_BUBBLES,
  FIELD_LAYERS,
  FIELD_NOISE,
  FIELD_CONSTANT
} Field;
static const char *const Fields[] = {"bubbles", "layers", "noise", "constant", "Field", "FIELD_", NULL};
typedef enum {
  ROWS_NATURAL,
  ROWS_DMDA,
  ROWS_EMPTY,
  ROWS_SHUFFLED,
  ROWS_TAIL
} Rows;
static const char *const RowsNames[] = {"natural", "dmda", "empty", "shuffled", "tail", "Rows", "ROWS_", NULL};

typedef struct {
  PetscInt  dim, n, N; /* cells a direction and in all */
  Field     field;
  PetscReal radius, inside, aniso; /* coefficient in the bubbles or odd layers; factor of the first direction */
  PetscBool centre, arithmetic;
  Rows      rows;
} Problem;

static PetscErrorCode ProblemFromOptions(Problem *p)
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
static PetscReal LevelSet(const Problem *p, PetscInt cell)
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

static PetscReal Coefficient(const Problem *p, PetscInt cell)
{
  unsigned long long h = (unsigned long long)(cell + 1) * 0x9E3779B97F4A7C15ull;

  if (p->field == FIELD_NOISE) return PetscPowRealInt(30, (int)((h ^ (h >> 29)) >> 33) % 4);
  return LevelSet(p, cell) > 0 ? p->inside : 1;
}

static PetscErrorCode AssembleNatural(const Problem *p, Mat *A)
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
static PetscErrorCode CellsOfRows(const Problem *p, DM *da, IS *cells)
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
    if (p->dim == 2) PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p->n, p->n, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
    else PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p->n, p->n, p->n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, da));
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

static PetscErrorCode Assemble(const Problem *p, Mat *A, IS *cells)
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
static PetscErrorCode FloodFill(const Problem *p, PetscInt comp[])
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
static PetscInt PartOfCell(const Problem *p, const char kind[], PetscInt count, const PetscInt boxes[], PetscInt cell)
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
static PetscErrorCode LargestLast(const Problem *p, PetscInt n, PetscInt label[])
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

/* label[cell] = place of (part, component) among those that occur; of the regions of the kind levelset the largest is the last, or -1 outside the inclusions */
static PetscErrorCode Reference(const Problem *p, const char kind[], PetscInt label[], PetscInt *d)
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

/* label[cell] on every process from the d vectors of the space; every entry must be 0 or 1 and no row in two vectors */
static PetscErrorCode Found(const Problem *p, PolderDeflationSpace space, Mat A, IS cells, PetscInt d, PetscInt label[])
{
  const PetscInt    *cell;
  const PetscScalar *v;
  Vec                z;
  PetscInt           m;
  PetscMPIInt        N;

  PetscFunctionBegin;
  PetscCall(CreateVecs(A, &z, NULL));
  PetscCall(VecGetLocalSize(z, &m));
  PetscCall(ISGetIndices(cells, &cell));
  PetscCall(PetscArrayzero(label, p->N));
  for (PetscInt k = 0; k < d; ++k) {
    PetscCall(PolderDeflationSpaceGetVector(space, k, z));
    PetscCall(VecGetArrayRead(z, &v));
    for (PetscInt i = 0; i < m; ++i) {
      PetscCheck(v[i] == 0.0 || (v[i] == 1.0 && !label[cell[i]]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row of cell %" PetscInt_FMT " has the entry %g in vector %" PetscInt_FMT, cell[i], (double)PetscRealPart(v[i]), k);
      if (v[i] == 1.0) label[cell[i]] = k + 1;
    }
    PetscCall(VecRestoreArrayRead(z, &v));
  }
  PetscCall(ISRestoreIndices(cells, &cell));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscMPIIntCast(p->N, &N));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, label, N, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < p->N; ++i) label[i]--;
  PetscFunctionReturn(0);
}

/* The same sets; in the same order too when the rows are numbered naturally */
static PetscErrorCode Compare(const Problem *p, PetscInt d, const PetscInt expected[], const PetscInt label[])
{
  PetscInt *to, *from;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(d + 1, &to, d + 1, &from));
  for (PetscInt k = 0; k <= d; ++k) to[k] = from[k] = -2;
  for (PetscInt i = 0; i < p->N; ++i) {
    const PetscInt a = expected[i] + 1, b = label[i] + 1;

    if (to[a] == -2 && from[b] == -2) {
      to[a]   = b;
      from[b] = a;
    }
    PetscCheck(to[a] == b && from[b] == a && (p->rows != ROWS_NATURAL || a == b) && !a == !b, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Cell %" PetscInt_FMT " has label %" PetscInt_FMT ", not %" PetscInt_FMT, i, label[i], expected[i]);
  }
  PetscCall(PetscFree2(to, from));
  PetscFunctionReturn(0);
}

/* Parts of any shape: their number, sizes near the mean, and few cut edges */
static PetscErrorCode CheckParts(const Problem *p, PetscInt d, const PetscInt label[])
{
  PetscInt *size, cut = 0, edges = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(d, &size));
  for (PetscInt i = 0; i < p->N; ++i) {
    PetscCheck(label[i] >= 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Cell %" PetscInt_FMT " is in no part", i);
    size[label[i]]++;
    for (PetscInt k = 0, stride = 1; k < p->dim; ++k, stride *= p->n) {
      if (i / stride % p->n == p->n - 1) continue;
      edges++;
      cut += label[i] != label[i + stride];
    }
  }
  for (PetscInt k = 0; k < d; ++k) PetscCheck(size[k] * d >= p->N / 3 && size[k] * d <= p->N * 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Part %" PetscInt_FMT " has %" PetscInt_FMT " of %" PetscInt_FMT " rows", k, size[k], p->N);
  PetscCheck(cut * 100 < edges * 45, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " of %" PetscInt_FMT " edges are cut", cut, edges);
  PetscCall(PetscFree(size));
  PetscFunctionReturn(0);
}

/* Every label matters, but not the process that holds it */
static PetscErrorCode PrintHash(const Problem *p, const PetscInt label[])
{
  unsigned long long hash = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < p->N; ++i) hash = hash * 0x9E3779B97F4A7C15ull + (unsigned long long)(label[i] + 2);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "hash of the labels %llx\n", hash));
  PetscFunctionReturn(0);
}

/* Two unknowns a point: the boxes of the first and of the second are different vectors */
static PetscErrorCode CheckTwoUnknowns(Problem *p, PolderDeflationSpace space)
{
  Mat                A, M, A2;
  IS                 cells;
  Vec                z;
  const PetscScalar *v;
  PetscInt           boxes[3] = {2, 3, 2}, start, end, d = 2 * boxes[0] * boxes[1] * boxes[2];

  PetscFunctionBegin;
  PetscCall(Assemble(p, &A, &cells));
  PetscCall(MatCreateMAIJ(A, 2, &M));
  PetscCall(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, &A2));
  PetscCall(PolderDeflationSpaceSetType(space, POLDERDEFLATIONSUBDOMAIN));
  PetscCall(PolderDeflationSpaceSetBoxes(space, 3, boxes));
  PetscCall(PolderDeflationSpaceSetUp(space, A2));
  PetscCall(CreateVecs(A2, &z, NULL));
  PetscCall(VecGetOwnershipRange(z, &start, &end));
  for (PetscInt k = 0; k < d; ++k) {
    PetscCall(PolderDeflationSpaceGetVector(space, k, z));
    PetscCall(VecGetArrayRead(z, &v));
    for (PetscInt row = start; row < end; ++row) {
      const PetscBool in = (PetscBool)(k == 2 * PartOfCell(p, "subdomain", 0, boxes, row / 2) + row % 2);

      PetscCheck(v[row - start] == (in ? 1.0 : 0.0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " of vector %" PetscInt_FMT " has the entry %g", row, k, (double)PetscRealPart(v[row - start]));
    }
    PetscCall(VecRestoreArrayRead(z, &v));
  }
  PetscCall(VecDestroy(&z));
  PetscCall(ISDestroy(&cells));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&A2));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeLevelSet(const Problem *p, IS cells, const char bad[], Vec *phi)
{
  const PetscInt *cell;
  PetscInt        m;
  PetscMPIInt     rank, size;
  PetscScalar    *v;
  PetscBool       longer = (PetscBool)!strcmp(bad, "length");

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(ISGetLocalSize(cells, &m));
  PetscCall(ISGetIndices(cells, &cell));
  PetscCall(VecCreate(PETSC_COMM_WORLD, phi));
  PetscCall(VecSetSizes(*phi, m + (longer && rank == size - 1), PETSC_DETERMINE));
  PetscCall(VecSetFromOptions(*phi));
  PetscCall(VecGetArrayWrite(*phi, &v));
  for (PetscInt i = 0; i < m; ++i) v[i] = LevelSet(p, cell[i]);
  if (!strcmp(bad, "nan") && rank == size - 1) v[m - 1] = NAN;
  PetscCall(VecRestoreArrayWrite(*phi, &v));
  PetscCall(ISRestoreIndices(cells, &cell));
  PetscFunctionReturn(0);
}

/* By the setter, composed on the operator, or through a file in natural numbering */
static PetscErrorCode GiveLevelSet(const Problem *p, PolderDeflationSpace space, Mat A, IS cells)
{
  char        how[16] = "composed", bad[16] = "";
  Vec         phi;
  PetscViewer viewer;
  DM          da;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-give", how, sizeof(how), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bad", bad, sizeof(bad), NULL));
  PetscCall(MakeLevelSet(p, cells, bad, &phi));
  if (!strcmp(how, "set")) PetscCall(PolderDeflationSpaceSetLevelSet(space, phi));
  else if (!strcmp(how, "composed")) PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  else if (!strcmp(how, "file")) {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "phi.dat", FILE_MODE_WRITE, &viewer));
    PetscCall(MatGetDM(A, &da));
    if (!strcmp(bad, "matrix")) PetscCall(MatView(A, viewer));
    else if (da) {
      Vec global;

      PetscCall(DMCreateGlobalVector(da, &global));
      PetscCall(VecCopy(phi, global));
      PetscCall(VecView(global, viewer));
      PetscCall(VecDestroy(&global));
    } else PetscCall(VecView(phi, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    if (!strcmp(bad, "cut")) {
      PetscMPIInt rank;

      PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
      if (rank == 0) PetscCheck(!truncate("phi.dat", 2 * (off_t)sizeof(PetscInt) + (off_t)sizeof(PetscScalar) * p->N - 1), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot cut the file");
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    }
  }
  PetscCall(VecDestroy(&phi));
  PetscFunctionReturn(0);
}

/* Labels of the user's own: cell / 7, or a bad set */
static PetscErrorCode GiveLabels(PolderDeflationSpace space, IS cells)
{
  char            bad[16] = "";
  const PetscInt *cell;
  PetscInt        m, *l;
  IS              labels;
  PetscMPIInt     rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bad", bad, sizeof(bad), NULL));
  PetscCall(ISGetLocalSize(cells, &m));
  PetscCall(ISGetIndices(cells, &cell));
  PetscCall(PetscMalloc1(m, &l));
  for (PetscInt i = 0; i < m; ++i) l[i] = cell[i] / 100;
  if (!strcmp(bad, "negative") && rank == size - 1) l[m - 1] = -2;
  if (!strcmp(bad, "length") && rank == size - 1) m--;
  PetscCall(ISRestoreIndices(cells, &cell));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, m, l, PETSC_OWN_POINTER, &labels));
  PetscCall(PolderDeflationSpaceSetLabels(space, labels));
  PetscCall(ISDestroy(&labels));
  PetscFunctionReturn(0);
}

/* New values in the same pattern: the same vectors */
static PetscErrorCode CheckAgain(const Problem *p, PolderDeflationSpace space, Mat A, IS cells, PetscInt used, PetscInt d, const PetscInt label[])
{
  PetscInt now, *again;

  PetscFunctionBegin;
  PetscCall(MatScale(A, 7));
  PetscCall(PolderDeflationSpaceSetUp(space, A));
  PetscCall(PolderDeflationSpaceGetSize(space, &now));
  PetscCheck(now == used, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors after new values, %" PetscInt_FMT " before", now, used);
  PetscCall(PetscMalloc1(p->N, &again));
  PetscCall(Found(p, space, A, cells, d, again));
  for (PetscInt i = 0; i < p->N && d; ++i) PetscCheck(again[i] == label[i], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Cell %" PetscInt_FMT " has label %" PetscInt_FMT " after new values, %" PetscInt_FMT " before", i, again[i], label[i]);
  PetscCall(PetscFree(again));
  PetscFunctionReturn(0);
}

/* One space for the problem of the options, against the reference */
static PetscErrorCode CheckSpace(Problem *p, PolderDeflationSpace space)
{
  PolderDeflationSpaceType type;
  Mat                      A;
  IS                       cells;
  PetscInt                 expected = -1, d = 0, used, *label, *reference;
  PetscBool                labels = PETSC_FALSE, parts = PETSC_FALSE, hash = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-expected", &expected, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-labels", &labels, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-parts", &parts, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-hash", &hash, NULL));
  PetscCall(Assemble(p, &A, &cells));
  if (labels) PetscCall(GiveLabels(space, cells));
  else PetscCall(GiveLevelSet(p, space, A, cells));
  PetscCall(PolderDeflationSpaceSetUp(space, A));
  PetscCall(PolderDeflationSpaceGetSize(space, &used));
  PetscCall(PolderDeflationSpaceGetType(space, &type));
  PetscCheck(used == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors, expected %" PetscInt_FMT, used, expected);
  PetscCall(PetscMalloc2(p->N, &label, p->N, &reference));
  if (parts || hash) {
    d = used + 1; // Neumann everywhere: one vector is left out
    PetscCall(Found(p, space, A, cells, d, label));
    if (parts) PetscCall(CheckParts(p, d, label));
    else PetscCall(PrintHash(p, label));
  } else if (used) {
    PetscCall(Reference(p, type, reference, &d));
    PetscCall(Found(p, space, A, cells, d, label));
    PetscCall(Compare(p, d, reference, label));
  }
  PetscCall(CheckAgain(p, space, A, cells, used, d, label));
  PetscCall(PetscFree2(label, reference));
  PetscCall(ISDestroy(&cells));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem              p;
  PolderDeflationSpace space;
  PetscBool            two = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ProblemFromOptions(&p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-two_unknowns", &two, NULL));
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_WORLD, &space));
  PetscCall(PolderDeflationSpaceSetFromOptions(space));
  if (two) PetscCall(CheckTwoUnknowns(&p, space));
  else PetscCall(CheckSpace(&p, space));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "labels agree\n"));
  PetscCall(PolderDeflationSpaceDestroy(&space));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 3 4}}
    output_file: output/labels.out
    test:
      suites: valgrind(+2) memcheck(+1)
      suffix: eight_bubbles
      args: -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 15
    test:
      suffix: nine_bubbles
      args: -centre -give set -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 23
    test:
      suffix: nine_bubbles_64
      args: -centre -rows dmda -deflation_space levelset_subdomain -deflation_boxes 4,4,4 -expected 135
    test:
      suffix: levelset
      args: -centre -deflation_space levelset -expected 9

  testset:
    nsize: {{1 3}}
    output_file: output/labels.out
    test:
      suffix: empty_process
      args: -rows empty -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,3,2 -expected 19
    test:
      suffix: empty_process_again
      args: -rows empty -dim 2 -give none -deflation_grid 16,16 -deflation_count 5 -deflation_space {{stripe plane}} -expected 4
    test:
      suffix: empty_process_parts
      args: -rows empty -dim 2 -n 24 -field constant -give none -deflation_space partition -deflation_count 12 -parts -expected 11
    test:
      suffix: empty_process_levelset
      args: -rows empty -centre -deflation_space levelset -expected 9
    test:
      suffix: layers
      args: -field layers -inside 1e-6 -give none -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,1,1 -expected 9
    test:
      suffix: stripe
      args: -dim 2 -deflation_grid 16,16 -deflation_space stripe -expected 31
    test:
      suffix: plane
      args: -deflation_grid 16,16,16 -deflation_space plane -deflation_count 7 -expected 6
    test:
      suffix: nine_bubbles_512
      args: -centre -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 8,8,8 -expected 583
    test:
      suffix: file
      args: -centre -give file -deflation_levelset phi.dat -rows {{natural dmda}} -deflation_space levelset -expected 9
    test:
      suffix: thesis
      args: -centre -deflation_space levelset -deflation_levelset_vectors thesis -expected 8
    test:
      suffix: thesis_regions
      args: -n 20 -radius 0.15 -centre -give none -deflation_space levelset -deflation_levelset_vectors thesis -expected 8
    test:
      suffix: regions
      args: -n 20 -radius 0.15 -centre -give none -deflation_space levelset -inside {{1e2 1e3 1e6 1e-2 1e-3 1e-6}} -expected 9
    test:
      suffix: regions_2d
      args: -dim 2 -n 40 -centre -deflation_levelset auto -rows {{natural shuffled}} -deflation_space levelset -inside {{1e2 1e-2}} -expected 5
    test:
      suffix: regions_anisotropic
      args: -n 20 -radius 0.15 -aniso {{1e-3 1e3}} -give none -deflation_space levelset -inside 1e3 -expected 8
    test:
      suffix: anisotropic
      args: -field constant -aniso {{1e-4 1e4}} -give none -deflation_space levelset -expected 0
    test:
      suffix: shown
      args: -centre -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 23
    test:
      suffix: shown_boxes
      args: -deflation_space subdomain -deflation_boxes 2,3,2 -expected 11
    test:
      suffix: shown_runs
      args: -dim 2 -deflation_count 5 -deflation_space {{stripe plane}} -expected 4
    test:
      suffix: partition
      args: -dim 2 -n 24 -field constant -give none -deflation_space partition -deflation_count 12 -parts -expected 11
    test:
      suffix: auto_boxes
      args: -dim 2 -n 24 -field constant -give none -deflation_space auto -deflation_count 12 -parts -expected 8

  test:
    suffix: tail
    nsize: 4
    args: -rows tail -dim 2 -n 26 -field constant -give none -deflation_space auto -deflation_count 12 -parts -expected 11
    output_file: output/labels.out

  test:
    suffix: noise
    nsize: {{1 2 3 4}}
    args: -field noise -give none -deflation_grid 16,16,16 -hash -expected 46

  test:
    suffix: two_unknowns
    nsize: {{1 3}}
    args: -n 7 -deflation_grid 7,7,7 -two_unknowns
    output_file: output/labels.out

  test:
    suffix: partition_large
    args: -dim 2 -n 40 -field constant -give none -deflation_space partition -parts -deflation_count 12 -expected 11
    output_file: output/labels.out

  test:
    suffix: partition_nested
    args: -dim 2 -n 40 -field constant -give none -deflation_space partition -parts -deflation_count 80 -expected 79
    output_file: output/labels.out

  test:
    suffix: partition_shuffled
    args: -dim 2 -n 24 -rows shuffled -field constant -give none -deflation_space {{partition auto}} -deflation_count 12 -parts -expected 11
    output_file: output/labels.out

  test:
    suffix: user
    nsize: {{1 2 3 4}}
    args: -n 10 -labels -deflation_space user -rows {{natural empty}} -expected 9
    output_file: output/labels.out

  # labels made on the device
  testset:
    requires: cuda
    args: -mat_type {{aijdia aijhec}} -vec_type cuda -use_gpu_aware_mpi 0
    output_file: output/labels.out
    test:
      suffix: device_nine_bubbles
      args: -centre -give {{set composed}} -deflation_grid 16,16,16 -deflation_space levelset_subdomain -deflation_boxes 2,2,2 -expected 23
    test:
      suffix: device_levelset
      args: -centre -deflation_space levelset -expected 9
    test:
      suffix: device_thesis
      args: -n 20 -radius 0.15 -centre -give {{set none}} -deflation_space levelset -deflation_levelset_vectors thesis -expected 8
    test:
      suffix: device_regions
      args: -n 20 -radius 0.15 -centre -give none -deflation_space levelset -inside {{1e3 1e-3}} -expected 9
    test:
      suffix: device_shown
      args: -deflation_space subdomain -deflation_boxes 2,3,2 -expected 11
    test:
      suffix: device_stripe
      args: -dim 2 -deflation_grid 16,16 -deflation_space stripe -expected 31
    test:
      suffix: device_plane
      args: -deflation_grid 16,16,16 -deflation_space plane -deflation_count 7 -expected 6
    test:
      suffix: device_partition
      args: -dim 2 -n 24 -field constant -give none -deflation_space partition -deflation_count 12 -parts -expected 11
    test:
      suffix: device_auto_boxes
      args: -dim 2 -n 24 -field constant -give none -deflation_space auto -deflation_count 12 -parts -expected 8
    test:
      suffix: device_user
      args: -n 10 -labels -deflation_space user -expected 9

  test:
    suffix: device_noise
    requires: cuda
    args: -mat_type aijdia -vec_type cuda -use_gpu_aware_mpi 0 -field noise -give none -deflation_grid 16,16,16 -hash -expected 46
    output_file: output/labels_noise.out

  testset:
    requires: cuda
    args: -mat_type aijdia -vec_type cuda -use_gpu_aware_mpi 0
    test:
      suffix: device_bad_levelset_nan
      args: -deflation_space levelset -bad nan
      fails: The level set has values that are not a number
    test:
      suffix: device_bad_labels_negative
      args: -n 10 -labels -deflation_space user -bad negative
      fails: A deflation label is below -1

  # bad input, where it is bad on one process only; no process may be left waiting
  testset:
    nsize: 3
    test:
      suffix: bad_labels_length
      args: -n 10 -labels -deflation_space user -bad length
      fails: one entry for each local row
    test:
      suffix: bad_labels_negative
      args: -n 10 -labels -deflation_space user -bad negative
      fails: A deflation label is below -1
    test:
      suffix: bad_levelset_nan
      args: -deflation_space levelset -bad nan
      fails: The level set has values that are not a number
    test:
      suffix: bad_levelset_length
      args: -deflation_space levelset -bad length
      fails: The level set must have the layout of the matrix
    test:
      suffix: bad_file_missing
      args: -deflation_space levelset -deflation_levelset nowhere.dat -give none
      fails: there is no file nowhere.dat
    test:
      suffix: bad_file_kind
      args: -deflation_space levelset -deflation_levelset phi.dat -give file -bad matrix
      fails: phi.dat is not a PETSc binary file with a vector
    test:
      suffix: bad_file_cut
      args: -deflation_space levelset -deflation_levelset phi.dat -give file -bad cut
      fails: phi.dat is cut short
    test:
      suffix: bad_file_length
      args: -deflation_space levelset -deflation_levelset phi.dat -give file -bad length
      fails: The level set in phi.dat has 4097 values, the matrix has 4096 rows
    test:
      suffix: bad_count
      args: -n 10 -deflation_space partition -deflation_count 1001
      fails: asks for more vectors than the matrix has rows (1000)
    test:
      suffix: bad_stripes
      args: -n 10 -deflation_grid 10,10,10 -deflation_space stripe -deflation_count 1001
      fails: is more than the 1000 points of the grid
    test:
      suffix: bad_boxes_fit
      args: -n 10 -deflation_grid 10,10,10 -deflation_space subdomain -deflation_boxes 2,11,2
      fails: 11 boxes do not fit the 10 grid points of direction 1
    test:
      suffix: bad_boxes_dimension
      args: -n 10 -deflation_grid 10,10,10 -deflation_space subdomain -deflation_boxes 2,2
      fails: -deflation_boxes has 2 values but the grid has 3 dimensions
    test:
      suffix: bad_boxes_grid
      args: -n 10 -rows shuffled -deflation_space {{subdomain levelset_subdomain auto}} -deflation_boxes 2,2,2
      fails: a structured grid, and the matrix shows none: use a DMDA, give -deflation_grid nx,ny[,nz], or take -deflation_space partition
    test:
      suffix: bad_grid
      args: -n 10 -deflation_grid 10,10,11 -deflation_space plane
      fails: 1100 points, which do not divide the 1000 rows

TEST*/
