/* Tetrahedra of linear finite elements, some of which are flat, for the tests. */
#pragma once

#include "graphs.h"
#include "pamgproblems.h"

/* Adds to the element stiffness of flat tetrahedra: the four rows of each satisfy one stiff equation */
static inline PetscErrorCode AddFlat(Mat A, PetscInt n, PetscInt count)
{
  static const PetscReal v[2][4] = {
    {1, 1,        -1,       -1      },
    {1, -1.0 / 3, -1.0 / 3, -1.0 / 3}
  };
  const PetscInt     m = n + 1, x[4] = {1, 2, 1 + m, 1 + m * m};
  unsigned long long state = 9;
  PetscInt           start, end;
  PetscInt          *order;
  PetscReal         *at;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(m * m * m, &order, 3 * m * m * m, &at));
  TetrahedraNodes(m, TETRAHEDRA_MOVED, order, at);
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt k = 0; k < count; ++k) {
    const PetscInt  cell = (PetscInt)(Next(&state) * (n - 2)) + m * ((PetscInt)(Next(&state) * n) + m * (PetscInt)(Next(&state) * n));
    const PetscReal c = 1e4 * Weight(4, &state), *w = v[k % 2];

    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const PetscInt row = order[cell + x[a]], col = order[cell + x[b]];

        if (row >= start && row < end) PetscCall(MatSetValue(A, row, col, c * w[a] * w[b], ADD_VALUES));
      }
    }
  }
  PetscCall(PetscFree2(order, at));
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
