static char help[] = "Sums and ghost values between processes that exchange without the host, against MPI and the host.\n"
                     "  -missing : the last process does not take part in a sum\n"
                     "  -only <transport> : what the processes must use\n"
                     "  -most <300000> : values of a process in an exchange\n\n";

#include "core/peers.h"
#include "core/replica.h"
#include "mat/halo.h"

/* (-1)^i 2^(i % 40) / 3 for process r: the sum depends on the order of its terms */
static PetscScalar Term(PetscMPIInt r, PetscInt i)
{
  return (i % 2 ? -1.0 : 1.0) * PetscPowReal(2.0, (PetscReal)((i + 7 * r) % 40)) / 3.0;
}

/* Sums of n values, several times, so that both halves of the mailbox are in use; wrong counts values that are not the sum in the order of the ranks */
static PetscErrorCode Sums(MPI_Comm comm, PetscInt n, PetscInt *wrong)
{
  PolderPeers  peers;
  PetscScalar *host, *device, sum;
  PetscMPIInt  rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PolderPeersGet(comm, &peers));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &host));
  PetscCall(PolderDeviceMalloc(sizeof(*device) * (size_t)n, &device));
  for (int times = 0; times < 5; ++times) {
    for (PetscInt i = 0; i < n; ++i) host[i] = Term(rank, i + times);
    PetscCall(PolderDeviceFromHost(device, host, sizeof(*host) * (size_t)n));
    PetscCall(PolderPeersSum(peers, n, device));
    PetscCall(PolderDeviceToHost(host, device, sizeof(*host) * (size_t)n));
    for (PetscInt i = 0; i < n; ++i) {
      sum = 0;
      for (PetscMPIInt r = 0; r < size; ++r) sum += Term(r, i + times);
      *wrong += host[i] != sum;
    }
  }
  PetscCall(PolderPeersCheck(peers));
  PetscCall(PolderDeviceFree(&device));
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More pieces of memory than there are allocations, of sizes that differ: what each process stores in its own the next one reads */
static PetscErrorCode Pieces(MPI_Comm comm, PetscInt *wrong)
{
  enum {
    PIECES = 60
  };
  PolderPeers peers;
  PolderPiece piece[PIECES];
  PetscScalar value;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PolderPeersGet(comm, &peers));
  if (!peers || !PolderPeersGetView(peers) || size > 3) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < PIECES; ++k) {
    value = Term(rank, k);
    PetscCall(PolderPeersMalloc(peers, k % 3 ? 4500000 + 1000 * (size_t)(rank + k) : 100, 0, &piece[k]));
    PetscCall(PolderDeviceFromHost(piece[k].here, &value, sizeof(value)));
  }
  PetscCall(PolderDeviceSynchronize());
  PetscCallMPI(MPI_Barrier(comm));
  for (int k = 0; k < PIECES; ++k) {
    const PetscMPIInt next    = (rank + 1) % size;
    PetscInt64        mine[2] = {piece[k].slab, (PetscInt64)piece[k].offset}, all[2 * POLDER_PEERS_MOST];

    PetscCallMPI(MPI_Allgather(mine, 2, MPIU_INT64, all, 2, MPIU_INT64, comm));
    PetscCall(PolderDeviceToHost(&value, PolderPeersAddress(peers, next, (PetscInt)all[2 * next], (size_t)all[2 * next + 1]), sizeof(value)));
    *wrong += value != Term(next, k);
  }
  PetscCallMPI(MPI_Barrier(comm));
  for (int k = 0; k < PIECES; ++k) PetscCall(PolderPeersFree(peers, &piece[(k * 37) % PIECES]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n columns a process, of which each needs some of every other and process 1 needs none: ghosts have the numbers of their columns, and a column gets back one
   from each process that has it as a ghost */
static PetscErrorCode Ghosts(MPI_Comm comm, PetscInt n, PetscInt step, PetscInt *wrong)
{
  PolderHalo   halo;
  PetscMPIInt  rank, size;
  PetscInt     nghost = 0, *garray, *number, *dnumber, *dgot, first, users;
  PetscScalar *value, *dvalue, *dghost;
  float       *fvalue, *dfvalue, *dfghost;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  first = n * rank;
  PetscCall(PetscMalloc4(n * size, &garray, n * size, &number, n * size, &value, n * size, &fvalue));
  for (PetscInt j = 0; j < n * size && rank != 1; j += step) {
    if (j / n != rank) garray[nghost++] = j;
  }
  PetscCall(PolderHaloCreate(comm, n, nghost, garray, &halo));
  for (PetscInt i = 0; i < n; ++i) {
    number[i] = 3 * (first + i);
    value[i]  = 0.5 * (PetscReal)(first + i);
    fvalue[i] = (float)(first + i);
  }
  PetscCall(PolderDeviceUpload(sizeof(*number) * (size_t)n, number, &dnumber));
  PetscCall(PolderDeviceUpload(sizeof(*value) * (size_t)n, value, &dvalue));
  PetscCall(PolderDeviceUpload(sizeof(*fvalue) * (size_t)n, fvalue, &dfvalue));
  PetscCall(PolderDeviceMalloc(sizeof(*number) * (size_t)nghost, &dgot));
  PetscCall(PolderDeviceMalloc(sizeof(*value) * (size_t)nghost, &dghost));
  PetscCall(PolderDeviceMalloc(sizeof(*fvalue) * (size_t)nghost, &dfghost));
  for (int times = 0; times < 3; ++times) {
    PetscCall(PolderHaloExchangeDevice(halo, MPIU_SCALAR, dvalue, dghost));
    PetscCall(PolderHaloExchangeDevice(halo, MPIU_INT, dnumber, dgot));
    PetscCall(PolderHaloExchangeDevice(halo, MPI_FLOAT, dfvalue, dfghost));
    PetscCall(PolderDeviceToHost(value, dghost, sizeof(*value) * (size_t)nghost));
    PetscCall(PolderDeviceToHost(number, dgot, sizeof(*number) * (size_t)nghost));
    PetscCall(PolderDeviceToHost(fvalue, dfghost, sizeof(*fvalue) * (size_t)nghost));
    for (PetscInt k = 0; k < nghost; ++k)
      *wrong += value[k] != 0.5 * (PetscReal)garray[k] || number[k] != 3 * garray[k] || (PetscReal)fvalue[k] != (PetscReal)garray[k];
    for (PetscInt k = 0; k < nghost; ++k) value[k] = 1;
    PetscCall(PolderDeviceFromHost(dghost, value, sizeof(*value) * (size_t)nghost));
    PetscCall(PolderDeviceZero(dvalue, sizeof(*value) * (size_t)n));
    PetscCall(PolderHaloReduceDevice(halo, dghost, dvalue));
    PetscCall(PolderDeviceToHost(value, dvalue, sizeof(*value) * (size_t)n));
    users = size - 1 - (size > 1 && rank != 1); /* the others, but for process 1 */
    for (PetscInt i = 0; i < n; ++i) *wrong += value[i] != ((first + i) % step ? 0.0 : (PetscReal)users);
    for (PetscInt i = 0; i < n; ++i) value[i] = 0.5 * (PetscReal)(first + i);
    PetscCall(PolderDeviceFromHost(dvalue, value, sizeof(*value) * (size_t)n));
  }
  PetscCall(PolderDeviceFree(&dnumber));
  PetscCall(PolderDeviceFree(&dvalue));
  PetscCall(PolderDeviceFree(&dfvalue));
  PetscCall(PolderDeviceFree(&dgot));
  PetscCall(PolderDeviceFree(&dghost));
  PetscCall(PolderDeviceFree(&dfghost));
  PetscCall(PetscFree4(garray, number, value, fvalue));
  PetscCall(PolderHaloDestroy(&halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers values of all processes, of which process r has n + r, or none if it is `empty`; boxes: as lines of a grid in strips side by side */
static PetscErrorCode Gathers(MPI_Comm comm, PetscInt n, PetscMPIInt empty, PetscBool boxes, PetscInt *wrong)
{
  PolderReplica      replica;
  PolderReplicaLines lines;
  PetscMPIInt        rank, size;
  PetscInt           own, N, before = 0;
  PetscScalar       *mine, *all, *dmine, *dall;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  own = rank == empty ? 0 : boxes ? 3 * n : n + rank;
  PetscCallMPI(MPI_Exscan(&own, &before, 1, MPIU_INT, MPI_SUM, comm));
  lines = (PolderReplicaLines){.first = before / 3, .width = n};
  PetscCallMPI(MPI_Allreduce(&own, &N, 1, MPIU_INT, MPI_SUM, comm));
  lines.ld = N / 3;
  PetscCall(PolderReplicaCreate(comm, own, 0, boxes ? &lines : NULL, &replica));
  if (!replica) PetscFunctionReturn(PETSC_SUCCESS);
  *wrong += PolderReplicaSize(replica) != N;
  PetscCall(PetscMalloc2(own, &mine, N, &all));
  PetscCall(PolderDeviceMalloc(sizeof(*mine) * (size_t)own, &dmine));
  PetscCall(PolderDeviceMalloc(sizeof(*all) * (size_t)N, &dall));
  for (int times = 0; times < 5; ++times) {
    for (PetscInt i = 0; i < own; ++i) mine[i] = times + 0.5 * (PetscReal)(boxes ? before / 3 + i / n * lines.ld + i % n : before + i);
    PetscCall(PolderDeviceFromHost(dmine, mine, sizeof(*mine) * (size_t)own));
    PetscCall(PolderDeviceZero(dall, sizeof(*all) * (size_t)N));
    PetscCall(PolderReplicaGather(replica, dmine, dall));
    PetscCall(PolderDeviceToHost(all, dall, sizeof(*all) * (size_t)N));
    for (PetscInt i = 0; i < N; ++i) *wrong += all[i] != times + 0.5 * (PetscReal)i;
    PetscCall(PolderDeviceZero(dmine, sizeof(*mine) * (size_t)own));
    PetscCall(PolderReplicaTake(replica, dall, dmine));
    PetscCall(PolderDeviceZero(dall, sizeof(*all) * (size_t)N));
    PetscCall(PolderReplicaPut(replica, dmine, dall));
    PetscCall(PolderDeviceToHost(all, dall, sizeof(*all) * (size_t)N));
    for (PetscInt i = 0; i < own; ++i) {
      const PetscInt j = boxes ? before / 3 + i / n * lines.ld + i % n : before + i;

      *wrong += all[j] != mine[i];
      all[j] = 0;
    }
    for (PetscInt i = 0; i < N; ++i) *wrong += all[i] != 0;
  }
  PetscCall(PolderDeviceFree(&dmine));
  PetscCall(PolderDeviceFree(&dall));
  PetscCall(PetscFree2(mine, all));
  PetscCall(PolderReplicaDestroy(&replica));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers `many` values, and r more, of process r, where the replica has n; room: in as few rounds as its buffers allow */
static PetscErrorCode GathersMany(MPI_Comm comm, PetscInt n, PetscInt many, PetscBool room, PetscInt *wrong)
{
  PolderReplica replica;
  PetscMPIInt   rank, size;
  PetscInt     *total, before = 0, N = 0;
  PetscScalar  *all, *dmine, *dall;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(size, &total));
  for (PetscMPIInt r = 0; r < size; ++r) {
    if (r == rank) before = N;
    N += total[r] = many + r;
  }
  PetscCall(PolderReplicaCreate(comm, n, room ? total[rank] : 0, NULL, &replica));
  if (replica) {
    PetscCall(PetscMalloc1(N, &all));
    for (PetscInt i = 0; i < N; ++i) all[i] = 0.5 * (PetscReal)i;
    PetscCall(PolderDeviceUpload(sizeof(*all) * (size_t)total[rank], all + before, &dmine));
    PetscCall(PolderDeviceMalloc(sizeof(*all) * (size_t)N, &dall));
    for (int times = 0; times < 3; ++times) {
      PetscCall(PolderDeviceZero(dall, sizeof(*all) * (size_t)N));
      PetscCall(PolderReplicaGatherMany(replica, total, dmine, dall));
      PetscCall(PolderDeviceToHost(all, dall, sizeof(*all) * (size_t)N));
      for (PetscInt i = 0; i < N; ++i) *wrong += all[i] != 0.5 * (PetscReal)i;
    }
    PetscCall(PolderDeviceFree(&dmine));
    PetscCall(PolderDeviceFree(&dall));
    PetscCall(PetscFree(all));
  }
  PetscCall(PolderReplicaDestroy(&replica));
  PetscCall(PetscFree(total));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers so many columns of n + r values of process r, or none of process 1; room: in as few rounds as its buffers allow */
static PetscErrorCode GathersColumns(MPI_Comm comm, PetscInt n, PetscInt columns, PetscBool room, PetscInt *wrong)
{
  PolderReplica replica;
  PetscMPIInt   rank;
  PetscInt      own, N, before = 0;
  PetscScalar  *mine, *all, *dmine, *dall;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  own = rank == 1 ? 0 : n + rank;
  PetscCallMPI(MPI_Exscan(&own, &before, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&own, &N, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(PolderReplicaCreate(comm, own, room ? columns * own : 0, NULL, &replica));
  if (!replica) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(columns * own, &mine, columns * N, &all));
  for (PetscInt c = 0; c < columns; ++c) {
    for (PetscInt i = 0; i < own; ++i) mine[c * own + i] = 0.5 * (PetscReal)(c * N + before + i);
  }
  PetscCall(PolderDeviceUpload(sizeof(*mine) * (size_t)(columns * own), mine, &dmine));
  PetscCall(PolderDeviceMalloc(sizeof(*all) * (size_t)(columns * N), &dall));
  for (int times = 0; times < 3; ++times) {
    PetscCall(PolderDeviceZero(dall, sizeof(*all) * (size_t)(columns * N)));
    PetscCall(PolderReplicaGatherColumns(replica, columns, dmine, dall));
    PetscCall(PolderDeviceToHost(all, dall, sizeof(*all) * (size_t)(columns * N)));
    for (PetscInt i = 0; i < columns * N; ++i) *wrong += all[i] != 0.5 * (PetscReal)i;
    PetscCall(PolderReplicaGather(replica, dmine, dall)); /* one of them */
    PetscCall(PolderDeviceToHost(all, dall, sizeof(*all) * (size_t)N));
    for (PetscInt i = 0; i < N; ++i) *wrong += all[i] != 0.5 * (PetscReal)i;
  }
  PetscCall(PolderDeviceFree(&dmine));
  PetscCall(PolderDeviceFree(&dall));
  PetscCall(PetscFree2(mine, all));
  PetscCall(PolderReplicaDestroy(&replica));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sum without the last process */
static PetscErrorCode Missing(MPI_Comm comm)
{
  PolderPeers  peers;
  PetscScalar *device, host = 1;
  PetscMPIInt  rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PolderPeersGet(comm, &peers));
  PetscCheck(peers, comm, PETSC_ERR_PLIB, "The processes do not exchange without the host");
  PetscCall(PolderDeviceUpload(sizeof(host), &host, &device));
  if (rank < size - 1) {
    PetscCall(PolderPeersSum(peers, 1, device));
    PetscCall(PolderDeviceToHost(&host, device, sizeof(host)));
    PetscCheck(PetscIsNanReal(host), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The sum is %g", (double)host);
    PetscCall(PolderPeersCheck(peers));
  }
  PetscCallMPI(MPI_Barrier(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  MPI_Comm    comm, half;
  PetscInt    wrong = 0, most = 300000, all;
  PetscMPIInt rank;
  PetscBool   missing = PETSC_FALSE, given, same;
  const char *transport;
  char        only[16] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-missing", &missing, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof(only), &given));
  PetscCall(PetscCommDuplicate(PETSC_COMM_WORLD, &comm, NULL));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PolderDeviceSynchronize()); /* the device is in use */
  PetscCall(PolderPeersGetTransport(comm, &transport));
  PetscCall(PetscStrcmp(transport, only, &same));
  PetscCheck(!given || same, comm, PETSC_ERR_PLIB, "The transport is %s", transport);
  if (missing) PetscCall(Missing(comm));
  for (PetscInt n = 1; n < 20000; n = 7 * n + 1) PetscCall(Sums(comm, n, &wrong));
  PetscCall(Ghosts(comm, 5, 1, &wrong));
  PetscCall(Ghosts(comm, PetscMin(1000, most), 3, &wrong));
  PetscCall(Ghosts(comm, most, 1, &wrong)); /* more than an allocation holds */
  PetscCall(Pieces(comm, &wrong));
  for (PetscInt n = 1; n <= most; n = 9 * n + 2) {
    PetscCall(Gathers(comm, n, -1, PETSC_FALSE, &wrong));
    PetscCall(Gathers(comm, n, 0, PETSC_FALSE, &wrong));
    PetscCall(Gathers(comm, n, 1, PETSC_TRUE, &wrong));
    for (int room = 0; room < 2; ++room) {
      PetscCall(GathersMany(comm, n, 5 * n, (PetscBool)room, &wrong));
      PetscCall(GathersColumns(comm, n, 7, (PetscBool)room, &wrong));
    }
  }
  PetscCall(GathersMany(comm, 1, 150000, PETSC_TRUE, &wrong)); /* long rows: as many rounds as the buffers need, and not as the rows do */
  PetscCallMPI(MPI_Comm_split(comm, rank % 2, rank, &half));
  for (int times = 0; times < 3; ++times) { /* two communicators at once, one of which goes */
    PetscCall(Sums(half, 10, &wrong));
    PetscCall(Sums(comm, 10, &wrong));
    PetscCall(Ghosts(half, 20, 2, &wrong));
    PetscCall(Gathers(half, 20, -1, PETSC_TRUE, &wrong));
  }
  PetscCallMPI(MPI_Comm_free(&half));
  PetscCall(Sums(comm, 10, &wrong));
  PetscCallMPI(MPI_Allreduce(&wrong, &all, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(PetscPrintf(comm, "wrong %" PetscInt_FMT "\n", all));
  PetscCall(PetscCommDestroy(&comm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   testset:
     requires: gpu
     output_file: output/peers_1.out
     test:
       suffix: 1
       nsize: {{2 3 4}}
     test:
       suffix: shared
       nsize: 3
       requires: emulated
       args: -emulated_gpus 2 -only host
     test:
       suffix: refused
       nsize: 2
       requires: emulated
       args: -emulated_gpus 0 -only host
     test:
       suffix: apart
       nsize: 3
       requires: emulated
       args: -emulated_apart {{0 2}} -only host
     test:
       suffix: many
       nsize: 17
       requires: emulated
       args: -most 100 -only host
     test:
       suffix: peer
       nsize: 3
       requires: emulated
       args: -polder_transport peer -only peer
     test:
       suffix: host
       nsize: 2
       args: -polder_transport host -only host

   # NCCL: when it is requested, and when it is the first way that is possible
   testset:
     requires: emulated
     args: -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so
     output_file: output/peers_1.out
     test:
       suffix: nccl
       nsize: {{2 3 4}}
       args: -polder_transport nccl -only nccl
       env: NCCL_NVLS_ENABLE=1
     test:
       suffix: nccl_peer
       nsize: 3
       args: -only peer
     test:
       suffix: nccl_refused
       nsize: 3
       args: -emulated_gpus 0 -only nccl
     test:
       suffix: nccl_apart
       nsize: 3
       args: -emulated_apart 1 -only nccl
     test:
       suffix: nccl_many
       nsize: 17
       args: -most 100 -only nccl
     test:
       suffix: nccl_shared
       nsize: 3
       args: -emulated_gpus 2 -only host
     test:
       suffix: nccl_fails
       nsize: 3
       args: -emulated_gpus 0 -only host
       env: EMULATED_NCCL_REFUSES=1

   testset:
     requires: emulated
     nsize: 3
     args: -polder_transport nccl
     test:
       suffix: nccl_absent
       fails: -polder_transport nccl is not possible for these 3 processes: NCCL is not found
     test:
       suffix: nccl_other
       args: -polder_nccl libm.so.6
       fails: libm.so.6 is no NCCL of version 2.7 or later
     test:
       suffix: nccl_impossible
       args: -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so -emulated_gpus 2
       fails: -polder_transport nccl is not possible for these 3 processes: some share a GPU
     test:
       suffix: nccl_error
       args: -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so
       env: EMULATED_NCCL_REFUSES=2
       fails: is not possible for these 3 processes: NCCL: unhandled system error
     test:
       suffix: nccl_missing
       args: -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so -missing
       env: EMULATED_NCCL_SECONDS=0.5
       fails: NCCL: remote process exited

   testset:
     requires: emulated
     test:
       suffix: missing
       nsize: 3
       args: -missing -polder_timeout 0.5
       fails: Process 2 of 3 has not answered for 0.5 seconds
     test:
       suffix: full
       nsize: 3
       args: -emulated_shared 1
       fails: No more memory can be shared between the GPUs of 3 processes
     test:
       suffix: unreachable
       nsize: 3
       args: -polder_transport peer -emulated_apart 1
       fails: the driver does not share memory between them
     test:
       suffix: impossible
       nsize: 2
       args: -polder_transport peer -emulated_gpus 1
       fails: some share a GPU
     test:
       suffix: mpi
       nsize: 2
       args: -polder_transport mpi
       fails: needs an MPI that takes device pointers
     test:
       suffix: timeout
       nsize: 2
       args: -polder_timeout 0
       fails: is not positive

TEST*/
