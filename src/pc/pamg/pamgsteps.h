/* What a cycle of PC pamg does on a level, on the host in double and in single precision and on the device. Vectors are of the precision of
   the cycle, in the memory of the levels. */
#pragma once

#include "kernels/levelscalars.h"
#include "pamgimpl.h"

struct _PamgSteps {
  /* x = start D^-1 b */
  PetscErrorCode (*begin)(PamgLevel *, PetscReal start, const void *b, void *x);
  /* y = x_{k+1} from x = x_k and, for k > 1, y = x_{k-1}; step 1 of those that begin with zero makes x, too, or does not need it */
  PetscErrorCode (*smooth)(PamgLevel *, const PolderLevelStep *, const void *b, void *x, void *y);
  /* b - A x: itself to r (which may be b) or, r = NULL, P^T of it to bc */
  PetscErrorCode (*residual)(PamgLevel *, const void *b, const void *x, void *r, void *bc);
  /* x += scale P xc */
  PetscErrorCode (*prolong)(PamgLevel *, PetscReal scale, void *xc, void *x);
  PetscErrorCode (*zero)(PamgLevel *, void *x);
  /* x += w */
  PetscErrorCode (*add)(PamgLevel *, const void *w, void *x);
  /* v = A x and the sums of a K-cycle, of the first step when w is NULL */
  PetscErrorCode (*dots)(PamgLevel *, const void *x, const void *b, const void *w, void *v, PetscReal sum[]);
  /* b -= (alpha / rho) v; *again: there is a second step */
  PetscErrorCode (*first)(PamgLevel *, PetscReal threshold, const PetscReal sum[], const void *v, void *b, PetscBool *again);
  /* x becomes what both steps make */
  PetscErrorCode (*second)(PamgLevel *, PetscReal threshold, const PetscReal sum[], const void *w, void *x);
  /* x, near A^-1 b, from level l > 0 on: PCPAMGSolve(), or what comes to the same */
  PetscErrorCode (*solve)(PC_PAMG *, PetscInt l, void *b, void *x);
  /* On the last level */
  PetscErrorCode (*last)(PC_PAMG *, const void *b, void *x);
  /* C is whole on every process: from C->part to C->b, and from C->x to C->part */
  PetscErrorCode (*gather)(PamgLevel *C, MPI_Comm);
  PetscErrorCode (*scatter)(PamgLevel *C);
  /* Gauss-Seidel forward from zero with bc = P^T (b - A x); x += scale P xc and Gauss-Seidel backward */
  PetscErrorCode (*forward)(PamgLevel *, PetscInt n, const void *b, void *x, void *bc);
  PetscErrorCode (*backward)(PamgLevel *, PetscInt n, const void *b, PetscReal scale, void *xc, void *x);
};

/* Is the last step on the first level one that writes its result in double precision? Rounded, the correction would itself disturb what is
   nearly constant in a heavy phase */
static inline PetscBool PamgWritesWide(const PC_PAMG *pamg)
{
  return (PetscBool)(pamg->precision == PAMG_SINGLE && pamg->nlevel > 1 && pamg->smoother != PAMG_SGS && pamg->post > 0);
}

/* pamgcycle.c: b may be overwritten when l > 0 */
PETSC_INTERN PetscErrorCode PCPAMGSolve(PC_PAMG *, PetscInt l, void *b, void *x);
/* pamghost.c, pamglaunch.c; Gauss-Seidel takes the rows in their order on the host and by colours on the device */
PETSC_INTERN const PamgSteps PamgStepsDouble, PamgStepsSingle, PamgStepsDevice;
