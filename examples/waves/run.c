/* Runs the sea of waves.c: its frames, a second sea that checks the loops of a GPU, and the search for the largest grid in real time */
#include "waves.h"
#include <petsclog.h>

/* ------------------------------------------------ a twin on the host ------------------------------------------------ */

/* The fields of this frame and the one before, which the loops may change; b, depth and matrix entries are derived from them */
enum {
  NFIELDS = 6,
  NALL    = 10
};

static PetscInt Fields(const Sea *s, Vec vec[NALL])
{
  const Vec all[NALL] = {s->zeta, s->phi, s->psi, s->zeta0, s->phi0, s->psi0, s->b, s->h, s->D, s->values};

  for (int k = 0; k < NALL; ++k) vec[k] = all[k];
  return s->values ? NALL : NALL - 1;
}

static PetscErrorCode CopyFields(const Sea *s, const Sea *twin)
{
  Vec                from[NALL], to[NALL];
  const PetscScalar *a;
  PetscScalar       *b;
  PetscInt           n;

  PetscFunctionBegin;
  (void)Fields(s, from);
  (void)Fields(twin, to);
  for (int k = 0; k < NFIELDS; ++k) {
    PetscCall(VecGetLocalSize(from[k], &n));
    PetscCall(VecGetArrayRead(from[k], &a));
    PetscCall(VecGetArrayWrite(to[k], &b));
    PetscCall(PetscArraycpy(b, a, n));
    PetscCall(VecRestoreArrayWrite(to[k], &b));
    PetscCall(VecRestoreArrayRead(from[k], &a));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Compare(const Sea *s, const Sea *twin, PetscReal bound)
{
  static const char *const name[NALL] = {"zeta", "phi", "psi", "zeta before", "phi before", "psi before", "b", "h", "D", "S"};
  const PetscInt           nall       = Fields(s, (Vec[NALL]){NULL});
  Vec                      vec[2][NALL];

  PetscFunctionBegin;
  (void)Fields(s, vec[0]);
  (void)Fields(twin, vec[1]);
  for (PetscInt k = 0; k < nall; ++k) {
    const PetscScalar *a, *b;
    PetscReal          here[3] = {0.0, 0.0, 0.0}, most[3];
    PetscInt           n;

    PetscCall(VecGetLocalSize(vec[0][k], &n));
    PetscCall(VecGetArrayRead(vec[0][k], &a));
    PetscCall(VecGetArrayRead(vec[1][k], &b));
    for (PetscInt i = 0; i < n; ++i) {
      if (PetscIsInfOrNanScalar(a[i]) || PetscIsInfOrNanScalar(b[i])) here[2] += 1.0;
      here[0] = PetscMax(here[0], PetscAbsScalar(a[i] - b[i]));
      here[1] = PetscMax(here[1], PetscAbsScalar(b[i]));
    }
    PetscCall(VecRestoreArrayRead(vec[1][k], &b));
    PetscCall(VecRestoreArrayRead(vec[0][k], &a));
    PetscCallMPI(MPI_Allreduce(here, most, 3, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
    PetscCheck(most[2] == 0.0 && most[0] <= bound * most[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Frame %" PetscInt_FMT ": %s differs by %g of %g from the host's, and has at least %g numbers that are not finite", s->frame, name[k],
               (double)most[0], (double)most[1], (double)most[2]);
  }
  PetscFunctionReturn(0);
}

/* Runs one part of a frame; with a twin, in both seas from the same fields. Unwritten values then differ */
static PetscErrorCode Part(Sea *s, Sea *twin, PetscReal bound, PetscErrorCode (*part)(Sea *))
{
  PetscFunctionBegin;
  if (twin) {
    Vec poison[2][3] = {
      {s->zeta1,    s->phi1,    part == SeaRightHandSide ? s->b : NULL   },
      {twin->zeta1, twin->phi1, part == SeaRightHandSide ? twin->b : NULL}
    };

    twin->frame = s->frame;
    twin->t     = s->t;
    PetscCall(CopyFields(s, twin));
    for (int k = 0; k < 6; ++k) {
      if (poison[k / 3][k % 3]) PetscCall(VecSet(poison[k / 3][k % 3], NAN));
    }
  }
  PetscCall((*part)(s));
  if (!twin) PetscFunctionReturn(0);
  PetscCall((*part)(twin));
  PetscCall(Compare(s, twin, bound));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ frames ------------------------------------------------ */

/* Bytes of arrays copied between host and device so far */
static PetscLogDouble Copied(void)
{
#if defined(PETSC_HAVE_DEVICE)
  return petsc_ctog_sz + petsc_gtoc_sz;
#else
  return 0.0;
#endif
}

/* -waves_check_copies: from the second frame on, no copy between host and device may be as long as a vector */
static PetscErrorCode CheckCopies(const Sea *s, PetscLogDouble before)
{
  PetscBool check = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_check_copies", &check, NULL));
  if (!check) PetscFunctionReturn(0);
  PetscCheck(Copied() - before < 8.0 * s->xm * s->ym, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes were copied between host and device, and a vector has %g",
             Copied() - before, 8.0 * s->xm * s->ym);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "less than a vector was copied in %" PetscInt_FMT " frames\n", s->frames - 1));
  PetscFunctionReturn(0);
}

static PetscErrorCode Frame(Sea *s, Sea *twin, PetscReal bound)
{
  PetscFunctionBegin;
  s->t = s->frame * s->dt;
  PetscCall(Part(s, twin, bound, SeaRefresh));
  PetscCall(Part(s, twin, bound, SeaRightHandSide));
  PetscCall(SeaSolve(s));
  PetscCall(SeaWatch(s));
  PetscCall(SeaPicture(s));
  PetscCall(Part(s, twin, bound, SeaStep));
  PetscFunctionReturn(0);
}

/* Shows the sea after the last frame, if a picture is due: a longer run shows it at the beginning of its next frame */
static PetscErrorCode LastPicture(Sea *s)
{
  PetscFunctionBegin;
  if (!SeaPictureIsDue(s)) PetscFunctionReturn(0);
  s->t = s->frame * s->dt;
  PetscCall(SeaRefresh(s));
  PetscCall(SeaPicture(s));
  PetscFunctionReturn(0);
}

PetscErrorCode SeaRun(Sea *s)
{
  Sea           *twin = NULL;
  PetscReal      bound;
  PetscLogDouble copied = 0.0;
  PetscLogStage  stage;
  PetscBool      check;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_check_twin", &bound, &check));
  if (check) {
    PetscCall(PetscNew(&twin));
    *twin      = *s;
    twin->host = PETSC_TRUE;
    PetscCall(SeaCreate(twin));
  }
  PetscCall(SeaCreate(s));
  PetscCall(PetscLogStageRegister("Frames", &stage));
  PetscCall(PetscLogStagePush(stage));
  if (s->profile) WavesDo(s, WavesWait); // what is left of the start belongs to no routine
  for (s->frame = 0; s->frame < s->frames; ++s->frame) {
    if (s->frame == 1) copied = Copied();
    PetscCall(Frame(s, twin, bound));
  }
  PetscCall(CheckCopies(s, copied));
  PetscCall(LastPicture(s));
  PetscCall(PetscLogStagePop());
  if (check) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " frames on the %s agree within %g with those on the host\n", s->frames,
                          s->device ? "device" : "host", (double)bound));
    PetscCall(SeaReset(twin));
    PetscCall(PetscFree(twin));
  }
  PetscCall(SeaReport(s));
  PetscCall(SeaReset(s));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------ real time ------------------------------------------------ */

/* The part of the memory of a GPU that the search uses: solvers take more while they are set up */
#define MEMORY 0.9

/* What the search assumes instead of measuring it, where it is positive: nanoseconds a node, and the nodes that there is memory for */
typedef struct {
  PetscReal ns, nodes;
} Assumptions;

/* The nodes of the largest sea that there is memory for, as far as this one of so many nodes tells */
static PetscErrorCode FindRoom(PETSC_UNUSED const Sea *s, const Assumptions *assume, PetscReal nodes, PetscReal *room)
{
  PetscReal used = 0.0, most;

  PetscFunctionBegin;
  WavesDo(s, WavesMemory, &used);
  PetscCallMPI(MPI_Allreduce(&used, &most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *room = assume->nodes > 0.0 ? assume->nodes : most > 0.0 ? MEMORY * nodes / most : PETSC_MAX_REAL;
  PetscFunctionReturn(0);
}

/* Milliseconds a frame of a sea `scale` times as large as in the options, with the same mesh widths, its nodes, and for how many there is room */
static PetscErrorCode TimeFrames(const Sea *options, PetscReal scale, const Assumptions *assume, PetscReal *nodes, PetscReal *ms, PetscReal *room)
{
  const PetscInt warmup = 5;
  PetscLogDouble start = 0.0, end, solve = 0.0, took[2], most[2];
  Sea           *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *s = *options;
  for (int d = 0; d < 2; ++d) {
    s->n[d]      = PetscMax(3, (PetscInt)(options->n[d] * PetscSqrtReal(scale) + 0.5));
    s->length[d] = options->length[d] * (s->n[d] - 1) / (options->n[d] - 1);
  }
  *nodes = (PetscReal)s->n[0] * s->n[1];
  PetscCall(SeaCreate(s));
  for (s->frame = 0; s->frame < warmup + s->frames; ++s->frame) {
    if (s->frame == warmup) {
      WavesDo(s, WavesWait);
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      PetscCall(PetscTime(&start));
      solve  = s->clock[ROUTINE_SOLVE];
      s->its = s->maxits = 0;
    }
    PetscCall(Frame(s, NULL, 0.0));
  }
  WavesDo(s, WavesWait);
  PetscCall(PetscTime(&end));
  took[0] = 1e3 * (end - start) / s->frames;
  took[1] = 1e3 * (s->clock[ROUTINE_SOLVE] - solve) / s->frames;
  PetscCallMPI(MPI_Allreduce(took, most, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  if (assume->ns > 0.0) most[0] = 1e-6 * assume->ns * *nodes;
  *ms = (PetscReal)most[0];
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%6" PetscInt_FMT " x %6" PetscInt_FMT
                        " = %8.3f million nodes: %8.3f ms a frame, %8.3f of them solve, %5.2f iterations, %6.2f times real time\n",
                        s->n[0], s->n[1], (double)(1e-6 * *nodes), most[0], most[1], (double)s->its / (double)s->frames, 50.0 / most[0]));
  PetscCall(FindRoom(s, assume, *nodes, room));
  PetscCall(SeaReset(s));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(0);
}

/*
  Searches the largest sea whose frames take at most `limit`. The next size assumes a time proportional to the size and aims slightly below `limit`, up to 16
  times the size; between a sea that holds the rate and one that does not, it is their geometric mean. The search ends near the largest sea whose matrix
  entries the indices can count, or that the memory of the GPUs has room for.
*/
PetscErrorCode SeaRealTime(Sea *s)
{
  Assumptions assume = {0.0, 0.0};
  PetscReal   rate = 20.0, limit, fits = 0.0, fails = 0.0, scale = 1.0, count, most, nodes, ms, room, best[2] = {0.0, 0.0};

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_realtime_rate", &rate, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_realtime_assume", &assume.ns, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_realtime_room", &assume.nodes, NULL));
  PetscCheck(rate > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_realtime_rate must be positive, not %g", (double)rate);
  limit = 1e3 / rate;
  PetscCall(SeaMostNodes(&count));
  count *= 0.95; /* the number of nodes in each direction is rounded */
  do {
    PetscCall(TimeFrames(s, scale, &assume, &nodes, &ms, &room));
    most = PetscMin(count, room) / ((PetscReal)s->n[0] * s->n[1]);
    if (ms <= limit) {
      fits    = scale;
      best[0] = nodes;
      best[1] = ms;
    } else fails = scale;
    PetscCheck(nodes > 9.0 || fits > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Not even a grid of 3 x 3 nodes holds %.0f frames a second here",
               (double)rate);
    if (fails == 0.0) scale = PetscMin(most, fits * PetscMin(16.0, PetscMax(1.1, 0.98 * limit / ms)));
    else if (fits == 0.0) scale = fails * PetscMax(0.0625, PetscMin(0.9, 0.98 * limit / ms));
    else scale = PetscSqrtReal(fits * fails);
  } while (best[1] < 0.95 * limit && fits < most && (fits == 0.0 || fails == 0.0 || fails > 1.1 * fits));
  if (fits >= most && best[1] < 0.95 * limit) {
    if (room < count) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "there is no memory for a larger sea\n"));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "indices of %d bits cannot count the entries of a larger sea\n", (int)(8 * sizeof(PetscInt))));
  }
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%.0f frames a second up to %.3f million nodes: %.3f ms a frame\n", (double)rate, (double)(1e-6 * best[0]), (double)best[1]));
  PetscFunctionReturn(0);
}
