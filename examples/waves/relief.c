/*
  The relief of the earth in a NetCDF file: heights over latitude and longitude, as GEBCO and ETOPO distribute them. The NetCDF library is loaded when a file
  is read, so that the program also starts on machines without the library.
*/
#include "waves.h"

#if defined(EXAMPLES_NETCDF)
  #include <netcdf.h>

typedef struct {
  PetscDLHandle                   library;
  const char                     *name;
  int                             id, variable, dim[2]; /* dimensions of latitude and longitude */
  __typeof__(&nc_open)            open;
  __typeof__(&nc_close)           close;
  __typeof__(&nc_strerror)        error;
  __typeof__(&nc_inq_nvars)       count;
  __typeof__(&nc_inq_varid)       find;
  __typeof__(&nc_inq_varndims)    rank;
  __typeof__(&nc_inq_vardimid)    dims;
  __typeof__(&nc_inq_dim)         length;
  __typeof__(&nc_get_var_double)  all;
  __typeof__(&nc_get_vara_double) part;
  __typeof__(&nc_inq_attlen)      numbers;
  __typeof__(&nc_get_att_double)  attribute;
} File;

  #define CallNetCDF(f, ...) \
    do { \
      const int err_ = (__VA_ARGS__); \
      PetscCheck(!err_, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s: %s", (f)->name, (f)->error(err_)); \
    } while (0)

static PetscErrorCode Load(File *f)
{
  const struct {
    const char *name;
    void       *to;
  } symbol[] = {
    {"nc_open",            &f->open     },
    {"nc_close",           &f->close    },
    {"nc_strerror",        &f->error    },
    {"nc_inq_nvars",       &f->count    },
    {"nc_inq_varid",       &f->find     },
    {"nc_inq_varndims",    &f->rank     },
    {"nc_inq_vardimid",    &f->dims     },
    {"nc_inq_dim",         &f->length   },
    {"nc_get_var_double",  &f->all      },
    {"nc_get_vara_double", &f->part     },
    {"nc_inq_attlen",      &f->numbers  },
    {"nc_get_att_double",  &f->attribute}
  };
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = PetscDLOpen(EXAMPLES_NETCDF, PETSC_DL_NOW, &f->library);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!err, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "-waves_relief needs NetCDF's library %s, which this machine has not or does not find",
             EXAMPLES_NETCDF);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(symbol); ++k) {
    PetscCall(PetscDLSym(f->library, symbol[k].name, (void **)symbol[k].to));
    PetscCheck(*(void **)symbol[k].to, PETSC_COMM_WORLD, PETSC_ERR_LIB, "%s has no function %s", EXAMPLES_NETCDF, symbol[k].name);
  }
  PetscFunctionReturn(0);
}

/* Does the variable have two dimensions, each with a coordinate variable of the same name? Then it holds heights in the layout of GEBCO and ETOPO */
static PetscErrorCode IsRelief(File *f, int variable, PetscBool *is)
{
  char   name[NC_MAX_NAME + 1];
  size_t n;
  int    rank, coordinate;

  PetscFunctionBegin;
  *is = PETSC_FALSE;
  CallNetCDF(f, f->rank(f->id, variable, &rank));
  if (rank != 2) PetscFunctionReturn(0);
  CallNetCDF(f, f->dims(f->id, variable, f->dim));
  for (int d = 0; d < 2; ++d) {
    CallNetCDF(f, f->length(f->id, f->dim[d], name, &n));
    if (n < 2 || f->find(f->id, name, &coordinate)) PetscFunctionReturn(0);
    CallNetCDF(f, f->rank(f->id, coordinate, &rank));
    if (rank != 1) PetscFunctionReturn(0);
  }
  f->variable = variable;
  *is         = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* The variable of the given name, or the first one with heights */
static PetscErrorCode FindVariable(File *f, const char name[])
{
  PetscBool is = PETSC_FALSE;
  int       n, variable;

  PetscFunctionBegin;
  if (name[0]) {
    PetscCheck(!f->find(f->id, name, &variable), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s has no variable %s: correct -waves_relief_variable", f->name,
               name);
    PetscCall(IsRelief(f, variable, &is));
    PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Variable %s of %s is not over latitude and longitude", name, f->name);
  } else {
    CallNetCDF(f, f->count(f->id, &n));
    for (variable = 0; variable < n && !is; ++variable) PetscCall(IsRelief(f, variable, &is));
    PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s has no variable over latitude and longitude, as the files of GEBCO and ETOPO have", f->name);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode GetCoordinate(File *f, int d, PetscInt *n, double **x)
{
  char   name[NC_MAX_NAME + 1];
  size_t length;
  int    coordinate;

  PetscFunctionBegin;
  CallNetCDF(f, f->length(f->id, f->dim[d], name, &length));
  CallNetCDF(f, f->find(f->id, name, &coordinate));
  *n = (PetscInt)length;
  PetscCall(PetscMalloc1(length, x));
  CallNetCDF(f, f->all(f->id, coordinate, *x));
  for (PetscInt k = 0; k < *n; ++k) {
    PetscCheck(PetscAbsReal((*x)[k]) <= 1e4, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "The coordinates %s of %s are no degrees: one is %g", name, f->name,
               (*x)[k]);
  }
  for (PetscInt k = 1; k < *n; ++k) {
    PetscCheck(((*x)[k] > (*x)[k - 1]) == ((*x)[1] > (*x)[0]) && (*x)[k] != (*x)[k - 1], PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
               "The coordinates %s of %s neither rise nor fall", name, f->name);
  }
  PetscFunctionReturn(0);
}

/* The rows of the file that the window needs, from the south; first: the southernmost of them, step: 1 or -1 */
static PetscErrorCode FindRows(Relief *r, PetscInt n, const double lat[], PetscInt *first, PetscInt *step)
{
  const PetscBool rise = (PetscBool)(lat[1] > lat[0]);
  PetscInt        lo = rise ? 0 : n - 1, count = 1;

  PetscFunctionBegin;
  *step = rise ? 1 : -1;
  PetscCheck(PetscMin(lat[0], lat[n - 1]) >= -90.001 && PetscMax(lat[0], lat[n - 1]) <= 90.001, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "The rows of %s are not latitudes: they go from %g to %g", r->file, lat[0], lat[n - 1]);
  PetscCheck(lat[lo] <= r->window[2] && lat[n - 1 - lo] >= r->window[3], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "%s has latitudes %g to %g, and -waves_window asks for %g to %g", r->file, lat[lo], lat[n - 1 - lo], (double)r->window[2], (double)r->window[3]);
  while (lat[lo + *step] <= r->window[2]) lo += *step;
  while (lat[lo + (count - 1) * *step] < r->window[3]) ++count;
  PetscCall(PetscMalloc1(count, &r->lat));
  for (PetscInt k = 0; k < count; ++k) r->lat[k] = lat[lo + k * *step];
  r->n[1] = count;
  *first  = lo;
  PetscFunctionReturn(0);
}

/* The columns of the file that the window needs, from the west; a file that covers all longitudes is periodic with `period` columns */
static PetscErrorCode FindColumns(Relief *r, PetscInt n, const double lon[], PetscInt *first, PetscInt *period)
{
  const double width = lon[n - 1] - lon[0];
  double       shift = 0.0;
  PetscInt     lo = 0, count = 1;
  PetscBool    round;

  PetscFunctionBegin;
  PetscCheck(width > 0.0, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "The columns of %s do not go to the east", r->file);
  for (*period = 0; *period < n && lon[*period] < lon[0] + 360.0 - 1e-6; ++*period)
    ;
  round = (PetscBool)(width + 1.5 * width / (n - 1) >= 360.0);
  while (r->window[0] + shift < lon[0]) shift += 360.0;
  while (r->window[0] + shift >= lon[0] + 360.0) shift -= 360.0;
  PetscCheck(round || r->window[1] + shift <= lon[n - 1], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "%s has longitudes %g to %g, and -waves_window asks for %g to %g", r->file, lon[0], lon[n - 1], (double)r->window[0], (double)r->window[1]);
  #define LON(k) (lon[(k) % *period] + 360.0 * ((k) / *period) - shift)
  while (LON(lo + 1) <= r->window[0]) ++lo;
  while (LON(lo + count - 1) < r->window[1]) ++count;
  PetscCall(PetscMalloc1(count, &r->lon));
  for (PetscInt k = 0; k < count; ++k) r->lon[k] = LON(lo + k);
  #undef LON
  r->n[0] = count;
  *first  = lo;
  PetscFunctionReturn(0);
}

/* Reads an attribute of at most n numbers; value[] is unchanged if there is none, or one with more numbers */
static void GetAttribute(File *f, const char name[], size_t n, double value[])
{
  size_t length;

  if (!f->numbers(f->id, f->variable, name, &length) && length <= n) (void)f->attribute(f->id, f->variable, name, value);
}

/* Reads heights from the south-west; missing values become land */
static PetscErrorCode ReadHeights(File *f, Relief *r, PetscInt row, PetscInt step, PetscInt column, PetscInt period)
{
  const PetscInt nx = r->n[0], ny = r->n[1];
  double         scale = 1.0, offset = 0.0, missing[4] = {NAN, NAN, NAN, NAN}, *piece;

  PetscFunctionBegin;
  GetAttribute(f, "scale_factor", 1, &scale);
  GetAttribute(f, "add_offset", 1, &offset);
  GetAttribute(f, "_FillValue", 1, missing);
  GetAttribute(f, "missing_value", 3, missing + 1);
  PetscCall(PetscMalloc1((size_t)nx * ny, &r->height));
  PetscCall(PetscMalloc1((size_t)nx * ny, &piece));
  for (PetscInt i0 = 0, m; i0 < nx; i0 += m) {
    const PetscInt at       = (column + i0) % period;
    const size_t   start[2] = {(size_t)(step > 0 ? row : row - ny + 1), (size_t)at}, count[2] = {(size_t)ny, (size_t)PetscMin(nx - i0, period - at)};

    m = (PetscInt)count[1];
    CallNetCDF(f, f->part(f->id, f->variable, start, count, piece));
    for (PetscInt j = 0; j < ny; ++j) {
      for (PetscInt i = 0; i < m; ++i) {
        const double z    = piece[(size_t)(step > 0 ? j : ny - 1 - j) * m + i];
        PetscBool    none = (PetscBool)!isfinite(z);

        for (int k = 0; k < 4; ++k) none = (PetscBool)(none || z == missing[k]);
        r->height[(size_t)j * nx + i0 + i] = none ? 1.0 : offset + scale * z;
      }
    }
  }
  PetscCall(PetscFree(piece));
  PetscFunctionReturn(0);
}

PetscErrorCode ReliefRead(Relief *r)
{
  File      f = {.name = r->file};
  PetscInt  n[2], row = 0, column = 0, step = 1, period = 1;
  double   *lat, *lon;
  PetscBool there;

  PetscFunctionBegin;
  PetscCall(PetscTestFile(r->file, 'r', &there));
  PetscCheck(there, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "There is no file %s to read: correct -waves_relief", r->file);
  PetscCall(Load(&f));
  CallNetCDF(&f, f.open(r->file, NC_NOWRITE, &f.id));
  PetscCall(FindVariable(&f, r->variable));
  PetscCall(GetCoordinate(&f, 0, &n[1], &lat));
  PetscCall(GetCoordinate(&f, 1, &n[0], &lon));
  PetscCall(FindRows(r, n[1], lat, &row, &step));
  PetscCall(FindColumns(r, n[0], lon, &column, &period));
  PetscCall(ReadHeights(&f, r, row, step, column, period));
  PetscCall(PetscFree(lat));
  PetscCall(PetscFree(lon));
  CallNetCDF(&f, f.close(f.id));
  PetscCall(PetscDLClose(&f.library));
  PetscFunctionReturn(0);
}

#else

PetscErrorCode ReliefRead(Relief *r)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "This program was built without NetCDF and cannot read %s: install libnetcdf-dev and build it again", r->file);
}

#endif

/* The largest of the first n - 1 indices whose number is not above x; the n increasing numbers are nearly equidistant */
static PetscInt Place(PetscInt n, const PetscReal a[], PetscReal x)
{
  PetscInt k = (PetscInt)PetscMin(n - 2.0, PetscMax(0.0, (x - a[0]) / (a[n - 1] - a[0]) * (n - 1)));

  while (k > 0 && a[k] > x) --k;
  while (k < n - 2 && a[k + 1] <= x) ++k;
  return k;
}

PetscReal ReliefDepth(const Relief *r, PetscReal x, PetscReal y)
{
  const PetscReal  lon = r->window[0] + x * (r->window[1] - r->window[0]), lat = r->window[2] + y * (r->window[3] - r->window[2]);
  const PetscInt   i = Place(r->n[0], r->lon, lon), j = Place(r->n[1], r->lat, lat);
  const PetscReal  u = (lon - r->lon[i]) / (r->lon[i + 1] - r->lon[i]), v = (lat - r->lat[j]) / (r->lat[j + 1] - r->lat[j]);
  const PetscReal *z = r->height + (size_t)j * r->n[0] + i;

  return -((1.0 - v) * ((1.0 - u) * z[0] + u * z[1]) + v * ((1.0 - u) * z[r->n[0]] + u * z[r->n[0] + 1]));
}

PetscErrorCode ReliefDestroy(Relief *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(r->lon));
  PetscCall(PetscFree(r->lat));
  PetscCall(PetscFree(r->height));
  PetscFunctionReturn(0);
}
