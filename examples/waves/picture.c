/* Pictures of the sea of waves.c: PNG files, and files for ParaView */
#include "waves.h"
#include "png.h"
#include <petscviewer.h>

static inline unsigned char Colour(PetscReal c)
{
  return (unsigned char)PetscMin(255.0, PetscMax(0.0, c));
}

/* Colours: land shaded by its slope, water by its depth and shaded by the waves, the hulls of the ships red */
static void Paint(const Sea *s, const PetscScalar zeta[], PetscReal scale, PetscInt i, PetscInt j, unsigned char rgb[3])
{
  static const PetscReal deep[3] = {16, 62, 110}, shallow[3] = {96, 178, 186}, sand[3] = {214, 196, 150}, grass[3] = {132, 150, 96};
  const PetscInt         nb[4][2] = {
            {PetscMax(i - 1, 0),             j           },
            {PetscMin(i + 1, s->n[0] - 1),   j           },
            {i,              PetscMax(j - 1, 0)          },
            {i,              PetscMin(j + 1, s->n[1] - 1)}
  };
  const PetscReal h = SeaBed(s, i, j) + s->tide, land = s->relief.height ? 300.0 : 10.0,
                  light = s->relief.height ? 1500.0 * s->length[0] / s->relief.length[0] : 60.0;
  const PetscBool wet   = (PetscBool)(h >= s->mindepth);
  PetscReal       level[4], slope, share, hull = 0.0;

  for (int k = 0; k < 4; ++k) {
    const PetscReal hk = SeaBed(s, nb[k][0], nb[k][1]) + s->tide;

    level[k] = wet ? zeta[(hk >= s->mindepth ? nb[k][1] * s->n[0] + nb[k][0] : j * s->n[0] + i)] : -PetscMin(hk, 0.0);
  }
  slope = (level[1] - level[0]) / (2.0 * s->d[0]) - 0.6 * (level[3] - level[2]) / (2.0 * s->d[1]);
  share = wet ? PetscSqrtReal(PetscMin(1.0, h / s->maxdepth)) : PetscMin(1.0, -PetscMin(h, 0.0) / land);
  for (PetscInt k = 0; k < s->nship; ++k) {
    WavesShip ship;

    SeaShip(s, k, &ship);
    hull = PetscMax(hull, WavesDraft(&ship, i * s->d[0], j * s->d[1]));
  }
  for (int c = 0; c < 3; ++c) {
    const PetscReal base = wet ? share * deep[c] + (1.0 - share) * shallow[c] : share * grass[c] + (1.0 - share) * sand[c];

    rgb[c] = Colour(base + (wet ? 1000.0 * scale : light) * slope);
    if (hull > 0.0) rgb[c] = c ? 48 : 168;
  }
}

static PetscErrorCode PicturePNG(Sea *s)
{
  PetscReal          scale                           = 1.0;
  char               prefix[PETSC_MAX_PATH_LEN - 16] = "waves", name[PETSC_MAX_PATH_LEN];
  const PetscScalar *zeta;
  PetscMPIInt        rank;

  PetscFunctionBegin;
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
  PetscFunctionReturn(0);
}

/* Writes the list of all files so far, with their times */
static PetscErrorCode WriteSeries(const Sea *s, const char prefix[])
{
  char  name[PETSC_MAX_PATH_LEN], *base;
  FILE *file;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s.pvd", prefix));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "w", &file));
  PetscCall(PetscStrrchr(prefix, '/', &base)); /* the list is in the folder of the files and names them without it */
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n"));
  for (PetscInt frame = 0; frame <= s->frame; frame += s->vtk) {
    PetscCall(
      PetscFPrintf(PETSC_COMM_WORLD, file, "    <DataSet timestep=\"%g\" file=\"%s%06" PetscInt_FMT ".vts\"/>\n", (double)(frame * s->dt), base, frame));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "  </Collection>\n</VTKFile>\n"));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

/* Level, potential and the height of the bed above the mean level */
static PetscErrorCode PictureVTK(Sea *s)
{
  char        prefix[PETSC_MAX_PATH_LEN - 16] = "waves", name[PETSC_MAX_PATH_LEN];
  Vec         bed;
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-waves_vtk_name", prefix, sizeof(prefix), NULL));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%06" PetscInt_FMT ".vts", prefix, s->frame));
  PetscCall(DMDASetUniformCoordinates(s->dm, 0.0, s->length[0], 0.0, s->length[1], 0.0, 0.0));
  PetscCall(VecDuplicate(s->zeta, &bed));
  PetscCall(DMLocalToGlobal(s->dm, s->bed, INSERT_VALUES, bed));
  PetscCall(VecScale(bed, -1.0));
  PetscCall(PetscObjectSetName((PetscObject)s->zeta, "zeta"));
  PetscCall(PetscObjectSetName((PetscObject)s->phi, "phi"));
  PetscCall(PetscObjectSetName((PetscObject)bed, "bed"));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(s->zeta, viewer));
  PetscCall(VecView(s->phi, viewer));
  PetscCall(VecView(bed, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecDestroy(&bed));
  PetscCall(WriteSeries(s, prefix));
  PetscFunctionReturn(0);
}

static PetscBool Due(const Sea *s, PetscInt every)
{
  return (PetscBool)(every && !(s->frame % every));
}

PetscBool SeaPictureIsDue(const Sea *s)
{
  return (PetscBool)(Due(s, s->picture) || Due(s, s->vtk));
}

PetscErrorCode SeaPicture(Sea *s)
{
  PetscFunctionBegin;
  if (!SeaPictureIsDue(s)) PetscFunctionReturn(0);
  PetscCall(SeaBegin(s, ROUTINE_PICTURE));
  if (Due(s, s->picture)) PetscCall(PicturePNG(s));
  if (Due(s, s->vtk)) PetscCall(PictureVTK(s));
  PetscCall(SeaEnd(s, ROUTINE_PICTURE));
  PetscFunctionReturn(0);
}
