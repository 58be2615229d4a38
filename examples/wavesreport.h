/* What waves.c reports: pictures, energy, profile and checks */
#pragma once

#include "waves.h"
#include "png.h"

/* Energy of this frame: half of the integral of g zeta^2 + h |grad phi|^2 - 2 h D grad phi . grad psi + N |grad psi|^2 + M psi^2 + 2 zeta U . grad phi */
static PetscErrorCode Energy(Sea *s)
{
  const PetscReal area = s->d[0] * s->d[1];
  PetscScalar   **zeta, **phi, **psi;
  PetscReal       here = 0.0;

  PetscFunctionBegin;
  if (!s->watchenergy) PetscFunctionReturn(0);
  PetscCall(DMDAVecGetArrayRead(s->dm, s->lzeta, &zeta));
  PetscCall(DMDAVecGetArrayRead(s->dm, s->lphi, &phi));
  PetscCall(DMDAVecGetArrayRead(s->dm, s->lpsi, &psi));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) {
      const PetscScalar fx = phi[j][i + 1] - phi[j][i], fy = phi[j + 1][i] - phi[j][i], px = psi[j][i + 1] - psi[j][i], py = psi[j + 1][i] - psi[j][i];

      here += PetscRealPart(area * (GRAVITY * zeta[j][i] * zeta[j][i] + s->m[j][i] * psi[j][i] * psi[j][i]));
      here += PetscRealPart(s->hx[j][i] * fx * fx - 2.0 * s->ex[j][i] * fx * px + s->nx[j][i] * px * px + s->ux[j][i] * (zeta[j][i + 1] + zeta[j][i]) * fx);
      here += PetscRealPart(s->hy[j][i] * fy * fy - 2.0 * s->ey[j][i] * fy * py + s->ny[j][i] * py * py + s->uy[j][i] * (zeta[j + 1][i] + zeta[j][i]) * fy);
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(s->dm, s->lpsi, &psi));
  PetscCall(DMDAVecRestoreArrayRead(s->dm, s->lphi, &phi));
  PetscCall(DMDAVecRestoreArrayRead(s->dm, s->lzeta, &zeta));
  PetscCallMPI(MPI_Allreduce(&here, &s->energy, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  s->energy *= 0.5;
  if (!s->frame) s->energy0 = s->energy;
  PetscCheck(s->energy0 > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "A sea at rest has no energy to check: use -waves_start hump or mode");
  s->drift = PetscMax(s->drift, PetscAbsReal(s->energy / s->energy0 - 1.0));
  PetscFunctionReturn(0);
}

/* Times when the standing wave is flat, and the mean of zeta^2 where no edge damps it */
static PetscErrorCode Watch(Sea *s)
{
  PetscScalar **zeta;
  PetscReal     here[3] = {0.0, 0.0, 0.0}, sum[3];

  PetscFunctionBegin;
  if (!s->watchlevel) PetscFunctionReturn(0);
  PetscCall(DMDAVecGetArrayRead(s->dm, s->zeta, &zeta));
  for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
    for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) {
      if (s->start == START_MODE) here[0] += PetscRealPart(zeta[j][i]) * Mode(s, i, j);
      if (!Wet(s, i, j) || PetscRealPart(s->sigma[j][i]) > 0.0) continue;
      here[1] += PetscSqr(PetscRealPart(zeta[j][i]));
      here[2] += 1.0;
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(s->dm, s->zeta, &zeta));
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

static inline unsigned char Colour(PetscReal c)
{
  return (unsigned char)PetscMin(255.0, PetscMax(0.0, c));
}

/* Land in the light of its slope, water by its depth and in the light of the waves, the hulls of the ships red */
static void Paint(const Sea *s, const PetscScalar zeta[], PetscReal scale, PetscInt i, PetscInt j, unsigned char rgb[3])
{
  static const PetscReal deep[3] = {16, 62, 110}, shallow[3] = {96, 178, 186}, sand[3] = {214, 196, 150}, grass[3] = {132, 150, 96};
  const PetscInt         nb[4][2] = {
            {PetscMax(i - 1, 0),             j           },
            {PetscMin(i + 1, s->n[0] - 1),   j           },
            {i,              PetscMax(j - 1, 0)          },
            {i,              PetscMin(j + 1, s->n[1] - 1)}
  };
  const PetscReal h   = Depth(s, i, j);
  const PetscBool wet = (PetscBool)(h >= s->mindepth);
  PetscReal       level[4], slope, share, hull = 0.0;

  for (int k = 0; k < 4; ++k) {
    const PetscReal hk = Depth(s, nb[k][0], nb[k][1]);

    level[k] = wet ? PetscRealPart(zeta[(hk >= s->mindepth ? nb[k][1] * s->n[0] + nb[k][0] : j * s->n[0] + i)]) : -PetscMin(hk, 0.0);
  }
  slope = (level[1] - level[0]) / (2.0 * s->d[0]) - 0.6 * (level[3] - level[2]) / (2.0 * s->d[1]);
  share = wet ? PetscSqrtReal(h / s->maxdepth) : PetscMin(1.0, -PetscMin(h, 0.0) / 10.0);
  for (PetscInt k = 0; k < s->nship; ++k) hull = PetscMax(hull, Draft(s, &s->ship[k], i * s->d[0], j * s->d[1]));
  for (int c = 0; c < 3; ++c) {
    const PetscReal base = wet ? share * deep[c] + (1.0 - share) * shallow[c] : share * grass[c] + (1.0 - share) * sand[c];

    rgb[c] = Colour(base + (wet ? 1000.0 * scale : 60.0) * slope);
    if (hull > 0.0) rgb[c] = c ? 48 : 168;
  }
}

static PetscErrorCode Picture(Sea *s)
{
  PetscReal          scale                           = 1.0;
  char               prefix[PETSC_MAX_PATH_LEN - 16] = "waves", name[PETSC_MAX_PATH_LEN];
  const PetscScalar *zeta;
  PetscMPIInt        rank;

  PetscFunctionBegin;
  if (!s->every || s->frame % s->every) PetscFunctionReturn(0);
  PetscCall(Begin(s, ROUTINE_PICTURE));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_picture_scale", &scale, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-waves_picture_name", prefix, sizeof(prefix), NULL));
  if (!s->gather) {
    PetscCall(DMDACreateNaturalVector(s->dm, &s->natural));
    PetscCall(VecScatterCreateToZero(s->natural, &s->gather, &s->whole));
  }
  PetscCall(DMDAGlobalToNaturalBegin(s->dm, s->zeta, INSERT_VALUES, s->natural));
  PetscCall(DMDAGlobalToNaturalEnd(s->dm, s->zeta, INSERT_VALUES, s->natural));
  PetscCall(VecScatterBegin(s->gather, s->natural, s->whole, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(s->gather, s->natural, s->whole, INSERT_VALUES, SCATTER_FORWARD));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    unsigned char *rgb;

    PetscCall(VecGetArrayRead(s->whole, &zeta));
    PetscCall(PetscMalloc1(3 * (size_t)s->n[0] * s->n[1], &rgb));
    for (PetscInt j = 0; j < s->n[1]; ++j) {
      for (PetscInt i = 0; i < s->n[0]; ++i) Paint(s, zeta, scale, i, j, rgb + 3 * ((size_t)(s->n[1] - 1 - j) * s->n[0] + i));
    }
    PetscCall(VecRestoreArrayRead(s->whole, &zeta));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s%06" PetscInt_FMT ".png", prefix, s->frame));
    PetscCall(WritePNG(name, s->n[0], s->n[1], rgb));
    PetscCall(PetscFree(rgb));
  }
  PetscCall(End(s, ROUTINE_PICTURE));
  PetscFunctionReturn(0);
}

/* Milliseconds a frame in each routine, the slowest process counting, and how much faster than the sea itself the frames come */
static PetscErrorCode Profile(Sea *s)
{
  PetscLogDouble most[NROUTINES], sum = 0.0;
  PetscBool      profile = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_profile", &profile, NULL));
  if (!profile) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Allreduce(s->clock, most, NROUTINES, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  for (int r = 0; r < NROUTINES; ++r) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-14s %9.3f ms a frame\n", RoutineNames[r], 1e3 * most[r] / s->frames));
    if (r != ROUTINE_PICTURE) sum += most[r];
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-14s %9.3f ms a frame without pictures\n", "all", 1e3 * sum / s->frames));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "real-time factor %.2f against 20 frames a second\n", 0.05 * s->frames / sum));
  PetscFunctionReturn(0);
}

/*
  Errors where the figures of the run are outside of the bounds that the user gave. The frequency is that of the parabolic model in closed form, or, of the cosh model, that of
  water waves: they agree for waves about as long as -waves_wavelength.
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
    PetscCheck(s->maxits > 0 && s->maxits <= its, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations in a frame are not between 1 and %" PetscInt_FMT, s->maxits, its);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "at most %" PetscInt_FMT " iterations a frame\n", its));
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_check_dispersion", &bound, &set));
  if (set) {
    const PetscReal k = PETSC_PI * PetscSqrtReal(PetscSqr(s->mode[0] / (L[0] + d[0])) + PetscSqr(s->mode[1] / (L[1] + d[1]))), x2 = PetscSqr(k * s->depth);
    const PetscReal factor = s->model == MODEL_PARABOLIC ? k * s->depth * (1.0 + x2 / 15.0) / (1.0 + 0.4 * x2) : PetscTanhReal(k * s->depth), omega = PetscSqrtReal(GRAVITY * k * factor);
    PetscReal       measured;

    PetscCheck(s->start == START_MODE && !s->site && s->ncrossing > 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_check_dispersion needs -waves_start mode, a flat bottom and more frames");
    measured = PETSC_PI * (s->ncrossing - 1) / (s->crossing[1] - s->crossing[0]);
    PetscCheck(PetscAbsReal(measured / omega - 1.0) <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The wave has omega %g and not %g", (double)measured, (double)omega);
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
    PetscCheck(PetscAbsReal(height - s->height) <= bound * s->height, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The significant height is %g and not %g", (double)height, (double)s->height);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "significant height within %g\n", (double)bound));
  }
  PetscFunctionReturn(0);
}

/* -waves_check_dry: nothing may move on land */
static PetscErrorCode CheckDry(Sea *s)
{
  Vec           field[3] = {s->zeta, s->phi, s->psi};
  PetscScalar **u;
  PetscInt      here[2] = {0, 0}, sum[2];
  PetscBool     check   = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_check_dry", &check, NULL));
  if (!check) PetscFunctionReturn(0);
  for (int k = 0; k < 3; ++k) {
    PetscCall(DMDAVecGetArrayRead(s->dm, field[k], &u));
    for (PetscInt j = s->ys; j < s->ys + s->ym; ++j) {
      for (PetscInt i = s->xs; i < s->xs + s->xm; ++i) {
        if (Wet(s, i, j)) continue;
        here[0] += k == 0;
        here[1] += u[j][i] != 0.0;
      }
    }
    PetscCall(DMDAVecRestoreArrayRead(s->dm, field[k], &u));
  }
  PetscCallMPI(MPI_Allreduce(here, sum, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck(!sum[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " values on land are not zero", sum[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " of %" PetscInt_FMT " nodes are dry and stay so\n", sum[0], s->n[0] * s->n[1]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(Sea *s)
{
  PetscReal norm[3];
  PetscBool checksum = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " frames of %" PetscInt_FMT " x %" PetscInt_FMT " nodes, %.2f iterations a frame, at most %" PetscInt_FMT "\n", s->frames, s->n[0], s->n[1], (double)s->its / (double)s->frames, s->maxits));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_checksum", &checksum, NULL));
  if (checksum) {
    PetscCall(VecNorm(s->zeta, NORM_2, &norm[0]));
    PetscCall(VecNorm(s->phi, NORM_2, &norm[1]));
    PetscCall(VecNorm(s->psi, NORM_2, &norm[2]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "checksum zeta %.6e phi %.6e psi %.6e\n", (double)norm[0], (double)norm[1], (double)norm[2]));
  }
  PetscCall(Profile(s));
  PetscCall(Check(s));
  PetscCall(CheckDry(s));
  PetscFunctionReturn(0);
}
