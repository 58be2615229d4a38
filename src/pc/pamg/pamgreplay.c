/*
  Pairwise-aggregation multigrid: the launches of a cycle on the device, recorded once and replayed as one. A launch takes the host some 6 microseconds and a
  cycle makes 30 to 60 of them, which is longer than the kernels take on a million rows.
*/
#include "pamgsteps.h"

/* Does the cycle only launch kernels on this level, the gathering included? */
static PetscBool PamgOnlyLaunches(const PamgLevel *L)
{
  const PolderHalo halos[] = {L->halo, L->all, L->border.parts, L->border.planes};

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(halos); ++k) {
    if (halos[k] && !PolderHaloOnlyLaunches(halos[k])) return PETSC_FALSE;
  }
  return (PetscBool)(!L->wholevectors || PolderReplicaOnlyLaunches(L->wholevectors));
}

/* The first coarse level from which on the cycle only launches kernels; nlevel: none. The solver of a distributed last level is on the host */
static PetscInt PamgAlone(const PC_PAMG *pamg)
{
  PetscInt l = pamg->nlevel;

  if (pamg->level[l - 1].halo) return l;
  while (l > 1 && PamgOnlyLaunches(&pamg->level[l - 1])) --l;
  return l;
}

static PetscBool PamgSameEnds(const PamgEnds *e, const PamgEnds *f)
{
  return (PetscBool)(e->b == f->b && e->x == f->x && e->end.wide == f->end.wide && e->end.parts == f->end.parts && e->end.unit == f->end.unit &&
                     e->end.base == f->end.base && e->end.r == f->end.r && e->end.rho.state == f->end.rho.state && e->end.rho.first == f->end.rho.first);
}

PetscErrorCode PCPAMGFreeReplay(PamgReplay *replay)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceGraphDestroy(&replay->whole));
  PetscCall(PolderDeviceGraphDestroy(&replay->coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgWholeCycle(void *ctx)
{
  PC_PAMG        *pamg = (PC_PAMG *)ctx;
  const PamgEnds *ends = &pamg->replay.ends;

  PetscFunctionBegin;
  PetscCall(PCPAMGSolve(pamg, 0, (void *)ends->b, (void *)ends->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgCoarseCycle(void *ctx)
{
  PC_PAMG   *pamg = (PC_PAMG *)ctx;
  PamgLevel *C    = &pamg->level[pamg->replay.from];

  PetscFunctionBegin;
  PetscCall(PCPAMGSolve(pamg, pamg->replay.from, C->b, C->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can a whole cycle be recorded? In double precision the first level may read the arrays of the matrix, which may be others in the next cycle */
static PetscBool PamgWholeOnlyLaunches(const PC_PAMG *pamg)
{
  const PamgLevel *L = pamg->level;

  return (PetscBool)(PamgAlone(pamg) == 1 && pamg->nlevel > 1 && (pamg->precision != PAMG_DOUBLE || L->ownval) && PamgOnlyLaunches(L));
}

/*
  What to replay: *whole the whole cycle, otherwise with replay.usecoarse the coarse levels. Nothing in the first cycle of new levels, so that each kernel has
  run once before it is recorded. A whole cycle is recorded for vectors that are likely to come again: those of the cycle before, and those of a solver that
  takes (r, z) from the cycle
*/
static PetscErrorCode PamgChooseReplay(PC_PAMG *pamg, const PamgEnds *ends, PetscBool *whole)
{
  PamgReplay    *replay = &pamg->replay;
  const PetscInt made   = pamg->nsetup + pamg->nrefresh;
  PetscBool      lasting, only = PETSC_FALSE;

  PetscFunctionBegin;
  if (replay->made != made) PetscCall(PCPAMGFreeReplay(replay));
  if (replay->nsetup == pamg->nsetup && pamg->direct) PetscCall(PolderCoarseOnlyLaunches(pamg->coarse, &only));
  lasting        = (PetscBool)((ends->end.r && !replay->whole) || PamgSameEnds(ends, &replay->last));
  replay->nsetup = pamg->nsetup;
  replay->made   = made;
  replay->last   = *ends;
  *whole         = (PetscBool)(only && PamgWholeOnlyLaunches(pamg) && ((replay->whole && PamgSameEnds(ends, &replay->ends)) || lasting));
  if (*whole && !PamgSameEnds(ends, &replay->ends)) PetscCall(PolderDeviceGraphDestroy(&replay->whole));
  if (*whole) replay->ends = *ends;
  replay->usecoarse = (PetscBool)(only && !*whole);
  replay->again     = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgReplay_Private(PC_PAMG *pamg, PolderDeviceGraph *graph, PetscErrorCode (*cycle)(void *))
{
  PetscFunctionBegin;
  pamg->replay.again = (PetscBool) !!*graph;
  PetscCall(PolderDeviceReplay(graph, cycle, pamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the first coarse level on that only launches kernels, which is another one once all exchanges are known */
static PetscErrorCode PamgSolveCoarse(PC_PAMG *pamg, PetscInt l, void *b, void *x)
{
  PamgReplay *replay = &pamg->replay;

  PetscFunctionBegin;
  if (!replay->usecoarse || l != PamgAlone(pamg)) {
    PetscCall(PCPAMGSolve(pamg, l, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (replay->from != l) PetscCall(PolderDeviceGraphDestroy(&replay->coarse));
  replay->from = l;
  PetscCall(PamgReplay_Private(pamg, &replay->coarse, PamgCoarseCycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSolveDevice(PC_PAMG *pamg, PetscInt l, void *b, void *x)
{
  const PamgEnds ends  = {b, x, pamg->end};
  PetscBool      whole = PETSC_FALSE;

  PetscFunctionBegin;
  if (l) PetscCall(PamgSolveCoarse(pamg, l, b, x));
  else {
    PetscCall(PamgChooseReplay(pamg, &ends, &whole));
    if (whole) PetscCall(PamgReplay_Private(pamg, &pamg->replay.whole, PamgWholeCycle));
    else PetscCall(PCPAMGSolve(pamg, 0, b, x));
    pamg->replay.usecoarse = PETSC_FALSE; // a set-up runs parts of a cycle
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
