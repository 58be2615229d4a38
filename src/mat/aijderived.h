/* What the matrix types aijdia, aijicrs and aijhec share: an AIJ matrix whose products run on arrays of our own. */
#pragma once

#include "halo.h"
#include "mirror.h"
#include "kernels/runs.h"

typedef struct _PolderAIJ *PolderAIJ;
struct _PolderCOO;

typedef enum {
  POLDER_SEQ,
  POLDER_MPI
} PolderLayout;

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
  /* The same on the device, where csr holds device arrays; all NULL: the format has no device code */
  PetscErrorCode (*build_device)(Mat A, PolderAIJ, const PolderCSR *csr, void **data, size_t len, char why[]);
  PetscErrorCode (*refresh_device)(Mat A, PolderAIJ, const PolderCSR *csr, void *data, PetscBool *done);
  /* dot != NULL: a device scalar that receives (x, A x) */
  PetscErrorCode (*mult_device)(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, PolderStream stream);
  /* NULL: the product of compressed rows is used */
  PetscErrorCode (*multtranspose_device)(const void *data, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream);
  PetscErrorCode (*destroy_device)(void **data);
  PetscErrorCode (*describe_device)(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored);
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
  PetscBool           eternal;   /* and, by the user's word, whatever its values may become */
  char                why[128];  /* why used is not format */

  PolderMirror        rows;  /* on the device: the compressed rows of a sequential matrix, of the off-diagonal block of a parallel one */
  const PolderFormat *dused; /* the format that ddata, built from them, is in; NULL when nothing is built */
  void               *ddata;
  PetscInt            dpattern, dversion; /* of the rows when ddata was built */
  char                dwhy[128];
  PetscScalar        *ghost; /* on the device, of a parallel matrix: values from other processes */
  PetscInt            nghost;
  PetscBool           vecset; /* -mat_vec_type was given */
  Mat                 image;  /* aijcusparse with these values */
  PetscInt            ipattern, iversion;
  struct _PolderCOO  *coo; /* where values in coordinates go */
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
/* The same on the device; NULL also when the matrix is bound to the CPU or PETSc uses no GPU */
PETSC_INTERN PetscErrorCode PolderAIJGetDevice(Mat, PolderAIJ *);
/* The rows on the device, up to date: of a sequential matrix of ours, and of the off-diagonal block of a parallel one (then with its list of rows) */
PETSC_INTERN PetscErrorCode PolderAIJGetRows(Mat, PolderMirror *);
PETSC_INTERN PetscErrorCode PolderAIJGetGhostRows(Mat, PolderMirror *);
/* y = A x and, in device memory, dot = the part of this process of (x, A x), in one pass; *summed: runs, which may be NULL, have the sums of y as
   well, since they are those of this product. done = PETSC_FALSE, and nothing is done, when A is not of our types or not everything is on the device */
PETSC_INTERN PetscErrorCode PolderMatMultDot(Mat A, Vec x, Vec y, PetscScalar *dot, const PolderRuns *runs, PetscBool *summed, PetscBool *done);

/* Values that are newer on the device (aijhooks.c), of sequential matrices of ours */
/* Says that the values in the rows on the device are new; whoever reads or writes them on the host gets them there first */
PETSC_INTERN PetscErrorCode PolderAIJNewestOnDevice(Mat);
PETSC_INTERN PetscErrorCode PolderAIJNewestOnHost(Mat);
/* Makes all values zero, after a preallocation. Of a matrix with vectors on the device the host sees, and touches, them only when it asks */
PETSC_INTERN PetscErrorCode PolderAIJZero(Mat);
/* Before the matrix becomes one of another type */
PETSC_INTERN PetscErrorCode PolderAIJUnhook(Mat);

/* Products of matrices and factors on the device (aijimage.c) */
/* Factors of our matrices where PETSc looks for them; with the library */
PETSC_INTERN PetscErrorCode PolderAIJRegisterFactors(void);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_Polder(Mat);
PETSC_INTERN PetscErrorCode PolderAIJGetMemType(Mat, PetscMemType *);

/* Values in coordinates (aijcoo.c) */
PETSC_INTERN PetscErrorCode MatSetPreallocationCOO_Polder(Mat, PetscCount, PetscInt[], PetscInt[]);
PETSC_INTERN PetscErrorCode MatSetValuesCOO_Polder(Mat, const PetscScalar[], InsertMode);
PETSC_INTERN PetscErrorCode MatZeroEntries_Polder(Mat);
PETSC_INTERN PetscErrorCode PolderCOODestroy(struct _PolderCOO **);
/* Before the matrix becomes a plain one: PETSc gets the coordinates that it has not seen */
PETSC_INTERN PetscErrorCode PolderCOORelease(Mat, struct _PolderCOO *);
/* Operations of seqaij and mpiaij themselves, from fresh matrices */
typedef struct {
  struct _MatOps *ops;
  PetscErrorCode (*storevalues)(Mat);
  PetscErrorCode (*retrievevalues)(Mat);
  PetscErrorCode (*preallocationcoo)(Mat, PetscCount, PetscInt[], PetscInt[]);
  PetscErrorCode (*valuescoo)(Mat, const PetscScalar[], InsertMode);
} PolderBase;
PETSC_INTERN const PolderBase *PolderAIJBase(PolderLayout);

/* Operations that change values and do not say so (aijstate.c) */
PETSC_INTERN PetscErrorCode MatStoreValues_Polder(Mat);
PETSC_INTERN PetscErrorCode MatRetrieveValues_Polder(Mat);
PETSC_INTERN PetscErrorCode MatCreateSubMatrices_MPIPolder(Mat, PetscInt, const IS[], const IS[], MatReuse, Mat *[]);

/* Device part of the operations (aijdevice.c) */
/* May A run on the device with these vectors (NULL: none)? */
PETSC_INTERN PetscErrorCode PolderAIJOnDevice(Mat A, Vec x, Vec y, Vec z, PetscBool *on);
/* z = y + alpha A x or, on a transposed matrix, z = y + A^T x, for a sequential or a parallel matrix of ours; y = NULL stands for zero and may be z */
PETSC_INTERN PetscErrorCode PolderAIJApplyDevice(Mat A, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z, PetscScalar *dot);
PETSC_INTERN PetscErrorCode PolderAIJGetDiagonalDevice(Mat A, Vec d);
PETSC_INTERN PetscErrorCode PolderAIJResetDevice(PolderAIJ);
/* Has the user said that A is symmetric, and that it stays so with other values (MAT_SYMMETRY_ETERNAL, MAT_SPD_ETERNAL)? */
PETSC_INTERN PetscBool PolderMatSymmetricEternal(Mat A);
/* A parallel matrix: its diagonal block in our type, told of changes of the parent */
PETSC_INTERN PetscErrorCode PolderAIJBlock(Mat A, Mat *block);
/* Our part of a matrix of ours */
PETSC_INTERN PetscErrorCode PolderAIJContext(Mat A, PolderAIJ *aij);
/* The format that a matrix's type stands for; NULL when it is none of ours */
PETSC_INTERN PetscErrorCode PolderFormatOf(Mat A, const PolderFormat **format, PolderLayout *layout);
