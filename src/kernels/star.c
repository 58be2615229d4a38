/* Stars: 3-, 5- and 7-point stencils with the energy that a wider one gives linear functions. */
#include "starrow.h"

/* The middle of off[*k] and those that follow it by at most `gap`; *k <- the first that does not */
static PetscInt StarMiddle(PetscInt n, const PetscInt off[], PetscInt gap, PetscInt *k)
{
  const PetscInt low = off[*k];

  while (*k + 1 < n && off[*k + 1] - off[*k] <= gap) ++*k;
  return (low + off[(*k)++]) / 2;
}

PetscBool PolderStarGridFind_Host(PetscInt n, const PetscInt off[], PetscInt N, PolderStarGrid *G)
{
  const PetscInt least = 2 * POLDER_STAR_REACH + 2; // so that steps follow from offsets
  PetscInt       k     = 0, stride[2];
  PetscBool      far   = PETSC_FALSE;

  while (k < n && off[k] <= POLDER_STAR_REACH) ++k;
  if (k == n) return PETSC_FALSE;
  stride[0] = StarMiddle(n, off, 2, &k); // offsets along x, then those to lines, whose middle is the next one; linear cubes have none straight to it
  while (k < n && off[k] <= POLDER_STAR_REACH * (stride[0] + 1)) ++k;
  stride[1] = k < n ? StarMiddle(n, off, stride[0] + 2 * POLDER_STAR_REACH, &k) : N;
  if (stride[0] < least || N % stride[1] || stride[1] % stride[0] || stride[1] / stride[0] < least) return PETSC_FALSE;
  G->n[0] = stride[0];
  G->n[1] = stride[1] / stride[0];
  G->n[2] = N / stride[1];
  for (k = 0; k < n; ++k) {
    int step[3];

    if (!PolderStarSteps(G, off[k], step)) return PETSC_FALSE;
    if (off[k] != 1 && off[k] != stride[0] && off[k] != stride[1]) far = PETSC_TRUE;
  }
  return far;
}

void PolderStarRows_Host(const PolderStarGrid *G, PetscInt first, PolderRows A, PolderRows ghosts, const PetscInt garray[], const PolderStarParts *P,
                         PetscInt count[])
{
  for (PetscInt i = 0; i < A.n; ++i) {
    const unsigned bits = PolderStarPartsRow(G, first, i, &A, &ghosts, garray, P);

    for (int k = 0; k < POLDER_STAR_COUNTS; ++k) count[k] += bits >> k & 1;
  }
}

void PolderStarPattern_Host(const PolderStarGrid *G, PetscInt first, PetscInt n, PetscInt ptr[], PetscInt col[])
{
  ptr[0] = 0;
  for (PetscInt i = 0; i < n; ++i) ptr[i + 1] = ptr[i] + PolderStarColumns(G, first + i, col + ptr[i]);
}

void PolderStarValues_Host(const PolderStarGrid *G, PetscInt first, PetscInt n, const PolderStarParts *P, PetscInt nthere, const PetscInt there[],
                           const PetscScalar beyond[], const PetscInt ptr[], PetscScalar val[])
{
  for (PetscInt i = 0; i < n; ++i) PolderStarValuesRow(G, first, n, i, P, nthere, there, beyond, ptr[i], val);
}

void PolderStarEdges_Host(const PolderPlanes *at, int d, const PetscReal half[], PetscScalar edge[])
{
  for (PetscInt k = 0; k < at->below + at->above; ++k) PolderStarEdge(k, at, d, half, edge);
}

void PolderStarAcross_Host(const PolderPlanes *at, const PolderStarGrid *own, const PetscScalar edge[], const PetscScalar beyond[], const PetscInt ptr[],
                           PetscScalar outer[], PetscScalar val[])
{
  for (PetscInt k = 0; k < at->below + at->above; ++k) PolderStarAcrossEntry(k, at, own, edge, beyond, ptr, outer, val);
}

void PolderStarStep_Host(PetscInt n, PetscReal damping, const PetscReal diagonal[], PetscScalar d[])
{
  for (PetscInt i = 0; i < n; ++i) d[i] = diagonal[i] > 0 ? damping / diagonal[i] : 0;
}

void PolderStarAdd_Host(PetscInt n, const PetscScalar d[], const PetscScalar r[], PetscScalar z[])
{
  for (PetscInt i = 0; i < n; ++i) z[i] += d[i] * r[i];
}
