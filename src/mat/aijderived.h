/* What the matrix types aijdia, aijicrs and aijhec share: an AIJ matrix whose products run on arrays of our own. */
#pragma once

#include "halo.h"

typedef struct _PolderAIJ *PolderAIJ;

/* One storage format. A is always sequential, its rows are in csr (the diagonal part). */
typedef struct {
  const char *label;            /* for the user */
  const char *root, *seq, *mpi; /* names of the types; NULL for a format that is no type */
  /* data <- arrays with pattern and values; leaves it NULL, and the reason in why, when the format does not suit the matrix */
  PetscErrorCode (*build)(Mat A, PolderAIJ, const PolderCSR *csr, void **data, size_t len, char why[]);
  /* new values in the same pattern; *done is PETSC_FALSE when the arrays must be built again */
  PetscErrorCode (*refresh)(Mat A, PolderAIJ, const PolderCSR *csr, void *data, PetscBool *done);
  /* z = y + alpha A x; y = NULL stands for zero and may be z */
  void (*mult)(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
  /* z = y + A^T x; NULL: the product of AIJ is used */
  void (*multtranspose)(const void *data, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
  PetscErrorCode (*destroy)(void **data);
  /* what is stored, in a few words, in how many bytes, and how many values that is */
  PetscErrorCode (*describe)(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored);
} PolderFormat;

/* Options; those of a parallel matrix are handed to its diagonal block */
typedef struct {
  PetscReal max_fill;  /* aijdia: stored entries over nonzeros */
  PetscBool symmetric; /* aijdia: store half of a symmetric matrix */
} PolderAIJOptions;

struct _PolderAIJ {
  const PolderFormat *format; /* of the type */
  const PolderFormat *used;   /* the one that data is in; NULL when nothing is built */
  void               *data;
  PetscObjectState    state, nonzerostate; /* of the matrix when data was built */
  PetscInt            nz;
  PolderAIJOptions    opts;
  PetscBool           symmetric; /* a block: the parallel matrix is known to be symmetric */
  char                why[128];  /* why used is not format */
};

PETSC_INTERN const PolderFormat PolderFormatDIA, PolderFormatICRS, PolderFormatHEC;

/* Distance between the columns (diagonals) of m entries that a product reads at once: a multiple of 32, and for long columns never near a multiple of the page
   size, because then all of them would compete for the same places of the cache */
static inline PetscInt PolderStride(PetscInt m)
{
  return m <= 512 ? (m + 31) / 32 * 32 : (m + 415) / 512 * 512 + 96;
}

/* Constructors: the type of format on a fresh matrix */
PETSC_INTERN PetscErrorCode PolderAIJCreateSeq(Mat, const PolderFormat *);
PETSC_INTERN PetscErrorCode PolderAIJCreateMPI(Mat, const PolderFormat *);
/* The arrays of a matrix of ours (of its diagonal block when it is parallel), up to date; NULL when it is not of our types */
PETSC_INTERN PetscErrorCode PolderAIJGet(Mat, PolderAIJ *);
