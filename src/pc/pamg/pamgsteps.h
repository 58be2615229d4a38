/*
  The steps of a cycle of PC pamg on a level: on the host in double, single and half precision, and on the device. Vectors have the precision of the cycle and
  are in the memory of the levels.
*/
#pragma once

#include "kernels/levelscalars.h"
#include "pamgimpl.h"

struct _PamgSteps {
  /* x = start D^-1 b */
  PetscErrorCode (*begin)(PamgLevel *, PetscReal start, const void *b, void *x);
  /* y = x_{k+1} from x = x_k and, for k > 1, y = x_{k-1}. After a zero initial guess, step 1 computes x as well or does without it */
  PetscErrorCode (*smooth)(PamgLevel *, const PolderLevelStep *, const void *b, void *x, void *y);
  /*
    b - A x: stored in r (which may be b) with bc = NULL, else restricted: bc = P^T (b - A x). Then r is NULL, or scratch for the residual on a level that is a
    grid
  */
  PetscErrorCode (*residual)(PamgLevel *, const void *b, const void *x, void *r, void *bc);
  /* The exact solutions on the blocks of a level that has some, in their order or backward */
  PetscErrorCode (*blocks)(PamgLevel *, PetscBool backward, const void *b, void *x);
  /* x += scale P xc */
  PetscErrorCode (*prolong)(PamgLevel *, PetscReal scale, void *xc, void *x);
  PetscErrorCode (*zero)(PamgLevel *, void *x);
  /* x = beta x + alpha w, which may be x */
  PetscErrorCode (*combine)(PamgLevel *, PetscReal alpha, const void *w, PetscReal beta, void *x);
  /* v = A x and the sums of a K-cycle: of its first step when w is NULL, else of its second */
  PetscErrorCode (*dots)(PamgLevel *, const void *x, const void *b, const void *w, void *v, PetscReal sum[]);
  /* b -= (alpha / rho) v; *again: a second step is needed */
  PetscErrorCode (*first)(PamgLevel *, PetscReal threshold, const PetscReal sum[], const void *v, void *b, PetscBool *again);
  /* x <- the combination of both steps */
  PetscErrorCode (*second)(PamgLevel *, PetscReal threshold, const PetscReal sum[], const void *w, void *x);
  /* x approximates A^-1 b, from level l on: PCPAMGSolve() or an equivalent */
  PetscErrorCode (*solve)(PC_PAMG *, PetscInt l, void *b, void *x);
  /* Solves on the last level */
  PetscErrorCode (*last)(PC_PAMG *, const void *b, void *x);
  /* C is replicated: gathers C->part in C->b, and takes C->part from C->x */
  PetscErrorCode (*gather)(PamgLevel *C, MPI_Comm);
  PetscErrorCode (*scatter)(PamgLevel *C);
  /* Levels with eliminated rows: bc = the right-hand side of the rows that stay, and x from xc. Between the two L->iterate belongs to them */
  PetscErrorCode (*eliminate)(PamgLevel *, const void *b, void *bc);
  PetscErrorCode (*substitute)(PamgLevel *, const void *xc, void *x);
  /* Gauss-Seidel forward from zero with bc = P^T (b - A x); x += scale P xc and Gauss-Seidel backward */
  PetscErrorCode (*forward)(PamgLevel *, PetscInt n, const void *b, void *x, void *bc);
  PetscErrorCode (*backward)(PamgLevel *, PetscInt n, const void *b, PetscReal scale, void *xc, void *x);
};

/*
  Does the last step on the first level write its result in double precision? Rounding the correction to single precision would disturb the near-constant part
  in regions of large coefficients
*/
static inline PetscBool PamgWritesWide(const PC_PAMG *pamg)
{
  return (PetscBool)(pamg->precision != PAMG_DOUBLE && pamg->nlevel > 1 && !pamg->level->eliminates && pamg->smoother != PAMG_SGS && pamg->post > 0);
}

/* pamgcycle.c: b may be overwritten when l > 0 */
PETSC_INTERN PetscErrorCode PCPAMGSolve(PC_PAMG *, PetscInt l, void *b, void *x);
/* One cycle on level l < nlevel - 1 with zero initial guess */
PETSC_INTERN PetscErrorCode PCPAMGCycleOnce(PC_PAMG *, PetscInt l, const void *b, void *x);
/* pamgreplay.c: the same on the device, with the launches of a whole cycle, l = 0, or of its coarse levels in one; the other sets them free */
PETSC_INTERN PetscErrorCode PCPAMGSolveDevice(PC_PAMG *, PetscInt l, void *b, void *x);
PETSC_INTERN PetscErrorCode PCPAMGFreeReplay(PamgReplay *);
/* pamghost.c, pamglaunch.c. Gauss-Seidel takes the rows in order on the host and by colours on the device */
PETSC_INTERN const PamgSteps PamgStepsDouble, PamgStepsSingle, PamgStepsHalf, PamgStepsDevice;
/* pamgapply.c */
/* Sets the arrays of the first level to those of the matrix, unless the level has its own in single precision or by diagonals; gives them back */
PETSC_INTERN PetscErrorCode PCPAMGBeginDevice(PC, PolderCSR *);
PETSC_INTERN PetscErrorCode PCPAMGEndDevice(PC, PolderCSR *);

/* A Gershgorin bound up to this serves as the estimate: no product is needed to improve it */
#define PAMG_BOUND 2.05
/* Otherwise this many steps of the power method, whose result is increased by ten percent */
#define PAMG_POWER 10
static inline PetscReal PamgEigenvalue(PetscReal bound, PetscReal power)
{
  const PetscReal most = bound > 0 ? bound : 2;

  return power > 0 ? PetscMin(most, 1.1 * power) : most;
}
