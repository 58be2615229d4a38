/* Stars: 3-, 5- and 7-point stencils with the energy that a wider one gives linear functions. */
#include "star.h"

/* The steps in each direction that lead `offset` rows on; PETSC_FALSE: they are beyond reach */
static inline PetscBool StarSteps(const PolderStarGrid *G, PetscInt offset, int step[3])
{
  const PetscInt stride[3] = {1, G->n[0], G->n[0] * G->n[1]};

  for (int d = 2; d > 0; --d) {
    step[d] = 0;
    for (; 2 * offset > stride[d] && step[d] < POLDER_STAR_REACH; ++step[d]) offset -= stride[d];
    for (; 2 * offset < -stride[d] && step[d] > -POLDER_STAR_REACH; --step[d]) offset += stride[d];
  }
  step[0] = (int)PetscMax(-POLDER_STAR_REACH - 1, PetscMin(POLDER_STAR_REACH + 1, offset));
  return (PetscBool)(PetscAbsInt(offset) <= POLDER_STAR_REACH);
}

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

    if (!StarSteps(G, off[k], step)) return PETSC_FALSE;
    if (off[k] != 1 && off[k] != stride[0] && off[k] != stride[1]) far = PETSC_TRUE;
  }
  return far;
}

/* What the entries of a row say about it */
typedef struct {
  PetscReal half[6], K[3][3], sum, diagonal; /* K: twice the energy of linear functions */
} StarRow;

static inline PetscBool StarAdd(const PolderStarGrid *G, const PetscInt at[3], PetscInt row, PetscInt col, PetscReal a, StarRow *r)
{
  int step[3];

  r->sum += a;
  if (row == col) r->diagonal = a;
  if (row == col || a == 0) return PETSC_TRUE;
  if (!StarSteps(G, col - row, step)) return PETSC_FALSE;
  for (int d = 0; d < 3; ++d) {
    if (at[d] + step[d] < 0 || at[d] + step[d] >= G->n[d]) return PETSC_FALSE;
    if (step[d]) r->half[2 * d + (step[d] > 0)] += step[d] * step[d] * a;
    for (int e = 0; e < d; ++e) r->K[d][e] -= step[d] * step[e] * a;
  }
  return PETSC_TRUE;
}

/* Clips what cannot be part of a star, and judges the row */
static inline void StarJudge(StarRow *r, PetscInt *unlikes, PetscInt *softs)
{
  PetscReal largest = 0, K[3], first = 0, second = 0, all = 0;
  PetscBool unlike = (PetscBool)(r->sum < -POLDER_STAR_NEGATIVE * r->diagonal);

  for (int d = 0; d < 3; ++d) {
    K[d]   = PetscMax(0, -r->half[2 * d] - r->half[2 * d + 1]);
    second = PetscMax(second, PetscMin(first, K[d]));
    first  = PetscMax(first, K[d]);
    all += K[d];
  }
  for (int k = 0; k < 6; ++k) largest = PetscMax(largest, -r->half[k]);
  for (int k = 0; k < 6; ++k) {
    if (r->half[k] > POLDER_STAR_POSITIVE * largest) unlike = PETSC_TRUE;
    r->half[k] = PetscMin(0, r->half[k]);
  }
  for (int d = 0; d < 3; ++d) {
    for (int e = 0; e < d; ++e) {
      if (PetscAbsReal(r->K[d][e]) > POLDER_STAR_CROSS * PetscSqrtReal(K[d] * K[e]) + PETSC_SQRT_MACHINE_EPSILON * r->diagonal) unlike = PETSC_TRUE;
    }
  }
  r->sum = r->sum > 1e4 * PETSC_MACHINE_EPSILON * r->diagonal ? r->sum : 0; // what rounding has left is zero
  *unlikes += unlike;
  *softs += r->diagonal <= POLDER_STAR_SOFT * (all + r->sum) && second >= POLDER_STAR_SECOND * first;
}

PetscBool PolderStarParts_Host(const PolderStarGrid *G, PetscInt first, PolderRows A, PolderRows ghosts, const PetscInt garray[], PolderStarParts *P)
{
  P->unlike = P->soft = 0;
  for (PetscInt i = 0; i < A.n; ++i) {
    const PetscInt row = first + i, at[3] = {row % G->n[0], row / G->n[0] % G->n[1], row / G->n[0] / G->n[1]};
    StarRow        r = {{0}, {{0}}, 0, 0};

    for (PetscInt k = A.i[i]; k < A.i[i + 1]; ++k) {
      if (!StarAdd(G, at, row, first + A.j[k], PetscRealPart(A.a[k]), &r)) return PETSC_FALSE;
    }
    for (PetscInt k = ghosts.i ? ghosts.i[i] : 0; ghosts.i && k < ghosts.i[i + 1]; ++k) {
      if (!StarAdd(G, at, row, garray[ghosts.j[k]], PetscRealPart(ghosts.a[k]), &r)) return PETSC_FALSE;
    }
    StarJudge(&r, &P->unlike, &P->soft);
    for (int k = 0; k < 6; ++k) P->half[6 * i + k] = r.half[k];
    P->sum[i]      = r.sum;
    P->diagonal[i] = r.diagonal;
  }
  return PETSC_TRUE;
}

/* The part of row j in a coupling */
static inline PetscReal StarPart(PetscInt j, int k, PetscInt first, PetscInt n, const PetscReal half[], PetscInt nthere, const PetscInt there[],
                                 const PetscScalar beyond[])
{
  PetscInt low = 0, high = nthere;

  if (j >= first && j < first + n) return half[6 * (j - first) + k];
  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (there[middle] <= j) low = middle;
    else high = middle;
  }
  return PetscRealPart(beyond[6 * low + k]);
}

void PolderStarFill_Host(const PolderStarGrid *G, PetscInt first, PetscInt n, const PolderStarParts *P, PetscInt nthere, const PetscInt there[],
                         const PetscScalar beyond[], PetscInt ptr[], PetscInt col[], PetscScalar val[])
{
  static const int order[7] = {4, 2, 0, 6, 1, 3, 5}; /* 2 d + k, and 6 for the diagonal, by columns */
  PetscInt         nz       = 0;

  for (PetscInt i = 0; i < n; ++i) {
    PetscReal diagonal = P->sum[i];
    PetscInt  main     = 0;

    ptr[i] = nz;
    for (int l = 0; l < 7; ++l) {
      const int      k = order[l];
      const PetscInt j = k < 6 ? PolderStarNeighbour(G, first + i, k / 2, k % 2) : first + i;

      if (k == 6) main = nz;
      if (j < 0) continue;
      col[nz] = j;
      if (k < 6) {
        val[nz] = 0.5 * (P->half[6 * i + k] + StarPart(j, k ^ 1, first, n, P->half, nthere, there, beyond));
        diagonal -= PetscRealPart(val[nz]);
      }
      ++nz;
    }
    val[main] = diagonal;
  }
  ptr[n] = nz;
}

void PolderStarAdd_Host(PetscInt n, const PetscScalar d[], const PetscScalar r[], PetscScalar z[])
{
  for (PetscInt i = 0; i < n; ++i) z[i] += d[i] * r[i];
}
