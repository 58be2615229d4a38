/* Messages that a library carries between devices, and sums of parts. */
#include "foreach.cuh"
#include "kernels/messages.h"

/* Number of blocks for the values of one message */
#define POLDER_MESSAGE_BLOCKS 64

/* what(index in the vector, position in the message, start of the message) for each value of messages first, first + 1, ...; blockIdx.y counts them */
template <class What>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderMessagesKernel(const __grid_constant__ PolderMessages m, int first, const __grid_constant__ What what)
{
  const int      k     = first + (int)blockIdx.y;
  const PetscInt begin = m.ptr[k], n = m.ptr[k + 1] - begin;
  const size_t   at = PolderMessageAt(begin, k);

  for (PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); i < n; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) what(m.idx[begin + i], i, at);
}

template <class What>
static int PolderMessagesLaunch(const PolderMessages *m, int first, int count, PolderStream stream, What what)
{
  const unsigned int blocks = PolderBlocks(m->most, POLDER_BLOCK);

  if (blocks && count > 0)
    PolderMessagesKernel<<<dim3(blocks < POLDER_MESSAGE_BLOCKS ? blocks : POLDER_MESSAGE_BLOCKS, (unsigned int)count), POLDER_BLOCK, 0, stream>>>(*m, first,
                                                                                                                                                  what);
  return cudaGetLastError();
}

template <class Value>
static int PolderMessagesPackOf(const PolderMessages *m, const Value *x, char *buffer, PolderStream stream)
{
  return PolderMessagesLaunch(m, 0, m->n, stream, [=] __device__(PetscInt index, PetscInt i, size_t at) { ((Value *)(buffer + at))[i] = x[index]; });
}

template <class Value>
static int PolderMessagesUnpackOf(const PolderMessages *m, const char *buffer, Value *y, PolderStream stream)
{
  return PolderMessagesLaunch(m, 0, m->n, stream, [=] __device__(PetscInt index, PetscInt i, size_t at) { y[index] = ((const Value *)(buffer + at))[i]; });
}

int PolderMessagesPack_CUDA(const PolderMessages *m, int bytes, const void *x, char *buffer, PolderStream stream)
{
  if (bytes == 8) return PolderMessagesPackOf(m, (const uint64_t *)x, buffer, stream);
  return PolderMessagesPackOf(m, (const uint32_t *)x, buffer, stream);
}

int PolderMessagesUnpack_CUDA(const PolderMessages *m, int bytes, const char *buffer, void *y, PolderStream stream)
{
  if (bytes == 8) return PolderMessagesUnpackOf(m, buffer, (uint64_t *)y, stream);
  return PolderMessagesUnpackOf(m, buffer, (uint32_t *)y, stream);
}

int PolderMessagesAdd_CUDA(const PolderMessages *m, int k, const char *buffer, PetscScalar y[], PolderStream stream)
{
  return PolderMessagesLaunch(m, k, 1, stream, [=] __device__(PetscInt index, PetscInt i, size_t at) { y[index] += ((const PetscScalar *)(buffer + at))[i]; });
}

int PolderSumParts_CUDA(int parts, PetscInt n, const PetscScalar part[], PetscScalar sum[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    PetscScalar s = 0;

    for (int r = 0; r < parts; ++r) s += part[(size_t)r * (size_t)n + (size_t)i];
    sum[i] = s;
  });
}
