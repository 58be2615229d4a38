/* Values for the pattern of a matrix */
#include "fuzz.h"

typedef enum {
  SHIFTED,    /* Laplacian and a positive diagonal */
  WALLS,      /* Laplacian, positive diagonal here and there */
  SINGULAR,   /* Laplacian */
  SCALED,     /* singular or not, D L D */
  SIGNS,      /* couplings of both signs, dominant diagonal */
  INDEFINITE, /* diagonal of both signs */
  CONVECTION, /* entry (i, j) is not (j, i) */
  ANYTHING
} Mode;
static const char *const ModeNames[] = {"shifted", "walls", "singular", "scaled", "signs", "indefinite", "convection", "anything"};

typedef struct {
  Mode      mode;
  uint64_t  seed;
  int       field; /* of the coefficients */
  PetscReal decades, contrast;
  PetscInt  zeros, identity; /* percent of the couplings that are stored zeros; rows of the identity */
  PetscInt  regions;
  PetscBool shifted;
} Values;

static PetscBool Identity(const Values *v, PetscInt i)
{
  return (PetscBool)((PetscInt)(FuzzHash(v->seed, (uint64_t)i, 11) % 1000) < v->identity);
}

static PetscReal NodeCoefficient(const Values *v, const FuzzRows *rows, PetscInt i)
{
  uint64_t region;

  if (v->field == 3) return PetscPowReal(10, v->decades * (FuzzUnit(FuzzHash(v->seed, (uint64_t)i, 12)) - 0.5));
  region = (uint64_t)(i / PetscMax(1, rows->n / v->regions));
  if (rows->dim > 1)
    region = (uint64_t)((i % rows->grid[0]) / PetscMax(1, rows->grid[0] / v->regions) + 1000 * (i / rows->grid[0] / PetscMax(1, rows->grid[1] / v->regions)));
  return FuzzHash(v->seed, region, 13) % 2 ? v->contrast : 1;
}

/* Of a coupling, the same for (i, j) and (j, i) */
static PetscReal Weight(const Values *v, const FuzzRows *rows, PetscInt i, PetscInt j)
{
  const uint64_t a = (uint64_t)PetscMin(i, j), b = (uint64_t)PetscMax(i, j), h = FuzzHash(v->seed, a, b);

  if (Identity(v, i) || Identity(v, j) || (PetscInt)(h % 100) < v->zeros) return 0;
  if (v->field == 0) return 1;
  if (v->field == 1) return PetscPowReal(10, v->decades * (FuzzUnit(FuzzMix(h)) - 0.5));
  const PetscReal ca = NodeCoefficient(v, rows, (PetscInt)a), cb = NodeCoefficient(v, rows, (PetscInt)b);

  return 2 * ca * cb / (ca + cb);
}

static PetscReal Scale(const Values *v, PetscInt i)
{
  return v->mode == SCALED ? PetscPowReal(10, 2 * (FuzzUnit(FuzzHash(v->seed, (uint64_t)i, 14)) - 0.5)) : 1;
}

static PetscReal Extra(const Values *v, PetscInt i)
{
  const PetscReal u = FuzzUnit(FuzzHash(v->seed, (uint64_t)i, 15));

  switch (v->mode) {
  case SHIFTED:
    return 0.01 + u;
  case WALLS:
    return u < 0.1 || i == 0 ? 1 + u : 0;
  case SCALED:
    return v->shifted ? 0.01 + u : 0;
  case SIGNS:
  case CONVECTION:
    return 0.1 + u;
  default:
    return 0;
  }
}

static PetscScalar Entry(const Values *v, const FuzzRows *rows, PetscInt i, PetscInt j)
{
  const PetscReal w = Weight(v, rows, i, j);
  const uint64_t  h = FuzzHash(v->seed, (uint64_t)PetscMin(i, j) + 7, (uint64_t)PetscMax(i, j) + 9);

  switch (v->mode) {
  case SCALED:
    return -(Scale(v, i) * Scale(v, j)) * w;
  case SIGNS:
  case INDEFINITE:
    return h % 2 ? w : -w;
  case CONVECTION:
    return -w * (i < j ? 1 + 0.9 * FuzzUnit(h) : 1);
  case ANYTHING:
    return w * (FuzzUnit(FuzzHash(v->seed, (uint64_t)i, (uint64_t)j)) - 0.5);
  default:
    return -w;
  }
}

static PetscScalar Diagonal(const Values *v, PetscInt i, PetscReal sum)
{
  const uint64_t h = FuzzHash(v->seed, (uint64_t)i, 16);

  if (Identity(v, i)) return 1;
  switch (v->mode) {
  case INDEFINITE:
    return h % 3 ? sum + 1 : -sum - 1;
  case ANYTHING:
    return h % 20 == 0 ? 0 : 4 * (FuzzUnit(h) - 0.3);
  case SCALED:
    return PetscSqr(Scale(v, i)) * (sum + Extra(v, i));
  default:
    return sum + Extra(v, i);
  }
}

static PetscInt Root(PetscInt part[], PetscInt i)
{
  while (part[i] != i) i = part[i] = part[part[i]];
  return i;
}

/* Components of the couplings that are not zero; those whose rows add up to zero, after scaling, have a vector of the kernel */
static PetscErrorCode Kernel(const Values *v, FuzzRows *rows)
{
  PetscInt *part = rows->part, *number;

  PetscFunctionBegin;
  rows->nkernel = v->mode == INDEFINITE || v->mode == ANYTHING || !rows->twoway ? -1 : 0;
  for (PetscInt i = 0; i < rows->n; ++i) part[i] = i;
  for (PetscInt i = 0; i < rows->n; ++i)
    for (PetscInt k = rows->ptr[i]; k < rows->ptr[i + 1]; ++k)
      if (rows->val[k] != 0.0) part[Root(part, i)] = Root(part, rows->col[k]);
  PetscCall(PetscMalloc1(rows->n, &number));
  for (PetscInt i = 0; i < rows->n; ++i) number[i] = 0;
  for (PetscInt i = 0; i < rows->n; ++i) {
    PetscBool lone = PETSC_TRUE;

    for (PetscInt k = rows->ptr[i]; k < rows->ptr[i + 1]; ++k)
      if (rows->col[k] != i && rows->val[k] != 0.0) lone = PETSC_FALSE;
    if (lone || Extra(v, i) != 0) number[Root(part, i)] = -1;
  }
  if (rows->nkernel == 0) {
    for (PetscInt i = 0; i < rows->n; ++i)
      if (Root(part, i) == i && number[i] == 0) number[i] = ++rows->nkernel;
  }
  for (PetscInt i = 0; i < rows->n; ++i) rows->kernel[i] = 1 / Scale(v, i);
  for (PetscInt i = 0; i < rows->n; ++i) {
    const PetscInt root = Root(part, i);

    if (root != i) number[i] = number[root];
  }
  for (PetscInt i = 0; i < rows->n; ++i) part[i] = number[i] > 0 ? number[i] - 1 : -1;
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Mode PickMode(Fuzz *f)
{
  const PetscInt k = FuzzInt(f, 100);

  if (!f->solves) return (Mode)FuzzInt(f, 8);
  return k < 30 ? SHIFTED : k < 50 ? WALLS : k < 66 ? SINGULAR : k < 78 ? SCALED : k < 88 ? SIGNS : k < 92 ? INDEFINITE : k < 97 ? CONVECTION : ANYTHING;
}

PetscErrorCode FuzzRowsValues(Fuzz *f)
{
  FuzzRows *rows     = &f->rows;
  Values    v        = {PickMode(f), FuzzNext(f), 0, 0, 1, 0, 0, 1, PETSC_FALSE};
  PetscReal overall  = 1;
  PetscBool diagonal = PETSC_TRUE;

  PetscFunctionBegin;
  v.field    = (int)FuzzInt(f, 4);
  v.decades  = FuzzChance(f, 50) ? 2 : FuzzChance(f, 50) ? 24 : FuzzReal(f, 0, 24);
  v.contrast = PetscPowReal(10, FuzzReal(f, -7, 7));
  v.regions  = FuzzBetween(f, 1, 6);
  v.shifted  = FuzzChance(f, 50);
  v.zeros    = FuzzChance(f, 20) ? FuzzBetween(f, 1, FuzzChance(f, 10) ? 100 : 20) : 0;
  v.identity = FuzzChance(f, 15) ? FuzzBetween(f, 1, 200) : 0;
  if (FuzzChance(f, 10)) overall = PetscPowReal(10, FuzzReal(f, -20, 20));
  FuzzLog(f, " %s field %d decades %.3g contrast %.3g zeros %d identity %d overall %.3g", ModeNames[v.mode], v.field, (double)v.decades, (double)v.contrast,
          (int)v.zeros, (int)v.identity, (double)overall);
  for (PetscInt i = 0; i < rows->n; ++i) {
    PetscReal   sum = 0;
    PetscScalar row = 0;
    PetscInt    at  = -1;

    for (PetscInt k = rows->ptr[i]; k < rows->ptr[i + 1]; ++k) {
      if (rows->col[k] == i) {
        at = k;
        continue;
      }
      rows->val[k] = Entry(&v, rows, i, rows->col[k]);
      row += PetscAbsScalar(rows->val[k]);
      sum += v.mode == CONVECTION ? PetscAbsScalar(rows->val[k]) : Weight(&v, rows, i, rows->col[k]);
    }
    if (at < 0) diagonal = PETSC_FALSE;
    else {
      rows->val[at] = Diagonal(&v, i, sum);
      if (rows->val[at] == 0.0 && v.mode != ANYTHING && row == 0.0) rows->val[at] = 1; /* a lone row */
    }
  }
  PetscCall(Kernel(&v, rows));
  for (PetscInt k = 0; k < rows->nz; ++k) rows->val[k] *= overall;
  rows->symmetric = (PetscBool)(rows->twoway && v.mode != CONVECTION && v.mode != ANYTHING);
  rows->definite  = (PetscBool)(rows->symmetric && v.mode != INDEFINITE && diagonal);
  rows->mild      = (PetscBool)(v.field == 0 || (v.field == 2 && v.contrast < 1e3 && v.contrast > 1e-3) || ((v.field == 1 || v.field == 3) && v.decades <= 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}
