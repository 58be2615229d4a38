/* Classes of equal rows of a stencil. */
#include "diaclassrow.h"

/* Enters the class of such a row unless it is there; returns 1 if no place is left, else 0 */
static PetscInt DiaClassFind(const PolderDiaStencil *S, PetscInt i, PolderDiaClasses *C)
{
  unsigned long long a[POLDER_DIA_WIDTH];
  unsigned int       key;

  PolderDiaRowBits(S, i, a);
  key = PolderDiaKeyOf(a);
  for (int p = 0; p < POLDER_DIA_PROBES; ++p) {
    const int c = PolderDiaPlace(key, p);

    if (C->key[c] == key) return 0;
    if (C->key[c]) continue;
    C->key[c] = key;
    ++C->used;
    PolderDiaEnter(S, a, c, C);
    return 0;
  }
  return 1;
}

/* Rows whose changes are found together */
#define DIA_CHANGES 256

/* The bits of numbers in double precision */
typedef unsigned long long __attribute__((may_alias)) DiaWord;

/* change[i] becomes other than 0 where v[i] differs from the number before; not inlined, as the loop over diagonals would be vectorised instead of this one */
static __attribute__((noinline)) void DiaAddChanges(const DiaWord *v, PetscInt n, unsigned long long *restrict change)
{
  for (PetscInt i = 0; i < n; ++i) change[i] |= v[i] ^ v[i - 1];
}

/* change[i] <- 0 unless row i0 + i, i < n, differs from the row before. All columns of these rows exist */
static void DiaFindChanges(const PolderDiaStencil *S, PetscInt i0, PetscInt n, unsigned long long *restrict change)
{
  for (PetscInt i = 0; i < n; ++i) change[i] = 0;
  for (PetscInt d = 0; d < S->nd; ++d) DiaAddChanges((const DiaWord *)S->val[d] + i0, n, change);
}

/* The class of row i, entered if there is a place */
static int DiaClassEnter(const PolderDiaStencil *S, PetscInt i, PolderDiaClasses *C)
{
  unsigned long long last[POLDER_DIA_WIDTH] = {0};
  int                same                   = -1, c;

  c = PolderDiaNextClass(S, C, i, last, &same);
  if (c != POLDER_DIA_CLASSLESS || DiaClassFind(S, i, C)) return c;
  same = -1;
  return PolderDiaNextClass(S, C, i, last, &same);
}

void PolderDiaClassify_Host(const PolderDiaStencil *S, unsigned char code[], PolderDiaClasses *C)
{
  const PetscInt     step = POLDER_DIA_SAMPLE * POLDER_DIA_GROUP_ROWS, m = S->m;
  const PetscInt     begin = -S->off[0] + 1, end = m - S->off[S->nd - 1]; /* these rows and those before them have all columns */
  unsigned long long change[DIA_CHANGES];

  memset(C, 0, sizeof(*C));
  for (PetscInt first = 0; first < m; first += step) {
    for (PetscInt i = first; i < PetscMin(first + POLDER_DIA_GROUP_ROWS, m); ++i) C->lost += DiaClassFind(S, i, C);
  }
  if (PolderDiaClassesFail(C->lost, PolderDiaSampled(m))) {
    C->rest = m;
    return;
  }
  for (PetscInt i0 = 0; i0 < m; i0 += DIA_CHANGES) {
    const PetscInt  n    = PetscMin(DIA_CHANGES, m - i0);
    const PetscBool find = (PetscBool)(S->entries == POLDER_DIA_DOUBLE && !S->inverse && i0 >= begin && i0 + n <= end);

    if (find) DiaFindChanges(S, i0, n, change);
    for (PetscInt i = 0; i < n; ++i) {
      code[i0 + i] = find && !change[i] ? code[i0 + i - 1] : (unsigned char)DiaClassEnter(S, i0 + i, C);
      C->rest += code[i0 + i] == POLDER_DIA_CLASSLESS;
    }
  }
}

PetscBool PolderDiaClassesServe_Host(const PolderDiaStencil *S)
{
  return (PetscBool)(S->m >= POLDER_DIA_LEAST && (S->nd == 5 || S->nd == 7));
}
