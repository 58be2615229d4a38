/* Compressed rows packed by diagonals, as they cross to a device. */
#include "packedrow.h"

enum {
  RUNS = 64, /* of consecutive rows that are looked at, and their length */
  RUN  = 16
};

/* Adds an offset to the ascending list; PETSC_FALSE: there is no room */
static PetscBool PackAddOffset(PetscInt o, PetscInt *nd, PetscInt off[])
{
  PetscInt d = 0, e = *nd;

  while (d < *nd && off[d] < o) ++d;
  if (d < *nd && off[d] == o) return PETSC_TRUE;
  if (*nd == POLDER_PACKED_DIAGONALS) return PETSC_FALSE;
  for (; e > d; --e) off[e] = off[e - 1];
  off[d] = o;
  ++*nd;
  return PETSC_TRUE;
}

/* The first and the last rows, and runs at places that follow no period of the numbering */
PetscBool PolderPackOffsets(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt *nd, PetscInt off[POLDER_PACKED_DIAGONALS])
{
  const PetscBool all = (PetscBool)(m <= RUNS * RUN);

  *nd = 0;
  for (PetscInt r = 0; r < (all ? 1 : RUNS + 2); ++r) {
    const unsigned int golden = 2654435769u * (unsigned int)r; // 2^32 over the golden ratio
    PetscInt           first  = r < RUNS ? (PetscInt)((double)golden / 4294967296.0 * (double)(m - RUN)) : r == RUNS ? 0 : m - RUN;

    if (all) first = 0;
    for (PetscInt i = first; i < (all ? m : first + RUN); ++i) {
      for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
        if (!PackAddOffset(aj[k] - i, nd, off)) return PETSC_FALSE;
      }
    }
  }
  return PETSC_TRUE;
}

/* Entry (j, i), zero where there is none; it is the last but `after` of a row that has all its entries from there on */
static inline PetscScalar PackEntry(PetscInt j, PetscInt i, PetscInt after, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[])
{
  const PetscInt k = ai[j + 1] - 1 - after;

  if (k >= ai[j] && aj[k] == i) return aa[k];
  for (PetscInt l = ai[j]; l < ai[j + 1]; ++l) {
    if (aj[l] == i) return aa[l];
  }
  return 0;
}

typedef struct {
  PetscInt           i0, n; /* the rows of the piece */
  const PetscInt    *off, *ai, *aj;
  const PetscScalar *aa;
  PetscScalar       *val;
  unsigned char     *bit;
} PackPiece;

/* Is v the value of the mirror image of entry (i, i + off[d])? */
static inline __attribute__((always_inline)) PetscBool PackMirrors(PetscInt nd, PetscInt first, const PackPiece *S, PetscInt i, PetscInt d, PetscScalar v)
{
  const PetscInt j = i + S->off[d];

  if (j >= S->i0) return (PetscBool)(v == S->val[(size_t)(nd - 1 - d - first) * (size_t)S->n + (size_t)(j - S->i0)]);
  return (PetscBool)(v == PackEntry(j, i, d, S->ai, S->aj, S->aa));
}

static inline void PackBits(PetscInt nd, const PackPiece *S, PetscInt l, unsigned int bits)
{
  for (PetscInt b = 0; 8 * b < nd; ++b) S->bit[(size_t)b * (size_t)S->n + (size_t)l] = (unsigned char)(bits >> (8 * b));
}

/* A row with an entry on every diagonal, the most frequent case; PETSC_FALSE: it is another one */
static inline __attribute__((always_inline)) PetscBool PackWhole(PetscInt nd, PetscInt first, const PackPiece *S, PetscInt l)
{
  const PetscInt     i = S->i0 + l, *aj = S->aj + S->ai[i];
  const PetscScalar *aa     = S->aa + S->ai[i];
  PetscInt           unlike = 0;

  if (S->ai[i + 1] - S->ai[i] != nd) return PETSC_FALSE;
  for (PetscInt d = 0; d < nd; ++d) unlike |= aj[d] ^ (i + S->off[d]);
  if (unlike) return PETSC_FALSE;
  for (PetscInt d = first; d < nd; ++d) S->val[(size_t)(d - first) * (size_t)S->n + (size_t)l] = aa[d];
  for (PetscInt d = 0; d < first; ++d) unlike |= !PackMirrors(nd, first, S, i, d, aa[d]);
  if (unlike) return PETSC_FALSE;
  PackBits(nd, S, l, nd < POLDER_PACKED_DIAGONALS ? (1u << nd) - 1 : ~0u);
  return PETSC_TRUE;
}

static PetscBool PackRow(PetscInt nd, PetscInt first, const PackPiece *S, PetscInt l)
{
  const PetscInt i = S->i0 + l, end = S->ai[i + 1];
  PetscInt       k    = S->ai[i];
  unsigned int   bits = 0;

  for (PetscInt d = 0; d < nd; ++d) {
    const PetscBool   is = (PetscBool)(k < end && S->aj[k] == i + S->off[d]);
    const PetscScalar v  = is && S->aa ? S->aa[k] : 0;

    bits |= (unsigned int)is << d;
    k += is;
    if (d >= first) S->val[(size_t)(d - first) * (size_t)S->n + (size_t)l] = v;
    else if (is && S->aa && !PackMirrors(nd, first, S, i, d, v)) return PETSC_FALSE;
  }
  PackBits(nd, S, l, bits);
  return (PetscBool)(k == end);
}

/* With constants for nd and first, so that the loops over the diagonals are unrolled */
static inline __attribute__((always_inline)) PetscBool PackRows(PetscInt nd, PetscInt first, const PackPiece *S)
{
  for (PetscInt l = 0; l < S->n; ++l) {
    if (S->aa && PackWhole(nd, first, S, l)) continue;
    if (!PackRow(nd, first, S, l)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

PetscBool PolderPackRows(const PolderPacked *P, PetscInt i0, PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], void *piece)
{
  PackPiece S = {.i0 = i0, .n = n, .off = P->off, .ai = ai, .aj = aj, .aa = aa, .val = (PetscScalar *)piece};

  S.bit = (unsigned char *)(S.val + (size_t)(P->nd - P->first) * (size_t)n);
  if (P->nd == 5 && P->first == 2) return PackRows(5, 2, &S);
  if (P->nd == 7 && P->first == 3) return PackRows(7, 3, &S);
  if (P->nd == 7 && P->first == 0) return PackRows(7, 0, &S);
  return PackRows(P->nd, P->first, &S);
}

void PolderUnpackCounts_Host(const PolderPacked *P, const void *packed, PetscInt ai[])
{
  for (PetscInt i = 0; i < P->m; ++i) ai[i] = PolderPackedCount(PolderPackedBits(P, packed, i));
  ai[P->m] = 0;
}

void PolderUnpackRows_Host(const PolderPacked *P, const void *packed, const PetscInt ai[], PetscInt aj[], PetscScalar aa[])
{
  for (PetscInt i = 0; i < P->m; ++i) PolderUnpackRow(P, packed, i, ai[i], aj, aa);
}
