/* Host kernels for the vector updates of a step of conjugate gradients. */
#include "cg.h"
#include "vec.h"

/* Rows that go through several loops while they are in the first-level cache */
#define CG_ROWS 512

PetscReal PolderCGUpdate_Host(PetscInt n, PetscScalar alpha, const PetscScalar *restrict p, const PetscScalar *restrict w, PetscScalar *restrict x,
                              PetscScalar *restrict r)
{
  enum {
    LANES = 8
  };
  PetscReal sum[LANES] = {0}, total = 0;
  PetscInt  i;

  for (i = 0; i + LANES <= n; i += LANES) {
    for (int l = 0; l < LANES; ++l) {
      x[i + l] += alpha * p[i + l];
      r[i + l] -= alpha * w[i + l];
      sum[l] += r[i + l] * r[i + l];
    }
  }
  for (int l = 0; l < LANES; ++l) total += sum[l];
  for (; i < n; ++i) {
    x[i] += alpha * p[i];
    r[i] -= alpha * w[i];
    total += r[i] * r[i];
  }
  return total;
}

PetscReal PolderCGResidual_Host(PetscInt n, PetscScalar alpha, const PetscScalar *restrict w, PetscScalar *restrict r, const PolderCGRounded *rounded)
{
  PetscReal total = 0;

  for (PetscInt r0 = 0; r0 < n; r0 += CG_ROWS) {
    const PetscInt end = PetscMin(n, r0 + CG_ROWS);

    for (PetscInt i = r0; i < end; ++i) r[i] -= alpha * w[i];
    for (PetscInt i = r0; i < end && rounded->to; ++i) rounded->to[i] = (float)(rounded->scale * r[i]);
    total += PolderDot_Host(end - r0, r + r0, r + r0);
  }
  return total;
}

/* v[0 .. n) <- z from row r0 on */
static inline void CGWiden(const PolderCGParts *z, PetscInt r0, PetscInt n, PetscScalar *restrict v)
{
  const PetscScalar unit = z->unit;

  if (z->correction) {
    for (PetscInt i = 0; i < n; ++i) v[i] = unit * ((PetscScalar)z->base[r0 + i] + z->correction[r0 + i]);
  } else {
    for (PetscInt i = 0; i < n; ++i) v[i] = unit * z->base[r0 + i];
  }
}

static PetscScalar CGSum(PetscInt n, const PetscScalar x[])
{
  enum {
    LANES = 32
  };
  PetscScalar sum[LANES] = {0}, total = 0;
  PetscInt    i;

  for (i = 0; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; ++l) sum[l] += x[i + l];
  for (int l = 0; l < LANES; ++l) total += sum[l];
  for (; i < n; ++i) total += x[i];
  return total;
}

void PolderCGPartsDot_Host(PetscInt n, const PetscScalar r[], const PolderCGParts *z, PetscScalar sum[3])
{
  PetscScalar v[CG_ROWS];

  sum[0] = sum[1] = sum[2] = 0;
  for (PetscInt r0 = 0; r0 < n; r0 += CG_ROWS) {
    const PetscInt len = PetscMin(CG_ROWS, n - r0);

    CGWiden(z, r0, len, v);
    sum[0] += PolderDot_Host(len, r + r0, v);
    sum[1] += CGSum(len, v);
    sum[2] += CGSum(len, r + r0);
  }
}

void PolderCGPartsDirection_Host(PetscInt n, PetscBool first, PetscScalar alpha, PetscScalar beta, PetscScalar mean, const PolderCGParts *z,
                                 PetscScalar *restrict p, PetscScalar *restrict x)
{
  PetscScalar v[CG_ROWS];

  for (PetscInt r0 = 0; r0 < n; r0 += CG_ROWS) {
    const PetscInt len = PetscMin(CG_ROWS, n - r0);

    CGWiden(z, r0, len, v);
    if (first) {
      for (PetscInt i = 0; i < len; ++i) p[r0 + i] = v[i] - mean;
    } else {
      for (PetscInt i = 0; i < len; ++i) {
        x[r0 + i] += alpha * p[r0 + i];
        p[r0 + i] = v[i] - mean + beta * p[r0 + i];
      }
    }
  }
}
