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

/* A storage format at one place: A is always sequential, its rows, at that place, are in csr */
typedef struct {
  /* data <- arrays with pattern and values; leaves it NULL, and the reason in why, when the format does not suit the matrix */
  PetscErrorCode (*build)(Mat A, PolderAIJ, const PolderCSR *csr, void **data, size_t len, char why[]);
  /* new values in the same pattern; *done is PETSC_FALSE when the arrays must be built again */
  PetscErrorCode (*refresh)(Mat A, PolderAIJ, const PolderCSR *csr, void *data, PetscBool *done);
  /* z = y + alpha A x; y = NULL stands for zero and may be z; dot, NULL on the host: a device scalar that receives (x, A x) */
  PetscErrorCode (*mult)(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot);
  /* z = y + A^T x; NULL: the product of AIJ (host) or of compressed rows (device) is used */
  PetscErrorCode (*multtranspose)(const void *data, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
  PetscErrorCode (*destroy)(void **data);
  /* what is stored, in a few words, in how many bytes, and how many values that is */
  PetscErrorCode (*describe)(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored);
} PolderFormatSteps;

typedef struct {
  const char       *label;            /* for the user */
  const char       *root, *seq, *mpi; /* names of the types; NULL for a format that is no type */
  PolderFormatSteps at[2];            /* on the host, on the device; build = NULL: not there */
} PolderFormat;

/* Options; those of a parallel matrix are handed to its diagonal block */
typedef struct {
  PetscReal max_fill;  /* aijdia: stored entries over nonzeros */
  PetscBool symmetric; /* aijdia: store half of a symmetric matrix */
} PolderAIJOptions;

/* Counts, or states, of the pattern and the values of a matrix; -1: none */
typedef struct {
  PetscInt64 pattern, values;
} PolderStamp;

/* The arrays of a sequential matrix at one place */
typedef struct {
  const PolderFormat *format; /* that data is in; NULL when nothing is built */
  void               *data;
  PolderStamp         stamp; /* of the matrix when data was built */
  PetscInt            nz;
  char                why[128]; /* why format is not that of the type */
} PolderAIJArrays;

struct _PolderAIJ {
  const PolderFormat *format; /* of the type */
  PolderAIJArrays     at[2];  /* on the host, on the device */
  PolderAIJOptions    opts;
  PetscObjectState    told;      /* a parallel matrix: the state that its block knows of */
  PetscBool           symmetric; /* a block: the parallel matrix is known to be symmetric */
  PetscBool           eternal;   /* and, by the user's word, whatever its values may become */
  PetscBool           vecset;    /* -mat_vec_type was given */
  PolderMirror        rows;      /* on the device: the compressed rows of a sequential matrix, of the off-diagonal block of a parallel one */
  PetscScalar        *ghost;     /* on the device, of a parallel matrix: values from other processes */
  PetscInt            nghost;
  Mat                 image; /* aijcusparse with these values */
  PetscInt            imagepattern, imageversion;
  struct _PolderCOO  *coo; /* where values in coordinates go */
};

/* The dot product (x, A x) that comes with a product on a device */
typedef struct {
  PetscScalar      *value;   /* in device memory; the part of this process */
  const PolderRuns *runs;    /* wanted as well, or NULL: the sums over runs of rows with which Z^T y begins */
  PetscBool         whole;   /* wanted: the sum over all processes */
  PetscBool         summed;  /* runs have the sums, since they are those of this product */
  PetscBool         reduced; /* value is that sum */
} PolderProductDot;

/* What a matrix of ours does at a place */
typedef struct {
  const PolderPlace *place;
  const char        *where; /* for the user, after what is there */
  /* May A have arrays there? */
  PetscErrorCode (*available)(Mat A, PetscBool *);
  /* Of a sequential matrix: the stamp of what getrows() gives, and these rows */
  PetscErrorCode (*stamp)(Mat A, PolderAIJ, PolderStamp *);
  PetscErrorCode (*getrows)(Mat A, PolderAIJ, PolderCSR *);
  /* z = y + alpha A x or, on a transposed matrix, z = y + A^T x; y = NULL stands for zero and may be z; dot = NULL: no dot product */
  PetscErrorCode (*apply)(Mat A, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z, PolderProductDot *dot);
  PetscErrorCode (*getdiagonal)(Mat A, Vec d);
} PolderAIJSteps;
PETSC_INTERN const PolderAIJSteps PolderAIJStepsOnHost, PolderAIJStepsOnDevice;

PETSC_INTERN const PolderFormat PolderFormatDIA, PolderFormatICRS, PolderFormatHEC;

/* Distance between the columns (diagonals) of m entries that a product reads at once: a multiple of 32, and for long columns never near a multiple of the page
   size, because then all of them would compete for the same places of the cache */
static inline PetscInt PolderStride(PetscInt m)
{
  return m <= 512 ? (m + 31) / 32 * 32 : (m + 415) / 512 * 512 + 96;
}

/* aijtype.c */
/* Constructors: the type of format on a fresh matrix */
PETSC_INTERN PetscErrorCode PolderAIJCreateSeq(Mat, const PolderFormat *);
PETSC_INTERN PetscErrorCode PolderAIJCreateMPI(Mat, const PolderFormat *);
/* Makes a plain AIJ matrix one of ours; no arrays are built yet */
PETSC_INTERN PetscErrorCode PolderAIJInstall(Mat, const PolderFormat *, PolderLayout);
/* Our part of a matrix of ours */
PETSC_INTERN PetscErrorCode PolderAIJContext(Mat A, PolderAIJ *aij);
/* The format that a matrix's type stands for; NULL when it is none of ours */
PETSC_INTERN PetscErrorCode PolderFormatOf(Mat A, const PolderFormat **format, PolderLayout *layout);

/* aijarrays.c */
PETSC_INTERN PetscErrorCode PolderAIJReset(PolderAIJ);
/* Arrays that were built under other options are dropped */
PETSC_INTERN PetscErrorCode PolderAIJSetOptions(PolderAIJ, const PolderAIJOptions *);
/* Brings the arrays of a sequential matrix of ours at a place up to date */
PETSC_INTERN PetscErrorCode PolderAIJUpdate(Mat A, const PolderAIJSteps *, PolderAIJ *, PolderAIJArrays **);
/* The same of a matrix of any type (of its diagonal block when it is parallel); NULL when it is not of ours or may have none there */
PETSC_INTERN PetscErrorCode PolderAIJGet(Mat A, const PolderAIJSteps *, PolderAIJArrays **);
/* A parallel matrix: its diagonal block in our type, told of changes of the parent */
PETSC_INTERN PetscErrorCode PolderAIJBlock(Mat A, Mat *block);
/* Has the user said that A is symmetric, and that it stays so with other values (MAT_SYMMETRY_ETERNAL, MAT_SPD_ETERNAL)? */
PETSC_INTERN PetscBool PolderMatSymmetricEternal(Mat A);

/* aijvec.c */
/* The type of the vectors of A, as far as nobody has set it */
PETSC_INTERN PetscErrorCode PolderAIJChooseVecType(Mat A);
PETSC_INTERN PetscErrorCode PolderAIJGetMemType(Mat, PetscMemType *);
PETSC_INTERN PetscErrorCode MatCreateVecs_Polder(Mat, Vec *right, Vec *left);

/* aijproduct.c */
/* Where A works on these vectors (NULL: none) */
PETSC_INTERN PetscErrorCode PolderAIJChoose(Mat A, Vec x, Vec y, Vec z, const PolderAIJSteps **);
PETSC_INTERN PetscErrorCode MatMult_Polder(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultAdd_Polder(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatResidual_Polder(Mat, Vec b, Vec x, Vec r);
PETSC_INTERN PetscErrorCode MatMultTranspose_Polder(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTransposeAdd_Polder(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatGetDiagonal_Polder(Mat, Vec);
/* Arrays of the vectors of a product z = y + .. x at a place */
typedef struct {
  const PetscScalar *x, *y;
  PetscScalar       *z;
} PolderAIJOperands;
PETSC_INTERN PetscErrorCode PolderAIJGetOperands(const PolderPlace *, Vec x, Vec y, Vec z, PolderAIJOperands *);
PETSC_INTERN PetscErrorCode PolderAIJRestoreOperands(const PolderPlace *, Vec x, Vec y, Vec z, PolderAIJOperands *);

/* aijdevice.c */
/* Compressed rows as they are, for a matrix that suits no other format of the device; data is the mirror itself */
PETSC_INTERN const PolderFormat PolderFormatRows;
/* The rows on the device, up to date: of a sequential matrix of ours, and of the off-diagonal block of a parallel one (then with its list of rows) */
PETSC_INTERN PetscErrorCode PolderAIJGetRows(Mat, PolderMirror *);
PETSC_INTERN PetscErrorCode PolderAIJGetGhostRows(Mat, PolderMirror *);
/* y = A x and dot, in one pass. done = PETSC_FALSE, and nothing is done, when A is not of our types or not everything is on the device */
PETSC_INTERN PetscErrorCode PolderMatMultDot(Mat A, Vec x, Vec y, PolderProductDot *dot, PetscBool *done);

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

/* Values in coordinates (aijcoo.c) */
PETSC_INTERN PetscErrorCode MatSetPreallocationCOO_Polder(Mat, PetscCount, PetscInt[], PetscInt[]);
PETSC_INTERN PetscErrorCode MatSetValuesCOO_Polder(Mat, const PetscScalar[], InsertMode);
PETSC_INTERN PetscErrorCode MatZeroEntries_Polder(Mat);
PETSC_INTERN PetscErrorCode PolderCOODestroy(struct _PolderCOO **);
/* Before the matrix becomes a plain one: PETSc gets the coordinates that it has not seen */
PETSC_INTERN PetscErrorCode PolderCOORelease(Mat, struct _PolderCOO *);
/* Operations of seqaij and mpiaij themselves, from fresh matrices (aijtype.c) */
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
