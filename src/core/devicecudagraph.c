/* The device layer on CUDA: launches that are recorded once and replayed as one. */
#include "devicecalls.h"

#if defined(POLDER_HAVE_CUDA)
  #include "devicecuda.h"

struct _n_PolderDeviceGraph {
  cudaGraphExec_t graph;
  size_t          nodes;
};

  /* Graphs that nobody replays any more. To update one of the same nodes takes a sixth of the time of a new one */
  #define POLDER_SPARE_GRAPHS 4

static struct _n_PolderDeviceGraph PolderSpare[POLDER_SPARE_GRAPHS];
static int                         PolderSpareNext = 0;
/* Used for recording when PETSc's stream does not allow capture */
static cudaStream_t PolderRecorder  = NULL;
static PetscBool    PolderRecording = PETSC_FALSE;

PetscErrorCode PolderCudaGetRecorder(PolderStream *stream)
{
  PetscFunctionBegin;
  *stream = PolderRecording ? PolderRecorder : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *graph <- a spare graph that now has the recorded launches; NULL: there is none with the same nodes */
static PetscErrorCode PolderGraphUpdate_Private(cudaGraph_t recorded, size_t nodes, cudaGraphExec_t *graph)
{
  cudaGraphExecUpdateResultInfo info;

  PetscFunctionBegin;
  *graph = NULL;
  for (int k = 0; k < POLDER_SPARE_GRAPHS && !*graph; ++k) {
    if (!PolderSpare[k].graph || PolderSpare[k].nodes != nodes) continue;
    if (cudaGraphExecUpdate(PolderSpare[k].graph, recorded, &info) != cudaSuccess) (void)cudaGetLastError();
    else {
      *graph               = PolderSpare[k].graph;
      PolderSpare[k].graph = NULL;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records the launches of body without running them */
static PetscErrorCode PolderGraphRecord_Private(PolderDeviceGraph *graph, PetscErrorCode (*body)(void *), void *ctx)
{
  PetscErrorCode  ierr;
  cudaError_t     err;
  cudaGraph_t     recorded;
  cudaGraphExec_t made;
  size_t          nodes;

  PetscFunctionBegin;
  if (!PolderRecorder) PolderLaunch(cudaStreamCreateWithFlags(&PolderRecorder, cudaStreamNonBlocking));
  PolderLaunch(cudaStreamBeginCapture(PolderRecorder, cudaStreamCaptureModeRelaxed));
  PolderRecording = PETSC_TRUE;
  ierr            = body(ctx);
  PolderRecording = PETSC_FALSE;
  err             = cudaStreamEndCapture(PolderRecorder, &recorded);
  PetscCall(ierr);
  PolderLaunch(err);
  PolderLaunch(cudaGraphGetNodes(recorded, NULL, &nodes));
  PetscCall(PolderGraphUpdate_Private(recorded, nodes, &made));
  if (!made) err = cudaGraphInstantiateWithFlags(&made, recorded, 0);
  PolderLaunch(cudaGraphDestroy(recorded));
  PolderLaunch(err);
  PetscCall(PetscNew(graph));
  (*graph)->graph = made;
  (*graph)->nodes = nodes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceReplay(PolderDeviceGraph *graph, PetscErrorCode (*body)(void *), void *ctx)
{
  PolderStream stream;

  PetscFunctionBegin;
  if (!*graph) PetscCall(PolderGraphRecord_Private(graph, body, ctx));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(cudaGraphLaunch((*graph)->graph, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph becomes a spare one; where there are enough, one of them goes */
PetscErrorCode PolderDeviceGraphDestroy(PolderDeviceGraph *graph)
{
  PetscFunctionBegin;
  if (!*graph) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < POLDER_SPARE_GRAPHS && PolderSpare[PolderSpareNext].graph; ++k) PolderSpareNext = (PolderSpareNext + 1) % POLDER_SPARE_GRAPHS;
  if (PolderSpare[PolderSpareNext].graph) PolderLaunch(cudaGraphExecDestroy(PolderSpare[PolderSpareNext].graph));
  PolderSpare[PolderSpareNext] = **graph;
  PolderSpareNext              = (PolderSpareNext + 1) % POLDER_SPARE_GRAPHS;
  PetscCall(PetscFree(*graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCudaGraphFinalize(void)
{
  PetscFunctionBegin;
  for (int k = 0; k < POLDER_SPARE_GRAPHS; ++k) {
    if (PolderSpare[k].graph) PolderLaunch(cudaGraphExecDestroy(PolderSpare[k].graph));
    PolderSpare[k].graph = NULL;
  }
  if (PolderRecorder) PolderLaunch(cudaStreamDestroy(PolderRecorder));
  PolderRecorder = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
