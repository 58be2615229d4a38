/* The matrix of bubbles.c */
#include "bubbles.h"

static void AddEntry(PetscInt *n, MatStencil col[], PetscScalar val[], const PetscInt c[], PetscReal v)
{
  col[*n].i = c[0];
  col[*n].j = c[1];
  col[*n].k = c[2];
  col[*n].c = 0;
  val[*n]   = v;
  *n += 1;
}

/* Finite volumes: a face has the harmonic mean of the two coefficients; a Dirichlet face is half a cell away */
static PetscInt RowFV(const Problem *p, const PetscInt c[], MatStencil col[], PetscScalar val[])
{
  PetscReal x[3] = {0.0}, y[3] = {0.0}, diag = 0.0, kc;
  PetscInt  n = 0;

  PositionOf(p, c, x);
  kc = ProblemCoefficient(p, x);
  for (PetscInt d = 0; d < p->dim; ++d) {
    for (int side = 0; side < 2; ++side) {
      PetscInt  e[3] = {c[0], c[1], c[2]}, wrapped[3] = {c[0], c[1], c[2]};
      PetscReal kn, k;

      e[d] += side ? 1 : -1;
      if ((e[d] < 0 || e[d] >= p->n[d]) && p->bc[2 * d] != BC_PERIODIC) {
        if (p->bc[2 * d + side] == BC_DIRICHLET) diag += 2.0 * p->w[d] * kc;
        continue;
      }
      wrapped[d] = (e[d] + p->n[d]) % p->n[d];
      PositionOf(p, wrapped, y);
      kn = ProblemCoefficient(p, y);
      k  = p->w[d] * (2.0 * (kc * kn) / (kc + kn));
      diag += k;
      AddEntry(&n, col, val, e, -k);
    }
  }
  AddEntry(&n, col, val, c, diag);
  return n;
}

/* Multilinear elements: the 2^dim elements around a node, each a tensor product of one-dimensional stiffness and mass matrices */
static PetscInt RowFE(const Problem *p, const PetscInt c[], MatStencil col[], PetscScalar val[])
{
  const PetscInt corners = 1 << p->dim;
  PetscReal      row[27] = {0.0};
  PetscInt       n       = 0;

  for (PetscInt a = 0; a < corners; ++a) {
    PetscInt  e[3] = {0, 0, 0};
    PetscReal x[3], k;
    PetscBool inside = PETSC_TRUE;

    for (PetscInt d = 0; d < p->dim; ++d) {
      e[d] = c[d] + (p->bc[2 * d] == BC_DIRICHLET ? 1 : 0) - ((a >> d) & 1);
      x[d] = (e[d] + 0.5) * p->h[d];
      if (e[d] < 0 || e[d] >= p->ne[d]) inside = PETSC_FALSE;
    }
    if (!inside) continue;
    k = ProblemCoefficient(p, x);
    for (PetscInt b = 0; b < corners; ++b) {
      PetscReal v   = 0.0;
      PetscInt  pos = 0, step = 1;

      for (PetscInt d = 0; d < p->dim; ++d) {
        PetscReal t = 1.0;

        for (PetscInt q = 0; q < p->dim; ++q) {
          const PetscBool same = (PetscBool)(((a >> q) & 1) == ((b >> q) & 1));

          t *= q == d ? (same ? 1.0 : -1.0) / p->h[q] : p->h[q] * (same ? 2.0 : 1.0) / 6.0;
        }
        v += t;
        pos += step * (1 + ((b >> d) & 1) - ((a >> d) & 1));
        step *= 3;
      }
      row[pos] += k * v;
    }
  }
  for (PetscInt pos = 0; pos < (p->dim == 3 ? 27 : 9); ++pos) {
    const PetscInt e[3]   = {c[0] + pos % 3 - 1, c[1] + (pos / 3) % 3 - 1, p->dim == 3 ? c[2] + pos / 9 - 1 : 0};
    PetscBool      inside = PETSC_TRUE;

    for (PetscInt d = 0; d < p->dim; ++d)
      if (e[d] < 0 || e[d] >= p->n[d]) inside = PETSC_FALSE;
    if (inside) AddEntry(&n, col, val, e, row[pos]);
  }
  return n;
}

/* Row of a local unknown: stencil columns and, for the natural numbering, global ones */
static PetscInt Row(const Problem *p, PetscInt l, MatStencil *row, MatStencil col[], PetscInt gcol[], PetscScalar val[])
{
  PetscInt c[3], n;

  PointOf(p, l, c);
  row->i = c[0];
  row->j = c[1];
  row->k = c[2];
  row->c = 0;
  n      = p->disc == DISC_FV ? RowFV(p, c, col, val) : RowFE(p, c, col, val);
  for (PetscInt q = 0; q < n; ++q)
    gcol[q] = (col[q].i + p->n[0]) % p->n[0] + p->n[0] * ((col[q].j + p->n[1]) % p->n[1] + p->n[1] * ((col[q].k + p->n[2]) % p->n[2]));
  return n;
}

PetscErrorCode ProblemCreateMatrix(const Problem *p, Mat *A)
{
  MatStencil   row, col[MAX_ROW];
  PetscScalar  val[MAX_ROW];
  PetscInt     gcol[MAX_ROW], *dnz, *onz;
  MatNullSpace nsp;
  PetscBool    nullspace = PETSC_TRUE;

  PetscFunctionBegin;
  if (p->dm) PetscCall(DMCreateMatrix(p->dm, A));
  else {
    PetscCall(PetscCalloc2(p->nl, &dnz, p->nl, &onz));
    for (PetscInt l = 0; l < p->nl; ++l) {
      const PetscInt n = Row(p, l, &row, col, gcol, val);

      for (PetscInt q = 0; q < n; ++q) {
        if (gcol[q] >= p->rstart && gcol[q] < p->rstart + p->nl) ++dnz[l];
        else ++onz[l];
      }
    }
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, p->nl, p->nl, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatXAIJSetPreallocation(*A, 1, dnz, onz, NULL, NULL));
    PetscCall(PetscFree2(dnz, onz));
  }
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nullspace", &nullspace, NULL));
  if (p->singular && nullspace) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &nsp));
    PetscCall(MatSetNullSpace(*A, nsp));
    PetscCall(MatNullSpaceDestroy(&nsp));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemFillMatrix(const Problem *p, Mat A)
{
  MatStencil  row, col[MAX_ROW];
  PetscScalar val[MAX_ROW];
  PetscInt    gcol[MAX_ROW];

  PetscFunctionBegin;
  PetscCall(MatZeroEntries(A));
  for (PetscInt l = 0; l < p->nl; ++l) {
    const PetscInt n = Row(p, l, &row, col, gcol, val), g = p->rstart + l;

    if (p->dm) PetscCall(MatSetValuesStencil(A, 1, &row, n, col, val, ADD_VALUES));
    else PetscCall(MatSetValues(A, 1, &g, n, gcol, val, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}
