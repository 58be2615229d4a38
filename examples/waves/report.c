/* Measurements and reports of waves.c: energy, level, profile, checks */
#include "waves.h"

/* Energy of this frame: half of the integral of g zeta^2 + h |grad phi|^2 - 2 h D grad phi . grad psi + N |grad psi|^2 + M psi^2 + 2 zeta U . grad phi */
static PetscErrorCode Energy(Sea *s)
{
  Vec                vec[5] = {NULL, NULL, NULL, s->h, s->D};
  const PetscScalar *u[5];
  WavesGrid          g;
  PetscReal          here = 0.0;

  PetscFunctionBegin;
  if (!s->watchenergy) PetscFunctionReturn(0);
  PetscCall(SeaNeighbours(s, s->zeta, s->lzeta, &vec[0]));
  PetscCall(SeaNeighbours(s, s->phi, s->lphi, &vec[1]));
  PetscCall(SeaNeighbours(s, s->psi, s->lpsi, &vec[2]));
  PetscCall(SeaGetGrid(s, &g));
  for (int k = 0; k < 5; ++k) PetscCall(VecGetArrayRead(vec[k], &u[k]));
  for (PetscInt j = 0; j < s->ym; ++j) {
    for (PetscInt i = 0; i < s->xm; ++i) {
      const WavesNear near = WavesNearOf(&g, i, j);
      const PetscInt  l = WavesWith(&g, i, j), to[2] = {l + near.e, l + near.n};
      const PetscReal ratio[2] = {s->d[1] / s->d[0], s->d[0] / s->d[1]}, flow[2] = {s->d[1] * s->current[0], s->d[0] * s->current[1]};
      PetscReal       D, M, N, Dto, Mto, Nto;

      if (u[3][l] <= 0.0) continue;
      WavesCoefficients(s->model, s->kappa, u[3][l], &D, &M, &N);
      here += s->d[0] * s->d[1] * (GRAVITY * PetscSqr(u[0][l]) + M * PetscSqr(u[2][l]));
      for (int f = 0; f < 2; ++f) {
        const PetscInt  m  = to[f];
        const PetscReal dp = u[1][m] - u[1][l], dq = u[2][m] - u[2][l], hface = 0.5 * (u[3][l] + u[3][m]);

        if (m == l || u[3][m] <= 0.0) continue;
        WavesCoefficients(s->model, s->kappa, u[3][m], &Dto, &Mto, &Nto);
        here += ratio[f] * (hface * dp * dp - hface * (D + Dto) * dp * dq + 0.5 * (N + Nto) * dq * dq) + flow[f] * (u[0][m] + u[0][l]) * dp;
      }
    }
  }
  for (int k = 0; k < 5; ++k) PetscCall(VecRestoreArrayRead(vec[k], &u[k]));
  PetscCall(SeaRestoreGrid(s, &g));
  PetscCallMPI(MPI_Allreduce(&here, &s->energy, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  s->energy *= 0.5;
  if (!s->frame) s->energy0 = s->energy;
  PetscCheck(s->energy0 > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "A sea at rest has no energy to check: use -waves_start hump, mode or waves");
  s->drift = PetscMax(s->drift, PetscAbsReal(s->energy / s->energy0 - 1.0));
  PetscFunctionReturn(0);
}

/* Records the times when the standing wave is flat, and the mean of zeta^2 where no edge damps it */
static PetscErrorCode Level(Sea *s)
{
  const PetscScalar *zeta, *h;
  WavesGrid          g;
  PetscReal          here[3] = {0.0, 0.0, 0.0}, sum[3];

  PetscFunctionBegin;
  if (!s->watchlevel) PetscFunctionReturn(0);
  PetscCall(SeaGetGrid(s, &g));
  PetscCall(VecGetArrayRead(s->zeta, &zeta));
  PetscCall(VecGetArrayRead(s->h, &h));
  for (PetscInt j = 0; j < s->ym; ++j) {
    for (PetscInt i = 0; i < s->xm; ++i) {
      const PetscReal z = zeta[WavesOwn(&g, i, j)];

      if (s->start == START_MODE) here[0] += z * SeaMode(s, s->xs + i, s->ys + j);
      if (h[WavesWith(&g, i, j)] <= 0.0 || i < g.i0 || i >= g.i1 || j < g.j0 || j >= g.j1) continue;
      here[1] += PetscSqr(z);
      here[2] += 1.0;
    }
  }
  PetscCall(VecRestoreArrayRead(s->h, &h));
  PetscCall(VecRestoreArrayRead(s->zeta, &zeta));
  PetscCall(SeaRestoreGrid(s, &g));
  PetscCallMPI(MPI_Allreduce(here, sum, 3, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  if (s->frame >= s->frames / 2) s->square += sum[1] / PetscMax(sum[2], 1.0) / (s->frames - s->frames / 2);
  if (s->frame && (s->projection > 0.0) != (sum[0] > 0.0)) {
    const PetscReal t = s->t - s->dt * sum[0] / (sum[0] - s->projection);

    if (!s->ncrossing++) s->crossing[0] = t;
    s->crossing[1] = t;
  }
  s->projection = sum[0];
  PetscFunctionReturn(0);
}

PetscErrorCode SeaWatch(Sea *s)
{
  PetscFunctionBegin;
  PetscCall(Energy(s));
  PetscCall(Level(s));
  PetscFunctionReturn(0);
}

/* Bytes a node that the loops must move: each field that they read or write counts once, with 8 bytes */
static PetscInt BytesRhs(void)
{
  return 8 * 7; /* phi, psi, psi0, h, D; b, psi */
}

static PetscInt BytesStep(const Sea *s)
{
  return 8 * (7 + 2 + (s->filter > 0.0 ? 2 : 0)); /* zeta, phi, psi, zeta0, phi0, h, D; zeta, phi; both filtered */
}

/* Bandwidth in bytes a second of a copy by all processes together, the best of five */
static PetscErrorCode CopyBandwidth(Sea *s, PetscReal *bandwidth)
{
  PetscLogDouble start, end, best = 1e30, most;

  PetscFunctionBegin;
  for (int k = 0; k < 6; ++k) {
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start));
    PetscCall(VecCopy(s->zeta, s->b));
    WavesDo(s, WavesWait);
    PetscCall(PetscTime(&end));
    if (k) best = PetscMin(best, end - start);
  }
  PetscCallMPI(MPI_Allreduce(&best, &most, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  *bandwidth = 16.0 * s->n[0] * s->n[1] / most;
  PetscFunctionReturn(0);
}

/* Milliseconds a frame in each routine, on the slowest process, and the ratio of simulated to real time */
static PetscErrorCode Profile(Sea *s)
{
  const PetscInt bytes[NROUTINES] = {[ROUTINE_RHS] = BytesRhs(), [ROUTINE_STEP] = BytesStep(s)};
  PetscLogDouble most[NROUTINES], sum = 0.0;
  PetscReal      copy = 0.0;

  PetscFunctionBegin;
  if (!s->profile) PetscFunctionReturn(0);
  PetscCall(CopyBandwidth(s, &copy));
  PetscCallMPI(MPI_Allreduce(s->clock, most, NROUTINES, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  for (int r = 0; r < NROUTINES; ++r) {
    const PetscReal ms = 1e3 * most[r] / s->frames, speed = bytes[r] * (PetscReal)s->n[0] * s->n[1] * s->frames / PetscMax(most[r], 1e-9);

    if (most[r] == 0.0) continue;
    if (r != ROUTINE_PICTURE) sum += most[r];
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-14s %9.3f ms a frame", SeaRoutineName((RoutineType)r), (double)ms));
    if (bytes[r])
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", %" PetscInt_FMT " bytes a node at %.1f GB/s, %.2f of a copy", bytes[r], (double)(1e-9 * speed),
                            (double)(speed / copy)));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%-14s %9.3f ms a frame without pictures; a copy reaches %.1f GB/s\n", "all", 1e3 * sum / s->frames, (double)(1e-9 * copy)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "real-time factor %.2f against 20 frames a second\n", 0.05 * s->frames / sum));
  PetscFunctionReturn(0);
}

/* -waves_histogram: the number of frames for each number of iterations */
static PetscErrorCode Histogram(Sea *s)
{
  PetscBool histogram = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_histogram", &histogram, NULL));
  if (!histogram) PetscFunctionReturn(0);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations  frames\n"));
  for (PetscInt k = 0; k <= MAX_ITERATIONS; ++k) {
    if (s->histogram[k]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%10" PetscInt_FMT " %7" PetscInt_FMT "\n", k, s->histogram[k]));
  }
  PetscFunctionReturn(0);
}

/*
  Raises an error when a figure of the run is outside the bounds of the user. The reference frequency is that of the parabolic model in closed form or, for
  the cosh model, that of water waves: both agree for waves about as long as -waves_wavelength.
*/
static PetscErrorCode Check(Sea *s)
{
  const PetscReal *L = s->length, *d = s->d, height = 4.0 * PetscSqrtReal(s->square);
  PetscReal        bound;
  PetscInt         its;
  PetscBool        set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_check_iterations", &its, &set));
  if (set) {
    PetscCheck(s->maxits > 0 && s->maxits <= its, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " iterations in a frame are not between 1 and %" PetscInt_FMT, s->maxits, its);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "at most %" PetscInt_FMT " iterations a frame\n", its));
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_check_dispersion", &bound, &set));
  if (set) {
    const PetscReal k = PETSC_PI * PetscSqrtReal(PetscSqr(s->mode[0] / (L[0] + d[0])) + PetscSqr(s->mode[1] / (L[1] + d[1]))), x2 = PetscSqr(k * s->depth);
    const PetscReal factor = s->model == MODEL_PARABOLIC ? k * s->depth * (1.0 + x2 / 15.0) / (1.0 + 0.4 * x2) : PetscTanhReal(k * s->depth),
                    omega  = PetscSqrtReal(GRAVITY * k * factor);
    PetscReal measured;

    PetscCheck(s->start == START_MODE && !s->site && s->ncrossing > 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "-waves_check_dispersion needs -waves_start mode, a flat bottom and more frames");
    measured = PETSC_PI * (s->ncrossing - 1) / (s->crossing[1] - s->crossing[0]);
    PetscCheck(PetscAbsReal(measured / omega - 1.0) <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The wave has omega %g and not %g", (double)measured,
               (double)omega);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "dispersion within %g\n", (double)bound));
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_check_energy", &bound, &set));
  if (set) {
    PetscCheck(s->drift <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The energy drifts by a share of %g", (double)s->drift);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "energy drifts by less than %g\n", (double)bound));
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_check_left", &bound, &set));
  if (set) {
    PetscCheck(s->energy <= bound * s->energy0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A share of %g of the energy is left", (double)(s->energy / s->energy0));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "less than %g of the energy is left\n", (double)bound));
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_check_height", &bound, &set));
  if (set) {
    PetscCheck(PetscAbsReal(height - s->height) <= bound * s->height, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The significant height is %g and not %g",
               (double)height, (double)s->height);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "significant height within %g\n", (double)bound));
  }
  PetscFunctionReturn(0);
}

/* -waves_check_dry: level and potential on land must be zero */
static PetscErrorCode CheckDry(Sea *s)
{
  Vec                field[3] = {s->zeta, s->phi, s->psi};
  const PetscScalar *h, *u;
  WavesGrid          g;
  PetscInt           here[2] = {0, 0}, sum[2];
  PetscBool          check   = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_check_dry", &check, NULL));
  if (!check) PetscFunctionReturn(0);
  PetscCall(SeaGetGrid(s, &g));
  PetscCall(VecGetArrayRead(s->h, &h));
  for (int k = 0; k < 3; ++k) {
    PetscCall(VecGetArrayRead(field[k], &u));
    for (PetscInt j = 0; j < s->ym; ++j) {
      for (PetscInt i = 0; i < s->xm; ++i) {
        if (h[WavesWith(&g, i, j)] > 0.0) continue;
        here[0] += k == 0;
        here[1] += u[WavesOwn(&g, i, j)] != 0.0;
      }
    }
    PetscCall(VecRestoreArrayRead(field[k], &u));
  }
  PetscCall(VecRestoreArrayRead(s->h, &h));
  PetscCall(SeaRestoreGrid(s, &g));
  PetscCallMPI(MPI_Allreduce(here, sum, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck(!sum[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " values on land are not zero", sum[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " of %" PetscInt_FMT " nodes are dry and stay so\n", sum[0], s->n[0] * s->n[1]));
  PetscFunctionReturn(0);
}

PetscErrorCode SeaReport(Sea *s)
{
  PetscReal norm[3];
  PetscBool checksum = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " frames of %" PetscInt_FMT " x %" PetscInt_FMT " nodes, %.2f iterations a frame, at most %" PetscInt_FMT "\n",
                        s->frames, s->n[0], s->n[1], (double)s->its / (double)s->frames, s->maxits));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_checksum", &checksum, NULL));
  if (checksum) {
    PetscCall(VecNorm(s->zeta, NORM_2, &norm[0]));
    PetscCall(VecNorm(s->phi, NORM_2, &norm[1]));
    PetscCall(VecNorm(s->psi, NORM_2, &norm[2]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "checksum zeta %.6e phi %.6e psi %.6e\n", (double)norm[0], (double)norm[1], (double)norm[2]));
  }
  PetscCall(Histogram(s));
  PetscCall(Profile(s));
  PetscCall(Check(s));
  PetscCall(CheckDry(s));
  PetscFunctionReturn(0);
}
