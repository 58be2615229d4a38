/* The cycle of PC pamg on the device against that on the host. */
#include "level.h"
#include "pamgproblems.h"
#include "vecs.h"
#include "pc/pamg/pamgsetup.h"
#include "pc/pamg/pamgsteps.h"
#include "kernels/pairs.h"
#include <polder.h>
#include <petsc/private/pcimpl.h>

/* A copy of bytes on the device, which frees itself with the levels */
typedef struct {
  void    *all[1024];
  PetscInt n;
} Memory;

static PetscErrorCode Copy(Memory *memory, size_t bytes, const void *host, void *device)
{
  PetscFunctionBeginUser;
  PetscCheck(memory->n < 1024, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many arrays");
  PetscCall(PolderDeviceMalloc(bytes, device));
  memory->all[memory->n++] = *(void **)device;
  if (host) PetscCall(PolderDeviceFromHost(*(void **)device, host, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Level l on the device as the set-up leaves it there; val: room for its diagonals */
static PetscErrorCode CopyLevel(const PC_PAMG *pamg, const PamgLevel *H, PetscBool last, Memory *memory, const void **val, PamgLevel *D)
{
  const size_t size = Size((PetscBool)(pamg->precision != PAMG_DOUBLE));
  const size_t each = H->M.bfloat ? sizeof(PolderBfloat) : size; // of an entry
  const size_t n    = (size_t)H->n;

  PetscFunctionBeginUser;
  *D = (PamgLevel){
    .A               = H->A,
    .n               = H->n,
    .N               = H->N,
    .nc              = H->nc,
    .nz              = H->nz,
    .eigenvalue      = H->eigenvalue,
    .twice           = H->twice,
    .length          = {H->length[0],     H->length[1]         },
    .overcorrection  = H->overcorrection,
    .bound           = H->bound,
    .grid            = H->grid,
    .isgrid          = H->isgrid,
    .singleprecision = (PetscBool)(pamg->precision != PAMG_DOUBLE),
    .M               = { .n = H->n, .nz = (PetscInt)H->nz, .nd = H->M.nd, .main = H->M.main, .off = H->M.off, .bfloat = H->M.bfloat}
  };
  PetscCall(Copy(memory, size * n, H->dinv, &D->dinv));
  D->M.dinv = D->dinv;
  D->M.val  = val;
  for (PetscInt d = 0; d < H->M.nd; ++d) {
    const size_t lo = (size_t)PetscMax(0, -H->M.off[d]), hi = (size_t)(H->n - PetscMax(0, H->M.off[d]));
    char        *to;

    PetscCall(Copy(memory, each * (n + 1), NULL, &to));
    PetscCall(PolderDeviceFromHost(to + each * lo, (const char *)H->M.val[d] + each * lo, each * (hi - lo)));
    val[d] = to;
  }
  if (H->grid.w) PetscCall(Copy(memory, sizeof(*H->grid.w) * n, H->grid.w, &D->grid.w));
  if (!H->M.nd) {
    PetscCall(Copy(memory, sizeof(PetscInt) * (n + 1), H->M.ai, (void *)&D->M.ai));
    PetscCall(Copy(memory, sizeof(PetscInt) * (size_t)H->M.ai[n], H->M.aj, (void *)&D->M.aj));
    PetscCall(Copy(memory, each * (size_t)H->M.ai[n], H->M.aa, (void *)&D->M.aa));
  }
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->b));
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->x));
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->iterate));
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->product));
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->correction));
  if (!last) {
    PetscInt *ptr, *row;

    PetscCall(PetscMalloc2(H->nc + 2, &ptr, H->n, &row));
    PolderMembers_Host(&(PolderAggregates){H->n, H->nc, H->agg, ptr, row, NULL});
    PetscCall(Copy(memory, sizeof(PetscInt) * n, H->agg, &D->agg));
    PetscCall(Copy(memory, sizeof(PetscInt) * (size_t)(H->nc + 2), ptr, &D->ptr));
    PetscCall(Copy(memory, sizeof(PetscInt) * n, row, &D->row));
    PetscCall(PetscFree2(ptr, row));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver of the last level, on the device */
static PetscErrorCode CopyCoarse(const PC_PAMG *pamg, PC_PAMG *device)
{
  const PetscInt    *ai, *aj, n = pamg->level[pamg->nlevel - 1].n;
  Mat                A = pamg->level[pamg->nlevel - 1].A;
  const PetscScalar *aa;
  PetscInt          *gl;
  PetscBool          done, constant = PETSC_FALSE;
  MatNullSpace       nullspace;

  PetscFunctionBeginUser;
  PetscCall(MatGetNullSpace(pamg->level->A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceGetVecs(nullspace, &constant, NULL, NULL));
  PetscCall(PetscMalloc1(n, &gl));
  for (PetscInt i = 0; i < n; ++i) gl[i] = i;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &(PetscInt){0}, &ai, &aj, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &aa));
  PetscCall(PolderCoarseCreate(PETSC_COMM_SELF, &device->coarse));
  PetscCall(PolderCoarseSetInverse(device->coarse));
  PetscCall(PolderCoarseSetDevice(device->coarse, PETSC_TRUE));
  PetscCall(PolderCoarseSetUp(device->coarse, n, n, gl, ai, aj, aa, constant));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &aa));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &(PetscInt){0}, &ai, &aj, &done));
  PetscCall(PetscFree(gl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the cycle of both to r; raises *wrong unless they agree */
static PetscErrorCode CompareApplications(PC pc, PC_PAMG *host, PC_PAMG *device, Vec r, Vec z, Vec rd, Vec zd, PetscInt *wrong)
{
  Vec          copy;
  PetscReal    away, norm;
  MatNullSpace nullspace;

  PetscFunctionBeginUser;
  PetscCall(MatGetNullSpace(pc->pmat, &nullspace));
  pc->data = host;
  PetscCall(PCPAMGApplyHost(pc, r, z));
  PetscCall(VecNorm(z, NORM_2, &norm));
  pc->data = device;
  PetscCall(VecCopy(r, rd));
  PetscCall(VecSet(zd, NAN));
  PetscCall(PCPAMGApplyDevice(pc, rd, zd));
  pc->data = host;
  PetscCall(VecDuplicate(r, &copy));
  PetscCall(VecCopy(zd, copy));
  PetscCall(VecAXPY(copy, -1, z));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, copy)); // about which rounding decides
  PetscCall(VecNorm(copy, NORM_2, &away));
  *wrong += !(away <= (host->precision != PAMG_DOUBLE ? 1e-4 : 1e-11) * norm);
  PetscCall(VecCopy(rd, copy));
  PetscCall(VecAXPY(copy, -1, r));
  PetscCall(VecNorm(copy, NORM_2, &away)); // r is as it was
  *wrong += away != 0;
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts what the device does otherwise than the host: cycles launched step by step, as they are recorded and as they are replayed, also after
   a change; and eigenvalues */
static PetscErrorCode CompareCycles(PC pc, Mat B, Vec r, Vec z, PetscInt *wrong)
{
  PC_PAMG     *host = (PC_PAMG *)pc->data, device = *host;
  const void **val;
  PetscInt     last   = host->nlevel - 1;
  Memory       memory = {{NULL}, 0};
  Vec          rd, zd;

  PetscFunctionBeginUser;
  device.setup       = &PamgSetUpDevice;
  device.place       = &PolderOnDevice;
  device.coarseplace = &PolderOnDevice;
  device.steps       = &PamgStepsDevice;
  PetscCall(PetscMalloc2(host->nlevel, &device.level, host->nlevel * POLDER_LEVEL_DIAGONALS, &val));
  for (PetscInt l = 0; l <= last; ++l)
    PetscCall(CopyLevel(host, &host->level[l], (PetscBool)(l == last), &memory, val + l * POLDER_LEVEL_DIAGONALS, &device.level[l]));
  device.level->A = B;
  if (host->direct) PetscCall(CopyCoarse(host, &device));
  for (int k = 0; k < 2; ++k) PetscCall(Copy(&memory, sizeof(PetscScalar) * (size_t)(host->level[last].n + 1), NULL, &device.coarsebuf[k]));
  PetscCall(VecCreate(PETSC_COMM_SELF, &rd));
  PetscCall(VecSetSizes(rd, host->level->n, host->level->n));
  PetscCall(VecSetType(rd, POLDER_VEC_DEVICE));
  PetscCall(VecDuplicate(rd, &zd));
  for (int k = 0; k < 6; ++k) {
    if (k == 3) { // as a refresh would
      ++device.nrefresh;
      host->damping = device.damping = 0.8 * host->damping;
      for (PetscInt l = 0; l < last; ++l) host->level[l].eigenvalue = device.level[l].eigenvalue = 1.5 * host->level[l].eigenvalue;
    }
    PetscCall(VecScale(r, -0.5));
    PetscCall(CompareApplications(pc, host, &device, r, z, rd, zd, wrong));
    *wrong += (device.replay.whole != NULL) != (k && last && host->direct && host->precision != PAMG_DOUBLE);
    *wrong += (device.replay.coarse != NULL) != (k && last && host->direct && host->precision == PAMG_DOUBLE);
  }
  if (host->smoother == PAMG_CHEBYSHEV) {
    static const PetscReal tol[] = {1e-10, 1e-4, 2.0 / 256}; // the host takes the entries that are not rounded

    pc->data = &device;
    for (PetscInt l = 0; l < last; ++l) device.level[l].eigenvalue = -1;
    PetscCall(PCPAMGEstimateDevice(pc));
    for (PetscInt l = 0; l < last; ++l) *wrong += !(PetscAbsReal(1.5 * device.level[l].eigenvalue - host->level[l].eigenvalue) <= tol[host->precision]);
    pc->data = host;
  }
  PetscCall(PolderDeviceFree(&device.ksum));
  PetscCall(PCPAMGFreeReplay(&device.replay));
  if (host->direct) PetscCall(PolderCoarseDestroy(&device.coarse));
  for (PetscInt k = 0; k < memory.n; ++k) PetscCall(PolderDeviceFree(&memory.all[k]));
  PetscCall(PetscFree2(device.level, val));
  PetscCall(VecDestroy(&rd));
  PetscCall(VecDestroy(&zd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle of the options on the device against that on the host; what: the problem, to name it */
static PetscErrorCode CheckCycle(const char what[], PetscInt n, const char options[], Mat A, Mat B, Vec r, Vec z, PetscInt *wrong)
{
  const PetscInt before = *wrong;
  PetscOptions   db;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&db));
  PetscCall(PetscOptionsInsertString(db, options));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, db));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(CompareCycles(pc, B, r, z, wrong));
  if (*wrong > before) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s %" PetscInt_FMT ", %s: not what the host does\n", what, n, options));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscOptionsDestroy(&db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestCycles(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const struct {
    const char *kind;
    PetscInt    dim, n;
    PetscReal   jump;
    MatType     type;
    const char *options;
  } cases[] = {
    {"poisson",    3, 16, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2"                  },
    {"poisson",    3, 17, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 4 -pc_pamg_passes 3"},
    {"poisson",    2, 40, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_pre 1 -pc_pamg_post 1"                  },
    {"poisson",    2, 63, 1e3, MATAIJDIA,  "-pc_pamg_smoother jacobi -pc_pamg_pre 0 -pc_pamg_post 2"                     },
    {"poisson",    2, 33, 1,   MATAIJICRS, "-pc_pamg_smoother l1jacobi -pc_pamg_pre 2 -pc_pamg_post 1 -pc_pamg_passes 1" },
    {"poisson",    3, 15, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 -pc_pamg_levels 2"},
    {"poisson",    2, 15, 1,   MATAIJDIA,  "-pc_pamg_smoother jacobi -pc_pamg_levels 1"                                  },
    {"poisson",    1, 1,  1,   MATAIJICRS, "-pc_pamg_smoother jacobi"                                                    },
    {"bubbles",    3, 16, 1e3, MATAIJDIA,  "-pc_pamg_smoother jacobi -pc_pamg_pre 3 -pc_pamg_post 3"                     },
    {"tetrahedra", 3, 12, 1e3, MATAIJICRS, "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2"                  },
    {"poisson",    3, 12, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_coarse ksp -pc_pamg_coarse_limit 100"   },
  };
  static const char *const cycles[]     = {"v", "w", "k", "k -pc_pamg_kcycle_threshold 0"};
  static const char *const precisions[] = {"double", "single", "half"};
  PetscInt                 wrong        = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscDLLibraryRegister_polder());
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); ++c) {
    Mat          A, B;
    Vec          r, z;
    MatNullSpace nullspace;

    PetscCall(ProblemCreate(cases[c].kind, cases[c].dim, cases[c].n, cases[c].jump, &A));
    PetscCall(MatConvert(A, cases[c].type, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCreateVecs(A, &r, &z));
    PetscCall(FillRandom(r, 5));
    PetscCall(MatGetNullSpace(A, &nullspace));
    if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, r));
    for (int k = 0; k < 12; ++k) {
      char options[256];

      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type pamg %s -pc_pamg_coarse_limit 50 -pc_pamg_precision %s -pc_pamg_cycle %s", cases[c].options,
                              precisions[k / 4], cycles[k % 4]));
      PetscCall(CheckCycle(cases[c].kind, cases[c].n, options, A, B, r, z, &wrong));
    }
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(Report("cycles", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
