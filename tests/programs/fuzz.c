static char help[] = "Random systems through the matrix types and the solvers of the library, compared with plain aij matrices and true residuals.\n\n";

#include "fuzz/fuzz.h"
#include <petscdm.h>
#include <petsctime.h>
#include <unistd.h>

typedef struct {
  char     name[48];
  PetscInt cases, converged, diverged, unsolved, refused;
} Kind;

typedef struct {
  Kind     kind[FUZZ_KINDS];
  int      nkind;
  PetscInt cases, wrong, refused, products, messages;
  char     message[FUZZ_KINDS][FUZZ_MESSAGE];
  PetscInt times[FUZZ_KINDS];
} Summary;

static PetscErrorCode Products(Fuzz *f)
{
  PetscFunctionBegin;
  PetscCall(FuzzCheckProducts(f, f->A, f->T, "a new matrix"));
  for (PetscInt steps = FuzzBetween(f, 0, 8); steps > 0 && !f->wrong; --steps) {
    if (FuzzChance(f, 20)) PetscCall(FuzzDerived(f));
    if (f->wrong) break;
    PetscCall(FuzzOperation(f));
    if (!f->wrong && FuzzChance(f, 70)) PetscCall(FuzzCheckProducts(f, f->A, f->T, "after it"));
    if (!f->wrong && FuzzChance(f, 60)) PetscCall(FuzzDerivedAgain(f));
  }
  if (!f->wrong) PetscCall(FuzzCheckProducts(f, f->A, f->T, "in the end"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(Fuzz *f)
{
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIOpen(f->comm, "/dev/null", &viewer));
  PetscCall(KSPView(f->ksp, viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(f->A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solves(Fuzz *f)
{
  PetscFunctionBegin;
  if (f->rows.nkernel > 0 && FuzzChance(f, 70)) PetscCall(FuzzMatrixNullSpace(f, PETSC_TRUE));
  PetscCall(FuzzSolver(f));
  PetscCall(FuzzSolve(f));
  for (PetscInt steps = FuzzBetween(f, 0, 5); steps > 0 && !f->wrong; --steps) {
    const PetscInt what = FuzzInt(f, 20);

    if (what < 12) PetscCall(FuzzOperation(f));
    else if (what == 12) {
      PetscBool fcg;

      PetscCall(PetscObjectTypeCompare((PetscObject)f->ksp, KSPFCG, &fcg)); /* does not survive it */
      FuzzLog(f, "\n reset");
      if (!fcg) PetscCall(KSPReset(f->ksp));
    } else if (what == 13) {
      PetscCall(FuzzSolverOptions(f, PETSC_FALSE));
      f->setting = PETSC_TRUE;
      PetscCall(KSPSetFromOptions(f->ksp));
      f->setting = PETSC_FALSE;
    } else if (what == 14) PetscCall(FuzzMatrixNullSpace(f, FuzzChance(f, 50)));
    else if (what == 15) PetscCall(View(f));
    else if (what == 16) {
      FuzzLog(f, "\n keep preconditioner");
      f->keeps = FuzzChance(f, 50);
      PetscCall(KSPSetReusePreconditioner(f->ksp, f->keeps));
    }
    if (f->wrong) break;
    PetscCall(KSPSetOperators(f->ksp, f->A, f->A));
    PetscCall(FuzzSolve(f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Start(Fuzz *f)
{
  static const char *const fills[] = {"0", "1", "1.5", "3", "1e30"}, *const prefixes[] = {"", "", "flow_"};

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(f->prefix, FuzzPick(f, prefixes), sizeof(f->prefix)));
  if (FuzzChance(f, 40)) {
    const char *fill = FuzzPick(f, fills), *half = FuzzChance(f, 50) ? "yes" : "no";

    PetscCall(PetscOptionsSetValue(NULL, "-mat_aijdia_max_fill", fill));
    PetscCall(PetscOptionsSetValue(NULL, "-mat_aijdia_symmetric", half));
    FuzzLog(f, " fill %s half %s", fill, half);
  }
  PetscCall(FuzzRowsCreate(f));
  PetscCall(FuzzMatrix(f));
  if (f->solves) PetscCall(Solves(f));
  else PetscCall(Products(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Finish(Fuzz *f)
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&f->ksp));
  PetscCall(FuzzDropKept(f));
  PetscCall(VecDestroy(&f->x));
  PetscCall(VecDestroy(&f->b));
  PetscCall(VecDestroy(&f->xt));
  PetscCall(MatDestroy(&f->A));
  PetscCall(MatDestroy(&f->T));
  PetscCall(DMDestroy(&f->dm));
  PetscCall(FuzzRowsDestroy(&f->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One case; *refused: it ended with an error, the same way on all processes. leak: bytes that it left */
static PetscErrorCode Case(Fuzz *f, PetscInt only, PetscInt seconds, PetscBool *refused, PetscLogDouble *leak)
{
  PetscErrorCode ierr, end;
  PetscLogDouble before, after;
  PetscMPIInt    failed, all, some;
  Fuzz           clean = {.seed = f->seed, .comm = f->comm, .rank = f->rank, .size = f->size, .verbose = f->verbose};

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(clean.always, f->always, sizeof(f->always)));
  PetscCall(PetscArraycpy(clean.without, f->without, sizeof(f->without)));
  *f = clean;
  FuzzGuardCase(f, seconds);
  f->state  = FuzzMix(f->seed + (uint64_t)f->size);
  f->solves = only < 0 ? FuzzChance(f, 65) : (PetscBool)only;
  PetscCall(PetscStrncpy(f->kind, "products", sizeof(f->kind)));
  PetscCall(PetscMallocGetCurrentUsage(&before));
  PetscCall(PetscOptionsCreate(&f->options));
  PetscCall(PetscOptionsPush(f->options));
  ierr   = Start(f);
  failed = ierr != 0;
  PetscCallMPI(MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MIN, f->comm));
  PetscCallMPI(MPI_Allreduce(&failed, &some, 1, MPI_INT, MPI_MAX, f->comm));
  if (all != some) FuzzWrong(f, "an error on some processes only: %s", f->message);
  else if (ierr == PETSC_ERR_PLIB || ierr == PETSC_ERR_MEMC || ierr == PETSC_ERR_MEM) FuzzWrong(f, "%s", f->message);
  else if (ierr) FuzzLog(f, "\n refused: %s", f->message);
  *refused = (PetscBool)(ierr != 0);
  end      = Finish(f);
  if (end) FuzzWrong(f, "an error while the objects of the case are destroyed: %s", f->message);
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&f->options));
  PetscCall(PetscMallocGetCurrentUsage(&after));
  *leak = after - before;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, leak, 1, MPI_DOUBLE, MPI_MAX, f->comm));
  PetscCall(FuzzAgree(f));
  FuzzGuardTime(0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of a message do not make it another one */
static void CountMessage(Summary *s, const char *message)
{
  char     text[FUZZ_MESSAGE];
  PetscInt m;
  size_t   n = 0;

  for (const char *c = message; *c && n < 150; ++c)
    if (*c < '0' || *c > '9') text[n++] = *c;
  text[n] = 0;
  for (m = 0; m < s->messages && strcmp(s->message[m], text); ++m) { }
  if (m == FUZZ_KINDS) return;
  if (m == s->messages) strcpy(s->message[s->messages++], text);
  ++s->times[m];
}

static void Count(Summary *s, const Fuzz *f, PetscBool refused)
{
  int k = 0;

  while (k < s->nkind && strcmp(s->kind[k].name, f->kind)) ++k;
  if (k == FUZZ_KINDS) k = FUZZ_KINDS - 1;
  if (k == s->nkind) strcpy(s->kind[s->nkind++].name, f->kind);
  ++s->kind[k].cases;
  ++s->cases;
  s->kind[k].converged += f->converged;
  s->kind[k].diverged += f->diverged;
  s->kind[k].unsolved += f->unsolved;
  s->kind[k].refused += refused;
  s->refused += refused;
  s->wrong += f->wrong;
  s->products += f->products;
  if (refused) CountMessage(s, f->message);
}

static PetscErrorCode Print(const Summary *s, PetscBool all)
{
  PetscFunctionBegin;
  if (all) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-22s %8s %9s %8s %8s %8s\n", "kind", "cases", "converged", "diverged", "unsolved", "refused"));
    for (int k = 0; k < s->nkind; ++k)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-22s %8" PetscInt_FMT " %9" PetscInt_FMT " %8" PetscInt_FMT " %8" PetscInt_FMT " %8" PetscInt_FMT "\n",
                            s->kind[k].name, s->kind[k].cases, s->kind[k].converged, s->kind[k].diverged, s->kind[k].unsolved, s->kind[k].refused));
    for (PetscInt m = 0; m < s->messages; ++m) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6" PetscInt_FMT " times refused: %s\n", s->times[m], s->message[m]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " products compared, %" PetscInt_FMT " cases refused\n", s->products, s->refused));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " cases, %" PetscInt_FMT " wrong\n", s->cases, s->wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(const Fuzz *f)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "-fuzz_seed %llu -fuzz_cases 1%s%s on %d processes:\n%s\n", (unsigned long long)f->seed,
                        f->only[0] ? " -fuzz_only " : "", f->only, f->size, f->log));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a case leaves is a leak if it leaves it each time: the first time something is set up that stays */
static PetscErrorCode Again(Fuzz *f, PetscInt only, PetscInt alarm, PetscLogDouble leak)
{
  PetscBool refused;

  PetscFunctionBegin;
  for (int k = 0; k < 2 && leak > 0; ++k) PetscCall(Case(f, only, alarm, &refused, &leak));
  if (leak > 0 && !f->wrong) FuzzWrong(f, "%g bytes are left%s", leak, refused ? " after an error" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static Fuzz    f;
  static Summary s;
  PetscInt       cases = 100, alarm = 60, only = -1;
  PetscReal      seconds = 0;
  PetscBool      all = PETSC_FALSE, stop = PETSC_FALSE, leaks = PETSC_TRUE;
  char           seed[32] = "1";
  Vec            keep;
  PetscLogDouble start, now;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-fuzz_seed", seed, sizeof(seed), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fuzz_cases", &cases, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-fuzz_seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fuzz_alarm", &alarm, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-fuzz_only", f.only, sizeof(f.only), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-fuzz_type", f.always, sizeof(f.always), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-fuzz_without", f.without, sizeof(f.without), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fuzz_summary", &all, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fuzz_verbose", &f.verbose, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fuzz_stop", &stop, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fuzz_leaks", &leaks, NULL));
  if (!strcmp(f.only, "products")) only = 0;
  if (!strcmp(f.only, "solves")) only = 1;
  f.comm = PETSC_COMM_WORLD;
  PetscCallMPI(MPI_Comm_rank(f.comm, &f.rank));
  PetscCallMPI(MPI_Comm_size(f.comm, &f.size));
  f.seed = strtoull(seed, NULL, 10);
  PetscCall(VecCreateMPI(f.comm, PETSC_DECIDE, 1, &keep)); /* what PETSC_COMM_WORLD has of PETSc's stays */
  PetscCall(FuzzGuard(&f, alarm));
  PetscCall(PetscTime(&start));
  for (PetscInt c = 0; c < cases; ++c) {
    const uint64_t this = f.seed;
    PetscBool      refused;
    int            over;
    PetscLogDouble leak;

    PetscCall(Case(&f, only, alarm, &refused, &leak));
    Count(&s, &f, refused);
    if (f.wrong) PetscCall(Report(&f));
    else if (leak > 0 && leaks && !f.setting && !(refused && (f.attached || !f.solves))) {
      PetscCall(Again(&f, only, alarm, leak));
      s.wrong += f.wrong;
      if (f.wrong) PetscCall(Report(&f));
    }
    if (f.unsolved && all && !f.wrong) PetscCall(Report(&f));
    f.seed = this + 1;
    PetscCall(PetscTime(&now));
    over = ((seconds > 0 && now - start > seconds) || (stop && f.wrong));
    PetscCallMPI(MPI_Bcast(&over, 1, MPI_INT, 0, f.comm));
    if (over) break;
  }
  PetscCall(PetscPopErrorHandler());
  PetscCall(VecDestroy(&keep));
  PetscCall(Print(&s, all));
  PetscCall(PetscFinalize());
  return s.wrong > 0;
}

/*TEST

  test:
    nsize: {{1 2 3 4}}
    args: -fuzz_seed 1 -fuzz_cases 400
    filter: grep -v "^WARNING\|^\[ *[0-9]*\]"
    leaks: an option that is refused leaves what PETSc keeps of the block of options
    timeoutfactor: 5

TEST*/
