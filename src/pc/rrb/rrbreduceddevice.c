/* The system of PC rrb without its black nodes, on the device. */
#include "rrbimpl.h"
#include "core/device.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode PCRRBReducedOnDevice_Private(PC pc, Vec v, PetscBool *on)
{
  const RRBDevice *d = &((PC_RRB *)pc->data)->device;

  PetscFunctionBegin;
  *on = PETSC_FALSE;
  if (d->valid && d->reduced) PetscCall(PolderVecOnDevice(v, on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor of the first grid in double precision */
static const PetscScalar *RRBDeviceFirst(const RRBDevice *d)
{
  return d->first ? d->first : (const PetscScalar *)d->step[0].c;
}

PetscErrorCode PCRRBReduceDevice_Private(PC pc, Vec b, Vec r, PetscBool *done)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *ba;
  PetscScalar       *ra;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(PCRRBReducedOnDevice_Private(pc, b, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderVecGetDeviceRead(b, &ba));
  PetscCall(PolderVecGetDeviceWrite(r, &ra));
  PolderLaunch(PolderRRBReduce_CUDA(&rrb->device.step[0].g, RRBDeviceFirst(&rrb->device), ba, rrb->nx, ra, stream));
  PetscCall(PolderVecRestoreDeviceWrite(r, &ra));
  PetscCall(PolderVecRestoreDeviceRead(b, &ba));
  PetscCall(PetscLogGpuFlops(4.0 * rrb->nx * rrb->ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBExpandDevice_Private(PC pc, Vec b, Vec r, Vec x, PetscBool *done)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *ba, *ra;
  PetscScalar       *xa;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(PCRRBReducedOnDevice_Private(pc, r, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderVecGetDeviceRead(b, &ba));
  PetscCall(PolderVecGetDeviceRead(r, &ra));
  PetscCall(PolderVecGetDeviceWrite(x, &xa));
  PolderLaunch(PolderRRBExpand_CUDA(&rrb->device.step[0].g, RRBDeviceFirst(&rrb->device), ba, ra, xa, rrb->nx, stream));
  PetscCall(PolderVecRestoreDeviceWrite(x, &xa));
  PetscCall(PolderVecRestoreDeviceRead(r, &ra));
  PetscCall(PolderVecRestoreDeviceRead(b, &ba));
  PetscCall(PetscLogGpuFlops(4.5 * rrb->nx * rrb->ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBPickDevice_Private(PC pc, Vec x, Vec r, PetscBool *done)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *xa;
  PetscScalar       *ra;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(PCRRBReducedOnDevice_Private(pc, x, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PolderVecGetDeviceWrite(r, &ra));
  PolderLaunch(PolderRRBPick_CUDA(&rrb->device.step[0].g, xa, rrb->nx, ra, stream));
  PetscCall(PolderVecRestoreDeviceWrite(r, &ra));
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedMultDevice_Private(PC pc, Vec x, Vec y, PetscScalar *dot, PetscBool *done)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *xa;
  PetscScalar       *ya;
  PolderStream       stream;
  void              *work;

  PetscFunctionBegin;
  PetscCall(PCRRBReducedOnDevice_Private(pc, x, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PolderVecGetDeviceWrite(y, &ya));
  PetscCall(PetscLogGpuTimeBegin());
  PolderLaunch(PolderRRBReducedMult_CUDA(&rrb->device.step[0].g, rrb->device.reduced, xa, ya, dot, work, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceWrite(y, &ya));
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscCall(PetscLogGpuFlops((dot ? 9.5 : 8.5) * rrb->nx * rrb->ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedApplyDevice_Private(PC pc, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done)
{
  const RRBDevice   *d = &((PC_RRB *)pc->data)->device;
  const PetscScalar *ra;
  PetscScalar       *za;

  PetscFunctionBegin;
  PetscCall(PCRRBReducedOnDevice_Private(pc, r, done));
  if (rho && *done && d->step[0].half) *done = PETSC_FALSE; // one product with the inverse
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderVecGetDeviceRead(r, &ra));
  PetscCall(PolderVecGetDeviceWrite(z, &za));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(PCRRBApplyReducedDevice_Private(pc, ra, za, rho));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceWrite(z, &za));
  PetscCall(PolderVecRestoreDeviceRead(r, &ra));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedManySteps_Private(PC pc, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done)
{
  const PC_RRB    *rrb = (PC_RRB *)pc->data;
  const RRBDevice *d   = &rrb->device;
  const PetscInt   n   = (rrb->nx * rrb->ny + 1) / 2;
  PolderRRBSystem  system;
  PetscScalar     *x, *r, *z, *p, *w;
  PolderStream     stream;
  void            *work;

  PetscFunctionBegin;
  *done = (PetscBool)(d->valid && d->reduced && !d->step[0].half && d->ngrid <= POLDER_RRB_SMALL_GRIDS && n <= (PetscInt)PolderWorkSize(PolderRRBCGMost_CUDA()));
  if (!*done || !count) PetscFunctionReturn(PETSC_SUCCESS);
  system = (PolderRRBSystem){.single = d->single, .ngrid = d->ngrid, .step = d->step, .n = d->n, .ld = d->ld, .inverse = d->inverse, .b = d->b, .x = d->x, .S = d->reduced};
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderVecGetDeviceArray(v[0], &x));
  PetscCall(PolderVecGetDeviceArray(v[1], &r));
  PetscCall(PolderVecGetDeviceArray(v[2], &z));
  PetscCall(PolderVecGetDeviceArray(v[3], &p));
  PetscCall(PolderVecGetDeviceWrite(v[4], &w));
  PetscCall(PetscLogGpuTimeBegin());
  PolderLaunch(PolderRRBCG_CUDA(&system, prepare, first, count, x, r, z, p, w, state, work, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceWrite(v[4], &w));
  PetscCall(PolderVecRestoreDeviceArray(v[3], &p));
  PetscCall(PolderVecRestoreDeviceArray(v[2], &z));
  PetscCall(PolderVecRestoreDeviceArray(v[1], &r));
  PetscCall(PolderVecRestoreDeviceArray(v[0], &x));
  PetscCall(PetscLogGpuFlops(count * (rrb->flops + 10.0 * rrb->nx * rrb->ny)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
