/*
  Launchers of the device kernels, grouped by file. Sizes, raw device pointers and a stream: no PETSc objects, no allocation, no waiting.
  Each returns a cudaError_t as int and is the twin of the host kernel of the same stem (src/kernels/kernels.h).
*/
#pragma once

#include <petscsys.h>

typedef struct CUstream_st *PolderStream;

#if defined(__cplusplus)
  #define POLDER_LAUNCHER extern "C" PETSC_VISIBILITY_INTERNAL
#else
  #define POLDER_LAUNCHER PETSC_INTERN
#endif

/* Bytes of scratch of any launcher that reduces; zeroed once by its owner, left as it was by every launch, so that it can be shared on one stream */
POLDER_LAUNCHER size_t PolderReduceWork_CUDA(void);

/* vec.cu */
/* *dot = (x, y), a device scalar */
POLDER_LAUNCHER int PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream);

/* csr.cu */
/*
  z[i] = y[i] + alpha (row i of a CSR matrix) . x for the n rows i = row[k]; row = NULL: i = k. y = NULL stands for zero and may be z. nz tells how long rows are:
  it is their number of entries in all. dot != NULL: a device scalar that becomes (row = NULL) or is raised by the sum of p[i] (row i) . x
*/
POLDER_LAUNCHER int PolderCsrMult_CUDA(PetscInt n, const PetscInt row[], PetscInt nz, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], const PetscScalar p[], PetscScalar *dot, void *work, PolderStream stream);
/* d[i] = entry (i, i), zero where there is none */
POLDER_LAUNCHER int PolderCsrDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[], PolderStream stream);
/* y[k] = x[index[k]] */
POLDER_LAUNCHER int PolderGather_CUDA(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* aa[k] = (insert: 0, else aa[k]) + the sum of v[perm[e]], e = map[k] .. map[k+1] */
POLDER_LAUNCHER int PolderCooSum_CUDA(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[], PolderStream stream);
/* The numbers k < n with mark[k] != 0, in any order, as far as `most` goes; *count, zero on entry, becomes the number of all */
POLDER_LAUNCHER int PolderMarkedList_CUDA(PetscInt n, const char mark[], PetscInt most, PetscInt list[], PetscInt *count, PolderStream stream);
/*
  cg.cu: conjugate gradients whose scalars stay on the device. The host reads a norm a step from a ring in pinned memory that the device writes.
  A step that the tolerance, or a breakdown, forbids changes nothing: the state is frozen, so the host may be any number of steps behind.
*/
#define POLDER_CG_RING 1024
enum {
  POLDER_CG_RUNNING = 0,
  POLDER_CG_TOLERANCE,      /* norm <= tol or norm >= divtol */
  POLDER_CG_INDEFINITE_MAT, /* (p, w) <= 0 */
  POLDER_CG_INDEFINITE_PC,  /* (r, z) <= 0 */
  POLDER_CG_NOTFINITE       /* one of them is not a number */
};

typedef struct {
  PetscScalar         rho, rhoold, beta, alpha, pw; /* alpha: of the last step, not yet in x */
  PetscScalar         mean;                         /* of z, to be taken from it */
  PetscScalar         lastbeta;                     /* of the direction of the last step */
  PetscScalar         sum[4];                       /* of this process: (r, r), (r, z), sum z, sum r */
  PetscReal           tol, divtol;
  PetscInt            its, minits, N;
  int                 frozen, nullspace; /* nullspace: the constant is the kernel of A */
  volatile PetscReal *ring;              /* the norm of step k at k % POLDER_CG_RING: NaN until it is there, infinity for NaN, -POLDER_CG_... for a breakdown */
} PolderCGState;

/* Of the preconditioned residual: z or, when dinv != NULL, dinv z */
/* p <- z - mean + beta p and x <- x + alpha p with the old p; first: p <- z - mean */
POLDER_LAUNCHER int PolderCGDirection_CUDA(PetscInt n, PetscBool first, const PetscScalar z[], const PetscScalar dinv[], PetscScalar p[], PetscScalar x[], PolderCGState *state, PolderStream stream);
/* alpha <- rho / pw, r <- r - alpha w and the sums; diagonal: z is r times dinv (NULL: r itself), so all four sums, else (r, r) and sum r */
POLDER_LAUNCHER int PolderCGUpdate_CUDA(PetscInt n, const PetscScalar w[], PetscScalar r[], PetscBool diagonal, const PetscScalar dinv[], PetscBool parallel, PolderCGState *state, void *work, PolderStream stream);
/* The sums (r, z), sum z, sum r, then rho, mean and beta; first: beta is 0 */
POLDER_LAUNCHER int PolderCGRho_CUDA(PetscInt n, const PetscScalar r[], const PetscScalar z[], const PetscScalar dinv[], PetscBool first, PetscBool parallel, PolderCGState *state, void *work, PolderStream stream);
/* parallel: what the two above leave to do when sum[] holds the sums over all processes */
POLDER_LAUNCHER int PolderCGAdvance_CUDA(PetscBool update, PetscBool rho, PetscBool first, PolderCGState *state, PolderStream stream);
/* x <- x + alpha p, alpha <- 0 */
POLDER_LAUNCHER int PolderCGFinish_CUDA(PetscInt n, const PetscScalar p[], PetscScalar x[], PolderCGState *state, PolderStream stream);
/* r <- r - sum r / N with the sum of the last step */
POLDER_LAUNCHER int PolderCGRemoveMean_CUDA(PetscInt n, PetscScalar r[], const PolderCGState *state, PolderStream stream);
