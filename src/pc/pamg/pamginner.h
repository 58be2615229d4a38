/* Pairwise-aggregation multigrid: matrices whose levels are those of other rows, which a PC of its own has. */
#pragma once

#include "kernels/star.h"
#include "mat/halo.h"
#include "mat/whole.h"
#include <petscpc.h>

typedef struct _PC_PAMG PC_PAMG;

/* Rows on a device that no matrix has; on several devices: where those with off-process entries are, and the exchange of their ghosts, which is NULL on one */
typedef struct {
  PolderCSR    csr;
  PolderPlanes at;
  PolderHalo   halo;
} PamgGiven;

/* A PC that has the levels, of rows that are elsewhere, and vectors of these rows; NULL: there is none */
typedef struct {
  PC  pc;
  Vec r, z;
} PamgInner;

/* Small matrices on several GPUs: the rows of all processes on each of them, and a PC of this process for these */
typedef struct {
  PolderWhole      matrix;
  PamgInner        inner;
  PetscObjectState state;    /* of the parallel matrix */
  PetscBool        unsuited; /* the levels would be on the host, until the options or the PC are reset */
} PamgWhole;

/* Rows whose neighbours are mostly on other processes: each process gets others, and a PC of all processes has the levels of these */
typedef struct {
  IS         rows; /* the numbers of those of this process in the matrix of the program */
  Mat        matrix;
  PamgInner  inner;
  VecScatter scatter;       /* from vectors of the program to inner.r */
  PetscReal  before, after; /* the part of the couplings that is to rows of other processes */
} PamgMoved;

/* Rows that become symmetric when they are multiplied by d: the product, and a PC for it */
typedef struct {
  Vec       d;
  Mat       matrix;
  PamgInner inner; /* without z */
} PamgScaled;

/* Wider stencils on a grid: the matrix of couplings to next points with the same energy of linear functions, and a PC for it. Arrays are at the place. step: a
   damped inverse diagonal, NULL: there is none */
typedef struct {
  const PolderPlace *place;
  PolderStarGrid     grid;
  PetscInt           nz, *ptr, *col; /* entries of this process; [rows + 1], where its rows begin; [nz] columns, on a device */
  PetscScalar       *val;            /* [nz] */
  Mat                matrix;         /* on the host */
  PamgGiven          given;          /* on devices; there is no matrix, whose pattern PETSc would want on the host */
  PetscInt          *there;          /* on several of them: the ghosts of the matrix of the program */
  PetscScalar       *outer;          /* and the off-process entries of the star */
  PamgInner          inner;          /* without vectors */
  Vec                step;
} PamgStar;

/* pamginner.c */
/* Sets up *inner, made if it is NULL, for the rows A; given: not for these but for as many others, which stay where they are; scaled: they have been scaled
   already; *failed: it refuses them on some process. Collective over pc */
PETSC_INTERN PetscErrorCode PCPAMGSetUpInner(PC, Mat A, const PamgGiven *given, PetscBool scaled, PC *inner, PetscBool *failed);
/* Has pc->pmat the pattern that the levels, or those of the PC in its place, were made for? */
PETSC_INTERN PetscErrorCode PCPAMGSamePattern(PC, PetscBool *same);
/* What says in an apply that the matrix is that of the set-up */
PETSC_INTERN PetscErrorCode PCPAMGInnerKeys(PC);
PETSC_INTERN PetscErrorCode PCPAMGFreeInner(PamgInner *);
/* The PC that has the levels, this one or one in its place */
PETSC_INTERN PC PamgWithLevels(PC);

/* pamgmoved.c: rows whose neighbours are mostly on other processes */
/* Sets up a PC for rows of other places; *done = PETSC_FALSE, and there is none, on all processes: the rows are to stay. Collective */
PETSC_INTERN PetscErrorCode PCPAMGMovedSetUp(PC, PetscBool *done);
/* z = M^-1 r */
PETSC_INTERN PetscErrorCode PCPAMGMovedApply(PC, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PCPAMGMovedView(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCPAMGMovedFree(PC_PAMG *);

/* pamgscaled.c: rows of a symmetric matrix times factors */
/* Where the matrix is not symmetric: sets up a PC for its rows times factors; *done = PETSC_FALSE, and there is none, on all processes: there are no such
   factors, or PCPAMGCheckSymmetry() has found that none are needed. Collective */
PETSC_INTERN PetscErrorCode PCPAMGScaledSetUp(PC, PetscBool *done);
PETSC_INTERN PetscErrorCode PCPAMGScaledApply(PC, PetscBool transpose, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PCPAMGScaledView(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCPAMGScaledFree(PC_PAMG *);

/* pamgstar.c: wider stencils on a grid */
/* Frees the star of another pattern. *ahead: several GPUs are to try that of this one in parts, although each could have all rows. Collective */
PETSC_INTERN PetscErrorCode PCPAMGStarAhead(PC, PetscBool *ahead);
/* Sets up a PC for the star of the matrix; *done = PETSC_FALSE, and there is none, on all processes: it has none. Collective */
PETSC_INTERN PetscErrorCode PCPAMGStarSetUp(PC, PetscBool *done);
PETSC_INTERN PetscErrorCode PCPAMGStarApply(PC, Vec r, Vec z);
/* The PC whose apply is that of this one, with the same vectors: that of the star where no step is added, or this one */
PETSC_INTERN PC             PamgGetSame(PC);
PETSC_INTERN PetscErrorCode PCPAMGStarView(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCPAMGStarFree(PC_PAMG *);

/* pamgstarplanes.c: on several devices */
/* *has: each process has whole planes of the grid, two or more. Collective */
PETSC_INTERN PetscErrorCode PCPAMGStarHasPlanes(PC, const PolderCSR *, const PolderStarGrid *, PetscBool *has);
/* The ghosts of the star, their exchange, and room for its off-process entries. Collective */
PETSC_INTERN PetscErrorCode PCPAMGStarCreatePlanes(PC, const PolderCSR *, const PolderStarGrid *);
/* The grid of the n rows of this process */
PETSC_INTERN PolderStarGrid PamgStarOwn(const PolderStarGrid *, PetscInt n);
/* Completes star->val, which is that of the own grid, and sets star->outer. half[]: see PolderStarParts. Collective */
PETSC_INTERN PetscErrorCode PCPAMGStarSetPlanes(PamgStar *, const PolderStarGrid *own, const PetscReal half[]);

/* pamgwhole.c: small matrices on several GPUs */
/*
  Up to so many rows of all processes. On two H200 that store into each other's memory set-up and solve of Poisson's equation take 2.7 ms with all rows on each
  and 3.3 ms in parts at 64^3, 4.1 and 4.6 ms at 112^3 (1.4 million rows), 6.0 and 4.7 ms at 128^3 (2.1 million), on four 4.5 and 4.6, 4.9 and 4.5 ms for
  the last two: the coarse levels do nothing but exchange, but the whole matrix has to be gathered
*/
#define PAMG_WHOLE 1800000
/* Sets up the PC of each process for all rows; *done = PETSC_FALSE, and there is none, on all processes: the matrix is to be set up in parts. Collective */
PETSC_INTERN PetscErrorCode PCPAMGWholeSetUp(PC, PetscBool *done);
/* The rows of all processes follow new values of the matrix in a kept set-up; *holds = PETSC_FALSE: another set-up is needed */
PETSC_INTERN PetscErrorCode PCPAMGWholeFollow(PC, PetscBool *holds);
/* z = M^-1 r */
PETSC_INTERN PetscErrorCode PCPAMGWholeApply(PC, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PCPAMGWholeView(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCPAMGWholeFree(PC_PAMG *);
