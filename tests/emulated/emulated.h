/* What the emulated launchers share. */
#pragma once

#include "core/device.h"
#include "kernels/cgscalars.h"

/* A launcher that does what its host twin does */
#define PolderEmulate(stem, parameters, ...) \
  int stem##_CUDA parameters \
  { \
    stem##_Host(__VA_ARGS__); \
    return 0; \
  } \
  extern int PolderEmulated

/* Bytes of scratch: none is used, but none would be no array */
#define PolderEmulateWork(stem, parameters) \
  size_t stem##_CUDA parameters \
  { \
    return 8; \
  } \
  extern int PolderEmulated

#pragma GCC diagnostic ignored "-Wunused-parameter"
