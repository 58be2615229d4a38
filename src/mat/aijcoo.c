/* COO assembly of Polder matrices. Values in device memory are summed into the compressed rows on the device and copied to the host only on demand. */
#include "aijcoo.h"
#include "kernels/csr.h"
#include <petsc/private/matimpl.h>

/* map and perm are device arrays. Entry k of a block is the sum of the values perm[map[k]] .. perm[map[k+1]-1], added in the order in which they were given.
   NULL: entry k is value k, or the value that the stretches assign to it (device) */
typedef struct {
  PetscInt        nz;
  PetscInt       *map, *perm;
  PolderStretches stretches;
} PolderCOOMap;

struct _PolderCOO {
  PetscInt         n, *i, *j; /* the coordinates, kept until the maps are made */
  PetscBool        host;      /* PETSC_TRUE: assembly runs on the host, because some values belong to other processes or there is no GPU */
  PetscBool        empty;     /* a process has no coordinates */
  PetscBool        made;
  PetscBool        fresh;   /* the values of the off-diagonal block have just been set, on the device and the host */
  PetscBool        ordered; /* PETSC_TRUE: the coordinates are sorted, and PETSc has not seen them */
  PolderStretches  stretches[2];
  PetscObjectState nonzerostate[2]; /* of the diagonal and the off-diagonal block */
  PolderCOOMap     map[2];
};

PetscErrorCode PolderCOODestroy(struct _PolderCOO **coo)
{
  PetscFunctionBegin;
  if (!*coo) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < 2; ++b) {
    PetscCall(PolderDeviceFree(&(*coo)->map[b].map));
    PetscCall(PolderDeviceFree(&(*coo)->map[b].perm));
    PetscCall(PolderDeviceFree(&(*coo)->map[b].stretches.first));
    PetscCall(PolderDeviceFree(&(*coo)->map[b].stretches.skip));
  }
  PetscCall(PetscFree2((*coo)->i, (*coo)->j));
  PetscCall(PolderStretchesFree((*coo)->stretches));
  PetscCall(PetscFree(*coo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* place[k]: entry of the block that value k contributes to, -1 for none */
static PetscErrorCode PolderCOOMap_Private(PetscInt n, const PetscInt place[], PetscInt nz, PolderCOOMap *to)
{
  PetscInt *map, *perm, same = 0;

  PetscFunctionBegin;
  to->nz = nz;
  while (same < n && place[same] == same) ++same;
  if (same == n && n == nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(nz + 2, &map));
  PetscCall(PetscMalloc1(n, &perm));
  for (PetscInt k = 0; k < n; ++k) {
    if (place[k] >= 0) ++map[place[k] + 2];
  }
  for (PetscInt e = 0; e < nz; ++e) map[e + 2] += map[e + 1];
  for (PetscInt k = 0; k < n; ++k) {
    if (place[k] >= 0) perm[map[place[k] + 1]++] = k;
  }
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (nz + 1), map, &to->map));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * map[nz], perm, &to->perm));
  PetscCall(PetscFree(map));
  PetscCall(PetscFree(perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The maps of one block, from the coordinates whose columns belong to it */
static PetscErrorCode PolderCOOBlock_Private(struct _PolderCOO *coo, Mat A, Mat block, const PetscInt garray[], PetscInt place[], PolderCOOMap *to)
{
  const PetscInt *ai, *aj;
  PetscInt        m, rstart, cstart, cend, ncol, next = 0; /* index after the entry found last; for sorted coordinates it is the next entry */
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &rstart, NULL));
  PetscCall(MatGetOwnershipRangeColumn(A, &cstart, &cend));
  PetscCall(MatGetSize(block, NULL, &ncol));
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &m, &ai, &aj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix type %s does not give out its rows", ((PetscObject)block)->type_name);
  for (PetscInt k = 0; k < coo->n; ++k) {
    const PetscInt  r    = coo->i[k] - rstart;
    const PetscBool mine = (PetscBool)(coo->j[k] >= cstart && coo->j[k] < cend);
    PetscInt        c = coo->j[k] - cstart, at = -1;

    place[k] = -1;
    if (coo->i[k] < 0 || coo->j[k] < 0 || mine != !garray) continue;
    if (garray) PetscCall(PetscFindInt(coo->j[k], ncol, garray, &c));
    if (next >= ai[r] && next < ai[r + 1] && aj[next] == c) at = next - ai[r];
    else PetscCall(PetscFindInt(c, ai[r + 1] - ai[r], aj + ai[r], &at));
    PetscCheck(at >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is not in the pattern made for it", coo->i[k],
               coo->j[k]);
    place[k] = ai[r] + at;
    next     = place[k] + 1;
  }
  PetscCall(PolderCOOMap_Private(coo->n, place, ai[m], to));
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &m, &ai, &aj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The map of sorted coordinates */
static PetscErrorCode PolderCOOMapOrdered_Private(const PolderStretches *s, PolderCOOMap *to)
{
  PetscFunctionBegin;
  to->nz = s->nz;
  if (s->nz == 0 || (s->n == 1 && s->skip[0] == 0)) PetscFunctionReturn(PETSC_SUCCESS);
  to->stretches.n = s->n;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (s->n + 1), s->first, &to->stretches.first));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * s->n, s->skip, &to->stretches.skip));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the maps of both blocks */
static PetscErrorCode PolderCOOMake_Private(struct _PolderCOO *coo, Mat A, Mat diag, Mat offdiag, const PetscInt garray[])
{
  PetscInt *place;

  PetscFunctionBegin;
  if (coo->ordered) {
    for (int b = 0; b < 2; ++b) PetscCall(PolderCOOMapOrdered_Private(&coo->stretches[b], &coo->map[b]));
  } else {
    PetscCall(PetscMalloc1(coo->n, &place));
    PetscCall(PolderCOOBlock_Private(coo, A, diag, NULL, place, &coo->map[0]));
    if (offdiag && garray) PetscCall(PolderCOOBlock_Private(coo, A, offdiag, garray, place, &coo->map[1]));
    PetscCall(PetscFree(place));
    PetscCall(PetscFree2(coo->i, coo->j));
  }
  PetscCall(MatGetNonzeroState(diag, &coo->nonzerostate[0]));
  if (offdiag) PetscCall(MatGetNonzeroState(offdiag, &coo->nonzerostate[1]));
  coo->made = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCOORelease(Mat A, PolderLayout layout, struct _PolderCOO *coo)
{
  PetscFunctionBegin;
  if (coo && coo->ordered) PetscCall(PolderCOOToBase(A, layout, coo->n, coo->stretches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is true of a process is true of all */
static PetscErrorCode PolderCOOAgree_Private(struct _PolderCOO *coo, Mat A, PetscCount n)
{
  int any[2] = {coo->host, !n};

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
  coo->host  = (PetscBool)any[0];
  coo->empty = (PetscBool)any[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps a copy of the coordinates, because PETSc sorts them in place. The maps are made from it when values come from the device */
static PetscErrorCode PolderCOOKeep_Private(struct _PolderCOO *coo, Mat A, PetscCount n, const PetscInt i[], const PetscInt j[])
{
  PetscInt rstart, rend;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  coo->host = (PetscBool)(coo->host || n > PETSC_MAX_INT);
  for (PetscCount k = 0; k < n && !coo->host; ++k) coo->host = (PetscBool)(i[k] >= 0 && j[k] >= 0 && (i[k] < rstart || i[k] >= rend));
  PetscCall(PolderCOOAgree_Private(coo, A, n));
  if (coo->host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(n, &coo->i, n, &coo->j));
  PetscCall(PetscArraycpy(coo->i, i, n));
  PetscCall(PetscArraycpy(coo->j, j, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the old pattern on the device are worth nothing */
static PetscErrorCode PolderCOOForget_Private(Mat A, PolderLayout layout)
{
  PolderAIJ           aij;
  const PolderFormat *format;
  PolderLayout        seq;
  Mat                 block = NULL;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  if (aij->rows) aij->rows->newest = aij->rows->zero = PETSC_FALSE;
  if (layout == POLDER_MPI && A->preallocated) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  if (!block) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderFormatOf(block, &format, &seq));
  if (format) PetscCall(PolderCOOForget_Private(block, seq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetPreallocationCOO_Polder(Mat A, PetscCount n, PetscInt i[], PetscInt j[])
{
  PolderAIJ           aij;
  const PolderFormat *format;
  PolderLayout        layout;
  struct _PolderCOO  *coo;
  PetscInt           *iset = i, *jset = j;
  PetscBool           there, bound, device;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(PolderDevicePresent(&there));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(PolderDeviceIsPointer(i, &device));
  PetscCall(PolderCOOForget_Private(A, layout));
  if (device) { // the pattern is built on the host, wherever the coordinates are
    PetscCall(PetscMalloc2(n, &iset, n, &jset));
    PetscCall(PolderDeviceToHost(iset, i, sizeof(PetscInt) * n));
    PetscCall(PolderDeviceToHost(jset, j, sizeof(PetscInt) * n));
  }
  PetscCall(PetscNew(&coo));
  coo->n    = (PetscInt)PetscMin(n, PETSC_MAX_INT);
  coo->host = (PetscBool)(!there || bound);
  if (layout == POLDER_MPI || n > 0) PetscCall(PolderCOOOrdered(A, layout, n, iset, jset, coo->stretches, &coo->ordered));
  if (coo->ordered) PetscCall(PolderCOOAgree_Private(coo, A, n));
  else {
    PetscCall(PolderCOOKeep_Private(coo, A, n, iset, jset));
    PetscCall((*PolderAIJBase(layout)->preallocationcoo)(A, n, iset, jset));
  }
  if (iset != i) PetscCall(PetscFree2(iset, jset));
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(PolderCOODestroy(&aij->coo));
  aij->coo = coo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the values of one block into the rows r on the device */
static PetscErrorCode PolderCOOSum_Private(const PolderCOOMap *map, PolderMirror r, const PetscScalar v[], InsertMode mode)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCheck(map->nz == r->nz, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The nonzero pattern has changed since MatSetPreallocationCOO(): call it again");
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  if (map->stretches.n)
    PolderLaunch(PolderCooTake_CUDA(map->nz, map->stretches.n, map->stretches.first, map->stretches.skip, v, mode == INSERT_VALUES ? PETSC_TRUE : PETSC_FALSE,
                                    r->aa, stream));
  else PolderLaunch(PolderCooSum_CUDA(map->nz, map->map, map->perm, v, mode == INSERT_VALUES ? PETSC_TRUE : PETSC_FALSE, r->aa, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCOOStoreOff_Private(struct _PolderCOO *coo, Mat offdiag, PolderMirror off, PolderFetch *fetch)
{
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(offdiag, &array));
  PetscCall(PolderDeviceFetchEnd(fetch, array));
  PetscCall(MatSeqAIJRestoreArrayWrite(offdiag, &array));
  ++off->version;
  PetscCall(PetscObjectStateGet((PetscObject)offdiag, &off->state));
  coo->fresh = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The off-diagonal block has few entries, so they are copied to the host at once: while the others are summed, for which the host need not wait */
static PetscErrorCode PolderCOOSumOff_Private(struct _PolderCOO *coo, Mat offdiag, PolderMirror *off, const PetscScalar v[], InsertMode mode,
                                              PolderFetch *fetch)
{
  PetscFunctionBegin;
  PetscCall(PolderMirrorUpdate(off, offdiag, PETSC_TRUE));
  PetscCall(PolderCOOSum_Private(&coo->map[1], *off, v, mode));
  PetscCall(PolderDeviceFetchBegin(sizeof(PetscScalar) * (size_t)(*off)->nz, (*off)->aa, fetch));
  if (fetch->buffer < 0) PetscCall(PolderCOOStoreOff_Private(coo, offdiag, *off, fetch)); // it would wait for the others
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSetValuesCOO() ends with an assembly, which moves the state of the off-diagonal block. Its values on the device remain those on the host, unless
  MatSetValues() had given others, to this process or to another one
*/
PetscErrorCode MatAssemblyEnd_MPIPolder(Mat A, MatAssemblyType mode)
{
  PolderAIJ aij;
  PetscBool keep = PETSC_FALSE;
  Mat       offdiag;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  if (aij->coo) {
    keep            = (PetscBool)(aij->coo->fresh && A->insertmode == NOT_SET_VALUES && !A->stash.nrecvs && !A->bstash.nrecvs);
    aij->coo->fresh = PETSC_FALSE;
  }
  PetscCall((*PolderAIJBase(POLDER_MPI)->ops->assemblyend)(A, mode));
  if (!keep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &offdiag, NULL));
  PetscCall(PolderMirrorKeep(aij->rows, offdiag));
  PetscCall(PetscObjectStateGet((PetscObject)A, &aij->kept));
  ++aij->kept; // by MatAssemblyEnd(), when this function returns
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values from device memory */
static PetscErrorCode PolderCOOSetDevice_Private(Mat A, PolderAIJ aij, PolderLayout layout, const PetscScalar v[], InsertMode mode)
{
  struct _PolderCOO *coo  = aij->coo;
  PolderAIJ          baij = aij;
  Mat                diag = A, offdiag = NULL;
  const PetscInt    *garray = NULL;
  PolderFetch        fetch  = {0};

  PetscFunctionBegin;
  if (layout == POLDER_MPI) {
    PetscCall(PolderAIJBlock(A, &diag));
    PetscCall(MatMPIAIJGetSeqAIJ(A, &diag, &offdiag, &garray));
    PetscCall(PolderAIJContext(diag, &baij));
  }
  if (!coo->made) PetscCall(PolderCOOMake_Private(coo, A, diag, offdiag, garray));
  if (coo->map[1].nz) PetscCall(PolderCOOSumOff_Private(coo, offdiag, &aij->rows, v, mode, &fetch));
  if (mode == INSERT_VALUES) PetscCall(PolderMirrorUpdatePattern(&baij->rows, diag, PETSC_FALSE));
  else PetscCall(PolderMirrorUpdate(&baij->rows, diag, PETSC_FALSE));
  PetscCall(PolderCOOSum_Private(&coo->map[0], baij->rows, v, mode));
  PetscCall(PolderAIJNewestOnDevice(diag));
  if (coo->map[1].nz && fetch.buffer >= 0) PetscCall(PolderCOOStoreOff_Private(coo, offdiag, aij->rows, &fetch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values from the host. PETSc assembles them if it has the coordinates */
static PetscErrorCode PolderCOOSetHost_Private(Mat A, PolderAIJ aij, PolderLayout layout, const PetscScalar v[], InsertMode mode)
{
  PetscFunctionBegin;
  if (aij->coo && aij->coo->ordered) PetscCall(PolderCOOSetOrdered(A, layout, aij->coo->stretches, v, mode));
  else PetscCall((*PolderAIJBase(layout)->valuescoo)(A, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process without values follows the others: NULL does not tell where they have theirs */
static PetscErrorCode PolderCOOFollow_Private(Mat A, const struct _PolderCOO *coo, PetscBool *device)
{
  PetscMPIInt there = coo->n && *device;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
  if (!coo->n) *device = (PetscBool)there;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetValuesCOO_Polder(Mat A, const PetscScalar v[], InsertMode mode)
{
  PolderAIJ           aij;
  const PolderFormat *format;
  PolderLayout        layout;
  PetscScalar        *copy;
  PetscBool           bound, device;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(PolderDeviceIsPointer(v, &device));
  if (aij->coo && aij->coo->empty) PetscCall(PolderCOOFollow_Private(A, aij->coo, &device));
  if (!device) PetscCall(PolderCOOSetHost_Private(A, aij, layout, v, mode)); // each call may pass host or device memory
  else {
    PetscCheck(aij->coo, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
               "Values in coordinates before the coordinates: call MatSetPreallocationCOO() first");
    if (!bound && !aij->coo->host) PetscCall(PolderCOOSetDevice_Private(A, aij, layout, v, mode));
    else {
      PetscCall(PetscInfo(A, "Values in coordinates go through the host: some are for other processes, or the matrix is bound to the CPU\n"));
      PetscCall(PetscMalloc1(aij->coo->n, &copy));
      PetscCall(PolderDeviceToHost(copy, v, sizeof(PetscScalar) * aij->coo->n));
      PetscCall(PolderCOOSetHost_Private(A, aij, layout, copy, mode));
      PetscCall(PetscFree(copy));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program that assembles on the device often zeroes the matrix first */
PetscErrorCode MatZeroEntries_Polder(Mat A)
{
  PolderAIJ aij;
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound || !aij->rows || !aij->rows->newest) PetscCall((*PolderAIJBase(POLDER_SEQ)->ops->zeroentries)(A));
  else {
    PetscCall(PolderMirrorUpdatePattern(&aij->rows, A, PETSC_FALSE));
    PetscCall(PolderDeviceZero(aij->rows->aa, sizeof(PetscScalar) * aij->rows->nz));
    PetscCall(PolderAIJNewestOnDevice(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
