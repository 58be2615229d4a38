/* Sets up the sea of waves.c: grid, depth, edges, matrix, solver and the initial state of the water */
#include "waves.h"

/* ------------------------------------------------ grid ------------------------------------------------ */

PetscErrorCode SeaMostNodes(PetscReal *nodes)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  *nodes = 0.99 * PetscMin((PetscReal)PETSC_MAX_INT, size * (PetscReal)PETSC_MAX_INT / 5.0);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(Sea *s)
{
  const PetscScalar *there;
  PetscMemType       memory;
  PetscMPIInt        size;
  PetscReal          most;
  Vec                local;

  PetscFunctionBegin;
  PetscCall(SeaMostNodes(&most));
  PetscCheck((PetscReal)s->n[0] * s->n[1] <= most, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "A sea of %" PetscInt_FMT " x %" PetscInt_FMT
             " nodes has more entries than indices of %d bits can count: use more processes or a PETSc with 64-bit indices",
             s->n[0], s->n[1], (int)(8 * sizeof(PetscInt)));
  for (int d = 0; d < 2; ++d) s->d[d] = s->length[d] / (s->n[d] - 1);
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, s->n[0], s->n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL,
                         NULL, &s->dm));
  PetscCall(DMSetFromOptions(s->dm));
  if (s->host) PetscCall(DMSetVecType(s->dm, VECSTANDARD));
  PetscCall(DMSetUp(s->dm));
  PetscCall(DMDAGetCorners(s->dm, &s->xs, &s->ys, NULL, &s->xm, &s->ym, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  s->alone = (PetscBool)(size == 1);
  PetscCall(DMCreateGlobalVector(s->dm, &s->zeta));
  Vec *own[] = {&s->phi, &s->psi, &s->zeta0, &s->phi0, &s->psi0, &s->b};
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(own); ++k) PetscCall(VecDuplicate(s->zeta, own[k]));
  if (s->filter > 0.0) {
    PetscCall(VecDuplicate(s->zeta, &s->zeta1));
    PetscCall(VecDuplicate(s->zeta, &s->phi1));
  }
  PetscCall(DMCreateLocalVector(s->dm, &local));
  Vec *with[] = {&s->bed, &s->h, &s->D}, *neighbours[] = {&s->lzeta, &s->lphi, &s->lpsi};
  for (int k = 0; k < 3; ++k) PetscCall(VecDuplicate(local, with[k]));
  for (int k = s->current[0] != 0.0 || s->current[1] != 0.0 || s->watchenergy ? 0 : 1; k < 3 && !s->alone; ++k) PetscCall(VecDuplicate(local, neighbours[k]));
  PetscCall(VecDestroy(&local));
  PetscCall(VecGetArrayReadAndMemType(s->zeta, &there, &memory));
  PetscCall(VecRestoreArrayReadAndMemType(s->zeta, &there));
#if defined(EXAMPLES_EMULATED)
  s->device = (PetscBool)!s->host;
#elif defined(EXAMPLES_HAVE_CUDA)
  s->device = (PetscBool)PetscMemTypeCUDA(memory);
  PetscCheck(s->device || PetscMemTypeHost(memory), PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "This program has kernels for CUDA only: use -dm_vec_type standard or cuda");
#else
  PetscCheck(PetscMemTypeHost(memory), PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "This program was built without CUDA: build it with a PETSc that has CUDA, or use -dm_vec_type standard");
#endif
  PetscFunctionReturn(0);
}

/* A table of n numbers in the memory of the vectors */
static PetscErrorCode CreateTable(Sea *s, PetscInt n, Vec *table)
{
  VecType type;

  PetscFunctionBegin;
  PetscCall(VecGetType(s->h, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, table));
  PetscCall(VecSetSizes(*table, n, n));
  PetscCall(VecSetType(*table, type));
  PetscFunctionReturn(0);
}

PetscErrorCode SeaGetGrid(Sea *s, WavesGrid *g)
{
  PetscInt gxs, gys;

  PetscFunctionBegin;
  PetscCall(DMDAGetGhostCorners(s->dm, &gxs, &gys, NULL, &g->gxm, &g->gym, NULL));
  g->xm   = s->xm;
  g->ym   = s->ym;
  g->gx   = s->xs - gxs;
  g->gy   = s->ys - gys;
  g->i0   = s->inner[0];
  g->i1   = s->inner[1];
  g->j0   = s->inner[2];
  g->j1   = s->inner[3];
  g->rows = s->rows;
  for (int d = 0; d < 2; ++d) {
    g->d[d]       = s->d[d];
    g->current[d] = s->current[d];
  }
  PetscCall(VecGetArrayReadAndMemType(s->h, &g->h, NULL));
  PetscCall(VecGetArrayReadAndMemType(s->D, &g->D, NULL));
  PetscCall(VecGetArrayReadAndMemType(s->edges, &g->ax, NULL));
  g->ay = g->ax + 3 * s->xm;
  PetscFunctionReturn(0);
}

PetscErrorCode SeaRestoreGrid(Sea *s, WavesGrid *g)
{
  PetscFunctionBegin;
  PetscCall(VecRestoreArrayReadAndMemType(s->edges, &g->ax));
  PetscCall(VecRestoreArrayReadAndMemType(s->D, &g->D));
  PetscCall(VecRestoreArrayReadAndMemType(s->h, &g->h));
  PetscFunctionReturn(0);
}

PetscErrorCode SeaNeighbours(Sea *s, Vec u, Vec lu, Vec *with)
{
  PetscFunctionBegin;
  *with = s->alone ? u : lu;
  if (s->alone) PetscFunctionReturn(0);
  PetscCall(DMGlobalToLocalBegin(s->dm, u, INSERT_VALUES, lu));
  PetscCall(DMGlobalToLocalEnd(s->dm, u, INSERT_VALUES, lu));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ depth ------------------------------------------------ */

/* Computes the bed at ghost nodes, too, so that it needs no exchange */
static PetscErrorCode CreateBed(Sea *s)
{
  PetscInt     xs, ys, xm, ym;
  PetscScalar *bed;
  PetscReal    here = 0.0, most, omega = 0.0;

  PetscFunctionBegin;
  PetscCall(DMDAGetGhostCorners(s->dm, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(VecGetArrayWrite(s->bed, &bed));
  for (PetscInt j = 0; j < ym; ++j) {
    for (PetscInt i = 0; i < xm; ++i) {
      bed[j * xm + i] = SeaBed(s, xs + i, ys + j);
      here            = PetscMax(here, bed[j * xm + i]);
    }
  }
  PetscCall(VecRestoreArrayWrite(s->bed, &bed));
  PetscCallMPI(MPI_Allreduce(&here, &s->maxdepth, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  most = s->maxdepth + PetscAbsReal(s->tideheight);
  PetscCheck(s->maxdepth - PetscAbsReal(s->tideheight) >= s->mindepth, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "There is no water%s: no node is deeper than -waves_min_depth %g", s->tideperiod > 0.0 ? " when the tide is low" : "", (double)s->mindepth);
  for (int k = 0; k <= 64; ++k)
    omega = PetscMax(omega, SeaDispersion(s, 4.0 / PetscSqr(s->d[0]) + 4.0 / PetscSqr(s->d[1]), s->mindepth + k / 64.0 * (most - s->mindepth)));
  omega += PetscAbsReal(s->current[0]) / s->d[0] + PetscAbsReal(s->current[1]) / s->d[1];
  PetscCheck(omega * s->dt < 0.99, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Leapfrog is unstable with -waves_dt %g on this grid and depth: use less than %g",
             (double)s->dt, (double)(0.99 / omega));
  PetscFunctionReturn(0);
}

PetscErrorCode SeaSetDepth(Sea *s)
{
  WavesDepth a;

  PetscFunctionBegin;
  s->tide    = s->tideperiod > 0.0 ? s->tideheight * PetscCosReal(2.0 * PETSC_PI * s->t / s->tideperiod) : 0.0;
  a.model    = s->model;
  a.kappa    = s->kappa;
  a.mindepth = s->mindepth;
  a.tide     = s->tide;
  PetscCall(DMDAGetGhostCorners(s->dm, NULL, NULL, NULL, &a.gxm, &a.gym, NULL));
  PetscCall(VecGetArrayReadAndMemType(s->bed, &a.bed, NULL));
  PetscCall(VecGetArrayWriteAndMemType(s->h, &a.h, NULL));
  PetscCall(VecGetArrayWriteAndMemType(s->D, &a.D, NULL));
  WavesDo(s, WavesDepth, &a);
  PetscCall(VecRestoreArrayWriteAndMemType(s->D, &a.D));
  PetscCall(VecRestoreArrayWriteAndMemType(s->h, &a.h));
  PetscCall(VecRestoreArrayReadAndMemType(s->bed, &a.bed));
  PetscFunctionReturn(0);
}

PetscReal SeaDispersion(const Sea *s, PetscReal k2, PetscReal h)
{
  PetscReal D, M, N;

  WavesCoefficients(s->model, s->kappa, h, &D, &M, &N);
  return PetscSqrtReal(GRAVITY * k2 * h * (1.0 - h * D * D * k2 / (M + N * k2)));
}

/* ------------------------------------------------ edges ------------------------------------------------ */

/* Largest influence of the edges of this type, or a later one, on node k of n: from 1 on the edge down to 0 at their width; d = 0 for west and east */
static PetscReal EdgeShare(const Sea *s, EdgeType type, int d, PetscInt k)
{
  const PetscReal distance[2] = {k * s->d[d], (s->n[d] - 1 - k) * s->d[d]};
  PetscReal       share       = 0.0;

  for (int e = 0; e < 2; ++e) {
    if (s->edge[2 * d + e] >= type) share = PetscMax(share, 1.0 - distance[e] / s->edgewidth);
  }
  return share;
}

/* Makes the tables of WavesDamping(), and finds the nodes where they are zero */
static PetscErrorCode CreateEdges(Sea *s)
{
  const PetscInt first[2] = {s->xs, s->ys}, m[2] = {s->xm, s->ym};
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(CreateTable(s, 3 * (s->xm + s->ym), &s->edges));
  PetscCall(VecGetArrayWrite(s->edges, &a));
  for (int d = 0; d < 2; ++d) {
    PetscInt lo = 0, hi = m[d];

    for (PetscInt k = 0; k < m[d]; ++k) {
      const PetscInt  at    = first[d] + k;
      const PetscBool outer = (PetscBool)((at == 0 && s->edge[2 * d] == EDGE_OPEN) || (at == s->n[d] - 1 && s->edge[2 * d + 1] == EDGE_OPEN));

      a[k]            = 3.0 / s->edgewidth * PetscSqr(EdgeShare(s, EDGE_OPEN, d, at));
      a[m[d] + k]     = 6.0 / s->edgewidth * PetscSqr(EdgeShare(s, EDGE_INCOMING, d, at));
      a[2 * m[d] + k] = outer ? 1.0 / s->d[d] : 0.0;
      if (EdgeShare(s, EDGE_OPEN, d, at) > 0.0) {
        if (2 * at < s->n[d]) lo = k + 1;
        else hi = PetscMin(hi, k);
      }
    }
    s->inner[2 * d]     = lo;
    s->inner[2 * d + 1] = hi;
    a += 3 * m[d];
  }
  a -= 3 * (s->xm + s->ym);
  PetscCall(VecRestoreArrayWrite(s->edges, &a));
  PetscFunctionReturn(0);
}

/* Boxes of the own nodes near incoming edges: columns in the west and in the east, and the remaining parts of the rows in the south and in the north */
static void FindZone(Sea *s)
{
  PetscInt x[2] = {0, s->xm}, y[2] = {0, s->ym};

  while (x[0] < s->xm && EdgeShare(s, EDGE_INCOMING, 0, s->xs + x[0]) > 0.0) ++x[0];
  while (x[1] > x[0] && EdgeShare(s, EDGE_INCOMING, 0, s->xs + x[1] - 1) > 0.0) --x[1];
  while (y[0] < s->ym && EdgeShare(s, EDGE_INCOMING, 1, s->ys + y[0]) > 0.0) ++y[0];
  while (y[1] > y[0] && EdgeShare(s, EDGE_INCOMING, 1, s->ys + y[1] - 1) > 0.0) --y[1];
  const WavesBox box[4] = {
    {0,    x[0],  0,    s->ym},
    {x[1], s->xm, 0,    s->ym},
    {x[0], x[1],  0,    y[0] },
    {x[0], x[1],  y[1], s->ym}
  };
  s->nzone = 0;
  for (int e = 0; e < 4; ++e) {
    if (box[e].x0 < box[e].x1 && box[e].y0 < box[e].y1) s->zone[s->nzone++] = box[e];
  }
}

/* ------------------------------------------------ incoming waves ------------------------------------------------ */

/* Uniform in [0,1), a function of the index alone: the finaliser of splitmix64 */
static PetscReal Random(PetscInt index)
{
  unsigned long long z = (unsigned long long)(index + 1) * 0x9E3779B97F4A7C15ULL;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z = z ^ (z >> 31);
  return (PetscReal)(z >> 11) / 9007199254740992.0;
}

/* Plane waves whose heights follow the JONSWAP spectrum, in directions of up to 15 degrees to both sides; waves too short for the grid are left out */
static PetscErrorCode MakeWaves(Sea *s, PetscReal h)
{
  const PetscReal fp = 1.0 / s->period, lo = 0.6 * fp, hi = 2.2 * fp;
  const PetscInt  n   = s->components;
  PetscReal       sum = 0.0;

  PetscFunctionBegin;
  s->nwave = 0;
  for (PetscInt c = 0; c < n; ++c) {
    const PetscReal f = lo + (hi - lo) * (c + Random(3 * c)) / n, width = f < fp ? 0.07 : 0.09, e = PetscSqr((f - fp) / (width * fp)) / 2.0;
    const PetscReal angle = PETSC_PI / 180.0 * (s->direction + 30.0 * (Random(3 * c + 1) - 0.5));
    Wave           *w     = &s->wave[s->nwave];
    PetscReal       k0 = 0.0, k1 = 1.2 / PetscMax(s->d[0], s->d[1]);

    w->omega = 2.0 * PETSC_PI * f;
    if (SeaDispersion(s, k1 * k1, h) < w->omega) continue;
    for (int bisection = 0; bisection < 60; ++bisection) {
      const PetscReal k = 0.5 * (k0 + k1);

      if (SeaDispersion(s, k * k, h) < w->omega) k0 = k;
      else k1 = k;
    }
    w->k[0]  = k0 * PetscCosReal(angle);
    w->k[1]  = k0 * PetscSinReal(angle);
    w->phase = 2.0 * PETSC_PI * Random(3 * c + 2);
    w->a     = PetscSqrtReal(PetscPowReal(f / fp, -5.0) * PetscExpReal(-1.25 * PetscPowReal(fp / f, 4.0)) * PetscPowReal(3.3, PetscExpReal(-e)));
    sum += 0.5 * w->a * w->a;
    s->nwave++;
  }
  PetscCheck(s->nwave, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "Waves of period %g s are too short for this grid: use more nodes or a longer period in -waves_incoming", (double)s->period);
  for (PetscInt c = 0; c < s->nwave; ++c) s->wave[c].a *= s->height / 4.0 / PetscSqrtReal(sum);
  PetscFunctionReturn(0);
}

/* The waves are computed for the largest depth at incoming edges or, if they fill the sea at the start, for its largest depth */
static PetscErrorCode CreateWaves(Sea *s)
{
  const PetscScalar *h;
  PetscScalar       *ex, *ey;
  WavesGrid          g;
  PetscReal          here = 0.0, most;

  PetscFunctionBegin;
  if (!s->components) PetscFunctionReturn(0);
  FindZone(s);
  PetscCall(SeaGetGrid(s, &g));
  PetscCall(VecGetArrayRead(s->h, &h));
  for (PetscInt z = 0; z < s->nzone; ++z) {
    for (PetscInt j = s->zone[z].y0; j < s->zone[z].y1; ++j) {
      for (PetscInt i = s->zone[z].x0; i < s->zone[z].x1; ++i) here = PetscMax(here, h[WavesWith(&g, i, j)]);
    }
  }
  PetscCall(VecRestoreArrayRead(s->h, &h));
  PetscCall(SeaRestoreGrid(s, &g));
  PetscCallMPI(MPI_Allreduce(&here, &most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  if (s->start == START_WAVES) most = s->maxdepth + s->tide;
  PetscCheck(most > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The incoming edge lies on land: choose another one in -waves_edges");
  PetscCall(MakeWaves(s, most));
  PetscCall(CreateTable(s, 2 * s->nwave * (s->xm + s->ym), &s->waves));
  PetscCall(VecGetArrayWrite(s->waves, &ex));
  ey = ex + 2 * s->nwave * s->xm;
  for (PetscInt c = 0; c < s->nwave; ++c) {
    const Wave *w = &s->wave[c];

    for (PetscInt i = 0; i < s->xm; ++i) {
      ex[2 * c * s->xm + i]       = w->a * PetscCosReal(w->k[0] * s->d[0] * (s->xs + i) + w->phase);
      ex[(2 * c + 1) * s->xm + i] = w->a * PetscSinReal(w->k[0] * s->d[0] * (s->xs + i) + w->phase);
    }
    for (PetscInt j = 0; j < s->ym; ++j) {
      ey[2 * c * s->ym + j]       = PetscCosReal(w->k[1] * s->d[1] * (s->ys + j));
      ey[(2 * c + 1) * s->ym + j] = PetscSinReal(w->k[1] * s->d[1] * (s->ys + j));
    }
  }
  PetscCall(VecRestoreArrayWrite(s->waves, &ex));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ matrix and solver ------------------------------------------------ */

/*
  Preallocates five entries of each row by coordinates: south, west, itself, east, north; -1 for those beyond the edges of the grid. Two options keep PETSc
  3.18 from counting and inserting zeros of its own. On one process indices with ghosts are those of the matrix.
*/
static PetscErrorCode CreateMatrix(Sea *s)
{
  const PetscInt n = 5 * s->xm * s->ym;
  PetscInt      *row, *col;
  WavesGrid      g;

  PetscFunctionBegin;
  PetscCall(DMSetMatrixPreallocateSkip(s->dm, PETSC_TRUE));
  PetscCall(DMSetMatrixPreallocateOnly(s->dm, PETSC_TRUE));
  PetscCall(DMCreateMatrix(s->dm, &s->S));
  PetscCall(PetscMalloc2(n, &row, n, &col));
  PetscCall(SeaGetGrid(s, &g));
  for (PetscInt j = 0; j < s->ym; ++j) {
    for (PetscInt i = 0; i < s->xm; ++i) {
      const WavesNear near = WavesNearOf(&g, i, j);
      const PetscInt  l = WavesWith(&g, i, j), k = 5 * WavesOwn(&g, i, j);
      const PetscInt  to[5] = {l - near.s, l - near.w, l, l + near.e, l + near.n};

      for (int f = 0; f < 5; ++f) {
        row[k + f] = f == 2 || to[f] != l ? l : -1;
        col[k + f] = f == 2 || to[f] != l ? to[f] : -1;
      }
    }
  }
  PetscCall(SeaRestoreGrid(s, &g));
  if (s->alone) PetscCall(MatSetOption(s->S, MAT_USE_INODES, PETSC_FALSE)); /* no two rows have the same columns: skips their comparison */
  PetscCall((*(s->alone ? MatSetPreallocationCOO : MatSetPreallocationCOOLocal))(s->S, n, row, col));
  PetscCall(PetscFree2(row, col));
  PetscCall(MatSetOption(s->S, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* Passes the entries to the matrix, without a copy through the host if both are on the GPU */
PetscErrorCode SeaSetMatrix(Sea *s)
{
  const PetscScalar *v;
  WavesMatrix        a;
  VecType            type;
  char              *cuda;

  PetscFunctionBegin;
  a.model = s->model;
  a.kappa = s->kappa;
  PetscCall(SeaGetGrid(s, &a.grid));
  PetscCall(VecGetArrayWriteAndMemType(s->values, &a.v, NULL));
  WavesDo(s, WavesMatrix, &a);
  PetscCall(VecRestoreArrayWriteAndMemType(s->values, &a.v));
  PetscCall(SeaRestoreGrid(s, &a.grid));
  if (!s->S) PetscFunctionReturn(0);
  PetscCall(MatGetVecType(s->S, &type));
  PetscCall(PetscStrstr(type, "cuda", &cuda));
  if (cuda) {
    PetscCall(VecGetArrayReadAndMemType(s->values, &v, NULL));
    PetscCall(MatSetValuesCOO(s->S, v, INSERT_VALUES));
    PetscCall(VecRestoreArrayReadAndMemType(s->values, &v));
  } else {
    PetscCall(VecGetArrayRead(s->values, &v));
    PetscCall(MatSetValuesCOO(s->S, v, INSERT_VALUES));
    PetscCall(VecRestoreArrayRead(s->values, &v));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Sea *s)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(PCSetDM(pc, s->dm)); // for the preconditioner only: with KSPSetDM() the DM would make the matrix
  PetscCall(KSPSetOperators(s->ksp, s->S, s->S));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetNormType(s->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(s->ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, MAX_ITERATIONS));
  PetscCall(KSPSetInitialGuessNonzero(s->ksp, PETSC_TRUE));
  PetscCall(KSPSetErrorIfNotConverged(s->ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(KSPSetUp(s->ksp));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ start ------------------------------------------------ */

/* Value of the standing wave at a node; walls are half a mesh width outside of the outer nodes */
PetscReal SeaMode(const Sea *s, PetscInt i, PetscInt j)
{
  return PetscCosReal(PETSC_PI * s->mode[0] * (i + 0.5) / s->n[0]) * PetscCosReal(PETSC_PI * s->mode[1] * (j + 0.5) / s->n[1]);
}

static PetscErrorCode FillStart(Sea *s)
{
  const PetscReal    width = 0.06 * PetscMin(s->length[0], s->length[1]);
  const PetscScalar *h;
  PetscScalar       *zeta;
  WavesGrid          g;

  PetscFunctionBegin;
  Vec zero[] = {s->zeta, s->phi, s->psi, s->zeta0, s->phi0, s->psi0, s->b, s->zeta1, s->phi1}; /* the last three so that no frame allocates memory */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(zero); ++k) {
    if (zero[k]) PetscCall(VecSet(zero[k], 0.0));
  }
  if (s->start == START_WAVES) {
    PetscCall(SeaFillWaves(s));
    PetscCall(VecCopy(s->phi, s->phi0));
  } else if (s->start != START_REST) {
    PetscCall(SeaGetGrid(s, &g));
    PetscCall(VecGetArrayRead(s->h, &h));
    PetscCall(VecGetArray(s->zeta, &zeta));
    for (PetscInt j = 0; j < s->ym; ++j) {
      for (PetscInt i = 0; i < s->xm; ++i) {
        const PetscReal x = (s->xs + i) * s->d[0] - 0.5 * s->length[0], y = (s->ys + j) * s->d[1] - 0.5 * s->length[1];

        if (h[WavesWith(&g, i, j)] <= 0.0) continue;
        zeta[WavesOwn(&g, i, j)] = s->start == START_MODE ? SeaMode(s, s->xs + i, s->ys + j) : PetscExpReal(-(x * x + y * y) / (width * width));
      }
    }
    PetscCall(VecRestoreArray(s->zeta, &zeta));
    PetscCall(VecRestoreArrayRead(s->h, &h));
    PetscCall(SeaRestoreGrid(s, &g));
  }
  PetscCall(VecCopy(s->zeta, s->zeta0));
  PetscFunctionReturn(0);
}

PetscErrorCode SeaCreate(Sea *s)
{
  PetscFunctionBegin;
  PetscCall(CreateGrid(s));
  PetscCall(CreateBed(s));
  PetscCall(SeaSetDepth(s));
  PetscCall(CreateEdges(s));
  PetscCall(CreateWaves(s));
  PetscCall(CreateTable(s, 5 * s->xm * s->ym, &s->values));
  if (!s->host) PetscCall(CreateMatrix(s));
  PetscCall(SeaSetMatrix(s));
  if (s->tideperiod <= 0.0) PetscCall(VecDestroy(&s->values));
  if (!s->host) PetscCall(CreateSolver(s));
  PetscCall(FillStart(s));
  PetscFunctionReturn(0);
}

PetscErrorCode SeaReset(Sea *s)
{
  Vec *vec[] = {&s->zeta, &s->phi,  &s->psi, &s->zeta0, &s->phi0, &s->psi0,   &s->zeta1, &s->phi1,  &s->b,       &s->lzeta,
                &s->lphi, &s->lpsi, &s->bed, &s->h,     &s->D,    &s->values, &s->edges, &s->waves, &s->natural, &s->whole};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(vec); ++k) PetscCall(VecDestroy(vec[k]));
  PetscCall(VecScatterDestroy(&s->gather));
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(MatDestroy(&s->S));
  PetscCall(DMDestroy(&s->dm));
  PetscFunctionReturn(0);
}
