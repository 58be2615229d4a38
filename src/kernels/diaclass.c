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

void PolderDiaClassify_Host(const PolderDiaStencil *S, unsigned char code[], PolderDiaClasses *C)
{
  const PetscInt     step                   = POLDER_DIA_SAMPLE * POLDER_DIA_GROUP_ROWS;
  unsigned long long last[POLDER_DIA_WIDTH] = {0};
  int                same                   = -1;

  memset(C, 0, sizeof(*C));
  for (PetscInt first = 0; first < S->m; first += step) {
    for (PetscInt i = first; i < PetscMin(first + POLDER_DIA_GROUP_ROWS, S->m); ++i) C->lost += DiaClassFind(S, i, C);
  }
  if (PolderDiaClassesFail(C->lost, PolderDiaSampled(S->m))) {
    C->rest = S->m;
    return;
  }
  for (PetscInt i = 0; i < S->m; ++i) {
    int c = PolderDiaNextClass(S, C, i, last, &same);

    if (c == POLDER_DIA_CLASSLESS && !DiaClassFind(S, i, C)) {
      same = -1;
      c    = PolderDiaNextClass(S, C, i, last, &same);
    }
    code[i] = (unsigned char)c;
    C->rest += c == POLDER_DIA_CLASSLESS;
  }
}

PetscBool PolderDiaClassesServe_Host(const PolderDiaStencil *S)
{
  return (PetscBool)(S->m >= POLDER_DIA_LEAST && (S->nd == 5 || S->nd == 7));
}
