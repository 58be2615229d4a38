/*
  Values of a sequential AIJ matrix that are newer on the device than on the host.

  In PETSc, every access to the values of a seqaij matrix goes through MatSeqAIJGetArray(), MatSeqAIJGetArrayRead(), MatSeqAIJGetArrayWrite() or
  MatSeqAIJGetCSRAndMemType(). These first look for hooks: a table of seven functions in the private structure of the matrix, which aijcusparse uses. The header
  of that structure is not installed, and its layout changes between releases. So the table is found at run time by its effect. In a new seqaij matrix, a NULL
  pointer is the third entry of the table if MatSeqAIJGetArrayRead() calls a function that is stored there; its neighbours are tested with the calls that
  they serve. If any test fails, there are no hooks, and values are copied to the host at once.
*/
#include "aijderived.h"
#include <petsc/private/matimpl.h>

typedef struct {
  PetscErrorCode (*getarray)(Mat, PetscScalar **);
  PetscErrorCode (*restorearray)(Mat, PetscScalar **);
  PetscErrorCode (*getarrayread)(Mat, const PetscScalar **);
  PetscErrorCode (*restorearrayread)(Mat, const PetscScalar **);
  PetscErrorCode (*getarraywrite)(Mat, PetscScalar **);
  PetscErrorCode (*restorearraywrite)(Mat, PetscScalar **);
  PetscErrorCode (*getcsrandmemtype)(Mat, const PetscInt **, const PetscInt **, PetscScalar **, PetscMemType *);
} PolderArrayHooks;

enum {
  POLDER_HOOKS       = sizeof(PolderArrayHooks) / sizeof(void (*)(void)),
  POLDER_HOOKS_WORDS = 96 /* the structure is longer */
};

static int PolderHooksAt     = -1; /* offset of the table, in pointers; 0: none was found */
static int PolderHooksProbed = -1; /* the table entry that was called last */

#define PolderProbe(entry, ...) \
  static PetscErrorCode PolderProbe##entry(Mat A, __VA_ARGS__) \
  { \
    PetscFunctionBegin; \
    (void)A; \
    PolderHooksProbed = entry; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
/* clang-format off */
PolderProbe(0, PETSC_UNUSED PetscScalar **a)
PolderProbe(1, PETSC_UNUSED PetscScalar **a)
PolderProbe(2, PETSC_UNUSED const PetscScalar **a)
PolderProbe(3, PETSC_UNUSED const PetscScalar **a)
PolderProbe(4, PETSC_UNUSED PetscScalar **a)
PolderProbe(5, PETSC_UNUSED PetscScalar **a)
PolderProbe(6, PETSC_UNUSED const PetscInt **i, PETSC_UNUSED const PetscInt **j, PETSC_UNUSED PetscScalar **a, PETSC_UNUSED PetscMemType *type)
  /* clang-format on */

  /* Does the call that table entry k serves reach that entry? */
  static PetscErrorCode PolderHooksTry_Private(Mat A, int k, PetscBool *hit)
{
  const PetscScalar *read  = NULL;
  PetscScalar       *array = NULL;
  const PetscInt    *i, *j;
  PetscMemType       type;

  PetscFunctionBegin;
  PolderHooksProbed = -1;
  if (k == 0) PetscCall(MatSeqAIJGetArray(A, &array));
  else if (k == 1) PetscCall(MatSeqAIJRestoreArray(A, &array));
  else if (k == 2) PetscCall(MatSeqAIJGetArrayRead(A, &read));
  else if (k == 3) PetscCall(MatSeqAIJRestoreArrayRead(A, &read));
  else if (k == 4) PetscCall(MatSeqAIJGetArrayWrite(A, &array));
  else if (k == 5) PetscCall(MatSeqAIJRestoreArrayWrite(A, &array));
  else PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &array, &type));
  *hit = PolderHooksProbed == k ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHooksFinalize_Private(void)
{
  PetscFunctionBegin;
  PolderHooksAt = PolderHooksProbed = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Searches a new seqaij matrix for the table, once */
static PetscErrorCode PolderHooksFind_Private(void)
{
  static const PolderArrayHooks probes = {PolderProbe0, PolderProbe1, PolderProbe2, PolderProbe3, PolderProbe4, PolderProbe5, PolderProbe6};
  Mat                           A;
  void                        **words;
  void                         *probe[POLDER_HOOKS];
  PetscBool                     hit = PETSC_FALSE;

  PetscFunctionBegin;
  if (PolderHooksAt >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRegisterFinalize(PolderHooksFinalize_Private));
  PolderHooksAt = 0;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 1, 1, 1, NULL, &A));
  PetscCall(PetscMemcpy(probe, &probes, sizeof(probes)));
  words = (void **)A->data;
  for (int w = 2; w < POLDER_HOOKS_WORDS - POLDER_HOOKS && !hit; ++w) {
    if (words[w]) continue;
    words[w] = probe[2];
    PetscCall(PolderHooksTry_Private(A, 2, &hit));
    words[w] = NULL;
    if (hit) PolderHooksAt = w - 2;
  }
  for (int k = 0; k < POLDER_HOOKS && hit; ++k) {
    void **word = words + PolderHooksAt + k;

    hit = *word ? PETSC_FALSE : PETSC_TRUE;
    if (!hit) break;
    *word = probe[k];
    PetscCall(PolderHooksTry_Private(A, k, &hit));
    *word = NULL;
  }
  if (!hit) PolderHooksAt = 0;
  PetscCall(PetscInfo(A, "Hooks of seqaij's arrays: %s %d\n", hit ? "found at pointer" : "not found", PolderHooksAt));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The table of hooks in the private structure of A */
static PolderArrayHooks *PolderHooks_Private(Mat A)
{
  return (PolderArrayHooks *)((void **)A->data + PolderHooksAt);
}

/* The array itself, without the hooks */
static PetscErrorCode PolderRawArray_Private(Mat A, PetscScalar **array)
{
  PolderArrayHooks  *hooks = PolderHooks_Private(A), saved = *hooks;
  const PetscScalar *raw;

  PetscFunctionBegin;
  hooks->getarrayread = NULL;
  PetscCall(MatSeqAIJGetArrayRead(A, &raw));
  *hooks = saved;
  *array = (PetscScalar *)raw;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderBringToHost_Private(Mat A, PolderMirror r, PetscScalar *array)
{
  PetscFunctionBegin;
  if (r->zero) PetscCall(PetscArrayzero(array, r->nz));
  else PetscCall(PolderDeviceToHost(array, r->aa, sizeof(PetscScalar) * r->nz));
  r->newest = r->zero = PETSC_FALSE;
  PetscCall(PetscObjectStateGet((PetscObject)A, &r->state));
  PetscCall(PolderMatSetOffload(A, PETSC_OFFLOAD_BOTH));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows on the device if their values are newer than those on the host, else NULL */
static PolderMirror PolderNewest_Private(Mat A)
{
  const PolderAIJ aij = (PolderAIJ)A->spptr;

  return aij && aij->rows && aij->rows->newest ? aij->rows : NULL;
}

static PetscErrorCode HookGetArray_Private(Mat A, PetscScalar **array)
{
  PolderMirror r = PolderNewest_Private(A);

  PetscFunctionBegin;
  PetscCall(PolderRawArray_Private(A, array));
  if (r) PetscCall(PolderBringToHost_Private(A, r, *array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HookRestoreArray_Private(Mat A, PetscScalar **array)
{
  PetscFunctionBegin;
  *array = NULL;
  PetscCall(PolderMatSetOffload(A, PETSC_OFFLOAD_CPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HookGetArrayRead_Private(Mat A, const PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(HookGetArray_Private(A, (PetscScalar **)array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HookRestoreArrayRead_Private(Mat A, const PetscScalar **array)
{
  PetscFunctionBegin;
  (void)A;
  *array = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The caller overwrites all values, so the values on the device become invalid */
static PetscErrorCode HookGetArrayWrite_Private(Mat A, PetscScalar **array)
{
  PolderMirror r = PolderNewest_Private(A);

  PetscFunctionBegin;
  if (r) {
    r->newest = r->zero = PETSC_FALSE;
    r->state            = -1;
  }
  PetscCall(PolderRawArray_Private(A, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows in host memory */
static PetscErrorCode HookGetCSR_Private(Mat A, const PetscInt **i, const PetscInt **j, PetscScalar **a, PetscMemType *type)
{
  PolderArrayHooks *hooks = PolderHooks_Private(A), saved = *hooks;
  PolderMirror      r     = PolderNewest_Private(A);
  PetscScalar      *array = NULL;

  PetscFunctionBegin;
  hooks->getcsrandmemtype = NULL;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, i, j, &array, type));
  *hooks = saved;
  if (r && a) PetscCall(PolderBringToHost_Private(A, r, array));
  if (a) *a = array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Installs the hooks for readers and writers on the host; done = PETSC_FALSE, and nothing is done, when the table was not found */
static PetscErrorCode PolderHooksSet_Private(Mat A, PolderMirror r, PetscBool *done)
{
  static const PolderArrayHooks mine = {HookGetArray_Private,      HookRestoreArray_Private, HookGetArrayRead_Private, HookRestoreArrayRead_Private,
                                        HookGetArrayWrite_Private, HookRestoreArray_Private, HookGetCSR_Private};

  PetscFunctionBegin;
  PetscCall(PolderHooksFind_Private());
  *done = PolderHooksAt ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  *PolderHooks_Private(A) = mine;
  r->newest               = PETSC_TRUE;
  PetscCall(PolderMatSetOffload(A, PETSC_OFFLOAD_GPU));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJNewestOnDevice(Mat A)
{
  PolderMirror r     = ((PolderAIJ)A->spptr)->rows;
  PetscScalar *array = NULL;
  PetscBool    done;

  PetscFunctionBegin;
  ++r->version;
  PetscCall(PolderHooksSet_Private(A, r, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayWrite(A, &array));
  PetscCall(PolderDeviceToHost(array, r->aa, sizeof(PetscScalar) * r->nz));
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &array));
  PetscCall(PetscObjectStateGet((PetscObject)A, &r->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJZero(Mat A)
{
  PolderAIJ    aij;
  PetscMemType type;
  PetscBool    done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(PolderAIJGetMemType(A, &type));
  if (PetscMemTypeDevice(type)) { // saves the first write to each host page, which is slow
    PetscCall(PolderMirrorZero(&aij->rows, A));
    PetscCall(PolderHooksSet_Private(A, aij->rows, &done));
  }
  if (!done) PetscCall((*PolderAIJBase(POLDER_SEQ)->ops->zeroentries)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJNewestOnHost(Mat A)
{
  PolderMirror r     = PolderNewest_Private(A);
  PetscScalar *array = NULL;

  PetscFunctionBegin;
  if (!r) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderRawArray_Private(A, &array));
  PetscCall(PolderBringToHost_Private(A, r, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJUnhook(Mat A)
{
  PetscFunctionBegin;
  if (PolderHooksAt <= 0 || !A->data || PolderHooks_Private(A)->getarray != HookGetArray_Private) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderAIJNewestOnHost(A));
  PetscCall(PetscMemzero(PolderHooks_Private(A), sizeof(PolderArrayHooks)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
