/* Levels of fill of incomplete factors, by searches from each row. */
#include "ilufillrow.h"

/* The search for row i of the block r0 .. r1 */
typedef struct {
  const PolderIluGraph *g;
  PetscInt              r0, r1;
  int                   i;
  PolderIluReached      t;
} FillSearch;

static int FillSlotOf(PolderIluReached *t, int vertex)
{
  int s = PolderIluSlot(t, vertex);

  while (t->key[s] >= 0 && t->key[s] != vertex) s = (s + 1) & (t->slots - 1);
  if (t->key[s] == vertex) return s;
  t->key[s]    = vertex;
  t->before[s] = POLDER_ILU_FILL_NEVER;
  if (*t->n < t->most) t->used[*t->n] = (unsigned short)s;
  ++*t->n;
  return s;
}

/* The walks through block row p, the largest vertex on which is `largest`; last: only entries count, since no walk goes on */
static void FillVisit(FillSearch *f, PetscInt p, int largest, PetscBool last)
{
  const PetscInt *e = PolderIluEntries(f->g, p);

  for (PetscInt k = e[0]; k < e[1] && *f->t.n <= f->t.most; ++k) {
    const PetscInt q = PolderIluColumn(f->g, p, k);
    const int      u = (int)(q - f->r0);
    int            s;

    if (q < f->r0 || q >= f->r1 || u == f->i || (last && u <= largest)) continue;
    s             = FillSlotOf(&f->t, u);
    f->t.least[s] = PetscMin(f->t.least[s], largest);
  }
}

/* Is the table large enough? */
static PetscBool FillReach(FillSearch *f, PetscInt levels)
{
  PolderIluReached *t = &f->t;

  *t->n = 0;
  FillVisit(f, f->r0 + f->i, -1, (PetscBool)(levels == 0));
  for (PetscInt round = 1; round <= levels && *t->n <= t->most; ++round) {
    int n = 0;

    for (int a = 0; a < *t->n; ++a) {
      if (PolderIluRenewed(t, f->i, t->used[a])) t->front[n++] = t->used[a];
    }
    for (int a = 0; a < n; ++a) {
      const int s = t->front[a];

      FillVisit(f, f->r0 + t->key[s], PetscMax(t->before[s], t->key[s]), (PetscBool)(round == levels));
    }
  }
  return (PetscBool)(*t->n <= t->most);
}

static void FillClear(PolderIluReached *t)
{
  for (int a = 0; a < *t->n; ++a) PolderIluForget(t, t->used[a]);
}

static FillSearch FillStart(const PolderIluGraph *g, PetscInt slots, int memory[])
{
  FillSearch f = {.g = g, .t = PolderIluReachedAt((int)slots, memory)};

  for (int s = 0; s < f.t.slots; ++s) PolderIluForget(&f.t, s);
  return f;
}

/* Goes on to block row p. Is the table large enough for its search? */
static PetscBool FillRow(FillSearch *f, PetscInt levels, PetscInt p)
{
  const PetscInt *block = f->g->block, b = PolderIluBlockOf(f->g->nblock, block, p);

  f->r0 = block[b];
  f->r1 = block[b + 1];
  f->i  = (int)(p - f->r0);
  return FillReach(f, levels);
}

void PolderIluFillCount_Host(const PolderIluGraph *g, PetscInt levels, PetscInt slots, PetscInt entries[], PetscInt64 all[2])
{
  int        memory[POLDER_ILU_FILL_INTS(POLDER_ILU_FILL_MOST)];
  FillSearch f = FillStart(g, slots, memory);

  for (PetscInt p = 0; p < g->nrow; ++p) {
    if (!FillRow(&f, levels, p)) {
      all[1] = 1;
      return;
    }
    entries[p] = 1;
    for (int a = 0; a < *f.t.n; ++a) entries[p] += PolderIluIsEntry(&f.t, f.t.used[a]);
    all[0] += entries[p];
    FillClear(&f.t);
  }
}

/* The columns of the entries, ascending; the list may take the place of before[] */
static int FillColumns(const FillSearch *f, int list[])
{
  int n = 0, length = 1;

  list[n++] = f->i;
  for (int a = 0; a < *f->t.n; ++a) {
    if (PolderIluIsEntry(&f->t, f->t.used[a])) list[n++] = f->t.key[f->t.used[a]];
  }
  while (length < n) length *= 2;
  for (int a = n; a < length; ++a) list[a] = POLDER_ILU_FILL_NEVER;
  for (int size = 2; size <= length; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2)
      for (int at = 0; at < length / 2; ++at) PolderIluBitonic(at, size, stride, list);
  return n;
}

void PolderIluFillRows_Host(const PolderIluGraph *g, PetscInt levels, PetscInt slots, const PetscInt first[], PetscInt j[], PetscInt source[])
{
  int        memory[POLDER_ILU_FILL_INTS(POLDER_ILU_FILL_MOST)];
  FillSearch f = FillStart(g, slots, memory);

  for (PetscInt p = 0; p < g->nrow; ++p) {
    const PetscInt *e = PolderIluEntries(g, p);
    int             n;

    (void)FillRow(&f, levels, p);
    n = FillColumns(&f, f.t.before);
    for (int a = 0; a < n; ++a) {
      j[first[p] + a]      = f.t.before[a] - f.i;
      source[first[p] + a] = -1;
    }
    for (PetscInt k = e[0]; k < e[1]; ++k) {
      const PetscInt q = PolderIluColumn(g, p, k);

      if (q >= f.r0 && q < f.r1) source[first[p] + PolderIluPlaceOf(n, f.t.before, (int)(q - f.r0))] = k;
    }
    FillClear(&f.t);
  }
}
