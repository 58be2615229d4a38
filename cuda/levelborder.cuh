/* What boxes give across the border of a process, for a kernel of its own and for that of the restriction. */
#pragma once

#include "peers.cuh"
#include "kernels/levelborderrow.h"

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##Double
#include "kernels/levelborderapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single
#include "kernels/levelborderapply.h"

/* What box p of the planes at the border gives, p < n, which goes to the neighbours at once when there are sends */
template <class V>
struct BorderGive {
  PetscInt          n;
  PolderLevelBorder B;
  V                *give;
  PolderSends       sends;

  __device__ __forceinline__ void operator()(const PolderLevelGrid &G, PetscInt p, const V *r) const
  {
    if constexpr (std::is_same_v<V, float>) BorderGiveSingle(&G, &B, p, r, give);
    else BorderGiveDouble(&G, &B, p, r, give);
    for (int s = 0; s < 2; ++s) {
      const V given[1] = {give[s * B.cplane + p]};

      PolderSendRows(sends, s * B.cplane + p, given);
    }
  }
};
