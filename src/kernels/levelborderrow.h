/* Interpolation across the border of a process: the work on a cell or a box, which host and device share. */
#pragma once

#include "levelborder.h"
#include "levelgridrow.h"

/* Cell k of the first (s = 0) or the last plane, and its coordinates */
POLDER_BODY PetscInt PolderLevelBorderCell(const PolderLevelGrid *G, const PolderLevelBorder *B, int s, PetscInt k, PetscInt at[3])
{
  const PetscInt i = s ? G->n - B->plane + k : k;

  PolderLevelGridAt(G->size, i, at);
  return i;
}

/* The value of PolderLevelBorderInner_Host() for cell i */
POLDER_BODY PetscReal PolderLevelBorderInside(const PolderLevelGrid *G, const PolderLevelBorder *B, const PolderLevelGridEntries *A, const PetscInt agg[],
                                              PetscInt i, const PetscInt at[3])
{
  const PetscInt in = PolderLevelGridActive(G, agg, i, at, B->dir, -PolderLevelGridFace(at, B->dir));

  if (agg[i] >= G->nc) return POLDER_BORDER_APART;
  return in < 0 ? POLDER_BORDER_ALONE : 2 * PolderLevelGridCoupling(G, A, i, in, B->dir);
}

/* The weight of the box beyond the border, see PolderLevelGridWeight(); own, other: couplings within the boxes; most: the strongest coupling of the cell */
POLDER_BODY PetscReal PolderLevelBorderWeight(PetscReal own, PetscReal face, PetscReal other, PetscReal most)
{
  const PetscReal bound = most > 0 ? face / most : 0;
  PetscReal       w;

  if (own < 0) return 0;
  if (other >= 0) face = other > 0 ? face / (1 + face / other) : 0;
  w = face > 0 ? face / (own + face) : 0;
  return w < bound ? w : bound;
}

/* The off-process entries of row k of these rows; of the process before [0] and of the one after: the coupling, and the value of the ghost */
POLDER_BODY void PolderLevelBorderFaces(const PolderBorderRows *R, PetscInt k, PetscReal face[2], PetscReal other[2])
{
  for (PetscInt e = R->rows.ptr[k]; e < R->rows.ptr[k + 1]; ++e) {
    const int       s = R->rows.col[e] < R->below ? 0 : 1;
    const PetscReal a = -PetscRealPart(R->rows.val[e]);

    face[s]      = a > 0 ? a : 0;
    other[s]     = R->inner[R->rows.col[e]];
    R->scaled[e] = R->rows.val[e];
  }
}

/* Row k of those with off-process entries. Only cells at the border face a ghost */
POLDER_BODY void PolderLevelBorderWeigh(const PolderLevelGrid *G, const PolderLevelBorder *B, const PolderLevelGridEntries *A, const PetscInt agg[],
                                        const PolderBorderRows *R, PetscInt k)
{
  const PetscInt i       = R->rows.row[k];
  PetscReal      face[2] = {0, 0}, other[2] = {POLDER_BORDER_APART, POLDER_BORDER_APART}, w[3] = {0, 0, 0}, own, most;
  PetscInt       at[3];
  unsigned       word;
  int            s;

  PolderLevelBorderFaces(R, k, face, other);
  if (agg[i] >= G->nc) return;
  PolderLevelGridAt(G->size, i, at);
  s    = PolderLevelGridFace(at, B->dir) > 0;
  own  = PolderLevelBorderInside(G, B, A, agg, i, at);
  most = PolderLevelGridStrongest(G, A, agg, i, at);
  for (int t = 0; t < 2; ++t) {
    if (other[t] != POLDER_BORDER_APART && face[t] > most) most = face[t];
  }
  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    if (G->join[d]) w[d] = PolderLevelGridWeight(G, A, agg, i, at, d, most);
  }
  if (other[s] != POLDER_BORDER_APART) w[B->dir] = PolderLevelBorderWeight(own, face[s], other[s], most);
  word = PolderLevelGridWord(w[0], w[1], w[2]);
  if (other[s] != POLDER_BORDER_APART) {
    B->w[s * B->plane + i % B->plane] = PolderLevelGridUnpack(word, B->dir);
    word &= ~(1023u << 10 * B->dir);
    for (PetscInt e = R->rows.ptr[k]; e < R->rows.ptr[k + 1]; ++e) {
      if ((R->rows.col[e] < R->below ? 0 : 1) == s && face[s] > 0) R->scaled[e] /= 0.5 * ((own >= 0 ? 2 : 1) + (other[s] >= 0 ? 2 : 1));
    }
  }
  G->w[i] = word;
}

/* The first cell of box p of a plane in the plane of cells, and how many cells it has there in each direction */
POLDER_BODY PetscInt PolderLevelBorderBox(const PolderLevelGrid *G, const PolderLevelBorder *B, PetscInt p, PetscInt count[2])
{
  const PetscInt x = p % G->csize[0], y = p / G->csize[0], from[2] = {x << G->join[0], B->dir > 1 ? y << G->join[1] : 0};

  for (int d = 0; d < 2; ++d) count[d] = d < B->dir && G->join[d] && from[d] + 1 < G->size[d] ? 2 : 1;
  return from[0] + G->size[0] * from[1];
}

/* The weight of the box beyond side s for cell k of the plane there; when positive, the cell and its own box are *i and *box */
POLDER_BODY float PolderLevelBorderFaced(const PolderLevelGrid *G, const PolderLevelBorder *B, int s, PetscInt k, PetscInt *i, PetscInt *box)
{
  const float w = B->side[s] ? B->w[s * B->plane + k] : 0;
  PetscInt    at[3];

  if (!(w > 0)) return 0;
  *i   = PolderLevelBorderCell(G, B, s, k, at);
  *box = PolderLevelGridBox(G, at);
  return w;
}

/* Where box p of the plane at side s is among all boxes, and where what the box beyond it has is among the ghosts */
POLDER_BODY PetscInt PolderLevelBorderOwn(const PolderLevelGrid *G, const PolderLevelBorder *B, int s, PetscInt p)
{
  return (s ? G->nc - B->cplane : 0) + p;
}

POLDER_BODY PetscInt PolderLevelBorderGhost(const PolderLevelBorder *B, int s, PetscInt p)
{
  return (s && B->side[0] ? B->cplane : 0) + p;
}
