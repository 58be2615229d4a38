/* Pairwise-aggregation multigrid: the largest eigenvalues that the smoothers need, by the power method on the device. */
#include "pamgsteps.h"
#include "kernels/level.h"
#include <petsc/private/pcimpl.h>

/* The power method on a distributed level, see PCPAMGEstimate(); x[2] and the sums are scratch */
static PetscErrorCode PamgPowerShared(PamgLevel *L, void *x[2], PetscReal sum[], PetscReal *norm)
{
  PolderStream stream;
  PetscReal    square;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelSeed_CUDA(L->singleprecision, L->n, x[0], stream));
  for (PetscInt k = 0; k <= PAMG_POWER; ++k) {
    PetscCall((*PamgStepsDevice.dots)(L, x[0], x[0], NULL, x[1], sum));
    PetscCall(PolderDeviceToHost(&square, &sum[1], sizeof(square)));
    *norm = PetscSqrtReal(square); // of x
    if (!(*norm > 0) || k == PAMG_POWER) break;
    PolderLaunch(PolderLevelScale_CUDA(L->singleprecision, &L->M, 1 / *norm, x[1], x[0], stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The power method on the levels whose Gershgorin bound is not sharp enough. On return norm[l], on the host, is the norm of the last iterate, computed from one
  of norm 1
*/
static PetscErrorCode PamgPower(PC pc, const PetscReal bound[], PetscReal norm[])
{
  PC_PAMG       *pamg   = (PC_PAMG *)pc->data;
  const PetscInt nlevel = pamg->nlevel - 1, each = PAMG_POWER + 1;
  const size_t   size = pamg->precision != PAMG_DOUBLE ? sizeof(float) : sizeof(PetscScalar), bytes = sizeof(PetscReal) * (size_t)(each * nlevel);
  PetscReal     *there, *host;
  PetscInt       n = 0;
  void          *x[2], *work;
  PolderStream   stream;
  PolderCSR      csr;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PCPAMGBeginDevice(pc, &csr));
  PetscCall(PetscMalloc1(each * nlevel, &host));
  PetscCall(PolderDeviceMalloc(bytes, &there));
  for (PetscInt l = 0; l < nlevel; ++l) n = PetscMax(n, pamg->level[l].n);
  for (int k = 0; k < 2; ++k) PetscCall(PolderDeviceMalloc(size * (size_t)n, &x[k]));
  for (PetscInt l = 0; l < nlevel; ++l) {
    PamgLevel *L     = &pamg->level[l];
    PetscReal *norms = there + l * each;

    if (bound[l] <= PAMG_BOUND) continue;
    if (L->halo) PetscCall(PamgPowerShared(L, x, norms, &norm[l]));
    for (PetscInt k = 0; k < PAMG_POWER && !L->halo; ++k)
      PolderLaunch(PolderLevelPower_CUDA(L->singleprecision, &L->M, k, x[k % 2], x[1 - k % 2], norms, work, stream));
    PetscCall(PetscLogGpuFlops(PAMG_POWER * (2.0 * (PetscLogDouble)L->nz + 4.0 * L->n)));
  }
  PetscCall(PolderDeviceToHost(host, there, bytes));
  for (PetscInt l = 0; l < nlevel; ++l) {
    if (bound[l] > PAMG_BOUND && !pamg->level[l].halo) norm[l] = PetscSqrtReal(host[l * each + PAMG_POWER]);
  }
  for (int k = 0; k < 2; ++k) PetscCall(PolderDeviceFree(&x[k]));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PetscFree(host));
  PetscCall(PCPAMGEndDevice(pc, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGEstimateDevice(PC pc)
{
  PC_PAMG          *pamg   = (PC_PAMG *)pc->data;
  const PetscMPIInt nlevel = (PetscMPIInt)pamg->nlevel - 1;
  PetscReal         bound[PAMG_LEVELS], norm[PAMG_LEVELS] = {0};
  PetscBool         loose = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < nlevel; ++l) bound[l] = pamg->level[l].bound;
  PetscCallAllreduce(MPI_IN_PLACE, bound, nlevel, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)pc));
  for (PetscInt l = 0; l < nlevel; ++l) loose = (PetscBool)(loose || bound[l] > PAMG_BOUND);
  if (loose) PetscCall(PamgPower(pc, bound, norm));
  for (PetscInt l = 0; l < nlevel; ++l) pamg->level[l].eigenvalue = PamgEigenvalue(bound[l], norm[l]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
