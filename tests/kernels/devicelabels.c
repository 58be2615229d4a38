static const char help[] = "Labels of the deflation spaces on the device: every kernel against its host twin on awkward graphs, every kind of space against "
                           "the labels of the host.\n\n";

#include "devicelabels/labels.h"
#include "kernels/components.h"
#include "kernels/labels.h"

/* Counts the entries of a device array that are not those of the host */
PetscErrorCode Compare(PetscInt n, const PetscInt host[], const PetscInt device[], PetscInt *wrong)
{
  PetscInt *a;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &a));
  if (n) PetscCall(PolderDeviceToHost(a, device, sizeof(*a) * (size_t)n));
  for (PetscInt i = 0; i < n; ++i) *wrong += a[i] != host[i];
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RandomIndices(PetscInt n, PetscInt least, PetscInt below, PetscInt **host, PetscInt **device)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, host));
  for (PetscInt i = 0; i < n; ++i) (*host)[i] = least + Next(below - least);
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)n, *host, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix on the host and on the device */
typedef struct {
  PetscInt     m, *ai, *aj, *ai_d, *aj_d;
  PetscScalar *aa, *aa_d;
} Graph;

enum {
  WIDTH = 8
};
typedef PetscInt (*RowFunction)(PetscInt i, PetscInt m, PetscInt col[WIDTH]);

static PetscInt RowPath(PetscInt i, PetscInt m, PetscInt col[WIDTH])
{
  PetscInt n = 0;

  if (i) col[n++] = i - 1;
  col[n++] = i;
  if (i + 1 < m) col[n++] = i + 1;
  return n;
}

/* A circle whose neighbours are far apart */
static PetscInt RowCircle(PetscInt i, PetscInt m, PetscInt col[WIDTH])
{
  col[0] = (i + 7919) % m;
  col[1] = (i + m - 7919 % m) % m;
  return 2;
}

/* Teeth of 100 rows on a spine of every hundredth row */
static PetscInt RowComb(PetscInt i, PetscInt m, PetscInt col[WIDTH])
{
  PetscInt n = 0;

  if (i % 100) col[n++] = i - 1;
  if (i % 100 == 0 && i) col[n++] = i - 100;
  if (i % 100 < 99 && i + 1 < m) col[n++] = i + 1;
  return n;
}

static PetscInt RowLone(PetscInt i, PETSC_UNUSED PetscInt m, PetscInt col[WIDTH])
{
  col[0] = i;
  return i % 3 ? 1 : 0;
}

/* Entries on one side only */
static PetscInt RowTree(PetscInt i, PETSC_UNUSED PetscInt m, PetscInt col[WIDTH])
{
  col[0] = i / 2;
  return 1;
}

static PetscInt RowStar(PetscInt i, PetscInt m, PetscInt col[WIDTH])
{
  col[0] = i;
  col[1] = m - 1;
  return 2;
}

static PetscInt RowRandom(PETSC_UNUSED PetscInt i, PetscInt m, PetscInt col[WIDTH])
{
  const PetscInt n = Next(4);

  for (PetscInt k = 0; k < n; ++k) col[k] = Next(m);
  return n;
}

/* A 7-point stencil on lines of 17 points and planes of 13 lines */
static PetscInt RowGrid(PetscInt i, PetscInt m, PetscInt col[WIDTH])
{
  const PetscInt x = i % 17, y = i / 17 % 13;
  PetscInt       n = 0;

  if (i >= 221) col[n++] = i - 221;
  if (y) col[n++] = i - 17;
  if (x) col[n++] = i - 1;
  col[n++] = i;
  if (x < 16 && i + 1 < m) col[n++] = i + 1;
  if (y < 12 && i + 17 < m) col[n++] = i + 17;
  if (i + 221 < m) col[n++] = i + 221;
  return n;
}

/* The same, but lines run on, as in a numbering that is not natural */
static PetscInt RowLines(PetscInt i, PetscInt m, PetscInt col[WIDTH])
{
  PetscInt n = RowPath(i, m, col);

  if (i >= 17) col[n++] = i - 17;
  if (i + 17 < m) col[n++] = i + 17;
  return n;
}

static const struct {
  const char *name;
  RowFunction row;
} Graphs[] = {
  {"path",    RowPath  },
  {"circle",  RowCircle},
  {"comb",    RowComb  },
  {"lone",    RowLone  },
  {"tree",    RowTree  },
  {"star",    RowStar  },
  {"random",  RowRandom},
  {"stencil", RowGrid  },
  {"lines",   RowLines }
};
static const PetscInt Sizes[] = {0, 1, 2, 31, 33, 257, 4199, 100003};

static size_t CountSizes(void)
{
  return PETSC_STATIC_ARRAY_LENGTH(Sizes) - (small ? 2 : 0);
}

static PetscErrorCode GraphCreate(PetscInt m, RowFunction row, Graph *g)
{
  PetscFunctionBeginUser;
  g->m = m;
  PetscCall(PetscMalloc3(m + 1, &g->ai, m * WIDTH, &g->aj, m * WIDTH, &g->aa));
  g->ai[0] = 0;
  for (PetscInt i = 0; i < m; ++i) g->ai[i + 1] = g->ai[i] + row(i, m, g->aj + g->ai[i]);
  for (PetscInt k = 0; k < g->ai[m]; ++k) g->aa[k] = Next(20) ? (Next(2) ? 1 : -1) * PetscPowRealInt(4, (int)Next(4)) : 0;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(m + 1), g->ai, &g->ai_d));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)g->ai[m], g->aj, &g->aj_d));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)g->ai[m], g->aa, &g->aa_d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphDestroy(Graph *g)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(g->ai, g->aj, g->aa));
  PetscCall(PolderDeviceFree(&g->ai_d));
  PetscCall(PolderDeviceFree(&g->aj_d));
  PetscCall(PolderDeviceFree(&g->aa_d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Components by class: all rows, three classes at random (one of them negative), stripes of rows */
static PetscErrorCode TestClasses(const Graph *g, PolderStream stream, PetscInt *wrong)
{
  PetscInt *cls, *cls_d, *comp, *comp_d;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 3; ++kind) {
    PetscCall(RandomIndices(g->m, -9, -5, &comp, &comp_d));
    PetscCall(RandomIndices(g->m, kind == 1 ? -1 : 0, kind == 1 ? 2 : 1, &cls, &cls_d));
    for (PetscInt i = 0; i < g->m && kind == 2; ++i) cls[i] = i / 50 % 3 - 1;
    if (g->m) PetscCall(PolderDeviceFromHost(cls_d, cls, sizeof(*cls) * (size_t)g->m));
    PolderLaunch(PolderLoneRows_CUDA(g->m, g->ai_d, g->aj_d, NULL, cls_d, stream));
    PolderLoneRows_Host(g->m, g->ai, g->aj, NULL, cls);
    PetscCall(Compare(g->m, cls, cls_d, wrong));
    PolderLaunch(PolderComponentsByClass_CUDA(g->m, g->ai_d, g->aj_d, cls_d, comp_d, stream));
    PolderComponentsByClass_Host(g->m, g->ai, g->aj, cls, comp);
    PetscCall(Compare(g->m, comp, comp_d, wrong));
    PetscCall(PolderDeviceFree(&cls_d));
    PetscCall(PolderDeviceFree(&comp_d));
    PetscCall(PetscFree(cls));
    PetscCall(PetscFree(comp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales of rows and components by them, for jumps that join all rows, some and only equal ones */
static PetscErrorCode TestScales(const Graph *g, PolderStream stream, PetscInt *wrong)
{
  const PetscReal jump[] = {1e9, 10, 1};
  PetscScalar    *scale, *scale_d, *copy;
  PetscInt       *comp, *comp_d;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(g->m, &scale));
  PetscCall(PetscMalloc1(g->m, &copy));
  PetscCall(PolderDeviceUpload(sizeof(*scale) * (size_t)g->m, scale, &scale_d));
  PolderLaunch(PolderRowScale_CUDA(g->m, g->ai_d, g->aj_d, g->aa_d, PETSC_TRUE, scale_d, stream));
  PolderRowScale_Host(g->m, g->ai, g->aj, g->aa, PETSC_TRUE, scale);
  if (g->m) PetscCall(PolderDeviceToHost(copy, scale_d, sizeof(*copy) * (size_t)g->m));
  for (PetscInt i = 0; i < g->m; ++i) *wrong += !(copy[i] == scale[i]);
  for (int k = 0; k < 3; ++k) {
    PetscCall(RandomIndices(g->m, -9, -5, &comp, &comp_d));
    PolderLaunch(PolderComponentsByScale_CUDA(g->m, g->ai_d, g->aj_d, g->aa_d, scale_d, jump[k], comp_d, stream));
    PolderComponentsByScale_Host(g->m, g->ai, g->aj, g->aa, scale, jump[k], comp);
    PetscCall(Compare(g->m, comp, comp_d, wrong));
    PetscCall(PolderDeviceFree(&comp_d));
    PetscCall(PetscFree(comp));
  }
  PetscCall(PolderDeviceFree(&scale_d));
  PetscCall(PetscFree(scale));
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Also where the rows are not the first of the matrix */
static PetscErrorCode TestStencil(const Graph *g, PetscInt first, PolderStream stream, PetscInt *wrong)
{
  PetscInt survey[4] = {0, PETSC_MAX_INT, 0, 0}, *survey_d;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceUpload(sizeof(survey), survey, &survey_d));
  PolderLaunch(PolderStencilStrides_CUDA(g->m, g->ai_d, g->aj_d, survey_d, stream));
  PolderLaunch(PolderStencilCheck_CUDA(g->m, first, g->ai_d, g->aj_d, survey_d, survey_d + 3, stream));
  PolderStencilStrides_Host(g->m, g->ai, g->aj, survey);
  PolderStencilCheck_Host(g->m, first, g->ai, g->aj, survey, survey + 3);
  PetscCall(Compare(4, survey, survey_d, wrong));
  PetscCall(PolderDeviceFree(&survey_d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGraphs(PETSC_UNUSED void *work, PolderStream stream)
{
  Graph g;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Graphs); ++k) {
    PetscInt wrong = 0;

    for (size_t s = 0; s < CountSizes(); ++s) {
      PetscCall(GraphCreate(Sizes[s], Graphs[k].row, &g));
      PetscCall(TestClasses(&g, stream, &wrong));
      PetscCall(TestScales(&g, stream, &wrong));
      PetscCall(TestStencil(&g, 0, stream, &wrong));
      PetscCall(TestStencil(&g, 221, stream, &wrong));
      PetscCall(TestStencil(&g, 5, stream, &wrong));
      PetscCall(GraphDestroy(&g));
    }
    PetscCall(Report(Graphs[k].name, wrong));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Classes and labels from values that may not be numbers */
static PetscErrorCode TestValues(PETSC_UNUSED void *work, PolderStream stream)
{
  const PetscScalar odd[] = {NAN, INFINITY, -INFINITY, 3e9, -1.4, -1.6, 0.5, -0.0};
  PetscInt          wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < CountSizes(); ++s) {
    for (int bad = 0; bad < 2; ++bad) {
      const PetscInt m = Sizes[s];
      PetscInt      *a, *a_d, flag[3] = {0, PETSC_MAX_INT, PETSC_MIN_INT}, *flag_d;
      PetscScalar   *v, *v_d;

      PetscCall(RandomIndices(m, -9, -5, &a, &a_d));
      PetscCall(PetscMalloc1(m, &v));
      for (PetscInt i = 0; i < m; ++i) v[i] = Next(4) || !bad ? (Next(2000) - 500) / 7.0 : odd[Next(8)];
      PetscCall(PolderDeviceUpload(sizeof(*v) * (size_t)m, v, &v_d));
      PetscCall(PolderDeviceUpload(sizeof(flag), flag, &flag_d));
      PolderLaunch(PolderLevelSetClass_CUDA(m, v_d, bad ? -1 : 0, a_d, flag_d, stream));
      PolderLevelSetClass_Host(m, v, bad ? -1 : 0, a, flag);
      PetscCall(Compare(m, a, a_d, &wrong));
      PolderLaunch(PolderLabelsRound_CUDA(m, v_d, a_d, stream));
      PolderLabelsRound_Host(m, v, a);
      PetscCall(Compare(m, a, a_d, &wrong));
      PolderLaunch(PolderIndexRange_CUDA(m, a_d, flag_d + 1, stream));
      PolderIndexRange_Host(m, a, flag + 1);
      PetscCall(Compare(3, flag, flag_d, &wrong));
      PolderLaunch(PolderIndexReplace_CUDA(m, a && m ? a[0] : 0, -7, a_d, stream));
      PolderIndexReplace_Host(m, a && m ? a[0] : 0, -7, a);
      PetscCall(Compare(m, a, a_d, &wrong));
      PolderLaunch(PolderIndexFill_CUDA(m, 5, a_d, stream));
      PolderIndexFill_Host(m, 5, a);
      PetscCall(Compare(m, a, a_d, &wrong));
      PetscCall(PolderDeviceFree(&a_d));
      PetscCall(PolderDeviceFree(&v_d));
      PetscCall(PolderDeviceFree(&flag_d));
      PetscCall(PetscFree(a));
      PetscCall(PetscFree(v));
    }
  }
  PetscCall(Report("values", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes and runs, of whole grids and of the piece of a process */
static PetscErrorCode TestBoxes(PETSC_UNUSED void *work, PolderStream stream)
{
  static const struct {
    PetscInt first, m, dof, lo[3], hi[3], n[3], boxes[3];
  } cases[] = {
    {0,    1,       1, {0, 0, 0},  {1, 1, 1},       {1, 1, 1},       {1, 1, 1}    },
    {0,    17,      1, {0, 0, 0},  {17, 1, 1},      {17, 1, 1},      {5, 1, 1}    },
    {0,    35,      1, {0, 0, 0},  {7, 5, 1},       {7, 5, 1},       {7, 2, 1}    },
    {0,    24000,   1, {0, 0, 0},  {20, 30, 40},    {20, 30, 40},    {3, 7, 11}   },
    {1234, 20001,   1, {0, 0, 0},  {20, 30, 40},    {20, 30, 40},    {20, 30, 40} },
    {77,   5000,    3, {0, 0, 0},  {13, 11, 17},    {13, 11, 17},    {4, 3, 2}    },
    {0,    2 * 720, 2, {5, 10, 3}, {15, 18, 12},    {20, 30, 40},    {3, 7, 11}   },
    {0,    100,     1, {0, 0, 0},  {100000, 1, 1},  {100000, 1, 1},  {50000, 1, 1}},
    {0,    1 << 20, 1, {0, 0, 0},  {128, 128, 128}, {128, 128, 128}, {9, 9, 9}    }
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) {
    const PetscInt   m = cases[k].m, dof = cases[k].dof;
    const PetscInt64 points = (PetscInt64)cases[k].n[0] * cases[k].n[1] * cases[k].n[2];
    PolderGridPart   grid   = {.first = cases[k].first, .dof = dof};
    PetscInt        *part, *part_d;

    for (int x = 0; x < 3; ++x) {
      grid.lo[x] = cases[k].lo[x];
      grid.hi[x] = cases[k].hi[x];
      grid.n[x]  = cases[k].n[x];
    }
    PetscCall(RandomIndices(m, -9, -5, &part, &part_d));
    PolderLaunch(PolderGridBoxes_CUDA(m, &grid, cases[k].boxes, part_d, stream));
    PolderGridBoxes_Host(m, &grid, cases[k].boxes, part);
    PetscCall(Compare(m, part, part_d, &wrong));
    for (PetscInt i = 0; i < m; i += 97) { /* the definition */
      const PetscInt row = cases[k].first + i, point = row / dof, *lo = cases[k].lo, *hi = cases[k].hi, *n = cases[k].n, *b = cases[k].boxes;
      const PetscInt x = lo[0] + point % (hi[0] - lo[0]), y = lo[1] + point / (hi[0] - lo[0]) % (hi[1] - lo[1]),
                     z = lo[2] + point / (hi[0] - lo[0]) / (hi[1] - lo[1]);

      wrong += part[i] != ((PetscInt)((PetscInt64)x * b[0] / n[0]) + b[0] * (y * b[1] / n[1] + b[1] * (z * b[2] / n[2]))) * dof + row % dof;
    }
    PolderLaunch(PolderGridRuns_CUDA(m, dof, points, 1 + (PetscInt)(points / 3), part_d, stream));
    PolderGridRuns_Host(m, dof, points, 1 + (PetscInt)(points / 3), part);
    PetscCall(Compare(m, part, part_d, &wrong));
    PetscCall(PolderDeviceFree(&part_d));
    PetscCall(PetscFree(part));
  }
  PetscCall(Report("boxes", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs of a part and a component, either of which may be lacking (NULL), in host and device memory; label: of their rows */
typedef struct {
  PetscInt m, npart, ncomp, *part, *comp, *label, *part_d, *comp_d, *label_d;
} Pairs;

/* The numbers of the pairs that occur, by a table */
static PetscErrorCode TestTable(const Pairs *p, PetscInt *number, PetscInt *number_d, PolderStream stream, PetscInt *wrong)
{
  const PetscInt pairs = p->npart * p->ncomp;
  const size_t   bytes = PolderWorkSize(PolderKeysScanWork_CUDA(pairs + 1));
  void          *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderKeysMark_CUDA(p->m, p->part_d, p->ncomp, p->comp_d, number_d, stream));
  PolderKeysMark_Host(p->m, p->part, p->ncomp, p->comp, number);
  PetscCall(Compare(pairs + 1, number, number_d, wrong));
  PolderLaunch(PolderKeysScan_CUDA(pairs + 1, number_d, work, bytes, stream));
  PolderKeysScan_Host(pairs + 1, number);
  PetscCall(Compare(pairs + 1, number, number_d, wrong));
  PolderLaunch(PolderKeysLabel_CUDA(p->m, p->part_d, p->ncomp, p->comp_d, number_d, p->label_d, stream));
  PolderKeysLabel_Host(p->m, p->part, p->ncomp, p->comp, number, p->label);
  PetscCall(Compare(p->m, p->label, p->label_d, wrong));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes of n regions, and which rows are of tiny ones */
static PetscErrorCode TestSizes(const Pairs *p, PetscInt n, PetscInt comp[], PetscInt comp_d[], PolderStream stream, PetscInt *wrong)
{
  PetscInt *count, *count_d, summary[2] = {7, 7}, *summary_d;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceUpload(sizeof(summary), summary, &summary_d));
  PetscCall(PetscCalloc1(n, &count));
  PetscCall(PolderDeviceUpload(sizeof(*count) * (size_t)n, count, &count_d));
  PolderLaunch(PolderRegionSizes_CUDA(p->m, p->label_d, count_d, stream));
  PolderRegionSizes_Host(p->m, p->label, count);
  PetscCall(Compare(n, count, count_d, wrong));
  PolderLaunch(PolderRegionSummary_CUDA(n, count_d, 8, summary_d, stream));
  PolderRegionSummary_Host(n, count, 8, summary);
  PetscCall(Compare(2, summary, summary_d, wrong));
  PolderLaunch(PolderRegionsMarkTiny_CUDA(p->m, p->label_d, count_d, 8, comp_d, stream));
  PolderRegionsMarkTiny_Host(p->m, p->label, count, 8, comp);
  PetscCall(Compare(p->m, comp, comp_d, wrong));
  PetscCall(PolderDeviceFree(&count_d));
  PetscCall(PolderDeviceFree(&summary_d));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of the pairs that occur, by sorting */
static PetscErrorCode TestSorted(const Pairs *p, PolderStream stream, PetscInt *wrong)
{
  const PolderPairs here = {p->npart, p->part, p->ncomp, p->comp}, there = {p->npart, p->part_d, p->ncomp, p->comp_d};
  const size_t      bytes = PolderWorkSize(PolderKeysSortWork_CUDA(p->m));
  PetscInt          d[2]  = {0, 0}, *d_d;
  PetscInt64       *key, *sorted, *key_d, *sorted_d;
  void             *work;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(p->m, &key, p->m, &sorted));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)p->m, &key_d));
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)p->m, &sorted_d));
  PetscCall(PolderDeviceUpload(sizeof(d), d, &d_d));
  PolderLaunch(PolderKeysSort_CUDA(p->m, there, key_d, sorted_d, d_d, work, bytes, stream));
  PolderLaunch(PolderKeysFind_CUDA(p->m, there, sorted_d, d_d, p->label_d, d_d + 1, stream));
  PolderKeysSort_Host(p->m, here, key, sorted, d);
  PolderKeysFind_Host(p->m, here, sorted, d, p->label, d + 1);
  PetscCall(Compare(2, d, d_d, wrong));
  PetscCall(Compare(p->m, p->label, p->label_d, wrong));
  PetscCall(PolderDeviceFree(&key_d));
  PetscCall(PolderDeviceFree(&sorted_d));
  PetscCall(PolderDeviceFree(&d_d));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PetscFree2(key, sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same numbers by a table and by sorting, on host and device, and the sizes of what was numbered */
static PetscErrorCode TestNumbers(PetscInt m, PetscInt npart, PetscInt ncomp, PetscBool withpart, PetscBool withcomp, PolderStream stream, PetscInt *wrong)
{
  const PetscInt pairs = npart * ncomp;
  PetscInt      *part, *comp, *number, *part_d, *comp_d, *number_d;
  Pairs          p = {.m = m, .npart = npart, .ncomp = ncomp};

  PetscFunctionBeginUser;
  PetscCall(RandomIndices(m, -2, npart, &part, &part_d));
  PetscCall(RandomIndices(m, -2, ncomp, &comp, &comp_d));
  PetscCall(RandomIndices(m, -9, -5, &p.label, &p.label_d));
  PetscCall(PetscCalloc1(pairs + 1, &number));
  PetscCall(PolderDeviceUpload(sizeof(*number) * (size_t)(pairs + 1), number, &number_d));
  p.part   = withpart ? part : NULL;
  p.part_d = withpart ? part_d : NULL;
  p.comp   = withcomp ? comp : NULL;
  p.comp_d = withcomp ? comp_d : NULL;
  PetscCall(TestTable(&p, number, number_d, stream, wrong));
  PetscCall(TestSizes(&p, number[pairs], comp, comp_d, stream, wrong));
  if (m) PetscCall(TestSorted(&p, stream, wrong)); // of other numbers: comp has changed
  PetscCall(PolderDeviceFree(&part_d));
  PetscCall(PolderDeviceFree(&comp_d));
  PetscCall(PolderDeviceFree(&p.label_d));
  PetscCall(PolderDeviceFree(&number_d));
  PetscCall(PetscFree(part));
  PetscCall(PetscFree(comp));
  PetscCall(PetscFree(p.label));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAllNumbers(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt bounds[][2] = {
    {1,    1   },
    {1,    4000},
    {700,  1   },
    {4,    3   },
    {1000, 90  }
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < CountSizes(); ++s) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bounds); ++k) {
      for (int with = 0; with < 4; ++with)
        PetscCall(TestNumbers(Sizes[s], bounds[k][0], bounds[k][1], (PetscBool)(with & 1), (PetscBool)(with >> 1), stream, &wrong));
    }
  }
  PetscCall(Report("numbers", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestGraphs, TestValues, TestBoxes, TestAllNumbers, TestBlocks, TestSpaces, TestLeft}
};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck
    suffix: small
    requires: cuda
    args: -small
    output_file: output/devicelabels_1.out

TEST*/
