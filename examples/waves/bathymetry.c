/* The beds of waves.c: synthetic ones, each with suitable lengths, edges, ships and waves, and that of a file */
#include "waves.h"

static inline PetscBool Inside(const PetscReal x[2], PetscReal x0, PetscReal x1, PetscReal y0, PetscReal y1)
{
  return (PetscBool)(x[0] > x0 && x[0] < x1 && x[1] > y0 && x[1] < y1);
}

/* A shoal 2 m below the surface, a beach in the north-west and a basin behind quays in the north-east */
static PetscReal DepthHarbour(const PetscReal x[2])
{
  const PetscReal r = PetscSqrtReal(PetscSqr(x[0] - 300.0) + PetscSqr(x[1] - 450.0));

  if (Inside(x, 350.0, 570.0, 930.0, 1170.0) || Inside(x, 420.0, 500.0, 890.0, 940.0)) return 10.0;
  if (x[0] > 300.0 && x[1] > 900.0) return -3.0;
  if (x[1] > 1000.0) return 30.0 - 34.0 * (x[1] - 1000.0) / 200.0;
  return r < 125.0 ? 2.0 + 28.0 * r / 125.0 : 30.0;
}

/* A winding river, a fifth of the land wide */
static PetscReal DepthRiver(const PetscReal x[2])
{
  const PetscReal s = (x[1] - 200.0 - 24.0 * PetscSinReal(2.0 * PETSC_PI * x[0] / 500.0)) / 40.0;

  return PetscMax(8.0 * (1.0 - s * s), -4.0);
}

/* A round bay whose bottom rises from 25 m, with a breakwater before it */
static PetscReal DepthBay(const PetscReal x[2])
{
  const PetscReal r     = PetscSqrtReal(PetscSqr(x[0] - 1000.0) + PetscSqr(PetscMax(x[1] - 350.0, 0.0)));
  const PetscReal shore = x[1] < 250.0 ? 25.0 : 0.08 * (820.0 - r);

  if (Inside(x, 650.0, 1350.0, 488.0, 512.0)) return -2.0;
  return PetscMin(25.0 - 17.0 * x[1] / 1250.0, PetscMax(shore, -20.0));
}

/* Four basins in a straight coast behind a mole */
static PetscReal DepthPort(const PetscReal x[2])
{
  if (Inside(x, 300.0, 1500.0, 556.0, 580.0) || Inside(x, 300.0, 324.0, 556.0, 820.0)) return -3.0;
  if (x[1] < 820.0) return 20.0;
  for (int k = 0; k < 4; ++k) {
    if (Inside(x, 400.0 + 300.0 * k, 560.0 + 300.0 * k, 800.0, 1150.0)) return 14.0;
  }
  return -4.0;
}

static const struct {
  const char *name;
  PetscReal (*depth)(const PetscReal[2]); /* in coordinates of the lengths below */
  PetscReal   length[2], mesh;
  const char *options;
} sites[] = {
  // clang-format off
  {"flat", NULL, {500.0, 500.0}, 5.0, ""},
  {"harbour", DepthHarbour, {600.0, 1200.0}, 5.0,
   "-waves_edges wall,wall,incoming,wall -waves_incoming 1.5,8,90 -waves_ships 120,150,0,6,60,14,3"},
  {"river", DepthRiver, {1000.0, 400.0}, 2.0,
   "-waves_edges open,open,wall,wall -waves_edge_width 60 -waves_ships 120,200,4,0,40,8,1.5,900,195,-3,0,30,7,1"},
  {"bay", DepthBay, {2000.0, 1250.0}, 5.0,
   "-waves_edges open,open,incoming,wall -waves_incoming 1.5,9,80 -waves_ships 300,350,7,0,120,24,5"},
  {"port", DepthPort, {2000.0, 1250.0}, 5.0,
   "-waves_edges open,open,incoming,wall -waves_incoming 1,8,100 "
   "-waves_ships 1750,690,-6,0,100,20,5,1380,1050,0,-1,60,14,3 -waves_ship_shape bathtub"},
  // clang-format on
};

/* Lengths of the window of a file on the sphere, and a mesh with 500 nodes along the longer side */
static PetscErrorCode GetRelief(Sea *s)
{
  const PetscReal *w = s->relief.window, degree = PETSC_PI / 180.0, radius = 6371e3;
  PetscInt         n = 4;
  PetscBool        set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-waves_relief_variable", s->relief.variable, sizeof(s->relief.variable), NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_window", s->relief.window, &n, &set));
  PetscCheck(set && n == 4, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_relief needs -waves_window west,east,south,north in degrees");
  PetscCheck(w[0] < w[1] && w[1] <= w[0] + 360.0 && w[0] >= -360.0 && w[1] <= 720.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-waves_window goes from %g to %g degrees east: the first must be less, by 360 at most", (double)w[0], (double)w[1]);
  PetscCheck(w[2] < w[3] && w[2] > -90.0 && w[3] < 90.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-waves_window goes from %g to %g degrees north: the first must be less, and both between -90 and 90", (double)w[2], (double)w[3]);
  s->relief.length[0] = radius * degree * (w[1] - w[0]) * PetscCosReal(0.5 * degree * (w[2] + w[3]));
  s->relief.length[1] = radius * degree * (w[3] - w[2]);
  for (int d = 0; d < 2; ++d) s->length[d] = s->relief.length[d];
  for (int d = 0; d < 2; ++d) s->n[d] = PetscMax(3, (PetscInt)(500.0 * s->length[d] / PetscMax(s->length[0], s->length[1])));
  PetscCall(ReliefRead(&s->relief));
  PetscFunctionReturn(0);
}

/* Chooses the bed and adds those of its options that the user did not give */
PetscErrorCode SeaGetSite(Sea *s)
{
  char      name[64] = "flat", **args;
  int       nargs;
  PetscBool same = PETSC_FALSE, set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-waves_relief", s->relief.file, sizeof(s->relief.file), &set));
  if (set) {
    PetscCall(GetRelief(s));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-waves_bathymetry", name, sizeof(name), NULL));
  for (s->site = 0; s->site < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(sites); ++s->site) {
    PetscCall(PetscStrcasecmp(name, sites[s->site].name, &same));
    if (same) break;
  }
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-waves_bathymetry %s is not known: use flat, harbour, river, bay or port, or -waves_relief with a file", name);
  for (int d = 0; d < 2; ++d) {
    s->length[d] = sites[s->site].length[d];
    s->n[d]      = (PetscInt)(s->length[d] / sites[s->site].mesh + 1.5);
  }
  PetscCall(PetscStrToArray(sites[s->site].options, ' ', &nargs, &args));
  for (int k = 0; k + 1 < nargs; k += 2) {
    PetscCall(PetscOptionsHasName(NULL, NULL, args[k], &set));
    if (!set) PetscCall(PetscOptionsSetValue(NULL, args[k], args[k + 1]));
  }
  PetscCall(PetscStrToArrayDestroy(nargs, args));
  PetscFunctionReturn(0);
}

PetscReal SeaBed(const Sea *s, PetscInt i, PetscInt j)
{
  const PetscReal *ref = sites[s->site].length, x[2] = {(PetscReal)i / (s->n[0] - 1), (PetscReal)j / (s->n[1] - 1)};
  PetscReal        h = s->depth;

  if (s->relief.height) h = ReliefDepth(&s->relief, x[0], x[1]);
  else if (sites[s->site].depth) h = sites[s->site].depth((const PetscReal[2]){ref[0] * x[0], ref[1] * x[1]});
  return PetscMin(h, s->mostdepth);
}
