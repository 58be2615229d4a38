/* Host twin of cuda/messages.cu. */
#include "messages.h"
#include <string.h>

void PolderMessagesPack_Host(const PolderMessages *m, int bytes, const void *x, char *buffer)
{
  for (int k = 0; k < m->n; ++k) {
    char *to = buffer + PolderMessageAt(m->ptr[k], k);

    for (PetscInt i = m->ptr[k]; i < m->ptr[k + 1]; ++i, to += bytes) (void)memcpy(to, (const char *)x + (size_t)bytes * (size_t)m->idx[i], (size_t)bytes);
  }
}

void PolderMessagesUnpack_Host(const PolderMessages *m, int bytes, const char *buffer, void *y)
{
  for (int k = 0; k < m->n; ++k) {
    const char *from = buffer + PolderMessageAt(m->ptr[k], k);

    for (PetscInt i = m->ptr[k]; i < m->ptr[k + 1]; ++i, from += bytes) (void)memcpy((char *)y + (size_t)bytes * (size_t)m->idx[i], from, (size_t)bytes);
  }
}

void PolderMessagesAdd_Host(const PolderMessages *m, int k, const char *buffer, PetscScalar y[])
{
  const PetscScalar *from = (const PetscScalar *)(buffer + PolderMessageAt(m->ptr[k], k));

  for (PetscInt i = m->ptr[k]; i < m->ptr[k + 1]; ++i) y[m->idx[i]] += from[i - m->ptr[k]];
}

void PolderSumParts_Host(int parts, PetscInt n, const PetscScalar part[], PetscScalar sum[])
{
  for (PetscInt i = 0; i < n; ++i) {
    PetscScalar s = 0;

    for (int r = 0; r < parts; ++r) s += part[(size_t)r * (size_t)n + (size_t)i];
    sum[i] = s;
  }
}
