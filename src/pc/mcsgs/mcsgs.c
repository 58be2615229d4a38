/* PC mcsgs: symmetric Gauss-Seidel, M = (D + L) D^-1 (D + L^T), in the order of a colouring of the rows of all processes. */
#include "rows/sweepspc.h"
#include <petsc/private/pcimpl.h>

/*
  Greedy colours of the rows of all processes: a process waits for the neighbours of lower rank. On a box grid with a box a process there are two colours, the
  same as on one process. Collective
*/
static PetscErrorCode PCMCSGSColour_Private(PC pc, const PolderCSR *csr, const PolderGraph *g, PolderHalo halo, PetscInt colour[], PetscInt *count)
{
  PetscBool done = PETSC_FALSE;
  PetscInt  waiting;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < g->n + g->nghost; ++i) colour[i] = -1;
  *count = 0;
  do {
    PetscBool ready = PETSC_TRUE;

    if (halo) PetscCall(PolderHaloExchange(halo, MPIU_INT, colour, colour + g->n));
    for (PetscInt k = 0; k < g->nghost; ++k) ready = (PetscBool)(ready && (csr->garray[k] > csr->rstart || colour[g->n + k] >= 0));
    if (ready && !done) PetscCall(PolderGraphColour(g, 1, colour, count));
    done    = (PetscBool)(done || ready);
    waiting = !done;
    PetscCallAllreduce(MPI_IN_PLACE, &waiting, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  } while (waiting);
  if (halo) PetscCall(PolderHaloExchange(halo, MPIU_INT, colour, colour + g->n));
  PetscCallAllreduce(MPI_IN_PLACE, count, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMCSGSPattern_Private(PC pc, const PolderCSR *csr, const PolderCSR *there)
{
  PolderSweepsPC *sgs = (PolderSweepsPC *)pc->data;
  PolderGraph     g;
  PolderHalo      halo = NULL;
  PetscInt       *colour, count;
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt     size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCall(PolderHaloCreate(comm, csr->m, csr->nghost, csr->garray, &halo)); // that of the matrix ends with the matrix
  PetscCall(PolderGraphCreate(csr, PETSC_TRUE, &g));
  PetscCall(PetscMalloc1(g.n + g.nghost, &colour));
  PetscCall(PCMCSGSColour_Private(pc, csr, &g, halo, colour, &count));
  PetscCall(PolderSweepsCreate(&sgs->sweeps, sgs->rows.place, &g, there, colour, count, halo));
  PetscCall(PetscFree(colour));
  PetscCall(PolderGraphDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCMCSGS - symmetric Gauss-Seidel by colours, M = (D + L) D^-1 (D + L^T)

   Level: intermediate

   Notes:
   Greedy colours in the global numbering, two on a box grid. L and L^T are the parts of A below and above the diagonal in the order of the colours. The rows of
   a colour are solved for at once; on several processes neighbour values are exchanged between colours, so M is the same as on one process as long as the
   colours are. A must be symmetric with a positive diagonal.

   On a CPU `PCSOR` (`-pc_type sor`) with a block a process and the order of the rows takes fewer iterations.

   Reference:
   R. Gupta, GPU acceleration of preconditioned solvers for ill-conditioned linear systems, PhD thesis, TU Delft, 2015, section 6.2.2.

.seealso: `PCSOR`, `PCTNS`, `PCMIC`, `KSPDCG`
M*/
PETSC_INTERN PetscErrorCode PCCreate_MCSGS(PC pc)
{
  static const PolderRowsSteps steps = {.type    = PCMCSGS,
                                        .pattern = PCMCSGSPattern_Private,
                                        .values  = PolderSweepsPCValues,
                                        .apply   = PolderSweepsPCApply,
                                        .free    = PolderSweepsPCFree,
                                        .view    = PolderSweepsPCView};
  PolderSweepsPC              *sgs;

  PetscFunctionBegin;
  PetscCall(PetscNew(&sgs));
  sgs->levels = "colours";
  sgs->advice = "scale the matrix";
  PetscCall(PolderRowsCreate(pc, &sgs->rows, &steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}
