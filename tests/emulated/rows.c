/* fsai.cu, ip.cu, rowcheck.cu and sweep.cu by their host twins */
#include "emulated.h"
#include "kernels/fsai.h"
#include "kernels/ip.h"
#include "kernels/rowcheck.h"
#include "kernels/sweep.h"

PolderEmulate(PolderSweepWidths, (const PolderSweep *S, const PolderSweepEntries *E, PetscInt width[], PetscInt *entries, PolderStream stream), S, E, width,
              entries);
PolderEmulate(PolderSweepPattern, (const PolderSweep *S, const PolderSweepEntries *E, PolderStream stream), S, E);
PolderEmulate(PolderSweepValues, (const PolderSweep *S, PolderRows own, PolderRows ghosts, PolderStream stream), S, own, ghosts);
PolderEmulate(PolderSweepFactor, (const PolderSweep *S, PetscInt first, PetscInt last, PetscInt eliminate, PetscReal omega, PetscInt *bad, PolderStream stream),
              S, first, last, eliminate, omega, bad);
PolderEmulate(PolderSweepForward, (const PolderSweep *S, PetscInt first, PetscInt last, const PetscScalar r[], PetscScalar x[], PolderStream stream), S, first,
              last, r, x);
PolderEmulate(PolderSweepBackward, (const PolderSweep *S, PetscInt first, PetscInt last, PetscScalar x[], PetscScalar z[], PolderStream stream), S, first, last,
              x, z);
PolderEmulate(PolderRowsCheck, (const PolderRows *A, const PolderRows *B, PetscInt64 *bad, PolderStream stream), A, B, bad);
PolderEmulate(PolderIpRows, (const PolderIp *P, PolderRows rows, PolderRows ghosts, const PetscScalar d[], PetscScalar val[], PolderStream stream), P, rows,
              ghosts, d, val);

int PolderFsaiRows_CUDA(const PolderFsai *F, PetscInt threads, PetscScalar work[], PetscScalar val[], PetscInt *bad, PolderStream stream)
{
  for (PetscInt i = 0; i < F->n; ++i) { // one row at a time, as a thread
    if (!PolderFsaiRow(F, i, 1, work, val + F->gi[i])) *bad = PetscMin(*bad, i);
  }
  return 0;
}
