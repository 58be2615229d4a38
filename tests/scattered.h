/* Rows whose order has little to do with the graph, so that neighbours are on different processes. */
#pragma once

#include "graphs.h"

typedef enum {
  COLOURS,  /* a grid in the plane, first all its red points, then all black ones */
  SHUFFLED, /* a cube, in random order */
  TREE,     /* a random tree with some loops and weights over two decades, in random order */
  STREAM,   /* convection and diffusion through a square, in random order */
  EXPANDER, /* each row has some neighbours among all others: there are no parts with few couplings between them */
  PARTLY,   /* a cube, of whose rows one in ten is anywhere */
  NSCATTERED
} Scattered;

static const char *const scattered[] = {"red and black", "shuffled", "tree", "stream", "expander", "partly shuffled"};

/* at[i]: the new number of row i */
static inline PetscErrorCode ScatteredNumbers(Scattered problem, PetscInt n, PetscInt N, PetscInt at[])
{
  unsigned long long state = 11;
  PetscInt           last  = -1;

  PetscFunctionBeginUser;
  for (PetscInt i = 0, red = 0; i < N; ++i) {
    const PetscBool isred = (PetscBool)((i % n + i / n) % 2 == 0);

    at[i] = problem != COLOURS ? i : isred ? red : (N + 1) / 2 + i - red;
    red += isred;
  }
  if (problem == COLOURS) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = N - 1; i > 0; --i) {
    const PetscInt j = problem == PARTLY ? last : (PetscInt)(Next(&state) * (PetscReal)(i + 1)), was = at[i];

    if (problem == PARTLY && Next(&state) > 0.1) continue;
    last = i;
    if (j < 0) continue;
    at[i] = at[j];
    at[j] = was;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The edges of a grid of dimension dim with n points in each direction; flow: what convection adds */
static inline PetscErrorCode ScatteredGrid(Mat A, PetscInt dim, PetscInt n, PetscInt N, PetscReal flow, const PetscInt at[])
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = 0; i < N; ++i) {
    for (PetscInt d = 0, stride = 1; d < dim; ++d, stride *= n) {
      for (PetscInt side = -1; side <= 1; side += 2) {
        const PetscInt    c = i / stride % n + side, to[2] = {at[i], c < 0 || c >= n ? -1 : at[i + side * stride]};
        const PetscScalar w = 1 + (side < 0 ? flow : 0), val[2] = {w, -w};

        if (at[i] >= start && at[i] < end) PetscCall(MatSetValues(A, 1, to, 2, to, val, ADD_VALUES));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreateScattered(Scattered problem, PetscReal scale, Mat *A)
{
  const PetscBool    cube = (PetscBool)(problem == SHUFFLED || problem == PARTLY), graph = (PetscBool)(problem == TREE || problem == EXPANDER);
  const PetscInt     n = cube ? 25 : 121, N = graph ? 12000 : cube ? n * n * n : n * n;
  unsigned long long state = 5;
  PetscInt          *at;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(N, &at));
  PetscCall(ScatteredNumbers(problem, n, N, at));
  PetscCall(CreateEmpty(PETSC_DECIDE, N, A));
  if (!graph) PetscCall(ScatteredGrid(*A, cube ? 3 : 2, n, N, problem == STREAM ? 5 : 0, at));
  for (PetscInt i = 1; i < N && graph; ++i) {
    for (PetscInt k = 0; k < (problem == TREE && i % 10 ? 1 : 2); ++k) {
      const PetscReal reach = problem == TREE ? PetscMin(20, i) : i;

      PetscCall(Edge(*A, at[i], at[i - 1 - (PetscInt)(Next(&state) * reach)], Weight(2, &state)));
    }
  }
  if (graph) {
    PetscMPIInt rank;

    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    if (!rank) PetscCall(MatSetValue(*A, at[0], at[0], 1, ADD_VALUES));
  }
  PetscCall(PetscFree(at));
  PetscCall(Assemble(*A));
  PetscCall(MatScale(*A, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
