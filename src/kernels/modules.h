/*
  Modules of kernels that most solves on a device use, in the order in which a small one with pamg needs them. A module is one file of cuda/. The driver loads
  it before the first of its kernels, which takes some 150 us and 20 us for each kernel.
*/
#pragma once

#include "launcher.h"

// clang-format off
#define POLDER_MODULES(X) \
  X(DiaFill) X(Vec) X(Places) X(RowSurvey) X(Excess) X(LevelGridHalf) X(LevelGrid) X(LevelRound) X(Coarse) X(CoarseInverse) X(CG) X(LevelHalfSmall5) \
  X(LevelGridCycle2D) X(CGVectors1) X(CGVectors2) X(Dia) X(LevelHalfSmall7) X(LevelGridCycle3D) X(DiaClass) X(LevelHalf7) X(LevelHalf5) X(DiaStencil) \
  X(LevelGridDouble) X(Packed) X(Labels) X(Galerkin) X(Pairs) X(TNS)
// clang-format on

#define POLDER_MODULE_NAME(name)    PolderModule##name,
#define POLDER_MODULE_DECLARE(name) POLDER_LAUNCHER int PolderModule##name(void);
/* Each of these loads its module on the current device, and returns an error of CUDA */
POLDER_MODULES(POLDER_MODULE_DECLARE)
