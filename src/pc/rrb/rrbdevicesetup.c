/*
  PC rrb on the device: the set-up. The sweeps over each large grid take one kernel; all smaller grids and the rest share one kernel. The rest, a few hundred
  unknowns, is solved by its dense inverse. Only its rows are copied to the host, which looks for its singular parts. If more half levels are requested than
  such a rest needs, the additional ones are not swept over: they are combined with their rest in one dense matrix.
*/
#include "rrbimpl.h"
#include "core/refusal.h"
#include "core/device.h"
#include "mat/dia.h"
#include "kernels/coarse.h"
#include <petsc/private/pcimpl.h>

/* Number of unknowns of the rest up to which an inverse pays off, and the maximum for which one is computed */
#define RRB_REST      POLDER_RRB_TAIL
#define RRB_REST_MOST 4096

static PetscErrorCode RRBDeviceFreeTemp(RRBDevice *d)
{
  PetscFunctionBegin;
  for (int k = 0; k < RRB_NTEMP; ++k) PetscCall(PolderDeviceFree(&d->temp[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFreeDevice(RRBDevice *d)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < d->nfactor; ++k) {
    PetscCall(PolderDeviceFree(&d->step[k].c));
    if (d->twice[k].a) d->step[k].r = d->step[k].x = NULL;
    PetscCall(PolderDeviceFree(&d->twice[k].a));
    if (!k) continue;
    PetscCall(PolderDeviceFree(&d->step[k].r));
    PetscCall(PolderDeviceFree(&d->step[k].x));
  }
  PetscCall(PetscFree(d->step));
  PetscCall(PetscFree(d->twice));
  PetscCall(PolderDeviceFree(&d->inverse));
  PetscCall(PolderDeviceFree(&d->b));
  PetscCall(PolderDeviceFree(&d->x));
  PetscCall(PolderDeviceFree(&d->rows));
  PetscCall(PolderDeviceFree(&d->reduced));
  PetscCall(PolderDeviceFree(&d->first));
  PetscCall(RRBDeviceFreeTemp(d));
  *d = (RRBDevice){.levels = PETSC_DECIDE};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RRBDeviceMallocZero(size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(bytes, ptr));
  PetscCall(PolderDeviceZero(*(void **)ptr, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As on the host, but lines begin at multiples of 128 bytes */
static PolderRRBGrid RRBDeviceGrid(PetscInt nx, PetscInt ny)
{
  enum {
    ALIGN = 16
  };
  PolderRRBGrid g = {.nx = nx, .ny = ny, .hx = (nx + 1) / 2, .hy = (ny + 1) / 2};

  g.pitch  = g.hx / ALIGN * ALIGN + ALIGN;
  g.origin = (size_t)g.pitch + ALIGN;
  g.size   = (size_t)g.pitch * (size_t)(g.hy + 2) + 2 * ALIGN;
  return g;
}

/* Leading dimension of a dense matrix of n columns */
static PetscInt RRBDeviceLeading(PetscInt n)
{
  return (n + POLDER_SWEEP - 1) / POLDER_SWEEP * POLDER_SWEEP;
}

/* The smallest number of half levels whose rest has a small inverse */
static PetscInt RRBDeviceChooseLevels(PetscInt nx, PetscInt ny)
{
  PetscInt  levels;
  PetscReal n, band;

  for (levels = 0; PCRRBRestSize(nx, ny, levels, &n, &band); ++levels) {
    if (n <= RRB_REST) return levels;
  }
  return levels - 1;
}

/* Number of half levels that are swept over. rrbcg needs two, because its kernel for many steps requires a first grid that is not half */
static PetscInt RRBDeviceSweptLevels(const PC_RRB *rrb, PetscInt levels)
{
  const PetscInt swept = PetscMin(levels, RRBDeviceChooseLevels(rrb->nx, rrb->ny));

  return rrb->reduced.wanted ? PetscMax(swept, PetscMin(levels, 2)) : swept;
}

/* The grids to visit twice */
static unsigned RRBDeviceTwice(const PC_RRB *rrb, PetscInt levels)
{
  const PetscInt swept = RRBDeviceSweptLevels(rrb, levels);
  unsigned       twice = PCRRBTwiceGrids(rrb, swept / 2, PETSC_TRUE);

  while (PolderRRBPassesOfGrid(0, (swept + 1) / 2, twice, NULL) > POLDER_RRB_PASSES) twice &= twice - 1; // without the finest one
  return twice;
}

/* Are only the black nodes eliminated in the factor of grid k? */
static PetscBool RRBDeviceIsHalf(const RRBDevice *d, PetscInt k)
{
  return (PetscBool)(d->levels == 2 * k + 1);
}

/* Vectors of grid k, and what a second visit needs; twice->v and d, unlike those of the step, point to the first value of the plane */
static PetscErrorCode PCRRBLayoutTwiceDevice_Private(RRBDevice *d, PetscInt k)
{
  PolderRRBStep *step  = &d->step[k];
  RRBTwice      *twice = &d->twice[k];
  const PetscInt pitch = step->ld; // the border at the end of a line is also that at the begin of the next one
  const size_t   size = (size_t)pitch * (size_t)(step->g.ny + 2) + 4, origin = (size_t)pitch + 2, bytes = sizeof(PetscScalar) * (RRB_NROW + 4) * size;

  PetscFunctionBegin;
  twice->plane = (PolderRRBPlane){.nx = step->g.nx, .ny = step->g.ny, .pitch = pitch, .size = size, .origin = origin};
  PetscCall(RRBDeviceMallocZero(bytes, &twice->a));
  d->bytes += bytes;
  twice->v    = twice->a + RRB_NROW * size;
  twice->d    = twice->v + size;
  step->plane = twice->plane;
  step->a     = twice->a + origin;
  step->v     = twice->v + origin;
  step->d     = twice->d + origin;
  step->r     = step->d + size;
  step->x     = step->v + 3 * size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBLayoutVecsDevice_Private(RRBDevice *d, PetscInt k)
{
  PolderRRBStep *step  = &d->step[k];
  const size_t   bytes = sizeof(PetscScalar) * (size_t)step->ld * (size_t)step->g.ny;
  PetscScalar   *r;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(bytes, &r));
  PetscCall(PolderDeviceMalloc(bytes, &step->x));
  step->r = r;
  d->bytes += 2 * bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the grids, beginning with one of x by y nodes; the grids that are swept over also get vectors. On return x by y is the grid that remains */
static PetscErrorCode PCRRBLayoutGridsDevice_Private(PC_RRB *rrb, PetscInt *x, PetscInt *y)
{
  RRBDevice     *d     = &rrb->device;
  const size_t   value = rrb->single ? sizeof(float) : sizeof(PetscScalar);
  const PetscInt swept = RRBDeviceSweptLevels(rrb, d->levels), nfactor = (d->levels + 1) / 2;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nfactor, &d->step));
  PetscCall(PetscCalloc1(nfactor, &d->twice));
  d->ngrid  = (swept + 1) / 2;
  d->tail   = swept < d->levels ? swept / 2 : nfactor;
  d->layout = RRBDeviceTwice(rrb, d->levels);
  for (PetscInt k = 0; k < nfactor; ++k) {
    PolderRRBStep *step = &d->step[k];

    d->nfactor++;
    *step = (PolderRRBStep){.g = RRBDeviceGrid(*x, *y), .half = (PetscBool)(swept == 2 * k + 1 || RRBDeviceIsHalf(d, k)), .ld = k ? (*x + 1) / 2 * 2 : *x};
    if (d->layout >> k & 1) step->ld = (*x + 2) / 2 * 2;
    PetscCall(PolderDeviceMalloc(RRB_NCOEF * step->g.size * value, &step->c));
    d->bytes += RRB_NCOEF * step->g.size * value;
    if (k && k < d->ngrid) {
      PetscCall(d->layout >> k & 1 ? PCRRBLayoutTwiceDevice_Private(d, k) : PCRRBLayoutVecsDevice_Private(d, k));
      step[-1].rnext  = (PetscScalar *)step->r;
      step[-1].xnext  = step->x;
      step[-1].ldnext = step->ld;
    }
    if (k < d->ngrid) rrb->flops += PCRRBVisits(d->layout, k) * (step->half ? 8.5 * *x * *y : 12.75 * *x * *y);
    if (d->layout >> k & 1) rrb->flops += PCRRBVisits(d->layout, k) / 2 * 22 * *x * *y;
    if (k == d->tail) d->n = step->half && k < d->ngrid ? (*x * *y + 1) / 2 : *x * *y;
    if (RRBDeviceIsHalf(d, k)) break;
    *x /= 2;
    *y /= 2;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBLayoutDevice(PC pc, PetscBool *done)
{
  PC_RRB        *rrb    = (PC_RRB *)pc->data;
  RRBDevice     *d      = &rrb->device;
  PetscInt       levels = rrb->wanted >= 0 ? rrb->wanted : RRBDeviceChooseLevels(rrb->nx, rrb->ny), x = rrb->nx, y = rrb->ny;
  PetscReal      n, band;
  const RRBRest *rest = &rrb->rest;

  PetscFunctionBegin;
  while (!PCRRBRestSize(x, y, levels, &n, &band)) --levels;
  if (rrb->reduced.wanted) levels = PetscMax(levels, 1);
  *done = (PetscBool)(n <= RRB_REST_MOST);
  if (!*done)
    PetscCall(PetscInfo(pc, "Not on the device: a rest of %g unknowns is too large for an inverse, use more -pc_rrb_levels than %" PetscInt_FMT "\n", (double)n,
                        levels));
  if (*done && d->n && d->layout == RRBDeviceTwice(rrb, levels) && rest->n == d->nrest && d->nx == x && d->ny == y && d->levels == levels &&
      d->single == rrb->single && (d->reduced || !rrb->reduced.wanted))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBFreeDevice(d));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBFreeLayout(rrb));
  rrb->levels = d->levels = levels;
  d->nx                   = x;
  d->ny                   = y;
  d->single               = rrb->single;
  rrb->flops              = 0;
  PetscCall(PCRRBLayoutGridsDevice_Private(rrb, &x, &y));
  if (rrb->reduced.wanted) {
    const size_t size = d->step[0].g.size;

    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * RRB_NREDUCED * size, &d->reduced));
    if (d->single) PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * RRB_NCOEF * size, &d->first));
  }
  for (d->small = 0; d->small < d->ngrid; ++d->small) {
    const PolderRRBGrid *g = &d->step[d->small].g;

    if ((PetscReal)g->nx * (PetscReal)g->ny <= POLDER_RRB_SMALL && d->ngrid - d->small <= POLDER_RRB_SMALL_GRIDS) break;
  }
  PetscCall(PCRRBRestLayout(pc, x, y, (PetscBool)(levels % 2), NULL));
  d->nrest = rest->n;
  if (d->tail == d->nfactor) d->n = rest->n;
  d->ld = RRBDeviceLeading(d->n);
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)d->ld * (size_t)d->ld, &d->inverse));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (RRB_NROW * (size_t)d->nrest + 1), &d->rows));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)d->n, &d->b));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)d->n, &d->x));
  if (d->ngrid) {
    PolderRRBStep *last = &d->step[d->ngrid - 1];

    last->rnext  = d->b;
    last->xnext  = d->x;
    last->ldnext = last->g.nx / 2;
  }
  d->bytes += sizeof(PetscScalar) * (size_t)d->ld * (size_t)d->ld;
  rrb->flops += PCRRBVisits(d->layout, d->ngrid) * 2.0 * d->n * d->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of the diagonal with this offset; NULL: the diagonal has no entries */
static const PetscScalar *RRBDiagonal(const PolderDia *dia, PetscInt off)
{
  for (PetscInt k = 0; k < dia->nd; ++k) {
    if (dia->off[k] == off) return dia->val[k];
  }
  return NULL;
}

/* Splits a into the RRB_NROW arrays of n values of matrix rows */
static void RRBRowArrays(PetscScalar *a, size_t n, PetscScalar *row[])
{
  for (int f = 0; f < RRB_NROW; ++f) row[f] = a + (size_t)f * n;
}

/* Surveys the rows of the matrix. If they cannot be read in place, they are copied to own[] or, if that is NULL, to arrays allocated here */
static PetscErrorCode PCRRBTakeRows_Private(PC pc, const PolderCSR *csr, const PolderDia *dia, PetscScalar *own, int *seen, PolderRRBEntries *rows,
                                            PolderStream stream)
{
  PC_RRB      *rrb = (PC_RRB *)pc->data;
  PetscScalar *row[RRB_NROW];
  PetscInt     y[2];

  PetscFunctionBegin;
  PCRRBSharedLines(rrb, 0, y);
  if (dia && dia->nd > POLDER_RRB_DIAGONALS) dia = NULL;
  if (!own && !dia) {
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * RRB_NROW * (size_t)csr->m, &rrb->device.temp[RRB_TEMP_ROWS]));
    own = rrb->device.temp[RRB_TEMP_ROWS];
  }
  RRBRowArrays(own, (size_t)csr->m, row);
  rows->ld = rrb->nx;
  for (int f = 0; f < RRB_NROW && own; ++f) rows->a[f] = row[f];
  if (!own) {
    rows->a[RRB_C]  = RRBDiagonal(dia, 0);
    rows->a[RRB_E]  = RRBDiagonal(dia, 1);
    rows->a[RRB_N]  = RRBDiagonal(dia, rrb->nx);
    rows->a[RRB_NE] = RRBDiagonal(dia, rrb->nx + 1);
    rows->a[RRB_SE] = RRBDiagonal(dia, 1 - rrb->nx);
  }
  if (dia) PolderLaunch(PolderRRBRowsDia_CUDA(rrb->nx, rrb->ny, y[0], y[1], dia, own ? row : NULL, seen, stream));
  else PolderLaunch(PolderRRBRowsCsr_CUDA(rrb->nx, rrb->ny, csr->ai, csr->aj, csr->aa, row, seen, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of rows of the matrix on grid k, gaps between lines included */
static size_t RRBDeviceRows(const RRBDevice *d, PetscInt k)
{
  return k < d->nfactor ? (size_t)d->step[k].ld * (size_t)d->step[k].g.ny : 0;
}

/* Zeros in what the kernels of a set-up do not write of n arrays of grid k: the edges of the grid or, where lines are shared, of the lines that are written */
static PetscErrorCode PCRRBClear_Private(const PC_RRB *rrb, PetscInt k, int n, PetscBool single, void *a, PolderStream stream)
{
  const size_t  origin = rrb->device.step[k].g.origin;
  PetscInt      y;
  PolderRRBGrid g    = PCRRBSharedPart(rrb, k, &y);
  const size_t  from = (g.origin - origin) * (single ? sizeof(float) : sizeof(PetscScalar));

  PetscFunctionBegin;
  g.origin = origin;
  PolderLaunch(PolderRRBClearEdges_CUDA(&g, n, single, (char *)a + from, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factorises all grids; the rows of the rest go to rest[] */
static PetscErrorCode PCRRBFactorGrids_Private(PC pc, const PolderCSR *csr, const PolderDia *dia, PetscScalar *const rest[], int *seen, PolderStream stream)
{
  PC_RRB          *rrb  = (PC_RRB *)pc->data;
  RRBDevice       *d    = &rrb->device;
  const size_t     size = d->nfactor ? d->step[0].g.size : 0, next = RRBDeviceRows(d, 1);
  PetscScalar     *x, *work, *row[RRB_NROW];
  PolderRRBEntries rows = {0};

  PetscFunctionBegin;
  PetscCall(RRBDeviceFreeTemp(d));
  PetscCall(PCRRBTakeRows_Private(pc, csr, dia, d->nfactor ? NULL : rest[0], seen, &rows, stream));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * size, &d->temp[RRB_TEMP_R2D]));
  if (d->single) PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * RRB_NCOEF * size, &d->temp[RRB_TEMP_COEF]));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * RRB_NROW * (next + RRBDeviceRows(d, 2)), &d->temp[RRB_TEMP_NEXT])); // in turn: grids become smaller
  x    = d->temp[RRB_TEMP_R2D];
  work = d->temp[RRB_TEMP_COEF];
  for (PetscInt k = 0; k < d->nfactor; ++k) {
    const PolderRRBStep *step = &d->step[k];
    const PetscBool      half = RRBDeviceIsHalf(d, k);
    const PetscInt       ld   = k + 1 < d->nfactor ? step[1].ld : step->g.nx / 2;
    PetscInt             y;
    const PolderRRBGrid  g = PCRRBSharedPart(rrb, k, &y);
    PetscScalar         *c = !d->single ? (PetscScalar *)step->c : !k && d->first ? d->first : work, *part[RRB_NROW];

    if (k + 1 < d->nfactor && d->twice[k + 1].a) RRBRowArrays((PetscScalar *)step[1].a, d->twice[k + 1].plane.size, row);
    else if (k + 1 < d->nfactor) RRBRowArrays(d->temp[RRB_TEMP_NEXT] + (k % 2 ? RRB_NROW * next : 0), RRBDeviceRows(d, k + 1), row);
    else
      for (int f = 0; f < RRB_NROW; ++f) row[f] = rest[f];
    for (int f = 0; f < RRB_NROW; ++f) {
      part[f] = row[f] + (size_t)(y / 2) * (size_t)ld;
      if (rows.a[f]) rows.a[f] += (size_t)y * (size_t)rows.ld;
    }
    if (c == work || !d->filled) PetscCall(PCRRBClear_Private(rrb, k, RRB_NCOEF, PETSC_FALSE, c, stream));
    if (d->single && !d->filled) PetscCall(PCRRBClear_Private(rrb, k, RRB_NCOEF, PETSC_TRUE, (void *)step->c, stream));
    if (!k && d->reduced && !d->filled) PetscCall(PCRRBClear_Private(rrb, k, RRB_NREDUCED, PETSC_FALSE, d->reduced, stream));
    PolderLaunch(PolderRRBBlack_CUDA(&g, &rows, rrb->omega, c, x, seen, stream));
    PolderLaunch(PolderRRBRed_CUDA(&g, (PetscBool)(half || (!k && d->reduced)), rrb->omega, c, x, seen, stream));
    if (!k && d->reduced) PolderLaunch(PolderRRBReducedFill_CUDA(&g, half, rrb->omega, c, x, d->reduced, seen, stream));
    PolderLaunch(PolderRRBNext_CUDA(&g, half, c, x, part, ld, stream));
    PolderLaunch(PolderRRBScale_CUDA(&g, c, d->single ? (float *)step->c : NULL, seen, stream));
    PetscCall(PCRRBSharedNextRows(rrb, k, row));
    rows.ld = ld;
    for (int f = 0; f < RRB_NROW; ++f) rows.a[f] = row[f];
  }
  d->filled = PETSC_TRUE;
  PetscCall(RRBDeviceFreeTemp(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the rows of the rest, and the bits of what was seen, to the host */
static PetscErrorCode PCRRBReadRest_Private(PC pc, int *seen)
{
  PC_RRB      *rrb  = (PC_RRB *)pc->data;
  RRBDevice   *d    = &rrb->device;
  RRBRest     *rest = &rrb->rest;
  const size_t n    = (size_t)d->nrest;
  PetscScalar *host, *row[RRB_NROW];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(RRB_NROW * n + 1, &host));
  PetscCall(PolderDeviceToHost(host, d->rows, sizeof(PetscScalar) * (RRB_NROW * n + 1)));
  *seen = *(int *)(host + RRB_NROW * n);
  if (rrb->whole.shared.ngrid) PetscCallAllreduce(MPI_IN_PLACE, seen, 1, MPI_INT, MPI_BOR, PetscObjectComm((PetscObject)pc));
  RRBRowArrays(host, n, row);
  for (PetscInt k = 0; k < rest->nx * rest->ny; ++k) {
    const PetscInt i = PolderRRBUnknown(rest->nx, rest->ny, rest->skew, k % rest->nx, k / rest->nx);

    for (int f = 0; f < RRB_NROW && i >= 0; ++f) rest->row[f][k] = row[f][i];
  }
  PetscCall(PetscFree(host));
  rrb->matrix = (RRBMatrix){.nine     = (PetscBool)((*seen & RRB_SEEN_NINE) != 0),
                            .singular = (PetscBool)((*seen & (RRB_SEEN_COUPLED | RRB_SEEN_UNBALANCED)) == RRB_SEEN_COUPLED),
                            .positive = -1,
                            .deficit  = -1};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Finds the singular parts, in the numbering of the device, and shift[]. In a part A with A e = 0, the inverse of A + shift e e^T is the pseudo-inverse of A,
  except in the kernel, where it equals what the host computes
*/
static PetscErrorCode PCRRBPartsDevice_Private(PC pc, PetscInt **part, PetscScalar **shift)
{
  RRBRest     *rest = &((PC_RRB *)pc->data)->rest;
  PetscInt    *number;
  PetscScalar *value;

  PetscFunctionBegin;
  *part  = NULL;
  *shift = NULL;
  PetscCall(PCRRBRestParts(pc));
  if (!rest->npin) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(rest->n, &number, rest->npin, &value));
  for (PetscInt k = 0; k < rest->nx * rest->ny; ++k) {
    if (rest->number[k] >= 0) number[PolderRRBUnknown(rest->nx, rest->ny, rest->skew, k % rest->nx, k / rest->nx)] = rest->part[rest->number[k]];
  }
  for (PetscInt p = 0; p < rest->npin; ++p) value[p] = 1 / (rest->gain[p] * rest->size[p]);
  PetscCall(PolderDeviceUpload(sizeof(*number) * (size_t)rest->n, number, part));
  PetscCall(PolderDeviceUpload(sizeof(*value) * (size_t)rest->npin, value, shift));
  PetscCall(PetscFree2(number, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Space for the inverse of the rest on the device; info follows the n scales of the rows */
typedef struct {
  PolderDense  E;
  PetscScalar *scale, *info;
  void        *work;
} RRBInverse;

static PetscErrorCode PCRRBLaunchInverse_Private(const RRBRest *rest, PetscScalar *const row[], const PetscInt part[], const PetscScalar shift[],
                                                 const RRBInverse *to, PetscScalar inverse[], PolderStream stream)
{
  const PolderDense A = {to->E.n, to->E.ld, inverse};

  PetscFunctionBegin;
  PolderLaunch(PolderRRBRest_CUDA(rest->nx, rest->ny, rest->skew, row, part, shift, to->E, stream));
  PolderLaunch(PolderCoarseScale_CUDA(to->E, 0, PETSC_FALSE, to->scale, inverse, to->info, stream));
  PolderLaunch(PolderCoarseInvert_CUDA(A, 0, to->scale, to->info, to->work, stream));
  PetscCall(PetscLogGpuFlops(1.0 * A.n * A.n * A.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Computes the inverse of the rest, with rows ld apart; *good: all pivots are positive. Unless the matrix is singular, or the one before had singular parts, the
  device computes it while the host looks for such parts, and once more if there are any
*/
static PetscErrorCode PCRRBInvertRest_Private(PC pc, PetscScalar *const row[], PetscInt ld, PetscScalar inverse[], PetscBool *good, PolderStream stream)
{
  PC_RRB         *rrb   = (PC_RRB *)pc->data;
  const RRBRest  *rest  = &rrb->rest;
  const PetscBool ahead = (PetscBool)(!rrb->matrix.singular && !rest->npin);
  RRBInverse      to    = {
            .E = {.n = rest->n, .ld = ld}
  };
  PetscInt    *part;
  PetscScalar *shift, info[POLDER_COARSE_INFO];

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)ld * (size_t)ld, &to.E.a));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * ((size_t)ld + POLDER_COARSE_INFO), &to.scale));
  PetscCall(PolderDeviceMalloc(PolderWorkSize(PolderCoarseInvertWork_CUDA(ld)), &to.work));
  to.info = to.scale + ld;
  if (ahead) PetscCall(PCRRBLaunchInverse_Private(rest, row, NULL, NULL, &to, inverse, stream));
  PetscCall(PCRRBPartsDevice_Private(pc, &part, &shift));
  if (part || !ahead) PetscCall(PCRRBLaunchInverse_Private(rest, row, part, shift, &to, inverse, stream));
  PetscCall(PolderDeviceToHost(info, to.info, sizeof(info)));
  PetscCall(PolderDeviceFree(&part));
  PetscCall(PolderDeviceFree(&shift));
  PetscCall(PolderDeviceFree(&to.E.a));
  PetscCall(PolderDeviceFree(&to.scale));
  PetscCall(PolderDeviceFree(&to.work));
  *good = (PetscBool)(info[POLDER_COARSE_NZERO] + info[POLDER_COARSE_NDEP] + info[POLDER_COARSE_BAD] == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes M^-1 on the grids that are not swept over */
static PetscErrorCode PCRRBTailDevice_Private(PC pc, PetscScalar *const row[], PetscBool *good, PolderStream stream)
{
  RRBDevice     *d     = &((PC_RRB *)pc->data)->device;
  const PetscInt ngrid = d->nfactor - d->tail, ld = RRBDeviceLeading(d->nrest);
  PetscScalar   *inverse;
  PolderRRBStep  step[POLDER_RRB_SMALL_GRIDS];
  PetscReal      flops = 2.0 * d->nrest * d->nrest;

  PetscFunctionBegin;
  if (!ngrid) {
    PetscCall(PCRRBInvertRest_Private(pc, row, d->ld, d->inverse, good, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)ld * (size_t)ld, &inverse));
  PetscCall(PCRRBInvertRest_Private(pc, row, ld, inverse, good, stream));
  if (*good) {
    const PolderRRBSystem grids = {.single = d->single, .ngrid = ngrid, .step = step, .n = d->nrest, .ld = ld, .inverse = inverse};

    for (PetscInt k = 0; k < PetscMin(ngrid, POLDER_RRB_SMALL_GRIDS); ++k) {
      step[k]      = d->step[d->tail + k];
      step[k].half = RRBDeviceIsHalf(d, d->tail + k);
      flops += 12.75 * step[k].g.nx * step[k].g.ny;
    }
    PolderLaunch(PolderRRBTail_CUDA(&grids, (PetscBool)(d->tail < d->ngrid), (PolderDense){d->n, d->ld, d->inverse}, stream));
    PetscCall(PetscLogGpuFlops(flops * d->n));
  }
  PetscCall(PolderDeviceFree(&inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFactorDevice(PC pc, const PolderCSR *csr, const PolderDia *dia)
{
  PC_RRB      *rrb  = (PC_RRB *)pc->data;
  RRBDevice   *d    = &rrb->device;
  PetscBool    good = PETSC_FALSE;
  PetscScalar *row[RRB_NROW];
  int         *onboard, seen = 0;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  RRBRowArrays(d->rows, (size_t)d->nrest, row);
  onboard = (int *)(d->rows + RRB_NROW * (size_t)d->nrest);
  PetscCall(PolderDeviceZero(onboard, sizeof(*onboard)));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(PCRRBFactorGrids_Private(pc, csr, dia, row, onboard, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PCRRBReadRest_Private(pc, &seen));
  if (!(seen & (RRB_SEEN_BAD | RRB_SEEN_PIVOT | RRB_SEEN_RANGE))) PetscCall(PCRRBTailDevice_Private(pc, row, &good, stream));
  d->both  = 0;
  d->valid = good;
  for (PetscInt k = d->nfactor - 1; k > 0 && good; --k) {
    RRBTwice *twice = &d->twice[k];
    PetscInt  y[2]  = {0, d->step[k].g.ny};

    if (!twice->a) continue;
    twice->summed = (PetscBool)(k < rrb->whole.shared.ngrid);
    if (twice->summed) PCRRBSharedLines(rrb, k, y);
    PCRRBTwiceOwn(twice, y[0], y[1]);
    PetscCall(PCRRBTwiceSetUp(pc, &PolderOnDevice, k, twice, PCRRBVisitDevice));
    PetscCall(PetscArraycpy(d->step[k].length, twice->length, 2));
    if (twice->length[1]) d->both |= 1u << k;
  }
  for (PetscInt k = 0; k < d->nfactor; ++k) PetscCall(PetscLogGpuFlops(RRB_FACTOR * 12.75 * d->step[k].g.nx * d->step[k].g.ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One process, whose GPU has all rows */
static PetscErrorCode PCRRBSetUpOne_Private(PC pc, const PolderCSR *csr, PetscBool *done)
{
  const PolderDia *dia;

  PetscFunctionBegin;
  PetscCall(PolderMatGetDeviceDia(pc->pmat, &dia));
  PetscCall(PCRRBUpdateGrid(pc, csr));
  PetscCall(PCRRBLayoutDevice(pc, done));
  if (*done) PetscCall(PCRRBFactorDevice(pc, csr, dia));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSetUpDevice(PC pc, PetscBool *done)
{
  PC_RRB     *rrb = (PC_RRB *)pc->data;
  PolderCSR   csr;
  PetscMPIInt size;

  PetscFunctionBegin;
  *done             = PETSC_FALSE;
  rrb->device.valid = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PolderMatGetCSRAlike(pc->pmat, PETSC_TRUE, &csr));
  if (csr.device) PetscCall(size == 1 ? PCRRBSetUpOne_Private(pc, &csr, done) : PCRRBWholeSetUp(pc, &csr, done));
  PetscCall(PolderMatRestoreCSRAt(pc->pmat, &csr));
  if (!*done) {
    PetscCall(PCRRBFreeDevice(&rrb->device));
    PetscCall(PCRRBWholeFree(&rrb->whole));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (rrb->device.valid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBSetUpHost(pc)); // raises the error with the row or the node
  rrb->valid = PETSC_FALSE;
  if (!pc->failedreason)
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT,
                   "PC of type rrb finds a pivot that is not positive on the device, but none on the host: the matrix is not positive definite to "
                   "rounding, use a smaller -pc_rrb_omega or fewer -pc_rrb_levels");
  PetscFunctionReturn(PETSC_SUCCESS);
}
