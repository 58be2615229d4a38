/* Dense references of the preconditioners of contest.c, from their formulas, by plain loops over all entries. */
#pragma once

#include <petscsys.h>

/* A grid of 4 by 5 by 6 points: one, two or three processes have whole planes */
#define DENSE_N 120

typedef struct {
  double a[DENSE_N][DENSE_N];
  char   has[DENSE_N][DENSE_N]; /* entries that are stored */
} Dense;

/* The 7-point matrix of a diffusion with jumps, strictly dominant; thin: without the couplings of one direction */
void DenseGrid(int seed, PetscBool thin, Dense *A);
/* Entry of a right-hand side */
double DenseRhs(PetscInt i);
/* v <- M v (inverse: M stands for M^-1) or M^-1 v */
void DenseApply(const Dense *M, PetscBool inverse, double v[]);

void DenseMCSGS(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse);
/* parameter: scaled, on the pattern of A */
void DenseIP(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse);
/* power */
void DenseFSAI(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse);
/* omega, blocks (of equal size in the rows of a process, which are found from the entries) */
void DenseMIC(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse);
/* p, q */
void DenseILUC(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse);
/* last block (0: diagonal, 1: Gauss-Seidel, 2: ILU(0,1)), sets */
void DenseMEILU(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse);
