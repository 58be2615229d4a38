/*
  Levels that are grids whose processes hold whole planes (lines in 2-D) one after the other: interpolation to boxes of the process before and of the one after.
  P of such a level is that of levelgrid.h within the process and this part.
*/
#pragma once

#include "levelgrid.h"
#include "peers.h"
#include "views.h"

/*
  dir is the direction in which processes follow each other, 1 or 2; 0: P stays within the process. A plane has `plane` cells, one of the next level `cplane`
  boxes. side[s] = 1: there is a process before (s = 0) or after (s = 1). Boxes do not cross the border: each process but the last has an even number of planes,
  and its cells begin with a plane. w[s * plane + k] is the weight of the box beyond the border for cell k of the first (s = 0) or the last plane (s = 1); the
  word of the cell in G->w has none in that direction:

      (P u)_i = what is said there + w (u_beyond - u_C)
*/
typedef struct {
  int      dir, side[2];
  PetscInt plane, cplane;
  float   *w;
} PolderLevelBorder;

/* The coupling of a cell to the other cell of its box, twice, or: it is alone in its box, or takes no part in P */
#define POLDER_BORDER_ALONE (-1.0)
#define POLDER_BORDER_APART (-2.0)

/* inner[i] <- this value of each cell i of the first and of the last plane in direction dir; other values are not written */
PETSC_INTERN void   PolderLevelBorderInner_Host(const PolderLevelGrid *, const PolderLevelBorder *, const PolderLevelGridEntries *, const PetscInt agg[],
                                                PetscReal inner[]);
POLDER_LAUNCHER int PolderLevelBorderInner_CUDA(const PolderLevelGrid *, const PolderLevelBorder *, const PolderLevelGridEntries *, const PetscInt agg[],
                                                PetscReal inner[], PolderStream stream);
/*
  The rows with off-process entries, of which those of the ghosts g < below belong to the process before; inner[g] is the value of ghost g. scaled[k] <- entry
  k as the next level takes it: over the mean number of cells that both boxes have along the line
*/
typedef struct {
  PolderSparseRows rows;
  PetscInt         below;
  const PetscReal *inner;
  PetscScalar     *scaled;
} PolderBorderRows;
/* Computes w[] of the rows, and their words in G->w again, from all couplings. Those of other cells have been computed, and w[] is zero before */
PETSC_INTERN void   PolderLevelBorderWeights_Host(const PolderLevelGrid *, const PolderLevelBorder *, const PolderLevelGridEntries *, const PetscInt agg[],
                                                  const PolderBorderRows *);
POLDER_LAUNCHER int PolderLevelBorderWeights_CUDA(const PolderLevelGrid *, const PolderLevelBorder *, const PolderLevelGridEntries *, const PetscInt agg[],
                                                  const PolderBorderRows *, PolderStream stream);

/* give[2 cplane] <- what the cells at the border give to the boxes before and after */
PETSC_INTERN void   PolderLevelBorderGive_Host(const PolderLevelGrid *, const PolderLevelBorder *, const PetscScalar r[], PetscScalar give[]);
PETSC_INTERN void   PolderLevelBorderGiveSingle_Host(const PolderLevelGrid *, const PolderLevelBorder *, const float r[], float give[]);
POLDER_LAUNCHER int PolderLevelBorderGive_CUDA(PetscBool single, const PolderLevelGrid *, const PolderLevelBorder *, const void *r, void *give,
                                               PolderStream stream);
/* The same as a part of PolderLevelGridRestrict_CUDA(), which sends it at once */
struct _PolderLevelGiving {
  const PolderLevelBorder *border;
  void                    *give;
  const PolderSends       *sends;
};
/* bc, the restricted r, loses that and gets what the cells of the processes before and after give; got has no values of a side that is not there */
PETSC_INTERN void PolderLevelBorderGet_Host(const PolderLevelGrid *, const PolderLevelBorder *, const PetscScalar give[], const PolderGhosts *got,
                                            PetscScalar bc[]);
PETSC_INTERN void PolderLevelBorderGetSingle_Host(const PolderLevelGrid *, const PolderLevelBorder *, const float give[], const PolderGhosts *got, float bc[]);
POLDER_LAUNCHER int PolderLevelBorderGet_CUDA(PetscBool single, const PolderLevelGrid *, const PolderLevelBorder *, const void *give, const PolderGhosts *got,
                                              void *bc, PolderStream stream);
/* The planes of boxes before (s = 0) and after, of which box p is value first[s] + p */
typedef struct {
  PolderGhosts ghosts;
  PetscInt     first[2];
} PolderLevelBeyond;
/* x += w (u_beyond - u_C) with u = xc of this process */
PETSC_INTERN void   PolderLevelBorderTake_Host(const PolderLevelGrid *, const PolderLevelBorder *, const PetscScalar xc[], const PolderLevelBeyond *beyond,
                                               PetscScalar x[]);
PETSC_INTERN void   PolderLevelBorderTakeSingle_Host(const PolderLevelGrid *, const PolderLevelBorder *, const float xc[], const PolderLevelBeyond *beyond,
                                                     float x[]);
POLDER_LAUNCHER int PolderLevelBorderTake_CUDA(PetscBool single, const PolderLevelGrid *, const PolderLevelBorder *, const void *xc,
                                               const PolderLevelBeyond *beyond, void *x, PolderStream stream);
