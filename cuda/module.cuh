/* A file of kernels that can be loaded before the first of them is used. */
#pragma once

#include "kernels/modules.h"

static __global__ void PolderModuleKernel(void) { }

/* The device loads the module of a kernel that is asked for */
#define POLDER_MODULE(name) \
  int PolderModule##name(void) \
  { \
    cudaFuncAttributes attributes; \
\
    return cudaFuncGetAttributes(&attributes, PolderModuleKernel); \
  }
