/* The options of waves.c */
#include "waves.h"

static const char *const ModelTypes[] = {"parabolic", "cosh", "ModelType", "MODEL_", NULL};
static const char *const EdgeTypes[]  = {"wall", "open", "incoming", "EdgeType", "EDGE_", NULL};
static const char *const StartTypes[] = {"rest", "hump", "mode", "waves", "StartType", "START_", NULL};
static const char *const ShipTypes[]  = {"ellipse", "bathtub", "ShipType", "SHIP_", NULL};

static PetscErrorCode GetGrid(Sea *s)
{
  PetscInt two = 2, n = 2;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_lengths", s->length, &n, NULL));
  PetscCheck(n == 0 || n == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_lengths takes two numbers");
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-waves_n", s->n, &two, NULL));
  PetscCheck(two == 0 || two == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_n takes two numbers");
  for (int d = 0; d < 2; ++d) {
    PetscCheck(s->length[d] > 0.0 && s->length[d] < 1e8, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_lengths must be positive and finite, not %g",
               (double)s->length[d]);
    PetscCheck(s->n[d] >= 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_n must be at least 3 in each direction, not %" PetscInt_FMT, s->n[d]);
    s->d[d] = s->length[d] / (s->n[d] - 1);
  }
  n = 2;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_current", s->current, &n, NULL));
  PetscCheck(n == 0 || n == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_current takes two numbers");
  PetscFunctionReturn(0);
}

/* The depth, its model and its change in time */
static PetscErrorCode GetDepth(Sea *s)
{
  PetscReal wavelength = 100.0, tide[2];
  PetscInt  n          = 2;
  PetscBool set;

  PetscFunctionBegin;
  s->depth     = 30.0;
  s->mindepth  = 0.5;
  s->mostdepth = 1e5;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_depth", &s->depth, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_min_depth", &s->mindepth, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_max_depth", &s->mostdepth, NULL));
  PetscCheck(s->mindepth > 0.0 && s->depth > s->mindepth && s->depth < 1e5, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-waves_depth %g and -waves_min_depth %g must be positive, the first above the second", (double)s->depth, (double)s->mindepth);
  PetscCheck(s->mostdepth > s->mindepth, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_max_depth %g must be more than -waves_min_depth %g",
             (double)s->mostdepth, (double)s->mindepth);
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-waves_model", ModelTypes, (PetscEnum *)&s->model, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_wavelength", &wavelength, NULL));
  PetscCheck(wavelength > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_wavelength must be positive, not %g", (double)wavelength);
  s->kappa     = 2.0 * PETSC_PI / wavelength;
  s->tideevery = 20;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_tide", tide, &n, &set));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_tide_every", &s->tideevery, NULL));
  PetscCheck(!set || (n == 2 && tide[1] > 0.0 && s->tideevery > 0), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-waves_tide takes a height and a positive period, -waves_tide_every a positive number of frames");
  if (!set) PetscFunctionReturn(0);
  s->tideheight = tide[0];
  s->tideperiod = tide[1];
  PetscFunctionReturn(0);
}

static PetscErrorCode GetEdges(Sea *s)
{
  static const char *const sides[] = {"west", "east", "south", "north"};
  char                    *name[4];
  PetscInt                 n = 4;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-waves_edges", name, &n, NULL));
  PetscCheck(n == 0 || n == 1 || n == 4, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_edges takes one name or four: west,east,south,north");
  for (PetscInt e = 0; e < n; ++e) {
    PetscEnum value;
    PetscBool found;

    PetscCall(PetscEnumFind(EdgeTypes, name[e], &value, &found));
    PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The %s edge cannot be %s: use wall, open or incoming", sides[e], name[e]);
    for (PetscInt k = e; k < (n == 1 ? 4 : e + 1); ++k) s->edge[k] = (EdgeType)value;
    PetscCall(PetscFree(name[e]));
  }
  s->edgewidth = 100.0;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_edge_width", &s->edgewidth, NULL));
  PetscCheck(s->edgewidth > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_edge_width must be positive, not %g", (double)s->edgewidth);
  PetscFunctionReturn(0);
}

/* Ships and incoming waves */
static PetscErrorCode GetForcing(Sea *s)
{
  PetscReal ship[7 * MAX_SHIPS], in[3];
  PetscInt  n = 7 * MAX_SHIPS, three = 3;
  PetscBool incoming = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_ships", ship, &n, NULL));
  PetscCheck(n % 7 == 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_ships takes seven numbers for each ship: x,y,u,v,length,width,draft");
  s->nship = n / 7;
  for (PetscInt k = 0; k < s->nship; ++k) {
    const PetscReal *v = ship + 7 * k;

    s->ship[k] = (Ship){
      {v[0], v[1]},
      {v[2], v[3]},
      v[4], v[5], v[6]
    };
    PetscCheck(v[4] > 0.0 && v[5] > 0.0 && v[6] >= 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "Ship %" PetscInt_FMT " has a length, width or draft that is not positive", k + 1);
  }
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-waves_ship_shape", ShipTypes, (PetscEnum *)&s->shape, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-waves_start", StartTypes, (PetscEnum *)&s->start, NULL));
  incoming = (PetscBool)(s->start == START_WAVES);
  for (int e = 0; e < 4; ++e) incoming = (PetscBool)(incoming || s->edge[e] == EDGE_INCOMING);
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-waves_incoming", in, &three, NULL));
  PetscCheck(!incoming || three == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "An incoming edge, and -waves_start waves, need -waves_incoming height,period,direction (degrees, 0 is to the east and 90 to the north)");
  if (!incoming) PetscFunctionReturn(0);
  s->height    = in[0];
  s->period    = in[1];
  s->direction = in[2];
  PetscCheck(s->height >= 0.0 && s->period > 0.0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-waves_incoming needs a height that is not negative and a positive period");
  s->components = 40;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_components", &s->components, NULL));
  PetscCheck(s->components > 0 && s->components <= MAX_COMPONENTS, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-waves_components %" PetscInt_FMT " is not between 1 and %d", s->components, MAX_COMPONENTS);
  PetscFunctionReturn(0);
}

/* Time steps and what is reported of them */
static PetscErrorCode GetFrames(Sea *s)
{
  PetscInt  n = 2;
  PetscBool set, energy, left, dispersion, height;

  PetscFunctionBegin;
  s->dt      = 0.05;
  s->frames  = 200;
  s->filter  = 0.01;
  s->mode[0] = 1;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_dt", &s->dt, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_frames", &s->frames, NULL));
  PetscCheck(s->dt > 0.0 && s->frames > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_dt and -waves_frames must be positive");
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves_filter", &s->filter, NULL));
  PetscCheck(s->filter >= 0.0 && s->filter <= 0.2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_filter %g is not between 0 and 0.2", (double)s->filter);
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-waves_mode", s->mode, &n, &set));
  PetscCheck(!set || (n == 2 && s->mode[0] >= 0 && s->mode[1] >= 0 && s->mode[0] + s->mode[1] > 0), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-waves_mode takes two numbers that are not negative, not both zero");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_picture", &s->picture, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_vtk", &s->vtk, NULL));
  PetscCheck(s->picture >= 0 && s->vtk >= 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_picture and -waves_vtk must not be negative");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-waves_rows", &s->rows, NULL));
  PetscCheck(s->rows >= 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-waves_rows must not be negative");
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_profile", &s->profile, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-waves_check_energy", &energy));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-waves_check_left", &left));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-waves_check_dispersion", &dispersion));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-waves_check_height", &height));
  s->watchenergy = (PetscBool)(energy || left);
  s->watchlevel  = (PetscBool)(dispersion || height);
  PetscFunctionReturn(0);
}

PetscErrorCode SeaGetOptions(Sea *s)
{
  PetscFunctionBegin;
  PetscCall(SeaGetSite(s));
  PetscCall(GetGrid(s));
  PetscCall(GetDepth(s));
  PetscCall(GetEdges(s));
  PetscCall(GetForcing(s));
  PetscCall(GetFrames(s));
  PetscFunctionReturn(0);
}
