/* The state of conjugate gradients on a device: what the steps with two reductions (cgdevice.c) and with one (cgoncedevice.c) share. */
#pragma once

#include "cg.h"
#include "core/peers.h"
#include "mat/dia.h"

/* Where M^-1 is applied */
typedef enum {
  CG_STORED,   /* before the direction; z is stored */
  CG_PARTED,   /* before the direction; the preconditioner keeps z, in parts */
  CG_JOINED,   /* in halves: the second one in the kernel of the direction, in this step */
  CG_DIAGONAL, /* M is a diagonal, or nothing, and z is stored nowhere */
  CG_BATCHED   /* in a kernel that makes many steps */
} CGForm;

struct _n_PolderCGDevice {
  PolderCGState   *state; /* on the device */
  PetscReal       *ring, *devicering;
  void            *work;
  PolderStream     stream;
  PetscInt         n;
  PetscBool        parallel;
  PolderPeers      peers; /* sums without the host; NULL: MPI sums */
  PolderCGKernel   kernel;
  CGForm           form;
  PetscBool        brief;   /* an apply of the preconditioner takes not much longer than an update */
  PetscBool        ready;   /* z and rho are there; with one reduction: z and its sums on this process */
  PetscBool        rounded; /* the last step has stored r where the preconditioner wants it in single precision */
  PetscBool        parted;  /* nobody can apply the preconditioner between z and the direction, so it may keep z */
  PolderCGParts    parts;   /* CG_PARTED: z */
  Vec              dinv;    /* of a diagonal preconditioner; NULL: the identity */
  PetscInt         lag;     /* the host may lag by this many steps */
  PetscInt         batch;   /* steps in one kernel */
  const PolderDia *small;   /* the kernel that makes them is that of small matrices; NULL: that of the preconditioner */
  PetscBool        sent;    /* the kernel of the direction has sent p to the neighbours */
  Vec              p;       /* alpha p of the last step is still missing in the solution */
};

/* Is M a diagonal, so that the updates of r bring rho? */
static inline PetscBool CGDiagonal(PolderCGDevice device)
{
  return (PetscBool)(device->form == CG_DIAGONAL || (device->form == CG_BATCHED && device->small));
}

/* Are sums over the processes steps of their own? Otherwise kernels make them, or there is one process */
static inline PetscBool CGSumsApart(PolderCGDevice device)
{
  return (PetscBool)(device->parallel && !PolderPeersGetView(device->peers));
}

/* sum[0 .. n) over all processes, in device memory */
PETSC_INTERN PetscErrorCode PolderCGDeviceSum(KSP, PetscInt n, PetscScalar sum[]);
/* The state of a cycle that begins, or goes on; no norm is there yet */
PETSC_INTERN PetscErrorCode PolderCGDeviceSetState(PolderCGDevice, const PolderCGState *);
/* The norms of the steps begun, up to those by which the host may lag */
PETSC_INTERN PetscErrorCode PolderCGDeviceCatchUp(KSP);
