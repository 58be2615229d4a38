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

/* With constants for nd and first, so that the loops over the diagonals are unrolled */
static inline __attribute__((always_inline)) PetscBool PackRows(PetscInt nd, PetscInt first, const PetscInt off[], PetscInt i0, PetscInt n, const PetscInt ai[],
                                                                const PetscInt aj[], const PetscScalar aa[], void *piece)
{
  PetscScalar   *val = (PetscScalar *)piece;
  unsigned char *bit = (unsigned char *)(val + (size_t)(nd - first) * (size_t)n);

  for (PetscInt l = 0; l < n; ++l) {
    const PetscInt i = i0 + l, end = ai[i + 1];
    PetscInt       k    = ai[i];
    unsigned int   bits = 0;

    for (PetscInt d = 0; d < nd; ++d) {
      const PetscBool   is = (PetscBool)(k < end && aj[k] == i + off[d]);
      const PetscScalar v  = is && aa ? aa[k] : 0;

      bits |= (unsigned int)is << d;
      k += is;
      if (d >= first) val[(size_t)(d - first) * (size_t)n + (size_t)l] = v;
      else if (is && aa) {
        const PetscInt    j     = i + off[d];
        const PetscScalar image = j >= i0 ? val[(size_t)(nd - 1 - d - first) * (size_t)n + (size_t)(j - i0)] : PackEntry(j, i, d, ai, aj, aa);

        if (!(v == image)) return PETSC_FALSE;
      }
    }
    if (k < end) return PETSC_FALSE;
    for (PetscInt b = 0; 8 * b < nd; ++b) bit[(size_t)b * (size_t)n + (size_t)l] = (unsigned char)(bits >> (8 * b));
  }
  return PETSC_TRUE;
}

PetscBool PolderPackRows(const PolderPacked *P, PetscInt i0, PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], void *piece)
{
  if (P->nd == 5 && P->first == 2) return PackRows(5, 2, P->off, i0, n, ai, aj, aa, piece);
  if (P->nd == 7 && P->first == 3) return PackRows(7, 3, P->off, i0, n, ai, aj, aa, piece);
  if (P->nd == 7 && P->first == 0) return PackRows(7, 0, P->off, i0, n, ai, aj, aa, piece);
  return PackRows(P->nd, P->first, P->off, i0, n, ai, aj, aa, piece);
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
