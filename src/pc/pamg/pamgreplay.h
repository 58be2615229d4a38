/* Pairwise-aggregation multigrid on a device: the recorded launches of its cycle, see pamgreplay.c. */
#pragma once

#include "core/device.h"
#include "kernels/levelmatrix.h"

/* What the launches of a whole cycle depend on beside the levels */
typedef struct {
  const void    *b, *x;
  PolderLevelEnd end;
} PamgEnds;

/* On the device, see pamgreplay.c: the recorded launches of whole cycles, and those of cycles from a coarse level on */
typedef struct {
  PolderDeviceGraph whole, coarse;
  PamgEnds          ends, last;       /* of the recorded whole cycle; of the last cycle, recorded or not */
  PetscInt          from;             /* the first level of the recorded coarse cycle */
  PetscInt          nsetup, made;     /* the numbers of set-ups, and of set-ups and refreshes, when the last cycle ran */
  PetscBool         usecoarse, again; /* of the cycle that runs: its coarse levels are replayed; what it replays was recorded before */
} PamgReplay;
