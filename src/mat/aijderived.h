/* What the matrix types aijdia, aijicrs and aijhec share: each is an AIJ matrix whose products run on Polder's own arrays. */
#pragma once

#include "csr.h"
#include "halo.h"
#include "mirror.h"
#include "kernels/runs.h"

typedef struct _PolderAIJ *PolderAIJ;
struct _PolderCOO;

typedef enum {
  POLDER_SEQ,
  POLDER_MPI
} PolderLayout;

/* A storage format at one place. A is always sequential; csr has its rows at that place */
typedef struct {
  /* *data <- arrays with pattern and values. When the format does not suit the matrix, *data stays NULL and why receives the reason */
  PetscErrorCode (*build)(Mat A, PolderAIJ, const PolderCSR *csr, void **data, size_t len, char why[]);
  /* new values in the same pattern; *done is PETSC_FALSE when the arrays must be rebuilt */
  PetscErrorCode (*refresh)(Mat A, PolderAIJ, const PolderCSR *csr, void *data, PetscBool *done);
  /* z = y + alpha A x; y = NULL stands for zero, y may equal z; dot is NULL on the host, else a device scalar that receives (x, A x) */
  PetscErrorCode (*mult)(const void *data, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot);
  /* z = y + A^T x; NULL: the product of AIJ (host) or of compressed rows (device) is used */
  PetscErrorCode (*multtranspose)(const void *data, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
  PetscErrorCode (*destroy)(void **data);
  /* a short description of what is stored, its size in bytes, and the number of stored values */
  PetscErrorCode (*describe)(const void *data, size_t len, char text[], PetscLogDouble *bytes, PetscLogDouble *stored);
} PolderFormatSteps;

typedef struct {
  const char       *label;            /* the format's name in messages */
  const char       *root, *seq, *mpi; /* names of the types; NULL for a format without a type */
  PolderFormatSteps at[2];            /* on the host, on the device; build = NULL: not available */
} PolderFormat;

/* Options; a parallel matrix passes them to its diagonal block */
typedef struct {
  PetscReal max_fill;  /* aijdia: stored entries over nonzeros */
  PetscBool symmetric; /* aijdia: store half of a symmetric matrix */
  PetscBool classes;   /* aijdia: one byte in place of the entries of a row that equals others */
} PolderAIJOptions;

/* States, or counts of changes, of the pattern and the values of a matrix; -1: none */
typedef struct {
  PetscInt64 pattern, values;
} PolderStamp;

/* The arrays of a sequential matrix at one place */
typedef struct {
  const PolderFormat *format; /* the format of data; NULL when nothing is built */
  void               *data;
  PolderStamp         stamp; /* of the matrix when data was built */
  PetscInt            nz;
  char                why[128]; /* the reason why format is not the type's format */
} PolderAIJArrays;

struct _PolderAIJ {
  const PolderFormat *format; /* of the type */
  PolderAIJArrays     at[2];  /* on the host, on the device */
  PolderAIJOptions    opts;
  PetscObjectState    told;      /* of a parallel matrix: the state that its block was last informed of */
  PetscObjectState    kept;      /* the state with which the values of the off-diagonal block on the device are its newest */
  PetscBool           block;     /* it is the diagonal block of a parallel matrix, whose word counts: PETSc may leave the block declared symmetric */
  PetscBool           symmetric; /* of a block: the parallel matrix is known to be symmetric */
  PetscBool           eternal;   /* the user has said that it stays symmetric when its values change */
  PetscBool           vecset;    /* -mat_vec_type was given */
  PolderMirror        rows;      /* device: the compressed rows of a sequential matrix, or of the off-diagonal block of a parallel one */
  PetscScalar        *ghost;     /* device, of a parallel matrix: ghost values */
  PetscInt            nghost;
  Mat                 image; /* aijcusparse with these values */
  PetscInt            imagepattern, imageversion;
  struct _PolderCOO  *coo; /* state of COO assembly */
};

/* The dot product (x, A x) that a product on a device computes in the same pass */
typedef struct {
  PetscScalar      *value;   /* in device memory; the contribution of this process */
  const PolderRuns *runs;    /* requested as well, or NULL: the sums over runs of rows with which Z^T y begins */
  PetscBool         whole;   /* requested: the sum over all processes */
  PetscBool         sent;    /* the kernel that has computed x has sent it, see PolderMatGetSends() */
  const PolderDia  *dia;     /* set by PolderMatMultDot(): the diagonals whose product makes these sums, or NULL */
  PetscBool         summed;  /* result: the runs hold the sums of this product */
  PetscBool         reduced; /* result: value is the sum over all processes */
} PolderProductDot;

/* Operations of a Polder matrix at a place */
typedef struct {
  const PolderPlace *place;
  const char        *where; /* for messages: follows the description of the format */
  /* Can A have arrays there? */
  PetscErrorCode (*available)(Mat A, PetscBool *);
  /* For a sequential matrix: the stamp of the rows that getrows() returns, and these rows */
  PetscErrorCode (*stamp)(Mat A, PolderAIJ, PolderStamp *);
  PetscErrorCode (*getrows)(Mat A, PolderAIJ, PolderCSR *);
  /* z = y + alpha A x or, with transpose, z = y + A^T x; y = NULL stands for zero, y may equal z; dot = NULL: no dot product */
  PetscErrorCode (*apply)(Mat A, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z, PolderProductDot *dot);
  PetscErrorCode (*getdiagonal)(Mat A, Vec d);
} PolderAIJSteps;
PETSC_INTERN const PolderAIJSteps PolderAIJStepsOnHost, PolderAIJStepsOnDevice;

PETSC_INTERN const PolderFormat PolderFormatDIA, PolderFormatICRS, PolderFormatHEC;

/* Leading dimension of a set of columns (diagonals) of m entries that a product reads at the same time. It is a multiple of 32 and, for long columns, never
   near a multiple of the page size, since then all columns would map to the same cache sets */
static inline PetscInt PolderStride(PetscInt m)
{
  return m <= 512 ? (m + 31) / 32 * 32 : (m + 415) / 512 * 512 + 96;
}

/* aijtype.c */
/* Constructors that give a new matrix the type of the format */
PETSC_INTERN PetscErrorCode PolderAIJCreateSeq(Mat, const PolderFormat *);
PETSC_INTERN PetscErrorCode PolderAIJCreateMPI(Mat, const PolderFormat *);
/* Turns a plain AIJ matrix into a Polder matrix; builds no arrays yet */
PETSC_INTERN PetscErrorCode PolderAIJInstall(Mat, const PolderFormat *, PolderLayout);
/* Polder's context of a Polder matrix */
PETSC_INTERN PetscErrorCode PolderAIJContext(Mat A, PolderAIJ *aij);
/* The format of a matrix's type; NULL when it is not a Polder type */
PETSC_INTERN PetscErrorCode PolderFormatOf(Mat A, const PolderFormat **format, PolderLayout *layout);

/* aijarrays.c */
PETSC_INTERN PetscErrorCode PolderAIJReset(PolderAIJ);
/* Drops arrays that were built with other options */
PETSC_INTERN PetscErrorCode PolderAIJSetOptions(PolderAIJ, const PolderAIJOptions *);
/* Brings the arrays of a sequential Polder matrix at a place up to date */
PETSC_INTERN PetscErrorCode PolderAIJUpdate(Mat A, const PolderAIJSteps *, PolderAIJ *, PolderAIJArrays **);
/* The same for a matrix of any type (for the diagonal block of a parallel one); NULL when it is not a Polder matrix or cannot have arrays there */
PETSC_INTERN PetscErrorCode PolderAIJGet(Mat A, const PolderAIJSteps *, PolderAIJArrays **);
/* The diagonal block of a parallel matrix in Polder's sequential type, informed of changes of the parent */
PETSC_INTERN PetscErrorCode PolderAIJBlock(Mat A, Mat *block);
/* Has the user said that A is symmetric, and that it stays so with other values (MAT_SYMMETRY_ETERNAL, MAT_SPD_ETERNAL)? */
PETSC_INTERN PetscBool PolderMatSymmetricEternal(Mat A);

/* aijvec.c */
/* Sets the type of the vectors of A, unless the user has set it */
PETSC_INTERN PetscErrorCode PolderAIJChooseVecType(Mat A);
PETSC_INTERN PetscErrorCode PolderAIJGetMemType(Mat, PetscMemType *);
PETSC_INTERN PetscErrorCode MatCreateVecs_Polder(Mat, Vec *right, Vec *left);

/* aijproduct.c */
/* The place at which A works on these vectors (NULL: none) */
PETSC_INTERN PetscErrorCode PolderAIJChoose(Mat A, Vec x, Vec y, Vec z, const PolderAIJSteps **);
PETSC_INTERN PetscErrorCode MatMult_Polder(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultAdd_Polder(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatResidual_Polder(Mat, Vec b, Vec x, Vec r);
PETSC_INTERN PetscErrorCode MatMultTranspose_Polder(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTransposeAdd_Polder(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatGetDiagonal_Polder(Mat, Vec);
/* Arrays of the vectors of a product z = y + alpha A x at a place */
typedef struct {
  const PetscScalar *x, *y;
  PetscScalar       *z;
} PolderAIJOperands;
PETSC_INTERN PetscErrorCode PolderAIJGetOperands(const PolderPlace *, Vec x, Vec y, Vec z, PolderAIJOperands *);
PETSC_INTERN PetscErrorCode PolderAIJRestoreOperands(const PolderPlace *, Vec x, Vec y, Vec z, PolderAIJOperands *);

/* aijdevice.c */
/* Plain compressed rows, for a matrix that suits no other device format; data is the mirror itself */
PETSC_INTERN const PolderFormat PolderFormatRows;
/* The rows on the device, up to date: of a sequential Polder matrix, or of the off-diagonal block of a parallel one (with the list of its nonempty rows) */
PETSC_INTERN PetscErrorCode PolderAIJGetRows(Mat, PolderMirror *);
PETSC_INTERN PetscErrorCode PolderAIJGetGhostRows(Mat, PolderMirror *);
/* What a kernel on x needs to send the values that PolderMatMultDot() exchanges; n = 0: that sends them itself */
PETSC_INTERN PetscErrorCode PolderMatGetSends(Mat A, Vec x, PolderSends *);
/* The rows row[k], k < n, in device memory, to which a kernel of its own adds the entries in the columns of other processes. n = -1: that is done in another
   way. Known after PolderHaloConnectDevice() */
PETSC_INTERN PetscErrorCode PolderMatGetOuterRows(Mat A, PetscInt *n, const PetscInt **row);
/* y = A x and dot, in one pass. done = PETSC_FALSE, and nothing is done, when A is not a Polder matrix or not everything is on the device */
PETSC_INTERN PetscErrorCode PolderMatMultDot(Mat A, Vec x, Vec y, PolderProductDot *dot, PetscBool *done);

/* Values of sequential Polder matrices that are newer on the device than on the host (aijhooks.c) */
/* Marks the values in the rows on the device as the newest; host readers and writers then copy them to the host first */
PETSC_INTERN PetscErrorCode PolderAIJNewestOnDevice(Mat);
PETSC_INTERN PetscErrorCode PolderAIJNewestOnHost(Mat);
/* Sets all values to zero after a preallocation. If the vectors of the matrix are on the device, host memory is written only on demand */
PETSC_INTERN PetscErrorCode PolderAIJZero(Mat);
/* Call before the matrix changes its type */
PETSC_INTERN PetscErrorCode PolderAIJUnhook(Mat);

/* Matrix products and factors on the device (aijimage.c) */
/* Registers the factors of Polder matrices where PETSc looks for them; called when the library is registered */
PETSC_INTERN PetscErrorCode PolderAIJRegisterFactors(void);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_Polder(Mat);

/* COO assembly (aijcoo.c) */
PETSC_INTERN PetscErrorCode MatSetPreallocationCOO_Polder(Mat, PetscCount, PetscInt[], PetscInt[]);
PETSC_INTERN PetscErrorCode MatSetValuesCOO_Polder(Mat, const PetscScalar[], InsertMode);
PETSC_INTERN PetscErrorCode MatZeroEntries_Polder(Mat);
PETSC_INTERN PetscErrorCode MatAssemblyEnd_MPIPolder(Mat, MatAssemblyType);
PETSC_INTERN PetscErrorCode PolderCOODestroy(struct _PolderCOO **);
/* Call before the matrix is converted to plain AIJ: passes PETSc the coordinates that it has not seen */
PETSC_INTERN PetscErrorCode PolderCOORelease(Mat, PolderLayout, struct _PolderCOO *);
/* Original operations of seqaij and mpiaij, taken from new matrices (aijtype.c) */
typedef struct {
  struct _MatOps *ops;
  PetscErrorCode (*storevalues)(Mat);
  PetscErrorCode (*retrievevalues)(Mat);
  PetscErrorCode (*preallocationcoo)(Mat, PetscCount, PetscInt[], PetscInt[]);
  PetscErrorCode (*valuescoo)(Mat, const PetscScalar[], InsertMode);
} PolderBase;
PETSC_INTERN const PolderBase *PolderAIJBase(PolderLayout);

/* Operations that change values without increasing the object state, or without taking back what is known of the matrix (aijstate.c) */
PETSC_INTERN PetscErrorCode MatZeroRows_Polder(Mat, PetscInt, const PetscInt[], PetscScalar, Vec, Vec);
PETSC_INTERN PetscErrorCode MatStoreValues_Polder(Mat);
PETSC_INTERN PetscErrorCode MatRetrieveValues_Polder(Mat);
PETSC_INTERN PetscErrorCode MatCreateSubMatrices_MPIPolder(Mat, PetscInt, const IS[], const IS[], MatReuse, Mat *[]);
