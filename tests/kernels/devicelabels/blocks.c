/* The kernels for two blocks of columns against their host twins. */
#include "labels.h"
#include "kernels/blocks.h"
#include "kernels/labels.h"

enum {
  MOST = 5
};

/* Rows of up to MOST - 1 entries in n columns, on the host and on the device */
typedef struct {
  PolderRows host, device;
  PetscInt   nz;
} Block;

static PetscErrorCode BlockCreate(PetscInt m, PetscInt n, Block *b)
{
  PetscInt    *i, *j, *i_d, *j_d;
  PetscScalar *a, *a_d;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(m + 1, &i));
  i[0] = 0;
  for (PetscInt r = 0; r < m; ++r) i[r + 1] = i[r] + (n && r / 300 % 2 == 0 ? Next(MOST) : 0);
  b->nz = i[m];
  PetscCall(PetscMalloc1(b->nz, &j));
  for (PetscInt k = 0; k < b->nz; ++k) j[k] = Next(n);
  PetscCall(PolderDeviceUpload(sizeof(*i) * (size_t)(m + 1), i, &i_d));
  PetscCall(PolderDeviceUpload(sizeof(*j) * (size_t)b->nz, j, &j_d));
  PetscCall(Random(b->nz, &a, &a_d));
  b->host   = (PolderRows){m, i, j, a, i[m]};
  b->device = (PolderRows){m, i_d, j_d, a_d, i[m]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BlockDestroy(Block *b)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(b->host.i));
  PetscCall(PetscFree(b->host.j));
  PetscCall(PetscFree(b->host.a));
  PetscCall(PolderDeviceFree(&b->device.i));
  PetscCall(PolderDeviceFree(&b->device.j));
  PetscCall(PolderDeviceFree(&b->device.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows without region join a neighbour, layer by layer */
static PetscErrorCode TestRegions(PetscInt m, PetscInt nghost, const Block *own, const Block *off, PolderStream stream, PetscInt *wrong)
{
  PetscInt *comp, *comp_d, *ghost, *ghost_d, *next, *next_d;

  PetscFunctionBeginUser;
  PetscCall(RandomIndices(m, -2, 4, &comp, &comp_d));
  PetscCall(RandomIndices(nghost, -2, 4, &ghost, &ghost_d));
  PetscCall(RandomIndices(m, -2, 4, &next, &next_d));
  for (int round = 0; round < 3; ++round) {
    PolderRegionsNext_Host(own->host, off->host, comp, ghost, next);
    PolderLaunch(PolderRegionsNext_CUDA(own->device, off->device, comp_d, ghost_d, next_d, stream));
    PetscCall(Compare(m, next, next_d, wrong));
    PolderRegionsJoin_Host(m, next, comp);
    PolderLaunch(PolderRegionsJoin_CUDA(m, next_d, comp_d, stream));
    PetscCall(Compare(m, comp, comp_d, wrong));
  }
  PetscCall(PolderDeviceFree(&comp_d));
  PetscCall(PolderDeviceFree(&ghost_d));
  PetscCall(PolderDeviceFree(&next_d));
  PetscCall(PetscFree(comp));
  PetscCall(PetscFree(ghost));
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEdges(PetscInt m, PetscInt nghost, PetscReal jump, const Block *off, PolderStream stream, PetscInt *wrong)
{
  PetscInt    *cls[2], *cls_d[2], *comp[2], *comp_d[2], *edge, *edge_d;
  PetscScalar *scale[2], *scale_d[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    PetscCall(RandomIndices(k ? nghost : m, -1, 4, &cls[k], &cls_d[k]));
    PetscCall(RandomIndices(k ? nghost : m, -1, 4, &comp[k], &comp_d[k]));
    PetscCall(Random(k ? nghost : m, &scale[k], &scale_d[k]));
  }
  PetscCall(PetscMalloc1(2 * off->nz, &edge));
  PetscCall(PolderDeviceMalloc(sizeof(*edge_d) * (size_t)(2 * off->nz), &edge_d));
  PolderEdgesAcross_Host(off->host, (PolderAcross){jump, cls[0], cls[1], scale[0], scale[1], comp[0], comp[1]}, edge);
  PolderLaunch(PolderEdgesAcross_CUDA(off->device, (PolderAcross){jump, cls_d[0], cls_d[1], scale_d[0], scale_d[1], comp_d[0], comp_d[1]}, edge_d, stream));
  PetscCall(Compare(2 * off->nz, edge, edge_d, wrong));
  PetscCall(PolderDeviceFree(&edge_d));
  PetscCall(PetscFree(edge));
  for (int k = 0; k < 2; ++k) {
    PetscCall(PolderDeviceFree(&cls_d[k]));
    PetscCall(PolderDeviceFree(&comp_d[k]));
    PetscCall(PolderDeviceFree(&scale_d[k]));
    PetscCall(PetscFree(cls[k]));
    PetscCall(PetscFree(comp[k]));
    PetscCall(PetscFree(scale[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestColumns(PetscInt nghost, const Block *off, PolderStream stream, PetscInt *wrong)
{
  PetscInt *garray, *garray_d, *col, *col_d;

  PetscFunctionBeginUser;
  PetscCall(RandomIndices(nghost, -1, 4, &garray, &garray_d));
  PetscCall(PetscMalloc1(off->nz, &col));
  PetscCall(PolderDeviceMalloc(sizeof(*col_d) * (size_t)off->nz, &col_d));
  PolderColumnsAcross_Host(off->nz, off->host.j, garray, 7, col);
  PolderLaunch(PolderColumnsAcross_CUDA(off->nz, off->device.j, garray_d, 7, col_d, stream));
  PetscCall(Compare(off->nz, col, col_d, wrong));
  PetscCall(PolderDeviceFree(&col_d));
  PetscCall(PolderDeviceFree(&garray_d));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(garray));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestBlocks(PETSC_UNUSED void *work, PolderStream stream)
{
  const PetscInt sizes[] = {1, 31, 32, 33, 255, 256, 257, 5000};
  PetscInt       wrong   = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (PetscInt nghost = 0; nghost < 40; nghost += 13) {
      Block own, off;

      PetscCall(BlockCreate(sizes[s], sizes[s], &own));
      PetscCall(BlockCreate(sizes[s], nghost, &off));
      PetscCall(TestRegions(sizes[s], nghost, &own, &off, stream, &wrong));
      PetscCall(TestColumns(nghost, &off, stream, &wrong));
      PetscCall(TestEdges(sizes[s], nghost, 0, &off, stream, &wrong));
      PetscCall(TestEdges(sizes[s], nghost, 4, &off, stream, &wrong));
      PetscCall(BlockDestroy(&own));
      PetscCall(BlockDestroy(&off));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "blocks: %s\n", wrong ? "wrong" : "ok"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
