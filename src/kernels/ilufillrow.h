/* What the searches for levels of fill on host and device share. */
#pragma once

#include "ilufill.h"
#include "ilupatternrow.h"

/*
  The vertices that the search for a row has reached, by their numbers within the block. key: the vertex in a slot, -1: none. The largest vertex on the way of
  a walk should be small: least has the least of them over the walks to this vertex, POLDER_ILU_FILL_NEVER in empty slots, and before that of earlier rounds.
  used: the slots of the *n vertices. front: those that the round at hand starts from
*/
typedef struct {
  int             slots, most;
  int            *key, *least, *before, *n;
  unsigned short *used, *front;
} PolderIluReached;

#define POLDER_ILU_FILL_NEVER 0x7fffffff
/* Integers of a table */
#define POLDER_ILU_FILL_INTS(slots) (3 * (slots) + 3 * (slots) / 4 + 4)

POLDER_BODY PolderIluReached PolderIluReachedAt(int slots, int memory[])
{
  PolderIluReached t;

  t.slots  = slots;
  t.most   = slots / 4 * 3;
  t.key    = memory;
  t.least  = memory + slots;
  t.before = memory + 2 * slots;
  t.used   = (unsigned short *)(memory + 3 * slots);
  t.front  = t.used + t.most;
  t.n      = memory + 3 * slots + 3 * slots / 4;
  return t;
}

/* The slot where a vertex is looked for first */
POLDER_BODY int PolderIluSlot(const PolderIluReached *t, int vertex)
{
  return (int)((unsigned int)vertex * 0x9e3779b1u >> 20) & (t->slots - 1);
}

POLDER_BODY void PolderIluForget(const PolderIluReached *t, int s)
{
  t->key[s]   = -1;
  t->least[s] = POLDER_ILU_FILL_NEVER;
}

/* Has row i an entry in the column of the vertex in slot s? A walk to a column behind i leads through vertices below i in any case */
POLDER_BODY PetscBool PolderIluIsEntry(const PolderIluReached *t, int s)
{
  return (PetscBool)(t->least[s] < t->key[s]);
}

/* Does the next round start from slot s? Not if longer walks have found nothing new */
POLDER_BODY PetscBool PolderIluRenewed(const PolderIluReached *t, int i, int s)
{
  const PetscBool renewed = (PetscBool)(t->key[s] < i && t->least[s] < t->before[s]);

  t->before[s] = t->least[s];
  return renewed;
}

/* Comparison number `at` of a bitonic sort, in the step of these size and stride */
POLDER_BODY void PolderIluBitonic(int at, int size, int stride, int list[])
{
  const int low = 2 * at - (at & (stride - 1)), a = list[low], b = list[low + stride];
  const int descending = (low & size) != 0;

  if ((a > b) == descending) return;
  list[low]          = b;
  list[low + stride] = a;
}

/* Where v is in an ascending list */
POLDER_BODY int PolderIluPlaceOf(int n, const int list[], int v)
{
  int low = 0, high = n;

  while (high - low > 1) {
    const int middle = (low + high) / 2;

    if (list[middle] <= v) low = middle;
    else high = middle;
  }
  return low;
}
