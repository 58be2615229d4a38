/*
  Levels whose rows form a 5- or 7-point stencil on a grid: boxes of two cells a direction, the matrix of the next grid, and linear interpolation by the
  operator. Entries to neighbours are not positive; a coupling is minus such an entry.
*/
#pragma once

#include "launcher.h"
#include "levelmatrix.h"

/*
  The cells of this process are the numbers shift .. shift + n of a grid of size[0] x size[1] x size[2] cells in natural order; those of the next level are
  cshift .. cshift + nc of the grid csize[]. Two cells make a box in the directions with join[d] = 1. w_d is the weight of the box that cell i faces in
  direction d:

      (P u)_i = u_C + sum over d of w_d (u_Nd - u_C),  w_d = g_N / (g_C + g_N),  g_C = 2 a_in,  1 / g_N = 1 / a_face + 1 / (2 a_in of the neighbour)

  where a_in is the coupling to the other cell of the box and a_face that to the neighbour; the second term of g_N is left out where the neighbour is alone in
  its box, and w_d is 0 where the cell is. No weight exceeds the part of a_face in the strongest coupling of the cell: the energy of P u is then bounded by
  that of u on the next level. w[i] has the three weights in units of 1/1020, ten bits each from the lowest on, so that a cycle reads them all at once:
  1, 1/2, 1/3, 1/4, 1/5 and 1/6 are multiples; 1 has to be, since a cell may hang on its neighbour far more strongly than on its box. POLDER_LEVELGRID_APART
  marks a cell without part in P. thin[d] = 1: the last cells in direction d are boxes of fewer cells than the others, or made of such.
*/
typedef struct {
  PetscInt  n, size[3], shift;
  PetscInt  nc, csize[3], cshift;
  int       join[3], thin[3];
  unsigned *w;
} PolderLevelGrid;
#define POLDER_LEVELGRID_UNIT  1020
#define POLDER_LEVELGRID_APART 0xffffffffu

/*
  The entries of a level, in bfloat16 or else in single or double precision: entry (i, i + stride of direction d) is up[d][i] or, with up[d] = NULL, the
  one of the compressed rows. Pointers are of the place.
*/
typedef struct {
  const void     *up[3], *aa;
  const PetscInt *ai, *aj;
  PetscBool       single, bfloat;
} PolderLevelGridEntries;

/* Sets up the sizes of the next level from those of this one and join[] */
PETSC_INTERN void PolderLevelGridCoarsen(PolderLevelGrid *);
/* Number of entries of the stencil on the first n cells of the next level */
PETSC_INTERN PetscInt PolderLevelGridCoarseEntries(const PolderLevelGrid *, PetscInt n);
/*
  count[d] <- the number of rows to which direction d is weak, that is both couplings along it are below the fraction `weak` of the strongest of the row;
  count[3] <- the number of rows with a coupling. Thin cells do not count in these, nor do couplings of rows with mate[] = POLDER_PAIR_LONE; mate may be NULL.
  count[4] <- the number of rows with an entry to a neighbour that is positive or, unless excess is NULL, with a negative excess. Device: the caller zeroes
  count[]
*/
#define POLDER_LEVELGRID_COUNTS 5
typedef struct {
  PetscReal        weak, split;
  const PetscInt  *mate;
  const PetscReal *excess;
} PolderLevelGridRule;
PETSC_INTERN void   PolderLevelGridSurvey_Host(const PolderLevelGrid *, const PolderLevelGridEntries *, const PolderLevelGridRule *, PetscInt count[]);
POLDER_LAUNCHER int PolderLevelGridSurvey_CUDA(const PolderLevelGrid *, const PolderLevelGridEntries *, const PolderLevelGridRule *, PetscInt count[],
                                               PolderStream stream);
/* *count <- the number of boxes whose strongly coupled cells are coupled to each other by less than the fraction `split` of that. Device: zeroed before */
PETSC_INTERN void   PolderLevelGridSplit_Host(const PolderLevelGrid *, const PolderLevelGridEntries *, const PolderLevelGridRule *, PetscInt *count);
POLDER_LAUNCHER int PolderLevelGridSplit_CUDA(const PolderLevelGrid *, const PolderLevelGridEntries *, const PolderLevelGridRule *, PetscInt *count,
                                              PolderStream stream);
/* agg[i] <- the box of cell i, nc for a row with mate[i] = POLDER_PAIR_LONE */
PETSC_INTERN void   PolderLevelGridBoxes_Host(const PolderLevelGrid *, const PetscInt mate[], PetscInt agg[]);
POLDER_LAUNCHER int PolderLevelGridBoxes_CUDA(const PolderLevelGrid *, const PetscInt mate[], PetscInt agg[], PolderStream stream);
/* Computes w[] */
PETSC_INTERN void   PolderLevelGridWeights_Host(const PolderLevelGrid *, const PolderLevelGridEntries *, const PetscInt agg[]);
POLDER_LAUNCHER int PolderLevelGridWeights_CUDA(const PolderLevelGrid *, const PolderLevelGridEntries *, const PetscInt agg[], PolderStream stream);
/*
  The rows of the next level. The coupling of two boxes is the sum of those of their cells, divided in a joined direction by the mean number of cells of both
  along the line; the sum of a row is that of the rows of its box, and its entries to rows in no box count as in the diagonal. excess[] and size[]: see
  excess.h; coarse[] and coarsesize[] are those of the next level. A box of which no cell takes part has a row of the identity. Without pattern ci and cj are
  not written.
*/
typedef struct {
  const PetscInt  *agg;
  const PetscReal *excess, *size;
  PetscInt        *ci, *cj;
  PetscScalar     *ca;
  PetscReal       *coarse, *coarsesize;
  PetscBool        pattern;
} PolderLevelGridRows;
PETSC_INTERN void   PolderLevelGridCoarseRows_Host(const PolderLevelGrid *, const PolderLevelGridEntries *, const PolderLevelGridRows *);
POLDER_LAUNCHER int PolderLevelGridCoarseRows_CUDA(const PolderLevelGrid *, const PolderLevelGridEntries *, const PolderLevelGridRows *, PolderStream stream);
/* place[i] <- the grid point of cell i of the next level, as in pairrow.h */
PETSC_INTERN void   PolderLevelGridPlaces_Host(const PolderLevelGrid *, PetscInt64 place[]);
POLDER_LAUNCHER int PolderLevelGridPlaces_CUDA(const PolderLevelGrid *, PetscInt64 place[], PolderStream stream);

/*
  bc = P^T r, x += P xc. bc has nc + 1 entries, of which the last becomes zero. Rows: the part of the cells i0 .. i0 + n, added to bc; r[0] is of cell i0.
  Device: giving, unless NULL, is what the kernel gives across the border of the process as well; sends, unless NULL: xc is first sent as by
  PolderExchangeStore_CUDA()
*/
typedef struct _PolderLevelGiving PolderLevelGiving; /* levelborder.h */
PETSC_INTERN void                 PolderLevelGridRestrict_Host(const PolderLevelGrid *, const PetscScalar r[], PetscScalar bc[]);
PETSC_INTERN void                 PolderLevelGridRestrictSingle_Host(const PolderLevelGrid *, const float r[], float bc[]);
PETSC_INTERN void                 PolderLevelGridRestrictRows_Host(const PolderLevelGrid *, PetscInt i0, PetscInt n, const PetscScalar r[], PetscScalar bc[]);
PETSC_INTERN void                 PolderLevelGridRestrictRowsSingle_Host(const PolderLevelGrid *, PetscInt i0, PetscInt n, const float r[], float bc[]);
POLDER_LAUNCHER int PolderLevelGridRestrict_CUDA(PetscBool single, const PolderLevelGrid *, const PolderLevelGiving *giving, const void *r, void *bc,
                                                 PolderStream stream);
PETSC_INTERN void   PolderLevelGridProlong_Host(const PolderLevelGrid *, const PetscScalar xc[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelGridProlongSingle_Host(const PolderLevelGrid *, const float xc[], float x[]);
PETSC_INTERN void   PolderLevelGridProlongRows_Host(const PolderLevelGrid *, PetscInt i0, PetscInt n, const PetscScalar xc[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelGridProlongRowsSingle_Host(const PolderLevelGrid *, PetscInt i0, PetscInt n, const float xc[], float x[]);
POLDER_LAUNCHER int PolderLevelGridProlong_CUDA(PetscBool single, const PolderLevelGrid *, const PolderExchange *sends, const void *xc, void *x,
                                                PolderStream stream);
