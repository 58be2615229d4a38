static char help[] = "Waves and ships in shallow water: the linear Variational Boussinesq model on a rectangular grid, a frame each 0.05 s.\n"
                     "The sea:\n"
                     "  -waves_bathymetry flat|harbour|river|bay|port : each brings sizes, edges, ships and waves, which the options below override\n"
                     "  -waves_n <nx,ny>, -waves_lengths <lx,ly>, -waves_depth <of flat>, -waves_min_depth <below it, land is dry>\n"
                     "  -waves_model parabolic|cosh, -waves_wavelength <of cosh>, -waves_current <u,v>\n"
                     "  -waves_edges <wall|open|incoming, one or west,east,south,north>, -waves_edge_width <of open edges>\n"
                     "What moves it:\n"
                     "  -waves_start rest|hump|mode, -waves_mode <half waves in x and y>, -waves_incoming <significant height,peak period,direction>\n"
                     "  -waves_components <n>, -waves_ships <x,y,u,v,length,width,draft of each>, -waves_ship_shape ellipse|bathtub\n"
                     "  -waves_frames <n>, -waves_dt <s>, -waves_filter <share>\n"
                     "What is reported:\n"
                     "  -waves_picture <every so many frames>, -waves_picture_name <prefix>, -waves_picture_scale <light on a slope>\n"
                     "  -waves_checksum, -waves_profile, -waves_check_iterations <n>, -waves_check_dispersion <share>, -waves_check_energy <drift>,\n"
                     "  -waves_check_left <share of the energy>, -waves_check_height <share>, -waves_check_dry\n\n";

/*
  An ordinary PETSc program: it knows nothing of Polder and gets its solver by options. For instance

    ./waves -waves_bathymetry bay -waves_frames 1000 -waves_picture 20 -waves_profile -pc_type icc
    mpiexec -n 4 ./waves -waves_bathymetry port -waves_profile -dll_append /path/libpolder.so -options_file options/waves.opts

  The unknowns are the water level zeta, the potential phi at the surface and psi, the share of the vertical shape f(z) in the potential:

    zeta_t + div(zeta U + h grad phi - h D grad psi) = 0
    phi_t  + U . grad phi + g zeta                   = P
    M psi  + div(h D grad phi - N grad psi)          = 0

  with D = -(1/h) int f, M = int f'^2, N = int f^2 over the depth, and P = -(pressure of the ships) / density. Finite volumes around the nodes,
  leapfrog in time, and one solve of the third equation, S psi = b, for each frame.
*/

#include "waves.h"
#include "wavesreport.h"

/* ------------------------------------------------ set-up ------------------------------------------------ */

static PetscErrorCode CreateGrid(Sea *s)
{
  PetscScalar ***array[] = {&s->h, &s->m, &s->sigma, &s->sigmain, &s->pressure, &s->hx, &s->hy, &s->ex, &s->ey, &s->nx, &s->ny, &s->ux, &s->uy};

  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_STAR, s->n[0], s->n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &s->dm));
  PetscCall(DMSetFromOptions(s->dm));
  PetscCall(DMSetUp(s->dm));
  PetscCall(DMDAGetCorners(s->dm, &s->xs, &s->ys, NULL, &s->xm, &s->ym, NULL));
  PetscCall(DMCreateGlobalVector(s->dm, &s->zeta));
  Vec *copy[] = {&s->phi, &s->psi, &s->zeta0, &s->phi0, &s->psi0, &s->zetat, &s->phit, &s->b};
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(copy); ++k) PetscCall(VecDuplicate(s->zeta, copy[k]));
  PetscCall(DMCreateLocalVector(s->dm, &s->lzeta));
  PetscCall(VecDuplicate(s->lzeta, &s->lphi));
  PetscCall(VecDuplicate(s->lzeta, &s->lpsi));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(array); ++k) {
    PetscCall(VecDuplicate(s->lzeta, &s->coefficient[k]));
    PetscCall(VecSet(s->coefficient[k], 0.0));
    PetscCall(DMDAVecGetArray(s->dm, s->coefficient[k], array[k]));
  }
  PetscFunctionReturn(0);
}

/* Share of the open edges in a node, 1 on the edge and 0 beyond their width; which is how much of it lies on an edge of this type or a later one */
static PetscReal EdgeShare(const Sea *s, EdgeType type, PetscInt i, PetscInt j)
{
  const PetscReal distance[4] = {i * s->d[0], (s->n[0] - 1 - i) * s->d[0], j * s->d[1], (s->n[1] - 1 - j) * s->d[1]};
  PetscReal       share       = 0.0;

  for (int e = 0; e < 4; ++e) {
    if (s->edge[e] >= type) share = PetscMax(share, 1.0 - distance[e] / s->edgewidth);
  }
  return share;
}

/*
  Short waves are damped near the edges that are not walls: the level near open ones, level and potential near incoming ones, where both strive for
  those of the incoming waves. Long waves leave through the faces beyond the outer nodes of open edges, where the flux of a wave on its way out is c zeta.
*/
static void Damping(Sea *s, PetscInt i, PetscInt j)
{
  const PetscBool outer[4] = {(PetscBool)(i == 0), (PetscBool)(i == s->n[0] - 1), (PetscBool)(j == 0), (PetscBool)(j == s->n[1] - 1)};
  const PetscReal c        = PetscSqrtReal(GRAVITY * PetscRealPart(s->h[j][i]));
  PetscReal       open;

  open             = 3.0 * c / s->edgewidth * PetscSqr(EdgeShare(s, EDGE_OPEN, i, j));
  s->sigmain[j][i] = 6.0 * c / s->edgewidth * PetscSqr(EdgeShare(s, EDGE_INCOMING, i, j));
  for (int e = 0; e < 4; ++e) {
    if (outer[e] && s->edge[e] == EDGE_OPEN) open += c / s->d[e / 2];
  }
  s->sigma[j][i] = PetscMax(open, PetscRealPart(s->sigmain[j][i]));
}

/* What depends on the depth; the ghost nodes are computed as well, so that nothing is exchanged */
static PetscErrorCode FillCoefficients(Sea *s)
{
  const PetscReal rx = s->d[1] / s->d[0], ry = s->d[0] / s->d[1];
  PetscInt        xs, ys, xm, ym;
  PetscReal       here[2] = {0.0, 0.0}, most[2];

  PetscFunctionBegin;
  PetscCall(DMDAGetGhostCorners(s->dm, &xs, &ys, NULL, &xm, &ym, NULL));
  for (PetscInt j = ys; j < ys + ym; ++j) {
    for (PetscInt i = xs; i < xs + xm; ++i) {
      const PetscReal h = Depth(s, i, j);
      PetscReal       D, M, N;

      if (h < s->mindepth) continue;
      Coefficients(s, h, &D, &M, &N);
      s->h[j][i] = h;
      s->m[j][i] = M;
      Damping(s, i, j);
      here[0] = PetscMax(here[0], h);
      here[1] = PetscMax(here[1], Dispersion(s, 4.0 / PetscSqr(s->d[0]) + 4.0 / PetscSqr(s->d[1]), h));
    }
  }
  for (PetscInt j = ys; j < ys + ym; ++j) {
    for (PetscInt i = xs; i < xs + xm; ++i) {
      PetscReal D[3], M, N[3], h[3];

      if (!Wet(s, i, j)) continue;
      for (int k = 0; k < 3; ++k) {
        h[k] = Depth(s, i + (k == 1), j + (k == 2));
        Coefficients(s, h[k], &D[k], &M, &N[k]);
      }
      if (h[1] >= s->mindepth) {
        s->hx[j][i] = rx * 0.5 * (h[0] + h[1]);
        s->ex[j][i] = PetscRealPart(s->hx[j][i]) * 0.5 * (D[0] + D[1]);
        s->nx[j][i] = rx * 0.5 * (N[0] + N[1]);
        s->ux[j][i] = s->d[1] * s->current[0];
      }
      if (h[2] >= s->mindepth) {
        s->hy[j][i] = ry * 0.5 * (h[0] + h[2]);
        s->ey[j][i] = PetscRealPart(s->hy[j][i]) * 0.5 * (D[0] + D[2]);
        s->ny[j][i] = ry * 0.5 * (N[0] + N[2]);
        s->uy[j][i] = s->d[0] * s->current[1];
      }
    }
  }
  PetscCallMPI(MPI_Allreduce(here, most, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  s->maxdepth = most[0];
  PetscCheck(s->maxdepth > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "There is no water: no node is deeper than -waves_min_depth %g", (double)s->mindepth);
  most[1] += PetscAbsReal(s->current[0]) / s->d[0] + PetscAbsReal(s->current[1]) / s->d[1];
  PetscCheck(most[1] * s->dt < 0.99, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Leapfrog is unstable with -waves_dt %g on this grid and depth: use less than %g", (double)s->dt, (double)(0.99 / most[1]));
  PetscFunctionReturn(0);
}

/* S = dx dy M - div N grad; rows of dry nodes are those of the identity */
static PetscErrorCode CreateMatrix(Sea *s)
{
  PetscFunctionBegin;
  PetscCall(DMCreateMatrix(s->dm, &s->S));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) {
      const PetscScalar N[4]     = {s->ny[j - 1][i], s->nx[j][i - 1], s->nx[j][i], s->ny[j][i]};
      const PetscInt    nb[4][2] = {
           {i,     j - 1},
           {i - 1, j    },
           {i + 1, j    },
           {i,     j + 1}
      };
      MatStencil  row = {.i = i, .j = j}, col[5];
      PetscScalar v[5];
      PetscInt    n = 1;

      col[0] = row;
      v[0]   = Wet(s, i, j) ? s->d[0] * s->d[1] * s->m[j][i] : 1.0;
      for (int k = 0; k < 4; ++k) {
        if (nb[k][0] < 0 || nb[k][1] < 0 || nb[k][0] >= s->n[0] || nb[k][1] >= s->n[1]) continue;
        col[n] = (MatStencil){.i = nb[k][0], .j = nb[k][1]};
        v[0] += N[k];
        v[n++] = -N[k];
      }
      PetscCall(MatSetValuesStencil(s->S, 1, &row, n, col, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(s->S, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->S, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(s->S, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Sea *s)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
  PetscCall(KSPSetDM(s->ksp, s->dm));
  PetscCall(KSPSetDMActive(s->ksp, PETSC_FALSE));
  PetscCall(KSPSetOperators(s->ksp, s->S, s->S));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetNormType(s->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(s->ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetInitialGuessNonzero(s->ksp, PETSC_TRUE));
  PetscCall(KSPSetErrorIfNotConverged(s->ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(KSPSetUp(s->ksp));
  PetscFunctionReturn(0);
}

/* The nodes near an incoming edge, with a cos(k.x + phase) and a sin(k.x + phase) of each wave in each of them */
static PetscErrorCode CreateZone(Sea *s)
{
  PetscReal here = 0.0, most;
  PetscInt  n    = 0;

  PetscFunctionBegin;
  if (!s->nwave) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(s->xm * s->ym, &s->zone));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) {
      if (!Wet(s, i, j) || EdgeShare(s, EDGE_INCOMING, i, j) <= 0.0) continue;
      s->zone[n][0]   = i;
      s->zone[n++][1] = j;
      here            = PetscMax(here, PetscRealPart(s->h[j][i]));
    }
  }
  s->nzone = n;
  PetscCallMPI(MPI_Allreduce(&here, &most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCheck(most > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The incoming edge lies on land: choose another one in -waves_edges");
  PetscCall(MakeWaves(s, most));
  PetscCall(PetscMalloc4((size_t)n * s->nwave, &s->wavecos, (size_t)n * s->nwave, &s->wavesin, n, &s->zetain, n, &s->phiin));
  for (PetscInt z = 0; z < n; ++z) {
    for (PetscInt c = 0; c < s->nwave; ++c) {
      const Wave     *w     = &s->wave[c];
      const PetscReal angle = w->k[0] * s->d[0] * s->zone[z][0] + w->k[1] * s->d[1] * s->zone[z][1] + w->phase;

      s->wavecos[(size_t)z * s->nwave + c] = w->a * PetscCosReal(angle);
      s->wavesin[(size_t)z * s->nwave + c] = w->a * PetscSinReal(angle);
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FillStart(Sea *s)
{
  const PetscReal width = 0.06 * PetscMin(s->length[0], s->length[1]);
  PetscScalar   **zeta;

  PetscFunctionBegin;
  PetscCall(DMDAVecGetArray(s->dm, s->zeta, &zeta));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) {
      const PetscReal x = i * s->d[0] - 0.5 * s->length[0], y = j * s->d[1] - 0.5 * s->length[1];

      if (!Wet(s, i, j) || s->start == START_REST) zeta[j][i] = 0.0;
      else zeta[j][i] = s->start == START_MODE ? Mode(s, i, j) : PetscExpReal(-(x * x + y * y) / (width * width));
    }
  }
  PetscCall(DMDAVecRestoreArray(s->dm, s->zeta, &zeta));
  PetscCall(VecCopy(s->zeta, s->zeta0));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ a frame ------------------------------------------------ */

/* zeta = sum a cos(theta - omega t), phi = sum (g a / omega) sin(theta - omega t) with theta = k.x + phase, which begin gently over two periods */
static PetscErrorCode IncomingWaves(Sea *s)
{
  const PetscReal gentle = PetscMin(1.0, s->t / (2.0 * s->period + PETSC_SMALL));
  PetscReal       C[MAX_COMPONENTS], S[MAX_COMPONENTS], G[MAX_COMPONENTS];

  PetscFunctionBegin;
  if (!s->nwave) PetscFunctionReturn(0);
  PetscCall(Begin(s, ROUTINE_INCOMING));
  for (PetscInt c = 0; c < s->nwave; ++c) {
    C[c] = gentle * PetscCosReal(s->wave[c].omega * s->t);
    S[c] = gentle * PetscSinReal(s->wave[c].omega * s->t);
    G[c] = GRAVITY / s->wave[c].omega;
  }
  for (PetscInt z = 0; z < s->nzone; ++z) {
    const PetscReal *wc = s->wavecos + (size_t)z * s->nwave, *ws = s->wavesin + (size_t)z * s->nwave;
    PetscReal        zeta = 0.0, phi = 0.0;

    for (PetscInt c = 0; c < s->nwave; ++c) {
      zeta += wc[c] * C[c] + ws[c] * S[c];
      phi += G[c] * (ws[c] * C[c] - wc[c] * S[c]);
    }
    s->zetain[z] = zeta;
    s->phiin[z]  = phi;
  }
  PetscCall(End(s, ROUTINE_INCOMING));
  PetscFunctionReturn(0);
}

/* P = -g draft under the ships, which sink in over five seconds */
static PetscErrorCode Ships(Sea *s)
{
  const PetscReal gentle = PetscMin(1.0, s->t / 5.0);

  PetscFunctionBegin;
  if (!s->nship) PetscFunctionReturn(0);
  PetscCall(Begin(s, ROUTINE_SHIPS));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) s->pressure[j][i] = 0.0;
  }
  for (PetscInt k = 0; k < s->nship; ++k) {
    const Ship     *ship = &s->ship[k];
    const PetscReal r = 0.5 * (ship->length + ship->width), x = ship->x[0] + ship->v[0] * s->t, y = ship->x[1] + ship->v[1] * s->t;
    const PetscReal lo[2] = {PetscFloorReal((x - r) / s->d[0]), PetscFloorReal((y - r) / s->d[1])}, hi[2] = {PetscCeilReal((x + r) / s->d[0]), PetscCeilReal((y + r) / s->d[1])};

    for (PetscInt j = (PetscInt)PetscMax(s->ys, lo[1]); j < PetscMin(s->ys + s->ym, hi[1]); ++j) {
      for (PetscInt i = (PetscInt)PetscMax(s->xs, lo[0]); i < PetscMin(s->xs + s->xm, hi[0]); ++i) {
        if (Wet(s, i, j)) s->pressure[j][i] -= gentle * GRAVITY * Draft(s, ship, i * s->d[0], j * s->d[1]);
      }
    }
  }
  PetscCall(End(s, ROUTINE_SHIPS));
  PetscFunctionReturn(0);
}

/* Integral over the cell of div(c grad u), with c on the east and the north faces */
static inline PetscScalar DivGrad(PetscScalar *const *cx, PetscScalar *const *cy, PetscScalar *const *u, PetscInt i, PetscInt j)
{
  return cx[j][i] * (u[j][i + 1] - u[j][i]) - cx[j][i - 1] * (u[j][i] - u[j][i - 1]) + cy[j][i] * (u[j + 1][i] - u[j][i]) - cy[j - 1][i] * (u[j][i] - u[j - 1][i]);
}

/* Integral of div(U u) */
static inline PetscScalar Div(PetscScalar *const *cx, PetscScalar *const *cy, PetscScalar *const *u, PetscInt i, PetscInt j)
{
  return 0.5 * (cx[j][i] * (u[j][i + 1] + u[j][i]) - cx[j][i - 1] * (u[j][i] + u[j][i - 1]) + cy[j][i] * (u[j + 1][i] + u[j][i]) - cy[j - 1][i] * (u[j][i] + u[j - 1][i]));
}

/* Integral of U . grad u */
static inline PetscScalar DotGrad(PetscScalar *const *cx, PetscScalar *const *cy, PetscScalar *const *u, PetscInt i, PetscInt j)
{
  return 0.5 * (cx[j][i] * (u[j][i + 1] - u[j][i]) + cx[j][i - 1] * (u[j][i] - u[j][i - 1]) + cy[j][i] * (u[j + 1][i] - u[j][i]) + cy[j - 1][i] * (u[j][i] - u[j - 1][i]));
}

static PetscErrorCode Ghosts(Sea *s, Vec u, Vec lu)
{
  PetscFunctionBegin;
  PetscCall(DMGlobalToLocalBegin(s->dm, u, INSERT_VALUES, lu));
  PetscCall(DMGlobalToLocalEnd(s->dm, u, INSERT_VALUES, lu));
  PetscFunctionReturn(0);
}

/* b = -div(h D grad phi), and 2 psi - psi0 as the first guess of the new psi */
static PetscErrorCode RightHandSide(Sea *s)
{
  Vec           last;
  PetscScalar **phi, **b;

  PetscFunctionBegin;
  PetscCall(Begin(s, ROUTINE_RHS));
  PetscCall(Ghosts(s, s->phi, s->lphi));
  PetscCall(DMDAVecGetArrayRead(s->dm, s->lphi, &phi));
  PetscCall(DMDAVecGetArrayWrite(s->dm, s->b, &b));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) b[j][i] = -DivGrad(s->ex, s->ey, phi, i, j);
  }
  PetscCall(DMDAVecRestoreArrayWrite(s->dm, s->b, &b));
  PetscCall(DMDAVecRestoreArrayRead(s->dm, s->lphi, &phi));
  PetscCall(VecAXPBY(s->psi0, 2.0, -1.0, s->psi));
  last    = s->psi;
  s->psi  = s->psi0;
  s->psi0 = last;
  PetscCall(End(s, ROUTINE_RHS));
  PetscFunctionReturn(0);
}

/* S psi = b */
static PetscErrorCode Solve(Sea *s)
{
  PetscInt its;

  PetscFunctionBegin;
  PetscCall(Begin(s, ROUTINE_SOLVE));
  PetscCall(KSPSolve(s->ksp, s->b, s->psi));
  PetscCall(KSPGetIterationNumber(s->ksp, &its));
  s->its += its;
  s->maxits = PetscMax(s->maxits, its);
  PetscCall(End(s, ROUTINE_SOLVE));
  PetscFunctionReturn(0);
}

/* zeta_t = -div(h grad phi) + div(h D grad psi) - div(zeta U), phi_t = -U . grad phi - g zeta + P */
static PetscErrorCode Rates(Sea *s)
{
  const PetscReal area = s->d[0] * s->d[1];
  PetscScalar   **zeta, **phi, **psi, **zetat, **phit;

  PetscFunctionBegin;
  PetscCall(Begin(s, ROUTINE_RATES));
  PetscCall(Ghosts(s, s->zeta, s->lzeta));
  PetscCall(Ghosts(s, s->psi, s->lpsi));
  PetscCall(DMDAVecGetArrayRead(s->dm, s->lzeta, &zeta));
  PetscCall(DMDAVecGetArrayRead(s->dm, s->lphi, &phi));
  PetscCall(DMDAVecGetArrayRead(s->dm, s->lpsi, &psi));
  PetscCall(DMDAVecGetArrayWrite(s->dm, s->zetat, &zetat));
  PetscCall(DMDAVecGetArrayWrite(s->dm, s->phit, &phit));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) {
      zetat[j][i] = (-DivGrad(s->hx, s->hy, phi, i, j) + DivGrad(s->ex, s->ey, psi, i, j) - Div(s->ux, s->uy, zeta, i, j)) / area;
      phit[j][i]  = -DotGrad(s->ux, s->uy, phi, i, j) / area - GRAVITY * zeta[j][i] + s->pressure[j][i];
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(s->dm, s->phit, &phit));
  PetscCall(DMDAVecRestoreArrayWrite(s->dm, s->zetat, &zetat));
  PetscCall(DMDAVecRestoreArrayRead(s->dm, s->lpsi, &psi));
  PetscCall(DMDAVecRestoreArrayRead(s->dm, s->lphi, &phi));
  PetscCall(DMDAVecRestoreArrayRead(s->dm, s->lzeta, &zeta));
  PetscCall(End(s, ROUTINE_RATES));
  PetscFunctionReturn(0);
}

/*
  One field of the leapfrog: (u+ - u-) / 2dt = u_t - sigma (u+ + u-) / 2. The filter takes its share of u+ - 2u + u- into u, so that even and odd
  frames stay together.
*/
static PetscErrorCode Leap(Sea *s, Vec now, Vec before, Vec rate, PetscScalar *const *sigma)
{
  const PetscReal tau = s->frame ? 2.0 * s->dt : s->dt;
  PetscScalar   **u, **u0, **ut;

  PetscFunctionBegin;
  PetscCall(DMDAVecGetArray(s->dm, now, &u));
  PetscCall(DMDAVecGetArray(s->dm, before, &u0));
  PetscCall(DMDAVecGetArrayRead(s->dm, rate, &ut));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) {
      const PetscScalar damp = 0.5 * tau * sigma[j][i], next = ((1.0 - damp) * u0[j][i] + tau * ut[j][i]) / (1.0 + damp);

      u0[j][i] = u[j][i] + s->filter * (next - 2.0 * u[j][i] + u0[j][i]);
      u[j][i]  = next;
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(s->dm, rate, &ut));
  PetscCall(DMDAVecRestoreArray(s->dm, before, &u0));
  PetscCall(DMDAVecRestoreArray(s->dm, now, &u));
  PetscFunctionReturn(0);
}

static PetscErrorCode Leapfrog(Sea *s)
{
  PetscScalar **zetat, **phit;

  PetscFunctionBegin;
  PetscCall(Begin(s, ROUTINE_LEAPFROG));
  PetscCall(DMDAVecGetArray(s->dm, s->zetat, &zetat));
  PetscCall(DMDAVecGetArray(s->dm, s->phit, &phit));
  for (PetscInt z = 0; z < s->nzone; ++z) {
    const PetscInt i = s->zone[z][0], j = s->zone[z][1];

    zetat[j][i] += s->sigmain[j][i] * s->zetain[z];
    phit[j][i] += s->sigmain[j][i] * s->phiin[z];
  }
  PetscCall(DMDAVecRestoreArray(s->dm, s->phit, &phit));
  PetscCall(DMDAVecRestoreArray(s->dm, s->zetat, &zetat));
  PetscCall(Leap(s, s->zeta, s->zeta0, s->zetat, s->sigma));
  PetscCall(Leap(s, s->phi, s->phi0, s->phit, s->sigmain));
  PetscCall(End(s, ROUTINE_LEAPFROG));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Sea *s)
{
  PetscScalar ***array[] = {&s->h, &s->m, &s->sigma, &s->sigmain, &s->pressure, &s->hx, &s->hy, &s->ex, &s->ey, &s->nx, &s->ny, &s->ux, &s->uy};
  Vec           *vec[]   = {&s->zeta, &s->phi, &s->psi, &s->zeta0, &s->phi0, &s->psi0, &s->zetat, &s->phit, &s->b, &s->lzeta, &s->lphi, &s->lpsi, &s->natural, &s->whole};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(array); ++k) {
    PetscCall(DMDAVecRestoreArray(s->dm, s->coefficient[k], array[k]));
    PetscCall(VecDestroy(&s->coefficient[k]));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(vec); ++k) PetscCall(VecDestroy(vec[k]));
  PetscCall(PetscFree(s->zone));
  PetscCall(PetscFree4(s->wavecos, s->wavesin, s->zetain, s->phiin));
  PetscCall(VecScatterDestroy(&s->gather));
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(MatDestroy(&s->S));
  PetscCall(DMDestroy(&s->dm));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Sea          *s;
  PetscLogStage stage;
  PetscClassId  id;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&s));
  PetscCall(GetOptions(s));
  PetscCall(PetscClassIdRegister("Waves", &id));
  for (int r = 0; r < NROUTINES; ++r) PetscCall(PetscLogEventRegister(RoutineNames[r], id, &s->event[r]));
  PetscCall(PetscLogStageRegister("Frames", &stage));
  PetscCall(CreateGrid(s));
  PetscCall(FillCoefficients(s));
  PetscCall(CreateMatrix(s));
  PetscCall(CreateSolver(s));
  PetscCall(CreateZone(s));
  PetscCall(FillStart(s));
  PetscCall(PetscLogStagePush(stage));
  for (s->frame = 0; s->frame < s->frames; ++s->frame) {
    s->t = s->frame * s->dt;
    PetscCall(IncomingWaves(s));
    PetscCall(Ships(s));
    PetscCall(RightHandSide(s));
    PetscCall(Solve(s));
    PetscCall(Rates(s));
    PetscCall(Energy(s));
    PetscCall(Watch(s));
    PetscCall(Picture(s));
    PetscCall(Leapfrog(s));
  }
  PetscCall(PetscLogStagePop());
  PetscCall(Report(s));
  PetscCall(Destroy(s));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # a standing wave has the frequency of the model, within 1 %
  testset:
    load: no
    args: -waves_start mode -waves_n 100,40 -waves_lengths 495,195 -waves_frames 500 -waves_filter 0 -pc_type jacobi -waves_check_dispersion 0.01
    filter: grep dispersion
    output_file: output/waves_dispersion.out

    test:
      suffix: dispersion
      args: -waves_mode {{6,0 0,4 7,5}} -waves_model {{parabolic cosh}}

    test:
      suffix: dispersion_shallow
      nsize: 2
      args: -waves_mode 4,1 -waves_depth 5

  # the scheme conserves energy up to its error in time, over a shoal, along quays, in a current
  testset:
    load: no
    args: -waves_start hump -waves_edges wall -waves_frames 600 -waves_filter 0 -pc_type jacobi -waves_check_energy 0.002
    filter: grep energy
    output_file: output/waves_energy.out

    test:
      suffix: energy
      nsize: {{1 2}}
      args: -waves_n 60,60

    test:
      suffix: energy_current
      args: -waves_n 60,60 -waves_current 3,1 -waves_model cosh

    test:
      suffix: energy_harbour
      args: -waves_bathymetry harbour -waves_n 60,120 -waves_ships 0,0,1,0,1,1,0

  # open edges let the waves out
  test:
    suffix: open
    load: no
    args: -waves_start hump -waves_edges open -waves_depth 5 -waves_n 61,61 -waves_lengths 600,600 -waves_frames 1600 -pc_type jacobi -waves_check_left 0.05
    filter: grep energy

  # incoming waves have their height
  test:
    suffix: height
    load: no
    args: -waves_n 161,4 -waves_lengths 800,15 -waves_edges incoming,open,wall,wall -waves_incoming 1.5,8,0 -waves_components 12 -waves_dt 0.1 -waves_frames 5000
      -ksp_rtol 1e-4 -pc_type jacobi -waves_check_height 0.1
    filter: grep height

  # the same on any number of processes, whatever moves
  testset:
    load: no
    nsize: {{1 3}}
    args: -waves_checksum -waves_check_dry -ksp_rtol 1e-12 -pc_type jacobi -waves_frames 60
    filter: grep -e checksum -e dry

    test:
      suffix: harbour
      args: -waves_bathymetry harbour -waves_n 61,121

    test:
      suffix: river
      args: -waves_bathymetry river -waves_n 126,51 -waves_current 0.5,0 -waves_dt 0.1

    test:
      suffix: bay
      args: -waves_bathymetry bay -waves_n 101,63 -waves_dt 0.2 -waves_model cosh

    test:
      suffix: port
      args: -waves_bathymetry port -waves_n 101,63 -waves_dt 0.2

  # few iterations, whatever the size
  testset:
    load: no
    args: -waves_bathymetry bay -waves_frames 40 -ksp_rtol 1e-5
    filter: grep "at most .* iterations"

    test:
      suffix: iterations_icc
      args: -pc_type icc -waves_check_iterations 16

    test:
      suffix: iterations_jacobi
      args: -pc_type jacobi -waves_check_iterations 50

  test:
    suffix: iterations_rrb
    args: -waves_bathymetry bay -waves_frames 40 -ksp_rtol 1e-5 -pc_type rrb -waves_check_iterations 7
    filter: grep "at most .* iterations"

  # with the solver of the option file, no option of which is left unused
  test:
    suffix: options
    nsize: {{1 2}}
    args: -waves_bathymetry river -waves_n 126,51 -waves_frames 40 -waves_check_iterations 30 -options_file ${POLDER_EXAMPLES}/options/waves.opts -options_left
    filter: grep -e "at most .* iterations" -e unused

  # pictures that a decoder reads, with ships and waves in them
  test:
    suffix: picture
    load: no
    nsize: {{1 2}}
    args: -waves_bathymetry port -waves_n 81,51 -waves_frames 81 -waves_dt 0.2 -waves_picture 40 -waves_picture_name frame -ksp_rtol 1e-10 -pc_type jacobi
    filter: python3 ${POLDER_TESTS}/data/png.py frame000000.png frame000080.png

  testset:
    load: no

    test:
      suffix: no_bathymetry
      args: -waves_bathymetry atlantis
      fails: -waves_bathymetry atlantis is not known: use flat, harbour, river, bay or port

    test:
      suffix: negative_size
      nsize: 2
      args: -waves_n 40,-3
      fails: -waves_n must be at least 3 in each direction, not -3

    test:
      suffix: negative_length
      args: -waves_lengths -500,500
      fails: -waves_lengths must be positive and finite, not -500

    test:
      suffix: unstable
      args: -waves_dt 0.5
      fails: Leapfrog is unstable with -waves_dt 0.5 on this grid and depth: use less than 0.2

    test:
      suffix: no_edge
      args: -waves_edges wall,wall,wall,cliff
      fails: The north edge cannot be cliff: use wall, open or incoming

    test:
      suffix: no_waves
      args: -waves_edges incoming
      fails: An incoming edge needs -waves_incoming height,period,direction

    test:
      suffix: half_ship
      args: -waves_ships 100,100,5
      fails: -waves_ships takes seven numbers for each ship

    test:
      suffix: no_water
      nsize: 2
      args: -waves_bathymetry bay -waves_min_depth 29
      fails: There is no water

    test:
      suffix: no_energy
      args: -waves_check_energy 0.1
      fails: A sea at rest has no energy to check

TEST*/
