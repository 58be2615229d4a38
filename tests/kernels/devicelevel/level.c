/* Random levels on the host and on the device. */
#include "level.h"
#include "kernels/pairs.h"

size_t Size(PetscBool single)
{
  return single ? sizeof(float) : sizeof(PetscScalar);
}

static size_t SizeOf(const Values *v)
{
  return v->bfloat ? sizeof(PolderBfloat) : Size(v->single);
}

PetscScalar Get(const Values *v, PetscInt i)
{
  if (v->bfloat) return (PetscScalar)PolderBfloatGet(((const PolderBfloat *)v->host)[i]);
  return v->single ? (PetscScalar)((const float *)v->host)[i] : ((const PetscScalar *)v->host)[i];
}

void Set(Values *v, PetscInt i, PetscScalar value)
{
  if (v->bfloat) ((PolderBfloat *)v->host)[i] = PolderBfloatRound((float)value);
  else if (v->single) ((float *)v->host)[i] = (float)value;
  else ((PetscScalar *)v->host)[i] = value;
}

/* The entries of a matrix */
static PetscErrorCode EntriesCreate(Precision precision, PetscInt n, Values *v)
{
  PetscFunctionBeginUser;
  *v = (Values){.single = (PetscBool)(precision != IN_DOUBLE), .bfloat = (PetscBool)(precision == IN_HALF), .n = n};
  PetscCall(PetscMalloc(SizeOf(v) * (size_t)(n + 1), &v->host));
  PetscCall(PolderDeviceMalloc(SizeOf(v) * (size_t)(n + 1), &v->device));
  for (PetscInt i = 0; i <= n; ++i) Set(v, i, NAN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesCreate(PetscBool single, PetscInt n, Values *v)
{
  PetscFunctionBeginUser;
  PetscCall(EntriesCreate(single ? IN_SINGLE : IN_DOUBLE, n, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesDestroy(Values *v)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(v->host));
  PetscCall(PolderDeviceFree(&v->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ToDevice(const Values *v)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFromHost(v->device, v->host, SizeOf(v) * (size_t)(v->n + 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Fill(Values *v)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < v->n; ++i) Set(v, i, Number());
  PetscCall(ToDevice(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN on the device, to be written */
PetscErrorCode Poison(const Values *v)
{
  Values nothing = *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(SizeOf(v) * (size_t)(v->n + 1), &nothing.host));
  for (PetscInt i = 0; i <= v->n; ++i) Set(&nothing, i, NAN);
  PetscCall(ToDevice(&nothing));
  PetscCall(PetscFree(nothing.host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the first n values on the device that are not those on the host, up to rounding of so many terms; the one behind all of them must be NaN still */
PetscErrorCode Differ(const Values *v, PetscInt n, PetscReal terms, PetscInt *wrong)
{
  const PetscReal tol = terms * (v->single ? 1e-6 : 1e-14);
  Values          got = *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(SizeOf(v) * (size_t)(v->n + 1), &got.host));
  PetscCall(PolderDeviceToHost(got.host, v->device, SizeOf(v) * (size_t)(v->n + 1)));
  for (PetscInt i = 0; i < n; ++i) *wrong += !(PetscAbsScalar(Get(&got, i) - Get(v, i)) <= tol * (1 + PetscAbsScalar(Get(v, i))));
  if (n == v->n) *wrong += !PetscIsNanScalar(Get(&got, n));
  PetscCall(PetscFree(got.host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AggregatesCreate(Level *L, PetscInt size)
{
  const PetscInt n = L->n;

  PetscFunctionBeginUser;
  L->nc = n / size;
  PetscCall(PetscMalloc3(n, &L->agg, L->nc + 2, &L->ptr, n, &L->row));
  for (PetscInt i = 0; i < n; ++i) L->agg[i] = i % 3 ? PetscMin(i / size, L->nc) : Next(L->nc + 1); // some far away, some empty
  PolderMembers_Host(&(PolderAggregates){n, L->nc, L->agg, L->ptr, L->row, NULL});
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * n, L->agg, &L->aggd));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (L->nc + 2), L->ptr, &L->ptrd));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * n, L->row, &L->rowd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalInverseCreate(Level *L)
{
  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(L->single, L->n, &L->dinv));
  for (PetscInt i = 0; i < L->n; ++i) Set(&L->dinv, i, i % 17 == 16 ? 0 : 0.1 + Next(100) / 400.0);
  PetscCall(ToDevice(&L->dinv));
  L->host.dinv   = L->dinv.host;
  L->device.dinv = L->dinv.device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals up[0 .. nup) above the main one, and as many below it; half: these lead into the others. What lies outside the matrix is NaN */
PetscErrorCode DiagonalsCreate(Precision precision, PetscBool half, PetscInt n, PetscInt nup, const PetscInt up[], PetscInt size, Level *L)
{
  const PetscInt nd = 2 * nup + 1, ld = n + 32;

  PetscFunctionBeginUser;
  *L = (Level){.single = (PetscBool)(precision != IN_DOUBLE), .n = n};
  PetscCall(EntriesCreate(precision, nd * ld, &L->stored));
  for (PetscInt d = 0; d < nd; ++d) L->off[d] = d < nup ? -up[nup - 1 - d] : d > nup ? up[d - nup - 1] : 0;
  for (PetscInt d = half ? nup : 0; d < nd; ++d) {
    for (PetscInt i = PetscMax(0, -L->off[d]); i < PetscMin(n, n - L->off[d]); ++i) Set(&L->stored, d * ld + i, d == nup ? 2 * nup : Number());
  }
  PetscCall(ToDevice(&L->stored));
  for (PetscInt d = 0; d < nd; ++d) {
    const PetscInt at = half && d < nup ? (nd - 1 - d) * ld + L->off[d] : d * ld;

    L->val[0][d] = (char *)L->stored.host + (ptrdiff_t)SizeOf(&L->stored) * at;
    L->val[1][d] = (char *)L->stored.device + (ptrdiff_t)SizeOf(&L->stored) * at;
  }
  L->host   = (PolderLevelMatrix){.n = n, .bfloat = L->stored.bfloat, .nd = nd, .main = nup, .off = L->off, .val = L->val[0]};
  L->device = (PolderLevelMatrix){.n = n, .bfloat = L->stored.bfloat, .nd = nd, .main = nup, .off = L->off, .val = L->val[1]};
  PetscCall(DiagonalInverseCreate(L));
  PetscCall(AggregatesCreate(L, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compressed rows of random lengths, least .. most */
PetscErrorCode RowsCreate(Precision precision, PetscInt n, PetscInt least, PetscInt most, PetscInt size, Level *L)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  *L = (Level){.single = (PetscBool)(precision != IN_DOUBLE), .n = n};
  PetscCall(PetscMalloc2(n + 1, &L->ai, n * most, &L->aj));
  for (PetscInt i = 0; i < n; ++i) {
    L->ai[i] = nz;
    for (PetscInt k = least + Next(most - least + 1); k > 0; --k) L->aj[nz++] = Next(n);
  }
  L->ai[n] = nz;
  PetscCall(EntriesCreate(precision, nz, &L->stored));
  PetscCall(Fill(&L->stored));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (n + 1), L->ai, &L->aid));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * nz, L->aj, &L->ajd));
  L->host   = (PolderLevelMatrix){.n = n, .bfloat = L->stored.bfloat, .nz = nz, .ai = L->ai, .aj = L->aj, .aa = L->stored.host};
  L->device = (PolderLevelMatrix){.n = n, .bfloat = L->stored.bfloat, .nz = nz, .ai = L->aid, .aj = L->ajd, .aa = L->stored.device};
  PetscCall(DiagonalInverseCreate(L));
  PetscCall(AggregatesCreate(L, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LevelDestroy(Level *L)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(L->ai, L->aj));
  PetscCall(PetscFree3(L->agg, L->ptr, L->row));
  PetscCall(PolderDeviceFree(&L->aid));
  PetscCall(PolderDeviceFree(&L->ajd));
  PetscCall(PolderDeviceFree(&L->aggd));
  PetscCall(PolderDeviceFree(&L->ptrd));
  PetscCall(PolderDeviceFree(&L->rowd));
  PetscCall(ValuesDestroy(&L->stored));
  PetscCall(ValuesDestroy(&L->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}
