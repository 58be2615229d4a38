/* The search for a column in a row, on the host and on the device. */
#pragma once

#include "labelrow.h"

/* The first of the entries p .. end - 1 of a row, whose columns ascend, that is not below column j; `end`: there is none */
POLDER_BODY PetscInt PolderRowSeek(const PetscInt col[], PetscInt p, PetscInt end, PetscInt j)
{
  while (p < end) {
    const PetscInt middle = p + (end - p) / 2;

    if (col[middle] < j) p = middle + 1;
    else end = middle;
  }
  return p;
}
