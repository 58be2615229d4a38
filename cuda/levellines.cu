/* Interpolation along lines between aggregates of pairs, one thread a row or an aggregate. */
#include "count.cuh"
#include "foreach.cuh"
#include "kernels/levellinesrow.h"

int PolderLevelLinesSurvey_CUDA(const PolderRows *rows, const PetscReal excess[], PetscInt strong[], PetscInt count[], PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderCountBits<POLDER_LINES_COUNTS>(A.n, count, stream, [=] __device__(PetscInt i) { return PolderLineLook(i, &A, excess, strong + 2 * (size_t)i); });
}

int PolderLevelLinesCount_CUDA(PetscInt n, const PetscInt strong[], PetscInt count[], PolderStream stream)
{
  return PolderCountBits<1>(n, count, stream, [=] __device__(PetscInt i) { return PolderLineHas(i, strong); });
}

int PolderLevelLinesInner_CUDA(const PolderAggregates *aggregates, const PolderRows *rows, const PolderLineRule *rule, PolderStream stream)
{
  const PolderAggregates P     = *aggregates;
  const PolderRows       A     = *rows;
  PetscReal             *inner = rule->inner;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) { inner[i] = PolderLineInner(i, &P, &A); });
}

int PolderLevelLinesSingle_CUDA(const PolderLevelLines *lines, const PolderAggregates *aggregates, const PolderRows *rows, PetscInt[], PolderStream stream)
{
  const PolderAggregates P      = *aggregates;
  const PolderRows       A      = *rows;
  unsigned              *single = lines->single;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) { single[i] = PolderLineSingles(i, &P, &A); });
}

int PolderLevelLinesRows_CUDA(const PolderLevelLines *lines, const PolderAggregates *aggregates, const PolderRows *rows, const PolderLineRule *rule,
                              PolderStream stream)
{
  const PolderLevelLines L = *lines;
  const PolderAggregates P = *aggregates;
  const PolderRows       A = *rows;
  const PolderLineRule   R = *rule;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) { PolderLineRow(i, &L, &P, &A, &R); });
}

template <class V>
static int LinesRestrictLaunch(const PolderLevelLines *lines, const V *r, V *bc, PolderStream stream)
{
  const PolderLevelLines L = *lines;

  return PolderForEach(L.nc + 1, stream, [=] __device__(PetscInt a) {
    V sum = 0;

    for (PetscInt k = L.ptr[a]; a < L.nc && k < L.ptr[a + 1]; ++k) sum += (1 - (V)L.weight[L.row[k]]) * r[L.row[k]];
    for (PetscInt k = L.tptr[a]; a < L.nc && k < L.tptr[a + 1]; ++k) sum += (V)L.weight[L.trow[k]] * r[L.trow[k]];
    bc[a] = sum;
  });
}

int PolderLevelLinesRestrict_CUDA(PetscBool single, const PolderLevelLines *L, const void *r, void *bc, PolderStream stream)
{
  return single ? LinesRestrictLaunch(L, (const float *)r, (float *)bc, stream) : LinesRestrictLaunch(L, (const PetscScalar *)r, (PetscScalar *)bc, stream);
}

template <class V>
static int LinesProlongLaunch(const PolderLevelLines *lines, const V *xc, V *x, PolderStream stream)
{
  const PolderLevelLines L = *lines;

  return PolderForEach(L.n, stream, [=] __device__(PetscInt i) {
    const PetscInt a = L.agg[i], b = L.beside[i];

    if (a < L.nc) x[i] += b < L.nc ? xc[a] + (V)L.weight[i] * (xc[b] - xc[a]) : xc[a];
  });
}

int PolderLevelLinesProlong_CUDA(PetscBool single, const PolderLevelLines *L, const void *xc, void *x, PolderStream stream)
{
  return single ? LinesProlongLaunch(L, (const float *)xc, (float *)x, stream) : LinesProlongLaunch(L, (const PetscScalar *)xc, (PetscScalar *)x, stream);
}
