/* runs.cu, and what dia.cu has of it, in plain C */
#include "emulated.h"
#include "kernels/dia.h"
#include "kernels/runs.h"
#include "kernels/vec.h"

/* Row i of line l is step s of a chunk, which has number at */
#define EachRow(r, body) \
  for (PetscInt l = 0; l < (r)->far && l < (r)->m; ++l) \
    for (PetscInt i = l, t = 0; i < (r)->m; i += (r)->far, ++t) { \
      const PetscInt k = t / (r)->chunk, s = t % (r)->chunk, words = ((r)->chunk + 31) / 32, at = k * (r)->far + l; \
      unsigned int  *word = (r)->ends + (size_t)((k * words + s / 32) * (r)->far + l); \
\
      body \
    } \
  (void)stream

int PolderRunsCount_CUDA(const PolderRuns *r, const PetscInt label[], PolderStream stream)
{
  for (PetscInt c = 0; c < PolderRunsChunks(r); ++c) r->first[c] = 0;
  EachRow(r, {
    const PetscBool end = (PetscBool)(i + r->far >= r->m || s + 1 == r->chunk || label[i + r->far] != label[i]);

    if (s % 32 == 0) *word = 0;
    *word |= (unsigned int)end << s % 32;
    r->first[at] += end;
  });
  return 0;
}

int PolderRunsLabel_CUDA(const PolderRuns *r, const PetscInt label[], PetscInt of[], PolderStream stream)
{
  PetscInt run = 0;

  EachRow(r, {
    if (s == 0) run = r->first[at];
    if (*word >> s % 32 & 1) of[run++] = label[i];
  });
  return 0;
}

int PolderRunsSum_CUDA(const PolderRuns *r, const PetscScalar v[], PolderStream stream)
{
  PetscInt    run = 0;
  PetscScalar sum = 0;

  EachRow(r, {
    if (s == 0) run = r->first[at];
    sum += v[i];
    if (*word >> s % 32 & 1) {
      r->sum[run++] = sum;
      sum           = 0;
    }
  });
  return 0;
}

PetscBool PolderDiaRuns_CUDA(const PolderDia *A, PetscInt *far, PetscInt *chunk)
{
  const PetscInt nd = A->nd, c = nd / 2, *off = A->off;

  if (A->m != A->n || (nd != 5 && nd != 7) || off[c] || off[c + 1] != 1 || off[0] != -off[nd - 1]) return PETSC_FALSE;
  *far   = off[nd - 1];
  *chunk = 37; // with a word that is not full
  return PETSC_TRUE;
}

int PolderDiaMultRuns_CUDA(const PolderDia *A, const PetscScalar x[], PetscScalar y[], PetscScalar *dot, const PolderRuns *runs, void *work,
                           PolderStream stream)
{
  PolderDiaMult_Host(A, 1, x, NULL, y);
  *dot = PolderDot_Host(A->m, x, y);
  return PolderRunsSum_CUDA(runs, y, stream);
}
