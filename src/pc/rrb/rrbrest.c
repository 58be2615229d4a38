/* The exact rest of PC rrb: a small grid, solved by band Cholesky. */
#include "rrbimpl.h"
#include "core/refusal.h"
#include <petsc/private/pcimpl.h>
#include <petscblaslapack.h>

/* Not declared by PETSc */
#define LAPACKpbtrf_ PETSCBLAS(pbtrf, PBTRF)
#define LAPACKpbtrs_ PETSCBLAS(pbtrs, PBTRS)
PETSC_EXTERN void LAPACKpbtrf_(const char *, const PetscBLASInt *, const PetscBLASInt *, PetscScalar *, const PetscBLASInt *, PetscBLASInt *);
PETSC_EXTERN void LAPACKpbtrs_(const char *, const PetscBLASInt *, const PetscBLASInt *, const PetscBLASInt *, const PetscScalar *, const PetscBLASInt *,
                               PetscScalar *, const PetscBLASInt *, PetscBLASInt *);

PetscBool PCRRBRestSize(PetscInt nx, PetscInt ny, PetscInt levels, PetscReal *n, PetscReal *band)
{
  for (PetscInt k = 0; k < levels / 2; ++k) {
    if (PetscMin(nx, ny) <= 1) return PETSC_FALSE;
    nx /= 2;
    ny /= 2;
  }
  if (levels % 2 && PetscMin(nx, ny) <= 1) return PETSC_FALSE;
  *n    = (levels % 2 ? 0.5 : 1.0) * (PetscReal)nx * (PetscReal)ny;
  *band = 1.0 + PetscMin(nx, ny);
  return PETSC_TRUE;
}

PetscInt PCRRBNode(const PC_RRB *rrb, PetscInt k, PetscInt x, PetscInt y)
{
  return (((y + 1) << k) - 1) * rrb->nx + ((x + 1) << k) - 1;
}

PetscErrorCode PCRRBPivotRefuse(PC pc, const RRBPivot *pivot)
{
  const PC_RRB  *rrb  = (PC_RRB *)pc->data;
  const PetscInt node = PCRRBNode(rrb, pivot->k, pivot->x, pivot->y);
  char           why[256];

  PetscFunctionBegin;
  if (rrb->matrix.deficit >= 0)
    PetscCall(PetscSNPrintf(why, sizeof(why),
                            "row %" PetscInt_FMT
                            " is the first whose entries add up to less than zero, check the sign of the term on its diagonal, or use a smaller -pc_rrb_omega",
                            PCRRBRowOfNode(rrb, rrb->matrix.deficit)));
  else if (rrb->matrix.positive >= 0)
    PetscCall(PetscSNPrintf(why, sizeof(why),
                            "row %" PetscInt_FMT " is the first with a positive entry beside the diagonal, use a smaller -pc_rrb_omega or fewer -pc_rrb_levels",
                            PCRRBRowOfNode(rrb, rrb->matrix.positive)));
  else PetscCall(PetscStrncpy(why, "the matrix is not positive definite, or its values are of too different sizes", sizeof(why)));
  PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT,
                 "PC of type rrb finds the pivot %g at node (%" PetscInt_FMT ", %" PetscInt_FMT "), row %" PetscInt_FMT ", after %" PetscInt_FMT
                 " half levels, and it must be positive: %s",
                 (double)pivot->value, node % rrb->nx, node / rrb->nx, PCRRBRowOfNode(rrb, node), 2 * pivot->k, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The unknown that a coupling of node (x, y) leads to; -1: none */
static PetscInt PCRRBRestNeighbour_Private(const RRBRest *rest, int f, PetscInt x, PetscInt y)
{
  const PetscInt far = rest->skew ? 2 : 1;

  x += f == RRB_N ? 0 : f == RRB_E ? far : 1;
  y += f == RRB_E ? 0 : f == RRB_N ? far : f == RRB_NE ? 1 : -1;
  return x < rest->nx && y >= 0 && y < rest->ny ? rest->number[y * rest->nx + x] : -1;
}

PetscErrorCode PCRRBRestFree(RRBRest *rest)
{
  PetscFunctionBegin;
  for (int f = 0; f < RRB_NROW; ++f) PetscCall(PetscFree(rest->row[f]));
  PetscCall(PetscFree(rest->number));
  PetscCall(PetscFree(rest->place));
  PetscCall(PetscFree(rest->part));
  PetscCall(PetscFree5(rest->pin, rest->size, rest->mean, rest->kernel, rest->gain));
  PetscCall(PetscFree(rest->factor));
  PetscCall(PetscFree(rest->x));
  *rest = (RRBRest){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the unknowns row by row along the shorter side. last: the grid whose values contain them; NULL: they are in the vector itself */
PetscErrorCode PCRRBRestLayout(PC pc, PetscInt nx, PetscInt ny, PetscBool skew, const PolderRRBGrid *last)
{
  PC_RRB        *rrb  = (PC_RRB *)pc->data;
  RRBRest       *rest = &rrb->rest;
  const PetscInt N = nx * ny, across = nx <= ny ? nx : ny, along = nx <= ny ? ny : nx;

  PetscFunctionBegin;
  PetscCheck((skew ? 0.5 : 1.0) * (PetscReal)N * (across + 2.0) < 1e9, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PC of type rrb would have to factor a rest of %" PetscInt_FMT " by %" PetscInt_FMT
             " nodes exactly, which is too large: use more -pc_rrb_levels than %" PetscInt_FMT,
             nx, ny, rrb->levels);
  *rest = (RRBRest){.nx = nx, .ny = ny, .skew = skew};
  for (int f = 0; f < RRB_NROW; ++f) PetscCall(PetscCalloc1(N, &rest->row[f]));
  PetscCall(PetscMalloc1(N, &rest->number));
  PetscCall(PetscMalloc1(N, &rest->place));
  for (PetscInt a = 0; a < along; ++a) {
    for (PetscInt b = 0; b < across; ++b) {
      const PetscInt x = nx <= ny ? b : a, y = nx <= ny ? a : b;

      rest->number[y * nx + x] = -1;
      if (skew && (x + y) % 2) continue;
      rest->number[y * nx + x] = rest->n;
      if (!last) rest->place[rest->n] = (size_t)y * (size_t)nx + (size_t)x;
      else if (!skew) rest->place[rest->n] = RRB_R2 * last->size + last->origin + (size_t)y * (size_t)last->pitch + (size_t)x;
      else rest->place[rest->n] = (x % 2 ? RRB_R2 : RRB_R1) * last->size + last->origin + (size_t)(y / 2) * (size_t)last->pitch + (size_t)(x / 2);
      ++rest->n;
    }
  }
  for (PetscInt y = 0; y < ny; ++y) {
    for (PetscInt x = 0; x < nx; ++x) {
      const PetscInt i = rest->number[y * nx + x];

      for (int f = RRB_E; f < RRB_NROW && i >= 0; ++f) {
        const PetscInt j = PCRRBRestNeighbour_Private(rest, f, x, y);

        if (j >= 0) rest->band = PetscMax(rest->band, PetscAbsInt(j - i));
      }
    }
  }
  PetscCall(PetscMalloc1((size_t)rest->n * (size_t)(rest->band + 1), &rest->factor));
  PetscCall(PetscMalloc1(rest->n, &rest->x));
  PetscCall(PetscMalloc1(rest->n, &rest->part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Root of i in a union-find forest */
static PetscInt PCRRBRoot_Private(PetscInt parent[], PetscInt i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void PCRRBJoin_Private(PetscInt parent[], PetscInt i, PetscInt j)
{
  i                      = PCRRBRoot_Private(parent, i);
  j                      = PCRRBRoot_Private(parent, j);
  parent[PetscMin(i, j)] = PetscMax(i, j);
}

/* Finds the connected parts whose rows add up to zero within tol, numbers them, and leaves out the last unknown of each */
static PetscErrorCode PCRRBRestPin_Private(RRBRest *rest, PetscReal tol)
{
  PetscInt  *part = rest->part, *number;
  PetscReal *sum, *size;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rest->n, &number));
  PetscCall(PetscCalloc2(rest->n, &sum, rest->n, &size));
  for (PetscInt i = 0; i < rest->n; ++i) part[i] = i;
  for (PetscInt y = 0; y < rest->ny; ++y) {
    for (PetscInt x = 0; x < rest->nx; ++x) {
      const PetscInt i = rest->number[y * rest->nx + x];

      for (int f = RRB_E; f < RRB_NROW && i >= 0; ++f) {
        const PetscInt j = PCRRBRestNeighbour_Private(rest, f, x, y);

        if (j >= 0 && rest->row[f][y * rest->nx + x] != 0) PCRRBJoin_Private(part, i, j);
      }
    }
  }
  for (PetscInt i = 0; i < rest->n; ++i) part[i] = PCRRBRoot_Private(part, i);
  for (PetscInt k = 0; k < rest->nx * rest->ny; ++k) {
    const PetscInt i = rest->number[k];

    if (i < 0) continue;
    sum[part[i]] += PetscRealPart(rest->row[RRB_C][k]);
    size[part[i]] += PetscAbsScalar(rest->row[RRB_C][k]);
    for (int f = RRB_E; f < RRB_NROW; ++f) {
      if (PCRRBRestNeighbour_Private(rest, f, k % rest->nx, k / rest->nx) >= 0) sum[part[i]] += 2 * PetscRealPart(rest->row[f][k]);
    }
  }
  for (PetscInt i = 0; i < rest->n; ++i) number[i] = part[i] == i && PetscAbsReal(sum[i]) <= tol * size[i] ? rest->npin++ : -1;
  PetscCall(PetscCalloc5(rest->npin, &rest->pin, rest->npin, &rest->size, rest->npin, &rest->mean, rest->npin, &rest->kernel, rest->npin, &rest->gain));
  for (PetscInt i = 0; i < rest->n; ++i) {
    if (number[i] >= 0) rest->pin[number[i]] = i;
    part[i] = number[part[i]];
    if (part[i] >= 0) rest->size[part[i]]++;
  }
  for (PetscInt p = 0; p < rest->npin; ++p) rest->gain[p] = PetscSqr((PetscReal)rest->size[p]) / size[rest->pin[p]];
  PetscCall(PetscFree(number));
  PetscCall(PetscFree2(sum, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is unknown i left out of the factor? */
static inline PetscBool PCRRBRestIsPin_Private(const RRBRest *rest, PetscInt i)
{
  return (PetscBool)(rest->npin && rest->part[i] >= 0 && rest->pin[rest->part[i]] == i);
}

PetscErrorCode PCRRBRestParts(PC pc)
{
  PC_RRB  *rrb  = (PC_RRB *)pc->data;
  RRBRest *rest = &rrb->rest;

  PetscFunctionBegin;
  PetscCall(PetscFree5(rest->pin, rest->size, rest->mean, rest->kernel, rest->gain));
  rest->npin = 0;
  PetscCall(PCRRBRestPin_Private(rest, rrb->matrix.singular ? 1e-7 : 1e-13));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBRestFactor(PC pc)
{
  PC_RRB      *rrb  = (PC_RRB *)pc->data;
  RRBRest     *rest = &rrb->rest;
  const size_t ld   = (size_t)rest->band + 1;
  PetscBLASInt n, band, ldb, info;

  PetscFunctionBegin;
  PetscCall(PCRRBRestParts(pc));
  PetscCall(PetscArrayzero(rest->factor, (size_t)rest->n * ld));
  for (PetscInt y = 0; y < rest->ny; ++y) {
    for (PetscInt x = 0; x < rest->nx; ++x) {
      const PetscInt i = rest->number[y * rest->nx + x], k = y * rest->nx + x;

      if (i < 0) continue;
      rest->factor[(size_t)i * ld] = PCRRBRestIsPin_Private(rest, i) ? 1.0 : rest->row[RRB_C][k];
      for (int f = RRB_E; f < RRB_NROW; ++f) {
        const PetscInt j = PCRRBRestNeighbour_Private(rest, f, x, y);

        if (j >= 0 && !PCRRBRestIsPin_Private(rest, i) && !PCRRBRestIsPin_Private(rest, j))
          rest->factor[(size_t)PetscMin(i, j) * ld + (size_t)PetscAbsInt(i - j)] = rest->row[f][k];
      }
    }
  }
  PetscCall(PetscBLASIntCast(rest->n, &n));
  PetscCall(PetscBLASIntCast(rest->band, &band));
  ldb = band + 1;
  PetscCallBLAS("LAPACKpbtrf", LAPACKpbtrf_("L", &n, &band, rest->factor, &ldb, &info));
  for (PetscInt k = 0; info > 0 && k < rest->nx * rest->ny; ++k) {
    const RRBPivot pivot = {.k = rrb->levels / 2, .x = k % rest->nx, .y = k / rest->nx, .value = PetscRealPart(rest->factor[(size_t)(info - 1) * ld])};

    if (rest->number[k] == info - 1) PetscCall(PCRRBPivotRefuse(pc, &pivot));
  }
  PetscCheck(info >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's band factorisation failed with %d", (int)info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Subtracts the mean on each singular part. Before and after a solve with one unknown left out, this gives the pseudo-inverse. In the kernel M acts as one
  diagonal entry, because A need not be singular there: see PolderRRBLess()
*/
static void PCRRBRestCentre_Private(RRBRest *rest)
{
  for (PetscInt p = 0; p < rest->npin; ++p) rest->mean[p] = 0;
  for (PetscInt i = 0; i < rest->n; ++i) {
    if (rest->part[i] >= 0) rest->mean[rest->part[i]] += PetscRealPart(rest->x[i]) / rest->size[rest->part[i]];
  }
  for (PetscInt i = 0; i < rest->n; ++i) {
    if (rest->part[i] >= 0) rest->x[i] -= rest->mean[rest->part[i]];
  }
}

PetscErrorCode PCRRBRestSolve(RRBRest *rest, const size_t place[], const PetscScalar from[], PetscScalar to[])
{
  PetscBLASInt n, band, one = 1, ldb, info;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(rest->n, &n));
  PetscCall(PetscBLASIntCast(rest->band, &band));
  ldb = band + 1;
  for (PetscInt i = 0; i < rest->n; ++i) rest->x[i] = from[place[i]];
  if (rest->npin) PCRRBRestCentre_Private(rest);
  for (PetscInt p = 0; p < rest->npin; ++p) rest->x[rest->pin[p]] = 0;
  PetscCallBLAS("LAPACKpbtrs", LAPACKpbtrs_("L", &n, &band, &one, rest->factor, &ldb, rest->x, &n, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's band solve failed with %d", (int)info);
  if (rest->npin) {
    PetscCall(PetscArraycpy(rest->kernel, rest->mean, rest->npin));
    PCRRBRestCentre_Private(rest);
    for (PetscInt i = 0; i < rest->n; ++i) {
      if (rest->part[i] >= 0) rest->x[i] += rest->gain[rest->part[i]] * rest->kernel[rest->part[i]];
    }
  }
  for (PetscInt i = 0; i < rest->n; ++i) to[place[i]] = rest->x[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}
