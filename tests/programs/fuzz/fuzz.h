/*
  A random case: everything in it follows from one 64-bit seed and the number of processes. Numbers are drawn alike on all processes, so that no draw may depend
  on the rank.
*/
#pragma once

#include <polder.h>
#include "core/compat.h"
#include "vecs.h"

enum {
  FUZZ_LOG     = 16384, /* characters of a case's story */
  FUZZ_MESSAGE = 512,
  FUZZ_KINDS   = 64,
  FUZZ_KEPT    = 4 /* derived matrices that are made again with MAT_REUSE_MATRIX */
};

/* Rows of a square matrix, whole on each process */
typedef struct {
  PetscInt     n, nz;
  PetscInt    *ptr, *col;
  PetscScalar *val;
  PetscInt     dim, grid[3];              /* dim 0: no grid, or one whose nodes are permuted */
  PetscBool    box, twoway, diagonal;     /* diagonal neighbours; entry (i, j) wherever there is (j, i); all diagonal entries */
  PetscBool    symmetric, definite, mild; /* of the values: to the last bit; positive (semi-)definite; condition below some 1e8 */
  PetscInt     nkernel;                   /* -1: not known */
  PetscInt    *part;                      /* component of each row */
  PetscScalar *kernel;                    /* its entry in the kernel's vector of that component */
} FuzzRows;

typedef struct {
  Mat a, t, *lista, *listt;
  int how; /* 0: nothing kept */
  IS  is;
} FuzzKept;

typedef struct {
  uint64_t     seed, state;
  MPI_Comm     comm;
  PetscMPIInt  rank, size;
  PetscBool    verbose, wrong, solves;
  char         only[16];    /* "products", "solves" or "": both */
  char         without[32]; /* an operation to be left out */
  char         always[16];  /* the type of all matrices, to see what PETSc's own does */
  char         log[FUZZ_LOG], message[FUZZ_MESSAGE], kind[48];
  size_t       used;
  PetscInt     products, converged, diverged, unsolved;
  FuzzRows     rows;
  const char  *type;     /* of the matrix */
  PetscInt     m;        /* rows of this process */
  PetscBool    coo;      /* new values may come by MatSetValuesCOO() with the own rows in order */
  PetscBool    declared; /* to be symmetric */
  PetscBool    fixed;    /* no new places: PETSc's MatSetValues() frees what MatSetPreallocationCOO() has not made for it */
  PetscBool    setting;  /* options, where an error leaves what PetscOptionsBegin() made */
  PetscBool    attached; /* a null space, for which KSPSolve() has a copy of the right-hand side, which an error leaves behind */
  PetscBool    changing; /* the preconditioner, from step to step */
  PetscBool    keeps;    /* the preconditioner of the values before */
  PetscBool    moved;    /* the matrices have another pattern than the rows */
  Mat          A, T, S;  /* the matrix, its twin of type aij, another operator of the solver */
  DM           dm;
  FuzzKept     kept[FUZZ_KEPT];
  KSP          ksp;
  Vec          x, b, xt, bt;
  PetscOptions options;
  char         prefix[8];
} Fuzz;

/* draws */
static inline uint64_t FuzzMix(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
static inline uint64_t FuzzNext(Fuzz *f)
{
  return FuzzMix(f->state += 0x9e3779b97f4a7c15ull);
}
/* 0 to n - 1 */
static inline PetscInt FuzzInt(Fuzz *f, PetscInt n)
{
  return n > 0 ? (PetscInt)(FuzzNext(f) % (uint64_t)n) : 0;
}
static inline PetscInt FuzzBetween(Fuzz *f, PetscInt least, PetscInt most)
{
  return least + FuzzInt(f, most - least + 1);
}
static inline PetscReal FuzzUnit(uint64_t h)
{
  return (PetscReal)(h >> 11) * 0x1p-53;
}
static inline PetscReal FuzzReal(Fuzz *f, PetscReal least, PetscReal most)
{
  return least + (most - least) * FuzzUnit(FuzzNext(f));
}
static inline PetscBool FuzzChance(Fuzz *f, PetscInt percent)
{
  return (PetscBool)(FuzzInt(f, 100) < percent);
}
/* a number for each pair, whoever asks */
static inline uint64_t FuzzHash(uint64_t seed, uint64_t i, uint64_t j)
{
  return FuzzMix(FuzzMix(FuzzMix(seed + 0x9e3779b97f4a7c15ull) + i) + 0x632be59bd9b4e019ull * (j + 1));
}
#define FuzzPick(f, list) ((list)[FuzzInt(f, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(list))])

/* guard.c */
PETSC_INTERN PetscErrorCode FuzzGuard(Fuzz *, PetscInt seconds);
PETSC_INTERN void           FuzzGuardCase(Fuzz *, PetscInt seconds);
PETSC_INTERN void           FuzzGuardTime(PetscInt seconds);
PETSC_INTERN PetscErrorCode FuzzKeepMessage(MPI_Comm, int, const char *, const char *, PetscErrorCode, PetscErrorType, const char *, void *);
PETSC_INTERN PetscErrorCode FuzzAgree(Fuzz *);
PETSC_INTERN void           FuzzLog(Fuzz *, const char *, ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
PETSC_INTERN void           FuzzWrong(Fuzz *, const char *, ...) PETSC_ATTRIBUTE_FORMAT(2, 3);

/* graphs.c, values.c */
PETSC_INTERN PetscErrorCode FuzzRowsCreate(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzRowsPermute(FuzzRows *, const PetscInt to[]);
PETSC_INTERN PetscErrorCode FuzzRowsValues(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzRowsDestroy(FuzzRows *);
PETSC_INTERN PetscErrorCode FuzzRowsPattern(FuzzRows *, PetscInt n, PetscInt ne, const PetscInt i[], const PetscInt j[], uint64_t seed, PetscInt lopsided,
                                            PetscInt lost);

/* matrix.c */
PETSC_INTERN PetscErrorCode FuzzMatrix(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzMatrixNewValues(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzMatrixNewPattern(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzMatrixNullSpace(Fuzz *, PetscBool attach);
PETSC_INTERN const char    *FuzzType(Fuzz *);

/* operations.c */
PETSC_INTERN PetscErrorCode FuzzOperation(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzDropKept(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzDerived(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzDerivedAgain(Fuzz *);

/* check.c */
PETSC_INTERN PetscErrorCode FuzzVecFill(Vec, uint64_t seed, PetscInt how);
PETSC_INTERN PetscErrorCode FuzzCheckProducts(Fuzz *, Mat A, Mat T, const char *what);
PETSC_INTERN PetscErrorCode FuzzCheckTwice(Fuzz *, Mat C, Mat T, PetscBool first, const char *what);
PETSC_INTERN PetscErrorCode FuzzResidual(Fuzz *, Mat T, PetscBool transpose, Vec b, Vec x, Vec r, Vec bound);

/* solver.c, solves.c */
PETSC_INTERN PetscErrorCode FuzzSolverOptions(Fuzz *, PetscBool types);
PETSC_INTERN PetscErrorCode FuzzSolver(Fuzz *);
PETSC_INTERN PetscErrorCode FuzzSolve(Fuzz *);
