/* A frame of waves.c: new depth, S psi = b, rates of zeta and phi, leapfrog */
#include "waves.h"

static const char *const names[NROUTINES] = {"WavesRefresh", "WavesRhs", "WavesSolve", "WavesStep", "WavesIncoming", "WavesShips", "WavesPicture"};
static PetscLogEvent     event[NROUTINES];

PetscErrorCode SeaRegister(void)
{
  PetscClassId id;

  PetscFunctionBegin;
  PetscCall(PetscClassIdRegister("Waves", &id));
  for (int r = 0; r < NROUTINES; ++r) PetscCall(PetscLogEventRegister(names[r], id, &event[r]));
  PetscFunctionReturn(0);
}

const char *SeaRoutineName(RoutineType routine)
{
  return names[routine];
}

PetscErrorCode SeaBegin(Sea *s, RoutineType routine)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event[routine], 0, 0, 0, 0));
  PetscCall(PetscTime(&s->began));
  PetscFunctionReturn(0);
}

/* Ends a routine. A profile synchronises with the GPU, so that each routine gets its own time */
PetscErrorCode SeaEnd(Sea *s, RoutineType routine)
{
  PetscLogDouble now;

  PetscFunctionBegin;
  if (s->profile) WavesDo(s, WavesWait);
  PetscCall(PetscTime(&now));
  s->clock[routine] += now - s->began;
  PetscCall(PetscLogEventEnd(event[routine], 0, 0, 0, 0));
  PetscFunctionReturn(0);
}

/* With the tide, updates the depths and S every few frames; the pattern stays, so the preconditioner needs new values only */
PetscErrorCode SeaRefresh(Sea *s)
{
  Vec          vec[6] = {s->zeta, s->phi, s->psi, s->zeta0, s->phi0, s->psi0};
  PetscScalar *field[6];
  WavesGrid    g;

  PetscFunctionBegin;
  if (s->tideperiod <= 0.0 || !s->frame || s->frame % s->tideevery) PetscFunctionReturn(0);
  PetscCall(SeaBegin(s, ROUTINE_REFRESH));
  PetscCall(SeaSetDepth(s));
  PetscCall(SeaGetGrid(s, &g));
  for (int k = 0; k < 6; ++k) PetscCall(VecGetArrayAndMemType(vec[k], &field[k], NULL));
  WavesDo(s, WavesDry, &g, field);
  for (int k = 0; k < 6; ++k) PetscCall(VecRestoreArrayAndMemType(vec[k], &field[k]));
  PetscCall(SeaRestoreGrid(s, &g));
  PetscCall(SeaSetMatrix(s));
  if (s->ksp) {
    PetscCall(KSPSetOperators(s->ksp, s->S, s->S));
    PetscCall(KSPSetUp(s->ksp));
  }
  PetscCall(SeaEnd(s, ROUTINE_REFRESH));
  PetscFunctionReturn(0);
}

static void Swap(Vec *a, Vec *b)
{
  const Vec c = *a;

  *a = *b;
  *b = c;
}

/* b = -div(h D grad phi), and 2 psi - psi0 as the first guess of the new psi */
PetscErrorCode SeaRightHandSide(Sea *s)
{
  WavesRhs a;
  Vec      phi;

  PetscFunctionBegin;
  PetscCall(SeaBegin(s, ROUTINE_RHS));
  PetscCall(SeaNeighbours(s, s->phi, s->lphi, &phi));
  PetscCall(SeaGetGrid(s, &a.grid));
  for (int d = 0; d < 2; ++d) a.r[d] = 0.25 * s->d[1 - d] / s->d[d];
  PetscCall(VecGetArrayReadAndMemType(phi, &a.phi, NULL));
  PetscCall(VecGetArrayReadAndMemType(s->psi, &a.psi, NULL));
  PetscCall(VecGetArrayAndMemType(s->psi0, &a.guess, NULL));
  PetscCall(VecGetArrayWriteAndMemType(s->b, &a.b, NULL));
  WavesDo(s, WavesRhs, &a);
  PetscCall(VecRestoreArrayWriteAndMemType(s->b, &a.b));
  PetscCall(VecRestoreArrayAndMemType(s->psi0, &a.guess));
  PetscCall(VecRestoreArrayReadAndMemType(s->psi, &a.psi));
  PetscCall(VecRestoreArrayReadAndMemType(phi, &a.phi));
  PetscCall(SeaRestoreGrid(s, &a.grid));
  Swap(&s->psi, &s->psi0);
  PetscCall(SeaEnd(s, ROUTINE_RHS));
  PetscFunctionReturn(0);
}

/* S psi = b */
PetscErrorCode SeaSolve(Sea *s)
{
  PetscInt its;

  PetscFunctionBegin;
  PetscCall(SeaBegin(s, ROUTINE_SOLVE));
  PetscCall(KSPSolve(s->ksp, s->b, s->psi));
  PetscCall(KSPGetIterationNumber(s->ksp, &its));
  s->its += its;
  s->maxits = PetscMax(s->maxits, its);
  s->histogram[PetscMin(its, MAX_ITERATIONS)]++;
  PetscCall(SeaEnd(s, ROUTINE_SOLVE));
  PetscFunctionReturn(0);
}

/* Calls WavesIncoming in batches of as many waves as it takes */
static PetscErrorCode AddWaves(Sea *s, const WavesStep *a, WavesIncoming *in, PetscInt nbox, const WavesBox box[])
{
  const PetscReal    gentle = in->everywhere || s->start == START_WAVES ? 1.0 : PetscMin(1.0, s->t / (2.0 * s->period + PETSC_SMALL)); /* over two periods */
  const PetscScalar *table;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(s->waves, &table, NULL));
  for (PetscInt c0 = 0; c0 < s->nwave; c0 += WAVES_CHUNK) {
    in->n  = PetscMin(WAVES_CHUNK, s->nwave - c0);
    in->ex = table + 2 * c0 * s->xm;
    in->ey = table + 2 * s->nwave * s->xm + 2 * c0 * s->ym;
    for (PetscInt c = 0; c < in->n; ++c) {
      const PetscReal omega = s->wave[c0 + c].omega;

      in->c[c] = gentle * PetscCosReal(omega * s->t);
      in->s[c] = gentle * PetscSinReal(omega * s->t);
      in->g[c] = GRAVITY / omega;
    }
    for (PetscInt k = 0; k < nbox; ++k) WavesDo(s, WavesIncoming, a, in, &box[k]);
  }
  PetscCall(VecRestoreArrayReadAndMemType(s->waves, &table));
  PetscFunctionReturn(0);
}

/* Fills the sea, whose level and potential are zero on entry, with the incoming waves */
PetscErrorCode SeaFillWaves(Sea *s)
{
  const WavesBox all = {0, s->xm, 0, s->ym};
  WavesIncoming  in;
  WavesStep      a;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&a, sizeof(a)));
  in.everywhere = PETSC_TRUE;
  PetscCall(SeaGetGrid(s, &a.grid));
  PetscCall(VecGetArrayAndMemType(s->zeta, &a.z.next, NULL));
  PetscCall(VecGetArrayAndMemType(s->phi, &a.p.next, NULL));
  PetscCall(AddWaves(s, &a, &in, 1, &all));
  PetscCall(VecRestoreArrayAndMemType(s->phi, &a.p.next));
  PetscCall(VecRestoreArrayAndMemType(s->zeta, &a.z.next));
  PetscCall(SeaRestoreGrid(s, &a.grid));
  PetscFunctionReturn(0);
}

void SeaShip(const Sea *s, PetscInt k, WavesShip *to)
{
  const Ship     *ship  = &s->ship[k];
  const PetscReal speed = PetscSqrtReal(PetscSqr(ship->v[0]) + PetscSqr(ship->v[1]));

  *to = (WavesShip){
    s->shape,
    ship->x[0] + ship->v[0] * s->t,
    ship->x[1] + ship->v[1] * s->t,
    {speed > 0.0 ? ship->v[0] / speed : 1.0, speed > 0.0 ? ship->v[1] / speed : 0.0},
    ship->length,
    ship->width,
    ship->draft
  };
}

/* Adds the ships, whose draft grows over the first five seconds */
static PetscErrorCode AddShips(Sea *s, const WavesStep *a)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < s->nship; ++k) {
    WavesShip ship;
    WavesBox  box;
    PetscReal r, lo[2], hi[2];

    SeaShip(s, k, &ship);
    ship.x -= s->xs * s->d[0];
    ship.y -= s->ys * s->d[1];
    ship.draft *= PetscMin(1.0, s->t / 5.0);
    r = 0.5 * (ship.length + ship.width);
    for (int d = 0; d < 2; ++d) {
      const PetscReal x = d ? ship.y : ship.x, last = d ? s->ym : s->xm;

      lo[d] = PetscMin(last, PetscMax(0.0, PetscFloorReal((x - r) / s->d[d])));
      hi[d] = PetscMin(last, PetscMax(0.0, PetscCeilReal((x + r) / s->d[d])));
    }
    box = (WavesBox){(PetscInt)lo[0], (PetscInt)hi[0], (PetscInt)lo[1], (PetscInt)hi[1]};
    WavesDo(s, WavesShip, a, &ship, &box);
  }
  PetscFunctionReturn(0);
}

/* Gets the arrays of a field: the one of this frame is read only, the leapfrog writes the others */
static PetscErrorCode GetField(WavesField *f, Vec now, Vec before, Vec room)
{
  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(now, &f->now, NULL));
  PetscCall(VecGetArrayAndMemType(before, &f->next, NULL));
  f->filtered = NULL;
  if (room) PetscCall(VecGetArrayWriteAndMemType(room, &f->filtered, NULL));
  PetscFunctionReturn(0);
}

/* Restores the arrays: `before` holds the new field, and `room`, if any, the filtered field of this frame */
static PetscErrorCode RestoreField(WavesField *f, Vec *now, Vec *before, Vec *room)
{
  PetscFunctionBegin;
  if (*room) PetscCall(VecRestoreArrayWriteAndMemType(*room, &f->filtered));
  PetscCall(VecRestoreArrayAndMemType(*before, &f->next));
  PetscCall(VecRestoreArrayReadAndMemType(*now, &f->now));
  Swap(now, before);
  if (*room) Swap(before, room);
  PetscFunctionReturn(0);
}

/* The leapfrog is linear in the rates, so ships and incoming waves are added to its results afterwards */
PetscErrorCode SeaStep(Sea *s)
{
  const PetscBool current = (PetscBool)(s->current[0] != 0.0 || s->current[1] != 0.0);
  WavesIncoming   in;
  WavesStep       a;
  Vec             zeta, phi = s->alone ? s->phi : s->lphi, psi;

  PetscFunctionBegin;
  PetscCall(SeaBegin(s, ROUTINE_STEP));
  if (current) PetscCall(SeaNeighbours(s, s->zeta, s->lzeta, &zeta));
  PetscCall(SeaNeighbours(s, s->psi, s->lpsi, &psi));
  PetscCall(SeaGetGrid(s, &a.grid));
  a.zeta = NULL;
  if (current) PetscCall(VecGetArrayReadAndMemType(zeta, &a.zeta, NULL));
  PetscCall(VecGetArrayReadAndMemType(phi, &a.phi, NULL));
  PetscCall(VecGetArrayReadAndMemType(psi, &a.psi, NULL));
  PetscCall(GetField(&a.z, s->zeta, s->zeta0, s->zeta1));
  PetscCall(GetField(&a.p, s->phi, s->phi0, s->phi1));
  a.tau    = s->frame ? 2.0 * s->dt : s->dt;
  a.filter = s->filter;
  for (int d = 0; d < 2; ++d) a.r[d] = 0.5 / (s->d[d] * s->d[d]);
  WavesDo(s, WavesStep, &a);
  PetscCall(SeaEnd(s, ROUTINE_STEP));
  if (s->nzone) {
    PetscCall(SeaBegin(s, ROUTINE_INCOMING));
    in.everywhere = PETSC_FALSE;
    PetscCall(AddWaves(s, &a, &in, s->nzone, s->zone));
    PetscCall(SeaEnd(s, ROUTINE_INCOMING));
  }
  if (s->nship) {
    PetscCall(SeaBegin(s, ROUTINE_SHIPS));
    PetscCall(AddShips(s, &a));
    PetscCall(SeaEnd(s, ROUTINE_SHIPS));
  }
  PetscCall(VecRestoreArrayReadAndMemType(psi, &a.psi));
  PetscCall(VecRestoreArrayReadAndMemType(phi, &a.phi));
  if (current) PetscCall(VecRestoreArrayReadAndMemType(zeta, &a.zeta));
  PetscCall(RestoreField(&a.z, &s->zeta, &s->zeta0, &s->zeta1));
  PetscCall(RestoreField(&a.p, &s->phi, &s->phi0, &s->phi1));
  PetscCall(SeaRestoreGrid(s, &a.grid));
  PetscFunctionReturn(0);
}
