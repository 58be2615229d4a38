/* What is said when a case crashes, hangs or finds something wrong; errors are kept and not printed */
#include "fuzz.h"
#include <signal.h>
#include <stdarg.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__)
void __asan_set_death_callback(void (*)(void));
#endif

/* A process that waits without computing is stopped after so many times the computing time that a case may take */
#define WAITS 20

static Fuzz *Current;
static char  Command[256];

static void Say(const char *text)
{
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(98);
}

static void Story(void)
{
  Say(Command);
  Say(Current->log);
  Say("\n");
}

static void Caught(int sig)
{
  signal(sig, SIG_DFL);
  Say(sig == SIGALRM || sig == SIGPROF ? "\nfuzz: no end in sight"
      : sig == SIGTERM                 ? "\nfuzz: told to stop"
      : sig == SIGSEGV                 ? "\nfuzz: segmentation violation"
                                       : "\nfuzz: caught a signal");
  Story();
  if (sig == SIGALRM || sig == SIGPROF) abort();
  raise(sig);
}

PetscErrorCode FuzzGuard(Fuzz *f, PetscInt seconds)
{
  static const int signals[] = {SIGALRM, SIGPROF, SIGTERM, SIGFPE, SIGILL, SIGBUS, SIGSEGV, SIGABRT};

  PetscFunctionBegin;
  Current = f;
#if defined(__SANITIZE_ADDRESS__)
  __asan_set_death_callback(Story);
#endif
  PetscCall(PetscPopSignalHandler());
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(signals); ++s) {
#if defined(__SANITIZE_ADDRESS__)
    if (signals[s] != SIGALRM && signals[s] != SIGPROF && signals[s] != SIGTERM) {
      signal(signals[s], SIG_DFL);
      continue;
    }
#endif
    signal(signals[s], Caught);
  }
  FuzzGuardCase(f, seconds);
  PetscCall(PetscPushErrorHandler(FuzzKeepMessage, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The seconds that a process may compute, since those that pass depend on what else the machine does; 0: as many as it likes */
void FuzzGuardTime(PetscInt seconds)
{
  const struct itimerval limit = {.it_value = {.tv_sec = (time_t)seconds}};

  setitimer(ITIMER_PROF, &limit, NULL);
  alarm((unsigned)(WAITS * seconds));
}

/* The command and the time of a case */
void FuzzGuardCase(Fuzz *f, PetscInt seconds)
{
  f->used   = 0;
  f->log[0] = f->message[0] = 0;
  snprintf(Command, sizeof(Command), "\nprocess %d of %d: -fuzz_seed %llu -fuzz_cases 1%s%s\n", f->rank, f->size, (unsigned long long)f->seed,
           f->only[0] ? " -fuzz_only " : "", f->only);
  FuzzGuardTime(seconds);
}

PetscErrorCode FuzzKeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  Fuzz *f = (Fuzz *)ctx;

  (void)comm;
  if (p != PETSC_ERROR_REPEAT && !f->message[0])
    snprintf(f->message, sizeof(f->message), "%s (%d, %s, %s:%d)", mess ? mess : "", (int)n, fun,
             file ? strrchr(file, '/') ? strrchr(file, '/') + 1 : file : "", line);
  if (f->verbose && f->rank == 0) fprintf(stderr, "  %s %s:%d %s\n", fun, file, line, p == PETSC_ERROR_REPEAT ? "" : mess);
  return n;
}

static void Append(Fuzz *f, const char *format, va_list list)
{
  int more;

  if (f->used + 1 >= FUZZ_LOG) return;
  more = vsnprintf(f->log + f->used, FUZZ_LOG - f->used, format, list);
  if (f->verbose && f->rank == 0) {
    fputs(f->log + f->used, stderr);
    fflush(stderr);
  }
  f->used = PetscMin(f->used + (size_t)PetscMax(more, 0), (size_t)FUZZ_LOG - 1);
}

void FuzzLog(Fuzz *f, const char *format, ...)
{
  va_list list;

  va_start(list, format);
  Append(f, format, list);
  va_end(list);
}

void FuzzWrong(Fuzz *f, const char *format, ...)
{
  va_list list;

  f->wrong = PETSC_TRUE;
  FuzzLog(f, "\nWRONG: ");
  va_start(list, format);
  Append(f, format, list);
  va_end(list);
}

/* Wrong on one process is wrong on all */
PetscErrorCode FuzzAgree(Fuzz *f)
{
  PetscMPIInt wrong = f->wrong;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, f->comm));
  f->wrong = (PetscBool)wrong;
  PetscFunctionReturn(PETSC_SUCCESS);
}
