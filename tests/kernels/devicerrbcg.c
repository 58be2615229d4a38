static const char help[] = "Device kernels of the first Schur complement against those of the host: awkward grids, poisoned output.\n\n";

#include "devicerrb.h"
#include "kernels/rrbreduced.h"
#include "rrbchain.h"

/* The complement and the factor of a grid; spoilt: r1 has a pivot that is not positive */
static PetscErrorCode CheckFill(const PolderRRBGrid *g, PetscBool half, PetscBool spoilt, Array *c, Array *s, PolderStream stream, PetscInt *wrong)
{
  const PetscInt   before = *wrong;
  PolderRRBEntries rows[2];
  Array            a[RRB_NROW], x;
  int              seen = 0, *seend;

  PetscFunctionBeginUser;
  PetscCall(EntriesCreate(g->nx, g->ny, PETSC_TRUE, 1, rows, a));
  if (spoilt) {
    a[RRB_C].h[0] = -1;
    PetscCall(ArrayUpload(&a[RRB_C]));
  }
  PetscCall(PolderDeviceMalloc(sizeof(int), &seend));
  PetscCall(PolderDeviceZero(seend, sizeof(int)));
  PetscCall(ArrayCreate(g->size, PETSC_FALSE, 0, &x));
  RRBTwinBlack(g, &rows[0], 0.9, c->h, x.h, &seen);
  RRBTwinRed(g, PETSC_TRUE, 0.9, c->h, x.h, &seen);
  RRBTwinReducedFill(g, half, 0.9, c->h, x.h, s->h, &seen);
  PolderLaunch(PolderRRBBlack_CUDA(g, &rows[1], 0.9, c->d, x.d, seend, stream));
  PolderLaunch(PolderRRBRed_CUDA(g, PETSC_TRUE, 0.9, c->d, x.d, seend, stream));
  PolderLaunch(PolderRRBReducedFill_CUDA(g, half, 0.9, c->d, x.d, s->d, seend, stream));
  PetscCall(ArrayCompare(c, 1e-13, wrong));
  PetscCall(ArrayCompare(s, 1e-13, wrong));
  PetscCall(CompareSeen(seen, seend, wrong));
  *wrong += spoilt && !half && !(seen & RRB_SEEN_PIVOT);
  PetscCall(Tell("complement", g->nx, g->ny, half + 2 * spoilt, before, *wrong));
  RRBTwinScale(g, c->h, NULL, &seen);
  PetscCall(ArrayUpload(c));
  PetscCall(PolderDeviceFree(&seend));
  PetscCall(ArrayDestroy(&x, 0));
  PetscCall(EntriesDestroy(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of red nodes at places that pairs can be read from and at others; those of all nodes with lines ld apart, NaN between them */
static PetscErrorCode CheckVectors(const PolderRRBGrid *g, const Array *c, const Array *s, PolderStream stream, PetscInt *wrong)
{
  const size_t        n    = (size_t)((g->nx * g->ny + 1) / 2);
  const PolderRRBEnds none = {NULL, NULL};
  void               *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetWork(&work));
  for (int form = 0; form < 4; ++form) {
    const PetscInt shift = form % 2, ld = g->nx + form / 2, before = *wrong;
    Array          r, q, b, x, dot;

    PetscCall(ArrayCreate(n, PETSC_TRUE, shift, &r));
    PetscCall(ArrayCreate(n, PETSC_FALSE, 0, &q));
    PetscCall(ArrayCreate(1, PETSC_FALSE, 0, &dot));
    PetscCall(ArrayCreate((size_t)ld * (size_t)g->ny, PETSC_TRUE, shift, &b));
    PetscCall(ArrayCreate((size_t)ld * (size_t)g->ny, PETSC_FALSE, 0, &x));
    for (PetscInt y = 0; y < g->ny; ++y)
      for (PetscInt i = g->nx; i < ld; ++i) b.h[y * ld + i] = NAN;
    PetscCall(ArrayUpload(&b));
    PolderRRBReducedMult_Host(g, s->h, r.h, q.h, form / 2 ? NULL : dot.h);
    PolderLaunch(PolderRRBReducedMult_CUDA(g, s->d, r.d, q.d, form / 2 ? NULL : dot.d, work, stream));
    PetscCall(ArrayCompare(&q, 1e-13, wrong));
    PetscCall(ArrayCompare(&dot, 1e-11, wrong));
    PetscCall(Tell("product", g->nx, g->ny, form, before, *wrong));
    PolderRRBReduce_Host(g, c->h, PolderRRBAllNodes(g, b.h, ld), q.h);
    PolderLaunch(PolderRRBReduce_CUDA(g, c->d, PolderRRBAllNodes(g, b.d, ld), q.d, stream));
    PetscCall(ArrayCompare(&q, 1e-13, wrong));
    PetscCall(Tell("reduction", g->nx, g->ny, form, before, *wrong));
    PolderRRBExpand_Host(g, none, c->h, PolderRRBAllNodes(g, b.h, ld), r.h, x.h, x.h);
    PolderLaunch(PolderRRBExpand_CUDA(g, none, c->d, PolderRRBAllNodes(g, b.d, ld), r.d, x.d, x.d, stream));
    PetscCall(ArrayCompare(&x, 1e-13, wrong));
    PetscCall(Tell("expansion", g->nx, g->ny, form, before, *wrong));
    PolderRRBPick_Host(g, PolderRRBAllNodes(g, b.h, ld), q.h);
    PolderLaunch(PolderRRBPick_CUDA(g, PolderRRBAllNodes(g, b.d, ld), q.d, stream));
    PetscCall(ArrayCompare(&q, 0, wrong));
    PetscCall(Tell("red values", g->nx, g->ny, form, before, *wrong));
    PetscCall(ArrayDestroy(&x, 0));
    PetscCall(ArrayDestroy(&b, shift));
    PetscCall(ArrayDestroy(&dot, 0));
    PetscCall(ArrayDestroy(&q, 0));
    PetscCall(ArrayDestroy(&r, shift));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows v0 <= v < v1 of a grid as a grid of their own */
static PolderRRBGrid PartOf(const PolderRRBGrid *g, PetscInt v0, PetscInt v1)
{
  PolderRRBGrid part = *g;

  part.ny = PetscMin(2 * v1, g->ny) - 2 * v0;
  part.hy = (part.ny + 1) / 2;
  part.origin += (size_t)v0 * (size_t)g->pitch;
  return part;
}

/* The red nodes of a part, r1 and then r2, from those of the whole */
static PetscErrorCode TakePart(const PolderRRBGrid *g, const PolderRRBGrid *part, PetscInt v0, const PetscScalar whole[], PetscScalar red[])
{
  const PetscInt hx = g->hx, h2 = g->nx / 2;

  PetscFunctionBeginUser;
  PetscCall(PetscArraycpy(red, whole + v0 * hx, hx * part->hy));
  PetscCall(PetscArraycpy(red + hx * part->hy, whole + hx * g->hy + v0 * h2, h2 * (part->ny / 2)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows beside a part of a vector of red nodes */
static void TakeEnds(const PolderRRBGrid *g, PetscInt v0, PetscInt v1, const PetscScalar r[], PetscScalar below[], PetscScalar above[])
{
  const PetscInt hx = g->hx, h2 = g->nx / 2;

  for (PetscInt u = 0; u < hx + h2; ++u) {
    if (v0 > 0) below[u] = u < hx ? r[(v0 - 1) * hx + u] : r[hx * g->hy + (v0 - 1) * h2 + u - hx];
    if (v1 < g->hy) above[u] = u < hx ? r[v1 * hx + u] : v1 < g->ny / 2 ? r[hx * g->hy + v1 * h2 + u - hx] : 0;
  }
}

/* The reduction, expansion and red values of a part whose vectors of all nodes are in two arrays, against those of the whole in one */
static PetscErrorCode CheckPartNodes(const PolderRRBGrid *g, const Array *c, PolderStream stream, PetscInt *wrong)
{
  const PetscInt      v0 = g->hy / 3, v1 = g->hy - g->hy / 4, hx = g->hx, h2 = g->nx / 2, nx = g->nx, before = *wrong;
  const PolderRRBGrid part = PartOf(g, v0, v1);
  const PetscInt      n = hx * part.hy + h2 * (part.ny / 2), from = part.ny / 3, to = part.ny - part.ny / 4, y0 = 2 * v0;
  const PolderRRBEnds none = {NULL, NULL};
  PolderRRBNodes      nodes;
  Array               b, own, x, mine, r, q, red, y, below, above;

  PetscFunctionBeginUser;
  PetscCall(ArrayCreate((size_t)(nx * g->ny), PETSC_TRUE, 0, &b));
  PetscCall(ArrayCreate((size_t)(nx * (to - from)), PETSC_FALSE, 0, &own));
  PetscCall(ArrayCreate((size_t)(nx * g->ny), PETSC_FALSE, 0, &x));
  PetscCall(ArrayCreate((size_t)(nx * (to - from)), PETSC_FALSE, 0, &mine));
  PetscCall(ArrayCreate((size_t)((nx * g->ny + 1) / 2), PETSC_TRUE, 0, &r));
  PetscCall(ArrayCreate((size_t)((nx * g->ny + 1) / 2), PETSC_FALSE, 0, &q));
  PetscCall(ArrayCreate((size_t)n, PETSC_FALSE, 0, &red));
  PetscCall(ArrayCreate((size_t)n, PETSC_FALSE, 0, &y));
  PetscCall(ArrayCreate((size_t)(hx + h2), PETSC_FALSE, 0, &below));
  PetscCall(ArrayCreate((size_t)(hx + h2), PETSC_FALSE, 0, &above));
  PolderRRBReduce_Host(g, c->h, PolderRRBAllNodes(g, b.h, nx), q.h);
  PetscCall(TakePart(g, &part, v0, q.h, y.h));
  PetscCall(TakePart(g, &part, v0, r.h, red.h));
  TakeEnds(g, v0, v1, r.h, below.h, above.h);
  PolderRRBExpand_Host(g, none, c->h, PolderRRBAllNodes(g, b.h, nx), r.h, x.h, x.h);
  PetscCall(PetscArraycpy(mine.h, x.h + (y0 + from) * nx, nx * (to - from)));
  for (PetscInt l = 0; l < g->ny; ++l) // what is not of the part, or in the other array, stays as it was
    for (PetscInt i = 0; i < nx && (l < y0 || l >= y0 + part.ny || (l >= y0 + from && l < y0 + to)); ++i) x.h[l * nx + i] = NAN;
  PetscCall(PetscArraycpy(own.h, b.h + (y0 + from) * nx, nx * (to - from)));
  for (PetscInt i = 0; i < nx * (to - from); ++i) b.h[(y0 + from) * nx + i] = NAN;
  PetscCall(ArrayUpload(&b));
  PetscCall(ArrayUpload(&own));
  PetscCall(ArrayUpload(&red));
  PetscCall(ArrayUpload(&below));
  PetscCall(ArrayUpload(&above));
  nodes = (PolderRRBNodes){.own = own.d, .all = b.d + y0 * nx, .ld = nx, .first = -(v0 > 0), .last = part.ny + (v1 < g->hy), .from = from, .to = to};
  PolderLaunch(PolderRRBReduce_CUDA(&part, c->d, nodes, y.d, stream));
  PetscCall(ArrayCompare(&y, 1e-13, wrong));
  PetscCall(Tell("reduction of a part", nx, g->ny, 0, before, *wrong));
  PolderLaunch(
    PolderRRBExpand_CUDA(&part, (PolderRRBEnds){v0 > 0 ? below.d : NULL, v1 < g->hy ? above.d : NULL}, c->d, nodes, red.d, mine.d, x.d + y0 * nx, stream));
  PetscCall(ArrayCompare(&mine, 1e-13, wrong));
  PetscCall(ArrayCompare(&x, 1e-13, wrong));
  PetscCall(Tell("expansion of a part", nx, g->ny, 0, before, *wrong));
  PetscCall(PetscArraycpy(b.h + (y0 + from) * nx, own.h, nx * (to - from)));
  PolderRRBPick_Host(g, PolderRRBAllNodes(g, b.h, nx), q.h);
  PetscCall(TakePart(g, &part, v0, q.h, y.h));
  PolderLaunch(PolderRRBPick_CUDA(&part, nodes, y.d, stream));
  PetscCall(ArrayCompare(&y, 0, wrong));
  PetscCall(Tell("red values of a part", nx, g->ny, 0, before, *wrong));
  PetscCall(ArrayDestroy(&above, 0));
  PetscCall(ArrayDestroy(&below, 0));
  PetscCall(ArrayDestroy(&y, 0));
  PetscCall(ArrayDestroy(&red, 0));
  PetscCall(ArrayDestroy(&q, 0));
  PetscCall(ArrayDestroy(&r, 0));
  PetscCall(ArrayDestroy(&mine, 0));
  PetscCall(ArrayDestroy(&x, 0));
  PetscCall(ArrayDestroy(&own, 0));
  PetscCall(ArrayDestroy(&b, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a part of the grid, and its ends, against the operations on the whole */
static PetscErrorCode CheckPart(const PolderRRBGrid *g, const Array *s, PolderStream stream, PetscInt *wrong)
{
  const PetscInt      v0 = g->hy / 3, v1 = g->hy - g->hy / 4, hx = g->hx, h2 = g->nx / 2, before = *wrong;
  const PolderRRBGrid part = PartOf(g, v0, v1);
  const PetscInt      k1 = part.hy, k2 = part.ny / 2;
  Array               r, q, x, y, dot, ends, below, above;
  PetscScalar         total = 0;
  void               *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(ArrayCreate((size_t)((g->nx * g->ny + 1) / 2), PETSC_TRUE, 0, &r));
  PetscCall(ArrayCreate((size_t)((g->nx * g->ny + 1) / 2), PETSC_FALSE, 0, &q));
  PetscCall(ArrayCreate((size_t)(hx * k1 + h2 * k2), PETSC_TRUE, 0, &x));
  PetscCall(ArrayCreate((size_t)(hx * k1 + h2 * k2), PETSC_FALSE, 0, &y));
  PetscCall(ArrayCreate((size_t)(hx + h2), PETSC_TRUE, 0, &below));
  PetscCall(ArrayCreate((size_t)(hx + h2), PETSC_TRUE, 0, &above));
  PetscCall(ArrayCreate((size_t)(2 * (hx + h2)), PETSC_FALSE, 0, &ends));
  PetscCall(ArrayCreate(1, PETSC_FALSE, 0, &dot));
  PetscCall(TakePart(g, &part, v0, r.h, x.h));
  TakeEnds(g, v0, v1, r.h, below.h, above.h);
  PetscCall(ArrayUpload(&x));
  PetscCall(ArrayUpload(&below));
  PetscCall(ArrayUpload(&above));
  PolderRRBReducedMult_Host(g, s->h, r.h, q.h, NULL);
  PetscCall(TakePart(g, &part, v0, q.h, y.h));
  for (PetscInt i = 0; i < hx * k1 + h2 * k2; ++i) total += x.h[i] * y.h[i];
  dot.h[0] = total;
  PolderLaunch(
    PolderRRBReducedMultPart_CUDA(&part, (PolderRRBEnds){v0 > 0 ? below.d : NULL, v1 < g->hy ? above.d : NULL}, s->d, x.d, y.d, dot.d, work, stream));
  PetscCall(ArrayCompare(&y, 1e-13, wrong));
  PetscCall(ArrayCompare(&dot, 1e-10, wrong));
  PetscCall(Tell("product of a part", g->nx, g->ny, 0, before, *wrong));
  if (k2 > 0) {
    PolderRRBReducedEnds_Host(&part, x.h, ends.h);
    PolderLaunch(PolderRRBReducedEnds_CUDA(&part, x.d, ends.d, stream));
    PetscCall(ArrayCompare(&ends, 0, wrong));
    PetscCall(Tell("ends of a part", g->nx, g->ny, 0, before, *wrong));
  }
  PetscCall(ArrayDestroy(&dot, 0));
  PetscCall(ArrayDestroy(&ends, 0));
  PetscCall(ArrayDestroy(&above, 0));
  PetscCall(ArrayDestroy(&below, 0));
  PetscCall(ArrayDestroy(&y, 0));
  PetscCall(ArrayDestroy(&x, 0));
  PetscCall(ArrayDestroy(&q, 0));
  PetscCall(ArrayDestroy(&r, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckGrid(PetscInt nx, PetscInt ny, PolderStream stream, PetscInt *wrong)
{
  PetscFunctionBeginUser;
  for (int form = 0; form < 4; ++form) {
    const PolderRRBGrid g = Grid(nx, ny);
    Array               c, s;

    if (TooLarge(nx, ny)) continue;
    PetscCall(CoefCreate(&g, RRB_NCOEF, &c));
    PetscCall(CoefCreate(&g, RRB_NREDUCED, &s));
    PetscCall(CheckFill(&g, (PetscBool)(form % 2), (PetscBool)(form / 2), &c, &s, stream, wrong));
    PetscCall(CheckVectors(&g, &c, &s, stream, wrong));
    PetscCall(CheckPart(&g, &s, stream, wrong));
    PetscCall(CheckPartNodes(&g, &c, stream, wrong));
    PetscCall(ArrayDestroy(&s, 0));
    PetscCall(ArrayDestroy(&c, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps of CG: their norms, the state and the vectors x, r, z, p, w after them */
enum {
  STEPS = 9,
  FIRST = 4, /* so many of them in the first of two kernels */
  NVEC  = 5
};
typedef struct {
  PolderCGState state;
  PetscReal     norm[STEPS];
  Array         v[NVEC];
} Steps;

/* From x and r, and z = r unless that is to be made, the constant being the kernel or not; many: in two kernels, else in one for each line of the algorithm */
static PetscErrorCode StepsRun(const PolderRRBSystem *system, PetscBool many, PetscBool prepare, PetscBool nullspace, const Array *x, const Array *r,
                               PolderStream stream, Steps *steps)
{
  const RRBChainSteps all = {.prepare = prepare, .first = PETSC_TRUE, .nullspace = nullspace, .count = STEPS};
  const PetscInt      n   = (PetscInt)r->n - 2 * GUARD;
  PolderCGVectors     at;
  PolderCGState      *s = &steps->state, *state;
  PetscReal          *ring;
  Array              *v = steps->v;
  void               *work;

  PetscFunctionBeginUser;
  *s = (PolderCGState){.tol = -1, .divtol = PETSC_INFINITY, .nullspace = nullspace, .N = n};
  for (int k = 0; k < NVEC; ++k) {
    PetscCall(ArrayCreate((size_t)n, PETSC_FALSE, 0, &v[k]));
    if (k < 2 + !prepare) PetscCall(PetscArraycpy(v[k].h, k ? r->h : x->h, (size_t)n));
    PetscCall(ArrayUpload(&v[k]));
  }
  for (PetscInt i = 0; i < n && !prepare; ++i) {
    s->rho += r->h[i] * r->h[i];
    s->sum[3] += r->h[i];
  }
  s->sum[0] = s->rho;
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderDeviceMalloc(sizeof(*s), &state));
  PetscCall(PolderDeviceMallocShared(sizeof(PetscReal) * POLDER_CG_RING, &ring, &s->ring));
  PetscCall(PolderDeviceFromHost(state, s, sizeof(*s)));
  at = (PolderCGVectors){v[0].d, v[1].d, v[2].d, v[3].d, v[4].d};
  if (many) {
    PolderLaunch(PolderRRBCG_CUDA(system, prepare, PETSC_TRUE, FIRST, &at, state, work, stream));
    PolderLaunch(PolderRRBCG_CUDA(system, PETSC_FALSE, PETSC_FALSE, STEPS - FIRST, &at, state, work, stream));
  } else PolderLaunch(RRBChain(system, &all, &at, state, work, stream));
  PetscCall(PolderDeviceToHost(s, state, sizeof(*s)));
  for (int k = 0; k < NVEC; ++k) PetscCall(PolderDeviceToHost(v[k].all, v[k].d - GUARD, sizeof(PetscScalar) * v[k].n));
  for (int k = 0; k < STEPS; ++k) steps->norm[k] = ring[k];
  PetscCall(PolderDeviceFreeShared(&ring));
  PetscCall(PolderDeviceFree(&state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A dominant S and a random factor, so that nothing breaks down; prepare: with second visits as well */
static PetscErrorCode CheckSteps(PetscInt nx, PetscInt ny, PetscInt levels, PetscBool single, PetscBool nullspace, PetscBool prepare, PolderStream stream,
                                 PetscInt *wrong)
{
  const PetscInt  before = *wrong;
  PetscInt        its;
  unsigned        twice = 0;
  Chain           chain;
  PolderRRBPass   pass[POLDER_RRB_PASSES];
  PolderRRBSystem system;
  PolderRRBGrid   g;
  Steps           steps[2];
  Array           S, x, r;

  PetscFunctionBeginUser;
  PetscCall(ChainCreate(nx, ny, levels, &chain));
  g = chain.step[1][0].g;
  for (PetscInt k = 0; k < chain.ngrid; ++k) {
    chain.step[1][k].c = single ? (const void *)chain.s[1][k] : chain.c[k].d;
    if (prepare && k % 3 == 1 && chain.step[1][k].a) twice |= 1u << k;
  }
  PetscCall(CoefCreate(&g, RRB_NREDUCED, &S));
  for (int f = 0; f < RRB_NREDUCED; ++f) {
    for (PetscInt v = 0; v < g.hy; ++v)
      for (PetscInt u = 0; u < g.hx; ++u)
        S.h[(size_t)f * g.size + g.origin + (size_t)v * (size_t)g.pitch + (size_t)u] = f == RRB_S1D || f == RRB_S2D ? 3 + 2 * Number() : 0.1 * Number();
  }
  PetscCall(ArrayUpload(&S));
  PetscCall(ArrayCreate((size_t)((nx * ny + 1) / 2), PETSC_TRUE, 0, &x));
  PetscCall(ArrayCreate((size_t)((nx * ny + 1) / 2), PETSC_TRUE, 0, &r));
  system = (PolderRRBSystem){.single  = single,
                             .ngrid   = chain.ngrid,
                             .step    = chain.step[1],
                             .n       = chain.n,
                             .ld      = chain.ld,
                             .inverse = chain.inverse.d,
                             .b       = chain.r[chain.ngrid].d,
                             .x       = chain.x[chain.ngrid].d,
                             .S       = S.d,
                             .npass   = PolderRRBPassesOfGrid(1, chain.ngrid, twice, pass),
                             .pass    = pass};
  for (int many = 0; many < 2; ++many) PetscCall(StepsRun(&system, (PetscBool)many, prepare, nullspace, &x, &r, stream, &steps[many]));
  its = steps[0].state.its; // random systems need not have the constant in their kernel, and may break down where that is said
  *wrong += steps[1].state.its != its || steps[1].state.frozen != steps[0].state.frozen || (!nullspace && (its != STEPS || steps[0].state.frozen));
  for (PetscInt k = 0; k < its; ++k) *wrong += !(PetscAbsReal(steps[1].norm[k] - steps[0].norm[k]) <= 1e-11 * steps[0].norm[0]);
  *wrong += !(PetscAbsScalar(steps[1].state.rho - steps[0].state.rho) <= 1e-10 * PetscAbsScalar(steps[0].state.rho));
  for (int k = 0; k < NVEC; ++k) {
    Array pair = {.n   = steps[0].v[k].n,
                  .all = steps[0].v[k].all,
                  .h   = steps[0].v[k].h,
                  .d   = steps[1].v[k].d}; // what the first left, beside what the second did

    PetscCall(ArrayCompare(&pair, 1e-11, wrong));
    for (int many = 0; many < 2; ++many) PetscCall(ArrayDestroy(&steps[many].v[k], 0));
  }
  PetscCall(ArrayDestroy(&r, 0));
  PetscCall(ArrayDestroy(&x, 0));
  PetscCall(ArrayDestroy(&S, 0));
  PetscCall(ChainDestroy(&chain));
  PetscCall(Tell("steps", nx, ny, single + 2 * nullspace + 4 * prepare, before, *wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSteps(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt sizes[][3] = {
    {11,  8,   2 },
    {16,  15,  99},
    {31,  30,  3 },
    {61,  64,  6 },
    {127, 127, 4 },
    {128, 33,  5 },
    {513, 512, 99},
    {999, 4,   99}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
    for (int form = 0; form < 8 && !TooLarge(sizes[k][0], sizes[k][1]); ++form)
      PetscCall(CheckSteps(sizes[k][0], sizes[k][1], sizes[k][2], (PetscBool)(form % 2), (PetscBool)(form / 2 % 2), (PetscBool)(form / 4), stream, &wrong));
  }
  PetscCall(Report("steps in one kernel", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGrids(PETSC_UNUSED void *work, PolderStream stream)
{
  static const PetscInt lines[][2] = {
    {1,  1 },
    {1,  9 },
    {10, 1 },
    {7,  1 },
    {1,  64}
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++k) PetscCall(CheckGrid(Sizes[k][0], Sizes[k][1], stream, &wrong));
  PetscCall(Report("grids", wrong));
  wrong = 0;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lines); ++k) PetscCall(CheckGrid(lines[k][0], lines[k][1], stream, &wrong));
  PetscCall(Report("lines", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestGrids, TestSteps}
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
    output_file: output/devicerrbcg_1.out

TEST*/
